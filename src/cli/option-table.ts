/**
 * The table of every option of every command. commander's options, the types of flags and lists of options come from
 * here.
 */
import { type Command, Option } from "commander";
import { REPORT_FORMATS } from "../report/report.js";
import { COMMITMENT_KINDS } from "../verify/commitment.js";

/**
 * The word for the value in the help, which `completion.ts` completes. It ends with dots for a list, with + if the
 * option may be repeated, and with ? if the value is optional. Null means that the option is a switch.
 */
type Value = string | null;

/**
 * For each option, its value, and whether it loosens or tightens what is accepted (cli/README.md, "What loosens and
 * what demands").
 */
export const OPTIONS = {
  accept: ["member...", "loosens"],
  activity: ["file", "neither"],
  "activity-id": ["id", "demands"],
  "add-to": ["policy", "neither"],
  "any-organization": [null, "loosens"],
  "any-user": [null, "loosens"],
  address: ["address...", "demands"],
  after: ["file", "loosens"],
  all: [null, "neither"],
  "all-activities": [null, "demands"],
  "allow-debug": [null, "loosens"],
  "allow-unproven": [null, "loosens"],
  "api-key": ["hex", "neither"],
  "api-key-file": ["file", "neither"],
  "api-private-key": ["hex", "neither"],
  "api-public-key": ["hex", "neither"],
  app: ["name...", "demands"],
  "app-proof": ["file...", "neither"],
  "app-proof-type": ["type...", "demands"],
  at: ["when", "loosens"],
  attestation: ["file", "neither"],
  "base-url": ["url", "neither"],
  binary: ["file", "demands"],
  "boot-proof": ["file...", "neither"],
  "bundle-policy": [null, "loosens"],
  challenge: ["payload...", "demands"],
  checkpoint: ["file", "demands"],
  "checkpoint-key": ["file", "neither"],
  commitment: ["kind", "loosens"],
  crl: ["file...", "demands"],
  data: ["folder", "neither"],
  "deployment-id": ["id", "demands"],
  digest: [null, "neither"],
  drop: ["demand...", "loosens"],
  "ear-alg": ["algorithm", "neither"],
  "ear-key": ["file", "neither"],
  "entry-timeout": ["duration", "neither"],
  "ephemeral-key": ["hex", "demands"],
  expect: ["file", "demands"],
  expected: ["file", "demands"],
  "fail-fast": [null, "neither"],
  "fail-on-warning": [null, "demands"],
  fault: ["fault...", "neither"],
  feed: ["file", "neither"],
  force: [null, "neither"],
  format: ["format", "neither"],
  from: ["folder", "neither"],
  "github-release": [null, "demands"],
  head: ["hex", "demands"],
  heartbeat: ["duration", "neither"],
  "health-file": ["file", "neither"],
  image: ["file", "demands"],
  "instance-id": ["id", "demands"],
  interval: ["duration", "neither"],
  key: ["file+", "demands"],
  kind: ["token-kind", "demands"],
  limit: ["number", "neither"],
  "list-faults": [null, "neither"],
  log: ["file", "neither"],
  "log-format": ["format", "neither"],
  "manifest-set": ["file", "demands"],
  "manifest-version": ["version", "neither"],
  metrics: ["listen", "neither"],
  "max-accounts": ["number", "neither"],
  "max-age": ["duration", "demands"],
  "max-gap": ["duration", "demands"],
  "max-silence": ["duration", "neither"],
  name: ["name", "neither"],
  namespace: ["name", "demands"],
  "no-manifest-set": [null, "loosens"],
  "no-policy": [null, "loosens"],
  "no-private-keys": [null, "loosens"],
  nonce: ["hex", "demands"],
  now: ["time", "loosens"],
  "on-outage": ["command", "neither"],
  "on-refusal": ["command", "neither"],
  once: [null, "neither"],
  "only-failures": [null, "neither"],
  "organization-id": ["id", "demands"],
  origin: ["name", "demands"],
  out: ["file", "neither"],
  "outage-after": ["number", "neither"],
  "outage-repeat": ["duration", "neither"],
  "parent-organization-id": ["id", "neither"],
  partial: [null, "loosens"],
  payload: ["payload...", "demands"],
  pcrs: ["file", "demands"],
  policy: ["file", "demands"],
  "policy-signers": ["file", "demands"],
  "policy-state": ["file", "demands"],
  "policy-refresh": ["duration", "neither"],
  port: ["number", "neither"],
  provenance: ["file...", "neither"],
  previous: ["file", "loosens"],
  "private-key": ["hex", "neither"],
  "public-key": ["file", "neither"],
  queue: ["url", "neither"],
  "queue-ca": ["file", "neither"],
  "queue-cert": ["file", "neither"],
  "queue-key": ["file", "neither"],
  "queue-prefix": ["name", "neither"],
  "queue-secret-file": ["file", "neither"],
  quiet: [null, "neither"],
  "quorum-key": ["hex", "demands"],
  release: ["file", "neither"],
  repository: ["url", "demands"],
  request: ["file", "demands"],
  "role-arn": ["arn", "demands"],
  signature: ["file", "neither"],
  "signer-key": ["hex", "demands"],
  "signed-message": ["file", "neither"],
  signers: ["file", "demands"],
  "skip-unapproved": [null, "loosens"],
  resume: [null, "neither"],
  suborgs: [null, "demands"],
  summary: [null, "neither"],
  tenant: ["name", "demands"],
  timeout: ["seconds", "neither"],
  title: ["text", "neither"],
  tolerance: ["duration", "loosens"],
  "trust-anchor": ["file", "loosens"],
  "trusted-root": ["file", "demands"],
  type: ["key-type", "neither"],
  upstream: ["url", "neither"],
  "user-id": ["id", "demands"],
  "verify-addresses": [null, "demands"],
  valid: ["duration", "neither"],
  verbose: [null, "neither"],
  wallet: ["id", "loosens"],
  whole: [null, "demands"],
  workers: ["number", "neither"],
  yes: [null, "neither"],
} as const satisfies Readonly<Record<string, readonly [value: Value, effect: "loosens" | "demands" | "neither"]>>;

export type OptionName = keyof typeof OPTIONS;

/**
 * An option of a command. If `help` is null, it is not shown. `value` is given only if it differs from that in
 * `OPTIONS`.
 */
type Row = readonly [name: OptionName, help: string | null, value?: Value];

/** Options that would put a key on the command line. They exist only to be refused with the reason. */
const KEY = [
  ["api-key", null],
  ["api-private-key", null],
  ["api-public-key", null],
  ["private-key", null],
  ["api-key-file", 'an API key: {"publicKey": "<hex>", "privateKey": "<hex>"} (see bootproof key new)'],
] as const;

export const DEFAULT_TIMEOUT_SECONDS = 20;
export const DEFAULT_KEY_FILE = "bootproof-api-key.json";

const TIMEOUT = [
  "timeout",
  `the longest time that one response may take (default: ${DEFAULT_TIMEOUT_SECONDS})`,
] as const;
const CONNECTION = [
  ["base-url", "the service: https://…, without /public/v1"],
  ["organization-id", "the organization that requests and evidence belong to"],
  ...KEY,
  TIMEOUT,
] as const;

const FORCE = ["force", "with --out: replace an existing file"] as const;
const TEXT_OR_JSON = ["format", "text or json (default: text)"] as const;
/** An option of commands that run for a long time. */
const LOG_FORMAT = ["log-format", "text or json: messages on stderr as lines of JSON (default: text)"] as const;
const HEALTH = [
  ["health-file", "rewrite this file every 10 seconds, as a sign of life, and after each success, whose time is in it"],
  ["metrics", "serve /metrics, /healthz and /readyz at HOST:PORT; without HOST, only this machine can connect"],
  LOG_FORMAT,
] as const;
const POLICY = ["policy", "the policy that pins what is expected (see bootproof pin)"] as const;
/** Options for a signed policy, beside `--policy`. */
const SIGNED_POLICY = [
  [
    "policy-signers",
    "--policy is a feed of signed policies, or one of them, as a file or at https://…: the keys that sign it",
  ],
  ["policy-state", "with --policy-signers: keep the newest accepted version in this file; older ones are then refused"],
] as const;
const MAX_AGE = [
  "max-age",
  "the greatest age of a boot proof, such as 30d; a smaller maxAge of the policy counts",
] as const;
const NO_POLICY = ["no-policy", 'accept any genuine enclave, no matter whose: "authentic" at best'] as const;
const ALLOW_DEBUG = ["allow-debug", "accept debug mode with a warning: it proves nothing about the code"] as const;
const TRUST_ANCHOR = [
  "trust-anchor",
  "without a policy of your own: a PEM certificate that replaces the AWS Nitro root",
] as const;
const NOW = [
  "now",
  "RFC 3339: the current time, from which ages are counted, for repeatable runs (default: the clock)",
] as const;
const ACTIVITY = ["activity", 'an activity with its app proofs: JSON, bare or as {"activity": …}'] as const;
const PROVENANCE = ["provenance", "Sigstore bundles of the builds that the policy demands, or JSON Lines"] as const;

/** Options for both sides of a queue. */
const QUEUE = [
  ["queue-prefix", "the prefix of the queue's keys, the same on both sides (default: bootproof)"],
  ["queue-secret-file", "32 random bytes in hex or base64, the same on both sides (default: BOOTPROOF_QUEUE_SECRET)"],
  ["queue-ca", "for rediss://: the certificate authorities of the server, PEM"],
  ["queue-cert", "for rediss://: the certificate of this client, PEM"],
  ["queue-key", "for rediss://: the private key of --queue-cert, PEM"],
] as const;

/** The two forms of a place for reports. */
const REPORTED = "a shell command, which gets the entry on stdin, or a URL (http, https), to which it is posted";
const FEED = ["feed", "the feed that ends with the version before; version 1 has none"] as const;
const SIGN = [
  ["key", "the private key that signs (see bootproof key new --type); without it, the result is a draft", "file"],
  ["valid", "how long the version is valid, such as 14d, at most 400d"],
  FEED,
  ["out", "write the envelope to this file, as a whole or not at all (default: stdout)"],
] as const;

/** The kinds of `token`. */
export const TOKEN_KINDS = ["session", "otp", "import", "export", "otp-target"] as const;

/** Names the sources of `pin` that come without evidence. */
const WITHOUT_EVIDENCE = "with --release, --image, --pcrs or --binary";

/** The options of each command, in the order of its help. */
export const COMMAND_OPTIONS = {
  // In the order of the topics of the help (`verify-help.ts`).
  verify: [
    ["boot-proof", 'boot proofs as JSON: one boot proof or {"bootProof": …}, an array, or {"bootProofs": […]}'],
    ["app-proof", 'app proofs as JSON: one, an array, or {"appProofs": […]}; the key of each selects its boot proof'],
    ACTIVITY,
    ["app", "instead of --boot-proof: fetch the newest boot proof of each application from the service"],
    POLICY,
    NO_POLICY,
    MAX_AGE,
    ["format", `${REPORT_FORMATS.join(", ")} (default: text)`, "report-format"],
    ["verbose", "every check of all evidence, and every hash in full"],
    ["quiet", "write no text: a report of --format or --out is written, and a failure is on stderr"],
    ["image", "the enclave image that was built: each boot proof must attest its PCRs"],
    ["ephemeral-key", "the expected key: each boot proof must attest it; without a boot proof, one is fetched"],
    ["activity-id", "the expected activity: it is fetched with its evidence, or must be in the file of --activity"],
    ["nonce", "the expected nonce: each document must carry it"],
    ["request", "the request as it was submitted, JSON: the activity must be its result"],
    ["signer-key", "with --request: the public key of its signWith, where that address is a hash (Sui, Aptos)"],
    ["address", "expected addresses: each must be in an app proof"],
    ["payload", "a value that app proofs must have: TYPE:/pointer=JSON, such as 'ORDER:/order/id=\"42\"'"],
    ["challenge", "a random value that you sent, in the same form: it shows that the app proof was made afterwards"],
    ...SIGNED_POLICY,
    ["attestation", "instead of --boot-proof: a bare attestation document, binary, base64 or hex"],
    ["signed-message", "bytes that an application signed and that are no app proof: the raw bytes, not hex"],
    ["signature", "with --signed-message: the signature over SHA-256 of the bytes, r and s or DER", "hex"],
    ["public-key", "with --signed-message: the key that signed (default: the one that the boot proof attests)", "hex"],
    ["expect", "with --signed-message: the bytes that you expect; without it, a warning says that nobody compared"],
    ["bundle-policy", 'with a bundle: use the policy that its maker chose ("authentic" at best)'],
    ...CONNECTION,
    ["out", "write the report to this file, as a whole or not at all; an existing file is replaced"],
    ["title", "with --format html: what the page is about, such as the name of the service"],
    ["ear-key", "with --format ear: the private key that signs it, a JWK or PEM"],
    ["ear-alg", "with --ear-key: the algorithm (default: the JWK's, or that of its kind; EdDSA for any Ed25519 key)"],
    ["summary", "write one screen of text: the verdict, what weakens it, and the first failures"],
    ["fail-on-warning", "exit with code 1 if anything weakens a good verdict (a warning in the report)"],
    PROVENANCE,
    ["crl", "revocation lists in DER, or folders of them, judged at the present: a certificate in one is refused"],
    ["at", "the time at which certificates must be valid: document, now, or an RFC 3339 time (default: document)"],
    NOW,
    ALLOW_DEBUG,
    TRUST_ANCHOR,
  ],
  audit: [
    POLICY,
    ...SIGNED_POLICY,
    NO_POLICY,
    MAX_AGE,
    ["boot-proof", "boot proofs for app proofs and activities that come without a boot proof"],
    PROVENANCE,
    ["expected", "expectations: a line of JSON for each entry, which names the entry by the SHA-256 of its line"],
    ["out", "write the results to this file instead of stdout"],
    ["resume", "with --out: go on behind the results that this file has; what has one is compared, not verified again"],
    ["whole", "with --out: the exit code of all results in the file, and not only of those that no run has reported"],
    ["workers", "threads that verify (default: one for each core, at most 16)"],
    ["queue", "let bootproof worker verify elsewhere: redis://HOST:PORT (default: BOOTPROOF_QUEUE_URL)", "url?"],
    ...QUEUE,
    ["entry-timeout", "the longest time for one entry, such as 10s (default: 60s); a slower entry is not judged"],
    ["only-failures", "write only the lines of entries that are not accepted"],
    ["fail-fast", "stop at the first entry that is not accepted"],
    ["at", "the time at which certificates must be valid: document, now, or an RFC 3339 time"],
    NOW,
    ALLOW_DEBUG,
    ["fail-on-warning", "accept no entry if anything weakens its good verdict (a warning in its report)"],
    TRUST_ANCHOR,
    ...HEALTH,
  ],
  worker: [
    [
      "queue",
      "the queue: redis://HOST:PORT/DATABASE, or rediss:// for TLS; redis+cluster://, redis+sentinel:// or unix:// " +
        "(default: the URL in BOOTPROOF_QUEUE_URL; put USER:PASSWORD@ only there)",
    ],
    ...QUEUE,
    POLICY,
    ...SIGNED_POLICY,
    ["no-policy", "serve audits without a policy"],
    TRUST_ANCHOR,
    ["workers", "threads that verify (default: one for each core, at most 16)"],
    ...HEALTH,
  ],
  fetch: [
    ["ephemeral-key", "the boot proof that attests this key"],
    ["app", "the newest boot proof of this application", "name"],
    ["deployment-id", "the provisioning details of this deployment, which holders of shares review"],
    ["activity-id", "this activity, its app proofs, and the boot proof of each key that they name"],
    ["activity", 'fetch app proofs and boot proofs for the activity in this file: JSON, bare or {"activity": …}'],
    ["out", "write to this file; with --activity-id and --activity also a folder, which must be new or empty"],
    FORCE,
    ...CONNECTION,
  ],
  bundle: [
    ["boot-proof", 'boot proofs as JSON: bare or {"bootProof": …}, or a bundle with boot proofs only'],
    ["app-proof", 'app proofs as JSON: one, an array, or {"appProofs": […]}'],
    ACTIVITY,
    PROVENANCE,
    POLICY,
    ...SIGNED_POLICY,
    ["no-policy", "pack authentic evidence of any enclave, and no policy"],
    ["organization-id", "the organization that the evidence must belong to; it is not packed"],
    ["payload", "a value that app proofs must have: TYPE:/pointer=JSON; it is not packed"],
    ["challenge", "a random value that you sent, in the same form; it is not packed"],
    ["nonce", "the expected nonce; it is not packed"],
    NOW,
    ["out", "write the bundle to this file, as a whole or not at all"],
    FORCE,
  ],
  page: [],
  addresses: [
    POLICY,
    ...SIGNED_POLICY,
    PROVENANCE,
    [
      "accept",
      "classes that are fine beside derived, with commas between: exported, imported, service, unplaced",
      "class",
    ],
    ["fail-on-warning", "refuse each proof if anything weakens its good verdict (a warning in the report)"],
    ["all-activities", "read all activities, and not only those of the types that are known"],
    ["wallet", "only the addresses of this wallet"],
    ["address", "only these addresses; one that is not listed is exit code 1"],
    ["no-private-keys", "leave out the addresses of private keys"],
    ["suborgs", "also every sub-organization; says first how many requests that takes, and asks"],
    ["yes", "with --suborgs: do not ask"],
    ["limit", "with --suborgs: the greatest number of sub-organizations (default: 1000)"],
    ["parent-organization-id", "of a sub-organization: its parent, whose activities may have made its wallets"],
    ["max-accounts", "the greatest number of items of a list (default: 1000000)"],
    ["out", "keep the evidence in this folder, which must be new, empty, or left by the same command", "folder"],
    ["from", "read the evidence from this folder of --out, without a network"],
    ["all", "text and html: every row (default: at most 20 of a class)"],
    ["format", "text, json, ndjson, csv, junit or html (default: text)", "table-format"],
    ...CONNECTION,
  ],
  token: [
    ["kind", `what it is: ${TOKEN_KINDS.join(", ")} (default: session)`],
    POLICY,
    ...SIGNED_POLICY,
    ["organization-id", "the organization that it has to be of"],
    ["any-organization", "accept every organization"],
    ["user-id", "the user that it has to be of; an import bundle needs it"],
    ["any-user", "accept an import bundle of every user"],
    ["public-key", "the key that it has to name, in hex, such as that of the request's stamp", "hex"],
    ["namespace", "the namespace whose quorum key signs (default: that of the kind, such as prod/notarizer)"],
    ["tolerance", "how long a token is accepted after it expired, such as 30s, for clocks that differ (default: 0s)"],
    NOW,
    TEXT_OR_JSON,
  ],
  demo: [["out", "the folder for its files, which must be new or empty (default: a temporary folder)", "folder"]],
  watch: [
    ["app", "applications, each by its newest boot proof"],
    ["ephemeral-key", "keys, each by its boot proof; may be used with or without --app", "hex..."],
    POLICY,
    ...SIGNED_POLICY,
    ["policy-refresh", "with --policy-signers: the time between two fetches of the feed: 1s to 1d (default: 5m)"],
    MAX_AGE,
    PROVENANCE,
    ["interval", "the time between two polls: 1s to 1d (default: 60s)"],
    ["log", "append the entries to this file (see bootproof log verify)"],
    ["heartbeat", "with --log: the time between two entries that count the polls: 1s to 7d (default: 1h)"],
    ["after", "with --log, for a new file: the file before it, whose chain the new one goes on with"],
    ["checkpoint", "with --log: keep a signed note of its newest entry in this file, for others to copy"],
    ["checkpoint-key", "with --log: the Ed25519 key (PEM) that signs checkpoints"],
    ["origin", "the name of the log in checkpoints (default: bootproof-log/ and the name of the file)"],
    ["on-refusal", `where each rejected boot proof is reported: ${REPORTED}`],
    ["on-outage", `where the begin and the end of an outage are reported: ${REPORTED}`],
    ["outage-after", "an outage is recorded, and delivered, if it lasts longer than this many polls (default: 5)"],
    ["outage-repeat", "the time between two messages about one outage on stderr: 1m to 7d (default: 1h)"],
    ["max-silence", "exit with code 3 when a name had no good poll for that long, up to 7d (default: no limit)"],
    ["fail-on-warning", "refuse a boot proof if anything weakens its good verdict (a warning in its report)"],
    ["once", "poll once, and exit"],
    ["format", "text or json: one line for each entry; in JSON it is the line of the log (default: text)"],
    ...HEALTH,
    ...CONNECTION,
  ],
  "log verify": [
    ["head", "the hash of the last line, from a copy that was kept elsewhere"],
    ["checkpoint", "a signed note that was kept elsewhere: the log must have the entry that it names"],
    ["after", "a signed note that vouches for the entries up to its own: the files may begin with the next entry"],
    ["key", "the public key of the log (Ed25519, PEM), which signed the notes; twice: the old and the new one"],
    ["origin", "the name of the log that the notes must have"],
    ["max-gap", "the longest time without a line, up to now, such as 2h (see --heartbeat of bootproof watch)"],
    ["partial", "exit with code 0, too, if files or the key of the checkpoint were not passed"],
    TEXT_OR_JSON,
  ],
  "log checkpoint": [
    ["key", "the private key of the log (Ed25519, PEM); then the old public key, which signed older notes"],
    ["after", "a signed note that vouches for the entries up to its own: for a new key, or if old files are elsewhere"],
    ["origin", "the name of the log (default: that of --after, or bootproof-log/ and the name of the first file)"],
    ["out", "write the note to this file, whose note must be an older one of this log (default: stdout)"],
  ],
  pin: [
    ["boot-proof", 'boot proofs of the deployments: JSON, one, bare or as {"bootProof": …}, an array, or a bundle'],
    [
      "trust-anchor",
      "PEM certificates that replace the AWS Nitro root; the policy names all, or those that --boot-proof needed",
      "file...",
    ],
    ["release", "published releases: folders, whose approvals are verified first, or one YAML file", "file..."],
    ["app", "the application to pin: with --release from it, alone from the service, by its newest boot proof", "name"],
    ["image", "the enclave image that was built: pins PCR0, PCR1 and PCR2, and PCR8 if the image is signed"],
    ["pcrs", "instead of --image: its PCRs as published, in QOS's nitro.pcrs, a pcr.json, or the output of nitro-cli"],
    ["binary", "the application binary that was built: pins its SHA-256, which manifests name"],
    ["role-arn", "with --image: the IAM role of the instance on which the enclave runs, for PCR3"],
    ["commitment", `${WITHOUT_EVIDENCE}: ${COMMITMENT_KINDS.join(", ")} (default: live)`],
    ["manifest-set", `${WITHOUT_EVIDENCE}: who approves manifests, {"threshold": n, "members": ["hex", …]}`],
    ["quorum-key", `${WITHOUT_EVIDENCE}: the quorum key of the deployment, 130 bytes`],
    ["namespace", `${WITHOUT_EVIDENCE}: the namespace of the manifests that the manifest set approves`],
    ["allow-debug", "with --boot-proof: pin debug deployments; the policy then allows debug mode"],
    ["nonce", "with --boot-proof: the expected nonce; it is not pinned"],
    ["provenance", "with --boot-proof: a Sigstore bundle of the build; the build that it names is pinned"],
    ["repository", "with --provenance: the URL of the build's repository (default with --add-to: the policy's)"],
    ["github-release", "with --provenance: pin GitHub's immutable release in the bundle; --repository is owner/name"],
    ["tenant", "with --github-release: the subdomain of an enterprise on ghe.com (default: github.com)"],
    ["trusted-root", "with --repository: the trusted root of Sigstore that verifies it (gh attestation trusted-root)"],
    ["app-proof-type", "the types of app proof that the deployment may sign (default: any)"],
    ["name", "the policy's name, which reports show"],
    ["max-age", "the policy's maxAge, such as 30d: a limit of how long an enclave may run (default: none)"],
    ["out", "the file to write, as a whole or not at all (default: -, stdout)"],
    FORCE,
    ["add-to", "add to the deployments of this policy, and leave the rest of it as it is; --out writes elsewhere"],
    ["drop", "with --add-to: demands of other deployments in the namespace that the new one need not have"],
    ...CONNECTION,
  ],
  "policy check": [
    ["policy-signers", "check a feed of signed policies, and these are what consumers pin"],
    TEXT_OR_JSON,
  ],
  "policy drop": [],
  "policy sign": [
    [
      "signers",
      'who signs the next version: {"name", "threshold", "keys": ["PEM", …]}, as consumers pin it (default: the set ' +
        "in force)",
    ],
    ...SIGN,
  ],
  "policy cosign": [
    ["key", "the private key that signs (see bootproof key new --type)", "file"],
    ["public-key", "instead of --key: the PEM of the public key of a key service"],
    ["signature", "with --public-key: the signature that the key service made, raw or in base64"],
    FEED,
    ["yes", "sign without a question"],
  ],
  "policy review": [FEED],
  "policy to-sign": [
    ["digest", "for ECDSA: write the digest of the bytes, since key services sign at most 4 KiB as they are"],
    ["public-key", "with --digest: the PEM of the key that will sign, if the keys of the set have several types"],
  ],
  "policy publish": [
    ["feed", "the feed, which is rewritten, or made for version 1"],
    ["policy-signers", "what consumers pin"],
  ],
  "policy renew": SIGN,
  "policy check-releases": [
    ["app", "the applications to check (default: all)"],
    ["namespace", "namespaces: every release must be of one of them; each namespace has its own history", "name..."],
    ["manifest-set", 'the set that approves the first release: JSON {"threshold": n, "members": ["hex", …]}'],
    POLICY,
    ["no-manifest-set", "demand no set, and trust the first one that the folder names"],
    ["skip-unapproved", "count releases that only lack a manifest or approvals, and otherwise leave them out"],
    TEXT_OR_JSON,
  ],
  review: [
    POLICY,
    ...SIGNED_POLICY,
    ["deployment-id", "instead of MANIFEST: fetch the manifest of this deployment of yours from the service"],
    ["image", "the enclave image that was built: the manifest must name its PCR0, 1 and 2"],
    ["binary", "the application binary that was built: the manifest must name its SHA-256"],
    ["previous", "the manifest or envelope that this one replaces: unpinned members pass if they are unchanged"],
    ["accept", "unpinned members whose values you have read, before and after: dns, version, workloads.NAME.mounts"],
    ...CONNECTION,
    TEXT_OR_JSON,
  ],
  measure: [
    ["binary", "the application's binary, for its pivot hash; - for stdin"],
    ["role-arn", "the IAM role of the parent instance, for PCR3"],
    ["instance-id", "the parent instance, for PCR4"],
    POLICY,
    ...SIGNED_POLICY,
    PROVENANCE,
    TEXT_OR_JSON,
  ],
  explain: [TEXT_OR_JSON],
  inspect: [TEXT_OR_JSON],
  diff: [TEXT_OR_JSON],
  completion: [],
  lab: [
    ["port", "0 for any free port (default: 0)"],
    ["data", "keep the state in this folder, empty or of a lab (default: temporary)"],
    ["fault", "misbehave in this way; may be given several times"],
    ["list-faults", "list the ways to misbehave: name, what is wrong, failed checks, [which calls detect it]"],
    ["manifest-version", "for the releases of a new lab, such as v2 (default: v1 for old releases, v2 for new ones)"],
  ],
  proxy: [
    ["upstream", "the service: https://…, without /public/v1"],
    POLICY,
    ...SIGNED_POLICY,
    MAX_AGE,
    ["port", "0 for any free port (default: 0)"],
    ...KEY,
    ["boot-proof", "instead of an API key: the boot proofs of the enclaves that sign app proofs"],
    PROVENANCE,
    ["allow-unproven", "forward submits without generateAppProofs, and return their answers unverified"],
    ["verify-addresses", "refuse accounts and private keys in answers to queries unless a pinned enclave derived them"],
    ["accept", "with --verify-addresses: classes that are fine beside derived, with commas between", "class"],
    ["all-activities", "with --verify-addresses: read all activities, and not only those of the types that are known"],
    ["fail-on-warning", "refuse a result if anything weakens its good verdict (a warning in its report)"],
    ["health-file", "rewrite this file every 5 seconds while the proxy serves, and remove it at the end"],
    TIMEOUT,
    LOG_FORMAT,
  ],
  "key new": [
    ["type", "instead of an API key: a key that signs policies: p256, p384 or ed25519"],
    ["out", `the key file (default: ${DEFAULT_KEY_FILE})`],
  ],
  "key show": [["origin", "the name of the log: shows its key as a vkey of signed notes"]],
  "key stamp": [...KEY],
} as const satisfies Readonly<Record<string, readonly Row[]>>;

/** The name of a command with options, such as `verify` or `policy check`. */
export type CommandName = keyof typeof COMMAND_OPTIONS;

type RowOf<C extends CommandName> = (typeof COMMAND_OPTIONS)[C][number];
type ValueOf<R extends Row> = R extends readonly [OptionName, string | null, infer V] ? V : (typeof OPTIONS)[R[0]][0];
type Camel<S extends string> = S extends `${infer A}-${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S;
type FlagName<N extends OptionName> = N extends `no-${infer P}` ? Camel<P> : Camel<N>;
type ListRow<R extends Row> = R extends Row ? (ValueOf<R> extends `${string}${"..." | "+"}` ? R : never) : never;
type ValueRow<C extends CommandName> = Exclude<RowOf<C>, ListRow<RowOf<C>>>;
type FlagOf<R extends Row> = R extends readonly [`no-${string}`, ...unknown[]] ? false : Parsed<ValueOf<R>>;
type Parsed<V> = V extends null ? boolean : V extends `${string}?` ? string | true : string;
/** The flags that commander parses. `--no-policy` is `policy: false`, and a list that is not given is empty. */
export type Flags<C extends CommandName> = { readonly [R in ValueRow<C> as FlagName<R[0]>]?: FlagOf<R> } & {
  readonly [R in ListRow<RowOf<C>> as FlagName<R[0]>]: readonly string[];
};

/** Adds the options of the command with this name, if it has any. */
export function addOptions(command: Command, name: string): Command {
  const rows = (COMMAND_OPTIONS as Readonly<Record<string, readonly Row[]>>)[name] ?? [];
  for (const [option, help, value = OPTIONS[option][0]] of rows) command.addOption(optionOf(option, value, help));
  return command;
}

function optionOf(name: OptionName, value: Value, help: string | null): Option {
  if (help === null) return new Option(`--${name} [${value}]`).hideHelp();
  if (value === null) return new Option(`--${name}`, help);
  if (value.endsWith("+"))
    return new Option(`--${name} <${value.slice(0, -1)}>`, help).argParser((one, all: string[] = []) => [...all, one]);
  const isOptional = value.endsWith("?");
  return new Option(isOptional ? `--${name} [${value.slice(0, -1)}]` : `--${name} <${value}>`, help);
}

/** Whether an option takes more than one value, and is an empty list if it is not given. */
export function isList({ variadic, parseArg }: Option): boolean {
  return variadic || parseArg !== undefined;
}

/** Returns what the help of the command says about the option. */
export function helpOf(command: CommandName, option: OptionName): string {
  const rows: readonly Row[] = COMMAND_OPTIONS[command];
  return rows.find(([name]) => name === option)?.[1] ?? "";
}

/** Returns the commands that show an option, in the order of the help. */
export function commandsWith(option: OptionName): CommandName[] {
  const rows = Object.entries(COMMAND_OPTIONS) as [CommandName, readonly Row[]][];
  return rows.flatMap(([command, own]) =>
    own.some(([name, help]) => name === option && help !== null) ? command : [],
  );
}
