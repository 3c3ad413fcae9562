/** Entries that are compared with what the caller expects of them: by line, in files, states, threads and jobs. */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Auditor, type Judge, auditSetting, judgeBatch, localJudge } from "../../src/run/index.js";
import { type AuditEnd, type AuditFilesOptions, ExpectedEntries, auditFiles } from "../../src/run/node.js";
import { parsePolicy } from "../../src/appraise/policy.js";
import { packEvidence } from "../../src/bundle/pack.js";
import { toUtf8 } from "../../src/bytes.js";
import { Forge, LAB_ADDRESS, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { fastTestFolder } from "../support/folder.js";

const folder = fastTestFolder();
let count = 0;
const pathOf = (name: string): string => join(folder, `${name}-${count++}`);

const lab = new Forge();
const AT = new Date("2026-03-04T05:06:07.000Z");
const CHALLENGE = "Zx8_qK3vT1mN7bR5wY9cDa";
const orderOf = (id: string): object => ({
  type: "ORDER",
  timestampMs: String(AT.getTime() + 60_000),
  order: { id },
  nonce: CHALLENGE,
});
const forgeOf = (id: string): ReturnType<typeof forgeEvidence> =>
  forgeEvidence({ lab, at: AT, payloads: [orderOf(id)] as never });
const [one, two] = [forgeOf("1"), forgeOf("2")];
const whole = forgeEvidence({ lab, at: AT });
const setting = auditSetting({
  policy: parsePolicy(JSON.stringify(labPolicy(one.anchorPem, [labDeployment(lab)]))),
  now: new Date(AT.getTime() + 120_000),
});
const lineOf = ({ bootProof, appProofs }: typeof one): string => JSON.stringify({ bootProofs: [bootProof], appProofs });
const digestOf = (entry: string | Uint8Array): string => createHash("sha256").update(entry).digest("hex");
const payloadOf = (id: unknown): object => ({ payload: [{ type: "ORDER", values: { "/order/id": id } }] });
const chunks = async function* (text: string): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < text.length; at += 97) yield Buffer.from(text.slice(at, at + 97));
};
const expectedOf = (...lines: [entry: string, expected: unknown][]): Promise<ExpectedEntries> =>
  ExpectedEntries.read(
    chunks(lines.map(([entry, expected]) => JSON.stringify({ entry: digestOf(entry), expected })).join("\n")),
  );

describe("an auditor with an expectation", async () => {
  const auditor = await Auditor.of(setting);
  const judged = async (entry: unknown, expected: unknown): Promise<string> => {
    const bytes = entry instanceof Uint8Array ? entry : toUtf8(JSON.stringify(entry));
    const { verdict, failed, reason } = await auditor.judge(bytes, expected as never);
    return [verdict, ...failed, ...(reason === undefined ? [] : [reason])].join(" ");
  };
  const evidence = { bootProofs: [one.bootProof], appProofs: one.appProofs };
  const { organizationId, address } = LAB_ADDRESS;

  it.each([
    ["its payload", evidence, payloadOf("1"), "verified"],
    ["another payload", evidence, payloadOf("2"), "rejected app.request"],
    ["a payload, of boot proofs alone", one.bootProof, payloadOf("1"), "rejected app.request"],
    ["a payload, of a list of boot proofs", [one.bootProof], payloadOf("1"), "rejected app.request"],
    ["a bundle's payload", packEvidence(evidence), payloadOf("1"), "verified"],
    ["another payload, of a bundle", packEvidence(evidence), payloadOf("2"), "rejected app.request"],
    [
      "a payload, of a bare document",
      one.document,
      payloadOf("1"),
      "rejected app.request expected: needs app proofs or an activity to compare with; the entry is only a document",
    ],
    [
      "an organization, of boot proofs alone",
      one.bootProof,
      { organizationId },
      "rejected app.request expected: needs app proofs or an activity to compare with; " +
        "the evidence has only boot proofs",
    ],
    [
      "an activity, of app proofs",
      evidence,
      { organizationId, id: "a" },
      "rejected activity.request expected.id: needs an activity, but the evidence has none",
    ],
    [
      "a payload without an organization, of an activity",
      { bootProofs: [whole.bootProof], activity: whole.activity },
      payloadOf("1"),
      "rejected activity.request expected.organizationId: expected a non-empty string, since there is an activity",
    ],
    ["an organization", { bootProofs: [whole.bootProof], activity: whole.activity }, { organizationId }, "verified"],
    [
      "another organization",
      { bootProofs: [whole.bootProof], activity: whole.activity },
      { organizationId: "another" },
      "rejected activity.request",
    ],
    [
      "an address",
      { bootProofs: [whole.bootProof], appProofs: whole.appProofs },
      { organizationId, addresses: [address] },
      "verified",
    ],
    [
      "another address",
      { bootProofs: [whole.bootProof], appProofs: whole.appProofs },
      { organizationId, addresses: ["0x00"] },
      "rejected app.request",
    ],
  ])("compares %s", async (_, entry, expected, result) => {
    expect(await judged(entry, expected)).toBe(result);
    // The expectation of one entry is not that of the next.
    expect(await judged({ bootProofs: [two.bootProof], appProofs: two.appProofs }, undefined)).toBe("verified");
  });

  it("finds the setting's boot proof of a signing half", async () => {
    const boots = [one, two].map(({ bootProof }) => JSON.stringify(bootProof));
    const under = await Auditor.of({ ...setting, bootProofs: boots });
    for (const [at, { appProofs }] of [one, two].entries()) {
      const [proof] = appProofs as unknown as [{ publicKey: string }];
      const half = { ...proof, publicKey: proof.publicKey.slice(130).toUpperCase() };
      const verdict = async (id: string): Promise<string> =>
        (await under.judge(toUtf8(JSON.stringify(half)), payloadOf(id) as never)).verdict;
      expect([await verdict(String(at + 1)), await verdict("3")]).toEqual(["verified", "rejected"]);
      const other = { ...half, publicKey: proof.publicKey.slice(0, 130) };
      expect((await under.judge(toUtf8(JSON.stringify(other)))).reason).toContain("boot proof for its key");
    }
  });

  it("throws for an invalid expectation, and a batch makes the entry malformed", async () => {
    const entry = toUtf8(JSON.stringify(evidence));
    await expect(auditor.judge(entry, {})).rejects.toThrow(TypeError);
    const texts = ["{", '{"payload":[]}', JSON.stringify(payloadOf("1")), null, '{"organizationId":"o","more":1}'];
    const { results } = await judgeBatch(auditor, {
      entries: texts.map(() => entry),
      expected: texts,
    });
    expect(results.map(({ verdict }) => verdict)).toEqual([
      "malformed",
      "malformed",
      "verified",
      "verified",
      "malformed",
    ]);
    expect(results[1]!.reason).toBe("its expectation: expected.payload: empty: expected at least one");
    await expect(judgeBatch(auditor, { entries: [entry], expected: [] })).rejects.toThrow(TypeError);
  });
});

describe("a file of expectations", () => {
  const entry = "a".repeat(64);
  const line = (expected: unknown, more = {}): string => JSON.stringify({ entry, expected, ...more });
  const faultsOf = async (text: string): Promise<string[]> =>
    ExpectedEntries.read(chunks(text)).then(
      () => [],
      (error: { name: string; code: string; faults: { path: string; message: string }[] }) => {
        expect([error.name, error.code]).toEqual(["MalformedError", "expected"]);
        return error.faults.map(({ path, message }) => `${path}: ${message}`);
      },
    );
  const good = payloadOf("1");

  it.each([
    ["", [": the file is empty: the program"]],
    ["{", ["line 1: expected a member name (column 2)"]],
    ["\n", ["line 1: "]],
    [`${line(good)}\n\n`, ["line 2: "]],
    ["[]", ["line 1: expected an object, got an array"]],
    [line(good, { more: 1 }), ["line 1: more: unknown"]],
    [line(good).replace("aaaa", "aaa"), ["line 1: entry: 63 hex digits, expected 64"]],
    [`{"expected":${JSON.stringify(good)}}`, ["line 1: entry: expected hex of 64 digits, got nothing"]],
    [`{"entry":"${entry}"}`, ["line 1: expected: expected an object"]],
    [line([]), ["line 1: expected: expected an object"]],
    [line({}), ["line 1: expected.organizationId: expected a string, got nothing"]],
    [line({ ...good, more: 1 }), ["line 1: expected.more: unknown; known are organizationId"]],
    [
      line(payloadOf({})),
      ["line 1: expected.payload[0].values./order/id: expected a string, finite number, boolean or null"],
    ],
    [line({ payload: [] }), ["line 1: expected.payload: empty: expected at least one"]],
    [
      line(payloadOf(7)).replace(":7", ":9007199254740993"),
      ["line 1: expected.payload[0].values./order/id: 9007199254740993: not exact as a double"],
    ],
    [line({ organizationId: "o", requestedAt: "yesterday" }), ["line 1: expected.requestedAt: expected a valid Date"]],
    [`${line(good)}\n${line(good)}`, ["line 2: entry: the same as in line 1: expected one line for each entry"]],
    [`${line(good)}\r\n${line(good).replace(entry, entry.toUpperCase())}`, ["line 2: entry: the same as in line 1"]],
    [`{\n${line(good)}\n[]`, ["line 1: ", "line 3: expected an object"]],
    [" ".repeat(1024 * 1024 + 1), ["line 1: longer than 1048576 bytes"]],
  ])("that is malformed is refused with line and path: %#", async (text, wanted) => {
    const faults = await faultsOf(text);
    expect(faults.length).toBe(wanted.length);
    wanted.forEach((start, at) => expect(faults[at]).toContain(start));
  });

  it("has requestedAt as RFC 3339, milliseconds, or the decimal text of a request", async () => {
    for (const requestedAt of [
      "2026-03-04T05:06:07Z",
      "2026-03-04T06:06:07+01:00",
      AT.getTime(),
      String(AT.getTime()),
    ]) {
      const expected = await expectedOf(["x", { organizationId: "o", requestedAt }]);
      const { text } = expected.of(digestOf("x"))!;
      expect(Number((JSON.parse(text) as { requestedAt: unknown }).requestedAt)).toBe(AT.getTime());
    }
  });
});

describe("an audit of files with expectations", () => {
  const [first, second] = [lineOf(one), lineOf(two)];
  const altered = first.replace("{", "{ ");
  const inputOf = (...lines: string[]): string => {
    const path = pathOf("input");
    writeFileSync(path, lines.join("\n"));
    return path;
  };
  const judge = (): Promise<Judge> => localJudge(setting);
  const audited = async (
    lines: string[],
    expected: ExpectedEntries,
    more: Partial<AuditFilesOptions> = {},
  ): Promise<{ end: AuditEnd; verdicts: string[] }> => {
    let out = "";
    const end = await auditFiles({
      inputs: [inputOf(...lines)],
      setting,
      expected,
      judge,
      batchEntries: 1,
      out: (text) => void (out += text),
      ...more,
    });
    const results = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { event?: string; verdict: string; expected?: false })
      .filter(({ event }) => event === undefined);
    return { end, verdicts: results.map((each) => each.verdict + (each.expected === false ? " without" : "")) };
  };

  it("compares each entry with the line of its SHA-256, whatever their order", async () => {
    const expected = await expectedOf([second, payloadOf("2")], [first, payloadOf("1")]);
    const { end, verdicts } = await audited([first, second], expected);
    expect(verdicts).toEqual(["verified", "verified"]);
    expect(end).toMatchObject({ unmet: { count: 0, first: [] }, reported: { withoutExpected: 0 } });
    const swapped = await expectedOf([second, payloadOf("1")], [first, payloadOf("2")]);
    expect((await audited([first, second], swapped)).verdicts).toEqual(["rejected", "rejected"]);
  });

  it("hashes a line without its line feed and the carriage return before it", async () => {
    const expected = await expectedOf([first, payloadOf("2")]);
    expect((await audited([`${first}\r`, ""], expected)).verdicts).toEqual(["rejected"]);
  });

  it("names lines that no entry had, and entries without a line: one byte more is another entry", async () => {
    const expected = await expectedOf([first, payloadOf("2")], [second, payloadOf("2")], ["x", payloadOf("3")]);
    const { end, verdicts } = await audited([altered, second, second], expected);
    expect(verdicts).toEqual(["verified without", "verified", "verified"]);
    expect(end.reported.withoutExpected).toBe(1);
    expect(end.unmet).toEqual({
      count: 2,
      first: [
        { line: 1, entry: digestOf(first) },
        { line: 3, entry: digestOf("x") },
      ],
    });
  });

  it("takes no expectation from an entry", async () => {
    const brought = JSON.stringify({ ...(JSON.parse(first) as object), expected: payloadOf("1") });
    expect((await audited([brought], await expectedOf([first, payloadOf("1")]))).verdicts).toEqual([
      "malformed without",
    ]);
  });

  it("says nothing of lines where it stopped early, and takes ExpectedEntries only", async () => {
    const expected = await expectedOf([first, payloadOf("2")], [second, payloadOf("2")]);
    const { end } = await audited([first, second], expected, { failFast: true });
    expect([end.end, end.unmet]).toEqual(["failed", null]);
    await expect(audited([first], {} as never)).rejects.toThrow("options.expected: expected an ExpectedEntries");
  });
});
