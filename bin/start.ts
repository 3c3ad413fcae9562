#!/usr/bin/env node
/**
 * Starts the command. The package also has V8's compiled form of it (a code cache) for the Node version that built the
 * package: it saves a third of the start. V8 itself checks little more than its version and the length of the source,
 * and runs a damaged cache. So the cache is used only if the SHA-256 of it and the source is the one below: it adds
 * nothing to trust. Any other Node reads the source. No cache is written here, since others may be able to write to its
 * folder (`NODE_COMPILE_CACHE` is the user's own choice, and works).
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { join } from "node:path";
import { Script } from "node:vm";

/** From the build: the Node version of the cache, and the SHA-256 of the source followed by the cache. */
declare const CODE_CACHE: { readonly node: string; readonly sha256: string };
/** From the build: imports, relative to this folder. */
declare const bring: (name: string) => Promise<unknown>;

const file = join(__dirname, "main.cjs");

type Main = (importing: typeof bring) => void;

/** Null for another Node version, or if a file is missing, damaged or changed. */
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
