/** The corpus as it is kept: one file for each category, written from the folders of its cases. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/decode/json.js";
import { type IndexedCase, sha256 } from "./corpus.js";
import { commonOf, readIndex } from "./folders.js";
import type { CategoryFile, PackedCase, Part, Piece } from "./unpack.mjs";

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
  if (isText) return { sha256: sha256(bytes), ...(text.length < LONG ? { text } : { parts: partsOf(text) }) };
  return { sha256: sha256(bytes), base64: bytes.toString("base64") };
}

/** Characters of a text of which repetitions are written once. */
const LONG = 500_000;
/** Four characters of base64 are three bytes. */
const UNIT = 4;

function partsOf(text: string): Part[] {
  const parts: Part[] = [];
  let [from, run] = [0, 0];
  for (let at = UNIT; at <= text.length; at++) {
    if (at < text.length && text[at] === text[at - UNIT]) run++;
    else {
      const start = at - run - UNIT;
      const times = Math.floor(run / UNIT) + 1;
      if (times > LONG / 10) {
        parts.push(text.slice(from, start), { repeat: text.slice(start, start + UNIT), times });
        from = start + UNIT * times;
      }
      run = 0;
    }
  }
  return [...parts, text.slice(from)];
}
