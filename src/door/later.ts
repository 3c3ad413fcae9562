/**
 * The parts of a door that are loaded when they are first needed. Nothing that is imported for a part of itself, as a
 * stamper is, may import this file: some bundlers load with it whatever the parts have in common.
 */
import type { DoorParts } from "./door.js";
import type { EntranceParts } from "./entrance.js";

export const LATER: DoorParts & EntranceParts = {
  verifying: async () => {
    const [core] = await Promise.all([
      import("./verifying.js"),
      import("../verify/activity-checks.js"),
      import("../verify/app-proof-checks.js"),
    ]);
    return core;
  },
  accounts: () => import("./account-verifier.js"),
  authProxy: () => import("./auth-proxy-verifier.js"),
};
