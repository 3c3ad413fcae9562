/**
 * The question, which is what the caller requested. App proofs do not name the caller, so a dishonest service could
 * return a genuine proof of another organization. `contradictions.ts` therefore compares evidence with the question
 * (verify/README.md, "The question").
 */
import { type JsonObject, copyJson, isJsonObject } from "../decode/json.js";
import { copyPlain, ownOptions } from "../decode/input.js";
import { attempt, faultText } from "../errors.js";
import { DECIMAL_TIME } from "../decode/decimal-time.js";
import { type ExpectedPayload, type PayloadExpectation, payloadExpectations } from "./expected-payload.js";

export type { ExpectedPayload } from "./expected-payload.js";

/** What the caller requested. Never take it from the evidence. */
export interface Expected {
  /** Owner of the activity, or of app proofs that come without one. Optional with `payload` and no activity. */
  readonly organizationId?: string;
  /** Id of the activity. */
  readonly id?: string;
  /** Activity type, as submitted. */
  readonly type?: string;
  /** Parameters, as submitted: a JSON object. */
  readonly parameters?: object;
  /** Time of submission: a Date, or milliseconds since the epoch, such as the request's `timestampMs`. */
  readonly requestedAt?: Date | number | string;
  /** Addresses, each of which an app proof must back. */
  readonly addresses?: readonly string[];
  /** Payloads. An app proof must meet each, and every app proof of one of their types must meet one. */
  readonly payload?: readonly ExpectedPayload[];
}

/** A copy of what the caller requested. Absent members are null. */
export interface Expectation {
  /** The organization, which is null only if there is a `payload`. */
  readonly organizationId: string | null;
  readonly id: string | null;
  readonly type: string | null;
  readonly parameters: JsonObject | null;
  /** Milliseconds since the epoch. */
  readonly requestedAt: number | null;
  readonly addresses: readonly string[] | null;
  readonly payload: readonly PayloadExpectation[] | null;
}

const EXPECTED_MEMBERS: Readonly<Record<keyof Expected, true>> = {
  organizationId: true,
  id: true,
  type: true,
  parameters: true,
  requestedAt: true,
  addresses: true,
  payload: true,
};

/** Copies all or some of what is expected. Throws TypeError for an unknown member. */
export function copyExpected(expected: Partial<Expected>): Partial<Expected> {
  return copyPlain(ownOptions("expected", expected as Expected, EXPECTED_MEMBERS));
}

/** Copies what is expected. Throws TypeError for an unknown member or a wrong type, which must not be ignored. */
export function expectationOf(expected: Expected): Expectation {
  const own = ownOptions("expected", expected, EXPECTED_MEMBERS);
  const { organizationId, id, type, parameters, requestedAt, addresses, payload } = own;
  return {
    organizationId:
      organizationId === undefined && payload !== undefined ? null : nonEmptyText("organizationId", organizationId),
    id: id === undefined ? null : nonEmptyText("id", id),
    type: type === undefined ? null : nonEmptyText("type", type),
    parameters: parameters === undefined ? null : parametersOf(parameters),
    requestedAt: requestedAt === undefined ? null : instantOf(requestedAt),
    addresses: addresses === undefined ? null : addressesOf(addresses),
    payload: payload === undefined ? null : payloadExpectations(payload),
  };
}

function nonEmptyText(name: string, value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  throw new TypeError(`expected.${name}: expected a non-empty string`);
}

function parametersOf(value: unknown): JsonObject {
  const copied = attempt(() => copyJson(value));
  if (copied.value === undefined) throw new TypeError(`expected.parameters: ${faultText(copied.faults)}`);
  if (!isJsonObject(copied.value)) throw new TypeError("expected.parameters: expected an object");
  return copied.value;
}

function instantOf(value: unknown): number {
  const milliseconds = value instanceof Date ? value.getTime() : numberOf(value);
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return milliseconds;
  throw new TypeError("expected.requestedAt: expected a valid Date, or milliseconds since the epoch");
}

function numberOf(value: unknown): number {
  return typeof value === "number" || (typeof value === "string" && DECIMAL_TIME.test(value)) ? Number(value) : NaN;
}

function addressesOf(value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length === 0) throw new TypeError("expected.addresses: expected a non-empty list");
  return value.map((address) => nonEmptyText("addresses[]", address));
}
