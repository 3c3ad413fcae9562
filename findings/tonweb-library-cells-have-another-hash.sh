#!/bin/sh
# tonweb-library-cells-have-another-hash: tonweb reads a library cell, as the code of some jetton wallets is, and gives
# it another hash, without a word: so the address of each contract with such code is another well-formed address.
#
# Packages: tonweb 0.0.66; @ton/core 0.63.1 and ton3-core 1.0.1 agree with each other.
# Expected: a reader that takes an exotic cell hashes it as TON does, or refuses it. Proofs and library cells are in
# blocks, states and contracts of every day.
# Cause: the flag is kept as 8, the bit that it has in the first byte, and multiplied by 8 again when that byte is
# written.
# Who meets it: who computes the address of a wallet or a jetton wallet from code and data, or compares hashes of cells
# that a node returned.
# Here: one ordinary cell, the same with a library cell in it, and a Merkle proof, by hash; and the address of a
# contract whose code is a library cell.
# Seen:
#   ordinary cell: ton3-core same hash, tonweb same hash, written again by tonweb same hash
#   library cell: ton3-core same hash, tonweb another hash, written again by tonweb another hash
#   cell with a library cell: ton3-core same hash, tonweb another hash, written again by tonweb another hash
#   Merkle proof: ton3-core same hash, tonweb another hash, written again by tonweb another hash
#   address of a contract, code as ordinary cell: same
#   address of a contract, code as library cell: another
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact tonweb@0.0.66 @ton/core@0.63.1 \
  @ton/crypto@3.3.0 ton3-core@1.0.1 || exit 77
cat > run.mjs <<'END'
import { Cell, beginCell, contractAddress, convertToMerkleProof } from "@ton/core";
import { BOC } from "ton3-core";
import TonWeb from "tonweb";

const leaf = beginCell().storeUint(5, 8).endCell();
const ordinary = beginCell().storeUint(1, 32).storeRef(leaf).endCell();
const library = beginCell().storeUint(2, 8).storeBuffer(Buffer.alloc(32, 7)).endCell({ exotic: true });
const CELLS = {
  "ordinary cell": ordinary,
  "library cell": library,
  "cell with a library cell": beginCell().storeUint(1, 32).storeRef(library).endCell(),
  "Merkle proof": convertToMerkleProof(ordinary),
};
const hex = (bytes) => Buffer.from(bytes).toString("hex");
const ofTonWeb = (cell) => TonWeb.boc.Cell.oneFromBoc(new Uint8Array(cell.toBoc()));
for (const [name, cell] of Object.entries(CELLS)) {
  const expected = hex(cell.hash());
  const said = (hash) => (hash === expected ? "same hash" : "another hash");
  const third = said(BOC.from(new Uint8Array(cell.toBoc())).root[0].hash());
  const again = Cell.fromBoc(Buffer.from(await ofTonWeb(cell).toBoc(false)))[0];
  const [web, written] = [said(hex(await ofTonWeb(cell).hash())), said(hex(again.hash()))];
  console.log(`${name}: ton3-core ${third}, tonweb ${web}, written again by tonweb ${written}`);
}

class Contract extends TonWeb.Contract {
  createDataCell() {
    return ofTonWeb(leaf);
  }
}
for (const [name, code] of [["ordinary cell", ordinary], ["library cell", library]]) {
  const address = await new Contract(null, { code: ofTonWeb(code), wc: 0 }).getAddress();
  const isSame = address.toString(false) === contractAddress(0, { code, data: leaf }).toRawString();
  console.log(`address of a contract, code as ${name}: ${isSame ? "same" : "another"}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
ordinary cell: ton3-core same hash, tonweb same hash, written again by tonweb same hash
library cell: ton3-core same hash, tonweb another hash, written again by tonweb another hash
cell with a library cell: ton3-core same hash, tonweb another hash, written again by tonweb another hash
Merkle proof: ton3-core same hash, tonweb another hash, written again by tonweb another hash
address of a contract, code as ordinary cell: same
address of a contract, code as library cell: another
END
cmp seen expected
