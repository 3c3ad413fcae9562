/** Reads `--crl`: revocation lists, as files or as folders of them. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { NamedEvidence, type VerifyOptions } from "../bootproof.js";
import { attempt, faultText } from "../errors.js";
import { type InputFiles, STDIN, nameOf } from "./files.js";

const MAX_LIST_BYTES = 64 * 1024 * 1024;

/** Returns the lists as an option, which is absent if none is named. Faults of all files are added to the files. */
export async function readLists(files: InputFiles, paths: readonly string[]): Promise<Pick<VerifyOptions, "crls">> {
  if (paths.length === 0) return {};
  const { decodeRevocationList } = await import("../decode/revocation-list.js");
  const crls: NamedEvidence[] = [];
  for (const path of paths.flatMap((given) => listed(files, given))) {
    const bytes = await files.raw(path, MAX_LIST_BYTES);
    if (bytes === undefined) continue;
    const { value, faults } = attempt(() => decodeRevocationList(bytes));
    if (value === undefined) files.fault(path, `no revocation list in DER: ${faultText(faults)}`);
    crls.push(new NamedEvidence(nameOf(path), bytes));
  }
  return { crls };
}

function listed(files: InputFiles, path: string): string[] {
  if (path === STDIN || statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [path];
  const names = readdirSync(path).sort();
  if (names.length === 0) files.fault(path, "an empty folder: expected revocation lists in it");
  return names.map((name) => join(path, name));
}
