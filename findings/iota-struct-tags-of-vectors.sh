#!/bin/sh
# iota-struct-tags-of-vectors: normalizeStructTag of the IOTA SDK, and of the Sui SDK up to version 1, takes a vector of
# structs among a type's parameters for a struct, whose address is "vector<0x3", padded with zeros: the type it answers
# with exists nowhere.
#
# Packages: @iota/iota-sdk 1.15.1, @mysten/sui 1.45.2, the newest that is for Node 20, and 2.33.1, which has it right.
# Expected: each address in its long form, as where the parameter is a struct, and as TypeTagSerializer of the same
# packages reads the same text.
# Cause: :: is looked for before vector< is.
# Who meets it: who compares types of objects, events or tables by their normal form, or shows them: two spellings of
# one type differ, and the parsed type has a part of its text as an address.
# Here: types by their parameters; "~" is what pads an address.
# Seen:
#   0x2::a::B<0x3::c::D>, TypeTagSerializer 0x~2::a::B<0x~3::c::D>
#     iota: the same
#     sui 1: the same
#     sui 2: the same
#   0x2::a::B<vector<u8>>, TypeTagSerializer 0x~2::a::B<vector<u8>>
#     iota: the same
#     sui 1: the same
#     sui 2: the same
#   0x2::a::B<vector<0x3::c::D>>, TypeTagSerializer 0x~2::a::B<vector<0x~3::c::D>>
#     iota: 0x~2::a::B<0x~vector<0x3::c::D>>
#     sui 1: 0x~2::a::B<0x~vector<0x3::c::D>>
#     sui 2: the same
#   0x2::a::B<u8,vector<0x3::c::D>>, TypeTagSerializer 0x~2::a::B<u8,vector<0x~3::c::D>>
#     iota: 0x~2::a::B<u8,0x~vector<0x3::c::D>>
#     sui 1: 0x~2::a::B<u8,0x~vector<0x3::c::D>>
#     sui 2: the same
#   0x2::a::B<vector<0x3::c::D<u8>>>, TypeTagSerializer 0x~2::a::B<vector<0x~3::c::D<u8>>>
#     iota: 0x~2::a::B<0x~vector<0x3::c::D<u8>>>
#     sui 1: 0x~2::a::B<0x~vector<0x3::c::D<u8>>>
#     sui 2: the same
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @iota/iota-sdk@1.15.1 \
  sui-1@npm:@mysten/sui@1.45.2 sui-2@npm:@mysten/sui@2.33.1 || exit 77
cat > run.mjs <<'END'
import { TypeTagSerializer } from "@iota/iota-sdk/bcs";
import * as iota from "@iota/iota-sdk/utils";
import * as sui1 from "sui-1/utils";
import * as sui2 from "sui-2/utils";

const short = (text) => text.replace(/0x0+/g, "0x~");
const PARAMETERS = ["0x3::c::D", "vector<u8>", "vector<0x3::c::D>", "u8,vector<0x3::c::D>", "vector<0x3::c::D<u8>>"];
for (const parameters of PARAMETERS) {
  const tag = `0x2::a::B<${parameters}>`;
  const read = TypeTagSerializer.parseFromStr(tag, true);
  const serialized = TypeTagSerializer.tagToString(read).replace(", ", ",");
  console.log(`${tag}, TypeTagSerializer ${short(serialized)}`);
  for (const [name, { normalizeStructTag }] of Object.entries({ iota, "sui 1": sui1, "sui 2": sui2 })) {
    const own = normalizeStructTag(tag);
    console.log(`  ${name}: ${own === serialized ? "the same" : short(own)}`);
  }
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
0x2::a::B<0x3::c::D>, TypeTagSerializer 0x~2::a::B<0x~3::c::D>
  iota: the same
  sui 1: the same
  sui 2: the same
0x2::a::B<vector<u8>>, TypeTagSerializer 0x~2::a::B<vector<u8>>
  iota: the same
  sui 1: the same
  sui 2: the same
0x2::a::B<vector<0x3::c::D>>, TypeTagSerializer 0x~2::a::B<vector<0x~3::c::D>>
  iota: 0x~2::a::B<0x~vector<0x3::c::D>>
  sui 1: 0x~2::a::B<0x~vector<0x3::c::D>>
  sui 2: the same
0x2::a::B<u8,vector<0x3::c::D>>, TypeTagSerializer 0x~2::a::B<u8,vector<0x~3::c::D>>
  iota: 0x~2::a::B<u8,0x~vector<0x3::c::D>>
  sui 1: 0x~2::a::B<u8,0x~vector<0x3::c::D>>
  sui 2: the same
0x2::a::B<vector<0x3::c::D<u8>>>, TypeTagSerializer 0x~2::a::B<vector<0x~3::c::D<u8>>>
  iota: 0x~2::a::B<0x~vector<0x3::c::D<u8>>>
  sui 1: 0x~2::a::B<0x~vector<0x3::c::D<u8>>>
  sui 2: the same
END
cmp seen expected
