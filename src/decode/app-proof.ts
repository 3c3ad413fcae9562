/** Decoding of app proofs, which are payloads signed by the ephemeral key (decode/README.md, "App proofs"). */
import { plain, typedOptions } from "./options.js";
import { type Shape, optional, placeOf, text } from "./shapes.js";
import { fromUtf8, toHex } from "../bytes.js";
import { FaultList, type Reading, attempt, requireWhole } from "../errors.js";
import { APP_PROOF_SCHEME, KNOWN_PAYLOAD_TYPES } from "./app-proof-limits.js";
import { MAX_TIME_MS } from "./decimal-time.js";
import { rawSignature } from "./ecdsa-signature.js";
import { evidenceBeside } from "./evidence-members.js";
import { copyPlain, jsonInput } from "./input.js";
import { type JsonObject, type JsonValue, type ValueBudget, isJsonObject, parseJson } from "./json.js";
import { MemberReader, decimal, hexText } from "./json-members.js";
import { plainNumbers } from "./json-numbers.js";
import { P256_POINT_LENGTH, P256_SCALAR_LENGTH, P256_SIGNATURE_LENGTH, QOS_PUBLIC_KEY_LENGTH } from "./lengths.js";

export { APP_PROOF_SCHEME } from "./app-proof-limits.js";
/** Maximum number of JSON values in one payload. Genuine payloads have tens. */
const MAX_PAYLOAD_VALUES = 10_000;
/** Maximum number of JSON values in all payloads together: about 50 for each of 2,048 proofs. */
export const MAX_PAYLOADS_VALUES = 100_000;

export interface AppProof {
  readonly scheme: typeof APP_PROOF_SCHEME;
  /** The ephemeral key of 130 bytes (encryption point, then signing point), or its signing point of 65 bytes alone. */
  readonly publicKey: Uint8Array;
  /** The payload as received. The signature covers its UTF-8 bytes. */
  readonly proofPayload: string;
  /** `r ‖ s` of 64 bytes, even if the signature was received in DER. */
  readonly signature: Uint8Array;
}

/**
 * Decodes an app proof from JSON text, its bytes, or the parsed value. Verifies nothing. Throws {@link MalformedError}
 * with every fault.
 */
export function decodeAppProof(input: unknown): AppProof {
  return requireWhole("app-proof", readAppProof(jsonInput(input)));
}

/** Tolerant form of {@link decodeAppProof}, for a parsed value. */
export function readAppProof(input: unknown): Reading<AppProof> {
  const faults = evidenceBeside(input, "app proof");
  const reader = MemberReader.of(input, placeOf(faults));
  if (reader === undefined) return { value: {}, faults };
  const scheme = reader.read("scheme", text);
  const value = {
    scheme:
      scheme === undefined || scheme === APP_PROOF_SCHEME
        ? scheme
        : reader.fault("scheme", `expected ${APP_PROOF_SCHEME}`),
    publicKey: publicKeyOf(reader),
    proofPayload: reader.read("proofPayload", text),
    signature: signatureOf(reader),
  };
  if (hasOtherNames(reader.object)) faults.push({ path: "", message: OTHER_NAMES });
  return { value, faults };
}

const KEY_LENGTHS: readonly number[] = [QOS_PUBLIC_KEY_LENGTH, P256_POINT_LENGTH];

function publicKeyOf(reader: MemberReader): Uint8Array | undefined {
  const key = reader.read("publicKey", hexText);
  if (key === undefined || KEY_LENGTHS.includes(key.length)) return key;
  const wanted = `expected ${2 * QOS_PUBLIC_KEY_LENGTH} (the whole key) or ${2 * P256_POINT_LENGTH} (its signing half)`;
  return reader.fault("publicKey", `${2 * key.length} hex digits, ${wanted}`);
}

function signatureOf(reader: MemberReader): Uint8Array | undefined {
  const bytes = reader.read("signature", hexText);
  return bytes && (rawAppSignature(bytes) ?? reader.fault("signature", noSignature(bytes)));
}

/** Reads 64 bytes as `r ‖ s`, and any other length as strict DER. Returns null if it is neither. */
export function rawAppSignature(bytes: Uint8Array): Uint8Array | null {
  return bytes.length === P256_SIGNATURE_LENGTH ? bytes : rawSignature(bytes, P256_SCALAR_LENGTH);
}

export function noSignature({ length }: Uint8Array): string {
  return `${length} bytes: neither r and s (${P256_SIGNATURE_LENGTH} bytes) nor strict DER`;
}

export const APP_PROOF_MEMBERS = [
  "scheme",
  "publicKey",
  "proofPayload",
  "signature",
] as const satisfies readonly (keyof AppProof)[];

/** Whether the app proof uses other names for its members. */
function hasOtherNames(proof: JsonObject): boolean {
  const others = Object.keys(proof).filter((name) => !(APP_PROOF_MEMBERS as readonly string[]).includes(name));
  return !APP_PROOF_MEMBERS.slice(1, 3).every((name) => Object.hasOwn(proof, name)) && others.length > 0;
}

const OTHER_NAMES =
  "if the application uses these member names, convert its app proof with the library's " +
  "appProofOf({ publicKey, payload, signature })";

/** Values of an app proof whose application has its own names for the members. */
export interface AppProofMembers {
  /** Key of 130 bytes, or its signing half of 65, in hex or as bytes. */
  readonly publicKey: string | Uint8Array;
  /** The signed text, or its bytes in UTF-8. */
  readonly payload: string | Uint8Array;
  /** Signature of 64 bytes or in DER, in hex or as bytes. */
  readonly signature: string | Uint8Array;
  /** Default: {@link APP_PROOF_SCHEME}. */
  readonly scheme?: string;
}

/** The JSON form of an app proof. */
interface StandardAppProof {
  readonly scheme: string;
  readonly publicKey: string;
  readonly proofPayload: string;
  readonly signature: string;
}

/** Shape of any value. A missing value becomes a fault of the app proof, not of the call. */
const whatever: Shape<never> = { read: (value) => copyPlain(value) as never };

/**
 * Returns the standard form of an app proof whose application has its own names for the members. Verifies and decodes
 * nothing: a missing or malformed value becomes a fault of the app proof. Throws TypeError for an unknown member.
 *
 * @example
 * const answer = (await response.json()) as { public_key: string; payload: string; signature: string };
 * const { public_key: publicKey, payload, signature } = answer;
 * const appProof = appProofOf({ publicKey, payload, signature });
 */
export function appProofOf(members: AppProofMembers): StandardAppProof {
  const own = typedOptions<AppProofMembers>("members", members, {
    publicKey: whatever,
    payload: whatever,
    signature: whatever,
    scheme: optional(plain),
  });
  const { publicKey, payload, signature, scheme = APP_PROOF_SCHEME } = own;
  const text = payload instanceof Uint8Array ? fromUtf8(payload) : payload;
  // A missing value becomes null, which verification reports.
  const json = { scheme, publicKey: hexOf(publicKey), proofPayload: text ?? null, signature: hexOf(signature) };
  return json as StandardAppProof;
}

function hexOf(value: string | Uint8Array | undefined): string | null {
  return value instanceof Uint8Array ? toHex(value) : (value ?? null);
}

/** Returns the app proofs in an array, in `{"appProofs": […]}`, or in one app proof, bare or as `{"appProof": …}`. */
export function appProofList(input: unknown): unknown[] {
  if (Array.isArray(input)) return input;
  if (isJsonObject(input) && Array.isArray(input["appProofs"])) return input["appProofs"];
  return [isJsonObject(input) && Object.hasOwn(input, "appProof") ? input["appProof"] : input];
}

const POLICY_OUTCOMES = [
  "OUTCOME_ALLOW",
  "OUTCOME_DENY_EXPLICIT",
  "OUTCOME_DENY_IMPLICIT",
  "OUTCOME_REQUIRES_CONSENSUS",
  "OUTCOME_REJECTED",
  "OUTCOME_ERROR",
  "OUTCOME_REQUIRES_AUTHENTICATORS",
  "OUTCOME_TIME_INACTIVE",
] as const;

export type PolicyOutcome = (typeof POLICY_OUTCOMES)[number];

export interface AddressDerivationProof {
  readonly organizationId: string;
  readonly walletId?: string;
  readonly derivationPath?: string;
  readonly address: string;
}

/** The proof of a policy's outcome. Members are optional because Protobuf's JSON omits empty ones. */
interface PolicyOutcomeProof {
  readonly organizationId: string;
  readonly outcome: PolicyOutcome;
  readonly decisionContextDigest?: string;
  readonly organizationDataDigest?: string;
  readonly parentOrganizationDataDigest?: string;
  /** Approvals, in a shape that the application defines. */
  readonly userRequestApprovals?: JsonValue;
}

/**
 * The payload of an app proof. A comparison of `type` with a known type narrows the union.
 *
 * @example
 * if (payload.type === "APP_PROOF_TYPE_POLICY_OUTCOME") console.log(payload.policyOutcomeProof.outcome);
 */
export type AppProofPayload = AddressDerivationPayload | PolicyOutcomePayload | OtherPayload;

interface PayloadFacts {
  readonly json: JsonObject;
}

interface TimedPayload extends PayloadFacts {
  /** Milliseconds since the epoch, from the enclave's clock. */
  readonly timestampMs: number;
}

export interface AddressDerivationPayload extends TimedPayload {
  readonly type: "APP_PROOF_TYPE_ADDRESS_DERIVATION";
  readonly addressDerivationProof: AddressDerivationProof;
  readonly policyOutcomeProof?: undefined;
}

export interface PolicyOutcomePayload extends TimedPayload {
  readonly type: "APP_PROOF_TYPE_POLICY_OUTCOME";
  readonly policyOutcomeProof: PolicyOutcomeProof;
  readonly addressDerivationProof?: undefined;
}

/** A payload of an application's own type, or of a type that is newer than this package. */
interface OtherPayload extends PayloadFacts {
  readonly type: OtherPayloadType;
  /** Same time as in {@link TimedPayload}. Null if there is none and the policy allows that (`appProofs.untimed`). */
  readonly timestampMs: number | null;
  readonly addressDerivationProof?: undefined;
  readonly policyOutcomeProof?: undefined;
}

declare const otherPayloadType: unique symbol;

/**
 * Any text except the known types, because a plain `string` would prevent narrowing by `type`. To compare with your own
 * type, use the JSON: `payload.json.type === "MY_TYPE"`.
 */
// The base is `${any}` because TypeScript considers a branded `string` comparable with every literal.
// oxlint-disable-next-line typescript/no-explicit-any
export type OtherPayloadType = `${any}` & { readonly [otherPayloadType]: true };

/**
 * Decodes the payload of an app proof. The types in `untimed` need no `timestampMs`. Throws {@link MalformedError}
 * (`json` or `app-proof-payload`) with every fault. A number that a double cannot hold exactly is a fault
 * (decode/README.md, "App proofs").
 */
export function decodeAppProofPayload(text: string, untimed: readonly string[] = []): AppProofPayload {
  const json = parseJson(text, { numbers: "literal", maxValues: MAX_PAYLOAD_VALUES });
  return requireWhole("app-proof-payload", readLiteralPayload(json, untimed));
}

/**
 * Tolerant form of {@link decodeAppProofPayload}. All payloads in memory share `budget`, whose default is
 * {@link MAX_PAYLOADS_VALUES} values.
 */
export function readAppProofPayloadText(
  text: string,
  budget: ValueBudget = { left: MAX_PAYLOADS_VALUES },
  untimed: readonly string[] = [],
): Reading<AppProofPayload> {
  const json = attempt(() => parseJson(text, { numbers: "literal", maxValues: MAX_PAYLOAD_VALUES, budget }));
  return json.value === undefined ? { value: {}, faults: json.faults } : readLiteralPayload(json.value, untimed);
}

function readLiteralPayload(literal: JsonValue, untimed: readonly string[]): Reading<AppProofPayload> {
  const { value: json, faults: numberFaults } = plainNumbers(literal);
  const { value, faults } = readAppProofPayload(json, untimed);
  faults.pushAll(numberFaults);
  return { value, faults };
}

type ReadPayload = Reading<AppProofPayload>["value"];

function readAppProofPayload(
  json: unknown,
  untimed: readonly string[],
): Reading<AppProofPayload> & { readonly faults: FaultList } {
  const faults = new FaultList();
  const reader = MemberReader.of(json, placeOf(faults));
  if (reader === undefined) return { value: {}, faults };
  const type = typeOf(reader);
  const isUntimed = type !== undefined && untimed.includes(type) && !Object.hasOwn(reader.object, "timestampMs");
  if (type === "") reader.fault("type", "empty");
  const known = {
    addressDerivationProof: type === "APP_PROOF_TYPE_ADDRESS_DERIVATION" ? addressDerivation(reader) : undefined,
    policyOutcomeProof: type === "APP_PROOF_TYPE_POLICY_OUTCOME" ? policyOutcome(reader) : undefined,
  };
  // The compiler cannot see that the members depend on the type.
  const value = {
    type,
    timestampMs: isUntimed ? null : timestampOf(reader, type),
    json: reader.object,
    ...known,
  } as ReadPayload;
  return { value, faults };
}

function typeOf(reader: MemberReader): string | undefined {
  if (reader.get("type") === undefined) return reader.fault("type", "missing: the application has to name a type");
  return reader.read("type", text);
}

function timestampOf(reader: MemberReader, type: string | undefined): number | undefined {
  if (!Object.hasOwn(reader.object, "timestampMs") && !KNOWN_PAYLOAD_TYPES.includes(type ?? ""))
    return reader.fault("timestampMs", "missing: only a policy can allow that (appProofs.untimed)");
  const digits = reader.read("timestampMs", decimal);
  if (digits === undefined) return undefined;
  return Number(digits) <= MAX_TIME_MS ? Number(digits) : reader.fault("timestampMs", "out of range");
}

function addressDerivation(payload: MemberReader): AddressDerivationProof | undefined {
  const proof = payload.nested("addressDerivationProof");
  if (proof === undefined) return undefined;
  const address = requiredString(proof, "address");
  const others = optionalStrings(proof, ["walletId", "derivationPath"]);
  return { organizationId: requiredString(proof, "organizationId"), ...others, address };
}

function policyOutcome(payload: MemberReader): PolicyOutcomeProof | undefined {
  const proof = payload.nested("policyOutcomeProof");
  if (proof === undefined) return undefined;
  const outcome = POLICY_OUTCOMES.find((known) => known === proof.get("outcome"));
  if (outcome === undefined) proof.fault("outcome", "not a known outcome");
  const digests = optionalStrings(proof, DIGESTS);
  const userRequestApprovals = proof.get("userRequestApprovals");
  return {
    organizationId: requiredString(proof, "organizationId"),
    outcome: outcome ?? "OUTCOME_ERROR",
    ...digests,
    ...(userRequestApprovals !== undefined && { userRequestApprovals }),
  };
}

const DIGESTS = ["decisionContextDigest", "organizationDataDigest", "parentOrganizationDataDigest"] as const;

/** Reads a member that must not be empty. Protobuf's JSON does not distinguish an empty member from a missing one. */
function requiredString(reader: MemberReader, name: string): string {
  const value = reader.read(name, text) ?? "";
  if (value === "" && reader.get(name) === "") reader.fault(name, "empty");
  return value;
}

/** Reads members that may be missing. Protobuf's JSON writes a missing one as empty, too. */
function optionalStrings(reader: MemberReader, names: readonly string[]): Readonly<Record<string, string>> {
  const textOf = (name: string): string => reader.read(name, optional(text)) ?? "";
  return Object.fromEntries(names.map((name) => [name, textOf(name)]).filter(([, value]) => value !== ""));
}
