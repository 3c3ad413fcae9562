import { closeSync, openSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { generateApiKey } from "../../src/client/stamp.js";
import type { AddCommand } from "../../src/cli/command.js";
import { run } from "../../src/cli/main.js";
import { Progress } from "../../src/cli/progress.js";
import { piecesText } from "../../src/cli/pieces.js";
import { bootproof, connectionTo, refusal } from "./support.js";

const ERASE = "\r\u001b[K";

function started(columns?: number): { readonly progress: Progress; readonly written: string[] } {
  const written: string[] = [];
  return { progress: new Progress({ write: (text) => written.push(text), columns }), written };
}

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());
const go = (milliseconds: number): void => void vi.advanceTimersByTime(milliseconds);

describe("progress", () => {
  /** What is done, a number for milliseconds that pass, and what is written then. */
  it.each<[what: string, steps: (string | number | "CLEAR" | "END")[], written: string[]]>([
    ["says nothing before a second has passed", ["fetching", 500, "verifying", 499], []],
    ["says after a second what is done now", ["fetching", 500, "verifying", 500], [`${ERASE}verifying…`]],
    ["says what follows at once", ["one", 1000, "two"], [`${ERASE}one…`, `${ERASE}two…`]],
    ["takes its line back once, and says no more", ["one", 1000, "END", "END", "two", 5000], [`${ERASE}one…`, ERASE]],
    ["leaves no trace of what was over in time", ["one", "END", 5000], []],
    ["says nothing of nothing", ["END"], []],
    [
      "gives its line to what else is written, and goes on after it",
      ["one", "CLEAR", 1000, "CLEAR", "CLEAR", "two"],
      [`${ERASE}one…`, ERASE, `${ERASE}two…`],
    ],
    ["steers no terminal with what a name says", ["fetching\n\u001b[2J", 1000], [`${ERASE}fetching\\u{a}\\u{1b}[2J…`]],
  ])("%s", (_, steps, expected) => {
    const { progress, written } = started();
    for (const step of steps)
      if (typeof step === "number") go(step);
      else if (step === "CLEAR") progress.clear();
      else if (step === "END") progress.end();
      else progress.say(step);
    expect(written).toEqual(expected);
    progress.end();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is told of the time by what is done, where that leaves no time for a timer", () => {
    const { progress, written } = started();
    progress.say("one");
    vi.spyOn(performance, "now").mockReturnValueOnce(performance.now() + 1500);
    progress.say("two");
    expect(written).toEqual([`${ERASE}two…`]);
  });

  it.each([
    [40, "fetching the boot proof from a.example", "fetching the boot proof from a.example…"],
    [39, "fetching the boot proof from a.example", "fetching the boot proof from a.exampl…"],
    [20, "fetching the boot proof from a.example", "fetching the boot …"],
    [20, "界".repeat(20), `${"界".repeat(9)}…`],
    [0, "x".repeat(200), `${"x".repeat(78)}…`],
    [undefined, "x".repeat(200), `${"x".repeat(78)}…`],
  ])("fits %s columns: %s", (columns, what, shown) => {
    const { progress, written } = started(columns);
    progress.say(what);
    go(1000);
    expect(written).toEqual([ERASE + shown]);
  });
});

describe("what is verified", () => {
  it.each([
    [{ bootProofs: [1] }, "a boot proof"],
    [{ bootProofs: Array(60).fill(1) }, "60 boot proofs"],
    [{ bootProofs: [1], appProofs: [1] }, "a boot proof, an app proof"],
    [{ bootProofs: [1, 2], appProofs: [1, 2], activity: {} }, "2 boot proofs, 2 app proofs, an activity"],
  ])("is counted: %j", (evidence, said) => {
    expect(piecesText(evidence)).toBe(said);
  });
});

describe("a command that takes longer than a second", () => {
  // Refuses after a second and a bit, and not for good: what is retried would take long.
  const server = createServer((_, answer) => {
    go(1300);
    answer.statusCode = 404;
    answer.setHeader("content-type", "application/json");
    answer.end("{}");
  });
  let argv: string[];
  let host: string;
  beforeAll(async () => {
    await new Promise<void>((listens) => server.listen(0, "127.0.0.1", listens));
    host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const connection = connectionTo({ baseUrl: `http://${host}`, organizationId: "o", apiKey: await generateApiKey() });
    argv = ["fetch", "--app", "signer", ...connection];
  });
  afterAll(() => server.close());

  it("says at a terminal what it waits for, and takes that back before it says how it ended", async () => {
    const { code, stderr } = await bootproof(argv, { isTTY: true });
    expect(code).toBe(3);
    const line = `${ERASE}fetching the newest boot proof of signer from ${host}…`;
    expect(stderr.startsWith(`${line}${ERASE}bootproof: signer: http://${host}: `)).toBe(true);
  });

  it.each<[what: string, more: string[], surroundings: object]>([
    ["there is no terminal", [], {}],
    ["the terminal is dumb", [], { isTTY: true, env: { TERM: "dumb" } }],
  ])("says nothing where %s", async (_, more, surroundings) => {
    const { stderr } = await bootproof([...argv, ...more], surroundings);
    expect(stderr).toMatch(/^bootproof: signer: http:/);
    expect(stderr).not.toMatch(/[\r\u001b]/);
  });

  it("says nothing where silence is asked for", async () => {
    const quiet = ["verify", "--no-policy", "--quiet", ...argv.slice(1)];
    const stderr = await refusal(3, bootproof(quiet, { isTTY: true }), /^bootproof: signer: http:/);
    expect(stderr).not.toMatch(/[\r\u001b]/);
  });
});

describe("after the first output on stdout, progress", () => {
  const linesWith = async (stdout: { readonly fd?: number; readonly isTTY?: boolean }): Promise<string> => {
    let written = "";
    const given = {
      stdin: (async function* () {})(),
      stdout: { ...stdout, write: () => true },
      stderr: { isTTY: true, write: (text: string) => (written += text) },
      env: {},
      now: () => new Date(0),
    };
    const add: AddCommand = (command, io, finish) => {
      command.action(async () => {
        io.progress("before");
        go(1000);
        io.stdout.write("a result");
        io.progress("after");
        finish(0);
      });
    };
    expect(await run(["work"], given, { Work: { work: { summary: "work", load: () => Promise.resolve(add) } } })).toBe(
      0,
    );
    return written;
  };

  it("goes on where stdout is a file, and ends at a terminal and in a pipe", async () => {
    const file = openSync(fileURLToPath(import.meta.url), "r");
    try {
      expect(await linesWith({ fd: file })).toBe(`${ERASE}before…${ERASE}after…${ERASE}`);
      for (const other of [{ isTTY: true }, { fd: openSync("/dev/null", "w") }, { fd: 987_654 }])
        expect(await linesWith(other)).toBe(`${ERASE}before…${ERASE}`);
    } finally {
      closeSync(file);
    }
  });
});
