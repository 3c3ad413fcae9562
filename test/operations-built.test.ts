/**
 * The examples of docs/operations.md and docs/audit-and-watch.md that need a build: the image by the steps of its
 * Dockerfile, each container against a lab, and the queue. Needs `npm run build`,
 * redis-server, and for the image npm's registry.
 */
import { execFile, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { Forge, forgeEvidence } from "../src/lab/forge.js";
import { startLab } from "../src/lab/index.js";
import { COMMAND, Process, killAll } from "./cli/process.js";
import { ROOT, npm, pack, run } from "./package/support.js";
import { testFolder } from "./support/folder.js";
import { NO_REDIS, WITHOUT_REDIS, redisServer } from "./support/redis.js";

if (NO_REDIS) console.warn(WITHOUT_REDIS);
const folder = testFolder();
const newFolder = (name: string): string => {
  mkdirSync(join(folder, name));
  return join(folder, name);
};

function blocksOf(document: string, language: string): string[] {
  const text = readFileSync(join(ROOT, document), "utf8");
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(([, block]) => block!);
}

interface Container {
  readonly args: readonly string[];
}
interface Template {
  readonly spec: { readonly containers: readonly [Container] };
}
interface Manifest {
  readonly kind: string;
  readonly spec: {
    readonly template?: Template;
    readonly jobTemplate?: { readonly spec: { readonly template: Template } };
  };
}

const manifests = blocksOf("docs/operations.md", "yaml")
  .filter((text) => text.startsWith("apiVersion:"))
  .flatMap((text) => parseAllDocuments(text).map((one) => one.toJS() as Manifest));

/** The arguments of a manifest's container, with its volumes in a folder, and any free port. */
function argumentsOf(kind: string, at: string): string[] {
  const { spec } = manifests.find((manifest) => manifest.kind === kind)!;
  const [{ args }] = (spec.template ?? spec.jobTemplate!.spec.template).spec.containers;
  for (const name of ["etc/bootproof", "var/lib/bootproof", "evidence"]) mkdirSync(join(at, name), { recursive: true });
  return args.map((word) => word.replace(/(^|=)\//, `$1${at}/`).replace("0.0.0.0:9464", "127.0.0.1:0"));
}

afterEach(killAll);

class Running extends Process {
  constructor(words: readonly string[], env: Readonly<Record<string, string>>, cwd = folder) {
    super([], { shell: `exec ${words.map((word) => `'${word}'`).join(" ")}`, cwd, env });
  }

  /** The address in the message of the start. */
  async url(): Promise<string> {
    await this.until(() => /metrics are at/.test(this.stderr));
    return /http:\/\/127\.0\.0\.1:\d+/.exec(this.stderr)![0];
  }

  async statusOf(path: string): Promise<number> {
    return (await fetch(`${await this.url()}${path}`)).status;
  }

  async stop(): Promise<number | null> {
    return (await this.end()).code;
  }
}

const lab = await startLab();
afterAll(() => lab.close());
const CONNECTION: Readonly<Record<string, string>> = {
  BOOTPROOF_BASE_URL: lab.baseUrl,
  BOOTPROOF_ORGANIZATION_ID: lab.organizationId,
  BOOTPROOF_API_PUBLIC_KEY: lab.apiKey.publicKey,
  BOOTPROOF_API_PRIVATE_KEY: lab.apiKey.privateKey,
};

describe("the containers", () => {
  it("of the StatefulSet are alive and ready, and end with 0 on SIGTERM", async () => {
    const at = newFolder("watch");
    const args = argumentsOf("StatefulSet", at);
    writeFileSync(join(at, "etc/bootproof/policy.json"), JSON.stringify(lab.policyFile));
    const watch = new Running([process.execPath, COMMAND, ...args], CONNECTION);
    await watch.until(async () => (await watch.statusOf("/readyz")) === 200);
    expect(await watch.statusOf("/healthz")).toBe(200);
    const text = await (await fetch(`${await watch.url()}/metrics`)).text();
    expect(text).toContain('bootproof_watch_refused{app="signer"} 0');
    expect(await watch.stop()).toBe(0);
    expect(statSync(join(at, "var/lib/bootproof/watch.jsonl")).size).toBeGreaterThan(1000);
  });
});

describe("the image", () => {
  const [steps = ""] = blocksOf("docs/operations.md", "sh").filter((text) => text.includes("vendor"));
  const [dockerfile = ""] = blocksOf("docs/operations.md", "dockerfile");

  it("is made by its steps, with an empty cache of npm, and runs", { timeout: 300_000 }, async () => {
    const at = newFolder("somewhere");
    const clone = newFolder("somewhere/bootproof");
    await pack(clone);
    const shell = (text: string, cwd: string, env: Readonly<Record<string, string>> = {}): Promise<unknown> =>
      promisify(execFile)("bash", ["-c", `set -euo pipefail\n${text}`], { cwd, env: { ...process.env, ...env } });
    // The block's last lines are typed in the folder that its first line makes.
    const paths = steps.replace("../bootproof/", `${clone}/`);
    await shell(paths, at, { npm_config_cache: newFolder("cache-of-steps") });
    const app = newFolder("app");
    let entrypoint: string[] = [];
    for (const [, word, rest] of dockerfile.matchAll(/^([A-Z]+) (.*)$/gm)) {
      const [from = "", to = ""] = [rest!.split(" ").slice(0, -1).join(" "), rest!.split(" ").at(-1)!];
      if (word === "COPY")
        for (const name of from.split(" "))
          cpSync(join(at, "image", name), to === "./" ? join(app, name) : join(app, to), { recursive: true });
      if (word === "RUN") await shell(rest!, app, { npm_config_cache: newFolder("cache-of-image") });
      if (word === "ENTRYPOINT") entrypoint = JSON.parse(rest!) as string[];
    }
    const [program, ...args] = entrypoint.map((text) => text.replace(/^\/app\//, `${app}/`));
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
    expect(await run(program!, [...args, "--version"], app)).toMatchObject({ status: 0, stdout: `${version}\n` });
    const watch = argumentsOf("StatefulSet", app);
    writeFileSync(join(app, "etc/bootproof/policy.json"), JSON.stringify(lab.policyFile));
    const running = new Running([program!, ...args, ...watch], CONNECTION, app);
    await running.until(async () => (await running.statusOf("/readyz")) === 200);
    expect(await running.stop()).toBe(0);
    // Without the folder of the tarball, a lock file that names it cannot be installed.
    const without = newFolder("without");
    for (const name of ["package.json", "package-lock.json"]) cpSync(join(at, "image", name), join(without, name));
    await expect(npm(["ci", "--omit=dev", "--cache", newFolder("cache-without")], without)).rejects.toThrow(
      /bootproof-.*\.tgz/,
    );
  });
});

describe("the block of kubectl", () => {
  it("makes what the manifests refer to", async () => {
    const [block = ""] = blocksOf("docs/operations.md", "sh").filter((text) => text.includes("kubectl create"));
    const at = newFolder("kubectl");
    // It writes each argument in a line, and fails where a file is not there, as kubectl does.
    const check = `case "$each" in --from-*) test -r "\${each#*=}" || exit 1; esac`;
    const script = `#!/bin/sh\nfor each; do echo "$each"; ${check}; done\n`;
    writeFileSync(join(at, "kubectl"), script, { mode: 0o755 });
    for (const name of ["policy.json", "watch.env", "worker.env"]) writeFileSync(join(at, name), "");
    const options = { cwd: at, env: { PATH: `${at}:${process.env["PATH"]!}` } };
    const { stdout } = await promisify(execFile)("bash", ["-c", `set -euo pipefail\n${block}`], options);
    const made = [...stdout.matchAll(/^create\n(?:secret\n)?(?:generic|configmap)\n(.*)$/gm)].map(([, name]) => name);
    const named = JSON.stringify(manifests).matchAll(/"(?:secretRef|configMap)":\{"name":"([\w-]+)"/g);
    expect(new Set([...named].map(([, name]) => name))).toEqual(new Set(made));
  });
});

describe("the blocks about the chain", () => {
  const text = readFileSync(join(ROOT, "docs/audit-and-watch.md"), "utf8");
  const [, section = ""] = /^### What the chain shows\n(.*?)^##/ms.exec(text) ?? [];
  const blocks = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block!);
  const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

  it.skipIf(!hasOpenssl)("run one after the other, on a log that becomes two files (needs openssl)", async () => {
    const at = newFolder("chain");
    writeFileSync(join(at, "policy.json"), JSON.stringify(lab.policyFile));
    writeFileSync(join(at, "bootproof"), `#!/bin/sh\nexec "${process.execPath}" "${COMMAND}" "$@"\n`, { mode: 0o755 });
    const env = { ...CONNECTION, PATH: `${at}:${process.env["PATH"]!}` };
    expect(blocks).toHaveLength(3);
    for (const block of blocks) {
      const script = `set -euo pipefail\n${block.replace(" --interval 60s ", " --once ")}`;
      await promisify(execFile)("bash", ["-c", script], { cwd: at, env });
    }
    expect(["boots.1.jsonl", "boots.jsonl"].map((name) => statSync(join(at, name)).size > 1000)).toEqual([true, true]);
  });
});

describe.skipIf(NO_REDIS)("the block of the queue", () => {
  it("judges on another machine", async () => {
    const blocks = blocksOf("docs/audit-and-watch.md", "sh");
    const block = blocks.find((text) => text.includes("bootproof audit worker")) ?? "";
    const redis = await redisServer();
    const at = newFolder("queue");
    const boot = forgeEvidence({ lab: new Forge(), at: new Date(Date.now() - 60_000) });
    writeFileSync(join(at, "proofs.ndjson"), `${JSON.stringify(boot.bootProof)}\n`);
    writeFileSync(join(at, "policy.json"), JSON.stringify(lab.policyFile));
    mkdirSync(join(at, "bin"));
    writeFileSync(join(at, "bin/bootproof"), `#!/bin/sh\nexec "${process.execPath}" "${COMMAND}" "$@"\n`, {
      mode: 0o755,
    });
    const lines = block.replaceAll("redis://127.0.0.1:6379", redis.url).split("\n").filter(Boolean);
    const [secret, worker, audit] = lines.filter((line) => !line.startsWith("npm install"));
    const env = { PATH: `${join(at, "bin")}:${process.env["PATH"]!}` };
    const start = { cwd: at, env };
    expect((await new Process([], { ...start, shell: secret! }).ended).code).toBe(0);
    const working = new Process([], { ...start, shell: `exec ${worker!}` });
    const judging = new Process([], { ...start, shell: `exec ${audit!}` });
    // The proof is of another root than that of the lab's policy.
    expect((await judging.ended).code).toBe(1);
    expect((await working.end()).code).toBe(0);
    expect(working.stderr).toContain("1 entries were verified here");
    expect(working.stderr + judging.stderr).not.toContain("without a secret");
    await redis.close();
  });
});
