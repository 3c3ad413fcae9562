/** The library as it is loaded in runtimes that offer other cryptography than this Node does. */
import "@noble/curves/ed25519.js";
import "@noble/curves/nist.js";
import "@noble/hashes/sha2.js";
import { vi } from "vitest";
import type * as index from "../../src/index.js";
import type * as digest from "../../src/verify/digest.js";
import type * as ecdsa from "../../src/verify/ecdsa.js";
import type * as choice from "../../src/verify/cryptography.js";

export type Library = typeof choice & typeof digest & typeof ecdsa & typeof index;

/** What a runtime offers. What is not named, it has not. */
export interface Offered {
  /** What it calls `node:crypto`. */
  readonly node?: object;
  /** WebCrypto. */
  readonly subtle?: object;
  /** What it says it is, as Node has since version 21. */
  readonly userAgent?: string;
}

/** Modules of its own, which have chosen in such a runtime. What they found there is then gone. */
export async function libraryIn(offered: Offered): Promise<Library> {
  vi.resetModules();
  const modules = await Promise.all([
    import("../../src/verify/cryptography.js"),
    import("../../src/verify/digest.js"),
    import("../../src/verify/ecdsa.js"),
    import("../../src/index.js"),
  ]);
  const library = Object.assign({}, ...modules) as Library;
  await inRuntime(offered, async () => {
    await library.cryptography();
    await library.ed25519();
  });
  return library;
}

/** Runs with these globals in the place of Node's. */
export async function inRuntime<T>({ node, subtle, userAgent }: Offered, run: () => Promise<T>): Promise<T> {
  const builtin = (id: string): object | undefined => (id === "node:crypto" ? node : undefined);
  vi.spyOn(process, "getBuiltinModule").mockImplementation(builtin as typeof process.getBuiltinModule);
  vi.stubGlobal("crypto", subtle && { subtle });
  vi.stubGlobal("navigator", userAgent === undefined ? undefined : { userAgent });
  try {
    return await run();
  } finally {
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
  }
}

export const IMPLEMENTATIONS = ["Node", "WebCrypto", "noble"] as const;
export type Implementation = (typeof IMPLEMENTATIONS)[number];

const node = process.getBuiltinModule("node:crypto");
const { subtle } = globalThis.crypto;
const OFFERED: Readonly<Record<Implementation, Offered>> = { Node: { node, subtle }, WebCrypto: { subtle }, noble: {} };

/** The library over each of the three that can compute for it. One after the other: they share the globals. */
const libraries = new Map<Implementation, Library>();
for (const implementation of IMPLEMENTATIONS) libraries.set(implementation, await libraryIn(OFFERED[implementation]));

export function libraryOver(implementation: Implementation): Library {
  return libraries.get(implementation)!;
}
