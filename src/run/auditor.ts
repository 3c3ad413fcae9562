/** Judges entries, and caches verified evidence within limits. */
import { type Evidence, type EvidenceVerdict, judgeDocument, judgeEvidence } from "../bootproof.js";
import type { AppraisedPiece } from "../appraise/appraisal.js";
import { toHex, toUtf8 } from "../bytes.js";
import { readActivity } from "../decode/activity.js";
import { bootProofList, readBootProof } from "../decode/boot-proof.js";
import { evidenceBeside } from "../decode/evidence-members.js";
import { withoutPrototype } from "../decode/input.js";
import { type JsonValue, isJsonObject, jsonKey, parseJson } from "../decode/json.js";
import { P256_POINT_LENGTH } from "../decode/lengths.js";
import { MalformedError } from "../errors.js";
import { type Setting, settingOf, withBuilds } from "../inputs.js";
import { verifyOptionsOf } from "../plain-settings.js";
import type { VerifiedAttestation } from "../verify/attestation.js";
import { ApprovedManifests, Remembered } from "../verify/approved-manifests.js";
import type { CheckedBootProof, CheckedManifest, VerifiedBootProof } from "../verify/boot-proof.js";
import { sha256 } from "../verify/digest.js";
import { MAX_PROVENANCE, type ProvenanceVerifier } from "../verify/provenance-demand.js";
import { rememberingVerifier } from "../verify/provenance-cache.js";
import { SignatureCache } from "../verify/signature-cache.js";
import { type Expectation, type Expected, expectationOf } from "../verify/expectation.js";
import { readEntry } from "./entry.js";
import { NO_DOCUMENT, incomparable } from "./expected.js";
import { type EntryResult, malformedResult, resultOf } from "./result.js";
import { type AuditSetting, ownSetting } from "./setting.js";

/** Maximum number of cached signatures and imported keys. A boot proof has about ten. */
const MAX_SIGNATURES = 4096;
const MAX_BOOT_PROOFS = 256;
/**
 * Maximum length of a cached boot proof's JSON. Genuine ones have 20,000 characters, but unsigned members can be long.
 */
const MAX_REMEMBERED = 65_536;

/** A boot proof of the setting: the verified one or, if verification rejected it, the one that was given. */
type Standing = unknown;

export class Auditor {
  readonly #setting: Setting;
  /** With caches for the checks of the setting's boot proofs, whose results are the same for every entry. */
  readonly #standingSetting: Setting;
  readonly #provenance: readonly string[];
  readonly #standing: ReadonlyMap<string, Standing>;
  readonly #bySigningHalf = new Map<string, Standing[]>();
  /** Boot proofs by the SHA-256 of their JSON. The least recently used one is first. */
  readonly #remembered = new Map<string, VerifiedBootProof>();
  /**
   * The results of the setting's boot proofs, in the setting's order. Even a rejected boot proof is used: an entry that
   * needs it fails.
   */
  readonly bootProofs: readonly EntryResult[];

  private constructor(setting: Setting, provenance: readonly string[], boots: StandingBootProofs) {
    this.#setting = setting;
    const context = { ...setting.context, rechecks: new Remembered<CheckedBootProof>() };
    this.#standingSetting = { ...setting, context, appraised: new Remembered<AppraisedPiece>() };
    this.#provenance = provenance;
    this.#standing = boots.standing;
    this.bootProofs = boots.judged;
    for (const [key, standing] of boots.standing) {
      const half = key.slice(-2 * P256_POINT_LENGTH);
      this.#bySigningHalf.set(half, [...(this.#bySigningHalf.get(half) ?? []), standing]);
    }
  }

  /**
   * Makes an auditor. Throws {@link MalformedError} for a malformed policy or trust anchor, and for a text without boot
   * proofs; TypeError if the policy demands provenance and there is no verifier; RangeError for more than 64 bundles.
   */
  static async of(given: AuditSetting, provenanceVerifier?: ProvenanceVerifier): Promise<Auditor> {
    const setting = ownSetting(given);
    const { provenance = [] } = setting;
    if (provenance.length > MAX_PROVENANCE) throw new RangeError(`more than ${MAX_PROVENANCE} bundles of provenance`);
    const cache = new SignatureCache(MAX_SIGNATURES);
    const verifier = provenanceVerifier && { provenanceVerifier: rememberingVerifier(provenanceVerifier) };
    const options = settingOf({ ...verifyOptionsOf(setting), cache, ...verifier });
    const manifests = new ApprovedManifests<CheckedManifest>();
    const context = { ...options.context, manifests, appProofsOnce: true };
    const taken = { ...options, context, isOwnEvidence: true } as const;
    return new Auditor(taken, provenance, await standingBootProofs(setting, { ...taken, bootProofsOnly: true }));
  }

  /**
   * Judges one entry. Faults of the entry are in the result, and never thrown. `expected` is what the caller expects of
   * this entry: never take it from the entry. Throws TypeError for an invalid `expected`, as a verification does.
   *
   * @example
   * const auditor = await Auditor.of(auditSetting({ policy, now: new Date() }));
   * const { verdict, failed } = await auditor.judge(line);
   */
  async judge(bytes: Uint8Array, expected?: Expected): Promise<EntryResult> {
    const expectation = expected === undefined ? null : expectationOf(expected);
    const entry = readEntry(bytes);
    switch (entry.kind) {
      case "malformed":
        return malformedResult(entry.reason);
      case "document":
        return expectation ? NO_DOCUMENT : this.#judgeDocument(entry.document);
      case "bundle":
        return this.#judge(entry.bundle.evidence, expectation, false);
      case "evidence":
        return this.#judge(entry.evidence, expectation, entry.isBootProofs);
    }
  }

  /** Judges a bare document as `verify` does: rules about app proofs are not applied. */
  async #judgeDocument(document: Uint8Array): Promise<EntryResult> {
    const judged = await judgeDocument(document, { ...this.#setting, bootProofsOnly: true });
    return resultOf(judged, [judged.attestation], this.#setting.acceptance);
  }

  async #judge(given: Evidence, expectation: Expectation | null, isBootProofs: boolean): Promise<EntryResult> {
    const evidence = withBuilds(given, this.#provenance);
    const refused = tooManyBuilds(evidence) ?? (expectation && incomparable(evidence, expectation));
    if (refused !== null) return refused;
    const isBare = evidence.bootProofs.length === 0;
    const own = isBare ? this.#standingSetting : this.#setting;
    const setting = expectation === null ? own : { ...own, context: { ...own.context, expectation } };
    if (isBare) return this.#judgeUnderSetting(evidence, setting);
    // An entry with an expectation must fail if it has no app proofs, so it is not judged as boot proofs only.
    const bootProofsOnly = isBootProofs && expectation === null;
    const names = await Promise.all(evidence.bootProofs.map(nameOf));
    const bootProofs = evidence.bootProofs.map(
      (bootProof, index) => this.#remembered.get(names[index] ?? "") ?? bootProof,
    );
    const judged = await judgeEvidence({ ...evidence, bootProofs }, { ...setting, bootProofsOnly });
    judged.bootProofs.forEach((verified, index) => this.#remember(names[index]!, verified));
    return resultOf(judged, attestationsOf(judged), this.#setting.acceptance);
  }

  async #judgeUnderSetting(evidence: Evidence, setting: Setting): Promise<EntryResult> {
    const bootProofs = this.#bootProofsFor(evidence);
    const judged = await judgeEvidence({ ...evidence, bootProofs }, setting);
    const result = await resultOf(judged, attestationsOf(judged), this.#setting.acceptance);
    return bootProofs.length === 0 ? { ...result, reason: NO_BOOT_PROOF } : result;
  }

  #bootProofsFor(evidence: Evidence): Standing[] {
    const { appProofs = [], activity } = withoutPrototype(evidence);
    const inside = activity === undefined ? [] : (readActivity(activity).value.appProofs ?? []);
    return [...new Set([...appProofs, ...inside].flatMap((proof) => this.#standingOf(keyTextOf(proof))))];
  }

  /**
   * Returns all boot proofs that attest this key. An app proof may name only the signing half of its key. If boot
   * proofs of different keys have this half, verification rejects the app proof.
   */
  #standingOf(key: string): readonly Standing[] {
    const named = this.#standing.get(key);
    if (key.length !== 2 * P256_POINT_LENGTH) return named === undefined ? [] : [named];
    return this.#bySigningHalf.get(key) ?? [];
  }

  #remember(name: string | null, verified: VerifiedBootProof | null): void {
    if (name === null || verified === null) return;
    this.#remembered.delete(name);
    this.#remembered.set(name, verified);
    if (this.#remembered.size > MAX_BOOT_PROOFS) this.#remembered.delete(this.#remembered.keys().next().value!);
  }
}

function tooManyBuilds({ provenance = [] }: Evidence): EntryResult | null {
  if (provenance.length <= MAX_PROVENANCE) return null;
  return malformedResult(
    `${provenance.length} provenance bundles with the setting's, expected at most ${MAX_PROVENANCE}`,
  );
}

function keyTextOf(appProof: unknown): string {
  const text = isJsonObject(appProof) && Object.hasOwn(appProof, "publicKey") && appProof["publicKey"];
  return typeof text === "string" ? text.toLowerCase() : "";
}

function attestationsOf({ bootProofs }: EvidenceVerdict): readonly (VerifiedAttestation | null)[] {
  return bootProofs.map((bootProof) => bootProof && bootProof.attestation);
}

const NO_BOOT_PROOF = "neither the entry nor the setting has a boot proof for its key";

/** Returns the cache key of a boot proof, made from all of its JSON. Null if the JSON is too long to cache. */
async function nameOf(bootProof: unknown): Promise<string | null> {
  const text = jsonKey(bootProof as JsonValue);
  return text.length > MAX_REMEMBERED ? null : toHex(await sha256(toUtf8(text)));
}

interface StandingBootProofs {
  readonly standing: ReadonlyMap<string, Standing>;
  readonly judged: readonly EntryResult[];
}

/**
 * Judges the setting's boot proofs. Of several with the same key, the first accepted one is used or, if none is
 * accepted, the first one.
 */
async function standingBootProofs(
  { bootProofs, provenance = [] }: AuditSetting,
  setting: Setting,
): Promise<StandingBootProofs> {
  const standing = new Map<string, { readonly bootProof: Standing; readonly accepted: boolean }>();
  const judged: EntryResult[] = [];
  for (const bootProof of bootProofs.flatMap(bootProofsOf)) {
    const result = await judgeEvidence(withBuilds({ bootProofs: [bootProof] }, provenance), setting);
    const verified = result.bootProofs[0];
    judged.push(await resultOf(result, attestationsOf(result), setting.acceptance));
    const key = verified?.ephemeralKey ?? readBootProof(bootProof).value.ephemeralPublicKey;
    const accepted = result.verdict !== "rejected";
    if (!key) continue;
    const name = toHex(key);
    if (!standing.has(name) || (accepted && !standing.get(name)!.accepted))
      standing.set(name, { bootProof: verified ?? bootProof, accepted });
  }
  return { standing: new Map([...standing].map(([name, { bootProof }]) => [name, bootProof])), judged };
}

function bootProofsOf(text: string): readonly unknown[] {
  const json = parseJson(text);
  const beside = evidenceBeside(json, "boot proof");
  if (beside.length > 0) throw new MalformedError("boot-proof", beside);
  const list = bootProofList(json) ?? [json];
  if (list.length === 0) throw new MalformedError("boot-proof", [{ path: "", message: "the list is empty" }]);
  return list;
}
