#!/bin/sh
# cosmjs-leading-zero-byte: about one transaction in a hundred cannot be signed by TurnkeyDirectWallet: signDirect
# throws, although the service signed, because r or s begins with a zero byte.
#
# Packages: @turnkey/cosmjs 0.8.2 with @cosmjs/crypto 0.33.1, which takes r and s without leading zero bytes only.
# Expected: r and s are 32 bytes each, as the service sends them in hex, and any value of them is a signature.
# Who meets it: whoever pays in a loop over many documents. The same document fails each time if the service signs by
# RFC 6979, and its activity is completed and charged; a change of the memo or of the fee gives another signature.
# Here: a service on this machine signs 1,000 documents with a fixed key.
# Seen:
#   no zero byte: signed (993 of 1000)
#   r or s begins with a zero byte: Unsigned integer r or s must be encoded as unpadded big endian. (7 of 1000)
# Exits with 1 if it sees anything else. Needs Node 20 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @turnkey/cosmjs@0.8.2 @noble/curves@2.4.0 ||
  exit 77
cat > run.mjs <<'END'
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { secp256k1 } from "@noble/curves/secp256k1.js";

const load = createRequire(import.meta.url);
const { TurnkeyDirectWallet } = load("@turnkey/cosmjs");
const { TurnkeyClient } = createRequire(load.resolve("@turnkey/cosmjs"))("@turnkey/http");
const key = Buffer.from("11".repeat(32), "hex");
const signWith = Buffer.from(secp256k1.getPublicKey(key, false)).toString("hex");
const signed = [];
const server = createServer(async (request, response) => {
  const { parameters, type } = JSON.parse(Buffer.concat(await request.toArray()).toString());
  const signature = Buffer.from(secp256k1.sign(Buffer.from(parameters.payload, "hex"), key)).toString("hex");
  const signRawPayloadResult = { r: signature.slice(0, 64), s: signature.slice(64), v: "00" };
  signed.push(signRawPayloadResult);
  const activity = { id: "a", status: "ACTIVITY_STATUS_COMPLETED", type, result: { signRawPayloadResult } };
  response.setHeader("content-type", "application/json").end(JSON.stringify({ activity }));
}).listen(0, "127.0.0.1");
await new Promise((resolve) => server.on("listening", resolve));
const stamper = { stamp: async () => ({ stampHeaderName: "X-Stamp", stampHeaderValue: "e30" }) };
const client = new TurnkeyClient({ baseUrl: `http://127.0.0.1:${server.address().port}` }, stamper);
const wallet = await TurnkeyDirectWallet.init({ config: { client, organizationId: "o", signWith } });
const [{ address }] = await wallet.getAccounts();
const said = new Map();
for (let count = 0; count < 1000; count++) {
  const document = { bodyBytes: new Uint8Array([count >> 8, count & 255]), authInfoBytes: new Uint8Array([2]) };
  const answer = await wallet
    .signDirect(address, { ...document, chainId: "c-1", accountNumber: 1n })
    .then(() => "signed", ({ message }) => message);
  const { r, s } = signed.at(-1);
  const zero = [r, s].some((half) => half.startsWith("00")) ? "r or s begins with a zero byte" : "no zero byte";
  const line = `${zero}: ${answer.replace(/ integer [rs] /, " integer r or s ")}`;
  said.set(line, (said.get(line) ?? 0) + 1);
}
for (const line of [...said].map(([text, times]) => `${text} (${times} of ${signed.length})`).sort()) console.log(line);
process.exit();
END
node run.mjs > seen
cat seen
cat > expected <<'END'
no zero byte: signed (993 of 1000)
r or s begins with a zero byte: Unsigned integer r or s must be encoded as unpadded big endian. (7 of 1000)
END
cmp seen expected
