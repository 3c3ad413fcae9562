/** The table of the kinds of files, and their recognition by content. */
import { fromUtf8 } from "../bytes.js";
import { DOCUMENT_MEMBER } from "../decode/boot-proof.js";
import { decodeCertificate } from "../decode/certificate.js";
import { type Piece, provisioningForm } from "../decode/evidence-members.js";
import { isGenesisOutput } from "../decode/genesis-output.js";
import { unwrap } from "../decode/input.js";
import { type JsonValue, isJsonObject, parseJson } from "../decode/json.js";
import { decodeApproval } from "../decode/manifest/approval.js";
import { decodeManifest, decodeManifestEnvelope } from "../decode/manifest/index.js";
import { wrappedBundles } from "../decode/provenance-bundle.js";
import { arePcrs, arePcrTexts } from "../decode/published-pcrs.js";
import { decodeFile } from "../decode/text-encoding.js";
import { MalformedError, attempt } from "../errors.js";
import { isImageStart } from "../image/header.js";
import { IMAGE_ADVICE } from "./foreign.js";
import { PEM_START } from "../verify/trust-anchor.js";

/** Maximum characters of an API key with its curve, and of the space around it. */
const MAX_KEY = 200;

export type EvidenceKind = keyof typeof KINDS;

export interface Recognised {
  readonly kind: EvidenceKind;
  /** The encoding, such as `JSON` or `CBOR in base64`. */
  readonly encoding: string;
  /** The content without the base64 or hex around it. */
  readonly bytes: Uint8Array;
  /** The parsed JSON, with numbers as written. */
  readonly json: JsonValue | undefined;
}

/**
 * Returns the kind of the content. The content may still be invalid or incomplete. Returns null for unknown kinds and
 * invalid JSON. Never throws.
 */
export function kindOf(bytes: Uint8Array): EvidenceKind | null {
  if (!(bytes instanceof Uint8Array)) return null;
  return attempt(() => recognise(bytes)).value?.kind ?? null;
}

/** Returns the kind as {@link kindOf} does, and what was decoded. Throws `MalformedError` (`json`). */
export function recognise(file: Uint8Array): Recognised | null {
  const plain = recogniseContent(file);
  if (plain !== null) return plain;
  const { bytes, encoding } = decodeFile(file);
  const inside = encoding === "binary" ? null : recogniseContent(bytes);
  return inside && { ...inside, encoding: `${inside.encoding} in ${encoding}` };
}

function recogniseContent(bytes: Uint8Array): Recognised | null {
  if (!beginsAsJson(bytes)) {
    const [kind, encoding] = kindOfPlain(bytes) ?? [];
    return kind && encoding ? { kind, encoding, bytes, json: undefined } : null;
  }
  const { value: json, faults } = attempt(() => parseJson(bytes, { numbers: "literal" }));
  const lines = json === undefined ? kindOfLines(bytes) : null;
  if (lines !== null) return { kind: lines, encoding: "JSON Lines", bytes, json: undefined };
  if (json === undefined) throw new MalformedError("json", faults);
  const kind = kindOfJson(json);
  return kind && { kind, encoding: "JSON", bytes, json };
}

function kindOfPlain(bytes: Uint8Array): readonly [EvidenceKind, encoding: string] | undefined {
  const text = isImageStart(bytes) ? null : fromUtf8(bytes);
  const ofText = text === null ? undefined : ROWS.find(([, row]) => row.text?.[1](text));
  const found = ofText ?? ROWS.find(([, row]) => row.binary?.[1](bytes));
  return found && [found[0], (ofText ? found[1].text : found[1].binary)![0]];
}

export function beginsAsJson(bytes: Uint8Array): boolean {
  const first = bytes.find((byte) => byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09);
  // Borsh may begin with the first byte of JSON. In Borsh, that byte begins a length of four bytes, of which at least
  // one is zero.
  return (first === 0x7b || first === 0x5b) && !bytes.subarray(0, 4).includes(0);
}

function has(value: unknown, ...names: string[]): boolean {
  return isJsonObject(value) && names.every((name) => Object.hasOwn(value, name));
}

function hasOneOf(value: unknown, ...names: string[]): boolean {
  return names.some((name) => has(value, name));
}

/** Returns the kind of JSON Lines by the first line. */
function kindOfLines(bytes: Uint8Array): EvidenceKind | null {
  const end = bytes.indexOf(0x0a);
  if (end < 0) return null;
  const kind = attempt(() => kindOfJson(parseJson(bytes.subarray(0, end)))).value ?? null;
  const lines = kind && (KINDS[kind] as KindRow).lines;
  return lines === true ? kind : (lines ?? null);
}

/** Whether the member names the format, in any version. */
function names(value: unknown, member: string, format: string): boolean {
  if (!isJsonObject(value) || !has(value, member)) return false;
  const name = value[member];
  return typeof name === "string" && name.startsWith(format);
}

function isBootProof(value: unknown): boolean {
  const inside = unwrap(value, "bootProof");
  if (hasOneOf(inside, DOCUMENT_MEMBER.name, DOCUMENT_MEMBER.alias, "qosManifestB64")) return true;
  return provisioningForm(inside) !== null;
}

/** Whether the value, bare or in its wrapper, is a list with at least one item, and `isOne` accepts every item. */
function isListOf(value: unknown, wrapper: string, isOne: (item: unknown) => boolean): boolean {
  const list = unwrap(value, wrapper);
  return Array.isArray(list) && list.length > 0 && list.every(isOne);
}

/** The name of a kind for people, the options that take it, and how its content is recognised. */
export interface KindRow {
  /** Text after "this is", or after "these are" if the name of the kind is a plural. */
  readonly is: string;
  /** The options and operands of the command that take such files. Messages name the first if it is an option. */
  readonly takenBy: readonly string[];
  /** How such a file is made, as the end of a sentence. */
  readonly made?: string;
  /** What to do with such a file if no option takes it. */
  readonly advice?: string;
  /** The kind of evidence in the file, if it contains only evidence of one kind. */
  readonly piece?: Piece;
  /** The role of the file in the page that verifies. */
  readonly role?: PageRole;
  /** A member that names the format, and the text with which its value begins in every version. */
  readonly format?: readonly [member: string, format: string];
  /** Whether JSON is certainly of this kind, even if it also has members of other kinds. */
  readonly marked?: (json: JsonValue) => boolean;
  readonly json?: (json: JsonValue) => boolean;
  /** Whether other tools also write this kind as JSON Lines, or the kind of such lines. */
  readonly lines?: true | "policy feed";
  readonly text?: readonly [encoding: string, fits: (text: string) => boolean];
  readonly binary?: readonly [encoding: string, fits: (bytes: Uint8Array) => boolean];
}

export type PageRole = "bootProofs" | "appProofs" | "activity" | "document" | "bundle" | "policy" | "anchor";

const IN_BOOT_PROOF = "bootproof inspect shows it; to verify it, give the boot proof that contains it";

/**
 * The kinds in order of precedence. The first row that matches by `format` or `marked` is used, so that a secret is
 * never shown as another kind. If no row does, the first row that fits by `json`, `text` or `binary` is used.
 */
export const KINDS = {
  "API key": {
    is: "an API key file",
    takenBy: ["--api-key-file"],
    made: "bootproof key new makes one",
    advice: "it is a secret: keep it from others, and out of pages",
    marked: (json) => has(json, "publicKey", "privateKey"),
    text: ["text", (text) => text.length <= MAX_KEY && /^\s*[0-9a-fA-F]{64}:[A-Za-z0-9-]{1,20}\s*$/.test(text)],
  },
  "boot proof": {
    is: "a boot proof",
    takenBy: ["--boot-proof"],
    made: "bootproof fetch --app NAME gets one from the service",
    piece: "boot proof",
    role: "bootProofs",
    json: isBootProof,
  },
  "manifest envelope": {
    is: "a manifest envelope",
    takenBy: ["MANIFEST", "--previous"],
    advice: IN_BOOT_PROOF,
    json: (json) => has(json, "manifest") && hasOneOf(json, "manifestSetApprovals", "manifest_set_approvals"),
    binary: ["borsh", decodes(decodeManifestEnvelope)],
  },
  manifest: {
    is: "a manifest",
    takenBy: ["MANIFEST", "--previous"],
    advice: IN_BOOT_PROOF,
    json: (json) => has(json, "namespace") && hasOneOf(json, "pivot", "workloads"),
    binary: ["borsh", decodes(decodeManifest)],
  },
  activity: {
    is: "an activity",
    takenBy: ["--activity"],
    made: "bootproof fetch --activity-id ID gets one from the service",
    piece: "activity",
    role: "activity",
    json: (json) => has(json, "activity") || (has(json, "intent") && hasOneOf(json, "result", "status")),
  },
  bundle: {
    is: "a bundle",
    takenBy: ["BUNDLE"],
    made: "bootproof bundle makes one",
    advice: "give it alone: bootproof verify FILE",
    role: "bundle",
    format: ["bundle", "bootproof-bundle/"],
    json: (json) => has(json, "bundle") || has(json, "bootProofs", "appProofs"),
  },
  report: {
    is: "a report, which proves nothing",
    takenBy: [],
    advice: "verify the evidence itself",
    format: ["format", "bootproof-report/"],
  },
  "boot proofs": {
    is: "boot proofs",
    takenBy: ["--boot-proof"],
    piece: "boot proof",
    role: "bootProofs",
    json: (json) => isListOf(json, "bootProofs", isBootProof),
  },
  "app proofs": {
    is: "app proofs",
    takenBy: ["--app-proof"],
    piece: "app proof",
    role: "appProofs",
    json: (json) => isListOf(json, "appProofs", (item) => has(item, "proofPayload")),
  },
  "app proof": {
    is: "an app proof",
    takenBy: ["--app-proof"],
    made: "the service's activities have them, as appProofs",
    piece: "app proof",
    role: "appProofs",
    json: (json) => has(unwrap(json, "appProof"), "proofPayload"),
  },
  request: {
    is: "a request",
    takenBy: ["--request"],
    made: "it is the body that was submitted",
    advice: "bootproof verify --request compares an activity with it",
    json: (json) => names(json, "type", "ACTIVITY_TYPE_") && has(json, "parameters"),
  },
  approval: {
    is: "an approval of a manifest",
    takenBy: [],
    advice: "check the folder that contains it and the manifest: bootproof policy check-releases FOLDER",
    json: (json) => has(json, "signature", "member"),
    binary: ["borsh", decodes(decodeApproval)],
  },
  "genesis output": {
    is: "the output of a genesis ceremony",
    takenBy: ["OUTPUT"],
    advice: "bootproof review FILE --genesis-request FILE compares it with the request",
    binary: ["borsh", isGenesisOutput],
  },
  "genesis request": {
    is: "the request of a genesis ceremony",
    takenBy: ["--genesis-request"],
    made: 'JSON {"set": {"threshold", "members": [{"alias", "pubKey"}]}, "drKey": "<hex>" or null}',
    json: (json) => has(json, "set", "drKey"),
  },
  "image PCRs": {
    is: "the PCRs of an image",
    takenBy: ["--pcrs"],
    made: "nitro-cli build-enclave prints them",
    advice: "bootproof pin --pcrs makes a policy of them",
    json: arePcrs,
    text: ["text", arePcrTexts],
  },
  policy: {
    is: "a policy",
    takenBy: ["--policy", "--add-to", "POLICY"],
    made: "bootproof pin makes one",
    role: "policy",
    format: ["policy", "bootproof/"],
    json: (json) => has(json, "deployments"),
  },
  "policy feed": {
    is: "a feed of signed policies",
    takenBy: ["FEED", "--feed"],
    made: "bootproof policy publish makes one",
    advice: "bootproof policy check FILE --policy-signers FILE checks it",
  },
  "signed policy": {
    is: "a signed policy",
    takenBy: ["ENVELOPE", "FEED", "--feed"],
    made: "bootproof policy sign makes one",
    advice: "bootproof policy review FILE shows it",
    format: ["payloadType", "application/vnd.bootproof.signed-policy"],
    lines: "policy feed",
  },
  "policy signers": {
    is: "the signers of a policy",
    takenBy: ["--policy-signers", "--signers"],
    made: 'JSON {"name", "threshold", "keys": ["PEM", …]}',
    json: (json) => has(json, "threshold", "keys"),
  },
  "policy state": {
    is: "what a consumer of a signed policy remembers",
    takenBy: [],
    advice: "it is kept for that consumer alone",
    format: ["state", "bootproof-signed-policy-state/"],
  },
  certificate: {
    is: "a certificate",
    takenBy: ["--trust-anchor"],
    made: "in PEM",
    role: "anchor",
    text: ["PEM", (text) => pemBlocks(text) === 1],
    binary: ["DER", decodes(decodeCertificate)],
  },
  certificates: {
    is: "certificates",
    takenBy: ["--trust-anchor"],
    advice: "a trust anchor is one certificate",
    text: ["PEM", (text) => pemBlocks(text) > 1],
  },
  release: {
    is: "a published release",
    takenBy: ["--release"],
    made: "a folder of releases/, or its YAML",
    advice: "bootproof pin --release makes a policy of it",
    json: (json) =>
      isJsonObject(json) && has(json, "version") && Object.values(json).some((value) => has(value, "appBinaryDigest")),
    text: ["YAML", isRelease],
  },
  "provenance bundle": {
    is: "a provenance bundle",
    takenBy: ["--provenance"],
    made: "gh attestation download gets one",
    advice: "bootproof verify --provenance verifies it, a page cannot",
    format: ["mediaType", "application/vnd.dev.sigstore.bundle"],
    marked: (json) =>
      (has(json, "verificationMaterial") && hasOneOf(json, "dsseEnvelope", "messageSignature")) ||
      wrappedBundles(json) !== null,
    lines: true,
  },
  "trusted root": {
    is: "a trusted root of Sigstore",
    takenBy: ["--trusted-root"],
    made: "gh attestation trusted-root writes one",
    advice: "name it in a policy; a page cannot verify provenance",
    format: ["mediaType", "application/vnd.dev.sigstore.trustedroot"],
    lines: true,
  },
  "attestation document": {
    is: "a bare attestation document",
    takenBy: ["--attestation"],
    made: "in CBOR, or its bytes in base64 or hex",
    role: "document",
    binary: ["CBOR", beginsAsCoseSign1],
  },
  "enclave image": { is: "an enclave image", takenBy: [], advice: IMAGE_ADVICE, binary: ["EIF", isImageStart] },
} as const satisfies Readonly<Record<string, KindRow>>;

const ROWS = Object.entries<KindRow>(KINDS) as [EvidenceKind, KindRow][];

/** Returns a sentence about a file, such as `this is a boot proof`. */
export function kindSentence(kind: EvidenceKind): string {
  return `${kind.endsWith("s") ? "these are" : "this is"} ${KINDS[kind].is}`;
}

function decodes(decode: (bytes: Uint8Array) => unknown): (bytes: Uint8Array) => boolean {
  return (bytes) => attempt(() => decode(bytes)).value !== undefined;
}

/** Counts blocks that begin a line or follow another block. A certificate within a policy or a script does neither. */
function pemBlocks(text: string): number {
  const before = text.split(PEM_START).slice(0, -1);
  return before.filter((one) => /(?:^|[\n\r\u2028\u2029-])\ufeff?$/.test(one)).length;
}

/** Returns the kind of parsed JSON, as {@link kindOf} does. */
export function kindOfJson(json: JsonValue): EvidenceKind | null {
  const isSurely = ({ format, marked }: KindRow): boolean =>
    (format && names(json, ...format)) || marked?.(json) === true;
  const found = ROWS.find(([, row]) => isSurely(row)) ?? ROWS.find(([, row]) => row.json?.(json));
  return found?.[0] ?? null;
}

/** Maximum characters of a text in which the members of a release are searched. A release has a few kilobytes. */
const MAX_RELEASE_START = 65_536;
const YAML_MEMBER = /^(?:[\w.-]+|"[^"]*"|'[^']*')[ \t]*:(?:[ \t]|$)/;
const YAML_IGNORED = /^[ \t]*(?:#.*)?$|^(?:---|%YAML\b.*|%TAG\b.*)[ \t]*$/;
const RELEASE_MEMBER = /^[ \t]+(?:appBinaryDigest|"appBinaryDigest"|'appBinaryDigest')[ \t]*:/;

/** Recognises the YAML of a release by its lines. The YAML parser validates it. */
function isRelease(text: string): boolean {
  const lines = text.slice(0, MAX_RELEASE_START).split(/\r?\n/);
  const first = lines.find((line) => !YAML_IGNORED.test(line));
  return first !== undefined && YAML_MEMBER.test(first) && lines.some((line) => RELEASE_MEMBER.test(line));
}

/** Whether the bytes begin a CBOR array of four items, with or without tag 18, whose first item is a byte string. */
function beginsAsCoseSign1(bytes: Uint8Array): boolean {
  const start = bytes[0] === 0xd2 ? 1 : 0;
  return bytes[start] === 0x84 && bytes[start + 1] === 0x44;
}
