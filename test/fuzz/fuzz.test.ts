/**
 * A short part of the fuzzing, by one seed, and what was found before, once more. `npm run test:fuzz` goes on for as
 * long as it is told.
 */

import { describe, expect, it } from "vitest";
import { readVectorJson } from "../support/vectors.js";
import { LAYERS } from "./layers.js";
import { fuzz, outcomeOf } from "./loop.js";

interface Kept {
  readonly layer: string;
  readonly was: string;
  readonly input: string;
}

describe("what was found before", () => {
  it.each(readVectorJson<Kept[]>("fuzz/findings.json"))("$layer: $was", async ({ layer, input }) => {
    // Node's own kind of byte string: that is what files are read into.
    const [outcome] = await outcomeOf(await LAYERS[layer]!.load(), Buffer.from(input, "base64"));
    expect(outcome).toMatch(/^(?:accepted|refused)$/);
  });
});

describe("a short run", () => {
  it.each(Object.entries(LAYERS))("%s", async (name, { share, load }) => {
    const layer = await load();
    const executions = layer.seeds.length + 10 + Math.ceil(share / 3);
    const { findings, accepted, refused } = await fuzz(layer, { name, seed: 20_251_121, executions });
    expect(findings.map(({ what }) => what)).toEqual([]);
    expect(accepted).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(0);
  });
});
