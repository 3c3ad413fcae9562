/**
 * Writes the cases that the corpus has not yet, and takes away those that it has no more. The keys of the lab are new
 * in each run, and so is what is forged with them: what is there stays as it is, unless `all` is asked for.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { toUtf8 } from "../../src/bytes.js";
import { CHECK_IDS } from "../../src/checks.js";
import type { JsonObject } from "../../src/decode/json.js";
import * as library from "../../src/index.js";
import * as signedPolicy from "../../src/signed-policy/index.js";
import { type Judged, judgeCase } from "./adapter.mjs";
import { type Case, type CaseFiles, type SignedCase, filesOf } from "./case.js";
import { type Index, type IndexedCase, aboutOf, allCases, folderOf, sha256 } from "./corpus.js";
import { commonOf, foldersIn, readIndex, sizeOf } from "./folders.js";
import { JOIN_FILE, joinText } from "./join-file.js";
import { TOKEN_FILE, tokenText } from "./token-file.js";
import { pack } from "./pack.js";
import { indexText, unpack } from "./unpack.mjs";

/** Of the corpus as it is kept. */
const MAX_BYTES = 12_500_000;

/** Unpacks the corpus, makes its cases, and packs it again. */
export async function makeCorpus(corpus: string, all: boolean): Promise<string> {
  const folders = mkdtempSync(join(tmpdir(), "bootproof-corpus-"));
  try {
    if (!all) unpack(corpus, folders);
    const made = await makeCases(folders, all);
    pack(folders, corpus);
    writeFileSync(join(corpus, JOIN_FILE), joinText());
    if (all) writeFileSync(join(corpus, TOKEN_FILE), tokenText());
    const size = sizeOf(corpus);
    if (size > MAX_BYTES) throw new RangeError(`the corpus has ${size} bytes, ${MAX_BYTES} at most`);
    return `${made}, ${size} bytes`;
  } finally {
    rmSync(folders, { recursive: true });
  }
}

async function makeCases(root: string, all: boolean): Promise<string> {
  const cases = allCases();
  const old = all || !existsSync(join(root, "index.json")) ? null : readIndex(root);
  // Signed policies have the same bytes in each run, so they are made anew.
  const lasting = old?.cases.filter(({ category }) => category !== "signed-policy") ?? [];
  const kept = new Map(lasting.map((one) => [one.name, one]));
  const missing = cases.filter(({ name }) => !kept.has(name));
  const made = new Map(missing.map((one) => [one, madeFiles(one)]));
  const shared = sharedNames(made, old);
  takeAway(root, new Set(cases.filter(({ name }) => kept.has(name)).map(folderOf)), all);
  const wrong: string[] = [];
  for (const [one, files] of made) wrong.push(...(await write(root, one, files, shared)));
  if (wrong.length > 0) throw new Error(`not as their tables say:\n${wrong.join("\n")}`);

  const indexed = cases.map((one) => kept.get(one.name) ?? indexedCase(root, one));
  const used = new Set(cases.flatMap((one) => commonOf(root, folderOf(one))));
  const paths = readdirSync(join(root, "common")).map((name) => `common/${name}`);
  for (const path of paths.filter((path) => !used.has(path))) rmSync(join(root, path));
  const index: Index = {
    format: "bootproof-conformance/1",
    common: Object.fromEntries([...used].sort().map((path) => [path, sha256(readFileSync(join(root, path)))])),
    cases: indexed,
  };
  writeFileSync(join(root, "index.json"), indexText(index));
  return `${indexed.length} cases, ${missing.length} of them made now`;
}

function madeFiles(one: Case | SignedCase): CaseFiles {
  return one.category === "signed-policy" ? one.make() : filesOf(one.make());
}

/** What more than one case holds is there once: names by SHA-256. */
function sharedNames(made: ReadonlyMap<Case | SignedCase, CaseFiles>, old: Index | null): Map<string, string> {
  const names = new Map(Object.entries(old?.common ?? {}).map(([path, hash]) => [hash, path]));
  const seen = new Set<string>();
  for (const { pieces } of made.values())
    for (const [name, content] of pieces) {
      const hash = sha256(content);
      if (content.length > 0 && seen.has(hash) && !names.has(hash)) names.set(hash, sharedName(name, hash));
      seen.add(hash);
    }
  return names;
}

function sharedName(name: string, hash: string): string {
  return `common/${name.replace(/(?:-\d+)?\./, `-${hash.slice(0, 12)}.`)}`;
}

function takeAway(root: string, kept: ReadonlySet<string>, all: boolean): void {
  mkdirSync(join(root, "common"), { recursive: true });
  if (all) rmSync(join(root, "common"), { recursive: true });
  mkdirSync(join(root, "common"), { recursive: true });
  for (const folder of foldersIn(root)) if (!kept.has(folder)) rmSync(join(root, folder), { recursive: true });
}

async function write(
  root: string,
  one: Case | SignedCase,
  { input, pieces }: CaseFiles,
  shared: ReadonlyMap<string, string>,
): Promise<string[]> {
  const folder = join(root, folderOf(one));
  if (existsSync(folder)) throw new Error(`two cases are called ${folderOf(one)}`);
  mkdirSync(folder, { recursive: true });
  const paths = new Map<string, string>();
  for (const [name, content] of pieces) {
    const path = shared.get(sha256(content));
    paths.set(name, path === undefined ? name : `../../${path}`);
    writeFileSync(join(folder, paths.get(name)!), content);
  }
  const named = Object.fromEntries(Object.entries(input).map(([member, value]) => [member, renamed(value, paths)]));
  writeFileSync(join(folder, "input.json"), textOf(named as JsonObject));
  const judged = await judgeCase({ ...library, ...signedPolicy }, folder);
  if (one.category === "signed-policy") return writeSigned(folder, one, judged);
  const { verdict, failed, warned } = judged as Judged;
  const wanted = CHECK_IDS.filter((id) => one.failed.includes(id));
  const same = one.more === true ? wanted.every((id) => failed.includes(id)) : wanted.join() === failed.join();
  if (verdict !== one.verdict || !same)
    return [`${one.name}: expected ${one.verdict} by ${wanted.join()}, ${verdict} by ${failed.join()}`];
  writeFileSync(join(folder, "expected.json"), textOf({ verdict, failed, warned }));
  return [];
}

function writeSigned(folder: string, one: SignedCase, judged: unknown): string[] {
  const expected = one.expected();
  writeFileSync(join(folder, "expected.json"), textOf(expected));
  if (isDeepStrictEqual(judged, expected)) return [];
  return [`${one.name}: expected ${JSON.stringify(expected)}, ${JSON.stringify(judged)}`];
}

function renamed(value: unknown, paths: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((one) => renamed(one, paths));
  return typeof value === "string" ? (paths.get(value) ?? value) : value;
}

function textOf(value: unknown): Uint8Array {
  return toUtf8(`${JSON.stringify(value, null, 1)}\n`);
}

function indexedCase(root: string, one: Case | SignedCase): IndexedCase {
  const folder = folderOf(one);
  const names = readdirSync(join(root, folder)).sort();
  return {
    name: one.name,
    folder,
    category: one.category,
    about: aboutOf(one),
    root: one.origin === "forged" ? "lab" : "aws",
    origin: one.origin,
    from: one.from,
    files: Object.fromEntries(names.map((name) => [name, sha256(readFileSync(join(root, folder, name)))])),
  };
}
