/** A page of a document that carries neither evidence nor a script. */
import type { Doc } from "../show/doc.js";
import { writeHtml } from "../show/html.js";
import { documentOf } from "./page.js";
import { titleText } from "./shown.js";

export async function renderDoc(title: string, doc: Doc): Promise<string> {
  return documentOf({ title: titleText(title), body: writeHtml(doc), carried: null }, null);
}
