/** App proofs: a payload signed by the ephemeral key (decode/README.md, "App proofs"). */
import { FaultList, type Reading, attempt, requireWhole } from "../errors.js";
import { MAX_TIME_MS } from "./decimal-time.js";
import { evidenceBeside } from "./evidence-members.js";
import { jsonInput } from "./input.js";
import { type JsonObject, type JsonValue, type ValueBudget, isJsonObject, parseJson } from "./json.js";
import { MemberReader, decimalMember, hexMember } from "./json-members.js";
import { plainNumbers } from "./json-numbers.js";
import { P256_SIGNATURE_LENGTH, QOS_PUBLIC_KEY_LENGTH } from "./lengths.js";

export const APP_PROOF_SCHEME = "SIGNATURE_SCHEME_EPHEMERAL_KEY_P256" as const;
/** 1 MiB holds fewer whole app proofs than this. */
export const MAX_APP_PROOFS = 2048;
/** Genuine payloads have tens of values. */
const MAX_PAYLOAD_VALUES = 10_000;
/** Of all payloads together: about 50 for each of 2,048 proofs. */
export const MAX_PAYLOADS_VALUES = 100_000;

export interface AppProof {
  readonly scheme: typeof APP_PROOF_SCHEME;
  /** The ephemeral key: encryption point, then signing point. */
  readonly publicKey: Uint8Array;
  /** As received: the signature covers its UTF-8 bytes. */
  readonly proofPayload: string;
  /** `r ‖ s`. */
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
  const reader = MemberReader.of(input, "", faults);
  if (reader === undefined) return { value: {}, faults };
  const scheme = reader.string("scheme");
  if (scheme !== undefined && scheme !== APP_PROOF_SCHEME) reader.fault("scheme", `${APP_PROOF_SCHEME} wanted`);
  const value = {
    scheme: APP_PROOF_SCHEME,
    publicKey: hexMember(reader, "publicKey", QOS_PUBLIC_KEY_LENGTH),
    proofPayload: reader.string("proofPayload"),
    signature: hexMember(reader, "signature", P256_SIGNATURE_LENGTH),
  };
  return { value, faults };
}

/** An array, `{"appProofs": […]}`, or one app proof, bare or as `{"appProof": …}`. */
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

/** Protobuf's JSON omits empty members. */
export interface PolicyOutcomeProof {
  readonly organizationId: string;
  readonly outcome: PolicyOutcome;
  readonly decisionContextDigest?: string;
  readonly organizationDataDigest?: string;
  readonly parentOrganizationDataDigest?: string;
  /** The application defines its shape. */
  readonly userRequestApprovals?: JsonValue;
}

/**
 * Comparing `type` with a known type narrows the union.
 *
 * @example
 * if (payload.type === "APP_PROOF_TYPE_POLICY_OUTCOME") console.log(payload.policyOutcomeProof.outcome);
 */
export type AppProofPayload = AddressDerivationPayload | PolicyOutcomePayload | OtherPayload;

interface PayloadFacts {
  /** Milliseconds since the epoch, from the enclave's clock. */
  readonly timestampMs: number;
  readonly json: JsonObject;
}

export interface AddressDerivationPayload extends PayloadFacts {
  readonly type: "APP_PROOF_TYPE_ADDRESS_DERIVATION";
  readonly addressDerivationProof: AddressDerivationProof;
  readonly policyOutcomeProof?: undefined;
}

export interface PolicyOutcomePayload extends PayloadFacts {
  readonly type: "APP_PROOF_TYPE_POLICY_OUTCOME";
  readonly policyOutcomeProof: PolicyOutcomeProof;
  readonly addressDerivationProof?: undefined;
}

/** An application's own type, or a newer one. */
export interface OtherPayload extends PayloadFacts {
  readonly type: OtherPayloadType;
  readonly addressDerivationProof?: undefined;
  readonly policyOutcomeProof?: undefined;
}

declare const otherPayloadType: unique symbol;

/**
 * Any text except the known types: plain `string` would prevent narrowing by `type`. Compare with your own type through
 * the JSON: `payload.json.type === "MY_TYPE"`.
 */
// `${any}`, because TypeScript considers a branded `string` comparable with every literal.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type OtherPayloadType = `${any}` & { readonly [otherPayloadType]: true };

/**
 * Throws {@link MalformedError} (`json` or `app-proof-payload`) with every fault, also for a number that a double
 * cannot hold exactly (decode/README.md, "App proofs").
 */
export function decodeAppProofPayload(text: string): AppProofPayload {
  return requireWhole(
    "app-proof-payload",
    readLiteralPayload(parseJson(text, { numbers: "literal", maxValues: MAX_PAYLOAD_VALUES })),
  );
}

/**
 * Tolerant form of {@link decodeAppProofPayload}. `budget`: values of all payloads in memory together; default: {@link
 * MAX_PAYLOADS_VALUES}.
 */
export function readAppProofPayloadText(
  text: string,
  budget: ValueBudget = { left: MAX_PAYLOADS_VALUES },
): Reading<AppProofPayload> {
  const json = attempt(() => parseJson(text, { numbers: "literal", maxValues: MAX_PAYLOAD_VALUES, budget }));
  return json.value === undefined ? { value: {}, faults: json.faults } : readLiteralPayload(json.value);
}

function readLiteralPayload(literal: JsonValue): Reading<AppProofPayload> {
  const { value: json, faults: numberFaults } = plainNumbers(literal);
  const { value, faults } = readAppProofPayload(json);
  faults.pushAll(numberFaults);
  return { value, faults };
}

type ReadPayload = Reading<AppProofPayload>["value"];

function readAppProofPayload(json: unknown): Reading<AppProofPayload> & { readonly faults: FaultList } {
  const faults = new FaultList();
  const reader = MemberReader.of(json, "", faults);
  if (reader === undefined) return { value: {}, faults };
  const type = reader.string("type");
  if (type === "") reader.fault("type", "empty");
  const known = {
    addressDerivationProof: type === "APP_PROOF_TYPE_ADDRESS_DERIVATION" ? addressDerivation(reader) : undefined,
    policyOutcomeProof: type === "APP_PROOF_TYPE_POLICY_OUTCOME" ? policyOutcome(reader) : undefined,
  };
  // The compiler cannot see that the members depend on the type.
  const value = { type, timestampMs: timestampOf(reader), json: reader.object, ...known } as ReadPayload;
  return { value, faults };
}

function timestampOf(reader: MemberReader): number | undefined {
  const text = decimalMember(reader, "timestampMs");
  if (text === undefined) return undefined;
  return Number(text) <= MAX_TIME_MS ? Number(text) : reader.fault("timestampMs", "out of range");
}

function addressDerivation(payload: MemberReader): AddressDerivationProof | undefined {
  const proof = payload.nested("addressDerivationProof");
  if (proof === undefined) return undefined;
  const address = requiredString(proof, "address");
  const walletId = optionalString(proof, "walletId");
  const derivationPath = optionalString(proof, "derivationPath");
  return {
    organizationId: requiredString(proof, "organizationId"),
    ...(walletId !== undefined && { walletId }),
    ...(derivationPath !== undefined && { derivationPath }),
    address,
  };
}

function policyOutcome(payload: MemberReader): PolicyOutcomeProof | undefined {
  const proof = payload.nested("policyOutcomeProof");
  if (proof === undefined) return undefined;
  const outcome = POLICY_OUTCOMES.find((known) => known === proof.get("outcome"));
  if (outcome === undefined) proof.fault("outcome", "not an outcome that is known");
  const digests = DIGESTS.flatMap((name) => {
    const digest = optionalString(proof, name);
    return digest === undefined ? [] : [[name, digest] as const];
  });
  const userRequestApprovals = proof.get("userRequestApprovals");
  return {
    organizationId: requiredString(proof, "organizationId"),
    outcome: outcome ?? "OUTCOME_ERROR",
    ...Object.fromEntries(digests),
    ...(userRequestApprovals !== undefined && { userRequestApprovals }),
  };
}

const DIGESTS = ["decisionContextDigest", "organizationDataDigest", "parentOrganizationDataDigest"] as const;

/** An empty member is a fault, too: protobuf's JSON does not distinguish it from a missing one. */
function requiredString(reader: MemberReader, name: string): string {
  const text = reader.string(name) ?? "";
  if (text === "" && reader.get(name) === "") reader.fault(name, "empty");
  return text;
}

function optionalString(reader: MemberReader, name: string): string | undefined {
  return reader.get(name) === undefined ? undefined : reader.string(name);
}
