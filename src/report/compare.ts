/** Two values side by side, with only the differing bytes of long hex. */
import { lastOf } from "../bytes.js";
import { printable, printableStart, shortHex } from "./printable.js";

/** Hex of 16 bytes and more is compared byte by byte. */
const LONG_HEX = /(?<![0-9a-zA-Z])(?:[0-9a-fA-F]{2}){16,}(?![0-9a-zA-Z])/g;
/** Number of equal bytes shown on each side of a difference. */
const CONTEXT = 3;
/** Maximum number of differing bytes that are marked. */
const FEW = 12;
/** Number of digits of the longest hex that is shown in full. */
const WHOLE = 96;
const MAX_TEXT = 600;

interface Sides {
  readonly expected: readonly string[];
  readonly actual: readonly string[];
  /** Text beneath the two values, such as how many bytes differ. */
  readonly note: string | null;
}

interface LinePair {
  readonly expected: string;
  readonly actual: string;
  readonly note: string | null;
}

/**
 * Returns the printable lines of both values, with the differing bytes in `[brackets]` if they are few. If two lines
 * differ only in hex, each hex is compared with its counterpart, and equal hex is shortened.
 */
export function sideBySide(expected: string, actual: string): Sides {
  const one = expected.split("\n");
  const other = actual.split("\n");
  if (one.length !== other.length) return { expected: one.map(clipped), actual: other.map(clipped), note: null };
  const pairs = one.map((line, index) => compareLines(line, other[index]!));
  return {
    expected: pairs.map((pair) => pair.expected),
    actual: pairs.map((pair) => pair.actual),
    note: pairs.length === 1 ? pairs[0]!.note : null,
  };
}

function compareLines(expected: string, actual: string): LinePair {
  const pairs = hexPairs(expected, actual);
  if (pairs === null) return { expected: clipped(expected), actual: clipped(actual), note: null };
  const compared = pairs.map(([one, other]) => compareHex(one.toLowerCase(), other.toLowerCase()));
  const shown = (text: string, side: "expected" | "actual"): string => {
    let next = 0;
    return printable(text).replace(LONG_HEX, () => compared[next++]![side]);
  };
  const note = compared.length === 1 ? compared[0]!.note : null;
  return { expected: shown(expected, "expected"), actual: shown(actual, "actual"), note };
}

/** Returns pairs of long hex, or null if the rest of the two texts differs. */
function hexPairs(expected: string, actual: string): [string, string][] | null {
  const one = expected.match(LONG_HEX);
  const other = actual.match(LONG_HEX);
  if (one === null || other === null || one.length !== other.length) return null;
  if (expected.replace(LONG_HEX, "#") !== actual.replace(LONG_HEX, "#")) return null;
  return one.map((hex, index) => [hex, other[index]!]);
}

function clipped(text: string): string {
  return printableStart(
    text.replace(LONG_HEX, (hex) => (hex.length > WHOLE ? shortHex(hex, 16) : hex)),
    MAX_TEXT,
  );
}

function compareHex(expected: string, actual: string): LinePair {
  if (expected === actual) return { expected: shortHex(expected), actual: shortHex(actual), note: null };
  if (expected.length !== actual.length) {
    const note = `${expected.length / 2} bytes expected, ${actual.length / 2} found`;
    return { expected: whole(expected), actual: whole(actual), note };
  }
  const differing = differences(expected, actual);
  if (differing.length > FEW) return { expected: whole(expected), actual: whole(actual), note: null };
  const [differ, which] = differing.length === 1 ? ["differs", "byte"] : ["differ", "bytes"];
  const note = `${differing.length} of ${expected.length / 2} bytes ${differ}: ${which} ${ranges(differing)}`;
  return { expected: windows(expected, differing), actual: windows(actual, differing), note };
}

function differences(one: string, other: string): number[] {
  const indices: number[] = [];
  for (let i = 0; i < one.length / 2; i++) if (byteAt(one, i) !== byteAt(other, i)) indices.push(i);
  return indices;
}

/** Returns the places of bytes as people count them, from 1. */
function ranges(indices: readonly number[]): string {
  return rangesOf(indices.map((index) => index + 1))
    .map((ends) => ends.join(" to "))
    .join(", ");
}

/** Returns the first and the last of each run of consecutive numbers, and one number for a run of one. */
export function rangesOf(indices: readonly number[]): number[][] {
  return runsOf(indices, (one, other) => other === one + 1).map((run) => [...new Set([run[0], lastOf(run)!])]);
}

/** Returns the bytes at the indices in brackets, with a few bytes around each, and `…` for the rest. */
function windows(hex: string, differing: readonly number[]): string {
  const marked = new Set(differing);
  const near = (index: number): boolean => differing.some((at) => Math.abs(at - index) <= CONTEXT);
  let text = "";
  for (let i = 0; i < hex.length / 2; i++) {
    if (!near(i)) text += text.endsWith("…") ? "" : "…";
    else text += marked.has(i) ? `[${byteAt(hex, i)}]` : byteAt(hex, i);
  }
  return text.replaceAll("][", "");
}

function byteAt(hex: string, index: number): string {
  return hex.slice(2 * index, 2 * index + 2);
}

function whole(hex: string): string {
  return hex.length <= WHOLE ? hex : shortHex(hex, 32);
}

/** Returns the items in runs. `continues` decides whether an item belongs to the run of the one before. */
export function runsOf<T>(items: readonly T[], continues: (last: T, item: T) => boolean): [T, ...T[]][] {
  const runs: [T, ...T[]][] = [];
  for (const item of items) {
    const run = lastOf(runs);
    if (run !== undefined && continues(lastOf(run)!, item)) run.push(item);
    else runs.push([item]);
  }
  return runs;
}
