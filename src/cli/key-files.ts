/** Reads files with keys, in the forms in which people have them. No message quotes a key. */
import type { KeyObject } from "node:crypto";
import { statSync } from "node:fs";
import { concatBytes, fromBase64, fromHex, toHex } from "../bytes.js";
import { printable } from "../report/printable.js";
import { InputFiles, STDIN } from "./files.js";
import type { Io } from "./io.js";
import type { CommandName } from "./option-table.js";

export function warnOfReaders(path: string, io: Io): void {
  io.stderr.write(
    printable(`warning: ${path} has a private key that others may read: run chmod 600 on it, or make a new key`) + "\n",
  );
}

/** Returns whether other users may read the file. False on Windows, which has no such permission bits. */
function isReadableByOthers(path: string): boolean {
  return process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0;
}

const MAX_KEY_BYTES = 64 * 1024;

/** Why a key is refused. The message must not quote the key. */
export class KeyRefusal extends Error {}

/** How a command reads a key, and how it reports errors. */
interface KeyReader<T> {
  readonly command: CommandName;
  /** `refused` also refuses a private key that others may read. */
  readonly isPrivate: boolean | "refused";
  /** Reads the text, in which a private key in PEM is PKCS#8 as openssl writes it. */
  readonly read: (text: string) => Promise<T>;
  /** Returns the message, which must not quote the key. Null means that the error is not about the key. */
  readonly faultOf: (error: unknown) => string | null;
}

/** Reads a key. Warns if others may read a private one. Throws UsageError, which never quotes the key. */
export async function readKey<T>(
  path: string,
  { command, isPrivate, read, faultOf }: KeyReader<T>,
  io: Io,
): Promise<T> {
  const files = new InputFiles(io, command);
  const bytes = await files.raw(path, MAX_KEY_BYTES);
  const text = bytes && files.textOf(path, bytes);
  files.throwFaults();
  let key: T;
  try {
    const pem = isPrivate === false ? null : await privateKeyIn(text!);
    key = await read(pem?.export({ type: "pkcs8", format: "pem" }).toString() ?? text!);
  } catch (error) {
    const fault = error instanceof KeyRefusal ? error.message : faultOf(error);
    if (fault === null) throw error;
    files.fault(path, fault);
    files.throwFaults();
  }
  if (isPrivate === false || path === STDIN || !isReadableByOthers(path)) return key!;
  if (isPrivate === true) warnOfReaders(path, io);
  else files.fault(path, "others may read this private key: run chmod 600 on it, or make a new key");
  files.throwFaults();
  return key!;
}

/** The blocks that have a private key: PKCS#8 (RFC 7468), SEC1 (RFC 5915), and PKCS#1. */
const PRIVATE_BLOCK = /-----BEGIN ((?:RSA |EC )?PRIVATE KEY)-----[^]*?-----END \1-----/g;
const OPENSSH = /-----BEGIN OPENSSH PRIVATE KEY-----([^]*?)-----END/;
const ENCRYPTED = /BEGIN ENCRYPTED|Proc-Type: 4,ENCRYPTED/;

/**
 * Returns the private key in a text, which may have other lines around the block. Null if no block has one. Throws
 * {@link KeyRefusal} for one that cannot be read, and for several.
 */
export async function privateKeyIn(text: string): Promise<KeyObject | null> {
  const [, openssh] = OPENSSH.exec(text) ?? [];
  if (openssh !== undefined) throw new KeyRefusal(opensshText(openssh));
  if (ENCRYPTED.test(text))
    throw new KeyRefusal("an encrypted PEM: decrypt it (openssl pkey -in FILE) into a file that only you can read");
  const [block, ...others] = text.match(PRIVATE_BLOCK) ?? [];
  if (block === undefined) return null;
  if (others.length > 0) throw new KeyRefusal(`${others.length + 1} private keys in it: give a file with one`);
  const { createPrivateKey } = await import("node:crypto");
  const der = fromBase64(block.replace(/-----[^-]+-----|\s/g, ""));
  const plain = der && (await withoutPublicHalf(der));
  try {
    return plain ? createPrivateKey({ key: plain, format: "der", type: "pkcs8" }) : createPrivateKey(block);
  } catch {
    throw new KeyRefusal(`a damaged PEM, or a kind of key that is not supported: ${SUPPORTED}`);
  }
}

const SUPPORTED = "P-256, P-384, P-521, Ed25519 or RSA expected";

function opensshText(base64: string): string {
  return Buffer.from(base64, "base64").includes("ssh-ed25519")
    ? "an Ed25519 key in OpenSSH's form, which ssh-keygen does not rewrite: make another one " +
        "(openssl genpkey -algorithm ed25519)"
    : "a key in OpenSSH's form: rewrite a copy of it as PKCS#8 (ssh-keygen -p -m PKCS8 -f COPY)";
}

/** PKCS#8 of Ed25519 without and with its public half (RFC 8410 section 7), which OpenSSL 3.0 does not read. */
const ED25519_ALONE = /* @__PURE__ */ fromHex("302e020100300506032b657004220420")!;
const ED25519_WITH_PUBLIC =
  /^(?:3051|3053)020101300506032b657004220420([0-9a-f]{64})(?:812100|a123032100)([0-9a-f]{64})$/;

/** Returns the PKCS#8 of an Ed25519 key without its public half, which has to be that of the private one. */
async function withoutPublicHalf(der: Uint8Array): Promise<Buffer | null> {
  const [, secret, stated] = ED25519_WITH_PUBLIC.exec(toHex(der)) ?? [];
  if (secret === undefined || stated === undefined) return null;
  const { createPrivateKey } = await import("node:crypto");
  const plain = Buffer.from(concatBytes(ED25519_ALONE, fromHex(secret)!));
  const { x } = createPrivateKey({ key: plain, format: "der", type: "pkcs8" }).export({ format: "jwk" });
  if (Buffer.from(x!, "base64url").toString("hex") === stated) return plain;
  throw new KeyRefusal("its public half is not that of its private half");
}

/** Returns the key of a log's checkpoints as PEM. */
export function readLogKey(path: string, kind: "private" | "public", io: Io): Promise<string> {
  return readKey(
    path,
    {
      command: "watch",
      isPrivate: kind === "private",
      read: async (pem) => {
        const { requireLogKey } = await import("../run/index.js");
        await requireLogKey(pem, kind);
        return pem;
      },
      faultOf: (error) => (error instanceof TypeError ? error.message : null),
    },
    io,
  );
}
