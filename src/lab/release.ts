/** Releases that enclaves of the lab boot. */
import { plain } from "../decode/options.js";
import { type MembersOf, flag, optional, text } from "../decode/shapes.js";
import type { ManifestVersion } from "../decode/manifest/index.js";
import type { Generation } from "./enclave.js";
import type { JsonSpelling, ManifestEncoding } from "./qos.js";

/** The service's own applications. The policy engine decides on requests, and the signer derives addresses. */
export const APPS = ["policy-engine", "signer"] as const;
export type App = (typeof APPS)[number];

export function isApp(name: string): name is App {
  return APPS.some((app) => app === name);
}

/** Applications whose quorum keys sign tokens. No enclave of the lab runs them. */
export const TOKEN_APPS = ["notarizer", "tls-fetcher"] as const;
export type TokenApp = (typeof TOKEN_APPS)[number];

export interface ReleaseOptions {
  readonly app: App;
  /** The name, such as `lab.3`. */
  readonly name: string;
  /** The version of the manifest. Default: v2. */
  readonly manifestVersion?: ManifestVersion;
  /** The encoding of the manifest. Default: Borsh before v2, canonical JSON from v2 on. */
  readonly encoding?: ManifestEncoding["encoding"];
  /** How JSON is written. Default: canonical JSON. */
  readonly spelling?: JsonSpelling | undefined;
  /** The generation of the enclave. Default: `live`. */
  readonly generation?: Generation;
  /** Whether the lab's policy pins the release. Default: true. */
  readonly pinned?: boolean;
}

export const RELEASE_OPTIONS: MembersOf<ReleaseOptions> = {
  app: plain,
  name: text,
  manifestVersion: optional(plain),
  encoding: optional(plain),
  spelling: optional(plain),
  generation: optional(plain),
  pinned: optional(flag),
};

/**
 * Returns the id of a release, such as `signer lab.1`. The service's enclave of the release has the same id, even after
 * a restart.
 */
export function releaseId({ app, name }: { readonly app: string; readonly name: string }): string {
  return `${app} ${name}`;
}
