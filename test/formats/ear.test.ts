/** The EAR of a report: its shape, its tiers, its signature; read by other readers than what writes it. */
import { type KeyObject, createHash, createPublicKey, generateKeyPairSync, verify as verifyBytes } from "node:crypto";
import { Ajv2020 } from "ajv/dist/2020.js";
import { UnsecuredJWT, decodeProtectedHeader, importJWK, jwtVerify } from "jose";
import { describe, expect, it } from "vitest";
import type { BundleFacts } from "../../src/bundle/text.js";
import { renderEar } from "../../src/formats/index.js";
import { NO_POLICY_ANY_ENCLAVE, parsePolicy, verifyAttestation } from "../../src/index.js";
import type { Report } from "../../src/report/report.js";
import { caveats } from "../../src/report/unproven.js";
import { ACCEPTED } from "../attacks/accepted.table.js";
import { APP_PROOF_ATTACKS } from "../attacks/app-proof.table.js";
import { BOOT_PROOF_ATTACKS } from "../attacks/boot-proof.table.js";
import { CHAIN_ATTACKS } from "../attacks/chain.table.js";
import { DOCUMENT_ATTACKS } from "../attacks/document.table.js";
import { POLICY_ATTACKS } from "../attacks/policy.table.js";
import { PROVENANCE_ATTACKS } from "../attacks/provenance.table.js";
import { type Accepted, NOW, forge, judge, reportOf, withActivity } from "../attacks/support.js";
import { BOOT, IMAGE, report as byHand } from "../report/reports.js";
import { EAR_SCHEMA } from "../support/ear-schema.js";
import type { Loose } from "../support/loose.js";
import { readVector } from "../support/vectors.js";
import { someOf } from "./told.js";

interface Ear {
  readonly iat: number;
  readonly ear_status: string;
  readonly ear_verifier_id: unknown;
  readonly submods: Readonly<Record<string, Loose[string]>>;
  readonly "pkg:npm/bootproof#report": Loose[string];
}

const fits = new Ajv2020({ allErrors: true, strictTuples: false }).compile(EAR_SCHEMA);

async function earOf(report: Report, bundle: BundleFacts | null = null): Promise<Ear> {
  const token = await renderEar(report, { bundle });
  expect(token).toMatch(/^[\w-]+\.[\w-]+\.\n$/);
  const { payload, header } = UnsecuredJWT.decode(token.trimEnd());
  expect(header).toEqual({ alg: "none" });
  expect(fits(payload) ? [] : fits.errors).toEqual([]);
  return payload as unknown as Ear;
}

const vectorOf = ({ submods }: Ear, label = "boot[0]"): Readonly<Record<string, number>> =>
  submods[label]!.ear_trustworthiness_vector;
const isAffirming = (value: number): boolean => value >= -32 && value <= 31 && (value > 1 || value < -1);
const NONE = {
  "instance-identity": 0,
  configuration: 0,
  executables: 0,
  "file-system": 0,
  hardware: 0,
  "runtime-opaque": 0,
  "storage-opaque": 0,
  "sourced-data": 0,
};

const rowOf = (name: string): Accepted => ACCEPTED.find((row) => row.name === name)!;

/** As if the lab's root were AWS's: else everything of the lab has a warning. */
const asAws = (report: Report): Report => ({
  ...report,
  checks: report.checks.map((check) => (check.id === "chain.anchor" ? { ...check, status: "pass" } : check)),
});

describe("tiers", () => {
  it("affirm what a policy of the caller's pinned and the hardware attests", async () => {
    const report = asAws(await judge(forge()));
    const ear = await earOf(report);
    expect(ear.ear_status).toBe("affirming");
    expect(vectorOf(ear)).toEqual({
      ...NONE,
      "instance-identity": 2,
      configuration: 2,
      executables: 3,
      hardware: 2,
    });
    expect(ear.submods["boot[0]"]!.ear_appraisal_policy_ids).toEqual([
      `ni:///sha-256;${Buffer.from(report.policyDigest!, "hex").toString("base64url")}`,
    ]);
    expect(ear.submods["boot[0]"]!.ear_verifier_claims["deployment"]).toBe(report.claims!.bootProofs[0]!.deployment);
  });

  it("do not affirm where rules of the policy were not applied, with a reason in words", async () => {
    const report = asAws(await judge(forge(), { policy: { appProofs: { coverage: true } } }));
    const ear = await earOf(report);
    expect([ear.ear_status, vectorOf(ear).executables]).toEqual(["warning", 3]);
    // Whatever the words beside the verdict are.
    expect((await earOf({ ...asAws(await judge(forge())), notApplied: [""] })).ear_status).toBe("warning");
  });

  it("affirm a bare document of AWS whose PCRs are pinned, and nothing of a manifest", async () => {
    const document = readVector("nitro/tk-rustsdk-lib-rs-20250916.cbor");
    const now = new Date("2025-09-17T00:00:00Z");
    const { report: first } = await verifyAttestation(document, { policy: NO_POLICY_ANY_ENCLAVE, now });
    const all = first.claims!.bootProofs[0]!.hardware.pcrs;
    const pinned = (indexes: readonly number[]): Promise<{ report: Report }> => {
      const pins = Object.fromEntries(indexes.map((index) => [index, all[index]]));
      const policy = { policy: "bootproof/1", deployments: [{ name: "bare", kind: "nitro", pcrs: pins }] };
      return verifyAttestation(document, { policy: parsePolicy(JSON.stringify(policy)), now });
    };
    const whole = await earOf((await pinned([0, 1, 2, 3])).report);
    expect(whole.ear_status).toBe("affirming");
    expect(vectorOf(whole)).toEqual({ ...NONE, "instance-identity": 2, executables: 3, hardware: 2 });
    const nobodys = await earOf((await pinned([0, 1, 2])).report);
    expect(nobodys.ear_status).toBe("warning");
    expect(vectorOf(nobodys)["instance-identity"]).toBe(-33);
  });

  it("take a release for unrecognised where only who signed the image is pinned", async () => {
    const bare = { ...BOOT, image: { ...IMAGE, manifest: null, commitment: null, pinnedPcrs: [8] } };
    const good = asAws(await judge(forge()));
    const ear = await earOf({ ...good, claims: { ...good.claims!, bootProofs: [bare] } });
    expect(vectorOf(ear)["executables"]).toBe(33);
    expect(ear.ear_status).toBe("warning");
  });

  it("affirm no hardware under another root than AWS's, which the caller's policy names", async () => {
    const ear = await earOf(await judge(forge()));
    expect(ear.ear_status).toBe("affirming");
    expect(vectorOf(ear)).toMatchObject({ hardware: 0, executables: 3 });
    expect(ear["pkg:npm/bootproof#report"].warnings.join()).toContain("nothing shows that this is AWS hardware");
  });

  it("affirm no code, no configuration and nobody where no policy was given", async () => {
    const ear = await earOf(asAws(await judge(forge(), { noPolicy: true })));
    expect(ear.ear_status).toBe("warning");
    expect(vectorOf(ear)).toEqual({ ...NONE, hardware: 2, executables: 33 });
    expect(ear.submods["boot[0]"]).not.toHaveProperty("ear_appraisal_policy_ids");
  });

  it("affirm no more where the policy came with the bundle: whoever made that chose what passes", async () => {
    const report = asAws(await judge(forge()));
    const ear = await earOf(report, { policyFrom: "bundle", packed: null });
    expect(ear.ear_status).toBe("warning");
    expect(vectorOf(ear)).toEqual({ ...NONE, hardware: 2, executables: 33 });
    expect(ear["pkg:npm/bootproof#report"]).toMatchObject({ verdict: "verified", policyFrom: "bundle" });
    const callers = await earOf(report, { policyFrom: "caller", packed: null });
    expect(callers.ear_status).toBe("affirming");
  });

  it("warn where the report inside a bundle is not what its evidence yields", async () => {
    const packed = {
      now: "2026-03-04T05:06:07.000Z",
      verdict: "verified",
      differences: [{ place: "verdict", packed: "verified", anew: "authentic" }],
    } as const;
    const ear = await earOf(asAws(await judge(forge())), { policyFrom: "caller", packed });
    expect(ear.ear_status).toBe("warning");
    expect(JSON.stringify(ear["pkg:npm/bootproof#report"]["notes"])).toContain("verified in the report");
  });

  it("lower what a declared question is about alone, where that is the only reason", async () => {
    const good = asAws(await judge(forge()));
    const [boot] = good.claims!.bootProofs as [(typeof good.claims & object)["bootProofs"][number]];
    const warned = good.checks.map((check) =>
      check.id === "policy.scope" ? { ...check, status: "warn" as const } : check,
    );
    const of = (scope: readonly string[], questions: readonly ("operator" | "application")[]): Promise<Ear> =>
      earOf({
        ...good,
        checks: warned,
        claims: { ...good.claims!, bootProofs: [{ ...boot, scope, open: questions }] },
      });
    const operator = vectorOf(await of(["leaves the operator open"], ["operator"]));
    expect(operator).toMatchObject({ "instance-identity": -33, executables: 3, configuration: 2 });
    const application = vectorOf(await of(["leaves the application open"], ["application"]));
    expect(application).toMatchObject({ "instance-identity": 2, executables: 33, configuration: 36 });
    const other = vectorOf(await of(["legacy: any application"], []));
    expect(other).toMatchObject({ "instance-identity": -33, executables: 33, configuration: 36 });
  });

  it("warn of debug mode that was allowed, and contraindicate it where it was not", async () => {
    const debug = forge(rowOf("a debug enclave that the caller allows, without a policy").forge);
    const allowed = asAws(await judge(debug, { allowDebug: true, noPolicy: true }));
    expect(allowed.verdict).toBe("authentic");
    const ear = await earOf(allowed);
    expect(ear.ear_status).toBe("warning");
    expect(vectorOf(ear)).toMatchObject({ executables: 33, "runtime-opaque": -33 });
    const refused = await earOf(await judge(debug, { noPolicy: true }));
    expect(refused.ear_status).toBe("contraindicated");
    expect(vectorOf(refused)).toMatchObject({ executables: 96, "runtime-opaque": 96, hardware: 0 });
    const pinned = rowOf("debug mode that the policy allows");
    const verified = asAws(await judge(forge(pinned.forge), pinned.judge));
    expect(verified.verdict).toBe("verified");
    expect((await earOf(verified)).ear_status).toBe("warning");
    expect(vectorOf(await earOf(verified))).toMatchObject({ executables: 33, "runtime-opaque": -33 });
  });

  it("contraindicate what is only too old, and say so", async () => {
    const report = await judge(forge(), { policy: { maxAge: "1m" } });
    expect(report.stale).toBe(true);
    const ear = await earOf(report);
    expect(ear.ear_status).toBe("contraindicated");
    expect(vectorOf(ear)).toEqual(NONE);
    expect(ear["pkg:npm/bootproof#report"]["stale"]).toBe(true);
  });

  it("contraindicate every boot proof of a report that one of them fails, and blame the one", async () => {
    const good = forge();
    const bad = forge({ bootProof: (json) => ({ ...json, ephemeralPublicKeyHex: "04".repeat(130) }) });
    const ear = await earOf(await judge(good, { given: () => ({ bootProofs: [good.bootProof, bad.bootProof] }) }));
    expect(Object.keys(ear.submods)).toEqual(["boot[0]", "boot[1]"]);
    expect(Object.values(ear.submods).map((each) => each.ear_status)).toEqual(["contraindicated", "contraindicated"]);
    expect(vectorOf(ear, "boot[0]")).toEqual(NONE);
    expect(ear.submods["boot[0]"]!.ear_verifier_claims["failed"]).toEqual([]);
    expect(ear.submods["boot[1]"]!.ear_verifier_claims["failed"]).toContain("bind.key");
    expect(vectorOf(ear, "boot[1]")["instance-identity"]).toBe(99);
  });

  it("are about the enclave also where an app proof or the activity fails", async () => {
    const evidence = forge({ alterAppProof: { payload: () => "{}" } as never });
    const ear = await earOf(await judge(evidence, { given: withActivity }));
    expect(Object.keys(ear.submods)).toEqual(["boot[0]"]);
    expect(ear.ear_status).toBe("contraindicated");
  });

  it("are about what there is, where there is no boot proof", async () => {
    const { appProofs } = forge();
    const ear = await earOf(await judge(forge(), { given: () => ({ bootProofs: [], appProofs }) }));
    expect(Object.keys(ear.submods)).toEqual(["app[0]"]);
    expect(ear.submods["app[0]"]).toMatchObject({ ear_status: "contraindicated", ear_trustworthiness_vector: NONE });
  });
});

describe("every row of the attack tables", () => {
  const attacks = [
    ...BOOT_PROOF_ATTACKS,
    ...CHAIN_ATTACKS,
    ...DOCUMENT_ATTACKS,
    ...POLICY_ATTACKS,
    ...PROVENANCE_ATTACKS,
    ...APP_PROOF_ATTACKS,
  ];
  it.each(someOf(attacks))("is contraindicated: %s", async (_, row) => {
    const report = await reportOf(row);
    const ear = await earOf(report);
    expect(ear.ear_status).toBe("contraindicated");
    for (const each of Object.values(ear.submods)) {
      expect(each.ear_status).toBe("contraindicated");
      expect(Object.values<number>(each.ear_trustworthiness_vector).filter(isAffirming)).toEqual([]);
      expect(each).not.toHaveProperty("ear_attester_claims");
    }
    const failed = report.checks.filter(({ status }) => status === "fail").map(({ id }) => id);
    expect(ear["pkg:npm/bootproof#report"].failed.map(({ id }: Loose) => id)).toEqual(failed);
  });

  it.each(someOf(ACCEPTED))("that is accepted is not: %s", async (_, row) => {
    const report = await reportOf(row);
    const ear = await earOf(report);
    // The lab's root is not AWS's, and the policy names it.
    const isAffirmed = report.verdict === "verified" && caveats(asAws(report)).length === 0;
    expect(ear.ear_status).toBe(isAffirmed ? "affirming" : "warning");
    if (report.verdict === "authentic")
      for (const each of Object.values(ear.submods))
        expect(Object.values<number>(each.ear_trustworthiness_vector).filter(isAffirming)).toEqual([]);
  });
});

describe("a report that somebody else made", () => {
  const good = async (): Promise<Report> => asAws(await judge(forge()));
  it.each<[string, (report: Report) => object]>([
    ["an unknown verdict", () => ({ verdict: "splendid" })],
    ["an unknown status", ({ checks }) => ({ checks: [...checks, { ...checks[0]!, status: "ok" }] })],
    [
      "a failed check under a good verdict",
      ({ checks }) => ({ checks: [...checks, { ...checks[0]!, status: "fail" }] }),
    ],
    ["a good verdict without claims", () => ({ claims: null })],
  ])("is contraindicated with %s", async (_, change) => {
    const report = await good();
    const ear = await earOf({ ...report, ...change(report) });
    expect(ear.ear_status).toBe("contraindicated");
    expect(Object.values(vectorOf(ear)).filter(isAffirming)).toEqual([]);
  });

  it("is no better than a warning with a warning of an unknown check", async () => {
    const report = await good();
    const check = { ...report.checks[0]!, id: "moon.phase" as never, status: "warn" as const };
    const ear = await earOf({ ...report, checks: [...report.checks, check] });
    expect(ear.ear_status).toBe("warning");
    expect(JSON.stringify(ear["pkg:npm/bootproof#report"]["warningChecks"])).toContain("moon.phase");
  });

  it("affirms nothing that no check says", async () => {
    const report = await good();
    expect(vectorOf(await earOf({ ...report, checks: [] }))).toEqual({ ...NONE, executables: 33 });
    const open = report.claims!.bootProofs.map((boot) => ({ ...boot, open: ["operator"] as const }));
    const left = await earOf({ ...report, claims: { ...report.claims!, bootProofs: open } });
    expect(vectorOf(left)["instance-identity"]).toBe(0);
    const unpinned = report.claims!.bootProofs.map((boot) => ({ ...boot, image: { ...boot.image, pinned: false } }));
    const ear = await earOf({ ...report, claims: { ...report.claims!, bootProofs: unpinned } });
    expect(vectorOf(ear)).toEqual({ ...NONE, hardware: 2, executables: 33 });
  });

  it.each([[null], ["verified"], [{}], [{ ...byHand({}), verifiedAt: "yesterday" }]])(
    "is refused where it is none: %j",
    async (value) => {
      await expect(renderEar(value as Report)).rejects.toThrow(/expected a whole report/);
    },
  );

  it("is not signed: a signature is the verifier's word", async () => {
    const { privateKey } = generateKeyPairSync("ed25519");
    const key = privateKey.export({ format: "jwk" }) as { kty: string };
    await expect(renderEar(byHand({}), { key })).rejects.toThrow(/expected a report of this process/);
  });
});

describe("a boot proof's appraisal", () => {
  it("names what the enclave is known by, and the nonce that was asked for", async () => {
    const nonce = new Uint8Array(32).fill(7);
    const report = asAws(await judge(forge({ nonce }), { nonce }));
    const { "boot[0]": boot } = (await earOf(report)).submods;
    expect(boot!.eat_nonce).toBe(Buffer.from(nonce).toString("base64url"));
    const { hardware, image } = report.claims!.bootProofs[0]!;
    expect(boot!.ear_attester_claims).toMatchObject({
      pcrs: hardware.pcrs,
      publicKey: hardware.publicKey,
      manifest: { hash: image.manifest!.hash, pivotHash: image.manifest!.pivotHash },
    });
    expect(JSON.stringify(boot)).not.toContain("payload");
  });

  it.each([[8], [64]])("has a nonce of %i bytes", async (length) => {
    const nonce = new Uint8Array(length).fill(7);
    const ear = await earOf(asAws(await judge(forge({ nonce }), { nonce })));
    expect(ear.submods["boot[0]"]!.eat_nonce).toBe(Buffer.from(nonce).toString("base64url"));
  });

  it.each([[7], [65]])("leaves out a nonce of %i bytes, which has no place there", async (length) => {
    const nonce = new Uint8Array(length).fill(7);
    const ear = await earOf(asAws(await judge(forge({ nonce }), { nonce })));
    expect(ear.submods["boot[0]"]).not.toHaveProperty("eat_nonce");
  });

  it("says when it was verified, by what, what warned, and what is not proven", async () => {
    const ear = await earOf(await judge(forge()));
    expect(ear["pkg:npm/bootproof#report"]["warningChecks"]).toEqual([expect.objectContaining({ id: "chain.anchor" })]);
    expect(ear.iat).toBe(NOW.getTime() / 1000);
    expect(ear.ear_verifier_id).toEqual({
      developer: "pkg:npm/bootproof",
      build: expect.stringMatching(/^bootproof \d/),
    });
    expect(ear["pkg:npm/bootproof#report"].notProven.join()).toContain("What source code");
  });
});

describe("a signature", () => {
  const pairs: [name: string, alg: string, pair: { privateKey: KeyObject; publicKey: KeyObject }][] = [
    ["P-256", "ES256", generateKeyPairSync("ec", { namedCurve: "P-256" })],
    ["P-384", "ES384", generateKeyPairSync("ec", { namedCurve: "P-384" })],
    ["P-521", "ES512", generateKeyPairSync("ec", { namedCurve: "P-521" })],
    ["Ed25519", "EdDSA", generateKeyPairSync("ed25519")],
    ["RSA", "PS256", generateKeyPairSync("rsa", { modulusLength: 2048 })],
  ];
  const jwkOf = (key: KeyObject): { kty: string } => key.export({ format: "jwk" }) as { kty: string };

  it.each(pairs)("of %s is %s, and two other readers take it", async (_, alg, { privateKey, publicKey }) => {
    const report = await judge(forge());
    const token = (await renderEar(report, { key: { ...jwkOf(privateKey), kid: "release-7" } })).trimEnd();
    const read = await jwtVerify(token, await importJWK(jwkOf(publicKey), alg), { typ: "eat+jwt", algorithms: [alg] });
    expect(read.protectedHeader).toEqual({ alg, typ: "eat+jwt", kid: "release-7" });
    expect(fits(read.payload) ? [] : fits.errors).toEqual([]);
    expect(read.payload).toEqual(await earOf(report));
    expect(byHandVerified(token, alg, publicKey)).toBe(true);
    const [header, , signature] = token.split(".");
    const other = Buffer.from(JSON.stringify({ ...read.payload, ear_status: "warning" })).toString("base64url");
    expect(byHandVerified(`${header}.${other}.${signature}`, alg, publicKey)).toBe(false);
  });

  it("has the algorithm that the key names, and its thumbprint where it has no kid", async () => {
    const [, , { privateKey, publicKey }] = pairs[4]!;
    const { n, e } = jwkOf(publicKey) as { kty: string; n: string; e: string };
    const token = (await renderEar(await judge(forge()), { key: { ...jwkOf(privateKey), alg: "RS384" } })).trimEnd();
    const { protectedHeader } = await jwtVerify(
      token,
      createPublicKey(publicKey.export({ format: "pem", type: "spki" })),
    );
    const kid = createHash("sha256").update(`{"e":"${e}","kty":"RSA","n":"${n}"}`).digest("base64url");
    expect(protectedHeader).toEqual({ alg: "RS384", kid, typ: "eat+jwt" });
  });

  it("has the thumbprint of RFC 8037 appendix A.3 under the key of its appendix A.1", async () => {
    const key = {
      kty: "OKP",
      crv: "Ed25519",
      d: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
      x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
    };
    const token = await renderEar(await judge(forge()), { key });
    expect(decodeProtectedHeader(token)).toMatchObject({ kid: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k" });
  });

  it.each([
    ["EdDSA", { alg: "Ed25519" }, undefined],
    ["EdDSA", { alg: "EdDSA" }, undefined],
    ["Ed25519", {}, "Ed25519"],
    ["Ed25519", { alg: "EdDSA" }, "Ed25519"],
    ["EdDSA", { alg: "Ed25519" }, "EdDSA"],
  ])("of Ed25519 is named %s by a key with %j where the caller asks for %s", async (name, members, alg) => {
    const [, , { privateKey, publicKey }] = pairs[3]!;
    const options = { key: { ...jwkOf(privateKey), ...members }, ...(alg !== undefined && { alg }) };
    const token = (await renderEar(await judge(forge()), options)).trimEnd();
    expect(decodeProtectedHeader(token).alg).toBe(name);
    expect(byHandVerified(token, "EdDSA", publicKey)).toBe(true);
  });

  it("is by the algorithm that the caller asks for, where the key can", async () => {
    const report = await judge(forge());
    const key = { ...jwkOf(pairs[4]![2].privateKey), alg: "PS512" };
    expect(decodeProtectedHeader(await renderEar(report, { key, alg: "RS256" })).alg).toBe("RS256");
    for (const alg of ["Ed25519", "none", "HS256", ""])
      await expect(renderEar(report, { key, alg }), alg).rejects.toThrow(
        /the algorithm does not fit this kind of key: expected PS256, PS384, PS512, RS256, RS384, RS512$/,
      );
    await expect(renderEar(report, { alg: "RS256" })).rejects.toThrow(/expected a key beside it/);
  });

  const ec = jwkOf(pairs[0]![2].privateKey);
  const rsa = jwkOf(pairs[4]![2].privateKey) as Record<string, unknown> & { kty: string };
  const small = jwkOf(generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey);
  const other = jwkOf(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey) as {
    kty: string;
    x: string;
    y: string;
  };
  const koblitz = jwkOf(generateKeyPairSync("ec", { namedCurve: "secp256k1" }).privateKey);
  const x25519 = jwkOf(generateKeyPairSync("x25519").privateKey);
  it.each<[string, unknown, RegExp]>([
    ["no object", "key", /expected a JSON Web Key/],
    ["a list", [ec], /expected a JSON Web Key/],
    ["no key type", { d: "secret-secret" }, /it has no kty/],
    ["a set of keys", { keys: [ec] }, /a set of keys/],
    ["a public key", jwkOf(pairs[0]![2].publicKey), /a public key/],
    ["a symmetric key", { kty: "oct", k: "c2VjcmV0LXNlY3JldA" }, /a symmetric key/],
    ["secp256k1", koblitz, /its curve is secp256k1/],
    ["X25519", x25519, /its curve is X25519/],
    ["another curve", { ...ec, crv: "secret-secret" }, /of another kind/],
    ["another type", { ...ec, kty: "secret-secret" }, /of another kind/],
    ["a member of every object", { ...ec, kty: "constructor" }, /of another kind/],
    ["a small RSA key", small, /RSA of fewer than 2048 bits/],
    ["more than two primes", { ...rsa, oth: [] }, /more than two primes/],
    ["for encryption", { ...ec, use: "enc" }, /"use" is not "sig"/],
    ["for other operations", { ...ec, key_ops: ["verify"] }, /"key_ops" has no "sign"/],
    ["another algorithm", { ...ec, alg: "ES384" }, /"alg" does not fit this kind of key: expected ES256/],
    ["an algorithm of another kind", { ...ec, alg: "Ed25519" }, /"alg" does not fit this kind of key: expected ES256/],
    ["a kid that is not text", { ...ec, kid: 7 }, /"kid" is not text/],
    ["a missing member", { ...ec, y: undefined }, /y missing/],
    ["a missing prime", { ...rsa, qi: undefined }, /qi missing/],
    ["another's public half", { ...ec, x: other.x, y: other.y }, /its members are of different keys/],
    ["a damaged number", { ...ec, d: "secret secret" }, /its members are of different keys/],
  ])("is refused of %s, and no key is shown", async (_, key, words) => {
    const error = await renderEar(await judge(forge()), { key: key as { kty: string } }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(TypeError);
    const { message } = error as TypeError;
    expect(message).toMatch(words);
    expect(message).not.toContain("secret");
    for (const value of Object.values(key as object))
      if (typeof value === "string" && value.length > 20) expect(message).not.toContain(value);
  });

  it.each([[{ use: "sig" }], [{ key_ops: ["sign", "verify"] }], [{ ext: false }]])(
    "is made with %j",
    async (member) => {
      const token = await renderEar(await judge(forge()), { key: { ...ec, ...member } });
      expect(byHandVerified(token.trimEnd(), "ES256", pairs[0]![2].publicKey)).toBe(true);
    },
  );
});

/** RFC 7515 and 7518 with Node's cryptography, and no library. */
function byHandVerified(token: string, alg: string, key: KeyObject): boolean {
  const [header, payload, signature] = token.split(".") as [string, string, string];
  const hash = alg === "EdDSA" ? null : `sha${alg.slice(2)}`;
  const pss = { padding: 6, saltLength: 32 };
  const how = alg.startsWith("PS") ? { key, ...pss } : { key, dsaEncoding: "ieee-p1363" as const };
  return verifyBytes(hash, Buffer.from(`${header}.${payload}`), how, Buffer.from(signature, "base64url"));
}
