#!/bin/sh
# ox-eip-712-chain-id-as-text: typed data whose chainId is written as a text, and that does not declare EIP712Domain, is
# hashed without a chain id. With a number, or with the type declared, it is in.
#
# Packages: ox 1.8.3; beside it viem 2.57.20, ethers 6.17.0.
# Expected: the digest of the number that the text says, as viem and ethers have it, or a refusal.
# Cause: it derives the domain's type from its members, and counts chainId only if it is a number or a bigint.
# Who meets it: whose typed data came as JSON from a page, an API or a store, where chain ids are decimal or hex texts,
# and who leaves the domain's type to the library, as its types and viem's allow. A contract refuses the signature.
# Here: one message, each spelling of the chain id, with and without the domain's type.
# Seen:
#   1: ox as viem, as ethers
#   "1": ox another digest, that of no chain id
#   "0x1": ox another digest, that of no chain id
#   "137": ox another digest, that of no chain id
#   "1", EIP712Domain declared: ox as viem, as ethers
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact ox@1.8.3 viem@2.57.20 ethers@6.17.0 || exit 77
cat > run.mjs <<'END'
import { TypedDataEncoder } from "ethers";
import { TypedData } from "ox";
import { hashTypedData } from "viem";

const Note = [{ name: "text", type: "string" }];
const EIP712Domain = [
  { name: "name", type: "string" },
  { name: "chainId", type: "uint256" },
];
const message = { text: "t" };
const without = TypedDataEncoder.hash({ name: "n" }, { Note }, message);

function compare(what, chainId, types) {
  const domain = { name: "n", chainId };
  const data = { domain, types, primaryType: "Note", message };
  const own = TypedData.getSignPayload(data);
  const asViem = own === hashTypedData(data) ? "as viem" : undefined;
  const asEthers = own === TypedDataEncoder.hash(domain, { Note }, message) ? "as ethers" : undefined;
  const same = [asViem, asEthers].filter(Boolean).join(", ");
  const other = own === without ? "another digest, that of no chain id" : "another digest";
  console.log(`${what}: ox ${same === "" ? other : same}`);
}

for (const chainId of [1, "1", "0x1", "137"]) compare(JSON.stringify(chainId), chainId, { Note });
compare('"1", EIP712Domain declared', "1", { EIP712Domain, Note });
END
node run.mjs > seen
cat seen
cat > expected <<'END'
1: ox as viem, as ethers
"1": ox another digest, that of no chain id
"0x1": ox another digest, that of no chain id
"137": ox another digest, that of no chain id
"1", EIP712Domain declared: ox as viem, as ethers
END
cmp seen expected
