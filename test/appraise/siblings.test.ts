/** What a deployment that is added keeps of its siblings' demands: every pin, met, not met, and where nothing says. */
import { describe, expect, it } from "vitest";
import { toHex } from "../../src/bytes.js";
import type { JsonObject } from "../../src/decode/json.js";
import {
  type AddOptions,
  DemandError,
  type MadePolicy,
  addToPolicy,
  dropDeployment,
  makePolicy,
} from "../../src/author/index.js";
import { type PolicyFile, parsePolicy, verifyEvidence } from "../../src/index.js";
import type { PivotManifest } from "../../src/decode/manifest/model.js";
import { KEEPING } from "../../src/appraise/siblings.js";
import type { PinName } from "../../src/appraise/pins.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { type LabRelease, LabSigstore, labReleasePin } from "../../src/lab/sigstore.js";
import { sigstoreVerifier } from "../../src/provenance/index.js";
import { type Alterations, NOW, forge, idsOf, lab, manifest, optionsOf, pcrs } from "../attacks/support.js";
import * as build from "../support/provenance.js";

function without<T extends object>(value: T, ...names: readonly string[]): T {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name))) as T;
}

type Deployment = PolicyFile["deployments"][number];

const ANCHOR = forge().anchorPem;
const HASH = "cd".repeat(32);
const PCR8 = new Uint8Array(48).fill(8);
const OTHER_PCR = "99".repeat(48);
const keysOf = ({ threshold, members }: { threshold: number; members: readonly { pubKey: Uint8Array }[] }): object => ({
  threshold,
  members: members.map(({ pubKey }) => toHex(pubKey)),
});
const { manifestSet, shareSet } = lab.manifestParts();
const OTHERS = keysOf({ threshold: 1, members: new Forge().manifestParts().manifestSet.members });
const LABELS = lab.labels as Required<typeof lab.labels>;
const { enclaveApp, owner } = LABELS;

/** The old deployment: without what `pin` does not write, so that each row adds one demand. */
const OLD = (() => {
  const rest = without(labDeployment(lab), "shareSet", "labels");
  return { ...rest, name: "old", minNonce: 1, pivotArgs: pivotOf().args, pivotEnv: Object.fromEntries(pivotOf().env!) };
})() as unknown as Deployment;

function pivotOf() {
  const made = forge().manifest;
  if (made.pivot === undefined) throw new Error("expected a pivot");
  return { ...made.pivot, env: [...(made.pivot.env ?? [])] };
}

const ROLE = (OLD.pcrs as Readonly<Record<string, string>>)["3"]!;

/** The roll-out: another program, a higher nonce, and a PCR8. */
const rollOut = ({ namespace, pivot }: PivotManifest) => ({
  namespace: { ...namespace, nonce: 8 },
  pivot: { ...pivot, hash: new Uint8Array(32).fill(7) },
});
const NEW: Alterations = { ...manifest(rollOut), ...pcrs((values) => values.set(8, PCR8)) };
const STRANGERS = new Forge().manifestParts().shareSet;
/** The same, with shares of other people. */
const OTHER_SHARES: Alterations = {
  ...NEW,
  alterManifest: {
    manifest: (one) => ({ ...one, ...rollOut(one), shareSet: STRANGERS }),
    shareApprovals: () => [],
  },
};

function policyWith(...siblings: object[]): string {
  return JSON.stringify(labPolicy(ANCHOR, siblings as JsonObject[]));
}

async function verifiedOf(alterations: Alterations) {
  const evidence = forge(alterations);
  const options = optionsOf(evidence, { noPolicy: true, allowDebug: true });
  return (await verifyEvidence({ bootProofs: [evidence.bootProof] }, options)).bootProofs[0]!;
}

const madeOf = async (alterations: Alterations): Promise<MadePolicy> => makePolicy(await verifiedOf(alterations));
const NEW_MADE = await madeOf(NEW);
/** The same without evidence, and these pins only. */
const handMade = (pins: object): MadePolicy => ({
  policy: { policy: "bootproof/1", deployments: [{ name: "new", ...pins } as Deployment] },
  notes: [],
});

function add(siblings: object | readonly object[], made: MadePolicy, options: AddOptions = {}) {
  return addToPolicy(policyWith(...(Array.isArray(siblings) ? (siblings as object[]) : [siblings])), made, options);
}

const addedTo = (text: string): Deployment => (JSON.parse(text) as PolicyFile).deployments.at(-1)!;

/** `code demand` of each refusal. */
function refusalsOf(act: () => unknown): string[] {
  return errorOf(act).refusals.map(({ code, demand }) => `${code} ${demand}`);
}

function errorOf(act: () => unknown): DemandError {
  try {
    act();
  } catch (error) {
    if (error instanceof DemandError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

/** Of the evidence under the added deployment alone: the verdict, or the checks of the policy that failed. */
async function verdictAlone(text: string, alterations: Alterations): Promise<string> {
  const alone = dropDeployment(text, "old").text;
  const { bootProof } = forge(alterations);
  const { report } = await verifyEvidence({ bootProofs: [bootProof] }, { policy: parsePolicy(alone), now: NOW });
  return report.verdict === "verified" ? report.verdict : idsOf(report, "fail").join(" ");
}

interface PinTest {
  /** Of the sibling; the new evidence meets it. */
  readonly met: object;
  /** The pin in the deployment that is added beside it. */
  readonly kept: unknown;
  /** Of the sibling; the new evidence does not meet it. Null: it is pinned anew, or never differs. */
  readonly unmet: object | null;
  readonly refused?: readonly string[];
  /** Evidence that differs from the demand: it is rejected under what was added. */
  readonly attack?: readonly [alterations: Alterations, checks: string];
  /** Of a deployment without evidence that has none of it: what is carried over, or refused. */
  readonly silent: { readonly kept: unknown } | { readonly refused: readonly string[] };
}

/** The pins of a deployment that no evidence is known of: decided by its manifest set. */
const SILENT = { namespace: "lab/signer", manifestSet: keysOf(manifestSet) };
const own = NEW_MADE.policy.deployments[0]!;
const NEW_HASH = toHex(forge(NEW).manifestHash);

const TESTS: Readonly<Record<Exclude<PinName, "userData" | "publicKey" | "provenance">, PinTest>> = {
  pcrs: {
    met: { pcrs: { ...OLD.pcrs, "8": toHex(PCR8).toUpperCase() } },
    kept: { ...own.pcrs, "8": toHex(PCR8) },
    unmet: { pcrs: { ...OLD.pcrs, "8": OTHER_PCR } },
    refused: ["demand-unmet pcrs.8"],
    attack: [
      { ...NEW, ...pcrs((values) => values.set(8, new Uint8Array(48).fill(9))) },
      "policy.deployment policy.pcrs",
    ],
    silent: { refused: ["demand-unmet pcrs"] },
  },
  manifestHash: {
    met: { manifestHash: HASH },
    kept: [toHex(forge(NEW).manifestHash)],
    unmet: null,
    silent: { refused: ["demand-of-one-version manifestHash"] },
  },
  pivotHash: { met: {}, kept: own.pivotHash, unmet: null, silent: { refused: ["demand-unmet pivotHash"] } },
  workloads: {
    met: {},
    kept: undefined,
    unmet: {
      pivotHash: undefined,
      pivotArgs: undefined,
      pivotEnv: undefined,
      workloads: { a: `sha256:${HASH}` },
    },
    refused: ["demand-unmet workloads"],
    silent: { kept: undefined },
  },
  pivotArgs: {
    met: {},
    kept: own.pivotArgs,
    unmet: { pivotArgs: ["--auth"] },
    refused: ["demand-unmet pivotArgs"],
    silent: { kept: OLD.pivotArgs },
  },
  pivotEnv: {
    met: {},
    kept: own.pivotEnv,
    unmet: { pivotEnv: { REQUIRE_AUTH: "1" } },
    refused: ["demand-unmet pivotEnv"],
    silent: { kept: OLD.pivotEnv },
  },
  namespace: {
    met: { namespace: ["lab/other", "lab/signer"] },
    kept: "lab/signer",
    unmet: null,
    silent: { kept: "lab/signer" },
  },
  minNonce: {
    met: { minNonce: 7 },
    kept: 8,
    unmet: { minNonce: 9 },
    refused: ["demand-unmet minNonce"],
    silent: { kept: 7 },
  },
  quorumKey: {
    met: {},
    kept: own.quorumKey,
    unmet: { quorumKey: toHex(new Forge().quorumKey.publicKey) },
    refused: ["demand-unmet quorumKey"],
    silent: { kept: OLD.quorumKey },
  },
  manifestSet: {
    met: { manifestSet: { ...keysOf(manifestSet), threshold: 1 } },
    kept: own.manifestSet,
    unmet: { manifestSet: OTHERS },
    refused: ["demand-unmet manifestSet"],
    silent: { kept: SILENT.manifestSet },
  },
  shareSet: {
    met: { shareSet: keysOf(shareSet) },
    kept: keysOf(shareSet),
    unmet: { shareSet: OTHERS },
    refused: ["demand-unmet shareSet"],
    attack: [OTHER_SHARES, "policy.deployment policy.share-set"],
    silent: { kept: keysOf(shareSet) },
  },
  commitment: {
    met: { commitment: "live" },
    kept: "live",
    unmet: { commitment: "legacy" },
    refused: ["demand-unmet commitment"],
    silent: { kept: undefined },
  },
  labels: {
    met: { labels: { owner, enclaveApp, comment: "both" } },
    kept: { owner, enclaveApp },
    unmet: { labels: { enclaveApp, owner: "somebody" } },
    refused: ["demand-unmet labels.owner"],
    attack: [{ ...NEW, bootProof: (json) => ({ ...json, owner: "somebody" }) }, "policy.deployment policy.labels"],
    silent: { kept: { owner, enclaveApp } },
  },
};

describe("each pin of the table", () => {
  const rows = Object.entries(TESTS) as [keyof typeof TESTS, PinTest][];

  it("has a test, but for those of documents without a namespace, and provenance below", () => {
    const others = ["userData", "publicKey", "provenance"];
    expect([...Object.keys(TESTS), ...others].sort()).toEqual(Object.keys(KEEPING).sort());
  });

  it.each(rows)("%s: what the new evidence meets is kept, and the result verifies it", async (name, row) => {
    const { text, added } = add({ ...OLD, ...row.met }, NEW_MADE);
    expect([added.length, addedTo(text)[name]]).toEqual([1, row.kept]);
    expect(await verdictAlone(text, NEW)).toBe("verified");
    if (row.attack !== undefined) expect(await verdictAlone(text, row.attack[0])).toBe(row.attack[1]);
  });

  it.each(rows.filter(([, { unmet }]) => unmet !== null))(
    "%s: what it does not meet is refused, and dropped by name",
    async (name, { unmet, refused }) => {
      const sibling = JSON.parse(JSON.stringify({ ...OLD, ...unmet })) as object;
      const { refusals, message } = errorOf(() => add(sibling, NEW_MADE));
      expect(refusals.map(({ code, demand }) => `${code} ${demand}`)).toEqual(refused);
      const [{ demand, advice, deployment, siblings }] = refusals as [(typeof refusals)[number]];
      expect([deployment, siblings]).toEqual([own.name, ["old"]]);
      expect(advice).toContain(`--drop ${demand}`);
      expect(message).toContain(`"${own.name!}": ${demand}: `);
      for (const drop of [[demand], [name]]) {
        const { text, added } = add(sibling, NEW_MADE, { drop });
        expect(added).toHaveLength(1);
        expect(await verdictAlone(text, NEW)).toBe("verified");
      }
    },
  );

  it.each(rows)("%s: without evidence it is carried over, unless it names one version", (name, row) => {
    const sibling = { ...OLD, ...row.met };
    const rest = name === "pcrs" || name === "manifestHash" ? {} : { pcrs: own.pcrs };
    const pins = { ...SILENT, ...rest, ...(name === "pivotHash" ? {} : { pivotHash: HASH }) };
    const drop = name === "manifestHash" ? ["pcrs"] : [];
    const act = () => add(sibling, handMade(pins), { drop });
    if ("refused" in row.silent) expect(refusalsOf(act)).toEqual(row.silent.refused);
    else expect(addedTo(act().text)[name]).toEqual(row.silent.kept);
  });
});

describe("labels", () => {
  const labels = { enclaveApp, owner, deploymentLabel: LABELS.deploymentLabel };

  it("that name one version are refused even where they are equal, and dropped alone", () => {
    const sibling = { ...OLD, labels };
    expect(refusalsOf(() => add(sibling, NEW_MADE))).toEqual(["demand-of-one-version labels.deploymentLabel"]);
    const { text } = add(sibling, NEW_MADE, { drop: ["labels.deploymentLabel"] });
    expect(addedTo(text).labels).toEqual({ enclaveApp, owner });
    for (const drop of [["labels"], Object.keys(labels).map((label) => `labels.${label}`)])
      expect(addedTo(add(sibling, NEW_MADE, { drop }).text)).not.toHaveProperty("labels");
  });

  it("of the new deployment stay, and have to be those of the sibling", () => {
    const pins = { ...own, labels: { deploymentLabel: "r8" } };
    expect(addedTo(add({ ...OLD, labels }, handMade(pins)).text).labels).toEqual({ ...labels, deploymentLabel: "r8" });
    const other = { ...own, labels: { owner: "somebody", deploymentLabel: "r8" } };
    const { refusals } = errorOf(() => add({ ...OLD, labels }, handMade(other)));
    expect(refusals.map(({ demand, message }) => [demand, message])).toEqual([
      ["labels.owner", `"${owner}" is demanded, but the new value is "somebody"`],
    ]);
    expect(addedTo(add({ ...OLD, labels }, handMade({ ...own, labels })).text).labels).toEqual(labels);
  });

  it("that the service does not give are not met", async () => {
    const made = await madeOf({
      ...NEW,
      bootProof: (json) => without(json, "owner"),
    });
    const { refusals } = errorOf(() => add({ ...OLD, labels: { owner } }, made));
    expect(refusals.map(({ message }) => message)).toEqual([`"${owner}" is demanded, but the new value is none`]);
  });
});

describe("the manifest's hash", () => {
  const least = { ...SILENT, pcrs: own.pcrs, manifestHash: HASH };

  it("pins the program that nothing else pins", () => {
    expect(addedTo(add(OLD, handMade(least)).text)).not.toHaveProperty("pivotHash");
    const old = { ...without(OLD, "pivotHash", "pivotArgs", "pivotEnv"), workloads: { a: `sha256:${HASH}` } };
    expect(addedTo(add(old, handMade(least)).text)).not.toHaveProperty("workloads");
  });

  it("of the new deployment stays", () => {
    const made = { ...NEW_MADE, policy: { ...NEW_MADE.policy, deployments: [{ ...own, manifestHash: NEW_HASH }] } };
    for (const one of [handMade({ ...own, manifestHash: HASH.toUpperCase() }), made]) {
      const [deployment] = one.policy.deployments;
      const { text, notes } = add({ ...OLD, manifestHash: "ef".repeat(32) }, one);
      expect(addedTo(text).manifestHash).toEqual(deployment!.manifestHash);
      expect(notes.join()).not.toContain("anew");
    }
    expect(add({ ...OLD, manifestHash: HASH }, NEW_MADE).notes.join()).toContain("manifestHash is pinned anew");
  });

  it("of workloads leaves no place for the pins of a pivot, whatever the new deployment pins", async () => {
    const evidence = forge({ version: "v3" });
    const options = optionsOf(evidence, { noPolicy: true });
    const verified = (await verifyEvidence({ bootProofs: [evidence.bootProof] }, options)).bootProofs[0]!;
    const made = makePolicy(verified);
    const deployments = made.policy.deployments.map((one) => ({
      ...without(one, "workloads"),
      manifestHash: toHex(evidence.manifestHash),
    }));
    const act = () => add({ ...OLD, pivotArgs: ["a"] }, { ...made, policy: { ...made.policy, deployments } });
    expect(errorOf(act).refusals.map(({ message }) => message)).toEqual([
      '["a"] is demanded, but the new value is pinned, but the manifest has workloads and no pivot',
      expect.stringContaining("workloads and no pivot"),
    ]);
  });
});

describe("what was compared in another way", () => {
  it("is not compared again", () => {
    const old = { ...OLD, manifestSet: OTHERS };
    expect(addedTo(add(old, { ...NEW_MADE, judged: ["manifestSet"] }).text).manifestSet).toEqual(own.manifestSet);
    expect(refusalsOf(() => add(old, { ...NEW_MADE, judged: ["shareSet"] }))).toEqual(["demand-unmet manifestSet"]);
  });
});

describe("PCRs", () => {
  const eight = toHex(PCR8);
  const with8 = (value: unknown) => ({ ...OLD.pcrs, "8": value });

  it.each<[string, unknown, unknown]>([
    ["one of several values", with8([OTHER_PCR, eight]), { ...own.pcrs, "8": [OTHER_PCR, eight] }],
    ["one of several images", [with8(OTHER_PCR), with8(eight)], { ...own.pcrs, "8": eight }],
    ["images that only differ in their version", [with8(eight), { ...with8(eight), "0": OTHER_PCR }], with8(eight)],
    ["an image that demands no other PCR", [OLD.pcrs, with8(eight)], [own.pcrs, { ...own.pcrs, "8": eight }]],
    ["no PCR but those of the version", { "0": OTHER_PCR, "1": OTHER_PCR, "2": OTHER_PCR }, own.pcrs],
  ])("are kept where the sibling takes %s", (_, pcrsOfOld, kept) => {
    expect(addedTo(add({ ...OLD, pcrs: pcrsOfOld }, NEW_MADE).text).pcrs).toEqual(kept);
  });

  it("name what differs from the nearest image, and can be dropped one by one", async () => {
    const old = {
      ...OLD,
      pcrs: [
        { ...with8(OTHER_PCR), "4": OTHER_PCR },
        { ...with8(OTHER_PCR), "3": ROLE },
      ],
    };
    const { refusals } = errorOf(() => add(old, NEW_MADE));
    expect(refusals.map(({ demand, message }) => [demand, message])).toEqual([
      ["pcrs.8", `${OTHER_PCR} is demanded, but the new value is ${eight}`],
    ]);
    expect(addedTo(add(old, NEW_MADE, { drop: ["pcrs.8"] }).text).pcrs).toEqual(own.pcrs);
    const absent = await madeOf({ ...manifest(rollOut), generation: "legacy" });
    const demanding = { ...OLD, commitment: "legacy", pcrs: { ...OLD.pcrs, "30": OTHER_PCR } };
    expect(errorOf(() => add(demanding, absent)).refusals[0]!.message).toContain("but the new value is absent");
  });

  it("are demanded of each image of the new deployment, or of its manifest", () => {
    const images = [own.pcrs, { ...own.pcrs, "8": OTHER_PCR }];
    const old = { ...OLD, pcrs: with8(eight) };
    expect(refusalsOf(() => add(old, handMade({ ...own, pcrs: images })))).toEqual(["demand-unmet pcrs.8"]);
    const made = handMade({ ...own, pcrs: undefined, manifestHash: HASH });
    const parsed = JSON.parse(JSON.stringify(made)) as MadePolicy;
    expect(addedTo(add(old, parsed).text).pcrs).toEqual({ "3": ROLE, "8": eight });
    const without3 = { ...OLD, pcrs: { "0": OTHER_PCR, "1": OTHER_PCR, "2": OTHER_PCR } };
    expect(addedTo(add(without3, parsed).text)).not.toHaveProperty("pcrs");
  });

  it("that the sibling does not pin are not demanded, and its own are carried over", () => {
    const made = handMade({ ...SILENT, pivotHash: HASH });
    expect(addedTo(add({ ...OLD, pcrs: { "3": ROLE } }, made).text).pcrs).toEqual({ "3": ROLE });
    const upper = { "0": OTHER_PCR.toUpperCase(), "1": OTHER_PCR, "2": OTHER_PCR, "3": ROLE.toUpperCase() };
    expect(addedTo(add(OLD, handMade({ ...own, pcrs: upper })).text).pcrs).toEqual(upper);
  });

  it("are named with every value", () => {
    const several = { ...OLD, pcrs: with8([OTHER_PCR, "98".repeat(48)]) };
    const made = handMade({ ...own, pcrs: { ...own.pcrs, "8": [eight, "97".repeat(48)] } });
    const { message, advice } = errorOf(() => add(several, made)).refusals[0]!;
    const either = (...values: string[]) => values.join(" or ");
    const demanded = either(OTHER_PCR, "98".repeat(48));
    const says = `${demanded} is demanded, but the new value is ${either(eight, "97".repeat(48))}`;
    expect([message, advice]).toEqual([says, "To add the deployment without this demand: --drop pcrs.8"]);
  });
});

describe("another kind of application", () => {
  const rest = without(own, "pivotHash", "pivotArgs", "pivotEnv");
  const workloads = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, `sha256:${HASH}`]));

  it("is refused for each pin of the program that it has not", () => {
    const made = handMade({ ...rest, workloads: workloads(["a"]) });
    const names = ["pivotHash", "pivotArgs", "pivotEnv"];
    expect(refusalsOf(() => add(OLD, made))).toEqual(names.map((name) => `demand-unmet ${name}`));
    expect(addedTo(add(OLD, made, { drop: names }).text).workloads).toEqual(workloads(["a"]));
  });

  it("has the same workloads by name, of another version", () => {
    const old = { ...OLD, pivotHash: undefined, pivotArgs: undefined, pivotEnv: undefined };
    const beside = (names: readonly string[], more: object = {}) =>
      add(JSON.parse(JSON.stringify({ ...old, workloads: workloads(["b", "a"]) })) as object, {
        ...handMade({ ...rest, workloads: { ...workloads(names), ...more } }),
      });
    expect(addedTo(beside(["a", "b"], { a: `sha256:${"ef".repeat(32)}` }).text).workloads).toMatchObject({
      b: HASH_TEXT,
    });
    const { refusals } = errorOf(() => beside(["a"]));
    expect(refusals.map(({ message }) => message)).toEqual(["a, b is demanded, but the new value is a"]);
  });
  const HASH_TEXT = `sha256:${HASH}`;
});

describe("the types of app proof", () => {
  it("are carried over where the new deployment names none", () => {
    const old = { ...OLD, appProofs: { types: ["B", "A"] } };
    expect(addedTo(add(old, NEW_MADE).text).appProofs).toEqual({ types: ["B", "A"] });
    expect(addedTo(add(old, NEW_MADE, { drop: ["appProofs"] }).text)).not.toHaveProperty("appProofs");
    const named = handMade({ ...own, appProofs: { types: ["C"] } });
    expect(addedTo(add(old, named).text).appProofs).toEqual({ types: ["C"] });
    expect(addedTo(add(OLD, NEW_MADE).text)).not.toHaveProperty("appProofs");
  });
});

describe("siblings", () => {
  const shared = { shareSet: keysOf(shareSet) };
  const other = { ...OLD, name: "other", labels: { owner: "somebody" } };

  it("are those of the namespace: the one with the highest minNonce counts", () => {
    const text = add(
      [other, { ...OLD, ...shared, minNonce: 2 }, { ...OLD, name: "a", minNonce: undefined }],
      NEW_MADE,
    ).text;
    expect(addedTo(text).shareSet).toEqual(shared.shareSet);
    expect(addedTo(text)).not.toHaveProperty("labels");
    const zero = [{ ...OLD, ...shared, minNonce: 0 }, JSON.parse(JSON.stringify({ ...other, minNonce: undefined }))];
    expect(addedTo(add(zero as object[], NEW_MADE).text).shareSet).toEqual(shared.shareSet);
    const elsewhere = { ...other, namespace: "lab/other", minNonce: 99 };
    expect(addedTo(add([{ ...OLD, ...shared }, elsewhere], NEW_MADE).text).shareSet).toEqual(shared.shareSet);
  });

  it("that share it and differ are refused, unless what differs is dropped", () => {
    const two = [
      { ...OLD, ...shared },
      { ...OLD, name: "b", shareSet: OTHERS },
    ];
    const { refusals } = errorOf(() => add(two, NEW_MADE));
    expect(refusals).toMatchObject([{ code: "siblings-differ", demand: "shareSet", siblings: ["old", "b"] }]);
    expect(refusals[0]!.message).toContain('"old" and "b" have the same minNonce');
    expect(refusals[0]!.advice).toBe(
      "Remove one of them from the policy first. To add the deployment without this demand: --drop shareSet",
    );
    expect(addedTo(add(two, NEW_MADE, { drop: ["shareSet"] }).text)).not.toHaveProperty("shareSet");
    const one = [
      { ...OLD, ...shared },
      { ...OLD, name: "b" },
    ];
    expect(refusalsOf(() => add(one, NEW_MADE))).toEqual(["siblings-differ shareSet"]);
    const types = [
      { ...OLD, appProofs: { types: ["A"] } },
      { ...OLD, name: "b", appProofs: { types: ["B"] } },
    ];
    expect(refusalsOf(() => add(types, NEW_MADE))).toEqual(["siblings-differ appProofs"]);
    const labels = [
      { ...OLD, labels: { owner: "x" } },
      { ...OLD, name: "b", labels: { enclaveApp: "x" } },
    ];
    expect(refusalsOf(() => add(labels, NEW_MADE))).toEqual(["siblings-differ labels"]);
    const roles = [OLD, { ...OLD, name: "b", pcrs: { ...OLD.pcrs, "3": OTHER_PCR } }];
    expect(refusalsOf(() => add(roles, NEW_MADE))).toEqual(["siblings-differ pcrs"]);
  });

  it("that share it and demand the same in other words count as one", () => {
    const { members } = shared.shareSet as { members: readonly string[] };
    const upper = { ...shared.shareSet, members: members.map((key) => key.toUpperCase()).reverse() };
    const two = [
      { ...OLD, ...shared, appProofs: { types: ["A", "B"] } },
      { ...OLD, name: "b", shareSet: upper, pivotHash: HASH, appProofs: { types: ["B", "A"] } },
    ];
    expect(addedTo(add(two, NEW_MADE).text).shareSet).toEqual(shared.shareSet);
  });

  it("are unknown without a namespace, which a warning says where a demand is lost", () => {
    const nameless = JSON.parse(
      JSON.stringify({ ...OLD, ...shared, namespace: undefined, minNonce: undefined }),
    ) as object;
    const { text, notes } = add(nameless, NEW_MADE);
    expect(addedTo(text)).not.toHaveProperty("shareSet");
    expect(notes).toEqual([
      `"old" pins no namespace, so "${own.name!}" keeps no demand of "old": shareSet`,
      ...notes.slice(1),
    ]);
    expect(
      add(JSON.parse(JSON.stringify({ ...OLD, namespace: undefined, minNonce: undefined })), NEW_MADE).notes,
    ).toEqual(notes.slice(1));
    const made = handMade({ ...own, namespace: undefined, minNonce: undefined });
    const stranger = add({ ...OLD, ...shared }, JSON.parse(JSON.stringify(made)) as MadePolicy);
    expect(stranger.notes[0]).toBe(
      `"${own.name!}" pins no namespace, so "${own.name!}" keeps no demand of "old": namespace, minNonce, shareSet`,
    );
    expect(add({ ...OLD, ...shared, namespace: "lab/other" }, NEW_MADE).notes.join()).not.toContain("keeps no demand");
    const nitro = { name: "n", kind: "nitro", pcrs: own.pcrs, userData: "ab" };
    expect(add([nitro, OLD], NEW_MADE).notes.join()).not.toContain("keeps no demand");
    expect(add(nitro, NEW_MADE).notes.join()).not.toContain("keeps no demand");
    expect(add(nitro, handMade({ kind: "nitro", pcrs: { ...own.pcrs, "0": OTHER_PCR } })).notes.join()).toContain(
      "userData",
    );
  });

  it("are found by the evidence, where the new deployment cannot pin its namespace", async () => {
    const made = await madeOf(NEW);
    const least = { ...without(own, "namespace", "minNonce"), manifestHash: toHex(forge(NEW).manifestHash) };
    const policy = { ...made.policy, deployments: [least] };
    expect(addedTo(add({ ...OLD, ...shared }, { ...made, policy }).text)).toMatchObject({
      namespace: "lab/signer",
      ...shared,
    });
  });
});

describe("what is there already", () => {
  it("is not refused for what its siblings demand, and not changed", () => {
    const policy = add({ ...OLD, shareSet: keysOf(shareSet) }, NEW_MADE, { drop: ["shareSet"] }).text;
    const again = addToPolicy(policy, NEW_MADE);
    expect([again.added, again.text]).toEqual([[], policy]);
    expect(addToPolicy(policy, NEW_MADE, { drop: ["quorumKey"] }).text).toBe(policy);
  });
});

describe("drop", () => {
  it("of what nobody demands is refused, with the nearest name and those that there are", () => {
    const { refusals } = errorOf(() => add({ ...OLD, shareSet: keysOf(shareSet) }, NEW_MADE, { drop: ["shareset"] }));
    expect(refusals).toMatchObject([{ code: "drop-undemanded", demand: "shareset", deployment: null, siblings: [] }]);
    expect(refusals[0]!.message).toContain("did you mean shareSet?");
    expect(refusals[0]!.advice).toMatch(/^What can be dropped: pcrs, pcrs\.3, pivotHash, .*shareSet, commitment\.$/);
    for (const drop of ["labels", "labels.owner", "provenance", "appProofs", "pcrs.0", "pcrs.8", ""])
      expect(refusalsOf(() => add(OLD, NEW_MADE, { drop: [drop] }))).toEqual([`drop-undemanded ${drop}`]);
    const none = errorOf(() => add({ ...OLD, namespace: "lab/other" }, NEW_MADE, { drop: ["shareSet"] }));
    expect(none.refusals[0]!.advice).toBe("There is nothing to drop.");
    expect(none.message).toBe("shareSet: no deployment of the same namespace demands it");
  });

  it("is listed with all other refusals", () => {
    const old = { ...OLD, shareSet: OTHERS, labels: { owner: "somebody" } };
    const all = ["demand-unmet shareSet", "demand-unmet labels.owner", "drop-undemanded x"];
    expect(refusalsOf(() => add(old, NEW_MADE, { drop: ["x"] }))).toEqual(all);
    const error = errorOf(() => add(OLD, NEW_MADE, { drop: ["x", "y"] }));
    const words = "no deployment of the same namespace demands it";
    expect(error).toMatchObject({ name: "DemandError", code: "demands", message: `x: ${words}; y: ${words}` });
  });
});

describe("several boot proofs", () => {
  it("are all compared, also where they pin the same", async () => {
    const made = makePolicy([await verifiedOf(NEW), await verifiedOf(OTHER_SHARES)]);
    expect(made.policy.deployments).toHaveLength(1);
    expect(refusalsOf(() => add({ ...OLD, shareSet: keysOf(shareSet) }, made))).toEqual(["demand-unmet shareSet"]);
  });

  it("have to be verified", () => {
    expect(() => add(OLD, { ...NEW_MADE, evidence: [{} as never] })).toThrow(TypeError);
  });
});

describe("texts", () => {
  it("are cut, and name the values", () => {
    const { refusals } = errorOf(() => add({ ...OLD, manifestSet: OTHERS }, NEW_MADE));
    expect(refusals[0]!.message).toContain(`… (${JSON.stringify(OTHERS).length} characters) is demanded`);
    expect(refusals[0]!.message.split("…")[0]).toHaveLength(300);
    expect(refusals[0]!.message).not.toContain("\n");
    const { refusals: share } = errorOf(() => add({ ...OLD, shareSet: OTHERS }, NEW_MADE));
    expect(share[0]!.message).toMatch(/^threshold 1, 04[0-9a-f]+.* is demanded, but the new value is threshold \d, 04/);
  });
});

describe("provenance", async () => {
  const provenanceVerifier = await sigstoreVerifier();
  const { DEMAND, GENUINE, ROOT, enclave } = build;
  const readFile = () => ROOT;
  const TAGS = { ...DEMAND, ref: ["refs/tags/*", "refs/heads/*"], commit: undefined };
  const newer = forgeEvidence({
    lab: enclave,
    at: build.AT,
    alterManifest: { manifest: (one) => ({ ...one, namespace: { ...one.namespace, nonce: 8 } }) },
  });
  const { bootProofs } = await verifyEvidence(
    { bootProofs: [newer.bootProof] },
    { ...optionsOf(newer, { noPolicy: true }), now: build.NOW },
  );
  const made = makePolicy(bootProofs[0]!);
  const bare = made.policy.deployments[0]!;
  const old = (...demands: object[]): string => {
    const rest = without(labDeployment(enclave), "labels");
    const deployment = JSON.parse(JSON.stringify({ ...rest, name: "old", minNonce: 1, provenance: demands })) as never;
    return JSON.stringify(labPolicy(newer.anchorPem, [deployment]));
  };
  const addTo = (policy: string, options: AddOptions = {}, what: MadePolicy = made) =>
    addToPolicy(policy, what, { readFile, ...options });
  const pinning = (...provenance: object[]): MadePolicy =>
    handMade(JSON.parse(JSON.stringify({ ...bare, provenance })) as object);

  it("is carried over as it is where a bundle meets it, and the result verifies both", async () => {
    for (const demand of [DEMAND, TAGS]) {
      const { text, notes } = addTo(old(demand), { provenance: [GENUINE] });
      expect(addedTo(text).provenance).toEqual([JSON.parse(JSON.stringify(demand))]);
      expect(notes.join()).not.toContain("pinned anew");
      const policy = parsePolicy(dropDeployment(text, "old", { readFile }).text, { readFile });
      const verdict = async (provenance: string[]) => {
        const given = { bootProofs: [newer.bootProof], provenance };
        return (await verifyEvidence(given, { policy, now: build.NOW, provenanceVerifier })).report.verdict;
      };
      expect([await verdict([GENUINE]), await verdict([])]).toEqual(["verified", "rejected"]);
    }
  });

  it("of an earlier version is pinned anew, for the same repository and all else", () => {
    const earlier = { ...DEMAND, ref: "refs/tags/v1", commit: "00".repeat(20) };
    const { text, notes } = addTo(old(earlier), { provenance: [GENUINE] });
    expect(addedTo(text).provenance).toEqual([DEMAND]);
    expect(notes.join()).toContain(`pinned anew, as its bundle shows: commit ${DEMAND.commit}, ref ${DEMAND.ref}`);
    const ref = addTo(old({ ...earlier, commit: undefined }), { provenance: [GENUINE] });
    expect(addedTo(ref.text).provenance).toEqual([without(DEMAND, "commit")].map((one) => ({ ...one })));
    const commit = addTo(old({ ...TAGS, commit: "00".repeat(20) }), { provenance: [GENUINE] });
    expect(addedTo(commit.text).provenance).toEqual([{ ...DEMAND, ref: TAGS.ref }]);
    expect(commit.notes.join()).toMatch(/as its bundle shows: commit [0-9a-f]+$/);
  });

  it.each<[string, object, RegExp]>([
    ["another repository", { repository: "https://github.com/malancas/other" }, /repository/],
    ["another workflow", { workflow: "other.yml", ref: "refs/tags/v1" }, /workflow/],
    ["another runner", { runner: "self-hosted", commit: "00".repeat(20) }, /runner/],
    ["another signer", { signer: `${build.SIGNER}@refs/heads/main` }, /signer/],
    ["another runner and trigger", { runner: "x", trigger: "y" }, /runner.*; .*trigger/],
    ["a branch where tags are demanded", { ref: "refs/tags/*" }, /ref/],
    ["another type of statement", { predicateTypes: "https://example.com" }, /another type/],
  ])("is refused for %s", (_, members, says) => {
    const { refusals } = errorOf(() => addTo(old({ ...DEMAND, ...members }), { provenance: [GENUINE] }));
    expect(refusals).toMatchObject([{ code: "demand-unmet", demand: "provenance" }]);
    expect(refusals[0]!.message).toMatch(says);
    expect(refusals[0]!.message).toMatch(/^provenance\[0\]: /);
    expect(refusals[0]!.advice).toMatch(/--provenance FILE.*--drop provenance/);
  });

  it("is refused for a bundle of another binary, and takes that of several which meets it", () => {
    const other = build.bundleOf((statement) => (statement["subject"] = [{ name: "a", digest: { sha256: HASH } }]));
    expect(errorOf(() => addTo(old(DEMAND), { provenance: [other] })).message).toContain("of another binary");
    const nameless = build.changedBundle(({ verificationMaterial }) => {
      verificationMaterial.certificate = { rawBytes: Buffer.from(newer.anchorDer).toString("base64") };
    });
    expect(errorOf(() => addTo(old(DEMAND), { provenance: [nameless] })).message).toContain(
      "no subject alternative name",
    );
    for (const provenance of [
      [nameless, GENUINE],
      [other, GENUINE],
      [GENUINE, other],
    ])
      expect(addTo(old(DEMAND), { provenance }).added).toHaveLength(1);
    expect(refusalsOf(() => addTo(old(DEMAND, { ...DEMAND, runner: "x" }), { provenance: [GENUINE] }))).toEqual([
      "demand-unmet provenance",
    ]);
  });

  it("without a bundle is refused for a boot proof, and carried over without evidence", () => {
    for (const demand of [DEMAND, TAGS])
      expect(refusalsOf(() => addTo(old(demand)))).toEqual(["demand-not-shown provenance"]);
    expect(addedTo(addTo(old(TAGS), {}, handMade(bare)).text).provenance).toEqual([JSON.parse(JSON.stringify(TAGS))]);
    const mixed = { ...TAGS, ref: ["refs/tags/*", "refs/heads/main"] };
    for (const named of [DEMAND, mixed, { ...TAGS, ref: "refs/heads/main" }, { ...TAGS, commit: DEMAND.commit }])
      expect(refusalsOf(() => addTo(old(named), {}, handMade(bare)))).toEqual(["demand-of-one-version provenance"]);
    const rest = without(bare, "pivotHash", "pivotArgs", "pivotEnv");
    const foreign = handMade({ ...rest, workloads: { a: `sha256:${HASH}` } });
    const drop = ["pivotHash"];
    expect(refusalsOf(() => addTo(old(TAGS), { drop }, foreign))).toEqual(["demand-unmet provenance"]);
    expect(addedTo(addTo(old(DEMAND), { drop: ["provenance"] }).text)).not.toHaveProperty("provenance");
    const digest = { provenance: [GENUINE] };
    expect(addedTo(addTo(old(DEMAND), digest, handMade(bare)).text).provenance).toEqual([DEMAND]);
    const unknown = without(bare, "pivotHash");
    const held = () => addTo(old(DEMAND), { ...digest, drop }, handMade({ ...unknown, pivotArgs: [] }));
    expect(refusalsOf(held)).toEqual(["demand-unmet provenance"]);
  });

  it.each<[string, object, object, boolean]>([
    ["the same", {}, {}, true],
    ["another version", {}, { ref: "refs/tags/v2", commit: "00".repeat(20) }, true],
    ["a tag of any", { ref: "refs/tags/*" }, { ref: "refs/tags/v2" }, true],
    ["any tag of any", { ref: "refs/tags/*" }, { ref: "refs/tags/*" }, true],
    ["more", { runner: undefined, trigger: undefined, repositoryId: undefined }, {}, true],
    ["a version of a signer in any", { signer: build.SIGNER }, {}, true],
    ["one workflow of two", { workflow: [DEMAND.workflow, "b.yml"] }, {}, true],
    ["a workflow where it is open", { workflow: undefined, open: ["workflow"] }, {}, true],
    ["a ref where it is open", { ref: undefined, open: ["ref"] }, {}, true],
    ["another root", {}, { trustedRoot: { json: ROOT } }, true],
    ["no commit where none is demanded", { commit: undefined }, { commit: undefined }, true],
    ["a tag for a tag or branch", { ref: ["refs/tags/*", "refs/heads/*"] }, { ref: "refs/tags/v2" }, true],
    ["no name", { identity: DEMAND.signer }, {}, false],
    ["a branch beside a tag", { ref: "refs/tags/*" }, { ref: ["refs/tags/v2", "refs/heads/x"] }, false],
    ["a ref that begins alike", { ref: "refs/tags/*" }, { ref: "refs/tagsx" }, false],
    ["a longer ref of the signer", { signer: `${build.SIGNER}@a` }, { signer: `${build.SIGNER}@a@b` }, false],
    ["a branch for a tag of any", { ref: "refs/tags/*" }, { ref: "refs/heads/v2" }, false],
    ["any tag for one", { ref: "refs/tags/v1" }, { ref: "refs/tags/*" }, false],
    ["an open ref", {}, { ref: undefined, open: ["ref"] }, false],
    ["no commit", {}, { commit: undefined }, false],
    ["another repository", {}, { repository: "https://github.com/malancas/other" }, false],
    ["another id", {}, { repositoryId: "1" }, false],
    ["no runner", {}, { runner: undefined }, false],
    ["another trigger", {}, { trigger: "push" }, false],
    ["another workflow", {}, { workflow: "other.yml" }, false],
    ["one workflow more", {}, { workflow: [DEMAND.workflow, "other.yml"] }, false],
    ["an open workflow", {}, { workflow: undefined, open: ["workflow"] }, false],
    ["a signer where the workflow signs", { signer: undefined }, {}, false],
    ["no signer", {}, { signer: undefined }, false],
    ["a signer in any version", {}, { signer: build.SIGNER }, false],
    ["another signer", { signer: build.SIGNER }, { signer: "https://github.com/a/b.yml@refs/heads/main" }, false],
    ["another type", {}, { predicateTypes: ["https://slsa.dev/provenance/v1", "x"] }, false],
    ["another issuer", {}, { issuer: `${DEMAND.issuer}/acme` }, false],
  ])("that the new deployment pins itself: %s", (_, there, here, isKept) => {
    const act = () => addTo(old({ ...DEMAND, ...there }), {}, pinning({ ...DEMAND, ...here }));
    if (isKept) expect(addedTo(act().text).provenance).toEqual([JSON.parse(JSON.stringify({ ...DEMAND, ...here }))]);
    else expect(refusalsOf(act)).toEqual(["demand-unmet provenance"]);
  });

  it("that the new deployment pins itself has every demand", () => {
    const two = old(DEMAND, { ...DEMAND, predicateTypes: "b" });
    const { message } = errorOf(() => addTo(two, {}, pinning(DEMAND)));
    expect(message).toContain("provenance[1] of a sibling is not kept here");
    expect(addTo(two, {}, pinning({ ...DEMAND, predicateTypes: "b" }, DEMAND)).added).toHaveLength(1);
  });

  it("of two siblings has to be the same", () => {
    const [first] = (JSON.parse(old(TAGS)) as PolicyFile).deployments;
    const beside = (provenance: object[]) =>
      JSON.stringify(
        labPolicy(newer.anchorPem, [
          first,
          { ...first, name: "b", provenance, pivotHash: HASH },
        ] as unknown as JsonObject[]),
      );
    expect(addTo(beside([TAGS]), {}, handMade(bare)).added).toHaveLength(1);
    const other = beside([{ ...TAGS, runner: "self-hosted" }]);
    expect(refusalsOf(() => addTo(other, {}, handMade(bare)))).toEqual(["siblings-differ provenance"]);
  });

  it("of workloads is of each by its name", () => {
    const of = { workload: "a" };
    const { pivotHash: hash, ...rest } = without(bare, "pivotArgs", "pivotEnv");
    const digest = `sha256:${String(hash)}`;
    const [first] = (JSON.parse(old({ ...TAGS, of })) as PolicyFile).deployments;
    const sibling = { ...without(first!, "pivotHash"), workloads: { a: `sha256:${HASH}`, b: digest } };
    const policy = JSON.stringify(labPolicy(newer.anchorPem, [sibling as unknown as JsonObject]));
    const beside = (workloads: object, options: AddOptions = {}) =>
      addTo(policy, options, handMade({ ...rest, workloads }));
    expect(addedTo(beside({ a: digest, b: digest }).text).provenance).toMatchObject([{ of }]);
    const provenance = [GENUINE];
    expect(beside({ a: digest, b: `sha256:${HASH}` }, { provenance }).added).toHaveLength(1);
    const swapped = () => beside({ a: `sha256:${HASH}`, b: digest }, { provenance });
    expect(errorOf(swapped).refusals[0]!.message).toBe("provenance[0]: the bundle is of another binary");
    const pinned = (workload: string) => [JSON.parse(JSON.stringify({ ...TAGS, of: { workload } })) as object];
    const own = (workload: string) =>
      handMade({ ...rest, workloads: { a: digest, b: digest }, provenance: pinned(workload) });
    expect(addTo(policy, {}, own("a")).added).toHaveLength(1);
    expect(refusalsOf(() => addTo(policy, {}, own("b")))).toEqual(["demand-unmet provenance"]);
    const drop = ["workloads"];
    expect(refusalsOf(() => addTo(policy, { drop }, handMade(bare)))).toEqual(["demand-unmet provenance"]);
  });

  it("is of every program that the new deployment accepts", async () => {
    const second = forgeEvidence({
      lab: enclave,
      at: build.AT,
      alterManifest: {
        manifest: (one) => ({
          ...one,
          namespace: { ...one.namespace, nonce: 8 },
          pivot: { ...one.pivot, hash: new Uint8Array(32).fill(7) },
        }),
      },
    });
    const options = { ...optionsOf(second, { noPolicy: true }), now: build.NOW };
    const verified = (await verifyEvidence({ bootProofs: [second.bootProof] }, options)).bootProofs[0]!;
    const deployments = [{ ...bare, pivotHash: [bare.pivotHash as string, "07".repeat(32)] }];
    const both = { ...made, policy: { ...made.policy, deployments }, evidence: [verified, ...made.evidence!] };
    const act = () => addTo(old(DEMAND), { provenance: [GENUINE] }, both);
    expect(errorOf(act).refusals[0]!.message).toBe("provenance[0]: the bundle is of another binary");
  });

  it("of workloads is found in the evidence, and so is that of a program that is not pinned", async () => {
    const provenance = [GENUINE];
    const later = forgeEvidence({ lab: enclave, at: build.AT, version: "v3" });
    const options = { ...optionsOf(later, { noPolicy: true }), now: build.NOW };
    const verified = (await verifyEvidence({ bootProofs: [later.bootProof] }, options)).bootProofs[0]!;
    const workloads = makePolicy(verified);
    const [deployment] = workloads.policy.deployments;
    const [name] = Object.keys(deployment!.workloads!);
    const entry = JSON.parse(JSON.stringify({ ...TAGS, of: { workload: name } })) as object;
    const sibling = { ...deployment, name: "old", minNonce: 1, workloads: { [name!]: `sha256:${HASH}` } };
    const policy = JSON.stringify(labPolicy(later.anchorPem, [{ ...sibling, provenance: [entry] }] as never));
    expect(addedTo(addTo(policy, { provenance }, workloads).text).provenance).toEqual([entry]);
    const least = { ...without(bare, "pivotHash"), manifestHash: toHex(newer.manifestHash) };
    const unpinned = { ...made, policy: { ...made.policy, deployments: [least] } };
    expect(addTo(old(DEMAND), { provenance }, unpinned).added).toHaveLength(1);
  });

  it("of a pivot and of a workload is of neither", () => {
    const demands = [TAGS, { ...TAGS, of: { workload: "a" } }];
    const [first] = (JSON.parse(old(...demands)) as PolicyFile).deployments;
    const policy = JSON.stringify(labPolicy(newer.anchorPem, [without(first!, "pivotHash") as unknown as JsonObject]));
    expect(refusalsOf(() => addTo(policy, {}, handMade(bare)))).toEqual(["demand-unmet provenance"]);
  });

  describe("on a release of GitHub", () => {
    const sigstore = new LabSigstore({ kind: "private" });
    const root = { json: JSON.stringify(sigstore.trustedRoot) };
    const released = (release: Partial<LabRelease> = {}, digest = enclave.pivotHash): string =>
      sigstore.attest({ at: build.AT, digest, release });
    const demand = (members: object = {}): object => {
      const { githubRelease, ...rest } = labReleasePin(root);
      return { ...rest, githubRelease: { ...(githubRelease as object), ...members } };
    };
    const ANY = demand({ tag: undefined });

    it("is carried over where a bundle meets it, and its tag is pinned anew", async () => {
      for (const kept of [demand(), ANY, demand({ comment: "why" })]) {
        const { text, notes } = addTo(old(kept), { provenance: [released()] });
        expect(addedTo(text).provenance).toEqual([JSON.parse(JSON.stringify(kept))]);
        expect(notes.join()).not.toContain("pinned anew");
      }
      const { text, notes } = addTo(old(demand({ tag: "v1.2.2", comment: "why" })), { provenance: [released()] });
      expect(addedTo(text).provenance).toEqual([demand({ comment: "why" })]);
      expect(notes.join()).toContain("as its bundle shows: tag v1.2.3");
      const policy = parsePolicy(dropDeployment(text, "old", { readFile }).text, { readFile });
      const given = { bootProofs: [newer.bootProof], provenance: [released()] };
      const { report } = await verifyEvidence(given, { policy, now: build.NOW, provenanceVerifier });
      expect(report.verdict).toBe("verified");
    });

    it.each<[string, string, object, RegExp]>([
      ["another repository", released({ repository: "mallory/oracle" }), {}, /another repository in the predicate/],
      ["another id", released({ repositoryId: "1" }), {}, /another repositoryId in the predicate/],
      ["another tenant", released({ tenant: "acme" }), {}, /another subject alternative name/],
      ["github.com for a tenant", released(), { tenant: "acme" }, /another subject alternative name/],
      ["another binary", released({}, new Uint8Array(32)), {}, /of another binary/],
      ["a build", sigstore.attest({ at: build.AT, digest: enclave.pivotHash }), {}, /issuer.*another type/],
      ["a build in a log", GENUINE, {}, /a log entry/],
    ])("is refused for %s", (_, bundle, members, says) => {
      const act = (): unknown => addTo(old(demand({ tag: "v1", ...members })), { provenance: [bundle] });
      const { refusals } = errorOf(act);
      expect(refusals).toMatchObject([{ code: "demand-unmet", demand: "provenance" }]);
      expect(refusals[0]!.message).toMatch(says);
    });

    it("names one version by its tag", () => {
      expect(refusalsOf(() => addTo(old(demand()), {}, handMade(bare)))).toEqual(["demand-of-one-version provenance"]);
      expect(addedTo(addTo(old(ANY), {}, handMade(bare)).text).provenance).toEqual([JSON.parse(JSON.stringify(ANY))]);
    });

    it.each<[string, object, object, boolean]>([
      ["the same", demand(), demand(), true],
      ["another tag", demand(), demand({ tag: "v2" }), true],
      ["a tag where any passes", ANY, demand(), true],
      ["any tag where any passes", ANY, ANY, true],
      ["another root", demand(), { ...demand(), trustedRoot: [root, root] }, true],
      ["any tag for one", demand(), ANY, false],
      ["another repository", demand(), demand({ repository: "mallory/oracle" }), false],
      ["another id", demand(), demand({ repositoryId: "1" }), false],
      ["a tenant for github.com", demand(), demand({ tenant: "acme" }), false],
      ["github.com for a tenant", demand({ tenant: "acme" }), demand(), false],
      ["a build for a release", demand(), DEMAND, false],
      ["a release for a build", DEMAND, demand(), false],
    ])("that the new deployment pins itself: %s", (_, there, here, isKept) => {
      const act = () => addTo(old(there), {}, pinning(here));
      if (isKept) expect(addedTo(act().text).provenance).toEqual([JSON.parse(JSON.stringify(here))]);
      else expect(refusalsOf(act)).toEqual(["demand-unmet provenance"]);
    });

    it("of one workload is not that of another", () => {
      const { pivotHash: hash, ...rest } = without(bare, "pivotArgs", "pivotEnv");
      const workloads = { a: `sha256:${String(hash)}`, b: `sha256:${HASH}` };
      const of = (workload: string): object => ({ ...(JSON.parse(JSON.stringify(ANY)) as object), of: { workload } });
      const [first] = (JSON.parse(old(of("a"))) as PolicyFile).deployments;
      const sibling = { ...without(first!, "pivotHash"), workloads };
      const policy = JSON.stringify(labPolicy(newer.anchorPem, [sibling as unknown as JsonObject]));
      const act = (workload: string) => () =>
        addTo(
          policy,
          {},
          handMade({ ...rest, workloads: { ...workloads, b: workloads.a }, provenance: [of(workload)] }),
        );
      expect(act("a")().added).toHaveLength(1);
      expect(refusalsOf(act("b"))).toEqual(["demand-unmet provenance"]);
    });
  });

  it("names the faults of each entry, and one version in any", () => {
    const bad = { ...DEMAND, predicateTypes: "x" };
    const { message, advice } = errorOf(() => addTo(old(bad, bad), { provenance: [GENUINE] })).refusals[0]!;
    const fault = "the statement is of another type";
    expect(message).toBe(`provenance[0]: ${fault}; provenance[1]: ${fault}`);
    expect(advice).toBe(
      "Give the Sigstore bundle of the new build with its boot proof (--provenance FILE): it is pinned anew for the " +
        "same repository. To add the deployment without this demand: --drop provenance",
    );
    expect(refusalsOf(() => addTo(old(TAGS, DEMAND), {}, handMade(bare)))).toEqual([
      "demand-of-one-version provenance",
    ]);
  });

  it("that nobody demands takes no bundle", () => {
    const rest = without(labDeployment(enclave), "labels");
    const policy = JSON.stringify(labPolicy(newer.anchorPem, [{ ...rest, name: "old", minNonce: 1 }]));
    expect(refusalsOf(() => addTo(policy, { provenance: [GENUINE] }))).toEqual(["provenance-undemanded provenance"]);
    expect(addTo(policy, { provenance: [GENUINE] }, pinning(DEMAND)).added).toHaveLength(1);
    const two = pinning(DEMAND);
    const more = [...two.policy.deployments, { ...bare, name: "more", pivotHash: HASH }];
    const one = { ...two, policy: { ...two.policy, deployments: more } };
    expect(addTo(policy, { provenance: [GENUINE] }, one).added).toHaveLength(2);
    expect(() => addTo(old(DEMAND), { provenance: ["{"] })).toThrow(/malformed provenance/);
  });
});
