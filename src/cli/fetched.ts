/** Evidence from the service, as its answers are: nothing is verified here. */
import type { Client } from "../client/index.js";
import { toHex } from "../bytes.js";
import { readActivity } from "../decode/activity.js";
import { readAppProof } from "../decode/app-proof.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { printable } from "../report/printable.js";
import { type Connection, asClientError, connect, reached } from "./connection.js";
import { type Io, UnreachableError } from "./io.js";

/** More keys than an honest activity has signers. */
const MAX_KEYS = 64;

/** What is asked for, by one of three names. */
export type Wanted =
  | { readonly ephemeralKey: string }
  | { readonly app: string }
  | { readonly activityId: string };

export interface FetchedEvidence {
  readonly bootProofs: readonly JsonValue[];
  readonly appProofs: readonly JsonValue[];
  readonly activity?: JsonObject;
}

export interface FetchedActivity extends FetchedEvidence {
  /** Keys that app proofs name, and that the service has no boot proof for: hex. */
  readonly missing: readonly string[];
}

/** The boot proof of a key, or of the enclave of an application that booted last. */
export async function fetchBootProof(wanted: Exclude<Wanted, { activityId: string }>, connection: Connection, io: Io): Promise<JsonValue> {
  const client = await connect(connection, io);
  // As it came: what is wrong inside it is for verification to tell.
  const answer = "app" in wanted ? client.query("get_latest_boot_proof", { appName: wanted.app }) : client.query("get_boot_proof", wanted);
  const { bootProof } = await reached(answer, connection);
  if (bootProof === undefined) throw new UnreachableError([`${connection.baseUrl}: the answer is not what the interface promises: bootProof is missing. Check the base address.`]);
  return bootProof;
}

/**
 * The app proofs of an activity, the boot proof of each key that they name, and the activity itself where the service
 * answers that, which the interface does not promise. Throws {@link UnreachableError} where there is neither.
 */
export async function fetchActivity(activityId: string, connection: Connection, io: Io): Promise<FetchedActivity> {
  const client = await connect(connection, io);
  const activity = await answeredActivity(client, activityId, connection, io);
  const inside = activity && readActivity(activity).value.appProofs;
  const appProofs = inside?.length ? [] : (await reached(client.listAppProofs({ activityId }), connection)).appProofs as JsonValue[];
  const judged = inside?.length ? inside : appProofs;
  if (judged.length === 0 && activity === undefined) throw noAppProofs(activityId, connection);
  const keys = [...new Set(judged.flatMap((proof) => readAppProof(proof).value.publicKey ?? []).map(toHex))].slice(0, MAX_KEYS);
  const answers = await Promise.all(keys.map((key) => knownBootProof(client, key, connection)));
  const missing = keys.filter((_, index) => answers[index] === null);
  const bootProofs = answers.filter((answer) => answer !== null);
  if (activity === undefined) return { bootProofs, appProofs, missing };
  // The activity's own list, where it has none: each of them is then held against what the activity says.
  return { bootProofs, appProofs: [], activity: inside?.length ? activity : { ...activity, appProofs }, missing };
}

/** How the activity is not the one that was asked for. */
export function mistakenIdentity(activity: JsonObject | undefined, wanted: { readonly id: string; readonly organizationId: string }): string[] {
  if (activity === undefined) return [];
  return (["id", "organizationId"] as const).flatMap((name) => {
    const { [name]: answered } = activity;
    return answered === wanted[name] ? [] : [`${name} is ${typeof answered === "string" ? answered.slice(0, 100) : "not there"}, ${wanted[name]} was asked for`];
  });
}

export function noAppProofs(activityId: string, { baseUrl }: Connection): UnreachableError {
  const advice = "nothing else proves it, and activities have them that were submitted with generateAppProofs";
  return new UnreachableError([printable(`${baseUrl}: there are no app proofs of the activity ${activityId}: ${advice}`)]);
}

async function answeredActivity(client: Client, activityId: string, connection: Connection, io: Io): Promise<JsonObject | undefined> {
  const answer = await reached(client.query("get_activity", { activityId }).catch(noneWhereRefused), connection);
  const activity = answer?.["activity"];
  if (isJsonObject(activity)) return activity;
  io.stderr.write("note: the service does not answer the activity itself (get_activity): only its app proofs can be judged, not whether they agree with it\n");
  return undefined;
}

/** An undocumented query: a service that does not know it, or does not allow it, still has the documented ones. */
async function noneWhereRefused(error: unknown): Promise<undefined> {
  const { ServiceError } = await import("../client/errors.js");
  if (error instanceof ServiceError && [400, 403, 404, 405, 501].includes(error.status)) return undefined;
  throw error;
}

async function knownBootProof(client: Client, key: string, connection: Connection): Promise<JsonValue | null> {
  const answer = client.query("get_boot_proof", { ephemeralKey: key }).catch(async (error: unknown) => {
    const known = await asClientError(error);
    if ("status" in known && known.status === 404) return null;
    throw error;
  });
  return ((await reached(answer, connection))?.["bootProof"] ?? null);
}
