/**
 * The readers of docs/interoperability.md, each where it is installed. BOOTPROOF_CONSUMERS is a folder whose
 * `node_modules` have those of npm, and BOOTPROOF_PYTHON (default: python3) a Python with PyJWT and jwcrypto.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { type KeyObject, X509Certificate, generateKeyPairSync } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { calculateJwkThumbprint, createLocalJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import { afterAll, describe, expect, it } from "vitest";
import { SCHEMAS } from "../../bin/schemas.js";
import { toHex } from "../../src/bytes.js";
import { decodeAttestationDocument } from "../../src/decode/attestation-document.js";
import type { Certificate } from "../../src/decode/certificate.js";
import type { JsonObject } from "../../src/decode/json.js";
import { renderEar, renderSarif } from "../../src/formats/index.js";
import { labDeployment, labPolicy } from "../../src/lab/forge.js";
import { startHealth } from "../../src/run/node.js";
import { type AddressResult, tableCsv } from "../../src/show/addresses.js";
import { certificatePem } from "../../src/verify/trust-anchor.js";
import { forge, judge, lab } from "../attacks/support.js";
import { readVector } from "../support/vectors.js";
import { NOTICES, TOLD } from "./told.js";

const folder = mkdtempSync(join(tmpdir(), "bootproof-consumers-"));
afterAll(() => rmSync(folder, { recursive: true }));

const TSC = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
const SCRIPT = fileURLToPath(new URL("consumers.py", import.meta.url));
const TOOLS = process.env["BOOTPROOF_CONSUMERS"] ?? "";
const PYTHON = process.env["BOOTPROOF_PYTHON"] ?? "python3";

function isAtLeast(version: string, [major, minor]: readonly number[]): boolean {
  const [ofMajor = -1, ofMinor = 0] = version.split(".").map(Number);
  return ofMajor > major! || (ofMajor === major && ofMinor >= minor!);
}

/** Why a program of npm is not tried, in the name of its tests. */
function absent(tool: string): string {
  if (TOOLS === "") return " (skipped: BOOTPROOF_CONSUMERS names no folder with it)";
  const places = [`node_modules/.bin/${tool}`, `node_modules/${tool}`];
  return places.some((place) => existsSync(join(TOOLS, place))) ? "" : ` (skipped: it is not in ${TOOLS})`;
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
  type Reader = "jose" | "fast-jwt" | "jsonwebtoken" | "PyJWT" | "jwcrypto" | "python-jose";
  interface Row {
    readonly key: "P-256" | "P-384" | "Ed25519" | "RSA";
    readonly alg: string;
    /** The `alg` of the key in the set. */
    readonly set: string | undefined;
    readonly refusing: readonly Reader[];
  }
  const NO_EDDSA = ["jsonwebtoken", "python-jose"] as const;
  const NO_ED25519 = [...NO_EDDSA, "fast-jwt"] as const;
  const ROWS: readonly Row[] = [
    { key: "P-256", alg: "ES256", set: undefined, refusing: [] },
    { key: "P-256", alg: "ES256", set: "ES256", refusing: [] },
    { key: "P-384", alg: "ES384", set: undefined, refusing: [] },
    { key: "Ed25519", alg: "EdDSA", set: undefined, refusing: NO_EDDSA },
    { key: "Ed25519", alg: "EdDSA", set: "EdDSA", refusing: NO_EDDSA },
    { key: "Ed25519", alg: "EdDSA", set: "Ed25519", refusing: [...NO_EDDSA, "jose", "PyJWT"] },
    { key: "Ed25519", alg: "Ed25519", set: undefined, refusing: [...NO_ED25519, "PyJWT"] },
    { key: "Ed25519", alg: "Ed25519", set: "EdDSA", refusing: [...NO_ED25519, "jose", "PyJWT"] },
    { key: "Ed25519", alg: "Ed25519", set: "Ed25519", refusing: [...NO_ED25519, "PyJWT"] },
    { key: "RSA", alg: "PS256", set: undefined, refusing: ["PyJWT", "python-jose"] },
    { key: "RSA", alg: "PS256", set: "PS256", refusing: ["python-jose"] },
  ];
  const jwkOf = (key: KeyObject): { kty: string } => key.export({ format: "jwk" }) as { kty: string };
  const pairs = {
    "P-256": generateKeyPairSync("ec", { namedCurve: "P-256" }),
    "P-384": generateKeyPairSync("ec", { namedCurve: "P-384" }),
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

  const wantedOf = (reader: Reader): string[] =>
    ROWS.map((row) => `${named(row)}: ${row.refusing.includes(reader) ? "refused" : "affirming"}`);

  type Read = (token: string, key: string, alg: string) => { readonly ear_status: string };
  interface FastJwt {
    createVerifier(options: object): (token: string) => ReturnType<Read>;
  }
  interface JsonWebToken {
    verify(token: string, key: string, options: object): ReturnType<Read>;
  }
  const load = (name: string): unknown => createRequire(join(TOOLS, "index.js"))(name);
  const READERS: Readonly<Record<string, Read>> = {
    "fast-jwt": (token, key, alg) => (load("fast-jwt") as FastJwt).createVerifier({ key, algorithms: [alg] })(token),
    jsonwebtoken: (token, key, alg) => (load("jsonwebtoken") as JsonWebToken).verify(token, key, { algorithms: [alg] }),
  };
  describe.each(["fast-jwt", "jsonwebtoken"] as const)("is read by %s under the key as PEM", (reader) => {
    const reason = absent(reader);
    it.skipIf(reason !== "")(`as docs/interoperability.md says${reason}`, async () => {
      const found = ROWS.map(async (row) => {
        const { token, alg } = await caseOf(row);
        const key = pairs[row.key].publicKey.export({ type: "spki", format: "pem" }).toString();
        const answer = await Promise.resolve()
          .then(() => READERS[reader]!(token, key, alg).ear_status)
          .catch(() => "refused");
        return `${named(row)}: ${answer}`;
      });
      expect(await Promise.all(found)).toEqual(wantedOf(reader));
    });
  });

  describe.each(["PyJWT", "jwcrypto", "python-jose"] as const)("is read by %s in a key set", (reader) => {
    // Older ones, such as those of Debian 12 for the first two, know less or have other functions.
    const oldest = { PyJWT: [2, 15], jwcrypto: [1, 6], "python-jose": [3, 3] }[reader];
    const asked = `import importlib.metadata as m; print(m.version("${reader}"))`;
    const version = spawnSync(PYTHON, ["-c", asked], { encoding: "utf8" }).stdout?.trim() ?? "";
    const isThere = isAtLeast(version, oldest);
    const has = version === "" ? `no ${reader}` : `${reader} ${version}`;
    const reason = isThere ? "" : ` (skipped: ${PYTHON} has ${has}; BOOTPROOF_PYTHON names another)`;
    it.skipIf(!isThere)(`as docs/interoperability.md says${reason}`, async () => {
      const input = JSON.stringify(await Promise.all(ROWS.map(caseOf)));
      const { answers } = JSON.parse(execFileSync(PYTHON, [SCRIPT, reader], { input, encoding: "utf8" })) as {
        readonly answers: readonly string[];
      };
      const found = ROWS.map((row, at) => `${named(row)}: ${answers[at]!.replace(/^refused: .*/s, "refused")}`);
      expect(found).toEqual(wantedOf(reader));
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

/** Why a test by a module of Python is skipped, or by a program. */
function withoutModule(module: string): string {
  const isThere = spawnSync(PYTHON, ["-c", `import ${module}`]).status === 0;
  return isThere ? "" : ` (skipped: ${PYTHON} has no ${module}; BOOTPROOF_PYTHON names another)`;
}
const withoutProgram = (program: string, ...args: readonly string[]): string =>
  spawnSync(program, args).status === 0 ? "" : ` (skipped: ${program} is not installed)`;
const python = (...args: readonly string[]): string => execFileSync(PYTHON, args, { cwd: folder, encoding: "utf8" });

describe("CSV", () => {
  const createdAt = "2026-11-28T10:00:00.000Z";
  const result = { rows: [{ class: "derived", address: "0x01", createdAt, listed: true }] };
  const csv = tableCsv(result as unknown as AddressResult);

  const noCsvkit = withoutModule("csvkit");
  it.skipIf(noCsvkit !== "")(`is rewritten by csvkit, unless it is told not to guess types${noCsvkit}`, () => {
    write("addresses.csv", csv);
    const read = (...how: string[]) => JSON.parse(python("-m", "csvkit.utilities.csvjson", ...how, "addresses.csv"))[0];
    expect(read()).toMatchObject({ address: "0x01", createdAt: "2026-11-28T10:00:00+00:00" });
    expect(read("--no-inference")).toMatchObject({ address: "0x01", createdAt, listed: "true" });
  });
});

describe("results", () => {
  const noPandas = withoutModule("pandas");
  it.skipIf(noPandas !== "")(`have a column at, which pandas gives by its name alone${noPandas}`, () => {
    const at = "2026-11-28T10:00:00.000Z";
    write("results.jsonl", `${JSON.stringify({ run: "bootproof-run/1", n: 2, at, verdict: "verified" })}\n`);
    const script = 'b = pandas.read_json("results.jsonl", lines=True); print(b["at"][0], type(b.at).__name__)';
    expect(python("-c", `import pandas; ${script}`)).toBe(`${at} _AtIndexer\n`);
  });
});

describe("metrics", () => {
  const noParser = withoutModule("prometheus_client");
  it.skipIf(noParser !== "")(`are read as text 0.0.4, and not as OpenMetrics${noParser}`, async () => {
    const metrics = { host: "127.0.0.1", port: 0 };
    const [now, monotonic] = [() => new Date(), () => performance.now()];
    const subject = { command: "watch", watched: [{ app: "signer" }] } as const;
    const health = await startHealth({ subject, metrics, now, monotonic });
    const answer = await fetch(`${health.url!}/metrics`);
    write("metrics.txt", await answer.text());
    await health.close();
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const read = (parser: string): string => {
      const imported = `from ${parser} import text_string_to_metric_families as read`;
      const script = `${imported}; list(read(open("metrics.txt").read()))`;
      return spawnSync(PYTHON, ["-c", script], { cwd: folder, encoding: "utf8" }).stderr;
    };
    expect(read("prometheus_client.parser")).toBe("");
    expect(read("prometheus_client.openmetrics.parser")).toContain("ValueError");
  });

  const noPromtool = withoutProgram("promtool", "--version");
  it.skipIf(noPromtool !== "")(`are found by the configuration of docs/operations.md${noPromtool}`, () => {
    const document = readFileSync(new URL("../../docs/operations.md", import.meta.url), "utf8");
    const [, configuration] = /```yaml\n(scrape_configs:\n[^]*?)```/.exec(document)!;
    write("prometheus.yml", configuration!);
    const { stderr, stdout } = spawnSync("promtool", ["check", "config", "prometheus.yml"], {
      cwd: folder,
      encoding: "utf8",
    });
    const isOfDebian = spawnSync("promtool", ["--version"], { encoding: "utf8" }).stdout.includes("debian");
    expect(stdout + stderr).toContain(isOfDebian ? "field kubernetes_sd_configs not found" : "SUCCESS");
  });
});

describe("certificates of a genuine attestation document", () => {
  const document = readVector("nitro/tk-rustsdk-lib-rs-20250916.cbor");
  const { cabundle, certificate } = decodeAttestationDocument(document);
  const pem = ({ der }: Certificate): string => certificatePem(der);
  const noOpenssl = withoutProgram("openssl", "version");

  it.skipIf(noOpenssl !== "")(`are a chain for openssl at their time, and not under -x509_strict${noOpenssl}`, () => {
    write("root.pem", pem(cabundle[0]!));
    write("others.pem", cabundle.slice(1).map(pem).join(""));
    write("leaf.pem", pem(certificate));
    const verify = (...how: string[]): string => {
      const args = ["verify", ...how, "-CAfile", "root.pem", "-untrusted", "others.pem", "leaf.pem"];
      const { stdout, stderr } = spawnSync("openssl", args, { cwd: folder, encoding: "utf8" });
      return stdout + stderr;
    };
    const time = String(Date.parse("2025-09-16T22:00:00Z") / 1000);
    expect(verify("-attime", time)).toBe("leaf.pem: OK\n");
    expect(verify("-x509_strict", "-attime", time)).toContain("error 85 at 0 depth lookup");
    expect(verify()).toContain("certificate has expired");
  });

  it.skipIf(noOpenssl !== "")(`have serial numbers that differ in spelling alone${noOpenssl}`, () => {
    for (const each of [...cabundle, certificate]) {
      write("one.pem", pem(each));
      const args = ["x509", "-in", "one.pem", "-noout", "-serial"];
      const ofOpenssl = execFileSync("openssl", args, { cwd: folder, encoding: "utf8" }).trim().replace("serial=", "");
      expect(new X509Certificate(each.der).serialNumber).toBe(ofOpenssl);
      expect(
        toHex(each.serialNumber)
          .replace(/^(?:00)+/, "")
          .toUpperCase(),
      ).toBe(ofOpenssl);
    }
  });
});
