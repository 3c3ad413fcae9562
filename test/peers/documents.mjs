/**
 * Answers to the corpus of verifiers of bare attestation documents: `node documents.mjs evervault` or `tee-verifier`.
 * They get the cases of documents and certificate paths. Manifest, envelope, key and app proofs of a boot proof are not
 * theirs to judge, so those cases are unsupported.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { X509Certificate } from "node:crypto";
import { pathToFileURL } from "node:url";
import { decodeAttestationDocument } from "../../dist/src/decode/index.js";
import { verifiers } from "./verifiers.mjs";

const unsupported = (reason) => ({ verdict: "unsupported", reason });

async function judge(verify, folder) {
  const input = JSON.parse(readFileSync(join(folder, "input.json"), "utf8"));
  if (input.signers !== undefined || input.document === null) return unsupported("takes bare documents");
  const demanded = ["policy", "nonce", "measurements", "question", "ephemeralKey"].find((name) => input[name] !== null);
  if (demanded !== undefined) return unsupported(`takes no ${demanded}`);
  if (input.allowDebug) return unsupported("takes no allowDebug");
  const base64 = readFileSync(join(folder, input.document), "utf8");
  const root = new X509Certificate(readFileSync(join(folder, input.trustAnchors[0]))).fingerprint256.replaceAll(
    ":",
    "",
  );
  try {
    return { verdict: (await verify(base64, timeOf(input, base64), root.toLowerCase())) ? "authentic" : "rejected" };
  } catch (error) {
    if (error?.unsupported !== undefined) return unsupported(error.unsupported);
    return { verdict: "rejected", reason: String(error?.message ?? error) };
  }
}

/** The validation time, as far as the document says it. */
function timeOf({ at, now }, base64) {
  if (at !== "document") return new Date(at === "now" ? now : at);
  try {
    return new Date(decodeAttestationDocument(new Uint8Array(Buffer.from(base64, "base64"))).timestamp);
  } catch {
    return new Date(now);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const verify = await verifiers[process.argv[2]]();
  for await (const folder of createInterface({ input: process.stdin }))
    console.log(JSON.stringify(await judge(verify, folder)));
}
