#!/bin/sh
# jsonlint-changes-strings: jsonlint writes a valid file with other strings: a backslash before n, t or b becomes a line
# break, a tab or a backspace, and each \u stays as six characters. With -i it changes the file; its parse() answers so,
# too.
#
# Packages: jsonlint 1.6.3.
# Expected: a checker of JSON, which "pretty-prints", writes the same values; JSON.parse of what it wrote is JSON.parse
# of what it read.
# Cause: escapes are replaced one kind after the other, first the backslash itself, and \u is not among them.
# Who meets it: who has paths of Windows, patterns such as \\d or \\b, keys with text in other scripts, or JSON inside
# of JSON in a file that a hook formats: a signature or a hash of the values no longer fits.
# Here: documents of one string, by the command and by parse.
# Seen:
#   ["a"]: parse the same string; -i the same string
#   ["C:\\new"]: parse another string, "C:\new"; -i another string, "C:\new"
#   ["^\\bits\\b"]: parse another string, "^\bits\b"; -i another string, "^\bits\b"
#   ["\u0041"]: parse another string, "\\u0041"; -i another string, "\\u0041"
#   ["a\nb"]: parse the same string; -i the same string
#   ["{\"a\":\"\\n\"}"]: parse another string, "{\"a\":\"\n\"}"; -i another string, "{\"a\":\"\n\"}"
#   ["a\/b"]: parse another string, "a\\/b"; -i another string, "a\\/b"
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact jsonlint@1.6.3 || exit 77
cat > run.mjs <<'END'
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import jsonlint from "jsonlint";

const DOCUMENTS = [
  '["a"]',
  '["C:\\\\new"]',
  '["^\\\\bits\\\\b"]',
  '["\\u0041"]',
  '["a\\nb"]',
  '["{\\"a\\":\\"\\\\n\\"}"]',
  '["a\\/b"]',
];
for (const text of DOCUMENTS) {
  writeFileSync("file.json", text);
  execFileSync("node_modules/.bin/jsonlint", ["-q", "-i", "file.json"]);
  const was = JSON.parse(text)[0];
  const is = JSON.parse(readFileSync("file.json", "utf8"))[0];
  const [parsed] = jsonlint.parse(text);
  const answer = (value) => (value === was ? "the same string" : `another string, ${JSON.stringify(value)}`);
  console.log(`${text}: parse ${answer(parsed)}; -i ${answer(is)}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
["a"]: parse the same string; -i the same string
["C:\\new"]: parse another string, "C:\new"; -i another string, "C:\new"
["^\\bits\\b"]: parse another string, "^\bits\b"; -i another string, "^\bits\b"
["\u0041"]: parse another string, "\\u0041"; -i another string, "\\u0041"
["a\nb"]: parse the same string; -i the same string
["{\"a\":\"\\n\"}"]: parse another string, "{\"a\":\"\n\"}"; -i another string, "{\"a\":\"\n\"}"
["a\/b"]: parse another string, "a\\/b"; -i another string, "a\\/b"
END
cmp seen expected
