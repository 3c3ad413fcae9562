#!/bin/sh
# bitcoinjs-psbt-without-inputs: a PSBT with one output and no input, as one gives to a wallet that adds its inputs, is
# refused by bitcoinjs-lib, also where it wrote it itself; and each without inputs, or without outputs, it writes with a
# byte too many.
#
# Packages: bitcoinjs-lib 7.0.5, @scure/btc-signer 2.4.1.
# Expected: a PSBT has a map for each input and each output and no other; BIP 174 has one without inputs among its valid
# examples, and its transaction is written without witnesses, so that 0 inputs and 1 output are no marker of them.
# Cause: where there is no input or no output an empty map is written in its place; and the count 00 and the count 01
# are taken for the marker 00 01.
# Who meets it: who makes a template of outputs and has it funded by a node (as LND's FundPsbt does by one), or reads
# one. Bitcoin Core refuses bytes after the end of a PSBT.
# Here: PSBTs by their numbers of inputs and outputs, by each library, read by both. The example is of BIP 174.
# Seen:
#   1 inputs, 1 outputs: bitcoinjs-lib writes 0 byte more
#     scure's: bitcoinjs-lib reads it
#     scure's: scure reads it
#   0 inputs, 2 outputs: bitcoinjs-lib writes 1 byte more
#     scure's: bitcoinjs-lib reads it, and writes it with a byte more
#     scure's: scure reads it
#     bitcoinjs-lib's: bitcoinjs-lib reads it
#     bitcoinjs-lib's: scure reads it, and writes it with a byte less
#   0 inputs, 1 outputs: bitcoinjs-lib writes 1 byte more
#     scure's: bitcoinjs-lib refuses it (Offset is outside the bounds of Uint8Array)
#     scure's: scure reads it
#     bitcoinjs-lib's: bitcoinjs-lib refuses it (Offset is outside the bounds of Uint8Array)
#     bitcoinjs-lib's: scure reads it, and writes it with a byte less
#   1 inputs, 0 outputs: bitcoinjs-lib writes 1 byte more
#     scure's: bitcoinjs-lib reads it, and writes it with a byte more
#     scure's: scure reads it
#     bitcoinjs-lib's: bitcoinjs-lib reads it
#     bitcoinjs-lib's: scure reads it, and writes it with a byte less
#   the example without inputs
#     BIP 174's: bitcoinjs-lib reads it, and writes it with a byte more
#     BIP 174's: scure reads it
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact bitcoinjs-lib@7.0.5 @scure/btc-signer@2.4.1 ||
  exit 77
cat > run.mjs <<'END'
import { Transaction } from "@scure/btc-signer";
import { Psbt } from "bitcoinjs-lib";

const script = Buffer.from(`0014${"22".repeat(20)}`, "hex");
const input = { hash: "aa".repeat(32), index: 0 };
function ofBitcoinJs(inputs, outputs) {
  const psbt = new Psbt();
  for (let index = 0; index < inputs; index++) psbt.addInput({ ...input, index });
  for (let index = 0; index < outputs; index++) psbt.addOutput({ script, value: 1000n });
  return Buffer.from(psbt.toBuffer());
}
function ofScure(inputs, outputs) {
  const transaction = new Transaction({ allowUnknownOutputs: true });
  for (let index = 0; index < inputs; index++) transaction.addInput({ txid: input.hash, index });
  for (let index = 0; index < outputs; index++) transaction.addOutput({ script, amount: 1000n });
  return Buffer.from(transaction.toPSBT());
}
const EXAMPLE = [
  "cHNidP8BAEwCAAAAAALT3/UFAAAAABl2qRTQxZkDxbrChodg6Q/VIaRmWqdlIIisAOH1BQAAAAAXqRQ1RebjO4MsRwUPJNPuuTycA5SLx4ezLhMA",
  "AAAA",
].join("");
const READERS = {
  "bitcoinjs-lib": (bytes) => Buffer.from(Psbt.fromBuffer(bytes).toBuffer()),
  scure: (bytes) => Buffer.from(Transaction.fromPSBT(bytes).toPSBT()),
};
function said(read, bytes) {
  try {
    const more = read(bytes).length - bytes.length;
    return more === 0 ? "reads it" : `reads it, and writes it with ${more > 0 ? "a byte more" : "a byte less"}`;
  } catch ({ message }) {
    return `refuses it (${message})`;
  }
}
const all = (bytes) => Object.entries(READERS).map(([name, read]) => `${name} ${said(read, bytes)}`);
for (const [inputs, outputs] of [[1, 1], [0, 2], [0, 1], [1, 0]]) {
  const [own, other] = [ofBitcoinJs(inputs, outputs), ofScure(inputs, outputs)];
  const more = own.length - other.length;
  console.log(`${inputs} inputs, ${outputs} outputs: bitcoinjs-lib writes ${more} byte more`);
  for (const line of all(other)) console.log(`  scure's: ${line}`);
  if (more > 0) for (const line of all(own)) console.log(`  bitcoinjs-lib's: ${line}`);
}
console.log("the example without inputs");
for (const line of all(Buffer.from(EXAMPLE, "base64"))) console.log(`  BIP 174's: ${line}`);
END
node run.mjs > seen
cat seen
cat > expected <<'END'
1 inputs, 1 outputs: bitcoinjs-lib writes 0 byte more
  scure's: bitcoinjs-lib reads it
  scure's: scure reads it
0 inputs, 2 outputs: bitcoinjs-lib writes 1 byte more
  scure's: bitcoinjs-lib reads it, and writes it with a byte more
  scure's: scure reads it
  bitcoinjs-lib's: bitcoinjs-lib reads it
  bitcoinjs-lib's: scure reads it, and writes it with a byte less
0 inputs, 1 outputs: bitcoinjs-lib writes 1 byte more
  scure's: bitcoinjs-lib refuses it (Offset is outside the bounds of Uint8Array)
  scure's: scure reads it
  bitcoinjs-lib's: bitcoinjs-lib refuses it (Offset is outside the bounds of Uint8Array)
  bitcoinjs-lib's: scure reads it, and writes it with a byte less
1 inputs, 0 outputs: bitcoinjs-lib writes 1 byte more
  scure's: bitcoinjs-lib reads it, and writes it with a byte more
  scure's: scure reads it
  bitcoinjs-lib's: bitcoinjs-lib reads it
  bitcoinjs-lib's: scure reads it, and writes it with a byte less
the example without inputs
  BIP 174's: bitcoinjs-lib reads it, and writes it with a byte more
  BIP 174's: scure reads it
END
cmp seen expected
