import { describe, expect, it } from "vitest";
import { fitted, helpWidth } from "../../src/cli/help.js";
import { COMMANDS as COMMANDS_OF_ALL } from "../../src/cli/commands.js";
import { OPTION_NAMES, commandsWith } from "../../src/cli/option-table.js";
import { VERIFY_TOPICS } from "../../src/cli/verify-help.js";
import { bootproof, refused, scene, words } from "./support.js";

describe("a help text", () => {
  it.each([
    ["keeps what is short", "Usage: x\n\nText.\n\n  a  b\n", 60, "Usage: x\n\nText.\n\n  a  b\n"],
    ["fills paragraphs anew", "one two three\nfour five\n\nsix", 12, "one two\nthree four\nfive\n\nsix"],
    [
      "leaves headings and what stands below them",
      "Examples:\n    $ a\nThe list:\nb",
      20,
      "Examples:\n    $ a\nThe list:\nb",
    ],
    ["goes on in the second column of a row", "  name     one two three", 18, "  name     one two\n           three"],
    ["goes on below the first word of a sentence further in", "  one two three four", 10, "  one two\n  three\n  four"],
    ["goes on behind the usage", "Usage: x one two three", 12, "Usage: x one\n    two\n    three"],
    ["breaks a command as a shell takes it", "    $ a --b c --d e", 16, "    $ a --b c \\\n        --d e"],
    [
      "keeps an option with its value, and a file with its >",
      "  $ a -d bb > c.json",
      14,
      "  $ a -d bb \\\n      > c.json",
    ],
    ["does not break inside quotes", '  $ a "b c d e" f', 12, '  $ a \\\n      "b c d e" \\\n      f'],
    ["does not cut what is one word", "  $ aaaaaaaaaaaaaaaaaaaa", 10, "  $ aaaaaaaaaaaaaaaaaaaa"],
  ])("%s", (_, text, width, shown) => {
    expect(fitted(text, width)).toBe(shown);
  });

  it("is between 60 and 200 columns wide", () => {
    expect([1, 60, 133, 200, 999].map(helpWidth)).toEqual([60, 60, 133, 200, 200]);
  });

  const commands = words`verify fetch bundle watch log pin explain inspect completion proxy lab key`;
  it.each(["", ...commands].flatMap((name) => [60, 100].map((width) => [name, width] as const)))(
    "of %j fits %d columns, but for single words",
    async (name, width) => {
      const argv = name === "" ? ["--help"] : [name, "--help"];
      const { stdout } = await bootproof(argv, { isTTY: true, columns: width });
      const long = stdout.split("\n").filter((line) => line.length > width && / \S+ \S/.test(line.trim()));
      expect(long).toEqual([]);
      expect(stdout).toMatch(/\n\n(?:[^\n]+\n)*Exit codes: |\n {4}\$ /);
    },
  );
});

describe("the help of verify", () => {
  const AT_80 = { isTTY: true, columns: 80 };
  const isOfVerify = (name: string): boolean => commandsWith(name).some(({ command }) => command === "verify");
  const own = OPTION_NAMES.filter(isOfVerify);
  const shownIn = (text: string): string[] => {
    const options = text.split("Options:\n")[1]!.split("\n\n", 1)[0]!;
    const names = [...options.matchAll(/^ {2}(?:-h, )?--([a-z-]+)/gm)].map(([, name]) => name!);
    return names.filter((name) => name !== "help");
  };

  const topics = Object.keys(VERIFY_TOPICS);
  const firstOf = (topic: string): number => own.indexOf(VERIFY_TOPICS[topic]!.from);
  /** The options of a topic, from its first to that of the next. */
  const optionsOf = (topic: string): string[] => {
    const next = topics[topics.indexOf(topic) + 1];
    return own.slice(firstOf(topic), next === undefined ? undefined : firstOf(next)).sort();
  };

  it("has at most 48 lines at 80 columns, and names the topics", async () => {
    const { code, stdout, stderr } = await bootproof(["verify", "--help"], AT_80);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.trimEnd().split("\n").length).toBeLessThanOrEqual(48);
    for (const topic of [...topics, "all"]) expect(stdout).toMatch(new RegExp(`^ {2}${topic} `, "m"));
    expect(shownIn(stdout).sort()).toEqual(optionsOf("common"));
  });

  it("has every option in exactly one topic", () => {
    expect(topics.flatMap(optionsOf).sort()).toEqual([...own].sort());
    for (const topic of topics) expect(optionsOf(topic)).not.toEqual([]);
  });

  it.each(topics)("shows exactly the options of %s", async (topic) => {
    const { code, stdout } = await bootproof(["verify", "--help", topic], AT_80);
    expect(code).toBe(0);
    expect(shownIn(stdout).sort()).toEqual(optionsOf(topic));
    expect(stdout).toContain(VERIFY_TOPICS[topic]!.examples.trim().split("\n", 1)[0]!.slice(0, 40));
    for (const line of [words`verify -h ${topic}`, words`help verify ${topic}`])
      expect((await bootproof(line, AT_80)).stdout).toBe(stdout);
  });

  it("of all shows every option and example", async () => {
    const { stdout } = await bootproof(["verify", "--help", "all"], { isTTY: true, columns: 200 });
    expect(shownIn(stdout).sort()).toEqual([...own].sort());
    for (const { examples } of Object.values(VERIFY_TOPICS))
      for (const line of examples.match(/^ {4}\$ .*[^\\]$/gm) ?? []) expect(stdout).toContain(line);
  });

  it.each([["boot.json"], ["toString"], ["--quiet"], ["formats", "boot.json"]])(
    "refuses other words: %j %j",
    async (...words) => {
      const { code, stdout, stderr } = await bootproof(["verify", "--help", ...words]);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(/expected one of common, expected, |got other arguments, too/);
    },
  );

  it("has no topics for a command without them", async () => {
    expect((await bootproof(["fetch", "--help", "all"])).code).toBe(2);
  });
});

it.each(Object.values(COMMANDS_OF_ALL).flatMap((group) => Object.keys(group)))(
  "the examples of %s are commands alone, without comments",
  async (name) => {
    const { stdout } = await bootproof([name, "--help", ...(name === "verify" ? ["all"] : [])], { columns: 200 });
    const commands = stdout.match(/^ *\$ .*/gm) ?? [];
    for (const command of commands) expect(command.trim()).not.toMatch(/ {2}| #/);
  },
);

describe("the help of the program", () => {
  const commandsIn = (text: string): string[] =>
    [...text.split("Commands:")[1]!.matchAll(/^ {2}([a-z]+(?: worker)?) /gm)].map(([, name]) => name!);

  it("lists the commands that people begin with on 40 lines of 80 columns, and with all every command", async () => {
    const { stdout } = await bootproof(["--help"], { isTTY: true, columns: 80 });
    expect(stdout.trimEnd().split("\n").length).toBeLessThanOrEqual(40);
    const first = words`verify fetch pin policy bundle review explain demo lab help`;
    expect(commandsIn(stdout)).toEqual(first);
    const { code, stdout: whole, stderr } = await bootproof(["help", "all"]);
    expect([code, stderr]).toEqual([0, ""]);
    const every = Object.values(COMMANDS_OF_ALL).flatMap((group) => Object.keys(group));
    expect(commandsIn(whole).sort()).toEqual([...every, "help"].sort());
    for (const heading of Object.keys(COMMANDS_OF_ALL)) expect(whole).toContain(`\n${heading}\n`);
  });

  it("a worker of audits is below audit, and its old spelling says so", async () => {
    const { code, stdout, stderr } = await bootproof(["audit", "worker", "--help"]);
    expect([code, stderr, stdout.split("\n", 1)]).toEqual([
      0,
      "",
      ["Usage: bootproof audit worker [--queue URL] (--policy FILE | --no-policy)"],
    ]);
    const NOTE = "note: bootproof worker is bootproof audit worker now\n";
    expect(await bootproof(["worker", "--help"])).toEqual({ code, stdout, stderr: NOTE });
    for (const asked of [words`help audit worker`, words`help worker`])
      expect((await bootproof(asked)).stdout).toBe(stdout);
    const fault = "bootproof: --policy FILE or --no-policy is required";
    await refused(2, bootproof(words`audit worker --queue redis://127.0.0.1:1`), `${fault}`, /audit worker --help/);
    await refused(2, bootproof(words`worker --queue redis://127.0.0.1:1`), NOTE + fault);
    // Behind its options, audit takes the word for a file.
    await refused(2, bootproof(words`audit --no-policy worker`), "worker: there is no such file");
  });

  it("shows a command below another", async () => {
    const asked = await bootproof(["help", "policy", "sign"]);
    expect(asked).toEqual(await bootproof(["policy", "sign", "--help"]));
    expect(asked.code).toBe(0);
    expect((await bootproof(["help", "policy", "sing"])).code).toBe(2);
    expect((await bootproof(["help", "policy", "sign", "more"])).code).toBe(2);
    expect((await bootproof(["help", "all", "more"])).code).toBe(2);
  });

  it("prints commands to paste, never of npx", async () => {
    for (const env of [{}, { npm_command: "exec" }])
      expect((await bootproof([], { env })).stdout.match(/^ +bootproof \w+$/gm)).toEqual([
        "    bootproof demo",
        "    bootproof lab",
      ]);
  });

  it.each(["help", "--help", "-h"])("answers %s", async (word) => {
    expect(await bootproof([word])).toEqual({ code: 0, stdout: (await bootproof([])).stdout, stderr: "" });
  });

  const EXIT = "Exit codes: 0 verified, 1 rejected, 2 wrong usage or unreadable file, 3 evidence could not be fetched.";
  scene().table([
    ["--help", 0, /^Usage: bootproof COMMAND \[options\] Proves, before anyone trusts a .* Start here/, EXIT],
  ]);
  scene().table(["--version", "-V"].map((word) => [word, 0, /^\d+\.\d+\.\d+$/]));
});
