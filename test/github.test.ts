/** The workflows: what they run, on which versions of Node, with which rights. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}
interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly strategy?: { readonly matrix: { readonly node: readonly number[] } };
  readonly steps: readonly Step[];
}
interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const names = readdirSync(`${ROOT}.github/workflows`);
const workflow = (name: string): Workflow =>
  parse(readFileSync(`${ROOT}.github/workflows/${name}`, "utf8")) as Workflow;
const packageJson = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")) as {
  readonly version: string;
  readonly engines: { readonly node: string };
};
const runs = (job: Job): string[] => job.steps.flatMap(({ run }) => run ?? []);

describe.each(names)("%s", (name) => {
  const { permissions, jobs } = workflow(name);

  it("may read the repository, and nothing else but what a job names", () => {
    expect(permissions).toEqual({ contents: "read" });
  });

  it("names every action by its commit", () => {
    const used = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []));
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((action) => !/^actions\/[a-z-]+@[0-9a-f]{40}$/.test(action))).toEqual([]);
  });

  it("runs what has to hold of every commit", () => {
    expect(Object.values(jobs).flatMap(runs)).toContain(".ci/run");
    expect(existsSync(`${ROOT}.ci/run`)).toBe(true);
  });
});

describe("ci", () => {
  it("runs on the oldest version of Node that the package takes, and the newer ones", () => {
    const { test } = workflow("ci.yml").jobs;
    const oldest = Number(/^>=(\d+)\./.exec(packageJson.engines.node)![1]);
    expect(test!.strategy!.matrix.node).toEqual([oldest, oldest + 2, oldest + 4]);
  });
});

describe("release", () => {
  const { on, jobs } = workflow("release.yml");
  const publish = jobs["publish"]!;

  it("follows a tag, and nothing else", () => {
    expect(on).toEqual({ push: { tags: ["v[0-9]+.[0-9]+.[0-9]+"] } });
  });

  it("publishes last, with provenance", () => {
    expect(publish.permissions).toEqual({ contents: "read", "id-token": "write" });
    expect(runs(publish).at(-1)).toBe("npm publish --provenance --access public");
  });

  it("attaches the file that was published to the release, with no right but that", () => {
    const { attach } = jobs as Record<string, (typeof jobs)[string] & { needs?: string }>;
    expect([attach!.needs, attach!.permissions]).toEqual(["publish", { contents: "write" }]);
    expect(runs(attach!).join("\n")).toMatch(/npm pack "bootproof@[^]*gh release create .* bootproof-\*\.tgz /);
  });

  it("demands of the changelog a section of its version, or one of what is not released", () => {
    const [check] = runs(publish);
    expect(check).toContain("CHANGELOG.md");
    const changelog = readFileSync(`${ROOT}CHANGELOG.md`, "utf8");
    const headings = [...changelog.matchAll(/^## \[([^\]]+)\]/gm)].map(([, heading]) => heading);
    expect(["Unreleased", packageJson.version]).toContain(headings[0]);
  });
});
