/** Files of another kind than their option takes: named, with what takes them; and those that hold the right thing. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { toBase64 } from "../../src/bytes.js";
import type { PolicyFile } from "../../src/index.js";
import { packEvidence } from "../../src/bundle/index.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import type { Report } from "../../src/report/report.js";
import { GENUINE_DETAILS, GENUINE_LEGACY_DETAILS, detailsOf, genuineDetails } from "../support/provisioning.js";
import { type Answer, bootproof, fileOf, vector, refused } from "./support.js";
import { IS_LONG } from "../support/long.js";

const lab = new Forge();
const forged = forgeEvidence({ lab, at: new Date("2026-03-04T05:06:07.000Z") });
const other = forgeEvidence({ lab, at: new Date("2026-03-04T05:06:07.000Z") });
const { bootProof, appProofs, activity, anchorPem, document } = forged;
const POLICY = labPolicy(anchorPem, [labDeployment(lab)]);
const SECRET = "5f".repeat(32);
const LATER = { now: "2026-03-04T06:00:00Z" };
const given = (...args: string[]): Promise<Answer> => bootproof(args, LATER);

/** A file of each kind. */
const FILES = {
  boot: fileOf(bootProof),
  details: fileOf(detailsOf(bootProof, "query")),
  boots: fileOf([bootProof, other.bootProof]),
  app: fileOf(appProofs[0]),
  apps: fileOf({ appProofs }),
  activity: fileOf({ activity }),
  document: fileOf(document),
  base64: fileOf(toBase64(document)),
  manifest: fileOf(Buffer.from((bootProof as { qosManifestB64: string }).qosManifestB64, "base64")),
  envelope: fileOf(Buffer.from((bootProof as { qosManifestEnvelopeB64: string }).qosManifestEnvelopeB64, "base64")),
  certificate: fileOf(anchorPem),
  bundle: fileOf(packEvidence({ bootProofs: [bootProof], appProofs })),
  policy: fileOf(POLICY),
  report: fileOf({ format: "bootproof-report/1", verdict: "verified" }),
  release: vector("releases/r2025.9.3.yaml"),
  request: fileOf({ type: "ACTIVITY_TYPE_CREATE_WALLET", timestampMs: "1", organizationId: "o", parameters: {} }),
  key: fileOf({ publicKey: "02", privateKey: SECRET }),
};
type File = keyof typeof FILES;

/** What is said of each, and the commands that have the option. */
const TAKEN: Readonly<Record<File, readonly [is: string, option: string | null, commands: readonly string[]]>> = {
  boot: ["this is a boot proof", "--boot-proof", ["verify", "pin", "bundle"]],
  details: ["this is a boot proof", "--boot-proof", ["verify", "pin", "bundle"]],
  boots: ["these are boot proofs", "--boot-proof", ["verify", "pin", "bundle"]],
  app: ["this is an app proof", "--app-proof", ["verify", "bundle"]],
  apps: ["these are app proofs", "--app-proof", ["verify", "bundle"]],
  activity: ["this is an activity", "--activity", ["verify", "bundle", "fetch"]],
  document: ["this is a bare attestation document", "--attestation", ["verify"]],
  base64: ["this is a bare attestation document", "--attestation", ["verify"]],
  manifest: ["this is a manifest: bootproof inspect shows it; to verify it, give the boot proof", null, []],
  envelope: ["this is a manifest envelope: bootproof inspect shows it; to verify it, give the boot proof", null, []],
  certificate: ["this is a certificate", "--trust-anchor", ["verify", "pin"]],
  bundle: ["this is a bundle: give it alone: bootproof verify ", null, []],
  policy: ["this is a policy", "--policy", ["verify", "bundle"]],
  report: ["this is a report, which proves nothing: verify the evidence itself", null, []],
  release: ["this is a published release", "--release", ["pin"]],
  request: ["this is a request", "--request", ["verify"]],
  key: ["this is an API key file", "--api-key-file", ["verify", "fetch", "pin"]],
};

/** Where each option stands, and the files that it takes. */
const OPTIONS: readonly (readonly [words: (file: string) => string[], takes: readonly File[]])[] = [
  [(file) => ["verify", "--boot-proof", file, "--no-policy"], ["boot", "details", "boots", "bundle"]],
  [(file) => ["verify", "--boot-proof", FILES.boot, "--app-proof", file, "--no-policy"], ["app", "apps", "bundle"]],
  [(file) => ["verify", "--boot-proof", FILES.boot, "--activity", file, "--no-policy"], ["activity"]],
  [(file) => ["verify", "--attestation", file, "--no-policy"], ["document", "base64"]],
  [(file) => ["verify", "--boot-proof", FILES.boot, "--policy", file], ["policy"]],
  [(file) => ["verify", "--boot-proof", FILES.boot, "--no-policy", "--trust-anchor", file], ["certificate"]],
  [
    (file) => ["verify", "--boot-proof", FILES.boot, "--activity", FILES.activity, "--no-policy", "--request", file],
    ["request"],
  ],
  [(file) => ["verify", file, "--no-policy"], ["bundle", "boot", "details", "boots"]],
  [(file) => ["bundle", "--boot-proof", file, "--no-policy"], ["boot", "details", "boots", "bundle"]],
  [(file) => ["bundle", "--boot-proof", FILES.boot, "--app-proof", file, "--no-policy"], ["app", "apps", "bundle"]],
  [(file) => ["bundle", "--boot-proof", FILES.boot, "--activity", file, "--no-policy"], ["activity"]],
  [(file) => ["bundle", "--boot-proof", FILES.boot, "--policy", file], ["policy"]],
  [(file) => ["pin", "--boot-proof", file], ["boot", "details", "boots", "bundle"]],
  [(file) => ["pin", "--boot-proof", FILES.boot, "--trust-anchor", file], ["certificate"]],
  [(file) => ["pin", "--release", file, "--app", "signer"], ["release"]],
  [(file) => ["pin", "--release", FILES.release, "--app", "signer", "--manifest-set", file], []],
];

function sentenceOf(file: File, command: string): string {
  const [is, option, commands] = TAKEN[file];
  if (option === null) return is;
  return `${is}; ${commands.includes(command) ? option : `bootproof ${commands[0]!} ${option}`} takes it\n`;
}

/** Of options of `verify` every file; of the others' every third, or each where `BOOTPROOF_TESTS=long`. */
const EACH = IS_LONG ? 1 : 3;

describe.each(OPTIONS.map(([words, takes], at) => [words("FILE").join(" "), words, takes, at] as const))(
  "%s",
  (name, words, takes, at) => {
    const isTried = (index: number): boolean => name.startsWith("verify") || (index + at) % EACH === 0;
    it.each((Object.keys(FILES) as File[]).filter((_, index) => isTried(index)))("%s", async (kind) => {
      const argv = words(FILES[kind]);
      const { code, stdout, stderr } = await given(...argv);
      if (takes.includes(kind)) return expect(stderr).not.toMatch(/: (?:this is|these are) /);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toContain(`bootproof: ${FILES[kind]}: ${sentenceOf(kind, argv[0]!)}`);
      expect(stderr).not.toContain(SECRET);
    });
  },
);

it("names what is on stdin, too", async () => {
  const { code, stderr } = await bootproof(["verify", "--boot-proof", "-", "--no-policy"], {
    stdin: readFileSync(FILES.app),
  });
  expect([code, stderr]).toEqual([2, "bootproof: stdin: this is an app proof; --app-proof takes it\n"]);
});

it("tells all of them together", async () => {
  const { stderr } = await given("verify", "--boot-proof", FILES.app, "--app-proof", FILES.boot, "--no-policy");
  expect(stderr).toBe(
    `bootproof: ${FILES.app}: this is an app proof; --app-proof takes it\n` +
      `bootproof: ${FILES.boot}: this is a boot proof; --boot-proof takes it\n`,
  );
});

describe("a file that holds the right thing", () => {
  it("is taken, whatever else it holds that is not evidence", async () => {
    const file = fileOf({ bootProof, requestId: "7", policy: POLICY });
    const { code, stderr } = await given("verify", "--boot-proof", file, "--policy", FILES.policy);
    expect([code, stderr]).toEqual([0, ""]);
  });

  it.each([
    ["a boot proof in its wrapper beside app proofs", "--boot-proof", { bootProof, appProofs }, "appProofs in it"],
    ["an activity with its app proofs, as those", "--app-proof", activity, "intent in it"],
    [
      "a bundle with an activity, as that",
      "--activity",
      packEvidence({ bootProofs: [bootProof], activity }),
      "bootProofs in it would not be verified, since --activity takes only an activity. It is a bundle: give it " +
        "alone: bootproof verify /",
    ],
  ])("is refused with evidence that its option does not take: %s", async (_, option, content, says) => {
    const boot = option === "--boot-proof" ? [] : ["--boot-proof", FILES.boot];
    const file = fileOf(content);
    await refused(2, given("verify", ...boot, option, file, "--policy", FILES.policy), `bootproof: ${file}: ${says}`);
  });

  it.each([
    ["a boot proof whose document is none", "--boot-proof", { ...bootProof, cloudAttestationDocB64: "%%%" }],
    ["a wrapper around nothing", "--boot-proof", { bootProof: null }],
    ["an object with one member of a boot proof", "--boot-proof", { hello: "world", owner: "me" }],
    ["an app proof that is broken", "--app-proof", { ...appProofs[0], signature: "" }],
    ["an activity that is none", "--activity", { activity: 7 }],
  ])("is evidence, and rejected, where it is broken inside: %s", async (_, option, content) => {
    const boot = option === "--boot-proof" ? [] : ["--boot-proof", FILES.boot];
    const { code, stderr } = await given("verify", ...boot, option, fileOf(content), "--policy", FILES.policy);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^REJECTED: /)]);
  });
});

describe("boot proofs in a list", () => {
  const namesOf = (stdout: string): (string | null)[] =>
    (JSON.parse(stdout) as Report).evidence.map(({ name }) => name);

  it.each([
    ["an array", [bootProof, other.bootProof]],
    ["an object", { bootProofs: [bootProof, other.bootProof] }],
    ["wrappers in an array", [{ bootProof }, { bootProof: other.bootProof }]],
  ])("of %s are taken one by one, each named by its place", async (_, content) => {
    const file = fileOf(content);
    const argv = ["--boot-proof", file, FILES.boot, "--app-proof", FILES.app, "--policy", FILES.policy];
    const { code, stdout } = await given("verify", ...argv, "--format", "json");
    expect([code, namesOf(stdout)]).toEqual([0, [`${file}[0]`, `${file}[1]`, FILES.boot, FILES.app]]);
    const bundled = await given("bundle", ...argv);
    expect([bundled.code, (JSON.parse(bundled.stdout) as { bootProofs: object[] }).bootProofs.length]).toEqual([0, 3]);
  });

  it("are rejected where one of them is none", async () => {
    const { code, stdout } = await given(
      ...["verify", "--boot-proof", fileOf([bootProof, appProofs[0]]), "--policy", FILES.policy, "--format", "json"],
    );
    const failed = (JSON.parse(stdout) as Report).checks.filter(({ status }) => status === "fail");
    expect([code, failed.map(({ subject, id }) => `${subject} ${id}`)]).toEqual([1, ["boot[1] boot.decode"]]);
  });

  it.each([[[]], [{ bootProofs: [] }]])("are wanted: %j", async (content) => {
    const file = fileOf(content);
    for (const command of ["verify", "bundle"]) {
      const { code, stdout, stderr } = await given(command, "--boot-proof", file, "--no-policy");
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toBe(`bootproof: ${file}: the list of boot proofs is empty: expected at least one\n`);
    }
  });

  it("names app proofs of a list in the same way", async () => {
    const file = fileOf(appProofs);
    const { stdout } = await given(
      ...["verify", "--boot-proof", FILES.boot, "--app-proof", file, "--policy", FILES.policy, "--format", "json"],
    );
    expect(namesOf(stdout)).toEqual([FILES.boot, `${file}[0]`]);
  });
});

describe("provisioning details", () => {
  const NOW = { now: "2026-06-30T00:34:40Z" };
  const DETAILS = vector(GENUINE_DETAILS);
  const given = (...args: string[]): Promise<Answer> => bootproof(args, NOW);
  const LEGACY = vector(GENUINE_LEGACY_DETAILS);

  it("are pinned, verified under that policy, and rejected once changed", async () => {
    const pinned = await given("pin", "--boot-proof", DETAILS);
    expect([pinned.code, (JSON.parse(pinned.stdout) as PolicyFile).deployments[0]!.commitment]).toEqual([0, "setup"]);
    const policy = fileOf(pinned.stdout);
    const { code, stdout } = await given("verify", "--boot-proof", DETAILS, "--policy", policy);
    const text = stdout.replaceAll(/\s+/g, " ");
    expect(code).toBe(0);
    expect(text).toMatch(
      /^VERIFIED with \d warnings?: .* WARNING the policy sets no maxAge: this setup document may be an old one/,
    );
    expect(text).toContain(
      "The shares of the quorum key 04462afe…c03297ee that are released for this document go to the key of this " +
        "document, 049e23dd…08c6c8d9.",
    );
    const changed = genuineDetails() as { manifest_envelope: { manifest: { pivot: { args: string[] } } } };
    changed.manifest_envelope.manifest.pivot.args[0] = "--debug";
    const rejected = await given("verify", "--boot-proof", fileOf(changed), "--policy", policy);
    expect([rejected.code, rejected.stdout]).toEqual([1, expect.stringContaining("FAIL  bind.user-data")]);
    const limited = fileOf({ ...(JSON.parse(pinned.stdout) as object), maxAge: "1h" });
    const inTime = await given("verify", "--boot-proof", DETAILS, "--policy", limited, "--fail-on-warning");
    expect([inTime.code, inTime.stdout.includes("WARNING")]).toEqual([0, false]);
  });

  it("of a legacy enclave leave open who gets the shares", async () => {
    const { code, stdout } = await given("verify", "--boot-proof", LEGACY, "--no-policy");
    const text = stdout.replaceAll(/\s+/g, " ");
    expect([code, text.includes("that are released for this document")]).toEqual([0, false]);
    expect(text).toContain(
      "That the shares of the quorum key 04451028…e936683e would go to this enclave: the document",
    );
  });

  it("are compared and packed like a boot proof", async () => {
    const policy = fileOf((await given("pin", "--boot-proof", DETAILS)).stdout);
    const compared = await given("diff", DETAILS, DETAILS);
    expect([compared.code, compared.stdout]).toEqual([0, expect.stringContaining("same")]);
    const bundle = await given("bundle", "--boot-proof", DETAILS, "--policy", policy);
    const packed = await given("verify", fileOf(bundle.stdout), "--policy", policy);
    expect([bundle.code, packed.code]).toEqual([0, 0]);
  });
});
