/** The corpus is whole, says what its tables say, and the library answers as it expects. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, describe, expect, it } from "vitest";
import { CHECK_IDS, type CheckId } from "../../src/checks.js";
import * as library from "../../src/index.js";
import * as signedPolicy from "../../src/signed-policy/index.js";
import { certificatePem } from "../../src/verify/trust-anchor.js";
import { vectorFiles } from "../support/vectors.js";
import { type Judged, judgeCase } from "./adapter.mjs";
import type { SignedExpected } from "./case.js";
import { aboutOf, allCases, folderOf, sha256 } from "./corpus.js";
import { judgeFolder } from "./opinion.mjs";
import { commonOf, foldersIn, readIndex, sizeOf } from "./folders.js";
import { pack } from "./pack.js";
import { CORPUS, type CategoryFile, readCategories, unpack } from "./unpack.mjs";

const scratch = mkdtempSync(join(tmpdir(), "bootproof-corpus-"));
afterAll(() => rmSync(scratch, { recursive: true }));
const ROOT = join(scratch, "corpus");
unpack(CORPUS, ROOT);
const read = (path: string): Uint8Array => readFileSync(join(ROOT, path));
const readJson = <T>(path: string): T => JSON.parse(Buffer.from(read(path)).toString()) as T;
const index = readIndex(ROOT);
const expectedOf = (folder: string): Judged => readJson(`${folder}/expected.json`);
const signedExpected = (folder: string): SignedExpected => readJson(`${folder}/expected.json`);
const isSigned = ({ category }: { readonly category: string }): boolean => category === "signed-policy";
const evidence = index.cases.filter((one) => !isSigned(one));
const signedPolicies = index.cases.filter(isSigned);
const inputOf = (folder: string) => readJson<Record<string, unknown>>(`${folder}/input.json`);
/** Checks that nothing offline makes fail, each with the reason. */
const SIGSTORE = "bundles are for a Sigstore library, whose corpus is sigstore-conformance: test/attacks has our rows";
const NOT_IN_CORPUS: Readonly<Partial<Record<CheckId, string>>> = {
  "chain.revocation": "the corpus has no revocation lists: test/verify/revocation.test.ts",
  "provenance.bundle": SIGSTORE,
  "provenance.signer": SIGSTORE,
  "provenance.subject": SIGSTORE,
};

describe("the corpus", () => {
  it("has every case of its tables, and no others (node test/conformance/make.mjs)", () => {
    const indexed = index.cases.map(({ name, folder, category, origin, from, about }) => {
      return { name, folder, category, origin, from, about };
    });
    // The index has one category after the other, each in the order of the tables.
    const all = allCases().sort((a, b) => (a.category < b.category ? -1 : Number(a.category > b.category)));
    expect(index.cases.map(({ name }) => name)).toEqual(all.map(({ name }) => name));
    const made = all.map((one) => {
      const { name, category, origin, from } = one;
      const row = { name, folder: folderOf(one), category, origin, from, about: aboutOf(one) };
      if (one.category === "signed-policy") {
        expect(signedExpected(folderOf(one)), name).toEqual(one.expected());
        return row;
      }
      const { failed, verdict } = expectedOf(folderOf(one));
      expect(verdict, name).toBe(one.verdict);
      const wanted = CHECK_IDS.filter((id) => one.failed.includes(id));
      expect(failed, name).toEqual(one.more === true ? expect.arrayContaining(wanted) : wanted);
      return row;
    });
    expect(indexed).toEqual(made);
    expect(index.cases.length).toBeGreaterThanOrEqual(300);
  });

  it("has no folder and no file that the index does not name, each as it was", () => {
    expect(foldersIn(ROOT).sort()).toEqual(index.cases.map(({ folder }) => folder).sort());
    expect(readdirSync(join(ROOT, "common")).map((name) => `common/${name}`)).toEqual(Object.keys(index.common));
    for (const { folder, files } of index.cases) {
      expect(readdirSync(join(ROOT, folder)).sort(), folder).toEqual(Object.keys(files).sort());
      for (const [name, hash] of Object.entries(files)) expect(sha256(read(`${folder}/${name}`)), folder).toBe(hash);
    }
    for (const [path, hash] of Object.entries(index.common)) expect(sha256(read(path)), path).toBe(hash);
  });

  it("names every file of a case in its input, and has once what is in several", () => {
    const used = new Set<string>();
    for (const { folder, files } of index.cases) {
      const text = JSON.stringify(inputOf(folder));
      for (const name of Object.keys(files))
        if (!["input.json", "expected.json"].includes(name)) expect(text, folder).toContain(`"${name}"`);
      commonOf(ROOT, folder).forEach((path) => used.add(path));
    }
    expect([...used].sort()).toEqual(Object.keys(index.common));
  });

  it("fits its schemas", () => {
    const ajv = new Ajv2020({ allErrors: true });
    const names = ["input", "expected", "index", "signed-policy-input", "signed-policy-expected"];
    const [input, expected, whole, signedInput, signedResult] = names.map((name) =>
      ajv.compile(readJson(`schemas/${name}.schema.json`)),
    );
    expect(whole!(index) ? [] : whole!.errors).toEqual([]);
    for (const one of index.cases) {
      const { folder } = one;
      const [ofInput, ofResult] = isSigned(one) ? [signedInput!, signedResult!] : [input!, expected!];
      expect(ofInput(inputOf(folder)) ? [] : ofInput.errors, folder).toEqual([]);
      expect(ofResult(expectedOf(folder)) ? [] : ofResult.errors, folder).toEqual([]);
    }
    const refused = { verdict: "refused", code: "fork" };
    expect([refused, { ...refused, code: "other" }, { verdict: "in-force" }].map((one) => signedResult!(one))).toEqual([
      true,
      false,
      false,
    ]);
    const { folder } = index.cases[0]!;
    expect(input!({ ...inputOf(folder), more: 1 })).toBe(false);
    expect(input!({ ...inputOf(folder), now: "today" })).toBe(false);
    expect(expected!({ verdict: "rejected", failed: [], warned: [] })).toBe(false);
    expect(whole!({ ...index, format: "bootproof-conformance/2" })).toBe(false);
  });

  it("makes every check fail that can, offline", () => {
    const failing = new Set(evidence.flatMap(({ folder }) => expectedOf(folder).failed));
    if (signedPolicies.some(({ folder }) => isInForce(folder, "fail"))) failing.add("policy.current");
    // Tokens have a file of cases of their own: test/conformance/token.test.ts.
    const ids = CHECK_IDS.filter((id) => !id.startsWith("token."));
    expect(ids.filter((id) => !failing.has(id))).toEqual(Object.keys(NOT_IN_CORPUS));
  });

  it("accepts and refuses in every category, of each root", () => {
    for (const category of new Set(evidence.map((one) => one.category)))
      for (const root of ["aws", "lab"].filter((name) => category !== "path" || name === "lab")) {
        const verdicts = index.cases
          .filter((one) => one.category === category && one.root === root)
          .map(({ folder }) => expectedOf(folder).verdict);
        expect(verdicts, `${category} ${root}`).toContain("rejected");
        expect(verdicts.includes("verified") || verdicts.includes("authentic"), `${category} ${root}`).toBe(true);
      }
  });

  it("has every code of a refused signed policy, and every status of one in force", () => {
    const codes = signedPolicies.map(({ folder }) => signedExpected(folder)).filter((one) => one.verdict === "refused");
    const known = ["fetch", "fork", "malformed", "name", "previous", "signatures", "state", "version"];
    expect([...new Set(codes.map(({ code }) => code))].sort()).toEqual(known);
    for (const current of ["pass", "warn", "fail"])
      expect(signedPolicies.filter(({ folder }) => isInForce(folder, current)).length, current).toBeGreaterThan(3);
    expect(signedPolicies.length).toBeGreaterThanOrEqual(80);
  });

  it("comes from files that are here", () => {
    const files = vectorFiles();
    expect(index.cases.flatMap(({ from }) => from).filter((file) => !files.includes(file))).toEqual([]);
    expect(index.cases.filter(({ origin, from }) => (from.length === 0) !== (origin === "forged"))).toEqual([]);
  });

  it("stays small", () => {
    expect(sizeOf(CORPUS)).toBeLessThan(12_500_000);
  });
});

describe("the file of a category", () => {
  const schema = readJson<object>("schemas/category.schema.json");

  /** A corpus of one case, changed. */
  function changed(change: (file: CategoryFile) => unknown): string {
    const root = mkdtempSync(join(scratch, "changed-"));
    const file = structuredClone(readCategories(CORPUS).find(({ category }) => category === "document")!);
    const small = { ...file, cases: file.cases.filter(({ pieces }) => "document.base64" in pieces).slice(0, 1) };
    writeFileSync(join(root, "document.json"), JSON.stringify(change(small)));
    return root;
  }

  it("is what packing the folders writes, byte by byte", () => {
    const again = join(scratch, "again");
    mkdirSync(again);
    pack(ROOT, again);
    const names = readdirSync(CORPUS).filter((name) => name.endsWith(".json"));
    expect(names).toEqual([...new Set(index.cases.map(({ category }) => `${category}.json`))].sort());
    for (const name of names)
      expect(readFileSync(join(again, name)).equals(readFileSync(join(CORPUS, name))), name).toBe(true);
  });

  it("fits its schema", () => {
    const fits = new Ajv2020().compile(schema);
    for (const file of readCategories(CORPUS)) expect(fits(file) ? [] : fits.errors, file.category).toEqual([]);
    expect(fits({ ...readCategories(CORPUS)[0]!, cases: [{}] })).toBe(false);
  });

  it("holds what is repeated in a long text once", () => {
    const long = signedPolicies.find(({ name }) => name.endsWith("a feed of 8 MiB"))!;
    const packed = readCategories(CORPUS).find(({ category }) => category === "signed-policy")!;
    const piece = packed.cases.find(({ folder }) => folder === long.folder)!.pieces["feed.jsonl"];
    expect(JSON.stringify(piece).length).toBeLessThan(10_000);
    expect(read(`${long.folder}/feed.jsonl`)).toHaveLength(8 * 1024 * 1024);
  });

  it("holds as base64 what is not text", () => {
    const root = changed((file) => file);
    const [from, packed, to] = ["bytes", "packed", "bytes again"].map((name) => join(root, name));
    unpack(root, from!);
    const { folder } = readIndex(from!).cases[0]!;
    writeFileSync(join(from!, folder, "document.base64"), Buffer.of(0xff, 0x00, 0xc3));
    mkdirSync(packed!);
    pack(from!, packed!);
    expect(readCategories(packed!)[0]!.cases[0]!.pieces["document.base64"]).toMatchObject({ base64: "/wDD" });
    unpack(packed!, to!);
    expect([...readFileSync(join(to!, folder, "document.base64"))]).toEqual([0xff, 0x00, 0xc3]);
  });

  it.each<[what: string, change: (file: CategoryFile) => unknown, says: string]>([
    ["a piece that was changed", (file) => withPiece(file, { text: "other" }), "SHA-256"],
    ["a folder above its own", (file) => withFolder(file, "../above"), "not a path of a corpus"],
    ["another format", (file) => ({ ...file, format: "bootproof-conformance-category/2" }), "another format"],
  ])("is refused with %s", (_, change, says) => {
    const root = changed(change);
    expect(() => unpack(root, join(root, "to"))).toThrow(says);
  });

  it("is not unpacked over other files", () => {
    expect(() => unpack(CORPUS, ROOT)).toThrow("not empty");
    expect(existsSync(join(CORPUS, "index.json"))).toBe(false);
  });
});

function isInForce(folder: string, current: string): boolean {
  const expected = signedExpected(folder);
  return expected.verdict === "in-force" && expected.current === current;
}

const withFolder = (file: CategoryFile, folder: string) => ({
  ...file,
  cases: file.cases.map((one) => ({ ...one, folder })),
});

const withPiece = (file: CategoryFile, change: object) => ({
  ...file,
  cases: file.cases.map((one) => ({
    ...one,
    pieces: { "document.base64": { ...one.pieces["document.base64"], ...change } },
  })),
});

describe("the library", () => {
  // One test for them all: of a thousand, the bookkeeping would take longer than some of the answers.
  it("answers each case as it expects", async () => {
    for (const { folder } of index.cases)
      expect(await judgeCase({ ...library, ...signedPolicy }, join(ROOT, folder)), folder).toEqual(expectedOf(folder));
  });

  it("and a verifier written from the specification alone agree on signed policies", () => {
    for (const { folder } of signedPolicies)
      expect(judgeFolder(join(ROOT, folder)), folder).toEqual(signedExpected(folder));
  });

  it("finds in policies the very trust anchors that stand beside them", () => {
    for (const { folder } of evidence) {
      const { policy, trustAnchors } = inputOf(folder) as { policy: string | null; trustAnchors: string[] };
      if (policy === null || expectedOf(folder).verdict === "malformed") continue;
      const anchors = library.parsePolicy(read(join(folder, policy))).trustAnchors;
      const beside = trustAnchors.map((path) =>
        library.parseTrustAnchor(path, Buffer.from(read(join(folder, path))).toString()),
      );
      const pems = (list: readonly library.TrustAnchor[]) => list.map((one) => certificatePem(one.certificate.der));
      expect(pems(anchors), folder).toEqual(pems(beside));
    }
  });
});
