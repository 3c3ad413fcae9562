/** A consumer with everything in memory: its state, its clock, and the feed that it is shown. */
import { type SignedPolicy, type SignedPolicyError, openSignedPolicy } from "../../src/signed-policy/index.js";
import { verifyEvidence } from "../../src/index.js";
import type { SignedPolicyOptions, SignedPolicyState } from "../../src/signed-policy/index.js";
import { type MadeVersion, NAME, TEAM, feedOf } from "../support/policy-feeds.js";

export const PINNED = { name: NAME, ...TEAM };

export interface Notice {
  readonly notice: string;
  readonly code: string | undefined;
}

export class World {
  feed: string | Uint8Array | Error;
  /** Milliseconds since the epoch. */
  now = Date.parse("2026-11-26T12:00:00.000Z");
  kept: string | null = null;
  fetches = 0;
  writes = 0;
  readonly notices: Notice[] = [];
  readonly state: SignedPolicyState = {
    read: async () => this.kept,
    write: async (text) => {
      this.writes++;
      this.kept = text;
    },
  };

  constructor(versions: readonly MadeVersion[]) {
    this.feed = feedOf(versions);
  }

  open(more: Partial<SignedPolicyOptions> = {}): Promise<SignedPolicy> {
    return openSignedPolicy({
      signers: PINNED,
      source: async () => {
        this.fetches++;
        if (this.feed instanceof Error) throw this.feed;
        return this.feed;
      },
      state: this.state,
      now: () => new Date(this.now),
      onNotice: (notice, error) => void this.notices.push({ notice, code: error?.code }),
      random: () => 0,
      ...more,
    });
  }
}

/** The refusal of a promise that must be refused with a SignedPolicyError. */
export async function refusal(opened: Promise<unknown>): Promise<SignedPolicyError> {
  return opened.then(
    (value) => {
      throw new Error(`not refused: ${JSON.stringify(value)}`);
    },
    (error: SignedPolicyError) => {
      if (error.name !== "SignedPolicyError") throw error;
      return error;
    },
  );
}

/** The status of `policy.current` at a time. */
export async function currentAt(policy: SignedPolicy["policy"], now: number): Promise<string> {
  const { report } = await verifyEvidence({ bootProofs: ["{}"], appProofs: [] }, { policy, now: new Date(now) });
  return report.checks.find(({ id }) => id === "policy.current")!.status;
}
