/** `bootproof policy`: shows what a policy file pins and leaves open, and drops a deployment. */
import { type Fault, attempt, faultText } from "../errors.js";
import { jsonDocument } from "../report/json.js";
import { printable } from "../report/printable.js";
import { commandOf, groupOf } from "./command.js";
import { EXIT } from "./exit-codes.js";
import { brokenJson } from "./file-formats.js";
import { STDIN, nameOf, readerBeside } from "./files.js";
import { UsageError, textOptions } from "./io.js";
import { ofKind } from "./kinds.js";
import { readPolicyFile } from "./option-files.js";
import { addCheckReleases } from "./release.js";
import { addCosign, addPublish, addRenew, addReview, addSign, addToSign, checkFeedFile } from "./signed-policy.js";
import { requireWritable, writeWhole } from "./write-whole.js";

const EXAMPLES = `
The life of a policy:
    $ bootproof pin --boot-proof boot.json --out policy.json
    $ bootproof policy check policy.json
    $ bootproof verify --boot-proof boot.json --policy policy.json

  A roll-out: both pass, until the old one is dropped:
    $ bootproof pin --boot-proof new.json --add-to policy.json
    $ bootproof policy drop policy.json "prod/signer nonce 7"

  A signed policy: applications pin signers.json, and read the feed:
    $ bootproof key new --type p256 --out alice.pem
    $ bootproof policy sign policy.json --signers signers.json --key alice.pem --valid 14d --out v1.json
    $ bootproof policy cosign v1.json --key bob.pem
    $ bootproof policy publish v1.json --feed feed.jsonl --policy-signers signers.json
    $ bootproof policy check feed.jsonl --policy-signers signers.json
    $ bootproof policy renew --feed feed.jsonl --key alice.pem --valid 14d --out v2.json
    $ bootproof policy review v2.json --feed feed.jsonl`;

const CHECK_HELP = `
For each deployment: which of its pins establish the image, the application and the operator; what it leaves open, and
how an attacker could use that. Only the file is checked: no evidence is verified.

Examples:
    $ bootproof policy check policy.json
    $ bootproof policy check policy.json --format json
    $ bootproof policy check feed.jsonl --policy-signers signers.json

Exit codes: 0 well-formed, 1 a feed whose newest version is not in force, 2 malformed (every fault is listed), not a
policy, or unreadable.`;

const DROP_HELP = `
The rest of the file does not change. The file is written as a whole or not at all. The last deployment cannot be
dropped. If another deployment accepts all or a part of the same evidence, that is reported: it still passes.

Examples:
    $ bootproof policy drop policy.json "prod/signer nonce 7"

Exit codes: 0 dropped, 2 no deployment has that name, it is the last one, or the file is malformed or cannot be
written.`;

const addCheck = commandOf<"policy check", [file: string]>(
  "policy check",
  { help: CHECK_HELP },
  async ({ args, flags, files, io }, path) => {
    const { format } = flags;
    args.throwFaults();
    if (flags.policySigners !== undefined)
      return checkFeedFile({ feed: path, signers: flags.policySigners }, { files, io, format });
    const [{ checkPolicy }, { renderPolicyCheck }] = await Promise.all([
      import("../appraise/describe.js"),
      import("../show/policy.js"),
    ]);
    const bytes = await ofKind(files, path, "POLICY");
    files.throwFaults();
    const checked = checkPolicy(bytes!, { readFile: readerBeside(path) });
    const answer = { ...checked, faults: checked.faults.map((fault) => withCause(fault, bytes!)) };
    const options = textOptions(io);
    io.stdout.write(format === "json" ? jsonDocument(answer) : renderPolicyCheck(answer, nameOf(path), options));
    return answer.faults.length === 0 ? EXIT.good : EXIT.usage;
  },
);

const NOT_JSON = "not strict JSON: ";

/** Returns the fault, with a likely cause if the file is not JSON. */
function withCause({ path, message }: Fault, bytes: Uint8Array): Fault {
  if (!message.startsWith(NOT_JSON)) return { path, message };
  return { path, message: NOT_JSON + brokenJson(bytes, message.slice(NOT_JSON.length)) };
}

const addDrop = commandOf<"policy drop", [policy: string, name: string]>(
  "policy drop",
  { help: DROP_HELP },
  async ({ args, files, io }, path, name) => {
    if (path === STDIN) args.fault("stdin cannot be rewritten: give the file of the policy");
    args.throwFaults();
    const { dropDeployment } = await import("../appraise/edit.js");
    const given = await readPolicyFile(files, path, "POLICY");
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
    return EXIT.good;
  },
);

const DROP_THESE_TOO = "To stop accepting that evidence, drop these deployments, too.";

const ENVELOPE = { "<envelope>": "a version of a signed policy, as sign and renew write it; - for stdin" };

export const addPolicyCommand = groupOf(
  { help: EXAMPLES },
  {
    check: {
      summary: "list the faults of a policy or, without faults, what it pins and leaves open",
      operands: { "<file>": "the policy, or with --policy-signers a feed; - for stdin" },
      add: addCheck,
    },
    "check-releases": {
      summary: "check the approvals of published releases, and the changes from each to the next",
      operands: { "<folder...>": "releases of one application, of one version, or of many versions" },
      add: addCheckReleases,
    },
    drop: {
      summary: "remove a deployment from a policy: evidence that only it accepted no longer passes",
      operands: {
        "<policy>": "the policy, which is rewritten in place",
        "<name>": "the deployment's name, or its place (deployments[0]) if it has none",
      },
      add: addDrop,
    },
    sign: {
      summary: "make the first or the next version of a signed policy",
      operands: { "<policy>": "the policy that is signed" },
      add: addSign,
    },
    cosign: { summary: "add a signature to a version, after a review", operands: ENVELOPE, add: addCosign },
    review: { summary: "show what a version changes", operands: ENVELOPE, add: addReview },
    "to-sign": { summary: "write the bytes that a key service signs", operands: ENVELOPE, add: addToSign },
    publish: { summary: "append a version to the feed that consumers read", operands: ENVELOPE, add: addPublish },
    renew: { summary: "make the next version with the same policy and a later expiry", add: addRenew },
  },
);
