/** A file of expectations (run/README.md, "Expectations"). */
import { createHash } from "node:crypto";
import { FaultList, MalformedError, attempt } from "../errors.js";
import { readExpectedLine } from "./expected.js";
import { linesOf } from "./lines.js";

/** Maximum length of a line. A longer line is malformed. */
const MAX_LINE_BYTES = 1024 * 1024;

interface Expected {
  /** The number of the line in the file, from 1. */
  readonly line: number;
  readonly text: string;
}

/** A line of the file that no entry matched. */
export interface UnmetExpectation {
  readonly line: number;
  readonly entry: string;
}

/** The expectations of an audit's entries, by the SHA-256 of the entries. */
export class ExpectedEntries {
  readonly #byEntry: ReadonlyMap<string, Expected>;

  private constructor(byEntry: ReadonlyMap<string, Expected>) {
    this.#byEntry = byEntry;
  }

  /**
   * Reads the bytes of a file, such as `createReadStream(path)`: NDJSON of `{"entry": "…", "expected": {…}}`. Throws
   * {@link MalformedError} (`expected`) with the line and path of each fault. Two lines for the same entry are a fault,
   * and so is a file without lines.
   *
   * @example
   * const expected = await ExpectedEntries.read(createReadStream("expected.ndjson"));
   * const { unmet } = await auditFiles({ inputs: ["proofs.ndjson"], expected, setting, out: "results.ndjson" });
   */
  static async read(chunks: AsyncIterable<Uint8Array>): Promise<ExpectedEntries> {
    const byEntry = new Map<string, Expected>();
    const faults = new FaultList();
    let line = 0;
    const fault = (path: string, message: string): unknown =>
      faults.push({ path: path === "" ? `line ${line}` : `line ${line}: ${path}`, message });
    for await (const { bytes } of linesOf(chunks, MAX_LINE_BYTES)) {
      line++;
      const read = attempt(() => readExpectedLine(bytes));
      const { entry = "", expected: text = "" } = read.value ?? {};
      if (bytes.length > MAX_LINE_BYTES) fault("", `longer than ${MAX_LINE_BYTES} bytes`);
      // Each line is parsed as a text of its own, so the parser always reports line 1, which is removed.
      else for (const { path, message } of read.faults) fault(path, message.replace("(line 1, column ", "(column "));
      const before = byEntry.get(entry)?.line;
      if (before !== undefined) fault("entry", `the same as in line ${before}: expected one line for each entry`);
      else if (read.value !== undefined) byEntry.set(entry, { line, text });
    }
    if (line === 0) faults.push({ path: "", message: "the file is empty: the program that wrote it may have failed" });
    if (faults.length > 0) throw new MalformedError("expected", faults);
    return new ExpectedEntries(byEntry);
  }

  get size(): number {
    return this.#byEntry.size;
  }

  /**
   * Returns the expectation of an entry, or null. `entry` is the SHA-256, in hex, of the bytes of a file, or of a line
   * without its line feed and the carriage return before it.
   */
  of(entry: string): Expected | null {
    return this.#byEntry.get(entry) ?? null;
  }

  /** Returns the number of the first lines, and the SHA-256 of their content. */
  mark(lines = this.size): string {
    const hash = createHash("sha256");
    for (const [entry, { line, text }] of this.#byEntry) {
      if (line > lines) break;
      hash.update(`${entry} ${text}\n`);
    }
    return `${lines} ${hash.digest("hex")}`;
  }

  /** Whether a file with this mark is this one, or its beginning. */
  beginsAs(mark: string): boolean {
    return this.mark(Number.parseInt(mark, 10)) === mark;
  }

  /** Yields the lines that are not in `met`, in the order of the file. */
  *unmet(met: ReadonlySet<number>): Generator<UnmetExpectation> {
    for (const [entry, { line }] of this.#byEntry) if (!met.has(line)) yield { line, entry };
  }
}
