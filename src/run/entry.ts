/** Reads one entry: a line of NDJSON, or a file. The content decides the kind, as in `inspect`. */
import type { Evidence } from "../bootproof.js";
import { type Bundle, decodeBundle, evidenceIn } from "../bundle/file.js";
import { appProofList } from "../decode/app-proof.js";
import { MAX_APP_PROOFS } from "../decode/app-proof-limits.js";
import { MAX_BUNDLE_BOOT_PROOFS, bootProofList } from "../decode/boot-proof.js";
import { evidenceBeside, misspelt } from "../decode/evidence-members.js";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "../decode/json.js";
import { evidenceMembers } from "../inputs.js";
import { MemberReader } from "../decode/json-members.js";
import { placeOf } from "../decode/shapes.js";
import { FaultList, MalformedError, faultText } from "../errors.js";
import { type EvidenceKind, KINDS, type KindRow, beginsAsJson, kindOfJson, recognise } from "../inspect/kinds.js";
import { describeUnrecognised } from "../inspect/unrecognised.js";
import { printableStart } from "../report/printable.js";

/** Maximum size of an entry. A longer entry is malformed. */
export const MAX_ENTRY_BYTES = 16 * 1024 * 1024;
export const TOO_LONG_REASON = `longer than ${MAX_ENTRY_BYTES} bytes`;

/** A parsed entry, whose evidence is not verified yet. */
type Entry =
  /**
   * Evidence without boot proofs is judged with the boot proofs of the setting. `isBootProofs` means that the entry has
   * only boot proofs, so no app proofs can be missing.
   */
  | { readonly kind: "evidence"; readonly evidence: Evidence; readonly isBootProofs: boolean }
  | { readonly kind: "document"; readonly document: Uint8Array }
  | { readonly kind: "bundle"; readonly bundle: Bundle }
  | { readonly kind: "malformed"; readonly reason: string };

/** Maximum characters of a reason, which may quote untrusted text. */
const MAX_REASON = 300;

/** Reads a line without its line feed, or a file. Never throws: bytes of any other form are a malformed entry. */
export function readEntry(bytes: Uint8Array): Entry {
  if (bytes.length > MAX_ENTRY_BYTES) return malformed(TOO_LONG_REASON);
  try {
    return entryOf(bytes);
  } catch (error) {
    if (error instanceof MalformedError) return malformed(`${error.code}: ${faultText(error.faults)}`);
    throw error;
  }
}

function malformed(reason: string): Entry {
  return { kind: "malformed", reason: printableStart(reason, MAX_REASON) };
}

function entryOf(bytes: Uint8Array): Entry {
  if (beginsAsJson(bytes)) return entryOfJson(parseJson(bytes)) ?? malformed(describeUnrecognised(bytes));
  const recognised = recognise(bytes);
  if (recognised === null) return malformed(describeUnrecognised(bytes));
  if (recognised.json !== undefined) return entryOf(recognised.bytes);
  if (recognised.kind !== "attestation document") return noEvidence(recognised.kind);
  return { kind: "document", document: recognised.bytes };
}

const EVIDENCE_MEMBERS = ["bootProofs", "appProofs", "activity", "provenance"];

function entryOfJson(json: JsonValue): Entry | null {
  const spelt = misspelt(json);
  if (spelt.length > 0) return malformed(faultText(spelt));
  const kind = kindOfJson(json);
  if (isEvidenceObject(json, kind)) return entryOfMembers(json);
  if (kind === null) return null;
  const read = READERS[kind];
  if (read === undefined) return noEvidence(kind);
  const { piece }: KindRow = KINDS[kind];
  const beside = piece === undefined ? [] : evidenceBeside(json, piece);
  return beside.length > 0 ? malformed(faultText(beside)) : read(json);
}

/**
 * Whether the object has members of evidence, such as `appProofs`. False for a bare activity, although it may have such
 * a member, and for an object that names another format.
 */
function isEvidenceObject(json: JsonValue, kind: EvidenceKind | null): json is JsonObject {
  if (!isJsonObject(json) || Object.hasOwn(json, "bundle")) return false;
  if (kind === "activity") return Object.hasOwn(json, "activity");
  if (kind !== null && !KINDS_OF_MEMBERS.includes(kind)) return false;
  return ["bootProofs", "appProofs"].some((name) => Object.hasOwn(json, name));
}

const KINDS_OF_MEMBERS: readonly EvidenceKind[] = ["bundle", "boot proofs", "app proofs"];

/**
 * Reads an object with members of evidence. Other members are refused, because evidence under a misspelt name would not
 * be judged.
 */
function entryOfMembers(json: JsonObject): Entry {
  const faults = new FaultList();
  const reader = new MemberReader(json, placeOf(faults));
  reader.refuseUnknown(EVIDENCE_MEMBERS);
  // Null is a fault. If it meant absent, evidence and the policy's rules about app proofs would be skipped silently.
  for (const name of EVIDENCE_MEMBERS)
    if (json[name] === null) reader.fault(name, "null: omit the member if there is no value");
  const evidence = evidenceIn(reader, []);
  const { bootProofs, appProofs, activity } = evidenceMembers(evidence);
  if (bootProofs.length + appProofs.length === 0 && activity === undefined) reader.fault("", "contains no evidence");
  return faults.length > 0 ? malformed(faultText(faults)) : evidenceOf(evidence);
}

/** Readers by kind. There is none for attestation documents, which are never JSON. */
const READERS: Readonly<Partial<Record<EvidenceKind, (json: JsonValue) => Entry>>> = {
  "boot proof": (json) => evidenceOf({ bootProofs: [json] }, true),
  "boot proofs": (json) => bounded("boot proofs", bootProofList(json)!, (bootProofs) => ({ bootProofs }), true),
  "app proof": (json) => evidenceOf({ bootProofs: [], appProofs: appProofList(json) }),
  "app proofs": (json) => bounded("app proofs", appProofList(json), (appProofs) => ({ bootProofs: [], appProofs })),
  activity: (json) => evidenceOf({ bootProofs: [], activity: json }),
  bundle: (json) => ({ kind: "bundle", bundle: decodeBundle(json) }),
};

function noEvidence(kind: EvidenceKind): Entry {
  const { is, advice }: KindRow = KINDS[kind];
  return malformed(`no evidence: ${is}${advice === undefined ? "" : `: ${advice}`}`);
}

function evidenceOf(evidence: Evidence, isBootProofs = false): Entry {
  return { kind: "evidence", evidence, isBootProofs };
}

const MOST = { "boot proofs": MAX_BUNDLE_BOOT_PROOFS, "app proofs": MAX_APP_PROOFS };

/** Refuses lists that are too long: each item is judged on its own, so a small line could take long. */
function bounded(
  what: keyof typeof MOST,
  list: readonly unknown[],
  evidence: (list: readonly unknown[]) => Evidence,
  isBootProofs = false,
): Entry {
  if (list.length > MOST[what]) return malformed(`${list.length} ${what}, expected at most ${MOST[what]}`);
  return evidenceOf(evidence(list), isBootProofs);
}
