/**
 * Runs the command once in this process, and writes what V8 compiled for that: `node code-cache.mjs MAIN CACHE ARG…`.
 * The build's, in a process of its own.
 */
import { readFileSync, writeFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { dirname } from "node:path";
import { Script } from "node:vm";

const [file, cache] = process.argv.splice(2, 2);
process.argv[1] = file;
const script = new Script(Module.wrap(readFileSync(file, "latin1")), { filename: file });
const module = { exports: {} };
script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file));
process.on("exit", () => writeFileSync(cache, script.createCachedData()));
module.exports((name) => import(name));
