/** Names a likely cause of broken JSON. */
import { fromUtf8 } from "../bytes.js";

/** Matches a first line that looks like YAML. Few texts in other formats begin like this. */
const YAML_START = /^(?:---(?:[ \t].*)?|%YAML\b.*|- .*|(?:[\w.-]+|"[^"]*"|'[^']*')[ \t]*:(?:[ \t].*)?)$/;

/** Hints by the parser's fault and the text from there on. */
const HINTS: readonly (readonly [fault: RegExp, rest: RegExp, hint: string])[] = [
  [/^/, /^(?:\/[/*]|#)/, 'JSON has no comments: remove it (a policy may have "comment": "…" in any object)'],
  [/^expected a member name/, /^\}/, "remove the comma before it"],
  [/^expected a value/, /^\]/, "remove the comma before it"],
  [/^text after the end/, /^[{[]/, "several JSON documents in one file: put them into one array (jq -s .)"],
];

/** Returns why the bytes are not JSON, with a likely cause. `fault` is the message of the parser. */
export function brokenJson(bytes: Uint8Array, fault: string): string {
  const text = fromUtf8(bytes);
  if (text === null) return `${fault}: a binary file, or text in another encoding`;
  const zero = text.indexOf("\0");
  if (zero >= 0) return `a NUL byte at character ${zero + 1}: a binary file, or a damaged copy`;
  if (text.trimStart().startsWith("-----BEGIN ")) return "this is PEM";
  const first = text.split(/\r?\n/).find((line) => !/^[ \t]*(?:#.*)?$/.test(line)) ?? "";
  if (YAML_START.test(first)) return "this looks like YAML: convert it (yq -o json)";
  const rest = restFrom(text, fault);
  if (rest === null) return fault;
  const hint = HINTS.find(([what, from]) => what.test(fault) && from.test(rest))?.[2];
  return hint === undefined ? fault : `${fault}: ${hint}`;
}

/** Returns the text from the position in the parser's message, or null if it has none. */
function restFrom(text: string, fault: string): string | null {
  const [, line, column] = /\(line (\d+), column (\d+)\)$/.exec(fault) ?? [];
  if (line === undefined || column === undefined) return null;
  let start = 0;
  for (let passed = 1; passed < Number(line); passed++) start = text.indexOf("\n", start) + 1;
  return text.slice(start + Number(column) - 1).trimEnd();
}
