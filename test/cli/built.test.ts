/** What was built, held against what runs: `verify --image`, and `pin --image --binary`. */
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../src/bytes.js";
import { Forge, forgeEvidence } from "../../src/lab/forge.js";
import { startLab } from "../../src/lab/index.js";
import { APPLICATION, SECTIONS, imageOf, newSigner, pcrsOf, signed, utf8 } from "../support/images.js";
import { BOOT_1, connectionTo, fileOf, readJson, scene } from "./support.js";

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

const operator = ["--quorum-key", key, "--manifest-set", set, "--namespace", "lab/signer"];
const N = {
  ...{ boot, document, anchor, image, otherImage, signedImage, app, set, key, role: ROLE, operator, boot1: BOOT_1 },
  bare: ["--boot-proof", boot, "--no-policy", "--trust-anchor", anchor],
  crc: fileOf(imageOf({ sections: SECTIONS, crc: 7 }), "crc.eif"),
};
const { having, run, table, usage } = scene(N, { now });

describe("verify --image", () => {
  const ofDocument = "verify --attestation $document --no-policy --trust-anchor $anchor --image";
  table([
    [
      "verify $bare --image $image",
      0,
      /^AUTHENTIC with 1 warning: /,
      "ok bind.image",
      "It is the image that you gave (PCR0, PCR1, PCR2).",
      "its image, which you gave, but which no policy pins, says",
    ],
    ["verify $bare --image $image", 0, "Whose enclave this is, which application it should run"],
    ["verify $bare --image $otherImage", 1, "One check failed: bind.image"],
    // Signed, where the enclave's was not.
    ["verify $bare --image $signedImage", 1, "One check failed: bind.image"],
    ["verify $bare", 0, "!bind.image"],
    [`${ofDocument} $image`, 0],
    [`${ofDocument} $otherImage`, 1, "One check failed: bind.image"],
    [`${ofDocument} - < $otherImage`, 1, "One check failed: bind.image"],
  ]);

  it("is measured before anything is fetched", async () => {
    const service = await startLab();
    const verify = having({ to: connectionTo(service) });
    const line = "verify $to --app signer --no-policy --image";
    try {
      await verify(`${line} $image`, 1, "FAIL bind.image");
    } finally {
      await service.close();
    }
    await verify(`${line} $image`, 3);
    await verify(`${line} $boot`, 2);
  });

  // Beside every other fault.
  usage("verify --boot-proof no.json --no-policy --image", [
    ["missing.eif", "missing.eif: no such file", "no.json: no such file"],
    ["$boot1", "bootproof-1.json: ", "no.json: no such file"],
    ["$crc", "crc.eif: ", "no.json: no such file"],
  ]);
});

describe("pin --image --binary", () => {
  const PINNED = "Pinned the measurements of these files";
  const verifyBy = async (words: string, code: number, ...says: string[]): Promise<string> => {
    const policy = fileOf((await run(`pin ${words}`, 0, PINNED, ...says)).stdout);
    await having({ policy })("verify --boot-proof $boot --policy $policy", code);
    return policy;
  };

  it("pins what these files measure, with a role, and passes the enclave that runs it", async () => {
    const files = "--image $image --binary $app --role-arn $role $operator --trust-anchor $anchor";
    const policy = await verifyBy(`${files} --name mine --app-proof-type T`, 0, "!warning");
    const pcrs = { 0: pcr0, 1: pcr1, 2: pcr2, 3: toHex(lab.measurements.pcr3) };
    const pinned = { pcrs, pivotHash: toHex(lab.pivotHash), quorumKey: key, namespace: "lab/signer" };
    expect(readJson(policy)).toMatchObject({
      name: "mine",
      deployments: [{ ...pinned, appProofs: { types: ["T"] } }],
    });
    await verifyBy(files.replace("$role", `${ROLE}2`), 1);
  });

  it("says what an image alone leaves open, and what closes it", async () => {
    const { stdout } = await run("pin --image $image", 0, PINNED, "Warning: leaves the application open");
    expect(JSON.parse(stdout)).toMatchObject({ deployments: [{ open: ["application", "operator"] }] });
    const alone = "--binary $app --manifest-set $set --namespace lab/signer --trust-anchor $anchor";
    await verifyBy(alone, 0, "only manifestSet pins the image");
  });

  it("is added to a policy that is there", async () => {
    const policy = await verifyBy("--image $otherImage --binary $app $operator --trust-anchor $anchor", 1);
    await having({ policy })("pin --image $image --binary $app $operator --add-to $policy", 0);
    await having({ policy })("verify --boot-proof $boot --policy $policy", 0);
  });

  usage("pin", [
    ["--image $image --boot-proof $boot", "--boot-proof cannot be used with --image"],
    ["--image $image --release r.yaml --app x", "--release cannot be used with --image"],
    ["--image $image --binary $app --nonce 00", "--nonce cannot be used with --image, --binary"],
    ["--image $image --app signer", "--app cannot be used with --image"],
    ["--boot-proof $boot --role-arn $role", "--role-arn requires --image or --pcrs"],
    ["--binary $app --quorum-key $key", "--binary alone does not pin the image"],
    ["--binary $app --manifest-set $set --role-arn $role", "--role-arn requires --image"],
    ["--image $image --role-arn role", "--role-arn: expected the ARN of an IAM role"],
    ["--image no.eif --binary no", "no.eif: no such file"],
    ["--image $boot --binary no", "no: no such file"],
    ["--image $image --out $image", "is also an input, and would be overwritten"],
  ]);
});
