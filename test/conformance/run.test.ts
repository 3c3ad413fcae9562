/** The runner: this package through it as it is built, and commands that do not keep the protocol. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, describe, expect, it } from "vitest";
import { readIndex } from "./folders.js";
import { IS_LONG } from "../support/long.js";
import { type Result, results, run, total } from "./verifiers.js";
import { CORPUS, unpack } from "./unpack.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "bootproof-conformance-"));
const ROOT = join(scratch, "corpus");
unpack(CORPUS, ROOT);
afterAll(() => rmSync(scratch, { recursive: true }));

/** The sources answer every case in corpus.test.ts. A release runs `npm run conformance`, too. */
const EACH = IS_LONG ? 1 : 8;

describe("this package, as it is built", () => {
  it(`agrees with every case, or here with one of ${EACH}`, async () => {
    const names = readIndex(ROOT).cases.map(({ name }) => name);
    const some = smallCorpus(
      "some",
      names.filter((_, at) => at % EACH === 0),
    );
    const { code, stdout } = await results(join(HERE, "bootproof.mjs"), "--strict", "--corpus", some);
    expect(total(stdout)).toEqual([Math.ceil(names.length / EACH), 0, 0, 0, 0]);
    expect(code).toBe(0);
  });
});

/** One to refuse, and one to accept without a policy. */
const TWO = ["genuine: app proof, a bit of s turned over", "accepted: genuine: app proof, as it was found"];

function smallCorpus(called = "small", names: readonly string[] = TWO): string {
  const corpus = join(scratch, called);
  mkdirSync(corpus, { recursive: true });
  const index = readIndex(ROOT);
  const cases = names.map((name) => index.cases.find((one) => one.name === name)!);
  for (const { folder } of cases) cpSync(join(ROOT, folder), join(corpus, folder), { recursive: true });
  cpSync(join(ROOT, "common"), join(corpus, "common"), { recursive: true });
  writeFileSync(join(corpus, "index.json"), JSON.stringify({ ...index, cases }));
  return corpus;
}

/** A verifier that answers each case with the texts in turn. */
function answering(...answers: unknown[]): string[] {
  const texts = JSON.stringify(answers.map((one) => (typeof one === "string" ? one : JSON.stringify(one))));
  const lines = 'require("readline").createInterface({input:process.stdin})';
  return ["--", process.execPath, "-e", `const a=${texts};let i=0;${lines}.on("line",()=>console.log(a[i++]))`];
}

/** A row for {@link counted}: the answers to a corpus of two cases, and how many are of each outcome. */
type Counted = [name: string, answers: readonly [unknown, unknown], counts: readonly number[]];

/** Of one run, which asks the two cases once for each row. */
async function counted(corpus: string, rows: readonly Counted[]): Promise<[name: string, counts: number[]][]> {
  const [index, file] = [readIndex(corpus), join(scratch, "counted.json")];
  const many = `${corpus}-many`;
  cpSync(corpus, many, { recursive: true });
  writeFileSync(join(many, "index.json"), JSON.stringify({ ...index, cases: rows.flatMap(() => index.cases) }));
  const { code, stdout } = await run("--corpus", many, "--json", file, ...answering(...rows.flatMap((row) => row[1])));
  const results = JSON.parse(readFileSync(file, "utf8")) as Result[];
  const countsOf = (some: readonly Result[]): number[] =>
    OUTCOMES.map((outcome) => some.filter((one) => one.outcome === outcome).length);
  expect([total(stdout), code]).toEqual([countsOf(results), 1]);
  return rows.map(([name], at) => [name, countsOf(results.slice(2 * at, 2 * at + 2))]);
}
const OUTCOMES = ["agreed", "other reasons", "false accepts", "false rejects", "unsupported"];

describe("the runner", () => {
  const corpus = smallCorpus();
  const rejected = { verdict: "rejected", failed: ["app.signature"] };
  const authentic = { verdict: "authentic", failed: [] };

  const ROWS: readonly Counted[] = [
    ["what is expected", [rejected, authentic], [2, 0, 0, 0, 0]],
    ["verdicts alone", [{ verdict: "rejected" }, { verdict: "authentic" }], [2, 0, 0, 0, 0]],
    ["an id more", [{ ...rejected, failed: ["app.key", "app.signature"] }, authentic], [1, 1, 0, 0, 0]],
    ["an id fewer", [{ ...rejected, failed: [] }, authentic], [1, 1, 0, 0, 0]],
    ["malformed for rejected", [{ verdict: "malformed" }, authentic], [1, 1, 0, 0, 0]],
    ["a false accept", [authentic, authentic], [1, 0, 1, 0, 0]],
    ["verified without a policy", [rejected, { verdict: "verified" }], [1, 0, 1, 0, 0]],
    ["a false reject", [rejected, rejected], [1, 0, 0, 1, 0]],
    ["malformed for authentic", [rejected, { verdict: "malformed" }], [1, 0, 0, 1, 0]],
    ["unsupported", [rejected, { verdict: "unsupported", reason: "none" }], [1, 0, 0, 0, 1]],
  ];
  it("counts each answer", async () => {
    expect(await counted(corpus, ROWS)).toEqual(ROWS.map(([name, , counts]) => [name, counts]));
  });

  describe("for signed policies", () => {
    const index = readIndex(ROOT);
    const names = ["signed policy: a fork at the state's version", "accepted: signed policy: three versions"];
    const small = smallCorpus("signed", names);
    const refused = { verdict: "refused", code: "fork" };
    const { folder } = index.cases.find(({ name }) => name === names[1])!;
    const inForce = JSON.parse(readFileSync(join(ROOT, folder, "expected.json"), "utf8")) as Record<string, unknown>;
    const { version, sha256, current } = inForce;

    const SIGNED: readonly Counted[] = [
      ["what is expected", [refused, inForce], [2, 0, 0, 0, 0]],
      ["no more than the version", [refused, { verdict: "in-force", version, sha256, current }], [2, 0, 0, 0, 0]],
      ["another code", [{ ...refused, code: "version" }, inForce], [1, 1, 0, 0, 0]],
      ["a refused feed in force", [inForce, inForce], [1, 0, 1, 0, 0]],
      ["a refused feed in force, and expired", [{ ...inForce, current: "fail" }, inForce], [1, 1, 0, 0, 0]],
      ["another version", [refused, { ...inForce, version: 2 }], [1, 0, 1, 0, 0]],
      ["another payload", [refused, { ...inForce, sha256: "00" }], [1, 0, 1, 0, 0]],
      ["another state", [refused, { ...inForce, state: null }], [1, 1, 0, 0, 0]],
      ["a warning more", [refused, { ...inForce, current: "warn" }], [1, 1, 0, 0, 0]],
      ["expired, and is not", [refused, { ...inForce, current: "fail" }], [1, 0, 0, 1, 0]],
      ["a good feed refused", [refused, refused], [1, 0, 0, 1, 0]],
      ["a verdict on evidence", [{ verdict: "verified" }, { verdict: "rejected" }], [0, 0, 1, 1, 0]],
    ];
    it("counts each answer", async () => {
      expect(await counted(small, SIGNED)).toEqual(SIGNED.map(([name, , counts]) => [name, counts]));
    });

    it.each([
      ["in-force without a version", { verdict: "in-force", sha256, current }, "in-force: expected"],
      ["refused without a code", { verdict: "refused" }, "refused: expected a code"],
    ])("refuses %s", async (_, answer, says) => {
      const { stderr, code } = await run("--corpus", small, ...answering(answer, answer));
      expect(stderr).toContain(says);
      expect(code).toBe(2);
    });
  });

  it.each([
    ["another reason", { verdict: "malformed" }],
    ["unsupported", { verdict: "unsupported", reason: "none" }],
  ])("is strict with %s on demand", async (_, answer) => {
    expect((await run("--corpus", corpus, "--strict", ...answering(answer, authentic))).code).toBe(1);
  });

  it.each([
    ["an answer that is not JSON", ["ok", authentic], "the answer is not JSON"],
    ["null", ["null", authentic], "none of verified"],
    ["another verdict", [{ verdict: "good" }, authentic], "none of verified"],
    ["ids that are no list", [{ verdict: "rejected", failed: "app.signature" }, authentic], "a list of ids"],
    ["unsupported for no reason", [{ verdict: "unsupported" }, authentic], "expected a reason"],
  ])("stops at %s", async (_, answers, says) => {
    const { code, stderr } = await run("--corpus", corpus, ...answering(...answers));
    expect(stderr).toContain(says);
    expect(code).toBe(2);
  });

  it.each([
    ["ends early", "60", [process.execPath, "-e", "process.exit(3)"], "it ended (3)"],
    ["is not there", "60", [join(scratch, "nothing")], "could not be started"],
    ["is silent", "0.5", [process.execPath, "-e", "setInterval(() => {}, 1000)"], "no answer within 0.5 s"],
  ])("stops at a command that %s", async (_, timeout, command, says) => {
    const { code, stderr } = await run("--corpus", corpus, "--timeout", timeout, "--", ...command);
    expect(stderr).toContain(says);
    expect(code).toBe(2);
  });

  it.each([[["--corpus", corpus]], [["--what", "--", "true"]], [["--timeout", "soon", "--", "true"]], [["--"]]])(
    "wants to be called as it says: %o",
    async (args) => {
      expect((await run(...args)).code).toBe(2);
    },
  );

  it("refuses a corpus of another format", async () => {
    const other = join(scratch, "other");
    mkdirSync(other);
    writeFileSync(join(other, "index.json"), JSON.stringify({ format: "bootproof-conformance/2", cases: [] }));
    const { code, stderr } = await run("--corpus", other, ...answering(rejected));
    expect(stderr).toContain("another format");
    expect(code).toBe(2);
  });

  it("shows each difference", async () => {
    const { stdout } = await run("--corpus", corpus, ...answering(authentic, rejected));
    expect(stdout).toContain("false accept  app-proof/genuine-app-proof-a-bit-of-s-turned-over");
    expect(stdout).toContain("expected rejected: app.signature\n  answered authentic");
    expect(stdout).toContain("false reject  app-proof/accepted-genuine-app-proof-as-it-was-found");
  });

  it("takes the answers that their schema takes", () => {
    const schema = JSON.parse(readFileSync(join(ROOT, "schemas/answer.schema.json"), "utf8")) as object;
    const fits = new Ajv2020().compile(schema);
    expect([rejected, authentic, { verdict: "unsupported", reason: "x" }].every((one) => fits(one))).toBe(true);
    expect([{}, { verdict: "good" }, { verdict: "unsupported" }].some((one) => fits(one))).toBe(false);
  });
});

describe("the document's example in Python", () => {
  const python = "python3";
  const block = /```python\n(.*?)```/s.exec(readFileSync(join(ROOT, "README.md"), "utf8"))![1]!;
  const there = spawnSync(python, ["--version"]).status === 0;

  it.runIf(there)("keeps the protocol", async () => {
    const file = join(scratch, "verifier.py");
    writeFileSync(file, block);
    const { code, stderr, stdout } = await run("--corpus", smallCorpus(), "--", python, file);
    expect(stderr).toBe("");
    expect(total(stdout)).toEqual([1, 0, 0, 1, 0]);
    expect(code).toBe(1);
  });
});
