import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ApiKey } from "../../src/client/index.js";
import { bootproof, fileOf, refusal, refused } from "./support.js";

const folder = mkdtempSync(join(tmpdir(), "bootproof-keys-"));
const KEY = join(folder, "key.json");
const { stdout: PUBLIC_KEY } = await bootproof(["key", "new", "--out", KEY]);
const key = JSON.parse(readFileSync(KEY, "utf8")) as ApiKey;

describe("key new", () => {
  it("makes a pair, for its owner alone, and tells the public half", async () => {
    const file = join(folder, "another.json");
    const mask = process.umask(0);
    const { code, stdout, stderr } = await bootproof(["key", "new", "--out", file]);
    process.umask(mask);
    const made = JSON.parse(readFileSync(file, "utf8")) as ApiKey;
    expect(code).toBe(0);
    expect(Object.keys(made)).toEqual(["publicKey", "privateKey"]);
    expect(made.publicKey).toMatch(/^0[23][0-9a-f]{64}$/);
    expect(made.privateKey).toMatch(/^[0-9a-f]{64}$/);
    expect(stdout).toBe(`${made.publicKey}\n`);
    expect(stderr).toBe(`${file} has the private key; the public key is above\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(made).not.toEqual(key);
  });

  it("makes its default file in the current folder", async () => {
    const before = process.cwd();
    process.chdir(mkdtempSync(join(tmpdir(), "bootproof-keygen-")));
    try {
      expect((await bootproof(["key", "new"])).code).toBe(0);
      expect(readdirSync(".")).toEqual(["bootproof-api-key.json"]);
      expect((await bootproof(["key", "new"])).code).toBe(2);
    } finally {
      process.chdir(before);
    }
  });

  it("overwrites nothing, and follows no link", async () => {
    const link = join(folder, "link.json");
    symlinkSync(join(folder, "elsewhere.json"), link);
    for (const file of [KEY, link]) {
      await refused(
        2,
        bootproof(["key", "new", "--out", file]),
        `bootproof: ${file}: exists already, and a key is never overwritten: choose another file name`,
      );
    }
    expect(JSON.parse(readFileSync(KEY, "utf8"))).toEqual(key);
    expect(readdirSync(folder)).not.toContain("elsewhere.json");
  });

  it.each([
    [["--out", join(folder, "no", "such", "folder.json")], "cannot be written"],
    [["--out", "-"], "a private key is not printed"],
    [["--out", ""], "--out: expected a file"],
    [["--out", "a", "--out", "b"], "--out is repeated"],
    [["stray"], "too many arguments"],
  ])("refuses %j", (args, message) => refused(2, bootproof(["key", "new", ...args]), message));
});

describe("stamp", () => {
  const BODY = Buffer.from('{"organizationId":"o", "userId": "ü\\u0000"}\n\n');

  /** As the interface says it (client/README.md, "Stamps"), by node:crypto alone. */
  function accepts(header: string, body: Uint8Array): boolean {
    expect(header).toMatch(/^[A-Za-z0-9_-]+\n$/);
    const { publicKey, scheme, signature } = JSON.parse(Buffer.from(header.trim(), "base64url").toString()) as Record<
      string,
      string
    >;
    expect([publicKey, scheme]).toEqual([key.publicKey, "SIGNATURE_SCHEME_TK_API_P256"]);
    // SubjectPublicKeyInfo of a compressed point.
    const spki = Buffer.concat([
      Buffer.from("3039301306072a8648ce3d020106082a8648ce3d030107032200", "hex"),
      Buffer.from(publicKey!, "hex"),
    ]);
    return verify(
      "sha256",
      body,
      createPublicKey({ key: spki, format: "der", type: "spki" }),
      Buffer.from(signature!, "hex"),
    );
  }

  it("stamps exactly the bytes of stdin", async () => {
    const { code, stdout, stderr } = await bootproof(["key", "stamp", "--api-key-file", KEY], { stdin: BODY });
    expect([code, stderr]).toEqual([0, ""]);
    expect(accepts(stdout, BODY)).toBe(true);
    expect(accepts(stdout, BODY.subarray(0, -1))).toBe(false);
    const binary = Uint8Array.from({ length: 3 * 1024 * 1024 }, (_, index) => index % 251);
    expect(accepts((await bootproof(["key", "stamp", "--api-key-file", KEY], { stdin: binary })).stdout, binary)).toBe(
      true,
    );
  });

  it("takes the key from the environment", async () => {
    const env = { BOOTPROOF_API_PUBLIC_KEY: key.publicKey, BOOTPROOF_API_PRIVATE_KEY: key.privateKey };
    expect(accepts((await bootproof(["key", "stamp"], { stdin: BODY, env })).stdout, BODY)).toBe(true);
  });

  it("takes the key as the service's command line keeps it, from its files or the environment", async () => {
    const privateFile = join(folder, "default.private");
    writeFileSync(privateFile, `${key.privateKey}:p256\n`, { mode: 0o600 });
    writeFileSync(join(folder, "default.public"), `${key.publicKey}\r\n`);
    const { stdout, stderr } = await bootproof(["key", "stamp", "--api-key-file", privateFile], { stdin: BODY });
    expect([accepts(stdout, BODY), stderr]).toEqual([true, ""]);
    const env = {
      BOOTPROOF_API_PUBLIC_KEY: `${key.publicKey}\n`,
      BOOTPROOF_API_PRIVATE_KEY: `${key.privateKey}:p256\n`,
    };
    expect(accepts((await bootproof(["key", "stamp"], { stdin: BODY, env })).stdout, BODY)).toBe(true);
  });

  it("refuses a public half of another key, and another curve", async () => {
    const other = join(folder, "other.private");
    writeFileSync(other, `${"11".repeat(32)}:p256`, { mode: 0o600 });
    writeFileSync(join(folder, "other.public"), key.publicKey);
    const stamp = bootproof(["key", "stamp", "--api-key-file", other], { stdin: BODY });
    await refusal(2, stamp, `${other}: the API key's publicKey is not that of its privateKey`);
    const env = { BOOTPROOF_API_PUBLIC_KEY: key.publicKey, BOOTPROOF_API_PRIVATE_KEY: `${key.privateKey}:ed25519` };
    await refusal(2, bootproof(["key", "stamp"], { stdin: BODY, env }), "a private key of ed25519");
  });

  it("warns of a key that others may read", async () => {
    const open = fileOf(key);
    chmodSync(open, 0o644);
    const { code, stderr } = await bootproof(["key", "stamp", "--api-key-file", open], { stdin: BODY });
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^warning: .* others may read:/)]);
  });

  it.each([
    ["no body", ["--api-key-file", KEY], "", "stdin: empty"],
    ["no key", [], "{}", "--api-key-file FILE (or BOOTPROOF_API_PUBLIC_KEY and BOOTPROOF_API_PRIVATE_KEY) is required"],
    ["a key on the command line", ["--api-private-key", "5f".repeat(32)], "{}", "can read a key on the command line"],
    ["a file without a key", ["--api-key-file", fileOf("{}")], "{}", "--api-key-file takes an API key file"],
    ["a file that is not a key", ["--api-key-file", fileOf({ publicKey: "02" })], "{}", "not a key file"],
    ["too much", ["--api-key-file", KEY], " ".repeat(17 * 1024 * 1024), "stdin: larger than 16 MiB"],
    ["a body's name", ["--api-key-file", KEY, "body.json"], "{}", "too many arguments"],
  ])("refuses %s", async (_, args, stdin, message) => {
    const stderr = await refusal(2, bootproof(["key", "stamp", ...args], { stdin }), message);
    expect(stderr).not.toContain("5f5f");
  });
});

describe("key show", () => {
  const ed25519 = generateKeyPairSync("ed25519");
  const pem = ed25519.publicKey.export({ type: "spki", format: "pem" }).toString();
  const privatePem = ed25519.privateKey.export({ type: "pkcs8", format: "pem" }).toString();

  it("shows the public half of each kind of key, and nothing of the private one", async () => {
    for (const [content, shown] of [
      [key, `${key.publicKey}\n`],
      [`${key.privateKey}:p256\n`, `${key.publicKey}\n`],
      [privatePem, pem],
      [`text\n${privatePem}`, pem],
      [pem, pem],
    ] as const)
      expect(await bootproof(["key", "show", fileOf(content)])).toEqual({ code: 0, stdout: shown, stderr: "" });
  });

  it("shows the key of a log as a vkey of signed notes", async () => {
    const { stdout } = await bootproof(["key", "show", "-", "--origin", "bootproof-log/a"], { stdin: pem });
    expect(stdout).toMatch(/^bootproof-log\/a\+[0-9a-f]{8}\+[A-Za-z0-9+/=]{44}\n$/);
    await refused(2, bootproof(["key", "show", fileOf(pem), "--origin", "a b"]), "--origin: the name of a log's key");
    await refused(2, bootproof(["key", "show", KEY, "--origin", "bootproof-log/a"]), "this is an API key");
  });

  it.each([
    ["no key", "text", "no key: expected an API key file, or a key in PEM"],
    ["two keys", privatePem.repeat(2), "2 private keys in it"],
    ["another curve", `${"11".repeat(32)}:ed25519`, "a private key of ed25519"],
  ])("refuses %s", (_, content, words) => refused(2, bootproof(["key", "show", fileOf(content)]), words));
});

describe("an old spelling", () => {
  it.each([
    [["stamp", "--api-key-file", KEY], 0, "stamp is bootproof key stamp"],
    [["keygen", "--out", KEY], 2, "keygen is bootproof key new"],
    [["release", "check", "/", "--no-manifest-set"], 2, "release check is bootproof policy check-releases"],
    [["help", "keygen"], 0, "keygen is bootproof key new"],
  ])("%j works, and says the new one", async (args, code, words) => {
    const answer = await bootproof(args, { stdin: "{}" });
    expect([answer.code, answer.stderr.split("\n", 1)[0]]).toEqual([code, `note: bootproof ${words} now`]);
  });
});

it("tells the public key as it is registered", () => {
  expect(PUBLIC_KEY).toBe(`${key.publicKey}\n`);
});
