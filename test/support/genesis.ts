/** Outputs of the genesis ceremony in their three forms, written by hand. */
import { createHash } from "node:crypto";
import { concatBytes, toHex, toUtf8 } from "../../src/bytes.js";
import { type QosKeyPair, generateQosKeyPair, qosSign } from "../../src/lab/qos.js";

interface Member {
  readonly alias: string;
  readonly pubKey: Uint8Array;
}

const u32 = (value: number): Uint8Array => {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
};
const vec = (bytes: Uint8Array): Uint8Array => concatBytes(u32(bytes.length), bytes);
const list = (...items: readonly Uint8Array[]): Uint8Array => concatBytes(u32(items.length), ...items);
const option = (bytes: Uint8Array | null): Uint8Array =>
  bytes === null ? Uint8Array.of(0) : concatBytes(Uint8Array.of(1), vec(bytes));
const member = ({ alias, pubKey }: Member): Uint8Array => concatBytes(vec(toUtf8(alias)), vec(pubKey));

export const quorum = generateQosKeyPair();
export const [alice, bob, mallory] = ["alice", "bob", "mallory"].map((alias): Member => {
  return { alias, pubKey: generateQosKeyPair().publicKey };
}) as [Member, Member, Member];
export const SET = { threshold: 2, members: [alice, bob] };
export const DR = generateQosKeyPair().publicKey;
export const MESSAGE = toUtf8("qos-test-message");

interface Parts {
  readonly set?: typeof SET;
  readonly sharers?: readonly Member[];
  readonly drKey?: Uint8Array | null;
  readonly wrapped?: Uint8Array | null;
  readonly threshold?: number;
  readonly commitment?: Uint8Array;
  readonly key?: QosKeyPair;
  readonly signature?: Uint8Array;
}

/** The canonical JSON of the request, written by hand. */
function commitmentOf({ threshold, members }: typeof SET, drKey: Uint8Array | null): Uint8Array {
  const list = members.map(({ alias, pubKey }) => `{"alias":"${alias}","pubKey":"${toHex(pubKey)}"}`).join(",");
  const dr = drKey === null ? "" : `"drKey":"${toHex(drKey)}",`;
  const set = `"set":{"members":[${list}],"threshold":"${threshold}"}`;
  const text = `{"domain":"qos::genesis-request-commitment::v1",${dr}${set}}`;
  return new Uint8Array(createHash("sha256").update(text).digest());
}

export function output(form: (typeof FORMS)[number], parts: Parts = {}): Uint8Array {
  const { set = SET, drKey = null, key = quorum } = parts;
  const {
    sharers = set.members,
    wrapped = drKey === null ? null : new Uint8Array(60),
    threshold = set.threshold,
  } = parts;
  const { signature = qosSign(key, MESSAGE), commitment = commitmentOf(set, drKey) } = parts;
  const shares = sharers.map((one) => concatBytes(member(one), vec(new Uint8Array(50)), new Uint8Array(64)));
  return concatBytes(
    ...(form === "request" ? [list(...set.members.map(member)), u32(threshold), option(drKey)] : []),
    vec(key.publicKey),
    list(...shares),
    list(),
    ...(form === "request" ? [] : [u32(threshold)]),
    option(wrapped),
    new Uint8Array(64),
    ...[vec(new Uint8Array(70)), vec(signature), vec(MESSAGE)],
    ...(form === "commitment" ? [commitment] : []),
  );
}

export const FORMS = ["threshold", "commitment", "request"] as const;
