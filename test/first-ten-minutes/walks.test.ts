/**
 * The first ten minutes of an auditor, of CI and of an author of an SDK: the blocks of README and getting-started,
 * pasted into shells in fresh folders, with an npm cache that begins empty. Needs `npm run build`, npm's registry, git,
 * curl and jq.
 */
import { execFile, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type Process, speaking } from "../cli/process.js";
import { MANIFEST, ROOT, pack } from "../package/support.js";
import { type Block, readBlocks, writeReleases } from "../support/documents.js";
import { testFolder } from "../support/folder.js";

const TOOLS = ["git", "curl", "jq", "npm"];
const missing = TOOLS.filter((tool) => spawnSync("sh", ["-c", `command -v ${tool}`]).status !== 0);
if (missing.length > 0) console.warn(`skipped: ${missing.join(", ")} not installed`);

const folder = testFolder();
const newFolder = (name: string): string => mkdtempSync(join(folder, `${name}-`));
const blocks = [...readBlocks("README.md"), ...readBlocks("docs/getting-started.md"), ...readBlocks("docs/ci.md")];
const tarball = `bootproof-${MANIFEST.version}.tgz`;
let build: string;
let releases: string;
let anchor: string;

beforeAll(async () => {
  build = newFolder("build");
  await pack(build);
  releases = newFolder("releases");
  anchor = writeReleases(releases);
});

/** The blocks under a heading, each once. */
function under(place: string): readonly Block[] {
  const found = blocks.filter((block) => block.place === place);
  if (found.length === 0) throw new Error(`no code under ${place}`);
  return found;
}

/** What fetches, or builds again what this test's build has, and what stands for it. */
const standIns = (): readonly (readonly [line: string, instead: string])[] => [
  ["git clone https://github.com/OWNER/bootproof", "mkdir bootproof"],
  ["cd bootproof && npm ci && npm pack && cd ..", `cp '${build}/${tarball}' bootproof/`],
  ["git clone --depth 1 https://github.com/tkhq/core-enclaves", `cp -R '${releases}/core-enclaves' .`],
];

function withStandIns(text: string): string {
  const lines = text.split("\n").flatMap((line) => {
    const instead = standIns().find(([start]) => line.startsWith(start))?.[1] ?? line;
    // The lab's root stands for that of AWS.
    return line.endsWith("--manifest-set operators.json --out policy.json")
      ? [instead, "node ../anchor.cjs"]
      : [instead];
  });
  return lines.join("\n");
}

interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Of all users: what the first one fetched, the others do not fetch again. */
const npmCache = newFolder("npm-cache");

/** A user: a home of its own, and no variable of npm or bootproof but the cache. */
class User {
  readonly home = newFolder("home");
  readonly #env: NodeJS.ProcessEnv;

  constructor() {
    const own = Object.keys(process.env).filter((name) => /^(?:npm_|bootproof_|git_)/i.test(name));
    const hidden = Object.fromEntries(own.map((name) => [name, undefined]));
    const author = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b.test", GIT_COMMITTER_NAME: "a" };
    const cached = { npm_config_cache: npmCache, npm_config_prefer_offline: "true" };
    const home = { GIT_COMMITTER_EMAIL: "a@b.test", HOME: this.home, NO_COLOR: "1" };
    this.#env = { ...process.env, ...hidden, ...author, ...cached, ...home };
  }

  /** Pastes texts into one POSIX shell. A line that fails ends it. */
  async paste(texts: readonly string[], cwd: string, more: Readonly<Record<string, string>> = {}): Promise<Ended> {
    const script = `set -eu\n${texts.map(withStandIns).join("\n")}\n`;
    const options = { cwd, env: { ...this.#env, ...more }, maxBuffer: 2 ** 26 };
    return promisify(execFile)("sh", ["-c", script], options).then(
      ({ stdout, stderr }) => ({ status: 0, stdout, stderr }),
      (error: { code: number; stdout: string; stderr: string }) => ({ ...error, status: error.code }),
    );
  }

  /** Starts what runs until it is interrupted, and waits for its first words. */
  start(text: string, cwd: string): Promise<Process> {
    return speaking([], { shell: `exec ${text.trim()}`, cwd, env: this.#env });
  }
}

const interrupted = async (lab: Process): Promise<unknown> => (await lab.end("SIGINT")).code;

const [BUILD, AUDITOR, PROJECT] = under("README.md, Install").map(({ text }) => text) as [string, string, string];
const AGAIN = /^export PATH=.*$/m.exec(AUDITOR)![0];
const textsOf = (place: string): string[] => under(place).map(({ text }) => text);
/** The verdicts in the order in which each was first given: pin, which verifies first, and reports repeat theirs. */
const verdicts = (stdout: string): string[] => [...new Set(stdout.match(/^(?:VERIFIED|AUTHENTIC|REJECTED)\b/gm) ?? [])];

/** A folder beside `anchor.cjs`, with another's installation and the given files. */
function beside(installation: string, files: Readonly<Record<string, string>>): string {
  const parent = newFolder("walk");
  const at = join(parent, "here");
  mkdirSync(at);
  symlinkSync(join(installation, "node_modules"), join(at, "node_modules"));
  for (const [name, from] of Object.entries(files)) cpSync(from, join(at, name), { recursive: true });
  const anchors = JSON.stringify([{ pem: anchor }]);
  writeFileSync(
    join(parent, "anchor.cjs"),
    `const fs = require("fs"), policy = JSON.parse(fs.readFileSync("policy.json"));
fs.writeFileSync("policy.json", JSON.stringify({ ...policy, trustAnchors: ${anchors} }));\n`,
  );
  return at;
}

const vector = (name: string): string => join(ROOT, "test-vectors/boot-proofs", name);
const GENUINE = { "boot.json": vector("bootproof-1.json"), "app.json": vector("appproof-1.json") };
const published = (): Readonly<Record<string, string>> =>
  Object.fromEntries(["operators.json", "boot.json", "app.json"].map((name) => [name, join(releases, name)]));

describe.skipIf(missing.length > 0)("the first ten minutes", () => {
  describe("of an auditor", () => {
    const user = new User();
    const parent = newFolder("auditor");
    const audit = join(parent, "audit");

    beforeAll(async () => {
      const install = await user.paste([BUILD, AUDITOR], parent);
      expect([install.status, install.stderr]).toEqual([0, expect.not.stringMatching(/EBADENGINE|warn/)]);
      expect(readdirSync(audit).sort()).toEqual(["node_modules", "package-lock.json", "package.json"]);
    }, 400_000);

    it("who has evidence, or releases", { timeout: 400_000 }, async () => {
      const lab = await user.start("node_modules/.bin/bootproof lab", audit);
      expect(await interrupted(lab)).toBe(0);
      expect(verdicts((await user.paste([AGAIN, "bootproof demo"], audit)).stdout)).toEqual(["VERIFIED", "REJECTED"]);

      const [fromReleases, keep, fromEvidence] = textsOf("README.md, For an auditor") as [string, string, string];
      const release = await user.paste([AGAIN, fromReleases, keep], beside(audit, published()));
      expect([release.status, verdicts(release.stdout)], release.stderr).toEqual([0, ["VERIFIED"]]);
      const own = await user.paste([AGAIN, fromEvidence], beside(audit, GENUINE));
      expect(own.status, own.stderr).toBe(0);

      const evidence = textsOf("docs/getting-started.md, With evidence of your own");
      const second = await user.paste([AGAIN, ...evidence], beside(audit, GENUINE));
      expect([second.status, verdicts(second.stdout)], second.stderr).toEqual([0, ["AUTHENTIC", "VERIFIED"]]);
      const third = await user.paste(
        [AGAIN, ...textsOf("docs/getting-started.md, From published releases")],
        beside(audit, published()),
      );
      expect([third.status, verdicts(third.stdout)], third.stderr).toEqual([0, expect.arrayContaining(["VERIFIED"])]);
      expect(own.stderr).toContain("the evidence itself");
    });

    it("who has a lab, in two terminals", { timeout: 400_000 }, async () => {
      const [first, second] = textsOf("docs/getting-started.md, With the lab") as [string, string];
      const lab = await user.start(first.replace(/^/, "node_modules/.bin/"), audit);
      try {
        // Without AGAIN: the block repeats it.
        const { status, stdout, stderr } = await user.paste([second], audit);
        expect([status, verdicts(stdout)], stderr).toEqual([0, ["VERIFIED", "REJECTED"]]);
      } finally {
        expect(await interrupted(lab)).toBe(0);
      }
    });
  });

  it("of CI, on a clean runner", { timeout: 400_000 }, async () => {
    const user = new User();
    const parent = newFolder("ci");
    const project = join(parent, "project");
    mkdirSync(project);
    await user.paste([BUILD], parent);
    const files = await user.paste(["npm init -y", "git init -q", "echo node_modules > .gitignore", PROJECT], project);
    expect(files.status, files.stderr).toBe(0);
    const data = newFolder("data");
    // The service is elsewhere: the store of a lab with a folder is not installed here.
    const command = join(ROOT, "dist/bin/bootproof.cjs");
    const own = await user.start(`node '${command}' lab --data '${join(data, "lab")}'`, project);
    try {
      const facts = JSON.parse(readFileSync(join(data, "lab/lab.json"), "utf8")) as Record<string, string>;
      const key = JSON.parse(readFileSync(join(data, "lab", facts["apiKeyFile"]!), "utf8")) as Record<string, string>;
      cpSync(join(data, "lab", facts["policyFile"]!), join(project, "policy.json"));
      const commit = await user.paste(["git add policy.json .gitignore", "git commit -qm start"], project);
      expect(commit.status, commit.stderr).toBe(0);

      const runner = new User();
      await runner.paste([`git clone -q '${project}' runner`], parent);
      const checkout = join(parent, "runner");
      const { script } = (parse(textsOf("docs/ci.md, GitLab")[0]!) as Record<string, { script: string[] }>)[
        "verify-deployment"
      ]!;
      const secrets = { BOOTPROOF_API_PUBLIC_KEY: key["publicKey"]!, BOOTPROOF_API_PRIVATE_KEY: key["privateKey"]! };
      const place = { BOOTPROOF_BASE_URL: facts["baseUrl"]!, BOOTPROOF_ORGANIZATION_ID: facts["organizationId"]! };
      const job = await runner.paste(script, checkout, { ...place, ...secrets });
      expect([job.status, job.stderr]).toEqual([0, expect.not.stringContaining("EBADENGINE")]);
      expect(readFileSync(join(checkout, "bootproof.xml"), "utf8")).not.toContain("<failure");

      // The line of README: it notices a change, and ends with 2 without secrets, as for pull requests of forks.
      const line = [AGAIN, ...textsOf("README.md, In CI")];
      expect(line.slice(1)).toEqual([expect.stringContaining("verify --app signer --policy policy.json")]);
      expect((await runner.paste(line, checkout, { ...place, ...secrets })).status).toBe(0);
      expect((await runner.paste(line, checkout, place)).status).toBe(2);
      await fetch(facts["faultsUrl"]!, { method: "PUT", body: '{"faults": ["stale-manifest"]}' });
      const changed = await runner.paste(line, checkout, { ...place, ...secrets });
      expect([changed.status, changed.stderr]).toEqual([1, expect.stringMatching(/REJECTED[^]*policy\.nonce/)]);
      expect(
        (await runner.paste(line, checkout, { ...secrets, ...place, BOOTPROOF_BASE_URL: "http://127.0.0.1:1" })).status,
      ).toBe(3);
    } finally {
      await interrupted(own);
    }
  });

  it("of an author of an SDK", { timeout: 400_000 }, async () => {
    const user = new User();
    const parent = newFolder("sdk");
    const project = join(parent, "project");
    mkdirSync(project);
    await user.paste([BUILD], parent);
    const [{ text }] = under("README.md, In an SDK") as [Block];
    writeFileSync(join(project, "example.mjs"), text);
    const done = await user.paste(["npm init -y > /dev/null", "git init -q", PROJECT, "node example.mjs"], project);
    expect([done.status, done.stdout.split("\n").at(-2)], done.stderr).toEqual([0, "verified 1"]);
  });
});

it("npm ci prints no EBADENGINE for those who develop this package", () => {
  const args = ["ci", "--dry-run", "--ignore-scripts", "--no-audit", "--no-fund"];
  const { status, stderr } = spawnSync("npm", args, { cwd: ROOT, encoding: "utf8" });
  expect([status, stderr]).toEqual([0, expect.not.stringContaining("EBADENGINE")]);
});
