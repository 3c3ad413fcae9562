/**
 * What a row of the tables of submits and queries is: the notation of its shapes, and the behaviours that are the same
 * for every kind of record. A behaviour is a guess where nobody published what the service does.
 */
import { randomUUID } from "node:crypto";
import type { JsonObject, JsonValue } from "../decode/json.js";
import type { Shape } from "../decode/shapes.js";
import { shapeOf } from "./notation.js";
import type { Question } from "./question.js";
import type { Call, CarryOut, Guessed, LabOperation, Outcome, Row } from "./call.js";
import type { Kept, Organization } from "./records.js";
import type { Reader } from "./state.js";
import { timestamp } from "./timestamp.js";
import { createdAt, deletesFrom, owned, ownedOf, type userOf } from "./users.js";

/** Answers a query. Throws Refusal. */
export type Answer<Parameters> = ((question: Question<Parameters>) => JsonObject | Promise<JsonObject>) & Guessed;

export interface LabQuery extends Row {
  /** Whether users of a sub-organization may ask its parent, too: they do where they do not know their own. */
  readonly byChild: boolean;
  /** Answers the query. `parameters` must match the shape. */
  readonly answer: Answer<JsonObject>;
}

function guess<F extends object>(behaviour: F): F & Required<Guessed> {
  return Object.assign(behaviour, { isGuess: true } as const);
}

/** Returns an object with the members of the notation: those that are known, an id, or an empty value. */
function filled(notation: string, known: JsonObject = {}): JsonObject {
  const { form } = shapeOf(notation);
  const members = form !== undefined && "members" in form ? Object.entries(form.members) : [];
  return Object.fromEntries(
    members.flatMap(([name, shape]): [string, JsonValue][] => {
      if (known[name] !== undefined) return [[name, known[name]]];
      return "optional" in shape ? [] : [[name, /.Id$/.test(name) ? randomUUID() : emptyOf(shape)]];
    }),
  );
}

function emptyOf({ form }: Shape<unknown>): JsonValue {
  if (form !== undefined && "items" in form) return [];
  const type = form !== undefined && "type" in form ? form.type : "object";
  return { string: "", boolean: false, number: 0, integer: 0, object: {} }[type];
}

/** Names that differ from those that the key of the row gives: the kind of record, its id, and its id in results. */
interface Naming {
  readonly of?: string;
  readonly id?: string;
  readonly as?: string;
}

/** Returns the kind of record that a row is about: `mfaPolicy` for `createMfaPolicy` and `listMfaPolicies`. */
function kindIn(key: string): string {
  const kind = key.replace(/^(?:create|update|delete|import|get|list)(.)/, (_, first: string) => first.toLowerCase());
  return kind.replace(/ies$/, "y").replace(/s$/, "");
}

/** Keeps a record of the parameters, or of each item of the list `each`. The result has the id, and `with`. */
export function creates(
  parameters: string,
  more: Naming & Variations & { readonly each?: string; readonly with?: string } = {},
): SubmitRow {
  return (key) => {
    const { of: kind = kindIn(key), id = `${kind}Id`, as = id, each, with: others = "" } = more;
    const carryOut = ({ tx, organization: { organizationId }, parameters: given, now }: Call<JsonObject>): Outcome => {
      const ids = (each === undefined ? [given] : (given[each] as JsonObject[])).map((item) => {
        const own = randomUUID();
        const record = { [id]: own, organizationId, ...item, ...createdAt(now) };
        tx.put("kept", own, { organizationId, kind, id: own, record });
        return own;
      });
      const named: JsonObject = each === undefined ? { [as]: ids[0]! } : { [`${as}s`]: ids };
      return { result: { ...named, ...filled(others, given) } };
    };
    return submit(parameters, guess(carryOut), more)(key);
  };
}

export function updates(parameters: Given<JsonObject>, more: Naming & Variations = {}): SubmitRow {
  return (key) => {
    const { of: kind = kindIn(key), id = `${kind}Id`, as = id } = more;
    const carryOut = ({ tx, organization, parameters: given, now }: Call<JsonObject>): Outcome => {
      const kept = keptOf(tx, organization, kind, String(given[id]));
      tx.put("kept", kept.id, { ...kept, record: { ...kept.record, ...given, updatedAt: timestamp(now) } });
      return { result: { [as]: kept.id } };
    };
    return submit(parameters, guess(carryOut), more)(key);
  };
}

/** Deletes the record or the records that the parameters name. */
export function deletes(parameters: string, more: Naming & Variations = {}): SubmitRow {
  return (key) => {
    const { of: kind = kindIn(key), id = `${kind}Id`, as = id } = more;
    const find = (...[reader, organization, one]: Parameters<typeof userOf>): Kept =>
      keptOf(reader, organization, kind, one);
    return submit(parameters, guess(deletesFrom("kept", id, find, { as })), more)(key);
  };
}

/** Changes nothing, and has a result of this form. */
export function accepts(parameters: Given<JsonObject>, result = "", more: Variations = {}): SubmitRow {
  const carryOut = ({ organization, actor, parameters: given }: Call<JsonObject>): Outcome => {
    const { organizationId, organizationName } = organization;
    const { userId, userName: username } = actor.user;
    return { result: filled(result, { organizationId, organizationName, userId, username, ...given }) };
  };
  return submit(parameters, guess(carryOut), more);
}

/** Shows the record that the parameters name. */
export function showsOne(parameters: string, more: Naming = {}): QueryRow {
  return (key) => {
    const { of: kind = kindIn(key), id = `${kind}Id`, as = kind } = more;
    const answer = ({ state, organization, parameters: given }: Question<JsonObject>): JsonObject => ({
      [as]: keptOf(state, organization, kind, String(given[id])).record,
    });
    return query(parameters, guess(answer))(key);
  };
}

export function showsAll(parameters = "", more: Naming = {}): QueryRow {
  return (key) => {
    const { of: kind = kindIn(key), as = key.replace(/^(?:get|list)(.)/, (_, first: string) => first.toLowerCase()) } =
      more;
    const answer = ({ state, organization }: Question<JsonObject>): JsonObject => ({
      [as]: recordsOf(state, organization, kind),
    });
    return query(parameters, guess(answer))(key);
  };
}

/** Has an answer of this form. A record of the kind `of` has to exist. */
export function answers(
  parameters: string,
  form: string,
  { of: kind, facts }: { of?: string; facts?: JsonObject } = {},
): QueryRow {
  const answer = ({ state, organization, parameters: given }: Question<JsonObject>): JsonObject => {
    if (kind !== undefined) keptOf(state, organization, kind, String(Object.values(given)[0]));
    return filled(form, { ...given, ...facts });
  };
  return query(parameters, guess(answer));
}

export function recordsOf(reader: Reader, organization: Organization, kind: string): JsonObject[] {
  const kept = ownedOf(reader.all("kept"), organization).filter((one) => one.kind === kind);
  return kept.map(({ record }) => record);
}

export function keptOf(reader: Reader, organization: Organization, kind: string, id: string): Kept {
  const kept = reader.get("kept", id);
  return owned(kept?.kind === kind ? kept : undefined, organization, `${kind} ${id}`);
}

type Given<T> = Shape<T> | string;
type OperationFacts = Omit<LabOperation, "name">;

interface Variations {
  /** The version of the type and of the intent. */
  readonly version?: string;
  /** The version of the result. Default: that of the type. */
  readonly result?: string;
  /** The words of the type, if they are not those of the path. */
  readonly type?: string;
  readonly name?: string;
  readonly byParent?: boolean;
}

type SubmitRow = (key: string) => LabOperation;

/** A row of the table of submits. Its path is its key in snake case; type, intent and result are named after that. */
export function submit<T = JsonObject>(
  parameters: Given<T>,
  carryOut: CarryOut<T>,
  { version = "", result = version, type, name: given, byParent = false }: Variations = {},
): SubmitRow {
  return (key) => {
    const name = given ?? snake(key);
    const words = type ?? name.toUpperCase();
    const camel = words.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    const facts: OperationFacts = {
      type: `ACTIVITY_TYPE_${words}${version && `_${version}`}`,
      parameters: typeof parameters === "string" ? shapeOf(parameters) : parameters,
      intentMember: `${camel}Intent${version}`,
      resultMember: `${camel}Result${result}`,
      isGuess: carryOut.isGuess === true,
      byParent,
      carryOut: carryOut as CarryOut<unknown>,
    };
    return { name, ...facts };
  };
}

type QueryRow = (key: string) => LabQuery;

export function query<T = JsonObject>(parameters: Given<T>, answer: Answer<T>, byChild = false): QueryRow {
  return (key) => ({
    name: snake(key),
    byChild,
    parameters: typeof parameters === "string" ? shapeOf(parameters) : parameters,
    isGuess: answer.isGuess === true,
    answer: answer as Answer<unknown>,
  });
}

export function snake(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function tableOf<Key extends string, T>(
  rows: Readonly<Record<Key, (key: string) => T>>,
): Readonly<Record<Key, T>> {
  const named = Object.entries<(key: string) => T>(rows).map(([key, row]) => [key, row(key)]);
  return Object.fromEntries(named) as Record<Key, T>;
}
