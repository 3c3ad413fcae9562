#!/bin/sh
# turnkey-ethers-lower-case-address: a TurnkeySigner whose signWith is an address in lower case refuses each transaction
# that has a from, in either spelling: "address mismatch" of an address with itself. And of the object that it is given,
# signTransaction removes from, where it signs.
#
# Packages: @turnkey/ethers 1.3.29, and of its dependencies those that it imports, since the others take minutes to
# install: @turnkey/http 4.0.0, ethers 6.17.0.
# Expected: an address without upper case letters is the address (EIP-55), as a Wallet of ethers takes either spelling
# of from, and leaves the object as it is.
# Cause: getAddress answers with signWith as it was written, and is compared with the checksummed from.
# Who meets it: whose configuration or database has addresses in lower case, as indexers and many APIs write them, and
# signs what has a from: a request of a page, or what populateTransaction returns. Without from it signs.
# Here: in place of the service, one key signs what it is sent.
# Seen:
#   Wallet of ethers: no from signs, from with checksum signs, from in lower case signs; from kept
#   signWith with checksum: no from signs, from with checksum signs, from in lower case signs; from removed
#   signWith in lower case: no from signs, from with checksum refused, from in lower case refused; from kept
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @turnkey/http@4.0.0 ethers@6.17.0 || exit 77
tarball=$(npm pack --silent @turnkey/ethers@1.3.29) || exit 77
mkdir node_modules/@turnkey/ethers
tar -xzf "$tarball" --strip-components=1 -C node_modules/@turnkey/ethers
cat > run.mjs <<'END'
import { TurnkeySigner } from "@turnkey/ethers";
import { Transaction, Wallet } from "ethers";

const wallet = new Wallet(`0x${"11".repeat(32)}`);
const client = {
  async signTransaction({ unsignedTransaction }) {
    const signed = await wallet.signTransaction(Transaction.from(`0x${unsignedTransaction}`));
    const activity = { status: "ACTIVITY_STATUS_COMPLETED", type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2" };
    return { activity, signedTransaction: signed.slice(2) };
  },
};
const signer = (signWith) => new TurnkeySigner({ client, organizationId: "organization", signWith });
const transaction = {
  ...{ type: 2, chainId: 1, nonce: 0, to: `0x${"cc".repeat(20)}`, value: 1 },
  ...{ gasLimit: 21000, maxFeePerGas: 1, maxPriorityFeePerGas: 1 },
};
const FROM = {
  "no from": {},
  "from with checksum": { from: wallet.address },
  "from in lower case": { from: wallet.address.toLowerCase() },
};
for (const [name, own] of Object.entries({
  "Wallet of ethers": wallet,
  "signWith with checksum": signer(wallet.address),
  "signWith in lower case": signer(wallet.address.toLowerCase()),
})) {
  const answers = [];
  let after;
  for (const [what, from] of Object.entries(FROM)) {
    after = { ...transaction, ...from };
    const signs = await own.signTransaction(after).then(
      (signed) => Transaction.from(signed).from === wallet.address,
      () => false,
    );
    answers.push(`${what} ${signs ? "signs" : "refused"}`);
  }
  console.log(`${name}: ${answers.join(", ")}; from ${"from" in after ? "kept" : "removed"}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
Wallet of ethers: no from signs, from with checksum signs, from in lower case signs; from kept
signWith with checksum: no from signs, from with checksum signs, from in lower case signs; from removed
signWith in lower case: no from signs, from with checksum refused, from in lower case refused; from kept
END
cmp seen expected
