/** `bootproof inspect`: what a piece of evidence says, verified or not. It is not. */
import type { Command } from "commander";
import type { Inspection } from "../inspect/inspect.js";
import { EXIT } from "./exit-codes.js";
import { InputFiles } from "./files.js";
import { type Io, textOptions } from "./io.js";
import type { Format } from "../report/report.js";
import { ArgumentReader } from "./options.js";

const EXAMPLES = `
Recognised by content: boot proofs, attestation documents, manifests and their envelopes, app proofs, activities,
certificates; as JSON, borsh, CBOR, DER or PEM, and in base64 or hex.

Examples:
    $ bootproof inspect boot.json
    $ bootproof inspect document.cbor --format json`;

export function addInspectCommand(program: Command, io: Io, finish: (code: number) => void): void {
  const command = program
    .command("inspect")
    .summary("show what a piece of evidence says, without verifying it")
    .description("Show what a piece of evidence says. Nothing is verified: anybody can write evidence that says this.")
    .argument("<file>", "the evidence; - for stdin")
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

async function inspect(path: string, io: Io): Promise<Inspection> {
  const { inspectUnverified } = await import("../inspect/inspect.js");
  const files = new InputFiles(io);
  const bytes = await files.bytes(path);
  files.throwFaults();
  const inspection = await files.decodedAsync(path, () => inspectUnverified(bytes!));
  if (inspection === null)
    files.fault(
      path,
      "not recognised: no boot proof, attestation document, manifest, envelope, app proof, activity or certificate",
    );
  files.throwFaults();
  return inspection!;
}

async function rendered(inspection: Inspection, format: Format, io: Io): Promise<string> {
  const { RENDERERS } = await import("../formats.js");
  return RENDERERS[format].inspection(inspection, textOptions(io));
}
