#!/bin/sh
# xrpl-verify-signature-of-multisigned: verifySignature says of every transaction that several keys signed that it is
# missing a signature, also where it is given the key of one of them.
#
# Packages: xrpl 5.3.0.
# Expected: "Verifies if a transaction is signed": true or false for what the ledger takes, in both of its forms; the
# XRP Ledger has one with TxnSignature, and one with a list of Signers.
# Who meets it: who checks what a quorum signed before it is sent, as one checks what one key signed.
# Here: the same transaction, signed by one key, and by two for an account of theirs.
# Seen:
#   signed by one: true
#   signed by two, of 2 signers: Transaction is missing a signature, TxnSignature
#   signed by two, the key of the first given: Transaction is missing a signature, TxnSignature
#   the first one's verifyTransaction: Transaction is missing a signature, TxnSignature
#   the part of the first: Transaction is missing a signature, TxnSignature
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact xrpl@5.3.0 || exit 77
cat > run.mjs <<'END'
import xrpl from "xrpl";

const { Wallet, decode, multisign, verifySignature } = xrpl;
const [account, first, second] = [Wallet.generate(), Wallet.generate(), Wallet.generate()];
const transaction = { TransactionType: "AccountSet", Account: account.classicAddress, Fee: "30", Sequence: 1 };
function said(work) {
  try {
    return work();
  } catch ({ message }) {
    return message;
  }
}
const part = first.sign(transaction, true).tx_blob;
const both = multisign([part, second.sign(transaction, true).tx_blob]);
console.log(`signed by one: ${said(() => verifySignature(account.sign(transaction).tx_blob))}`);
console.log(`signed by two, of ${decode(both).Signers.length} signers: ${said(() => verifySignature(both))}`);
console.log(`signed by two, the key of the first given: ${said(() => verifySignature(both, first.publicKey))}`);
console.log(`the first one's verifyTransaction: ${said(() => first.verifyTransaction(both))}`);
console.log(`the part of the first: ${said(() => verifySignature(part))}`);
END
node run.mjs > seen
cat seen
cat > expected <<'END'
signed by one: true
signed by two, of 2 signers: Transaction is missing a signature, TxnSignature
signed by two, the key of the first given: Transaction is missing a signature, TxnSignature
the first one's verifyTransaction: Transaction is missing a signature, TxnSignature
the part of the first: Transaction is missing a signature, TxnSignature
END
cmp seen expected
