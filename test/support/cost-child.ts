/**
 * Sends hostile inputs through public functions, one after the other, in a process beside the tests. It reports for
 * each the time, and how much the process has grown since its start: never less than the input needed.
 */
import { readFileSync } from "node:fs";
import { toHex } from "../../src/bytes.js";
import { inspectUnverified, renderInspection } from "../../src/inspect/index.js";
import { renderJson, renderText } from "../../src/index.js";
import * as addresses from "../../src/addresses/index.js";
import * as bundles from "../../src/bundle/index.js";
import * as decode from "../../src/decode/index.js";
import * as library from "../../src/index.js";
import {
  apiKeyStamper,
  createClient,
  generateApiKey,
  openCredentialBundle,
  verifyWebhook,
  webhookHandler,
} from "../../src/client/index.js";
import { joinInTurns } from "../../src/addresses/join.js";
import { Auditor, auditSetting } from "../../src/run/index.js";
import { sigstoreVerifier } from "../../src/provenance/index.js";
import { runAny as run } from "../../src/cli/commands.js";
import { ed25519Point, generateKeyPair, signDer } from "../../src/lab/keys.js";
import { costMs } from "./cost.js";

const NOW = new Date("2026-03-04T06:00:00.000Z");
const anyEnclave = { policy: library.NO_POLICY_ANY_ENCLAVE, now: NOW } as const;
const POLICY = {
  policy: "bootproof/1",
  deployments: [
    {
      pcrs: Object.fromEntries(["0", "1", "2", "3"].map((index) => [index, "11".repeat(48)])),
      pivotHash: "ab".repeat(32),
      namespace: "x",
      minNonce: 1,
      quorumKey: "04".repeat(130),
      manifestSet: { threshold: 1, members: ["04".repeat(130)] },
    },
  ],
};

/** Each takes the bytes of the input, or the address of a server that returns them for every request. */
export const DOORS = {
  bootProof: (input) => report(library.verifyEvidence({ bootProofs: [text(input)] }, anyEnclave)),
  activity: (input) => report(library.verifyEvidence({ bootProofs: [], activity: text(input) }, anyEnclave)),
  signed: (input) => signed(JSON.parse(text(input)) as SignedInput),
  swept: (input) =>
    refused(() => {
      const { evidence, ...given } = JSON.parse(text(input)) as SweptInput;
      return report(library.verifyEvidence(evidence as library.Evidence, sweptOptions(given)));
    }),
  sweptBundle: (input) =>
    refused(() => {
      const { evidence, ...given } = JSON.parse(text(input)) as SweptInput;
      return report(bundles.verifyBundle(bundles.decodeBundle(evidence), sweptOptions(given)));
    }),
  sweptEntry: async (input) => {
    const { evidence, ...given } = JSON.parse(text(input)) as SweptInput;
    const { policy, now, provenanceVerifier: verifier } = sweptOptions(given);
    const auditor = await Auditor.of(auditSetting({ policy, now }), verifier);
    JSON.stringify(await auditor.judge(Buffer.from(evidence as string)));
  },
  appProof: (input) => report(library.verifyEvidence({ bootProofs: [], appProofs: [text(input)] }, anyEnclave)),
  attestation: (input) => report(library.verifyAttestation(input, anyEnclave)),
  policy: async (input) => refused(() => library.parsePolicy(input)),
  trustAnchor: async (input) => refused(() => library.parseTrustAnchor("x", text(input))),
  manifest: async (input) => refused(() => decode.decodeManifest(input)),
  certificate: async (input) => refused(() => decode.decodeCertificate(input)),
  payload: async (input) => refused(() => decode.decodeAppProofPayload(text(input))),
  inspect: (input) =>
    refused(async () => {
      const seen = await inspectUnverified(input);
      if (seen !== null) renderInspection(seen, { color: false });
    }),
  credentialBundle: async (input) => {
    const pair = await crypto.subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, false, ["deriveBits"]);
    await openCredentialBundle(text(input), pair).catch(() => {});
  },
  bundle: async (input) =>
    refused(async () => {
      const bundle = bundles.decodeBundle(input);
      await bundles.verifyBundle(
        bundle,
        bundle.judgement?.policy
          ? { ...anyEnclave, policy: bundles.POLICY_OF_THE_BUNDLE, trustAnchors: [], allowDebug: true }
          : anyEnclave,
      );
    }),
  release: (input) => command(["pin", "--release", "-", "--app", "signer"], input),
  policyOfCommand: (input) => command(["verify", "--boot-proof", "/nonexistent", "--policy", "-"], input),
  bundleOfCommand: (input) => command(["verify", "-", "--no-policy"], input),
  webhook: async (input) => {
    const pair = generateKeyPair("ed25519");
    const jwks = { keys: [{ kty: "OKP", crv: "Ed25519", x: ed25519Point(pair), kid: "k" }] };
    const signed = Buffer.concat([Buffer.from(`v1.ed25519.k.${NOW.getTime()}.e.`), input]);
    const headers = webhookHeaders(toHex(signDer(pair, null, signed)));
    await refused(() => verifyWebhook({ rawBody: input, headers, jwks, now: NOW }));
  },
  webhookInSingleBytes: async (input) => {
    let at = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => (at < input.length ? controller.enqueue(input.slice(at, ++at)) : controller.close()),
    });
    const handler = webhookHandler({
      verified: { verifyActivity: () => {} } as never,
      organizationIds: ["x"],
      jwks: { keys: [] },
      onVerified: () => {},
      onRejected: () => {},
      now: () => NOW,
    });
    await handler(
      new Request("https://receiver.test", {
        method: "POST",
        headers: webhookHeaders("00".repeat(64)),
        body,
        duplex: "half",
      } as RequestInit),
    );
  },
  addressJoin: (input) => readyToJoin(JSON.parse(text(input)) as JoinInput),
  getBootProof: (_, url) => asked(url, (client) => client.getBootProof({ ephemeralKey: "04".repeat(130) })),
  getLatestBootProof: (_, url) => asked(url, (client) => client.getLatestBootProof({ appName: "signer" })),
  getOauthProviders: (_, url) => asked(url, (client) => client.getOauthProviders({})),
  listAppProofs: (_, url) => asked(url, (client) => client.listAppProofs({ activityId: "x" })),
  undocumentedQuery: (_, url) => asked(url, (client) => client.query("list_activities", {})),
  updateWallet: (_, url) => asked(url, (client) => client.updateWallet({ walletId: "w" })),
  verifiedUpdateWallet: (_, url) =>
    asked(url, (client) => client.withVerification(library.parsePolicy(POLICY)).updateWallet({ walletId: "w" })),
} as const satisfies Record<string, (input: Uint8Array, url: string) => Promise<unknown>>;

export type Door = keyof typeof DOORS;

function text(input: Uint8Array): string {
  return Buffer.from(input).toString("utf8");
}

/** Evidence of an activity that signs, and what the caller submitted. */
export interface SignedInput {
  readonly bootProof: unknown;
  readonly activity: unknown;
  readonly expected: library.Expected;
  readonly anchorPem: string;
}

/** Evidence, or the text of a bundle or an entry, and the policy of its lab. */
export interface SweptInput {
  readonly evidence: object | string;
  readonly policy: object;
  readonly now: string;
}

/** Lists and activities as the service answers, and a policy. */
export interface JoinInput {
  readonly policy: object;
  readonly organizationId: string;
  readonly wallets: readonly object[];
  readonly accounts: readonly object[];
  readonly privateKeys: readonly object[];
  readonly activities: readonly object[];
}

/** Returns the join alone, without reading and verification. */
async function readyToJoin({ policy: file, organizationId, activities, ...lists }: JoinInput): Promise<Work> {
  const options = { policy: library.parsePolicy(JSON.stringify(file)), now: NOW, organizationId };
  const evidence = await Promise.all(activities.map((each) => addresses.verifyAddressActivity(each, [], options)));
  const read = {
    wallets: addresses.readWallets(lists),
    accounts: addresses.readAccounts(lists, organizationId),
    privateKeys: addresses.readPrivateKeys(lists),
    listedAt: null,
  };
  return () =>
    joinInTurns(
      read,
      evidence.filter((each) => each !== null),
      { organizationId },
    );
}

const provenanceVerifier = await sigstoreVerifier();

function sweptOptions({ policy, now }: Omit<SweptInput, "evidence">) {
  return { policy: library.parsePolicy(JSON.stringify(policy)), now: new Date(now), provenanceVerifier };
}

/** If the check were skipped, nothing of the signatures would be measured. */
async function signed({ bootProof, activity, expected, anchorPem }: SignedInput): Promise<void> {
  const trustAnchors = [library.parseTrustAnchor("lab", anchorPem)];
  const options = { ...anyEnclave, trustAnchors, expected };
  const { report: made } = await library.verifyEvidence({ bootProofs: [bootProof], activity }, options);
  const status = made.checks.find(({ id }) => id === "activity.signature")?.status ?? "missing";
  if (status === "skip" || status === "missing") throw new Error(`activity.signature: ${status}`);
  renderText(made, { color: false });
  renderJson(made);
}

async function report(verification: Promise<{ readonly report: library.Report }>): Promise<void> {
  const { report: made } = await verification;
  renderText(made, { color: false });
  renderJson(made);
}

const REFUSALS: readonly unknown[] = ["MalformedError", "WebhookError", "RangeError"];

/** A documented refusal of the input is expected; any other error is our fault. */
async function refused(work: () => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { name, message } = error as Error;
    // Too many pieces. A stack that overflows is a RangeError, too.
    if (!REFUSALS.includes(name) || message.startsWith("Maximum call stack")) throw error;
    if (message.length > 100_000) throw new Error("a message as long as its input", { cause: error });
  }
}

async function asked(url: string, ask: (client: ReturnType<typeof createClient>) => Promise<unknown>): Promise<void> {
  const client = createClient({
    baseUrl: url,
    organizationId: "o",
    stamper: await apiKeyStamper(await generateApiKey()),
    maxRetries: 0,
  });
  await ask(client).catch((error: unknown) => {
    const { name, message } = error as Error;
    if (!/^(?:ClientError|ServiceError|RejectedActivityError)$/.test(name)) throw error;
    if (message.length > 100_000) throw new Error("a message as long as its input", { cause: error });
  });
}

async function command(argv: string[], input: Uint8Array): Promise<void> {
  let written = 0;
  const sink = { write: (words: string) => (written += words.length) };
  const stdin = (async function* () {
    yield input;
  })();
  await run(argv, { stdin, stdout: sink, stderr: sink, env: {}, now: () => NOW });
  if (written > 8 * 1024 * 1024) throw new Error("more is said of it than it says");
}

function webhookHeaders(signature: string): Record<string, string> {
  const values = {
    "Event-Id": "e",
    Timestamp: String(NOW.getTime()),
    "Signature-Key-Id": "k",
    "Signature-Algorithm": "ed25519",
    "Signature-Version": "v1",
    Signature: signature,
  };
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`X-Webhook-${name}`, value]));
}

/** The input of the process. */
export interface Wanted {
  readonly door: Door;
  readonly file: string;
  readonly url: string;
}

/** What is measured, in place of what a door did to prepare it. */
type Work = () => unknown;

/** The longest time for which nothing else could be done, in milliseconds. */
class Block {
  #longest = 0;
  #at = performance.now();
  #used = process.cpuUsage();
  readonly #timer = setInterval(() => this.#beat(), 1);

  /** As in `costMs`: a busy machine blocks nothing. */
  #beat(): void {
    const { user, system } = process.cpuUsage(this.#used);
    this.#longest = Math.max(this.#longest, Math.min(performance.now() - this.#at, (user + system) / 1000));
    [this.#at, this.#used] = [performance.now(), process.cpuUsage()];
  }

  longest(): number {
    clearInterval(this.#timer);
    this.#beat();
    return this.#longest;
  }
}

/** The output of the process. */
export interface Took {
  readonly milliseconds: number;
  readonly blocked: number;
  readonly mebibytes: number;
}

const before = process.resourceUsage().maxRSS;
process.on("message", ({ door, file, url }: Wanted) => {
  void took(door, new Uint8Array(readFileSync(file)), url).then((answer) => process.send?.(answer));
});

async function took(door: Door, input: Uint8Array, url: string): Promise<Took> {
  let prepared: unknown;
  let block = new Block();
  let milliseconds = await costMs(async () => (prepared = await DOORS[door](input, url)));
  if (typeof prepared === "function") {
    block.longest();
    block = new Block();
    milliseconds = await costMs(prepared as Work);
  }
  return {
    milliseconds: Math.round(milliseconds),
    blocked: Math.round(block.longest()),
    mebibytes: Math.round((process.resourceUsage().maxRSS - before) / 1024),
  };
}
