/** A request to change something, and what comes of it: what every operation of the lab is given, and answers. */
import type { JsonObject } from "../decode/json.js";
import type { AddressFacts } from "./enclave.js";
import type { Organization, UserRecord } from "./records.js";
import type { Transaction } from "./state.js";

/** One request to change something. */
export interface Call<Parameters> {
  readonly tx: Transaction;
  readonly organization: Organization;
  /** Who submitted it. */
  readonly actor: UserRecord;
  readonly parameters: Parameters;
  readonly now: Date;
}

export interface Outcome {
  /** What the intent says beside the parameters: what was left to the service. */
  readonly intent?: JsonObject;
  readonly result: JsonObject;
  /** Addresses that it concerned: the enclave answers for them. */
  readonly addresses?: readonly AddressFacts[];
}
