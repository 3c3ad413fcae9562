/** What is remembered changes the time an answer takes, and never the answer. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { concatBytes, toUtf8 } from "../../src/bytes.js";
import { type Curve, importPoint } from "../../src/verify/ecdsa.js";
import { SignatureCache } from "../../src/verify/signature-cache.js";
import { fc } from "../support/property.js";
import { CURVES, newSigner } from "./keys.js";

interface Question {
  readonly name: string;
  readonly curve: Curve;
  readonly point: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

const signers = CURVES.flatMap((curve) => [newSigner(curve), newSigner(curve)]);
const messages = [toUtf8("one"), toUtf8("two"), new Uint8Array()];

const good: Question[] = signers.flatMap(({ curve, point, sign }, key) =>
  messages.map((message, index) => ({
    name: `${curve} key ${key} message ${index}`,
    curve,
    point,
    message,
    signature: sign(message),
  })),
);
const otherCurve = (curve: Curve): Curve => (curve === "P-256" ? "P-384" : "P-256");

/** Everything that is near a valid signature, and is none. */
const bad: Question[] = good.flatMap((question) => {
  const { curve, point, message, signature } = question;
  const vary = (name: string, more: Partial<Question>): Question => ({
    ...question,
    name: `${question.name}, ${name}`,
    ...more,
  });
  return [
    ...signers
      .filter((signer) => signer.point !== point)
      .map((signer, index) => vary(`under other key ${index}`, { curve: signer.curve, point: signer.point })),
    ...messages
      .filter((other) => other !== message)
      .map((other, index) => vary(`other message ${index}`, { message: other })),
    vary("as of the other curve", { curve: otherCurve(curve) }),
    vary("a signature cut", { signature: signature.subarray(1) }),
    vary("a signature of zeros", { signature: new Uint8Array(signature.length) }),
    vary("a bit turned over", { signature: signature.map((byte, index) => (index === 0 ? byte ^ 1 : byte)) }),
    vary("the point's last byte moved to the message", {
      point: point.subarray(0, -1),
      message: concatBytes(point.subarray(-1), message),
    }),
    vary("the point cut, its last byte before the signature, whose last byte is before the message", {
      point: point.subarray(0, -1),
      signature: concatBytes(point.subarray(-1), signature.subarray(0, -1)),
      message: concatBytes(signature.subarray(-1), message),
    }),
    vary("the signature's first byte moved to the message", {
      signature: signature.subarray(1),
      message: concatBytes(message, signature.subarray(0, 1)),
    }),
    vary("the signature's last byte moved to the message", {
      signature: signature.subarray(0, -1),
      message: concatBytes(signature.subarray(-1), message),
    }),
    vary("a point that is none", { point: point.map((byte, index) => (index === point.length - 1 ? byte ^ 1 : byte)) }),
    vary("an empty point", { point: new Uint8Array() }),
  ];
});
const all = [...good, ...bad];

async function withoutMemory({ curve, point, message, signature }: Question): Promise<boolean> {
  const key = await importPoint(curve, point);
  return key !== null && (await key.verify(message, signature));
}

function ask(cache: SignatureCache, { curve, point, message, signature }: Question): Promise<boolean> {
  return cache.verify(curve, point, message, signature);
}

afterEach(() => {
  vi.restoreAllMocks();
});

/** Counts what reaches the platform. */
function watch(): { verified: () => number; imported: () => number } {
  const crypto = process.getBuiltinModule("node:crypto");
  const verify = vi.spyOn(crypto, "verify");
  const importKey = vi.spyOn(crypto.webcrypto.subtle, "importKey");
  return { verified: () => verify.mock.calls.length, imported: () => importKey.mock.calls.length };
}

describe("a cache of signatures", () => {
  it("answers as without one, when it is full of all that is valid", async () => {
    const cache = new SignatureCache();
    for (const question of [...good, ...bad, ...good])
      expect(await ask(cache, question), question.name).toBe(await withoutMemory(question));
  });

  it(
    "answers any sequence of questions as without one, however small it is, one after the other and at " + "once",
    async () => {
      const question = fc.constantFrom(...good, ...good, ...bad);
      const expected = new Map(await Promise.all(all.map(async (each) => [each, await withoutMemory(each)] as const)));
      await fc.assert(
        fc.asyncProperty(
          fc.array(question, { minLength: 1, maxLength: 30 }),
          fc.integer({ min: 1, max: 8 }),
          fc.boolean(),
          async (questions, limit, atOnce) => {
            const cache = new SignatureCache(limit);
            const answers: boolean[] = [];
            if (atOnce) answers.push(...(await Promise.all(questions.map((each) => ask(cache, each)))));
            else for (const each of questions) answers.push(await ask(cache, each));
            expect(answers).toEqual(questions.map((each) => expected.get(each)));
          },
        ),
        { numRuns: 100 },
      );
    },
  );

  it("is not misled by a buffer that changes while it is asked", async () => {
    const question = good[0]!;
    for (const part of ["message", "signature", "point"] as const) {
      const cache = new SignatureCache();
      const wrong = question[part].map((byte, index) => (index === 2 ? byte ^ 1 : byte));
      const buffer = wrong.slice();
      const pending = ask(cache, { ...question, [part]: buffer });
      buffer.set(question[part]);
      await pending;
      expect(await ask(cache, { ...question, [part]: wrong }), part).toBe(false);
    }
  });
});

describe("what is remembered", () => {
  it("is the valid signature: it is verified once", async () => {
    const cache = new SignatureCache();
    const count = watch();
    for (let round = 0; round < 3; round++) for (const question of good) expect(await ask(cache, question)).toBe(true);
    expect(count.verified()).toBe(good.length);
    expect(count.imported()).toBe(signers.length);
  });

  it("is not the invalid one: it is verified each time", async () => {
    const cache = new SignatureCache();
    const invalid = { ...good[0]!, message: toUtf8("another") };
    const count = watch();
    for (let round = 1; round <= 3; round++) {
      expect(await ask(cache, invalid)).toBe(false);
      expect(count.verified()).toBe(round);
    }
  });

  it("is bounded: the least recently used goes first", async () => {
    const cache = new SignatureCache(2);
    const [a, b, c] = good.slice(0, 3) as [Question, Question, Question];
    for (const question of [a, b, c]) await ask(cache, question);
    const count = watch();
    await ask(cache, c);
    await ask(cache, b);
    expect(count.verified()).toBe(0);
    await ask(cache, a);
    expect(count.verified()).toBe(1);
    await ask(cache, b);
    expect(count.verified()).toBe(1);
    await ask(cache, c);
    expect(count.verified()).toBe(2);
  });

  it("of one curve displaces nothing of the other", async () => {
    const cache = new SignatureCache(1);
    const of = (curve: Curve): Question[] => good.filter((question) => question.curve === curve);
    const [link] = of("P-384");
    await ask(cache, link!);
    for (const question of of("P-256")) await ask(cache, question);
    const count = watch();
    expect(await ask(cache, link!)).toBe(true);
    expect(count.verified()).toBe(0);
  });

  it("of keys is bounded too", async () => {
    const cache = new SignatureCache(2);
    const [a, b, c] = [signers[0]!, signers[1]!, signers[2]!];
    const first = await cache.key(a.curve, a.point);
    for (const signer of [a, b]) await cache.key(signer.curve, signer.point);
    expect(await cache.key(a.curve, a.point)).toBe(first);
    await cache.key(c.curve, c.point);
    expect(await cache.key(a.curve, a.point)).toBe(first);
    for (const signer of [b, c]) await cache.key(signer.curve, signer.point);
    expect(await cache.key(a.curve, a.point)).not.toBe(first);
  });

  it("is nothing of a key that is none, but that it is none", async () => {
    const cache = new SignatureCache();
    const point = signers[0]!.point.map((byte, index) => (index === 64 ? byte ^ 1 : byte));
    expect(await cache.key("P-256", point)).toBeNull();
    expect(await cache.key("P-256", point)).toBeNull();
    expect(await cache.verify("P-256", point, messages[0]!, good[0]!.signature)).toBe(false);
    expect(await cache.key("P-256", signers[0]!.point)).not.toBeNull();
  });
});

it.each([0, -1, 1.5, NaN, Infinity])("a cache of %d signatures is refused", (limit) => {
  expect(() => new SignatureCache(limit)).toThrow(TypeError);
});
