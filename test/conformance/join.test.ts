/**
 * The cases of the join: the library gets evidence that its own verification judged as the case says, and a second
 * implementation, written from the rules, gets the case. Both find the expected classes, and the same in random lists.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, describe, expect, it } from "vitest";
import { ADDRESS_CLASSES } from "../../src/addresses/classes.js";
import { joinAddresses, unplacedKeys } from "../../src/addresses/join.js";
import { readAccounts, readPrivateKeys, readWallets } from "../../src/addresses/lists.js";
import { type AddressEvidence, verifyAddressActivity } from "../../src/addresses/verify.js";
import { parsePolicy } from "../../src/index.js";
import type { JsonObject } from "../../src/decode/json.js";
import { SoftwareEnclave, addressDerivationPayload } from "../../src/lab/enclave.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { generateQosKeyPair } from "../../src/lab/qos.js";
import { type JoinCase, type JoinInput, type JoinRow, type JudgedProof, MADE_AT } from "./join-cases.js";
import { joinedByRules, unplacedByRules } from "./join-oracle.js";
import { JOIN_FILE, joinText } from "./join-file.js";
import { CORPUS } from "./unpack.mjs";
import { IS_LONG } from "../support/long.js";

const BOOTED = new Date(MADE_AT - 3_600_000);
const NOW = new Date(MADE_AT + 2 * 86_400_000);
const forge = new Forge();
const other = new Forge({
  pki: forge.pki,
  namespace: { name: "lab/other", nonce: 1 },
  labels: { deploymentLabel: "other.1", enclaveApp: "other", owner: "lab" },
});
const anchored = forgeEvidence({ lab: forge, at: BOOTED });
const bootProofs = [anchored.bootProof, forgeEvidence({ lab: other, at: BOOTED }).bootProof];
const policy = parsePolicy(
  labPolicy(anchored.anchorPem, [
    { ...labDeployment(forge), appProofs: { types: ["APP_PROOF_TYPE_ADDRESS_DERIVATION"] } },
    labDeployment(other),
  ]),
);
const enclaveOf = ({ pki, measurements, ephemeralKey }: Forge): SoftwareEnclave =>
  new SoftwareEnclave({ pki, measurements, ephemeralKey, manifestHash: new Uint8Array(32), generation: "live" });
const [signer, otherEnclave] = [enclaveOf(forge), enclaveOf(other)];
const unknown = new SoftwareEnclave({
  ...{ pki: forge.pki, measurements: forge.measurements },
  manifestHash: new Uint8Array(32),
  generation: "live",
});
const stranger = generateQosKeyPair();

/** An app proof that verification judges as the case says. */
function appProofOf({ status, says, failed }: JudgedProof): JsonObject {
  if (says === null) return signer.appProof({}, { text: () => "{" });
  const { walletId, path, timestampMs, organizationId, address } = says;
  const facts = { organizationId, address, ...(walletId && { walletId }), ...(path && { derivationPath: path }) };
  const payload = addressDerivationPayload(new Date(timestampMs), facts);
  if (status === "no-boot-proof") return unknown.appProof(payload);
  if (status === "other") return otherEnclave.appProof(payload);
  return signer.appProof(payload, failed.includes("app.signature") ? { signer: stranger } : {});
}

async function evidenceOf({
  organizationId,
  parentOrganizationId,
  evidence,
}: JoinInput): Promise<(AddressEvidence | null)[]> {
  const options = { policy, now: NOW, organizationId, ...(parentOrganizationId && { parentOrganizationId }) };
  return Promise.all(
    evidence.map(({ activity, proofs }) =>
      verifyAddressActivity({ ...activity, appProofs: proofs.map(appProofOf) }, bootProofs, options),
    ),
  );
}

type Joining = Parameters<typeof joinAddresses>;

function joiningOf(input: JoinInput, evidence: readonly (AddressEvidence | null)[]): Joining {
  const { organizationId, listedAt } = input;
  const lists = {
    wallets: readWallets({ wallets: input.wallets }),
    accounts: readAccounts({ accounts: input.accounts }, organizationId),
    privateKeys: readPrivateKeys({ privateKeys: input.privateKeys }),
    listedAt,
  };
  return [lists, evidence.filter((one) => one !== null), { organizationId }];
}

function joined(...given: Parameters<typeof joiningOf>): JoinRow[] {
  return joinAddresses(...joiningOf(...given)).map(({ class: name, address, listed, walletId, privateKeyId, path }) => {
    return { class: name, address, listed, walletId, privateKeyId, path };
  });
}

const unplacedIn = (...given: Parameters<typeof joiningOf>): string[] =>
  unplacedKeys(...joiningOf(...given)).map(({ activityId }) => activityId);

const sorted = (rows: readonly JoinRow[]): string[] => rows.map((row) => JSON.stringify(row)).sort();
const file = JSON.parse(readFileSync(join(CORPUS, JOIN_FILE), "utf8")) as { cases: JoinCase[] };

describe("the file of the join", () => {
  it("has the cases of the table (node test/conformance/make.mjs)", () => {
    expect(readFileSync(join(CORPUS, JOIN_FILE), "utf8")).toBe(joinText());
    expect(file.cases.length).toBeGreaterThanOrEqual(40);
    expect(new Set(file.cases.map(({ name }) => name)).size).toBe(file.cases.length);
  });

  it("has each class", () => {
    const classes = new Set(file.cases.flatMap(({ expected }) => expected.map((row) => row.class)));
    expect([...classes].sort()).toEqual([...ADDRESS_CLASSES].sort());
  });

  it("fits its schema", () => {
    const schema = JSON.parse(readFileSync(join(CORPUS, "schemas/join.schema.json"), "utf8")) as object;
    const fits = new Ajv2020({ allErrors: true }).compile(schema);
    expect(fits(file) ? [] : fits.errors).toEqual([]);
    expect(fits({ ...file, cases: [{ ...file.cases[0], more: 1 }] })).toBe(false);
    const [{ name, input }] = file.cases as [JoinCase];
    expect(fits({ ...file, cases: [{ name, input, expected: [{ class: "good" }] }] })).toBe(false);
  });
});

describe.each(file.cases)("$name", ({ input, expected, unplaced = [] }) => {
  let evidence: (AddressEvidence | null)[];
  beforeAll(async () => void (evidence = await evidenceOf(input)));

  it("is judged proof by proof as the case says", () => {
    const judged = evidence.map((one) => one?.proofs.map(({ status, says, failed }) => ({ status, says, failed })));
    const { organizationId, parentOrganizationId } = input;
    expect(judged).toEqual(
      input.evidence.map(({ activity, proofs }) =>
        [organizationId, parentOrganizationId].includes(activity["organizationId"] as string) ? proofs : undefined,
      ),
    );
  });

  it("has the expected classes, by the library and by the rules alone", () => {
    expect([sorted(joined(input, evidence)), unplacedIn(input, evidence)]).toEqual([sorted(expected), unplaced]);
    expect([sorted(joinedByRules(input)), unplacedByRules(input)]).toEqual([sorted(expected), unplaced]);
  });

  it("has the same classes in random lists, by both", () => {
    const random = generatorOf(JSON.stringify(input));
    for (let run = 0; run < RUNS; run++) {
      const lists = randomLists(input, random);
      const found = [sorted(joined(lists, evidence)), unplacedIn(lists, evidence).sort()];
      expect(found, JSON.stringify(lists)).toEqual([sorted(joinedByRules(lists)), unplacedByRules(lists).sort()]);
    }
  });
});

const RUNS = IS_LONG ? 40 : 8;

/** Numbers from 0 to 1, the same ones for the same text. */
function generatorOf(text: string): () => number {
  let turn = 0;
  return () => createHash("sha256").update(`${turn++} ${text}`).digest().readUInt32BE() / 2 ** 32;
}

/** The lists with items left out, doubled, or with the value of another item. */
function randomLists(input: JoinInput, random: () => number): JoinInput {
  const among = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
  const all = file.cases.flatMap((one) => one.input.accounts);
  const changed = (items: readonly JsonObject[], names: readonly string[], pool: readonly JsonObject[]): JsonObject[] =>
    items.flatMap((item) => {
      if (random() < 0.15) return [];
      const name = among(names);
      const altered = random() < 0.4 ? { ...item, [name]: among(pool)[name]! } : item;
      return random() < 0.15 ? [item, altered] : [altered];
    });
  const flagged = file.cases.flatMap((one) => one.input.wallets);
  return {
    ...input,
    accounts: changed(input.accounts, ["path", "address", "walletId", "addressFormat"], all),
    wallets: changed(input.wallets, ["imported", "exported", "walletId"], flagged),
    privateKeys: changed(input.privateKeys, ["imported", "exported"], flagged),
  };
}
