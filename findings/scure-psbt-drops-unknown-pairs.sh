#!/bin/sh
# scure-psbt-drops-unknown-pairs: a PSBT that @scure/btc-signer read and wrote has lost each pair that it does not know,
# also those of the type for proprietary use, without a word; `allowUnknown` keeps them.
#
# Packages: @scure/btc-signer 2.4.1, and bitcoinjs-lib 7.0.5, which writes the PSBT here and keeps them.
# Expected: BIP 174 says of unknown types that they must be kept: who signs adds to what was given.
# Who meets it: wallets that put their own pairs into a PSBT (policy, path, request of an approval) and have it signed
# by a signer of this library: what comes back is signed, and no longer says what it was for.
# Here: one PSBT of one input and one output, with and without a pair, read and written again.
# Seen:
#   no pair: bitcoinjs-lib same bytes, scure same bytes, scure with allowUnknown same bytes
#   unknown, global: bitcoinjs-lib same bytes, scure bytes without it, scure with allowUnknown same bytes
#   proprietary, global: bitcoinjs-lib same bytes, scure bytes without it, scure with allowUnknown same bytes
#   proprietary, input: bitcoinjs-lib same bytes, scure bytes without it, scure with allowUnknown same bytes
#   proprietary, output: bitcoinjs-lib same bytes, scure bytes without it, scure with allowUnknown same bytes
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @scure/btc-signer@2.4.1 bitcoinjs-lib@7.0.5 ||
  exit 77
cat > run.mjs <<'END'
import { Transaction, p2wpkh } from "@scure/btc-signer";
import { Psbt } from "bitcoinjs-lib";

const { script } = p2wpkh(Buffer.from("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798", "hex"));
const pair = (key) => ({ key: Buffer.from(key, "hex"), value: Buffer.from("02", "hex") });
const [unknown, proprietary] = [pair("f001"), pair("fc0361626300")];
const ADDED = {
  "no pair": () => {},
  "unknown, global": (psbt) => psbt.addUnknownKeyValToGlobal(unknown),
  "proprietary, global": (psbt) => psbt.addUnknownKeyValToGlobal(proprietary),
  "proprietary, input": (psbt) => psbt.addUnknownKeyValToInput(0, proprietary),
  "proprietary, output": (psbt) => psbt.addUnknownKeyValToOutput(0, proprietary),
};
const WRITERS = {
  "bitcoinjs-lib": (bytes) => Psbt.fromBuffer(bytes).toBuffer(),
  scure: (bytes) => Transaction.fromPSBT(bytes).toPSBT(),
  "scure with allowUnknown": (bytes) => Transaction.fromPSBT(bytes, { allowUnknown: true }).toPSBT(),
};
function psbtWith(add) {
  const psbt = new Psbt();
  psbt.addInput({ hash: "aa".repeat(32), index: 0, witnessUtxo: { script, value: 10000n } });
  psbt.addOutput({ script, value: 9000n });
  add(psbt);
  return Buffer.from(psbt.toBuffer());
}
const bare = psbtWith(() => {});
for (const [name, add] of Object.entries(ADDED)) {
  const bytes = psbtWith(add);
  const answers = Object.entries(WRITERS).map(([writer, write]) => {
    const written = Buffer.from(write(bytes));
    const answer = written.equals(bytes) ? "same bytes" : written.equals(bare) ? "bytes without it" : "other bytes";
    return `${writer} ${answer}`;
  });
  console.log(`${name}: ${answers.join(", ")}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
no pair: bitcoinjs-lib same bytes, scure same bytes, scure with allowUnknown same bytes
unknown, global: bitcoinjs-lib same bytes, scure bytes without it, scure with allowUnknown same bytes
proprietary, global: bitcoinjs-lib same bytes, scure bytes without it, scure with allowUnknown same bytes
proprietary, input: bitcoinjs-lib same bytes, scure bytes without it, scure with allowUnknown same bytes
proprietary, output: bitcoinjs-lib same bytes, scure bytes without it, scure with allowUnknown same bytes
END
cmp seen expected
