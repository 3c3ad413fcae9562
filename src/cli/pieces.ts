/** Reads the evidence in files. Each piece gets the name that reports show. */
import type { Evidence, NamedEvidence } from "../bootproof.js";
import { appProofList } from "../decode/app-proof.js";
import { MAX_APP_PROOFS } from "../decode/app-proof-limits.js";
import { MAX_BUNDLE_BOOT_PROOFS, bootProofList } from "../decode/boot-proof.js";
import { unwrap } from "../decode/input.js";
import type { JsonValue } from "../decode/json.js";
import { namedSharing } from "../inputs.js";
import { type InputFiles, nameOf } from "./files.js";
import { type FileOption, jsonOfKind } from "./kinds.js";
import type { Flags } from "./option-table.js";

/** The options that name files of evidence. */
type EvidenceFiles = Pick<Flags<"verify">, "bootProof" | "appProof" | "activity">;

export async function readEvidence(
  files: InputFiles,
  { bootProof, appProof, activity }: EvidenceFiles,
): Promise<Evidence> {
  const bootProofs = await readBootProofs(files, bootProof);
  const appProofs: NamedEvidence[] = [];
  for (const path of appProof) appProofs.push(...(await readAppProofs(files, path)));
  const named = activity === undefined ? undefined : await readActivityFile(files, activity);
  files.throwFaults();
  return { bootProofs, ...(appProof.length > 0 && { appProofs }), ...(named && { activity: named }) };
}

/** Reads boot proofs. Faults are added to `files`. */
export async function readBootProofs(files: InputFiles, paths: readonly string[]): Promise<NamedEvidence[]> {
  const pieces: NamedEvidence[] = [];
  for (const path of paths) {
    const read = await readPiece(files, path, "--boot-proof");
    if (read === undefined) continue;
    const list = bootProofList(read.value);
    if (list?.length === 0) files.fault(path, "the list of boot proofs is empty: expected at least one");
    const most = { what: "boot proofs", most: MAX_BUNDLE_BOOT_PROOFS };
    if (list === null) pieces.push(namedPiece(nameOf(path), read.value, read));
    else pieces.push(...listed(path, read, bounded(files, path, list, most)));
  }
  return pieces;
}

async function readAppProofs(files: InputFiles, path: string): Promise<NamedEvidence[]> {
  const read = await readPiece(files, path, "--app-proof");
  if (read === undefined) return [];
  const isList = Array.isArray(unwrap(read.value, "appProofs"));
  const list = boundedAppProofs(files, path, read.value);
  return isList ? listed(path, read, list) : list.map((value) => namedPiece(nameOf(path), value, read));
}

/** Reads an activity, bare or in its wrapper. */
export async function readActivityFile(files: InputFiles, path: string): Promise<NamedEvidence | undefined> {
  const read = await readPiece(files, path, "--activity");
  if (read === undefined) return undefined;
  boundedAppProofs(files, path, unwrap(read.value, "activity"));
  return namedPiece(nameOf(path), read.value, read);
}

interface ReadPiece {
  readonly value: JsonValue;
  readonly bytes: Uint8Array;
}

export async function readPiece(files: InputFiles, path: string, option: FileOption): Promise<ReadPiece | undefined> {
  const bytes = await files.bytes(path);
  const value = await jsonOfKind(files, path, bytes, option);
  return bytes && value !== undefined ? { value, bytes } : undefined;
}

/** Names the items of a list by their index, such as `boot.json[3]`. */
function listed(path: string, read: ReadPiece, list: readonly unknown[]): NamedEvidence[] {
  return list.map((value, index) => namedPiece(`${nameOf(path)}[${index}]`, value, read));
}

function namedPiece(name: string, value: unknown, { bytes }: ReadPiece): NamedEvidence {
  return namedSharing(name, value, { bytes });
}

function boundedAppProofs(files: InputFiles, path: string, input: unknown): readonly unknown[] {
  return bounded(files, path, appProofList(input), { what: "app proofs", most: MAX_APP_PROOFS });
}

/**
 * Limits the number of items: each is verified and reported on its own, so a file of many tiny items could take
 * minutes.
 */
function bounded(
  files: InputFiles,
  path: string,
  entries: readonly unknown[],
  { what, most }: { readonly what: string; readonly most: number },
): readonly unknown[] {
  if (entries.length <= most) return entries;
  files.fault(path, `a list of ${entries.length}, which cannot all be ${what}: at most ${most} fit into 1 MiB`);
  return [];
}

/** Returns the number of pieces in words, such as `60 boot proofs, an app proof`. */
export function piecesText({ bootProofs, appProofs = [], activity }: Evidence): string {
  const counted = (count: number, one: string, many: string): string[] =>
    count === 0 ? [] : [count === 1 ? one : `${count} ${many}`];
  return [
    ...counted(bootProofs.length, "a boot proof", "boot proofs"),
    ...counted(appProofs.length, "an app proof", "app proofs"),
    ...(activity === undefined ? [] : ["an activity"]),
  ].join(", ");
}
