#!/bin/sh
# ethers-eip712-types-in-types: typed data whose types use each other over two levels has another digest in
# ethers-eip712, unless their names are in the order in which they are used and none is used twice. No signature over it
# verifies anywhere else.
#
# Packages: ethers-eip712 0.2.0 with ethers 5.8.0, its peer; beside it viem 2.57.20, @metamask/eth-sig-util 9.0.0,
# eip-712 1.0.0.
# Expected: all types that a type uses, each once, sorted by name (EIP-712, encodeType), as the three others have it,
# and the signer of ethers itself.
# Cause: it appends what it makes of each type with the types in that, so a type appears twice, or out of order.
# Who meets it: who signs orders with items with tokens, or accounts in batches. With one level, as of the example in
# EIP-712, all is right.
# Here: four sets of types; who agrees with viem.
# Seen:
#   Order(Item), Item(uint8): ethers-eip712 as viem, ethers as viem, eth-sig-util as viem, eip-712 as viem
#   Order(Item), Item(Token): ethers-eip712 as viem, ethers as viem, eth-sig-util as viem, eip-712 as viem
#   Order(Item), Item(Asset): ethers-eip712 another digest, ethers as viem, eth-sig-util as viem, eip-712 as viem
#   Order(Item), Item(Asset): it writes Order(Item item)Item(Asset asset)Asset(uint8 x)
#   Order(Item, Token), Item(Token): ethers-eip712 another digest, ethers as viem, eth-sig-util as viem, eip-712 as viem
#   Order(Item, Token), Item(Token): it writes Order(Item item,Token token)Item(Token token)Token(uint8 x)Token(uint8 x)
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact ethers-eip712@0.2.0 ethers@5.8.0 \
  viem@2.57.20 @metamask/eth-sig-util@9.0.0 eip-712@1.0.0 || exit 77
cat > run.mjs <<'END'
import { SignTypedDataVersion, TypedDataUtils } from "@metamask/eth-sig-util";
import eip712 from "eip-712";
import ethers from "ethers";
import ethersEip712 from "ethers-eip712";
import { hashTypedData } from "viem";

const domain = { name: "n", chainId: 1 };
const EIP712Domain = [
  { name: "name", type: "string" },
  { name: "chainId", type: "uint256" },
];
const field = (type) => ({ name: type.toLowerCase(), type });
const x = [{ name: "x", type: "uint8" }];
const [item, token] = [field("Item"), field("Token")];
const CASES = {
  "Order(Item), Item(uint8)": [{ Order: [item], Item: x }, { item: { x: 1 } }],
  "Order(Item), Item(Token)": [{ Order: [item], Item: [token], Token: x }, { item: { token: { x: 1 } } }],
  "Order(Item), Item(Asset)": [{ Order: [item], Item: [field("Asset")], Asset: x }, { item: { asset: { x: 1 } } }],
  "Order(Item, Token), Item(Token)": [
    { Order: [item, token], Item: [token], Token: x },
    { item: { token: { x: 1 } }, token: { x: 2 } },
  ],
};
const hex = (bytes) => `0x${Buffer.from(bytes).toString("hex")}`;
for (const [name, [types, message]] of Object.entries(CASES)) {
  const data = { domain, types: { EIP712Domain, ...types }, primaryType: "Order", message };
  const digests = {
    "ethers-eip712": hex(ethersEip712.TypedDataUtils.encodeDigest(data)),
    ethers: ethers.utils._TypedDataEncoder.hash(domain, types, message),
    "eth-sig-util": hex(TypedDataUtils.eip712Hash(data, SignTypedDataVersion.V4)),
    "eip-712": hex(eip712.getMessage(data, true)),
  };
  const expected = hashTypedData(data);
  const answer = (digest) => (digest === expected ? "as viem" : "another digest");
  const same = Object.entries(digests).map(([of, digest]) => `${of} ${answer(digest)}`);
  console.log(`${name}: ${same.join(", ")}`);
  const written = ethersEip712.TypedDataUtils.encodeType(data.types, "Order");
  if (digests["ethers-eip712"] !== expected) console.log(`${name}: it writes ${written}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
Order(Item), Item(uint8): ethers-eip712 as viem, ethers as viem, eth-sig-util as viem, eip-712 as viem
Order(Item), Item(Token): ethers-eip712 as viem, ethers as viem, eth-sig-util as viem, eip-712 as viem
Order(Item), Item(Asset): ethers-eip712 another digest, ethers as viem, eth-sig-util as viem, eip-712 as viem
Order(Item), Item(Asset): it writes Order(Item item)Item(Asset asset)Asset(uint8 x)
Order(Item, Token), Item(Token): ethers-eip712 another digest, ethers as viem, eth-sig-util as viem, eip-712 as viem
Order(Item, Token), Item(Token): it writes Order(Item item,Token token)Item(Token token)Token(uint8 x)Token(uint8 x)
END
cmp seen expected
