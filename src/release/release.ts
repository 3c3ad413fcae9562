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

interface ReleaseApproval extends Approval {
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
/** The names of the files that are read. */
export const RELEASE_FILE = /^manifest(?:\.json)?$|\.approval$/;
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
  const read = readFiles(name, copied(files));
  const hash = read.manifest && (await manifestHash(read.manifest));
  return Object.freeze(RELEASES.on({ name, version, application, ...read, manifestHash: hash }));
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

/** What is read of the files of a release. Its hash is not computed yet. */
type ReadFiles = Pick<Release, "manifest" | "approvals" | "faults" | "notes">;

function readFiles(release: string, files: ReadonlyMap<string, Uint8Array>): ReadFiles {
  const [faults, notes]: [ReleaseFault[], ReleaseNote[]] = [[], []];
  const fault = (code: ReleaseFaultCode, file: string, message: string): void =>
    void faults.push({ code, file: fileIn(release, file), message });
  const note = (code: ReleaseNoteCode, file: string, message: string): void =>
    void notes.push({ code, file: fileIn(release, file), message });
  const read = <T>(code: ReleaseFaultCode, file: string, decode: (bytes: Uint8Array) => T): T | null => {
    const { value = null, faults: own } = attempt(() => decode(files.get(file)!));
    if (own.length > 0) fault(code, file, faultText(own));
    return value;
  };
  const names = [...files.keys()].filter((file) => APPROVAL.test(file)).sort();
  const others = [...files.keys()].filter((file) => !RELEASE_FILE.test(file));
  if (!files.has(MANIFEST)) fault("manifest-missing", MANIFEST, "missing, so the approvals cannot be checked");
  const manifest = files.has(MANIFEST) ? read("manifest", MANIFEST, decodeManifest) : null;
  if (names.length === 0) fault("approvals-missing", "*.approval", "missing: nothing shows who approved it");
  if (names.length > MAX_FILES)
    fault("too-many-files", "*.approval", `${names.length} approvals, of which ${MAX_FILES} are read`);
  const approvals = names.slice(0, MAX_FILES).flatMap((file) => {
    const approval = read("approval", file, decodeApproval);
    return approval === null ? [] : [Object.freeze({ file, ...approval })];
  });
  const json = files.get(MANIFEST_JSON);
  if (json !== undefined && isIncomplete(json))
    note(
      "manifest-json-incomplete",
      MANIFEST_JSON,
      "incomplete: without qosCommit or patchSet it is not what was approved",
    );
  else if (json !== undefined) {
    // It is only compared with `manifest`, never used in its place.
    const shown = read("manifest-json", MANIFEST_JSON, decodeManifest);
    // Both are compared by the bytes that are hashed. Decoding refuses bytes of two versions.
    if (shown && manifest && !equalBytes(manifestHashInput(shown), manifestHashInput(manifest)))
      fault("manifest-json-differs", MANIFEST_JSON, "differs from the file manifest, which was approved");
  }
  for (const file of others.slice(0, MAX_FILES))
    note("unknown-file", file, "not a file of a release, so it was not read");
  return { manifest, approvals: Object.freeze(approvals), faults: Object.freeze(faults), notes: Object.freeze(notes) };
}

/** Whether the JSON is no manifest, because it lacks `qosCommit` or `patchSet`, as in releases of 2025. */
function isIncomplete(bytes: Uint8Array): boolean {
  if (attempt(() => decodeManifest(bytes)).value !== undefined) return false;
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
