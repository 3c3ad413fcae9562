/**
 * A second verifier of signed policies, written from test-vectors/conformance/README.md and the specification in
 * src/signed-policy/README.md alone, with nothing but Node: `node test/conformance/run.mjs -- node
 * test/conformance/opinion.mjs`. Of a policy it reads no more than these cases need: the format of policies has a
 * category of its own.
 */
import { createHash, createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const TYPE = "application/vnd.bootproof.signed-policy+json";
const MINUTES = 60_000;
const DAYS = 86_400_000;

class Refused extends Error {
  constructor(code) {
    super(code);
    this.code = code;
  }
}
const must = (holds, code = "malformed") => {
  if (!holds) throw new Refused(code);
};
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");
const isObject = (value) => value instanceof Map;

/** Strict JSON: objects become maps, numbers stay as they are written. */
function parse(bytes) {
  const text = Buffer.isBuffer(bytes) ? utf8(bytes) : bytes;
  let at = 0;
  const space = () => {
    while (" \t\r\n".includes(text[at] ?? "x")) at++;
  };
  const take = (pattern) => {
    pattern.lastIndex = at;
    const [found] = pattern.exec(text) ?? [];
    must(found !== undefined);
    at += found.length;
    return found;
  };
  const string = () => JSON.parse(take(/"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y));
  const items = (end, read) => {
    take(/[[{]/y);
    space();
    if (text[at] === end) return void at++;
    for (;;) {
      read();
      space();
      if (take(/[,\]}]/y) !== ",") break;
      space();
      must(text[at] !== end);
    }
    must(text[at - 1] === end);
  };
  const object = () => {
    const members = new Map();
    items("}", () => {
      space();
      const name = string();
      must(!members.has(name));
      space();
      take(/:/y);
      members.set(name, value());
    });
    return members;
  };
  const array = () => {
    const list = [];
    items("]", () => list.push(value()));
    return list;
  };
  const value = () => {
    space();
    if (text[at] === "{") return object();
    if (text[at] === "[") return array();
    if (text[at] === '"') return string();
    const written = take(/true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y);
    return { true: true, false: false, null: null }[written] ?? (written === "null" ? null : { number: written });
  };
  const whole = value();
  space();
  must(at === text.length);
  return whole;
}

function utf8(bytes) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    must(!text.startsWith("\ufeff"));
    return text;
  } catch {
    throw new Refused("malformed");
  }
}

function members(value, required, optional = []) {
  must(isObject(value));
  must(required.every((name) => value.has(name)));
  must([...value.keys()].every((name) => required.includes(name) || optional.includes(name)));
  return Object.fromEntries(value);
}

function integer(value, least, most = Number.MAX_SAFE_INTEGER) {
  must(value !== null && typeof value === "object" && /^(?:0|[1-9][0-9]*)$/.test(value.number ?? ""));
  const number = Number(value.number);
  must(Number.isSafeInteger(number) && number >= least && number <= most);
  return number;
}

function textOf(value, pattern) {
  must(typeof value === "string" && pattern.test(value));
  return value;
}

const hashOf = (value) => textOf(value, /^[0-9a-fA-F]{64}$/).toLowerCase();
const nameOf = (value) => textOf(value, /^[\x20-\x7e]{1,100}$/);

function base64(value) {
  textOf(value, /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/);
  const bytes = Buffer.from(value, "base64");
  must(bytes.toString("base64") === value);
  return bytes;
}

function timeOf(value) {
  const pattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z$/;
  const [, seconds, fraction = ""] = pattern.exec(textOf(value, pattern));
  const time = new Date(`${seconds}Z`);
  must(!Number.isNaN(time.getTime()) && time.toISOString().startsWith(seconds));
  return time.getTime() + Math.floor(1000 * Number(`0${fraction}`));
}

const mod = (a, m) => ((a % m) + m) % m;
function power(base, exponent, m) {
  let [result, square] = [1n, mod(base, m)];
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % m;
    square = (square * square) % m;
  }
  return result;
}
const numberOf = (bytes) => BigInt(`0x${Buffer.from(bytes).toString("hex")}`);

/** SEC 2, sections 2.4.2 and 2.5.1. */
const CURVES = [
  {
    prefix: "3059301306072a8648ce3d020106082a8648ce3d03010703420004",
    size: 32,
    hash: "sha256",
    p: 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n,
    b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
    n: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  },
  {
    prefix: "3076301006072a8648ce3d020106052b8104002203620004",
    size: 48,
    hash: "sha384",
    p: 2n ** 384n - 2n ** 128n - 2n ** 96n + 2n ** 32n - 1n,
    b: 0xb3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aefn,
    n: 0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
  },
];
const ED25519 = "302a300506032b6570032100";
const P = 2n ** 255n - 19n;
const D = mod(-121665n * power(121666n, P - 2n, P), P);
const L = 2n ** 252n + 27742317777372353535851937790883648493n;

function isGoodEd25519(key) {
  const written = numberOf(Buffer.from(key).reverse());
  const [sign, y] = [written >> 255n, written & (2n ** 255n - 1n)];
  if (y >= P) return false;
  const [u, v] = [mod(y * y - 1n, P), mod(D * y * y + 1n, P)];
  const square = mod(u * power(v, P - 2n, P), P);
  let x = power(square, (P + 3n) / 8n, P);
  if (mod(x * x - square, P) !== 0n) x = mod(x * power(2n, (P - 1n) / 4n, P), P);
  if (mod(x * x - square, P) !== 0n) return false;
  if (x === 0n && sign === 1n) return false;
  // Small order: three doublings lead to (0, 1).
  let point = [x, y];
  for (let doubling = 0; doubling < 3; doubling++) point = doubled(point);
  return !(point[0] === 0n && point[1] === 1n);
}

function doubled([x, y]) {
  const product = mod(D * x * x * y * y, P);
  const over = (top, bottom) => mod(top * power(bottom, P - 2n, P), P);
  return [over(2n * x * y, 1n + product), over(y * y + x * x, 1n - product)];
}

function keyOf(pem) {
  const [, body] = /^\s*-----BEGIN PUBLIC KEY-----([^-]*)-----END PUBLIC KEY-----\s*$/.exec(pem) ?? [];
  must(body !== undefined);
  const spki = base64(body.replace(/\s/g, ""));
  const hex = spki.toString("hex");
  const key = () => createPublicKey({ key: spki, format: "der", type: "spki" });
  if (hex.startsWith(ED25519)) {
    must(spki.length === 44 && isGoodEd25519(spki.subarray(12)));
    const isWhole = (sig) => sig.length === 64 && numberOf(Buffer.from(sig.subarray(32)).reverse()) < L;
    return { id: sha256(spki), verifies: (message, sig) => isWhole(sig) && verify(null, message, key(), sig) };
  }
  const curve = CURVES.find(
    ({ prefix, size }) => hex.startsWith(prefix) && spki.length === prefix.length / 2 + 2 * size,
  );
  must(curve !== undefined);
  const { size, p, b, hash } = curve;
  const [x, y] = [numberOf(spki.subarray(-2 * size, -size)), numberOf(spki.subarray(-size))];
  must(x < p && y < p && mod(y * y - x * x * x + 3n * x - b, p) === 0n);
  return { id: sha256(spki), verifies: (message, sig) => isDer(sig, curve) && verify(hash, message, key(), sig) };
}

/** SEQUENCE of two INTEGERs from 1 to n - 1, in the only form that DER has for them. */
function isDer(sig, { n }) {
  if (sig.length < 8 || sig[0] !== 0x30 || sig[1] !== sig.length - 2 || sig[1] > 127) return false;
  let at = 2;
  for (let count = 0; count < 2; count++) {
    const length = sig[at + 1];
    if (sig[at] !== 2 || length === 0 || at + 2 + length > sig.length) return false;
    const bytes = sig.subarray(at + 2, at + 2 + length);
    if (bytes[0] > 127 || (bytes[0] === 0 && length > 1 && bytes[1] < 128)) return false;
    if (numberOf(bytes) === 0n || numberOf(bytes) >= n) return false;
    at += 2 + length;
  }
  return at === sig.length;
}

function setOf(value, required = [], optional = []) {
  const { threshold, keys: pems, ...more } = members(value, ["threshold", "keys", ...required], optional);
  must(Array.isArray(pems) && pems.length >= 1 && pems.length <= 32);
  must(pems.every((pem) => typeof pem === "string"));
  const keys = pems.map(keyOf);
  must(new Set(keys.map(({ id }) => id)).size === keys.length);
  const ids = keys.map(({ id }) => id).sort();
  return { threshold: integer(threshold, 1, keys.length), keys, ids, ...more };
}

function versionOf(line) {
  const value = typeof line === "string" ? parse(line) : line;
  must(isObject(value) && value.get("payloadType") === TYPE);
  const [payload, listed] = [base64(value.get("payload")), value.get("signatures")];
  must(Array.isArray(listed) && listed.length >= 1 && listed.length <= 32);
  const signatures = listed.map((each) => {
    must(isObject(each) && (!each.has("keyid") || typeof each.get("keyid") === "string"));
    return { id: each.get("keyid") || null, sig: base64(each.get("sig")) };
  });
  must(payload.length <= 1024 * 1024);
  const names = ["signedPolicy", "name", "version", "previous", "issuedAt", "expiresAt", "signers", "policy"];
  const read = members(parse(payload), names);
  must(read.signedPolicy === "bootproof-signed-policy/1" && isObject(read.policy));
  const version = integer(read.version, 1);
  const previous = read.previous === null ? null : hashOf(read.previous);
  must((version === 1) === (previous === null));
  const [issued, expires] = [timeOf(read.issuedAt), timeOf(read.expiresAt)];
  must(expires > issued && expires - issued <= 400 * DAYS);
  const pae = Buffer.concat([Buffer.from(`DSSEv1 44 ${TYPE} ${payload.length} `), payload]);
  const digest = sha256(payload);
  const { policy } = read;
  return {
    name: nameOf(read.name),
    version,
    previous,
    issued,
    expires,
    set: setOf(read.signers),
    policy,
    pae,
    digest,
    signatures,
  };
}

function signersOf({ pae, signatures }, sets) {
  const known = sets.flatMap(({ keys }) => keys);
  const ids = signatures.flatMap(({ id, sig }) =>
    known.filter((key) => (id === null || id === key.id) && key.verifies(pae, sig)).map((key) => key.id),
  );
  return [...new Set(ids)].sort();
}

const enough = (ids, set) => must(ids.filter((id) => set.ids.includes(id)).length >= set.threshold, "signatures");
const sameSet = (a, b) => a.threshold === b.threshold && a.ids.join() === b.ids.join();

function feedOf(bytes) {
  must(bytes.length <= 8 * 1024 * 1024);
  const lines = utf8(bytes).replace(/\n$/, "").split("\n").map(versionOf);
  lines.forEach(({ version }, index) => must(index === 0 || version === lines[index - 1].version + 1, "version"));
  return lines;
}

function stateOf(bytes) {
  try {
    const { state, pinned, envelope, signers } = members(parse(bytes), ["state", "pinned", "envelope", "signers"]);
    must(state === "bootproof-signed-policy-state/1");
    const [newest, set] = [versionOf(envelope), setOf(signers)];
    must(sameSet(set, newest.set));
    const by = signersOf(newest, [set]);
    enough(by, set);
    return { pinned: hashOf(pinned), newest: { ...newest, by } };
  } catch (error) {
    throw error instanceof Refused ? new Refused("state") : error;
  }
}

function pinnedOf(bytes) {
  const pinned = setOf(parse(bytes), ["name"], ["minVersion", "since"]);
  nameOf(pinned.name);
  const { minVersion, since } = pinned;
  const read = {
    ...pinned,
    digest: sha256(JSON.stringify({ keyids: pinned.ids, name: pinned.name, threshold: pinned.threshold })),
  };
  if (minVersion !== undefined) read.minVersion = integer(minVersion, 1);
  if (since === undefined) return read;
  const { version, sha256: digest } = members(since, ["version", "sha256"]);
  return { ...read, since: { version: integer(version, 1), digest: hashOf(digest) } };
}

/** What these cases ask of a policy: a policy with deployments, which names no files. */
function readPolicy(policy) {
  const known = ["$schema", "comment", "name", "trustAnchors", "maxAge", "appProofs", "allowDebug"];
  const { deployments, trustAnchors = [] } = members(policy, ["policy", "deployments"], known);
  must(Array.isArray(deployments) && deployments.length > 0);
  must(trustAnchors.every((anchor) => !isObject(anchor) || !anchor.has("file")));
}

/** Rule 1 to 4: the version in force, and whether it is remembered. */
function walk(feed, pinned, state, now) {
  const own = state?.pinned === pinned.digest ? state.newest : null;
  const least = pinned.minVersion ?? state?.newest.version ?? 1;
  const lines = feedOf(feed);
  const [first, last] = [lines[0].version, lines.at(-1).version];
  if (pinned.since !== undefined) {
    const found = lines.find(({ version }) => version === pinned.since.version);
    must(found !== undefined, "version");
    must(found.digest === pinned.since.digest, "fork");
  }
  if (own !== null) {
    must(last >= own.version && first <= own.version + 1, "version");
    must(
      lines.every(({ version, digest }) => version !== own.version || digest === own.digest),
      "fork",
    );
  }
  let [newest, before] = [own, own];
  for (const line of lines) {
    if (own === null ? line.version < least : line.version <= own.version) {
      before = line;
      continue;
    }
    const isEarly = line.issued > now + 5 * MINUTES;
    if (isEarly && newest !== null) break;
    must(line.name === pinned.name, "name");
    must(before === null || line.previous === before.digest, "previous");
    must(newest === null || line.issued >= newest.issued, "version");
    const inForce = newest?.set ?? pinned;
    const by = signersOf(line, [inForce, line.set]);
    enough(by, inForce);
    if (!sameSet(inForce, line.set)) enough(by, line.set);
    newest = before = { ...line, by };
    if (isEarly) return { newest, isEarly };
  }
  must(newest !== null && newest.version >= least, "version");
  return { newest, isEarly: false };
}

function currentOf({ issued, expires }, now) {
  if (now < issued - 5 * MINUTES || now >= expires) return "fail";
  return expires - now <= Math.min((expires - issued) / 10, 14 * DAYS) ? "warn" : "pass";
}

const factsOf = ({ version, digest, set }, pinned) => {
  return { pinned, version, sha256: digest, threshold: set.threshold, keyids: set.ids };
};

function judge(input, read) {
  const pinned = pinnedOf(read(input.signers));
  const state = input.state === null ? null : stateOf(read(input.state));
  must(state === null || state.newest.name === pinned.name, "state");
  const now = Date.parse(input.now);
  let [newest, isEarly] = [state?.newest, true];
  if (input.feed === null) must(state?.pinned === pinned.digest && newest.version >= (pinned.minVersion ?? 1), "fetch");
  else ({ newest, isEarly } = walk(read(input.feed), pinned, state, now));
  readPolicy(newest.policy);
  const kept = state && factsOf(state.newest, state.pinned);
  return {
    verdict: "in-force",
    version: newest.version,
    sha256: newest.digest,
    current: currentOf(newest, now),
    signedBy: newest.by,
    state: isEarly ? kept : factsOf(newest, pinned.digest),
  };
}

export function judgeFolder(folder) {
  const input = JSON.parse(readFileSync(join(folder, "input.json"), "utf8"));
  if (input.signers === undefined) return { verdict: "unsupported", reason: "only signed policies" };
  try {
    return judge(input, (path) => readFileSync(join(folder, path)));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { verdict: "refused", code: error.code };
  }
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url))
  for await (const folder of createInterface({ input: process.stdin }))
    console.log(JSON.stringify(judgeFolder(folder)));
