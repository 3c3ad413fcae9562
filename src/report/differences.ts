/** Comparison of a report that came with evidence with a new report of that evidence. */
import { type JsonObject, memberPath } from "../decode/json.js";
import { cut } from "../errors.js";

/** Maximum number of differences. Reports with more have nothing in common. */
const MAX_DIFFERENCES = 100;
const MAX_VALUE = 1000;

/** A difference with both values as JSON text. A long value is truncated, and a missing value is null. */
interface ReportDifference {
  readonly place: string;
  readonly theirs: string | null;
  readonly anew: string | null;
}

interface Comparison {
  /** Descriptions of the `checks`, by index. */
  readonly checks: readonly string[];
  /** Whether an object without a counterpart is reported value by value instead of as a whole. */
  readonly byValue?: boolean;
  /** Whether a place is ignored. `theirs` is the received report's value there. */
  readonly isIgnored?: (path: string, theirs: unknown) => boolean;
}

/**
 * Returns at most a hundred places where two reports differ, in the order of the new one. The received one may have any
 * shape and size, but the comparison ends at the hundredth difference, so its cost is bounded.
 */
export function reportDifferences(theirs: object, anew: object, how: Comparison): ReportDifference[] {
  const { checks, byValue = false, isIgnored = () => false } = how;
  const found: ReportDifference[] = [];
  const add = (path: string, one: unknown, other: unknown): void => {
    if (one === other || found.length >= MAX_DIFFERENCES) return;
    found.push({ place: placeOf(path, checks), theirs: jsonText(one), anew: jsonText(other) });
  };
  const compare = (one: unknown, other: unknown, path: string): void => {
    if (found.length >= MAX_DIFFERENCES || one === other || isIgnored(path, one)) return;
    if (areAlike(one, other)) return compareMembers(one as object, other as object, path);
    if (!byValue) return add(path, one, other);
    add(path, hasMembers(one) ? undefined : one, hasMembers(other) ? undefined : other);
    if (hasMembers(one)) compareMembers(one, likeEmpty(one), path);
    if (hasMembers(other)) compareMembers(likeEmpty(other), other, path);
  };
  const compareMembers = (one: object, other: object, path: string): void => {
    let index = 0;
    for (const name of new Set([...Object.keys(other), ...Object.keys(one)])) {
      if (found.length >= MAX_DIFFERENCES) return;
      const inner = Array.isArray(other) ? `${path}[${name}]` : memberPath(path, name, index);
      compare(own(one, name), own(other, name), inner);
      index++;
    }
  };
  compare(theirs, anew, "");
  return found;
}

function areAlike(one: unknown, other: unknown): boolean {
  const isObject = [one, other].every((value) => typeof value === "object" && value !== null);
  return isObject && Array.isArray(one) === Array.isArray(other);
}

function hasMembers(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

function likeEmpty(value: object): object {
  return Array.isArray(value) ? [] : {};
}

function own(value: object, name: string): unknown {
  return Object.hasOwn(value, name) ? (value as JsonObject)[name] : undefined;
}

function placeOf(path: string, checks: readonly string[]): string {
  const [, index, rest] = /^checks\[(\d+)\]\.?(.*)$/s.exec(path) ?? [];
  const check = index === undefined ? undefined : checks[Number(index)];
  if (check === undefined) return path;
  return rest ? `${check}: ${rest}` : check;
}

function jsonText(value: unknown): string | null {
  return value === undefined ? null : cut(JSON.stringify(value) ?? "null", MAX_VALUE);
}
