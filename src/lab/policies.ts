/** Access policies: what the lab reads of the service's policy language, and what policies decide. */
import { randomUUID } from "node:crypto";
import { otherMembers } from "../decode/input.js";
import type { JsonObject } from "../decode/json.js";
import { type ReadOf, list, nonEmptyText, object, oneOf, optional, text } from "../decode/shapes.js";
import type { AccessPolicy, ActivityRecord, Organization, UserRecord } from "./records.js";
import { invalid } from "./refusal.js";
import type { Call, Outcome } from "./call.js";
import type { Reader } from "./state.js";
import { timestamp } from "./timestamp.js";
import { createdAt, isRoot, owned, ownedOf } from "./users.js";

/** What an expression is about. */
interface Scope {
  readonly activity: Readonly<Record<string, string>>;
  readonly approvers: readonly UserRecord["user"][];
}
type Holds = (scope: Scope, ...groups: string[]) => boolean;

/** The terms that the lab reads. An expression joins them by `&&` and `||`. */
const TERMS: readonly (readonly [form: RegExp, holds: Holds])[] = [
  [/^(true|false)$/, (_, value) => value === "true"],
  [/^activity\.(type|action|resource) == '(\w+)'$/, ({ activity }, name, value) => activity[name!] === value],
  [/^activity\.(type|action|resource) != '(\w+)'$/, ({ activity }, name, value) => activity[name!] !== value],
  [
    /^activity\.(type|action|resource) in \[('\w+'(?:, *'\w+')*)\]$/,
    ({ activity }, name, values) => values!.includes(`'${activity[name!]}'`),
  ],
  [/^approvers\.count\(\) >= (\d+)$/, ({ approvers }, least) => approvers.length >= Number(least)],
  [
    /^approvers\.any\((\w+), *\1\.id == '([^']+)'\)$/,
    ({ approvers }, _, id) => approvers.some(({ userId }) => userId === id),
  ],
  [
    /^approvers\.any\((\w+), *\1\.tags\.contains\('([^']+)'\)\)$/,
    ({ approvers }, _, tag) => approvers.some(({ userTags }) => userTags.includes(tag!)),
  ],
];

/** Returns whether an expression holds. An empty one does. Throws Refusal for what the lab does not read. */
function holds(source: string, scope: Scope): boolean {
  const termHolds = (term: string): boolean => {
    const [groups, read] =
      TERMS.map(([form, one]) => [form.exec(term.trim()), one] as const).find(([found]) => found) ?? [];
    if (groups === undefined || groups === null)
      throw invalid(
        `parameters: the lab does not read ${JSON.stringify(term.trim())} in policies, but only true, false, and ` +
          'terms about activity.type, .action, .resource, approvers.count() and .any() (src/lab/README.md, "Policies")',
      );
    return read!(scope, ...groups.slice(1));
  };
  if (source === "") return true;
  // All terms are read, so that none which cannot be read is passed over.
  const any = source.split("||").map((all) => all.split("&&").map(termHolds));
  return any.some((all) => !all.includes(false));
}

type Decision =
  | { readonly kind: "allowed" | "consensus" | "none" }
  | { readonly kind: "denied"; readonly message: string };

/**
 * Returns what the organization decides on an activity that these users approved. Policies do not bind the quorum of
 * root users, and of all others one that denies wins.
 */
export function decide(
  reader: Reader,
  organization: Organization,
  { activity: { type } }: ActivityRecord,
  approvers: readonly UserRecord[],
): Decision {
  const roots = approvers.filter((one) => isRoot(organization, one)).length;
  if (roots >= (organization.rootQuorumThreshold ?? 1)) return { kind: "allowed" };
  const [, action = "", resource = ""] = /^ACTIVITY_TYPE_([A-Z]+)_(.+?)(?:_V\d+)?$/.exec(String(type)) ?? [];
  const scope = { activity: { type: String(type), action, resource }, approvers: approvers.map(({ user }) => user) };
  const about = ownedOf(reader.all("policies"), organization).filter(({ condition }) => holds(condition, scope));
  const met = about.filter(({ consensus }) => holds(consensus, scope));
  const denying = met.find(({ effect }) => effect === "EFFECT_DENY");
  if (denying !== undefined) return { kind: "denied", message: `policy ${denying.policyName} denies ${String(type)}` };
  if (met.length > 0) return { kind: "allowed" };
  return { kind: roots > 0 || about.some(({ effect }) => effect === "EFFECT_ALLOW") ? "consensus" : "none" };
}

const effect = oneOf("EFFECT_ALLOW", "EFFECT_DENY");
const policyShape = object({
  policyName: nonEmptyText,
  effect,
  condition: optional(text),
  consensus: optional(text),
  notes: optional(text),
  time: optional(text),
});
export const policyShapes = {
  createPolicy: policyShape,
  createPolicies: object({ policies: list(policyShape, 1) }),
  updatePolicy: object({
    policyId: text,
    policyName: optional(nonEmptyText),
    policyEffect: optional(effect),
    policyCondition: optional(text),
    policyConsensus: optional(text),
    policyNotes: optional(text),
    time: optional(text),
  }),
};
type Requested = ReadOf<typeof policyShape>;

export function createPolicy(call: Call<Requested>): Outcome {
  return { result: { policyId: keep(call, [call.parameters])[0]! } };
}

export function createPolicies(call: Call<{ readonly policies: readonly Requested[] }>): Outcome {
  return { result: { policyIds: keep(call, call.parameters.policies) } };
}

function keep({ tx, organization, now }: Call<unknown>, requested: readonly Requested[]): string[] {
  const { organizationId } = organization;
  const policies = requested.map(({ condition = "", consensus = "", notes = "", policyName, effect }) => {
    refuseUnreadable(condition, consensus);
    return {
      policyName,
      effect,
      condition,
      consensus,
      notes,
      organizationId,
      policyId: randomUUID(),
      ...createdAt(now),
    };
  });
  for (const policy of policies) tx.put("policies", policy.policyId, policy);
  return policies.map(({ policyId }) => policyId);
}

export function updatePolicy({
  tx,
  organization,
  parameters,
  now,
}: Call<ReadOf<typeof policyShapes.updatePolicy>>): Outcome {
  const { policyId } = parameters;
  const before = policyOf(tx, organization, policyId);
  const {
    policyName = before.policyName,
    policyEffect = before.effect,
    policyCondition: condition = before.condition,
    policyConsensus: consensus = before.consensus,
    policyNotes: notes = before.notes,
  } = parameters;
  refuseUnreadable(condition, consensus);
  const changes = { policyName, effect: policyEffect, condition, consensus, notes, updatedAt: timestamp(now) };
  tx.put("policies", policyId, { ...before, ...changes });
  return { result: { policyId } };
}

function refuseUnreadable(...sources: readonly string[]): void {
  if (sources.every((source) => source === "")) throw invalid("parameters: expected a condition or a consensus");
  for (const source of sources) holds(source, { activity: {}, approvers: [] });
}

export function policyOf(reader: Reader, organization: Organization, policyId: string): AccessPolicy {
  return owned(reader.get("policies", policyId), organization, `policy ${policyId}`);
}

export function policiesOf(reader: Reader, organization: Organization): JsonObject[] {
  return ownedOf(reader.all("policies"), organization).map(policyJson);
}

export function policyJson(policy: AccessPolicy): JsonObject {
  return otherMembers(policy, "organizationId");
}
