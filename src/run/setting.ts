/** The setting of an audit as plain data, for threads and other machines. */
import { requireShape, typedOptions } from "../decode/options.js";
import { type MembersOf, list, nullable, objectOf, optional, text } from "../decode/shapes.js";
import { VERIFY_OPTIONS, type VerifyOptions } from "../inputs.js";
import {
  PLAIN_OPTIONS,
  type PlainOptions,
  type PlainPolicy,
  digestOfParts,
  plainOptions,
  plainPolicyShape,
  settingParts,
} from "../plain-settings.js";

/** Everything that decides the verdicts of an audit, as JSON. */
export interface AuditSetting extends Pick<
  PlainOptions,
  "trustAnchors" | "now" | "at" | "allowDebug" | "acceptance" | "maxAgeMs"
> {
  /** Null means that there is no policy and any genuine enclave passes. */
  readonly policy: PlainPolicy | null;
  /** JSON texts, each of one or several boot proofs. They are for entries that have none. */
  readonly bootProofs: readonly string[];
  /** JSON texts of provenance bundles for every entry, at most 64. Default: none. */
  readonly provenance?: readonly string[];
}

const { trustAnchors, now, at, allowDebug, acceptance, maxAgeMs } = PLAIN_OPTIONS;

/** The part of a setting that each worker has from its own caller. */
export type Held = Pick<AuditSetting, "policy" | "trustAnchors">;
const HELD_MEMBERS: MembersOf<Held> = { policy: nullable(plainPolicyShape), trustAnchors };
const HELD = /* @__PURE__ */ objectOf(HELD_MEMBERS, { unknown: "ignore" });

/** The part of a setting that the producer sends to workers. */
export type SentSetting = Omit<AuditSetting, keyof Held>;
const builds = optional(list(text));
export const SENT_SETTING: MembersOf<SentSetting> = {
  ...{ now, at, allowDebug, acceptance, maxAgeMs },
  bootProofs: list(text),
  provenance: builds,
};

/** Copies a setting. Throws TypeError for an unknown member or a value of a wrong type. */
export function ownSetting(setting: AuditSetting): AuditSetting {
  return typedOptions("setting", setting, { ...HELD_MEMBERS, ...SENT_SETTING });
}

/** Copies the part of a setting that a worker has from its own caller. */
export function ownHeld(held: Held): Held {
  return requireShape("setting", held, HELD);
}

export interface AuditOptions extends Pick<
  VerifyOptions,
  "policy" | "now" | "at" | "trustAnchors" | "allowDebug" | "acceptance" | "maxAgeMs"
> {
  /**
   * JSON texts of boot proofs. Default: none. `provenance` has JSON texts of provenance bundles, also none by default.
   */
  readonly bootProofs?: readonly string[];
  readonly provenance?: readonly string[];
}

const OPTIONS: MembersOf<AuditOptions> = {
  policy: VERIFY_OPTIONS.policy,
  now: VERIFY_OPTIONS.now,
  at: VERIFY_OPTIONS.at,
  trustAnchors: VERIFY_OPTIONS.trustAnchors,
  ...{ allowDebug, acceptance, maxAgeMs },
  bootProofs: builds,
  provenance: builds,
};

/**
 * @example
 * ```ts
 * const strict = auditSetting({ policy, now: new Date(), acceptance: "strict" });
 * ```
 */
export function auditSetting(options: AuditOptions): AuditSetting {
  const { bootProofs = [], provenance = [], ...own } = typedOptions("options", options, OPTIONS);
  const plain = plainOptions(own) as PlainOptions & { readonly policy: AuditSetting["policy"] };
  return { ...plain, bootProofs, ...(provenance.length > 0 && { provenance }) };
}

/** Returns SHA-256, in hex, of all that decides a verdict but its time (`now`). */
export async function settingDigest(setting: AuditSetting): Promise<string> {
  return digestOfParts(await settingParts(ownSetting(setting)));
}

/** Returns SHA-256, in hex, of policy and trust anchors. Each worker has these from its own caller. */
export async function policyDigest(setting: Held): Promise<string> {
  const { policy, trustAnchors, trustedRoots } = await settingParts(ownHeld(setting));
  return digestOfParts({ policy, trustAnchors, trustedRoots });
}
