/** Checkpoints: signed notes that other implementations read, and what they show of a log. */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";
import { describe, expect, it } from "vitest";
import { originOf } from "../../src/run/checkpoint.js";
import { NO_LINE } from "../../src/run/line.js";
import { CheckpointError, readCheckpoint, vkeyOf, signCheckpoint } from "../../src/run/index.js";
import { linesOf } from "./lines.js";

const SPKI = { type: "spki", format: "pem" } as const;
const PKCS8 = { type: "pkcs8", format: "pem" } as const;
/** RFC 8032 section 7.1, test 1. */
const SEED = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
const own = createPrivateKey({
  key: Buffer.from(`302e020100300506032b657004220420${SEED}`, "hex"),
  type: "pkcs8",
  format: "der",
});
const privateKey = own.export(PKCS8).toString();
const publicKey = createPublicKey(own).export(SPKI).toString();
const other = generateKeyPairSync("ed25519");
const lines = await linesOf(6);

const origin = "bootproof-log/signer";
const checkpoint = { origin, entries: 4, head: lines[3]!.hash };
const note = await signCheckpoint(checkpoint, privateKey);

/** A note as the specification describes it, by `node:crypto` alone. */
function madeNote(body: string, name: string, key = own): string {
  const raw = createPublicKey(key).export({ format: "jwk" }).x!;
  const hashed = createHash("sha256").update(`${name}\n\x01`).update(Buffer.from(raw, "base64url"));
  const signed = Buffer.concat([hashed.digest().subarray(0, 4), sign(null, Buffer.from(body), key)]);
  return `${body}\n— ${name} ${signed.toString("base64")}\n`;
}

const body = `${origin}\n4\n${Buffer.from(lines[3]!.hash, "hex").toString("base64")}\n`;
const signatureLine = (made: string): string => made.slice(made.lastIndexOf("\n\n") + 2);

describe("a checkpoint", () => {
  it("is the note that another implementation makes, byte for byte", () => {
    expect(note).toBe(madeNote(body, origin));
    const [line] = signatureLine(note).split("\n");
    const bytes = Buffer.from(line!.split(" ")[2]!, "base64");
    expect(verify(null, Buffer.from(body), publicKey, bytes.subarray(4))).toBe(true);
  });

  it("is read, and its signature is verified only with a key", async () => {
    expect(await readCheckpoint(note, { key: publicKey, origin })).toEqual({ ...checkpoint, isVerified: true });
    expect(await readCheckpoint(Buffer.from(note))).toEqual({ ...checkpoint, isVerified: false });
    const empty = { origin, entries: 0, head: NO_LINE };
    expect(await readCheckpoint(await signCheckpoint(empty, privateKey), { key: publicKey })).toMatchObject(empty);
  });

  it("may have signatures of others, which are ignored", async () => {
    const lineOf = (name: string): string => signatureLine(madeNote(body, name, other.privateKey));
    for (const more of [lineOf(origin), lineOf("witness.example"), `— witness.example ${btoa("12345")}\n`])
      for (const many of [`${body}\n${more}${signatureLine(note)}`, `${note}${more.repeat(20)}`])
        expect(await readCheckpoint(many, { key: publicKey })).toMatchObject(checkpoint);
  });

  const wrongByte = note.replace(
    /(— \S+ .{20})(.)/,
    (_, start: string, char: string) => start + (char === "A" ? "B" : "A"),
  );
  it.each<[string, string, RegExp]>([
    ["of another key", madeNote(body, origin, other.privateKey), /not signed by this key/],
    ["of this key by another name", madeNote(body, "bootproof-log/other"), /not signed by this key/],
    ["whose signature is wrong", wrongByte, /the signature of the checkpoint is wrong/],
    ["whose number was changed", note.replace("\n4\n", "\n3\n"), /the signature of the checkpoint is wrong/],
    ["with a wrong signature beside a right one", `${wrongByte}${signatureLine(note)}`, /signature .* is wrong/],
    ["with a short signature", note.replace(/(— \S+ .{8}).*/, "$1"), /the signature of the checkpoint is wrong/],
  ])("is refused %s", async (_, changed, message) => {
    const refused = readCheckpoint(changed, { key: publicKey });
    await expect(refused).rejects.toBeInstanceOf(CheckpointError);
    await expect(refused).rejects.toThrow(message);
  });

  it("is refused with another origin than the verifier's", async () => {
    await expect(readCheckpoint(note, { key: publicKey, origin: `${origin}2` })).rejects.toThrow(/of another log/);
    const elsewhere = await signCheckpoint({ ...checkpoint, origin: `${origin}2` }, privateKey);
    expect(await readCheckpoint(elsewhere, { key: publicKey })).toMatchObject({ isVerified: true });
  });

  const made = (changed: string): string => madeNote(changed, origin);
  it.each<[string, string | Uint8Array]>([
    ["nothing", ""],
    ["no signature", `${body}\n`],
    ["no empty line", body],
    ["no line feed at its end", note.slice(0, -1)],
    ["lines that end in CR LF", note.replaceAll("\n", "\r\n")],
    ["a control character", made(body.replace("4", "4\u0007"))],
    ["bytes that are no UTF-8", Buffer.concat([Buffer.from([0xff]), Buffer.from(note)])],
    ["a fourth line", made(`${body}more\n`)],
    ["no head", made(`${origin}\n4\n`)],
    ["another origin", made(body.replace("bootproof-log/", "go.sum database "))],
    ["an origin without a name", made(body.replace("signer", ""))],
    ["an origin with a space", made(body.replace("signer", "the signer"))],
    ["an origin with a plus", made(body.replace("signer", "a+b"))],
    ["a zero before its number", made(body.replace("\n4", "\n04"))],
    ["a sign", made(body.replace("\n4", "\n+4"))],
    ["too large a number", made(body.replace("\n4", "\n9007199254740993"))],
    ["a short hash", made(`${origin}\n4\n${btoa("short")}\n`)],
    ["another spelling of its hash", made(body.replace(/.=\n$/, "B=\n"))],
    ["a hyphen for the dash", note.replace("—", "-")],
    ["two spaces", note.replace("— ", "—  ")],
    ["a signature that is not base64", note.replace(/(— \S+ .{12})./, "$1_")],
    ["only the id of a key", `${body}\n— ${origin} ${btoa("1234")}\n`],
    ["a signature by no name", note.replace(`— ${origin}`, "— ")],
    ["a name with a plus", `${note}— a+b ${btoa("12345")}\n`],
    ["more than any note", `${note}${signatureLine(note).repeat(3000)}`],
  ])("has not %s", async (_, changed) => {
    for (const options of [{ key: publicKey }, {}]) {
      const refused = readCheckpoint(changed, options);
      await expect(refused).rejects.toMatchObject({ name: "MalformedError", code: "checkpoint" });
      await expect(refused).rejects.toThrow(/expected a signed note: /);
    }
  });

  const p256 = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const encrypted = own.export({ ...PKCS8, cipher: "aes-256-cbc", passphrase: "x" }).toString();
  it.each<[string, string, RegExp]>([
    ["no PEM", "key", /^got no PEM, expected an Ed25519 private key/],
    ["the public key", publicKey, /^got PUBLIC KEY, expected an Ed25519 private key/],
    ["another kind", p256.privateKey.export(PKCS8).toString(), /^got another one, expected an Ed25519 private key/],
    ["an encrypted key", encrypted, /^got ENCRYPTED PRIVATE KEY/],
    ["two keys", `${privateKey}${privateKey}`, /^got another one/],
    ["damaged base64", privateKey.replace("MC4", "MC"), /^got another one/],
  ])("is not signed with %s, and the key is not quoted", async (_, key, message) => {
    const refused = signCheckpoint(checkpoint, key);
    await expect(refused).rejects.toBeInstanceOf(TypeError);
    await expect(refused).rejects.toThrow(message);
    const [, secret = "none"] = /\n([^-\n]+)/.exec(key) ?? [];
    expect(((await refused.catch((error: Error) => error.message)) as string).includes(secret)).toBe(false);
  });

  it("is verified with a vkey, whose name its origin has to be", async () => {
    const vkey = await vkeyOf(origin, publicKey);
    expect(vkey).toMatch(/^bootproof-log\/\S+\+[0-9a-f]{8}\+A[A-Za-z0-9+/]{42}[A-Za-z0-9+/=]=?$/);
    expect(await readCheckpoint(note, { key: `${vkey}\n` })).toMatchObject({ origin, isVerified: true });
    const elsewhere = await vkeyOf("bootproof-log/elsewhere", publicKey);
    await expect(readCheckpoint(note, { key: elsewhere })).rejects.toThrow(
      /its origin is .*, expected bootproof-log\/elsewhere/,
    );
    const changed = vkey.replace(/\+[0-9a-f]{8}\+/, "+00000000+");
    await expect(readCheckpoint(note, { key: changed })).rejects.toThrow(/the vkey was changed/);
    const otherKind = vkey.replace(/\+[^+]+$/, `+${btoa("\u0002".repeat(33))}`);
    await expect(readCheckpoint(note, { key: otherKind })).rejects.toThrow(/another kind of key/);
    await expect(vkeyOf("a b", publicKey)).rejects.toThrow(TypeError);
  });

  it("is not verified with a private key, or a key of another kind", async () => {
    await expect(readCheckpoint(note, { key: privateKey })).rejects.toThrow(
      /^got PRIVATE KEY, expected an Ed25519 pub/,
    );
    const key = p256.publicKey.export(SPKI).toString();
    await expect(readCheckpoint(note, { key })).rejects.toThrow(/^got another one, expected an Ed25519 public key/);
  });

  it.each([
    { origin: "signer" },
    { origin: "bootproof-log/a b" },
    { entries: -1 },
    { entries: 1.5 },
    { head: "ab" },
    { head: "zz".repeat(32) },
  ])("of an invalid value is not made: %j", async (more) => {
    await expect(signCheckpoint({ ...checkpoint, ...more }, privateKey)).rejects.toBeInstanceOf(TypeError);
  });

  it("has by default the name of the log's first file", () => {
    expect(originOf("the boots+.jsonl")).toBe("bootproof-log/the%20boots%2B.jsonl");
  });
});
