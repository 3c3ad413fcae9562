/**
 * The packed types, compiled by strangers: under every version of TypeScript since 5.0, with and without the types of a
 * platform; checked themselves (`skipLibCheck: false`) where they are all that there is to check.
 */
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MODULES, ROOT, npm, removeFolders, run, strangersFolder, unpacked } from "./support.js";

const COMPILERS = join(ROOT, "test/package/compilers");

/**
 * The other versions, pinned by their own lock file and fetched once: as dependencies of this package, each would claim
 * to be its `tsc`.
 */
async function compilers(): Promise<string> {
  const lock = readFileSync(join(COMPILERS, "package-lock.json"));
  const cache = join(ROOT, "node_modules/.cache");
  const folder = join(cache, `compilers-${createHash("sha256").update(lock).digest("hex").slice(0, 16)}`);
  if (existsSync(folder)) return folder;
  const making = strangersFolder(cache);
  for (const file of ["package.json", "package-lock.json"]) copyFileSync(join(COMPILERS, file), join(making, file));
  await npm(["ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"], making);
  // Whole or not at all.
  renameSync(making, folder);
  return folder;
}

let stranger: string;
afterAll(removeFolders);
let versions: Readonly<Record<string, string>>;
beforeAll(async () => {
  const [folder, others] = await Promise.all([unpacked(), compilers()]);
  stranger = folder;
  const old = (version: string): string => join(others, `node_modules/typescript-${version}/lib/tsc.js`);
  versions = {
    "5.0": old("5.0"),
    "5.4": old("5.4"),
    "5.9": old("5.9"),
    "6.0": join(ROOT, "node_modules/typescript/lib/tsc.js"),
  };
  mkdirSync(join(folder, "node_modules/@types"), { recursive: true });
  for (const name of ["@types/node", "undici-types"])
    symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
  for (const [name, text] of Object.entries(PROGRAMS)) writeFileSync(join(folder, `${name}.ts`), text);
});

const PROGRAMS = {
  /** Every declaration of every entry point. */
  all: MODULES.map(({ name }) => name)
    .map((entry, index) => `export * as e${index} from "${entry.replace(".", "bootproof")}";`)
    .join("\n"),

  /** Without any platform: what is handed over is of the caller's own making. */
  plain: `
    import { type Policy, parsePolicy, requireVerified, verifyEvidence } from "bootproof";
    import { type Fetch, type Stamper, apiKeyStamper, createClient, webhookHandler } from "bootproof/client";

    export async function verify(bootProof: unknown, text: string): Promise<string> {
      const policy: Policy = parsePolicy(text);
      const { report, bootProofs } = await verifyEvidence({ bootProofs: [bootProof] }, { policy, now: new Date() });
      requireVerified(report);
      for (const check of report.checks) if (check.status === "fail") return check.id;
      return bootProofs[0]?.manifest.namespace.name ?? "none";
    }
    const fetch: Fetch = async (url, { method, body, signal }) => ({
      status: url.length + method.length + body.length + (signal.aborted ? 1 : 0),
      headers: { get: (name) => name },
      body: { getReader: () => ({ read: async () => ({ done: true }), cancel: async () => {} }) },
    });
    const stamper: Stamper = { stamp: async (body) => ({ header: "X-Stamp", value: String(body.length) }) };
    const client = createClient({ baseUrl: "https://service.test", organizationId: "o", stamper, fetch });
    export async function call(policy: Policy): Promise<string> {
      const plain = await client.updateWallet({ walletId: "w", walletName: undefined });
      const { result, report } = await client.withVerification(policy).updateWallet({ walletId: "w" });
      // @ts-expect-error: an activity may have no result yet.
      plain.result.walletId;
      // @ts-expect-error: a member that the operation does not have.
      await client.updateWallet({ walletId: "w", walletNmae: "typo" });
      return result.walletId + report.verdict;
    }
    export const made = apiKeyStamper({ publicKey: "02", privateKey: "00" });
    export const handler = webhookHandler({
      verified: client.withVerification(parsePolicy("{}")),
      organizationIds: ["o"],
      jwks: {},
      onVerified: (delivery, { report }) => delivery.eventId + report.verdict,
      onRejected: (_, error) => error.failures.length,
    });
  `,

  /** With the DOM's types: its own objects fit, and what comes back is its own. */
  dom: `
    import { parsePolicy } from "bootproof";
    import {
      apiKeyStamper, createClient, createSessionTarget, openCredentialBundle, verifyWebhook, webauthnStamper,
      webhookHandler,
    } from "bootproof/client";

    export async function use(): Promise<void> {
      const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign", "verify"]);
      const stamper = await apiKeyStamper(pair);
      const baseUrl = "https://service.test";
      const client = createClient({ baseUrl, organizationId: "o", stamper, fetch: globalThis.fetch });
      createClient({ baseUrl, organizationId: "o", stamper, fetch: (input, init) => fetch(input, init) });
      await client.getUser({ userId: "u" }, { signal: new AbortController().signal });
      webauthnStamper({ get: (options) => navigator.credentials.get(options), rpId: "service.test" });
      const { keyPair } = await openCredentialBundle("bundle", pair);
      await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, keyPair.privateKey, new ArrayBuffer(1));
      await (await createSessionTarget()).open("bundle");
      const request = new Request(baseUrl);
      await verifyWebhook({ rawBody: "", headers: request.headers, jwks: {}, now: new Date() });
      const verified = client.withVerification(parsePolicy("{}"));
      const nothing = (): void => {};
      const callbacks = { onVerified: nothing, onRejected: nothing };
      const handle = webhookHandler({ verified, organizationIds: [], jwks: {}, ...callbacks });
      const response: Response = await handle(request);
      response.clone();
    }
  `,

  /** With Node's types, and no DOM. */
  node: `
    import { webcrypto } from "node:crypto";
    import { apiKeyStamper, createClient, openCredentialBundle, webhookHandler } from "bootproof/client";
    import { readApiKeyFile } from "bootproof/client/key-file";
    import { startLab } from "bootproof/lab";

    export async function use(): Promise<void> {
      const pair = await webcrypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign"]);
      await apiKeyStamper(pair);
      const lab = await startLab({ sleep: async (_, signal) => signal.throwIfAborted() });
      const stamper = await apiKeyStamper((await readApiKeyFile("key.json")).key);
      const client = createClient({ baseUrl: lab.baseUrl, organizationId: "o", stamper, fetch });
      await client.getUser({ userId: "u" }, { signal: AbortSignal.timeout(1) });
      const { keyPair } = await openCredentialBundle("bundle", pair);
      await webcrypto.subtle.sign("Ed25519", keyPair.privateKey, new Uint8Array());
      const nothing = (): void => {};
      const handle = webhookHandler({
        verified: client.withVerification(lab.policy), organizationIds: [], jwks: {}, onVerified: nothing,
        onRejected: nothing,
      });
      (await handle(new Request(lab.baseUrl))).status.toFixed();
    }
  `,
};

type Resolution = "node16" | "nodenext" | "bundler";

interface Surroundings {
  readonly resolution: Resolution;
  readonly lib?: readonly string[];
  readonly types?: readonly string[];
  /** The platform's own types are not ours to check. */
  readonly skipLibCheck?: boolean;
}

async function faultsOf(version: string, programs: readonly (keyof typeof PROGRAMS)[], around: Surroundings) {
  const { resolution, lib = ["ES2022"], types = [], skipLibCheck = false } = around;
  const config = join(stranger, `tsconfig-${version}-${resolution}-${programs.join("-")}.json`);
  const compilerOptions = {
    target: "ES2022",
    module: resolution === "bundler" ? "ES2022" : resolution,
    moduleResolution: resolution,
    lib,
    types,
    skipLibCheck,
    skipDefaultLibCheck: true,
    strict: true,
    noEmit: true,
  };
  writeFileSync(config, JSON.stringify({ compilerOptions, files: programs.map((name) => `${name}.ts`) }));
  const { status, stdout } = await run(process.execPath, [versions[version]!, "-p", config], stranger);
  return status === 0 ? "" : stdout;
}

describe("compile without DOM and without types of Node, under", () => {
  it.each<[version: string, resolution: Resolution]>([
    ["5.0", "node16"],
    ["5.4", "nodenext"],
    ["5.9", "nodenext"],
    ["6.0", "nodenext"],
  ])(
    "TypeScript %s, resolved as %s",
    async (version, resolution) => {
      expect(await faultsOf(version, ["all", "plain"], { resolution })).toBe("");
    },
    60_000,
  );
});

describe("take and give the platform's own objects", () => {
  it.each(["5.0", "6.0"])(
    "of the DOM, under TypeScript %s",
    async (version) => {
      const lib = ["ES2022", "DOM", "DOM.Iterable"];
      expect(await faultsOf(version, ["all", "dom"], { resolution: "bundler", lib, skipLibCheck: true })).toBe("");
    },
    60_000,
  );

  it("of Node", async () => {
    const around = { resolution: "nodenext", types: ["node"], skipLibCheck: true } as const;
    expect(await faultsOf("6.0", ["all", "node"], around)).toBe("");
  }, 60_000);
});

it("the compilers are the versions that they are said to be", async () => {
  for (const [version, tsc] of Object.entries(versions))
    expect((await run(process.execPath, [tsc, "-v"], stranger)).stdout).toMatch(`Version ${version}.`);
});
