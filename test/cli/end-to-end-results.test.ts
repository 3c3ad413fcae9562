/** What the built command writes as EAR and as VSA, in every verdict and for all kinds of evidence. */
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { chmodSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { UnsecuredJWT, jwtVerify } from "jose";
import { describe, expect, it } from "vitest";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { generateQosKeyPair } from "../../src/lab/qos.js";
import { fileOf, vector, words } from "./support.js";

const COMMAND = fileURLToPath(new URL("../../dist/bin/bootproof.cjs", import.meta.url));
const AT = new Date("2026-03-04T05:06:07.000Z");
const NOW = ["--now", "2026-03-04T05:16:07Z"];

function built(args: readonly string[]): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, [COMMAND, ...args], { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
}

const lab = new Forge();
const whole = forgeEvidence({ lab, at: AT });
const second = forgeEvidence({ lab, at: AT, ephemeralKey: generateQosKeyPair() });
const debugged = forgeEvidence({
  lab,
  at: AT,
  alterManifest: { manifest: ({ pivot, ...rest }) => ({ ...rest, pivot: { ...pivot, debugMode: true } }) },
});
const policyFile = (rest: Parameters<typeof labPolicy>[2] = {}): string =>
  fileOf(labPolicy(whole.anchorPem, [labDeployment(lab)], rest));
const policy = policyFile();
const boot = fileOf(whole.bootProof, "signer boot.json");
const app = fileOf(whole.appProofs[0]);
const ofBoot = ["--boot-proof", boot];
const anchor = ["--trust-anchor", fileOf(whole.anchorPem)];
const document = vector("nitro/tk-rustsdk-lib-rs-20250916.cbor");
const bundled = built(["bundle", ...ofBoot, "--app-proof", app, "--policy", policy, ...NOW]);
const bundle = fileOf(bundled.stdout);

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-384" });
const key = fileOf(privateKey.export({ format: "pem", type: "sec1" }));
chmodSync(key, 0o600);

interface Case {
  readonly args: readonly string[];
  readonly code?: number;
  readonly verdict: string;
  readonly result?: "PASSED" | "FAILED";
  /** A part of the warning that the statement is FAILED. */
  readonly why?: RegExp;
  readonly subjects?: readonly string[];
  readonly submods?: readonly string[];
}

/** What an EAR says where the statement says that. */
const STATUS_OF = { PASSED: "affirming", FAILED: "warning", rejected: "contraindicated" } as const;
const SUBJECTS = ["pivot", "pcr0", "pcr1", "pcr2"].map((name) => `boot[0]/${name}`);
const CASES: readonly (readonly [string, Case])[] = [
  ["verified", { args: [...ofBoot, "--policy", policy], verdict: "verified", result: "PASSED" }],
  ["app proofs", { args: [...ofBoot, "--app-proof", app, "--policy", policy], verdict: "verified", result: "PASSED" }],
  [
    "an activity",
    {
      args: [...ofBoot, "--activity", fileOf(whole.activity), "--policy", policy],
      verdict: "verified",
      result: "PASSED",
    },
  ],
  [
    "several boot proofs",
    {
      args: ["--boot-proof", boot, fileOf(second.bootProof), "--policy", policy],
      verdict: "verified",
      result: "PASSED",
      subjects: [...SUBJECTS, ...SUBJECTS.map((name) => name.replace("0", "1"))],
      submods: ["boot[0]", "boot[1]"],
    },
  ],
  ["authentic", { args: [...ofBoot, "--no-policy", ...anchor], verdict: "authentic", why: /no policy was given/ }],
  [
    "rejected",
    {
      args: [
        ...ofBoot,
        "--policy",
        policyFile({ deployments: [{ ...labDeployment(lab), pivotHash: "00".repeat(32) }] }),
      ],
      code: 1,
      verdict: "rejected",
    },
  ],
  ["stale", { args: [...ofBoot, "--policy", policyFile({ maxAge: "1m" })], code: 1, verdict: "rejected" }],
  [
    "debug allowed",
    {
      args: ["--boot-proof", fileOf(debugged.bootProof), "--policy", policy, "--allow-debug"],
      verdict: "verified",
      why: /debug mode was found and allowed/,
    },
  ],
  [
    "a bare document",
    {
      args: ["--attestation", document, "--no-policy"],
      verdict: "authentic",
      why: /no policy was given/,
      subjects: SUBJECTS.slice(1),
    },
  ],
  [
    "a bundle by its own policy",
    { args: [bundle, "--bundle-policy", ...anchor], verdict: "authentic", why: /came with the bundle/ },
  ],
  ["a bundle by the caller's policy", { args: [bundle, "--policy", policy], verdict: "verified", result: "PASSED" }],
];

const OWN = "pkg:npm/bootproof#report";

describe.each(CASES)("%s", (_, { args, code = 0, verdict, result = "FAILED", why, subjects = SUBJECTS, submods }) => {
  it("as an EAR, signed", async () => {
    const answer = built(["verify", ...args, ...NOW, "--format", "ear", "--ear-key", key]);
    expect(answer.status).toBe(code);
    expect(answer.stderr).not.toContain("not signed");
    const { payload, protectedHeader } = await jwtVerify(answer.stdout.trimEnd(), publicKey);
    expect(protectedHeader).toEqual({ alg: "ES384", typ: "eat+jwt" });
    expect(payload["ear_status"]).toBe(STATUS_OF[code === 1 ? "rejected" : result]);
    expect(payload.iat).toBe(Date.parse(NOW[1]!) / 1000);
    expect(Object.keys(payload["submods"] as object)).toEqual(submods ?? ["boot[0]"]);
    expect(payload[OWN]).toMatchObject({ verdict, stale: _ === "stale" });
  });

  it("as a VSA", () => {
    const answer = built(["verify", ...args, ...NOW, "--format", "vsa"]);
    expect(answer.status).toBe(code);
    const { subject, predicate } = JSON.parse(answer.stdout) as {
      subject: { name: string }[];
      predicate: Record<string, unknown>;
    };
    expect(subject.map(({ name }) => name)).toEqual(subjects);
    expect(predicate).toMatchObject({ verificationResult: result, [OWN]: { verdict } });
    if (why === undefined) expect(answer.stderr).not.toContain("the statement is FAILED");
    else expect(answer.stderr).toMatch(why);
  });
});

it("an EAR without a key says that anyone can write one", () => {
  const { status, stdout, stderr } = built(["verify", ...ofBoot, "--policy", policy, ...NOW, "--format", "ear"]);
  expect(status).toBe(0);
  expect(UnsecuredJWT.decode(stdout.trimEnd()).payload["ear_status"]).toBe("affirming");
  expect(stderr).toMatch(/^warning: this result is not signed/);
});

it("a key that cannot sign is told before anything else, in the built command's own words", () => {
  const other = fileOf({ kty: "oct", k: "c2VjcmV0" });
  const { status, stdout, stderr } = built(words`verify nowhere.json --no-policy --format ear --ear-key ${other}`);
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toBe(
    `bootproof: ${other}: signing key: it is a symmetric key: anyone who can check a result with it can forge one\n`,
  );
});
