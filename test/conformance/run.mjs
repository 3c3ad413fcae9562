/**
 * Holds a verifier against the corpus: `node test/conformance/run.mjs [OPTIONS] -- COMMAND ARGS…`. The corpus is
 * unpacked into a temporary folder first, unless it is unpacked already. The command is started once, reads the path of
 * a case's folder a line, and answers each with one line of JSON (`test-vectors/conformance/README.md`). Exits with 1
 * for a false accept or a false reject, and with 2 where there is no answer to compare.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { CORPUS, CorpusError, unpack } from "./unpack.mjs";

const USAGE =
  "usage: node test/conformance/run.mjs [--corpus DIR] [--strict] [--json FILE] [--timeout SECONDS] -- COMMAND ARGS…";
const VERDICTS = ["verified", "authentic", "rejected", "malformed", "in-force", "refused", "unsupported"];
/** The columns, in the order of the table. */
const OUTCOMES = ["agreed", "other reasons", "false accepts", "false rejects", "unsupported"];

/** What cannot go on: the command, or how it was called. */
class RunError extends Error {}

/** A version of a signed policy that has expired is in force, and nothing is accepted under it. */
const isAccepted = ({ verdict, current }) =>
  verdict === "verified" || verdict === "authentic" || (verdict === "in-force" && current !== "fail");

/**
 * How an answer stands to what is expected. `verified` in place of `authentic` says more than there is, and counts as a
 * false accept; `authentic` in place of `verified` says less, and counts as a false reject.
 */
export function outcomeOf(expected, answer) {
  if (answer.verdict === "unsupported") return "unsupported";
  if (isAccepted(answer)) return acceptedOutcome(expected, answer);
  if (isAccepted(expected)) return "false rejects";
  return answer.verdict === expected.verdict && sameReasons(expected, answer) ? "agreed" : "other reasons";
}

function acceptedOutcome(expected, answer) {
  if (answer.verdict === "in-force") return inForceOutcome(expected, answer);
  if (answer.verdict === expected.verdict) return "agreed";
  return expected.verdict === "verified" ? "false rejects" : "false accepts";
}

/** Another version than the expected one is a false accept: it may accept what the right one refuses. */
function inForceOutcome(expected, answer) {
  const isRight = ["version", "sha256"].every((name) => answer[name] === expected[name]);
  if (!isAccepted(expected) || !isRight) return "false accepts";
  return sameReasons(expected, answer) ? "agreed" : "other reasons";
}

/** Whether everything beside the verdict is the same, as far as it was answered. */
function sameReasons(expected, answer) {
  const named = Object.keys(expected).filter((name) => name !== "warned" && answer[name] !== undefined);
  return named.every((name) =>
    name === "failed"
      ? idsOf(answer.failed) === idsOf(expected.failed)
      : isDeepStrictEqual(answer[name], expected[name]),
  );
}

function idsOf(failed) {
  return [...new Set(failed)].sort().join();
}

function readAnswer(line, folder) {
  let answer;
  try {
    answer = JSON.parse(line);
  } catch {
    throw new RunError(`${folder}: the answer is not JSON: ${line.slice(0, 200)}`);
  }
  const { verdict, failed, reason } = answer ?? {};
  if (!VERDICTS.includes(verdict))
    throw new RunError(`${folder}: the answer's verdict is none of ${VERDICTS.join(", ")}: ${line.slice(0, 200)}`);
  if (failed !== undefined && !(Array.isArray(failed) && failed.every((id) => typeof id === "string")))
    throw new RunError(`${folder}: failed: expected a list of ids`);
  if (verdict === "in-force" && !("version" in answer && "sha256" in answer && "current" in answer))
    throw new RunError(`${folder}: in-force: expected the version, its sha256, and current`);
  if (verdict === "refused" && typeof answer.code !== "string")
    throw new RunError(`${folder}: refused: expected a code`);
  if (verdict === "unsupported" && typeof reason !== "string")
    throw new RunError(`${folder}: unsupported: expected a reason`);
  return answer;
}

/** The command, which is asked one case at a time. */
class Verifier {
  #child;
  #lines;
  #end;
  #timeout;

  constructor([command, ...args], timeout) {
    this.#child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.#timeout = timeout;
    this.#end = new Promise((settle) => {
      this.#child.on("error", (error) => settle(`it could not be started: ${error.message}`));
      this.#child.on("close", (code, signal) => settle(`it ended (${signal ?? code})`));
    });
    // What it has not read any more is told by its end.
    this.#child.stdin.on("error", () => {});
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  async ask(folder) {
    this.#child.stdin.write(`${folder}\n`);
    let timer;
    const late = new Promise((settle) => {
      timer = setTimeout(() => settle(`no answer within ${this.#timeout} s`), 1000 * this.#timeout);
    });
    const line = this.#lines.next().then(({ done, value }) => (done ? this.#end : { value }));
    const answer = await Promise.race([line, late]);
    clearTimeout(timer);
    if (typeof answer === "string") throw new RunError(`${folder}: ${answer}`);
    return readAnswer(answer.value, folder);
  }

  stop() {
    this.#child.stdin.end();
    this.#child.kill();
  }
}

/** Calls `use` with the folder of the unpacked corpus. */
async function withFolders(corpus, use) {
  if (existsSync(join(corpus, "index.json"))) return use(corpus);
  const folders = mkdtempSync(join(tmpdir(), "bootproof-corpus-"));
  try {
    unpack(corpus, folders);
    return await use(folders);
  } finally {
    rmSync(folders, { recursive: true });
  }
}

/** The results, a case each: its category, what was expected and answered, and the outcome. */
async function run(corpus, command, timeout) {
  const index = JSON.parse(readFileSync(join(corpus, "index.json"), "utf8"));
  if (index.format !== "bootproof-conformance/1") throw new RunError(`${corpus}: a corpus of another format`);
  const verifier = new Verifier(command, timeout);
  const results = [];
  try {
    for (const { folder, category } of index.cases) {
      const expected = JSON.parse(readFileSync(join(corpus, folder, "expected.json"), "utf8"));
      const answer = await verifier.ask(join(corpus, folder));
      results.push({ folder, category, expected, answer, outcome: outcomeOf(expected, answer) });
    }
  } finally {
    verifier.stop();
  }
  return results;
}

function count(results, outcome, category) {
  return results.filter((one) => one.outcome === outcome && (category === null || one.category === category)).length;
}

function table(results) {
  const categories = [...new Set(results.map(({ category }) => category))].sort();
  const row = (name, category) => [name, ...OUTCOMES.map((outcome) => String(count(results, outcome, category)))];
  const rows = [["category", ...OUTCOMES], ...categories.map((name) => row(name, name)), row("all", null)];
  const widths = rows[0].map((_, column) => Math.max(...rows.map((cells) => cells[column].length)));
  const line = (cells) => cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[at])));
  return rows.map((cells) => line(cells).join("  ").trimEnd()).join("\n");
}

function differences(results) {
  const told = results.filter(({ outcome }) => outcome !== "agreed" && outcome !== "unsupported");
  const words = ({ verdict, failed = [], version, current, code, reason }) =>
    [verdict, failed.join(", "), version, current, code, reason].filter(Boolean).join(": ");
  return told.map(
    ({ folder, outcome, expected, answer }) =>
      `${outcome.replace(/s$/, "")}  ${folder}\n  expected ${words(expected)}\n  answered ${words(answer)}`,
  );
}

function readOptions(argv) {
  const at = argv.indexOf("--");
  const command = at < 0 ? [] : argv.slice(at + 1);
  if (command.length === 0) throw new RunError(USAGE);
  try {
    const { values } = parseArgs({
      args: argv.slice(0, at),
      options: {
        corpus: { type: "string", default: CORPUS },
        strict: { type: "boolean", default: false },
        json: { type: "string" },
        timeout: { type: "string", default: "60" },
      },
    });
    if (!(Number(values.timeout) > 0)) throw new RunError("--timeout: expected seconds");
    return { ...values, command, corpus: resolve(values.corpus), timeout: Number(values.timeout) };
  } catch (error) {
    throw new RunError(`${error.message}\n${USAGE}`);
  }
}

async function main(argv) {
  const { corpus, command, strict, json, timeout } = readOptions(argv);
  const results = await withFolders(corpus, (folders) => run(folders, command, timeout));
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(results, null, 1)}\n`);
  console.log([...differences(results), table(results)].join("\n\n"));
  const wrong = ["false accepts", "false rejects", ...(strict ? ["other reasons", "unsupported"] : [])];
  return wrong.some((outcome) => count(results, outcome, null) > 0) ? 1 : 0;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof RunError || error instanceof CorpusError ? error.message : error);
  process.exitCode = 2;
}
