/** Runtimes that lack a function, or have a wrong one: verification is the same, or says what is missing. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { readVectorText } from "../support/vectors.js";

const NOW = new Date("2026-01-01T00:00:00Z");
const BOOT = readVectorText("boot-proofs/bootproof-1.json");
const APP = readVectorText("boot-proofs/appproof-1.json");

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

const { TextDecoder: RealDecoder, TextEncoder: RealEncoder, atob: realAtob } = globalThis;

class LenientDecoder {
  decode(bytes: Uint8Array): string {
    return new RealDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  }
}
class SurrogateEncoder {
  encode(text: string): Uint8Array {
    return new RealEncoder().encode(text.replaceAll(/[\ud800-\udfff]/g, "?"));
  }
}
const wrongSubtle = {
  digest: async () => new ArrayBuffer(32),
  importKey: async () => ({}),
  verify: async () => true,
};
/** No `node:crypto`, as outside of Node. */
const NO_NODE = { ...process, getBuiltinModule: undefined };

const RUNTIMES: readonly (readonly [name: string, globals: Readonly<Record<string, unknown>>])[] = [
  ["no TextEncoder", { TextEncoder: undefined }],
  ["no TextDecoder", { TextDecoder: undefined }],
  ["a decoder that ignores fatal", { TextDecoder: LenientDecoder }],
  [
    "a decoder that takes no options",
    {
      TextDecoder: class {
        constructor(...all: unknown[]) {
          if (all.length > 1) throw new RangeError("options");
        }
      },
    },
  ],
  ["an encoder of its own for lone surrogates", { TextEncoder: SurrogateEncoder }],
  ["no atob and btoa", { atob: undefined, btoa: undefined }],
  ["an atob that takes anything", { atob: (text: string) => realAtob(text.replaceAll(/[^A-Za-z0-9+/=]/g, "")) }],
  ["no crypto", { crypto: undefined, process: NO_NODE }],
  ["crypto without subtle", { crypto: { getRandomValues: () => undefined }, process: NO_NODE }],
  ["a subtle that accepts everything", { crypto: { subtle: wrongSubtle }, process: NO_NODE }],
  [
    "none of them, and no structuredClone and Intl",
    {
      ...{ TextEncoder: undefined, TextDecoder: undefined, atob: undefined, btoa: undefined, crypto: undefined },
      ...{ structuredClone: undefined, process: NO_NODE, navigator: undefined, Intl: undefined },
    },
  ],
];

describe.each(RUNTIMES)("with %s", (_, globals) => {
  const judged = async (boot: string | Uint8Array, app: string) => {
    vi.resetModules();
    const library = await import("../../src/index.js");
    // What is loaded without them is tested in Hermes: the test runner needs some of them to load anything.
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
    try {
      const options = { policy: library.NO_POLICY_ANY_ENCLAVE, now: NOW } as const;
      const { report } = await library.verifyEvidence({ bootProofs: [boot], appProofs: [app] }, options);
      return [report.verdict, report.checks.filter(({ status }) => status === "fail").map(({ id }) => id)];
    } finally {
      vi.unstubAllGlobals();
    }
  };

  it("verifies the genuine pair", async () => {
    expect(await judged(BOOT, APP)).toEqual(["authentic", []]);
  });

  it("refuses an altered app proof, base64 with white space, and bytes that are not UTF-8", async () => {
    expect(await judged(BOOT, APP.replace("0x", "0y"))).toEqual(["rejected", ["app.signature"]]);
    const spaced = BOOT.replace(/"(qosManifestB64)":\s*"(.{4})/, '"$1":"$2 ');
    expect(spaced).not.toBe(BOOT);
    expect(await judged(spaced, APP)).toMatchObject(["rejected", expect.arrayContaining(["boot.decode"])]);
    const bytes = new Uint8Array(Buffer.from(BOOT));
    bytes[BOOT.indexOf("createdAt") + 20] = 0xff;
    expect(await judged(bytes, APP)).toMatchObject(["rejected", expect.arrayContaining(["boot.decode"])]);
  });
});

it.each([
  ["BigInt", "BigInt", undefined],
  [
    "Object.hasOwn",
    "Object",
    new Proxy(Object, { get: (all, name) => (name === "hasOwn" ? undefined : Reflect.get(all, name)) }),
  ],
])("without %s a verification rejects, and names it", async (missing, name, value) => {
  const library = await import("../../src/index.js");
  vi.stubGlobal(name, value);
  const call = library.verifyEvidence({ bootProofs: [BOOT] }, { policy: library.NO_POLICY_ANY_ENCLAVE, now: NOW });
  const error: unknown = await call.catch((reason: unknown) => reason);
  vi.unstubAllGlobals();
  expect(error).toBeInstanceOf(library.MissingFunctionError);
  expect(error).toMatchObject({ name: "MissingFunctionError", code: "runtime", missing: [missing] });
  expect((error as Error).message).toContain(`this runtime has no ${missing}`);
});

describe("own UTF-8, where the runtime has none", () => {
  const own = async () => {
    vi.resetModules();
    const bytes = await import("../../src/bytes.js");
    vi.stubGlobal("TextEncoder", undefined);
    vi.stubGlobal("TextDecoder", undefined);
    return bytes;
  };
  const decoder = new RealDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const expected = (bytes: Uint8Array): string | null => {
    try {
      return decoder.decode(bytes);
    } catch {
      return null;
    }
  };

  it("decodes and refuses as the Encoding Standard says: all pairs of bytes, and edges of longer forms", async () => {
    const { fromUtf8 } = await own();
    const edges = [0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xed, 0xff];
    const firsts = [0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff];
    const all = [
      ...Array.from({ length: 0x10000 }, (_, word) => [word >> 8, word & 0xff]),
      ...firsts.flatMap((first) =>
        edges.flatMap((b) => edges.flatMap((c) => [[first, b, c], ...edges.map((d) => [first, b, c, d])])),
      ),
    ].map((one) => Uint8Array.from(one));
    const differing = all.filter((bytes) => fromUtf8(bytes) !== expected(bytes));
    expect(all.length).toBeGreaterThan(70_000);
    expect(differing).toEqual([]);
  });

  it("encodes as the Encoding Standard says: every code unit alone, pairs, and halves of pairs", async () => {
    const { toUtf8 } = await own();
    const units = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit));
    const texts = [
      ...units,
      ...units.filter((_, at) => at % 97 === 0).map((unit) => `a\ud83d${unit}\ude00z`),
      "😀%41\n",
    ];
    const encoder = new RealEncoder();
    expect(texts.filter((text) => Buffer.compare(toUtf8(text), encoder.encode(text)) !== 0)).toEqual([]);
  });
});
