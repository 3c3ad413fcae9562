#!/bin/sh
# papi-ss58-format-of-two-bytes: of an address whose network has a number from 64 on, getSs58AddressInfo of polkadot-api
# has the right key and another network, which may be beyond 16383, the greatest there is; and it writes the right
# address for each.
#
# Packages: @polkadot-api/substrate-bindings 0.21.0, @subsquid/ss58-codec 1.2.3, @polkadot/util-crypto 14.0.3.
# Expected: the number with which the address was written, as @subsquid/ss58-codec reads it.
# Cause: the bits of the two bytes of such a number, which SS58 has in another order, are read as those of one number.
# Who meets it: who refuses an address of another network, or shows its name: every address of networks such as 73, 2032
# or 10041 is refused, and of those below 64 none.
# Here: one key, written for each network by each library, and read again. The greatest number of one byte is 63.
# Seen:
#   network 0: written alike; read as 0, by polkadot-api 0, right key
#   network 42: written alike; read as 42, by polkadot-api 42, right key
#   network 63: written alike; read as 63, by polkadot-api 63, right key
#   network 64: written alike; read as 64, by polkadot-api 20480, right key
#   network 73: written alike; read as 73, by polkadot-api 21056, right key
#   network 255: written alike; read as 255, by polkadot-api 32704, right key
#   network 256: written alike; read as 256, by polkadot-api 16385, right key
#   network 2032: written alike; read as 2032, by polkadot-api 31751, right key
#   network 10041: written alike; read as 10041, by polkadot-api 20071, right key
#   network 16383: written alike; read as 16383, by polkadot-api 32767, right key
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @polkadot-api/substrate-bindings@0.21.0 \
  @subsquid/ss58-codec@1.2.3 @polkadot/util-crypto@14.0.3 || exit 77
cat > run.mjs <<'END'
import { fromBufferToBase58, getSs58AddressInfo } from "@polkadot-api/substrate-bindings";
import { encodeAddress } from "@polkadot/util-crypto";
import { createRequire } from "node:module";

const codec = createRequire(import.meta.url)("@subsquid/ss58-codec");
const key = new Uint8Array(32).fill(7);
for (const network of [0, 42, 63, 64, 73, 255, 256, 2032, 10041, 16383]) {
  const address = codec.encode({ prefix: network, bytes: key });
  const others = [encodeAddress(key, network), fromBufferToBase58(network)(key)];
  const written = others.every((other) => other === address) ? "written alike" : "written otherwise";
  const info = getSs58AddressInfo(address);
  const isKey = info.isValid && Buffer.compare(info.publicKey, key) === 0;
  const read = `polkadot-api ${info.ss58Format}, ${isKey ? "right key" : "another key"}`;
  console.log(`network ${network}: ${written}; read as ${codec.decode(address).prefix}, by ${read}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
network 0: written alike; read as 0, by polkadot-api 0, right key
network 42: written alike; read as 42, by polkadot-api 42, right key
network 63: written alike; read as 63, by polkadot-api 63, right key
network 64: written alike; read as 64, by polkadot-api 20480, right key
network 73: written alike; read as 73, by polkadot-api 21056, right key
network 255: written alike; read as 255, by polkadot-api 32704, right key
network 256: written alike; read as 256, by polkadot-api 16385, right key
network 2032: written alike; read as 2032, by polkadot-api 31751, right key
network 10041: written alike; read as 10041, by polkadot-api 20071, right key
network 16383: written alike; read as 16383, by polkadot-api 32767, right key
END
cmp seen expected
