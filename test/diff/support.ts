/** Inputs to compare: evidence of a lab, and altered copies. */
import { toUtf8 } from "../../src/bytes.js";
import type { JsonObject } from "../../src/decode/json.js";
import { type Difference, diffUnverified } from "../../src/diff/diff.js";
import { Forge, type ForgeOptions, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";

export const lab = new Forge();
export const AT = new Date("2026-03-04T05:06:07.000Z");
const anchor = forgeEvidence({ lab, at: AT }).anchorPem;

export function file(json: unknown): Uint8Array {
  return toUtf8(JSON.stringify(json));
}

/** The other key of the enclave stays the same, so that two documents differ where they are made to. */
const otherKey = new Forge().ephemeralKey;

export function bootProof(options: Partial<ForgeOptions> = {}): Uint8Array {
  return file(forgeEvidence({ lab, at: AT, otherKey, ...options }).bootProof);
}

export function policy(rest: JsonObject = {}, deployment: JsonObject = {}): Uint8Array {
  return policyOf([{ ...labDeployment(lab), ...deployment }], rest);
}

/** A deployment without one of its pins. */
export function policyWithout(pin: string): Uint8Array {
  const deployment = Object.entries(labDeployment(lab)).filter(([name]) => name !== pin);
  return policyOf([Object.fromEntries(deployment)]);
}

export function policyOf(deployments: JsonObject[], rest: JsonObject = {}): Uint8Array {
  return file(labPolicy(anchor, deployments, rest));
}

/** `what` of each change, with its severity. */
export function told({ changes }: Difference): string[] {
  return changes.map(({ what, severity }) => `${what} ${severity}`);
}

export async function toldOf(a: Uint8Array, b: Uint8Array): Promise<string[]> {
  return told(await diffUnverified(a, b));
}
