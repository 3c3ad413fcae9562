/**
 * The public types as text, for a diff that a reviewer reads: of each entry point every exported name with its
 * declaration. Types that these use and no entry point exports have a section of their own, since most are used in
 * several places. Nothing private or internal, no comments.
 */
import ts from "typescript";

export interface Entry {
  /** As users import it. */
  readonly specifier: string;
  /** Its declaration file. */
  readonly types: string;
  /** The names that it has when it is loaded: a value that is exported as a type is none. */
  readonly values: readonly string[];
}

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  lib: ["lib.es2022.d.ts"],
  types: [],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  strict: true,
  exactOptionalPropertyTypes: true,
};

/** The section of the types that no entry point exports. */
const NOT_EXPORTED = "not exported";

/** The report of each entry point, by its specifier. */
export function apiReports(entries: readonly Entry[]): Map<string, string> {
  const program = ts.createProgram(
    entries.map(({ types }) => types),
    OPTIONS,
  );
  const checker = program.getTypeChecker();
  const exported = entries.map((entry) => ({
    entry,
    symbols: exportsOf(program.getSourceFile(entry.types)!, checker).filter(
      ([name, { flags }]) => (flags & ts.SymbolFlags.Type) !== 0 || entry.values.includes(name),
    ),
  }));
  const unexported = new Unexported();
  const reports = new Map(
    exported.map(({ entry, symbols }) => {
      const names = new Names(checker, unexported);
      for (const [name, symbol] of symbols) names.add(name, symbol);
      // Those of other entries are said with the entry that they come from.
      for (const { entry: other, symbols: theirs } of exported)
        for (const [name, symbol] of theirs) names.add(`${labelOf(other.specifier)}.${name}`, symbol);
      const writer = new Writer(checker, names);
      return [entry.specifier, symbols.map(([name, symbol]) => writer.declaration(name, symbol)).join("\n\n")];
    }),
  );
  const names = new Names(checker, unexported);
  for (const { entry, symbols } of exported)
    for (const [name, symbol] of symbols) names.add(`${labelOf(entry.specifier)}.${name}`, symbol);
  const writer = new Writer(checker, names);
  const texts = unexported.each((name, symbol) => writer.declaration(name, symbol));
  return reports.set(NOT_EXPORTED, texts.sort().join("\n\n"));
}

/** Types of the package that a declaration names, and no entry point exports. */
class Unexported {
  readonly #names = new Map<ts.Symbol, string>();

  /** The name of one; undefined for what another package declares. */
  nameOf(symbol: ts.Symbol | undefined): string | undefined {
    const [declaration] = symbol?.declarations ?? [];
    if (declaration?.getSourceFile().fileName.includes("/dist/") !== true) return undefined;
    // Types of one name have numbers in a file that has both.
    this.#names.set(symbol!, symbol!.name.replace(/\$\d+$/, ""));
    return this.#names.get(symbol!);
  }

  /** Those that a declaration adds are among them. */
  each(write: (name: string, symbol: ts.Symbol) => string): string[] {
    const texts: string[] = [];
    for (const [symbol, name] of this.#names) texts.push(write(name, symbol));
    return [...new Set(texts)];
  }
}

function labelOf(specifier: string): string {
  return specifier.split("/").at(-1)!.replaceAll("-", "_");
}

function exportsOf(file: ts.SourceFile, checker: ts.TypeChecker): [name: string, symbol: ts.Symbol][] {
  return checker
    .getExportsOfModule(checker.getSymbolAtLocation(file)!)
    .map((symbol): [string, ts.Symbol] => [
      symbol.name,
      symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
    ])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** What the public names stand for; of several for one thing, the first. */
class Names {
  readonly #checker: ts.TypeChecker;
  readonly #symbols = new Map<ts.Symbol, string>();
  /** The compiler forgets the names of types that it computed. */
  readonly #types = new Map<ts.Type, string>();
  readonly #unexported: Unexported;

  constructor(checker: ts.TypeChecker, unexported: Unexported) {
    this.#checker = checker;
    this.#unexported = unexported;
  }

  add(name: string, symbol: ts.Symbol): void {
    if (!this.#symbols.has(symbol)) this.#symbols.set(symbol, name);
    const isAlias = (symbol.flags & ts.SymbolFlags.TypeAlias) !== 0;
    const type = isAlias ? this.#checker.getDeclaredTypeOfSymbol(symbol) : undefined;
    const isNamed = type !== undefined && (type.isUnionOrIntersection() || (type.flags & ts.TypeFlags.Object) !== 0);
    if (isNamed && !(type.flags & ts.TypeFlags.Boolean) && !this.#types.has(type)) this.#types.set(type, name);
  }

  ofSymbol(symbol: ts.Symbol | undefined): string | undefined {
    return symbol && this.#symbols.get(symbol);
  }

  unexported(symbol: ts.Symbol | undefined): string | undefined {
    return this.#unexported.nameOf(symbol);
  }

  ofType(type: ts.Type): string | undefined {
    return this.#types.get(type);
  }
}

class Writer {
  readonly #checker: ts.TypeChecker;
  readonly #names: Names;
  /** Types that are being written out, for those that hold themselves. */
  readonly #open: ts.Type[] = [];

  constructor(checker: ts.TypeChecker, names: Names) {
    this.#checker = checker;
    this.#names = names;
  }

  declaration(name: string, symbol: ts.Symbol): string {
    const parts: string[] = [];
    const { flags } = symbol;
    if (flags & ts.SymbolFlags.Function)
      for (const signature of this.#checker.getTypeOfSymbol(symbol).getCallSignatures())
        parts.push(`function ${name}${this.#signature(signature, ": ")};`);
    if (flags & ts.SymbolFlags.Variable)
      parts.push(`const ${name}: ${this.#constant(this.#checker.getTypeOfSymbol(symbol))};`);
    if (flags & ts.SymbolFlags.Class) parts.push(this.#class(name, symbol));
    else if (flags & ts.SymbolFlags.Interface) parts.push(this.#interface(name, symbol));
    if (flags & ts.SymbolFlags.TypeAlias) parts.push(this.#alias(name, symbol));
    if (parts.length === 0) throw new Error(`${name}: a declaration of another kind`);
    return parts.join("\n");
  }

  #constant(type: ts.Type): string {
    return type.flags & ts.TypeFlags.UniqueESSymbol ? "unique symbol" : this.#type(type);
  }

  #class(name: string, symbol: ts.Symbol): string {
    const instance = this.#checker.getDeclaredTypeOfSymbol(symbol) as ts.InterfaceType;
    const constructed = this.#checker.getTypeOfSymbol(symbol);
    const constructors = constructed
      .getConstructSignatures()
      .filter((signature) => signature.declaration !== undefined && isPublic(signature.declaration))
      .map((signature) => `constructor${this.#signature(signature, null)};`);
    const statics = constructed
      .getProperties()
      .filter((member) => member.name !== "prototype")
      .flatMap((member) => this.#member(member).map((line) => `static ${line}`));
    const { bases, inherited } = this.#bases(instance);
    const own = instance.getProperties().filter((member) => !inherited.has(member.name) || isOwn(member, symbol));
    const lines = [...constructors, ...statics.sort(), ...this.#sorted(own)];
    return `class ${name}${this.#parameters(instance)}${bases} ${block(lines)}`;
  }

  #interface(name: string, symbol: ts.Symbol): string {
    const type = this.#checker.getDeclaredTypeOfSymbol(symbol) as ts.InterfaceType;
    const { bases, inherited } = this.#bases(type);
    const own = type.getProperties().filter((member) => !inherited.has(member.name) || isOwn(member, symbol));
    return `interface ${name}${this.#parameters(type)}${bases} ${block(this.#members(type, own))}`;
  }

  /** The bases that have a public name, and what they hold; other bases are written out with the members. */
  #bases(type: ts.InterfaceType): { bases: string; inherited: Set<string> } {
    const named = this.#checker.getBaseTypes(type).filter((base) => this.#nameOf(base) !== null);
    const inherited = new Set(named.flatMap((base) => base.getProperties().map((member) => member.name)));
    return {
      bases: named.length === 0 ? "" : ` extends ${named.map((base) => this.#type(base)).join(", ")}`,
      inherited,
    };
  }

  #alias(name: string, symbol: ts.Symbol): string {
    const declaration = symbol.declarations!.find(ts.isTypeAliasDeclaration)!;
    const { typeParameters } = declaration;
    // What depends on its parameters is said as it is written.
    if (typeParameters !== undefined)
      return `type ${name}<${typeParameters.map((one) => one.getText()).join(", ")}> = ${oneLine(declaration.type)};`;
    return `type ${name} = ${this.#type(this.#checker.getDeclaredTypeOfSymbol(symbol), symbol)};`;
  }

  #parameters(type: ts.InterfaceType): string {
    const parameters = (type.typeParameters ?? []).map((one) => this.#parameter(one));
    return parameters.length === 0 ? "" : `<${parameters.join(", ")}>`;
  }

  #parameter(type: ts.TypeParameter): string {
    const [constraint, otherwise] = [type.getConstraint(), type.getDefault()];
    return (
      type.symbol.name +
      (constraint === undefined ? "" : ` extends ${this.#type(constraint)}`) +
      (otherwise === undefined ? "" : ` = ${this.#type(otherwise)}`)
    );
  }

  /** `(name: type): answer`, or with an arrow; no answer for constructors. */
  #signature(signature: ts.Signature, answer: ": " | " => " | null): string {
    const generics = (signature.getTypeParameters() ?? []).map((one) => this.#parameter(one));
    const parameters = signature.getParameters().map((parameter, index) => {
      const declaration = parameter.valueDeclaration as ts.ParameterDeclaration;
      const rest = declaration.dotDotDotToken === undefined ? "" : "...";
      const optional = this.#checker.isOptionalParameter(declaration);
      const name = ts.isIdentifier(declaration.name) ? declaration.name.text : `argument${index}`;
      const type = this.#checker.getTypeOfSymbol(parameter);
      const given = partsOf(type).filter((one) => !(one.flags & ts.TypeFlags.Undefined));
      return `${rest}${name}${optional ? "?" : ""}: ${optional ? this.#union(given) : this.#type(type)}`;
    });
    const whole = `${generics.length === 0 ? "" : `<${generics.join(", ")}>`}(${parameters.join(", ")})`;
    return answer === null ? whole : `${whole}${answer}${this.#answer(signature)}`;
  }

  #answer(signature: ts.Signature): string {
    const predicate = this.#checker.getTypePredicateOfSignature(signature);
    if (predicate === undefined) return this.#type(signature.getReturnType());
    const asserts =
      predicate.kind === ts.TypePredicateKind.AssertsIdentifier || predicate.kind === ts.TypePredicateKind.AssertsThis;
    const is = predicate.type === undefined ? "" : ` is ${this.#type(predicate.type)}`;
    return `${asserts ? "asserts " : ""}${predicate.parameterName ?? "this"}${is}`;
  }

  #members(type: ts.Type, properties: readonly ts.Symbol[] = type.getProperties()): string[] {
    return [
      ...type.getConstructSignatures().map((signature) => `new ${this.#signature(signature, ": ")};`),
      ...type.getCallSignatures().map((signature) => `${this.#signature(signature, ": ")};`),
      ...this.#checker
        .getIndexInfosOfType(type)
        .map(
          (info) =>
            `${info.isReadonly ? "readonly " : ""}[name: ${this.#type(info.keyType)}]: ${this.#type(info.type)};`,
        ),
      ...this.#sorted(properties),
    ];
  }

  /** By name: of computed types the compiler's order depends on what it met first. */
  #sorted(properties: readonly ts.Symbol[]): string[] {
    return [...properties].sort((a, b) => (a.name < b.name ? -1 : 1)).flatMap((member) => this.#member(member));
  }

  /** None for what is not public. */
  #member(symbol: ts.Symbol): string[] {
    const declarations = symbol.declarations ?? [];
    if (symbol.name.startsWith("__#") || !declarations.every(isPublic)) return [];
    const name = memberName(symbol);
    const isOptional = (symbol.flags & ts.SymbolFlags.Optional) !== 0;
    const whole = this.#checker.getTypeOfSymbol(symbol);
    const type = isOptional ? this.#withoutMissing(whole) : [whole];
    if (symbol.flags & ts.SymbolFlags.Method)
      return type
        .flatMap((one) => one.getCallSignatures())
        .map((signature) => `${name}${isOptional ? "?" : ""}${this.#signature(signature, ": ")};`);
    return [`${isReadonly(symbol) ? "readonly " : ""}${name}${isOptional ? "?" : ""}: ${this.#union(type)};`];
  }

  /** The parts of an optional member's type, without the one that stands for its absence. */
  #withoutMissing(type: ts.Type): ts.Type[] {
    return partsOf(type).filter((one) => (one as { debugIntrinsicName?: string }).debugIntrinsicName !== "missing");
  }

  #type(type: ts.Type, declared?: ts.Symbol): string {
    const name = declared === undefined ? this.#nameOf(type) : null;
    if (name !== null) return name;
    if (this.#open.includes(type)) return (type.aliasSymbol ?? type.symbol).name;
    this.#open.push(type);
    try {
      if (type.isUnion()) return this.#union(partsOf(type));
      if (type.isIntersection()) return this.#intersection(type);
      return type.flags & ts.TypeFlags.Object ? this.#object(type as ts.ObjectType) : this.#plain(type);
    } finally {
      this.#open.pop();
    }
  }

  /** The public name of a type, with its arguments; null where it has none. */
  #nameOf(type: ts.Type): string | null {
    const aliased = (name: string): string =>
      name + this.#arguments((type.aliasTypeArguments ?? []).map((one) => this.#type(one)));
    const alias = this.#names.ofSymbol(type.aliasSymbol);
    if (alias !== undefined) return aliased(alias);
    const computed = this.#names.ofType(type);
    if (computed !== undefined) return computed;
    const unexported = this.#names.unexported(type.aliasSymbol);
    if (unexported !== undefined) return aliased(unexported);
    const { symbol } = type;
    if (symbol === undefined || !(type.flags & ts.TypeFlags.Object)) return null;
    if (this.#checker.isArrayType(type) || this.#checker.isTupleType(type)) return null;
    const isNamed = (symbol.flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Interface)) !== 0;
    const isInstance = ((type as ts.ObjectType).objectFlags & ts.ObjectFlags.Anonymous) === 0;
    if (!isNamed) return null;
    const name = this.#names.ofSymbol(symbol) ?? (isOfPlatform(symbol) ? symbol.name : this.#names.unexported(symbol));
    if (name === undefined) return null;
    return isInstance ? name + this.#arguments(this.#shownArguments(type)) : `typeof ${name}`;
  }

  #typeArguments(type: ts.Type): readonly ts.Type[] {
    const reference = type as ts.TypeReference;
    if (!((type as ts.ObjectType).objectFlags & ts.ObjectFlags.Reference)) return [];
    const count = (reference.target.typeParameters ?? []).length;
    return this.#checker.getTypeArguments(reference).slice(0, count);
  }

  /** Those that are given, not what is taken where none is. */
  #shownArguments(type: ts.Type): string[] {
    const parameters = (type as ts.TypeReference).target?.typeParameters ?? [];
    return this.#typeArguments(type)
      .filter((argument, index) => parameters[index]?.getDefault() !== argument)
      .map((argument) => this.#type(argument));
  }

  #arguments(shown: readonly string[]): string {
    return shown.length === 0 ? "" : `<${shown.join(", ")}>`;
  }

  /** Sorted: in which order the compiler has them depends on what it met first. */
  #union(types: readonly ts.Type[]): string {
    if (types.length === 1) return this.#type(types[0]!);
    const texts = types.map((type) => this.#inner(type));
    const isBoolean = texts.includes("true") && texts.includes("false");
    const whole = isBoolean ? [...texts.filter((text) => text !== "true" && text !== "false"), "boolean"] : texts;
    const rank = (text: string): number => ["null", "undefined"].indexOf(text);
    return [...new Set(whole)].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1)).join(" | ");
  }

  #intersection(type: ts.IntersectionType): string {
    const areObjects = type.types.every(
      (one) => one.flags & ts.TypeFlags.Object && one.getCallSignatures().length === 0,
    );
    if (areObjects) return block(this.#members(type, this.#checker.getPropertiesOfType(type)));
    return type.types.map((one) => this.#inner(one)).join(" & ");
  }

  /** Inside of a union, an intersection or an array. */
  #inner(type: ts.Type): string {
    const text = this.#type(type);
    return / => /.test(text) && !/^[{<]/.test(text) ? `(${text})` : text;
  }

  #object(type: ts.ObjectType): string {
    const checker = this.#checker;
    if (checker.isTupleType(type)) {
      const items = this.#typeArguments(type).map((one) => this.#type(one));
      return `${(type as ts.TupleTypeReference).target.readonly ? "readonly " : ""}[${items.join(", ")}]`;
    }
    if (checker.isArrayType(type)) {
      const item = this.#typeArguments(type)[0]!;
      const text = this.#inner(item);
      const isWide = item.isUnion() && this.#nameOf(item) === null && text.includes(" | ");
      return `${type.symbol.name === "ReadonlyArray" ? "readonly " : ""}${isWide ? `(${text})` : text}[]`;
    }
    const [call, ...more] = type.getCallSignatures();
    const isFunction = call !== undefined && more.length === 0 && type.getProperties().length === 0;
    return isFunction ? this.#signature(call, " => ") : block(this.#members(type));
  }

  #plain(type: ts.Type): string {
    const { NoTruncation, UseAliasDefinedOutsideCurrentScope } = ts.TypeFormatFlags;
    return this.#checker
      .typeToString(type, undefined, NoTruncation | UseAliasDefinedOutsideCurrentScope)
      .replace(/import\("[^"]*"\)\./g, "");
  }
}

/** Unions that are parts of a union by their names, where the compiler still knows it. */
function partsOf(type: ts.Type): readonly ts.Type[] {
  if (!type.isUnion()) return [type];
  const { origin } = type as ts.UnionType & { origin?: ts.Type };
  return origin?.isUnion() === true ? origin.types : type.types;
}

function isOfPlatform(symbol: ts.Symbol): boolean {
  return (symbol.declarations ?? []).some((one) => /\/typescript\/lib\/lib\./.test(one.getSourceFile().fileName));
}

function isOwn(member: ts.Symbol, symbol: ts.Symbol): boolean {
  return (member.declarations ?? []).some((one) => (symbol.declarations ?? []).includes(one.parent as ts.Declaration));
}

function isPublic(declaration: ts.Declaration): boolean {
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
  if (ts.getCombinedModifierFlags(declaration) & hidden) return false;
  if (ts.getNameOfDeclaration(declaration)?.kind === ts.SyntaxKind.PrivateIdentifier) return false;
  return !ts.getJSDocTags(declaration).some((tag) => tag.tagName.text === "internal");
}

function isReadonly(symbol: ts.Symbol): boolean {
  const { links } = symbol as ts.Symbol & { links?: { checkFlags?: number } };
  const CHECK_READONLY = 8;
  if (((links?.checkFlags ?? 0) & CHECK_READONLY) !== 0) return true;
  if (symbol.flags & ts.SymbolFlags.GetAccessor && !(symbol.flags & ts.SymbolFlags.SetAccessor)) return true;
  return (symbol.declarations ?? []).some((one) => ts.getCombinedModifierFlags(one) & ts.ModifierFlags.Readonly);
}

function memberName(symbol: ts.Symbol): string {
  const name = symbol.name.startsWith("__@") ? `[${symbol.name.replace(/^__@(\w+)@.*$/, "Symbol.$1")}]` : symbol.name;
  return /^(?:[A-Za-z_$][\w$]*|\[.*\])$/.test(name) ? name : JSON.stringify(name);
}

function oneLine(node: ts.Node): string {
  return node.getText().replace(/\s+/g, " ");
}

function block(lines: readonly string[]): string {
  if (lines.length === 0) return "{}";
  return `{\n${lines.map((line) => `  ${line.replaceAll("\n", "\n  ")}`).join("\n")}\n}`;
}
