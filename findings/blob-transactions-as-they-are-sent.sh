#!/bin/sh
# blob-transactions-as-they-are-sent: of a blob transaction as nodes take it since Osaka (EIP-7594), with cell proofs,
# ox reads the bytes and viem refuses them, though both are of one maker; of the form before it is the other way round.
# A transaction out of a block is read by all.
#
# Packages: viem 2.57.20, ox 1.8.3, ethers 6.17.0, micro-eth-signer 0.20.1.
# Expected: a library that sends blobs reads what nodes take (five members, the second of which is the version 1), and
# still what they took before (four).
# Who meets it: who signs for others: relays, custodians and approval services, which are given the bytes with the
# blobs; and who goes from viem to ox with the same bytes.
# Here: one transaction with the blob of zeros, whose commitment and proofs are the point at infinity, without blobs and
# in both forms. The signature has made-up numbers: nothing here verifies it.
# Seen:
#   as in a block: viem same bytes, ox same bytes, ethers same bytes, micro-eth-signer same bytes
#   before Osaka, with a proof: viem same bytes, ox refused, ethers same bytes, micro-eth-signer refused
#   since Osaka, with cell proofs: viem refused, ox same bytes, ethers same bytes, micro-eth-signer refused
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact viem@2.57.20 ox@1.8.3 ethers@6.17.0 \
  micro-eth-signer@0.20.1 || exit 77
cat > run.mjs <<'END'
import { Transaction, encodeRlp, sha256 } from "ethers";
import * as micro from "micro-eth-signer";
import { TxEnvelopeEip4844 } from "ox";
import { parseTransaction, serializeTransaction } from "viem";

const infinity = `0xc0${"00".repeat(47)}`;
const versionedHash = `0x01${sha256(infinity).slice(4)}`;
const signature = ["0x01", `0x${"11".repeat(32)}`, `0x${"22".repeat(32)}`];
const to = `0x${"aa".repeat(20)}`;
const body = ["0x01", "0x", "0x", "0x", "0x5208", to, "0x", "0x", [], "0x01", [versionedHash], ...signature];
const blobs = [`0x${"00".repeat(131072)}`];
const FORMS = {
  "as in a block": body,
  "before Osaka, with a proof": [body, blobs, [infinity], [infinity]],
  "since Osaka, with cell proofs": [body, "0x01", blobs, [infinity], Array(128).fill(infinity)],
};
const LIBRARIES = {
  viem: (bytes) => serializeTransaction(parseTransaction(bytes)),
  ox: (bytes) => TxEnvelopeEip4844.serialize(TxEnvelopeEip4844.deserialize(bytes)),
  ethers: (bytes) => Transaction.from(bytes).serialized,
  "micro-eth-signer": (bytes) => micro.Transaction.fromHex(bytes).toHex(true),
};
function said(through, bytes) {
  try {
    return through(bytes) === bytes ? "same bytes" : "other bytes";
  } catch {
    return "refused";
  }
}
for (const [form, fields] of Object.entries(FORMS)) {
  const bytes = `0x03${encodeRlp(fields).slice(2)}`;
  const all = Object.entries(LIBRARIES).map(([name, through]) => `${name} ${said(through, bytes)}`);
  console.log(`${form}: ${all.join(", ")}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
as in a block: viem same bytes, ox same bytes, ethers same bytes, micro-eth-signer same bytes
before Osaka, with a proof: viem same bytes, ox refused, ethers same bytes, micro-eth-signer refused
since Osaka, with cell proofs: viem refused, ox same bytes, ethers same bytes, micro-eth-signer refused
END
cmp seen expected
