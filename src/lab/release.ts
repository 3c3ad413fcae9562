/** A release of an application: what an enclave of the lab can boot. */
import type { ManifestVersion } from "../decode/manifest/index.js";
import type { Generation } from "./enclave.js";
import type { JsonSpelling, ManifestEncoding } from "./qos.js";

/** The applications: one decides about requests, the other derives addresses. */
export const APPS = ["policy-engine", "signer"] as const;
export type App = (typeof APPS)[number];

/** What a release is. */
export interface ReleaseOptions {
  readonly app: App;
  /** Its label, such as `lab.3`. */
  readonly name: string;
  /** v2 where not given. */
  readonly manifestVersion?: ManifestVersion;
  /** The version's own where not given: borsh for v0 and v1, canonical JSON for the newer ones. */
  readonly encoding?: ManifestEncoding["encoding"];
  /** Of JSON, in the place of the canonical one. */
  readonly spelling?: JsonSpelling | undefined;
  /** `live` where not given. */
  readonly generation?: Generation;
  /** Whether the lab's policy pins it; it does where not given. */
  readonly pinned?: boolean;
}

export const RELEASE_OPTIONS: Readonly<Record<keyof ReleaseOptions, true>> = {
  app: true,
  name: true,
  manifestVersion: true,
  encoding: true,
  spelling: true,
  generation: true,
  pinned: true,
};

/** The id of a release, and of the enclave that runs it: the same after a restart. Such as `signer lab.1`. */
export function releaseId({ app, name }: Pick<ReleaseOptions, "app" | "name">): string {
  return `${app} ${name}`;
}
