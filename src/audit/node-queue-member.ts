/** What producer and worker share: joining the queue, and reporting each note once. */
import { TOOL } from "../version.js";
import { type Peer, type QueuePlace, Seal, newRunId, prefixOf, queueName, tryRights } from "./node-queue-wire.js";
import type { QueueContact, QueueTls } from "./node-queue-url.js";
import { type RedisConnection, connectRedis, mastersOf } from "./node-redis.js";
import { type AuditSetting, policyDigest } from "./setting.js";

/** Reports the contact of a member. */
export class ContactReport {
  readonly #connection: RedisConnection;
  readonly #onQueue: ((contact: QueueContact) => void) | undefined;
  #waiting: number | null = null;

  constructor(connection: RedisConnection, onQueue: ((contact: QueueContact) => void) | undefined) {
    this.#connection = connection;
    this.#onQueue = onQueue;
  }

  /** Also while a command waits for a server that is away. */
  tell(): void {
    const { shown, isAway } = this.#connection;
    this.#onQueue?.({ server: shown, isConnected: !isAway, waiting: this.#waiting });
  }

  /** `list`: the key of BullMQ's list of waiting jobs. */
  async count(list: string): Promise<void> {
    if (this.#onQueue !== undefined) this.#waiting = await this.#connection.client.llen(list);
  }
}

export interface Member {
  readonly connection: RedisConnection;
  readonly place: QueuePlace;
  /** The server drops data when its memory is full, so an absent key says nothing. */
  readonly evicts: boolean;
  readonly seal: Seal;
  readonly peer: Peer;
  readonly notes: Notes;
}

interface MemberOptions {
  readonly prefix?: string;
  readonly tls?: QueueTls;
  readonly secret?: string;
  readonly onNote?: (text: string) => void;
}

const TRUSTED =
  "without BOOTPROOF_QUEUE_SECRET anyone who can write to this server is trusted, and could forge results";

/** Connects, as `connect` does. `most` limits the different notes. */
export async function joinQueue(
  url: string,
  held: Pick<AuditSetting, "policy" | "trustAnchors">,
  { prefix: name, tls, secret, onNote = () => {} }: MemberOptions,
  most: number,
): Promise<Member> {
  const policy = await policyDigest(held);
  const seal = new Seal(secret);
  const prefix = prefixOf(name);
  const connection = await connectRedis(url, onNote, tls && { tls });
  const place = { client: connection.client, prefix };
  await connection.first(tryRights(place));
  const notes = new Notes(connection.shown, onNote, most);
  if (!seal.isThere) notes.tell(TRUSTED);
  const evicts = await connection.first(warnOfEviction(connection, notes));
  const peer: Peer = { id: newRunId(), queue: queueName(policy, seal), policy, version: TOOL.version };
  return { connection, place, evicts, seal, peer, notes };
}

async function warnOfEviction({ client }: RedisConnection, notes: Notes): Promise<boolean> {
  let evicts = false;
  for (const master of mastersOf(client)) {
    const info = await master.info("memory");
    const [, policy = "noeviction"] = /^maxmemory_policy:([\w-]+)/m.exec(info) ?? [];
    if (policy === "noeviction" || !/^maxmemory:[1-9]/m.test(info)) continue;
    evicts = true;
    notes.once(
      `this server drops data when its memory is full (maxmemory-policy ${policy}): what it drops is verified again, ` +
        `which costs time; set noeviction`,
    );
  }
  return evicts;
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
