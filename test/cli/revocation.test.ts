/** `verify --crl`: files and folders of lists, and what is wrong usage. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CHAIN } from "../../src/lab/pki.js";
import { AT, NOW, certificate, forge, lab } from "../attacks/support.js";
import { labDeployment, labPolicy } from "../../src/lab/forge.js";
import { type ListSpec, distributionPoints, revocationList } from "../support/revocation.js";
import { type Answer, bootproof, fileOf, refusal } from "./support.js";

const { bootProof, anchorPem } = forge();
const boot = fileOf(bootProof, "boot.json");
const policy = fileOf(labPolicy(anchorPem, [labDeployment(lab)]));
const [root, region, zone, , leaf] = lab.pki.chainSpecs(AT);
const list = (issuer = region!, serials: Uint8Array[] = [], more: Partial<ListSpec> = {}): Uint8Array =>
  revocationList({ issuer, thisUpdate: AT, serials, ...more });
const run = (...args: string[]): Promise<Answer> =>
  bootproof(["verify", "--boot-proof", boot, "--policy", policy, "--now", NOW.toISOString(), ...args]);

function folderOf(...lists: Uint8Array[]): string {
  const folder = mkdtempSync(join(tmpdir(), "bootproof-lists-"));
  lists.forEach((bytes, index) => writeFileSync(join(folder, `list-${index}.crl`), bytes));
  return folder;
}

describe("verify --crl", () => {
  it("passes with lists that name nothing, by file and by folder", async () => {
    for (const words of [
      [fileOf(list(), "region.crl"), fileOf(list(root), "root.crl")],
      [folderOf(list(), list(root))],
    ]) {
      const { code, stdout } = await run("--crl", ...words);
      expect([code, stdout]).toEqual([0, expect.stringMatching(/ok +chain\.revocation/)]);
    }
  });

  it("rejects a revoked zone, also where its list is one of a folder", async () => {
    const { code, stdout } = await run("--crl", folderOf(list(root), list(region, [zone!.serial])));
    expect([code, stdout]).toEqual([1, expect.stringMatching(/FAIL +chain\.revocation/)]);
  });

  it("rejects a list past its nextUpdate, says where the current one is, and accepts it beside that", async () => {
    const over = list(region, [], { nextUpdate: new Date(NOW.getTime() - 1000) });
    const { code, stdout } = await run("--crl", fileOf(over, "over.crl"));
    expect([code, stdout]).toEqual([1, expect.stringMatching(/FAIL +chain\.revocation/)]);
    expect(stdout.replaceAll(/\s+/g, " ")).toContain("to do Give the issuer's current list");
    expect((await run("--crl", folderOf(over, list()))).code).toBe(0);
    const packed = await bootproof(["bundle", "--boot-proof", boot, "--policy", policy, "--now", NOW.toISOString()]);
    const bundle = [fileOf(packed.stdout, "bundle.json"), "--policy", policy, "--now", NOW.toISOString()];
    expect((await bootproof(["verify", ...bundle, "--crl", fileOf(over, "over.crl")])).code).toBe(1);
    expect((await bootproof(["verify", ...bundle, "--crl", folderOf(over, list())])).code).toBe(0);
    const named = list(region, [zone!.serial], { nextUpdate: new Date(NOW.getTime() - 1000) });
    expect((await run("--crl", folderOf(named, list()))).code).toBe(1);
  });

  it("names a certificate that no list covers among the warnings", async () => {
    const point = distributionPoints("http://crl.lab/zone.crl");
    const evidence = forge(certificate(CHAIN.zone, (spec) => ({ extensions: [...spec.extensions, point] })));
    const args = ["verify", "--boot-proof", fileOf(evidence.bootProof), "--policy", policy, "--now", NOW.toISOString()];
    const { code, stdout } = await bootproof([...args, "--crl", fileOf(list(root), "root.crl")]);
    expect([code, stdout.replaceAll(/\s+/g, " ")]).toEqual([0, expect.stringMatching(/WARNING cabundle\[2\] /)]);
  });

  it("is wrong usage with --format html, whose page verifies again without the lists", async () => {
    const { code, stdout, stderr } = await run("--crl", fileOf(list(root), "root.crl"), "--format", "html");
    expect([code, stderr]).toEqual([2, expect.stringContaining("a page cannot carry revocation lists")]);
    expect(stdout).toContain("<title>NOT VERIFIED");
  });

  it("skips without lists, and says why", async () => {
    const { code, stdout } = await run();
    expect([code, stdout]).toEqual([0, expect.stringContaining("no revocation list was given")]);
  });

  it.each<[string, () => string[], string]>([
    ["PEM", () => [fileOf("-----BEGIN X509 CRL-----\n", "list.pem")], "PEM, expected DER"],
    [
      "a certificate",
      () => [fileOf(lab.pki.rootCertificate, "root.der")],
      "root.der: this is a certificate; --trust-anchor takes it\n",
    ],
    ["a certificate in PEM", () => [fileOf(anchorPem, "root.pem")], "this is a certificate; --trust-anchor takes it\n"],
    ["a policy", () => [policy], "this is a policy; --policy takes it\n"],
    ["evidence", () => [boot], "this is a boot proof; --boot-proof takes it\n"],
    ["a page of a server", () => [fileOf("<!doctype html>\n404", "404.crl")], "an HTML or XML page without evidence"],
    ["PEM of something else", () => [fileOf("-----BEGIN PUBLIC KEY-----\n", "key.crl")], "no revocation list in DER"],
    [
      "a list that is cut off",
      () => [fileOf(list().subarray(0, -1), "cut.crl")],
      "DER: CertificateList: the input ends",
    ],
    ["a file that is not there", () => ["none.crl"], "no such file"],
    ["an empty folder", () => [folderOf()], "an empty folder"],
    ["too many", () => Array.from({ length: 1001 }, () => "none.crl"), "--crl: 1001 lists: at most 1000 allowed\n"],
  ])("is wrong usage: %s", async (_, words, says) => {
    const stderr = await refusal(2, run("--crl", ...words()), says);
    expect(stderr).not.toContain("unexpected");
  });

  it("is wrong usage where no list applies, and the fault is the lists', also beside a bundle", async () => {
    const crls = [fileOf(list(leaf), "first.crl"), fileOf(list(leaf), "second.crl")];
    const says =
      /^bootproof: --crl first\.crl, second\.crl: no list of an issuer in the certificate path\nGive the lists/;
    const named = async (...args: string[]): Promise<string> =>
      (await refusal(2, bootproof(["verify", ...args]))).replaceAll(/\S*\/(?=\w+\.crl)/g, "");
    const rest = ["--policy", policy, "--now", NOW.toISOString(), "--crl", ...crls];
    expect(await named("--boot-proof", boot, ...rest)).toMatch(says);
    const packed = await bootproof(["bundle", "--boot-proof", boot, "--policy", policy, "--now", NOW.toISOString()]);
    expect(await named(fileOf(packed.stdout, "bundle.json"), ...rest)).toMatch(says);
    const { code, stdout } = await run("--crl", ...crls, "--format", "json");
    expect([code, JSON.parse(stdout)]).toMatchObject([2, { errors: [{ message: expect.stringMatching(/^--crl /) }] }]);
  });
});
