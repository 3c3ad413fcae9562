/**
 * The public types as text, for a diff that a reviewer reads: of each entry point every exported name with its
 * declaration, then what these declarations name and nobody can import. Nothing private or internal, no comments.
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
};

/** The report of each entry point, by its specifier. */
export function apiReports(entries: readonly Entry[]): Map<string, string> {
  const program = ts.createProgram(
    entries.map(({ types }) => types),
    OPTIONS,
  );
  const checker = program.getTypeChecker();
  /** By symbol: the entry point that it is written under. */
  const written = new Map<ts.Symbol, string>();
  const exported = entries.map(({ types, values, specifier }) => {
    const all = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(types)!)!);
    const named = all.map((symbol) => [symbol.name, aliased(symbol, checker)] as const);
    const symbols = named.filter(([name, { flags }]) => flags & ts.SymbolFlags.Type || values.includes(name));
    for (const [, symbol] of symbols) if (!written.has(symbol)) written.set(symbol, specifier);
    return { specifier, symbols: symbols.sort(([a], [b]) => (a < b ? -1 : 1)) };
  });
  return new Map(
    exported.map(({ specifier, symbols }) => {
      const beneath = new Set<ts.Symbol>();
      const texts = symbols.map(([name, symbol]) => {
        const other = written.get(symbol)!;
        if (other !== specifier) return `${name}: that of ${other}`;
        return (symbol.name === name ? "" : `${name} is\n`) + textOf(symbol, checker, beneath);
      });
      // The set grows while it is gone through.
      for (const symbol of beneath)
        if (!written.has(symbol)) {
          written.set(symbol, specifier);
          texts.push(`beneath: ${textOf(symbol, checker, beneath)}`);
        }
      return [specifier, texts.join("\n\n")];
    }),
  );
}

function aliased(symbol: ts.Symbol, checker: ts.TypeChecker): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

const PRINTER = ts.createPrinter({ removeComments: true });

/** The declarations of a symbol; what they name is added to the set. */
function textOf(symbol: ts.Symbol, checker: ts.TypeChecker, named: Set<ts.Symbol>): string {
  const texts = symbol.declarations!.map((declaration) => {
    const node = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
    const { transformed } = ts.transform(node, [withoutHidden]);
    addNamed(transformed[0]!, checker, named);
    return PRINTER.printNode(ts.EmitHint.Unspecified, transformed[0]!, node.getSourceFile());
  });
  return texts.map((text) => text.replace(/^(?:export )?(?:declare )?/, "")).join("\n");
}

const withoutHidden: ts.TransformerFactory<ts.Node> = (context) => {
  const visit = (node: ts.Node): ts.Node | undefined => {
    const isMember = ts.isClassElement(node) || ts.isTypeElement(node);
    return isMember && isHidden(node) ? undefined : ts.visitEachChild(node, visit, context);
  };
  return (node) => ts.visitEachChild(node, visit, context);
};

function isHidden(member: ts.Declaration): boolean {
  if (ts.getCombinedModifierFlags(member) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) return true;
  if (ts.getNameOfDeclaration(member)?.kind === ts.SyntaxKind.PrivateIdentifier) return true;
  return ts.getJSDocTags(member).some(({ tagName }) => tagName.text === "internal");
}

/** Adds what a declaration names of this package, of its own members and parameters none. */
function addNamed(node: ts.Node, checker: ts.TypeChecker, named: Set<ts.Symbol>): void {
  if (ts.isIdentifier(node)) {
    const symbol = checker.getSymbolAtLocation(ts.getOriginalNode(node));
    const whole = symbol && aliased(symbol, checker);
    if (whole?.declarations?.some(isOfPackage) === true) named.add(whole);
  }
  ts.forEachChild(node, (child) => addNamed(child, checker, named));
}

function isOfPackage(declaration: ts.Declaration): boolean {
  const statement = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  return ts.isSourceFile(statement.parent) && /\/dist\/src\//.test(statement.getSourceFile().fileName);
}
