/** The policy file: what is refused, with the path of every fault, and what is accepted. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { fromHex, toHex, toUtf8 } from "../../src/bytes.js";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "../../src/decode/json.js";
import { PINS } from "../../src/appraise/pins.js";
import { ParsedPolicy } from "../../src/appraise/parsed-policy.js";
import { namedFiles, policySchema } from "../../src/appraise/policy.js";
import { OF_BUNDLE, settingOf } from "../../src/inputs.js";
import {
  AWS_NITRO_ROOT_G1,
  MalformedError,
  type ParsePolicyOptions,
  type Policy,
  parsePolicy,
  verifyEvidence,
} from "../../src/index.js";
import { describePolicy } from "../../src/author/index.js";
import { labDeployment, labPolicy } from "../../src/lab/forge.js";
import { certificatePem } from "../../src/verify/trust-anchor.js";
import { NOW, drop, forge, lab, otherLab, put } from "../attacks/support.js";
import { attempt } from "../../src/errors.js";
import { isRefused, refusalOf } from "../support/faults.js";
import { fc } from "../support/property.js";
import { leastCostMs } from "../support/cost.js";

const PCR = "ab".repeat(48);
const HASH = "cd".repeat(32);
const KEY = "04".repeat(130);
const OTHER_KEY = "05".repeat(130);
const PEM = certificatePem(lab.pki.rootCertificate);

/** Every member there is. */
const full: JsonObject = {
  policy: "bootproof/1",
  name: "signer, production",
  trustAnchors: ["aws-nitro-root-g1"],
  deployments: [
    {
      name: "r2026.3.1",
      pcrs: { "0": PCR, "1": PCR, "2": PCR, "3": PCR },
      pivotHash: HASH,
      namespace: "prod/signer",
      minNonce: 7,
      quorumKey: KEY,
      manifestSet: { threshold: 1, members: [KEY, OTHER_KEY] },
      shareSet: { threshold: 2, members: [KEY, OTHER_KEY] },
      commitment: "live",
      labels: { enclaveApp: "signer", owner: "tkhq", deploymentLabel: "r2026.3.1" },
    },
  ],
  maxAge: "30d",
  appProofs: { types: ["APP_PROOF_TYPE_ADDRESS_DERIVATION"], maxAge: "10m", required: true, coverage: true },
  allowDebug: false,
};

const image: JsonObject = { "0": PCR, "1": PCR, "2": PCR, "3": PCR };
const code: JsonObject = { pcrs: image, pivotHash: HASH };
const least: JsonObject = { policy: "bootproof/1", deployments: [code] };

function bytesOf(policy: Policy): Uint8Array | null {
  return ParsedPolicy.is(policy) ? policy.bytes() : null;
}

type Faults = readonly (readonly [path: string, says: string])[];

/** The paths of all faults, each with words that its message has to hold. */
function expectFaults(
  input: string | Uint8Array | object,
  faults: Faults,
  options?: ParsePolicyOptions,
  code = "policy",
): void {
  let error: unknown;
  try {
    parsePolicy(input, options);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(MalformedError);
  const malformed = error as MalformedError;
  expect(malformed.code).toBe(code);
  expect(malformed.faults.map(({ path }) => path).sort()).toEqual(faults.map(([path]) => path).sort());
  for (const [path, says] of faults) {
    expect(
      malformed.faults
        .filter((fault) => fault.path === path)
        .map(({ message }) => message)
        .join("\n"),
    ).toContain(says);
    expect(malformed.message).toContain(path === "" ? says : `${path}: `);
  }
}

const D = "deployments.0";
const d = (member: string): string => `deployments[0].${member}`;
/** One thing of the full policy otherwise, one fault. */
const one = (
  at: string,
  value: JsonValue,
  says: string,
  path = at.replace(D, "deployments[0]"),
): [name: string, policy: JsonObject, faults: Faults] => [
  `${at} ${JSON.stringify(value).slice(0, 60)}`,
  put(at, value)(full),
  [[path, says]],
];
const lacks = (
  at: string,
  says: string,
  path = at.replace(D, "deployments[0]"),
): [name: string, policy: JsonObject, faults: Faults] => [`no ${at}`, drop(at)(full), [[path, says]]];
/** The paths of every member there is. */
const membersIn = (value: JsonValue, at: string): string[] =>
  isJsonObject(value)
    ? Object.entries(value).flatMap(([name, member]) => [at + name, ...membersIn(member, `${at}${name}.`)])
    : [];

const malformed: [name: string, policy: JsonObject, faults: Faults][] = [
  // No member may be null.
  ...[...membersIn(full, ""), ...membersIn((full["deployments"] as JsonValue[])[0]!, `${D}.`), "appProofs.untimed"].map(
    (at) => one(at, null, "null"),
  ),

  // The policy itself.
  lacks("policy", "bootproof/1"),
  one("policy", "bootproof/2", "bootproof/1"),
  one("policy", "bootproof/1 ", "bootproof/1"),
  one("policy", 1, "bootproof/1"),
  one("unknown", 1, "unknown member"),
  one("Name", "x", "unknown member"),
  one("deployment", [], "unknown member"),
  lacks("deployments", "expected an array, got nothing"),
  one("deployments", [], "empty"),

  // Durations.
  ...[
    "",
    "30",
    "d",
    "30 d",
    " 30d",
    "30d ",
    "-1d",
    "+1d",
    "0d",
    "0s",
    "01d",
    "1.5h",
    "1e3s",
    "30D",
    "30M",
    "30w",
    "30ms",
    "1h30m",
    "P30D",
    "9999999999d",
    "30d\n",
  ].map((value) => one("maxAge", value, "a duration such as")),
  one("maxAge", {}, 'expected a duration such as "10m", "12h" or "30d", got an object'),
  one("appProofs.maxAge", "10", "a duration such as"),
  one("appProofs.maxAge", 600, 'expected a duration such as "10m", "12h" or "30d", got a number'),

  // App proofs.
  one("appProofs.untimed", [], "empty"),
  one("appProofs.untimed", ["APP_PROOF_TYPE_POLICY_OUTCOME"], "always have a time", "appProofs.untimed[0]"),
  one(
    "appProofs",
    { types: ["A"], untimed: ["A", "APP_PROOF_TYPE_ADDRESS_DERIVATION"] },
    "always have a time",
    "appProofs.untimed[1]",
  ),
  one("appProofs", { types: ["A"], untimed: ["B"] }, "not in appProofs.types", "appProofs.untimed[0]"),
  one(`${D}.appProofs`, { types: ["x"], untimed: ["x"] }, "unknown member", d("appProofs.untimed")),
  one("appProofs.type", "x", "unknown member"),
  one("appProofs.types", [], "empty"),

  // A deployment. Values of other types: test/decode/shapes.test.ts, and of each pin test/appraise/pins.test.ts.
  one(D, "x", "expected an object, got a string"),
  one("allowDebug", "true", "expected true or false, got a string"),
  one("appProofs.decision", "yes", "expected true or false, got a string"),
  one(`${D}.unknown`, 1, "unknown member"),
  one(`${D}.pivothash`, HASH, "unknown member"),
  one("appProofs.types", ["a", ""], "empty", "appProofs.types[1]"),
  one("appProofs.untimed", [""], "empty", "appProofs.untimed[0]"),
  one("appProofs", { types: ["A", "B"], untimed: ["B", "b"] }, "not in appProofs.types", "appProofs.untimed[1]"),

  // PCRs.
  one(`${D}.pcrs.0`, PCR.slice(1), "95 hex digits, expected 96"),
  one(`${D}.pcrs.0`, `${PCR}\n`, "hex with line breaks"),
  one(`${D}.pcrs.0`, [], "empty"),
  one(`${D}.pcrs.0`, [PCR, "00"], "2 hex digits, expected 96", d("pcrs.0[1]")),
  ...["32", "00", "01", "-1", "1.0", "1e0", "99", "100", "PCR0", " 0", ""].map((index) =>
    one(`${D}.pcrs.${index.replace(".", "·")}`, PCR, "not the index of a PCR (0 to 31)"),
  ),
  one(`${D}.pcrs`, {}, "empty"),
  one(`${D}.pcrs`, [], "empty"),
  one(`${D}.pcrs`, [{ "0": PCR }, {}], "empty", d("pcrs[1]")),
  one(`${D}.pcrs`, [{ "0": PCR }, { "0": "00" }], "2 hex digits, expected 96", d("pcrs[1].0")),

  // The other pins.
  one(`${D}.pivotHash`, HASH.slice(2), "62 hex digits, expected 64"),
  one(`${D}.pivotHash`, PCR, "96 hex digits, expected 64"),
  one(`${D}.pivotHash`, `sha256:${HASH.slice(7)}`, "57 hex digits, expected 64"),
  one(`${D}.pivotHash`, `sha512:${HASH.slice(7)}`, "not hex"),
  one(`${D}.pivotHash`, `sha256:sha256:${HASH}`, "not hex"),
  one(`${D}.manifestHash`, `sha256:${HASH}`, "not hex"),
  one(`${D}.pivotHash`, [], "empty"),
  one(`${D}.namespace`, "", "empty"),
  one(`${D}.namespace`, [], "empty"),
  one(`${D}.namespace`, ["a", ""], "empty", d("namespace[1]")),
  lacks(`${D}.namespace`, "has a meaning only within a namespace", d("minNonce")),
  one(`${D}.minNonce`, -1, "expected a whole number of 0 to 4294967295, got -1"),
  one(`${D}.minNonce`, 4294967296, "expected a whole number of 0 to 4294967295, got 4294967296"),
  one(`${D}.quorumKey`, KEY.slice(130), "130 hex digits, expected 260"),
  one(`${D}.quorumKey`, [KEY, ""], "0 hex digits, expected 260", d("quorumKey[1]")),
  one(`${D}.manifestSet.quorum`, 1, "unknown member"),
  one(`${D}.manifestSet.threshold`, 0, "expected a whole number of 1 to 4294967295, got 0"),
  one(`${D}.manifestSet.threshold`, 3, "3, with 2 members"),
  lacks(`${D}.manifestSet.threshold`, "expected a whole number of 1 to 4294967295, got nothing"),
  lacks(`${D}.manifestSet.members`, "expected an array, got nothing"),
  one(`${D}.manifestSet.members`, [], "empty"),
  one(`${D}.manifestSet.members`, [KEY, KEY.slice(130)], "130 hex digits, expected 260", d("manifestSet.members[1]")),
  one(`${D}.shareSet.threshold`, 3, "3, with 2 members"),
  one(`${D}.shareSet.members`, [KEY, "zz".repeat(130)], "not hex", d("shareSet.members[1]")),
  one(`${D}.commitment`, "Live", `expected "live", "setup" or "legacy"`),
  one(`${D}.commitment`, ["live", "legacy"], `expected "live", "setup" or "legacy"`),
  one(`${D}.commitment`, true, `expected "live", "setup" or "legacy"`),
  one(`${D}.labels.enclaveapp`, "x", "unknown member"),

  // Pins of manifests and of documents.
  one(`${D}.workloads`, { signer: `sha256:${HASH}` }, "no evidence meets it together with pivotHash"),
  ...["", "00".repeat(1025)].map((userData): [string, JsonObject, Faults] => [
    `user data of ${userData.length / 2} bytes`,
    { ...least, deployments: [{ kind: "nitro", pcrs: image, userData }] },
    [[d("userData"), `${userData.length} hex digits, expected 2 to 2048`]],
  ]),
  [
    "workloads beside all that only a pivot has",
    { ...least, deployments: [{ ...code, pivotArgs: [], pivotEnv: {}, workloads: { signer: `sha256:${HASH}` } }] },
    [
      [
        d("workloads"),
        "no evidence meets it together with pivotHash, pivotArgs, pivotEnv: a manifest has only one of them",
      ],
    ],
  ],
  [
    "workloads beside arguments",
    { ...least, deployments: [{ pcrs: image, pivotArgs: [], workloads: { signer: `sha256:${HASH}` } }] },
    [[d("workloads"), "no evidence meets it together with pivotArgs: "]],
  ],
  [
    "workloads beside an environment",
    { ...least, deployments: [{ pcrs: image, pivotEnv: {}, workloads: { signer: `sha256:${HASH}` } }] },
    [[d("workloads"), "no evidence meets it together with pivotEnv: "]],
  ],
  [
    "pins of a boot proof in a bare document's deployment, and no image",
    { ...least, deployments: [{ kind: "nitro", pivotHash: HASH }] },
    [[d("pivotHash"), "not in a deployment of kind nitro"]],
  ],
  [
    "what only boot proofs answer, in a bare document's deployment",
    { ...least, deployments: [{ kind: "nitro", pcrs: image, open: ["operator"], appProofs: { types: ["x"] } }] },
    ["open", "appProofs"].map((member) => [d(member), "not in a deployment of kind nitro"]),
  ],
  one(`${D}.userData`, "00", "not in a deployment of kind qos"),
  one(`${D}.publicKey`, KEY, "not in a deployment of kind qos"),
  one(`${D}.kind`, "QOS", 'expected "qos" or "nitro"'),
  one(`${D}.manifestSet.members`, [KEY, OTHER_KEY, KEY.toUpperCase()], "a repeated key", d("manifestSet.members[2]")),
  ...[
    {},
    { signer: HASH },
    { signer: `sha256:${HASH}0` },
    { signer: `SHA256:${HASH}` },
    { signer: [] },
    { signer: 7 },
    { signer: null },
    { Signer: `sha256:${HASH}` },
    { "-": `sha256:${HASH}` },
    Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`w${index}`, `sha256:${HASH}`])),
  ].map((workloads): [string, JsonObject, Faults] => {
    const [name = ""] = Object.keys(workloads);
    const at = Object.keys(workloads).length === 1 ? d(`workloads.${name}`) : d("workloads");
    return [
      `workloads ${JSON.stringify(workloads).slice(0, 60)}`,
      { ...least, deployments: [{ pcrs: image, workloads }] },
      [[at, ""]],
    ];
  }),

  // Deployments beside one another.
  one(`${D}.appProofs`, {}, "expected types, bytes or both", d("appProofs")),
  one(`${D}.appProofs`, { types: ["x"], required: true }, "unknown member", d("appProofs.required")),
  [
    "two deployments of one name",
    { ...least, deployments: [{ ...code, name: "a" }, code, { ...code, name: "a" }] },
    [["deployments[2].name", "already"]],
  ],
  [
    "a name that is another's place",
    { ...least, deployments: [{ ...code, name: "deployments[1]" }, code] },
    [["deployments[1].name", "already"]],
  ],

  // For people.
  one("comment", 7, "expected a string, got a number"),
  one("$schema", {}, "expected a string, got an object"),
  one("trustAnchors", [{ pem: PEM, comment: 7 }], "expected a string, got a number", "trustAnchors[0].comment"),
  one(`${D}.$schema`, "x", "unknown member"),
  one(`${D}.pivot_hash`, HASH, "unknown member, did you mean pivotHash?"),
  one(`${D}.quorumkey`, KEY, "unknown member, did you mean quorumKey?"),
  one(`${D}.pcr`, image, "unknown member, did you mean pcrs?"),
  one("deployment", [], "unknown member, did you mean deployments?"),
  one("appProofs.require", true, "unknown member, did you mean required?"),
  // Up to half of the letters may have to be put in, taken out or exchanged, whatever their case.
  ...["DEPLOYMENTS", "abcdefdeployments", "deploymentsabcdef", "deploym", "oyments", "deploabcdef", "abcdefments"].map(
    (name) => one(name, 1, "unknown member, did you mean deployments?"),
  ),
  one("abcdeftrustanchors", 1, "unknown member, did you mean trustAnchors?"),

  // Trust anchors.
  one("trustAnchors", [], "empty"),
  one(
    "trustAnchors",
    ["aws-nitro-root-g2"],
    'expected "aws-nitro-root-g1", {"pem": …} or {"file": …}',
    "trustAnchors[0]",
  ),
  one("trustAnchors", [PEM], `{"pem": …}`, "trustAnchors[0]"),
  one("trustAnchors", [{}], "expected", "trustAnchors[0]"),
  one("trustAnchors", [{ pem: PEM, file: "x" }], "expected", "trustAnchors[0]"),
  one("trustAnchors", [{ pem: PEM, name: "lab" }], "expected", "trustAnchors[0]"),
  one("trustAnchors", [{ der: PEM }], "expected", "trustAnchors[0]"),
  one("trustAnchors", [{ pem: "" }], "0 PEM certificates", "trustAnchors[0]"),
  one("trustAnchors", [{ pem: PEM + PEM }], "2 PEM certificates", "trustAnchors[0]"),
  one("trustAnchors", [{ pem: PEM.replace(/^M/m, "A") }], "", "trustAnchors[0]"),
  one("trustAnchors", ["aws-nitro-root-g1", { pem: "x" }], "0 PEM certificates", "trustAnchors[1]"),
  one("trustAnchors", [{ file: "lab-root.pem" }], "no files can be read", "trustAnchors[0]"),
];

const fitsSchema = new Ajv2020({ allErrors: true }).compile(policySchema());

/** What no schema says, since it is about several members, another file, or what a text holds. */
const BEYOND_SCHEMA: readonly RegExp[] = [
  /^leaves the (?:image|application|operator) open/,
  /^a question twice$/,
  /^no evidence meets it together with/,
  /^has a meaning only within a namespace/,
  /^not in a deployment of kind/,
  /is already the name of another deployment$/,
  /^[0-9]+, with [0-9]+ members$/,
  /^a repeated key$/,
  /workloads, at most 16 allowed$/,
  /PEM certificates, expected exactly one$|^Certificate: /,
  /no files can be read/,
  /^not in appProofs\.types$/,
  /^app proofs of this type always have a time$/,
];

/** Beside the table above: what is malformed by what stands together. */
const together: typeof malformed = [
  ["nothing is answered", { ...least, deployments: [{ name: "x" }] }, []],
  ["a question twice", { ...least, deployments: [{ ...code, open: ["operator", "operator"] }] }, []],
];

describe("the JSON Schema", () => {
  const faultsOf = (policy: JsonObject): readonly string[] =>
    isRefused(() => parsePolicy(policy)) ? attempt(() => parsePolicy(policy)).faults.map(({ message }) => message) : [];

  it.each([...malformed, ...together])("refuses what parsePolicy does, as far as it can: %s", (_, policy) => {
    if (!fitsSchema(policy)) return;
    const others = faultsOf(policy).filter((message) => !BEYOND_SCHEMA.some((beyond) => beyond.test(message)));
    expect(others).toEqual([]);
  });

  it("leaves to parsePolicy what is listed here, and no more", () => {
    const left = [...malformed, ...together]
      .filter(([, policy]) => fitsSchema(policy))
      .flatMap(([, policy]) => faultsOf(policy));
    expect(BEYOND_SCHEMA.filter((beyond) => !left.some((message) => beyond.test(message)))).toEqual([]);
    expect(left.length).toBeLessThan(malformed.length / 5);
  });

  it("takes the whole example", () => {
    expect(fitsSchema(full) ? [] : fitsSchema.errors).toEqual([]);
  });
});

describe("a malformed policy", () => {
  it.each(malformed)("%s", (_, policy, faults) => {
    expectFaults(policy, faults);
    expectFaults(JSON.stringify(policy), faults);
  });

  it.each(["abcdefgdeployments", "deploymentsabcdefg", "depl", "deplabcdefg", "x".repeat(65), "x".repeat(1000)])(
    "does not guess what %s means",
    (name) => {
      const { faults } = refusalOf(() => parsePolicy({ ...least, [name]: 1 }));
      expect(faults).toMatch(/: unknown member$/);
    },
  );

  it("tells all its faults at once", () => {
    expectFaults(
      {
        policy: "x",
        trustAnchors: ["y"],
        appProofs: { types: [1, 2], more: {} },
        deployments: [{ pcrs: { "0": "00", "40": PCR }, unknown: 1 }, 7, { minNonce: -1, labels: { x: 1 } }],
      },
      [
        ["policy", "bootproof/1"],
        ["trustAnchors[0]", "expected"],
        ["appProofs.types[0]", "a number"],
        ["appProofs.types[1]", "a number"],
        ["appProofs.more", "unknown"],
        [d("pcrs.0"), "2 hex digits"],
        [d("pcrs.40"), "not the index"],
        [d("unknown"), "unknown"],
        ["deployments[1]", "a number"],
        ["deployments[2].minNonce", "-1"],
        ["deployments[2].labels.x", "unknown"],
        ["deployments[2].minNonce", "within a namespace"],
      ],
    );
  });

  it("of deployments that are none does not say that there are none", () => {
    expectFaults({ ...least, deployments: [7] }, [["deployments[0]", "expected an object, got a number"]]);
  });

  it.each<[name: string, input: string, says: string]>([
    ["a member twice", '{"policy":"bootproof/1","policy":"bootproof/1"}', 'member "policy" appears twice'],
    ["a byte order mark", `\ufeff${JSON.stringify(full)}`, "byte order mark"],
  ])("in its text: %s", (_, input, says) => {
    expectFaults(input, [["", says]], {}, "json");
    expectFaults(toUtf8(input), [["", says]], {}, "json");
  });

  it("in bytes that are not UTF-8", () => {
    expectFaults(Uint8Array.of(0x7b, 0xff, 0x7d), [["", "not UTF-8"]], {}, "json");
  });

  it.each<[name: string, input: unknown, says: string]>([
    ["null", null, "expected an object, got null"],
    ["an array", [full], "expected an object, got an array"],
    ["a number", 7, "expected an object, got a number"],
    ["the text null", "null", "expected an object, got null"],
    ["the text of an array", "[]", "expected an object, got an array"],
  ])("as %s", (_, input, says) => {
    expectFaults(input as object, [["", says]]);
  });

  it.each(["__proto__", "constructor", "toString", "hasOwnProperty"])("has %s as a member like any other", (name) => {
    const text = JSON.stringify(least).replace("{", `{${JSON.stringify(name)}:{"allowDebug":true},`);
    expectFaults(text, [[name, "unknown member"]]);
    expect(({} as { allowDebug?: unknown }).allowDebug).toBeUndefined();
  });

  it("does not take from a prototype what it has not itself", () => {
    expectFaults(Object.create(full) as object, [
      ["policy", "expected"],
      ["deployments", "expected an array, got nothing"],
    ]);
  });

  it("is refused in no other way than with its own error, whatever it is", () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.string(), fc.anything()), (input) => {
        expect(isRefused(() => parsePolicy(input as object))).toBe(true);
      }),
    );
    const paths = Object.keys(full);
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.jsonValue(), (path, value) => {
        const policy = { ...full, [path]: value };
        if (!isRefused(() => parsePolicy(policy))) expect(typeof value === typeof full[path]).toBe(true);
      }),
    );
    const members = Object.keys((full["deployments"] as JsonObject[])[0]!);
    fc.assert(
      fc.property(fc.constantFrom(...members), fc.jsonValue(), (member, value) => {
        isRefused(() => parsePolicy(put(`${D}.${member}`, value as JsonValue)(full)));
      }),
    );
  });
});

describe("trust anchors in files", () => {
  const policy = (file: string): JsonObject => ({ ...least, trustAnchors: [{ file }] });

  it.each([
    "lab-root.pem",
    "keys/lab-root.pem",
    "./lab-root.pem",
    "../lab-root.pem",
    "/etc/lab-root.pem",
    'a b/ü"\\.pem',
  ])("%s is asked of the reader as it is written", (file) => {
    const asked: string[] = [];
    const { trustAnchors } = parsePolicy(JSON.stringify(policy(file)), { readFile: (path) => (asked.push(path), PEM) });
    expect(asked).toEqual([file]);
    expect(toHex(trustAnchors[0]!.certificate.der)).toBe(toHex(lab.pki.rootCertificate));
    expect(trustAnchors[0]!.name).toBe(`file ${file}`);
  });

  it("are read once each, so that a file that changes meanwhile has one content", () => {
    const texts = [PEM, "changed"];
    const twice = { ...least, trustAnchors: [{ file: "a" }, { file: "a" }] };
    const { trustAnchors } = parsePolicy(JSON.stringify(twice), { readFile: () => texts.shift()! });
    expect([trustAnchors.length, texts]).toEqual([2, ["changed"]]);
  });

  it("are listed with what they are and where, as is every file that a policy names", () => {
    const root = (trustedRoot: JsonValue): JsonValue => ({ provenance: [{}, { trustedRoot }] });
    const naming = {
      trustAnchors: ["aws-nitro-root-g1", { pem: PEM }, { file: "a", comment: "x" }, { file: 7 }],
      deployments: [root({ file: "b" }), root([{ json: "{}" }, { file: "c" }]), { labels: { file: "no" } }, null],
      file: "no",
      comment: { file: "no" },
    };
    expect(namedFiles(naming)).toEqual([
      { kind: "trustAnchor", name: "a", path: ["trustAnchors", 2, "file"] },
      { kind: "trustedRoot", name: "b", path: ["deployments", 0, "provenance", 1, "trustedRoot", "file"] },
      { kind: "trustedRoot", name: "c", path: ["deployments", 1, "provenance", 1, "trustedRoot", 1, "file"] },
    ]);
    for (const none of [undefined, null, 7, [], "file", { trustAnchors: { file: "a" } }])
      expect(namedFiles(none)).toEqual([]);
  });

  it("cannot be called what the AWS root is called", () => {
    const { trustAnchors } = parsePolicy(policy("aws-nitro-root-g1"), { readFile: () => PEM });
    expect(trustAnchors[0]!.name).not.toBe("aws-nitro-root-g1");
  });

  it("are a fault where no reader is given", () => {
    expectFaults(policy("lab-root.pem"), [["trustAnchors[0]", "no files can be read here: give the anchor as PEM"]]);
  });

  it.each<[name: string, readFile: () => string, says: string]>([
    [
      "cannot be read",
      () => {
        throw new Error("no such file");
      },
      "lab-root.pem could not be read: no such file",
    ],
    [
      "cannot be read, and the reader throws no error",
      () => {
        throw "gone" as unknown as Error;
      },
      "lab-root.pem could not be read: gone",
    ],
    ["are empty", () => "", "0 PEM certificates"],
    ["hold two certificates", () => PEM + PEM, "2 PEM certificates"],
    ["hold no certificate", () => "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", ""],
  ])("are a fault where they %s", (_, readFile, says) => {
    expectFaults(policy("lab-root.pem"), [["trustAnchors[0]", says]], { readFile });
  });

  it("are not read for an anchor that is none", () => {
    const readFile = (): string => {
      throw new TypeError("asked");
    };
    expectFaults(
      { ...least, trustAnchors: [{ file: 1 }, { path: "x" }] },
      [
        ["trustAnchors[0]", "expected"],
        ["trustAnchors[1]", "expected"],
      ],
      { readFile },
    );
  });
});

/** What may stand in the full policy. */
const accepted: [at: string, value: JsonValue][] = [
  ["appProofs", { untimed: ["ORDER"] }],
  ["appProofs", { types: ["A", "B"], untimed: ["B"] }],
  ["appProofs", { types: ["APP_PROOF_TYPE_ADDRESS_DERIVATION", "B"], untimed: ["B"], maxAge: "1d" }],
  [`${D}.pcrs.0`, PCR.toUpperCase()],
  [`${D}.pcrs.0`, [PCR, PCR.toUpperCase(), "00".repeat(48)]],
  [`${D}.pcrs.31`, PCR],
  [`${D}.pcrs.8`, PCR],
  [`${D}.pcrs.10`, [PCR]],
  [
    `${D}.pcrs`,
    [
      { "0": PCR, "1": PCR, "2": PCR },
      { "0": HASH + HASH.slice(32), "1": PCR, "2": PCR, "3": [PCR, PCR] },
    ],
  ],
  [`${D}.pivotHash`, HASH.toUpperCase()],
  [`${D}.pivotHash`, [HASH]],
  [`${D}.pivotHash`, [HASH, "00".repeat(32)]],
  [`${D}.namespace`, ["prod/signer", "prod/signer-2"]],
  [`${D}.namespace`, " "],
  [`${D}.minNonce`, 0],
  [`${D}.minNonce`, 4294967295],
  [`${D}.quorumKey`, [KEY.toUpperCase(), OTHER_KEY]],
  [`${D}.manifestSet`, { threshold: 2, members: [KEY.toUpperCase(), OTHER_KEY] }],
  [`${D}.commitment`, "setup"],
  [`${D}.commitment`, "legacy"],
  [`${D}.labels`, { owner: "" }],
  [`${D}.labels`, {}],
  [`${D}.name`, ""],
  [`${D}.pivotArgs`, []],
  [`${D}.pivotEnv`, {}],
  ["maxAge", "1s"],
  ["maxAge", "999999999d"],
  ["appProofs", {}],
  ["appProofs.types", ["a", "b"]],
  ["allowDebug", true],
  ["name", ""],
  ["trustAnchors", [{ pem: PEM }]],
  [
    "trustAnchors",
    [{ pem: `root of the lab\n${PEM}` }, "aws-nitro-root-g1", { pem: certificatePem(otherLab.pki.rootCertificate) }],
  ],
];

describe("a good policy", () => {
  it("is the example of docs/policy.md, with bytes in the place of its words", () => {
    const document = readFileSync(fileURLToPath(new URL("../../docs/policy.md", import.meta.url)), "utf8");
    const [, example] = /\n## The file\n\n```json\n(.*?)```/s.exec(document)!;
    let byte = 16;
    const text = example!.replace(/<(\d+) bytes, hex>/g, (_, length: string) =>
      (byte++).toString(16).repeat(Number(length)),
    );
    expect(parsePolicy(text).deployments[0]!.open).toEqual([]);
    expect(Object.keys(PINS).filter((name) => !document.includes(`\`${name}\``))).toEqual([]);
  });

  it("is read whole", () => {
    const policy = parsePolicy(JSON.stringify(full));
    expect(policy).toMatchObject({
      name: "signer, production",
      maxAge: 30 * 86_400_000,
      allowDebug: false,
      appProofs: { types: ["APP_PROOF_TYPE_ADDRESS_DERIVATION"], maxAge: 600_000, required: true, coverage: true },
    });
    expect(policy.trustAnchors).toEqual([AWS_NITRO_ROOT_G1]);
    const [deployment] = policy.deployments;
    expect(deployment).toMatchObject({
      name: "r2026.3.1",
      namespace: ["prod/signer"],
      minNonce: 7,
      commitment: "live",
      labels: { enclaveApp: "signer", owner: "tkhq", deploymentLabel: "r2026.3.1" },
    });
    expect(deployment!.pcrs).toEqual([[0, 1, 2, 3].map((index) => ({ index, accepted: [PCR] }))]);
    expect(deployment).toMatchObject({
      pivotHash: [HASH],
      quorumKey: [KEY],
      manifestSet: { threshold: 1, members: [KEY, OTHER_KEY] },
      shareSet: { threshold: 2, members: [KEY, OTHER_KEY] },
    });
  });

  it("may say as little as image, role and binary", () => {
    const policy = parsePolicy(least);
    expect(policy).toMatchObject({
      name: null,
      trustAnchors: [AWS_NITRO_ROOT_G1],
      maxAge: null,
      allowDebug: false,
      appProofs: { types: null, maxAge: null, required: false, coverage: false, decision: false },
    });
    expect(policy.deployments[0]).toMatchObject({ kind: "qos", open: [], appProofTypes: null, commitment: "live" });
    expect(Object.keys(policy.deployments[0]!).sort()).toEqual([
      "appProofBytes",
      "appProofTypes",
      "commitment",
      "kind",
      "name",
      "open",
      "pcrs",
      "pivotHash",
    ]);
    expect(policy.deployments[0]!.name).toBe("deployments[0]");
  });

  it("reads the same from text, bytes and value", () => {
    const text = JSON.stringify(full, null, 2);
    const policy = parsePolicy(full);
    expect(parsePolicy(text)).toEqual(policy);
    expect(parsePolicy(toUtf8(text))).toEqual(policy);
    expect(parsePolicy(parseJson(text) as object)).toEqual(policy);
  });

  it.each(accepted)("may have %s %j", (at, value) => {
    expect(() => parsePolicy(JSON.stringify(put(at, value)(full)))).not.toThrow();
    expect(fitsSchema(put(at, value)(full))).toBe(true);
  });

  it.each([
    ["1s", 1000],
    ["90s", 90_000],
    ["10m", 600_000],
    ["12h", 43_200_000],
    ["30d", 2_592_000_000],
  ] as const)("counts %s as %i ms", (text, milliseconds) => {
    expect(parsePolicy({ ...least, maxAge: text }).maxAge).toBe(milliseconds);
    expect(parsePolicy({ ...least, appProofs: { maxAge: text } }).appProofs.maxAge).toBe(milliseconds);
  });

  it("may pin many deployments, each named after its place where it has no name", () => {
    const { deployments } = parsePolicy({ ...least, deployments: [code, { name: "second", ...code }, code] });
    expect(deployments.map(({ name }) => name)).toEqual(["deployments[0]", "second", "deployments[2]"]);
  });

  it("names an anchor given as PEM by its subject, and never as the AWS root", () => {
    const { trustAnchors } = parsePolicy({
      ...least,
      trustAnchors: [{ pem: PEM }, { pem: certificatePem(AWS_NITRO_ROOT_G1.certificate.der) }],
    });
    expect(trustAnchors[0]!.name).toContain("CN=lab.nitro-enclaves");
    expect(trustAnchors.map(({ certificate }) => toHex(certificate.der))).toEqual(
      [lab.pki.rootCertificate, AWS_NITRO_ROOT_G1.certificate.der].map(toHex),
    );
    expect(trustAnchors.map(({ name }) => name)).not.toContain("aws-nitro-root-g1");
  });
});

describe("the JSON Schema of the file", () => {
  it("accepts whatever a policy may say", () => {
    const rest = { pivotArgs: ["a", ""], pivotEnv: { A: "" }, open: ["operator"], appProofs: { types: ["x"] } };
    const workloads = { "signer-2": [`sha256:${HASH}`] };
    const bare = { kind: "nitro", pcrs: image, userData: "00", publicKey: "00".repeat(1024) };
    for (const deployment of [rest, { ...rest, kind: "qos", manifestHash: HASH }, { workloads }, bare])
      expect(fitsSchema({ ...least, $schema: "x", comment: "x", deployments: [deployment] })).toBe(true);
    expect(fitsSchema({ ...least, trustAnchors: [{ file: "root.pem", comment: "x" }] })).toBe(true);
    expect(fitsSchema({ ...least, deployments: [{ workloads: { ...workloads, comment: "x" } }] })).toBe(true);
  });

  it("counts as reading does", () => {
    const many = (count: number, value: JsonValue): JsonValue[] => Array.from({ length: count }, () => value);
    expect(fitsSchema({ ...least, deployments: many(1000, code) })).toBe(true);
    expect(fitsSchema({ ...least, deployments: many(1001, code) })).toBe(false);
    expect(fitsSchema({ ...least, trustAnchors: many(101, "aws-nitro-root-g1") })).toBe(false);
    expect(fitsSchema({ ...least, name: "😀".repeat(257) })).toBe(false);
    expect(fitsSchema(put(`${D}.open`, many(3, "operator"))(least))).toBe(false);
    for (const userData of ["", "0", "00".repeat(1025)])
      expect(fitsSchema({ ...least, deployments: [{ kind: "nitro", pcrs: image, userData }] })).toBe(false);
  });
});

describe("types of app proof, where the policy names them", () => {
  const typed = (...deployments: JsonObject[]): JsonObject => ({
    ...least,
    appProofs: { types: ["A", "B"] },
    deployments,
  });
  const signer = { ...code, name: "signer" };
  const own = { appProofs: { types: ["A"] } };

  it.each<[name: string, other: { readonly [name: string]: JsonValue | undefined }]>([
    ["program", { pivotHash: "ef".repeat(32) }],
    ["namespace", { namespace: "prod/fetcher" }],
    ["program of several", { pivotHash: [HASH, "ef".repeat(32)] }],
    ["kind of program", { pivotHash: undefined, workloads: { signer: `sha256:${HASH}` } }],
    ["manifest", { pivotHash: undefined, manifestHash: "ef".repeat(32) }],
  ])("have to be each deployment's own where there is another %s", (_, other) => {
    const fetcher = parseJson(JSON.stringify({ ...code, name: "fetcher", ...other })) as JsonObject;
    const says = "has to name its own";
    expectFaults(typed(signer, fetcher), [
      ["deployments[0].appProofs.types", says],
      ["deployments[1].appProofs.types", says],
    ]);
    expectFaults(typed({ ...signer, ...own }, fetcher), [["deployments[1].appProofs.types", says]]);
    expect(() => parsePolicy(typed({ ...signer, ...own }, { ...fetcher, ...own }))).not.toThrow();
    expect(() => parsePolicy({ ...typed(signer, fetcher), appProofs: {} })).not.toThrow();
  });

  it.each<[name: string, one: JsonObject, other: JsonObject]>([
    ["image of a workload", { a: `sha256:${HASH}` }, { a: `sha256:${"ef".repeat(32)}` }],
    ["name of a workload", { a: `sha256:${HASH}` }, { b: `sha256:${HASH}` }],
    ["number of workloads", { a: `sha256:${HASH}` }, { a: `sha256:${HASH}`, b: `sha256:${HASH}` }],
  ])("have to be each deployment's own where there is another %s", (_, one, other) => {
    const policy = typed({ pcrs: image, workloads: one }, { pcrs: image, workloads: other });
    expectFaults(policy, [
      ["deployments[0].appProofs.types", "has to name its own"],
      ["deployments[1].appProofs.types", "has to name its own"],
    ]);
  });

  it("have to be each deployment's own where each pins a manifest of its own", () => {
    const policy = typed({ manifestHash: HASH }, { manifestHash: "ef".repeat(32) });
    expectFaults(policy, [
      ["deployments[0].appProofs.types", "has to name its own"],
      ["deployments[1].appProofs.types", "has to name its own"],
    ]);
    expect(() => parsePolicy(typed({ manifestHash: HASH }, { manifestHash: HASH }))).not.toThrow();
  });

  it("need not be where the same workloads stand in another order", () => {
    const digests = [`sha256:${HASH}`, `sha256:${"ef".repeat(32)}`];
    const one = { a: digests[0]!, b: digests };
    const other = { b: [...digests].reverse(), a: digests[0]! };
    expect(() => parsePolicy(typed({ pcrs: image, workloads: one }, { pcrs: image, workloads: other }))).not.toThrow();
  });

  it("need not be where all are one application", () => {
    expect(() =>
      parsePolicy(typed(signer, { ...signer, name: "later", pcrs: put("0", "ef".repeat(48))(image) })),
    ).not.toThrow();
    expect(() => parsePolicy(typed(signer, { kind: "nitro", pcrs: image }))).not.toThrow();
    expect(() =>
      parsePolicy(
        typed(
          { ...signer, pivotHash: [HASH, PCR.slice(32)] },
          { ...signer, name: "later", pivotHash: [PCR.slice(32), HASH] },
        ),
      ),
    ).not.toThrow();
  });
});

describe("a policy that was parsed", () => {
  it("cannot be changed, at any depth", () => {
    const walk = (value: unknown, path: string): void => {
      if (typeof value !== "object" || value === null) return;
      expect(Object.isFrozen(value), path).toBe(true);
      for (const [name, member] of Object.entries(value)) if (name !== "certificate") walk(member, `${path}.${name}`);
    };
    const env = {
      ...full,
      deployments: [
        {
          ...(full["deployments"] as JsonObject[])[0],
          pivotArgs: ["a"],
          pivotEnv: { A: "b" },
          open: ["operator"],
          appProofs: { types: ["x"] },
        },
        { pcrs: image, workloads: { a: `sha256:${HASH}` }, name: "v3", appProofs: { types: ["x"] } },
      ],
    };
    for (const policy of [parsePolicy(env), parsePolicy(least)]) walk(policy, "policy");
  });

  it("keeps its anchors, whatever is done to those that it hands out", async () => {
    const evidence = forge();
    const policy = parsePolicy(labPolicy(evidence.anchorPem, [labDeployment(lab)]));
    const aws = parsePolicy(least);
    for (const anchor of [...policy.trustAnchors, ...aws.trustAnchors]) {
      for (const value of Object.values(anchor.certificate)) if (value instanceof Uint8Array) value.fill(0);
      expect(() => Object.assign(anchor, { name: "x" })).toThrow(TypeError);
    }
    expect(() => (policy.trustAnchors as unknown[]).push(aws.trustAnchors[0])).toThrow(TypeError);
    expect(aws.trustAnchors).toEqual([AWS_NITRO_ROOT_G1]);
    const { report } = await verifyEvidence({ bootProofs: [evidence.bootProof] }, { policy, now: NOW });
    expect(report.verdict).toBe("verified");
  });

  it("trusts the AWS root as it was when this package was loaded", () => {
    const { der } = AWS_NITRO_ROOT_G1.certificate;
    const before = toHex(der);
    der.fill(0);
    try {
      const [anchor] = parsePolicy(least).trustAnchors;
      expect(toHex(anchor!.certificate.der)).toBe(before);
    } finally {
      der.set(fromHex(before)!);
    }
  });

  it("hands out copies of the bytes that it was read from, and none of a value", () => {
    const text = JSON.stringify({ ...least, name: "é" });
    const bytes = toUtf8(text);
    const policy = parsePolicy(bytes);
    bytes.fill(0);
    bytesOf(policy)!.fill(0);
    for (const one of [policy, parsePolicy(text)]) expect(bytesOf(one)).toEqual(toUtf8(text));
    expect(bytesOf(parsePolicy(least))).toBeNull();
  });

  it("is made by parsePolicy only", () => {
    const policy = parsePolicy(least);
    expect(ParsedPolicy.is(policy)).toBe(true);
    const Made = policy.constructor as new (...given: unknown[]) => object;
    const source = { bytes: null, appraise: () => ({ checklists: [], deployments: [], notApplied: [] }) };
    for (const token of [undefined, Symbol()]) expect(() => new Made({ ...policy }, source, token)).toThrow(TypeError);
    const others = [
      { ...policy },
      structuredClone(policy),
      Object.create(policy),
      Object.create(Object.getPrototypeOf(policy) as object, Object.getOwnPropertyDescriptors(policy)),
      new Proxy(policy, {}),
      null,
      "policy",
    ] as unknown[];
    for (const other of others) {
      expect(ParsedPolicy.is(other)).toBe(false);
      expect(() => describePolicy(other as Policy)).toThrow(TypeError);
      expect(() => settingOf({ policy: other as Policy, now: new Date(0) })).toThrow(/^options\.policy: /);
      expect(() => settingOf({ policy: other as Policy, now: new Date(0) }, OF_BUNDLE)).toThrow(/^options\.policy: /);
    }
  });

  it("has its trust anchors as an own member, made anew each time", () => {
    const policy = parsePolicy(least);
    const names = ["name", "trustAnchors", "deployments", "maxAge", "appProofs", "allowDebug", "signed"];
    expect([Object.keys(policy), Object.isFrozen(policy)]).toEqual([names, true]);
    expect(policy.trustAnchors).not.toBe(policy.trustAnchors);
  });

  it("may hold comments anywhere, and they change nothing", () => {
    const commented = (value: JsonValue): JsonValue => {
      if (Array.isArray(value)) return value.map(commented);
      if (!isJsonObject(value)) return value;
      return {
        ...Object.fromEntries(Object.entries(value).map(([name, member]) => [name, commented(member)])),
        comment: "why",
      };
    };
    const rich = {
      ...full,
      trustAnchors: [{ pem: PEM }],
      deployments: [
        {
          ...(full["deployments"] as JsonObject[])[0],
          pivotArgs: [],
          pivotEnv: { A: "b" },
          appProofs: { types: ["x"] },
        },
      ],
    };
    expect(parsePolicy({ ...(commented(rich) as JsonObject), $schema: "https://example.org/policy.json" })).toEqual(
      parsePolicy(rich),
    );
  });
});

describe("limits", () => {
  const MIB = 1024 * 1024;

  it("no more than 100 faults are kept, and the others are counted", () => {
    const members = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`m${index}`, 1]));
    const error = malformedOf({ ...least, ...members });
    expect(error.faults.length).toBe(101);
    expect(error.faults.at(-1)).toEqual({ path: "", message: "and 900 more" });
    expect(malformedOf({ ...least, deployments: Array.from({ length: 500 }, () => ({})) }).faults.length).toBe(101);
  });

  it("no more than 1000 deployments", () => {
    const many = (count: number): JsonObject => ({ ...least, deployments: Array.from({ length: count }, () => code) });
    expect(parsePolicy(JSON.stringify(many(1000))).deployments.length).toBe(1000);
    expectFaults(many(1001), [["deployments", "1001 entries, at most 1000 allowed"]]);
  });

  it("no more than 100 trust anchors", () => {
    const many = (count: number): JsonObject => ({
      ...least,
      trustAnchors: Array.from({ length: count }, () => "aws-nitro-root-g1"),
    });
    expect(parsePolicy(many(100)).trustAnchors.length).toBe(100);
    expectFaults(many(101), [["trustAnchors", "101 entries, at most 100 allowed"]]);
  });

  it("no more than 16 workloads, as in a manifest", () => {
    const many = (count: number): JsonObject => ({
      ...least,
      deployments: [
        {
          pcrs: image,
          workloads: Object.fromEntries(Array.from({ length: count }, (_, i) => [`w${i}`, `sha256:${HASH}`])),
        },
      ],
    });
    expect(() => parsePolicy(many(16))).not.toThrow();
    expectFaults(many(17), [[d("workloads"), "17 workloads, at most 16 allowed"]]);
  });

  it("no more than 1 MiB of what was given, however it could be spelled", () => {
    const text = JSON.stringify({ ...least, deployments: [{ ...code, namespace: "x", minNonce: 7 }], comment: "" });
    const spelled = text.replace('"minNonce":7', '"minNonce":4e9');
    const full = spelled.replace('"comment":""', `"comment":"${"x".repeat(MIB - spelled.length)}"`);
    expect(full.length).toBe(MIB);
    expect(() => parsePolicy(full)).not.toThrow();
    expectFaults(JSON.parse(full) as object, [["", "larger than 1048576 bytes"]]);
  });

  it("no more than 1 MiB", () => {
    const text = JSON.stringify(least);
    expect(() => parsePolicy(text.padEnd(MIB))).not.toThrow();
    expectFaults(text.padEnd(MIB + 1), [["", "larger than 1048576 bytes"]]);
    expectFaults(toUtf8(text.padEnd(MIB + 1)), [["", "larger than 1048576 bytes"]]);
    expectFaults(JSON.stringify({ ...least, name: "é".repeat(600_000) }), [["", "larger than"]]);
    expectFaults({ ...least, name: "x".repeat(MIB) }, [["", "larger than"]]);
  });

  it("a name is not shown in all its length", () => {
    const error = malformedOf({
      ...least,
      ["n".repeat(100_000)]: 1,
      deployments: [{ pcrs: { ["9".repeat(100_000)]: Array.from({ length: 90 }, () => 1) } }],
    });
    for (const { path, message } of error.faults) expect(path.length + message.length).toBeLessThan(300);
  });

  it("a thousand deployments are held against a proof in a moment", async () => {
    const evidence = forge();
    const all = labDeployment(lab);
    const deployments = Array.from({ length: 600 }, (_, index) => ({
      ...drop("shareSet")(drop("labels")(all)),
      name: `d${index}`,
      minNonce: 8,
    }));
    const policy = parsePolicy(JSON.stringify(labPolicy(evidence.anchorPem, deployments)));
    const verify = async (): Promise<void> => {
      const { report } = await verifyEvidence({ bootProofs: [evidence.bootProof] }, { policy, now: NOW });
      expect(report.verdict).toBe("rejected");
    };
    expect(await leastCostMs(3000, verify)).toBeLessThan(3000);
  });

  function malformedOf(input: string | object): MalformedError {
    try {
      parsePolicy(input);
    } catch (error) {
      if (error instanceof MalformedError) return error;
    }
    throw new Error("the policy is not malformed");
  }
});

describe("names and types, which reports repeat", () => {
  const named = (name: string): unknown =>
    parsePolicy({
      policy: "bootproof/1",
      name,
      deployments: [{ manifestHash: "ab".repeat(32), name, appProofs: { types: [name] } }],
    });

  it("have 256 characters at most, as JSON Schema counts them", () => {
    for (const fits of ["n".repeat(256), "😀".repeat(256)]) expect(named(fits)).toMatchObject({ name: fits });
    for (const long of ["n".repeat(257), "😀".repeat(257), "n".repeat(300_000)]) {
      expect(() => named(long)).toThrow(
        /name: longer than 256 characters; .*deployments\[0\]\.name: longer than 256 .*types\[0\]: longer/,
      );
    }
  });
});
