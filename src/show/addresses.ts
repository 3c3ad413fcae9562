/** The table of addresses: its document, its other formats but for the page, and the exit code. */
import {
  ADDRESS_CLASSES,
  type Acceptable,
  type AddressClass,
  CLASSES,
  UNPLACED,
  type UnplacedKey,
  isAcceptedClass,
  unplacedText,
} from "../addresses/classes.js";
import type { AddressRow } from "../addresses/join.js";
import { ADDRESS_ACTIVITY_TYPES } from "../addresses/lists.js";
import { printableJson } from "../decode/json.js";
import { numbered } from "../report/facts.js";
import { jsonDocument } from "../report/json.js";
import { printable, quoted } from "../report/printable.js";
import { TOOL } from "../version.js";
import { type Block, type Doc, type Row, type Tone, labelled, rows, section, words } from "./doc.js";

/** A row, with the organization whose lists and proofs it is from. */
export type TableRow = AddressRow & { readonly organizationId: string };

export interface AddressResult {
  readonly organizationId: string;
  /** The number of sub-organizations whose addresses are among the rows. Null without `--suborgs`. */
  readonly suborgs: number | null;
  /** The worst class first. */
  readonly rows: readonly TableRow[];
  readonly accepted: readonly Acceptable[];
  /** Keys that may be those of any row. */
  readonly unplaced: readonly UnplacedKey[];
  /** What weakens the deployments whose proofs count. */
  readonly warnings: readonly string[];
  /** Whether activities of all types were asked for. */
  readonly allActivities: boolean;
  /** Addresses of `--address` that no list has. */
  readonly notListed: readonly string[];
  /** What could not be fetched, and why. */
  readonly unfetched: readonly string[];
  readonly policy: { readonly name: string | null; readonly sha256: string | null };
  readonly verifiedAt: Date;
}

/** The exit code of the command. A contradiction holds whatever was not fetched. Any other class may change with it. */
export function tableExitCode(result: AddressResult): 0 | 1 | 3 {
  if (result.rows.some((row) => row.class === "contradicted")) return 1;
  if (result.unfetched.length > 0) return 3;
  return tableFault(result) === null ? 0 : 1;
}

/** Returns the words of the headline for the first fault, or null. */
export function tableFault(result: AddressResult): string | null {
  const { rows, accepted, unfetched, notListed } = result;
  const unplaced = openKeys(result).length;
  const refused = rows.filter((row) => !isAcceptedClass(row.class, accepted)).length;
  if (unfetched.length > 0) return "NOT FETCHED: not everything of";
  if (refused > 0) return `NOT ACCEPTED: ${refused} of`;
  if (unplaced > 0) return `UNPLACED: ${numbered(unplaced, "exported or imported key")} may be of any of`;
  if (notListed.length > 0) return `NOT LISTED: ${notListed.length} of the addresses that were named, beside`;
  return rows.some(({ listed }) => listed) ? null : "NO ADDRESSES: no list has any, beside";
}

/** Returns the unplaced keys that the caller does not accept. */
function openKeys({ unplaced, accepted }: AddressResult): readonly UnplacedKey[] {
  return accepted.includes(UNPLACED) ? [] : unplaced;
}

/** Returns the sentence above the table. */
export function headlineOf(result: AddressResult): string {
  const { organizationId, rows, suborgs } = result;
  const more = suborgs === null ? "" : ` and ${numbered(suborgs, "sub-organization")}`;
  return printable(
    `${tableFault(result) ?? "ACCEPTED:"} ${numbered(rows.length, "row")} of organization ${organizationId}${more}`,
  );
}

/** Returns what the rows do not say. */
export function faultsOf({ unfetched, notListed }: AddressResult): string[] {
  const texts = [...unfetched.map((text) => `not fetched: ${text}`), ...notListed.map((text) => `in no list: ${text}`)];
  return texts.map(printable);
}

/** Returns what makes the exit code, and what no row says. Messages hide a whole address, which looks like a key. */
export function omissionsOf(result: AddressResult): string[] {
  const { rows, unfetched, notListed, warnings } = result;
  // Where addresses were asked for, the lists may have others.
  const none = notListed.length > 0 || rows.some(({ listed }) => listed) ? [] : ["no list has any address"];
  const short = notListed.map((text) => (text.length > 20 ? `${text.slice(0, 10)}...${text.slice(-8)}` : text));
  const unplaced = openKeys(result).map((key) => `${UNPLACED}: ${unplacedText({ ...key, address: null })}`);
  const shown = warnings.map((text) => `warning: ${text}`);
  return [...unfetched, ...unplaced, ...short.map((text) => `in no list: ${text}`), ...none, ...shown];
}

/** Returns what no class says. */
export function limitsOf({ suborgs, unplaced, allActivities }: AddressResult): string[] {
  const types = ADDRESS_ACTIVITY_TYPES.join(", ");
  return [
    ...unplaced.map((key) => printable(`${unplacedText(key)}.`)),
    ...(allActivities
      ? []
      : [
          "What activities of other types did, such as an export by a type of tomorrow " +
            `(--all-activities asks for all). Types asked for: ${types}.`,
        ]),
    "Curve and format are the word of the service. So are imported and exported, unless an activity shows them.",
    "A list can leave an address out. That is noticed only if a proof names it.",
    "That nobody else knows the seed of an address is never proven.",
    ...(suborgs === null ? [] : ["That a sub-organization is yours is not proven."]),
  ];
}

function tableOrigin({ policy, verifiedAt }: AddressResult): [name: string, value: string][] {
  return [
    ["Verified at", verifiedAt.toISOString()],
    ["Verified by", `${TOOL.name} ${TOOL.version}`],
    ["Policy", policy.name ?? "it has no name"],
    ["Policy, SHA-256", policy.sha256 ?? "it was not read from bytes"],
  ];
}

const MOST_ROWS = 20;

interface Group {
  readonly name: AddressClass;
  readonly meaning: string;
  readonly count: number;
  readonly shown: readonly TableRow[];
  /** The number of rows that are left out. */
  readonly left: number;
}

/** Returns the rows of each class that has any, the worst class first. */
function groupsOf({ rows, accepted }: AddressResult, isAll: boolean): Group[] {
  return ADDRESS_CLASSES.flatMap((name) => {
    const own = rows.filter((row) => row.class === name);
    const shown = isAll ? own : own.slice(0, MOST_ROWS);
    const missing = own.filter(({ listed }) => !listed).length;
    const meaning =
      CLASSES[name].meaning +
      (missing > 0 ? `; no list has ${missing} of them` : "") +
      (isAcceptedClass(name, accepted) ? "" : " (not accepted)");
    return own.length === 0 ? [] : [{ name, meaning, count: own.length, shown, left: own.length - shown.length }];
  });
}

/** The document of the table. `rowOf` makes the row of an address. */
export function tableDoc(result: AddressResult, isAll: boolean, rowOf: (row: TableRow) => Row = tableRow): Doc {
  const groups = groupsOf(result, isAll);
  const head: Block[] = [
    { kind: "verdict", text: headlineOf(result), tone: tableFault(result) === null ? "good" : "bad" },
    ...result.warnings.map((text): Block => ({ kind: "warning", text })),
    words("Not proven:"),
    { kind: "list", items: limitsOf(result) },
    ...faultsOf(result).map((text) => words(text)),
  ];
  const counts = groups.map(({ name, count, meaning }): Row => ({ label: name, id: String(count), text: meaning }));
  return {
    sections: [
      { blocks: head },
      { blocks: [rows(counts)] },
      ...groups.map(({ name, shown, left }) => {
        const more = left > 0 ? [{ label: name, text: `and ${left} more: --all shows them` }] : [];
        return { blocks: [rows([...shown.map(rowOf), ...more])] };
      }),
    ],
  };
}

/** The class has its meaning in words. Any other is a contradiction. */
const TONES: Readonly<Partial<Record<AddressClass, Tone>>> = {
  derived: "good",
  exported: "warning",
  imported: "warning",
  service: "quiet",
};

function tableRow(row: TableRow): Row {
  return {
    label: row.class,
    tone: TONES[row.class] ?? "bad",
    text: row.address,
    below: rowFacts(row).map((text) => ({ text })),
  };
}

/** Returns where the address is, when and by whom it was proven, and the reason. */
export function rowFacts(row: TableRow): string[] {
  const { walletId, privateKeyId, path, provenAt, deployment, reason } = row;
  const key = privateKeyId === null ? "a private key that no list has" : `private key ${privateKeyId}`;
  return [
    walletId === null ? key : `wallet ${walletId}, path ${path ?? "unknown"}`,
    ...(provenAt === null ? [] : [`proven ${provenAt} by deployment ${deployment}`]),
    ...(reason === null ? [] : [reason]),
  ].map(printable);
}

const STATED = "Stated by whoever made this file. It carries no evidence. Verify the folder of its evidence yourself: ";
const FOLDER = "bootproof addresses --from FOLDER --organization-id ID --policy yours.json";

/** The document of the table for a page: each address unfolds what it rests on. */
export function tablePage(result: AddressResult, isAll: boolean): Doc {
  const { sections } = tableDoc(result, isAll, pageRow);
  const [head, ...others] = sections;
  const stated = rows([{ label: STATED, text: FOLDER, isCommand: true }]);
  const origin = tableOrigin(result).map(([label, text]): Row => ({ label, text }));
  return {
    sections: [{ blocks: [stated, ...head!.blocks] }, ...others, ...section("How it was made", [rows(origin)])],
  };
}

const SEED = "That nobody else knows the seed is not proven.";

/** Returns the address with the list, activity, proof, enclave and seed that it rests on. */
function pageRow(row: TableRow): Row {
  const { class: name, activityId, provenAt, deployment, reason, listed, curve, addressFormat, createdAt } = row;
  const [place] = rowFacts(row);
  const told = [
    `organization ${row.organizationId}, ${place}`,
    curve,
    addressFormat,
    createdAt && `created ${createdAt}`,
  ];
  const enclave =
    deployment === null
      ? "No deployment of the policy vouches for the address."
      : `The deployment ${quoted(deployment)} of the policy signed the proof.`;
  const isProven = provenAt !== null && (/^(?:imported|exported|derived)$/.test(name) || !listed);
  const seed = name === "derived" && listed ? "Neither imported nor exported, by the service's word." : (reason ?? "");
  const rests: Row[] = [
    ...labelled("List, service's word", listed ? told.filter((text) => text !== null) : ["Not listed."]),
    { label: "Activity, service's word", text: activityId ?? "None was found." },
    { label: "Proof", text: isProven ? `An enclave signed this address at ${provenAt}.` : (reason ?? "None.") },
    { label: "Enclave", text: enclave },
    ...labelled(
      "Seed",
      [seed, SEED].filter((text) => text !== ""),
    ),
  ];
  const below: Row[] = [...tableRow(row).below!, { text: "What it rests on", fold: "closed", below: rests }];
  return { ...tableRow(row), below };
}

export function tableJson(result: AddressResult): string {
  const counts = Object.fromEntries(groupsOf(result, true).map(({ name, count }) => [name, count]));
  const { rows, ...facts } = result;
  const more = { exitCode: tableExitCode(result), notProven: limitsOf(result), ...facts, counts, rows };
  return jsonDocument({ format: "bootproof-addresses/1", tool: TOOL, ...more });
}

export function tableLines({ rows }: AddressResult): string {
  return rows.map((row) => printableJson(`${JSON.stringify(row)}\n`)).join("");
}

const COLUMNS: readonly (keyof TableRow)[] = [
  ...(["class", "address", "walletId", "path", "reason", "organizationId", "privateKeyId", "curve"] as const),
  ...(["addressFormat", "createdAt", "provenAt", "activityId", "deployment", "listed"] as const),
];

export function tableCsv({ rows }: AddressResult): string {
  const lines = [COLUMNS, ...rows.map((row) => COLUMNS.map((name) => cellOf(String(row[name] ?? ""))))];
  return lines.map((cells) => `${cells.join(",")}\n`).join("");
}

/** A spreadsheet would run a cell that begins with one of these, of any width, and may ignore spaces before it. */
const RUN = /^\s*[=+\-@＝＋－＠]/;

function cellOf(value: string): string {
  const text = printable(value);
  const safe = RUN.test(text) ? `'${text}` : text;
  // Spreadsheets of many countries separate cells by semicolons.
  return /[",;]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
