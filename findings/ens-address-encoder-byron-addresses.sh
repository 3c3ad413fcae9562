#!/bin/sh
# ens-address-encoder-byron-addresses: of an address of Cardano's first era, what decode() returns, encode() turns into
# an address that does not exist, or refuses. Copied to a new array, it is right.
#
# Packages: @ensdomains/address-encoder 1.1.4.
# Expected: encode(decode(text)) is the text, as of its other coins, and as a record in a name service has to be.
# Cause: decode returns a view of the whole address, and encode takes the buffer below the view. Its try of Byron's form
# then fails, and a catch makes the form of Shelley of the same bytes.
# Who meets it: who shows, compares or pays to the address that a record holds, and takes both functions one after the
# other. What was stored and read again from outside is a new array, so a test over the chain sees nothing.
# Here: an address of each kind: two of Byron, one of Shelley.
# Seen:
#   Ae2, as decoded: another address, addr1sdvpew5...
#   Ae2, copied: the address
#   Ddz, as decoded: Length 117 exceeds limit 104
#   Ddz, copied: the address
#   addr1, as decoded: the address
#   addr1, copied: the address
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @ensdomains/address-encoder@1.1.4 ||
  exit 77
cat > run.mjs <<'END'
import { getCoderByCoinName } from "@ensdomains/address-encoder";

const ada = getCoderByCoinName("ada");
const ADDRESSES = {
  Ae2: "Ae2tdPwUPEZFRbyhz3cpfC2CumGzNkFBN2L42rcUc2yjQpEkxDbkPodpMAi",
  Ddz: "DdzFFzCqrhsrcTVhLygT24QwTnNqQqQ8mZrq5jykUzMveU26sxaH529kMpo7VhPrt5pwW3dXeB2k3EEvKcNBRmzCfcQ7dTkyGzTs658C",
  addr1: "addr1qx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzer3n0d3vllmyqwsx5wktcd8cc3sq835lu7drv2xwl2wywfgse35a3x",
};
function answer(address, bytes) {
  try {
    const text = ada.encode(bytes);
    return text === address ? "the address" : `another address, ${text.slice(0, 12)}...`;
  } catch (error) {
    return error.message;
  }
}
for (const [kind, address] of Object.entries(ADDRESSES)) {
  console.log(`${kind}, as decoded: ${answer(address, ada.decode(address))}`);
  console.log(`${kind}, copied: ${answer(address, Uint8Array.from(ada.decode(address)))}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
Ae2, as decoded: another address, addr1sdvpew5...
Ae2, copied: the address
Ddz, as decoded: Length 117 exceeds limit 104
Ddz, copied: the address
addr1, as decoded: the address
addr1, copied: the address
END
cmp seen expected
