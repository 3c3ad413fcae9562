#!/bin/sh
# junit-report-merger-two-lists-of-properties: suites of one name become one suite with two lists of properties, which
# the schema of JUnit reports does not allow, and it no longer says which property is of which tests.
#
# Package: junit-report-merger 9.0.4.
# Expected: two reports of one tool, each with what it was about in the properties of its suite, stay told apart: two
# suites, or one suite with one list. The sums of tests and failures are right.
# Who meets it: a pipeline that verifies several deployments by one tool, and merges the reports into one file. Readers
# that check the schema refuse it; others take the first list or the last one, for all tests.
# Here: the reports of two deployments, which pin different policies; one passed and one failed.
# Seen:
#   suites: 1, tests 2, failures 1
#   children of the suite: properties testcase properties testcase
#   policies: blue green
# Exits with 1 if it sees anything else. Needs Node 20 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact junit-report-merger@9.0.4 || exit 77
cat > run.mjs <<'END'
import { mergeToString } from "junit-report-merger";

const reportOf = (policy, inside) => `<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="1" failures="${inside === "" ? 0 : 1}">
  <testsuite name="verify" tests="1" failures="${inside === "" ? 0 : 1}">
    <properties><property name="policy" value="${policy}"/></properties>
    <testcase classname="report" name="verdict">${inside}</testcase>
  </testsuite>
</testsuites>
`;
const merged = await mergeToString([reportOf("blue", ""), reportOf("green", '<failure message="rejected"/>')], {});
const [, tests, failures] = /<testsuite name="verify" tests="(\d+)" failures="(\d+)"/.exec(merged);
console.log(`suites: ${merged.match(/<testsuite /g).length}, tests ${tests}, failures ${failures}`);
console.log(`children of the suite: ${merged.match(/(?<=<)(?:properties|testcase)\b/g).join(" ")}`);
console.log(`policies: ${[...merged.matchAll(/name="policy" value="(\w+)"/g)].map(([, value]) => value).join(" ")}`);
END
node run.mjs > seen
cat seen
cat > expected <<'END'
suites: 1, tests 2, failures 1
children of the suite: properties testcase properties testcase
policies: blue green
END
cmp seen expected
