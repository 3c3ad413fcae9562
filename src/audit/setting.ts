/** The setting of an audit as plain data, for the state of a run, other threads and other machines. */
import { type Policy, parsePolicy } from "../appraise/policy.js";
import { plainPolicy } from "../appraise/plain-policy.js";
import { NO_POLICY_ANY_ENCLAVE, type VerifyOptions } from "../bootproof.js";
import { fromUtf8, toHex, toUtf8 } from "../bytes.js";
import { copyPlain, ownMembers, ownOptions } from "../decode/input.js";
import { sha256 } from "../verify/digest.js";
import { type TrustAnchor, certificatePem, parseTrustAnchor } from "../verify/trust-anchor.js";

/** Everything that decides a verdict, as JSON that can also be cloned. */
export interface AuditSetting {
  /** Null: no policy, so any genuine enclave. */
  readonly policy: AuditPolicy | null;
  /** Only without a policy, which names its own. Default: AWS Nitro Enclaves Root G1. */
  readonly trustAnchors?: readonly { readonly name: string; readonly pem: string }[];
  /** RFC 3339, UTC, with milliseconds: the present of the whole run, also where it is resumed. */
  readonly now: string;
  /** As in `VerifyOptions`; an instant as RFC 3339. */
  readonly at?: string;
  readonly allowDebug?: boolean;
  /** JSON texts, each one or several boot proofs, for app proofs and activities without any. */
  readonly bootProofs: readonly string[];
}

const SETTING: Readonly<Record<keyof AuditSetting, true>> = {
  policy: true,
  trustAnchors: true,
  now: true,
  at: true,
  allowDebug: true,
  bootProofs: true,
};

/** A copy of a setting. Throws TypeError as `ownOptions` does. */
export function ownSetting(setting: AuditSetting): AuditSetting {
  return copyPlain(ownOptions("setting", setting, SETTING));
}

type Held = Pick<AuditSetting, "policy" | "trustAnchors">;

/** A copy of the worker's part of a setting. */
export function ownHeld(held: Held): Held {
  return copyPlain(ownMembers(held, { policy: true, trustAnchors: true }));
}

/** The text of a policy, with the certificates of the files that it names. */
export interface AuditPolicy {
  readonly text: string;
  /** The PEM text of each trust anchor's file, by its name in the policy. */
  readonly anchors?: Readonly<Record<string, string>>;
}

export interface AuditOptions {
  readonly policy: Policy | typeof NO_POLICY_ANY_ENCLAVE;
  readonly now: Date;
  readonly at?: "document" | "now" | Date;
  readonly trustAnchors?: readonly TrustAnchor[];
  readonly allowDebug?: boolean;
  readonly bootProofs?: readonly string[];
}

const OPTIONS: Readonly<Record<keyof AuditOptions, true>> = {
  policy: true,
  now: true,
  at: true,
  trustAnchors: true,
  allowDebug: true,
  bootProofs: true,
};

/** The setting as plain data. Throws TypeError for a policy that was given as a value, since it has no text. */
export function auditSetting(options: AuditOptions): AuditSetting {
  const { policy, now, at, trustAnchors, allowDebug, bootProofs = [] } = ownOptions("options", options, OPTIONS);
  return {
    policy: policy === NO_POLICY_ANY_ENCLAVE ? null : policyText(policy),
    ...(trustAnchors && {
      trustAnchors: trustAnchors.map(({ name, certificate }) => ({ name, pem: certificatePem(certificate.der) })),
    }),
    now: now.toISOString(),
    ...(at !== undefined && { at: at instanceof Date ? at.toISOString() : at }),
    ...(allowDebug !== undefined && { allowDebug }),
    bootProofs: [...bootProofs],
  };
}

function policyText(policy: Policy): AuditPolicy {
  const { bytes, anchors } = copyPlain(plainPolicy(policy));
  // UTF-8, since it was parsed as JSON.
  return { text: fromUtf8(bytes)!, ...(anchors && { anchors }) };
}

/** The options of each verification. Throws MalformedError for a malformed policy or anchor. */
export function verifyOptionsOf(setting: AuditSetting): VerifyOptions {
  const { policy, trustAnchors, now, at, allowDebug } = ownSetting(setting);
  const anchors = trustAnchors?.map(({ name, pem }) => parseTrustAnchor(name, pem));
  return {
    policy: policy === null ? NO_POLICY_ANY_ENCLAVE : parsedPolicy(policy),
    now: new Date(now),
    ...(at !== undefined && { at: at === "document" || at === "now" ? at : new Date(at) }),
    ...(anchors && { trustAnchors: anchors }),
    ...(allowDebug !== undefined && { allowDebug }),
  };
}

function parsedPolicy({ text, anchors = {} }: AuditPolicy): Policy {
  return parsePolicy(text, { readFile: (name) => (Object.hasOwn(anchors, name) ? anchors[name]! : "") });
}

/** SHA-256, in hex, of the whole setting: identifies the run of a state or a queue. */
export async function settingDigest(setting: AuditSetting): Promise<string> {
  const own = ownSetting(setting);
  const { now, at = "document", allowDebug = false, bootProofs } = own;
  return digestOf([...judgedBy(own), now, at, allowDebug, bootProofs]);
}

/** SHA-256, in hex, of policy and trust anchors, which each worker has from its own caller. */
export async function policyDigest(setting: Held): Promise<string> {
  return digestOf(judgedBy(ownHeld(setting)));
}

function judgedBy({ policy, trustAnchors }: Held): unknown[] {
  const anchors = Object.entries(policy?.anchors ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return [policy && [policy.text, anchors], trustAnchors?.map(({ name, pem }) => [name, pem]) ?? null];
}

/** Lists only, since JSON writes them in one order. */
async function digestOf(parts: readonly unknown[]): Promise<string> {
  return toHex(await sha256(toUtf8(JSON.stringify(parts))));
}
