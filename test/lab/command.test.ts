/** `bootproof lab` as a user runs it. */
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { openSignedPolicy } from "../../src/signed-policy/index.js";
import { parsePolicy } from "../../src/index.js";
import { APPLICATION_FAULTS, AUTH_FAULTS, FAULTS, FEED_FAULTS, type Lab } from "../../src/lab/index.js";
import { bootproof, refused, words } from "../cli/support.js";
import { testFolders } from "../support/folder.js";
import { LabProcess, labOf, readLabFile } from "./child.js";
import { failing, query, renameWallet } from "./support.js";
import { verifyEvidence } from "../../src/index.js";

const folder = testFolders();

describe("bootproof lab", () => {
  it("reports its address in words and in lab.json, and ends on a signal", async () => {
    const dataFolder = join(folder(), "not there yet", "it's here");
    const lab = new LabProcess("--port", "0", "--data", dataFolder);
    await lab.listening();
    const files = readLabFile(dataFolder);
    const names = words`baseUrl organizationId childOrganizationId apiKeyFile trustAnchorFile policyFile ids faultsUrl`;
    expect(Object.keys(files)).toEqual(
      expect.arrayContaining([...names, "policyFeedUrl", "policySignersFile", "signerPublicKey"]),
    );
    expect(Object.keys(files.ids)).toEqual(
      words`userId walletId userTagId policyId spareApiKeyId fiatOnrampCredentialId`,
    );
    expect(files.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const apiKey = join(dataFolder, files.apiKeyFile);
    expect(JSON.parse(readFileSync(apiKey, "utf8"))).toEqual({
      publicKey: expect.stringMatching(/^0[23][0-9a-f]{64}$/),
      privateKey: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    for (const file of [files.apiKeyFile, files.child.apiKeyFile, files.operator.apiKeyFile])
      expect(statSync(join(dataFolder, file)).mode & 0o777).toBe(0o600);
    expect(statSync(join(dataFolder, "lab-state.json")).mode & 0o077).toBe(0);
    const anchor = new X509Certificate(readFileSync(join(dataFolder, files.trustAnchorFile)));
    expect(anchor.ca).toBe(true);
    expect(parsePolicy(readFileSync(join(dataFolder, files.policyFile))).trustAnchors[0]!.certificate.der).toEqual(
      new Uint8Array(anchor.raw),
    );
    const signed = await openSignedPolicy({
      signers: readFileSync(join(dataFolder, files.policySignersFile)),
      source: async () => (await fetch(files.policyFeedUrl)).text(),
      now: () => new Date(),
    });
    expect(signed.version).toBe(2);
    const { baseUrl, organizationId, childOrganizationId, ids } = files;
    const said = [baseUrl, organizationId, childOrganizationId, ids.userId, "lab-trust-anchor.pem", "lab.json", "curl"];
    for (const each of [...said, "bootproof.cjs verify"]) expect(lab.stdout).toContain(each);
    expect(lab.stdout).not.toContain((JSON.parse(readFileSync(apiKey, "utf8")) as { privateKey: string }).privateKey);
    expect((await query(labOf(dataFolder) as Lab, "get_user", { userId: files.ids.userId })).status).toBe(200);
    expect(await (await fetch(files.faultsUrl)).json()).toMatchObject({ faults: [] });
    expect(await lab.end("SIGINT")).toMatchObject({ code: 0, signal: null, stderr: "" });
    expect(existsSync(join(dataFolder, "lab.json"))).toBe(true);
  });

  it("prints commands that pin its published releases, verify, meet a lie and verify again", async () => {
    const lab = new LabProcess("--data", join(folder(), "it's here"));
    await lab.listening();
    const printed = lab.stdout.slice(lab.stdout.indexOf("In another terminal"));
    const commands = printed.split("\n").filter((line) => line.startsWith("  "));
    const { stdout, stderr } = spawnSync("bash", ["-c", commands.join("\n")], { encoding: "utf8" });
    const verdicts = stdout.match(/^(?:VERIFIED|REJECTED|AUTHENTIC|NOT VERIFIED)\b/gm);
    // Each report says its verdict first and last.
    expect(verdicts, stderr).toEqual(["VERIFIED", "VERIFIED", "REJECTED", "VERIFIED"].flatMap((one) => [one, one]));
    expect(stdout).toMatch(/deployment "signer 2026\.9\.1"/);
    // Each of two releases of both applications, and what the walk from a boot proof leaves open.
    for (const text of ["2026.9.0", "2026.9.1", "policy-engine"]) expect(stdout).toContain(text);
    expect(stderr).toContain("These values come from the evidence itself");
    expect(stdout).toContain('"userName":"admin"');
    await lab.end("SIGTERM");
  });

  it("works in a temporary folder that it removes", async () => {
    const lab = new LabProcess();
    await lab.listening();
    const file = /all of it\s+(\S+lab\.json)/.exec(lab.stdout)![1]!;
    expect(statSync(dirname(file)).mode & 0o077).toBe(0);
    expect((await query(labOf(dirname(file)) as Lab, "get_oauth_providers")).status).toBe(200);
    expect((await lab.end("SIGTERM")).code).toBe(0);
    expect(existsSync(dirname(file))).toBe(false);
  });

  it("shows the requested faults", async () => {
    const dataFolder = folder();
    const faults = words`--fault debug-application --fault nonce-present --manifest-version v2`;
    const lab = new LabProcess("--data", dataFolder, ...faults);
    await lab.listening();
    expect(lab.stdout).toContain("debug-application, nonce-present");
    const running = labOf(dataFolder) as Lab;
    const activity = await renameWallet(running, "misbehaving");
    const keys = [...new Set<string>(activity["appProofs"].map((proof: { publicKey: string }) => proof.publicKey))];
    const bootProofs = await Promise.all(
      keys.map(async (ephemeralKey) => (await query(running, "get_boot_proof", { ephemeralKey })).body),
    );
    expect(bootProofs.map(({ bootProof }) => bootProof.qosManifestVersion)).toEqual(keys.map(() => "v2"));
    const policy = parsePolicy(readFileSync(join(dataFolder, "lab-policy.json")));
    expect(failing((await verifyEvidence({ bootProofs, activity }, { policy, now: new Date() })).report)).toEqual([
      "bind.nonce",
      "mode.debug",
    ]);
    const second = await new LabProcess("--data", dataFolder).ended;
    expect(second).toMatchObject({ code: 2, stdout: "" });
    expect(second.stderr).toContain("only one process may use a lab's folder");
    await lab.end("SIGTERM");
  });

  it("reports why it does not start", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as AddressInfo;
    expect(await bootproof(["lab", "--port", String(port)])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`--port ${port}: in use`),
    });
    taken.close();
    for (const [path, reason] of [
      ["/proc/version", "a file, not a folder"],
      ["/proc/version/x", "a file is in its path"],
    ])
      expect(await bootproof(["lab", "--data", path!])).toMatchObject({
        ...{ code: 2, stdout: "" },
        stderr: expect.stringContaining(`bootproof: --data ${path}: ${reason}.\n`) as string,
      });
    for (const port of ["-1", "65536", "http", "80a", ""])
      expect((await bootproof(["lab", "--port", port])).code).toBe(2);
    await refused(2, bootproof(words`lab --fault no-such`), "--list-faults");
    await refused(2, bootproof(words`lab --manifest-version v9`), "v0, v0-tail, v1, v2");
    expect((await bootproof(["lab", "--data", ""])).code).toBe(2);
    expect((await bootproof(["lab", "stray"])).code).toBe(2);
    const other = folder();
    writeFileSync(join(other, "policy.json"), "mine");
    const { code, stdout, stderr } = await bootproof(["lab", "--data", other]);
    expect([code, stdout, readdirSync(other)]).toEqual([2, "", ["policy.json"]]);
    expect(stderr).toMatch(/^bootproof: --data .*: not empty, and not the folder of a lab/);
  });

  it("lists the faults, one a line, name first", async () => {
    const { code, stdout } = await bootproof(["lab", "--list-faults"]);
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split("\n");
    const names = [...FAULTS, ...AUTH_FAULTS, ...FEED_FAULTS, ...APPLICATION_FAULTS].map(({ name }) => name);
    expect(lines.map((line) => line.split(" ", 1)[0])).toEqual(names);
    for (const [name, end] of [
      ["session-expired", " (token.expiry) [auth proxy: oauth_login, otp_login, otp_login_v2]"],
      ["signup-proof-missing", " (app.request) [auth proxy: signup, signup_v2]"],
      ["feed-gap", " a version is missing (version) [signed policy]"],
      ["feed-expired", " (not refused) [signed policy]"],
      ["swapped-addresses", " [create_wallet]"],
      ["altered-intent", " [verified calls]"],
      ["another-replica", " [applications of your own]"],
      ["stale-manifest", ")"],
    ] as const)
      expect(lines.find((line) => line.startsWith(`${name} `))?.endsWith(end)).toBe(true);
    lines.slice(0, FAULTS.length).forEach((line, index) => {
      const { what, fails, needs, shows } = FAULTS[index]!;
      expect(line).toContain(shows === undefined ? what : `${what} (${shows})`);
      for (const id of fails) expect(line).toContain(id);
      expect(/ \[(.*)\]$/.exec(line)?.[1]?.split(", ")).toEqual(needs);
    });
  });
});
