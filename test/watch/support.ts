/** Logs that no watch wrote, with their own clock. */
import { toUtf8 } from "../../src/bytes.js";
import {
  type Finding,
  type FindingEntry,
  type LogEnd,
  type LogEvent,
  type LogLine,
  NO_LINE,
  eventLineAfter,
  isFinding,
  lineAfter,
} from "../../src/watch/entry.js";
import { type LogVerification, type VerifyLogOptions, verifyLog } from "../../src/watch/index.js";
import { sha256 } from "../../src/verify/digest.js";
import { toHex } from "../../src/bytes.js";
import type { JsonValue } from "../../src/decode/json.js";

export const START = new Date("2026-03-04T05:06:07.000Z");

export async function finding(app: string, bootProof: JsonValue, more: Partial<Finding> = {}): Promise<Finding> {
  return {
    at: START.toISOString(),
    app,
    ephemeralKey: null,
    verdict: "verified",
    stale: false,
    failed: [],
    deployment: "prod",
    policy: "lab",
    policyDigest: null,
    settingDigest: "cd".repeat(32),
    tool: { name: "bootproof", version: "0.1.0" },
    evidenceDigest: toHex(await sha256(toUtf8(JSON.stringify(bootProof)))),
    bootProofs: [bootProof],
    ...more,
  };
}

const at = START.toISOString();
const watched = [{ app: "signer" }, { ephemeralKey: "04ab" }];

/** One of each kind. */
export const EVENTS: readonly LogEvent[] = [
  { at, event: "outage-began", kind: "unreachable", watched, since: at, message: "no \u202econnection" },
  { at, event: "outage-ended", watched, since: at, failedPolls: 3 },
  {
    ...{ at, event: "setting-changed", changed: ["policy", "trustedRoots"], policy: "lab" },
    ...{ policyDigest: "ab".repeat(32), settingDigest: "cd".repeat(32), before: "ef".repeat(32) },
  },
  { at, event: "setting-refused", since: at, faults: [{ file: "a\u202e.json", reason: "no such file" }] },
  { at, event: "continued", file: "boots.2.jsonl" },
];

/** So many lines, each an entry of its own. */
export async function linesOf(count: number, more: Partial<Finding> = {}): Promise<LogLine<FindingEntry>[]> {
  const lines: LogLine<FindingEntry>[] = [];
  let end: LogEnd = { entries: 0, head: NO_LINE };
  for (let n = 1; n <= count; n++) {
    const line = await lineAfter(end, await finding("signer", { enclaveApp: "signer", boot: n }, more));
    lines.push(line);
    end = { entries: n, head: line.hash };
  }
  return lines;
}

/** Three files: entries 1 to 4, 5 to 8, 9 to 10. */
export async function rotatedLog(): Promise<{ all: LogLine[]; files: Record<"b" | "b.2" | "b.3", LogLine[]> }> {
  const all: LogLine[] = await linesOf(3);
  const endOf = (): LogEnd => ({ entries: all.length, head: all.at(-1)!.hash });
  const turn = async (file: string): Promise<void> =>
    void all.push(await eventLineAfter(endOf(), { at, event: "continued", file }));
  const grow = async (): Promise<void> => void all.push(await lineAfter(endOf(), await finding("signer", all.length)));
  await turn("b.2");
  for (let n = 5; n <= 7; n++) await grow();
  await turn("b.3");
  for (let n = 9; n <= 10; n++) await grow();
  return { all, files: { b: all.slice(0, 4), "b.2": all.slice(4, 8), "b.3": all.slice(8) } };
}

/** Leaves out events. */
export function findingsInto(findings: LogLine<FindingEntry>[]): (line: LogLine) => void {
  return (line) => void (isFinding(line.entry) && findings.push({ ...line, entry: line.entry }));
}

export function textOf(lines: readonly (LogLine | string)[]): string {
  return lines
    .map((line) => `${typeof line === "string" ? line : Buffer.from(line.bytes).toString("utf8")}\n`)
    .join("");
}

/** In pieces that end anywhere. */
export async function* inPieces(text: string | Uint8Array, size = 97): AsyncGenerator<Uint8Array> {
  const bytes = typeof text === "string" ? toUtf8(text) : text;
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export function verified(text: string, options: VerifyLogOptions = {}): Promise<LogVerification> {
  return verifyLog(inPieces(text), options);
}

/** A clock that advances only by sleeping. */
export class SimulatedClock {
  #time = START.getTime();
  #sleepers: { readonly at: number; readonly wake: () => void }[] = [];

  readonly now = (): Date => new Date(this.#time);
  readonly random = (): number => 0.5;
  readonly sleep = (milliseconds: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener("abort", wake);
        this.#sleepers = this.#sleepers.filter((each) => each !== sleeper);
        resolve();
      };
      const sleeper = { at: this.#time + milliseconds, wake };
      if (signal.aborted) return resolve();
      this.#sleepers.push(sleeper);
      signal.addEventListener("abort", wake);
    });

  get elapsedMs(): number {
    return this.#time - START.getTime();
  }

  /**
   * Wakes who sleeps, in order, once there is one who does. Where several sleep, one that works meanwhile has to be
   * busy: its work takes real time, in which the others would sleep for days.
   */
  async runUntil(isDone: () => boolean, isBusy = (): boolean => false): Promise<void> {
    while (!isDone()) {
      await new Promise((resolve) => setImmediate(resolve));
      if (isBusy()) continue;
      this.#sleepers.sort((a, b) => a.at - b.at);
      const [next] = this.#sleepers;
      if (next === undefined) continue;
      this.#time = Math.max(this.#time, next.at);
      next.wake();
    }
  }
}
