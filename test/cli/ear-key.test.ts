/** `--ear-key`: which files sign, which are refused before anything is verified, and that no key is ever shown. */
import { type KeyObject, generateKeyPairSync } from "node:crypto";
import { chmodSync } from "node:fs";
import { decodeProtectedHeader, importJWK, jwtVerify } from "jose";
import { describe, expect, it } from "vitest";
import { BOOT_1, fileOf, scene } from "./support.js";

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const ed25519 = generateKeyPairSync("ed25519");
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = (key: KeyObject, type: "pkcs8" | "sec1" | "pkcs1"): string =>
  key.export({ format: "pem", type: type as "pkcs8" }).toString();
const PKCS8 = pem(privateKey, "pkcs8");

function keyFile(content: unknown): string {
  const path = fileOf(content);
  chmodSync(path, 0o600);
  return path;
}

const hexOf = (key: KeyObject, member: "d" | "x"): string =>
  Buffer.from(key.export({ format: "jwk" })[member]!, "base64url").toString("hex");

/** PKCS#8 with the public half (RFC 5958), as libraries of Rust write it. */
function withPublicHalf(tag: string, half = hexOf(ed25519.publicKey, "x")): string {
  const inside = `020101300506032b657004220420${hexOf(ed25519.privateKey, "d")}${tag}${half}`;
  const der = Buffer.from(`30${(inside.length / 2).toString(16)}${inside}`, "hex");
  return `-----BEGIN PRIVATE KEY-----\n${der.toString("base64")}\n-----END PRIVATE KEY-----\n`;
}

function openssh(type: string): string {
  const body = Buffer.from(`openssh-key-v1\0none\0${type}\0${PKCS8.split("\n")[1]!}`).toString("base64");
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${body}\n-----END OPENSSH PRIVATE KEY-----\n`;
}

/** `openssl ecparam -genkey` writes the curve first. */
const PARAMETERS = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";
const jwk = privateKey.export({ format: "jwk" });
const others = fileOf(PKCS8);
chmodSync(others, 0o644);
const N = { ...{ boot: BOOT_1, key: keyFile(PKCS8), ed25519: keyFile(pem(ed25519.privateKey, "pkcs8")), others } };
const { having, run, table, usage } = scene({ ...N, oct: keyFile({ kty: "oct", k: "c2VjcmV0" }) });
const verify = "verify --boot-proof $boot --no-policy --format ear";

describe("a key", () => {
  it.each<[string, unknown, KeyObject, string]>([
    ["PKCS#8", PKCS8, publicKey, "ES256"],
    ["SEC1", pem(privateKey, "sec1"), publicKey, "ES256"],
    ["SEC1 after its parameters", PARAMETERS + pem(privateKey, "sec1"), publicKey, "ES256"],
    ["PKCS#1", pem(rsa.privateKey, "pkcs1"), rsa.publicKey, "PS256"],
    ["RSA in PKCS#8", pem(rsa.privateKey, "pkcs8"), rsa.publicKey, "PS256"],
    ["PKCS#8 with text around it", `Bag Attributes\n    localKeyID: 01\n${PKCS8}end\n`, publicKey, "ES256"],
    ["PKCS#8 of Ed25519 with its public half", withPublicHalf("812100"), ed25519.publicKey, "EdDSA"],
    ["the same as an older library writes it", withPublicHalf("a123032100"), ed25519.publicKey, "EdDSA"],
    ["a JWK", { ...jwk, kid: "ci" }, publicKey, "ES256"],
    ["one of Node", { ...ed25519.privateKey.export({ format: "jwk" }), alg: "Ed25519" }, ed25519.publicKey, "EdDSA"],
  ])("as %s signs, with no warning", async (_, content, key, alg) => {
    const { stdout, stderr } = await having({ it: keyFile(content) })(`${verify} --ear-key $it`, 0);
    expect(stderr).toMatch(/^AUTHENTIC: /);
    const imported = await importJWK(key.export({ format: "jwk" }) as { kty: string }, alg);
    const { protectedHeader } = await jwtVerify(stdout.trimEnd(), imported, { typ: "eat+jwt" });
    expect(protectedHeader.alg).toBe(alg);
  });

  const encrypted = privateKey.export({ format: "pem", type: "pkcs8", cipher: "aes-256-cbc", passphrase: "x" });
  const legacy = pem(rsa.privateKey, "pkcs1").replace(/-\n/, "-\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n");
  const secp256k1 = generateKeyPairSync("ec", { namedCurve: "secp256k1" }).privateKey;
  const pss = generateKeyPairSync("rsa-pss", { modulusLength: 2048 }).privateKey;
  const small = generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey;
  it.each<[string, unknown, string]>([
    ["an encrypted PEM", encrypted.toString(), "an encrypted PEM: decrypt it"],
    ["an older encrypted PEM", legacy, "an encrypted PEM"],
    ["a public key", publicKey.export({ format: "pem", type: "spki" }), "no supported private key in it"],
    ["a damaged PEM", PKCS8.replace(/\n.{8}/, "\nAAAAAAAA"), "a damaged PEM"],
    ["an OpenSSH key", openssh("ecdsa-sha2-nistp256"), "OpenSSH's form: rewrite a copy of it as PKCS#8 (ssh-keygen -p"],
    ["one of Ed25519", openssh("ssh-ed25519"), "OpenSSH's form, which ssh-keygen does not rewrite: make another"],
    ["two private keys", PKCS8.repeat(2), "2 private keys in it"],
    ["another's public half", withPublicHalf("812100", "ab".repeat(32)), "its public half is not that of its private"],
    ["secp256k1", pem(secp256k1, "pkcs8"), "its curve is secp256k1"],
    ["an RSA-PSS key", pem(pss, "pkcs8"), "a JWK cannot hold"],
    ["a small RSA key", pem(small, "pkcs1"), "2048 bits"],
    ["an API key file", { publicKey: "02ab", privateKey: "cd".repeat(32) }, "an API key file, which stamps requests"],
    ["a public JWK", publicKey.export({ format: "jwk" }), "a public key; expected the private key"],
    ["a set of keys", { keys: [jwk] }, "a set of keys"],
    ["no JSON", "secret", "not a key: expected a private key"],
    ["a list", "[]", "not a key: expected a private key"],
    ["bytes", Uint8Array.of(0xff, 0xfe), "not UTF-8 text"],
    ["nothing", "", "empty"],
    ["too much", " ".repeat(70_000), "larger than 64 KiB"],
  ])("is refused of %s, in a sentence that shows none of it", async (_, content, says) => {
    const { stderr } = await having({ it: keyFile(content) })(`${verify} --ear-key $it`, 2, says, "$it");
    const text = typeof content === "string" ? content : JSON.stringify(content);
    for (const word of text.match(/[A-Za-z0-9+/_-]{20,}/g) ?? []) expect(stderr).not.toContain(word);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  const OTHERS =
    /warning: \S+ has a private key that others may read: run chmod 600 on it, or make a new key AUTHENTIC: /;
  const UNSIGNED = /^[\w-]+\.[\w-]+\. warning: this result is not signed \(alg "none"\): anyone can write one\./;
  table([
    [`${verify} --ear-key - < $key`, 0, /^[\w-]+\.[\w-]+\.[\w-]+ AUTHENTIC/],
    [`${verify} --ear-key $others`, 0, OTHERS],
    // Anybody can write a result without a key, and that is said.
    [verify, 0, UNSIGNED],
    [`${verify} --quiet`, 0, /^[\w-]+\.[\w-]+\.(?: |$)/],
    [
      `${verify.replace("ear", "vsa")}`,
      0,
      '"verificationResult": "FAILED"',
      "warning: the statement is FAILED: no policy",
    ],
  ]);

  // The key is tried first: nothing is read of the evidence.
  usage("verify --no-policy --format ear", [
    ["--boot-proof nowhere.json --ear-key $oct", "a symmetric key", "!nowhere.json"],
    [
      "--boot-proof $boot --ear-key nowhere.pem",
      "nowhere.pem: no such file Correct the path: no nowhere.pem in the current folder ",
    ],
    [
      "--boot-proof $boot --ear-key $ed25519 --ear-alg RS256",
      "the algorithm does not fit this kind of key: expected EdDSA, Ed25519",
    ],
    ["--boot-proof $boot --ear-alg Ed25519", "--ear-alg requires --ear-key"],
    ["--boot-proof - --ear-key -", "only one file can be - (stdin)"],
  ]);
  usage("verify --boot-proof $boot --no-policy --ear-key key.pem --format", [
    ["text", "--ear-key requires --format ear"],
    ["json", "--ear-key requires --format ear"],
    ["vsa", "--ear-key requires --format ear"],
  ]);

  it("goes with --ear-alg, which chooses another algorithm that the key can", async () => {
    const { stdout } = await run(`${verify} --ear-key $ed25519 --ear-alg Ed25519`, 0);
    expect(decodeProtectedHeader(stdout).alg).toBe("Ed25519");
  });
});
