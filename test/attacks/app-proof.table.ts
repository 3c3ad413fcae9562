/** Attacks on app proofs, and on the activity that they have to back. The boot proof is valid in all of these. */
import { concatBytes, toUtf8 } from "../../src/bytes.js";
import type { CheckId } from "../../src/checks.js";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import { type AppProofAlterations, customPayload, policyOutcomePayload } from "../../src/lab/enclave.js";
import type { Expected } from "../../src/index.js";
import { LAB_ADDRESS } from "../../src/lab/forge.js";
import { signRaw } from "../../src/lab/keys.js";
import { generateQosKeyPair, qosSign, sha256 } from "../../src/lab/qos.js";
import { OWN_APPLICATION_ATTACKS } from "./own-application.table.js";
import { SIGNATURE_ATTACKS } from "./signature.table.js";
import {
  type Alterations,
  type Attack,
  NOW,
  after,
  appProof,
  drop,
  field,
  flip,
  forge,
  hex,
  lab,
  lie,
  otherLab,
  put,
  withActivity,
  named,
} from "./support.js";

const key = lab.ephemeralKey.publicKey;
const otherKey = generateQosKeyPair();
const swapped = concatBytes(key.subarray(65), key.subarray(0, 65));
const whole = forge().appProofs[0] as JsonObject & { signature: string; proofPayload: string };

const wire: [string, NonNullable<AppProofAlterations["json"]>][] = [
  ...["scheme", "publicKey", "proofPayload", "signature"].map(
    (name): [string, NonNullable<AppProofAlterations["json"]>] => [`no ${name}`, drop(name)],
  ),
  ["a boot proof inside it", put("bootProof", {})],
  ["boot proofs inside it, under a name of no evidence", (json) => ({ ...json, boot: [{ qosManifestB64: "" }] })],
  ["an activity inside it", put("activity", {})],
  ["other app proofs inside it", put("appProofs", [])],
  ["another scheme", lie("another-scheme").alterAppProof!.json!],
  ["the scheme in lower case", put("scheme", "signature_scheme_ephemeral_key_p256")],
  ["an empty scheme", put("scheme", "")],
  ["a key of 129 bytes", put("publicKey", hex(key).slice(2))],
  ["a key of 131 bytes", put("publicKey", `${hex(key)}00`)],
  ["a key that is not hex", put("publicKey", "zz".repeat(130))],
  ["0x before the key", put("publicKey", `0x${hex(key)}`)],
  [
    "a payload that is an object",
    (json) => ({ ...json, proofPayload: JSON.parse(json["proofPayload"] as string) as JsonValue }),
  ],
  ["a signature of 63 bytes", put("signature", whole.signature.slice(2))],
  ["a signature of 65 bytes", put("signature", `${whole.signature}00`)],
  ["an empty signature", put("signature", "")],
  ["a signature in base64", put("signature", "AAAA")],
];

const notProofs: [string, unknown][] = [
  ["null", null],
  ["an array", []],
  ["a text that is JSON of none", "7"],
  ["an empty object", {}],
  ["JSON text with a member twice", JSON.stringify(whole).replace("{", `{"signature":"${"00".repeat(64)}",`)],
  ["JSON text with text after it", `${JSON.stringify(whole)}x`],
];

const signatures: Readonly<Record<string, AppProofAlterations>> = {
  "of another key": lie("another-signer").alterAppProof!,
  "of the encryption key": { signer: { ...lab.ephemeralKey, signing: lab.ephemeralKey.encryption } },
  "with a bit of r turned over": { signature: (signature) => flip(signature, 0) },
  "with a bit of s turned over": { signature: (signature) => flip(signature) },
  "with r and s exchanged": {
    signature: (signature) => concatBytes(signature.subarray(32), signature.subarray(0, 32)),
  },
  "of zeros": { signature: () => new Uint8Array(64) },
  "over the payload's hash": {
    json: (json) => ({
      ...json,
      signature: hex(qosSign(lab.ephemeralKey, sha256(toUtf8(json["proofPayload"] as string)))),
    }),
  },
  "by SHA-384": {
    json: (json) => ({
      ...json,
      signature: hex(signRaw(lab.ephemeralKey.signing, "sha384", toUtf8(json["proofPayload"] as string))),
    }),
  },
  "over other white space": {
    json: (json) => ({ ...json, proofPayload: JSON.stringify(JSON.parse(json["proofPayload"] as string), null, 1) }),
  },
  "over a payload with another address": {
    json: (json) => ({
      ...json,
      proofPayload: (json["proofPayload"] as string).replace(LAB_ADDRESS.address, `0x${"0".repeat(40)}`),
    }),
  },
  "over a payload with a line break after it": {
    json: (json) => ({ ...json, proofPayload: `${json["proofPayload"] as string}\n` }),
  },
  "of another payload": { json: (json) => ({ ...json, signature: hex(qosSign(lab.ephemeralKey, toUtf8("{}"))) }) },
};

/** Valid signatures, by a key that is not the attested one. */
const foreignKeys: [string, Alterations, readonly CheckId[]][] = [
  ["another key", lie("unattested-key"), ["app.key"]],
  [
    "another encryption half",
    appProof({ json: put("publicKey", hex(concatBytes(otherKey.publicKey.subarray(0, 65), key.subarray(65)))) }),
    ["app.key"],
  ],
  [
    "halves exchanged, signed by the encryption key",
    appProof({
      signer: { ...lab.ephemeralKey, signing: lab.ephemeralKey.encryption },
      json: put("publicKey", hex(swapped)),
    }),
    ["app.key"],
  ],
  [
    "the quorum key",
    appProof({ signer: lab.quorumKey, json: put("publicKey", hex(lab.quorumKey.publicKey)) }),
    ["app.key"],
  ],
  [
    "another signing half",
    appProof({ json: put("publicKey", hex(concatBytes(key.subarray(0, 65), otherKey.publicKey.subarray(65)))) }),
    ["app.key", "app.signature"],
  ],
  [
    "a signing half that is not on the curve",
    appProof({ json: put("publicKey", hex(flip(key))) }),
    ["app.key", "app.signature"],
  ],
];

const at = after(60);
const outcome = policyOutcomePayload(at, LAB_ADDRESS.organizationId);
const text = (change: (text: string) => string): AppProofAlterations => ({ text: change });

const payloads: [string, AppProofAlterations | JsonObject][] = [
  ["no JSON", text(() => "address")],
  ["an empty text", text(() => "")],
  ["text after the JSON", text((json) => `${json}x`)],
  ["two values", text((json) => `${json}${json}`)],
  ["a comma before the end", text((json) => json.replace(/\}$/, ",}"))],
  ["a comment", text((json) => `/* */${json}`)],
  ["single quotes", text((json) => json.replaceAll('"', "'"))],
  ["a byte order mark", text((json) => `\ufeff${json}`)],
  ["type twice", lie("duplicated-payload-member").alterAppProof!],
  ["address twice", text((json) => json.replace('"address":', '"address":"0x00","address":'))],
  ["address twice, once escaped", text((json) => json.replace('"address":', '"\\u0061ddress":"0x00","address":'))],
  ["a lone surrogate", text((json) => json.replace('"address":"', '"address":"\\ud800'))],
  ["a control character in a text", text((json) => json.replace('"address":"', '"address":"\u0001'))],
  ["an array", text((json) => `[${json}]`)],
  ["arrays nested a hundred thousand deep", text((json) => json.replace("{", `{"x":${"[".repeat(100_000)}`))],
  ["null", text(() => "null")],
  ["a text", text((json) => JSON.stringify(json))],
  ["no type", { payload: drop("type") }],
  ["an empty type", { payload: put("type", "") }],
  ["a type that is a number", { payload: put("type", 1) }],
  ["no timestampMs", { payload: drop("timestampMs") }],
  ["timestampMs as a number", { payload: put("timestampMs", at.getTime()) }],
  ["timestampMs below zero", { payload: put("timestampMs", `-${at.getTime()}`) }],
  ["timestampMs with a fraction", { payload: put("timestampMs", `${at.getTime()}.5`) }],
  ["timestampMs with an exponent", { payload: put("timestampMs", "1e12") }],
  ["timestampMs in hex", { payload: put("timestampMs", "0x19cb72f8d38") }],
  ["timestampMs with white space", { payload: put("timestampMs", ` ${at.getTime()}`) }],
  ["an empty timestampMs", { payload: put("timestampMs", "") }],
  ["timestampMs as a date", { payload: put("timestampMs", at.toISOString()) }],
  ["timestampMs beyond all calendars", { payload: put("timestampMs", "9".repeat(30)) }],
  ["an address type without its member", { payload: drop("addressDerivationProof") }],
  ["an address type with the member null", { payload: put("addressDerivationProof", null) }],
  [
    "an address type with another type's member",
    {
      payload: (json) => ({
        ...drop("addressDerivationProof")(json),
        policyOutcomeProof: outcome["policyOutcomeProof"]!,
      }),
    },
  ],
  ["no address", { payload: drop("addressDerivationProof.address") }],
  ["an address that is a number", { payload: put("addressDerivationProof.address", 1) }],
  ["no organizationId", { payload: drop("addressDerivationProof.organizationId") }],
  ["a walletId that is a number", { payload: put("addressDerivationProof.walletId", 1) }],
  ["an outcome type without its member", drop("policyOutcomeProof")(outcome)],
  ["an outcome that is not known", put("policyOutcomeProof.outcome", "OUTCOME_MAYBE")(outcome)],
  ["an outcome in lower case", put("policyOutcomeProof.outcome", "outcome_allow")(outcome)],
  ...["organizationId", "outcome"].map((name): [string, JsonObject] => [
    `an outcome without ${name}`,
    drop(`policyOutcomeProof.${name}`)(outcome),
  ]),
  ["an outcome whose digest is a number", put("policyOutcomeProof.decisionContextDigest", 1)(outcome)],
  ...["12345678901234567890", "1e999", "0.10000000000000000001"].map((number): [string, AppProofAlterations] => [
    `${number}, which would be shown as another number`,
    text((json) => json.replace("{", `{"note":[${number}],`)),
  ]),
  ["a custom type without a time", drop("timestampMs")(customPayload(at))],
];

function payloadAttack(what: AppProofAlterations | JsonObject): Alterations {
  return "type" in what || "timestampMs" in what
    ? { payloads: [what as JsonObject] }
    : appProof(what as AppProofAlterations);
}

const timestamp = (date: Date): Alterations => appProof({ payload: put("timestampMs", String(date.getTime())) });
/** A live enclave makes documents at any time of its life, so only other kinds cannot have signed before theirs. */
const legacy = { generation: "legacy" } as const;
const times: [string, Alterations][] = [
  [
    "a millisecond more than a minute before the boot document",
    { ...legacy, ...timestamp(new Date(after(-60).getTime() - 1)) },
  ],
  ["a year before the boot document", { ...legacy, ...timestamp(new Date("2025-03-04T00:00:00Z")) }],
  ["in 1970", { ...legacy, ...timestamp(new Date(0)) }],
  ["a millisecond more than a minute in the future", timestamp(new Date(NOW.getTime() + 60_001))],
  ["a year in the future", lie("future-proof")],
];

/** The activity alone, which carries its app proofs. */
const activity = (
  name: string,
  change: NonNullable<Alterations["activity"]>,
  fails: readonly CheckId[],
  more: Partial<Attack> = {},
): Attack => ({
  name: `activity: ${name}`,
  forge: { activity: change },
  fails,
  ...more,
  judge: { given: withActivity, ...more.judge },
});
const result = (value: JsonObject): NonNullable<Alterations["activity"]> =>
  put("result", { createWalletResult: value });
const secondAddress = result({
  walletId: LAB_ADDRESS.walletId,
  addresses: [LAB_ADDRESS.address, `0x${"1".repeat(40)}`],
});
const coverage: Attack["judge"] = { policy: { appProofs: { coverage: true } } };

const ASKED: Expected = { organizationId: LAB_ADDRESS.organizationId };
const ofAppProof = (name: string, expected: Expected): Attack => ({
  name: `app proof: ${name}`,
  judge: { expected },
  fails: ["app.request"],
});
const ofActivity = (name: string, expected: Expected): Attack => ({
  name: `activity: ${name}`,
  judge: { given: withActivity, expected },
  fails: ["activity.request"],
});
const waiting = (activity: JsonObject): JsonObject => ({
  ...drop("appProofs")(activity),
  ...{ status: "ACTIVITY_STATUS_CONSENSUS_NEEDED", result: {} },
});
const requests: Attack[] = [
  ofAppProof("of another organization than was asked for", { organizationId: "another" }),
  ofAppProof("of another address than was asked for", { ...ASKED, addresses: ["0x01"] }),
  ofAppProof("of one of two addresses that were asked for", { ...ASKED, addresses: [LAB_ADDRESS.address, "0x01"] }),
  {
    name: "app proof: none, where an address was asked for",
    fails: ["app.request"],
    judge: { given: ({ bootProof }) => ({ bootProofs: [bootProof] }), expected: { ...ASKED, addresses: ["0x01"] } },
  },
  {
    name: "app proof: older than the request",
    judge: { expected: { ...ASKED, requestedAt: new Date(at.getTime() + 60_001) } },
    fails: ["app.time"],
  },
  ofActivity("of another organization than was asked for", { organizationId: "another" }),
  ofActivity("of another id than was asked for", { ...ASKED, id: "another" }),
  ofActivity("of another type than was asked for", { ...ASKED, type: "ACTIVITY_TYPE_OTHER" }),
  ofActivity("of other parameters than were asked", { ...ASKED, parameters: { walletName: "x" } }),
  {
    ...ofActivity("that is not completed, where it was asked for", ASKED),
    forge: lie("not-completed"),
  },
  {
    ...ofActivity("that waits for votes, without result and app proofs", { ...ASKED, addresses: ["0x01"] }),
    forge: { activity: waiting },
  },
  {
    name: "activity: that waits for votes, where nothing was asked for",
    judge: { given: withActivity },
    forge: { activity: waiting },
    fails: ["activity.request"],
  },
  ofActivity("without an address that was asked about", { ...ASKED, addresses: ["0x01"] }),
  {
    name: "activity: a sub-organization's proofs, where another type was asked for",
    fails: ["activity.claims", "activity.request"],
    forge: {
      payloads: [
        {
          type: "APP_PROOF_TYPE_ADDRESS_DERIVATION",
          timestampMs: String(at.getTime()),
          addressDerivationProof: { ...LAB_ADDRESS, organizationId: "sub" },
        },
      ],
      activity: (json) => ({
        ...json,
        type: "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7",
        result: {
          r: { subOrganizationId: "sub", wallet: { walletId: LAB_ADDRESS.walletId, addresses: [LAB_ADDRESS.address] } },
        },
      }),
    },
    judge: { given: withActivity, expected: { ...ASKED, type: "ACTIVITY_TYPE_CREATE_WALLET" } },
  },
];

const STRANGER = `0x${"1".repeat(40)}`;
/** Nobody proves the stranger's address, which the caller's own parameters have as well. */
const repeatedAddresses: Attack[] = (
  [
    ["is a name in the request, where a wallet is made", "CREATE_WALLET", { walletName: STRANGER }],
    ["is a name in the request, where a key is imported", "IMPORT_PRIVATE_KEY", { privateKeyName: STRANGER }],
    ["is at the same place of the request, where a wallet is made", "CREATE_WALLET", { addresses: ["", STRANGER] }],
    ["is at the same place of the request, where keys are made", "CREATE_PRIVATE_KEYS", { addresses: ["", STRANGER] }],
    ["is at the same place of the request, where an import begins", "INIT_IMPORT", { addresses: ["", STRANGER] }],
    ["is a name in the request, where nothing is made", "UPDATE_X", { name: STRANGER }],
    ["is at another place of the request, where nothing is made", "UPDATE_X", { addresses: [STRANGER, ""] }],
    ["is under another name in the request, where nothing is made", "UPDATE_X", { address: STRANGER }],
  ] as const
).map(([name, type, parameters]) =>
  activity(
    `an address without a proof ${name}, where coverage is wanted`,
    (json) => ({
      ...secondAddress(json),
      type: `ACTIVITY_TYPE_${type}`,
      intent: { i: { walletId: LAB_ADDRESS.walletId, ...parameters } as JsonObject },
    }),
    // A result with other addresses than the request names is none of its answers, either.
    ["activity.coverage", ...("addresses" in parameters ? ["activity.request" as const] : [])],
    {
      judge: {
        ...coverage,
        expected: { ...ASKED, parameters: { walletId: LAB_ADDRESS.walletId, ...parameters } },
      },
    },
  ),
);

/** Answered with the forged activity, which creates a wallet. */
function vote(name: string, what: "APPROVE" | "REJECT", fingerprint: string, members: JsonObject = {}): Attack {
  const expected = { ...ASKED, type: `ACTIVITY_TYPE_${what}_ACTIVITY`, parameters: { fingerprint } };
  return { ...ofActivity(`to a vote, ${name}`, expected), forge: { activity: (json) => ({ ...json, ...members }) } };
}

const votes: Attack[] = [
  vote("one of another fingerprint", "APPROVE", "ab".repeat(32), { fingerprint: "cd".repeat(32) }),
  vote("one of another fingerprint, to reject it", "REJECT", "ab".repeat(32), { fingerprint: "cd".repeat(32) }),
  vote("one without a fingerprint", "APPROVE", "ab".repeat(32), { fingerprint: null }),
  vote("one that is not completed", "APPROVE", "ab".repeat(32), {
    fingerprint: "ab".repeat(32),
    status: "ACTIVITY_STATUS_PENDING",
  }),
];

/** A member beside the one that checks read, which decoders take for it that ignore case, _ and -. */
const otherSpellings: Attack[] = (
  [
    ["Addresses", "result.createWalletResult.Addresses", [STRANGER]],
    ["addresses with a long s", "result.createWalletResult.addre\u017fses", [STRANGER]],
    [
      "an Address in a list of accounts",
      "result.createWalletResult.accounts",
      [{ address: STRANGER, Address: "0x02" }],
    ],
    ["wallet_id", "result.createWalletResult.wallet_id", "another-wallet"],
    ["WALLET-ID in the intent", "intent.createWalletIntent.WALLET-ID", "another-wallet"],
    ["the path of an account in another case", "intent.createWalletIntent.accounts.0.Path", "m/9"],
    ["CreateWalletResult", "result.CreateWalletResult", null],
    ["create_wallet_intent", "intent.create_wallet_intent", null],
    ["an Activity in the result", "result.Activity", null],
    ["Status", "Status", "ACTIVITY_STATUS_PENDING"],
    ["organization_id", "organization_id", "another-organization"],
    ["Votes", "Votes", []],
  ] as const
).map(([name, path, value]) =>
  activity(`${name}, another spelling`, put(path, value as JsonValue), ["activity.decode"]),
);

const activities: Attack[] = [
  ...otherSpellings,
  ...["id", "organizationId", "status", "type", "intent", "result", "appProofs"].map((name) =>
    activity(`no ${name}`, drop(name), ["activity.decode"]),
  ),
  activity("appProofs null", put("appProofs", null), ["activity.decode"]),
  activity("no app proof in it", put("appProofs", []), ["activity.decode"]),
  activity("appProofs that are no array", (json) => put("appProofs", (json["appProofs"] as JsonValue[])[0]!)(json), [
    "activity.decode",
  ]),
  activity("boot proofs inside it", put("bootProofs", []), ["activity.decode"]),
  activity("an app proof inside it, beside its list", put("appProof", {}), ["activity.decode"]),
  activity("an attestation inside it", put("attestation", "AA=="), ["activity.decode"]),
  activity("another activity inside it", (json) => ({ activity: json, ...json }), ["activity.decode"]),
  activity("app proofs beside its wrapper", (json) => ({ activity: json, appProofs: [] }), ["activity.decode"]),
  activity(
    "boot proofs in its repetition",
    (json) => ({ ...json, result: { activity: { ...json, bootProofs: [] } } }),
    ["activity.decode"],
  ),
  activity("id as a number", put("id", 1), ["activity.decode"]),
  activity("result as text", put("result", "done"), ["activity.decode"]),
  activity("intent as an array", put("intent", []), ["activity.decode"]),
  ...(
    [
      ["null", null],
      ["an array", []],
      ["an empty object", {}],
      ["an app proof", whole],
      ["JSON text with a member twice", '{"id":"1","id":"2"}'],
      ["a text that is not JSON", "activity"],
    ] as const
  ).map(([name, value]): Attack => ({
    name: `activity: ${name}`,
    fails: ["activity.decode"],
    judge: { given: ({ bootProof }) => ({ bootProofs: [bootProof], activity: value }) },
  })),
  activity("another organization", put("organizationId", "another-organization"), ["activity.claims"]),
  activity("another wallet in the result", result({ walletId: "another-wallet", addresses: [LAB_ADDRESS.address] }), [
    "activity.claims",
  ]),
  activity(
    "another address in the result",
    result({ walletId: LAB_ADDRESS.walletId, addresses: [`0x${"1".repeat(40)}`] }),
    ["activity.claims"],
  ),
  activity(
    "another address in the result, where coverage is wanted",
    result({ walletId: LAB_ADDRESS.walletId, addresses: [`0x${"1".repeat(40)}`] }),
    ["activity.claims", "activity.coverage"],
    { judge: coverage },
  ),
  activity(
    "an address of the same hex digits without 0x",
    result({ walletId: LAB_ADDRESS.walletId, addresses: [LAB_ADDRESS.address.slice(2)] }),
    ["activity.claims"],
  ),
  ...[
    ...["DENY_EXPLICIT", "DENY_IMPLICIT", "REQUIRES_CONSENSUS", "REJECTED", "ERROR", "REQUIRES_AUTHENTICATORS"],
    "TIME_INACTIVE",
  ].map((name) => {
    const payload = policyOutcomePayload(at, LAB_ADDRESS.organizationId, `OUTCOME_${name}`);
    return contradicted(`completed, and the enclave decided OUTCOME_${name}`, [payload]);
  }),
  contradicted("completed, and what the enclave allowed it denied later", [
    outcome,
    policyOutcomePayload(new Date(at.getTime() + 1), LAB_ADDRESS.organizationId, "OUTCOME_REJECTED"),
  ]),
  contradicted("a policy's outcome in another organization", [policyOutcomePayload(at, "another-organization")]),
  contradicted("one good app proof and one of another organization", [
    ...forgePayloads(),
    put("addressDerivationProof.organizationId", "another-organization")(forgePayloads()[0]!),
  ]),
  activity("a second address without a proof, where coverage is wanted", secondAddress, ["activity.coverage"], {
    judge: coverage,
  }),
  ...repeatedAddresses,
  ...named<Attack>({
    "activity: no proof of any address, where coverage is wanted": {
      forge: { payloads: [outcome] },
      judge: { given: withActivity, ...coverage },
      fails: ["activity.coverage"],
    },
    "activity: an address whose proof is not signed, where coverage is wanted": {
      forge: appProof({ signer: otherKey }),
      judge: { given: withActivity, ...coverage },
      fails: ["app.signature", "activity.coverage"],
    },
    "activity: an app proof inside with a bit turned over": {
      forge: appProof({ signature: flip }),
      judge: { given: withActivity },
      fails: ["app.signature"],
    },
  }),
];

/** By what the enclave signed. */
function contradicted(name: string, payloads: JsonObject[]): Attack {
  return { name: `activity: ${name}`, forge: { payloads }, judge: { given: withActivity }, fails: ["activity.claims"] };
}

function forgePayloads(): JsonObject[] {
  return [JSON.parse(whole.proofPayload) as JsonObject];
}

export const APP_PROOF_ATTACKS: readonly Attack[] = [
  ...requests,
  ...votes,
  ...wire.map(([name, json]): Attack => ({
    name: `app proof: ${name}`,
    forge: appProof({ json }),
    fails: ["app.decode"],
  })),
  ...notProofs.map(([name, value]): Attack => ({
    name: `app proof: ${name}`,
    fails: ["app.decode"],
    judge: { given: ({ bootProof }) => ({ bootProofs: [bootProof], appProofs: [value] }) },
  })),
  ...Object.entries(signatures).map(([name, alter]): Attack => ({
    name: `app proof: signature ${name}`,
    forge: appProof(alter),
    fails: ["app.signature"],
  })),
  ...foreignKeys.map(([name, alter, fails]): Attack => ({ name: `app proof: ${name}`, forge: alter, fails })),
  ...named<Attack>({
    "app proof: of an enclave that was only set up": {
      forge: { generation: "setup" },
      judge: { noPolicy: true },
      fails: ["app.key"],
    },
    "app proof: of an enclave that was only set up, where setup is pinned": {
      forge: { generation: "setup" },
      judge: { deployments: (all) => [{ ...all, commitment: "setup" }] },
      fails: ["app.key"],
    },
    "app proof: under the boot proof of another enclave": {
      judge: { given: ({ appProofs }) => ({ bootProofs: [forge({ ephemeralKey: otherKey }).bootProof], appProofs }) },
      fails: ["app.key"],
    },
  }),
  ...payloads.map(([name, what]): Attack => ({
    name: `payload: ${name}`,
    forge: payloadAttack(what),
    fails: ["app.payload"],
  })),
  ...times.map(([name, alter]): Attack => ({
    name: `app proof: made ${name}`,
    forge: alter,
    fails: ["app.time"],
    ...(alter.generation === "legacy" && { judge: { deployments: (all) => [{ ...all, commitment: "legacy" }] } }),
  })),
  ...named<Attack>({
    "app proof: a good one and a bad one": {
      judge: {
        given: ({ bootProof, appProofs }) => ({
          bootProofs: [bootProof],
          appProofs: [...appProofs, put("signature", "00".repeat(64))(appProofs[0]!)],
        }),
      },
      fails: ["app.signature"],
    },
    "app proof: one that only a rejected boot proof could vouch for, beside a good one": {
      judge: {
        given: ({ bootProof, appProofs }) => ({
          bootProofs: [bootProof, forge({ ephemeralKey: otherKey, ...field("nonce", Uint8Array.of(1)) }).bootProof],
          appProofs: [...appProofs, ...forge({ ephemeralKey: otherKey }).appProofs],
        }),
      },
      fails: ["bind.nonce"],
    },
    "app proof: of another authority's enclave with the same key": {
      judge: {
        given: ({ appProofs }) => ({
          bootProofs: [forge({ lab: otherLab, ephemeralKey: lab.ephemeralKey }).bootProof],
          appProofs,
        }),
      },
      fails: ["chain.anchor"],
    },
  }),
  ...activities,
  ...OWN_APPLICATION_ATTACKS,
  ...SIGNATURE_ATTACKS,
];
