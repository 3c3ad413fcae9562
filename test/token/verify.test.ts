/** Verification of tokens and signed bundles: genuine ones first, then what must be refused. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ANY_ORGANIZATION,
  ANY_USER,
  type TokenReport,
  renderToken,
  verifyOtpToken,
  verifySessionToken,
  verifySignedBundle,
} from "../../src/token/index.js";
import type { Policy } from "../../src/index.js";
import { type SignedPolicy, openSignedPolicy } from "../../src/signed-policy/index.js";
import type { TokenKind } from "../../src/token/decode.js";
import { qosSign } from "../../src/lab/qos.js";
import { toHex } from "../../src/bytes.js";
import { DAY, TestFeed, newSigner } from "../support/signed-policies.js";
import { ATTACKS } from "./cases.table.js";
import {
  BEARER,
  BEARER_COMPRESSED,
  EXPORT_DATA,
  FETCHER,
  GENUINE,
  NOTARIZER,
  NOW,
  ORG,
  OTHER,
  OTP_CLAIMS,
  OTP_TARGET_DATA,
  POLICY,
  SESSION_CLAIMS,
  SIGNER,
  USER,
  genuineKey,
  otherS,
  otpToken,
  pinning,
  policyOf,
  sessionToken,
  signedBundle,
} from "./support.js";

type AnyReport = TokenReport<object>;
const failed = ({ checks }: AnyReport): string[] =>
  checks.filter(({ status }) => status === "fail").map(({ id }) => id);
const statuses = ({ checks }: AnyReport): Record<string, string> =>
  Object.fromEntries(checks.map(({ id, status }) => [id, status]));

function judged(
  kind: TokenKind,
  token: unknown,
  options: { policy?: Policy; expected?: object; now?: Date } = {},
): Promise<AnyReport> {
  const isBundle = kind !== "session" && kind !== "otp";
  const user = isBundle ? { userId: kind === "import" ? USER : ANY_USER } : {};
  const expected = options.expected ?? { organizationId: kind === "otp-target" ? ANY_ORGANIZATION : ORG, ...user };
  const all = { policy: options.policy ?? POLICY, now: options.now ?? NOW, expected: expected as never };
  if (kind === "session") return verifySessionToken(token as string, all);
  if (kind === "otp") return verifyOtpToken(token as string, all);
  return verifySignedBundle(token as string, { ...all, kind });
}

describe("the genuine tokens", () => {
  const policy = policyOf(
    pinning(GENUINE.session.signedBy, genuineKey(GENUINE.session)),
    pinning(GENUINE.otp.signedBy, genuineKey(GENUINE.otp)),
  );
  const session = (now: Date): Promise<AnyReport> =>
    verifySessionToken(GENUINE.session.token, { policy, now, expected: { organizationId: ANY_ORGANIZATION } });
  const otp = (now: Date): Promise<AnyReport> =>
    verifyOtpToken(GENUINE.otp.token, { policy, now, expected: { organizationId: ANY_ORGANIZATION } });

  it("verify until they expire", async () => {
    const report = await session(new Date("2025-06-02T15:00:00Z"));
    expect([report.verdict, report.deployment, report.claims]).toEqual([
      "verified",
      "prod/notarizer",
      {
        organizationId: "c75ecb07-c84a-4dd5-932c-539dfafc6864",
        userId: USER,
        sessionType: "SESSION_TYPE_READ_WRITE",
        publicKey: "0399fe2ace6208af0adf848f44bc48210b594b7e69ecd91ec968fd75b3bb448336",
        expiresAt: "2025-06-02T15:07:17.000Z",
      },
    ]);
    const second = await otp(new Date("2026-07-01T15:00:00Z"));
    expect([second.verdict, second.deployment, second.claims]).toMatchObject([
      "verified",
      "prod/tls-fetcher",
      { verificationType: "OTP_TYPE_EMAIL", expiresAt: "2026-07-01T15:27:31.261Z" },
    ]);
  });

  it("are expired to the millisecond", async () => {
    for (const [verify, exp] of [
      [session, 1748876837000],
      [otp, 1782919651261],
    ] as const) {
      expect((await verify(new Date(exp - 1))).verdict).toBe("verified");
      expect(failed(await verify(new Date(exp)))).toEqual(["token.expiry"]);
    }
  });
});

describe("each kind", () => {
  const cases: readonly [TokenKind, string, object][] = [
    ["session", sessionToken(), { userId: USER, organizationId: ORG, publicKey: BEARER_COMPRESSED }],
    ["otp", otpToken(), { contact: "user@example.com", organizationId: ORG, id: OTP_CLAIMS.id }],
    ["import", signedBundle(), { organizationId: ORG, userId: USER, targetPublic: BEARER }],
    ["export", signedBundle({ data: EXPORT_DATA }), { organizationId: ORG, ciphertext: "c0ffee" }],
    ["otp-target", signedBundle({ data: OTP_TARGET_DATA, key: FETCHER }), { targetPublic: BEARER }],
  ];
  it.each(cases)("%s", async (kind, token, claims) => {
    const report = await judged(kind, token);
    expect([report.verdict, failed(report), report.claims]).toMatchObject(["verified", [], claims]);
    expect(report).toMatchObject({
      format: "bootproof-token/1",
      kind,
      policy: "tokens",
      verifiedAt: NOW.toISOString(),
    });
    expect(report.policyDigest).toMatch(/^[0-9a-f]{64}$/);
    const isBundle = kind !== "session" && kind !== "otp";
    expect(statuses(report)["token.expiry"]).toBe(isBundle ? "skip" : "pass");
    expect(report.unproven.join()).toContain("That an enclave signed it is not proven");
    expect(report.unproven.join()).toContain(isBundle ? "a bundle has no time" : "revocation is not visible");
    const text = renderToken(report, { width: 100 });
    for (const word of ["VERIFIED", report.deployment!, "Not proven", "token.signature"]) expect(text).toContain(word);
  });

  it("accepts a high s, other claims, an organization beside an OTP target, and keys in either form", async () => {
    const high = sessionToken({ sign: (message) => otherS(qosSign(NOTARIZER, message)) });
    expect((await judged("session", high)).verdict).toBe("verified");
    const more = await judged(
      "session",
      sessionToken({ claims: { ...SESSION_CLAIMS, scope: "a", session_profile_id: "p" } }),
    );
    expect([more.verdict, more.notInterpreted]).toEqual(["verified", ["scope", "session_profile_id"]]);
    const target = signedBundle({ data: { ...OTP_TARGET_DATA, organizationId: ORG }, key: FETCHER });
    const expected = { organizationId: ORG, userId: ANY_USER };
    expect((await judged("otp-target", target, { expected })).verdict).toBe("verified");
    for (const publicKey of [BEARER, BEARER_COMPRESSED, BEARER.toUpperCase()])
      expect((await judged("session", sessionToken(), { expected: { organizationId: ORG, publicKey } })).verdict).toBe(
        "verified",
      );
    expect((await judged("import", signedBundle({ members: { version: undefined } }))).verdict).toBe("verified");
  });

  it("says nothing was expected where every organization counts", async () => {
    const report = await judged("session", sessionToken(), { expected: { organizationId: ANY_ORGANIZATION } });
    expect([report.verdict, statuses(report)["token.expected"]]).toEqual(["verified", "skip"]);
    expect(report.unproven.join()).toContain("That its organization is yours is not proven");
  });
});

describe("the keys of a policy", () => {
  it("any of them counts, and the report names the deployment", async () => {
    const keys = [toHex(SIGNER.publicKey), toHex(NOTARIZER.publicKey)];
    const policy = policyOf(
      pinning("prod/notarizer", OTHER, { name: "old" }),
      pinning("prod/notarizer", keys, { name: "new" }),
    );
    const report = await judged("session", sessionToken(), { policy });
    expect([report.verdict, report.deployment]).toEqual(["verified", "new"]);
  });

  it.each<[string, object, RegExp]>([
    ["legacy", { commitment: "legacy", open: ["application"] }, /is legacy/],
    ["a setup", { commitment: "setup" }, /does not hold the quorum key yet/],
    ["an open operator", { open: ["operator"] }, /leaves the operator open/],
  ])("of %s is a warning", async (_, more, words) => {
    const weak = pinning("prod/notarizer", NOTARIZER, { name: "weak", ...more });
    const report = await judged("session", sessionToken(), { policy: policyOf(weak) });
    const { status, detail } = report.checks.find(({ id }) => id === "token.key")!;
    expect([report.verdict, status, detail]).toEqual(["verified", "warn", expect.stringMatching(words)]);
    expect(renderToken(report)).toContain("WARNING");
    // A second deployment that pins the same key well is enough.
    const both = policyOf(weak, pinning("prod/notarizer", NOTARIZER, { name: "strong" }));
    const better = await judged("session", sessionToken(), { policy: both });
    expect([better.deployment, statuses(better)["token.key"]]).toEqual(["strong", "pass"]);
  });

  it("may be of the caller's namespace", async () => {
    const policy = policyOf(pinning("staging/notarizer", NOTARIZER));
    const options = { policy, now: NOW, expected: { organizationId: ORG } };
    expect((await verifySessionToken(sessionToken(), options)).verdict).toBe("rejected");
    const own = await verifySessionToken(sessionToken(), { ...options, namespace: "staging/notarizer" });
    expect([own.verdict, own.namespace]).toEqual(["verified", "staging/notarizer"]);
  });

  it("says what the policy lacks", async () => {
    const report = await judged("session", sessionToken(), {
      policy: policyOf(pinning(["a", "b"], SIGNER, { name: "both" })),
    });
    const { detail, advice } = report.checks.find(({ id }) => id === "token.key")!;
    expect(detail).toBe(
      "no deployment of the policy pins the namespace prod/notarizer alone, and its quorumKey; " +
        "both pins several namespaces, so its key is of none; its namespaces: a, b",
    );
    expect(advice).toContain("Add the application that signs it to the policy");
  });
});

describe("a signed policy", () => {
  it("counts while it is in force", async () => {
    const feed = new TestFeed([newSigner(), newSigner()], 2);
    const policy = { policy: "bootproof/1", deployments: [pinning("prod/notarizer", NOTARIZER)] };
    feed.add({ policy, issuedAt: new Date(NOW.getTime() - DAY) });
    const source = async (): Promise<string> => feed.text();
    const open = (): Promise<SignedPolicy> => openSignedPolicy({ signers: feed.pinned, source, now: () => NOW });
    const signed = await open();
    const at = (now: Date): Promise<AnyReport> =>
      verifySessionToken(sessionToken({ claims: { ...SESSION_CLAIMS, exp: 9_999_999_999 } }), {
        policy: signed,
        now,
        expected: { organizationId: ORG },
      });
    const current = await at(NOW);
    expect([current.verdict, statuses(current)["policy.current"], current.signedPolicy?.version]).toEqual([
      "verified",
      "pass",
      1,
    ]);
    expect(failed(await at(new Date(NOW.getTime() + 14 * DAY)))).toEqual(["policy.current"]);
  });
});

describe("a token that must be refused", () => {
  it("has at least 60 rows", () => {
    expect(ATTACKS.length).toBeGreaterThanOrEqual(60);
    expect(new Set(ATTACKS.map(({ name }) => name)).size).toBe(ATTACKS.length);
  });

  it.each(ATTACKS.map((attack) => [attack.name, attack] as const))(
    "%s",
    async (_, { kind, token, fails, ...options }) => {
      const report = await judged(kind, token, options);
      expect([report.verdict, failed(report), report.claims, report.deployment]).toEqual([
        "rejected",
        fails,
        null,
        null,
      ]);
      const skipped = report.checks.filter(({ status }) => status === "skip");
      for (const { detail } of skipped) expect(detail).toMatch(/^\w.{10,}/);
      expect(renderToken(report)).toContain("REJECTED");
    },
  );

  it("has the form of another kind, which the message names", async () => {
    const report = await judged("session", otpToken());
    expect(report.checks[0]!.detail).toContain("OTP verification token (otp)");
  });

  it("with any bit changed", async () => {
    const tokens: readonly [TokenKind, string][] = [
      ["session", sessionToken()],
      ["otp", otpToken()],
      ["import", signedBundle()],
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...tokens),
        fc.nat(),
        fc.integer({ min: 0, max: 6 }),
        async ([kind, token], place, bit) => {
          const at = place % token.length;
          const other = String.fromCharCode(token.charCodeAt(at) ^ (1 << bit));
          const changed = token.slice(0, at) + other + token.slice(at + 1);
          // Upper-case hex has the same bytes.
          if (changed.toLowerCase() === token.toLowerCase() && kind === "import") return;
          expect((await judged(kind, changed)).verdict).toBe("rejected");
        },
      ),
      { numRuns: 500 },
    );
  });
});

it("a tolerance accepts a token for so long after it expired", async () => {
  const exp = NOW.getTime() / 1000 - 30;
  const token = sessionToken({ claims: { ...SESSION_CLAIMS, exp } });
  const options = { policy: POLICY, now: NOW, expected: { organizationId: ORG } };
  expect((await verifySessionToken(token, { ...options, toleranceMs: 30_001 })).verdict).toBe("verified");
  expect((await verifySessionToken(token, { ...options, toleranceMs: 30_000 })).verdict).toBe("rejected");
});

it.each<[string, object, string]>([
  ["no organization", { expected: {} }, "options.expected.organizationId"],
  ["an empty organization", { expected: { organizationId: "" } }, "options.expected.organizationId"],
  ["an unknown expectation", { expected: { organizationId: ORG, user: USER } }, "options.expected.user"],
  ["no time", { now: undefined }, "options.now"],
  ["a policy of JSON", { policy: {} }, "options.policy"],
  ["a negative tolerance", { toleranceMs: -1 }, "options.toleranceMs"],
  ["an unknown option", { tolerance: 1 }, "options.tolerance"],
])("throws TypeError for %s", async (_, more, words) => {
  const options = { policy: POLICY, now: NOW, expected: { organizationId: ORG }, ...more };
  await expect(verifySessionToken(sessionToken(), options as never)).rejects.toThrow(words);
  await expect(verifySessionToken(sessionToken(), options as never)).rejects.toThrow(TypeError);
});

it("throws TypeError for a bundle of no kind", async () => {
  const options = { policy: POLICY, now: NOW, expected: { organizationId: ORG, userId: USER }, kind: "session" };
  await expect(verifySignedBundle(signedBundle(), options as never)).rejects.toThrow(
    "expected one of import, export, otp-target",
  );
});
