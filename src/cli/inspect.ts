/** `bootproof inspect`: shows what a piece of evidence says, unverified. */
import type { Command } from "commander";
import type { Inspection } from "../inspect/inspect.js";
import { EXIT } from "./exit-codes.js";
import { InputFiles, MAX_BUNDLE_BYTES } from "./files.js";
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
folder of published releases is shown file by file.

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
    io.stdout.write(await rendered(await inspect(path, io), format, io));
    finish(EXIT.good);
  });
}

async function inspect(path: string, given: Io): Promise<Inspection> {
  if (areFolders([path])[0] === true) return inspectFolder(path, given);
  const [{ inspectImageUnverified, inspectUnverified }, { kindOf }, { fileStart, fileStream, streaming }] =
    await Promise.all([import("../inspect/inspect.js"), import("../inspect/kinds.js"), import("./streams.js")]);
  const { start, io } = await fileStart(path, given);
  if (kindOf(start) === "enclave image")
    return inspectImageUnverified(fileStream(path, io, streaming(path, io).onProgress));
  const files = new InputFiles(io);
  const bytes = await files.bytes(path, MAX_BUNDLE_BYTES);
  files.throwFaults();
  const readYaml = async (text: string): Promise<unknown> => {
    const { parseYaml } = await import("./read-yaml.js");
    return parseYaml(files, path, text);
  };
  const inspection = await files.decodedAsync(path, () => inspectUnverified(bytes!, { readYaml }));
  if (inspection === null) files.fault(path, `not recognised: it looks like ${await describe(bytes!)}. ${KNOWN}`);
  files.throwFaults();
  return inspection!;
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
