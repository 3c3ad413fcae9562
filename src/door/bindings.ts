/** Submitted requests by the activity that answered them. No id is bound twice, because the service chooses ids. */
import { type JsonValue, jsonKey } from "../decode/json.js";
import type { SubmitQuestion } from "./question.js";

interface Binding {
  readonly question: SubmitQuestion;
  readonly submitter: string;
  readonly size: number;
}

/** Limit of the total size of all bindings, about one for each character. */
const MAX_SIZE = 64 * 1024 * 1024;
/** Size of a binding besides its characters. */
const ENTRY_SIZE = 512;

/**
 * Submitted requests by activity id, with a limit of their total size. Over the limit, the submitter with the largest
 * share loses its oldest binding, so one submitter cannot displace the bindings of others. An id whose binding is lost
 * is treated as unknown.
 */
export class Bindings {
  readonly #maxSize: number;
  readonly #byId = new Map<string, Binding>();
  readonly #held = new Map<string, { size: number; readonly ids: Set<string> }>();
  #size = 0;

  constructor(maxSize = MAX_SIZE) {
    this.#maxSize = maxSize;
  }

  /** Returns the request that this activity answered, whoever submitted it. Null if no request is known. */
  get(activityId: string): SubmitQuestion | null {
    return this.#byId.get(activityId)?.question ?? null;
  }

  /**
   * Binds a request to the id of the activity that answered it. Returns why that id cannot answer this request, or
   * null.
   */
  bind(question: SubmitQuestion, activityId: string, submitter: string): string | null {
    const known = this.#byId.get(activityId);
    if (known !== undefined && !isSame(known.question, question)) return "the activity's id belongs to another request";
    if (known !== undefined && (known.question.isProven || !question.isProven)) return null;
    this.#forget(activityId);
    const size = ENTRY_SIZE + activityId.length + 2 * JSON.stringify(membersOf(question)).length;
    this.#keep(activityId, { question, submitter, size });
    while (this.#size > this.#maxSize) this.#forgetOldest();
    return null;
  }

  #keep(activityId: string, binding: Binding): void {
    const { submitter, size } = binding;
    this.#byId.set(activityId, binding);
    const held = this.#held.get(submitter) ?? { size: 0, ids: new Set() };
    held.size += size;
    this.#held.set(submitter, held);
    held.ids.add(activityId);
    this.#size += size;
  }

  #forgetOldest(): void {
    const [most] = [...this.#held.values()].sort((a, b) => b.size - a.size);
    for (const oldest of most!.ids) return this.#forget(oldest);
  }

  #forget(activityId: string): void {
    const binding = this.#byId.get(activityId);
    if (binding === undefined) return;
    const { submitter, size } = binding;
    this.#byId.delete(activityId);
    const held = this.#held.get(submitter)!;
    held.size -= size;
    held.ids.delete(activityId);
    if (held.ids.size === 0) this.#held.delete(submitter);
    this.#size -= size;
  }
}

/** Returns the members of a request. Two requests are the same if these are equal. */
function membersOf({ organizationId, type, parameters, timestampMs }: SubmitQuestion): JsonValue[] {
  return [organizationId, type, parameters, timestampMs];
}

function isSame(one: SubmitQuestion, other: SubmitQuestion): boolean {
  return one === other || jsonKey(membersOf(one)) === jsonKey(membersOf(other));
}
