#!/bin/sh
# webassemblyjs-leb128-negative-numbers: encodeI64() refuses -1 and what is near it, and writes other negative numbers
# as multiples of 2048. Numbers from zero on are right, and so is encodeI32().
#
# Packages: @webassemblyjs/leb128 1.14.1; beside it leb128 0.0.5, @thi.ng/leb128 3.1.93.
# Expected: two's complement in groups of seven bits, for each number of 64 bits (WebAssembly's binary format, 5.2.2),
# or an error beyond 2^53. Its type is number, and decodeInt64 reads negative numbers right.
# Cause: 2^64 is added to the number as a float, whose step is 2048 there.
# Who meets it: who writes signed numbers in LEB128 by the package that a bundler has installed already: constants of a
# module, differences in debug data, whole numbers of Candid.
# Here: numbers written by each, and read again by the package that wrote them. The other two agree on each.
# Seen:
#   1: i64 01 = 1, i32 01 = 1, others 01
#   8191: i64 ff3f = 8191, i32 ff3f = 8191, others ff3f
#   1099511627776: i64 808080808020 = 1099511627776, others 808080808020
#   -1: i64 Value out of range., i32 7f = -1, others 7f
#   -64: i64 Value out of range., i32 40 = -64, others 40
#   -1000: i64 Value out of range., i32 9878 = -1000, others 9878
#   -2048: i64 8070 = -2048, i32 8070 = -2048, others 8070
#   -2049: i64 8070 = -2048, i32 ff6f = -2049, others ff6f
#   -12345: i64 80a07f = -12288, i32 c79f7f = -12345, others c79f7f
#   -1234567: i64 80d0b47f = -1234944, i32 f9d2b47f = -1234567, others f9d2b47f
#   -2147483649: i64 8080808078 = -2147483648, others ffffffff77
#   -1099511627775: i64 808080808060 = -1099511627776, others 818080808060
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @webassemblyjs/leb128@1.14.1 \
  leb128@0.0.5 @thi.ng/leb128@3.1.93 || exit 77
cat > run.mjs <<'END'
import { encodeSLEB128 } from "@thi.ng/leb128";
import webassembly from "@webassemblyjs/leb128";
import leb128 from "leb128";

const VALUES = [1, 8191, 2 ** 40, -1, -64, -1000, -2048, -2049, -12345, -1234567, -(2 ** 31) - 1, -(2 ** 40) + 1];
const hex = (bytes) => Buffer.from(bytes).toString("hex");
function written(encode, decode, value) {
  try {
    const bytes = Buffer.from(encode(value));
    return `${hex(bytes)} = ${decode(bytes, 0).value}`;
  } catch (error) {
    return error.message ?? error;
  }
}
for (const value of VALUES) {
  const { encodeI32, encodeI64, decodeInt32, decodeInt64 } = webassembly;
  const others = new Set([hex(leb128.signed.encode(String(value))), hex(encodeSLEB128(BigInt(value)))]);
  const as32 = value === (value | 0) ? `, i32 ${written(encodeI32, decodeInt32, value)}` : "";
  console.log(`${value}: i64 ${written(encodeI64, decodeInt64, value)}${as32}, others ${[...others].join(" or ")}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
1: i64 01 = 1, i32 01 = 1, others 01
8191: i64 ff3f = 8191, i32 ff3f = 8191, others ff3f
1099511627776: i64 808080808020 = 1099511627776, others 808080808020
-1: i64 Value out of range., i32 7f = -1, others 7f
-64: i64 Value out of range., i32 40 = -64, others 40
-1000: i64 Value out of range., i32 9878 = -1000, others 9878
-2048: i64 8070 = -2048, i32 8070 = -2048, others 8070
-2049: i64 8070 = -2048, i32 ff6f = -2049, others ff6f
-12345: i64 80a07f = -12288, i32 c79f7f = -12345, others c79f7f
-1234567: i64 80d0b47f = -1234944, i32 f9d2b47f = -1234567, others f9d2b47f
-2147483649: i64 8080808078 = -2147483648, others ffffffff77
-1099511627775: i64 808080808060 = -1099511627776, others 818080808060
END
cmp seen expected
