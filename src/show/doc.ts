/**
 * A document for a person, as plain data (show/README.md). The writers of this room lay it out for a terminal, as
 * Markdown and as HTML. Each writer makes texts printable, so a document may quote evidence as it is.
 */

/** How a writer paints a word. No meaning is in the colour alone. */
export type Tone = "good" | "warning" | "bad" | "strong" | "quiet";

export interface Doc {
  readonly sections: readonly Section[];
}

export interface Section {
  readonly heading?: string;
  readonly blocks: readonly Block[];
  /** Whether Markdown and HTML show the heading only, until the reader unfolds the section. */
  readonly isFolded?: boolean;
}

export type Block = VerdictLine | Warning | Words | List | Rows | Value;

/** The sentence that a reader looks for first. It begins with a word in capitals. */
export interface VerdictLine {
  readonly kind: "verdict";
  readonly text: string;
  readonly tone: Tone;
  readonly lines?: number;
}

/** A sentence after the word WARNING. */
interface Warning {
  readonly kind: "warning";
  readonly text: string;
}

interface Words {
  readonly kind: "words";
  readonly text: string;
  readonly tone?: Tone;
  /** The most lines at a terminal. The rest is cut off. Default: no limit. */
  readonly lines?: number;
}

interface List {
  readonly kind: "list";
  readonly items: readonly string[];
  readonly lines?: number;
  /** The number of items that a page shows before the reader unfolds the others. Default: all. */
  readonly inSight?: number;
}

/** Rows whose labels stand in a column. */
interface Rows {
  readonly kind: "rows";
  readonly rows: readonly Row[];
}

export interface Row {
  readonly label?: string;
  /** The tone of the label, or of the text if there is no label. */
  readonly tone?: Tone;
  /** A name in a column of its own, such as the id of a check. */
  readonly id?: string;
  readonly text?: string;
  /** The tone of the bytes that stand in `[brackets]`. */
  readonly marks?: Tone;
  readonly lines?: number;
  /** Whether the text is a command, which a reader pastes into a shell. */
  readonly isCommand?: boolean;
  /** Whether a page folds up what is below. What is open is printed even after a reader has folded it up. */
  readonly fold?: "open" | "closed";
  readonly below?: readonly Row[];
}

/** A value to copy, which no writer breaks. */
interface Value {
  readonly kind: "value";
  readonly text: string;
}

export function words(text: string, tone?: Tone): Words {
  return { kind: "words", text, ...(tone && { tone }) };
}

export function rows(list: readonly Row[]): Rows {
  return { kind: "rows", rows: list };
}

/** Returns a row for each text. The label stands beside the first. */
export function labelled(label: string, texts: readonly string[], more: Omit<Row, "label" | "text"> = {}): Row[] {
  return texts.map((text, index) => ({ label: index === 0 ? label : "", text, ...more }));
}

/** Whether a text is a value, such as hex, as a whole. Brackets mark the bytes that differ. */
export function isValue(text: string): boolean {
  return !text.includes(" ") || /\[(?:[0-9a-f]{2})+\]/.test(text);
}

/** Returns the text with a capital letter, unless it begins with a name. */
export function asSentence(text: string): string {
  return /^[a-z]+[ ,]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

/** The sentence of an inspection or a difference that says what nobody has verified. */
export function notVerified(one: { readonly "NOT VERIFIED": string }): VerdictLine {
  return { kind: "verdict", text: `NOT VERIFIED: ${one["NOT VERIFIED"]}`, tone: "warning" };
}

/** Returns the section, or none if it has nothing to show. */
export function section(heading: string, blocks: readonly Block[], isFolded = false): Section[] {
  const isEmpty = blocks.every(
    (block) =>
      (block.kind === "rows" && block.rows.length === 0) || (block.kind === "list" && block.items.length === 0),
  );
  return isEmpty ? [] : [{ heading, blocks, ...(isFolded && { isFolded }) }];
}
