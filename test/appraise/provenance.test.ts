/** The pin `provenance`: what a policy may demand, what is malformed, and what a stranger could make of a weak one. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/decode/json.js";
import { MalformedError, NO_POLICY_ANY_ENCLAVE, parsePolicy } from "../../src/index.js";
import { addToPolicy, checkPolicy } from "../../src/author/index.js";
import {
  packBundle,
  packEvidence,
  selfContainedPolicy,
  verifyBundle,
  POLICY_OF_THE_BUNDLE,
  decodeBundle,
} from "../../src/bundle/index.js";
import { namedFiles, policySchema } from "../../src/appraise/policy.js";
import { parsePlainPolicy, plainPolicy } from "../../src/plain-settings.js";
import { labDeployment } from "../../src/lab/forge.js";
import { fits } from "../support/json-schema.js";
import { DEMAND, GENUINE, NOW, ROOT, SIGNER, enclave, evidence, policyFile } from "../support/provenance.js";
import { sigstoreVerifier } from "../../src/provenance/index.js";

const FILES: Readonly<Record<string, string>> = {
  "root.json": ROOT,
  "roots.jsonl": `${compact(ROOT)}\n\n${compact(ROOT)}\n`,
  "broken.jsonl": `${compact(ROOT)}\n{\n`,
  "no.json": "{",
  "statement.json": '{"mediaType": "application/json", "certificateAuthorities": [{}], "tlogs": [{}]}',
  "timeless.json": changedRoot({ tlogs: [], timestampAuthorities: [] }),
  "private.json": changedRoot({ tlogs: [], ctlogs: [] }),
  "twice.json": ROOT.replace("{", '{"tlogs": [],'),
};

function compact(json: string): string {
  return JSON.stringify(JSON.parse(json));
}

function changedRoot(members: object): string {
  return JSON.stringify({ ...(JSON.parse(ROOT) as object), ...members });
}

function readFile(name: string): string {
  const text = FILES[name];
  if (text === undefined) throw new Error("no such file");
  return text;
}

/** Of a deployment with one demand: the genuine one with these members. */
function check(members: object): string[] {
  const { faults } = checkPolicy(JSON.stringify(policyFile({ ...DEMAND, ...members })), { readFile });
  return faults.map(({ path, message }) => `${path.replace("deployments[0].provenance[0]", "@")}: ${message}`);
}

const GITLAB = { issuer: "https://gitlab.com" };
const without = (...names: string[]): object => Object.fromEntries(names.map((name) => [name, undefined]));

describe("a demand", () => {
  it.each([
    ["with everything", {}],
    [
      "with several of each",
      { workflow: ["a", "b"], ref: ["refs/heads/a", "refs/tags/*"], predicateTypes: ["a", "b"] },
    ],
    ["of the pivot, in words", { of: "pivotHash" }],
    ["with less", without("repositoryId", "signer", "runner", "trigger", "commit")],
    ["with an open ref and workflow", { ...without("ref", "workflow"), open: ["ref", "workflow"] }],
    ["of an enterprise", { issuer: `${DEMAND.issuer}/acme` }],
    ["of another provider", { ...GITLAB, ...without("ref", "workflow") }],
    ["of another provider, by the name alone", { ...GITLAB, ...without("repository", "ref"), identity: "a@b" }],
    ["by the name beside the repository", { identity: DEMAND.signer }],
    ["with several roots", { trustedRoot: [{ file: "root.json" }, { file: "roots.jsonl" }] }],
    ["with its root inside", { trustedRoot: { json: ROOT } }],
    ["with comments", { comment: "why", trustedRoot: { file: "root.json", comment: "from where" } }],
  ])("%s is well-formed", (_, members) => expect(check(members)).toEqual([]));

  it.each([
    ["no issuer", without("issuer"), "@.issuer: "],
    ["no predicate types", without("predicateTypes"), "@.predicateTypes: "],
    ["an empty list of them", { predicateTypes: [] }, "@.predicateTypes: "],
    ["no root", without("trustedRoot"), "@.trustedRoot: "],
    ["no repository", without("repository"), "@: expected repository: anyone may call"],
    ["a name in place of the repository", { ...without("repository"), identity: "a" }, "@: expected repository"],
    ["no repository and no name", { ...GITLAB, ...without("repository") }, "@: expected repository or identity"],
    [
      "no ref",
      without("ref"),
      '@: expected ref: anyone who may push a branch signs as the repository; or say "open": ["ref"]',
    ],
    ["no workflow", without("workflow"), "@: expected workflow"],
    ["no ref for an enterprise", { issuer: `${DEMAND.issuer}/acme`, ...without("ref") }, "@: expected ref"],
    ["a ref that is pinned and open", { open: ["ref"] }, "@: open: ref is pinned"],
    ["a question twice", { ...without("ref"), open: ["ref", "ref"] }, "@: open: a question twice"],
    ["another question", { open: ["repository"] }, "@.open[0]: "],
    [
      "an open ref of another provider",
      { ...GITLAB, ...without("ref"), open: ["ref"] },
      "@: open: allowed only with the issuer",
    ],
    [
      "a prefix of a ref",
      { ref: "refs/tags/v*" },
      '@.ref: expected a whole ref, or one of the patterns "refs/tags/*" and "refs/heads/*"',
    ],
    ["any ref at all", { ref: "*" }, "@.ref: "],
    ["any ref of refs/", { ref: "refs/*" }, "@.ref: "],
    ["a pattern among refs", { ref: ["refs/heads/main", "refs/heads/*/a"] }, "@.ref[1]: "],
    ["a short ref", { ref: "v1.2.3" }, '@: ref: GitHub\'s refs begin with refs/, for example "refs/tags/v1.2.3"'],
    ["a short commit", { commit: "95baf27" }, "@.commit: 7 hex digits, expected 40"],
    ["an id that is not a number", { repositoryId: "acme" }, "@.repositoryId: expected decimal digits"],
    ["an empty text", { signer: "" }, "@.signer: empty"],
    ["an unknown member", { runners: "a" }, "@.runners: unknown member, did you mean"],
    ["another program", { of: "pcrs" }, "@.of: "],
    ["a workload beside a pivot", { of: { workload: "a" } }, "@.of: the deployment has a pivot and no workloads"],
    ["a root without a file", { trustedRoot: {} }, "@.trustedRoot: "],
    [
      "a file that is not there",
      { trustedRoot: { file: "gone.json" } },
      "@.trustedRoot: gone.json could not be read: no such file",
    ],
    ["a root that is not JSON", { trustedRoot: { file: "no.json" } }, "@.trustedRoot: no.json: not strict JSON"],
    [
      "a root with a member twice",
      { trustedRoot: { file: "twice.json" } },
      "@.trustedRoot: twice.json: not strict JSON",
    ],
    [
      "a broken line",
      { trustedRoot: { file: "broken.jsonl" } },
      "@.trustedRoot: broken.jsonl, line 2: not strict JSON",
    ],
    ["another file", { trustedRoot: { file: "statement.json" } }, "statement.json: not a trusted root of Sigstore"],
    ["a root without times", { trustedRoot: { file: "timeless.json" } }, "no time can be signed"],
    [
      "too many roots",
      { trustedRoot: Array(9).fill({ file: "roots.jsonl" }) },
      "@.trustedRoot: 18 trusted roots, at most 16",
    ],
  ])("with %s is malformed", (_, members, says) => expect(check(members).join("\n")).toContain(says));

  it("is one of at most 16, which the schema does not say: types of each length would be made of it", () => {
    const file = policyFile(...Array<object>(17).fill(DEMAND));
    const { faults } = checkPolicy(JSON.stringify(file), { readFile });
    expect(faults.map(({ path, message }) => `${path}: ${message}`)).toEqual([
      "deployments[0].provenance: 17 entries, at most 16 allowed",
    ]);
    expect(fits(policySchema(), file)).toBe(true);
  });

  describe("on a release of GitHub", () => {
    const github = changedRoot({ tlogs: [], ctlogs: [] });
    const RELEASE = { repository: "acme/oracle.rs", repositoryId: "1234", tag: "v1" };
    const faults = (release: object, members: object = {}): string[] => {
      const files: Readonly<Record<string, string>> = {
        ...FILES,
        "github.jsonl": `${compact(github)}\n${compact(ROOT)}`,
      };
      const entry = { githubRelease: { ...RELEASE, ...release }, trustedRoot: { file: "private.json" }, ...members };
      const checked = checkPolicy(JSON.stringify(policyFile(entry)), { readFile: (name) => files[name]! });
      return checked.faults.map(
        ({ path, message }) => `${path.replace("deployments[0].provenance[0]", "@")}: ${message}`,
      );
    };

    it.each([
      ["with everything", { tenant: "acme-1" }, {}],
      ["without a tag", without("tag"), {}],
      ["with a tag that a ref could have", { tag: "refs/tags/*" }, {}],
      ["of the pivot, in words", {}, { of: "pivotHash" }],
      ["with several roots", {}, { trustedRoot: [{ file: "private.json" }, { json: github }] }],
      ["with comments", { comment: "why" }, { comment: "why" }],
    ])("%s is well-formed", (_, release, members) => expect(faults(release, members)).toEqual([]));

    it.each([
      ["no repository", without("repository"), {}, "@.githubRelease.repository: expected owner/name"],
      [
        "a repository's URL",
        { repository: "https://github.com/acme/oracle" },
        {},
        "@.githubRelease.repository: expected own",
      ],
      ["a name without its owner", { repository: "oracle" }, {}, "@.githubRelease.repository: expected owner/name"],
      ["a pattern of names", { repository: "acme/*" }, {}, "@.githubRelease.repository: expected owner/name"],
      ["no id", without("repositoryId"), {}, "@.githubRelease.repositoryId: expected decimal digits"],
      ["an id that is a number", { repositoryId: 1234 }, {}, "@.githubRelease.repositoryId: expected decimal digits"],
      ["an empty tag", { tag: "" }, {}, "@.githubRelease.tag: empty"],
      ["several tags", { tag: ["v1", "v2"] }, {}, "@.githubRelease.tag: "],
      ["a tenant of two labels", { tenant: "a.b" }, {}, "@.githubRelease.tenant: expected one DNS label"],
      ["a tenant in upper case", { tenant: "Acme" }, {}, "@.githubRelease.tenant: expected one DNS label"],
      ["a tenant that ends with a hyphen", { tenant: "a-" }, {}, "@.githubRelease.tenant: expected one DNS label"],
      ["a tenant of 64 characters", { tenant: "a".repeat(64) }, {}, "@.githubRelease.tenant: expected one DNS label"],
      ["github.com as a tenant", { tenant: "dotcom" }, {}, "other than dotcom"],
      ["an unknown member", { release: "v1" }, {}, "@.githubRelease.release: unknown member"],
      ["an issuer", {}, { issuer: DEMAND.issuer }, "@.issuer: unknown member"],
      ["a type of statement", {}, { predicateTypes: "a" }, "@.predicateTypes: unknown member"],
      ["a repository beside the release", {}, { repository: "a/b" }, "@.repository: unknown member"],
      ["something open", {}, { open: ["ref"] }, "@.open: unknown member"],
      ["another value", {}, { githubRelease: "acme/oracle" }, "@.githubRelease: expected an object"],
      ["no root", {}, without("trustedRoot"), "@.trustedRoot: "],
      ["a workload beside a pivot", {}, { of: { workload: "a" } }, "@.of: the deployment has a pivot and no workloads"],
      [
        "a root with logs",
        {},
        { trustedRoot: { file: "root.json" } },
        "@.trustedRoot: root.json: demands entries of its logs, which no release of GitHub has: expected a root",
      ],
      [
        "a root with logs on another line",
        {},
        { trustedRoot: [{ file: "private.json" }, { file: "github.jsonl" }] },
        "@.trustedRoot: github.jsonl, line 2: demands entries of its logs",
      ],
      ["a root without times", {}, { trustedRoot: { file: "timeless.json" } }, "no time can be signed"],
    ])("with %s is malformed", (_, release, members, says) =>
      expect(faults(release, members).join("\n")).toContain(says),
    );

    it("warns only of an open tag", () => {
      const reasons = (release: object): readonly string[] => {
        const entry = { githubRelease: { ...RELEASE, ...release }, trustedRoot: { json: github } };
        return checkPolicy(JSON.stringify(policyFile(entry))).deployments[0]!.reasons;
      };
      expect(reasons({})).toEqual([]);
      expect(reasons(without("tag"))).toEqual([
        expect.stringContaining("leaves the tag open: any release of acme/oracle.rs passes, old ones too"),
      ]);
    });

    it("is beside a demand on a build, from a file or inside the policy", () => {
      const text = JSON.stringify(
        policyFile(DEMAND, { githubRelease: RELEASE, trustedRoot: [{ file: "private.json" }, { json: github }] }),
      );
      const policy = parsePolicy(text, { readFile });
      const [, demand] = policy.deployments[0]!.provenance!;
      expect(demand).toEqual({
        workload: null,
        githubRelease: RELEASE,
        trustedRoots: [
          expect.objectContaining({ thresholds: { inclusions: 0, certificateTimestamps: 0, signedTimes: 1 } }),
          expect.objectContaining({ file: null }),
        ],
      });
      const plain = plainPolicy(policy);
      expect(Object.keys(plain.roots!)).toEqual(["root.json", "private.json"]);
      expect(parsePlainPolicy(plain).deployments).toEqual(policy.deployments);
      expect(selfContainedPolicy(text, { readFile })).not.toContain('"file"');
      expect(namedFiles(JSON.parse(text)).map(({ name }) => name)).toEqual(["root.json", "private.json"]);
    });
  });

  it("is one of at least one, and of a deployment of QOS", () => {
    const file = policyFile();
    const faults = (policy: unknown): string => JSON.stringify(checkPolicy(policy as object, { readFile }).faults);
    expect(faults(file)).toContain("deployments[0].provenance");
    const nitro = { kind: "nitro", pcrs: { "8": "ab".repeat(48) }, provenance: [DEMAND] };
    expect(faults({ ...file, deployments: [nitro] })).toContain("not in a deployment of kind nitro");
  });

  it("needs a reader for its files", () => {
    const text = JSON.stringify(policyFile(DEMAND));
    expect(() => parsePolicy(text)).toThrow("no files can be read here");
  });

  it("of a workload has to be one of the deployment", () => {
    const workloads = { signer: `sha256:${"ab".repeat(32)}` };
    const faults = (of: unknown): string => {
      const deployment: object = { ...labDeployment(enclave), ...without("pivotHash") };
      const file = {
        ...policyFile(DEMAND),
        deployments: [{ ...deployment, workloads, provenance: [{ ...DEMAND, of }] }],
      };
      return JSON.stringify(checkPolicy(JSON.stringify(file), { readFile }).faults);
    };
    expect(faults({ workload: "signer" })).toBe("[]");
    expect(faults({ workload: "other" })).toContain("not a workload of the deployment");
    expect(faults(undefined)).toContain("the deployment has workloads");
  });

  it("takes its thresholds from each root, and each root alone", () => {
    const demandWith = (...files: string[]): unknown =>
      parsePolicy(JSON.stringify(policyFile({ ...DEMAND, trustedRoot: files.map((file) => ({ file })) })), {
        readFile,
      }).deployments[0]!.provenance![0]!.trustedRoots.map(({ name, thresholds }) => [
        name,
        ...Object.values(thresholds),
      ]);
    expect(demandWith("root.json", "private.json", "roots.jsonl")).toEqual([
      ["root.json", 1, 1, 1],
      ["private.json", 0, 0, 1],
      ["roots.jsonl, line 1", 1, 1, 1],
      ["roots.jsonl, line 3", 1, 1, 1],
    ]);
  });
});

describe("what a stranger could make of a weak demand", () => {
  const reasons = (members: object): readonly string[] =>
    checkPolicy(JSON.stringify(policyFile({ ...DEMAND, ...members })), { readFile }).deployments[0]!.reasons;

  it.each([
    ["nothing", {}, []],
    ["a tag of any name", { ref: "refs/tags/*" }, []],
    ["an open ref", { ...without("ref"), open: ["ref"] }, ["leaves the ref open: anyone who may push a branch"]],
    ["any branch", { ref: "refs/heads/*" }, ["accepts any branch: anyone who may push a branch"]],
    ["an open workflow", { ...without("workflow"), open: ["workflow"] }, ["leaves the workflow open: any workflow"]],
    ["a signer in any version", { signer: SIGNER }, ["without a ref: any version of that workflow passes"]],
    ["no id of the repository", without("repositoryId"), ["leaves the repository's id open: whoever takes over"]],
    ["no runner", without("runner"), ["leaves the runner open: a build on anyone's own machine"]],
    ["no trigger", without("trigger"), ["leaves the trigger open: a run that somebody started"]],
    [
      "names alone of an enterprise, even with a commit",
      { ...without("repositoryId", "runner", "trigger"), issuer: `${DEMAND.issuer}/acme` },
      ["the repository's id", "the runner", "the trigger"],
    ],
    ["no ref of another provider", { ...GITLAB, ...without("ref") }, ["leaves the ref open"]],
    ["a name alone", { ...GITLAB, ...without("repository", "ref", "workflow"), identity: "a@b" }, []],
  ])("%s", (_, members, says) => {
    const found = reasons(members);
    expect(found).toHaveLength(says.length);
    for (const [index, words] of says.entries()) expect(found[index]).toContain(words);
  });
});

describe("a policy with demands", () => {
  const text = JSON.stringify(
    policyFile(DEMAND, { ...DEMAND, trustedRoot: [{ file: "roots.jsonl" }, { json: ROOT }] }),
  );
  const policy = parsePolicy(text, { readFile });

  it("is the same from plain data", () => {
    const plain = JSON.parse(JSON.stringify(plainPolicy(policy))) as ReturnType<typeof plainPolicy>;
    expect(Object.keys(plain.roots!)).toEqual(["root.json", "roots.jsonl"]);
    expect(parsePlainPolicy(plain).deployments).toEqual(policy.deployments);
  });

  it("is the same without files", () => {
    const whole = parsePolicy(selfContainedPolicy(text, { readFile }));
    const roots = (of: typeof policy): unknown =>
      of.deployments[0]!.provenance!.map(({ trustedRoots }) => trustedRoots.map((root) => root.text));
    expect(roots(whole)).toEqual(roots(policy));
  });

  it("is edited as any other: fewer demands accept more", () => {
    const bare = { ...labDeployment(enclave), name: "bare" };
    const made = { policy: { ...policyFile(DEMAND), deployments: [bare] } as never, notes: [] };
    const edited = addToPolicy(text, made, { readFile, drop: ["provenance"] });
    expect(edited.added).toEqual(["bare"]);
    const same = { policy: JSON.parse(text) as never, notes: [] };
    expect(addToPolicy(text, same, { readFile }).alreadyThere).toHaveLength(1);
  });
});

describe("a bundle with builds", async () => {
  const provenanceVerifier = await sigstoreVerifier();
  const given = { bootProofs: [evidence.bootProof], provenance: [GENUINE] };
  const file = selfContainedPolicy(JSON.stringify(policyFile(DEMAND)), { readFile });
  const { bundle } = await packBundle(given, { policy: file, now: NOW, provenanceVerifier });
  const packed = decodeBundle(JSON.parse(JSON.stringify(bundle)));

  it("has them, and is verified with them under the caller's policy", async () => {
    expect(bundle!.provenance).toEqual([JSON.parse(GENUINE)]);
    const policy = parsePolicy(file);
    const { report, packed: inside } = await verifyBundle(packed, { policy, now: NOW, provenanceVerifier });
    expect([report.verdict, inside?.differences]).toEqual(["verified", []]);
    expect(report.claims!.provenance).toHaveLength(1);
  });

  it("proves nothing by a root of its maker's choice", async () => {
    const options = { policy: POLICY_OF_THE_BUNDLE, now: NOW, provenanceVerifier, trustAnchors: anchors() } as const;
    const { report } = await verifyBundle(packed, options);
    expect(report.verdict).toBe("authentic");
    expect(report.claims).not.toHaveProperty("provenance");
  });

  it("is malformed for a caller without a verifier", async () => {
    for (const policy of [NO_POLICY_ANY_ENCLAVE, POLICY_OF_THE_BUNDLE] as const)
      await expect(verifyBundle(packed, { policy, now: NOW, trustAnchors: anchors() })).rejects.toThrow(MalformedError);
  });

  it("has at most 64, in a list", () => {
    const raw = packEvidence(given) as unknown as JsonObject;
    expect(() => decodeBundle({ ...raw, provenance: Array(65).fill({}) })).toThrow("65 entries, expected at most 64");
    expect(() => decodeBundle({ ...raw, provenance: {} })).toThrow("provenance: ");
  });

  function anchors(): ReturnType<typeof parsePolicy>["trustAnchors"] {
    return parsePolicy(file).trustAnchors;
  }
});
