/** The corpus as it lies in `test-vectors/conformance/`, and what it is made of. */
import { createHash } from "node:crypto";
import type { Case, SignedCase, SignedExpected } from "./case.js";
import { forgedCases } from "./forged.js";
import { genuineCases } from "./genuine.js";
import { signedCases } from "./signed-policies.js";

export interface Index {
  readonly format: "bootproof-conformance/1";
  /** By path: the SHA-256 of files that several cases name. */
  readonly common: Readonly<Record<string, string>>;
  readonly cases: readonly IndexedCase[];
}

export interface IndexedCase extends Pick<Case | SignedCase, "name" | "category" | "origin" | "from"> {
  readonly folder: string;
  readonly about: string;
  readonly root: "aws" | "lab";
  /** By name: the SHA-256 of each file of the folder. */
  readonly files: Readonly<Record<string, string>>;
}

export function allCases(): (Case | SignedCase)[] {
  return [...forgedCases(), ...genuineCases(), ...signedCases()];
}

export function folderOf({ name, category }: Pick<IndexedCase, "name" | "category">): string {
  const slug = name.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return `${category}/${slug.replace(/^-|-$/g, "")}`;
}

/** What has to come of the case, and why, in one sentence. */
export function aboutOf(one: Case | SignedCase): string {
  const bare = one.name.replace(/^accepted: /, "").replace(/^(?:genuine|signed policy): /, "");
  const what = bare[0]!.toUpperCase() + bare.slice(1);
  if (one.category === "signed-policy") return `${what}: ${aboutSigned(one.expected())}.`;
  const { verdict, failed } = one;
  if (verdict === "malformed") return `${what}: nothing is asked of the evidence under such a policy.`;
  return failed.length === 0 ? `${what}: has to be accepted.` : `${what}: has to be refused (${failed.join(", ")}).`;
}

function aboutSigned(expected: SignedExpected): string {
  if (expected.verdict === "refused") return `has to be refused (${expected.code})`;
  return `version ${expected.version} has to be in force (policy.current: ${expected.current})`;
}

export function sha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
