/** Tables of immutable records, and transactions that replace them. */
import type { Table, Tables } from "./records.js";
import type { Store, StoredTables } from "./store.js";

/** Reads records. */
export abstract class Reader {
  protected abstract tables: StoredTables;

  get<T extends Table>(table: T, id: string): Tables[T] | undefined {
    return this.tables.get(table)?.get(id) as Tables[T] | undefined;
  }

  all<T extends Table>(table: T): Tables[T][] {
    return [...(this.tables.get(table)?.values() ?? [])] as Tables[T][];
  }
}

export class State extends Reader {
  readonly #store: Store | null;
  protected override tables: StoredTables;
  #last: Promise<unknown> = Promise.resolve();

  /** Without a store, the state is in memory only. */
  constructor(store: Store | null) {
    super();
    this.#store = store;
    this.tables = store?.tables ?? new Map();
  }

  /**
   * Runs transactions one after the other. Changes are visible once they are written. A failed transaction changes
   * nothing.
   */
  async transact<R>(work: (tx: Transaction) => R | Promise<R>): Promise<R> {
    const run = this.#last.then(async () => {
      const tx = new Transaction(this.tables);
      const result = await work(tx);
      const changed = tx.changed();
      if (changed !== null) await this.#store?.write(changed);
      this.tables = changed ?? this.tables;
      for (const then of tx.later) then();
      return result;
    });
    this.#last = run.catch(() => {});
    return run;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#store?.close();
  }
}

/** A transaction, which sees its own changes. */
export class Transaction extends Reader {
  /** Functions that run after the changes are written. */
  readonly later: (() => void)[] = [];
  protected override readonly tables: Map<Table, ReadonlyMap<string, unknown>>;
  /** Copies of the tables that it changed. */
  readonly #own = new Map<Table, Map<string, unknown>>();

  constructor(tables: StoredTables) {
    super();
    this.tables = new Map(tables);
  }

  put<T extends Table>(table: T, id: string, record: Tables[T]): void {
    this.#ownTable(table).set(id, record);
  }

  delete(table: Table, id: string): void {
    this.#ownTable(table).delete(id);
  }

  afterwards(then: () => void): void {
    this.later.push(then);
  }

  /** Returns all tables; null if none has changed. */
  changed(): StoredTables | null {
    return this.#own.size === 0 ? null : this.tables;
  }

  #ownTable(table: Table): Map<string, unknown> {
    const own = this.#own.get(table) ?? new Map(this.tables.get(table));
    this.#own.set(table, own);
    this.tables.set(table, own);
    return own;
  }
}
