/** The payload: a version, its times, and who signs the next one (signed-policy/README.md, "Payload"). */
import { JsonNumber, isJsonObject, parseJson } from "../decode/json.js";
import { parseTime } from "../decode/decimal-time.js";
import { MalformedError, faultText, faultsIn } from "../errors.js";
import type { ParsedPolicy, SignedFacts } from "../appraise/parsed-policy.js";
import { parseSigned } from "../appraise/policy.js";
import { type PayloadFile, payloadShape } from "../appraise/signed-payload.js";
import { type Envelope, malformed, parsed, shaped } from "./envelope.js";
import { type KnownKeys, type SignerSet, readSigners } from "./keys.js";

const MAX_PAYLOAD_BYTES = 1024 * 1024;

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
type Acceptance = Pick<SignedFacts, "signedBy" | "remembered">;

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
