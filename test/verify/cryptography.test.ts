/** Which cryptography is used: what answers known questions right, chosen once, whatever it calls itself. */
import { KeyObject, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { concatBytes, toUtf8 } from "../../src/bytes.js";
import { flipped, signers } from "./ecdsa-rows.js";
import { type Library, type Offered, inRuntime, libraryIn } from "./implementations.js";

type Calls = Record<string, (...args: never[]) => unknown>;

const realNode = process.getBuiltinModule("node:crypto") as unknown as Calls;
const realSubtle = globalThis.crypto.subtle;
const OTHER = "Other/1.0";

/** `node:crypto`, or an imitation of it that differs in the functions given. */
function node(other: Calls = {}, webcrypto: Calls = {}): Calls {
  const real = { createHash: realNode["createHash"]!, createPublicKey, verify: realNode["verify"]! };
  return {
    ...recorded({ ...real, ...other }),
    KeyObject,
    webcrypto: { subtle: subtle(webcrypto) },
  } as unknown as Calls;
}

/** WebCrypto, or one that differs in the functions given. */
function subtle(other: Calls = {}): Calls {
  const real = (name: string) => (realSubtle as unknown as Calls)[name]!.bind(realSubtle);
  return recorded({ digest: real("digest"), importKey: real("importKey"), verify: real("verify"), ...other });
}

function recorded(functions: Calls): Calls {
  return Object.fromEntries(Object.entries(functions).map(([name, call]) => [name, vi.fn(call)]));
}

const callsOf = (functions: object | undefined): number =>
  Object.values(functions ?? {})
    .filter((member) => vi.isMockFunction(member))
    .reduce((sum, call) => sum + call.mock.calls.length, 0);

/** Which of them a digest and a signature are then computed by. */
async function computing(library: Library, offered: Offered): Promise<string> {
  const before = [callsOf(offered.node), callsOf(offered.subtle)];
  const { point, sign: signed } = signers["P-384"];
  await library.sha256(toUtf8("abc"));
  const key = await library.importPoint("P-384", point);
  expect(await key!.verify(toUtf8("abc"), signed(toUtf8("abc")))).toBe(true);
  const [byNode, byWeb] = [callsOf(offered.node) > before[0]!, callsOf(offered.subtle) > before[1]!];
  return [byNode && "node:crypto", byWeb && "WebCrypto"].filter(Boolean).join(" and ") || "noble";
}

async function chosenIn(offered: Offered): Promise<string> {
  return computing(await libraryIn(offered), offered);
}

const isZeros = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);

/** What an imitation of WebCrypto may do wrong; each is right in everything else. */
const WRONG_SUBTLE: Readonly<Record<string, Calls>> = {
  "has no SHA-256": { digest: withoutSha256 as never },
  "throws where it has no digest": { digest: unsupported },
  "takes one digest for the other": {
    digest: (_: string, bytes: BufferSource) => realSubtle.digest("SHA-256", bytes),
  },
  "has no P-384": withImport((curve, go) => (curve === "P-384" ? unsupported() : go())),
  "takes a point beside the curve": withImport((_, go) => go().catch(() => ({ type: "public" }))),
  "throws at signatures": { verify: unsupported },
  "finds every signature good": { verify: async () => true },
  "finds no signature good": { verify: async () => false },
  "finds zeros good": withVerify(async ({ signature }, go) => isZeros(signature) || go()),
  "overlooks the message": withVerify(async ({ signature, curve }, go) =>
    curve === "P-256" ? !isZeros(signature) : go(),
  ),
};

function withoutSha256(hash: string, bytes: BufferSource): Promise<ArrayBuffer> {
  return hash === "SHA-256" ? Promise.reject(new Error("unsupported")) : realSubtle.digest(hash, bytes);
}

function unsupported(): never {
  throw new Error("unsupported");
}

function withImport(other: (curve: string, go: () => Promise<unknown>) => unknown): Calls {
  const importKey = (...args: Parameters<SubtleCrypto["importKey"]>): unknown =>
    other((args[2] as EcKeyImportParams).namedCurve, () => realSubtle.importKey(...args));
  return { importKey: importKey as never };
}

interface Asked {
  readonly curve: string;
  readonly signature: Uint8Array;
}

function withVerify(other: (asked: Asked, go: () => Promise<boolean>) => Promise<unknown>): Calls {
  const verify = (...args: Parameters<SubtleCrypto["verify"]>): unknown => {
    const curve = (args[1].algorithm as EcKeyAlgorithm).namedCurve;
    return other({ curve, signature: args[2] as Uint8Array }, () => realSubtle.verify(...args));
  };
  return { verify: verify as never };
}

type Done = (error: Error | null, valid: unknown) => void;
type Verify = (hash: string, message: Uint8Array, key: object, signature: Uint8Array, done?: Done) => unknown;
const verifies = realNode["verify"] as unknown as Verify;

/** What an imitation of `node:crypto` may do wrong beside that: what has only its form of asking. */
const WRONG_NODE: Readonly<Record<string, Calls>> = {
  "knows no spelling of the hashes": { createHash: unsupported },
  "digests nothing": { createHash: () => ({ update: () => ({ digest: () => new Uint8Array() }) }) },
  "imports no key": { createPublicKey: unsupported },
  "takes DER signatures only": {
    verify: ((hash, message, { key }: { key?: object }, signature, done) =>
      verifies(hash, message, key!, signature, done)) as Verify as never,
  },
  "calls back with an error": {
    verify: ((hash, message, key, signature, done) =>
      done === undefined
        ? verifies(hash, message, key, signature)
        : done(new Error("unsupported"), true)) as Verify as never,
  },
  "calls back that all is good": {
    verify: ((hash, message, key, signature, done) =>
      done === undefined ? verifies(hash, message, key, signature) : done(null, true)) as Verify as never,
  },
  "finds every signature good": {
    verify: ((_hash, _message, _key, _signature, done) => done?.(null, true) ?? true) as Verify as never,
  },
};

describe("what computes", () => {
  it.each<[name: string, offered: () => Offered, chosen: string]>([
    ["Node 20, which does not say who it is", () => ({ node: node(), subtle: subtle() }), "node:crypto"],
    ["Node since 21", () => ({ node: node(), subtle: subtle(), userAgent: "Node.js/24" }), "node:crypto"],
    ["a runtime that imitates Node", () => ({ node: node(), subtle: subtle(), userAgent: OTHER }), "WebCrypto"],
    [
      "one that has Node's name within its own",
      () => ({ node: node(), subtle: subtle(), userAgent: "Not-Node.js/24" }),
      "WebCrypto",
    ],
    ["one that imitates Node and has no WebCrypto", () => ({ node: node(), userAgent: OTHER }), "node:crypto"],
    ["a browser", () => ({ subtle: subtle(), userAgent: "Mozilla/5.0" }), "WebCrypto"],
    ["a page that did not come over HTTPS", () => ({ userAgent: "Mozilla/5.0" }), "noble"],
    ["a shell", () => ({}), "noble"],
  ])("in %s", async (_, offered, chosen) => {
    expect(await chosenIn(offered())).toBe(chosen);
  });

  it("in Node, WebCrypto is not even asked", async () => {
    const offered = { node: node(), subtle: subtle() };
    await libraryIn(offered);
    expect([callsOf(offered.node) > 0, callsOf(offered.subtle)]).toEqual([true, 0]);
  });

  it("where there is no process at all", async () => {
    vi.resetModules();
    const { cryptography } = await import("../../src/verify/cryptography.js");
    vi.stubGlobal("process", undefined);
    const choosing = cryptography();
    vi.unstubAllGlobals();
    const key = await (await choosing).importPoint("P-256", signers["P-256"].point);
    expect(await key!.verify(toUtf8("abc"), signers["P-256"].sign(toUtf8("abc")))).toBe(true);
  });

  it.each(Object.entries(WRONG_SUBTLE))("is not a WebCrypto that %s", async (_, wrong) => {
    expect(await chosenIn({ subtle: subtle(wrong) })).toBe("noble");
    expect(await chosenIn({ node: node(), subtle: subtle(wrong), userAgent: OTHER })).toBe("node:crypto");
  });

  it.each(Object.entries(WRONG_NODE))("is not a node:crypto that %s", async (_, wrong) => {
    expect(await chosenIn({ node: node(wrong), userAgent: OTHER })).toBe("noble");
    if ("createPublicKey" in wrong) return;
    expect(await chosenIn({ node: node(wrong) })).toBe("noble");
    expect(await chosenIn({ node: node(wrong), subtle: subtle() })).toBe("WebCrypto");
  });

  it("is not a Node whose own WebCrypto imports no key, or one beside the curve", async () => {
    for (const importKey of [unsupported, WRONG_SUBTLE["takes a point beside the curve"]!["importKey"]!]) {
      expect(await chosenIn({ node: node({}, { importKey }) })).toBe("noble");
      expect(await chosenIn({ node: node({}, { importKey }), subtle: subtle() })).toBe("WebCrypto");
    }
  });
});

describe("the choice", () => {
  const message = toUtf8("what was signed");
  const refused = new Error("refused");

  it("is made once, however many ask for it at the same time, and whatever the runtime becomes", async () => {
    vi.resetModules();
    const { sha256, cryptography } = Object.assign(
      {},
      ...(await Promise.all([import("../../src/verify/cryptography.js"), import("../../src/verify/digest.js")])),
    ) as Library;
    const offered = { subtle: subtle() };
    await inRuntime(offered, () => Promise.all(Array.from({ length: 8 }, () => cryptography())));
    const imports = vi.mocked(offered.subtle["importKey"]!).mock.calls.length;
    // Two keys, and a point beside the curve.
    expect(imports).toBe(3);
    const before = callsOf(offered.subtle);
    await inRuntime({ node: node() }, () => sha256(message));
    expect(callsOf(offered.subtle)).toBe(before + 1);
  });

  it("is not a promise any more once it is made: edge runtimes tie promises to requests", async () => {
    const library = await libraryIn({ subtle: subtle() });
    expect(library.cryptography()).not.toBeInstanceOf(Promise);
    expect(library.ed25519()).not.toBeInstanceOf(Promise);
  });

  it("is made again where the chunk that has noble could not be loaded", async () => {
    vi.resetModules();
    vi.doMock("../../src/verify/noble.js", () => {
      throw refused;
    });
    const { cryptography } = await import("../../src/verify/cryptography.js");
    await expect(inRuntime({}, async () => cryptography())).rejects.toThrow();
    vi.doUnmock("../../src/verify/noble.js");
    expect(await inRuntime({}, async () => cryptography())).toBeDefined();
  });

  // What would be another's word on evidence that the chosen one has refused: a way in for whoever finds a signature
  // that the two see differently.
  it("stands: what WebCrypto refuses, or fails at, is not asked of another", async () => {
    const offered = { node: node(), subtle: subtle(), userAgent: OTHER };
    const library = await libraryIn(offered);
    const { point, sign: signed } = signers["P-384"];
    const before = callsOf(offered.node);
    vi.mocked(offered.subtle["verify"]!).mockImplementation(async () => false);
    const key = await library.importPoint("P-384", point);
    expect(await key!.verify(message, signed(message))).toBe(false);
    vi.mocked(offered.subtle["verify"]!).mockImplementation(() => Promise.reject(refused));
    await expect(Promise.resolve(key!.verify(message, signed(message)))).rejects.toThrow(refused);
    vi.mocked(offered.subtle["importKey"]!).mockImplementation(() => Promise.reject(refused));
    expect(await library.importPoint("P-384", point)).toBeNull();
    vi.mocked(offered.subtle["digest"]!).mockImplementation(() => Promise.reject(refused));
    await expect(library.sha256(message)).rejects.toThrow(refused);
    expect(callsOf(offered.node)).toBe(before);
  });

  it("is not asked about signatures of a wrong length, at which a WebCrypto may throw", async () => {
    const offered = { subtle: subtle() };
    const key = await (await libraryIn(offered)).importPoint("P-384", signers["P-384"].point);
    vi.mocked(offered.subtle["verify"]!).mockImplementation(unsupported);
    for (const length of [0, 64, 95, 97]) expect(await key!.verify(message, new Uint8Array(length))).toBe(false);
  });

  it("stands: what node:crypto refuses, or fails at, is not asked of another", async () => {
    const offered = { node: node(), subtle: subtle() };
    const library = await libraryIn(offered);
    const { point, sign: signed } = signers["P-384"];
    const key = await library.importPoint("P-384", point);
    vi.mocked(offered.node["verify"]!).mockImplementation(((_hash, _message, _key, _signature, done) =>
      done?.(refused, true)) as Verify as never);
    expect(await key!.verify(message, signed(message))).toBe(false);
    const { importKey } = (offered.node as unknown as { webcrypto: { subtle: Calls } }).webcrypto.subtle;
    vi.mocked(importKey!).mockImplementation(unsupported);
    expect(await library.importPoint("P-384", point)).toBeNull();
    vi.mocked(offered.node["createHash"]!).mockImplementation(unsupported);
    await expect(library.sha256(message)).rejects.toThrow("unsupported");
    expect(callsOf(offered.subtle)).toBe(0);
  });
});

describe("a pool of threads", () => {
  it("verifies in the calling thread alone, by the same rules", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-384" });
    const point = new Uint8Array(publicKey.export({ type: "spki", format: "der" }).subarray(-97));
    const message = toUtf8("what was signed");
    const good = new Uint8Array(sign("sha384", message, { key: privateKey, dsaEncoding: "ieee-p1363" }));
    const bad = [flipped(good, 5), good.subarray(1), new Uint8Array(96), new Uint8Array(0), concatBytes(good, good)];
    vi.resetModules();
    const { cryptography, useOneThread } = await import("../../src/verify/cryptography.js");
    for (const isOne of [false, true]) {
      if (isOne) useOneThread();
      const key = (await (await cryptography()).importPoint("P-384", point))!;
      expect(key.verify(message, good) instanceof Promise).toBe(!isOne);
      expect(await key.verify(message, good)).toBe(true);
      for (const signature of bad) expect(await key.verify(message, signature)).toBe(false);
    }
  });
});

describe("Ed25519", () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const key = new Uint8Array(Buffer.from(publicKey.export({ format: "jwk" }).x!, "base64url"));
  const message = toUtf8("a delivery");
  const signature = new Uint8Array(sign(null, message, privateKey));
  const isEd25519 = (algorithm: unknown): boolean => (algorithm as { name?: string }).name === "Ed25519";

  const without: Calls = {
    importKey: ((...args: Parameters<SubtleCrypto["importKey"]>) =>
      isEd25519(args[2]) ? unsupported() : realSubtle.importKey(...args)) as never,
  };
  const credulous: Calls = {
    verify: ((...args: Parameters<SubtleCrypto["verify"]>) =>
      isEd25519(args[0]) ? Promise.resolve(true) : realSubtle.verify(...args)) as never,
  };
  const RUNTIMES: readonly [name: string, offered: () => Offered, chosen: "node" | "subtle" | "noble"][] = [
    ["Node", () => ({ node: node(), subtle: subtle() }), "node"],
    ["a runtime that imitates Node", () => ({ node: node(), subtle: subtle(), userAgent: OTHER }), "subtle"],
    ["a browser that knows it", () => ({ subtle: subtle() }), "subtle"],
    ["a browser that does not", () => ({ subtle: subtle(without) }), "noble"],
    ["one that finds every signature good", () => ({ subtle: subtle(credulous) }), "noble"],
    ["one without any", () => ({}), "noble"],
  ];

  it.each(RUNTIMES)("in %s", async (_, offer, chosen) => {
    const offered = offer();
    const verify = await (await libraryIn(offered)).ed25519();
    const before = { node: callsOf(offered.node), subtle: callsOf(offered.subtle) };
    expect(await verify(key, message, signature)).toBe(true);
    const used = (["node", "subtle"] as const).filter((name) => callsOf(offered[name]) > before[name]);
    expect(used).toEqual(chosen === "noble" ? [] : [chosen]);
  });

  it.each(RUNTIMES)("refuses in %s", async (_, offer) => {
    const verify = await (await libraryIn(offer())).ed25519();
    const other = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }).x!;
    const rows: readonly (readonly [Uint8Array, Uint8Array, Uint8Array])[] = [
      [key, toUtf8("another delivery"), signature],
      [new Uint8Array(Buffer.from(other, "base64url")), message, signature],
      [key, message, flipped(signature, 0)],
      [key, message, flipped(signature, 63)],
      [key, message, new Uint8Array(64)],
      [key, message, signature.subarray(1)],
      [key, message, concatBytes(signature, Uint8Array.of(0))],
      [key, message, new Uint8Array()],
      [key.subarray(1), message, signature],
      [new Uint8Array(32).fill(0xff), message, signature],
    ];
    for (const row of rows) expect(await verify(...row)).toBe(false);
  });

  it("by noble takes no key of small order, which would sign everything", async () => {
    const verify = await (await libraryIn({})).ed25519();
    const identity = Uint8Array.from({ length: 32 }, (_, index) => (index === 0 ? 1 : 0));
    expect(await verify(identity, message, concatBytes(identity, new Uint8Array(32)))).toBe(false);
  });

  it("of a key that WebCrypto refuses is not asked of noble", async () => {
    const offered = { subtle: subtle() };
    const verify = await (await libraryIn(offered)).ed25519();
    vi.mocked(offered.subtle["importKey"]!).mockImplementation(() => Promise.reject(new Error("refused")));
    expect(await verify(key, message, signature)).toBe(false);
  });
});
