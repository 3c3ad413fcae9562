import type { Index, IndexedCase } from "./corpus.js";

/** A part of a long text: itself, or what is repeated and how often. */
export type Part = string | { readonly repeat: string; readonly times: number };

/** One piece: its text, or the parts of a long one, where it is UTF-8, otherwise its bytes in base64. */
export type Piece = { readonly sha256: string } & (
  | { readonly text: string }
  | { readonly base64: string }
  | { readonly parts: readonly Part[] }
);

export interface PackedCase extends Omit<IndexedCase, "files"> {
  readonly input: Readonly<Record<string, unknown>>;
  readonly expected: Readonly<Record<string, unknown>>;
  readonly pieces: Readonly<Record<string, Piece>>;
}

export interface CategoryFile {
  readonly format: "bootproof-conformance-category/1";
  readonly category: string;
  /** By path: pieces that several cases name. */
  readonly common: Readonly<Record<string, Piece>>;
  readonly cases: readonly PackedCase[];
}

export const CORPUS: string;
export class CorpusError extends Error {}
export function readCategories(root: string): CategoryFile[];
export function unpack(root: string, to: string): number;
export function indexText(index: Index): string;
