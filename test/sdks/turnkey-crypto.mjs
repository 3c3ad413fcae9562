/**
 * Answers of `@turnkey/crypto` to the corpus: `verify` of an app proof and a boot proof where there is no policy, and
 * `verifyWithQosPolicy` where the policy pins no more than PCR0 to PCR3 and manifest hashes. Whatever its functions do
 * not take is not held against them.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { X509Certificate } from "node:crypto";
import { verify, verifyWithQosPolicy } from "@turnkey/crypto";

const AWS_ROOT_SHA256 = "641A0321A3E244EFE456463195D606317ED7CDCC3C1756E09893F3C68F79BB5B";
/** The pins that its policy has, too. */
const PINS = ["name", "pcrs", "manifestHash", "commitment", "comment"];

const unsupported = (reason) => ({ verdict: "unsupported", reason });

async function judge(folder) {
  const input = JSON.parse(readFileSync(join(folder, "input.json"), "utf8"));
  if (input.signers !== undefined) return unsupported("takes no signed policies");
  const read = (path) => readFileSync(join(folder, path));
  const reason = beyondIt(input, read);
  if (reason !== null) return unsupported(reason);

  const [given, appProof] = [input.bootProofs[0], input.appProofs[0]].map((path) => jsonOf(read(path)));
  if (given === undefined || appProof === undefined) return unsupported("takes parsed JSON");
  const bootProof = given.bootProof ?? given;
  if (bootProof.awsAttestationDocB64 === undefined && bootProof.cloudAttestationDocB64 !== undefined)
    return unsupported("reads the document as awsAttestationDocB64");
  const policy = input.policy === null ? null : policyOf(jsonOf(read(input.policy)));
  if (typeof policy === "string") return unsupported(policy);
  try {
    await (policy === null ? verify(appProof, bootProof) : verifyWithQosPolicy(appProof, bootProof, policy));
    return { verdict: policy === null ? "authentic" : "verified" };
  } catch (error) {
    return { verdict: "rejected", reason: String(error?.message ?? error) };
  }
}

/** Why its functions cannot be asked; null where they can. */
function beyondIt(input, read) {
  const asked = ["ephemeralKey", "nonce", "measurements", "question"].find((name) => input[name] !== null);
  if (input.document !== null) return "takes no document alone";
  if (input.activity !== null) return "takes no activity";
  if (input.bootProofs.length !== 1 || input.appProofs.length !== 1) return "takes one boot proof and one app proof";
  if (asked !== undefined) return `takes no ${asked}`;
  if (input.at !== "document") return "takes no time";
  if (input.allowDebug) return "takes no allowDebug";
  const root = new X509Certificate(read(input.trustAnchors[0])).fingerprint256.replaceAll(":", "");
  return root === AWS_ROOT_SHA256 ? null : "has the AWS root built in";
}

/** It takes parsed values: a text that is not what a JSON writer writes would tell of the parser, and not of it. */
function jsonOf(bytes) {
  const text = bytes.toString();
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject && [0, 2, 4].some((space) => JSON.stringify(value, null, space) === text) ? value : undefined;
}

/** Its own policy; or why it cannot say the same. */
function policyOf(policy) {
  const [deployment, ...others] = policy?.deployments ?? [];
  if (deployment === undefined || others.length > 0) return "its policy has one deployment";
  const more = Object.keys(policy).find((name) => ["maxAge", "appProofs", "allowDebug"].includes(name));
  const pin = Object.keys(deployment).find((name) => !PINS.includes(name));
  if (more !== undefined || pin !== undefined) return `its policy has no ${more ?? pin}`;
  const { pcrs, manifestHash } = deployment;
  if (manifestHash === undefined || [0, 1, 2, 3].some((index) => typeof pcrs?.[index] !== "string"))
    return "its policy has PCR0 to PCR3 and manifest hashes";
  if (deployment.commitment !== undefined && deployment.commitment !== "live")
    return "its policy has live commitments only";
  const bytes = (hex) => new Uint8Array(Buffer.from(hex, "hex"));
  return {
    allowedManifestSha256: [manifestHash].flat().map(bytes),
    expectedPcrs: Object.fromEntries([0, 1, 2, 3].map((index) => [index, bytes(pcrs[index])])),
  };
}

for await (const folder of createInterface({ input: process.stdin })) console.log(JSON.stringify(await judge(folder)));
