/** The rows of the option table that several commands share. */

/** Options that would put a key on the command line exist only to be refused with the reason. */
export const KEY = {
  "--api-key [hex]": "",
  "--api-private-key [hex]": "",
  "--api-public-key [hex]": "",
  "--private-key [hex]": "",
  "--api-key-file <file>": 'an API key: {"publicKey": "<hex>", "privateKey": "<hex>"} (see bootproof key new)',
} as const;

export const DEFAULT_TIMEOUT_SECONDS = 20;
export const DEFAULT_KEY_FILE = "bootproof-api-key.json";

export const TIMEOUT = {
  "--timeout <seconds>": `the longest time that one response may take (default: ${DEFAULT_TIMEOUT_SECONDS})`,
} as const;
export const CONNECTION = {
  "--base-url <url>": "the service: https://…, without /public/v1",
  "--organization-id <id>": "the organization that requests and evidence belong to",
  ...KEY,
  ...TIMEOUT,
} as const;

export const FORCE = { "--force": "with --out: replace an existing file" } as const;
export const TEXT_OR_JSON = { "--format <format>": "text or json (default: text)" } as const;
/** An option of commands that run for a long time. */
export const LOG_FORMAT = {
  "--log-format <format>": "text or json: messages on stderr as lines of JSON (default: text)",
} as const;
export const HEALTH = {
  "--health-file <file>":
    "rewrite this file every 10 seconds, as a sign of life, and after each success, whose time is in it",
  "--metrics <listen>":
    "serve /metrics, /healthz and /readyz at HOST:PORT; without HOST, only this machine can connect",
  ...LOG_FORMAT,
} as const;
export const PLAIN_POLICY = { "--policy <file>": "the policy that pins what is expected (see bootproof pin)" } as const;
export const SIGNED_POLICY = {
  "--policy-signers <file>":
    "--policy is a feed of signed policies, or one of them, as a file or at https://…: the keys that sign it",
  "--policy-state <file>":
    "with --policy-signers: keep the newest accepted version in this file; older ones are then refused",
} as const;
export const POLICY = { ...PLAIN_POLICY, ...SIGNED_POLICY } as const;
export const MAX_AGE = {
  "--max-age <duration>": "the greatest age of a boot proof, such as 30d; a smaller maxAge of the policy counts",
} as const;
export const NO_POLICY = { "--no-policy": 'accept any genuine enclave, no matter whose: "authentic" at best' } as const;
export const ALLOW_DEBUG = {
  "--allow-debug": "accept debug mode with a warning: it proves nothing about the code",
} as const;
export const TRUST_ANCHOR = {
  "--trust-anchor <file>": "without a policy of your own: a PEM certificate that replaces the AWS Nitro root",
} as const;
export const NOW = {
  "--now <time>": "RFC 3339: the current time, from which ages are counted, for repeatable runs (default: the clock)",
} as const;
export const TIMES = {
  "--at <when>": "the time at which certificates must be valid: document, now, or an RFC 3339 time (default: document)",
  ...NOW,
} as const;
export const FAIL_ON_WARNING = {
  "--fail-on-warning": "refuse what has a warning: anything that weakens its good verdict",
} as const;
export const WORKERS = {
  "--workers <number>": "threads that verify (default: one for each core, at most 16)",
} as const;
export const ACTIVITY = {
  "--activity <file>": 'an activity with its app proofs: JSON, bare or as {"activity": …}',
} as const;
export const PROVENANCE = {
  "--provenance <file...>": "Sigstore bundles of the builds that the policy demands, or JSON Lines",
} as const;

/** Options for both sides of a queue. */
export const QUEUE = {
  "--queue-prefix <name>": "the prefix of the queue's keys, the same on both sides (default: bootproof)",
  "--queue-secret-file <file>":
    "32 random bytes in hex or base64, the same on both sides (default: BOOTPROOF_QUEUE_SECRET)",
  "--queue-ca <file>": "for rediss://: the certificate authorities of the server, PEM",
  "--queue-cert <file>": "for rediss://: the certificate of this client, PEM",
  "--queue-key <file>": "for rediss://: the private key of --queue-cert, PEM",
} as const;

/** The two forms of a place for reports. */
export const REPORTED = "a shell command, which gets the entry on stdin, or a URL (http, https), to which it is posted";
export const FEED = { "--feed <file>": "the feed that ends with the version before; version 1 has none" } as const;
export const SIGN = {
  "--key <file>": "the private key that signs (see bootproof key new --type); without it, the result is a draft",
  "--valid <duration>": "how long the version is valid, such as 14d, at most 400d",
  ...FEED,
  "--out <file>": "write the envelope to this file, as a whole or not at all (default: stdout)",
  ...FORCE,
} as const;
