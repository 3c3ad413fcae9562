/**
 * Cases of signed policies: for each rule of src/signed-policy/README.md what must be refused, and what must be
 * accepted beside it. Their keys and signatures are the same in each run.
 */
import { toUtf8 } from "../../src/bytes.js";
import {
  ALICE,
  BOB,
  CAROL,
  CROWD,
  DAVE,
  ERIN,
  MALLORY,
  type MadeVersion,
  NAME,
  PAYLOAD_TYPE,
  type PayloadMembers,
  SPKI,
  type SetFile,
  type SignatureFile,
  TEAM,
  type TestKey,
  type VersionChanges,
  at,
  base64,
  feedOf,
  paeOf,
  pemOf,
  pinnedDigest,
  policyFor,
  setOf,
  sha256,
  signatureOf,
  sortedIds,
  stateOf,
  versionsOf,
} from "../support/policy-feeds.js";
import type { SignedCase, SignedExpected, StateFacts } from "./case.js";

/** The present of all cases that do not name their own. */
export const NOW = "2026-11-26T12:00:00.000Z";
const DAY = 86_400_000;
const SKEW = 5 * 60_000;
const MIB = 1024 * 1024;

type Pinned = SetFile & { readonly name?: string; readonly minVersion?: number; readonly since?: object };

/** What a member of a version says is of the only version. */
interface World extends VersionChanges {
  readonly pinned?: Partial<Pinned>;
  /** The pinned file's text, from the text of the honest one. */
  readonly signersFile?: (text: string) => string;
  /** Default: one version, by the members above. */
  readonly versions?: readonly VersionChanges[];
  /** Which set signs the first version. Default: the pinned one. */
  readonly first?: SetFile;
  /** The lines that are served. Default: all. */
  readonly serves?: (versions: readonly MadeVersion[]) => readonly Pick<MadeVersion, "line">[];
  readonly feed?: ((text: string) => string | Uint8Array) | null;
  /** The version that the state has, or the state's text. */
  readonly state?: number | ((versions: readonly MadeVersion[]) => string);
  readonly now?: string | number;
}

interface InForce {
  /** Its place among the versions. Default: the last one. */
  readonly at?: number;
  readonly current?: "pass" | "warn" | "fail";
  readonly by?: readonly TestKey[];
  /** The state afterwards. Default: that of the version in force. */
  readonly kept?: StateFacts | null;
}

interface Made {
  readonly pinned: Pinned;
  readonly versions: readonly MadeVersion[];
  readonly input: ReturnType<SignedCase["make"]>;
}

function made(world: World): Made {
  const { pinned: pins, signersFile, versions: all, first: signing, serves, feed, state: before, now, ...only } = world;
  const pinned: Pinned = { name: NAME, ...TEAM, ...pins };
  const versions = versionsOf(all ?? [only], signing ?? { threshold: pinned.threshold, keys: pinned.keys });
  const text = feedOf(serves?.(versions) ?? versions);
  const pieces = new Map<string, Uint8Array>();
  const file = (name: string, content: string | Uint8Array): string => {
    pieces.set(name, typeof content === "string" ? toUtf8(content) : content);
    return name;
  };
  const signers = JSON.stringify(pinned);
  const state = typeof before === "number" ? stateOf(versions[before - 1]!) : before?.(versions);
  const input = {
    signers: file("signers.json", signersFile?.(signers) ?? signers),
    feed: feed === null ? null : file("feed.jsonl", feed?.(text) ?? text),
    state: state === undefined ? null : file("state.json", state),
    now: new Date(now ?? NOW).toISOString(),
  };
  return { pinned, versions, input: { input, pieces } };
}

function accepted(name: string, world: World = {}, inForce: InForce = {}): SignedCase {
  return row(`accepted: ${name}`, world, ({ pinned, versions }) => {
    const version = versions.at(inForce.at === undefined ? -1 : inForce.at - 1)!;
    return {
      verdict: "in-force",
      version: version.members.version,
      sha256: version.sha256,
      current: inForce.current ?? "pass",
      signedBy: (inForce.by ?? version.by).map(({ keyid }) => keyid).sort(),
      state: inForce.kept === undefined ? stateFacts(version, pinnedDigest(pinned)) : inForce.kept,
    };
  });
}

function stateFacts({ members: { version, signers }, sha256: digest }: MadeVersion, pinned: string): StateFacts {
  return { pinned, version, sha256: digest, threshold: signers.threshold, keyids: sortedIds(signers) };
}

type Code = Extract<SignedExpected, { readonly verdict: "refused" }>["code"];

const refused = (code: Code, name: string, world: World): SignedCase =>
  row(name, world, () => ({ verdict: "refused", code }));

function row(name: string, world: World, expected: (made: Made) => SignedExpected): SignedCase {
  let known: Made | undefined;
  const once = (): Made => (known ??= made(world));
  return {
    name: name.replace(/^(accepted: )?/, "$1signed policy: "),
    category: "signed-policy",
    origin: "forged",
    from: [],
    make: () => once().input,
    expected: () => expected(once()),
  };
}

const versions = (...list: readonly VersionChanges[]): Pick<World, "versions"> => ({ versions: list });
const signed = (signatures: NonNullable<VersionChanges["signatures"]>) => ({ signatures });
const replaced = (from: string, to: string) => (content: string) => {
  if (!content.includes(from)) throw new Error(`${from}: not in ${content}`);
  return content.replace(from, to);
};

/** The first signature changed; the second is honest. Where the first does not count, one is too few. */
const first = (change: (pae: Buffer, payload: Buffer) => SignatureFile) =>
  signed((pae, payload) => [change(pae, payload), signatureOf(BOB, pae)]);
const firstSig = (key: TestKey, change: (sig: Buffer) => Uint8Array) =>
  signed((pae) => [
    { keyid: key.keyid, sig: base64(change(Buffer.from(key.sign(pae)))) },
    signatureOf(key === BOB ? ALICE : BOB, pae),
  ]);

const ENVELOPE: readonly SignedCase[] = [
  accepted("one version, signed by two of three keys"),
  accepted("one version, signed by all three keys", { by: [ALICE, BOB, CAROL] }),
  accepted("unknown members of the envelope and of a signature", {
    envelope: (whole) => ({
      ...whole,
      more: { any: [1] },
      signatures: whole.signatures.map((each) => ({ ...each, cert: "…" })),
    }),
  }),
  refused("malformed", "another payload type, signed as such", {
    signatures: (_, payload) =>
      [ALICE, BOB].map((key) => signatureOf(key, paeOf(payload, "application/vnd.in-toto+json"))),
    envelope: (whole) => ({ ...whole, payloadType: "application/vnd.in-toto+json" }),
  }),
  refused("malformed", "the payload type in capitals", {
    envelope: (whole) => ({ ...whole, payloadType: PAYLOAD_TYPE.toUpperCase() }),
  }),
  refused("malformed", "no payload type", { envelope: ({ payload, signatures }) => ({ payload, signatures }) }),
  refused("malformed", "a member of the envelope twice", {
    envelope: (whole) => JSON.stringify(whole).replace("{", `{"payloadType":"${PAYLOAD_TYPE}",`),
  }),
  refused("malformed", "an unknown member of the envelope twice", {
    envelope: (whole) => JSON.stringify(whole).replace("{", '{"more":1,"more":1,'),
  }),
  refused("malformed", "a member of a signature twice", {
    envelope: (whole) => JSON.stringify(whole).replace('{"keyid":', `{"keyid":"${MALLORY.keyid}","keyid":`),
  }),
  refused("malformed", "no signatures", { signatures: () => [] }),
  refused("malformed", "the signatures left out", {
    envelope: ({ payload, payloadType }) => ({ payload, payloadType }),
  }),
  refused("malformed", "33 signatures", {
    signatures: (pae) => Array(33).fill(signatureOf(ALICE, pae)) as SignatureFile[],
  }),
  accepted("32 signatures, of which two count", {
    signatures: (pae) => [...CROWD(30), ALICE, BOB].map((key) => signatureOf(key, pae)),
  }),
  refused("malformed", "a signature without sig", {
    envelope: (whole) => ({ ...whole, signatures: [{ keyid: ALICE.keyid }, ...whole.signatures] }),
  }),
  refused("malformed", "an envelope that is an array", { envelope: (whole) => JSON.stringify([whole]) }),
  refused("malformed", "text after the envelope", { envelope: (whole) => `${JSON.stringify(whole)}{}` }),
];

const padding = (length: number): Partial<VersionChanges> => ({
  // The length of base64's last group: 1 needs two padding characters, 2 needs one.
  text: (content) => content + " ".repeat((3 + length - (content.length % 3)) % 3),
});

const BASE64: readonly SignedCase[] = [
  accepted("base64 with two padding characters", padding(1)),
  refused("malformed", "base64 without its padding", {
    ...padding(1),
    envelope: (whole) => ({ ...whole, payload: whole.payload.replace(/=+$/, "") }),
  }),
  refused("malformed", "base64 with stray bits in the last character", {
    ...padding(1),
    envelope: (whole) => ({ ...whole, payload: withStrayBit(whole.payload) }),
  }),
  refused("malformed", "base64 of the URL's alphabet", {
    text: replaced('"bootproof/1"', '"bootproof/1","comment":"???>>>"'),
    envelope: (whole) => ({ ...whole, payload: urlSafe(whole.payload) }),
  }),
  refused("malformed", "base64 with a line break", {
    envelope: (whole) => ({ ...whole, payload: whole.payload.replace(/^.{76}/, "$&\n") }),
  }),
  refused("malformed", "a signature in base64 with white space", {
    envelope: (whole) => ({
      ...whole,
      signatures: whole.signatures.map((each) => ({ ...each, sig: `${each.sig} ` })),
    }),
  }),
  refused("malformed", "a signature that is not base64", {
    envelope: (whole) => ({ ...whole, signatures: [{ sig: "30450" }, ...whole.signatures] }),
  }),
];

/** The last character before two padding characters has four unused bits. */
function withStrayBit(encoded: string): string {
  const last = encoded.at(-3)!;
  return `${encoded.slice(0, -3)}${String.fromCharCode(last.charCodeAt(0) + 1)}==`;
}

function urlSafe(encoded: string): string {
  const changed = encoded.replaceAll("+", "-").replaceAll("/", "_");
  if (changed === encoded) throw new Error("nothing to change");
  return changed;
}

const badPae = (change: (pae: Buffer, payload: Buffer) => Buffer) =>
  signed((pae, payload) => [ALICE, BOB].map((key) => signatureOf(key, change(pae, payload))));
const NOT_ASCII = { ...policyFor(1), comment: "für die Ära" };

const PAE: readonly SignedCase[] = [
  refused("signatures", "the payload signed without PAE", { ...badPae((_, payload) => payload) }),
  refused("signatures", "PAE of another payload type", {
    ...badPae((_, payload) => paeOf(payload, "application/json")),
  }),
  refused("signatures", "PAE without the length of the payload", {
    ...badPae((_, payload) => Buffer.concat([Buffer.from(`DSSEv1 44 ${PAYLOAD_TYPE} `), payload])),
  }),
  refused("signatures", "PAE over the payload in base64", {
    ...badPae((_, payload) => paeOf(Buffer.from(base64(payload)))),
  }),
  refused("signatures", "PAE of DSSE version 2", {
    ...badPae((pae) => Buffer.concat([Buffer.from("DSSEv2"), pae.subarray(6)])),
  }),
  refused("signatures", "PAE with the length in characters", {
    policy: NOT_ASCII,
    signatures: (_, payload) => {
      const head = `DSSEv1 44 ${PAYLOAD_TYPE} ${payload.toString().length} `;
      return [ALICE, BOB].map((key) => signatureOf(key, Buffer.concat([Buffer.from(head), payload])));
    },
  }),
  accepted("PAE with the length in bytes of a payload that is not ASCII", { policy: NOT_ASCII }),
  refused("signatures", "the payload changed after it was signed", {
    envelope: (whole) => ({
      ...whole,
      payload: base64(Buffer.from(Buffer.from(whole.payload, "base64").toString().replace('"r1"', '"r2"'))),
    }),
  }),
];

const withoutKeyid = ({ sig }: SignatureFile): SignatureFile => ({ sig });
const withKeyid = (keyid: string) => (each: SignatureFile) => ({ keyid, sig: each.sig });

const KEYIDS: readonly SignedCase[] = [
  accepted(
    "keyids left out",
    { signatures: (pae) => [ALICE, CAROL].map((key) => withoutKeyid(signatureOf(key, pae))) },
    { by: [ALICE, CAROL] },
  ),
  accepted(
    "empty keyids",
    { signatures: (pae) => [BOB, ALICE].map((key) => withKeyid("")(signatureOf(key, pae))) },
    { by: [ALICE, BOB] },
  ),
  refused("signatures", "a keyid of another key of the set", {
    ...first((pae) => withKeyid(CAROL.keyid)(signatureOf(ALICE, pae))),
  }),
  refused("signatures", "a keyid in upper-case hex", {
    ...first((pae) => withKeyid(ALICE.keyid.toUpperCase())(signatureOf(ALICE, pae))),
  }),
  refused("signatures", "a keyid that is no SHA-256", {
    ...first((pae) => withKeyid("alice")(signatureOf(ALICE, pae))),
  }),
  refused("malformed", "a keyid that is a number", {
    envelope: (whole) => ({ ...whole, signatures: whole.signatures.map((each) => ({ ...each, keyid: 1 })) }),
  }),
  accepted(
    "signatures of keys in no set, beside enough others",
    { signatures: (pae) => [MALLORY, ALICE, ERIN, CAROL].map((key) => signatureOf(key, pae)) },
    { by: [ALICE, CAROL] },
  ),
  refused("signatures", "signatures of keys in no set only", { by: [MALLORY, DAVE] }),
  refused("signatures", "the signature of a key in no set without keyid", {
    ...first((pae) => withoutKeyid(signatureOf(MALLORY, pae))),
  }),
  accepted(
    "a signature that does not verify, beside enough others",
    {
      signatures: (pae) => [
        signatureOf(ALICE, Buffer.from("other")),
        ...[BOB, CAROL].map((key) => signatureOf(key, pae)),
      ],
    },
    { by: [BOB, CAROL] },
  ),
];

const COUNTS: readonly SignedCase[] = [
  refused("signatures", "one signature of two that must", { by: [ALICE] }),
  refused("signatures", "two signatures of one key", { by: [ALICE, ALICE] }),
  refused("signatures", "two different signatures of one key", {
    signatures: (pae) => [signatureOf(ALICE, pae), { keyid: ALICE.keyid, sig: base64(otherS(ALICE.sign(pae))) }],
  }),
  refused("signatures", "two signatures of one key, one of them without keyid", {
    signatures: (pae) => [signatureOf(CAROL, pae), withoutKeyid(signatureOf(CAROL, pae))],
  }),
  accepted("two signatures of one key, and one of another", { by: [ALICE, ALICE, BOB] }, { by: [ALICE, BOB] }),
  accepted("threshold 1 of 1", { pinned: setOf(1, CAROL) }),
  accepted("threshold 3 of 3", { pinned: { threshold: 3 } }),
  refused("signatures", "two signatures of three that must", { pinned: { threshold: 3 }, by: [ALICE, BOB] }),
];

/** Integers of an ECDSA signature in DER. */
function integersOf(der: Uint8Array): [r: Buffer, s: Buffer] {
  const r = Buffer.from(der).subarray(4, 4 + der[3]!);
  return [r, Buffer.from(der).subarray(6 + r.length)];
}
const derOf = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  const short = content.length < 128 ? [content.length] : [0x82, content.length >> 8, content.length & 255];
  return Buffer.concat([Buffer.from([tag, ...short]), content]);
};
/** Below 128 bytes, which both curves' signatures here are. */
const sequenceOf = (...integers: readonly Uint8Array[]): Buffer =>
  derOf(0x30, ...integers.map((integer) => derOf(2, integer)));
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const numberOf = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
const integerOf = (value: bigint): Buffer => {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex");
  return bytes[0]! > 127 ? Buffer.concat([Buffer.of(0), bytes]) : bytes;
};

/** The other of the two valid values of s, of P-256. */
function otherS(der: Uint8Array): Buffer {
  const [r, s] = integersOf(der);
  return sequenceOf(r, integerOf(ORDER - numberOf(s)));
}
const inHalf = (half: "high" | "low") => (der: Buffer) =>
  2n * numberOf(integersOf(der)[1]) > ORDER === (half === "high") ? der : otherS(der);
const raw = (size: number) => (der: Buffer) =>
  Buffer.concat(integersOf(der).map((part) => Buffer.concat([Buffer.alloc(size), part]).subarray(-size)));

/** Order of Ed25519's group. */
const L = 2n ** 252n + 27742317777372353535851937790883648493n;
function plusOrder(sig: Buffer): Buffer {
  const s = numberOf(Buffer.from(sig.subarray(32)).reverse()) + L;
  const bytes = Buffer.from(s.toString(16).padStart(64, "0"), "hex").reverse();
  return Buffer.concat([sig.subarray(0, 32), bytes]);
}

const SIGNATURES: readonly SignedCase[] = [
  accepted("ECDSA with high s", firstSig(ALICE, inHalf("high")), { by: [ALICE, BOB] }),
  accepted("ECDSA with low s", firstSig(ALICE, inHalf("low")), { by: [ALICE, BOB] }),
  refused("signatures", "ECDSA as r and s without DER", firstSig(ALICE, raw(32))),
  refused("signatures", "ECDSA P-384 as r and s without DER", firstSig(BOB, raw(48))),
  refused("signatures", "ECDSA with a byte after the DER", {
    ...firstSig(ALICE, (sig) => Buffer.concat([sig, Buffer.of(0)])),
  }),
  refused("signatures", "ECDSA with a byte inside the sequence", {
    ...firstSig(ALICE, (sig) => derOf(0x30, sig.subarray(2), Buffer.from([5, 0]))),
  }),
  refused("signatures", "ECDSA with a long form of the length", {
    ...firstSig(ALICE, (sig) => Buffer.concat([Buffer.from([0x30, 0x81, sig.length - 2]), sig.subarray(2)])),
  }),
  refused("signatures", "ECDSA with a zero before r", {
    ...firstSig(ALICE, (sig) => {
      const [r, s] = integersOf(sig);
      return sequenceOf(Buffer.concat([Buffer.of(0), r]), s);
    }),
  }),
  refused("signatures", "ECDSA with s plus the order", {
    ...firstSig(ALICE, (sig) => {
      const [r, s] = integersOf(sig);
      return sequenceOf(r, integerOf(numberOf(s) + ORDER));
    }),
  }),
  refused("signatures", "ECDSA with a negative s", {
    ...firstSig(ALICE, (sig) => {
      const [r, s] = integersOf(inHalf("high")(sig));
      return sequenceOf(r, s[0] === 0 ? s.subarray(1) : s);
    }),
  }),
  refused("signatures", "ECDSA with r and s zero", {
    ...firstSig(ALICE, () => sequenceOf(Buffer.of(0), Buffer.of(0))),
  }),
  refused("signatures", "an empty signature", { ...firstSig(ALICE, () => Buffer.alloc(0)) }),
  accepted("Ed25519 in 64 bytes with S below L", { by: [CAROL, BOB] }),
  refused("signatures", "Ed25519 with S plus L", firstSig(CAROL, plusOrder)),
  refused("signatures", "Ed25519 in 63 bytes", { ...firstSig(CAROL, (sig) => sig.subarray(0, 63)) }),
  refused("signatures", "Ed25519 in 65 bytes", { ...firstSig(CAROL, (sig) => Buffer.concat([sig, Buffer.of(0)])) }),
  refused("signatures", "Ed25519 in DER", { ...firstSig(CAROL, (sig) => derOf(4, sig)) }),
];

/** ECParameters of P-256, written out (RFC 5480 section 2.1.1 forbids them). */
function explicitParameters(point: Uint8Array): Buffer {
  const hex = (digits: string) => Buffer.from(digits, "hex");
  const p = integerOf(0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn);
  const field = derOf(0x30, derOf(6, hex("2a8648ce3d0101")), derOf(2, p));
  const curve = derOf(
    0x30,
    derOf(4, hex("ffffffff00000001000000000000000000000000fffffffffffffffffffffffc")),
    derOf(4, hex("5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b")),
  );
  const generator = hex(
    "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296" +
      "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
  );
  const parameters = derOf(
    0x30,
    derOf(2, Buffer.of(1)),
    field,
    curve,
    derOf(4, generator),
    derOf(2, integerOf(ORDER)),
    derOf(2, Buffer.of(1)),
  );
  return derOf(0x30, derOf(0x30, derOf(6, hex("2a8648ce3d0201")), parameters), derOf(3, Buffer.of(0), point));
}

const POINT = ALICE.spki.subarray(SPKI["P-256"].length);
const ed25519Spki = (hex: string): Buffer => Buffer.concat([SPKI.Ed25519, Buffer.from(hex, "hex")]);
const ONE = "01".padEnd(64, "0");
const P = 2n ** 255n - 19n;
const littleEndian = (value: bigint): string =>
  Buffer.from(value.toString(16).padStart(64, "0"), "hex").reverse().toString("hex");

/** Keys in a form that nobody may use, as PEM. */
const KEY_FORMS: readonly (readonly [what: string, pem: string])[] = [
  [
    "a compressed point",
    pemOf(
      Buffer.concat([
        Buffer.from("3039301306072a8648ce3d020106082a8648ce3d030107032200", "hex"),
        Buffer.of(2 + (POINT[64]! & 1)),
        POINT.subarray(1, 33),
      ]),
    ),
  ],
  [
    "a point in the hybrid form",
    pemOf(Buffer.concat([SPKI["P-256"], Buffer.of(6 + (POINT[64]! & 1)), POINT.subarray(1)])),
  ],
  ["curve parameters written out", pemOf(explicitParameters(POINT))],
  [
    "a point that is not on the curve",
    pemOf(Buffer.concat([SPKI["P-256"], POINT.subarray(0, 64), Buffer.of(POINT[64]! ^ 1)])),
  ],
  ["the point (0, 0)", pemOf(Buffer.concat([SPKI["P-256"], Buffer.of(4), Buffer.alloc(64)]))],
  ["a byte after the key", pemOf(Buffer.concat([ALICE.spki, Buffer.of(0)]))],
  ["a key of secp256k1", pemOf(secp256k1())],
  ["an Ed25519 key with parameters", pemOf(Buffer.from(`302c300706032b65700500032100${"00".repeat(32)}`, "hex"))],
  ["an X25519 key", pemOf(Buffer.concat([Buffer.from("302a300506032b656e032100", "hex"), ERIN.spki.subarray(12)]))],
  ["the neutral Ed25519 key", pemOf(ed25519Spki(ONE))],
  ["an Ed25519 key of order 4", pemOf(ed25519Spki("00".repeat(32)))],
  ["an Ed25519 key of order 8", pemOf(ed25519Spki("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"))],
  ["an Ed25519 key with x = 0 and the sign bit", pemOf(ed25519Spki(`${ONE.slice(0, 62)}80`))],
  ["an Ed25519 key with y = p + 1", pemOf(ed25519Spki(littleEndian(P + 1n)))],
  // y = 3 is of a point of large order.
  ["an Ed25519 key with y = p + 3", pemOf(ed25519Spki(littleEndian(P + 3n)))],
  ["an Ed25519 key that is no point", pemOf(ed25519Spki("02".padEnd(64, "0")))],
  ["an Ed25519 key of 31 bytes", pemOf(Buffer.from(`3029300506032b6570032000${"11".repeat(31)}`, "hex"))],
  ["a private key", ERIN.pem.replaceAll("PUBLIC", "PRIVATE")],
  ["two keys in one text", ERIN.pem + DAVE.pem],
  ["text before the key", `key of Erin\n${ERIN.pem}`],
  ["text after the key", `${ERIN.pem}key of Erin`],
  ["an empty text", ""],
];

function secp256k1(): Buffer {
  const generator =
    "0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798" +
    "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8";
  return Buffer.from(`3056301006072a8648ce3d020106052b8104000a034200${generator}`, "hex");
}

const withKey = (pem: string): SetFile => ({ threshold: 2, keys: [...TEAM.keys, pem] });
const crlf = ({ threshold, keys }: SetFile): SetFile => ({
  threshold,
  keys: keys.map((pem) => pem.replaceAll("\n", "\r\n")),
});
const oneLine = (pem: string): string => pem.trim().replace(/(?<=[A-Za-z0-9+/=])\n(?=[A-Za-z0-9+/=])/g, "");

const KEYS: readonly SignedCase[] = [
  ...KEY_FORMS.map(([what, pem]) => refused("malformed", `${what}, pinned`, { pinned: withKey(pem), first: TEAM })),
  ...KEY_FORMS.map(([what, pem]) =>
    refused("malformed", `${what}, among those who sign next`, { by: [ALICE, BOB], signers: withKey(pem) }),
  ),
  refused("malformed", "a key twice, pinned", { pinned: withKey(ALICE.pem), first: TEAM }),
  refused("malformed", "a key twice in other PEM text, pinned", { pinned: withKey(oneLine(ALICE.pem)), first: TEAM }),
  refused("malformed", "a key twice, among those who sign next", { by: [ALICE, BOB], signers: withKey(ALICE.pem) }),
  accepted("keys as PEM with other line breaks", { pinned: crlf(TEAM) }),
  accepted("keys as PEM in one line", { pinned: { keys: TEAM.keys.map(oneLine) } }),
];

const PINNED: readonly SignedCase[] = [
  refused("malformed", "pinned threshold 0", { pinned: { threshold: 0 }, first: TEAM }),
  refused("malformed", "pinned threshold greater than the keys", { pinned: { threshold: 4 }, first: TEAM }),
  refused("malformed", "33 keys pinned", { pinned: setOf(2, ...CROWD(33)), first: setOf(2, ...CROWD(32)) }),
  accepted("32 keys pinned", { pinned: setOf(2, ...CROWD(32)) }),
  refused("malformed", "no keys pinned", { pinned: { keys: [] }, first: TEAM }),
  refused("malformed", "an unknown member beside the pinned keys", { signersFile: replaced("{", '{"minversion":2,') }),
  refused("malformed", "a member of the pinned file twice", { signersFile: replaced("{", '{"threshold":1,') }),
  refused("malformed", "minVersion 0", { signersFile: replaced("{", '{"minVersion":0,') }),
  refused("malformed", "since without a digest", { signersFile: replaced("{", '{"since":{"version":1},') }),
  refused("malformed", "a pinned name that is not ASCII", { signersFile: replaced(NAME, "prod/für") }),
  refused("malformed", "no name pinned", { signersFile: replaced(`"name":"${NAME}",`, "") }),
];

const member = (change: Partial<PayloadMembers>) => ({ ...change, by: [ALICE, BOB] });
const literal = (name: string, value: string) => ({
  text: (content: string) => content.replace(RegExp(`"${name}":(?:"[^"]*"|[^,]*)`), `"${name}":${value}`),
});
const dates = (issuedAt: string, expiresAt: string) => member({ issuedAt, expiresAt });

const PAYLOAD: readonly SignedCase[] = [
  refused("malformed", "a byte order mark before the payload", { text: (content) => `\ufeff${content}` }),
  refused("malformed", "a payload that is not UTF-8", {
    text: (content) => Buffer.concat([Buffer.from(content.slice(0, -1)), Buffer.from(',"\xff":1}', "latin1")]),
  }),
  refused("malformed", "a payload in UTF-16", { text: (content) => Buffer.from(content, "utf16le") }),
  refused("malformed", "a member of the payload twice", { text: replaced("{", '{"version":1,') }),
  refused("malformed", "a member twice inside the payload's policy", {
    text: replaced('"policy":{', '"policy":{"name":"a","name":"a",'),
  }),
  refused("malformed", "an unknown member of the payload", { text: replaced("{", '{"comment":"",') }),
  refused("malformed", "an unknown member of the payload's signers", {
    text: replaced('"signers":{', '"signers":{"comment":"",'),
  }),
  ...["name", "version", "previous", "issuedAt", "expiresAt", "signers", "policy", "signedPolicy"].map((name) =>
    refused("malformed", `a payload without ${name}`, {
      text: (content) => JSON.stringify({ ...(JSON.parse(content) as object), [name]: undefined }),
    }),
  ),
  refused("malformed", "another format of the payload", member({ signedPolicy: "bootproof-signed-policy/2" })),
  refused("malformed", "a comma after the last member of the payload", {
    text: (content) => content.replace(/}$/, ",}"),
  }),
  refused("malformed", "text after the payload", { text: (content) => `${content} {}` }),
  accepted("white space around the payload", { text: (content) => `\n ${content}\t\n` }),
  accepted("escapes in the payload", { text: replaced(NAME, "prod\\u002fsigner") }),
  refused("malformed", "an empty name", member({ name: "" })),
  refused("malformed", "a name of 101 characters", member({ name: "n".repeat(101) })),
  accepted("a name of 100 characters", { pinned: { name: "n".repeat(100) }, ...member({ name: "n".repeat(100) }) }),
  refused("malformed", "a name with a line break", member({ name: "prod\nsigner" })),
  refused("malformed", "version 1.0", literal("version", "1.0")),
  refused("malformed", "version 1e0", literal("version", "1e0")),
  refused("malformed", "version 01", literal("version", "01")),
  refused("malformed", "version 0", literal("version", "0")),
  refused("malformed", "version -1", literal("version", "-1")),
  refused("malformed", "version 1.5", literal("version", "1.5")),
  refused("malformed", "the version as text", literal("version", '"1"')),
  refused("malformed", "version 2^53", { version: 2, text: replaced('"version":2', '"version":9007199254740992') }),
  refused("malformed", "version 9007199254740991.0", {
    version: 2,
    text: replaced('"version":2', '"version":9007199254740991.0'),
  }),
  accepted("version 2^53 - 1", { version: Number.MAX_SAFE_INTEGER }),
  refused("malformed", "previous of version 1", member({ previous: sha256("") })),
  refused("malformed", "previous null of version 2", member({ version: 2, previous: null })),
  accepted(
    "previous in upper-case hex",
    versions(
      {},
      {
        text: (content) =>
          content.replace(/"previous":"([0-9a-f]+)"/, (_, hex: string) => `"previous":"${hex.toUpperCase()}"`),
      },
    ),
  ),
  refused("malformed", "previous of 63 digits", member({ version: 2, previous: "a".repeat(63) })),
  refused("malformed", "a time with an offset", dates("2026-11-01T00:00:00+00:00", "2026-12-30T00:00:00Z")),
  refused("malformed", "an expiry with an offset", dates("2026-11-01T00:00:00Z", "2026-12-30T02:00:00+02:00")),
  refused("malformed", "a time without a zone", dates("2026-11-01T00:00:00", "2026-12-30T00:00:00Z")),
  refused("malformed", "a day without a time", dates("2026-11-01", "2026-12-30T00:00:00Z")),
  refused("malformed", "30 February", dates("2026-11-01T00:00:00Z", "2027-02-30T00:00:00Z")),
  refused("malformed", "29 February of a year without it", dates("2026-11-01T00:00:00Z", "2027-02-29T00:00:00Z")),
  refused("malformed", "hour 24", dates("2026-11-01T00:00:00Z", "2027-02-01T24:00:00Z")),
  accepted("29 February of a leap year", {
    now: "2028-02-01T00:00:00.000Z",
    ...dates("2028-01-01T00:00:00Z", "2028-02-29T00:00:00Z"),
  }),
  accepted("times with fractions of a second", dates("2026-11-01T00:00:00.5Z", "2026-12-30T00:00:00.123456789Z")),
  refused("malformed", "an expiry at the time of issue", dates("2026-11-01T00:00:00Z", "2026-11-01T00:00:00Z")),
  refused("malformed", "an expiry before the time of issue", dates("2026-11-02T00:00:00Z", "2026-11-01T00:00:00Z")),
  accepted("400 days", dates("2026-11-01T00:00:00Z", at(Date.UTC(2026, 10, 1) + 400 * DAY))),
  refused(
    "malformed",
    "400 days and a second",
    dates("2026-11-01T00:00:00Z", at(Date.UTC(2026, 10, 1) + 400 * DAY + 1000)),
  ),
  refused("malformed", "threshold 0 of those who sign next", member({ signers: { ...TEAM, threshold: 0 } })),
  refused(
    "malformed",
    "threshold greater than the keys of those who sign next",
    member({ signers: { ...TEAM, threshold: 4 } }),
  ),
  refused("malformed", "threshold 1.5", { text: replaced('"threshold":2', '"threshold":1.5') }),
  refused("malformed", "33 keys of those who sign next", member({ signers: setOf(2, ...CROWD(33)) })),
  accepted("32 keys of those who sign next", { signers: setOf(2, ...CROWD(32)), by: [ALICE, BOB, ...CROWD(2)] }),
  refused("malformed", "no keys of those who sign next", member({ signers: { threshold: 1, keys: [] } })),
  accepted("a payload of 1 MiB", { text: sized(MIB) }),
  refused("malformed", "a payload of 1 MiB and a byte", { text: sized(MIB + 1) }),
  refused("malformed", "a policy that is a text", {
    text: (content) => JSON.stringify({ ...(JSON.parse(content) as object), policy: "{}" }),
  }),
];

function sized(bytes: number): (content: string) => string {
  return (content) => content.replace("{", `{${" ".repeat(bytes - content.length)}`);
}

const FILES = { ...policyFor(1), trustAnchors: [{ file: "root.pem" }] };
const EMPTY = { policy: "bootproof/1", deployments: [] };

const POLICY: readonly SignedCase[] = [
  refused("malformed", "a policy without deployments", { policy: EMPTY }),
  refused("malformed", "a policy with an unknown member", { policy: { ...policyFor(1), pcr: {} } }),
  refused("malformed", "a policy that names a file", { policy: FILES }),
  refused("malformed", "the newest of two policies names a file", versions({}, { policy: FILES })),
  accepted("an older version's policy names a file", versions({ policy: FILES }, {})),
  accepted("an older version's policy is none", versions({ policy: {} }, { policy: EMPTY }, {})),
  accepted(
    "the policy of a version that is not used yet is none",
    versions({}, { policy: EMPTY, issuedAt: at(Date.parse(NOW) + DAY) }),
    { at: 1 },
  ),
  refused("malformed", "a state, and the next version's policy is none", {
    state: 1,
    ...versions({}, { policy: EMPTY }),
  }),
];

const THREE = versions({}, {}, {});
const bytes = (total: number) => (content: string) =>
  `${content.slice(0, -1)}${" ".repeat(total - Buffer.byteLength(content))}\n`;

const FEED: readonly SignedCase[] = [
  accepted("three versions", THREE),
  accepted("a feed without the last line break", { ...THREE, feed: (content) => content.slice(0, -1) }),
  accepted("a feed with carriage returns", { ...THREE, feed: (content) => content.replaceAll("\n", "\r\n") }),
  refused("malformed", "an empty line in the feed", { ...THREE, feed: (content) => content.replace("\n", "\n\n") }),
  refused("malformed", "an empty line at the start of the feed", { ...THREE, feed: (content) => `\n${content}` }),
  refused("malformed", "an empty line at the end of the feed", { ...THREE, feed: (content) => `${content}\n` }),
  refused("malformed", "a line of a carriage return alone", { ...THREE, feed: (content) => `${content}\r\n` }),
  refused("malformed", "a line of white space", { ...THREE, feed: (content) => content.replace("\n", "\n \t\n") }),
  refused("malformed", "an empty feed", { feed: () => "" }),
  refused("malformed", "carriage returns alone between the versions", {
    ...THREE,
    feed: (content) => content.replaceAll("\n", "\r"),
  }),
  refused("malformed", "a byte order mark before the feed", { feed: (content) => `\ufeff${content}` }),
  refused("malformed", "a feed that is not UTF-8", {
    feed: (content) => Buffer.from(content.replace("{", '{"\xff":1,'), "latin1"),
  }),
  refused("malformed", "a feed that is an array of envelopes", {
    ...THREE,
    feed: (content) => `[${content.trim().replaceAll("\n", ",")}]`,
  }),
  refused("malformed", "an envelope over several lines", {
    feed: (content) => JSON.stringify(JSON.parse(content), null, 1),
  }),
  refused("malformed", "a last line that was torn", { ...THREE, feed: (content) => content.slice(0, -40) }),
  refused("version", "a gap in the feed", { ...THREE, serves: ([one_, , three]) => [one_!, three!] }),
  refused("version", "a gap in the feed before the state's version", {
    ...versions({}, {}, {}, {}),
    state: 4,
    serves: (all) => all.filter((_, index) => index !== 1),
  }),
  refused("version", "descending versions", { ...THREE, serves: (all) => [...all].reverse() }),
  refused("version", "a version twice", { ...THREE, serves: ([one_, two, three]) => [one_!, two!, two!, three!] }),
  accepted("a feed that begins later", { ...THREE, serves: (all) => all.slice(1) }),
  accepted("a feed of the newest version alone", { ...THREE, serves: (all) => all.slice(2) }),
  accepted("a feed of 8 MiB", { feed: bytes(8 * MIB) }),
  refused("malformed", "a feed of 8 MiB and a byte", { feed: bytes(8 * MIB + 1) }),
  refused("fetch", "a feed that cannot be fetched, and no state", { feed: null }),
];

/** A second history that its signers signed, too. */
const fork = (world: Pick<World, "versions">): readonly MadeVersion[] => versionsOf(world.versions!, TEAM);
const OTHER = versions({}, { policy: policyFor(99) }, {});

const STATE: readonly SignedCase[] = [
  accepted("a state, and nothing newer", { ...THREE, state: 3 }),
  accepted("a state, and one version more", { ...THREE, state: 2 }),
  accepted("a state, and two versions more", { ...THREE, state: 1 }),
  accepted("a feed that begins at the state's version", { ...THREE, state: 2, serves: (all) => all.slice(1) }),
  accepted("a feed that begins after the state's version", { ...THREE, state: 2, serves: (all) => all.slice(2) }),
  refused("version", "a gap after the state's version", {
    ...versions({}, {}, {}, {}),
    state: 2,
    serves: (all) => all.slice(3),
  }),
  refused("version", "a rollback: the feed ends before the state's version", {
    ...THREE,
    state: 3,
    serves: (all) => all.slice(0, 2),
  }),
  refused("fork", "a fork at the state's version", { ...THREE, state: 2, serves: () => fork(OTHER) }),
  refused("fork", "a fork at the state's version, and nothing newer", {
    ...THREE,
    state: 2,
    serves: () => fork(OTHER).slice(0, 2),
  }),
  refused("previous", "a fork after the state's version, of which the feed does not have it", {
    ...THREE,
    state: 2,
    serves: () => fork(OTHER).slice(2),
  }),
  accepted("versions before the state's are decoded and not verified", {
    ...versions({ by: [MALLORY], name: "prod/other", signers: TEAM }, {}, {}),
    state: 2,
  }),
  refused("malformed", "a version before the state's is malformed", {
    ...versions({}, {}, {}),
    state: 2,
    serves: ([, ...more]) => [{ line: "{}" }, ...more],
  }),
  refused("signatures", "a state, and the next version signed by too few", {
    ...versions({}, {}, { by: [BOB] }),
    state: 2,
  }),
  refused("signatures", "a state, and the version after the next signed by too few", {
    ...versions({}, {}, { by: [BOB] }),
    state: 1,
  }),
  accepted("a feed that cannot be fetched: the state's version", { state: 1, feed: null }),
  accepted(
    "a feed that cannot be fetched: the state's version in its last tenth",
    { state: 1, feed: null, now: Date.UTC(2026, 9, 2) + 82 * DAY },
    { current: "warn" },
  ),
  accepted(
    "a feed that cannot be fetched: the state's version after its expiry",
    { state: 1, feed: null, now: Date.UTC(2026, 9, 2) + 90 * DAY },
    { current: "fail" },
  ),
  refused("fetch", "a feed that cannot be fetched, and a state of another pinned set", {
    pinned: setOf(2, ALICE, BOB),
    feed: null,
    state: ([version]) => stateOf(version!),
  }),
  refused("fetch", "a feed that cannot be fetched, and a state below minVersion", {
    pinned: { minVersion: 2 },
    state: 1,
    feed: null,
  }),
  accepted("a feed that cannot be fetched, and a state at minVersion", {
    pinned: { minVersion: 1 },
    state: 1,
    feed: null,
  }),
  refused("state", "a torn state", { state: ([version]) => stateOf(version!).slice(0, 300) }),
  refused("state", "an empty state", { state: () => "" }),
  refused("state", "a state of another format", {
    state: ([version]) => stateOf(version!).replace("state/1", "state/2"),
  }),
  refused("state", "a state with an unknown member", {
    state: ([version]) => stateOf(version!).replace("{", '{"more":1,'),
  }),
  refused("state", "a state whose envelope was changed", {
    state: ([version]) =>
      stateOf({
        ...version!,
        envelope: { ...version!.envelope, signatures: [signatureOf(ALICE, Buffer.from("other"))] },
      }),
  }),
  refused("state", "a state with another set than its envelope's", {
    state: ([version]) => stateOf({ ...version!, members: { ...version!.members, signers: setOf(1, MALLORY) } }),
  }),
  refused("state", "a state with another threshold than its envelope's", {
    state: ([version]) =>
      stateOf({ ...version!, members: { ...version!.members, signers: { ...TEAM, threshold: 1 } } }),
  }),
];

const NEXT: readonly SignedCase[] = [
  refused("name", "another name", member({ name: "prod/other" })),
  refused("name", "another name from the second version on", versions({}, { name: "prod/other" })),
  refused("name", "the name with a space behind it", member({ name: `${NAME} ` })),
  refused("previous", "previous is another digest", versions({}, { previous: sha256("other") })),
  refused("previous", "a state, and previous is another digest", {
    ...versions({}, { previous: sha256("other") }),
    state: 1,
  }),
  accepted(
    "issuedAt as that of the version before",
    versions({ issuedAt: "2026-11-01T00:00:00Z" }, { issuedAt: "2026-11-01T00:00:00Z" }),
  ),
  refused(
    "version",
    "issuedAt goes back",
    versions({ issuedAt: "2026-11-01T00:00:01Z" }, { issuedAt: "2026-11-01T00:00:00Z" }),
  ),
  refused("version", "a state, and issuedAt goes back", {
    ...versions({ issuedAt: "2026-11-01T00:00:01Z" }, { issuedAt: "2026-11-01T00:00:00Z" }),
    state: 1,
  }),
  accepted(
    "an older version has expired",
    versions({ issuedAt: "2026-10-01T00:00:00Z", expiresAt: "2026-10-02T00:00:00Z" }, {}),
  ),
  accepted(
    "the newer version expires earlier",
    versions({}, { issuedAt: "2026-11-25T00:00:00Z", expiresAt: "2026-12-15T00:00:00Z" }),
  ),
];

const MIN: readonly SignedCase[] = [
  accepted("minVersion as the newest version", { ...THREE, pinned: { minVersion: 3 } }),
  accepted("minVersion as the first version", { ...THREE, pinned: { minVersion: 1 } }),
  refused("version", "minVersion above the newest version", { ...THREE, pinned: { minVersion: 4 } }),
  accepted("versions below minVersion are decoded and not verified", {
    ...versions({ by: [MALLORY], name: "prod/other" }, {}, {}),
    pinned: { minVersion: 2 },
  }),
  refused("previous", "the first version from minVersion on does not follow the one before", {
    ...versions({}, { previous: sha256("other") }),
    pinned: { minVersion: 2 },
  }),
  refused("signatures", "the first version from minVersion on is signed by another set than the pinned one", {
    ...versions({ signers: setOf(1, DAVE), by: [ALICE, BOB, DAVE] }, {}),
    pinned: { minVersion: 2 },
  }),
  accepted("the first version from minVersion on is signed by the pinned set, which was rotated in", {
    ...versions({ signers: setOf(1, DAVE), by: [ALICE, BOB, DAVE] }, {}),
    pinned: { ...setOf(1, DAVE), minVersion: 2 },
    first: TEAM,
  }),
  refused("version", "a state, and minVersion above the newest version", {
    ...THREE,
    state: 2,
    pinned: { minVersion: 4 },
  }),
  accepted("a state below minVersion, and the feed reaches it", { ...THREE, state: 1, pinned: { minVersion: 3 } }),
  accepted("a state above minVersion", { ...THREE, state: 2, pinned: { minVersion: 1 } }),
  refused("version", "minVersion is reached only by a version that is not used yet", {
    ...versions({}, { issuedAt: at(Date.parse(NOW) + DAY) }),
    state: 1,
    pinned: { minVersion: 2 },
  }),
];

const digestOf = (world: Pick<World, "versions">, place: number): string =>
  versionsOf(world.versions!)[place - 1]!.sha256;

const SINCE: readonly SignedCase[] = [
  accepted("since in the feed", { ...THREE, pinned: { since: { version: 2, sha256: digestOf(THREE, 2) } } }),
  accepted("since as the newest version", { ...THREE, pinned: { since: { version: 3, sha256: digestOf(THREE, 3) } } }),
  accepted("since before the state's version", {
    ...THREE,
    state: 3,
    pinned: { since: { version: 1, sha256: digestOf(THREE, 1) } },
  }),
  refused("version", "since is newer than the feed", {
    ...THREE,
    pinned: { since: { version: 4, sha256: digestOf(THREE, 3) } },
  }),
  refused("version", "since is older than the feed", {
    ...THREE,
    serves: (all) => all.slice(1),
    pinned: { since: { version: 1, sha256: digestOf(THREE, 1) } },
  }),
  refused("fork", "since with another digest", {
    ...THREE,
    pinned: { since: { version: 2, sha256: digestOf(THREE, 1) } },
  }),
  refused("fork", "a state, and since with another digest", {
    ...THREE,
    state: 3,
    pinned: { since: { version: 2, sha256: digestOf(OTHER, 2) } },
  }),
];

const CAROLS = setOf(1, CAROL);
const stateOfTeam = ([, , third]: readonly MadeVersion[]): string => stateOf(third!);
/** Three versions that Carol alone signs, for whoever pins her. */
const BY_CAROL = { ...versions({}, {}, {}, {}), first: CAROLS };

const OTHER_SET: readonly SignedCase[] = [
  accepted("a state of another pinned set: its version is the least one", {
    ...BY_CAROL,
    pinned: CAROLS,
    state: stateOfTeam,
  }),
  refused("version", "a state of another pinned set, and the feed ends before its version", {
    ...BY_CAROL,
    pinned: CAROLS,
    state: stateOfTeam,
    serves: (all) => all.slice(0, 2),
  }),
  accepted(
    "a state of another pinned set, and a lower minVersion",
    { ...BY_CAROL, pinned: { ...CAROLS, minVersion: 2 }, state: stateOfTeam, serves: (all) => all.slice(0, 2) },
    { at: 2 },
  ),
  refused("version", "a state of another pinned set, and a higher minVersion", {
    ...BY_CAROL,
    pinned: { ...CAROLS, minVersion: 5 },
    state: stateOfTeam,
  }),
  accepted("a state of another pinned set is no fork", {
    ...BY_CAROL,
    pinned: CAROLS,
    state: () => stateOf(fork(OTHER)[2]!),
  }),
  accepted("a state of another threshold of the same keys", {
    ...versions({}, {}),
    pinned: { threshold: 3 },
    state: () => stateOf(fork(OTHER)[1]!),
  }),
  refused("state", "a state of another name", {
    ...versions({ name: "prod/b" }, { name: "prod/b" }),
    pinned: { name: "prod/b" },
    state: () => stateOf(fork(OTHER)[1]!),
  }),
  accepted("the state of the same keys in another order is its own", {
    ...THREE,
    pinned: setOf(2, CAROL, ALICE, BOB),
    first: TEAM,
    state: 2,
  }),
  refused("fork", "the state of the same keys in another order, and a fork", {
    ...THREE,
    pinned: setOf(2, CAROL, ALICE, BOB),
    first: TEAM,
    state: 2,
    serves: () => fork(OTHER),
  }),
];

const NEW_TEAM = setOf(2, DAVE, ERIN, CAROL);
const rotation = (...by: readonly TestKey[]) => versions({}, { signers: NEW_TEAM, by });

const ROTATION: readonly SignedCase[] = [
  accepted("a rotation signed by both sets", rotation(ALICE, BOB, DAVE, ERIN)),
  accepted("a rotation in which a key of both sets counts for both", rotation(ALICE, CAROL, DAVE)),
  refused("signatures", "a rotation signed by the old set only", rotation(ALICE, BOB)),
  refused("signatures", "a rotation signed by the new set only", rotation(DAVE, ERIN)),
  refused("signatures", "a rotation signed by one of each set", rotation(ALICE, DAVE)),
  refused("signatures", "a rotation signed by the old set, and by one of the new", rotation(ALICE, BOB, ERIN)),
  accepted("a rotation in the first version", { signers: NEW_TEAM, by: [ALICE, BOB, DAVE, ERIN] }),
  refused("signatures", "a rotation in the first version, signed by the old set only", {
    signers: NEW_TEAM,
    by: [ALICE, BOB],
  }),
  accepted(
    "the new set signs after a rotation",
    versions({}, { signers: NEW_TEAM, by: [ALICE, BOB, DAVE, ERIN] }, { by: [DAVE, ERIN] }),
  ),
  refused(
    "signatures",
    "the old set signs after a rotation",
    versions({}, { signers: NEW_TEAM, by: [ALICE, BOB, DAVE, ERIN] }, { by: [ALICE, BOB] }),
  ),
  refused("signatures", "the old set signs after a rotation that the state has", {
    ...versions({}, { signers: NEW_TEAM, by: [ALICE, BOB, DAVE, ERIN] }, { by: [ALICE, BOB] }),
    state: 2,
  }),
  accepted("the new set signs after a rotation that the state has", {
    ...versions({}, { signers: NEW_TEAM, by: [ALICE, BOB, DAVE, ERIN] }, { by: [ERIN, CAROL] }),
    state: 2,
  }),
  accepted(
    "the same keys in another order are no rotation",
    versions({}, { signers: setOf(2, CAROL, BOB, ALICE), by: [ALICE, BOB] }),
  ),
  accepted("the same keys in other PEM text are no rotation", versions({}, { signers: crlf(TEAM), by: [ALICE, BOB] })),
  refused(
    "signatures",
    "a higher threshold that too few signed",
    versions({}, { signers: { ...TEAM, threshold: 3 }, by: [ALICE, BOB] }),
  ),
  accepted(
    "a higher threshold that enough signed",
    versions({}, { signers: { ...TEAM, threshold: 3 }, by: [ALICE, BOB, CAROL] }),
  ),
  refused(
    "signatures",
    "a lower threshold, signed by as many as the lower one",
    versions({}, { signers: { ...TEAM, threshold: 1 }, by: [ALICE] }),
  ),
  accepted(
    "a lower threshold, signed by as many as the higher one",
    versions({}, { signers: { ...TEAM, threshold: 1 }, by: [ALICE, BOB] }),
  ),
  refused(
    "signatures",
    "a key taken in that did not need to sign, and too few did",
    versions({}, { signers: setOf(2, ALICE, BOB, CAROL, DAVE), by: [DAVE, ALICE] }),
  ),
];

const FUTURE = at(Date.parse(NOW) + SKEW + 1000);
const EDGE = at(Date.parse(NOW) + SKEW);

const TIMES: readonly SignedCase[] = [
  accepted("a first version issued five minutes from now", { issuedAt: EDGE }),
  accepted(
    "a first version issued more than five minutes from now is not in force",
    { issuedAt: FUTURE },
    { current: "fail", kept: null },
  ),
  refused("signatures", "a first version issued in the future and signed by too few", {
    issuedAt: FUTURE,
    by: [ALICE],
  }),
  accepted("a second version issued five minutes from now", versions({}, { issuedAt: EDGE })),
  accepted(
    "a second version issued more than five minutes from now is not used yet",
    versions({}, { issuedAt: FUTURE }),
    { at: 1 },
  ),
  accepted(
    "a state, and a version issued in the future",
    { ...versions({}, { issuedAt: FUTURE }), state: 1 },
    { at: 1 },
  ),
  accepted(
    "a version issued in the future and signed by too few is not verified",
    versions({}, { issuedAt: FUTURE, by: [MALLORY] }),
    { at: 1 },
  ),
  accepted(
    "two versions issued in the future: the first is not in force",
    versions({ issuedAt: FUTURE }, { issuedAt: FUTURE }),
    { at: 1, current: "fail", kept: null },
  ),
  accepted(
    "a state of another pinned set stays if the only version is issued in the future",
    { pinned: { ...CAROLS, minVersion: 1 }, issuedAt: FUTURE, state: () => stateOf(fork(OTHER)[0]!) },
    { current: "fail", kept: stateFacts(fork(OTHER)[0]!, pinnedDigest(TEAM)) },
  ),
  accepted("a moment before the expiry", { now: Date.UTC(2026, 9, 2) + 90 * DAY - 1 }, { current: "warn" }),
  accepted("at the expiry", { now: Date.UTC(2026, 9, 2) + 90 * DAY }, { current: "fail" }),
  accepted("a moment before the last tenth", { now: Date.UTC(2026, 9, 2) + 81 * DAY - 1 }),
  accepted("in the last tenth", { now: Date.UTC(2026, 9, 2) + 81 * DAY + 1 }, { current: "warn" }),
  accepted("a moment before the last 14 of 400 days", {
    ...dates("2026-10-01T00:00:00Z", at(Date.UTC(2026, 9, 1) + 400 * DAY)),
    now: Date.UTC(2026, 9, 1) + 386 * DAY - 1,
  }),
  accepted(
    "in the last 14 of 400 days",
    {
      ...dates("2026-10-01T00:00:00Z", at(Date.UTC(2026, 9, 1) + 400 * DAY)),
      now: Date.UTC(2026, 9, 1) + 386 * DAY + 1,
    },
    { current: "warn" },
  ),
  accepted(
    "the newest version has expired, the one before has not",
    versions({}, { issuedAt: "2026-11-01T00:00:00Z", expiresAt: "2026-11-02T00:00:00Z" }),
    { current: "fail" },
  ),
];

export function signedCases(): SignedCase[] {
  return [
    ...[ENVELOPE, BASE64, PAE, KEYIDS, COUNTS, SIGNATURES, KEYS, PINNED, PAYLOAD, POLICY],
    ...[FEED, STATE, NEXT, MIN, SINCE, OTHER_SET, ROTATION, TIMES],
  ].flat();
}
