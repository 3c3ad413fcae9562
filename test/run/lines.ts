/** Chains that no run wrote, with their own clock. */
import { toUtf8 } from "../../src/bytes.js";
import type { JsonValue } from "../../src/decode/json.js";
import {
  NO_LINES,
  type RunContent,
  type RunEnd,
  type RunEvent,
  type RunLine,
  type WatchResult,
  evidenceDigest,
  lineAfter,
} from "../../src/run/line.js";
import type { RunStream } from "../../src/run/chain.js";

export const START = new Date("2026-03-04T05:06:07.000Z");
const at = START.toISOString();
const DIGEST = "cd".repeat(32);

/** The result of a poll. */
export async function polled(bootProof: JsonValue, more: Partial<WatchResult> = {}): Promise<WatchResult> {
  return {
    app: "signer",
    entry: await evidenceDigest(JSON.stringify(bootProof)),
    verdict: "verified",
    failed: [],
    warnings: [],
    deployments: ["prod"],
    policyDigest: null,
    settingDigest: DIGEST,
    details: [],
    bootProofs: [bootProof],
    ...more,
  } as WatchResult;
}

/** The result of an entry of an audit. */
export function audited(line: number, more: object = {}): RunContent {
  const entry = line.toString(16).padStart(64, "0");
  const result = { verdict: "verified", failed: [], warnings: ["chain.anchor"], policyDigest: null } as const;
  return { file: "proofs.ndjson", line, entry, ...result, settingDigest: DIGEST, ...more };
}

const watched = [{ app: "signer" }, { ephemeralKey: "04ab" }];
const polls = watched.map((one) => ({ ...one, good: 60, failed: 0 }));
const place = { file: "a\u202e.ndjson", line: 3 };

/** One of each kind. */
export const EVENTS: readonly RunEvent[] = [
  {
    ...{ event: "started", watched, aliveMs: 3_600_000, tool: { name: "bootproof", version: "0.1.0" } },
    ...{ settingDigest: DIGEST, setting: null },
  },
  { event: "accepted", count: 4, verified: 3, first: place, last: { ...place, line: 7 }, entries: DIGEST },
  {
    ...{ event: "setting-changed", changed: ["policy", "trustedRoots"], policy: "lab" },
    ...{ policyDigest: "ab".repeat(32), settingDigest: DIGEST, before: "ef".repeat(32) },
  },
  { event: "setting-refused", since: at, faults: [{ file: "a\u202e.json", reason: "no such file" }] },
  { event: "outage-began", kind: "unreachable", watched, since: at, message: "no \u202econnection" },
  { event: "outage-ended", watched, since: at, failedPolls: 3 },
  { event: "announced", of: 3 },
  { event: "alive", since: at, polls },
  { event: "stopped", since: at, polls: null },
];

/** Chains lines, `seconds` apart. */
export async function chained(
  contents: readonly RunContent[],
  end: RunEnd = NO_LINES,
  seconds = 0,
): Promise<RunLine[]> {
  const lines: RunLine[] = [];
  for (const [index, content] of contents.entries()) {
    const line = await lineAfter(end, new Date(START.getTime() + index * seconds * 1000).toISOString(), content);
    lines.push(line);
    end = { entries: line.entry.n, head: line.hash };
  }
  return lines;
}

/** So many results of polls, each of a boot proof of its own. */
export async function linesOf(count: number, more: Partial<WatchResult> = {}): Promise<RunLine[]> {
  const contents = Array.from({ length: count }, (_, at) => polled({ enclaveApp: "signer", boot: at + 1 }, more));
  return chained(await Promise.all(contents));
}

export const endOf = ({ entry, hash }: RunLine): RunEnd => ({ entries: entry.n, head: hash });

export function textOf(lines: readonly (RunLine | string)[]): string {
  return lines.map((line) => `${typeof line === "string" ? line : Buffer.from(line.bytes).toString()}\n`).join("");
}

/** In pieces that end anywhere. */
async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = toUtf8(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export function streamOf(text: string, name: string | null = null, size = 97): RunStream {
  return { name, stream: inPieces(text, size) };
}
