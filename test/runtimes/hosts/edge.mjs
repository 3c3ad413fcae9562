/** The edge runtime around that script, in Node. Its package, and the script, are the arguments. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [, , vmPackage, script] = process.argv;
const { EdgeVM } = createRequire(import.meta.url)(vmPackage);
const vm = new EdgeVM({ codeGeneration: { strings: false, wasm: false } });
vm.evaluate(readFileSync(script, "utf8"));
console.log(JSON.stringify(await vm.evaluate("answers")));
