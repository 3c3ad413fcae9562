/** The built command against what goes wrong: a row at least of each command. Needs `npm run build`. */
import { spawn } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer as createTlsServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Lab, startLab } from "../../src/lab/index.js";
import { generateApiKey } from "../../src/lab/api-key.js";
import { NitroPki } from "../../src/lab/pki.js";
import { COMMAND, type Ended } from "../cli/process.js";
import { POLICY, entriesOf } from "../run/queue-support.js";
import { type FaultyServer, type Ways, answer, faultyServer, listening, stampIn } from "./servers.js";

const IS_SOAK = process.env["BOOTPROOF_SOAK"] === "full";
const IS_ROOT = process.getuid?.() === 0;
const IS_WINDOWS = process.platform === "win32";
/** Of nobody, whom modes keep from writing. */
const NOBODY = IS_ROOT ? { uid: 65_534, gid: 65_534 } : {};

const folder = mkdtempSync(join(tmpdir(), "bootproof-faults-built-"));
const file = (name: string): string => join(folder, name);
const apiKey = generateApiKey();
let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
  chmodSync(folder, 0o755);
  writeFileSync(file("key.json"), JSON.stringify(apiKey), { mode: 0o644 });
  writeFileSync(file("lab-key.json"), JSON.stringify(lab.apiKey), { mode: 0o644 });
  writeFileSync(file("policy.json"), JSON.stringify(lab.policyFile));
  writeFileSync(file("queue-policy.json"), JSON.stringify(POLICY));
  writeFileSync(
    file("input.ndjson"),
    entriesOf(40)
      .map((entry) => `${Buffer.from(entry).toString("hex")}\n`)
      .join(""),
  );
});
afterAll(async () => {
  await lab.close();
  rmSync(folder, { recursive: true });
});

interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  /** Runs "$0" "$@". */
  readonly shell?: string;
  readonly command?: string;
  readonly isNobody?: boolean;
}

function run(args: readonly string[], { env = {}, shell, command = COMMAND, isNobody = false }: Surroundings = {}) {
  const [program, ...rest] = shell === undefined ? [process.execPath] : ["sh", "-c", shell, process.execPath];
  const child = spawn(program, [...rest, command, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_NO_WARNINGS: "", ...env },
    ...(isNobody && { cwd: "/", ...NOBODY }),
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  return new Promise<Ended>((resolve) => child.on("close", (code) => resolve({ code, stdout, stderr })));
}

const connection = (baseUrl: string): string[] => [
  ...["--base-url", baseUrl, "--organization-id", "o", "--api-key-file", file("key.json")],
];
const toLab = (): string[] => [
  ...["--base-url", lab.baseUrl, "--organization-id", lab.organizationId, "--api-key-file", file("lab-key.json")],
];
const ONLINE: Readonly<Record<string, () => string[]>> = {
  fetch: () => ["fetch", "--app", "signer"],
  verify: () => ["verify", "--app", "signer", "--policy", file("policy.json")],
  watch: () => ["watch", "--app", "signer", "--policy", file("policy.json"), "--once"],
};

async function withServer(ways: Ways, work: (server: FaultyServer, baseUrl: string) => Promise<void>): Promise<void> {
  const server = await faultyServer(ways);
  try {
    await work(server, `http://127.0.0.1:${server.port}`);
  } finally {
    await server.close();
  }
}

/** The sentences of the command, and nothing else: no stack, no key, no stamp. */
function expectSentences(stderr: string, { heads }: FaultyServer): void {
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(stderr).not.toContain(apiKey.privateKey);
  for (const head of heads) expect(stderr).not.toContain(stampIn(head));
}

const quoting: Ways = {
  asked: (socket, head) =>
    socket.end(answer(403, {}, JSON.stringify({ code: 7, message: `no: ${head}`, details: [] }))),
};
const ENCODINGS = Array.from({ length: 6 }, () => "gzip").join(", ");

interface Fault {
  readonly ways: Ways;
  readonly said: RegExp;
  /** Whose built command has to do with it in each run of the tests; that of the others in the long one. */
  readonly tried: string;
  /** Of `--timeout`. */
  readonly seconds?: string;
}

const FAULTS: Readonly<Record<string, Fault>> = {
  "says nothing": { ways: {}, said: /no answer within 400 ms/, tried: "fetch", seconds: "0.4" },
  resets: {
    ways: { asked: (socket) => void socket.resetAndDestroy() },
    said: /cannot be reached \(ECONNRESET\)/,
    tried: "watch",
  },
  "answers HTML": {
    ways: { asked: (socket) => socket.end(answer(200, {}, "<html>")) },
    said: /does not match the interface/,
    tried: "verify",
  },
  redirects: {
    ways: { asked: (socket) => socket.end(answer(302, { location: "/" })) },
    said: /HTTP 302.*not followed/,
    tried: "watch",
  },
  "quotes what it was sent": { ways: quoting, said: /HTTP 403: no: .*\[stamp\]/, tried: "verify" },
};

describe.concurrent.each(Object.keys(ONLINE))("the built command: %s", (name) => {
  const tried = Object.entries(FAULTS).filter(([, fault]) => IS_SOAK || fault.tried === name);
  it.each(tried)("ends with 3 and the reason, where the service %s", async (_, { ways, said, seconds = "10" }) => {
    await withServer(ways, async (server, baseUrl) => {
      const { code, stdout, stderr } = await run([...ONLINE[name]!(), ...connection(baseUrl), "--timeout", seconds]);
      expect([code, stdout, stderr]).toEqual([3, "", expect.stringMatching(said)]);
      expectSentences(stderr, server);
    });
  });

  // Node's own fetch throws where nobody can catch it, when the connection of such an answer ends.
  it.skipIf(name !== "watch" && !IS_SOAK)("ends with a sentence where an answer is packed six times", async () => {
    const ways: Ways = { asked: (socket) => socket.end(answer(200, { "content-encoding": ENCODINGS }, "abc", 30)) };
    await withServer(ways, async (server, baseUrl) => {
      const { code, stdout, stderr } = await run([...ONLINE[name]!(), ...connection(baseUrl), "--timeout", "10"]);
      expect([stdout, [2, 3].includes(code!)]).toEqual(["", true]);
      expect(stderr).toMatch(/cannot be reached/);
      expectSentences(stderr, server);
    });
  });

  it.skipIf(IS_WINDOWS || (name !== "watch" && !IS_SOAK))(
    "ends with 2 where its result cannot be written",
    async () => {
      const { code, stderr } = await run([...ONLINE[name]!(), ...toLab()], { shell: '"$0" "$@" > /dev/full' });
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(/^bootproof: the result could not be written \(ENOSPC\)$/m),
      ]);
    },
  );
});

describe.concurrent("the built command, and TLS", () => {
  it("sends nothing to a host that proves nothing, unless its environment says so, which Node warns of", async () => {
    const { keys, rootCertificate } = new NitroPki().save();
    const pem = (label: string, text: string): string => `-----BEGIN ${label}-----\n${text}\n-----END ${label}-----\n`;
    let requests = 0;
    const tls = createTlsServer(
      { key: pem("PRIVATE KEY", keys.root), cert: pem("CERTIFICATE", rootCertificate) },
      (_, response) => {
        requests++;
        response.end("{}");
      },
    );
    const args = [...ONLINE["fetch"]!(), ...connection(`https://127.0.0.1:${await listening(tls)}`)];
    const refused = await run(args);
    expect([refused.code, requests]).toEqual([3, 0]);
    const off = await run(args, { env: { NODE_TLS_REJECT_UNAUTHORIZED: "0" } });
    expect([off.code, requests, off.stderr]).toEqual([
      3,
      1,
      expect.stringMatching(/NODE_TLS_REJECT_UNAUTHORIZED.*insecure/),
    ]);
    tls.closeAllConnections();
    await new Promise((resolve) => tls.close(resolve));
  });
});

describe.concurrent.each([
  ["audit", () => ["audit", "--policy", file("queue-policy.json"), file("input.ndjson")]],
  ["worker", () => ["worker", "--policy", file("queue-policy.json")]],
])("the built command: %s --queue", (_, args) => {
  it("ends with 3 where the server says nothing, or is another, and shows no password", async () => {
    const html = answer(400, { "content-type": "text/html" }, "<html>");
    const said = (socket: Parameters<NonNullable<Ways["connected"]>>[0]): void => void socket.end(html);
    const servers = [await faultyServer({}), await faultyServer({ connected: said })];
    const ends = servers.map(({ port }) => run([...args(), "--queue", `redis://me:hunter2@127.0.0.1:${port}`]));
    for (const [index, { code, stdout, stderr }] of (await Promise.all(ends)).entries()) {
      expect([code, stdout]).toEqual([3, ""]);
      expect(stderr).toMatch(/^bootproof: redis:\/\/127\.0\.0\.1:\d+: the queue cannot be reached: [^\n]+\n$/);
      expect(stderr).not.toContain("hunter2");
      await servers[index]!.close();
    }
  });
});

/** Where nobody can read the build, as below a home folder that is closed, nothing can be tried as nobody. */
const canBeNobody = (): boolean => {
  for (let path = COMMAND; path !== "/"; path = join(path, "..")) if ((statSync(path).mode & 0o005) === 0) return false;
  return true;
};

describe.skipIf(IS_WINDOWS)("the built command in a folder that may only be read", () => {
  it.skipIf(IS_ROOT && existsSync(COMMAND) && !canBeNobody())("says so, and writes what it can", async () => {
    const closed = file("closed");
    mkdirSync(closed);
    cpSync(file("input.ndjson"), join(closed, "input.ndjson"));
    writeFileSync(join(closed, "results.ndjson"), "");
    chmodSync(join(closed, "results.ndjson"), 0o666);
    chmodSync(closed, 0o555);
    const as = { isNobody: true };
    const log = join(closed, "log.jsonl");
    const watching = await run([...ONLINE["watch"]!(), ...toLab(), "--log", log], as);
    expect([watching.code, watching.stderr]).toEqual([
      2,
      expect.stringContaining(`bootproof: ${log}: permission denied\n`),
    ]);
    const asked = ["audit", "--policy", file("queue-policy.json"), file("input.ndjson"), "--workers", "1"];
    const results = join(closed, "results.ndjson");
    const none = join(closed, "new.ndjson");
    const { code, stderr } = await run([...asked, "--out", none], as);
    expect([code, stderr]).toEqual([2, `bootproof: ${none}: permission denied\n`]);
    // A file that is there may be written without a lock beside it, and is gone on with.
    for (const _ of [1, 2]) expect((await run([...asked, "--out", results, "--resume"], as)).code).toBeOneOf([0, 1]);
    expect(readFileSync(results, "utf8").match(/"verdict":/g)).toHaveLength(40);
    expect((await run(["log", "verify", results], as)).code).toBe(0);
    chmodSync(closed, 0o755);
  });
});
