/**
 * A genuine value of each kind of file and answer, whose lists are repeated. The types demand a row for each kind: a
 * new one without it does not compile. Null is for what is not JSON: cost.test.ts has rows of those.
 */
import { readAccounts, readPrivateKeys, readWallets } from "../../src/addresses/lists.js";
import { fromBase64 } from "../../src/bytes.js";
import { QUERY_OPERATIONS, type QueryName } from "../../src/client/operations.js";
import { type JsonObject, type JsonValue, parseJson } from "../../src/decode/json.js";
import { type Shape, readShape } from "../../src/decode/shapes.js";
import { inspectUnverified, renderInspection } from "../../src/inspect/index.js";
import { packBundle } from "../../src/bundle/index.js";
import { parsePolicy, renderJson, verifyEvidence } from "../../src/index.js";
import type { EvidenceKind } from "../../src/inspect/kinds.js";
import { LAB_ADDRESS, labDeployment, labPolicy } from "../../src/lab/forge.js";
import type { Lab } from "../../src/lab/index.js";
import { labProvenancePin, LabSigstore } from "../../src/lab/sigstore.js";
import { AT, NOW, forge, lab } from "../attacks/support.js";
import { feedOf, NAME, stateOf, TEAM, versionsOf } from "./policy-feeds.js";

const genuine = forge();
const sigstore = new LabSigstore();
const plain = (value: unknown): JsonValue => JSON.parse(JSON.stringify(value)) as JsonValue;
const inBase64 = (member: string): JsonValue => plain(parseJson(fromBase64(genuine.bootProof[member] as string)!));
const policyFile = labPolicy(genuine.anchorPem, [
  { ...labDeployment(lab), provenance: [labProvenancePin({ json: JSON.stringify(sigstore.trustedRoot) })] },
]);
const plainFile = labPolicy(genuine.anchorPem, [labDeployment(lab)]);
const evidence = { bootProofs: [genuine.bootProof], appProofs: genuine.appProofs, activity: genuine.activity };
const options = { policy: parsePolicy(plainFile), now: NOW, expected: { organizationId: LAB_ADDRESS.organizationId } };
const { report } = await verifyEvidence(evidence, options);
const { expected } = options;
const { bundle } = await packBundle(evidence, { policy: plainFile as never, now: NOW, expected });
const [first, second] = versionsOf([{}, {}]);
const envelope = inBase64("qosManifestEnvelopeB64") as JsonObject;

export const FILES: Readonly<Record<EvidenceKind, JsonValue | null>> = {
  "boot proof": plain(genuine.bootProof),
  "boot proofs": plain([genuine.bootProof]),
  "manifest envelope": envelope,
  manifest: inBase64("qosManifestB64"),
  activity: plain({ ...genuine.activity, votes: [{ id: "vote-000000", user: { userTags: ["tag-000000"] } }] }),
  bundle: plain(bundle),
  report: plain(parseJson(renderJson(report))),
  "app proofs": plain(genuine.appProofs),
  "app proof": plain(genuine.appProofs[0]),
  request: {
    type: "ACTIVITY_TYPE_CREATE_WALLET",
    organizationId: LAB_ADDRESS.organizationId,
    timestampMs: "1",
    parameters: { walletName: "w", accounts: [{ path: "m/000000", curve: "C" }] },
  },
  approval: (envelope["manifestSetApprovals"] as JsonValue[])[0]!,
  "genesis output": null,
  "genesis request": { set: { threshold: 1, members: [{ alias: "member-000000", pubKey: "04" }] }, drKey: null },
  "image PCRs": {
    Measurements: { HashAlgorithm: "Sha384", PCR0: "00".repeat(48), PCR1: "00".repeat(48), PCR2: "00".repeat(48) },
  },
  policy: plain(policyFile),
  "policy feed": null,
  "signed policy": plain(first!.envelope),
  "policy signers": { name: NAME, ...(plain(TEAM) as JsonObject) },
  "policy state": plain(JSON.parse(stateOf(second!))),
  certificate: null,
  certificates: null,
  release: null,
  "provenance bundle": plain(JSON.parse(sigstore.attest({ at: AT, digest: lab.pivotHash }))),
  "trusted root": plain(sigstore.trustedRoot),
  "attestation document": null,
  "enclave image": null,
  "API key": { publicKey: "02", privateKey: "01" },
};

/** A feed with so many versions. */
export const feedWith = (count: number): string => feedOf(versionsOf(Array.from({ length: count }, () => ({}))));

export async function inspected(value: JsonValue): Promise<void> {
  const seen = await inspectUnverified(Buffer.from(JSON.stringify(value))).catch(() => null);
  if (seen !== null) renderInspection(seen, { color: false });
}

/** What is asked of a lab, and how the answer is read. */
export interface Answer {
  readonly operation: string;
  readonly asked: (facts: Facts) => JsonObject;
  readonly read: (value: JsonValue, facts: Facts) => unknown;
}

/** What the questions name. */
export interface Facts {
  readonly lab: Lab;
  readonly userId: string;
  readonly activityId: string;
}

const ofShape = (name: QueryName, asked: Answer["asked"] = () => ({})): Answer => {
  const { name: operation, result } = QUERY_OPERATIONS[name];
  return { operation, asked, read: (value) => readShape(result as Shape<unknown>, value) };
};
const deploymentOf = ({ lab: { applications } }: Facts): JsonObject => ({
  deploymentId: applications[0]!.deploymentId,
});

/** What is one thing, without a list. */
export const WITHOUT_LISTS: readonly string[] = [
  ...["getBootProof", "getLatestBootProof", "getNonces", "getTvcDeploymentProvisioningDetails"],
];

/** Each query, and the lists that addresses are read from. */
export const ANSWERS: Readonly<Record<QueryName | "listWallets" | "listAccounts" | "listPrivateKeys", Answer>> = {
  listEarnEnabledVaults: ofShape("listEarnEnabledVaults"),
  getBootProof: ofShape("getBootProof", ({ lab: { enclaves } }) => ({ ephemeralKey: enclaves[0]!.ephemeralKey })),
  getOauthProviders: ofShape("getOauthProviders", ({ userId }) => ({ userId })),
  getNonces: ofShape("getNonces", () => ({ address: `0x${"11".repeat(20)}`, caip2: "eip155:1", nonce: true })),
  getUser: ofShape("getUser", ({ userId }) => ({ userId })),
  getLatestBootProof: ofShape("getLatestBootProof", () => ({ appName: "signer" })),
  listAppProofs: ofShape("listAppProofs", ({ activityId }) => ({ activityId })),
  getTvcDeployment: ofShape("getTvcDeployment", deploymentOf),
  getTvcDeploymentProvisioningDetails: ofShape("getTvcDeploymentProvisioningDetails", deploymentOf),
  listWallets: { operation: "list_wallets", asked: () => ({}), read: readWallets },
  listAccounts: {
    operation: "list_wallet_accounts",
    asked: () => ({}),
    read: (value, { lab }) => readAccounts(value, lab.organizationId),
  },
  listPrivateKeys: { operation: "list_private_keys", asked: () => ({}), read: readPrivateKeys },
};
