/**
 * A service, or the network before it, that goes wrong: what the client, fetch and verify --app make of it.
 * What the table of src/cli/README.md promises operators.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type Server as TlsServer, createServer as createTlsServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runAny } from "../../src/cli/commands.js";
import { type Client, type ClientError, createClient } from "../../src/client/index.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { SYSTEM } from "../../src/run/node.js";
import { ORGANIZATION, apiKey, rejectionOf, testStamper } from "../client/support.js";
import { freePort } from "../support/redis.js";
import { NETWORK_FAULTS } from "./network.table.js";
import { type FaultyServer, faultyServer, listening, stampIn } from "./servers.js";
import { toBase64 } from "../../src/bytes.js";
import { certificatePem } from "../../src/verify/trust-anchor.js";

const AT = new Date("2026-03-04T05:06:07.000Z");
const NOW = new Date(AT.getTime() + 60_000);
const lab = new Forge();
const { bootProof, anchorPem } = forgeEvidence({ lab, at: AT });
const APP = String(bootProof["enclaveApp"]);
const GOOD = JSON.stringify({ bootProof });
const policyText = JSON.stringify(labPolicy(anchorPem, [labDeployment(lab)]));
const SLOW_MS = 250;
const ENOUGH_MS = 20_000;

const folder = mkdtempSync(join(tmpdir(), "bootproof-faults-network-"));
const [keyFile, policyFile] = [join(folder, "key.json"), join(folder, "policy.json")];
writeFileSync(keyFile, JSON.stringify(apiKey), { mode: 0o600 });
writeFileSync(policyFile, policyText);

let elsewhere: FaultyServer;
let plain: FaultyServer;
let tls: TlsServer;
let tlsPort: number;
/** That a server with TLS could read, though its certificate is not trusted. */
let requestsWithoutTls = 0;
beforeAll(async () => {
  elsewhere = await faultyServer({});
  plain = await faultyServer({
    connected: (socket) => socket.once("data", () => socket.end("HTTP/1.1 400 No\r\n\r\n")),
  });
  tls = createTlsServer(selfSigned(), () => void requestsWithoutTls++);
  tlsPort = await listening(tls);
});
afterAll(async () => {
  await elsewhere.close();
  await plain.close();
  tls.closeAllConnections();
  await new Promise((resolve) => tls.close(resolve));
  rmSync(folder, { recursive: true });
});

async function clientTo(
  baseUrl: string,
  { isSlow = false, waits = [] }: { readonly isSlow?: boolean; readonly waits?: number[] } = {},
): Promise<Client> {
  const timeoutMs = isSlow ? SLOW_MS : ENOUGH_MS;
  return createClient({
    baseUrl,
    organizationId: ORGANIZATION,
    stamper: await testStamper(),
    maxRetries: 1,
    random: () => 0,
    now: () => NOW,
    timeoutMs,
    sleep: (milliseconds, signal) =>
      milliseconds === timeoutMs ? SYSTEM.sleep(milliseconds, signal) : (waits.push(milliseconds), Promise.resolve()),
  });
}

/** The lab's root: a certificate of a host that nobody has reason to trust. */
function selfSigned(): { readonly key: string; readonly cert: string } {
  const { keys, rootCertificate } = lab.pki.save();
  const pem = (base64: string): string => `-----BEGIN PRIVATE KEY-----\n${base64}\n-----END PRIVATE KEY-----\n`;
  return { key: pem(toBase64(keys.root.pkcs8)), cert: certificatePem(rootCertificate) };
}

/** All that anybody might print of an error. */
function everythingOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const members = JSON.stringify(Object.fromEntries(Object.entries(error)));
  const cause = error.cause === undefined ? "" : everythingOf(error.cause);
  return [error.message, error.stack ?? "", members, cause].join("\n");
}

function expectNoSecret(text: string, heads: readonly string[] = []): void {
  expect(text).not.toContain(apiKey.privateKey);
  for (const head of heads) expect(text).not.toContain(stampIn(head));
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function command(argv: readonly string[], baseUrl: string, { isSlow = false } = {}): Promise<Ended> {
  let [stdout, stderr] = ["", ""];
  const connection = ["--base-url", baseUrl, "--organization-id", ORGANIZATION, "--api-key-file", keyFile];
  const code = await runAny([...argv, ...connection, ...(isSlow ? ["--timeout", String(SLOW_MS / 1000)] : [])], {
    stdin: (async function* () {})(),
    stdout: { write: (text: string) => (stdout += text) },
    stderr: { write: (text: string) => (stderr += text) },
    env: {},
    now: () => NOW,
  });
  return { code, stdout, stderr };
}

const IS_SOAK = process.env["BOOTPROOF_SOAK"] === "full";
/** Both ask by the same client: the second meets each fault in `npm run test:soak`. */
const COMMANDS: readonly (readonly string[])[] = [
  ["fetch", "--app", APP],
  ["verify", "--app", APP, "--policy", policyFile],
];

const table = Object.entries(NETWORK_FAULTS);

it("is what operators are told in the table of src/cli/README.md", () => {
  const readme = readFileSync(new URL("../../src/cli/README.md", import.meta.url), "utf8");
  for (const [name, { row }] of table) expect(readme, name).toContain(`\n| ${row} | `);
});

describe.concurrent.each(table)("a service that answers with %s", (_, fault) => {
  const { code, said, sent = 1, isSlow = false, waitMs, exit: refusal = 3 } = fault;
  const at = async (work: (server: FaultyServer, baseUrl: string) => Promise<void>): Promise<void> => {
    const server = await faultyServer(fault.ways({ good: GOOD, elsewhere }));
    try {
      await work(server, `http://127.0.0.1:${server.port}`);
      expect(elsewhere.connections).toBe(0);
    } finally {
      await server.close();
    }
  };

  it("is told by the client, and a query is repeated where that may help", () =>
    at(async (server, baseUrl) => {
      const waits: number[] = [];
      const client = await clientTo(baseUrl, { isSlow, waits });
      const query = client.getLatestBootProof({ appName: APP });
      if (code === null) expect(await query).toEqual({ bootProof });
      else {
        const error = await rejectionOf<ClientError>(query);
        expect([error.code, error.effect, error.message]).toEqual([code, "none", expect.stringMatching(said)]);
        expectNoSecret(everythingOf(error), server.heads);
      }
      // Where only time ends it, a busy machine may not have come to send it.
      if (isSlow) expect(server.heads.length).toBeLessThanOrEqual(sent);
      else if (server.heads.length > 0) expect(server.heads.length).toBe(sent);
      expect(waits).toEqual(sent > 1 ? [waitMs ?? 0] : []);
      // The same bytes, under the same stamp.
      expect(new Set(server.heads.map(stampIn)).size).toBeLessThanOrEqual(1);
    }));

  it("is told of a submit, which is sent once, with what it may have done", () =>
    at(async (server, baseUrl) => {
      const client = await clientTo(baseUrl, { isSlow });
      const error = await rejectionOf<ClientError>(client.updateWallet({ walletId: "w", walletName: "n" }));
      expect(server.heads.length).toBeLessThanOrEqual(1);
      expect(error.effect).toBe(/HTTP 4\d\d/.test(error.message) ? "none" : "unknown");
      expectNoSecret(everythingOf(error), server.heads);
    }));

  it.each(IS_SOAK ? COMMANDS : COMMANDS.slice(0, 1))(
    "ends %s with 3, or 2 where the key is refused, and the reason",
    (...argv) =>
      at(async (server, baseUrl) => {
        const { code: exit, stdout, stderr } = await command(argv, baseUrl, { isSlow });
        if (code === null) expect([exit, stderr]).toEqual([0, ""]);
        else {
          expect([exit, stdout]).toEqual([refusal, ""]);
          expect(stderr).toMatch(said);
          expect(stderr).toContain(`${baseUrl}: `);
        }
        expectNoSecret(stderr, server.heads);
      }),
  );
});

/** What is not an answer of a service that is there. */
interface Absence {
  readonly baseUrl: () => Promise<string>;
  readonly said: RegExp;
}

const ABSENT: Readonly<Record<string, Absence>> = {
  "nobody listens": { baseUrl: async () => `http://127.0.0.1:${await freePort()}`, said: /reached \(ECONNREFUSED\)/ },
  "its name is not known": {
    baseUrl: () => Promise.resolve("https://service.invalid"),
    said: /reached \((?:ENOTFOUND|EAI_AGAIN)\)/,
  },
  "it has no TLS": {
    baseUrl: () => Promise.resolve(`https://127.0.0.1:${plain.port}`),
    said: /reached \(ERR_SSL_\w+\)/,
  },
  "its certificate is nobody's": {
    baseUrl: () => Promise.resolve(`https://localhost:${tlsPort}`),
    said: /reached \((?:INVALID_PURPOSE|DEPTH_ZERO_SELF_SIGNED_CERT)\)/,
  },
  "it has TLS, and is asked without": {
    baseUrl: () => Promise.resolve(`http://localhost:${tlsPort}`),
    said: /reached \((?:UND_ERR_SOCKET|ECONNRESET|HPE_\w+)\)/,
  },
};

describe.concurrent.each(Object.entries(ABSENT))("a service that is not there: %s", (_, { baseUrl, said }) => {
  it("is told by the client, fetch and verify", async () => {
    const url = await baseUrl();
    const client = await clientTo(url);
    const error = await rejectionOf<ClientError>(client.getLatestBootProof({ appName: APP }));
    expect([error.code, error.effect, error.message]).toEqual(["unreachable", "none", expect.stringMatching(said)]);
    expectNoSecret(everythingOf(error));
    for (const argv of COMMANDS) {
      const { code, stdout, stderr } = await command(argv, url);
      expect([code, stdout, stderr]).toEqual([3, "", expect.stringMatching(said)]);
      expectNoSecret(stderr);
    }
    expect(requestsWithoutTls).toBe(0);
  });
});

describe("without TLS", () => {
  it.each(COMMANDS)("%s asks nobody but this machine", async (...argv) => {
    const { code, stdout, stderr } = await command(argv, "http://service.invalid");
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringMatching(/http:\/\/ is for this machine only/)]);
  });
});
