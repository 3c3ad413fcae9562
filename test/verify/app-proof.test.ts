/** App proofs: whose boot proof they are judged under, and what was asked of them. */
import { describe, expect, it } from "vitest";
import type { CheckId } from "../../src/checks.js";
import {
  type Expected,
  NO_POLICY_ANY_ENCLAVE,
  SignatureCache,
  parseTrustAnchor,
  verifyAppProof,
} from "../../src/index.js";
import { toUtf8 } from "../../src/bytes.js";
import type { JsonObject } from "../../src/decode/json.js";
import { customPayload, policyOutcomePayload } from "../../src/lab/enclave.js";
import { LAB_ADDRESS } from "../../src/lab/forge.js";
import { generateQosKeyPair, qosKeyPair, qosSign } from "../../src/lab/qos.js";
import { type Expectation, expectationOf } from "../../src/verify/expectation.js";
import { comparePayload } from "../../src/verify/contradictions.js";
import { inDer, withS } from "../support/high-s.js";
import {
  type Alterations,
  type Judgement,
  NOW,
  after,
  drop,
  forge,
  hex,
  judged,
  lab,
  put,
  withActivity,
} from "../attacks/support.js";

const { organizationId, address } = LAB_ADDRESS;
const at = after(60);

interface Answer {
  /** By subject. */
  readonly statuses: Readonly<Record<string, string>>;
  readonly details: string;
  readonly verified: readonly boolean[];
}

async function ask(id: CheckId, alterations: Alterations, judgement: Judgement): Promise<Answer> {
  const { report, verified } = await judged(forge(alterations), judgement);
  const checks = report.checks.filter((check) => check.id === id);
  return {
    statuses: Object.fromEntries(checks.map(({ subject, status }) => [subject, status])),
    details: checks.map(({ detail }) => detail).join("\n"),
    verified: [...verified].filter(([subject]) => subject.startsWith("app[")).map(([, value]) => value !== null),
  };
}

describe("app proofs without an activity", () => {
  it("of an application's own type name no organization: a warning", async () => {
    const answer = await ask("app.request", { payloads: [customPayload(at)] }, { expected: { organizationId } });
    expect(answer).toMatchObject({ statuses: { "app[0]": "warn" }, verified: [true] });
  });

  it("of which none speaks of an address are told so once", async () => {
    const outcome = policyOutcomePayload(at, organizationId);
    const expected = { organizationId, addresses: [address] };
    const answer = await ask("app.request", { payloads: [outcome, outcome] }, { expected });
    expect(answer).toMatchObject({ statuses: { "app[0]": "fail", "app[1]": "pass" }, verified: [false, true] });
  });

  it("are missing where none was given, and not where an activity without any was", async () => {
    const expected = { organizationId, addresses: [address] };
    const none = (await ask("app.request", { payloads: [] }, { expected })).statuses;
    expect(none).toEqual({ "app[0]": "fail" });
    await expect(ask("app.request", { payloads: [] }, { expected: { organizationId } })).rejects.toThrow(
      /^expected: needs app proofs or an activity/,
    );
    const activity = { activity: drop("appProofs") };
    expect((await ask("app.request", activity, { expected, given: withActivity })).statuses).toEqual({});
  });
});

describe("an app proof", () => {
  it("is judged under the good one of two boot proofs of its key, whichever comes first", async () => {
    for (const isFirst of [true, false]) {
      const answer = await ask(
        "app.key",
        {},
        {
          given: ({ bootProof, appProofs }) => {
            const bad = put("qosManifestB64", "AAAA")(bootProof);
            return { bootProofs: isFirst ? [bad, bootProof] : [bootProof, bad], appProofs };
          },
        },
      );
      expect(answer).toMatchObject({ statuses: { "app[0]": "pass" }, verified: [true] });
    }
  });
});

const ORDER: JsonObject = { type: "ORDER", timestampMs: String(at.getTime()), id: "42", nested: { list: [1, null] } };
const OTHER = put("id", "43")(ORDER);
const CHALLENGE = "q83vEjRWeJCrze8SNFZ4kA";
const expecting = (values: object, more: object = {}): Expected =>
  ({ payload: [{ type: "ORDER", values, ...more }] }) as Expected;

const payloadOf = (payload: unknown): NonNullable<Expectation["payload"]> =>
  expectationOf({ payload } as Expected).payload!;

describe("what is expected of payloads", () => {
  const item = (more: object): object => ({ type: "ORDER", values: { "/id": "42" }, ...more });
  const VALUES = ".values: expected an object, got ";
  const EMPTY = ".values: empty: expected at least one";
  const POINTER = ": expected a JSON pointer, such as /order/id, with ~0 for ~ and ~1 for /";
  const VALUE = ": expected a string, finite number, boolean or null (name members one by one), got ";
  const LIST = "expected.payload: expected an array, got ";
  const WEAK =
    ".challenge: its value is not random enough: expected a string of 22 or more base64url characters, " +
    "or of 32 or more hex digits";

  it.each<[unknown, string]>([
    [[], "expected.payload: empty: expected at least one"],
    [null, LIST],
    [{}, LIST],
    ["ORDER", LIST],
    [new Set([item({})]), LIST],
    [{ 0: item({}), length: 1 }, LIST],
  ])("is not a list: %j", (payload, message) => {
    expect(() => expectationOf({ payload } as Expected)).toThrow(TypeError);
    expect(() => expectationOf({ payload } as Expected)).toThrow(message);
  });

  it.each<[unknown, string]>([
    [item({ type: "" }), ".type: empty"],
    [item({ type: undefined }), ".type: expected a string, got nothing"],
    [item({ values: {} }), EMPTY],
    [item({ values: new Map([["/id", "42"]]) }), EMPTY],
    [item({ values: undefined }), VALUES],
    [item({ values: [["/id", "42"]] }), VALUES],
    [item({ values: { "/id": undefined } }), `.values./id${VALUE}`],
    [item({ values: { "/id": { a: 1 } } }), `.values./id${VALUE}`],
    [item({ values: { "/id": -Infinity } }), `.values./id${VALUE}`],
    [item({ values: { "/id": new Date(0) } }), `.values./id${VALUE}`],
    [item({ values: { "": "42" } }), `.values.${POINTER}`],
    [item({ values: { id: "42" } }), `.values.id${POINTER}`],
    [item({ values: { "/a~": "42" } }), `.values./a~${POINTER}`],
    [item({ values: { "/id": "42", "/~x": 1 } }), `.values./~x${POINTER}`],
    [item({ challenge: "/nonce" }), ".challenge: expected a pointer that values contains"],
    [item({ challenge: null }), ".challenge: expected a string, got null"],
    [item({ challenge: CHALLENGE }), ".challenge: expected a pointer that values contains"],
    [item({ challenge: "/id" }), WEAK],
    ...[
      "a".repeat(31),
      "0".repeat(31),
      "F".repeat(31),
      "z".repeat(21),
      "",
      `${"z".repeat(22)}=`,
      ` ${"z".repeat(22)}`,
      `${"z".repeat(21)}+`,
      `${"z".repeat(21)} `,
      `${"z".repeat(22)}\n`,
      1e22,
      true,
      null,
    ].map((value): [unknown, string] => [item({ values: { "/id": value }, challenge: "/id" }), WEAK]),
  ])("is refused: %j", (one, message) => {
    const payload = [item({}), one];
    expect(() => expectationOf({ payload } as Expected)).toThrow(TypeError);
    expect(() => expectationOf({ payload } as Expected)).toThrow(`expected.payload[1]${message}`);
  });

  it("is refused with a member that is not known, and with items that are no objects", () => {
    for (const one of [item({ value: "x" }), item({ pointer: "/id" }), null, "ORDER", ["ORDER"], undefined])
      expect(() => expectationOf({ payload: [one] } as Expected)).toThrow(TypeError);
    // A list with a hole.
    expect(() => expectationOf({ payload: new Array(1) })).toThrow(TypeError);
  });

  it.each(["z".repeat(22), "f".repeat(32), "F".repeat(64), CHALLENGE, "0".repeat(31) + "g", "-_".repeat(11)])(
    "takes the challenge %s",
    (value) => {
      const [one] = payloadOf([item({ values: { "/id": value }, challenge: "/id" })]);
      expect(one!.challenge).toEqual({ pointer: "/id", value });
      expect(Object.isFrozen(one!.challenge)).toBe(true);
    },
  );

  it("needs no organization, which without it is wanted", () => {
    expect(expectationOf(expecting({ "/id": "42" })).organizationId).toBeNull();
    expect(() => expectationOf({})).toThrow("expected.organizationId: expected a string, got nothing");
    for (const organizationId of ["", null, 7])
      expect(() => expectationOf({ ...expecting({ "/id": "42" }), organizationId } as Expected)).toThrow(
        "expected.organizationId: ",
      );
  });
});

describe("comparePayload", () => {
  const compare = (expected: object[], json: JsonObject = ORDER): ReturnType<typeof comparePayload> =>
    comparePayload(payloadOf(expected), json["type"] as string, json);
  const one = (values: object, type = "ORDER"): object => ({ type, values });

  it("tells what differs from the nearest one", () => {
    const [far, near] = [one({ "/id": "43", "/x": 1 }), one({ "/id": "42", "/nested/list/0": "1" })];
    expect(compare([far]).contradictions).toEqual([
      'the payload differs from expected.payload[0], of type ORDER: /id is "42", expected "43", ' +
        "/x is missing, expected 1",
    ]);
    expect(compare([far, near]).contradictions).toEqual([
      "the payload differs from expected.payload[1], of type ORDER, the nearest of the 2: " +
        '/nested/list/0 is 1, expected "1"',
    ]);
  });

  it("cuts long pointers and values", () => {
    const long = "x".repeat(5000);
    const [text] = compare([one({ [`/${long}`]: long, "/id": long })], put("id", long)(ORDER)).contradictions;
    expect(text!.length).toBeLessThan(700);
  });
});

describe("app.request, of an expected payload", () => {
  const derivation = put(
    "timestampMs",
    String(at.getTime()),
  )(JSON.parse(forge().appProofs[0]!["proofPayload"] as string) as JsonObject);
  const ID = { "/id": "42" };
  const own = { organizationId };
  const unmet = (index = 0): string => `no app proof meets expected.payload[${index}], of type "ORDER"`;

  it("beside an activity without app proofs fails; without an expected payload there is no check", async () => {
    const without = { activity: drop("appProofs") };
    const judgement = { given: withActivity, expected: { ...own, ...expecting(ID) } };
    const answer = await ask("app.request", without, judgement);
    expect(answer.statuses).toEqual({ "app[0]": "fail" });
    expect(answer.details).toBe("payloads are expected, and there is no app proof");
    const addresses = { ...judgement.expected, addresses: [address] };
    expect((await ask("app.request", without, { ...judgement, expected: addresses })).details).toBe(answer.details);
    expect((await ask("app.request", without, { ...judgement, expected: own })).statuses).toEqual({});
    const both = await ask("app.request", { payloads: [] }, { expected: { ...expecting(ID), addresses: ["0x01"] } });
    expect(both.details).toBe("addresses and payloads are expected, and there is no app proof");
  });

  it("that is missing is told once, and not where a proof of its type says how it differs", async () => {
    const missing = await ask("app.request", { payloads: [derivation, derivation] }, { expected: expecting(ID) });
    expect(missing.statuses).toEqual({ "app[0]": "fail", "app[1]": "skip" });
    expect(missing.details).toContain(unmet().replaceAll('"', ""));
    const differs = await ask("app.request", { payloads: [OTHER] }, { expected: expecting(ID) });
    expect(differs.details).toBe(
      'the payload differs from expected.payload[0], of type ORDER: /id is "43", expected "42"',
    );
    const two = {
      payload: [
        { type: "ORDER", values: ID },
        { type: "ORDER", values: { "/id": "43" } },
      ],
    };
    const second = await ask("app.request", { payloads: [ORDER] }, { expected: two });
    expect(second.details).toBe(unmet(1).replaceAll('"', ""));
  });

  it("is returned by its index, with the challenge that it has", async () => {
    const challenged = put("challenge", CHALLENGE)(ORDER);
    const payload = [
      { type: "OTHER_TYPE", values: { "/id": "7" } },
      { type: "ORDER", values: { "/id": "43" } },
      { type: "ORDER", values: ID },
      { type: "ORDER", values: { "/challenge": CHALLENGE }, challenge: "/challenge" },
    ];
    const payloads = [challenged, OTHER, customPayload(at), { ...ORDER, type: "OTHER_TYPE", id: "7" }];
    const { report, verified } = await judged(forge({ payloads }), { expected: { payload } });
    const answers = { pointer: "/challenge", value: CHALLENGE };
    const wanted = [
      { expectation: 3, answers },
      { expectation: 1, answers: null },
      { expectation: null, answers: null },
      { expectation: 0, answers: null },
    ];
    expect(report.claims!.appProofs).toMatchObject(wanted);
    expect([0, 1, 2, 3].map((index) => verified.get(`app[${index}]`))).toMatchObject(wanted);
    const details = report.checks.filter(({ id }) => id === "app.request").map(({ detail }) => detail);
    expect(details[0]).toBe("meets expected.payload[2], expected.payload[3], of type ORDER, including the challenge");
    expect(details[1]).toBe("meets expected.payload[1], of type ORDER");
  });
});

describe("an app proof in another encoding", () => {
  const { bootProof, appProofs, anchorPem } = forge();
  const proof = appProofs[0] as Record<"publicKey" | "proofPayload" | "signature", string>;
  const raw = Buffer.from(proof.signature, "hex");
  const half = proof.publicKey.slice(130);
  const cache = new SignatureCache();
  const isVerified = async (changes: object): Promise<boolean> => {
    const options = {
      policy: NO_POLICY_ANY_ENCLAVE,
      trustAnchors: [parseTrustAnchor("lab", anchorPem)],
      now: NOW,
      cache,
    } as const;
    const { appProof: verified, report } = await verifyAppProof({ ...proof, ...changes }, bootProof, options);
    expect(verified !== null).toBe(report.verdict === "authentic");
    return verified !== null;
  };
  const good: [string, object][] = [
    ["as it is", {}],
    ["its signature in DER", { signature: hex(inDer(raw)) }],
    ["its signing half", { publicKey: half }],
    ["both", { publicKey: half, signature: hex(inDer(raw)) }],
    ["a high S", { signature: hex(withS("high", raw)) }],
    ["a high S in DER", { publicKey: half, signature: hex(inDer(withS("high", raw))) }],
  ];

  it.each(good)("is verified: %s", async (_, changes) => {
    expect(await isVerified(changes)).toBe(true);
    // The second time from the cache.
    expect(await isVerified(changes)).toBe(true);
  });

  it("is refused beside a cached good one if its signature is damaged", async () => {
    for (const [, changes] of good) await isVerified(changes);
    for (let at = 0; at < 64; at += 7) {
      const damaged = Uint8Array.from(raw);
      damaged[at]! ^= 1;
      for (const publicKey of [half, proof.publicKey])
        for (const signature of [damaged, inDer(damaged), inDer(withS("high", damaged))].map(hex))
          expect(await isVerified({ publicKey, signature })).toBe(false);
    }
    expect(await isVerified({ signature: hex(inDer(qosSign(lab.ephemeralKey, toUtf8("{}")))) })).toBe(false);
    expect(await isVerified({ publicKey: half, proofPayload: `${proof.proofPayload} ` })).toBe(false);
    expect(await isVerified({ publicKey: proof.publicKey.slice(0, 130), signature: hex(inDer(raw)) })).toBe(false);
  });

  it("of a signing half that two keys have is refused, and of either whole key is not", async () => {
    const { encryption } = generateQosKeyPair();
    const twin = forge({ ephemeralKey: qosKeyPair(encryption, lab.ephemeralKey.signing), payloads: [] }).bootProof;
    const askOf = async (publicKey: string, bootProofs: readonly unknown[]) => {
      const given = { bootProofs, appProofs: [{ ...proof, publicKey }] };
      const { report, verified } = await judged(forge(), { noPolicy: true, given: () => given });
      const { status, detail } = report.checks.find(({ id }) => id === "app.key")!;
      return { verdict: report.verdict, status, detail, isVerified: verified.get("app[0]") !== null };
    };
    const whole = (bootProof: unknown): string =>
      (bootProof as { ephemeralPublicKeyHex: string }).ephemeralPublicKeyHex;
    const good = { verdict: "authentic", status: "pass", isVerified: true };
    expect(await askOf(half, [twin])).toMatchObject(good);
    expect(await askOf(half, [bootProof, bootProof])).toMatchObject(good);
    for (const bootProofs of [
      [bootProof, twin],
      [twin, bootProof],
      [bootProof, bootProof, twin],
    ]) {
      for (const one of bootProofs) expect(await askOf(whole(one), bootProofs)).toMatchObject(good);
      expect(await askOf(half, bootProofs)).toMatchObject({
        verdict: "rejected",
        status: "fail",
        detail: expect.stringContaining("boot proofs of different keys attest this signing half") as string,
        isVerified: false,
      });
    }
  });

  it("has one form in the library: r and s, and the key that was attested", async () => {
    const forms = await Promise.all(
      good.slice(0, 4).map(async ([, changes]) => {
        const given = { bootProofs: [bootProof], appProofs: [{ ...proof, ...changes }] };
        const { report, verified } = await judged(forge(), { given: () => given });
        const claims = report.claims!;
        expect(claims.bootProofs[0]!.hardware.publicKey).toBe(proof.publicKey);
        return verified.get("app[0]") as { signature: Uint8Array };
      }),
    );
    for (const { signature } of forms) expect(hex(signature)).toBe(proof.signature);
  });
});
