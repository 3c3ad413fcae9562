/** What the engine runs: a line of JSON for each pair and case of `asked.js`. It has `print`, and no console. */
import * as bootproof from "bootproof";
import { ASKED } from "./asked.js";
import { verifiedAddress } from "./phone.js";

const cache = new bootproof.SignatureCache();

async function judgedPair({ bootProof, appProof, now }) {
  const started = Date.now();
  const options = { policy: bootproof.NO_POLICY_ANY_ENCLAVE, now: new Date(now) };
  const { report } = await bootproof.verifyEvidence({ bootProofs: [bootProof], appProofs: [appProof] }, options);
  const failed = report.checks.filter(({ status }) => status === "fail").map(({ id }) => id);
  const text = bootproof.renderText(report).split("\n")[0];
  return { verdict: report.verdict, failed, text, ms: Date.now() - started };
}

async function judgedCase({ input, pieces }) {
  const read = (path) => ("base64" in pieces[path] ? bytesOf(pieces[path].base64) : pieces[path].text);
  const policy = policyOf(input, read);
  if (policy === null) return { verdict: "malformed", failed: [], warned: [] };
  const options = { ...optionsOf(input), ...policy, cache };
  const evidence = { bootProofs: input.bootProofs.map(read), appProofs: input.appProofs.map(read) };
  if (input.activity !== null) evidence.activity = read(input.activity);
  const { report } =
    input.document === null
      ? await bootproof.verifyEvidence(evidence, options)
      : await bootproof.verifyAttestation(bytesOf(read(input.document)), options);
  const ids = (status) => [...new Set(report.checks.filter((check) => check.status === status).map(({ id }) => id))];
  return { verdict: report.verdict, failed: ids("fail"), warned: ids("warn") };
}

function policyOf({ policy, trustAnchors }, read) {
  if (policy === null) {
    const anchors = trustAnchors.map((path) => bootproof.parseTrustAnchor(path, read(path)));
    return { policy: bootproof.NO_POLICY_ANY_ENCLAVE, trustAnchors: anchors };
  }
  try {
    return { policy: bootproof.parsePolicy(read(policy)) };
  } catch (error) {
    if (error instanceof bootproof.MalformedError) return null;
    throw error;
  }
}

function optionsOf({ now, at, ephemeralKey, nonce, measurements, question, allowDebug }) {
  const options = { now: new Date(now), at: at === "document" || at === "now" ? at : new Date(at), allowDebug };
  if (ephemeralKey !== null) options.ephemeralKey = hexBytes(ephemeralKey);
  if (nonce !== null) options.nonce = hexBytes(nonce);
  if (measurements !== null)
    options.measurements = Object.fromEntries(
      Object.entries(measurements).map(([index, hex]) => [index, hexBytes(hex)]),
    );
  if (question !== null) options.expected = expectedOf(question);
  return options;
}

function expectedOf(question) {
  const asked = Object.fromEntries(Object.entries(question).filter(([, value]) => value !== null));
  return asked.requestedAt === undefined ? asked : { ...asked, requestedAt: new Date(asked.requestedAt) };
}

function hexBytes(hex) {
  return Uint8Array.from({ length: hex.length / 2 }, (_, index) => parseInt(hex.slice(2 * index, 2 * index + 2), 16));
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** The engine has no `atob`. */
function bytesOf(base64) {
  const digits = base64.replace(/[=\s]/g, "");
  const bytes = [];
  let [word, bits] = [0, 0];
  for (const digit of digits) {
    word = ((word << 6) | ALPHABET.indexOf(digit)) & 0xfff;
    bits += 6;
    if (bits >= 8) bytes.push((word >> (bits -= 8)) & 0xff);
  }
  return Uint8Array.from(bytes);
}

async function run() {
  for (const pair of ASKED.pairs) print(JSON.stringify(await judgedPair(pair)));
  print(JSON.stringify(await verifiedAddress(ASKED.phone).then((address) => ({ address }))));
  for (const one of ASKED.cases) print(JSON.stringify(await judgedCase(one)));
}

run().catch((error) => print(`FAILED ${error.name}: ${error.message}\n${error.stack}`));
