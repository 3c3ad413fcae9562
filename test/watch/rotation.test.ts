/** A log in several files: turned over, killed in between, and continued from a signed state. */
import { createHash, generateKeyPairSync } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type LogLine, eventLineAfter, lineAfter } from "../../src/watch/entry.js";
import { type LogVerification, memoryStore, readCheckpoint, verifyLog } from "../../src/watch/index.js";
import {
  LogError,
  LogInUseError,
  type OpenLogOptions,
  type OpenedLog,
  openLog,
  readLog,
} from "../../src/watch/node.js";
import type { Delivered } from "../../src/watch/outages.js";
import { fastTestFolder } from "../support/folder.js";
import { EVENTS, START, finding } from "./support.js";
import { IS_LONG } from "../support/long.js";

const root = fastTestFolder();
let count = 0;
/** `boots.jsonl` in a folder of its own. */
function newPath(): string {
  const folder = join(root, String(count++));
  mkdirSync(folder);
  return join(folder, "boots.jsonl");
}
const nameOf = (path: string, number: number): string =>
  number === 1 ? path : path.replace(/\.jsonl$/, `.${number}.jsonl`);
const filesOf = (path: string): string[] =>
  Array.from({ length: 100 }, (_, index) => nameOf(path, index + 1)).filter((file) => existsSync(file));
const verifiedFiles = (path: string, more: object = {}): Promise<LogVerification> =>
  verifyLog(
    filesOf(path).map((file) => ({ name: file, stream: readLog(file) })),
    more,
  );
const textsOf = (path: string): string =>
  filesOf(path)
    .map((file) => readFileSync(file, "utf8"))
    .join("");

const pair = generateKeyPairSync("ed25519");
const key = pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const publicKey = pair.publicKey.export({ type: "spki", format: "pem" }).toString();
const SIGNED: OpenLogOptions = { checkpoint: { key } };

/** Numbers of the entries that are not delivered. */
const waiting = (log: OpenedLog, what: Delivered = "refusal"): number[] => log.undelivered(what).map(({ n }) => n);

async function add(
  log: OpenedLog,
  {
    app = "signer",
    verdict = "verified",
    at = START.toISOString(),
  }: { app?: string; verdict?: "verified" | "rejected"; at?: string } = {},
): Promise<LogLine> {
  const line = await lineAfter(log.tail(), await finding(app, { boot: log.tail().entries }, { verdict, at }));
  await log.append(line);
  return line;
}

/** Closes it as a kill does: the lock is left, and nothing is written. */
async function kill(log: OpenedLog, path: string): Promise<void> {
  const before = new Map(readdirSync(join(path, "..")).map((name) => [name, readFileSync(join(path, "..", name))]));
  await log.close();
  for (const name of readdirSync(join(path, ".."))) if (!before.has(name)) rmSync(join(path, "..", name));
  for (const [name, bytes] of before) if (!name.endsWith(".lock")) writeFileSync(join(path, "..", name), bytes);
}

/** The path of a log with so many findings more. */
async function written(entries: number, options: OpenLogOptions = {}, path = newPath()): Promise<string> {
  const log = await openLog(path, options);
  for (let n = 0; n < entries; n++)
    await add(log, { app: `app ${n % 3}`, verdict: n % 2 === 0 ? "verified" : "rejected" });
  await log.close();
  return path;
}

/** A finding has some 450 bytes: a file ends behind the second. */
const SMALL: OpenLogOptions = { rotate: { bytes: 800 } };

describe("a log that turns over", () => {
  it("ends each file with the name of the next, and goes on there", async () => {
    const path = newPath();
    const notes: string[] = [];
    await written(5, { ...SMALL, onNote: (text) => notes.push(text) }, path);
    expect(notes).toEqual(["the log continues in boots.2.jsonl", "the log continues in boots.3.jsonl"]);
    const files = filesOf(path).map((file) => readFileSync(file, "utf8").trimEnd().split("\n"));
    expect(files.map((lines) => lines.length)).toEqual([3, 3, 1]);
    expect(files.map((lines) => (JSON.parse(lines.at(-1)!) as { file?: string }).file)).toEqual([
      "boots.2.jsonl",
      "boots.3.jsonl",
      undefined,
    ]);
    if (process.platform !== "win32") expect(statSync(nameOf(path, 2)).mode & 0o777).toBe(0o600);
    expect(await verifiedFiles(path)).toMatchObject({ intact: true, entries: 7 });
    const log = await openLog(path);
    expect(log.tail().entries).toBe(7);
    expect(log.standing("app app 0")?.verdict).toBe("rejected");
    await add(log);
    await log.close();
    expect(readFileSync(nameOf(path, 3), "utf8").trimEnd().split("\n")).toHaveLength(2);
  });

  it("does so by the age of its first entry, too", async () => {
    const path = newPath();
    const log = await openLog(path, { rotate: { afterMs: 60_000 } });
    for (const seconds of [0, 59, 60, 200, 261])
      await add(log, { at: new Date(START.getTime() + seconds * 1000).toISOString() });
    await log.close();
    const lines = filesOf(path).map((file) => readFileSync(file, "utf8").trimEnd().split("\n").length);
    expect(lines.slice(0, 2)).toEqual([4, 3]);
    expect(statSync(nameOf(path, 3)).size).toBe(0);
  });

  it("takes no name that is in use", async () => {
    const path = await written(1, SMALL);
    writeFileSync(nameOf(path, 2), "mine");
    await written(1, SMALL, path);
    expect(readFileSync(nameOf(path, 2), "utf8")).toBe("mine");
    expect(readFileSync(path, "utf8")).toMatch(/"file":"boots\.3\.jsonl"\}\n$/);
  });

  it("has the lock of its first file", async () => {
    const path = newPath();
    const log = await openLog(path, SMALL);
    for (let n = 0; n < 3; n++) await add(log);
    await expect(openLog(path)).rejects.toBeInstanceOf(LogInUseError);
    expect(readdirSync(join(path, "..")).filter((name) => name.endsWith(".lock"))).toEqual(["boots.jsonl.lock"]);
    await log.close();
  });

  it("delivers the refusals of all its files, each once", async () => {
    for (const options of [SMALL, { ...SMALL, ...SIGNED }]) {
      const path = await written(8, options);
      const places: number[] = [];
      for (;;) {
        // Each by another start.
        const log = await openLog(path, options);
        const [n] = waiting(log);
        if (n !== undefined) {
          places.push((await log.lineOf("refusal", n)).entry.n);
          await log.markDelivered("refusal", n);
        }
        await log.close();
        if (n === undefined) break;
      }
      expect(places).toEqual([2, 5, 8, 11]);
    }
  });

  it("goes on after a kill at any moment of the turn", async () => {
    const path = await written(3, SMALL);
    const [first, second] = [readFileSync(path), readFileSync(nameOf(path, 2))];
    const end = first.lastIndexOf("\n", first.length - 2) + 1;
    const cuts: [number, number | null][] = [];
    const stride = IS_LONG ? 1 : 9;
    for (let at = end; at < first.length; at += stride) cuts.push([at, null]);
    cuts.push([first.length, null]);
    for (let at = 0; at <= second.length; at += 13) cuts.push([first.length, at]);
    for (const [ofFirst, ofSecond] of cuts) {
      writeFileSync(path, first.subarray(0, ofFirst));
      rmSync(nameOf(path, 2), { force: true });
      if (ofSecond !== null) writeFileSync(nameOf(path, 2), second.subarray(0, ofSecond));
      const notes: string[] = [];
      const log = await openLog(path, { ...SMALL, onNote: (text) => notes.push(text) });
      const entries = ofSecond === second.length ? 4 : ofFirst === first.length ? 3 : 2;
      expect(log.tail().entries).toBe(entries);
      if (ofFirst === first.length && ofSecond === null)
        expect(notes).toEqual([expect.stringMatching(/^boots\.2\.jsonl, the next file of the log, was missing/)]);
      await add(log);
      await log.close();
      expect((await verifiedFiles(path)).intact).toBe(true);
      expect(textsOf(path).startsWith(first.subarray(0, end).toString())).toBe(true);
    }
  }, 60_000);

  it.each<[string, (path: string) => void, RegExp]>([
    [
      "a file between is missing",
      (path) => rmSync(nameOf(path, 2)),
      /^boots\.3\.jsonl continues a log, .* does not name it/,
    ],
    [
      "the first is missing",
      (path) => rmSync(path),
      /^boots\.2\.jsonl continues a log, .* the log ends in boots\.jsonl and/,
    ],
    ["the next is a copy of the first", (path) => copyFileSync(path, nameOf(path, 2)), /a file is repeated/],
    ["the next is not a log", (path) => writeFileSync(nameOf(path, 2), "{}\n"), /line 4 is not an entry/],
    ["the first was edited", (path) => edit(path, "prod", "test"), /line \d was edited/],
    [
      "the next was cut",
      (path) => truncateSync(nameOf(path, 2), lineEnd(nameOf(path, 2))),
      /^boots\.3\.jsonl continues a log/,
    ],
  ])("is not opened if %s", async (_, change, message) => {
    const path = await written(5, SMALL);
    change(path);
    const before = textsOf(path);
    const opened = openLog(path);
    await expect(opened).rejects.toBeInstanceOf(LogError);
    await expect(opened).rejects.toThrow(message);
    expect(textsOf(path)).toBe(before);
  });

  it("leaves another log alone whose name is like that of a successor", async () => {
    const path = newPath();
    await written(12, {}, nameOf(path, 2));
    await written(3, SMALL, path);
    expect(filesOf(path)).toEqual([path, nameOf(path, 2), nameOf(path, 3)]);
    await (await openLog(path)).close();
  });

  it("that names itself as the next is refused, and not read forever", async () => {
    const path = await written(1);
    const log = await openLog(path);
    await log.append(
      await eventLineAfter(log.tail(), { event: "continued", at: START.toISOString(), file: "boots.jsonl" }),
    );
    await log.close();
    await expect(openLog(path)).rejects.toThrow(/a file is repeated/);
  });
});

function edit(path: string, from: string, to: string): void {
  const text = readFileSync(path, "utf8");
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to));
}

function editLast(path: string): void {
  const text = readFileSync(path, "utf8");
  const at = text.lastIndexOf("prod");
  writeFileSync(path, `${text.slice(0, at)}test${text.slice(at + 4)}`);
}

/** SHA-256 of the last line of all files. */
function headOf(path: string): string {
  const lines = textsOf(path).trimEnd().split("\n");
  return createHash("sha256").update(lines.at(-1)!).digest("hex");
}

function lineEnd(path: string): number {
  return readFileSync(path).indexOf("\n") + 1;
}

describe("a log with a signed state", () => {
  const MANY = { rotate: { bytes: 3300 }, ...SIGNED };

  it("knows by it what all its lines say", async () => {
    const path = newPath();
    const log = await openLog(path, MANY);
    for (let n = 0; n < 30; n++) {
      await add(log, { app: `app ${n % 7}`, verdict: n % 3 === 0 ? "rejected" : "verified" });
      if (n % 10 === 3) await log.append(await eventLineAfter(log.tail(), EVENTS[0]!));
    }
    await log.append(
      await eventLineAfter(log.tail(), {
        ...{ event: "heartbeat", at: START.toISOString(), since: START.toISOString() },
        polls: [{ app: "signer", good: 1, failed: 0 }],
      }),
    );
    await log.markDelivered("refusal", 5);
    await kill(log, path);
    for (let round = 0; round < 3; round++) {
      // From the state, from all lines, and from the state that the second start has written.
      const adopt = round === 1 ? { adopt: headOf(path) } : {};
      if (round === 1) rmSync(`${path}.state`);
      const again = await openLog(path, { ...MANY, checkpoint: { key, ...adopt } });
      const copy = await openCopy(path);
      const isMarked = round === 0;
      expect(again.tail()).toEqual(copy.tail());
      for (let n = 0; n < 8; n++) expect(again.standing(`app app ${n}`)).toEqual(copy.standing(`app app ${n}`));
      expect(again.openOutage("app signer")).toBe(START.toISOString());
      expect(again.lastSign()).toBe(START.toISOString());
      expect(copy.lastSign()).toBe(START.toISOString());
      expect(again.undelivered("refusal")).toEqual(copy.undelivered("refusal").filter(({ n }) => !isMarked || n !== 5));
      expect(again.undelivered("outage")).toEqual(copy.undelivered("outage"));
      await copy.close();
      await add(again);
      await again.close();
      expect((await verifiedFiles(path)).intact).toBe(true);
    }
  });

  /** The same log in another folder, read as a whole. */
  async function openCopy(path: string): Promise<OpenedLog> {
    const other = newPath();
    for (const name of readdirSync(join(path, "..")))
      if (!/\.(?:lock|state)$/.test(name)) copyFileSync(join(path, "..", name), join(other, "..", name));
    return openLog(other);
  }

  it("reads only what the state does not vouch for", async () => {
    const path = await written(30, MANY);
    expect(filesOf(path).length).toBeGreaterThan(3);
    // Nothing of the other files is read: they may be archived.
    edit(path, "prod", "test");
    renameSync(nameOf(path, 2), `${path}.archived`);
    const log = await openLog(path, MANY);
    const { entries } = log.tail();
    await add(log);
    await kill(log, path);
    const again = await openLog(path, MANY);
    expect(again.tail().entries).toBe(entries + 1);
    await again.close();
    await expect(openLog(path)).rejects.toThrow(/the chain is broken/);
    rmSync(path);
    const archived = await openLog(path, MANY);
    expect(archived.tail().entries).toBe(entries + 1);
    await archived.close();
    expect(existsSync(path)).toBe(false);
  });

  it.each<[string, (path: string) => void]>([
    ["it is lost", (path) => rmSync(`${path}.state`)],
    ["it was changed", (path) => edit(`${path}.state`, '"entries":', '"entries": ')],
    ["its signature was removed", (path) => edit(`${path}.state`, "\n— ", "\n- ")],
    ["its line is another one", (path) => editLast(nameOf(path, filesOf(path).length))],
    ["another key signed it", (path) => writeFileSync(`${path}.state`, otherState)],
  ])("reads the whole log where %s", async (_, change) => {
    const path = await written(12, MANY);
    change(path);
    edit(path, "prod", "test");
    await expect(openLog(path, MANY)).rejects.toThrow(/the chain is broken: line 1 was edited/);
  });

  let otherState = "";
  it("is one of its own key and origin", async () => {
    const other = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const path = await written(12, { ...MANY, checkpoint: { key: other } });
    otherState = readFileSync(`${path}.state`, "utf8");
    edit(path, "prod", "test");
    for (const checkpoint of [{ key }, { key: other, origin: "bootproof-log/other" }])
      await expect(openLog(path, { ...MANY, checkpoint })).rejects.toThrow(/the chain is broken/);
    await (await openLog(path, { ...MANY, checkpoint: { key: other } })).close();
    // Neither is ever the other.
    await expect(readCheckpoint(otherState)).rejects.toThrow(/its first line is not an origin/);
  });

  it("is refused where it was cut or written anew", async () => {
    const path = await written(12, SIGNED);
    const whole = readFileSync(path);
    truncateSync(path, whole.lastIndexOf("\n", whole.length - 2) + 1);
    const cut = await openLog(path, SIGNED).catch((error: unknown) => error as LogError);
    expect(cut).toBeInstanceOf(LogError);
    expect(cut).toMatchObject({ fault: { kind: "checkpoint" } });
    expect((cut as LogError).message).toMatch(
      /^it is not the log of its signed checkpoint: the log ends with entry 11, and the checkpoint is of entry 12: /,
    );
    const other = newPath();
    const anew = await openLog(other);
    for (let n = 0; n < 12; n++) await add(anew, { app: "forged" });
    await anew.close();
    copyFileSync(other, path);
    await expect(openLog(path, SIGNED)).rejects.toThrow(/entry 12 has the hash .*: the log was rewritten/);
    rmSync(path);
    await expect(openLog(path, SIGNED)).rejects.toThrow(/the log ends with entry 0, and the checkpoint is of entry 12/);
    expect(existsSync(path)).toBe(false);
    writeFileSync(path, whole);
    await (await openLog(path, SIGNED)).close();
  });
});

describe("a checkpoint of a watch", () => {
  const sign = (path: string): OpenLogOptions => ({
    rotate: { bytes: 800 },
    checkpoint: { key, file: `${path}.note`, origin: "bootproof-log/lab" },
  });

  it("is written after each entry, and verifies", async () => {
    const path = newPath();
    const notes: string[] = [];
    const options = sign(path);
    const log = await openLog(path, {
      ...options,
      checkpoint: { ...options.checkpoint!, onCheckpoint: (note) => notes.push(note) },
    });
    expect(existsSync(`${path}.note`)).toBe(false);
    for (let n = 1; n <= 5; n++) {
      await add(log);
      const note = readFileSync(`${path}.note`, "utf8");
      expect(notes.at(-1)).toBe(note);
      const { entries, head } = log.tail();
      expect(await readCheckpoint(note, { key: publicKey, origin: "bootproof-log/lab" })).toMatchObject({
        entries,
        head,
      });
      expect(await verifiedFiles(path, { checkpoint: note, key: publicKey })).toMatchObject({ intact: true, entries });
    }
    await log.close();
    // Each older one, of the log that has grown since.
    for (const checkpoint of notes)
      expect((await verifiedFiles(path, { checkpoint, key: publicKey })).intact).toBe(true);
  });

  it("shows at the start that the log and its state were put back", async () => {
    const path = newPath();
    await written(5, sign(path), path);
    const saved = readdirSync(join(path, "..")).map((name) => [name, readFileSync(join(path, "..", name))] as const);
    await written(3, sign(path), path);
    const note = readFileSync(`${path}.note`);
    for (const file of filesOf(path)) rmSync(file);
    for (const [name, bytes] of saved) writeFileSync(join(path, "..", name), bytes);
    writeFileSync(`${path}.note`, note);
    await expect(openLog(path, sign(path))).rejects.toThrow(
      /the log ends with entry \d, and the checkpoint is of entry 1\d/,
    );
  });

  it("replaces no other file, and none of another key", async () => {
    const path = newPath();
    writeFileSync(`${path}.note`, "a policy");
    await expect(openLog(path, sign(path))).rejects.toThrow(/boots\.jsonl\.note is not a checkpoint of this log/);
    expect(readFileSync(`${path}.note`, "utf8")).toBe("a policy");
    rmSync(`${path}.note`);
    await written(1, sign(path), path);
    const options = { checkpoint: { ...sign(path).checkpoint!, origin: "bootproof-log/other" } };
    await expect(openLog(path, options)).rejects.toThrow(/another log: its origin is bootproof-log\/lab/);
  });

  it.each([
    [{ key: publicKey }, /a PEM block with PUBLIC KEY/],
    [{ key, origin: "signer" }, /options\.checkpoint\.origin/],
    [{ key: 7 }, /options\.checkpoint\.key/],
    [{ key, adopt: "ab" }, /options\.checkpoint\.adopt: expected 64 hex digits/],
    [{}, /options\.checkpoint\.key: expected a string, got nothing/],
  ])("has options that are refused: %j", async (checkpoint, message) => {
    const path = newPath();
    await expect(openLog(path, { checkpoint } as never)).rejects.toThrow(message);
    expect(readdirSync(join(path, ".."))).toEqual([]);
  });
});

describe("refusals that nothing delivers", () => {
  it("are counted, and are not delivered later", async () => {
    for (const options of [{}, SIGNED, { ...SMALL, ...SIGNED }]) {
      const path = await written(4, options);
      const log = await openLog(path, options);
      expect(await log.countAsDelivered("refusal")).toBe(2);
      for (let n = 0; n < 3; n++) await add(log, { verdict: "rejected" });
      expect(waiting(log)).toEqual([]);
      await kill(log, path);
      // Once more without a target: the mark holds.
      const second = await openLog(path, options);
      expect(await second.countAsDelivered("refusal")).toBe(0);
      await add(second, { verdict: "rejected" });
      await kill(second, path);
      // With a target: what was refused before is not delivered, and what is refused now is, also after a kill.
      const third = await openLog(path, options);
      expect(waiting(third)).toEqual([]);
      const { entry } = await add(third, { verdict: "rejected" });
      await kill(third, path);
      for (let start = 0; start < 2; start++) {
        const fourth = await openLog(path, options);
        expect(waiting(fourth)).toEqual([entry.n]);
        await fourth.close();
      }
    }
  });

  it("are not delivered after a mark of an older version, which silences no later line", async () => {
    const path = await written(4);
    writeFileSync(`${path}.handed-on`, JSON.stringify({ n: 4, hash: headOf(path), all: true }));
    const log = await openLog(path);
    expect(waiting(log)).toEqual([]);
    const { entry } = await add(log, { verdict: "rejected" });
    await kill(log, path);
    const again = await openLog(path);
    expect(waiting(again)).toEqual([entry.n]);
    await again.close();
  });

  it("are delivered where the mark is of another log", async () => {
    const path = newPath();
    writeFileSync(`${path}.handed-on`, JSON.stringify({ n: 2, hash: "ab".repeat(32), all: true }));
    await written(4, {}, path);
    const log = await openLog(path);
    expect(waiting(log)).toEqual([2, 4]);
    await log.close();
  });

  it("are of one kind: outages are apart", async () => {
    const path = newPath();
    for (const open of [() => openLog(path), async () => ({ ...memoryStore(), close: async () => {} })]) {
      const log: OpenedLog = await open();
      await log.countAsDelivered("refusal");
      await add(log, { verdict: "rejected" });
      await log.append(await eventLineAfter(log.tail(), EVENTS[0]!));
      expect(waiting(log)).toEqual([]);
      expect(waiting(log, "outage")).toEqual([2]);
      expect(await log.countAsDelivered("outage")).toBe(1);
      expect(waiting(log, "outage")).toEqual([]);
      await log.close();
    }
  });
});

describe("with a key, marks", () => {
  /** A log with refusals at entries 2, 4 and 6, of which entry 4 was delivered. */
  async function marked(): Promise<string> {
    const path = await written(6, SIGNED);
    const log = await openLog(path, SIGNED);
    await log.markDelivered("refusal", 4);
    await log.close();
    return path;
  }

  it("are in the signed state, also after a kill", async () => {
    const path = await written(6, SIGNED);
    const log = await openLog(path, SIGNED);
    for (const n of [6, 4]) await log.markDelivered("refusal", n);
    await kill(log, path);
    const again = await openLog(path, SIGNED);
    expect(waiting(again)).toEqual([2]);
    await again.close();
    expect(existsSync(`${path}.handed-on`)).toBe(false);
  });

  it("that somebody else wrote silence nothing", async () => {
    const path = await marked();
    const state = readFileSync(`${path}.state`, "utf8");
    const later = await openLog(path, SIGNED);
    const { entry, hash } = await add(later, { verdict: "rejected" });
    await later.close();
    for (const forged of [
      { n: entry.n, hash },
      { n: entry.n, hash, all: true },
    ])
      for (const suffix of [".handed-on", ".outages-handed-on"])
        writeFileSync(path + suffix, JSON.stringify({ log: "bootproof-log/2", ...forged }));
    edit(`${path}.state`, '"waiting":{"refusal":[{', '"waiting":{"refusal":[],"x":[{');
    await expect(openLog(path, SIGNED)).rejects.toThrow(/the key signed neither boots\.jsonl\.state nor/);
    // An older state leaves more undelivered, never less.
    writeFileSync(`${path}.state`, state);
    const again = await openLog(path, SIGNED);
    expect(waiting(again)).toEqual([2, 6, entry.n]);
    await again.close();
  });

  it("that an old state had while nothing delivered do not silence later refusals", async () => {
    const path = await written(2, SIGNED);
    const quiet = await openLog(path, SIGNED);
    expect(await quiet.countAsDelivered("refusal")).toBe(1);
    await add(quiet, { verdict: "rejected" });
    await quiet.close();
    const state = readFileSync(`${path}.state`);
    const loud = await openLog(path, SIGNED);
    const { entry } = await add(loud, { verdict: "rejected" });
    await loud.close();
    writeFileSync(`${path}.state`, state);
    const again = await openLog(path, SIGNED);
    expect(waiting(again)).toEqual([entry.n]);
    await again.close();
  });

  it("hold where files were joined by hand, and the state names another place", async () => {
    const path = await marked();
    const log = await openLog(path, { ...SIGNED, rotate: { bytes: 1 } });
    await add(log);
    await add(log);
    await log.close();
    const files = filesOf(path);
    expect(JSON.parse(readFileSync(`${path}.state`, "utf8").split("\n")[1]!)).toMatchObject({
      place: { file: "boots.2.jsonl" },
    });
    const texts = files.map((file) => readFileSync(file, "utf8"));
    writeFileSync(path, texts.join(""));
    for (const file of files.slice(1)) rmSync(file);
    const joined = await openLog(path, SIGNED);
    expect(waiting(joined)).toEqual([2, 6]);
    await joined.close();
  });
});

describe("a state of format 2, which an older version wrote", () => {
  const made = JSON.parse(readFileSync(join(import.meta.dirname, "state-2.json"), "utf8")) as {
    readonly key: string;
    readonly files: Readonly<Record<string, string>>;
  };
  const placed = (files: Readonly<Record<string, string>> = made.files): string => {
    const path = newPath();
    for (const [name, text] of Object.entries(files)) writeFileSync(join(path, "..", name), text);
    return path;
  };
  const options = { checkpoint: { key: made.key } };

  it("counts, and its marks too: an update delivers nothing again", async () => {
    const path = placed();
    rmSync(`${path}.handed-on`);
    const log = await openLog(path, options);
    expect([waiting(log), waiting(log, "outage")]).toEqual([[6], [5]]);
    expect(log.undelivered("refusal")[0]!.at).toBe("2026-03-04T05:12:07.000Z");
    expect((await log.lineOf("refusal", 6)).entry.n).toBe(6);
    await log.markDelivered("refusal", 6);
    await log.close();
    expect(readFileSync(`${path}.state`, "utf8")).toMatch(/^bootproof-log-state\/3\n/);
    const again = await openLog(path, options);
    expect([waiting(again), waiting(again, "outage")]).toEqual([[], [5]]);
    await again.close();
  });

  it("is no reason to trust a file of marks", async () => {
    const path = placed();
    const { hash } = JSON.parse(/"refusal":\[(\{[^}]*\})/.exec(made.files["boots.jsonl.state"]!)![1]!) as {
      readonly hash: string;
    };
    writeFileSync(`${path}.handed-on`, JSON.stringify({ log: "bootproof-log/2", n: 6, hash }));
    const log = await openLog(path, options);
    expect(waiting(log)).toEqual([6]);
    await log.close();
  });

  it("is not needed without a key: the file of marks is read in its old form", async () => {
    const log = await openLog(placed());
    expect([waiting(log), waiting(log, "outage")]).toEqual([[6], [5]]);
    await log.close();
  });
});

describe("with a key, a log that has entries, but no state and no checkpoint that the key signed,", () => {
  const other = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const adopting = (adopt: string, more: object = {}): OpenLogOptions => ({ checkpoint: { key, adopt, ...more } });

  it.each<[string, (path: string) => void]>([
    ["since it was written without a key", () => {}],
    ["since another key signed its state", (path) => writeFileSync(`${path}.state`, otherState)],
  ])("is refused until its head is adopted: %s", async (_, change) => {
    const path = await written(4);
    change(path);
    const head = headOf(path);
    await expect(openLog(path, SIGNED)).rejects.toThrow(
      `the log has 4 entries, and its head is ${head}, but the key signed neither boots.jsonl.state nor a checkpoint`,
    );
    await expect(openLog(path, SIGNED)).rejects.toThrow(`start once with --adopt ${head}`);
    const wrong = "ab".repeat(32);
    await expect(openLog(path, adopting(wrong))).rejects.toThrow(`its head is ${head}, not ${wrong}, but the key`);
    const notes: string[] = [];
    const log = await openLog(path, { ...adopting(head), onNote: (text) => notes.push(text) });
    expect(log.adopted?.()).toBe(head);
    expect(notes).toEqual([expect.stringMatching(/2 entries count as undelivered$/)]);
    // The state is written at once, so a kill does not undo it.
    await kill(log, path);
    await expect(openLog(path, adopting(head))).rejects.toThrow(/there is nothing to adopt: start without --adopt/);
    const again = await openLog(path, SIGNED);
    expect(again.adopted?.()).toBe(undefined);
    await again.close();
  });

  let otherState = "";
  it("by another key is one", async () => {
    const path = await written(4, { checkpoint: { key: other } });
    otherState = readFileSync(`${path}.state`, "utf8");
    await expect(openLog(path, SIGNED)).rejects.toThrow("the key signed neither");
  });

  it("is accepted with its checkpoint, and delivers everything again", async () => {
    const path = newPath();
    const options = { checkpoint: { key, file: `${path}.note` } };
    await written(4, options, path);
    const log = await openLog(path, options);
    await log.markDelivered("refusal", 2);
    await log.close();
    rmSync(`${path}.state`);
    await expect(openLog(path, SIGNED)).rejects.toThrow("the key signed neither");
    await expect(openLog(path, adopting(headOf(path), { file: `${path}.note` }))).rejects.toThrow("nothing to adopt");
    writeFileSync(`${path}.handed-on`, JSON.stringify({ log: "bootproof-log/2", n: 4, hash: headOf(path) }));
    const again = await openLog(path, options);
    expect(waiting(again)).toEqual([2, 4]);
    await again.close();
  });

  it("is never one that this key began: a kill before the first state was due is no reason", async () => {
    const path = newPath();
    const log = await openLog(path, SIGNED);
    await add(log, { verdict: "rejected" });
    await kill(log, path);
    const again = await openLog(path, SIGNED);
    expect(waiting(again)).toEqual([1]);
    await again.close();
  });

  it("is not one without entries: there is nothing to adopt", async () => {
    await expect(openLog(newPath(), adopting("0".repeat(64)))).rejects.toThrow("there is nothing to adopt");
  });
});
