/** `bootproof inspect`: shows the content of a file, unverified. */
import { ofPage } from "../bundle/text.js";
import type { Inspection } from "../inspect/inspect.js";
import { commandOf } from "./command.js";
import { EXIT } from "./exit-codes.js";
import { InputFiles, nameOf } from "./files.js";
import { type Io, textOptions } from "./io.js";
import { areFolders, filesInFolder } from "./release-folders.js";

const EXAMPLES = `
Recognised by content: boot proofs, attestation documents, manifests and their envelopes, app proofs, activities,
certificates and chains of them, bundles, policies, reports, releases, requests, and outputs of genesis ceremonies; as
JSON, borsh, CBOR, DER, PEM or YAML, and in base64 or hex. And enclave images (EIF) of any size, approvals, the PCRs of
an image as published, and provenance bundles, also as GitHub, npm and gh attestation hand them out. A folder of
published releases is shown file by file; of a page (verify --format html), the evidence in it.

Examples:
    $ bootproof inspect boot.json
    $ bootproof inspect policy.json
    $ bootproof inspect document.cbor --format json
    $ bootproof inspect releases/2026.9.0/signer`;

const WHAT_IS_KNOWN = "bootproof inspect --help lists what is recognised.";

export const addInspectCommand = commandOf<"inspect", [file: string]>(
  "inspect",
  { help: EXAMPLES },
  async ({ args, flags: { format }, files, io }, path) => {
    args.throwFaults();
    const { inspection, page } = await inspect(path, files, io);
    if (format === "json") io.stdout.write((await import("../report/json.js")).renderJson(inspection));
    else {
      const { renderInspection } = await import("../inspect/text.js");
      io.stdout.write(ofPage(page, "is shown") + renderInspection(inspection, textOptions(io)));
    }
    return EXIT.good;
  },
);

interface Inspected {
  readonly inspection: Inspection;
  /** Name of the page that contained the evidence; absent if it was not in a page. */
  readonly page?: string;
}

async function inspect(path: string, given: InputFiles, io: Io): Promise<Inspected> {
  const { inspectImageUnverified, inspectReleaseFiles, inspectUnverified } = await import("../inspect/inspect.js");
  if (areFolders([path])[0] === true) {
    const found = await filesInFolder(path, given);
    given.throwFaults();
    return { inspection: await inspectReleaseFiles(found!) };
  }
  const [{ kindOf }, { fileStart, fileStream, streaming }] = await Promise.all([
    import("../inspect/kinds.js"),
    import("./streams.js"),
  ]);
  const { start, io: whole } = await fileStart(path, io);
  if (kindOf(start) === "enclave image")
    return { inspection: await inspectImageUnverified(fileStream(path, whole, streaming(path, io).onProgress)) };
  // The stdin of `whole` still has the bytes that `fileStart` read.
  const files = new InputFiles(whole, "inspect");
  const read = await files.evidence(path);
  files.throwFaults();
  const { bytes, page } = read!;
  const readYaml = async (text: string): Promise<unknown> => {
    const { parseYaml } = await import("./read-yaml.js");
    return parseYaml(files, path, text);
  };
  const inspection = await files.decodedAsync(path, () => inspectUnverified(bytes, { readYaml }));
  if (inspection === null) {
    const { describeUnrecognised } = await import("../inspect/unrecognised.js");
    files.fault(path, `not recognised: it looks like ${describeUnrecognised(bytes)}`, WHAT_IS_KNOWN);
  }
  files.throwFaults();
  return { inspection: inspection!, ...(page && { page: nameOf(path) }) };
}
