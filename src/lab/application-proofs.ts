/** App proofs of the caller's applications: their forms, and their faults. */
import { typedOptions } from "../decode/options.js";
import { randomBytes } from "node:crypto";
import { concatBytes, toHex, toUtf8 } from "../bytes.js";
import type { CheckId } from "../checks.js";
import { APP_PROOF_SCHEME } from "../decode/app-proof.js";
import { copyPlain } from "../decode/input.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { P256_POINT_LENGTH, P256_SCALAR_LENGTH } from "../decode/lengths.js";
import { type MembersOf, type Shape, keyOf, matching, nullish, optional, text } from "../decode/shapes.js";
import { faultNamed } from "./behaviour.js";
import { Integer } from "asn1js";
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

export interface SignOptions extends AppProofForm {
  /** The fault to use for this proof instead of the application's fault; null means no fault. */
  readonly fault?: ApplicationFaultName | null;
  /** The place of the caller's challenge in the payload, as a JSON pointer. Default: `/challenge`. */
  readonly challenge?: string;
}

/** Signed data, from which app proofs of all forms are made. */
export interface Signed {
  readonly text: string;
  /** The public key, 130 bytes. */
  readonly publicKey: Uint8Array;
  /** The signature `r ‖ s`. */
  readonly signature: Uint8Array;
}

interface ApplicationFaultFacts {
  readonly what: string;
  /**
   * The checks that fail for the app proof and the boot proof of the application's `ephemeralKey`, under its policy, if
   * the caller expects the values of its request and a challenge that it has not sent before.
   */
  readonly fails: readonly CheckId[];
}

interface ApplicationBehaviour extends Partial<ApplicationFaultFacts> {
  /** The index of the replica that signs. Default: 0. */
  readonly replica?: number;
  readonly replays?: true;
  readonly payload?: (payload: JsonObject, challenge: string) => JsonObject;
  /** Whether the fault can be shown with this signature. Signatures are random, so signing is repeated until it can. */
  readonly canShow?: (raw: Uint8Array) => boolean;
  readonly publicKey?: (whole: Uint8Array) => Uint8Array;
  /** Returns the signature in a form of the fault. */
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

const FORM_SHAPES: MembersOf<AppProofForm> = {
  key: optional(keyOf(KEYS)),
  signature: optional(keyOf(SIGNATURES)),
  names: optional(keyOf(NAMES)),
};

const SIGN_SHAPES: MembersOf<SignOptions> = {
  ...FORM_SHAPES,
  fault: nullish(text as Shape<never>),
  challenge: optional(matching(/^(?:\/(?:[^~/]|~[01])*)+$/, "a JSON pointer such as /challenge")),
};

const DER_LIMIT = 72;

const BEHAVIOURS = {
  "another-replica": {
    what: "another replica signed: a genuine proof, but not of the key that the application names",
    fails: ["app.key"],
    replica: 1,
  },
  "another-request": {
    what: "a genuine proof of another request: only type, timestampMs and the challenge are the same",
    fails: ["app.request"],
    payload: ofAnotherRequest,
  },
  replayed: {
    what: "the last proof that it made without a fault is sent again",
    fails: ["app.request"],
    replays: true,
  },
  "another-challenge": {
    what: "a genuine proof of this request, but with another caller's challenge",
    fails: ["app.request"],
    payload: (payload, pointer) => changedAt(payload, stepsOf(pointer), pointer, otherChallenge) as JsonObject,
  },
  "encryption-half": {
    what: "the key is the encryption half of the attested one",
    fails: ["app.key"],
    publicKey: (whole: Uint8Array): Uint8Array => whole.slice(0, P256_POINT_LENGTH),
  },
  "der-leading-zero": {
    what: "the signature is DER, but its first integer has an extra zero byte",
    fails: ["app.decode"],
    canShow: (raw: Uint8Array): boolean => !isHigh(halves(raw)[0]) && halves(raw)[0][0] !== 0,
    signature: (raw: Uint8Array): Uint8Array => {
      const [r, s] = halves(raw);
      return derOf(sequence(new Integer({ valueHex: concatBytes(Uint8Array.of(0), r) }), integer(s)));
    },
  },
  "der-trailing-bytes": {
    what: "the signature is DER, followed by an extra byte",
    fails: ["app.decode"],
    canShow: (raw: Uint8Array): boolean => derSignature(raw).length < DER_LIMIT,
    signature: (raw: Uint8Array): Uint8Array => concatBytes(derSignature(raw), Uint8Array.of(0)),
  },
  "der-negative-integers": {
    what: "the signature is DER whose integers are negative: they lack their leading zero bytes",
    fails: ["app.decode"],
    canShow: (raw: Uint8Array): boolean => halves(raw).every(isHigh),
    signature: (raw: Uint8Array): Uint8Array => {
      const [r, s] = halves(raw);
      const header = Uint8Array.of(0x02, P256_SCALAR_LENGTH);
      const content = concatBytes(header, r, header, s);
      return concatBytes(Uint8Array.of(0x30, content.length), content);
    },
  },
} satisfies Readonly<Record<string, ApplicationBehaviour & ApplicationFaultFacts>>;

export type ApplicationFaultName = keyof typeof BEHAVIOURS;

interface ApplicationFault extends ApplicationFaultFacts {
  readonly name: ApplicationFaultName;
}

/** The faults of {@link LabApplication.sign}. */
export const APPLICATION_FAULTS: readonly ApplicationFault[] = Object.entries(BEHAVIOURS).map(
  ([name, { what, fails }]) => ({ name: name as ApplicationFaultName, what, fails }),
);

/**
 * Returns how an app proof with this fault is made. For null, returns how one without a fault is made. Throws
 * RangeError for an unknown name.
 */
export function behaviourOf(name: string | null): ApplicationBehaviour {
  return name === null ? {} : faultNamed<ApplicationFaultName, ApplicationBehaviour>(BEHAVIOURS, name);
}

/** Reads a form. Throws TypeError if it is invalid. */
export function readForm(what: string, given: AppProofForm): Required<AppProofForm> {
  const { key = "whole", signature = "raw", names = "standard" } = typedOptions(what, given, FORM_SHAPES);
  return { key, signature, names };
}

/** Reads the options. Throws TypeError if they are invalid. */
export function readSignOptions(options: SignOptions): SignOptions {
  return typedOptions("options", options, SIGN_SHAPES);
}

/** Returns the payload as text. Throws TypeError unless it is a text or an object. */
export function payloadText(payload: string | JsonObject): string {
  if (typeof payload === "string") return payload;
  if (!isJsonObject(payload)) throw new TypeError("payload: expected a JSON object or its text");
  return JSON.stringify(copyPlain(payload));
}

/** Signs a payload, with the fault in it. Throws TypeError if the payload has nothing that the fault could alter. */
export function sign(key: QosKeyPair, payload: string, behaviour: ApplicationBehaviour, challenge?: string): Signed {
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
  fault: ApplicationBehaviour,
): JsonObject {
  const shownKey = (fault.publicKey ?? KEYS[options.key ?? form.key])(publicKey);
  const shownSignature = (fault.signature ?? SIGNATURES[options.signature ?? form.signature])(signature);
  return NAMES[options.names ?? form.names](toHex(shownKey), text, toHex(shownSignature));
}

function alteredText(payload: string, { payload: alter }: ApplicationBehaviour, challenge: string): string {
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

function ofAnotherRequest(payload: JsonObject, challenge: string): JsonObject {
  const kept = new Set(["/type", "/timestampMs", challenge]);
  const changed = otherValues(payload, "", kept) as JsonObject;
  if (JSON.stringify(changed) !== JSON.stringify(payload)) return changed;
  throw new TypeError(`payload: the fault needs a value beside type, timestampMs and ${challenge}`);
}

function otherValues(value: JsonValue, pointer: string, kept: ReadonlySet<string>): JsonValue {
  if (kept.has(pointer)) return value;
  if (Array.isArray(value)) return value.map((item, index) => otherValues(item, `${pointer}/${index}`, kept));
  if (!isJsonObject(value)) return otherValue(value);
  const changed = Object.entries(value).map(([name, member]) => {
    const step = name.replaceAll("~", "~0").replaceAll("/", "~1");
    return [name, otherValues(member, `${pointer}/${step}`, kept)] as const;
  });
  return Object.fromEntries(changed);
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

/** Returns the steps of a pointer (RFC 6901). */
function stepsOf(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function changedAt(
  value: JsonValue | undefined,
  [step, ...rest]: readonly string[],
  pointer: string,
  change: (value: JsonValue, pointer: string) => JsonValue,
): JsonValue {
  if (step === undefined && value !== undefined) return change(value, pointer);
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, step!))
    throw new TypeError(`payload${pointer}: missing, but the fault must alter it`);
  const changed = changedAt((value as JsonObject)[step!], rest, pointer, change);
  return Array.isArray(value) ? value.with(Number(step), changed) : { ...value, [step!]: changed };
}

function halves(raw: Uint8Array): [r: Uint8Array, s: Uint8Array] {
  return [raw.slice(0, P256_SCALAR_LENGTH), raw.slice(P256_SCALAR_LENGTH)];
}

/** Returns whether the highest bit is set. DER would read such an integer as negative. */
function isHigh(integer: Uint8Array): boolean {
  return integer[0]! > 0x7f;
}

/** Returns an ECDSA-Sig-Value (RFC 3279 section 2.2.3). */
function derSignature(raw: Uint8Array): Uint8Array {
  return derOf(sequence(...halves(raw).map(integer)));
}
