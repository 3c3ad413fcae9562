/** Reads one release of one application from its files (release/README.md, "Files"). Nothing is verified here. */
import { typedOptions } from "../decode/options.js";
import { type JsonValue, isJsonObject, parseJson } from "../decode/json.js";
import { decodeApproval } from "../decode/manifest/approval.js";
import { type Approval, type Manifest, decodeManifest, manifestHashInput } from "../decode/manifest/index.js";
import { privateMark } from "../decode/private-mark.js";
import { type MembersOf, nullish, text } from "../decode/shapes.js";
import { equalBytes } from "../bytes.js";
import { MalformedError, attempt, faultText, shownName } from "../errors.js";
import { manifestHash } from "../verify/manifest-binding.js";

/** Stable codes of the faults of a release (release/README.md, "What is checked"). */
export type ReleaseFaultCode =
  | "manifest-missing"
  | "approvals-missing"
  | "manifest"
  | "manifest-json"
  | "manifest-json-differs"
  | "too-many-files"
  | "approval"
  | "approval-name"
  | "approval-stranger"
  | "approval-signature"
  | "approval-twice"
  | "manifest-set"
  | "threshold"
  | "namespace"
  | "namespace-demanded"
  | "nonce";

/** Stable codes of notes, which are not faults. */
export type ReleaseNoteCode = "manifest-json-incomplete" | "unknown-file" | "given-twice" | "same-manifest";

interface AboutFile<Code> {
  readonly code: Code;
  /** Path of the file, which begins with the release's name: `2026.9.0/signer/manifest`. */
  readonly file: string;
  /** A phrase for people. */
  readonly message: string;
}

export type ReleaseFault = AboutFile<ReleaseFaultCode>;
export type ReleaseNote = AboutFile<ReleaseNoteCode>;

export interface ReleaseApproval extends Approval {
  /** Name of the file, without the name of the release. */
  readonly file: string;
}

/** One release of one application, as its files claim. {@link checkReleases} checks it. */
export interface Release {
  /** The name of the release in messages, such as `2026.9.0/signer`. */
  readonly name: string;
  /** The version that names the folder, such as `2026.9.0`. Null if no folder has such a name. */
  readonly version: string | null;
  /** The name of the application's folder, such as `signer`. Null if there is none. */
  readonly application: string | null;
  /** The manifest from the file `manifest`, and never from `manifest.json`. Null if it is missing or malformed. */
  readonly manifest: Manifest | null;
  /** The hash of the manifest (32 bytes). Null without a manifest. */
  readonly manifestHash: Uint8Array | null;
  readonly approvals: readonly ReleaseApproval[];
  /** The faults found by reading. {@link checkReleases} adds others. */
  readonly faults: readonly ReleaseFault[];
  readonly notes: readonly ReleaseNote[];
}

/** The folders of a release. The manifest is compared only with the members that are present. */
export interface ReadReleaseOptions {
  readonly version?: string | null;
  readonly application?: string | null;
}

const READ_OPTIONS: MembersOf<ReadReleaseOptions> = { version: nullish(text), application: nullish(text) };

const MANIFEST = "manifest";
const MANIFEST_JSON = "manifest.json";
const APPROVAL = /\.approval$/;
/** Maximum number of approvals, which is above the number of members of any set. Each costs a verification. */
const MAX_FILES = 1000;

const RELEASES = /* @__PURE__ */ privateMark<Release>();

/**
 * Reads one release of one application from its files by name: `manifest`, `manifest.json` and any number of
 * `*.approval`, JSON or Borsh. Never throws for the content of files: every fault is in `faults`, with a code and the
 * file's name. Throws TypeError for anything but names with bytes.
 *
 * @example
 * const release = await readRelease(
 *   [
 *     ["manifest", manifest],
 *     ["10-prod-signer-20260900.approval", approval10],
 *     ["6-prod-signer-20260900.approval", approval6],
 *   ],
 *   { version: "2026.9.0", application: "signer" },
 * );
 */
export async function readRelease(
  files: Iterable<readonly [name: string, bytes: Uint8Array]>,
  options: ReadReleaseOptions = {},
): Promise<Release> {
  const { version = null, application = null } = typedOptions("options", options, READ_OPTIONS);
  const name = [version, application].filter((part) => part !== null).join("/");
  const reading = new ReleaseReading(name, copied(files));
  const manifest = reading.manifest();
  const approvals = reading.approvals();
  reading.manifestJson(manifest);
  reading.otherFiles();
  const release = RELEASES.on({
    name,
    version,
    application,
    manifest,
    manifestHash: manifest && (await manifestHash(manifest)),
    approvals: Object.freeze(approvals),
    faults: Object.freeze(reading.faults),
    notes: Object.freeze(reading.notes),
  });
  return Object.freeze(release);
}

/** Returns the name of a file for messages, which begins with the name of the release. */
export function fileIn(release: string, file: string): string {
  return release === "" ? shownName(file) : `${release}/${shownName(file)}`;
}

function copied(files: Iterable<readonly [string, Uint8Array]>): Map<string, Uint8Array> {
  const copy = new Map<string, Uint8Array>();
  for (const [name, bytes] of files) {
    if (typeof name !== "string" || !(bytes instanceof Uint8Array))
      throw new TypeError("files: expected pairs of a name and a Uint8Array");
    if (copy.has(name)) throw new TypeError(`files: ${shownName(name)} is given twice`);
    copy.set(name, new Uint8Array(bytes));
  }
  return copy;
}

class ReleaseReading {
  readonly faults: ReleaseFault[] = [];
  readonly notes: ReleaseNote[] = [];
  readonly #name: string;
  readonly #files: ReadonlyMap<string, Uint8Array>;

  constructor(name: string, files: ReadonlyMap<string, Uint8Array>) {
    this.#name = name;
    this.#files = files;
  }

  manifest(): Manifest | null {
    const bytes = this.#files.get(MANIFEST);
    if (bytes === undefined) {
      this.#fault("manifest-missing", MANIFEST, "missing, so the approvals cannot be checked");
      return null;
    }
    const { value, faults } = attempt(() => decodeManifest(bytes));
    if (value === undefined) this.#fault("manifest", MANIFEST, faultText(faults));
    return value ?? null;
  }

  approvals(): ReleaseApproval[] {
    const names = [...this.#files.keys()].filter((file) => APPROVAL.test(file)).sort();
    if (names.length === 0) this.#fault("approvals-missing", "*.approval", "missing: nothing shows who approved it");
    if (names.length > MAX_FILES)
      this.#fault("too-many-files", "*.approval", `${names.length} approvals, of which ${MAX_FILES} are read`);
    return names.slice(0, MAX_FILES).flatMap((file) => {
      const { value, faults } = attempt(() => decodeApproval(this.#files.get(file)!));
      if (value === undefined) this.#fault("approval", file, faultText(faults));
      return value === undefined ? [] : [Object.freeze({ file, ...value })];
    });
  }

  /** Reads `manifest.json`. It is only compared with `manifest`. */
  manifestJson(manifest: Manifest | null): void {
    const bytes = this.#files.get(MANIFEST_JSON);
    if (bytes === undefined) return;
    const { value, faults } = attempt(() => decodeManifest(bytes));
    if (value !== undefined) {
      if (manifest !== null && !isSameManifest(value, manifest))
        this.#fault("manifest-json-differs", MANIFEST_JSON, "differs from the file manifest, which was approved");
    } else if (isIncomplete(bytes)) {
      const message = "incomplete: without qosCommit or patchSet it is not what was approved";
      this.notes.push({ code: "manifest-json-incomplete", file: fileIn(this.#name, MANIFEST_JSON), message });
    } else this.#fault("manifest-json", MANIFEST_JSON, faultText(faults));
  }

  otherFiles(): void {
    const others = [...this.#files.keys()].filter(
      (file) => file !== MANIFEST && file !== MANIFEST_JSON && !APPROVAL.test(file),
    );
    for (const file of others.slice(0, MAX_FILES))
      this.notes.push({
        code: "unknown-file",
        file: fileIn(this.#name, file),
        message: "not a file of a release, so it was not read",
      });
  }

  #fault(code: ReleaseFaultCode, file: string, message: string): void {
    this.faults.push({ code, file: fileIn(this.#name, file), message });
  }
}

/** Whether two manifests are the same, by the bytes that are hashed. Decoding refuses bytes of two versions. */
function isSameManifest(one: Manifest, other: Manifest): boolean {
  return equalBytes(manifestHashInput(one), manifestHashInput(other));
}

/** Whether the JSON is incomplete, as in releases of 2025, which lack `qosCommit` or `patchSet`. */
function isIncomplete(bytes: Uint8Array): boolean {
  const json = attempt((): JsonValue => parseJson(bytes, { numbers: "literal" })).value;
  if (!isJsonObject(json) || !isJsonObject(json["namespace"]) || !isJsonObject(json["enclave"])) return false;
  return !Object.hasOwn(json, "patchSet") || !Object.hasOwn(json["enclave"], "qosCommit");
}

/**
 * Returns the releases. Throws TypeError for values that are not results of {@link readRelease}, and MalformedError for
 * an empty list.
 */
export function requireReleases(releases: readonly Release[]): readonly Release[] {
  if (!Array.isArray(releases) || !releases.every((one) => RELEASES.isOn(one)))
    throw new TypeError("releases: expected an array of results of readRelease");
  if (releases.length === 0) throw new MalformedError("release", [{ path: "", message: "no release to check" }]);
  return [...releases];
}
