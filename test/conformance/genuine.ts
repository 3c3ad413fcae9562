/**
 * Cases of genuine evidence, under the AWS root: as it was found, held against other questions and policies than it
 * answers, and changed. Another verifier, whose root is built in, can be held against these.
 */
import { concatBytes, fromBase64, fromHex, toBase64, toHex, toUtf8 } from "../../src/bytes.js";
import type { CheckId } from "../../src/checks.js";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import type { Expected } from "../../src/index.js";
import { decodeAttestationDocument, decodeManifest } from "../../src/decode/index.js";
import { manifestHash } from "../../src/lab/qos.js";
import { drop, flip, put } from "../attacks/support.js";
import { withS } from "../support/high-s.js";
import { documentVectors, readVector, readVectorJson, readVectorText } from "../support/vectors.js";
import type { Case, CaseInput, Category, Origin } from "./case.js";
import { derInteger, derSequence } from "../support/der.js";

const AWS_ROOT = readVectorText("trust-anchors/aws_root_cert.pem");
const bootFile = (name: string): string => `boot-proofs/${name}.json`;
const boot = (name: string): JsonObject => readVectorJson(bootFile(name));
const [boot1, boot2, staging] = [boot("bootproof-1"), boot("bootproof-2"), boot("staging-signer-20260702")];
const [setup, provisioning] = [boot("tvc-provisioning-20260630"), boot("tvc-provisioning-20260422")];
const [app1, app2] = [boot("appproof-1"), boot("appproof-2")];
const PAIR = [bootFile("bootproof-1"), bootFile("appproof-1")];
const BOTH = [...PAIR, bootFile("bootproof-2"), bootFile("appproof-2")];
/** A day after the captured pairs. */
const NOW = new Date("2025-09-17T21:00:00.000Z");
const IN_2026 = new Date("2026-07-03T00:00:00.000Z");
const text = (json: JsonObject, name: string): string => json[name] as string;
const bytesIn = (json: JsonObject, name: string): Uint8Array => fromBase64(text(json, name))!;
const DOCUMENT = "awsAttestationDocB64";
const [KEY, MANIFEST, ENVELOPE] = ["ephemeralPublicKeyHex", "qosManifestB64", "qosManifestEnvelopeB64"];
const key1 = fromHex(text(boot1, KEY!))!;
const [WALLET1, WALLET2] = [app1, app2].map(
  (proof) =>
    (JSON.parse(text(proof, "proofPayload")) as { addressDerivationProof: Record<string, string> })
      .addressDerivationProof,
) as [Record<string, string>, Record<string, string>];

type Failed = readonly CheckId[];
type Change = (json: JsonObject) => unknown;
type DocumentChange = (document: Uint8Array) => Uint8Array;
interface Row {
  readonly category?: Category;
  readonly origin?: Origin;
  readonly from?: readonly string[];
  readonly input?: Partial<CaseInput>;
}

/** The first captured pair, but for what the row says; with no policy. Accepted where nothing is to fail. */
function pair(name: string, failed: Failed, { category = "boot-proof", origin, from = PAIR, input }: Row): Case {
  const policy = input?.policy ?? null;
  const good = policy === null ? "authentic" : "verified";
  return {
    name: failed.length === 0 ? `accepted: genuine: ${name}` : `genuine: ${name}`,
    category,
    origin: origin ?? "altered",
    from,
    failed,
    verdict: failed.length === 0 ? good : "rejected",
    make: () => ({ bootProofs: [boot1], appProofs: [app1], policy, anchorPem: AWS_ROOT, now: NOW, ...input }),
  };
}

/** Rows that fail in the same checks. */
const fails = <T>(failed: Failed, rows: Readonly<Record<string, T>>): [name: string, row: T, failed: Failed][] =>
  Object.entries(rows).map(([name, row]) => [name, row, failed]);

const bootChanges: [name: string, change: Change, failed: Failed][] = [
  ...[KEY!, DOCUMENT, MANIFEST!, ENVELOPE!].map((name): [string, Change, Failed] => [
    `no ${name}`,
    drop(name),
    ["boot.decode"],
  ]),
  ...fails<Change>(["boot.decode"], {
    "a line break in the document's base64": base64((value) => `${value.slice(0, 64)}\n${value.slice(64)}`),
    "the manifest's base64 without padding": put(MANIFEST!, text(boot1, MANIFEST!).replace(/=+$/, "")),
    "a space after the document's base64": base64((value) => `${value} `),
    "a line break in the manifest's base64": (json) =>
      put(MANIFEST!, `${text(json, MANIFEST!).slice(0, 64)}\n${text(json, MANIFEST!).slice(64)}`)(json),
    "0x before the key": put(KEY!, `0x${text(boot1, KEY!)}`),
  }),
  ["the key in upper case", put(KEY!, text(boot1, KEY!).toUpperCase()), []],
  ["the key's halves exchanged", put(KEY!, toHex(concatBytes(key1.subarray(65), key1.subarray(0, 65)))), ["bind.key"]],
  ["the signing half of the key alone", put(KEY!, toHex(key1.subarray(65))), ["bind.key"]],
  ["the key of another enclave beside the document", put(KEY!, text(boot2, KEY!)), ["bind.key"]],
  ["a member twice", (json) => JSON.stringify(json).replace("{", '{"owner":"mallory",'), ["boot.decode"]],
  ["text after the JSON", (json) => `${JSON.stringify(json)}x`, ["boot.decode"]],
  ["a byte order mark", (json) => `\ufeff${JSON.stringify(json)}`, ["boot.decode"]],
  ["an empty object", () => ({}), ["boot.decode"]],
  ...fails<Change>([], {
    "with white space": (json) => JSON.stringify(json, null, 4),
    "in its wrapper": (json) => ({ bootProof: json }),
    "a member that the interface does not name": put("region", "us-east-1"),
    "without the members that nobody signed": (json) =>
      without(json, "owner", "deploymentLabel", "enclaveApp", "createdAt"),
    "the document under its newer name": (json) => ({
      ...without(json, DOCUMENT),
      cloudAttestationDocB64: json[DOCUMENT],
    }),
    "the document under both names": (json) => ({ ...json, cloudAttestationDocB64: json[DOCUMENT] }),
  }),
  [
    "different documents under the two names",
    (json) => ({ ...json, cloudAttestationDocB64: boot2[DOCUMENT] }),
    ["boot.decode"],
  ],
  ["version v0 declared", put("qosManifestVersion", "v0"), []],
  ["version v1 declared", put("qosManifestVersion", "v1"), ["manifest.decode", "envelope.decode"]],
  ["version v2 declared", put("qosManifestVersion", "v2"), ["manifest.decode", "envelope.decode"]],
  ["an empty manifest", put(MANIFEST!, ""), ["manifest.decode"]],
  [
    "a byte after the manifest",
    inBytes(MANIFEST!, (bytes) => concatBytes(bytes, Uint8Array.of(0))),
    ["manifest.decode"],
  ],
  ["the manifest cut off", inBytes(MANIFEST!, (bytes) => bytes.subarray(0, -1)), ["manifest.decode"]],
  [
    "another nonce in the manifest",
    inBytes(MANIFEST!, (bytes) => flip(bytes, 18)),
    ["envelope.manifest", "bind.user-data"],
  ],
  [
    "another binary in manifest and envelope",
    (json) => inBytes(MANIFEST!, otherBinary)(inBytes(ENVELOPE!, otherBinary)(json)),
    ["envelope.approvals", "bind.user-data"],
  ],
  [
    "another operator's manifest",
    put(MANIFEST!, text(staging, MANIFEST!)),
    ["envelope.manifest", "bind.user-data", "bind.pcrs"],
  ],
  ["an empty envelope", put(ENVELOPE!, ""), ["envelope.decode"]],
  ["the manifest in place of its envelope", (json) => put(ENVELOPE!, text(json, MANIFEST!))(json), ["envelope.decode"]],
  [
    "a byte after the envelope",
    inBytes(ENVELOPE!, (bytes) => concatBytes(bytes, Uint8Array.of(0))),
    ["envelope.decode"],
  ],
  ["the envelope cut off", inBytes(ENVELOPE!, (bytes) => bytes.subarray(0, -1)), ["envelope.decode"]],
  ["an envelope without approvals", (json) => put(ENVELOPE!, noApprovals(json))(json), ["envelope.approvals"]],
  [
    "a bit of an approval turned over",
    inBytes(ENVELOPE!, (bytes) => flip(bytes, bytesIn(boot1, MANIFEST!).length + 8)),
    ["envelope.approvals"],
  ],
  ["another operator's envelope", put(ENVELOPE!, text(staging, ENVELOPE!)), ["envelope.manifest"]],
];

/** After the manifest's own bytes, two empty lists: who approved it, and who shares the key. */
function noApprovals(json: JsonObject): string {
  return toBase64(concatBytes(bytesIn(json, MANIFEST!), new Uint8Array(8)));
}

function otherBinary(bytes: Uint8Array): Uint8Array {
  return flip(bytes, 4 + "preprod/signer".length + 4 + 4 + 130);
}

function without(json: JsonObject, ...names: string[]): JsonObject {
  return names.reduce((left, name) => drop(name)(left), json);
}

function base64(change: (value: string) => string): (json: JsonObject) => JsonObject {
  return (json) => put(DOCUMENT, change(text(json, DOCUMENT)))(json);
}

function inBytes(name: string, change: (bytes: Uint8Array) => Uint8Array): (json: JsonObject) => JsonObject {
  return (json) => put(name, toBase64(change(bytesIn(json, name))))(json);
}

/** The genuine COSE_Sign1: four items, with heads of the lengths that its producer writes. */
interface Cose {
  readonly start: Uint8Array;
  readonly header: Uint8Array;
  readonly unprotected: Uint8Array;
  readonly payloadHead: Uint8Array;
  readonly payload: Uint8Array;
  readonly signatureHead: Uint8Array;
  readonly signature: Uint8Array;
  readonly end: Uint8Array;
}

const hex = (digits: string): Uint8Array => fromHex(digits)!;

function taken(cose: Uint8Array): Cose {
  const signatureAt = cose.length - 96;
  const parts = {
    start: cose.subarray(0, 1),
    header: cose.subarray(1, 6),
    unprotected: cose.subarray(6, 7),
    payloadHead: cose.subarray(7, 10),
    payload: cose.subarray(10, signatureAt - 2),
    signatureHead: cose.subarray(signatureAt - 2, signatureAt),
    signature: cose.subarray(signatureAt),
    end: new Uint8Array(),
  };
  if (toHex(parts.header) !== "44a1013822" || toHex(parts.signatureHead) !== "5860")
    throw new RangeError("the document is encoded in another way");
  return parts;
}

const together = (cose: Cose): Uint8Array => concatBytes(...Object.values(cose));
const recose =
  (change: (cose: Cose) => Partial<Cose>) =>
  (document: Uint8Array): Uint8Array => {
    const parts = taken(document);
    return together({ ...parts, ...change(parts) });
  };
/** One bit turned over in what stands there of the payload. */
const inPayload =
  (wanted: (document: Uint8Array) => Uint8Array) =>
  (document: Uint8Array): Uint8Array => {
    const value = wanted(document);
    const at = Buffer.from(document).indexOf(value);
    if (at < 0) throw new RangeError("the bytes do not stand there");
    return flip(document, at + value.length - 1);
  };
const fieldsOf = decodeAttestationDocument;
const signatureOf = (change: (signature: Uint8Array) => Uint8Array): ((document: Uint8Array) => Uint8Array) =>
  recose(({ signature }) => ({ signature: change(signature) }));
const wholeNumber = (half: Uint8Array): Uint8Array => derInteger(half);
const inDer = (signature: Uint8Array): Uint8Array =>
  derSequence(wholeNumber(signature.subarray(0, 48)), wholeNumber(signature.subarray(48)));

/** With the ids that fail of the document; `bound` fails too in a boot proof, where more is held against it. */
const documentChanges: [name: string, change: DocumentChange, failed: Failed, bound?: Failed][] = [
  ["tag 18 around it", recose(() => ({ start: hex("d284") })), []],
  ["a high S", signatureOf((signature) => withS("high", signature)), []],
  ["a low S", signatureOf((signature) => withS("low", signature)), []],
  ...fails<DocumentChange>(["cose.structure"], {
    "a byte after the end": recose(() => ({ end: hex("00") })),
    "the last byte cut off": (document) => document.subarray(0, -1),
    "tag 17, a COSE_Mac0": recose(() => ({ start: hex("d184") })),
    "tag 98, a COSE_Sign": recose(() => ({ start: hex("d86284") })),
    "tag 18 twice": recose(() => ({ start: hex("d2d284") })),
    "tag 18 in a longer head than needed": recose(() => ({ start: hex("d81284") })),
    "an array whose head is longer than needed": recose(() => ({ start: hex("9804") })),
    "an array of indefinite length": recose(() => ({ start: hex("9f"), end: hex("ff") })),
    "five items": recose(() => ({ start: hex("85"), end: hex("00") })),
    "the signature left out": recose(() => ({ start: hex("83"), signatureHead: hex(""), signature: hex("") })),
    "the protected header's head longer than needed": recose(() => ({ header: hex("5804a1013822") })),
    "the protected header in chunks": recose(() => ({ header: hex("5f44a1013822ff") })),
    "the unprotected header of indefinite length": recose(() => ({ unprotected: hex("bfff") })),
    "the unprotected header null": recose(() => ({ unprotected: hex("f6") })),
    "the unprotected header an array": recose(() => ({ unprotected: hex("80") })),
    "an unprotected header key twice": recose(() => ({ unprotected: hex("a2044161044162") })),
    "the payload's head longer than needed": recose(({ payloadHead }) => ({
      payloadHead: concatBytes(hex("5a0000"), payloadHead.subarray(1)),
    })),
    "the payload in chunks": recose(({ payloadHead }) => ({
      payloadHead: concatBytes(hex("5f"), payloadHead),
      signatureHead: hex("ff5860"),
    })),
    "the payload detached": recose(() => ({ payloadHead: hex("f6"), payload: hex("") })),
    "the signature's head longer than needed": recose(() => ({ signatureHead: hex("590060") })),
  }),
  ["a key id in the unprotected header", recose(() => ({ unprotected: hex("a104416b") })), ["cose.algorithm"]],
  ["another algorithm in the unprotected header", recose(() => ({ unprotected: hex("a10126") })), ["cose.algorithm"]],
  [
    "a certificate chain in the unprotected header",
    recose(() => ({ unprotected: hex("a118214130") })),
    ["cose.algorithm"],
  ],
  ["ES256 in the protected header", recose(() => ({ header: hex("43a10126") })), ["cose.algorithm", "cose.signature"]],
  ["an empty protected header", recose(() => ({ header: hex("40") })), ["cose.algorithm", "cose.signature"]],
  ...fails<DocumentChange>(["cose.signature"], {
    "a bit of r turned over": signatureOf((signature) => flip(signature, 0)),
    "a bit of s turned over": signatureOf((signature) => flip(signature)),
    "r and s exchanged": signatureOf((signature) => concatBytes(signature.subarray(48), signature.subarray(0, 48))),
    "a signature of zeros": signatureOf(() => new Uint8Array(96)),
    "a signature in DER": recose(({ signature }) => {
      const der = inDer(signature);
      return { signatureHead: Uint8Array.of(0x58, der.length), signature: der };
    }),
    "another module_id": inPayload((document) => toUtf8(fieldsOf(document).moduleId)),
  }),
  ["another PCR0", inPayload((document) => fieldsOf(document).pcrs.get(0)!), ["cose.signature"], ["bind.pcrs"]],
  ["another PCR3", inPayload((document) => fieldsOf(document).pcrs.get(3)!), ["cose.signature"], ["bind.pcrs"]],
  [
    "another root in the list of certificates",
    inPayload((document) => fieldsOf(document).cabundle[0]!.der),
    ["cose.signature", "chain.anchor"],
  ],
  [
    "another signature of the instance's certificate",
    inPayload((document) => fieldsOf(document).cabundle.at(-1)!.der),
    ["cose.signature", "chain.signature"],
  ],
  [
    "another signature of the leaf",
    inPayload((document) => fieldsOf(document).certificate.der),
    ["cose.signature", "chain.signature"],
  ],
];

const otherDocument: [name: string, change: DocumentChange, failed: Failed][] = [
  ["another user_data", inPayload((document) => fieldsOf(document).userData!), ["cose.signature", "bind.user-data"]],
  [
    "another public_key",
    inPayload((document) => fieldsOf(document).publicKey!),
    ["cose.signature", "bind.key", "app.key"],
  ],
  ["of another enclave of the same deployment", () => bytesIn(boot2, DOCUMENT), ["bind.key", "app.key"]],
  [
    "of another operator's enclave",
    () => bytesIn(staging, DOCUMENT),
    ["doc.time", "bind.user-data", "bind.pcrs", "bind.key", "app.key"],
  ],
];

const bootProofs: Case[] = [
  ...bootChanges.map(([name, change, failed]) =>
    pair(`boot proof, ${name}`, failed, { input: { bootProofs: [change(boot1)] } }),
  ),
  ...[...documentChanges, ...otherDocument].map(([name, change, failed, bound = []]) =>
    pair(`document in a boot proof, ${name}`, [...failed, ...bound], {
      input: { bootProofs: [inBytes(DOCUMENT, change as (bytes: Uint8Array) => Uint8Array)(boot1)] },
    }),
  ),
  ...(
    [
      ["live, of 2026", staging, "staging-signer-20260702"],
      ["of an enclave's setup, of 2026", setup, "tvc-provisioning-20260630"],
      ["provisioning, of April 2026", provisioning, "tvc-provisioning-20260422"],
      ["six members, as a deployed service sends them", boot("six-members"), "six-members"],
    ] as const
  ).map(([name, value, file]) =>
    pair(`boot proof ${name}`, [], {
      origin: "genuine",
      from: [bootFile(file)],
      input: { bootProofs: [value], appProofs: [], now: IN_2026 },
    }),
  ),
];

const payload1 = text(app1, "proofPayload");
const signature1 = fromHex(text(app1, "signature"))!;
const payload = (change: (value: string) => string): Change => put("proofPayload", change(payload1));
const signed = (change: (signature: Uint8Array) => Uint8Array): Change => put("signature", toHex(change(signature1)));
const appKey = toHex(concatBytes(key1.subarray(65), key1.subarray(0, 65)));

const appChanges: [name: string, change: Change, failed: Failed][] = [
  ["as it was found", (json) => json, []],
  ["with white space", (json) => JSON.stringify(json, null, 2), []],
  ["the key in upper case", put("publicKey", text(app1, "publicKey").toUpperCase()), []],
  ["the signature in upper case", put("signature", text(app1, "signature").toUpperCase()), []],
  ["a high S", signed((signature) => withS("high", signature)), []],
  ["a low S", signed((signature) => withS("low", signature)), []],
  ["a member more", put("note", "x"), []],
  ...["scheme", "publicKey", "proofPayload", "signature"].map((name): [string, Change, Failed] => [
    `no ${name}`,
    drop(name),
    ["app.decode"],
  ]),
  ["another scheme", put("scheme", "SIGNATURE_SCHEME_TK_API_P256"), ["app.decode"]],
  ["a member twice", (json) => JSON.stringify(json).replace("{", '{"scheme":"x",'), ["app.decode"]],
  ["text after the JSON", (json) => `${JSON.stringify(json)} x`, ["app.decode"]],
  ["an array of it", (json) => [json], ["app.decode"]],
  ["0x before the signature", put("signature", `0x${text(app1, "signature")}`), ["app.decode"]],
  ["a signature of 63 bytes", signed((signature) => signature.subarray(1)), ["app.decode"]],
  ["a signature of 65 bytes", signed((signature) => concatBytes(signature, hex("00"))), ["app.decode"]],
  ...fails<Change>(["app.signature"], {
    "a bit of r turned over": signed((signature) => flip(signature, 0)),
    "a bit of s turned over": signed((signature) => flip(signature)),
    "r and s exchanged": signed((signature) => concatBytes(signature.subarray(32), signature.subarray(0, 32))),
    "a signature of zeros": signed(() => new Uint8Array(64)),
    "the signature of another proof": put("signature", text(app2, "signature")),
    "the payload of another proof": put("proofPayload", text(app2, "proofPayload")),
    "another address": payload((value) => value.replace(WALLET1["address"]!, WALLET2["address"]!)),
    "another organization": payload((value) => value.replace(/"organizationId":"[^"]*"/, '"organizationId":"x"')),
    "a space after the payload": payload((value) => `${value} `),
  }),
  ["the key of another enclave", put("publicKey", text(app2, "publicKey")), ["app.signature", "app.key"]],
  ["the key's halves exchanged", put("publicKey", appKey), ["app.signature", "app.key"]],
];

const appProofs: Case[] = [
  ...appChanges.map(([name, change, failed]) =>
    pair(`app proof, ${name}`, failed, {
      category: "app-proof",
      origin: name === "as it was found" ? "genuine" : "altered",
      input: { appProofs: [change(app1)] },
    }),
  ),
  pair("the second captured pair", [], {
    category: "app-proof",
    origin: "genuine",
    from: BOTH.slice(2),
    input: { bootProofs: [boot2], appProofs: [app2] },
  }),
  ...(
    [
      ["both pairs, in turned order", [boot1, boot2], [app2, app1], []],
      ["app proof 2 under boot proof 1", [boot1], [app2], ["app.key"]],
      ["app proof 1 under boot proof 2", [boot2], [app1], ["app.key"]],
      ["two app proofs, the boot proof of one left out", [boot1], [app1, app2], ["app.key"]],
      ["an app proof under another operator's boot proof", [staging], [app1], ["doc.time", "app.key"]],
      ["an app proof without a boot proof", [], [app1], ["app.key"]],
    ] as const
  ).map(([name, bootProofs, appProofs, failed]) =>
    pair(name, failed, { category: "app-proof", origin: "genuine", from: BOTH, input: { bootProofs, appProofs } }),
  ),
];

const mine: Expected = { organizationId: WALLET1["organizationId"]! };
const MADE = 1758058763571;
/** Genuine evidence, held against what its reader asked. */
const questions: [name: string, input: Partial<CaseInput>, failed: Failed][] = [
  ["of the organization that was asked for", { question: mine }, []],
  ["of the address that was asked for", { question: { ...mine, addresses: [WALLET1["address"]!] } }, []],
  ...fails<Partial<CaseInput>>(["app.request"], {
    "of another organization than was asked for": { question: { organizationId: WALLET2["organizationId"]! } },
    "of another wallet's address than was asked for": { question: { ...mine, addresses: [WALLET2["address"]!] } },
    "another organization's pair, genuine and whole": { bootProofs: [boot2], appProofs: [app2], question: mine },
    "one's own proof, and another organization's": {
      bootProofs: [boot1, boot2],
      appProofs: [app1, app2],
      question: mine,
    },
    "no proof of the address that was asked for": {
      appProofs: [],
      question: { ...mine, addresses: [WALLET1["address"]!] },
    },
  }),
  ["made after the request", { question: { ...mine, requestedAt: new Date(MADE - 1000) } }, []],
  ["made a day before the request", { question: { ...mine, requestedAt: new Date(MADE + 86_400_000) } }, ["app.time"]],
  ["made a minute before the request", { question: { ...mine, requestedAt: new Date(MADE + 60_000) } }, []],
  ["of the future, where the clock is an hour behind", { now: new Date(MADE - 3_600_000) }, ["doc.time", "app.time"]],
  ["the key that was asked for", { ephemeralKey: key1 }, []],
  ["another key than was asked for", { ephemeralKey: fromHex(text(boot2, KEY!))! }, ["bind.key"]],
  ["no nonce, where one was asked for", { nonce: Uint8Array.of(1, 2, 3, 4) }, ["bind.nonce"]],
  ["certificates that are over now", { at: "now" }, ["chain.validity"]],
  ["certificates that were not yet valid then", { at: new Date("2025-09-01T00:00:00Z") }, ["chain.validity"]],
  ["certificates at a moment when they were valid", { at: new Date("2025-09-16T21:30:00Z") }, []],
  ["the image that was given", { measurements: imageOf(boot1) }, []],
  ["another image than was given", { measurements: imageOf(staging) }, ["bind.image"]],
  ["debug mode allowed, and none there", { allowDebug: true }, []],
];

function imageOf(json: JsonObject): Record<number, Uint8Array> {
  const { pcrs } = fieldsOf(bytesIn(json, DOCUMENT in json ? DOCUMENT : "cloudAttestationDocB64"));
  return Object.fromEntries([0, 1, 2].map((index) => [index, pcrs.get(index)!]));
}

/** Nobody signs an activity: this one was put together around the first app proof. */
const activity: JsonObject = {
  id: "0192f3c1-7b1e-7c55-8f4e-2f1d5c9a6b10",
  organizationId: WALLET1["organizationId"]!,
  status: "ACTIVITY_STATUS_COMPLETED",
  type: "ACTIVITY_TYPE_CREATE_WALLET",
  intent: {
    createWalletIntent: {
      walletName: "w",
      accounts: [
        {
          curve: "CURVE_SECP256K1",
          pathFormat: "PATH_FORMAT_BIP32",
          path: WALLET1["derivationPath"]!,
          addressFormat: "ADDRESS_FORMAT_ETHEREUM",
        },
      ],
    },
  },
  result: { createWalletResult: { walletId: WALLET1["walletId"]!, addresses: [WALLET1["address"]!] } },
  appProofs: [app1],
};
const IN_RESULT = "result.createWalletResult";
const intent = activity["intent"] as Record<string, JsonObject>;

const activities: [name: string, change: Change, failed: Failed, input?: Partial<CaseInput>][] = [
  ["around a genuine app proof", (json) => json, []],
  ["in its wrapper", (json) => ({ activity: json }), []],
  ["the address in lower case", put(`${IN_RESULT}.addresses.0`, WALLET1["address"]!.toLowerCase()), []],
  ["a second address, which nothing backs", put(`${IN_RESULT}.addresses.1`, WALLET2["address"]!), []],
  [
    "of the organization, type, id and parameters that were asked for",
    (json) => json,
    [],
    {
      question: {
        ...mine,
        id: text(activity, "id"),
        type: text(activity, "type"),
        parameters: intent["createWalletIntent"]!,
        requestedAt: new Date(MADE - 1000),
        addresses: [WALLET1["address"]!],
      },
    },
  ],
  ["another organization", put("organizationId", WALLET2["organizationId"]!), ["activity.claims"]],
  ["another wallet", put(`${IN_RESULT}.walletId`, WALLET2["walletId"]!), ["activity.claims"]],
  ["another address", put(`${IN_RESULT}.addresses.0`, WALLET2["address"]!), ["activity.claims"]],
  [
    "another path in the request",
    put("intent.createWalletIntent.accounts.0.path", "m/44'/60'/0'/0/1"),
    ["activity.claims"],
  ],
  [
    "the app proof of another wallet",
    put("appProofs", [app2 as JsonValue]),
    ["activity.claims"],
    { bootProofs: [boot1, boot2] },
  ],
  ["the app proof of another wallet, whose boot proof is left out", put("appProofs", [app2 as JsonValue]), ["app.key"]],
  ["an app proof with a bit turned over", put("appProofs.0.signature", toHex(flip(signature1))), ["app.signature"]],
  ["no app proof", put("appProofs", []), ["activity.decode"]],
  ["no result", drop("result"), ["activity.decode"]],
  ["a member twice", (json) => JSON.stringify(json).replace("{", '{"id":"x",'), ["activity.decode"]],
  ["an app proof in place of the activity", () => app1, ["activity.decode"]],
  [
    "of another organization than was asked for",
    (json) => json,
    ["activity.request"],
    { question: { organizationId: "x" } },
  ],
  ["of another id than was asked for", (json) => json, ["activity.request"], { question: { ...mine, id: "x" } }],
  [
    "of another type than was asked for",
    (json) => json,
    ["activity.request"],
    { question: { ...mine, type: "ACTIVITY_TYPE_CREATE_POLICY_V3" } },
  ],
  [
    "of another wallet name than was asked for",
    (json) => json,
    ["activity.request"],
    { question: { ...mine, parameters: { ...intent["createWalletIntent"]!, walletName: "v" } } },
  ],
  [
    "that another organization's wallet answers",
    (json) => put("organizationId", WALLET2["organizationId"]!)(otherResult(json)),
    ["activity.request"],
    { bootProofs: [boot2], question: mine },
  ],
];

function otherResult(json: JsonObject): JsonObject {
  const result = { createWalletResult: { walletId: WALLET2["walletId"]!, addresses: [WALLET2["address"]!] } };
  return { ...json, result, appProofs: [app2] };
}

const asked: Case[] = [
  ...questions.map(([name, input, failed]) =>
    pair(`asked, ${name}`, failed, {
      category: failed.some((id) => id.startsWith("app.")) || input.question ? "app-proof" : "boot-proof",
      origin: "genuine",
      from: input.bootProofs === undefined ? PAIR : BOTH,
      input,
    }),
  ),
  ...activities.map(([name, change, failed, input]) =>
    pair(`activity, ${name}`, failed, {
      category: "activity",
      from: PAIR,
      input: { appProofs: [], activity: change(activity), ...input },
    }),
  ),
];

/** What pins the captured pairs, of one deployment: their manifest, image, program, people and place. */
const pinned = pinsOf(boot1);
const policyOf = (deployment: JsonObject | JsonObject[], more: JsonObject = {}): JsonObject => ({
  policy: "bootproof/1",
  name: "the captured pairs",
  trustAnchors: ["aws-nitro-root-g1"],
  deployments: [deployment].flat(),
  ...more,
});

function pinsOf(json: JsonObject, commitment = "legacy"): JsonObject {
  const { namespace, pivot, enclave, manifestSet, shareSet, ...rest } = decodeManifest(bytesIn(json, MANIFEST!));
  const set = ({ threshold, members }: typeof manifestSet): JsonObject => ({
    threshold,
    members: members.map(({ pubKey }) => toHex(pubKey)),
  });
  const whole = { namespace, pivot, enclave, manifestSet, shareSet, ...rest } as Parameters<typeof manifestHash>[0];
  const pcrs = [enclave.pcr0, enclave.pcr1, enclave.pcr2, enclave.pcr3];
  return {
    name: "pinned",
    pcrs: Object.fromEntries(pcrs.map((value, index) => [index, toHex(value)])),
    manifestHash: toHex(manifestHash(whole)),
    pivotHash: toHex(pivot!.hash),
    namespace: namespace.name,
    minNonce: namespace.nonce,
    quorumKey: toHex(namespace.quorumKey),
    manifestSet: set(manifestSet),
    shareSet: set(shareSet),
    commitment,
  };
}

const OTHER_PCR = "ab".repeat(48);
const pins: [name: string, path: string, value: JsonValue, failed: CheckId][] = [
  ...[0, 1, 2, 3].map((index): [string, string, JsonValue, CheckId] => [
    `another PCR${index}`,
    `pcrs.${index}`,
    OTHER_PCR,
    "policy.pcrs",
  ]),
  ["another manifest", "manifestHash", "ab".repeat(32), "policy.manifest-hash"],
  ["another binary", "pivotHash", "ab".repeat(32), "policy.pivot"],
  ["another namespace", "namespace", "prod/signer", "policy.namespace"],
  ["a newer manifest", "minNonce", 1_000_000_000, "policy.nonce"],
  ["another quorum key", "quorumKey", text(boot2, KEY!), "policy.quorum-key"],
  ["a member more in the manifest set", "manifestSet", oneMore("manifestSet"), "policy.manifest-set"],
  ["a member more in the share set", "shareSet", oneMore("shareSet"), "policy.share-set"],
  ["a live commitment", "commitment", "live", "policy.commitment"],
  ["other arguments", "pivotArgs", ["--debug"], "policy.args"],
  ["another label", "labels", { enclaveApp: "notary" }, "policy.labels"],
];

function oneMore(name: "manifestSet" | "shareSet"): JsonObject {
  const set = pinned[name] as { readonly members: string[]; readonly threshold: number };
  return { threshold: set.threshold, members: [...set.members, text(boot2, KEY!)] };
}

const ADDRESS = "APP_PROOF_TYPE_ADDRESS_DERIVATION";
const least = (json: JsonObject): JsonObject => ({
  pcrs: pinsOf(json)["pcrs"]!,
  manifestHash: pinsOf(json)["manifestHash"]!,
  commitment: "legacy",
});
const policies: [name: string, policy: JsonObject, failed: Failed, input?: Partial<CaseInput>][] = [
  ["everything pinned", policyOf(pinned), []],
  ["everything pinned, the second pair", policyOf(pinned), [], { bootProofs: [boot2], appProofs: [app2] }],
  ...fails<JsonObject>([], {
    "PCR0 to PCR3 and the manifest": policyOf(least(boot1)),
    "the manifest alone": policyOf({ manifestHash: pinned["manifestHash"]!, commitment: "legacy" }),
    "PCR0 to PCR3 and one of two manifests": policyOf({
      ...least(boot1),
      manifestHash: ["ab".repeat(32), pinned["manifestHash"]!],
    }),
    "hex in upper case": policyOf({ ...least(boot1), manifestHash: (pinned["manifestHash"] as string).toUpperCase() }),
    "two deployments, the second one matches": policyOf([
      { ...least(staging), name: "other" },
      { ...pinned, appProofs: { types: [ADDRESS] } },
    ]),
    "app proofs of the type that is allowed": policyOf(pinned, { appProofs: { types: [ADDRESS], required: true } }),
    "labels as they are": policyOf({ ...pinned, labels: { owner: "tkhq", enclaveApp: "signer" } }),
    "as old as allowed": policyOf(pinned, { maxAge: "2d" }),
  }),
  ...pins.map(([name, path, value, failed]): [string, JsonObject, Failed] => [
    `${name} pinned`,
    policyOf(put(path, value)(pinned)),
    ["policy.deployment", failed],
  ]),
  [
    "PCR0 to PCR3, and another manifest",
    policyOf({ ...least(boot1), manifestHash: "ab".repeat(32) }),
    ["policy.deployment", "policy.manifest-hash"],
  ],
  [
    "another PCR0, and the manifest",
    policyOf(put("pcrs.0", OTHER_PCR)(least(boot1))),
    ["policy.deployment", "policy.pcrs"],
  ],
  [
    "another operator's deployment",
    policyOf(least(staging)),
    ["policy.deployment", "policy.pcrs", "policy.manifest-hash"],
  ],
  [
    "another operator's enclave, where this one is pinned",
    policyOf(least(boot1)),
    ["policy.deployment", "policy.pcrs", "policy.manifest-hash"],
    { bootProofs: [staging], appProofs: [], now: IN_2026 },
  ],
  [
    "PCR0 to PCR3 and the manifest of a live enclave",
    policyOf(put("commitment", "live")(least(boot1))),
    ["policy.deployment", "policy.commitment"],
  ],
  [
    "another PCR0, and the manifest of a live enclave",
    policyOf(put("commitment", "live")(put("pcrs.0", OTHER_PCR)(least(boot1)))),
    ["policy.deployment", "policy.pcrs", "policy.commitment"],
  ],
  [
    "PCR0 to PCR3 of a live enclave, and another manifest",
    policyOf(put("commitment", "live")({ ...least(boot1), manifestHash: "ab".repeat(32) })),
    ["policy.deployment", "policy.manifest-hash", "policy.commitment"],
  ],
  [
    "another operator's live enclave",
    policyOf(put("commitment", "live")(least(staging))),
    ["policy.deployment", "policy.pcrs", "policy.manifest-hash", "policy.commitment"],
  ],
  ["a bare document", policyOf({ kind: "nitro", pcrs: pinned["pcrs"]! }), ["policy.deployment"]],
  ["older than allowed", policyOf(pinned, { maxAge: "1h" }), ["policy.age"]],
  [
    "no app proof, where one is required",
    policyOf(pinned, { appProofs: { required: true } }),
    ["policy.app-proof"],
    { appProofs: [] },
  ],
  [
    "app proofs of another type",
    policyOf(pinned, { appProofs: { types: ["APP_PROOF_TYPE_POLICY_OUTCOME"] } }),
    ["policy.app-proof"],
  ],
  ["a decision demanded", policyOf(pinned, { appProofs: { decision: true } }), ["policy.app-proof"]],
  ["an app proof older than allowed", policyOf(pinned, { appProofs: { maxAge: "1h" } }), ["policy.app-proof"]],
  [
    "a setup document, where a live one is pinned",
    policyOf(put("commitment", "live")(least(setup))),
    ["policy.deployment", "policy.commitment"],
    { bootProofs: [setup], appProofs: [], now: IN_2026 },
  ],
  [
    "a setup document, pinned as such",
    policyOf(put("commitment", "setup")(least(setup))),
    [],
    { bootProofs: [setup], appProofs: [], now: IN_2026 },
  ],
];

const underPolicies = policies.map(([name, policy, failed, input]) =>
  pair(`policy, ${name}`, failed, {
    category: "policy",
    origin: "genuine",
    from: input?.bootProofs === undefined ? PAIR : [...BOTH, bootFile("staging-signer-20260702")],
    input: { policy, ...input },
  }),
);

function document(name: string, file: string, failed: Failed, input: Partial<CaseInput> = {}): Case {
  const now = new Date(documentVectors().find((row) => row.file === file)!.at);
  const bare: Partial<CaseInput> = { bootProofs: [], appProofs: [], document: readVector(file), now, ...input };
  return pair(name, failed, { category: "document", origin: "genuine", from: [file], input: bare });
}

const vectors = documentVectors();
const later = (at: string): Date => new Date(Date.parse(at) + 86_400_000);
/** Whole, and encoded with the very heads that {@link taken} wants. */
const plain = "nitro/tk-rustsdk-lib-rs-20250916.cbor";
const shortName = (file: string): string => file.replace(/^nitro\/|\.cbor$/g, "");
const withNonce = vectors.filter(({ file, expect }) => {
  return expect.verdict === "authentic" && (fieldsOf(readVector(file)).nonce?.length ?? 0) > 0;
});

const documents: Case[] = [
  ...vectors.map(({ file, expect }) => document(`document ${shortName(file)}`, file, expect.fails as Failed)),
  ...vectors
    .filter(({ expect }) => expect.withDebugAllowed !== undefined)
    .map(({ file }) => document(`document ${shortName(file)}, debug mode allowed`, file, [], { allowDebug: true })),
  ...vectors
    .filter(({ expect }) => expect.verdict === "authentic")
    .slice(0, 8)
    .map(({ file, at }) =>
      document(`document ${shortName(file)}, a day later`, file, ["chain.validity"], { at: "now", now: later(at) }),
    ),
  ...withNonce.slice(0, 4).flatMap(({ file }) => [
    document(`document ${shortName(file)}, its nonce asked for`, file, [], {
      nonce: fieldsOf(readVector(file)).nonce!,
    }),
    document(`document ${shortName(file)}, another nonce asked for`, file, ["bind.nonce"], {
      nonce: flip(fieldsOf(readVector(file)).nonce!),
    }),
  ]),
  ...documentChanges.map(([name, change, failed]) => ({
    ...document(`document, ${name}`, plain, failed, { document: change(readVector(plain)) }),
    origin: "altered" as const,
  })),
];

/** Refused before anything else is asked, whatever the evidence. */
const malformed: [name: string, policy: JsonObject | string][] = [
  ["no JSON", "policy"],
  ["empty", ""],
  ["text after it", `${JSON.stringify(policyOf(pinned))}x`],
  ["a member twice", JSON.stringify(policyOf(pinned)).replace("{", '{"name":"x",')],
  ["another format", put("policy", "bootproof/2")(policyOf(pinned))],
  ["an unknown member", put("allowdebug", true)(policyOf(pinned))],
  ["an unknown pin", put("deployments.0.pivotHashes", ["ab".repeat(32)])(policyOf(pinned))],
  ["no deployments", drop("deployments")(policyOf(pinned))],
  ["an empty list of deployments", policyOf([])],
  ["an empty list of trust anchors", policyOf(pinned, { trustAnchors: [] })],
  ["an unknown trust anchor", policyOf(pinned, { trustAnchors: ["aws-nitro-root-g2"] })],
  ["allowDebug as text", policyOf(pinned, { allowDebug: "false" })],
  ["a maxAge without its unit", policyOf(pinned, { maxAge: "30" })],
  ["a maxAge of zero", policyOf(pinned, { maxAge: "0d" })],
  ["a PCR of 47 bytes", policyOf(put("pcrs.0", "ab".repeat(47))(pinned))],
  ["a PCR32", policyOf(put("pcrs.32", OTHER_PCR)(pinned))],
  ["a hash of zero characters", policyOf(put("pivotHash", "")(pinned))],
  ["an empty array of hashes", policyOf(put("pivotHash", [])(pinned))],
  ["a key of 129 bytes", policyOf(put("quorumKey", "ab".repeat(129))(pinned))],
  ["a threshold of zero", policyOf(put("manifestSet.threshold", 0)(pinned))],
  ["a threshold that the members cannot reach", policyOf(put("manifestSet.threshold", 100)(pinned))],
  ["a nonce below zero", policyOf(put("minNonce", -1)(pinned))],
  ["a nonce without a namespace", policyOf(drop("namespace")(pinned))],
  ["a commitment of another word", policyOf(put("commitment", "Live")(pinned))],
  ["a label of null", policyOf(put("labels", { owner: null })(pinned))],
  ["pivotHash and workloads together", policyOf(put("workloads", { a: `sha256:${"ab".repeat(32)}` })(pinned))],
  ["two deployments of one name", policyOf([pinned, pinned])],
  ["another kind", policyOf(put("kind", "sgx")(pinned))],
  ["a manifest's pin for a bare document", policyOf(put("kind", "nitro")(pinned))],
  ["nothing pinned", policyOf({})],
  ["the application open, which is not said", policyOf({ pcrs: pinned["pcrs"]! })],
  ["the operator open, which is not said", policyOf({ pcrs: withoutRole(), pivotHash: pinned["pivotHash"]! })],
  ["the image open", policyOf({ pivotHash: pinned["pivotHash"]!, quorumKey: pinned["quorumKey"]! })],
  ["PCRs of zeros alone", policyOf({ pcrs: zeros(), pivotHash: pinned["pivotHash"]! })],
];

function withoutRole(): JsonObject {
  return drop("3")(pinned["pcrs"] as JsonObject);
}

function zeros(): JsonObject {
  return Object.fromEntries([0, 1, 2, 3].map((index) => [index, "00".repeat(48)]));
}

const malformedPolicies = malformed.map(([name, policy]): Case => ({
  ...pair(`malformed policy, ${name}`, [], { category: "policy", origin: "genuine", input: { policy } }),
  name: `genuine: malformed policy, ${name}`,
  verdict: "malformed",
}));

export function genuineCases(): Case[] {
  return [...bootProofs, ...appProofs, ...asked, ...underPolicies, ...documents, ...malformedPolicies];
}
