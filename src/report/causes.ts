/**
 * The advice on each cause of a failure. Only a rejection loads it, with the usual advice of the checks. A text that
 * the evidence chose is repeated only if it has the form of an id, since advice is what people follow.
 */
import type { Cause, CauseWithFacts, CheckId, DeploymentCause, PcrsCause, PlainCause } from "../checks.js";
import { type Fault, type FaultCause, listed } from "../errors.js";

type Advice = {
  readonly [C in CauseWithFacts["code"]]: (cause: Extract<CauseWithFacts, { readonly code: C }>) => string;
} & { readonly [C in PlainCause]: string };

const LATER = "Verify the activity again when";

const CAUSES: Advice = {
  "line-breaks": () =>
    "The text was wrapped when it was copied: save the service's response to a file (bootproof fetch does), instead " +
    "of copying it from a terminal or a message. In JSON that you write, the line breaks of a PEM are \\n.",
  "cut-off": () => "The text ends in the middle: a copy or a download was cut off. Get it again, all of it.",
  version: ({ found, reads }) =>
    `It is of version ${found}, and this program reads ${reads}: install the version of bootproof that its writer ` +
    `used, or have it written as ${reads}. Changing the number changes what the other members mean.`,
  organization: ({ what, expected, found }) =>
    `${what} is of ${isId(found) ? `organization ${found}` : "another organization"}, and ${expected} was expected ` +
    "(--organization-id, organizationId): either that id is of another organization, such as a parent, a child or " +
    "another environment, or the evidence is. Compare the id with your own account, never with the evidence.",
  "two-organizations":
    "App proofs and activity are of different organizations: give the app proofs that came with this activity. If " +
    "they did come with it, do not use the result.",
  "used-before":
    "These app proofs already counted for another activity: give those of this one. If the service sent them for " +
    "both, do not use the result.",
  denied: "The enclave's last decision is to deny, whatever the activity says: do not use the result, and report it.",
  "aws-root":
    "The document is of AWS hardware, and the policy is of another installation, such as a lab: verify it with the " +
    "policy of production.",
  "other-time":
    "The certificates were not valid at the time that you chose (--at), but their document is of another time: leave " +
    "out --at, and limit the age of the document by maxAge.",
  "old-list": "Give the issuer's current list, from the address in cRLDistributionPoints of the certificate.",
  "no-qos-key": "No QuorumOS enclave made this document: do not trust it.",
  "claimed-key": "The service names a key that its own document does not attest: report it.",
  "unexpected-nonce":
    "The document was requested with a nonce: pass it with --nonce if it is yours, or do not use the document.",
  "no-nonce": "The document was requested without a nonce: request one with yours, or omit --nonce.",
  "code-pcrs-absent": "The hardware attests all of these PCRs: request a new document, and do not trust this one.",
  "no-share": "Release no share for this document, and report it.",
  "signs-no-app-proofs": "The key is not the one that the enclave serves with: do not use the result.",
  clock: "Check this machine's clock; if it is right, do not use the result.",
  "before-request":
    "The proof is older than your request, so it answers an earlier one: do not use the result. If the time of the " +
    "request (timestampMs of --request) is wrong, correct it.",
  unfinished: `${LATER} it is completed.`,
  "needs-votes": `${LATER} other users have approved it. Their votes name its fingerprint.`,
  "needs-factor": `${LATER} its user has confirmed it with another factor.`,
  "no-result": "The activity has no result: look whether the service carried it out before you submit it again.",
  "no-bundle": "Give the bundles of the build (--provenance FILE; in the library: provenance in the evidence).",
  "policy-expired": "Get the newest version from those who sign the policy; if there is none, they have to renew it.",
  "policy-early": "Check this machine's clock (or --now); if it is right, ask those who sign the policy.",
  "no-app-proof": "Give the app proofs (--app-proof), or the activity that has them (--activity).",
  "no-timed-app-proof": "Give an app proof that has a time (timestampMs).",
  "no-decision": "Give the app proof of the decision; if the decision is a denial, do not use the result.",
  "other-type": "Give app proofs of the types that the policy allows; do not use any other.",
  "is-app-proof": "Verify it as the app proof that it is (--app-proof, verifyAppProof).",
  "other-bytes": "The application signed other bytes than yours: do not use the result.",
  "signs-any-bytes":
    "The policy says that this application signs any bytes (appProofs.bytes), so anybody may have it sign this: do " +
    "not use the result.",
  "bytes-not-allowed":
    'If the application is meant to sign bytes that are no app proof, add "appProofs": {"bytes": true} to its ' +
    "deployment in the policy. Its app proofs of addresses and decisions then count no more.",
  untimed: "Have the application sign its time (timestampMs), or remove maxAge of appProofs.",
  "old-app-proof": "Get newer app proofs, or allow a greater maxAge of appProofs.",
  derivation: ({ deployment, add }) =>
    `If ${deployment} is the application that derives addresses, add ${add} to its deployment in the policy, with ` +
    "each other type that it signs, or pin one namespace for all; if it is not, do not use the result.",
  "only-document": "Give the whole boot proof instead of only its document.",
  "other-program": "The enclave runs a kind of application that is not pinned: review its manifest before you pin it.",
  "lower-threshold": "The set has the same members, but its threshold is lower than the policy demands.",
  "setup-document":
    "The document is of the setup, before the enclave had its quorum key: get the boot proof of the enclave that " +
    "serves now (bootproof fetch --app NAME).",
  "deployment-kind": ({ kind }) => `Use a policy with a deployment of kind ${kind}.`,
  "public-secret": "The policy pins a key of a test, which everybody has: verify with the policy of production.",
  "other-quorum-key": "Do not use the bundle. If the service announced a new quorum key, pin the release that has it.",
  "other-pcrs": adviceOnPcrs,
  deployment: runbook,
};

/** Returns the advice on all causes of a failure, each text once. `usual` has the usual advice of each check. */
export function adviceOn(causes: readonly Cause[], usual: Readonly<Record<CheckId, string>>): string {
  const texts = causes.map((cause) => {
    if (typeof cause === "string") return usual[cause as CheckId] ?? CAUSES[cause as PlainCause];
    return (CAUSES[cause.code] as (facts: CauseWithFacts) => string)(cause);
  });
  return [...new Set(texts)].join(" ");
}

/** Returns the advice on faults of a file, or undefined if it does not depend on their causes. */
export function adviceOnFaults(faults: readonly Fault[]): string | undefined {
  const cause = faults.find((fault) => fault.cause !== undefined)?.cause;
  return cause && (CAUSES[cause.code] as (facts: FaultCause) => string)(cause);
}

function isId(text: string): boolean {
  return /^[\w-]{1,100}$/.test(text);
}

interface Meaning {
  readonly indices: readonly number[];
  readonly differs: string;
  readonly todo: string;
}

/** The meaning of PCRs (verify/README.md, "PCRs"). */
const CODE: readonly number[] = [0, 1, 2];
const MEANINGS: readonly Meaning[] = [
  { indices: CODE, differs: "the enclave image differs", todo: "compare with the release you expect" },
  {
    indices: [3],
    differs: "the role of the instance, or its AWS account, differs",
    todo: "find out who runs it",
  },
  { indices: [4], differs: "the instance differs", todo: "check whether it was replaced" },
  { indices: [8], differs: "the certificate that signed the image differs", todo: "find out who signed it" },
];
const OTHER = { differs: "what the software inside measured differs", todo: "compare with what you expect of it" };

/** Texts by what the PCRs were compared with. A policy may be changed, but a manifest may not. */
const AGAINST = {
  policy: { from: "from the policy", same: "is as pinned", todo: null },
  image: { from: "from the given one", same: "is the given one", todo: null },
  manifest: { from: "from the manifest", same: "is the one in the manifest", todo: "report it" },
} as const;

function adviceOnPcrs({ differing, compared, against }: PcrsCause): string {
  const { from, same, todo } = AGAINST[against];
  const known = MEANINGS.flatMap(({ indices }) => indices);
  const meanings = [...MEANINGS, { indices: differing.filter((index) => !known.includes(index)), ...OTHER }];
  const isSameImage = CODE.every((index) => compared.includes(index) && !differing.includes(index));
  const sentences = meanings.flatMap((meaning) => {
    const own = meaning.indices.filter((index) => differing.includes(index)).map((index) => `PCR${index}`);
    return own.length === 0 ? [] : [`${listed(own, ", ")}: ${meaning.differs} ${from}; ${todo ?? meaning.todo}.`];
  });
  return [...sentences, ...(isSameImage ? [`The image (PCR0 to PCR2) ${same}.`] : [])].join(" ");
}

const DIFFERS: Readonly<Record<DeploymentCause["is"], string>> = {
  changed: "The enclave is genuine, and not one that the policy pins. Pin nothing from this evidence.",
  older:
    "The manifest is older than the policy accepts: the deployment was retired, or rolled back. Get the boot proof " +
    "of the enclave that serves now (bootproof fetch --app NAME). Pin nothing from this evidence.",
  another:
    "The policy pins another namespace or quorum key: verify with the policy of this application and environment. If " +
    "this is that policy, the enclave is of another party. Pin nothing from this evidence.",
};

/** Steps that begin at the release, since whoever made the evidence chose its values. Each command has a line. */
function runbook({ kind, is, isSigned }: DeploymentCause): string {
  return [DIFFERS[is], ...(isSigned ? NEWEST_VERSION : RELEASE[kind]), ...KEEP[kind]].join("\n");
}

const NEWEST_VERSION = [
  "Those who sign the policy add releases: get its newest version, and verify again.",
  "bootproof policy check feed.jsonl --policy-signers signers.json",
];

type OfKind = Readonly<Record<DeploymentCause["kind"], readonly string[]>>;

const RELEASE: OfKind = {
  qos: [
    "Find the release of this change where you always get releases. Pin it in a copy, review it, verify again.",
    "bootproof pin --release RELEASE --app NAME --add-to policy.json --out next.json",
    "bootproof review RELEASE/NAME/manifest --policy next.json --previous OLD/NAME/manifest",
  ],
  nitro: [
    "Get the image of the release from its publisher, or build it, and compare what it measures with this report.",
    "bootproof measure image.eif --policy policy.json",
  ],
};

const STOP = "No release, or rejected again: use no result, keep the evidence, and ask who runs the enclave.";
/** Rejected evidence is only packed without the policy that rejects it, and a bare document never is. */
const KEEP: OfKind = {
  qos: [STOP, "bootproof bundle --boot-proof boot.json --no-policy --out kept.json"],
  nitro: [STOP],
};
