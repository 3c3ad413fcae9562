/** One case of the corpus, judged by this package: over what it exports, which the caller hands in. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The verdict on the case in the folder, and the ids of the checks that failed and warned, each once, in order. */
export async function judgeCase(bootproof, folder) {
  const input = JSON.parse(readFileSync(join(folder, "input.json"), "utf8"));
  const read = (path) => new Uint8Array(readFileSync(join(folder, path)));
  if (input.signers !== undefined) return judgeSigned(bootproof, input, read);
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

/** The version in force and what is remembered of it, or the code of the refusal. */
async function judgeSigned(bootproof, input, read) {
  const now = new Date(input.now);
  const before = input.state === null ? null : Buffer.from(read(input.state)).toString();
  let kept = before;
  try {
    const signed = await bootproof.openSignedPolicy({
      signers: read(input.signers),
      source: async () => read(input.feed ?? "no feed"),
      state: { read: async () => kept, write: async (text) => void (kept = text) },
      now: () => now,
      onNotice: () => {},
    });
    // Evidence that is refused, too: only the policy is asked for here.
    const { report } = await bootproof.verifyEvidence(
      { bootProofs: ["{}"], appProofs: [] },
      { policy: signed.policy, now },
    );
    const { version, sha256: digest, signedBy } = report.signedPolicy;
    return {
      verdict: "in-force",
      version,
      sha256: digest,
      current: report.checks.find(({ id }) => id === "policy.current").status,
      signedBy: [...signedBy].sort(),
      state: stateFacts(kept),
    };
  } catch (error) {
    if (!(error instanceof bootproof.SignedPolicyError)) throw error;
    if (kept !== before) throw new Error(`a refused feed changed the state (${error.message})`, { cause: error });
    return { verdict: "refused", code: error.code };
  }
}

function stateFacts(text) {
  if (text === null) return null;
  const { pinned, envelope, signers } = JSON.parse(text);
  const payload = Buffer.from(envelope.payload, "base64");
  const keyids = signers.keys.map((pem) => sha256(Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ""), "base64")));
  const { version } = JSON.parse(payload);
  return { pinned, version, sha256: sha256(payload), threshold: signers.threshold, keyids: keyids.sort() };
}

function sha256(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
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
