/** `measure`, and what `inspect` and the other commands make of an enclave image. */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
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
import { bootproof, fileOf, refused } from "./support.js";

const signer = newSigner("P-384");
const IMAGE = fileOf(imageOf({ sections: SECTIONS }), "app.eif");
const SIGNED = fileOf(imageOf({ sections: signed(signer) }), "signed.eif");
const BINARY = fileOf("a program", "app");
const ROLE = "arn:aws:iam::123456789012:role/Name";
const extended = (text: string): string => createHash("sha384").update(Buffer.alloc(48)).update(text).digest("hex");
const PCRS = pcrsOf(SECTIONS);
const ZEROS = "00".repeat(48);
const OTHER = "ab".repeat(48);
const SIGNER = pcrsOf(SECTIONS, signer.certificate)[8]!;
const HASH = createHash("sha256").update("a program").digest("hex");

const lab = new Forge();
const { anchorPem } = forgeEvidence({ lab, at: new Date("2026-03-04T05:06:07.000Z") });
const { manifestSet } = labDeployment(lab);

interface Measurement {
  readonly format: string;
  readonly pcrs: Record<string, string>;
  readonly pivotHash: string | null;
  readonly image: Record<string, unknown> | null;
  readonly comparison: { readonly fits: boolean; readonly nearest: { readonly name: string } } | null;
}

/** A deployment that pins these, and is well-formed whatever they are. */
function deployment(name: string, pins: object): object {
  return { name, manifestSet, namespace: "n", minNonce: 1, ...pins };
}

const policyOf = (...deployments: readonly object[]): string => fileOf(labPolicy(anchorPem, deployments as never));

const given = (...argv: string[]) => bootproof(["measure", ...argv]);
const json = async (...argv: string[]): Promise<Measurement> =>
  JSON.parse((await given(...argv, "--format", "json")).stdout) as Measurement;

describe("measure", () => {
  it("says in text what the PCRs are, and what they do not prove", async () => {
    const { code, stdout, stderr } = await given(IMAGE, "--binary", BINARY, "--role-arn", ROLE);
    expect([code, stderr]).toEqual([0, ""]);
    for (const value of [...Object.values(PCRS), HASH, extended(ROLE)]) expect(stdout).toContain(`  ${value}\n`);
    expect(stdout).toContain(`the IAM role of the parent instance: ${ROLE}`);
    expect(stdout).toContain("none: PCR8 stays zero");
    expect(stdout).toContain("This does not prove that an enclave runs the image");
    expect(stdout).not.toMatch(/PCR8\n|PCR4|PINNED|DIFFERENT/);
  });

  it("says in JSON all of it", async () => {
    const measured = await json(SIGNED, "--instance-id", "i-0123456789abcdef0", "--binary", BINARY);
    expect(measured).toMatchObject({
      format: "bootproof-measurement/1",
      pcrs: { ...pcrsOf(SECTIONS, signer.certificate), 4: extended("i-0123456789abcdef0") },
      pivotHash: HASH,
      binary: { file: BINARY },
      roleArn: null,
      instanceId: "i-0123456789abcdef0",
      policy: null,
      comparison: null,
    });
    expect(measured.image).toMatchObject({
      file: SIGNED,
      version: 4,
      architecture: "x86_64",
      commandLine: "reboot=k panic=30 pci=off console=ttyS0",
      metadata: { ImageName: "app" },
      signature: { algorithm: "ES384", subject: "CN=builder", isValidNow: false },
    });
  });

  it("notes that a certificate has ended, and refuses nothing for it", async () => {
    const { code, stdout } = await given(SIGNED);
    expect([code, stdout.replaceAll(/\s+/g, " ")]).toEqual([0, expect.stringContaining("not now. Neither this")]);
    const valid = fileOf(imageOf({ sections: signed(newSigner("P-256", new Date("2045-01-01"))) }));
    expect((await given(valid)).stdout).not.toContain("NOTE");
  });

  it("says of an image without an application that its PCR2 is a constant", async () => {
    const { stdout } = await given(fileOf(imageOf({ sections: [KERNEL, CMDLINE, METADATA, RAMDISK] })));
    expect(stdout).toContain("no second ramdisk: a constant");
  });

  it("reads stdin, of an image or a binary", async () => {
    const stdin = imageOf({ sections: SECTIONS });
    const { code, stdout } = await bootproof(["measure", "-", "--format", "json"], { stdin });
    expect([code, (JSON.parse(stdout) as Measurement).pcrs]).toEqual([0, PCRS]);
    const binary = await bootproof(["measure", "--binary", "-"], { stdin: "a program" });
    expect(binary.stdout).toContain(`  ${HASH}\n`);
    expect(binary.stdout).not.toContain("PCR");
  });

  it("prints nothing that the image chose as it is", async () => {
    const cmdline = { ...CMDLINE, data: utf8("\u001b[31mred\u202e") };
    const metadata = { ...METADATA, data: utf8('{"\u001b[2J":"\u202e"}').map((byte) => byte) };
    const escaped = { ...metadata, data: utf8('{"\\u001b[2J":"\u202e"}') };
    for (const command of ["measure", "inspect"])
      for (const format of ["text", "json"]) {
        const image = fileOf(imageOf({ sections: [KERNEL, cmdline, escaped, RAMDISK] }));
        const { code, stdout } = await bootproof([command, image, "--format", format]);
        expect(code).toBe(0);
        expect(stdout).not.toMatch(/\u001b|\u202e/);
      }
    expect((await given(fileOf(imageOf({ sections: [KERNEL, cmdline, metadata, RAMDISK] })))).code).toBe(2);
  });
});

describe("measure is told what is wrong", () => {
  it.each([
    [[], "nothing to measure: FILE, --binary, --role-arn or --instance-id is required"],
    [["-", "--binary", "-"], "only one file can be - (stdin)"],
    [[IMAGE, "--role-arn", "Name"], "--role-arn: expected the ARN of an IAM role"],
    [[IMAGE, "--role-arn", ""], "--role-arn: empty: a shell variable may be unset\nSee"],
    [["--instance-id", "i-1"], "--instance-id: expected the id of an instance"],
    [[IMAGE, "--role-arn", ROLE, "--role-arn", ROLE], "--role-arn is repeated"],
    [[BINARY], "not an enclave image file: one begins with .eif"],
    [[IMAGE, "--policy", IMAGE], `${IMAGE}: this is an enclave image: bootproof measure shows its PCRs`],
  ])("%j", (argv, message) => refused(2, given(...argv), message));

  it("every fault of an image, each in its line, and as JSON", async () => {
    const image = fileOf(imageOf({ sections: SECTIONS, reserved: 1, flags: 2, crc: 0 }));
    const { code, stdout, stderr } = await given(image, "--format", "json");
    expect(code).toBe(2);
    expect(stderr.trim().split("\n")).toEqual([
      `bootproof: ${image}: header.flags: 0x2: bits without a meaning are set`,
      `bootproof: ${image}: header.reserved: not zero`,
      expect.stringContaining(`bootproof: ${image}: header.crc: 0x00000000`),
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ format: "bootproof-error/1", exitCode: 2 });
  });
});

describe("measure --policy", () => {
  const good = deployment("good", { pcrs: { 0: PCRS[0], 1: PCRS[1], 2: PCRS[2] }, pivotHash: HASH });
  const old = deployment("old", { pcrs: { 0: OTHER, 1: PCRS[1], 2: PCRS[2] } });
  const older = deployment("older", { pcrs: { 0: OTHER, 1: OTHER, 2: OTHER } });

  it("is 0 where a deployment pins it, and says which, and what it did not compare", async () => {
    const { code, stdout } = await given(IMAGE, "--policy", policyOf(old, good));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^PINNED: .* as\ndeployment "good"|^PINNED: [^]*deployment\s"good"/);
    expect(stdout).toContain("pinned, but not compared: pivotHash (--binary)");
    expect((await given(IMAGE, "--binary", BINARY, "--policy", policyOf(old, good))).code).toBe(0);
  });

  it("is 1 where none does, and tells the nearest, expected and found", async () => {
    const { code, stdout } = await given(IMAGE, "--policy", policyOf(older, old));
    expect(code).toBe(1);
    expect(stdout).toMatch(/^DIFFERENT: no deployment of/);
    expect(stdout.replaceAll(/\s+/g, "")).toContain(`Thenearestis"old":pcrs.0expected${OTHER}found${PCRS[0]}`);
    const { comparison } = await json(IMAGE, "--policy", policyOf(older, old));
    expect(comparison).toMatchObject({ fits: false, nearest: { name: "old" } });
  });

  it.each<[string, readonly string[], object, boolean]>([
    ["one of several values", [IMAGE], { pcrs: { 0: [OTHER, PCRS[0]] } }, true],
    ["one of several images", [IMAGE], { pcrs: [{ 0: OTHER }, { 0: PCRS[0]! }] }, true],
    [
      "no image whole",
      [IMAGE],
      {
        pcrs: [
          { 0: OTHER, 1: PCRS[1]! },
          { 0: PCRS[0]!, 1: OTHER },
        ],
      },
      false,
    ],
    ["no PCR of an image, which any passes", [IMAGE], { pivotHash: HASH }, false],
    ["no more than who signed", [SIGNED], { pcrs: { 8: SIGNER } }, false],
    ["who signed, too", [SIGNED], { pcrs: { 0: PCRS[0], 8: SIGNER } }, true],
    ["the whole image, and its parts", [IMAGE], { pcrs: { 0: PCRS[0], 1: PCRS[1], 2: PCRS[2] } }, true],
    ["one part of an image", [IMAGE], { pcrs: { 1: PCRS[1] } }, false],
    ["the other part of an image", [IMAGE], { pcrs: { 2: PCRS[2] } }, false],
    ["both parts of an image, and not the whole", [IMAGE], { pcrs: { 1: PCRS[1], 2: PCRS[2] } }, false],
    ["both parts and who signed", [SIGNED], { pcrs: { 1: PCRS[1], 2: PCRS[2], 8: SIGNER } }, false],
    ["the whole image, and another part", [IMAGE], { pcrs: { 0: PCRS[0], 2: OTHER } }, false],
    ["the whole image, and another signer", [SIGNED], { pcrs: { 0: PCRS[0], 8: OTHER } }, false],
    ["the whole signed image, signed by nobody", [SIGNED], { pcrs: { 0: PCRS[0], 8: ZEROS } }, false],
    ["the whole image, whoever signs it", [SIGNED], { pcrs: { 0: PCRS[0] } }, true],
    ["the image of one alternative, the signer of another", [SIGNED], { pcrs: [{ 8: SIGNER }, { 0: OTHER }] }, false],
    ["that nobody signed", [IMAGE], { pcrs: { 0: PCRS[0], 8: ZEROS } }, true],
    ["that somebody signed", [IMAGE], { pcrs: { 0: PCRS[0], 8: OTHER } }, false],
    ["another binary", ["--binary", BINARY], { pivotHash: "ab".repeat(32) }, false],
    ["this binary", ["--binary", BINARY], { pivotHash: ["ab".repeat(32), HASH] }, true],
    ["no binary", ["--binary", BINARY], { pcrs: { 0: PCRS[0] } }, false],
    ["the role", [IMAGE, "--role-arn", ROLE], { pcrs: { 0: PCRS[0], 3: extended(ROLE) } }, true],
    ["another role", [IMAGE, "--role-arn", ROLE], { pcrs: { 0: PCRS[0], 3: extended(`${ROLE}2`) } }, false],
    ["no role", [IMAGE, "--role-arn", ROLE], { pcrs: { 0: PCRS[0] } }, false],
    ["a role that was not given", [IMAGE], { pcrs: { 0: PCRS[0], 3: OTHER } }, true],
    ["another instance", [IMAGE, "--instance-id", "i-01234567"], { pcrs: { 0: PCRS[0], 4: OTHER } }, false],
  ])("holds what was measured against a deployment that pins %s", async (_, argv, pins, fits) => {
    const { code, stderr } = await given(...argv, "--policy", policyOf(deployment("one", pins)));
    expect([code, stderr]).toEqual([fits ? 0 : 1, ""]);
  });

  it.each<[string, readonly string[], readonly object[]]>([
    ["matches in part", [IMAGE], [{ 1: PCRS[1] }, { 0: PCRS[0], 1: PCRS[1] }]],
    ["matches in both parts", [IMAGE], [{ 1: PCRS[1], 2: PCRS[2] }, { 0: PCRS[0] }]],
    ["names only who signed", [SIGNED], [{ 8: SIGNER }, { 0: PCRS[0], 8: SIGNER }]],
    ["is another image", [IMAGE], [{ 0: OTHER }, { 0: PCRS[0] }]],
    [
      "has another signer",
      [SIGNED],
      [
        { 0: PCRS[0], 8: OTHER },
        { 0: PCRS[0], 8: SIGNER },
      ],
    ],
    ["has no role", [IMAGE, "--role-arn", ROLE], [{ 0: PCRS[0] }, { 0: PCRS[0], 3: extended(ROLE) }]],
  ])("takes the alternative that fits as a whole, in any order, where the other one %s", async (_, argv, images) => {
    for (const pcrs of [images, images.toReversed()]) {
      const { code, stdout } = await given(...argv, "--policy", policyOf(deployment("one", { pcrs })));
      expect([code, stdout.slice(0, 7)]).toEqual([0, "PINNED:"]);
    }
    for (const pcrs of [images[0]!, [images[0], images[0]]]) {
      const { code, stdout } = await given(...argv, "--policy", policyOf(deployment("one", { pcrs })));
      expect([code, stdout.slice(0, 10)]).toEqual([1, "DIFFERENT:"]);
    }
  });

  it("compares more, of alternatives that both fit, in any order", async () => {
    const images = [{ 0: PCRS[0], 3: OTHER }, { 0: PCRS[0] }];
    for (const pcrs of [images, images.toReversed()])
      expect(await json(IMAGE, "--policy", policyOf(deployment("one", { pcrs })))).toMatchObject({
        comparison: { fits: true, nearest: { notCompared: [] } },
      });
  });

  it("says what is not pinned where the parts of an image are, and not the whole", async () => {
    const pins = deployment("parts", { pcrs: { 1: PCRS[1], 2: PCRS[2] } });
    const { stdout } = await given(IMAGE, "--policy", policyOf(pins));
    const text = stdout.replaceAll(/\s+/g, " ");
    expect(text).toContain('The nearest is "parts": does not pin pcrs.0: any value would pass');
    expect(text).toContain("PCR0 alone covers the whole image.");
    const { comparison } = await json(IMAGE, "--policy", policyOf(deployment("none", { pivotHash: HASH })));
    expect(comparison!.nearest).toMatchObject({ unpinned: ["pcrs.0", "pcrs.1", "pcrs.2"] });
    const other = await given(IMAGE, "--policy", policyOf(older));
    expect(other.stdout).not.toContain("PCR0 alone");
  });

  it("says of a malformed policy what is wrong, and of the image too", () =>
    refused(2, given(BINARY, "--policy", fileOf({ deployments: [] })), /policy: /, "not an enclave image file"));

  it("is a function of the library, that asks for a policy and something measured", () => {
    const policy = parsePolicy(utf8(JSON.stringify(labPolicy(anchorPem, [good as never]))), {
      readFile: () => anchorPem,
    });
    expect(() => compareMeasured(policy, {})).toThrow(TypeError);
    expect(() => compareMeasured({ ...policy }, { pcrs: {} })).toThrow(TypeError);
    const pcr = (index: number): Uint8Array => Buffer.from(PCRS[index]!, "hex");
    for (const part of [{ 1: pcr(1) }, { 2: pcr(2) }, { 8: Buffer.from(SIGNER, "hex") }, { 3: pcr(1), 1: pcr(1) }])
      expect(() => compareMeasured(policy, { pcrs: part })).toThrow("measured.pcrs: expected PCR0");
    expect(compareMeasured(policy, { pcrs: { 0: pcr(0), 5: pcr(0) } }).nearest).toMatchObject({
      fits: false,
      unpinned: ["pcrs.5"],
    });
    const { fits, nearest } = compareMeasured(policy, { pivotHash: Buffer.from(HASH, "hex") });
    expect([fits, nearest!.notCompared]).toEqual([true, ["pcrs.0", "pcrs.1", "pcrs.2"]]);
  });
});

describe("an enclave image", () => {
  const large = fileOf(
    imageOf({ sections: [...SECTIONS, { ...RAMDISK, data: new Uint8Array(9 * 1024 * 1024) }] }),
    "large.eif",
  );

  it("is shown by inspect, whatever its size, as a file or from stdin", async () => {
    for (const [path, stdin] of [[SIGNED], [large], ["-", imageOf({ sections: signed(signer) })]] as const) {
      const { code, stdout } = await bootproof(["inspect", path], { stdin: stdin ?? "" });
      expect(code).toBe(0);
      expect(stdout).toMatch(/^NOT VERIFIED[^]*\nenclave image \(EIF\)\n/);
      for (const word of ["architecture   x86_64", "ImageName       app", "reboot=k", "type    ramdisk"])
        expect(stdout).toContain(word);
    }
    expect((await bootproof(["inspect", SIGNED])).stdout).toContain("subject             CN=builder");
  });

  it("is shown by inspect with its faults, those of its signature too", async () => {
    const sections = signed(signer).map((section, index) => (index === 5 ? { ...section, data: utf8("x") } : section));
    const image = imageOf({ sections, reserved: 1 });
    const { stdout } = await bootproof(["inspect", fileOf(image), "--format", "json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      kind: "enclave image",
      faults: ["header.reserved: not zero", expect.stringMatching(/^signature: /)],
      says: { header: { version: 4 }, metadata: { ImageName: "app" } },
    });
    const { stdout: cut } = await bootproof(["inspect", fileOf(image.subarray(0, 100))]);
    expect(cut).toContain("!  header: the file ends at byte 100, inside the header of 548 bytes");
  });

  it("leaves what inspect reads of stdin whole, of other files", async () => {
    for (const stdin of ['{"policy":"bootproof/1","deployments":[]}', "{}x", "abc", ""]) {
      const [piped, file] = [await bootproof(["inspect", "-"], { stdin }), await bootproof(["inspect", fileOf(stdin)])];
      expect(piped.code).toBe(file.code);
      expect(piped.stdout).toBe(file.stdout);
    }
  });

  const folder = fileOf("x").replace(/[^/]*$/, "nested");
  mkdirSync(folder);
  writeFileSync(`${folder}/x.eif`, imageOf({ sections: SECTIONS }));
  it.each([
    ["verify", "--boot-proof", "FILE", "--no-policy"],
    ["verify", "--attestation", "FILE", "--no-policy"],
    ["verify", "FILE", "--no-policy"],
    ["pin", "--boot-proof", "FILE"],
    ["pin", "--release", "FILE", "--app", "signer"],
    ["bundle", "--boot-proof", "FILE", "--no-policy"],
    ["policy", "check", "FILE"],
  ])("is named where another file is wanted, though it is larger than any: %s %s", async (...words) => {
    for (const file of [IMAGE, large]) {
      await refused(2, bootproof(words.map((word) => (word === "FILE" ? file : word))), "this is an enclave image");
    }
  });

  it("is named on stdin, too", async () => {
    const stdin = imageOf({ sections: [...SECTIONS, { ...RAMDISK, data: new Uint8Array(1024 * 1024) }] });
    const { code, stderr } = await bootproof(["verify", "--boot-proof", "-", "--no-policy"], { stdin });
    expect([code, stderr]).toEqual([
      2,
      "bootproof: stdin: this is an enclave image: bootproof measure shows its PCRs\n",
    ]);
  });
});
