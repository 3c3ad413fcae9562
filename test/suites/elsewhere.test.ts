/** Suites that others wrote, where they are on this machine: test-vectors/README.md, "Suites that are not copied". */

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { fromBase64, fromHex, toHex, toUtf8 } from "../../src/bytes.js";
import { COMPLETED, type Activity } from "../../src/decode/activity.js";
import { decodeAttestationDocument } from "../../src/decode/attestation-document.js";
import { rawSignature } from "../../src/decode/ecdsa-signature.js";
import { NO_POLICY_ANY_ENCLAVE, verifyAttestation } from "../../src/index.js";
import { checkReleases } from "../../src/release/check.js";
import { readReleaseFolder } from "../../src/release/node.js";
import { verifySignatures } from "../../src/verify/signatures.js";
import { IMPLEMENTATIONS, libraryOver } from "../verify/implementations.js";
import { decisions, placesOf } from "./elsewhere.js";

const bytes = (hex: string): Uint8Array => fromHex(hex)!;
const jsonIn = <T>(...path: readonly string[]): T => JSON.parse(readFileSync(join(...path), "utf8")) as T;
/** Why tests are skipped is in their name. */
const absent = (name: string): string => (placesOf(name) === null ? " (skipped: it is not on this machine)" : "");

/** A signature of an activity's result, over a payload in hex: the door through which the service's signatures come. */
async function isSignedResult(
  signWith: string,
  hashFunction: string,
  message: Uint8Array,
  signed: SignedBy,
): Promise<boolean> {
  const parameters = {
    signWith,
    payload: toHex(message),
    encoding: "PAYLOAD_ENCODING_HEXADECIMAL",
    hashFunction: `HASH_FUNCTION_${hashFunction}`,
  };
  const [r, s] = [signed.signature.subarray(0, 32), signed.signature.subarray(32)].map(toHex);
  const activity = { status: COMPLETED, result: { signRawPayloadResult: { r, s, v: signed.v } } } as never as Activity;
  const { contradictions, signatures } = (await verifySignatures({ kind: "payload", parameters }, activity))!;
  return contradictions.length === 0 && signatures[0]!.open === null;
}
interface SignedBy {
  readonly signature: Uint8Array;
  readonly v: string;
}

type Door = (key: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean | Promise<boolean>;

/** Results of activities; and for webhooks and checkpoints of logs, each of the three that can compute. */
const ED25519: Readonly<Record<string, Door>> = {
  result: (key, message, signature) => isSignedResult(toHex(key), "NOT_APPLICABLE", message, { signature, v: "00" }),
  ...Object.fromEntries(
    IMPLEMENTATIONS.map((name): [string, Door] => [
      name,
      async (...signed) => (await libraryOver(name).ed25519())(...signed),
    ]),
  ),
};

type Answer = "valid" | "invalid";
const answer = (isValid: boolean): Answer => (isValid ? "valid" : "invalid");

interface Wycheproof {
  readonly numberOfTests: number;
  readonly testGroups: readonly {
    readonly publicKey: { readonly pk: string; readonly uncompressed: string };
    readonly tests: readonly WycheproofCase[];
  }[];
}
interface WycheproofCase {
  readonly tcId: number;
  readonly msg: string;
  readonly sig: string;
  readonly result: Answer;
}

const wycheproof = placesOf("wycheproof");

describe.skipIf(wycheproof === null)(`Wycheproof${absent("wycheproof")}`, () => {
  const suiteOf = (file: string): Wycheproof => jsonIn(wycheproof![0], "testvectors_v1", `${file}.json`);

  it.each(Object.entries(ED25519))("ed25519_test by %s", async (_, verify) => {
    const { numberOfTests, testGroups } = suiteOf("ed25519_test");
    expect(numberOfTests).toBe(151);
    const different: number[] = [];
    for (const { publicKey, tests } of testGroups)
      for (const { tcId, msg, sig, result } of tests)
        if (answer(await verify(bytes(publicKey.pk), bytes(msg), bytes(sig))) !== result) different.push(tcId);
    expect(different).toEqual([]);
  });

  it.each([
    ["ecdsa_secp256k1_sha256_test", 476],
    ["ecdsa_secp256k1_sha256_bitcoin_test", 463],
  ])("%s, by the result of an activity", async (file, count) => {
    const { numberOfTests, testGroups } = suiteOf(file);
    expect(numberOfTests).toBe(count);
    const different: object[] = [];
    for (const { publicKey, tests } of testGroups)
      for (const { tcId, msg, sig, result } of tests) {
        const signature = rawSignature(bytes(sig), 32);
        // The suite has no v. A signature fits at most one.
        const fitting: string[] = [];
        for (const v of signature ? ["00", "01"] : [])
          if (await isSignedResult(publicKey.uncompressed, "SHA256", bytes(msg), { signature: signature!, v }))
            fitting.push(v);
        expect(fitting.length, `${tcId}`).toBeLessThan(2);
        const ours = answer(fitting.length === 1);
        if (ours !== result) different.push({ file, case: tcId, ours });
      }
    const decided = decisions.wycheproof.filter((row) => row.file === file);
    expect(different).toEqual(decided.map(({ case: id, ours }) => ({ file, case: id, ours })));
  });
});

interface CctvVector {
  readonly number: number;
  readonly key: string;
  readonly sig: string;
  readonly msg: string;
  readonly flags: readonly string[] | null;
}

/** RFC 8032 sections 5.1.3 and 5.1.7 refuse these. The rest is a signature, where nothing is decided of it. */
const REFUSED_BY_RFC8032 = ["non_canonical_A", "non_canonical_R"];

function decidedAnswer(door: string, flags: readonly string[], rows = decisions.cctv): Answer {
  const isRefused = (flag: string): boolean => {
    const row = rows.find((one) => one.flag === flag && one.doors.includes(door));
    return row === undefined ? REFUSED_BY_RFC8032.includes(flag) : row.ours === "invalid";
  };
  return answer(!flags.some(isRefused));
}

const cctv = placesOf("cctv");

describe.skipIf(cctv === null)(`CCTV${absent("cctv")}`, () => {
  const vectors = cctv === null ? [] : jsonIn<readonly CctvVector[]>(cctv[0], "ed25519/ed25519vectors.json");

  it.each(Object.entries(ED25519))("Ed25519 by %s", async (door, verify) => {
    expect(vectors).toHaveLength(914);
    const different: object[] = [];
    for (const { number, key, sig, msg, flags } of vectors) {
      const ours = answer(await verify(bytes(key), toUtf8(msg), bytes(sig)));
      if (ours !== decidedAnswer(door, flags ?? [])) different.push({ number, flags, ours });
    }
    expect(different).toEqual([]);
  });

  it.each(decisions.cctv)("$flag by $doors.0 is a difference", (row) => {
    const others = decisions.cctv.filter((one) => one !== row);
    for (const door of row.doors)
      expect(
        vectors.some(({ flags }) => decidedAnswer(door, flags ?? []) !== decidedAnswer(door, flags ?? [], others)),
      ).toBe(true);
  });
});

const coreEnclaves = placesOf("core-enclaves");

describe.skipIf(coreEnclaves === null)(`core-enclaves${absent("core-enclaves")}`, async () => {
  const folder = join(coreEnclaves?.[0] ?? "", "releases");
  const { releases, unread } = coreEnclaves === null ? { releases: [], unread: [] } : await readReleaseFolder(folder);
  const foldersOf = (hasFile: (files: readonly string[]) => boolean): string[] =>
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) => readdirSync(join(folder, name)).map((app) => `${name}/${app}`))
      .filter((name) => hasFile(readdirSync(join(folder, name))))
      .sort();

  it("every release is good, and one history for each application", async () => {
    const isSigned = (files: readonly string[]): boolean => files.includes("manifest");
    const check = await checkReleases(releases, { noManifestSet: true, skipUnapproved: true });
    expect(check.releases.flatMap(({ status, faults }) => (status === "skipped" ? [] : faults))).toEqual([]);
    expect(check.histories.flatMap(({ faults }) => faults)).toEqual([]);
    expect(check.good).toBe(true);
    const named = check.releases.filter(({ status }) => status === "good").map(({ name }) => name);
    expect(named.sort()).toEqual(foldersOf(isSigned));
    expect(named.length).toBeGreaterThan(0);
    expect(check.counts).toMatchObject({ bad: 0, "not checked": 0 });
    console.log(`core-enclaves: ${named.length} releases are good, ${check.counts.skipped} have no signed manifest`);
  });

  it("has the notes that are decided", () => {
    const noted = releases.flatMap(({ version, notes }) => notes.map(({ code }) => `${version} ${code}`));
    const here = decisions["core-enclaves"].filter(({ release }) => existsSync(join(folder, release)));
    expect([...new Set(noted)].sort()).toEqual(here.map(({ release, note }) => `${release} ${note}`).sort());
  });

  it("has nothing else but the older form", () => {
    expect(unread.filter((file) => !/^r\d[\d.]*\.yaml$/.test(basename(file)))).toEqual([]);
  });
});

const awsnitroverifier = placesOf("awsnitroverifier");

describe.skipIf(awsnitroverifier === null)(`awsnitroverifier${absent("awsnitroverifier")}`, () => {
  const folder = join(awsnitroverifier?.[0] ?? "", "testdata");
  const files = awsnitroverifier === null ? [] : readdirSync(folder).filter((name) => /\.(?:cbor|base64)$/.test(name));
  const contentOf = (name: string): Uint8Array => {
    const content = readFileSync(join(folder, name));
    return name.endsWith(".cbor") ? content : fromBase64(content.toString().replaceAll(/\s/g, ""))!;
  };
  const madeAt = (document: Uint8Array): Date => new Date(Number(decodeAttestationDocument(document).timestamp));

  it("has the documents that this test knows, one of 2022", () => {
    const years = files.map((name) => `${name} ${madeAt(contentOf(name)).getUTCFullYear()}`);
    expect(years.sort()).toEqual([
      "aws_nitro_document.base64 2022",
      "aws_nitro_document.cbor 2022",
      "turnkey-boot-attestation.base64 2025",
      "turnkey-prod.base64 2025",
    ]);
  });

  it.each(files)("%s is authentic at its time, and expired a day later", async (name) => {
    const document = contentOf(name);
    const now = madeAt(document);
    const verdictAt = async (time: Date): Promise<readonly string[]> => {
      const { report } = await verifyAttestation(document, { policy: NO_POLICY_ANY_ENCLAVE, now: time, at: "now" });
      return [report.verdict, ...report.checks.filter(({ status }) => status === "fail").map(({ id }) => id)];
    };
    expect(await verdictAt(now)).toEqual(["authentic"]);
    expect(await verdictAt(new Date(now.getTime() + 86_400_000))).toEqual(["rejected", "chain.validity"]);
  });
});

it("each difference has a reason", () => {
  for (const { because } of Object.values(decisions).flat()) expect(because).toMatch(/^\S.{6,}\.$/);
});
