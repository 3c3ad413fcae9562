/** The action under `.github/actions/verify`, run the way a runner does it. Needs `npm run build`. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { parse } from "yaml";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
export const COMMAND = join(ROOT, "dist/bin/bootproof.cjs");

export interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly shell?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly run?: string;
}
interface Action {
  readonly inputs: Readonly<Record<string, { readonly required?: boolean; readonly default?: string }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

export const actionText = readFileSync(join(ROOT, ".github/actions/verify/action.yml"), "utf8");
export const action = parse(actionText) as Action;
export const { steps } = action.runs;

/** What expressions are asked of: `inputs.policy`, `steps.verify.outputs.verdict`. */
type Context = Map<string, string>;

/** A name, or a text between quotes. What is not there is empty, as it is for the runner. */
function valueOf(expression: string, context: Context): string {
  const quoted = /^'([^']*)'$/.exec(expression.trim());
  if (quoted !== null) return quoted[1]!;
  expect(expression.trim()).toMatch(/^(?:inputs\.[\w-]+|steps\.\w+\.outputs\.[\w-]+)$/);
  return context.get(expression.trim()) ?? "";
}

const filled = (template: string, context: Context): string =>
  template.replace(/\$\{\{(.*?)\}\}/g, (_, expression: string) => valueOf(expression, context));

/** A step without a condition, or without a word of status in it, runs only where nothing has failed. */
function isDue(condition: string | undefined, context: Context, hasFailed: boolean): boolean {
  if (condition === "always()") return true;
  if (hasFailed) return false;
  return (condition ?? "'' == ''").split("&&").every((term) => {
    const [, left, operator, right] = /^(.*?)(==|!=)(.*)$/.exec(term)!;
    return (valueOf(left!, context) === valueOf(right!, context)) === (operator === "==");
  });
}

export interface Ran {
  /** Of the job. */
  readonly ok: boolean;
  /** Of the last script that was run. */
  readonly code: number;
  readonly log: string;
  readonly annotations: readonly string[];
  readonly summary: string;
  readonly outputs: Readonly<Record<string, string>>;
  /** What other actions were called with. */
  readonly called: readonly { readonly uses: string; readonly with: Readonly<Record<string, string>> }[];
}

interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  /** Whether another action that is called fails. */
  readonly othersFail?: boolean;
}

export function runAction(inputs: Readonly<Record<string, string>>, folder: string, around: Surroundings = {}): Ran {
  const temp = mkdtempSync(join(tmpdir(), "runner temp "));
  const [output, summary] = [join(temp, "output"), join(temp, "summary")];
  const context: Context = new Map();
  for (const [name, { default: value = "" }] of Object.entries(action.inputs))
    context.set(`inputs.${name}`, inputs[name] ?? value);
  const called: { uses: string; with: Record<string, string> }[] = [];
  let [log, hasFailed, code] = ["", false, 0];
  for (const step of steps) {
    if (!isDue(step.if, context, hasFailed)) continue;
    if (step.uses !== undefined) {
      const given = Object.entries(step.with ?? {}).map(([name, value]) => [name, filled(value, context)]);
      called.push({ uses: step.uses, with: Object.fromEntries(given) as Record<string, string> });
      hasFailed ||= around.othersFail === true;
      continue;
    }
    writeFileSync(output, "");
    const given = Object.entries(step.env ?? {}).map(([name, value]) => [name, filled(value, context)]);
    const script = join(temp, "script.sh");
    writeFileSync(script, step.run!);
    const ran = spawnSync("bash", ["--noprofile", "--norc", "-eo", "pipefail", script], {
      cwd: folder,
      encoding: "utf8",
      env: {
        ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("BOOTPROOF_"))),
        ...around.env,
        ...Object.fromEntries(given),
        RUNNER_TEMP: around.env?.["RUNNER_TEMP"] ?? temp,
        GITHUB_OUTPUT: output,
        GITHUB_STEP_SUMMARY: summary,
      } as NodeJS.ProcessEnv,
    });
    log += ran.stdout + ran.stderr;
    code = ran.status!;
    hasFailed ||= code !== 0;
    for (const [, name, value] of readFileSync(output, "utf8").matchAll(/^([\w-]+)=(.*)$/gm))
      context.set(`steps.${step.id!}.outputs.${name!}`, value!);
  }
  const outputs = Object.entries(action.outputs).map(([name, { value }]) => [name, filled(value, context)]);
  return {
    ok: !hasFailed,
    code,
    log,
    annotations: log.split("\n").filter((line) => line.startsWith("::")),
    summary: existsSync(summary) ? readFileSync(summary, "utf8") : "",
    outputs: Object.fromEntries(outputs) as Record<string, string>,
    called,
  };
}
