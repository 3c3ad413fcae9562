/** What comes from the service, and what is in files: answers, deliveries, logs, pages; and files that are shown. */
import { createHash } from "node:crypto";
import { createClient, verifyWebhook, webhookHandler } from "../../src/client/index.js";
import { fromUtf8, toHex, toUtf8 } from "../../src/bytes.js";
import { parseJson, type JsonObject } from "../../src/decode/json.js";
import {
  MalformedError,
  NO_POLICY_ANY_ENCLAVE,
  parseTrustAnchor,
  renderJson,
  verifyEvidence,
} from "../../src/index.js";
import { decodeBundle } from "../../src/bundle/index.js";
import { diffUnverified, renderDiff } from "../../src/diff/index.js";
import { inspectUnverified, kindOf, renderInspection } from "../../src/inspect/index.js";
import { ed25519Point, generateKeyPair, signDer } from "../../src/lab/keys.js";
import { evidenceInPage, isPage } from "../../src/bundle/page.js";
import { pageWith } from "../../src/page/page.js";
import { plainOptions } from "../../src/plain-settings.js";
import { verifyRun } from "../../src/run/index.js";
import { lineAfter } from "../../src/run/line.js";
import { watchResultOf } from "../../src/run/watch.js";
import { imageOf, SECTIONS } from "../support/images.js";
import { genuineDocuments, readVector, vectorFiles } from "../support/vectors.js";
import { NOW, policy, policyJson, whole } from "./lab.js";
import { mustBePrintable } from "./layers-decode.js";
import { outcomeOf } from "./layers-verify.js";
import { type Layer, must } from "./loop.js";
import { mutate } from "./mutate.js";

const bytesOf = (value: unknown): Uint8Array => toUtf8(JSON.stringify(value));

/** Of an object as JSON; undefined where the input is none. */
function objectOf(input: Uint8Array): JsonObject | undefined {
  try {
    const json: unknown = JSON.parse(fromUtf8(input)!);
    return typeof json === "object" && json !== null ? (json as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

const CLIENT_ERRORS = /^(?:ClientError|ServiceError|RejectedActivityError)$/;
const questions = ["getBootProof", "getLatestBootProof", "listAppProofs", "updateWallet", "verified"] as const;
const submitted = { activity: { ...whole.activity, appProofs: undefined } };
const answer = (question: (typeof questions)[number], status: number, body: unknown, headers = {}): Uint8Array =>
  bytesOf({ question, status, headers, body: typeof body === "string" ? body : JSON.stringify(body) });

/** An answer of the service as `{"question", "status", "headers", "body"}`: whatever it is, the client says what. */
export const answers: Layer = {
  seeds: [
    answer("getBootProof", 200, { bootProof: whole.bootProof }),
    answer("getLatestBootProof", 200, { bootProof: whole.bootProof }),
    answer("listAppProofs", 200, { appProofs: whole.appProofs }),
    answer("updateWallet", 200, submitted),
    answer("verified", 200, { bootProof: whole.bootProof }),
    answer("getBootProof", 429, { code: 8, message: "slow down", details: [] }, { "retry-after": "1" }),
    answer("getBootProof", 503, "<html>", { "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT" }),
    answer("updateWallet", 400, { code: 3, message: "no", details: [{ turnkeyErrorCode: "ORGANIZATION_MISMATCH" }] }),
    answer("getBootProof", 302, "", { location: "https://elsewhere.test" }),
  ],
  run: async (input) => {
    const given = objectOf(input);
    if (given === undefined) return "refused";
    const client = clientThatGets(given);
    const question = questions.find((each) => each === given["question"]) ?? "getBootProof";
    try {
      const got = await asked(client, question);
      if (question === "verified") must(codeOf(given["status"]) === 200, "accepted: an answer of another status");
      must(typeof got === "object" && got !== null, "an answer that is nothing");
      return "accepted";
    } catch (error) {
      const { name, message } = error as Error;
      if (!CLIENT_ERRORS.test(name)) throw error;
      must(message.length < 20_000, "a message as long as its input");
      return "refused";
    }
  },
};

type Client = ReturnType<typeof createClient>;

async function asked(client: Client, question: (typeof questions)[number]): Promise<unknown> {
  const organizationId = whole.activity["organizationId"] as string;
  const ephemeralKey = whole.bootProof["ephemeralPublicKeyHex"] as string;
  switch (question) {
    case "getBootProof":
      return client.getBootProof({ ephemeralKey });
    case "getLatestBootProof":
      return client.getLatestBootProof({ appName: "signer" });
    case "listAppProofs":
      return client.listAppProofs({ activityId: "x" });
    case "updateWallet":
      return client.updateWallet({ walletId: "w" });
    case "verified":
      return client.withVerification(policy).verifyActivity(whole.activity, { organizationId });
  }
}

/** Of a body in pieces, whose lengths come from its bytes. */
function clientThatGets({ status, headers, body }: JsonObject): Client {
  const bytes = toUtf8(typeof body === "string" ? body : JSON.stringify(body ?? null));
  const good = Object.entries(typeof headers === "object" && headers !== null ? headers : {}).filter(
    ([name, value]) => /^[a-z-]{1,40}$/.test(name) && typeof value === "string" && /^[\x20-\x7e]*$/.test(value),
  ) as [string, string][];
  const code = codeOf(status);
  const bodiless = [204, 205, 304].includes(code);
  return createClient({
    baseUrl: "https://service.test",
    organizationId: whole.activity["organizationId"] as string,
    stamper: { stamp: async () => ({ header: "X-Stamp", value: "stamp" }) },
    fetch: (async () => new Response(bodiless ? null : piecesOf(bytes), { status: code, headers: good })) as never,
    now: () => NOW,
    sleep: (milliseconds) => (milliseconds > 20_000 ? new Promise<void>(() => {}) : Promise.resolve()),
    random: () => 0.5,
    maxRetries: 1,
  });
}

function codeOf(status: unknown): number {
  return typeof status === "number" && status >= 200 && status <= 599 ? Math.floor(status) : 200;
}

function piecesOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (at >= bytes.length) return controller.close();
      const end = at + 1 + 97 * (bytes[at]! & 63);
      controller.enqueue(bytes.slice(at, end));
      at = end;
    },
  });
}

const serviceKey = generateKeyPair("ed25519");
const jwks = {
  keys: [{ kty: "OKP", crv: "Ed25519", alg: "EdDSA", use: "sig", kid: "k", x: ed25519Point(serviceKey) }],
};
const HEADERS = {
  "Event-Id": "event",
  Timestamp: String(NOW.getTime()),
  "Signature-Key-Id": "k",
  "Signature-Algorithm": "ed25519",
  "Signature-Version": "v1",
};
/** `sign`: the signature is made over what the headers and the body say, however they were changed. */
const delivery = (sign: boolean, body: unknown, more = {}): Uint8Array =>
  bytesOf({ sign, headers: { ...HEADERS, Signature: "00".repeat(64), ...more }, body: JSON.stringify(body), jwks });

export const webhooks: Layer = {
  seeds: [
    delivery(true, whole.activity),
    delivery(true, { activity: whole.activity }),
    delivery(false, whole.activity),
    delivery(true, whole.activity, { Timestamp: String(NOW.getTime() - 299_000) }),
  ],
  run: async (input) => {
    const given = objectOf(input);
    if (given === undefined) return "refused";
    const body = toUtf8(typeof given["body"] === "string" ? given["body"] : "");
    const said = Object.entries(
      typeof given["headers"] === "object" && given["headers"] !== null ? given["headers"] : {},
    );
    const text = (name: string): string => String(said.find(([other]) => other === name)?.[1] ?? "");
    const start = `v1.ed25519.${text("Signature-Key-Id")}.${text("Timestamp")}.${text("Event-Id")}.`;
    const signature = toHex(signDer(serviceKey, null, Buffer.concat([toUtf8(start), body])));
    const headers = Object.fromEntries(
      said.map(([name, value]) => [
        `X-Webhook-${name}`,
        name === "Signature" && given["sign"] === true ? signature : value,
      ]),
    ) as Record<string, string>;
    await handled(headers, body, given["jwks"]);
    try {
      const store = { claim: () => true, release: () => {} };
      const { eventId, timestamp } = await verifyWebhook({
        rawBody: body,
        headers,
        jwks: given["jwks"],
        now: NOW,
        store,
      });
      must(given["sign"] === true, "accepted: a delivery that nobody signed");
      must(eventId === text("Event-Id") && String(timestamp.getTime()) === text("Timestamp"), "another id or time");
      must(Math.abs(timestamp.getTime() - NOW.getTime()) <= 300_000, "accepted: a delivery of another time");
      must(!/[.,]/.test(eventId), "accepted: an id that shifts what is signed");
      must(objectOf(body) !== undefined, "accepted: a body that is not an object");
      return "accepted";
    } catch (error) {
      if ((error as Error).name !== "WebhookError") throw error;
      return "refused";
    }
  },
};

/** Whatever comes is answered with a status: it is the service's fault, and no crash of the receiver. */
async function handled(headers: Record<string, string>, body: Uint8Array, keys: unknown): Promise<void> {
  let request: Request;
  try {
    request = new Request("https://receiver.test", { method: "POST", headers, body: body as BodyInit });
  } catch {
    return;
  }
  const handler = webhookHandler({
    verified: { verifyActivity: () => Promise.reject(new Error("asked for an activity")) } as never,
    organizationIds: ["nobody's"],
    jwks: typeof keys === "object" && keys !== null ? keys : {},
    onVerified: () => {},
    onRejected: () => {},
    now: () => NOW,
  });
  const { status } = await handler(request as never);
  must([400, 401, 403].includes(status), `a delivery that is answered with ${status}`);
}

const { report } = await verifyEvidence({ bootProofs: [whole.bootProof] }, { policy, now: NOW, bootProofsOnly: true });
const rejected = await verifyEvidence({ bootProofs: ["{}"] }, { policy, now: NOW, bootProofsOnly: true });

async function logOf(count: number): Promise<Uint8Array> {
  let end = { entries: 0, head: "0".repeat(64) };
  const lines: Uint8Array[] = [];
  for (let n = 0; n < count; n++) {
    const isGood = n % 2 === 0;
    const json = isGood ? { ephemeralPublicKeyHex: "00", n } : "{}";
    const digests = { policyDigest: null, settingDigest: "0".repeat(64) };
    const result = await watchResultOf({ app: "signer" }, json, isGood ? report : rejected.report, digests);
    const line = await lineAfter(end, NOW.toISOString(), result);
    lines.push(line.bytes, Uint8Array.of(10));
    end = { entries: n + 1, head: line.hash };
  }
  return Buffer.concat(lines);
}

const genuineLog = await logOf(4);
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The members of each line changed, and hashes and numbers made right again: only what is in a line can be wrong. */
function chainedAgain(log: Uint8Array): Uint8Array {
  let previous = "0".repeat(64);
  const lines = Buffer.from(log).toString("utf8").trimEnd().split("\n");
  const chained = lines.map((line, index) => {
    const json = objectOf(toUtf8(line)) as Record<string, unknown> | undefined;
    const [proof] = Array.isArray(json?.["bootProofs"]) ? (json["bootProofs"] as unknown[]) : [];
    const entry = sha256(typeof proof === "string" ? proof : (JSON.stringify(proof) ?? ""));
    const text = json === undefined ? line : JSON.stringify({ ...json, n: index + 1, previous, entry });
    previous = sha256(text);
    return text;
  });
  return toUtf8(`${chained.join("\n")}\n`);
}

/** Of what is accepted, every line follows the one before it, by Node's own hash. */
export const log: Layer = {
  seeds: [genuineLog, await logOf(1), new Uint8Array()],
  mutate: (input, random, others) => {
    const lines = Buffer.from(input).toString("utf8").split("\n");
    const at = random.below(lines.length);
    const isWhole = random.oneIn(3);
    const changed = isWhole
      ? mutate(input, random, others)
      : toUtf8(lines.map((line, index) => (index === at ? textAfter(line) : line)).join("\n"));
    return random.oneIn(2) ? chainedAgain(changed) : changed;
    function textAfter(line: string): string {
      return Buffer.from(mutate(toUtf8(line), random, others)).toString("utf8");
    }
  },
  run: async (input) => {
    const { intact, entries, head, fault } = await verifyRun([{ name: null, stream: piecesOf(input) }]);
    must(intact === (fault === null), "intact, with a fault");
    if (fault !== null) {
      must(fault.message.length < 20_000, "a message as long as its input");
      return "refused";
    }
    const lines = Buffer.from(input).toString("utf8").split("\n");
    must(lines.pop() === "" && lines.length === entries, "accepted: lines that are not counted");
    let previous = "0".repeat(64);
    for (const [index, line] of lines.entries()) {
      const json = JSON.parse(line) as { n: number; previous: string; verdict: string };
      must(json.n === index + 1 && json.previous === previous, "accepted: a line that does not follow");
      previous = sha256(line);
    }
    must(previous === head, "another head");
    return "accepted";
  },
};

const pieces = { bootProofs: [whole.bootProof], appProofs: whole.appProofs };
const OF_THE_LAB = {
  policy: NO_POLICY_ANY_ENCLAVE,
  now: NOW,
  trustAnchors: [parseTrustAnchor("lab", whole.anchorPem)],
} as const;
const judgedPieces = await verifyEvidence(pieces, OF_THE_LAB);
const pageContent = { evidence: pieces, options: plainOptions(OF_THE_LAB), report: judgedPieces.report };
const html = await pageWith("0;", pageContent);

/** Pages: the evidence in them, verified, and made a page again. */
export const pages: Layer = {
  seeds: [toUtf8(html), evidenceInPage(html)],
  run: async (input) => {
    try {
      const { evidence } = decodeBundle(isPage(input) ? evidenceInPage(input) : input);
      const anew = await verifyEvidence(evidence, OF_THE_LAB);
      const options = plainOptions(OF_THE_LAB);
      const page = await pageWith("0;", { evidence, options, report: anew.report });
      must((page.match(/<script/gi) ?? []).length === 2, "a page with a script of the evidence's");
      must(decodeBundle(evidenceInPage(page)).evidence.bootProofs.length > 0, "a page without its evidence");
      return outcomeOf(anew.report);
    } catch (error) {
      if (!(error instanceof MalformedError)) throw error;
      return "refused";
    }
  },
};

/** Anything, as a person looks at it: what it is, what it says, and in what two of them differ. */
export const shown: Layer = {
  seeds: [
    ...vectorFiles()
      .filter((file) => /^(?:boot-proofs|manifests|releases|trust-anchors)\//.test(file))
      .filter((_, index) => index % 3 === 0)
      .map(readVector),
    genuineDocuments()[0]!.bytes,
    bytesOf(policyJson),
    bytesOf(whole.activity),
    bytesOf(whole.appProofs),
    toUtf8(renderJson(report)),
    imageOf({ sections: SECTIONS }),
    toUtf8(whole.anchorPem),
  ],
  run: async (input) => {
    try {
      const seen = await inspectUnverified(input);
      const kind = kindOf(input);
      must((seen === null) === (kind === null), "a kind that is not shown");
      if (seen === null) return "refused";
      mustBePrintable(renderInspection(seen, { color: false }).replaceAll("\n", ""), "what is shown");
      parseJson(JSON.stringify(seen));
      await compared(input);
      return "accepted";
    } catch (error) {
      if (!(error instanceof MalformedError)) throw error;
      must(error.message.length < 20_000, "a message as long as its input");
      return "refused";
    }
  },
};

let before: Uint8Array = whole.document;

/** With itself, and with what was shown before. */
async function compared(input: Uint8Array): Promise<void> {
  const other = before;
  before = input;
  const difference = await tried(() => diffUnverified(input, input));
  must(difference === null || difference.same, "different from itself");
  const both = await tried(() => diffUnverified(other, input));
  if (both !== null) mustBePrintable(renderDiff(both, { color: false }).replaceAll("\n", ""), "a difference");
}

async function tried<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof MalformedError) return null;
    throw error;
  }
}
