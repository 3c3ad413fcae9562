/** What formats for CI say where nothing was judged (exit codes 2 and 3), and where a warning is a failure. */
import { describe, expect, it } from "vitest";
import { generateApiKey } from "../../src/client/stamp.js";
import type { Report } from "../../src/report/report.js";
import { sarifFaults } from "../formats/schemas.js";
import { BOOT_1, bootproof, connectionTo, fileOf, vector } from "./support.js";

interface Sarif {
  readonly runs: readonly {
    readonly invocations: readonly {
      readonly executionSuccessful: boolean;
      readonly exitCode: number;
      readonly toolExecutionNotifications: readonly {
        readonly level: string;
        readonly message: { readonly text: string };
      }[];
    }[];
    readonly results?: readonly {
      readonly ruleId: string;
      readonly level: string;
      readonly message: { readonly text: string };
    }[];
  }[];
}

const UNREACHABLE = connectionTo({
  baseUrl: "http://localhost:9",
  organizationId: "o",
  apiKey: await generateApiKey(),
});

const FAILURES: [what: string, argv: string[], code: number, said: string][] = [
  ["a file that is not there", ["verify", "--boot-proof", "gone.json", "--no-policy"], 2, "no such file"],
  ["an option that there is not", ["verify", "--frmat", "x"], 2, "unknown option --frmat"],
  ["a missing policy", ["verify", "--boot-proof", BOOT_1], 2, "--policy FILE or --no-policy is required"],
  ["no such command", ["verfy"], 2, "unknown command verfy"],
  [
    "a service that is not there",
    ["verify", "--ephemeral-key", "04".repeat(130), "--no-policy", ...UNREACHABLE],
    3,
    "http://localhost:9",
  ],
];

async function toldBy(format: string, [, argv, exitCode, said]: (typeof FAILURES)[number]): Promise<string> {
  const { code, stdout, stderr } = await bootproof([...argv, `--format=${format}`]);
  expect(code).toBe(exitCode);
  expect(stderr).toContain(said);
  return stdout;
}

describe.each(FAILURES)("where nothing was judged: %s", (...failure) => {
  const [, , exitCode, said] = failure;

  it("SARIF says that the run failed, and why, and has no list of findings", async () => {
    const log = JSON.parse(await toldBy("sarif", failure)) as Sarif;
    expect(sarifFaults(log)).toEqual([]);
    const [run] = log.runs;
    const [invocation] = run!.invocations;
    expect(invocation).toMatchObject({ executionSuccessful: false, exitCode });
    const texts = invocation!.toolExecutionNotifications.map(({ level, message }) => `${level}: ${message.text}`);
    expect(texts.join("\n")).toMatch(/^error: /);
    expect(texts.join("\n")).toContain(said);
    expect(run).not.toHaveProperty("results");
  });

  it("GitHub gets one error", async () => {
    const lines = (await toldBy("github", failure)).split("\n");
    expect(lines).toEqual([expect.stringMatching(/^::error title=bootproof::/), ""]);
    expect(lines[0]).toContain(said);
  });
});

it("a command without formats writes none", async () => {
  expect((await bootproof(["pin", "--format", "junit"])).stdout).toBe("");
});

const SIX = vector("boot-proofs/six-members.json");
/** Its deployment is legacy: a warning. */
const POLICY = fileOf((await bootproof(["pin", "--boot-proof", SIX])).stdout);
const WITH_WARNING = ["verify", "--boot-proof", SIX, "--policy", POLICY];

describe("--fail-on-warning", () => {
  it("changes nothing where there is no warning, though there are warnings", async () => {
    const argv = ["verify", "--boot-proof", SIX, "--no-policy", "--format", "json"];
    const without = await bootproof(argv);
    const { checks } = JSON.parse(without.stdout) as Report;
    expect(checks.filter(({ status }) => status === "warn")).not.toEqual([]);
    expect(await bootproof([...argv, "--fail-on-warning"])).toEqual({ ...without, code: 0 });
  });

  it("is exit code 1 where there is one, and says which", async () => {
    expect((await bootproof(WITH_WARNING)).code).toBe(0);
    const { code, stdout, stderr } = await bootproof([...WITH_WARNING, "--fail-on-warning", "--format", "json"]);
    const { verdict, refusedFor } = JSON.parse(stdout) as { verdict: string; refusedFor: string[] };
    expect([code, verdict]).toEqual([1, "verified"]);
    expect(refusedFor.length).toBeGreaterThan(0);
    const brief = stderr.replace(/\s+/g, " ");
    expect(brief).toMatch(
      /^REFUSED with \d warnings?: the verdict "verified" is not accepted with warnings\. WARNING /,
    );
    expect(brief).toContain(refusedFor[0]!.slice(0, 40));
    expect(stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(6);
    expect(await bootproof([...WITH_WARNING, "--fail-on-warning", "--quiet"])).toEqual({ code: 1, stdout: "", stderr });
  });

  it("leaves a rejection a rejection, with the same output", async () => {
    const argv = ["verify", "--boot-proof", fileOf({ bootProof: {} }), "--policy", POLICY, "--format", "json"];
    expect(await bootproof([...argv, "--fail-on-warning"])).toEqual(await bootproof(argv));
  });
});
