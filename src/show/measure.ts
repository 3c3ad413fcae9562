/** What was measured, as a document and as JSON. */
import type { MeasuredComparison, MeasuredDeployment } from "../appraise/measured.js";
import { toHex } from "../bytes.js";
import { nameText } from "../decode/certificate.js";
import type { ImageMeasurement } from "../image/measure.js";
import { printableStart, quoted } from "../report/printable.js";
import { TOOL } from "../version.js";
import { type Block, type Doc, type Row, type Section, labelled, rows, section, words } from "./doc.js";

export type Pcrs = Readonly<Record<number, Uint8Array>>;

export interface MeasureResult {
  readonly image: { readonly file: string; readonly measured: ImageMeasurement } | null;
  readonly binary: { readonly file: string; readonly pivotHash: Uint8Array } | null;
  /** The role and the instance whose PCRs were computed, and the policy's file. Null for what was not given. */
  readonly given: Readonly<Record<"roleArn" | "instanceId" | "policy", string | null>>;
  readonly pcrs: Pcrs;
  readonly comparison: MeasuredComparison | null;
  readonly now: Date;
}

const MEANINGS: Readonly<Record<number, string>> = {
  0: "the whole image: kernel, command line and all ramdisks",
  1: "kernel, command line and the first ramdisk",
  2: "the other ramdisks",
  3: "the IAM role of the parent instance",
  4: "the parent instance",
  8: "the certificate that signed the image",
};
const NO_APPLICATION = "no second ramdisk: a constant that every such image has";
const NOBODY_RUNS_IT =
  "This does not prove that an enclave runs the image: verify a boot proof with the same values (bootproof verify).";

export function measuredJson({ image, binary, given, pcrs, comparison, now }: MeasureResult): object {
  const hexed = Object.fromEntries(Object.entries(pcrs).map(([index, value]) => [index, toHex(value)]));
  return {
    format: "bootproof-measurement/1",
    tool: TOOL,
    pcrs: hexed,
    pivotHash: binary && toHex(binary.pivotHash),
    image: image && imageJson(image.file, image.measured, now),
    binary: binary && { file: binary.file },
    ...given,
    comparison,
  };
}

function imageJson(file: string, measured: ImageMeasurement, now: Date): object {
  const { size, version, architecture, sections: parts, notes, commandLine, metadata, signature } = measured;
  const sections = parts.map(({ sha384, ...part }) => ({ ...part, sha384: toHex(sha384) }));
  const signed = signature && {
    algorithm: signature.algorithm,
    subject: nameText(signature.certificate.subject),
    issuer: nameText(signature.certificate.issuer),
    notBefore: signature.certificate.notBefore.toISOString(),
    notAfter: signature.certificate.notAfter.toISOString(),
    isValidNow: isValidAt(signature, now),
  };
  const noted = notes.length === 0 ? {} : { notes };
  return { file, size, version, architecture, sections, ...noted, commandLine, metadata, signature: signed };
}

type Signature = NonNullable<ImageMeasurement["signature"]>;

function isValidAt({ certificate: { notBefore, notAfter } }: Signature, now: Date): boolean {
  return notBefore <= now && now <= notAfter;
}

export function measuredDoc(result: MeasureResult): Doc {
  const { image, binary, comparison, given, pcrs, now } = result;
  return {
    sections: [
      ...(comparison === null ? [] : [comparisonSection(comparison, given.policy!)]),
      ...(image === null ? [] : imageSection(image.file, image.measured, now)),
      ...Object.entries(pcrs).flatMap(([index, value]) => pcrSection(Number(index), value, result)),
      ...(binary === null
        ? []
        : section("Pivot hash", [words(`SHA-256 of ${binary.file}`), valueOf(binary.pivotHash)])),
      { blocks: [words(NOBODY_RUNS_IT)] },
    ],
  };
}

function valueOf(bytes: Uint8Array): Block {
  return { kind: "value", text: toHex(bytes) };
}

function pcrSection(index: number, value: Uint8Array, { image, given }: MeasureResult): Section[] {
  const hasApplication = (image?.measured.sections ?? []).filter(({ type }) => type === "ramdisk").length > 1;
  const meaning = index === 2 && !hasApplication ? NO_APPLICATION : MEANINGS[index]!;
  const name = { 3: given.roleArn, 4: given.instanceId }[index] ?? null;
  return section(`PCR${index}`, [words(name === null ? meaning : `${meaning}: ${name}`), valueOf(value)]);
}

const MAX_VALUE = 1000;

function imageSection(file: string, measured: ImageMeasurement, now: Date): Section[] {
  const { size, version, architecture, sections, commandLine, metadata, signature } = measured;
  const command = commandLine === null ? "not text" : quoted(commandLine.replace(/[\0\n]$/, ""), MAX_VALUE);
  const about = metadata === null ? "none" : `${printableStart(JSON.stringify(metadata), MAX_VALUE)} (not measured)`;
  return section(`Enclave image ${quoted(file, 256)}`, [
    rows([
      { label: "format", text: `EIF version ${version}, ${architecture}, ${size} bytes` },
      { label: "sections", text: sections.map(({ type, size: bytes }) => `${type} (${bytes} bytes)`).join(", ") },
      { label: "command line", text: command },
      ...measured.notes.map((text) => ({ label: "note", text })),
      { label: "metadata", text: about },
      { label: "signature", text: signature === null ? "none: PCR8 stays zero" : signatureText(signature, now) },
    ]),
  ]);
}

function signatureText(signature: Signature, now: Date): string {
  const { algorithm, certificate } = signature;
  const subject = quoted(nameText(certificate.subject), 256);
  const until = `${certificate.notBefore.toISOString()} to ${certificate.notAfter.toISOString()}`;
  const note = isValidAt(signature, now)
    ? `valid ${until}`
    : `NOTE: valid ${until}, not now. Neither this command nor a booting enclave refuses that`;
  return `good, ${algorithm} by ${subject}; ${note}`;
}

function comparisonSection({ fits, deployments, nearest }: MeasuredComparison, policy: string): Section {
  if (!fits) {
    const text = `DIFFERENT: no deployment of ${policy} pins what was measured.`;
    return { blocks: [{ kind: "verdict", text, tone: "bad" }, ...(nearest === null ? [] : nearestBlocks(nearest))] };
  }
  const fitting = deployments.filter((one) => one.fits);
  const names = fitting.map(({ name }) => quoted(name, 256)).join(", ");
  const text = `PINNED: ${policy} pins what was measured, as deployment ${names}.`;
  return { blocks: [{ kind: "verdict", text, tone: "good" }, ...notCompared(fitting[0]!)] };
}

function nearestBlocks(nearest: MeasuredDeployment): Block[] {
  const { name, differing, unpinned } = nearest;
  const differs = differing.map(({ pin, expected, found }): Row => {
    const either = expected.map((text, index) => ({ label: index === 0 ? "expected" : "or", text }));
    return { label: pin, below: [...either, ...labelled("found", [found])] };
  });
  return [
    words(`The nearest is ${quoted(name, 256)}:`),
    rows(differs),
    ...(unpinned.length === 0 ? [] : [words(`does not pin ${unpinned.join(", ")}: any value would pass`)]),
    ...(unpinned.includes("pcrs.0") ? [words(ONLY_PCR0)] : []),
    ...notCompared(nearest),
  ];
}

const ONLY_PCR0 =
  "pin pcrs.0: PCR0 alone covers the whole image. PCR1 and PCR2 each cover a part of it, and PCR8 only its signer";

const ASK: Readonly<Record<string, string>> = {
  "pcrs.3": " (--role-arn)",
  "pcrs.4": " (--instance-id)",
  pivotHash: " (--binary)",
  provenance: " (--provenance)",
};

function notCompared({ notCompared: pins }: MeasuredDeployment): Block[] {
  const names = pins.map((pin) => `${pin}${ASK[pin] ?? ""}`).join(", ");
  return pins.length === 0 ? [] : [words(`pinned, but not compared: ${names}`)];
}
