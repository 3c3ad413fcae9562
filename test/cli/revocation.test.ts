/** `verify --crl`: files and folders of lists, and what is wrong usage. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CHAIN } from "../../src/lab/pki.js";
import { AT, NOW, certificate, forge, lab } from "../attacks/support.js";
import { labDeployment, labPolicy } from "../../src/lab/forge.js";
import { type ListSpec, distributionPoints, revocationList } from "../support/revocation.js";
import { type Row, bootproof, fileOf, scene } from "./support.js";

const { bootProof, anchorPem } = forge();
const [root, region, zone, , leaf] = lab.pki.chainSpecs(AT);
const list = (issuer = region!, serials: Uint8Array[] = [], more: Partial<ListSpec> = {}): Uint8Array =>
  revocationList({ issuer, thisUpdate: AT, serials, ...more });
const past = { nextUpdate: new Date(NOW.getTime() - 1000) };
const point = distributionPoints("http://crl.lab/zone.crl");
const pointed = forge(certificate(CHAIN.zone, (spec) => ({ extensions: [...spec.extensions, point] })));
const boot = fileOf(bootProof, "boot.json");
const policy = fileOf(labPolicy(anchorPem, [labDeployment(lab)]));
const packed = await bootproof(["bundle", "--boot-proof", boot, "--policy", policy, "--now", NOW.toISOString()]);

function folderOf(...lists: Uint8Array[]): string {
  const folder = mkdtempSync(join(tmpdir(), "bootproof-lists-"));
  lists.forEach((bytes, index) => writeFileSync(join(folder, `list-${index}.crl`), bytes));
  return folder;
}

const N = {
  ...{ boot, policy, bundle: fileOf(packed.stdout, "bundle.json"), pointed: fileOf(pointed.bootProof) },
  ...{ region: fileOf(list(), "region.crl"), root: fileOf(list(root), "root.crl"), both: folderOf(list(), list(root)) },
  ...{ revoked: folderOf(list(root), list(region, [zone!.serial])), over: fileOf(list(region, [], past), "over.crl") },
  beside: folderOf(list(region, [], past), list()),
  named: folderOf(list(region, [zone!.serial], past), list()),
  ...{ pem: fileOf("-----BEGIN X509 CRL-----\n", "list.pem"), der: fileOf(lab.pki.rootCertificate, "root.der") },
  ...{ anchor: fileOf(anchorPem, "root.pem"), html: fileOf("<!doctype html>\n404", "404.crl"), empty: folderOf() },
  ...{ key: fileOf("-----BEGIN PUBLIC KEY-----\n", "key.crl"), cut: fileOf(list().subarray(0, -1), "cut.crl") },
  ...{ many: Array.from({ length: 1001 }, () => "none.crl"), first: fileOf(list(leaf), "first.crl") },
  second: fileOf(list(leaf), "second.crl"),
};
const { run, table } = scene(N, { now: NOW.toISOString() });
const verify = "verify --boot-proof $boot --policy $policy";
const NO_LIST =
  /^bootproof: --crl \S*first\.crl, \S*second\.crl: no list of an issuer in the certificate path Give the l/;

describe("verify --crl", () => {
  table([
    [verify, 0, "no revocation list was given"],
    [`${verify} --crl $region $root`, 0, "ok chain.revocation"],
    [`${verify} --crl $both`, 0, "ok chain.revocation"],
    [`${verify} --crl $revoked`, 1, "FAIL chain.revocation"],
    [`${verify} --crl $over`, 1, "FAIL chain.revocation", "to do Give the issuer's current list"],
    [`${verify} --crl $beside`, 0],
    ["verify $bundle --policy $policy --crl $over", 1],
    ["verify $bundle --policy $policy --crl $beside", 0],
    [`${verify} --crl $named`, 1],
    // A certificate that no list covers is among the warnings.
    ["verify --boot-proof $pointed --policy $policy --crl $root", 0, "WARNING cabundle[2] "],
    [`${verify} --crl $first $second`, 2, NO_LIST],
    ["verify $bundle --policy $policy --crl $first $second", 2, NO_LIST],
    ...(
      [
        ["$pem", "PEM, expected DER"],
        ["$der", "root.der: this is a certificate; --trust-anchor takes it"],
        ["$anchor", "this is a certificate; --trust-anchor takes it"],
        ["$policy", "this is a policy; --policy takes it"],
        ["$boot", "this is a boot proof; --boot-proof takes it"],
        ["$html", "an HTML or XML page without evidence"],
        ["$key", "no revocation list in DER"],
        ["$cut", "DER: CertificateList: the input ends"],
        ["none.crl", "no such file"],
        ["$empty", "an empty folder"],
        ["$many", "--crl: 1001 lists: at most 1000 allowed"],
      ] as const
    ).map(([files, says]): Row => [`${verify} --crl ${files}`, 2, says, "!unexpected"]),
  ]);

  it("is wrong usage with --format html, whose page verifies again without the lists", async () => {
    const { stdout } = await run(`${verify} --crl $root --format html`, 2, "a page cannot carry revocation lists");
    expect(stdout).toContain("<title>NOT VERIFIED");
    const json = await run(`${verify} --crl $first $second --format json`, 2);
    expect(JSON.parse(json.stdout)).toMatchObject({
      errors: [{ message: expect.stringMatching(/^--crl /) as string }],
    });
  });
});
