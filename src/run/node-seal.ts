/** The jobs and answers of a queue. Anyone with access to its server can write to it, so both carry a seal. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { readResults, writeResults } from "./answered.js";
import type { Batch, JudgedBatch } from "./judge.js";
import { sha256Hex } from "./node-file.js";
import { secretBytes } from "./queue-options.js";

/** A batch of a run, with everything that decides its results. */
export interface SentBatch extends Batch {
  /** Random, in hex. */
  readonly run: string;
  readonly batch: number;
  /** The digest of the setting. */
  readonly setting: string;
  readonly now: string;
  /** The part of the setting that workers lack, as JSON. The digest covers it. */
  readonly sent: string;
}

/** HMAC-SHA-256 under the shared secret. Without a secret the key is empty, and the seals only detect mistakes. */
export class Seals {
  readonly #key: Uint8Array;

  constructor(secret?: string) {
    this.#key = secret === undefined ? new Uint8Array() : secretBytes(secret)!;
  }

  /** The label is the direction, so that no job passes for an answer. Labels and facts contain no line feed. */
  of(label: "job" | "answer" | "queue", facts: string, results = ""): string {
    return createHmac("sha256", this.#key).update(`bootproof ${label}\n${facts}\n${results}`).digest("hex");
  }

  isValid(seal: unknown, ...sealed: Parameters<Seals["of"]>): boolean {
    const [own, other] = [Buffer.from(this.of(...sealed)), Buffer.from(String(seal))];
    return own.length === other.length && timingSafeEqual(own, other);
  }
}

/** Returns what the seals of a batch cover, as a line of JSON. No two batches have the same. */
export function sealedFacts({ run, batch, setting, now, entries, expected }: SentBatch): string {
  const wanted = expected?.map((each) => (each === null ? null : sha256Hex(each)));
  return JSON.stringify([run, batch, setting, now, entries.map((entry) => sha256Hex(entry)), wanted ?? null]);
}

interface WrittenJob extends Omit<SentBatch, "entries"> {
  /** In base64. */
  readonly entries: readonly string[];
  readonly seal: string;
}

export function writeJob(batch: SentBatch, seals: Seals): WrittenJob {
  const entries = batch.entries.map((entry) => Buffer.from(entry).toString("base64"));
  return { ...batch, entries, seal: seals.of("job", sealedFacts(batch)) };
}

/** Reads a job. Returns null for a malformed job, and for one without a valid seal. */
export function readJob(job: unknown, seals: Seals): SentBatch | null {
  try {
    const { seal, ...rest } = job as WrittenJob;
    const batch = { ...rest, entries: rest.entries.map((entry) => Buffer.from(entry, "base64")) };
    return seals.isValid(seal, "job", sealedFacts(batch)) ? batch : null;
  } catch {
    return null;
  }
}

export function writeAnswer({ results }: JudgedBatch, batch: SentBatch, seals: Seals): string {
  const written = JSON.stringify(writeResults(results));
  return `${seals.of("answer", sealedFacts(batch), written)}\n${written}`;
}

/** Reads the answer to a batch. Returns null for a malformed one, and for one without a valid seal. */
export function readAnswer(answer: unknown, batch: SentBatch, seals: Seals): JudgedBatch | null {
  const [, seal, written = ""] = /^(\w+)\n(.*)$/s.exec(String(answer)) ?? [];
  if (!seals.isValid(seal, "answer", sealedFacts(batch), written)) return null;
  const results = readResults(jsonOrNull(written), batch.entries.length);
  return results && { results };
}

/** Reads what a worker wrote, which is JSON. Without a secret it may be anything; of other text the value is null. */
export function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
