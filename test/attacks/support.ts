/** What the attack tables share: one lab, one way to verify, and short names for alterations of one value. */
import { type KeyObject, generateKeyPairSync } from "node:crypto";
import { parseSigned } from "../../src/appraise/policy.js";
import { toHex, toUtf8 } from "../../src/bytes.js";
import type { CheckId, CheckSubject } from "../../src/checks.js";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import type { PivotManifest } from "../../src/decode/manifest/index.js";
import {
  type Expected,
  NO_POLICY_ANY_ENCLAVE,
  type Policy,
  SignatureCache,
  type VerifyOptions,
  parsePolicy,
  parseTrustAnchor,
  verifyAttestation,
  verifyEvidence,
} from "../../src/index.js";
import type { SignedFacts } from "../../src/appraise/parsed-policy.js";
import { type DocumentAlterations, SoftwareEnclave, addressDerivationPayload } from "../../src/lab/enclave.js";
import {
  type ForgeOptions,
  type ForgedEvidence,
  Forge,
  LAB_ADDRESS,
  forgeEvidence,
  labDeployment,
  labPolicy,
} from "../../src/lab/forge.js";
import { type ApplicationLie, proofOf, readForm, sign } from "../../src/lab/application-proofs.js";
import type { Answering, Behaviour, TargetEnclave } from "../../src/lab/behaviour.js";
import type { FaultName } from "../../src/lab/faults.js";
import type { KeyPair } from "../../src/lab/keys.js";
import { LIES } from "../../src/lab/lies.js";
import type { CertificateSpec } from "../../src/lab/pki.js";
import { generateQosKeyPair } from "../../src/lab/qos.js";
import { sigstoreVerifier } from "../../src/provenance/index.js";
import type { Report } from "../../src/report/report.js";
import { type CborInput, encodeCbor } from "../support/cbor.js";

/** When the documents are made: a whole second, so that validity can end exactly then. */
export const AT = new Date("2026-03-04T05:06:07.000Z");
/** When they are verified: five minutes later, four after the app proofs. */
export const NOW = after(300);
export const lab = new Forge();
/** Another party, with keys and a root of their own under the same names. */
export const otherLab = new Forge();

export function after(seconds: number): Date {
  return new Date(AT.getTime() + 1000 * seconds);
}

/** The last time at which the documents are not dated ahead. */
export const JUST_BEHIND = after(-300);
export const BEHIND = new Date(JUST_BEHIND.getTime() - 1);

const pairOf = (privateKey: KeyObject): KeyPair => ({ pkcs8: privateKey.export({ type: "pkcs8", format: "der" }) });
export const RSA = pairOf(generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey);
export const EXPLICIT_CURVE = pairOf(
  generateKeyPairSync("ec", { namedCurve: "secp384r1", paramEncoding: "explicit" }).privateKey,
);

export type Alterations = Partial<ForgeOptions>;

export interface Given {
  readonly bootProofs: readonly unknown[];
  readonly appProofs?: readonly unknown[];
  readonly activity?: unknown;
  readonly provenance?: readonly unknown[];
}

/**
 * How evidence is verified. By default: boot proof and app proofs, no activity, and a policy that pins all of the lab.
 */
export interface Judgement {
  readonly given?: (evidence: ForgedEvidence) => Given;
  /** Replaces the one deployment, which pins all of the lab. */
  readonly deployments?: (all: JsonObject) => JsonObject[];
  /** Members added to the policy. */
  readonly policy?: JsonObject;
  readonly anchorPem?: string;
  readonly noPolicy?: boolean;
  /** Only the attestation document is verified. */
  readonly bare?: boolean;
  readonly now?: Date;
  readonly validAt?: "document" | "now" | Date;
  readonly ephemeralKey?: Uint8Array;
  readonly nonce?: Uint8Array;
  /** PCRs of the verifier's own image, by index. */
  readonly measurements?: Readonly<Record<number, Uint8Array>>;
  /** The caller's request. */
  readonly expected?: Expected;
  readonly allowDebug?: boolean;
  /** Revocation lists of the caller. */
  readonly crls?: readonly Uint8Array[];
  /** The caller's limit of the age of boot proofs. */
  readonly maxAgeMs?: number;
  /** Times of the signed policy that has this content. */
  readonly signed?: Pick<SignedFacts, "issuedAt" | "expiresAt">;
}

/** One row: what is altered when the evidence is made, and the results that the verifier must give. */
export interface Attack {
  readonly name: string;
  readonly forge?: Alterations;
  readonly judge?: Judgement;
  /** The ids that fail: exactly these, or at least these where `more`. */
  readonly fails: readonly CheckId[];
  readonly more?: boolean;
}

export interface Accepted {
  readonly name: string;
  readonly forge?: Alterations;
  readonly judge?: Judgement;
  /** The ids that warn, beside `chain.anchor`, which warns of every lab root. */
  readonly warns?: readonly CheckId[];
  /** The ids that are skipped. */
  readonly skips?: readonly CheckId[];
}

const LIES_BY_NAME: Readonly<Record<FaultName, Behaviour>> = LIES;

/** What a lie of the lab alters: of a boot, of an app proof, or of an activity. */
export function lie(name: FaultName): Alterations {
  const { forge, appProof, appProofs, activity, application } = LIES_BY_NAME[name];
  const [target, answering] = [{ at: AT, key: lab.ephemeralKey, forge: lab } as TargetEnclave, {} as Answering];
  const alterations: Alterations = {
    ...forge?.(target),
    ...(appProof && { alterAppProof: appProof(target, answering) }),
    ...(appProofs && { alterAppProof: { json: (json) => appProofs([json], answering)[0]! } }),
    ...(activity && { activity: (json) => activity(json, answering) }),
    ...(application && { alterAppProof: { json: (json) => ofApplication(json, application) } }),
  };
  for (const part of partsOf(alterations)) LIES_TOLD.set(part, name);
  return alterations;
}

const LIES_TOLD = new WeakMap<object, FaultName>();
/** The alterations, and those parts of them that rows take alone. */
const partsOf = (all: Alterations): object[] =>
  [all, all.alterAppProof, all.alterAppProof?.json].flatMap((part) => part ?? []);

/** The checks that the one table of lies has for the row, if it is one of them. */
export function checksOfLie({ forge = {} }: Attack): readonly CheckId[] | undefined {
  const name = partsOf(forge)
    .map((part) => LIES_TOLD.get(part))
    .find((one) => one !== undefined);
  return name && LIES_BY_NAME[name].fails;
}

function ofApplication({ proofPayload }: JsonObject, application: ApplicationLie): JsonObject {
  const signed = sign(lab.ephemeralKey, proofPayload as string, application);
  return proofOf(signed, readForm("form", {}), {}, application);
}

/** Rows of a table by their names. */
export function named<Row extends { readonly name: string }>(rows: Readonly<Record<string, Omit<Row, "name">>>): Row[] {
  return Object.entries(rows).map(([name, row]) => ({ name, ...row }) as Row);
}

/** Rows of a table: altered evidence of which one check fails. */
export function failing(
  fails: CheckId,
  prefix: string,
  rows: readonly (readonly [name: string, forge: Alterations])[],
): Attack[] {
  return rows.map(([name, alterations]) => ({ name: `${prefix}${name}`, forge: alterations, fails: [fails] }));
}

const provenanceVerifier = await sigstoreVerifier();

/** Shared by all enclaves here: a new one for each would take as long as the rest of the forging. */
const otherKey = generateQosKeyPair();

export function forge(alterations: Alterations = {}): ForgedEvidence {
  return forgeEvidence({ lab, at: AT, otherKey, ...alterations });
}

export async function judge(evidence: ForgedEvidence, how: Judgement = {}): Promise<Report> {
  return (await judged(evidence, how)).report;
}

export interface Judged {
  readonly report: Report;
  /** By subject of the report; null for what was rejected. */
  readonly verified: ReadonlyMap<CheckSubject, object | null>;
}

/** Failed checks of anything that was returned as verified all the same: there must be none. */
export function handedBack({ report, verified }: Judged): string[] {
  return report.checks
    .filter(({ id, status, subject }) => status === "fail" && !id.startsWith("policy.") && verified.get(subject))
    .map(({ id, subject }) => `${subject} ${id}`);
}

const judgedRows = new WeakMap<object, Promise<Judged>>();
const forged = new WeakMap<object, ForgedEvidence>();
const UNALTERED: Alterations = {};
const SIGNED: readonly string[] = ["payloads", "alterAppProof", "activity"];
const signer = new SoftwareEnclave({
  pki: lab.pki,
  generation: "live",
  measurements: lab.measurements,
  manifestHash: new Uint8Array(32),
  ephemeralKey: lab.ephemeralKey,
});

/** Makes evidence of the same alterations once, and one boot proof for those that only alter what its enclave signs. */
function forgedOnce(alterations: Alterations = UNALTERED): ForgedEvidence {
  const isOfOne = alterations !== UNALTERED && Object.keys(alterations).every((name) => SIGNED.includes(name));
  const evidence = forged.get(alterations) ?? (isOfOne ? signedBySame(alterations) : forge(alterations));
  forged.set(alterations, evidence);
  return evidence;
}

function signedBySame({ payloads, alterAppProof, activity }: Alterations): ForgedEvidence {
  const whole = forgedOnce();
  const signed = payloads ?? [addressDerivationPayload(after(60), LAB_ADDRESS)];
  const appProofs = signed.map((payload) => signer.appProof(payload, alterAppProof));
  const made = { ...whole.activity, appProofs };
  return { ...whole, appProofs, activity: activity?.(made) ?? made };
}

/** A row, verified once per process: several test files examine its report. */
export function judgedRow(row: Pick<Attack, "forge" | "judge">): Promise<Judged> {
  const answer = judgedRows.get(row) ?? judged(forgedOnce(row.forge), row.judge);
  judgedRows.set(row, answer);
  return answer;
}

export async function reportOf(row: Pick<Attack, "forge" | "judge">): Promise<Report> {
  return (await judgedRow(row)).report;
}

/** Rows have most signatures in common, and verify/signature-cache.test.ts compares answers with those of no cache. */
const cache = new SignatureCache();

/** The report, and what was verified of each of its subjects. */
export async function judged(evidence: ForgedEvidence, how: Judgement = {}): Promise<Judged> {
  if (how.bare === true) {
    const { report, attestation } = await verifyAttestation(evidence.document, { cache, ...optionsOf(evidence, how) });
    return { report, verified: new Map([["boot[0]", attestation]]) };
  }
  const given = how.given?.(evidence) ?? { bootProofs: [evidence.bootProof], appProofs: evidence.appProofs };
  const { report, bootProofs, appProofs, activity, provenance } = await verifyEvidence(given, {
    cache,
    ...optionsOf(evidence, how),
  });
  const verified = new Map<CheckSubject, object | null>([["activity", activity]]);
  bootProofs.forEach((bootProof, index) => verified.set(`boot[${index}]`, bootProof));
  appProofs.forEach((appProof, index) => verified.set(`app[${index}]`, appProof));
  // Bundles that meet no demand may be there.
  provenance.forEach((bundle, index) => bundle && verified.set(`provenance[${index}]`, bundle));
  return { report, verified };
}

export function optionsOf(evidence: ForgedEvidence, how: Judgement = {}): VerifyOptions {
  const anchorPem = how.anchorPem ?? evidence.anchorPem;
  const deployments = how.deployments?.(labDeployment(lab)) ?? [labDeployment(lab)];
  const common = {
    now: how.now ?? NOW,
    at: how.validAt ?? "document",
    ...(how.ephemeralKey && { ephemeralKey: how.ephemeralKey }),
    ...(how.nonce && { nonce: how.nonce }),
    ...(how.crls && { crls: how.crls }),
    ...(how.measurements && { measurements: how.measurements }),
    ...(how.expected && { expected: how.expected }),
    ...(how.allowDebug !== undefined && { allowDebug: how.allowDebug }),
    ...(how.maxAgeMs !== undefined && { maxAgeMs: how.maxAgeMs }),
    ...(deployments.some((deployment) => Object.hasOwn(deployment, "provenance")) && { provenanceVerifier }),
  };
  return how.noPolicy === true
    ? { ...common, policy: NO_POLICY_ANY_ENCLAVE, trustAnchors: [parseTrustAnchor("lab", anchorPem)] }
    : { ...common, policy: policyOf(labPolicy(anchorPem, deployments, how.policy), how) };
}

const parsedPolicies = new Map<string, Policy>();

function parsedOnce(text: string): Policy {
  const policy = parsedPolicies.get(text) ?? parsePolicy(text);
  parsedPolicies.set(text, policy);
  return policy;
}

function policyOf(file: object, { signed }: Judgement): Policy {
  if (signed === undefined) return parsedOnce(JSON.stringify(file));
  const facts = { name: "prod/signer", version: 3, sha256: "ab".repeat(32), signedBy: ["cd".repeat(32)] };
  const signers = { threshold: 1, keys: ["PEM"] };
  const payload = { signedPolicy: "bootproof-signed-policy/1", previous: "ef".repeat(32), signers, policy: file };
  const { name, version } = facts;
  const bytes = toUtf8(JSON.stringify({ ...payload, name, version, ...signed }));
  return parseSigned(bytes, file, { ...facts, remembered: true, envelope: "{}", ...signed });
}

export function idsOf(report: Report, status: string): CheckId[] {
  return [...new Set(report.checks.filter((check) => check.status === status).map((check) => check.id))].sort();
}

/** The activity alone, which carries its app proofs. */
export const withActivity = (evidence: ForgedEvidence): Given => ({
  bootProofs: [evidence.bootProof],
  activity: evidence.activity,
});

// Alterations of JSON, by path such as `pivot.args` or `members.0.alias`.

export function put(path: string, value: JsonValue): (json: JsonObject) => JsonObject {
  return (json) => changed(json, path.split("."), (holder, name) => (holder[name] = value));
}

export function drop(path: string): (json: JsonObject) => JsonObject {
  return (json) => changed(json, path.split("."), (holder, name) => Reflect.deleteProperty(holder, name));
}

function changed(json: JsonObject, path: string[], change: (holder: JsonObject, name: string) => void): JsonObject {
  const copy = structuredClone(json);
  let holder = copy;
  for (const name of path.slice(0, -1)) holder = holder[name] as JsonObject;
  change(holder, path[path.length - 1]!);
  return copy;
}

// Alterations of bytes.

/** One bit flipped, of the byte at the index (from the end where negative). */
export function flip(bytes: Uint8Array, index = -1): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[index < 0 ? copy.length + index : index]! ^= 1;
  return copy;
}

/** The first occurrence of `wanted` overwritten. */
export function overwrite(bytes: Uint8Array, wanted: Uint8Array, other: Uint8Array): Uint8Array {
  const at = Buffer.from(bytes).indexOf(wanted);
  if (at < 0 || wanted.length !== other.length) throw new RangeError("the bytes do not stand there");
  return Uint8Array.from([...bytes.subarray(0, at), ...other, ...bytes.subarray(at + other.length)]);
}

// Alterations of the document.

/** Alterations whose items are encoded here, since the lab's encoder writes no other form than the shortest. */
export interface DocumentEdits extends Omit<DocumentAlterations, "fields" | "items"> {
  readonly fields?: (fields: Map<CborInput, CborInput>) => CborInput;
  readonly unprotectedHeader?: CborInput;
  readonly items?: (items: readonly CborInput[]) => CborInput;
}

export function document({ fields, unprotectedHeader, items, ...rest }: DocumentEdits): Alterations {
  const itemsOf = ([header, unprotected, ...more]: CborInput[]): CborInput => {
    const all = [header!, unprotectedHeader ?? unprotected!, ...more];
    return items?.(all) ?? all;
  };
  const encoded: DocumentAlterations = {
    ...(fields && { fields: (map) => encodeCbor(fields(map as Map<CborInput, CborInput>)) }),
    ...((items ?? unprotectedHeader) !== undefined && { items: (all) => encodeCbor(itemsOf(all as CborInput[])) }),
  };
  return { alterDocument: { ...rest, ...encoded } };
}

/** A field of the document set; left out where the value is undefined. */
export function field(name: string, value: CborInput | undefined): Alterations {
  return document({
    fields: (fields) => (value === undefined ? (fields.delete(name), fields) : fields.set(name, value)),
  });
}

/** One PCR set. */
export function pcr(index: number, value: Uint8Array): Alterations {
  return pcrs((map) => map.set(index, value));
}

export function pcrs(change: (pcrs: Map<number, Uint8Array>) => void): Alterations {
  return document({ pcrs: (map) => (change(map), map) });
}

/** Something changed in one certificate of the path. */
export function certificate(place: number, change: (spec: CertificateSpec) => Partial<CertificateSpec>): Alterations {
  return document({
    certificates: (specs) => specs.map((spec, index) => (index === place ? { ...spec, ...change(spec) } : spec)),
  });
}

// Alterations of the manifest, before it is hashed.

export function manifest(change: (manifest: PivotManifest) => Partial<PivotManifest>): Alterations {
  return { alterManifest: { manifest: (value) => ({ ...value, ...change(value) }) } };
}

type Part = "pivot" | "enclave" | "namespace" | "manifestSet" | "shareSet";

/** Members of one part of it. */
export function inManifest<P extends Part>(part: P, members: Partial<PivotManifest[P]>): Alterations {
  return manifest((all) => ({ [part]: { ...all[part], ...members } }) as Partial<PivotManifest>);
}

export function hex(bytes: Uint8Array): string {
  return toHex(bytes);
}

// Alterations of app proofs.

export function appProof(alterAppProof: NonNullable<Alterations["alterAppProof"]>): Alterations {
  return { alterAppProof };
}
