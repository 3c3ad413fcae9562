/** A door for several entrances. */
import { typedOptions } from "../decode/options.js";
import { DOOR_OPTIONS, Door, type DoorOptions, type SharedDoor } from "../door/door.js";
import { LATER } from "../door/later.js";

/**
 * Makes a door that several entrances share: {@link verifiedFetch}, {@link verified}, and `withVerification` of the
 * client. A proof that was used at one of them is refused at another, and an activity that answered a request at one of
 * them is compared with that request at another. Throws TypeError for invalid options.
 *
 * @example
 * const door = createDoor({ policy });
 * const verifyingFetch = verifiedFetch({ door, baseUrl, evidence: client });
 * const verifying = client.withVerification(door);
 */
export function createDoor(options: DoorOptions): SharedDoor {
  return new Door(typedOptions("options", options, DOOR_OPTIONS), LATER);
}
