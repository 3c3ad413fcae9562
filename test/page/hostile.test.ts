/**
 * `verify` of any page of up to 32 MiB ends in time, and in memory: the built command over pages that are made
 * to cost. Time is the processor's, so that a busy machine makes nothing dearer. `npm run test:soak` runs it; needs
 * `npm run build`. `BOOTPROOF_COST=show` prints what each took.
 */
import { plainOptions } from "../../src/plain-settings.js";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NO_POLICY_ANY_ENCLAVE, parseTrustAnchor, verifyEvidence } from "../../src/index.js";
import { Forge, forgeEvidence } from "../../src/lab/forge.js";
import { renderPage } from "../../src/page/page.js";
import { hostilePages } from "../support/hostile-pages.js";

const FULL = process.env["BOOTPROOF_SOAK"] === "full";
/** Twice what is promised, and what a good page takes with 500 MiB and a margin. */
const MAX_SECONDS = 12;
const MAX_MEBIBYTES = 700;
const MAX_WAIT = 120_000;
const BIN = fileURLToPath(new URL("../../dist/bin/bootproof.cjs", import.meta.url));
const NOW = new Date("2026-03-04T05:16:07.000Z");

/** Tells what the process took when it ends. */
const HOOK = `process.on("exit", () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const took = [(userCPUTime + systemCPUTime) / 1e6, maxRSS / 1024];
  require("node:fs").writeFileSync(process.env.TOOK, JSON.stringify(took));
});`;

async function goodPage(): Promise<string> {
  const at = new Date("2026-03-04T05:06:07.000Z");
  const { bootProof, appProofs, anchorPem } = forgeEvidence({ lab: new Forge(), at });
  const evidence = { bootProofs: [bootProof], appProofs: appProofs.slice(0, 1) };
  const options = {
    policy: NO_POLICY_ANY_ENCLAVE,
    now: NOW,
    trustAnchors: [parseTrustAnchor("lab", anchorPem)],
  } as const;
  const { report } = await verifyEvidence(evidence, options);
  return renderPage({ evidence, options: plainOptions(options), report });
}

describe.skipIf(!FULL)("verify of a page ends", () => {
  let folder = "";
  let good = "";
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "hostile-pages-"));
    writeFileSync(join(folder, "hook.cjs"), HOOK);
    good = await goodPage();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function verified(html: string): Promise<{ code: number; seconds: number; mebibytes: number }> {
    const [file, took] = [join(folder, "page.html"), join(folder, "took.json")];
    rmSync(took, { force: true });
    writeFileSync(file, html);
    const hook = ["--require", join(folder, "hook.cjs")];
    const flags = ["verify", file, "--no-policy", "--now", NOW.toISOString()];
    const code = await new Promise<number>((resolve) => {
      const options = { timeout: MAX_WAIT, maxBuffer: 64 * 1024 * 1024, env: { ...process.env, TOOK: took } };
      execFile(process.execPath, [...hook, BIN, ...flags], options, (error) =>
        resolve(error === null ? 0 : Number(error.code ?? -1)),
      );
    });
    const [seconds, mebibytes] = JSON.parse(readFileSync(took, "utf8")) as [number, number];
    return { code, seconds, mebibytes };
  }

  const show = (name: string, { seconds, mebibytes }: { seconds: number; mebibytes: number }): void => {
    if (process.env["BOOTPROOF_COST"] === "show")
      console.log(`${seconds.toFixed(1).padStart(5)} s ${mebibytes.toFixed(0).padStart(5)} MiB  ${name}`);
  };

  it("of the good page that the others are made of", { timeout: 2 * MAX_WAIT }, async () => {
    const took = await verified(good);
    show("the good page", took);
    // The page names a trust anchor of its own, which is not the caller's.
    expect(took.code).toBe(1);
  });

  it("of every other page", { timeout: 3_600_000 }, async () => {
    const dear: string[] = [];
    for (const { name, html } of hostilePages(good)) {
      const text = html();
      expect(Buffer.byteLength(text), name).toBeLessThanOrEqual(32 * 1024 * 1024);
      const took = await verified(text);
      show(name, took);
      // Rejected, or no page at all: never a crash.
      const isGood = [1, 2].includes(took.code) && took.seconds < MAX_SECONDS && took.mebibytes < MAX_MEBIBYTES;
      if (!isGood) dear.push(`${name}: ${JSON.stringify(took)}`);
    }
    expect(dear).toEqual([]);
  });
});
