/** The mistakes of newcomers (`wrong-uses.table.ts`), and every other option with every other kind of file. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { policySchema } from "../../src/appraise/policy.js";
import { OPTION_NAMES } from "../../src/cli/option-table.js";
import { type JsonValue, isJsonObject } from "../../src/decode/json.js";
import { parsePolicy } from "../../src/index.js";
import { bootproof } from "./support.js";
import { FILES, TRIED, WRONG_USES } from "./wrong-uses.table.js";
import { IS_LONG } from "../support/long.js";

const LATER = { now: "2026-03-04T06:00:00Z" };
const before = process.cwd();

beforeAll(() => {
  process.chdir(mkdtempSync(join(tmpdir(), "bootproof-wrong-")));
  for (const [name, content] of Object.entries(FILES)) {
    mkdirSync(dirname(name), { recursive: true });
    writeFileSync(name, content);
  }
});
afterAll(() => process.chdir(before));

/** The output in one line, without the line breaks of a page. */
const inOneLine = (text: string): string => text.replace(/\s+/g, " ");

describe("a newcomer's mistake", () => {
  it.each(WRONG_USES)("bootproof $line", async ({ line, says, never }) => {
    const argv = line.split(" ");
    const answer = await bootproof(argv, LATER);
    const text = inOneLine(answer.stdout + answer.stderr);
    // What is wrong with a policy is the result of checking it.
    expect([answer.code, argv[0] === "policy" ? "" : answer.stdout], text).toEqual([2, ""]);
    for (const words of says) expect(text).toContain(words);
    for (const words of [...never, "(189 characters)", "unexpected: "]) expect(text).not.toContain(words);
    expect(text).not.toMatch(/\(\d+ characters\)/);
  });

  it("is named with the file that has it, and no other", async () => {
    const { stderr } = await bootproof(["verify", "--boot-proof", "boot.json", "--policy", "comment.json"], LATER);
    expect(stderr).toContain("bootproof: comment.json: ");
    expect(stderr).not.toContain("bootproof: boot.json");
  });

  it("is a rejection where the policy trusts another root, which is said", async () => {
    const argv = ["verify", "--boot-proof", "aws-boot.json", "--policy", "policy.json"];
    const { code, stdout } = await bootproof(argv, LATER);
    expect([code, inOneLine(stdout)]).toEqual([
      1,
      expect.stringContaining("this policy trusts only C=US, O=bootproof"),
    ]);
    expect(inOneLine(stdout)).toContain("wrong policy");
  });
});

it.each(TRIED)("bootproof %s ends with %i", async (argv, code, says) => {
  const answer = await bootproof(argv.split(" "), LATER);
  expect([answer.code, answer.stderr]).toEqual([code, ""]);
  expect(inOneLine(answer.stdout)).toContain(says);
});

it("verify FILE with boot proofs leaves out no rule of the policy, as --boot-proof may", async () => {
  const policy = JSON.parse(String(FILES["policy.json"])) as object;
  writeFileSync("required.json", JSON.stringify({ ...policy, appProofs: { required: true } }));
  const codeOf = async (...evidence: string[]): Promise<number> =>
    (await bootproof(["verify", ...evidence, "--policy", "required.json"], LATER)).code;
  expect([await codeOf("--boot-proof", "boot.json"), await codeOf("boot.json")]).toEqual([0, 1]);
});

it("verify - takes a boot proof from stdin", async () => {
  const stdin = FILES["boot.json"]!;
  expect((await bootproof(["verify", "-", "--policy", "policy.json"], { ...LATER, stdin })).code).toBe(0);
});

/** Those that `kinds.test.ts` and `file-formats.test.ts` do not try. */
const FILE_OPTIONS = [
  "verify --boot-proof boot.json --provenance X --policy policy.json",
  "policy check X",
  "inspect X",
  "policy review X",
  "policy to-sign X",
  "policy review version.json --feed X",
  "policy sign policy.json --signers X --valid 1d",
  "policy sign X --signers signers.json --valid 1d",
  "policy check X --policy-signers signers.json",
  "policy check feed.jsonl --policy-signers X",
  "policy publish version.json --feed X --policy-signers signers.json",
  "pin --boot-proof boot.json --trust-anchor anchor.pem --add-to X --out -",
];

/** Each option with every third file, another third each time; with every file where `BOOTPROOF_TESTS=long`. */
const EACH = IS_LONG ? 1 : 3;

describe.each(FILE_OPTIONS.map((line, at) => [line, at] as const))("bootproof %s", (line, at) => {
  it("says what a file is or what was expected, in words that name that file", async () => {
    for (const name of Object.keys(FILES).filter((_, index) => (index + at) % EACH === 0)) {
      const argv = line.split(" ").map((word) => (word === "X" ? name : word));
      const { code, stdout, stderr } = await bootproof(argv, LATER);
      const text = `${name}: ${code} ${inOneLine(stdout + stderr)}`;
      expect(text).not.toMatch(/unexpected: |\(\d+ characters\)|undefined|\[object/);
      if (code !== 2) continue;
      expect(text).toContain(name);
      // A fault of JSON never stands alone: it has a cause, or what the option takes.
      if (/not strict JSON/.test(stderr)) expect(stderr).toMatch(/takes |Expected |: .*: .*: /);
      if (name.startsWith("comment") || name === "bom.json") expect(stderr).not.toContain("a certificate; ");
    }
  });
});

it("policy check notes a policy without maxAge, and only that", async () => {
  const check = async (name: string): Promise<string> => inOneLine((await bootproof(["policy", "check", name])).stdout);
  const limited = JSON.stringify({ ...(JSON.parse(String(FILES["policy.json"])) as object), maxAge: "30d" });
  writeFileSync("limited.json", limited);
  expect(await check("policy.json")).toContain("note there is no maxAge, so an enclave passes however long ago");
  expect(await check("limited.json")).not.toContain("there is no maxAge");
});

describe("explain", () => {
  function membersIn(schema: JsonValue): string[] {
    if (Array.isArray(schema)) return schema.flatMap(membersIn);
    if (!isJsonObject(schema)) return [];
    const { properties = {} } = schema;
    return [
      ...Object.keys(properties as object),
      ...Object.values(schema).flatMap(membersIn),
      ...Object.values(properties as object).flatMap(membersIn),
    ];
  }

  it.each([...new Set(membersIn(policySchema()))])("explains the member %s of a policy", async (name) => {
    const { code, stdout } = await bootproof(["explain", name]);
    expect([code, stdout.length > 40]).toEqual([0, true]);
  });

  // `explain` has --format itself.
  const options = OPTION_NAMES.filter((name) => name !== "format");
  it.each(options)("explains the option --%s by its help", async (name) => {
    const { code, stdout } = await bootproof(["explain", `--${name}`]);
    expect([code, stdout.split(":")[0]]).toEqual([0, `--${name}`]);
  });
});

it.each(["policy.json", "./my policies.json".replace(" ", "-"), "policy.yaml"])(
  "parsePolicy(%j) says that it takes the content",
  (name) =>
    expect(() => parsePolicy(name)).toThrow(/expected the content, got the name of a file: read the file first/),
);
