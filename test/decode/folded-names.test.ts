/** Names that some decoders take for one that a check reads. */
import { describe, expect, it } from "vitest";
import { ACTIVITY_MEMBERS, foldedNames, readActivity } from "../../src/decode/activity.js";
import { ACTIVITY_RULES, RESULT_NAMES_ANYWHERE, namesOf, ruleOf } from "../../src/decode/activity-rules.js";
import type { NamesRead } from "../../src/decode/folded-names.js";
import { type JsonObject, type JsonValue, copyJson, folded, isJsonObject } from "../../src/decode/json.js";
import { leastCostMs } from "../support/cost.js";

/** Nothing of it is of a known type. */
const CUSTOM = "ACTIVITY_TYPE_CUSTOM";
const activityOf = (intent: JsonValue, result: JsonValue, type = CUSTOM): JsonObject => ({
  id: "a-1",
  organizationId: "o-1",
  status: "ACTIVITY_STATUS_COMPLETED",
  type,
  intent,
  result,
  appProofs: [{ scheme: "s" }],
});
const repeated = (activity: JsonObject): JsonObject => ({
  id: "a-1",
  organizationId: "o-1",
  status: "ACTIVITY_STATUS_COMPLETED",
  type: activity["type"]!,
  result: { activity },
});
const pathsOf = (activity: JsonObject): string[] => {
  const faults = foldedNames(copyJson(activity) as JsonObject);
  // Decoding refuses the same ones.
  const decoded = readActivity(copyJson(activity)).faults.map(({ path }) => path);
  expect(decoded).toEqual(expect.arrayContaining(faults.map(({ path }) => path)));
  return faults.map(({ path }) => path);
};

/** An object with the member at the path; `[]` is a list of one. */
function withMember(path: string, value: JsonValue): JsonObject {
  const [name, ...rest] = path.split(".") as [string, ...string[]];
  const inner = rest.length === 0 ? value : withMember(rest.join("."), value);
  return name.endsWith("[]") ? { [name.slice(0, -2)]: [inner] } : { [name]: inner };
}

/** Other spellings of the last name of a path. */
function otherSpellings(path: string): string[] {
  const [holder, name] = [path.split(".").slice(0, -1), path.split(".").at(-1)!];
  const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const all = [
    name.toUpperCase(),
    name[0]!.toUpperCase() + name.slice(1),
    snake,
    snake.replaceAll("_", "-"),
    `_${name}`,
    `${name}-`,
    name.replace("s", "\u017f"),
    name.replace("k", "\u212a"),
  ];
  return [...new Set(all)].filter((other) => other !== name).map((other) => [...holder, other].join("."));
}

const INTENT = [
  "walletId",
  "wallet",
  "wallet.walletId",
  "wallet.accounts",
  "wallet.accounts[].path",
  "accounts",
  "accounts[].path",
  "address",
  "addresses",
];
const RESULT = [
  "walletId",
  "wallet",
  "wallet.walletId",
  "subOrganizationId",
  "r",
  "s",
  "v",
  "signatures",
  "signatures[].r",
  "signatures[].s",
  "signatures[].v",
  "signedTransaction",
];
const ANYWHERE = ["address", "addresses"];
/** By activity type: what its rule reads in the intent and in the result, beside the above. */
const NOTHING_ELSE = { intent: [], result: [] };
const OF_TYPES: Readonly<Record<string, { readonly intent: readonly string[]; readonly result: readonly string[] }>> = {
  [CUSTOM]: NOTHING_ELSE,
  ...Object.fromEntries(Object.values(ACTIVITY_RULES).map(({ type }) => [type, NOTHING_ELSE])),
  ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE: {
    intent: ["name", "value"],
    result: ["features", "features[].name", "features[].value"],
  },
};

const isList = (name: string): boolean => ["accounts", "signatures", "features"].includes(name);
const pathsIn = (names: NamesRead, before = ""): string[] =>
  Object.entries(names).flatMap(([name, inner]) => [
    before + name,
    ...pathsIn(inner, `${before}${name}${isList(name) ? "[]" : ""}.`),
  ]);

describe("the rows of this test", () => {
  it.each(Object.entries(OF_TYPES))("have every name that checks read: %s", (type, { intent, result }) => {
    const names = namesOf(ruleOf(type));
    expect(new Set(pathsIn(names.intent))).toEqual(new Set([...INTENT, ...intent]));
    expect(new Set(pathsIn(names.result))).toEqual(new Set([...RESULT, ...result]));
    expect(pathsIn(RESULT_NAMES_ANYWHERE)).toEqual(ANYWHERE);
  });
});

describe.each(Object.entries(OF_TYPES))("of %s", (type, { intent, result }) => {
  const { intentMember, resultMember } = ruleOf(type);
  const [i, r] = [intentMember ?? "customIntent", resultMember ?? "customResult"];
  const withIntent = (value: JsonObject): JsonObject => activityOf({ [i]: value }, { [r]: {} }, type);
  const withResult = (value: JsonObject): JsonObject => activityOf({ [i]: {} }, { [r]: value }, type);
  // The names that a type reads beside the above have one reader: a type without any stands for all of these.
  const isRead = type === CUSTOM || intent.length + result.length > 0;
  const places = [
    ...[...INTENT, ...intent].map((path) => [`intent.${i}`, path, withIntent] as const),
    ...[...RESULT, ...ANYWHERE, ...result].map((path) => [`result.${r}`, path, withResult] as const),
  ];

  it.each(isRead ? places : [])("another spelling is refused in %s: %s", (before, path, made) => {
    expect(pathsOf(made(withMember(path, "x")))).toEqual([]);
    const read = before.startsWith("intent") ? intent : result;
    const others = otherSpellings(path).filter((other) => ![...read].includes(other));
    expect(others.length).toBeGreaterThan(2);
    for (const other of others) {
      const at = `${before}.${other.replaceAll("[]", "[0]")}`;
      expect(pathsOf(made(withMember(other, "x"))), other).toEqual([at]);
      const name = other.split(".").at(-1)!;
      const inner = made(withMember(path, "x"));
      const repetition = pathsOf(repeated(addBeside(inner, at, name)));
      expect(repetition, other).toEqual([`result.activity.${at}`]);
    }
  });

  it("another spelling of the only member is refused, beside it and in place of it", () => {
    for (const [place, name] of [
      ["intent", i],
      ["result", r],
    ] as const) {
      const good = activityOf({ [i]: {} }, { [r]: {} }, type);
      for (const other of otherSpellings(name)) {
        const beside = { ...good, [place]: { [name]: {}, [other]: null } };
        expect(pathsOf(beside), other).toEqual([`${place}.${other}`]);
        expect(pathsOf(repeated(beside)), other).toEqual([`result.activity.${place}.${other}`]);
        // Without a rule, any name is the one.
        const isNamed = (place === "intent" ? intentMember : resultMember) !== null;
        expect(pathsOf({ ...good, [place]: { [other]: {} } })).toEqual(isNamed ? [`${place}.${other}`] : []);
      }
    }
  });
});

it("in a member under another name than that of its type, other spellings are refused, too", () => {
  const activity = activityOf({ i: { Accounts: [] } }, { r: { WalletId: "w" } }, "ACTIVITY_TYPE_UPDATE_WALLET");
  expect(pathsOf(activity)).toEqual(["intent.i.Accounts", "result.r.WalletId"]);
});

/** Adds the member beside the one that is there. */
function addBeside(activity: JsonObject, path: string, name: string): JsonObject {
  const copy = copyJson(activity) as JsonObject;
  const steps = path
    .slice(0, -name.length - 1)
    .replaceAll("[0]", ".0")
    .split(".");
  const holder = steps.reduce<JsonValue>((value, step) => (value as JsonObject)[step]!, copy) as JsonObject;
  holder[name] = "y";
  return copy;
}

describe("of an activity itself", () => {
  const good = activityOf({ i: {} }, { r: {} });
  it.each(ACTIVITY_MEMBERS.map((name) => [name]))("another spelling is refused: %s", (name) => {
    for (const other of otherSpellings(name)) {
      expect(pathsOf({ ...good, [other]: good[name] ?? "x" }), other).toEqual([other]);
      expect(pathsOf(repeated({ ...good, [other]: good[name] ?? "x" })), other).toEqual([`result.activity.${other}`]);
      expect(pathsOf({ ...repeated(good), [other]: "x" }), other).toEqual([other]);
    }
  });

  it.each(["seconds", "nanos"])("another spelling is refused of the %s of its time", (name) => {
    for (const other of otherSpellings(name))
      expect(pathsOf({ ...good, createdAt: { seconds: "1", nanos: "0", [other]: "2", zone: "0", Zone: "0" } })).toEqual(
        [`createdAt.${other}`],
      );
  });
});

describe("addresses of a result", () => {
  it.each<[string, JsonValue, string]>([
    ["beside the list", { addresses: ["A"], Addresses: ["B"] }, "Addresses"],
    ["in a list of objects", { list: [{ id: 1 }, [{ Address: "A" }]] }, "list[1][0].Address"],
    ["in a map", { byName: { anybody: { ADDRESS: "A" } } }, "byName.anybody.ADDRESS"],
    ["in an address", { addresses: [{ address: "A", ad_dress: "B" }] }, "addresses[0].ad_dress"],
    ["in a wallet", { wallet: { "addre\u017fses": ["A"] } }, "wallet.addre\u017fses"],
    [
      "in a repetition of the repetition",
      { x: { activity: { result: { Address: "A" } } } },
      "x.activity.result.Address",
    ],
  ])("have one spelling %s", (_, value, path) => {
    expect(pathsOf(activityOf({ i: {} }, { r: value }))).toEqual([`result.r.${path}`]);
  });

  it("have one spelling in a second member, and in a result that repeats twice", () => {
    expect(pathsOf(activityOf({ i: {} }, { r: {}, other: { Address: "A" } }))).toEqual(["result.other.Address"]);
    const twice = repeated(repeated(activityOf({ i: {} }, { r: { Address: "A" } })));
    expect(pathsOf(twice)).toEqual(["result.activity.result.activity.result.r.Address"]);
  });
});

describe("two spellings of a name that checks read", () => {
  it("may not be there with two values", () => {
    expect(pathsOf(activityOf({ myIntent: { a: 1 }, MyIntent: { a: 2 } }, { r: {} }))).toEqual(["intent.MyIntent"]);
  });
});

describe("other names are free", () => {
  it("in app proofs, votes and members that no check reads", () => {
    const activity = {
      ...activityOf({ i: {} }, { r: {} }),
      votes: [{ Status: 1, status: 2 }],
      other: { Id: 1, id: 2 },
    };
    expect(pathsOf({ ...activity, appProofs: [{ Scheme: "s", scheme: "s", Type: 1, type: 2 }] })).toEqual([]);
  });
});

it("a name folds as decoders that ignore case, _ and - read it", () => {
  for (const name of ["ADDRESS", "add_ress", "-address_", "addre\u017f\u017f", "addreß", "Addre\u017fs"])
    expect(folded(name)).toBe("address");
  expect(folded("to\u212aen")).toBe("token");
  expect(folded("addres")).not.toBe("address");
});

it("many names cost time in proportion to their number", async () => {
  const members = Object.fromEntries(Array.from({ length: 15_000 }, (_, index) => [`Name${index}`, { a: {}, b: {} }]));
  const activity = copyJson(activityOf({ i: { wallet: members } }, { r: members }));
  const find = (): void => expect(isJsonObject(activity) && foldedNames(activity)).toHaveLength(0);
  expect(await leastCostMs(1000, find)).toBeLessThan(1000);
});
