/** Releases of the tests: the genuine ones, and ones that a lab's operators approved. */
import { Forge } from "../../src/lab/forge.js";
import {
  type LabMember,
  approve,
  encodeManifest,
  generateMembers,
  makeManifest,
  manifestHash,
  memberSet,
} from "../../src/lab/qos.js";
import type { Approval, Manifest, PivotManifest } from "../../src/decode/manifest/index.js";
import { toHex, toUtf8 } from "../../src/bytes.js";
import { type Release, readRelease } from "../../src/release/release.js";
import { releaseNames, releaseOf } from "../support/releases.js";

export type Files = Map<string, Uint8Array>;

/** A genuine release, its files changed. */
export function genuine(version: string, app = "signer", change: (files: Files) => void = () => undefined) {
  const files = releaseOf(version, app);
  change(files);
  return readRelease(files, { version, application: app });
}

/** All that have a manifest and approvals. */
export async function allGenuine(): Promise<Release[]> {
  const all = await Promise.all(releaseNames().map((name) => genuine(...(name.split("/") as [string, string]))));
  return all.filter(({ manifest }) => manifest !== null);
}

export const lab = new Forge();
/** Ten operators, of whom sets are made. */
export const OPERATORS: readonly LabMember[] = generateMembers(..."abcdefghij");

export function operators(aliases: string): LabMember[] {
  return [...aliases].map((alias) => OPERATORS.find((one) => one.alias === alias)!);
}

export interface LabRelease {
  readonly version?: string;
  readonly application?: string;
  /** Aliases. */
  readonly set?: string;
  readonly threshold?: number;
  readonly approvers?: string;
  readonly alter?: (manifest: PivotManifest) => PivotManifest;
  readonly files?: (files: Files, manifest: Manifest) => void;
}

/** A release that a lab's operators approved: 2026.1.0 of signer, by a and b of the set abc, unless said otherwise. */
export async function labRelease(parts: LabRelease = {}): Promise<Release> {
  const { version = "2026.1.0", application = "signer" } = parts;
  return readRelease(labFiles(parts), { version, application });
}

export function labFiles(parts: LabRelease = {}): Files {
  const { version = "2026.1.0", application = "signer", set = "abc", threshold = 2, approvers = "ab" } = parts;
  const [year, month, patch] = version.split(".").map(Number) as [number, number, number];
  const made = makeManifest("v1", {
    ...lab.manifestParts(),
    namespace: {
      ...lab.manifestParts().namespace,
      name: `lab/${application}`,
      nonce: year * 10000 + month * 100 + patch,
    },
    manifestSet: memberSet(threshold, operators(set)),
  });
  const manifest = parts.alter?.(made) ?? made;
  const files: Files = new Map([["manifest", encodeManifest(manifest, { encoding: "borsh" })]]);
  for (const member of operators(approvers))
    files.set(approvalName(member, manifest), approvalFile(approve(manifestHash(manifest), member)));
  parts.files?.(files, manifest);
  return files;
}

export function approvalName({ alias }: Pick<LabMember, "alias">, { namespace }: Manifest): string {
  return `${alias}-${namespace.name.replaceAll("/", "-")}-${namespace.nonce}.approval`;
}

export function approvalFile({ signature, member }: Approval): Uint8Array {
  const json = { signature: toHex(signature), member: { alias: member.alias, pubKey: toHex(member.pubKey) } };
  return toUtf8(JSON.stringify(json));
}

export function setOf(aliases: string, threshold = 2) {
  return { threshold, members: operators(aliases).map(({ key }) => toHex(key.publicKey)) };
}

/** The JSON of a file, changed. */
export function changeJson(files: Files, name: string, change: (json: never) => unknown): void {
  const json = JSON.parse(Buffer.from(files.get(name)!).toString()) as never;
  files.set(name, toUtf8(JSON.stringify(change(json) ?? json)));
}
