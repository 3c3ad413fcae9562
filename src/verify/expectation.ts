/**
 * The question, which is what the caller requested. App proofs do not name the caller, so a dishonest service could
 * return a genuine proof of another organization. `contradictions.ts` therefore compares evidence with the question
 * (verify/README.md, "The question").
 */
import { type JsonObject, copyJson } from "../decode/json.js";
import { options, requireShape, typedOptions } from "../decode/options.js";
import { type MembersOf, type Shape, anyObject, demand, list, nonEmptyText, refined, text } from "../decode/shapes.js";
import { attempt, faultText } from "../errors.js";
import { DECIMAL_TIME } from "../decode/decimal-time.js";
import {
  type ExpectedPayload,
  type PayloadExpectation,
  expectedPayload,
  payloadExpectation,
} from "./expected-payload.js";

export type { ExpectedPayload } from "./expected-payload.js";

/** What the caller requested. Never take it from the evidence. */
export interface Expected {
  /**
   * Organization that owns the activity or, without an activity, the app proofs. It may be absent only if there is a
   * `payload` and no activity.
   */
  readonly organizationId?: string;
  /** Id of the activity. */
  readonly id?: string;
  /** Activity type, as submitted. */
  readonly type?: string;
  /** Parameters, as submitted: a JSON object. */
  readonly parameters?: object;
  /**
   * Public key of `parameters.signWith`, 32 bytes in for an address that is a hash of it (Sui, Aptos). A key that
   * does not hash to the address is not used.
   */
  readonly publicKey?: string;
  /** Time of submission: a Date, or milliseconds since the epoch, such as the request's `timestampMs`. */
  readonly requestedAt?: Date | number | string;
  /** Addresses, each of which an app proof must back. */
  readonly addresses?: readonly string[];
  /** Expected payloads. An app proof must meet each, and every app proof of an expected type must meet one of them. */
  readonly payload?: readonly ExpectedPayload[];
}

/** A copy of what the caller requested. Absent members are null. */
export interface Expectation {
  /** The organization, which is null only if there is a `payload`. */
  readonly organizationId: string | null;
  readonly id: string | null;
  readonly type: string | null;
  readonly parameters: JsonObject | null;
  readonly publicKey: string | null;
  /** Milliseconds since the epoch. */
  readonly requestedAt: number | null;
  readonly addresses: readonly string[] | null;
  readonly payload: readonly PayloadExpectation[] | null;
}

/** Shape that copies a JSON object. */
const jsonObject: Shape<JsonObject> = {
  read: (value, place) => {
    const copied = attempt(() => copyJson(value));
    if (copied.value === undefined) return place.fault(faultText(copied.faults));
    return anyObject.read(copied.value, place);
  },
};

const moment: Shape<number> = {
  read: (value, place) => {
    const isText = typeof value === "string" && DECIMAL_TIME.test(value);
    const milliseconds = isText || value instanceof Date ? Number(value) : value;
    if (Number.isFinite(milliseconds) && (milliseconds as number) >= 0) return milliseconds as number;
    return place.fault("expected a valid Date, or milliseconds since the epoch");
  },
};

export const EXPECTED: MembersOf<Expected> = {
  organizationId: demand(nonEmptyText),
  id: demand(nonEmptyText),
  type: demand(nonEmptyText),
  parameters: demand(jsonObject),
  publicKey: demand(nonEmptyText),
  requestedAt: demand(moment),
  addresses: demand(list(nonEmptyText, 1)),
  payload: demand(list(expectedPayload, 1)),
};

/** Copies what is expected. Throws TypeError for an unknown member or a wrong type: neither may be ignored silently. */
export function ownExpected(expected: Expected): Expected {
  return typedOptions("expected", expected, EXPECTED);
}

/** Shape of {@link Expected}. The organization is required unless a payload is expected. */
export const expectedShape = /* @__PURE__ */ refined(options(EXPECTED), (expected, place) => {
  const { organizationId, payload } = expected;
  if (organizationId === undefined && payload === undefined) text.read(organizationId, place.at("organizationId"));
  return expected;
});

/** Reads what is expected. Throws TypeError as {@link ownExpected} does. */
export function expectationOf(expected: Expected): Expectation {
  return checkedExpectation(requireShape("expected", expected, expectedShape));
}

/** Returns the expectation from a value that {@link expectedShape} has read. */
export function checkedExpectation(expected: Expected): Expectation {
  const { organizationId = null, id = null, type = null, parameters = null } = expected;
  const { publicKey = null, requestedAt = null, addresses = null, payload } = expected;
  return {
    organizationId,
    id,
    type,
    parameters: parameters as JsonObject | null,
    publicKey,
    requestedAt: requestedAt as number | null,
    addresses,
    payload: payload?.map(payloadExpectation) ?? null,
  };
}

/**
 * Returns why the evidence cannot be compared with the expectation, or null if it can. Without this error, the
 * expectation would silently not be checked. Missing addresses and payloads are not reported here: they fail a check.
 */
export function unmetByKind(expectation: Expectation, appProofs: number, hasActivity: boolean): string | null {
  if (hasActivity)
    return expectation.organizationId === null
      ? "expected.organizationId: expected a non-empty string, since there is an activity"
      : null;
  const [name] = (["id", "type", "parameters", "publicKey"] as const).filter((member) => expectation[member] !== null);
  if (name !== undefined) return `expected.${name}: needs an activity, but the evidence has none`;
  const isOfProofs = appProofs > 0 || (expectation.addresses ?? expectation.payload) !== null;
  return isOfProofs
    ? null
    : "expected: needs app proofs or an activity to compare with; the evidence has only boot proofs";
}
