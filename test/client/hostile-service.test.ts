/**
 * A hostile service over HTTP: each proof in its responses is genuine, but of another request. Library, verified calls,
 * past activities and the command meet each lie, and some of them proxy and fetch.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { CheckId } from "../../src/checks.js";
import { runAny as run } from "../../src/cli/commands.js";
import type { RejectedActivityError } from "../../src/client/index.js";
import { createClient } from "../../src/client/index.js";
import { verifiedFetch } from "../../src/adapters/index.js";
import type { JsonObject } from "../../src/decode/json.js";
import { type Expected, verifyActivity } from "../../src/index.js";
import type { AddressDerivationProof } from "../../src/decode/app-proof.js";
import { addressDerivationPayload, customPayload } from "../../src/lab/enclave.js";
import { labDeployment, labPolicy } from "../../src/lab/forge.js";
import { signedPayload } from "../../src/lab/signing.js";
import { ADDRESS_FORMATS, keyAt } from "../../src/lab/wallet.js";
import { plainPolicy } from "../../src/plain-settings.js";
import { startProxy } from "../../src/proxy/node.js";
import {
  SERVICE_TYPES,
  type ServiceType,
  honestChanges,
  lies,
  parametersOf,
  resultOf,
} from "../support/activity-types.js";
import { AttestedService, type Lies, anchorPem, lab, policyOf } from "./attested.js";
import { ORGANIZATION, apiKey, fakeServer, neverTimeUp, rejectionOf, testStamper } from "./support.js";

const STRICT = { appProofs: { required: true, coverage: true, decision: true } };
const THIEF = "99999999-9999-4999-8999-999999999999";
const PATHS = ["m/44'/60'/0'/0/0", "m/44'/60'/0'/0/1"] as const;
const OURS = ["0x00000000000000000000000000000000000000a1", "0x00000000000000000000000000000000000000a2"] as const;
const THEIRS = "0x00000000000000000000000000000000000000bb";
const CREATE_WALLET = { name: "create_wallet", type: "ACTIVITY_TYPE_CREATE_WALLET" };
const PARAMETERS = {
  walletName: "treasury",
  accounts: PATHS.map((path) => ({ path, addressFormat: "ADDRESS_FORMAT_ETHEREUM" })),
};

const folder = mkdtempSync(join(tmpdir(), "bootproof-hostile-"));
const keyFile = join(folder, "key.json");
const policyFile = join(folder, "policy.json");
writeFileSync(keyFile, JSON.stringify(apiKey), { mode: 0o600 });
writeFileSync(policyFile, JSON.stringify(labPolicy(anchorPem, [labDeployment(lab)], STRICT)));
afterAll(() => rmSync(folder, { recursive: true }));

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** The service behind a socket of the loopback. */
async function served(lies: Lies): Promise<{ service: AttestedService; baseUrl: string }> {
  const service = new AttestedService(lies);
  const { baseUrl, close } = await fakeServer(async ({ path, raw, headers }) => {
    const answer = await service.fetch(`https://service.test${path}`, {
      method: "POST",
      body: raw as BodyInit,
      headers: headers as Record<string, string>,
    });
    const type = { "content-type": "application/json" };
    return { status: answer.status, headers: type, body: await answer.text() };
  });
  closers.push(close);
  return { service, baseUrl };
}

const derived = (service: AttestedService, facts: Partial<AddressDerivationProof>): JsonObject =>
  addressDerivationPayload(service.now, {
    organizationId: ORGANIZATION,
    walletId: "w1",
    derivationPath: PATHS[0],
    address: OURS[0],
    ...facts,
  });
/** Signed by an honest enclave for the requested wallet. */
const honest = (service: AttestedService): JsonObject[] => [
  service.allow(),
  ...PATHS.map((derivationPath, index) => derived(service, { derivationPath, address: OURS[index]! })),
];
/** What an enclave signed for the thief, about a wallet of the thief. */
const thiefs = (service: AttestedService): JsonObject[] => [
  service.allow(service.now, THIEF),
  ...PATHS.map((derivationPath) => derived(service, { organizationId: THIEF, derivationPath, address: THEIRS })),
];
const answered =
  (result: JsonObject, more: JsonObject = {}) =>
  (activity: JsonObject): JsonObject => ({
    ...activity,
    intent: { createWalletIntent: Object.values(activity["intent"] as JsonObject)[0]! },
    result: { createWalletResult: { walletId: "w1", ...result } },
    ...more,
  });
const wallet = answered({ addresses: [...OURS] });

describe("an honest service", () => {
  it("is verified by a call, as a past activity, by the library and by the command", async () => {
    const outcome = await told({ payloads: (_, service) => honest(service), activity: wallet });
    expect(outcome).toEqual({ call: "verified", past: "verified", library: "verified", command: 0 });
  });
});

interface Lie {
  readonly lies: Lies;
  /** One of the checks that fail. */
  readonly fails: CheckId;
}

const LIES: Record<string, Lie> = {
  "another organization's wallet": {
    lies: { payloads: (_, service) => thiefs(service), activity: answered({ addresses: [THEIRS, THEIRS] }) },
    fails: "activity.claims",
  },
  "another organization's wallet, which the result names as organizationId": {
    lies: {
      payloads: (_, service) => thiefs(service),
      activity: answered({ addresses: [THEIRS, THEIRS], organizationId: THIEF }),
    },
    fails: "activity.claims",
  },
  "another organization's wallet, which the result names as subOrganizationId": {
    lies: {
      payloads: (_, service) => thiefs(service),
      activity: answered({ addresses: [THEIRS, THEIRS], subOrganizationId: THIEF }),
    },
    fails: "activity.claims",
  },
  "another organization's wallet, which something deep in the result names": {
    lies: {
      payloads: (_, service) => thiefs(service),
      activity: answered({ addresses: [THEIRS, THEIRS], wallet: { owner: [{ organizationId: THIEF }] } }),
    },
    fails: "activity.claims",
  },
  "two addresses exchanged between the paths": {
    lies: { payloads: (_, service) => honest(service), activity: answered({ addresses: [OURS[1], OURS[0]] }) },
    fails: "activity.coverage",
  },
  "an address at a path that nobody asked for": {
    lies: {
      payloads: (_, service) => [...honest(service), derived(service, { derivationPath: "m/9", address: THEIRS })],
      activity: answered({ addresses: [OURS[0], THEIRS] }),
    },
    fails: "activity.coverage",
  },
  "another wallet's address, made good by a list of wallets": {
    lies: {
      payloads: (_, service) => [
        service.allow(),
        ...PATHS.map((derivationPath) => derived(service, { walletId: "w2", derivationPath, address: THEIRS })),
      ],
      activity: answered({ addresses: [THEIRS, THEIRS], wallets: [{ walletId: "w2" }], walletIds: ["w2"] }),
    },
    fails: "activity.claims",
  },
  "a proof of a type of the application's own, and no decision": {
    lies: { payloads: (_, service) => [customPayload(service.now)], activity: wallet },
    fails: "policy.app-proof",
  },
};

describe("a service that answers create_wallet with", () => {
  it.each(Object.entries(LIES))("%s is refused everywhere", async (_, { lies, fails }) => {
    const outcome = await told(lies, fails);
    expect(outcome).toEqual({ call: fails, past: fails, library: fails, command: 1 });
  });

  it(
    "another type, a sub-organization's, is refused where the type was asked, and told with a warning where it was " +
      "not",
    async () => {
      const type = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7";
      const { service, baseUrl } = await served({
        payloads: (_, here) => [here.allow(), ...thiefs(here)],
        activity: answered({ addresses: [THEIRS, THEIRS], subOrganizationId: THIEF }, { type }),
      });
      const error = await refusedCall(service, baseUrl);
      expect(error.failures.map(({ id }) => id)).toEqual(
        expect.arrayContaining(["activity.request", "activity.claims"]),
      );
      const { code, stdout } = await command(service, baseUrl, ["--policy", policyFile]);
      expect(code).toBe(0);
      expect(stdout).toContain("WARN  activity.claims");
      expect(stdout).toMatch(/WARNING no enclave signed that this organization is new or yours/);
    },
  );
});

/** The proxy and a wrapped fetch, which get the request over HTTP. Returns for each the checks that failed. */
async function toldOverHttp(lies: Lies, { name, type, parameters }: Asked): Promise<Record<"proxy" | "fetch", string>> {
  const { service, baseUrl } = await served(lies);
  const evidence = await clientOf(service, baseUrl);
  const settings = { evidence, now: () => service.now, provenance: [], onNote: () => {} };
  const policy = plainPolicy(policyOf(STRICT));
  const own = {
    policy,
    upstream: baseUrl,
    port: 0,
    allowUnproven: false,
    acceptance: "standard",
    timeoutMs: 20_000,
  } as const;
  const proxy = await startProxy({ ...settings, ...own });
  closers.push(async () => void (await proxy.close()));
  const fetching = verifiedFetch({ policy: policyOf(STRICT), baseUrl, evidence, now: () => service.now });
  const text = JSON.stringify({
    type,
    organizationId: ORGANIZATION,
    timestampMs: String(service.now.getTime()),
    parameters,
    generateAppProofs: true,
  });
  const { value } = await (await testStamper()).stamp(Buffer.from(text));
  const sent = { method: "POST", body: text, headers: { "Content-Type": "application/json", "X-Stamp": value } };
  const path = `/public/v1/submit/${name}`;
  const answer = await fetch(proxy.url + path, sent);
  const { details = [] } = (await answer.json()) as { details?: { id: string }[] };
  const fetched = await fetching(baseUrl + path, sent).then(
    (response) => response.headers.get("x-bootproof-verified") ?? "",
    (error: RejectedActivityError) => (error.failures ?? [{ id: String(error) }]).map(({ id }) => id).join(),
  );
  const failed = details.map(({ id }) => id).join();
  return { proxy: answer.ok ? (answer.headers.get("x-bootproof-verified") ?? "") : failed, fetch: fetched };
}

const answeringWith = (members: Pick<ServiceType, "intentMember" | "resultMember">, result: JsonObject): Lies => ({
  activity: (activity) => ({
    ...activity,
    intent: { [members.intentMember]: Object.values(activity["intent"] as JsonObject)[0]! },
    result: { [members.resultMember]: result },
  }),
});

async function isVerifiedEverywhere(lies: Lies, asked: Asked): Promise<void> {
  const honestly = { call: "verified", past: "verified", library: "verified", command: 0 };
  expect(await told(lies, undefined, asked)).toEqual(honestly);
  expect(await toldOverHttp(lies, asked)).toEqual({ proxy: "activity", fetch: "activity" });
}

async function isRefusedEverywhere(lies: Lies, asked: Asked, fails: CheckId): Promise<void> {
  expect(await told(lies, fails, asked)).toEqual({ call: fails, past: fails, library: fails, command: 1 });
  expect(await toldOverHttp(lies, asked)).toEqual({ proxy: fails, fetch: fails });
}

/** All types are in test/verify/activity-types.test.ts; these are one of each kind of value. */
const REPEATING = ["DELETE_USERS", "UPDATE_POLICY_V2"];
describe.each(REPEATING.map((name) => [name]))("a service that answers %s", (name) => {
  const row = SERVICE_TYPES.find(({ type }) => type === `ACTIVITY_TYPE_${name}`)!;
  const parameters = parametersOf(row);
  const asked: Asked = { name: name.toLowerCase().replace(/_v2$/, ""), type: row.type, parameters };
  const honest = resultOf(row, parameters, ORGANIZATION);
  const others = honestChanges(row, honest);

  it("honestly, in any form of the same values, is verified everywhere", async () => {
    for (const result of [honest, ...others.map(([, changed]) => changed)])
      await isVerifiedEverywhere(answeringWith(row, result), asked);
  });

  it("with another member than was asked is refused everywhere", async () => {
    const all = lies(row, honest);
    // The first lie about each member, and the last, which has the honest member beside it.
    for (const [, result] of [all[0]!, all.at(-1)!])
      await isRefusedEverywhere(answeringWith(row, result), asked, "activity.request");
  });
});

describe("a service that answers sign_raw_payload", () => {
  const key = keyAt(new Uint8Array(64).fill(3), { path: "m/0'" });
  const signWith = ADDRESS_FORMATS.ADDRESS_FORMAT_ETHEREUM.write(key.publicKey);
  const how = { encoding: "PAYLOAD_ENCODING_TEXT_UTF8", hashFunction: "HASH_FUNCTION_KECCAK256" } as const;
  const members = { intentMember: "signRawPayloadIntentV2", resultMember: "signRawPayloadResult" };
  // A payload whose r begins with a zero byte.
  const signatures = Array.from({ length: 5000 }, (_, index) => `pay ${index}`).map((payload) => ({
    payload,
    ...(signedPayload(key, { payload, ...how }) as Record<"r" | "s" | "v", string>),
  }));
  const { payload, r, s, v } = signatures.find((each) => each.r.startsWith("00"))!;
  const parameters = { signWith, payload, ...how };
  const asked: Asked = { name: "sign_raw_payload", type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", parameters };
  const short = { r: `0x${r.slice(2)}`, s: `0x${s}`, v: v === "00" ? "27" : "28" };

  it("with a short r, with 0x and with v in decimal is verified everywhere", () =>
    isVerifiedEverywhere(answeringWith(members, short), asked));
  it.each([
    ["the other v", { ...short, v: v === "00" ? "28" : "27" }],
    ["an r that is padded behind", { ...short, r: `${r.slice(2)}00` }],
    ["an empty s", { ...short, s: "0x" }],
  ])("with %s is refused everywhere", (_, result) =>
    isRefusedEverywhere(answeringWith(members, result), asked, "activity.signature"),
  );
});

describe("a service that does not answer get_activity", () => {
  const lists: [string, (service: AttestedService) => JsonObject[]][] = [
    ["and lists proofs of another organization", thiefs],
    ["and lists good ones", honest],
  ];
  it.each(lists)("%s: nothing is verified, exit 3, and nothing is written", async (_, payloads) => {
    const { service, baseUrl } = await served({
      payloads: (__, here) => honest(here),
      activity: wallet,
      past: () => ({ status: 404, body: { code: 5, message: "no", details: [] } }),
      listed: (here) => payloads(here).map((payload) => here.enclave.appProof(payload)),
    });
    await submitPlainly(service, baseUrl);
    for (const argv of [
      ["verify", "--policy", policyFile, "--activity-id"],
      ["verify", "--no-policy", "--activity-id"],
      ["fetch", "--activity"],
    ]) {
      const { code, stdout, stderr } = await runCommand(service, baseUrl, [
        ...argv,
        service.activities[0]!["id"] as string,
      ]);
      expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
      expect(stderr).toContain("--activity FILE");
    }
  });

  it("does not matter if the activity is given with --activity", async () => {
    const { service, baseUrl } = await served({
      payloads: (_, here) => honest(here),
      activity: wallet,
      past: () => ({ status: 404 }),
    });
    await submitPlainly(service, baseUrl);
    const file = join(folder, "activity.json");
    writeFileSync(file, JSON.stringify({ activity: service.activities[0]! }));
    expect((await runCommand(service, baseUrl, ["verify", "--activity", file, "--policy", policyFile])).code).toBe(0);
    expect(
      (
        await runCommand(service, baseUrl, [
          "verify",
          "--activity",
          file,
          "--policy",
          policyFile,
          "--organization-id",
          THIEF,
        ])
      ).code,
    ).toBe(1);
  });
});

interface Asked {
  readonly name: string;
  readonly type: string;
  readonly parameters: JsonObject;
}

interface Told {
  readonly call: string;
  readonly past: string;
  readonly library: string;
  readonly command: number;
}

/**
 * Tries the lie in all four places. Returns for each the check that was expected to fail, if it did. Without `asked`
 * it is create_wallet, whose request the past activity and the command do not know.
 */
async function told(lies: Lies, fails?: CheckId, asked?: Asked): Promise<Told> {
  const { name, type, parameters } = asked ?? { ...CREATE_WALLET, parameters: PARAMETERS };
  const verdictOf = (failures: readonly { readonly id: CheckId }[]): string =>
    failures.find(({ id }) => id === fails)?.id ?? failures.map(({ id }) => id).join();
  const outcome = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => "verified",
      (error: RejectedActivityError) => verdictOf(error.failures ?? [{ id: String(error) as CheckId }]),
    );
  const { service, baseUrl } = await served(lies);
  const client = await clientOf(service, baseUrl);
  const call = await outcome(client.withVerification(policyOf(STRICT)).submit({ name, type }, parameters));
  const activity = service.activities[0]!;
  const past = await outcome(
    client.withVerification(policyOf(STRICT)).verifyActivity(activity, asked && { expected: { type, parameters } }),
  );
  const expected: Expected = { organizationId: ORGANIZATION, type, parameters, requestedAt: service.now };
  const { report } = await verifyActivity(activity, [...service.bootProofs.values()], {
    policy: policyOf(STRICT),
    now: service.now,
    expected,
  });
  const failures = report.checks.filter(({ status }) => status === "fail");
  const requestFile = join(folder, "request.json");
  const { organizationId } = expected;
  writeFileSync(requestFile, JSON.stringify({ type, organizationId, timestampMs: `${+service.now}`, parameters }));
  const request = asked === undefined ? [] : ["--request", requestFile];
  const { code } = await command(service, baseUrl, ["--policy", policyFile, ...request]);
  return { call, past, library: failures.length === 0 ? report.verdict : verdictOf(failures), command: code };
}

async function clientOf(service: AttestedService, baseUrl: string): Promise<ReturnType<typeof createClient>> {
  return createClient({
    baseUrl,
    organizationId: ORGANIZATION,
    stamper: await testStamper(),
    now: () => service.now,
    sleep: neverTimeUp([]),
    timeoutMs: 12_345,
  });
}

async function refusedCall(service: AttestedService, baseUrl: string): Promise<RejectedActivityError> {
  const client = await clientOf(service, baseUrl);
  return rejectionOf<RejectedActivityError>(
    client.withVerification(policyOf(STRICT)).submit(CREATE_WALLET, PARAMETERS),
  );
}

async function submitPlainly(service: AttestedService, baseUrl: string): Promise<void> {
  await (await clientOf(service, baseUrl)).submit(CREATE_WALLET, PARAMETERS, { generateAppProofs: true });
}

async function command(
  service: AttestedService,
  baseUrl: string,
  policy: string[],
): Promise<{ code: number; stdout: string; stderr: string }> {
  return runCommand(service, baseUrl, ["verify", ...policy, "--activity-id", service.activities[0]!["id"] as string]);
}

async function runCommand(
  service: AttestedService,
  baseUrl: string,
  argv: string[],
): Promise<{ code: number; stdout: string; stderr: string }> {
  let [stdout, stderr] = ["", ""];
  const connection = [
    "--base-url",
    baseUrl,
    "--api-key-file",
    keyFile,
    ...(argv.includes("--organization-id") ? [] : ["--organization-id", ORGANIZATION]),
  ];
  const sink = (write: (text: string) => void): { write: (text: string) => boolean } => ({
    write: (text) => (write(text), true),
  });
  const code = await run([...argv, ...connection], {
    stdin: (async function* () {})(),
    stdout: sink((text) => (stdout += text)),
    stderr: sink((text) => (stderr += text)),
    env: {},
    now: () => service.now,
  } as never);
  return { code, stdout, stderr };
}
