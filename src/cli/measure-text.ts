/** The results of `measure` as text and as JSON. */
import type { MeasuredComparison, MeasuredDeployment } from "../appraise/measured.js";
import { toHex } from "../bytes.js";
import { nameText } from "../decode/certificate.js";
import type { ImageMeasurement } from "../image/measure.js";
import { type Page, wrapped } from "../report/layout.js";
import { printable, printableStart, quoted } from "../report/printable.js";
import { TOOL } from "../version.js";
import { nameOf } from "./files.js";
import type { Flags } from "./option-table.js";

export type Pcrs = Readonly<Record<number, Uint8Array>>;

export interface MeasureResult {
  readonly image: { readonly file: string; readonly measured: ImageMeasurement } | null;
  readonly binary: { readonly file: string; readonly pivotHash: Uint8Array } | null;
  readonly flags: Flags<"measure">;
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

export function measuredJson({ image, binary, flags, pcrs, comparison, now }: MeasureResult): object {
  const hexed = Object.fromEntries(Object.entries(pcrs).map(([index, value]) => [index, toHex(value)]));
  return {
    format: "bootproof-measurement/1",
    tool: TOOL,
    pcrs: hexed,
    pivotHash: binary && toHex(binary.pivotHash),
    image: image && imageJson(image.file, image.measured, now),
    binary: binary && { file: binary.file },
    roleArn: flags.roleArn ?? null,
    instanceId: flags.instanceId ?? null,
    policy: flags.policy === undefined ? null : nameOf(flags.policy),
    comparison,
  };
}

function imageJson(file: string, measured: ImageMeasurement, now: Date): object {
  const { size, version, architecture, sections, commandLine, metadata, signature } = measured;
  const signed = signature && {
    algorithm: signature.algorithm,
    subject: nameText(signature.certificate.subject),
    issuer: nameText(signature.certificate.issuer),
    notBefore: signature.certificate.notBefore.toISOString(),
    notAfter: signature.certificate.notAfter.toISOString(),
    isValidNow: isValidAt(signature, now),
  };
  return { file, size, version, architecture, sections, commandLine, metadata, signature: signed };
}

type Signature = NonNullable<ImageMeasurement["signature"]>;

function isValidAt({ certificate: { notBefore, notAfter } }: Signature, now: Date): boolean {
  return notBefore <= now && now <= notAfter;
}

export function measuredText(result: MeasureResult, page: Page): string {
  const { image, binary, comparison, flags } = result;
  const paragraphs = [
    ...(comparison === null ? [] : [verdictLines(comparison, nameOf(flags.policy!), page)]),
    ...(image === null ? [] : [imageLines(image.file, image.measured, result.now, page)]),
    ...Object.entries(result.pcrs).map(([index, value]) => pcrLines(Number(index), value, result, page)),
    ...(binary === null ? [] : [binaryLines(binary, page)]),
    wrapped(page, "", NOBODY_RUNS_IT),
  ];
  return `${paragraphs.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

function pcrLines(index: number, value: Uint8Array, { image, flags }: MeasureResult, page: Page): string[] {
  const hasApplication = (image?.measured.sections ?? []).filter(({ type }) => type === "ramdisk").length > 1;
  const meaning = index === 2 && !hasApplication ? NO_APPLICATION : MEANINGS[index]!;
  const name = { 3: flags.roleArn, 4: flags.instanceId }[index];
  // The PCR is unbroken on its own line, for copying.
  return [
    page.paint(`PCR${index}`, "bold"),
    ...wrapped(page, "  ", name === undefined ? meaning : `${meaning}: ${printable(name)}`),
    `  ${toHex(value)}`,
  ];
}

function binaryLines({ file, pivotHash }: NonNullable<MeasureResult["binary"]>, page: Page): string[] {
  return [
    page.paint("Pivot hash", "bold"),
    ...wrapped(page, "  ", `SHA-256 of ${printable(file)}`),
    `  ${toHex(pivotHash)}`,
  ];
}

const MAX_VALUE = 1000;

function imageLines(file: string, measured: ImageMeasurement, now: Date, page: Page): string[] {
  const { size, version, architecture, sections, commandLine, metadata, signature } = measured;
  const fact = (label: string, text: string): string[] => wrapped(page, `  ${label.padEnd(14)}`, text);
  return [
    page.paint(`Enclave image ${quoted(file, 256)}`, "bold"),
    ...fact("format", `EIF version ${version}, ${architecture}, ${size} bytes`),
    ...fact("sections", sections.map(({ type, size: bytes }) => `${type} (${bytes} bytes)`).join(", ")),
    ...fact("command line", commandLine === null ? "not text" : quoted(commandLine.replace(/[\0\n]$/, ""), MAX_VALUE)),
    ...fact(
      "metadata",
      metadata === null ? "none" : `${printableStart(JSON.stringify(metadata), MAX_VALUE)} (not measured)`,
    ),
    ...fact("signature", signature === null ? "none: PCR8 stays zero" : signatureText(signature, now)),
  ];
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

function verdictLines({ fits, deployments, nearest }: MeasuredComparison, policy: string, page: Page): string[] {
  const file = printable(policy);
  if (fits) {
    const fitting = deployments.filter((one) => one.fits);
    const names = fitting.map(({ name }) => quoted(name, 256)).join(", ");
    const lines = wrapped(page, "", `PINNED: ${file} pins what was measured, as deployment ${names}.`);
    return [...lines.map((line) => page.paint(line, "bold", "green")), ...notCompared(fitting[0]!, page)];
  }
  const lines = wrapped(page, "", `DIFFERENT: no deployment of ${file} pins what was measured.`);
  return [
    ...lines.map((line) => page.paint(line, "bold", "red")),
    ...(nearest === null ? [] : nearestLines(nearest, page)),
  ];
}

function nearestLines(nearest: MeasuredDeployment, page: Page): string[] {
  const { name, differing, unpinned } = nearest;
  return [
    ...wrapped(page, "", `The nearest is ${quoted(name, 256)}:`),
    ...differing.flatMap(({ pin, expected, found }) => [
      `  ${pin}`,
      ...expected.map((value, index) => `    ${index === 0 ? "expected" : "      or"} ${value}`),
      `    found    ${found}`,
    ]),
    ...(unpinned.length === 0 ? [] : wrapped(page, "  ", `does not pin ${unpinned.join(", ")}: any value would pass`)),
    ...(unpinned.includes("pcrs.0") ? wrapped(page, "  ", ONLY_PCR0) : []),
    ...notCompared(nearest, page),
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

function notCompared({ notCompared: pins }: MeasuredDeployment, page: Page): string[] {
  const names = pins.map((pin) => `${pin}${ASK[pin] ?? ""}`).join(", ");
  return pins.length === 0 ? [] : wrapped(page, "  ", `pinned, but not compared: ${names}`);
}
