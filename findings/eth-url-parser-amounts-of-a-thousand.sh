#!/bin/sh
# eth-url-parser-amounts-of-a-thousand: of a payment request over a thousand coins of 18 decimals or more, parse of
# eth-url-parser has the amount "1e+21", which BigInt, ethers and viem refuse; of one below that it has the digits. gas
# and gasPrice stay as they were written.
#
# Packages: eth-url-parser 1.0.4; ethers 6.17.0 and viem 2.57.20, to which the amount is given.
# Expected: digits for each amount, as its README shows them, in whichever of the two spellings of ERC-681 it is
# written; and the same for gasPrice, which is a number there, too.
# Who meets it: wallets that scan such a code, which works with every amount below a thousand.
# Here: requests for ether and for a token, with the amount as digits and with an exponent.
# Seen:
#   value=2.5e18: 2500000000000000000; BigInt takes it, ethers takes it, viem takes it
#   value=9.99e20: 999000000000000000000; BigInt takes it, ethers takes it, viem takes it
#   value=1e21: 1e+21; BigInt refuses it, ethers refuses it, viem refuses it
#   value=1000000000000000000000: 1e+21; BigInt refuses it, ethers refuses it, viem refuses it
#   value=1.5e24: 1.5e+24; BigInt refuses it, ethers refuses it, viem refuses it
#   address=0x33&uint256=1e21: 1e+21; BigInt refuses it, ethers refuses it, viem refuses it
#   value=1e18&gasPrice=5e9: 5e9; BigInt refuses it, ethers refuses it, viem refuses it
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact eth-url-parser@1.0.4 ethers@6.17.0 \
  viem@2.57.20 || exit 77
cat > run.mjs <<'END'
import { toBeHex } from "ethers";
import eth from "eth-url-parser";
import { encodeAbiParameters } from "viem";

const token = `0x${"22".repeat(20)}`;
const receiver = `0x${"33".repeat(20)}`;
const REQUESTS = [
  `ethereum:${receiver}?value=2.5e18`,
  `ethereum:${receiver}?value=9.99e20`,
  `ethereum:${receiver}?value=1e21`,
  `ethereum:${receiver}?value=1000000000000000000000`,
  `ethereum:${receiver}?value=1.5e24`,
  `ethereum:${token}@1/transfer?address=${receiver}&uint256=1e21`,
  `ethereum:${receiver}?value=1e18&gasPrice=5e9`,
];
const taken = (work) => {
  try {
    work();
    return "takes it";
  } catch {
    return "refuses it";
  }
};
for (const request of REQUESTS) {
  const { value, uint256, gasPrice } = eth.parse(request).parameters;
  const amount = gasPrice ?? value ?? uint256;
  const all = [
    `BigInt ${taken(() => BigInt(amount))}`,
    `ethers ${taken(() => toBeHex(amount))}`,
    `viem ${taken(() => encodeAbiParameters([{ type: "uint256" }], [amount]))}`,
  ];
  console.log(`${request.split("?")[1].replace(receiver, "0x33")}: ${amount}; ${all.join(", ")}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
value=2.5e18: 2500000000000000000; BigInt takes it, ethers takes it, viem takes it
value=9.99e20: 999000000000000000000; BigInt takes it, ethers takes it, viem takes it
value=1e21: 1e+21; BigInt refuses it, ethers refuses it, viem refuses it
value=1000000000000000000000: 1e+21; BigInt refuses it, ethers refuses it, viem refuses it
value=1.5e24: 1.5e+24; BigInt refuses it, ethers refuses it, viem refuses it
address=0x33&uint256=1e21: 1e+21; BigInt refuses it, ethers refuses it, viem refuses it
value=1e18&gasPrice=5e9: 5e9; BigInt refuses it, ethers refuses it, viem refuses it
END
cmp seen expected
