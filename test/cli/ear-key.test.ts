/** `--ear-key`: which files sign, which are refused before anything is verified, and that no key is ever shown. */
import { type KeyObject, generateKeyPairSync } from "node:crypto";
import { chmodSync } from "node:fs";
import { decodeProtectedHeader, importJWK, jwtVerify } from "jose";
import { describe, expect, it } from "vitest";
import { BOOT_1, bootproof, fileOf } from "./support.js";

const VERIFY = ["verify", "--boot-proof", BOOT_1, "--no-policy", "--format", "ear"];
const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const ed25519 = generateKeyPairSync("ed25519");
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = (key: KeyObject, type: "pkcs8" | "sec1" | "pkcs1"): string =>
  key.export({ format: "pem", type: type as "pkcs8" }).toString();
const SECRET = pem(privateKey, "pkcs8").split("\n")[1]!;

function keyFile(content: unknown): string {
  const path = fileOf(content);
  chmodSync(path, 0o600);
  return path;
}

/** PKCS#8 with the public half (RFC 5958), as libraries of Rust write it. */
function withPublicHalf(tag: string, half = hexOf(ed25519.publicKey, "x")): string {
  const inside = `020101300506032b657004220420${hexOf(ed25519.privateKey, "d")}${tag}${half}`;
  const der = Buffer.from(`30${(inside.length / 2).toString(16)}${inside}`, "hex");
  return `-----BEGIN PRIVATE KEY-----\n${der.toString("base64")}\n-----END PRIVATE KEY-----\n`;
}

function hexOf(key: KeyObject, member: "d" | "x"): string {
  return Buffer.from(key.export({ format: "jwk" })[member]!, "base64url").toString("hex");
}

function openssh(type: string): string {
  const body = Buffer.from(`openssh-key-v1\0none\0${type}\0${SECRET}`).toString("base64");
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${body}\n-----END OPENSSH PRIVATE KEY-----\n`;
}

/** `openssl ecparam -genkey` writes the curve first. */
const PARAMETERS = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";

describe("a key", () => {
  it.each<[string, unknown, KeyObject, string]>([
    ["PKCS#8", pem(privateKey, "pkcs8"), publicKey, "ES256"],
    ["SEC1", pem(privateKey, "sec1"), publicKey, "ES256"],
    ["SEC1 after its parameters", PARAMETERS + pem(privateKey, "sec1"), publicKey, "ES256"],
    ["PKCS#1", pem(rsa.privateKey, "pkcs1"), rsa.publicKey, "PS256"],
    ["RSA in PKCS#8", pem(rsa.privateKey, "pkcs8"), rsa.publicKey, "PS256"],
    [
      "PKCS#8 with text around it",
      `Bag Attributes\n    localKeyID: 01\n${pem(privateKey, "pkcs8")}end\n`,
      publicKey,
      "ES256",
    ],
    ["PKCS#8 of Ed25519 with its public half", withPublicHalf("812100"), ed25519.publicKey, "EdDSA"],
    ["the same as an older library writes it", withPublicHalf("a123032100"), ed25519.publicKey, "EdDSA"],
    ["a JWK", { ...privateKey.export({ format: "jwk" }), kid: "ci" }, publicKey, "ES256"],
    [
      "a JWK as Node writes it",
      { ...ed25519.privateKey.export({ format: "jwk" }), alg: "Ed25519" },
      ed25519.publicKey,
      "EdDSA",
    ],
  ])("as %s signs, with no warning", async (_, content, key, alg) => {
    const { code, stdout, stderr } = await bootproof([...VERIFY, "--ear-key", keyFile(content)]);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^AUTHENTIC: /)]);
    const jwk = key.export({ format: "jwk" }) as { kty: string };
    const { protectedHeader } = await jwtVerify(stdout.trimEnd(), await importJWK(jwk, alg), { typ: "eat+jwt" });
    expect(protectedHeader.alg).toBe(alg);
  });

  it("comes from stdin too", async () => {
    const { code, stdout } = await bootproof([...VERIFY, "--ear-key", "-"], { stdin: pem(privateKey, "pkcs8") });
    expect(code).toBe(0);
    expect(stdout.split(".")[2]!.trimEnd()).not.toBe("");
  });

  it("that others may read is warned of", async () => {
    const path = keyFile(pem(privateKey, "pkcs8"));
    chmodSync(path, 0o644);
    const { code, stderr } = await bootproof([...VERIFY, "--ear-key", path]);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      / has a private key that others may read: run chmod 600 on it, or make a new key\nAUTHENTIC: /,
    );
    expect(stderr.startsWith(`warning: ${path} has`)).toBe(true);
  });

  it("is tried first: nothing is read of the evidence, and nothing written", async () => {
    const args = ["verify", "--boot-proof", "nowhere.json", "--no-policy", "--format", "ear"];
    const { code, stdout, stderr } = await bootproof([...args, "--ear-key", keyFile({ kty: "oct", k: "c2VjcmV0" })]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("a symmetric key");
    expect(stderr).not.toContain("nowhere.json");
  });

  const encrypted = privateKey
    .export({ format: "pem", type: "pkcs8", cipher: "aes-256-cbc", passphrase: "x" })
    .toString();
  const legacy = pem(rsa.privateKey, "pkcs1").replace(/-\n/, "-\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n");
  it.each<[string, unknown, RegExp]>([
    ["an encrypted PEM", encrypted, /an encrypted PEM: decrypt it/],
    ["an older encrypted PEM", legacy, /an encrypted PEM/],
    ["a public key", publicKey.export({ format: "pem", type: "spki" }), /no supported private key in it/],
    ["a damaged PEM", pem(privateKey, "pkcs8").replace(/\n.{8}/, "\nAAAAAAAA"), /a damaged PEM/],
    [
      "an OpenSSH key",
      openssh("ecdsa-sha2-nistp256"),
      /OpenSSH's form: rewrite a copy of it as PKCS#8 \(ssh-keygen -p -m PKCS8/,
    ],
    [
      "an OpenSSH key of Ed25519",
      openssh("ssh-ed25519"),
      /OpenSSH's form, which ssh-keygen does not rewrite: make another/,
    ],
    ["two private keys", pem(privateKey, "pkcs8").repeat(2), /2 private keys in it/],
    [
      "a public half of another key",
      withPublicHalf("812100", "ab".repeat(32)),
      /its public half is not that of its private/,
    ],
    [
      "secp256k1",
      pem(generateKeyPairSync("ec", { namedCurve: "secp256k1" }).privateKey, "pkcs8"),
      /its curve is secp256k1/,
    ],
    [
      "an RSA-PSS key",
      pem(generateKeyPairSync("rsa-pss", { modulusLength: 2048 }).privateKey, "pkcs8"),
      /a JWK cannot hold/,
    ],
    ["a small RSA key", pem(generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey, "pkcs1"), /2048 bits/],
    ["an API key file", { publicKey: "02ab", privateKey: "cd".repeat(32) }, /an API key file, which stamps requests/],
    ["a public JWK", publicKey.export({ format: "jwk" }), /a public key; expected the private key/],
    ["a set of keys", { keys: [privateKey.export({ format: "jwk" })] }, /a set of keys/],
    ["no JSON", "secret", /not a key: expected a private key/],
    ["a list", "[]", /not a key: expected a private key/],
    ["bytes", Uint8Array.of(0xff, 0xfe), /not UTF-8 text/],
    ["nothing", "", /empty/],
    ["too much", " ".repeat(70_000), /larger than 64 KiB/],
  ])("is refused of %s, in a sentence that shows none of it", async (_, content, words) => {
    const path = keyFile(content);
    const { code, stdout, stderr } = await bootproof([...VERIFY, "--ear-key", path]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(words);
    expect(stderr).toContain(path);
    const text = typeof content === "string" ? content : JSON.stringify(content);
    for (const word of text.match(/[A-Za-z0-9+/_-]{20,}/g) ?? []) expect(stderr).not.toContain(word);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  it("that is not there is named", async () => {
    const { code, stderr } = await bootproof([...VERIFY, "--ear-key", "nowhere.pem"]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(
        /^bootproof: nowhere\.pem: no such file\nCorrect the path: no nowhere\.pem in the current folder /,
      ),
    ]);
  });
});

describe("the option", () => {
  it.each([["text"], ["json"], ["vsa"]])("goes with ear, not with %s", async (format) => {
    const args = ["verify", "--boot-proof", BOOT_1, "--no-policy", "--format", format, "--ear-key", "key.pem"];
    const { code, stderr } = await bootproof(args);
    expect(code).toBe(2);
    expect(stderr).toContain("--ear-key requires --format ear");
  });

  it("goes with --ear-alg, which chooses another algorithm that the key can", async () => {
    const args = [...VERIFY, "--ear-key", keyFile(pem(ed25519.privateKey, "pkcs8")), "--ear-alg"];
    const { code, stdout } = await bootproof([...args, "Ed25519"]);
    expect([code, decodeProtectedHeader(stdout).alg]).toEqual([0, "Ed25519"]);
    const other = await bootproof([...args, "RS256"]);
    expect([other.code, other.stdout]).toEqual([2, ""]);
    expect(other.stderr).toContain("the algorithm does not fit this kind of key: expected EdDSA, Ed25519");
    const alone = await bootproof([...VERIFY, "--ear-alg", "Ed25519"]);
    expect([alone.code, alone.stdout]).toEqual([2, ""]);
    expect(alone.stderr).toContain("--ear-alg requires --ear-key");
  });

  it("shares stdin with nothing else", async () => {
    const args = ["verify", "--boot-proof", "-", "--no-policy", "--format", "ear", "--ear-key", "-"];
    const { code, stderr } = await bootproof(args);
    expect(code).toBe(2);
    expect(stderr).toContain("only one file can be - (stdin)");
  });

  it("may be left out: then anybody can write such a result, and that is said", async () => {
    const { code, stdout, stderr } = await bootproof(VERIFY);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.\n$/);
    expect(stderr).toMatch(/^warning: this result is not signed \(alg "none"\): anyone can write one\./);
    expect((await bootproof([...VERIFY, "--quiet"])).stdout).toMatch(/^[\w-]+\.[\w-]+\.\n$/);
  });
});

describe("a verification summary", () => {
  it("that says FAILED while the exit code is good says why on stderr", async () => {
    const { code, stdout, stderr } = await bootproof([...VERIFY.slice(0, -1), "vsa"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ predicate: { verificationResult: "FAILED" } });
    expect(stderr).toMatch(/^warning: the statement is FAILED: no policy was given/);
  });
});
