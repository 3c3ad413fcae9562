/** Writers of pins. Each writes a pin that the given boot proof meets. Verification does not use this file. */
import { QOS_PUBLIC_KEY_LENGTH } from "../decode/lengths.js";
import { DIGEST_PREFIX } from "../decode/manifest/image-digest.js";
import type { BootProofFacts, DocumentFacts, SetPin } from "./facts.js";
import {
  PIN_NAMES,
  type PcrsFile,
  type PinName,
  type PinTypes,
  type PinsFile,
  type SetFile,
  ZERO_PCR,
  isZeroPcr,
} from "./pins.js";
import { COMMENT } from "./shapes.js";

type PinWriter<K extends PinName> = (facts: BootProofFacts, document: DocumentFacts) => PinTypes[K]["file"] | undefined;

/**
 * Writer of each pin, which returns undefined if no policy can pin the value. Null means that {@link writePins} never
 * writes the pin.
 */
export const PIN_WRITERS: { readonly [K in PinName]: PinWriter<K> | null } = {
  pcrs: (_, document) => writePcrs(document),
  manifestHash: null,
  pivotHash: ({ pivot }) => pivot?.hash,
  workloads: ({ workloads }) => writeWorkloads(workloads),
  pivotArgs: ({ pivot }) => pivot?.args,
  pivotEnv: ({ pivot }) => (pivot ? sayable(pivot.env) : undefined),
  namespace: ({ namespace }) => namespace || undefined,
  minNonce: ({ namespace, nonce }) => (namespace === "" ? undefined : nonce),
  quorumKey: ({ quorumKey }) => (quorumKey.length === 2 * QOS_PUBLIC_KEY_LENGTH ? quorumKey : undefined),
  manifestSet: ({ manifestSet }) => writeSet(manifestSet),
  shareSet: null,
  userData: null,
  publicKey: null,
  commitment: ({ commitment }) => commitment,
  labels: null,
  provenance: null,
};

/** Returns the pins that `pin` writes for a boot proof. */
export function writePins(document: DocumentFacts, facts: BootProofFacts): PinsFile {
  const written = PIN_NAMES.map((name) => [name, PIN_WRITERS[name]?.(facts, document)] as const);
  return Object.fromEntries(written.filter(([, value]) => value !== undefined));
}

/** The PCRs that identify an image and who runs it. The others change with each boot, or show who signed the image. */
export const WRITTEN_PCRS: readonly number[] = [0, 1, 2, 3];

/** Writes PCRs without zeros, which identify no enclave. */
function writePcrs({ pcrs }: DocumentFacts): PcrsFile | undefined {
  const values = WRITTEN_PCRS.flatMap((index) => {
    const value = pcrs.get(index);
    return value?.length === ZERO_PCR.length && !isZeroPcr(value) ? [[String(index), value] as const] : [];
  });
  return values.length === 0 ? undefined : Object.fromEntries(values);
}

function writeWorkloads(workloads: BootProofFacts["workloads"]): Readonly<Record<string, string>> | undefined {
  const said = workloads && sayable(workloads);
  return said
    ? Object.fromEntries(Object.entries(said).map(([name, value]) => [name, DIGEST_PREFIX + value]))
    : undefined;
}

/** Returns the values, or undefined if a name is `comment`, which the file reserves. */
function sayable<T>(values: Readonly<Record<string, T>>): Readonly<Record<string, T>> | undefined {
  return Object.hasOwn(values, COMMENT) ? undefined : Object.fromEntries(Object.entries(values));
}

/** Writes a set. Returns undefined if the file cannot hold it, for example because a member has a wrong length. */
function writeSet({ threshold, members }: SetPin): SetFile | undefined {
  const whole =
    members.every((member) => member.length === 2 * QOS_PUBLIC_KEY_LENGTH) && new Set(members).size === members.length;
  return whole && threshold >= 1 && threshold <= members.length ? { threshold, members } : undefined;
}
