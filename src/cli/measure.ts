/** `bootproof measure`: which PCRs an enclave has that boots from an image, and whether a policy pins them. */
import type { Command } from "commander";
import type { MeasuredComparison, MeasuredDeployment } from "../appraise/measured.js";
import type { Policy } from "../appraise/parsed-policy.js";
import { toHex } from "../bytes.js";
import { nameText } from "../decode/certificate.js";
import type { ImageMeasurement } from "../image/measure.js";
import { jsonDocument } from "../report/json.js";
import { type Page, pageOf, wrapped } from "../report/layout.js";
import { printable, printableStart, quoted } from "../report/printable.js";
import type { Format } from "../report/report.js";
import { TOOL } from "../version.js";
import { measuredBinary, measuredImage } from "./built.js";
import { EXIT } from "./exit-codes.js";
import { InputFiles, nameOf } from "./files.js";
import { type Io, textOptions } from "./io.js";
import { readPolicyFile } from "./option-files.js";
import { type Flags, type OptionName, addOptions } from "./option-table.js";
import { formatOf } from "./option-values.js";
import { ArgumentReader } from "./options.js";

const EXAMPLES = `
PCR0 is the whole image: kernel, command line and ramdisks. PCR1 is kernel, command line and the first ramdisk, PCR2 the
other ramdisks. PCR8 is the certificate that signed the image, where one did; PCR3 the role of the parent instance, PCR4
the instance. Nothing here proves that anybody runs the image: bootproof verify does, of a boot proof.

With --policy: whether one of its deployments pins what was measured. Each thing that was measured has to be pinned.

Examples:
    $ bootproof measure app.eif
    $ bootproof measure app.eif --binary app --policy policy.json
    $ bootproof measure app.eif --role-arn arn:aws:iam::123456789012:role/Name --format json

Exit codes: 0 measured, and pinned where a policy was given; 1 no deployment of the policy pins it; 2 wrong usage, or a
file that cannot be read or is no enclave image.`;

export function addMeasureCommand(program: Command, io: Io, finish: (code: number) => void): void {
  const command = program
    .command("measure")
    .summary("the PCRs of an enclave image, and whether a policy pins them")
    .description("Measure what was built: the PCRs of an enclave image (EIF), and the hash of an application's binary.")
    .argument("[file]", "the enclave image; - for stdin")
    .addHelpText("after", EXAMPLES);
  const args = new ArgumentReader(addOptions(command, "measure"));
  command.action(async (image: string | undefined, flags: Flags<"measure">) => {
    args.refuseRepeated();
    args.refuseRepeatedStdin([image, flags.binary, flags.policy]);
    if ([image, flags.binary, flags.roleArn, flags.instanceId].every((one) => one === undefined))
      args.fault("nothing to measure: FILE or --binary wanted, --role-arn or --instance-id");
    const format = formatOf(args, flags.format);
    const names = await measureNames(flags, args);
    args.throwFaults();
    finish(await measure({ image, flags, names, format }, io));
  });
}

type Pcrs = Readonly<Record<number, Uint8Array>>;

/** PCR3 and PCR4, or a fault of the command line. */
async function measureNames({ roleArn, instanceId }: Flags<"measure">, args: ArgumentReader): Promise<Pcrs> {
  if (roleArn === undefined && instanceId === undefined) return {};
  const { measureInstance, measureRole } = await import("../image/measure.js");
  const measured = async (option: OptionName, index: number, value: Promise<Uint8Array>): Promise<Pcrs> => {
    try {
      return { [index]: await value };
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      if (!args.isEmpty(option)) args.fault(`--${option}: ${error.message}`);
      return {};
    }
  };
  return {
    ...(roleArn !== undefined && (await measured("role-arn", 3, measureRole(roleArn)))),
    ...(instanceId !== undefined && (await measured("instance-id", 4, measureInstance(instanceId)))),
  };
}

interface MeasureRequest {
  readonly image: string | undefined;
  readonly flags: Flags<"measure">;
  readonly names: Pcrs;
  readonly format: Format;
}

/** All that was measured. */
interface Result {
  readonly image: { readonly file: string; readonly measured: ImageMeasurement } | null;
  readonly binary: { readonly file: string; readonly pivotHash: Uint8Array } | null;
  readonly flags: Flags<"measure">;
  readonly pcrs: Pcrs;
  readonly policy: string | null;
  readonly comparison: MeasuredComparison | null;
  readonly now: Date;
}

async function measure({ image, flags, names, format }: MeasureRequest, io: Io): Promise<number> {
  const files = new InputFiles(io);
  const policy = await readPolicy(files, flags.policy);
  const measured = image === undefined ? undefined : await measuredImage(files, image, io);
  const pivotHash = flags.binary === undefined ? undefined : await measuredBinary(files, flags.binary, io);
  files.throwFaults();
  const pcrs = { ...measured?.pcrs, ...names };
  const comparison = policy === undefined ? null : await compared(policy, pcrs, pivotHash);
  const policyName = flags.policy === undefined ? null : nameOf(flags.policy);
  const result: Result = {
    image: measured === undefined ? null : { file: nameOf(image!), measured },
    binary: pivotHash === undefined ? null : { file: nameOf(flags.binary!), pivotHash },
    flags,
    pcrs,
    policy: policyName,
    comparison,
    now: io.now(),
  };
  io.stdout.write(format === "json" ? jsonDocument(jsonOf(result)) : textOf(result, pageOf(textOptions(io))));
  return comparison?.fits === false ? EXIT.different : EXIT.good;
}

async function readPolicy(files: InputFiles, path: string | undefined): Promise<Policy | undefined> {
  if (path === undefined) return undefined;
  return (await readPolicyFile(files, path, { command: "measure", option: "--policy" }))?.policy;
}

async function compared(policy: Policy, pcrs: Pcrs, pivotHash: Uint8Array | undefined): Promise<MeasuredComparison> {
  const { compareMeasured } = await import("../appraise/measured.js");
  return compareMeasured(policy, { pcrs, ...(pivotHash && { pivotHash }) });
}

const MEANINGS: Readonly<Record<number, string>> = {
  0: "the whole image: kernel, command line and all ramdisks",
  1: "kernel, command line and the first ramdisk",
  2: "the other ramdisks",
  3: "the IAM role of the parent instance",
  4: "the parent instance",
  8: "the certificate that signed the image",
};
const NO_APPLICATION = "there is no second ramdisk: a constant, which every such image has";
const NOBODY_RUNS_IT =
  "Nothing here proves that anybody runs it: bootproof verify does, of a boot proof that attests the same values.";

function jsonOf({ image, binary, flags, pcrs, policy, comparison, now }: Result): object {
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
    policy,
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

function textOf(result: Result, page: Page): string {
  const { image, binary, comparison, policy } = result;
  const paragraphs = [
    ...(comparison === null ? [] : [verdictLines(comparison, policy!, page)]),
    ...(image === null ? [] : [imageLines(image.file, image.measured, result.now, page)]),
    ...Object.entries(result.pcrs).map(([index, value]) => pcrLines(Number(index), value, result, page)),
    ...(binary === null ? [] : [binaryLines(binary, page)]),
    wrapped(page, "", NOBODY_RUNS_IT),
  ];
  return `${paragraphs.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

function pcrLines(index: number, value: Uint8Array, { image, flags }: Result, page: Page): string[] {
  const hasApplication = (image?.measured.sections ?? []).filter(({ type }) => type === "ramdisk").length > 1;
  const meaning = index === 2 && !hasApplication ? NO_APPLICATION : MEANINGS[index]!;
  const name = { 3: flags.roleArn, 4: flags.instanceId }[index];
  // Whole and alone in its line: it is there to be copied.
  return [
    page.paint(`PCR${index}`, "bold"),
    ...wrapped(page, "  ", name === undefined ? meaning : `${meaning}: ${printable(name)}`),
    `  ${toHex(value)}`,
  ];
}

function binaryLines({ file, pivotHash }: NonNullable<Result["binary"]>, page: Page): string[] {
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
      metadata === null ? "none" : `${printableStart(JSON.stringify(metadata), MAX_VALUE)} (measured by nobody)`,
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
    : `NOTE: valid ${until}, and not now: nobody checks that, here or where an enclave boots`;
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
    ...(unpinned.length === 0 ? [] : wrapped(page, "  ", `pins none of ${unpinned.join(", ")}: any would pass`)),
    ...notCompared(nearest, page),
  ];
}

const ASK: Readonly<Record<string, string>> = {
  "pcrs.3": " (--role-arn)",
  "pcrs.4": " (--instance-id)",
  pivotHash: " (--binary)",
};

function notCompared({ notCompared: pins }: MeasuredDeployment, page: Page): string[] {
  const names = pins.map((pin) => `${pin}${ASK[pin] ?? ""}`).join(", ");
  return pins.length === 0 ? [] : wrapped(page, "  ", `pinned and not compared: ${names}`);
}
