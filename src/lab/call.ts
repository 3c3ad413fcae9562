/** What a submit is given, and what comes of it. */
import type { AddressDerivationProof } from "../decode/app-proof.js";
import type { JsonObject } from "../decode/json.js";
import type { Shape } from "../decode/shapes.js";
import type { QosKeyPair } from "./qos.js";
import type { Organization, UserRecord } from "./records.js";
import { invalid } from "./refusal.js";
import type { App, TokenApp } from "./release.js";
import type { Transaction } from "./state.js";

export interface Call<Parameters> {
  readonly tx: Transaction;
  readonly organization: Organization;
  readonly actor: UserRecord;
  readonly parameters: Parameters;
  readonly now: Date;
  /** Returns the quorum key of an application, which signs tokens and bundles. */
  readonly quorumKey: (app: App | TokenApp) => QosKeyPair;
}

export interface Outcome {
  /** The parameters that the service adds to the intent, such as defaults. */
  readonly intent?: JsonObject;
  readonly result: JsonObject;
  /** The facts that the app proofs prove, if app proofs are requested. */
  readonly addresses?: readonly AddressDerivationProof[];
}

export interface Guessed {
  readonly isGuess?: true;
}

/** Runs a submit. It checks everything before it changes anything, and throws Refusal. */
export type CarryOut<Parameters> = ((call: Call<Parameters>) => Outcome | Promise<Outcome>) & Guessed;
export interface Row {
  /** The last segment of its path. */
  readonly name: string;
  readonly parameters: Shape<unknown>;
  /** Whether what it does is the lab's guess. */
  readonly isGuess: boolean;
}

export interface LabOperation extends Row {
  readonly type: string;
  readonly intentMember: string;
  readonly resultMember: string;
  /** Whether the parent of an organization may submit it, as backends do that log their users in. */
  readonly byParent: boolean;
  /** Runs the operation. `parameters` must match the shape. */
  readonly carryOut: CarryOut<JsonObject>;
}

export function refuseEmpty(name: string, items: readonly unknown[]): void {
  if (items.length === 0) throw invalid(`parameters.${name}: empty`);
}
