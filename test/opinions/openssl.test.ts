/** The `openssl` command on signatures, good and damaged, and on whole certificates. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { toBase64, toUtf8 } from "../../src/bytes.js";
import { decodeCertificate } from "../../src/decode/certificate.js";
import { derInteger, derSequence } from "../../src/lab/der.js";
import { type KeyPair, generateKeyPair, publicPoint, signDer, subjectPublicKeyInfo } from "../../src/lab/keys.js";
import { NitroPki } from "../../src/lab/pki.js";
import { rawSignature } from "../../src/decode/ecdsa-signature.js";
import type { Curve } from "../../src/verify/ecdsa.js";
import { CURVES } from "../../src/verify/cryptography.js";
import { SignatureCache } from "../../src/verify/signature-cache.js";
import { mutated } from "../support/property.js";
import { TIMEOUT, fc, runs, tellAfterwards } from "./support.js";

const isThere = spawnSync("openssl", ["version"]).status === 0;
if (!isThere) console.log("no openssl on this machine: it is not asked");

const folder = mkdtempSync(join(tmpdir(), "bootproof-openssl-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, contents: Uint8Array | string): string {
  writeFileSync(join(folder, name), contents);
  return join(folder, name);
}

function run(...args: string[]): { readonly isGood: boolean; readonly said: string } {
  const { status, stdout, error } = spawnSync("openssl", args, { encoding: "utf8" });
  if (error) throw error;
  return { isGood: status === 0, said: stdout };
}

const NAMES = { "P-256": ["prime256v1", "sha256"], "P-384": ["secp384r1", "sha384"] } as const;
const KEYS: Record<Curve, KeyPair> = {
  "P-256": generateKeyPair("prime256v1"),
  "P-384": generateKeyPair("secp384r1"),
};
const message = toUtf8("what is signed");

async function ours(curve: Curve, der: Uint8Array): Promise<boolean> {
  const raw = rawSignature(der, CURVES[curve].scalarLength);
  return raw !== null && new SignatureCache().verify(curve, publicPoint(KEYS[curve]), message, raw);
}

function theirs(curve: Curve, der: Uint8Array): boolean {
  const spki = toBase64(subjectPublicKeyInfo(KEYS[curve]));
  const pem = `-----BEGIN PUBLIC KEY-----\n${spki.replace(/.{64}/g, "$&\n")}\n-----END PUBLIC KEY-----\n`;
  const key = file("key.pem", pem);
  const signature = file("signature", der);
  return run("dgst", `-${NAMES[curve][1]}`, "-verify", key, "-signature", signature, file("message", message)).isGood;
}

/** The longest signature in DER: the command reads no more of a file, and so does not see what comes after one. */
const LONGEST = { "P-256": 72, "P-384": 104 } as const;

/** Shorter than that, so that whatever is put after it is read. */
function signed(curve: Curve): Uint8Array {
  for (;;) {
    const der = signDer(KEYS[curve], NAMES[curve][1], message);
    if (der.length < LONGEST[curve]) return der;
  }
}

const counts = new Map<string, number>();
tellAfterwards("openssl", counts);

/** Signatures that are not what they were, with and without a change of their values. */
const EDGES: Record<string, (good: Uint8Array) => Uint8Array> = {
  "as it is": (good) => good,
  "r and s of zero": () => derSequence(derInteger(0), derInteger(0)),
  "r and s of one": () => derSequence(derInteger(1), derInteger(1)),
  "a byte after it": (good) => Uint8Array.from([...good, 0]),
  "a length longer than needed": ([tag, ...rest]) => Uint8Array.from([tag!, 0x81, ...rest]),
  "an indefinite length": ([tag, , ...rest]) => Uint8Array.from([tag!, 0x80, ...rest, 0, 0]),
  nothing: () => new Uint8Array(),
  "cut off": (good) => good.subarray(0, -1),
};

describe.skipIf(!isThere)("signatures", () => {
  const curve = fc.constantFrom<Curve>("P-256", "P-384");

  it.each((["P-256", "P-384"] as const).flatMap((each) => Object.keys(EDGES).map((edge) => [each, edge] as const)))(
    "%s: %s",
    async (each, edge) => {
      const good = signed(each);
      const signature = EDGES[edge]!(good);
      expect([edge, await ours(each, signature)]).toEqual([edge, theirs(each, signature)]);
      expect(await ours(each, signature)).toBe(edge === "as it is");
    },
  );

  it("damaged ones", { timeout: TIMEOUT }, async () => {
    await fc.assert(
      fc.asyncProperty(
        curve.chain((each) => fc.tuple(fc.constant(each), mutated(signed(each)), fc.boolean())),
        async ([each, damaged, isWhole]) => {
          const signature = isWhole ? signed(each) : damaged;
          const answer = await ours(each, signature);
          expect(answer).toBe(theirs(each, signature));
          const what = `${each}: both ${answer ? "accept" : "refuse"}`;
          counts.set(what, (counts.get(what) ?? 0) + 1);
        },
      ),
      runs(20, 0.01),
    );
  });
});

describe.skipIf(!isThere)("certificates", () => {
  const lab = new NitroPki();
  const path = lab.issueChain(lab.chainSpecs(new Date("2026-03-04T05:06:07Z")));

  it.each(path.map((der, place) => [place, der] as const))("certificate %i of a path is read alike", (_place, der) => {
    const { serialNumber, notBefore, notAfter } = decodeCertificate(der);
    const args = ["-inform", "DER", "-in", file("certificate", der), "-noout", "-serial", "-dates"];
    const { said } = run("x509", ...args, "-dateopt", "iso_8601");
    const shown = (date: Date): string => date.toISOString().slice(0, 19).replace("T", " ") + "Z";
    expect(said.trim().split("\n")).toEqual([
      `serial=${Buffer.from(serialNumber).toString("hex").toUpperCase()}`,
      `notBefore=${shown(notBefore)}`,
      `notAfter=${shown(notAfter)}`,
    ]);
  });
});
