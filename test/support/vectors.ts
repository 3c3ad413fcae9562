/** Reads `test-vectors/`. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ManifestVersion } from "../../src/decode/manifest/index.js";

const ROOT = fileURLToPath(new URL("../../test-vectors/", import.meta.url));

/** Files that hold others by name: in base64; in the second as text, unless it begins with `base64:`. */
const NITRO = "nitro/more.json";
const MANIFESTS = "manifests/packed.json";

let known: ReadonlyMap<string, Uint8Array> | undefined;

function packed(): ReadonlyMap<string, Uint8Array> {
  known ??= new Map([
    ...filesIn(NITRO, (text) => Buffer.from(text, "base64")),
    ...filesIn(MANIFESTS, (text) =>
      text.startsWith("base64:") ? Buffer.from(text.slice("base64:".length), "base64") : Buffer.from(text),
    ),
  ]);
  return known;
}

function filesIn(pack: string, bytesOf: (text: string) => Buffer): [string, Uint8Array][] {
  const texts = JSON.parse(readFileSync(join(ROOT, pack), "utf8")) as Record<string, string>;
  const folder = pack.slice(0, pack.indexOf("/") + 1);
  return Object.entries(texts).map(([name, text]) => [`${folder}${name}`, new Uint8Array(bytesOf(text))]);
}

export function readVector(path: string): Uint8Array {
  return packed().get(path)?.slice() ?? new Uint8Array(readFileSync(join(ROOT, path)));
}

export function readVectorText(path: string): string {
  return new TextDecoder().decode(readVector(path));
}

export function readVectorJson<T>(path: string): T {
  return JSON.parse(readVectorText(path)) as T;
}

/** Every file under `test-vectors/`, packed ones too, as a path relative to it with `/` between its parts. */
export function vectorFiles(): string[] {
  const files = readdirSync(ROOT, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length).replaceAll("\\", "/"))
    .filter((path) => path !== NITRO && path !== MANIFESTS);
  return [...files, ...packed().keys()].sort();
}

export type ExpectedVerdict = "verified" | "authentic" | "rejected";

/** A row of `documents.json`. */
export interface DocumentVector {
  readonly file: string;
  readonly at: string;
  readonly expect: {
    readonly verdict: ExpectedVerdict;
    readonly fails: readonly string[];
    readonly says?: string;
    readonly withDebugAllowed?: ExpectedVerdict;
  };
}

/** A row of `manifests.json`. */
export interface ManifestVector {
  readonly file: string;
  readonly kind: "manifest" | "envelope";
  readonly member?: string;
  readonly expect: {
    readonly version: ManifestVersion;
    readonly hash: string;
    readonly canonical?: string;
    readonly manifestSetApprovals?: number;
    readonly shareSetApprovals?: number;
  };
}

/** A row of `boot-proofs.json`. */
export interface BootProofVector {
  readonly name: string;
  readonly bootProofs: readonly string[];
  readonly appProofs: readonly string[];
  readonly now: string;
  readonly expect: {
    readonly verdict: ExpectedVerdict;
    readonly fails: readonly string[];
    readonly warns?: readonly string[];
    readonly commitment?: string;
    readonly under?: readonly number[];
  };
}

function table<T>(file: string): T[] {
  const { vectors } = readVectorJson<{ vectors: T[] }>(file);
  if (vectors.length === 0) throw new Error(`${file} is empty`);
  return vectors;
}

export const documentVectors = (): DocumentVector[] => table("documents.json");
export const manifestVectors = (): ManifestVector[] => table("manifests.json");
export const bootProofVectors = (): BootProofVector[] => table("boot-proofs.json");

/** The documents that enclaves made: neither the NitroTPM one nor the malformed one. */
export function genuineDocuments(): { file: string; bytes: Uint8Array }[] {
  return documentVectors()
    .filter(({ expect }) => expect.says === undefined)
    .map(({ file }) => ({ file, bytes: readVector(file) }));
}

/** The bytes of a manifest vector: the file, or the JSON of its member. */
export function manifestBytes(vector: ManifestVector): Uint8Array {
  if (vector.member === undefined) return readVector(vector.file);
  const whole = readVectorJson<Record<string, unknown>>(vector.file);
  return new TextEncoder().encode(JSON.stringify(whole[vector.member]));
}
