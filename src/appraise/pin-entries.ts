/**
 * How the policy file says each pin: the shape that it is read by, where it may stand, and how `pin` writes it. One row
 * a pin, as in the table of `pins.ts`; reading, refusing unknown members, the JSON Schema and writing go through it.
 */
import { MAX_DOCUMENT_FIELD } from "../decode/attestation-document.js";
import { PCR_COUNT, PCR_LENGTH, QOS_PUBLIC_KEY_LENGTH, SHA256_LENGTH } from "../decode/lengths.js";
import { DIGEST_PREFIX } from "../decode/manifest/image-digest.js";
import { WORKLOADS_MAX, WORKLOAD_NAME } from "../decode/manifest/model.js";
import { COMMITMENT_KINDS } from "../verify/commitment.js";
import {
  type BootProofFacts,
  DEPLOYMENT_KINDS,
  type DeploymentKind,
  type DocumentFacts,
  type LabelsPin,
  PIN_NAMES,
  type PcrsFile,
  type PinName,
  type PinTypes,
  type PinsFile,
  type SetFile,
  type SetPin,
  isZeroPcr,
} from "./pins.js";
import {
  COMMENT,
  type Members,
  type Shape,
  choice,
  hex,
  list,
  nonEmptyText,
  object,
  oneOrMore,
  record,
  text,
  wholeNumber,
} from "./shapes.js";

interface PinEntry<K extends PinName> {
  /** The kinds of deployment that it may stand in. */
  readonly kinds: readonly DeploymentKind[];
  readonly shape: Shape<PinTypes[K]["pin"]>;
  /** What is compared where a deployment does not name it. */
  readonly unnamed?: PinTypes[K]["pin"];
  /** A pin without which this one means nothing. */
  readonly needs?: PinName;
  /** Pins that no evidence can meet together with this one. */
  readonly excludes?: readonly PinName[];
  /**
   * What `pin` writes: undefined where no policy can pin it. Null: it is written by hand, or where nothing else
   * answers.
   */
  readonly write: ((facts: BootProofFacts, document: DocumentFacts) => PinTypes[K]["file"] | undefined) | null;
}

const QOS = ["qos"] as const;
const NITRO = ["nitro"] as const;
const WRITTEN_PCRS = [0, 1, 2, 3];

const pcrValues = record(
  "an object",
  {
    name: (name) =>
      /^(?:0|[1-9][0-9]?)$/.test(name) && Number(name) < PCR_COUNT
        ? null
        : `not the index of a PCR (0 to ${PCR_COUNT - 1})`,
    nameSchema: { anyOf: [{ pattern: "^([0-9]|[12][0-9]|3[01])$" }, { const: COMMENT }] },
    value: oneOrMore(hex(PCR_LENGTH)),
  },
  1,
);

const pcrsShape: Shape<PinTypes["pcrs"]["pin"]> = oneOrMore({
  ...pcrValues,
  read: (value, place) => {
    const read = pcrValues.read(value, place);
    return (
      read &&
      Object.freeze(Object.entries(read).map(([index, accepted]) => Object.freeze({ index: Number(index), accepted })))
    );
  },
});

/** Zeros are left out: they fit everybody. */
function writePcrs({ pcrs }: DocumentFacts): PcrsFile | undefined {
  const values = WRITTEN_PCRS.flatMap((index) => {
    const value = pcrs.get(index);
    return value?.length === 2 * PCR_LENGTH && !isZeroPcr(value) ? [[String(index), value] as const] : [];
  });
  return values.length === 0 ? undefined : Object.fromEntries(values);
}

const digestHex = hex(SHA256_LENGTH);
const digestWords = `"${DIGEST_PREFIX}" and ${digestHex.words}`;

const digest: Shape<string> = {
  schema: { type: "string", pattern: `^${DIGEST_PREFIX}[0-9a-fA-F]{${2 * SHA256_LENGTH}}$` },
  words: digestWords,
  read: (value, place) => {
    if (typeof value === "string" && value.startsWith(DIGEST_PREFIX))
      return digestHex.read(value.slice(DIGEST_PREFIX.length), place);
    return place.fault(`${digestWords} wanted`);
  },
};

const workloadsRecord = record(
  "an object",
  {
    name: (name) => (WORKLOAD_NAME.test(name) ? null : "not the name of a workload (a lower-case DNS label)"),
    nameSchema: { pattern: WORKLOAD_NAME.source },
    value: oneOrMore(digest),
  },
  1,
);

const workloadsShape: typeof workloadsRecord = {
  ...workloadsRecord,
  read: (value, place) => {
    const read = workloadsRecord.read(value, place);
    const count = Object.keys(read ?? {}).length;
    return count > WORKLOADS_MAX ? place.fault(`${count} workloads, at most ${WORKLOADS_MAX} allowed`) : read;
  },
};

/** A map that the file can say: the name `comment` is taken. */
function sayable<T>(values: Readonly<Record<string, T>>): Readonly<Record<string, T>> | undefined {
  return Object.hasOwn(values, COMMENT) ? undefined : Object.fromEntries(Object.entries(values));
}

const key = hex(QOS_PUBLIC_KEY_LENGTH);
const setMembers = object<SetPin, "threshold" | "members">({ threshold: wholeNumber(1), members: list(key) }, [
  "threshold",
  "members",
]);

const setShape: Shape<SetPin> = {
  ...setMembers,
  read: (value, place) => {
    const read = setMembers.read(value, place);
    if (read === undefined) return undefined;
    const { threshold, members } = read;
    if (threshold > members.length) return place.at("threshold").fault(`${threshold}, with ${members.length} members`);
    const sorted = [...members].sort();
    const twice = sorted.find((member, index) => member === sorted[index - 1]);
    if (twice !== undefined)
      return place.at("members").at(members.lastIndexOf(twice)).fault("a key that stands there already");
    return Object.freeze({ threshold, members: Object.freeze(sorted) });
  },
};

/** A set that the file can say; undefined for members of odd lengths and the like. */
function writeSet({ threshold, members }: SetPin): SetFile | undefined {
  const whole =
    members.every((member) => member.length === 2 * QOS_PUBLIC_KEY_LENGTH) && new Set(members).size === members.length;
  return whole && threshold >= 1 && threshold <= members.length ? { threshold, members } : undefined;
}

const LABELS: Members<Required<LabelsPin>> = { enclaveApp: text, owner: text, deploymentLabel: text };

export const PIN_ENTRIES: { readonly [K in PinName]: PinEntry<K> } = {
  pcrs: {
    kinds: DEPLOYMENT_KINDS,
    shape: pcrsShape,
    write: (_, document) => writePcrs(document),
  },
  manifestHash: {
    kinds: QOS,
    shape: oneOrMore(hex(SHA256_LENGTH)),
    write: null,
  },
  pivotHash: {
    kinds: QOS,
    shape: oneOrMore(hex(SHA256_LENGTH)),
    write: ({ pivot }) => pivot?.hash,
  },
  workloads: {
    kinds: QOS,
    shape: workloadsShape,
    excludes: ["pivotHash", "pivotArgs", "pivotEnv"],
    write: ({ workloads }) => {
      const said = workloads && sayable(workloads);
      return said
        ? Object.fromEntries(Object.entries(said).map(([name, value]) => [name, DIGEST_PREFIX + value]))
        : undefined;
    },
  },
  pivotArgs: {
    kinds: QOS,
    shape: list(text, { least: 0 }),
    write: ({ pivot }) => pivot?.args,
  },
  pivotEnv: {
    kinds: QOS,
    shape: record("an object", { name: () => null, nameSchema: {}, value: text }),
    write: ({ pivot }) => (pivot ? sayable(pivot.env) : undefined),
  },
  namespace: {
    kinds: QOS,
    shape: oneOrMore(nonEmptyText),
    write: ({ namespace }) => namespace || undefined,
  },
  minNonce: {
    kinds: QOS,
    shape: wholeNumber(0),
    needs: "namespace",
    write: ({ namespace, nonce }) => (namespace === "" ? undefined : nonce),
  },
  quorumKey: {
    kinds: QOS,
    shape: oneOrMore(key),
    write: ({ quorumKey }) => (quorumKey.length === 2 * QOS_PUBLIC_KEY_LENGTH ? quorumKey : undefined),
  },
  manifestSet: {
    kinds: QOS,
    shape: setShape,
    write: ({ manifestSet }) => writeSet(manifestSet),
  },
  shareSet: {
    kinds: QOS,
    shape: setShape,
    write: null,
  },
  userData: {
    kinds: NITRO,
    shape: hex(1, MAX_DOCUMENT_FIELD),
    write: null,
  },
  publicKey: {
    kinds: NITRO,
    shape: hex(1, MAX_DOCUMENT_FIELD),
    write: null,
  },
  commitment: {
    kinds: QOS,
    shape: choice(COMMITMENT_KINDS),
    unnamed: "live",
    write: ({ commitment }) => commitment,
  },
  labels: {
    kinds: QOS,
    shape: object<LabelsPin>(LABELS as Members<LabelsPin>),
    write: null,
  },
};

/** The pins that `pin` writes of a boot proof. */
export function writePins(document: DocumentFacts, facts: BootProofFacts): PinsFile {
  const written = PIN_NAMES.map((name) => [name, PIN_ENTRIES[name].write?.(facts, document)] as const);
  return Object.fromEntries(written.filter(([, value]) => value !== undefined));
}
