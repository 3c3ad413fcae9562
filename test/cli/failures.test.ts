/** What formats for CI say where nothing was judged (exit codes 2 and 3), and where a warning is a failure. */
import { describe, expect, it } from "vitest";
import { generateApiKey } from "../../src/client/stamp.js";
import type { Report } from "../../src/report/report.js";
import { BOOT_1, type Row, bootproof, connectionTo, fileOf, scene, vector } from "./support.js";

const to = connectionTo({ baseUrl: "http://localhost:9", organizationId: "o", apiKey: await generateApiKey() });
const FAILURES: readonly (readonly [line: string, code: number, said: string])[] = [
  ["verify --boot-proof gone.json --no-policy", 2, "no such file"],
  ["verify --frmat x", 2, "unknown option --frmat"],
  ["verify --boot-proof $boot", 2, "--policy FILE or --no-policy is required"],
  ["verfy", 2, "unknown command verfy"],
  ["verify --ephemeral-key $key --no-policy $to", 3, "http://localhost:9"],
];

scene({ boot: BOOT_1, key: "04".repeat(130), to }).table(
  FAILURES.flatMap(([line, code, said]): Row[] => [
    [`${line} --format=sarif`, code, said, new RegExp(`"exitCode": ${code}, .*${said}.*bootproof: `), "!results"],
    [`${line} --format=github`, code, new RegExp(`^::error title=bootproof::[^:].*${said}.* bootproof: (?!.*::error)`)],
  ]),
);

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
