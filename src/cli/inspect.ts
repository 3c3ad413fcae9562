/** `bootproof inspect`: what a piece of evidence says, verified or not. It is not. */
import type { Command } from "commander";
import type { Inspection } from "../inspect/inspect.js";
import { EXIT } from "./exit-codes.js";
import { InputFiles, MAX_BUNDLE_BYTES } from "./files.js";
import { type Io, textOptions } from "./io.js";
import { areFolders, ofFolder } from "./release-folders.js";
import type { Format } from "../report/report.js";
import { ArgumentReader } from "./options.js";

const EXAMPLES = `
Recognised by content: boot proofs, attestation documents, manifests and their envelopes, app proofs, activities,
certificates and chains of them, bundles, policies, reports, releases and requests; as JSON, borsh, CBOR, DER, PEM or
YAML, and in base64 or hex. And enclave images (EIF) of any size; approvals, and PCRs as their maker publishes them. Of a
folder with published releases each of its files.

Examples:
    $ bootproof inspect boot.json
    $ bootproof inspect policy.json
    $ bootproof inspect document.cbor --format json
    $ bootproof inspect releases/2026.9.0/signer`;

const KNOWN =
  "Known are boot proofs, app proofs, activities, attestation documents, manifests, envelopes, certificates, " +
  "bundles, policies, reports, releases, approvals, PCRs of images, requests and enclave images";

export function addInspectCommand(program: Command, io: Io, finish: (code: number) => void): void {
  const command = program
    .command("inspect")
    .summary("show what a piece of evidence, a bundle or a policy says, without verifying it")
    .description(
      "Show what evidence, a bundle or a policy says. Nothing is verified: anybody can write a file like that.",
    )
    .argument("<file>", "what to look at; - for stdin; or a folder of published releases")
    .option("--format <format>", "text or json (default: text)")
    .addHelpText("after", EXAMPLES);
  const args = new ArgumentReader(command);
  command.action(async (path: string, flags: { readonly format?: string }) => {
    args.refuseRepeated();
    const format = args.format(flags.format);
    args.throwFaults();
    io.stdout.write(await rendered(await inspect(path, io), format, io));
    finish(EXIT.good);
  });
}

async function inspect(path: string, given: Io): Promise<Inspection> {
  if (areFolders([path])[0] === true) return inspectFolder(path, given);
  const [{ inspectImageUnverified, inspectUnverified }, { kindOf }, { fileStart, fileStream, streaming }] =
    await Promise.all([import("../inspect/inspect.js"), import("../inspect/kind.js"), import("./streams.js")]);
  const { start, io } = await fileStart(path, given);
  if (kindOf(start) === "enclave image")
    return inspectImageUnverified(fileStream(path, io, streaming(path, io).onProgress));
  const files = new InputFiles(io);
  const bytes = await files.bytes(path, MAX_BUNDLE_BYTES);
  files.throwFaults();
  const readYaml = async (text: string): Promise<unknown> => {
    const { parseYaml } = await import("./pin-sources.js");
    return parseYaml(files, path, text);
  };
  const inspection = await files.decodedAsync(path, () => inspectUnverified(bytes!, { readYaml }));
  if (inspection === null) files.fault(path, `not recognised: it looks like ${await describe(bytes!)}. ${KNOWN}`);
  files.throwFaults();
  return inspection!;
}

async function inspectFolder(path: string, io: Io): Promise<Inspection> {
  const [{ inspectReleaseFiles }, { releaseFilesIn }] = await Promise.all([
    import("../inspect/inspect.js"),
    import("../release/node.js"),
  ]);
  const files = new InputFiles(io);
  const found = ofFolder(files, () => releaseFilesIn(path));
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
