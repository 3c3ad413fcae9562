/** Renders a page as one file: the script that verifies, and a report with its evidence, if there is one. */
import { toBase64, toHex, toUtf8 } from "../bytes.js";
import { type BundleOptions, decodeBundle } from "../bundle/file.js";
import { packEvidence, plainPacked } from "../bundle/pack.js";
import { MAX_BUNDLE_BYTES, MAX_PAGE_BYTES } from "../bundle/page.js";
import type { BundleFacts } from "../bundle/text.js";
import { verifyAsPacked } from "../bundle/verify.js";
import { copyPlain, otherMembers } from "../decode/input.js";
import { copyJson, parseJson, printableJson } from "../decode/json.js";
import { options, plain, typedOptions, unchecked } from "../decode/options.js";
import { type MembersOf, nullish, text } from "../decode/shapes.js";
import { MalformedError, attempt } from "../errors.js";
import {
  type Evidence,
  type EvidenceInput,
  NamedEvidence,
  evidenceMembers,
  isDocument,
  namedSharing,
} from "../inputs.js";
import { PLAIN_OPTIONS, type PlainOptions, pinsProvenance, plainAnchor } from "../plain-settings.js";
import type { Notice } from "../report/facts.js";
import type { Report } from "../report/report.js";
import { carriesNonce } from "../report/statements.js";
import { TOOL } from "../version.js";
import { sha256 } from "../verify/digest.js";
import { parseTrustAnchor } from "../verify/trust-anchor.js";
import type { Doc } from "../show/doc.js";
import { writeHtml } from "../show/html.js";
import { type Markup, type MarkupNode, element, toHtml, unbroken } from "../show/markup.js";
import { STYLE } from "./style.js";
import { IDS, aboutPage } from "./this-page.js";
import { type JudgedPage, NO_PROVENANCE } from "./verify.js";
import { NOTHING_VERIFIED, pageView } from "./verifier-view.js";
import { shownReport, titleOf, titleText } from "./view.js";

/** A verification to show. The policy of `options` is the one that was used, either the caller's or the bundle's. */
export interface PageContent {
  readonly evidence: EvidenceInput;
  readonly options: PlainOptions;
  readonly report: Report;
  /** The {@link BundleVerification} of evidence that came in a bundle. Default: null. */
  readonly bundle?: BundleFacts | null;
  /** What the page is about, in the caller's words. Default: the policy's name and the organization. */
  readonly title?: string | null;
  /** The name of the file that the page becomes, for the command that verifies it. Default: `report.html`. */
  readonly file?: string | null;
}

const CONTENT: MembersOf<PageContent> = {
  evidence: unchecked,
  options: options(PLAIN_OPTIONS),
  report: plain,
  bundle: nullish(plain),
  title: nullish(text),
  file: nullish(text),
};

/**
 * Renders the page of a verification, with its evidence, policy and report as one bundle, or with its bare document.
 * The bundle is verified again. Rejects with Error if the new report differs, for example because the options differ.
 * Rejects with {@link MalformedError} if the page would be too large, and for provenance, which browsers cannot verify.
 * @example
 * ```ts
 * const options = { policy, now: new Date() };
 * const { report } = await verifyEvidence(evidence, options);
 * const html = await renderPage({ evidence, options: plainOptions(options), report });
 * ```
 */
export async function renderPage(content: PageContent): Promise<string> {
  return pageWith(pageScript, content);
}

/** Does what {@link renderPage} does with a given script. The content is copied before the first await. */
export async function pageWith(script: string | (() => Promise<string>), content: PageContent): Promise<string> {
  const { options, report, bundle = null, title, file, ...own } = typedOptions("content", content, CONTENT);
  const evidence = ownEvidence(own.evidence);
  const verified = { evidence, report, bundle };
  const [kind, carried] = isDocument(evidence)
    ? (["document", documentText(evidence)] as const)
    : (["bundle", await bundleText(evidence, options, verified)] as const);
  const organizationId = options.expected?.organizationId;
  const about = aboutPage(report, { title, file, organizationId });
  const body = pageView(kind, about, await shownReport(verified, makersNotes(report)));
  return documentOf(
    { title: titleOf(verified, title), body, carried },
    typeof script === "string" ? script : await script(),
  );
}

async function pageScript(): Promise<string> {
  const { PAGE_SCRIPT } = await import("#page-script");
  return PAGE_SCRIPT;
}

function ownEvidence(evidence: EvidenceInput): EvidenceInput {
  if (evidence instanceof Uint8Array || isNamed(evidence)) return ownPiece(evidence) as EvidenceInput;
  const { bootProofs, appProofs, activity, provenance } = evidenceMembers(evidence);
  if (provenance.length > 0)
    throw new MalformedError("page", [
      { path: "evidence.provenance", message: "expected none: a page cannot have it, since browsers cannot verify it" },
    ]);
  return {
    bootProofs: bootProofs.map(ownPiece),
    appProofs: appProofs.map(ownPiece),
    ...(activity !== undefined && { activity: ownPiece(activity) }),
  };
}

/** Copies a piece of evidence. The command loads this module from another build, whose class NamedEvidence differs. */
function ownPiece(piece: unknown): unknown {
  if (!isNamed(piece)) return copyPlain(piece);
  const { name, value, bytes, ephemeralKey, latestOf } = piece;
  const facts = { ...(ephemeralKey && { ephemeralKey }), ...(latestOf !== null && { latestOf }) };
  return namedSharing(name, copyPlain(value), { bytes, ...facts });
}

const NAMED = ["name", "value", "bytes", "ephemeralKey", "latestOf"];

function isNamed(input: unknown): input is NamedEvidence {
  if (input instanceof NamedEvidence) return true;
  if (typeof input !== "object" || input === null || Array.isArray(input)) return false;
  const isPlain = [null, Object.prototype].includes(Object.getPrototypeOf(input) as object | null);
  return !isPlain && NAMED.every((name) => Object.hasOwn(input, name));
}

/** Returns a bare document as base64. It cannot be in a bundle. */
function documentText(document: Uint8Array | NamedEvidence): string {
  const value = document instanceof NamedEvidence ? document.value : document;
  return value instanceof Uint8Array ? toBase64(value) : "";
}

async function bundleText(evidence: Evidence, options: PlainOptions, { report, bundle }: JudgedPage): Promise<string> {
  const file = packed(evidence, options, bundle?.policyFrom === "bundle" ? "bundle" : undefined);
  const remade = (await verifyAsPacked(decodeBundle({ ...file, report })))!;
  // The names of anchors may differ, because a bundle does not keep the names of their files.
  const [difference] = remade.packed.differences.filter(({ place }) => !place.endsWith(".hardware.trustAnchor"));
  if (difference !== undefined) {
    const { place, packed, anew } = difference;
    throw new Error(`the report is not of this evidence and these options: ${place} is ${packed}, expected ${anew}`);
  }
  // Characters that could end the element or begin another one are escaped.
  const text = printableJson(JSON.stringify({ ...file, report: remade.report })).replaceAll("<", "\\u003c");
  if (text.length > MAX_BUNDLE_BYTES) throw tooLarge("bundle", MAX_BUNDLE_BYTES);
  return text;
}

function packed(evidence: Evidence, plain: PlainOptions, policyFrom: BundleOptions["policyFrom"]): object {
  const { policy, now } = plain;
  if (policy === "bundle") throw new TypeError("options.policy: expected the bundle's policy itself");
  if (policy !== null && pinsProvenance(attempt(() => parseJson(policy.text)).value))
    throw new MalformedError("page", [{ path: "policy", message: NO_PROVENANCE }]);
  const keys = evidence.bootProofs.map((piece) => (piece instanceof NamedEvidence ? piece.ephemeralKey : null));
  const requestedKeys = keys.some((key) => key !== null) ? keys.map((key) => key && toHex(key)) : undefined;
  const trustAnchors = plain.trustAnchors?.map(({ name, pem }) => plainAnchor(parseTrustAnchor(name, pem)));
  return {
    ...packEvidence(evidence),
    now,
    policy: policy && plainPacked(policy),
    options: copyJson({ ...otherMembers(plain, "policy", "now"), trustAnchors, requestedKeys, policyFrom }),
  };
}

function tooLarge(part: string, most: number): MalformedError {
  const message = `its ${part} would be larger than ${most / 1024 / 1024} MiB, the limit for reading`;
  return new MalformedError("page", [{ path: "evidence", message }]);
}

/**
 * Returns a notice of the values that the maker chose, such as a nonce. A reader must not take them for the reader's
 * own.
 */
function makersNotes(report: Report): Notice[] {
  const { claims } = report;
  if (claims === null) return [];
  const { bootProofs, appProofs, activity } = claims;
  const chosen = [
    ...(bootProofs.some((_, index) => carriesNonce(report, index)) ? ["the nonce"] : []),
    ...(appProofs.some(({ answers }) => answers) ? ["the challenge"] : []),
    ...(appProofs.some(({ expectation }) => typeof expectation === "number") ? ["the expected payloads"] : []),
    ...(activity !== null && activity.asked.length > 0 ? ["the request"] : []),
  ];
  if (chosen.length === 0) return [];
  const text = `On this page, “you” and “your” mean its maker, who chose ${chosen.join(", ")}.`;
  return [{ kind: "note", text }];
}

/** Renders the page without evidence, which verifies the files that its reader drops on it. */
export async function renderVerifier(): Promise<string> {
  return verifierWith(await pageScript());
}

export async function verifierWith(script: string): Promise<string> {
  return documentOf({ title: titleText(NOTHING_VERIFIED), body: pageView(null), carried: null }, script);
}

/** Renders the page of a document, with neither evidence nor a script. */
export async function renderDoc(title: string, doc: Doc): Promise<string> {
  return documentOf({ title: titleText(title), body: writeHtml(doc), carried: null }, null);
}

interface Document {
  readonly title: string;
  readonly body: readonly MarkupNode[];
  /** Text of the evidence; null for a page without evidence. */
  readonly carried: string | null;
  readonly style?: string;
}

/** Returns the whole file. A page whose script is null has none. */
async function documentOf({ title, body, carried, style = STYLE }: Document, script: string | null): Promise<string> {
  const content = script === null ? null : scriptContent(script);
  const head = element(
    "head",
    {},
    "\n",
    element("meta", { "http-equiv": "Content-Security-Policy", content: await contentPolicy(content, style) }),
    ...lines(
      element("meta", { charset: "utf-8" }),
      element("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
      element("meta", { name: "color-scheme", content: "light dark" }),
      element("meta", { name: "referrer", content: "no-referrer" }),
      element("meta", { name: "generator", content: `${TOOL.name} ${TOOL.version}` }),
      // The empty icon stops browsers from requesting one from the server.
      element("link", { rel: "icon", href: "data:," }),
      element("title", {}, title),
      element("style", {}, style),
    ),
    "\n",
  );
  const end = [
    ...(carried === null ? [] : [element("script", { type: "text/plain", id: IDS.evidence }, carried)]),
    ...(content === null ? [] : [element("script", { id: IDS.script }, content)]),
  ];
  const main = element("main", {}, "\n", ...body.map(unbroken), "\n");
  const page = element(
    "html",
    { lang: "en" },
    "\n",
    head,
    "\n",
    element("body", {}, ...lines(main, ...end), "\n"),
    "\n",
  );
  return boundedText(page);
}

/** Returns the page as text. Throws if it exceeds the size of pages that can be read. */
function boundedText(page: Markup): string {
  try {
    const text = `<!doctype html>\n${toHtml([page], MAX_PAGE_BYTES)}\n`;
    // Bytes are counted only if the characters could exceed the limit.
    if (3 * text.length <= MAX_PAGE_BYTES || toUtf8(text).length <= MAX_PAGE_BYTES) return text;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw tooLarge("page", MAX_PAGE_BYTES);
}

/** Puts each element on its own line, for tools that read lines. */
function lines(...elements: readonly Markup[]): MarkupNode[] {
  return elements.flatMap((each) => ["\n", each]);
}

/** Returns the script, which must be ASCII: then every reader of the file decodes it alike. */
function scriptContent(script: string): string {
  if (!/^[\n\x20-\x7e]+$/.test(script)) throw new Error("the script: expected printable ASCII and line feeds");
  return script.endsWith("\n") ? script : `${script}\n`;
}

/**
 * Returns the content security policy. The page cannot load, send or submit anything. Only this script runs, and it
 * cannot make elements from text.
 */
async function contentPolicy(script: string | null, style: string): Promise<string> {
  const sourceOf = async (text: string): Promise<string> => `'sha256-${toBase64(await sha256(toUtf8(text)))}'`;
  return [
    "default-src 'none'",
    `script-src ${script === null ? "'none'" : await sourceOf(script)}`,
    `style-src ${await sourceOf(style)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}
