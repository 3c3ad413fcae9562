/**
 * The mutants of a source file, and one text of it that holds them all: `__mutation` tells at run time which one is
 * active. TypeScript's checker says which expressions are boolean, numbers or lists.
 */
import ts from "typescript";

/** What takes the place of an operator. Its other mutants (`===` for `!==`, `||` for `&&`) are those of a condition. */
const OPERATORS = new Map([
  [ts.SyntaxKind.PlusToken, "-"],
  [ts.SyntaxKind.MinusToken, "+"],
  [ts.SyntaxKind.AsteriskToken, "/"],
  [ts.SyntaxKind.SlashToken, "*"],
  [ts.SyntaxKind.PercentToken, "*"],
  [ts.SyntaxKind.LessThanLessThanToken, ">>"],
  [ts.SyntaxKind.GreaterThanGreaterThanToken, "<<"],
  [ts.SyntaxKind.AmpersandToken, "|"],
  [ts.SyntaxKind.BarToken, "&"],
  [ts.SyntaxKind.PlusEqualsToken, "-="],
  [ts.SyntaxKind.MinusEqualsToken, "+="],
]);
const BOUNDARIES = new Map([
  [ts.SyntaxKind.LessThanToken, "<="],
  [ts.SyntaxKind.LessThanEqualsToken, "<"],
  [ts.SyntaxKind.GreaterThanToken, ">="],
  [ts.SyntaxKind.GreaterThanEqualsToken, ">"],
]);
const SWAPPED_METHODS = { some: "every", every: "some", min: "max", max: "min" };
/** Methods whose result may be replaced by what they were called on. */
const DROPPED_METHODS = new Set(["filter", "slice", "subarray", "sort", "reverse", "toLowerCase", "trim", "flat"]);
/** Characters of a mutant's source that it is known by. */
const MAX_SOURCE = 120;
const LITERAL_PARENTS = new Set([
  ts.SyntaxKind.ImportDeclaration,
  ts.SyntaxKind.ExportDeclaration,
  ts.SyntaxKind.LiteralType,
  ts.SyntaxKind.ImportAttribute,
]);

/**
 * @typedef {object} Mutant
 * @property {string} file
 * @property {string} in The function (or constant) around it.
 * @property {string} mutation What it does, such as `condition → true`.
 * @property {string} source The text that it replaces.
 * @property {number} line For people: not what a mutant is known by.
 */

/** What a mutant is known by from one version of the file to the next. */
export const keyOf = (mutant) => [mutant.file, mutant.in, mutant.mutation, mutant.source].join(" | ");

/**
 * @param {ts.Program} program
 * @param {string} file Relative to the root, as mutants name it.
 * @param {string} path
 * @param {number} first The id of the first mutant.
 * @returns {{mutants: Mutant[], code: string}}
 */
export function mutate(program, file, path, first) {
  const source = program.getSourceFile(path);
  if (source === undefined) throw new Error(`${file} is not part of the program`);
  const made = new Maker(program.getTypeChecker(), source, file, first);
  const code = made.emit(source);
  return { mutants: made.mutants, code: `const __mutation = globalThis[Symbol.for("mutation")];${code}` };
}

class Maker {
  /** @type {Mutant[]} */
  mutants = [];
  #taken = new Map();

  constructor(checker, source, file, first) {
    this.checker = checker;
    this.source = source;
    this.file = file;
    this.first = first;
  }

  /** The node's text with its mutants and those within it. */
  emit(node) {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node))
      return node.getFullText(this.source);
    const leading = node.getFullText(this.source).slice(0, node.getLeadingTriviaWidth(this.source));
    return leading + this.#wrapped(node);
  }

  #inner(node) {
    let [text, at] = ["", node.getStart(this.source)];
    for (const child of this.#children(node)) {
      text += this.source.text.slice(at, child.getFullStart()) + this.emit(child);
      at = child.getEnd();
    }
    return text + this.source.text.slice(at, node.getEnd());
  }

  /** In the order of the text. */
  #children(node) {
    const children = [];
    ts.forEachChild(node, (child) => void children.push(child));
    return children.filter((child) => child.getFullWidth() > 0).sort((a, b) => a.getFullStart() - b.getFullStart());
  }

  #wrapped(node) {
    if (ts.isExpressionStatement(node) || ts.isThrowStatement(node)) return this.#statement(node);
    if (!ts.isExpression(node) || !isReplaceable(node)) return this.#inner(node);
    const inner = this.#compared(node) ?? this.#left(node) ?? this.#dropped(node) ?? this.#inner(node);
    let text = inner;
    for (const { mutation, by, asList } of this.#replacements(node)) {
      const id = this.#add(node, mutation);
      text = asList ? `__mutation.list(${id}, ${text})` : `__mutation.is(${id}) ? (${by}) : ${text}`;
    }
    if (this.#isCondition(node)) text = this.#condition(node, text);
    return text === inner ? inner : `(${text})`;
  }

  /** A comparison whose boundary may move. */
  #compared(node) {
    const boundary = ts.isBinaryExpression(node) ? BOUNDARIES.get(node.operatorToken.kind) : undefined;
    if (boundary === undefined) return undefined;
    const id = this.#add(node, `boundary → ${boundary}`);
    const [left, right] = [this.emit(node.left), this.emit(node.right)];
    return `__mutation.boundary(${id}, "${node.operatorToken.getText()}", ${left}, ${right})`;
  }

  /** `??` without its right side. */
  #left(node) {
    if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.QuestionQuestionToken)
      return undefined;
    if (waits(node.right)) return undefined;
    const id = this.#add(node, "?? → its left side");
    return `__mutation.left(${id}, ${this.emit(node.left)}, () => (${this.emit(node.right)}))`;
  }

  /** A method that may be left out. */
  #dropped(node) {
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
    const { name, expression } = node.expression;
    if (!DROPPED_METHODS.has(name.text) || node.arguments.some(waits)) return undefined;
    const id = this.#add(node, `${name.text} → nothing`);
    const inputs = node.arguments.map((one) => this.emit(one)).join(", ");
    return `__mutation.dropped(${id}, ${this.emit(expression)}, (on) => on.${name.text}(${inputs}))`;
  }

  #condition(node, text) {
    const type = this.checker.typeToString(this.checker.getTypeAtLocation(node));
    // What the types say that it answers anyhow is not a change.
    const isKnown = ts.isCallExpression(node) || ts.isIdentifier(node);
    const isNews = (can, index) => can && !(isKnown && type === `${index === 0}`);
    const [canBeTrue, canBeFalse] = directions(node).map(isNews);
    const whenTrue = canBeTrue ? this.#add(node, "condition → true") : -1;
    const whenFalse = canBeFalse ? this.#add(node, "condition → false") : -1;
    return canBeTrue || canBeFalse ? `__mutation.condition(${whenTrue}, ${whenFalse}, ${text})` : text;
  }

  #statement(node) {
    const inner = this.#inner(node);
    const { expression } = node;
    if (ts.isCallExpression(expression) && expression.expression.kind === ts.SyntaxKind.SuperKeyword) return inner;
    return `{ if (!__mutation.is(${this.#add(node, "statement → nothing")})) { ${inner} } }`;
  }

  /** @returns {{mutation: string, by: string}[]} */
  #replacements(node) {
    const text = node.getText(this.source);
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node))
      return isSentence(text) ? [] : [{ mutation: "text → another", by: text.length === 2 ? '"mutated"' : '""' }];
    if (ts.isNumericLiteral(node)) return [{ mutation: "number → one more", by: `${text} + 1` }];
    if (ts.isBigIntLiteral(node)) return [{ mutation: "number → one more", by: `${text} + 1n` }];
    if (ts.isRegularExpressionLiteral(node)) return regexes(text);
    if (ts.isArrayLiteralExpression(node) && node.elements.length > 0)
      return [{ mutation: "list → empty", asList: true }];
    return [...this.#operators(node, text), ...this.#calls(node, text), ...this.#answers(node)];
  }

  #operators(node, text) {
    if (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) {
      const other = text.includes("++") ? text.replace("++", "--") : text.replace("--", "++");
      return other === text || !/^(?:\+\+|--)|(?:\+\+|--)$/.test(text)
        ? []
        : [{ mutation: "count → the other way", by: other }];
    }
    if (!ts.isBinaryExpression(node)) return [];
    const { left, right, operatorToken } = node;
    const by = OPERATORS.get(operatorToken.kind);
    if (by !== undefined && this.#isNumber(left) && this.#isNumber(right))
      return [{ mutation: `operator → ${by}`, by: `${left.getText()} ${by} ${right.getText()}` }];
    return [];
  }

  #calls(node, text) {
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return [];
    const { name } = node.expression;
    const swapped = Object.hasOwn(SWAPPED_METHODS, name.text) ? SWAPPED_METHODS[name.text] : undefined;
    if (swapped !== undefined) {
      const at = name.getStart(this.source) - node.getStart(this.source);
      return [
        { mutation: `${name.text} → ${swapped}`, by: text.slice(0, at) + swapped + text.slice(at + name.text.length) },
      ];
    }
    return [];
  }

  /** What a function answers: nothing in its place, where no other mutant is there already. */
  #answers(node) {
    const { parent } = node;
    const isAnswer = (ts.isReturnStatement(parent) || ts.isArrowFunction(parent)) && parent.expression !== undefined;
    const isBody = ts.isArrowFunction(parent) && parent.body === node;
    if (!isBody && !isAnswer) return [];
    if (ts.isArrowFunction(parent) && !isBody) return [];
    if (ts.isIdentifier(node) && node.text === "undefined") return [];
    if (node.kind === ts.SyntaxKind.NullKeyword || this.#isCondition(node)) return [];
    const type = this.checker.getTypeAtLocation(node);
    if (type.flags & (ts.TypeFlags.Void | ts.TypeFlags.Undefined | ts.TypeFlags.Never)) return [];
    if (ts.isArrayLiteralExpression(node) || ts.isStringLiteralLike(node) || ts.isNumericLiteral(node)) return [];
    if (this.checker.isArrayType(type)) return [{ mutation: "answer → empty list", asList: true }];
    const wanted = this.checker.getContextualType(node);
    const mayBeNull = wanted?.isUnion() && wanted.types.some((one) => one.flags & ts.TypeFlags.Null);
    return [{ mutation: "answer → none", by: mayBeNull ? "null" : "undefined" }];
  }

  #isCondition(node) {
    if (node.kind === ts.SyntaxKind.TrueKeyword || node.kind === ts.SyntaxKind.FalseKeyword) {
      return !ts.isLiteralTypeNode(node.parent);
    }
    if (ts.isParenthesizedExpression(node) || isNegated(node)) return false;
    const { parent } = node;
    const isTested =
      (ts.isIfStatement(parent) || ts.isWhileStatement(parent) || ts.isDoStatement(parent)) &&
      parent.expression === node;
    if (isTested || (ts.isConditionalExpression(parent) && parent.condition === node)) return true;
    if (ts.isForStatement(parent) && parent.condition === node) return true;
    // Nobody reads the answer of a statement; what is assigned is a mutant of its own.
    if (ts.isExpressionStatement(parent) || (ts.isBinaryExpression(node) && isAssignment(node.operatorToken.kind)))
      return false;
    const isComputed = ts.isBinaryExpression(node) || ts.isCallExpression(node) || ts.isPrefixUnaryExpression(node);
    const isOperand = ts.isBinaryExpression(parent) && isLogical(parent);
    return (isComputed || isOperand) && this.#isBoolean(node);
  }

  #isBoolean(node) {
    const type = this.checker.getTypeAtLocation(node);
    return (type.flags & (ts.TypeFlags.Boolean | ts.TypeFlags.BooleanLiteral)) !== 0;
  }

  #isNumber(node) {
    return (this.checker.getTypeAtLocation(node).flags & (ts.TypeFlags.NumberLike | ts.TypeFlags.BigIntLike)) !== 0;
  }

  #add(node, mutation) {
    const whole = node.getText(this.source).replaceAll(/\s+/g, " ");
    const text = whole.length > MAX_SOURCE ? `${whole.slice(0, MAX_SOURCE)}…` : whole;
    const mutant = { file: this.file, in: placeOf(node), mutation, source: text };
    const key = keyOf(mutant);
    const count = (this.#taken.get(key) ?? 0) + 1;
    this.#taken.set(key, count);
    const { line } = this.source.getLineAndCharacterOfPosition(node.getStart(this.source));
    this.mutants.push({ ...mutant, ...(count > 1 && { mutation: `${mutation} (${count})` }), line: line + 1 });
    return this.first + this.mutants.length - 1;
  }
}

/** Which of its two answers an expression may be made to give: those that another mutant gives already are left out. */
function directions(node) {
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [false, true];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [true, false];
  const { parent } = node;
  const isLoop = (ts.isWhileStatement(parent) || ts.isDoStatement(parent) || ts.isForStatement(parent)) && true;
  if (isLoop) return [false, true];
  const isOperand = ts.isBinaryExpression(parent) && isLogical(parent);
  if (!isOperand) return [true, true];
  const isAnd = parent.operatorToken.kind === ts.SyntaxKind.AmpersandAmpersandToken;
  return [isAnd, !isAnd];
}

function isLogical(node) {
  const { kind } = node.operatorToken;
  return kind === ts.SyntaxKind.AmpersandAmpersandToken || kind === ts.SyntaxKind.BarBarToken;
}

/** The operand of `!`, whose mutants are those of the negation. */
function isNegated(node) {
  return ts.isPrefixUnaryExpression(node.parent) && node.parent.operator === ts.SyntaxKind.ExclamationToken;
}

/** Whether it has an `await` or a `yield` of the function around it, which no function inside can have. */
function waits(node) {
  if (ts.isAwaitExpression(node) || ts.isYieldExpression(node)) return true;
  return !ts.isFunctionLike(node) && ts.forEachChild(node, waits) === true;
}

/** Whether another expression can stand in the expression's place. */
function isReplaceable(node) {
  const { parent } = node;
  if (LITERAL_PARENTS.has(parent.kind) || (node.flags & ts.NodeFlags.OptionalChain) !== 0) return false;
  if ("name" in parent && parent.name === node) return false;
  if (ts.isExternalModuleReference(parent) || ts.isExpressionWithTypeArguments(node)) return false;
  if (ts.isTaggedTemplateExpression(parent) || ts.isTemplateSpan(node)) return false;
  if (ts.isCallExpression(parent) && parent.expression === node) return false;
  if (ts.isBinaryExpression(parent) && parent.left === node && isAssignment(parent.operatorToken.kind)) return false;
  return (
    !ts.isPostfixUnaryExpression(parent) && !ts.isDeleteExpression(parent) && node.kind !== ts.SyntaxKind.SuperKeyword
  );
}

function isAssignment(kind) {
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
}

function regexes(text) {
  const end = text.lastIndexOf("/");
  const [body, flags] = [text.slice(1, end), text.slice(end)];
  return [
    ...(body.startsWith("^") ? [{ mutation: "^ → nothing", by: `/${body.slice(1) || "(?:)"}${flags}` }] : []),
    ...(body.endsWith("$") && !body.endsWith("\\$")
      ? [{ mutation: "$ → nothing", by: `/${body.slice(0, -1)}${flags}` }]
      : []),
  ];
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

/** Two words and more, outside of what is put into them: for people, and no test has to hold it word for word. */
function isSentence(text) {
  return /[A-Za-z],? [A-Za-z]/.test(text.replace(/\$\{[^}]*\}/g, "x"));
}
