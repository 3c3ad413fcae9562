/** Which mutants a source has, and that each of them does what it is called. */
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { type Mutant, keyOf, mutate } from "./mutants.mjs";

/** Stands for the checker's library: what the sources below use of it. */
const LIBRARY = `
  interface Array<T> { readonly length: number; filter(keep: (item: T) => boolean): T[] }
  interface Boolean {} interface CallableFunction {} interface Function {} interface IArguments {}
  interface NewableFunction {} interface Number {} interface Object {} interface RegExp {} interface String {}
`;

function mutated(text: string): { readonly mutants: readonly Mutant[]; readonly code: string } {
  const files: Readonly<Record<string, string>> = { "library.d.ts": LIBRARY, "sample.ts": text };
  const host: ts.CompilerHost = {
    ...ts.createCompilerHost({}),
    getSourceFile: (name) => ts.createSourceFile(name, files[name] ?? "", ts.ScriptTarget.ES2022, true),
  };
  const program = ts.createProgram(Object.keys(files), { noLib: true, strict: true }, host);
  return mutate(program, "sample.ts", "sample.ts", 0);
}

/** What the sample's `run` answers with each of its mutants. */
function answers(text: string, ...inputs: readonly unknown[]): Record<string, unknown> {
  const { mutants, code } = mutated(text);
  const { outputText } = ts.transpileModule(code, { compilerOptions: { target: ts.ScriptTarget.ES2022 } });
  const run = (active: number): unknown => {
    const is = (id: number): boolean => id === active;
    const globals = {
      [Symbol.for("mutation")]: {
        is,
        condition: (whenTrue: number, whenFalse: number, value: unknown) => is(whenTrue) || (!is(whenFalse) && value),
        boundary: (id: number, operator: string, left: number, right: number) => {
          const [less, equal] = [operator.startsWith("<") ? left < right : left > right, left === right];
          return operator.endsWith("=") === is(id) ? less : less || equal;
        },
        list: (id: number, value: unknown) => (is(id) ? [] : value),
        left: (id: number, left: unknown, right: () => unknown) => (is(id) ? left : (left ?? right())),
        dropped: (id: number, on: unknown, call: (on: unknown) => unknown) => (is(id) ? on : call(on)),
      },
    };
    try {
      return (new Function("globalThis", "inputs", `${outputText}; return run(...inputs);`) as typeof evaluated)(
        globals,
        inputs,
      );
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(run(-1), "without a mutant").toEqual(evaluated(text, inputs));
  return Object.fromEntries(mutants.map(({ mutation, source }, id) => [`${source} | ${mutation}`, run(id)]));
}

function evaluated(text: unknown, inputs: readonly unknown[]): unknown {
  const { outputText } = ts.transpileModule(text as string, { compilerOptions: { target: ts.ScriptTarget.ES2022 } });
  return (new Function("inputs", `${outputText}; return run(...inputs);`) as (given: unknown) => unknown)(inputs);
}

describe("the mutants of", () => {
  it("a comparison: its boundary, its number, and either answer", () => {
    expect(answers("function run(n: number): string { if (n < 5) return 'less'; return 'more'; }", 5)).toEqual({
      "n < 5 | boundary → <=": "less",
      "5 | number → one more": "less",
      "n < 5 | condition → true": "less",
      "n < 5 | condition → false": "more",
      "'less' | text → another": "more",
      "'more' | text → another": "",
    });
  });

  it("texts, but for the sentences that are for people", () => {
    const text = "function run(n: number): string { return n + ' is more: look there' + `${n}[${n}]` + 'a.b'; }";
    expect(Object.keys(answers(text, 5)).filter((key) => key.endsWith("text → another"))).toEqual([
      "`${n}[${n}]` | text → another",
      "'a.b' | text → another",
    ]);
  });

  it("what is asked together: each part once, and the whole", () => {
    const text = "function run(a: boolean, b: boolean): boolean { return a && !b; }";
    expect(answers(text, false, false)).toEqual({
      "a | condition → true": true,
      "!b | condition → true": false,
      "a && !b | condition → true": true,
      "a && !b | condition → false": false,
    });
  });

  it("lists, and what is left out of them", () => {
    const text = "function run(): number[] { return [1, 2].filter((one) => one > 1); }";
    expect(answers(text)).toEqual({
      "[1, 2].filter((one) => one > 1) | filter → nothing": [1, 2],
      "1 | number → one more (2)": [2, 2],
      "2 | number → one more": [3],
      "[1, 2] | list → empty": [],
      "one > 1 | boundary → >=": [1, 2],
      "1 | number → one more": [],
      "one > 1 | condition → true": [1, 2],
      "one > 1 | condition → false": [],
      "[1, 2].filter((one) => one > 1) | answer → empty list": [],
    });
  });

  it("what stands in for nothing, an object too", () => {
    const text = "function run(given?: { n: number }): unknown { const { n } = given ?? {}; return n; }";
    expect(answers(text)).toMatchObject({ "n | answer → none": undefined });
  });

  it("nothing that would need an await in a function of its own", () => {
    const text = "async function run(list: any, given?: any) { return given ?? list.slice(await given); }";
    const mutations = mutated(text).mutants.map(({ mutation }) => mutation);
    expect(mutations).toContain("answer → none");
    expect(mutations.filter((mutation) => /^(?:\?\?|slice)/.test(mutation))).toEqual([]);
  });

  it("statements, sums and what stands in for nothing", () => {
    const text = `function run(given: number | undefined): number {
      let sum = given ?? 3;
      sum += 2;
      return sum;
    }`;
    expect(answers(text, undefined)).toEqual({
      "given ?? 3 | ?? → its left side": NaN,
      "3 | number → one more": 6,
      "sum += 2; | statement → nothing": 3,
      "2 | number → one more": 6,
      "sum += 2 | operator → -=": 1,
      "sum | answer → none": undefined,
    });
  });
});

it("are known by their text and place, not by their line", () => {
  const [first] = mutated("function run(): boolean { return true; }").mutants;
  const [later] = mutated("// A line more.\n\nfunction run(): boolean { return  true; }").mutants;
  expect([first!.line, later!.line]).toEqual([1, 3]);
  expect(keyOf(later!)).toBe(keyOf(first!));
});
