/** App proofs of the caller's applications: their forms, and how lies alter them. */
import { typedOptions } from "../decode/options.js";
import { randomBytes } from "node:crypto";
import { toHex, toUtf8 } from "../bytes.js";
import { APP_PROOF_SCHEME } from "../decode/app-proof.js";
import { copyPlain } from "../decode/input.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { P256_POINT_LENGTH, P256_SCALAR_LENGTH } from "../decode/lengths.js";
import { type MembersOf, keyOf, optional } from "../decode/shapes.js";
import { derOf, integer, sequence } from "./asn1.js";
import { type QosKeyPair, qosSign } from "./qos.js";

/** How an application writes its app proofs. */
export interface AppProofForm {
  /** The part of the key: `whole` is all 130 bytes, `signing-half` is bytes 65 to 129. Default: `whole`. */
  readonly key?: keyof typeof KEYS;
  /** The signature in hex: `raw` is 64 bytes, `der` is an ECDSA-Sig-Value. Default: `raw`. */
  readonly signature?: keyof typeof SIGNATURES;
  /**
   * The names of members: `template` has `public_key`, `payload` and `signature`, without a scheme. Default:
   * `standard`.
   */
  readonly names?: keyof typeof NAMES;
}

/** Signed data, from which app proofs of all forms are made. */
export interface Signed {
  readonly text: string;
  /** The public key, 130 bytes. */
  readonly publicKey: Uint8Array;
  /** The signature `r ‖ s`. */
  readonly signature: Uint8Array;
}

/** What a lie of an application changes: one step of the making of its app proofs. */
export interface ApplicationLie {
  /** The index of the replica that signs. Default: 0. */
  readonly replica?: number;
  readonly replays?: true;
  readonly payload?: (payload: JsonObject, challenge: string) => JsonObject;
  /** Whether the lie can be shown with this signature. Signatures are random, so signing is repeated until it can. */
  readonly canShow?: (raw: Uint8Array) => boolean;
  readonly publicKey?: (whole: Uint8Array) => Uint8Array;
  /** Returns the signature in a form of the lie. */
  readonly signature?: (raw: Uint8Array) => Uint8Array;
}

const KEYS: Readonly<Record<"whole" | "signing-half", (key: Uint8Array) => Uint8Array>> = {
  whole: (key) => key,
  "signing-half": (key) => key.slice(P256_POINT_LENGTH),
};
const SIGNATURES: Readonly<Record<"raw" | "der", (raw: Uint8Array) => Uint8Array>> = {
  raw: (raw) => raw,
  der: derSignature,
};
const NAMES = {
  standard: (publicKey: string, proofPayload: string, signature: string): JsonObject => ({
    scheme: APP_PROOF_SCHEME,
    publicKey,
    proofPayload,
    signature,
  }),
  template: (publicKey: string, payload: string, signature: string): JsonObject => ({
    public_key: publicKey,
    payload,
    signature,
  }),
};

export const FORM_SHAPES: MembersOf<AppProofForm> = {
  key: optional(keyOf(KEYS)),
  signature: optional(keyOf(SIGNATURES)),
  names: optional(keyOf(NAMES)),
};

/** Reads a form. Throws TypeError if it is invalid. */
export function readForm(what: string, given: AppProofForm): Required<AppProofForm> {
  const { key = "whole", signature = "raw", names = "standard" } = typedOptions(what, given, FORM_SHAPES);
  return { key, signature, names };
}

/** Returns the payload as text. Throws TypeError unless it is a text or an object. */
export function payloadText(payload: string | JsonObject): string {
  if (typeof payload === "string") return payload;
  if (!isJsonObject(payload)) throw new TypeError("payload: expected a JSON object or its text");
  return JSON.stringify(copyPlain(payload));
}

/** Signs a payload, with the fault in it. Throws TypeError if the payload has nothing that the fault could alter. */
export function sign(key: QosKeyPair, payload: string, behaviour: ApplicationLie, challenge?: string): Signed {
  const text = alteredText(payload, behaviour, challenge ?? "/challenge");
  let signature = qosSign(key, toUtf8(text));
  while (behaviour.canShow?.(signature) === false) signature = qosSign(key, toUtf8(text));
  return { text, publicKey: key.publicKey, signature };
}

/** Makes an app proof. `options` and the fault replace parts of the form. */
export function proofOf(
  { text, publicKey, signature }: Signed,
  form: Required<AppProofForm>,
  options: AppProofForm,
  fault: ApplicationLie,
): JsonObject {
  const shownKey = (fault.publicKey ?? KEYS[options.key ?? form.key])(publicKey);
  const shownSignature = (fault.signature ?? SIGNATURES[options.signature ?? form.signature])(signature);
  return NAMES[options.names ?? form.names](toHex(shownKey), text, toHex(shownSignature));
}

function alteredText(payload: string, { payload: alter }: ApplicationLie, challenge: string): string {
  if (alter === undefined) return payload;
  const json = jsonOf(payload);
  if (!isJsonObject(json)) throw new TypeError("payload: the fault needs the text of a JSON object");
  return JSON.stringify(alter(json, challenge));
}

function jsonOf(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Changes all values but type, time and challenge. */
export function ofAnotherRequest(payload: JsonObject, challenge: string): JsonObject {
  const kept = ["/type", "/timestampMs", challenge];
  const changed = mapped(payload, "", (value, pointer) => {
    if (kept.includes(pointer)) return value;
    return typeof value === "object" ? undefined : otherValue(value);
  });
  if (JSON.stringify(changed) !== JSON.stringify(payload)) return changed as JsonObject;
  throw new TypeError(`payload: the fault needs a value beside type, timestampMs and ${challenge}`);
}

/** Changes the challenge alone. */
export function withAnotherChallenge(payload: JsonObject, challenge: string): JsonObject {
  const changed = mapped(payload, "", (value, pointer) =>
    pointer === challenge ? otherChallenge(value, pointer) : undefined,
  );
  if (JSON.stringify(changed) !== JSON.stringify(payload)) return changed as JsonObject;
  throw new TypeError(`payload${challenge}: missing, but the fault must alter it`);
}

type ChangeAt = (value: JsonValue, pointer: string) => JsonValue | undefined;

/** Replaces what `change` returns a value for, by its pointer (RFC 6901), and looks into all else. */
function mapped(value: JsonValue, pointer: string, change: ChangeAt): JsonValue {
  const changed = change(value, pointer);
  if (changed !== undefined) return changed;
  if (Array.isArray(value)) return value.map((item, index) => mapped(item, `${pointer}/${index}`, change));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => {
    const step = name.replaceAll("~", "~0").replaceAll("/", "~1");
    return [name, mapped(member, `${pointer}/${step}`, change)] as const;
  });
  return Object.fromEntries(members);
}

function otherValue(value: JsonValue): JsonValue {
  if (typeof value === "string") return otherText(value);
  if (typeof value === "number") return value === 1 ? 2 : 1;
  return typeof value === "boolean" ? !value : value;
}

/** Changes the last character of a text. A digit stays a digit, and hex stays hex. */
function otherText(text: string): string {
  const characters = [...text];
  const last = characters.pop() ?? "";
  return characters.join("") + otherCharacter(last);
}

function otherCharacter(character: string): string {
  if (/[0-9]/.test(character)) return String(9 - Number(character));
  if (/[A-Z]/.test(character)) return character === "A" ? "B" : "A";
  return character === "a" ? "b" : "a";
}

/** Returns a different text of the same length and alphabet. */
function otherChallenge(value: JsonValue, pointer: string): JsonValue {
  if (typeof value !== "string" || value === "")
    throw new TypeError(`payload${pointer}: the fault needs a string there`);
  const encoding = /^[0-9a-f]+$/i.test(value) ? "hex" : "base64url";
  return (
    randomBytes(value.length)
      .toString(encoding)
      .slice(0, value.length - 1) + otherCharacter(value.slice(-1))
  );
}

export function halves(raw: Uint8Array): [r: Uint8Array, s: Uint8Array] {
  return [raw.slice(0, P256_SCALAR_LENGTH), raw.slice(P256_SCALAR_LENGTH)];
}

/** Returns whether the highest bit is set. DER would read such an integer as negative. */
export function isHigh(integer: Uint8Array): boolean {
  return integer[0]! > 0x7f;
}

/** Returns an ECDSA-Sig-Value (RFC 3279 section 2.2.3). */
export function derSignature(raw: Uint8Array): Uint8Array {
  return derOf(sequence(...halves(raw).map(integer)));
}
