/** A team that signs policies: keys of openssl and of Node, and shorthands for what they sign. */
import { execFileSync } from "node:child_process";
import { createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KeyType } from "../../src/signed-policy/keys.js";
import type { PolicySigners, PolicyKey } from "../../src/signed-policy/index.js";
import { readSigningKey } from "../../src/signed-policy/index.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";

export const NOW = new Date("2026-03-04T05:06:07.000Z");
export const DAY_MS = 86_400_000;
export const folder = mkdtempSync(join(tmpdir(), "bootproof-team-"));
// Test files of one process share this module, so the folder stays until the process ends.
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
let files = 0;

export function fileWith(content: string | Uint8Array, mode = 0o600): string {
  const path = join(folder, `${files++}`);
  writeFileSync(path, content, { mode });
  return path;
}

/** Runs openssl on files, and returns its stdout. */
export function openssl(...words: readonly string[]): Buffer {
  return execFileSync("openssl", words, { stdio: ["ignore", "pipe", "pipe"] });
}

const GENPKEY: Readonly<Record<KeyType, readonly string[]>> = {
  "P-256": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
  "P-384": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
  Ed25519: ["-algorithm", "ED25519"],
};
export const TYPES = Object.keys(GENPKEY) as KeyType[];

export interface Member {
  /** The file of the private key, which only its owner can read. */
  readonly file: string;
  readonly pem: string;
  readonly publicPem: string;
  readonly key: PolicyKey;
}

/** A key that openssl makes, in processes of their own. */
export async function opensslMember(type: KeyType): Promise<Member> {
  const pem = openssl("genpkey", ...GENPKEY[type]).toString();
  const file = fileWith(pem);
  return { file, pem, publicPem: openssl("pkey", "-in", file, "-pubout").toString(), key: await readSigningKey(pem) };
}

/** A key that Node makes. */
export async function member(type: KeyType): Promise<Member> {
  const { privateKey } =
    type === "Ed25519" ? generateKeyPairSync("ed25519") : generateKeyPairSync("ec", { namedCurve: type });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return { file: fileWith(pem), pem, publicPem: publicPemOf(pem), key: await readSigningKey(pem) };
}

export function publicPemOf(pem: string): string {
  return createPublicKey(pem).export({ type: "spki", format: "pem" }).toString();
}

/** Makes a signature of Node over bytes: with SHA-256 or SHA-384, or of Ed25519. */
export function nodeSignature({ pem, key }: Member, bytes: Uint8Array): Uint8Array {
  const hashes: Readonly<Record<KeyType, string | null>> = { "P-256": "sha256", "P-384": "sha384", Ed25519: null };
  return sign(hashes[key.publicKey.type], bytes, pem);
}

/** Makes one of openssl. */
export function opensslSignature({ file, key }: Member, bytes: Uint8Array): Uint8Array {
  const input = fileWith(bytes);
  if (key.publicKey.type === "Ed25519") return openssl("pkeyutl", "-sign", "-rawin", "-inkey", file, "-in", input);
  const hash = key.publicKey.type === "P-256" ? "-sha256" : "-sha384";
  return openssl("dgst", hash, "-sign", file, input);
}

export function opensslVerifies({ publicPem, key }: Member, bytes: Uint8Array, signature: Uint8Array): boolean {
  const [pub, input, sig] = [fileWith(publicPem), fileWith(bytes), fileWith(signature)];
  const { type } = key.publicKey;
  const words =
    type === "Ed25519"
      ? ["pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", pub, "-sigfile", sig, "-in", input]
      : ["dgst", type === "P-256" ? "-sha256" : "-sha384", "-verify", pub, "-signature", sig, input];
  try {
    openssl(...words);
    return true;
  } catch {
    return false;
  }
}

export function signersOf(threshold: number, ...members: readonly Member[]): PolicySigners {
  return { name: "prod/signer", threshold, keys: members.map(({ publicPem }) => publicPem) };
}

const lab = new Forge();
const { anchorPem } = forgeEvidence({ lab, at: NOW });
export const POLICY = { ...labPolicy(anchorPem, [labDeployment(lab)]), maxAge: "7d" } as Record<string, unknown>;
/** The same policy, which accepts more. */
export const LOOSER = { ...POLICY, maxAge: "30d" };

export const readText = (path: string): string => readFileSync(path, "utf8");

export function payloadIn(envelope: string): Record<string, unknown> {
  const { payload } = JSON.parse(envelope) as { payload: string };
  return JSON.parse(Buffer.from(payload, "base64").toString()) as Record<string, unknown>;
}

/** The envelope with other members of its payload, which nobody has signed. */
export function altered(envelope: string, members: object): string {
  const payload = Buffer.from(JSON.stringify({ ...payloadIn(envelope), ...members })).toString("base64");
  return JSON.stringify({ ...(JSON.parse(envelope) as object), payload, signatures: [] });
}
