/** Which options go together, and which a command cannot do without. Every sentence about that is made here. */
import { type CommandName, type OptionName, commandsWith } from "./option-table.js";

/** An option, or `--format` with a value. */
type Name = OptionName | `format ${string}`;

interface Rule {
  readonly of: readonly OptionName[];
  /** One of these has to be given, too. */
  readonly needs?: readonly Name[];
  /** None of these can be given, too. */
  readonly excludes?: readonly Name[];
  readonly because?: string;
}

function needs(of: readonly OptionName[], one: readonly Name[], because?: string): Rule {
  return { of, needs: one, ...(because !== undefined && { because }) };
}

function excludes(of: OptionName, others: readonly Name[], because?: string): Rule {
  return { of: [of], excludes: others, ...(because !== undefined && { because }) };
}

export const EVIDENCE = ["boot-proof", "app-proof", "activity"] as const;
/** With what the result of a request is compared. */
export const OF_REQUEST = ["request", "signer-key", "address", "payload", "challenge"] as const;
export const CONNECTION_OPTIONS = ["base-url", "organization-id", "api-key-file", "timeout"] as const;
/** Options that exist only to say how a key is passed. */
export const KEY_OPTIONS = ["api-key", "api-private-key", "api-public-key", "private-key"] as const;
export const WHY_NO_KEY =
  "every process of this machine can read a key on the command line, and the shell's history keeps it: " +
  "use --api-key-file FILE, or BOOTPROOF_API_PUBLIC_KEY and BOOTPROOF_API_PRIVATE_KEY";
/** What `fetch` fetches. */
export const WANTED = ["ephemeral-key", "app", "deployment-id", "activity-id", "activity"] as const;
/** The options of `pin` that name a build. */
export const BUILD = ["image", "pcrs", "binary"] as const;
const OF_MANIFESTS = ["policy", "policy-signers", "policy-state", "image", "binary", "previous", "accept"] as const;

/** The rules of commands that have the options. */
const EVERYWHERE: readonly Rule[] = [
  excludes("no-policy", ["policy"]),
  excludes("bundle-policy", ["policy", "no-policy"]),
  needs(["policy-state"], ["policy-signers"], "only a signed policy has a state"),
  excludes("trust-anchor", ["policy"], 'a policy has its own, as "trustAnchors"'),
  excludes("max-age", ["no-policy"], "age is a check of the policy"),
  needs(["force"], ["out"], "it names the file that is replaced"),
];

const RULES: Readonly<Partial<Record<CommandName, readonly Rule[]>>> = {
  verify: [
    excludes(
      "app",
      [...EVIDENCE, "activity-id", "ephemeral-key", "attestation", ...OF_REQUEST],
      "it fetches all that is verified",
    ),
    excludes("activity-id", ["ephemeral-key"]),
    excludes(
      "attestation",
      [...EVIDENCE, "ephemeral-key", "activity-id", "organization-id", ...OF_REQUEST, "provenance"],
      "it is for a bare document",
    ),
    excludes(
      "signed-message",
      ["app-proof", "activity", "app", "activity-id", "attestation", ...OF_REQUEST],
      "it names bytes that are no app proof",
    ),
    excludes("signed-message", ["format html", "format vsa"], "these have no form for signed bytes"),
    excludes("crl", ["format html"], "a page cannot carry revocation lists, so its reader could not repeat them"),
    needs(["signature", "public-key", "expect"], ["signed-message"]),
    needs(["signed-message"], ["signature"]),
    needs(["signer-key"], ["request"]),
    excludes("summary", ["quiet", "verbose"]),
    excludes("quiet", ["verbose"]),
    needs(["title"], ["format html"]),
    needs(["ear-key"], ["format ear"]),
    needs(["ear-alg"], ["ear-key"]),
  ],
  audit: [
    needs(["resume", "whole"], ["out"], "it is about the results in that file"),
    needs(["queue-prefix", "queue-ca", "queue-cert", "queue-key", "queue-secret-file"], ["queue"]),
    excludes("queue", ["workers", "entry-timeout"], "these are for the threads of this machine"),
  ],
  fetch: WANTED.map((name, index) => excludes(name, WANTED.slice(index + 1))),
  addresses: [
    excludes("from", ["out", "yes", "limit", "max-accounts", "parent-organization-id"], "nothing is fetched"),
    excludes("from", ["base-url", "api-key-file", "timeout"], "nothing is fetched"),
    excludes("suborgs", ["parent-organization-id", "wallet"]),
    needs(["yes", "limit"], ["suborgs"]),
  ],
  token: [excludes("any-organization", ["organization-id"]), excludes("any-user", ["user-id"])],
  watch: [
    needs(["policy-refresh"], ["policy-signers"]),
    needs(["heartbeat", "after", "checkpoint-key"], ["log"]),
    needs(["checkpoint", "origin"], ["checkpoint-key"]),
  ],
  "log verify": [needs(["key", "origin"], ["checkpoint", "after"]), needs(["after"], ["key"])],
  pin: [
    needs(["release"], ["app"], "the application of the release"),
    excludes("boot-proof", ["app", "release", ...BUILD]),
    excludes("release", BUILD),
    excludes("app", BUILD),
    excludes("image", ["pcrs"]),
    needs(["role-arn"], ["image", "pcrs"]),
    needs(["commitment", "manifest-set", "quorum-key", "namespace"], ["release", ...BUILD]),
    ...(["allow-debug", "nonce", "provenance"] as const).map((name) => excludes(name, ["release", ...BUILD])),
    ...CONNECTION_OPTIONS.map((name) =>
      excludes(name, ["boot-proof", "release", ...BUILD], "only --app alone fetches"),
    ),
    needs(["repository", "trusted-root"], ["provenance"]),
    needs(["github-release"], ["repository"], "the owner and name of the repository"),
    needs(["tenant"], ["github-release"]),
    needs(["drop"], ["add-to"], "the policy whose demands it names"),
    excludes("add-to", ["name"], "that policy keeps its name"),
    excludes("add-to", ["max-age"], "edit maxAge in that policy"),
  ],
  "policy cosign": [
    excludes("key", ["public-key", "signature"]),
    needs(["public-key"], ["signature"]),
    needs(["signature"], ["public-key"]),
  ],
  "policy to-sign": [needs(["public-key"], ["digest"])],
  "policy check-releases": [
    excludes("manifest-set", ["policy", "no-manifest-set"]),
    excludes("policy", ["no-manifest-set"]),
  ],
  review: [
    excludes("genesis-request", ["deployment-id", ...OF_MANIFESTS], "it is about the output of a ceremony"),
    needs(CONNECTION_OPTIONS, ["deployment-id"], "nothing else is fetched"),
  ],
  measure: [
    needs(["provenance"], ["binary"], "the policy demands who built the binary"),
    needs(["provenance"], ["policy"], "it demands who built the binary"),
  ],
  lab: [excludes("list-faults", ["port", "data", "fault", "manifest-version"], "it starts no lab")],
  proxy: [
    excludes("boot-proof", ["api-key-file"], "evidence is either fetched or read from files"),
    excludes("boot-proof", ["verify-addresses"], "that lists wallets and activities with --api-key-file"),
    needs(["accept", "all-activities"], ["verify-addresses"]),
  ],
};

const REQUIRED: Readonly<Partial<Record<CommandName, readonly OptionName[]>>> = {
  addresses: ["policy"],
  bundle: ["boot-proof"],
  "log checkpoint": ["key"],
  "policy publish": ["feed", "policy-signers"],
  "policy renew": ["feed", "valid"],
  "policy sign": ["valid"],
  proxy: ["upstream", "policy"],
  token: ["policy"],
  watch: ["policy"],
};

/** Returns a sentence for each rule that the command line breaks. `has` says which options are given. */
export function brokenRules(command: CommandName, has: (name: Name) => boolean): string[] {
  const broken = [...EVERYWHERE, ...(RULES[command] ?? [])].flatMap(({ of, needs: one, excludes: others, because }) => {
    const why = because === undefined ? "" : `: ${because}`;
    const beside = others?.filter(has).map(long).join(", ") ?? "";
    const lacks = one !== undefined && !one.some(has);
    return of
      .filter(has)
      .flatMap((name) => [
        ...(beside === "" ? [] : [`${long(name)} cannot be used with ${beside}${why}`]),
        ...(lacks ? [`${long(name)} requires ${either(command, one)}${why}`] : []),
      ]);
  });
  const exposed = KEY_OPTIONS.filter(has).map(long).join(", ");
  if (exposed !== "") broken.push(`${exposed}: ${WHY_NO_KEY}`);
  const missing = (REQUIRED[command] ?? []).filter((name) => !has(name));
  return [...broken, ...missing.map((name) => requiredText(command, name))];
}

const long = (name: Name): string => `--${name}`;

/** Returns words such as `--out FILE` or `--image, --pcrs or --binary`. */
function either(command: CommandName, [first, ...others]: readonly Name[]): string {
  if (others.length === 0) return withValue(rowOf(command, first!)?.flags ?? long(first!));
  return [first!, ...others]
    .map(long)
    .join(", ")
    .replace(/, ([^,]+)$/, " or $1");
}

function requiredText(command: CommandName, name: OptionName): string {
  const { flags, help } = rowOf(command, name)!;
  return `${withValue(flags)} is required: ${help}`;
}

function rowOf(command: CommandName, name: Name): ReturnType<typeof commandsWith>[number] | undefined {
  return commandsWith(name).find((row) => row.command === command);
}

/** Returns words such as `--out FILE` of `--out <file>`. */
function withValue(flags: string): string {
  return flags.replace(/ \[.*/, "").replace(/ <([\w-]+).*/, (_, word: string) => ` ${word.toUpperCase()}`);
}
