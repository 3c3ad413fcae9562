/** Reads files that options of several commands name. Faults go to the files, and the reader returns undefined. */
import type { ParsePolicyOptions, Policy } from "../appraise/policy.js";
import { fromUtf8 } from "../bytes.js";
import type { TrustAnchor } from "../verify/trust-anchor.js";
import { type InputFiles, readerBeside } from "./files.js";
import { type FileCommand, type FilePlace, ofKind } from "./kinds.js";

/** A policy, and the content of its file for rewriting it. */
export interface PolicySource {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly policy: Policy;
  readonly options: ParsePolicyOptions;
}

export async function readPolicyFile(
  files: InputFiles,
  path: string,
  place: FilePlace,
): Promise<PolicySource | undefined> {
  const { parsePolicy } = await import("../appraise/policy.js");
  const options = { readFile: readerBeside(path) };
  const bytes = await ofKind(files, path, await files.bytes(path), place);
  const policy = bytes && files.decoded(path, () => parsePolicy(bytes, options));
  return bytes && policy && { path, bytes, policy, options };
}

/** The anchor is named after the file. */
export async function readTrustAnchor(
  files: InputFiles,
  path: string,
  command: FileCommand,
): Promise<TrustAnchor | undefined> {
  const { parseTrustAnchor } = await import("../verify/trust-anchor.js");
  const bytes = await ofKind(files, path, await files.bytes(path), { command, option: "--trust-anchor" });
  const pem = bytes && (fromUtf8(bytes) ?? files.fault(path, "not PEM text (openssl x509 -inform der writes it)"));
  return pem === undefined ? undefined : files.decoded(path, () => parseTrustAnchor(path, pem));
}
