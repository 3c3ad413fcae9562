/**
 * The part of PromQL that the alerts of docs/operations.md use: selectors, comparisons that filter, `and`, `or`,
 * `unless`, `+ - * /`, `absent`, `increase`, `min_over_time` and `time`. Anything else is an error. Where promtool is
 * installed, `test/alerts.test.ts` compares it with Prometheus itself.
 */
export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** A sample for each minute; null where the scrape had none. */
  readonly values: readonly (number | null)[];
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}
type Value = number | readonly Sample[];
type Expression = (at: number) => Value;

const TOKEN = /\s*(?:==|!=|>=|<=|=~|!~|[-+*/(){}[\],=<>]|"(?:[^"\\]|\\.)*"|\d+(?:\.\d+)?(?:m(?![a-z]))?|[a-z_]\w*)/y;

function tokensOf(text: string): string[] {
  TOKEN.lastIndex = 0;
  const tokens: string[] = [];
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const found = TOKEN.exec(text);
    if (found === null) throw new Error(`${text}: this is not in the part of PromQL that is known here`);
    tokens.push(found[0].trim());
  }
  return tokens;
}

const keyOf = (labels: Sample["labels"], on: readonly string[] | null = null): string =>
  JSON.stringify(
    Object.entries(labels)
      .filter(([name]) => name !== "__name__" && (on === null || on.includes(name)))
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );

function withoutName(labels: Sample["labels"]): Sample["labels"] {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => name !== "__name__"));
}

const COMPARISONS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  ">": (a, b) => a > b,
  "<": (a, b) => a < b,
  ">=": (a, b) => a >= b,
  "<=": (a, b) => a <= b,
};
const ARITHMETIC: Readonly<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
};

class Parser {
  readonly #tokens: string[];
  readonly #series: readonly Series[];

  constructor(text: string, series: readonly Series[]) {
    this.#tokens = tokensOf(text);
    this.#series = series;
  }

  whole(): Expression {
    const expression = this.#or();
    if (this.#tokens.length > 0) throw new Error(`not expected here: ${this.#tokens.join(" ")}`);
    return expression;
  }

  #take(wanted?: string): string {
    const token = this.#tokens.shift() ?? "the end";
    if (wanted !== undefined && token !== wanted) throw new Error(`expected ${wanted}, got ${token}`);
    return token;
  }

  #accept(...wanted: readonly string[]): string | null {
    return wanted.includes(this.#tokens[0] ?? "") ? this.#take() : null;
  }

  #or(): Expression {
    let left = this.#and();
    while (this.#accept("or")) {
      const [first, second] = [left, this.#and()];
      left = (at) => {
        const [a, b] = [vector(first(at)), vector(second(at))];
        const known = new Set(a.map(({ labels }) => keyOf(labels)));
        return [...a, ...b.filter(({ labels }) => !known.has(keyOf(labels)))];
      };
    }
    return left;
  }

  #and(): Expression {
    let left = this.#comparison();
    for (let word = this.#accept("and", "unless"); word !== null; word = this.#accept("and", "unless")) {
      const on = this.#accept("on") ? this.#names() : null;
      const [first, second, wanted] = [left, this.#comparison(), word === "and"];
      left = (at) => {
        const known = new Set(vector(second(at)).map(({ labels }) => keyOf(labels, on)));
        return vector(first(at)).filter(({ labels }) => known.has(keyOf(labels, on)) === wanted);
      };
    }
    return left;
  }

  #names(): string[] {
    const names: string[] = [];
    this.#take("(");
    do names.push(this.#take());
    while (this.#accept(","));
    this.#take(")");
    return names;
  }

  #comparison(): Expression {
    const left = this.#sum();
    const operator = this.#accept(...Object.keys(COMPARISONS));
    if (operator === null) return left;
    const right = this.#sum();
    return (at) => {
      const limit = right(at);
      if (typeof limit !== "number") throw new Error("a comparison with a number is expected");
      return vector(left(at)).filter(({ value }) => COMPARISONS[operator]!(value, limit));
    };
  }

  #sum(): Expression {
    return this.#operation(() => this.#operation(() => this.#term(), "*", "/"), "+", "-");
  }

  #operation(term: () => Expression, ...operators: readonly string[]): Expression {
    let left = term();
    for (let operator = this.#accept(...operators); operator !== null; operator = this.#accept(...operators)) {
      const [first, second, work] = [left, term(), ARITHMETIC[operator]!];
      left = (at) => {
        const [a, b] = [first(at), second(at)];
        if (typeof a === "number" && typeof b === "number") return work(a, b);
        if (typeof a === "number")
          return vector(b).map(({ labels, value }) => ({ labels: withoutName(labels), value: work(a, value) }));
        if (typeof b === "number")
          return a.map(({ labels, value }) => ({ labels: withoutName(labels), value: work(value, b) }));
        throw new Error("arithmetic of two vectors is not known here");
      };
    }
    return left;
  }

  #term(): Expression {
    const token = this.#take();
    if (/^\d/.test(token)) return () => Number(token);
    if (token === "(") {
      const inner = this.#or();
      this.#take(")");
      return inner;
    }
    if (this.#tokens[0] !== "(") return this.#selector(token);
    this.#take("(");
    const call = this.#call(token);
    this.#take(")");
    return call;
  }

  #call(name: string): Expression {
    // Minutes of this time are those since the first sample, as in promtool's tests.
    if (name === "time") return (at) => at * 60;
    const [metric, matches] = this.#matcher(this.#take());
    if (name === "absent") {
      const equal = matches.filter(({ kind }) => kind === "=");
      const labels = Object.fromEntries(equal.map(({ label, text }) => [label, text]));
      return (at) => (this.#at(metric, matches, at).length === 0 ? [{ labels, value: 1 }] : []);
    }
    this.#take("[");
    const minutes = Number(this.#take().replace(/m$/, ""));
    this.#take("]");
    if (name !== "increase" && name !== "min_over_time") throw new Error(`${name}: not known here`);
    return (at) =>
      this.#found(metric, matches).flatMap(({ labels, values }) => {
        const seen = values.slice(Math.max(0, at - minutes + 1), at + 1).filter((value) => value !== null);
        if (name === "min_over_time") return seen.length === 0 ? [] : [{ labels, value: Math.min(...seen) }];
        return seen.length < 2 ? [] : [{ labels, value: increaseOf(seen) }];
      });
  }

  #selector(metric: string): Expression {
    const [name, matches] = this.#matcher(metric);
    return (at) => this.#at(name, matches, at);
  }

  #matcher(metric: string): readonly [string, readonly Match[]] {
    const matches: Match[] = [];
    if (this.#accept("{"))
      do {
        const [label, kind, text] = [this.#take(), this.#take(), JSON.parse(this.#take()) as string];
        if (!["=", "!=", "=~", "!~"].includes(kind)) throw new Error(`${kind}: not known here`);
        matches.push({ label, kind, text });
      } while (this.#accept(","));
    if (matches.length > 0) this.#take("}");
    return [metric, matches];
  }

  #found(metric: string, matches: readonly Match[]): readonly Series[] {
    return this.#series.filter(({ name, labels }) => name === metric && matches.every((match) => isMet(match, labels)));
  }

  #at(metric: string, matches: readonly Match[], at: number): readonly Sample[] {
    return this.#found(metric, matches).flatMap(({ name, labels, values }) => {
      const value = values[at] ?? null;
      return value === null ? [] : [{ labels: { ...labels, __name__: name }, value }];
    });
  }
}

interface Match {
  readonly label: string;
  readonly kind: string;
  readonly text: string;
}

function isMet({ label, kind, text }: Match, labels: Sample["labels"]): boolean {
  const value = labels[label] ?? "";
  const isEqual = kind.includes("~") ? new RegExp(`^(?:${text})$`).test(value) : value === text;
  return isEqual === !kind.startsWith("!");
}

/** The sum of what a counter rose by. A counter that falls began anew. */
function increaseOf(seen: readonly number[]): number {
  return seen.slice(1).reduce((sum, value, index) => sum + (value < seen[index]! ? value : value - seen[index]!), 0);
}

function vector(value: Value): readonly Sample[] {
  if (typeof value === "number") throw new Error("a vector is expected");
  return value;
}

export interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
}

/** Returns the minutes at which a rule fires, for as many minutes as the series have. */
export function firing({ expr, for: wait = "0m" }: Rule, series: readonly Series[]): number[] {
  const [, count, unit] = /^(\d+)([mh])$/.exec(wait)!;
  const minutes = Number(count) * (unit === "h" ? 60 : 1);
  const expression = new Parser(expr, series).whole();
  const pending = new Map<string, number>();
  const fired: number[] = [];
  for (let at = 0; at < Math.max(...series.map(({ values }) => values.length)); at++) {
    const keys = vector(expression(at)).map(({ labels }) => keyOf(labels));
    for (const key of pending.keys()) if (!keys.includes(key)) pending.delete(key);
    for (const key of keys) if (!pending.has(key)) pending.set(key, at);
    if ([...pending.values()].some((since) => at - since >= minutes)) fired.push(at);
  }
  return fired;
}
