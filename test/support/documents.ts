/** The code blocks of documents, and the files that their commands need. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { labMeasurements } from "../../src/lab/enclave.js";
import { Forge, forgeEvidence } from "../../src/lab/forge.js";
import { decodeApproval } from "../../src/decode/manifest/approval.js";
import { type PivotManifest, decodeManifest } from "../../src/decode/manifest/index.js";
import { ROOT } from "../tracked.mjs";
import { releaseOf, unpackReleases } from "./releases.js";

export interface Block {
  readonly language: string;
  readonly text: string;
  /** Its document, and the nearest heading above it. */
  readonly place: string;
}

export function readBlocks(document: string): Block[] {
  const markdown = readFileSync(join(ROOT, document), "utf8");
  const found: Block[] = [];
  let heading = "";
  for (const [, title, language, text] of markdown.matchAll(/^#{1,6} ([^\n]+)$|^```(\w*)\n(.*?)^```$/gms)) {
    if (title !== undefined) heading = title;
    else found.push({ language: language!, text: text!, place: `${document}, ${heading}` });
  }
  return found;
}

/** The genuine releases, their operators, and the boot proof of an enclave of the lab that runs 2026.9.0. */
export function writeReleases(folder: string): string {
  unpackReleases(join(folder, "core-enclaves/releases"));
  const files = releaseOf("2026.9.0");
  const manifest = decodeManifest(files.get("manifest")!) as PivotManifest;
  const approvals = [...files].filter(([name]) => name.endsWith(".approval")).map(([, bytes]) => decodeApproval(bytes));
  const { pcr0, pcr1, pcr2, pcr3 } = manifest.enclave;
  const lab = new Forge({ measurements: { ...labMeasurements(), pcr0, pcr1, pcr2, pcr3 } });
  const { bootProof, appProofs, anchorPem } = forgeEvidence({
    lab,
    at: new Date("2026-09-10T12:00:00.000Z"),
    version: "v1",
    alterManifest: { manifest: () => manifest, approvals: () => approvals, shareApprovals: () => [] },
  });
  const first = decodeManifest(releaseOf("2026.1.1").get("manifest")!).manifestSet;
  const members = first.members.map(({ pubKey }) => Buffer.from(pubKey).toString("hex"));
  writeFileSync(join(folder, "operators.json"), JSON.stringify({ threshold: first.threshold, members }));
  writeFileSync(join(folder, "boot.json"), JSON.stringify(bootProof));
  writeFileSync(join(folder, "app.json"), JSON.stringify(appProofs[0]));
  return anchorPem;
}
