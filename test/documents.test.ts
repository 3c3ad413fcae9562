/** README and docs/: that each is reached, and that nothing in them runs or names what belongs to a stranger. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "./tracked.mjs";

const MANIFEST = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  readonly repository: { readonly url: string };
  readonly homepage: string;
  readonly bugs: string;
};
const docs = readdirSync(join(ROOT, "docs")).map((name) => `docs/${name}`);
const textOf = (file: string): string => readFileSync(join(ROOT, file), "utf8");

describe("README", () => {
  it("leads to each document in one step", () => {
    const readme = textOf("README.md");
    expect(docs.length).toBeGreaterThan(10);
    expect(docs.filter((file) => !readme.includes(`](${file})`))).toEqual([]);
  });

  it("is short: the manual is in docs/", () => {
    expect(textOf("README.md").split("\n").length).toBeLessThan(180);
  });
});

describe("the owner of the repository", () => {
  const [, repository] = /^git\+https:\/\/github\.com\/(.+)\.git$/.exec(MANIFEST.repository.url)!;

  it("is that of package.json in every document", () => {
    const named = ["README.md", ...docs, ".github/CONTRIBUTING.md", ".github/SECURITY.md"].flatMap((file) =>
      [...textOf(file).matchAll(/(?:github\.com\/|uses: )([\w.-]+\/bootproof)\b/g)].map(([, name]) => ({ file, name })),
    );
    expect(named.length).toBeGreaterThan(1);
    expect(named.filter(({ name }) => name !== repository)).toEqual([]);
    expect([MANIFEST.homepage, MANIFEST.bugs]).toEqual([
      `https://github.com/${repository!}#readme`,
      `https://github.com/${repository!}/issues`,
    ]);
  });
});

describe("a snippet", () => {
  /** In code blocks: what stands in sentences may warn of it. */
  const blocksOf = (file: string): string[] => textOf(file).match(/^```.*?^```$/gms) ?? [];
  /** `npx` that may download: of a name alone, which anybody may publish. */
  const downloads = (text: string): string[] => text.match(/\bnpx (?!--no -- )[^\n]*bootproof/g) ?? [];

  it("never downloads a package of that name", () => {
    expect(downloads("npx bootproof lab\nnpx --yes bootproof\nnpx --no -- bootproof")).toEqual([
      "npx bootproof",
      "npx --yes bootproof",
    ]);
    expect(["README.md", ...docs].flatMap(blocksOf).length).toBeGreaterThan(20);
    expect(["README.md", ...docs].flatMap(blocksOf).flatMap(downloads)).toEqual([]);
  });
});
