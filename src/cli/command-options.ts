/**
 * The options of every command as commander reads them, with their help. An option with a plus sign may be repeated.
 * One without a help exists only to be refused.
 */
import { REPORT_FORMATS } from "../report/report.js";
import { COMMITMENT_KINDS } from "../verify/commitment.js";
import * as shared from "./option-rows.js";
import { TOKEN_KINDS } from "./option-values.js";

/** Names the sources of `pin` that come without evidence. */
const WITHOUT_EVIDENCE = "with --release, --image, --pcrs or --binary";

/** The options of each command, in the order of its help. */
export const COMMAND_OPTIONS = {
  // In the order of the topics of the help (`verify-help.ts`).
  verify: {
    "--boot-proof <file...>":
      'boot proofs as JSON: one boot proof or {"bootProof": …}, an array, or {"bootProofs": […]}',
    "--app-proof <file...>":
      'app proofs as JSON: one, an array, or {"appProofs": […]}; the key of each selects its boot proof',
    ...shared.ACTIVITY,
    "--app <name...>": "instead of --boot-proof: fetch the newest boot proof of each application from the service",
    ...shared.PLAIN_POLICY,
    ...shared.NO_POLICY,
    ...shared.MAX_AGE,
    "--format <report-format>": `${REPORT_FORMATS.join(", ")} (default: text)`,
    "--verbose": "every check of all evidence, and every hash in full",
    "--quiet": "write no text: a report of --format or --out is written, and a failure is on stderr",
    "--image <file>": "the enclave image that was built: each boot proof must attest its PCRs",
    "--ephemeral-key <hex>": "the expected key: each boot proof must attest it; without a boot proof, one is fetched",
    "--activity-id <id>":
      "the expected activity: it is fetched with its evidence, or must be in the file of --activity",
    "--nonce <hex>": "the expected nonce: each document must carry it",
    "--request <file>": "the request as it was submitted, JSON: the activity must be its result",
    "--signer-key <hex>": "with --request: the public key of its signWith, where that address is a hash (Sui, Aptos)",
    "--address <address...>": "expected addresses: each must be in an app proof",
    "--payload <payload...>": "a value that app proofs must have: TYPE:/pointer=JSON, such as 'ORDER:/order/id=\"42\"'",
    "--challenge <payload...>":
      "a random value that you sent, in the same form: it shows that the app proof was made afterwards",
    ...shared.SIGNED_POLICY,
    "--attestation <file>": "instead of --boot-proof: a bare attestation document, binary, base64 or hex",
    "--signed-message <file>": "bytes that an application signed and that are no app proof: the raw bytes, not hex",
    "--signature <hex>": "with --signed-message: the signature over SHA-256 of the bytes, r and s or DER",
    "--public-key <hex>": "with --signed-message: the key that signed (default: the one that the boot proof attests)",
    "--expect <file>":
      "with --signed-message: the bytes that you expect; without it, a warning says that nobody compared",
    "--bundle-policy": 'with a bundle: use the policy that its maker chose ("authentic" at best)',
    ...shared.CONNECTION,
    "--out <file>": "write the report to this file, as a whole or not at all; an existing file is replaced",
    "--title <text>": "with --format html: what the page is about, such as the name of the service",
    "--ear-key <file>": "with --format ear: the private key that signs it, a JWK or PEM",
    "--ear-alg <algorithm>":
      "with --ear-key: the algorithm (default: the JWK's, or that of its kind; EdDSA for any Ed25519 key)",
    "--summary": "write one screen of text: the verdict, what weakens it, and the first failures",
    ...shared.FAIL_ON_WARNING,
    ...shared.PROVENANCE,
    "--crl <file...>":
      "revocation lists in DER, or folders of them, judged at the present: a certificate in one is refused",
    ...shared.TIMES,
    ...shared.ALLOW_DEBUG,
    ...shared.TRUST_ANCHOR,
  },
  audit: {
    ...shared.POLICY,
    ...shared.NO_POLICY,
    ...shared.MAX_AGE,
    "--boot-proof <file...>": "boot proofs for app proofs and activities that come without a boot proof",
    ...shared.PROVENANCE,
    "--expected <file>":
      "expectations: a line of JSON for each entry, which names the entry by the SHA-256 of its line",
    "--out <file>": "write the results to this file instead of stdout",
    "--resume": "with --out: go on behind the results that this file has; what has one is compared, not verified again",
    "--whole": "with --out: the exit code of all results in the file, and not only of those that no run has reported",
    ...shared.WORKERS,
    "--queue [url]": "let bootproof audit worker verify elsewhere: redis://HOST:PORT (default: BOOTPROOF_QUEUE_URL)",
    ...shared.QUEUE,
    "--entry-timeout <duration>":
      "the longest time for one entry, such as 10s (default: 60s); a slower entry is not judged",
    "--only-failures": "write only the lines of entries that are not accepted",
    "--fail-fast": "stop at the first entry that is not accepted",
    ...shared.TIMES,
    ...shared.ALLOW_DEBUG,
    ...shared.FAIL_ON_WARNING,
    ...shared.TRUST_ANCHOR,
    ...shared.HEALTH,
  },
  "audit worker": {
    "--queue <url>":
      "the queue: redis://HOST:PORT/DATABASE, or rediss:// for TLS; redis+cluster://, redis+sentinel:// or unix:// " +
      "(default: the URL in BOOTPROOF_QUEUE_URL; put USER:PASSWORD@ only there)",
    ...shared.QUEUE,
    ...shared.POLICY,
    "--no-policy": "serve audits without a policy",
    ...shared.TRUST_ANCHOR,
    ...shared.WORKERS,
    ...shared.HEALTH,
  },
  fetch: {
    "--ephemeral-key <hex>": "the boot proof that attests this key",
    "--app <name>": "the newest boot proof of this application",
    "--deployment-id <id>": "the provisioning details of this deployment, which holders of shares review",
    "--activity-id <id>": "this activity, its app proofs, and the boot proof of each key that they name",
    "--activity <file>":
      'fetch app proofs and boot proofs for the activity in this file: JSON, bare or {"activity": …}',
    "--out <file>": "write to this file; with --activity-id and --activity also a folder, which must be new or empty",
    ...shared.FORCE,
    ...shared.CONNECTION,
  },
  bundle: {
    "--boot-proof <file...>": 'boot proofs as JSON: bare or {"bootProof": …}, or a bundle with boot proofs only',
    "--app-proof <file...>": 'app proofs as JSON: one, an array, or {"appProofs": […]}',
    ...shared.ACTIVITY,
    ...shared.PROVENANCE,
    ...shared.POLICY,
    "--no-policy": "pack authentic evidence of any enclave, and no policy",
    "--organization-id <id>": "the organization that the evidence must belong to; it is not packed",
    "--payload <payload...>": "a value that app proofs must have: TYPE:/pointer=JSON; it is not packed",
    "--challenge <payload...>": "a random value that you sent, in the same form; it is not packed",
    "--nonce <hex>": "the expected nonce; it is not packed",
    ...shared.NOW,
    "--out <file>": "write the bundle to this file, as a whole or not at all",
    ...shared.FORCE,
  },
  page: {},
  addresses: {
    ...shared.POLICY,
    ...shared.PROVENANCE,
    "--accept <class>":
      "classes that are fine beside derived, with commas between: exported, imported, service, unplaced",
    ...shared.FAIL_ON_WARNING,
    "--all-activities": "read all activities, and not only those of the types that are known",
    "--wallet <id>": "only the addresses of this wallet",
    "--address <address...>": "only these addresses; one that is not listed is exit code 1",
    "--no-private-keys": "leave out the addresses of private keys",
    "--suborgs": "also every sub-organization; says first how many requests that takes, and asks",
    "--yes": "with --suborgs: do not ask",
    "--limit <number>": "with --suborgs: the greatest number of sub-organizations (default: 1000)",
    "--parent-organization-id <id>": "of a sub-organization: its parent, whose activities may have made its wallets",
    "--max-accounts <number>": "the greatest number of items of a list (default: 1000000)",
    "--out <folder>": "keep the evidence in this folder, which must be new, empty, or left by the same command",
    "--from <folder>": "read the evidence from this folder of --out, without a network",
    "--all": "text and html: every row (default: at most 20 of a class)",
    "--format <table-format>": "text, json, ndjson, csv, junit or html (default: text)",
    ...shared.CONNECTION,
  },
  token: {
    "--kind <token-kind>": `what it is: ${TOKEN_KINDS.join(", ")} (default: session)`,
    ...shared.POLICY,
    "--organization-id <id>": "the organization that it has to be of",
    "--any-organization": "accept every organization",
    "--user-id <id>": "the user that it has to be of; an import bundle needs it",
    "--any-user": "accept an import bundle of every user",
    "--public-key <hex>": "the key that it has to name, in hex, such as that of the request's stamp",
    "--namespace <name>": "the namespace whose quorum key signs (default: that of the kind, such as prod/notarizer)",
    "--tolerance <duration>":
      "how long a token is accepted after it expired, such as 30s, for clocks that differ (default: 0s)",
    ...shared.NOW,
    ...shared.TEXT_OR_JSON,
  },
  demo: { "--out <folder>": "the folder for its files, which must be new or empty (default: a temporary folder)" },
  watch: {
    "--app <name...>": "applications, each by its newest boot proof",
    "--ephemeral-key <hex...>": "keys, each by its boot proof; may be used with or without --app",
    ...shared.POLICY,
    "--policy-refresh <duration>":
      "with --policy-signers: the time between two fetches of the feed: 1s to 1d (default: 5m)",
    ...shared.MAX_AGE,
    ...shared.PROVENANCE,
    "--interval <duration>": "the time between two polls: 1s to 1d (default: 60s)",
    "--log <file>": "append the entries to this file (see bootproof log verify)",
    "--heartbeat <duration>": "with --log: the time between two entries that count the polls: 1s to 7d (default: 1h)",
    "--after <file>": "with --log, for a new file: the file before it, whose chain the new one goes on with",
    "--checkpoint <file>":
      "with --checkpoint-key: keep a signed note of the newest entry in this file, for others to copy",
    "--checkpoint-key <file>": "with --log: the Ed25519 key (PEM) that signs checkpoints",
    "--origin <name>":
      "with --checkpoint-key: the name of the log in checkpoints (default: bootproof-log/ and the name of the file)",
    "--on-refusal <command>": `where each rejected boot proof is reported: ${shared.REPORTED}`,
    "--on-outage <command>": `where the begin and the end of an outage are reported: ${shared.REPORTED}`,
    "--outage-after <number>":
      "an outage is recorded, and delivered, if it lasts longer than this many polls (default: 5)",
    "--outage-repeat <duration>": "the time between two messages about one outage on stderr: 1m to 7d (default: 1h)",
    "--max-silence <duration>":
      "exit with code 3 when a name had no good poll for that long, up to 7d (default: no limit)",
    ...shared.FAIL_ON_WARNING,
    "--once": "poll once, and exit",
    "--format <format>": "text or json: one line for each entry; in JSON it is the line of the log (default: text)",
    ...shared.HEALTH,
    ...shared.CONNECTION,
  },
  "log verify": {
    "--head <hex>": "the hash of the last line, from a copy that was kept elsewhere",
    "--checkpoint <file>": "a signed note that was kept elsewhere: the log must have the entry that it names",
    "--after <file>":
      "with --key: a signed note that vouches for the entries up to its own: the files may begin with the next entry",
    "--key <file+>": "the public key of the log (Ed25519, PEM), which signed the notes; twice: the old and the new one",
    "--origin <name>": "the name of the log that the notes must have",
    "--max-gap <duration>":
      "the longest time without a line, up to now, such as 2h (see --heartbeat of bootproof watch)",
    "--partial": "exit with code 0, too, if files or the key of the checkpoint were not passed",
    ...shared.TEXT_OR_JSON,
  },
  "log checkpoint": {
    "--key <file+>": "the private key of the log (Ed25519, PEM); then the old public key, which signed older notes",
    "--after <file>":
      "a signed note that vouches for the entries up to its own: for a new key, or if old files are elsewhere",
    "--origin <name>":
      "the name of the log (default: that of --after, or bootproof-log/ and the name of the first file)",
    "--out <file>": "write the note to this file, whose note must be an older one of this log (default: stdout)",
  },
  pin: {
    "--boot-proof <file...>":
      'boot proofs of the deployments: JSON, one, bare or as {"bootProof": …}, an array, or a bundle',
    "--trust-anchor <file...>":
      "PEM certificates that replace the AWS Nitro root; the policy names all, or those that --boot-proof needed",
    "--release <file...>": "published releases: folders, whose approvals are verified first, or one YAML file",
    "--app <name>": "the application to pin: with --release from it, alone from the service, by its newest boot proof",
    "--image <file>": "the enclave image that was built: pins PCR0, PCR1 and PCR2, and PCR8 if the image is signed",
    "--pcrs <file>":
      "instead of --image: its PCRs as published, in QOS's nitro.pcrs, a pcr.json, or the output of nitro-cli",
    "--binary <file>": "the application binary that was built: pins its SHA-256, which manifests name",
    "--role-arn <arn>": "with --image: the IAM role of the instance on which the enclave runs, for PCR3",
    "--commitment <kind>": `${WITHOUT_EVIDENCE}: ${COMMITMENT_KINDS.join(", ")} (default: live)`,
    "--manifest-set <file>": `${WITHOUT_EVIDENCE}: who approves manifests, {"threshold": n, "members": ["hex", …]}`,
    "--quorum-key <hex>": `${WITHOUT_EVIDENCE}: the quorum key of the deployment, 130 bytes`,
    "--namespace <name>": `${WITHOUT_EVIDENCE}: the namespace of the manifests that the manifest set approves`,
    "--allow-debug": "with boot proofs: pin debug deployments; the policy then allows debug mode",
    "--nonce <hex>": "with boot proofs: the expected nonce; it is not pinned",
    "--provenance <file...>": "with boot proofs: a Sigstore bundle of the build; the build that it names is pinned",
    "--repository <url>": "with --provenance: the URL of the build's repository (default with --add-to: the policy's)",
    "--github-release": "with --repository: pin GitHub's immutable release in the bundle, of owner/name",
    "--tenant <name>": "with --github-release: the subdomain of an enterprise on ghe.com (default: github.com)",
    "--trusted-root <file>":
      "with --provenance: the trusted root of Sigstore that verifies it (gh attestation trusted-root)",
    "--app-proof-type <type...>": "the types of app proof that the deployment may sign (default: any)",
    "--name <name>": "the policy's name, which reports show",
    "--max-age <age>": "the policy's maxAge, such as 30d: a limit of how long an enclave may run (default: none)",
    "--out <file>": "the file to write, as a whole or not at all (default: -, stdout)",
    ...shared.FORCE,
    "--add-to <policy>":
      "add to the deployments of this policy, and leave the rest of it as it is; --out writes elsewhere",
    "--drop <demand...>": "with --add-to: demands of other deployments in the namespace that the new one need not have",
    ...shared.CONNECTION,
  },
  "policy check": {
    "--policy-signers <file>": "check a feed of signed policies, and these are what consumers pin",
    ...shared.TEXT_OR_JSON,
  },
  "policy drop": {},
  "policy sign": {
    "--signers <file>":
      'who signs the next version: {"name", "threshold", "keys": ["PEM", …]}, as consumers pin it (default: the set ' +
      "in force)",
    ...shared.SIGN,
  },
  "policy cosign": {
    "--key <file>": "the private key that signs (see bootproof key new --type)",
    "--public-key <file>": "instead of --key: the PEM of the public key of a key service",
    "--signature <file>": "with --public-key: the signature that the key service made, raw or in base64",
    ...shared.FEED,
    "--yes": "sign without a question",
  },
  "policy review": { ...shared.FEED },
  "policy to-sign": {
    "--digest": "for ECDSA: write the digest of the bytes, since key services sign at most 4 KiB as they are",
    "--public-key <file>":
      "with --digest: the PEM of the key that will sign, if the keys of the set have several types",
  },
  "policy publish": {
    "--feed <file>": "the feed, which is rewritten, or made for version 1",
    "--policy-signers <file>": "what consumers pin",
  },
  "policy renew": shared.SIGN,
  "policy check-releases": {
    "--app <name...>": "the applications to check (default: all)",
    "--namespace <name...>": "namespaces: every release must be of one of them; each namespace has its own history",
    "--manifest-set <file>": 'the set that approves the first release: JSON {"threshold": n, "members": ["hex", …]}',
    ...shared.PLAIN_POLICY,
    "--no-manifest-set": "demand no set, and trust the first one that the folder names",
    "--skip-unapproved": "count releases that only lack a manifest or approvals, and otherwise leave them out",
    ...shared.TEXT_OR_JSON,
  },
  review: {
    ...shared.POLICY,
    "--deployment-id <id>": "instead of MANIFEST: fetch the manifest of this deployment of yours from the service",
    "--image <file>": "the enclave image that was built: the manifest must name its PCR0, 1 and 2",
    "--binary <file>": "the application binary that was built: the manifest must name its SHA-256",
    "--genesis-request <file>":
      "instead of a policy: the request that the output of a genesis ceremony should answer, JSON",
    "--previous <file>": "the manifest or envelope that this one replaces: unpinned members pass if they are unchanged",
    "--accept <member...>":
      "unpinned members whose values you have read, before and after: dns, version, workloads.NAME.mounts",
    ...shared.CONNECTION,
    ...shared.TEXT_OR_JSON,
  },
  measure: {
    "--binary <file>": "the application's binary, for its pivot hash; - for stdin",
    "--role-arn <arn>": "the IAM role of the parent instance, for PCR3",
    "--instance-id <id>": "the parent instance, for PCR4",
    ...shared.POLICY,
    ...shared.PROVENANCE,
    ...shared.TEXT_OR_JSON,
  },
  explain: { ...shared.TEXT_OR_JSON },
  inspect: { ...shared.TEXT_OR_JSON },
  diff: { ...shared.TEXT_OR_JSON },
  completion: {},
  lab: {
    "--port <number>": "0 for any free port (default: 0)",
    "--data <folder>": "keep the state in this folder, empty or of a lab (default: temporary)",
    "--fault <fault...>": "misbehave in this way; may be given several times",
    "--list-faults": "list the ways to misbehave: name, what is wrong, failed checks, [which calls detect it]",
    "--manifest-version <version>":
      "for the releases of a new lab, such as v2 (default: v1 for old releases, v2 for new ones)",
  },
  proxy: {
    "--upstream <url>": "the address of the service, without /public/v1: https://…",
    ...shared.POLICY,
    ...shared.MAX_AGE,
    "--port <number>": "0 for any free port (default: 0)",
    ...shared.KEY,
    "--boot-proof <file...>": "instead of an API key: the boot proofs of the enclaves that sign app proofs",
    ...shared.PROVENANCE,
    "--signer-key <hex...>": "public keys of accounts that sign, where their addresses are a hash (Sui, Aptos)",
    "--allow-unproven": "forward submits without generateAppProofs, and return their answers unverified",
    "--verify-addresses": "refuse accounts and private keys in answers to queries unless a pinned enclave derived them",
    "--accept <class>": "with --verify-addresses: classes that are fine beside derived, with commas between",
    "--all-activities": "with --verify-addresses: read all activities, and not only those of the types that are known",
    ...shared.FAIL_ON_WARNING,
    "--health-file <file>": "rewrite this file every 5 seconds while the proxy serves, and remove it at the end",
    ...shared.TIMEOUT,
    ...shared.LOG_FORMAT,
  },
  "key new": {
    "--type <key-type>": "instead of an API key: a key that signs policies: p256, p384 or ed25519",
    "--out <file>": `the key file (default: ${shared.DEFAULT_KEY_FILE})`,
  },
  "key show": { "--origin <name>": "the name of the log: shows its key as a vkey of signed notes" },
  "key stamp": { ...shared.KEY },
} as const satisfies Readonly<Record<string, Readonly<Record<`--${string}`, string>>>>;
