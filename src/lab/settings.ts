/** What the interface leaves open about lists and proofs, as settings, so that clients can meet each answer. */
import { options, plain } from "../decode/options.js";
import { type MembersOf, count, either, flag, list, nonEmptyText, oneOf, optional } from "../decode/shapes.js";

export interface ServiceSettings {
  /** The order of lists; a number shuffles by this seed. Default: activities newest first, all others oldest first. */
  readonly order?: "oldest" | "newest" | number;
  /** Whether `list_activities` has the app proofs of its activities. Default: true. */
  readonly listsAppProofs?: boolean;
  /** Whether the list of a parent has the activities of its sub-organizations. Default: false. */
  readonly listsChildActivities?: boolean;
  /** The organization that `list_app_proofs` wants for an activity of a sub-organization. Default: `child`. */
  readonly childAppProofsOf?: "child" | "parent";
  /** Milliseconds for which app proofs are kept. Default: no limit. */
  readonly appProofsKeptMs?: number;
  /** Milliseconds for which boot proofs are kept. Default: no limit. */
  readonly bootProofsKeptMs?: number;
  /** Types of activities for which the signer proves no address. Default: none. */
  readonly unprovenTypes?: readonly string[];
  /** The number of requests in any such time. All others are refused with 429 and Retry-After. Default: no limit. */
  readonly rateLimit?: { readonly requests: number; readonly perMs: number };
  /** Bytes that are added to each item of a list, which makes answers long. Default: 0. */
  readonly paddingBytes?: number;
}

const SETTINGS: MembersOf<ServiceSettings> = {
  order: optional(either(oneOf("oldest", "newest"), count, '"oldest", "newest" or a number')),
  listsAppProofs: optional(flag),
  listsChildActivities: optional(flag),
  childAppProofsOf: optional(oneOf("child", "parent")),
  appProofsKeptMs: optional(count),
  bootProofsKeptMs: optional(count),
  unprovenTypes: optional(list(nonEmptyText)),
  rateLimit: optional(plain),
  paddingBytes: optional(count),
};
export const settingsShape = options<ServiceSettings>(SETTINGS);

/** The settings in force. They can be replaced while the lab runs. */
export interface Settings {
  current: ServiceSettings;
}
