/** Signatures that others added to an envelope: which are tried, and that they keep none from being counted. */
import { describe, expect, it } from "vitest";
import { cosignPolicy, reviewPolicy } from "../../src/signed-policy/index.js";
import {
  ALICE,
  BOB,
  CAROL,
  DAVE,
  ERIN,
  MALLORY,
  type SetFile,
  type SignatureFile,
  type TestKey,
  setOf,
  signatureOf,
  versionsOf,
} from "../support/policy-feeds.js";
import { World } from "./support.js";

type Sign = (pae: Buffer) => readonly SignatureFile[];

const bare = (pae: Buffer, ...keys: readonly TestKey[]): SignatureFile[] =>
  keys.map((key) => ({ sig: signatureOf(key, pae).sig }));
const named = (pae: Buffer, ...keys: readonly TestKey[]): SignatureFile[] => keys.map((key) => signatureOf(key, pae));
const under = ({ keyid }: TestKey, by: TestKey, pae: Buffer): SignatureFile => ({ ...signatureOf(by, pae), keyid });
const idsOf = (...keys: readonly TestKey[]): string[] => keys.map(({ keyid }) => keyid);
const unneeded = (index: number): string => `version 1: signature ${index} is not needed, and was not tried`;
const bad = (index: number): string => `version 1: signature ${index} does not verify`;

/** Who signed by a consumer's word, and its notices. */
async function opened(
  signatures: Sign,
  signers?: SetFile,
): Promise<{ readonly by: readonly string[]; readonly said: readonly string[] }> {
  const world = new World(versionsOf([{ signatures, ...(signers && { signers }) }]));
  const { policy } = await world.open();
  return { by: policy.signed!.signedBy, said: world.notices.map(({ notice }) => notice) };
}

describe("signatures that others added", () => {
  it("without a name are not tried, where enough keys of the set are named", async () => {
    const { by, said } = await opened((pae) => [...bare(pae, MALLORY, DAVE, ERIN), ...named(pae, ALICE, BOB, CAROL)]);
    expect(by).toEqual(idsOf(ALICE, BOB, CAROL));
    expect(said).toEqual([0, 1, 2].map(unneeded));
  });

  it("under the name of a key are tried only while keys are missing", async () => {
    const { by, said } = await opened((pae) => [
      under(ALICE, MALLORY, pae),
      under(ALICE, DAVE, pae),
      ...named(pae, BOB, ALICE),
      under(BOB, DAVE, pae),
    ]);
    expect(by).toEqual(idsOf(BOB, ALICE));
    expect(said).toEqual([bad(0), bad(1), unneeded(4)]);
  });

  it("keep no signature from being counted, whether it names its key or not", async () => {
    const nameless = await opened((pae) => bare(pae, MALLORY, DAVE, ERIN, ALICE, CAROL));
    expect(nameless.by).toEqual(idsOf(ALICE, CAROL));
    const mixed = await opened((pae) => [...bare(pae, MALLORY, DAVE, ERIN, ALICE), ...named(pae, CAROL)]);
    expect(mixed.by).toEqual(idsOf(CAROL, ALICE));
  });

  it("are tried until the new set has enough keys, too", async () => {
    const signed: Sign = (pae) => [...bare(pae, MALLORY, DAVE, ERIN), ...named(pae, ALICE, BOB)];
    expect((await opened(signed, setOf(2, DAVE, ERIN))).by).toEqual(idsOf(ALICE, BOB, DAVE, ERIN));
  });

  it("are all tried for those who sign, who must not sign twice", async () => {
    const [made] = versionsOf([{ signatures: (pae) => [...named(pae, ALICE, BOB), ...bare(pae, CAROL)] }]);
    const { line: envelope, envelope: members } = made!;
    const key = { publicKey: CAROL.pem, signature: Uint8Array.from(Buffer.from(members.signatures[2]!.sig, "base64")) };
    await expect(cosignPolicy({ envelope, key })).rejects.toThrow(/signed it before/);
    expect((await reviewPolicy({ envelope })).signedBy).toEqual(idsOf(ALICE, BOB, CAROL));
  });
});
