/** One case of the corpus, judged by this package: over what it exports, which the caller hands in. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The verdict on the case in the folder, and the ids of the checks that failed and warned, each once, in order. */
export async function judgeCase(bootproof, folder) {
  const input = JSON.parse(readFileSync(join(folder, "input.json"), "utf8"));
  const read = (path) => new Uint8Array(readFileSync(join(folder, path)));
  const policy = policyOf(bootproof, input, read);
  if (policy.malformed) return { verdict: "malformed", failed: [], warned: [] };

  const options = { ...optionsOf(input), ...policy };
  const { report } =
    input.document === null
      ? await bootproof.verifyEvidence(evidenceOf(input, read), options)
      : await bootproof.verifyAttestation(fromBase64(read(input.document)), options);
  const ids = (status) => [...new Set(report.checks.filter((check) => check.status === status).map(({ id }) => id))];
  return { verdict: report.verdict, failed: ids("fail"), warned: ids("warn") };
}

/** The policy, which names its trust anchors itself; or that there is none, and the anchors. */
function policyOf(bootproof, { policy, trustAnchors }, read) {
  if (policy === null) {
    const anchors = trustAnchors.map((path) => bootproof.parseTrustAnchor(path, Buffer.from(read(path)).toString()));
    return { policy: bootproof.NO_POLICY_ANY_ENCLAVE, trustAnchors: anchors };
  }
  try {
    return { policy: bootproof.parsePolicy(read(policy)) };
  } catch (error) {
    if (error instanceof bootproof.MalformedError) return { malformed: true };
    throw error;
  }
}

function evidenceOf({ bootProofs, appProofs, activity }, read) {
  return {
    bootProofs: bootProofs.map(read),
    appProofs: appProofs.map(read),
    ...(activity !== null && { activity: read(activity) }),
  };
}

function optionsOf({ now, at, ephemeralKey, nonce, measurements, question, allowDebug }) {
  return {
    now: new Date(now),
    at: at === "document" || at === "now" ? at : new Date(at),
    allowDebug,
    ...(ephemeralKey !== null && { ephemeralKey: fromHex(ephemeralKey) }),
    ...(nonce !== null && { nonce: fromHex(nonce) }),
    ...(measurements !== null && { measurements: mapValues(measurements, fromHex) }),
    ...(question !== null && { expected: expectedOf(question) }),
  };
}

/** What was not asked is null in the file, and left out here. */
function expectedOf(question) {
  const asked = Object.fromEntries(Object.entries(question).filter(([, value]) => value !== null));
  return asked.requestedAt === undefined ? asked : { ...asked, requestedAt: new Date(asked.requestedAt) };
}

function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}

function fromHex(text) {
  return new Uint8Array(Buffer.from(text, "hex"));
}

function fromBase64(bytes) {
  return new Uint8Array(Buffer.from(Buffer.from(bytes).toString(), "base64"));
}
