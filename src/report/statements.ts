/**
 * Sentences on what a report proves, and on what an unproven image says. Long hex is shortened, but the claims have all
 * of it. Text from evidence is made printable here.
 */
import type { CheckId } from "../checks.js";
import { type JsonObject, type JsonValue, isJsonObject, printableJson } from "../decode/json.js";
import type { CommitmentKind } from "../verify/commitment.js";
import { known } from "./labels.js";
import { rangesOf } from "./compare.js";
import { capitalized, printable, printableStart, quoted, shortHex } from "./printable.js";
import type {
  ActivityClaims,
  AppProofClaims,
  BootProofClaims,
  Claims,
  ImageClaims,
  ManifestClaims,
  ProvenanceClaims,
  Report,
  RestsOn,
} from "./report.js";

const MAX_LISTED = 8;
const LONG_HEX = /^[0-9a-fA-F]{48,}$/;

/** How statements are worded. With `verbose` each boot proof has its own statements. */
interface Wording {
  readonly hex: (hex: string) => string;
  readonly detail: "summary" | "normal" | "verbose";
}

const SHORT: Wording = { hex: (hex) => shortHex(hex), detail: "normal" };

/** A statement. In a list of many, `alike` replaces `text`: it omits the values in which boot proofs differ. */
type Statement = string | { readonly text: string; readonly alike: string };

/** Returns statements on what is proven. There are none if the evidence was rejected. */
export function provenStatements(report: Report, wording: Wording = SHORT): string[] {
  const { claims } = report;
  if (claims === null) return [];
  return [
    ...enclaveStatements(report, claims, wording),
    ...appProofStatements(claims, isVouchedFor),
    ...activityStatements(claims),
    ...(claims.bootProofs.every(isVouchedFor) ? coverageStatements(claims) : []),
  ].map(capitalized);
}

/** Returns the statements for a summary: those on the activity, or on app proofs alone, and their addresses first. */
export function provenRows(report: Report, wording: Wording = SHORT): string[] {
  const { claims } = report;
  if (claims === null) return [];
  const isAlone = claims.activity === null;
  return [
    ...activityStatements(claims),
    ...(isAlone ? [] : provenAddresses(claims).map((address) => `address ${address}: backed by an app proof.`)),
    // A row has one line, so what was signed comes before its time.
    ...(isAlone ? appProofStatements(claims, isVouchedFor, payloadStatement) : []),
    ...enclaveStatements(report, claims, wording),
    ...(isAlone ? [] : appProofStatements(claims, isVouchedFor)),
  ].map(capitalized);
}

/** Returns each address that app proofs prove, and none that only an image states. */
export function provenAddresses(claims: Claims): string[] {
  const addresses = claims.appProofs.flatMap(({ bootProof, type, payload: { addressDerivationProof: derived } }) => {
    const boot = claims.bootProofs[bootProof];
    const isProven = boot !== undefined && isVouchedFor(boot) && type === "APP_PROOF_TYPE_ADDRESS_DERIVATION";
    return isProven && isJsonObject(derived) ? [member(derived, "address")] : [];
  });
  return [...new Set(addresses)];
}

function enclaveStatements(report: Report, claims: Claims, wording: Wording): string[] {
  const all = claims.bootProofs.map((boot, index) => bootStatements(report, boot, index, wording));
  const builds = (claims.provenance ?? []).map((build) => buildStatement(build, wording));
  return [...mergedStatements(all, wording), ...builds];
}

/** Returns a statement about the binary. Statements about the manifest name the enclave that runs it. */
function buildStatement(claims: ProvenanceClaims, { hex }: Wording): string {
  const { signer, release, meets, predicateType, signedTimes } = claims;
  const { issuer, repository, workflow, ref, commit, identity } = signer;
  const named = (text: string | null): string => quoted(text ?? "", MAX_NAME);
  const digests = [...new Set(meets.map(({ digest }) => hex(digest)))];
  if (release !== undefined)
    return (
      `GitHub states that release ${named(release.tag)} of ${named(release.repository)} carries the file with ` +
      `SHA-256 ${shortList(digests)}: ${named(identity)} signed on ${printable(signedTimes[0] ?? "")} ` +
      `(${printableStart(predicateType, MAX_NAME)}), if GitHub, the certificate authority and the timestamp ` +
      "authority of the trusted root are sound."
    );
  const at = commit === null ? "" : ` at commit ${printableStart(commit, MAX_NAME)}`;
  const run =
    repository === null
      ? named(identity)
      : `a run of the workflow ${named(workflow)} of ${named(repository)}, ref ${named(ref)}${at},`;
  const by = signer.signer === null || signer.signer === workflow ? "" : `, signed by ${named(signer.signer)}`;
  return (
    `${run} attested the binary with SHA-256 ${shortList(digests)} on ${printable(signedTimes[0] ?? "")}${by} ` +
    `(${printableStart(predicateType, MAX_NAME)}), if the identity provider ${named(issuer)}, the certificate ` +
    "authority and the logs of the trusted root are sound."
  );
}

/** Maximum characters of workflow names, which contain repository and ref. */
const MAX_NAME = 300;

/**
 * Whether a build of every application of the boot proof is attested, and its manifest is proven. A release states no
 * build.
 */
export function isBuiltAsAttested({ bootProofs, provenance = [] }: Claims, index: number): boolean {
  const boot = bootProofs[index]!;
  const { manifest } = boot.image;
  if (manifest === null || !isVouchedFor(boot)) return false;
  const builds = provenance.filter(({ release }) => release === undefined);
  const attested = builds.flatMap(({ meets }) => meets).filter(({ bootProof }) => bootProof === index);
  if (manifest.workloads === null) return attested.some(({ digest }) => digest === manifest.pivotHash);
  return Object.keys(manifest.workloads).every((name) => attested.some(({ workload }) => workload === name));
}

/** Unproven statements under a heading that ends in "says that". */
interface UnprovenWord {
  readonly heading: string;
  readonly statements: readonly string[];
}

/**
 * Returns unproven statements of manifest, approvals, commitment and app proofs. They are unproven if no policy pins
 * the image, it is in debug mode, or only an application in it vouches for the manifest.
 */
export function unprovenWords(report: Report, wording: Wording = SHORT): UnprovenWord[] {
  const { claims } = report;
  if (claims === null) return [];
  const headings = [...new Set(claims.bootProofs.map(unprovenHeading))].filter((heading) => heading !== null);
  return headings.flatMap((heading, place) => {
    const isUnder = (boot: BootProofClaims): boolean => unprovenHeading(boot) === heading;
    const own = claims.bootProofs.map((boot) => (isUnder(boot) ? imageStatements(boot, wording) : []));
    const statements = [
      ...mergedStatements(own, wording),
      ...appProofStatements(claims, isUnder),
      // An activity is about all boot proofs together, so it is listed once.
      ...(place > 0 ? [] : coverageStatements(claims)),
    ];
    return statements.length === 0 ? [] : [{ heading, statements }];
  });
}

/** Returns the source of manifest, key and app proofs if they are not proven, otherwise null. */
export function speakerOf(boot: BootProofClaims): "its image" | "its application" | null {
  if (isVouchedFor(boot)) return null;
  return boot.image.pinned && !boot.image.debug ? "its application" : "its image";
}

function unprovenHeading(boot: BootProofClaims): string | null {
  const speaker = speakerOf(boot);
  if (speaker !== "its image") return speaker && `${speaker} says that`;
  const unpinned = isGiven(boot) ? "which you gave, but which no policy pins" : "which nothing pins";
  return `${speaker}, ${boot.image.pinned ? "whose code debug mode leaves open" : unpinned}, says that`;
}

const MANY = 4;

/** Merges statements. Statements of several boot proofs begin with their names. Equal statements are listed once. */
export function mergedStatements(all: readonly (readonly Statement[])[], { detail }: Wording = SHORT): string[] {
  const each = detail === "verbose";
  const form = all.length > MANY && !each ? "alike" : "text";
  const items = all.flatMap((statements, boot) => {
    return statements.map((statement) => ({ boot, said: typeof statement === "string" ? statement : statement[form] }));
  });
  if (all.length === 1) return items.map(({ said }) => said);
  return [...grouped(items, ({ boot, said }) => (each ? boot : "") + said).values()].map((group) => {
    const boots = group.map(({ boot }) => boot);
    return `${subjectRanges("boot", boots)}: ${capitalized(group[0]!.said)}`;
  });
}

/** Groups items. Groups and items keep their order. */
export function grouped<T, K extends string>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

/** Returns `boot[0], boot[2] … boot[5]` for 0, 2, 3, 4, 5. */
export function subjectRanges(kind: string, indices: readonly number[]): string {
  return shortList(rangesOf(indices).map((ends) => ends.map((index) => `${kind}[${index}]`).join(" … ")));
}

/**
 * Whether the statements about the image are proven. That is so if a policy pins it, it is not in debug mode, and the
 * manifest rests on more than an application's claim.
 */
export function isVouchedFor({ image }: BootProofClaims): boolean {
  return image.pinned && !image.debug && (image.manifest === null || basisOf(image) !== undefined);
}

function bootStatements(report: Report, boot: BootProofClaims, index: number, wording: Wording): Statement[] {
  const nonce =
    `the document carries your nonce ${wording.hex(boot.hardware.nonce ?? "")}, ` +
    "so it was made after you chose that nonce.";
  return [
    ...hardwareStatements(boot, isAws(report, index), wording),
    ...(carriesNonce(report, index) ? [nonce] : []),
    ...(isVouchedFor(boot) ? imageStatements(boot, wording) : []),
    ...(boot.deployment === null ? [] : [`it is the deployment ${quoted(boot.deployment)} of the policy.`]),
  ];
}

function hardwareStatements(boot: BootProofClaims, aws: boolean, { hex }: Wording): Statement[] {
  const { publicKey, userData } = boot.hardware;
  const image = boot.image.debug
    ? "the enclave or its application runs in debug mode, which was allowed: its code is not proven."
    : measurementStatement(boot, hex);
  // Hardware encodes an absent value as null or as no bytes.
  const key = publicKey === null || publicKey === "" ? null : hex(publicKey);
  const data = userData === null || userData === "" ? "no user data" : `the user data ${hex(userData)}`;
  const carried = (publicKey: string): string => `the document carries ${publicKey} and ${data}.`;
  const own = key && { text: carried(`the public key ${key}`), alike: carried("a public key of its own") };
  return [originStatement(boot, aws), image, own ?? carried("no public key")];
}

function originStatement({ hardware }: BootProofClaims, aws: boolean): Statement {
  const module = `module ${printableStart(hardware.moduleId, 80)}`;
  const made = `made the attestation document at ${printable(hardware.documentTime)}`;
  const lead = aws ? "the AWS Nitro root" : `${quoted(hardware.trustAnchor)}, not to AWS`;
  const enclave = aws ? "a genuine AWS Nitro enclave" : "an enclave";
  return {
    text: `${enclave}, ${module}, ${made}; its certificates lead to ${lead}.`,
    alike: `${enclave} made the attestation document; its certificates lead to ${lead}.`,
  };
}

function measurementStatement(boot: BootProofClaims, hex: Wording["hex"]): string {
  const { hardware } = boot;
  const pcr = (index: number): string => `PCR${index} ${hex(hardware.pcrs[index] ?? "absent")}`;
  const hasRole = !/^0*$/.test(hardware.pcrs[3] ?? "");
  const role = hasRole ? `on an instance with the role of ${pcr(3)}` : "on an instance without a role (PCR3)";
  return `the enclave booted the image that measures ${pcr(0)}, ${pcr(1)}, ${pcr(2)}, ${role}.${imageNote(boot)}`;
}

/** Returns a note that the caller gave this image or its PCRs, or that nothing pins it. */
function imageNote(boot: BootProofClaims): string {
  const { pinned, givenPcrs = [] } = boot.image;
  const given = givenPcrs.map((index) => `PCR${index}`).join(", ");
  if (isGiven(boot)) return ` It is the image that you gave (${given}).`;
  const attested = given === "" ? "" : ` ${given}: equal to what you gave.`;
  return attested + (pinned ? "" : " Nothing pins that image.");
}

/** Whether the caller gave PCR0, which measures an image. In debug mode PCR0 is zeros, which identify no image. */
export function isGiven({ image }: BootProofClaims): boolean {
  return image.givenPcrs?.includes(0) === true && !image.debug;
}

function imageStatements(boot: BootProofClaims, { hex }: Wording): Statement[] {
  const { manifest } = boot.image;
  if (manifest === null) return [];
  return [...manifestStatements(manifest, basisOf(boot.image) ?? "", hex), ...keyStatements(boot, hex)];
}

const UNCOMMITTED = "although the legacy document commits to none";
/** Reasons why the manifest is the one that was booted. The statement about the key names the commitment. */
const BASES: Readonly<Record<RestsOn, string>> = {
  commitment: "",
  manifestHash: `; the policy pins that manifest (manifestHash), ${UNCOMMITTED}`,
  manifestSet: `; the policy pins who approves it (manifestSet), ${UNCOMMITTED}`,
};

/** Returns why the manifest is the booted one. Undefined if `restsOn` is null, or unknown to this version. */
function basisOf({ restsOn }: ImageClaims): string | undefined {
  return restsOn === null ? undefined : known(BASES, restsOn);
}

function manifestStatements(manifest: ManifestClaims, basis: string, hex: Wording["hex"]): string[] {
  const approvers = manifest.approvedBy.map((member) => `${quoted(member.alias)} ${hex(member.pubKey)}`);
  return [
    `it booted with the manifest ${hex(manifest.hash)} (${printable(manifest.version)}) of namespace ` +
      `${quoted(manifest.namespace)}, nonce ${manifest.nonce}, quorum key ${hex(manifest.quorumKey)}${basis}.`,
    applicationStatement(manifest, hex),
    `${manifest.approvedBy.length} of the ${manifest.members} members of its manifest set approved it ` +
      `(${manifest.threshold} needed): ${shortList(approvers)}.`,
  ];
}

function applicationStatement(
  { pivotHash, pivotArgs, pivotEnv, workloads }: ManifestClaims,
  hex: Wording["hex"],
): string {
  if (pivotHash === null) {
    const images = Object.entries(workloads ?? {}).map(
      ([name, digest]) => `${quoted(name)} ${shownDigest(digest, hex)}`,
    );
    return `that manifest runs the workloads ${shortList(images)}.`;
  }
  const args = (pivotArgs ?? []).map((text) => shownValue(text, hex));
  const run = args.length === 0 ? "without arguments" : `with the arguments ${shortList(args, " ")}`;
  const env = Object.entries(pivotEnv ?? {}).map(
    ([name, value]) => `${printableStart(name, 80)}=${shownValue(value, hex)}`,
  );
  const environment = env.length === 0 ? "" : `, in the environment ${shortList(env, " ")}`;
  return `that manifest runs the application binary (pivot) with SHA-256 ${hex(pivotHash)}, ${run}${environment}.`;
}

function shownValue(text: string, hex: Wording["hex"]): string {
  return LONG_HEX.test(text) ? hex(text) : quoted(text);
}

function shownDigest(text: string, hex: Wording["hex"]): string {
  const [algorithm = "", digest = ""] = text.split(":");
  return `${printableStart(algorithm, 20)}:${hex(digest)}`;
}

/** Statement about the key by kind of commitment. */
const COMMITTED: Readonly<Record<CommitmentKind, string>> = {
  live: "; the enclave committed to this key and manifest when it went live.",
  setup: "; the enclave committed to this key and manifest for its setup.",
  legacy: ", as the document attests.",
};

function keyStatements({ hardware, image }: BootProofClaims, hex: Wording["hex"]): Statement[] {
  const said = (image.commitment && COMMITTED[image.commitment]) ?? ".";
  const key: Statement = {
    text: `its ephemeral key is ${hex(hardware.publicKey ?? "")}${said}`,
    alike: `its ephemeral key is the public key of its document${said}`,
  };
  return [
    key,
    ...(image.manifestCommitted ? ["the enclave committed to this manifest in PCR18 too."] : []),
    ...(image.commitment === "setup" && image.manifest ? [shareStatement(image.manifest, hardware, hex)] : []),
  ];
}

/** Returns the statement about shares, which depends on the commitment and not on the form of the boot proof. */
function shareStatement(
  { quorumKey }: ManifestClaims,
  { publicKey }: BootProofClaims["hardware"],
  hex: Wording["hex"],
): Statement {
  const released = `the shares of the quorum key ${hex(quorumKey)} that are released for this document go to`;
  return {
    text: `${released} the key of this document, ${hex(publicKey ?? "")}.`,
    alike: `${released} the key of this document.`,
  };
}

function appProofStatements(
  claims: Claims,
  holds: (boot: BootProofClaims) => boolean,
  statement = appProofStatement,
): string[] {
  const proofs = claims.appProofs.flatMap((proof, index) => {
    const boot = claims.bootProofs[proof.bootProof];
    return boot !== undefined && holds(boot) ? [statement(proof, index, claims)] : [];
  });
  return [...proofs, ...bytesStatements(claims, holds)];
}

function bytesStatements({ signedBytes, bootProofs }: Claims, holds: (boot: BootProofClaims) => boolean): string[] {
  const boot = signedBytes && bootProofs[signedBytes.bootProof];
  if (!boot || !holds(boot)) return [];
  const { length, sha256, expected } = signedBytes;
  const yours = expected ? ", which are the ones that you expected" : "";
  return [`the application signed these ${length} bytes (SHA-256 ${printable(sha256)})${yours}.`];
}

function appProofStatement(proof: AppProofClaims, index: number, claims: Claims): string {
  const boot = claims.bootProofs.length > 1 ? ` of boot[${proof.bootProof}]` : "";
  const subject = claims.appProofs.length > 1 ? `app[${index}]: the application${boot}` : `the application${boot}`;
  const when = proof.time === null ? "stated, at a time that nobody signed" : `stated at ${printable(proof.time)}`;
  return `${subject} ${when}: ${payloadStatement(proof)}${answerStatement(proof)}`;
}

function answerStatement({ answers }: AppProofClaims): string {
  if (answers === null) return "";
  const challenge = `${printableStart(answers.value, 120)} (${printableStart(answers.pointer, 120)})`;
  return ` It answers your challenge ${challenge}, so the enclave was alive after you made it.`;
}

function payloadStatement(proof: AppProofClaims): string {
  const derivation = proof.payload["addressDerivationProof"];
  if (proof.type === "APP_PROOF_TYPE_ADDRESS_DERIVATION" && isJsonObject(derivation)) {
    return `the address ${member(derivation, "address")} was derived for ${facts(derivation, DERIVATION_FACTS)}.`;
  }
  const outcome = proof.payload["policyOutcomeProof"];
  if (proof.type === "APP_PROOF_TYPE_POLICY_OUTCOME" && isJsonObject(outcome)) {
    return `the policy decision is ${member(outcome, "outcome")} for ${facts(outcome, OUTCOME_FACTS)}.`;
  }
  const known = proof.expectation !== null ? "as you expected" : "of a type that this tool does not know";
  return `${printableStart(printableJson(JSON.stringify(proof.payload)), 400)} (${known}).`;
}

const DERIVATION_FACTS: Readonly<Record<string, string>> = {
  organizationId: "organization",
  walletId: "wallet",
  derivationPath: "path",
};
const OUTCOME_FACTS: Readonly<Record<string, string>> = {
  organizationId: "organization",
  decisionContextDigest: "decision context",
  organizationDataDigest: "organization data",
};

function facts(object: JsonObject, words: Readonly<Record<string, string>>): string {
  const there = Object.keys(words).filter((name) => typeof object[name] === "string" && object[name] !== "");
  return there.map((name) => `${words[name]} ${member(object, name)}`).join(", ");
}

function member(object: JsonObject, name: string): string {
  const value: JsonValue | undefined = object[name];
  return printableStart(typeof value === "string" ? value : "?", 120);
}

function activityStatements({ activity }: Claims): string[] {
  if (activity === null) return [];
  const asked = shortList(activity.asked.map((name) => printableStart(name, 40)));
  const matches = `activity ${quoted(activity.id)} matches your request in ${asked}.`;
  return [...(asked === "" ? [] : [matches]), ...signatureStatements(activity)];
}

/** Returns statements about signatures. They are proven without the image. */
function signatureStatements({ signatures = [] }: ActivityClaims): string[] {
  const groups = grouped(
    signatures.filter(({ open }) => open === null),
    ({ signWith }) => signWith,
  );
  return [...groups].map(([signWith, { length }]) => {
    const which = length === 1 ? "the signature verifies" : `the ${length} signatures verify`;
    return `${which} under ${printableStart(signWith, 140)}, over what you submitted.`;
  });
}

/** Returns the statement on the addresses of an activity. They need proven images of all boot proofs. */
function coverageStatements({ activity }: Claims): string[] {
  const { id, coveredAddresses } = activity ?? { id: "", coveredAddresses: [] };
  if (coveredAddresses.length === 0) return [];
  const addresses = coveredAddresses.map((address) => printableStart(address, 120));
  const [words, are] = addresses.length === 1 ? ["the address", "is"] : [`the ${addresses.length} addresses`, "are"];
  return [`in activity ${quoted(id)}, ${words} ${shortList(addresses)} ${are} backed by an app proof.`];
}

/** Whether the root is AWS's: `chain.anchor` passes only then, and warns for any other root. */
export function isAws(report: Report, index: number): boolean {
  return passedFor(report, "chain.anchor", index);
}

/** Whether the document has the caller's nonce (`bind.nonce`). A bare document may have another party's nonce. */
export function carriesNonce(report: Report, index: number): boolean {
  const nonce = report.claims?.bootProofs[index]?.hardware.nonce ?? "";
  return nonce !== "" && passedFor(report, "bind.nonce", index);
}

function passedFor(report: Report, id: CheckId, index: number): boolean {
  return report.checks.some(
    (check) => check.id === id && check.subject === `boot[${index}]` && check.status === "pass",
  );
}

export function shortList(items: readonly string[], separator = ", "): string {
  const more = items.length - MAX_LISTED;
  return items.slice(0, MAX_LISTED).join(separator) + (more > 0 ? `${separator}and ${more} more` : "");
}
