/** A page of a document that carries neither evidence nor a script. */
import type { Doc } from "../show/doc.js";
import { writeHtml } from "../show/html.js";
import { documentOf } from "./page.js";
import { titleText } from "./shown.js";
import { STYLE } from "./style.js";

export async function renderDoc(title: string, doc: Doc): Promise<string> {
  return documentOf({ title: titleText(title), body: writeHtml(doc), carried: null, style: STYLE + DOC_STYLE }, null);
}

/** The tones of a document. Each has a word beside its colour. */
const DOC_STYLE = `
header.verdict h1 { font-size: clamp(1.75rem, 5vw, 2.75rem); padding: .5rem 0;
  border-bottom: .35rem solid var(--grey); }
header.tone-good h1 { border-color: var(--proven); }
header.tone-bad h1 { border-color: var(--failed); color: var(--failed); }
header.tone-warning h1 { border-color: var(--warning-line); }
.rows { list-style: none; padding-left: 1rem; }`;
