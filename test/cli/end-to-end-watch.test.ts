/** The command keeps watch over a lab: killed, interrupted, refused, out of space. Needs `npm run build`. */
import { generateKeyPairSync } from "node:crypto";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startLab } from "../../src/lab/index.js";
import { LabSigstore, labProvenancePin } from "../../src/lab/sigstore.js";
import type { FindingEntry, LogEntry } from "../../src/watch/index.js";
import { SYSTEM } from "../../src/watch/node.js";
import { isSign } from "../watch/support.js";
import { Process, killAll, pause } from "./process.js";
import { type Answer, bootproof, connectionTo, words } from "./support.js";

const folder = mkdtempSync(join(tmpdir(), "bootproof-built-watch-"));
const lab = await startLab();
const policy = join(folder, "policy.json");
writeFileSync(policy, JSON.stringify(lab.policyFile));
const enclaveId = lab.enclaves.filter(({ app }) => app === "signer").at(-1)!.enclaveId;
const asked = ["watch", "--app", "signer", "--policy", policy, "--interval", "1s", ...connectionTo(lab)];
beforeEach(() => lab.setFault(null));
afterEach(killAll);
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

/** In this process. */
const run = (...args: string[]): Promise<Answer> => bootproof(args, { now: new Date().toISOString() });

interface Hook {
  readonly url: string;
  readonly received: string[];
  status: (count: number) => number;
  readonly end: () => void;
}

/** Takes what is posted, and answers with the status that is set. */
async function hook(): Promise<Hook> {
  const received: string[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (piece: string) => (text += piece));
    request.on("end", () => {
      received.push(text);
      response.writeHead(made.status(received.length)).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const made: Hook = { url, received, status: () => 500, end: () => void server.close() };
  return made;
}

describe("watch", () => {
  it("once has an entry for each application, and a log that is whole", async () => {
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
    expect(await run("log", "verify", path)).toMatchObject({
      stderr: "",
      stdout: expect.stringMatching(/^WHOLE: .*: 3 entries, .*\nHead: [0-9a-f]{64}\nNewest start or heartbeat .*\n/),
    });
    // Each line is evidence, with its time.
    const [line] = readFileSync(path, "utf8").split("\n");
    const { at } = JSON.parse(line!) as FindingEntry;
    const evidence = join(folder, "line.json");
    writeFileSync(evidence, line!);
    expect((await run("verify", "--boot-proof", evidence, "--policy", policy, "--now", at, "--quiet")).code).toBe(0);
  });

  it("is of a key, and says that an application is not there", async () => {
    const key = lab.enclaves.at(-1)!.ephemeralKey;
    const keys = await run(...asked.toSpliced(1, 2), "--ephemeral-key", key, "--once", "--format", "json");
    expect([keys.code, (JSON.parse(keys.stdout) as FindingEntry).ephemeralKey]).toEqual([0, key]);
    const missing = await run(...asked.toSpliced(2, 1, "nobody"), "--once");
    expect([missing.code, missing.stdout]).toEqual([3, ""]);
    expect(missing.stderr).toMatch(/^warning: \S+Z nobody: NOT WATCHED: the service has no such boot proof\n$/);
  });

  it("hands each refusal to a command or a URL, again after a restart, and exits with 1", async () => {
    const [path, told] = [newLog(), join(folder, "told")];
    lab.setFault("stale-manifest");
    const args = [...asked, "--once", "--log", path, "--format", "json"];
    const { code, stdout, stderr } = await run(...args, "--on-refusal", `cat >> '${told}'`);
    expect([code, stderr]).toEqual([1, ""]);
    expect(stdout).toBe(readFileSync(path, "utf8"));
    expect(readFileSync(told, "utf8")).toBe(`${stdout.split("\n")[0]!}\n`);
    const target = await hook();
    lab.setFault("altered-document");
    // Four waits for another attempt take over a minute.
    const { sleep } = SYSTEM;
    const hurried = vi.spyOn(SYSTEM, "sleep").mockImplementation((ms, signal) => sleep(ms / 20, signal));
    const refused = await run(...args, "--on-refusal", target.url);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/warning: .*entry 3 was not delivered: 127\.0\.0\.1:\d+ responded with HTTP 500/);
    expect(refused.stderr).toMatch(/warning: a refusal was not delivered, and will be when the watch resumes with/);
    hurried.mockRestore();
    target.status = () => 200;
    expect((await run(...args, "--on-refusal", target.url)).code).toBe(1);
    expect(target.received.map((text) => (JSON.parse(text) as FindingEntry).n)).toEqual(target.received.map(() => 3));
    target.end();
  });

  it.skipIf(process.platform === "win32")("goes on where there is no space for its log", async () => {
    const path = newLog();
    const shell = `trap '' XFSZ; ulimit -f 30; exec "$0" "$@"`;
    const both = [...asked, "--app", "signer", "policy-engine", "--once", "--log", path].toSpliced(1, 2);
    const full = await new Process(both, { shell }).ended;
    expect([full.code, full.stdout.match(/#/g)?.length ?? 0]).toEqual([2, entriesOf(path).length]);
    expect(full.stderr).toMatch(/warning: \S+Z the log cannot be written since \S+Z: \S*the file would exceed/);
    expect((await run(...asked, "--once", "--log", path)).code).toBe(0);
    expect((await run("log", "verify", path)).code).toBe(0);
    const device = await run(...asked, "--once", "--log", "/dev/full");
    expect([device.code, device.stderr]).toEqual([
      2,
      expect.stringMatching(/\/dev\/full: expected a regular file for the log/),
    ]);
  });

  it.each([
    ["SIGTERM", 1],
    // As npx does it, which hands on what the terminal has sent already.
    ["SIGINT", 2],
  ] as const)("goes on until %s, %d times, and leaves log and lock as they should be", async (signal, times) => {
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

  const KILLS = process.env["BOOTPROOF_SOAK"] === "full" ? 40 : 5;
  it(`loses and doubles nothing when it is killed ${KILLS} times, in mid-write too`, { timeout: 300_000 }, async () => {
    const [path, told] = [newLog(), join(folder, "told-of-kills")];
    writeFileSync(told, "");
    const args = [...asked, "--log", path, "--on-refusal", `head -c 60 >> '${told}'; echo >> '${told}'`];
    const whole = (): string => {
      const text = readFileSync(path, "utf8");
      return text.slice(0, text.lastIndexOf("\n") + 1);
    };
    let [before, countBefore] = ["", 0];
    for (let round = 0; round < KILLS; round++) {
      lab.setFault(round % 2 === 0 ? "stale-manifest" : null);
      if (round % 2 === 1) await lab.restartEnclave(enclaveId);
      const watching = new Process(args);
      // At any moment of its start in one round of three, else about when it writes what is new.
      const hasWritten = (): boolean => entriesOf(path).length > countBefore;
      if (round % 3 !== 2) await watching.until(hasWritten);
      await pause(Math.random() * (round % 3 === 2 ? 1500 : 60));
      await watching.end("SIGKILL");
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
    expect(entries.length).toBeGreaterThan(1);
    const news = entries.map(({ evidenceDigest, verdict }) => `${verdict} ${evidenceDigest}`);
    expect(news.filter((one, at) => one === news[at - 1])).toEqual([]);
    const handedOn = [...readFileSync(told, "utf8").matchAll(/"n":(\d+)/g)].map(([, n]) => Number(n));
    expect(handedOn).toEqual([...handedOn].sort((a, b) => a - b));
    const refusals = entries.filter(({ verdict }) => verdict === "rejected").map(({ n }) => n);
    expect([...new Set(handedOn)]).toEqual(refusals);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });
});

it("watch turns its log over with a checkpoint that others keep, which log checkpoint signs the same", async () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const [path, note, own, shared] = ["kept.jsonl", "kept.note", "key.pem", "public.pem"].map((name) =>
    join(folder, name),
  ) as [string, string, string, string];
  writeFileSync(own, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  writeFileSync(shared, publicKey.export({ type: "spki", format: "pem" }));
  const args = [...asked, "--log", path, "--rotate", "20kB", "--checkpoint-key", own, "--checkpoint", note, "--once"];
  const kept: string[] = [];
  for (let round = 0; round < 2; round++) {
    await lab.restartEnclave(enclaveId);
    expect((await run(...args)).code).toBe(0);
    kept.push(readFileSync(note, "utf8"));
  }
  const files = [path, ...[2, 3, 4].map((number) => path.replace(".jsonl", `.${number}.jsonl`))].filter(existsSync);
  expect(files.length).toBeGreaterThan(1);
  expect((await run("log", "checkpoint", ...files, "--key", own)).stdout).toBe(kept[1]);
  for (const text of kept) {
    writeFileSync(note, text);
    const { stdout } = await run("log", "verify", ...files, "--checkpoint", note, "--key", shared);
    expect(stdout).toMatch(/^WHOLE: /);
  }
});

/** Between the command and the lab. */
const STATES = {
  up: null,
  down: (response: ServerResponse) => response.socket!.destroy(),
  hanging: () => {},
} as const;
let state: keyof typeof STATES = "up";
let requests = 0;
const between = createServer((request, response) => {
  requests++;
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    const lie = STATES[state];
    if (lie !== null) return void lie(response);
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
  it("posts both entries of an outage to a URL, as refusals are posted", async () => {
    const path = newLog();
    const target = await hook();
    const { url, received } = target;
    target.status = (count) => (count === 1 ? 500 : 204);
    const watching = new Process(words`${blind} --log ${path} --outage-after 0 --on-outage ${url} --format json`);
    await watching.until(() => entriesOf(path).length === 1);
    state = "down";
    await watching.until(() => received.length === 2);
    state = "up";
    await watching.until(() => received.length === 3 && isOutageDelivered(path));
    const { code, stdout, stderr } = await watching.end();
    target.end();
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
    ["SIGINT", "down", 2],
  ] as const)("ends with 3 and a sentence at a %s, %s", async (signal, how, least) => {
    state = how;
    requests = 0;
    const watching = new Process(blind);
    await watching.until(() => requests >= least);
    const { code, stdout, stderr } = await watching.end(signal);
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toMatch(/warning: \S+Z signer: NOT WATCHED: the watch ended before it received a boot proof\n$/);
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
  const started = async (path: string): Promise<Process> => {
    own = mkdtempSync(join(folder, "own-"));
    const roots = `${rootTwo}\n${rootOne}\n`;
    write({ "policy.json": JSON.stringify({ ...rest, deployments: demanding }), "roots.jsonl": roots });
    write({ "builds.jsonl": bundles.join("\n") });
    const files = ["--policy", join(own, "policy.json"), "--provenance", join(own, "builds.jsonl")];
    const watching = new Process([...asked.toSpliced(asked.indexOf("--policy"), 2), ...files, "--log", path]);
    await watching.until(() => entriesOf(path).length === 1);
    expect(entriesOf(path)).toMatchObject([{ verdict: "verified" }]);
    return watching;
  };

  it("reads policy, roots and bundles again, and rejects by what was removed", async () => {
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
    expect(entriesOf(path)[1]).toMatchObject({ changed: ["trustedRoots"] });
    const { code, stdout } = await watching.end();
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/ #3 SETTING CHANGED: its trusted roots; the policy is now .*\n/),
    ]);
    expect((await run("log", "verify", path)).code).toBe(0);
  });

  it("says that a policy from stdin cannot be read again, and stays ready", async () => {
    const path = newLog();
    const shell = `exec "$0" "$@" < '${policy}'`;
    const watching = new Process([...asked.map((word) => (word === policy ? "-" : word)), "--log", path], {
      shell,
    });
    await watching.until(() => entriesOf(path).length === 1);
    watching.child.kill("SIGHUP");
    const sentence = /warning: \S+Z nothing was reloaded, since stdin cannot be read again: restart/;
    await watching.until(() => sentence.test(watching.stderr));
    expect((await watching.end()).code).toBe(0);
    expect(eventsOf(path)).toEqual(["verified"]);
  });
});
