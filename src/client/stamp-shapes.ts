/** Checks what a stamper returns before anything is sent (client/README.md, "Stamps"). */
import { fromBase64Url, fromHex, fromUtf8, toHex } from "../bytes.js";
import { rawSignature } from "../decode/ecdsa-signature.js";
import { P256_SCALAR_LENGTH } from "../decode/lengths.js";
import { sha256 } from "../verify/digest.js";
import { importPoint } from "../verify/ecdsa.js";
import { ClientError, type ClientErrorFacts } from "../door/errors.js";
import { uncompressed } from "./p256.js";
import type { Signal } from "../door/platform.js";
import type { AnyStamper, StampHeader } from "./stamp.js";

const HEADERS = {
  "X-Stamp": isKeyStampOf,
  "X-Stamp-WebAuthn": isPasskeyStampOf,
  "X-Stamp-Attested": async () => false,
} as const satisfies Record<StampHeader, (value: string, body: Uint8Array) => Promise<boolean>>;

const HEADER_NAMES = Object.keys(HEADERS) as readonly StampHeader[];

/** A checked stamp. The header's name is as the stamper wrote it. */
export interface CheckedStamp {
  readonly header: string;
  readonly value: string;
}

const SHAPES = {
  own: { header: "header", value: "value" },
  published: { header: "stampHeaderName", value: "stampHeaderValue" },
} as const;
type ShapeName = keyof typeof SHAPES;

/** A header value: visible ASCII, with spaces and tabs inside (RFC 9110 section 5.5). */
const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/;

/** Published stampers that were recognised, or that {@link takesText} names. They get the body as text. */
const published = new WeakSet<object>();

/** Marks a stamper that takes text, so that it never stamps a body twice: each time may ask the user of a wallet. */
export function takesText(stamper: AnyStamper): AnyStamper {
  published.add(stamper);
  return stamper;
}

/**
 * Stamps a body with a stamper of either shape. Only its result shows the shape, so the stamper first gets bytes that
 * convert to their own text. If the stamp of a published stamper is not valid for the body, it then gets the text.
 * Rejects with {@link ClientError} (`stamp`) for any other result, and with the stamper's own error.
 */
export async function stampBy(
  stamper: AnyStamper,
  body: Uint8Array,
  signal: Signal,
  facts: ClientErrorFacts,
): Promise<CheckedStamp> {
  const text = fromUtf8(body)!;
  const stampOver = async (given: Uint8Array | string): Promise<ShapedStamp> =>
    checkedStamp(await stamper.stamp(given as Uint8Array & string, signal), facts);
  if (published.has(stamper)) return (await stampOver(text)).stamp;
  const { shape, kind, stamp } = await stampOver(new TextBytes(body));
  if (shape === "own") return stamp;
  published.add(stamper);
  return (await HEADERS[kind](stamp.value, body)) ? stamp : (await stampOver(text)).stamp;
}

/** UTF-8 bytes whose `toString` returns their text. For an ordinary Uint8Array it returns a list of numbers. */
class TextBytes extends Uint8Array {
  override toString(): string {
    return fromUtf8(this) ?? super.toString();
  }

  static get [Symbol.species](): Uint8ArrayConstructor {
    return Uint8Array;
  }
}

interface ShapedStamp {
  readonly shape: ShapeName;
  readonly kind: StampHeader;
  readonly stamp: CheckedStamp;
}

/** Reads and copies the returned value once. Errors do not quote it. */
function checkedStamp(returned: unknown, facts: ClientErrorFacts): ShapedStamp {
  const notSent = (why: string): ClientError => new ClientError("stamp", `not sent: ${why}`, facts);
  const own = typeof returned === "object" && returned !== null ? returned : {};
  const names = (Object.keys(SHAPES) as ShapeName[]).filter((name) =>
    Object.values(SHAPES[name]).some((member) => Object.hasOwn(own, member)),
  );
  const [shape] = names;
  if (shape === undefined || names.length > 1)
    throw notSent("the stamper returned neither {header, value} nor {stampHeaderName, stampHeaderValue}");
  const members = SHAPES[shape];
  const { [members.header]: name, [members.value]: value } = own as Record<string, unknown>;
  const header = typeof name === "string" && Object.hasOwn(own, members.header) ? name : "";
  const kind = HEADER_NAMES.find((one) => one.toLowerCase() === header.toLowerCase());
  if (kind === undefined) throw notSent(`the stamper's ${members.header} is not one of ${HEADER_NAMES.join(", ")}`);
  if (!Object.hasOwn(own, members.value) || typeof value !== "string" || !HEADER_VALUE.test(value))
    throw notSent(`the stamper's ${members.value} is not the value of a header: expected visible ASCII, and not empty`);
  return { shape, kind, stamp: { header, value } };
}

function textsOf(json: string): Readonly<Record<string, string>> {
  const value = JSON.parse(json) as unknown;
  const members = Object.entries(typeof value === "object" && value !== null ? value : {});
  return Object.fromEntries(members.filter(([, member]) => typeof member === "string")) as Record<string, string>;
}

function textOf(base64url: string): string {
  const bytes = fromBase64Url(base64url.replace(/=+$/, ""));
  return (bytes && fromUtf8(bytes)) ?? "";
}

/** Whether the value is the stamp of a P-256 key over the body. False for other schemes. */
async function isKeyStampOf(value: string, body: Uint8Array): Promise<boolean> {
  try {
    const { publicKey = "", scheme, signature = "" } = textsOf(textOf(value));
    const point = await uncompressed(fromHex(publicKey) ?? new Uint8Array());
    const raw = rawSignature(fromHex(signature) ?? new Uint8Array(), P256_SCALAR_LENGTH);
    if (scheme !== "SIGNATURE_SCHEME_TK_API_P256" || point === null || raw === null) return false;
    const key = await importPoint("P-256", point);
    return key !== null && (await key.verify(body, raw));
  } catch {
    return false;
  }
}

/**
 * Whether the stamp's challenge is that of the body. The signature is not verified, because only the service knows the
 * passkey.
 */
async function isPasskeyStampOf(value: string, body: Uint8Array): Promise<boolean> {
  try {
    const { challenge = "" } = textsOf(textOf(textsOf(value)["clientDataJson"] ?? ""));
    return textOf(challenge) === toHex(await sha256(body));
  } catch {
    return false;
  }
}
