/**
 * The tiers of the tests (.github/CONTRIBUTING.md, "Tiers"), the lint step and the formatter: USAGE has the words.
 * `suites` only lists the suites that are not on this machine, as the first three do at their end.
 * Steps of one lane run in turn, lanes run at the same time. What a step writes is shown when it ends; what vitest
 * writes is shown at once. Every step runs, whatever the others found.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, trackedFiles } from "./tracked.mjs";

const CACHE = join(ROOT, "node_modules/.cache/bootproof");
const USAGE = "usage: node test/run.mjs fast|rest|all|release|types|lint|format|suites|room ROOM [VITEST ARGS…]";
const bin = (path, ...args) => [process.execPath, join(ROOT, "node_modules", path), ...args];
const npm = (...args) => ["npm", "run", "--silent", ...args];

/** Of the files that git knows: scratch files in a clone are not the project's. */
function types() {
  const TYPED = /^(?:src|bin|test(?!\/sdks))\/.*\.m?ts$|^vitest\.config\.ts$/;
  const files = trackedFiles().filter((file) => TYPED.test(file));
  const config = join(CACHE, "tsconfig.json");
  const options = { incremental: true, tsBuildInfoFile: join(CACHE, "types.tsbuildinfo") };
  const paths = files.map((file) => join(ROOT, file));
  mkdirSync(CACHE, { recursive: true });
  const content = { extends: join(ROOT, "test/tsconfig.json"), compilerOptions: options, include: [], files: paths };
  writeFileSync(config, JSON.stringify(content, null, 1));
  return { name: "types", command: bin("typescript-native/bin/tsc", "-p", config) };
}

const hasSdks = () => existsSync(join(ROOT, "test/sdks/node_modules/.package-lock.json"));
const sdkTypes = () => {
  const command = bin("typescript-native/bin/tsc", "-p", "test/sdks");
  return { name: "types of test/sdks", command, when: hasSdks };
};

/** Without the registry their tests are skipped, unless BOOTPROOF_SDKS=required. */
function sdks() {
  const options = ["--no-save", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"];
  const mayFail = process.env.BOOTPROOF_SDKS !== "required";
  return { name: "the SDKs", command: ["npm", "install", "--prefix", "test/sdks", ...options], mayFail };
}

const CODE = /\.[cm]?[jt]s$/;
const FORMATTED = /\.(?:[cm]?[jt]s|json|ya?ml|css|html)$/;
const linted = () => trackedFiles().filter((file) => CODE.test(file) && !file.startsWith("test-vectors/"));
const formatted = () => trackedFiles().filter((file) => FORMATTED.test(file));
const lint = () => ({ name: "oxlint", command: bin("oxlint/bin/oxlint", "--quiet", ...linted()) });
const format = (...how) => ({ name: "oxfmt", command: bin("oxfmt/bin/oxfmt", ...how, ...formatted()) });
const formatting = () => format("--list-different");

const vitest = (name, ...args) => ({ name, command: bin("vitest/vitest.mjs", "run", ...args), live: true });
const fast = (args) => vitest("fast tests", "--project", "fast", ...args);
const later = () => vitest("other tests", "--project", "!fast");
const build = () => ({ name: "build", command: npm("build") });

/** The lanes of each tier, one group of lanes after the other. */
const TIERS = {
  fast: (args) => [[[fast(args)], [types(), lint(), formatting()]]],
  rest: () => [[[sdks(), sdkTypes()], [build()]], [[later()]]],
  all: () => [...TIERS.fast([]), ...TIERS.rest()],
  release: () => [...TIERS.all(), ...RELEASE.map((step) => [[{ live: true, ...step }]])],
  types: () => [[[types()], [sdkTypes()]]],
  lint: () => [[[lint()], [formatting()]]],
  format: () => [[[format("--write")]]],
  suites: () => [],
  room: ([room, ...args]) => [[[vitest(`tests of ${room}`, ...testsOf(room), ...args)]]],
};

/** After the tests in their long form (test/support/long.ts). */
const RELEASE = [
  { name: "findings", command: [process.execPath, "test/findings.mjs"], mayBePart: true },
  ...["test:soak", "conformance", "test:mutation"].map((script) => ({ name: script, command: npm(script) })),
  { name: "half an hour of fuzzing", command: npm("test:fuzz", "--", "--seconds", "1800") },
];

/** Checks of these rooms have rows in the attack tables. */
const IN_TABLES = ["decode", "verify", "appraise"];

/** The tests of a room, and those that hold its imports, its document and what is cited from it. */
function testsOf(room) {
  if (room === undefined || !existsSync(join(ROOT, "test", room))) throw new Error(`${USAGE}\nNo such room: ${room}`);
  const mirrors = ["test/rooms.test.ts", "test/room-readmes.test.ts", "test/citations.test.ts"];
  return [`test/${room}/`, ...mirrors, ...(IN_TABLES.includes(room) ? ["test/attacks/"] : [])];
}

/** A line for the SDKs, and for each suite of test-vectors/suites/elsewhere.json that no variable names. */
function notRun() {
  const { suites } = JSON.parse(readFileSync(join(ROOT, "test-vectors/suites/elsewhere.json"), "utf8"));
  const tests = hasSdks() ? [] : ["not run: test/sdks (npm ci --prefix test/sdks installs the SDKs)"];
  const others = Object.values(suites).flatMap(({ what, variables }) => {
    const unset = Object.entries(variables).filter(([variable]) => !process.env[variable]);
    const places = unset.map(([variable, place]) => `${variable}: ${place}`);
    return unset.length === 0 ? [] : [`not run: ${what} (not set: ${places.join("; ")})`];
  });
  return [...tests, ...others];
}

/** By which a step that may be part of itself says that it did not run the rest (test/findings.mjs). */
const NOT_ALL_RUN = 77;

function run({ name, command: [file, ...args], live, mayFail = false, mayBePart = false, when }) {
  const started = Date.now();
  if (when?.() === false) return true;
  return new Promise((settle) => {
    const stdio = ["ignore", live ? "inherit" : "pipe", live ? "inherit" : "pipe"];
    const child = spawn(file, args, { cwd: ROOT, stdio });
    const written = [];
    child.stdout?.on("data", (data) => written.push(data));
    child.stderr?.on("data", (data) => written.push(data));
    const end = (code, reason) => {
      const seconds = ((Date.now() - started) / 1000).toFixed(1);
      const text = Buffer.concat(written).toString().trimEnd();
      if (code !== 0 && text !== "") console.error(`\n${text}`);
      const isPart = mayBePart && code === NOT_ALL_RUN;
      const word = code === 0 ? "ok  " : "FAIL";
      const said = `${name}, ${seconds} s${code === 0 ? "" : `: ${reason}`}`;
      console.error(isPart ? `part  ${name}, ${seconds} s: the rest was not run` : `${word}  ${said}`);
      settle(code === 0 || isPart || mayFail);
    };
    child.on("error", (error) => end(1, error.message));
    child.on("close", (code, signal) => end(code ?? 1, signal ?? `exit code ${code}`));
  });
}

async function runLane(lane) {
  const results = [];
  for (const step of lane) results.push(await run(step));
  return results.every(Boolean);
}

async function main([tier, ...args]) {
  if (tier === "release") process.env.BOOTPROOF_TESTS = "long";
  if (!Object.hasOwn(TIERS, tier ?? "")) throw new Error(USAGE);
  let passed = true;
  for (const lanes of TIERS[tier](args)) passed = (await Promise.all(lanes.map(runLane))).every(Boolean) && passed;
  if (["fast", "rest", "all", "release", "suites"].includes(tier)) for (const line of notRun()) console.error(line);
  return passed ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  process.exitCode = 2;
}
