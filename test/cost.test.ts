/**
 * No input of up to 1 MiB, in any format, through any public door, takes more than about a second or 200 MiB; nor does
 * any answer of the service. The rows run in a process beside this one. The bounds are several times what was measured:
 * what is quadratic, or keeps an object for every two bytes, is beyond them. Time is the processor's: a busy machine
 * makes nothing dearer.
 */
import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { concatBytes, toBase64, toHex, toUtf8 } from "../src/bytes.js";
import type { JsonObject, JsonValue } from "../src/decode/json.js";
import type { Manifest } from "../src/decode/manifest/index.js";
import { policyOutcomePayload } from "../src/lab/enclave.js";
import { encodeRlp } from "../src/lab/ethereum.js";
import { LAB_ADDRESS, labDeployment, labPolicy } from "../src/lab/forge.js";
import { encodeManifest } from "../src/lab/qos.js";
import { after, forge, lab } from "./attacks/support.js";
import type { Door, JoinInput, SignedInput, SweptInput, Took, Wanted } from "./support/cost-child.js";
import { type Sweep, sweeps } from "./support/cost-sweep.js";
import { Raw, encodeCbor, head } from "./support/cbor.js";
import { leastOf } from "./support/cost.js";

const MIB = 1024 * 1024;
const MAX_MILLISECONDS = 5000;
const MAX_MEBIBYTES = 200;
/** Of inputs of 8 and 16 MiB. */
const MAX_MEBIBYTES_OF_LARGE = 480;
/** By the clock: nothing is waited for here that takes so long. */
const MAX_WAIT = 50_000;
vi.setConfig({ testTimeout: 3 * MAX_WAIT });
const ROOT = fileURLToPath(new URL("../", import.meta.url));

let folder = "";
beforeAll(async () => {
  // Inside the package, where what is not bundled is found.
  folder = mkdtempSync(join(ROOT, "node_modules", ".cost-"));
  await build({
    entryPoints: [join(ROOT, "test/support/cost-child.ts")],
    outfile: join(folder, "child.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    external: ["@sigstore/*"],
    logLevel: "error",
    banner: {
      js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
    },
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let child: ChildProcess | null = null;
afterAll(() => void child?.kill());

/** A new process, with nothing of earlier rows in its memory. */
function fresh(): ChildProcess {
  child?.kill();
  child = fork(join(folder, "child.mjs"), { execArgv: ["--max-old-space-size=512"] });
  return child;
}

function through(server: ChildProcess, wanted: Wanted): Promise<Took> {
  return new Promise((resolve, reject) => {
    const limit = setTimeout(() => server.kill(), MAX_WAIT);
    const ended = (code: number | null): void => {
      clearTimeout(limit);
      child = null;
      reject(new Error(code === null ? "the process took too long" : `the process ended with ${code}`));
    };
    server.once("exit", ended);
    server.once("message", (took) => {
      clearTimeout(limit);
      server.off("exit", ended);
      resolve(took as Took);
    });
    server.send(wanted);
  });
}

const isCheap = ({ milliseconds, mebibytes }: Took, most: number): boolean =>
  milliseconds < MAX_MILLISECONDS && mebibytes < most;

/**
 * Rows share a process while they are cheap in it: its growth is at least what the row needed. Where it grew too much,
 * the rows before may be to blame, and a process that served no other decides.
 */
async function took(wanted: Wanted, most: number): Promise<Took> {
  if (child !== null) {
    const shared = await through(child, wanted).catch(() => null);
    if (shared !== null && isCheap(shared, most)) return shared;
  }
  return through(fresh(), wanted);
}

/** In milliseconds, of what is cheap. */
async function costOf(door: Door, input: Uint8Array, url = ""): Promise<number> {
  const file = join(folder, `${door}.input`);
  writeFileSync(file, input);
  const most = input.length > 2 * MIB ? MAX_MEBIBYTES_OF_LARGE : MAX_MEBIBYTES;
  const { milliseconds, mebibytes } = await took({ door, file, url }, most);
  if (process.env["BOOTPROOF_COST"] === "show")
    console.log(`${door}: ${milliseconds} ms, ${mebibytes} MiB  ${expect.getState().currentTestName}`);
  expect(milliseconds, door).toBeLessThan(MAX_MILLISECONDS);
  expect(mebibytes, door).toBeLessThan(most);
  return milliseconds;
}

/** One of three runs is short, and lets others work: a busy machine makes none shorter. */
async function expectShort(door: Door, input: Uint8Array): Promise<void> {
  const file = join(folder, `${door}.input`);
  writeFileSync(file, input);
  const runs: Took[] = [];
  const isShort = (): boolean =>
    Math.min(...runs.map(({ milliseconds }) => milliseconds)) < MAX_JOIN &&
    Math.min(...runs.map((run) => run.blocked)) < MAX_BLOCKED;
  while (runs.length < 3 && !isShort()) runs.push(await through(child ?? fresh(), { door, file, url: "" }));
  if (process.env["BOOTPROOF_COST"] === "show") console.log(door, runs, expect.getState().currentTestName);
  expect(runs, expect.getState().currentTestName).toSatisfy(isShort);
}

type Row = readonly [name: string, input: string | Uint8Array];

/** A table of inputs, each through all of the doors. */
function cheap(what: string, doors: readonly Door[], rows: readonly Row[]): void {
  it.each(rows)(`${what}: %s`, async (_, input) => {
    for (const door of doors) await costOf(door, typeof input === "string" ? toUtf8(input) : input);
  });
}

/** As many of the items as the size has room for, joined with commas. */
function many(item: string | ((index: number) => string), size = MIB - 2000): string {
  const items: string[] = [];
  for (let left = size; left > 0; left -= items.at(-1)!.length + 1)
    items.push(typeof item === "string" ? item : item(items.length));
  return items.join();
}

/** Texts of 1 MiB that are hostile to whoever reads JSON. */
const JSONS: readonly Row[] = [
  ["empty objects", `[${many("{}")}]`],
  ["objects of a member of its own name each", `[${many((index) => `{"${index.toString(36)}":0}`)}]`],
  ["numbers", `[${many("0")}]`],
  ["members", `{${many((index) => `"${index.toString(36)}":0`)}}`],
  ["arrays nested sixty deep", `[${many("[".repeat(60) + "]".repeat(60))}]`],
  ["characters and escapes in turn", `"${"ab\\n".repeat(MIB / 4 - 10)}"`],
];
cheap("JSON", ["activity", "policy", "manifest", "bundle", "inspect", "webhook"], JSONS);
cheap(
  "what is not JSON",
  ["activity", "policy", "manifest", "bundle", "inspect", "webhook"],
  [["line feeds and a fault", `${"\n".repeat(MIB - 10)}x`]],
);

const whole = forge();
const hex = (index: number, digits: number): string => index.toString(16).padStart(digits, "0");
const policy = (deployment: string, more = ""): string =>
  `{"policy":"bootproof/1","deployments":[${deployment}]${more}}`;
const pins = `"pivotHash":"${"ab".repeat(32)}"`;

const POLICIES: readonly Row[] = [
  ["deployments that are empty objects", policy(many("{}"))],
  ["PCRs that are empty objects", policy(`{"pcrs":[${many("{}")}]}`)],
  ["PCRs whose index is none", policy(`{"pcrs":{${many((index) => `"${index + 40}":[]`)}}}`)],
  ["pivot hashes that are none", policy(`{"pivotHash":[${many('""')}]}`)],
  ["members that are none", policy(`{${pins},"manifestSet":{"threshold":1,"members":[${many("[]")}]}}`)],
  ["deployments that pin", policy(many(`{${pins}}`))],
  ["unknown members", policy(`{${many((index) => `"x${index}":0`)}}`)],
  ["trust anchors that are none", policy(`{${pins}}`, `,"trustAnchors":[${many("0")}]`)],
  ["trust anchors of empty PEM", policy(`{${pins}}`, `,"trustAnchors":[${many('{"pem":""}')}]`)],
];
const bundle = (members: string): string =>
  `{"bundle":"bootproof-bundle/1","bootProofs":[${JSON.stringify(whole.bootProof)}],"appProofs":[]${members}}`;

const judged = (report: string, of = "null"): string =>
  bundle(`,"now":"2026-03-04T05:06:07.000Z","policy":${of},"report":${report}`);
cheap("policies", ["policy", "policyOfCommand"], POLICIES);

/** An object within so many others, each under a name of as many characters as are shown. */
const under = (depth: number, inside: string): string =>
  `{"${"n".repeat(64)}":`.repeat(depth) + inside + "}".repeat(depth);

cheap(
  "bundles",
  ["bundle", "bundleOfCommand"],
  [
    ["boot proofs that are empty", `{"bundle":"bootproof-bundle/1","bootProofs":[${many("{}")}],"appProofs":[]}`],
    [
      "app proofs that are numbers",
      `{"bundle":"bootproof-bundle/1","bootProofs":[{}],"appProofs":[${Array(2000).fill("0").join()}]}`,
    ],
    ["a report of empty checks", judged(`{"checks":[${many("{}")}]}`)],
    ["a report of the same check", judged(`{"checks":[${many('{"subject":"a","id":"b","status":0}')}]}`)],
    ["a report nested deep", judged(`{"claims":[${many("[".repeat(50) + "0" + "]".repeat(50))}]}`)],
    ["a report of a long name and many items", judged(`{"claims":{"${"n".repeat(MIB / 2)}":[${many("0", MIB / 3)}]}}`)],
    ["a report of long names above many items", judged(`{"claims":${under(55, `[${many("0", MIB / 2)}]`)}}`)],
    ["a policy whose name is long", judged("{}", policy(`{${pins},"name":"${"n".repeat(MIB / 2)}"}`))],
  ],
);
cheap(
  "a manifest of one byte again and again, with a count",
  ["manifest"],
  [0x00, 0x01, 0x7b, 0xff].flatMap((byte) =>
    [0, 4, 36, 100].map((at): Row => {
      const bytes = new Uint8Array(MIB).fill(byte);
      bytes.set([0xff, 0xff, 0x03, 0x00], at);
      return [`${byte}, at ${at}`, bytes];
    }),
  ),
);

const payloadStart = '{"type":"T","timestampMs":"1","';
const PAYLOADS: readonly (readonly [name: string, payload: string])[] = [
  ["bad numbers under a long name", `${payloadStart}${"n".repeat(MIB / 2)}":[${many("9e999", MIB / 3)}]}`],
  ["a few bad numbers under a long name", `${payloadStart}${"n".repeat(MIB / 2)}":[${many("9e999", 20_000)}]}`],
  ["bad numbers under many names", `${payloadStart}x":${under(55, `[${many("9e999", 20_000)}]`)}}`],
  ["empty objects", `${payloadStart}x":[${many("{}")}]}`],
  ["as many objects as there may be", `${payloadStart}x":[${many("{}", 29_000)}]}`],
  ["a number of a million digits", `{"timestampMs":${"9".repeat(MIB - 2000)}}`],
  ["a time of a million digits", `{"type":"x","timestampMs":"${"9".repeat(MIB - 2000)}"}`],
  ["line feeds, and a fault at the end", `${"\n".repeat(MIB / 2)}x`],
];
const appProofOf = (proofPayload: string): JsonObject => ({
  ...(whole.appProofs[0] as unknown as JsonObject),
  proofPayload,
});
const SMALL = { id: "a", organizationId: "o", status: "s", type: "t" };
const activityOf = (result: string): string =>
  JSON.stringify({ ...SMALL, intent: {}, appProofs: [{}], result: { r: "@" } }).replace('"@"', () => result);
cheap(
  "app proofs with a payload of",
  ["appProof", "inspect"],
  PAYLOADS.map(([name, payload]) => [name, JSON.stringify(appProofOf(payload))]),
);
cheap(
  "activities with app proofs with a payload of",
  ["activity", "inspect"],
  PAYLOADS.map(([name, payload]) => {
    const one = appProofOf(payload);
    const most = Math.max(1, Math.floor(MIB / (JSON.stringify(one).length + 1)) - 1);
    return [name, JSON.stringify({ ...SMALL, intent: {}, result: {}, appProofs: Array(most).fill(one) })];
  }),
);
cheap(
  "activities whose result is of",
  ["activity", "inspect"],
  [
    ["addresses under a long name", activityOf(`{"${"n".repeat(MIB / 2)}":{"addresses":[${many('"a"', MIB / 3)}]}}`)],
    ["addresses under many names", activityOf(under(56, `{"addresses":[${many('"a"', MIB / 2)}]}`))],
    ["members", activityOf(`{${many((index) => `"${index.toString(36)}":0`)}}`)],
  ],
);

/** What a caller submits, and what the service returns. */
interface Signing {
  readonly type: "RAW_PAYLOAD_V2" | "RAW_PAYLOADS" | "TRANSACTION_V2";
  readonly parameters: JsonObject;
  readonly result: JsonObject;
}

describe("signatures", () => {
  const { organizationId } = LAB_ADDRESS;
  // The signatures of an activity are verified only if its app proofs are.
  const made = forge({ payloads: [policyOutcomePayload(after(60), organizationId)] });
  const signWith = `0x${"22".repeat(20)}`;
  const word = "11".repeat(32);
  const signature = { r: word, s: word, v: "00" };
  const asText = { signWith, encoding: "PAYLOAD_ENCODING_TEXT_UTF8", hashFunction: "HASH_FUNCTION_KECCAK256" };
  const asTyped = { signWith, encoding: "PAYLOAD_ENCODING_EIP712", hashFunction: "HASH_FUNCTION_NO_OP" };
  const list = <T>(count: number, item: (index: number) => T): T[] =>
    Array.from({ length: count }, (_, index) => item(index));
  const times = <T>(count: number, item: T): T[] => list(count, () => item);
  const payload = (text: string, how: JsonObject = asText, result: JsonObject = signature): Signing => ({
    type: "RAW_PAYLOAD_V2",
    parameters: { ...how, payload: text },
    result,
  });
  const payloads = (all: string[], signatures: JsonValue[], how: JsonObject = asText): Signing => ({
    type: "RAW_PAYLOADS",
    parameters: { ...how, payloads: all },
    result: { signatures },
  });
  const transaction = (unsignedTransaction: string, signedTransaction: string, how: JsonObject): Signing => ({
    type: "TRANSACTION_V2",
    parameters: { ...how, unsignedTransaction },
    result: { signedTransaction },
  });

  type Types = Readonly<Record<string, readonly JsonObject[]>>;
  const typedText = (types: Types, message: JsonValue): string =>
    JSON.stringify({ types: { EIP712Domain: [], ...types }, primaryType: "A", domain: {}, message });
  const typed = (types: Types, message: JsonValue): Signing => payload(typedText(types, message), asTyped);
  const member = (type: string, name = "m"): JsonObject => ({ name, type });
  const ofMember = (type: string, m: JsonValue): Signing => typed({ A: [member(type)] }, { m });
  const chain = (count: number): Types =>
    Object.fromEntries(list(count, (index) => [index === 0 ? "A" : `T${index}`, [member(`T${index + 1}[]`)]]));
  const wide = (count: number, length: number): JsonObject[] =>
    list(count, (index) => member("bool", `${index}`.padEnd(length, "n")));
  const within = (depth: number, value: JsonValue, wrap: (value: JsonValue) => JsonValue): JsonValue =>
    depth === 0 ? value : within(depth - 1, wrap(value), wrap);
  const digits = (count: number): string => "9".repeat(count);
  const ethereum = { signWith, type: "TRANSACTION_TYPE_ETHEREUM" };
  const solana = { signWith: "00000000-0000-4000-8000-000000000000", type: "TRANSACTION_TYPE_SOLANA" };
  /** A list of items of a byte each. */
  const tiny = (count: number): string =>
    `${count < 65_536 ? `f9${hex(count, 4)}` : `fa${hex(count, 6)}`}${"01".repeat(count)}`;
  /** EIP-1559, with long data. */
  const long = (bytes: number, ...end: Uint8Array[]): string => {
    const members = [...times(7, Uint8Array.of(1)), new Uint8Array(bytes), new Uint8Array()];
    return `02${toHex(encodeRlp([...members, ...end]))}`;
  };
  const thirtyTwo = new Uint8Array(32).fill(17);
  const point = `58${"66".repeat(31)}`;
  const message = (bytes: number): string => `01000101${point}${"33".repeat(bytes)}`;

  /** Each with about so many bytes. */
  const rows: readonly (readonly [name: string, make: (size: number) => Signing])[] = [
    ["as many types as there may be", () => typed({ ...chain(98), T98: [] }, { m: [] })],
    [
      "a type whose text is long, for each of many values",
      (size) => {
        const types = { A: [member("B[]")], B: [member("C[]")], C: wide(100, 500) };
        return typed(types, { m: times(Math.min(4900, (size - 55_000) / 10), { m: [] }) });
      },
    ],
    ["as many texts as there may be", (size) => ofMember("string[]", times(Math.min(9990, size / 3), ""))],
    [
      "as many structs as there may be",
      (size) => typed({ A: [member("B[]")], B: [] }, { m: times(Math.min(9990, size / 3), {}) }),
    ],
    ["a number of many digits", (size) => payload(typedText({ A: [] }, 1).replace("1}", `${digits(size)}}`), asTyped)],
    ["integers of many digits", (size) => ofMember("uint256[]", times(size / 100, digits(97)))],
    [
      "an authorization with many digits",
      (size) => {
        const text = JSON.stringify({ address: signWith, chainId: digits(size), nonce: 1 });
        return payload(text, { ...asTyped, encoding: "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION" });
      },
    ],
    ["a signWith of base58 digits", (size) => payload("x", { ...asText, signWith: "2".repeat(size) })],
    [
      "a long signWith of many payloads",
      (size) => {
        const count = size / 200;
        const how = { ...asText, signWith: "2".repeat(size / 2) };
        return payloads(times(count, ""), times(count, signature), how);
      },
    ],
    [
      "many payloads of typed data",
      (size) => {
        const one = typedText(chain(60), { m: [] }).replace('"T60[]"', '"bool[]"');
        // The digests are computed, and nothing is recovered from these signatures.
        const none = { r: "00".repeat(32), s: "00".repeat(32), v: "00" };
        const count = size / one.length;
        return payloads(times(count, one), times(count, none), asTyped);
      },
    ],
    ["a transaction of many items", (size) => transaction(tiny(1.5 * size), tiny(1.5 * size), ethereum)],
    [
      "a transaction of a long item",
      (size) => transaction(long(size / 4), long(size / 4, Uint8Array.of(1), thirtyTwo, thirtyTwo), ethereum),
    ],
    [
      "a transaction of Solana",
      (size) => {
        const end = message(size / 4);
        return transaction(`01${"00".repeat(64)}${end}`, `01${point}01${"00".repeat(31)}${end}`, solana);
      },
    ],
  ];

  const inputOf = ({ type, parameters, result }: Signing): Uint8Array => {
    const name = `ACTIVITY_TYPE_SIGN_${type}`;
    const activity = { ...made.activity, type: name, intent: { i: parameters }, result: { r: result } };
    const expected = { organizationId, type: name, parameters };
    const { bootProof, anchorPem } = made;
    return toUtf8(JSON.stringify({ bootProof, activity, expected, anchorPem } satisfies SignedInput));
  };
  const ofTexts = new Map<number, Promise<number>>();
  /** Of a text of twice as many bytes: some rows are larger. The first in a process loads and compiles what it runs. */
  const costOfText = async (size: number): Promise<number> => {
    const input = inputOf(payload("x".repeat(2 * size)));
    return Math.min(await costOf("signed", input), await costOf("signed", input));
  };

  it.each(rows)("%s: at most ten times the cost of as many bytes of text", async (_, make) => {
    for (const size of [78_000, MIB]) {
      const ofText = ofTexts.get(size) ?? costOfText(size);
      ofTexts.set(size, ofText);
      const most = 10 * (await ofText) + 350;
      const input = inputOf(make(size));
      expect(await leastOf(most, () => costOf("signed", input))).toBeLessThan(most);
    }
  });
});

describe("two lists that are compared", () => {
  const times = <T>(count: number, item: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => item(i));
  const keyOf = (index: number): Uint8Array =>
    concatBytes(new Uint8Array(128).fill(4), Uint8Array.of(index & 255, index >> 8));
  const members = times(2400, (index) => ({ alias: "", pubKey: keyOf(index) }));
  const approvals = members
    .slice(-1600)
    .map((member) => ({ signature: new Uint8Array(), member }))
    .toReversed();
  const crowded = forge({
    version: "v1",
    alterManifest: {
      manifest: (all) => ({ ...all, manifestSet: { threshold: 1, members } }),
      envelope: (all) => ({ ...all, manifestSetApprovals: approvals }),
    },
  });
  const HALF = MIB / 2 - 5000;
  const proof = JSON.stringify(whole.appProofs[0]);
  const beside = (addresses: string): string =>
    JSON.stringify({ ...whole.activity, appProofs: "@", result: { x: { addresses: "#" } } })
      .replace('"@"', () => `[${many(proof, HALF)}]`)
      .replace('"#"', () => `[${addresses}]`);
  cheap(
    "members and approvals",
    ["bootProof"],
    [["of keys that differ at their end", JSON.stringify(crowded.bootProof)]],
  );
  cheap(
    "app proofs and addresses",
    ["activity"],
    [
      ["of one text", beside(many('""', HALF))],
      ["of many", beside(many((index) => `"0x${index.toString(16)}"`, HALF))],
    ],
  );
});

describe("documents", () => {
  const list = (count: number, item: Uint8Array): Uint8Array =>
    concatBytes(head(4, count), ...Array<Uint8Array>(count).fill(item));
  const integerKeys = Array.from({ length: 3200 }, (_, index) => encodeCbor(new Map([[256 + index, 0]])).slice(1));
  const documentOf = (payload: Uint8Array): Uint8Array =>
    concatBytes(
      Uint8Array.of(0x84, 0x44, 0xa1, 0x01, 0x38, 0x22, 0xa0),
      encodeCbor(payload),
      encodeCbor(new Uint8Array(96)),
    );
  /** A map whose key is a map whose key …, 14 deep around the item. */
  const keyed = (item: Uint8Array): Uint8Array =>
    Array.from({ length: 14 }).reduce<Uint8Array>((key) => encodeCbor(new Map([[new Raw(key), null]])), item);
  cheap(
    "of",
    ["attestation", "inspect"],
    [
      ["a million nulls", concatBytes(head(4, MIB - 5), new Uint8Array(MIB - 5).fill(0xf6))],
      ["a message of nulls", concatBytes(head(4, 20_000), new Uint8Array(20_000).fill(0xf6))],
      ["a payload of nulls", documentOf(concatBytes(head(4, 16_000), new Uint8Array(16_000).fill(0xf6)))],
      ["arrays within arrays", new Uint8Array(MIB).fill(0x81)],
      ["a count that is not true", concatBytes(head(4, 2 ** 53 - 1), new Uint8Array(MIB))],
      ["keys within keys", documentOf(keyed(encodeCbor(new Uint8Array(16_000))))],
      ["a payload of integers as keys", documentOf(concatBytes(head(5, 3200), ...integerKeys))],
      [
        "a bundle of empty certificates",
        documentOf(concatBytes(head(5, 1), encodeCbor("cabundle"), list(16_000, encodeCbor(new Uint8Array())))),
      ],
    ],
  );
});

describe("certificates", () => {
  const der = (tag: number, content: Uint8Array): Uint8Array => {
    const { length } = content;
    return concatBytes(
      Uint8Array.of(tag, 0x84, length >>> 24, (length >> 16) & 255, (length >> 8) & 255, length & 255),
      content,
    );
  };
  const nested = (tag: number, item: readonly number[]): Uint8Array =>
    der(tag, new Uint8Array(Array.from({ length: Math.floor((MIB - 200) / item.length) }, () => item).flat()));
  const rows: readonly (readonly [name: string, bytes: Uint8Array])[] = [
    ["empty sequences", nested(0x30, [0x30, 0x00])],
    ["sequences within sequences", new Uint8Array(MIB).fill(0x30)],
  ];
  cheap("DER of", ["certificate", "inspect"], rows);
  cheap(
    "PEM of",
    ["trustAnchor"],
    rows.map(([name, der]) => [name, `-----BEGIN CERTIFICATE-----\n${toBase64(der)}\n-----END CERTIFICATE-----\n`]),
  );
});

describe("releases", () => {
  const size = 65_536 - 100; // what is longer is not read
  const lines = (line: (index: number) => string): string => {
    const all: string[] = [];
    for (let left = size; left > 0; left -= all.at(-1)!.length + 1) all.push(line(all.length));
    return all.join("\n");
  };
  cheap(
    "of",
    ["release"],
    [
      ["keys", lines((index) => `k${index}: x`)],
      ["keys in a flow", `{${many((index) => `k${index}: x`, size)}}`],
      ["the same key", lines(() => "k: x")],
      ["empty flows", `[${many("[]", size)}]`],
      ["flows within flows", "[".repeat(size)],
      ["maps within maps", "{".repeat(size)],
      ["keys within keys", "? ".repeat(size / 2)],
      ["sequences within sequences", "- ".repeat(size / 2)],
      ["levels", lines((index) => `${" ".repeat(index)}k:`)],
      ["anchors", lines((index) => `- &a${index} x`)],
      ["aliases", `- &a x\n${lines(() => "- *a")}`],
      ["one long quoted scalar", `"${"\\x41".repeat(size / 4)}"`],
      ["a folded scalar", `a: >\n${lines(() => " x")}`],
      ["what is too long", lines((index) => `k${index}: x`) + "\n# ".repeat(MIB / 4)],
    ],
  );
});

/** One lie about addresses is at most 2 seconds, and lets others work meanwhile. */
const MAX_JOIN = 2000;
const MAX_BLOCKED = 50;
const ORGANIZATION = LAB_ADDRESS.organizationId;
const addressOf = (index: number): string => `0x${index.toString(16).padStart(40, "0")}`;
const accountOf = (index: number, more: object = {}): JsonObject => ({
  walletAccountId: `account-${index}`,
  organizationId: ORGANIZATION,
  walletId: "w",
  path: "m/0",
  address: addressOf(index),
  curve: "CURVE_SECP256K1",
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
  ...more,
});
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
/** Activities of 2,000 proofs each, whose payloads name these addresses. No boot proof is of their key. */
const proofsOf = (facts: readonly object[], more: (index: number) => JsonObject = () => ({})): JsonObject[] =>
  times(Math.ceil(facts.length / 2000), (part) => ({
    id: `activity-${part}`,
    organizationId: ORGANIZATION,
    status: "ACTIVITY_STATUS_COMPLETED",
    type: "ACTIVITY_TYPE_CREATE_WALLET",
    intent: { intent: {} },
    result: { result: { walletId: "w" } },
    appProofs: facts.slice(2000 * part, 2000 * part + 2000).map((each) => ({
      ...(whole.appProofs[0] as unknown as JsonObject),
      publicKey: "04".repeat(130),
      proofPayload: JSON.stringify({
        type: "APP_PROOF_TYPE_ADDRESS_DERIVATION",
        timestampMs: "1",
        addressDerivationProof: { organizationId: ORGANIZATION, ...each },
      }),
    })),
    ...more(part),
  }));
const DERIVING = labPolicy(whole.anchorPem, [
  { ...labDeployment(lab), appProofs: { types: ["APP_PROOF_TYPE_ADDRESS_DERIVATION"] } },
]);

describe("the join of addresses", () => {
  const COUNT = 8000;
  const wallets = [{ walletId: "w", exported: false, imported: false }];
  const atOne = times(COUNT, (index) => accountOf(index));
  const elsewhere = times(COUNT, (index) => ({
    walletId: "w",
    derivationPath: "m/0",
    address: addressOf(COUNT + index),
  }));
  const oneAddress = times(COUNT, (index) => accountOf(index, { address: addressOf(1), path: `m/${index}` }));
  const exported = (addresses: readonly string[]): JsonObject => ({
    ...proofsOf([{}])[0]!,
    id: "export",
    type: "ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT",
    intent: { intent: { addresses: [...addresses] } },
    result: { result: {} },
    appProofs: [],
  });
  const keys = times(COUNT, (index) => ({ privateKeyId: `key-${index}`, addresses: [addressOf(index)] }));
  it.each<[string, { accounts?: JsonObject[]; privateKeys?: JsonObject[]; activities: JsonObject[] }]>([
    ["accounts and proofs at one place", { accounts: atOne, activities: proofsOf(elsewhere) }],
    [
      "one address at many places",
      {
        accounts: oneAddress,
        activities: proofsOf(
          times(COUNT, (index) => ({ walletId: "w", derivationPath: `m/x${index}`, address: addressOf(1) })),
        ),
      },
    ],
    [
      "keys exported of an activity of many wallets",
      {
        accounts: [accountOf(0)],
        activities: [
          exported(times(COUNT, addressOf)),
          {
            ...proofsOf([{}])[0]!,
            result: { result: { walletIds: times(COUNT, (index) => `w${index}`), addresses: times(COUNT, addressOf) } },
            appProofs: [],
          },
        ],
      },
    ],
    [
      "one address of many private keys",
      {
        privateKeys: keys.map(({ privateKeyId }) => ({
          privateKeyId,
          curve: "c",
          addresses: [{ format: "ADDRESS_FORMAT_ETHEREUM", address: addressOf(1) }],
          exported: false,
          imported: false,
        })),
        activities: proofsOf(
          times(COUNT, () => ({ address: addressOf(1) })),
          () => ({
            type: "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2",
            result: { result: { privateKeys: keys } },
          }),
        ),
      },
    ],
  ])("%s", async (_, { accounts = [], privateKeys = [], activities }) => {
    const input: JoinInput = {
      policy: DERIVING,
      organizationId: ORGANIZATION,
      wallets,
      accounts,
      privateKeys,
      activities,
    };
    await expectShort("addressJoin", toUtf8(JSON.stringify(input)));
  });
});

describe("answers of the service", () => {
  let server: Server;
  let url = "";
  let served: (path: string) => Uint8Array = () => new Uint8Array();
  const proofOf = (key: string, proofPayload: string): JsonObject => ({
    ...(whole.appProofs[0] as unknown as JsonObject),
    publicKey: key.repeat(130),
    proofPayload,
  });
  const manyMembers = (count = 9900): JsonObject => {
    const patchSet = { threshold: 0, members: Array<{ pubKey: Uint8Array }>(count).fill({ pubKey: new Uint8Array() }) };
    const bytes = encodeManifest({ ...forge({ version: "v1" }).manifest, patchSet } as Manifest, { encoding: "borsh" });
    const qosManifestEnvelopeB64 = toBase64(concatBytes(bytes, new Uint8Array(8)));
    const manifest = { qosManifestB64: toBase64(bytes), qosManifestEnvelopeB64, qosManifestVersion: null };
    return { ...(whole.bootProof as unknown as JsonObject), ...manifest };
  };
  beforeAll(async () => {
    server = createServer((request, response) => {
      request.resume();
      response.on("error", () => {});
      const headers = { "content-type": "application/json", "content-encoding": "gzip" };
      response.writeHead(200, headers).end(served(request.url ?? ""));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));
  const doors: readonly Door[] = [
    "undocumentedQuery",
    "updateWallet",
    "verifiedUpdateWallet",
    "getBootProof",
    "getLatestBootProof",
    "getOauthProviders",
    "listAppProofs",
  ];
  const bomb = gzipSync(new Uint8Array(256 * MIB));
  const itemsIn = (start: string, end: string, items: readonly string[]): (() => Uint8Array[]) => {
    return () => items.map((item) => gzipSync(`${start}${many(item, 8 * MIB - 2000)}${end}`));
  };
  const ITEMS = ["{}", '{"createdAt":{}}', '{"scheme":"","publicKey":"","proofPayload":"","signature":""}'];
  const ACTIVITY = '{"activity":{"id":"a","organizationId":"o","status":"s","type":"t"';
  it.each<[Door, string, () => Uint8Array[]]>([
    ...doors.map((door): [Door, string, () => Uint8Array[]] => [door, "a bomb", () => [bomb]]),
    ...doors
      .filter((_, index) => index % 2 === 0)
      .map((door): [Door, string, () => Uint8Array[]] => [
        door,
        "empty objects and the like",
        itemsIn("[", "]", ["{}", '{"":{}}']),
      ]),
    ["getOauthProviders", "many providers", itemsIn('{"oauthProviders":[', "]}", ITEMS)],
    ["listAppProofs", "many app proofs", itemsIn('{"appProofs":[', "]}", ITEMS)],
    ["updateWallet", "many app proofs", itemsIn(`${ACTIVITY},"appProofs":[`, "]}}", ITEMS)],
    ["updateWallet", "many votes", itemsIn(`${ACTIVITY},"votes":[`, "]}}", ITEMS)],
    ["verifiedUpdateWallet", "many app proofs", itemsIn(`${ACTIVITY},"appProofs":[`, "]}}", ITEMS)],
  ])("%s: %s", async (door, _, answers) => {
    for (const answer of answers()) {
      served = () => answer;
      await costOf(door, new Uint8Array(), url);
    }
  });
  const sixteen = (): JsonObject[] => Array.from({ length: 16 }, (_, index) => proofOf(hex(index, 2), "{}"));
  it.each<[name: string, proofs: () => JsonObject[], bootProof: JsonObject]>([
    [
      "payloads of empty objects",
      () =>
        Array.from({ length: 11 }, () => proofOf("04", `{"type":"T","timestampMs":"1","x":[${many("{}", 700_000)}]}`)),
      {},
    ],
    ["boot proofs of as many members as there may be", sixteen, manyMembers()],
    ["boot proofs of more", sixteen, manyMembers(100_000)],
  ])("verifiedUpdateWallet: %s", async (_, proofs, bootProof) => {
    const activity = JSON.stringify({
      activity: { id: "a", organizationId: "o", status: "s", type: "t", intent: {}, result: {}, appProofs: proofs() },
    });
    served = (path) => gzipSync(path.endsWith("get_boot_proof") ? JSON.stringify({ bootProof }) : activity);
    await costOf("verifiedUpdateWallet", new Uint8Array(), url);
  });
});

/** Every list of every kind of evidence. A list without room for many items costs what is refused. */
describe("lists", () => {
  const known = new Map<unknown, Promise<number>>();
  const bytesOf = (input: SweptInput): Uint8Array => toUtf8(JSON.stringify(input));
  /** Of genuine evidence of the same size. The first one in a process loads and compiles what it runs. */
  const costOfText = ({ kind }: Sweep): Promise<number> => {
    const text = async (): Promise<number> => {
      const input = bytesOf(kind.text(kind.textSize ?? kind.size));
      return Math.min(await costOf(kind.door, input), await costOf(kind.door, input));
    };
    const cost = known.get(kind) ?? text();
    known.set(kind, cost);
    return cost;
  };

  it.each(sweeps().map((sweep) => [sweep.name, sweep] as const))("%s", async (_, sweep) => {
    const most = 10 * (await costOfText(sweep)) + 1000;
    for (const how of sweep.hows) {
      const input = bytesOf(sweep.input(how));
      expect(await leastOf(most, () => costOf(sweep.kind.door, input)), how).toBeLessThan(most);
    }
  });
});

cheap("a credential bundle", ["credentialBundle"], [["of a million characters", new Uint8Array(MIB).fill(0x7a)]]);
cheap("a webhook", ["webhookInSingleBytes"], [["in chunks of one byte", new Uint8Array(MIB).fill(0x20)]]);
const deliveredWith = (name: string, item: string): string =>
  JSON.stringify({ ...SMALL, [name]: ["@"] }).replace('"@"', () => many(item));
cheap(
  "a webhook of an activity",
  ["webhook"],
  [
    ["with votes that are empty", deliveredWith("votes", "0")],
    ["with app proofs that are empty", deliveredWith("appProofs", "{}")],
  ],
);
