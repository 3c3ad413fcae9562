import { expect, it } from "vitest";
import { toBase64, toUtf8 } from "../../src/bytes.js";
import { kindOf } from "../../src/inspect/kinds.js";
import { describeUnrecognised } from "../../src/inspect/unrecognised.js";
import { fc } from "../support/property.js";

const latin1 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "latin1"));
const utf16 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "utf16le"));

it.each<[what: string, bytes: Uint8Array, words: string]>([
  ["nothing", new Uint8Array(), "empty"],
  ["white space", toUtf8(" \n\n\t "), "only white space"],
  [
    "UTF-16 with its mark",
    utf16('\ufeff{"bootProof":{}}'),
    "UTF-16 text, as PowerShell's > writes it: save it as UTF-8",
  ],
  ["UTF-16 of the other order", utf16('\ufeff{"bootProof":{}}').map((_, i, all) => all[i ^ 1]!), "UTF-16 text"],
  ["UTF-16 without a mark", utf16('{"bootProof":{}}'), "UTF-16 text"],
  ["a byte order mark", toUtf8('\ufeff{"bootProof":{}}'), "starts with a byte order mark: save it without one"],
  ["gzip", latin1("\x1f\x8b\x08\x00"), "compressed with gzip: decompress it first"],
  ["ZIP", latin1("PK\x03\x04aaaa"), "a ZIP archive"],
  ["PNG", latin1("\x89PNG\r\n\x1a\n"), "a picture (PNG)"],
  ["JPEG", latin1("\xff\xd8\xff\xe0"), "a picture (JPEG)"],
  ["PDF", toUtf8("%PDF-1.7"), "a PDF document"],
  ["HTML", toUtf8("\n<!DOCTYPE html><html>"), "an HTML or XML page"],
  ["XML", toUtf8('<?xml version="1.0"?>'), "an HTML or XML page"],
  ["XML without its first line", toUtf8("<a>1</a>"), "XML"],
  [
    "other YAML",
    toUtf8("# a comment\n\npolicy: bootproof/1\ndeployments:\n  - name: x\n"),
    "YAML that is not a release",
  ],
  ["an HTTP answer", toUtf8("HTTP/1.1 200 OK\r\n\r\n{}"), "an HTTP response with headers"],
  ["a token", toUtf8("eyJhbGciOiJFUzI1NiJ9.eyJhIjoxfQ.AAAA\n"), "a token (JWT)"],
  ["a private key", toUtf8("-----BEGIN PRIVATE KEY-----\nAAAA\n"), "a private key in PEM, which is a secret"],
  ["other PEM", toUtf8("-----BEGIN PUBLIC KEY-----\nAAAA\n"), "PEM without a certificate"],
  ["broken JSON", toUtf8('{"bootProof":\n'), "not strict JSON: the text ends early (line 2, column 1)"],
  ["other JSON", toUtf8('{"keys":[],"b":1}'), 'JSON with "keys", "b": no kind of evidence has these members'],
  [
    "JSON of many members",
    toUtf8(JSON.stringify([..."abcdefghijk"].reduce((o, n) => ({ ...o, [n]: 1 }), {}))),
    "and 3 more",
  ],
  ["an empty object", toUtf8("{}"), "an empty JSON object"],
  ["an empty list", toUtf8("[]"), "an empty JSON list"],
  [
    "a list of other things",
    toUtf8('[7,{"proofPayload":""}]'),
    "a JSON list of 2, neither all boot proofs nor all app proofs",
  ],
  ["a JSON text", toUtf8('"hEShATgi"'), "expected an object, got a string"],
  ["an inspection", toUtf8('{"NOT VERIFIED":"…"}'), "the output of bootproof inspect"],
  ["base64 of JSON", toUtf8(toBase64(toUtf8('{"a":1}'))), 'base64 of JSON with "a"'],
  ["hex of noise", toUtf8("fefdfcfb"), "hex of 4 bytes that are neither text"],
  ["zeros", new Uint8Array(9), "9 zero bytes"],
  ["other DER", latin1("\x30\x82\x00\x01\x00"), "DER (ASN.1), but not a certificate"],
  ["noise", latin1("\xfe\x01\x02\x03"), "4 bytes that are neither text nor of a known format"],
  ["prose", toUtf8("Dear auditor, please find attached."), "text of an unknown format"],
])("says what it looks like: %s", (_, bytes, words) => {
  expect(kindOf(bytes)).toBeNull();
  expect(describeUnrecognised(bytes)).toContain(words);
});

it("never throws and takes little time", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => describeUnrecognised(bytes) !== ""));
  for (const start of ["", "\n", "#\n", "a", "a:", " ", "<", "-----BEGIN ", '"', "{", "[", "00", "AAAA", "a."])
    for (const more of ["\n", " ", "#\n", "a", "-", ".", "{", "0"])
      expect(describeUnrecognised(toUtf8(start + more.repeat(100_000)))).not.toBe("");
});
