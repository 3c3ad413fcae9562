#!/bin/sh
# turnkey-viem-typed-data-without-domain: signTypedData of an account of @turnkey/viem asks for a signature over typed
# data without its domain, unless the types declare EIP712Domain. What an own account of viem signs as it should, this
# one signs so that nobody verifies it.
#
# Packages: @turnkey/viem 0.14.37, and of its dependencies those that it imports, since the others take minutes to
# install: @turnkey/http 6.2.1, @turnkey/api-key-stamper 0.6.12, @noble/curves 1.8.0, viem 2.57.20.
# Expected: the type of the domain follows from its members where it is not declared, as in viem's documentation, its
# own accounts and its wallet client: one call, one digest, whatever account it is made on.
# Cause: it sends what serializeTypedData of viem returns, which writes "domain":{} where no type EIP712Domain is.
# Who meets it: who calls the account itself, as clients of payments by signature (EIP-3009), of permits (EIP-2612) and
# of smart accounts do. Through a wallet client, or with the type declared, it is right.
# Here: in place of the service, one key signs the digest (EIP-712) of the JSON that it is sent.
# Seen:
#   viem's own account: domain of 3 members, verifies
#   Turnkey's account: domain of 0 members, does not verify
#   Turnkey's account, EIP712Domain declared: domain of 3 members, verifies
#   Turnkey's account in a wallet client: domain of 3 members, verifies
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @turnkey/http@6.2.1 \
  @turnkey/api-key-stamper@0.6.12 @noble/curves@1.8.0 viem@2.57.20 || exit 77
tarball=$(npm pack --silent @turnkey/viem@0.14.37) || exit 77
mkdir node_modules/@turnkey/viem
tar -xzf "$tarball" --strip-components=1 -C node_modules/@turnkey/viem
cat > run.mjs <<'END'
import { createAccountWithAddress } from "@turnkey/viem";
import { createWalletClient, custom, hashTypedData, verifyTypedData } from "viem";
import { privateKeyToAccount, sign } from "viem/accounts";

const privateKey = `0x${"11".repeat(32)}`;
const own = privateKeyToAccount(privateKey);
const { address } = own;
const DOMAIN = [
  { name: "name", type: "string" },
  { name: "chainId", type: "uint256" },
  { name: "verifyingContract", type: "address" },
];
const types = { Note: [{ name: "text", type: "string" }] };
const domain = { name: "Shop", chainId: 1, verifyingContract: `0x${"cc".repeat(20)}` };
const data = { domain, types, primaryType: "Note", message: { text: "hi" } };
const declared = { ...data, types: { EIP712Domain: DOMAIN, ...types } };

let members = Object.keys(domain).length;
const client = {
  async signRawPayload({ payload }) {
    const sent = JSON.parse(payload);
    members = Object.keys(sent.domain).length;
    const { r, s, yParity } = await sign({ hash: hashTypedData(sent), privateKey });
    return {
      ...{ r: r.slice(2), s: s.slice(2), v: `0${yParity}` },
      activity: { status: "ACTIVITY_STATUS_COMPLETED", type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2" },
    };
  },
};
const account = createAccountWithAddress({ client, organizationId: "organization", signWith: address });
const wallet = createWalletClient({ account, transport: custom({ request: async () => "0x1" }) });
const SIGNATURES = {
  "viem's own account": () => own.signTypedData(data),
  "Turnkey's account": () => account.signTypedData(data),
  "Turnkey's account, EIP712Domain declared": () => account.signTypedData(declared),
  "Turnkey's account in a wallet client": () => wallet.signTypedData(data),
};
for (const [what, signData] of Object.entries(SIGNATURES)) {
  const verifies = await verifyTypedData({ ...data, address, signature: await signData() });
  console.log(`${what}: domain of ${members} members, ${verifies ? "verifies" : "does not verify"}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
viem's own account: domain of 3 members, verifies
Turnkey's account: domain of 0 members, does not verify
Turnkey's account, EIP712Domain declared: domain of 3 members, verifies
Turnkey's account in a wallet client: domain of 3 members, verifies
END
cmp seen expected
