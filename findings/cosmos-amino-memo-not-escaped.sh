#!/bin/sh
# cosmos-amino-memo-not-escaped: what terra.js and initia.js sign in Amino's JSON has "&", "<" and ">" as they are,
# where the chain has \u0026, \u003c and \u003e, so a transaction whose memo or message has one of them is refused for
# its signature.
#
# Packages: @terra-money/terra.js 3.1.10, @initia/initia.js 1.1.0; beside them secretjs 1.22.1, @cosmjs/amino 0.39.0,
# which writes the document as chains do; @noble/curves 2.4.0 and @noble/hashes 2.2.0 to verify.
# Expected: a chain of Cosmos verifies over the JSON that its own encoder writes, which is Go's, and that escapes these
# three in every text (encoding/json); cosmjs and secretjs do so, too.
# Cause: the document is sorted and written by JSON.stringify.
# Who meets it: who signs by a hardware wallet or for a multisig, which take this mode: names of firms, links with two
# parameters, text of a proposal. A memo of letters passes every test.
# Here: one transfer, three memos; over which document the signature verifies.
# Seen:
#   rent, terra.js: over the chain's document true, unescaped true
#   rent, initia.js: over the chain's document true, unescaped true
#   rent, secretjs: over the chain's document true, unescaped true
#   R & D, terra.js: over the chain's document false, unescaped true
#   R & D, initia.js: over the chain's document false, unescaped true
#   R & D, secretjs: over the chain's document true, unescaped false
#   <3, terra.js: over the chain's document false, unescaped true
#   <3, initia.js: over the chain's document false, unescaped true
#   <3, secretjs: over the chain's document true, unescaped false
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @terra-money/terra.js@3.1.10 \
  @initia/initia.js@1.1.0 secretjs@1.22.1 @cosmjs/amino@0.39.0 @noble/curves@2.4.0 @noble/hashes@2.2.0 || exit 77
cat > run.mjs <<'END'
import { createHash } from "node:crypto";
import { makeSignDoc, serializeSignDoc } from "@cosmjs/amino";
import * as initia from "@initia/initia.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import * as terra from "@terra-money/terra.js";
import { Wallet } from "secretjs";

const secret = Buffer.alloc(32, 7);
const sha256 = (bytes) => createHash("sha256").update(bytes).digest();
const UNESCAPED = { "\\u0026": "&", "\\u003c": "<", "\\u003e": ">" };
const ESCAPES = /\\u00(?:26|3c|3e)/g;
const plain = (bytes) => Buffer.from(Buffer.from(bytes).toString().replaceAll(ESCAPES, (at) => UNESCAPED[at]));

function documentOf(memo) {
  const value = { from_address: "a", to_address: "b", amount: [{ denom: "u", amount: "1" }] };
  const fee = { amount: [{ denom: "u", amount: "5" }], gas: "200000" };
  return makeSignDoc([{ type: "cosmos-sdk/MsgSend", value }], fee, "chain", memo, 1, 2);
}
const bySdk = ({ RawKey, SignDoc, AuthInfo, Fee, TxBody, MsgSend }) => async (memo) => {
  const fee = new AuthInfo([], new Fee(200000, "5u"));
  const document = new SignDoc("chain", 1, 2, fee, new TxBody([new MsgSend("a", "b", { u: 1 })], memo));
  const { data } = await new RawKey(secret).createSignatureAmino(document);
  return { signature: data.single.signature, publicKey: secp256k1.getPublicKey(secret) };
};
async function bySecretjs(memo) {
  const wallet = new Wallet(`${"abandon ".repeat(11)}about`);
  const { signature } = await wallet.signAmino(wallet.address, documentOf(memo));
  return { signature: signature.signature, publicKey: wallet.publicKey };
}
const SIGNERS = {
  "terra.js": [bySdk(terra), sha256],
  "initia.js": [bySdk(initia), keccak_256],
  secretjs: [bySecretjs, sha256],
};
for (const memo of ["rent", "R & D", "<3"]) {
  const bytes = serializeSignDoc(documentOf(memo));
  for (const [name, [sign, hash]] of Object.entries(SIGNERS)) {
    const { signature, publicKey } = await sign(memo);
    const over = (document) =>
      secp256k1.verify(Buffer.from(signature, "base64"), hash(document), publicKey, { prehash: false, lowS: false });
    console.log(`${memo}, ${name}: over the chain's document ${over(bytes)}, unescaped ${over(plain(bytes))}`);
  }
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
rent, terra.js: over the chain's document true, unescaped true
rent, initia.js: over the chain's document true, unescaped true
rent, secretjs: over the chain's document true, unescaped true
R & D, terra.js: over the chain's document false, unescaped true
R & D, initia.js: over the chain's document false, unescaped true
R & D, secretjs: over the chain's document true, unescaped false
<3, terra.js: over the chain's document false, unescaped true
<3, initia.js: over the chain's document false, unescaped true
<3, secretjs: over the chain's document true, unescaped false
END
cmp seen expected
