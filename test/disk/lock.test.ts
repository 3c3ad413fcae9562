/** Locks between processes: kept by beats, replaced after silence, and noticed by a holder that was paused. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { InUseError, takeLock, thisProcess } from "../../src/disk/lock.js";
import { inTime } from "../../src/disk/whole.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "bootproof-lock-"));
const linux = process.platform === "linux";
const BEAT_MS = 200;
const STALE_MS = 3 * BEAT_MS;
const ID = "00000000-0000-4000-8000-000000000000";
let files = 0;
const newPath = (): string => join(folder, `${files++}.lock`);
const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
/** Also under fake timers. */
const realTimeout = setTimeout;
const realPause = (milliseconds: number): Promise<void> => new Promise((resolve) => realTimeout(resolve, milliseconds));
const children: ChildProcess[] = [];
const besides = (path: string): string[] => readdirSync(folder).filter((name) => name.startsWith(basename(path)));

/** Takes a lock, and writes a line for each event; each line of its stdin is a write. */
const CHILD = `
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { takeLock, thisProcess } from "./lock.mjs";
const [path, self] = JSON.parse(process.argv[2]);
const say = (word) => console.log(word);
const lock = await takeLock(path, "log", { beatMs: ${BEAT_MS}, self: { ...thisProcess(), ...self } }).catch((error) => {
  say(error.name + ": " + error.message);
  process.exit();
});
say("has it");
for await (const line of createInterface({ input: process.stdin })) {
  if (line === "end") break;
  if (line.startsWith("block ")) {
    const end = performance.now() + Number(line.slice(6));
    while (performance.now() < end);
  }
  await lock.requireHeld().then(() => say("may write"), (error) => say(error.name + ": " + error.message));
}
if (process.argv[3] !== "idle") await lock.release();
`;

class Child {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(path: string, { self = {}, before = [] as readonly string[] } = {}) {
    const [program, ...args] = [...before, process.execPath, join(folder, "child.mjs"), JSON.stringify([path, self])];
    this.#child = spawn(program!, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.#lines = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]();
    children.push(this.#child);
  }

  async says(): Promise<string> {
    return String((await this.#lines.next()).value);
  }

  async writes(line = "write"): Promise<string> {
    this.#child.stdin!.write(`${line}\n`);
    return this.says();
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  async end(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.stdin!.end("end\n");
    await ended;
  }
}

beforeAll(async () => {
  const shared = { bundle: true, format: "esm", platform: "node" } as const;
  await build({ ...shared, entryPoints: [join(ROOT, "src/disk/lock.ts")], outfile: join(folder, "lock.mjs") });
  writeFileSync(join(folder, "child.mjs"), CHILD);
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  vi.useRealTimers();
});

afterAll(() => rmSync(folder, { recursive: true }));

const taken = (path: string, more: object = {}): ReturnType<typeof takeLock> =>
  takeLock(path, "log", { beatMs: BEAT_MS, ...more });

describe("a lock of a process that runs", () => {
  it.each([
    ["on this machine", {}],
    ["on another machine", { host: "elsewhere" }],
    ["in another container of the same name, with the id of no process here", { space: "pid:[1]", pid: 4194303 }],
    ["on a machine without namespaces", { space: null, started: null }],
  ])("%s is left alone, however long it runs", async (_, self) => {
    const path = newPath();
    const holder = new Child(path, { self });
    expect(await holder.says()).toBe("has it");
    for (let attempts = 0; attempts < 3; attempts++) {
      await expect(taken(path)).rejects.toBeInstanceOf(InUseError);
      await pause(STALE_MS / 2);
    }
    expect(await holder.writes()).toBe("may write");
    await holder.end();
    await (await taken(path)).release();
    expect(besides(path)).toEqual([]);
  });

  it.runIf(linux && spawnSync("unshare", ["--pid", "--fork", "true"]).status === 0)(
    "in a real container of the same name is left alone, and replaced when that was killed",
    async () => {
      const path = newPath();
      const holder = new Child(path, { before: ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"] });
      expect(await holder.says()).toBe("has it");
      const { pid, host } = JSON.parse(readFileSync(path, "utf8")) as { readonly pid: number; readonly host: string };
      expect([pid, host]).toEqual([1, thisProcess().host]);
      await expect(taken(path)).rejects.toThrow(
        `in use by process 1 of ${host}: only one process may use a log. It renews its lock`,
      );
      holder.kill("SIGKILL");
      await (await taken(path)).release();
    },
  );

  it.each([-3_600_000, 0, 3_600_000])("is left alone after its clock was set by %d ms", async (by) => {
    const path = newPath();
    const holder = new Child(path, { self: { host: "elsewhere" } });
    await holder.says();
    const at = new Date(Date.now() + by);
    utimesSync(path, at, at);
    await expect(taken(path)).rejects.toBeInstanceOf(InUseError);
  });

  it("on this machine is refused at once, by name", async () => {
    const path = newPath();
    const holder = new Child(path);
    await holder.says();
    const waits: string[] = [];
    await expect(takeLock(path, "log", { onWait: (text) => waits.push(text) })).rejects.toThrow(
      `in use by process ${holder.pid}: only one process may use a log. It renews its lock, ${path}`,
    );
    expect(waits).toEqual([]);
  });
});

describe("a lock without beats", () => {
  it("of a process that was killed here is replaced at once", async () => {
    const path = newPath();
    const holder = new Child(path);
    await holder.says();
    holder.kill("SIGKILL");
    await pause(50);
    const waits: string[] = [];
    const lock = await takeLock(path, "log", { onWait: (text) => waits.push(text) });
    expect(waits).toEqual(linux ? [] : [expect.any(String)]);
    await lock.release();
  });

  it.each([
    ["of another machine", { host: "elsewhere" }],
    ["of another container with this process id", { space: "pid:[1]", pid: process.pid }],
    ["of another boot", { started: "another 1" }],
    ["of an older version of this package, which wrote none", { space: undefined, host: "elsewhere" }],
  ])("%s is replaced after 15 seconds of observation, not before, and whatever its time is", async (_, more) => {
    const path = newPath();
    writeFileSync(path, JSON.stringify({ ...thisProcess(), ...more, id: ID }));
    const past = new Date(0);
    utimesSync(path, past, past);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
    let end: "open" | "has it" = "open";
    const waits: string[] = [];
    const taking = takeLock(path, "log", { onWait: (text) => waits.push(text) }).then((lock) => {
      end = "has it";
      return lock;
    });
    let passed = 0;
    const step = async (): Promise<void> => {
      passed += 500;
      await vi.advanceTimersByTimeAsync(500);
      await realPause(20);
    };
    await realPause(20);
    while (passed < 14_500) await step();
    expect(end).toBe("open");
    // On a busy machine a step may pass before the lock was read.
    while (end === "open" && passed < 120_000) await step();
    expect(end).toBe("has it");
    expect(waits).toEqual([expect.stringMatching(/^its lock belongs to process \d+.*: watching it for up to 15 s$/)]);
    await (await taking).release();
  });

  it("is observed anew if it changes hands meanwhile", async () => {
    const path = newPath();
    writeFileSync(path, JSON.stringify({ ...thisProcess(), host: "elsewhere", id: ID }));
    const taking = taken(path);
    await pause(STALE_MS / 2);
    writeFileSync(path, JSON.stringify({ ...thisProcess(), host: "elsewhere", id: ID.replaceAll("0", "1") }));
    await pause(STALE_MS * 0.75);
    expect(readFileSync(path, "utf8")).toContain("elsewhere");
    await (await taking).release();
  });

  it("is replaced by one process", async () => {
    const path = newPath();
    writeFileSync(path, JSON.stringify({ ...thisProcess(), host: "elsewhere", id: ID }));
    const self = (index: number): object => ({ self: { ...thisProcess(), space: `pid:[${index}]` } });
    const tries = await Promise.allSettled(Array.from({ length: 6 }, (_, index) => taken(path, self(index))));
    const locks = tries.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    expect(locks).toHaveLength(1);
    for (const each of tries) if (each.status === "rejected") expect(each.reason).toBeInstanceOf(InUseError);
    await locks[0]!.requireHeld();
    await locks[0]!.release();
    expect(besides(path)).toEqual([]);
  });
});

describe("what killed processes left beside a lock", () => {
  const ended = spawnSync(process.execPath, ["-e", ""]).pid;
  const holder = (more: object): string => JSON.stringify({ ...thisProcess(), id: ID, ...more });
  const names = (path: string): string[] => [`${path}.${ID}`, `${path}.${ID}.${ID}`, `${path}.${ID}.tmp`];

  it.runIf(linux)("is removed at once where its process has ended", async () => {
    const path = newPath();
    for (const file of names(path)) writeFileSync(file, holder({ pid: ended }));
    const lock = await taken(path);
    expect(besides(path)).toEqual([basename(path)]);
    await lock.release();
  });

  it.each([
    ["of another host", holder({ host: "elsewhere" })],
    ["of a process that runs", holder({})],
    ["unfinished", '{"pid":'],
    ["empty", ""],
  ])("is removed after three beats without a change, and not before: %s", async (_, text) => {
    const path = newPath();
    for (const file of names(path)) writeFileSync(file, text);
    const lock = await taken(path);
    await pause(1.5 * BEAT_MS);
    expect(besides(path)).toHaveLength(4);
    while (besides(path).length > 1) await pause(BEAT_MS / 4);
    await lock.release();
  });

  it("is left alone while it changes, and so is everything else", async () => {
    const path = newPath();
    const others = [`${path}.mine`, `${path}.${ID}.txt`, `${path}.${ID.slice(1)}`, `${path}2.${ID}`];
    for (const file of others) writeFileSync(file, holder({ pid: ended }));
    const live = `${path}.${ID}`;
    let beats = 0;
    const beating = setInterval(() => writeFileSync(live, holder({ host: "elsewhere", beats: String(beats++) })), 50);
    const lock = await taken(path);
    await pause(6 * BEAT_MS);
    clearInterval(beating);
    expect(besides(path).sort()).toEqual([path, ...others, live].map((file) => basename(file)).sort());
    await lock.release();
  });
});

describe("a holder", () => {
  it("that was paused finds another's lock, writes no more and leaves that lock alone", async () => {
    const path = newPath();
    const paused = new Child(path);
    await paused.says();
    paused.kill("SIGSTOP");
    await pause(STALE_MS + 100);
    const second = new Child(path, { self: { host: "elsewhere" } });
    expect(await second.says()).toBe("has it");
    const before = readFileSync(path, "utf8");
    paused.kill("SIGCONT");
    expect(await paused.writes()).toBe(
      `LostLockError: process ${second.pid} of elsewhere has its lock now, ${path}: this process was paused or could ` +
        `not renew it for ${STALE_MS / 1000} s, so it writes no more`,
    );
    await paused.end();
    expect(readFileSync(path, "utf8").slice(0, 100)).toBe(before.slice(0, 100));
    expect(await second.writes()).toBe("may write");
    await second.end();
  });

  it("whose work blocked its timers finds it, too", async () => {
    const path = newPath();
    const blocked = new Child(path, { self: { host: "elsewhere" } });
    await blocked.says();
    const written = blocked.writes(`block ${6 * STALE_MS}`);
    await pause(BEAT_MS);
    const lock = await taken(path);
    expect(await written).toMatch(/^LostLockError: process \d+ of /);
    await lock.requireHeld();
    await lock.release();
    expect(await blocked.writes()).toMatch(/^LostLockError: its lock, .*, was removed, /);
  });

  it("that was paused, and whose lock was not taken, shows a beat before it writes", async () => {
    const path = newPath();
    // Its timer is not due in this test.
    const lock = await takeLock(path, "log");
    const texts = [readFileSync(path, "utf8")];
    const write = async (): Promise<void> => {
      await lock.requireHeld();
      texts.push(readFileSync(path, "utf8"));
    };
    await write();
    const now = performance.now();
    const clock = vi.spyOn(performance, "now").mockReturnValue(now + 11_000);
    await write();
    clock.mockRestore();
    expect([texts[1] === texts[0], texts[2] === texts[1]]).toEqual([true, false]);
    await lock.release();
  });

  it("keeps its text but for the count, and its rights", async () => {
    const path = newPath();
    const lock = await taken(path);
    const before = readFileSync(path, "utf8");
    await pause(3.5 * BEAT_MS);
    const after = readFileSync(path, "utf8");
    const count = (text: string): number => Number((JSON.parse(text) as { readonly beats: string }).beats);
    expect(count(after)).toBeGreaterThanOrEqual(2);
    expect(after.length).toBe(before.length);
    expect(after.slice(0, -14)).toBe(before.slice(0, -14));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await lock.release();
  });

  it("goes on after beats that failed", async () => {
    const path = newPath();
    const lock = await taken(path);
    const text = readFileSync(path, "utf8");
    rmSync(path);
    await pause(2 * BEAT_MS);
    writeFileSync(path, text);
    await lock.requireHeld();
    await lock.release();
  });

  it.runIf(linux)("whose lock became a pipe neither hangs nor takes it for its lock, and can end", async () => {
    const path = newPath();
    const child = new Child(path);
    await child.says();
    rmSync(path);
    spawnSync("mkfifo", [path]);
    // Its beats open the lock, too.
    await pause(3 * BEAT_MS);
    expect(await child.writes()).toBe("Error: not a regular file");
    await child.end();
    rmSync(path);
  });

  it("whose disk does not answer gets an error after 5 seconds", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const late = inTime(new Promise(() => {}));
    late.catch(() => {});
    await vi.advanceTimersByTimeAsync(4999);
    expect(await Promise.race([late.catch(() => "rejected"), Promise.resolve("waits")])).toBe("waits");
    await vi.advanceTimersByTimeAsync(1);
    await expect(late).rejects.toMatchObject({ code: "ETIMEDOUT" });
    expect(await inTime(Promise.resolve(7))).toBe(7);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("may end without a release: its beats do not keep it running", () => {
    const script = `import { takeLock } from ${JSON.stringify(join(folder, "lock.mjs"))};
      await takeLock(${JSON.stringify(newPath())}, "log");`;
    const { status, signal } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { timeout: 20_000 });
    expect([status, signal]).toEqual([0, null]);
  });
});
