/** The state of a signed policy in a file, for Node. */
import { readFile } from "node:fs/promises";
import { InUseError, type Lock, takeLock } from "../disk/lock.js";
import { replaceWhole } from "../disk/whole.js";
import type { SignedPolicyState } from "./open.js";

const ATTEMPTS = 100;
const WAIT_MS = 100;

/**
 * Keeps the state in a file (mode 0600). Comparing and writing is one step under the lock `PATH.lock`, and the file is
 * replaced whole, so that several processes can share it.
 * @example
 * ```ts
 * const signed = await openSignedPolicy({ signers, source, state: fileState("policy.state"), now: () => new Date() });
 * ```
 */
export function fileState(path: string): SignedPolicyState {
  return {
    read: () => textAt(path),
    write: async (text, before) => {
      const lock = await lockSoon(`${path}.lock`);
      try {
        if ((await textAt(path)) !== before) return false;
        await lock.requireHeld();
        await replaceWhole(path, text, { mode: 0o600 });
        return true;
      } finally {
        await lock.release();
      }
    },
  };
}

async function textAt(path: string): Promise<string | null> {
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
}

/** Waits for a lock that another process holds only while it writes. */
async function lockSoon(path: string): Promise<Lock> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await takeLock(path, "state");
    } catch (error) {
      if (!(error instanceof InUseError) || attempt === ATTEMPTS) throw error;
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    }
  }
}
