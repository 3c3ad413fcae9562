/**
 * Honest and lying answers of every activity type. activity-types.tsv has the names of @turnkey/http 6.6.0, one type a
 * line, without the types that have no result. A member of a form other than text ends with `#` (number), `!` (true or
 * false), `{}` (object) and `[]` (list of these); `?` marks optional ones.
 */
import { readFileSync } from "node:fs";
import { type JsonObject, type JsonValue, folded } from "../../src/decode/json.js";

interface Member {
  readonly name: string;
  readonly isOptional: boolean;
  readonly form: string;
}

export interface ServiceType {
  readonly type: string;
  readonly intentMember: string;
  readonly intent: readonly Member[];
  readonly resultMember: string;
  readonly result: readonly Member[];
  /** Members of the result that have the name of a member of the intent, in the forms of texts, or true and false. */
  readonly shared: readonly Member[];
}

const membersOf = (text: string): Member[] =>
  [...text.matchAll(/(\w+)(\??)(\S*)/g)].map(([, name, mark, form]) => ({
    name: name!,
    isOptional: mark === "?",
    form: form!,
  }));

export const SERVICE_TYPES: readonly ServiceType[] = readFileSync(
  new URL("activity-types.tsv", import.meta.url),
  "utf8",
)
  .trimEnd()
  .split("\n")
  .slice(1)
  .map((line) => {
    const [type, intentMember, sent, resultMember, told] = line.split("\t") as [string, string, string, string, string];
    const [intent, result] = [membersOf(sent), membersOf(told)];
    const shared = result.filter(
      ({ name, form }) => !form.includes("{}") && intent.some((each) => folded(each.name) === folded(name)),
    );
    return { type: `ACTIVITY_TYPE_${type}`, intentMember, intent, resultMember, result, shared };
  });

/** Types whose result is of another organization than the request: a new one, or that of whoever asks. */
const OF_ANOTHER_ORGANIZATION = /^ACTIVITY_TYPE_CREATE_(?:ORGANIZATION|READ_ONLY_SESSION)/;

/** A value of the form. Addresses are in lower case, as callers write them. */
function valueOf({ name, form }: Member, about: string): JsonValue {
  if (form === "!") return true;
  if (form === "#") return 3;
  const text = /address$/i.test(name) ? `0x${"ab".repeat(20)}` : `${about} ${name}`;
  const one: JsonValue = form.startsWith("{}") ? { name: text } : text;
  return form.endsWith("[]") ? [one, form.startsWith("{}") ? { name: `${text} 2` } : `${text} 2`] : one;
}

function without(members: readonly Member[], names: readonly string[]): readonly Member[] {
  return members.filter(({ name }) => !names.includes(name));
}

/** Parameters with every member, but for those that are left out. */
export function parametersOf({ type, intent }: ServiceType, leftOut: readonly string[] = []): JsonObject {
  const whole = Object.fromEntries(without(intent, leftOut).map((member) => [member.name, valueOf(member, "asked")]));
  return type.endsWith("_ORGANIZATION_FEATURE") ? { ...whole, name: "FEATURE_NAME_WEBHOOK" } : whole;
}

/** The honest result: what the request has, and values of the service's own. */
export function resultOf(row: ServiceType, parameters: JsonObject, organizationId: string): JsonObject {
  const asked = new Map(Object.entries(parameters).map(([name, value]) => [folded(name), value]));
  const told = row.result.map((member): [string, JsonValue] => {
    const isShared = row.shared.includes(member);
    const own =
      member.name === "organizationId" && !OF_ANOTHER_ORGANIZATION.test(row.type) ? organizationId : undefined;
    return [member.name, (isShared ? asked.get(folded(member.name)) : own) ?? own ?? valueOf(member, "the service's")];
  });
  const features = row.type.endsWith("SET_ORGANIZATION_FEATURE") ? { features: [parameters] } : {};
  return { ...Object.fromEntries(told), ...features };
}

type Change = readonly [what: string, result: JsonObject];

/** What a service may say instead: lists in another order, addresses with a checksum, optional members as null. */
export function honestChanges({ shared }: ServiceType, result: JsonObject): Change[] {
  return shared.flatMap(({ name, form, isOptional }): Change[] => {
    const value = result[name]!;
    const changes: Record<string, JsonValue> = {
      ...(form === "[]" && { "in another order": [...(value as string[])].reverse() }),
      ...(String(value).startsWith("0x") && { "in another case": `0x${String(value).slice(2).toUpperCase()}` }),
      ...(isOptional && { missing: null }),
    };
    return Object.entries(changes).map(([what, changed]) => [`${name} ${what}`, { ...result, [name]: changed }]);
  });
}

/** Each shared member, changed in each way. */
export function lies({ shared }: ServiceType, result: JsonObject): Change[] {
  return shared.flatMap(({ name, form }): Change[] => {
    const value = result[name]!;
    const list = value as string[];
    const changes: Record<string, JsonValue> =
      form === "!"
        ? { other: value !== true, "as a text": String(value) }
        : form === "[]"
          ? {
              other: ["other", "others"],
              "one other": ["other", ...list.slice(1)],
              shorter: list.slice(1),
              longer: [...list, "other"],
              empty: [],
              "with null": [...list, null],
              "a list inside": [list],
              "as a text": list.join(),
            }
          : { other: "other", empty: "", "as a list": [value], "one of a list": [value, "other"], "as a number": 7 };
    const spelled = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return [
      ...Object.entries(changes).map(([what, changed]): Change => [`${name} ${what}`, { ...result, [name]: changed }]),
      [`${name} beside another spelling`, { ...result, [spelled]: changes["other"]! }],
    ];
  });
}
