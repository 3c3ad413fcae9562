#!/bin/sh
# viem-legacy-signature-lost: what parseTransaction of viem read of a signed legacy transaction, serializeTransaction
# writes without its signature, whose r, s and v it was given, and says nothing. Those of every later type keep theirs.
#
# Packages: viem 2.57.20, ethers 6.17.0, which reads the same bytes and writes them.
# Expected: parsing and serializing are each other's inverse for every type, or both take the signature as an argument.
# Cause: for other types the second argument is taken, or else the members of the transaction; for legacy ones the
# second argument alone.
# Who meets it: who keeps parsed transactions and sends or hashes them later. The hash is that of no transaction, and a
# node refuses the bytes. Legacy transactions are what chains without EIP-1559 have, and many exchanges.
# Here: one key signs one transfer as each type; parsed and serialized, and again with the signature as an argument.
# Seen:
#   legacy, EIP-155: parsed has r and s; written again: no signature; with it as an argument: same bytes
#   legacy, without a chain: parsed has r and s; written again: no signature; with it as an argument: same bytes
#   EIP-2930: parsed has r and s; written again: same bytes; with it as an argument: same bytes
#   EIP-1559: parsed has r and s; written again: same bytes; with it as an argument: same bytes
#   EIP-7702: parsed has r and s; written again: same bytes; with it as an argument: same bytes
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact viem@2.57.20 ethers@6.17.0 || exit 77
cat > run.mjs <<'END'
import { Transaction } from "ethers";
import { parseTransaction, serializeTransaction } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
const transfer = { chainId: 1, nonce: 1, gas: 21000n, to: `0x${"22".repeat(20)}`, value: 1n };
const dynamic = { ...transfer, maxFeePerGas: 2n, maxPriorityFeePerGas: 1n };
const contract = { address: transfer.to, chainId: 1, nonce: 0 };
const authorizationList = [await account.signAuthorization(contract)];
const KINDS = {
  "legacy, EIP-155": { ...transfer, type: "legacy", gasPrice: 5n },
  "legacy, without a chain": { ...transfer, type: "legacy", gasPrice: 5n, chainId: undefined },
  "EIP-2930": { ...transfer, type: "eip2930", gasPrice: 5n },
  "EIP-1559": { ...dynamic, type: "eip1559" },
  "EIP-7702": { ...dynamic, type: "eip7702", authorizationList },
};
for (const [kind, transaction] of Object.entries(KINDS)) {
  const signed = await account.signTransaction(transaction);
  const parsed = parseTransaction(signed);
  const { r, s, v, yParity } = parsed;
  const has = r !== undefined && s !== undefined ? "has r and s" : "has no signature";
  const said = (bytes) => {
    if (bytes === signed) return "same bytes";
    return Transaction.from(bytes).isSigned() ? "another signature" : "no signature";
  };
  const again = said(serializeTransaction(parsed));
  const given = said(serializeTransaction(parsed, { r, s, v, yParity }));
  console.log(`${kind}: parsed ${has}; written again: ${again}; with it as an argument: ${given}`);
  if (said(Transaction.from(signed).serialized) !== "same bytes") console.log(`${kind}: ethers writes other bytes`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
legacy, EIP-155: parsed has r and s; written again: no signature; with it as an argument: same bytes
legacy, without a chain: parsed has r and s; written again: no signature; with it as an argument: same bytes
EIP-2930: parsed has r and s; written again: same bytes; with it as an argument: same bytes
EIP-1559: parsed has r and s; written again: same bytes; with it as an argument: same bytes
EIP-7702: parsed has r and s; written again: same bytes; with it as an argument: same bytes
END
cmp seen expected
