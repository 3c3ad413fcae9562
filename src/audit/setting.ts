/** The setting of an audit as plain data, for states, threads and other machines. */
import type { Policy } from "../appraise/policy.js";
import { NO_POLICY_ANY_ENCLAVE, type VerifyOptions } from "../bootproof.js";
import { copyPlain, otherMembers, ownMembers, ownOptions } from "../decode/input.js";
import {
  type JudgedBy,
  type PolicyText,
  type SettingPart,
  digestOfParts,
  optionsBesidePolicy,
  parsePlainPolicy,
  plainOptions,
  policyOfText,
  policyText,
  settingParts,
} from "../plain-settings.js";
import type { TrustAnchor } from "../verify/trust-anchor.js";

/** Everything that decides a verdict, as JSON. */
export interface AuditSetting {
  /** Null means no policy, so any genuine enclave is accepted. */
  readonly policy: AuditPolicy | null;
  /**
   * Trust anchors for a setting without a policy, since a policy names its own. Default: AWS Nitro Enclaves Root G1.
   */
  readonly trustAnchors?: readonly { readonly name: string; readonly pem: string }[];
  /** The present of the whole run, also if resumed: RFC 3339, UTC, with milliseconds. */
  readonly now: string;
  /** `at` of `VerifyOptions`, with an instant as RFC 3339. */
  readonly at?: string;
  readonly allowDebug?: boolean;
  /** `strict` refuses an entry whose verdict has a warning. Default: `standard`. */
  readonly acceptance?: "standard" | "strict";
  /** JSON texts, each of one or several boot proofs, for evidence without any. */
  readonly bootProofs: readonly string[];
  /** JSON texts of provenance bundles for every entry, at most 64. Default: none. */
  readonly provenance?: readonly string[];
}

const SETTING: Readonly<Record<keyof AuditSetting, true>> = {
  policy: true,
  trustAnchors: true,
  now: true,
  at: true,
  allowDebug: true,
  acceptance: true,
  bootProofs: true,
  provenance: true,
};

/** Throws TypeError as `ownOptions` does. */
export function ownSetting(setting: AuditSetting): AuditSetting {
  return copyPlain(ownOptions("setting", setting, SETTING));
}

type Held = Pick<AuditSetting, "policy" | "trustAnchors">;

/** Copies the worker's part of a setting. */
export function ownHeld(held: Held): Held {
  return copyPlain(ownMembers(held, { policy: true, trustAnchors: true }));
}

export type AuditPolicy = PolicyText;

export interface AuditOptions {
  readonly policy: Policy | typeof NO_POLICY_ANY_ENCLAVE;
  readonly now: Date;
  readonly at?: "document" | "now" | Date;
  readonly trustAnchors?: readonly TrustAnchor[];
  readonly allowDebug?: boolean;
  /** `strict` refuses an entry whose verdict has a warning. Default: `standard`. */
  readonly acceptance?: "standard" | "strict";
  readonly bootProofs?: readonly string[];
  readonly provenance?: readonly string[];
}

const OPTIONS: Readonly<Record<keyof AuditOptions, true>> = {
  policy: true,
  now: true,
  at: true,
  trustAnchors: true,
  allowDebug: true,
  acceptance: true,
  bootProofs: true,
  provenance: true,
};

/**
 * @example
 * ```ts
 * const strict = auditSetting({ policy, now: new Date(), acceptance: "strict" });
 * ```
 */
export function auditSetting(options: AuditOptions): AuditSetting {
  const { bootProofs = [], provenance = [], ...own } = ownOptions("options", options, OPTIONS);
  const { policy, now, at, ...others } = plainOptions(own);
  if (policy === "bundle") throw new TypeError("options.policy: expected a policy or NO_POLICY_ANY_ENCLAVE");
  return {
    ...others,
    policy: policy && policyText(policy),
    now: now.toISOString(),
    ...(at !== undefined && { at: at instanceof Date ? at.toISOString() : at }),
    bootProofs: [...bootProofs],
    ...(provenance.length > 0 && { provenance: [...provenance] }),
  };
}

/** Throws MalformedError for a malformed policy or anchor. */
export function verifyOptionsOf(setting: AuditSetting): VerifyOptions {
  const own = ownSetting(setting);
  const { policy, now, at } = own;
  return {
    ...optionsBesidePolicy({
      ...otherMembers(own, "policy", "at", "bootProofs", "provenance"),
      now: new Date(now),
      ...(at !== undefined && { at: at === "document" || at === "now" ? at : new Date(at) }),
    }),
    policy: policy === null ? NO_POLICY_ANY_ENCLAVE : parsePlainPolicy(policyOfText(policy)),
  };
}

/** Returns the SHA-256, in hex, of the whole setting, which identifies the run. */
export async function settingDigest(setting: AuditSetting): Promise<string> {
  const own = ownSetting(setting);
  return digestOfParts({ ...(await partDigests(own)), now: own.now });
}

/** Returns the SHA-256, in hex, of policy and trust anchors, which each worker has from its own caller. */
export async function policyDigest(setting: Held): Promise<string> {
  const { policy, trustAnchors, trustedRoots } = await partDigests({ ...ownHeld(setting), bootProofs: [] });
  return digestOfParts({ policy, trustAnchors, trustedRoots });
}

type Judged = Omit<AuditSetting, "now">;

/** Returns the digest of each part of a setting except `now`. */
export async function partDigests(setting: Judged): Promise<Readonly<Record<SettingPart, string>>> {
  const { policy, trustAnchors, at, allowDebug, acceptance, bootProofs, provenance } = ownMembers(
    setting as AuditSetting,
    SETTING,
  );
  // Each member is named, so that a new one must be part of the digest to compile.
  const judgedBy: { readonly [K in keyof Required<Judged>]: JudgedBy[K] } = {
    policy: policy && policyOfText(policy),
    ...{ trustAnchors, at, allowDebug, acceptance, bootProofs, provenance },
  };
  return settingParts(judgedBy);
}
