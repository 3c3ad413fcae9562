/**
 * The readers of docs/interoperability.md, each where it is installed. BOOTPROOF_CONSUMERS is a folder whose
 * `node_modules` have those of npm, and BOOTPROOF_PYTHON (default: python3) a Python with PyJWT and jwcrypto.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { type KeyObject, generateKeyPairSync } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { calculateJwkThumbprint, createLocalJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import { afterAll, describe, expect, it } from "vitest";
import { SCHEMAS } from "../../bin/schemas.js";
import type { JsonObject } from "../../src/decode/json.js";
import { renderEar, renderSarif } from "../../src/formats/index.js";
import { labDeployment, labPolicy } from "../../src/lab/forge.js";
import { certificatePem } from "../../src/verify/trust-anchor.js";
import { forge, judge, lab } from "../attacks/support.js";
import { NOTICES, TOLD } from "./told.js";

const folder = mkdtempSync(join(tmpdir(), "bootproof-consumers-"));
afterAll(() => rmSync(folder, { recursive: true }));

const TSC = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
const SCRIPT = fileURLToPath(new URL("consumers.py", import.meta.url));
const TOOLS = process.env["BOOTPROOF_CONSUMERS"] ?? "";
const PYTHON = process.env["BOOTPROOF_PYTHON"] ?? "python3";

/** Why a program of npm is not tried, in the name of its tests. */
function absent(tool: string): string {
  if (TOOLS === "") return " (skipped: BOOTPROOF_CONSUMERS names no folder with it)";
  return existsSync(join(TOOLS, "node_modules/.bin", tool)) ? "" : ` (skipped: it is not in ${TOOLS})`;
}

function run(tool: string, ...args: readonly string[]): void {
  // The multitool of SARIF is a program of .NET, which asks for libraries of languages.
  const env = { ...process.env, DOTNET_SYSTEM_GLOBALIZATION_INVARIANT: "1" };
  execFileSync(join(TOOLS, "node_modules/.bin", tool), args, { cwd: folder, env, stdio: "pipe" });
}

function compile(...files: readonly string[]): void {
  const options = ["--strict", "--target", "es2022", "--module", "es2022", "--outDir", folder];
  const { stdout, status } = spawnSync(process.execPath, [TSC, ...options, ...files], {
    cwd: folder,
    encoding: "utf8",
  });
  expect([status, stdout]).toEqual([0, ""]);
}

const text = (name: string): string => readFileSync(join(folder, name), "utf8");
const write = (name: string, content: unknown): void =>
  writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));

describe("EAR", () => {
  type Refusing = readonly ("jose" | "PyJWT" | "jwcrypto")[];
  interface Row {
    readonly key: "P-256" | "Ed25519" | "RSA";
    readonly alg: string;
    /** The `alg` of the key in the set. */
    readonly set: string | undefined;
    readonly refusing: Refusing;
  }
  const ROWS: readonly Row[] = [
    { key: "P-256", alg: "ES256", set: undefined, refusing: [] },
    { key: "P-256", alg: "ES256", set: "ES256", refusing: [] },
    { key: "Ed25519", alg: "EdDSA", set: undefined, refusing: [] },
    { key: "Ed25519", alg: "EdDSA", set: "EdDSA", refusing: [] },
    { key: "Ed25519", alg: "EdDSA", set: "Ed25519", refusing: ["jose", "PyJWT"] },
    { key: "Ed25519", alg: "Ed25519", set: undefined, refusing: ["PyJWT"] },
    { key: "Ed25519", alg: "Ed25519", set: "EdDSA", refusing: ["jose", "PyJWT"] },
    { key: "Ed25519", alg: "Ed25519", set: "Ed25519", refusing: ["PyJWT"] },
    { key: "RSA", alg: "PS256", set: undefined, refusing: ["PyJWT"] },
    { key: "RSA", alg: "PS256", set: "PS256", refusing: [] },
  ];
  const jwkOf = (key: KeyObject): { kty: string } => key.export({ format: "jwk" }) as { kty: string };
  const pairs = {
    "P-256": generateKeyPairSync("ec", { namedCurve: "P-256" }),
    Ed25519: generateKeyPairSync("ed25519"),
    RSA: generateKeyPairSync("rsa", { modulusLength: 2048 }),
  };

  /** The token, and a set with the key by its thumbprint and another of its kind. */
  async function caseOf({ key, alg, set }: Row): Promise<{ token: string; keys: { keys: object[] }; alg: string }> {
    const { privateKey, publicKey } = pairs[key];
    const token = (await renderEar(await judge(forge()), { key: jwkOf(privateKey), alg })).trimEnd();
    const other = { ...jwkOf(generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey), kid: "other" };
    const jwk = { ...jwkOf(publicKey), kid: await calculateJwkThumbprint(jwkOf(publicKey)) };
    return { token, keys: { keys: [other, { ...jwk, ...(set !== undefined && { alg: set }) }] }, alg };
  }

  const named = (row: Row): string => `${row.key} by ${row.alg}, ${row.set ?? "no alg"} in the set`;

  it.each(ROWS.map((row) => [named(row), row] as const))("is read by jose in a key set: %s", async (_, row) => {
    const { token, keys, alg } = await caseOf(row);
    expect(decodeProtectedHeader(token).alg).toBe(alg);
    const read = jwtVerify(token, createLocalJWKSet(keys as never), { typ: "eat+jwt", algorithms: [alg] });
    const answer = await read.then(({ payload }) => payload["ear_status"]).catch((error: Error) => error.message);
    const refused = "no applicable key found in the JSON Web Key Set";
    expect(answer).toBe(row.refusing.includes("jose") ? refused : "affirming");
  });

  describe.each(["PyJWT", "jwcrypto"] as const)("is read by %s in a key set", (reader) => {
    const module = { PyJWT: "jwt", jwcrypto: "jwcrypto" }[reader];
    const isThere = spawnSync(PYTHON, ["-c", `import ${module}, cryptography`]).status === 0;
    const reason = isThere ? "" : ` (skipped: ${PYTHON} has no ${reader}; BOOTPROOF_PYTHON names one)`;
    it.skipIf(!isThere)(`as docs/interoperability.md says${reason}`, async () => {
      const input = JSON.stringify(await Promise.all(ROWS.map(caseOf)));
      const { answers } = JSON.parse(execFileSync(PYTHON, [SCRIPT, reader], { input, encoding: "utf8" })) as {
        readonly answers: readonly string[];
      };
      const found = ROWS.map((row, at) => `${named(row)}: ${answers[at]!.replace(/^refused: .*/s, "refused")}`);
      const wanted = ROWS.map((row) => `${named(row)}: ${row.refusing.includes(reader) ? "refused" : "affirming"}`);
      expect(found).toEqual(wanted);
    });
  });
});

describe("JSON Schemas", () => {
  const [deployment, workloads] = [labDeployment(lab), labDeployment(lab, "v3")];
  const commented = { ...deployment, pcrs: { ...(deployment["pcrs"] as JsonObject), comment: "of the release" } };
  const policy = labPolicy(certificatePem(lab.pki.rootCertificate), [commented, workloads]);
  const names = Object.keys(SCHEMAS);

  const noTypes = absent("json2ts");
  it.skipIf(noTypes !== "")(`become types by json-schema-to-typescript, which the lab's policy fits${noTypes}`, () => {
    for (const name of names) {
      write(name, SCHEMAS[name]!);
      run("json2ts", "--input", name, "--output", `types-${name}.ts`);
      expect(text(`types-${name}.ts`).split("\n").length).toBeLessThan(1000);
    }
    const [, type] = /export interface (\w+)/.exec(text("types-policy.schema.json.ts"))!;
    write(
      "typed.ts",
      `import type { ${type} } from "./types-policy.schema.json.js";
      export const policy: ${type} = ${JSON.stringify(policy)};`,
    );
    compile("typed.ts", ...names.map((name) => `types-${name}.ts`));
  });

  const noQuicktype = absent("quicktype");
  it.skipIf(noQuicktype !== "")(
    `become TypeScript by quicktype, which reads the lab's policy${noQuicktype}`,
    async () => {
      for (const name of names) {
        write(name, SCHEMAS[name]!);
        const out = ["--src-lang", "schema", "--lang", "typescript", "--top-level", "Top"];
        run("quicktype", ...out, "--src", name, "--out", `quick-${name}.ts`);
      }
      compile(...names.map((name) => `quick-${name}.ts`));
      write("package.json", { type: "module" });
      const { Convert } = (await import(pathToFileURL(join(folder, "quick-policy.schema.json.js")).href)) as {
        readonly Convert: { toTop(json: string): unknown };
      };
      expect(Convert.toTop(JSON.stringify(policy))).toEqual(policy);
      expect(() => Convert.toTop(JSON.stringify({ ...policy, deployments: 1 }))).toThrow();
    },
  );
});

describe("SARIF", () => {
  const reason = absent("sarif-multitool");
  it.skipIf(reason !== "")(`has nothing for Microsoft's multitool to warn of${reason}`, () => {
    // A version that is no number is warned of.
    const logs = TOLD.filter(([, { tool }]) => /^[\d.]+$/.test(tool.version)).map(([, report], at) => {
      write(`${at}.sarif`, renderSarif(report, NOTICES));
      return `${at}.sarif`;
    });
    run("sarif-multitool", "validate", ...logs, "--output", "found.json", "--log", "ForceOverwrite");
    const { runs } = JSON.parse(text("found.json")) as { readonly runs: readonly { readonly results: object[] }[] };
    expect(runs.flatMap(({ results }) => results)).toEqual([]);
  });
});
