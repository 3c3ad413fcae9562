/**
 * What an audit costs: entries a second of four kinds, on one core, on all cores and by two workers over a queue,
 * beside the cryptographic floor F0 (see cost.mjs), one native P-256 verification and @turnkey/crypto, in one run; then
 * the memory of ten thousand and of a million entries. Run after `npm run build`, on a machine that does nothing else:
 * `node test/bench/audit.mjs`. The queue is left out where there is no redis-server.
 *
 * The evidence is the lab's, made anew: one root, and beneath it
 * - strangers: region, zone, instance, leaf, approvals and document of their own
 * - one region: all below the region's certificate of their own
 * - one enclave: one certificate path, one manifest, documents of their own
 * - app proofs: of their own, under one boot proof that is given
 */
import { spawn, spawnSync } from "node:child_process";
import crypto from "node:crypto";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { createServer } from "node:net";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../dist/node/lab/index.js";

const QUICK = process.argv.includes("--quick");
const SIZES = QUICK
  ? { strangers: 200, region: 200, enclave: 300, app: 3000 }
  : { strangers: 3000, region: 4000, enclave: 8000, app: 80_000 };
const ROUNDS = QUICK ? 1 : Number(process.env.ROUNDS ?? 3);
/** All kinds, and memory; or some kinds alone: `KINDS=enclave,app`. */
const KINDS = process.env.KINDS?.split(",") ?? Object.keys(SIZES);
const CORES = availableParallelism();
const COMMAND = fileURLToPath(new URL("../../dist/bin/bootproof.cjs", import.meta.url));
const AT = new Date("2026-01-01T00:00:00Z");
const folder = mkdtempSync(join(tmpdir(), "bootproof-bench-"));
const path = (name) => join(folder, name);
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];

/** Indices of the chain of certificates, whose root is the first. */
const CHAIN = { region: 1, zone: 2 };
function newKey() {
  const encoded = { privateKeyEncoding: { type: "pkcs8", format: "der" } };
  return { pkcs8: new Uint8Array(crypto.generateKeyPairSync("ec", { namedCurve: "P-384", ...encoded }).privateKey) };
}
function newKeysFrom(place) {
  return (specs) => specs.map((spec, index) => (index < place ? spec : { ...spec, key: newKey() }));
}
const lab = new Forge();
const alterations = {
  strangers: () => ({ certificates: newKeysFrom(CHAIN.region) }),
  region: () => ({ certificates: newKeysFrom(CHAIN.zone) }),
};
function bootProofEntry(kind) {
  const { bootProof } = forgeEvidence({ lab, at: AT, payloads: [], alterDocument: alterations[kind]() });
  return { bootProof };
}

/** Documents of one enclave: same path and manifest, times a millisecond apart. */
function* enclaveEntries(count) {
  const { bootProof, manifestHash } = forgeEvidence({ lab, at: AT, payloads: [] });
  for (let index = 0; index < count; index++) {
    const fields = (map) => map.set("timestamp", AT.getTime() + index).set("user_data", manifestHash);
    const { document } = forgeEvidence({ lab, at: AT, payloads: [], alterDocument: { fields } });
    yield { bootProof: { ...bootProof, cloudAttestationDocB64: Buffer.from(document).toString("base64") } };
  }
}

function* appEntries(count) {
  const payload = (index) => ({
    type: "APP_PROOF_TYPE_ADDRESS_DERIVATION",
    timestampMs: String(AT.getTime() + 60_000 + index),
    addressDerivationProof: {
      organizationId: crypto.randomUUID(),
      walletId: crypto.randomUUID(),
      derivationPath: `m/44'/60'/0'/0/${index}`,
      address: `0x${crypto.randomBytes(20).toString("hex")}`,
    },
  });
  for (let index = 0; index < count; index += 500) {
    const payloads = Array.from({ length: Math.min(500, count - index) }, (_, place) => payload(index + place));
    for (const appProof of forgeEvidence({ lab, at: AT, payloads }).appProofs) yield { appProof };
  }
}

function writeLines(name, entries) {
  const file = openSync(path(name), "w");
  for (const entry of entries) writeSync(file, `${JSON.stringify(entry)}\n`);
  closeSync(file);
}

const own = forgeEvidence({ lab, at: AT });
writeFileSync(path("boot.json"), JSON.stringify(own.bootProof));
writeFileSync(path("policy.json"), JSON.stringify(labPolicy(own.anchorPem, [labDeployment(lab)])));
console.log(`${CORES} cores, Node ${process.version}; making evidence …`);
for (const kind of ["strangers", "region"].filter((kind) => KINDS.includes(kind)))
  writeLines(
    `${kind}.ndjson`,
    (function* () {
      for (let index = 0; index < SIZES[kind]; index++) yield bootProofEntry(kind);
    })(),
  );
writeLines("enclave.ndjson", enclaveEntries(SIZES.enclave));
writeLines("app.ndjson", appEntries(SIZES.app));
writeLines("one.ndjson", appEntries(1));

const WHERE = ["--policy", path("policy.json"), "--boot-proof", path("boot.json"), "--out", path("out.ndjson")];
const audit = (kind, ...more) => [COMMAND, "audit", path(`${kind}.ndjson`), ...WHERE, ...more];

/** Seconds that a command takes, which has to accept every entry. */
function secondsOf(command, args) {
  rmSync(path("out.ndjson"), { force: true });
  const start = performance.now();
  const { status, stderr } = spawnSync(command, args, { stdio: ["ignore", "ignore", "pipe"], encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: exit code ${status}\n${stderr}`);
  return (performance.now() - start) / 1000;
}
const ways = {
  "one core": (kind) => secondsOf("taskset", ["-c", "0", process.execPath, ...audit(kind, "--workers", "1")]),
  "all cores": (kind) => secondsOf(process.execPath, audit(kind)),
};

const redis = spawnSync("redis-server", ["--version"]).status === 0 ? await startRedis() : null;
if (redis === null) console.log("queue: skipped, there is no redis-server");
else ways["queue, two workers"] = (kind) => secondsOf(process.execPath, audit(kind, "--queue", redis.url));

async function startRedis() {
  const port = await new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
  const quiet = { stdio: "ignore" };
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder];
  const url = `redis://127.0.0.1:${port}`;
  const server = spawn("redis-server", args, quiet);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const worker = [COMMAND, "worker", "--queue", url, "--policy", path("policy.json"), "--workers", "1"];
  const workers = [1, 2].map(() => spawn(process.execPath, worker, quiet));
  return { url, stop: () => [...workers, server].forEach((child) => child.kill("SIGKILL")) };
}

/** Peak resident memory of an audit, in MiB, of the process with its threads. */
async function memoryOf(lines) {
  const name = `many-${lines}`;
  const text = readFileSync(path("app.ndjson"));
  const file = openSync(path(`${name}.ndjson`), "w");
  for (let left = lines; left > 0; left -= SIZES.app)
    writeSync(file, left >= SIZES.app ? text : firstLines(text, left));
  closeSync(file);
  rmSync(path("out.ndjson"), { force: true });
  const start = performance.now();
  const child = spawn(process.execPath, audit(name), { stdio: "ignore" });
  let peak = 0;
  const timer = setInterval(() => (peak = Math.max(peak, residentOf(child.pid))), 50);
  const status = await new Promise((resolve) => child.on("exit", resolve));
  clearInterval(timer);
  if (status !== 0) throw new Error(`${lines} lines: exit code ${status}`);
  rmSync(path(`${name}.ndjson`));
  return { peak: Math.round(peak / 1024), seconds: (performance.now() - start) / 1000 };
}
function firstLines(text, count) {
  let end = 0;
  for (let index = 0; index < count; index++) end = text.indexOf(0x0a, end) + 1;
  return text.subarray(0, end);
}
function residentOf(pid) {
  try {
    return Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Milliseconds of each: the floor, one P-256, and what another package takes for a genuine pair. */
function reference() {
  const { stdout, status, stderr } = spawnSync(
    "taskset",
    ["-c", "0", process.execPath, fileURLToPath(new URL("../sdks/audit-reference.mjs", import.meta.url))],
    { encoding: "utf8" },
  );
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

try {
  const start = median(Array.from({ length: 5 }, () => ways["all cores"]("one")));
  const references = [];
  const times = {};
  for (let round = 0; round < ROUNDS; round++) {
    references.push(reference());
    for (const kind of KINDS)
      for (const [way, run] of Object.entries(ways)) ((times[kind] ??= {})[way] ??= []).push(run(kind));
  }
  references.push(reference());
  const [f0, p256, other] = ["f0", "p256", "turnkey"].map((name) => median(references.map((each) => each[name])));
  const perSecond = (milliseconds) => `${Math.round(1000 / milliseconds)}/s`;
  console.log(
    `F0 ${f0.toFixed(2)} ms (${perSecond(f0)}); one native P-256 ${p256.toFixed(4)} ms (${perSecond(p256)});`,
  );
  console.log(
    `@turnkey/crypto, a genuine pair: ${other.toFixed(2)} ms (${perSecond(other)}), ${(other / f0).toFixed(2)} F0`,
  );
  console.log(`start and end of an audit of one entry: ${start.toFixed(2)} s, in all figures below\n`);
  for (const [kind, seconds] of Object.entries(times)) {
    const rates = Object.fromEntries(Object.entries(seconds).map(([way, list]) => [way, SIZES[kind] / median(list)]));
    for (const [way, rate] of Object.entries(rates)) {
      const each = 1000 / rate;
      console.log(
        `${kind.padEnd(10)} ${way.padEnd(20)} ${rate.toFixed(0).padStart(7)}/s  ${each.toFixed(3)} ms  ` +
          `${(each / f0).toFixed(2)} F0  ${(rate * p256 * 1e-3).toFixed(2)} of native P-256`,
      );
    }
    const scaling = rates["all cores"] / (CORES * rates["one core"]);
    const queued = rates["queue, two workers"];
    const overhead = queued && `; queue ${((rates["all cores"] / queued - 1) * 100).toFixed(0)} % over all cores`;
    console.log(`${" ".repeat(11)}all cores = ${scaling.toFixed(2)} × ${CORES} × one core${overhead ?? ""}`);
  }
  const sizes = QUICK ? [3000, 10_000] : [10_000, 1_000_000];
  for (const lines of process.env.KINDS === undefined ? sizes : []) {
    const { peak, seconds } = await memoryOf(lines);
    console.log(
      `memory, ${lines} app proofs: at most ${peak} MiB (${seconds.toFixed(1)} s, ${Math.round(lines / seconds)}/s)`,
    );
  }
} finally {
  redis?.stop();
  rmSync(folder, { recursive: true, force: true });
}
