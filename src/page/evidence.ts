/** The evidence as rows: each piece with its name and digest, as it was received, and decoded. */
import { fromUtf8, toHex } from "../bytes.js";
import { faultText } from "../errors.js";
import { copyInput, withoutPrototype } from "../decode/input.js";
import type { InputPiece } from "../inputs.js";
import { type Inspected, bounded } from "../inspect/described.js";
import { inspectDocument } from "../inspect/documents.js";
import { inspectActivity, inspectAppProof, inspectBootProof } from "../inspect/evidence.js";
import { shownObject } from "../inspect/shown.js";
import { contentRows } from "../inspect/text.js";
import { evidencePiece, labelOf } from "../report/labels.js";
import { quoted } from "../report/printable.js";
import type { Report } from "../report/report.js";
import { type Row, labelled } from "../show/doc.js";
import { VerifiedBootProof } from "../verify/boot-proof.js";

interface Content extends Inspected {
  /** JSON, or bytes in hex. Null for an object that was verified before. */
  readonly received: string | null;
}

/** Limit of the values that are decoded. Each takes 1 kB of memory, and genuine evidence has fewer. */
const MAX_SHOWN_VALUES = 150_000;

/** Returns a row for each piece of evidence. `isBare` means a bare attestation document. */
export async function evidenceRows(
  pieces: readonly InputPiece[],
  isBare: boolean,
  report: Report,
): Promise<readonly Row[]> {
  const shown: Row[] = [];
  const budget = { left: MAX_SHOWN_VALUES };
  for (const piece of pieces) {
    const { says, ...content } = await contentOf(piece, isBare);
    shown.push(pieceRow(piece, { ...content, says: bounded(says, budget).value }, report));
  }
  return shown;
}

function pieceRow({ subject, piece }: InputPiece, { received, faults, says }: Content, report: Report): Row {
  const entry = evidencePiece(subject, report.evidence);
  const digest = entry?.sha256 ?? null;
  const asked = piece.latestOf ?? (entry && withoutPrototype(entry).latestOf) ?? null;
  const newest = `Requested as the newest boot proof of ${quoted(asked ?? "")}: only the service claims that it is.`;
  return {
    label: labelOf(subject, report),
    text: digest === null ? "no digest: passed as a value, not as bytes" : `SHA-256 ${digest}`,
    fold: "closed",
    below: [
      ...(asked === null ? [] : [{ text: newest }]),
      ...labelled(
        "Faults in its format:",
        faults.map((fault) => faultText([fault])),
        { tone: "bad" },
      ),
      ...(received === null
        ? []
        : [{ text: "As received", fold: "closed" as const, below: [{ text: received, isCommand: true }] }]),
      { text: "Its content, decoded and not verified", fold: "closed", below: contentRows(says) },
    ],
  };
}

async function contentOf({ subject, piece }: InputPiece, isBare: boolean): Promise<Content> {
  const { value } = piece;
  if (VerifiedBootProof.isVerified(value)) return { received: null, faults: [], says: await shownObject(value) };
  const received = receivedText(value, isBare);
  if (isBare) return { ...(await inspectDocument(value instanceof Uint8Array ? value : new Uint8Array())), received };
  const input = copyInput(value);
  if (input.value === undefined)
    return {
      received,
      faults: input.faults,
      says: typeof value === "string" ? value : null,
    };
  return {
    ...(await INSPECTIONS[subject.split("[", 1)[0]!]!(input.value)),
    received: received ?? JSON.stringify(input.value),
  };
}

const INSPECTIONS: Readonly<Record<string, (json: unknown) => Promise<Inspected>>> = {
  boot: inspectBootProof,
  app: inspectAppProof,
  activity: inspectActivity,
};

function receivedText(value: unknown, isBare: boolean): string | null {
  if (value instanceof Uint8Array) return (isBare ? null : fromUtf8(value)) ?? toHex(value);
  return typeof value === "string" ? value : null;
}
