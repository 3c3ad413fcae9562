#!/bin/sh
# sarif-junit-results-without-level-pass: a result without `level` becomes a test that passed, whatever the level of
# its rule; and one without a file, such as a result about a whole run, ends the conversion with a TypeError.
#
# Package: sarif-junit 1.1.4.
# Expected: a result of kind `fail`, which is the default, has the level of its rule or `warning` (SARIF 2.1.0, 3.27.9
# and 3.27.10), so it fails like one that says so. `locations` may be absent (3.27.12).
# Who meets it: pipelines that turn the reports of scanners into tests. CodeQL and others leave `level` out and state it
# once, at the rule.
# Here: one result, with what varies.
# Seen:
#   level error: tests 1, failures 1
#   no level, rule of error: tests 1, failures 0
#   no level, rule without one: tests 1, failures 0
#   kind pass: tests 1, failures 0
#   level error, no location: TypeError
# Exits with 1 if it sees anything else. Needs Node 20 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact sarif-junit@1.1.4 || exit 77
cat > run.js <<'END'
const { execFileSync } = require("node:child_process");
const { readFileSync, writeFileSync } = require("node:fs");

const locations = [{ physicalLocation: { artifactLocation: { uri: "boot.json" }, region: { startLine: 1 } } }];
const converted = (result, defaultConfiguration) => {
  const rule = { id: "anchor", shortDescription: { text: "the path ends at an anchor" }, defaultConfiguration };
  const results = [{ ruleId: "anchor", message: { text: "m" }, ...result }];
  const log = { version: "2.1.0", runs: [{ tool: { driver: { name: "v", rules: [rule] } }, results }] };
  writeFileSync("in.sarif", JSON.stringify(log));
  try {
    execFileSync("npx", ["sarif-junit", "-i", "in.sarif", "-o", "out.xml"], { stdio: "pipe" });
  } catch ({ stderr }) {
    return /^\w+Error/m.exec(String(stderr))[0];
  }
  const [, tests, failures] = /<testsuites tests="(\d+)" failures="(\d+)"/.exec(readFileSync("out.xml", "utf8"));
  return `tests ${tests}, failures ${failures}`;
};
console.log(`level error: ${converted({ level: "error", locations })}`);
console.log(`no level, rule of error: ${converted({ locations }, { level: "error" })}`);
console.log(`no level, rule without one: ${converted({ locations })}`);
console.log(`kind pass: ${converted({ kind: "pass", level: "none", locations })}`);
console.log(`level error, no location: ${converted({ level: "error" })}`);
END
node run.js > seen
cat seen
cat > expected <<'END'
level error: tests 1, failures 1
no level, rule of error: tests 1, failures 0
no level, rule without one: tests 1, failures 0
kind pass: tests 1, failures 0
level error, no location: TypeError
END
cmp seen expected
