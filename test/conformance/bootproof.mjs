/** This package's answers to the corpus, over its public exports as they are built: `run.mjs` starts it. */
import { createInterface } from "node:readline";
import { judgeCase } from "./adapter.mjs";

const entries = [import("bootproof"), import("bootproof/signed-policy")];
const bootproof = await Promise.all(entries).catch((error) => {
  console.error(error.code === "ERR_MODULE_NOT_FOUND" ? "nothing is built: run npm run build first" : error);
  process.exit(1);
});

for await (const folder of createInterface({ input: process.stdin }))
  console.log(JSON.stringify(await judgeCase(Object.assign({}, ...bootproof), folder)));
