/** The corpus as it is kept: one file for each category, written from the folders of its cases. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/decode/json.js";
import { type IndexedCase, sha256 } from "./corpus.js";
import { commonOf, readIndex } from "./folders.js";
import type { CategoryFile, PackedCase, Piece } from "./unpack.mjs";

/** Writes the files of the categories into `to`, from the folders below `root`. */
export function pack(root: string, to: string): void {
  const { cases } = readIndex(root);
  for (const category of [...new Set(cases.map((one) => one.category))].sort()) {
    const own = cases.filter((one) => one.category === category);
    const shared = [...new Set(own.flatMap(({ folder }) => commonOf(root, folder)))].sort();
    const file: CategoryFile = {
      format: "bootproof-conformance-category/1",
      category,
      common: Object.fromEntries(shared.map((path) => [path, pieceOf(readFileSync(join(root, path)))])),
      cases: own.map((one) => packedCase(root, one)),
    };
    // Indented, so that a difference shows which case and which piece.
    writeFileSync(join(to, `${category}.json`), `${JSON.stringify(file, null, 1)}\n`);
  }
}

function packedCase(root: string, { files, ...indexed }: IndexedCase): PackedCase {
  const read = (name: string): Buffer => readFileSync(join(root, indexed.folder, name));
  const json = (name: string): JsonObject =>
    JSON.parse(read(name).toString().replaceAll('"../../common/', '"common/')) as JsonObject;
  const pieces = Object.keys(files).filter((name) => name !== "input.json" && name !== "expected.json");
  return {
    ...indexed,
    input: json("input.json"),
    expected: json("expected.json"),
    pieces: Object.fromEntries(pieces.map((name) => [name, pieceOf(read(name))])),
  };
}

function pieceOf(bytes: Buffer): Piece {
  const text = bytes.toString();
  const isText = Buffer.from(text).equals(bytes);
  return { sha256: sha256(bytes), ...(isText ? { text } : { base64: bytes.toString("base64") }) };
}
