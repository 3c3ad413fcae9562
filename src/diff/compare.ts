/** Compares two trees place by place. The rule of a place says what its change means (`rules.ts`). */
import { fromBase64, fromHex, toHex } from "../bytes.js";
import { BESIDE, UNKNOWN, UNREADABLE } from "../inspect/described.js";
import { CHANGES, type ChangeId, type Found, type Turn, found } from "./changes.js";
import { type Content, type Parts, byKey, contentJson, contentText, memberOf, partsOf, sortOf } from "./content.js";
import { ReportedPlaces, placeIn } from "./place.js";

/** The contents of both inputs at a place. Undefined means absent. */
export type Sides = readonly [before: Content | undefined, after: Content | undefined];

/** What a change of a value means, and of its members and items. Without a meaning, a change is `other`. */
export interface Rule {
  /** The change of the value as a whole. Without it, members and items are compared one by one. */
  readonly what?: ChangeId;
  /** The change of a value that only one side has, and the members that are compared even then. */
  readonly only?: ChangeId;
  readonly even?: readonly string[];
  readonly turn?: (before: Content | undefined, after: Content | undefined) => Turn;
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
  /** Whether texts are the same if they are hex or base64 of the same bytes. */
  readonly isSpelling?: boolean;
  /** Compares in another way, or adds changes of values that both sides have only together with others. */
  readonly instead?: Compare;
  readonly also?: Compare;
  readonly then?: (changes: readonly Found[], ...given: Parameters<Compare>) => readonly Found[];
}

/** A rule, only the id of the change, null for a value that is not compared, or what depends on both values. */
export type RuleOf = Rule | ChangeId | null | ((sides: Sides) => RuleOf);
export type Compare = (sides: Sides, place: string, reporting: Reporting) => readonly Found[];

/** What is not reported: places that are reported already, and `other` changes beyond a number, which are counted. */
export class Reporting {
  readonly reported: ReportedPlaces;
  readonly #tally: { left: number; uncounted: number };

  private constructor(tally: { left: number; uncounted: number }, reported: readonly string[]) {
    this.#tally = tally;
    this.reported = new ReportedPlaces(reported);
  }

  static of(most: number): Reporting {
    return new Reporting({ left: most, uncounted: 0 }, []);
  }

  /** Returns a reporting in which nothing is reported at and below the places. */
  without(places: readonly string[]): Reporting {
    return new Reporting(this.#tally, places);
  }

  get uncounted(): number {
    return this.#tally.uncounted;
  }

  keep(what: ChangeId, [before, after]: Sides, place: string): readonly Found[] {
    if (--this.#tally.left < 0) {
      this.#tally.uncounted++;
      return [];
    }
    const texts = [before, after].map((side) => (side === undefined ? null : contentText(side)));
    // If the texts are equal, JSON shows the difference, such as between 3 and "3".
    const [one, other] = texts[0] === texts[1] ? [before, after].map(jsonOf) : texts;
    return [found(what, { place, before: one!, after: other! })];
  }
}

function jsonOf(content: Content | undefined): string | null {
  return content === undefined ? null : contentJson(content);
}

const NONE: Rule = {};
const WRAPPER = "(wrapper)";
/** The member that diff adds for the spelling of a part (`rules.ts`). */
export const SPELLED = "(spelled)";
/** Members that `inspect` gathers are compared at the places that they have in the file. */
const GATHERED: Readonly<Record<string, Rule | null>> = {
  [SPELLED]: null,
  [UNKNOWN]: { at: "", members: {} },
  [UNREADABLE]: { at: "", members: {} },
  [BESIDE]: { at: WRAPPER, members: {} },
};

/** Returns every change at and below a place. */
export function compareTrees(
  sides: Sides,
  place: string,
  reporting: Reporting,
  given: RuleOf = NONE,
  name = "",
): readonly Found[] {
  const rule = ruleFor(given, sides);
  if (rule === null || reporting.reported.has(place)) return [];
  const changes = [
    ...(rule.also?.(sides, place, reporting) ?? []),
    ...comparison(rule)(sides, place, reporting, rule, name),
  ];
  const isWhole = isAbsent(sides[0]) !== isAbsent(sides[1]);
  const entry = rule.entry?.(name, isWhole) ?? "";
  const named = entry === "" ? changes : changes.map((one) => (one.entry === "" ? { ...one, entry } : one));
  return rule.then?.(named, sides, place, reporting) ?? named;
}

function ruleFor(given: RuleOf, sides: Sides): Rule | null {
  if (typeof given === "function") return ruleFor(given(sides), sides);
  return typeof given === "string" ? { what: given } : given;
}

type CompareBy = (...given: [...Parameters<Compare>, rule: Rule, name: string]) => readonly Found[];

function comparison({ instead, what }: Rule): CompareBy {
  if (instead !== undefined) return instead;
  return what === undefined
    ? compareInside
    : (sides, place, reporting, rule, name) =>
        compareWhole(what, [sides[0] ?? rule.absent, sides[1] ?? rule.absent], {
          place,
          reporting,
          rule,
          name,
          given: sides,
        });
}

function isAbsent(side: Content | undefined): boolean {
  return side === undefined || side === null;
}

interface At {
  readonly place: string;
  readonly reporting: Reporting;
  readonly rule: Rule;
  readonly name: string;
  readonly given: Sides;
}

function compareWhole(what: ChangeId, sides: Sides, { place, reporting, rule, name, given }: At): readonly Found[] {
  const { show = contentText, turn = "lower" in CHANGES[what].means ? lowerOrNot : addedOrRemoved } = rule;
  const [before, after] = sides.map((side) => (isAbsent(side) ? null : show(side!, name)));
  if (before !== after) return [found(what, { place, before: before!, after: after!, turn: turn(...there(sides)) })];
  // The values may still differ, such as null from an absent one.
  return rule.show === undefined && jsonOf(given[0]) !== jsonOf(given[1]) ? reporting.keep("other", given, place) : [];
}

function there([before, after]: Sides): [Content | undefined, Content | undefined] {
  return [before ?? undefined, after ?? undefined];
}

/** Whether a number, flag, time or version is lower. An absent one is lower than any other. */
function lowerOrNot(before: Content = "", after: Content = ""): Turn {
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

function compareInside(sides: Sides, place: string, reporting: Reporting, rule: Rule, name: string): readonly Found[] {
  const [before, after] = sides;
  const { only, even, pair, inner = "other" } = rule;
  if (before === undefined && after === undefined) return [];
  if (pair !== undefined) return comparePairs([listOf(before), listOf(after)], place, reporting, rule);
  const isOneSided = isAbsent(before) !== isAbsent(after);
  if (isOneSided && only !== undefined)
    return [
      ...compareWhole(only, sides, { place, reporting, rule, name, given: sides }),
      ...compareParts(sides, place, reporting, rule, even ?? []),
    ];
  const isReportedInside = reporting.reported.hasBelow(place);
  if (isOneSided && (rule.members !== undefined || rule.each !== undefined || isReportedInside)) {
    const changes = compareParts(sides, place, reporting, rule);
    return changes.length > 0 || isReportedInside ? changes : reporting.keep(inner, sides, place);
  }
  const [one, other] = sides.map((side) => (side === undefined ? "absent" : sortOf(side)));
  if (one !== other) return reporting.keep(inner, sides, place);
  if (one !== "scalar") return compareParts(sides, place, reporting, rule);
  const text = rule.isSpelling === true ? spelledText : contentJson;
  return text(before!) === text(after!) ? [] : reporting.keep(inner, sides, place);
}

/** Returns one text for all spellings of the same bytes. */
function spelledText(content: Content): string {
  const bytes = typeof content === "string" ? (fromHex(content) ?? fromBase64(content)) : null;
  return bytes === null ? contentJson(content) : toHex(bytes);
}

function compareParts(
  sides: Sides,
  place: string,
  reporting: Reporting,
  rule: Rule,
  names?: readonly string[],
): Found[] {
  const { key } = rule;
  const [before, after] = sides.map((side): Parts => {
    if (isAbsent(side)) return new Map();
    return key !== undefined && Array.isArray(side) ? byKey(side as Content[], key) : partsOf(side!);
  }) as [Parts, Parts];
  const isKeyed = sides.every((side) => (Array.isArray(side) ? key !== undefined : side instanceof Map));
  const all = names ?? new Set([...before.keys(), ...after.keys()]);
  const changes = [...all].flatMap((name, index) => {
    const inside = ruleOf(rule, name);
    const both: Sides = [before.get(name), after.get(name)];
    const own = ruleFor(inside, both);
    const at = own?.at === undefined ? placeIn(place, name, index) : placeAt(place, own.at);
    return compareTrees(both, at, reporting, own, String(name));
  });
  if (!isKeyed) return changes;
  const orders = [order(before, after), order(after, before)] as const;
  return contentJson(orders[0]) === contentJson(orders[1])
    ? changes
    : [...changes, ...reporting.keep("order", orders, place)];
}

function ruleOf({ members, each, inner, isSpelling }: Rule, name: string | number): RuleOf {
  if (members !== undefined && Object.hasOwn(members, name)) return members[name] ?? null;
  const inside = inner === undefined ? NONE : { inner, ...(isSpelling === true && { isSpelling }) };
  if (!Object.hasOwn(GATHERED, name)) return each ?? inside;
  const gathered = GATHERED[name]!;
  return gathered && { ...inside, ...gathered };
}

function placeAt(place: string, at: string): string {
  if (at === WRAPPER) return `${place}${at}`;
  return at === "" || place === "" ? place + at : `${place}.${at}`;
}

/** Returns the keys of `list` that `other` also has, in order. */
function order(list: Parts, other: Parts): string[] {
  return [...list.keys()].filter((key) => other.has(key)).map(String);
}

function listOf(content: Content | undefined): readonly Content[] {
  return Array.isArray(content) ? (content as Content[]) : [];
}

/** Compares items with equal keys first, and the remaining ones in order. */
function comparePairs(
  [before, after]: readonly [readonly Content[], readonly Content[]],
  place: string,
  reporting: Reporting,
  { pair, each }: Rule,
): Found[] {
  const places = new Map<string, number[]>();
  // The lists are filled from the end, so that `pop` returns the first index.
  for (let index = after.length - 1; index >= 0; index--) {
    const key = pair!(after[index]!);
    places.set(key, [...(places.get(key) ?? []), index]);
  }
  const matched = before.map((item) => places.get(pair!(item))?.pop() ?? null);
  const taken = new Set(matched);
  const rest = after.flatMap((_, index) => (taken.has(index) ? [] : [index]));
  const both = before.flatMap((item, index) => {
    const other = matched[index] ?? rest.shift();
    const there = other === undefined ? undefined : after[other];
    return compareTrees([item, there], placeIn(place, index), reporting, each);
  });
  const added = rest.flatMap((index) =>
    compareTrees([undefined, after[index]], `${placeIn(place, index)} (new)`, reporting, each),
  );
  return [...both, ...added];
}

/** Returns the member on both sides. */
export function sidesOf([before, after]: Sides, name: string): Sides {
  return [memberOf(before, name), memberOf(after, name)];
}
