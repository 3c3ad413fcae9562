/** The mistakes of newcomers: what they type, and what has to help them on. */
import { readFileSync } from "node:fs";
import { toBase64 } from "../../src/bytes.js";
import { packEvidence } from "../../src/index.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { BOOT_1, vector } from "./support.js";

const lab = new Forge();
const forged = forgeEvidence({ lab, at: new Date("2026-03-04T05:06:07.000Z") });
const { bootProof, appProofs, activity, anchorPem, document } = forged;
const POLICY = labPolicy(anchorPem, [labDeployment(lab)]);
const json = (value: unknown): string => JSON.stringify(value, null, 2);
const asPolicy = json(POLICY);

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
  "README.txt": "Read me first: this is a text of nobody.\n",
  ".env": "BOOTPROOF_BASE_URL=https://api.example.com\n",
  "utf16.json": Buffer.from("\ufeff{}", "utf16le"),
};

export interface WrongUse {
  readonly what: string;
  readonly argv: readonly string[];
  readonly code: number;
  /** Words that the output has, and words of the next step. */
  readonly says: readonly string[];
  readonly next: string;
  /** Words that would lead astray. */
  readonly never?: readonly string[];
}

type Row = readonly [what: string, argv: string, code: number, says: string | string[], next: string, never?: string[]];

const BY_POLICY = "--boot-proof boot.json --policy";
const NO_CONNECTION = "--base-url URL (or BOOTPROOF_BASE_URL) is required: the address of the service";
const TAKES_BOOT = "--boot-proof takes a boot proof: bootproof fetch --app NAME gets one from the service";
const A_POLICY = "--policy takes a policy: bootproof pin makes one";
const PINNED_BY = "bootproof pin makes one";
const NOT_PEM = ["a certificate", "--trust-anchor"];
const SEE_VERIFY = "See bootproof verify --help.";

const ROWS: readonly Row[] = [
  // Addresses.
  ["a table without a policy", "addresses", 2, "--policy FILE is required", "See bootproof addresses --help."],
  [
    "a bundle as a folder of addresses",
    "addresses --from bundle.json --organization-id o --policy policy.json",
    2,
    "no index.json in it",
    "expected a folder of bootproof addresses --out",
  ],
  [
    "a class that is never fine",
    "addresses --policy policy.json --accept refused",
    2,
    "--accept refused: expected service, imported, exported",
    "with commas between",
  ],
  // Policies with a fault.
  [
    "a policy with a mark",
    `verify ${BY_POLICY} bom.json`,
    2,
    "bom.json: not strict JSON: starts with a byte order mark",
    "save it without one",
    NOT_PEM,
  ],
  ["the same, checked", "policy check bom.json", 2, "bom.json has a fault", "save it without one", NOT_PEM],
  [
    "a policy with a comment",
    `verify ${BY_POLICY} comment.json`,
    2,
    "comment.json: not strict JSON",
    "JSON has no comments: remove it",
    NOT_PEM,
  ],
  [
    "the same, checked",
    "policy check comment.json",
    2,
    "comment.json has a fault",
    "JSON has no comments: remove it",
    NOT_PEM,
  ],
  [
    "a comment inside",
    `verify ${BY_POLICY} comment-inside.json`,
    2,
    "(line ",
    'a policy may have "comment": "…" in any object',
    NOT_PEM,
  ],
  [
    "a comma at the end",
    `verify ${BY_POLICY} comma.json`,
    2,
    "comma.json: not strict JSON",
    "remove the comma before it",
  ],
  [
    "a PEM with line breaks inside",
    `verify ${BY_POLICY} pem-lines.json`,
    2,
    "a control character in a string",
    "write line breaks as \\n, also those of PEM",
    NOT_PEM,
  ],
  [
    "a member with a typo",
    `verify ${BY_POLICY} typo.json`,
    2,
    "deployment: unknown member",
    "did you mean deployments?",
  ],
  ["a policy in YAML", `verify ${BY_POLICY} policy.yaml`, 2, "this looks like YAML", "yq -o json"],
  ["a policy that is a text", `verify ${BY_POLICY} README.txt`, 2, "README.txt: not strict JSON", A_POLICY],
  ["a policy that is {}", `verify ${BY_POLICY} empty.json`, 2, "empty.json: an empty JSON object", A_POLICY],
  ["a policy that is a package.json", `verify ${BY_POLICY} package.json`, 2, 'JSON with "name", "version"', A_POLICY],
  [
    "a policy that is empty",
    `verify ${BY_POLICY} nothing.json`,
    2,
    "nothing.json: empty",
    "the program that wrote it may have failed",
  ],
  [
    "the policy of another root",
    "verify --boot-proof aws-boot.json --policy policy.json",
    1,
    "this policy trusts only C=US, O=bootproof",
    "wrong policy",
  ],
  [
    "a policy of --add-to that is none",
    "pin --boot-proof aws-boot.json --add-to package.json",
    2,
    'JSON with "name"',
    PINNED_BY,
  ],

  // Files of another kind.
  [
    "a package.json",
    "verify --boot-proof package.json --policy policy.json",
    2,
    "no kind of evidence has these members",
    TAKES_BOOT,
    ["REJECTED"],
  ],
  ["{}", "verify --boot-proof empty.json --policy policy.json", 2, "an empty JSON object", TAKES_BOOT, ["REJECTED"]],
  ["null", "verify --boot-proof null.json --policy policy.json", 2, "expected an object, got null", TAKES_BOOT],
  ["a string", "verify --boot-proof text.json --policy policy.json", 2, "expected an object, got a string", TAKES_BOOT],
  [
    "a lock file, bundled",
    "bundle --boot-proof package-lock.json --policy policy.json",
    2,
    'JSON with "name"',
    TAKES_BOOT,
  ],
  ["a lock file, pinned", "pin --boot-proof package-lock.json", 2, 'JSON with "name"', TAKES_BOOT, ["REJECTED"]],
  [
    "an empty list",
    "verify --boot-proof list.json --policy policy.json",
    2,
    "the list of boot proofs is empty",
    "expected at least one",
  ],
  ["a text", "verify --boot-proof README.txt --policy policy.json", 2, "README.txt: not strict JSON", TAKES_BOOT],
  ["an .env", "verify --boot-proof .env --policy policy.json", 2, ".env: not strict JSON", TAKES_BOOT],
  [
    "a file that was cut",
    "verify --boot-proof cut.json --policy policy.json",
    2,
    "a string does not end",
    "the file is truncated: write or fetch it again",
  ],
  ["a file of PowerShell", "verify --boot-proof utf16.json --policy policy.json", 2, "UTF-16 text", "save it as UTF-8"],
  [
    "an error page",
    "verify --boot-proof error.html --policy policy.json",
    2,
    "an HTML or XML page without evidence",
    "fetch again (curl --fail)",
  ],
  [
    "an error of the service",
    "verify --boot-proof error.json --policy policy.json",
    2,
    "an error from a service",
    "fetch the evidence again",
  ],
  [
    "a page of ours",
    "verify --boot-proof report.html --policy policy.json",
    2,
    "this is a page with evidence",
    "bootproof verify report.html --policy FILE",
    ["a server's error"],
  ],
  [
    "a page of ours as a policy",
    `verify ${BY_POLICY} report.html`,
    2,
    "this is a page with evidence",
    "bootproof verify report.html --policy FILE",
  ],
  [
    "a report",
    "verify --boot-proof report.json --policy policy.json",
    2,
    "a report, which proves nothing",
    "verify the evidence itself",
  ],
  [
    "an app proof",
    "verify --boot-proof app.json --policy policy.json",
    2,
    "this is an app proof",
    "--app-proof takes it",
  ],
  [
    "an activity",
    "verify --boot-proof activity.json --policy policy.json",
    2,
    "this is an activity",
    "--activity takes it",
  ],
  ["a policy", "verify --boot-proof policy.json --policy policy.json", 2, "this is a policy", "--policy takes it"],
  [
    "a certificate",
    "verify --boot-proof anchor.pem --policy policy.json",
    2,
    "this is a certificate",
    "--trust-anchor takes it",
  ],
  [
    "a key",
    "verify --boot-proof key.json --policy policy.json",
    2,
    "this is an API key file",
    "--api-key-file takes it",
    ["5f5f"],
  ],
  [
    "a manifest",
    "verify --boot-proof manifest.bin --policy policy.json",
    2,
    "this is a manifest",
    "give the boot proof that contains it",
  ],
  [
    "a release",
    "verify --boot-proof release.yaml --policy policy.json",
    2,
    "this is a published release",
    "bootproof pin --release takes it",
  ],
  [
    "a bundle of everything",
    "verify --boot-proof bundle.json --policy policy.json",
    2,
    "appProofs, activity in it would not be verified",
    "bootproof verify bundle.json --policy FILE",
  ],
  [
    "a bundle as an activity",
    "verify --boot-proof boot.json --activity bundle.json --policy policy.json",
    2,
    "It is a bundle",
    "give it alone: bootproof verify bundle.json --policy FILE",
  ],
  [
    "a bundle without one as an activity",
    "verify --boot-proof boot.json --activity boot-bundle.json --policy policy.json",
    2,
    "this is a bundle",
    "give it alone: bootproof verify boot-bundle.json --policy FILE",
  ],
  [
    "a bundle as a policy",
    `verify ${BY_POLICY} bundle.json`,
    2,
    "this is a bundle",
    "bootproof verify bundle.json --policy FILE",
  ],
  [
    "a boot proof as app proofs",
    "verify --boot-proof boot.json --app-proof boot.json --policy policy.json",
    2,
    "this is a boot proof",
    "--boot-proof takes it",
  ],
  [
    "a package.json as app proofs",
    "verify --boot-proof boot.json --app-proof package.json --policy policy.json",
    2,
    "no kind of evidence has these members",
    "--app-proof takes an app proof",
  ],
  [
    "a package.json as an activity",
    "verify --boot-proof boot.json --activity package.json --policy policy.json",
    2,
    "no kind of evidence has these members",
    "--activity takes an activity: bootproof fetch --activity-id ID",
  ],
  [
    "a boot proof as a document",
    "verify --attestation boot.json --policy policy.json",
    2,
    "this is a boot proof",
    "--boot-proof takes it",
  ],
  [
    "a text as a document",
    "verify --attestation README.txt --policy policy.json",
    2,
    "text of an unknown format",
    "--attestation takes a bare attestation document",
    ["REJECTED"],
  ],
  [
    "JSON as a document",
    "verify --attestation package.json --policy policy.json",
    2,
    'JSON with "name"',
    "--attestation takes a bare attestation document",
    ["REJECTED"],
  ],
  [
    "a document as a boot proof",
    "verify --boot-proof document.cbor --policy policy.json",
    2,
    "a bare attestation document",
    "--attestation takes it",
  ],
  [
    "the same in base64",
    "verify --boot-proof document.txt --policy policy.json",
    2,
    "a bare attestation document",
    "--attestation takes it",
  ],
  [
    "a text as a trust anchor",
    "verify --boot-proof boot.json --no-policy --trust-anchor README.txt",
    2,
    "README.txt: text of an unknown format",
    "--trust-anchor takes a certificate: in PEM",
  ],
  [
    "a key as a trust anchor",
    "verify --boot-proof boot.json --no-policy --trust-anchor private.pem",
    2,
    "a private key in PEM, which is a secret",
    "--trust-anchor takes a certificate: in PEM",
  ],
  [
    "a policy as a request",
    "verify --boot-proof boot.json --activity activity.json --request policy.json --policy policy.json",
    2,
    "this is a policy",
    "--policy takes it",
  ],
  [
    "an image that is none",
    "verify --boot-proof boot.json --image package.json --policy policy.json",
    2,
    "package.json: not an enclave image file",
    "nitro-cli build-enclave makes one",
  ],
  ["a set as PCRs", "pin --pcrs operators.json", 2, 'JSON with "threshold"', "--pcrs takes the PCRs of an image"],
  [
    "a package.json as a release",
    "pin --release package.json --app signer",
    2,
    "signer: not in this release",
    "which has name",
  ],
  [
    "a file as a folder of releases",
    "release check package.json --no-manifest-set",
    2,
    "package.json: is not a folder",
    "of releases",
  ],
  [
    "files in the wrong order",
    "verify --boot-proof policy.json --policy boot.json",
    2,
    ["policy.json: this is a policy", "boot.json: this is a boot proof"],
    "--policy takes it",
  ],

  // Files that are not there.
  [
    "a name with a typo",
    `verify ${BY_POLICY} polcy.json`,
    2,
    ["polcy.json: no such file", "No polcy.json in the current folder "],
    "did you mean policy.json?",
  ],
  ["a name in other letters", `verify ${BY_POLICY} Policy.JSON`, 2, "no such file", "did you mean policy.json?"],
  [
    "a name near several",
    "verify --boot-proof boots.jso --policy policy.json",
    2,
    "boots.jso: no such file",
    "did you mean boots.json?",
  ],
  ["a name near none", "inspect quorum-of-nobody.json", 2, "no such file", "nor a name near it", ["did you mean"]],
  [
    "a folder that is not there",
    "verify --boot-proof gone/boot.json --policy policy.json",
    2,
    "There is no folder ",
    "The current folder is ",
  ],
  ["an image that is not there", "measure pcr.json", 2, "pcr.json: no such file", "did you mean pcrs.json?"],
  ["a folder", "verify --boot-proof . --policy policy.json", 2, ".: is a directory", "name the files in it"],
  [
    "a URL",
    "verify --boot-proof https://example.com/boot.json --policy policy.json",
    2,
    "is a URL, and a file is expected",
    "curl -fsSO https://example.com/boot.json",
  ],
  ["a URL as a policy", `verify ${BY_POLICY} https://example.com/policy.json`, 2, "is a URL", "download it (curl"],
  ["a URL to inspect", "inspect http://example.com/boot.json", 2, "is a URL", "download it (curl"],

  // Command lines.
  [
    "no policy",
    "verify --boot-proof boot.json",
    2,
    "--policy FILE or --no-policy is required",
    "bootproof pin --boot-proof boot.json --out policy.json",
  ],
  [
    "no evidence",
    "verify --policy policy.json",
    2,
    "--boot-proof FILE (or --attestation FILE) is required",
    SEE_VERIFY,
  ],
  [
    "no connection",
    "verify --app signer --policy policy.json",
    2,
    NO_CONNECTION,
    SEE_VERIFY,
    ["--boot-proof FILE", "--attestation"],
  ],
  [
    "no connection, and a policy that is not there",
    "verify --app signer --policy polcy.json",
    2,
    NO_CONNECTION,
    SEE_VERIFY,
  ],
  [
    "no connection for an activity",
    "verify --activity-id a --organization-id o --policy policy.json",
    2,
    NO_CONNECTION,
    SEE_VERIFY,
    ["--boot-proof FILE"],
  ],
  ["no connection to pin", "pin --app signer", 2, NO_CONNECTION, "See bootproof pin --help.", ["--release requires"]],
  [
    "no source to pin",
    "pin",
    2,
    "--release PATH, --image FILE, --app NAME or --boot-proof FILE is required",
    "See bootproof pin --help.",
  ],
  ["a value that is missing", `verify ${BY_POLICY}`, 2, "--policy: FILE is required after it", SEE_VERIFY],
  [
    "a variable that is not set",
    "verify --boot-proof --policy policy.json",
    2,
    "--boot-proof: took --policy, an option, as its value",
    "a shell variable may be unset",
  ],
  [
    "an option with a typo",
    "verify --boot-prof boot.json --policy policy.json",
    2,
    "unknown option --boot-prof",
    "did you mean --boot-proof?",
  ],
  [
    "an option with one dash",
    "verify -policy policy.json boot.json",
    2,
    "unknown option -policy",
    "did you mean --policy?",
  ],
  [
    "an option before the command",
    "--policy policy.json verify boot.json",
    2,
    "unknown option --policy here",
    "a command comes first, such as bootproof verify --policy",
  ],
  [
    "a file before the command",
    "boot.json --policy policy.json",
    2,
    "boot.json: expected a command first",
    "bootproof verify boot.json",
  ],
  ["a command with a typo", "verfy boot.json", 2, "unknown command verfy", "did you mean verify?"],
  [
    "two boot proofs without an option",
    "verify boot.json aws-boot.json --policy policy.json",
    2,
    "a file without an option",
    "give it after --boot-proof",
  ],
  [
    "a file as an application",
    "verify --app boot.json --policy policy.json",
    2,
    "--app boot.json: a file",
    "expected the name of an application",
  ],
  [
    "a file among addresses",
    "verify --boot-proof boot.json --no-policy --organization-id o --address 0xab app.json",
    2,
    "took app.json, a file",
    "give it before --address",
  ],
  ["another format", `verify ${BY_POLICY} policy.json --format pdf`, 2, "--format pdf", "expected one of text, json"],
  [
    "a time in words",
    `verify ${BY_POLICY} policy.json --now yesterday`,
    2,
    "--now yesterday",
    "such as 2026-03-04T05:06:07Z",
  ],
  [
    "an age in words",
    "pin --boot-proof aws-boot.json --max-age month",
    2,
    "--max-age month",
    "a duration such as 12h or 30d",
  ],
  ["a word to explain with a typo", "explain maxAg", 2, "maxAg: not a check", "did you mean maxage"],
  ["an option to explain with a typo", "explain --polcy", 2, "--polcy: not a check", "did you mean --policy"],
];

/** The right side of each row is one line, so that the table is read as a table. */
export const WRONG_USES: readonly WrongUse[] = ROWS.map(([what, argv, code, says, next, never = []]) => ({
  what,
  argv: argv.split(" "),
  code,
  says: [says].flat(),
  next,
  never,
}));

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
  ["explain --max-age", 0, "--max-age: an option of"],
];
