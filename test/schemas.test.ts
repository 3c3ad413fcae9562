/** The JSON Schemas that the package ships: what the tables make, and what the command writes fits them. */
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { SCHEMAS } from "../bin/schemas.js";
import { labDeployment, labPolicy } from "../src/lab/forge.js";
import { certificatePem } from "../src/verify/trust-anchor.js";
import type { JsonObject } from "../src/decode/json.js";
import { ACCEPTED } from "./attacks/accepted.table.js";
import { POLICY_ATTACKS } from "./attacks/policy.table.js";
import { forge, judge, lab, put, reportOf } from "./attacks/support.js";
import { APP_1, BOOT_1, bootproof, fileOf, vector } from "./cli/support.js";
import { someOf } from "./formats/told.js";

const SHIPPED = fileURLToPath(new URL("../dist/schemas/", import.meta.url));
const ajv = new Ajv2020({ allErrors: true });
const fitsReport = ajv.compile(SCHEMAS["report.schema.json"]!);
const fitsPolicy = ajv.compile(SCHEMAS["policy.schema.json"]!);

/** What is wrong with a report. */
function faultsOf(report: unknown): unknown {
  return fitsReport(JSON.parse(JSON.stringify(report))) ? [] : fitsReport.errors;
}

describe("the files", () => {
  it("are what the tables make, and no others (npm run build writes them)", () => {
    expect(readdirSync(SHIPPED).sort()).toEqual(Object.keys(SCHEMAS).sort());
    for (const [name, schema] of Object.entries(SCHEMAS))
      expect(JSON.parse(readFileSync(SHIPPED + name, "utf8"))).toEqual(schema);
  });

  it("are exported by the package", () => {
    const resolved = ["policy", "report"].map((name) =>
      fileURLToPath(import.meta.resolve(`bootproof/schemas/${name}.json`)),
    );
    expect(resolved).toEqual(["policy", "report"].map((name) => `${SHIPPED}${name}.schema.json`));
  });
});

describe("the schema of reports", () => {
  it.each([...someOf(ACCEPTED), ...someOf(POLICY_ATTACKS)])("takes the report of: %s", async (_, row) => {
    expect(faultsOf(await reportOf(row))).toEqual([]);
  });

  const bundle = ["bundle", "--boot-proof", BOOT_1, "--app-proof", APP_1, "--no-policy"];
  const pin = ["pin", "--boot-proof", BOOT_1];
  it.each([
    ["a genuine pair", ["--boot-proof", BOOT_1, "--app-proof", APP_1, "--no-policy"]],
    ["a pair under a policy", ["--boot-proof", BOOT_1, "--app-proof", APP_1, "--policy", "POLICY"]],
    ["what is rejected", ["--boot-proof", BOOT_1, "--app-proof", APP_1, "--no-policy", "--at", "now"]],
    ["a bare document", ["--attestation", vector("nitro/tk-rustsdk-lib-rs-20250916.cbor"), "--no-policy"]],
    ["a bundle", ["BUNDLE", "--no-policy"]],
  ])("takes what verify --format json says of %s", async (_, args) => {
    const files: Record<string, () => Promise<string>> = {
      POLICY: async () => fileOf((await bootproof(pin)).stdout),
      BUNDLE: async () => fileOf((await bootproof(bundle)).stdout),
    };
    const words = await Promise.all(args.map((word) => files[word]?.() ?? word));
    const { stdout } = await bootproof(["verify", ...words, "--format", "json"]);
    expect(faultsOf(JSON.parse(stdout))).toEqual([]);
  });

  it.each<[name: string, path: string, value: string | number | null]>([
    ["an unknown member", "signed", "yes"],
    ["an unknown member of a check", "checks.0.because", "x"],
    ["an unknown status", "checks.0.status", "ok"],
    ["an unknown id", "checks.0.id", "policy.all"],
    ["another verdict", "verdict", "trusted"],
    ["another format", "format", "bootproof-report/2"],
    ["another subject", "checks.0.subject", "boot[01]"],
    ["a digest that is none", "evidence.0.sha256", "abcd"],
    ["claims under rejected", "verdict", "rejected"],
    ["no claims under verified", "claims", null],
    ["a time without milliseconds", "verifiedAt", "2026-03-04T05:06:07Z"],
    ["an unknown claim", "claims.bootProofs.0.image.safe", 1],
  ])("refuses %s", async (_, path, value) => {
    const report = JSON.parse(JSON.stringify(await judge(forge()))) as JsonObject;
    expect(faultsOf(report)).toEqual([]);
    expect(faultsOf(put(path, value)(report))).not.toEqual([]);
  });
});

describe("the schema of policies", () => {
  it("takes the lab's, which pins everything", () => {
    const policy = labPolicy(certificatePem(lab.pki.rootCertificate), [labDeployment(lab), labDeployment(lab, "v3")]);
    expect(fitsPolicy(policy) ? [] : fitsPolicy.errors).toEqual([]);
  });

  it("takes what pin writes", async () => {
    for (const args of [
      ["--boot-proof", BOOT_1],
      ["--boot-proof", vector("boot-proofs/tvc-provisioning-20260630.json")],
      ["--release", vector("releases/r2025.9.3.yaml"), "--app", "signer"],
    ]) {
      const { stdout } = await bootproof(["pin", ...args], { now: "2026-06-30T00:34:40.000Z" });
      expect(fitsPolicy(JSON.parse(stdout)) ? [] : fitsPolicy.errors).toEqual([]);
    }
  });
});
