/** App proofs that an application gave to its caller (client/README.md, "App proofs of applications"). */
import { verifyEvidence } from "../bootproof.js";
import { fromHex, toHex } from "../bytes.js";
import { type OtherPayloadType, readAppProof } from "../decode/app-proof.js";
import { MAX_APP_PROOFS } from "../decode/app-proof-limits.js";
import { copyInput, readInput } from "../decode/input.js";
import type { JsonObject } from "../decode/json.js";
import { P256_POINT_LENGTH, QOS_PUBLIC_KEY_LENGTH } from "../decode/lengths.js";
import { having, options, plain, typedOptions, unchecked } from "../decode/options.js";
import { type MembersOf, demand, optional } from "../decode/shapes.js";
import type { Report } from "../report/report.js";
import { requireVerified } from "../verification.js";
import type { VerifiedAppProof } from "../verify/app-proof.js";
import { EXPECTED, type Expected, expectationOf } from "../verify/expectation.js";
import { inTurns } from "../verify/in-turns.js";
import type { Door } from "../door/door.js";
import type { BootProofCache, FetchedBootProof } from "../door/boot-proof-cache.js";
import { namedBootProofs } from "../door/verifying.js";
import { ClientError, evidenceError } from "../door/errors.js";
import { BOOT_PROOFS_AT_ONCE, MAX_BOOT_PROOFS } from "../door/evidence.js";
import type { Query } from "../door/evidence-source.js";
import { type PayloadSchemas, type SchemaOutput, readSchemas } from "./payload-schemas.js";
import type { Signal } from "../door/platform.js";
import { untilAborted } from "../door/waiting.js";

/** An app proof as an application returned it. */
export interface ReceivedAppProof {
  /**
   * The app proof as JSON value, text or bytes, in the standard form. `appProofOf` converts one with other member
   * names.
   */
  readonly appProof: unknown;
  /**
   * The ephemeral key of the enclave: 130 bytes, or their hex. Required if the app proof names only the signing half,
   * unless this client has verified a boot proof of that key before. The application may supply it, because it is only
   * used to find the boot proof.
   */
  readonly ephemeralKey?: string | Uint8Array;
}

/** What the caller requested of an application. Never take these values from the application's answer. */
type ExpectedOfAppProofs = Pick<Expected, "organizationId" | "requestedAt" | "addresses" | "payload">;

export interface VerifyAppProofsOptions<Schemas extends PayloadSchemas = Record<never, never>> {
  /** The request. `organizationId` is optional if there is a `payload`. */
  readonly expected: ExpectedOfAppProofs;
  /** Validators of payloads by `type`. They get copies of payloads, after verification. */
  readonly schemas?: Schemas;
  readonly signal?: Signal;
}

/** A verified payload that was compared with the request. */
interface ComparedPayload<Type, Value> {
  readonly type: Type;
  /** The payload as signed. */
  readonly payload: JsonObject;
  /** Output of the validator of this type; undefined without one. */
  readonly value: Value;
  /**
   * Time of the enclave's clock in milliseconds since the epoch. Null if the payload has none, as the policy may allow
   * for its type.
   */
  readonly timestampMs: number | null;
  /** Index in `expected.payload`; null for a known type that was compared with `organizationId` alone. */
  readonly expectation: number | null;
  /** The challenge that the payload repeats, with its JSON pointer; null if there is none. */
  readonly answers: VerifiedAppProof["answers"];
  readonly appProof: VerifiedAppProof;
}

/** A verified payload. Comparing `type` with a type of the schemas narrows `value`. */
type VerifiedPayload<Schemas extends PayloadSchemas = Record<never, never>> = [keyof Schemas] extends [never]
  ? ComparedPayload<string, undefined>
  : | { [Type in keyof Schemas]: ComparedPayload<Type, SchemaOutput<Schemas[Type]>> }[keyof Schemas]
    | ComparedPayload<OtherPayloadType, undefined>;

export interface VerifiedAppProofs<Schemas extends PayloadSchemas = Record<never, never>> {
  /** The report, whose verdict is `verified`. */
  readonly report: Report;
  /** Payloads in the order of the app proofs. Select one by `expectation`: the sender chose their order. */
  readonly payloads: readonly VerifiedPayload<Schemas>[];
  /** Genuine app proofs that match no expectation. They were not compared with the request. */
  readonly others: readonly VerifiedAppProof[];
}

const { organizationId, requestedAt, addresses, payload } = EXPECTED;

const OPTIONS: MembersOf<VerifyAppProofsOptions> = {
  expected: options<ExpectedOfAppProofs>({ organizationId, requestedAt, addresses, payload }),
  schemas: optional(unchecked),
  signal: optional(having()),
};
const RECEIVED: MembersOf<ReceivedAppProof> = { appProof: plain, ephemeralKey: demand(plain) };

export async function verifyReceivedAppProofs<Schemas extends PayloadSchemas>(
  door: Door,
  query: Query,
  received: readonly ReceivedAppProof[],
  given: VerifyAppProofsOptions<Schemas>,
): Promise<VerifiedAppProofs<Schemas>> {
  const { expected, schemas, signal } = typedOptions("options", given as VerifyAppProofsOptions, OPTIONS);
  expectationOf(expected);
  const validators = readSchemas(schemas);
  const { bootProofs } = door;
  const located = readReceived(received, bootProofs);
  const keys = keysOf(located);
  const held = await untilAborted(door.begin(), signal);
  const fetched = await fetchBootProofs(keys, (key) => bootProofs.get(key, held, query), signal);
  const appProofs = located.map(({ appProof }) => appProof);
  const evidence = { bootProofs: namedBootProofs(fetched), appProofs, ...held.builds.evidence };
  const verification = await verifyEvidence(evidence, { ...door.options(held), expected });
  const { report, appProofs: verified } = requireVerified(verification);
  const isCompared = comparedWith(expected);
  const compared = [...verified.entries()].filter(([, appProof]) => isCompared(appProof));
  const values = await validators(
    compared.map(([index, { payload }]) => ({ path: `appProofs[${index}].payload`, ...payload })),
  );
  const payloads = compared.map(([, appProof], index) => comparedPayload(appProof, values[index]));
  return {
    report,
    payloads: payloads as unknown as readonly VerifiedPayload<Schemas>[],
    others: verified.filter((appProof) => !isCompared(appProof)),
  };
}

/**
 * Returns whether an app proof was compared with the request. Known types name an organization; other types are
 * compared with an expectation only.
 */
function comparedWith({ organizationId }: Expected): (appProof: VerifiedAppProof) => boolean {
  return ({ expectation, payload: { addressDerivationProof, policyOutcomeProof } }) =>
    expectation !== null ||
    (organizationId !== undefined && (addressDerivationProof ?? policyOutcomeProof) !== undefined);
}

function comparedPayload(appProof: VerifiedAppProof, value: unknown): ComparedPayload<string, unknown> {
  const { payload, expectation, answers } = appProof;
  const { type, json, timestampMs } = payload;
  return { type, payload: json, value, timestampMs, expectation, answers, appProof };
}

interface LocatedAppProof {
  readonly appProof: unknown;
  /** Key of its boot proof, 130 bytes in lower-case hex; null if the app proof has no readable key. */
  readonly key: string | null;
}

/** Reads the app proofs. Throws TypeError, RangeError, or {@link ClientError} (`ephemeral-key`). */
function readReceived(received: readonly ReceivedAppProof[], bootProofs: BootProofCache): LocatedAppProof[] {
  if (!Array.isArray(received)) throw new TypeError("appProofs: expected a list, such as [{ appProof }]");
  if (received.length === 0) throw new TypeError("appProofs: expected at least one app proof, got an empty list");
  if (received.length > MAX_APP_PROOFS) throw new RangeError(`more than ${MAX_APP_PROOFS} app proofs`);
  return Array.from(received, (one: ReceivedAppProof, index) => locate(one, `appProofs[${index}]`, bootProofs));
}

function locate(received: ReceivedAppProof, path: string, bootProofs: BootProofCache): LocatedAppProof {
  const { appProof: given, ephemeralKey } = typedOptions(path, received, RECEIVED);
  if (given === undefined) throw new TypeError(`${path}.appProof: required`);
  const beside = ephemeralKey === undefined ? null : besideKey(ephemeralKey, path);
  const input = copyInput(given);
  // A value that is not JSON is passed on as it is, and the report names the fault.
  const appProof = input.value ?? given;
  const publicKey = readInput(input, readAppProof).value.publicKey;
  return { appProof, key: publicKey === undefined ? null : wholeKey(toHex(publicKey), beside, path, bootProofs) };
}

function besideKey(given: unknown, path: string): string {
  const bytes = typeof given === "string" ? fromHex(given) : given;
  if (bytes instanceof Uint8Array && bytes.length === QOS_PUBLIC_KEY_LENGTH) return toHex(bytes);
  throw keyError(path, `ephemeralKey is not the ${QOS_PUBLIC_KEY_LENGTH} bytes of a key, or their hex`);
}

function wholeKey(named: string, beside: string | null, path: string, bootProofs: BootProofCache): string {
  if (beside !== null) {
    if (beside.endsWith(named)) return beside;
    throw keyError(path, "ephemeralKey does not match the key of the app proof");
  }
  if (named.length === 2 * QOS_PUBLIC_KEY_LENGTH) return named;
  const remembered = bootProofs.rememberedKey(named);
  if (remembered !== null) return remembered;
  throw keyError(
    path,
    `the app proof names only the signing half of its key (${P256_POINT_LENGTH} bytes), and no boot proof of it was ` +
      `verified before. Pass the ${QOS_PUBLIC_KEY_LENGTH} bytes of the key as ephemeralKey`,
  );
}

function keyError(path: string, message: string): ClientError {
  return new ClientError("ephemeral-key", `not sent: ${path}: ${message}`, { faults: [{ path, message }] });
}

function keysOf(located: readonly LocatedAppProof[]): readonly string[] {
  const keys = [...new Set(located.flatMap(({ key }) => key ?? []))];
  if (keys.length <= MAX_BOOT_PROOFS) return keys;
  throw new RangeError(`app proofs of ${keys.length} keys: expected at most ${MAX_BOOT_PROOFS} keys in one call`);
}

/**
 * Fetches boot proofs. Missing ones are left out, and a check of their app proofs then fails. Rejects with {@link
 * ClientError} (`evidence`).
 */
async function fetchBootProofs(
  keys: readonly string[],
  get: (key: string) => Promise<FetchedBootProof | null>,
  signal: Signal | undefined,
): Promise<readonly FetchedBootProof[]> {
  try {
    const fetched = inTurns(keys, BOOT_PROOFS_AT_ONCE, get);
    return (await untilAborted(fetched, signal)).filter((bootProof) => bootProof !== null);
  } catch (error) {
    throw error instanceof ClientError ? evidenceError("the boot proofs of the app proofs", error) : error;
  }
}
