/**
 * The COSE working group's examples. One is read where it is a COSE_Sign1, and its signature verified where it is of a
 * curve here; all the rest are refused for the rule that their row names. None is an attestation document: their
 * headers say more than ES384.
 */
import { describe, expect, it } from "vitest";
import { concatBytes, fromHex, toHex } from "../../src/bytes.js";
import { type CoseSign1, decodeCoseSign1, signatureInput } from "../../src/decode/cose-sign1.js";
import { attempt, faultText } from "../../src/errors.js";
import { algorithmFaults } from "../../src/verify/attestation.js";
import { type Curve, importPoint } from "../../src/verify/ecdsa.js";
import { readVectorJson } from "../support/vectors.js";
import { readSuite } from "./data.js";

interface Example {
  readonly id: string;
  readonly cbor: string;
  /** The working group says that it is wrong. */
  readonly fail?: true;
  /** Of a COSE_Sign1. */
  readonly alg?: string;
  readonly key?: { readonly crv: string; readonly x: string; readonly y: string };
  readonly toBeSigned?: string;
}

interface Row {
  /** The first rule that refuses it. */
  readonly refused?: string;
  readonly signature?: "valid" | "invalid" | "not asked";
  /** Where the signature is not what the working group says of the example. */
  readonly because?: string;
}

const examples = readSuite<Example[]>("cose-wg-examples.json.gz");
const rows = readVectorJson<Record<string, Row>>("suites/cose-wg-examples.decisions.json");
const bytes = (hex: string): Uint8Array => fromHex(hex)!;
const ALGORITHMS: Readonly<Record<Curve, string>> = { "P-256": "ES256", "P-384": "ES384" };

function curveOf({ alg, key }: Example): Curve | null {
  const curve = key?.crv as Curve | undefined;
  return curve !== undefined && ALGORITHMS[curve] === alg ? curve : null;
}

async function signatureOf(example: Example, message: CoseSign1): Promise<NonNullable<Row["signature"]>> {
  const curve = curveOf(example);
  if (curve === null) return "not asked";
  const { x, y } = example.key!;
  const key = (await importPoint(curve, concatBytes(Uint8Array.of(4), bytes(x), bytes(y))))!;
  return (await key.verify(signatureInput(message), message.signature)) ? "valid" : "invalid";
}

async function answerOf(example: Example): Promise<Row> {
  const { value, faults } = attempt(() => decodeCoseSign1(bytes(example.cbor)));
  if (value === undefined) return { refused: faultText(faults).replace(/ \(at byte \d+\)/, "") };
  return { signature: await signatureOf(example, value) };
}

describe("the COSE working group's examples", () => {
  it.each(examples.map((example) => [example.id, example] as const))("%s", async (id, example) => {
    const answer = await answerOf(example);
    const { because, ...known } = rows[id]!;
    expect(answer).toEqual(known);
    if (answer.refused !== undefined) return;
    const message = decodeCoseSign1(bytes(example.cbor));
    expect(algorithmFaults(message)).not.toEqual([]);
    if (example.toBeSigned !== undefined && example.fail === undefined)
      expect(toHex(signatureInput(message)) === example.toBeSigned).toBe(because === undefined);
  });

  it("are right where the group says so, but for what is explained", async () => {
    const asked = examples.filter((example) => curveOf(example) !== null && rows[example.id]!.refused === undefined);
    for (const example of asked) {
      const agrees = ((await answerOf(example)).signature === "valid") === (example.fail === undefined);
      expect([example.id, agrees]).toEqual([example.id, rows[example.id]!.because === undefined]);
    }
    expect(asked).toHaveLength(12);
    expect(Object.values(rows).filter(({ because }) => because !== undefined)).toHaveLength(2);
  });

  it("have a row each", () => {
    expect(Object.keys(rows)).toEqual(examples.map(({ id }) => id));
    expect(examples).toHaveLength(301);
  });
});
