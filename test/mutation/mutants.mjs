/**
 * The mutants of a source file: small changes, each of which takes a rule away or moves it. A mutant is a text that
 * replaces a range of the source. TypeScript's checker says which expressions are boolean or numbers.
 */
import ts from "typescript";

const { SyntaxKind } = ts;
const BOUNDARIES = { "<": "<=", "<=": "<", ">": ">=", ">=": ">" };
const OPERATORS = { "+": "-", "-": "+", "*": "/", "/": "*", "<<": ">>", ">>": "<<", "+=": "-=", "-=": "+=" };
const SWAPPED_METHODS = { some: "every", every: "some", min: "max", max: "min" };
/** Methods whose result may be replaced by what they were called on. */
const DROPPED_METHODS = ["filter", "slice", "subarray", "sort", "reverse", "toLowerCase", "trim", "flat"];
/** Characters of a mutant's source that it is known by. */
const MAX_SOURCE = 120;

/** What a mutant is known by, whatever its line. */
export const keyOf = (mutant) => [mutant.file, mutant.in, mutant.mutation, mutant.source].join(" | ");

/** The mutants of a file of the program, in the order of its text. */
export function mutantsOf(program, file, path) {
  const source = program.getSourceFile(path);
  const checker = program.getTypeChecker();
  const [mutants, taken] = [[], new Map()];
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    for (const [mutation, by, range = node] of changesOf(node, checker)) {
      const whole = node.getText(source).replaceAll(/\s+/g, " ");
      const text = whole.length > MAX_SOURCE ? `${whole.slice(0, MAX_SOURCE)}…` : whole;
      const mutant = { file, in: placeOf(node), mutation, source: text };
      const count = (taken.get(keyOf(mutant)) ?? 0) + 1;
      taken.set(keyOf(mutant), count);
      if (count > 1) mutant.mutation += ` (${count})`;
      const start = range.getStart(source);
      const line = source.getLineAndCharacterOfPosition(start).line + 1;
      mutants.push({ ...mutant, line, start, end: range.getEnd(), by });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return mutants;
}

/** Each change of a node: what it is called, the other text, and the range of that text where it is not the node. */
function changesOf(node, checker) {
  if (ts.isExpressionStatement(node) || ts.isThrowStatement(node)) {
    const isSuper = node.expression.expression?.kind === SyntaxKind.SuperKeyword;
    return isSuper ? [] : [["statement → nothing", "{}"]];
  }
  if (!ts.isExpression(node) || !isReplaceable(node)) return [];
  const changes = [...literalChanges(node), ...binaryChanges(node, checker), ...callChanges(node)];
  const text = node.getText();
  const [canBeTrue, canBeFalse] = isCondition(node, checker) ? directions(node) : [false, false];
  const type = checker.typeToString(checker.getTypeAtLocation(node));
  // A call or a name whose only answer this is, by its type, stays the same.
  const isNews = (answer) => !(type === answer && (ts.isCallExpression(node) || ts.isIdentifier(node)));
  if (canBeTrue && isNews("true")) changes.push(["condition → true", `((${text}) || true)`]);
  if (canBeFalse && isNews("false")) changes.push(["condition → false", `((${text}) && false)`]);
  return changes;
}

function literalChanges(node) {
  const text = node.getText();
  if (ts.isNumericLiteral(node)) return [["number → one more", `(${text} + 1)`]];
  if (ts.isBigIntLiteral(node)) return [["number → one more", `(${text} + 1n)`]];
  if (ts.isRegularExpressionLiteral(node)) {
    const [, body, flags] = /^\/(.*)(\/\w*)$/s.exec(text);
    return [
      ...(body.startsWith("^") ? [["^ → nothing", `/${body.slice(1) || "(?:)"}${flags}`]] : []),
      ...(/[^\\]\$$/.test(body) ? [["$ → nothing", `/${body.slice(0, -1)}${flags}`]] : []),
    ];
  }
  const isText = ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node);
  // Two words and more, outside of what is put into them, are for people: no test has to hold them word for word.
  if (!isText || /[A-Za-z],? [A-Za-z]/.test(text.replace(/\$\{[^}]*\}/g, "x"))) return [];
  return [["text → another", text.length === 2 ? '"mutated"' : '""']];
}

function binaryChanges(node, checker) {
  if (!ts.isBinaryExpression(node)) return [];
  const { left, right, operatorToken } = node;
  const operator = operatorToken.getText();
  if (operator === "??") return [["?? → its left side", `(${left.getText()})`]];
  const moved = BOUNDARIES[operator];
  if (moved !== undefined) return [[`boundary → ${moved}`, moved, operatorToken]];
  const by = OPERATORS[operator];
  const isNumber = (one) => checker.getTypeAtLocation(one).flags & (ts.TypeFlags.NumberLike | ts.TypeFlags.BigIntLike);
  if (by === undefined || !isNumber(left) || !isNumber(right)) return [];
  return [[`operator → ${by}`, `(${left.getText()} ${by} ${right.getText()})`]];
}

function callChanges(node) {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return [];
  const { name, expression } = node.expression;
  if (DROPPED_METHODS.includes(name.text)) return [[`${name.text} → nothing`, `(${expression.getText()})`]];
  if (!Object.hasOwn(SWAPPED_METHODS, name.text)) return [];
  return [[`${name.text} → ${SWAPPED_METHODS[name.text]}`, SWAPPED_METHODS[name.text], name]];
}

function isCondition(node, checker) {
  if (node.kind === SyntaxKind.TrueKeyword || node.kind === SyntaxKind.FalseKeyword) return true;
  if (ts.isParenthesizedExpression(node) || isNegation(node.parent)) return false;
  const { parent } = node;
  if (isLoop(parent) || ts.isIfStatement(parent)) return (parent.condition ?? parent.expression) === node;
  if (ts.isConditionalExpression(parent) && parent.condition === node) return true;
  // Nobody reads the answer of a statement, and what is assigned has mutants of its own.
  const isAssigning = ts.isBinaryExpression(node) && isAssignment(node.operatorToken.kind);
  if (ts.isExpressionStatement(parent) || isAssigning) return false;
  const isComputed = ts.isBinaryExpression(node) || ts.isCallExpression(node) || ts.isPrefixUnaryExpression(node);
  const { flags } = checker.getTypeAtLocation(node);
  return (isComputed || isLogical(parent)) && (flags & ts.TypeFlags.BooleanLike) !== 0;
}

/** Whether the condition is made true, and whether false: what another mutant does already is left out. */
function directions(node) {
  const { kind, parent } = node;
  if (kind === SyntaxKind.TrueKeyword || isLoop(parent)) return [false, true];
  if (kind === SyntaxKind.FalseKeyword) return [true, false];
  const isAnd = isLogical(parent) && parent.operatorToken.kind === SyntaxKind.AmpersandAmpersandToken;
  return isLogical(parent) ? [isAnd, !isAnd] : [true, true];
}

const isLoop = (node) => ts.isWhileStatement(node) || ts.isDoStatement(node) || ts.isForStatement(node);
const isLogical = (node) =>
  ts.isBinaryExpression(node) &&
  [SyntaxKind.AmpersandAmpersandToken, SyntaxKind.BarBarToken].includes(node.operatorToken.kind);
const isNegation = (node) => ts.isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken;
const isAssignment = (kind) => kind >= SyntaxKind.FirstAssignment && kind <= SyntaxKind.LastAssignment;

/** Whether another expression can stand in the expression's place. */
function isReplaceable(node) {
  const { parent } = node;
  if (ts.isImportDeclaration(parent) || ts.isExportDeclaration(parent) || ts.isImportAttribute(parent)) return false;
  if ((node.flags & ts.NodeFlags.OptionalChain) !== 0 || node.kind === SyntaxKind.SuperKeyword) return false;
  if (parent.name === node || ts.isExpressionWithTypeArguments(node) || ts.isTaggedTemplateExpression(parent))
    return false;
  if (ts.isCallExpression(parent) && parent.expression === node) return false;
  if (ts.isBinaryExpression(parent) && parent.left === node && isAssignment(parent.operatorToken.kind)) return false;
  return !ts.isPostfixUnaryExpression(parent) && !ts.isDeleteExpression(parent);
}

/** The names of the functions, classes and constants around a node. */
function placeOf(node) {
  const names = [];
  for (let at = node.parent; at !== undefined; at = at.parent) {
    const isNamed = ts.isFunctionLike(at) || ts.isClassDeclaration(at) || ts.isPropertyAssignment(at);
    const isConstant = ts.isVariableDeclaration(at) && ts.isSourceFile(at.parent.parent.parent);
    if ((isNamed || isConstant) && at.name !== undefined) names.unshift(at.name.getText());
    else if (ts.isConstructorDeclaration(at)) names.unshift("constructor");
  }
  return names.join(".");
}
