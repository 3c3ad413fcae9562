/** The complete claims of the report at each link of the chain, as names and values. */
import { runsOf } from "../report/compare.js";
import type { ActivityClaims, AppProofClaims, BootProofClaims, ManifestClaims, Report } from "../report/report.js";
import type { LinkId } from "./links.js";

/** A name and a value, which are not made printable yet. */
export interface Fact {
  readonly name: string;
  readonly value: string;
}

type Members = Readonly<Record<string, string | number | null | undefined>>;

const MEMBERS: Readonly<Record<LinkId, (report: Report, boot: BootProofClaims, index: number) => Members>> = {
  anchor: (_, { hardware }) => ({ "trust anchor": hardware.trustAnchor }),
  certificates: (report) => ({ "checked as of": report.validationTime }),
  document: (_, { hardware }) => {
    const { moduleId, documentTime, publicKey, userData, nonce } = hardware;
    return { module: moduleId, "made at": documentTime, "public key": publicKey, "user data": userData, nonce };
  },
  measurements: (_, { hardware }) => measurements(hardware.pcrs),
  manifest: (_, { image }) => {
    return image.manifest === null ? {} : { ...manifestMembers(image.manifest), "rests on": image.restsOn };
  },
  approvals: (_, { image }) => (image.manifest === null ? {} : approvalMembers(image.manifest)),
  key: (_, { hardware, image }) => ({
    "ephemeral key": hardware.publicKey,
    commitment: image.commitment,
    "manifest in PCR18": image.manifestCommitted ? "committed to" : null,
  }),
  "app-proofs": (report, _, index) => proofMembers(report, index, ({ type, time }) => `${type}, ${signedText(time)}`),
  claims: (report, _, index) => ({
    ...proofMembers(report, index, ({ payload }) => JSON.stringify(payload)),
    ...expectationMembers(report, index),
    ...(report.claims?.activity ? activityMembers(report.claims.activity) : {}),
  }),
  policy: (report, { deployment, open, image }) => ({
    name: report.policy,
    "SHA-256": report.policyDigest,
    deployment,
    "pinned PCRs": image.pinnedPcrs.join(", "),
    "expected PCRs": image.givenPcrs?.join(", "),
    "left open": open.join(", "),
  }),
  other: () => ({}),
};

/** Returns the claims at a link; an empty list if the report has none about that boot proof. */
export function linkFacts(id: LinkId, report: Report, boot: number): readonly Fact[] {
  const claims = report.claims?.bootProofs[boot];
  if (claims === undefined) return [];
  return Object.entries(MEMBERS[id](report, claims, boot)).flatMap(([name, value]) => {
    return value === null || value === undefined || value === "" ? [] : [{ name, value: String(value) }];
  });
}

/** Returns non-zero PCRs in full, and the indexes of the others. */
function measurements(pcrs: Readonly<Record<string, string>>): Members {
  const isZero = (hex: string): boolean => /^0*$/.test(hex);
  const set = Object.entries(pcrs).filter(([, hex]) => !isZero(hex));
  const zeros = runsOf(
    Object.keys(pcrs)
      .filter((index) => isZero(pcrs[index]!))
      .map(Number),
  );
  return {
    ...Object.fromEntries(set.map(([index, hex]) => [`PCR${index}`, hex])),
    "zeros alone": zeros.map((run) => [...new Set(run)].map((index) => `PCR${index}`).join(" … ")).join(", "),
  };
}

function manifestMembers(manifest: ManifestClaims): Members {
  const { pivotArgs, pivotEnv, workloads } = manifest;
  return {
    hash: manifest.hash,
    version: manifest.version,
    namespace: manifest.namespace,
    nonce: manifest.nonce,
    "quorum key": manifest.quorumKey,
    "application binary, SHA-256": manifest.pivotHash,
    arguments: pivotArgs && JSON.stringify(pivotArgs),
    environment: pivotEnv && JSON.stringify(pivotEnv),
    workloads: workloads && JSON.stringify(workloads),
  };
}

function approvalMembers({ approvedBy, members, threshold }: ManifestClaims): Members {
  return {
    approved: `${approvedBy.length} of ${members} members, ${threshold} needed`,
    ...Object.fromEntries(approvedBy.map(({ alias, pubKey }, index) => [`member ${index + 1}`, `${alias}: ${pubKey}`])),
  };
}

function proofMembers({ claims }: Report, boot: number, told: (proof: AppProofClaims) => string): Members {
  const proofs = [...(claims?.appProofs ?? []).entries()].filter(([, { bootProof }]) => bootProof === boot);
  return Object.fromEntries(proofs.map(([index, proof]) => [`app[${index}]`, told(proof)]));
}

function signedText(time: string | null): string {
  return time === null ? "without a time" : `signed at ${time}`;
}

function expectationMembers({ claims }: Report, boot: number): Members {
  const proofs = [...(claims?.appProofs ?? []).entries()].filter(([, { bootProof }]) => bootProof === boot);
  return Object.fromEntries(
    proofs.flatMap(([index, { expectation, answers }]) => [
      ...(expectation !== null ? [[`app[${index}] meets`, `expected.payload[${expectation}]`]] : []),
      ...(answers ? [[`app[${index}] answers the challenge`, `${answers.value}, at ${answers.pointer}`]] : []),
    ]),
  ) as Members;
}

function activityMembers(activity: ActivityClaims): Members {
  return {
    activity: activity.id,
    organization: activity.organizationId,
    type: activity.type,
    requested: activity.asked.join(", "),
    "compared by": activity.question,
    "addresses backed": activity.coveredAddresses.join(", "),
    "addresses without a proof": activity.uncoveredAddresses.join(", "),
    "result without a proof": activity.resultWithoutProof.join(", "),
    "sub-organization": activity.subOrganizationId,
    wallet: activity.walletId,
  };
}
