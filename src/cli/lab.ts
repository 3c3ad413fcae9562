/** `bootproof lab`: runs a local service with software enclaves until it is interrupted. */
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { diskReason } from "../disk/reason.js";
import type { AuthFault, FeedFault, Lab, LabOptions } from "../lab/index.js";
import type { LabFault } from "../lab/faults.js";
import type { LabFiles } from "../lab/files.js";
import { commandOf } from "./command.js";
import { EXIT } from "./exit-codes.js";
import { fitted, helpWidth } from "./help.js";
import { LISTEN_REASONS } from "./health.js";
import { Interruption } from "./interruption.js";
import { type Io, UsageError, textOptions } from "./io.js";
import type { Flags } from "./option-table.js";
import type { ArgumentReader } from "./options.js";
import { programName, shellWord, withoutPrompts } from "./program-name.js";

const EXAMPLES = `
It listens on the loopback interface only, and everything in it is software: for tests, demos and authors of SDKs. Once
it listens, lab.json in the data folder has its address and the names of the other files there. While it runs, set its
faults with PUT {"faults": ["name"]} at its faultsUrl. Verified calls refuse every fault, and so does
\`bootproof verify --activity-id\` after any submit; brackets in the list name the operations that a fault needs, or
state that only verified calls detect it. Faults of lists leave the evidence genuine: the list has the class of an
address that shows them.

Examples:
    $ bootproof lab
    $ bootproof lab --port 8787 --data ./lab
    $ bootproof lab --list-faults

  A client that verifies must refuse the responses of this one:
    $ bootproof lab --fault stale-manifest`;

export const addLabCommand = commandOf("lab", { help: EXAMPLES }, async ({ args, flags, io }) => {
  const [{ APPLICATION_FAULTS, AUTH_FAULTS, FAULTS, FEED_FAULTS }, { MANIFEST_VERSIONS }] = await Promise.all([
    import("../lab/faults.js"),
    import("../decode/manifest/index.js"),
  ]);
  const ofApplications = APPLICATION_FAULTS.map((fault) => ({ ...fault, needs: ["applications of your own"] }));
  const faults = [...FAULTS, ...AUTH_FAULTS, ...FEED_FAULTS, ...ofApplications];
  const options = optionsOf(args, flags, { faults, versions: MANIFEST_VERSIONS }, io);
  if (flags.listFaults === true) io.stdout.write(faultList(faults));
  else await run(options, io);
  return EXIT.good;
});

interface Known {
  readonly faults: readonly (LabFault | AuthFault | FeedFault)[];
  readonly versions: readonly NonNullable<LabOptions["manifestVersion"]>[];
}

function optionsOf(
  args: ArgumentReader,
  { port = 0, data, fault, manifestVersion }: Flags<"lab">,
  known: Known,
  io: Io,
): LabOptions {
  for (const name of fault)
    if (!known.faults.some((one) => one.name === name))
      args.fault(`--fault ${name}: unknown fault; see bootproof lab --list-faults`);
  const version = known.versions.find((one) => one === manifestVersion);
  if (manifestVersion !== undefined && version === undefined)
    args.fault(`--manifest-version ${manifestVersion}: expected one of ${known.versions.join(", ")}`);
  args.throwFaults();
  return {
    port,
    faults: fault,
    now: io.now,
    ...(data !== undefined && { dataFolder: resolve(data) }),
    ...(version && { manifestVersion: version }),
  };
}

function faultList(faults: Known["faults"]): string {
  const width = Math.max(...faults.map(({ name }) => name.length));
  return faults.map((fault) => `${fault.name.padEnd(width)}  ${described(fault)}\n`).join("");
}

function described(fault: LabFault | AuthFault | FeedFault): string {
  if ("code" in fault) return `${fault.what} (${fault.code ?? "not refused"}) [signed policy]`;
  if ("operations" in fault)
    return `${fault.what} (${fault.fails.join(", ") || "request"}) [auth proxy: ${fault.operations.join(", ")}]`;
  const { what, fails, needs, shows } = fault;
  const refused = shows ?? (fails.length === 0 ? "exit code 3" : fails.join(", "));
  return `${what} (${refused})${needs === undefined ? "" : ` [${needs.join(", ")}]`}`;
}

async function run(options: LabOptions, io: Io): Promise<void> {
  // The handler is set before any work, so that no signal is missed.
  const interruption = new Interruption();
  // The import is here because it loads streams, which other commands do not need.
  const { mkdtemp, rm } = await import("node:fs/promises");
  const temporary = options.dataFolder === undefined ? await mkdtemp(join(tmpdir(), "bootproof-lab-")) : null;
  try {
    io.progress("starting the lab");
    // Without the index, which has the forge of builds, too.
    const [{ startLab }, { writeLabFiles }] = await Promise.all([import("../lab/lab.js"), import("../lab/files.js")]);
    const lab = await sayingWhy(options, () => startLab(options));
    try {
      const folder = options.dataFolder ?? temporary!;
      const files = await sayingWhy(options, () => writeLabFiles(lab, folder));
      const text = greeting(lab, files, folder, { temporary: temporary !== null, bootproof: programName(io) });
      io.stdout.write(withoutPrompts(fitted(text, helpWidth(textOptions(io).width))));
      await interruption.comes;
    } finally {
      await lab.close();
    }
  } finally {
    interruption.forget();
    if (temporary !== null) await rm(temporary, { recursive: true, force: true });
  }
}

/** What to do about errors of the data folder, by their names. */
const DATA_ADVICE: Readonly<Record<string, string>> = {
  LabFolderError: "",
  InUseError: " End that lab, or choose another folder.",
};

/** Turns errors that a user can fix into messages. */
async function sayingWhy<T>({ port, dataFolder }: LabOptions, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { name, message, syscall } = error as NodeJS.ErrnoException;
    if (syscall === "listen") throw new UsageError([`--port ${port}: ${diskReason(error, LISTEN_REASONS)}.`]);
    if (Object.hasOwn(DATA_ADVICE, name))
      throw new UsageError([`--data ${dataFolder}: ${message}.${DATA_ADVICE[name]!}`]);
    if (syscall === undefined) throw error;
    const reason = diskReason(error, { EEXIST: "a file, not a folder", ENOTDIR: "a file is in its path" });
    throw new UsageError([`${dataFolder === undefined ? tmpdir() : `--data ${dataFolder}`}: ${reason}.`]);
  }
}

interface Greeted {
  readonly temporary: boolean;
  readonly bootproof: string;
}

function greeting(lab: Lab, files: LabFiles, folder: string, { temporary, bootproof }: Greeted): string {
  const file = (name: string): string => shellWord(join(folder, name));
  const key = `--api-key-file ${files.apiKeyFile}`;
  const anchor = `--trust-anchor ${files.trustAnchorFile}`;
  const operators = `--manifest-set ${files.operatorsFile}`;
  const rows: [string, string][] = [
    ["base URL", lab.baseUrl],
    ["organization", `${lab.organizationId} (child: ${lab.childOrganizationId})`],
    ["API key file", file(files.apiKeyFile)],
    ["trust anchor", file(files.trustAnchorFile)],
    ["policy", file(files.policyFile)],
    ["all of it", `${file("lab.json")}${temporary ? " (a temporary folder, removed when the lab ends)" : ""}`],
    ["enclaves", lab.enclaves.map(({ enclaveId }) => enclaveId).join(", ")],
    ["faults", `${lab.faults.join(", ") || "none"} (see --list-faults; switched at ${lab.faultsUrl})`],
  ];
  const switchTo = (faults: string): string =>
    `$ curl -sS -o /dev/null -X PUT ${lab.faultsUrl} -d '{"faults": ${faults}}'`;
  const stamp = `-H "X-Stamp: $(printf %s "$BODY" | ${bootproof} key stamp ${key})"`;
  return `The lab listens. Nothing in it is real: software keys, for tests only.

${rows.map(([name, value]) => `  ${name.padEnd(13)} ${value}\n`).join("")}
In another terminal: pin the newest release that the operators approved, and verify the enclave that runs it. VERIFIED:
  $ cd ${shellWord(folder)}
  $ export BOOTPROOF_BASE_URL=${lab.baseUrl} BOOTPROOF_ORGANIZATION_ID=${lab.organizationId}
  $ ${bootproof} policy check-releases ${files.releasesFolder} ${operators}
  $ ${bootproof} pin --release ${files.newestRelease} --app signer ${operators} ${anchor} > lab-published.json
  $ ${bootproof} fetch --app signer ${key} > lab-boot.json
  $ ${bootproof} verify --boot-proof lab-boot.json --app-proof ${files.appProofFile} --policy lab-published.json

Only where nothing is published, pin what a boot proof shows. Warning: these values come from the evidence itself, no
matter whose enclave it is, so compare them with a source that you trust. VERIFIED:
  $ ${bootproof} pin --boot-proof lab-boot.json ${anchor} > lab-pinned.json
  $ ${bootproof} verify --boot-proof lab-boot.json --policy lab-pinned.json

Now the service lies: its enclave boots an older manifest, which was approved once. REJECTED, and why:
  ${switchTo('["stale-manifest"]')}
  $ ${bootproof} fetch --app signer ${key} > lab-older.json
  $ ${bootproof} verify --boot-proof lab-older.json --policy lab-published.json
  $ ${bootproof} explain policy.nonce
  ${switchTo("[]")}

Verify the activity that created the wallet, with the app proofs of its addresses, against the lab's own policy:
  $ ${bootproof} verify --activity-id ${lab.walletActivityId} ${key} --policy ${files.policyFile}

Send a query with curl:
  $ BODY='{"organizationId":"${lab.organizationId}","userId":"${lab.ids.userId}"}'
  $ curl -s ${lab.baseUrl}/public/v1/query/get_user -H 'Content-Type: application/json' ${stamp} --data-binary "$BODY"

Ctrl-C ends it.
`;
}
