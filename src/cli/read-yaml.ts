/** Reads the YAML of a release. */
import { listed } from "../errors.js";
import type { InputFiles } from "./files.js";

/** Reads every scalar as text, since a digest of decimal digits is not a number. */
export async function parseYaml(files: InputFiles, path: string, text: string): Promise<unknown> {
  const { LineCounter, isScalar, parseDocument, visit } = await import("./yaml.js");
  const lineCounter = new LineCounter();
  const placed = (offset: number | undefined, message: string): string => {
    const { line, col } = lineCounter.linePos(offset ?? 0);
    return `${message} at line ${line}, column ${col}`;
  };
  // The library would search for duplicate keys in quadratic time, so they are found below.
  const document = parseDocument(text, { schema: "failsafe", prettyErrors: false, uniqueKeys: false, lineCounter });
  const [first, ...others] = document.errors;
  if (first !== undefined) {
    const rest = others.length === 0 ? "" : ` (and ${others.length} more places, which may follow from this one)`;
    return files.fault(path, `not YAML: ${placed(first.pos[0], first.message)}${rest}`);
  }
  const faults: string[] = [];
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) faults.push("a map whose key is not text");
        else if (seen.has(key.value)) faults.push(placed(key.range?.[0], "Map keys must be unique"));
        else seen.add(key.value);
      }
    },
    Alias: (_, alias) => void faults.push(placed(alias.range?.[0], "an alias, which is not followed")),
  });
  return faults.length > 0 ? files.fault(path, `not YAML: ${listed(faults, "; ")}`) : document.toJS();
}
