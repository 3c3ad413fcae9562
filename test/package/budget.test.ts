/** What a user's bundler makes of the package: how much code each thing brings along, minified and compressed. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { type Metafile, build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NO_POLICY_ANY_ENCLAVE, requireAuthentic, verifyBootProof } from "../../src/index.js";
import { pinPolicy } from "../../src/author/index.js";
import { readVectorJson } from "../support/vectors.js";
import { ROOT, removeFolders, unpacked } from "./support.js";

let folder: string;
afterAll(removeFolders);
beforeAll(async () => {
  folder = await unpacked();
});

interface Bundle {
  /** Of the entry and what it loads at once, gzipped. */
  readonly bytes: number;
  readonly inputs: readonly string[];
  /** The modules by their part of the minified code, for whoever looks for what grew. */
  readonly parts: string;
  /** What is loaded only when it is needed, and all bytes with it. */
  readonly later: readonly string[];
  readonly whole: number;
}

async function bundled(code: string, platform: "browser" | "neutral"): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: code, resolveDir: folder, sourcefile: "entry.js" },
    nodePaths: [`${ROOT}node_modules`],
    bundle: true,
    minify: true,
    format: "esm",
    platform,
    mainFields: ["module", "main"],
    splitting: true,
    outdir: folder,
    absWorkingDir: folder,
    write: false,
    metafile: true,
    legalComments: "none",
    logLevel: "silent",
  });
  const outputs = metafile.outputs;
  const entry = Object.keys(outputs).find((name) => outputs[name]!.entryPoint?.endsWith("entry.js"))!;
  const atOnce = loadedBy(outputs, entry, ["import-statement"]);
  const ever = loadedBy(outputs, entry, ["import-statement", "dynamic-import"]);
  const sizeOf = (names: readonly string[]): number =>
    outputFiles
      .filter(({ path }) => names.some((name) => path.endsWith(`/${name}`)))
      .reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0);
  const inputs = atOnce.flatMap((name) => Object.entries(outputs[name]!.inputs));
  return {
    bytes: sizeOf(atOnce),
    whole: sizeOf(ever),
    inputs: inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([name]) => name),
    parts: inputs
      .sort(([, a], [, b]) => b.bytesInOutput - a.bytesInOutput)
      .slice(0, 40)
      .map(([name, { bytesInOutput }]) => `${String(bytesInOutput).padStart(7)} ${name}`)
      .join("\n"),
    later: ever.filter((name) => !atOnce.includes(name)),
  };
}

function loadedBy(
  outputs: Metafile["outputs"],
  entry: string,
  kinds: readonly string[],
  reached: string[] = [],
): string[] {
  if (reached.includes(entry)) return reached;
  reached.push(entry);
  for (const { path, kind, external } of outputs[entry]!.imports)
    if (kinds.includes(kind) && external !== true) loadedBy(outputs, path, kinds, reached);
  return reached;
}

/** kB are of 1000 bytes; each is what was reached. Own UTF-8 and base64, which phones need, are in each of them. */
const BUDGETS: readonly [names: string, entry: string, kilobytes: number][] = [
  ["verifyEvidence", "bootproof", 42.7],
  // Who has a policy has appraisal too, which comes with it.
  ["verifyEvidence, parsePolicy, requireVerified", "bootproof", 56.9],
  // What fetches and verifies evidence is loaded with the first answer.
  ["verifiedFetch, parsePolicy", "bootproof/adapters", 57.9],
  ["apiKeyStamper", "bootproof/client", 5.8],
  ["verifyWebhook", "bootproof/client", 10.4],
  // Widths of all scripts, a screen for whatever evidence, and what many pieces have in common are its own.
  ["renderText", "bootproof", 17.8],
];

/** What an application has loaded that verified a boot proof, and one that verified an app proof. */
const LOADED = [57, 68] as const;

it("docs/sdk-reference.md says these sizes", () => {
  const said = readFileSync(join(ROOT, "docs/sdk-reference.md"), "utf8").replace(/\s+/g, " ");
  const [evidence, policy, wrapped, stamper, webhook, text] = BUDGETS.map(([, , kilobytes]) => kilobytes);
  const ofEvidence = `\`verifyEvidence\` ${evidence}, with \`parsePolicy\` and \`requireVerified\` ${policy}; `;
  const ofClient = `\`apiKeyStamper\` ${stamper}, \`verifyWebhook\` ${webhook}, \`renderText\` ${text}, `;
  expect(said).toContain(`${ofEvidence}${ofClient}\`verifiedFetch\` with \`parsePolicy\` ${wrapped}. `);
  expect(said).toContain(`has loaded ${LOADED[0]} with a boot proof, and ${LOADED[1]} with an app proof.`);
});

describe.each(["browser", "neutral"] as const)("bundled for %s", (platform) => {
  it.each(BUDGETS)("%s of %s is at most %d kB", async (name, entry, kilobytes) => {
    const { bytes, parts } = await bundled(`export { ${name} } from "${entry}";`, platform);
    if (process.env["BOOTPROOF_SIZES"] === "show") console.log(`${name} ${bytes} bytes, gzipped\n${parts}`);
    expect(bytes, `${name}: ${bytes} bytes gzipped; before compression\n${parts}\n`).toBeLessThanOrEqual(
      1000 * kilobytes,
    );
    expect(bytes, `${name} is empty`).toBeGreaterThan(1000);
  });
});

it.each(["apiKeyStamper", "verifyWebhook"])("%s is at most 35 kB with all of noble that it may load", async (name) => {
  const { whole, later } = await bundled(`export { ${name} } from "bootproof/client";`, "browser");
  expect(later.length).toBeGreaterThan(0);
  expect(whole).toBeLessThanOrEqual(35_000);
});

/** Has Node write the URL of each module that it loads to stderr. */
const HOOK =
  'import { writeSync } from "node:fs"; export const load = (url, _, next) => (writeSync(2, `${url}\\n`), next(url));';
const asUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;
const LISTED = asUrl(`import { register } from "node:module"; register(${JSON.stringify(asUrl(HOOK))});`);

const APPLICATION = `
  import { parsePolicy, requireVerified, verifyEvidence } from "bootproof";
  export const verdictOf = async (evidence, policy, now) =>
    requireVerified(await verifyEvidence(evidence, { policy: parsePolicy(policy), now })).report.verdict;`;

describe("an application that verified under a policy has loaded, each file gzipped,", () => {
  const now = new Date("2025-09-17T21:00:00.000Z");
  const bootProof = readVectorJson<object>("boot-proofs/bootproof-1.json");
  const appProof = readVectorJson<object>("boot-proofs/appproof-1.json");

  it.each([
    ["a boot proof", LOADED[0], { bootProofs: [bootProof] }],
    ["an app proof", LOADED[1], { bootProofs: [bootProof], appProofs: [appProof] }],
  ])("with %s at most %d kB", async (_, kilobytes, evidence) => {
    const verification = await verifyBootProof(bootProof, { policy: NO_POLICY_ANY_ENCLAVE, now });
    const policy = pinPolicy(requireAuthentic(verification).bootProof);
    const outdir = mkdtempSync(join(folder, "loaded-"));
    writeFileSync(join(outdir, "package.json"), '{"type":"module"}');
    const options = { bundle: true, minify: true, splitting: true, format: "esm", platform: "browser" } as const;
    const stdin = { contents: APPLICATION, resolveDir: folder, sourcefile: "entry.js" };
    await build({ ...options, stdin, nodePaths: [`${ROOT}node_modules`], outdir, legalComments: "none" });
    const values = [evidence, policy].map((value) => JSON.stringify(value)).join();
    const program = `import { verdictOf } from ${JSON.stringify(join(outdir, "stdin.js"))};
      console.log(await verdictOf(${values}, new Date(${now.getTime()})));`;
    const args = ["--input-type=module", "--import", LISTED, "--eval", program];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect(stdout, stderr).toBe("verified\n");
    const files = [...new Set(stderr.split("\n"))].filter((url) => url.includes("/loaded-"));
    const sizes = files.map((url) => gzipSync(readFileSync(fileURLToPath(url)), { level: 9 }).length);
    const sum = sizes.reduce((all, size) => all + size, 0);
    expect(files.length).toBeGreaterThan(1);
    expect(sum, `${sum} bytes in ${files.length} files`).toBeLessThanOrEqual(1000 * kilobytes);
  });
});

describe("a bundler leaves out", () => {
  it("the fallback for runtimes without cryptography, until it is needed", async () => {
    const { inputs, later } = await bundled('export { verifyEvidence } from "bootproof";', "browser");
    expect(inputs.filter((input) => input.includes("@noble"))).toEqual([]);
    expect(later.length).toBeGreaterThan(0);
  });

  it("advice, until evidence is rejected", async () => {
    const names = "verifyEvidence, parsePolicy, requireVerified";
    const { inputs, later } = await bundled(`export { ${names} } from "bootproof";`, "browser");
    expect(inputs.filter((input) => /report\/(?:advice|texts|explanations)/.test(input))).toEqual([]);
    expect(later.filter((name) => name.includes("advice"))).toHaveLength(1);
  });

  it("the checks of app proofs and activities, until there is one", async () => {
    const { inputs, later } = await bundled('export { verifyEvidence } from "bootproof";', "browser");
    const late = /\/verify\/(?:app-proof-checks|activity-checks|checks|contradictions|addresses)\.js$/;
    expect(inputs.filter((input) => late.test(input))).toEqual([]);
    const decoders = /\/decode\/(?:activity|activity-rules|folded-names|json-numbers)\.js$/;
    expect(inputs.filter((input) => decoders.test(input))).toEqual([]);
    expect(later.filter((name) => /(?:app-proof|activity)-checks/.test(name))).toHaveLength(2);
  });

  it("all of it, where nothing of it is used", async () => {
    for (const entry of ["bootproof", "bootproof/client"]) {
      const { inputs } = await bundled(
        `import "${entry}"; import * as all from "${entry}"; console.log("used");`,
        "browser",
      );
      expect(inputs).toEqual(["entry.js"]);
    }
  });

  it("what reads policies and holds evidence against them, where there is none", async () => {
    const { inputs } = await bundled('export { verifyEvidence } from "bootproof";', "browser");
    expect(inputs.filter((input) => input.includes("/appraise/")).map((input) => input.split("/").at(-1))).toEqual([
      "parsed-policy.js",
      // The names of two pins, by which a report says what a manifest rests on.
      "appraisal.js",
    ]);
  });
});
