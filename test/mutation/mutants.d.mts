import type ts from "typescript";

export interface Mutant {
  readonly file: string;
  /** The functions and constants around it. */
  readonly in: string;
  /** What it does, such as `condition → true`. */
  readonly mutation: string;
  /** The text that it replaces. */
  readonly source: string;
  /** For people: not what a mutant is known by. */
  readonly line: number;
}

export function keyOf(mutant: Mutant): string;
export function mutate(
  program: ts.Program,
  file: string,
  path: string,
  first: number,
): { readonly mutants: readonly Mutant[]; readonly code: string };
