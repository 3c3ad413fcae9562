/** `bootproof policy check-releases`: checks published releases, their approvals and their history. */
import { listed } from "../errors.js";
import { jsonDocument } from "../report/json.js";
import { printable } from "../report/printable.js";
import type { ReleaseDemand } from "../release/demand.js";
import { commandOf } from "./command.js";
import { EXIT } from "./exit-codes.js";
import type { InputFiles } from "./files.js";
import { textOptions } from "./io.js";
import { jsonOfKind } from "./kinds.js";
import { readPolicyFile } from "./option-files.js";
import type { Flags } from "./option-table.js";
import { readFolders } from "./release-folders.js";

const EXAMPLES = `
FOLDER is one release of an application (2026.9.0/signer), a release (2026.9.0), or a folder of releases. Each is
checked: its manifest, the operators' approvals, and its place; and the releases of each application in the order of
their nonces, each approved by enough members of the set before.

Nothing in a release says that its first set is the right people. One of these has to:
  --manifest-set FILE   the set that approves the first release
  --policy FILE         the sets that its deployments pin, from their minNonce on; older releases are listed
  --no-manifest-set     none: the folder's word is taken

Examples:
    $ bootproof policy check-releases core-enclaves/releases --manifest-set operators.json
    $ bootproof policy check-releases releases/2026.9.0 --app signer --policy policy.json
    $ bootproof policy check-releases releases --no-manifest-set --skip-unapproved --format json

Exit codes: 0 all of it holds, 1 something does not, or nothing was judged, 2 wrong usage, or a folder or file that
cannot be read.`;

export const addCheckReleases = commandOf<"policy check-releases", [folders: string[]]>(
  "policy check-releases",
  { help: EXAMPLES },
  async ({ args, flags, files, io }, folders) => {
    const { format } = flags;
    if (!(["manifest-set", "policy", "no-manifest-set"] as const).some((name) => args.has(name)))
      args.fault(
        "--manifest-set FILE, --policy FILE or --no-manifest-set is required: the operators whose approvals count",
      );
    args.throwFaults();
    const [{ checkReleases }, { renderReleaseCheck }] = await Promise.all([
      import("../release/check.js"),
      import("../release/text.js"),
    ]);
    const demand = await demandOf(flags, files);
    const { releases, unread } = await readFolders(folders, files);
    files.throwFaults();
    const { app: applications, namespace: namespaces, skipUnapproved = false } = flags;
    const chosen = {
      ...(applications.length > 0 && { applications }),
      ...(namespaces.length > 0 && { namespaces }),
      skipUnapproved,
    };
    const check = (): ReturnType<typeof checkReleases> => checkReleases(releases, { ...demand!, ...chosen });
    const result = await files.decodedAsync(folders.join(", "), check);
    files.throwFaults();
    if (unread.length > 0) io.stderr.write(`not read, part of no release: ${listed(unread.map(printable), ", ")}\n`);
    io.stdout.write(format === "json" ? jsonDocument(result!) : renderReleaseCheck(result!, textOptions(io)));
    return result!.good ? EXIT.good : EXIT.rejected;
  },
);

/** Reads what the releases must meet. Undefined if a file has a fault. */
async function demandOf(flags: Flags<"policy check-releases">, files: InputFiles): Promise<ReleaseDemand | undefined> {
  if (flags.policy !== undefined) {
    const source = await readPolicyFile(files, flags.policy);
    return source && { policy: source.policy };
  }
  if (typeof flags.manifestSet !== "string") return { noManifestSet: true };
  const path = flags.manifestSet;
  const json = await jsonOfKind(files, path, await files.bytes(path), "--manifest-set");
  if (json === undefined) return undefined;
  const { readSet } = await import("../release/demand.js");
  return files.decoded(path, () => ({ manifestSet: readSet(json) }));
}
