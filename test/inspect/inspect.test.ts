import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fromUtf8, toBase64, toHex, toUtf8 } from "../../src/bytes.js";
import { packEvidence } from "../../src/bundle/pack.js";
import type { JsonObject } from "../../src/decode/json.js";
import { MalformedError } from "../../src/errors.js";
import { Forge, forgeEvidence } from "../../src/lab/forge.js";
import { LAB_BUILD, LabSigstore, type ProvenanceAlterations, sigstoreExtension } from "../../src/lab/sigstore.js";
import { describeUnrecognised } from "../../src/inspect/unrecognised.js";
import { renderInspection } from "../../src/inspect/text.js";
import type { DescribedObject } from "../../src/inspect/described.js";
import { type Inspection, inspectUnverified } from "../../src/inspect/inspect.js";
import { renderJson } from "../../src/report/json.js";
import { DETAIL_FORMS, decodeServiceForm, detailsOf } from "../support/provisioning.js";

const VECTORS = new URL("../../test-vectors/", import.meta.url);
const read = (path: string): Uint8Array => new Uint8Array(readFileSync(new URL(path, VECTORS)));
const json = (value: unknown): Uint8Array => toUtf8(JSON.stringify(value));

const lab = new Forge();
const at = new Date("2026-03-04T05:06:07.000Z");
const live = forgeEvidence({ lab, at });
const v1 = forgeEvidence({ lab, at, version: "v1" });
const boot = decodeServiceForm(v1.bootProof);
const genuine = read("boot-proofs/bootproof-1.json");
const current = decodeServiceForm(live.bootProof);
const ofShortLines = toBase64(live.document).replace(/.{76}/g, "$&\r\n");

/** One of each kind and of each encoding; all kinds are in kinds.test.ts. */
const recognised: [string, Uint8Array, string, string][] = [
  ["a boot proof", genuine, "boot proof", "JSON"],
  ["an app proof", read("boot-proofs/appproof-1.json"), "app proof", "JSON"],
  ["app proofs", json(live.appProofs), "app proofs", "JSON"],
  ["an activity", json(live.activity), "activity", "JSON"],
  ["a document", live.document, "attestation document", "CBOR"],
  ["a document in base64 of short lines", toUtf8(ofShortLines), "attestation document", "CBOR in base64"],
  ["a document in hex", toUtf8(toHex(live.document).toUpperCase()), "attestation document", "CBOR in hex"],
  ["a borsh manifest", boot.manifest, "manifest", "borsh"],
  ["a borsh manifest in base64", toUtf8(toBase64(boot.manifest)), "manifest", "borsh in base64"],
  ["a borsh envelope", boot.manifestEnvelope, "manifest envelope", "borsh"],
  ["a JSON manifest in base64", toUtf8(toBase64(current.manifest)), "manifest", "JSON in base64"],
  ["a JSON envelope", current.manifestEnvelope, "manifest envelope", "JSON"],
  ["a PEM certificate", toUtf8(live.anchorPem), "certificate", "PEM"],
  ["a DER certificate", live.anchorDer, "certificate", "DER"],
];

describe("recognition by content", () => {
  it.each(recognised)("%s", async (_, bytes, kind, encoding) => {
    const inspection = (await inspectUnverified(bytes))!;
    expect(inspection).toMatchObject({ kind, encoding, faults: [] });
    expect(renderInspection(inspection, { color: false })).toMatch(/^NOT VERIFIED: /);
    expect(renderJson(inspection)).toMatch(/^\{\n {2}"NOT VERIFIED": "/);
  });

  it("returns null for what kindOf does not know", async () => {
    const noise = Uint8Array.from({ length: 500 }, (_, index) => (index * 73 + 11) % 251);
    for (const bytes of [noise, json([1, null, "proofPayload"])]) expect(await inspectUnverified(bytes)).toBeNull();
  });

  it("reports where JSON is invalid", async () => {
    await expect(inspectUnverified(toUtf8('{\n "a": 1,\n "a": 2}'))).rejects.toThrow(MalformedError);
    await expect(inspectUnverified(toUtf8('{\n "a": 1,\n "a": 2}'))).rejects.toThrow(/line 3, column 2/);
  });
});

describe("an inspection", () => {
  it.each(DETAIL_FORMS)("of provisioning details is all that is in them: %s", async (form) => {
    const details = detailsOf(live.bootProof, form);
    const { kind, faults, says } = (await inspectUnverified(json(details)))!;
    expect([kind, faults]).toEqual(["boot proof", []]);
    expect(says).toMatchObject({
      "(form)": expect.stringContaining("which share holders see"),
      attestationDocument: { time: at.toISOString() },
      manifestEnvelope: { manifest: { version: "v2", namespace: { nonce: 7 } }, manifestSetApprovals: [{}, {}] },
      ...(form === "file" && { validation_time_secs: 1_772_600_767 }),
      ...(form === "browser" && { fetchedAtUnixMs: 1_772_600_767_000, deploymentId: details["deploymentId"] }),
    });
    for (const absent of ["(unknown members)", "(could not be read)", "labels", "manifest"])
      expect(says).not.toHaveProperty([absent]);
    const [document, envelope] = Object.keys(details) as [string, string];
    const broken = (await inspectUnverified(json({ ...details, [document]: "%", [envelope]: 7, owner: "x" })))!;
    expect(broken.faults.map((fault) => fault.split(":")[0])).toEqual(["owner", document, envelope]);
    expect(broken.says).toMatchObject({
      "(could not be read)": { [document]: "%", [envelope]: 7 },
      "(unknown members)": { owner: "x" },
    });
  });

  it("of provisioning details with a state has that state, and no kind where it is alone", async () => {
    const state = { provisioningState: "PROVISIONING_STATE_PENDING" };
    const { faults, says } = (await inspectUnverified(json({ ...detailsOf(live.bootProof, "query"), ...state })))!;
    expect([faults, says]).toEqual([[], expect.objectContaining(state)]);
    expect(says).not.toHaveProperty(["(unknown members)"]);
    expect(await inspectUnverified(json(state))).toBeNull();
    expect(describeUnrecognised(json(state))).toBe(
      "a deployment's state, not evidence: not provisioned yet: PROVISIONING_STATE_PENDING",
    );
  });

  it("of another manifest in the envelope is that manifest", async () => {
    const other = forgeEvidence({
      lab,
      at,
      alterManifest: { shown: (manifest) => ({ ...manifest, namespace: { ...manifest.namespace, nonce: 8 } }) },
    });
    const says = (await inspectUnverified(json(other.bootProof)))!.says as Record<string, DescribedObject>;
    expect(says["manifestEnvelope"]!["manifest"]).toMatchObject({ namespace: { nonce: 7 } });
  });

  it("of broken evidence is the parts that can be read, and what is wrong", async () => {
    const broken = { ...live.bootProof, qosManifestB64: "AAAA", ephemeralPublicKeyHex: "zz" };
    const inspection = (await inspectUnverified(json(broken)))!;
    expect(inspection.kind).toBe("boot proof");
    expect(inspection.faults).toEqual(["ephemeralPublicKeyHex: not hex", expect.stringMatching(/^manifest: /)]);
    expect(inspection.says).toMatchObject({ attestationDocument: { time: at.toISOString() } });
    expect(await inspectUnverified(live.document.subarray(0, 200))).toMatchObject({
      kind: "attestation document",
      faults: [expect.stringContaining("the input ends")],
      says: null,
    });
  });
});

it("evidence cannot write to the terminal", async () => {
  const text = '\u001b[2J\n"\u202e  VERIFIED';
  const hostile = forgeEvidence({
    lab,
    at,
    alterManifest: {
      manifest: (manifest) => ({
        ...manifest,
        namespace: { ...manifest.namespace, name: text },
        pivot: { ...manifest.pivot, args: [text], env: new Map([["A", text]]) },
      }),
    },
    payloads: [{ type: text, timestampMs: "1", [text]: { [text]: [text] } }],
  });
  const pieces = [
    hostile.bootProof,
    hostile.appProofs,
    { ...hostile.activity, status: text, [text]: text, result: { [text]: text } },
    { ...live.bootProof, [text]: 1, createdAt: { [text]: text } },
  ];
  for (const piece of pieces) {
    const rendered = renderInspection((await inspectUnverified(json(piece)))!, { color: false });
    expect(rendered).toMatch(/^[\n\x20-\x7e]*$/);
    for (const line of rendered.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  }
});

it.each<[string, JsonObject, string | undefined, readonly string[]]>([
  ["an own type may be without a time", { type: "QUOTE" }, "not signed: ", []],
  [
    "a known type has one",
    { type: "APP_PROOF_TYPE_POLICY_OUTCOME", policyOutcomeProof: { organizationId: "o", outcome: "OUTCOME_ALLOW" } },
    undefined,
    ["proofPayload: timestampMs: expected a string, got nothing"],
  ],
  [
    "one that is no time is a fault in any type",
    { type: "QUOTE", timestampMs: "soon" },
    undefined,
    [expect.stringMatching(/^proofPayload: timestampMs: /) as unknown as string],
  ],
])("of the time of app proofs: %s", async (_, payload, time, faults) => {
  const [proof] = forgeEvidence({ lab, at, payloads: [payload] }).appProofs;
  const { says, faults: found } = (await inspectUnverified(json(proof)))!;
  expect(found).toEqual(faults);
  expect((says as { time?: string }).time?.slice(0, 12)).toBe(time);
});

it("shows the beginning of an endless list of app proofs", async () => {
  const inspection = (await inspectUnverified(json({ ...live.activity, appProofs: Array(3000).fill(1) })))!;
  expect(inspection.faults).toContain("appProofs: 3000 entries, expected at most 2048");
  expect(inspection.faults.at(-1)).toBe("appProofs: 3000 entries, of which the first 2048 are shown");
  expect(renderInspection(inspection, { color: false }).length).toBeLessThan(500_000);
});

it("shows deep values without running off the page", async () => {
  let deep: unknown = "x";
  for (let depth = 0; depth < 50; depth++) deep = { ["k".repeat(10)]: deep };
  const inspection = (await inspectUnverified(json({ ...live.activity, result: deep })))!;
  for (const line of renderInspection(inspection, { color: false }).split("\n"))
    expect(line.length).toBeLessThanOrEqual(80);
});

describe("a file with too many values", () => {
  const activity = (intent: string): Uint8Array =>
    toUtf8(`{"id":"a","organizationId":"o","status":"s","type":"t","result":{},"intent":${intent},"appProofs":[{}]}`);
  const items = (item: string, count: number): string => Array<string>(count).fill(item).join();

  it("is shown completely up to tens of thousands of values", async () => {
    const { says } = (await inspectUnverified(activity(`{"x":[${items("0", 40_000)}]}`)))!;
    expect((says as unknown as { intent: { x: number[] } }).intent.x).toHaveLength(40_000);
  });

  it("shows a payload of too many values as text, with the fault", async () => {
    const payload = `{"type":"T","timestampMs":"1","x":[${items("{}", 20_000)}]}`;
    const { says, faults } = (await inspectUnverified(json({ proofPayload: payload })))!;
    expect(says).toMatchObject({ payload });
    expect(faults.join()).toContain("more than 10000 values");
  });

  it("lists a thousand faults of app proofs and counts the others", async () => {
    const proof = { proofPayload: `[${items("9e999", 100)}]` };
    const { faults } = (await inspectUnverified(json(Array(1000).fill(proof))))!;
    expect(faults).toHaveLength(1001);
    expect(faults.at(-1)).toMatch(/^and \d+ more$/);
  });
});

it.each([
  ["nothing", undefined],
  ["text", "NOT VERIFIED"],
  ["an empty object", {}],
  ["one that was not awaited", inspectUnverified(json({}))],
])("what is not an inspection is refused as that by its renderer: %s", (_, value) => {
  expect(() => renderInspection(value as unknown as Inspection)).toThrow(/^inspection: expected the awaited result/);
});

describe("a policy", () => {
  const pcrs = { "0": "11".repeat(48), "1": "12".repeat(48), "2": "13".repeat(48) };
  const policyOf = (...deployments: object[]): Uint8Array => json({ policy: "bootproof/1", deployments });
  const open = { pcrs, pivotHash: "ab".repeat(32) };
  const whole = { name: "whole", ...open, manifestSet: { threshold: 1, members: [`04${"11".repeat(129)}`] } };
  const deploymentsOf = (inspection: Inspection | null): DescribedObject[] =>
    (inspection!.says as unknown as { deployments: DescribedObject[] }).deployments;

  it("shows the settled and open questions of each deployment", async () => {
    const inspection = await inspectUnverified(policyOf(whole, { name: "half", ...open, open: ["operator"] }));
    expect(inspection).toMatchObject({ kind: "policy", encoding: "JSON", faults: [] });
    expect(deploymentsOf(inspection)).toMatchObject([
      {
        ...whole,
        "(what answers)": { image: ["pcrs", "manifestSet"], application: ["pivotHash"], operator: ["manifestSet"] },
        "(what is open)": [],
      },
      {
        "(what answers)": { operator: [] },
        "(what is open)": ["operator"],
        "(what that means)": [expect.stringContaining("leaves the operator open")],
      },
    ]);
  });

  it("shows every fault of a malformed one, and its readable parts", async () => {
    const inspection = await inspectUnverified(policyOf(whole, open, { ...whole, pcrz: {} }));
    expect(inspection!.faults).toEqual([
      expect.stringContaining("deployments[1]: leaves the operator open"),
      "deployments[2].pcrz: unknown member, did you mean pcrs?",
      expect.stringContaining('deployments[2].name: "whole" is already'),
    ]);
    const [first, second, third] = deploymentsOf(inspection);
    expect(first).toHaveProperty("(what is open)", []);
    expect(second).toHaveProperty("(what is open)", ["operator"]);
    expect(third).toHaveProperty("pcrz", {});
    expect(third).not.toHaveProperty("(what is open)");
  });

  it("of bare enclaves is shown so too", async () => {
    const [one] = deploymentsOf(await inspectUnverified(policyOf({ kind: "nitro", pcrs })));
    expect(one).toMatchObject({
      "(what answers)": { image: ["pcrs"], operator: [] },
      "(what that means)": [expect.stringContaining("pins no operator")],
    });
  });

  it("shows the certificates of its anchors, and the names of anchor files", async () => {
    const trustAnchors = ["aws-nitro-root-g1", { pem: live.anchorPem, comment: "ours" }, { file: "root.pem" }];
    const inspection = await inspectUnverified(json({ policy: "bootproof/1", trustAnchors, deployments: [whole] }));
    expect(inspection).toMatchObject({
      faults: [],
      says: {
        trustAnchors: ["aws-nitro-root-g1", { pem: { ca: true, version: 3 }, comment: "ours" }, { file: "root.pem" }],
      },
    });
  });

  it("cannot imitate the members that are ours", async () => {
    const inspection = await inspectUnverified(policyOf({ ...whole, "(what answers)": "everything" }));
    expect(inspection!.faults).toEqual(["deployments[0].(what answers): unknown member"]);
    const report = (await inspectUnverified(json({ format: "bootproof-report/1", "(not believed)": "but true" })))!;
    expect(report.says).toMatchObject({
      "(not believed)": expect.stringContaining("an unverified claim") as string,
      "(unknown members)": { "(not believed)": "but true" },
    });
  });
});

describe("a bundle", () => {
  const bundle = { ...packEvidence({ bootProofs: [live.bootProof], activity: live.activity }), appProofs: [7] };

  it("shows each piece as by itself, with its faults at their places", async () => {
    const { says, faults } = (await inspectUnverified(json({ ...bundle, activity: { ...live.activity, id: 7 } })))!;
    const alone = async (value: unknown): Promise<unknown> => (await inspectUnverified(json(value)))!.says;
    expect(says).toMatchObject({
      bootProofs: [await alone(live.bootProof)],
      appProofs: [{ "(could not be read)": 7 }],
    });
    expect(faults).toEqual([
      "appProofs: [0]: expected an object, got a number",
      "activity: id: expected a string, got a number",
    ]);
  });

  it("is shown with its report as an unverified claim, and with the faults of its format", async () => {
    const packed = { ...bundle, policy: { policy: "bootproof/1", deployments: [] }, report: { verdict: "verified" } };
    const { says, faults } = (await inspectUnverified(json(packed)))!;
    expect(says).toMatchObject({
      report: { "(not believed)": expect.stringContaining("an unverified claim") as string, verdict: "verified" },
    });
    expect(faults).toEqual(
      expect.arrayContaining([
        "policy and report: expected all of now, policy and report, or none",
        "policy.deployments: empty: expected at least one",
        'report: format: expected "bootproof-report/1"',
      ]),
    );
  });
});

describe("PEM", () => {
  const inspectText = async (text: string): Promise<{ says: DescribedObject; faults: readonly string[] }> =>
    (await inspectUnverified(toUtf8(text))) as unknown as { says: DescribedObject; faults: readonly string[] };

  it("shows text around them, and other blocks", async () => {
    const { says, faults } = await inspectText(
      `# the root\n${live.anchorPem}-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\nthe end`,
    );
    expect(says).toMatchObject({
      ca: true,
      "(other blocks)": [{ "X509 CRL": "AAAA" }],
      "(text around)": ["# the root", "the end"],
    });
    expect(faults).toEqual([]);
    const broken = await inspectText(`${live.anchorPem}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`);
    expect(broken.faults).toEqual([expect.stringMatching(/^\[1\]: /)]);
    expect(broken.says).toMatchObject({ certificates: [{ ca: true }, { "(could not be read)": "AAAA" }] });
  });

  it.each([
    ["whole", "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n"],
    ["encrypted", "-----BEGIN RSA PRIVATE KEY-----\nDEK-Info: AES\n\nc2VjcmV0\n-----END RSA PRIVATE KEY-----\n"],
    ["cut", "-----BEGIN EC PRIVATE KEY-----\nc2VjcmV0\n"],
    ["under another name at its end", "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END KEY-----\n"],
    ["with a broken first line", "----BEGIN PRIVATE KEY----\nc2VjcmV0\n"],
  ])("never shows a private key: %s", async (_, key) => {
    const inspection = (await inspectUnverified(toUtf8(live.anchorPem + key)))!;
    expect(renderJson(inspection)).not.toContain("c2VjcmV0");
    expect(renderJson(inspection)).toContain("not shown");
    expect(inspection.says).toMatchObject({ ca: true });
  });
});

describe("a release", () => {
  const text = fromUtf8(read("releases/r2025.9.3.yaml"))!;
  const parsed = { version: "r1", signer: { appBinaryDigest: "ab".repeat(32), PCR0: "11".repeat(48), other: "x" } };

  it("is shown as the caller's reader reads it, with what keeps it from being pinned", async () => {
    const inspection = (await inspectUnverified(toUtf8(text), { readYaml: () => parsed }))!;
    expect(inspection).toMatchObject({ kind: "release", encoding: "YAML", says: parsed });
    expect(inspection.faults).toEqual([
      "signer.PCR1: expected a string, got nothing",
      "signer.PCR2: expected a string, got nothing",
      "signer.PCR3: expected a string, got nothing",
    ]);
    expect((await inspectUnverified(json(parsed)))!).toMatchObject({ encoding: "JSON", says: parsed });
    const short = { ...parsed.signer, PCR1: "00", PCR2: "11".repeat(48), PCR3: "11".repeat(48) };
    expect((await inspectUnverified(json({ version: "r1", signer: short })))!.faults).toEqual([
      expect.stringMatching(/^signer: pcrs\.1: /),
    ]);
  });

  it("is shown line by line without a reader", async () => {
    const inspection = (await inspectUnverified(toUtf8(text)))!;
    expect(inspection.faults).toEqual([expect.stringContaining("without a YAML reader")]);
    expect(inspection.says).toEqual({ lines: text.split("\n") });
  });

  it("is a fault if the reader returns no JSON, and passes on the reader's exceptions", async () => {
    const faulty = await inspectUnverified(toUtf8(text), { readYaml: () => 1n });
    expect(faulty).toMatchObject({ says: null, faults: [expect.stringContaining("bigint")] });
    const thrown = inspectUnverified(toUtf8(text), { readYaml: () => Promise.reject(new Error("no YAML")) });
    await expect(thrown).rejects.toThrow("no YAML");
  });
});

describe("secrets", () => {
  const publicKey = `02${"ab".repeat(32)}`;
  const secret = "5e".repeat(32);

  it.each([
    ["of an API key", { publicKey, privateKey: secret }],
    ["in another member", { publicKey, privateKey: 1, mnemonic: secret, 7: secret }],
    ["in the place of the public key", { publicKey: secret, privateKey: "" }],
    ["behind the beginning of a public key", { publicKey: `${publicKey}${secret}`, privateKey: "" }],
    ["of a key among the members of evidence", { ...live.appProofs[0]!, privateKey: secret }],
    ["as a number", { publicKey, privateKey: [Number(`0x${secret}`)] }],
  ])("are not shown: %s", async (_, file) => {
    const inspection = (await inspectUnverified(json(file)))!;
    expect(inspection.kind).toBe("API key");
    expect(renderJson(inspection) + renderInspection(inspection)).not.toMatch(/(?:5e){8}|e\+/);
    expect(inspection.faults).toEqual([expect.stringContaining("this file is secret")]);
  });

  it("are not shown of a private key as the service's command line keeps it", async () => {
    const inspection = (await inspectUnverified(toUtf8(`${secret}:p256\n`)))!;
    expect([inspection.kind, renderInspection(inspection).includes("5e5e")]).toEqual(["API key", false]);
    expect(inspection.faults).toEqual([expect.stringContaining("this file is secret")]);
  });

  it("are not quoted by a fault of a number", async () => {
    const file = toUtf8(`{"publicKey":"${publicKey}","privateKey":123456789012345678901234567890}`);
    expect(renderJson((await inspectUnverified(file))!)).not.toContain("1234567");
  });
});

it("a request is shown with its time", async () => {
  const request = { type: "ACTIVITY_TYPE_X", timestampMs: "1700000000000", parameters: { a: 1 } };
  expect(await inspectUnverified(json(request))).toMatchObject({
    kind: "request",
    faults: [],
    says: { "(time)": "2023-11-14T22:13:20.000Z", ...request },
  });
});

describe("provenance", () => {
  const sigstore = new LabSigstore();
  const bundle = sigstore.attest({ at, digest: new Uint8Array(32).fill(7) });
  const { repository, workflow, ref, issuer, runner, repositoryId, commit, trigger } = LAB_BUILD;
  const signer = `${repository}/${workflow}@${ref}`;
  const identity = { issuer, signer, runner, repository, commit, ref, repositoryId, buildConfig: signer, trigger };

  it("is shown with the identity in its certificate and the statement in its envelope", async () => {
    const inspection = (await inspectUnverified(toUtf8(bundle)))!;
    expect(inspection).toMatchObject({
      kind: "provenance bundle",
      encoding: "JSON",
      faults: [],
      says: {
        identity: { ...identity, san: signer },
        statement: {
          predicateType: "https://slsa.dev/provenance/v1",
          subject: [{ digest: { sha256: "07".repeat(32) } }],
        },
      },
    });
    expect(renderInspection(inspection)).toContain("repositoryId  123456789");
  });

  it("is shown in the wrapper in which an API hands it out", async () => {
    const inspection = (await inspectUnverified(
      toUtf8(`{"attestations":[{"bundle":${bundle}},{"bundle":${bundle}}]}`),
    ))!;
    expect([inspection.kind, inspection.faults, (inspection.says as unknown[]).length]).toEqual([
      "provenance bundle",
      [],
      2,
    ]);
    expect(inspection).toMatchObject({ says: [{ identity }, { identity }] });
  });

  it("is shown as that of a release", async () => {
    const releases = new LabSigstore({ kind: "private" });
    const released = releases.attest({ at, digest: new Uint8Array(32), release: {} });
    const { says, faults } = (await inspectUnverified(toUtf8(released)))!;
    const release = { repository: "acme/oracle", repositoryId: "123456789", tag: "v1.2.3" };
    expect(faults).toEqual([]);
    expect(says).toMatchObject({ githubRelease: release, identity: { san: "https://dotcom.releases.github.com" } });
    const statement = (json: JsonObject): JsonObject => ({ ...json, predicate: { ...release, tag: 1 } });
    const tagless = releases.attest({ at, digest: new Uint8Array(32), release: {}, alter: { statement } });
    const malformed = (await inspectUnverified(toUtf8(tagless)))!;
    expect(malformed.says).toMatchObject({ githubRelease: { repository: "acme/oracle", repositoryId: "123456789" } });
    expect(malformed.faults.join()).toContain("statement.predicate.tag: expected a string, got a number");
    expect((await inspectUnverified(toUtf8(bundle)))!.says).not.toHaveProperty("githubRelease");
  });

  it("of several lines is shown line by line, with the faults of each", async () => {
    const extensions: ProvenanceAlterations["extensions"] = (all) => [...all, sigstoreExtension(11, "self-hosted")];
    const other = sigstore.attest({ at, digest: new Uint8Array(32), alter: { extensions } });
    const { says, faults, encoding } = (await inspectUnverified(toUtf8(`${bundle}\n\n${other}\n{\n`)))!;
    expect(encoding).toBe("JSON Lines");
    expect(says).toMatchObject([{ identity }, { identity: { issuer } }, { "(could not be read)": "{" }]);
    expect(faults).toEqual([expect.stringMatching(/^\[1\]: certificate: .*twice/), expect.stringMatching(/^\[2\]: /)]);
  });

  it("that is not a statement is shown with what verification refuses", async () => {
    const key = JSON.stringify({ verificationMaterial: { publicKey: { hint: "a" } }, messageSignature: { a: 1 } });
    const { says, faults } = (await inspectUnverified(toUtf8(key)))!;
    expect(JSON.stringify(says)).toContain('"hint":"a"');
    expect(faults.join()).toMatch(/expected a certificate, not a public key.*not a signature of a file/);
  });

  it("has a trusted root, which is shown unchanged, and in JSON Lines each", async () => {
    const root = JSON.stringify(sigstore.trustedRoot);
    expect((await inspectUnverified(toUtf8(root)))!).toMatchObject({
      kind: "trusted root",
      says: sigstore.trustedRoot,
    });
    expect((await inspectUnverified(toUtf8(`${root}\n${root}\n`)))!.says).toEqual([
      sigstore.trustedRoot,
      sigstore.trustedRoot,
    ]);
  });
});
