/** `measure`, and what `inspect` and the other commands make of an enclave image. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { compareMeasured } from "../../src/author/index.js";
import { parsePolicy } from "../../src/index.js";
import {
  CMDLINE,
  KERNEL,
  METADATA,
  RAMDISK,
  SECTIONS,
  imageOf,
  newSigner,
  pcrsOf,
  signed,
  utf8,
} from "../support/images.js";
import { type Row, fileOf, scene } from "./support.js";

const signer = newSigner("P-384");
const ROLE = "arn:aws:iam::123456789012:role/Name";
const extended = (text: string): string => createHash("sha384").update(Buffer.alloc(48)).update(text).digest("hex");
const PCRS = pcrsOf(SECTIONS);
const [ZEROS, OTHER] = ["00".repeat(48), "ab".repeat(48)];
const SIGNER = pcrsOf(SECTIONS, signer.certificate)[8]!;
const HASH = createHash("sha256").update("a program").digest("hex");

const lab = new Forge();
const { anchorPem } = forgeEvidence({ lab, at: new Date("2026-03-04T05:06:07.000Z") });
const { manifestSet } = labDeployment(lab);
/** A deployment that pins these, and is well-formed whatever they are. */
const deployment = (name: string, pins: object): object => ({
  name,
  manifestSet,
  namespace: "n",
  minNonce: 1,
  ...pins,
});
const policyOf = (...deployments: readonly object[]): string => fileOf(labPolicy(anchorPem, deployments as never));
const good = deployment("good", { pcrs: { 0: PCRS[0], 1: PCRS[1], 2: PCRS[2] }, pivotHash: HASH });
const old = deployment("old", { pcrs: { 0: OTHER, 1: PCRS[1], 2: PCRS[2] } });
const older = deployment("older", { pcrs: { 0: OTHER, 1: OTHER, 2: OTHER } });
const parts = deployment("parts", { pcrs: { 1: PCRS[1], 2: PCRS[2] } });

const image = imageOf({ sections: SECTIONS });
const eif = (...sections: Parameters<typeof imageOf>[0]["sections"]): string => fileOf(imageOf({ sections }));
const cmdline = { ...CMDLINE, data: utf8("\u001b[31mred\u202e") };
const N = {
  ...{
    image: fileOf(image, "app.eif"),
    signed: eif(...signed(signer)),
    binary: fileOf("a program", "app"),
    role: ROLE,
  },
  ...{ id: "i-0123456789abcdef0", bare: eif(KERNEL, CMDLINE, METADATA, RAMDISK), cut: fileOf(image.subarray(0, 100)) },
  valid: eif(...signed(newSigner("P-256", new Date("2045-01-01")))),
  ...{ good: policyOf(old, good), older: policyOf(older, old), oldest: policyOf(older), parts: policyOf(parts) },
  ...{ none: policyOf(deployment("none", { pivotHash: HASH })), malformed: fileOf({ deployments: [] }) },
  escaped: eif(KERNEL, cmdline, { ...METADATA, data: utf8('{"\\u001b[2J":"\u202e"}') }, RAMDISK),
  raw: eif(KERNEL, cmdline, { ...METADATA, data: utf8('{"\u001b[2J":"\u202e"}') }, RAMDISK),
  faulty: fileOf(imageOf({ sections: SECTIONS, reserved: 1, flags: 2, crc: 0 })),
  large: eif(...SECTIONS, { ...RAMDISK, data: new Uint8Array(9 * 1024 * 1024) }),
};
const { having, run, table, usage } = scene(N);

interface Measurement {
  readonly pcrs: Record<string, string>;
  readonly image: Record<string, unknown> | null;
  readonly comparison: { readonly nearest: object } | null;
}
const json = async (words: string): Promise<Measurement> => {
  return JSON.parse((await run(`measure ${words} --format json`, 0)).stdout) as Measurement;
};

describe("measure", () => {
  it("says in text what the PCRs are, and what they do not prove", async () => {
    const { stdout } = await run("measure $image --binary $binary --role-arn $role", 0);
    for (const value of [...Object.values(PCRS), HASH, extended(ROLE)]) expect(stdout).toContain(`  ${value}\n`);
    for (const words of [
      `of the parent instance: ${ROLE}`,
      "none: PCR8 stays zero",
      "does not prove that an enclave runs",
    ])
      expect(stdout).toContain(words);
    expect(stdout).not.toMatch(/PCR8\n|PCR4|PINNED|DIFFERENT/);
  });

  it("says in JSON all of it", async () => {
    const measured = await json("$signed --instance-id $id --binary $binary");
    expect(measured).toMatchObject({
      format: "bootproof-measurement/1",
      pcrs: { ...pcrsOf(SECTIONS, signer.certificate), 4: extended(N.id) },
      ...{ pivotHash: HASH, binary: { file: N.binary }, roleArn: null, instanceId: N.id },
      ...{ policy: null, comparison: null },
    });
    expect(measured.image).toMatchObject({
      ...{ file: N.signed, version: 4, architecture: "x86_64", metadata: { ImageName: "app" } },
      commandLine: "reboot=k panic=30 pci=off console=ttyS0",
      signature: { algorithm: "ES384", subject: "CN=builder", isValidNow: false },
    });
  });

  it("reads stdin, of an image or a binary", async () => {
    const { stdout } = await run("measure - --format json < $image", 0);
    expect((JSON.parse(stdout) as Measurement).pcrs).toEqual(PCRS);
    await run("measure --binary - < $binary", 0, HASH, "!PCR");
  });

  table([
    ["measure $signed", 0, "not now. Neither this"],
    ["measure $valid", 0, "!NOTE"],
    ["measure $bare", 0, "no second ramdisk: a constant"],
    ...["measure $escaped", "inspect $escaped"].flatMap((line): Row[] => [
      [line, 0, "!\u001b", "!\u202e"],
      [`${line} --format json`, 0, "!\u001b", "!\u202e"],
    ]),
    ["measure $raw", 2],
    ["measure $faulty --format json", 2, "bootproof: $faulty: header.flags: 0x2: bits without a meaning are set"],
    ["measure $faulty", 2, "$faulty: header.reserved: not zero", "$faulty: header.crc: 0x00000000"],
  ]);
  usage("measure", [
    ["", "nothing to measure: FILE, --binary, --role-arn or --instance-id is required"],
    ["$image --role-arn Name", "--role-arn: expected the ARN of an IAM role"],
    ["--instance-id i-1", "--instance-id: expected the id of an instance"],
    ["$image --role-arn $role --role-arn $role", "--role-arn is repeated"],
    ["$binary", "not an enclave image file: one begins with .eif"],
    ["$image --policy $image", "$image: this is an enclave image: bootproof measure shows its PCRs"],
    ["$binary --policy $malformed", "policy: ", "not an enclave image file"],
  ]);
});

describe("measure --policy", () => {
  table([
    ["measure $image --policy $good", 0, /^PINNED: .* as deployment "good"/, "but not compared: pivotHash (--binary)"],
    ["measure $image --binary $binary --policy $good", 0],
    ["measure $image --policy $older", 1, /^DIFFERENT: no deployment of/, "!PCR0 alone"],
    ["measure $image --policy $parts", 1, 'The nearest is "parts": does not pin pcrs.0: any value would pass'],
    ["measure $image --policy $parts", 1, "PCR0 alone covers the whole image."],
  ]);

  it("tells the nearest, expected and found", async () => {
    const { stdout } = await run("measure $image --policy $older", 1);
    expect(stdout.replaceAll(/\s+/g, "")).toContain(`Thenearestis"old":pcrs.0expected${OTHER}found${PCRS[0]}`);
    const none = JSON.parse((await run("measure $image --policy $none --format json", 1)).stdout) as Measurement;
    expect(none.comparison!.nearest).toMatchObject({ unpinned: ["pcrs.0", "pcrs.1", "pcrs.2"] });
  });

  const ofRole = "$image --role-arn $role";
  const [one, two] = [PCRS[1]!, PCRS[2]!];
  it.each<[string, string, object, boolean]>([
    ["one of several values", "$image", { pcrs: { 0: [OTHER, PCRS[0]] } }, true],
    ["one of several images", "$image", { pcrs: [{ 0: OTHER }, { 0: PCRS[0]! }] }, true],
    [
      "no image whole",
      "$image",
      {
        pcrs: [
          { 0: OTHER, 1: one },
          { 0: PCRS[0]!, 1: OTHER },
        ],
      },
      false,
    ],
    ["no PCR of an image, which any passes", "$image", { pivotHash: HASH }, false],
    ["no more than who signed", "$signed", { pcrs: { 8: SIGNER } }, false],
    ["who signed, too", "$signed", { pcrs: { 0: PCRS[0], 8: SIGNER } }, true],
    ["the whole image, and its parts", "$image", { pcrs: { 0: PCRS[0], 1: one, 2: two } }, true],
    ["one part of an image", "$image", { pcrs: { 1: one } }, false],
    ["the other part of an image", "$image", { pcrs: { 2: two } }, false],
    ["both parts of an image, and not the whole", "$image", { pcrs: { 1: one, 2: two } }, false],
    ["both parts and who signed", "$signed", { pcrs: { 1: one, 2: two, 8: SIGNER } }, false],
    ["the whole image, and another part", "$image", { pcrs: { 0: PCRS[0], 2: OTHER } }, false],
    ["the whole image, and another signer", "$signed", { pcrs: { 0: PCRS[0], 8: OTHER } }, false],
    ["the whole signed image, signed by nobody", "$signed", { pcrs: { 0: PCRS[0], 8: ZEROS } }, false],
    ["the whole image, whoever signs it", "$signed", { pcrs: { 0: PCRS[0] } }, true],
    ["the image of one, the signer of another", "$signed", { pcrs: [{ 8: SIGNER }, { 0: OTHER }] }, false],
    ["that nobody signed", "$image", { pcrs: { 0: PCRS[0], 8: ZEROS } }, true],
    ["that somebody signed", "$image", { pcrs: { 0: PCRS[0], 8: OTHER } }, false],
    ["another binary", "--binary $binary", { pivotHash: "ab".repeat(32) }, false],
    ["this binary", "--binary $binary", { pivotHash: ["ab".repeat(32), HASH] }, true],
    ["no binary", "--binary $binary", { pcrs: { 0: PCRS[0] } }, false],
    ["the role", ofRole, { pcrs: { 0: PCRS[0], 3: extended(ROLE) } }, true],
    ["another role", ofRole, { pcrs: { 0: PCRS[0], 3: extended(`${ROLE}2`) } }, false],
    ["no role", ofRole, { pcrs: { 0: PCRS[0] } }, false],
    ["a role that was not given", "$image", { pcrs: { 0: PCRS[0], 3: OTHER } }, true],
    ["another instance", "$image --instance-id i-01234567", { pcrs: { 0: PCRS[0], 4: OTHER } }, false],
  ])("holds what was measured against a deployment that pins %s", async (_, words, pins, fits) => {
    await having({ it: policyOf(deployment("one", pins)) })(`measure ${words} --policy $it`, fits ? 0 : 1);
  });

  const [byOther, bySigner] = [
    { 0: PCRS[0], 8: OTHER },
    { 0: PCRS[0], 8: SIGNER },
  ];
  it.each<[string, string, readonly object[]]>([
    ["matches in part", "$image", [{ 1: one }, { 0: PCRS[0], 1: one }]],
    ["matches in both parts", "$image", [{ 1: one, 2: two }, { 0: PCRS[0] }]],
    ["names only who signed", "$signed", [{ 8: SIGNER }, bySigner]],
    ["is another image", "$image", [{ 0: OTHER }, { 0: PCRS[0] }]],
    ["has another signer", "$signed", [byOther, bySigner]],
    ["has no role", ofRole, [{ 0: PCRS[0] }, { 0: PCRS[0], 3: extended(ROLE) }]],
  ])("takes the alternative that fits as a whole, in any order, where the other one %s", async (_, words, images) => {
    const holds = async (pcrs: object, code: number): Promise<unknown> =>
      having({ it: policyOf(deployment("one", { pcrs })) })(`measure ${words} --policy $it`, code);
    for (const pcrs of [images, images.toReversed()]) await holds(pcrs, 0);
    for (const pcrs of [images[0]!, [images[0], images[0]]]) await holds(pcrs, 1);
  });

  it("compares more, of alternatives that both fit, in any order", async () => {
    const images = [{ 0: PCRS[0], 3: OTHER }, { 0: PCRS[0] }];
    for (const pcrs of [images, images.toReversed()]) {
      const it = policyOf(deployment("one", { pcrs }));
      const { stdout } = await having({ it })("measure $image --policy $it --format json", 0);
      expect(JSON.parse(stdout)).toMatchObject({ comparison: { fits: true, nearest: { notCompared: [] } } });
    }
  });

  it("is a function of the library, that asks for a policy and something measured", () => {
    const text = utf8(JSON.stringify(labPolicy(anchorPem, [good as never])));
    const policy = parsePolicy(text, { readFile: () => anchorPem });
    expect(() => compareMeasured(policy, {})).toThrow(TypeError);
    expect(() => compareMeasured({ ...policy }, { pcrs: {} })).toThrow(TypeError);
    const pcr = (index: number): Uint8Array => Buffer.from(PCRS[index]!, "hex");
    for (const part of [{ 1: pcr(1) }, { 2: pcr(2) }, { 8: Buffer.from(SIGNER, "hex") }, { 3: pcr(1), 1: pcr(1) }])
      expect(() => compareMeasured(policy, { pcrs: part })).toThrow("measured.pcrs: expected PCR0");
    const more = compareMeasured(policy, { pcrs: { 0: pcr(0), 5: pcr(0) } });
    expect(more.nearest).toMatchObject({ fits: false, unpinned: ["pcrs.5"] });
    const { fits, nearest } = compareMeasured(policy, { pivotHash: Buffer.from(HASH, "hex") });
    expect([fits, nearest!.notCompared]).toEqual([true, ["pcrs.0", "pcrs.1", "pcrs.2"]]);
  });
});

describe("an enclave image", () => {
  const SHOWN = /^NOT VERIFIED.* enclave image \(EIF\) .*architecture x86_64 .*type ramdisk .*ImageName app /;
  const IS = "this is an enclave image";
  table([
    ["inspect $signed", 0, SHOWN, "reboot=k", "subject CN=builder"],
    ["inspect $large", 0, SHOWN],
    ["inspect - < $signed", 0, SHOWN],
    ["inspect $cut", 0, "header: the file ends at byte 100, inside the header of 548 bytes"],
    ...[
      "verify --boot-proof FILE --no-policy",
      "verify --attestation FILE --no-policy",
      "verify FILE --no-policy",
      "pin --boot-proof FILE",
      "pin --release FILE --app signer",
      "bundle --boot-proof FILE --no-policy",
      "policy check FILE",
    ].flatMap((line): Row[] => [
      [line.replace("FILE", "$image"), 2, IS],
      [line.replace("FILE", "$large"), 2, IS],
    ]),
    ["verify --boot-proof - --no-policy < $large", 2, `bootproof: stdin: ${IS}: bootproof measure shows its PCRs`],
  ]);

  it("is shown by inspect with its faults, those of its signature too", async () => {
    const sections = signed(signer).map((section, index) => (index === 5 ? { ...section, data: utf8("x") } : section));
    const it = fileOf(imageOf({ sections, reserved: 1 }));
    expect(JSON.parse((await having({ it })("inspect $it --format json", 0)).stdout)).toMatchObject({
      kind: "enclave image",
      faults: ["header.reserved: not zero", expect.stringMatching(/^signature: /)],
      says: { header: { version: 4 }, metadata: { ImageName: "app" } },
    });
  });

  it.each([
    ['{"policy":"bootproof/1","deployments":[]}', 0],
    ["{}x", 2],
    ["abc", 2],
    ["", 2],
  ])("leaves what inspect reads of stdin whole, of other files: %j", async (text, code) => {
    const inspect = having({ it: fileOf(text) });
    const { stdout } = await inspect("inspect $it", code);
    expect((await inspect("inspect - < $it", code)).stdout).toBe(stdout);
  });
});
