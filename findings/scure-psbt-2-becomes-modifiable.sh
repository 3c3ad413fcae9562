#!/bin/sh
# scure-psbt-2-becomes-modifiable: a PSBT of version 2 that does not say that it may be modified says so after
# @scure/btc-signer read it and wrote it: that inputs and outputs may be added.
#
# Packages: @scure/btc-signer 2.4.1; @caravan/psbt 2.1.0 and @ledgerhq/psbtv2 0.6.0, which write the bytes that they
# read.
# Expected: BIP 370 takes a PSBT without PSBT_GLOBAL_TX_MODIFIABLE for one to which nothing may be added. Its example
# "required fields only" is one.
# Who meets it: who passes a finished PSBT through this library, to add a derivation path or a signature: the next one
# in the line reads that it may add an input or an output.
# Here: the example of BIP 370, as it is, and with the flags 0, 1 and 2; what each library's output says, and whether it
# is the same otherwise.
# Seen:
#   no flags: scure flags 3, caravan same bytes, ledger same bytes
#   flags 0: scure same bytes, caravan same bytes, ledger same bytes
#   flags 1: scure same bytes, caravan same bytes, ledger same bytes
#   flags 2: scure same bytes, caravan same bytes, ledger same bytes
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @scure/btc-signer@2.4.1 @caravan/psbt@2.1.0 \
  @ledgerhq/psbtv2@0.6.0 || exit 77
cat > run.mjs <<'END'
import { createRequire } from "node:module";
import { Transaction } from "@scure/btc-signer";

const require = createRequire(import.meta.url);
const caravan = require("@caravan/psbt");
const ledger = require("@ledgerhq/psbtv2");
const EXAMPLE = [
  "cHNidP8BAgQCAAAAAQQBAQEFAQIB+wQCAAAAAAEOIAsK2SFBnByHGXNdctxzn56p4GONH+TB7vD5lECEgV/IAQ8EAAAAAAABAwgACK8vAAAAAAEE",
  "FgAUxDD2TEdW2jENvRoIVXLvKZkmJywAAQMIi73rCwAAAAABBBYAFE3Rk6yWSlasG54cyoRU/i9HT4UTAA==",
].join("");
const bytes = Buffer.from(EXAMPLE, "base64");
const AFTER_COUNTS = bytes.indexOf(Buffer.from("01fb04", "hex"));
const withFlags = (flags) =>
  Buffer.concat([bytes.subarray(0, AFTER_COUNTS), Buffer.from([1, 6, 1, flags]), bytes.subarray(AFTER_COUNTS)]);
const WRITERS = {
  scure: (psbt) => Transaction.fromPSBT(psbt).toPSBT(2),
  caravan: (psbt) => Buffer.from(new caravan.PsbtV2(psbt).serialize("base64"), "base64"),
  ledger: (psbt) => {
    const own = new ledger.PsbtV2();
    own.deserialize(psbt);
    return own.serialize();
  },
};
const FORMS = { "no flags": bytes, "flags 0": withFlags(0), "flags 1": withFlags(1), "flags 2": withFlags(2) };
function said(written, given) {
  if (written.equals(given)) return "same bytes";
  const flags = [0, 1, 2, 3].find((one) => withFlags(one).equals(written));
  return flags === undefined ? "other bytes" : `flags ${flags}`;
}
for (const [form, psbt] of Object.entries(FORMS)) {
  const all = Object.entries(WRITERS).map(([name, write]) => `${name} ${said(Buffer.from(write(psbt)), psbt)}`);
  console.log(`${form}: ${all.join(", ")}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
no flags: scure flags 3, caravan same bytes, ledger same bytes
flags 0: scure same bytes, caravan same bytes, ledger same bytes
flags 1: scure same bytes, caravan same bytes, ledger same bytes
flags 2: scure same bytes, caravan same bytes, ledger same bytes
END
cmp seen expected
