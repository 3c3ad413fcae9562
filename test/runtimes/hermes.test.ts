/**
 * The package in Hermes, the engine of React Native: bundled by Metro, compiled by three versions of hermesc, and run
 * by an engine that has none of TextEncoder, TextDecoder, atob, crypto and URL. Needs a build (`dist/src/index.js`) and
 * the runtimes of `install.sh`.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parsePolicy, verifyBootProof, NO_POLICY_ANY_ENCLAVE } from "../../src/index.js";
import { pinPolicy } from "../../src/author/index.js";
import { readCategories, CORPUS } from "../conformance/unpack.mjs";
import { npm, pack, strangersFolder } from "../package/support.js";
import { readVectorText } from "../support/vectors.js";
import { FOLDER } from "./runtimes.js";

const HERE = fileURLToPath(new URL("./hermes/", import.meta.url));
const NOW = "2026-01-01T00:00:00.000Z";
const COMPILERS = ["hermesc-0.14", "hermesc-250829098", "hermesc-260318099"];
/** All cases take half an hour in this engine, which interprets: BOOTPROOF_HERMES=all runs them. */
const EACH = process.env["BOOTPROOF_HERMES"] === "all" ? 1 : 12;
const ORGANIZATION = (
  JSON.parse((JSON.parse(readVectorText("boot-proofs/appproof-1.json")) as { proofPayload: string }).proofPayload) as {
    addressDerivationProof: { organizationId: string; address: string };
  }
).addressDerivationProof;

interface Piece {
  readonly text?: string;
  readonly parts?: unknown;
  readonly base64?: string;
}
interface CaseOfFile {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly expected: {
    readonly verdict: string;
    readonly failed: readonly string[];
    readonly warned: readonly string[];
  };
  readonly pieces: Readonly<Record<string, Piece>>;
}

function casesOfCorpus(): CaseOfFile[] {
  const categories = readCategories(CORPUS) as unknown as {
    category: string;
    common: Record<string, Piece>;
    cases: CaseOfFile[];
  }[];
  return categories
    .filter(({ category }) => category !== "signed-policy")
    .flatMap(({ common, cases }) =>
      cases.map(({ name, input, expected, pieces }) => {
        const named = Object.values(input)
          .flat()
          .filter((value): value is string => typeof value === "string" && value in common);
        return {
          name,
          input,
          expected,
          pieces: { ...pieces, ...Object.fromEntries(named.map((path) => [path, common[path]!])) },
        };
      }),
    )
    .filter(({ pieces }) => Object.values(pieces).every(({ parts }) => parts === undefined));
}

function outputOf(program: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd,
    encoding: "utf8",
    maxBuffer: 1 << 26,
    timeout: 3_000_000,
  });
  if (status !== 0) throw new Error(`${program}: ${status}\n${stdout}\n${stderr}`);
  return stdout;
}

describe.skipIf(FOLDER === undefined)("in Hermes (BOOTPROOF_RUNTIMES)", () => {
  const cases = casesOfCorpus().filter((_, index) => index % EACH === 0);
  const tool = (...path: string[]): string => join(FOLDER!, "node_modules", ...path);
  let folder = "";
  let lines: Record<string, unknown>[] = [];

  beforeAll(async () => {
    folder = strangersFolder();
    const { tarball } = await pack(folder);
    await npm(["install", "--ignore-scripts", "--no-audit", "--no-fund", tarball], folder);
    for (const name of readdirSync(HERE)) copyFileSync(join(HERE, name), join(folder, name));
    const pairs = [1, 2].map((n) => ({
      bootProof: readVectorText(`boot-proofs/bootproof-${n}.json`),
      appProof: readVectorText(`boot-proofs/appproof-${n}.json`),
      now: NOW,
    }));
    const altered = {
      ...pairs[0]!,
      appProof: pairs[0]!.appProof.replace(ORGANIZATION.address, `${ORGANIZATION.address.slice(0, -1)}0`),
    };
    const { bootProof } = await verifyBootProof(pairs[0]!.bootProof, {
      policy: NO_POLICY_ANY_ENCLAVE,
      now: new Date(NOW),
    });
    const policy = JSON.stringify(pinPolicy(bootProof!));
    parsePolicy(policy);
    const phone = { ...pairs[0]!, policy, organizationId: ORGANIZATION.organizationId };
    const asked = { pairs: [...pairs, altered], phone, cases };
    writeFileSync(join(folder, "asked.js"), `export const ASKED = ${JSON.stringify(asked)};`);
    const metro = (out: string, ...more: string[]): string =>
      outputOf(
        process.execPath,
        [join(folder, "metro.cjs"), join(folder, "entry.js"), join(folder, out), ...more],
        FOLDER!,
      );
    metro("bundle.js");
    const output = outputOf(tool("hermes-engine-cli/linux64-bin/hermes"), ["-w", join(folder, "bundle.js")], folder);
    expect(output).not.toContain("FAILED");
    lines = output
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }, 600_000);
  afterAll(() => folder && rmSync(folder, { recursive: true }));

  it("verifies the genuine pairs, and refuses an altered one", () => {
    expect(lines.slice(0, 2)).toMatchObject([
      { verdict: "authentic", failed: [] },
      { verdict: "authentic", failed: [] },
    ]);
    expect(lines[2]).toMatchObject({ verdict: "rejected", failed: ["app.signature"] });
    for (const { text } of lines.slice(0, 2)) expect(text).toMatch(/^AUTHENTIC/);
  });

  it("runs the program for phones", () => {
    expect(lines[3]).toEqual({ address: ORGANIZATION.address });
  });

  it("answers the cases of the corpus", () => {
    expect(cases.length).toBeGreaterThan(90);
    const wrong = cases.flatMap(({ name, expected }, index) => {
      const { verdict, failed } = lines[4 + index] as unknown as CaseOfFile["expected"];
      const isSame = verdict === expected.verdict && [...failed].sort().join() === [...expected.failed].sort().join();
      return isSame ? [] : [`${name}: ${verdict} ${failed.join()}`];
    });
    expect(wrong).toEqual([]);
  });

  it.each(COMPILERS)("is compiled by %s", (compiler) => {
    const out = join(folder, `${compiler}.hbc`);
    outputOf(
      tool(compiler, "hermesc/linux64-bin/hermesc"),
      ["-O", "-w", "-emit-binary", "-out", out, join(folder, "bundle.js")],
      folder,
    );
    expect(statSync(out).size).toBeGreaterThan(1_000_000);
    expect(gzipSync(readFileSync(join(folder, "bundle.js"))).length).toBeGreaterThan(100_000);
  });
});
