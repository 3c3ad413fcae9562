/** CBOR (RFC 8949) as a tree that can say things that are not so: for changing, whatever profile it is of. */

import { head } from "../support/cbor.js";

export interface Item {
  major: number;
  /** Of strings, arrays and maps it is only what a head that lies says. */
  argument: bigint;
  /** Bytes of the argument; 0 for the shortest form, -1 for an indefinite length. */
  width: number;
  /** The head says `argument`, and not how much there is. */
  lies: boolean;
  /** Of byte strings and texts. */
  content: Uint8Array | null;
  /** Of arrays and maps (keys and values in turn), and of tags the one item. */
  children: Item[] | null;
}

const MAX_ITEMS = 20_000;

/** The one item that the bytes are; null where they are none, or more. */
export function parseItem(bytes: Uint8Array): Item | null {
  const state = { at: 0, items: 0 };
  const item = read(bytes, state, 0);
  return item !== null && state.at === bytes.length ? item : null;
}

function read(bytes: Uint8Array, state: { at: number; items: number }, depth: number): Item | null {
  const initial = bytes[state.at++];
  if (initial === undefined || depth > 40 || ++state.items > MAX_ITEMS) return null;
  const [major, info] = [initial >> 5, initial & 31];
  const item: Item = { major, argument: BigInt(info), width: 0, lies: false, content: null, children: null };
  if (info > 27 && info < 31) return null;
  if (info >= 24 && info <= 27) {
    item.width = 1 << (info - 24);
    if (state.at + item.width > bytes.length) return null;
    item.argument = BigInt(`0x${Buffer.from(bytes.subarray(state.at, state.at + item.width)).toString("hex")}`);
    state.at += item.width;
  }
  if (info === 31) return readIndefinite(item, bytes, state, depth);
  if (major === 2 || major === 3) {
    if (item.argument > bytes.length - state.at) return null;
    item.content = bytes.slice(state.at, state.at + Number(item.argument));
    state.at += item.content.length;
  }
  if (major >= 4 && major <= 6) {
    const count = major === 6 ? 1n : item.argument * (major === 5 ? 2n : 1n);
    item.children = [];
    for (let left = count; left > 0n; left--) {
      const child = read(bytes, state, depth + 1);
      if (child === null) return null;
      item.children.push(child);
    }
  }
  return item;
}

function readIndefinite(
  item: Item,
  bytes: Uint8Array,
  state: { at: number; items: number },
  depth: number,
): Item | null {
  if (item.major !== 4 && item.major !== 5) return null;
  item.width = -1;
  item.children = [];
  while (bytes[state.at] !== 0xff) {
    const child = read(bytes, state, depth + 1);
    if (child === null) return null;
    item.children.push(child);
  }
  state.at++;
  return item.major === 5 && item.children.length % 2 === 1 ? null : item;
}

/** The item and all in it, outermost first. */
export function itemsOf(item: Item): Item[] {
  return [item, ...(item.children ?? []).flatMap(itemsOf)];
}

export function encodeItem(item: Item): Uint8Array {
  const { major, children, content, width } = item;
  const body = content ?? Buffer.concat((children ?? []).map(encodeItem));
  const count = content?.length ?? Math.floor((children?.length ?? 0) / (major === 5 ? 2 : 1));
  const hasCount = major !== 6 && (content !== null || children !== null);
  if (width === -1 && hasCount) return Buffer.concat([Uint8Array.of((major << 5) | 31), body, Uint8Array.of(0xff)]);
  const argument = hasCount && !item.lies ? BigInt(count) : item.argument;
  const least = head(major, argument).length - 1;
  return Buffer.concat([head(major, argument, Math.max(width, least) as 0 | 1 | 2 | 4 | 8), body]);
}
