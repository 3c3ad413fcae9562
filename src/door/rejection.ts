/** The message of a rejected activity, the same at every entrance (door/README.md, "Rejections"). */
import { type Check, type CheckId, checkRow } from "../checks.js";
import { cut, listed } from "../errors.js";
import type { Report } from "../report/report.js";
import { refusalText } from "../verification.js";

/** Operations whose requests have no member `generateAppProofs`: their activities never have app proofs. */
export const OPERATIONS_WITHOUT_APP_PROOFS = [
  "create_mfa_policy",
  "create_session_profile",
  "create_tvc_app",
  "create_tvc_deployment",
  "create_tvc_manifest_approvals",
  "delete_mfa_policy",
  "delete_secrets",
  "export_secrets",
  "import_secrets",
  "init_import_secrets",
  "post_tvc_quorum_key_share",
  "spark_claim_transfer",
  "spark_prepare_lightning_receive",
  "spark_prepare_transfer",
  "spark_sign_frost",
  "update_mfa_policy",
] as const;

interface Rejected {
  readonly operation: string | null;
  readonly activityId: string | null;
  readonly hasAppProofs: boolean;
}

/** Maximum characters of the message and of each detail, which may quote the service. */
const MAX_MESSAGE = 4096;
const MAX_DETAIL = 500;

/**
 * Returns the message: the ids of the checks for which the activity is refused, what to do, and each of these checks
 * once.
 */
export function rejectionText(report: Report, facts: Rejected): string {
  const { operation, activityId } = facts;
  const refused = refusedChecks(report);
  const ids = refused.size === 0 ? "warnings" : listed([...refused.keys()]);
  const about = [operation, activityId].filter((one) => one !== null).join(" ");
  const done = `The service may have carried out ${activityId ?? "the activity"}`;
  const carriedOut = operation === null ? [] : [`${done}: check the activity before you submit again.`];
  const details = report.refusedFor === undefined ? listed([...refused].map(detailOf), "; ") : refusalText(report);
  const advice = sentence(whatToDo(report, refused, facts));
  const head = `rejected: ${ids}${about === "" ? "" : ` (${about})`}`;
  // Advice with steps ends with a command, so the next sentence is on a line of its own.
  const gap = advice.includes("\n") ? "\n" : " ";
  return cut([`${head}: ${advice}`, ...carriedOut, `Details: ${sentence(details)}`].join(gap), MAX_MESSAGE);
}

type Refused = ReadonlyMap<CheckId, readonly [Check, ...Check[]]>;

/** Returns the failed checks by id, or those whose warning strict acceptance refuses. */
function refusedChecks({ checks, refusedFor }: Report): Refused {
  const refused = new Map<CheckId, [Check, ...Check[]]>();
  for (const check of checks) {
    const isWarning = check.status === "warn" && checkRow(check.id)?.warn === "warning";
    if (refusedFor === undefined ? check.status !== "fail" : !isWarning) continue;
    const same = refused.get(check.id);
    if (same === undefined) refused.set(check.id, [check]);
    else same.push(check);
  }
  return refused;
}

function whatToDo({ refusedFor, stale }: Report, refused: Refused, { activityId, hasAppProofs }: Rejected): string {
  const isComplete = hasAppProofs || activityId === null || refused.has("activity.request");
  if (!isComplete && refused.has("activity.decode")) return NO_APP_PROOFS;
  if (refusedFor !== undefined) return `Settle the warnings before you rely on it: acceptance "strict" refuses them`;
  const [first] = [...refused.values()].flat();
  const genuine = stale ? "the evidence is genuine, but older than the policy allows. " : "";
  return `${genuine}${first?.advice ?? "Do not rely on it"}`;
}

const NO_APP_PROOFS =
  "this operation returned no app proofs: was `generateAppProofs` set; " +
  `${OPERATIONS_WITHOUT_APP_PROOFS.length} operations never have any (${OPERATIONS_WITHOUT_APP_PROOFS.join(", ")})`;

const PIECES: Readonly<Record<string, string>> = { boot: "boot proof", app: "app proof", provenance: "bundle" };

function detailOf([id, checks]: readonly [CheckId, readonly [Check, ...Check[]]]): string {
  const subjects = [...new Set(checks.map(({ about, subject }) => about ?? subject))];
  const piece = PIECES[subjects[0]!.replace(/\[.*/, "")];
  const count = piece === undefined ? "" : ` (${subjects.length} ${piece}${subjects.length === 1 ? "" : "s"})`;
  return `${id}${count}: ${cut(checks[0].detail, MAX_DETAIL)}`;
}

function sentence(text: string): string {
  return text.endsWith(".") || text.includes("\n") ? text : `${text}.`;
}
