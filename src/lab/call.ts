/** Operations of the lab. An operation is one row: its names, the shape of its parameters, and its effect. */
import type { AddressDerivationProof } from "../decode/app-proof.js";
import type { SubmitOperation } from "../client/operations.js";
import type { Shape } from "../decode/shapes.js";
import type { JsonObject } from "../decode/json.js";
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
  /** The parameters that the service adds to the intent, such as defaults. */
  readonly intent?: JsonObject;
  readonly result: JsonObject;
  /** The facts that the app proofs prove, if app proofs are requested. */
  readonly addresses?: readonly AddressDerivationProof[];
}

/** Runs an operation. It checks everything before it changes anything, and throws Refusal. */
export type CarryOut<Parameters> = (call: Call<Parameters>) => Outcome | Promise<Outcome>;

export interface LabOperation extends Omit<SubmitOperation, "group" | "result"> {
  /** Runs the operation. `parameters` must match the shape. */
  readonly carryOut: CarryOut<JsonObject>;
}

/** Makes an operation. Its path, its intent member and its result member are named after its type. */
export function operation<T>(
  type: string,
  parameters: Shape<T>,
  carryOut: CarryOut<T>,
  resultVersion?: string,
): LabOperation {
  const [, words, version = ""] = /^ACTIVITY_TYPE_(.+?)(?:_(V\d+))?$/.exec(type)!;
  const name = words!.toLowerCase();
  const camel = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return {
    name,
    type,
    parameters,
    intentMember: `${camel}Intent${version}`,
    resultMember: `${camel}Result${resultVersion ?? version}`,
    carryOut: carryOut as CarryOut<unknown>,
  };
}
