/** Where two builds differ: their sections, the files in their ramdisks, and the PCRs that follow. */
import { equalBytes, toHex } from "../bytes.js";
import type { ImageContents, ImageFile, RamdiskContents } from "./contents.js";
import type { ImageMeasurement, MeasuredSection } from "./measure.js";

interface SectionFacts {
  /** Number of bytes of its data. */
  readonly size: number;
  /** SHA-384 of its data in hex. */
  readonly sha384: string;
}

export interface SectionDifference {
  /** `kernel`, `command line`, `first ramdisk`, `ramdisk 2` and so on, `metadata` or `signature`. */
  readonly section: string;
  /** What usually lies in it. */
  readonly what: string;
  /** Null means that the image has no such section. */
  readonly before: SectionFacts | null;
  readonly after: SectionFacts | null;
  readonly same: boolean;
  /** The PCRs that its data changes. Metadata changes none. */
  readonly pcrs: readonly number[];
  /** The files of two ramdisks that differ. Null for any other section. */
  readonly files: FilesDifference | null;
}

interface FilesDifference {
  readonly added: readonly ImageFile[];
  readonly removed: readonly ImageFile[];
  readonly changed: readonly ChangedFile[];
  /** Whether all files are equal, but their order or what is around them differs. */
  readonly onlyPacked: boolean;
  /** Why the files of one of the ramdisks are not listed, or not all. Null means that all are. */
  readonly unlisted: string | null;
}

interface ChangedFile {
  readonly name: string;
  readonly differs: readonly FileAspect[];
  readonly before: ImageFile;
  readonly after: ImageFile;
}

const ASPECTS = { sha256: "content", size: "size", mode: "mode", modified: "time" } as const;
type FileAspect = (typeof ASPECTS)[keyof typeof ASPECTS];

interface PcrDifference {
  readonly before: string | null;
  readonly after: string | null;
  readonly same: boolean;
}

export interface ImageDifference {
  readonly same: boolean;
  readonly sections: readonly SectionDifference[];
  /** By index. A PCR is null in an image for which it is not computed. */
  readonly pcrs: Readonly<Record<string, PcrDifference>>;
  /** What is unusual in one of the files. */
  readonly notes: readonly string[];
}

/** What usually lies in a section. Sections differ in name where their place decides that. */
const USUALLY = {
  kernel: "the kernel, usually the vendor's",
  "command line": "the arguments of the kernel",
  "first ramdisk": "init and drivers, usually the vendor's",
  ramdisk: "the application and its files",
  metadata: "what the tool that built it says: not measured",
  signature: "the certificate that signed it",
} as const;
type Place = keyof typeof USUALLY;

/** The PCRs that the data of a section changes. */
const PCRS_OF: Readonly<Record<Place, readonly number[]>> = {
  kernel: [0, 1],
  "command line": [0, 1],
  "first ramdisk": [0, 1],
  ramdisk: [0, 2],
  metadata: [],
  signature: [8],
};

/**
 * Compares two images that {@link readImageContents} has read: sections, the files of ramdisks that differ, and PCRs.
 * @example
 * ```ts
 * const read = (file: string) => readImageContents(createReadStream(file));
 * const { sections } = compareImages(await read("first.eif"), await read("second.eif"));
 * ```
 */
export function compareImages(before: ImageContents, after: ImageContents): ImageDifference {
  const [one, other] = [placesIn(before), placesIn(after)];
  const names = [...new Set([...one.keys(), ...other.keys()])];
  const sections = names.map((name) => sectionDifference(name, one.get(name), other.get(name)));
  const pcrs = pcrsDifference(before.measured, after.measured);
  const notes = [...new Set([...before.measured.notes, ...after.measured.notes])];
  const same = [...sections, ...Object.values(pcrs)].every((each) => each.same);
  return { same, sections, pcrs, notes };
}

interface Placed {
  readonly place: Place;
  readonly section: MeasuredSection;
  readonly ramdisk: RamdiskContents | undefined;
}

/** Returns the sections by name, in the order of the table of places. */
function placesIn({ measured: { sections }, ramdisks }: ImageContents): ReadonlyMap<string, Placed> {
  let count = 0;
  const placed = sections.map((section, index): [string, Placed] => {
    const ramdisk = ramdisks.find((contents) => contents.section === index);
    if (section.type !== "ramdisk") {
      const place = section.type === "cmdline" ? "command line" : section.type;
      return [place, { place, section, ramdisk }];
    }
    count++;
    if (count === 1) return ["first ramdisk", { place: "first ramdisk", section, ramdisk }];
    return [`ramdisk ${count}`, { place: "ramdisk", section, ramdisk }];
  });
  const order = Object.keys(USUALLY);
  return new Map(placed.sort(([, a], [, b]) => order.indexOf(a.place) - order.indexOf(b.place)));
}

function sectionDifference(name: string, before: Placed | undefined, after: Placed | undefined): SectionDifference {
  const { place } = (before ?? after)!;
  const same = before !== undefined && after !== undefined && equalBytes(before.section.sha384, after.section.sha384);
  const isRamdisk = place === "ramdisk" || place === "first ramdisk";
  return {
    section: name,
    what: USUALLY[place],
    before: factsOf(before),
    after: factsOf(after),
    same,
    pcrs: PCRS_OF[place],
    files: same || !isRamdisk ? null : filesDifference(before?.ramdisk, after?.ramdisk),
  };
}

function factsOf(placed: Placed | undefined): SectionFacts | null {
  return placed === undefined ? null : { size: placed.section.size, sha384: toHex(placed.section.sha384) };
}

const NOTHING: Omit<RamdiskContents, "section"> = { files: [], unlisted: null };

/** Compares files by name. Of several entries of one name, the last counts, as in the file system that Linux makes. */
function filesDifference(before = { section: 0, ...NOTHING }, after = { section: 0, ...NOTHING }): FilesDifference {
  const [one, other] = [before, after].map(({ files }) => new Map(files.map((file) => [file.name, file])));
  const unlisted = before.unlisted ?? after.unlisted;
  const added = [...other!.values()].filter(({ name }) => !one!.has(name));
  const removed = [...one!.values()].filter(({ name }) => !other!.has(name));
  const changed = [...one!.values()].flatMap((file) => changedFile(file, other!.get(file.name)));
  const onlyPacked = unlisted === null && added.length + removed.length + changed.length === 0;
  return { added, removed, changed, onlyPacked, unlisted };
}

function changedFile(before: ImageFile, after: ImageFile | undefined): ChangedFile[] {
  if (after === undefined) return [];
  const differs = (Object.keys(ASPECTS) as (keyof typeof ASPECTS)[])
    .filter((member) => before[member] !== after[member])
    .map((member) => ASPECTS[member]);
  return differs.length === 0 ? [] : [{ name: before.name, differs, before, after }];
}

function pcrsDifference(before: ImageMeasurement, after: ImageMeasurement): Record<string, PcrDifference> {
  const indexes = [...new Set([0, ...Object.keys(before.pcrs), ...Object.keys(after.pcrs)].map(Number))];
  const hexOf = ({ pcrs }: ImageMeasurement, index: number): string | null => {
    const value = pcrs[index];
    return value === undefined ? null : toHex(value);
  };
  return Object.fromEntries(
    indexes
      .sort((a, b) => a - b)
      .map((index) => {
        const [one, other] = [hexOf(before, index), hexOf(after, index)];
        return [index, { before: one, after: other, same: one !== null && one === other }];
      }),
  );
}
