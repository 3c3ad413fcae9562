/** What producer and worker share: joining the queue, and reporting each note once. */
import { TOOL } from "../version.js";
import { type Peer, Seal, newRunId, queueName } from "./node-queue-wire.js";
import { type RedisConnection, connectRedis } from "./node-redis.js";
import { type AuditSetting, policyDigest } from "./setting.js";

export interface Member {
  readonly connection: RedisConnection;
  readonly seal: Seal;
  readonly peer: Peer;
  readonly notes: Notes;
}

interface MemberOptions {
  readonly secret?: string;
  readonly onNote?: (text: string) => void;
}

const TRUSTED =
  "without BOOTPROOF_QUEUE_SECRET anyone who can write to this server is trusted, and could forge results";

/** Connects, as `connect` does. `most` limits the different notes. */
export async function joinQueue(
  url: string,
  held: Pick<AuditSetting, "policy" | "trustAnchors">,
  { secret, onNote = () => {} }: MemberOptions,
  most: number,
): Promise<Member> {
  const policy = await policyDigest(held);
  const seal = new Seal(secret);
  const connection = await connectRedis(url, onNote);
  const notes = new Notes(connection.shown, onNote, most);
  if (!seal.isThere) notes.tell(TRUSTED);
  const peer: Peer = { id: newRunId(), queue: queueName(policy, seal), policy, version: TOOL.version };
  return { connection, seal, peer, notes };
}

class Notes {
  readonly #shown: string;
  readonly #onNote: (text: string) => void;
  readonly #most: number;
  readonly #said = new Set<string>();

  constructor(shown: string, onNote: (text: string) => void, most: number) {
    this.#shown = shown;
    this.#onNote = onNote;
    this.#most = most;
  }

  tell(text: string): void {
    this.#onNote(`${this.#shown}: ${text}`);
  }

  once(text: string): void {
    if (this.#said.size >= this.#most || this.#said.has(text)) return;
    this.#said.add(text);
    this.tell(text);
  }
}
