/** Names of the evidence in a report, for every text about it. */
import { type Check, type CheckFamily, type CheckStatus, type CheckSubject, subjectLabel } from "../checks.js";
import { printable } from "./printable.js";
import type { Report } from "./report.js";

/** A check as it is shown. A status `warn` that weakens nothing is a note. */
export type ShownCheck = Omit<Check, "status"> & { readonly status: CheckStatus | "note" };

/** Returns the value of a key, or undefined for an unknown key, which a report of another version may have. */
export function known<K extends string, V>(table: Readonly<Record<K, V>>, key: K): V | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

export function labelOf(subject: CheckSubject, { evidence }: Pick<Report, "evidence">): string {
  return printable(subjectLabel(subject, evidencePiece(subject, evidence)?.name));
}

type Pieces = Report["evidence"];

/** Index of evidence by subject. It saves a search for each check, because a report can have thousands. */
const PLACES = new WeakMap<Pieces, ReadonlyMap<CheckSubject, number>>();

export function evidencePiece(subject: CheckSubject, evidence: Pieces): Pieces[number] | undefined {
  const place = placesIn(evidence).get(subject);
  const piece = place === undefined ? undefined : evidence[place];
  // The caller may have changed the report since the index was made.
  return piece?.subject === subject ? piece : evidence.find((one) => one.subject === subject);
}

function placesIn(evidence: Pieces): ReadonlyMap<CheckSubject, number> {
  const found = PLACES.get(evidence);
  if (found !== undefined) return found;
  const places = new Map<CheckSubject, number>();
  evidence.forEach(({ subject }, index) => {
    if (!places.has(subject)) places.set(subject, index);
  });
  PLACES.set(evidence, places);
  return places;
}

const GROUPS: Readonly<Record<CheckFamily, string>> = {
  boot: "Document and certificate chain",
  cose: "Document and certificate chain",
  doc: "Document and certificate chain",
  chain: "Document and certificate chain",
  manifest: "Manifest and approvals",
  envelope: "Manifest and approvals",
  bind: "Bindings and debug mode",
  mode: "Bindings and debug mode",
  app: "App proofs",
  activity: "Activity",
  policy: "Policy",
  provenance: "Build provenance",
  token: "Token",
};
/** Heading for checks of another version. */
const OTHER = "Other";

/** Returns the heading under which reports show a check. */
export function checkGroup(id: string): string {
  return known(GROUPS, id.split(".", 1)[0] as CheckFamily) ?? OTHER;
}
