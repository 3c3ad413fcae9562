/** The honest evidence under a signed policy that is in force, has expired, or is not in force yet. */
import { expect } from "vitest";
import type { CommandName, OptionName } from "../../src/cli/option-table.js";
import { type SignedPolicy, openSignedPolicy } from "../../src/signed-policy/index.js";
import { fileOf } from "../cli/support.js";
import { DAY, TestFeed, newSigner } from "../support/signed-policies.js";
import { type Judge, type Side, World } from "./cells.js";
import { FACTS } from "./facts.js";
import { NOW } from "./worlds.js";

/** When the version was issued, in milliseconds before the verification. It is valid for 14 days. */
const TIMES = { current: DAY, expired: 14 * DAY, early: -300_001 } as const;

/** What `policy.current` says of each that is not in force. */
export const SAYS = { expired: "expired at", early: "is not in force yet" } as const;

export class SignedWorld extends World {
  override readonly policyPath: string;
  readonly #feed = new TestFeed([newSigner(), newSigner()], 2);
  readonly #signers: string;
  #open: SignedPolicy | undefined;

  /** `earlier` is the policy of a version before it. */
  constructor(time: keyof typeof TIMES, earlier?: object) {
    super("pin pivotHash", FACTS["pin pivotHash"]);
    const issuedAt = new Date(NOW.getTime() - TIMES[time]);
    if (earlier !== undefined) this.#feed.add({ policy: earlier, issuedAt });
    this.#feed.add({ policy: this.policy, issuedAt });
    [this.policyPath, this.#signers] = [fileOf(this.#feed.text(), `${time}.jsonl`), fileOf(this.#feed.pinned)];
  }

  /** Opens the policy for the entrances that take it in code. */
  async open(): Promise<this> {
    const source = async (): Promise<string> => this.#feed.text();
    this.#open = await openSignedPolicy({ signers: this.#feed.pinned, source, now: () => NOW });
    return this;
  }

  override parsed(): SignedPolicy {
    return this.#open!;
  }

  override async before(): Promise<string> {
    return this.#feed.text(1, 1);
  }

  override words(command: CommandName, side: Side, ...more: readonly OptionName[]): string[] {
    return [...super.words(command, side, ...more), "--policy-signers", this.#signers];
  }
}

const opened = (time: keyof typeof TIMES): Promise<SignedWorld> => new SignedWorld(time).open();
export const current = await opened("current");
export const refused = [
  ["expired", await opened("expired")],
  ["early", await opened("early")],
] as const;

/** A command without checks (`inWords`) says in a sentence what the check `policy.current` says elsewhere. */
export async function expectSigned(judge: Judge, inWords = false): Promise<void> {
  expect(await judge(current, "honest")).toEqual({ accepted: true, why: [] });
  // Whoever signs does not change what is judged.
  expect((await judge(current, "other")).accepted).toBe(false);
  for (const [time, world] of refused) {
    const why = inWords ? (expect.stringContaining(SAYS[time]) as string) : "policy.current";
    expect(await judge(world, "honest")).toEqual({ accepted: false, why: [why] });
  }
}
