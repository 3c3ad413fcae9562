/** Files that are no JSON, for whatever reason: each is told what it is, what to do, and by its name. */
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { APP_1, BOOT_1, bootproof, fileOf, vector, words, refused } from "./support.js";

const boot = readFileSync(BOOT_1, "utf8").trim();
const utf16 = (text: string): Buffer => Buffer.from(text, "utf16le");
const swapped = (text: string): Buffer => utf16(text).swap16();
const POLICY = fileOf((await bootproof(["pin", "--boot-proof", BOOT_1])).stdout);

const FORMATS: readonly (readonly [what: string, content: string | Uint8Array, message: string])[] = [
  ["gzip", gzipSync(boot), "compressed with gzip: decompress it first (gunzip; curl --compressed)"],
  ["zstd", Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0), "compressed with zstd: decompress it first (unzstd)"],
  ["zip", Buffer.from("PK\u0003\u0004rest"), "a ZIP archive: name the files in it"],
  ["UTF-16", utf16(`\ufeff${boot}`), "UTF-16 text, as PowerShell's > writes it: save it as UTF-8"],
  ["UTF-16, the other order", swapped(`\ufeff${boot}`), "UTF-16 text: save it as UTF-8"],
  ["UTF-16 without a mark", utf16(boot), "UTF-16 text without a byte order mark: save it as UTF-8"],
  ["the same in the other order", swapped(boot), "UTF-16 text without a byte order mark: save it as UTF-8"],
  ...["<!DOCTYPE html>", "\n <html lang=en>", '<?xml version="1.0"?>', "\ufeff<HTML>"].map(
    (page) =>
      [
        page,
        `${page}<title>502</title>`,
        "an HTML or XML page without evidence, probably a server's error: read it, and fetch again (curl --fail)",
      ] as const,
  ),
  ["nothing", "", "empty: the program that wrote it may have failed"],
  ["white space", " \r\n\t\n", "only white space: the program that wrote it may have failed"],
];

const NO_COMMENTS = 'JSON has no comments: remove it (a policy may have "comment": "…" in any object)';
const JSON_FAULTS: readonly (readonly [
  what: string,
  content: string | Uint8Array,
  message: string,
  advice?: RegExp,
])[] = [
  ["YAML", "bootProof:\n  qosManifestB64: x\n", "this looks like YAML: convert it (yq -o json)"],
  ["YAML behind comments", "# policy\n\n---\npolicy: bootproof/1\n", "this looks like YAML: convert it (yq -o json)"],
  ["a YAML list", "- a\n- b\n", "this looks like YAML: convert it (yq -o json)"],
  ["PEM", "-----BEGIN EC PRIVATE KEY-----\nsecret\n-----END EC PRIVATE KEY-----\n", "this is PEM"],
  ["a byte order mark", `\ufeff${boot}`, "starts with a byte order mark: save it without one"],
  ["zeros", new Uint8Array(100), "a NUL byte at character 1: a binary file, or a damaged copy"],
  ["a zero at the end", `${boot}\0`, `a NUL byte at character ${boot.length + 1}: a binary file, or a damaged copy`],
  ["Latin-1", Buffer.from('{"name":"caf\xe9"}', "latin1"), "not UTF-8: a binary file, or text in another encoding"],
  [
    "JSON lines",
    '{"a":1}\n{"a":2}\n',
    "text after the end of the value (line 2, column 1): several JSON documents in one file: " +
      "put them into one array (jq -s .)",
  ],
  ["JSON, and then something else", '{"a":1}\nDone.', "text after the end of the value (line 2, column 1)"],
  ...(
    [
      ["{", "expected a member name (line 1, column 2)"],
      ['{"a":\n', "the text ends early (line 2, column 1)"],
      ['{"a', "a string does not end (line 1, column 4)"],
      ['{"a":tru', "expected a value (line 1, column 6)"],
      ['["\\u00', "\\u without four hex digits (line 1, column 3)"],
      ['{"a":12', "expected ',' or '}' (line 1, column 8)"],
      ["[1,", "the text ends early (line 1, column 4)"],
    ] as const
  ).map(([text, fault]) => [`cut off: ${text}`, text, fault, /^The text ends in the middle/] as const),
  ["a line break in a string", '{"a":"b\nc"}', "a line break in a string (line 1, column 8)", /^The text was wrapped/],
  ["an unknown word", "hello", "expected a value (line 1, column 1)"],
  ["a comma too many", '{"a":1,}', "expected a member name (line 1, column 8): remove the comma before it"],
  ...(
    [
      ['// mine\n{"a":1}', "expected a value (line 1, column 1)"],
      ['{"a":1, /* mine */ "b":2}', "expected a member name (line 1, column 9)"],
      ['{"a":1} # mine', "text after the end of the value (line 1, column 9)"],
    ] as const
  ).map(([text, fault]) => [`a comment: ${text}`, text, `${fault}: ${NO_COMMENTS}`] as const),
];

/** Each takes JSON. */
const PLACES: readonly ((file: string) => string[])[] = [
  (file) => ["verify", "--boot-proof", file, "--no-policy"],
  (file) => ["verify", "--boot-proof", BOOT_1, "--app-proof", file, "--no-policy"],
  (file) => ["verify", "--boot-proof", BOOT_1, "--activity", file, "--no-policy"],
  (file) => ["verify", "--boot-proof", BOOT_1, "--policy", file],
  (file) => ["verify", file, "--no-policy"],
  (file) => ["bundle", "--boot-proof", file, "--no-policy"],
  (file) => ["pin", "--boot-proof", file],
];

describe.each([
  ...FORMATS,
  ...JSON_FAULTS.map(
    ([what, content, message, advice]) => [what, content, `not strict JSON: ${message}`, advice] as const,
  ),
])("%s", (_, content, message, byCause?: RegExp) => {
  it("is told by every option that takes JSON, and of stdin", async () => {
    const file = fileOf(content);
    for (const words of PLACES) {
      const { code, stdout, stderr } = await bootproof(words(file));
      const [first, ...advice] = stderr.trimEnd().split("\n");
      expect([code, stdout, first]).toEqual([2, "", `bootproof: ${file}: ${message}`]);
      // What the option takes follows where the file is no JSON, unless the cause is known.
      const takes = [expect.stringMatching(byCause ?? /^(?:--[a-z-]+ takes|Expected) an? [a-z ]+: /)];
      expect(advice).toEqual(message.startsWith("not strict JSON") ? takes : []);
    }
    const { code, stderr } = await bootproof(PLACES[0]!("-"), { stdin: content });
    expect([code, stderr.split("\n")[0]]).toEqual([2, `bootproof: stdin: ${message}`]);
  });
});

it.each(FORMATS)("%s is told of what need not be JSON, too", async (_, content, message) => {
  const file = fileOf(content);
  for (const words of [
    ["verify", "--attestation", file, "--no-policy"],
    ["verify", "--boot-proof", BOOT_1, "--no-policy", "--trust-anchor", file],
    ["pin", "--release", file, "--app", "signer"],
    ["inspect", file],
  ]) {
    const { code, stdout, stderr } = await bootproof(words);
    expect([code, stdout, stderr]).toEqual([2, "", `bootproof: ${file}: ${message}\n`]);
  }
});

it("a body that is stamped may be anything", async () => {
  const { apiKey } = { apiKey: { publicKey: "", privateKey: "" } };
  const { stderr } = await bootproof(["key", "stamp", "--api-key-file", fileOf(apiKey)], { stdin: gzipSync("body") });
  expect(stderr).not.toContain("gzip");
});

it("line ends of whatever kind are white space", async () => {
  const crlf = (path: string): string =>
    fileOf(JSON.stringify(JSON.parse(readFileSync(path, "utf8")), null, 2).replaceAll("\n", "\r\n"));
  const { code, stderr } = await bootproof(
    words`verify --boot-proof ${crlf(BOOT_1)} --app-proof ${crlf(APP_1)} --policy ${crlf(POLICY)}`,
  );
  expect([code, stderr]).toEqual([0, ""]);
});

it("no genuine file is taken for something else", async () => {
  const documents = ["nitro/base-sample-attestation2-bin-20240403.cbor", "boot-proofs/six-members.json"];
  for (const file of documents) expect((await bootproof(["inspect", vector(file)])).code).toBe(0);
});

describe("an argument that is empty, as of a variable that is not set", () => {
  it.each([
    ["verify", "--policy", ["--boot-proof", BOOT_1]],
    ["verify", "--boot-proof", ["--no-policy"]],
    ["verify", "--app-proof", ["--boot-proof", BOOT_1, "--no-policy"]],
    ["verify", "--organization-id", ["--boot-proof", BOOT_1, "--no-policy"]],
    ["verify", "--nonce", ["--boot-proof", BOOT_1, "--no-policy"]],
    ["verify", "--at", ["--boot-proof", BOOT_1, "--no-policy"]],
    ["bundle", "--boot-proof", ["--no-policy"]],
    ["pin", "--boot-proof", []],
    ["pin", "--name", ["--boot-proof", BOOT_1]],
    ["fetch", "--app", []],
    ["fetch", "--base-url", ["--app", "signer"]],
    ["inspect", "--format", [BOOT_1]],
  ])("%s %s", (command, option, more) =>
    refused(
      2,
      bootproof([command, option, "", ...more]),
      `bootproof: ${option}: empty: a shell variable may be unset\n`,
    ),
  );

  it("is told once for each option, and with the other faults", async () => {
    const { stderr } = await bootproof(["verify", "--boot-proof", "", "", "--policy", "", "--format", "xml"]);
    expect(stderr.match(/ empty: /g)).toHaveLength(2);
    expect(stderr).toContain("--format xml");
  });

  it("is told of a value that is an option, too: the variable had no quotes around it", () =>
    refused(
      2,
      bootproof(["verify", "--boot-proof", BOOT_1, "--policy", "--app"]),
      "bootproof: --policy: took --app, an option, as its value: a shell variable may be unset\n",
    ));

  it("is told of a bundle without an option", async () => {
    const { code, stderr } = await bootproof(["verify", "", "--no-policy"]);
    expect([code, stderr]).toEqual([2, "bootproof: an empty file name: a shell variable may be unset\n"]);
  });
});
