/** The matrix has a row for each pin and demand, and each cell that lacks an option is of an entrance without it. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { policySchema } from "../../src/appraise/policy.js";
import { type OptionName, commandsWith } from "../../src/cli/option-table.js";
import { VERIFY_OPTIONS } from "../../src/inputs.js";
import { FIELDS } from "../../src/page/verifier-view.js";
import { cellOf } from "./cells.js";
import { ENTRANCES, type Options } from "./doors.js";
import { FACTS, type Fact, type FactName } from "./facts.js";
import { CLI_OPTIONS, type Covered, FORM, LIBRARY_OPTIONS, NO_DEMANDS, POLICY_MEMBERS } from "./sources.js";

const facts = Object.keys(FACTS) as FactName[];

/** The places of members in a schema, by their names. */
function membersIn(schema: unknown, at: string): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([name, value]) => {
    if (name !== "properties") return membersIn(value, at);
    const members = Object.entries(value as object).filter(([member]) => member !== "comment");
    return members.flatMap(([member, inside]) => {
      const place = at === "" ? member : `${at}.${member}`;
      const own = membersIn(inside, place);
      return place === "deployments" || own.length > 0 ? [...(isPin(place) ? [place] : []), ...own] : [place];
    });
  });
}

/** A pin that is an object has a row of its own beside those of its members. */
function isPin(place: string): boolean {
  return facts.includes(`pin ${place.replace("deployments.", "")}` as FactName);
}

/** The row of a member by its name. */
function rowOf(place: string): string {
  return place.startsWith("deployments.") ? `pin ${place.slice("deployments.".length)}` : `policy ${place}`;
}

it("each member of a policy has its row", () => {
  const places = [...new Set(membersIn(policySchema(), ""))];
  expect(places.length).toBeGreaterThan(40);
  const missing = places.filter((place) => !facts.includes(rowOf(place) as FactName) && !POLICY_MEMBERS[place]);
  const says = (place: string): string =>
    `${place}: add the row "${rowOf(place)}" to facts.ts, or say in sources.ts why none`;
  expect(missing.map(says)).toEqual([]);
  const stale = Object.keys(POLICY_MEMBERS).filter((place) => !places.includes(place));
  expect(stale.map((place) => `${place}: no member of a policy any more: remove it from sources.ts`)).toEqual([]);
});

it("each option of the library has its row", () => {
  const missing = Object.keys(VERIFY_OPTIONS).filter(
    (name) => !Object.hasOwn(LIBRARY_OPTIONS, name) && !Object.hasOwn(FACTS, `option ${name}`),
  );
  expect(
    missing.map((name) => `${name}: add the row "option ${name}" to facts.ts, or say in sources.ts why none`),
  ).toEqual([]);
});

it("each row that an option names gives that option, or is about what it measures", () => {
  const named = (Object.entries(CLI_OPTIONS) as [OptionName, Covered][]).flatMap(([option, covered]) =>
    typeof covered === "string" ? [[option, covered] as const] : [],
  );
  const byDoor: Readonly<Partial<Record<OptionName, string>>> = {
    "organization-id": "each door demands the organization of its evidence",
    "role-arn": "measure gives it for every image",
    "instance-id": "measure gives it where PCR4 is pinned",
    previous: "review gives it for every manifest",
    commitment: "of pin: the policy has it as a pin",
  };
  for (const [option, name] of named) {
    const fact: Fact = FACTS[name];
    expect(Object.hasOwn(byDoor, option) || Object.keys(optionsOf(fact)).includes(option), `${option}, ${name}`).toBe(
      true,
    );
  }
});

function optionsOf({ options }: Fact): object {
  return options?.({ file: () => "" } as never) ?? {};
}

const { inputs } = parse(readFileSync(new URL("../../.github/actions/verify/action.yml", import.meta.url), "utf8")) as {
  readonly inputs: Readonly<Record<string, unknown>>;
};

function hasOption(table: Options, option: OptionName): boolean {
  if (table === null) return false;
  if (table === "form") return FORM[option] !== undefined;
  if (table === "inputs") return Object.hasOwn(inputs, option);
  return commandsWith(option).some(({ command }) => command === table);
}

const cells = facts.flatMap((name) => ENTRANCES.map((entrance) => ({ name, entrance, cell: cellOf(name, entrance) })));

it("no entrance has an option that its cell says it lacks", () => {
  const wrong = cells.filter(
    ({ entrance, cell }) => typeof cell === "object" && "lacks" in cell && hasOption(entrance.options, cell.lacks),
  );
  expect(
    wrong.map(
      ({ name, entrance }) => `${entrance.name} has the option of "${name}" now: remove the cell from facts.ts`,
    ),
  ).toEqual([]);
});

it("the form of the page has no field that no row knows", () => {
  const known: string[] = [...Object.keys(NO_DEMANDS), ...Object.values(FORM)];
  const missing = Object.keys(FIELDS).filter((id) => !known.includes(id));
  expect(missing.map((id) => `${id}: add it to FORM in sources.ts, with the option that demands the same`)).toEqual([]);
});

it("each reason is a sentence", () => {
  for (const { cell } of cells)
    if (typeof cell === "object" && "not" in cell) expect(cell.not).toMatch(/^\w.{20,}\w\)?$/);
});
