/** The built command against what only a process can meet. Needs `npm run build`. */
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer as createTlsServer } from "node:https";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { startLab } from "../../src/lab/index.js";
import { NitroPki } from "../../src/lab/pki.js";
import { COMMAND, type Ended, Process, type Start } from "../cli/process.js";
import { POLICY, entriesOf } from "../run/queue-support.js";
import { testFolder } from "../support/folder.js";
import { answer, faultyServer, listening, stampIn } from "./servers.js";
import { toBase64 } from "../../src/bytes.js";
import { certificatePem } from "../../src/verify/trust-anchor.js";

const IS_SOAK = process.env["BOOTPROOF_SOAK"] === "full";
const IS_ROOT = process.getuid?.() === 0;
const IS_WINDOWS = process.platform === "win32";

const folder = testFolder();
const written = (name: string, content: string | object, mode = 0o644): string => {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content), { mode });
  return path;
};
const lab = await startLab();
afterAll(() => lab.close());
chmodSync(folder, 0o755);
const key = written("key.json", lab.apiKey);
const policy = written("policy.json", lab.policyFile);

const run = (args: readonly string[], start: Start = {}): Promise<Ended> => new Process(args, start).ended;
const connection = (baseUrl: string): string[] => [
  ...["--base-url", baseUrl, "--organization-id", lab.organizationId, "--api-key-file", key],
];
const ONLINE: Readonly<Record<string, string[]>> = {
  fetch: ["fetch", "--app", "signer"],
  verify: ["verify", "--app", "signer", "--policy", policy],
  watch: ["watch", "--app", "signer", "--policy", policy, "--once"],
};

describe.each(Object.keys(ONLINE).filter((name) => name === "watch" || IS_SOAK))("the built command: %s", (name) => {
  // Node's own fetch throws where nobody can catch it, when the connection of such an answer ends.
  it("ends with a sentence where an answer is packed six times", async () => {
    const headers = { "content-encoding": Array(6).fill("gzip").join(", ") };
    const server = await faultyServer({ asked: (socket) => socket.end(answer(200, headers, "abc", 30)) });
    const given = [...ONLINE[name]!, ...connection(`http://127.0.0.1:${server.port}`), "--timeout", "10"];
    const { code, stdout, stderr } = await run(given);
    expect([stdout, [2, 3].includes(code!), stderr]).toEqual(["", true, expect.stringMatching(/cannot be reached/)]);
    // No stack, no key, no stamp.
    expect(stderr).not.toMatch(/^\s+at /m);
    for (const secret of [lab.apiKey.privateKey, ...server.heads.map(stampIn)]) expect(stderr).not.toContain(secret);
    await server.close();
  });

  it.skipIf(IS_WINDOWS)("ends with 2 where its result cannot be written", async () => {
    const given = [...ONLINE[name]!, ...connection(lab.baseUrl)];
    const { code, stderr } = await run(given, { shell: '"$0" "$@" > /dev/full' });
    const said = /^bootproof: the result could not be written \(ENOSPC\)$/m;
    expect([code, stderr]).toEqual([2, expect.stringMatching(said)]);
  });
});

it("the built command sends nothing to a host that proves nothing, unless its environment says so", async () => {
  const { keys, rootCertificate } = new NitroPki().save();
  const pem = (text: string): string => `-----BEGIN PRIVATE KEY-----\n${text}\n-----END PRIVATE KEY-----\n`;
  let requests = 0;
  const tls = createTlsServer(
    { key: pem(toBase64(keys.root.pkcs8)), cert: certificatePem(rootCertificate) },
    (_, response) => (requests++, response.end("{}")),
  );
  const given = [...ONLINE["fetch"]!, ...connection(`https://127.0.0.1:${await listening(tls)}`)];
  expect([(await run(given)).code, requests]).toEqual([3, 0]);
  const off = await run(given, { env: { NODE_TLS_REJECT_UNAUTHORIZED: "0", NODE_NO_WARNINGS: "" } });
  const warned = /NODE_TLS_REJECT_UNAUTHORIZED.*insecure/;
  expect([off.code, requests, off.stderr]).toEqual([3, 1, expect.stringMatching(warned)]);
  tls.closeAllConnections();
  await new Promise((resolve) => tls.close(resolve));
});

/** Where nobody can read the build, as below a home folder that is closed, nothing can be tried as nobody. */
const canBeNobody = (): boolean => {
  for (let path = COMMAND; path !== "/"; path = join(path, "..")) if ((statSync(path).mode & 0o005) === 0) return false;
  return true;
};

it.skipIf(IS_WINDOWS || (IS_ROOT && existsSync(COMMAND) && !canBeNobody()))(
  "the built command in a folder that may only be read says so, and writes what it can",
  async () => {
    const lines = entriesOf(40).map((entry) => `${Buffer.from(entry).toString("hex")}\n`);
    const input = written("input.ndjson", lines.join(""));
    const closed = join(folder, "closed");
    mkdirSync(closed);
    const results = written("closed/results.ndjson", "");
    chmodSync(results, 0o666);
    chmodSync(closed, 0o555);
    // Of nobody, whom modes keep from writing.
    const start = IS_ROOT ? { shell: 'cd / && exec "$0" "$@"', uid: 65_534 } : {};
    const asked = ["audit", "--policy", written("queue.json", POLICY), input, "--workers", "1", "--out"];
    const log = join(closed, "log.jsonl");
    for (const given of [
      [...ONLINE["watch"]!, ...connection(lab.baseUrl), "--log", log],
      [...asked, log],
    ]) {
      const { code, stderr } = await run(given, start);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`bootproof: ${log}: permission denied\n`)]);
    }
    // A file that is there may be written without a lock beside it, and is gone on with.
    for (const code of [1, 0]) expect((await run([...asked, results, "--resume"], start)).code).toBe(code);
    expect(readFileSync(results, "utf8").match(/"verdict":/g)).toHaveLength(40);
    expect((await run(["log", "verify", results], start)).code).toBe(0);
    chmodSync(closed, 0o755);
  },
);
