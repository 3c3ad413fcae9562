/** Reads the evidence inside an HTML page of `verify --format html`. What the page shows is neither read nor judged. */
import { fromUtf8, toUtf8 } from "../bytes.js";
import { MalformedError } from "../errors.js";

/** Maximum bytes of a page: enough for the largest bundle, its text and the script. */
export const MAX_PAGE_BYTES = 32 * 1024 * 1024;
/** Maximum bytes of a bundle, inside or outside a page. */
export const MAX_BUNDLE_BYTES = 8 * 1024 * 1024;

export const EVIDENCE_ID = "bootproof-evidence";

/** Whether a file starts like HTML. Evidence never does. */
export function isHtml(bytes: Uint8Array): boolean {
  const start = String.fromCharCode(...bytes.subarray(0, 512)).replace(/^\u00ef\u00bb\u00bf/, "");
  return /^\s*<(?:!doctype|!--|html|head|body)/i.test(start);
}

/** Whether a file starts like HTML and contains the id of the evidence's block. The error page of a server does not. */
export function isPage(bytes: Uint8Array): boolean {
  return isHtml(bytes) && new TextDecoder().decode(bytes).includes(EVIDENCE_ID);
}

const START = `\n<script type="text/plain" id="${EVIDENCE_ID}">`;
const END = "</script>\n";
/**
 * Finds the start tag of the evidence in other spellings, too, because a browser could take the content of such a tag
 * for the evidence.
 */
const ANY_START = new RegExp(`<script[^<>]*${EVIDENCE_ID}`, "gi");

/**
 * Returns the bytes of the evidence in a page: a bundle, or the base64 of a bare attestation document. The evidence is
 * not verified, and HTML is not parsed. There must be exactly one block with the tags that this package writes, each on
 * its own line. Throws {@link MalformedError} (`page`) for any other page.
 * @example
 * ```ts
 * const bundle = decodeBundle(evidenceInPage(await readFile("report.html")));
 * requireVerified(await verifyBundle(bundle, { policy, now: new Date() }));
 * ```
 */
export function evidenceInPage(html: string | Uint8Array): Uint8Array {
  if (html.length > MAX_PAGE_BYTES) throw fault(`a page of more than ${MAX_PAGE_BYTES / 1024 / 1024} MiB`);
  const text = typeof html === "string" ? html : fromUtf8(html);
  if (text === null) throw fault("a page that is not UTF-8");
  const [first, second] = text.matchAll(ANY_START);
  if (second !== undefined) throw fault("a page with several blocks of evidence");
  if (first === undefined) throw fault("a page without evidence");
  const start = text.indexOf(START);
  const end = text.indexOf("<", start + START.length);
  if (start < 0 || !text.startsWith(END, end)) throw fault("a page whose block of evidence has other tags");
  const evidence = toUtf8(text.slice(start + START.length, end));
  if (evidence.length > MAX_BUNDLE_BYTES) throw fault("a block of more than 8 MiB");
  return evidence;
}

function fault(got: string): MalformedError {
  const message =
    `expected exactly one block of evidence, as bootproof verify --format html writes it, got ${got}: ask for the ` +
    "page again, or for the evidence itself";
  return new MalformedError("page", [{ path: "", message }]);
}
