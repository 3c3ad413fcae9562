/** `bootproof demo`: verifies a genuine pair of the package's own, and a copy of it with one changed byte. */
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pinPolicy } from "../appraise/pin.js";
import { parsePolicy } from "../appraise/policy.js";
import { NO_POLICY_ANY_ENCLAVE, NamedEvidence, verifyBootProof, verifyEvidence } from "../bootproof.js";
import { warningsOf } from "../report/facts.js";
import { jsonDocument } from "../report/json.js";
import type { Report } from "../report/report.js";
import { type Section, section, words } from "../show/doc.js";
import { failuresDoc, summaryDoc } from "../show/report.js";
import { writeText } from "../show/terminal.js";
import { lookOf } from "../show/text.js";
import { commandOf } from "./command.js";
import { APP_PROOF, BOOT_PROOF, ORIGIN } from "./demo-evidence.js";
import { EXIT } from "./exit-codes.js";
import { type Io, textOptions } from "./io.js";
import { programName, shellWord } from "./program-name.js";
import { requireFolder, writeFolder } from "./write-whole.js";

const EXAMPLES = `
It verifies a boot proof and an app proof of an enclave on AWS Nitro as of their capture, and a copy with one changed
byte, in a folder that it names, without account and network. It prints the commands that do the same by hand.

Examples:
    $ bootproof demo
    $ bootproof demo --out demo

Exit codes: 0 shown, 2 wrong usage, or the folder cannot be written.`;

/** Just after the app proof was signed. */
const CAPTURED = "2025-09-16T21:40:00Z";
/** The end of the address in the app proof, and with another last digit. */
const [DIGITS, CHANGED] = ["8138DC", "8138DD"] as const;

/** What each warning means for this pair, by words of the warning. */
const MEANINGS = Object.entries({
  "legacy:":
    "Enclaves of 2025 put no hash of their manifest and key into a PCR, so the hardware does not say which " +
    "application requested the document. Newer enclaves do: they are pinned as live, without this warning.",
  "the manifest set":
    "This was a deployment for tests: the keys of the operators who approved its manifest are in public source code. " +
    "In production only the operators hold them.",
  "the share set": "The same holds for those who hold the shares of its quorum key.",
});

export const addDemoCommand = commandOf("demo", { help: EXAMPLES }, async ({ args, flags, io }) => {
  args.throwFaults();
  const folder = requireFolder(flags.out ?? join(tmpdir(), `bootproof-demo-${randomUUID()}`));
  io.progress("verifying the evidence of the demo");
  const now = new Date(CAPTURED);
  const { bootProof } = await verifyBootProof(BOOT_PROOF, { policy: NO_POLICY_ANY_ENCLAVE, now });
  const files = {
    "boot-proof.json": BOOT_PROOF,
    "app-proof.json": APP_PROOF,
    "changed-app-proof.json": APP_PROOF.replace(DIGITS, CHANGED),
    "policy.json": jsonDocument(pinPolicy(bootProof!)),
  };
  const options = { policy: parsePolicy(files["policy.json"]), now };
  const named = (name: keyof typeof files): NamedEvidence => new NamedEvidence(name, files[name]);
  const verified = async (appProof: keyof typeof files): Promise<Report> => {
    const evidence = { bootProofs: [named("boot-proof.json")], appProofs: [named(appProof)] };
    return (await verifyEvidence(evidence, options)).report;
  };
  const reports = [await verified("app-proof.json"), await verified("changed-app-proof.json")] as const;
  await writeFolder(folder, files);
  io.stdout.write(textOf(reports, folder, io));
  return EXIT.good;
});

function textOf([good, bad]: readonly [Report, Report], folder: string, io: Io): string {
  const meanings = warningsOf(good, []).map((text) => MEANINGS.find(([words]) => text.includes(words))?.[1] ?? text);
  const [repository, path, commit] = ORIGIN;
  const intro =
    "This evidence is real: a boot proof of an enclave on AWS Nitro, and an app proof that this enclave signed, as " +
    `https://github.com/${repository} has them (${path}, commit ${commit.slice(0, 8)}). Both are verified as of ` +
    `${CAPTURED}, when they were captured, against a policy that pins what the boot proof itself shows. ` +
    "A policy of yours comes from a source that you trust.";
  const change =
    `Now one byte of the app proof is changed: the address ends in ${CHANGED} instead of ${DIGITS}. ` +
    "The enclave did not sign that:";
  const end = "Nothing was fetched or sent. The files are in this folder, and these commands do the same by hand:";
  const paragraph = (text: string): Section => ({ blocks: [words(text)] });
  const sections = [
    paragraph(intro),
    ...summaryDoc(good, [], lookOf("summary")).sections,
    ...section("What the warnings mean", [{ kind: "list", items: meanings }]),
    paragraph(change),
    ...failuresDoc(bad, lookOf("normal")).sections,
    paragraph(end),
  ];
  return `${writeText({ sections }, textOptions(io))}\n${byHand(folder, programName(io))}`;
}

/** Returns commands for a POSIX shell. Lines are not wrapped, so that they can be pasted. */
function byHand(folder: string, bootproof: string): string {
  const verify = `${bootproof} verify --boot-proof boot-proof.json --policy my-policy.json --now ${CAPTURED}`;
  return `cd ${shellWord(folder)}
${bootproof} pin --boot-proof boot-proof.json --out my-policy.json
${verify} --app-proof app-proof.json
sed s/${DIGITS}/${CHANGED}/ app-proof.json > my-app-proof.json
${verify} --app-proof my-app-proof.json
${bootproof} explain app.signature
`;
}
