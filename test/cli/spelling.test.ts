/** Evidence whose bytes are written in another way than is usual: it is read, or named, and never called a forgery. */
import { describe, expect, it } from "vitest";
import { readEntry } from "../../src/run/entry.js";
import { fromBase64, toBase64, toHex, toUtf8 } from "../../src/bytes.js";
import type { JsonObject } from "../../src/decode/json.js";
import { misspelt } from "../../src/decode/evidence-members.js";
import { NO_POLICY_ANY_ENCLAVE, verifyAttestation, verifyEvidence } from "../../src/index.js";
import { packEvidence } from "../../src/bundle/index.js";
import { Forge, type ForgedEvidence, forgeEvidence } from "../../src/lab/forge.js";
import { type FormValues, listedFile, requested } from "../../src/page/verifier.js";
import { nsmAnswer } from "../support/cbor.js";
import { detailsOf } from "../support/provisioning.js";
import type { Report } from "../../src/report/report.js";
import { type Answer, bootproof, fileOf } from "./support.js";

const at = new Date("2026-03-04T05:06:07.000Z");
const PADDED = ["cloudAttestationDocB64", "qosManifestB64", "qosManifestEnvelopeB64"] as const;

/** Evidence all of whose base64 has padding, and so each other form. The length of a signature is chance. */
function padded(): ForgedEvidence {
  const one = forgeEvidence({ lab: new Forge(), at });
  return PADDED.every((name) => String(one.bootProof[name]).endsWith("=")) ? one : padded();
}

const { bootProof, appProofs, activity, document, anchorPem } = padded();
const anchor = fileOf(anchorPem);
const LATER = { now: "2026-03-04T05:10:00Z" };
const verify = (...args: string[]): Promise<Answer> =>
  bootproof(["verify", ...args, "--no-policy", "--trust-anchor", anchor], LATER);

const failed = (stdout: string): string[] =>
  (JSON.parse(stdout) as Report).checks.filter(({ status }) => status === "fail").map(({ id }) => id);

const digits = toHex(document);
const base64 = toBase64(document);
const url = (text: string): string => text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
const lines = (text: string): string => text.replaceAll(/.{64}/g, "$&\r\n");

describe("a document in a file", () => {
  it.each([
    ["hex with 0x", `0x${digits}\n`],
    ["hex with 0x, in lines, after a mark", `\ufeff0X${lines(digits.toUpperCase())}`],
    ["base64 without padding", base64.replace(/=+$/, "")],
    ["base64 in lines, after a mark", `\ufeff${lines(base64)}`],
    ["base64url", url(base64)],
    ["base64url in lines", `${lines(url(base64))}\n`],
  ])("is read: %s", async (_, text) => {
    const { code, stdout } = await verify("--attestation", fileOf(text));
    expect([code, stdout.startsWith("AUTHENTIC")]).toEqual([0, true]);
  });

  it.each<[string, string | Uint8Array, string]>([
    [
      "the driver's answer",
      nsmAnswer(document),
      "the answer of the NSM driver: pass the bytes of Attestation.document",
    ],
    ["that in base64", toBase64(nsmAnswer(document)), "base64 of the answer of the NSM driver"],
    ["base64 inside base64", toBase64(toUtf8(base64)), "base64 inside base64: decode it once"],
    ["hex inside base64", toBase64(toUtf8(`0x${digits}`)), "hex with 0x inside base64: decode it once"],
    ["hex that lost a digit", digits.slice(1), "hex or base64 that was cut off or damaged"],
    ["both alphabets", `${url(base64)}+/`, "hex or base64 that was cut off or damaged"],
    ["hex with letters after it", `${digits}\nends`, "base64"],
    ["base64 with words after it", `${base64}\nThe end.`, "hex or base64 that was cut off or damaged"],
  ])("is named, and not judged: %s", async (_, content, words) => {
    const { code, stdout, stderr } = await verify("--attestation", fileOf(content));
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(words);
  });

  it("is rejected where it was read and is damaged", async () => {
    for (const damaged of [document.subarray(0, 100), document.with(document.length - 1, document.at(-1)! ^ 1)])
      for (const content of [damaged, `0x${toHex(damaged)}`, url(toBase64(damaged))])
        expect((await verify("--attestation", fileOf(content))).code).toBe(1);
  });

  it("is told in the library, which takes bytes", async () => {
    for (const [bytes, words] of [
      [toUtf8(url(base64)), "base64url of the bytes: pass the bytes"],
      [nsmAnswer(document), "the answer of the NSM driver: pass the bytes of Attestation.document"],
    ] as const) {
      const { report } = await verifyAttestation(bytes, { policy: NO_POLICY_ANY_ENCLAVE, now: at });
      expect(report.verdict).toBe("rejected");
      expect(report.checks.find(({ id }) => id === "cose.structure")!.detail).toContain(words);
    }
  });
});

type Change = (text: string) => string;
/** Stands for a text that has no other form in a spelling: the row is left out. */
const NONE = "\0";
const decoded = (text: string): Uint8Array => fromBase64(text)!;
const OF_BASE64: readonly [string, Change][] = [
  ["hex with 0x", (text) => `0x${toHex(decoded(text))}`],
  ["hex", (text) => toHex(decoded(text))],
  ["base64url", (text) => url(text).replace(/^(?!.*[-_])/, NONE)],
  ["base64 without its padding", (text) => text.replace(/=+$/, "")],
  ["base64 with line breaks", lines],
  ["base64 with white space or a byte order mark", (text) => `\ufeff${text}`],
  ["base64 inside base64", (text) => toBase64(toUtf8(text))],
];
const OF_HEX: readonly [string, Change][] = [
  ["hex with 0x", (text) => `0x${text}`],
  ["hex with line breaks", (text) => `${text}\n`],
  ["hex with white space or a byte order mark", (text) => `${text} `],
  ["base64", (text) => toBase64(Buffer.from(text, "hex"))],
];

const app = appProofs[0]! as JsonObject;
const details = detailsOf(bootProof, "query");
const changed = (value: JsonObject, name: string, change: Change): JsonObject => ({
  ...value,
  [name]: change(value[name] as string),
});
const withProof = (proof: JsonObject): JsonObject => ({ ...activity, appProofs: [proof] });

/** Each member of bytes, the whole evidence with it, and the spellings that it should not have. */
const MEMBERS: readonly [string, (change: Change) => JsonObject, check: string, readonly [string, Change][]][] = [
  ...PADDED.map(
    (name) => [name, (change: Change) => changed(bootProof, name, change), "boot.decode", OF_BASE64] as const,
  ),
  [
    "ephemeralPublicKeyHex",
    (change: Change) => changed(bootProof, "ephemeralPublicKeyHex", change),
    "boot.decode",
    OF_HEX,
  ] as const,
  ...["attestationDocument", "manifestEnvelope"].map(
    (name) => [name, (change: Change) => changed(details, name, change), "boot.decode", OF_BASE64] as const,
  ),
  ...["publicKey", "signature"].map(
    (name) => [name, (change: Change) => changed(app, name, change), "app.decode", OF_HEX] as const,
  ),
].map(([name, made, check, spellings]) => [name, made, check, spellings.filter(isOther(made))]);

/** Some texts are the same in base64 and base64url, or have no padding. */
function isOther(made: (change: Change) => JsonObject): (spelling: readonly [string, Change]) => boolean {
  const plain = JSON.stringify(made((text) => text));
  return ([, change]) => JSON.stringify(made(change)) !== plain && !JSON.stringify(made(change)).includes("\\u0000");
}

describe.each(MEMBERS)("the member %s", (name, made, check, spellings) => {
  const isApp = check === "app.decode";
  const files = (value: JsonObject): string[] =>
    isApp ? ["--boot-proof", fileOf(bootProof), "--app-proof", fileOf(value)] : ["--boot-proof", fileOf(value)];

  it.each(spellings)("is named in a file, and rejected in the library: %s", async (what, change) => {
    const value = made(change);
    const { code, stdout, stderr } = await verify(...files(value));
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(`${name}: ${what}: expected `);
    const evidence = isApp ? { bootProofs: [bootProof], appProofs: [value] } : { bootProofs: [value] };
    const { report } = await verifyEvidence(evidence, { policy: NO_POLICY_ANY_ENCLAVE, now: at });
    expect(report.checks.find(({ id, status }) => id === check && status === "fail")!.detail).toContain(
      `${name}: ${what}: expected `,
    );
  });

  it("is named in each other place of a file", async () => {
    const value = made(spellings[0]![1]);
    const [bundle, wrapped, activityFile] = isApp
      ? [packed([bootProof], [value]), { appProofs: [value] }, { activity: withProof(value) }]
      : [packed([value], []), { bootProofs: [bootProof, value] }, undefined];
    const commands = [
      [fileOf(bundle)],
      isApp ? files(wrapped) : ["--boot-proof", fileOf(wrapped)],
      ...(activityFile ? [["--boot-proof", fileOf(bootProof), "--activity", fileOf(activityFile)]] : []),
    ];
    for (const args of commands) {
      const { code, stderr } = await verify(...args);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`${name}: ${spellings[0]![0]}: expected`)]);
    }
    for (const line of [value, bundle, wrapped, ...(activityFile ? [activityFile] : [])]) {
      expect(readEntry(toUtf8(JSON.stringify(line)))).toMatchObject({
        kind: "malformed",
        reason: expect.stringContaining(`${name}: ${spellings[0]![0]}`),
      });
      expect(onPage(line, isApp)).toEqual([expect.stringContaining(`${name}: ${spellings[0]![0]}`)]);
    }
  });

  it("has no fault as it is, or where it spells nothing, which is rejected", async () => {
    expect(misspelt(made((text) => text))).toHaveLength(0);
    const { code, stdout } = await verify(...files(made(() => "%")), "--format", "json");
    expect([code, failed(stdout).includes(check)]).toEqual([1, true]);
  });
});

const packed = (bootProofs: JsonObject[], proofs: JsonObject[]): object =>
  packEvidence({ bootProofs, appProofs: proofs });

const FORM: FormValues = {
  ...{
    policy: "none",
    organization: "",
    addresses: "",
    payloads: "",
    challenges: "",
    now: "",
    nonce: "",
    ephemeralKey: "",
  },
  ...{ allowDebug: false, failOnWarning: false },
};

/** The faults of the form of the page that verifies. */
function onPage(value: object, isApp: boolean): readonly string[] | null {
  const given = "bundle" in value || !isApp ? [value] : [bootProof, value];
  const files = given.map((one) => ({ name: "file.json", bytes: toUtf8(JSON.stringify(one)), sha256: "" }));
  return requested(files.map(listedFile), FORM, at).faults;
}

describe("misspelt", () => {
  it("looks at evidence alone", () => {
    const key = `0x${"04".repeat(65)}`;
    for (const value of [
      { intent: { createApiKeysIntent: { apiKeys: [{ publicKey: key }] } }, result: { signature: key } },
      { publicKey: key, privateKey: key },
      { deployments: [{ publicKey: key, quorumKey: key }] },
      null,
      "0x",
    ])
      expect(misspelt(value)).toHaveLength(0);
  });

  it("counts more faults than it keeps", () => {
    const value = changed(bootProof, "ephemeralPublicKeyHex", (text) => `0x${text}`);
    expect(misspelt(Array.from({ length: 1000 }, () => value)).length).toBeLessThan(110);
  });
});
