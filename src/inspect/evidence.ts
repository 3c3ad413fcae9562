/** Evidence from the service: boot proofs, app proofs, activities. */
import { ACTIVITY_MEMBERS, readActivity } from "../decode/activity.js";
import {
  APP_PROOF_MEMBERS,
  type AppProofPayload,
  MAX_PAYLOADS_VALUES,
  readAppProof,
  readAppProofPayloadText,
} from "../decode/app-proof.js";
import { MAX_APP_PROOFS, KNOWN_PAYLOAD_TYPES } from "../decode/app-proof-limits.js";
import { type BootProof, bootProofMembers, readBootProof } from "../decode/boot-proof.js";
import { MAX_TIME_MS } from "../decode/decimal-time.js";
import { type ProvisioningForm, provisioningForm } from "../decode/evidence-members.js";
import { unwrap } from "../decode/input.js";
import { type ValueBudget, isJsonObject } from "../decode/json.js";
import type { Reading } from "../errors.js";
import {
  type Described,
  type DescribedObject,
  type Inspected,
  UNREADABLE,
  besideIn,
  inspectEach,
  membersOf,
  unshown,
  within,
} from "./described.js";
import { inspectDocument, inspectEnvelope, inspectManifest } from "./documents.js";
import { shownObject } from "./shown.js";

/** Maximum number of boot proofs that are inspected, as in a bundle. */
const MAX_BOOT_PROOFS = 256;

export async function inspectBootProof(json: unknown): Promise<Inspected> {
  const read = readBootProof(json);
  const { attestationDocument, manifest, manifestEnvelope } = read.value;
  const parts = {
    attestationDocument: attestationDocument && (await inspectDocument(attestationDocument)),
    manifest: manifest ? await inspectManifest(manifest) : undefined,
    manifestEnvelope: manifestEnvelope && (await inspectEnvelope(manifestEnvelope)),
  };
  const says = await bootProofTree(json, read, {
    attestationDocument: parts.attestationDocument?.says,
    manifest: parts.manifest?.says,
    manifestEnvelope: withoutRepetition(parts.manifestEnvelope?.says, parts.manifest?.says),
  });
  const inParts = Object.entries(parts).flatMap(([name, part]) => within(name, part));
  return { faults: [...read.faults, ...inParts], says };
}

/** Returns a boot proof whose parts are trees already. */
export async function bootProofTree(
  json: unknown,
  { value, faults }: Reading<BootProof>,
  parts: Readonly<Record<"attestationDocument" | "manifest" | "manifestEnvelope", Described | undefined>>,
): Promise<DescribedObject> {
  const inside = unwrap(json, "bootProof");
  const form = provisioningForm(inside);
  const areRead = Object.entries(parts).map(([name, part]) => [name, part ? true : undefined] as const);
  return {
    ...(await shownClaims(value, form, membersOf(inside))),
    ...parts,
    ...unshown(inside, {
      value: { ...value, ...Object.fromEntries(areRead) },
      faults,
      members: bootProofMembers(form),
    }),
    ...besideIn(json, "bootProof"),
  };
}

export function inspectBootProofs(list: readonly unknown[]): Promise<Inspected> {
  return inspectEach(list, MAX_BOOT_PROOFS, inspectBootProof);
}

type ReadBootProof = Reading<BootProof>["value"];

/** Returns what the service claims beside the evidence. Each form of a boot proof has claims of its own. */
async function shownClaims(
  { ephemeralPublicKey, labels, createdAt, declaredManifestVersion }: ReadBootProof,
  form: ProvisioningForm | null,
  file: DescribedObject,
): Promise<DescribedObject> {
  const time = createdAt && timeOf(createdAt);
  if (form === null) return shownObject({ ephemeralPublicKey, labels, createdAt: time, declaredManifestVersion });
  return {
    "(form)": "provisioning details, which share holders see",
    ...(await shownObject({ ephemeralPublicKey: ephemeralPublicKey ?? undefined })),
    ...Object.fromEntries(form.claims.map(({ name }) => [name, file[name]])),
  };
}

/** Replaces the manifest inside the envelope by its hash if the same manifest is already shown. */
function withoutRepetition(envelope: Described | undefined, manifest: Described | undefined): Described | undefined {
  const { manifest: enclosed, ...approvals } = membersOf(envelope);
  const { hash } = membersOf(manifest);
  return enclosed && membersOf(enclosed)["hash"] === hash ? { manifestHash: hash, ...approvals } : envelope;
}

function timeOf({ seconds, nanos }: NonNullable<BootProof["createdAt"]>): string {
  const milliseconds = Number(seconds) * 1000;
  if (milliseconds > MAX_TIME_MS || nanos.length > 9) return `${seconds} seconds and ${nanos} nanoseconds`;
  const text = new Date(milliseconds).toISOString();
  return nanos === "0" ? text : text.replace(/000Z$/, `${nanos.padStart(9, "0")}Z`);
}

/** Inspects an app proof, bare or in its wrapper. */
export async function inspectAppProof(
  json: unknown,
  budget: ValueBudget = { left: MAX_PAYLOADS_VALUES },
): Promise<Inspected> {
  const proof = unwrap(json, "appProof");
  const { value, faults } = readAppProof(proof);
  if (!isJsonObject(proof)) return { faults, says: { [UNREADABLE]: proof as Described } };
  const { scheme, publicKey, proofPayload, signature } = value;
  const payload = proofPayload === undefined ? undefined : readAppProofPayloadText(proofPayload, budget);
  const { timestampMs, json: payloadJson } = payload?.value ?? {};
  const isUntimed = mayBeUntimed(payload?.value);
  const time = typeof timestampMs === "number" ? new Date(timestampMs) : undefined;
  const says = {
    ...(await shownObject({ scheme, publicKey, time: isUntimed ? UNTIMED : time, signature })),
    payload: (payloadJson ?? proofPayload) as Described | undefined,
    ...unshown(proof, { value, faults, members: APP_PROOF_MEMBERS }),
    ...besideIn(json, "appProof"),
  };
  const own = (payload?.faults ?? []).filter(({ path }) => !isUntimed || path !== "timestampMs");
  return { faults: [...faults, ...within("proofPayload", { faults: own })], says };
}

const UNTIMED = "not signed: verification accepts it only if the policy lists its type in appProofs.untimed";

/** Whether a policy could allow the payload without a time. The policy is not known here. */
function mayBeUntimed({ type, json }: Reading<AppProofPayload>["value"] = {}): boolean {
  if (type === undefined || json === undefined || KNOWN_PAYLOAD_TYPES.includes(type)) return false;
  return !Object.hasOwn(json, "timestampMs");
}

export function inspectAppProofs(proofs: readonly unknown[]): Promise<Inspected> {
  const budget = { left: MAX_PAYLOADS_VALUES };
  return inspectEach(proofs, MAX_APP_PROOFS, (proof) => inspectAppProof(proof, budget));
}

/** Inspects an activity. Its members are shown unchanged, except for the app proofs, which are inspected. */
export async function inspectActivity(json: unknown): Promise<Inspected> {
  const { value, faults } = readActivity(json);
  const inside = unwrap(json, "activity");
  if (!isJsonObject(inside)) return { faults, says: { [UNREADABLE]: json as Described } };
  const known = Object.entries(inside).filter(([name]) => ACTIVITY_MEMBERS.includes(name));
  const members = Object.fromEntries(known) as DescribedObject;
  const own = await withAppProofs(members);
  // The result of an activity repeats the activity. The repetition may differ, so its app proofs are inspected, too.
  const { activity, ...result } = membersOf(members["result"]);
  const repetition = await withAppProofs(membersOf(activity));
  const requested = typeof value.requestedAt === "number" ? new Date(value.requestedAt).toISOString() : undefined;
  return {
    faults: [...faults, ...own.faults, ...within("result.activity", repetition)],
    says: {
      "(requested)": requested,
      ...(own.says as DescribedObject),
      ...(repetition.isChanged && { result: { ...result, activity: repetition.says } }),
      ...unshown(inside, { value: members, faults: [], members: ACTIVITY_MEMBERS }),
      ...besideIn(json, "activity"),
    },
  };
}

/** Shows an activity, or its repetition in the result, with its app proofs inspected. */
async function withAppProofs(activity: DescribedObject): Promise<Inspected & { readonly isChanged: boolean }> {
  const { appProofs } = activity;
  if (!Array.isArray(appProofs)) return { faults: [], says: activity, isChanged: false };
  const proofs = await inspectAppProofs(appProofs as readonly unknown[]);
  return { faults: within("appProofs", proofs), says: { ...activity, appProofs: proofs.says }, isChanged: true };
}
