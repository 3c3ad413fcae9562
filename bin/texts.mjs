/**
 * Makes src/report/advice.js and src/report/texts.js from `src/report/explanations.md`, `docs/glossary.md` and a table
 * in `docs/policy.md`, and src/cli/demo-evidence.js from a genuine pair in test-vectors, whose origin is in
 * `test-vectors/PROVENANCE.tsv`. The build and the configuration of vitest import this file, so these modules are up to
 * date. A check without a section, or a section without a part, is an error that names it.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = (path) => new URL(`../${path}`, import.meta.url);
const EXPLANATIONS = "src/report/explanations.md";

/** The parts of a check's section. Only a check that can warn has the part `Warns`. */
const PARTS = {
  proves: "Proves",
  genuine: "Fails without an attack",
  hostile: "Stops",
  warns: "Warns",
  advice: "Advice",
  next: "Next",
  sources: "Source",
};

/** The sections of a document, by their headings of the second level. */
function sectionsOf(document) {
  const sections = document.split(/^## /m).slice(1);
  return new Map(
    sections.map((section) => {
      const [heading, ...lines] = section.split(/^# /m)[0].trim().split("\n");
      return [heading, lines.join("\n").trim()];
    }),
  );
}

const inOneLine = (text) => text.trim().replace(/\s+/g, " ");

function partsOf(id, section, warns) {
  const items = section.split(/^- /m).slice(1).map(inOneLine);
  const parts = {};
  for (const [member, name] of Object.entries(PARTS)) {
    const start = `**${name}:** `;
    const found = items.filter((item) => item.startsWith(start)).map((item) => item.slice(start.length));
    const count = member === "warns" && !warns ? "no" : "one";
    if (found.length !== (count === "no" ? 0 : 1))
      throw new Error(`${EXPLANATIONS}: the section "## ${id}" needs ${count} part "- **${name}:** …"`);
    parts[member] = found[0];
  }
  return { ...parts, sources: parts.sources.split("; ") };
}

/** Reads a term. Its first sentence is the title, which begins with a lower-case letter in lists. */
function termOf(name, section) {
  const [, title, means] = /^(.*?)\. (.*)$/.exec(inOneLine(section)) ?? [];
  if (means === undefined) throw new Error(`the section "## ${name}" needs a sentence that says what it is, and more`);
  return { name, title: title.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase()), means };
}

const termsOf = (sections) =>
  Object.fromEntries(
    sections.map(([name, section]) => [name.toLowerCase().replaceAll(" ", "-"), termOf(name, section)]),
  );

/** The table of the policy's members, which `explain` knows beside the terms. */
const membersOf = (policy) =>
  Object.fromEntries(
    [...policy.matchAll(/^\| `([$\w]+)` \| (.*) \| (.*) \|$/gm)].map(([, name, of, means]) => {
      return [name.toLowerCase(), { name, title: `a member of the policy file, in ${of}`, means }];
    }),
  );

/** Returns the texts of all checks and terms. `rows` says for each check id whether the check can warn. */
export function textsOf(explanations, glossary, rows) {
  const sections = sectionsOf(explanations);
  const checks = Object.entries(rows).map(([id, warns]) => {
    const section = sections.get(id);
    if (section === undefined)
      throw new Error(`${EXPLANATIONS}: no section "## ${id}", for the check in src/checks.ts`);
    return [id, partsOf(id, section, warns)];
  });
  return {
    ADVICE: Object.fromEntries(checks.map(([id, { advice }]) => [id, advice])),
    EXPLAINED: Object.fromEntries(checks),
    TERMS: termsOf([...sections].filter(([name]) => !Object.hasOwn(rows, name))),
    GLOSSARY: termsOf([...sectionsOf(glossary)]),
  };
}

async function rowsOf(file) {
  const { outputFiles } = await build({ entryPoints: [file], bundle: true, format: "esm", write: false });
  const code = Buffer.from(outputFiles[0].contents).toString("base64");
  const { CHECK_IDS, checkRow } = await import(`data:text/javascript;base64,${code}`);
  return Object.fromEntries(CHECK_IDS.map((id) => [id, checkRow(id).warn !== undefined]));
}

/** Writes the file only if its text changed, since other processes may be reading it. */
function write(path, texts) {
  const lines = Object.entries(texts).map(
    ([name, value]) => `export const ${name} = ${JSON.stringify(value, null, 2)};`,
  );
  const content = `// Made by bin/texts.mjs.\n${lines.join("\n")}\n`;
  if (!existsSync(root(path)) || readFileSync(root(path), "utf8") !== content) writeFileSync(root(path), content);
}

const documents = [EXPLANATIONS, "docs/glossary.md", "docs/policy.md"];
const [explanations, glossary, policy] = documents.map((path) => readFileSync(root(path), "utf8"));
const { ADVICE, ...terms } = textsOf(explanations, glossary, await rowsOf(fileURLToPath(root("src/checks.ts"))));
const texts = { ...terms, MEMBERS: membersOf(policy) };
for (const folder of ["src", ...(existsSync(root("dist/src")) ? ["dist/src"] : [])]) {
  write(`${folder}/report/advice.js`, { ADVICE });
  write(`${folder}/report/texts.js`, texts);
}

/** A boot proof and an app proof, byte by byte, and the repository, file and commit that they were published in. */
const [BOOT_PROOF, APP_PROOF] = ["bootproof-1", "appproof-1"].map((name) =>
  readFileSync(root(`test-vectors/boot-proofs/${name}.json`), "utf8"),
);
const provenance = readFileSync(root("test-vectors/PROVENANCE.tsv"), "utf8");
const [, ORIGIN] = /^boot-proofs\/bootproof-1\.json\t([^\t]+\t[^\t]+\t[^\t]+)/m.exec(provenance);
write("src/cli/demo-evidence.js", { BOOT_PROOF, APP_PROOF, ORIGIN: ORIGIN.split("\t") });
