#!/bin/sh
# solana-web3-one-message-two-orders: from the same instructions, Transaction and TransactionMessage of @solana/web3.js
# make two messages that differ in the order of accounts; and what TransactionMessage decompiles and compiles again,
# with nothing changed, is no longer the message that was signed.
#
# Packages: @solana/web3.js 1.98.4, @solana/kit 8.4.0.
# Expected: one library has one order for one version of messages; decompiling and compiling are each other's inverse.
# Cause: Transaction and kit sort the accounts of each class by their addresses; TransactionMessage keeps the order in
# which the instructions name them. Both are valid for the chain. With up to two receivers here, both are the same.
# Who meets it: who decompiles a signed or partly signed transaction to read its instructions or its lookup tables, and
# compiles it to compare, to store or to send it; and who builds a transaction again to compare it with one to approve.
# Here: one payer, and transfers to one and to four receivers. The payer's signature is verified over what came back.
# Seen:
#   1 transfers, legacy: Transaction and kit same bytes, Transaction and TransactionMessage same bytes
#   1 transfers, v0: kit and TransactionMessage same bytes
#   1 transfers, Transaction's message through TransactionMessage: signature verifies
#   1 transfers, kit's v0 through TransactionMessage: signature verifies
#   1 transfers, TransactionMessage's v0 through kit: signature verifies
#   1 transfers, TransactionMessage's v0 through TransactionMessage: signature verifies
#   4 transfers, legacy: Transaction and kit same bytes, Transaction and TransactionMessage other bytes
#   4 transfers, v0: kit and TransactionMessage other bytes
#   4 transfers, Transaction's message through TransactionMessage: signature does not verify
#   4 transfers, kit's v0 through TransactionMessage: signature does not verify
#   4 transfers, TransactionMessage's v0 through kit: signature does not verify
#   4 transfers, TransactionMessage's v0 through TransactionMessage: signature verifies
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @solana/web3.js@1.98.4 @solana/kit@8.4.0 ||
  exit 77
cat > run.mjs <<'END'
import * as kit from "@solana/kit";
import { Keypair, MessageV0, SystemProgram, Transaction, TransactionMessage } from "@solana/web3.js";

const pair = (seed) => Keypair.fromSeed(new Uint8Array(32).fill(seed));
const payer = pair(1);
const recentBlockhash = "11111111111111111111111111111111";
const address = (key) => kit.address(key.toBase58());

function kitMessage(instructions, version) {
  const theirs = instructions.map(({ programId, keys, data }) => ({
    programAddress: address(programId),
    accounts: keys.map(({ pubkey, isSigner, isWritable }) => {
      return { address: address(pubkey), role: (isSigner ? 2 : 0) | (isWritable ? 1 : 0) };
    }),
    data: new Uint8Array(data),
  }));
  const lifetime = { blockhash: kit.blockhash(recentBlockhash), lastValidBlockHeight: 0n };
  const message = kit.pipe(
    kit.createTransactionMessage({ version }),
    (empty) => kit.setTransactionMessageFeePayer(address(payer.publicKey), empty),
    (paid) => kit.setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
    (lasting) => kit.appendTransactionMessageInstructions(theirs, lasting),
  );
  return Buffer.from(kit.compileTransaction(message).messageBytes);
}
function throughKit(bytes) {
  const message = kit.decompileTransactionMessage(kit.getCompiledTransactionMessageDecoder().decode(bytes));
  return kit.compileTransaction(message).messageBytes;
}
const throughWeb3 = (bytes) =>
  TransactionMessage.decompile(MessageV0.deserialize(bytes)).compileToV0Message().serialize();

const compare = (left, right) => (left.equals(right) ? "same bytes" : "other bytes");
const keys = await kit.createKeyPairFromPrivateKeyBytes(payer.secretKey.slice(0, 32));
for (const count of [1, 4]) {
  const say = (text) => console.log(`${count} transfers, ${text}`);
  const instructions = Array.from({ length: count }, (_, index) => {
    const toPubkey = pair(2 + index).publicKey;
    return SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey, lamports: 1 });
  });
  const transaction = new Transaction({ recentBlockhash, feePayer: payer.publicKey }).add(...instructions);
  const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions });
  const legacy = transaction.serializeMessage();
  const v0 = Buffer.from(message.compileToV0Message().serialize());
  const kitV0 = kitMessage(instructions, 0);
  const withKit = compare(legacy, kitMessage(instructions, "legacy"));
  const withMessage = compare(legacy, Buffer.from(message.compileToLegacyMessage().serialize()));
  say(`legacy: Transaction and kit ${withKit}, Transaction and TransactionMessage ${withMessage}`);
  say(`v0: kit and TransactionMessage ${compare(kitV0, v0)}`);
  const again = TransactionMessage.decompile(transaction.compileMessage()).compileToLegacyMessage().serialize();
  for (const [way, before, after] of [
    ["Transaction's message through TransactionMessage", legacy, again],
    ["kit's v0 through TransactionMessage", kitV0, throughWeb3(kitV0)],
    ["TransactionMessage's v0 through kit", v0, throughKit(v0)],
    ["TransactionMessage's v0 through TransactionMessage", v0, throughWeb3(v0)],
  ]) {
    const signature = await kit.signBytes(keys.privateKey, before);
    const verifies = await kit.verifySignature(keys.publicKey, signature, after);
    say(`${way}: signature ${verifies ? "verifies" : "does not verify"}`);
  }
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
1 transfers, legacy: Transaction and kit same bytes, Transaction and TransactionMessage same bytes
1 transfers, v0: kit and TransactionMessage same bytes
1 transfers, Transaction's message through TransactionMessage: signature verifies
1 transfers, kit's v0 through TransactionMessage: signature verifies
1 transfers, TransactionMessage's v0 through kit: signature verifies
1 transfers, TransactionMessage's v0 through TransactionMessage: signature verifies
4 transfers, legacy: Transaction and kit same bytes, Transaction and TransactionMessage other bytes
4 transfers, v0: kit and TransactionMessage other bytes
4 transfers, Transaction's message through TransactionMessage: signature does not verify
4 transfers, kit's v0 through TransactionMessage: signature does not verify
4 transfers, TransactionMessage's v0 through kit: signature does not verify
4 transfers, TransactionMessage's v0 through TransactionMessage: signature verifies
END
cmp seen expected
