/** A query of a caller, and from what it is answered. */
import type { Fleet } from "./fleet.js";
import type { Misbehaviour } from "./misbehaviour.js";
import type { Organization } from "./records.js";
import type { Settings } from "./settings.js";
import type { Caller } from "./stamps.js";
import type { State } from "./state.js";

/** The state and the enclaves from which queries are answered. */
export interface Sources {
  readonly state: State;
  readonly fleet: Fleet;
  readonly misbehaviour: Misbehaviour;
  readonly settings: Settings;
  readonly now: () => Date;
}

export interface Question<Parameters> extends Sources {
  readonly organization: Organization;
  readonly caller: Caller;
  readonly parameters: Parameters;
}
