/** The table of cli/README.md, "What loosens and what demands", against the options that the commands have. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { brokenRules } from "../../src/cli/option-rules.js";
import { COMMAND_OPTIONS } from "../../src/cli/command-options.js";
import type { CommandName } from "../../src/cli/option-table.js";
import { CLI_OPTIONS } from "../matrix/sources.js";
import { optionsOfCommands } from "./commands.js";

const ROOM = fileURLToPath(new URL("../../src/cli/", import.meta.url));
const [, section] = /\n## What loosens and what demands\n([^]*?)\n## /.exec(
  readFileSync(join(ROOM, "README.md"), "utf8"),
)!;
const rows = [...section!.matchAll(/^\| `(--[\w-]+)` \| (\w+) \| ([^|]+) \| ([^|]+) \|$/gm)].map(
  ([, option, effect, commands, source]) => ({
    option: option!,
    effect,
    commands: commands!.split(", "),
    source: source!,
  }),
);
const [, others] = /\n(The other options [^]*?\.)\n\n/.exec(section!)!;
const named = [...others!.matchAll(/`(--[\w-]+)`/g)].map(([, name]) => name!);

const commandOptions = (name: CommandName): { flags: string; help: string }[] =>
  Object.entries(COMMAND_OPTIONS[name]).map(([flags, help]) => ({ flags, help: help as string }));
const shown = (await optionsOfCommands()).filter(({ isShown }) => isShown);
const commandsOf = (option: string): string[] =>
  shown.flatMap(({ name, command }) => (name === option ? command : [])).sort();

it("every option of a command is in the table, or among those that change nothing of what passes", () => {
  const names = new Set(shown.map(({ name }) => name));
  expect([...rows.map(({ option }) => option), ...named].sort()).toEqual([...names].sort());
});

it("the matrix has each option that loosens or demands", () => {
  expect(rows.map(({ option }) => option.slice(2)).sort()).toEqual(Object.keys(CLI_OPTIONS).sort());
});

it.each(rows)("$option is an option of the commands that the table names", ({ option, effect, commands }) => {
  expect(commands).toEqual(commandsOf(option));
  expect(effect).toMatch(/^(?:loosens|demands)$/);
});

it("each comes from the caller: the command line, the policy that it names, or the one variable that there is", () => {
  for (const { option, source } of rows) {
    expect(source).toMatch(/^command line(?:$|[,;])/);
    const variables = source.match(/BOOTPROOF_\w+/g) ?? [];
    expect(variables).toEqual(option === "--organization-id" ? ["BOOTPROOF_ORGANIZATION_ID"] : []);
  }
  const sources = readdirSync(ROOM).filter((name) => name.endsWith(".ts"));
  const read = sources.flatMap((name) => readFileSync(join(ROOM, name), "utf8").match(/BOOTPROOF_[A-Z_]+/g) ?? []);
  expect([...new Set(read)].sort()).toEqual([
    "BOOTPROOF_API_PRIVATE_KEY",
    "BOOTPROOF_API_PUBLIC_KEY",
    "BOOTPROOF_BASE_URL",
    "BOOTPROOF_ORGANIZATION_ID",
    "BOOTPROOF_QUEUE_SECRET",
    "BOOTPROOF_QUEUE_URL",
  ]);
});

describe("rules of options", () => {
  const names = Object.keys(COMMAND_OPTIONS) as CommandName[];
  const NONE = (): boolean => false;

  it.each(names)("of %s name its own options", (command) => {
    const own = commandOptions(command).map(({ flags }) => flags.split(" ")[0]!);
    const alone = own.flatMap((option) => brokenRules(command, (name) => `--${name}` === option));
    const sentences = [...alone, ...brokenRules(command, (name) => own.includes(`--${name}`))];
    const said = sentences.flatMap((text) => /^[^:]*/.exec(text)![0].match(/--[\w-]+/g) ?? []);
    expect([...own, "--format"]).toEqual(expect.arrayContaining(said));
  });

  it("are what the help says: with --log, and so on", () => {
    const rows = names.flatMap((command) => commandOptions(command).map((row) => ({ command, ...row })));
    const needing = rows.filter(({ help }) => /^with --/.test(help));
    expect(needing.length).toBeGreaterThan(25);
    for (const { command, flags, help } of needing) {
      const option = flags.split(" ")[0]!;
      const [, others] = /^with (--[^:,]*(?:, --[\w-]+)*(?: or --[\w-]+)?)/.exec(help)!;
      const sentence = `${option} requires ${others!}`;
      const found = brokenRules(command, (name) => `--${name}` === option).map((text) =>
        text.replace(/ [A-Z]+(?=:|$)/, ""),
      );
      expect(found, sentence).toContainEqual(expect.stringContaining(sentence));
    }
  });

  it("are these", async () => {
    const all = names.flatMap((command) => {
      const own = commandOptions(command).map(({ flags }) => flags.split(" ")[0]!.slice(2));
      const alone = own.flatMap((option) => brokenRules(command, (name) => name === option));
      const together = brokenRules(command, (name) => own.includes(name) || /^format (?:html|vsa)$/.test(name));
      const missing = brokenRules(command, NONE);
      return [...new Set([...missing, ...together, ...alone])].map((text) => `${command}: ${text}\n`);
    });
    await expect(all.join("")).toMatchFileSnapshot("./golden/option-rules.txt");
  });

  it("of what a command cannot do without", () => {
    expect(brokenRules("policy renew", NONE)).toEqual([
      "--feed FILE is required: the feed that ends with the version before; version 1 has none",
      "--valid DURATION is required: how long the version is valid, such as 14d, at most 400d",
    ]);
  });
});
