/** API key files. */
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import type { ClientError } from "../../src/client/index.js";
import { readApiKeyFile, writeApiKeyFile } from "../../src/client/key-file.js";
import { testFolder } from "../support/folder.js";
import { apiKey, rejectionOf } from "./support.js";

const directory = testFolder();
const path = (name: string): string => join(directory, name);
const file = (name: string, content: string | Uint8Array): string => (
  writeFileSync(path(name), content, { mode: 0o600 }),
  path(name)
);

describe("a key file", () => {
  it("is readable only by its owner", async () => {
    await writeApiKeyFile(path("new.json"), apiKey);
    expect(statSync(path("new.json")).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(path("new.json"), "utf8"))).toEqual(apiKey);
    expect(await readApiKeyFile(path("new.json"))).toEqual({ key: apiKey, readableByOthers: false });
  });

  it.each([0o640, 0o604, 0o644, 0o660])("that others may read (%s) is reported", async (mode) => {
    const open = file(`mode-${mode}.json`, JSON.stringify(apiKey));
    chmodSync(open, mode);
    expect((await readApiKeyFile(open)).readableByOthers).toBe(true);
  });

  it("is never overwritten", async () => {
    const there = file("there.json", "{}");
    expect((await rejectionOf<ClientError>(writeApiKeyFile(there, apiKey))).message).toContain(
      "exists already, and a key is never overwritten: choose another file name",
    );
    expect(readFileSync(there, "utf8")).toBe("{}");
    expect((await rejectionOf<ClientError>(writeApiKeyFile(path("no/such/folder"), apiKey))).message).toContain(
      "cannot be written",
    );
  });

  const { publicKey, privateKey } = apiKey;
  const bad: [string, string | Uint8Array][] = [
    ["empty", ""],
    ["no JSON", privateKey],
    ["a duplicate member", `{"publicKey":"${publicKey}","privateKey":"${privateKey}","privateKey":"${privateKey}"}`],
    ["a short key", JSON.stringify({ publicKey, privateKey: privateKey.slice(2) })],
    ["no public half", JSON.stringify({ privateKey })],
    ["an array", JSON.stringify([publicKey, privateKey])],
    ["large", JSON.stringify({ publicKey, privateKey, padding: "x".repeat(5000) })],
    ["not UTF-8", Uint8Array.of(0xff, 0xfe)],
  ];
  it.each(bad)("that is %s is refused, and not quoted", async (name, content) => {
    const error = await rejectionOf<ClientError>(readApiKeyFile(file(`${name}.json`, content)));
    expect(error.code).toBe("key");
    expect(inspect(error, { depth: 9 })).not.toContain(privateKey.slice(2));
  });

  describe.each([
    ["no line break", ""],
    ["a line feed", "\n"],
    ["CR LF", "\r\n"],
  ])("of the service's command line, with %s at the end", (_, end) => {
    it("is read with the public half beside it, in both files", async () => {
      const place = file(`pair${end.length}.private`, `${privateKey}:p256${end}`);
      file(`pair${end.length}.public`, `${publicKey}${end}`);
      expect(await readApiKeyFile(place)).toEqual({ key: apiKey, readableByOthers: false });
    });

    it("is read alone: the public half is computed", async () => {
      const alone = file(`alone${end.length}.private`, `${privateKey}:p256${end}`);
      expect((await readApiKeyFile(alone)).key).toEqual(apiKey);
    });
  });

  it.each([
    ["another curve", `${privateKey}:secp256k1`, undefined, "a private key of secp256k1: API keys"],
    [
      "a short key",
      `${privateKey.slice(1)}:p256`,
      undefined,
      "the private key has 63 characters: expected 64 hex digits",
    ],
    ["quotes", `"${privateKey}":p256`, undefined, "not a key file: expected"],
    [
      "a digit that is none",
      `${privateKey.slice(1)}g:p256`,
      undefined,
      "the private key has 64 characters, 1 of them no hex digits, the last is no hex digit",
    ],
    ["no scalar of the curve", `${"f".repeat(64)}:p256`, undefined, "the private key is not one of P-256"],
    [
      "a public half that is short",
      `${privateKey}:p256`,
      publicKey.slice(2),
      "the public key has 64 characters: expected 66",
    ],
    [
      "a public half alone",
      `${publicKey}\n`,
      undefined,
      "a public key alone: give the file of its private half (NAME.private)",
    ],
  ])("of the service's command line with %s is refused, and not quoted", async (name, content, beside, words) => {
    const place = file(`${name}.private`, content);
    if (beside !== undefined) file(`${name}.public`, beside);
    const error = await rejectionOf<ClientError>(readApiKeyFile(place));
    expect(error.code).toBe("key");
    expect(error.message).toContain(`${place}: ${words}`);
    expect(inspect(error, { depth: 9 })).not.toMatch(/[0-9a-f]{32}/);
  });

  it("that is not there, a folder, or endless is refused", async () => {
    for (const place of [path("none"), directory, ...(existsSync("/dev/zero") ? ["/dev/zero"] : [])]) {
      expect(await rejectionOf(readApiKeyFile(place))).toMatchObject({ code: "key" });
    }
  });
});
