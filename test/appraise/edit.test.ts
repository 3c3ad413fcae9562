/** Roll-outs: what is added and dropped, what stays as it was written, and what is refused. */
import { describe, expect, it } from "vitest";
import { toUtf8 } from "../../src/bytes.js";
import { MalformedError, type PolicyFile, parsePolicy, verifyEvidence } from "../../src/index.js";
import { type MadePolicy, addToPolicy, dropDeployment, makePolicy, makeReleasePolicy } from "../../src/author/index.js";
import { certificatePem } from "../../src/verify/trust-anchor.js";
import type { VerifiedBootProof } from "../../src/verify/boot-proof.js";
import { type Alterations, NOW, forge, lab, manifest, optionsOf, otherLab } from "../attacks/support.js";
import { refusalOf } from "../support/faults.js";

const PCR = "AB".repeat(48);
const HASH = "cd".repeat(32);
const pcrs = `{ "3": "${PCR}", "0": "${PCR}", "1": "${PCR}", "2": "${PCR}" }`;
const OTHER = "ef".repeat(32);
const UNDERIVED = expect.stringMatching(/^no deployment of the policy is known to derive addresses/) as string;

/** As a person wrote it: comments, order, spelling and layout of their own. */
const WRITTEN = `{
  "$schema": "./node_modules/bootproof/dist/schemas/policy.schema.json",
  "comment": "reviewed by two, “twice”, { not a bracket ]",
  "deployments": [
    {
      "pivotHash": "${HASH}",
      "pcrs": ${pcrs},
      "comment": "the old one",
      "name": "old"
    },
    { "name": "second", "pcrs": ${pcrs}, "pivotHash": "${HASH}" }
  ],
  "policy": "bootproof/1",
  "name": "mine"
}
`;

/** A policy of one deployment, as one of a release is made. */
function made(deployment: Partial<PolicyFile["deployments"][number]> = {}, rest: Partial<PolicyFile> = {}): MadePolicy {
  const pins = { pcrs: { "0": PCR, "1": PCR, "2": PCR, "3": PCR }, pivotHash: OTHER };
  return {
    policy: { policy: "bootproof/1", deployments: [{ name: "new", ...pins, ...deployment }], ...rest },
    notes: [],
  };
}

const anchor = { pem: certificatePem(lab.pki.rootCertificate) };

async function verifiedOf(alterations: Alterations = {}): Promise<VerifiedBootProof> {
  const evidence = forge(alterations);
  const { bootProofs } = await verifyEvidence(
    { bootProofs: [evidence.bootProof] },
    optionsOf(evidence, { noPolicy: true, allowDebug: true }),
  );
  return bootProofs[0]!;
}

describe("adding to a policy", () => {
  it("puts the new deployment behind the old ones, and leaves every other character as it is", () => {
    const { text, added, notes } = addToPolicy(WRITTEN, made());
    expect([added, notes]).toEqual([["new"], [UNDERIVED]]);
    const at = WRITTEN.indexOf("\n  ],\n");
    expect(text.slice(0, at)).toBe(WRITTEN.slice(0, at));
    expect(text.endsWith(WRITTEN.slice(at))).toBe(true);
    expect(text.slice(at, text.length - (WRITTEN.length - at))).toBe(
      `, ${JSON.stringify(made().policy.deployments[0], undefined, 2).replaceAll("\n", "\n    ")}`.replace(
        ", {",
        ",\n    {",
      ),
    );
    expect(parsePolicy(text).deployments.map(({ name }) => name)).toEqual(["old", "second", "new"]);
  });

  it.each([
    ["with CRLF", (text: string) => text.replaceAll("\n", "\r\n"), /,\r\n {4}\{\r\n {6}"name": "new",\r\n/],
    ["with tabs", (text: string) => text.replaceAll(/ {2}/g, "\t"), /,\n\t\t\{\n\t\t\t"name": "new",\n/],
    ["in one line", (text: string) => JSON.stringify(JSON.parse(text)), /, \{"name":"new",/],
    [
      "with a member beside its first brace",
      (text: string) => text.replace("{\n  ", "{ "),
      /,\n {4}\{\n {6}"name": "new",\n/,
    ],
    ["without a line feed at its end", (text: string) => text.trimEnd(), /\n {4}\{\n {6}"name": "new"/],
  ])("keeps the layout of a file %s", (_, change, says) => {
    const before = change(WRITTEN);
    const { text } = addToPolicy(before, made());
    expect(text).toMatch(says);
    expect(text.length).toBeGreaterThan(before.length);
    expect(dropDeployment(text, "new").text).toBe(before);
  });

  it("takes text, bytes and values", () => {
    const { text } = addToPolicy(WRITTEN, made());
    expect(addToPolicy(toUtf8(WRITTEN), made()).text).toBe(text);
    expect(addToPolicy(JSON.parse(WRITTEN) as object, made()).text).toBe(
      `${JSON.stringify(JSON.parse(text), undefined, 2)}\n`,
    );
  });

  it("writes nothing that a reviewer would not see as it is", () => {
    const { text } = addToPolicy(WRITTEN, made({ pivotArgs: ["a\u202eb\u{e0001}é\u00a0"] }));
    expect(text).toContain('"a\\u202eb\\udb40\\udc01é\\u00a0"');
    expect(parsePolicy(text).deployments[2]!.pivotArgs).toEqual(["a\u202eb\u{e0001}é\u00a0"]);
  });

  it("gives a name that is taken a number", () => {
    expect(addToPolicy(WRITTEN, made({ name: "old" })).added).toEqual(["old (2)"]);
  });
});

describe("adding to a policy", () => {
  it.each([
    ["in the same words", {}],
    ["in upper case", { pivotHash: OTHER.toUpperCase() }],
    ["as a list of one", { pivotHash: [OTHER] }],
    ["twice", { pivotHash: [OTHER, OTHER] }],
    ["with what is the default", { kind: "qos", commitment: "live" }],
    ["with labels of which none is named", { labels: {} }],
  ] as const)("adds nothing that is there already: %s", (_, more) => {
    const once = addToPolicy(WRITTEN, made());
    const twice = addToPolicy(once.text, made({ name: "another", ...more }));
    expect(twice).toEqual({
      text: once.text,
      added: [],
      alreadyThere: [{ name: "another", as: "new" }],
      stillAcceptedBy: [],
      notes: [],
    });
  });

  it("adds a new trust anchor for a deployment that is there, and the rest of several", () => {
    const once = addToPolicy(WRITTEN, made());
    const anchored = addToPolicy(once.text, made({}, { trustAnchors: [anchor] }));
    expect([anchored.added, anchored.alreadyThere.length]).toEqual([[], 1]);
    expect(parsePolicy(anchored.text).trustAnchors).toHaveLength(2);
    const { policy } = made();
    const [deployment] = policy.deployments;
    const three = [
      deployment!,
      { ...deployment!, name: "b", pivotHash: PCR.slice(0, 64) },
      { ...deployment!, name: "c" },
    ];
    const several = addToPolicy(WRITTEN, { policy: { ...policy, deployments: three }, notes: [] });
    expect([several.added, several.alreadyThere]).toEqual([["new", "b"], [{ name: "c", as: "new" }]]);
  });

  it("adds what differs in its types of app proof, and says which of both counts", () => {
    const once = addToPolicy(WRITTEN, made({ appProofs: { types: ["A"] } }));
    const more = addToPolicy(once.text, made({ appProofs: { types: ["A", "B"] } }));
    expect(more.added).toEqual(["new (2)"]);
    expect(more.notes).toEqual([
      '"new" is before "new (2)" in the file and accepts the same boot proofs. So it matches first, and its types of ' +
        "app proof apply",
    ]);
  });

  it("counts the places of deployments without a name for names", () => {
    const nameless = JSON.stringify({
      policy: "bootproof/1",
      deployments: [{ pivotHash: HASH, pcrs: JSON.parse(pcrs) as object }],
    });
    expect(addToPolicy(nameless, made({ name: "deployments[0]" })).added).toEqual(["deployments[0] (2)"]);
  });
});

describe("adding to a policy", () => {
  it("writes both anchors where the policy names none", () => {
    const { text, notes } = addToPolicy(WRITTEN, made({}, { trustAnchors: [anchor] }));
    expect((JSON.parse(text) as PolicyFile).trustAnchors).toEqual(["aws-nitro-root-g1", anchor]);
    expect(text.indexOf('  "trustAnchors"')).toBeLessThan(text.indexOf('  "deployments"'));
    expect(notes.join()).toMatch(/CN=lab\.nitro-enclaves.* is now a trust anchor of every deployment/);
  });

  it("writes them into the line that a policy of one line is", () => {
    const line = JSON.stringify(JSON.parse(WRITTEN));
    const { text } = addToPolicy(line, made({}, { trustAnchors: [anchor] }));
    expect(text).toContain(`"trustAnchors": ["aws-nitro-root-g1",${JSON.stringify(anchor)}], "deployments":`);
  });

  it.each([
    ["the AWS root, the default", undefined, "aws-nitro-root-g1", undefined],
    ["the AWS root, named", ["aws-nitro-root-g1"], "aws-nitro-root-g1", ["aws-nitro-root-g1"]],
    ["the same PEM with text around it", [{ pem: `lab\n${anchor.pem}` }], anchor, [{ pem: `lab\n${anchor.pem}` }]],
    ["a file of the same certificate", [{ file: "lab.pem" }], anchor, [{ file: "lab.pem" }]],
    [
      "another one",
      ["aws-nitro-root-g1", { file: "lab.pem" }],
      { pem: certificatePem(otherLab.pki.rootCertificate) },
      ["aws-nitro-root-g1", { file: "lab.pem" }, { pem: certificatePem(otherLab.pki.rootCertificate) }],
    ],
  ] as const)("compares anchors by certificate: %s", (_, before, entry, after) => {
    const policy = { ...(JSON.parse(WRITTEN) as object), ...(before && { trustAnchors: before }) };
    const { text } = addToPolicy(policy, made({}, { trustAnchors: [entry] }), { readFile: () => anchor.pem });
    expect((JSON.parse(text) as PolicyFile).trustAnchors).toEqual(after);
  });

  it("says of a release that it brings no anchor", () => {
    const policy = { ...(JSON.parse(WRITTEN) as object), trustAnchors: [anchor] };
    const { text, notes } = addToPolicy(policy, made());
    expect((JSON.parse(text) as PolicyFile).trustAnchors).toEqual([anchor]);
    expect(notes.join()).toContain(
      "a release or a build names no trust anchor, and the policy does not have aws-nitro-",
    );
  });

  it("refuses a debug deployment where debug mode is not allowed, and says so where it is", () => {
    const debug = made({}, { allowDebug: true });
    expect(refusalOf(() => addToPolicy(WRITTEN, debug)).faults).toMatch(/^allowDebug: a debug deployment, and the/);
    const allowing = WRITTEN.replace('"name": "mine"', '"allowDebug": true');
    const notes = [UNDERIVED, "the policy allows debug mode, for the new deployment too"];
    expect(addToPolicy(allowing, debug).notes).toEqual(notes);
  });
});

describe("adding to a policy", () => {
  it("says where no proof of an address counts any more", () => {
    const types = { appProofs: { types: ["APP_PROOF_TYPE_ADDRESS_DERIVATION"] } };
    expect(addToPolicy(WRITTEN, made()).notes).toEqual([UNDERIVED]);
    expect(addToPolicy(WRITTEN, made(types)).notes).toEqual([]);
    const one = WRITTEN.replaceAll('"name"', '"namespace": "a", "name"').replace(
      '"namespace": "a", "name": "mine"',
      "",
    );
    expect(
      addToPolicy(one.replace('"policy": "bootproof/1",', '"policy": "bootproof/1"'), made({ namespace: "a" })).notes,
    ).toEqual([]);
    expect(
      addToPolicy(addToPolicy(WRITTEN, made()).text, made({ name: "b", pivotHash: "ba".repeat(32) })).notes,
    ).toEqual([]);
  });

  it.each([
    ["maxAge", { maxAge: "1d" }],
    ["appProofs", { appProofs: { types: ["A"] } }],
  ])("refuses %s of the other policy, which would be lost", (name, rest) => {
    expect(refusalOf(() => addToPolicy(WRITTEN, made({}, rest))).paths).toEqual([name]);
  });

  it("refuses what would be malformed together: types of different applications", () => {
    const typed = WRITTEN.replace('"name": "mine"', '"appProofs": { "types": ["A"] }');
    expect(refusalOf(() => addToPolicy(typed, made())).paths).toEqual(
      [0, 1, 2].map((index) => `deployments[${index}].appProofs.types`),
    );
    const own = typed.replaceAll(/"pivotHash"/g, '"appProofs": { "types": ["A"] }, "pivotHash"');
    expect(addToPolicy(own, made({ appProofs: { types: ["A"] } })).added).toEqual(["new"]);
  });

  it("refuses a malformed policy, with its own faults", () => {
    expect(refusalOf(() => addToPolicy("{", made())).code).toBe("json");
    expect(refusalOf(() => addToPolicy(WRITTEN.replace("pcrs", "pcr"), made())).faults).toContain("did you mean pcrs?");
    expect(() => addToPolicy(new Uint8Array([0xff]), made())).toThrow(MalformedError);
  });
});

describe("adding to a policy", () => {
  it("rolls out: both pass while both are there, and after the drop only one", async () => {
    const [first, second] = [{}, manifest(({ namespace }) => ({ namespace: { ...namespace, nonce: 8 } }))];
    const old = makePolicy(await verifiedOf(first));
    const { text, added } = addToPolicy(old.policy, makePolicy(await verifiedOf(second)));
    const name = old.policy.deployments[0]!.name!;
    const again = addToPolicy(text, old);
    const loose = { ...old.policy.deployments[0]!, name: "loose", minNonce: 1 };
    const after = dropDeployment(
      addToPolicy(text, { policy: { ...old.policy, deployments: [loose] }, notes: [] }, { drop: ["minNonce"] }).text,
      name,
    );
    const verdict = async (policy: string, alterations: Alterations): Promise<string> => {
      const { bootProof } = forge(alterations);
      const { report } = await verifyEvidence({ bootProofs: [bootProof] }, { policy: parsePolicy(policy), now: NOW });
      return report.verdict;
    };
    expect(added).toEqual(["lab/signer nonce 8"]);
    expect([await verdict(text, first), await verdict(text, second)]).toEqual(["verified", "verified"]);
    expect([again.added, again.text]).toEqual([[], text]);
    expect(await verdict(after.text, first)).toBe("verified");
    expect(after.stillAcceptedBy.map((one) => [one.name, one.extent])).toEqual([
      ["loose", "all"],
      ["lab/signer nonce 8", "part"],
    ]);
    const { text: dropped, stillAcceptedBy } = dropDeployment(text, name);
    expect(stillAcceptedBy.map(({ extent, narrower }) => [extent, narrower])).toEqual([["part", ["minNonce"]]]);
    expect([await verdict(dropped, first), await verdict(dropped, second)]).toEqual(["rejected", "verified"]);
  });

  it("takes what a release makes", () => {
    const release = {
      version: "r9",
      signer: { appBinaryDigest: HASH, PCR0: PCR, PCR1: PCR, PCR2: PCR, PCR3: PCR },
    };
    const pinned = makeReleasePolicy(release, "signer", { appProofTypes: ["A"] });
    expect(pinned.policy.deployments[0]!.appProofs).toEqual({ types: ["A"] });
    expect(addToPolicy(WRITTEN, pinned)).toMatchObject({
      added: ["signer r9"],
      notes: [expect.stringMatching(/^"old" is before "signer r9" in the file and accepts the same boot proofs/)],
    });
  });
});

describe("dropping a deployment", () => {
  it.each([
    ["the first", "old", ["second"]],
    ["the last in the list", "second", ["old"]],
  ])("takes out %s, and nothing else", (_, name, rest) => {
    const { text, added } = dropDeployment(WRITTEN, name);
    expect(added).toEqual([]);
    expect(parsePolicy(text).deployments.map((one) => one.name)).toEqual(rest);
    expect(WRITTEN.startsWith(text.slice(0, text.indexOf("deployments")))).toBe(true);
    expect(WRITTEN.endsWith(text.slice(text.indexOf("\n  ],")))).toBe(true);
    for (const kept of ["$schema", "reviewed by two, “twice”, { not a bracket ]", '"name": "mine"'])
      expect(text).toContain(kept);
    expect(() => JSON.parse(text) as unknown).not.toThrow();
  });

  it("says what still accepts what it dropped, and how loud that has to be", () => {
    expect(dropDeployment(WRITTEN, "old").stillAcceptedBy).toEqual([
      {
        name: "second",
        extent: "all",
        narrower: [],
        message: '"second" still accepts all that "old" accepted: the same evidence still passes',
      },
    ]);
    const { text } = addToPolicy(WRITTEN, made());
    expect(dropDeployment(text, "new").stillAcceptedBy).toEqual([]);
    const nameless = WRITTEN.replace('"name": "second", ', "");
    expect(dropDeployment(nameless, "old").stillAcceptedBy[0]!.name).toBe("deployments[0]");
  });

  it("names those that accept all of it first, and the others in their order", () => {
    const [deployment] = made().policy.deployments;
    const of = (name: string, more: object): object => ({ ...deployment, namespace: "n", name, ...more });
    const deployments = [
      of("dropped", {}),
      of("a", { minNonce: 8 }),
      of("b", { minNonce: 9 }),
      of("all", { pivotHash: [OTHER, HASH] }),
      of("c", { minNonce: 7 }),
    ];
    const { stillAcceptedBy } = dropDeployment({ ...made().policy, deployments }, "dropped");
    expect(stillAcceptedBy.map(({ name }) => name)).toEqual(["all", "a", "b", "c"]);
  });

  it("undoes what was added, byte for byte", () => {
    for (const name of ["new", "old"]) {
      const { text, added } = addToPolicy(WRITTEN, made({ name }));
      expect(dropDeployment(text, added[0]!).text).toBe(WRITTEN);
    }
  });
});

describe("dropping a deployment", () => {
  it("refuses a name that is not there, with those that are and the nearest", () => {
    expect(refusalOf(() => dropDeployment(WRITTEN, "secnd")).faults).toBe(
      'deployments: none is called "secnd", did you mean second?; there are "old", "second"',
    );
  });

  it("refuses the last one, and says why", () => {
    const { text } = dropDeployment(WRITTEN, "old");
    expect(refusalOf(() => dropDeployment(text, "second")).faults).toMatch(
      /^deployments: "second" is the last one: a policy needs at least one deployment/,
    );
    expect(refusalOf(() => dropDeployment(text, "second")).code).toBe("policy");
  });

  it("tells which deployments without a name go by another place now", () => {
    const nameless = WRITTEN.replace('"name": "second", ', "");
    expect(dropDeployment(nameless, "old").notes).toEqual([
      "deployments without a name are called by their place: deployments[1] is deployments[0] from now on",
    ]);
    expect(dropDeployment(nameless, "deployments[1]").notes).toEqual([]);
  });

  it("keeps the trust anchors, and says that they stay", () => {
    const { text } = addToPolicy(WRITTEN, made({}, { trustAnchors: [anchor] }));
    const dropped = dropDeployment(text, "new");
    expect((JSON.parse(dropped.text) as PolicyFile).trustAnchors).toHaveLength(2);
    expect(dropped.notes.join()).toMatch(/^trust anchors are for the whole policy, and stay: aws-nitro-root-g1, /);
  });
});
