/** Citations lead somewhere: documents, their sections and files that comments, texts and documents name are here. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT, trackedFiles } from "./tracked.mjs";

const all = trackedFiles();
const documents = all.filter((file) => file.endsWith(".md"));
const code = all.filter((file) => /^(?:src|bin|test)\/.*\.(?:ts|mjs)$/.test(file));

/** One thing that a file names: a path, and a section of it where it says one. */
interface Citation {
  readonly path: string;
  readonly section: string | null;
}

/** The same function, which keeps what it returned. */
function once<T>(work: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    if (!known.has(text)) known.set(text, work(text));
    return known.get(text)!;
  };
}

const textOf = once((file) => readFileSync(resolve(ROOT, file), "utf8"));

/** As one line, and without what leads elsewhere on purpose: addresses, and links to them. */
const plainText = once((text) =>
  text
    .replace(/\[[^\]]*\]\(https?:[^)\s]*\)/g, " ")
    .replace(/https?:[^\s)"'`]+/g, " ")
    .replace(/\n[ \t]*(?:\*(?!\/)|\/\/|>)?[ \t]*/g, " "),
);

/** `decode/README.md, "Manifest hash"`: a document, and a heading of it. */
function citedDocuments(text: string): Citation[] {
  const pattern = /(?<![\w/.%$}-])((?:\.{1,2}\/)*[\w@.-]+(?:\/[\w@.-]+)*\.md)\b`?(?:, "([^"]+)")?/g;
  return [...plainText(text).matchAll(pattern)].map(([, path, section]) => ({ path: path!, section: section ?? null }));
}

/** Files that stand in backticks: of code wherever they are, of another kind where they are in a folder of ours. */
function citedFiles(text: string): Citation[] {
  const paths = [...plainText(text).matchAll(/`((?:\.{1,2}\/)*[\w.-]+(?:\/[\w.-]+)*\/?)`/g)].map(([, path]) => path!);
  const isOurs = (path: string): boolean =>
    /\.(?:ts|mjs|md)$/.test(path) || /^(?:src|test|bin|test-vectors|\.github|\.ci)\//.test(path);
  return paths.filter(isOurs).map((path) => ({ path, section: null }));
}

/** Targets of links inside the repository: a file, an anchor in it, or both. */
function links(text: string): { readonly file: string; readonly anchor: string | null }[] {
  const withoutCode = text.replace(/^```.*?^```/gms, "").replace(/`[^`\n]*`/g, "");
  const targets = [...withoutCode.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [file = "", anchor = null] = target.split("#") as [string, string?];
      return { file, anchor };
    });
}

/** Where a path may be counted from: the repository, src/, or the folder of the file that names it. */
function found(path: string, from: string): string | null {
  const places = [ROOT, join(ROOT, "src"), join(ROOT, dirname(from))].map((folder) => resolve(folder, path));
  return places.find((place) => place.startsWith(resolve(ROOT)) && existsSync(place)) ?? null;
}

const headingsOf = once((text) => {
  const withoutCode = text.replace(/^```.*?^```/gms, "");
  return [...withoutCode.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) => heading!.replaceAll("`", "").trim());
});

/** The anchor that GitHub gives a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");
}

function unresolved({ path, section }: Citation, from: string): string | null {
  const file = found(path, from);
  if (file === null) return `${from}: ${path} is not here`;
  if (section === null || headingsOf(textOf(file)).includes(section)) return null;
  return `${from}: ${path} has no section "${section}"`;
}

function brokenLink({ file, anchor }: ReturnType<typeof links>[number], from: string): string | null {
  const target = file === "" ? join(ROOT, from) : resolve(ROOT, dirname(from), file);
  if (!existsSync(target)) return `${from}: the link to ${file} leads nowhere`;
  if (anchor === null || headingsOf(textOf(target)).map(anchorOf).includes(anchor)) return null;
  return `${from}: ${file || from} has no heading for #${anchor}`;
}

/** Where the material that this repository was made from lies: nothing here may lean on it. */
const OUTSIDE = /service-(?:interface|facts)|(?<!\w)(?:shared|specs?)\//i;

const isThere = <T>(value: T | null): value is T => value !== null;

describe("citations", () => {
  it("of documents name existing documents and sections", () => {
    const cited = [...code, ...documents].flatMap((from) =>
      citedDocuments(textOf(from)).map((citation) => ({ from, citation })),
    );
    expect(cited.length).toBeGreaterThan(80);
    expect(cited.filter(({ citation }) => citation.section !== null).length).toBeGreaterThan(50);
    expect(cited.map(({ from, citation }) => unresolved(citation, from)).filter(isThere)).toEqual([]);
  });

  it("of files in documents and comments name existing files", () => {
    const comments = (file: string): string => (textOf(file).match(/\/\*\*?.*?\*\/|^\s*\/\/.*$/gms) ?? []).join("\n");
    const cited = [
      ...documents.flatMap((from) => citedFiles(textOf(from)).map((citation) => ({ from, citation }))),
      ...code.flatMap((from) => citedFiles(comments(from)).map((citation) => ({ from, citation }))),
    ];
    expect(cited.length).toBeGreaterThan(100);
    expect(cited.map(({ from, citation }) => unresolved(citation, from)).filter(isThere)).toEqual([]);
  });

  it("by links lead to a file and a heading", () => {
    const followed = documents.flatMap((from) => links(textOf(from)).map((link) => ({ from, link })));
    expect(followed.length).toBeGreaterThan(40);
    expect(followed.map(({ from, link }) => brokenLink(link, from)).filter(isThere)).toEqual([]);
  });

  it("are in documents of 120 columns, except for tables", () => {
    const written = documents.filter((file) => !file.startsWith("test/"));
    const long = written.flatMap((file) =>
      textOf(file)
        .split("\n")
        .map((line, index) => ({ line, place: `${file}:${index + 1}` }))
        .filter(({ line }) => [...line].length > 120 && !line.startsWith("|"))
        .map(({ place }) => place),
    );
    expect(long).toEqual([]);
  });

  it("of numbered sections name the standard that numbers them", () => {
    const bare = code
      .filter((file) => file.startsWith("src/"))
      .flatMap((file) => {
        const text = plainText(textOf(file));
        const found = [...text.matchAll(/\bsections? \d[\d.]*/gi)];
        return found.map(({ index, 0: words }) => text.slice(Math.max(0, index - 40), index + words.length));
      })
      .filter((text) => !/RFC \d|SEC1|X\.690|WebAuthn|draft-ietf-/.test(text));
    expect(bare).toEqual([]);
  });

  it("point nowhere outside the repository", () => {
    expect([...code, ...documents].filter((file) => OUTSIDE.test(plainText(textOf(file))))).toEqual([]);
  });
});
