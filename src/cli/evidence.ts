/** Evidence for one verification, from wherever it comes: files, a bundle, the service; and its report. */
import { type Evidence, type VerifyOptions, verifyAttestation, verifyEvidence } from "../bootproof.js";
import { fromHex } from "../bytes.js";
import type { Check } from "../checks.js";
import { MAX_APP_PROOFS, appProofList } from "../decode/app-proof.js";
import { unarmoured } from "../decode/armour.js";
import { unwrap } from "../decode/input.js";
import { isJsonObject } from "../decode/json.js";
import type { BundleVerification } from "../evidence-bundle.js";
import type { Report } from "../report/report.js";
import type { Connection } from "./connection.js";
import { type InputFiles, MAX_BUNDLE_BYTES } from "./files.js";
import { type Io, UsageError } from "./io.js";

/** Files of app proofs, and of the activity. */
export interface EvidenceFiles {
  readonly bootProofs: readonly string[];
  readonly appProofs: readonly string[];
  readonly activity: string | undefined;
}

export type Source =
  | { readonly kind: "files"; readonly files: EvidenceFiles }
  | { readonly kind: "attestation"; readonly file: string }
  | { readonly kind: "bundle"; readonly file: string }
  /** The boot proof of the key is fetched; app proofs and activity may come as files. */
  | { readonly kind: "key"; readonly ephemeralKey: string; readonly files: EvidenceFiles; readonly connection: Connection }
  | { readonly kind: "activity"; readonly activityId: string; readonly connection: Connection };

/** What to hold it against; the policy is undefined where the bundle's own is to be taken. */
export type JudgeOptions = Omit<VerifyOptions, "policy"> & { readonly policy: VerifyOptions["policy"] | undefined };

export interface Judged {
  readonly report: Report;
  /** Where it was a bundle. */
  readonly bundle: BundleVerification | null;
}

/** Reads or fetches the evidence and verifies it. Faults of files, those read before among them, are thrown together. */
export async function judge(source: Source, options: JudgeOptions, files: InputFiles, io: Io): Promise<Judged> {
  if (source.kind === "bundle") return judgeBundle(source.file, options, files);
  const policy: VerifyOptions["policy"] = options.policy!;
  return { report: await reportOn(source, { ...options, policy }, files, io), bundle: null };
}

async function reportOn(source: Exclude<Source, { kind: "bundle" }>, options: VerifyOptions, files: InputFiles, io: Io): Promise<Report> {
  switch (source.kind) {
    case "files":
      return (await verifyEvidence(await readEvidence(files, source.files), options)).report;
    case "attestation": {
      const document = await files.bytes(source.file);
      files.settle();
      return (await verifyAttestation(unarmoured(document!).bytes, options)).report;
    }
    case "key": {
      const evidence = await readEvidence(files, source.files);
      const { fetchBootProof } = await import("./fetched.js");
      const bootProof = await fetchBootProof({ ephemeralKey: source.ephemeralKey }, source.connection, io);
      return (await verifyEvidence({ ...evidence, bootProofs: [bootProof] }, { ...options, ephemeralKey: fromHex(source.ephemeralKey)! })).report;
    }
    case "activity":
      files.settle();
      return reportOnActivity(source, options, io);
  }
}

/** Asks of an answered activity what the client's verified calls ask of one, too. */
async function reportOnActivity({ activityId, connection }: Source & { kind: "activity" }, options: VerifyOptions, io: Io): Promise<Report> {
  const [{ fetchActivity, mistakenIdentity }, { contradictionsOf }] = await Promise.all([
    import("./fetched.js"), import("../client/contradictions.js"),
  ]);
  const evidence = await fetchActivity(activityId, connection, io);
  const { activity } = evidence;
  const { report } = await verifyEvidence(evidence, options);
  if (activity === undefined) return report;
  const identity = { id: activityId, organizationId: connection.organizationId };
  const expected = { organizationId: String(activity["organizationId"]), request: null, operation: null };
  return withContradictions(report, [...mistakenIdentity(activity, identity), ...contradictionsOf(activity, expected)]);
}

/** The report, with `activity.claims` failed for these reasons beside its own. */
function withContradictions(report: Report, reasons: readonly string[]): Report {
  if (reasons.length === 0) return report;
  const checks = report.checks.map((check): Check => {
    if (check.id !== "activity.claims") return check;
    return { ...check, status: "fail", detail: [...(check.status === "fail" ? [check.detail] : []), ...reasons].join("; ") };
  });
  return { ...report, verdict: "rejected", checks, claims: null };
}

/** The evidence of files. */
export async function readEvidence(files: InputFiles, { bootProofs, appProofs, activity }: EvidenceFiles): Promise<Evidence> {
  const boots: unknown[] = [];
  for (const path of bootProofs) boots.push(...(await bootProofList(files, path)));
  const apps: unknown[] = [];
  for (const path of appProofs) apps.push(...boundedAppProofs(files, path, await files.json(path)));
  const read = activity === undefined ? undefined : await files.json(activity);
  if (read !== undefined) boundedAppProofs(files, activity!, unwrap(read, "activity"));
  files.settle();
  return { bootProofs: boots, appProofs: apps, ...(read !== undefined && { activity: read }) };
}

/** The boot proofs of a file: one, or those of a bundle. */
async function bootProofList(files: InputFiles, path: string): Promise<unknown[]> {
  const json = await files.json(path);
  const list = isJsonObject(json) ? json["bootProofs"] : undefined;
  if (!Array.isArray(list) || list.length === 0) return [json];
  const { MAX_BUNDLE_BOOT_PROOFS } = await import("../evidence-bundle.js");
  return bounded(files, path, list, "boot proofs", MAX_BUNDLE_BOOT_PROOFS);
}

function boundedAppProofs(files: InputFiles, path: string, input: unknown): unknown[] {
  return bounded(files, path, appProofList(input), "app proofs", MAX_APP_PROOFS);
}

/** Each entry is judged and told on its own: a file of nothing but commas would keep the machine busy for minutes. */
function bounded(files: InputFiles, path: string, entries: unknown[], what: string, most: number): unknown[] {
  if (entries.length <= most) return entries;
  files.fault(path, `a list of ${entries.length}, which cannot all be ${what}: at most ${most} fit into 1 MiB`);
  return [];
}

async function judgeBundle(file: string, options: JudgeOptions, files: InputFiles): Promise<Judged> {
  const bundles = await import("../evidence-bundle.js");
  const json = await files.json(file, MAX_BUNDLE_BYTES);
  if (json !== undefined && !bundles.isBundle(json)) {
    files.fault(file, "not a bundle (bootproof bundle makes them): other evidence comes after --boot-proof, --app-proof, --activity or --attestation");
  }
  files.settle();
  const bundle = files.decoded(file, () => bundles.decodeBundle(json));
  files.settle();
  if (options.policy === undefined && !bundle!.judgement?.policy) {
    throw new UsageError([`--policy FILE or --no-policy is wanted: there is no policy in ${file}`]);
  }
  const verification = await bundles.verifyBundle(bundle!, { ...options, policy: options.policy ?? bundles.POLICY_OF_THE_BUNDLE });
  return { report: verification.report, bundle: verification };
}
