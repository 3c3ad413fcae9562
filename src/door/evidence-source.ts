/** Where evidence comes from: a client of the service, the caller's boot proofs, or the caller's function. */
import { fromHex } from "../bytes.js";
import { copyInput, copyPlain } from "../decode/input.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { QOS_PUBLIC_KEY_LENGTH } from "../decode/lengths.js";
import { withinTime } from "../verify/in-turns.js";
import { ClientError } from "./errors.js";
import type { Signal } from "./platform.js";

/** Sends a query by its name. The parameters are passed without the organization. */
export type AskService = (name: string, parameters: JsonObject) => Promise<JsonValue>;

export interface CallOptions {
  /** An organization other than the client's, such as its child. */
  readonly organizationId?: string;
  readonly signal?: Signal;
}

/** Sends a query by its name. The parameters are passed without the organization. */
export type Query = (name: string, parameters: JsonObject, options: CallOptions) => Promise<JsonValue>;

/** Answers with the boot proofs that the caller passed. It cannot fetch missing app proofs. */
export function givenEvidence(bootProofs: readonly JsonObject[]): Query {
  const byKey = new Map(copyPlain(bootProofs).map((bootProof) => [keyOfBootProof(bootProof), bootProof]));
  const answers: Readonly<Record<string, (parameters: JsonObject) => JsonValue>> = {
    get_boot_proof: ({ ephemeralKey }) => ({ bootProof: byKey.get(String(ephemeralKey).toLowerCase()) ?? null }),
    list_app_proofs: () => ({ appProofs: [] }),
  };
  return (name, parameters) => Promise.resolve(answers[name]?.(parameters) ?? {});
}

/**
 * Milliseconds that the caller's function may take. Without a limit, one call that never ends would hold every answer
 * with the same key.
 */
const FIND_TIMEOUT_MS = 60_000;

/**
 * Asks the caller's function for boot proofs: it gets a key in lower-case hex, and returns or resolves to its boot
 * proof, or null, within a minute. Other queries go to `others`; without it, app proofs cannot be fetched.
 */
export function evidenceByKey(find: FindBootProof, others: Query = givenEvidence([])): Query {
  return async (name, parameters, options) => {
    if (name !== "get_boot_proof") return others(name, parameters, options);
    return { bootProof: await askCaller("evidence", name, () => find(String(parameters["ephemeralKey"]))) };
  };
}

/**
 * Calls the caller's function, which has a minute. Resolves to null where it finds nothing. Rejects with
 * {@link ClientError} that names the option.
 */
export async function askCaller(option: string, operation: string, find: () => unknown): Promise<JsonValue> {
  const failed = (code: "unreachable" | "timeout", how: string): ClientError =>
    new ClientError(code, `options.${option} ${how}`, { operation });
  const work = (async () => find())().catch((error: unknown) => {
    const why = error instanceof Error ? error.message.slice(0, 500) : "no error was given";
    throw failed("unreachable", `rejected: ${why}`);
  });
  const late = (): ClientError => failed("timeout", `did not answer within ${FIND_TIMEOUT_MS} ms`);
  const found = (await withinTime(work, FIND_TIMEOUT_MS, late)) ?? null;
  return copyInput(found).value ?? (found as JsonValue);
}

/** A caller's own way from an ephemeral key, in lower-case hex, to a boot proof. */
export type FindBootProof = (ephemeralKey: string) => unknown;

/** Returns the key in lower-case hex. Throws TypeError if the boot proof has none. */
export function keyOfBootProof(bootProof: JsonObject): string {
  const key = isJsonObject(bootProof) ? bootProof["ephemeralPublicKeyHex"] : undefined;
  if (typeof key === "string" && fromHex(key)?.length === QOS_PUBLIC_KEY_LENGTH) return key.toLowerCase();
  throw new TypeError(`bootProofs: ephemeralPublicKeyHex: expected ${QOS_PUBLIC_KEY_LENGTH} bytes in hex`);
}
