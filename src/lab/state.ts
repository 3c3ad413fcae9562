/** Tables of immutable records, and transactions that replace them. */
import type { JsonValue } from "../decode/json.js";
import type { Table, Tables } from "./records.js";
import type { Change, Store } from "./store.js";

export interface Reader {
  get<T extends Table>(table: T, id: string): Tables[T] | undefined;
  all<T extends Table>(table: T): Tables[T][];
}

export class State implements Reader {
  readonly #store: Store;
  readonly #tables = new Map<Table, Map<string, unknown>>();
  #last: Promise<unknown> = Promise.resolve();

  private constructor(store: Store) {
    this.#store = store;
  }

  static async open(store: Store): Promise<State> {
    const state = new State(store);
    state.#apply(await store.read());
    return state;
  }

  get<T extends Table>(table: T, id: string): Tables[T] | undefined {
    return this.#tables.get(table)?.get(id) as Tables[T] | undefined;
  }

  all<T extends Table>(table: T): Tables[T][] {
    return [...this.records(table).values()];
  }

  records<T extends Table>(table: T): ReadonlyMap<string, Tables[T]> {
    return (this.#tables.get(table) ?? new Map()) as ReadonlyMap<string, Tables[T]>;
  }

  /**
   * Runs transactions one after the other. Changes are visible once they are written. A failed transaction changes
   * nothing.
   */
  async transact<R>(work: (tx: Transaction) => R | Promise<R>): Promise<R> {
    const run = this.#last.then(async () => {
      const tx = new Transaction(this);
      const result = await work(tx);
      const changes = tx.changes();
      if (changes.length > 0) await this.#store.write(changes);
      this.#apply(changes);
      for (const then of tx.later) then();
      return result;
    });
    this.#last = run.catch(() => {});
    return run;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#store.close();
  }

  #apply(changes: readonly Change[]): void {
    for (const { key, value } of changes) {
      const [table, id] = split(key);
      const records = this.#tables.get(table) ?? new Map<string, unknown>();
      this.#tables.set(table, records);
      if (value === undefined) records.delete(id);
      else records.set(id, value);
    }
  }
}

/** A transaction, which sees its own changes. */
export class Transaction implements Reader {
  /** Functions that run after the changes are written. */
  readonly later: (() => void)[] = [];
  readonly #base: State;
  readonly #changes = new Map<string, unknown>();

  constructor(base: State) {
    this.#base = base;
  }

  get<T extends Table>(table: T, id: string): Tables[T] | undefined {
    const key = `${table}/${id}`;
    return this.#changes.has(key) ? (this.#changes.get(key) as Tables[T] | undefined) : this.#base.get(table, id);
  }

  all<T extends Table>(table: T): Tables[T][] {
    const own = [...this.#changes].filter(([key]) => split(key)[0] === table);
    if (own.length === 0) return this.#base.all(table);
    const records = new Map<string, unknown>([
      ...this.#base.records(table),
      ...own.map(([key, value]) => [split(key)[1], value] as const),
    ]);
    return [...records.values()].filter((record) => record !== undefined) as Tables[T][];
  }

  put<T extends Table>(table: T, id: string, record: Tables[T]): void {
    this.#changes.set(`${table}/${id}`, record);
  }

  delete(table: Table, id: string): void {
    this.#changes.set(`${table}/${id}`, undefined);
  }

  afterwards(then: () => void): void {
    this.later.push(then);
  }

  changes(): Change[] {
    return [...this.#changes].map(([key, value]) =>
      value === undefined ? { key } : { key, value: value as JsonValue },
    );
  }
}

function split(key: string): [table: Table, id: string] {
  const slash = key.indexOf("/");
  return [key.slice(0, slash) as Table, key.slice(slash + 1)];
}
