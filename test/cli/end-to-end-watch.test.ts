/** The command keeps watch over a lab: killed, interrupted, refused, out of space. Needs `npm run build`. */
import { generateKeyPairSync } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startLab } from "../../src/lab/index.js";
import { LabSigstore, labProvenancePin } from "../../src/lab/sigstore.js";
import { SYSTEM } from "../../src/run/node.js";
import { Process, killAll, pause } from "./process.js";
import { type Answer, bootproof, connectionTo } from "./support.js";

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
interface Line extends Readonly<Record<string, unknown>> {
  readonly n: number;
  readonly at: string;
  readonly event?: string;
  readonly verdict?: string;
}
const textAt = (path: string): string => (existsSync(path) ? readFileSync(path, "utf8") : "");
const linesOf = (path: string): Line[] =>
  textAt(path)
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
const SIGNS = ["started", "alive", "stopped", "announced"];
/** All but signs of life and what was announced. */
const newsOf = (path: string): Line[] => linesOf(path).filter(({ event = "" }) => !SIGNS.includes(event));
/** The numbers of the lines that the file says were announced. */
const announcedIn = (path: string): unknown[] =>
  linesOf(path).flatMap(({ event, of }) => (event === "announced" ? of : []));

/** In this process. */
const run = (...args: string[]): Promise<Answer> => bootproof(args, { now: new Date().toISOString() });

describe("watch", () => {
  it("once has a line for each application, and a log that is whole", async () => {
    const path = newLog();
    const both = [...asked, "--app", "signer", "policy-engine"].toSpliced(1, 2);
    const first = await run(...both, "--once", "--log", path);
    expect([first.code, first.stderr]).toEqual([0, ""]);
    // Whichever was fetched first.
    expect(first.stdout).toMatch(
      /^\S+Z #1 VERIFIED .*\n\S+Z #2 VERIFIED .*\n\S+Z #3 ALIVE since \S+: signer 1 good, policy-engine 1 good\n$/,
    );
    expect(first.stdout).toMatch(/ signer as "signer lab\.2"\n/);
    expect(first.stdout).toMatch(/ policy-engine as "policy-engine lab\.2"\n/);
    // Nothing is new, and no sign of life is due.
    expect(await run(...both, "--once", "--log", path)).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(await run("log", "verify", path)).toMatchObject({
      stderr: "",
      stdout: expect.stringMatching(/^WHOLE: .*: 3 lines, .*\nHead: [0-9a-f]{64}\nNewest start or sign of life: .*\n/),
    });
  });

  it("announces each refusal to a command, after a restart too, and exits with 1", async () => {
    const [path, told] = [newLog(), join(folder, "told")];
    lab.setFault("stale-manifest");
    const args = [...asked, "--once", "--log", path, "--format", "json", "--on-refusal"];
    const { code, stdout, stderr } = await run(...args, `cat >> '${told}'`);
    expect([code, stderr]).toEqual([1, ""]);
    expect(stdout).toBe(readFileSync(path, "utf8"));
    expect(readFileSync(told, "utf8")).toBe(`${stdout.split("\n")[0]!}\n`);
    expect(announcedIn(path)).toEqual([1]);
    lab.setFault("altered-document");
    // Four waits for another attempt take over a minute.
    const { sleep } = SYSTEM;
    const hurried = vi.spyOn(SYSTEM, "sleep").mockImplementation((ms, signal) => sleep(ms / 20, signal));
    const refused = await run(...args, "exit 1");
    hurried.mockRestore();
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/warning: .*the refusal of line 4 was not announced: the command ended with exit/);
    expect(refused.stderr).toMatch(/warning: a refusal was not announced, and will be when the watch resumes with/);
    // It is announced though the name is good by now.
    lab.setFault(null);
    expect((await run(...args, `cat >> '${told}'`)).code).toBe(0);
    expect([readFileSync(told, "utf8").match(/"n":\d+/g), announcedIn(path)]).toEqual([
      ['"n":1', '"n":4'],
      [1, 4],
    ]);
  });

  it.skipIf(process.platform === "win32")(
    "announces a refusal that its log has no space for, and ends with 2",
    async () => {
      const [path, told] = [newLog(), join(folder, "told-of-full")];
      lab.setFault("stale-manifest");
      const shell = `trap '' XFSZ; ulimit -f 8; exec "$0" "$@"`;
      const args = [...asked, "--log", path, "--on-refusal", `head -c 60 >> '${told}'`];
      const { code, stdout, stderr } = await new Process(args, { shell }).ended;
      expect([code, stdout]).toEqual([2, expect.stringMatching(/\n\S+Z NOT RECORDED REJECTED signer/)]);
      expect(stderr).toMatch(/^warning: \S+Z NOT RECORDED: REJECTED signer/);
      expect(stderr).toContain(`bootproof: ${path}: the file would exceed the largest size`);
      expect(textAt(told)).toMatch(/^\{"run":"bootproof-run\/1","recorded":false,/);
      expect(newsOf(path)).toEqual([]);
      expect((await run(...asked, "--once", "--log", path)).code).toBe(1);
      expect((await run("log", "verify", path)).code).toBe(0);
      const device = await run(...asked, "--once", "--log", "/dev/full");
      expect([device.code, device.stderr]).toEqual([2, expect.stringContaining("/dev/full: expected a regular file")]);
    },
  );

  it("ends with 2, and writes no more, when another process writes to its log", async () => {
    const path = newLog();
    const watching = new Process([...asked, "--log", path]);
    await watching.until(() => newsOf(path).length === 1);
    appendFileSync(path, "{}\n");
    const before = textAt(path);
    await lab.restartEnclave(enclaveId);
    const { code, stderr } = await watching.ended;
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${path}: another program changed it: expected`)]);
    expect(textAt(path)).toBe(before);
  });

  it.each([
    ["SIGTERM", 1],
    // As npx does it, which hands on what the terminal has sent already.
    ["SIGINT", 2],
  ] as const)("goes on until %s, %d times, and leaves log and lock as they should be", async (signal, times) => {
    const path = newLog();
    const watching = new Process([...asked, "--log", path]);
    await watching.until(() => newsOf(path).length === 1);
    const second = await run(...asked, "--log", path, "--once");
    const said = `${path}: in use by process ${watching.child.pid!}: only one process may use a file of results`;
    expect(second).toEqual({ code: 2, stdout: "", stderr: expect.stringContaining(said) });
    for (let count = 0; count < times; count++) watching.child.kill(signal);
    const { code, stderr } = await watching.ended;
    // The last one may come when everything is done, and end what is left.
    expect([stderr, [0, times === 1 ? 0 : null].includes(code)]).toEqual(["", true]);
    expect(existsSync(`${path}.lock`)).toBe(false);
    expect((await run("log", "verify", path)).code).toBe(0);
  });

  const KILLS = process.env["BOOTPROOF_SOAK"] === "full" ? 100 : 5;
  it(`loses and doubles nothing when it is killed ${KILLS} times, in mid-write too`, { timeout: 600_000 }, async () => {
    const [path, told] = [newLog(), join(folder, "told-of-kills")];
    writeFileSync(told, "");
    const args = [...asked, "--log", path, "--on-refusal", `head -c 60 >> '${told}'; echo >> '${told}'`];
    const whole = (): string => {
      const text = textAt(path);
      return text.slice(0, text.lastIndexOf("\n") + 1);
    };
    let [before, countBefore, toldBefore, announcedBefore]: [string, number, number, unknown[]] = ["", 0, 0, []];
    const deliveries = (): number[] => [...textAt(told).matchAll(/"n":(\d+)/g)].map(([, n]) => Number(n));
    for (let round = 0; round < KILLS; round++) {
      lab.setFault(round % 2 === 0 ? "stale-manifest" : null);
      if (round % 2 === 1) await lab.restartEnclave(enclaveId);
      const watching = new Process(args);
      // At any moment of its start in one round of three, else about when it writes what is new.
      const hasWritten = (): boolean => newsOf(path).length > countBefore;
      if (round % 3 !== 2) await watching.until(hasWritten);
      await pause(Math.random() * (round % 3 === 2 ? 1500 : 60));
      await watching.end("SIGKILL");
      if (!existsSync(path)) continue;
      expect(whole().startsWith(before)).toBe(true);
      [before, countBefore] = [whole(), newsOf(path).length];
      // What the file says was announced was, and again is only what a kill cut off before its line.
      const announced = announcedIn(path);
      expect(announced.filter((n) => !deliveries().includes(n as number))).toEqual([]);
      expect(
        deliveries()
          .slice(toldBefore)
          .filter((n) => announcedBefore.includes(n)),
      ).toEqual([]);
      [toldBefore, announcedBefore] = [deliveries().length, announced];
      // As a kill in the middle of a write leaves it.
      const last = before.trimEnd().split("\n").at(-1)!;
      if (round % 3 === 0) appendFileSync(path, last.slice(0, 1 + Math.floor(Math.random() * (last.length - 1))));
    }
    lab.setFault(null);
    expect((await run(...args, "--once")).code).toBe(0);
    expect(whole().startsWith(before)).toBe(true);
    const { code, stdout } = await run("log", "verify", path);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^WHOLE/)]);
    const news = newsOf(path).map(({ entry, verdict }) => `${verdict} ${String(entry)}`);
    expect(news.length).toBeGreaterThan(1);
    expect(news.filter((one, at) => one === news[at - 1])).toEqual([]);
    const handedOn = deliveries();
    expect(handedOn).toEqual(handedOn.toSorted((a, b) => a - b));
    const refusals = newsOf(path).flatMap(({ verdict, n }) => (verdict === "rejected" ? n : []));
    expect([[...new Set(handedOn)], announcedIn(path)]).toEqual([refusals, refusals]);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });
});

const eventsOf = (path: string): string[] => newsOf(path).map(({ event, verdict }) => event ?? verdict!);

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
  const own = mkdtempSync(join(folder, "own-"));
  const write = (files: Readonly<Record<string, string>>): void => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(own, name), text);
  };
  it("goes on in a new log, and reads policy, roots and bundles again, and rejects by what was removed", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const [path, next, note] = [newLog(), newLog(), join(own, "kept.note")];
    write({ "policy.json": JSON.stringify({ ...rest, deployments: demanding }), "builds.jsonl": bundles.join("\n") });
    write({ "roots.jsonl": `${rootTwo}\n${rootOne}\n` });
    write({ "key.pem": privateKey.export({ type: "pkcs8", format: "pem" }).toString() });
    write({ "public.pem": publicKey.export({ type: "spki", format: "pem" }).toString() });
    chmodSync(join(own, "key.pem"), 0o600);
    const files = ["--policy", join(own, "policy.json"), "--provenance", join(own, "builds.jsonl")];
    const given = [...asked.toSpliced(asked.indexOf("--policy"), 2), ...files];
    const signing = ["--checkpoint-key", join(own, "key.pem"), "--checkpoint", note];
    const watching = new Process([...given, "--log", path, ...signing]);
    await watching.until(() => newsOf(path).length === 1);
    renameSync(path, `${path}.1`);
    watching.child.kill("SIGHUP");
    await watching.until(() => watching.stderr.includes("the setting was read again: nothing has changed\n"));
    await watching.until(() => existsSync(path));
    expect(eventsOf(`${path}.1`)).toEqual(["verified"]);
    // The root that signed stood at the file's end.
    write({ "roots.jsonl": `${rootTwo}\n` });
    watching.child.kill("SIGHUP");
    await watching.until(() => eventsOf(path).length === 2);
    expect(watching.stderr).toContain("the setting was read again: the next poll uses its trusted roots\n");
    expect(eventsOf(path)).toEqual(["setting-changed", "rejected"]);
    expect(newsOf(path)[0]).toMatchObject({ changed: ["trustedRoots"] });
    expect((await watching.end()).code).toBe(1);
    // A log that is begun anew names the one before.
    expect((await run(...given, "--once", "--log", next, "--after", path)).code).toBe(1);
    const key = ["--checkpoint", note, "--key", join(own, "public.pem")];
    expect((await run("log", "verify", `${path}.1`, path, next, ...key)).stdout).toMatch(/^WHOLE: /);
    const origin = ["--origin", `bootproof-log/${basename(path)}`];
    const signed = await run("log", "checkpoint", `${path}.1`, path, "--key", join(own, "key.pem"), ...origin);
    expect(signed.stdout).toBe(textAt(note));
  });
});
