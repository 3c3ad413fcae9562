#!/bin/sh
# cosmjs-http-hash-of-hash: over a client of @turnkey/http, signDirect asks for a signature over the hash of the
# document's hash, so its signature does not verify, and no chain accepts the transaction.
#
# Packages: @turnkey/cosmjs 0.8.2, @turnkey/http 6.6.0, and 3.12.1, which it depends on.
# Cause: it sends the SHA-256 of the document as the payload, with HASH_FUNCTION_SHA256 where the client's name is
# "TurnkeyClient", and with HASH_FUNCTION_NO_OP for every other client.
# Here: a service on this machine signs with one key whatever hash the request asks for, as the real one does.
# Seen:
#   http 6.6.0: HASH_FUNCTION_SHA256, valid over sha256(document): false, over sha256(sha256(document)): true
#   http 3.12.1: HASH_FUNCTION_SHA256, valid over sha256(document): false, over sha256(sha256(document)): true
#   sdk-server 4.9.1: HASH_FUNCTION_NO_OP, valid over sha256(document): true, over sha256(sha256(document)): false
# Exits with 1 if it sees anything else. Needs Node 20 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @turnkey/cosmjs@0.8.2 @turnkey/http@6.6.0 \
  @noble/curves@2.4.0 @noble/hashes@2.4.0 @cosmjs/proto-signing@0.33.1 || exit 77
cat > run.mjs <<'END'
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { makeSignBytes } from "@cosmjs/proto-signing";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { TurnkeyDirectWallet } from "@turnkey/cosmjs";

const hex = (bytes) => Buffer.from(bytes).toString("hex");
const key = secp256k1.utils.randomSecretKey();
const signWith = hex(secp256k1.getPublicKey(key, false));
let asked;
const server = createServer(async (request, response) => {
  const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
  asked = body.parameters.hashFunction;
  const payload = Buffer.from(body.parameters.payload, "hex");
  const digest = { HASH_FUNCTION_NO_OP: (bytes) => bytes, HASH_FUNCTION_SHA256: sha256 }[asked](payload);
  const signature = hex(secp256k1.sign(digest, key, { prehash: false }));
  const signRawPayloadResult = { r: signature.slice(0, 64), s: signature.slice(64), v: "00" };
  const activity = { id: "a", status: "ACTIVITY_STATUS_COMPLETED", type: body.type, result: { signRawPayloadResult } };
  response.setHeader("content-type", "application/json").end(JSON.stringify({ activity }));
}).listen(0, "127.0.0.1");
await new Promise((resolve) => server.on("listening", resolve));
const baseUrl = `http://127.0.0.1:${server.address().port}`;

const load = createRequire(import.meta.url);
const inside = createRequire(load.resolve("@turnkey/cosmjs"));
const stamper = { stamp: async () => ({ stampHeaderName: "X-Stamp", stampHeaderValue: "e30" }) };
const { Turnkey } = inside("@turnkey/sdk-server");
const pair = { apiPublicKey: "02".padEnd(66, "1"), apiPrivateKey: "11".repeat(32) };
const server4 = new Turnkey({ apiBaseUrl: baseUrl, defaultOrganizationId: "o", ...pair }).apiClient();
server4.stamper = stamper;
const clients = {
  "http 6.6.0": new (load("@turnkey/http").TurnkeyClient)({ baseUrl }, stamper),
  "http 3.12.1": new (inside("@turnkey/http").TurnkeyClient)({ baseUrl }, stamper),
  "sdk-server 4.9.1": server4,
};
const bytes = { bodyBytes: new Uint8Array([1]), authInfoBytes: new Uint8Array([2]) };
for (const [name, client] of Object.entries(clients)) {
  const wallet = await TurnkeyDirectWallet.init({ config: { client, organizationId: "o", signWith } });
  const [{ address, pubkey }] = await wallet.getAccounts();
  const { signed, signature } = await wallet.signDirect(address, { ...bytes, chainId: "c-1", accountNumber: 1n });
  const document = sha256(makeSignBytes(signed));
  const isOver = (digest) =>
    secp256k1.verify(Buffer.from(signature.signature, "base64"), digest, pubkey, { prehash: false });
  const over = `sha256(document): ${isOver(document)}, over sha256(sha256(document)): ${isOver(sha256(document))}`;
  console.log(`${name}: ${asked}, valid over ${over}`);
}
process.exit();
END
node run.mjs > seen
cat seen
cat > expected <<'END'
http 6.6.0: HASH_FUNCTION_SHA256, valid over sha256(document): false, over sha256(sha256(document)): true
http 3.12.1: HASH_FUNCTION_SHA256, valid over sha256(document): false, over sha256(sha256(document)): true
sdk-server 4.9.1: HASH_FUNCTION_NO_OP, valid over sha256(document): true, over sha256(sha256(document)): false
END
cmp seen expected
