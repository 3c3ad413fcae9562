/** The table of cli/README.md, "What loosens and what demands", against the options that the commands have. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
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
