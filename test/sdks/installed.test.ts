/** That the SDKs of this folder are installed, in the versions of its lock file. The other tests here need them. */
import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version: string }>>;
}
const INSTALLED = new URL("node_modules/.package-lock.json", import.meta.url);
const read = (file: URL): Lock => JSON.parse(readFileSync(file, "utf8")) as Lock;

it("the SDKs are installed (npm ci --prefix test/sdks)", ({ skip }) => {
  const isRequired = process.env["BOOTPROOF_SDKS"] === "required";
  skip(!existsSync(INSTALLED) && !isRequired, "run npm ci --prefix test/sdks");
  const versionsOf = (file: URL, names: readonly string[]): unknown =>
    names.map((name) => [name, read(file).packages[`node_modules/${name}`]?.version]);
  const { dependencies } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  expect(versionsOf(INSTALLED, Object.keys(dependencies))).toEqual(Object.entries(dependencies));
});
