/** Reports made by hand, for rendering: nothing in them was verified. */
import type { Check } from "../../src/checks.js";
import type {
  ActivityClaims,
  AppProofClaims,
  BootProofClaims,
  HardwareClaims,
  ImageClaims,
  Report,
} from "../../src/report/report.js";

const HEX48 = "f67076a8f9796b90d7f0eb148ec6926f66fe04c80861151916961f7dec715b3c8a36e5908e9551c20048719da134b207";

export const HARDWARE: HardwareClaims = {
  trustAnchor: "aws-nitro-root-g1",
  moduleId: "i-0123456789abcdef0-enc0123456789abcdef",
  documentTime: "2026-03-04T05:06:07.000Z",
  pcrs: { "0": HEX48, "1": HEX48, "2": HEX48, "3": HEX48 },
  publicKey: `04${"ab".repeat(129)}`,
  userData: "cd".repeat(32),
  nonce: null,
};

export const IMAGE: ImageClaims = {
  pinned: true,
  pinnedPcrs: [0, 1, 2, 3],
  debug: false,
  manifest: {
    version: "v2",
    hash: "cd".repeat(32),
    namespace: "prod/signer",
    nonce: 7,
    quorumKey: `04${"ef".repeat(129)}`,
    pivotHash: "12".repeat(32),
    pivotArgs: ["--port", "3000"],
    pivotEnv: {},
    workloads: null,
    threshold: 2,
    members: 3,
    approvedBy: [
      { alias: "alice", pubKey: `04${"aa".repeat(129)}` },
      { alias: "bob", pubKey: `04${"bb".repeat(129)}` },
    ],
  },
  commitment: "live",
  restsOn: "commitment",
  manifestCommitted: false,
};

export const BOOT: BootProofClaims = { hardware: HARDWARE, image: IMAGE, deployment: "r2026.3.1", open: [], scope: [] };

export const ACTIVITY: ActivityClaims = {
  id: "a1",
  organizationId: "org",
  type: "ACTIVITY_TYPE_CREATE_WALLET",
  asked: ["organizationId", "type", "parameters", "requestedAt"],
  question: "request",
  coveredAddresses: ["0x1"],
  uncoveredAddresses: [],
  resultWithoutProof: [],
  subOrganizationId: null,
  walletId: null,
  decisions: 0,
};

export const PASSED: readonly Check[] = [
  { id: "chain.anchor", subject: "boot[0]", status: "pass", detail: "starts at aws-nitro-root-g1" },
  { id: "policy.manifest-set", subject: "policy", status: "pass", detail: "2 of 3 members, as pinned" },
  { id: "policy.age", subject: "policy", status: "pass", detail: "made at 2026-03-04T05:06:07.000Z" },
];

/** The members that every report has, in the order of the contract. */
export const REPORT_MEMBERS = [
  "format",
  "verdict",
  "stale",
  "tool",
  "policy",
  "policyDigest",
  "verifiedAt",
  "validationTime",
  "evidence",
  "checks",
  "claims",
];

export function report(rest: Partial<Report>): Report {
  return {
    format: "bootproof-report/1",
    verdict: "verified",
    stale: false,
    tool: { name: "bootproof", version: "1.2.3" },
    policy: "signer, production",
    policyDigest: "9d".repeat(32),
    verifiedAt: "2026-03-05T06:07:08.000Z",
    validationTime: "2026-03-04T05:06:07.000Z",
    evidence: [{ subject: "boot[0]", name: null, sha256: null }],
    checks: PASSED,
    claims: { bootProofs: [BOOT], appProofs: [], activity: null },
    ...rest,
  };
}

export const CHALLENGE = { pointer: "/challenge", value: "q7Yt3mVnB2xKc9PzLwRs4A" };

/** Of a type of an application's own, without a time. */
export const UNTIMED: AppProofClaims = {
  bootProof: 0,
  type: "QUOTE",
  time: null,
  payload: { type: "QUOTE", price: 1.5 },
  expectation: 0,
  answers: null,
};

/** Parts of one boot proof's claims. */
interface Altered {
  readonly form?: "provisioning";
  readonly hardware?: Partial<HardwareClaims>;
  readonly image?: Partial<ImageClaims>;
  readonly deployment?: string | null;
  readonly open?: BootProofClaims["open"];
  readonly scope?: readonly string[];
}

export function bootOf({ hardware, image, ...rest }: Altered): BootProofClaims {
  return { ...BOOT, ...rest, hardware: { ...HARDWARE, ...hardware }, image: { ...IMAGE, ...image } };
}

/** As no policy leaves it: nothing pins the image. */
export const UNPINNED: Altered = { image: { pinned: false, pinnedPcrs: [] }, deployment: null };

/** With its one boot proof altered. */
export function reportOf(boot: Altered, rest: Partial<Report> = {}): Report {
  return report({ claims: { bootProofs: [bootOf(boot)], appProofs: [], activity: null }, ...rest });
}

/** With an activity, altered. */
export function reportWith(activity: Partial<ActivityClaims>, rest: Partial<Report> = {}): Report {
  return report({ claims: { bootProofs: [BOOT], appProofs: [], activity: { ...ACTIVITY, ...activity } }, ...rest });
}
