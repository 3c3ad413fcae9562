/** Many boot proofs in files of their own: what a person has to read when a fleet is verified. */
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { generateQosKeyPair } from "../../src/lab/qos.js";
import { fileOf } from "./support.js";

export const MANY = 60;
export const MANY_AT = new Date("2026-03-04T05:06:07.000Z");

export interface Fleet {
  readonly boots: readonly string[];
  readonly apps: readonly string[];
  readonly deployment: object;
  readonly anchorPem: string;
}

/** Enclaves of one deployment, each with a key and a minute of its own, one app proof each. */
export function fleetOf(count: number, nameOf: (index: number) => string): Fleet {
  const lab = new Forge();
  const made = Array.from({ length: count }, (_, index) => {
    const at = new Date(MANY_AT.getTime() + 60_000 * index);
    return forgeEvidence({ lab, at, ephemeralKey: generateQosKeyPair() });
  });
  return {
    boots: made.map(({ bootProof }, index) => fileOf(bootProof, nameOf(index))),
    apps: made.map(({ appProofs }, index) => fileOf(appProofs[0], `ap-${nameOf(index)}`)),
    deployment: labDeployment(lab),
    anchorPem: made[0]!.anchorPem,
  };
}

/** A policy file for the fleet. */
export function policyFor({ deployment, anchorPem }: Fleet, pins: object = {}, rest: object = {}): string {
  return fileOf({ ...labPolicy(anchorPem, [{ ...deployment, ...pins } as ReturnType<typeof labDeployment>]), ...rest });
}
