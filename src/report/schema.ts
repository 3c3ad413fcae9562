/**
 * The JSON Schema of a report, `bootproof-report/1`. Each table is total over what `report.ts` and `checks.ts` declare:
 * the compiler asks for the row of a new member here, and nowhere else.
 */
import { QUESTIONS } from "../appraise/questions.js";
import { CHECK_IDS, type Check, type CheckStatus } from "../checks.js";
import type { JsonObject } from "../decode/json.js";
import { MANIFEST_VERSIONS } from "../decode/manifest/index.js";
import { COMMITMENT_KINDS } from "../verify/commitment.js";
import {
  type ActivityClaims,
  type AppProofClaims,
  type BootProofClaims,
  type Claims,
  type EvidencePiece,
  type HardwareClaims,
  type ImageClaims,
  type ManifestClaims,
  RESTS_ON,
  type Report,
  type Verdict,
} from "./report.js";

type Members<T> = { readonly [K in keyof T]-?: JsonObject };

/** Every member there may be, and no other; all but the optional ones are there. */
function object<T>(members: Members<T>, optional: readonly (keyof T)[] = []): JsonObject {
  const required = Object.keys(members).filter((name) => !optional.includes(name as keyof T));
  return { type: "object", properties: { ...members }, required, additionalProperties: false };
}

function oneOf<T extends string>(values: Readonly<Record<T, true>>): JsonObject {
  return { enum: Object.keys(values) };
}

function orNull(schema: JsonObject): JsonObject {
  return { anyOf: [schema, { type: "null" }] };
}

function listOf(items: JsonObject): JsonObject {
  return { type: "array", items };
}

function byName(value: JsonObject): JsonObject {
  return { type: "object", additionalProperties: value };
}

const text: JsonObject = { type: "string" };
const flag: JsonObject = { type: "boolean" };
const count: JsonObject = { type: "integer", minimum: 0 };
const hex: JsonObject = { type: "string", pattern: "^(?:[0-9a-f]{2})*$" };
const sha256: JsonObject = { type: "string", pattern: "^[0-9a-f]{64}$" };
const time: JsonObject = {
  type: "string",
  pattern: "^[+-]?[0-9]{4,6}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$",
};

const subject: JsonObject = {
  anyOf: [{ enum: ["activity", "policy"] }, { type: "string", pattern: "^(?:boot|app)\\[(?:0|[1-9][0-9]*)\\]$" }],
};

const VERDICTS: Readonly<Record<Verdict, true>> = { verified: true, authentic: true, rejected: true };
const STATUSES: Readonly<Record<CheckStatus, true>> = { pass: true, fail: true, warn: true, skip: true };

const CHECK: Members<Check> = {
  id: { enum: [...CHECK_IDS] },
  subject,
  about: subject,
  name: text,
  status: oneOf(STATUSES),
  detail: text,
  expected: text,
  actual: text,
  advice: text,
  stale: { const: true },
};
const OPTIONAL_OF_CHECK: readonly (keyof Check)[] = ["about", "name", "expected", "actual", "advice", "stale"];

const PIECE: Members<EvidencePiece> = { subject, name: orNull(text), sha256: orNull(sha256), latestOf: text };

const HARDWARE: Members<HardwareClaims> = {
  trustAnchor: text,
  moduleId: text,
  documentTime: time,
  pcrs: byName(hex),
  publicKey: orNull(hex),
  userData: orNull(hex),
  nonce: orNull(hex),
};

const MANIFEST: Members<ManifestClaims> = {
  version: { enum: [...MANIFEST_VERSIONS] },
  hash: sha256,
  namespace: text,
  nonce: count,
  quorumKey: hex,
  pivotHash: orNull(hex),
  pivotArgs: orNull(listOf(text)),
  pivotEnv: orNull(byName(text)),
  workloads: orNull(byName(text)),
  threshold: count,
  members: count,
  approvedBy: listOf(object<ManifestClaims["approvedBy"][number]>({ alias: text, pubKey: hex })),
};

const IMAGE: Members<ImageClaims> = {
  pinned: flag,
  pinnedPcrs: listOf(count),
  givenPcrs: listOf(count),
  debug: flag,
  manifest: orNull(object(MANIFEST)),
  commitment: orNull({ enum: [...COMMITMENT_KINDS] }),
  restsOn: orNull({ enum: [...RESTS_ON] }),
  manifestCommitted: flag,
};

const BOOT_PROOF: Members<BootProofClaims> = {
  hardware: object(HARDWARE),
  image: object(IMAGE, ["givenPcrs"]),
  deployment: orNull(text),
  open: listOf({ enum: [...QUESTIONS] }),
  scope: listOf(text),
};

const APP_PROOF: Members<AppProofClaims> = { bootProof: count, type: text, time, payload: { type: "object" } };

const ACTIVITY: Members<ActivityClaims> = {
  id: text,
  organizationId: text,
  type: text,
  asked: listOf(text),
  coveredAddresses: listOf(text),
  uncoveredAddresses: listOf(text),
  resultWithoutProof: listOf(text),
  subOrganizationId: orNull(text),
  walletId: orNull(text),
  decisions: count,
};

const CLAIMS: Members<Claims> = {
  bootProofs: listOf(object(BOOT_PROOF)),
  appProofs: listOf(object(APP_PROOF)),
  activity: orNull(object(ACTIVITY)),
};

const REPORT: Members<Report> = {
  format: { const: "bootproof-report/1" },
  verdict: oneOf(VERDICTS),
  stale: flag,
  tool: object<Report["tool"]>({ name: text, version: text }),
  policy: orNull(text),
  policyDigest: orNull(sha256),
  verifiedAt: time,
  validationTime: orNull(time),
  notApplied: listOf(text),
  evidence: listOf(object(PIECE, ["latestOf"])),
  checks: listOf(object(CHECK, OPTIONAL_OF_CHECK)),
  claims: orNull(object(CLAIMS)),
};

/** What stands beside the report of a bundle (`formats/reports.ts`). */
interface BesideBundle {
  readonly policyFrom: unknown;
  readonly packed: unknown;
}

interface Packed {
  readonly now: unknown;
  readonly verdict: unknown;
  readonly differences: unknown;
}

interface Difference {
  readonly place: unknown;
  readonly packed: unknown;
  readonly anew: unknown;
}

const BUNDLE = object<BesideBundle>({
  policyFrom: { enum: ["caller", "bundle"] },
  packed: orNull(
    object<Packed>({
      now: time,
      verdict: oneOf(VERDICTS),
      differences: listOf(object<Difference>({ place: text, packed: orNull(text), anew: orNull(text) })),
    }),
  ),
});

/** The JSON Schema of what `renderJson` writes of a report, and `verify --format json`. */
export function reportSchema(): JsonObject {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "A report of bootproof (bootproof-report/1)",
    ...object<Report & { readonly bundle: unknown; readonly refusedFor: unknown }>(
      { ...REPORT, bundle: BUNDLE, refusedFor: { ...listOf(text), minItems: 1 } },
      ["notApplied", "bundle", "refusedFor"],
    ),
    // What was rejected claims nothing, and nothing else goes without claims.
    if: { properties: { verdict: { const: "rejected" } } },
    then: { properties: { claims: { type: "null" } } },
    else: { properties: { claims: { type: "object" } } },
  };
}
