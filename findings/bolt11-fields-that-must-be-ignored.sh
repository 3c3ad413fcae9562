#!/bin/sh
# bolt11-fields-that-must-be-ignored: the example of BOLT 11 with fields that a reader must ignore is refused by three
# packages of five; by two of them as if its signature were not that of its payee.
#
# Packages: bolt11 1.4.1, @atomiqlabs/bolt11 1.6.1, light-bolt11-decoder 3.2.0, invoices 6.2.0, @gandlaf21/bolt11-decode
# 3.1.1.
# Expected: BOLT 11 has the request among its valid examples: a reader skips a p, h, s or n field of another length, an
# f field of an unknown version, and each field that it does not know, so that newer fields can be added.
# Who meets it: who is paid through a node that writes a field of tomorrow, or that of another length: wallets on these
# packages cannot pay. The message of two of them says forgery.
# Here: two requests of the document, from the same payee over the same amount, the second with the fields.
# Seen:
#   bolt11, without them: 2500000000 msat
#   bolt11, with them: refused (Lightning Payment Request signature pubkey does not match payee pubkey)
#   @atomiqlabs/bolt11, without them: 2500000000 msat
#   @atomiqlabs/bolt11, with them: refused (Lightning Payment Request signature pubkey does not match payee pubkey)
#   light-bolt11-decoder, without them: 2500000000 msat
#   light-bolt11-decoder, with them: refused (radix2.encode input should be Uint8Array)
#   invoices, without them: 2500000000 msat
#   invoices, with them: 2500000000 msat
#   @gandlaf21/bolt11-decode, without them: 2500000000 msat
#   @gandlaf21/bolt11-decode, with them: 2500000000 msat
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact bolt11@1.4.1 @atomiqlabs/bolt11@1.6.1 \
  light-bolt11-decoder@3.2.0 invoices@6.2.0 @gandlaf21/bolt11-decode@3.1.1 || exit 77
cat > run.mjs <<'END'
import { createRequire } from "node:module";
import { parsePaymentRequest } from "invoices";

const require = createRequire(import.meta.url);
const sections = (decoded) => decoded.sections.find(({ name }) => name === "amount").value;
const READERS = {
  bolt11: (request) => require("bolt11").decode(request).millisatoshis,
  "@atomiqlabs/bolt11": (request) => require("@atomiqlabs/bolt11").decode(request).millisatoshis,
  "light-bolt11-decoder": (request) => sections(require("light-bolt11-decoder").decode(request)),
  invoices: (request) => parsePaymentRequest({ request }).mtokens,
  "@gandlaf21/bolt11-decode": (request) => sections(require("@gandlaf21/bolt11-decode").decode(request)),
};
const PLAIN = [
  "lnbc25m1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5vdhkven9v5sxyetpdeessp5zyg3zyg3zyg3zy",
  "g3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygs9q5sqqqqqqqqqqqqqqqqsgq2a25dxl5hrntdtn6zvydt7d66hyzsyhqs4wdynavys42xgl6s",
  "gx9c4g7me86a27t07mdtfry458rtjr0v92cnmswpsjscgt2vcse3sgpz3uapa",
].join("");
const WITH_MORE = [
  "lnbc25m1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5vdhkven9v5sxyetpdeessp5zyg3zyg3zyg3zy",
  "g3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygs9q5sqqqqqqqqqqqqqqqqsgq2qrqqqfppnqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqppnqqqq",
  "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqpp4qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqhpnqqqq",
  "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqhp4qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqspnqqqq",
  "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqsp4qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqnp5qqqq",
  "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqnpkqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqz599y",
  "53s3ujmcfjp5xrdap68qxymkqphwsexhmhr8wdz5usdzkzrse33chw6dlp3jhuhge9ley7j2ayx36kawe7kmgg8sv5ugdyusdcqzn8z9x",
].join("");
function said(work) {
  try {
    return `${work()} msat`;
  } catch ({ message }) {
    return `refused (${message})`;
  }
}
for (const [name, read] of Object.entries(READERS))
  for (const [which, request] of Object.entries({ "without them": PLAIN, "with them": WITH_MORE }))
    console.log(`${name}, ${which}: ${said(() => read(request))}`);
END
node run.mjs > seen
cat seen
cat > expected <<'END'
bolt11, without them: 2500000000 msat
bolt11, with them: refused (Lightning Payment Request signature pubkey does not match payee pubkey)
@atomiqlabs/bolt11, without them: 2500000000 msat
@atomiqlabs/bolt11, with them: refused (Lightning Payment Request signature pubkey does not match payee pubkey)
light-bolt11-decoder, without them: 2500000000 msat
light-bolt11-decoder, with them: refused (radix2.encode input should be Uint8Array)
invoices, without them: 2500000000 msat
invoices, with them: 2500000000 msat
@gandlaf21/bolt11-decode, without them: 2500000000 msat
@gandlaf21/bolt11-decode, with them: 2500000000 msat
END
cmp seen expected
