/**
 * The built command keeps watch over a lab: killed, interrupted, refused, out of space, and without the service. Needs
 * `npm run build`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { startLab } from "../../src/lab/index.js";
import { LabSigstore, labProvenancePin } from "../../src/lab/sigstore.js";
import type { FindingEntry, LogEntry } from "../../src/watch/index.js";
import { isSign } from "../watch/support.js";
import { connectionTo, words } from "./support.js";

const COMMAND = fileURLToPath(new URL("../../dist/bin/bootproof.cjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "bootproof-built-watch-"));
const lab = await startLab();
const policy = join(folder, "policy.json");
writeFileSync(policy, JSON.stringify(lab.policyFile));
const enclaveId = lab.enclaves.filter(({ app }) => app === "signer").at(-1)!.enclaveId;
const asked = ["watch", "--app", "signer", "--policy", policy, "--interval", "1s", ...connectionTo(lab)];
beforeEach(() => lab.setFault(null));
afterAll(async () => {
  await lab.close();
  rmSync(folder, { recursive: true });
});

let count = 0;
const newLog = (): string => join(folder, `watch-${count++}.jsonl`);
/** All but signs of life. */
const entriesOf = (path: string): FindingEntry[] =>
  (existsSync(path) ? readFileSync(path, "utf8") : "")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as FindingEntry)
    .filter((entry) => !isSign(entry));
const outagesIn = (path: string): string[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.includes('"event":"outage-'));
/** Whether the newest outage counts as delivered. Its command may have written all, and not have ended. */
const isOutageDelivered = (path: string): boolean => {
  const mark = `${path}.outages-handed-on`;
  const { n: upTo = 0 } = (existsSync(mark) ? JSON.parse(readFileSync(mark, "utf8")) : {}) as { readonly n?: number };
  return upTo >= (JSON.parse(outagesIn(path).at(-1)!) as LogEntry).n;
};

class Process {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
  stdout = "";
  stderr = "";

  constructor(args: readonly string[], shell?: string) {
    this.child =
      shell === undefined
        ? spawn(process.execPath, [COMMAND, ...args], { stdio: ["ignore", "pipe", "pipe"] })
        : spawn("sh", ["-c", shell, process.execPath, COMMAND, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    this.child.stdout!.setEncoding("utf8").on("data", (text: string) => (this.stdout += text));
    this.child.stderr!.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    this.ended = new Promise((resolve) => {
      this.child.on("close", (code) => resolve({ code, stdout: this.stdout, stderr: this.stderr }));
    });
  }

  async until(holds: () => boolean): Promise<void> {
    for (const end = Date.now() + 120_000; !holds(); await new Promise((resolve) => setTimeout(resolve, 20)))
      if (Date.now() > end || this.child.exitCode !== null) throw new Error(`not come to it: ${this.stderr}`);
  }
}

const run = (...args: string[]): Process["ended"] => new Process(args).ended;

describe("the built command keeps watch", () => {
  it("once, with an entry for each application, and a log that is whole", async () => {
    const path = newLog();
    const both = [...asked, "--app", "signer", "policy-engine"].toSpliced(1, 2);
    const first = await run(...both, "--once", "--log", path);
    expect([first.code, first.stderr]).toEqual([0, ""]);
    // Whichever was fetched first.
    expect(first.stdout).toMatch(
      /^\S+Z #1 VERIFIED .*\n\S+Z #2 VERIFIED .*\n\S+Z #3 HEARTBEAT since \S+: signer 1 good, policy-engine 1 good\n$/,
    );
    expect(first.stdout).toMatch(/ signer as "signer lab\.2"\n/);
    expect(first.stdout).toMatch(/ policy-engine as "policy-engine lab\.2"\n/);
    // Nothing is new, and no heartbeat is due.
    expect(await run(...both, "--once", "--log", path)).toEqual({ code: 0, stdout: "", stderr: "" });
    const whole = await run("log", "verify", path);
    expect([whole.code, whole.stderr]).toEqual([0, ""]);
    expect(whole.stdout).toMatch(
      /^WHOLE: .*: 3 entries, .*\nHead: [0-9a-f]{64}\nNewest start or heartbeat .*\nNot checked: lines removed from/,
    );
    const json = await run("log", "verify", path, "--format", "json");
    const { head } = JSON.parse(json.stdout) as { head: string };
    expect((await run("log", "verify", path, "--head", head)).code).toBe(0);
    const other = await run("log", "verify", path, "--head", "ab".repeat(32));
    expect([other.code, other.stdout]).toEqual([1, expect.stringMatching(/^BROKEN: .*whose hash is/)]);
    // Each line is evidence, with its time.
    const [line] = readFileSync(path, "utf8").split("\n");
    const { at } = JSON.parse(line!) as FindingEntry;
    const evidence = join(folder, "line.json");
    writeFileSync(evidence, line!);
    expect((await run("verify", "--boot-proof", evidence, "--policy", policy, "--now", at, "--quiet")).code).toBe(0);
  });

  it("of a key, and of an application that is not there", async () => {
    const key = lab.enclaves.at(-1)!.ephemeralKey;
    const keys = await run(...asked.toSpliced(1, 2), "--ephemeral-key", key, "--once", "--format", "json");
    expect([keys.code, (JSON.parse(keys.stdout) as FindingEntry).ephemeralKey]).toEqual([0, key]);
    const nobody = await run(...asked, "nobody", "--once").catch(() => null);
    expect(nobody?.code).toBe(2);
    const missing = await run(...asked.toSpliced(2, 1, "nobody"), "--once");
    expect([missing.code, missing.stdout]).toEqual([3, ""]);
    expect(missing.stderr).toMatch(/^warning: \S+Z nobody: NOT WATCHED: the service has no such boot proof\n$/);
  });

  it("tells a command of each refusal, and exits with 1", async () => {
    const [path, told] = [newLog(), join(folder, "told")];
    lab.setFault("stale-manifest");
    const args = [...asked, "--once", "--log", path, "--format", "json"];
    const { code, stdout, stderr } = await run(...args, "--on-refusal", `cat >> '${told}'; echo said`);
    expect([code, stderr]).toEqual([1, "said\n"]);
    expect(stdout).toBe(readFileSync(path, "utf8"));
    expect(readFileSync(told, "utf8")).toBe(`${stdout.split("\n")[0]!}\n`);
    expect((await run(...args)).code).toBe(1);
  });

  it("posts refusals to a URL, in order, until each was taken, after a restart too", async () => {
    const path = newLog();
    const received: number[] = [];
    let status = 500;
    const server = createServer((request, response) => {
      let text = "";
      request.setEncoding("utf8").on("data", (piece: string) => (text += piece));
      request.on("end", () => {
        received.push((JSON.parse(text) as FindingEntry).n);
        response.writeHead(status).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    const args = [...asked, "--log", path, "--on-refusal", url];
    lab.setFault("stale-manifest");
    const first = new Process(args);
    await first.until(() => received.length > 0);
    lab.setFault("altered-document");
    await first.until(() => entriesOf(path).length === 2);
    first.child.kill("SIGTERM");
    const { code, stderr } = await first.ended;
    expect([code, [...new Set(received)]]).toEqual([1, [2]]);
    expect(stderr).toMatch(
      /warning: .*entry 2 was not delivered: 127\.0\.0\.1:\d+ responded with HTTP 500; will retry/,
    );
    expect(stderr).toMatch(/warning: a refusal was not delivered, and will be when the watch resumes with this log\n$/);
    status = 200;
    expect((await run(...args, "--once")).code).toBe(1);
    expect(received.slice(received.lastIndexOf(2))).toEqual([2, 3]);
    server.close();
  });

  it.each([
    ["SIGINT", 1],
    ["SIGTERM", 1],
    // As npx does it, which hands on what the terminal has sent already.
    ["SIGINT", 2],
  ] as const)("until %s, %d times, and leaves log and lock as they should be", async (signal, times) => {
    const path = newLog();
    const watching = new Process([...asked, "--log", path]);
    await watching.until(() => entriesOf(path).length === 1);
    expect(existsSync(`${path}.lock`)).toBe(true);
    const second = await run(...asked, "--log", path, "--once");
    expect([second.code, second.stdout]).toEqual([2, ""]);
    expect(second.stderr).toContain(
      `${path}: in use by process ${watching.child.pid!}: only one process may use a log`,
    );
    for (let count = 0; count < times; count++) watching.child.kill(signal);
    const { code, stderr } = await watching.ended;
    expect(stderr).toBe("");
    // The last one may come when everything is done, and end what is left.
    expect(code).toBeOneOf(times === 1 ? [0] : [0, null]);
    expect(existsSync(`${path}.lock`)).toBe(false);
    expect((await run("log", "verify", path)).code).toBe(0);
  });

  it("and never goes on with a broken log", async () => {
    const path = newLog();
    await run(...asked, "--once", "--log", path);
    await lab.restartEnclave(enclaveId);
    await run(...asked, "--once", "--log", path);
    const [one, two] = readFileSync(path, "utf8").split("\n");
    for (const [text, message] of [
      [`${two!}\n`, /entry 1 was removed: entry 2 is in line 1/],
      [`${one!.replace('"stale":false', '"stale":true')}\n${two!}\n`, /line 1 was edited, or line 2/],
      [`${two!}\n${one!}\n`, /lines are not in their order: entry 2 is in line 1, and entry 1 in line 2/],
    ] as const) {
      writeFileSync(path, text);
      const refused = await run(...asked, "--once", "--log", path);
      expect([refused.code, refused.stdout]).toEqual([2, ""]);
      expect(refused.stderr).toMatch(message);
      expect(readFileSync(path, "utf8")).toBe(text);
      const { code, stdout } = await run("log", "verify", path);
      expect([code, stdout]).toEqual([1, expect.stringMatching(message)]);
    }
  });

  it.skipIf(process.platform === "win32")("and goes on where there is no space for its log", async () => {
    const path = newLog();
    const shell = `trap '' XFSZ; ulimit -f 30; exec "$0" "$@"`;
    const full = await new Process(
      [...asked, "--app", "signer", "policy-engine", "--once", "--log", path].toSpliced(1, 2),
      shell,
    ).ended;
    expect([full.code, full.stdout.match(/#/g)?.length ?? 0]).toEqual([2, entriesOf(path).length]);
    expect(full.stderr).toMatch(/warning: \S+Z the log cannot be written since \S+Z: \S*the file would exceed/);
    const device = await run(...asked, "--once", "--log", "/dev/full");
    expect([device.code, device.stderr]).toEqual([
      2,
      expect.stringMatching(/\/dev\/full: expected a regular file for the log/),
    ]);
    expect((await run(...asked, "--once", "--log", path)).code).toBe(0);
    expect((await run("log", "verify", path)).code).toBe(0);
  });

  it("loses and doubles nothing when it is killed, twenty times, in mid-write too", { timeout: 180_000 }, async () => {
    const [path, told] = [newLog(), join(folder, "told-of-kills")];
    writeFileSync(told, "");
    const args = [...asked, "--log", path, "--on-refusal", `head -c 60 >> '${told}'; echo >> '${told}'`];
    const whole = (): string => {
      const text = readFileSync(path, "utf8");
      return text.slice(0, text.lastIndexOf("\n") + 1);
    };
    let [before, countBefore] = ["", 0];
    for (let round = 0; round < 20; round++) {
      lab.setFault(round % 2 === 0 ? "stale-manifest" : null);
      if (round % 2 === 1) await lab.restartEnclave(enclaveId);
      const watching = new Process(args);
      // At any moment of its start in one round of three, else about when it writes what is new.
      const hasWritten = (): boolean => entriesOf(path).length > countBefore;
      if (round % 3 !== 2) await watching.until(hasWritten);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * (round % 3 === 2 ? 1500 : 60)));
      watching.child.kill("SIGKILL");
      await watching.ended;
      if (!existsSync(path)) continue;
      expect(whole().startsWith(before)).toBe(true);
      [before, countBefore] = [whole(), entriesOf(path).length];
      // As a kill in the middle of a write leaves it.
      const last = before.trimEnd().split("\n").at(-1)!;
      if (round % 3 === 0) appendFileSync(path, last.slice(0, 1 + Math.floor(Math.random() * (last.length - 1))));
    }
    lab.setFault(null);
    expect((await run(...args, "--once")).code).toBe(0);
    expect(whole().startsWith(before)).toBe(true);
    const { code, stdout } = await run("log", "verify", path);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^WHOLE/)]);
    const entries = entriesOf(path);
    expect(entries.length).toBeGreaterThan(5);
    const news = entries.map(({ evidenceDigest, verdict }) => `${verdict} ${evidenceDigest}`);
    expect(news.filter((one, at) => one === news[at - 1])).toEqual([]);
    const handedOn = [...readFileSync(told, "utf8").matchAll(/"n":(\d+)/g)].map(([, n]) => Number(n));
    expect(handedOn).toEqual([...handedOn].sort((a, b) => a - b));
    const refusals = entries.filter(({ verdict }) => verdict === "rejected").map(({ n }) => n);
    expect([...new Set(handedOn)]).toEqual(refusals);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });
});

describe("the built command, with checkpoints that others keep,", () => {
  const keyFiles = (name: string): [string, string] => {
    const pair = generateKeyPairSync("ed25519");
    const [own, shared] = [join(folder, `${name}-key.pem`), join(folder, `${name}-public.pem`)];
    writeFileSync(own, pair.privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
    writeFileSync(shared, pair.publicKey.export({ type: "spki", format: "pem" }));
    return [own, shared];
  };
  const [[privateKey, publicKey], [, otherKey]] = [keyFiles("log"), keyFiles("other")];
  const path = join(folder, "kept.jsonl");
  const note = join(folder, "kept.note");
  const args = [...asked, "--log", path, "--rotate", "20kB", "--checkpoint-key", privateKey, "--checkpoint", note];

  const filesOf = (first: string): string[] => {
    const names = [first, ...[2, 3, 4, 5, 6, 7, 8, 9].map((number) => first.replace(".jsonl", `.${number}.jsonl`))];
    return names.filter((name) => existsSync(name));
  };
  const entryCount = (): number => filesOf(path).flatMap(entriesOf).length;
  const verified = (...more: string[]): Process["ended"] => run("log", "verify", ...filesOf(path), ...more);

  it("goes on in further files after kills, and verifies with each checkpoint", { timeout: 120_000 }, async () => {
    const kept: string[] = [];
    for (let round = 0; round < 4; round++) {
      const before = entryCount();
      const watching = new Process(args);
      await lab.restartEnclave(enclaveId);
      await watching.until(() => entryCount() > before);
      await watching.until(() => existsSync(note) && readFileSync(note, "utf8") !== kept.at(-1));
      watching.child.kill("SIGKILL");
      await watching.ended;
      kept.push(readFileSync(note, "utf8"));
    }
    expect(await run(...args, "--once")).toMatchObject({ code: 0 });
    expect(filesOf(path).length).toBeGreaterThan(1);
    kept.push(readFileSync(note, "utf8"));
    expect(new Set(kept).size).toBeGreaterThan(2);
    for (const text of new Set(kept)) {
      const copy = join(folder, "copy.note");
      writeFileSync(copy, text);
      const { code, stdout } = await verified("--checkpoint", copy, "--key", publicKey);
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^WHOLE: /)]);
    }
  });

  it("signs the same with log checkpoint", async () => {
    const signed = await run("log", "checkpoint", ...filesOf(path), "--key", privateKey);
    expect(signed).toEqual({ code: 0, stdout: readFileSync(note, "utf8"), stderr: "" });
  });

  it("says that a signature was not checked, and refuses that of another key", async () => {
    const unchecked = await verified("--checkpoint", note);
    const words = /^INCOMPLETE: .*: who signed the checkpoint: its signature was not checked; pass .*--key$/m;
    expect([unchecked.code, unchecked.stdout]).toEqual([1, expect.stringMatching(words)]);
    const other = await verified("--checkpoint", note, "--key", otherKey);
    expect([other.code, other.stdout]).toEqual([1, ""]);
    expect(other.stderr).toMatch(/kept\.note: the checkpoint is not signed by this key\n$/);
  });

  it("finds that lines were cut off, and does not go on", async () => {
    const [newest] = filesOf(path)
      .filter((file) => readFileSync(file).length > 0)
      .slice(-1);
    const whole = readFileSync(newest!, "utf8");
    const lines = whole.trimEnd().split("\n");
    writeFileSync(
      newest!,
      lines
        .slice(0, -1)
        .map((line) => `${line}\n`)
        .join(""),
    );
    expect((await verified()).code).toBe(0);
    const cut = await verified("--checkpoint", note, "--key", publicKey);
    const sentence = /the log ends with entry \d+, and the checkpoint is of entry \d+: its last lines are missing/;
    expect([cut.code, cut.stdout]).toEqual([1, expect.stringMatching(sentence)]);
    const before = readFileSync(note, "utf8");
    const refused = await run(...args, "--once");
    expect([refused.code, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toMatch(/kept\.jsonl: it is not the log of its signed checkpoint: the log ends with entry/);
    expect(readFileSync(note, "utf8")).toBe(before);
    writeFileSync(newest!, whole);
    expect((await run(...args, "--once")).code).toBe(0);
  });
});

/** Between the command and the lab. */
const STATES = {
  up: null,
  down: (response: ServerResponse) => response.socket!.destroy(),
  hanging: () => {},
  alternating: (response: ServerResponse, request: number) => response.writeHead(request % 2 ? 404 : 401).end("{}"),
} as const;
let state: keyof typeof STATES = "up";
let requests = 0;
const between = createServer((request, response) => {
  requests++;
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    const lie = STATES[state];
    if (lie !== null) return void lie(response, requests);
    const headers = Object.entries(request.headers).flatMap(([name, value]) =>
      typeof value === "string" && !["host", "connection", "content-length"].includes(name) ? [[name, value]] : [],
    );
    void fetch(`${lab.baseUrl}${request.url!}`, {
      method: request.method!,
      headers: headers as [string, string][],
      body: Buffer.concat(pieces),
    }).then(async (answer) => response.writeHead(answer.status).end(await answer.text()));
  });
});
await new Promise<void>((resolve) => between.listen(0, "127.0.0.1", resolve));
beforeEach(() => void (state = "up"));
afterAll(() => {
  between.closeAllConnections();
  between.close();
});
const baseUrl = `http://127.0.0.1:${(between.address() as AddressInfo).port}`;
const blind = [...asked, "--base-url", baseUrl];
blind.splice(asked.indexOf("--base-url"), 2);

const eventsOf = (path: string): string[] =>
  (entriesOf(path) as LogEntry[]).map((entry) => ("event" in entry ? entry.event : entry.verdict));

describe("the built command, without the service,", () => {
  it("records an outage once and delivers its beginning and end, killed in between", { timeout: 120_000 }, async () => {
    const [path, told] = [newLog(), join(folder, "told-of-outages")];
    const slow = ["--on-outage", `cat > '${told}.tmp'; sleep 0.5; cat '${told}.tmp' >> '${told}'`];
    const args = [...blind, "--log", path, "--outage-after", "0", ...slow];
    const delivered = (): string[] => (existsSync(told) ? readFileSync(told, "utf8").split("\n").slice(0, -1) : []);
    const first = new Process([...args, "--app", "signer", "policy-engine"].toSpliced(1, 2));
    await first.until(() => entriesOf(path).length === 2);
    state = "alternating";
    await first.until(() => entriesOf(path).length > 2);
    // Killed while it delivers.
    first.child.kill("SIGKILL");
    await first.ended;
    const second = new Process([...args, "--app", "signer", "policy-engine"].toSpliced(1, 2));
    state = "down";
    await second.until(() => delivered().length > 0);
    second.child.kill("SIGKILL");
    await second.ended;
    expect(eventsOf(path).filter((event) => event === "outage-ended")).toEqual([]);
    const third = new Process([...args, "--app", "signer", "policy-engine"].toSpliced(1, 2));
    await third.until(() => third.stderr.includes("still, since"));
    state = "up";
    const recorded = (): string[] => outagesIn(path);
    const names = (event: string): unknown[] =>
      recorded()
        .map((line) => JSON.parse(line) as LogEntry)
        .flatMap((entry) => ("watched" in entry && entry.event === event ? entry.watched : []));
    await third.until(() => names("outage-ended").length === 2 && isOutageDelivered(path));
    third.child.kill("SIGTERM");
    expect((await third.ended).code).toBe(0);
    expect([...new Set(delivered())]).toEqual(recorded());
    expect(names("outage-began")).toHaveLength(2);
    expect(names("outage-ended")).toHaveLength(2);
    expect((await run("log", "verify", path)).code).toBe(0);
  });

  it("posts both entries to a URL, as refusals are posted", { timeout: 60_000 }, async () => {
    const path = newLog();
    const received: string[] = [];
    const server = createServer((request, response) => {
      let text = "";
      request.setEncoding("utf8").on("data", (piece: string) => (text += piece));
      request.on("end", () => {
        received.push(text);
        response.writeHead(received.length === 1 ? 500 : 204).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    const watching = new Process(words`${blind} --log ${path} --outage-after 0 --on-outage ${url} --format json`);
    await watching.until(() => entriesOf(path).length === 1);
    state = "down";
    await watching.until(() => received.length === 2);
    state = "up";
    await watching.until(() => received.length === 3 && isOutageDelivered(path));
    watching.child.kill("SIGTERM");
    const { code, stdout, stderr } = await watching.ended;
    server.close();
    const [began, ended] = outagesIn(path);
    expect([code, received]).toEqual([0, [began, began, ended]]);
    expect(stdout).toBe(readFileSync(path, "utf8"));
    expect(stderr).toMatch(
      /warning: \S+Z the outage of entry 3 was not delivered: 127\.0\.0\.1:\d+ responded with HTTP 500; will retry\n/,
    );
    expect(stderr).toMatch(/note: \S+Z the outage of entry 3 was delivered at attempt 2\n/);
  });

  it.each([
    ["SIGTERM", "hanging", 1],
    ["SIGINT", "hanging", 1],
    ["SIGTERM", "down", 4],
  ] as const)("ends with 3 and a sentence at a %s, %s", async (signal, how, least) => {
    state = how;
    requests = 0;
    const watching = new Process(blind);
    await watching.until(() => requests >= least);
    watching.child.kill(signal);
    const { code, stdout, stderr } = await watching.ended;
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toMatch(/warning: \S+Z signer: NOT WATCHED: the watch ended before it received a boot proof\n$/);
  });

  it("ends with 0, as before, if each was seen", async () => {
    const path = newLog();
    const watching = new Process([...blind, "--log", path]);
    await watching.until(() => entriesOf(path).length === 1);
    requests = 0;
    state = "hanging";
    await watching.until(() => requests > 0);
    watching.child.kill("SIGTERM");
    expect(await watching.ended).toMatchObject({ code: 0, stderr: "" });
  });

  it.each(["hanging", "down"] as const)("ends with 3 after --max-silence: %s", async (how) => {
    state = how;
    const { code, stderr } = await run(...blind, "--max-silence", "2s");
    expect(code).toBe(3);
    const said = how === "hanging" ? "the service does not respond" : "\\S+ the service cannot be reached .*";
    const silence = "not seen since \\S+Z, longer than --max-silence";
    const sentence = `signer: NOT WATCHED: ${silence}: ${said}\\. The watch ends\\n$`;
    expect(stderr).toMatch(new RegExp(sentence));
  });
});

describe.skipIf(process.platform === "win32")("SIGHUP", () => {
  const [one, two] = [new LabSigstore(), new LabSigstore()];
  const [rootOne, rootTwo] = [one, two].map(({ trustedRoot }) => JSON.stringify(trustedRoot)) as [string, string];
  const { deployments, ...rest } = lab.policyFile;
  const demanding = deployments.map((deployment) => ({
    ...deployment,
    provenance: [labProvenancePin({ file: "roots.jsonl" })],
  }));
  const bundles = deployments.map(({ pivotHash }) =>
    one.attest({ at: new Date(), digest: Buffer.from([pivotHash].flat()[0]!, "hex") }),
  );
  let own = "";
  const write = (files: Readonly<Record<string, string>>): void => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(own, name), text);
  };
  /** A watch of a folder with a policy, its roots and bundles. */
  const started = async (path: string, ...more: string[]): Promise<Process> => {
    own = mkdtempSync(join(folder, "own-"));
    const roots = `${rootTwo}\n${rootOne}\n`;
    write({ "policy.json": JSON.stringify({ ...rest, deployments: demanding }), "roots.jsonl": roots });
    write({ "builds.jsonl": bundles.join("\n") });
    const files = ["--policy", join(own, "policy.json"), "--provenance", join(own, "builds.jsonl")];
    const watching = new Process([...asked.toSpliced(asked.indexOf("--policy"), 2), ...files, "--log", path, ...more]);
    await watching.until(() => entriesOf(path).length === 1);
    expect(entriesOf(path)).toMatchObject([{ verdict: "verified" }]);
    return watching;
  };

  it("reads policy, roots and bundles again, and rejects by what was removed", { timeout: 60_000 }, async () => {
    const path = newLog();
    const watching = await started(path);
    watching.child.kill("SIGHUP");
    await watching.until(() => watching.stderr.includes("the setting was read again: nothing has changed\n"));
    expect(eventsOf(path)).toEqual(["verified"]);
    // The root that signed stood at the file's end.
    write({ "roots.jsonl": `${rootTwo}\n` });
    watching.child.kill("SIGHUP");
    await watching.until(() => eventsOf(path).length === 3);
    expect(watching.stderr).toContain("the setting was read again: the next poll uses its trusted roots\n");
    expect(eventsOf(path)).toEqual(["verified", "setting-changed", "rejected"]);
    write({ "roots.jsonl": rootOne });
    watching.child.kill("SIGHUP");
    await watching.until(() => eventsOf(path).length === 5);
    write({ "builds.jsonl": one.attest({ at: new Date(), digest: new Uint8Array(32) }) });
    watching.child.kill("SIGHUP");
    await watching.until(() => eventsOf(path).length === 7);
    expect(entriesOf(path).flatMap((entry) => ("changed" in entry ? [entry.changed] : []))).toEqual([
      ["trustedRoots"],
      ["trustedRoots"],
      ["provenance"],
    ]);
    expect(entriesOf(path).at(-1)).toMatchObject({ verdict: "rejected" });
    watching.child.kill("SIGTERM");
    const { code, stdout } = await watching.ended;
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/ #3 SETTING CHANGED: its trusted roots; the policy is now .*\n/),
    ]);
    expect((await run("log", "verify", path)).code).toBe(0);
  });

  it("applies nothing where a file is bad, and all of it once it is whole", { timeout: 60_000 }, async () => {
    const path = newLog();
    const watching = await started(path, "--metrics", "127.0.0.1:0");
    await watching.until(() => /metrics are at \S+\/metrics/.test(watching.stderr));
    const [, url] = /metrics are at (\S+)\/metrics/.exec(watching.stderr)!;
    const isReady = async (): Promise<boolean> => (await fetch(`${url!}/readyz`)).status === 200;
    const become = async (ready: boolean): Promise<void> => {
      while ((await isReady()) !== ready) await new Promise((resolve) => setTimeout(resolve, 50));
    };
    await become(true);
    const policyText = readFileSync(join(own, "policy.json"), "utf8");
    // A revocation, beside a policy that is written by halves.
    write({ "roots.jsonl": `${rootTwo}\n`, "policy.json": policyText.slice(0, 40) });
    watching.child.kill("SIGHUP");
    await become(false);
    expect(eventsOf(path)).toEqual(["verified", "setting-refused"]);
    const file = join(own, "policy.json");
    const reason = expect.stringContaining("not strict JSON") as string;
    expect(entriesOf(path)[1]).toMatchObject({ faults: [{ file, reason }] });
    expect(watching.stderr).toMatch(/warning: \S+Z the reload was refused: \S+policy\.json: not strict JSON/);
    rmSync(join(own, "builds.jsonl"));
    write({ "policy.json": policyText });
    await watching.until(() => eventsOf(path).length === 3);
    expect(entriesOf(path)[2]).toMatchObject({
      faults: [{ file: join(own, "builds.jsonl"), reason: "no such file" }],
    });
    expect(await isReady()).toBe(false);
    write({ "builds.jsonl": bundles.join("\n") });
    await watching.until(() => eventsOf(path).length === 5);
    expect(eventsOf(path).slice(3)).toEqual(["setting-changed", "rejected"]);
    await become(true);
    watching.child.kill("SIGTERM");
    expect((await watching.ended).code).toBe(1);
  });

  it("says that a policy from stdin cannot be read again, and stays ready", async () => {
    const path = newLog();
    const shell = `exec "$0" "$@" < '${policy}'`;
    const watching = new Process([...asked.map((word) => (word === policy ? "-" : word)), "--log", path], shell);
    await watching.until(() => entriesOf(path).length === 1);
    watching.child.kill("SIGHUP");
    const sentence = /warning: \S+Z nothing was reloaded, since stdin cannot be read again: restart/;
    await watching.until(() => sentence.test(watching.stderr));
    watching.child.kill("SIGTERM");
    expect((await watching.ended).code).toBe(0);
    expect(eventsOf(path)).toEqual(["verified"]);
  });
});
