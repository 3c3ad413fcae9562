#!/bin/sh
# merkletreejs-own-proofs-not-verified: with the option duplicateOdd, or complete, verify() is false for the proof that
# getProof() made of the last leaves of the same tree, where some layer has an odd number of nodes. With neither, or
# with isBitcoinTree, every proof verifies.
#
# Packages: merkletreejs 0.6.0; beside it merkle-tools 1.4.1, whose Bitcoin trees duplicate, too, but hash twice.
# Expected: each leaf has a proof that verifies under its tree's root; the types recommend complete for proofs of
# several leaves.
# Cause: the options change how a layer is made, and the proof is made as without them: it leaves out the duplicate, or
# a node that was not paired in this layer.
# Who meets it: who builds the trees of another implementation that duplicates the last node, and hands out proofs. A
# test with 2, 4 or 8 leaves passes; of a list of 7, one member cannot prove that it is in it.
# Here: trees of 1 to 12 leaves, and all proofs of each; at which sizes some fail, and how many.
# Seen:
#   no option: all verify
#   duplicateOdd: not verified 1 of 3, 1 of 5, 2 of 6, 1 of 7, 1 of 9, 2 of 10, 3 of 11, 4 of 12
#   duplicateOdd and sortPairs: not verified 1 of 3, 1 of 5, 2 of 6, 1 of 7, 1 of 9, 2 of 10, 3 of 11, 4 of 12
#   complete: not verified 3 of 5, 2 of 6, 7 of 9, 6 of 10, 5 of 11, 4 of 12
#   complete and sortPairs: not verified 3 of 5, 2 of 6, 7 of 9, 6 of 10, 5 of 11, 4 of 12
#   isBitcoinTree: all verify
#   merkle-tools, makeBTCTree: all verify
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact merkletreejs@0.6.0 merkle-tools@1.4.1 ||
  exit 77
cat > run.mjs <<'END'
import { createHash } from "node:crypto";
import MerkleTools from "merkle-tools";
import { MerkleTree } from "merkletreejs";

const sha256 = (bytes) => createHash("sha256").update(bytes).digest();
const leavesOf = (count) => Array.from({ length: count }, (_, at) => sha256(`leaf ${at}`));
function byTree(options) {
  return (leaves) => {
    const tree = new MerkleTree(leaves, sha256, options);
    return leaves.map((leaf, at) => tree.verify(tree.getProof(leaf, at), leaf, tree.getRoot()));
  };
}
function byTools(leaves) {
  const tools = new MerkleTools({ hashType: "sha256" });
  tools.addLeaves(leaves.map((leaf) => leaf.toString("hex")));
  tools.makeBTCTree(true);
  return leaves.map((_, at) => tools.validateProof(tools.getProof(at), tools.getLeaf(at), tools.getMerkleRoot(), true));
}
const TREES = {
  "no option": byTree({}),
  duplicateOdd: byTree({ duplicateOdd: true }),
  "duplicateOdd and sortPairs": byTree({ duplicateOdd: true, sortPairs: true }),
  complete: byTree({ complete: true }),
  "complete and sortPairs": byTree({ complete: true, sortPairs: true }),
  isBitcoinTree: byTree({ isBitcoinTree: true }),
  "merkle-tools, makeBTCTree": byTools,
};
for (const [name, verified] of Object.entries(TREES)) {
  const failed = [];
  for (let count = 1; count <= 12; count++) {
    const wrong = verified(leavesOf(count)).filter((isVerified) => !isVerified).length;
    if (wrong > 0) failed.push(`${wrong} of ${count}`);
  }
  console.log(`${name}: ${failed.length === 0 ? "all verify" : `not verified ${failed.join(", ")}`}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
no option: all verify
duplicateOdd: not verified 1 of 3, 1 of 5, 2 of 6, 1 of 7, 1 of 9, 2 of 10, 3 of 11, 4 of 12
duplicateOdd and sortPairs: not verified 1 of 3, 1 of 5, 2 of 6, 1 of 7, 1 of 9, 2 of 10, 3 of 11, 4 of 12
complete: not verified 3 of 5, 2 of 6, 7 of 9, 6 of 10, 5 of 11, 4 of 12
complete and sortPairs: not verified 3 of 5, 2 of 6, 7 of 9, 6 of 10, 5 of 11, 4 of 12
isBitcoinTree: all verify
merkle-tools, makeBTCTree: all verify
END
cmp seen expected
