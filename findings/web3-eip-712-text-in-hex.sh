#!/bin/sh
# web3-eip-712-text-in-hex: a member of type string whose text looks like hex is hashed as the bytes that the hex means.
# So "0x6869" has the digest of "hi", and "0x123" is refused. Other libraries hash the text.
#
# Packages: web3-eth-abi 4.4.1; beside it ethers 6.17.0, viem 2.57.20, @metamask/eth-sig-util 9.0.0, ox 1.8.3.
# Expected: "string" is the UTF-8 of the text (EIP-712, encodeData); bytes have types of their own.
# Who meets it: who signs a hash, an address, an order's number or calldata that a type declares as a string, and who
# verifies such a signature by another library: each refuses the other's. The name of a domain is hashed so, too.
# Here: one type of one member, each text hashed by each library.
# Seen:
#   "hello": web3 as the others
#   "0x6869": web3 as the others hash "hi"
#   "0X6869": web3 as the others hash "hi"
#   "0x": web3 as the others hash ""
#   "0x123": web3 throws
#   a domain named "0x6869": web3 as the others hash "hi"
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact web3-eth-abi@4.4.1 ethers@6.17.0 viem@2.57.20 \
  @metamask/eth-sig-util@9.0.0 ox@1.8.3 || exit 77
cat > run.mjs <<'END'
import { SignTypedDataVersion, TypedDataUtils } from "@metamask/eth-sig-util";
import { TypedDataEncoder, hexlify } from "ethers";
import { TypedData } from "ox";
import { hashTypedData, keccak256 } from "viem";
import { getEncodedEip712Data } from "web3-eth-abi";

const types = { EIP712Domain: [{ name: "name", type: "string" }], Note: [{ name: "text", type: "string" }] };
const typed = (name, text) => ({ domain: { name }, types, primaryType: "Note", message: { text } });

/** The digest of which the other libraries agree. */
function digest(name, text) {
  const data = typed(name, text);
  const digests = new Set([
    TypedDataEncoder.hash(data.domain, { Note: types.Note }, data.message),
    hashTypedData(data),
    hexlify(TypedDataUtils.eip712Hash(data, SignTypedDataVersion.V4)),
    TypedData.getSignPayload(data),
  ]);
  return digests.size === 1 ? [...digests][0] : "they differ";
}

function compare(what, given, other, meant) {
  let answer;
  try {
    const own = keccak256(getEncodedEip712Data(typed(...given)));
    if (own === digest(...given)) answer = "as the others";
    else answer = own === digest(...other) ? `as the others hash "${meant}"` : "another digest";
  } catch {
    answer = "throws";
  }
  console.log(`${what}: web3 ${answer}`);
}

for (const [text, meant] of [["hello"], ["0x6869", "hi"], ["0X6869", "hi"], ["0x", ""], ["0x123"]])
  compare(`"${text}"`, ["n", text], ["n", meant ?? text], meant);
compare('a domain named "0x6869"', ["0x6869", "t"], ["hi", "t"], "hi");
END
node run.mjs > seen
cat seen
cat > expected <<'END'
"hello": web3 as the others
"0x6869": web3 as the others hash "hi"
"0X6869": web3 as the others hash "hi"
"0x": web3 as the others hash ""
"0x123": web3 throws
a domain named "0x6869": web3 as the others hash "hi"
END
cmp seen expected
