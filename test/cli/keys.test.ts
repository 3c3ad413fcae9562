import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ApiKey } from "../../src/client/index.js";
import { bootproof, fileOf, scene } from "./support.js";

const folder = mkdtempSync(join(tmpdir(), "bootproof-keys-"));
const KEY = join(folder, "key.json");
const mask = process.umask(0);
const MADE = await bootproof(["key", "new", "--out", KEY]);
process.umask(mask);
const key = JSON.parse(readFileSync(KEY, "utf8")) as ApiKey;
symlinkSync(join(folder, "elsewhere.json"), join(folder, "link.json"));
const inFolder = (name: string, content: string): string => {
  writeFileSync(join(folder, name), content, { mode: 0o600 });
  return join(folder, name);
};
const BODY = Buffer.from('{"organizationId":"o", "userId": "ü\\u0000"}\n\n');
const ed25519 = generateKeyPairSync("ed25519");
const pem = ed25519.publicKey.export({ type: "spki", format: "pem" }).toString();
const privatePem = ed25519.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const open = fileOf(key);
chmodSync(open, 0o644);

const N = {
  ...{
    key: KEY,
    link: join(folder, "link.json"),
    folder,
    body: fileOf(BODY),
    none: fileOf("{}"),
    open,
    pem: fileOf(pem),
  },
  ...{ half: fileOf({ publicKey: "02" }), big: fileOf(" ".repeat(17 * 1024 * 1024)), secret: "5f".repeat(32) },
  ...{
    service: inFolder("default.private", `${key.privateKey}:p256\n`),
    other: inFolder("other.private", `${"11".repeat(32)}:p256`),
  },
  ...{
    public: key.publicKey,
    private: key.privateKey,
    text: fileOf("text"),
    two: fileOf(privatePem.repeat(2)),
    spaced: "a b",
  },
  curve: fileOf(`${"11".repeat(32)}:ed25519`),
};
inFolder("default.public", `${key.publicKey}\r\n`);
inFolder("other.public", key.publicKey);
const { having, run, table, usage } = scene(N);

describe("key new", () => {
  it("makes a pair, for its owner alone, and tells the public half", () => {
    expect(MADE).toEqual({
      ...{ code: 0, stdout: `${key.publicKey}\n` },
      stderr: `${KEY} has the private key; the public key is above\n`,
    });
    expect(Object.keys(key)).toEqual(["publicKey", "privateKey"]);
    expect(key.publicKey).toMatch(/^0[23][0-9a-f]{64}$/);
    expect(key.privateKey).toMatch(/^[0-9a-f]{64}$/);
    expect(statSync(KEY).mode & 0o777).toBe(0o600);
  });

  it("makes its default file in the current folder, another each time", async () => {
    const before = process.cwd();
    process.chdir(mkdtempSync(join(tmpdir(), "bootproof-keygen-")));
    try {
      const { stdout } = await run("key new", 0);
      expect([readdirSync("."), stdout === MADE.stdout]).toEqual([["bootproof-api-key.json"], false]);
      await run("key new", 2);
    } finally {
      process.chdir(before);
    }
  });

  it("overwrites nothing, and follows no link", async () => {
    const says = "exists already, and a key is never overwritten: choose another file name";
    for (const file of ["$key", "$link"]) await run(`key new --out ${file}`, 2, `bootproof: ${file}: ${says}`);
    expect(JSON.parse(readFileSync(KEY, "utf8"))).toEqual(key);
    expect(readdirSync(folder)).not.toContain("elsewhere.json");
  });

  usage("key new", [
    ["--out $folder/no/such/folder.json", "cannot be written"],
    ["--out -", "a private key is not printed"],
    ["--out ''", "--out: empty"],
    ["--out a --out b", "--out is repeated"],
    ["stray", "too many arguments"],
  ]);
});

describe("key stamp", () => {
  /** As the interface says it (client/README.md, "Stamps"), by node:crypto alone. */
  function accepts(header: string, body: Uint8Array = BODY): boolean {
    expect(header).toMatch(/^[A-Za-z0-9_-]+\n$/);
    const stamp = JSON.parse(Buffer.from(header.trim(), "base64url").toString()) as Record<string, string>;
    expect(stamp).toMatchObject({ publicKey: key.publicKey, scheme: "SIGNATURE_SCHEME_TK_API_P256" });
    // SubjectPublicKeyInfo of a compressed point.
    const spki = `3039301306072a8648ce3d020106082a8648ce3d030107032200${key.publicKey}`;
    const publicKey = createPublicKey({ key: Buffer.from(spki, "hex"), format: "der", type: "spki" });
    return verify("sha256", body, publicKey, Buffer.from(stamp["signature"]!, "hex"));
  }

  it("stamps exactly the bytes of stdin", async () => {
    const { stdout } = await run("key stamp --api-key-file $key < $body", 0);
    expect([accepts(stdout), accepts(stdout, BODY.subarray(0, -1))]).toEqual([true, false]);
    const binary = Uint8Array.from({ length: 3 * 1024 * 1024 }, (_, index) => index % 251);
    const big = await having({ it: fileOf(binary) })("key stamp --api-key-file $key < $it", 0);
    expect(accepts(big.stdout, binary)).toBe(true);
  });

  it("takes the key from the environment, and as the service's command line keeps it", async () => {
    const line = "BOOTPROOF_API_PUBLIC_KEY=$p BOOTPROOF_API_PRIVATE_KEY=$s key stamp < $body";
    const { publicKey: p, privateKey: s } = key;
    for (const names of [
      { p, s },
      { p: `${p}\n`, s: `${s}:p256\n` },
    ])
      expect(accepts((await having(names)(line, 0)).stdout)).toBe(true);
    expect(accepts((await run("key stamp --api-key-file $service < $body", 0)).stdout)).toBe(true);
  });

  const BOTH = "--api-key-file FILE (or BOOTPROOF_API_PUBLIC_KEY and BOOTPROOF_API_PRIVATE_KEY) is required";
  table([
    ["key stamp --api-key-file $open < $body", 0, /warning: .* others may read:/],
    ["key stamp --api-key-file $other < $body", 2, "$other: the API key's publicKey is not that of its privateKey"],
    [
      "BOOTPROOF_API_PUBLIC_KEY=$public BOOTPROOF_API_PRIVATE_KEY=$private:ed25519 key stamp < $body",
      2,
      "a private key of ed25519",
    ],
    ["key stamp --api-key-file $key", 2, "stdin: empty"],
    ["key stamp < $none", 2, BOTH],
    ["key stamp --api-private-key $secret < $none", 2, "can read a key on the command line", "!$secret"],
    ["key stamp --api-key-file $none < $none", 2, "--api-key-file takes an API key file"],
    ["key stamp --api-key-file $half < $none", 2, "not a key file"],
    ["key stamp --api-key-file $key < $big", 2, "stdin: larger than 16 MiB"],
    ["key stamp --api-key-file $key body.json < $none", 2, "too many arguments"],
  ]);
});

describe("key show", () => {
  it.each<[unknown, string]>([
    [key, `${key.publicKey}\n`],
    [`${key.privateKey}:p256\n`, `${key.publicKey}\n`],
    [privatePem, pem],
    [`text\n${privatePem}`, pem],
    [pem, pem],
  ])("shows the public half of each kind of key, and nothing of the private one", async (content, stdout) => {
    expect(await bootproof(["key", "show", fileOf(content)])).toEqual({ code: 0, stdout, stderr: "" });
  });

  table([
    ["key show - --origin bootproof-log/a < $pem", 0, /^bootproof-log\/a\+[0-9a-f]{8}\+[A-Za-z0-9+/=]{44}$/],
    ["key show $pem --origin $spaced", 2, "--origin: expected bootproof-log/ and a name"],
    ["key show $key --origin bootproof-log/a", 2, "this is an API key"],
    ["key show $text", 2, "no key: expected an API key file, or a key in PEM"],
    ["key show $two", 2, "2 private keys in it"],
    ["key show $curve", 2, "a private key of ed25519"],
    // Old spellings.
    ["stamp --api-key-file $key < $none", 0, "note: bootproof stamp is bootproof key stamp now"],
    ["keygen --out $key", 2, "note: bootproof keygen is bootproof key new now"],
    ["release check / --no-manifest-set", 2, "note: bootproof release check is bootproof policy check-releases now"],
    ["help keygen", 0, "note: bootproof keygen is bootproof key new now"],
  ]);
});
