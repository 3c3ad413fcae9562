/** The entrances that need no build and no SDK, each called with the evidence of one side of a fact. */
import { isCheckId } from "../../src/checks.js";
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "../../src/decode/json.js";
import { decodeManifest } from "../../src/decode/manifest/index.js";
import {
  type Evidence,
  type Expected,
  NO_POLICY_ANY_ENCLAVE,
  RejectedError,
  type VerifyOptions,
  parseTrustAnchor,
  verifyAttestation,
  verifyEvidence,
} from "../../src/index.js";
import type { AddressRow } from "../../src/addresses/index.js";
import { ClientError, RejectedActivityError, RejectedAddressesError } from "../../src/client/index.js";
import { RejectedAuthProxyError, verifiedFetch } from "../../src/adapters/index.js";
import { stampWithApiKey } from "../../src/lab/index.js";
import { encodeManifest } from "../../src/lab/qos.js";
import { pageWith } from "../../src/page/page.js";
import { plainOptions, plainPolicy } from "../../src/plain-settings.js";
import type { ProvenanceVerifier } from "../../src/index.js";
import { sigstoreVerifier } from "../../src/provenance/index.js";
import { startProxy } from "../../src/proxy/node.js";
import { AddressFolder } from "../../src/cli/addresses-folder.js";
import { LAB_ADDRESS } from "../../src/lab/forge.js";
import { runAny } from "../../src/cli/commands.js";
import { bootproof, fileOf } from "../cli/support.js";
import { apiKey } from "../client/support.js";
import {
  AROUND,
  type Judge,
  type Side,
  type World,
  builds,
  bundleOf,
  organization,
  pieces,
  reported,
} from "./cells.js";
import type { EntranceOf, Outcome } from "./doors.js";
import { STRANGERS } from "./facts.js";
import { releaseFolder } from "./releases.js";
import { LISTS, SIGN_UP, Service, signUpAnswer, signUpClock } from "./service.js";
import { ACTIVITY_ID, NOW, REQUEST } from "./worlds.js";

export const service = await Service.start();
const provenanceVerifier: ProvenanceVerifier = await sigstoreVerifier();
const run = (...words: readonly string[]): ReturnType<typeof bootproof> => bootproof(words, AROUND);
const JSON_REPORT = ["--format", "json"];

const verify: Judge = async (world, side) =>
  reported(
    await run(
      "verify",
      ...pieces(world, side),
      "--policy",
      world.policyPath,
      ...world.words("verify", side),
      ...JSON_REPORT,
    ),
  );

const verifyBundle: Judge = async (world, side) => {
  const words = [...organization(world[side].hasAnswer), ...world.words("verify", side)];
  return reported(await run("verify", bundleOf(world, side), "--policy", world.policyPath, ...words, ...JSON_REPORT));
};

/** The page's maker took any enclave: what refuses it is its reader's policy. */
const verifyPage: Judge = async (world, side) => {
  const { forged, bootProof, activity, hasAnswer } = world[side];
  const makers: VerifyOptions = {
    policy: NO_POLICY_ANY_ENCLAVE,
    now: NOW,
    allowDebug: true,
    trustAnchors: [parseTrustAnchor("anchor.pem", forged.anchorPem)],
  };
  const evidence = world.isBare ? forged.document : { bootProofs: [bootProof], ...(hasAnswer && { activity }) };
  const asked = hasAnswer && !world.isBare;
  const own = asked ? { ...makers, expected: { organizationId: REQUEST.organizationId } } : makers;
  const { report } = world.isBare
    ? await verifyAttestation(forged.document, own)
    : await verifyEvidence(evidence as Evidence, own);
  const page = fileOf(await pageWith("0;", { evidence, options: plainOptions(own), report }), "page.html");
  const words = [...organization(asked), ...builds(world[side]), ...world.words("verify", side)];
  return reported(await run("verify", page, "--policy", world.policyPath, ...words, ...JSON_REPORT));
};

const bundle: Judge = async (world, side) => {
  const words = [...pieces(world, side), "--policy", world.policyPath, ...world.words("bundle", side)];
  const { code, stdout, stderr } = await run("bundle", ...words);
  if (code > 1) return { accepted: false, why: [`exit ${code}`, ...idsIn(stderr)] };
  return { accepted: code === 0 && stdout !== "", why: code === 0 ? [] : idsIn(stderr) };
};

/** The class of the address that the evidence proves, in a folder that lists it. */
const addresses: Judge = async (world, side) => {
  const evidence = world[side];
  const { organizationId } = LAB_ADDRESS;
  const question = { organizationId, suborgs: false, walletId: null, addresses: [], privateKeys: true };
  const at = join(mkdtempSync(join(tmpdir(), "bootproof-matrix-")), "evidence.d");
  const folder = new AddressFolder(at, question);
  await folder.put({ kind: "start", organizationIds: [organizationId], parentOrganizationId: null });
  for (const operation of ["list_wallets", "list_wallet_accounts", "list_private_keys"] as const) {
    const answer = LISTS[operation]!(evidence);
    await folder.put({ kind: "list", organizationId, at: NOW.getTime(), operation, answer });
  }
  for (const activity of evidence.activities) {
    const bootProofs = activity === evidence.activity ? [{ key: "", bootProof: evidence.bootProof }] : [];
    await folder.put({ kind: "activity", organizationId, activityId: String(activity["id"]), activity, bootProofs });
  }
  await folder.end();
  const own = world.words("addresses", side);
  const words = ["--from", at, "--organization-id", organizationId, "--policy", world.policyPath, ...own];
  const { code, stdout, stderr } = await run("addresses", ...words, ...builds(world[side]), ...JSON_REPORT);
  if (code > 1) return { accepted: false, why: [`exit ${code}`, stderr] };
  const { rows, unplaced } = JSON.parse(stdout) as { rows: AddressRow[]; unplaced: unknown[] };
  return { ...classified(rows, unplaced), accepted: code === 0 };
};

function classified(rows: readonly AddressRow[], unplaced: readonly unknown[] = []): Outcome {
  const refused = rows.filter(({ class: name }) => name !== "derived");
  const why = refused.flatMap(({ class: name, reason }) => (name === "refused" ? reason!.split(", ") : [name]));
  const others = unplaced.map(() => "unplaced");
  return { accepted: rows.length > 0 && refused.length + unplaced.length === 0, why: [...why, ...others] };
}

const clientAddresses: Judge = async (world, side) => {
  const client = await service.serves(world[side]).client();
  const rows: AddressRow[] = [];
  const verified = client.withVerification(world.parsed(), verification(world, side));
  try {
    for await (const row of verified.addresses()) rows.push(row);
  } catch (error) {
    return refusedAddresses(error);
  }
  return classified(rows);
};

/** Of an error that refuses addresses. Throws every other one. */
function refusedAddresses(error: unknown): Outcome {
  if (!(error instanceof RejectedAddressesError)) throw error;
  return classified(error.rows, error.unplaced);
}

const listed = (): { readonly path: string; readonly init: RequestInit } => {
  const body = JSON.stringify({ organizationId });
  const headers = { "content-type": "application/json", "x-stamp": stampWithApiKey(apiKey, body) };
  return { path: "/public/v1/query/list_wallet_accounts", init: { method: "POST", body, headers } };
};

/** Asks a service for accounts. With a kept sign-up, it lists no activity. */
const askedBy =
  (isKept: boolean): Judge =>
  async (world, side) => {
    const evidence = await service.serves(world[side], !isKept).client();
    const options = { policy: world.parsed(), baseUrl: service.url, evidence, now: () => NOW, verifyAddresses: true };
    const signUpEvidence = (): JsonObject => signUpAnswer(world[side].activity);
    const ask = verifiedFetch({ ...options, ...verification(world, side), ...(isKept && { signUpEvidence }) });
    const { path, init } = listed();
    try {
      const response = await ask(service.url + path, init);
      return { accepted: response.headers.get("x-bootproof-accounts") === "derived=1", why: [] };
    } catch (error) {
      return refusedAddresses(error);
    }
  };

/** The ids in a message. */
function idsIn(text: string): string[] {
  // Advice names files, such as policy.json.
  const ids = (text.match(/\b[a-z]+\.[a-z-]+/g) ?? []).filter((word) => isCheckId(word));
  return ids.length === 0 ? [text] : [...new Set(ids)];
}

const keyFile = fileOf(apiKey, "matrix-key.json");
chmodSync(keyFile, 0o600);
const connection = ["--base-url", service.url, ...organization(true), "--api-key-file", keyFile];

interface Entry {
  readonly event?: string;
  readonly verdict?: string;
  readonly failed?: readonly string[];
}

const watchWords = (world: World, side: Side, policy: string): string[] => {
  const own = world.words("watch", side);
  const watched = own.includes("--ephemeral-key") ? [] : ["--app", "signer"];
  return ["watch", ...watched, ...own, "--policy", policy, ...builds(world[side]), ...JSON_REPORT, ...connection];
};

const watch: Judge = async (world, side) => {
  service.serves(world[side]);
  const { code, stdout, stderr } = await run(...watchWords(world, side, world.policyPath), "--once");
  if (code > 1) return { accepted: false, why: [`exit ${code}`, stderr] };
  const [entry] = entriesIn(stdout);
  const why = idsOf(entry!);
  return { accepted: code === 0, why: code === 1 && why.length === 0 ? ["warning"] : why };
};

function idsOf({ failed }: Entry): string[] {
  return [...failed!];
}

function entriesIn(stdout: string): Entry[] {
  return stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Entry);
}

/**
 * Under a policy that accepts the other evidence, which is replaced by the policy of the fact, then SIGHUP: the new one
 * has to judge.
 */
const watchAfterHangup: Judge = async (world, side) => {
  service.serves(world[side]);
  const policy = fileOf(await world.before());
  const known = process.listeners("SIGINT");
  let [stdout, stderr] = ["", ""];
  let wake = (): void => {};
  const said = (text: string): void => {
    stdout += text;
    wake();
  };
  const running = runAny(watchWords(world, side, policy), {
    stdin: (async function* () {})(),
    stdout: { write: said },
    stderr: { write: (text) => ((stderr += text), wake()) },
    env: {},
    now: () => NOW,
  }).finally(() => wake());
  let isOver = false;
  void running.then(() => (isOver = true));
  const entries = async (count: number): Promise<Entry[]> => {
    while (entriesIn(stdout).length < count) {
      if (isOver || /refused|not changed/.test(stderr)) throw new Error(`the watch did not go on: ${stderr}`);
      await new Promise<void>((resolve) => (wake = resolve));
    }
    return entriesIn(stdout);
  };
  try {
    const [first] = await entries(1);
    if (side === "other" && first!.verdict !== "verified")
      throw new Error(`the policy before does not accept the other evidence: ${idsOf(first!).join()}`);
    writeFileSync(policy, readFileSync(world.policyPath));
    process.emit("SIGHUP");
    const last = (await entries(3))[2]!;
    return { accepted: last.verdict === "verified", why: idsOf(last) };
  } finally {
    // Of this watch alone: the process has others.
    for (const end of process.listeners("SIGINT")) if (!known.includes(end)) (end as () => void)();
    await running;
  }
};

/** The manifest before that of the honest evidence: what is not pinned is unchanged. */
function previousOf({ honest }: World): string {
  const manifest = decodeManifest(readFileSync(honest.file("manifest")));
  const before = { ...manifest, namespace: { ...manifest.namespace, nonce: 20260100 } };
  return fileOf(encodeManifest(before, { encoding: "json" }));
}

/** Where nothing was compared. */
interface Errors {
  readonly errors?: readonly { readonly message: string }[];
}

const review: Judge = async (world, side) => {
  const words = ["--policy", world.policyPath, "--previous", previousOf(world), ...world.words("review", side)];
  const { code, stdout, stderr } = await run("review", world[side].file("manifest"), ...words, ...JSON_REPORT);
  if (code > 1) return { accepted: false, why: [`exit ${code}`, stderr] };
  const { faults, errors } = JSON.parse(stdout) as Errors & { faults: { code: string; about: string }[] };
  if (errors !== undefined) return { accepted: false, why: errors.map(({ message }) => message) };
  return { accepted: code === 0, why: faults.map((fault) => `${fault.code} ${fault.about}`) };
};

const measure: Judge = async (world, side) => {
  const evidence = world[side];
  const { role, instance } = evidence.built;
  const isPinned = JSON.stringify(world.policy["deployments"]).includes('"4":');
  const names = ["--role-arn", role, ...(isPinned ? ["--instance-id", instance] : [])];
  const files = evidence.builds.length > 0 ? [] : [evidence.file("image"), ...names];
  const words = [...files, "--binary", evidence.file("binary"), ...builds(evidence), "--policy", world.policyPath];
  words.push(...world.words("measure", side, "binary", "role-arn", "instance-id"));
  const { code, stdout, stderr } = await run("measure", ...words, ...JSON_REPORT);
  if (code > 1) return { accepted: false, why: [`exit ${code}`, stderr] };
  const { comparison, errors } = JSON.parse(stdout) as Errors & { comparison: { nearest: Nearest } };
  if (errors !== undefined) return { accepted: false, why: errors.map(({ message }) => message) };
  return { accepted: code === 0, why: comparison.nearest.differing.map(({ pin }) => pin) };
};

interface Nearest {
  readonly differing: readonly { readonly pin: string }[];
}

const releaseCheck: Judge = async (world, side) => {
  const own = world.words("policy check-releases", side);
  const demand = own.includes("--manifest-set") ? own : [...own, "--policy", world.policyPath];
  // A namespace that no release has is wrong usage: the honest release is beside the other one.
  const isBeside = own.includes("--namespace") && side === "other";
  const folder = releaseFolder(isBeside ? [world.honest, world.other] : [world[side]], STRANGERS);
  const { code, stdout, stderr } = await run("policy", "check-releases", folder, ...demand, ...JSON_REPORT);
  if (code > 1) return { accepted: false, why: [`exit ${code}`, stderr] };
  const { releases, histories } = JSON.parse(stdout) as ReleaseJson;
  const codes = [...releases, ...histories].flatMap(({ faults }) => faults.map((fault) => fault.code));
  const statuses = releases.map(({ status }) => status).filter((status) => !["good", "bad"].includes(status));
  return { accepted: code === 0, why: [...codes, ...statuses] };
};

interface Faulty {
  readonly faults: readonly { readonly code: string }[];
}

interface ReleaseJson {
  readonly releases: readonly (Faulty & { readonly status: string })[];
  readonly histories: readonly Faulty[];
}

type Verification = Pick<VerifyOptions, "maxAgeMs"> &
  Required<Pick<VerifyOptions, "acceptance">> & {
    readonly provenance?: readonly string[];
    readonly provenanceVerifier?: ProvenanceVerifier;
    readonly signerKeys?: readonly string[];
  };

/** The common options of the entrances that ask a service. */
export function verification(world: World, side: Side): Verification {
  const provenance = world[side].builds;
  const words = world.words("verify", side);
  const isStrict = words.includes("--fail-on-warning");
  const signerKey = words[words.indexOf("--signer-key") + 1 || words.length];
  return {
    ...(words.includes("--max-age") && { maxAgeMs: 3_600_000 }),
    acceptance: isStrict ? "strict" : "standard",
    ...(signerKey !== undefined && { signerKeys: [signerKey] }),
    ...(provenance.length > 0 && { provenance, provenanceVerifier }),
  };
}

export async function outcomeOf(call: () => Promise<unknown>): Promise<Outcome> {
  try {
    await call();
    return { accepted: true, why: [] };
  } catch (error) {
    if (error instanceof RejectedError || error instanceof RejectedActivityError) {
      const failed = error.failures.map(({ id }) => id as string);
      return { accepted: false, why: failed.length === 0 ? ["warning"] : [...new Set(failed)] };
    }
    if (error instanceof RejectedAuthProxyError) return signUpRefused(error);
    if (error instanceof ClientError) return { accepted: false, why: [error.code, error.message] };
    throw error;
  }
}

function signUpRefused({ report, message }: RejectedAuthProxyError): Outcome {
  if (report === null) return { accepted: false, why: ["no report", message] };
  const failed = report.checks.filter(({ status }) => status === "fail").map(({ id }) => id);
  return { accepted: false, why: failed.length === 0 ? ["warning"] : [...new Set(failed)] };
}

const { organizationId } = REQUEST;

const client: Judge = async (world, side) => {
  const own = (await service.serves(world[side]).client()).withVerification(world.parsed(), verification(world, side));
  const { asks } = world.fact;
  const { expected } = world.fact as { expected?: Expected };
  const { appProofs, activity } = world[side];
  if (asks === "received") {
    const received = appProofs.filter((one) => String(one["proofPayload"]).includes('"QUOTE"'));
    return outcomeOf(() =>
      own.verifyAppProofs(
        received.map((appProof) => ({ appProof })),
        { expected: expected! },
      ),
    );
  }
  if (asks === "past") return outcomeOf(() => own.verifyActivity({ activity }, expected && { expected }));
  const { type, parameters } = world.request;
  return outcomeOf(() => own.submit({ name: world.operation, type }, parameters));
};

/** What a caller of the service writes itself. */
function requestOf(world: World): { readonly path: string; readonly init: RequestInit } {
  const isPast = world.fact.asks === "past";
  const path = isPast ? "query/get_activity" : `submit/${world.operation}`;
  const body = JSON.stringify(
    isPast ? { organizationId, activityId: ACTIVITY_ID } : { ...world.request, generateAppProofs: true },
  );
  const headers = { "content-type": "application/json", "x-stamp": stampWithApiKey(apiKey, body) };
  return { path: `/public/v1/${path}`, init: { method: "POST", body, headers } };
}

/** Starts a proxy, and sends it a request. */
async function throughProxy(
  world: World,
  side: Side,
  { path, init }: ReturnType<typeof requestOf>,
  verifyAddresses = false,
): Promise<Response> {
  const { acceptance, maxAgeMs, signerKeys } = verification(world, side);
  const policy = world.parsed();
  const running = await startProxy({
    upstream: service.serves(world[side]).url,
    policy: "refresh" in policy ? policy : plainPolicy(policy),
    evidence: await service.client(),
    port: 0,
    allowUnproven: false,
    acceptance,
    ...(maxAgeMs !== undefined && { maxAgeMs }),
    ...(signerKeys !== undefined && { signerKeys }),
    provenance: world[side].builds,
    provenanceVerifier,
    timeoutMs: 20_000,
    now: () => NOW,
    onNote: () => {},
    verifyAddresses,
  });
  try {
    return await fetch(running.url + path, init);
  } finally {
    await running.close();
  }
}

const proxy: Judge = async (world, side) => {
  const response = await throughProxy(world, side, requestOf(world));
  const body = (await response.json()) as { details?: { id: string }[] };
  if (response.status === 200)
    return { accepted: response.headers.get("x-bootproof-verified") === "activity", why: [] };
  const ids = [...new Set((body.details ?? []).map(({ id }) => id))];
  return { accepted: false, why: ids.length > 0 ? ids : [refusedAs(response)] };
};

const proxiedAddresses: Judge = async (world, side) => {
  const response = await throughProxy(world, side, listed(), true);
  const { details = [], message = "" } = (await response.json()) as { details?: AddressRow[]; message?: string };
  if (response.status !== 200) return classified(details, message.match(/unplaced: /g) ?? []);
  return { accepted: response.headers.get("x-bootproof-accounts") === "derived=1", why: [] };
};

function refusedAs(response: Response): string {
  const refused = response.headers.get("x-bootproof-refused") ?? "error";
  return refused === "rejected" ? "warning" : refused;
}

const fetching: Judge = async (world, side) => {
  const evidence = await service.serves(world[side]).client();
  const options = { policy: world.parsed(), baseUrl: service.url, evidence, now: () => NOW };
  const ask = verifiedFetch({ ...options, ...verification(world, side) });
  const { path, init } = requestOf(world);
  return outcomeOf(async () => {
    const response = await ask(service.url + path, init);
    if (response.headers.get("x-bootproof-verified") !== "activity") throw new Error("an answer that nobody verified");
  });
};

/** A new user has no stamper, so the boot proofs come from a function. */
const signUp: Judge = async (world, side) => {
  const { url: baseUrl, authProxyUrl } = service.serves(world[side]);
  const evidence = (): JsonObject => world[side].bootProof;
  const options = { policy: world.parsed(), baseUrl, authProxyUrl, evidence, now: signUpClock(world.fact) };
  const ask = verifiedFetch({ ...options, ...verification(world, side) });
  const headers = { "content-type": "application/json", "x-auth-proxy-config-id": "matrix" };
  return outcomeOf(async () => {
    const response = await ask(`${authProxyUrl}/v1/signup_v2`, {
      method: "POST",
      body: JSON.stringify(SIGN_UP),
      headers,
    });
    if (response.headers.get("x-bootproof-verified") !== "sign-up") throw new Error("an answer that nobody verified");
  });
};

export const FAST: Readonly<Record<EntranceOf<"fast">, Judge>> = {
  "verify, files": verify,
  "verify, a bundle": verifyBundle,
  "verify, a page": verifyPage,
  "verify, bundle command": bundle,
  "watch, once": watch,
  "watch, after SIGHUP": watchAfterHangup,
  "addresses, command": addresses,
  "review, command": review,
  "measure, command": measure,
  "policy check-releases, command": releaseCheck,
  "door, client": client,
  "door, verifiedFetch": fetching,
  "door, proxy": proxy,
  "door for sign-ups, verifiedFetch": signUp,
  "door for addresses, client": clientAddresses,
  "door for addresses, verifiedFetch": askedBy(false),
  "door for addresses, verifiedFetch with a kept sign-up": askedBy(true),
  "door for addresses, proxy": proxiedAddresses,
};
