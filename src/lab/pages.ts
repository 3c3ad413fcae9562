/** Lists and their pages: after or before an id, 1 to 100 items. */
import { createHash } from "node:crypto";
import { type ReadOf, matching, nonEmptyText, object, optional } from "../decode/shapes.js";
import type { JsonObject } from "../decode/json.js";
import type { Question } from "./question.js";
import type { Organization } from "./records.js";
import { invalid } from "./refusal.js";
import type { ServiceSettings } from "./settings.js";

export const paginationOptions = optional(
  object({
    limit: optional(matching(/^(?:[1-9][0-9]?|100)$/, "1 to 100")),
    before: optional(nonEmptyText),
    after: optional(nonEmptyText),
  }),
);
const DEFAULT_LIMIT = "10";

/** A record of a list, with its id and its time in milliseconds. */
export interface Entry<T> {
  readonly id: string;
  readonly at: number;
  readonly record: T;
}

type Paged<T> = Question<{ readonly paginationOptions?: ReadOf<typeof paginationOptions> } & T>;

export function pageFor<T>(question: Paged<unknown>, operation: string, entries: readonly Entry<T>[]): T[] {
  const { misbehaviour, settings, parameters } = question;
  const order = settings.current.order ?? (operation === "list_activities" ? "newest" : "oldest");
  return pageOf(entries, parameters.paginationOptions, order, (start) => misbehaviour.pageStart(start, operation));
}

/** Returns a page of what the organization has, with the faults and the padding that are on. */
export function listedPage(
  question: Paged<unknown>,
  operation: string,
  entriesOf: (organization: Organization) => Entry<() => JsonObject>[],
): JsonObject[] {
  const { after, before } = question.parameters.paginationOptions ?? {};
  return listed(
    question,
    operation,
    (organization) => {
      const isAsked = organization === question.organization;
      const records = entriesOf(organization);
      return (isAsked ? pageFor(question, operation, records) : records.map(({ record }) => record)).map((one) =>
        one(),
      );
    },
    after === undefined && before === undefined,
  );
}

/** Returns the items of the organization with the faults and the padding that are on. */
export function listed(
  { misbehaviour, settings, state, organization }: Question<unknown>,
  operation: string,
  itemsOf: (organization: Organization) => JsonObject[],
  isFirstPage = true,
): JsonObject[] {
  const { organizationId } = organization;
  const others = (): JsonObject[] => {
    const other = state.all("organizations").find((one) => one.organizationId !== organizationId);
    return other === undefined ? [] : itemsOf(other);
  };
  const listing = { operation, organizationId, isFirstPage, reader: state, others };
  const items = misbehaviour.list(itemsOf(organization), listing);
  const { paddingBytes = 0 } = settings.current;
  return items.map((item) => (paddingBytes === 0 ? item : { ...item, padding: "x".repeat(paddingBytes) }));
}

/** Returns a page. `alterStart` replaces the index of the first item after an id. Throws Refusal for an unknown id. */
function pageOf<T>(
  entries: readonly Entry<T>[],
  { limit = DEFAULT_LIMIT, before, after }: NonNullable<ReadOf<typeof paginationOptions>> = {},
  order: NonNullable<ServiceSettings["order"]>,
  alterStart: (start: number) => number = (start) => start,
): T[] {
  if (before !== undefined && after !== undefined) throw invalid("paginationOptions: expected either before or after");
  const sorted = inOrder(entries, order);
  const indexOf = (id: string): number => {
    const index = sorted.findIndex((one) => one.id === id);
    return index < 0 ? refuseId(id) : index;
  };
  const end = before === undefined ? sorted.length : indexOf(before);
  const firstBefore = before === undefined ? 0 : Math.max(0, end - Number(limit));
  const start = after === undefined ? firstBefore : alterStart(indexOf(after) + 1);
  return sorted.slice(start, Math.min(end, start + Number(limit))).map(({ record }) => record);
}

function refuseId(id: string): never {
  throw invalid(`paginationOptions: the list has no ${id}`);
}

/** Entries of the same time keep their order, or its reverse. */
function inOrder<T>(entries: readonly Entry<T>[], order: NonNullable<ServiceSettings["order"]>): Entry<T>[] {
  if (typeof order === "number") {
    const keys = new Map(entries.map(({ id }) => [id, createHash("sha256").update(`${order} ${id}`).digest("hex")]));
    return [...entries].sort((one, other) => (keys.get(one.id)! < keys.get(other.id)! ? -1 : 1));
  }
  const oldest = [...entries].sort((one, other) => one.at - other.at);
  return order === "oldest" ? oldest : oldest.reverse();
}
