/**
 * Mutation testing: `npm run test:mutation` of what decides, `-- --room diff` of another row of rooms.mjs, `-- --file
 * src/verify/addresses.ts` of one file, `-- --test test/verify/` with some of the tests. Each mutant is one small
 * change of the sources, which a test has to fail with. survivors.json lists those that no test can kill, each with the
 * reason. Any other survivor is a failure, and is written to coverage/mutation/survivors.txt.
 *
 * `--sample 100 --seed 1` estimates the score from 100 mutants. The seed and a mutant's key decide whether the sample
 * has it, so a change elsewhere leaves the sample as it is.
 *
 * A run continues an earlier one: a killed mutant stays killed as long as its source is the same. `--fresh` forgets
 * them, `--thorough` runs each survivor with every test that it changes something in. All of it takes hours, on one
 * core.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import ts from "typescript";
import { keyOf, mutate } from "./mutants.mjs";
import { DECIDING, ROOMS, roomOf } from "./rooms.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** These start processes, which run the built package, or measure what they do: no mutant is noticed in them. */
const LEFT_OUT = new RegExp(
  "^test/(?:browser|bench|mutation|support|runtimes|package|decode)/|^test/lab/(?:command|store)|" +
    "^test/cli/end-to-end|^test/verify/cost\\.|^test/(?:cost|soak|rooms|room-|citations|flip-every-byte)",
);
/** These load the library anew with another cryptography: each has a process of its own, as in vitest.config.ts. */
const ALONE = JSON.parse(readFileSync(new URL("../alone.json", import.meta.url), "utf8"));
/** A test that takes longer than the first limit runs in the second pass, with what the quick ones left. */
const PASSES = [
  { name: "quick tests", slowest: 60, budget: 60_000, most: 30 },
  { name: "slow tests", slowest: 5000, budget: 60_000, most: 5 },
];
/** Runs each test once, for the mutants that it reaches. */
const REACH = { name: "reached", slowest: 0, budget: 0, most: 0 };
/** A mutant with which nothing happens for so long is killed: by the time it takes. */
const STALLED_MS = 60_000;

const { values: options } = parseArgs({
  options: {
    room: { type: "string", multiple: true, default: [] },
    file: { type: "string", multiple: true, default: [] },
    sample: { type: "string" },
    seed: { type: "string", default: "1" },
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
  constructor(mutants, ofThese, sample) {
    this.mutants = mutants;
    this.digests = ofThese;
    /** The ids of the mutants that are run and counted. */
    this.sample = sample;
    const { digests = {}, killed = {} } = options.fresh ? {} : readJson("known.json", {});
    this.others = { digests, killed };
    /** By test file: the mutants that it comes by outside of tests, and the files of all that it comes by. */
    this.outside = new Map();
    this.reaches = new Map();
    /** The ids of the tests that ran with mutants. */
    this.tried = new Set();
    const isSame = ({ file }) => digests[file] === this.digests[file];
    const keep = mutants.filter((mutant) => isSame(mutant) && killed[keyOf(mutant)] !== undefined);
    this.killed = new Map(keep.map((mutant) => [keyOf(mutant), killed[keyOf(mutant)]]));
  }

  /** How many mutants each test file has killed. */
  get killedBy() {
    const counts = new Map();
    for (const by of [...Object.values(this.others.killed), ...this.killed.values()]) {
      const [test] = by.split(": ", 1);
      counts.set(test, (counts.get(test) ?? 0) + 1);
    }
    return counts;
  }

  kill(id, by) {
    this.killed.set(keyOf(this.mutants[id]), by);
  }

  get alive() {
    return this.sample.filter((id) => !this.killed.has(keyOf(this.mutants[id])));
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
    const tried = [...known.tried];
    writeJson("plan.json", { count: mutants.length, alive, tried, ...limits, most: options.thorough ? 1e9 : most });
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
    if (rest.tried !== undefined) known.tried.add(rest.tried);
    for (const id of killed) known.kill(id, by);
    const test = file ?? unrepeatable?.split(": ", 1)[0];
    const apart = known.processEach ? inside : [];
    if (test !== undefined)
      known.outside.set(test, new Set([...(known.outside.get(test) ?? []), ...outside, ...suspected, ...apart]));
    if (unrepeatable !== undefined) console.log(`  cannot be run twice: ${unrepeatable}`);
    if (rest.unfinished !== undefined) console.log(`  out of time: ${rest.unfinished}, ${rest.left} mutants left`);
    if (file === undefined) continue;
    done.add(file);
    known.reaches.set(file, new Set([...outside, ...inside].map((id) => known.mutants[id].file)));
  }
  return { done, broken };
}

/** How many mutants share a process in which the modules are loaded anew for each. */
const GROUP = 20;
/** After so long the other tests of a file are left out, except with `--thorough`. */
const STEP_BUDGET_MS = 10_000;

/** Each mutant that is reached outside of tests, with the test files that reach it loaded anew. */
async function runAnew(tests, known) {
  const outside = known.alive.filter((id) => [...known.outside.values()].some((ids) => ids.has(id)));
  const jobs = outside.map((id) => ({ id, tests: testsOf(id, tests, known) }));
  for (let at = 0; at < jobs.length; at += GROUP) {
    const group = jobs.slice(at, at + GROUP);
    const { killed, spoilt } = await runGroupAnew(group, known);
    // Tests that fail without a mutant, in the end, failed for what an earlier mutant left behind.
    const again = spoilt ? group.filter(({ id }) => killed.has(id)) : [];
    for (const job of again) {
      const alone = await runGroupAnew([job], known);
      if (!alone.spoilt) for (const [id, by] of alone.killed) known.kill(id, by);
    }
    if (!spoilt) for (const [id, by] of killed) known.kill(id, by);
    known.save();
    console.log(`  ${Math.min(at + GROUP, jobs.length)} of ${jobs.length} anew, ${known.alive.length} living`);
  }
}

/** First those that the mutant changes something in outside of their tests, then those that reach its file. */
function testsOf(id, tests, known) {
  const near = tests.filter((test) => known.outside.get(test)?.has(id));
  const { file } = known.mutants[id];
  const others = known.processEach ? [] : tests.filter((test) => known.reaches.get(test)?.has(file));
  return [...new Set([...near, ...others])];
}

async function runGroupAnew(jobs, known) {
  const files = [...new Set(jobs.flatMap(({ tests }) => tests))];
  const killed = new Map();
  let spoilt = false;
  for (let left = jobs; left.length > 0;) {
    const steps = [
      ...left.flatMap(({ id, tests }) => tests.map((test) => ({ id, test }))),
      ...files.map((test) => ({ id: -1, test })),
    ];
    let stalled = -1;
    await runTests(stepFiles(steps, known), [], () => {
      const { id, since } = current();
      if (id >= 0 && Date.now() - since > STALLED_MS) stalled = id;
      return stalled >= 0;
    });
    for (const { killed: ids = [], by, spoilt: failing } of told()) {
      for (const id of ids) killed.set(id, by);
      if (failing !== undefined) console.log(`  fails without a mutant, too: ${failing}`);
      spoilt ||= failing !== undefined;
    }
    if (stalled >= 0) killed.set(stalled, "the time it takes");
    left = stalled < 0 ? [] : left.slice(left.findIndex(({ id }) => id === stalled) + 1);
  }
  return { killed, spoilt };
}

/** Writes a file for each step, which imports the step's test file. */
function stepFiles(steps, known) {
  const folder = path("steps");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  rmSync(path("told.jsonl"), { force: true });
  const budget = options.thorough ? 1e9 : STEP_BUDGET_MS;
  writeJson("plan.json", { count: known.mutants.length, alive: [], steps, budget });
  return steps.map(({ test }, index) => {
    const name = `${String(index).padStart(6, "0")}.test.ts`;
    writeFileSync(join(folder, name), `import "../../../${test}";\n`);
    return `coverage/mutation/steps/${name}`;
  });
}

/** The tests of the rooms: in their order, and where that is the same, first those that killed most. */
function testFiles(rooms, known) {
  const order = rooms.flatMap((room) => ROOMS[room].tests);
  const placeOf = (file) => order.findIndex((start) => file.startsWith(start));
  const wanted = (file) => options.test.length === 0 || options.test.some((part) => file.includes(part));
  const files = filesOf("test", ".test.ts").filter((file) => placeOf(file) >= 0 && wanted(file));
  const killed = known.killedBy;
  const killsOf = (file) => killed.get(file) ?? 0;
  return files
    .filter((file) => !LEFT_OUT.test(file))
    .sort((a, b) => placeOf(a) - placeOf(b) || killsOf(b) - killsOf(a));
}

function chosenRooms() {
  const unknown = options.room.find((room) => !Object.hasOwn(ROOMS, room));
  if (unknown !== undefined) throw new Error(`no room ${unknown}: ${Object.keys(ROOMS).join(", ")}`);
  if (options.room.length > 0 || options.file.length === 0) return options.room.length > 0 ? options.room : DECIDING;
  return [...new Set(options.file.map((file) => roomOf(file) ?? DECIDING[0]))];
}

/** The ids of the mutants that the run is of: all, or those of the sample. */
function sampleOf(mutants) {
  const ids = [...mutants.keys()];
  if (options.sample === undefined) return ids;
  const rank = ids.map((id) => digest(`${options.seed} ${keyOf(mutants[id])}`));
  const sample = ids.sort((a, b) => (rank[a] < rank[b] ? -1 : 1)).slice(0, Number(options.sample));
  return sample.sort((a, b) => a - b);
}

/** The survivors that are not listed, and the listed ones that are none. */
function compared(known) {
  const listed = JSON.parse(readFileSync(new URL("survivors.json", import.meta.url), "utf8"));
  const keys = new Set(listed.map(keyOf));
  const living = known.alive.map((id) => known.mutants[id]);
  const all = new Set(known.mutants.map(keyOf));
  const dead = new Set(known.sample.map((id) => keyOf(known.mutants[id])).filter((key) => known.killed.has(key)));
  return {
    living,
    unlisted: living.filter((mutant) => !keys.has(keyOf(mutant))),
    stale: listed.filter((mutant) => {
      const key = keyOf(mutant);
      return Object.hasOwn(known.digests, mutant.file) && (dead.has(key) || !all.has(key));
    }),
  };
}

function report(rooms, known) {
  const { living, unlisted, stale } = compared(known);
  const sample = known.sample.map((id) => known.mutants[id]);
  for (const file of Object.keys(known.digests)) {
    const [all, left] = [sample, living].map((list) => list.filter((mutant) => mutant.file === file).length);
    if (all > 0) console.log(`${percent(all - left, all).padStart(8)}  ${all - left} of ${all}  ${file}`);
  }
  const [count, killed] = [sample.length, sample.length - living.length];
  const drawn = options.sample === undefined ? "" : ` (of ${known.mutants.length}, seed ${options.seed})`;
  console.log(
    `${rooms.join(", ")}: ${killed} of ${count} mutants${drawn} killed: ${percent(killed, count)}; ` +
      `${living.length} survived, ${unlisted.length} of them unlisted`,
  );
  const lines = unlisted.map(
    ({ line, ...mutant }) =>
      `${mutant.file}:${line}  ${mutant.mutation}  ${mutant.source}\n  ${JSON.stringify(mutant)}`,
  );
  if (!options.list) writeFileSync(path("survivors.txt"), lines.map((line) => `${line}\n`).join(""));
  for (const line of lines) console.log(`SURVIVED ${line}`);
  for (const mutant of stale) console.log(`LISTED, but killed or not there: ${JSON.stringify(mutant)}`);
  return unlisted.length === 0 && stale.length === 0;
}

function percent(part, whole) {
  return `${((100 * part) / whole).toFixed(1)} %`;
}

async function main() {
  mkdirSync(directory, { recursive: true });
  if (!options.list) recover();
  const rooms = chosenRooms();
  const ofRooms = () => filesOf("src", ".ts").filter((file) => rooms.includes(roomOf(file)));
  const { mutants, codes, digests } = mutantsOf(options.file.length > 0 ? options.file : ofRooms());
  const known = new Known(mutants, digests, sampleOf(mutants));
  const tests = testFiles(rooms, known);
  const { length } = known.sample;
  console.log(
    `${length} of ${mutants.length} mutants of ${Object.keys(codes).length} files, ${known.alive.length} living`,
  );
  if (!options.list) {
    writeJson("codes.json", codes);
    writeJson("digests.json", digests);
    writeJson("keys.json", mutants.map(keyOf));
    known.processEach = rooms.some((room) => ROOMS[room].processEach);
    for (const pass of known.processEach ? [REACH] : PASSES) await runPass(pass, tests, known);
    if (!options["skip-static"]) await runAnew(tests, known);
  }
  process.exitCode = report(rooms, known) ? 0 : 1;
}

await main();
