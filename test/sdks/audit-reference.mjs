/** Milliseconds of F0, of one native P-256 verification, and of @turnkey/crypto's verify of a genuine pair, as JSON. */
import { readFileSync } from "node:fs";
import { verify } from "@turnkey/crypto";
import { floorOf } from "../bench/floor.mjs";

const read = (name) =>
  JSON.parse(readFileSync(new URL(`../../test-vectors/boot-proofs/${name}`, import.meta.url), "utf8"));
const bootProof = read("bootproof-1.json");
const appProof = read("appproof-1.json");
const { f0, p256 } = floorOf(bootProof, appProof);

/** The median of rounds of some 20 ms. */
async function milliseconds(run, repeats) {
  const rounds = [];
  for (let round = -3; round < 21; round++) {
    const start = performance.now();
    for (let index = 0; index < repeats; index++) await run();
    if (round >= 0) rounds.push((performance.now() - start) / repeats);
  }
  return rounds.toSorted((a, b) => a - b)[rounds.length >> 1];
}
const figures = {
  f0: await milliseconds(f0, 6),
  p256: await milliseconds(p256, 300),
  turnkey: await milliseconds(() => verify(appProof, bootProof), 3),
};
console.log(JSON.stringify(figures));
