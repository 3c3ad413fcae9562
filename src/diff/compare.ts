/** Compares two trees place by place. The rule of a place says what its change means (`rules.ts`). */
import { withoutPrototype } from "../decode/input.js";
import { BESIDE, UNKNOWN, UNREADABLE } from "../inspect/described.js";
import { CHANGES, type ChangeId, type Found, type Turn, found } from "./changes.js";
import { type Content, type Parts, byKey, contentJson, contentText, memberOf, partsOf, sortOf } from "./content.js";
import { placeIn, placesAbove } from "../inspect/place.js";
import { grouped } from "../report/statements.js";

/** The contents of both inputs at a place. Undefined means absent. */
export type Sides = readonly [before: Content | undefined, after: Content | undefined];

/** A place, the name of its value, and what is reported. */
interface At {
  readonly place: string;
  readonly name: string;
  readonly reporting: Reporting;
}

/** What a change of a value means, and of its members and items. Without a meaning, a change is `other`. */
export interface Rule {
  /** The change of the value as a whole. Without it, members and items are compared one by one. */
  readonly what?: ChangeId;
  /** The change of a value that only one side has, and the members that are compared even then. */
  readonly only?: ChangeId;
  readonly even?: readonly string[];
  /** How the value changed. Null means that it is the same, although its text is not. */
  readonly turn?: (before: Content | undefined, after: Content | undefined) => Turn | null;
  /** The text of the value. Values with the same text are the same. */
  readonly show?: (value: Content, name: string) => string;
  /** The value of an absent one. */
  readonly absent?: Content;
  /** The key of changed entries. `isWhole` means that only one side has the entry. */
  readonly entry?: (name: string, isWhole: boolean) => string;
  /** The step in places, instead of the name. An empty step stands for the place of the parent. */
  readonly at?: string;
  readonly members?: Readonly<Record<string, RuleOf>>;
  readonly each?: RuleOf;
  /** The key by which items of a list are matched. Otherwise they are matched by their index. */
  readonly key?: (item: Content) => string;
  /** The key by which items are matched first; the others are matched in order. */
  readonly pair?: (item: Content) => string;
  /** The change of all values inside that have no rule. */
  readonly inner?: ChangeId;
  /** The text by which values inside are compared. Default: JSON. */
  readonly spell?: (value: Content) => string;
  /** Whether the content is that of a file, in which no name is one that `inspect` or diff gives. */
  readonly isRaw?: boolean;
  /** Compares in another way. */
  readonly instead?: Compare;
  /** Alters the changes, or adds those of values that count only together. */
  readonly then?: (changes: readonly Found[], sides: Sides, at: At) => readonly Found[];
}

/** A rule, only the id of the change, null for a value that is not compared, or what depends on both values. */
export type RuleOf = Rule | ChangeId | null | ((sides: Sides) => RuleOf);
export type Compare = (sides: Sides, at: At) => readonly Found[];

/** What is not reported: places that are covered already, and `other` changes beyond a number, which are counted. */
export class Reporting {
  uncounted = 0;
  readonly covered = new Set<string>();
  /** The places that contain covered ones. */
  readonly above = new Set<string>();
  #left: number;

  constructor(most: number) {
    this.#left = most;
  }

  /** Reports nothing at and below the place from now on. */
  cover(place: string): void {
    this.covered.add(place);
    for (const one of placesAbove(place)) this.above.add(one);
  }

  /** Reports two texts, or counts them. If the texts are equal, JSON shows the difference, as between 3 and "3". */
  keep(what: ChangeId, sides: Sides, place: string): readonly Found[] {
    this.#left--;
    if (this.#left < 0) {
      this.uncounted++;
      return [];
    }
    const [before, after] = sides.map((side) => textOf(side, contentText));
    const [one, other] = before === after ? sides.map((side) => textOf(side, contentJson)) : [before, after];
    return [found(what, { place, before: one!, after: other! })];
  }
}

function textOf(content: Content | undefined, show: (content: Content) => string): string | null {
  return content === undefined ? null : show(content);
}

/** Returns the place of a member or item, whose own place is `step`. */
export function inside({ place, reporting }: At, name: string | number, step = placeIn(place, name)): At {
  return { place: step, name: String(name), reporting };
}

/** The member that diff adds for the spelling of a part (`rules.ts`). */
export const SPELLED = "(spelled)";
const WRAPPER = "(wrapper)";
/** Members that `inspect` gathers are compared at the places that they have in the file. */
const GATHERED: Readonly<Record<string, Rule | null>> = {
  [SPELLED]: null,
  [UNKNOWN]: { at: "", members: {} },
  [UNREADABLE]: { at: "", members: {} },
  [BESIDE]: { at: WRAPPER, members: {} },
};

/** Returns every change at and below a place. */
export function compareTrees(sides: Sides, at: At, given: RuleOf = {}): readonly Found[] {
  const rule = ruleFor(given, sides);
  if (rule === null || at.reporting.covered.has(at.place)) return [];
  const { instead, then, entry } = rule;
  const compare = rule.what === undefined ? compareInside : compareValues;
  const changes = instead === undefined ? compare(sides, at, rule) : instead(sides, at);
  const named = entry === undefined ? changes : entered(changes, entry(at.name, isOneSided(sides)));
  return then === undefined ? named : then(named, sides, at);
}

/** Gives the changes the key of the entry that they are in. */
function entered(changes: readonly Found[], entry: string): readonly Found[] {
  return changes.map((change) => (change.entry === "" ? { ...change, entry } : change));
}

/** Returns the rule, without members that a program has added to the prototype of all objects. */
function ruleFor(given: RuleOf, sides: Sides): Rule | null {
  if (typeof given === "function") return ruleFor(given(sides), sides);
  return given && withoutPrototype<Rule>(typeof given === "string" ? { what: given } : given);
}

function isOneSided([before, after]: Sides): boolean {
  return (before ?? null) === null ? (after ?? null) !== null : (after ?? null) === null;
}

function compareValues(sides: Sides, at: At, rule: Rule): readonly Found[] {
  const [before, after] = sides.map((side) => side ?? rule.absent);
  const changes = compareWhole(rule.what!, [before, after], at, rule);
  const isAlike = changes.length > 0 || rule.show !== undefined || contentOf(sides[0]) === contentOf(sides[1]);
  // Values with the same text may still differ, such as null from an absent one.
  return isAlike ? changes : at.reporting.keep("other", sides, at.place);
}

function contentOf(side: Content | undefined): string | null {
  return textOf(side, contentJson);
}

function compareWhole(what: ChangeId, sides: Sides, { place, name }: At, rule: Rule): readonly Found[] {
  const { show = contentText, turn = "lower" in CHANGES[what].means ? lowerOrNot : addedOrRemoved } = rule;
  const [before, after] = sides.map((side) => side ?? undefined);
  const [one, other] = [before, after].map((side) => textOf(side, (content) => show(content, name)));
  const turned = one === other ? null : turn(before, after);
  return turned === null ? [] : [found(what, { place, before: one!, after: other!, turn: turned })];
}

/** Whether a number, flag, time or version is lower. An absent number is lower than any other. */
export function lowerOrNot(before: Content = "", after: Content = ""): Turn {
  const [one, other] = [before, after].map((side) => (typeof side === "string" && side !== "" ? side : numberOf(side)));
  return other! < one! ? "lower" : "changed";
}

function numberOf(content: Content): number {
  return Number(typeof content === "boolean" ? content : contentText(content));
}

export function addedOrRemoved(before: unknown, after: unknown): Turn {
  if (before === undefined) return "added";
  return after === undefined ? "removed" : "changed";
}

function compareInside(sides: Sides, at: At, rule: Rule): readonly Found[] {
  const [before, after] = sides;
  if (before === undefined && after === undefined) return [];
  if (rule.pair !== undefined) return comparePairs(sides, at, rule);
  if (isOneSided(sides)) return compareOneSided(sides, at, rule);
  const [one, other] = sides.map((side) => (side === undefined ? "absent" : sortOf(side)));
  if (one === other && one !== "scalar") return compareParts(sides, at, rule);
  const { spell = contentJson } = rule;
  const isAlike = one === other && spell(before!) === spell(after!);
  return isAlike ? [] : at.reporting.keep(rule.inner ?? "other", sides, at.place);
}

/** Reports the value as a whole or, if rules or other changes are about parts of it, part by part. */
function compareOneSided(sides: Sides, at: At, rule: Rule): readonly Found[] {
  const { only, even = [], members, each, inner = "other" } = rule;
  if (only !== undefined) return [...compareWhole(only, sides, at, rule), ...compareParts(sides, at, rule, even)];
  const isReportedInside = at.reporting.above.has(at.place);
  const isOfParts = members !== undefined || each !== undefined || isReportedInside;
  const changes = isOfParts ? compareParts(sides, at, rule) : [];
  return changes.length > 0 || isReportedInside ? changes : at.reporting.keep(inner, sides, at.place);
}

function compareParts(sides: Sides, at: At, rule: Rule, names?: readonly string[]): readonly Found[] {
  const { key } = rule;
  const [before, after] = sides.map((side): Parts => {
    return key !== undefined && Array.isArray(side) ? byKey(side as Content[], key) : partsOf(side ?? null);
  }) as [Parts, Parts];
  const isKeyed = key !== undefined && sides.every((side) => Array.isArray(side));
  const all = names ?? [...new Set([...before.keys(), ...after.keys()])];
  const changes = all.flatMap((name, index) => {
    const both: Sides = [before.get(name), after.get(name)];
    const own = ruleFor(ruleOf(rule, name), both);
    const step = own?.at === undefined ? placeIn(at.place, name, index) : placeAt(at.place, own.at);
    return compareTrees(both, inside(at, name, step), own);
  });
  const orders: Sides = [order(before, after), order(after, before)];
  const isReordered = isKeyed && contentOf(orders[0]) !== contentOf(orders[1]);
  return isReordered ? [...changes, ...at.reporting.keep("order", orders, at.place)] : changes;
}

function ruleOf({ members, each, inner, spell, isRaw }: Rule, name: string | number): RuleOf {
  if (members !== undefined && Object.hasOwn(members, name)) return members[name] ?? null;
  const others: Rule = { ...(inner && { inner }), ...(spell && { spell }), ...(isRaw && { isRaw }) };
  // Entries with names of their own, such as variables, may have any name.
  if (isRaw === true || each !== undefined || !Object.hasOwn(GATHERED, name)) return each ?? others;
  const gathered = GATHERED[name]!;
  return gathered && { ...others, isRaw: true, ...gathered };
}

function placeAt(place: string, at: string): string {
  return at === "" || at === WRAPPER || place === "" ? place + at : `${place}.${at}`;
}

/** Returns the keys of `list` that `other` also has, in order. */
function order(list: Parts, other: Parts): string[] {
  return [...list.keys()].filter((key) => other.has(key)).map(String);
}

/** Compares items with equal keys first, and the remaining ones in order. */
function comparePairs(sides: Sides, at: At, { pair, each }: Rule): readonly Found[] {
  const [before, after] = sides.map((side) => (Array.isArray(side) ? (side as Content[]) : [])) as [
    Content[],
    Content[],
  ];
  // The lists are filled from the end, so that `pop` returns the first index.
  const places = grouped([...after.keys()].reverse(), (index) => pair!(after[index]!));
  const matched = before.map((item) => places.get(pair!(item))?.pop() ?? null);
  const taken = new Set(matched);
  const rest = after.map((_, index) => index).filter((index) => !taken.has(index));
  const both = before.flatMap((item, index) => {
    const other = matched[index] ?? rest.shift() ?? -1;
    return compareTrees([item, after[other]], inside(at, index), each);
  });
  const added = rest.flatMap((index) =>
    compareTrees([undefined, after[index]], inside(at, index, `${placeIn(at.place, index)} (new)`), each),
  );
  return [...both, ...added];
}

/** Returns the member on both sides. */
export function sidesOf([before, after]: Sides, name: string): Sides {
  return [memberOf(before, name), memberOf(after, name)];
}
