/** Runs a complete service on this machine, for tests, demos and SDK authors. */
import { callable, plain, requireShape, typedOptions } from "../decode/options.js";
import { type MembersOf, count, list, nonEmptyText, optional, text } from "../decode/shapes.js";
import { type Policy, type PolicyFile, parsePolicy } from "../appraise/policy.js";
import { toHex } from "../bytes.js";
import { copyPlain } from "../decode/input.js";
import { type JsonObject, isJsonObject } from "../decode/json.js";
import {
  type ApplicationOptions,
  type LabApplication,
  deploy,
  readApplications,
  runApplication,
} from "./applications.js";
import { authProxyResources } from "./auth-proxy.js";
import { AUTH_FAULTS, FAULTS, FEED_FAULTS, type FaultName, type GivenFaultName } from "./faults.js";
import { addressDerivationPayload } from "./enclave.js";
import { type EnclaveInfo, Fleet, newFleet } from "./fleet.js";
import { claimFolder } from "./folder.js";
import { HttpServer, type Resource } from "./http.js";
import { type KeyPair, generateKeyPair, publicPoint } from "./keys.js";
import { Misbehaviour } from "./misbehaviour.js";
import type { PasskeyRegistration } from "./passkey.js";
import { MANY_ACCOUNTS, type ManyAccounts, putManyAccounts } from "./past-activities.js";
import { type LabPolicyFeed, PolicyFeed } from "./policy-feed.js";
import { Publication, type Published } from "./publication.js";
import { type Nonces, type Seed, noncesId } from "./records.js";
import type { Sources } from "./question.js";
import { invalid } from "./refusal.js";
import { APPS, RELEASE_OPTIONS, type ReleaseOptions, isApp, releaseId } from "./release.js";
import { createSeed } from "./seed.js";
import { Service } from "./service.js";
import { type ServiceSettings, settingsShape } from "./settings.js";
import { State, type Transaction } from "./state.js";
import { openStore } from "./store.js";
import { addPasskey } from "./users.js";
import { type DeliveryAttempt, type Sleep, Webhooks } from "./webhooks.js";

export interface LabOptions {
  /** The port. Default: 0, which takes a free one. */
  readonly port?: number;
  /**
   * Path of the folder for the state. It must be empty, new, or a lab's. Default: the state is in memory only.
   */
  readonly dataFolder?: string;
  /** Returns the time for the service and its enclaves. */
  readonly now?: () => Date;
  /** The faults that are on from the start. */
  readonly faults?: readonly GivenFaultName[];
  /** The manifest version of both first releases in a new lab. Default: v1 for `lab.1`, v2 for `lab.2`. */
  readonly manifestVersion?: ReleaseOptions["manifestVersion"];
  /** The caller's applications, which run in their own enclaves with manifests v2. Default: none. */
  readonly applications?: readonly ApplicationOptions[];
  /** What the interface leaves open about lists and proofs. */
  readonly settings?: ServiceSettings;
  /** Waits between two attempts of a delivery. */
  readonly sleep?: Sleep;
  /** Receives each attempt to deliver an activity to a webhook. */
  readonly onDelivery?: (attempt: DeliveryAttempt) => void;
}

const LAB_OPTIONS: MembersOf<LabOptions> = {
  port: optional(count),
  dataFolder: optional(nonEmptyText),
  now: optional(callable),
  faults: optional(list(plain)),
  manifestVersion: optional(plain),
  applications: optional(list(plain)),
  settings: optional(settingsShape),
  sleep: optional(callable),
  onDelivery: optional(callable),
};

/** The auth proxy of the lab. Its sub-organizations belong to the lab's organization. */
interface LabAuthProxy {
  /** Its base URL: the operations are at `/v1/NAME`. */
  readonly url: string;
  /** The lab's policy, with deployments that pin the quorum keys of session tokens, OTP tokens and OTP targets. */
  readonly policyFile: PolicyFile;
  readonly policy: Policy;
}

export interface Lab extends Seed {
  readonly baseUrl: string;
  /**
   * The key that signs sealed imports and exports: a point, 65 bytes, in hex. `@turnkey/crypto` takes it as
   * `dangerouslyOverrideSignerPublicKey`.
   */
  readonly signerPublicKey: string;
  /** The root certificate of the software PKI, as PEM. */
  readonly trustAnchorPem: string;
  /** A policy that pins every release of the service that has `pinned` set. */
  readonly policyFile: PolicyFile;
  readonly policy: Policy;
  readonly authProxy: LabAuthProxy;
  /** The URL of the keys that verify webhook deliveries. */
  readonly jwksUrl: string;
  readonly jwks: JsonObject;
  readonly applications: readonly LabApplication[];
  /** Returns an application. Throws RangeError for an unknown name. */
  application(name: string): LabApplication;
  /** The enclaves of the service. If a fault alters boots, these are the enclaves that booted with it. */
  readonly enclaves: readonly EnclaveInfo[];
  /** The URL of the faults. GET returns them, and PUT with `{"faults": ["name"]}` sets them. */
  readonly faultsUrl: string;
  readonly faults: readonly FaultName[];
  /** The signed policy. Its keys are new in each run. */
  readonly policyFeed: LabPolicyFeed;
  readonly policyFeedUrl: string;
  /** The releases that the service published, with their operators' approvals. */
  readonly published: Published;
  /**
   * Resolves to an app proof by the newest enclave of the signer, for the first address of the wallet. The same one,
   * until that enclave reboots.
   */
  appProof(): Promise<JsonObject>;
  /** Turns these faults on and all others off. Null turns all off. Throws RangeError for an unknown name. */
  setFault(name: GivenFaultName | readonly GivenFaultName[] | null): void;
  /** Boots an enclave of a new approved release. Rejects with RangeError if the release exists. */
  addRelease(options: Omit<ReleaseOptions, "name"> & { readonly name?: string }): Promise<EnclaveInfo>;
  /** Gives an enclave of the service a new ephemeral key. Rejects with RangeError for an unknown id. */
  restartEnclave(enclaveId: string): Promise<EnclaveInfo>;
  /**
   * Stops an enclave. Its boot proof remains available. Throws RangeError for an unknown id, and for the last enclave
   * of an application.
   */
  stopEnclave(enclaveId: string): void;
  /**
   * Returns a boot proof with a verifier's nonce. The service itself does not offer this. Throws RangeError for an
   * unknown id.
   */
  attest(enclaveId: string, nonce: Uint8Array): JsonObject;
  /** Registers a passkey for a user. Resolves to the id of the authenticator. */
  registerPasskey(userId: string, passkey: PasskeyRegistration): Promise<string>;
  setNonces(nonces: Nonces): Promise<void>;
  /** Replaces all settings. */
  setSettings(settings: ServiceSettings): void;
  /**
   * Adds a wallet with many accounts, and the activities that made them, with genuine proofs. It cannot sign. Resolves
   * to its id. Rejects with RangeError for an unknown organization.
   */
  addAccounts(options: ManyAccounts): Promise<string>;
  /** Resolves when each delivery was accepted or abandoned. */
  deliveriesSettled(): Promise<void>;
  close(): Promise<void>;
}

/** The name of the file that is written last. Its presence means that a lab runs. */
export const LAB_FILE = "lab.json";

const JWKS_PATH = "/public/v1/webhooks/jwks";
const FAULTS_PATH = "/lab/faults";
const FEED_PATH = "/lab/policy-feed.jsonl";

/**
 * Starts a lab on the loopback. Rejects if the port is in use. Rejects with {@link InUseError} if another
 * process uses the folder, and with {@link LabFolderError} if the folder is neither empty, nor new, nor a lab's.
 * @example
 * ```ts
 * const lab = await startLab();
 * lab.setFault("forged-leaf");
 * await lab.close();
 * ```
 */
export async function startLab(given: LabOptions = {}): Promise<Lab> {
  const options = typedOptions("options", given, LAB_OPTIONS);
  const wanted = readApplications(options.applications ?? []);
  const now = options.now ?? ((): Date => new Date());
  const state = await openState(options.dataFolder);
  try {
    const { fleet, seed, webhookKey } = await openInstallation(state, options, now);
    const misbehaviour = new Misbehaviour(fleet);
    misbehaviour.set(options.faults ?? []);
    const releases = await state.transact((tx) => {
      const { organizationId } = seed;
      return wanted.map((one) => deploy(one, { fleet, organizationId, now: now() }, tx));
    });
    const applications = wanted.map((one, index) =>
      runApplication(one, releases[index]!, { state, fleet, misbehaviour }),
    );
    const webhooks = new Webhooks({
      key: webhookKey,
      now,
      sleep: options.sleep,
      onAttempt: options.onDelivery,
    });
    const settings = { current: options.settings ?? {} };
    const sources = { state, fleet, misbehaviour, settings, now };
    const service = new Service({ ...sources, webhooks });
    const feed = new PolicyFeed(() => fleet.policyFile(state), now);
    const httpServer = new HttpServer(
      service,
      new Map<string, Resource>([
        [JWKS_PATH, { get: () => webhooks.jwks }],
        [FAULTS_PATH, faultsResource(misbehaviour)],
        [FEED_PATH, { get: () => misbehaviour.feed(feed) }],
        ...authProxyResources(sources, seed.organizationId),
      ]),
    );
    const baseUrl = await httpServer.listen(options.port ?? 0);
    const parts = { ...sources, seed, webhooks, httpServer, baseUrl, applications, feed };
    return Object.assign(labOf(parts), seed);
  } catch (error) {
    await state.close();
    throw error;
  }
}

async function openState(dataFolder: string | undefined): Promise<State> {
  if (dataFolder === undefined) return new State(null);
  const folder = await claimFolder(dataFolder);
  const store = await openStore(dataFolder);
  // The file of an earlier run has an outdated address.
  await folder.remove(LAB_FILE).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  return new State(store);
}

async function openInstallation(
  state: State,
  options: LabOptions,
  now: () => Date,
): Promise<{ fleet: Fleet; seed: Seed; webhookKey: KeyPair }> {
  const kept = state.get("installation", "lab");
  const made = kept ?? { fleet: newFleet(), webhookKey: generateKeyPair("ed25519") };
  const fleet = new Fleet(made.fleet, now);
  await state.transact((tx) => {
    tx.put("installation", "lab", made);
    if (kept === undefined) bootFirstReleases(fleet, options, tx);
    else bootAgain(fleet, tx);
  });
  // The seed needs running enclaves, so it has its own transaction. If the process is killed between the two
  // transactions, the next start creates the seed.
  const seed =
    kept?.seed ??
    (await state.transact(async (tx) => {
      const created = await createSeed({ tx, fleet, now: now() });
      tx.put("installation", "lab", { ...made, seed: created });
      return created;
    }));
  return { fleet, seed, webhookKey: made.webhookKey };
}

/**
 * Boots an old and a new release of each application, which run at the same time. By default the old one has a Borsh
 * manifest and the new one a JSON manifest.
 */
function bootFirstReleases(fleet: Fleet, { manifestVersion }: LabOptions, tx: Transaction): void {
  for (const app of APPS) {
    fleet.boot(fleet.addRelease({ app, name: "lab.1", manifestVersion: manifestVersion ?? "v1" }, tx), tx);
    fleet.boot(fleet.addRelease({ app, name: "lab.2", manifestVersion: manifestVersion ?? "v2" }, tx), tx);
  }
}

function bootAgain(fleet: Fleet, tx: Transaction): void {
  // All saved applications are added: faults may alter boot proofs even of those that do not run this time.
  for (const application of tx.all("applications")) fleet.addApplication(application);
  for (const release of tx.all("releases")) {
    const { app } = release;
    if (isApp(app)) fleet.boot({ ...release, app }, tx);
  }
}

/** Returns the resource that clients use if they cannot call {@link Lab.setFault}. */
function faultsResource(misbehaviour: Misbehaviour): Resource {
  const current = (): JsonObject => ({ faults: misbehaviour.names });
  return {
    get: () => ({ ...current(), known: [...FAULTS, ...AUTH_FAULTS, ...FEED_FAULTS] as unknown as JsonObject[] }),
    put: (json) => {
      const names = isJsonObject(json) ? json["faults"] : undefined;
      const isList = Array.isArray(names) && names.every((name) => typeof name === "string");
      if (!isList) throw invalid('expected {"faults": ["name"]}; an empty list turns all faults off');
      try {
        misbehaviour.set(names);
      } catch (error) {
        throw error instanceof RangeError ? invalid(error.message) : error;
      }
      return current();
    },
  };
}

interface Parts extends Sources {
  readonly seed: Seed;
  readonly webhooks: Webhooks;
  readonly httpServer: HttpServer;
  readonly baseUrl: string;
  readonly applications: readonly LabApplication[];
  readonly feed: PolicyFeed;
}

type EnclaveCalls = "addRelease" | "restartEnclave" | "stopEnclave" | "attest";

function enclavesOf({ state, fleet }: Parts): Pick<Lab, EnclaveCalls> {
  return {
    addRelease: async (given) => {
      const options = typedOptions("options", given, { ...RELEASE_OPTIONS, name: optional(text) });
      return state.transact((tx) => {
        const count = tx.all("releases").filter(({ app }) => app === options.app).length;
        const name = options.name ?? `lab.${count + 1}`;
        const id = releaseId({ app: options.app, name });
        if (tx.get("releases", id) !== undefined) throw new RangeError(`there is a release ${id} already`);
        return fleet.boot(fleet.addRelease({ ...options, name }, tx), tx);
      });
    },
    restartEnclave: (enclaveId) =>
      state.transact((tx) => {
        const release = tx.get("releases", enclaveId);
        if (release === undefined || !isApp(release.app)) throw new RangeError(`there is no enclave ${enclaveId}`);
        return fleet.boot({ ...release, app: release.app }, tx);
      }),
    stopEnclave: (enclaveId) => fleet.stop(enclaveId),
    attest: (enclaveId, nonce) => fleet.attest(enclaveId, nonce),
  };
}

type RecordCalls = "registerPasskey" | "setNonces" | "setSettings" | "addAccounts";

function recordsOf({ state, fleet, settings, now, seed: { organizationId } }: Parts): Pick<Lab, RecordCalls> {
  return {
    registerPasskey: (userId, passkey) => state.transact((tx) => addPasskey(tx, userId, passkey, now())),
    setNonces: async (given) => {
      const nonces = copyPlain(given);
      await state.transact((tx) => tx.put("nonces", noncesId(nonces.caip2, nonces.address), nonces));
    },
    setSettings: (given) => void (settings.current = requireShape("settings", given, settingsShape)),
    addAccounts: async (given) => {
      const options = { organizationId, ...typedOptions("options", given, MANY_ACCOUNTS) };
      return state.transact((tx) => putManyAccounts({ tx, fleet, now: now() }, options));
    },
  };
}

function labOf(parts: Parts): Omit<Lab, keyof Seed> {
  const { state, fleet, misbehaviour, webhooks, httpServer, baseUrl, applications, feed } = parts;
  const { organizationId, ids } = parts.seed;
  const publication = new Publication(fleet);
  let appProof: JsonObject | undefined;
  return {
    baseUrl,
    signerPublicKey: toHex(publicPoint(fleet.quorumKey("signer").signing)),
    trustAnchorPem: fleet.trustAnchorPem,
    jwksUrl: `${baseUrl}${JWKS_PATH}`,
    jwks: webhooks.jwks,
    faultsUrl: `${baseUrl}${FAULTS_PATH}`,
    policyFeed: feed,
    policyFeedUrl: `${baseUrl}${FEED_PATH}`,
    applications,
    get policyFile() {
      return fleet.policyFile(state) as unknown as PolicyFile;
    },
    get policy() {
      return parsePolicy(fleet.policyFile(state));
    },
    get authProxy() {
      const policyFile = fleet.tokenPolicyFile(state) as unknown as PolicyFile;
      return { url: baseUrl, policyFile, policy: parsePolicy(policyFile) };
    },
    get enclaves() {
      return misbehaviour.enclaves(fleet.enclaves, state);
    },
    get faults() {
      return misbehaviour.names;
    },
    get published() {
      return publication.published(state);
    },
    application: (name) => {
      const found = applications.find((one) => one.name === name);
      if (found === undefined) throw new RangeError(`the lab has no application ${name}: name it when the lab starts`);
      return found;
    },
    appProof: () =>
      state.transact((tx) => {
        const { address, path } = tx.get("wallets", ids.walletId)!.accounts[0]!;
        const facts = { organizationId, walletId: ids.walletId, derivationPath: path, address };
        const isKnown = appProof?.["publicKey"] === fleet.latest("signer", tx)?.ephemeralKey;
        if (!isKnown) appProof = fleet.latestAppProof("signer", (at) => addressDerivationPayload(at, facts), tx);
        return appProof!;
      }),
    setFault: (name) => misbehaviour.set(name === null ? [] : [name].flat()),
    ...enclavesOf(parts),
    ...recordsOf(parts),
    deliveriesSettled: () => webhooks.whenDelivered(),
    close: async () => {
      await httpServer.close();
      await webhooks.close();
      await state.close();
    },
  };
}
