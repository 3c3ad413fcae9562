/**
 * The three questions: what answers them, what looks like an answer and is none, and what is told where one is open.
 */
import { describe, expect, it } from "vitest";
import type { DocumentFacts } from "../../src/appraise/facts.js";
import { PUBLIC_KEYS } from "../support/public-keys.js";
import { toHex } from "../../src/bytes.js";
import type { JsonObject } from "../../src/decode/json.js";
import { type MalformedError, parsePolicy } from "../../src/index.js";
import { scopeOf as scopeOfPins } from "../../src/appraise/questions.js";
import { Forge, labDeployment } from "../../src/lab/forge.js";
import { forge, judge, lab, manifest, pcrs as withPcrs } from "../attacks/support.js";

const A = "ab".repeat(48);
const ZERO = "00".repeat(48);
const IMAGE = { "0": A, "1": A, "2": A };
const pcrs = { ...IMAGE, "3": A };
const pivotHash = "cd".repeat(32);
const workloads = { signer: `sha256:${pivotHash}` };
const manifestHash = pivotHash;
const [KEY, OTHER] = ["04".repeat(130), "05".repeat(130)] as [string, string];
const [defaultKey, shareA, shareB] = PUBLIC_KEYS as [string, string, string];
const manifestSet = { threshold: 1, members: [KEY, OTHER] };
const nobodys = { threshold: 1, members: [KEY, shareA] };
const namespace = "prod/signer";

function faultsOf(deployment: JsonObject): string[] {
  try {
    parsePolicy({ policy: "bootproof/1", deployments: [deployment] });
    return [];
  } catch (error) {
    return (error as MalformedError).faults.map(({ path, message }) => `${path}: ${message}`);
  }
}

/** The questions that a deployment leaves open without saying so. */
function openOf(deployment: JsonObject): string[] {
  return faultsOf(deployment).map((fault) => {
    const question = /^deployments\[0\]: leaves the (\w+) open: /.exec(fault);
    expect(question, fault).not.toBeNull();
    return question![1]!;
  });
}

const ALL = ["image", "application", "operator"];
const [OPERATOR, APPLICATION] = [["operator"], ["application"]];
const [BOTH, CODE] = [
  ["application", "operator"],
  ["image", "application"],
];
const rows: [name: string, deployment: JsonObject, open: string[]][] = [
  ["nothing", {}, ALL],
  ["a namespace", { namespace, minNonce: 7 }, ALL],
  ["a binary", { pivotHash }, ALL],
  ["a binary, a namespace and a nonce", { pivotHash, namespace, minNonce: 7 }, ALL],
  ["a binary and a quorum key", { pivotHash, quorumKey: KEY }, CODE],
  ["PCR0 to 2", { pcrs: IMAGE }, BOTH],
  ["PCR0 to 3", { pcrs }, APPLICATION],
  ["PCR3", { pcrs: { "3": A } }, CODE],
  ["PCR0 and 1, binary, role", { pcrs: { "0": A, "1": A, "3": A }, pivotHash }, []],
  ["PCR0 and 2, binary, role", { pcrs: { "0": A, "2": A, "3": A }, pivotHash }, []],
  ["PCR0 alone", { pcrs: { "0": A } }, BOTH],
  ["PCR0, binary, role", { pcrs: { "0": A, "3": A }, pivotHash }, []],
  ["PCR1, binary, role", { pcrs: { "1": A, "3": A }, pivotHash }, CODE],
  ["PCR2, binary, role", { pcrs: { "2": A, "3": A }, pivotHash }, CODE],
  ["zeros for PCR0 alone", { pcrs: { "0": ZERO, "3": A }, pivotHash }, CODE],
  ["PCR0, and zeros for PCR1", { pcrs: { "0": A, "1": ZERO, "3": A }, pivotHash }, []],
  ["legacy: PCR0, binary, role", { commitment: "legacy", pcrs: { "0": A, "3": A }, pivotHash }, APPLICATION],
  ["PCR1 and 2, binary, role", { pcrs: { "1": A, "2": A, "3": A }, pivotHash }, CODE],
  ["image and binary", { pcrs: IMAGE, pivotHash }, OPERATOR],
  ["image and workloads", { pcrs: IMAGE, workloads }, OPERATOR],
  [
    "image, binary, share set and labels",
    { pcrs: IMAGE, pivotHash, shareSet: manifestSet, labels: { owner: "me" } },
    OPERATOR,
  ],
  ["image and namespace", { pcrs, namespace }, APPLICATION],
  ["image and arguments", { pcrs, pivotArgs: [], pivotEnv: {} }, APPLICATION],
  ["a manifest set", { manifestSet }, APPLICATION],
  ["a manifest set and a nonce's namespace of several", { manifestSet, namespace: ["a", "b"] }, []],
  ["a manifest set and a namespace", { manifestSet, namespace }, []],
  ["a manifest set and a binary", { manifestSet, pivotHash }, []],
  ["a manifest set and workloads", { manifestSet, workloads }, []],
  ["a manifest", { manifestHash }, []],
  ["image, binary and manifest set", { pcrs: IMAGE, pivotHash, manifestSet }, []],
  ["image, binary and quorum key", { pcrs: IMAGE, pivotHash, quorumKey: KEY }, []],
  ["image, binary and role", { pcrs, pivotHash }, []],
  ["image, workloads and role", { pcrs, workloads }, []],

  [
    "in its setup: image, binary and quorum key",
    { commitment: "setup", pcrs: IMAGE, pivotHash, quorumKey: KEY },
    OPERATOR,
  ],
  ["in its setup: image, binary and role", { commitment: "setup", pcrs, pivotHash }, []],
  ["in its setup: a manifest set and a binary", { commitment: "setup", manifestSet, pivotHash }, []],
  ["in its setup: a manifest, no role", { commitment: "setup", pcrs: { ...IMAGE, "3": ZERO }, manifestHash }, []],
  ["in its setup: a manifest set and a namespace", { commitment: "setup", manifestSet, namespace }, []],
  [
    "legacy: image, binary, quorum key and role",
    { commitment: "legacy", pcrs, pivotHash, quorumKey: KEY },
    APPLICATION,
  ],
  ["legacy: image, binary and quorum key", { commitment: "legacy", pcrs: IMAGE, pivotHash, quorumKey: KEY }, BOTH],
  ["legacy: image and workloads", { commitment: "legacy", pcrs, workloads }, APPLICATION],
  ["legacy: image and manifest set", { commitment: "legacy", pcrs: IMAGE, manifestSet }, BOTH],
  ["legacy: a manifest set and a namespace", { commitment: "legacy", manifestSet, namespace }, []],
  ["legacy: a manifest", { commitment: "legacy", manifestHash }, []],
  ["legacy: a manifest, no role", { commitment: "legacy", pcrs: { ...IMAGE, "3": ZERO }, manifestHash }, BOTH],
  [
    "legacy: a manifest set, a namespace, perhaps no role",
    { commitment: "legacy", pcrs: { ...IMAGE, "3": [A, ZERO] }, manifestSet, namespace },
    BOTH,
  ],
  [
    "legacy: a manifest, zeros among the other PCRs",
    { commitment: "legacy", pcrs: { ...pcrs, "8": ZERO }, manifestHash },
    [],
  ],
  ["live: a manifest, no role", { pcrs: { ...IMAGE, "3": ZERO }, manifestHash }, []],

  ["zeros for PCR0", { pcrs: { ...pcrs, "0": ZERO }, pivotHash }, CODE],
  ["zeros among the values of PCR2", { pcrs: { ...pcrs, "2": [A, ZERO] }, pivotHash }, []],
  ["zeros for PCR3", { pcrs: { ...IMAGE, "3": ZERO }, pivotHash }, OPERATOR],
  ["zeros among the values of PCR3", { pcrs: { ...IMAGE, "3": [A, ZERO] }, pivotHash }, OPERATOR],

  ["two images", { pcrs: [pcrs, pcrs], pivotHash }, []],
  ["two images, one of them without PCR2", { pcrs: [pcrs, { "0": A, "1": A, "3": A }], pivotHash }, []],
  ["two images, one of them without PCR0", { pcrs: [pcrs, { "1": A, "2": A, "3": A }], pivotHash }, CODE],
  ["two images, one of them in no role", { pcrs: [pcrs, IMAGE], pivotHash }, OPERATOR],

  ["the public quorum key", { pcrs: IMAGE, pivotHash, quorumKey: defaultKey }, OPERATOR],
  [
    "the public quorum key among others, in upper case",
    { pcrs: IMAGE, pivotHash, quorumKey: [KEY, defaultKey.toUpperCase()] },
    OPERATOR,
  ],
  [
    "a quorum key with the public signing half",
    { pcrs: IMAGE, pivotHash, quorumKey: KEY.slice(130) + defaultKey.slice(130) },
    OPERATOR,
  ],
  [
    "a quorum key with the public encryption half",
    { pcrs: IMAGE, pivotHash, quorumKey: defaultKey.slice(0, 130) + KEY.slice(130) },
    OPERATOR,
  ],
  [
    "a quorum key of public shares",
    { pcrs: IMAGE, pivotHash, quorumKey: KEY, shareSet: { threshold: 2, members: [shareA, shareB, OTHER] } },
    OPERATOR,
  ],
  [
    "a quorum key of shares that public ones do not reach",
    { pcrs: IMAGE, pivotHash, quorumKey: KEY, shareSet: { threshold: 2, members: [shareA, OTHER] } },
    [],
  ],
  ["a set that public keys reach", { manifestSet: nobodys, namespace }, ALL],
  [
    "a set of public keys and a binary, in a pinned image",
    { pcrs: IMAGE, manifestSet: { threshold: 2, members: [shareA, shareB] }, namespace },
    BOTH,
  ],
  [
    "a set that public keys do not reach alone",
    { manifestSet: { threshold: 2, members: [KEY, OTHER, shareA] }, namespace },
    [],
  ],
];

const zeros = "a PCR of zeros identifies no enclave";
const several = "each alternative of pcrs must pin them";
const unheld = "under commitment setup, quorumKey decides nothing: the enclave does not hold it yet";
const asked = (pins: string): string =>
  `under commitment legacy, ${pins} decide nothing: the application itself may have requested the document`;

describe("a deployment that pins", () => {
  it.each(rows)("%s", (_, deployment, open) => {
    expect(openOf(deployment)).toEqual(open);
    const declared = open.filter((question) => question !== "image");
    if (declared.length > 0)
      expect(openOf({ ...deployment, open: declared })).toEqual(open.filter((question) => question === "image"));
    for (const question of declared.length === 2 ? declared : []) {
      expect(openOf({ ...deployment, open: [question] })).toEqual(open.filter((one) => one !== question));
    }
  });

  it.each<[open: unknown, path: string]>([
    [["image"], "deployments[0].open[0]"],
    [[], "deployments[0].open"],
    ["operator", "deployments[0].open"],
    [["operator", "operator"], "deployments[0].open"],
    [["operator", "application", "operator"], "deployments[0].open"],
    [null, "deployments[0].open"],
    [true, "deployments[0].open"],
  ])("open %j is malformed", (open, path) => {
    expect(faultsOf({ pcrs, pivotHash, open } as JsonObject).map((fault) => fault.split(": ")[0])).toEqual([path]);
  });

  it("says how an attacker would use it, and what closes it", () => {
    expect(faultsOf({ pcrs: IMAGE, pivotHash })).toEqual([
      "deployments[0]: leaves the operator open: anyone who runs this image and application with their own keys " +
        "passes. " +
        'Pin manifestSet, manifestHash, quorumKey (live) or pcrs 3; or say "open": ["operator"]',
    ]);
  });

  it.each<[JsonObject, string]>([
    [{ pcrs: IMAGE, pivotHash, quorumKey: defaultKey }, "the quorum key's secret is public"],
    [{ manifestSet: nobodys }, "the manifest set identifies no owner"],
  ])("%j says what looks like an answer", (deployment, says) => {
    expect(faultsOf(deployment).join("\n")).toContain(says);
  });
});

describe("a deployment that pins", () => {
  it.each<[name: string, JsonObject, notes: string[]]>([
    ["nothing", { pcrs: IMAGE, pivotHash }, []],
    ["nothing, of a live enclave with its quorum key", { pcrs: IMAGE, quorumKey: KEY }, []],
    ["nothing, of a legacy enclave", { commitment: "legacy", pcrs: IMAGE }, []],
    ["nothing, in its setup", { commitment: "setup", pcrs: IMAGE, pivotHash }, []],
    ["a program, of a legacy enclave", { commitment: "legacy", pcrs, pivotHash }, [asked("pivotHash")]],
    [
      "workloads and quorum key, of a legacy enclave",
      { commitment: "legacy", pcrs, workloads, quorumKey: KEY },
      [asked("workloads and quorumKey")],
    ],
    [
      "a quorum key whose shares are public",
      { pcrs: IMAGE, pivotHash, quorumKey: KEY, shareSet: nobodys },
      [
        "the share set identifies no owner: keys whose secrets are public reach its threshold, so anyone " +
          "can rebuild the quorum key",
      ],
    ],
    ["a quorum key, in its setup", { commitment: "setup", pcrs: IMAGE, pivotHash, quorumKey: KEY }, [unheld]],
    ["perhaps zeros", { pcrs: { ...IMAGE, "3": [A, ZERO] }, pivotHash }, [zeros]],
    ["two images, one of no role", { pcrs: [pcrs, { ...IMAGE, "3": ZERO }], pivotHash }, [zeros, several]],
  ])("says that of what is pinned %s looks like an answer", (_, deployment, notes) => {
    for (const fault of faultsOf(deployment))
      expect(
        / \((?<notes>[^()]*)\)$/.exec(fault.replace("quorumKey (live)", "quorumKey"))?.groups?.["notes"] ?? "",
      ).toBe(notes.join("; "));
    expect(faultsOf(deployment)).not.toEqual([]);
  });
});

describe("a deployment of kind nitro", () => {
  it.each<[name: string, pins: JsonObject, good: boolean]>([
    ["PCR0 to 2", { pcrs: IMAGE }, true],
    ["PCR8", { pcrs: { "8": A } }, true],
    ["PCR8 and 3", { pcrs: { "8": A, "3": A } }, true],
    ["PCR0 to 2 or 8", { pcrs: [IMAGE, { "8": A }] }, true],
    ["image and fields", { pcrs: IMAGE, userData: "00", publicKey: KEY }, true],
    ["nothing", {}, false],
    ["fields alone", { userData: "00", publicKey: KEY }, false],
    ["PCR8 of zeros", { pcrs: { "8": ZERO } }, false],
    ["PCR8 of perhaps zeros", { pcrs: { "8": [A, ZERO] } }, false],
    ["PCR0", { pcrs: { "0": A } }, true],
    ["PCR0 and 1", { pcrs: { "0": A, "1": A } }, true],
    ["PCR0 and 2", { pcrs: { "0": A, "2": A } }, true],
    ["PCR0 or 8", { pcrs: [{ "0": A }, { "8": A }] }, true],
    ["zeros for PCR0", { pcrs: { "0": ZERO } }, false],
    ["PCR1", { pcrs: { "1": A } }, false],
    ["PCR2", { pcrs: { "2": A } }, false],
    ["PCR1 and 2", { pcrs: { "1": A, "2": A } }, false],
    ["PCR0, and zeros for PCR1", { pcrs: { ...IMAGE, "1": ZERO } }, true],
    ["one image of two", { pcrs: [IMAGE, { "3": A }] }, false],
  ])("that pins %s", (_, pins, good) => {
    expect(openOf({ kind: "nitro", ...pins })).toEqual(good ? [] : ["image"]);
  });

  it.each<[string, readonly number[][], boolean]>([
    ["PCR0", [[0]], true],
    ["PCR0 and 1", [[0, 1]], true],
    ["PCR0 to 2, or PCR0", [[0, 1, 2], [0]], true],
    ["PCR0 to 2", [[0, 1, 2]], false],
    ["PCR0 and 8", [[0, 8]], false],
  ])("that pins %s leaves open where sections end: %s", (_, images, isOpen) => {
    const pins = images.map((indexes) => indexes.map((index) => ({ index, accepted: [A] })));
    const { answers, reasons } = scopeOfPins({ kind: "nitro", open: [], pcrs: pins, publicKey: KEY }, null);
    expect(reasons).toEqual(
      isOpen ? [expect.stringContaining("where its sections end is open; pin pcrs 1 and 2")] : [],
    );
    expect([answers.image, answers.application]).toEqual([["pcrs"], images.join() === "0,1,2" ? ["pcrs"] : []]);
  });

  it.each<[string, JsonObject]>([
    ["open", { open: ["operator"] }],
    ["appProofs", { appProofs: { types: ["x"] } }],
    ["commitment", { commitment: "live" }],
  ])("has no %s", (name, member) => {
    expect(faultsOf({ kind: "nitro", pcrs: IMAGE, ...member })).toEqual([
      `deployments[0].${name}: not in a deployment of kind nitro`,
    ]);
  });

  it.each([
    [[3], true],
    [[4], true],
    [[8], true],
    [[], false],
    [[5, 9], false],
  ])("that pins the image and PCR%j names who runs it: %s", (indexes, named) => {
    const image = [0, 1, 2].map((index) => ({ index, accepted: [A] }));
    const deployment = {
      kind: "nitro" as const,
      open: [],
      pcrs: [[...image, ...indexes.map((index) => ({ index, accepted: [A] }))]],
    };
    expect(scopeOfPins(deployment, null).reasons.length).toBe(named ? 0 : 1);
    expect(scopeOfPins({ ...deployment, pcrs: [...deployment.pcrs, image] }, null).reasons.length).toBe(1);
    expect(scopeOfPins({ ...deployment, publicKey: KEY }, null).reasons).toEqual([]);
  });
});

/** A document whose PCRs are none of them zeros, but for those given. */
function attested(values: Readonly<Record<number, string>>): DocumentFacts {
  const pcrs = new Map(Array.from({ length: 32 }, (_, index) => [index, values[index] ?? A]));
  return { pcrs, userData: null, publicKey: null, bootProof: null };
}

const all = labDeployment(lab);
const only = (...names: string[]): JsonObject => Object.fromEntries(names.map((name) => [name, all[name]!]));
const image = Object.fromEntries(Object.entries(all["pcrs"] as JsonObject).filter(([index]) => index !== "3"));
const roleless = new Forge({ ...lab, measurements: { ...lab.measurements, pcr3: new Uint8Array(48) } });
const scopeOf = async (deployments: JsonObject[], evidence = forge()): Promise<[string, string]> => {
  const report = await judge(evidence, { deployments: () => deployments });
  const { status, detail } = report.checks.find(({ id }) => id === "policy.scope")!;
  return [status, detail];
};

describe("policy.scope", () => {
  it.each<[name: string, deployment: JsonObject, says: string[]]>([
    ["what is said to be open and is not", { ...all, open: ["operator"] }, ["manifestSet, quorumKey, pcrs decides it"]],
    [
      "what is said to be open, and one pin answers",
      { pcrs: image, ...only("pivotHash", "quorumKey"), open: ["operator"] },
      ["declares the operator open, but quorumKey decides it"],
    ],
  ])("warns of %s", async (_, deployment, says) => {
    const [status, detail] = await scopeOf([deployment]);
    expect(status).toBe("warn");
    for (const words of says) expect(detail).toContain(words);
  });
});

describe("policy.scope", () => {
  it("warns of a debug enclave, which is allowed: every other has its measurements", async () => {
    const zeros = new Uint8Array(48);
    const evidence = forge({
      ...manifest(({ enclave }) => ({ enclave: { ...enclave, pcr0: zeros, pcr1: zeros, pcr2: zeros } })),
      ...withPcrs((map) => [0, 1, 2].forEach((index) => map.set(index, zeros))),
    });
    const report = await judge(evidence, {
      policy: { allowDebug: true },
      deployments: () => [only("pivotHash", "manifestSet", "quorumKey", "namespace")],
    });
    const { status, detail } = report.checks.find(({ id }) => id === "policy.scope")!;
    expect([status, detail]).toEqual(["warn", expect.stringContaining("like those of every debug enclave")]);
  });

  it.each([0, 1, 2])("takes an enclave whose PCR%i is zeros for a debug enclave", (index) => {
    const pins = { kind: "qos" as const, open: [], commitment: "live" as const, manifestHash: [manifestHash] };
    expect(scopeOfPins(pins, attested({ [index]: ZERO })).reasons).toEqual([
      expect.stringContaining("runs in debug mode"),
    ]);
    expect(scopeOfPins(pins, attested({ 3: ZERO, 4: ZERO })).reasons).toEqual([]);
    expect(scopeOfPins(pins, null).reasons).toEqual([]);
  });

  it("of a legacy document of no role says each question that is open, unless the deployment says it", () => {
    const pins = { kind: "qos" as const, commitment: "legacy" as const, manifestHash: [manifestHash] };
    const told = (
      open: ("application" | "operator")[],
      values: Readonly<Record<number, string>>,
    ): Record<"faults" | "reasons", unknown> => {
      const { faults, reasons } = scopeOfPins({ ...pins, open }, attested(values));
      const of = (sentences: readonly string[]): (string | undefined)[] =>
        sentences.map((one) => /leaves the (\w+) open/.exec(one)?.[1] ?? one.split(":")[0]);
      return { faults: of(faults), reasons: of(reasons) };
    };
    const roleless = { 3: ZERO };
    expect(told([], {})).toEqual({ faults: [], reasons: ["legacy"] });
    expect(told([], roleless).faults).toEqual(["image", "application", "operator"]);
    expect(told(["operator"], roleless).faults).toEqual(["image", "application"]);
    expect(told(["application"], roleless).faults).toEqual(["image", "operator"]);
    expect(told(["application", "operator"], roleless).faults).toEqual(["image"]);
    // Of a debug enclave, which was allowed, the image is told of, and no fault.
    const debug = { ...roleless, 0: ZERO, 1: ZERO, 2: ZERO };
    expect(told(["operator"], debug)).toEqual({
      faults: ["application"],
      reasons: ["runs in debug mode, which is allowed", "image", "operator", "legacy"],
    });
  });

  it("warns of every legacy document", async () => {
    const [status, detail] = await scopeOf([{ ...all, commitment: "legacy" }], forge({ generation: "legacy" }));
    expect(status).toBe("warn");
    expect(detail).toContain("legacy: any application of that role and image could have made this document");
    const open = { ...all, pcrs: image, commitment: "legacy", open: ["application", "operator"] };
    const ofNoRole = await scopeOf([open], forge({ lab: roleless, generation: "legacy" }));
    expect(ofNoRole[1]).toContain("legacy: any application of that image could have made this document");
  });
});

describe("policy.scope", () => {
  it("fails where only the evidence shows that a legacy document is of no role, unless that is said", async () => {
    const evidence = forge({ lab: roleless, generation: "legacy" });
    for (const pins of [
      { ...all, pcrs: image },
      { pcrs: image, manifestHash: toHex(evidence.manifestHash) },
    ]) {
      const [status, detail] = await scopeOf([{ ...pins, commitment: "legacy" }], evidence);
      expect(status).toBe("fail");
      expect(detail).toContain("PCR3 is zeros");
      expect((await scopeOf([{ ...pins, commitment: "legacy", open: ["application", "operator"] }], evidence))[0]).toBe(
        "warn",
      );
    }
    for (const [said, unsaid] of [
      ["application", "operator"],
      ["operator", "application"],
    ] as const) {
      const half = { ...all, pcrs: image, commitment: "legacy", open: [said] };
      const { checks, verdict } = await judge(evidence, { deployments: () => [half] });
      const told = checks.filter(({ status }) => status === "fail").map(({ id, detail }) => [id, detail]);
      expect(told).toEqual([
        ["policy.scope", expect.stringContaining(`leaves the ${unsaid} open, since`)],
        ["policy.deployment", expect.stringMatching(/differs in policy\.scope$/)],
      ]);
      expect(verdict).toBe("rejected");
    }
    const open = { pcrs: image, commitment: "legacy", open: ["application", "operator"], name: "said" };
    const types = { appProofs: { types: ["APP_PROOF_TYPE_ADDRESS_DERIVATION"] } };
    const report = await judge(evidence, {
      deployments: () => [
        { ...all, pcrs: image, commitment: "legacy" },
        { ...open, ...types },
      ],
    });
    expect(report.verdict).toBe("verified");
    expect(report.claims!.bootProofs[0]!.deployment).toBe("said");
  });

  it("is of the first deployment that matches, whatever others would say", async () => {
    const weak = { ...only("pcrs", "pivotHash"), name: "weak" };
    expect((await scopeOf([weak, all]))[0]).toBe("warn");
    expect((await scopeOf([all, weak]))[0]).toBe("pass");
    expect(
      (
        await scopeOf([
          { ...all, namespace: "x" },
          { ...weak, pivotHash: "ab".repeat(32) },
        ])
      )[0],
    ).toBe("skip");
  });
});

describe("policy.scope", () => {
  it("tells of public keys in the evidence", async () => {
    const [status, detail] = await scopeOf(
      [only("pcrs", "pivotHash", "manifestSet")],
      forge({
        alterManifest: {
          manifest: (value) => ({
            ...value,
            namespace: { ...value.namespace, quorumKey: new Uint8Array(Buffer.from(defaultKey, "hex")) },
          }),
        },
      }),
    );
    expect(status).toBe("warn");
    expect(detail).toContain("the quorum key's secret is public");
  });
});
