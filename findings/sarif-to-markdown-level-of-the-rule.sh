#!/bin/sh
# sarif-to-markdown-level-of-the-rule: the level of a result is not read. A rule that states no default level is left
# out with all its errors, and one that states `error` shows as errors what passed. Of each rule one message is shown.
#
# Package: @security-alert/sarif-to-markdown 1.11.1.
# Expected: `level` of a result counts, and the default of its rule only where a result has none (SARIF 2.1.0, 3.27.10);
# a rule without `defaultConfiguration` is one of `warning` (3.50.3). A result of kind `pass` is no error (3.27.9).
# Who meets it: who writes a comment of a pull request from the report of a scanner or verifier that says the level of
# each result, as SARIF lets it. "Nothing here" reads as clean.
# Here: results of one rule each time, under a rule without a default level and under one with `error`.
# Seen:
#   an error, rule without a default level: Nothing here.
#   an error, rule of error: - **[ERROR]** **[anchor]** `another root`
#   a pass, rule of error: - **[ERROR]** **[anchor]** `as pinned`
#   two errors, rule of error: - **[ERROR]** **[anchor]** `another root`
# Exits with 1 if it sees anything else. Needs Node 20 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @security-alert/sarif-to-markdown@1.11.1 ||
  exit 77
cat > run.js <<'END'
const { sarifToMarkdown } = require("@security-alert/sarif-to-markdown");

const render = sarifToMarkdown({ title: "t", owner: "o", repo: "r", branch: "main", sourceRoot: "", simple: true });
const locations = [{ physicalLocation: { artifactLocation: { uri: "boot.json" }, region: { startLine: 1 } } }];
const fail = (text) => ({ ruleId: "anchor", level: "error", message: { text }, locations });
const pass = (text) => ({ ruleId: "anchor", kind: "pass", level: "none", message: { text }, locations });
const show = (what, results, defaultConfiguration) => {
  const rule = { id: "anchor", shortDescription: { text: "the path ends at an anchor" }, defaultConfiguration };
  const [{ body }] = render({ version: "2.1.0", runs: [{ tool: { driver: { name: "v", rules: [rule] } }, results }] });
  const found = body.split("## Results")[1].split("## Suppressed")[0].split("\n");
  const shown = found.map((line) => line.replaceAll(/ +/g, " ").trimEnd()).filter((line) => /^\S/.test(line));
  console.log(`${what}: ${shown.join(" ")}`);
};
show("an error, rule without a default level", [fail("another root")]);
show("an error, rule of error", [fail("another root")], { level: "error" });
show("a pass, rule of error", [pass("as pinned")], { level: "error" });
show("two errors, rule of error", [fail("another root"), fail("expired")], { level: "error" });
END
node run.js > seen
cat seen
cat > expected <<'END'
an error, rule without a default level: Nothing here.
an error, rule of error: - **[ERROR]** **[anchor]** `another root`
a pass, rule of error: - **[ERROR]** **[anchor]** `as pinned`
two errors, rule of error: - **[ERROR]** **[anchor]** `another root`
END
cmp seen expected
