/**
 * The table of pins (appraise/README.md, "Pins"). Each has its shape in the file, its check and its comparison. Rows
 * are in the order of their checks. `pin-writers.ts` writes pins.
 */
import { toHex } from "../bytes.js";
import { CHECK_IDS, type Cause, type Comparison, type PlainCause, type PolicyCheckId } from "../checks.js";
import { MAX_DOCUMENT_FIELD } from "../decode/attestation-document.js";
import { PCR_COUNT, PCR_LENGTH, QOS_PUBLIC_KEY_LENGTH, SHA256_LENGTH } from "../decode/lengths.js";
import { DIGEST_PREFIX, bareDigest } from "../decode/manifest/image-digest.js";
import { WORKLOADS_MAX, WORKLOAD_NAME } from "../decode/manifest/model.js";
import {
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
import { COMMITMENT_KINDS, type CommitmentKind } from "../verify/commitment.js";
import type { ProvenanceDemand } from "../verify/provenance-demand.js";
import type { BootProofFacts, DocumentFacts, SetPin } from "./facts.js";
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

interface LabelsPin {
  readonly enclaveApp?: string;
  readonly owner?: string;
  readonly deploymentLabel?: string;
}

/** Type of each pin in the file and as read. Hex is read as lower case. Of several accepted values, one must match. */
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

export interface Explanation {
  readonly detail: string;
  /** Compared values. A match has only `actual`. */
  readonly compared?: Partial<Comparison>;
  /** Causes whose advice replaces the usual one of the check. */
  readonly causes?: readonly Cause[];
}

/** The result of a comparison. Its text is made only for the deployment in the report. */
export interface PinAnswer {
  readonly met: boolean;
  readonly explain: () => Explanation;
}

interface PinRow<K extends PinName> {
  /** The check of the pin. Null means that the pin has several checks and is not compared with the document. */
  readonly check: PolicyCheckId | null;
  readonly kinds: readonly DeploymentKind[];
  readonly shape: Shape<PinTypes[K]["pin"]>;
  readonly unnamed?: PinTypes[K]["pin"];
  readonly needs?: PinName;
  /** Pins that no evidence can meet together with this one. */
  readonly excludes?: readonly PinName[];
  /** Compares the pin. Returns null if there is nothing to compare. */
  readonly compare: (pin: PinTypes[K]["pin"], facts: DocumentFacts) => PinAnswer | null;
}

type OfBootProof<P> = (pin: P, facts: BootProofFacts) => PinAnswer | null;

function unmet(detail: string, cause: PlainCause): PinAnswer {
  return { met: false, explain: () => ({ detail, causes: [cause] }) };
}

interface AnswerWords {
  readonly met?: string;
  readonly unmet?: string;
  readonly cause?: Cause;
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
            ...(words.cause !== undefined && { causes: [words.cause] }),
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

/** Compares the PCRs with each accepted image. If none matches, the nearest image is reported. */
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
      causes: [
        {
          code: "other-pcrs",
          differing: differing.map(({ index }) => index),
          compared: nearest.map(({ index }) => index),
          against: "policy",
        },
      ],
    }),
  };
}

export function leastBy<T>(items: readonly T[], size: (item: T) => number): T {
  return items.reduce((least, item) => (size(item) < size(least) ? item : least));
}

const digestHex = hex(SHA256_LENGTH);

/** Shape of a digest, which is read as hex alone. Only the digest of a binary may lack the prefix. */
function digestOf(prefix: string): Shape<string> {
  return {
    form: { type: "string", pattern: new RegExp(`^${prefix}[0-9a-fA-F]{${2 * SHA256_LENGTH}}$`) },
    read: (value, place) => {
      const bare = typeof value === "string" ? bareDigest(value) : value;
      if (bare === value && prefix === DIGEST_PREFIX) return place.fault(`expected "${prefix}" and ${digestHex.words}`);
      return digestHex.read(bare, place);
    },
  };
}

const workloadsRecord = fileRecord(oneOrMore(digestOf(DIGEST_PREFIX)), {
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
  if (workloads === null) return unmet("pinned, but the manifest has a pivot and no workloads", "other-program");
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
      ...(sameMembers && { cause: "lower-threshold" }),
    },
  );
}

const labelsShape = fileObject<LabelsPin>({
  enclaveApp: optional(text),
  owner: optional(text),
  deploymentLabel: optional(text),
});

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

/** Makes the row of a pin that only boot proofs can meet. */
function qosPin<K extends PinName>(
  check: PolicyCheckId,
  shape: Shape<PinTypes[K]["pin"]>,
  compare: OfBootProof<PinTypes[K]["pin"]>,
): PinRow<K> {
  return {
    check,
    kinds: ["qos"],
    shape,
    compare: (pin, { bootProof }) =>
      bootProof === null ? unmet("pinned, but a bare document has none", "only-document") : compare(pin, bootProof),
  };
}

const NO_PIVOT = unmet("pinned, but the manifest has workloads and no pivot", "other-program");

/** Makes the row of a pin of the one pivot of manifests up to v2. */
function pivotPin<K extends PinName>(
  check: PolicyCheckId,
  shape: Shape<PinTypes[K]["pin"]>,
  compare: (pin: PinTypes[K]["pin"], pivot: NonNullable<BootProofFacts["pivot"]>) => PinAnswer,
): PinRow<K> {
  return qosPin(check, shape, (pin, { pivot }) => (pivot === null ? NO_PIVOT : compare(pin, pivot)));
}

/** Makes the row of a pin of one field of a bare document. */
function fieldPin<K extends "userData" | "publicKey">(check: PolicyCheckId, field: K): PinRow<K> {
  return {
    check,
    kinds: ["nitro"],
    shape: hex(1, MAX_DOCUMENT_FIELD),
    compare: (pin, { [field]: actual }) =>
      answer(
        pin === actual,
        () => pin,
        () => actual ?? "absent",
      ),
  };
}

export const PINS: { readonly [K in PinName]: PinRow<K> } = {
  pcrs: { check: "policy.pcrs", kinds: DEPLOYMENT_KINDS, shape: pcrsShape, compare: comparePcrs },
  manifestHash: qosPin("policy.manifest-hash", oneOrMore(digestHex), (pin, { manifestHash }) =>
    oneOf(pin, manifestHash),
  ),
  pivotHash: pivotPin("policy.pivot", oneOrMore(digestOf(`(?:${DIGEST_PREFIX})?`)), (pin, { hash }) =>
    oneOf(pin, hash),
  ),
  workloads: {
    ...qosPin("policy.workloads", workloadsShape, compareWorkloads),
    excludes: ["pivotHash", "pivotArgs", "pivotEnv"],
  },
  pivotArgs: pivotPin("policy.args", arrayOf(text, { least: 0 }), (pin, { args }) =>
    answer(
      pin.length === args.length && pin.every((argument, index) => argument === args[index]),
      () => listed(pin.map(quoted), " ") || "no arguments",
      () => listed(args.map(quoted), " ") || "no arguments",
      { unmet: "the arguments are not the pinned ones" },
    ),
  ),
  pivotEnv: pivotPin("policy.args", fileRecord(text), (pin, { env }) => compareEnv(pin, env)),
  namespace: qosPin("policy.namespace", oneOrMore(nonEmptyText), (pin, { namespace }) => oneOf(pin, namespace, quoted)),
  minNonce: {
    ...qosPin("policy.nonce", wholeNumber(0, MAX_U32), (pin, { nonce }) =>
      answer(
        nonce >= pin,
        () => `${pin} or more`,
        () => String(nonce),
        { met: `nonce ${nonce}, expected at least ${pin}`, unmet: "the manifest is older than the policy allows" },
      ),
    ),
    needs: "namespace",
  },
  quorumKey: qosPin("policy.quorum-key", oneOrMore(key), (pin, { quorumKey }) => oneOf(pin, quorumKey)),
  manifestSet: qosPin("policy.manifest-set", setShape, (pin, { manifestSet }) => compareSet(pin, manifestSet)),
  shareSet: qosPin("policy.share-set", setShape, (pin, { shareSet }) => compareSet(pin, shareSet)),
  userData: fieldPin("policy.user-data", "userData"),
  publicKey: fieldPin("policy.public-key", "publicKey"),
  commitment: {
    ...qosPin("policy.commitment", oneOfTexts(...COMMITMENT_KINDS), (pin, { commitment }) =>
      answer(
        commitment === pin,
        () => pin,
        () => commitment,
        { met: `${commitment}, as expected`, ...(commitment === "setup" && { cause: "setup-document" }) },
      ),
    ),
    unnamed: "live",
  },
  labels: qosPin("policy.labels", labelsShape, compareLabels),
  // Provenance is compared only after a deployment matched by its other pins (verify/README.md, "Provenance").
  provenance: {
    check: null,
    kinds: ["qos"],
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

/** Text that identifies the application. Two applications have another namespace or program. */
export function applicationOf({ namespace, pivotHash, workloads, manifestHash }: Pins): string {
  const sorted = (values: readonly string[] | undefined): string[] | undefined => values && [...values].sort();
  const program = workloads
    ? Object.entries(workloads)
        .map(([name, digests]) => [name, sorted(digests)])
        .sort()
    : sorted(pivotHash);
  return JSON.stringify([sorted(namespace), program ?? sorted(manifestHash)]);
}
