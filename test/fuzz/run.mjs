/**
 * Fuzzing, for as long as it is told: `npm run test:fuzz -- [--layer NAME]… [--seconds N | --executions N] [--seed N]`.
 * `--executions` and `--seconds` are of all layers together; without either each has a hundred executions. Guided
 * (`--guided`): inputs that reach code that none before did are changed further; without, a seed gives the same inputs
 * everywhere. Ends with 1 where anything was found; what it was is in coverage/fuzz/, an input to a file.
 */
import { fork } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const { values } = parseArgs({
  options: {
    layer: { type: "string", multiple: true },
    seconds: { type: "string" },
    executions: { type: "string" },
    seed: { type: "string", default: "1" },
    guided: { type: "boolean", default: false },
  },
});
/** Less than a large input through everything takes; what needs more is a finding. */
const HEAP_MIB = 384;

const number = (name) => {
  const value = values[name] === undefined ? undefined : Number(values[name]);
  if (value === undefined || (Number.isSafeInteger(value) && value >= 0)) return value;
  throw new Error(`--${name}: expected a whole number`);
};
const [seconds, executions, seed] = [number("seconds"), number("executions"), number("seed")];

// Inside the package, where what is not bundled is found; as deep as the sources, which read files beside them.
const folder = mkdtempSync(join(ROOT, "node_modules", ".fuzz-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
await build({
  entryPoints: [join(ROOT, "test/fuzz/child.ts")],
  outfile: join(folder, "child.mjs"),
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20.19",
  packages: "external",
  logLevel: "error",
});

/** What a child answers; or what it left behind, where it ended before that. */
function asked(wanted, last) {
  return new Promise((resolve) => {
    const child = fork(join(folder, "child.mjs"), { execArgv: [`--max-old-space-size=${HEAP_MIB}`, "--no-warnings"] });
    let told = null;
    child.on("message", (message) => (told = message));
    child.on("exit", (code, signal) => {
      const left = existsSync(last) ? JSON.parse(readFileSync(last, "utf8")) : {};
      resolve(told ?? { died: left.what ?? `ended with ${code ?? signal}`, input: left.input ?? "" });
    });
    child.send(wanted);
  });
}

const last = join(folder, "last.json");
const all = await asked("which", last);
const unknown = (values.layer ?? []).find((name) => !all.some(([known]) => known === name));
if (unknown !== undefined) throw new Error(`--layer ${unknown}: expected ${all.map(([name]) => name).join(", ")}`);
const chosen = all.filter(([name]) => values.layer === undefined || values.layer.includes(name));
const shares = chosen.reduce((sum, [, share]) => sum + share, 0);

const COLUMNS = ["layer", "executions", "seconds", "accepted", "refused", "slowest ms", "peak MiB", "kept", "seed"];
const row = (cells) =>
  console.log(cells.map((cell, at) => (at === 0 ? String(cell).padEnd(17) : String(cell).padStart(11))).join(" "));
row(COLUMNS);
const totals = { executions: 0, seconds: 0, accepted: 0, refused: 0, kept: 0 };
let found = 0;
for (const [layer, share] of chosen) {
  rmSync(last, { force: true });
  const part = share / shares;
  const told = await asked(
    {
      layer,
      seed,
      guided: values.guided,
      last,
      executions: executions === undefined ? (seconds === undefined ? 100 : 2 ** 40) : Math.ceil(executions * part),
      ...(seconds !== undefined && { seconds: seconds / chosen.length }),
    },
    last,
  );
  const findings = told.died === undefined ? told.findings : [{ layer, what: told.died, input: told.input }];
  if (told.died === undefined) {
    for (const name of Object.keys(totals)) totals[name] += told[name];
    const { accepted, refused, peakMib, kept } = told;
    row([
      layer,
      told.executions,
      told.seconds.toFixed(1),
      accepted,
      refused,
      told.slowestMs.toFixed(1),
      peakMib,
      kept,
      seed,
    ]);
  }
  for (const finding of findings) keep(finding);
}
const { accepted, refused, kept } = totals;
row(["all", totals.executions, totals.seconds.toFixed(1), accepted, refused, "", "", kept, seed]);
process.exitCode = found > 0 ? 1 : 0;

function keep({ layer, what, input }) {
  const file = join("coverage", "fuzz", `${layer}-${++found}.json`);
  mkdirSync(join(ROOT, "coverage", "fuzz"), { recursive: true });
  writeFileSync(join(ROOT, file), `${JSON.stringify({ layer, was: what, input })}\n`);
  console.log(`FOUND in ${layer}: ${what}\n  ${file}`);
}
