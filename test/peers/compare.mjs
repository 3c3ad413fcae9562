/**
 * Measures other verifiers of attestations beside this package in one run, and writes results.json and the tables of
 * docs/comparison.md: `npm ci --prefix test/peers && npm ci --prefix test/sdks && npm run build`, then
 * `node test/peers/compare.mjs DATE`. With `--docs` only the tables are written again, from results.json.
 */
import crypto from "node:crypto";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { documentWith } from "./tables.mjs";

const HERE = fileURLToPath(new URL("./", import.meta.url));
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const RESULTS = join(HERE, "results.json");
const DOCUMENT = join(ROOT, "docs/comparison.md");
const lock = JSON.parse(readFileSync(join(HERE, "package-lock.json"), "utf8"));
const vector = (name) => JSON.parse(readFileSync(join(ROOT, "test-vectors/boot-proofs", name), "utf8"));
const [bootProof, appProof] = [vector("bootproof-1.json"), vector("appproof-1.json")];
const base64 = bootProof.awsAttestationDocB64 ?? bootProof.cloudAttestationDocB64;
const MADE = new Date("2025-09-16T21:40:00Z");

/** What is measured. `entry` is what a page imports, `judge` the command that answers the corpus. */
const PEERS = [
  {
    name: "bootproof: `verifyEvidence`",
    judge: ["test/conformance/bootproof.mjs"],
    entry: 'export { parsePolicy, verifyEvidence } from "../../dist/src/index.js";',
    call: async () => {
      const { verifyEvidence, NO_POLICY_ANY_ENCLAVE } = await import("../../dist/src/index.js");
      const options = { policy: NO_POLICY_ANY_ENCLAVE, now: new Date("2026-01-01T00:00:00Z") };
      return () => verifyEvidence({ bootProofs: [bootProof], appProofs: [appProof] }, options);
    },
  },
  {
    name: "`@turnkey/crypto`: `verify`, `verifyWithQosPolicy`",
    package: "@turnkey/crypto",
    judge: ["test/sdks/turnkey-crypto.mjs"],
    entry: 'export { verify, verifyWithQosPolicy } from "@turnkey/crypto";',
    call: async () => {
      const { verify } = await import("@turnkey/crypto");
      return () => verify(appProof, bootProof);
    },
  },
  {
    name: "evervault: `validateAttestationDocPcrs`",
    package: "@evervault/wasm-attestation-bindings",
    judge: ["test/peers/documents.mjs", "evervault"],
    entry: 'export * from "@evervault/wasm-attestation-bindings";',
    beside: "@evervault/wasm-attestation-bindings/index_bg.wasm",
    call: () => ofDocuments("evervault"),
  },
  {
    name: "`@0xsequence/tee-verifier`: `SignedAttestation`",
    package: "@0xsequence/tee-verifier",
    judge: ["test/peers/documents.mjs", "tee-verifier"],
    entry: 'export * from "@0xsequence/tee-verifier";',
    call: () => ofDocuments("tee-verifier"),
  },
  {
    name: "`@tinfoilsh/verifier`: `verifyAttestation`",
    package: "@tinfoilsh/verifier",
    entry: 'export * from "@tinfoilsh/verifier";',
    refuses: async () => {
      const { verifyAttestation } = await import("@tinfoilsh/verifier");
      return verifyAttestation({ format: "nitro", body: base64 });
    },
  },
  {
    name: "`@phala/dcap-qvl`: `Quote`",
    package: "@phala/dcap-qvl",
    entry: 'export * from "@phala/dcap-qvl";',
    refuses: async () => (await import("@phala/dcap-qvl")).default.Quote.parse(Buffer.from(base64, "base64")),
  },
];

async function ofDocuments(name) {
  const { verifiers } = await import("./verifiers.mjs");
  const verify = await verifiers[name]();
  const root = "641a0321a3e244efe456463195d606317ed7cdcc3c1756e09893f3c68f79bb5b";
  return () => verify(base64, MADE, root);
}

function corpusOf({ judge: [script, ...args] }) {
  const folder = mkdtempSync(join(tmpdir(), "bootproof-peers-"));
  const file = join(folder, "results.json");
  spawnSync(process.execPath, ["test/conformance/run.mjs", "--json", file, "--", process.execPath, script, ...args], {
    cwd: ROOT,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const all = JSON.parse(readFileSync(file, "utf8"));
  rmSync(folder, { recursive: true });
  const results = Array.isArray(all) ? all : all.results;
  const of = (outcome) => results.filter((one) => one.outcome === outcome);
  const bad = results.filter(
    ({ outcome, expected }) => outcome !== "unsupported" && (expected.failed ?? []).length > 0,
  );
  const missed = new Set(of("false accepts").flatMap(({ expected }) => expected.failed ?? []));
  const caught = [...new Set(bad.flatMap(({ expected }) => expected.failed))].filter((id) => !missed.has(id));
  return {
    agreed: of("agreed").length + of("other reasons").length,
    falseAccepts: of("false accepts").length,
    falseRejects: of("false rejects").length,
    unsupported: of("unsupported").length,
    catches: caught.sort(),
    misses: [...missed].sort(),
  };
}

/** Five P-384 verifications and one P-256, native, one after the other, keys imported (test/bench/cost.mjs). */
function floor() {
  const message = Buffer.from("message");
  const checks = [...Array(5).fill(["secp384r1", "sha384"]), ["prime256v1", "sha256"]].map(([namedCurve, hash]) => {
    const { publicKey, privateKey } = crypto.generateKeyPairSync("ec", { namedCurve });
    const signature = crypto.sign(hash, message, privateKey);
    return () => crypto.verify(hash, message, publicKey, signature);
  });
  return () => checks.forEach((check) => check());
}

async function medianOf(work, rounds = 21) {
  const times = [];
  for (let round = 0; round < rounds; round++) {
    const started = performance.now();
    await work();
    times.push(performance.now() - started);
  }
  return times.sort((a, b) => a - b)[Math.floor(rounds / 2)];
}

async function kilobytes({ entry, beside }) {
  const { build } = await import("esbuild");
  const require = createRequire(import.meta.url);
  const nothing = {
    name: "node",
    setup: (it) =>
      it.onResolve(
        {
          filter: /^(?:node:|fs$|crypto$|buffer$|https?$|url$|path$|stream$|zlib$|util$|events$|assert$|os$|net$|tls$)/,
        },
        ({ path }) => ({ path, external: true }),
      ),
  };
  const { outputFiles } = await build({
    stdin: { contents: entry, resolveDir: HERE },
    ...{ bundle: true, minify: true, format: "esm", platform: "browser", target: "es2022", write: false },
    ...{ logLevel: "error", loader: { ".wasm": "empty" }, plugins: [nothing] },
  });
  const more = beside === undefined ? 0 : gzipSync(readFileSync(require.resolve(beside))).length;
  return Math.round((gzipSync(outputFiles[0].contents).length + more) / 1000);
}

async function measured(peer) {
  const { name, judge, call, refuses } = peer;
  const version = peer.package === undefined ? null : lock.packages[`node_modules/${peer.package}`].version;
  const row = { name, package: peer.package ?? null, version, kilobytes: await kilobytes(peer) };
  if (refuses !== undefined) {
    const said = await refuses().then(
      () => "accepted",
      (error) => String(error?.message ?? error),
    );
    return { ...row, corpus: null, cost: null, said };
  }
  const work = await call();
  await work();
  const costs = [];
  for (let round = 0; round < 5; round++) costs.push((await medianOf(work)) / (await medianOf(floor())));
  return { ...row, corpus: corpusOf({ judge }), cost: Number(costs.sort((a, b) => a - b)[2].toFixed(1)), said: null };
}

/** What a fetch of tee-verifier returns where a response has no attestation document. */
async function withoutHeader() {
  globalThis.window ??= globalThis;
  const { createAttestationVerifyingFetch } = await import("@0xsequence/tee-verifier");
  const { log } = console;
  console.log = () => {};
  const fetch = createAttestationVerifyingFetch({ fetch: async () => new Response("unverified") });
  const text = await fetch("https://example.com").then(
    (response) => response.text(),
    () => "refused",
  );
  console.log = log;
  return text === "unverified" ? "returned unverified" : "refused";
}

async function main([date]) {
  if (date !== "--docs") {
    if (!/^\d{4}-\d{2}-\d{2}$/.test(date ?? "")) throw new Error("expected the date, such as 2026-11-26");
    const peers = [];
    for (const peer of PEERS) peers.push(await measured(peer));
    const results = { date, node: process.versions.node, peers, withoutHeader: await withoutHeader() };
    writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
  }
  writeFileSync(DOCUMENT, documentWith(readFileSync(DOCUMENT, "utf8"), JSON.parse(readFileSync(RESULTS, "utf8"))));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main(process.argv.slice(2));
