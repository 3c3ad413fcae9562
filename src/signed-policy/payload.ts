/** The payload: a version of a policy, its times, and the keys that sign the next version (README.md, "Payload"). */
import { JsonNumber, type JsonObject, isJsonObject, parseJson } from "../decode/json.js";
import { parseTime } from "../decode/decimal-time.js";
import {
  type Shape,
  anyObject,
  hex,
  matching,
  nullable,
  object,
  oneOf,
  refined,
  wholeNumber,
} from "../decode/shapes.js";
import { SHA256_LENGTH } from "../decode/lengths.js";
import { MalformedError, faultText, faultsIn } from "../errors.js";
import type { ParsedPolicy, SignedFacts } from "../appraise/parsed-policy.js";
import { parseSigned } from "../appraise/policy.js";
import { type Envelope, malformed, parsed, shaped } from "./envelope.js";
import { type KnownKeys, type SignerSet, type SignersFile, readSigners, signersShape } from "./keys.js";

export const PAYLOAD_FORMAT = "bootproof-signed-policy/1" as const;
const MAX_PAYLOAD_BYTES = 1024 * 1024;
export const MAX_VALID_MS = 400 * 86_400_000;

export interface PayloadFile {
  readonly signedPolicy: typeof PAYLOAD_FORMAT;
  readonly name: string;
  readonly version: number;
  readonly previous: string | null;
  readonly issuedAt: string;
  readonly expiresAt: string;
  readonly signers: SignersFile;
  readonly policy: JsonObject;
}

/** A decoded version. The content of its policy is not read. */
export interface PolicyVersion {
  readonly envelope: Envelope;
  readonly name: string;
  readonly version: number;
  readonly previous: string | null;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  /** Who signs the next version. */
  readonly signers: SignerSet;
  readonly file: PayloadFile;
}

export const nameShape = matching(/^[\x20-\x7e]{1,100}$/, "1 to 100 printable ASCII characters");
const time: Shape<string> = matching(
  (value) => value.endsWith("Z") && parseTime(value) !== null,
  "a time of RFC 3339 in UTC, such as 2026-03-04T05:06:07Z",
);

export const payloadShape: Shape<PayloadFile> = refined(
  object({
    signedPolicy: oneOf(PAYLOAD_FORMAT),
    name: nameShape,
    version: wholeNumber(1),
    previous: nullable(hex(SHA256_LENGTH)),
    issuedAt: time,
    expiresAt: time,
    signers: signersShape,
    policy: anyObject as Shape<JsonObject>,
  }),
  (read, place) => {
    const valid = parseTime(read.expiresAt)!.getTime() - parseTime(read.issuedAt)!.getTime();
    if (valid <= 0) place.at("expiresAt").fault("expected a time later than issuedAt");
    if (valid > MAX_VALID_MS) place.at("expiresAt").fault("more than 400 days after issuedAt");
    if ((read.version === 1) !== (read.previous === null))
      place.at("previous").fault("expected null for version 1, and the SHA-256 of the payload before for any other");
    return read;
  },
);

/** Decodes a version. Throws {@link SignedPolicyError} (`malformed`) with every fault. */
export async function readVersion(envelope: Envelope, place = "", keys?: KnownKeys): Promise<PolicyVersion> {
  const { payload } = envelope;
  const inside = `${place}${place === "" ? "" : ", "}payload`;
  if (payload.length > MAX_PAYLOAD_BYTES) throw malformed(inside, `larger than ${MAX_PAYLOAD_BYTES} bytes`);
  const json = parsed(payload, inside);
  const file = shaped(payloadShape, json, inside);
  // 1.0 and 1e0 are the number 1, too, but not how a version is written.
  const literal = parseJson(payload, { numbers: "literal" });
  const written = isJsonObject(literal) ? literal["version"] : undefined;
  if (!(written instanceof JsonNumber) || written.text !== String(file.version))
    throw malformed(inside, "version: expected a whole number as [1-9][0-9]*");
  const { name, version, previous, issuedAt, expiresAt } = file;
  return {
    ...{ envelope, file, name, version, previous },
    issuedAt: parseTime(issuedAt)!,
    expiresAt: parseTime(expiresAt)!,
    signers: await readSigners(file.signers, `${inside}: signers.`, keys),
  };
}

/** How a version was accepted. */
export type Acceptance = Pick<SignedFacts, "signedBy" | "remembered">;

/** Reads the policy of a version that was accepted. Throws {@link SignedPolicyError} (`malformed`). */
export function policyOf({ envelope, file }: PolicyVersion, acceptance: Acceptance): ParsedPolicy {
  const { name, version, issuedAt, expiresAt } = file;
  const { sha256, json } = envelope;
  const facts = { name, version, sha256, issuedAt, expiresAt, envelope: JSON.stringify(json), ...acceptance };
  try {
    return parseSigned(envelope.payload, file.policy, facts);
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    throw malformed(`version ${version}`, faultText(faultsIn("policy", error.faults)), error);
  }
}
