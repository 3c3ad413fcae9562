/** Files of another kind than their option takes: named, with what takes them; and those that hold the right thing. */
import { describe, expect, it } from "vitest";
import { toBase64 } from "../../src/bytes.js";
import type { PolicyFile } from "../../src/index.js";
import { packEvidence } from "../../src/bundle/index.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { GENUINE_DETAILS, GENUINE_LEGACY_DETAILS, detailsOf, genuineDetails } from "../support/provisioning.js";
import { type Row, fileOf, reportOf, scene, vector } from "./support.js";
import { IS_LONG } from "../support/long.js";

const lab = new Forge();
const at = new Date("2026-03-04T05:06:07.000Z");
const { bootProof, appProofs, activity, anchorPem, document } = forgeEvidence({ lab, at });
const { bootProof: other } = forgeEvidence({ lab, at });
const POLICY = labPolicy(anchorPem, [labDeployment(lab)]);
const SECRET = "5f".repeat(32);

/** A file of each kind. */
const FILES = {
  boot: fileOf(bootProof),
  details: fileOf(detailsOf(bootProof, "query")),
  boots: fileOf([bootProof, other]),
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

const TO_VERIFY = "bootproof inspect shows it; to verify it, give the boot proof";
/** What is said of each, and the commands that have the option. */
const TAKEN: Readonly<Record<File, readonly [is: string, option?: string, commands?: string]>> = {
  boot: ["this is a boot proof", "--boot-proof", "verify pin bundle"],
  details: ["this is a boot proof", "--boot-proof", "verify pin bundle"],
  boots: ["these are boot proofs", "--boot-proof", "verify pin bundle"],
  app: ["this is an app proof", "--app-proof", "verify bundle"],
  apps: ["these are app proofs", "--app-proof", "verify bundle"],
  activity: ["this is an activity", "--activity", "verify bundle fetch"],
  document: ["this is a bare attestation document", "--attestation", "verify"],
  base64: ["this is a bare attestation document", "--attestation", "verify"],
  manifest: [`this is a manifest: ${TO_VERIFY}`],
  envelope: [`this is a manifest envelope: ${TO_VERIFY}`],
  certificate: ["this is a certificate", "--trust-anchor", "verify pin"],
  bundle: ["this is a bundle: give it alone: bootproof verify "],
  policy: ["this is a policy", "--policy", "verify bundle"],
  report: ["this is a report, which proves nothing: verify the evidence itself"],
  release: ["this is a published release", "--release", "pin"],
  request: ["this is a request", "--request", "verify"],
  key: ["this is an API key file", "--api-key-file", "verify fetch pin"],
};

/** Where each option stands, and the files that it takes. */
const OPTIONS: readonly (readonly [line: string, takes: string])[] = [
  ["verify --boot-proof FILE --no-policy", "boot details boots bundle"],
  ["verify --boot-proof $boot --app-proof FILE --no-policy", "app apps bundle"],
  ["verify --boot-proof $boot --activity FILE --no-policy", "activity"],
  ["verify --attestation FILE --no-policy", "document base64"],
  ["verify --boot-proof $boot --policy FILE", "policy"],
  ["verify --boot-proof $boot --no-policy --trust-anchor FILE", "certificate"],
  ["verify --boot-proof $boot --activity $activity --no-policy --request FILE", "request"],
  ["verify FILE --no-policy", "bundle boot details boots"],
  ["bundle --boot-proof FILE --no-policy", "boot details boots bundle"],
  ["bundle --boot-proof $boot --app-proof FILE --no-policy", "app apps bundle"],
  ["bundle --boot-proof $boot --activity FILE --no-policy", "activity"],
  ["bundle --boot-proof $boot --policy FILE", "policy"],
  ["pin --boot-proof FILE", "boot details boots bundle"],
  ["pin --boot-proof $boot --trust-anchor FILE", "certificate"],
  ["pin --release FILE --app signer", "release"],
  ["pin --release $release --app signer --manifest-set FILE", ""],
];

function sentenceOf(file: File, command: string): string {
  const [is, option, commands = ""] = TAKEN[file];
  if (option === undefined) return is;
  const [first, ...others] = commands.split(" ");
  return `${is}; ${[first, ...others].includes(command) ? option : `bootproof ${first!} ${option}`} takes it`;
}

/** Of options of `verify` every file; of the others' every third, or each where `BOOTPROOF_TESTS=long`. */
const EACH = IS_LONG ? 1 : 3;

const ODD = {
  ...{ beside: fileOf({ bootProof, requestId: "7", policy: POLICY }), both: fileOf({ bootProof, appProofs }) },
  ...{ whole: fileOf(activity), packed: fileOf(packEvidence({ bootProofs: [bootProof], activity })), list: fileOf([]) },
  ...{ noDocument: fileOf({ ...bootProof, cloudAttestationDocB64: "%%%" }), null: fileOf({ bootProof: null }) },
  ...{ member: fileOf({ hello: "world", owner: "me" }), unsigned: fileOf({ ...appProofs[0], signature: "" }) },
  ...{ seven: fileOf({ activity: 7 }), mixed: fileOf([bootProof, appProofs[0]]), noBoots: fileOf({ bootProofs: [] }) },
  proofs: fileOf(appProofs),
};
const { having, run, table } = scene({ ...FILES, ...ODD }, { now: "2026-03-04T06:00:00Z" });

describe.each(OPTIONS.map(([line, takes], place) => [line, takes.split(" "), place] as const))(
  "%s",
  (line, takes, place) => {
    const isTried = (index: number): boolean => line.startsWith("verify") || (index + place) % EACH === 0;
    it.each((Object.keys(FILES) as File[]).filter((_, index) => isTried(index)))("%s", async (kind) => {
      const given = line.replace("FILE", `$${kind}`);
      if (takes.includes(kind)) return void (await run(given, "any", /^(?!.*: (?:this is|these are) )/));
      await run(given, 2, `bootproof: $${kind}: ${sentenceOf(kind, line.split(" ")[0]!)}`, `!${SECRET}`);
    });
  },
);

describe("a file", () => {
  const verify = "verify --policy $policy --boot-proof";
  const rejected = (line: string): Row => [line, 1, "REJECTED: "];
  const EMPTY = "the list of boot proofs is empty: expected at least one";
  const GIVE_ALONE =
    "bootProofs in it would not be verified, since --activity takes only an activity. It is a bundle: give it alone: " +
    "bootproof verify /";
  table([
    ["verify --boot-proof - --no-policy < $app", 2, "bootproof: stdin: this is an app proof; --app-proof takes it"],
    // All of them are told together.
    [
      "verify --boot-proof $app --app-proof $boot --no-policy",
      2,
      "$app: this is an app proof; --app-proof takes it",
      "bootproof: $boot: this is a boot proof; --boot-proof takes it",
    ],
    // Whatever else it holds that is not evidence.
    [`${verify} $beside`, 0],
    [`${verify} $both`, 2, "bootproof: $both: appProofs in it"],
    [`${verify} $boot --app-proof $whole`, 2, "bootproof: $whole: intent in it"],
    [`${verify} $boot --activity $packed`, 2, `bootproof: $packed: ${GIVE_ALONE}`],
    // Evidence that is broken inside.
    rejected(`${verify} $noDocument`),
    rejected(`${verify} $null`),
    rejected(`${verify} $member`),
    rejected(`${verify} $boot --app-proof $unsigned`),
    rejected(`${verify} $boot --activity $seven`),
    [`${verify} $mixed`, 1, "One check failed: boot.decode (boot[1]"],
    ...["verify", "bundle"].flatMap((command): Row[] => [
      [`${command} --boot-proof $list --no-policy`, 2, `bootproof: $list: ${EMPTY}`],
      [`${command} --boot-proof $noBoots --no-policy`, 2, `bootproof: $noBoots: ${EMPTY}`],
    ]),
  ]);
});

it.each([
  ["an array", [bootProof, other]],
  ["an object", { bootProofs: [bootProof, other] }],
  ["wrappers in an array", [{ bootProof }, { bootProof: other }]],
])("boot proofs of %s are taken one by one, each named by its place, as app proofs are", async (_, content) => {
  const path = fileOf(content);
  const line = "--boot-proof $it $boot --app-proof $proofs --policy $policy";
  const { evidence } = reportOf(await having({ it: path })(`verify ${line} --format json`, 0));
  expect(evidence.map(({ name }) => name)).toEqual([`${path}[0]`, `${path}[1]`, FILES.boot, `${ODD.proofs}[0]`]);
  const bundled = await having({ it: path })(`bundle ${line}`, 0);
  expect((JSON.parse(bundled.stdout) as { bootProofs: object[] }).bootProofs).toHaveLength(3);
});

it("provisioning details are taken like a boot proof, and rejected once changed", async () => {
  const names = { details: vector(GENUINE_DETAILS), legacy: vector(GENUINE_LEGACY_DETAILS) };
  const then = scene(names, { now: "2026-06-30T00:34:40Z" });
  const pinned = (await then.run("pin --boot-proof $details", 0)).stdout;
  const policy = JSON.parse(pinned) as PolicyFile;
  expect(policy.deployments[0]!.commitment).toBe("setup");
  const changed = genuineDetails() as { manifest_envelope: { manifest: { pivot: { args: string[] } } } };
  changed.manifest_envelope.manifest.pivot.args[0] = "--debug";
  const limited = fileOf({ ...policy, maxAge: "1h" });
  const on = then.having({ policy: fileOf(pinned), changed: fileOf(changed), limited });
  const GO = "of the quorum key 04462afe…c03297ee that are released for this document go to the key of this document, ";
  await on(
    "verify --boot-proof $details --policy $policy",
    0,
    `The shares ${GO}049e23dd…08c6c8d9.`,
    /^VERIFIED with \d warnings?: .* WARNING the policy sets no maxAge: this setup document may be an old one/,
  );
  await on("verify --boot-proof $changed --policy $policy", 1, "FAIL bind.user-data");
  await on("verify --boot-proof $details --policy $limited --fail-on-warning", 0, "!WARNING");
  const OPEN = "That the shares of the quorum key 04451028…e936683e would go to this enclave: the document";
  await on("verify --boot-proof $legacy --no-policy", 0, OPEN, "!that are released for this document");
  await on("diff $details $details", 0, "same");
  const { stdout } = await on("bundle --boot-proof $details --policy $policy", 0);
  await then.having({ policy: fileOf(pinned), it: fileOf(stdout) })("verify $it --policy $policy", 0);
});
