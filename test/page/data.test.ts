/** What a page carries: that nothing of it is lost or changed on the way, and that what is malformed is named. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import {
  NO_POLICY_ANY_ENCLAVE,
  POLICY_OF_THE_BUNDLE,
  type VerifyOptions,
  decodeBundle,
  packBundle,
  parsePolicy,
  parseTrustAnchor,
  verifyAttestation,
  verifyBundle,
  verifyEvidence,
} from "../../src/index.js";
import { namedBundle } from "../../src/bundle/file.js";
import { InputFiles } from "../../src/cli/files.js";
import type { Io } from "../../src/cli/io.js";
import { readEvidence } from "../../src/cli/pieces.js";
import type { MalformedError } from "../../src/errors.js";
import { type Evidence, NamedEvidence } from "../../src/inputs.js";
import { plainOptions } from "../../src/plain-settings.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { type PageContent, type PageData, pageData } from "../../src/page/data.js";
import { readPageData } from "../../src/page/read-data.js";
import { reproducePage } from "../../src/page/verify.js";
import { fromHex, toUtf8 } from "../../src/bytes.js";
import { cryptography } from "../../src/verify/cryptography.js";

const AT = new Date("2026-03-04T05:06:07.000Z");
const now = new Date("2026-03-04T05:16:07.000Z");
const lab = new Forge();
const forged = forgeEvidence({ lab, at: AT });
const policyText = JSON.stringify({
  ...labPolicy(forged.anchorPem, [labDeployment(lab)]),
  trustAnchors: [{ file: "../anchors/lab.pem" }],
});
const policy = parsePolicy(policyText, { readFile: () => `${forged.anchorPem}\nand a note that is nobody's business` });

const bytesOf = (value: unknown): Uint8Array => toUtf8(JSON.stringify(value));
const named = (name: string, value: unknown, file: unknown = value): NamedEvidence =>
  new NamedEvidence(name, value, { bytes: bytesOf(file) });

/** Written as JSON, and read. */
const throughJson = (content: PageContent): PageContent => readPageData(JSON.stringify(pageData(content)));

async function contentOf(evidence: Evidence, options: Partial<VerifyOptions> = {}): Promise<PageContent> {
  const all: VerifyOptions = { policy, now, ...options };
  const { report } = await verifyEvidence(evidence, all);
  return { evidence, options: plainOptions(all), report };
}

async function expectSame(content: PageContent, verdict: string): Promise<PageContent> {
  const read = throughJson(content);
  const { same, differences, report } = await reproducePage(read);
  expect([report.verdict, differences, same]).toEqual([verdict, [], true]);
  expect(report).toEqual(content.report);
  return read;
}

const key = fromHex(forged.bootProof["ephemeralPublicKeyHex"] as string)!;
const list = [forged.bootProof, { bootProof: forged.bootProof }];

describe("comes to the same report", () => {
  it.each<[string, Evidence]>([
    ["values", { bootProofs: [forged.bootProof], appProofs: forged.appProofs }],
    ["JSON texts", { bootProofs: [JSON.stringify(forged.bootProof)] }],
    ["bytes", { bootProofs: [bytesOf(forged.bootProof)], appProofs: [bytesOf(forged.appProofs[0])] }],
    ["a file", { bootProofs: [named("boot.json", forged.bootProof)] }],
    ["a text with its bytes", { bootProofs: [new NamedEvidence("b", "{}", { bytes: toUtf8("{}") })] }],
    ["a list in a file", { bootProofs: list.map((value, index) => named(`b[${index}]`, value, { bootProofs: list })) }],
    [
      "a list in a file that has null, too",
      { bootProofs: list.map((value, index) => named(`b[${index}]`, value, { note: null, bootProofs: list })) },
    ],
    ["a wrapped activity", { bootProofs: [forged.bootProof], activity: { activity: forged.activity } }],
    [
      "an activity that was wrapped",
      { bootProofs: [forged.bootProof], activity: named("a", { activity: forged.activity }, forged.activity) },
    ],
    [
      "what was asked for",
      { bootProofs: [new NamedEvidence("signer", forged.bootProof, { ephemeralKey: key, latestOf: "signer" })] },
    ],
    ["no boot proof at all", { bootProofs: [], appProofs: forged.appProofs }],
    ["what is not evidence", { bootProofs: [null, 5, "", [], { bootProof: "<script>" }, "\u2028</script><!--"] }],
  ])("of %s", async (_, evidence) => {
    const content = await contentOf(evidence);
    await expectSame(content, content.report["verdict"] as string);
  });

  it("of an activity whose app proofs the service listed, which its file has not", async () => {
    const { appProofs, ...bare } = forged.activity;
    for (const file of [bare, { activity: bare }, { activity: { ...bare, appProofs: [] } }]) {
      const whole = { ...((file as { activity?: object }).activity ?? file), appProofs };
      const evidence = { bootProofs: [forged.bootProof], activity: named("activity.json", { activity: whole }, file) };
      await expectSame(await contentOf(evidence), "verified");
    }
  });

  it("of every option", async () => {
    const { organizationId } = forged.activity as { organizationId: string };
    const options: Partial<VerifyOptions> = {
      at: new Date("2026-03-04T05:07:00.000Z"),
      measurements: { 0: new Uint8Array(48).fill(1), 8: new Uint8Array(48) },
      ephemeralKey: key,
      nonce: new Uint8Array([1, 2, 3]),
      expected: { organizationId, addresses: ["0x00"], parameters: { a: [1.5, null, "ü"] }, requestedAt: AT },
      allowDebug: true,
    };
    const content = await contentOf({ bootProofs: [forged.bootProof], activity: forged.activity }, options);
    const { options: read } = await expectSame(content, "rejected");
    const wanted = { now, ...options, expected: { ...options.expected, requestedAt: AT.getTime() } };
    expect(read).toEqual({ ...wanted, policy: read.policy });
    const onlyBoots = await contentOf({ bootProofs: [forged.bootProof] }, { bootProofsOnly: true, at: "now" });
    expect((await expectSame(onlyBoots, "verified")).options).toMatchObject({ bootProofsOnly: true, at: "now" });
  });

  it("of expected payloads", async () => {
    const payload = [
      { type: "A", values: { "/a": "x", "/b/0": 1.5, "/c": null, "/d": true, "/~1~0": "" } },
      { type: "A", values: { "/e": "q7Yt3mVnB2xKc9PzLwRs4A" }, challenge: "/e" },
    ];
    const evidence = { bootProofs: [forged.bootProof], appProofs: forged.appProofs };
    const { options } = await expectSame(await contentOf(evidence, { expected: { payload } }), "rejected");
    expect(options.expected).toEqual({ payload });
  });

  it("without a policy, with trust anchors", async () => {
    const trustAnchors = [parseTrustAnchor("lab.pem", forged.anchorPem)];
    const options = { policy: NO_POLICY_ANY_ENCLAVE, trustAnchors } as const;
    await expectSame(await contentOf({ bootProofs: [forged.bootProof] }, options), "authentic");
  });

  it("of a bare document, as bytes and as a file in base64", async () => {
    const { document } = forged;
    const text = toUtf8(`${Buffer.from(document).toString("base64")}\n`);
    for (const evidence of [
      document,
      new NamedEvidence("d", document),
      new NamedEvidence("d.b64", document, { bytes: text }),
    ]) {
      const options: VerifyOptions = { policy: NO_POLICY_ANY_ENCLAVE, now };
      const { report } = await verifyAttestation(evidence, options);
      await expectSame({ evidence, options: plainOptions(options), report }, "rejected");
    }
  });

  it("of a bundle, by its own policy and by the caller's", async () => {
    const own = labPolicy(forged.anchorPem, [labDeployment(lab)]) as unknown as Parameters<
      typeof packBundle
    >[1]["policy"];
    const { bundle } = await packBundle({ bootProofs: [forged.bootProof] }, { policy: own, now });
    const bytes = bytesOf(bundle);
    const decoded = namedBundle(decodeBundle(bytes), "bundle.json", bytes);
    const trustAnchors = [parseTrustAnchor("lab", forged.anchorPem)];
    for (const chosen of [POLICY_OF_THE_BUNDLE, policy] as const) {
      const given = chosen === policy ? { now } : { now, trustAnchors };
      const { report, policyFrom, packed } = await verifyBundle(decoded, { policy: chosen, ...given });
      const options = plainOptions({ policy: chosen === policy ? policy : undefined, ...given });
      const content = { evidence: { bundle: bytes, name: "bundle.json" }, options, report };
      const anew = await reproducePage(await expectSame(content, chosen === policy ? "verified" : "authentic"));
      expect(anew.bundle).toEqual({ policyFrom, packed });
    }
  });
});

describe("what is carried", () => {
  it.each(["document", "now", AT] as const)("has the time by which certificates are valid: %s", async (at) => {
    const content = await contentOf({ bootProofs: [forged.bootProof] }, { at });
    expect(throughJson(content).options.at).toEqual(at);
  });

  it("has the time of a request as a number", async () => {
    const content = await contentOf({ bootProofs: [forged.bootProof] });
    const expected = { organizationId: "o", requestedAt: AT };
    const { options } = pageData({ ...content, options: { ...content.options, expected } });
    expect(options).toMatchObject({ expected: { organizationId: "o", requestedAt: AT.getTime() } });
  });

  it("has each file once, and no value twice", async () => {
    const file = { bootProofs: list };
    const content = await contentOf({ bootProofs: list.map((value, index) => named(`b[${index}]`, value, file)) });
    const data = pageData(content);
    expect(data.files).toEqual([Buffer.from(bytesOf(file)).toString("base64")]);
    const { bootProofs } = data.evidence as unknown as { bootProofs: object[] };
    expect(bootProofs).toEqual([
      { name: "b[0]", file: 0, value: { at: ["bootProofs", 0] } },
      { name: "b[1]", file: 0, value: { at: ["bootProofs", 1] } },
    ]);
  });

  it("has the policy's bytes and the certificates that it names, and nothing else of their files", async () => {
    const { options } = pageData(await contentOf({ bootProofs: [forged.bootProof] }));
    const { bytes, anchors } = options["policy"] as { bytes: string; anchors: Record<string, string> };
    expect(Buffer.from(bytes, "base64").toString()).toBe(policyText);
    expect(Object.keys(anchors)).toEqual(["../anchors/lab.pem"]);
    expect(JSON.stringify(options)).not.toContain("nobody's business");
  });

  it("is not a value beside bytes that it is not in: their digest would stand for it", async () => {
    const { options, report } = await contentOf({ bootProofs: [forged.bootProof] });
    const other = new NamedEvidence("boot.json", { ...forged.bootProof, x: 1 }, { bytes: bytesOf(forged.bootProof) });
    expect(() => pageData({ evidence: { bootProofs: [other] }, options, report })).toThrow(
      new TypeError("boot[0]: its value is not in the bytes beside it"),
    );
  });

  it("is not a boot proof that is verified already, and no policy that was given as a value", async () => {
    const { options, report } = await contentOf({ bootProofs: [forged.bootProof] });
    const { bootProofs } = await verifyEvidence({ bootProofs: [forged.bootProof] }, { policy, now });
    expect(() => pageData({ evidence: { bootProofs }, options, report })).toThrow(
      /^boot\[0\]: expected JSON, got a verified/,
    );
    const asValue = parsePolicy(labPolicy(forged.anchorPem, [labDeployment(lab)]));
    expect(() => plainOptions({ policy: asValue, now })).toThrow(/expected one that was read from text or bytes/);
  });
});

describe("malformed data", () => {
  const good = pageData({
    evidence: { bootProofs: [named("boot.json", forged.bootProof)], appProofs: [{ a: 1 }] },
    options: plainOptions({ policy, now }),
    report: { verdict: "verified" },
  });
  const faultsOf = (data: unknown): string[] => {
    try {
      readPageData(typeof data === "string" ? data : JSON.stringify(data));
      return [];
    } catch (error) {
      expect((error as MalformedError).code).toBe("page");
      return (error as MalformedError).faults.map(({ path, message }) => `${path}: ${message}`);
    }
  };
  const piece = (changes: object): PageData => {
    const evidence = good.evidence as unknown as { bootProofs: object[] };
    return {
      ...good,
      evidence: { ...evidence, bootProofs: [{ ...evidence.bootProofs[0], ...changes }] },
    } as unknown as PageData;
  };
  const options = (changes: object): PageData => ({ ...good, options: { ...good.options, ...changes } }) as PageData;

  it("is told with every fault", () => {
    expect(faultsOf(good)).toEqual([]);
    expect(faultsOf({ ...good, page: "bootproof-page/2", more: 1, files: ["?", 5], report: 7 })).toEqual([
      'page: expected "bootproof-page/1"',
      "more: unknown member",
      "files[0]: not base64",
      "files[1]: not base64",
      "evidence.bootProofs[0].file: expected one of 0 files",
      expect.stringContaining("evidence.bootProofs[0].value: expected"),
      "report: expected an object, got a number",
    ]);
  });

  it.each<[string, unknown, string]>([
    ["no JSON", "{", ": not JSON"],
    ["no object", "[]", ": expected an object, got an array"],
    ["too deep", `${'{"a":'.repeat(200)}1${"}".repeat(200)}`, ": nested deeper than 100"],
    [
      "a place that is not there",
      piece({ value: { at: ["bootProofs", 7] } }),
      "evidence.bootProofs[0].value: its file has nothing there",
    ],
    [
      "a place in the prototype",
      piece({ value: { at: ["constructor"] } }),
      "evidence.bootProofs[0].value: its file has nothing there",
    ],
    [
      "a value beside a file",
      piece({ value: { json: {} } }),
      'evidence.bootProofs[0].value: expected "bytes", "decoded", "text" or {"at": […]}',
    ],
    ["a file that is not there", piece({ file: 1 }), "evidence.bootProofs[0].file: expected one of 1 files"],
    ["a file before the first", piece({ file: -1 }), "evidence.bootProofs[0].file: expected one of 1 files"],
    ["a key that is not hex", piece({ ephemeralKey: "xy" }), "evidence.bootProofs[0].ephemeralKey: not hex"],
    [
      "measurements that are no object",
      options({ measurements: 5 }),
      "options.measurements: expected an object, got a number",
    ],
    ["measurements of nothing", options({ measurements: {} }), "options.measurements: empty"],
    [
      "a PCR that there is not",
      options({ measurements: { "32": "00".repeat(48) } }),
      "options.measurements.32: no PCR: expected an index of 0 to 31",
    ],
    [
      "a PCR that is too short",
      options({ measurements: { "0": "00" } }),
      "options.measurements.0: 2 hex digits, expected 96",
    ],
    ["an empty nonce", options({ nonce: "" }), "options.nonce: empty"],
    ["no policy, and not in so many words", options({ policy: undefined }), "options.policy: missing"],
    [
      "a time in another spelling",
      options({ now: "2026-03-04T05:16:07Z" }),
      "options.now: expected a time such as 2026-03-04T05:06:07.000Z",
    ],
    ["a cache", options({ cache: {} }), "options.cache: unknown member"],
  ])("%s", (_, data, fault) => {
    expect(faultsOf(data)).toContain(fault);
  });

  const bare = (json: unknown): object => ({ name: null, value: { json } });
  const evidence = (bootProofs: readonly object[], appProofs: readonly object[] = []): object => ({
    ...good,
    evidence: { bootProofs, appProofs },
  });
  const inFile = (json: unknown, count: number): object => ({
    ...evidence(Array<object>(count).fill({ name: null, file: 0, value: { at: [] } })),
    files: [Buffer.from(JSON.stringify(json)).toString("base64")],
  });
  const MIB = 1024 * 1024;
  const ofMany =
    "evidence: its pieces come to more than 8 MiB or 250000 values, the most that a page holds; each counts as often " +
    "as it is named";
  it.each<[string, () => unknown, string]>([
    [
      "257 boot proofs",
      () => evidence(Array<object>(257).fill(bare(1))),
      "evidence.bootProofs: 257 entries, expected at most 256",
    ],
    [
      "2,049 app proofs",
      () => evidence([bare(1)], Array<object>(2049).fill(bare(1))),
      "evidence.appProofs: 2049 entries, expected at most 2048",
    ],
    ["500,001 values", () => `[${Array(500_000).fill("{}").join()}]`, ": more than 500000 values"],
    ["a piece of more than 8 MiB of text", () => evidence([bare("x".repeat(8 * MIB + 1))]), ofMany],
    ["pieces of more than 8 MiB together", () => inFile(["x".repeat(MIB)], 9), ofMany],
    ["pieces of more than 250,000 values together", () => inFile(Array(50_000).fill(0), 5), ofMany],
    [
      "a bundle of more than 8 MiB",
      () => ({
        ...good,
        evidence: { bundle: { name: "b", file: 0 } },
        files: [Buffer.alloc(8 * MIB + 1).toString("base64")],
      }),
      "evidence.bundle: a bundle of more than 8 MiB",
    ],
  ])("is more than a page may hold: %s", (_, data, fault) => {
    expect(faultsOf(data())).toEqual([fault]);
  });

  it("is not what a page may just hold", () => {
    expect(faultsOf(evidence(Array<object>(256).fill(bare(1)), Array<object>(2048).fill(bare(1))))).toEqual([]);
    expect(faultsOf(evidence([bare("x".repeat(8 * MIB))]))).toEqual([]);
    expect(faultsOf(inFile(Array(49_999).fill(0), 5))).toEqual([]);
  });

  it.each<[unknown, string]>([
    [[], "payload: expected a non-empty list"],
    [{}, "payload: expected a non-empty list"],
    [[{ type: "A", values: {} }], "payload[0].values: expected an object of values by JSON pointer"],
    [[{ type: "A", values: { "/a": [] } }], 'payload[0].values["/a"]: expected a string, finite number'],
    [[{ type: "A", values: { a: 1 } }], 'payload[0].values["a"]: expected a JSON pointer'],
    [[{ values: { "/a": 1 } }], "payload[0].type: expected a non-empty string"],
    [[{ type: "A", values: { "/a": 1 }, value: 1 }], "payload[0]"],
    [[{ type: "A", values: { "/a": "short" }, challenge: "/a" }], "payload[0].challenge: its value is not random"],
  ])("is told where expected payloads are none: %j", (payload, fault) => {
    expect(faultsOf(options({ expected: { payload } }))).toEqual([
      expect.stringContaining(`options.expected: ${fault}`),
    ]);
  });

  it("is told where the options make no sense, and where the policy is none", async () => {
    const verify = async (data: PageData): Promise<unknown> => reproducePage(readPageData(JSON.stringify(data)));
    await expect(verify(options({ bootProofsOnly: true }))).rejects.toThrow(
      /^malformed page: options: evidence.appProofs: not allowed/,
    );
    await expect(verify(options({ policy: "bundle" }))).rejects.toThrow(/that of a bundle, and there is none/);
    await expect(verify(options({ policy: { bytes: "e30=" } }))).rejects.toThrow(/^malformed policy/);
    const { bytes } = good.options["policy"] as { bytes: string };
    await expect(verify(options({ policy: { bytes } }))).rejects.toThrow(/not among the files that were given/);
  });
});

it("differences name the check, and each place once", async () => {
  const content = await contentOf({ bootProofs: [forged.bootProof] });
  const report = JSON.parse(JSON.stringify(content.report)) as {
    verdict: string;
    checks: { status: string }[];
    extra: number;
  };
  report.verdict = "authentic";
  report.checks[0]!.status = "fail";
  report.extra = 1;
  report.checks.pop();
  const { same, differences } = await reproducePage({ ...content, report: report as never });
  const checks = content.report["checks"] as { subject: string; id: string }[];
  const nameOf = ({ subject, id }: { subject: string; id: string }): string => `${subject} ${id}`;
  expect(same).toBe(false);
  expect(differences).toEqual([
    { place: "verdict", page: '"authentic"', anew: '"verified"' },
    { place: `${nameOf(checks[0]!)}: status`, page: '"fail"', anew: '"pass"' },
    { place: nameOf(checks.at(-1)!), page: null, anew: JSON.stringify(checks.at(-1)) },
    { place: "extra", page: "1", anew: null },
  ]);
});

it("differences end at a hundred, and what is behind them is not looked at", async () => {
  const content = await contentOf({ bootProofs: [forged.bootProof] });
  let reads = 0;
  const check = {
    get id() {
      return ++reads;
    },
  };
  const report = { ...content.report, checks: Array(10_000).fill(check) };
  const { differences } = await reproducePage({ ...content, report: report as never });
  expect(differences).toHaveLength(100);
  expect(reads).toBeLessThan(1000);
});

it("pieces of one bundle share one copy of its bytes, and its digest", async () => {
  const bundle = { bundle: "bootproof-bundle/1", bootProofs: Array(20).fill({}), appProofs: Array(20).fill({}) };
  const bytes = bytesOf(bundle);
  const { evidence } = namedBundle(decodeBundle(bytes), "bundle.json", bytes);
  const copies = new Set(
    [...evidence.bootProofs, ...evidence.appProofs!].map((piece) => (piece as NamedEvidence).bytes),
  );
  expect([copies.size, copies.has(bytes)]).toEqual([1, false]);
  const digest = vi.spyOn(await cryptography(), "digest");
  const { report } = await verifyEvidence(evidence, { policy, now });
  const ofTheFile = digest.mock.calls.filter(([, input]) => input.length === bytes.length);
  digest.mockRestore();
  expect(ofTheFile.length).toBe(1);
  expect(new Set(report.evidence.map(({ sha256 }) => sha256)).size).toBe(1);
});

it("pieces of one file of the command line share its bytes", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "shared-")), "apps.json");
  writeFileSync(path, JSON.stringify({ appProofs: Array(50).fill(forged.appProofs[0]) }));
  const files = new InputFiles({} as Io);
  const { appProofs } = await readEvidence(files, { bootProofs: [], appProofs: [path], activity: undefined }, "verify");
  expect(new Set(appProofs!.map((piece) => (piece as NamedEvidence).bytes)).size).toBe(1);
  rmSync(dirname(path), { recursive: true });
});
