/** Bytes are compared as bytes: vitest's own way, by index, takes a thousand times as long for a document. */
import { expect } from "vitest";

const ADDED = Symbol.for("bootproof.equal-bytes");

function equalBytes(one: unknown, other: unknown): boolean | undefined {
  return one instanceof Uint8Array && other instanceof Uint8Array ? Buffer.compare(one, other) === 0 : undefined;
}

// Files share a process, and each loads this again.
if (!(ADDED in globalThis)) {
  Object.defineProperty(globalThis, ADDED, { value: true });
  expect.addEqualityTesters([equalBytes]);
}
