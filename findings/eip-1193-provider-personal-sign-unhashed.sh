#!/bin/sh
# eip-1193-provider-personal-sign-unhashed: personal_sign asks for a signature over the message itself, padded to 32
# bytes, without the prefix and the hash of EIP-191. The signature is not the address's over the message, and a message
# of more than 32 bytes is not signed at all.
#
# Packages: @turnkey/eip-1193-provider 3.0.3, @turnkey/http 2.17.1, its peer, viem 2.57.20.
# Cause: it pads the hex of the message (pad of viem), and sends that with HASH_FUNCTION_NO_OP.
# Here: a service on this machine signs with one key what the request asks for, as the real one does.
# Seen:
#   5 bytes: HASH_FUNCTION_NO_OP over 32 bytes, by the address over the message: false, over the padded bytes: true
#   33 bytes: SizeExceedsPaddingSizeError, nothing was asked for
#   a digest of hashMessage(): HASH_FUNCTION_NO_OP over 32 bytes, by the address over the message: true
# Exits with 1 if it sees anything else. Needs Node 20 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @turnkey/eip-1193-provider@3.0.3 \
  @turnkey/http@2.17.1 viem@2.57.20 || exit 77
cat > run.mjs <<'END'
import { createServer } from "node:http";
import { createEIP1193Provider } from "@turnkey/eip-1193-provider";
import { TurnkeyClient } from "@turnkey/http";
import { hashMessage, pad, recoverAddress, recoverMessageAddress, stringToHex } from "viem";
import { generatePrivateKey, privateKeyToAccount, sign } from "viem/accounts";

const privateKey = generatePrivateKey();
const { address } = privateKeyToAccount(privateKey);
let asked = null;
const server = createServer(async (request, response) => {
  const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
  response.setHeader("content-type", "application/json");
  // The node of the chain.
  const { id, method } = body;
  if (method === "eth_chainId") return response.end(JSON.stringify({ jsonrpc: "2.0", id, result: "0x1" }));
  asked = body.parameters;
  const { r, s, yParity } = await sign({ hash: asked.payload, privateKey });
  const signRawPayloadResult = { r: r.slice(2), s: s.slice(2), v: `0${yParity}` };
  const activity = { id: "a", status: "ACTIVITY_STATUS_COMPLETED", type: body.type, result: { signRawPayloadResult } };
  response.end(JSON.stringify({ activity }));
}).listen(0, "127.0.0.1");
await new Promise((resolve) => server.on("listening", resolve));
const url = `http://127.0.0.1:${server.address().port}`;

const stamper = { stamp: async () => ({ stampHeaderName: "X-Stamp", stampHeaderValue: "e30" }) };
const turnkeyClient = new TurnkeyClient({ baseUrl: url }, stamper);
const nativeCurrency = { name: "Ether", symbol: "ETH", decimals: 18 };
const chains = [{ chainName: "here", chainId: "0x1", rpcUrls: [url], nativeCurrency }];
const provider = await createEIP1193Provider({ turnkeyClient, organizationId: "o", walletId: "w", chains });
const signed = (message) => provider.request({ method: "personal_sign", params: [message, address] });
const how = () => `${asked.hashFunction} over ${(asked.payload.length - 2) / 2} bytes`;

const short = stringToHex("hello");
const signature = await signed(short);
const isOfMessage = (await recoverMessageAddress({ message: "hello", signature })) === address;
const isOfPadded = (await recoverAddress({ hash: pad(short), signature })) === address;
console.log(`5 bytes: ${how()}, by the address over the message: ${isOfMessage}, over the padded bytes: ${isOfPadded}`);

asked = null;
const error = await signed(stringToHex("a".repeat(33))).catch((reason) => reason);
console.log(`33 bytes: ${error.name}, ${asked === null ? "nothing was asked for" : how()}`);

const ofDigest = await signed(hashMessage("hello"));
const isRight = (await recoverMessageAddress({ message: "hello", signature: ofDigest })) === address;
console.log(`a digest of hashMessage(): ${how()}, by the address over the message: ${isRight}`);
process.exit();
END
# It takes the address of a node with http: under NODE_ENV test or development alone.
NODE_ENV=test node run.mjs > seen
cat seen
cat > expected <<'END'
5 bytes: HASH_FUNCTION_NO_OP over 32 bytes, by the address over the message: false, over the padded bytes: true
33 bytes: SizeExceedsPaddingSizeError, nothing was asked for
a digest of hashMessage(): HASH_FUNCTION_NO_OP over 32 bytes, by the address over the message: true
END
cmp seen expected
