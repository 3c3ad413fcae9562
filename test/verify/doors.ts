/** The three doors to cryptography that the library has, forced open one at a time. */
import "@noble/curves/nist.js";
import "@noble/hashes/sha2.js";
import { vi } from "vitest";

export const DOORS = ["Node", "WebCrypto", "noble"] as const;
export type Door = (typeof DOORS)[number];

/** Runs with the platform taken away down to the door: WebCrypto where Node's own is gone, noble where both are. */
export async function through<T>(door: Door, run: () => Promise<T>): Promise<T> {
  const getBuiltinModule = process.getBuiltinModule.bind(process) as (id: string) => object | undefined;
  const hidden = (id: string): object | undefined => (id === "node:crypto" ? undefined : getBuiltinModule(id));
  try {
    if (door !== "Node")
      vi.spyOn(process, "getBuiltinModule").mockImplementation(hidden as typeof process.getBuiltinModule);
    if (door === "noble") vi.stubGlobal("crypto", undefined);
    return await run();
  } finally {
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
  }
}
