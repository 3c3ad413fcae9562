#!/bin/sh
# json-schema-to-typescript-nested-max-items: two small limits of lists, one inside the other, make a hundred and forty
# thousand lines of types. Limits that are larger by one make twenty-one lines.
#
# Packages: json-schema-to-typescript 16.0.0, with its default of maxItems 20: up to that, a list is a union of tuples
# of each length, and each element of each tuple is written out anew.
# Expected: maxItems bounds a value, and changes a type little. The greater the limit, the more types, if at all.
# Who meets it: whoever makes types of a schema of policies or attestations, in which a few groups have a few members
# each, such as operators of a deployment. Compilers and editors load all of it.
# Here: a schema of groups, each with members that have a name, under several pairs of limits.
# Seen:
#   no limits: 15 lines
#   16 groups: 727 lines
#   16 members: 457 lines
#   16 groups of 16 members: 60839 lines
#   20 groups of 20 members: 142225 lines
#   21 groups of 21 members: 21 lines
# Exits with 1 if it sees anything else. Needs Node 20 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact json-schema-to-typescript@16.0.0 || exit 77
cat > run.mjs <<'END'
import { compile } from "json-schema-to-typescript";

const objectWith = (name, schema) => {
  return { type: "object", properties: { [name]: schema }, required: [name], additionalProperties: false };
};
const listOf = (items, maxItems) => ({ type: "array", items, ...(maxItems && { maxItems }) });
const linesOf = async (groups, members) => {
  const group = objectWith("members", listOf(objectWith("name", { type: "string" }), members));
  const schema = { title: "Policy", ...objectWith("groups", listOf(group, groups)) };
  return (await compile(schema, "Policy")).split("\n").length;
};
console.log(`no limits: ${await linesOf()} lines`);
console.log(`16 groups: ${await linesOf(16)} lines`);
console.log(`16 members: ${await linesOf(undefined, 16)} lines`);
for (const most of [16, 20, 21])
  console.log(`${most} groups of ${most} members: ${await linesOf(most, most)} lines`);
END
node run.mjs > seen
cat seen
cat > expected <<'END'
no limits: 15 lines
16 groups: 727 lines
16 members: 457 lines
16 groups of 16 members: 60839 lines
20 groups of 20 members: 142225 lines
21 groups of 21 members: 21 lines
END
cmp seen expected
