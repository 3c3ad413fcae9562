/** The README of each room of src/: that its files, imports and tables are those of the code. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { DEPLOYMENT_KINDS, PINS, PIN_NAMES } from "../src/appraise/pins.js";
import { EXIT } from "../src/cli/exit-codes.js";
import { QUERY_OPERATIONS, SUBMIT_OPERATIONS } from "../src/client/operations.js";
import { CHANGES, CHANGE_IDS } from "../src/diff/changes.js";
import { MANIFEST_VERSIONS, manifestDraft, manifestEncodings } from "../src/decode/manifest/index.js";
import { COMMITMENTS, COMMITMENT_KINDS } from "../src/verify/commitment.js";

const SRC = fileURLToPath(new URL("../src/", import.meta.url));
const ROOMS = readdirSync(SRC, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

function readmeOf(room: string): string {
  return readFileSync(join(SRC, room, "README.md"), "utf8");
}

function filesOf(room: string): string[] {
  return readdirSync(join(SRC, room), { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => file.endsWith(".ts"))
    .sort();
}

/** The cells of the table whose heading row begins so, row by row, without backticks. */
function tableOf(room: string, firstHeading: string): string[][] {
  const lines = readmeOf(room).split("\n");
  const start = lines.findIndex((line) => line.startsWith(`| ${firstHeading} |`));
  expect(start, `${room}/README.md has a table of ${firstHeading}`).toBeGreaterThan(0);
  const end = lines.findIndex((line, index) => index > start && !line.startsWith("|"));
  return lines.slice(start + 2, end).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("`", "")),
  );
}

describe.each(ROOMS)("src/%s/README.md", (room) => {
  it("lists every file of the room, and no other", () => {
    const listed = tableOf(room, "file").flatMap(([files]) => files!.split(", "));
    expect(listed.sort()).toEqual(filesOf(room));
  });

  it("names everything that the room imports", () => {
    const imported = new Set<string>();
    for (const file of filesOf(room)) {
      const text = readFileSync(join(SRC, room, file), "utf8");
      for (const [, specifier] of text.matchAll(/(?:from|import\() ?"(\.[^"]+)"/g)) {
        const [top, second] = join(room, dirname(file), specifier!).replaceAll("\\", "/").split("/");
        if (top !== room && top !== "..") imported.add(second === undefined ? top!.replace(/\.js$/, ".ts") : top!);
      }
    }
    const [, named] = /\nMay import: (.*?)\n\n/s.exec(readmeOf(room))!;
    expect([...imported].filter((name) => !new RegExp(`[\`/]${name.replace(".", "\\.")}\``).test(named!))).toEqual([]);
  });

  it("begins with two to five sentences on what the room does", () => {
    const [title, first] = readmeOf(room).split("\n\n") as [string, string];
    expect(title).toMatch(new RegExp(`^# ${room}: [^\n]+$`));
    const sentences = first.match(/[^.]\.(?=\s|$)/g) ?? [];
    expect(sentences.length).toBeGreaterThan(1);
    expect(sentences.length).toBeLessThan(6);
  });
});

describe("tables of the rooms' READMEs", () => {
  it("appraise: every pin, its kind and its check, in the order of the rows", () => {
    const rows = PIN_NAMES.map((name) => {
      const { check } = PINS[name];
      const { kinds } = PINS[name];
      return [name, kinds.length === DEPLOYMENT_KINDS.length ? "both" : kinds.join(), check ?? "none"];
    });
    expect(tableOf("appraise", "pin").map(([pin, kind, , check]) => [pin, kind, check])).toEqual(rows);
  });

  it("verify: every kind of commitment, and its consequences", () => {
    const yes = (value: boolean): string => (value ? "yes" : "no");
    const rows = COMMITMENT_KINDS.map((kind) => {
      const { register, signsAppProofs, attestsAnyTime } = COMMITMENTS[kind];
      const [pcr, domain] = register === null ? ["none", ""] : [`PCR${register.pcr}`, register.domain];
      return [kind, pcr, domain, yes(signsAppProofs), yes(attestsAnyTime)];
    });
    expect(tableOf("verify", "kind")).toEqual(rows);
  });

  it("decode: every manifest version, its encodings, and whether it is a draft", () => {
    const heading = readmeOf("decode").match(/^\| field \|(.*)\|$/m)![1]!;
    const versions = MANIFEST_VERSIONS.map((version) => version + (manifestDraft(version) === null ? "" : " (draft)"));
    expect(heading.split("|").map((cell) => cell.trim())).toEqual(versions);
    const names = { borsh: "borsh", json: "JSON" };
    const encodings = MANIFEST_VERSIONS.map((version) =>
      manifestEncodings(version)
        .map((encoding) => names[encoding])
        .join(", "),
    );
    expect(tableOf("decode", "field")[0]!.slice(1)).toEqual(encodings);
  });

  it("client: every documented operation", () => {
    const bare = (cell: string | undefined): string => cell!.replace(/ .*$/, "");
    const submits = tableOf("client", "submit").map(([name]) => bare(name));
    const queries = tableOf("client", "query").map(([name]) => bare(name));
    expect(submits).toEqual(Object.values(SUBMIT_OPERATIONS).map(({ name }) => name));
    expect(queries).toEqual(Object.values(QUERY_OPERATIONS).map(({ name }) => name));
  });

  it("diff: every change and its severity, worst first", () => {
    const rows = CHANGE_IDS.map((id) => {
      const turns = Object.entries(CHANGES[id].means);
      const [first] = turns;
      const severities = turns.map(([turn, { severity }]) => `${turn}: ${severity}`).join(", ");
      return [id, CHANGES[id].title, turns.length === 1 ? first![1].severity : severities];
    });
    expect(tableOf("diff", "change")).toEqual(rows);
  });

  it("cli: every exit code", () => {
    expect(tableOf("cli", "code").map(([code, name]) => [name, Number(code)])).toEqual(Object.entries(EXIT));
  });
});

describe("the rooms", () => {
  it("have a README each", () => {
    expect(ROOMS.length).toBeGreaterThan(8);
    expect(ROOMS.filter((room) => !existsSync(join(SRC, room, "README.md")))).toEqual([]);
  });
});
