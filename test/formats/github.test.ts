/** Workflow commands, read as the runner reads them: each line that begins with `::` is one. */
import { describe, expect, it } from "vitest";
import { UNPRINTABLE } from "../../src/decode/json.js";
import { renderGithub, renderGithubFailure } from "../../src/formats/github.js";
import { strictReport } from "../../src/report/conclude.js";
import {
  AUTHENTIC,
  BAD,
  CONTRADICTORY,
  FAILED,
  FAILURE,
  GOOD,
  HOSTILE,
  NOTICES,
  PIECELESS,
  REJECTED,
  STALE_REPORT,
  TOLD,
  UNKNOWN_STATUS,
  WITH_WARNING,
  rejected,
} from "./told.js";

interface Command {
  readonly name: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly message: string;
}

/** As the runner does it: properties up to the first `::`, unescaped after they were taken apart. */
function commandsOf(text: string): Command[] {
  expect(text.endsWith("\n")).toBe(true);
  return text
    .slice(0, -1)
    .split(/\r\n|\r|\n/)
    .map((line) => {
      const [, name, given = "", message] = /^::([a-z-]+)(?: (.*?))?::(.*)$/.exec(line)!;
      const pairs = given.split(",").map((pair): [string, string] => {
        const at = pair.indexOf("=");
        return [
          pair.slice(0, at),
          unescaped(
            pair
              .slice(at + 1)
              .replace(/%3A/g, ":")
              .replace(/%2C/g, ","),
          ),
        ];
      });
      return { name: name!, properties: Object.fromEntries(pairs), message: unescaped(message!) };
    });
}

function unescaped(text: string): string {
  return text.replace(/%0D/g, "\r").replace(/%0A/g, "\n").replace(/%25/g, "%");
}

describe("workflow commands", () => {
  it.each(GOOD)("are one notice where all is well: %s", (_, report) => {
    const commands = commandsOf(renderGithub(report, NOTICES));
    expect(commands.map(({ name }) => name)).toEqual(["notice"]);
    expect(commands[0]!.message).toMatch(
      /^(?:VERIFIED|AUTHENTIC) with \d warnings?: every check passed[^]*\nWARNING the policy came with/,
    );
    expect(commands[0]!.message).toContain("\nNot proven\n- ");
  });

  it("carry the warnings and the notes", () => {
    const [{ message }] = commandsOf(renderGithub(WITH_WARNING, NOTICES)) as [Command];
    expect(message).toContain('\nWARNING the certificates lead to "lab-root", not to AWS');
    expect(message).toContain(`\npolicy "signer, production" (SHA-256 ${"9d".repeat(32)})\n`);
    expect(message).toContain(
      "\nThe bundle was made at noon.\n- verdict: verified in the report, rejected by its evidence\n",
    );
    expect(commandsOf(renderGithub(AUTHENTIC))[0]!.message).not.toContain("WARNING");
  });

  it.each(BAD)("begin with an error that has the verdict, where it is not good: %s", (_, report) => {
    const [first, ...others] = commandsOf(renderGithub(report)) as [Command];
    expect([first.name, first.properties]).toEqual(["error", { title: "bootproof" }]);
    expect(first.message).not.toMatch(/^(?:VERIFIED|AUTHENTIC)/);
    const bad = report.checks.filter(({ status }) => !["pass", "warn", "skip"].includes(status));
    expect(others.filter(({ name }) => name === "error")).toHaveLength(bad.length);
  });

  it("say how many checks failed, and annotate each at its file", () => {
    expect(commandsOf(renderGithub(REJECTED))).toEqual([
      {
        name: "error",
        properties: { title: "bootproof" },
        message: expect.stringMatching(
          /^REJECTED: nothing is proven\. One check failed: policy\.pcrs [^]*\n3 passed, 1 failed, 1 note, 1 skip/,
        ) as string,
      },
      {
        name: "error",
        properties: { title: "bootproof policy.pcrs", file: "evidence/boot proof.json", line: "1" },
        message: expect.stringMatching(
          /^boot\[0\] = "evidence\/boot proof.json": PCR0 is another one\nexpected [^]*\nactual [^]*\nto do {5}Compare/,
        ) as string,
      },
      {
        name: "notice",
        properties: { title: "bootproof chain.anchor", file: "evidence/boot proof.json", line: "1" },
        message: expect.stringContaining("starts at another one") as string,
      },
    ]);
  });

  it("say that evidence is only too old, that a piece is missing, that a report contradicts itself", () => {
    expect(commandsOf(renderGithub(STALE_REPORT))[0]!.message).toMatch(/^REJECTED, STALE: the evidence is genuine/);
    expect(commandsOf(renderGithub(PIECELESS))[0]!.message).toMatch(/^REJECTED: nothing is proven\./);
    expect(commandsOf(renderGithub(CONTRADICTORY))[0]!.message).toMatch(
      /^REFUSED: the verdict "verified" is wrong: a check failed\.\n/,
    );
    expect(commandsOf(renderGithub(UNKNOWN_STATUS))[1]!.message).toContain("unknown status perfect: PCR0");
  });

  it("name no file where none is known", () => {
    const fetched = [{ subject: "boot[0]" as const, name: "signer", sha256: null, latestOf: "signer" }];
    const [, error] = commandsOf(renderGithub(rejected([{ ...FAILED, name: "signer" }], { evidence: fetched })));
    expect(error!.properties).toEqual({ title: "bootproof policy.pcrs" });
  });

  it("name a file as it is named, whatever is in its name", () => {
    const name = "a,line=9,title=forged::b%2C%0A.json";
    const id = "x,file=forged::y" as typeof FAILED.id;
    const [, error] = commandsOf(renderGithub(rejected([{ ...FAILED, id, name }])));
    expect(error!.properties).toEqual({ title: `bootproof ${id}`, file: name, line: "1" });
    expect(error!.message).toMatch(/^boot\[0\] = /);
  });

  it("show of two values that differ in a few bytes where they do", () => {
    const [expected, actual] = ["01", "02"].map((last) => `PCR3 ${"aa".repeat(47)}${last}`);
    const [, error] = commandsOf(renderGithub(rejected([{ ...FAILED, expected: expected!, actual: actual! }])));
    expect(error!.message).not.toContain("aa".repeat(47));
    expect(error!.message).toMatch(/\nexpected {2}[^\n]*\[01\]\nactual {4}[^\n]*\[02\]\n/);
  });

  it("say that the caller refuses it before anything else, and not again", async () => {
    const [first] = commandsOf(renderGithub(await strictReport(WITH_WARNING, [NOTICES[0]!.text]), NOTICES)) as [
      Command,
    ];
    expect(first.name).toBe("error");
    expect(first.message.split("REFUSED")).toHaveLength(2);
    expect(first.message).toMatch(
      /^REFUSED with 2 warnings: the verdict "verified" is not accepted with warnings\.\nWARNING the policy /,
    );
    expect(first.message.split("WARNING the policy came with the bundle")).toHaveLength(2);
  });

  it("have no empty line for checks that there are none of", () => {
    const [{ message }] = commandsOf(renderGithub(rejected([]))) as [Command];
    expect(message).not.toMatch(/\n\n|\n$/);
  });

  it("are one error in place of a report, with every problem and what to do", () => {
    expect(commandsOf(renderGithubFailure(FAILURE))).toEqual([
      {
        name: "error",
        properties: { title: "bootproof" },
        message:
          "the evidence cannot be read: a <b>.json: expected an object\nno policy\nRead the help.\nOr the README.",
      },
    ]);
    expect(commandsOf(renderGithubFailure({ ...FAILURE, problems: [], advice: [] }))[0]!.message).toBe(
      "the evidence cannot be read: ",
    );
  });

  it("shorten long lists of compared values", () => {
    const expected = Array.from({ length: 40 }, (_, index) => `line ${index}`).join("\n");
    const [, error] = commandsOf(renderGithub(rejected([{ ...FAILED, expected, actual: expected }])));
    expect(error!.message.match(/^(?:expected|actual| {6}) {2,4}line /gm)).toHaveLength(32);
    expect(error!.message.match(/^ {10}and 24 more$/gm)).toHaveLength(2);
  });

  it.each(TOLD)("are no others than ours, whatever evidence says: %s", (_, report) => {
    const text = renderGithub(report, NOTICES);
    for (const line of text.trimEnd().split("\n")) expect(line).toMatch(/^::(?:error|warning|notice) title=bootproof/);
    expect(text.replaceAll("\n", "")).not.toMatch(UNPRINTABLE);
    const names = ["title", "file", "line"];
    for (const { properties } of commandsOf(text))
      expect(names).toEqual(expect.arrayContaining(Object.keys(properties)));
  });

  it("keep what evidence says as it is said", () => {
    const [, , , , , , , , , error] = commandsOf(renderGithub(HOSTILE));
    expect(error!.message).toContain("\\u{a}::error::forged\\u{d}\\u{a}::set-output name=x::y %0A::error::forged2 %25");
  });
});
