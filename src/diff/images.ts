/** The difference of two enclave images: sections, the files in ramdisks, and the PCRs that follow. */
import type { ImageDifference, SectionDifference } from "../image/compare.js";
import type { ImageFile } from "../image/contents.js";
import { type ChangeId, type Found, found } from "./changes.js";

/** Returns the sections, files and PCRs that differ. */
export function imageChanges(image: ImageDifference): Found[] {
  return [...image.sections.flatMap(sectionChanges), ...pcrChanges(image)];
}

/** The change of each section. Further ramdisks have a name with their number. */
const CHANGE_OF: Readonly<Record<string, ChangeId>> = {
  kernel: "image.kernel",
  "command line": "image.command-line",
  "first ramdisk": "image.bootstrap",
  metadata: "image.metadata",
  signature: "image.signature",
};

function sectionChanges({ section, same, before, after, files }: SectionDifference): Found[] {
  if (same) return [];
  const factsOf = (facts: typeof before): string | null => facts && `${facts.size} bytes, SHA-384 ${facts.sha384}`;
  const own = found(CHANGE_OF[section] ?? "image.ramdisk", {
    place: section,
    before: factsOf(before),
    after: factsOf(after),
    turn: turnOf(before, after),
  });
  if (files === null) return [own];
  const file = (name: string, one: ImageFile | null, other: ImageFile | null): Found =>
    found("image.file", {
      place: section,
      entry: name,
      before: fileText(one),
      after: fileText(other),
      turn: turnOf(one, other),
    });
  return [
    own,
    ...files.changed.map((changed) => file(changed.name, changed.before, changed.after)),
    ...files.removed.map((removed) => file(removed.name, removed, null)),
    ...files.added.map((added) => file(added.name, null, added)),
  ];
}

function turnOf(before: unknown, after: unknown): "added" | "removed" | "changed" {
  if (before === null) return "added";
  return after === null ? "removed" : "changed";
}

/** Returns what is compared of a file, a line each, so that the lines that differ are seen. */
function fileText(file: ImageFile | null): string | null {
  if (file === null) return null;
  const { mode, size, modified, sha256 } = file;
  const time = new Date(modified * 1000).toISOString();
  return [`SHA-256 ${sha256}`, `${size} bytes`, `mode ${mode.toString(8)}`, `time ${time}`].join("\n");
}

const PCR_CHANGES: Readonly<Record<string, ChangeId>> = { 0: "image.pcr0", 1: "image.pcr1", 2: "image.pcr2" };

function pcrChanges({ pcrs }: ImageDifference): Found[] {
  return Object.entries(pcrs)
    .filter(([, { same }]) => !same)
    .map(([index, { before, after }]) => {
      const id = PCR_CHANGES[index];
      return found(id ?? "pcr", { place: `PCR${index}`, entry: id === undefined ? `PCR${index}` : "", before, after });
    });
}
