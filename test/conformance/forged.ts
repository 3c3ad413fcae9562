/** Cases of the attack tables: evidence of the lab, which no trust anchor but the lab's own knows. */
import { createHash } from "node:crypto";
import type { CheckId } from "../../src/checks.js";
import { labDeployment, labPolicy } from "../../src/lab/forge.js";
import { ACCEPTED } from "../attacks/accepted.table.js";
import { APP_PROOF_ATTACKS } from "../attacks/app-proof.table.js";
import { BOOT_PROOF_ATTACKS } from "../attacks/boot-proof.table.js";
import { CHAIN_ATTACKS } from "../attacks/chain.table.js";
import { CHAIN_SIGNATURES_ACCEPTED, CHAIN_SIGNATURE_ATTACKS } from "../attacks/chain-signature.table.js";
import { DOCUMENT_ATTACKS } from "../attacks/document.table.js";
import { POLICY_ATTACKS } from "../attacks/policy.table.js";
import { type Accepted, type Alterations, type Attack, type Judgement, NOW, forge, lab } from "../attacks/support.js";
import type { Case, CaseInput, Category } from "./case.js";

const WHOLE: Alterations = {};
/** Alterations that leave the boot proof as it is, so that one serves them all. */
const BESIDE_THE_BOOT_PROOF = ["alterAppProof", "payloads", "activity"];
/** What nobody asks of a document alone. */
const OF_QOS = /^(?:boot|manifest|envelope|app|activity|policy)\.|^bind\.(?:user-data|pcrs|key|commitment)$/;

/** Of some chains one honest signature and one of junk, since the tables would fill the corpus. */
const OF_CHAIN = / (?:TRON|BITCOIN_MAINNET_P2WPKH|COSMOS|XLM)(?:: junk)?$/;
const isOfChain = ({ name }: Pick<Attack, "name">): boolean => OF_CHAIN.test(name);

/** The part of a table that is in the corpus. Which rows does not depend on the others, nor on their order. */
const SHARES: readonly [category: Category, table: readonly Attack[], share: number, bare: boolean][] = [
  ["document", DOCUMENT_ATTACKS, 0.5, true],
  ["path", CHAIN_ATTACKS, 0.7, true],
  ["boot-proof", BOOT_PROOF_ATTACKS, 0.12, false],
  ["app-proof", APP_PROOF_ATTACKS, 1, false],
  ["app-proof", CHAIN_SIGNATURE_ATTACKS.filter(isOfChain), 1, false],
  ["policy", POLICY_ATTACKS, 1, false],
];

/** Too large to be kept many times over. */
const LARGE = /hundred thousand deep|64 KiB|513 environment|512 entries|1025 bytes$/;

/** Forms of one part of a signature, of which the first is kept. */
const FORMS = /(?:: [rsv]|with v) (?:[2-9]|1\d): /;

/** One of each version and encoding. */
const LIVE = / of a live enclave$/;

/** No row that tightens the age of a policy, and no lists. Signed policies have cases of their own. */
const isInCorpus = ({ name, judge }: Pick<Attack, "name" | "judge">): boolean =>
  !LARGE.test(name) &&
  !FORMS.test(name) &&
  [judge?.maxAgeMs, judge?.crls, judge?.signed].every((one) => one === undefined);

export function forgedCases(): Case[] {
  const rejected = SHARES.flatMap(([category, table, share, bare]) =>
    chosen(table, share).map((row) =>
      rejectedCase(row, row.name.startsWith("activity: ") ? "activity" : category, bare),
    ),
  );
  const accepted = [...ACCEPTED, ...CHAIN_SIGNATURES_ACCEPTED.filter(isOfChain)].filter(isInCorpus).map(acceptedCase);
  const kept = accepted.filter(
    ({ name, category }) => category !== "boot-proof" || LIVE.test(name) || chance(name) < 0.5,
  );
  return [...rejected, ...kept, ...WORKLOADS];
}

/** The first row of everything that fails, and of the others those whose name says so. */
function chosen(table: readonly Attack[], share: number): Attack[] {
  const first = new Set([...new Map(table.toReversed().map((row) => [row.fails.join(), row])).values()]);
  return table.filter((row) => isInCorpus(row) && (first.has(row) || chance(row.name) < share));
}

function chance(name: string): number {
  return createHash("sha256").update(name).digest()[0]! / 256;
}

function rejectedCase({ name, forge: alter, judge, fails, more }: Attack, category: Category, bare: boolean): Case {
  const alone = bare && judge?.given === undefined;
  return {
    ...forgedCase(name, category),
    verdict: "rejected",
    failed: fails.filter((id) => !alone || !OF_QOS.test(id)),
    ...(more !== undefined && { more }),
    make: () => (alone ? documentOf(alter, judge) : inputOf(alter, judge)),
  };
}

function acceptedCase({ name, forge: alter, judge }: Accepted): Case {
  const category = categoryOf(name, alter, judge);
  const alone = category === "document" || category === "path";
  return {
    ...forgedCase(`accepted: ${name}`, category),
    verdict: alone || judge?.noPolicy === true ? "authentic" : "verified",
    failed: [],
    make: () => (alone ? documentOf(alter, judge) : inputOf(alter, judge)),
  };
}

/** By what is unusual in it. */
function categoryOf(name: string, alter: Alterations = {}, judge: Judgement = {}): Category {
  const prefix = /^(activity|policy): /.exec(name)?.[1];
  if (prefix !== undefined) return prefix as Category;
  if (alter.alterAppProof !== undefined || alter.payloads !== undefined || judge.expected) return "app-proof";
  const others = Object.keys(alter).filter((member) => member !== "alterDocument");
  const ofQos = judge.deployments !== undefined || judge.policy !== undefined || judge.given !== undefined;
  if (alter.alterDocument === undefined || others.length > 0 || ofQos) return "boot-proof";
  return alter.alterDocument.certificates === undefined ? "document" : "path";
}

function forgedCase(name: string, category: Category): Pick<Case, "name" | "category" | "origin" | "from"> {
  return { name, category, origin: "forged", from: [] };
}

/** v3 is a draft, which has workloads in place of the one application. */
const WORKLOADS: readonly Case[] = [
  workloads("accepted: v3 of a live enclave", "verified", []),
  workloads("accepted: v3, version declared in upper case", "verified", [], {
    bootProof: (value) => ({ ...value, qosManifestVersion: "V3" }),
  }),
  workloads("accepted: v3 without a policy", "authentic", [], {}, () => null),
  workloads("v3 declared as v2", "rejected", ["manifest.decode", "envelope.decode"], {
    bootProof: (value) => ({ ...value, qosManifestVersion: "v2" }),
  }),
  workloads(
    "v3, whose workload has another digest than pinned",
    "rejected",
    ["policy.deployment", "policy.workloads"],
    {},
    (pem) =>
      labPolicy(pem, [
        { ...labDeployment(lab, "v3"), workloads: { ...workloadPins(), another: `sha256:${"ab".repeat(32)}` } },
      ]),
  ),
];

function workloadPins(): Record<string, string> {
  return labDeployment(lab, "v3")["workloads"] as Record<string, string>;
}

function workloads(
  name: string,
  verdict: Case["verdict"],
  failed: readonly CheckId[],
  alter: Alterations = {},
  policy: (pem: string) => CaseInput["policy"] = (pem) => labPolicy(pem, [labDeployment(lab, "v3")]),
): Case {
  const make = (): CaseInput => {
    const { bootProof, appProofs, anchorPem } = forge({ ...alter, version: "v3" });
    return { bootProofs: [bootProof], appProofs, policy: policy(anchorPem), anchorPem, now: NOW };
  };
  return { ...forgedCase(name, "boot-proof"), verdict, failed, make };
}

function evidenceOf(alter: Alterations = WHOLE): ReturnType<typeof forge> {
  const evidence = forge(alter);
  if (!Object.keys(alter).every((name) => BESIDE_THE_BOOT_PROOF.includes(name))) return evidence;
  const { bootProof, anchorPem, document } = forge(WHOLE);
  return { ...evidence, bootProof, anchorPem, document };
}

function inputOf(alter: Alterations | undefined, judge: Judgement = {}): CaseInput {
  const evidence = evidenceOf(alter);
  if (judge.bare === true) return { ...settingOf(evidence.anchorPem, judge), document: evidence.document };
  const given = judge.given?.(evidence) ?? { bootProofs: [evidence.bootProof], appProofs: evidence.appProofs };
  return { ...settingOf(evidence.anchorPem, judge), ...given };
}

function documentOf(alter: Alterations | undefined, judge: Judgement = {}): CaseInput {
  const { document, anchorPem } = evidenceOf(alter);
  return { ...settingOf(anchorPem, { ...judge, noPolicy: true }), document };
}

function settingOf(ownAnchor: string, judge: Judgement): CaseInput {
  const anchorPem = judge.anchorPem ?? ownAnchor;
  const deployments = judge.deployments?.(labDeployment(lab)) ?? [labDeployment(lab)];
  return {
    policy: judge.noPolicy === true ? null : labPolicy(anchorPem, deployments, judge.policy),
    anchorPem,
    now: judge.now ?? NOW,
    at: judge.validAt,
    ephemeralKey: judge.ephemeralKey,
    nonce: judge.nonce,
    measurements: judge.measurements,
    question: judge.expected,
    allowDebug: judge.allowDebug,
  };
}
