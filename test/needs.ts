/** What a test needs beside the sources, read from its text and from that of the files that it imports or names. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";
import { ROOT } from "./tracked.mjs";

export type Need = "a build" | "a browser" | "redis-server" | "other runtimes" | "the SDKs";

/** What these files say by being there. */
const FILES: readonly (readonly [file: RegExp, need: Need])[] = [
  [/^test\/cli\/end-to-end[\w-]*\.test\.ts$/, "a build"],
  [/^test\/package\/support\.ts$/, "a build"],
  // What they run loads the built script of pages, or the built worker thread, by this package's name.
  [/^test\/(?:cli\/(?:audit|built)|run\/node-threads)\.test\.ts$/, "a build"],
  [/^test\/support\/redis\.ts$/, "redis-server"],
  [/^test\/runtimes\/runtimes\.ts$/, "other runtimes"],
];
/** What an import of these packages says. This package by its own name is what is built. */
const PACKAGES: readonly (readonly [name: RegExp, need: Need])[] = [
  [/^(?:bootproof(?:\/.*)?|#page-script)$/, "a build"],
  [/^playwright-core$/, "a browser"],
  [/^(?:@turnkey\/|@solana\/web3\.js$|ethers$|viem(?:$|\/))/, "the SDKs"],
];

/** Every need of the test, with the file that shows it. */
export function needsOf(test: string): ReadonlyMap<Need, string> {
  const found = new Map<Need, string>();
  const seen = new Set([test]);
  for (const file of seen) {
    for (const [name, need] of FILES) if (name.test(file)) found.set(need, file);
    if (!/\.[cm]?[jt]s$/.test(file) || file.endsWith(".d.mts")) continue;
    for (const { text, isImport } of textsIn(file)) {
      if (/^(?:\.{0,2}\/)*dist\//.test(text)) found.set("a build", file);
      for (const [name, need] of PACKAGES) if (isImport && name.test(text)) found.set(need, file);
      const other = fileOf(text, file);
      if (other !== null) seen.add(other);
    }
  }
  return found;
}

/** The file of test/, other than a test, that a text names, counted from the file that it is in or from the top. */
function fileOf(text: string, from: string): string | null {
  if (!/\.[cm]?[jt]s$/.test(text) || /\.test\.ts$|\n/.test(text)) return null;
  const places = [join(dirname(from), text), text.replace(/^\//, "")].flatMap((path) => [
    path,
    path.replace(/js$/, "ts"),
  ]);
  return (
    places
      .map((path) => path.replaceAll("\\", "/"))
      .find((path) => /^test\//.test(path) && existsSync(join(ROOT, path)) && statSync(join(ROOT, path)).isFile()) ??
    null
  );
}

interface Text {
  readonly text: string;
  /** Of an import, or of `import.meta.resolve`. */
  readonly isImport: boolean;
}

const texts = new Map<string, readonly Text[]>();

/** The texts in the code of a file; an import of types alone needs nothing. */
function textsIn(file: string): readonly Text[] {
  const known = texts.get(file);
  if (known !== undefined) return known;
  const source = ts.createSourceFile(file, readFileSync(join(ROOT, file), "utf8"), ts.ScriptTarget.ES2022, true);
  const found: Text[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword) return;
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddle(node))
      found.push({ text: node.text, isImport: isImport(node.parent) });
    ts.forEachChild(node, visit);
  };
  visit(source);
  texts.set(file, found);
  return found;
}

function isImport(node: ts.Node): boolean {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return true;
  if (ts.isTemplateExpression(node)) return isImport(node.parent);
  return ts.isCallExpression(node) && /^import(?:\.meta\.resolve)?$/.test(node.expression.getText());
}
