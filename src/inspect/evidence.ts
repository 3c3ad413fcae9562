/** Evidence from the service: boot proofs, app proofs, activities. */
import { ACTIVITY_MEMBERS, readActivity } from "../decode/activity.js";
import {
  type AppProofPayload,
  KNOWN_PAYLOAD_TYPES,
  MAX_APP_PROOFS,
  MAX_PAYLOADS_VALUES,
  readAppProof,
  readAppProofPayloadText,
} from "../decode/app-proof.js";
import { type BootProof, DOCUMENT_MEMBER, readBootProof } from "../decode/boot-proof.js";
import { type ProvisioningForm, provisioningForm, provisioningMembers } from "../decode/evidence-members.js";
import { MAX_TIME_MS } from "../decode/decimal-time.js";
import { unwrap } from "../decode/input.js";
import { type JsonValue, type ValueBudget, isJsonObject } from "../decode/json.js";
import type { Reading } from "../errors.js";
import {
  BESIDE,
  type Described,
  type DescribedObject,
  type DescribedParts,
  type Inspected,
  UNKNOWN,
  UNREADABLE,
  faultList,
  hexOf,
  inspectEach,
  inspectedAs,
  membersOf,
  timeOf,
  undescribed,
  unreadMembers,
  wholeMembers,
  within,
} from "./described.js";
import { inspectDocument } from "./documents.js";
import { inspectEnvelope, inspectManifest } from "./manifests.js";

const BOOT_PROOF: DescribedParts = {
  ...wholeMembers("ephemeralPublicKeyHex", DOCUMENT_MEMBER.name, DOCUMENT_MEMBER.alias, "qosManifestB64"),
  ...wholeMembers("qosManifestEnvelopeB64", "qosManifestVersion", "deploymentLabel", "enclaveApp", "owner"),
  createdAt: wholeMembers("seconds", "nanos"),
};
/** The limit of a bundle. */
const MAX_BOOT_PROOFS = 256;

export async function inspectBootProof(json: unknown): Promise<Inspected> {
  const form = provisioningForm(unwrap(json, "bootProof"));
  if (form !== null) return inspectProvisioningDetails(json, form);
  const { value, faults } = readBootProof(json);
  const document = value.attestationDocument && (await inspectDocument(value.attestationDocument));
  const manifest = value.manifest ? await inspectManifest(value.manifest, "") : undefined;
  const envelope = value.manifestEnvelope && (await inspectEnvelope(value.manifestEnvelope, ""));
  const says = {
    ephemeralPublicKey: hexOf(value.ephemeralPublicKey),
    labels: value.labels && { ...value.labels },
    createdAt: createdAt(value.createdAt),
    declaredManifestVersion: value.declaredManifestVersion,
    attestationDocument: document?.says,
    manifest: manifest?.says,
    manifestEnvelope: withoutRepetition(envelope?.says, manifest?.says),
    [UNREADABLE]: unreadOfBootProof(json, value, { document, manifest, envelope }),
    ...rest(json, "bootProof", BOOT_PROOF),
  };
  return {
    ...inspectedAs("boot proof", "JSON", faults, says),
    faults: [
      ...faultList(faults),
      ...within("attestationDocument", document),
      ...within("manifest", manifest),
      ...within("manifestEnvelope", envelope),
    ],
  };
}

async function inspectProvisioningDetails(json: unknown, form: ProvisioningForm): Promise<Inspected> {
  const { value, faults } = readBootProof(json);
  const document = value.attestationDocument && (await inspectDocument(value.attestationDocument));
  const envelope = value.manifestEnvelope && (await inspectEnvelope(value.manifestEnvelope, ""));
  const members = membersOf(unwrap(json, "bootProof"));
  const claims = [form.time?.name, form.deployment].filter((name) => typeof name === "string");
  const says = {
    "(form)": "provisioning details: what a share holder is shown",
    ephemeralPublicKey: hexOf(value.ephemeralPublicKey) ?? undefined,
    ...Object.fromEntries(claims.map((name) => [name, members[name]])),
    attestationDocument: document?.says,
    manifestEnvelope: envelope?.says,
    [UNREADABLE]: unreadMembers(members, {
      [form.document]: (document?.says ?? null) !== null,
      [form.envelope.name]: (envelope?.says ?? null) !== null,
      ...(form.key !== null && { [form.key]: value.ephemeralPublicKey !== undefined }),
    }),
    ...rest(json, "bootProof", wholeMembers(...provisioningMembers(form))),
  };
  return {
    ...inspectedAs("boot proof", "JSON", faults, says),
    faults: [...faultList(faults), ...within("attestationDocument", document), ...within("manifestEnvelope", envelope)],
  };
}

export function inspectBootProofs(list: readonly unknown[]): ReturnType<typeof inspectEach> {
  return inspectEach(list, MAX_BOOT_PROOFS, inspectBootProof);
}

/** Unknown members of a piece of evidence, and members beside it in its wrapper. */
function rest(json: unknown, wrapper: string, told: DescribedParts): DescribedObject {
  const inside = unwrap(json, wrapper);
  return {
    [UNKNOWN]: undescribed(inside, told),
    [BESIDE]: inside === json ? undefined : undescribed(json, { [wrapper]: true }),
  };
}

/** Members whose text is invalid or could not be decoded. */
function unreadOfBootProof(
  json: unknown,
  value: Reading<BootProof>["value"],
  parts: Readonly<Record<"document" | "manifest" | "envelope", Inspected | undefined>>,
): DescribedObject | undefined {
  const isTold = (part: Inspected | undefined): boolean => (part?.says ?? null) !== null;
  const hasLabels = value.labels !== undefined;
  const members = membersOf(unwrap(json, "bootProof"));
  const [own, alias] = [members[DOCUMENT_MEMBER.name] ?? null, members[DOCUMENT_MEMBER.alias]];
  return unreadMembers(members, {
    ephemeralPublicKeyHex: value.ephemeralPublicKey !== undefined,
    [DOCUMENT_MEMBER.name]: isTold(parts.document),
    [DOCUMENT_MEMBER.alias]: isTold(parts.document) && (own === null || own === alias),
    qosManifestB64: isTold(parts.manifest),
    qosManifestEnvelopeB64: isTold(parts.envelope),
    deploymentLabel: hasLabels,
    enclaveApp: hasLabels,
    owner: hasLabels,
    createdAt: value.createdAt !== undefined,
    qosManifestVersion: value.declaredManifestVersion !== undefined,
  });
}

/** Replaces the manifest by its hash if the same manifest is already shown. */
function withoutRepetition(envelope: Described | undefined, manifest: Described | undefined): Described | undefined {
  const { manifest: enclosed, ...approvals } = (envelope ?? {}) as DescribedObject;
  const hash = (description: Described | undefined): Described | undefined =>
    (description as DescribedObject | null | undefined)?.["hash"];
  return enclosed && hash(enclosed) === hash(manifest) ? { manifestHash: hash(manifest), ...approvals } : envelope;
}

function createdAt(time: BootProof["createdAt"] | null | undefined): Described | undefined {
  if (time === undefined || time === null) return time;
  const { seconds, nanos } = time;
  const milliseconds = Number(seconds) * 1000;
  if (milliseconds > MAX_TIME_MS || nanos.length > 9) return `${seconds} seconds and ${nanos} nanoseconds`;
  const text = timeOf(new Date(milliseconds));
  return nanos === "0" ? text : text.replace(/000Z$/, `${nanos.padStart(9, "0")}Z`);
}

const APP_PROOF: DescribedParts = wholeMembers("scheme", "publicKey", "proofPayload", "signature");

/** Accepts an app proof, bare or in its wrapper. */
export function inspectAppProof(json: unknown, budget: ValueBudget = { left: MAX_PAYLOADS_VALUES }): Inspected {
  const proof = unwrap(json, "appProof");
  const { value, faults } = readAppProof(proof);
  if (!isJsonObject(proof)) return inspectedAs("app proof", "JSON", faults, { [UNREADABLE]: proof as Described });
  const payload = value.proofPayload === undefined ? undefined : readAppProofPayloadText(value.proofPayload, budget);
  const { timestampMs, json: payloadJson } = payload?.value ?? {};
  const isUntimed = mayBeUntimed(payload?.value);
  const isText = typeof proof["scheme"] === "string";
  const says = {
    scheme: isText ? (proof["scheme"] as string) : undefined,
    publicKey: hexOf(value.publicKey),
    time: isUntimed ? UNTIMED : timeText(timestampMs),
    payload: (payloadJson ?? value.proofPayload) as Described | undefined,
    signature: hexOf(value.signature),
    [UNREADABLE]: unreadMembers(membersOf(proof), {
      scheme: isText,
      publicKey: value.publicKey !== undefined,
      proofPayload: value.proofPayload !== undefined,
      signature: value.signature !== undefined,
    }),
    ...rest(json, "appProof", APP_PROOF),
  };
  const own = (payload?.faults ?? []).filter(({ path }) => !isUntimed || path !== "timestampMs");
  const payloadFaults = faultList(own).map((fault) => `proofPayload: ${fault}`);
  return { ...inspectedAs("app proof", "JSON", faults, says), faults: [...faultList(faults), ...payloadFaults] };
}

const UNTIMED = "not signed: verification takes it only where the policy names its type in appProofs.untimed";

/** A policy may allow it, and none is here. */
function mayBeUntimed({ type, json }: Reading<AppProofPayload>["value"] = {}): boolean {
  if (type === undefined || json === undefined || KNOWN_PAYLOAD_TYPES.includes(type)) return false;
  return !Object.hasOwn(json, "timestampMs");
}

function timeText(timestampMs: number | null | undefined): string | undefined {
  return typeof timestampMs === "number" ? timeOf(new Date(timestampMs)) : undefined;
}

export function inspectAppProofs(proofs: readonly unknown[]): ReturnType<typeof inspectEach> {
  const budget = { left: MAX_PAYLOADS_VALUES };
  return inspectEach(proofs, MAX_APP_PROOFS, (proof) => inspectAppProof(proof, budget));
}

/** Members unchanged, app proofs inspected. `result.activity` may contradict the rest, so it is shown too. */
export async function inspectActivity(json: JsonValue): Promise<Inspected> {
  const { value, faults } = readActivity(json);
  const inside = unwrap(json, "activity");
  if (!isJsonObject(inside)) return inspectedAs("activity", "JSON", faults, { [UNREADABLE]: json as Described });
  const { says, faults: proofFaults } = await describeActivity(inside);
  const { requestedAt } = value;
  const requested = requestedAt === null || requestedAt === undefined ? undefined : timeOf(new Date(requestedAt));
  return {
    ...inspectedAs("activity", "JSON", faults, {
      "(requested)": requested,
      ...says,
      [BESIDE]: inside === json ? undefined : undescribed(json, { activity: true }),
    }),
    faults: [...faultList(faults), ...proofFaults],
  };
}

async function describeActivity(activity: unknown): Promise<{ says: DescribedObject; faults: readonly string[] }> {
  const members = membersOf(activity);
  const { appProofs, result } = members;
  const proofs = Array.isArray(appProofs) ? await inspectAppProofs(appProofs) : undefined;
  const repeated = await describeRepetition(result);
  const known = Object.fromEntries(ACTIVITY_MEMBERS.map((name) => [name, members[name]]));
  return {
    says: {
      ...known,
      result: repeated?.says ?? result,
      appProofs: proofs?.says ?? appProofs,
      [UNKNOWN]: undescribed(activity, wholeMembers(...ACTIVITY_MEMBERS)),
    },
    faults: [...within("appProofs", proofs), ...within("result.activity", repeated)],
  };
}

/** Inspects the app proofs of an activity repeated in the result. */
async function describeRepetition(
  result: Described | undefined,
): Promise<{ says: DescribedObject; faults: readonly string[] } | undefined> {
  const members = membersOf(result);
  const { activity } = members;
  const { appProofs } = membersOf(activity);
  if (!Array.isArray(appProofs)) return undefined;
  const proofs = await inspectAppProofs(appProofs);
  return {
    says: { ...members, activity: { ...membersOf(activity), appProofs: proofs.says } },
    faults: within("appProofs", proofs),
  };
}
