/**
 * What a fresh `bootproof verify` of a genuine pair costs over a bare `node`, whole processes, in turn; the medians of
 * the times and of the ratios pair by pair. Run after `npm run build`: `npm run bench`.
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

function milliseconds(args) {
  const start = performance.now();
  const { status } = spawnSync(process.execPath, args, { stdio: "ignore" });
  if (status !== 0) throw new Error(`exit code ${status}`);
  return performance.now() - start;
}

const rounds = Array.from({ length: PAIRS + 1 }, () => [
  milliseconds(subjects.bootproof),
  milliseconds(subjects.node),
]).slice(1);
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];
console.log(
  `fresh process: bootproof verify ${median(rounds.map(([ours]) => ours)).toFixed(1)} ms, bare node ` +
    `${median(rounds.map(([, bare]) => bare)).toFixed(1)} ms,` +
    ` ratio ${median(rounds.map(([ours, bare]) => ours / bare)).toFixed(2)}`,
);
