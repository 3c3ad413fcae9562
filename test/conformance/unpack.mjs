/**
 * Writes the corpus as folders, one for each case: `node test/conformance/unpack.mjs DIR`. The corpus has one file for
 * each category (`test-vectors/conformance/README.md`); verifiers read folders. Needs no package.
 */
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const CORPUS = fileURLToPath(new URL("../../test-vectors/conformance/", import.meta.url));
const FORMAT = "bootproof-conformance-category/1";
/** The members of `input` that name pieces. */
const NAMING = [
  "bootProofs",
  "appProofs",
  "activity",
  "document",
  "policy",
  "trustAnchors",
  "signers",
  "feed",
  "state",
];
/** A part of a path: none leads out of the folder. */
const PART = /^[a-z0-9][a-z0-9.-]*$/;

/** A corpus that cannot be unpacked. */
export class CorpusError extends Error {}

/** The files of categories, by name. */
export function readCategories(root) {
  const names = readdirSync(root).filter((name) => name.endsWith(".json"));
  if (names.length === 0) throw new CorpusError(`${root}: no corpus`);
  return names.sort().map((name) => {
    const category = JSON.parse(readFileSync(join(root, name), "utf8"));
    if (category.format !== FORMAT) throw new CorpusError(`${join(root, name)}: a corpus of another format`);
    return category;
  });
}

/** Writes every case of `root` into a folder of its own below `to`, with the index. */
export function unpack(root, to) {
  if (existsSync(to) && readdirSync(to).length > 0) throw new CorpusError(`${to}: the folder is not empty`);
  const common = {};
  const cases = [];
  for (const category of readCategories(root)) {
    for (const [path, piece] of Object.entries(category.common)) common[path] = write(to, path, bytesOf(path, piece));
    for (const one of category.cases) cases.push(writeCase(to, one));
  }
  const sorted = Object.fromEntries(Object.entries(common).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(join(to, "index.json"), indexText({ format: "bootproof-conformance/1", common: sorted, cases }));
  for (const name of ["README.md", "schemas"])
    if (existsSync(join(root, name))) cpSync(join(root, name), join(to, name), { recursive: true });
  return cases.length;
}

/** The line of the index. */
function writeCase(to, { pieces, input, expected, ...about }) {
  const { name, folder, category, about: sentence, root, origin, from } = about;
  const contents = Object.entries(pieces).map(([path, piece]) => [path, bytesOf(`${folder}/${path}`, piece)]);
  contents.push(["input.json", textOf(fromFolder(input))], ["expected.json", textOf(expected)]);
  contents.sort(([a], [b]) => (a < b ? -1 : 1));
  const files = Object.fromEntries(contents.map(([path, bytes]) => [path, write(to, `${folder}/${path}`, bytes)]));
  return { name, folder, category, about: sentence, root, origin, from, files };
}

function bytesOf(path, { sha256, text, base64, parts }) {
  const whole =
    text ?? parts?.map((part) => (typeof part === "string" ? part : part.repeat.repeat(part.times))).join("");
  const bytes = whole === undefined ? Buffer.from(base64, "base64") : Buffer.from(whole);
  if (hashOf(bytes) !== sha256) throw new CorpusError(`${path}: its SHA-256 is not the recorded one`);
  return bytes;
}

/** Returns the SHA-256 of what it writes. */
function write(to, path, bytes) {
  if (!path.split("/").every((name) => PART.test(name))) throw new CorpusError(`${path}: not a path of a corpus`);
  mkdirSync(dirname(join(to, path)), { recursive: true });
  writeFileSync(join(to, path), bytes);
  return hashOf(bytes);
}

/** The corpus names common pieces from its top, a case's folder names them from below. */
function fromFolder(input) {
  const renamed = (path) => (path?.startsWith("common/") ? `../../${path}` : path);
  return Object.fromEntries(
    Object.entries(input).map(([member, value]) => {
      if (!NAMING.includes(member)) return [member, value];
      return [member, Array.isArray(value) ? value.map(renamed) : renamed(value)];
    }),
  );
}

/** A case a line, so that a difference shows which. */
export function indexText({ format, common, cases }) {
  const lines = cases.map((one) => `    ${JSON.stringify(one)}`).join(",\n");
  const head = JSON.stringify({ format, common }, null, 2).slice(0, -2);
  return `${head},\n  "cases": [\n${lines}\n  ]\n}\n`;
}

function textOf(value) {
  return Buffer.from(`${JSON.stringify(value, null, 1)}\n`);
}

function hashOf(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}

function main([to, ...more]) {
  if (to === undefined || more.length > 0) throw new CorpusError("usage: node test/conformance/unpack.mjs DIR");
  console.log(`${unpack(CORPUS, resolve(to))} cases in ${resolve(to)}`);
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url))
  try {
    main(process.argv.slice(2));
  } catch (error) {
    console.error(error instanceof CorpusError ? error.message : error);
    process.exitCode = 2;
  }
