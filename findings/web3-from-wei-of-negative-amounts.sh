#!/bin/sh
# web3-from-wei-of-negative-amounts: fromWei() of web3-utils writes a negative amount that is less than one of the unit
# with its sign among the digits, such as "0.0000000000000000-1", or without a zero before the point; neither toWei()
# nor Number() reads the first.
#
# Packages: web3-utils 4.3.3; beside it viem 2.57.20, ethers 6.17.0, ethjs-unit 0.1.6.
# Expected: the number, as of positive ones, and as the three others write it; a negative value is taken without an
# error, and from one on it is right.
# Cause: the text of the number, with its sign, is padded with zeros in front, and the point is put in.
# Who meets it: who shows a difference of balances, what a transaction cost, or a loss in a pool. Most are less than one
# ether.
# Here: amounts in wei, written in ether by each, and what toWei makes of it.
# Seen:
#   1: web3 "0.000000000000000001", others "0.000000000000000001"; back: 1, 1e-18
#   -1: web3 "0.0000000000000000-1", others "-0.000000000000000001"; back: refused, NaN
#   -21000000000000: web3 "0.000-21", others "-0.000021"; back: refused, NaN
#   -500000000000000000: web3 "-.5", others "-0.5"; back: -500000000000000000, -0.5
#   -1000000000000000000: web3 "-1", others "-1"; back: -1000000000000000000, -1
#   -1500000000000000000: web3 "-1.5", others "-1.5"; back: -1500000000000000000, -1.5
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact web3-utils@4.3.3 viem@2.57.20 \
  ethers@6.17.0 ethjs-unit@0.1.6 || exit 77
cat > run.mjs <<'END'
import { formatEther as byEthers } from "ethers";
import ethjs from "ethjs-unit";
import { formatEther as byViem } from "viem";
import { fromWei, toWei } from "web3-utils";

function back(text) {
  try {
    return toWei(text, "ether");
  } catch (error) {
    return "refused";
  }
}
const AMOUNTS = ["1", "-1", "-21000000000000", "-500000000000000000", "-1000000000000000000", "-1500000000000000000"];
for (const wei of AMOUNTS) {
  const text = fromWei(wei, "ether");
  const others = new Set([byViem(BigInt(wei)), byEthers(wei).replace(/\.0$/, ""), ethjs.fromWei(wei, "ether")]);
  console.log(`${wei}: web3 "${text}", others "${[...others].join('" or "')}"; back: ${back(text)}, ${Number(text)}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
1: web3 "0.000000000000000001", others "0.000000000000000001"; back: 1, 1e-18
-1: web3 "0.0000000000000000-1", others "-0.000000000000000001"; back: refused, NaN
-21000000000000: web3 "0.000-21", others "-0.000021"; back: refused, NaN
-500000000000000000: web3 "-.5", others "-0.5"; back: -500000000000000000, -0.5
-1000000000000000000: web3 "-1", others "-1"; back: -1000000000000000000, -1
-1500000000000000000: web3 "-1.5", others "-1.5"; back: -1500000000000000000, -1.5
END
cmp seen expected
