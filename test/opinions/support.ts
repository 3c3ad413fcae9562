/**
 * Another implementation's opinion of the same input, held against ours. Where the two differ, a row of a table says
 * why; a difference without a row fails, and so does a row whose example shows no such difference any more.
 *
 * Few cases with the tests' one seed, and 20,000 with a seed of their own (BOOTPROOF_SEED) in
 * `BOOTPROOF_TESTS=long npx vitest run test/opinions`.
 */
import { afterAll, expect, it } from "vitest";
import { MalformedError } from "../../src/errors.js";
import { IS_LONG } from "../support/long.js";
import { fc } from "../support/property.js";

const LONG = 20_000;
const LONG_SEED = Number(process.env["BOOTPROOF_SEED"] ?? Date.now() % 2 ** 31);
/** The long run has no other bound than what it is asked for. */
export const TIMEOUT = IS_LONG ? 3_600_000 : 60_000;

/** Parameters of fast-check. `share`: of the cases of a long run, where each takes long. */
export function runs(short: number, share = 1): { numRuns: number; seed?: number } {
  return IS_LONG ? { numRuns: Math.ceil(LONG * share), seed: LONG_SEED } : { numRuns: short };
}

/** What an implementation makes of an input: a value, or why there is none. */
export type Opinion = { readonly value: unknown } | { readonly refused: string };

/** Ours: what is not a MalformedError is not a refusal but a fault of this package, and fails the test. */
export function ours(read: () => unknown): Opinion {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof MalformedError) return { refused: error.message };
    throw error;
  }
}

/** Another's: however it fails, it refuses. */
export function theirs(read: () => unknown): Opinion {
  try {
    return { value: read() };
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) };
  }
}

interface Seen<Case> {
  readonly input: Case;
  readonly ours: Opinion;
  readonly theirs: Opinion;
}

export interface Difference<Case> {
  readonly name: string;
  /** One sentence. */
  readonly why: string;
  readonly example: NoInfer<Case>;
  readonly isIt: (seen: Seen<Case>) => boolean;
}

/** A row of what they read and we refuse: with our reason, and a second look that confirms it without our code. */
export function refusedHere<Case>(
  row: Omit<Difference<Case>, "isIt"> & {
    readonly reason: RegExp;
    readonly confirmed: (input: Case, value: unknown, refused: string) => boolean;
  },
): Difference<Case> {
  const { name, why, example, reason, confirmed } = row;
  return {
    name,
    why,
    example,
    isIt: (seen) =>
      "refused" in seen.ours &&
      "value" in seen.theirs &&
      reason.test(seen.ours.refused) &&
      confirmed(seen.input, seen.theirs.value, seen.ours.refused),
  };
}

/** A row of what we read and they refuse, with their reason. */
export function refusedThere<Case>(
  row: Omit<Difference<Case>, "isIt"> & { readonly reason: RegExp },
): Difference<Case> {
  const { reason, ...rest } = row;
  return {
    ...rest,
    isIt: (seen) => "value" in seen.ours && "refused" in seen.theirs && reason.test(seen.theirs.refused),
  };
}

interface Pair<Case> {
  /** Who is asked, and about what. */
  readonly name: string;
  readonly ours: (input: Case) => Opinion;
  readonly theirs: (input: Case) => Opinion;
  readonly differences: readonly Difference<Case>[];
  /** The case, for whoever has to look into a difference. */
  readonly show: (input: Case) => string;
}

/** Two implementations side by side. Made at the top of a test file: it adds the tests of its own rows. */
export class Comparison<Case> {
  readonly #pair: Pair<Case>;
  readonly #counts = new Map<string, number>();

  constructor(pair: Pair<Case>) {
    this.#pair = pair;
    for (const row of pair.differences)
      it(`${pair.name}: ${row.name}`, () => {
        expect(row.why).toMatch(/\.$/);
        expect(this.#judge(row.example)).toBe(row.name);
      });
    tellAfterwards(pair.name, this.#counts);
  }

  /** How often both read the same so far. */
  get agreed(): number {
    return this.#counts.get("both read the same") ?? 0;
  }

  get refusedByBoth(): number {
    return this.#counts.get("both refuse") ?? 0;
  }

  /** Throws for a difference that no row explains. */
  hold(input: Case): void {
    const name = this.#judge(input);
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  #judge(input: Case): string {
    const { ours: our, theirs: their, differences, show, name } = this.#pair;
    const seen = { input, ours: our(input), theirs: their(input) };
    if ("refused" in seen.ours && "refused" in seen.theirs) return "both refuse";
    if ("value" in seen.ours && "value" in seen.theirs && same(seen.ours.value, seen.theirs.value))
      return "both read the same";
    const row = differences.find(({ isIt }) => isIt(seen));
    if (row !== undefined) return row.name;
    throw new Error(`${name}: unexplained\n${show(input)}\nours: ${shown(seen.ours)}\ntheirs: ${shown(seen.theirs)}`);
  }
}

/** After a long run, the figures. */
export function tellAfterwards(name: string, counts: ReadonlyMap<string, number>): void {
  if (!IS_LONG) return;
  afterAll(() => {
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const lines = [...counts].sort(([, one], [, other]) => other - one).map(([what, count]) => `  ${count} ${what}`);
    console.log([`${name} (seed ${LONG_SEED}): ${total} cases`, ...lines].join("\n"));
  });
}

function shown(opinion: Opinion): string {
  if ("refused" in opinion) return `refuses: ${opinion.refused}`;
  return JSON.stringify(opinion.value, (_name, value: unknown) => {
    if (typeof value === "bigint") return `${value}n`;
    if (value instanceof Map) return [...(value as Map<unknown, unknown>)];
    return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value;
  });
}

/**
 * Whether two values say the same: bytes by their content, maps by their entries in order, objects by their own
 * members in any order and whatever their prototype; zero and minus zero differ.
 */
export function same(one: unknown, other: unknown): boolean {
  if (one instanceof Uint8Array) return other instanceof Uint8Array && Buffer.compare(one, other) === 0;
  if (one instanceof Date) return other instanceof Date && one.getTime() === other.getTime();
  if (Array.isArray(one)) return Array.isArray(other) && sameItems(one, other);
  if (one instanceof Map) return other instanceof Map && sameItems([...one].flat(1), [...other].flat(1));
  if (typeof one !== "object" || one === null || typeof other !== "object" || other === null)
    return Object.is(one, other);
  const names = Object.keys(one);
  return (
    !Array.isArray(other) &&
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && same(member(one, name), member(other, name)))
  );
}

function sameItems(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((item, index) => same(item, other[index]));
}

/** Of its own, `__proto__` included. */
function member(object: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(object, name)?.value;
}

/** Whether a text has a surrogate without its other half. */
export function isLone(text: string): boolean {
  return /\p{Surrogate}/u.test(text);
}

export { fc };
