/**
 * What a report proves and what it leaves open, as sentences. Long hex is shortened: the whole of it is in the claims.
 * Everything that evidence chose is made printable here.
 */
import type { CheckId } from "../checks.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { printable, printableJson, printableStart, quoted, shortHex } from "./printable.js";
import type { ActivityClaims, AppProofClaims, BootProofClaims, Claims, ManifestClaims, Report } from "./report.js";

/** Names listed in one sentence; the others are counted. */
const MAX_LISTED = 8;
const LONG_HEX = /^[0-9a-fA-F]{48,}$/;

/** What is proven; empty where the evidence was rejected. */
export function provenStatements(report: Report): string[] {
  const { claims } = report;
  if (claims === null) return [];
  const several = claims.bootProofs.length > 1;
  return [
    ...claims.bootProofs.flatMap((boot, index) => bootStatements(boot, isAws(report, index), several ? `boot[${index}]: ` : "")),
    ...claims.appProofs.map((proof, index) => appProofStatement(proof, index, claims)),
    ...(claims.activity === null ? [] : activityStatements(claims.activity)),
  ];
}

/** What is left open, the gravest first; of rejected evidence everything is. */
export function unprovenStatements(report: Report): string[] {
  const { claims } = report;
  if (claims === null) return ["Anything: the evidence was rejected, so believe nothing that it says, not even the parts that passed."];
  return [
    ...openIdentity(report),
    ...claims.bootProofs.flatMap((boot, index) => {
      return openAboutBoot(boot, isAws(report, index), claims.bootProofs.length > 1 ? `boot[${index}]` : "the enclave");
    }),
    ...openApproval(report, claims),
    ...openResults(claims),
    ...openAlways(report, claims),
  ];
}

/** What weighs so much that it is said beside the verdict: hardware of another authority, and code that is not proven. */
export function caveats(report: Report): string[] {
  return (report.claims?.bootProofs ?? []).flatMap((boot, index) => [
    ...(isAws(report, index) ? [] : [`the certificates lead to ${quoted(boot.trustAnchor)}, not to AWS: nothing shows that this is AWS hardware.`]),
    ...(boot.debug ? ["debug mode was found and allowed: nothing about the code is proven."] : []),
  ]);
}

function bootStatements(boot: BootProofClaims, aws: boolean, prefix: string): string[] {
  const statements = [originStatement(boot, aws)];
  if (boot.debug) statements.push("Something in it runs in debug mode, which was allowed: what its code is, is not proven.");
  else statements.push(imageStatement(boot));
  if (boot.manifest !== null) statements.push(...manifestStatements(boot.manifest));
  statements.push(...keyStatements(boot));
  if (boot.deployment !== null) statements.push(`It is the deployment ${quoted(boot.deployment)} of the policy.`);
  return statements.map((statement) => prefix + statement);
}

function originStatement(boot: BootProofClaims, aws: boolean): string {
  const made = `made the attestation document at ${printable(boot.documentTime)}`;
  const module = `module ${printableStart(boot.moduleId, 80)}`;
  if (aws) return `A genuine AWS Nitro enclave, ${module}, ${made}; its certificates lead to the AWS Nitro root.`;
  return `An enclave, ${module}, ${made}; its certificates lead to ${quoted(boot.trustAnchor)}, not to AWS.`;
}

function imageStatement(boot: BootProofClaims): string {
  const pcr = (index: number): string => `PCR${index} ${shortHex(boot.pcrs[index] ?? "absent")}`;
  const role = /^0*$/.test(boot.pcrs[3] ?? "") ? "on an instance without a role (PCR3)" : `on an instance with the role of ${pcr(3)}`;
  return `The enclave booted the image that measures ${pcr(0)}, ${pcr(1)}, ${pcr(2)}, ${role}.`;
}

function manifestStatements(manifest: ManifestClaims): string[] {
  const args = manifest.pivotArgs.map((arg) => (LONG_HEX.test(arg) ? shortHex(arg) : quoted(arg)));
  const run = args.length === 0 ? "without arguments" : `with the arguments ${listed(args, " ")}`;
  const approvers = manifest.approvedBy.map((member) => `${quoted(member.alias)} ${shortHex(member.pubKey)}`);
  return [
    `It booted with the manifest ${shortHex(manifest.hash)} (${manifest.version}) of namespace ${quoted(manifest.namespace)}, ` +
      `nonce ${manifest.nonce}, quorum key ${shortHex(manifest.quorumKey)}.`,
    `That manifest runs the application binary with SHA-256 ${shortHex(manifest.pivotHash)}, ${run}.`,
    `${manifest.approvedBy.length} of the ${manifest.members} members of its manifest set approved it ` +
      `(${manifest.threshold} needed): ${listed(approvers)}.`,
  ];
}

function keyStatements(boot: BootProofClaims): string[] {
  if (boot.manifest === null) {
    const key = boot.publicKey === null ? "no public key" : `the public key ${shortHex(boot.publicKey)}`;
    const data = boot.userData === null ? "no user data" : `the user data ${shortHex(boot.userData)}`;
    return [`It attests ${key} and ${data}.`];
  }
  const key = `Its ephemeral key is ${shortHex(boot.publicKey ?? "")}`;
  if (boot.commitment === "live") return [`${key}; the enclave committed to this key and manifest when it went live.`];
  if (boot.commitment === "setup") return [`${key}; the enclave committed to this key and manifest for its setup.`];
  return [`${key}, as the document attests.`];
}

function appProofStatement(proof: AppProofClaims, index: number, claims: Claims): string {
  const boot = claims.bootProofs.length > 1 ? ` of boot[${proof.bootProof}]` : "";
  const subject = claims.appProofs.length > 1 ? `app[${index}]: the application${boot}` : `The application${boot}`;
  return `${subject} stated at ${printable(proof.time)}: ${payloadStatement(proof)}`;
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
  return `${printableStart(printableJson(JSON.stringify(proof.payload)), 400)} (of a type that this tool does not know).`;
}

const DERIVATION_FACTS: Readonly<Record<string, string>> = {
  organizationId: "organization", walletId: "wallet", derivationPath: "path",
};
const OUTCOME_FACTS: Readonly<Record<string, string>> = {
  organizationId: "organization", decisionContextDigest: "decision context", organizationDataDigest: "organization data",
};

/** The members that are there, each after its word. */
function facts(object: JsonObject, words: Readonly<Record<string, string>>): string {
  const there = Object.keys(words).filter((name) => typeof object[name] === "string" && object[name] !== "");
  return there.map((name) => `${words[name]} ${member(object, name)}`).join(", ");
}

function member(object: JsonObject, name: string): string {
  const value: JsonValue | undefined = object[name];
  return printableStart(typeof value === "string" ? value : "?", 120);
}

function activityStatements(activity: ActivityClaims): string[] {
  if (activity.coveredAddresses.length === 0) return [];
  const addresses = activity.coveredAddresses.map((address) => printableStart(address, 120));
  const words = addresses.length === 1 ? "the address" : `the ${addresses.length} addresses`;
  return [`In activity ${quoted(activity.id)}, ${words} ${listed(addresses)} ${addresses.length === 1 ? "is" : "are"} backed by an app proof.`];
}

function openIdentity(report: Report): string[] {
  if (report.verdict !== "authentic") return [];
  return ["Whose enclave this is and which code it ought to run: no policy was given, and anybody can run a genuine " +
    "enclave. Pin the deployment that you expect with `bootproof pin`, and verify with --policy."];
}

function openAboutBoot(boot: BootProofClaims, aws: boolean, who: string): string[] {
  const open: string[] = [];
  if (boot.debug) open.push(`What code runs in ${who}: it is in debug mode, and its operator can look into it and change it.`);
  if (!aws) {
    open.push(`That ${who} is AWS hardware: its certificates lead to ${quoted(boot.trustAnchor)}, which whoever holds its key can use at will.`);
  }
  if (boot.commitment === "legacy") {
    open.push(`That ${who} itself chose this key and manifest: the document is a legacy one without commitment (PCR16, PCR17), ` +
      "and an application inside could have asked for it over others.");
  }
  if (boot.commitment === "setup") open.push(`That the key is the one ${who} serves with: it is a setup key, and app proofs belong to live keys.`);
  if (boot.manifest === null) {
    open.push(`Which application runs in ${who}, and who approved it: a bare attestation document comes without a manifest. What its ` +
      "public key and user data stand for is between you and the application.");
  }
  return open;
}

function openApproval(report: Report, claims: Claims): string[] {
  if (claims.bootProofs.every((boot) => boot.manifest === null) || passed(report, "policy.manifest-set")) return [];
  const why = report.verdict === "authentic" ? "the manifest names them itself" : "the policy does not pin a manifest set";
  return [`That those who approved the manifest are the right people: ${why}.`];
}

function openResults(claims: Claims): string[] {
  const open: string[] = [];
  if (claims.activity !== null) {
    const { uncoveredAddresses: uncovered, id } = claims.activity;
    if (uncovered.length > 0) {
      const addresses = uncovered.map((address) => printableStart(address, 120));
      open.push(`${uncovered.length === 1 ? "The address" : "The addresses"} ${listed(addresses)} in activity ${quoted(id)}: no app proof speaks of ` +
        `${uncovered.length === 1 ? "it" : "them"}.`);
    }
    open.push("The rest of the activity (its status, votes and other fields): the service's word, signed by no enclave.");
  } else if (claims.appProofs.length === 0 && claims.bootProofs.some((boot) => boot.manifest !== null)) {
    open.push("Any result of the application: no app proof was given.");
  }
  return open;
}

function openAlways(report: Report, claims: Claims): string[] {
  const open: string[] = [];
  if (claims.bootProofs.some((boot) => boot.manifest !== null)) {
    open.push("The labels (enclaveApp, owner, deploymentLabel) and createdAt: the service's word, signed by nobody.");
  }
  open.push("What source code the measured image and binary were built from, and whether that code is good: reproduce the build, review it.");
  if (!passed(report, "policy.age")) {
    open.push(`That the enclave still runs: the document is of ${claims.bootProofs.map((boot) => printable(boot.documentTime)).join(", ")}, and no greatest age was asked for.`);
  }
  return open;
}

function passed(report: Report, id: CheckId): boolean {
  const answers = report.checks.filter((check) => check.id === id);
  return answers.length > 0 && answers.every((check) => check.status === "pass");
}

/** The check passes for AWS's own root only, whatever an anchor is named; another one makes it a warning. */
function isAws(report: Report, index: number): boolean {
  return report.checks.some((check) => check.id === "chain.anchor" && check.subject === `boot[${index}]` && check.status === "pass");
}

function listed(items: readonly string[], separator = ", "): string {
  const more = items.length - MAX_LISTED;
  return items.slice(0, MAX_LISTED).join(separator) + (more > 0 ? `${separator}and ${more} more` : "");
}
