/** The honest evidence under a signed policy that is in force, has expired, or is not in force yet. */
import type { CommandName, OptionName } from "../../src/cli/option-table.js";
import { fileOf } from "../cli/support.js";
import { DAY, TestFeed, newSigner } from "../support/signed-policies.js";
import { type Side, World } from "./cells.js";
import { FACTS } from "./facts.js";
import { NOW } from "./worlds.js";

/** When the version was issued, in milliseconds before the verification. It is valid for 14 days. */
export const TIMES = { current: DAY, expired: 14 * DAY, early: -300_001 } as const;

/** What `policy.current` says of each that is not in force. */
export const SAYS = { expired: "expired at", early: "is not in force yet" } as const;

export class SignedWorld extends World {
  override readonly policyPath: string;
  readonly #signers: string;

  constructor(time: keyof typeof TIMES) {
    super("pin pivotHash", FACTS["pin pivotHash"]);
    const feed = new TestFeed([newSigner(), newSigner()], 2);
    feed.add({ policy: this.policy, issuedAt: new Date(NOW.getTime() - TIMES[time]) });
    [this.policyPath, this.#signers] = [fileOf(feed.text(), `${time}.jsonl`), fileOf(feed.pinned)];
  }

  override words(command: CommandName, side: Side, ...more: readonly OptionName[]): string[] {
    return [...super.words(command, side, ...more), "--policy-signers", this.#signers];
  }
}
