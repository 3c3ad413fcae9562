/** The command line in this process, and evidence in files. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { runAny as run } from "../../src/cli/commands.js";
import type { Report } from "../../src/report/report.js";

/** The present of all tests: a day after the captured boot proofs. */
export const NOW = "2025-09-17T21:00:00.000Z";

export interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Surroundings {
  readonly stdin?: Uint8Array | string;
  readonly env?: Record<string, string>;
  /** Of stdout and stderr. */
  readonly isTTY?: boolean;
  /** Of the terminal. */
  readonly columns?: number;
  readonly rows?: number;
  readonly now?: string;
}

/** Runs one command line, in one process with the test. */
export async function bootproof(argv: readonly string[], surroundings: Surroundings = {}): Promise<Answer> {
  const { stdin = "", env = {}, isTTY = false, now = NOW, columns = 0, rows = 0 } = surroundings;
  let stdout = "";
  let stderr = "";
  const code = await run(argv, {
    stdin: inChunks(Buffer.from(stdin as string)),
    stdout: { write: (text) => (stdout += text), isTTY, columns, rows },
    stderr: { write: (text) => (stderr += text), isTTY, columns },
    env,
    now: () => new Date(now),
  });
  return { code, stdout, stderr };
}

/** Expects an exit code, nothing on stdout, and these words on stderr, which it returns. */
export async function refusal(
  code: number,
  answer: Promise<Answer>,
  ...says: readonly (string | RegExp)[]
): Promise<string> {
  const { stderr, ...others } = await answer;
  expect(others, stderr).toEqual({ code, stdout: "" });
  for (const words of says) expect(stderr).toMatch(words);
  return stderr;
}

/** Expects the same, and returns nothing. */
export async function refused(...given: Parameters<typeof refusal>): Promise<void> {
  await refusal(...given);
}

async function* inChunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
}

const directory = mkdtempSync(join(tmpdir(), "bootproof-cli-"));
let files = 0;

/**
 * A new file with the content (JSON of what is not text or bytes), and its path. Test files share the folder where they
 * share a process: where the name is taken, the file is in a folder of its own.
 */
export function fileOf(content: unknown, name = `file-${files++}.json`): string {
  const folder = existsSync(join(directory, name)) ? mkdtempSync(join(directory, "another-")) : directory;
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" || content instanceof Uint8Array ? content : JSON.stringify(content));
  return path;
}

/** The connection options of a service, the key in a file of its owner's. */
export function connectionTo(service: {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly apiKey: object;
}): string[] {
  const key = fileOf(service.apiKey);
  chmodSync(key, 0o600);
  return ["--base-url", service.baseUrl, "--organization-id", service.organizationId, "--api-key-file", key];
}

/** The words of a command line, as a user types it. A value is one word, or several if it is a list. */
export function words(texts: TemplateStringsArray, ...values: readonly (string | readonly string[])[]): string[] {
  return texts.flatMap((text, index) => [...text.split(/\s+/).filter(Boolean), ...[values[index] ?? []].flat()]);
}

/** What `$name` stands for in a row: one word, or several. */
export type Names = Readonly<Record<string, string | readonly string[]>>;

/**
 * A command line, its exit code, and what it says, in one line of text: words, or `!` and words that it does not say.
 * `''` is an empty word, `NAME=value` before the command a variable, and `< FILE` behind it stdin.
 */
export type Row = readonly [line: string, code: number | "any", ...says: readonly (string | RegExp)[]];

export const flat = (text: string): string => text.replace(/\s+/g, " ");

function named(word: string, names: Names): string[] {
  const whole = /^\$(\w+)$/.exec(word)?.[1];
  if (whole !== undefined && whole in names) return [names[whole]!].flat();
  return [word === "''" ? "" : word.replace(/\$(\w+)/g, (text, name: string) => String(names[name] ?? text))];
}

/** Runs the command line of a row, and holds what it does against the row. */
export async function check([line, code, ...says]: Row, names: Names = {}, around: Surroundings = {}): Promise<Answer> {
  const [, variables = "", command, input] = /^((?:[A-Z]\w*=\S* )*)(.*?)(?: < (\S+))?$/s.exec(line)!;
  const env = Object.fromEntries(
    variables.split(" ").flatMap((word) => {
      const [name, value] = word.split(/=(.*)/s);
      return word === "" ? [] : [[name!, named(value!, names)[0]!]];
    }),
  );
  const stdin = input === undefined ? {} : { stdin: readFileSync(named(input, names)[0]!) };
  const argv = command!.split(" ").flatMap((word) => named(word, names));
  const answer = await bootproof(argv, { ...around, ...stdin, env: { ...around.env, ...env } });
  const told = flat(`${answer.stdout} ${answer.stderr}`).trim();
  if (code !== "any") expect(answer.code, told).toBe(code);
  // What is wrong with a policy is the result of checking it.
  if (answer.code > 1 && code !== "any" && !/^policy check|--format/.test(command!)) expect(answer.stdout).toBe("");
  for (const each of says) {
    if (typeof each !== "string") expect(told).toMatch(each);
    else if (each.startsWith("!")) expect(told).not.toContain(named(each.slice(1), names)[0]);
    else expect(told).toContain(named(each, names)[0]);
  }
  return answer;
}

export interface Scene {
  /** Runs one row, with names of its own beside those of the scene. */
  readonly run: (line: Row[0], code: Row[1], ...says: readonly (string | RegExp)[]) => Promise<Answer>;
  readonly having: (more: Names) => Scene["run"];
  /** A test for each row. */
  readonly table: (rows: readonly Row[]) => void;
  /** A test for each command line with this beginning that is refused with exit code 2. */
  readonly usage: (start: string, rows: readonly (readonly [line: string, ...says: (string | RegExp)[]])[]) => void;
}

/** What the rows of a test file have in common. */
export function scene(names: Names = {}, around: Surroundings = {}): Scene {
  const having = (more: Names): Scene["run"] => {
    return (line, code, ...says) => check([line, code, ...says], { ...names, ...more }, around);
  };
  const table: Scene["table"] = (rows) =>
    it.each(rows.map((row) => [row[0], row[1], row] as const))("%s: %s", async (_, __, row) => {
      await check(row, names, around);
    });
  return {
    run: having({}),
    having,
    table,
    usage: (start, rows) => table(rows.map(([line, ...says]): Row => [`${start} ${line}`.trim(), 2, ...says])),
  };
}

export function vector(path: string): string {
  return fileURLToPath(new URL(`../../test-vectors/${path}`, import.meta.url));
}

export function readJson(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
}

export const reportOf = ({ stdout }: Pick<Answer, "stdout">): Report => JSON.parse(stdout) as Report;
/** The checks of a report in JSON that fail. */
export const failed = (answer: Answer): string[] =>
  reportOf(answer).checks.flatMap(({ id, status }) => (status === "fail" ? [id] : []));

export const BOOT_1 = vector("boot-proofs/bootproof-1.json");
export const BOOT_2 = vector("boot-proofs/bootproof-2.json");
export const APP_1 = vector("boot-proofs/appproof-1.json");
export const APP_2 = vector("boot-proofs/appproof-2.json");
