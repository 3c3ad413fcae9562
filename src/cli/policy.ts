/** `bootproof policy`: shows what a policy file pins and leaves open, and drops a deployment. */
import type { Command } from "commander";
import { attempt, faultText } from "../errors.js";
import { jsonDocument } from "../report/json.js";
import { printable } from "../report/printable.js";
import type { Format } from "../report/report.js";
import { EXIT } from "./exit-codes.js";
import { InputFiles, STDIN, nameOf, readerBeside } from "./files.js";
import { type Io, UsageError, textOptions } from "./io.js";
import { ofKind } from "./kinds.js";
import { readPolicyFile } from "./option-files.js";
import { type Flags, addOptions } from "./option-table.js";
import { formatOf } from "./option-values.js";
import { ArgumentReader } from "./options.js";
import { requireWritable, writeWhole } from "./write-whole.js";

const EXAMPLES = `
The life of a policy:
    $ bootproof pin --boot-proof boot.json --out policy.json     # pin what runs
    $ bootproof policy check policy.json                         # review it, and commit it
    $ bootproof verify --boot-proof boot.json --policy policy.json
    $ bootproof pin --boot-proof new.json --add-to policy.json   # roll out: both pass
    $ bootproof policy drop policy.json "prod/signer nonce 7"    # the old one no longer passes`;

const CHECK_HELP = `
For each deployment: which of its pins establish the image, the application and the operator; what it leaves open, and
how an attacker could use that. Only the file is checked: no evidence is verified.

Examples:
    $ bootproof policy check policy.json
    $ bootproof policy check policy.json --format json

Exit codes: 0 well-formed, 2 malformed (every fault is listed), no policy, or unreadable.`;

const DROP_HELP = `
The rest of the file does not change. The file is written as a whole or not at all. The last deployment cannot be
dropped. If another deployment accepts all or a part of the same evidence, that is reported: it still passes.

Examples:
    $ bootproof policy drop policy.json "prod/signer nonce 7"

Exit codes: 0 dropped, 2 no deployment has that name, it is the last one, or the file is malformed or cannot be
written.`;

export function addPolicyCommand(command: Command, io: Io, finish: (code: number) => void): void {
  command
    .description("Check a policy before you rely on it, and end a roll-out. bootproof pin makes policies.")
    .addHelpText("after", EXAMPLES);
  addCheck(command, io, finish);
  addDrop(command, io, finish);
}

function addCheck(program: Command, io: Io, finish: (code: number) => void): void {
  const command = program
    .command("check")
    .summary("list the faults of a policy, or what it pins and leaves open")
    .description("List the faults of a policy file; or what each of its deployments pins and leaves open.")
    .argument("<file>", "the policy; - for stdin")
    .addHelpText("after", CHECK_HELP);
  const args = new ArgumentReader(addOptions(command, "policy check"));
  command.action(async (path: string, flags: Flags<"policy check">) => {
    args.refuseRepeated();
    const format = formatOf(args, flags.format);
    args.throwFaults();
    finish(await check(path, format, io));
  });
}

async function check(path: string, format: Format, io: Io): Promise<number> {
  const [{ checkPolicy }, { renderPolicyCheck }] = await Promise.all([
    import("../appraise/describe.js"),
    import("../report/policy-text.js"),
  ]);
  const files = new InputFiles(io);
  const bytes = await ofKind(files, path, await files.bytes(path), { command: "policy check", option: "POLICY" });
  files.throwFaults();
  const answer = checkPolicy(bytes!, { readFile: readerBeside(path) });
  const isGood = answer.faults.length === 0;
  const options = textOptions(io);
  io.stdout.write(format === "json" ? jsonDocument(answer) : renderPolicyCheck(answer, nameOf(path), options));
  return isGood ? EXIT.good : EXIT.usage;
}

function addDrop(program: Command, io: Io, finish: (code: number) => void): void {
  const command = program
    .command("drop")
    .summary("remove a deployment from a policy: what only it accepted no longer passes")
    .description("Remove a deployment from a policy: what only it accepted no longer passes.")
    .argument("<policy>", "the policy, which is rewritten in place")
    .argument("<name>", "the deployment's name, or its place (deployments[0]) if it has none")
    .addHelpText("after", DROP_HELP);
  const args = new ArgumentReader(command);
  command.action(async (path: string, name: string) => {
    if (path === STDIN) args.fault("stdin cannot be rewritten: give the file of the policy");
    args.throwFaults();
    await drop(path, name, io);
    finish(EXIT.good);
  });
}

async function drop(path: string, name: string, io: Io): Promise<void> {
  const { dropDeployment } = await import("../appraise/edit.js");
  const files = new InputFiles(io);
  const given = await readPolicyFile(files, path, { command: "policy drop", option: "POLICY" });
  files.throwFaults();
  requireWritable(path);
  const { bytes, options } = given!;
  const edited = attempt(() => dropDeployment(bytes, name, options));
  if (edited.value === undefined) {
    const lines = edited.faults.map((fault) => printable(faultText([fault])));
    throw new UsageError([`${printable(path)}: unchanged:`, ...lines]);
  }
  await writeWhole(path, edited.value.text, bytes);
  const { notes, stillAcceptedBy } = edited.value;
  const says = [
    ...stillAcceptedBy.map(({ extent, message }) => `${extent === "all" ? "WARNING" : "note"}: ${message}`),
    ...(stillAcceptedBy.some(({ extent }) => extent === "all") ? [DROP_THESE_TOO] : []),
    ...notes.map((note) => `note: ${note}`),
  ];
  io.stderr.write([`Replaced: ${path}, without ${JSON.stringify(name)}`, ...says, ""].map(printable).join("\n"));
}

const DROP_THESE_TOO = "To stop accepting it, drop the deployments that still accept it too.";
