#!/bin/sh
# quickjs-as-uint-n: BigInt.asUintN(64, -1n) is -1n in QuickJS. From 32 bits on, a negative number comes back negative.
# Below 32 bits, and through a typed array or a mask, it is right.
#
# Packages: quickjs-emscripten 0.32.0, whose engine is QuickJS, and @jitl/quickjs-ng-wasmfile-release-sync 0.32.0, whose
# engine is QuickJS-ng (ng); both as WebAssembly. Node 20 beside them.
# Expected: asUintN answers with a number from 0 to 2^bits - 1 (ECMA-262, BigInt.asUintN).
# Who meets it: code that reads or writes unsigned numbers of 64 bits by asUintN, such as amounts and nonces in Borsh,
# varints of protocol buffers, and hashes, where QuickJS runs it: plugins, sandboxes, some React Native apps.
# Here: -1n and 2^64 - 1, wrapped to several widths, and the same by other ways.
# Seen:
#   asUintN(31, -1n): Node 2147483647, QuickJS 2147483647, ng 2147483647
#   asUintN(32, -1n): Node 4294967295, QuickJS -1, ng -1
#   asUintN(64, -1n): Node 18446744073709551615, QuickJS -1, ng -1
#   asUintN(64, 2n ** 64n - 1n): Node 18446744073709551615, QuickJS -1, ng -1
#   -1n & (2n ** 64n - 1n): Node 18446744073709551615, QuickJS 18446744073709551615, ng 18446744073709551615
#   new BigUint64Array([-1n])[0]: Node 18446744073709551615, QuickJS 18446744073709551615, ng 18446744073709551615
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact quickjs-emscripten@0.32.0 \
  @jitl/quickjs-ng-wasmfile-release-sync@0.32.0 || exit 77
cat > run.mjs <<'END'
import { runInNewContext } from "node:vm";
import ng from "@jitl/quickjs-ng-wasmfile-release-sync";
import { RELEASE_SYNC, newQuickJSWASMModuleFromVariant } from "quickjs-emscripten";

const ASKED = {
  "asUintN(31, -1n)": "BigInt.asUintN(31, -1n)",
  "asUintN(32, -1n)": "BigInt.asUintN(32, -1n)",
  "asUintN(64, -1n)": "BigInt.asUintN(64, -1n)",
  "asUintN(64, 2n ** 64n - 1n)": "BigInt.asUintN(64, 2n ** 64n - 1n)",
  "-1n & (2n ** 64n - 1n)": "-1n & (2n ** 64n - 1n)",
  "new BigUint64Array([-1n])[0]": "new BigUint64Array([-1n])[0]",
};
async function engine(variant) {
  const context = (await newQuickJSWASMModuleFromVariant(variant)).newContext();
  return (code) => context.dump(context.unwrapResult(context.evalCode(code)));
}
const engines = { Node: runInNewContext, QuickJS: await engine(RELEASE_SYNC), ng: await engine(ng) };
for (const [name, code] of Object.entries(ASKED)) {
  const answers = Object.entries(engines).map(([of, run]) => `${of} ${run(`String(${code})`)}`);
  console.log(`${name}: ${answers.join(", ")}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
asUintN(31, -1n): Node 2147483647, QuickJS 2147483647, ng 2147483647
asUintN(32, -1n): Node 4294967295, QuickJS -1, ng -1
asUintN(64, -1n): Node 18446744073709551615, QuickJS -1, ng -1
asUintN(64, 2n ** 64n - 1n): Node 18446744073709551615, QuickJS -1, ng -1
-1n & (2n ** 64n - 1n): Node 18446744073709551615, QuickJS 18446744073709551615, ng 18446744073709551615
new BigUint64Array([-1n])[0]: Node 18446744073709551615, QuickJS 18446744073709551615, ng 18446744073709551615
END
cmp seen expected
