/**
 * The checks of build provenance (verify/README.md, "Provenance"): decoding and verifying bundles, and comparing them
 * with the demands of the policy. bin/build.mjs bundles this file with copies of its imports, so nothing here may keep
 * state.
 */
import { equalBytes } from "../bytes.js";
import { type AnswerFacts, type Blamed, Checklist } from "../checks.js";
import { type BuildIdentity, readBuildIdentity } from "../decode/build-identity.js";
import {
  type ProvenanceBundle,
  type ProvenanceStatement,
  bundleText,
  readProvenanceBundle,
} from "../decode/provenance-bundle.js";
import { type Reading, attempt, cut, faultText, listed, shownName, wholeOf } from "../errors.js";
import { type GithubRelease, readGithubRelease } from "../decode/github-release.js";
import type { ProvenanceFault } from "./build-signer.js";
import { demandFaults } from "./demand-faults.js";
import type {
  HeldDemand,
  ProvenanceFacts,
  ProvenanceInput,
  ProvenanceSignature,
  ProvenanceVerifier,
  TrustedRoot,
} from "./provenance-demand.js";

const PROVENANCE_CHECKS = ["provenance.bundle", "provenance.signer", "provenance.subject"] as const;
type ProvenanceCheckId = (typeof PROVENANCE_CHECKS)[number];

export interface RunProvenanceChecks {
  /** Facts of each bundle, or null for a bundle that meets no demand. */
  readonly facts: readonly (ProvenanceFacts | null)[];
  readonly checklists: readonly Checklist[];
  /** The boot proofs of which a demand is not met. */
  readonly unmet: readonly Blamed[];
}

interface Tools {
  /** The verifier, which is null only if there are no demands. */
  readonly verifier: ProvenanceVerifier | null;
  /** Returns SHA-256 of a text in hex. */
  readonly digestOf: (text: string) => Promise<string>;
}

export async function runProvenanceChecks(
  inputs: readonly ProvenanceInput[],
  demands: readonly HeldDemand[],
  { verifier, digestOf }: Tools,
): Promise<RunProvenanceChecks> {
  const checklists = inputs.map((_, index) => new Checklist(`provenance[${index}]`));
  if (demands.length === 0) {
    for (const checklist of checklists) checklist.skipRest(PROVENANCE_CHECKS, NOT_DEMANDED);
    return { facts: inputs.map(() => null), checklists, unmet: [] };
  }
  if (inputs.length === 0)
    return {
      facts: [],
      checklists: [missing(demands)],
      unmet: demands.map(({ about }) => [about, "provenance.bundle"]),
    };
  if (verifier === null) throw new Error("bug: provenance is demanded, and there is no verifier");
  const tools = { verifier, digestOf };
  const pieces = inputs.map((input, index) => new Piece(readInput(input), index, tools));
  const held: Held[] = [];
  for (const demand of demands) held.push(await hold(demand, pieces));
  pieces.forEach((piece, index) => report(piece, held, checklists[index]!));
  const unmet = held.flatMap((each) => failedOf(each).map((id): Blamed => [each.demand.about, id]));
  return { facts: pieces.map((piece) => factsOf(piece, held)), checklists, unmet };
}

const NOT_DEMANDED = "no policy demands provenance of a verified boot proof: this bundle proves nothing";

function missing(demands: readonly HeldDemand[]): Checklist {
  const checklist = new Checklist("provenance[0]");
  const words = demands.map((demand) => `${demandText(demand)}, and no bundle was given`);
  checklist.fail("provenance.bundle", listed([...new Set(words)], "; "), { causes: ["no-bundle"] });
  checklist.skipRest(PROVENANCE_CHECKS, "there is no bundle");
  return checklist;
}

/** Returns a text such as `prod demands provenance of the application of boot[0]`. */
function demandText(held: HeldDemand): string {
  return `${shownName(held.deployment)} demands provenance of ${workloadText(held)}`;
}

function workloadText({ demand, about }: HeldDemand): string {
  const program = programText(demand.workload);
  return about === "policy" ? program : `${program} of ${about}`;
}

function programText(workload: string | null): string {
  return workload === null ? "the application" : `the workload ${shownName(workload)}`;
}

function readInput(input: ProvenanceInput): Reading<ProvenanceBundle> {
  const isText = typeof input === "string" || input instanceof Uint8Array;
  if (!isText && input.faults.length > 0) return { value: {}, faults: input.faults };
  const text = attempt(() => bundleText(isText ? input : (input.value ?? null)));
  return text.value === undefined ? { value: {}, faults: text.faults } : readProvenanceBundle(text.value);
}

/** The verified signature of a bundle under one root, or the reason why there is none. */
type Verified = VerifiedUnder | { readonly reason: string };

interface VerifiedUnder {
  readonly signature: ProvenanceSignature;
  readonly root: TrustedRoot;
  readonly rootDigest: string;
}

type Verifying = Tools & { readonly verifier: ProvenanceVerifier };

/** A bundle that is verified once for each root that a demand names. */
class Piece {
  readonly index: number;
  readonly bundle: ProvenanceBundle | null;
  readonly reading: Reading<ProvenanceBundle>;
  readonly identity: Reading<BuildIdentity> | null;
  readonly #tools: Verifying;
  readonly #verified = new Map<string, Promise<Verified>>();

  constructor(reading: Reading<ProvenanceBundle>, index: number, tools: Verifying) {
    this.index = index;
    this.reading = reading;
    this.bundle = wholeOf(reading);
    this.identity = this.bundle && readBuildIdentity(this.bundle.certificate);
    this.#tools = tools;
  }

  /** Verifies the bundle under the first root that accepts it. Roots are never merged. */
  async verifyUnder(roots: readonly TrustedRoot[]): Promise<Verified> {
    if (this.bundle === null) return { reason: faultText(this.reading.faults) };
    const reasons: string[] = [];
    for (const root of roots) {
      const verified = await this.#under(this.bundle, root);
      if ("signature" in verified) return verified;
      reasons.push(`${shownName(root.name)}: ${verified.reason}`);
    }
    return { reason: `does not verify: ${listed(reasons, "; ")}` };
  }

  #under(bundle: ProvenanceBundle, root: TrustedRoot): Promise<Verified> {
    const known = this.#verified.get(root.text) ?? verifyUnder(bundle, root, this.#tools);
    this.#verified.set(root.text, known);
    return known;
  }
}

const MAX_REASON = 300;

async function verifyUnder(
  bundle: ProvenanceBundle,
  root: TrustedRoot,
  { verifier, digestOf }: Verifying,
): Promise<Verified> {
  const outcome = await verifier.verify(bundle.text, root.text, root.thresholds);
  if (!outcome.verified) return { reason: cut(outcome.reason, MAX_REASON) };
  // The certificate and statement that are compared and reported must be those that were verified.
  if (!equalBytes(outcome.certificate, bundle.certificate.der)) return { reason: "another certificate was verified" };
  if (!equalBytes(outcome.payload, bundle.payload)) return { reason: "another statement was verified" };
  if (outcome.signedTimes.length < root.thresholds.signedTimes) return { reason: "no signed time was verified" };
  return { signature: outcome, root, rootDigest: await digestOf(root.text) };
}

/** Comparison of a bundle with one demand, before its signature is verified. */
interface Compared {
  readonly piece: Piece;
  readonly bundle: readonly ProvenanceFault[];
  readonly signer: readonly ProvenanceFault[];
  readonly subject: readonly ProvenanceFault[];
}

/** The bundle that meets a demand. If none does, the nearest bundle, with the faults of each check. */
interface Held {
  readonly demand: HeldDemand;
  readonly piece: Piece;
  readonly isMet: boolean;
  /** Faults of each check. Null means that the check did not run. */
  readonly faults: Readonly<Record<ProvenanceCheckId, readonly ProvenanceFault[] | null>>;
  readonly verified: VerifiedUnder | null;
}

function failedOf({ faults }: Held): ProvenanceCheckId[] {
  return PROVENANCE_CHECKS.filter((id) => (faults[id]?.length ?? 0) > 0);
}

/** Finds the bundle for a demand. A bundle that cannot meet the demand is verified only if it is the nearest one. */
async function hold(demand: HeldDemand, pieces: readonly Piece[]): Promise<Held> {
  const ranked = pieces.map((piece) => compare(piece, demand)).sort((one, other) => distance(one) - distance(other));
  const fitting = ranked.filter((each) => distance(each) === 0);
  for (const compared of fitting) {
    const held = await verifyHeld(compared, demand);
    if (held.isMet) return held;
  }
  return verifyHeld(ranked[0]!, demand);
}

function compare(piece: Piece, { demand, digest }: HeldDemand): Compared {
  const { bundle, identity } = piece;
  if (bundle === null || identity === null) return { piece, bundle: [], signer: [], subject: [] };
  const faults = demandFaults(bundle, identity.value as BuildIdentity, demand);
  return {
    piece,
    bundle: faults.bundle,
    signer: identity.faults.length > 0 ? [{ detail: faultText(identity.faults) }] : faults.signer,
    subject: [...faults.statement, ...digestFaults(bundle.statement.subjects, demand.workload, digest)],
  };
}

/**
 * Returns the rank of a bundle, 0 for a match. A bundle of the right binary by a wrong signer is nearer than one of the
 * wrong binary by the right signer.
 */
function distance({ piece, bundle, signer, subject }: Compared): number {
  if (piece.bundle === null) return 8;
  return (bundle.length > 0 ? 4 : 0) + (subject.length > 0 ? 2 : 0) + (signer.length > 0 ? 1 : 0);
}

async function verifyHeld({ piece, signer, subject, ...compared }: Compared, demand: HeldDemand): Promise<Held> {
  const isOfForm = compared.bundle.length === 0;
  const verified = isOfForm ? await piece.verifyUnder(demand.demand.trustedRoots) : null;
  if (verified === null || "reason" in verified) {
    const bundle = verified === null ? compared.bundle : [{ detail: verified.reason }];
    const faults = { "provenance.bundle": bundle, "provenance.signer": null, "provenance.subject": null };
    return { demand, piece, isMet: false, faults, verified: null };
  }
  const faults = { "provenance.bundle": [], "provenance.signer": signer, "provenance.subject": subject };
  const isMet = signer.length === 0 && subject.length === 0;
  return { demand, piece, isMet, faults, verified };
}

const MAX_DIGESTS = 1000;

/** Compares digests as text. The demanded digest is lower-case hex, so a digest with upper-case letters differs. */
function digestFaults(
  subjects: ProvenanceStatement["subjects"],
  workload: string | null,
  digest: string | null,
): ProvenanceFault[] {
  if (digest === null)
    return [
      {
        detail:
          workload === null ? "the manifest has no pivot" : `the manifest has no ${programText(workload).slice(4)}`,
      },
    ];
  if (subjects.some((subject) => subject.sha256 === digest)) return [];
  const found = listed(
    subjects.map((subject) => subject.sha256 ?? "no sha256"),
    "\n",
  );
  return [
    {
      detail: `no subject of the statement has the SHA-256 of ${programText(workload)}`,
      expected: digest,
      actual: cut(found, MAX_DIGESTS) || "no subjects",
    },
  ];
}

/** Reports the checks of a bundle. A check fails if it has a fault for any demand. Otherwise it passes if it ran. */
function report(piece: Piece, held: readonly Held[], checklist: Checklist): void {
  const own = held.filter((each) => each.piece === piece);
  if (own.length === 0) return checklist.skipRest(PROVENANCE_CHECKS, notNeeded(held));
  for (const id of PROVENANCE_CHECKS) {
    const failed = own.filter((each) => failedOf(each).includes(id));
    if (failed.length > 0) fail(id, failed, checklist);
    else if (own.every(({ faults }) => faults[id] === null)) checklist.skip(id, "the bundle was not verified");
    else
      checklist.pass(
        id,
        passText(
          id,
          own.find(({ faults }) => faults[id] !== null)!,
        ),
      );
  }
}

function notNeeded(held: readonly Held[]): string {
  const unmet = held.find(({ isMet }) => !isMet);
  if (unmet === undefined) return "not needed: other bundles meet each demand of the policy";
  return `meets no demand of the policy; provenance[${unmet.piece.index}] is the nearest`;
}

function fail(id: ProvenanceCheckId, failed: readonly Held[], checklist: Checklist): void {
  const faults = failed.flatMap((held) => held.faults[id]!.map((fault) => ({ ...fault, held })));
  const details = [...new Set(failed.map(({ demand }) => demandText(demand)))];
  const words = listed([...new Set(faults.map(({ detail }) => detail))], "; ");
  const side = (name: "expected" | "actual"): string | undefined => {
    const values = [...new Set(faults.flatMap((fault) => (Object.hasOwn(fault, name) ? fault[name]! : [])))];
    return values.length === 0 ? undefined : listed(values, "\n");
  };
  const [expected, actual] = [side("expected"), side("actual")];
  const facts: AnswerFacts = { ...(expected !== undefined && { expected }), ...(actual !== undefined && { actual }) };
  checklist.fail(id, `${words} (${listed(details, "; ")})`, facts);
}

function passText(id: ProvenanceCheckId, { piece, verified, demand }: Held): string {
  if (id === "provenance.subject") return subjectText(piece, demand);
  if (id === "provenance.signer") return signerText(piece.identity!.value as BuildIdentity);
  const { root, rootDigest, signature } = verified!;
  const { thresholds, name } = root;
  const { inclusions, certificateTimestamps, signedTimes } = thresholds;
  return (
    `signed at ${signature.signedTimes[0]!.toISOString()}; verifies under ${shownName(name)} ` +
    `(SHA-256 ${rootDigest}), which demands ${inclusions} log inclusion, ${certificateTimestamps} certificate ` +
    `timestamp and ${signedTimes} signed time`
  );
}

function subjectText(piece: Piece, demand: HeldDemand): string {
  const release = releaseOf(piece, demand);
  const of = release === null ? "" : `, release ${shownName(release.tag)} of ${shownName(release.repository)}`;
  return `${shownName(piece.bundle!.statement.predicateType, MAX_REASON)} of ${workloadText(demand)}${of}`;
}

function signerText({ repository, buildConfig, commit, san }: BuildIdentity): string {
  if (repository === null) return cut(san, MAX_REASON);
  return cut(`${buildConfig ?? repository}${commit === null ? "" : `, commit ${commit}`}`, MAX_REASON);
}

/** Returns the release that a bundle states, or null if the demand is on a build. */
function releaseOf({ bundle }: Piece, { demand }: HeldDemand): GithubRelease | null {
  return demand.githubRelease === undefined ? null : (readGithubRelease(bundle!).value as GithubRelease);
}

/** Returns the facts of a bundle, or null if it fails for any demand. */
function factsOf(piece: Piece, held: readonly Held[]): ProvenanceFacts | null {
  const own = held.filter((each) => each.piece === piece);
  if (own.length === 0 || !own.every(({ isMet }) => isMet)) return null;
  const { signature, root, rootDigest } = own[0]!.verified!;
  const { name, thresholds } = root;
  return {
    statement: piece.bundle!.statement,
    identity: piece.identity!.value as BuildIdentity,
    release: releaseOf(piece, own[0]!.demand),
    signedTimes: signature.signedTimes,
    trustedRoot: { name, thresholds, sha256: rootDigest },
    meets: own.map(({ demand }) => demand),
  };
}
