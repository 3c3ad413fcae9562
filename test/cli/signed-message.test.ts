/** `verify --signed-message`: bytes that an application signed with its ephemeral key, and that are no app proof. */
import { describe, expect, it } from "vitest";
import { toUtf8 } from "../../src/bytes.js";
import type { JsonObject } from "../../src/decode/json.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { qosSign, sha256 } from "../../src/lab/qos.js";
import { NOW as AT, hex } from "../attacks/support.js";
import { fileOf, scene } from "./support.js";

const lab = new Forge();
const { bootProof, appProofs, anchorPem } = forgeEvidence({ lab, at: AT });
const { ephemeralKey: key } = lab;
const message = sha256(toUtf8("what the transaction does"));
const policyFile = (rules: JsonObject | null, members: JsonObject = {}): string =>
  fileOf(labPolicy(anchorPem, [{ ...labDeployment(lab), ...(rules && { appProofs: rules }) }], members));
const MESSAGE = fileOf(message, "message.bin");
const signature = hex(qosSign(key, message));
const N = {
  ...{ message: MESSAGE, same: fileOf(message, "mine.bin"), other: fileOf(sha256(toUtf8("another")), "other.bin") },
  ...{ boot: fileOf(bootProof), boots: fileOf([bootProof, bootProof]), apps: fileOf(appProofs), signature },
  ...{
    whole: hex(key.publicKey),
    half: hex(key.publicKey.subarray(65)),
    another: hex(new Forge().ephemeralKey.publicKey),
  },
  ...{
    policy: policyFile({ bytes: true }),
    silent: policyFile(null),
    given: ["--signed-message", MESSAGE, "--signature", signature],
  },
  aged: policyFile({ bytes: true }, { appProofs: { maxAge: "1h" } }),
  ...{ cut: signature.slice(2), empty: fileOf("", "empty.bin") },
};
const { run, table, usage } = scene(N, { now: AT.toISOString() });
const verify = "verify --boot-proof $boot --policy $policy";

describe("signed bytes", () => {
  const EXPECTED = /app\.request .*they are the expected bytes/;
  table([
    [`${verify} $given --expect $same --verbose`, 0, "The application signed these 32 bytes", "message.bin", EXPECTED],
    [`${verify} $given --verbose`, 0, "nobody said which bytes are expected"],
    [`${verify} $given --fail-on-warning`, 1],
    [`${verify} $given --public-key $whole --expect $same`, 0],
    [`${verify} $given --public-key $half --expect $same`, 0],
    // The organization of the environment is for connections.
    [`BOOTPROOF_ORGANIZATION_ID=another ${verify} --signed-message - --signature $signature < $message`, 0],
    [`${verify} $given --expect $other`, 1, "FAIL app.request"],
    [`${verify} --signed-message $other --signature $signature`, 1, "FAIL app.signature"],
    [`${verify} $given --public-key $another`, 1, "FAIL app.key"],
    [`${verify} --signed-message $message --signature $cut`, 1, "FAIL app.decode"],
    [`${verify} $given --nonce ff`, 1, "FAIL bind.nonce"],
    [`${verify} $given --ephemeral-key $another`, 1, "FAIL bind.key"],
    // The deployment does not say that it signs bytes, or a maximum age is set.
    ["verify --boot-proof $boot $given --expect $same --policy $silent", 1, "One check failed: policy.app-proof"],
    ["verify --boot-proof $boot $given --expect $same --policy $aged", 1, "One check failed: policy.app-proof"],
    ...["junit", "sarif", "markdown", "ear"].map(
      (format) => [`${verify} $given --expect $same --format ${format}`, 0, /.{100}/] as const,
    ),
  ]);

  usage(verify, [
    ["--signed-message $message", "--signed-message requires --signature"],
    ["--signature $signature", "--signature requires --signed-message"],
    ["--expect $same", "--expect requires --signed-message"],
    ["--public-key $whole", "--public-key requires --signed-message"],
    ["--signed-message $message --signature 0x12", "--signature: expected bytes"],
    ["$given --public-key key", "--public-key: expected bytes in hex, without 0x"],
    ["$given --expect $message", "--expect: the file of"],
    ["$given --boot-proof $boot", "give one --boot-proof"],
    ["$given --app-proof $apps", "--signed-message cannot be used with --app-proof"],
    ["$given --address 0x", "--signed-message cannot be used with --address"],
    ["$given --challenge T:/x=1", "--signed-message cannot be used with --challenge"],
    ["$given --organization-id o", "signed bytes name no organization"],
    ["$given --format vsa", "--signed-message cannot be used with --format vsa: these have no form for signed bytes"],
    ["--signed-message $empty --signature $signature", "empty"],
    ["$given --expect $empty", "empty"],
    ["$given --expect absent.bin", "absent.bin"],
  ]);
  usage("verify", [
    ["--boot-proof $boots --policy $policy $given", "--signed-message: one boot proof is required, not 2"],
    ["$boot --policy $policy $given", "a file without an option"],
  ]);

  it("have no page, which then says what is wrong", async () => {
    const says = "--signed-message cannot be used with --format html: these have no form for signed bytes";
    expect((await run(`${verify} $given --format html`, 2, says)).stdout).toContain("NOT VERIFIED");
  });
});
