#!/bin/sh
# stacks-tuples-in-order-of-a-language: @stacks/transactions writes the names of a tuple as a dictionary orders them (a,
# B, b_c, b-c), not by their bytes as the chain does: the hash of such a message (SIP-018) is another than the one that
# a contract computes.
#
# Packages: @stacks/transactions 7.6.0, micro-stacks 1.2.1, @stacks/clarinet-sdk 3.21.0, which runs the chain's own
# interpreter.
# Expected: SIP-005 sorts names lexicographically: one tuple has one serialization, as micro-stacks and the chain have
# it.
# Cause: names are compared by localeCompare, which has its own order for upper and lower case, _ and -.
# Who meets it: who signs structured data whose names have capitals or both _ and -, such as tokenId and tokenid or B
# and a. A contract that computes the hash itself refuses the signature.
# Here: tuples of numbers by their names. "chain" is to-consensus-buff? of Clarity, in a chain on this machine.
# Seen:
#   chain amount chain-id nonce: micro-stacks same bytes, @stacks/transactions same bytes
#   chain B a: micro-stacks same bytes, @stacks/transactions other bytes (a B)
#   chain ID id: micro-stacks same bytes, @stacks/transactions other bytes (id ID)
#   chain token-id token_id: micro-stacks same bytes, @stacks/transactions other bytes (token_id token-id)
#   chain to tokenURI tokenid: micro-stacks same bytes, @stacks/transactions other bytes (to tokenid tokenURI)
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @stacks/transactions@7.6.0 micro-stacks@1.2.1 \
  @stacks/clarinet-sdk@3.21.0 || exit 77
cat > Clarinet.toml <<'END'
[project]
name = "tuples"
description = ""
authors = []
telemetry = false
END
mkdir settings contracts
cat > settings/Devnet.toml <<'END'
[network]
name = "simnet"

[accounts.deployer]
mnemonic = "test test test test test test test test test test test junk"
balance = 1
END
cat > run.mjs <<'END'
import { createRequire } from "node:module";
import { initSimnet } from "@stacks/clarinet-sdk";
import { Cl, cvToString, deserializeCV, serializeCV } from "@stacks/transactions";

const micro = createRequire(import.meta.url)("micro-stacks/clarity");
const { log } = console;
console.log = () => {};
const chain = await initSimnet("./Clarinet.toml", true);
console.log = log;
chain.setEpoch("3.0");

const hex = (bytes) => (typeof bytes === "string" ? bytes : Buffer.from(bytes).toString("hex")).replace(/^0x/, "");
/** The names in their order, from the bytes. */
const order = (bytes) => Object.keys(deserializeCV(bytes).value).join(" ");
const of = (names, make) => Object.fromEntries(names.map((name, index) => [name, make(index)]));
for (const list of ["amount chain-id nonce", "a B", "id ID", "token_id token-id", "to tokenURI tokenid"]) {
  const names = list.split(" ");
  const text = names.map((name, index) => `${name}: u${index}`).join(", ");
  const { result } = chain.execute(`(unwrap-panic (to-consensus-buff? {${text}}))`);
  const ofChain = hex(cvToString(result));
  const ofStacks = hex(serializeCV(Cl.tuple(of(names, (index) => Cl.uint(index)))));
  const ofMicro = hex(micro.serializeCV(micro.tupleCV(of(names, (index) => micro.uintCV(index)))));
  const said = (bytes) => (bytes === ofChain ? "same bytes" : `other bytes (${order(bytes)})`);
  console.log(`chain ${order(ofChain)}: micro-stacks ${said(ofMicro)}, @stacks/transactions ${said(ofStacks)}`);
}
process.exit();
END
node run.mjs > seen
cat seen
cat > expected <<'END'
chain amount chain-id nonce: micro-stacks same bytes, @stacks/transactions same bytes
chain B a: micro-stacks same bytes, @stacks/transactions other bytes (a B)
chain ID id: micro-stacks same bytes, @stacks/transactions other bytes (id ID)
chain token-id token_id: micro-stacks same bytes, @stacks/transactions other bytes (token_id token-id)
chain to tokenURI tokenid: micro-stacks same bytes, @stacks/transactions other bytes (to tokenid tokenURI)
END
cmp seen expected
