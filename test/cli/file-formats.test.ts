/** Files that are no JSON, for whatever reason: each is told what it is, what to do, and by its name. */
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { APP_1, BOOT_1, bootproof, fileOf, scene, vector } from "./support.js";

const boot = readFileSync(BOOT_1, "utf8").trim();
const utf16 = (text: string): Buffer => Buffer.from(text, "utf16le");
const swapped = (text: string): Buffer => utf16(text).swap16();
const crlf = (text: string): string => fileOf(JSON.stringify(JSON.parse(text), null, 2).replaceAll("\n", "\r\n"));
const { having, table } = scene({
  ...{ boot: BOOT_1, key: fileOf({ publicKey: "", privateKey: "" }), gzip: fileOf(gzipSync("body")) },
  ...{ crlf: crlf(boot), crlfApp: crlf(readFileSync(APP_1, "utf8")), six: vector("boot-proofs/six-members.json") },
  crlfPolicy: crlf((await bootproof(["pin", "--boot-proof", BOOT_1])).stdout),
  document: vector("nitro/base-sample-attestation2-bin-20240403.cbor"),
});

type Format = readonly [what: string, content: string | Uint8Array, message: string, advice?: RegExp];
const PAGE = "an HTML or XML page without evidence, probably a server's error: read it, and fetch again (curl --fail)";
const FORMATS: readonly Format[] = [
  ["gzip", gzipSync(boot), "compressed with gzip: decompress it first (gunzip; curl --compressed)"],
  ["zstd", Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0), "compressed with zstd: decompress it first (unzstd)"],
  ["zip", Buffer.from("PK\u0003\u0004rest"), "a ZIP archive: name the files in it"],
  ["UTF-16", utf16(`\ufeff${boot}`), "UTF-16 text, as PowerShell's > writes it: save it as UTF-8"],
  ["UTF-16, the other order", swapped(`\ufeff${boot}`), "UTF-16 text: save it as UTF-8"],
  ["UTF-16 without a mark", utf16(boot), "UTF-16 text without a byte order mark: save it as UTF-8"],
  ["the same in the other order", swapped(boot), "UTF-16 text without a byte order mark: save it as UTF-8"],
  ...["<!DOCTYPE html>", "\n <html lang=en>", '<?xml version="1.0"?>', "\ufeff<HTML>"].map((page): Format => [
    page,
    `${page}<title>502</title>`,
    PAGE,
  ]),
  ["nothing", "", "empty: the program that wrote it may have failed"],
  ["white space", " \r\n\t\n", "only white space: the program that wrote it may have failed"],
];

const NO_COMMENTS = 'JSON has no comments: remove it (a policy may have "comment": "…" in any object)';
const YAML = "this looks like YAML: convert it (yq -o json)";
const LINES = "several JSON documents in one file: put them into one array (jq -s .)";
const BINARY = "a binary file, or a damaged copy";
const JSON_FAULTS: readonly Format[] = [
  ["YAML", "bootProof:\n  qosManifestB64: x\n", YAML],
  ["YAML behind comments", "# policy\n\n---\npolicy: bootproof/1\n", YAML],
  ["a YAML list", "- a\n- b\n", YAML],
  ["PEM", "-----BEGIN EC PRIVATE KEY-----\nsecret\n-----END EC PRIVATE KEY-----\n", "this is PEM"],
  ["a byte order mark", `\ufeff${boot}`, "starts with a byte order mark: save it without one"],
  ["zeros", new Uint8Array(100), `a NUL byte at character 1: ${BINARY}`],
  ["a zero at the end", `${boot}\0`, `a NUL byte at character ${boot.length + 1}: ${BINARY}`],
  ["Latin-1", Buffer.from('{"name":"caf\xe9"}', "latin1"), "not UTF-8: a binary file, or text in another encoding"],
  ["JSON lines", '{"a":1}\n{"a":2}\n', `text after the end of the value (line 2, column 1): ${LINES}`],
  ["JSON, and then something else", '{"a":1}\nDone.', "text after the end of the value (line 2, column 1)"],
  ...[
    ["{", "expected a member name (line 1, column 2)"],
    ['{"a":\n', "the text ends early (line 2, column 1)"],
    ['{"a', "a string does not end (line 1, column 4)"],
    ['{"a":tru', "expected a value (line 1, column 6)"],
    ['["\\u00', "\\u without four hex digits (line 1, column 3)"],
    ['{"a":12', "expected ',' or '}' (line 1, column 8)"],
    ["[1,", "the text ends early (line 1, column 4)"],
  ].map(([text, fault]): Format => [`cut off: ${text!}`, text!, fault!, /^The text ends in the middle/]),
  ["a line break in a string", '{"a":"b\nc"}', "a line break in a string (line 1, column 8)", /^The text was wrapped/],
  ["an unknown word", "hello", "expected a value (line 1, column 1)"],
  ["a comma too many", '{"a":1,}', "expected a member name (line 1, column 8): remove the comma before it"],
  ...[
    ['// mine\n{"a":1}', "expected a value (line 1, column 1)"],
    ['{"a":1, /* mine */ "b":2}', "expected a member name (line 1, column 9)"],
    ['{"a":1} # mine', "text after the end of the value (line 1, column 9)"],
  ].map(([text, fault]): Format => [`a comment: ${text!}`, text!, `${fault!}: ${NO_COMMENTS}`]),
];

/** Each takes JSON. */
const PLACES = [
  "verify --boot-proof $it --no-policy",
  "verify --boot-proof $boot --app-proof $it --no-policy",
  "verify --boot-proof $boot --activity $it --no-policy",
  "verify --boot-proof $boot --policy $it",
  "verify $it --no-policy",
  "bundle --boot-proof $it --no-policy",
  "pin --boot-proof $it",
];
/** Need not be JSON. */
const OTHERS = [
  "verify --attestation $it --no-policy",
  "verify --boot-proof $boot --no-policy --trust-anchor $it",
  "pin --release $it --app signer",
  "inspect $it",
];

const ALL = [
  ...FORMATS.map((row) => [...row, undefined] as const),
  ...JSON_FAULTS.map(
    ([what, content, message, advice]) => [what, content, `not strict JSON: ${message}`, advice] as const,
  ),
];
describe.each(ALL.map(([what, content, message, byCause]) => ({ what, content, message, byCause })))("$what", (row) => {
  const { content, message, byCause } = row;
  const file = fileOf(content);
  const isJson = message.startsWith("not strict JSON");
  it("is told by every option that takes JSON, of stdin, and of what need not be JSON, too", async () => {
    for (const line of [...PLACES, ...(isJson ? [] : OTHERS)]) {
      const { stderr } = await having({ it: file })(line, 2);
      const [first, ...advice] = stderr.trimEnd().split("\n");
      expect(first).toBe(`bootproof: ${file}: ${message}`);
      // What the option takes follows where the file is no JSON, unless the cause is known.
      const takes = expect.stringMatching(byCause ?? /^(?:--[a-z-]+ takes|Expected) an? [a-z ]+: /) as string;
      expect(advice).toEqual(isJson ? [takes] : []);
    }
    const { stderr } = await having({ it: file })("verify --boot-proof - --no-policy < $it", 2);
    expect(stderr.split("\n")[0]).toBe(`bootproof: stdin: ${message}`);
  });
});

table([
  // A body that is stamped may be anything, line ends of whatever kind are white space.
  ["key stamp --api-key-file $key < $gzip", 2, "!gzip"],
  ["verify --boot-proof $crlf --app-proof $crlfApp --policy $crlfPolicy", 0],
  ["inspect $document", 0],
  ["inspect $six", 0],
]);
