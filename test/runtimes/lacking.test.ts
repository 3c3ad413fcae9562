/** Runtimes that lack a function, or have a wrong one: verification is the same, or says what is missing. */
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
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

describe("a wrong TextDecoder or TextEncoder is not used", () => {
  const decoder = () => new RealDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const withDecode = (decode: (bytes: Uint8Array) => string) => ({
    TextDecoder: class {
      decode = decode;
    },
  });
  const bytesWith = async (globals: Readonly<Record<string, unknown>>) => {
    vi.resetModules();
    const bytes = await import("../../src/bytes.js");
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
    return bytes;
  };

  it.each(
    (
      "80 c080 c0af c1bf e08080 f0808080 f8888080 fc8480808080 eda080 edb080 f4908080 f5808080 fe ff c3 e282 f0 " +
      "f09f98"
    ).split(" "),
  )("one that takes only %s", async (hex) => {
    const decode = (bytes: Uint8Array): string =>
      Buffer.from(bytes).toString("hex") === hex ? "\ufffd" : decoder().decode(bytes);
    const { fromHex, fromUtf8 } = await bytesWith(withDecode(decode));
    expect(fromUtf8(fromHex(hex)!)).toBeNull();
  });

  it("one that reads the whole buffer of a view", async () => {
    const { fromUtf8 } = await bytesWith(withDecode((bytes) => decoder().decode(new Uint8Array(bytes.buffer))));
    expect(fromUtf8(Uint8Array.of(0x80, 0x41, 0x80).subarray(1, 2))).toBe("A");
  });

  it("one that keeps bytes of what it refused", async () => {
    let kept: number[] = [];
    const decode = (bytes: Uint8Array): string => {
      const all = Uint8Array.from([...kept, ...bytes]);
      kept = [...all];
      const text = decoder().decode(all);
      kept = [];
      return text;
    };
    const { fromUtf8 } = await bytesWith(withDecode(decode));
    expect(fromUtf8(Uint8Array.of(0xff))).toBeNull();
    expect(fromUtf8(Uint8Array.of(0x41))).toBe("A");
  });

  it("an encoder that returns an array", async () => {
    const TextEncoder = class {
      encode = (text: string): number[] => [...new RealEncoder().encode(text)];
    };
    const { toUtf8 } = await bytesWith({ TextEncoder });
    expect(toUtf8("A")).toEqual(Uint8Array.of(0x41));
  });

  it("one that cannot be read", async () => {
    const { fromUtf8 } = await bytesWith({});
    vi.spyOn(globalThis, "TextDecoder", "get").mockImplementation(() => {
      throw new Error("lazy");
    });
    expect(fromUtf8(Uint8Array.of(0x41))).toBe("A");
    vi.restoreAllMocks();
  });
});

describe("a runtime without one function", () => {
  // Modules of noble need BigInt and Object.hasOwn to be loaded, but are loaded by a verification only.
  const AT_LOAD = ["Array.prototype.flatMap", "String.prototype.replaceAll"];
  let bundle: Promise<string> | undefined;
  const bundled = async (): Promise<string> => {
    const exported = ["index", "signed-policy/index"].map((name) => `export * from "./src/${name}.js";`);
    const contents = [...exported, 'export * as adapters from "./src/adapters/index.js";'].join("\n");
    const stdin = { contents, resolveDir: fileURLToPath(new URL("../../", import.meta.url)) };
    const options = { bundle: true, write: false, format: "iife", globalName: "library", target: "es2020" } as const;
    return (await build({ stdin, ...options, logLevel: "error" })).outputFiles[0]!.text;
  };

  it.each([...AT_LOAD, "BigInt", "DataView.prototype.getBigUint64", "Object.hasOwn"])(
    "is told so by whatever makes a policy or verifies: %s",
    async (name) => {
      const context = createContext({ setTimeout, clearTimeout }) as Record<string, unknown>;
      const [first, then] = AT_LOAD.includes(name) ? [`delete ${name}`, ""] : ["", `delete ${name}`];
      runInContext(`${first}; ${await (bundle ??= bundled())}; ${then}`, context);
      for (const call of ["parsePolicy('{}')", "openSignedPolicy({})", "verifyEvidence({}, {})"]) {
        const code = `(async () => library.${call})().then(String, ({ name, missing }) => name + " " + missing)`;
        expect(await runInContext(code, context)).toBe(`MissingFunctionError ${name}`);
      }
    },
  );
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
