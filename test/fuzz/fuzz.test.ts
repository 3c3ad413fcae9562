/**
 * A short part of the fuzzing, by one seed; what was found before, once more; and that the runner finds what is there
 * to be found. `npm run test:fuzz` goes on for as long as it is told.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readVectorJson } from "../support/vectors.js";
import { LAYERS } from "./layers.js";
import { fuzz, outcomeOf } from "./loop.js";
import { LAYERS as PLANTED } from "./planted.js";

interface Kept {
  readonly layer: string;
  readonly was: string;
  readonly input: string;
}

const RUN = fileURLToPath(new URL("run.mjs", import.meta.url));

describe("what was found before", () => {
  it.each(readVectorJson<Kept[]>("fuzz/findings.json"))("$layer: $was", async ({ layer, input }) => {
    // Node's own kind of byte string: that is what files are read into.
    const [outcome] = await outcomeOf(await LAYERS[layer]!.load(), Buffer.from(input, "base64"));
    expect(outcome).toMatch(/^(?:accepted|refused)$/);
  });
});

describe("a short run", () => {
  it.each(Object.entries(LAYERS))("%s", { timeout: 60_000 }, async (name, { share, load }) => {
    const layer = await load();
    const executions = layer.seeds.length + 10 + Math.ceil(share / 3);
    const { findings, accepted, refused } = await fuzz(layer, { name, seed: 20_251_121, executions });
    expect(findings.map(({ what }) => what)).toEqual([]);
    expect(accepted).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(0);
  });

  it("is the same for the same seed", async () => {
    const layer = await PLANTED.good.load();
    const [one, other] = await Promise.all(
      [1, 2].map(() => fuzz(layer, { name: "good", seed: 3, executions: 300 }).then(({ accepted }) => accepted)),
    );
    expect(one).toBe(other);
    expect((await fuzz(layer, { name: "good", seed: 4, executions: 300 })).accepted).not.toBe(one);
  });
});

describe("the runner", () => {
  const ran = (...args: readonly string[]): Promise<{ code: number | null; stdout: string }> =>
    new Promise((resolve) => {
      const env = { ...process.env, BOOTPROOF_FUZZ_HANG_MS: "1500" };
      const child = spawn(process.execPath, [RUN, ...args], { env, stdio: ["ignore", "pipe", "inherit"] });
      let stdout = "";
      child.stdout.on("data", (piece: Buffer) => (stdout += piece.toString()));
      child.on("close", (code) => resolve({ code, stdout }));
    });
  const planted = (...layers: readonly string[]): ReturnType<typeof ran> =>
    ran(
      ...["--layers", "test/fuzz/planted.ts", "--executions", String(100 * layers.length)],
      ...layers.flatMap((layer) => ["--layer", layer]),
    );

  it("finds a crash, a wrong acceptance, an end that does not come and memory without bound", async () => {
    const { code, stdout } = await planted("good", "crash", "wrong", "hang", "memory");
    expect(code).toBe(1);
    expect(stdout).not.toContain("FOUND in good");
    expect(stdout).toMatch(/FOUND in crash: TypeError: a bracket is missing/);
    expect(stdout).toMatch(/FOUND in wrong: Unexplained: accepted, and it begins otherwise/);
    expect(stdout).toMatch(/FOUND in hang: does not end within/);
    expect(stdout).toMatch(/FOUND in memory: grown by \d+ MiB/);
  }, 60_000);

  it("ends well where nothing is found, guided by what is reached", async () => {
    const { code, stdout } = await ran("--layer", "text", "--executions", "400", "--guided");
    expect(stdout).not.toContain("FOUND");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^all +400 /m);
  }, 60_000);

  it("calls slow what is slow each time, and cuts out of an input what is not needed", async () => {
    const [slow, milliseconds] = await outcomeOf(
      {
        seeds: [],
        run: () => {
          for (const { user } = process.cpuUsage(); process.cpuUsage().user - user < 60_000;);
          return "accepted";
        },
      },
      new Uint8Array(),
      50,
    );
    expect(slow).toMatch(/^slow: \d+ ms$/);
    expect(milliseconds).toBeGreaterThan(50);
    const { findings } = await fuzz(await PLANTED.crash.load(), { name: "crash", seed: 1, executions: 200 });
    expect(findings[0]!.input).toHaveLength(0);
  }, 20_000);
});
