/** The setting of a watch, and how it is reloaded (run/README.md, "Another setting"). */
import { ownMembers, withoutPrototype } from "../decode/input.js";
import { having, plain, requireShape } from "../decode/options.js";
import { list, objectOf, optional } from "../decode/shapes.js";
import { ParsedPolicy } from "../appraise/parsed-policy.js";
import type { Policy } from "../appraise/policy.js";
import { toHex } from "../bytes.js";
import type { VerifyOptions } from "../bootproof.js";
import { type Builds, type DemandedBuilds, buildsOf } from "../door/builds.js";
import type { Signal } from "../door/platform.js";
import { untilAborted } from "../door/waiting.js";
import { cut } from "../errors.js";
import {
  type PlainPolicy,
  type SettingParts,
  digestOfParts,
  parsePlainPolicy,
  policyContent,
  settingParts,
} from "../plain-settings.js";
import { SignedPolicyError } from "../signed-policy/errors.js";
import { SignedPolicy } from "../signed-policy/open.js";
import { sha256 } from "../verify/digest.js";
import { RELOADED, type RunEvent, type SettingFault } from "./line.js";
import type { WatchTools } from "./outages.js";

/** Policy and bundles, which a watch reads again together. */
export interface WatchSetting extends DemandedBuilds {
  /**
   * A policy of `parsePolicy`, plain data, which may come from another copy of this package, or a signed policy, whose
   * feed is fetched at each reload, and after each of its `refreshMs`.
   */
  readonly policy: Policy | PlainPolicy | SignedPolicy;
}

/** Why a setting could not be read. */
export interface SettingRefusal {
  readonly refused: readonly SettingFault[];
  /** Set if the feed of a signed policy was rolled back or forked. */
  readonly contradiction?: true;
}

/** How a running watch reloads its setting. */
export interface SettingReload {
  /**
   * Reads policy and bundles. The reload is refused if `read` rejects, if the policy is malformed, or if it demands
   * provenance and there are no bundles. A refused reload changes nothing, and `read` is called again after each
   * interval until it succeeds.
   */
  readonly read: () => Promise<WatchSetting | SettingRefusal>;
  /**
   * Is called once, when the watch starts, with a function that requests a reload. Returns a function that is called
   * when the watch ends.
   */
  readonly when: (ask: () => void) => () => void;
}

/** Options that affect verdicts and stay the same while a watch runs. */
export interface Strictness extends Pick<VerifyOptions, "allowDebug" | "acceptance" | "maxAgeMs"> {}

/** A setting after reading and checking. */
export interface HeldSetting {
  readonly policy: ParsedPolicy;
  /** Parts of the evidence and the options of each verification. */
  readonly evidence: Builds["evidence"];
  readonly options: Builds["options"] & Strictness;
  readonly parts: SettingParts;
  readonly digest: string;
  /** SHA-256 of the policy's bytes, in hex; null for a policy that was passed as a value. */
  readonly policyDigest: string | null;
}

const SETTING = /* @__PURE__ */ objectOf<WatchSetting>(
  {
    policy: plain,
    provenance: optional(list(plain)),
    provenanceVerifier: optional(having("verify")),
  },
  { unknown: "ignore" },
);

/**
 * Reads and checks a setting. Rejects with {@link MalformedError} for malformed plain data, and with the TypeErrors of
 * `buildsOf`.
 */
export async function holdSetting(setting: WatchSetting, strict: Strictness): Promise<HeldSetting> {
  const { policy: source, ...demanded } = requireShape("setting", setting, SETTING);
  const given = SignedPolicy.is(source) ? source.policy : source;
  const policy = (ParsedPolicy.is(given) ? given : parsePlainPolicy(given as PlainPolicy)) as ParsedPolicy;
  const { evidence, options } = buildsOf(policy, withoutPrototype(demanded));
  const strictness = ownMembers(strict, { allowDebug: true, acceptance: true, maxAgeMs: true });
  const parts = await settingParts({ policy: policyContent(policy), ...evidence, ...strictness });
  const [digest, bytes] = [await digestOfParts(parts), policy.bytes()];
  const policyDigest = bytes && toHex(await sha256(bytes));
  return { policy, evidence, options: { ...options, ...strictness }, parts, digest, policyDigest };
}

interface ReloadOptions extends Pick<WatchTools, "now" | "report"> {
  readonly repeatMs: number;
  readonly strictness: Strictness;
  readonly read: SettingReload["read"];
}

interface Refusal {
  /** Time of the first refused attempt. */
  readonly since: Date;
  readonly reportedAt: Date;
  readonly faults: readonly SettingFault[];
  /** Whether the newest attempt was refused for a feed that was rolled back or forked. */
  readonly isContradiction: boolean;
}

/** Reloads a setting when asked. After a refusal its caller tries again until it succeeds. */
export class Reloads {
  readonly #options: ReloadOptions;
  /** Time of the last successful read. */
  readAt: Date | null = null;
  /** Whether a reload is requested. */
  isAsked = false;
  /** Null if the newest attempt succeeded. */
  refusal: Refusal | null = null;

  constructor(options: ReloadOptions) {
    this.#options = options;
  }

  /** Reads the setting again. `event` is to be recorded in the log; null if there is nothing to record. */
  async next(
    before: HeldSetting,
    signal: Signal,
  ): Promise<{ readonly setting: HeldSetting; readonly event: RunEvent | null }> {
    const { isAsked } = this;
    this.isAsked = false;
    const read = await this.#read(signal);
    if (signal.aborted) return { setting: before, event: null };
    if ("refused" in read) return { setting: before, event: this.#refuse(read) };
    const event = this.#accept(before, read, isAsked);
    return { setting: read.digest === before.digest ? before : read, event };
  }

  async #read(signal: Signal): Promise<HeldSetting | SettingRefusal> {
    try {
      const read = await untilAborted(this.#options.read(), signal);
      if ("policy" in read && SignedPolicy.is(read.policy)) await untilAborted(read.policy.refresh(), signal);
      return Object.hasOwn(read, "refused")
        ? (read as SettingRefusal)
        : await holdSetting(read as WatchSetting, this.#options.strictness);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!(error instanceof SignedPolicyError)) return { refused: [{ file: null, reason }] };
      const refused = [{ file: null, reason: `the feed of the signed policy: ${reason}` }];
      return { refused, ...(error.isContradiction && { contradiction: true }) };
    }
  }

  #accept(
    before: HeldSetting,
    { policy, parts, digest, policyDigest }: HeldSetting,
    isAsked: boolean,
  ): RunEvent | null {
    const at = this.#options.now();
    this.readAt = at;
    const changed = RELOADED.filter((part) => parts[part] !== before.parts[part]);
    const isNews = digest !== before.digest || this.refusal !== null;
    this.refusal = null;
    // A signed policy is refreshed every few minutes, which is no news if nothing has changed.
    if (isNews || isAsked) this.#options.report({ event: "setting-read", at, changed });
    if (!isNews) return null;
    const digests = { policyDigest, settingDigest: digest, before: before.digest };
    const version = policy.signed && { policyVersion: policy.signed.version };
    return { event: "setting-changed", changed, policy: policy.name, ...digests, ...version };
  }

  /** Returns an event for the log, or null if the faults are the same as before. */
  #refuse({ refused, contradiction }: SettingRefusal): RunEvent | null {
    const at = this.#options.now();
    const faults = bounded(refused);
    const { since = at, reportedAt = null, faults: known = null } = this.refusal ?? {};
    const isNews = JSON.stringify(faults) !== JSON.stringify(known);
    const isTold = isNews || reportedAt === null || at.getTime() - reportedAt.getTime() >= this.#options.repeatMs;
    const loud = contradiction && { contradiction };
    if (isTold) this.#options.report({ event: "setting-refused", at, since, faults, again: known !== null, ...loud });
    this.refusal = { since, reportedAt: isTold ? at : reportedAt, faults, isContradiction: contradiction === true };
    if (!isNews) return null;
    return { event: "setting-refused", since: since.toISOString(), faults, ...loud };
  }
}

const MAX_FAULTS = 16;
const MAX_TEXT = 1024;

/** Limits the faults, since a policy may have more than fit in a line of the log. */
function bounded(faults: readonly SettingFault[]): SettingFault[] {
  if (faults.length === 0) return [{ file: null, reason: "the reload was refused, and no reason was given" }];
  return faults
    .slice(0, MAX_FAULTS)
    .map(({ file, reason }) => ({ file: file === null ? null : cut(file, MAX_TEXT), reason: cut(reason, MAX_TEXT) }));
}
