#!/bin/sh
# eth-crypto-address-of-v-01: recover() answers with another address for a signature whose v is written as 00 or 01, if
# the y of its point is odd. It says nothing: the address is well-formed, and half of all signatures are right.
#
# Packages: eth-crypto 4.1.0; beside it ethers 6.17.0 and 5.8.0, viem 2.57.20, web3-eth-accounts 4.3.1,
# @metamask/eth-sig-util 9.0.0.
# Expected: a library takes 00 and 01 as it takes 1b and 1c (27 and 28), as the five others do, or refuses them.
# Cause: of the last byte it compares 1c only, and takes any other for an even y.
# Who meets it: who has signatures of a service that writes v as "00" or "01", as the activities of a wallet
# infrastructure do, and joins r, s and v to one string.
# Here: 64 messages signed by one key, each signature with both spellings of v.
# Seen:
#   eth-crypto, 1b or 1c: 64 right
#   eth-crypto, 00: 22 right
#   eth-crypto, 01: 42 another address
#   the others, 00 or 01: 64 right
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact eth-crypto@4.1.0 ethers@6.17.0 \
  ethers5@npm:ethers@5.8.0 viem@2.57.20 web3-eth-accounts@4.3.1 @metamask/eth-sig-util@9.0.0 || exit 77
cat > run.mjs <<'END'
import { recoverPersonalSignature } from "@metamask/eth-sig-util";
import EthCrypto from "eth-crypto";
import { Wallet, hashMessage, verifyMessage } from "ethers";
import { ethers as ethers5 } from "ethers5";
import { recoverMessageAddress } from "viem";
import { recover } from "web3-eth-accounts";

const wallet = new Wallet(`0x${"11".repeat(32)}`);
const others = [
  verifyMessage,
  ethers5.utils.verifyMessage,
  (message, signature) => recoverMessageAddress({ message, signature }),
  recover,
  (message, signature) => recoverPersonalSignature({ data: `0x${Buffer.from(message).toString("hex")}`, signature }),
];
const isRight = (address) => address.toLowerCase() === wallet.address.toLowerCase();
const byEthCrypto = (message, signature) => isRight(EthCrypto.recover(signature, hashMessage(message)));

const counts = { usual: 0, even: 0, odd: 0, others: 0 };
for (let index = 0; index < 64; index++) {
  const message = `message ${index}`;
  const usual = await wallet.signMessage(message);
  const isOdd = usual.endsWith("1c");
  const short = `${usual.slice(0, -2)}${isOdd ? "01" : "00"}`;
  if (byEthCrypto(message, usual)) counts.usual++;
  if (!isOdd && byEthCrypto(message, short)) counts.even++;
  if (isOdd && !byEthCrypto(message, short)) counts.odd++;
  const answers = await Promise.all(others.map((one) => one(message, short)));
  if (answers.every(isRight)) counts.others++;
}
console.log(`eth-crypto, 1b or 1c: ${counts.usual} right`);
console.log(`eth-crypto, 00: ${counts.even} right`);
console.log(`eth-crypto, 01: ${counts.odd} another address`);
console.log(`the others, 00 or 01: ${counts.others} right`);
END
node run.mjs > seen
cat seen
cat > expected <<'END'
eth-crypto, 1b or 1c: 64 right
eth-crypto, 00: 22 right
eth-crypto, 01: 42 another address
the others, 00 or 01: 64 right
END
cmp seen expected
