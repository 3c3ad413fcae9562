/**
 * What a fresh `bootproof verify` of a genuine pair costs over a bare `node`, whole processes, in turn: the median of
 * the differences pair by pair, and the difference of the fastest, which other work on the machine changes least. Run
 * after `npm run build`: `node test/bench/process.mjs`. Without `NODE_EXTRA_CA_CERTS`: Node reads it at each start, for
 * 40 to 70 ms.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const PAIRS = 31;
const file = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const evidence = [
  "--boot-proof",
  file("test-vectors/boot-proofs/bootproof-1.json"),
  "--app-proof",
  file("test-vectors/boot-proofs/appproof-1.json"),
];
const subjects = {
  node: ["-e", "0"],
  bootproof: [file("dist/bin/bootproof.cjs"), "verify", ...evidence, "--no-policy"],
};

const env = { ...process.env };
delete env.NODE_EXTRA_CA_CERTS;

function milliseconds(args) {
  const start = performance.now();
  const { status } = spawnSync(process.execPath, args, { env, stdio: "ignore" });
  if (status !== 0) throw new Error(`exit code ${status}`);
  return performance.now() - start;
}

const rounds = Array.from({ length: PAIRS + 1 }, () => [
  milliseconds(subjects.bootproof),
  milliseconds(subjects.node),
]).slice(1);
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];
const [ours, bare] = [0, 1].map((which) => rounds.map((round) => round[which]));
const difference = median(rounds.map(([one, other]) => one - other));
console.log(
  `fresh process: bootproof verify ${median(ours).toFixed(1)} ms, bare node ${median(bare).toFixed(1)} ms; ` +
    `difference ${difference.toFixed(1)} ms (of the fastest ${(Math.min(...ours) - Math.min(...bare)).toFixed(1)} ms)`,
);
