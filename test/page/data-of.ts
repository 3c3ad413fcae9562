/** The bundle in a page, for tests that change it. */
import { evidenceInPage } from "../../src/bundle/page.js";

const BLOCK = /(?<=<script type="text\/plain" id="bootproof-evidence">)[^<]*/;

export type BundleIn = Readonly<Record<string, unknown>>;

export function bundleIn(html: string): BundleIn {
  return JSON.parse(Buffer.from(evidenceInPage(html)).toString()) as BundleIn;
}

/** The page with another text in its block. */
export function withBlock(html: string, text: string): string {
  return html.replace(BLOCK, () => text);
}

export function withBundle(html: string, bundle: object): string {
  return withBlock(html, JSON.stringify(bundle).replaceAll("<", "\\u003c"));
}
