#!/bin/sh
# evervault-attestation-upper-case-pcrs: validateAttestationDocPcrs() says of a genuine document of AWS Nitro that its
# measurements are others if those that are expected are written in upper-case hex. In lower case they are the same.
#
# Packages: @evervault/wasm-attestation-bindings 0.3.1.
# Expected: 48 bytes are compared, however their hex is written; or hex in upper case is refused as such. It is false,
# and the log shows both as "different".
# Cause: the measurement of the document is written in lower case, and compared as text.
# Who meets it: who takes measurements from a table, a database or a tool that writes upper case, as those of Windows
# and .NET do: each enclave is refused, and the two that the log shows look the same.
# Here: a genuine document of 2025, which is in test-vectors/nitro, at the time at which it was made.
# Seen:
#   all in lower case: true
#   all in upper case: false
#   one in upper case: false
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
vectors=$(cd "$(dirname "$0")/../test-vectors/nitro" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @evervault/wasm-attestation-bindings@0.3.1 \
  cbor2@2.3.0 || exit 77
cat > run.mjs <<'END'
import { readFileSync } from "node:fs";
import { PCRs, initSync, validateAttestationDocPcrs } from "@evervault/wasm-attestation-bindings";
import { decode } from "cbor2";

const wasm = "node_modules/@evervault/wasm-attestation-bindings/index_bg.wasm";
initSync({ module: readFileSync(wasm) });
const file = "anchorage-turnkey-turnkey-attestation-base64-20250505.cbor";
const document = new Uint8Array(readFileSync(`${process.argv[2]}/${file}`));
const { pcrs, timestamp } = decode(decode(document)[2]);
Date.now = () => Number(timestamp);
const lower = [0, 1, 2].map((index) => Buffer.from(pcrs.get(index)).toString("hex"));
const upper = lower.map((pcr) => pcr.toUpperCase());
const text = Buffer.from(document).toString("base64");
const expected = {
  "all in lower case": lower,
  "all in upper case": upper,
  "one in upper case": [lower[0], upper[1], lower[2]],
};
for (const [name, pcrsOf] of Object.entries(expected))
  console.log(`${name}: ${validateAttestationDocPcrs(text, [new PCRs(...pcrsOf)])}`);
END
node run.mjs "$vectors" > seen 2> log
cat seen
cat > expected <<'END'
all in lower case: true
all in upper case: false
one in upper case: false
END
cmp seen expected
