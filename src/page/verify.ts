/** Verifies what a page carries anew, and tells where its report says something else. */
import type { PlainPolicy } from "../appraise/plain-policy.js";
import { NO_POLICY_ANY_ENCLAVE, type VerifyOptions, verifyAttestation, verifyEvidence } from "../bootproof.js";
import { decodeBundle, namedBundle } from "../bundle/file.js";
import type { BundleFacts } from "../bundle/text.js";
import { POLICY_OF_THE_BUNDLE, verifyBundle } from "../bundle/verify.js";
import { type JsonObject, memberPath } from "../decode/json.js";
import { MalformedError, cut } from "../errors.js";
import { type JudgedEvidence, NamedEvidence, ownPlainOptions } from "../inputs.js";
import type { Report } from "../report/report.js";
import { parseTrustAnchor } from "../verify/trust-anchor.js";
import { type PageContent, isBundleBytes, ownContent, parsePlainPolicy } from "./data.js";

/** A report that differs in more places is another report. */
const MAX_DIFFERENCES = 100;
const MAX_VALUE = 1000;

/** A place where two reports differ. Values as JSON text, long ones cut; null where one side has none. */
export interface PageDifference {
  /** Such as `verdict`, or `boot[0] cose.signature: status`. */
  readonly place: string;
  readonly page: string | null;
  readonly anew: string | null;
}

export interface PageVerification {
  /** What was judged; of a bundle what is in it. */
  readonly evidence: JudgedEvidence;
  /** Made anew. */
  readonly report: Report;
  /** What became of the bundle; null where the evidence is in none. */
  readonly bundle: BundleFacts | null;
  /** The page's report is the same, member for member. */
  readonly same: boolean;
  /** Where it is not, up to a hundred places. */
  readonly differences: readonly PageDifference[];
}

/**
 * Verifies the evidence of a page anew, by the page's own policy or by `policy`, and compares the page's report. Throws
 * {@link MalformedError} for a policy or a bundle that is none, and (`page`) for options that make no sense.
 */
export async function verifyPageData(content: PageContent, policy?: PlainPolicy): Promise<PageVerification> {
  return verifyContent(ownContent(content), policy);
}

/** {@link verifyPageData} of what was read from a page, or copied. */
export async function verifyContent(content: PageContent, policy?: PlainPolicy): Promise<PageVerification> {
  const anew = await judged(policy === undefined ? content : heldAgainst(content, policy));
  const differences = reportDifferences(content.report, anew.report);
  return { ...anew, same: differences.length === 0, differences };
}

/** A policy names its own trust anchors. */
function heldAgainst(content: PageContent, policy: PlainPolicy): PageContent {
  const options = { ...content.options, policy };
  Reflect.deleteProperty(options, "trustAnchors");
  return { ...content, options };
}

/** What a verification comes to, as far as pages show it. */
type JudgedPage = Pick<PageVerification, "evidence" | "report" | "bundle">;

/** Throws as {@link verifyPageData} does. */
export async function judged(content: Omit<PageContent, "report">): Promise<JudgedPage> {
  try {
    return await judge(content);
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    throw new MalformedError("page", [{ path: "options", message: error.message }]);
  }
}

async function judge({ evidence, options: given }: Omit<PageContent, "report">): Promise<JudgedPage> {
  const { policy, trustAnchors, ...rest } = ownPlainOptions(given);
  const anchors = trustAnchors?.map(({ name, pem }) => parseTrustAnchor(name, pem));
  const options = { ...rest, ...(anchors && { trustAnchors: anchors }) };
  if (isBundleBytes(evidence)) {
    const bundle = namedBundle(decodeBundle(evidence.bundle), evidence.name, evidence.bundle);
    const chosen = policy === "bundle" ? POLICY_OF_THE_BUNDLE : policyOf(policy);
    const { report, policyFrom, packed } = await verifyBundle(bundle, { ...options, policy: chosen });
    return { evidence: bundle.evidence, report, bundle: { policyFrom, packed } };
  }
  if (policy === "bundle") throw new TypeError("policy: that of a bundle, and there is none");
  const all: VerifyOptions = { ...options, policy: policyOf(policy) };
  const isDocument = evidence instanceof Uint8Array || evidence instanceof NamedEvidence;
  const verification = isDocument ? await verifyAttestation(evidence, all) : await verifyEvidence(evidence, all);
  return { evidence, report: verification.report, bundle: null };
}

function policyOf(policy: PlainPolicy | null): VerifyOptions["policy"] {
  return policy === null ? NO_POLICY_ANY_ENCLAVE : parsePlainPolicy(policy);
}

/** Of two reports, the page's of any shape: they are compared as JSON, word for word. */
function reportDifferences(page: object, anew: Report): PageDifference[] {
  const found: PageDifference[] = [];
  const compare = (one: unknown, other: unknown, path: string): void => {
    if (found.length >= MAX_DIFFERENCES || one === other) return;
    if (!areAlike(one, other)) {
      found.push({ place: placeOf(path, anew), page: jsonText(one), anew: jsonText(other) });
      return;
    }
    const names = [...new Set([...Object.keys(other as object), ...Object.keys(one as object)])];
    for (const [index, name] of names.entries()) {
      const inner = Array.isArray(other) ? `${path}[${name}]` : memberPath(path, name, index);
      compare(own(one as object, name), own(other as object, name), inner);
    }
  };
  compare(page, anew, "");
  return found;
}

/** Two arrays, or two objects. */
function areAlike(one: unknown, other: unknown): boolean {
  const isObject = [one, other].every((value) => typeof value === "object" && value !== null);
  return isObject && Array.isArray(one) === Array.isArray(other);
}

function own(value: object, name: string): unknown {
  return Object.hasOwn(value, name) ? (value as JsonObject)[name] : undefined;
}

/** A check by its subject and id, for who reads of it. */
function placeOf(path: string, { checks }: Report): string {
  const [, index, rest] = /^checks\[(\d+)\]\.?(.*)$/s.exec(path) ?? [];
  const check = index === undefined ? undefined : checks[Number(index)];
  if (check === undefined) return path;
  return `${check.subject} ${check.id}${rest ? `: ${rest}` : ""}`;
}

function jsonText(value: unknown): string | null {
  return value === undefined ? null : cut(JSON.stringify(value) ?? "null", MAX_VALUE);
}
