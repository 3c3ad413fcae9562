/** This package's answers to the corpus, over its public exports as they are built: `run.mjs` starts it. */
import { createInterface } from "node:readline";
import * as bootproof from "bootproof";
import { judgeCase } from "./adapter.mjs";

for await (const folder of createInterface({ input: process.stdin }))
  console.log(JSON.stringify(await judgeCase(bootproof, folder)));
