/** The input and output of every submit operation. */
import type { ReadOf, Shape } from "../decode/shapes.js";
import type { JsonObject } from "../decode/json.js";
import type { AddressFacts } from "./enclave.js";
import type { Organization, UserRecord } from "./records.js";
import type { Transaction } from "./state.js";

export interface Call<Parameters> {
  readonly tx: Transaction;
  readonly organization: Organization;
  readonly actor: UserRecord;
  readonly parameters: Parameters;
  readonly now: Date;
}

export interface Outcome {
  /** The parameters that the service added, such as defaults. */
  readonly intent?: JsonObject;
  readonly result: JsonObject;
  /** The facts that app proofs prove, if they were requested. */
  readonly addresses?: readonly AddressFacts[];
}

/** The effect of each operation of a table. */
export type EffectsOf<Table extends Readonly<Record<string, { readonly parameters: Shape<unknown> }>>> = {
  readonly [Name in keyof Table]: (call: Call<ReadOf<Table[Name]["parameters"]>>) => Outcome | Promise<Outcome>;
};
