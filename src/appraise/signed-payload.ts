/** Shape of the payload of a signed policy (signed-policy/README.md, "Payload"). */
import { parseTime } from "../decode/decimal-time.js";
import type { JsonObject } from "../decode/json.js";
import { SHA256_LENGTH } from "../decode/lengths.js";
import {
  type Shape,
  anyObject,
  hex,
  list,
  matching,
  nullable,
  object,
  objectOf,
  oneOf,
  refined,
  text,
  wholeNumber,
} from "../decode/shapes.js";

/** The set as JSON: the keys are PEM texts of SPKI. */
export interface SignersFile {
  readonly threshold: number;
  readonly keys: readonly string[];
}

const MAX_KEYS = 32;

/** Members of a set in a file. */
export const SIGNERS = { threshold: wholeNumber(1, MAX_KEYS), keys: list(text, 1, MAX_KEYS) } as const;
export const signersShape: Shape<SignersFile> = objectOf<SignersFile>(SIGNERS);

export const PAYLOAD_FORMAT = "bootproof-signed-policy/1" as const;
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
