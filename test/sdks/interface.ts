/** The interface of the newest `@turnkey/http`, read from its declarations. */
import { readFileSync } from "node:fs";
import ts from "typescript";

/** `text`, `flag` and `number`, an enum's values, a list, or an object, whose optional members end in `?`. */
export type Type = string | readonly string[] | { readonly list: Type } | { readonly [name: string]: Type };

export interface Operation {
  readonly group: "submit" | "query";
  /** The last segment of the path. */
  readonly name: string;
  readonly method: string;
  /** The type of a submit. */
  readonly type: string | null;
  readonly parameters: { readonly [name: string]: Type };
}

const FILE = "node_modules/@turnkey/http/dist/__generated__/services/coordinator/public/v1/public_api.types.d.ts";

type Members = Readonly<Record<string, ts.PropertySignature>>;

function membersOf(type: ts.Node): Members {
  const named = (type as ts.TypeLiteralNode).members.filter(ts.isPropertySignature);
  return Object.fromEntries(named.map((one) => [(one.name as ts.Identifier | ts.StringLiteral).text, one]));
}

export function readInterface(): Operation[] {
  const text = readFileSync(new URL(FILE, import.meta.url), "utf8");
  const source = ts.createSourceFile(FILE, text, ts.ScriptTarget.Latest, true);
  const aliases = source.statements.filter(ts.isTypeAliasDeclaration).map((one) => [one.name.text, one.type] as const);
  const { paths, operations, definitions } = Object.fromEntries(aliases.map(([name, type]) => [name, membersOf(type)]));
  const indexOf = (type: ts.TypeNode | undefined): string =>
    ((type as ts.IndexedAccessTypeNode).indexType as ts.LiteralTypeNode).literal.getText().slice(1, -1);

  const typeOf = (type: ts.TypeNode): Type => {
    if (ts.isArrayTypeNode(type)) return { list: typeOf(type.elementType) };
    if (ts.isUnionTypeNode(type)) return type.types.map((one) => one.getText().slice(1, -1));
    if (ts.isLiteralTypeNode(type)) return [type.getText().slice(1, -1)];
    if (ts.isIndexedAccessTypeNode(type)) return typeOf(definitions![indexOf(type)]!.type!);
    if (!ts.isTypeLiteralNode(type)) return { string: "text", boolean: "flag", number: "number" }[type.getText()] ?? {};
    const members = Object.entries(membersOf(type));
    return Object.fromEntries(members.map(([name, one]) => [name + (one.questionToken ? "?" : ""), typeOf(one.type!)]));
  };

  return Object.entries(paths!).flatMap(([path, { type }]): Operation[] => {
    const [, group, name] = /^\/public\/v1\/(submit|query)\/(\w+)$/.exec(path) ?? [];
    if (group === undefined) return [];
    const operation = indexOf(membersOf(type!)["post"]!.type);
    const { body } = membersOf(membersOf(operations![operation]!.type!)["parameters"]!.type!);
    const whole = typeOf(membersOf(body!.type!)["body"]!.type!) as Readonly<Record<string, Type>>;
    const method = operation.replace(/^\w+_(.)/, (_, first: string) => first.toLowerCase());
    const { organizationId: _, ...query } = whole;
    const facts = { group: group as "submit" | "query", name: name!, method };
    return group === "submit"
      ? [{ ...facts, type: (whole["type"] as readonly string[])[0]!, parameters: whole["parameters"] as typeof query }]
      : [{ ...facts, type: null, parameters: query }];
  });
}
