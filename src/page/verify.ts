/** Verifies what a page carries anew, and tells where its report says something else. */
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
import type { BundleFacts } from "../bundle/text.js";
import { POLICY_OF_THE_BUNDLE, verifyBundle, verifyBundleUnder } from "../bundle/verify.js";
import { copyPlain, otherMembers, ownMembers, ownOptions } from "../decode/input.js";
import { MalformedError } from "../errors.js";
import { type EvidenceInput, type OptionsBesidePolicy, isDocument, readOptions } from "../inputs.js";
import {
  type PlainOptions,
  type PlainPolicy,
  optionsBesidePolicy,
  ownPlainOptions,
  parsePlainPolicy,
} from "../plain-settings.js";
import { reportDifferences } from "../report/differences.js";
import type { Report } from "../report/report.js";
import { SignatureCache } from "../verify/signature-cache.js";
import type { TrustAnchor } from "../verify/trust-anchor.js";
import { type BundleBytes, type PageContent, type PageEvidence, isBundleBytes, ownContent } from "./data.js";

/** A place where two reports differ. Values as JSON text, long ones cut; null where one side has none. */
export interface PageDifference {
  /** Such as `verdict`, or `boot[0] cose.signature: status`. */
  readonly place: string;
  readonly page: string | null;
  readonly anew: string | null;
}

/** What evidence comes to, as far as pages show it. */
export interface JudgedPage {
  /** What was judged; of a bundle what is in it. */
  readonly evidence: EvidenceInput;
  /** Made anew. */
  readonly report: Report;
  /** What became of the bundle; null where the evidence is in none. */
  readonly bundle: BundleFacts | null;
}

export interface PageVerification extends JudgedPage {
  /** The page's report is, member for member, what its evidence comes to by the page's own options. */
  readonly same: boolean;
  /** Where it is not, up to a hundred places. */
  readonly differences: readonly PageDifference[];
}

/**
 * What a caller has a page held against. All that loosens is the caller's; the page's own time, `at`, `allowDebug`,
 * `bootProofsOnly`, trust anchors and question are not used. The image, the nonce and the key that the page's maker
 * demanded are demanded in addition.
 */
export interface PageSetting extends Pick<PlainOptions, "now" | "at" | "trustAnchors" | "allowDebug" | "expected"> {
  /** The caller's own; or, in so many words, none (null), or the one that the page's maker chose (`bundle`). */
  readonly policy: PlainPolicy | "bundle" | null;
}

/**
 * Verifies the evidence of a page anew as its maker had it verified, and compares the page's report. Throws
 * {@link MalformedError} for a policy or a bundle that is none, and (`page`) for options that make no sense.
 */
export async function reproducePage(content: PageContent, cache = new SignatureCache()): Promise<PageVerification> {
  const anew = await judged(content, cache);
  const differences = pageDifferences(content.report, anew.report);
  return { ...anew, same: differences.length === 0, differences };
}

/**
 * Verifies the evidence of a page as the caller wants it verified: {@link judgePage}, beside the comparison of the
 * page's report with what the page's own options yield.
 */
export async function verifyPageData(given: PageContent, setting: PageSetting): Promise<PageVerification> {
  const content = ownContent(given);
  const copied = readPageSetting(setting);
  const cache = new SignatureCache();
  const { same, differences } = await reproducePage(content, cache);
  return { ...(await judgePage(content, copied, cache)), same, differences };
}

/** A {@link PageSetting}, copied and read. */
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
  expected: true,
};

/** Throws TypeError for options of a wrong type or name, and {@link MalformedError} for a policy that is none. */
export function readPageSetting(setting: PageSetting): PageSettingCopy {
  const own = ownOptions("options", setting, SETTING_NAMES);
  const { policy } = own;
  if (policy === undefined) throw new TypeError('options.policy: plain data of a policy, "bundle" or null wanted');
  const taken = Object.assign(optionsBesidePolicy(copyPlain(otherMembers(own, "policy"))), {
    policy: policy === "bundle" || policy === null ? policy : parsePlainPolicy(policy),
  });
  // What is wrong with an option is thrown before anything is verified.
  readOptions({ ...taken, policy: callersPolicy(taken.policy) });
  return taken;
}

/**
 * Throws TypeError for a demand that nothing in the page could meet, and for a page without a policy where its own is
 * wanted; {@link MalformedError} where that policy loosens what the caller does not.
 */
export async function judgePage(
  content: PageContent,
  setting: PageSettingCopy,
  cache = new SignatureCache(),
): Promise<JudgedPage> {
  const { policy, expected } = setting;
  const { measurements, nonce, ephemeralKey } = ownMembers(content.options, DEMANDED_AGAIN);
  const options = Object.assign(otherMembers(setting, "policy"), {
    ...(measurements && { measurements }),
    ...(nonce && { nonce }),
    ...(ephemeralKey && { ephemeralKey }),
    // The page's maker chose what is in it, so that nothing here says that no more was wanted.
    ...(!isBundleBytes(content.evidence) && { bootProofsOnly: false }),
    cache,
  });
  refuseEmptyQuestion(content.evidence, expected);
  if (policy === "bundle") return judge(content.evidence, options, makersPolicyOf(content));
  return judge(content.evidence, options, { from: "caller", policy: callersPolicy(policy) });
}

/** What a page's maker demanded tightens. */
const DEMANDED_AGAIN = { measurements: true, nonce: true, ephemeralKey: true } as const;

function callersPolicy(policy: PageSettingCopy["policy"]): VerifyOptions["policy"] {
  return typeof policy === "object" && policy !== null ? policy : NO_POLICY_ANY_ENCLAVE;
}

function makersPolicyOf({ options: { policy } }: PageContent): ChosenPolicy {
  if (policy === null) throw new TypeError("there is no policy in the page: its maker had it verified without one");
  return policy === "bundle" ? { from: "bundle" } : { from: "page", policy: parsePlainPolicy(policy) };
}

/** Without an app proof or an activity nothing says whose the evidence is. An address is missing then, and rejected. */
function refuseEmptyQuestion(evidence: PageEvidence, expected: PageSetting["expected"]): void {
  if (expected === undefined || expected.addresses !== undefined) return;
  const { appProofs = [], activity } = (
    isBundleBytes(evidence) ? decodeBundle(evidence.bundle).evidence : evidence
  ) as Evidence;
  if (appProofs.length === 0 && activity === undefined)
    throw new TypeError("expected: asked of app proofs and activities, and the page has none");
}

/** What the evidence is held against: a policy of the caller's or none, the bundle's own, or the page's. */
type ChosenPolicy =
  | { readonly from: "caller"; readonly policy: VerifyOptions["policy"] }
  | { readonly from: "bundle" }
  | { readonly from: "page"; readonly policy: Policy };

/** The evidence by the options that came with it. Throws as {@link reproducePage} does. */
export async function judged(
  { evidence, options: given }: Omit<PageContent, "report">,
  cache = new SignatureCache(),
): Promise<JudgedPage> {
  try {
    const plain = ownPlainOptions(given);
    const { policy } = plain;
    const options = Object.assign(optionsBesidePolicy(plain), { cache });
    if (policy === "bundle") return await judge(evidence, options, { from: "bundle" });
    const own = policy === null ? NO_POLICY_ANY_ENCLAVE : parsePlainPolicy(policy);
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
  const bundle = namedBundle(decodeBundle(bytes), name, bytes);
  const { report, policyFrom, packed } =
    chosen.from === "page"
      ? await verifyBundleUnder(bundle, chosen.policy, options, "page")
      : await verifyBundle(bundle, {
          ...options,
          policy: chosen.from === "bundle" ? POLICY_OF_THE_BUNDLE : chosen.policy,
        });
  return { evidence: bundle.evidence, report, bundle: { policyFrom, packed } };
}

/** The page's report may be of any shape: all of it is compared, word for word. */
function pageDifferences(page: object, anew: Report): PageDifference[] {
  const checks = anew.checks.map(({ subject, id }) => `${subject} ${id}`);
  return reportDifferences(page, anew, { checks }).map(({ place, theirs, anew }) => ({ place, page: theirs, anew }));
}
