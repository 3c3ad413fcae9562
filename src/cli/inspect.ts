/** `bootproof inspect`: shows what a file says, unverified. */
import type { Command } from "commander";
import type { Inspection } from "../inspect/inspect.js";
import { EXIT } from "./exit-codes.js";
import { ofPage } from "../bundle/text.js";
import { InputFiles, nameOf } from "./files.js";
import { type Io, textOptions } from "./io.js";
import type { Format } from "../report/report.js";
import type { Flags } from "./option-table.js";
import { formatOf } from "./option-values.js";
import { ArgumentReader } from "./options.js";
import { areFolders, filesInFolder } from "./release-folders.js";

const EXAMPLES = `
Recognised by content: boot proofs, attestation documents, manifests and their envelopes, app proofs, activities,
certificates and chains of them, bundles, policies, reports, releases and requests; as JSON, borsh, CBOR, DER, PEM or
YAML, and in base64 or hex. And enclave images (EIF) of any size, approvals, and the PCRs of an image as published. A
folder of published releases is shown file by file; of a page (verify --format html), the evidence in it.

Examples:
    $ bootproof inspect boot.json
    $ bootproof inspect policy.json
    $ bootproof inspect document.cbor --format json
    $ bootproof inspect releases/2026.9.0/signer`;

const KNOWN =
  "Known are boot proofs, app proofs, activities, attestation documents, manifests, envelopes, certificates, " +
  "bundles, policies, reports, releases, approvals, PCRs of images, requests and enclave images";

export function addInspectCommand(command: Command, io: Io, finish: (code: number) => void): void {
  command
    .description(
      "Show the contents of evidence, a bundle or a policy. Nothing is verified: anyone can write such a file.",
    )
    .addHelpText("after", EXAMPLES);
  const args = new ArgumentReader(command);
  command.action(async (path: string, flags: Flags<"inspect">) => {
    args.refuseRepeated();
    const format = formatOf(args, flags.format);
    args.throwFaults();
    const { inspection, page } = await inspect(path, io);
    const line = format === "text" ? ofPage(page, "is shown") : "";
    io.stdout.write(line + (await rendered(inspection, format, io)));
    finish(EXIT.good);
  });
}

interface Inspected {
  readonly inspection: Inspection;
  /** The name of the page that contained the evidence, if any. */
  readonly page?: string;
}

async function inspect(path: string, given: Io): Promise<Inspected> {
  if (areFolders([path])[0] === true) return { inspection: await inspectFolder(path, given) };
  const [{ inspectImageUnverified, inspectUnverified }, { kindOf }, { fileStart, fileStream, streaming }] =
    await Promise.all([import("../inspect/inspect.js"), import("../inspect/kinds.js"), import("./streams.js")]);
  const { start, io } = await fileStart(path, given);
  if (kindOf(start) === "enclave image")
    return { inspection: await inspectImageUnverified(fileStream(path, io, streaming(path, io).onProgress)) };
  const files = new InputFiles(io);
  const read = await files.evidence(path);
  files.throwFaults();
  const { bytes, page } = read!;
  const readYaml = async (text: string): Promise<unknown> => {
    const { parseYaml } = await import("./read-yaml.js");
    return parseYaml(files, path, text);
  };
  const inspection = await files.decodedAsync(path, () => inspectUnverified(bytes, { readYaml }));
  if (inspection === null) files.fault(path, `not recognised: it looks like ${await describe(bytes)}. ${KNOWN}`);
  files.throwFaults();
  return { inspection: inspection!, ...(page && { page: nameOf(path) }) };
}

async function inspectFolder(path: string, io: Io): Promise<Inspection> {
  const { inspectReleaseFiles } = await import("../inspect/inspect.js");
  const files = new InputFiles(io);
  const found = await filesInFolder(path, files);
  files.throwFaults();
  return inspectReleaseFiles(found!);
}

async function describe(bytes: Uint8Array): Promise<string> {
  const { describeUnrecognised } = await import("../inspect/unrecognised.js");
  return describeUnrecognised(bytes);
}

async function rendered(inspection: Inspection, format: Format, io: Io): Promise<string> {
  const { RENDERERS } = await import("../formats/unverified.js");
  return RENDERERS[format].inspection(inspection, textOptions(io));
}
