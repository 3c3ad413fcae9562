#!/bin/sh
# test-results-parser-skipped-tests-pass: the totals of a JUnit report count its skipped tests as passed, unless
# <testsuites> says how many were skipped, an attribute that Jenkins' schema of JUnit reports does not know.
#
# Package: test-results-parser 0.4.6, which reads reports for messages in chats and for dashboards.
# Expected: each test is counted once, as what it is. Its own list of cases says SKIP, and the suite says 1 of them.
# Cause: the total is tests less skipped, and the passed ones are what failures and errors leave of it, by the
# attributes of <testsuites> alone, where an absent one is 0. The sums of the suites, which it has read, are not used.
# Who meets it: who sends the results of a tool that skips checks which were not asked, and writes what the schema has.
# Here: a test that passed, one that failed and two that were skipped; then the same with skipped="2" on <testsuites>.
# Seen:
#   as the schema has it: total 4, passed 3, failed 1, skipped 0
#     its suite: skipped 2, cases PASS FAIL SKIP SKIP
#   with skipped on testsuites: total 2, passed 1, failed 1, skipped 2
#     its suite: skipped 2, cases PASS FAIL SKIP SKIP
# Exits with 1 if it sees anything else. Needs Node 20 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact test-results-parser@0.4.6 || exit 77
cat > run.js <<'END'
const { writeFileSync } = require("node:fs");
const { parse } = require("test-results-parser");

const reportWith = (more) => `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="proofs" tests="4" failures="1" errors="0"${more} time="0.02">
  <testsuite name="boot" tests="4" failures="1" errors="0" skipped="2" time="0.02">
    <testcase classname="boot" name="signature" time="0.01"/>
    <testcase classname="boot" name="anchor" time="0.01"><failure message="another root"/></testcase>
    <testcase classname="boot" name="nonce" time="0"><skipped message="not asked"/></testcase>
    <testcase classname="boot" name="age" time="0"><skipped message="not asked"/></testcase>
  </testsuite>
</testsuites>
`;
for (const [what, more] of [["as the schema has it", ""], ["with skipped on testsuites", ' skipped="2"']]) {
  writeFileSync("report.xml", reportWith(more));
  const { total, passed, failed, skipped, suites } = parse({ type: "junit", files: ["report.xml"] });
  console.log(`${what}: total ${total}, passed ${passed}, failed ${failed}, skipped ${skipped}`);
  const [suite] = suites;
  console.log(`  its suite: skipped ${suite.skipped}, cases ${suite.cases.map(({ status }) => status).join(" ")}`);
}
END
node run.js > seen
cat seen
cat > expected <<'END'
as the schema has it: total 4, passed 3, failed 1, skipped 0
  its suite: skipped 2, cases PASS FAIL SKIP SKIP
with skipped on testsuites: total 2, passed 1, failed 1, skipped 2
  its suite: skipped 2, cases PASS FAIL SKIP SKIP
END
cmp seen expected
