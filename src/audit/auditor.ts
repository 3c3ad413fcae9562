/** Judges entries, one after the other or several at once: what was verified once is remembered, within bounds. */
import { type Evidence, type VerifyOptions, verifyAttestation, verifyBootProof, verifyEvidence } from "../bootproof.js";
import { toHex, toUtf8 } from "../bytes.js";
import { readActivity } from "../decode/activity.js";
import { readAppProof } from "../decode/app-proof.js";
import { bootProofList, readBootProof } from "../decode/boot-proof.js";
import { parseJson } from "../decode/json.js";
import { MalformedError } from "../errors.js";
import type { VerifiedBootProof } from "../verify/boot-proof.js";
import { sha256 } from "../verify/digest.js";
import { SignatureCache } from "../verify/signature-cache.js";
import { readEntry } from "./entry.js";
import { type AuditResult, type JudgedEvidence, malformedResult, resultOf } from "./result.js";
import { type AuditSetting, verifyOptionsOf } from "./setting.js";

/** Signatures, and imported keys. A boot proof has about ten, of which those of its region are shared. */
const MAX_SIGNATURES = 4096;
/** Boot proofs that entries carry. */
const MAX_BOOT_PROOFS = 256;
/** Characters of the JSON of one: genuine ones have 20,000, and what nobody signs in it could be of any size. */
const MAX_REMEMBERED = 65_536;

/** A boot proof of the setting: verified; or as it came, where it is rejected. */
type Standing = unknown;

export class Auditor {
  readonly #options: VerifyOptions;
  /** The setting's, by key in hex. */
  readonly #standing: ReadonlyMap<string, Standing>;
  /** Those of entries that were verified, by the SHA-256 of their JSON; the least recently used first. */
  readonly #remembered = new Map<string, VerifiedBootProof>();
  /** The boot proofs of the setting, in its order: one that is rejected is still evidence, and fails what it is for. */
  readonly bootProofs: readonly JudgedEvidence[];

  private constructor(options: VerifyOptions, boots: StandingBootProofs) {
    this.#options = options;
    this.#standing = boots.standing;
    this.bootProofs = boots.judged;
  }

  /**
   * Throws {@link MalformedError} for a policy or trust anchor that is none, and for a text of boot proofs that is no
   * JSON or has none in it.
   */
  static async of(setting: AuditSetting): Promise<Auditor> {
    const options = { ...verifyOptionsOf(setting), cache: new SignatureCache(MAX_SIGNATURES) };
    return new Auditor(options, await standingBootProofs(setting.bootProofs, options));
  }

  /** Judges the entry by itself. What is wrong with it is the result, and never thrown. */
  async judge(n: number, bytes: Uint8Array): Promise<AuditResult> {
    const entry = readEntry(bytes);
    switch (entry.kind) {
      case "malformed":
        return malformedResult(n, entry.reason);
      case "document":
        return { n, ...resultOf((await verifyAttestation(entry.document, this.#options)).report) };
      case "bundle":
        return { n, ...(await this.#judge(entry.bundle.evidence)) };
      case "evidence":
        return { n, ...(await this.#judge(entry.evidence)) };
    }
  }

  async #judge(evidence: Evidence): Promise<JudgedEvidence> {
    const isStrange = evidence.bootProofs.length === 0;
    const bootProofsOnly = evidence.appProofs === undefined && evidence.activity === undefined;
    const names = await Promise.all(evidence.bootProofs.map(nameOf));
    const bootProofs = isStrange
      ? this.#bootProofsFor(evidence)
      : evidence.bootProofs.map((each, index) => this.#recall(names[index]!) ?? each);
    const verification = await verifyEvidence({ ...evidence, bootProofs }, { ...this.#options, bootProofsOnly });
    if (!isStrange) verification.bootProofs.forEach((verified, index) => this.#remember(names[index]!, verified));
    const result = resultOf(verification.report);
    return bootProofs.length === 0 ? { ...result, reason: NO_BOOT_PROOF } : result;
  }

  /** Of the setting, those whose keys the app proofs name: all others are of other enclaves. */
  #bootProofsFor({ appProofs = [], activity }: Evidence): Standing[] {
    const inside = activity === undefined ? [] : (readActivity(activity).value.appProofs ?? []);
    const keys = [...appProofs, ...inside].map((proof) => readAppProof(proof).value.publicKey);
    const named = new Set(keys.map((key) => key && this.#standing.get(toHex(key))));
    named.delete(undefined);
    return [...named];
  }

  #recall(name: string | null): VerifiedBootProof | undefined {
    return name === null ? undefined : this.#remembered.get(name);
  }

  /** Only what was verified; the least recently used goes first. */
  #remember(name: string | null, verified: VerifiedBootProof | null): void {
    if (name === null || verified === null) return;
    this.#remembered.delete(name);
    this.#remembered.set(name, verified);
    if (this.#remembered.size > MAX_BOOT_PROOFS) this.#remembered.delete(this.#remembered.keys().next().value!);
  }
}

const NO_BOOT_PROOF = "no boot proof was given with it, and none of its key beside it";

/** By what a boot proof is remembered: all of its JSON, labels included. Null: too long. */
async function nameOf(bootProof: unknown): Promise<string | null> {
  const text = JSON.stringify(bootProof);
  return text.length > MAX_REMEMBERED ? null : toHex(await sha256(toUtf8(text)));
}

interface StandingBootProofs {
  readonly standing: ReadonlyMap<string, Standing>;
  readonly judged: readonly JudgedEvidence[];
}

/** Of several of one key the first that is accepted by itself stands, or else the first. */
async function standingBootProofs(texts: readonly string[], options: VerifyOptions): Promise<StandingBootProofs> {
  const standing = new Map<string, { readonly bootProof: Standing; readonly accepted: boolean }>();
  const judged: JudgedEvidence[] = [];
  for (const bootProof of texts.flatMap(bootProofsOf)) {
    const { report, bootProof: verified } = await verifyBootProof(bootProof, options);
    judged.push(resultOf(report));
    const key = verified?.ephemeralKey ?? readBootProof(bootProof).value.ephemeralPublicKey;
    const accepted = report.verdict !== "rejected";
    if (key === undefined) continue;
    const name = toHex(key);
    if (!standing.has(name) || (accepted && !standing.get(name)!.accepted))
      standing.set(name, { bootProof: verified ?? bootProof, accepted });
  }
  return { standing: new Map([...standing].map(([name, { bootProof }]) => [name, bootProof])), judged };
}

function bootProofsOf(text: string): readonly unknown[] {
  const json = parseJson(text);
  const list = bootProofList(json) ?? [json];
  if (list.length === 0) throw new MalformedError("boot-proof", [{ path: "", message: "the list is empty" }]);
  return list;
}
