/**
 * The code of README and of docs/, word for word: what is typed at a terminal runs against the built command, what is
 * written in programs is type-checked and runs against the built package. What no test can run is listed here, with the
 * reason.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, join } from "node:path";
import { gzipSync } from "node:zlib";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { labMeasurements } from "../src/lab/enclave.js";
import { Forge, forgeEvidence } from "../src/lab/forge.js";
import { encodeManifest } from "../src/lab/qos.js";
import { decodeManifest } from "../src/decode/manifest/index.js";
import { Process, speaking } from "./cli/process.js";
import { NO_CHROMIUM, launchChromium } from "./support/chromium.js";
import { type Block, readBlocks, writeReleases } from "./support/documents.js";
import { toHex } from "../src/bytes.js";
import { SET, output } from "./support/genesis.js";
import * as tokens from "./token/support.js";
import { RAMDISK, SECTIONS, imageOf, pcrsOf, utf8 } from "./support/images.js";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const VECTORS = join(ROOT, "test-vectors");
const base = mkdtempSync(join(tmpdir(), "bootproof-readme-"));
const run = promisify(execFile);

/** Its blocks follow each other in one folder: "the document of signed policies" below runs each of them. */
const WALK = "docs/signed-policies.md";
const DOCUMENTS = ["README.md", ...readdirSync(join(ROOT, "docs")).map((name) => `docs/${name}`)];
const blocks: readonly Block[] = DOCUMENTS.filter((name) => name !== WALK).flatMap(readBlocks);

/** Lines that are not run here, and blocks that begin with one; and why. */
const NOT_RUN: Readonly<Record<string, string>> = {
  "git clone": "fetches: test/first-ten-minutes/ pastes it, with a copy in place of what is fetched",
  "cd bootproof && npm ci": "the same",
  "mkdir audit": "installs: test/first-ten-minutes/ pastes it",
  "npm install --prefix .": "the same",
  "mkdir -p vendor": "the same",
  "git add vendor": "the same",
  "export PATH=": "the command is found here without it",
  "nitro-cli build-enclave": "the vendor's tool, which builds where Docker is: the tests have an image made by hand",
  "npm ci && npm start": "is what .ci/run calls: test/start.test.ts runs its second half",
  "npm test": "is what runs this test",
  "npm ci && npm test": "the same",
  "npm run test:all": "is what runs this test",
  "npm ci && npm run build": "installs: .ci/run does the same",
  "docker build": "the same",
  "docker run": "the same",
  "const verification = await verifyEvidence(evidence, { policy, now: new Date(), acceptance":
    "refuses the evidence here, which has warnings: test/verification.test.ts runs it",
  "npm install bullmq": "installs: the packages are there",
  "npm install @sigstore/verify": "the same, and fetches what a build service signed",
  "bootproof verify --boot-proof boot.json --policy policy.json --crl": "of an authority: test/cli/revocation.test.ts",
  "bootproof verify --boot-proof boot.json --provenance": "of a build: test/cli/provenance.test.ts runs it",
  "bootproof verify bundle.json --provenance": "the same",
  "bootproof audit --policy policy.json proofs.ndjson --provenance": "the same",
  "bootproof pin --boot-proof boot.json --provenance": "the same",
  "bootproof pin --boot-proof new.json --add-to policy.json --provenance": "the same",
  "bootproof pin --boot-proof new-boot.json --add-to policy.json --provenance": "the same",
  "bootproof pin --boot-proof new-boot.json --add-to policy.json --drop": "of labels: test/cli/policy.test.ts runs it",
  "bootproof measure --binary app --policy policy.json --provenance": "the same",
  "gh attestation": "fetches what a build service signed",
  '"provenance": [{': "a part of a policy: test/appraise/provenance.test.ts reads such",
  "esbuild app.js": "a bundle: test/package/bundled.test.ts makes it, and runs it",
  "bootproof audit worker": "of the queue: test/operations-built.test.ts runs it, with a server of its own",
  "bootproof audit --queue": "the same",
  "const line = JSON.stringify({": "an outline: test/run/expected.test.ts and test/cli/audit.test.ts run it",
  "bootproof proxy": "runs until it is ended: test/cli/end-to-end-proxy.test.ts runs it",
  "{": "the policy: test/appraise/policy.test.ts reads it",
  "git show main:policy.json": "of a repository: test/diff/text.test.ts makes what diff writes",
  "$ git show": "what diff writes: test/diff/text.test.ts makes it anew",
  "$ bootproof diff policy.json": "the same: test/diff/pins.test.ts",
  "# .github/workflows/verify.yml": "a workflow: test/github-action.test.ts runs the action that it names",
  "# .github/workflows/state.yml": "a workflow: test/github-action.test.ts runs its script",
  "# .gitlab-ci.yml": "a pipeline: test/first-ten-minutes/ runs its script",
  "# /etc/systemd/system/": "a unit: test/operations.test.ts has systemd verify it",
  "mkdir -p image/vendor": "an image: test/operations-built.test.ts makes it, with an empty cache of npm",
  "cp ../bootproof/": "the same",
  "npm install ./vendor": "the same",
  "FROM node:24-slim": "the same, by its steps",
  "kubectl create": "the cluster's own tool: test/operations-built.test.ts runs it with another of that name",
  "apiVersion:": "manifests: test/operations.test.ts checks their fields, test/operations-built.test.ts runs them",
  "scrape_configs:": "of Prometheus: test/alerts.test.ts checks it",
  "groups:": "alert rules: test/alerts.test.ts sees each fire",
  "// jest.config.js": "a configuration: test/runtimes/ runs Jest under it",
};

const isListed = (line: string): boolean => Object.keys(NOT_RUN).some((start) => line.startsWith(start));
const shell = blocks.filter(({ language }) => ["sh", "console"].includes(language));
/** What follows each other, on a log that becomes two files: test/operations-built.test.ts runs it. */
const isOfTwoFiles = ({ place }: Block): boolean => place === "docs/audit-and-watch.md, What the chain shows";
/** What leads from a key to a table: test/cli/addresses-built.test.ts runs it. */
const isOfAddresses = ({ place }: Block): boolean => place.startsWith("docs/addresses.md");
/** Files and commands of one application, which "a Node backend with a browser front end" below runs together. */
const isOfBackend = ({ place }: Block): boolean => place === "docs/sdk.md, A Node backend with a browser front end";
const programs = blocks.filter(
  (block) => ["js", "ts"].includes(block.language) && !isListed(block.text) && !isOfBackend(block),
);

afterAll(() => rmSync(base, { recursive: true, force: true }));

/** A folder in which the package is installed, with the files that the documents name. */
function newFolder(): string {
  const folder = mkdtempSync(join(base, "folder-"));
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
  symlinkSync(ROOT, join(folder, "node_modules/bootproof"));
  for (const name of ["node_modules/@types", "node_modules/vite", "test/sdks/node_modules/@turnkey"])
    symlinkSync(join(ROOT, name), join(folder, "node_modules", basename(name)));
  symlinkSync("../vite/bin/vite.js", join(folder, "node_modules/.bin/vite"));
  const copies = {
    "boot-proofs/bootproof-1.json": "boot.json",
    "boot-proofs/staging-signer-20260702.json": "new-boot.json",
    "boot-proofs/bootproof-2.json": "newer-boot.json",
    "boot-proofs/appproof-1.json": "app.json",
    "nitro/anchorage-turnkey-turnkey-attestation-base64-20250505.cbor": "document.cbor",
    "releases/r2025.9.3.yaml": "r2025.9.3.yaml",
    "qos/provisioning/valid_provisioning_details.json": "details.json",
  };
  for (const [from, to] of Object.entries(copies)) cpSync(join(VECTORS, from), join(folder, to));
  writeFileSync(join(folder, "activity.json"), JSON.stringify(activityAround(appProof)));
  const lines = ["boot.json", "app.json"].map((name) =>
    JSON.stringify(JSON.parse(readFileSync(join(folder, name), "utf8"))),
  );
  writeFileSync(join(folder, "proofs.ndjson"), `${lines.join("\n")}\n`);
  const members = SET.members.map(({ alias, pubKey }) => ({ alias, pubKey: toHex(pubKey) }));
  writeFileSync(join(folder, "genesis_output"), output("request"));
  const later = SECTIONS.map((one) => (one === RAMDISK ? { ...one, data: utf8("another bootstrap") } : one));
  writeFileSync(join(folder, "first.eif"), imageOf({ sections: SECTIONS }));
  writeFileSync(join(folder, "second.eif"), imageOf({ sections: later }));
  writeFileSync(join(folder, "request.json"), JSON.stringify({ set: { ...SET, members }, drKey: null }));
  mkdirSync(join(folder, "evidence"));
  cpSync(join(folder, "boot.json"), join(folder, "evidence", "boot.json"));
  writeTokens(folder);
  return folder;
}

/** Tokens that expire in an hour, the genuine ones, and a policy that pins the keys of all. */
function writeTokens(folder: string): void {
  const exp = Math.floor(Date.now() / 1000) + 3600;
  const { session, otp } = tokens.GENUINE;
  const deployments = [
    tokens.pinning("prod/notarizer", [tokens.genuineKey(session), toHex(tokens.NOTARIZER.publicKey)]),
    tokens.pinning("prod/tls-fetcher", [tokens.genuineKey(otp), toHex(tokens.FETCHER.publicKey)]),
  ];
  const files = {
    "tokens.json": JSON.stringify({ policy: "bootproof/1", deployments }),
    "genuine-tokens.json": JSON.stringify(tokens.GENUINE),
    "session.jwt": tokens.sessionToken({ claims: { ...tokens.SESSION_CLAIMS, exp } }),
    "otp.jwt": tokens.otpToken({ claims: { ...tokens.OTP_CLAIMS, exp: String(1000 * exp) } }),
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
}

/** An image, its binary, its operators, and the boot proof of an enclave that runs it. Answers the root's PEM. */
function writeBuild(folder: string): string {
  const binary = utf8("the application");
  const [pcr0, pcr1, pcr2] = [0, 1, 2].map((index) => new Uint8Array(Buffer.from(pcrsOf(SECTIONS)[index]!, "hex")));
  const lab = new Forge({
    measurements: { ...labMeasurements(), pcr0: pcr0!, pcr1: pcr1!, pcr2: pcr2! },
    pivotHash: new Uint8Array(createHash("sha256").update(binary).digest()),
  });
  const { bootProof, anchorPem } = forgeEvidence({ lab, at: new Date("2026-03-04T05:06:07.000Z") });
  const manifestBytes = Buffer.from(bootProof["qosManifestB64"] as string, "base64");
  const manifest = decodeManifest(manifestBytes);
  const members = lab.manifestMembers.map(({ key }) => Buffer.from(key.publicKey).toString("hex"));
  const files = {
    "app.eif": imageOf({ sections: SECTIONS }),
    app: binary,
    "operators.json": JSON.stringify({ threshold: 2, members }),
    "boot.json": JSON.stringify(bootProof),
    "manifest.json": manifestBytes,
    "approved.json": encodeManifest(
      { ...manifest, namespace: { ...manifest.namespace, nonce: 1 } },
      { encoding: "json" },
    ),
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return anchorPem;
}

const appProof = JSON.parse(readFileSync(join(VECTORS, "boot-proofs/appproof-1.json"), "utf8")) as {
  readonly proofPayload: string;
};
const { organizationId, ...derived } = (
  JSON.parse(appProof.proofPayload) as { readonly addressDerivationProof: Readonly<Record<string, string>> }
).addressDerivationProof;

/** An activity that the captured app proof agrees with: nobody signs an activity. */
function activityAround(proof: object): object {
  const { walletId, derivationPath: path, address } = derived;
  return {
    activity: {
      id: "activity",
      organizationId,
      status: "ACTIVITY_STATUS_COMPLETED",
      type: "ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS",
      intent: { createWalletAccountsIntent: { walletId, accounts: [{ path }] } },
      result: { createWalletAccountsResult: { addresses: [address] } },
      appProofs: [proof],
    },
  };
}

/** `bootproof` as an installation has it. */
function commands(): string {
  const folder = join(base, "bin");
  if (existsSync(folder)) return folder;
  mkdirSync(folder);
  const command = `exec "${process.execPath}" "${join(ROOT, "dist/bin/bootproof.cjs")}" "$@"`;
  writeFileSync(join(folder, "bootproof"), `#!/bin/sh\n${command}\n`, { mode: 0o755 });
  return folder;
}

type Environment = Readonly<Record<string, string | undefined>>;

function environment(more: Environment = {}): NodeJS.ProcessEnv {
  const path = `${commands()}${delimiter}${process.env["PATH"] ?? ""}`;
  const own = Object.keys(process.env).filter((name) => name.startsWith("BOOTPROOF_"));
  const hidden = Object.fromEntries(own.map((name) => [name, undefined]));
  return { ...process.env, ...hidden, NO_COLOR: "1", PATH: path, ...more };
}

function isInstalled(tool: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, tool)));
}

/** Runs one command line. Rejects, with what it wrote, where it fails. */
async function inShell(line: string, folder: string, more?: Environment): Promise<string> {
  const options = { cwd: folder, env: environment(more), timeout: 60_000 };
  return (await run("bash", ["-c", `set -euo pipefail\n${line}`], options)).stdout;
}

/** Lines that belong together: the paragraphs of a block run each by itself. */
function paragraphsOf({ text }: Block): string[][] {
  return text.split(/\n\s*\n/).map((paragraph) =>
    paragraph
      .replaceAll(/\\\n\s*/g, "")
      .split("\n")
      .filter((line) => line.trim() !== "" && !line.startsWith("#")),
  );
}

const started = (line: string, folder: string): Process =>
  new Process([], { shell: `exec ${line}`, cwd: folder, env: environment() });
const startedLab = (line: string, folder: string): Promise<Process> =>
  speaking([], { shell: `exec ${line}`, cwd: folder, env: environment() });
const ended = async (lab: Process): Promise<unknown> => (await lab.end("SIGINT")).code;

interface LabFile {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly walletActivityId: string;
  readonly apiKeyFile: string;
  readonly policyFile: string;
}

const LAB = "bootproof lab --data ./lab";

describe("the documents at a terminal", () => {
  const all = shell
    .filter((block) => !isOfTwoFiles(block) && !isOfAddresses(block) && !isOfBackend(block))
    .flatMap((block) => paragraphsOf(block));
  const paragraphs = all.map((lines) => lines.filter((line) => !isListed(line))).filter((lines) => lines.length > 0);
  let policy = "";

  beforeAll(async () => {
    policy = await inShell("bootproof pin --boot-proof boot.json", newFolder());
  });

  const isAbout = (lines: readonly string[], text: string): boolean => lines.some((line) => line.includes(text));
  const fetches = (lines: readonly string[]): boolean =>
    isAbout(lines, "$BASE_URL") || isAbout(lines, "bootproof verify --app signer --policy");
  const online = paragraphs.filter(fetches);
  // test/first-ten-minutes/ pastes it.
  const first = paragraphs.filter((lines) => isAbout(lines, "lab/lab-api-key.json"));
  const faults = paragraphs.filter((lines) => isAbout(lines, "lab/lab.json") && !first.includes(lines));
  const labs = paragraphs.filter((lines) => isAbout(lines, "bootproof lab"));
  const walk = paragraphs.filter((lines) => isAbout(lines, "app.eif") || isAbout(lines, "--binary app"));
  const published = paragraphs.filter((lines) => isAbout(lines, "core-enclaves/"));
  const others = [...online, ...first, ...faults, ...labs, ...walk, ...published];
  const offline = paragraphs.filter((lines) => !others.includes(lines));

  it("has the expected kinds of commands", () => {
    expect([online.length, first.length, faults.length, labs.length]).toEqual([7, 1, 1, 4]);
    expect(labs.flat()).toContain(LAB);
    expect(offline.flat().length).toBeGreaterThan(7);
  });

  it.each(offline.map((lines) => [lines[0], lines] as const))("%s, and the following lines", async (_, lines) => {
    const folder = newFolder();
    writeFileSync(join(folder, "policy.json"), policy);
    for (const line of lines) {
      if (line.endsWith("--out policy.json")) rmSync(join(folder, "policy.json"), { force: true });
      await inShell(line, folder, { ORGANIZATION_ID: tokens.ORG });
    }
  });

  it("walks from the built image to the running enclave, and no other passes", async () => {
    const folder = newFolder();
    const anchor = writeBuild(folder);
    const lines = walk.flat();
    expect(lines.map((line) => line.split(" ")[1])).toEqual([
      "measure",
      "measure",
      "pin",
      "policy",
      "measure",
      "review",
      "verify",
    ]);
    for (const line of lines.slice(0, -2)) await inShell(line, folder);
    // The lab's root stands for that of AWS.
    const path = join(folder, "policy.json");
    const made = JSON.parse(readFileSync(path, "utf8")) as object;
    writeFileSync(path, JSON.stringify({ ...made, trustAnchors: [{ pem: anchor }] }));
    expect(await inShell(lines.at(-2)!, folder)).toContain("EVERYTHING HOLDS");
    expect(await inShell(lines.at(-1)!, folder)).toMatch(/^VERIFIED/);
    cpSync(join(VECTORS, "boot-proofs/bootproof-1.json"), join(folder, "boot.json"));
    await expect(inShell(lines.at(-1)!, folder)).rejects.toMatchObject({ code: 1 });
  });

  it("walks from the published releases to the first verified boot proof, and to the next release", async () => {
    const folder = newFolder();
    const anchor = writeReleases(folder);
    const lines = published.flat();
    expect(lines.filter((line) => line.includes(" policy check-releases "))).toHaveLength(2);
    const path = join(folder, "policy.json");
    for (const line of lines) {
      if (line.endsWith("--out policy.json")) rmSync(path, { force: true });
      await inShell(line, folder);
      if (!line.endsWith("--out policy.json")) continue;
      // The lab's root stands for that of AWS.
      const made = JSON.parse(readFileSync(path, "utf8")) as object;
      writeFileSync(path, JSON.stringify({ ...made, trustAnchors: [{ pem: anchor }] }));
      const said = await inShell("bootproof verify --boot-proof boot.json --policy policy.json", folder);
      expect(said).toMatch(/^VERIFIED/);
      expect(said.replaceAll(/\s+/g, " ")).toContain('deployment "signer 2026.9.0"');
    }
    const { deployments } = JSON.parse(readFileSync(path, "utf8")) as { readonly deployments: { name: string }[] };
    expect(deployments.map(({ name }) => name)).toEqual(["signer 2026.9.0", "signer 2026.9.1"]);
  });

  it("connects to a service (a log's key needs openssl)", async () => {
    const folder = newFolder();
    const lab = await startedLab(LAB, folder);
    try {
      const at = (file: string): string => join(folder, "lab", file);
      const facts = JSON.parse(readFileSync(at("lab.json"), "utf8")) as LabFile;
      cpSync(at(facts.policyFile), join(folder, "policy.json"));
      const { publicKey, privateKey } = JSON.parse(readFileSync(at(facts.apiKeyFile), "utf8")) as Record<
        string,
        string
      >;
      const more = {
        BOOTPROOF_API_PUBLIC_KEY: publicKey,
        BOOTPROOF_API_PRIVATE_KEY: privateKey,
        BASE_URL: facts.baseUrl,
        ORGANIZATION_ID: facts.organizationId,
        BOOTPROOF_BASE_URL: facts.baseUrl,
        BOOTPROOF_ORGANIZATION_ID: facts.organizationId,
        ACTIVITY_ID: facts.walletActivityId,
      };
      const isRun = (lines: readonly string[]): boolean => isInstalled("openssl") || !isAbout(lines, "openssl");
      const makesKey = (lines: readonly string[]): number => (isAbout(lines, "key new") ? 0 : 1);
      const inTurn = online.filter(isRun).sort((one, other) => makesKey(one) - makesKey(other));
      for (const line of inTurn.flat()) {
        if (line.includes(" key new ")) rmSync(join(folder, "key.json"), { force: true });
        // A reader of that block has no boot proof yet.
        if (line.includes(" fetch ") && line.endsWith("--out boot.json")) rmSync(join(folder, "boot.json"));
        // What runs until Ctrl-C is run for one poll.
        await inShell(
          line.includes("bootproof watch ") ? line.replace(" --interval 60s ", " --once ") : line,
          folder,
          more,
        );
        // As after its public half was registered: the lab's key stands for one that the service knows.
        if (line.includes(" key new ")) cpSync(at(facts.apiKeyFile), join(folder, "key.json"));
      }
    } finally {
      await ended(lab);
    }
  });

  it("runs a lab until it is interrupted", async () => {
    const runsOn = (line: string): boolean => line.startsWith("bootproof lab") && !line.includes("--list-faults");
    const lines = new Set(labs.flat());
    expect([...lines].filter(runsOn).length).toBeGreaterThan(1);
    for (const line of lines) {
      const folder = newFolder();
      if (!runsOn(line)) await inShell(line, folder);
      else expect(await ended(await startedLab(line, folder))).toBe(0);
    }
  });

  const hasTools = ["curl", "jq"].every(isInstalled);
  it.skipIf(!hasTools)("switches faults of a lab (needs curl and jq)", async () => {
    const folder = newFolder();
    const lab = await startedLab(LAB, folder);
    try {
      const answers: string[] = [];
      for (const line of faults[0]!) answers.push(await inShell(line, folder));
      const on = answers.map((answer) => (JSON.parse(answer) as { faults: string[] }).faults);
      expect(on).toEqual(faults[0]!.map(() => ["stale-manifest"]));
    } finally {
      await ended(lab);
    }
  });
});

describe("the document of the proxy", () => {
  const parts = blocks.filter(({ place }) => place === "docs/proxy.md, Try it with the lab");
  const [, proxy, client] = parts.map(({ text }) => text.replaceAll("\\\n", "")) as [string, string, string];

  it("has a client of at most 24 lines", () => {
    expect(parts.map(({ language }) => language)).toEqual(["sh", "sh", "python"]);
    expect(client.trimEnd().split("\n").length).toBeLessThanOrEqual(24);
  });

  it.skipIf(!["jq", "python3"].every(isInstalled))(
    "runs in three terminals, and refuses a fault (needs jq and python3)",
    async () => {
      const folder = newFolder();
      const lab = await startedLab(LAB, folder);
      const port = String(20_000 + (process.pid % 20_000));
      const command = proxy.replace("--port 8788", `--port ${port}`).trim();
      const running = await startedLab(command.replace("bootproof", `${commands()}/bootproof`), folder);
      try {
        writeFileSync(join(folder, "client.py"), client.replace("127.0.0.1:8788", `127.0.0.1:${port}`));
        const { ids, faultsUrl } = JSON.parse(readFileSync(join(folder, "lab/lab.json"), "utf8")) as {
          readonly ids: { readonly walletId: string };
          readonly faultsUrl: string;
        };
        expect(await inShell("python3 client.py", folder)).toBe(`activity ${ids.walletId}\n`);
        await fetch(faultsUrl, { method: "PUT", body: '{"faults": ["tampered-payload"]}' });
        await expect(inShell("python3 client.py", folder)).rejects.toThrow("HTTP Error 502");
      } finally {
        await ended(running);
        await ended(lab);
      }
    },
  );
});

describe("the document of signed policies", () => {
  const document = readFileSync(join(ROOT, WALK), "utf8");
  const parts = readBlocks(WALK);
  /** What the application prints after a block with this line. */
  const PRINTED: Readonly<Record<string, string>> = {
    "node app.mjs": "version 1: verified preprod/signer",
    "publish version-2.json": "version 2: verified preprod/signer",
    "cp new-boot.json next.json": "version 2: verified 0xkey/signer",
    "publish version-3.json": "version 3: verified 0xkey/signer",
    "publish version-4.json": "version 4: verified 0xkey/signer",
    "publish version-5.json": "version 5: verified 0xkey/signer",
  };
  const RELEASED = "version 1: verified 0xkey/signer";

  it("has blocks of a shell, one program, and says what it prints", () => {
    expect(parts.filter(({ language }) => language !== "sh").map(({ language }) => language)).toEqual(["js"]);
    const said = [...document.replaceAll(/\s+/g, " ").matchAll(/`(version \d+: [^`]+)`/g)].map(([, line]) => line);
    expect(said).toEqual([...Object.values(PRINTED), RELEASED]);
  });

  const tools = ["jq", "openssl", "python3"];
  it.skipIf(!tools.every(isInstalled))(
    "leads one application through all versions without a release (needs jq, openssl and python3)",
    async () => {
      const folder = newFolder();
      const port = String(40_000 + (process.pid % 20_000));
      const at = (name: string): string => join(folder, name);
      const feed = at("public/feed.jsonl");
      // The program may read the file at any time.
      const replace = (name: string): void => {
        cpSync(at(name), at("next.json"));
        renameSync(at("next.json"), at("running.json"));
      };
      const terminals: Process[] = [];
      const running = (line: string): Process => {
        const terminal = started(line, folder);
        terminals.push(terminal);
        return terminal;
      };
      const wanted: string[] = [];
      const prints = async (app: Process, line: string): Promise<void> => {
        wanted.push(line);
        await app.until(() => app.lines.length === wanted.length);
        expect(app.lines).toEqual(wanted);
      };
      let app: Process | undefined;
      let start = "";
      try {
        for (const { language, text: written } of parts) {
          const text = written.replaceAll("8789", port);
          const lines = text.trim().split("\n");
          if (text.includes("publish version-2.json")) {
            // A service that changes before the roll-out is signed is refused.
            replace("new-boot.json");
            await prints(app!, "version 1: rejected");
            replace("boot.json");
            await prints(app!, PRINTED["node app.mjs"]!);
          }
          if (language === "js") writeFileSync(at("app.mjs"), text);
          else if (text.startsWith("python3")) {
            const isThere = (): Promise<boolean> =>
              fetch(`http://127.0.0.1:${port}/feed.jsonl`).then(
                ({ ok }) => ok,
                () => false,
              );
            await running(text).until(isThere);
          } else if (text.includes("node app.mjs")) {
            await inShell(lines.slice(0, -1).join("\n"), folder);
            start = `env ${lines.at(-1)!}`;
            app = running(start);
          } else await inShell(text, folder);
          const [, line] = Object.entries(PRINTED).find(([part]) => text.includes(part)) ?? [];
          if (line !== undefined) await prints(app!, line);
          if (text.includes("publish version-3.json")) {
            // An older feed is refused, and the version in force stays so.
            const whole = readFileSync(feed, "utf8");
            writeFileSync(feed, whole.split(/(?<=\n)/)[0]!);
            await app!.until(() => app!.stderr.includes("a rollback"));
            writeFileSync(feed, whole);
          }
        }
        // The old release refuses the feed of the new set; the new one begins with the state of the old one.
        const before = app!.stderr.length;
        await app!.until(() =>
          app!.stderr.slice(before).includes("version 5 stays in force: the feed ends at version 1"),
        );
        expect(app!.lines).toEqual(wanted);
        await app!.end();
        const released = running(start);
        await released.until(() => released.lines.length > 0);
        expect(released.lines).toEqual([RELEASED]);
      } finally {
        for (const terminal of terminals) await terminal.end();
      }
    },
  );
});

/**
 * What has to hold after a program of a document. It uses the names of the program alone, which gets none that its page
 * does not define.
 */
const HOLDS: Readonly<Record<string, string>> = {
  "docs/policy.md, Before you approve a manifest": `
      import { decodeManifest } from "bootproof/decode";
      import { readFileSync } from "node:fs";
      const published = (version: string): Uint8Array =>
        readFileSync(\`core-enclaves/releases/\${version}/signer/manifest\`);
      const [next, running] = [published("2026.9.1"), published("2026.9.0")];
      const { namespace, pivot, enclave } = decodeManifest(next);
      const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
      const pinned = JSON.stringify({
        policy: "bootproof/1",
        deployments: [
          {
            pcrs: { 0: hex(enclave.pcr0), 1: hex(enclave.pcr1), 2: hex(enclave.pcr2), 3: hex(enclave.pcr3) },
            pivotHash: hex(pivot!.hash),
            namespace: namespace.name,
            quorumKey: hex(namespace.quorumKey),
            pivotArgs: pivot!.args,
          },
        ],
      });
      if ((await mayApprove(next, running, pinned)) === null) throw new Error("it holds");`,
  "docs/sdk.md, With any fetch": `
      const unproven = await theirs.updateWallet({ walletId, walletName: "no proofs" }).catch((error) => error);
      if (unproven.code !== "request" || value.activity.id === "") throw new Error();`,
  "docs/sdk.md, With the key of a user": `
      const unknowing = verified(turnkey, judging);
      const refused = await unknowing.getWalletAccounts({ organizationId: subOrganizationId }).catch((error) => error);
      if (refused.rows?.[0]?.class !== "service") throw new Error("not the service's word");`,
  "docs/sdk.md, Sign-up": `
      import { RejectedAuthProxyError, isUnproven } from "bootproof/adapters";
      const { claims, verdict } = reportOf(response)!;
      if (verdict !== "verified" || claims?.signUp?.organizationId !== made) throw new Error(verdict);
      if (claims?.signUp?.addresses.join() !== first.addresses.join()) throw new Error("other addresses");
      if (isUnproven(response)) throw new Error("unproven");
      lab.setFault("signup-proof-of-another-wallet");
      const again = (body: object) => {
        const init = { ...request, body: JSON.stringify(body) };
        return fetchVerified(\`\${authProxyUrl}/v1/signup_v2\`, init).catch((error) => error);
      };
      if (!((await again(signUp)) instanceof RejectedAuthProxyError)) throw new Error("not refused");
      lab.setFault(null);
      const { wallet: left, ...without } = signUp;
      const { code } = await again(without);
      if (left.walletName !== "first" || code !== "request") throw new Error("without a wallet");`,
  "docs/sdk.md, A backend with tokens": `
      const genuine = JSON.parse(readFileSync("genuine-tokens.json", "utf8"));
      const organizationId = "c75ecb07-c84a-4dd5-932c-539dfafc6864";
      const otpKey = "036335b78f92736e32e99dc6aed979aff0b5c24192e76b1628aa54edaf58c8c15d";
      // Both expired long ago: the signatures are right, and nothing else fails.
      const session = await sessionOf(genuine.session.token, organizationId);
      const contact = await contactOf(genuine.otp.token, otpKey);
      if (session !== null || contact !== null) throw new Error("an expired token");
      const now = new Date("2025-06-02T15:00:00Z");
      const expected = { organizationId };
      const { verdict } = await verifySessionToken(genuine.session.token, { policy: tokenPolicy, now, expected });
      if (verdict !== "verified") throw new Error(verdict);`,
};

const HAS_SDKS = existsSync(join(ROOT, "test/sdks/node_modules/.package-lock.json"));
const canRun = ({ text }: { readonly text: string }): boolean => HAS_SDKS || !text.includes('from "@turnkey/');

const pageOf = ({ place }: { readonly place: string }): string => place.slice(0, place.indexOf(","));

interface Program extends Block {
  readonly path: string;
}

const OPTIONS: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ["lib.es2022.d.ts", "lib.dom.d.ts"],
  types: ["node"],
};
const CANNOT_FIND = /^(?:Cannot find name|No value exists in scope for the shorthand property) '(\w+)'/;

/** The names that a program uses and does not define, and those that it defines. */
function namesOf(compiled: ts.Program, { path }: Program): { readonly free: string[]; readonly own: Set<string> } {
  const source = compiled.getSourceFile(path)!;
  const messages = compiled
    .getSemanticDiagnostics(source)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
  const symbols = compiled.getTypeChecker().getSymbolsInScope(source.endOfFileToken, ts.SymbolFlags.Value);
  const own = symbols.filter(({ declarations }) => declarations?.some((one) => one.getSourceFile() === source));
  return {
    free: messages.flatMap((message) => CANNOT_FIND.exec(message)?.[1] ?? []),
    own: new Set(own.map(({ name }) => name)),
  };
}

describe("the documents in a program", () => {
  const folder = newFolder();
  const genuine = ["boot.json", "app.json"].map((name) => [name, readFileSync(join(folder, name))] as const);
  writeReleases(folder);
  for (const [name, bytes] of genuine) writeFileSync(join(folder, name), bytes);
  const host = { ...ts.createCompilerHost(OPTIONS), getCurrentDirectory: () => folder };
  const compile = (files: readonly Program[], before?: ts.Program): ts.Program => {
    for (const { path, text } of files) writeFileSync(path, text);
    return ts.createProgram(
      files.filter(canRun).map(({ path }) => path),
      OPTIONS,
      host,
      before,
    );
  };
  const alone = programs.map((block, index) => ({ ...block, path: join(folder, `alone-${index}.mts`) }));
  const whole: Program[] = [];
  const undefinedNames: string[] = [];
  let compiled: ts.Program;

  /** What a reader has to copy for a block, itself last: for each name the nearest block above that defines it. */
  function neededBy(block: Program): readonly Program[] {
    if (!canRun(block)) return [block];
    const above = alone.slice(0, alone.indexOf(block)).filter(({ place }) => pageOf({ place }) === pageOf(block));
    const needed = namesOf(compiled, block).free.flatMap((name) => {
      const from = above.findLast((other) => canRun(other) && namesOf(compiled, other).own.has(name));
      if (from === undefined) undefinedNames.push(`${block.place}: ${name}`);
      return from === undefined ? [] : neededBy(from);
    });
    return [...above.filter((other) => needed.includes(other)), block];
  }

  beforeAll(async () => {
    writeFileSync(join(folder, "policy.json"), await inShell("bootproof pin --boot-proof boot.json", folder));
    compiled = compile(alone.map((block) => ({ ...block, text: `${block.text}\nexport {};\n` })));
    for (const [index, block] of alone.entries()) {
      const isLast = alone.findLast(({ place }) => place === block.place) === block;
      const texts = [...neededBy(block).map(({ text }) => text), isLast ? (HOLDS[block.place] ?? "") : ""];
      whole.push({
        ...block,
        path: join(folder, `program-${index}.mts`),
        text: `${texts.join("\n")}\nprocess.exit();\n`,
      });
    }
  });

  it("uses no name that its page does not define", () => {
    expect(undefinedNames).toEqual([]);
    expect(Object.keys(HOLDS).filter((held) => !programs.some(({ place }) => place === held))).toEqual([]);
  });

  it("has the right types", () => {
    const found = ts.getPreEmitDiagnostics(compile(whole, compiled));
    expect(ts.formatDiagnostics(found, { ...host, getNewLine: () => "\n" })).toBe("");
  });

  it.for(alone.map(({ place }, index) => ({ place, index })))("runs: $place", async ({ index }, { skip }) => {
    const { path, text } = whole[index]!;
    skip(!canRun({ text }), "needs the SDKs: npm ci --prefix test/sdks");
    const compiledPath = path.replace(/\.mts$/, ".mjs");
    const { outputText } = ts.transpileModule(text, {
      compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
    });
    writeFileSync(compiledPath, outputText);
    const { stdout, stderr } = await run(process.execPath, ["--no-warnings", compiledPath], {
      cwd: folder,
      env: environment({ BOOTPROOF_ORGANIZATION_ID: organizationId }),
      timeout: 60_000,
    });
    expect(stderr).toBe("");
    const told = [...text.matchAll(/^console\.log\(.*\); +\/\/ (.+)$/gm)].map(([, words]) => `${words!}\n`);
    expect(stdout).toBe(told.join(""));
  });
});

/** What the backend answers, and the service's activity in it. */
interface Handed {
  readonly activity: { result: { createWalletResult: { addresses: string[] } }; appProofs: object[] };
  bootProofs: object[];
}

describe.skipIf(NO_CHROMIUM || !isInstalled("jq"))("a Node backend with a browser front end (needs jq)", () => {
  const parts = blocks.filter(isOfBackend);
  const script = parts
    .find(({ language }) => language === "sh")!
    .text.trim()
    .split("\n");
  const [backendPort, port] = [20_000, 40_000].map((from) => String(from + (process.pid % 20_000)));
  const folder = newFolder();
  const running: (() => unknown)[] = [];
  let page: Page;
  /** Changes what the backend answers, as one that lies. */
  let lie: (handed: Handed) => Handed;
  let honest: Handed;
  /** The first honest answer. */
  let earlier: Handed;
  const loaded = new Set<string>();

  beforeAll(async () => {
    for (const { language, text } of parts)
      if (language !== "sh") writeFileSync(join(folder, /^(?:\/\/|<!--) (\S+)/.exec(text)![1]!), text);
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    const lab = await startedLab(LAB, folder);
    running.push(() => ended(lab));
    const exported =
      'echo "env BOOTPROOF_BASE_URL=$BOOTPROOF_BASE_URL BOOTPROOF_ORGANIZATION_ID=$BOOTPROOF_ORGANIZATION_ID"';
    const said = await inShell([...script.slice(0, -1), exported].join("\n"), folder);
    const [backend, preview] = script.at(-1)!.replace("npx ", "node_modules/.bin/").split(" & ");
    const commands = { [backendPort!]: backend!, [port!]: `${preview!} --port ${port!} --strictPort` };
    for (const [at, command] of Object.entries(commands)) {
      const environment = said.trim().split("\n").at(-1)!;
      const terminal = started(`${environment} PORT=${backendPort!} ${command}`, folder);
      running.push(() => terminal.end());
      await terminal.until(() =>
        fetch(`http://localhost:${at}/`).then(
          () => true,
          () => false,
        ),
      );
    }
    const browser = await launchChromium();
    running.push(() => browser.close());
    page = await browser.newPage();
    page.on("requestfinished", (request) => {
      if (request.url().endsWith(".js")) loaded.add(new URL(request.url()).pathname);
    });
    await page.route("**/wallets", async (route) => {
      const response = await route.fetch();
      honest = (await response.json()) as Handed;
      earlier ??= honest;
      await route.fulfill({ response, json: lie(structuredClone(honest)) });
    });
    await page.goto(`http://localhost:${port!}/`);
  });
  afterAll(async () => {
    for (const end of running.reverse()) await end();
  });

  async function shown(walletName: string, change: (handed: Handed) => Handed): Promise<string> {
    lie = change;
    await page.locator("input").fill(walletName);
    await page.getByRole("button").click();
    const output = page.locator("output", { hasText: ":" });
    await output.waitFor();
    return output.innerText();
  }

  it("shows the address that the browser verified", async () => {
    const text = await shown("treasury", (handed) => handed);
    expect(text).toBe(`verified: ${honest.activity.result.createWalletResult.addresses.join()}`);
    const sizes = [...loaded].map((path) => gzipSync(readFileSync(join(folder, "dist", path)), { level: 9 }).length);
    if (process.env["BOOTPROOF_SIZES"] === "show")
      console.log(`the page loads ${sizes.reduce((sum, size) => sum + size, 0)} bytes, gzipped`);
  });

  const other = forgeEvidence({ lab: new Forge(), at: new Date() });
  const DEAD = "0x000000000000000000000000000000000000dEaD";
  it.each<[name: string, walletName: string, checks: string, lie: (handed: Handed) => Handed]>([
    [
      "another address",
      "one",
      "activity.claims,activity.coverage",
      (handed) => {
        handed.activity.result.createWalletResult.addresses = [DEAD];
        return handed;
      },
    ],
    [
      "no app proofs",
      "two",
      "activity.decode,activity.coverage",
      (handed) => ({ ...handed, activity: { ...handed.activity, appProofs: [] } }),
    ],
    ["the answer to another request", "three", "activity.request,activity.claims", () => earlier],
    ["the answer to an equal request before", "treasury", "activity.claims", () => earlier],
    [
      "the boot proof of an enclave that the page does not pin",
      "four",
      "chain.anchor,app.key,app.key,activity.coverage",
      (handed) => ({ ...handed, bootProofs: [other.bootProof] }),
    ],
  ])("refuses a backend that hands on %s", async (_, walletName, checks, change) => {
    expect(await shown(walletName, change)).toBe(`refused: ${checks}`);
  });
});

describe("the code of the documents", () => {
  it("is run, or listed here with a reason", () => {
    const isRun = (block: Block): boolean => [...shell, ...programs].includes(block) || isOfBackend(block);
    const others = blocks.filter((block) => !isRun(block) && block.language !== "python");
    expect(others.map(({ text }) => text).filter((text) => !isListed(text))).toEqual([]);
    const written = blocks.flatMap(({ text }) => text.split("\n"));
    expect(Object.keys(NOT_RUN).filter((start) => !written.some((line) => line.startsWith(start)))).toEqual([]);
  });
});
