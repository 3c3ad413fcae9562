#!/bin/sh
# github-release-attestations-in-sigstore-2: @sigstore/verify 1, by which sigstore 2 verifies, finds no chain for the
# genuine attestation of a GitHub release: "Failed to verify certificate chain". From @sigstore/verify 2 on it is
# verified, under the same trusted root and with the same settings. All verify an attestation of a workflow.
#
# Packages: @sigstore/verify 1.2.1, 2.1.1, 3.1.1 and 4.1.3, each with the @sigstore/bundle of its time (2.3.2, 3.1.0,
# 4.0.0, 5.0.1) and @sigstore/protobuf-specs (0.3.2, 0.4.1, 0.5.0, 0.5.2).
# Expected: a bundle of the oldest version, 0.1, is verified by all; what a client is too old for, it calls too new.
# Who meets it: who verifies releases of GitHub by a client that is pinned to sigstore 2.
# Here: bundles and trusted roots of GitHub, which are in test-vectors/provenance. Releases have the time of a timestamp
# authority, no log entry and no certificate timestamp, so neither is asked for.
# Seen:
#   1.2.1, github-release-v0.1: Failed to verify certificate chain
#   1.2.1, github-release-v0.2: Failed to verify certificate chain
#   1.2.1, reusable-workflow-attestation: verified
#   2.1.1, github-release-v0.1: verified
#   2.1.1, github-release-v0.2: verified
#   2.1.1, reusable-workflow-attestation: verified
#   3.1.1, github-release-v0.1: verified
#   3.1.1, github-release-v0.2: verified
#   3.1.1, reusable-workflow-attestation: verified
#   4.1.3, github-release-v0.1: verified
#   4.1.3, github-release-v0.2: verified
#   4.1.3, reusable-workflow-attestation: verified
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
vectors=$(cd "$(dirname "$0")/../test-vectors/provenance" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
install() {
  mkdir "$1"
  echo '{"private": true, "type": "module"}' > "$1/package.json"
  npm install --prefix "$1" --silent --no-audit --no-fund --ignore-scripts --save-exact "@sigstore/verify@$1" \
    "@sigstore/bundle@$2" "@sigstore/protobuf-specs@$3" || exit 77
}
install 1.2.1 2.3.2 0.3.2
install 2.1.1 3.1.0 0.4.1
install 3.1.1 4.0.0 0.5.0
install 4.1.3 5.0.1 0.5.2
cat > run.mjs <<'END'
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const read = (name) => JSON.parse(readFileSync(`${process.argv[2]}/${name}`, "utf8"));
const github = [read("github-trusted-root.json"), { tlogThreshold: 0, ctlogThreshold: 0 }];
const BUNDLES = {
  "github-release-v0.1": github,
  "github-release-v0.2": github,
  "reusable-workflow-attestation": [read("public-good-trusted-root.json"), {}],
};
for (const version of ["1.2.1", "2.1.1", "3.1.1", "4.1.3"]) {
  const load = createRequire(`${process.cwd()}/${version}/index.js`);
  const { Verifier, toSignedEntity, toTrustMaterial } = load("@sigstore/verify");
  const { bundleFromJSON } = load("@sigstore/bundle");
  const { TrustedRoot } = load("@sigstore/protobuf-specs");
  for (const [name, [root, options]] of Object.entries(BUNDLES)) {
    let said;
    try {
      const verifier = new Verifier(toTrustMaterial(TrustedRoot.fromJSON(root)), options);
      verifier.verify(toSignedEntity(bundleFromJSON(read(`${name}.sigstore.json`))));
      said = "verified";
    } catch ({ message }) {
      said = message;
    }
    console.log(`${version}, ${name}: ${said}`);
  }
}
END
node run.mjs "$vectors" > seen
cat seen
cat > expected <<'END'
1.2.1, github-release-v0.1: Failed to verify certificate chain
1.2.1, github-release-v0.2: Failed to verify certificate chain
1.2.1, reusable-workflow-attestation: verified
2.1.1, github-release-v0.1: verified
2.1.1, github-release-v0.2: verified
2.1.1, reusable-workflow-attestation: verified
3.1.1, github-release-v0.1: verified
3.1.1, github-release-v0.2: verified
3.1.1, reusable-workflow-attestation: verified
4.1.3, github-release-v0.1: verified
4.1.3, github-release-v0.2: verified
4.1.3, reusable-workflow-attestation: verified
END
cmp seen expected
