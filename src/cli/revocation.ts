/** Reads `--crl`: revocation lists, as files or as folders of them. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { NamedEvidence, type VerifyOptions } from "../bootproof.js";
import { attempt, faultText, listed } from "../errors.js";
import { MAX_LISTS } from "../inputs.js";
import { type InputFiles, STDIN, isMalformed, nameOf } from "./files.js";
import { UsageError } from "./io.js";

const MAX_LIST_BYTES = 64 * 1024 * 1024;

/** Returns the lists as an option, which is absent if none is named. Faults of all files are added to the files. */
export async function readLists(files: InputFiles, paths: readonly string[]): Promise<Pick<VerifyOptions, "crls">> {
  if (paths.length === 0) return {};
  const { decodeRevocationList } = await import("../decode/revocation-list.js");
  const crls: NamedEvidence[] = [];
  const all = paths.flatMap((given) => filesIn(files, given));
  if (all.length > MAX_LISTS) throw new UsageError([`--crl: ${all.length} lists: at most ${MAX_LISTS} allowed`]);
  for (const path of all) {
    const bytes = await files.raw(path, MAX_LIST_BYTES);
    if (bytes === undefined) continue;
    const { value, faults } = attempt(() => decodeRevocationList(bytes));
    if (value === undefined) await refuse(files, path, bytes, faultText(faults));
    crls.push(new NamedEvidence(nameOf(path), bytes));
  }
  return { crls };
}

/** Adds the fault that the file is no list: what it is or, if that is not known, what is wrong with it as a list. */
async function refuse(files: InputFiles, path: string, bytes: Uint8Array, fault: string): Promise<void> {
  const { takenAs } = await import("./kinds.js");
  const own = files.ofSomeCommand(path, bytes) && (await takenAs(files, path, bytes, "--crl"));
  if (own !== undefined) files.fault(path, `no revocation list in DER: ${fault}`);
}

/** Returns a usage error in the place of the library's fault that no list applies, and any other error as it is. */
export function withListsNamed(error: unknown, { crls = [] }: Pick<VerifyOptions, "crls">): unknown {
  if (!isMalformed(error) || error.code !== "revocation-list") return error;
  const names = (crls as readonly NamedEvidence[]).map(({ name }) => name!);
  const advice =
    "Give the lists at the addresses in cRLDistributionPoints of the certificates, or leave out --crl: nothing was " +
    "looked up.";
  return new UsageError([{ message: `--crl ${listed(names)}: no list of an issuer in the certificate path`, advice }]);
}

function filesIn(files: InputFiles, path: string): string[] {
  if (path === STDIN || statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [path];
  const names = readdirSync(path).sort();
  if (names.length === 0) files.fault(path, "an empty folder: expected revocation lists in it");
  return names.map((name) => join(path, name));
}
