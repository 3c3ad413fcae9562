/** Suites that are not in this repository: where they are on this machine, and what is decided of them. */
import { readVectorJson } from "../support/vectors.js";

interface Suite {
  readonly what: string;
  /** By environment variable: the folder or file that it names. */
  readonly variables: Readonly<Record<string, string>>;
}

interface WycheproofRow {
  readonly file: string;
  readonly case: number;
  readonly ours: "valid" | "invalid";
}

interface CctvRow {
  readonly doors: readonly string[];
  readonly flag: string;
  readonly ours: "valid" | "invalid";
}

interface ReleaseRow {
  readonly release: string;
  readonly note: string;
}

type Decided<Row> = readonly (Row & { readonly because: string })[];

/** `test-vectors/suites/elsewhere.json`. */
export const { suites, decisions } = readVectorJson<{
  readonly suites: Readonly<Record<string, Suite>>;
  readonly decisions: {
    readonly wycheproof: Decided<WycheproofRow>;
    readonly cctv: Decided<CctvRow>;
    readonly "core-enclaves": Decided<ReleaseRow>;
  };
}>("suites/elsewhere.json");

/** What the suite's variables name, in their order; null where one of them is not set, so that nothing is run. */
export function placesOf(name: string): readonly [string, ...string[]] | null {
  const places = Object.keys(suites[name]!.variables).map((variable) => process.env[variable] ?? "");
  return places.includes("") ? null : (places as [string, ...string[]]);
}
