/** The document of a review. */
import { listed } from "../errors.js";
import { NOT_THERE } from "../diff/changes.js";
import { changeRow, valueRows } from "../diff/text.js";
import { printableStart, quoted } from "../report/printable.js";
import { renderWhole } from "../report/rendering.js";
import { type Doc, type Row, type Section, labelled, rows, section, words } from "../show/doc.js";
import { type LineOptions, writeText } from "../show/terminal.js";
import type { ReviewedDeployment } from "./deployments.js";
import type { ReviewFault } from "./faults.js";
import type { GenesisReview } from "./genesis.js";
import type { ManifestReview, UnpinnedMember } from "./review.js";

/** Maximum characters of an unchanged value, which nobody has to read. */
const MAX_KNOWN = 200;
const MAX_NAME = 160;
const WANTED = "review: expected the awaited result of reviewManifest";

/** Renders the review of an output of a genesis ceremony, with the verdict first. Ends with a line feed. */
export function renderGenesisReview(review: GenesisReview, options: LineOptions = {}): string {
  return renderWhole(review, "review: expected the awaited result of reviewGenesis", () =>
    writeText(genesisDoc(review), options),
  );
}

function genesisDoc({ holds, faults, form, threshold, members, quorumKey, userData, open }: GenesisReview): Doc {
  const text = holds
    ? "IT ANSWERS THE REQUEST: set, threshold, shares and keys are those that were requested."
    : `KEEP NO SHARE OF IT: ${faults.length} ${faults.length === 1 ? "fault" : "faults"}.`;
  const failed = faults.map(({ code, message }): Row => ({ label: "FAIL", tone: "bad", text: `${message} (${code})` }));
  const facts: Row[] = [
    { label: "form", text: form },
    { label: "threshold", text: `${threshold} of ${members.length} shares` },
  ];
  return {
    sections: [
      { blocks: [{ kind: "verdict", text, tone: holds ? "good" : "bad" }, rows([...failed, ...facts])] },
      ...section("Quorum key", [{ kind: "value", text: quorumKey }]),
      ...section("User data of the ceremony's attestation document", [{ kind: "value", text: userData }]),
      ...section("Shares", [
        rows(members.map(({ alias, pubKey }) => ({ label: quoted(alias, MAX_NAME), text: pubKey }))),
      ]),
      ...section("Not shown here", [{ kind: "list", items: open }]),
    ],
  };
}

/**
 * Renders a review. The first sentence is what no review can know. The verdict with the hash that an approval signs
 * follows, then every fault with advice, the pins, the members that no pin fixes, the changes, and who may approve.
 * Ends with a line feed. Throws TypeError for any other value.
 */
export function renderReview(review: ManifestReview, options: LineOptions = {}): string {
  return renderWhole(review, WANTED, () => writeText(reviewDoc(review), options));
}

function reviewDoc(review: ManifestReview): Doc {
  const { unknowable, faults, deployments, members, changes, notes } = review;
  return {
    sections: [
      { blocks: unknowable.map((sentence) => words(sentence)) },
      verdictSection(review),
      ...faults.map((fault) => ({ blocks: [rows([faultRow(fault)])] })),
      ...section("Pins", [rows(deployments.map(deploymentRow))]),
      ...section("Members that no pin holds", [rows(members.map((member) => memberRow(member, changes !== null)))]),
      ...section("Changes since the previous manifest", [rows((changes ?? []).map(changeRow))]),
      ...section("Approvals", [rows(approvalRows(review))]),
      ...section("Notes", [{ kind: "list", items: notes }]),
    ],
  };
}

function verdictSection(review: ManifestReview): Section {
  const { ok, faults, deployment, manifestHash, manifestVersion, namespace, nonce } = review;
  const text = ok
    ? `EVERYTHING HOLDS: everything that was given was compared, with the deployment ${quoted(deployment!)}.`
    : `DO NOT APPROVE: ${faults.length} ${faults.length === 1 ? "fault" : "faults"}.`;
  const facts: Row[] = [
    { label: "manifest", text: `${quoted(namespace, MAX_NAME)}, nonce ${nonce}, ${manifestVersion}` },
    ...builtRows(review),
    { label: "hash", text: "an approval signs it:" },
  ];
  return {
    blocks: [{ kind: "verdict", text, tone: ok ? "good" : "bad" }, rows(facts), { kind: "value", text: manifestHash }],
  };
}

/** Returns whether the manifest is about what was built. */
function builtRows({ measured, faults }: ManifestReview): Row[] {
  const isOther = (code: string): boolean => faults.some((fault) => fault.code === code);
  const image = measured.filter((name) => name !== "pivotHash");
  const binary = `it pins ${isOther("binary") ? "another binary than the one" : "exactly the binary"} that you built`;
  const pcrs = isOther("image") ? "another image than the one that you built" : "exactly the image that you built";
  const texts = [
    ...(measured.includes("pivotHash") ? [binary] : []),
    ...(image.length > 0 ? [`it names ${pcrs}: ${listed(image)}`] : []),
  ];
  return labelled("build", texts.length > 0 ? texts : ["no image and no binary was given"]);
}

function faultRow({ code, message, expected, actual, advice }: ReviewFault): Row {
  // The values of an open member are left out here, because the list of members shows them in full.
  const values = code === "open-member" ? [] : valueRows(["expected", "actual"], [expected, actual]).rows;
  return {
    label: "FAIL",
    tone: "bad",
    text: `${message} (${code})`,
    below: [...values, { label: "to do", text: advice }],
  };
}

function deploymentRow({ name, pins, notCompared }: ReviewedDeployment): Row {
  const named = (holds: boolean): string => listed(pins.filter((one) => one.holds === holds).map(({ pin }) => pin));
  const list: Row[] = [
    { label: "holds", text: named(true) },
    { label: "differs", text: named(false) },
    { label: "not shown", text: notCompared.length === 0 ? "" : `${listed(notCompared)}: only a boot proof shows it` },
  ];
  return { label: quoted(name, MAX_NAME), below: list.filter(({ text }) => text !== "") };
}

function memberRow({ place, name, before, after, status }: UnpinnedMember, hasPrevious: boolean): Row {
  const title = status === "open" ? `${place} (--accept ${name})` : place;
  if (status === "unchanged") return { label: status, text: `${title} ${printableStart(after!, MAX_KNOWN)}` };
  if (!hasPrevious) return { label: status, text: `${title} ${after!}` };
  const below = [
    { label: "before", text: before ?? NOT_THERE },
    { label: "after", text: after ?? NOT_THERE },
  ];
  return { label: status, text: title, below };
}

function approvalRows({ approvers: { threshold, members }, approvals }: ManifestReview): Row[] {
  const names = (approved: boolean): string =>
    listed(members.filter((one) => one.approved === approved).map(({ alias }) => quoted(alias, MAX_NAME)));
  const bad = approvals.filter(({ status }) => status !== "valid");
  return [
    { label: "required", text: `${threshold} of ${members.length} members of the manifest's own set` },
    { label: "approved by", text: names(true) || "nobody yet" },
    { label: "may approve", text: names(false) || "nobody else" },
    ...bad.map(({ status, set, alias }) => ({ label: status, text: `${quoted(alias, MAX_NAME)}, for the ${set} set` })),
  ];
}
