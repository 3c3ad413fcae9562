/** From the built image to the running enclave, by the built command in processes of its own. Needs `npm run build`. */
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { fromHex, toHex } from "../../src/bytes.js";
import { Forge, forgeEvidence } from "../../src/lab/forge.js";
import type { Report } from "../../src/report/report.js";
import { APPLICATION, SECTIONS, imageOf, newSigner, pcrsOf, signed, utf8 } from "../support/images.js";

const COMMAND = fileURLToPath(new URL("../../dist/bin/bootproof.cjs", import.meta.url));
const at = mkdtempSync(join(tmpdir(), "bootproof-built-"));
const NOW = ["--now", "2026-03-04T05:16:07Z"];

function built(...args: string[]): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, [COMMAND, ...args], { encoding: "utf8", cwd: at, input: "" });
}

const failing = ({ stdout }: SpawnSyncReturns<string>): string[] =>
  (JSON.parse(stdout) as Report).checks.filter(({ status }) => status === "fail").map(({ id }) => id);

/** Writes the boot proof of an enclave of that image and binary, which the makers of both know by definition. */
function boot(name: string, lab: Forge, pcr8?: string): string {
  const alter = pcr8 === undefined ? {} : { alterDocument: { pcrs: withPcr8(pcr8) } };
  const { bootProof, anchorPem } = forgeEvidence({ lab, at: new Date("2026-03-04T05:06:07.000Z"), ...alter });
  writeFileSync(join(at, name), JSON.stringify(bootProof));
  writeFileSync(join(at, "root.pem"), anchorPem);
  return name;
}

const withPcr8 = (hex: string) => (pcrs: Map<number, Uint8Array>) => pcrs.set(8, fromHex(hex)!);

function running(sections: typeof SECTIONS, binary: Uint8Array, parts: Partial<Forge>): Forge {
  const { 0: pcr0, 1: pcr1, 2: pcr2 } = pcrsOf(sections);
  const measurements = { pcr0: fromHex(pcr0!)!, pcr1: fromHex(pcr1!)!, pcr2: fromHex(pcr2!)! };
  return new Forge({
    ...parts,
    measurements: { ...new Forge().measurements, ...measurements },
    pivotHash: new Uint8Array(createHash("sha256").update(binary).digest()),
  });
}

it("is built, pinned and verified, signed; and any other image, binary or operator is refused", () => {
  const signer = newSigner("P-384");
  const binary = utf8("the application");
  const base = new Forge();
  const changed = [...SECTIONS.slice(0, -1), { ...APPLICATION, data: utf8("another") }];
  writeFileSync(join(at, "app.eif"), imageOf({ sections: signed(signer) }));
  writeFileSync(join(at, "other.eif"), imageOf({ sections: signed(signer, changed) }));
  writeFileSync(join(at, "app"), binary);
  const members = base.manifestMembers.map(({ key }) => toHex(key.publicKey));
  writeFileSync(join(at, "operators.json"), JSON.stringify({ threshold: 2, members }));
  const certificate = pcrsOf(SECTIONS, signer.certificate)[8]!;
  const own = boot("boot.json", running(SECTIONS, binary, base), certificate);

  const pinned = built(
    ...["pin", "--image", "app.eif", "--binary", "app", "--manifest-set", "operators.json"],
    ...["--namespace", "lab/signer", "--trust-anchor", "root.pem", "--out", "policy.json"],
  );
  expect([pinned.status, pinned.stdout]).toEqual([0, ""]);
  expect(pinned.stderr).toContain("Written: policy.json");
  const policy = ["--policy", "policy.json", ...NOW, "--format", "json"];
  const verified = built("verify", "--boot-proof", own, "--image", "app.eif", ...policy);
  expect([verified.status, failing(verified)]).toEqual([0, []]);
  expect(verified.stderr).toMatch(/^VERIFIED with 1 warning: (?:.+\n){1,6}$/);
  const other = built("verify", "--boot-proof", own, "--image", "other.eif", ...policy);
  expect([other.status, failing(other)]).toEqual([1, ["bind.image"]]);
  const ofAnother = built("pin", "--image", "other.eif", "--binary", "app", "--trust-anchor", "root.pem");
  writeFileSync(join(at, "other.json"), ofAnother.stdout);
  const refused = built("verify", "--boot-proof", own, "--policy", "other.json", ...NOW, "--format", "json");
  expect([refused.status, failing(refused)]).toEqual([1, ["policy.deployment", "policy.pcrs"]]);

  const strangers: [string, Forge, string[]][] = [
    ["image.json", running(changed, binary, base), ["policy.deployment", "policy.pcrs"]],
    ["binary.json", running(SECTIONS, utf8("another"), base), ["policy.deployment", "policy.pivot"]],
    [
      "operators-of-another.json",
      running(SECTIONS, binary, { ...base, manifestMembers: new Forge().manifestMembers }),
      ["policy.deployment", "policy.manifest-set"],
    ],
  ];
  for (const [name, lab, fails] of strangers) {
    const answer = built("verify", "--boot-proof", boot(name, lab, certificate), ...policy);
    expect([name, answer.status, failing(answer)]).toEqual([name, 1, fails]);
  }
}, 60_000);

it("is not pinned where the image is broken, and nothing is written", () => {
  const before = readdirSync(at);
  writeFileSync(join(at, "broken.eif"), imageOf({ sections: SECTIONS, crc: 1 }));
  const { status, stdout, stderr } = built("pin", "--image", "broken.eif", "--out", "none.json");
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("broken.eif: ");
  expect(readdirSync(at)).toEqual([...before, "broken.eif"].sort());
  expect(built("verify", "--boot-proof", "no.json", "--no-policy", "--image", "broken.eif").status).toBe(2);
});
