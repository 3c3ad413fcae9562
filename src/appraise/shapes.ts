/** Shapes of the policy file, which freeze what they read and allow a comment on any object. */
import { type JsonValue, isJsonObject } from "../decode/json.js";
import {
  type Form,
  type MembersOf,
  type Shape,
  list,
  matching,
  objectOf,
  optional,
  record,
  refined,
  sizedText,
  text,
} from "../decode/shapes.js";

/** Name of a member for human readers. Any object may have it, and it has no effect. */
export const COMMENT = "comment";
const BESIDE = { [COMMENT]: optional(text) } as const;

/** Maximum length of names, since reports repeat them. */
const MAX_NAME = 256;

/** Shape of a text with a maximum length, since reports repeat it. */
export function short(least: number): Shape<string> {
  return sizedText(least, MAX_NAME);
}

const DURATION = /^([1-9][0-9]{0,8})([smhd])$/;
const DURATION_UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Shape of a duration, which is read as milliseconds. */
export const duration = refined(matching(DURATION, 'a duration such as "10m", "12h" or "30d"'), (value) => {
  const [, count, unit] = DURATION.exec(value)!;
  return Number(count) * DURATION_UNITS[unit!]!;
});

function frozen<T>(shape: Shape<T>): Shape<Readonly<T>> {
  return { ...shape, read: (value, place) => Object.freeze(shape.read(value, place)) };
}

interface ListLimits {
  readonly least?: number;
  readonly most?: number;
}

export function arrayOf<T>(item: Shape<T>, { least = 1, most }: ListLimits = {}): Shape<readonly T[]> {
  return frozen(list(item, least, most));
}

/** Shape of one value or an array of accepted ones, which is read as an array. */
export function oneOrMore<T>(one: Shape<T>): Shape<readonly T[]> {
  const many = arrayOf(one);
  return {
    form: { either: [one, many] },
    read: (value, place) => {
      if (Array.isArray(value)) return many.read(value, place);
      const read = one.read(value, place);
      return Object.freeze(read === undefined ? (undefined as never) : [read]);
    },
  };
}

/** Shape of an object whose members' names are data. */
export function fileRecord<T>(
  each: Shape<T>,
  settings: Parameters<typeof record>[1] = {},
): Shape<Readonly<Record<string, T>>> {
  return frozen(record(each, { ...settings, beside: BESIDE }));
}

/** Shape of an object with these members. */
export function fileObject<T extends object>(members: MembersOf<T>): Shape<Readonly<T>> {
  return frozen(objectOf(members, { beside: BESIDE }));
}

/** Kind of a file that a policy names: a certificate, or one or several trusted roots of Sigstore. */
export type FileKind = "trustAnchor" | "trustedRoot";

/** Shape of `{"file": name}`. Only such files may be opened: {@link namedFilesIn} finds no others. */
export function namedFile(kind: FileKind, name: Shape<string>): Shape<{ readonly file: string }> {
  const shape = fileObject<{ readonly file: string }>({ file: name });
  return { ...shape, form: { ...shape.form, namesFile: kind } as Form };
}

export interface NamedFile {
  readonly kind: FileKind;
  readonly name: string;
  /** Place of the name, for example `["trustAnchors", 0, "file"]`. */
  readonly path: readonly (string | number)[];
}

/** Returns the files that a value of this shape names, even if it has faults. */
export function namedFilesIn({ form }: Shape<unknown>, value: unknown, path: NamedFile["path"] = []): NamedFile[] {
  if (form === undefined) return [];
  if ("either" in form) return distinct(form.either.flatMap((shape) => namedFilesIn(shape, value, path)));
  if ("nullable" in form) return namedFilesIn(form.nullable, value, path);
  if ("items" in form && Array.isArray(value))
    return value.flatMap((item: unknown, index) => namedFilesIn(form.items, item, [...path, index]));
  if (!isJsonObject(value)) return [];
  if ("members" in form && form.namesFile !== undefined) return namedIn(value["file"], form.namesFile, path);
  const shapeOf = (name: string): Shape<unknown> | undefined => {
    if ("each" in form) return form.each;
    return "members" in form && Object.hasOwn(form.members, name) ? form.members[name] : undefined;
  };
  return Object.entries(value).flatMap(([name, member]) => {
    const shape = shapeOf(name);
    return shape === undefined ? [] : namedFilesIn(shape, member, [...path, name]);
  });
}

/** Returns each place once, since alternatives can have members in common. */
function distinct(files: readonly NamedFile[]): NamedFile[] {
  return [...new Map(files.map((file) => [JSON.stringify(file.path), file])).values()];
}

function namedIn(name: JsonValue | undefined, kind: string, path: NamedFile["path"]): NamedFile[] {
  return typeof name === "string" ? [{ kind: kind as FileKind, name, path: [...path, "file"] }] : [];
}
