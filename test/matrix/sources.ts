/**
 * What the tables of pins and options have beside the rows' own names: the row that is about it, or why none is. Total
 * by type; `sources.test.ts` compares the rest.
 */
import type { COMMAND_OPTIONS } from "../../src/cli/command-options.js";
import type { CommandName, OptionName } from "../../src/cli/option-table.js";
import type { VerifyOptions } from "../../src/index.js";
import type { FormValues } from "../../src/page/verifier.js";
import type { OptionsOfEntrances } from "./doors.js";
import type { FactName } from "./facts.js";

export type Covered = FactName | { readonly not: string };
const not = (reason: string): Covered => ({ not: reason });

const FOR_PEOPLE = not("for people: reports show it, and nothing is compared with it");
const LOOSENS = not("it loosens, by the caller's own word; each row has its twin without it");
const SAME_ROOT = not("another form of the same, which reading resolves: test/appraise/policy.test.ts");

/** Members of a policy, by their place in its schema, that no row has as its name. */
export const POLICY_MEMBERS: Readonly<Record<string, Covered>> = {
  $schema: FOR_PEOPLE,
  policy: not("the format: reading refuses any other"),
  name: FOR_PEOPLE,
  "trustAnchors.file": SAME_ROOT,
  "trustAnchors.pem": SAME_ROOT,
  "deployments.name": FOR_PEOPLE,
  "deployments.kind": not("it decides which rows apply: those of bare documents, or all others"),
  "deployments.open": LOOSENS,
  "deployments.appProofs.types": "deployment appProofs",
  "deployments.appProofs.bytes": "policy, an application that signs any bytes",
  "deployments.labels.owner": "pin labels",
  "deployments.manifestSet.members": "pin manifestSet",
  "deployments.manifestSet.threshold": "pin threshold of the manifestSet",
  "deployments.shareSet.members": "pin shareSet",
  "deployments.shareSet.threshold": "pin threshold of the shareSet",
  "deployments.provenance.of.workload": "pin provenance.of a workload",
  "deployments.provenance.open": LOOSENS,
  "deployments.provenance.trustedRoot.file": SAME_ROOT,
  "deployments.provenance.trustedRoot.json": SAME_ROOT,
};

/** Options of the library that no row has as its name. */
export const LIBRARY_OPTIONS = {
  policy: not("the policy itself: the rows of its members"),
  expected: not("its members have rows of their own"),
  trustAnchors: not("only without a policy; the policy's own: policy trustAnchors"),
  allowDebug: LOOSENS,
  bootProofsOnly: LOOSENS,
  cache: not("it remembers signatures, and demands nothing"),
  uses: not("it compares two activities of one process: test/attacks/reuse.test.ts"),
  provenanceVerifier: not("the package that verifies the bundles of the rows of provenance"),
} satisfies Readonly<Partial<Record<keyof VerifyOptions, Covered>>>;

const OF_PIN = not("an option of pin, which writes the policy that the rows are judged by");
const OF_LOG = not("of log, which compares a log with itself and with its notes, and judges no evidence");
const OF_FEED = not("of policy sign, check and publish, which judge a feed: test/cli/policy-signed.test.ts");
const OF_TOKENS = not("of token, which judges tokens and no boot proofs: test/token and test/cli/token.test.ts");

const OF_ADDRESSES = not(
  "which addresses are listed: test/cli/addresses.test.ts and test/cli/addresses-folder.test.ts",
);

/** Those that demand or loosen, as `test/cli/loosen-and-demand.test.ts` compares with the documentation. */
export const CLI_OPTIONS = {
  accept: LOOSENS,
  "activity-id": "expected id",
  address: "expected addresses",
  after: OF_LOG,
  "all-activities": OF_ADDRESSES,
  "allow-debug": LOOSENS,
  "allow-unproven": LOOSENS,
  "any-organization": OF_TOKENS,
  "any-user": OF_TOKENS,
  app: not("what is fetched, or which releases are read: each row of watch has it"),
  "app-proof-type": OF_PIN,
  at: "option at",
  binary: "review --binary",
  "bundle-policy": LOOSENS,
  challenge: "expected challenge",
  crl: "option crls",
  checkpoint: OF_LOG,
  commitment: "pin commitment",
  drop: OF_PIN,
  "deployment-id": not("what fetch and review ask for: test/cli/review.test.ts holds the answer to it"),
  "ephemeral-key": "option ephemeralKey",
  expect: not("of verify --signed-message alone: test/cli/signed-message.test.ts"),
  expected: not("the rows of expected give it to audit"),
  "fail-on-warning": "option acceptance",
  head: OF_LOG,
  image: "option measurements",
  "instance-id": "pin pcrs of the instance",
  key: OF_LOG,
  kind: OF_TOKENS,
  "manifest-set": "policy check-releases --manifest-set",
  "max-age": "option maxAgeMs",
  "max-gap": OF_LOG,
  namespace: "policy check-releases --namespace",
  "no-manifest-set": LOOSENS,
  "no-policy": LOOSENS,
  "no-private-keys": OF_ADDRESSES,
  nonce: "option nonce",
  now: LOOSENS,
  "organization-id": "expected organizationId",
  origin: OF_LOG,
  partial: OF_LOG,
  payload: "expected payload",
  pcrs: OF_PIN,
  policy: not("the policy itself: the rows of its members"),
  "policy-signers": not("whose policy it is: test/matrix/signed-policies.test.ts has each entrance"),
  "policy-state": not("it refuses feeds, and judges no evidence: test/cli/policy-source.test.ts"),
  previous: "review --previous",
  "quorum-key": OF_PIN,
  repository: OF_PIN,
  request: "expected parameters",
  "role-arn": "pin pcrs of the role",
  "signer-key": "expected publicKey",
  signers: OF_FEED,
  "skip-unapproved": LOOSENS,
  suborgs: OF_ADDRESSES,
  tolerance: OF_TOKENS,
  "trust-anchor": LOOSENS,
  "trusted-root": OF_PIN,
  "genesis-request": not("of outputs of ceremonies, which no other door reads: test/cli/review-genesis.test.ts"),
  "github-release": OF_PIN,
  tenant: OF_PIN,
  "user-id": OF_TOKENS,
  whole: not("which entries the exit code counts: test/cli/audit.test.ts"),
  "verify-addresses": not("the column of addresses has it at the proxy, in each cell"),
  wallet: OF_ADDRESSES,
} satisfies Readonly<Partial<Record<OptionName, Covered>>>;

/** The commands that take a policy. */
type JudgingCommand = {
  [C in CommandName]: "--policy <file>" extends keyof (typeof COMMAND_OPTIONS)[C] ? C : never;
}[CommandName];

/** Those that no column has as its options, and why. */
export const NO_DOORS = {
  "audit worker": "it judges what an audit puts into a queue, which is an entrance of audit",
  token: "it judges tokens under quorum keys, and no boot proofs: test/token has a table of its own",
} satisfies Readonly<Record<Exclude<JudgingCommand, OptionsOfEntrances>, string>>;

const DEMANDS = {
  "organization-id": "organization",
  address: "addresses",
  payload: "payloads",
  challenge: "challenges",
  nonce: "nonce",
  "ephemeral-key": "ephemeralKey",
  "fail-on-warning": "failOnWarning",
} as const satisfies Partial<Record<OptionName, keyof FormValues>>;

/** The field of the page's form for what an option demands; an option without one is not on the page. */
export const FORM: Readonly<Partial<Record<OptionName, keyof FormValues>>> = DEMANDS;

/** Fields of the form that are a choice that loosens, or no demand. A new field is in one of both tables. */
export const NO_DEMANDS = {
  policy: true,
  now: true,
  allowDebug: true,
} as const satisfies Record<Exclude<keyof FormValues, (typeof DEMANDS)[keyof typeof DEMANDS]>, true>;
