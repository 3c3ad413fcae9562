/** App proofs of anybody's application: either key, either signature, payloads without a time, expected payloads. */
import { concatBytes, toUtf8 } from "../../src/bytes.js";
import type { CheckId } from "../../src/checks.js";
import type { JsonObject } from "../../src/decode/json.js";
import type { Expected, ExpectedPayload } from "../../src/index.js";
import { type AppProofMembers, appProofOf } from "../../src/decode/index.js";
import { LAB_ADDRESS } from "../../src/lab/forge.js";
import { signDer } from "../../src/lab/keys.js";
import { generateQosKeyPair, qosSign } from "../../src/lab/qos.js";
import { der, derInteger, derSequence } from "../support/der.js";
import { inDer, positiveInteger, withS } from "../support/high-s.js";
import {
  type Accepted,
  type Alterations,
  type Attack,
  type Judgement,
  NOW,
  after,
  appProof,
  drop,
  forge,
  hex,
  lab,
  lie,
  put,
  withActivity,
  named,
} from "./support.js";

const at = after(60);
const own = lab.ephemeralKey;
const key = own.publicKey;
const [encryptionHalf, signingHalf] = [key.subarray(0, 65), key.subarray(65)];
const other = generateQosKeyPair();
const asKey = (bytes: Uint8Array): Alterations => appProof({ json: put("publicKey", hex(bytes)) });
const signedBy = (signer: typeof own, bytes: Uint8Array): Alterations =>
  appProof({ signer, json: put("publicKey", hex(bytes)) });
const byEncryptionHalf = { ...own, signing: own.encryption };
const NEITHER: readonly CheckId[] = ["app.key", "app.signature"];

const keys: [name: string, alter: Alterations, fails: readonly CheckId[]][] = [
  ["the encryption half alone", asKey(encryptionHalf), NEITHER],
  ["the encryption half alone, which signed", signedBy(byEncryptionHalf, encryptionHalf), ["app.key"]],
  ["the signing half of another enclave, which signed", signedBy(other, other.publicKey.subarray(65)), ["app.key"]],
  ["the signing half of another enclave", asKey(other.publicKey.subarray(65)), NEITHER],
  ["the quorum key's signing half", signedBy(lab.quorumKey, lab.quorumKey.publicKey.subarray(65)), ["app.key"]],
  ["the whole key, halves exchanged", asKey(concatBytes(signingHalf, encryptionHalf)), NEITHER],
  ["the signing half twice", asKey(concatBytes(signingHalf, signingHalf)), ["app.key"]],
  ["65 bytes that begin as a compressed point", asKey(Uint8Array.from([2, ...signingHalf.subarray(1)])), NEITHER],
  ["65 bytes of a hybrid point", asKey(Uint8Array.from([6 + (key[129]! & 1), ...signingHalf.subarray(1)])), NEITHER],
  ["65 bytes of zeros", asKey(new Uint8Array(65)), NEITHER],
  ["65 bytes across both halves", asKey(key.subarray(32, 97)), NEITHER],
  ["a compressed point", asKey(Uint8Array.from([2 + (key[129]! & 1), ...key.subarray(66, 98)])), ["app.decode"]],
  ["a point of 64 bytes", asKey(key.subarray(66)), ["app.decode"]],
  ["a byte after the signing half", asKey(concatBytes(signingHalf, Uint8Array.of(0))), ["app.decode"]],
  [
    "the signing half in base64",
    appProof({ json: put("publicKey", Buffer.from(signingHalf).toString("base64")) }),
    ["app.decode"],
  ],
  ["three halves", asKey(concatBytes(key, signingHalf)), ["app.decode"]],
];

/** The bytes that the proof has as its signature, made of its payload. */
const signature = (make: (message: Uint8Array) => Uint8Array): Alterations =>
  appProof({ json: (json) => ({ ...json, signature: hex(make(toUtf8(json["proofPayload"] as string))) }) });

/** A valid one whose `r` begins as wanted: a lenient reader would accept the encodings that are made of it. */
function rawWith(isHigh: boolean, message: Uint8Array): Uint8Array {
  for (;;) {
    const raw = qosSign(own, message);
    if (raw[0]! > 0x7f === isHigh && raw[0] !== 0) return raw;
  }
}

const integer = (...parts: Uint8Array[]): Uint8Array => der(0x02, ...parts);
const halves = (raw: Uint8Array): [r: Uint8Array, s: Uint8Array] => [raw.subarray(0, 32), raw.subarray(32)];
const ZERO = Uint8Array.of(0);

/** `change`: another encoding of a valid signature, whose `r` has its top bit set if `isHigh`. */
const encoded = (change: (r: Uint8Array, s: Uint8Array) => Uint8Array, isHigh = false): Alterations =>
  signature((message) => change(...halves(rawWith(isHigh, message))));
const inside = (change: (content: Uint8Array) => Uint8Array): Alterations =>
  signature((message) => change(inDer(qosSign(own, message)).subarray(2)));

/** They are refused before anything is computed: DER has one encoding of each signature. */
const malformed: Readonly<Record<string, Alterations>> = {
  "a zero before a positive r": lie("der-leading-zero"),
  "two zeros before r": encoded((r, s) => derSequence(integer(ZERO, ZERO, r), positiveInteger(s)), true),
  "a zero before s": encoded((r, s) => derSequence(positiveInteger(r), integer(ZERO, ...[0, 0].map(() => ZERO), s))),
  "a negative r": encoded((r, s) => derSequence(integer(r), positiveInteger(s)), true),
  "a negative s": signature((message) => {
    const [r, s] = halves(withS("high", qosSign(own, message)));
    return derSequence(positiveInteger(r), integer(Uint8Array.from([s[0]! | 0x80, ...s.subarray(1)])));
  }),
  "r of zero": encoded((_, s) => derSequence(integer(ZERO), positiveInteger(s))),
  "s of zero": encoded((r) => derSequence(positiveInteger(r), integer(ZERO))),
  "an empty r": encoded((_, s) => derSequence(integer(), positiveInteger(s))),
  "r alone": encoded((r) => derSequence(positiveInteger(r))),
  "three integers": encoded((r, s) => derSequence(positiveInteger(r), positiveInteger(s), positiveInteger(s))),
  "bytes after it": lie("der-trailing-bytes"),
  "itself after it": signature((message) => {
    const whole = inDer(qosSign(own, message));
    return concatBytes(whole, whole);
  }),
  "bytes after the integers": inside((content) => der(0x30, content, ZERO)),
  "a length in two bytes": inside((content) => concatBytes(Uint8Array.of(0x30, 0x81, content.length), content)),
  "a length in three bytes": inside((content) => concatBytes(Uint8Array.of(0x30, 0x82, 0, content.length), content)),
  "an indefinite length": inside((content) => concatBytes(Uint8Array.of(0x30, 0x80), content, Uint8Array.of(0, 0))),
  "a length of r in two bytes": encoded((r, s) => der(0x30, Uint8Array.of(2, 0x81, 32), r, positiveInteger(s))),
  "a length that is too small": inside((content) => concatBytes(Uint8Array.of(0x30, content.length - 1), content)),
  "a length that is too large": inside((content) => concatBytes(Uint8Array.of(0x30, content.length + 1), content)),
  "cut off": signature((message) => inDer(qosSign(own, message)).subarray(0, -1)),
  "73 bytes": signature((message) =>
    der(
      0x30,
      integer(ZERO, rawWith(true, message).subarray(0, 32)),
      integer(ZERO, ZERO, rawWith(true, message).subarray(0, 32)),
    ),
  ),
  "an r of 33 bytes": encoded((r, s) => derSequence(integer(Uint8Array.of(1), r), positiveInteger(s))),
  "a SET in place of the SEQUENCE": inside((content) => der(0x31, content)),
  "ENUMERATED in place of an INTEGER": encoded((r, s) => derSequence(der(0x0a, r), positiveInteger(s))),
  "inside an OCTET STRING": signature((message) => der(0x04, inDer(qosSign(own, message)))),
  "inside a BIT STRING": signature((message) => der(0x03, ZERO, inDer(qosSign(own, message)))),
};

const signatures: Readonly<Record<string, Alterations>> = {
  "of another payload": signature(() => inDer(qosSign(own, toUtf8("{}")))),
  "of another key": signature((message) => inDer(qosSign(other, message))),
  "of the encryption half": signature((message) => inDer(qosSign(byEncryptionHalf, message))),
  "by SHA-384": signature((message) => signDer(own.signing, "sha384", message)),
  "r and s exchanged": encoded((r, s) => derSequence(positiveInteger(s), positiveInteger(r))),
  "r and s of one": signature(() => derSequence(derInteger(1), derInteger(1))),
  "an r beyond the order": encoded((_, s) =>
    derSequence(integer(ZERO, new Uint8Array(32).fill(255)), positiveInteger(s)),
  ),
  "DER of 64 bytes, which is read as r and s": signature(() =>
    der(0x30, integer(new Uint8Array(28).fill(1)), integer(new Uint8Array(30).fill(1))),
  ),
};

const CHALLENGE = "q83vEjRWeJCrze8SNFZ4kA";
const OTHER_CHALLENGE = "AAECAwQFBgcICQoLDA0ODw";
const HEX_CHALLENGE = "00112233445566778899aabbccddeeff";
const TYPE = "ORDER_PLACED";
const ORDER: JsonObject = {
  type: TYPE,
  timestampMs: String(at.getTime()),
  challenge: CHALLENGE,
  empty: null,
  "": "no name",
  "/": "slash",
  "~": "tilde",
  "~1": "both",
  "a/b": "in a name",
  a: { b: "nested" },
  order: {
    id: "42",
    amount: 1,
    paid: true,
    customer: { name: "é" },
    items: ["first", { sku: "second" }, null],
  },
};
const placed = (...changes: ((json: JsonObject) => JsonObject)[]): Alterations => ({
  payloads: [changes.reduce((json, change) => change(json), ORDER)],
});
const text = (change: (text: string) => string): Alterations => ({
  payloads: [ORDER],
  alterAppProof: { text: change },
});
const WHOLE = placed();
const expecting = (values: ExpectedPayload["values"], challenge?: string): Expected => ({
  payload: [{ type: TYPE, values, ...(challenge !== undefined && { challenge }) }],
});
const ID = { "/order/id": "42" };
const ORGANIZATION = { organizationId: LAB_ADDRESS.organizationId };
const ANOTHER = put("order.id", "43")(ORDER);

/** Values that the payload of {@link ORDER} does not have. */
const differing: [name: string, values: ExpectedPayload["values"], forge?: Alterations][] = [
  ["another value", { "/order/id": "43" }],
  ["one of two values", { ...ID, "/order/amount": 2 }],
  ["the value under another pointer", { "/id": "42" }],
  ["a member that is missing", { "/order/note": null }],
  ["false for a missing member", { "/order/refunded": false }],
  ["an object in its place", ID, placed(put("order.id", { value: "42" }))],
  ["an array in its place", ID, placed(put("order.id", ["42"]))],
  ["a pointer to an object", { "/order": "42" }],
  ["a pointer to an array", { "/order/items": "first" }],
  ["a string for a number", { "/order/amount": "1" }],
  ["a number for a string", { "/order/id": 42 }],
  ["a string for true", { "/order/paid": "true" }],
  ["1 for true", { "/order/paid": 1 }],
  ["false for true", { "/order/paid": false }],
  ["a string for null", { "/empty": "null" }],
  ["an empty string for null", { "/empty": "" }],
  ["0 for null", { "/empty": 0 }],
  ["a number that is almost the same", { "/order/amount": 1.0000000000000002 }],
  ["its negative", { "/order/amount": -1 }],
  ["a letter that looks alike", { "/order/items/0": "first" }, placed(put("order.items", ["f\u0456rst"]))],
  ["another normal form", { "/order/customer/name": "e\u0301" }],
  ["another case", { "/order/items/0": "First" }],
  ["a space after it", { "/order/id": "42 " }],
  ["a control character after it", { "/order/id": "42" }, placed(put("order.id", "42\u0000"))],
  ["the pointer in another case", { "/Order/id": "42" }],
  ["the prototype", { "/__proto__/id": "42" }],
  ["the prototype's prototype", { "/order/__proto__/__proto__": null }],
  ["the constructor's name", { "/constructor/name": "Object" }],
  ["an array's constructor", { "/order/items/constructor/name": "Array" }],
  ["an array's length", { "/order/items/length": 3 }],
  ["a string's length", { "/order/id/length": 2 }],
  ["a string's character", { "/order/id/0": "4" }],
  ["the index -", { "/order/items/-": "first" }],
  ["the index 00", { "/order/items/00": "first" }],
  ["the index -1", { "/order/items/-1": "first" }],
  ["the index +0", { "/order/items/+0": "first" }],
  ["the index 0.0", { "/order/items/0.0": "first" }],
  ["the index 0e0", { "/order/items/0e0": "first" }],
  ["an empty index", { "/order/items/": "first" }],
  ["an index with a space", { "/order/items/ 0": "first" }],
  ["an index past the end", { "/order/items/3": null }],
  ["an index beyond 2^32", { "/order/items/4294967296": "first" }],
  ["an index into an object", { "/order/0": "42" }],
  ["a slash in a name, not escaped", { "/a/b": "in a name" }],
  ["a slash in a name, for a nested one", { "/a~1b": "nested" }],
  ["~01, which is not a slash", { "/~01": "slash" }],
  ["~1, which is no ~1", { "/~1": "both" }],
  ["~0, which is not a slash", { "/~0": "slash" }],
  ["/ alone, which is a name without letters", { "/": "slash" }],
];

const LEGACY: Judgement["deployments"] = (all) => [{ ...all, commitment: "legacy" }];
const untimed = (...types: string[]): JsonObject => ({ appProofs: { untimed: types } });
const UNTIMED = placed(drop("timestampMs"));
const AGED: JsonObject = { appProofs: { untimed: [TYPE], maxAge: "1d" } };
const REQUIRED: JsonObject = { appProofs: { untimed: [TYPE], required: true } };

const CHALLENGED = expecting({ ...ID, "/challenge": CHALLENGE }, "/challenge");
const HEX_CHALLENGED = expecting({ "/challenge": HEX_CHALLENGE }, "/challenge");
const both = (other: ExpectedPayload): Expected => ({ payload: [{ type: TYPE, values: ID }, other] });
const OWN_AND = { ...ORGANIZATION, ...expecting(ID) };
const LATER = { ...expecting(ID), requestedAt: new Date(at.getTime() + 60_001) };

const questions: [
  name: string,
  forge: Alterations,
  expected: Expected,
  fails?: readonly CheckId[],
  judge?: Judgement,
][] = [
  ["no app proof", { payloads: [] }, expecting(ID)],
  ["no proof of the type", {}, expecting(ID)],
  ["the type in another case", WHOLE, { payload: [{ type: "order_placed", values: ID }] }],
  ["a type that begins like it", placed(put("type", "ORDER_PLACED_TEST")), expecting(ID)],
  ["a good one beside a genuine one about something else", { payloads: [ORDER, ANOTHER] }, expecting(ID)],
  ["a good one after a genuine one about something else", { payloads: [ANOTHER, ORDER] }, expecting(ID)],
  ["one of two expectations of a type", WHOLE, both({ type: TYPE, values: { "/order/id": "43" } })],
  ["one of two expectations of two types", WHOLE, both({ type: "OTHER", values: { "/id": "1" } })],
  [
    "values that two proofs have together",
    { payloads: [ORDER, put("order.amount", 2)(ANOTHER)] },
    expecting({ ...ID, "/order/amount": 2 }),
  ],
  [
    "another organization beside it",
    { payloads: [ORDER, forgedPayload()] },
    { organizationId: "another", ...expecting(ID) },
  ],
  ["an address that none names beside it", WHOLE, { ...OWN_AND, addresses: [LAB_ADDRESS.address] }],
  [
    "beside an activity, a proof about something else",
    { payloads: [forgedPayload(), ANOTHER] },
    OWN_AND,
    ["app.request"],
    { given: withActivity },
  ],
  ["beside an activity, no proof of the type", {}, OWN_AND, ["app.request"], { given: withActivity }],
  [
    "a member twice",
    text((json) => json.replace('"id":"42"', '"id":"43","id":"42"')),
    expecting(ID),
    ["app.payload", "app.request"],
  ],
  [
    "as expected, with a signature of another key",
    { ...WHOLE, ...appProof({ signer: other }) },
    expecting(ID),
    ["app.signature"],
  ],
  [
    "as expected, by another enclave",
    { ...WHOLE, ...signedBy(other, other.publicKey.subarray(65)) },
    expecting(ID),
    ["app.key"],
  ],
  ["the challenge of somebody else", placed(put("challenge", OTHER_CHALLENGE)), CHALLENGED],
  ["the challenge in another member", placed(drop("challenge"), put("nonce", CHALLENGE)), CHALLENGED],
  ["the challenge in another case", placed(put("challenge", CHALLENGE.toLowerCase())), CHALLENGED],
  ["a challenge of hex in another case", placed(put("challenge", HEX_CHALLENGE.toUpperCase())), HEX_CHALLENGED],
  ["the challenge with more after it", placed(put("challenge", `${CHALLENGE}A`)), CHALLENGED],
  ["the challenge, and another value", placed(put("order.id", "43")), CHALLENGED],
  [
    "an old answer without a time, to another challenge",
    placed(drop("timestampMs"), put("challenge", OTHER_CHALLENGE)),
    CHALLENGED,
    ["app.request"],
    { policy: untimed(TYPE) },
  ],
  ["an old answer beside the new one", { payloads: [ORDER, put("challenge", OTHER_CHALLENGE)(ORDER)] }, CHALLENGED],
  ["as expected, signed before the request", WHOLE, LATER, ["app.time"]],
];

function forgedPayload(): JsonObject {
  return JSON.parse(forge().appProofs[0]!["proofPayload"] as string) as JsonObject;
}

/** Why a proof whose payload has no time, or has one all the same, is refused. */
const times: [name: string, forge: Alterations, policy: JsonObject, fails?: CheckId, judge?: Judgement][] = [
  ["under a policy that names no type", UNTIMED, {}],
  ["without a policy", UNTIMED, {}, "app.payload", { noPolicy: true }],
  ["of a type that the policy does not name", UNTIMED, untimed("ORDER")],
  ["of the type in another case", UNTIMED, untimed("order_placed")],
  ["with a time of null", placed(put("timestampMs", null)), untimed(TYPE)],
  ["with an empty time", placed(put("timestampMs", "")), untimed(TYPE)],
  ["with a time that is a number", placed(put("timestampMs", at.getTime())), untimed(TYPE)],
  ["of no type", placed(drop("timestampMs"), drop("type")), untimed(TYPE)],
  ["of a known type", { payloads: [drop("timestampMs")(forgedPayload())] }, untimed(TYPE)],
  [
    "whose time lies before the boot",
    { generation: "legacy", ...placed(put("timestampMs", "1")) },
    untimed(TYPE),
    "app.time",
    { deployments: LEGACY },
  ],
  [
    "whose time lies in the future",
    placed(put("timestampMs", String(NOW.getTime() + 60_001))),
    untimed(TYPE),
    "app.time",
  ],
  ["under a policy with maxAge", UNTIMED, AGED, "policy.app-proof"],
  [
    "with the challenge, under a policy with maxAge",
    UNTIMED,
    AGED,
    "policy.app-proof",
    { expected: expecting({ "/challenge": CHALLENGE }, "/challenge") },
  ],
  ["where one is required", UNTIMED, REQUIRED, "policy.app-proof"],
  [
    "two of them, where one is required",
    { payloads: [drop("timestampMs")(ORDER), drop("timestampMs")(ANOTHER)] },
    REQUIRED,
    "policy.app-proof",
  ],
];

const mapped = (change: (members: AppProofMembers) => AppProofMembers): Judgement => ({
  given: ({ bootProof, appProofs }) => ({
    bootProofs: [bootProof],
    appProofs: appProofs.map(({ publicKey, proofPayload, signature: signed }) =>
      appProofOf(change({ publicKey, payload: proofPayload, signature: signed } as unknown as AppProofMembers)),
    ),
  }),
});
const renamed = (names: Readonly<Record<string, string>>): Alterations =>
  appProof({
    json: (json) =>
      Object.fromEntries(Object.entries(json).flatMap(([name, value]) => (names[name] ? [[names[name], value]] : []))),
  });
const TEMPLATE = { publicKey: "public_key", proofPayload: "payload", signature: "signature" };

const names: [name: string, forge: Alterations, judge: Judgement, fails: CheckId | readonly CheckId[]][] = [
  ["the template's names in a file", renamed(TEMPLATE), {}, "app.decode"],
  ["the template's names and a scheme", renamed({ ...TEMPLATE, scheme: "scheme" }), {}, "app.decode"],
  [
    "the payload under another name",
    renamed({ scheme: "scheme", publicKey: "publicKey", proofPayload: "payload", signature: "signature" }),
    {},
    "app.decode",
  ],
  [
    "names in another case",
    renamed({ scheme: "Scheme", publicKey: "PublicKey", proofPayload: "ProofPayload", signature: "Signature" }),
    {},
    "app.decode",
  ],
  [
    "the template's payload, mapped",
    placed(drop("type"), drop("timestampMs")),
    mapped((members) => members),
    "app.payload",
  ],
  [
    "mapped, with another payload",
    WHOLE,
    mapped((members) => ({ ...members, payload: "{}" })),
    ["app.payload", "app.signature"],
  ],
  [
    "mapped, with a payload in bytes that are not UTF-8",
    WHOLE,
    mapped((members) => ({ ...members, payload: Uint8Array.of(0xff) })),
    "app.decode",
  ],
  ["mapped, with another scheme", WHOLE, mapped((members) => ({ ...members, scheme: "P256" })), "app.decode"],
];

const attack = (name: string, alter: Alterations, judge: Judgement, fails: readonly CheckId[]): Attack => ({
  name,
  forge: alter,
  judge,
  fails,
});

export const OWN_APPLICATION_ATTACKS: readonly Attack[] = [
  ...keys.map(([name, alter, fails]) => attack(`own application: key, ${name}`, alter, {}, fails)),
  attack(
    "own application: key, the signing half of an enclave that was only set up",
    { generation: "setup", ...asKey(signingHalf) },
    { noPolicy: true },
    ["app.key"],
  ),
  ...Object.entries(malformed).map(([name, alter]) =>
    attack(`own application: signature in DER, ${name}`, alter, {}, ["app.decode"]),
  ),
  ...Object.entries(signatures).map(([name, alter]) =>
    attack(`own application: signature in DER, ${name}`, alter, {}, ["app.signature"]),
  ),
  ...names.map(([name, alter, judge, fails]) => attack(`own application: ${name}`, alter, judge, [fails].flat())),
  ...times.map(([name, alter, policy, fails = "app.payload", judge]) =>
    attack(`own application: untimed, ${name}`, alter, { policy, ...judge }, [fails]),
  ),
  ...differing.map(([name, values, alter = WHOLE]) =>
    attack(`own application: expected payload, ${name}`, alter, { expected: expecting(values) }, ["app.request"]),
  ),
  ...questions.map(([name, alter, expected, fails = ["app.request"], judge]) =>
    attack(`own application: expected payload, ${name}`, alter, { ...judge, expected }, fails),
  ),
];

const meeting: [name: string, values: ExpectedPayload["values"], forge?: Alterations][] = [
  ["of one value", ID],
  ["of every kind", { ...ID, "/order/amount": 1, "/order/paid": true, "/empty": null, "/order/items/2": null }],
  ["with indices", { "/order/items/0": "first", "/order/items/1/sku": "second" }],
  ["with escapes", { "/a~1b": "in a name", "/~0": "tilde", "/~1": "slash", "/~01": "both", "/a/b": "nested" }],
  ["of a member without a name", { "/": "no name" }],
  [
    "with other digits of one number",
    { "/order/amount": 1 },
    text((json) => json.replace(':1,"paid"', ':1.0e0,"paid"')),
  ],
  ["of minus zero", { "/order/amount": 0 }, text((json) => json.replace(':1,"paid"', ':-0,"paid"'))],
  ["with escapes in the signed text", ID, text((json) => json.replace('"42"', '"\\u0034\\u0032"'))],
  [
    "of a member called __proto__",
    { "/__proto__/id": "7" },
    text((json) => json.replace("{", '{"__proto__":{"id":"7"},')),
  ],
  ["of a member called constructor", { "/constructor": "c" }, placed(put("constructor", "c"))],
  ["of a member called 01", { "/order/01": 1 }, placed(put("order.01", 1))],
  ["of its type", { "/type": TYPE }],
];

export const OWN_APPLICATION_ACCEPTED: readonly Accepted[] = [
  ...named<Accepted>({
    "own application: the signing half as key": { forge: asKey(signingHalf) },
    "own application: the signing half as key, of a legacy enclave": {
      forge: { generation: "legacy", ...asKey(signingHalf) },
      judge: { deployments: LEGACY },
      warns: ["bind.commitment", "policy.scope"],
    },
    "own application: a signature in DER": { forge: signature((message) => inDer(qosSign(own, message))) },
    "own application: the signing half as key, a signature in DER": {
      forge: appProof({
        json: (json) => ({
          ...json,
          publicKey: hex(signingHalf),
          signature: hex(inDer(qosSign(own, toUtf8(json["proofPayload"] as string)))),
        }),
      }),
    },
  }),
  ...(["high", "low"] as const).map((half): Accepted => ({
    name: `own application: a signature in DER with a ${half} S`,
    forge: signature((message) => inDer(withS(half, qosSign(own, message)))),
  })),
  ...named<Accepted>({
    "own application: a signature in DER of 71 bytes or more": {
      forge: encoded((r, s) => inDer(concatBytes(r, s)), true),
    },
    "own application: key and signature in upper case": {
      forge: appProof({
        json: (json) => ({
          ...json,
          publicKey: hex(signingHalf).toUpperCase(),
          signature: hex(signDer(own.signing, "sha256", toUtf8(json["proofPayload"] as string))).toUpperCase(),
        }),
      }),
    },
    "own application: the template's members, mapped": { forge: WHOLE, judge: mapped((members) => members) },
    "own application: members in bytes, mapped": {
      forge: WHOLE,
      judge: mapped(({ publicKey, payload, signature: signed }) => ({
        publicKey: Buffer.from(publicKey as string, "hex"),
        payload: toUtf8(payload as string),
        signature: Buffer.from(signed as string, "hex"),
      })),
    },
  }),
  ...meeting.map(([name, values, alter = WHOLE]): Accepted => ({
    name: `own application: expected payload ${name}`,
    forge: alter,
    judge: { expected: expecting(values) },
  })),
  ...named<Accepted>({
    "own application: an expected challenge": { forge: WHOLE, judge: { expected: CHALLENGED } },
    "own application: an expected challenge of hex": {
      forge: placed(put("challenge", HEX_CHALLENGE)),
      judge: { expected: HEX_CHALLENGED },
    },
    "own application: expected payloads, each met by a proof of its own": {
      forge: { payloads: [ORDER, ANOTHER] },
      judge: { expected: both({ type: TYPE, values: { "/order/id": "43" } }) },
    },
    "own application: an expected payload beside a proof of a type that no expectation names": {
      forge: { payloads: [ORDER, forgedPayload()] },
      judge: { expected: expecting(ID) },
      skips: ["app.request"],
    },
    "own application: an expected payload beside an address of the expected organization": {
      forge: { payloads: [ORDER, forgedPayload()] },
      judge: { expected: { ...ORGANIZATION, addresses: [LAB_ADDRESS.address], ...expecting(ID) } },
    },
    "own application: an expected payload beside an activity": {
      forge: { payloads: [forgedPayload(), ORDER] },
      judge: { given: withActivity, expected: { ...ORGANIZATION, ...expecting(ID) } },
      skips: ["app.request"],
    },
    "own application: untimed, of a type that the policy names": {
      forge: UNTIMED,
      judge: { policy: untimed(TYPE) },
      warns: ["app.time"],
    },
    "own application: untimed, as expected, but without a challenge": {
      forge: UNTIMED,
      judge: { policy: untimed(TYPE), expected: expecting(ID) },
      warns: ["app.time"],
    },
    "own application: untimed, with the expected challenge": {
      forge: UNTIMED,
      judge: { policy: untimed(TYPE), expected: expecting({ "/challenge": CHALLENGE }, "/challenge") },
      skips: ["app.time"],
    },
    "own application: untimed, with a time deeper inside": {
      forge: placed(drop("timestampMs"), put("order.timestampMs", "1")),
      judge: { policy: { appProofs: { untimed: [TYPE], types: [TYPE] } } },
      warns: ["app.time"],
    },
    "own application: untimed, beside the required one that has a time": {
      forge: { payloads: [drop("timestampMs")(ORDER), ANOTHER] },
      judge: { policy: REQUIRED },
      warns: ["app.time"],
    },
    "own application: a time all the same, of a type that may have none": {
      forge: WHOLE,
      judge: { policy: { appProofs: { untimed: [TYPE], required: true, maxAge: "1d" } } },
    },
  }),
];
