/**
 * The table of pins (appraise/README.md, "Pins"). Each has its shape in the file, its check and its comparison. Rows
 * are in the order of their checks. `pin-writers.ts` writes pins.
 */
import { toHex } from "../bytes.js";
import { CHECK_IDS, type Comparison, type PolicyCheckId } from "../checks.js";
import { MAX_DOCUMENT_FIELD } from "../decode/attestation-document.js";
import { PCR_COUNT, PCR_LENGTH, QOS_PUBLIC_KEY_LENGTH, SHA256_LENGTH } from "../decode/lengths.js";
import { DIGEST_PREFIX } from "../decode/manifest/image-digest.js";
import type { Manifest, MemberSet } from "../decode/manifest/index.js";
import { WORKLOADS_MAX, WORKLOAD_NAME } from "../decode/manifest/model.js";
import {
  type MembersOf,
  type Shape,
  hex,
  nonEmptyText,
  oneOf as oneOfTexts,
  optional,
  refined,
  text,
  wholeNumber,
} from "../decode/shapes.js";
import { listed } from "../errors.js";
import type { VerifiedAttestation } from "../verify/attestation.js";
import type { VerifiedBootProof } from "../verify/boot-proof.js";
import { COMMITMENT_KINDS, type CommitmentKind } from "../verify/commitment.js";
import type { ProvenanceDemand } from "../verify/provenance-demand.js";
import { adviceOnPcrs } from "../verify/pcr-advice.js";
import { type ProvenanceFile, provenanceShape } from "./provenance.js";
import { arrayOf, fileObject, fileRecord, oneOrMore } from "./shapes.js";

/** Kinds of deployment: `qos` for boot proofs of QuorumOS, `nitro` for bare attestation documents of any enclave. */
export const DEPLOYMENT_KINDS = ["qos", "nitro"] as const;
export type DeploymentKind = (typeof DEPLOYMENT_KINDS)[number];

type OneOrMore<T> = T | readonly T[];

/** PCR values in hex, by index. */
export type PcrsFile = Readonly<Record<string, OneOrMore<string>>>;

export interface SetFile {
  readonly threshold: number;
  /** QOS public keys of 130 bytes in hex. */
  readonly members: readonly string[];
}

/** The accepted values of one PCR, in lower-case hex of 48 bytes each. */
export interface PcrPin {
  readonly index: number;
  readonly accepted: readonly string[];
}

/** A set whose keys are in lower-case hex, sorted, without duplicates. */
export interface SetPin {
  readonly threshold: number;
  readonly members: readonly string[];
}

interface LabelsPin {
  readonly enclaveApp?: string;
  readonly owner?: string;
  readonly deploymentLabel?: string;
}

/** Type of each pin in the file and as read, which is in lower-case hex. One value of a list must match. */
export interface PinTypes {
  /** Images, one of which must match completely. */
  pcrs: { file: OneOrMore<PcrsFile>; pin: readonly (readonly PcrPin[])[] };
  /** Manifest hashes of 32 bytes. */
  manifestHash: { file: OneOrMore<string>; pin: readonly string[] };
  /** SHA-256 of the application binary. */
  pivotHash: { file: OneOrMore<string>; pin: readonly string[] };
  /** Image digest by the workload's name. It is `sha256:<hex>` in the file, and only the hex as read. */
  workloads: { file: Readonly<Record<string, OneOrMore<string>>>; pin: Readonly<Record<string, readonly string[]>> };
  pivotArgs: { file: readonly string[]; pin: readonly string[] };
  pivotEnv: { file: Readonly<Record<string, string>>; pin: Readonly<Record<string, string>> };
  namespace: { file: OneOrMore<string>; pin: readonly string[] };
  minNonce: { file: number; pin: number };
  /** Quorum keys of 130 bytes. */
  quorumKey: { file: OneOrMore<string>; pin: readonly string[] };
  manifestSet: { file: SetFile; pin: SetPin };
  shareSet: { file: SetFile; pin: SetPin };
  userData: { file: string; pin: string };
  publicKey: { file: string; pin: string };
  commitment: { file: CommitmentKind; pin: CommitmentKind };
  labels: { file: LabelsPin; pin: LabelsPin };
  provenance: { file: readonly ProvenanceFile[]; pin: readonly ProvenanceDemand[] };
}

export type PinName = keyof PinTypes;
export type Pins = { readonly [K in PinName]?: PinTypes[K]["pin"] };
export type PinsFile = { readonly [K in PinName]?: PinTypes[K]["file"] };

export interface DocumentFacts {
  readonly pcrs: ReadonlyMap<number, string>;
  readonly userData: string | null;
  readonly publicKey: string | null;
  /** Facts of the boot proof, or null for a bare document. */
  readonly bootProof: BootProofFacts | null;
}

/** A verified boot proof in the format of pins, which is lower-case hex. */
export interface BootProofFacts {
  readonly manifestHash: string;
  /** The pivot, or null for a manifest of workloads. */
  readonly pivot: {
    readonly hash: string;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  } | null;
  /** Digests by name, or null for a manifest of one pivot. */
  readonly workloads: Readonly<Record<string, string>> | null;
  readonly namespace: string;
  readonly nonce: number;
  readonly quorumKey: string;
  readonly manifestSet: SetPin;
  readonly shareSet: SetPin;
  readonly commitment: CommitmentKind;
  /** Labels that the service states. They are not verified. */
  readonly labels: Readonly<Record<string, string | null | undefined>>;
}

/** Cache of facts. Verified values never change. */
const known = new WeakMap<object, DocumentFacts>();

export function factsOf(evidence: VerifiedBootProof | VerifiedAttestation): DocumentFacts {
  const facts = known.get(evidence) ?? spelledFacts(evidence);
  known.set(evidence, facts);
  return facts;
}

function spelledFacts(evidence: VerifiedBootProof | VerifiedAttestation): DocumentFacts {
  const bootProof = "attestation" in evidence ? evidence : null;
  const { document } = "attestation" in evidence ? evidence.attestation : evidence;
  return {
    pcrs: new Map([...document.pcrs].map(([index, value]) => [index, toHex(value)])),
    userData: document.userData && toHex(document.userData),
    publicKey: document.publicKey && toHex(document.publicKey),
    bootProof: bootProof && {
      ...factsIn(bootProof.manifest, bootProof.manifestHash),
      commitment: bootProof.commitment,
      labels: { ...bootProof.unverifiedLabels },
    },
  };
}

/** Returns the facts of a boot proof of this manifest. It has only the PCRs that the manifest names. */
export function manifestFacts(manifest: Manifest, manifestHash: Uint8Array, commitment: CommitmentKind): DocumentFacts {
  const { pcr0, pcr1, pcr2, pcr3 } = manifest.enclave;
  return {
    pcrs: new Map([pcr0, pcr1, pcr2, pcr3].map((value, index) => [index, toHex(value)])),
    userData: null,
    publicKey: null,
    bootProof: { ...factsIn(manifest, manifestHash), commitment, labels: {} },
  };
}

function factsIn(manifest: Manifest, manifestHash: Uint8Array): Omit<BootProofFacts, "commitment" | "labels"> {
  return {
    manifestHash: toHex(manifestHash),
    ...applicationFacts(manifest),
    namespace: manifest.namespace.name,
    nonce: manifest.namespace.nonce,
    quorumKey: toHex(manifest.namespace.quorumKey),
    manifestSet: setFacts(manifest.manifestSet),
    shareSet: setFacts(manifest.shareSet),
  };
}

function applicationFacts({ pivot, workloads }: Manifest): Pick<BootProofFacts, "pivot" | "workloads"> {
  if (pivot === undefined) {
    return { pivot: null, workloads: byName(workloads.map(({ name, imageDigest }) => [name, toHex(imageDigest)])) };
  }
  return { pivot: { hash: toHex(pivot.hash), args: pivot.args, env: byName([...(pivot.env ?? [])]) }, workloads: null };
}

function setFacts({ threshold, members }: MemberSet): SetPin {
  return { threshold, members: members.map(({ pubKey }) => toHex(pubKey)).sort() };
}

/** Makes an object without a prototype, so that `__proto__` is an ordinary name. */
function byName<T>(entries: readonly (readonly [string, T])[]): Record<string, T> {
  return Object.assign(Object.create(null) as Record<string, T>, Object.fromEntries(entries));
}

export interface Explanation {
  readonly detail: string;
  /** Compared values. A match has only the actual one. */
  readonly compared?: Partial<Comparison>;
  /** Advice that replaces the check's usual one. */
  readonly advice?: string;
}

/** The result of a comparison. Its text is made only for the deployment in the report. */
export interface PinAnswer {
  readonly met: boolean;
  readonly explain: () => Explanation;
}

interface PinRow<K extends PinName> {
  /** Its check. Null means that it has checks of its own and is not compared with the document. */
  readonly check: PolicyCheckId | null;
  readonly kinds: readonly DeploymentKind[];
  readonly shape: Shape<PinTypes[K]["pin"]>;
  readonly unnamed?: PinTypes[K]["pin"];
  readonly needs?: PinName;
  /** Pins that no evidence can meet beside this one. */
  readonly excludes?: readonly PinName[];
  /** Compares the pin. Returns null if there is nothing to compare. */
  readonly compare: (pin: PinTypes[K]["pin"], facts: DocumentFacts) => PinAnswer | null;
}

type OfBootProof<P> = (pin: P, facts: BootProofFacts) => PinAnswer | null;

/** Makes a comparison with members that only a boot proof has. */
function ofBootProof<P>(compare: OfBootProof<P>): (pin: P, facts: DocumentFacts) => PinAnswer | null {
  return (pin, { bootProof }) =>
    bootProof === null
      ? unmet("pinned, but a bare document has none", "Give the whole boot proof instead of only its document.")
      : compare(pin, bootProof);
}

function unmet(detail: string, advice: string): PinAnswer {
  return { met: false, explain: () => ({ detail, advice }) };
}

interface AnswerWords {
  readonly met?: string;
  readonly unmet?: string;
  readonly advice?: string;
}

function answer(met: boolean, expected: () => string, actual: () => string, words: AnswerWords = {}): PinAnswer {
  return {
    met,
    explain: () =>
      met
        ? { detail: words.met ?? "as pinned", compared: { actual: actual() } }
        : {
            detail: words.unmet ?? "is not the pinned one",
            compared: { expected: expected(), actual: actual() },
            ...(words.advice !== undefined && { advice: words.advice }),
          },
  };
}

function oneOf(accepted: readonly string[], actual: string, show: (value: string) => string = String): PinAnswer {
  return answer(
    accepted.includes(actual),
    () => listed(accepted.map(show), " or "),
    () => show(actual),
  );
}

function quoted(value: unknown): string {
  return JSON.stringify(value);
}

export const ZERO_PCR = toHex(new Uint8Array(PCR_LENGTH));

/** Whether a PCR is zeros, which identify no enclave: no role, no signing certificate, or debug mode. */
export function isZeroPcr(value: string | undefined): boolean {
  return value === ZERO_PCR;
}

/** Returns the PCRs pinned for every accepted image. They are ascending, as objects order integer names. */
export function commonPcrs({ pcrs = [] }: Pins): number[] {
  const [first = [], ...others] = pcrs.map((image) => image.map(({ index }) => index));
  return first.filter((index) => others.every((image) => image.includes(index)));
}

const QOS = ["qos"] as const;
const NITRO = ["nitro"] as const;

const pcrValues = fileRecord(oneOrMore(hex(PCR_LENGTH)), {
  name: /^(?:[0-9]|[12][0-9]|3[01])$/,
  fault: `not the index of a PCR (0 to ${PCR_COUNT - 1})`,
  least: 1,
});

const pcrsShape: Shape<PinTypes["pcrs"]["pin"]> = oneOrMore(
  refined(pcrValues, (read) =>
    Object.freeze(Object.entries(read).map(([index, accepted]) => Object.freeze({ index: Number(index), accepted }))),
  ),
);

/** Compares the PCRs with each accepted image. A mismatch is reported for the nearest. */
function comparePcrs(images: PinTypes["pcrs"]["pin"], { pcrs }: DocumentFacts): PinAnswer {
  const isMet = ({ index, accepted }: PcrPin): boolean => accepted.includes(pcrs.get(index) ?? "");
  const differingOf = (image: readonly PcrPin[]): PcrPin[] => image.filter((pin) => !isMet(pin));
  const nearest = leastBy(images, (image) => differingOf(image).length);
  const differing = differingOf(nearest);
  const attested = (pins: readonly PcrPin[]): string => {
    return pins.map(({ index }) => `PCR${index} ${pcrs.get(index) ?? "absent"}`).join("\n");
  };
  if (differing.length === 0)
    return { met: true, explain: () => ({ detail: "as pinned", compared: { actual: attested(nearest) } }) };
  return {
    met: false,
    explain: () => ({
      detail: `not as pinned: ${differing.map(({ index }) => `PCR${index}`).join(", ")}`,
      compared: {
        expected: differing.map(({ index, accepted }) => `PCR${index} ${listed(accepted, " or ")}`).join("\n"),
        actual: attested(differing),
      },
      advice: adviceOnPcrs(
        differing.map(({ index }) => index),
        nearest.map(({ index }) => index),
        "policy",
      ),
    }),
  };
}

export function leastBy<T>(items: readonly T[], size: (item: T) => number): T {
  return items.reduce((least, item) => (size(item) < size(least) ? item : least));
}

const OTHER_KIND = "The enclave runs a kind of application that is not pinned: review its manifest before you pin it.";
const NO_PIVOT = unmet("pinned, but the manifest has workloads and no pivot", OTHER_KIND);

/** Makes a comparison with the one pivot of manifests up to v2. */
function ofPivot<P>(
  compare: (pin: P, pivot: NonNullable<BootProofFacts["pivot"]>) => PinAnswer,
): (pin: P, facts: DocumentFacts) => PinAnswer | null {
  return ofBootProof((pin, { pivot }) => (pivot === null ? NO_PIVOT : compare(pin, pivot)));
}

const digestHex = hex(SHA256_LENGTH);
const digestWords = `"${DIGEST_PREFIX}" and ${digestHex.words}`;

const digest: Shape<string> = {
  form: { type: "string", pattern: new RegExp(`^${DIGEST_PREFIX}[0-9a-fA-F]{${2 * SHA256_LENGTH}}$`) },
  read: (value, place) => {
    if (typeof value === "string" && value.startsWith(DIGEST_PREFIX))
      return digestHex.read(value.slice(DIGEST_PREFIX.length), place);
    return place.fault(`expected ${digestWords}`);
  },
};

const workloadsRecord = fileRecord(oneOrMore(digest), {
  name: WORKLOAD_NAME,
  fault: "not the name of a workload (a lower-case DNS label)",
  least: 1,
});

const workloadsShape = refined(workloadsRecord, (read, place) => {
  const count = Object.keys(read).length;
  return count > WORKLOADS_MAX
    ? place.fault<typeof read>(`${count} workloads, at most ${WORKLOADS_MAX} allowed`)
    : read;
});

const compareWorkloads: OfBootProof<PinTypes["workloads"]["pin"]> = (pin, { workloads }) => {
  if (workloads === null) return unmet("pinned, but the manifest has a pivot and no workloads", OTHER_KIND);
  const names = Object.keys(pin);
  const met =
    names.length === Object.keys(workloads).length &&
    names.every((name) => pin[name]!.some((value) => value === workloads[name]));
  return answer(
    met,
    () => names.map((name) => `${name} ${listed(pin[name]!, " or ")}`).join("\n"),
    () =>
      Object.entries(workloads)
        .map(([name, value]) => `${name} ${value}`)
        .join("\n"),
    { unmet: "are not the pinned ones" },
  );
};

function compareEnv(pin: PinTypes["pivotEnv"]["pin"], env: Readonly<Record<string, string>>): PinAnswer {
  const names = Object.keys(pin);
  const met = names.length === Object.keys(env).length && names.every((name) => env[name] === pin[name]);
  const show = (values: Readonly<Record<string, string>>): string =>
    listed(
      Object.entries(values).map(([name, value]) => `${name}=${quoted(value)}`),
      "\n",
    ) || "no environment";
  return answer(
    met,
    () => show(pin),
    () => show(env),
    { unmet: "the environment is not the pinned one" },
  );
}

const MAX_U32 = 0xffffffff;
const key = hex(QOS_PUBLIC_KEY_LENGTH);
const setMembers = fileObject<SetPin>({ threshold: wholeNumber(1, MAX_U32), members: arrayOf(key) });

const setShape = refined(setMembers, ({ threshold, members }, place): SetPin => {
  if (threshold > members.length) return place.at("threshold").fault(`${threshold}, with ${members.length} members`);
  const sorted = [...members].sort();
  const twice = sorted.find((member, index) => member === sorted[index - 1]);
  if (twice !== undefined) return place.at("members").at(members.lastIndexOf(twice)).fault("a repeated key");
  return Object.freeze({ threshold, members: Object.freeze(sorted) });
});

/** Requires the same keys, in any order, and a threshold at least as high. Ignores aliases. */
function compareSet(pin: SetPin, set: SetPin): PinAnswer {
  const sameMembers =
    pin.members.length === set.members.length && pin.members.every((member, index) => member === set.members[index]);
  const show = ({ threshold, members }: SetPin): string => `threshold ${threshold}\n${listed(members, "\n")}`;
  return answer(
    sameMembers && set.threshold >= pin.threshold,
    () => show(pin),
    () => show(set),
    {
      met: `${set.threshold} of ${set.members.length} members, as pinned`,
      unmet: sameMembers ? "the threshold is lower than pinned" : "the members are not the pinned ones",
      ...(sameMembers && {
        advice: "The set has the same members, but its threshold is lower than the policy demands.",
      }),
    },
  );
}

const LABELS: MembersOf<LabelsPin> = {
  enclaveApp: optional(text),
  owner: optional(text),
  deploymentLabel: optional(text),
};

const compareLabels: OfBootProof<LabelsPin> = (pin, { labels }) => {
  const names = Object.keys(pin) as (keyof LabelsPin)[];
  if (names.length === 0) return null;
  const differing = names.filter((name) => labels[name] !== pin[name]);
  const show = (values: Readonly<Record<string, string | null | undefined>>): string =>
    differing.map((name) => `${name} ${quoted(values[name])}`).join("\n");
  return answer(
    differing.length === 0,
    () => show({ ...pin }),
    () => show(labels),
    {
      met: "as pinned: only the service states them, and nothing in the evidence proves them",
      unmet: "the service's labels are not the pinned ones",
    },
  );
};

function compareField(pin: string, field: string | null): PinAnswer {
  return answer(
    pin === field,
    () => pin,
    () => field ?? "absent",
  );
}

export const PINS: { readonly [K in PinName]: PinRow<K> } = {
  pcrs: {
    check: "policy.pcrs",
    kinds: DEPLOYMENT_KINDS,
    shape: pcrsShape,
    compare: comparePcrs,
  },
  manifestHash: {
    check: "policy.manifest-hash",
    kinds: QOS,
    shape: oneOrMore(hex(SHA256_LENGTH)),
    compare: ofBootProof((pin, { manifestHash }) => oneOf(pin, manifestHash)),
  },
  pivotHash: {
    check: "policy.pivot",
    kinds: QOS,
    shape: oneOrMore(hex(SHA256_LENGTH)),
    compare: ofPivot((pin, { hash }) => oneOf(pin, hash)),
  },
  workloads: {
    check: "policy.workloads",
    kinds: QOS,
    shape: workloadsShape,
    excludes: ["pivotHash", "pivotArgs", "pivotEnv"],
    compare: ofBootProof(compareWorkloads),
  },
  pivotArgs: {
    check: "policy.args",
    kinds: QOS,
    shape: arrayOf(text, { least: 0 }),
    compare: ofPivot((pin, { args }) =>
      answer(
        pin.length === args.length && pin.every((argument, index) => argument === args[index]),
        () => listed(pin.map(quoted), " ") || "no arguments",
        () => listed(args.map(quoted), " ") || "no arguments",
        { unmet: "the arguments are not the pinned ones" },
      ),
    ),
  },
  pivotEnv: {
    check: "policy.args",
    kinds: QOS,
    shape: fileRecord(text),
    compare: ofPivot((pin, { env }) => compareEnv(pin, env)),
  },
  namespace: {
    check: "policy.namespace",
    kinds: QOS,
    shape: oneOrMore(nonEmptyText),
    compare: ofBootProof((pin, { namespace }) => oneOf(pin, namespace, quoted)),
  },
  minNonce: {
    check: "policy.nonce",
    kinds: QOS,
    shape: wholeNumber(0, MAX_U32),
    needs: "namespace",
    compare: ofBootProof((pin, { nonce }) =>
      answer(
        nonce >= pin,
        () => `${pin} or more`,
        () => String(nonce),
        { met: `nonce ${nonce}, expected at least ${pin}`, unmet: "the manifest is older than the policy allows" },
      ),
    ),
  },
  quorumKey: {
    check: "policy.quorum-key",
    kinds: QOS,
    shape: oneOrMore(key),
    compare: ofBootProof((pin, { quorumKey }) => oneOf(pin, quorumKey)),
  },
  manifestSet: {
    check: "policy.manifest-set",
    kinds: QOS,
    shape: setShape,
    compare: ofBootProof((pin, { manifestSet }) => compareSet(pin, manifestSet)),
  },
  shareSet: {
    check: "policy.share-set",
    kinds: QOS,
    shape: setShape,
    compare: ofBootProof((pin, { shareSet }) => compareSet(pin, shareSet)),
  },
  userData: {
    check: "policy.user-data",
    kinds: NITRO,
    shape: hex(1, MAX_DOCUMENT_FIELD),
    compare: (pin, { userData }) => compareField(pin, userData),
  },
  publicKey: {
    check: "policy.public-key",
    kinds: NITRO,
    shape: hex(1, MAX_DOCUMENT_FIELD),
    compare: (pin, { publicKey }) => compareField(pin, publicKey),
  },
  commitment: {
    check: "policy.commitment",
    kinds: QOS,
    shape: oneOfTexts(...COMMITMENT_KINDS),
    unnamed: "live",
    compare: ofBootProof((pin, { commitment }) =>
      answer(
        commitment === pin,
        () => pin,
        () => commitment,
        { met: `${commitment}, as expected` },
      ),
    ),
  },
  labels: {
    check: "policy.labels",
    kinds: QOS,
    shape: fileObject(LABELS),
    compare: ofBootProof(compareLabels),
  },
  // Provenance is compared once a deployment matched by its other pins (verify/README.md, "Provenance").
  provenance: {
    check: null,
    kinds: QOS,
    shape: provenanceShape(undefined),
    compare: () => null,
  },
};

export const PIN_NAMES = Object.keys(PINS) as readonly PinName[];

export const PIN_CHECKS: readonly PolicyCheckId[] = CHECK_IDS.filter((id): id is PolicyCheckId =>
  PIN_NAMES.some((name) => PINS[name].check === id),
);

/** Compares one pin of a deployment. Returns null if it is not pinned or there is nothing to compare. */
export function comparePin<K extends PinName>(name: K, pins: Pins, facts: DocumentFacts): PinAnswer | null {
  const pin: PinTypes[K]["pin"] | undefined = pins[name];
  return pin === undefined ? null : PINS[name].compare(pin, facts);
}
