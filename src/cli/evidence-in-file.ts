/** Verifies the evidence in a file that no option names: a bundle, a page, or boot proofs. */
import type { Policy } from "../appraise/policy.js";
import { type Evidence, type VerifyOptions, verifyEvidence } from "../bootproof.js";
import { MalformedError } from "../errors.js";
import type { VerifiedSource } from "../formats/reports.js";
import { withBuilds } from "../inputs.js";
import type { Expected } from "../verify/expectation.js";
import { MAX_PROVENANCE } from "../verify/provenance-demand.js";
import { ORGANIZATION_OF_THE_ACTIVITY } from "./connection.js";
import { type JudgeOptions, type AskedVerification, answerable, documentJudged } from "./evidence.js";
import { type InputFiles, type ReadEvidence, nameOf } from "./files.js";
import { type Io, UsageError } from "./io.js";
import { jsonOfKind } from "./kinds.js";
import { verifierFor } from "./provenance.js";
import { piecesText, readBootProofs } from "./pieces.js";

/** Verifies a bundle or a page. A page contains a bundle or a bare document. */
export async function judgeFile(
  asked: AskedVerification,
  file: string,
  files: InputFiles,
  io: Io,
): Promise<VerifiedSource> {
  const read = await files.evidence(file);
  const page = read?.page && { page: nameOf(file) };
  const { kindOf } = await import("../inspect/kinds.js");
  const kind = read && kindOf(read.bytes);
  if (page && kind === "attestation document") return { ...(await judgePageOfDocument(asked, file, read!)), ...page };
  if (!page && String(kind).startsWith("boot proof")) return judgeBootProofs(asked, file, files, io);
  const json = await jsonOfKind(files, file, read?.bytes, "BUNDLE");
  const { isBundle } = await import("../bundle/file.js");
  if (json !== undefined && !isBundle(json)) files.fault(file, NOT_A_BUNDLE);
  files.throwFaults();
  return { ...(await judgeBundle(asked, { file, json, bytes: read!.page ?? read!.bytes }, files, io)), ...page };
}

/**
 * Judges a file of boot proofs that no option names. The rules of the policy about app proofs apply, as they do to a
 * bundle: only the caller may leave them out, with --boot-proof.
 */
async function judgeBootProofs(
  { options: given, builds, request }: AskedVerification,
  file: string,
  files: InputFiles,
  io: Io,
): Promise<VerifiedSource> {
  const bootProofs = await readBootProofs(files, [file]);
  files.throwFaults();
  refuseUnmet(file, false, given.expected ?? {});
  const evidence = { bootProofs, ...builds };
  const options = answerable(evidence, underPolicy(given, undefined, file), request);
  io.progress(`verifying ${piecesText(evidence)}`);
  return { report: (await verifyEvidence(evidence, options)).report, evidence, options, bundle: null };
}

const NOT_A_BUNDLE =
  "not a bundle (bootproof bundle makes them): give other evidence with --boot-proof, --app-proof, --activity or " +
  "--attestation";

async function judgePageOfDocument(
  { options, request, builds }: AskedVerification,
  file: string,
  { bytes, page }: ReadEvidence,
): Promise<VerifiedSource> {
  const own = answerable({ bootProofs: [] }, underPolicy(options, undefined, file), request);
  if (builds.provenance !== undefined || own.expected !== undefined || own.ephemeralKey !== undefined)
    throw new UsageError([
      `${file}: the page has a bare attestation document: leave out options about keys, requests and builds`,
    ]);
  return documentJudged(file, bytes, page!, own);
}

/** Returns the options with their policy or, if they have none, with `inside`, the policy in the evidence. */
function underPolicy(options: JudgeOptions, inside: Policy | undefined, file: string): VerifyOptions {
  const { policy = inside } = options;
  if (options.policy === undefined && inside?.signed)
    throw new UsageError([
      `--bundle-policy: the policy in ${file} is signed, and never judges: give --policy and --policy-signers`,
    ]);
  if (policy !== undefined) return Object.assign({ ...options }, { policy });
  throw new UsageError([`--bundle-policy: ${file} has no policy. Give --policy FILE or --no-policy`]);
}

async function judgeBundle(
  { request, options: given, builds }: AskedVerification,
  { file, json, bytes }: { readonly file: string; readonly json: unknown; readonly bytes: Uint8Array },
  files: InputFiles,
  io: Io,
): Promise<VerifiedSource> {
  const { decodeBundle, namedBundle } = await import("../bundle/file.js");
  const library = await import("../bundle/verify.js");
  const bundle = files.decoded(file, () => decodeBundle(json))!;
  files.throwFaults();
  const inside = bundle.judgement?.policy ?? undefined;
  const own = underPolicy(given, inside, file);
  const { activity } = bundle.evidence;
  const { provenance = [] } = builds;
  refuseTooManyBuilds(file, bundle.evidence, provenance.length);
  refuseUnmet(file, activity !== undefined, given.expected ?? {});
  const options = answerable(bundle.evidence, own, request);
  const named = namedBundle(bundle, nameOf(file), bytes);
  io.progress(`verifying ${piecesText(bundle.evidence)}`);
  const asked = given.policy ?? library.POLICY_OF_THE_BUNDLE;
  const verification = await library
    .verifyBundle(named, { ...options, ...(await verifierFor(inside)), provenance, policy: asked })
    .catch((error: unknown) => {
      throw error instanceof MalformedError ? loosening(error, file) : error;
    });
  const evidence = withBuilds(named.evidence, provenance);
  return { report: verification.report, bundle: verification, evidence, options };
}

function refuseTooManyBuilds(file: string, { provenance = [] }: Evidence, given: number): void {
  const all = provenance.length + given;
  if (all > MAX_PROVENANCE)
    throw new UsageError([
      `--provenance: ${all} bundles of provenance, including those in ${file}: at most ${MAX_PROVENANCE} allowed`,
    ]);
}

function refuseUnmet(
  file: string,
  hasActivity: boolean,
  { id, type, organizationId, payload }: Partial<Expected>,
): void {
  if (!hasActivity && (id ?? type) !== undefined)
    throw new UsageError([`${file}: an activity is expected, and the file has none: give it with --activity FILE`]);
  if (hasActivity && payload !== undefined && organizationId === undefined)
    throw new UsageError([`${file}: ${ORGANIZATION_OF_THE_ACTIVITY}`]);
}

/** Returns a usage error for the fault that the bundle's own policy allows more than the command line. */
function loosening(error: MalformedError, file: string): Error {
  const { code, faults } = error;
  // A fault of the caller's lists is none of the bundle.
  if (code === "revocation-list") return error;
  return new UsageError(faults.map(({ path, message }) => ({ file: nameOf(file), message: `${path}: ${message}` })));
}
