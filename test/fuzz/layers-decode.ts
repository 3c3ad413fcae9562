/** What reads bytes: each layer with the second opinion that explains what is accepted. */
import { X509Certificate } from "node:crypto";
import { isIPv4, isIPv6 } from "node:net";
import { isDeepStrictEqual } from "node:util";
import { Decoder } from "cbor-x";
import { fromBase64, fromHex, fromUtf8, toBase64, toHex, toUtf8 } from "../../src/bytes.js";
import { decodeCbor } from "../../src/decode/cbor.js";
import { decodeCertificate } from "../../src/decode/certificate.js";
import { decodeCoseSign1, signatureInput } from "../../src/decode/cose-sign1.js";
import { decimalMilliseconds } from "../../src/decode/decimal-time.js";
import { canonicalIpAddress } from "../../src/decode/ip-address.js";
import { rawSignature } from "../../src/decode/ecdsa-signature.js";
import { JsonNumber, type JsonObject, type JsonValue, parseJson } from "../../src/decode/json.js";
import { plainNumbers } from "../../src/decode/json-numbers.js";
import { P256_SCALAR_LENGTH, P256_SIGNATURE_LENGTH } from "../../src/decode/lengths.js";
import { manifestEncodings } from "../../src/decode/manifest/index.js";
import { encodeBorshEnvelope, encodeBorshManifest } from "../../src/lab/borsh.js";
import { canonicalQosJson } from "../../src/decode/qos-json.js";
import { decodeFile } from "../../src/decode/text-encoding.js";
import { MalformedError, parsePolicy } from "../../src/index.js";
import {
  checkPolicy,
  describePolicy,
  makeReleasePolicy,
  manifestHash,
  renderPolicyCheck,
} from "../../src/author/index.js";
import {
  decodeAppProofPayload,
  decodeAttestationDocument,
  decodeManifest,
  decodeManifestEnvelope,
} from "../../src/decode/index.js";
import { parseYaml } from "../../src/cli/read-yaml.js";
import type { InputFiles } from "../../src/cli/files.js";
import { policySchema } from "../../src/appraise/policy.js";
import { measureImage } from "../../src/image/index.js";
import { encodeEnvelope, encodeManifest } from "../../src/lab/qos.js";
import { comparePayload } from "../../src/verify/contradictions.js";
import { type ExpectedPayload, payloadExpectation } from "../../src/verify/expected-payload.js";
import { printable, quoted } from "../../src/report/printable.js";
import { encodeCbor, type CborInput, head, join } from "../support/cbor.js";
import {
  APPLICATION,
  CMDLINE,
  KERNEL,
  METADATA,
  RAMDISK,
  SECTIONS,
  TYPE,
  imageOf,
  pcrsOf,
  withRightCrc,
} from "../support/images.js";
import { type DerNode, parseElements, writeDer } from "../support/der.js";
import { inDer } from "../support/high-s.js";
import { fits } from "../support/json-schema.js";
import { genuineDocuments, manifestVectors, manifestBytes, readVector, vectorFiles } from "../support/vectors.js";
import { parseItem } from "./cbor-items.js";
import { policyJson, whole } from "./lab.js";
import { type Layer, type Outcome, must } from "./loop.js";
import { mutate } from "./mutate.js";

/** What is malformed is refused so; anything else that is thrown is a finding. */
export function refusedOr<T>(decode: () => T, explain: (value: T) => void): Outcome {
  let value: T;
  try {
    value = decode();
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    must(error.message.length < 10_000, "a message as long as its input");
    must(error.faults.length > 0, "refused without a fault");
    return "refused";
  }
  explain(value);
  return "accepted";
}

const bytesOf = (text: string): Uint8Array => toUtf8(text);
const texts = (...of: readonly string[]): Uint8Array[] => of.map(bytesOf);

const documents = genuineDocuments().map(({ bytes }) => bytes);
const someDocuments = [...documents.filter((_, index) => index % 6 === 0), whole.document];

function same(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

/** What no terminal may be given. */
const STEERING = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;
export function mustBePrintable(text: string, what: string): void {
  must(!STEERING.test(text), `${what} has characters that steer a terminal`);
  must(!/[\ud800-\udfff]/u.test(text), `${what} has half of a character`);
}

/** Encodings of text. */
export const text: Layer = {
  seeds: texts(
    "00ff7f80",
    "AP9/gA==",
    "YWJj",
    "YWI=",
    "192.168.0.1",
    "fd00:ec2::253",
    "::ffff:1.2.3.4",
    "1:2:3:4:5:6:7:8",
    "1772600767000",
    toHex(whole.document.subarray(0, 90)),
    toBase64(whole.document.subarray(0, 90)),
    "\u202eabc\u0007",
  ),
  run: (input) => {
    const words = Buffer.from(input).toString("latin1");
    const [hex, base64] = [fromHex(words), fromBase64(words)];
    must((hex === null) !== /^(?:[0-9a-fA-F]{2})*$/.test(words), "hex, by a pattern");
    must(hex === null || same(hex, Buffer.from(words, "hex")), "hex, by Node");
    must((base64 !== null) === (Buffer.from(words, "base64").toString("base64") === words), "base64, by Node");
    must(base64 === null || toBase64(base64) === words, "base64 that is not written so again");
    const utf8 = fromUtf8(input);
    must(utf8 === null || same(bytesOf(utf8), input), "UTF-8 that is not written so again");
    if (utf8 !== null) {
      mustBePrintable(printable(utf8).replaceAll("\n", ""), "printable()");
      mustBePrintable(quoted(utf8), "quoted()");
    }
    const address = canonicalIpAddress(words);
    if (address !== null) {
      must(isIPv4(words) || isIPv6(words), "an address, by Node");
      must(canonicalIpAddress(address) === address, "an address whose short form is not its own");
    }
    const time = decimalMilliseconds(words);
    must(time === null || String(time) === words, "a time that is not written so again");
    const file = decodeFile(input);
    return file.encoding === "binary" && address === null && time === null ? "refused" : "accepted";
  },
};

/** Beyond RFC 8259, which JSON.parse is: why it is refused all the same. */
const STRICTER = /appears twice|lone surrogate|nested deeper|more than \d+ values|byte order mark|not UTF-8/;

function plain(value: JsonValue): unknown {
  if (value instanceof JsonNumber) return Number(value.text);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}

function nodesJson(words: string | null): { readonly value: unknown } | null {
  try {
    return words === null ? null : { value: JSON.parse(words) as unknown };
  } catch {
    return null;
  }
}

/** JSON.parse makes members of `__proto__` as it does of others, and so does Object.fromEntries. */
export const json: Layer = {
  seeds: [
    ...texts(
      '{"a":[1,-0.5e3,true,null,"\\u00e9\\n"],"__proto__":{"b":""}}',
      "[[[[]]]]",
      '"\\ud83d\\ude00"',
      " 1 ",
      JSON.stringify(whole.activity),
      JSON.stringify(policyJson),
    ),
    readVector("qos_json_vectors.json"),
  ],
  run: (input) => {
    const words = fromUtf8(input);
    const theirs = nodesJson(words);
    try {
      const ours = parseJson(input);
      must(theirs !== null, "JSON, by JSON.parse");
      must(isDeepStrictEqual(plain(ours), theirs.value), "JSON that JSON.parse reads otherwise");
      const literal = plain(parseJson(words!, { numbers: "literal" }));
      must(isDeepStrictEqual(literal, theirs.value), "numbers that are kept as they were written");
      plainNumbers(parseJson(input, { numbers: "literal" }));
      try {
        canonicalQosJson(ours);
      } catch (error) {
        if (!(error instanceof MalformedError)) throw error;
      }
      return "accepted";
    } catch (error) {
      if (!(error instanceof MalformedError)) throw error;
      must(theirs === null || STRICTER.test(error.message), `refused: ${error.message}, and JSON.parse reads it`);
      return "refused";
    }
  },
};

const cborX = new Decoder({ mapsAsObjects: false, useRecords: false, int64AsNumber: false } as never);

/** As cbor-x has it: of small integers of 64 bits it may make numbers. */
function alike(ours: unknown, theirs: unknown): boolean {
  if (typeof ours === "bigint" || typeof theirs === "bigint")
    return BigInt(ours as bigint) === BigInt(theirs as bigint);
  if (ours instanceof Uint8Array) return theirs instanceof Uint8Array && same(ours, theirs);
  if (Array.isArray(ours))
    return Array.isArray(theirs) && ours.length === theirs.length && ours.every((item, at) => alike(item, theirs[at]));
  if (ours instanceof Map) {
    const entries = theirs instanceof Map ? [...(theirs as Map<unknown, unknown>)] : null;
    const own = [...(ours as Map<unknown, unknown>)];
    // Keys that cbor-x holds for one (1, and 1 as a bigint; -0) are told apart by the bytes alone.
    if (entries?.length !== own.length) return false;
    return own.every(([key, value], at) => alike(key, entries[at]![0]) && alike(value, entries[at]![1]));
  }
  return Object.is(ours, theirs);
}

/** Whether the profile has it, by the tree that the changes are made in. */
function inProfile(bytes: Uint8Array): boolean {
  const item = parseItem(bytes);
  if (item === null) return false;
  const visitItem = (at: NonNullable<typeof item>, depth: number): boolean => {
    const { major, children, content, argument } = at;
    if (depth > 16 || major === 6 || (at.width === -1 && (depth > 0 || major !== 5))) return false;
    if (major === 7 && (at.width !== 0 || ![20n, 21n, 22n].includes(argument))) return false;
    if (major === 3 && fromUtf8(content!) === null) return false;
    return (children ?? []).every((child) => visitItem(child, depth + 1));
  };
  return visitItem(item, 0);
}

export const cbor: Layer = {
  seeds: [
    ...someDocuments.map((document) => decodeCoseSign1(document).payload),
    ...someDocuments.slice(0, 3),
    encodeCbor([0, 23, 24, 255, 256, 65536, 2n ** 32n, 2n ** 64n - 1n, -1, -24, -25, -(2n ** 63n), "é", null, true]),
    encodeCbor(
      new Map<CborInput, CborInput>([
        [1, new Map([["a", new Uint8Array(3)]])],
        ["b", [[[]]]],
        [new Uint8Array(2), false],
      ]),
    ),
  ],
  run: (input) => {
    let isGood = false;
    const outcome = refusedOr(
      () => decodeCbor(input, { indefiniteOutermostMap: true }),
      (value) => {
        isGood = true;
        const isOpen = input[0] === 0xbf;
        const again = encodeCbor(value as CborInput);
        const entries = isOpen ? [...(value as Map<CborInput, CborInput>)] : [];
        const asItCame = isOpen
          ? join(
              Uint8Array.of(0xbf),
              ...entries.flatMap(([a, b]) => [encodeCbor(a), encodeCbor(b)]),
              Uint8Array.of(0xff),
            )
          : again;
        must(same(asItCame, input), "CBOR that is not encoded so again");
        must(alike(value, cborX.decode(input)), "CBOR that cbor-x reads otherwise");
      },
    );
    // What is refused is outside the profile: twice a key, or a head that is too long, alone say nothing here.
    if (!isGood && inProfile(input)) {
      const reason = reasonOf(() => decodeCbor(input, { indefiniteOutermostMap: true }));
      must(/appears twice|longer than needed/.test(reason), `refused: ${reason}, and it is in the profile`);
    }
    return outcome;
  },
};

function reasonOf(decode: () => unknown): string {
  try {
    decode();
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

const certificates = [...someDocuments].flatMap((document) => {
  const { certificate, cabundle } = decodeAttestationDocument(document);
  return [certificate.der, cabundle[0]!.der, cabundle.at(-1)!.der];
});

export const der: Layer = {
  seeds: certificates,
  run: (input) =>
    refusedOr(
      () => decodeCertificate(input),
      (certificate) => {
        const elements = parseElements(input);
        must(elements?.length === 1, "one element of DER, by another reader");
        must(same(writeDer(asKept(elements[0]!)), input), "DER that is not encoded so again");
        let theirs: X509Certificate;
        try {
          theirs = new X509Certificate(input);
        } catch (error) {
          must(
            isLaterRefused(certificate, error as Error),
            `a certificate, and openssl says ${(error as Error).message}`,
          );
          return;
        }
        // OpenSSL writes no leading zeros, and a sign.
        const serial = BigInt(`0x${toHex(certificate.serialNumber)}`)
          .toString(16)
          .toUpperCase();
        const negative = (certificate.serialNumber[0] ?? 0) > 0x7f;
        must(negative || BigInt(`0x${theirs.serialNumber}`).toString(16).toUpperCase() === serial, "another serial");
        must(sameTime(certificate.notBefore, theirs.validFrom), `notBefore: ${theirs.validFrom}`);
        must(sameTime(certificate.notAfter, theirs.validTo), `notAfter: ${theirs.validTo}`);
      },
    ),
};

/**
 * Without what is inside the parts that are kept as they came: algorithms, names, key, signature and the values of
 * extensions (decode/README.md, "Certificates"). Whether those are in DER is asked where they are used.
 */
function asKept(certificate: DerNode): DerNode {
  const [tbs, algorithm, signature] = certificate.children!;
  const opaque = (element: DerNode | undefined): void => {
    if (element !== undefined) element.children = null;
  };
  [algorithm, signature].forEach(opaque);
  const fields = tbs!.children!;
  const first = fields[0]!.tag === 0xa0 ? 1 : 0;
  // Serial number, algorithm, issuer, validity, subject, key.
  for (const at of [1, 2, 4, 5]) opaque(fields[first + at]);
  for (const extension of fields.find(({ tag }) => tag === 0xa3)?.children?.[0]?.children ?? [])
    opaque(extension.children?.at(-1));
  return certificate;
}

function sameTime(ours: Date, theirs: string): boolean {
  return ours.getTime() === new Date(theirs).getTime();
}

/**
 * What OpenSSL takes apart at once, and this reader where it is asked for, or not at all: an algorithm, a name, a key,
 * an extension of another kind. Such a certificate stands in no path that is accepted: its key or its signature would
 * have to be good, and the layer of attestations asks OpenSSL about each of those.
 */
function isLaterRefused(_: unknown, error: Error): boolean {
  return /asn1|ASN1|x509|X509|PEM|DECODER|encoding routines/.test(error.message);
}

export const cose: Layer = {
  seeds: [
    ...someDocuments,
    ...vectorFiles()
      .filter((file) => file.startsWith("nitro/malformed"))
      .map(readVector),
  ],
  run: (input) => {
    const outcome = refusedOr(
      () => decodeCoseSign1(input),
      ({ protectedHeader, payload, signature, unprotectedIsEmpty, ...rest }) => {
        const untagged = input[0] === 0xd2 ? input.subarray(1) : input;
        const again = join(
          head(4, 4),
          encodeCbor(protectedHeader),
          Uint8Array.of(0xa0),
          encodeCbor(payload),
          encodeCbor(signature),
        );
        must(!unprotectedIsEmpty || same(again, untagged), "a message that is not encoded so again");
        const signed = encodeCbor(["Signature1", protectedHeader, new Uint8Array(), payload]);
        must(
          same(signatureInput({ protectedHeader, payload, signature, unprotectedIsEmpty, ...rest }), signed),
          "signed",
        );
      },
    );
    refusedOr(
      () => decodeAttestationDocument(input),
      (document) => {
        const items = cborX.decode(input) as { value?: unknown[] } & unknown[];
        const payload = cborX.decode((items.value ?? items)[2] as Uint8Array) as Map<string, unknown>;
        must(payload.get("module_id") === document.moduleId, "module_id, by cbor-x");
        must(Number(payload.get("timestamp")) === document.timestamp, "timestamp, by cbor-x");
        must(alike(new Map(document.pcrs), payload.get("pcrs")), "pcrs, by cbor-x");
        must(alike(document.userData, payload.get("user_data") ?? null), "user_data, by cbor-x");
        must(alike(document.publicKey, payload.get("public_key") ?? null), "public_key, by cbor-x");
        must(alike(document.nonce, payload.get("nonce") ?? null), "nonce, by cbor-x");
        must(alike(document.certificate.der, payload.get("certificate")), "certificate, by cbor-x");
        must(
          alike(
            document.cabundle.map(({ der: each }) => each),
            payload.get("cabundle"),
          ),
          "cabundle, by cbor-x",
        );
      },
    );
    return outcome;
  },
};

const manifestSeeds = manifestVectors().map(manifestBytes);
const labManifests = (["v0", "v0-tail", "v1"] as const).flatMap((version) =>
  manifestVectors()
    .filter(({ kind, expect }) => kind === "manifest" && expect.version === version)
    .map((vector) => encodeBorshManifest(decodeManifest(manifestBytes(vector)))),
);

export const manifests: Layer = {
  seeds: [
    ...manifestSeeds,
    ...labManifests,
    encodeManifest(whole.manifest, { encoding: "json" }),
    Buffer.from(whole.bootProof["qosManifestEnvelopeB64"] as string, "base64"),
  ],
  run: (input) => {
    const isJson = input[0] === 0x7b || /^\s*\{/.test(Buffer.from(input.subarray(0, 20)).toString("latin1"));
    const one = refusedOr(
      () => decodeManifest(input),
      (manifest) => {
        const isOld = manifestEncodings(manifest.version).length === 2;
        must(isJson || isOld, "a newer manifest in borsh");
        must(isJson || same(encodeBorshManifest(manifest), input), "borsh that is not encoded so again");
        const again = decodeManifest(encodeManifest(manifest, { encoding: "json" }));
        must(isDeepStrictEqual(again, manifest), "a manifest that is another one when it is written and read");
        must(manifestHash(manifest) instanceof Promise, "a hash");
      },
    );
    const other = refusedOr(
      () => decodeManifestEnvelope(input),
      (envelope) => {
        must(isJson || same(encodeBorshEnvelope(envelope), input), "borsh that is not encoded so again");
        const again = decodeManifestEnvelope(encodeEnvelope(envelope, { encoding: "json" }));
        must(isDeepStrictEqual(again, envelope), "an envelope that is another one when it is written and read");
      },
    );
    must(one === "refused" || other === "refused", "a manifest that is an envelope, too");
    return one === "accepted" ? one : other;
  },
};

const ORDER = '{"type":"ORDER","order":{"id":"42","a/b":[true,null,-1.5e0],"~":{"":"x"}}}';

export const payloads: Layer = {
  seeds: [...whole.appProofs.map((proof) => bytesOf(proof["proofPayload"] as string)), bytesOf(ORDER)],
  run: (input) => {
    const words = fromUtf8(input);
    if (words === null) return "refused";
    return refusedOr(
      () => decodeAppProofPayload(words, ["ORDER"]),
      (payload) => {
        const theirs = JSON.parse(words) as JsonObject & { type: string; timestampMs?: string };
        must(isDeepStrictEqual(plain(payload.json), theirs), "a payload that JSON.parse reads otherwise");
        const isUntimed = theirs.type === "ORDER" && theirs.timestampMs === undefined;
        const time = isUntimed ? null : theirs.timestampMs;
        must(payload.type === theirs.type && textOrNull(payload.timestampMs) === time, "type or time");
        mustMeetItself(payload.json, theirs);
      },
    );
  },
};

function textOrNull(time: number | null): string | null {
  return time === null ? null : String(time);
}

/** Each value under its own pointer is met; any other value there is not. */
function mustMeetItself(json: JsonObject, theirs: JsonObject & { type: string }): void {
  const leaves: [pointer: string, value: JsonValue][] = [];
  const visit = (value: JsonValue, pointer: string): void => {
    if (leaves.length === 100) return;
    if (typeof value !== "object" || value === null) leaves.push([pointer, value]);
    else
      for (const [name, item] of Object.entries(value))
        visit(item, `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  };
  visit(theirs, "");
  const isMet = (values: [string, JsonValue][]): boolean => {
    const own = [{ type: theirs.type, values: Object.fromEntries(values) }];
    return (
      comparePayload((own as readonly ExpectedPayload[]).map(payloadExpectation), theirs.type, json).met.length === 1
    );
  };
  must(isMet(leaves), "a payload that does not meet its own values");
  for (const [pointer, value] of leaves)
    must(!isMet([[pointer, value === null ? "null" : null]]), "a payload that meets another value");
}

export const signatures: Layer = {
  seeds: [1, 2, 3, 4].map((factor) => inDer(Uint8Array.from({ length: 64 }, (_, index) => (index + 1) * 37 * factor))),
  run: (input) => {
    const raw = rawSignature(input, P256_SCALAR_LENGTH);
    if (raw === null) return "refused";
    must(raw.length === P256_SIGNATURE_LENGTH && input.length <= 72, "the length");
    must(same(inDer(raw), input), "DER that is not encoded so again");
    for (const half of [raw.subarray(0, 32), raw.subarray(32)])
      must(
        half.some((byte) => byte > 0),
        "a zero",
      );
    return "accepted";
  },
};

const schema = policySchema();

export const policies: Layer = {
  seeds: [
    bytesOf(JSON.stringify(policyJson)),
    bytesOf(
      JSON.stringify({
        policy: "bootproof/1",
        name: "all",
        trustAnchors: [{ file: "root.pem" }, { name: "aws-nitro-root-g1" }],
        maxAgeSeconds: 3600,
        allowDebug: false,
        deployments: [
          { name: "a", pcrs: { 0: ["11".repeat(48), "22".repeat(48)], 8: "33".repeat(48) }, namespace: ["x", "y"] },
          { kind: "nitro", pcrs: { 0: "11".repeat(48) } },
          { pivotHash: "ab".repeat(32), minNonce: 1, manifestSet: { threshold: 1, members: ["04".repeat(130)] } },
        ],
        appProofs: { coverage: true, types: ["APP_PROOF_TYPE_ADDRESS_DERIVATION"] },
      }),
    ),
  ],
  run: (input) =>
    refusedOr(
      () => parsePolicy(input, { readFile: () => whole.anchorPem }),
      (policy) => {
        const theirs = JSON.parse(fromUtf8(input)!) as { policy: unknown; deployments: unknown[] };
        must(theirs.policy === "bootproof/1", "a policy of another format");
        must(fits(schema, theirs), "a policy that its JSON Schema refuses");
        const description = describePolicy(policy);
        must(description.deployments.length === theirs.deployments.length, "deployments");
        const check = checkPolicy(policy);
        mustBePrintable(renderPolicyCheck(check, "policy").replaceAll("\n", ""), "the description");
      },
    ),
};

/** The command's files, of which there is none here. */
const noFiles = {
  fault: (path: string, message: string): never => {
    throw new MalformedError("release", [{ path, message: message.slice(0, 1000) }]);
  },
} as unknown as InputFiles;

/** The command reads no more. */
const MAX_RELEASE_BYTES = 65_536;

export const releases: Layer = {
  seeds: vectorFiles()
    .filter((file) => file.startsWith("releases/"))
    .map(readVector),
  run: async (input) => {
    const words = input.length > MAX_RELEASE_BYTES ? null : fromUtf8(input);
    if (words === null) return "refused";
    const read = await parseYaml(noFiles, "release", words).then(
      (value) => ({ value }),
      (error: unknown) => {
        if (error instanceof MalformedError) return null;
        throw error;
      },
    );
    if (read === null) return "refused";
    return refusedOr(
      () => makeReleasePolicy(read.value, "signer"),
      ({ policy }) => {
        must(fits(schema, policy), "a policy of a release that the JSON Schema refuses");
        const { pcrs, pivotHash } = policy.deployments[0] as { pcrs: Record<string, string>; pivotHash: string };
        for (const pin of [pivotHash, ...Object.values(pcrs)])
          must(/^[0-9a-f]+$/i.test(pin) && words.toLowerCase().includes(pin.toLowerCase()), "a pin that is not there");
      },
    );
  },
};

const signedImage = imageOf({ sections: SECTIONS });

/** Sections are moved, repeated and changed; the CRC is made right again in most. */
export const images: Layer = {
  seeds: [
    signedImage,
    imageOf({ sections: [KERNEL, CMDLINE, RAMDISK], version: 3 }),
    imageOf({ sections: [KERNEL, CMDLINE, METADATA, RAMDISK, APPLICATION, APPLICATION], flags: 1 }),
    imageOf({
      sections: [...SECTIONS, { type: TYPE.signature, data: encodeCbor([new Map([["signing_certificate", [1, 2]]])]) }],
    }),
  ],
  mutate: (input, random, others) => {
    if (random.oneIn(3)) {
      const sections = Array.from({ length: random.below(8) }, () => {
        const section = random.pick(SECTIONS);
        const data = random.oneIn(3) ? mutate(section.data, random, others) : section.data;
        const type = random.oneIn(6) ? random.below(8) : section.type;
        return {
          type,
          data,
          ...(random.oneIn(8) && { size: BigInt(random.next()) }),
          ...(random.oneIn(9) && { flags: 1 }),
        };
      });
      return Uint8Array.from(imageOf({ sections, version: 2 + random.below(4) }));
    }
    const changed = mutate(input, random, others);
    return changed.length < 600 || random.oneIn(8) ? changed : Uint8Array.from(withRightCrc(changed));
  },
  run: async (input) => {
    try {
      const measured = await measureImage(inPieces(input));
      // Behind a header of twelve bytes each.
      const sections = measured.sections.map(({ type, offset, size }) => {
        return { type: TYPE[type], data: input.subarray(offset + 12, offset + 12 + size) };
      });
      must(measured.size === input.length, "the size");
      const pcrs = pcrsOf(sections);
      for (const index of [0, 1, 2]) must(toHex(measured.pcrs[index]!) === pcrs[index], `PCR${index}, by another hand`);
      return "accepted";
    } catch (error) {
      if (!(error instanceof MalformedError)) throw error;
      return "refused";
    }
  },
};

async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 777) yield bytes.subarray(at, at + 777);
}
