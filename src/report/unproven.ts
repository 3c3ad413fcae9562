/**
 * Sentences on what a report leaves open (report/README.md, "Not proven"), and the warnings. Text from evidence is made
 * printable here.
 */
import { lastOf } from "../bytes.js";
import type { CheckId, WarningCheckId } from "../checks.js";
import { KNOWN_PAYLOAD_TYPES } from "../decode/app-proof-limits.js";
import { known } from "./labels.js";
import { printable, printableStart, quoted, shortHex } from "./printable.js";
import type { Question } from "../appraise/questions.js";
import type {
  ActivityClaims,
  BootProofClaims,
  Claims,
  HardwareClaims,
  ImageClaims,
  Report,
  SignedBytesClaims,
} from "./report.js";
import {
  carriesNonce,
  grouped,
  isAws,
  isBuiltAsAttested,
  isGiven,
  mergedStatements,
  shortList,
  subjectRanges,
} from "./statements.js";

/** PCRs that identify the release of an image. PCR8 identifies who signed it. */
const CODE_PCRS = [0, 1, 2];
const MAX_REASON = 1200;

const REJECTED = "Anything: the evidence was rejected. Believe none of it, not even the parts that passed.";

/** Returns statements on what is left open, the most serious first. */
export function unprovenStatements(report: Report): string[] {
  const { claims } = report;
  if (claims === null) return [REJECTED];
  return [
    ...openIdentity(report),
    ...rulesNotApplied(report).map(({ open }) => open),
    ...mergedStatements(claims.bootProofs.map((boot, index) => openAboutBoot(boot, isAws(report, index)))),
    ...openVersion(report),
    ...openLatest(report),
    ...openApproval(report, claims),
    ...openResults(report, claims),
    ...openAlways(report, claims),
  ];
}

/** Returns statements about a signed policy, whose feed somebody else chose to show. */
function openVersion({ signedPolicy }: Report): string[] {
  if (signedPolicy === undefined) return [];
  const { name, version, remembered } = signedPolicy;
  const words = `version ${version} of the policy ${quoted(name)}`;
  const others = `That others are shown the same ${words}: compare its SHA-256 with theirs.`;
  if (remembered) return [others];
  const newest = `That nothing newer than ${words} exists: no state is kept. Keep one, or pin minVersion.`;
  return [newest, others];
}

/** Sources of warnings in the order in which they are shown: checks that warn, and rules that were not applied. */
export const CAVEATS = {
  "chain.anchor": (report, claims) =>
    ofBoots(claims, ({ hardware }, index) => (isAws(report, index) ? [] : [rootCaveat(hardware)])),
  "chain.revocation": (report, claims) => ofBoots(claims, (_, index) => bootCaveats(report, "chain.revocation", index)),
  "mode.debug": (_, claims) => ofBoots(claims, ({ image }) => (image.debug ? [DEBUG] : [])),
  "policy.age": (report, claims) => ofBoots(claims, (_, index) => bootCaveats(report, "policy.age", index)),
  "policy.scope": scopeCaveats,
  "policy.current": (report) => warnings(report, "policy.current").map((text) => `${text}.`),
  rules: (report) => rulesNotApplied(report).map(({ warning }) => warning),
  "app.time": untimedCaveats,
  "activity.request": (report) => warnings(report, "activity.request").map((text) => `${text}.`),
  "activity.claims": claimCaveats,
} as const satisfies Readonly<Record<WarningCheckId | "rules", (report: Report, claims: Claims) => readonly string[]>>;

function ofBoots({ bootProofs }: Claims, caveatsOf: (boot: BootProofClaims, index: number) => string[]): string[] {
  return mergedStatements(bootProofs.map(caveatsOf));
}

/** Returns the warnings, which weaken a good verdict. */
export function caveats(report: Report): string[] {
  const { claims } = report;
  return claims === null ? [] : Object.values(CAVEATS).flatMap((caveatsOf) => caveatsOf(report, claims));
}

/** Returns rules that were not applied, as a warning and as a statement under "Not proven". */
function rulesNotApplied({ notApplied = [] }: Report): { readonly warning: string; readonly open: string }[] {
  if (notApplied.length === 0) return [];
  const rules = shortList(notApplied.map(printable), " and ");
  if (notApplied.every((rule) => rule === "appProofs.coverage"))
    return [
      {
        warning: `there was no activity: the policy's rule for its addresses (${rules}) was not applied.`,
        open: `The policy's rule for the addresses of an activity (${rules}): there was no activity.`,
      },
    ];
  return [
    {
      warning:
        `app proofs were not part of this verification: ` + `the policy's rules for them (${rules}) were not applied.`,
      open: `The policy's rules for app proofs (${rules}): they were not part of this verification.`,
    },
  ];
}

const DEBUG = "debug mode was found and allowed: nothing about the code is proven.";

function rootCaveat({ trustAnchor }: HardwareClaims): string {
  return `the certificates lead to ${quoted(trustAnchor)}, not to AWS: nothing shows that this is AWS hardware.`;
}

/** Returns the warnings of a check about one boot proof. */
function bootCaveats(report: Report, id: CheckId, index: number): string[] {
  const checks = report.checks.filter(({ about, subject }) => (about ?? subject) === `boot[${index}]`);
  return warnings({ checks }, id).map((text) => `${text}.`);
}

/** Returns a warning for each reason of `policy.scope`. Without reasons, returns the detail of the check. */
function scopeCaveats(report: Report, claims: Claims): string[] {
  const reasons = claims.bootProofs.flatMap(({ deployment, scope }) => {
    return scope.map((reason) => `the deployment ${quoted(deployment ?? "")}: ${printableStart(reason, MAX_REASON)}.`);
  });
  const found = reasons.length > 0 ? reasons : warnings(report, "policy.scope");
  if (found.length > 0) return found;
  const open = [...new Set(claims.bootProofs.flatMap((boot) => boot.open))];
  if (open.length === 0) return [];
  return [
    `the policy leaves the ${shortList(open.map(printable), " and the ")} open: somebody else's enclave may pass.`,
  ];
}

/** Returns a warning about app proofs without a time, unless they answer a challenge and so are new. */
function untimedCaveats(_: Report, { appProofs, signedBytes }: Claims): string[] {
  if (signedBytes) return ["the signed bytes have no time: they may be an old answer."];
  const untimed = appProofs.flatMap(({ time, answers }, index) => (time === null && !answers ? [index] : []));
  if (untimed.length === 0) return [];
  const [has, it] = untimed.length === 1 ? ["has", "it"] : ["have", "each"];
  return [`${subjectRanges("app", untimed)} ${has} no time: ${it} may be an old answer.`];
}

function claimCaveats(report: Report, { activity }: Claims): string[] {
  if (activity === null || activity.subOrganizationId === null) return warnings(report, "activity.claims");
  return [`no enclave signed that this organization is new or yours: ${quoted(activity.subOrganizationId)}.`];
}

function warnings({ checks }: Pick<Report, "checks">, id: CheckId): string[] {
  const warned = checks.filter((check) => check.id === id && check.status === "warn");
  return warned.map(({ detail }) => printableStart(detail, MAX_REASON));
}

/** Whether the evidence's maker chose the policy. The verdict is then `authentic` at best. */
export function isByMakersPolicy({ verdict, checks }: Report): boolean {
  return verdict === "authentic" && checks.some(({ id }) => isOfPolicy(id));
}

function isOfPolicy(id: string): boolean {
  return id.startsWith("policy.");
}

function openIdentity(report: Report): string[] {
  if (report.verdict !== "authentic") return [];
  const none = isByMakersPolicy(report) ? "no policy of yours was given" : "no policy was given";
  const areGiven = report.claims?.bootProofs.every(isGiven) === true;
  const open = areGiven
    ? `Whose enclave this is, which application it should run and who may change that: ${none}, and ` +
      "anybody can run that image"
    : `Whose enclave this is and which code it should run: ${none}, and anybody can run a genuine enclave`;
  return [`${open}. Pin the deployment that you expect with \`bootproof pin\`, and verify with --policy.`];
}

function openAboutBoot(boot: BootProofClaims, aws: boolean): string[] {
  const { hardware, image } = boot;
  return [
    ...(image.debug
      ? ["What code runs in the enclave: it is in debug mode, and its operator can look into it and change it."]
      : []),
    ...(aws
      ? []
      : [
          `That the enclave is AWS hardware: its certificates lead to ${quoted(hardware.trustAnchor)}, ` +
            "and the holder of that key can attest anything.",
        ]),
    ...boot.open.map((question) => openQuestion(question)),
    ...openAboutKind(boot),
    ...(image.manifest === null ? openAboutDocument(boot) : []),
  ];
}

const OPEN_QUESTIONS: Readonly<Record<Question, string>> = {
  application: "Which application runs in the enclave: the policy leaves it open.",
  operator:
    "Whose deployment the enclave is: the policy leaves it open, and anybody can run the same with their own keys.",
};

function openQuestion(question: Question): string {
  const sentence = Object.hasOwn(OPEN_QUESTIONS, question) ? OPEN_QUESTIONS[question] : null;
  return sentence ?? `What the policy leaves open: ${quoted(String(question))}.`;
}

/** Returns open questions about shares: the manifest's quorum key, and the document's attested key. */
function openShares({ form, hardware, image }: BootProofClaims): string[] {
  if (form !== "provisioning" || image.manifest === null) return [];
  return [
    `That the shares of the quorum key ${shortHex(image.manifest.quorumKey)} would go to this enclave: the document ` +
      `is legacy, so its key ${shortHex(hardware.publicKey ?? "")}, to which they would go, may be an attacker's.`,
  ];
}

function openAboutKind(boot: BootProofClaims): string[] {
  const { image } = boot;
  if (image.commitment === "legacy") {
    return [
      ...openShares(boot),
      "Which application requested the document: it is legacy, without a commitment (PCR16, PCR17), so " +
        `any application in the enclave could have requested it, with another ${legacyReach(image)}.`,
    ];
  }
  if (image.commitment !== "setup") return [];
  return [
    "That the enclave holds the quorum key: the document is from its setup, before it holds that key.",
    "That the enclave serves with this key: it is a setup key, and app proofs need a live key.",
  ];
}

function legacyReach({ pinned, restsOn }: ImageClaims): string {
  if (pinned && restsOn === "manifestHash") return "key";
  return pinned && restsOn === "manifestSet" ? "key, or manifest that the set approved" : "key or manifest";
}

function openAboutDocument({ image }: BootProofClaims): string[] {
  const pinsRelease = CODE_PCRS.every((index) => image.pinnedPcrs.includes(index));
  return [
    ...(image.pinned && !pinsRelease
      ? [
          "Which release runs in the enclave: the policy pins PCR8 alone, the certificate that signed the image, " +
            "so every image with that signer passes.",
        ]
      : []),
    "Which application runs in the enclave, and who approved it: a bare attestation document comes without a " +
      "manifest. Only the application defines what its public key and user data mean.",
  ];
}

/** Returns open questions about the latest boot proof. The service chooses it, and does not sign that choice. */
function openLatest({ evidence, verdict }: Report): string[] {
  const apps = evidence.flatMap((piece) => (Object.hasOwn(piece, "latestOf") ? [quoted(piece.latestOf!)] : []));
  if (apps.length === 0) return [];
  const proven = verdict === "authentic" ? "" : " The policy proves only which of its deployments each one is.";
  const what = "That the boot proof is of the application that you named, and of its latest boot";
  return [`${what} (${shortList(apps)}): only the service's word.${proven}`];
}

function openApproval(report: Report, claims: Claims): string[] {
  if (claims.bootProofs.every(({ image }) => image.manifest === null)) return [];
  if (passed(report, "policy.manifest-set") || passed(report, "policy.manifest-hash")) return [];
  const isPolicy = report.verdict !== "authentic";
  const why = isPolicy ? "the policy does not pin a manifest set" : "the manifest itself names them";
  return [`That the right people approved the manifest: ${why}.`];
}

function openResults(report: Report, claims: Claims): string[] {
  if (claims.activity !== null) return [...openActivity(claims.activity), ...(otherProofs(claims) ?? [])];
  if (claims.signedBytes) return openBytes(claims.signedBytes);
  if (claims.appProofs.length === 0) {
    const isQos = claims.bootProofs.some(({ image }) => image.manifest !== null);
    return isQos ? ["Any result of the application: no app proof was given."] : [];
  }
  const payloads = claims.appProofs.map(({ payload }) => payload);
  return [
    ...openSignUp(claims),
    ...whoseProofs(report, claims),
    ...(payloads.some((payload) => Object.hasOwn(payload, "policyOutcomeProof")) ? [DECISION] : []),
    ...(payloads.some((payload) => Object.hasOwn(payload, "addressDerivationProof"))
      ? [walletStatement(claims.signUp?.walletId ?? null)]
      : []),
  ];
}

/** Returns statements on signed bytes: nothing in them names a time, a caller or a question. */
function openBytes({ expected }: SignedBytesClaims): string[] {
  return [
    "When the application signed the bytes, and for whom: they may be an old answer, or one to somebody else.",
    ...(expected ? [] : ["Whether they are the bytes that you expect: you named none to compare with."]),
    "What the bytes mean: only the application defines that.",
  ];
}

/** Returns statements on a sign-up: app proofs contain only the id of the organization. */
function openSignUp({ signUp }: Claims): string[] {
  if (signUp === undefined) return [];
  return [
    `That the organization is new and yours (${quoted(signUp.organizationId)}): the auth proxy chose it, and app ` +
      "proofs contain only its id.",
    "The user and the credentials of the organization: the auth proxy's word. It could have registered others.",
    "The curve and the format of each address: app proofs contain neither. Among accounts at one path, the auth " +
      "proxy chose which address is whose.",
  ];
}

/**
 * Returns statements on app proofs whose owner is not known. `app.request` is skipped if nothing was expected, and
 * warns if a proof names no organization.
 */
function whoseProofs(report: Report, claims: Claims): string[] {
  const others = otherProofs(claims);
  if (others !== null) return others;
  const statuses = report.checks.filter(({ id }) => id === "app.request").map(({ status }) => status);
  if (statuses.length === 0 || statuses.includes("skip")) {
    return ["Whose app proofs these should be: you named no organization or address to compare with."];
  }
  return statuses.includes("warn")
    ? ["The owner of the app proofs that name no organization: only their enclave is known."]
    : [];
}

/**
 * Returns a statement on app proofs that were not compared with anything, or null if no payload is expected. An
 * activity is compared with app proofs of known types.
 */
function otherProofs({ appProofs, activity }: Claims): string[] | null {
  const isNamed = appProofs.map(({ expectation }) => typeof expectation === "number");
  if (!isNamed.includes(true)) return null;
  const others = appProofs.flatMap(({ type }, index) =>
    !isNamed[index] && (activity === null || !KNOWN_PAYLOAD_TYPES.includes(type)) ? [index] : [],
  );
  if (others.length === 0) return [];
  return [`What ${subjectRanges("app", others)} should be about: you expected nothing of app proofs of that type.`];
}

const DECISION =
  "That the decision was about this request, and that none was withheld: the enclave signed only its decision, " +
  "for which organization, and when.";
const NO_DECISION =
  "That an enclave decided to allow this: no decision is among the app proofs, and one may have been withheld.";
const ORIGIN = "no proof covers how it was created";

function walletStatement(walletId: string | null): string {
  const which = walletId === null ? "" : ` (${quoted(walletId)})`;
  return `That the wallet was made by your request, and that no one else knows its seed${which}: ${ORIGIN}.`;
}

function openActivity(activity: ActivityClaims): string[] {
  const { asked, walletId, subOrganizationId, coveredAddresses, resultWithoutProof, decisions } = activity;
  return [
    ...(asked.length > 0
      ? []
      : ["Whose activity it should be: you named no organization and no request to compare with."]),
    ...(asked.includes("parameters") ? [] : [openRequest(activity)]),
    ...(subOrganizationId === null
      ? []
      : [
          `That the sub-organization is new, yours, with your users (${quoted(subOrganizationId)}): ` +
            "app proofs contain only its id.",
        ]),
    ...openSecrets(walletId, coveredAddresses),
    decisions > 0 ? DECISION : NO_DECISION,
    ...openAddresses(activity),
    ...openSignatures(activity),
    ...(resultWithoutProof.length === 0
      ? []
      : [
          `In the result, ${shortList(resultWithoutProof.map((path) => printableStart(path, 120)))}: ` +
            `only the service's word, without an app proof.`,
        ]),
    "The rest of the activity (its status, votes, fingerprint and other fields): the service's word, signed by no " +
      "enclave.",
  ];
}

function openSecrets(walletId: string | null, addresses: readonly string[]): string[] {
  if (walletId !== null) return [walletStatement(walletId)];
  if (addresses.length === 0) return [];
  return [`That the key behind the address was made by your request, and that no one else knows it: ${ORIGIN}.`];
}

/** Reasons why the parameters were not compared. */
const NOT_COMPARED: Readonly<Record<string, string>> = {
  id: "only the id of the activity was compared",
  fingerprint: "you voted on the activity, and only its fingerprint was compared, which no enclave signed",
};

function openRequest({ coveredAddresses, uncoveredAddresses, question }: ActivityClaims): string {
  const hasAddresses = coveredAddresses.length + uncoveredAddresses.length > 0;
  const what = hasAddresses ? "The paths, and the rest of the request" : "The request";
  const why = (question && known(NOT_COMPARED, question)) ?? "you gave no request to compare with";
  return `${what}: ${why}, so what was requested is only the service's word.`;
}

/** Returns statements on signatures that are not proven. Equal reasons are listed once. */
function openSignatures({ signatures = [] }: ActivityClaims): string[] {
  const open = signatures.flatMap(({ index, open: reason, publicKey, signWith }) =>
    reason === null ? [] : [{ index, said: openSignature(reason, publicKey, signWith) }],
  );
  return [...grouped(open, ({ said }) => said)].map(([said, all]) => {
    const which =
      all.length === signatures.length
        ? "The signature"
        : `Signature ${shortList(all.map(({ index }) => String(index)))}`;
    return `${which}: ${said}.`;
  });
}

function openSignature(reason: string, publicKey: string | null, signWith: string): string {
  const text = printableStart(reason, MAX_REASON);
  const named = `it verifies over what you submitted, under ${printable(publicKey ?? "")} for ${quoted(signWith)}; `;
  return publicKey === null ? text : named + text;
}

function openAddresses({ uncoveredAddresses: uncovered, id }: ActivityClaims): string[] {
  if (uncovered.length === 0) return [];
  const [addresses, them] = uncovered.length === 1 ? ["The address", "it"] : ["The addresses", "them"];
  const which = shortList(uncovered.map((address) => printableStart(address, 120)));
  return [`${addresses} ${which} in activity ${quoted(id)}: no app proof covers ${them}.`];
}

function openAlways(report: Report, claims: Claims): string[] {
  const isLabelled = claims.bootProofs.some(({ form, image }) => image.manifest !== null && form === undefined);
  const arePinned =
    report.verdict !== "authentic" &&
    report.checks.some((check) => check.id === "policy.labels" && check.status === "pass");
  const labels =
    "The labels (enclaveApp, owner, deploymentLabel) and createdAt: the service's word, signed by no enclave.";
  const pinned = arePinned ? " The policy pins labels, but that checks only the service's response." : "";
  return [
    ...(isLabelled ? [labels + pinned] : []),
    ...(claims.bootProofs.some(({ form }) => form === "provisioning") ? [UNSIGNED_DETAILS] : []),
    openSource(claims),
    ...openReleases(claims),
    ...openLife(report, claims),
  ];
}

/** Returns the statement on the source code. Provenance is only about the binary: who built the image is not proven. */
function openSource(claims: Claims): string {
  const isAttested = claims.bootProofs.length > 0 && claims.bootProofs.every((_, i) => isBuiltAsAttested(claims, i));
  if (isAttested)
    return (
      "What source code the measured image was built from, that the build of the binary is reproducible, and whether " +
      "the code is good: reproduce the builds, and review the code."
    );
  return (
    "What source code the measured image and binary were built from, and whether that code is good: " +
    "reproduce the build, and review the code."
  );
}

/** Returns a statement on each release that carries a binary. */
function openReleases({ provenance = [] }: Claims): string[] {
  const releases = provenance.flatMap(({ release }) => release ?? []);
  const names = releases.map(({ tag, repository }) => `${quoted(tag, MAX_NAME)} of ${quoted(repository, MAX_NAME)}`);
  return [...new Set(names)].map(
    (name) =>
      `Which source and which build made the file of release ${name}: whoever may publish a release uploads any file.`,
  );
}

const MAX_NAME = 300;

const UNSIGNED_DETAILS =
  "The time, the deployment and the state that provisioning details name beside the document: no enclave signed " +
  "them, and no check uses them.";

/** Returns a statement unless every document is known to be new, by the caller's nonce or an answer to a challenge. */
function openLife(report: Report, claims: Claims): string[] {
  const isAlive = (index: number): boolean =>
    carriesNonce(report, index) || claims.appProofs.some(({ bootProof, answers }) => bootProof === index && answers);
  const withoutNonce = claims.bootProofs.filter((_, index) => !isAlive(index));
  const times = withoutNonce.map(({ hardware }) => printable(hardware.documentTime));
  if (times.length === 0) return [];
  const age = passed(report, "policy.age") ? "" : " no maximum age was set,";
  const ends = new Set([times.sort()[0]!, lastOf(times)!]);
  const made = [...ends].join(" to ");
  return [`That the enclave still runs: the document is of ${made},${age} and it carries no nonce of yours.`];
}

/** Whether a check passed. Under `authentic` the caller gave no policy, so checks of a policy are ignored. */
function passed(report: Report, id: CheckId): boolean {
  if (report.verdict === "authentic" && isOfPolicy(id)) return false;
  const own = report.checks.filter((check) => check.id === id);
  return own.length > 0 && own.every((check) => check.status === "pass");
}
