/**
 * What the service publishes for auditors (release/README.md, "Files"): its releases with the approvals of their
 * operators, and the operators' keys.
 */
import { fromUtf8, toHex } from "../bytes.js";
import type { Fleet } from "./fleet.js";
import type { Forge } from "./forge.js";
import { approve, encodeManifest, makeManifest, manifestHash } from "./qos.js";
import type { SavedRelease } from "./records.js";
import { isApp } from "./release.js";
import type { Reader } from "./state.js";

/** The folder of the releases. */
const RELEASES = "releases";
/** The manifest set of all releases. */
const OPERATORS = "operators.json";

export interface Published {
  /** The files by their paths. */
  readonly files: ReadonlyMap<string, string>;
  readonly operatorsFile: string;
  readonly releasesFolder: string;
  /** The folder of the newest release. */
  readonly newestRelease: string;
}

export class Publication {
  readonly #fleet: Fleet;
  /** The files by release. They are made once, since each signature is a new one. */
  readonly #made = new WeakMap<Forge, ReadonlyMap<string, string>>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Returns the files of the service's own applications. */
  published(reader: Reader): Published {
    const releases = reader.all("releases").filter(({ app }) => isApp(app));
    const { manifestSet } = this.#fleet.forge(releases[0]!).manifestParts();
    const members = manifestSet.members.map(({ pubKey }) => toHex(pubKey));
    const operators = fileJson({ threshold: manifestSet.threshold, members });
    const files = releases.flatMap((release) => [...this.#filesOf(release)]);
    const newest = Math.max(...releases.map(({ nonce }) => nonce));
    return {
      files: new Map([...files, [OPERATORS, operators]]),
      operatorsFile: OPERATORS,
      releasesFolder: RELEASES,
      newestRelease: folderOf(newest),
    };
  }

  #filesOf(release: SavedRelease): ReadonlyMap<string, string> {
    const forge = this.#fleet.forge(release);
    const files = this.#made.get(forge) ?? releaseFiles(release, forge);
    this.#made.set(forge, files);
    return files;
  }
}

function releaseFiles({ app, nonce, manifestVersion }: SavedRelease, forge: Forge): ReadonlyMap<string, string> {
  const manifest = makeManifest(manifestVersion, forge.manifestParts());
  const hash = manifestHash(manifest);
  const text = fromUtf8(encodeManifest(manifest, { encoding: "json" }))!;
  const { namespace, manifestSet } = manifest;
  const approvals = forge.manifestMembers.slice(0, manifestSet.threshold).map((operator): [string, string] => {
    const { signature, member } = approve(hash, operator);
    const approval = { signature: toHex(signature), member: { alias: member.alias, pubKey: toHex(member.pubKey) } };
    return [`${member.alias}-${namespace.name.replaceAll("/", "-")}-${nonce}.approval`, JSON.stringify(approval)];
  });
  const files: [string, string][] = [["manifest", text], ["manifest.json", fileJson(JSON.parse(text))], ...approvals];
  return new Map(files.map(([name, content]) => [`${folderOf(nonce)}/${app}/${name}`, content]));
}

/** Returns the folder of the version whose nonce is YYYYMMPP. */
function folderOf(nonce: number): string {
  return `${RELEASES}/${Math.floor(nonce / 10_000)}.${Math.floor(nonce / 100) % 100}.${nonce % 100}`;
}

export function fileJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
