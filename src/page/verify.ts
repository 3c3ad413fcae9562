/** Verifies the evidence of a page again, and lists where its report differs. */
import type { Policy } from "../appraise/policy.js";
import {
  type Evidence,
  NO_POLICY_ANY_ENCLAVE,
  type NamedEvidence,
  type VerifyOptions,
  verifyAttestation,
  verifyAttestationUnder,
  verifyEvidence,
  verifyEvidenceUnder,
} from "../bootproof.js";
import { decodeBundle, namedBundle } from "../bundle/file.js";
import { type BundleFacts, POLICY_OF_THE_PAGE } from "../bundle/text.js";
import { POLICY_OF_THE_BUNDLE, verifyBundle, verifyBundleUnder } from "../bundle/verify.js";
import { copyPlain, otherMembers, ownMembers, ownOptions } from "../decode/input.js";
import { type JsonValue, parseJson } from "../decode/json.js";
import { MalformedError, attempt } from "../errors.js";
import { type EvidenceInput, type OptionsBesidePolicy, isDocument, readOptions } from "../inputs.js";
import {
  type PlainOptions,
  type PlainPolicy,
  optionsBesidePolicy,
  ownPlainOptions,
  parsePlainPolicy,
  pinsProvenance,
} from "../plain-settings.js";
import { strictReport } from "../report/conclude.js";
import { reportDifferences } from "../report/differences.js";
import type { Report } from "../report/report.js";
import { SignatureCache } from "../verify/signature-cache.js";
import type { TrustAnchor } from "../verify/trust-anchor.js";
import { type BundleBytes, type PageContent, type PageEvidence, isBundleBytes, ownContent } from "./data.js";

/** A difference of two reports. Values as shortened JSON text; null if one side has none. */
export interface PageDifference {
  /** For example `verdict`, or `boot[0] cose.signature: status`. */
  readonly place: string;
  readonly page: string | null;
  readonly anew: string | null;
}

/** A verification, as pages show it. */
export interface JudgedPage {
  /** Of a bundle, the evidence inside. */
  readonly evidence: EvidenceInput;
  readonly report: Report;
  /** Null for evidence outside of a bundle. */
  readonly bundle: BundleFacts | null;
}

export interface PageVerification extends JudgedPage {
  /** Whether verifying by the page's own options gives the page's report, in every member. */
  readonly same: boolean;
  /** Up to 100. */
  readonly differences: readonly PageDifference[];
}

/**
 * The caller's options. The page's time, `at`, `allowDebug`, `bootProofsOnly`, trust anchors and request are not used,
 * since they can loosen. The image, nonce, key and strict acceptance that the page's maker demanded are demanded in
 * addition.
 */
export interface PageSetting extends Pick<
  PlainOptions,
  "now" | "at" | "trustAnchors" | "allowDebug" | "acceptance" | "expected"
> {
  /** The caller's; or, explicitly, none (null), or that of the page's maker (`bundle`). */
  readonly policy: PlainPolicy | "bundle" | null;
}

/**
 * Verifies the evidence of a page by its own options, and compares the page's report. Throws {@link MalformedError} for
 * a malformed policy or bundle, and (`page`) for invalid options.
 */
export async function reproducePage(content: PageContent, cache = new SignatureCache()): Promise<PageVerification> {
  const anew = await judged(content, cache);
  const differences = pageDifferences(content.report, anew.report);
  return { ...anew, same: differences.length === 0, differences };
}

/** Verifies the evidence of a page by the caller's options, and compares the page's report by the page's own. */
export async function verifyPageData(given: PageContent, setting: PageSetting): Promise<PageVerification> {
  const content = ownContent(given);
  const copied = readPageSetting(setting);
  const cache = new SignatureCache();
  const { same, differences } = await reproducePage(content, cache);
  return { ...(await judgePage(content, copied, cache)), same, differences };
}

export interface PageSettingCopy extends Omit<PageSetting, "policy" | "trustAnchors"> {
  readonly policy: Policy | "bundle" | null;
  readonly trustAnchors?: readonly TrustAnchor[];
}

export const SETTING_NAMES: Readonly<Record<keyof PageSetting, true>> = {
  policy: true,
  now: true,
  at: true,
  trustAnchors: true,
  allowDebug: true,
  acceptance: true,
  expected: true,
};

/** Throws TypeError for options of a wrong type or name, and {@link MalformedError} for a malformed policy. */
export function readPageSetting(setting: PageSetting): PageSettingCopy {
  const own = ownOptions("options", setting, SETTING_NAMES);
  const { policy } = own;
  if (policy === undefined) throw new TypeError('options.policy: expected plain data of a policy, "bundle" or null');
  const taken = Object.assign(optionsBesidePolicy(copyPlain(otherMembers(own, "policy"))), {
    policy: policy === "bundle" || policy === null ? policy : readPolicy(policy),
  });
  // Invalid options throw before verification.
  readOptions({ ...taken, policy: callersPolicy(taken.policy) });
  return taken;
}

/**
 * Throws TypeError for a demand that nothing in the page could meet, and if the page's policy is chosen but missing;
 * {@link MalformedError} if that policy loosens what the caller does not.
 */
export async function judgePage(
  content: PageContent,
  setting: PageSettingCopy,
  cache = new SignatureCache(),
): Promise<JudgedPage> {
  const { policy, expected } = setting;
  const { measurements, nonce, ephemeralKey, acceptance } = ownMembers(content.options, DEMANDED_AGAIN);
  const options = Object.assign(otherMembers(setting, "policy"), {
    ...(measurements && { measurements }),
    ...(nonce && { nonce }),
    ...(ephemeralKey && { ephemeralKey }),
    ...(acceptance === "strict" && { acceptance }),
    // The page's maker chose its content, so missing app proofs must not skip rules.
    ...(!isBundleBytes(content.evidence) && { bootProofsOnly: false }),
    cache,
  });
  refuseEmptyQuestion(content.evidence, expected);
  if (policy === "bundle")
    return refusedForPolicy(await judge(content.evidence, options, makersPolicyOf(content)), options.acceptance);
  return judge(content.evidence, options, { from: "caller", policy: callersPolicy(policy) });
}

/** For a strict caller the page's policy is a reason to refuse, as the bundle's is. */
async function refusedForPolicy(judged: JudgedPage, acceptance: VerifyOptions["acceptance"]): Promise<JudgedPage> {
  if (acceptance !== "strict" || judged.bundle?.policyFrom === "bundle") return judged;
  return { ...judged, report: await strictReport(judged.report, [POLICY_OF_THE_PAGE]) };
}

/** Demands of a page's maker only tighten. */
const DEMANDED_AGAIN = { measurements: true, nonce: true, ephemeralKey: true, acceptance: true } as const;

function callersPolicy(policy: PageSettingCopy["policy"]): VerifyOptions["policy"] {
  return typeof policy === "object" && policy !== null ? policy : NO_POLICY_ANY_ENCLAVE;
}

/** A page runs in browsers, which have no Sigstore library: it must never accept what it cannot check. */
export const NO_PROVENANCE =
  "demands provenance, which a page cannot verify: browsers have no Sigstore library. Run bootproof verify " +
  "--provenance FILE --policy FILE in its place";

/** Throws {@link MalformedError} (`page`) for a policy that demands provenance. */
function readPolicy(given: PlainPolicy): Policy {
  // Read once: what is examined is what is parsed.
  const policy = copyPlain(given);
  refuseDemands(attempt(() => parseJson(policy.bytes)).value);
  return parsePlainPolicy(policy);
}

function refuseDemands(policy: JsonValue | undefined): void {
  if (pinsProvenance(policy)) throw new MalformedError("page", [{ path: "policy", message: NO_PROVENANCE }]);
}

function makersPolicyOf({ options: { policy } }: PageContent): ChosenPolicy {
  if (policy === null) throw new TypeError("there is no policy in the page: its maker had it verified without one");
  return policy === "bundle" ? { from: "bundle" } : { from: "page", policy: readPolicy(policy) };
}

/** Without app proofs or an activity, no request can be checked. Missing addresses or payloads fail a check instead. */
function refuseEmptyQuestion(evidence: PageEvidence, expected: PageSetting["expected"]): void {
  if (expected === undefined || expected.addresses !== undefined || expected.payload !== undefined) return;
  const { appProofs = [], activity } = (
    isBundleBytes(evidence) ? decodeBundle(evidence.bundle).evidence : evidence
  ) as Evidence;
  if (appProofs.length === 0 && activity === undefined)
    throw new TypeError("expected: checked against app proofs and activities, and the page has none");
}

/** The caller's policy or none, the bundle's, or the page's. */
type ChosenPolicy =
  | { readonly from: "caller"; readonly policy: VerifyOptions["policy"] }
  | { readonly from: "bundle" }
  | { readonly from: "page"; readonly policy: Policy };

/** Verifies by the options that came with the evidence. Throws as {@link reproducePage} does. */
export async function judged(
  { evidence, options: given }: Omit<PageContent, "report">,
  cache = new SignatureCache(),
): Promise<JudgedPage> {
  try {
    const plain = ownPlainOptions(given);
    const { policy } = plain;
    const options = Object.assign(optionsBesidePolicy(plain), { cache });
    if (policy === "bundle") return await judge(evidence, options, { from: "bundle" });
    const own = policy === null ? NO_POLICY_ANY_ENCLAVE : readPolicy(policy);
    return await judge(evidence, options, { from: "caller", policy: own });
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    throw new MalformedError("page", [{ path: "options", message: error.message }]);
  }
}

async function judge(evidence: PageEvidence, options: OptionsBesidePolicy, chosen: ChosenPolicy): Promise<JudgedPage> {
  if (isBundleBytes(evidence)) return judgeBundle(evidence, options, chosen);
  if (chosen.from === "bundle") throw new TypeError("policy: that of a bundle, and there is none");
  const { report } = isDocument(evidence)
    ? await judgeBareDocument(evidence, options, chosen)
    : await judgePieces(evidence, options, chosen);
  return { evidence, report, bundle: null };
}

type PolicyOfPieces = Exclude<ChosenPolicy, { readonly from: "bundle" }>;

async function judgePieces(
  evidence: Evidence,
  options: OptionsBesidePolicy,
  { from, policy }: PolicyOfPieces,
): Promise<{ readonly report: Report }> {
  if (from === "page") return verifyEvidenceUnder(evidence, { policy, options, code: "page" });
  return verifyEvidence(evidence, { ...options, policy });
}

async function judgeBareDocument(
  document: Uint8Array | NamedEvidence,
  options: OptionsBesidePolicy,
  { from, policy }: PolicyOfPieces,
): Promise<{ readonly report: Report }> {
  if (from === "page") return verifyAttestationUnder(document, { policy, options, code: "page" });
  return verifyAttestation(document, { ...options, policy });
}

async function judgeBundle(
  { bundle: bytes, name }: BundleBytes,
  options: OptionsBesidePolicy,
  chosen: ChosenPolicy,
): Promise<JudgedPage> {
  const decoded = decodeBundle(bytes);
  if (chosen.from === "bundle") refuseDemands(decoded.judgement?.policy as JsonValue | undefined);
  const bundle = namedBundle(decoded, name, bytes);
  const { report, policyFrom, packed } =
    chosen.from === "page"
      ? await verifyBundleUnder(bundle, chosen.policy, options, "page")
      : await verifyBundle(bundle, {
          ...options,
          policy: chosen.from === "bundle" ? POLICY_OF_THE_BUNDLE : chosen.policy,
        });
  return { evidence: bundle.evidence, report, bundle: { policyFrom, packed } };
}

/** Compares every member: the page's report may have any shape. */
function pageDifferences(page: object, anew: Report): PageDifference[] {
  const checks = anew.checks.map(({ subject, id }) => `${subject} ${id}`);
  return reportDifferences(page, anew, { checks }).map(({ place, theirs, anew }) => ({ place, page: theirs, anew }));
}
