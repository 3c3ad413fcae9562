/**
 * Mutation testing: `npm run test:mutation` of what decides, `-- --room diff` of another folder of src/, `-- --file
 * src/verify/addresses.ts` of one file. Each mutant is one small change of a source, made in a copy of the repository,
 * and a test there has to fail with it. survivors.json lists those that no test can kill, each with the reason. Any
 * other survivor is a failure, and is written to coverage/mutation/survivors.txt.
 *
 * `--sample 100 --seed 1` takes 100 of the mutants. The seed and a mutant's key decide whether the sample has it, so a
 * change elsewhere leaves the sample as it is. `--list` runs nothing. A mutant stays killed as long as its source is
 * the same: coverage/mutation/killed.json has the killed ones.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import ts from "typescript";
import { ROOT, trackedFiles } from "../tracked.mjs";
import { keyOf, mutantsOf } from "./mutants.mjs";

/** The rooms of a run that names none: what decides. */
const DECIDING = ["verify", "appraise"];
/** Tests that hold a room, beside those of its own folder. After these the whole first tier runs. */
const BESIDE = {
  decode: ["test/attacks/", "test/verify/"],
  verify: ["test/attacks/", "test/appraise/"],
  appraise: ["test/attacks/", "test/verify/", "test/cli/policy", "test/cli/pin"],
  exchange: ["test/client/", "test/adapters/", "test/proxy/"],
  page: ["test/attacks/beside"],
  review: ["test/diff/"],
};
const PROJECTS = ["fast", "thorough", "alone"].flatMap((name) => ["--project", name]);
/** A mutant with which a stage of tests takes longer is killed by the time it takes. */
const STAGE_MS = 20 * 60_000;

const { values: options } = parseArgs({
  options: {
    room: { type: "string", multiple: true, default: [] },
    file: { type: "string", multiple: true, default: [] },
    sample: { type: "string" },
    seed: { type: "string", default: "1" },
    list: { type: "boolean" },
  },
});
const RESULTS = join(ROOT, "coverage/mutation/");
const KILLED = `${RESULTS}killed.json`;
const digest = (text) => createHash("sha256").update(text).digest("hex").slice(0, 16);
const textOf = (file) => readFileSync(join(ROOT, file), "utf8");
const roomOf = (file) => file.split("/")[1].replace(/\.ts$/, "");

function chosenFiles() {
  const sources = trackedFiles().filter((file) => /^src\/.*\.ts$/.test(file) && !file.endsWith(".d.ts"));
  const rooms = options.room.length + options.file.length > 0 ? options.room : DECIDING;
  const chosen = sources.filter((file) => options.file.includes(file) || rooms.includes(roomOf(file)));
  if (chosen.length === 0) throw new Error("expected a room or a file of src/");
  return chosen;
}

function allMutants(files) {
  const { config } = ts.readConfigFile(join(ROOT, "tsconfig.json"), ts.sys.readFile);
  const parsed = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const program = ts.createProgram(parsed.fileNames, parsed.options);
  return files.flatMap((file) => mutantsOf(program, file, join(ROOT, file)));
}

/** Makes a copy of the repository, for one mutant at a time. */
function copyOfRepository() {
  const copy = mkdtempSync(join(tmpdir(), "bootproof-mutation-"));
  for (const file of trackedFiles()) cpSync(join(ROOT, file), join(copy, file));
  // Some tests ask git which files there are.
  for (const words of [
    ["init", "-q"],
    ["add", "-A"],
  ])
    spawnSync("git", words, { cwd: copy });
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  return copy;
}

/** What runs for a room, one stage after the other. */
function stagesOf(room) {
  const own = existsSync(join(ROOT, "test", room)) ? `test/${room}/` : `test/${room}.test.ts`;
  return [[...PROJECTS, own], ...(BESIDE[room] ? [[...PROJECTS, ...BESIDE[room]]] : []), ["--project", "fast"]];
}

/** Whether all tests pass, in time. */
async function passes(copy, stages) {
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  for (const stage of stages) {
    const argv = [vitest, "run", "--bail", "1", "--maxWorkers", "1", "--passWithNoTests", ...stage];
    const child = spawn(process.execPath, argv, { cwd: copy, stdio: "ignore", detached: true });
    const timer = setTimeout(() => process.kill(-child.pid, "SIGKILL"), STAGE_MS);
    const [code] = await once(child, "exit");
    clearTimeout(timer);
    if (code !== 0) return false;
  }
  return true;
}

async function isKilled(copy, { file, start, end, by }) {
  const text = textOf(file);
  writeFileSync(join(copy, file), text.slice(0, start) + by + text.slice(end));
  const survives = await passes(copy, stagesOf(roomOf(file)));
  writeFileSync(join(copy, file), text);
  return !survives;
}

async function main() {
  const files = chosenFiles();
  const all = allMutants(files);
  const listed = JSON.parse(textOf("test/mutation/survivors.json"));
  const reasons = new Set(listed.map(keyOf));
  const isThere = (mutant) => all.some((one) => keyOf(one) === keyOf(mutant));
  const gone = listed.filter((mutant) => files.includes(mutant.file) && !isThere(mutant));
  const killed = new Set(existsSync(KILLED) ? JSON.parse(readFileSync(KILLED, "utf8")) : []);
  const idOf = (mutant) => `${digest(textOf(mutant.file))} ${keyOf(mutant)}`;
  const rank = (mutant) => digest(`${options.seed} ${keyOf(mutant)}`);
  const drawn = [...all].sort((a, b) => (rank(a) < rank(b) ? -1 : 1)).slice(0, options.sample);
  const sample = drawn.filter((mutant) => !reasons.has(keyOf(mutant)));
  const left = sample.filter((mutant) => !killed.has(idOf(mutant)));
  console.log(`${sample.length} of ${all.length} mutants in ${files.length} files, ${left.length} to run`);
  for (const mutant of gone) console.log(`LISTED, but not there: ${JSON.stringify(mutant)}`);
  if (options.list) return;

  mkdirSync(RESULTS, { recursive: true });
  const copies = Array.from({ length: Math.min(availableParallelism(), left.length) }, copyOfRepository);
  const survivors = [];
  const work = async (copy) => {
    for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
      if (await isKilled(copy, mutant)) killed.add(idOf(mutant));
      else survivors.push(`${mutant.file}:${mutant.line}  ${keyOf(mutant)}`);
      writeFileSync(KILLED, JSON.stringify([...killed]));
    }
  };
  try {
    for (const room of copies.length > 0 ? new Set(files.map(roomOf)) : [])
      if (!(await passes(copies[0], stagesOf(room)))) throw new Error(`tests fail without a mutant: ${room}`);
    await Promise.all(copies.map(work));
  } finally {
    for (const copy of copies) rmSync(copy, { recursive: true });
  }
  for (const line of survivors) console.log(`SURVIVED ${line}`);
  writeFileSync(`${RESULTS}survivors.txt`, survivors.map((line) => `${line}\n`).join(""));
  console.log(`${sample.length - survivors.length} of ${sample.length} mutants killed`);
  process.exitCode = survivors.length + gone.length > 0 ? 1 : 0;
}

await main();
