/** An application that audits, bundled as docs/audit-and-watch.md says, and run where nothing is installed. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, expect, it } from "vitest";
import { ROOT, removeFolders, run, strangersFolder } from "./support.js";

afterAll(removeFolders);

const APPLICATION = `
  import { auditFiles } from "bootproof/run/node";
  const setting = { policy: null, now: "2026-07-01T00:00:00.000Z", at: "document", bootProofs: [] };
  const [input] = process.argv.slice(2);
  const { total } = await auditFiles({ inputs: [input], setting, out: "results.ndjson" });
  console.log(total.entries, total.accepted);
`;
const textOf = (name: string): string =>
  JSON.stringify(JSON.parse(readFileSync(join(ROOT, "test-vectors/boot-proofs", name), "utf8")));

it("an application in which bootproof/run/node is bundled audits with the threads beside it", async () => {
  const folder = strangersFolder();
  await build({
    stdin: { contents: APPLICATION, resolveDir: ROOT, sourcefile: "app.js" },
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: join(folder, "app.js"),
    logLevel: "silent",
  });
  await build({
    entryPoints: { "bootproof-thread": join(ROOT, "dist/run/thread.js") },
    bundle: true,
    platform: "node",
    format: "esm",
    outdir: folder,
    logLevel: "silent",
  });
  writeFileSync(join(folder, "entries.ndjson"), `${textOf("bootproof-1.json")}\n{}\n${textOf("bootproof-2.json")}\n`);
  const { status, stdout, stderr } = await run(process.execPath, ["app.js", "entries.ndjson"], folder);
  expect([status, stdout, stderr]).toEqual([0, "3 2\n", ""]);
});
