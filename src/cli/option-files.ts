/**
 * Reads files that options of several commands name. Each reader returns undefined if its option is not given, or if
 * the file has a fault, which is added to `files`.
 */
import type { ParsePolicyOptions, Policy } from "../appraise/policy.js";
import { fromUtf8 } from "../bytes.js";
import { parseJson } from "../decode/json.js";
import { attempt } from "../errors.js";
import type { TrustAnchor } from "../verify/trust-anchor.js";
import { type InputFiles, readerBeside } from "./files.js";
import { type FileOption, ofKind, whatIsTaken } from "./kinds.js";

/** A policy, with the content of its file, which a command may rewrite. */
export interface PolicySource {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly policy: Policy;
  readonly options: ParsePolicyOptions;
}

/** Reads a policy. `path` is false for `--no-policy`. */
export async function readPolicyFile(
  files: InputFiles,
  path: string | false | undefined,
  option: FileOption = "--policy",
): Promise<PolicySource | undefined> {
  if (typeof path !== "string") return undefined;
  const { parsePolicy } = await import("../appraise/policy.js");
  const options = { readFile: readerBeside(path) };
  const bytes = await ofKind(files, path, option);
  const advice = bytes && !attempt(() => parseJson(bytes)).value ? await whatIsTaken(option) : undefined;
  const policy = bytes && files.decoded(path, () => parsePolicy(bytes, options), advice);
  return bytes && policy && { path, bytes, policy, options };
}

/** Reads a trust anchor, whose name is the path of its file. */
export async function readTrustAnchor(files: InputFiles, path: string | undefined): Promise<TrustAnchor | undefined> {
  if (path === undefined) return undefined;
  const { parseTrustAnchor } = await import("../verify/trust-anchor.js");
  const bytes = await ofKind(files, path, "--trust-anchor");
  const pem = bytes && (fromUtf8(bytes) ?? files.fault(path, "not PEM text (openssl x509 -inform der writes it)"));
  return pem === undefined ? undefined : files.decoded(path, () => parseTrustAnchor(path, pem));
}
