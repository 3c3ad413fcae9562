/** A watch of evidence that a lab's enclave made, by a simulated clock, and all that it tells. */
import { parsePolicy } from "../../src/appraise/policy.js";
import type { JsonValue } from "../../src/decode/json.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import type { LogEntry, UnrecordedFinding } from "../../src/watch/entry.js";
import {
  type WatchMessage,
  type WatchOptions,
  type WatchPoll,
  type WatchStatus,
  type WatchSummary,
  watch,
} from "../../src/watch/index.js";
import { START, SimulatedClock, respondingBy } from "./support.js";

export const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000];
const forge = new Forge();
export const { bootProof, anchorPem } = forgeEvidence({ lab: forge, at: START });
export const policy = parsePolicy(JSON.stringify(labPolicy(anchorPem, [labDeployment(forge)])));

export type Told = LogEntry | UnrecordedFinding;
/** What takes a refusal, or throws. */
export type Deliver = (entry: Told, attempts: number) => void;

export interface Seen {
  readonly entries: Told[];
  readonly delivered: Told[];
  readonly messages: WatchMessage[];
  readonly polls: (WatchPoll & { readonly elapsedMs: number })[];
  readonly statuses: WatchStatus[];
  readonly requests: { readonly app: string; readonly elapsedMs: number }[];
  readonly summary: WatchSummary | null;
  readonly error: Error | null;
}

interface Given extends Partial<WatchOptions> {
  readonly deliver?: Deliver;
  readonly until?: number;
  /** Of entries. */
  readonly most?: number;
  readonly clock?: SimulatedClock;
}

/** Watches until a time of the clock, or until the watch ends. `answer` depends on the name and the time. */
export async function watched(
  answer: (app: string, elapsedMs: number) => JsonValue | null | Promise<JsonValue | null>,
  { deliver = () => {}, until = Infinity, most = Infinity, clock = new SimulatedClock(), ...more }: Given,
): Promise<Seen> {
  const lists = { entries: [], delivered: [], messages: [], polls: [], statuses: [], requests: [] };
  const seen = lists as unknown as Omit<Seen, "summary" | "error">;
  const [stop, attempts] = [new AbortController(), new Map<Told, number>()];
  let [ended, error]: [boolean, Error | null] = [false, null];
  const options = {
    policy,
    apps: ["one"],
    newest: respondingBy((one) => {
      const app = "app" in one ? one.app : one.ephemeralKey;
      seen.requests.push({ app, elapsedMs: clock.elapsedMs });
      return answer(app, clock.elapsedMs);
    }),
    onEntry: ({ entry }: { entry: object }) => void seen.entries.push(entry as Told),
    onMessage: (message: WatchMessage) => void seen.messages.push(message),
    onStatus: (status: WatchStatus) => void seen.statuses.push(status),
    onPoll: (poll: WatchPoll) => void seen.polls.push({ ...poll, elapsedMs: clock.elapsedMs }),
    onRefusal: async ({ entry }: { entry: Told }) => {
      attempts.set(entry, (attempts.get(entry) ?? 0) + 1);
      deliver(entry, attempts.get(entry)!);
      seen.delivered.push(entry);
    },
    signal: stop.signal,
    ...more,
  };
  const work = watch(clock.watching(options))
    .catch((thrown: Error) => ((error = thrown), null))
    .finally(() => (ended = true));
  await clock.runUntil(() => ended || clock.elapsedMs >= until || seen.entries.length >= most);
  stop.abort();
  return { ...seen, summary: await work, error };
}
