/** Before each test file. */
import fc from "fast-check";
import { expect } from "vitest";
import { IS_LONG } from "./long.js";

const DONE = Symbol.for("bootproof.setup");

/** Bytes are compared as bytes: vitest's own way, by index, takes a thousand times as long for a document. */
function equalBytes(one: unknown, other: unknown): boolean | undefined {
  return one instanceof Uint8Array && other instanceof Uint8Array ? Buffer.compare(one, other) === 0 : undefined;
}

// Files share a process, and each loads this again.
if (!(DONE in globalThis)) {
  Object.defineProperty(globalThis, DONE, { value: true });
  expect.addEqualityTesters([equalBytes]);
}
// Files share a process, so each sets it: what passes by chance fails by chance. A release tries more, and others.
fc.configureGlobal(IS_LONG ? { numRuns: 300 } : { seed: 1, numRuns: 60 });
