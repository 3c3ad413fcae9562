import { closeSync, openSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { generateApiKey } from "../../src/client/stamp.js";
import { type CommandRow, run } from "../../src/cli/main.js";
import { Progress } from "../../src/cli/progress.js";
import { verifying } from "../../src/cli/pieces.js";
import { bootproof, connectionTo } from "./support.js";

const ERASE = "\r\u001b[K";

type ProgressClock = NonNullable<ConstructorParameters<typeof Progress>[1]>;

/** A clock that goes only when it is told to. */
function fakeClock(): ProgressClock & { readonly go: (milliseconds: number) => void; readonly waiting: () => number } {
  let time = 5000;
  let calls: { readonly at: number; readonly call: () => void }[] = [];
  return {
    now: () => time,
    after: (milliseconds, call) => {
      const one = { at: time + milliseconds, call };
      calls.push(one);
      return () => (calls = calls.filter((other) => other !== one));
    },
    go: (milliseconds) => {
      time += milliseconds;
      const due = calls.filter(({ at }) => at <= time);
      calls = calls.filter(({ at }) => at > time);
      for (const { call } of due) call();
    },
    waiting: () => calls.length,
  };
}

function started(columns?: number): {
  readonly progress: Progress;
  readonly clock: ReturnType<typeof fakeClock>;
  readonly written: string[];
} {
  const written: string[] = [];
  const clock = fakeClock();
  return { progress: new Progress({ write: (text) => written.push(text), columns }, clock), clock, written };
}

describe("progress", () => {
  it("says nothing before a second has passed, and then what is done now", () => {
    const { progress, clock, written } = started();
    progress.say("fetching");
    clock.go(500);
    progress.say("verifying");
    clock.go(499);
    expect(written).toEqual([]);
    clock.go(1);
    expect(written).toEqual([`${ERASE}verifying…`]);
  });

  it("says what follows at once", () => {
    const { progress, clock, written } = started();
    progress.say("one");
    clock.go(1000);
    progress.say("two");
    expect(written).toEqual([`${ERASE}one…`, `${ERASE}two…`]);
  });

  it("is told of the time by what is done, where that leaves no time for anything else", () => {
    const { progress, written } = started();
    const busy = fakeClock();
    const other = new Progress({ write: (text) => written.push(text) }, { ...busy, after: () => () => {} });
    other.say("one");
    busy.go(1500);
    other.say("two");
    expect(written).toEqual([`${ERASE}two…`]);
    progress.end();
  });

  it("takes its line back at the end, once, and says no more", () => {
    const { progress, clock, written } = started();
    progress.say("one");
    clock.go(1000);
    progress.end();
    progress.end();
    progress.say("two");
    clock.go(5000);
    expect(written).toEqual([`${ERASE}one…`, ERASE]);
  });

  it("leaves no trace of what was over in time, and nothing that waits", () => {
    const { progress, clock, written } = started();
    progress.say("one");
    progress.end();
    expect(clock.waiting()).toBe(0);
    clock.go(5000);
    expect(written).toEqual([]);
    new Progress({ write: (text) => written.push(text) }, clock).end();
    expect(written).toEqual([]);
  });

  it("gives its line to what else is written, and goes on after it", () => {
    const { progress, clock, written } = started();
    progress.say("one");
    progress.clear();
    clock.go(1000);
    progress.clear();
    progress.clear();
    progress.say("two");
    expect(written).toEqual([`${ERASE}one…`, ERASE, `${ERASE}two…`]);
  });

  it.each([
    [40, "fetching the boot proof from a.example", "fetching the boot proof from a.example…"],
    [39, "fetching the boot proof from a.example", "fetching the boot proof from a.exampl…"],
    [20, "fetching the boot proof from a.example", "fetching the boot …"],
    [20, "界".repeat(20), `${"界".repeat(9)}…`],
    [0, "x".repeat(200), `${"x".repeat(78)}…`],
    [undefined, "x".repeat(200), `${"x".repeat(78)}…`],
  ])("fits %s columns: %s", (columns, what, shown) => {
    const { progress, clock, written } = started(columns);
    progress.say(what);
    clock.go(1000);
    expect(written).toEqual([ERASE + shown]);
  });

  it("steers no terminal with what a name says", () => {
    const { progress, clock, written } = started();
    progress.say("fetching\n\u001b[2J");
    clock.go(1000);
    expect(written).toEqual([`${ERASE}fetching\\u{a}\\u{1b}[2J…`]);
  });
});

describe("what is verified", () => {
  it.each([
    [{ bootProofs: [1] }, "verifying a boot proof"],
    [{ bootProofs: Array(60).fill(1) }, "verifying 60 boot proofs"],
    [{ bootProofs: [1], appProofs: [1] }, "verifying a boot proof, an app proof"],
    [{ bootProofs: [1, 2], appProofs: [1, 2], activity: {} }, "verifying 2 boot proofs, 2 app proofs, an activity"],
  ])("is counted: %j", (evidence, said) => {
    expect(verifying(evidence)).toBe(said);
  });
});

describe("a command that takes longer than a second", () => {
  // Refuses after a second and a bit, and not for good: what is retried would take long.
  const server = createServer((_, answer) => {
    setTimeout(() => {
      answer.statusCode = 404;
      answer.setHeader("content-type", "application/json");
      answer.end("{}");
    }, 1300);
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
    const line = `${ERASE}fetching the boot proof from ${host}…`;
    expect(stderr.startsWith(`${line}${ERASE}bootproof: http://${host}: `)).toBe(true);
  });

  it.each<[what: string, more: string[], surroundings: object]>([
    ["there is no terminal", [], {}],
    ["the terminal is dumb", [], { isTTY: true, env: { TERM: "dumb" } }],
  ])("says nothing where %s", async (_, more, surroundings) => {
    const { stderr } = await bootproof([...argv, ...more], surroundings);
    expect(stderr).toMatch(/^bootproof: http:/);
    expect(stderr).not.toMatch(/[\r\u001b]/);
  });

  it("says nothing where silence is asked for", async () => {
    const quiet = ["verify", "--no-policy", "--quiet", ...argv.slice(1)];
    const { code, stderr } = await bootproof(quiet, { isTTY: true });
    expect([code, stderr]).toEqual([3, expect.stringMatching(/^bootproof: signer: http:/)]);
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
    const add: Awaited<ReturnType<CommandRow["load"]>> = (command, io, finish) => {
      command.action(async () => {
        io.progress("before");
        await new Promise((resolve) => setTimeout(resolve, 1050));
        io.stdout.write("a result");
        io.progress("after");
        finish(0);
      });
    };
    expect(
      await run(["work"], given, { work: { heading: "evidence", summary: "work", load: () => Promise.resolve(add) } }),
    ).toBe(0);
    return written;
  };

  it("goes on where stdout is a file, and ends at a terminal and in a pipe", async () => {
    const file = openSync(fileURLToPath(import.meta.url), "r");
    try {
      const [toFile, toTerminal, elsewhere, closed] = await Promise.all(
        [{ fd: file }, { isTTY: true }, { fd: openSync("/dev/null", "w") }, { fd: 987_654 }].map(linesWith),
      );
      expect(toFile).toBe(`${ERASE}before…${ERASE}after…${ERASE}`);
      for (const other of [toTerminal, elsewhere, closed]) expect(other).toBe(`${ERASE}before…${ERASE}`);
    } finally {
      closeSync(file);
    }
  });
});
