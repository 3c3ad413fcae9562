/** What was built, held against what runs: `verify --image`, and `pin --image --binary`. */
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../src/bytes.js";
import { Forge, forgeEvidence } from "../../src/lab/forge.js";
import { startLab } from "../../src/lab/index.js";
import type { Report } from "../../src/report/report.js";
import { APPLICATION, SECTIONS, imageOf, newSigner, pcrsOf, signed, utf8 } from "../support/images.js";
import { type Answer, BOOT_1, bootproof, connectionTo, fileOf, readJson, refused } from "./support.js";

const AT = new Date("2026-03-04T05:06:07.000Z");
const now = "2026-03-04T05:16:07Z";
const { 0: pcr0, 1: pcr1, 2: pcr2 } = pcrsOf(SECTIONS);
const bytesOf = (hex: string | undefined): Uint8Array => fromHex(hex!)!;
const binary = utf8("the application");
const ROLE = "arn:aws:iam::123456789012:role/Webserver";
const defaults = new Forge();
const lab = new Forge({
  measurements: { ...defaults.measurements, pcr0: bytesOf(pcr0), pcr1: bytesOf(pcr1), pcr2: bytesOf(pcr2) },
  pivotHash: new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(binary))),
});
const evidence = forgeEvidence({ lab, at: AT });
const boot = fileOf(evidence.bootProof);
const document = fileOf(evidence.document, "document.cbor");
const anchor = fileOf(evidence.anchorPem, "built-root.pem");
const image = fileOf(imageOf({ sections: SECTIONS }), "app.eif");
const changed = [...SECTIONS.slice(0, -1), { ...APPLICATION, data: utf8("another") }];
const otherImage = fileOf(imageOf({ sections: changed }), "other.eif");
const signedImage = fileOf(imageOf({ sections: signed(newSigner("P-384")) }), "signed.eif");
const app = fileOf(binary, "app");
const set = fileOf({
  threshold: 2,
  members: lab.manifestMembers.map(({ key, alias }) => ({ alias, pubKey: toHex(key.publicKey) })),
});
const key = toHex(lab.quorumKey.publicKey);

const judged = (...args: string[]): Promise<Answer> => bootproof(["verify", ...args, "--now", now], { now });
const bare = ["--boot-proof", boot, "--no-policy", "--trust-anchor", anchor];
const failing = ({ stdout }: Answer): string[] =>
  (JSON.parse(stdout) as Report).checks.filter(({ status }) => status === "fail").map(({ id }) => id);
const pinned = async (...args: string[]): Promise<{ policy: string; stderr: string }> => {
  const { code, stdout, stderr } = await bootproof(["pin", ...args]);
  expect([code, stderr]).toEqual([0, expect.stringContaining("Pinned the measurements of these files")]);
  return { policy: fileOf(stdout), stderr };
};

describe("verify --image", () => {
  it("passes the enclave that runs it, and says so beside what no policy says", async () => {
    const { code, stdout } = await judged(...bare, "--image", image);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^AUTHENTIC with 1 warning: /);
    const words = stdout.replace(/\s+/g, " ");
    expect(words).toContain("It is the image that you gave (PCR0, PCR1, PCR2).");
    expect(words).toContain("its image, which you gave, but which no policy pins, says that");
    expect(words).toContain("Whose enclave this is, which application it should run");
    expect(stdout).toMatch(/ok +bind\.image/);
  });

  it.each([
    ["another image", () => otherImage],
    ["the same, signed, where the enclave's was not", () => signedImage],
  ])("refuses the enclave of %s", async (_, file) => {
    const answer = await judged(...bare, "--image", file(), "--format", "json");
    expect([answer.code, failing(answer)]).toEqual([1, ["bind.image"]]);
  });

  it("says nothing of images where none was given", async () => {
    expect((await judged(...bare)).stdout).not.toContain("bind.image");
  });

  it("is asked of a bare document, from a pipe too", async () => {
    const attestation = ["--attestation", document, "--no-policy", "--trust-anchor", anchor, "--format", "json"];
    expect((await judged(...attestation, "--image", image)).code).toBe(0);
    expect(failing(await judged(...attestation, "--image", otherImage))).toEqual(["bind.image"]);
    const piped = await bootproof(["verify", ...attestation, "--image", "-"], {
      now,
      stdin: imageOf({ sections: changed }),
    });
    expect(failing(piped)).toEqual(["bind.image"]);
  });

  it("is measured before anything is fetched", async () => {
    const service = await startLab();
    try {
      const online = [...connectionTo(service), "--app", "signer", "--no-policy"];
      const fetched = await judged(...online, "--image", image, "--format", "json");
      expect(fetched.code).toBe(1);
      expect(failing(fetched)).toContain("bind.image");
    } finally {
      await service.close();
    }
    const gone = [...connectionTo(service), "--app", "signer", "--no-policy"];
    expect((await judged(...gone, "--image", image)).code).toBe(3);
    expect((await judged(...gone, "--image", boot)).code).toBe(2);
  });

  it.each([
    ["a file that is not there", "missing.eif", "missing.eif: no such file"],
    ["a boot proof", BOOT_1, "bootproof-1.json: "],
    ["a broken one", fileOf(imageOf({ sections: SECTIONS, crc: 7 }), "crc.eif"), "crc.eif: "],
  ])("refuses %s for an image, beside every other fault", (_, file, message) =>
    refused(2, judged("--boot-proof", "no.json", "--no-policy", "--image", file), message, "no.json: no such file"),
  );
});

describe("pin --image --binary", () => {
  const operator = ["--quorum-key", key, "--manifest-set", set, "--namespace", "lab/signer"];
  const anchored = ["--trust-anchor", anchor];

  it("pins what these files measure, with a role, and passes the enclave that runs it", async () => {
    const args = ["--image", image, "--binary", app, "--role-arn", ROLE, ...operator, ...anchored];
    const { policy, stderr } = await pinned(...args, "--name", "mine", "--app-proof-type", "T");
    expect(stderr).not.toContain("warning");
    expect(readJson(policy)).toMatchObject({
      name: "mine",
      deployments: [
        {
          pcrs: { 0: pcr0, 1: pcr1, 2: pcr2, 3: toHex(lab.measurements.pcr3) },
          pivotHash: toHex(lab.pivotHash),
          quorumKey: key,
          namespace: "lab/signer",
          appProofs: { types: ["T"] },
        },
      ],
    });
    const { code, stdout } = await judged("--boot-proof", boot, "--policy", policy);
    expect([code, stdout]).toEqual([0, expect.stringContaining("VERIFIED")]);
    const inRole = await pinned(...args.map((arg) => (arg === ROLE ? `${ROLE}2` : arg)));
    expect((await judged("--boot-proof", boot, "--policy", inRole.policy)).code).toBe(1);
  });

  it("says what an image alone leaves open, and what closes it", async () => {
    const { policy, stderr } = await pinned("--image", image);
    expect(readJson(policy)).toMatchObject({ deployments: [{ open: ["application", "operator"] }] });
    expect(stderr).toContain("Warning: leaves the application open");
    expect(stderr).toContain("--binary FILE pins the application");
    const binaryAlone = await pinned("--binary", app, "--manifest-set", set, "--namespace", "lab/signer", ...anchored);
    expect(binaryAlone.stderr).toContain("only manifestSet pins the image");
    expect((await judged("--boot-proof", boot, "--policy", binaryAlone.policy)).code).toBe(0);
  });

  it("is added to a policy that is there", async () => {
    const { policy } = await pinned("--image", otherImage, "--binary", app, ...operator, ...anchored);
    expect((await judged("--boot-proof", boot, "--policy", policy)).code).toBe(1);
    const added = await bootproof(["pin", "--image", image, "--binary", app, ...operator, "--add-to", policy]);
    expect([added.code, added.stdout]).toEqual([0, ""]);
    expect((await judged("--boot-proof", boot, "--policy", policy)).code).toBe(0);
  });

  it.each([
    [["--image", image, "--boot-proof", boot], "--boot-proof and --image exclude each other"],
    [["--image", image, "--release", "r.yaml", "--app", "x"], "--release and --image exclude each other"],
    [["--image", image, "--binary", app, "--nonce", "00"], "--nonce requires --boot-proof"],
    [["--image", image, "--app", "signer"], "--image and --app exclude each other"],
    [["--boot-proof", boot, "--role-arn", ROLE], "--role-arn requires --image, --pcrs or --binary"],
    [["--binary", app, "--quorum-key", key], "--binary alone does not pin the image"],
    [["--binary", app, "--manifest-set", set, "--role-arn", ROLE], "--role-arn requires --image"],
    [["--image", image, "--role-arn", "role"], "--role-arn: expected the ARN of an IAM role"],
    [["--image", "-", "--binary", "-"], "only one file can be - (stdin)"],
    [["--image", "no.eif", "--binary", "no"], "no.eif: no such file"],
    [["--image", boot, "--binary", "no"], "no: no such file"],
    [["--image", image, "--out", image], "is also an input, and would be overwritten"],
  ])("%j is wrong usage", (args, message) => refused(2, bootproof(["pin", ...args]), message));
});
