#!/usr/bin/env node
/**
 * Starts the command. For the Node that built this package, V8's compiled form of it is in the package too (a code
 * cache), which saves a third of the start. V8 compares little more than the length of the source and its own version,
 * and runs a damaged cache. So one is used only where its SHA-256, together with the source's, is the one below; it
 * adds nothing to trust. Any other Node reads the source as always; none is written here, since a folder that others
 * can write to would decide what runs (`NODE_COMPILE_CACHE` is the user's own choice, and works).
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { join } from "node:path";
import { Script } from "node:vm";

/** From the build: which Node takes the cache, and the SHA-256 of the source followed by the cache. */
declare const CODE_CACHE: { readonly node: string; readonly sha256: string };
/** From the build, too: imports, from this folder. */
declare const bring: (name: string) => Promise<unknown>;

const file = join(__dirname, "main.cjs");

type Main = (importing: typeof bring) => void;

/** What the file exports; null where this is another Node, or a file is missing, damaged or changed. */
function compiled(): Main | null {
  const { version, versions, platform, arch } = process;
  if (CODE_CACHE.node !== [version, versions.v8, platform, arch].join(" ")) return null;
  try {
    const source = readFileSync(file);
    const cachedData = readFileSync(join(__dirname, "main.cache"));
    if (createHash("sha256").update(source).update(cachedData).digest("hex") !== CODE_CACHE.sha256) return null;
    const script = new Script(Module.wrap(source.toString("latin1")), { filename: file, cachedData });
    const own: { exports?: Main } = {};
    (script.runInThisContext() as (...around: unknown[]) => void)(own, createRequire(file), own, file, __dirname);
    return own.exports ?? null;
  } catch {
    return null;
  }
}

const main = compiled() ?? (module.require("./main.cjs") as Main);
main(bring);
