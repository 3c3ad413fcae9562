/**
 * The JSON Schema of a report, `bootproof-report/1`. Each table must have all members that report/report.ts and
 * checks.ts declare, so the compiler fails here if a member is added, becomes optional or changes its type.
 */
import type { BundleFacts, ShownPolicy } from "../bundle/text.js";
import { QUESTIONS } from "../appraise/questions.js";
import { CHECK_IDS, type Check, type CheckStatus, type CheckSubject } from "../checks.js";
import { schemaOf } from "../decode/json-schema.js";
import type { JsonObject } from "../decode/json.js";
import { MANIFEST_VERSIONS } from "../decode/manifest/index.js";
import {
  type Shape,
  anyObject,
  count,
  flag,
  instant,
  keyOf,
  list,
  matching,
  nullable,
  objectOf,
  oneOf,
  optional,
  record,
  text,
} from "../decode/shapes.js";
import { COMMITMENT_KINDS } from "../verify/commitment.js";
import {
  type BuildSignerClaims,
  type Claims,
  RESTS_ON,
  type Report,
  type SignatureClaims,
  type SignedPolicyClaims,
  type Verdict,
} from "../report/report.js";

type Boot = Claims["bootProofs"][number];
type Manifest = NonNullable<Boot["image"]["manifest"]>;
type Proof = Claims["appProofs"][number];
type Activity = NonNullable<Claims["activity"]>;
type Build = NonNullable<Claims["provenance"]>[number];
type Packed = NonNullable<BundleFacts["packed"]>;

const hex = matching(/^(?:[0-9a-f]{2})*$/, "hex");
const sha256 = matching(/^[0-9a-f]{64}$/, "64 hex digits");
const subject = matching(
  /^(?:activity|policy|(?:boot|app|provenance)\[(?:0|[1-9][0-9]*)\])$/,
  "a subject",
) as Shape<CheckSubject>;

const verdict = keyOf<Verdict>({ verified: true, authentic: true, rejected: true });

const MANIFEST = objectOf<Manifest>({
  version: oneOf(...MANIFEST_VERSIONS),
  hash: sha256,
  namespace: text,
  nonce: count,
  quorumKey: hex,
  pivotHash: nullable(hex),
  pivotArgs: nullable(list(text)),
  pivotEnv: nullable(record(text)),
  workloads: nullable(record(text)),
  threshold: count,
  members: count,
  approvedBy: list(objectOf<Manifest["approvedBy"][number]>({ alias: text, pubKey: hex })),
});

const BOOT_PROOF = objectOf<Boot>({
  form: optional(oneOf("provisioning")),
  hardware: objectOf<Boot["hardware"]>({
    trustAnchor: text,
    moduleId: text,
    documentTime: instant,
    pcrs: record(hex),
    publicKey: nullable(hex),
    userData: nullable(hex),
    nonce: nullable(hex),
  }),
  image: objectOf<Boot["image"]>({
    pinned: flag,
    pinnedPcrs: list(count),
    givenPcrs: optional(list(count)),
    debug: flag,
    manifest: nullable(MANIFEST),
    commitment: nullable(oneOf(...COMMITMENT_KINDS)),
    restsOn: nullable(oneOf(...RESTS_ON)),
    manifestCommitted: flag,
  }),
  deployment: nullable(text),
  open: list(oneOf(...QUESTIONS)),
  scope: list(text),
});

const ACTIVITY = objectOf<Activity>({
  id: text,
  organizationId: text,
  type: text,
  asked: list(text),
  question: nullable(keyOf<NonNullable<Activity["question"]>>({ request: true, id: true, fingerprint: true })),
  coveredAddresses: list(text),
  uncoveredAddresses: list(text),
  resultWithoutProof: list(text),
  subOrganizationId: nullable(text),
  walletId: nullable(text),
  signatures: optional(
    list(
      objectOf<SignatureClaims>({
        index: count,
        signWith: text,
        publicKey: nullable(text),
        open: nullable(text),
      }),
    ),
  ),
  decisions: count,
});

const PROVENANCE = objectOf<Build>({
  bundle: count,
  meets: list(
    objectOf<Build["meets"][number]>({ bootProof: count, deployment: text, workload: nullable(text), digest: sha256 }),
    1,
  ),
  predicateType: text,
  signer: objectOf<BuildSignerClaims>({
    issuer: nullable(text),
    repository: nullable(text),
    repositoryId: nullable(text),
    workflow: nullable(text),
    ref: nullable(text),
    commit: nullable(text),
    signer: nullable(text),
    runner: nullable(text),
    trigger: nullable(text),
    identity: text,
  }),
  release: optional(objectOf<NonNullable<Build["release"]>>({ repository: text, repositoryId: text, tag: text })),
  signedTimes: list(instant, 1),
  trustedRoot: objectOf<Build["trustedRoot"]>({ name: text, sha256 }),
  demanded: objectOf<Build["demanded"]>({ inclusions: count, certificateTimestamps: count, signedTimes: count }),
});

const CLAIMS = objectOf<Claims>({
  bootProofs: list(BOOT_PROOF),
  appProofs: list(
    objectOf<Proof>({
      bootProof: count,
      type: text,
      time: nullable(instant),
      payload: anyObject,
      expectation: nullable(count),
      answers: nullable(objectOf<NonNullable<Proof["answers"]>>({ pointer: text, value: text })),
    }),
  ),
  activity: nullable(ACTIVITY),
  signedBytes: optional(
    objectOf<NonNullable<Claims["signedBytes"]>>({ bootProof: count, length: count, sha256, expected: flag }),
  ),
  signUp: optional(
    objectOf<NonNullable<Claims["signUp"]>>({ organizationId: text, walletId: nullable(text), addresses: list(text) }),
  ),
  provenance: optional(list(PROVENANCE, 1)),
});

interface WrittenReport extends Report {
  /** What a report from a bundle has (`reports.ts`). */
  readonly bundle?: BundleFacts;
}

/** Shape of a report as JSON, with the members that `verify --format json` may add. */
const WRITTEN = objectOf<WrittenReport>({
  format: oneOf("bootproof-report/1"),
  verdict,
  stale: flag,
  tool: objectOf<Report["tool"]>({ name: text, version: text }),
  policy: nullable(text),
  policyDigest: nullable(sha256),
  signedPolicy: optional(
    objectOf<SignedPolicyClaims>({
      name: text,
      version: count,
      sha256,
      expiresAt: text,
      signedBy: list(sha256, 1),
      remembered: flag,
    }),
  ),
  verifiedAt: instant,
  validationTime: nullable(instant),
  notApplied: optional(list(text)),
  maxAge: optional(objectOf<NonNullable<Report["maxAge"]>>({ milliseconds: count, from: oneOf("policy", "caller") })),
  refusedFor: optional(list(text, 1)),
  evidence: list(
    objectOf<Report["evidence"][number]>({
      subject,
      name: nullable(text),
      sha256: nullable(sha256),
      latestOf: optional(text),
    }),
  ),
  checks: list(
    objectOf<Check>({
      id: oneOf(...CHECK_IDS),
      subject,
      about: optional(subject),
      name: optional(text),
      status: keyOf<CheckStatus>({ pass: true, fail: true, warn: true, skip: true }),
      detail: text,
      expected: optional(text),
      actual: optional(text),
      advice: optional(text),
      stale: optional(oneOf(true)),
    }),
  ),
  claims: nullable(CLAIMS),
  bundle: optional(
    objectOf<BundleFacts>({
      policyFrom: oneOf("caller", "bundle"),
      packed: nullable(
        objectOf<Packed>({
          now: instant,
          verdict,
          differences: list(
            objectOf<Packed["differences"][number]>({ place: text, packed: nullable(text), anew: nullable(text) }),
          ),
        }),
      ),
      otherPolicy: optional(objectOf<ShownPolicy>({ name: text, version: count, sha256 })),
    }),
  ),
});

/** Returns the JSON Schema of reports that `renderJson` and `verify --format json` write. */
export function reportSchema(): JsonObject {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "A report of bootproof (bootproof-report/1)",
    ...schemaOf(WRITTEN),
    // A rejected report has no claims, and every other report has some.
    if: { properties: { verdict: { const: "rejected" } } },
    then: { properties: { claims: { type: "null" } } },
    else: { properties: { claims: { type: "object" } } },
  };
}
