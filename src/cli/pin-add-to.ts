/** `bootproof pin --add-to`: adds what was pinned to a policy. */
import type { DemandError } from "../appraise/siblings.js";
import { equalBytes } from "../bytes.js";
import { type Fault, attempt, faultText, listed } from "../errors.js";
import { printable } from "../report/printable.js";
import type { Report } from "../report/report.js";
import { STDIN, bytesBeside, nameOf } from "./files.js";
import { type Problem, UsageError } from "./io.js";
import type { PolicySource } from "./option-files.js";
import { type Pinned, rejectedUnder } from "./pin-provenance.js";
import { warningText } from "./pin-release.js";

/** What is written, and what is said of it. */
export interface AddedPolicy {
  readonly text: string;
  readonly says: string;
  readonly messages: readonly string[];
}

interface Addition {
  readonly base: PolicySource;
  readonly target: string;
  readonly drop: readonly string[];
}

/**
 * Adds to a policy. Throws {@link UsageError} if the result is not a valid policy, drops a demand of its siblings, or
 * rejects the evidence that was added.
 */
export async function withAdded({ base, target, drop }: Addition, { made, verified }: Pinned): Promise<AddedPolicy> {
  const { addToPolicy } = await import("../appraise/edit.js");
  const provenance = verified?.builds.map(({ value }) => value) ?? [];
  const options = { ...base.options, drop, provenance };
  const edited = await keptOrRefused(base.path, () => attempt(() => addToPolicy(base.bytes, made, options)));
  if (edited.value === undefined) throw new UsageError(whyNotAdded(base.path, edited.faults));
  const { text, added, alreadyThere, notes } = edited.value;
  if (verified !== undefined && added.length > 0) await refuseRejecting(base, text, verified);
  const elsewhere = target === base.path ? null : await filesElsewhere(base, text, target);
  if (elsewhere !== null && target !== STDIN) throw new UsageError([`${target}: not written: ${elsewhere}`]);
  const old = base.policy.deployments.map(({ name }) => name);
  return {
    text,
    says: added.length === 0 ? NOTHING_ADDED : `with ${namesText(added)} added beside ${namesText(old)}`,
    messages: [
      ...alreadyThere.map(
        ({ name, as }) => `not added: ${namesText([name])}, since ${namesText([as])} accepts the same`,
      ),
      ...[...notes, ...(elsewhere === null ? [] : [elsewhere])].map((note) => warningText(note)),
    ],
  };
}

async function keptOrRefused<T>(path: string, add: () => T): Promise<T> {
  const { demandText } = await import("../appraise/siblings.js");
  try {
    return add();
  } catch (error) {
    // The error is recognised by its name, since its class may be that of another copy (`bin/build.mjs`).
    if (!(error instanceof Error) || error.name !== "DemandError") throw error;
    const problems = (error as DemandError).refusals.map((one): Problem => {
      return { message: printable(`not pinned: ${demandText(one)}`), advice: printable(one.advice) };
    });
    throw new UsageError([
      `${printable(nameOf(path))}: unchanged. A new deployment keeps what its siblings demand:`,
      ...problems,
    ]);
  }
}

/** Refuses a policy that rejects the evidence from which it was made, since it would reject the enclave that runs. */
async function refuseRejecting(
  { path, options }: PolicySource,
  text: string,
  verified: NonNullable<Pinned["verified"]>,
): Promise<void> {
  const report = await rejectedUnder(text, verified, options);
  if (report === null) return;
  const failed = report.checks.some(({ id, status }) => status === "fail" && id.startsWith("provenance."));
  const message = `${nameOf(path)}: unchanged, since the result would reject this boot proof: ${failuresText(report)}`;
  throw new UsageError([{ message: printable(message), ...(failed && { advice: BUILD_REMEDY }) }]);
}

export function failuresText({ checks }: Report): string {
  const failed = checks.filter(({ status }) => status === "fail");
  return listed(
    failed.map(({ id, detail }) => `${id}: ${detail}`),
    "; ",
  );
}

const BUILD_REMEDY =
  "Give the bundles of the demanded builds (--provenance FILE). To add the deployment without this demand, use " +
  "--drop provenance. If an earlier deployment in the file accepts the same boot proof, that one is used.";

const NOTHING_ADDED = "with no deployment added: the policy has it already";

const TYPES_REMEDY =
  'Set what the application of each deployment may sign: "appProofs": {"types": ["…"]} in the file, and ' +
  "--app-proof-type TYPE… for the new one";

function whyNotAdded(path: string, faults: readonly Fault[]): string[] {
  const asksForTypes = faults.some((fault) => fault.path.endsWith("appProofs.types"));
  return [
    `${path}: unchanged, since the addition would make it an invalid policy:`,
    ...faults.map((one) => faultText([one])),
    ...(asksForTypes ? [TYPES_REMEDY] : []),
  ].map(printable);
}

/**
 * Returns a message if files that the policy names are missing at the target, or differ there. A policy names files
 * relative to its own folder. Null if there is nothing to report.
 */
async function filesElsewhere({ path }: PolicySource, text: string, target: string): Promise<string | null> {
  const { namedFiles } = await import("../appraise/policy.js");
  const names = [...new Set(namedFiles(JSON.parse(text)).map(({ name }) => name))];
  if (target === STDIN) return names.length === 0 ? null : `${NAMES_FILES}: ${listed(names, ", ")}. ${beside(path)}`;
  const [here, there] = [path, target].map(bytesBeside);
  const others = names.flatMap((name) => {
    const found = bytesOrReason(there!, name);
    if (typeof found === "string") return [`${name} (${found})`];
    return equalBytes(found, here!(name)) ? [] : [`${name} (different content)`];
  });
  return others.length === 0
    ? null
    : `${NAMES_FILES}, and these are missing or different there: ${listed(others, ", ")}. ${beside(path)}`;
}

const NAMES_FILES = "the policy names files relative to its own folder";

function beside(path: string): string {
  return `Write it into the folder of ${nameOf(path)}, or copy the files`;
}

function bytesOrReason(read: (name: string) => Uint8Array, name: string): Uint8Array | string {
  try {
    return read(name);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export function namesText(names: readonly string[]): string {
  return listed(
    names.map((name) => JSON.stringify(name)),
    ", ",
  );
}
