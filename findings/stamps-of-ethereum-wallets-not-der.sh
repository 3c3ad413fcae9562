#!/bin/sh
# stamps-of-ethereum-wallets-not-der: about one stamp in 200 that wallet-stamper makes with a wallet of Ethereum is no
# DER, so verifiers that accept its other stamps refuse it.
#
# Packages: @turnkey/wallet-stamper 1.1.27, whose DER is made by toDerSignature of @turnkey/crypto 2.13.2.
# Expected: a stamp of an honest wallet is DER (X.690), as are those of api-key-stamper, whatever the wallet signs.
# Cause: r or s that begins with a zero byte keeps it, where DER leaves it out (X.690, 8.3.2).
# Who meets it: a service, or a test of one, that reads stamps with a strict parser. Each body has its own signature, so
# it looks like chance; the same body fails each time, since wallets sign by RFC 6979.
# Here: 1,000 bodies, stamped by one wallet with a fixed key. The signatures themselves are right: written anew as DER,
# each verifies.
# Seen:
#   a zero byte too many: 3 of 1000
#   noble refuses as DER: 3 of 1000
#   noble accepts r and s: 3 of 1000
# Exits with 1 if it sees anything else. Needs Node 20 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @turnkey/wallet-stamper@1.1.27 \
  @turnkey/crypto@2.13.2 @noble/curves@2.4.0 viem@2.37.0 || exit 77
cat > run.mjs <<'END'
import { createRequire } from "node:module";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { hashMessage } from "viem";
import { privateKeyToAccount } from "viem/accounts";

globalThis.window = {};
const { WalletStamper } = createRequire(import.meta.url)("@turnkey/wallet-stamper");
const privateKey = "11".repeat(32);
const account = privateKeyToAccount(`0x${privateKey}`);
const stamper = new WalletStamper({ type: "ethereum", signMessage: (message) => account.signMessage({ message }) });

const point = secp256k1.getPublicKey(Buffer.from(privateKey, "hex"), false);
const isTrue = (call) => {
  try {
    return call();
  } catch {
    return false;
  }
};
const seen = { "a zero byte too many": 0, "noble refuses as DER": 0, "noble accepts r and s": 0 };
for (let count = 0; count < 1000; count++) {
  const body = `{"n":${count}}`;
  const { stampHeaderValue } = await stamper.stamp(body);
  const der = Buffer.from(JSON.parse(Buffer.from(stampHeaderValue, "base64url")).signature, "hex");
  const digest = Buffer.from(hashMessage(body).slice(2), "hex");
  const length = der[3];
  const halves = [der.subarray(4, 4 + length), der.subarray(6 + length)];
  const isPadded = halves.some((half) => half[0] === 0 && half[1] < 0x80);
  if (!isPadded) continue;
  seen["a zero byte too many"]++;
  const compact = Buffer.concat(halves.map((half) => Buffer.concat([Buffer.alloc(32), half]).subarray(-32)));
  const options = { prehash: false };
  if (!isTrue(() => secp256k1.verify(der, digest, point, { ...options, format: "der" }))) seen["noble refuses as DER"]++;
  if (secp256k1.verify(compact, digest, point, options)) seen["noble accepts r and s"]++;
}
for (const [what, times] of Object.entries(seen)) console.log(`${what}: ${times} of 1000`);
END
node run.mjs > seen
cat seen
cat > expected <<'END'
a zero byte too many: 3 of 1000
noble refuses as DER: 3 of 1000
noble accepts r and s: 3 of 1000
END
cmp seen expected
