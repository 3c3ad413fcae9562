/** The table of cli/README.md, "What loosens and what demands", against the options that the commands have. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { COMMAND_OPTIONS, OPTIONS, type OptionName } from "../../src/cli/option-table.js";
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

const shown = (await optionsOfCommands()).filter(({ isShown }) => isShown);
const commandsOf = (option: string): string[] =>
  shown.flatMap(({ name, command }) => (name === option ? command : [])).sort();

const optionsThat = (changes: boolean): string[] => {
  const names = new Set(shown.map(({ name }) => name));
  return [...names].filter((name) => (OPTIONS[name.slice(2) as OptionName][1] !== "neither") === changes).sort();
};

it("every option of a command is in the table, or among those that change nothing of what passes", () => {
  expect(rows.map(({ option }) => option).sort()).toEqual(optionsThat(true));
  expect([...named].sort()).toEqual(optionsThat(false));
});

it.each(rows)("$option is an option of the commands that the table names", ({ option, effect, commands }) => {
  expect(commands).toEqual(commandsOf(option));
  expect(effect).toBe(OPTIONS[option.slice(2) as OptionName][1]);
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

describe("every option", () => {
  const sources = readdirSync(ROOM)
    .filter((name) => name.endsWith(".ts") && name !== "option-table.ts")
    .map((name) => readFileSync(join(ROOM, name), "utf8"));
  const isUsed = (option: string): boolean => {
    const flag = option.replace(/^no-/, "").replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
    return sources.some((text) => new RegExp(`\\b${flag}\\b|"${option}"`).test(text));
  };

  it.each(Object.keys(OPTIONS))("%s is of a command, and read there", (option) => {
    expect(Object.values(COMMAND_OPTIONS).some((own) => own.some(([name]) => name === option))).toBe(true);
    expect(isUsed(option)).toBe(true);
  });
});
