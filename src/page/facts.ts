/** The claims of the report at each link of the chain, by the names that they have in the report. */
import { otherMembers } from "../decode/input.js";
import type { AppProofClaims, BootProofClaims, Report } from "../report/report.js";
import type { LinkId } from "./links.js";

type Facts = Readonly<Record<string, unknown>>;

const OF_APPROVALS = ["approvedBy", "members", "threshold"] as const;

const MEMBERS: Readonly<Record<LinkId, (claims: BootProofClaims, report: Report, boot: number) => Facts>> = {
  anchor: ({ hardware }) => ({ trustAnchor: hardware.trustAnchor }),
  certificates: (_, { validationTime }) => ({ validationTime }),
  document: ({ hardware }) => ({ ...otherMembers(hardware, "trustAnchor", "pcrs") }),
  measurements: ({ hardware }) => ({ pcrs: hardware.pcrs }),
  manifest: ({ image: { manifest, restsOn } }) =>
    manifest === null ? {} : { ...otherMembers(manifest, ...OF_APPROVALS), restsOn },
  approvals: ({ image: { manifest } }) =>
    manifest === null ? {} : Object.fromEntries(OF_APPROVALS.map((name) => [name, manifest[name]])),
  key: ({ hardware, image }) => {
    const { commitment, manifestCommitted } = image;
    return { publicKey: hardware.publicKey, commitment, manifestCommitted };
  },
  "app-proofs": (_, report, boot) =>
    proofFacts(report, boot, ({ type, time }) => ({ type, time: time ?? "not signed" })),
  claims: (_, report, boot) => ({
    ...proofFacts(report, boot, ({ payload, expectation, answers }) => ({ payload, expectation, answers })),
    activity: report.claims?.activity,
  }),
  policy: ({ deployment, open, image: { pinnedPcrs, givenPcrs } }, { policy, policyDigest }) => {
    return { policy, policyDigest, deployment, pinnedPcrs, givenPcrs, open };
  },
  other: () => ({}),
};

/** Returns the claims at a link that have a value; an empty object if the report has none about that boot proof. */
export function linkFacts(id: LinkId, report: Report, boot: number): Facts {
  const claims = report.claims?.bootProofs[boot];
  if (claims === undefined) return {};
  const members = Object.entries(MEMBERS[id](claims, report, boot));
  const isEmpty = (value: unknown): boolean => (value ?? null) === null || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(members.filter(([, value]) => !isEmpty(value)));
}

function proofFacts({ claims }: Report, boot: number, factsOf: (proof: AppProofClaims) => Facts): Facts {
  const proofs = [...(claims?.appProofs ?? []).entries()].filter(([, { bootProof }]) => bootProof === boot);
  return Object.fromEntries(proofs.map(([index, proof]) => [`app[${index}]`, factsOf(proof)]));
}
