/** Reads `test-vectors/`. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ManifestVersion } from "../../src/decode/manifest/index.js";

const ROOT = fileURLToPath(new URL("../../test-vectors/", import.meta.url));

/** Files that are packed into one: base64 by name. */
const PACKED = "nitro/more.json";

let known: ReadonlyMap<string, Uint8Array> | undefined;

function packed(): ReadonlyMap<string, Uint8Array> {
  if (known !== undefined) return known;
  const files = Object.entries(readVectorJson<Record<string, string>>(PACKED));
  known = new Map(files.map(([name, base64]) => [`nitro/${name}`, new Uint8Array(Buffer.from(base64, "base64"))]));
  return known;
}

export function readVector(path: string): Uint8Array {
  return packed().get(path)?.slice() ?? new Uint8Array(readFileSync(join(ROOT, path)));
}

export function readVectorText(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

export function readVectorJson<T>(path: string): T {
  return JSON.parse(readVectorText(path)) as T;
}

/** Every file under `test-vectors/`, packed ones too, as a path relative to it with `/` between its parts. */
export function vectorFiles(): string[] {
  const files = readdirSync(ROOT, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length).replaceAll("\\", "/"))
    .filter((path) => path !== PACKED);
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
