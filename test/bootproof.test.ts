/** The library's verbs: what they take and what they refuse to take, what a report says of its making, and reuse. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { verifyAnswer } from "../src/bootproof.js";
import { toHex, toUtf8 } from "../src/bytes.js";
import type { JsonObject } from "../src/decode/json.js";
import {
  AppProofUses,
  type VerifiedAppProof,
  type Evidence,
  NO_POLICY_ANY_ENCLAVE,
  NamedEvidence,
  SignatureCache,
  type VerifyOptions,
  parsePolicy,
  renderText,
  verifyActivity,
  verifyAppProof,
  verifyAppProofs,
  verifyAttestation,
  verifyBootProof,
  verifyEvidence,
} from "../src/index.js";
import { packBundle, packEvidence, type BundleVerifyOptions, verifyBundle } from "../src/bundle/index.js";
import { customPayload, policyOutcomePayload } from "../src/lab/enclave.js";
import { LAB_ADDRESS, labDeployment, labPolicy } from "../src/lab/forge.js";
import { generateQosKeyPair, qosSign } from "../src/lab/qos.js";
import type { Report } from "../src/report/report.js";
import { provenStatements, unprovenWords } from "../src/report/statements.js";
import { unprovenStatements } from "../src/report/unproven.js";
import { type Judgement, NOW, after, forge, hex, idsOf, lab, optionsOf, pcrs, put } from "./attacks/support.js";
import { inDer, withS } from "./support/high-s.js";

const whole = forge();
const options = optionsOf(whole);
const evidence: Evidence = { bootProofs: [whole.bootProof], activity: whole.activity };
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

describe("a call that asks for what nobody can answer", () => {
  const wrong: [string, object][] = [
    ["ephemeralKey", { ephemeralKey: "" }],
    ["ephemeralKey", { ephemeralKey: 0 }],
    ["ephemeralKey", { ephemeralKey: null }],
    ["ephemeralKey", { ephemeralKey: "04ab" }],
    ["ephemeralKey", { ephemeralKey: [] }],
    ["nonce", { nonce: "" }],
    ["nonce", { nonce: 0 }],
    ["nonce", { nonce: null }],
    ["nonce", { nonce: new Uint8Array() }],
    ["expected", { expected: null }],
    ["expected", { expected: "org" }],
    ["expected.organizationId", { expected: {} }],
    ["expected.id", { expected: { organizationId: "o", id: "" } }],
    [
      "expected.organizationId: expected a non-empty string, since there is an activity",
      { expected: { payload: [{ type: "ORDER", values: { "/id": "42" } }] } },
    ],
    ["options.expected.payload: empty: expected at least one", { expected: { organizationId: "o", payload: [] } }],
    ["allowDebug", { allowDebug: 1 }],
    ["allowDebug", { allowDebug: null }],
    ["allowDebug", { allowDebug: "false" }],
    ["cache", { cache: {} }],
    ["cache", { cache: null }],
    ["bootProofsOnly", { bootProofsOnly: 1 }],
    ["bootProofsOnly", { bootProofsOnly: null }],
    ["evidence.activity: not allowed with bootProofsOnly", { bootProofsOnly: true }],
    ["uses", { uses: new Map() }],
    ["trustAnchors", { trustAnchors: [] }],
    ["at", { at: null }],
    ["epheremalKey", { epheremalKey: new Uint8Array(130) }],
  ];
  it.each(wrong)("is a TypeError: %s as %j", async (name, option) => {
    const call = verifyEvidence(evidence, { ...options, ...option } as VerifyOptions);
    await expect(call).rejects.toThrow(TypeError);
    await expect(call).rejects.toThrow(name);
  });

  const lists = "evidence: expected lists in an object, such as { bootProofs: [bootProof], appProofs: [appProof] }";
  const wrongEvidence: [string, unknown][] = [
    ["evidence.bootProof: unknown; did you mean bootProofs: [bootProof]?", { bootProof: whole.bootProof }],
    ["evidence.bootProofs: expected a list; did you mean bootProofs: [bootProof]?", { bootProofs: whole.bootProof }],
    ["evidence.bootProofs: expected a list; did you mean bootProofs: [bootProof]?", { bootProofs: null }],
    ["evidence.bootProofs: expected a list; pass an empty list if there is none", { activity: whole.activity }],
    ["evidence.appProof: unknown; did you mean appProofs: [appProof]?", { bootProofs: [], appProof: {} }],
    ["evidence.appProofs: expected a list; did you mean appProofs: [appProof]?", { bootProofs: [], appProofs: {} }],
    [
      "evidence.bootproofs: unknown; known are bootProofs, appProofs, activity, provenance",
      { bootProofs: [], bootproofs: [] },
    ],
    [lists, whole.bootProof],
    [lists, JSON.stringify(whole.bootProof)],
    [lists, [whole.bootProof]],
    [lists, new NamedEvidence("boot.json", whole.bootProof)],
    [lists, {}],
    [lists, null],
    [lists, undefined],
  ];
  it.each(wrongEvidence)("is a TypeError that says what is wanted: %s", async (message, given) => {
    const wanted = new TypeError(message);
    await expect(verifyEvidence(given as Evidence, options)).rejects.toThrow(wanted);
    await expect(packBundle(given as Evidence, { policy: NO_POLICY_ANY_ENCLAVE, now: NOW })).rejects.toThrow(wanted);
    expect(() => packEvidence(given as Evidence)).toThrow(wanted);
  });

  it("is a TypeError where there is nothing to verify, and where a list is none", async () => {
    await expect(verifyEvidence({ bootProofs: [] }, options)).rejects.toThrow(new TypeError("no evidence was given"));
    const meant = new TypeError("evidence.bootProofs: expected a list; did you mean bootProofs: [bootProof]?");
    await expect(verifyActivity(whole.activity, whole.bootProof as never, options)).rejects.toThrow(meant);
  });

  it.each([
    [undefined, "options.policy: expected a policy from parsePolicy, or NO_POLICY_ANY_ENCLAVE, got nothing; "],
    ["policy.json", "options: expected an object, with policy, now, at, "],
    [options.policy, "options: expected { policy, now: new Date() }, not the policy alone"],
    [{ now: NOW }, "options.policy: expected a policy from parsePolicy, or NO_POLICY_ANY_ENCLAVE"],
    [{ ...options, policy: "{}" }, "options.policy: expected a policy from parsePolicy, or NO_POLICY"],
    [{ policy: options.policy }, "now: expected a valid Date"],
  ])("is a TypeError without options that are some: %#", async (given, message) => {
    await expect(verifyEvidence(evidence, given as VerifyOptions)).rejects.toThrow(TypeError);
    await expect(verifyEvidence(evidence, given as VerifyOptions)).rejects.toThrow(message);
  });

  it("is none where the object has no prototype", async () => {
    const bare = Object.assign(Object.create(null), evidence) as Evidence;
    expect((await verifyEvidence(bare, options)).report.verdict).toBe("verified");
  });

  it.each(["appProofs", "activity", "provenance"])(
    "is a TypeError where %s were named and are undefined",
    async (name) => {
      const lost = { bootProofs: [whole.bootProof], [name]: undefined } as unknown as Evidence;
      const says = new TypeError(`evidence.${name}: undefined: leave it out, or give a value`);
      await expect(verifyEvidence(lost, { policy: options.policy, now: options.now })).rejects.toThrow(says);
    },
  );

  it("is a TypeError where a member is inherited: it would be ignored", async () => {
    const says = "inherited from a prototype; make it a member of the object itself";
    const inherited = Object.create(evidence) as Evidence;
    const faults = `evidence.bootProofs: ${says}; evidence.activity: ${says}`;
    await expect(verifyEvidence(inherited, options)).rejects.toThrow(new TypeError(faults));
    const loosened = Object.assign(Object.create({ allowDebug: true }), options) as VerifyOptions;
    await expect(verifyEvidence(evidence, loosened)).rejects.toThrow(new TypeError(`options.allowDebug: ${says}`));
  });

  it(
    "is a TypeError of a bare document: what only boot proofs and activities answer, and what are no " + "bytes",
    async () => {
      const bare = optionsOf(whole, { noPolicy: true });
      for (const option of [{ ephemeralKey: new Uint8Array(130) }, { expected: { organizationId: "o" } }]) {
        await expect(verifyAttestation(whole.document, { ...bare, ...option })).rejects.toThrow(TypeError);
      }
      for (const document of ["hEShATgioFkR", null, {}])
        await expect(verifyAttestation(document as never, bare)).rejects.toThrow(TypeError);
      expect((await verifyAttestation(new Uint8Array(), bare)).report.verdict).toBe("rejected");
    },
  );
});

describe("a question without what could answer it", () => {
  const asked = { organizationId: LAB_ADDRESS.organizationId };
  it.each([{ id: "a" }, { type: "T" }, { parameters: {} }])("is a TypeError: %j of no activity", async (more) => {
    const call = verifyEvidence(
      { bootProofs: [whole.bootProof], appProofs: whole.appProofs },
      { ...options, expected: { ...asked, ...more } },
    );
    await expect(call).rejects.toThrow(/needs an activity, but the evidence has none/);
  });

  const another = { ...options, expected: { organizationId: "another" } };
  it.each([
    ["verifyBootProof", () => verifyBootProof(whole.bootProof, another)],
    [
      "verifyBootProof, whose caller asks for more",
      () => verifyBootProof(whole.bootProof, { ...another, bootProofsOnly: false }),
    ],
    ["boot proofs alone", () => verifyEvidence({ bootProofs: [whole.bootProof] }, another)],
    ["no app proofs", () => verifyEvidence({ bootProofs: [whole.bootProof], appProofs: [] }, another)],
    ["bootProofsOnly", () => verifyEvidence({ bootProofs: [whole.bootProof] }, { ...another, bootProofsOnly: true })],
    [
      "bootProofsOnly, and addresses",
      () =>
        verifyBootProof(whole.bootProof, {
          ...options,
          expected: { ...another.expected, addresses: [LAB_ADDRESS.address] },
        }),
    ],
    ["a bare document", () => verifyAttestation(whole.document, another)],
  ])("is a TypeError: of %s", async (_, call) => {
    await expect(call()).rejects.toThrow(TypeError);
    await expect(call()).rejects.toThrow(/^expected: /);
  });

  it("fails where an address was asked about that no app proof backs", async () => {
    const expected = { ...asked, addresses: [LAB_ADDRESS.address] };
    const { report } = await verifyEvidence({ bootProofs: [whole.bootProof] }, { ...options, expected });
    expect(report.verdict).toBe("rejected");
  });

  it("is a warning where an app proof names no organization", async () => {
    const custom = forge({ payloads: [customPayload(after(60))] });
    const { report } = await verifyEvidence(
      { bootProofs: [custom.bootProof], appProofs: custom.appProofs },
      { ...optionsOf(custom), expected: asked },
    );
    expect(report.checks.find(({ id }) => id === "app.request")).toMatchObject({ status: "warn" });
    expect(renderText(report, { color: false })).not.toContain("to compare with");
  });
});

it("a boot proof that was asked for as an application's newest is named so, and nothing of it is proven", async () => {
  const piece = new NamedEvidence("newest", whole.bootProof, { latestOf: "signer\u001b" });
  const { report } = await verifyEvidence({ bootProofs: [piece, whole.bootProof] }, options);
  expect(report.evidence).toEqual([
    { subject: "boot[0]", name: "newest", sha256: null, latestOf: "signer\u001b" },
    { subject: "boot[1]", name: null, sha256: null },
  ]);
  const said = "That the boot proof is of the application that you named, and of its latest boot";
  expect(renderText(report, { color: false }).replace(/\s+/g, " ")).toContain(
    `${said} ("signer\\u{1b}"): only the service's word.`,
  );
  expect(() => new NamedEvidence(null, whole.bootProof, { latestOf: 1 as never })).toThrow(TypeError);
});

describe("a call that asks for boot proofs only", () => {
  const demanding = optionsOf(whole, { policy: { appProofs: { required: true } } });
  const only = { ...demanding, bootProofsOnly: true };

  it.each([
    ["app proofs", { appProofs: whole.appProofs }],
    ["an empty list of app proofs, as a service answers that leaves them out", { appProofs: [] }],
    ["an activity", { activity: whole.activity }],
    ["an activity that is null", { activity: null }],
  ])("is a TypeError beside %s", async (_, more) => {
    const call = verifyEvidence({ bootProofs: [whole.bootProof], ...more }, only);
    await expect(call).rejects.toThrow(
      new TypeError(`evidence.${Object.keys(more)[0]!}: not allowed with bootProofsOnly`),
    );
  });

  it("is one of a boot proof, in so many words; unless its caller says otherwise", async () => {
    expect((await verifyBootProof(whole.bootProof, demanding)).report).toMatchObject({
      verdict: "verified",
      notApplied: ["appProofs.required"],
    });
    const { report } = await verifyBootProof(whole.bootProof, { ...demanding, bootProofsOnly: false });
    expect(idsOf(report, "fail")).toEqual(["policy.app-proof"]);
  });

  it("is none of activities, app proofs and bundles", async () => {
    const calls = [
      verifyActivity(whole.activity, [whole.bootProof], only),
      verifyAppProofs([], [whole.bootProof], only),
      verifyAppProof(whole.appProofs[0], whole.bootProof, only),
      verifyBundle({ evidence: { bootProofs: [whole.bootProof] }, judgement: null }, only as BundleVerifyOptions),
    ];
    for (const call of calls) {
      await expect(call).rejects.toThrow(TypeError);
      await expect(call).rejects.toThrow("bootProofsOnly");
    }
  });

  it("is told in words, beside the verdict and under what is not proven", async () => {
    const text = renderText((await verifyBootProof(whole.bootProof, demanding)).report, { color: false });
    const flat = text.replace(/\s+/g, " ");
    const part = "part of this verification";
    const but = `app proofs were not ${part}: the policy's rules for them (appProofs.required) were not applied.`;
    expect(flat).toMatch(/^VERIFIED with 2 warnings: /);
    expect(flat).toContain(`WARNING ${but}`);
    expect(flat).toContain(`The policy's rules for app proofs (appProofs.required): they were not ${part}.`);
    const other = renderText((await verifyBootProof(whole.bootProof, options)).report, { color: false });
    expect(other).not.toMatch(/WARNING app proofs|policy's rules/);
  });
});

it("a decision to allow is one of the activity's organization, not of one that it makes", async () => {
  const sub = "sub";
  const decided = (outcomes: [string, string][]): Promise<string[]> => {
    const evidence = forge({
      payloads: outcomes.map(([organization, outcome]) => policyOutcomePayload(after(60), organization, outcome)),
      activity: (json) => ({
        ...json,
        type: "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7",
        intent: { i: {} },
        result: { r: { subOrganizationId: sub } },
      }),
    });
    const demanding = optionsOf(evidence, { policy: { appProofs: { decision: true } } });
    return verifyActivity(evidence.activity, [evidence.bootProof], demanding).then(({ report }) =>
      idsOf(report, "fail"),
    );
  };
  const own = LAB_ADDRESS.organizationId;
  expect(
    await decided([
      [own, "OUTCOME_ALLOW"],
      [sub, "OUTCOME_ALLOW"],
    ]),
  ).toEqual([]);
  expect(await decided([[sub, "OUTCOME_ALLOW"]])).toEqual(["policy.app-proof"]);
  expect(
    await decided([
      [own, "OUTCOME_DENY_EXPLICIT"],
      [sub, "OUTCOME_ALLOW"],
    ]),
  ).toEqual(["activity.claims", "policy.app-proof"]);
});

describe("measurements that are given", () => {
  const measured = (measurements: unknown) =>
    verifyEvidence(evidence, { ...options, measurements } as unknown as VerifyOptions);
  const bytes = new Uint8Array(48);
  it.each([
    [null, /^options\.measurements: expected an object, got /],
    ["00", /^options\.measurements: expected an object, got /],
    [bytes, /^options\.measurements\.0: expected 48 bytes, as a Uint8Array; /],
    [{}, /^options\.measurements: empty/],
    [{ 32: bytes }, /^options\.measurements\.32: not a PCR: expected an index of 0 to 31$/],
    [{ "01": bytes }, /^options\.measurements\.01: not a PCR/],
    [{ "-1": bytes }, /^options\.measurements\.-1: not a PCR/],
    [{ pcr0: bytes }, /^options\.measurements\.pcr0: not a PCR/],
    [{ 0: bytes.subarray(1) }, /^options\.measurements\.0: expected 48 bytes, as a Uint8Array$/],
    [{ 0: "00".repeat(48) }, /^options\.measurements\.0: expected 48 bytes, as a Uint8Array$/],
    [{ 31: bytes, 0: undefined }, /^options\.measurements\.0: expected 48 bytes, as a Uint8Array$/],
  ])("are PCRs: %j", async (measurements, message) => {
    await expect(measured(measurements)).rejects.toThrow(message);
    await expect(measured(measurements)).rejects.toThrow(TypeError);
  });

  it("are named in the report, beside a policy and without one, each that differs with both values", async () => {
    const { pcr0, pcr1 } = lab.measurements;
    const { report } = await measured({ 0: pcr0, 1: pcr1 });
    expect(report.claims!.bootProofs[0]!.image).toMatchObject({ pinned: true, givenPcrs: [0, 1] });
    expect(provenStatements(report).join("\n")).toContain("It is the image that you gave (PCR0, PCR1).");
    const bare = optionsOf(whole, { noPolicy: true, measurements: { 0: pcr0 } });
    const authentic = (await verifyEvidence({ bootProofs: [whole.bootProof] }, bare)).report;
    expect(authentic.verdict).toBe("authentic");
    expect(authentic.claims!.bootProofs[0]!.image.pinned).toBe(false);
    expect(provenStatements(authentic).join("\n")).not.toContain("Nothing pins that image");
    expect(unprovenWords(authentic)[0]!.heading).toBe("its image, which you gave, but which no policy pins, says that");
    expect(unprovenStatements(authentic)[0]).toMatch(/^Whose enclave this is, which application it should run/);
    const other = (await measured({ 0: pcr0, 1: pcr0, 20: pcr0 })).report;
    expect(other.checks.find(({ id }) => id === "bind.image")).toMatchObject({
      status: "fail",
      detail: "the document does not attest the given values: PCR1, PCR20",
      expected: `PCR1 ${toHex(pcr0)}\nPCR20 ${toHex(pcr0)}`,
      actual: `PCR1 ${toHex(pcr1)}\nPCR20 ${"00".repeat(48)}`,
      advice: expect.stringMatching(/^PCR1: the enclave image differs from the given one; compare with/) as string,
    });
  });

  it("of a part of the image are not the image", async () => {
    const how: Judgement = { noPolicy: true, measurements: { 1: lab.measurements.pcr1 } };
    const { report } = await verifyEvidence({ bootProofs: [whole.bootProof] }, optionsOf(whole, how));
    expect(provenStatements(report).join("\n")).toContain("PCR1: equal to what you gave. Nothing pins that image.");
    expect(unprovenWords(report)[0]!.heading).toContain("which nothing pins");
  });

  it("of zeros are no image in debug mode", async () => {
    const zeros = { 0: bytes, 1: bytes, 2: bytes };
    const debug = forge(pcrs((map) => [0, 1, 2].forEach((index) => map.set(index, bytes))));
    const how: Judgement = { noPolicy: true, allowDebug: true, measurements: zeros };
    const { report } = await verifyAttestation(debug.document, optionsOf(debug, how));
    expect(report.verdict).toBe("authentic");
    expect(provenStatements(report).join("\n")).not.toContain("that you gave");
  });
});

describe("a report", () => {
  it("names tool, time, policy and each piece, so that it can be filed and found again", async () => {
    const policy = toUtf8(JSON.stringify(labPolicy(whole.anchorPem, [labDeployment(lab)])));
    const [boot, activity] = [toUtf8(JSON.stringify(whole.bootProof)), JSON.stringify(whole.activity)];
    const pieces = {
      bootProofs: [new NamedEvidence("boot.json", boot), whole.bootProof],
      activity: new NamedEvidence("activity.json", activity),
    };
    const { report } = await verifyEvidence(pieces, { now: NOW, policy: parsePolicy(policy) });
    expect(report).toMatchObject({
      tool: { name: "bootproof" },
      verifiedAt: NOW.toISOString(),
      policyDigest: sha256(policy),
      evidence: [
        { subject: "boot[0]", name: "boot.json", sha256: sha256(boot) },
        { subject: "boot[1]", name: null, sha256: null },
        { subject: "activity", name: "activity.json", sha256: sha256(toUtf8(activity)) },
      ],
    });
    expect(renderText(report, { color: false })).toContain("boot[0] = boot.json");
  });

  it("has the digest of the file, where the piece is one of many in it", async () => {
    const file = toUtf8(JSON.stringify([whole.bootProof]));
    const { report } = await verifyBootProof(new NamedEvidence("many.json", whole.bootProof, { bytes: file }), options);
    expect(report.evidence[0]).toEqual({ subject: "boot[0]", name: "many.json", sha256: sha256(file) });
  });
});

describe("an answer with refusals", () => {
  const expected = { organizationId: LAB_ADDRESS.organizationId };
  const requestOf = (report: Report) => report.checks.find(({ id }) => id === "activity.request");

  it("fails activity.request for each of them, where nothing is expected, too", async () => {
    for (const given of [options, { ...options, expected }]) {
      const { report, activity } = await verifyAnswer(evidence, given, ["it is another's", "it is late"]);
      expect(idsOf(report, "fail")).toEqual(["activity.request"]);
      expect(requestOf(report)!.detail).toBe("it is another's; it is late");
      expect([report.verdict, activity]).toEqual(["rejected", null]);
    }
  });

  it("fails activity.request for them before what the check itself finds", async () => {
    const another = { ...options, expected: { organizationId: "another" } };
    const { report } = await verifyAnswer(evidence, another, ["it is late"]);
    expect(requestOf(report)!.detail).toMatch(/^it is late; organizationId is /);
  });

  it("uses no app proof up", async () => {
    const given = { ...options, expected, uses: new AppProofUses() };
    await verifyAnswer({ ...evidence, activity: put("id", "another")(whole.activity) }, given, ["it is late"]);
    expect((await verifyAnswer(evidence, given, [])).report.verdict).toBe("verified");
  });

  it("is as verifyEvidence without one", async () => {
    const given = { ...options, expected };
    expect((await verifyAnswer(evidence, given, [])).report).toEqual((await verifyEvidence(evidence, given)).report);
    expect((await verifyAnswer({ bootProofs: [whole.bootProof] }, options, [])).report.verdict).toBe("verified");
  });

  it("fails app.request of the first app proof without an activity", async () => {
    const alone = { bootProofs: [whole.bootProof], appProofs: whole.appProofs };
    const { report } = await verifyAnswer(alone, { ...options, expected }, ["it is another's", "it is late"]);
    const failed = report.checks.filter(({ status }) => status === "fail");
    expect(failed.map(({ id, subject, detail }) => [id, subject, detail])).toEqual([
      ["app.request", "app[0]", "it is another's; it is late"],
    ]);
  });

  it("is a TypeError without an activity, and for an option of that name", async () => {
    const alone = { bootProofs: [whole.bootProof], appProofs: whole.appProofs };
    await expect(verifyAnswer(alone, options, ["it is late"])).rejects.toThrow(TypeError);
    await expect(verifyEvidence(evidence, { ...options, refusals: [] } as VerifyOptions)).rejects.toThrow(TypeError);
  });
});

it("a boot proof may be held against a key of its own, beside the one of all", async () => {
  const own = new NamedEvidence(null, whole.bootProof, { ephemeralKey: lab.ephemeralKey.publicKey });
  const other = new NamedEvidence(null, whole.bootProof, { ephemeralKey: generateQosKeyPair().publicKey });
  expect((await verifyBootProof(own, options)).report.verdict).toBe("verified");
  expect(idsOf((await verifyBootProof(other, options)).report, "fail")).toEqual(["bind.key"]);
  const both = { ...options, ephemeralKey: generateQosKeyPair().publicKey };
  expect(idsOf((await verifyBootProof(own, both)).report, "fail")).toEqual(["bind.key"]);
});

describe("an app proof, with a store of uses", () => {
  const asked = { organizationId: LAB_ADDRESS.organizationId };
  const judged = async (
    uses: AppProofUses,
    activity: JsonObject,
    expected: VerifyOptions["expected"] = asked,
  ): Promise<string> => {
    const { report } = await verifyActivity(activity, [whole.bootProof], { ...options, uses, expected: expected! });
    return report.verdict === "verified" ? "verified" : idsOf(report, "fail").join();
  };
  const other = put("id", "another")(whole.activity);

  it("stands for one activity only, however often that is asked for", async () => {
    const uses = new AppProofUses();
    expect(await judged(uses, whole.activity)).toBe("verified");
    expect(await judged(uses, whole.activity)).toBe("verified");
    expect(await judged(uses, other)).toBe("activity.claims");
  });

  it("stands for one request only, whatever id the service gives the answers", async () => {
    const uses = new AppProofUses();
    const parameters = (whole.activity["intent"] as JsonObject)["createWalletIntent"] as JsonObject;
    const sent = (seconds: number): NonNullable<VerifyOptions["expected"]> => ({
      ...asked,
      type: "ACTIVITY_TYPE_CREATE_WALLET",
      parameters,
      requestedAt: after(seconds),
    });
    expect(await judged(uses, whole.activity, sent(60))).toBe("verified");
    expect(await judged(uses, whole.activity, sent(60))).toBe("verified");
    expect(await judged(uses, whole.activity, sent(61))).toBe("activity.claims");
    expect(await judged(uses, whole.activity)).toBe("verified");
  });

  it("is the same proof in every encoding, and with every signature of its payload", async () => {
    const [proof] = whole.appProofs as [Record<string, string>];
    const raw = Buffer.from(proof["signature"]!, "hex");
    const second = qosSign(lab.ephemeralKey, toUtf8(proof["proofPayload"]!));
    const changes: JsonObject[] = [
      { signature: hex(withS("high", raw)) },
      { signature: hex(withS("low", raw)) },
      { signature: hex(inDer(raw)) },
      { publicKey: proof["publicKey"]!.slice(130), signature: hex(inDer(withS("high", raw))) },
      { signature: hex(second) },
      { signature: hex(inDer(second)) },
    ];
    const used = new AppProofUses();
    expect(await judged(used, whole.activity)).toBe("verified");
    for (const change of changes) {
      const again = put("appProofs", [{ ...proof, ...change }])(other);
      expect(await judged(used, again)).toBe("activity.claims");
      expect(await judged(new AppProofUses(), again)).toBe("verified");
    }
  });

  it("is counted by its key, too, and not without a time", async () => {
    const untimed = { type: "OWN", answer: 42 };
    const payloads = [JSON.parse(whole.appProofs[0]!["proofPayload"] as string) as JsonObject, untimed];
    const policy = { appProofs: { untimed: ["OWN"] } };
    const uses = new AppProofUses();
    const judgedWith = async (evidence: ReturnType<typeof forge>, activity: JsonObject): Promise<string> => {
      const given = { ...optionsOf(evidence, { policy }), uses, expected: asked };
      const { report } = await verifyActivity(activity, [evidence.bootProof], given);
      return report.verdict === "verified" ? "verified" : idsOf(report, "fail").join();
    };
    const one = forge({ payloads });
    expect(await judgedWith(one, one.activity)).toBe("verified");
    const replica = forge({ payloads, ephemeralKey: generateQosKeyPair() });
    expect(await judgedWith(replica, put("id", "another")(replica.activity))).toBe("verified");
    const later = forge({ payloads: [put("timestampMs", String(after(61).getTime()))(payloads[0]!), untimed] });
    expect(await judgedWith(later, put("id", "a third")(later.activity))).toBe("verified");
    expect(await judgedWith(one, put("id", "a fourth")(one.activity))).toBe("activity.claims");
  });

  it("is not used up by an activity that was rejected", async () => {
    const uses = new AppProofUses();
    expect(await judged(uses, other, { organizationId: "another" })).toContain("activity.request");
    expect(await judged(uses, whole.activity)).toBe("verified");
  });

  it("is used by one of many that run in step, since every signature of theirs is remembered", async () => {
    const cache = new SignatureCache();
    const judgedIn = async (uses: AppProofUses, activity: JsonObject): Promise<string> => {
      const { report } = await verifyEvidence(
        { bootProofs: [whole.bootProof], activity },
        { ...options, cache, uses, expected: asked },
      );
      return report.verdict;
    };
    await judgedIn(new AppProofUses(), whole.activity);
    const uses = new AppProofUses();
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) => judgedIn(uses, { ...whole.activity, id: `activity-${index}` })),
    );
    expect(outcomes.filter((verdict) => verdict === "verified")).toHaveLength(1);
  });

  const signed = (key: number, payload: number, timestampMs: number | null = 1): VerifiedAppProof =>
    ({
      bootProof: { ephemeralKey: Uint8Array.of(key) },
      payloadDigest: Uint8Array.of(payload),
      payload: { timestampMs },
    }) as VerifiedAppProof;

  it("is forgotten where too many came after it, and a store of none is a mistake", () => {
    for (const limit of [0, -1, 1.5, NaN, "1"])
      expect(() => new AppProofUses(limit as number)).toThrow(
        new TypeError("limit: expected a whole number of 1 or more"),
      );
    const [first, second, third] = [signed(1, 1), signed(1, 2), signed(2, 1)];
    const [one, two] = ["one", "two"].map((activityId) => ({ activityId, submitted: null }));
    const uses = new AppProofUses(2);
    uses.record([first, second], one!);
    expect([first, second, third].map((proof) => uses.areFree([proof], two!))).toEqual([false, false, true]);
    expect(uses.areFree([first, second], one!)).toBe(true);
    // Equal payloads without a time may be honest: neither counted nor compared.
    expect(uses.areFree([signed(1, 1, null)], two!)).toBe(true);
    uses.record([signed(3, 3, null), signed(3, 4, null)], one!);
    expect(uses.areFree([first], two!)).toBe(false);
    expect(uses.areFree([signed(3, 3)], two!)).toBe(true);
    uses.record([third], one!);
    expect([first, second, third].map((proof) => uses.areFree([proof], two!))).toEqual([true, false, false]);
    const ofOne = new AppProofUses(1);
    ofOne.record([first], one!);
    expect([first, second].map((proof) => ofOne.areFree([proof], two!))).toEqual([false, true]);
  });

  it("that was asked for by its id stays that activity's, and becomes the request's that it answers", () => {
    const proof = signed(1, 1);
    const uses = new AppProofUses();
    uses.record([proof], { activityId: "one", submitted: null });
    uses.record([proof], { activityId: "two", submitted: "sent" });
    uses.record([proof], { activityId: "three", submitted: "sent later" });
    expect(uses.areFree([proof], { activityId: "one", submitted: null })).toBe(true);
    expect(uses.areFree([proof], { activityId: "two", submitted: null })).toBe(false);
    expect(uses.areFree([proof], { activityId: "two", submitted: "sent" })).toBe(true);
    expect(uses.areFree([proof], { activityId: "one", submitted: "sent later" })).toBe(false);
  });

  it("of a sign-up, which names no activity, is that of the first that is read with it", () => {
    const proof = signed(1, 1);
    const uses = new AppProofUses();
    uses.record([proof], { activityId: "", submitted: "sign-up" });
    const isFree = (activityId: string): boolean => uses.areFree([proof], { activityId, submitted: null });
    expect(["one", "two"].map(isFree)).toEqual([true, true]);
    uses.record([proof], { activityId: "one", submitted: null });
    expect(["one", "two"].map(isFree)).toEqual([true, false]);
  });
});
