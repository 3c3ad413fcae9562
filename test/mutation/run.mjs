/**
 * Mutation testing of what decides: `npm run test:mutation`, or `-- --file src/verify/addresses.ts` for some of it, and
 * `-- --test test/verify/` for some of the tests. Each mutant is one small change of the sources; a test has to notice
 * it. What none notices is listed in survivors.json with the reason; any other survivor is a failure.
 *
 * A run goes on where an earlier one ended: what was killed is known as long as its source is the same. `--fresh`
 * forgets it, `--thorough` runs each survivor with every test that it changes something in. All of it takes hours, on
 * one core.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import ts from "typescript";
import { keyOf, mutate } from "./mutants.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const MUTATED = ["src/verify", "src/appraise"];
/** These start processes, which run the built package, or measure what they do: no mutant is noticed in them. */
const LEFT_OUT = new RegExp(
  "^test/(?:browser|bench|mutation|support|runtimes|package|decode)/|^test/lab/(?:command|store)|" +
    "^test/cli/end-to-end|^test/verify/cost\\.|^test/(?:cost|soak|rooms|room-|citations|flip-every-byte)",
);
/** These load the library anew with another cryptography: each has a process of its own, as in vitest.config.ts. */
const ALONE = JSON.parse(readFileSync(new URL("../alone.json", import.meta.url), "utf8"));
/** Before the others: they cost little and kill much. */
const FIRST = [
  "test/attacks/accepted.test.ts",
  "test/verify/",
  "test/appraise/questions",
  "test/appraise/pins",
  "test/appraise/policy",
  "test/appraise/",
  "test/attacks/attacks.test.ts",
  "test/attacks/",
];
/**
 * A test that takes longer than the first limit runs for what the quick ones left, in a pass of its own. The passes
 * overlap: a test that took too long for the first may take less in the second, and would run in none.
 */
const PASSES = [
  { name: "quick tests", quickest: 0, slowest: 60, budget: 60_000, most: 30 },
  { name: "slow tests", quickest: 20, slowest: 5000, budget: 60_000, most: 5 },
];
/** A mutant with which nothing happens for so long is killed: by the time it takes. */
const STALLED_MS = 60_000;

const { values: options } = parseArgs({
  options: {
    file: { type: "string", multiple: true, default: [] },
    test: { type: "string", multiple: true, default: [] },
    fresh: { type: "boolean", default: false },
    thorough: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    "skip-static": { type: "boolean", default: false },
  },
});
const directory = join(ROOT, "coverage", "mutation");
const path = (name) => join(directory, name);
const readJson = (name, absent) => (existsSync(path(name)) ? JSON.parse(readFileSync(path(name), "utf8")) : absent);
const writeJson = (name, value) => writeFileSync(path(name), JSON.stringify(value));

function digest(text) {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

function filesOf(folder, ending) {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .map((file) => `${folder}/${file.replaceAll("\\", "/")}`)
    .filter((file) => file.endsWith(ending))
    .sort();
}

/** All mutants of the files, and the text of each file that holds them. */
function mutantsOf(files) {
  const { config } = ts.readConfigFile(join(ROOT, "tsconfig.json"), ts.sys.readFile);
  const parsed = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const program = ts.createProgram(parsed.fileNames, parsed.options);
  const [mutants, codes, digests] = [[], {}, {}];
  for (const file of files) {
    const made = mutate(program, file, join(ROOT, file), mutants.length);
    mutants.push(...made.mutants);
    codes[file] = made.code;
    digests[file] = digest(readFileSync(join(ROOT, file)));
  }
  return { mutants, codes, digests };
}

/** One process of the tests. Answers whether they passed; `stalled` says when it has to end early. */
function runTests(tests, more, stalled) {
  return new Promise((resolve) => {
    writeJson("tests.json", tests);
    rmSync(path("current"), { force: true });
    const argv = [
      join(ROOT, "node_modules/vitest/vitest.mjs"),
      ...["run", "--config", join(ROOT, "test/mutation/vitest.config.ts"), "--reporter", "dot", ...more],
    ];
    const env = { ...process.env, MUTATION_DIRECTORY: directory };
    const child = spawn(process.execPath, argv, { cwd: ROOT, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    let output = "";
    const keep = (text) => (output = (output + text).slice(-20_000));
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    const since = Date.now();
    const watch = setInterval(() => {
      if (!stalled(since)) return;
      clearInterval(watch);
      process.kill(-child.pid, "SIGKILL");
    }, 1000);
    child.on("exit", (code) => {
      clearInterval(watch);
      resolve({ passed: code === 0, output });
    });
  });
}

/** The mutant that a test is run with, and since when; -1 for none. */
function current() {
  if (!existsSync(path("current"))) return { id: -1, since: Date.now() };
  return { id: Number(readFileSync(path("current"), "utf8") || "-1"), since: statSync(path("current")).mtimeMs };
}

function told() {
  if (!existsSync(path("told.jsonl"))) return [];
  const lines = readFileSync(path("told.jsonl"), "utf8").split("\n");
  return lines.filter((line) => line.endsWith("}")).map((line) => JSON.parse(line));
}

/** What an interrupted run told, and did not keep. */
function recover() {
  const keys = readJson("keys.json", []);
  const { digests = {}, killed = {} } = readJson("known.json", {});
  for (const [file, now] of Object.entries(readJson("digests.json", {}))) {
    if (digests[file] === now) continue;
    digests[file] = now;
    for (const key of Object.keys(killed)) if (key.startsWith(`${file} | `)) Reflect.deleteProperty(killed, key);
  }
  for (const { killed: ids = [], by } of told()) for (const id of ids) killed[keys[id]] = by;
  writeJson("known.json", { digests, killed });
  rmSync(path("told.jsonl"), { force: true });
}

/** What is known of the mutants, by key; of files that are still the same. */
class Known {
  constructor(mutants, ofThese) {
    this.mutants = mutants;
    this.digests = ofThese;
    const { digests = {}, killed = {} } = options.fresh ? {} : readJson("known.json", {});
    this.others = { digests, killed };
    /** By test file: the mutants that it comes by outside of tests, and the files of all that it comes by. */
    this.outside = new Map();
    this.reaches = new Map();
    const isSame = ({ file }) => digests[file] === this.digests[file];
    const keep = mutants.filter((mutant) => isSame(mutant) && killed[keyOf(mutant)] !== undefined);
    this.killed = new Map(keep.map((mutant) => [keyOf(mutant), killed[keyOf(mutant)]]));
  }

  kill(id, by) {
    this.killed.set(keyOf(this.mutants[id]), by);
  }

  get alive() {
    return [...this.mutants.keys()].filter((id) => !this.killed.has(keyOf(this.mutants[id])));
  }

  save() {
    const mine = (key) => Object.hasOwn(this.digests, key.split(" | ", 1)[0]);
    const others = Object.entries(this.others.killed).filter(([key]) => !mine(key));
    writeJson("known.json", {
      digests: { ...this.others.digests, ...this.digests },
      killed: Object.fromEntries([...others, ...this.killed]),
    });
  }
}

async function runPass(pass, tests, known) {
  await runGroup(
    pass,
    tests.filter((test) => !ALONE.includes(test)),
    known,
  );
  for (const test of tests.filter((one) => ALONE.includes(one))) await runGroup(pass, [test], known);
}

async function runGroup({ name, most, ...limits }, tests, known) {
  let left = tests;
  while (left.length > 0 && known.alive.length > 0) {
    rmSync(path("told.jsonl"), { force: true });
    const { alive, mutants } = known;
    writeJson("plan.json", { count: mutants.length, alive, ...limits, most: options.thorough ? 1e9 : most });
    let isStalled = false;
    const { passed, output } = await runTests(left, [], () => {
      const { id, since } = current();
      isStalled = id >= 0 && Date.now() - since > STALLED_MS;
      if (isStalled) known.kill(id, "the time it takes");
      return isStalled;
    });
    const { done, broken } = listen(known);
    known.save();
    const [before] = [left.length, (left = left.filter((test) => !done.has(test) || broken.has(test)))];
    console.log(`${new Date().toISOString()} ${name}: ${known.alive.length} living, ${left.length} files to go`);
    // What one mutant left behind breaks the tests after it: those begin anew, in another process.
    if (isStalled || (left.length > 0 && left.length < before)) continue;
    if (!passed) console.log(`Tests failed without a mutant:\n${output.slice(-4000)}`);
    return;
  }
}

/** Takes over what a process told. Answers the test files that it was done with, and those that failed as they are. */
function listen(known) {
  const [done, broken] = [new Set(), new Set()];
  for (const { killed = [], by, file, outside = [], inside = [], suspected = [], unrepeatable, ...rest } of told()) {
    if (rest.broken !== undefined) broken.add(rest.broken);
    for (const id of killed) known.kill(id, by);
    const test = file ?? unrepeatable?.split(": ", 1)[0];
    if (test !== undefined)
      known.outside.set(test, new Set([...(known.outside.get(test) ?? []), ...outside, ...suspected]));
    if (unrepeatable !== undefined) console.log(`  cannot be run twice: ${unrepeatable}`);
    if (rest.unfinished !== undefined) console.log(`  out of time: ${rest.unfinished}, ${rest.left} mutants left`);
    if (file === undefined) continue;
    done.add(file);
    known.reaches.set(file, new Set([...outside, ...inside].map((id) => known.mutants[id].file)));
  }
  return { done, broken };
}

/** Each mutant that is come by outside of tests, in a process in which it is active from the start. */
async function runAlone(tests, known) {
  const isOutside = (id) => [...known.outside.values()].some((ids) => ids.has(id));
  const ids = known.alive.filter(isOutside);
  if (ids.length === 0) return;
  const failsWith = async (id, chosen) => {
    writeJson("plan.json", { count: known.mutants.length, only: id, alive: [] });
    const { passed, output } = await runTests(chosen, ["--bail", "1"], (since) => Date.now() - since > 10 * STALLED_MS);
    return passed ? null : output;
  };
  const broken = await failsWith(known.mutants.length, tests);
  if (broken !== null) throw new Error(`tests fail without a mutant:\n${broken}`);
  for (const [index, id] of ids.entries()) {
    const { file } = known.mutants[id];
    const near = tests.filter((test) => known.outside.get(test)?.has(id));
    const chosen = [...new Set([...near, ...tests.filter((test) => known.reaches.get(test)?.has(file))])];
    if ((await failsWith(id, chosen)) !== null) known.kill(id, "a process of its own");
    known.save();
    if (index % 10 === 9) console.log(`  ${index + 1} of ${ids.length}, ${known.alive.length} living`);
  }
}

function testFiles() {
  const all = filesOf("test", ".test.ts").filter((file) => !LEFT_OUT.test(file));
  const wanted = all.filter((file) => options.test.length === 0 || options.test.some((part) => file.includes(part)));
  const placeOf = (file) => FIRST.findIndex((start) => file.startsWith(start)) >>> 0;
  return wanted.sort((a, b) => placeOf(a) - placeOf(b));
}

/** The survivors that are not listed, and the listed ones that are none. */
function compared(known) {
  const listed = JSON.parse(readFileSync(new URL("survivors.json", import.meta.url), "utf8"));
  const inScope = listed.filter(({ file }) => Object.hasOwn(known.digests, file));
  const keys = new Set(inScope.map(keyOf));
  const living = known.alive.map((id) => known.mutants[id]);
  const livingKeys = new Set(living.map(keyOf));
  return {
    living,
    unlisted: living.filter((mutant) => !keys.has(keyOf(mutant))),
    stale: inScope.filter((mutant) => !livingKeys.has(keyOf(mutant))),
  };
}

function report(known) {
  const { living, unlisted, stale } = compared(known);
  for (const file of Object.keys(known.digests)) {
    const [all, left] = [known.mutants, living].map((list) => list.filter((mutant) => mutant.file === file).length);
    console.log(`${`${(100 * (1 - left / all)).toFixed(1)} %`.padStart(8)}  ${all - left} of ${all}  ${file}`);
  }
  const count = known.mutants.length;
  const killed = count - living.length;
  console.log(
    `${killed} of ${count} mutants killed: ${((100 * killed) / count).toFixed(1)} %; ${living.length} survived, ` +
      `${unlisted.length} of them unlisted`,
  );
  for (const { line, ...mutant } of unlisted)
    console.log(`SURVIVED ${mutant.file}:${line}\n  ${JSON.stringify(mutant)}`);
  for (const mutant of stale) console.log(`LISTED, but killed or not there: ${JSON.stringify(mutant)}`);
  return unlisted.length === 0 && stale.length === 0;
}

async function main() {
  mkdirSync(directory, { recursive: true });
  recover();
  const files = options.file.length > 0 ? options.file : MUTATED.flatMap((folder) => filesOf(folder, ".ts"));
  const { mutants, codes, digests } = mutantsOf(files);
  writeJson("codes.json", codes);
  writeJson("digests.json", digests);
  writeJson("keys.json", mutants.map(keyOf));
  const known = new Known(mutants, digests);
  const tests = testFiles();
  console.log(`${mutants.length} mutants of ${files.length} files, ${known.alive.length} living`);
  if (!options.list) {
    for (const pass of PASSES) await runPass(pass, tests, known);
    if (!options["skip-static"]) await runAlone(tests, known);
  }
  process.exitCode = report(known) ? 0 : 1;
}

await main();
