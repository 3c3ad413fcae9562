/** The table of cli/README.md, "What loosens and what demands", against the options that the commands have. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { OPTIONS, type OptionName } from "../../src/cli/option-table.js";
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
