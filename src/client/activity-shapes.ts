/**
 * The service's activities (client/README.md, "Activities"). They have their own file, so that a webhook receiver does
 * not load operations.ts.
 */
import {
  type ObjectShape,
  type ReadOf,
  type Shape,
  either,
  flag,
  list,
  nonEmptyText,
  nullish,
  number,
  openObject,
  text,
} from "../decode/shapes.js";

/** A known value, or one that only a newer service knows. */
export type Open<Known extends string> = Known | (string & Record<never, never>);

/* @__NO_SIDE_EFFECTS__ */
export function open<Known extends string>(): Shape<Open<Known>> {
  return text;
}

/** A timestamp (client/README.md, "Requests"). */
const timestampShape = openObject({ seconds: text, nanos: text });
export interface Timestamp extends ReadOf<typeof timestampShape> {}
export const timestampSchema: ObjectShape<Timestamp> = timestampShape;

const time = either(text, timestampSchema, "a string or a time");

export const ACTIVITY_STATUSES = [
  "ACTIVITY_STATUS_CREATED",
  "ACTIVITY_STATUS_PENDING",
  "ACTIVITY_STATUS_COMPLETED",
  "ACTIVITY_STATUS_FAILED",
  "ACTIVITY_STATUS_CONSENSUS_NEEDED",
  "ACTIVITY_STATUS_REJECTED",
  "ACTIVITY_STATUS_AUTHENTICATORS_NEEDED",
] as const;

const appProofShape = openObject({ scheme: text, publicKey: text, proofPayload: text, signature: text });
export interface AppProofJson extends ReadOf<typeof appProofShape> {}
export const appProofSchema: ObjectShape<AppProofJson> = appProofShape;

const voteShape = openObject({
  id: nullish(text),
  userId: nullish(text),
  user: nullish(openObject({})),
  activityId: nullish(text),
  selection: nullish(open<"VOTE_SELECTION_APPROVED" | "VOTE_SELECTION_REJECTED">()),
  message: nullish(text),
  publicKey: nullish(text),
  signature: nullish(text),
  scheme: nullish(text),
  createdAt: nullish(time),
});
interface VoteJson extends ReadOf<typeof voteShape> {}
const voteSchema: ObjectShape<VoteJson> = voteShape;

/**
 * An activity (client/README.md, "Activities"). Only the members that every activity in the interface's own sample has
 * are required: there, `result.activity` repeats the activity.
 */
const activityShape = openObject({
  id: nonEmptyText,
  organizationId: nonEmptyText,
  status: open<(typeof ACTIVITY_STATUSES)[number]>(),
  type: text,
  intent: nullish(openObject({})),
  result: nullish(openObject({})),
  votes: nullish(list(voteSchema)),
  fingerprint: nullish(text),
  canApprove: nullish(flag),
  canReject: nullish(flag),
  createdAt: nullish(time),
  updatedAt: nullish(time),
  timestampMs: nullish(text),
  appProofs: nullish(list(appProofSchema)),
  /** Only a failed activity has this member. */
  failure: nullish(openObject({ code: nullish(either(number, text, "a number or a string")), message: nullish(text) })),
});
export interface ActivityJson extends ReadOf<typeof activityShape> {}
export const activitySchema: ObjectShape<ActivityJson> = activityShape;
