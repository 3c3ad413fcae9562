/**
 * Runs the scripts of findings/, or of the folder that is named, one after the other, and lists which of them see now
 * what they do not say: node test/findings.mjs [FOLDER]
 * Exits with 1 if one changed or none is there, else with 77 if one was not run, so that nobody reads it as passed.
 */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./tracked.mjs";

/** By which a script says that a package cannot be had, as in Automake. */
const NOT_RUN = 77;
const MINUTES = 10;

function outcomeOf(script) {
  const { status, signal, error, stdout, stderr } = spawnSync("sh", [script], {
    encoding: "utf8",
    timeout: MINUTES * 60_000,
    killSignal: "SIGKILL",
  });
  const text = `${stdout ?? ""}${stderr ?? ""}`.trimEnd();
  if (status === 0) return { outcome: "as it says", text: "" };
  if (status === NOT_RUN) return { outcome: "not run", text };
  if (error?.code === "ETIMEDOUT") return { outcome: "not run", text: `no end after ${MINUTES} minutes` };
  return { outcome: "changed", text: `${text}\n${signal ?? `exit code ${status}`}`.trimStart() };
}

const folder = process.argv[2] ?? join(ROOT, "findings");
const names = readdirSync(folder).filter((name) => name.endsWith(".sh"));
const counts = { "as it says": 0, changed: 0, "not run": 0 };
for (const name of names.sort()) {
  const { outcome, text } = outcomeOf(join(folder, name));
  counts[outcome] += 1;
  console.log([`${outcome}: ${name}`, ...text.split("\n").filter(Boolean)].join("\n  "));
}
const counted = Object.entries(counts).map(([outcome, count]) => `${count} ${outcome}`);
console.log(`${names.length} findings: ${counted.join(", ")}`);
process.exitCode = counts.changed > 0 || names.length === 0 ? 1 : counts["not run"] > 0 ? NOT_RUN : 0;
