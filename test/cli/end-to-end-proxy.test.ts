/** The built command as a proxy before a lab, with curl's and Python's own clients. Needs `npm run build`. */
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stampWithApiKey, startLab, writeLabFiles } from "../../src/lab/index.js";
import { type Json, type Sending, envelope, send } from "../lab/support.js";
import { Process, killAll } from "./process.js";
import { scene } from "./support.js";

const folder = mkdtempSync(join(tmpdir(), "bootproof-built-proxy-"));
const path = (name: string): string => join(folder, name);
const PROVEN: Sending = { generateAppProofs: true };
const lab = await startLab();
const files = await writeLabFiles(lab, folder);
const OPTIONS = ["--upstream", lab.baseUrl, "--policy", path(files.policyFile)];
const KEY = ["--api-key-file", path(files.apiKeyFile)];
const run = promisify(execFile);

interface Started {
  readonly process: Process;
  readonly url: string;
}

async function started(args: readonly string[]): Promise<Started> {
  const process = new Process(["proxy", ...OPTIONS, ...args]);
  await process.until(() => process.stdout.endsWith("\n"));
  const [, url] = /^listening on (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(process.stdout)!;
  return { process, url: url! };
}

let proxy: Started;
beforeAll(async () => {
  proxy = await started([...KEY, "--health-file", path("health.json")]);
});
afterAll(async () => {
  killAll();
  await lab.close();
  rmSync(folder, { recursive: true });
});

const through = (url: string): typeof lab => Object.create(lab, { baseUrl: { value: url } }) as typeof lab;
let count = 0;
const rename = (sending = PROVEN): string =>
  envelope(lab, "ACTIVITY_TYPE_UPDATE_WALLET", { walletId: lab.ids.walletId, walletName: `built ${++count}` }, sending);

interface Said {
  readonly status: number;
  readonly verified: string;
  readonly body: Json;
}
type Client = (url: string, bodyFile: string, stamp: string) => Promise<Said>;

const curl: Client = async (url, file, stamp) => {
  const form = "\n%{http_code} %header{x-bootproof-verified}";
  const headers = ["-H", "Content-Type: application/json", "-H", `X-Stamp: ${stamp}`];
  const { stdout } = await run("curl", ["-sS", "-w", form, ...headers, "--data-binary", `@${file}`, url]);
  const [body, last] = stdout.split("\n") as [string, string];
  const [status, verified = ""] = last.split(" ");
  return { status: Number(status), verified, body: JSON.parse(body) as Json };
};

const PYTHON = {
  "http.client": `
import http.client, json, sys, urllib.parse
url, file, stamp = sys.argv[1:]
parts = urllib.parse.urlsplit(url)
connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
connection.request("POST", parts.path, open(file, "rb").read(), {"Content-Type": "application/json", "X-Stamp": stamp})
answer = connection.getresponse()
print(json.dumps([answer.status, answer.getheader("X-Bootproof-Verified", ""), json.loads(answer.read())]))
`,
};
const python =
  (script: string): Client =>
  async (...args) => {
    const { stdout } = await run("python3", ["-c", script, ...args]);
    const [status, verified, body] = JSON.parse(stdout) as [number, string, Json];
    return { status, verified, body };
  };

const CLIENTS: readonly (readonly [name: string, program: string, client: Client])[] = [
  ["curl", "curl", curl],
  ...Object.entries(PYTHON).map(([name, script]) => [`Python's ${name}`, "python3", python(script)] as const),
];
const isThere = (program: string): boolean => spawnSync(program, ["--version"]).status === 0;

describe.each(CLIENTS.filter(([, program]) => isThere(program)))("%s through the built proxy", (_, __, client) => {
  const post = (operation: string, text: string): Promise<Said> => {
    writeFileSync(path("body.json"), text);
    return client(`${proxy.url}/public/v1/${operation}`, path("body.json"), stampWithApiKey(lab.apiKey, text));
  };

  it("gets verified results, and no others", async () => {
    const { status, verified, body } = await post("submit/update_wallet", rename());
    expect([status, verified]).toEqual([200, "activity"]);
    expect(body["activity"].result.updateWalletResult).toEqual({ walletId: lab.ids.walletId });
    const asked = JSON.stringify({ organizationId: lab.organizationId, userId: lab.ids.userId });
    expect(await post("query/get_user", asked)).toMatchObject({ status: 200, verified: "none" });
    expect((await post("submit/update_wallet", rename({}))).status).toBe(400);
    lab.setFault("tampered-payload");
    const refused = await post("submit/update_wallet", rename());
    expect(refused.status).toBe(502);
    expect((refused.body["details"] as Json[]).map(({ id }) => id as string)).toContain("app.signature");
    lab.setFault(null);
  });

  it("gets a large body through", async () => {
    // Beyond 1 MiB curl asks first: Expect: 100-continue. The lab refuses such a body itself.
    const text = rename().replace("built", "b".repeat(1_100_000));
    expect(await post("submit/update_wallet", text)).toMatchObject({ status: 413, verified: "none" });
  });
});

describe("the built proxy", () => {
  it("writes each refusal to stderr, and its health to a file", async () => {
    lab.setFault("forged-leaf");
    await send(through(proxy.url), "submit/update_wallet", rename());
    lab.setFault(null);
    expect(proxy.process.stderr).toMatch(/^502 submit\/update_wallet: rejected: .*chain\./m);
    const { url, at } = JSON.parse(readFileSync(path("health.json"), "utf8")) as Json;
    expect(url).toBe(proxy.url);
    expect(Date.now() - Date.parse(String(at))).toBeLessThan(60_000);
  });

  const { usage } = scene({
    ...{ up: lab.baseUrl, options: OPTIONS, key: KEY, path: `${lab.baseUrl}/public/v1`, lab: path(files.apiKeyFile) },
    ...{ policy: path(files.policyFile), none: path("no/health"), port: new URL(lab.baseUrl).port },
  });
  usage("proxy", [
    ["--policy $policy $key", "--upstream URL is required"],
    ["--upstream $up $key", "--policy FILE is required"],
    ["$options", "or --boot-proof FILE… is required: the source of the boot proofs"],
    ["$options $key --boot-proof boot.json", "cannot be used with"],
    ["$options --api-key 00", "every process of this machine can read a key"],
    ["--upstream http://api.example.com --policy p $key", "http:// is for this machine"],
    ["--upstream $path --policy p $key", "must not end in /public/v1"],
    ["$options $key --port 65536", "--port 65536: expected a number from 0 to 65535"],
    ["$options $key --port $port", "in use by another process"],
    ["--upstream $up --policy $lab $key", "this is an API key file"],
    ["$options $key --health-file $none", "--health-file"],
    ["$options --boot-proof $policy", "this is a policy"],
    ["$options $key --accept service", "--accept requires --verify-addresses"],
    ["$options --boot-proof boot.json --verify-addresses", "--boot-proof cannot be used with --verify-addresses"],
    ["$options $key --verify-addresses --accept contradicted", "--accept contradicted"],
  ]);
});
