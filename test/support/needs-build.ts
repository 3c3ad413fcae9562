/** Before the tests of the built command and package: reports a missing build. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const BUILT = ["dist/bin/bootproof.cjs", "dist/src/index.js", "dist/node/index.js"];

export default function setup(): void {
  const missing = BUILT.find((file) => !existsSync(fileURLToPath(new URL(`../../${file}`, import.meta.url))));
  if (missing === undefined) return;
  console.error(`\nThese tests need ${missing}: run npm run build first.\n`);
  process.exit(1);
}
