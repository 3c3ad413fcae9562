/** The mistakes of newcomers: what they type, and what has to help them on. */
import { readFileSync } from "node:fs";
import { toBase64 } from "../../src/bytes.js";
import { packEvidence } from "../../src/bundle/index.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { makeSigningKey, readSigningKey, renewPolicy, signPolicy } from "../../src/signed-policy/index.js";
import { BOOT_1, vector } from "./support.js";

const keys = await Promise.all(
  [0, 1].map((index) => makeSigningKey("Ed25519", (length) => new Uint8Array(length).fill(index))),
);
const [own] = await Promise.all(keys.map((pem) => readSigningKey(pem)));
const lab = new Forge();
const forged = forgeEvidence({ lab, at: new Date("2026-03-04T05:06:07.000Z") });
const { bootProof, appProofs, activity, anchorPem, document } = forged;
const POLICY = labPolicy(anchorPem, [labDeployment(lab)]);
const json = (value: unknown): string => JSON.stringify(value, null, 2);
const asPolicy = json(POLICY);
const SIGNERS = { name: "prod/signer", threshold: 1, keys: [own!.publicKey.pem] };
const signing = { now: new Date("2026-03-04T05:06:07.000Z"), validMs: 86_400_000, key: own! };
const version1 = await signPolicy({ policy: POLICY, signers: SIGNERS, ...signing });
const feed = version1 + (await renewPolicy({ feed: version1, ...signing }));
const STATE = { state: "bootproof-signed-policy-state/1", pinned: "00".repeat(32), envelope: {}, signers: {} };

/** Every file that a row may name. Each test runs in a folder that has all of them. */
export const FILES: Readonly<Record<string, string | Uint8Array>> = {
  "boot.json": json(bootProof),
  "boots.json": json([bootProof, bootProof]),
  "aws-boot.json": readFileSync(BOOT_1, "utf8"),
  "app.json": json(appProofs[0]),
  "apps.json": json({ appProofs }),
  "activity.json": json({ activity }),
  "bundle.json": json(packEvidence({ bootProofs: [bootProof], appProofs, activity })),
  "boot-bundle.json": json(packEvidence({ bootProofs: [bootProof] })),
  "policy.json": asPolicy,
  "bom.json": `\ufeff${asPolicy}`,
  "comment.json": `// what we run\n${asPolicy}`,
  "comment-inside.json": asPolicy.replace('"deployments"', '// these\n  "deployments"'),
  "comma.json": asPolicy.replace(/\n\}$/, ",\n}"),
  "pem-lines.json": json({ ...POLICY, trustAnchors: [{ pem: "PEM" }] }).replace('"PEM"', `"${anchorPem}"`),
  "version.json": version1,
  "feed.jsonl": feed,
  "signers.json": json(SIGNERS),
  "policy.state": json(STATE),
  "alice.pem": keys[0]!,
  "mallory.pem": keys[1]!,
  "typo.json": asPolicy.replace('"deployments"', '"deployment"'),
  "policy.yaml": "policy: bootproof/1\ndeployments:\n  - name: signer\n",
  "anchor.pem": anchorPem,
  "private.pem": "-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n",
  "key.json": json({ publicKey: "02", privateKey: "5f".repeat(32) }),
  "manifest.bin": Buffer.from((bootProof as { qosManifestB64: string }).qosManifestB64, "base64"),
  "release.yaml": readFileSync(vector("releases/r2025.9.3.yaml"), "utf8"),
  "request.json": json({ type: "ACTIVITY_TYPE_X", timestampMs: "1", organizationId: "o", parameters: {} }),
  "operators.json": json({ threshold: 1, members: ["02"] }),
  "document.cbor": document,
  "document.txt": toBase64(document),
  "pcrs.json": json({ Measurements: Object.fromEntries([0, 1, 2].map((index) => [`PCR${index}`, "00".repeat(48)])) }),
  "report.json": json({ format: "bootproof-report/1", verdict: "verified" }),
  "report.html": '<!doctype html>\n<script type="text/plain" id="bootproof-evidence">{}</script>\n',
  "error.html": "<!doctype html><title>502</title>",
  "error.json": json({ code: 7, message: "denied" }),
  "build.json": json({ mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json", verificationMaterial: {} }),
  "root.json": json({ mediaType: "application/vnd.dev.sigstore.trustedroot+json;version=0.1" }),
  "package.json": json({ name: "mine", version: "1.0.0", type: "module", dependencies: {} }),
  "package-lock.json": json({ name: "mine", lockfileVersion: 3, packages: {} }),
  "empty.json": "{}",
  "null.json": "null",
  "text.json": '"boot"',
  "list.json": "[]",
  "nothing.json": "",
  "cut.json": json(bootProof).slice(0, 500),
  "Folder1/file": "",
  "README.txt": "Read me first: this is a text of nobody.\n",
  ".env": "BOOTPROOF_BASE_URL=https://api.example.com\n",
  "utf16.json": Buffer.from("\ufeff{}", "utf16le"),
};

/** Words that the output has, words of the next step, and words that would lead astray. */
type Row = readonly [argv: string, says: string | readonly string[], next: string, never?: readonly string[]];

const NO_CONNECTION = "--base-url URL (or BOOTPROOF_BASE_URL) is required: the address of the service";
const TAKES_BOOT = "--boot-proof takes a boot proof: bootproof fetch --app NAME gets one from the service";
const A_POLICY = "--policy takes a policy: bootproof pin makes one";
const PINNED_BY = "bootproof pin makes one";
const NOT_PEM = ["a certificate", "--trust-anchor"];
const WATCH_LOG = "Expected the file that bootproof watch --log or bootproof audit --out writes.";
const TAKES_CERTIFICATE = "--trust-anchor takes a certificate: in PEM";
const TAKES_DOCUMENT = "--attestation takes a bare attestation document";
const SEE_VERIFY = "See bootproof verify --help.";

const IS_URL = "is a URL, and a file is expected";
const NO_KIND = "no kind of evidence has these members";
const MINE = 'JSON with "name"';

/** Each after the words that they have in common, which end where `FILE` stands. */
const UNDER: Readonly<Record<string, readonly Row[]>> = {
  "verify --boot-proof FILE --policy policy.json": [
    ["package.json", NO_KIND, TAKES_BOOT, ["REJECTED"]],
    ["empty.json", "an empty JSON object", TAKES_BOOT, ["REJECTED"]],
    ["null.json", "expected an object, got null", TAKES_BOOT],
    ["text.json", "expected an object, got a string", TAKES_BOOT],
    ["list.json", "the list of boot proofs is empty", "expected at least one"],
    ["README.txt", "README.txt: not strict JSON", TAKES_BOOT],
    [".env", ".env: not strict JSON", TAKES_BOOT],
    ["error.json", "an error from a service", "fetch the evidence again"],
    ["report.html", "this is a page with evidence", "bootproof verify report.html --policy FILE", ["a server's error"]],
    ["bundle.json", "appProofs, activity in it would not be verified", "bootproof verify bundle.json --policy FILE"],
    ["feed.jsonl", "this is a feed", "policy check FILE"],
    ["boots.jso", "boots.jso: no such file", "did you mean boots.json?"],
    ["gone/boot.json", "there is no folder ", "the current folder is "],
    [".", ".: is a directory", "name the files in it"],
    ["https://example.com/boot.json", IS_URL, "curl -fsSO https://example.com/boot.json"],
    ["https://example.com/boot.json?a=1&b=2", IS_URL, "curl -fsSO 'https://example.com/boot.json?a=1&b=2'"],
    ["file:///boot.json", IS_URL, "give a path", ["there is no folder", "curl"]],
  ],
  "verify --boot-proof boot.json --policy FILE": [
    ["pem-lines.json", "a line break in a string", "the line breaks of a PEM are \\n", NOT_PEM],
    ["typo.json", "deployment: unknown member", "did you mean deployments?"],
    ["README.txt", "README.txt: not strict JSON", A_POLICY],
    ["empty.json", "empty.json: an empty JSON object", A_POLICY],
    ["package.json", 'JSON with "name", "version"', A_POLICY],
    ["report.html", "this is a page with evidence", "bootproof verify report.html --policy FILE"],
    ["bundle.json", "this is a bundle", "bootproof verify bundle.json --policy FILE"],
    [
      "polcy.json",
      "polcy.json: no such file Correct the path: no polcy.json in the current folder ",
      "did you mean policy.json?",
    ],
    ["Policy.JSON", "no such file", "did you mean policy.json?"],
    ["https://example.com/policy.json", "is a URL", "download it (curl"],
    ["feed.jsonl", "this is a signed policy", "--policy-signers FILE names"],
    [
      "policy.json --policy-signers signers.json",
      "this policy is not signed",
      "leave out --policy-signers, or give the",
    ],
    [
      "feed.jsonl --policy-signers signers.json --policy-state -",
      "--policy-state -: a file is required",
      "See bootproof",
    ],
    ["policy.json --policy-state x", "--policy-state requires --policy-signers", "only a signed policy has a state"],
    ["http://example.com/x --policy-signers signers.json", "http:// is for this machine only", "use https://"],
    ["policy.json --format pdf", "--format pdf", "expected one of text, json"],
    ["policy.json --now yesterday", "--now yesterday", "such as 2026-03-04T05:06:07Z"],
  ],
  "verify --boot-proof boot.json --policy policy.json FILE": [
    ["--activity bundle.json", "It is a bundle", "give it alone: bootproof verify bundle.json --policy FILE"],
    [
      "--activity boot-bundle.json",
      "this is a bundle",
      "give it alone: bootproof verify boot-bundle.json --policy FILE",
    ],
    ["--app-proof package.json", NO_KIND, "--app-proof takes an app proof"],
    ["--activity package.json", NO_KIND, "--activity takes an activity: bootproof fetch --activity-id ID"],
    ["--image package.json", "package.json: not an enclave image file", "nitro-cli build-enclave makes one"],
    ["-policy x", "unknown option -policy", "did you mean --policy?"],
    ["--boot-prof boot.json", "unknown option --boot-prof", "did you mean --boot-proof?"],
  ],
  "verify --boot-proof boot.json FILE": [
    ["--no-policy --trust-anchor README.txt", "README.txt: text of an unknown format", TAKES_CERTIFICATE],
    ["--no-policy --trust-anchor private.pem", "a private key in PEM, which is a secret", TAKES_CERTIFICATE],
    ["--no-policy --policy-signers signers.json", "--policy-signers requires", "--policy"],
    ["--policy", "--policy: FILE is required after it", SEE_VERIFY],
    ["", "--policy FILE or --no-policy is required", "bootproof pin --boot-proof boot.json --out policy.json"],
    ["--no-policy --organization-id o --address 0xab app.json", "took app.json, a file", "give it before --address"],
  ],
  "verify FILE": [
    ["--attestation README.txt --policy policy.json", "text of an unknown format", TAKES_DOCUMENT, ["REJECTED"]],
    ["--attestation package.json --policy policy.json", MINE, TAKES_DOCUMENT, ["REJECTED"]],
    [
      "--boot-proof policy.json --policy boot.json",
      ["policy.json: this is a policy", "boot.json: this is a boot proof"],
      "--policy takes it",
    ],
    ["--policy policy.json", "--boot-proof FILE (or --attestation FILE) is required", SEE_VERIFY],
    ["--app signer --policy policy.json", NO_CONNECTION, SEE_VERIFY, ["--boot-proof FILE", "--attestation"]],
    ["--app signer --policy polcy.json", NO_CONNECTION, SEE_VERIFY],
    ["--activity-id a --organization-id o --policy policy.json", NO_CONNECTION, SEE_VERIFY, ["--boot-proof FILE"]],
    ["--boot-proof --policy policy.json", "took --policy, an option, as its value", "a shell variable may be unset"],
    ["boot.json aws-boot.json --policy policy.json", "a file without an option", "give it after --boot-proof"],
    ["--app boot.json --policy policy.json", "--app boot.json: a file", "expected the name of an application"],
  ],
  "policy FILE": [
    ["check bom.json", "bom.json has a fault", "save it without one", NOT_PEM],
    ["check comment.json", "comment.json has a fault", "JSON has no comments: remove it", NOT_PEM],
    ["check-releases package.json --no-manifest-set", "package.json: is not a folder", "of releases"],
    // Files of a signed policy, each in the place of another.
    ["check feed.jsonl", "this is a feed of signed policies", "--policy-signers FILE"],
    ["check version.json", "this is a signed policy", "bootproof policy review FILE"],
    ["review policy.json", "policy.json: this is a policy", "bootproof verify --policy takes it"],
    ["review feed.jsonl", "feed.jsonl: this is a feed of signed policies", "policy check"],
    ["to-sign signers.json", "these are the signers of a policy", "bootproof verify --policy-signers takes it"],
    ["review policy.state", "what a consumer of a signed policy remembers", "it is kept"],
    ["review README.txt", "text of an unknown format", "Expected a signed policy: bootproof policy sign makes one"],
    [
      "review version.json --feed package.json",
      MINE,
      "--feed takes a feed of signed policies: bootproof policy publish",
    ],
    ["check policy.json --policy-signers signers.json", "policy.json: this is a policy", "--policy takes it"],
    [
      "check policy.state --policy-signers signers.json",
      "what a consumer of a signed policy rem",
      "that consumer alone",
    ],
    ["check feed.jsonl --policy-signers version.json", "this is a signed policy", "bootproof policy review FILE"],
    [
      "sign policy.json --signers operators.json --valid 1d",
      'JSON with "threshold", "members"',
      '--signers takes the signers of a policy: JSON {"name", "threshold", "keys": ["PEM", …]}',
    ],
    [
      "sign policy.json --signers signers.json --valid 1d --key key.json",
      "private key: expected one PEM block PRIVATE",
      "openssl pkey",
      ["5f5f"],
    ],
  ],
  "pin FILE": [
    ["--boot-proof aws-boot.json --add-to package.json", MINE, PINNED_BY],
    ["--boot-proof package-lock.json", MINE, TAKES_BOOT, ["REJECTED"]],
    ["--pcrs operators.json", 'JSON with "threshold"', "--pcrs takes the PCRs of an image"],
    ["--release package.json --app signer", "signer: not in this release", "which has name"],
    ["--app signer", NO_CONNECTION, "See bootproof pin --help.", ["--release requires"]],
    ["", "--release PATH, --image FILE, --app NAME or --boot-proof FILE is required", "See bootproof pin --help."],
    ["--boot-proof aws-boot.json --max-age month", "--max-age month", "a duration such as 12h or 30d"],
  ],
  FILE: [
    ["addresses", "--policy FILE is required", "See bootproof addresses --help."],
    [
      "addresses --from bundle.json --organization-id o --policy policy.json",
      "not a folder",
      "one of bootproof addresses",
    ],
    ["addresses --policy policy.json --accept refused", "expected service, imported, exported", "with commas between"],
    ["bundle --boot-proof package-lock.json --policy policy.json", MINE, TAKES_BOOT],
    ["stamp --api-key-file package.json", MINE, "--api-key-file takes an API key file: bootproof key new makes one"],
    ["stamp --api-key-file kez.json", "kez.json: no such file", "did you mean key.json?"],
    ["inspect quorum-of-nobody.json", "no such file", "nor a name near it", ["did you mean"]],
    ["measure pcr.json", "pcr.json: no such file", "did you mean pcrs.json?"],
    ["measure --binary app.json --policy-signers signers.json", "--policy-signers requires", "--policy"],
    ["inspect http://example.com/boot.json", "is a URL", "download it (curl"],
    ["--policy policy.json verify boot.json", "unknown option --policy here", "such as bootproof verify --policy"],
    ["boot.json --policy policy.json", "boot.json: expected a command first", "bootproof verify boot.json"],
    ["verfy boot.json", "unknown command verfy", "did you mean verify?"],
    ["log verify boot.json", "boot.json: this is a boot proof", WATCH_LOG, ["BROKEN"]],
    ["log verify README.txt", "README.txt: text of an unknown format", WATCH_LOG, ["BROKEN"]],
    ["inspect Folder1/AndAnother2/OfManyLetters3", "no such file", "there is no folder", ["not shown"]],
    ["explain maxAg", "maxAg: not a check", "did you mean maxage"],
    ["explain --polcy", "--polcy: not a check", "did you mean --policy"],
  ],
};

/** Each ends with exit code 2. */
export const WRONG_USES = Object.entries(UNDER)
  .flatMap(([line, rows]) => rows.map(([words, ...row]): Row => [line.replace("FILE", words).trim(), ...row]))
  .map(([line, says, next, never = []]) => ({ line, says: [says, next].flat(), never }));

/** What people also try, and what answers. */
export const TRIED: readonly (readonly [argv: string, code: number, says: string])[] = [
  ["-v", 0, "0.1.0"],
  ["version", 0, "0.1.0"],
  ["--version", 0, "0.1.0"],
  ["verify boot.json --policy policy.json", 0, "VERIFIED"],
  ["verify boots.json --policy policy.json", 0, "VERIFIED"],
  ["explain maxAge", 0, "maxAge: the greatest age that a policy accepts"],
  ["explain PCR0", 0, "PCRs: measurements"],
  ["explain manifestSet", 0, "manifest set: "],
  ["explain repositoryId", 0, "repositoryId: a member of the policy file, in provenance"],
  ["explain --max-age", 0, "--max-age: an option of"],
];
