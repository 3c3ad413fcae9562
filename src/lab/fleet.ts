/**
 * The lab's enclaves and the approved releases that they run. Each boot has a new ephemeral key, and its boot proof
 * remains available. Enclaves reboot before their certificates expire.
 */
import { fromHex, toHex, toUtf8 } from "../bytes.js";
import type { JsonObject } from "../decode/json.js";
import { type ManifestVersion, manifestEncodings } from "../decode/manifest/index.js";
import { certificatePem } from "../verify/trust-anchor.js";
import { type Generation, appProofBy, labMeasurements } from "./enclave.js";
import { type ForgeOptions, Forge, forgeEvidence, labDeployment, labPolicy } from "./forge.js";
import { LEAF_LIFE_MS, NitroPki } from "./pki.js";
import { type QosKeyPair, generateMembers, generateQosKeyPair, sha256 } from "./qos.js";
import type { SavedApplication, SavedDeployment, SavedEnclave, SavedFleet, SavedRelease } from "./records.js";
import { APPS, type App, type ReleaseOptions, TOKEN_APPS, type TokenApp, isApp, releaseId } from "./release.js";
import type { Reader, Transaction } from "./state.js";

const APP_PROOF_TYPES: Readonly<Record<App, string>> = {
  "policy-engine": "APP_PROOF_TYPE_POLICY_OUTCOME",
  signer: "APP_PROOF_TYPE_ADDRESS_DERIVATION",
};

/** An enclave of one of the caller's applications. */
export interface ReplicaInfo {
  readonly enclaveId: string;
  /** Name of the release. For the caller's application it is the id of the deployment. */
  readonly release: string;
  readonly manifestVersion: ManifestVersion;
  readonly generation: Generation;
  /** The key: 130 bytes, in hex. */
  readonly ephemeralKey: string;
  readonly bootedAt: Date;
}

/** An enclave of the service. */
export interface EnclaveInfo extends ReplicaInfo {
  readonly app: App;
}

/** An enclave reboots when its certificate expires within this time. */
const RENEWAL_MS = 15 * 60_000;
/** The nonce of version 2026.9.0. */
const FIRST_NONCE = 20_260_900;
/** The number of enclaves of one deployment of a caller's application. */
const REPLICAS = 2;

export function newFleet(): SavedFleet {
  const keys = [...APPS, ...TOKEN_APPS].map((name) => [name, generateQosKeyPair()]);
  const quorumKeys = Object.fromEntries(keys) as SavedFleet["quorumKeys"];
  return { pki: new NitroPki().save(), quorumKeys, ...newSets() };
}

export function newSets(): Pick<SavedFleet, "operators" | "shareholders"> {
  return { operators: generateMembers("alice", "bob", "carol"), shareholders: generateMembers("dora", "emil") };
}

/** Returns the options for a setup document. It is made before the key shares arrive, so it has no share approvals. */
export function setupOptions(liveKey: QosKeyPair): Partial<ForgeOptions> {
  return { generation: "setup", otherKey: liveKey, alterManifest: { shareApprovals: () => [] } };
}

/** The parts of a forge that depend on the release. */
type ReleaseParts = Pick<SavedApplication, "quorumKey" | "operators" | "shareholders"> &
  Omit<NonNullable<ConstructorParameters<typeof Forge>[0]>, "quorumKey">;

interface Running {
  readonly saved: SavedEnclave;
  readonly release: SavedRelease;
}

export class Fleet {
  readonly #pki: NitroPki;
  readonly #saved: SavedFleet;
  readonly #now: () => Date;
  /** The caller's applications by id. */
  readonly #applications = new Map<string, SavedApplication>();
  readonly #forges = new Map<string, Forge>();
  /** The enclaves by id, in boot order. */
  readonly #running = new Map<string, Running>();
  readonly #bootProofs = new WeakMap<QosKeyPair, JsonObject>();
  #turn = 0;

  constructor(saved: SavedFleet, now: () => Date) {
    this.#pki = new NitroPki(saved.pki);
    this.#saved = saved;
    this.#now = now;
  }

  get trustAnchorPem(): string {
    return certificatePem(this.#pki.rootCertificate);
  }

  /** The running enclaves of the service's own applications. */
  get enclaves(): EnclaveInfo[] {
    return [...this.#running.values()].flatMap((one) => {
      const { app } = one.saved;
      return isApp(app) ? [{ ...infoOf(one), app }] : [];
    });
  }

  /** Returns a policy that pins every release of the service that has `pinned` set. */
  policyFile(reader: Reader): JsonObject {
    const deployments = reader
      .all("releases")
      .filter((release) => release.pinned)
      .flatMap((release): JsonObject[] => (isApp(release.app) ? [this.#pinsOf(release, release.app)] : []));
    return labPolicy(this.trustAnchorPem, deployments, {
      maxAge: "30d",
      appProofs: { types: Object.values(APP_PROOF_TYPES), coverage: true },
    });
  }

  /** Returns the policy of {@link policyFile} with deployments that pin the quorum keys of tokens. */
  tokenPolicyFile(reader: Reader): JsonObject {
    const policy = this.policyFile(reader);
    const deployments = [...TOKEN_APPS, "signer" as const].map((app) => this.#pinsOfTokens(app));
    return { ...policy, deployments: [...(policy["deployments"] as JsonObject[]), ...deployments] };
  }

  /** Returns the quorum key of an application, which signs tokens and bundles. */
  readonly quorumKey = (app: App | TokenApp): QosKeyPair => this.#saved.quorumKeys[app];

  /**
   * Returns a policy that pins one deployment of the caller. With commitment `setup` it pins no labels, since setup
   * documents have none.
   */
  deploymentPolicy(release: SavedRelease, commitment: "live" | "setup"): JsonObject {
    const { name } = this.#applications.get(release.app)!;
    const { labels, ...pins } = labDeployment(this.forge(release), release.manifestVersion);
    const deployment = {
      ...pins,
      ...(commitment === "live" && { labels: labels! }),
      name,
      pivotArgs: [...release.deployment!.args],
      commitment,
    };
    return labPolicy(this.trustAnchorPem, [deployment], { name, maxAge: "30d" });
  }

  /** Adds an application. It must be added before its releases boot. */
  addApplication(application: SavedApplication): void {
    this.#applications.set(application.appId, application);
  }

  /** Adds a release. Its nonce is higher than those of the application's earlier releases. */
  addRelease<A extends string>(
    options: Omit<ReleaseOptions, "app"> & { readonly app: A; readonly deployment?: SavedDeployment },
    tx: Transaction,
  ): SavedRelease & { readonly app: A } {
    const { app, name, manifestVersion = "v2", generation = "live", pinned = true, spelling, deployment } = options;
    const encoding = options.encoding ?? manifestEncodings(manifestVersion)[0];
    const nonces = tx
      .all("releases")
      .filter((release) => release.app === app)
      .map((release) => release.nonce);
    const nonce = Math.max(FIRST_NONCE - 1, ...nonces) + 1;
    const facts = { app, name, manifestVersion, generation, encoding, pinned, nonce };
    const release = { ...facts, ...(spelling && { spelling }), ...(deployment && { deployment }) };
    tx.put("releases", releaseId(release), release);
    return release;
  }

  /** Boots an enclave, which replaces the one with the same id. The earlier boot proof remains available. */
  boot(release: SavedRelease & { readonly app: App }, tx: Transaction): EnclaveInfo {
    return { ...infoOf(this.#boot(release, tx)), app: release.app };
  }

  /** Boots all enclaves of the application again. Their earlier boot proofs remain available. */
  bootReplicas(release: SavedRelease, tx: Transaction): void {
    const { name } = this.#applications.get(release.app)!;
    for (let number = 1; number <= REPLICAS; number++) this.#boot(release, tx, `${name} ${number}`);
  }

  /** Returns the running enclaves of one of the caller's applications. */
  replicas(appId: string): ReplicaInfo[] {
    return this.#replicas(appId).map(infoOf);
  }

  /** Returns the enclave with this index; undefined if the application has fewer. */
  replica(appId: string, index: number, tx: Transaction): SavedEnclave | undefined {
    const running = this.#replicas(appId)[index];
    return running && this.#renewed(running, tx).saved;
  }

  #replicas(app: string): Running[] {
    return [...this.#running.values()].filter(({ saved }) => saved.app === app);
  }

  #boot(release: SavedRelease, tx: Transaction, enclaveId = releaseId(release)): Running {
    const key = generateQosKeyPair();
    const setupKey = release.deployment && generateQosKeyPair();
    const at = { enclaveId, app: release.app, release: release.name, bootedAt: this.#now().getTime() };
    const saved = { ...at, key, ...(setupKey && { setupKey }) };
    tx.put("enclaves", toHex(key.publicKey), saved);
    tx.afterwards(() => this.#running.set(enclaveId, { saved, release }));
    return { saved, release };
  }

  /** Stops an enclave. Throws RangeError for the last enclave of an application. */
  stop(enclaveId: string): void {
    const stopped = this.#running.get(enclaveId);
    if (stopped === undefined) throw new RangeError(`no enclave ${enclaveId} is running`);
    const { app } = stopped.saved;
    if (this.#replicas(app).length === 1) throw new RangeError(`${enclaveId} is the last enclave of ${app}`);
    this.#running.delete(enclaveId);
  }

  /** Makes an app proof. The application's enclaves sign in turn, one for each call. */
  appProof(app: App, payload: (at: Date) => JsonObject, tx: Transaction): JsonObject {
    const running = this.#replicas(app);
    const chosen = running[this.#turn++ % running.length];
    if (chosen === undefined) throw new Error(`no enclave of ${app} is running`);
    return appProofBy(this.#renewed(chosen, tx).saved.key, payload(this.#now()));
  }

  /**
   * Returns the service's enclave that booted last. For a caller's application, returns the first replica, which signs.
   */
  latest(app: string, tx: Transaction): ReplicaInfo | undefined {
    const running = this.#latest(app, tx);
    return running && infoOf(running);
  }

  #latest(app: string, tx: Transaction): Running | undefined {
    const running = this.#replicas(app);
    if (running.length === 0) return undefined;
    const latest = isApp(app)
      ? running.reduce((last, one) => (one.saved.bootedAt >= last.saved.bootedAt ? one : last))
      : running[0]!;
    return this.#renewed(latest, tx);
  }

  /** Makes an app proof by the enclave that {@link latest} returns. */
  latestAppProof(app: App, payload: (at: Date) => JsonObject, tx: Transaction): JsonObject {
    return appProofBy(this.#latest(app, tx)!.saved.key, payload(this.#now()));
  }

  /** Returns the boot proof of an enclave. It is made when somebody first wants it, and stays the same in this run. */
  bootProof(saved: SavedEnclave, reader: Reader): JsonObject {
    return this.#proven(saved, saved.key, saved.setupKey && { otherKey: saved.setupKey }, reader);
  }

  /** Returns the boot proof of the setup key of a caller's application. */
  setupProof(saved: SavedEnclave, reader: Reader): JsonObject {
    return this.#proven(saved, saved.setupKey!, setupOptions(saved.key), reader);
  }

  #proven(
    { app, release: name, bootedAt }: SavedEnclave,
    key: QosKeyPair,
    options: Partial<ForgeOptions> | undefined,
    reader: Reader,
  ): JsonObject {
    const release = reader.get("releases", releaseId({ app, name }))!;
    const made = this.#bootProofs.get(key) ?? this.forgeBootProof(release, new Date(bootedAt), key, options);
    this.#bootProofs.set(key, made);
    return made;
  }

  forgeBootProof(
    release: SavedRelease,
    at: Date,
    ephemeralKey: QosKeyPair,
    alterations: Partial<ForgeOptions> = {},
  ): JsonObject {
    return forgeEvidence({
      lab: this.forge(release),
      at,
      ephemeralKey,
      version: release.manifestVersion,
      encoding: release.encoding,
      generation: release.generation,
      ...(release.spelling && { spelling: release.spelling }),
      // The same key each time: PCR16 stays the same if a boot proof is made again.
      otherKey: this.forge(release).ephemeralKey,
      payloads: [],
      ...alterations,
    }).bootProof;
  }

  /** Returns a new boot proof with this nonce. Throws RangeError for an unknown enclave. */
  attest(enclaveId: string, nonce: Uint8Array): JsonObject {
    const running = this.#running.get(enclaveId);
    if (running === undefined) throw new RangeError(`no enclave ${enclaveId} is running`);
    return this.forgeBootProof(running.release, this.#now(), running.saved.key, { nonce });
  }

  /** Returns the boot proof of a genuine enclave that never signed anything. */
  standby(release: SavedRelease, at: Date): JsonObject {
    return this.forgeBootProof(release, at, generateQosKeyPair());
  }

  forge(release: SavedRelease): Forge {
    const id = releaseId(release);
    const known = this.#forges.get(id);
    if (known !== undefined) return known;
    const parts = isApp(release.app) ? this.#partsOf(release, release.app) : this.#partsOfDeployment(release);
    const made = this.#makeForge(release, parts);
    this.#forges.set(id, made);
    return made;
  }

  #makeForge(
    { app, name }: Pick<SavedRelease, "app" | "name">,
    { quorumKey, operators, shareholders, ...parts }: ReleaseParts,
  ): Forge {
    return new Forge({
      pki: this.#pki,
      labels: { deploymentLabel: name, enclaveApp: app, owner: "lab" },
      quorumKey,
      // This key is a placeholder, since each boot passes its own key.
      ephemeralKey: quorumKey,
      manifestMembers: operators,
      shareMembers: shareholders,
      ...parts,
    });
  }

  #partsOf(release: Pick<SavedRelease, "name" | "nonce">, app: App | TokenApp): ReleaseParts {
    const id = releaseId({ ...release, app });
    const { operators, shareholders, quorumKeys } = this.#saved;
    return {
      measurements: labMeasurements(id),
      quorumKey: quorumKeys[app],
      operators,
      shareholders,
      namespace: { name: `lab/${app}`, nonce: release.nonce },
      pivotHash: sha256(toUtf8(`lab application ${id}`)),
    };
  }

  /**
   * Returns the parts for a release of a caller's application. All applications run in one image, which loads their
   * binaries.
   */
  #partsOfDeployment({ app, nonce, deployment }: SavedRelease): ReleaseParts {
    const { quorumKey, operators, shareholders } = this.#applications.get(app)!;
    return {
      measurements: labMeasurements("applications"),
      quorumKey,
      operators,
      shareholders,
      namespace: { name: `lab/tvc/${app}`, nonce },
      pivotHash: fromHex(deployment!.binaryDigest)!,
      args: deployment!.args,
    };
  }

  #pinsOf(release: SavedRelease, app: App): JsonObject {
    return {
      ...labDeployment(this.forge(release), release.manifestVersion),
      name: releaseId(release),
      commitment: release.generation,
      appProofs: { types: [APP_PROOF_TYPES[app]] },
    };
  }

  /** Returns the pins of a quorum key in the namespace that the service's tokens and bundles have. */
  #pinsOfTokens(app: TokenApp | "signer"): JsonObject {
    const release = { app, name: "lab.1", nonce: FIRST_NONCE };
    const namespace = { name: `prod/${app}`, nonce: FIRST_NONCE };
    return {
      ...labDeployment(this.#makeForge(release, { ...this.#partsOf(release, app), namespace })),
      name: isApp(app) ? `${app} bundles` : releaseId(release),
      appProofs: { types: [`lab ${app}`] },
    };
  }

  #renewed(running: Running, tx: Transaction): Running {
    const due = running.saved.bootedAt + LEAF_LIFE_MS - RENEWAL_MS;
    return this.#now().getTime() < due ? running : this.#boot(running.release, tx, running.saved.enclaveId);
  }
}

function infoOf({ saved, release }: Running): ReplicaInfo {
  const { manifestVersion, generation } = release;
  const at = { enclaveId: saved.enclaveId, release: release.name, bootedAt: new Date(saved.bootedAt) };
  return { ...at, manifestVersion, generation, ephemeralKey: toHex(saved.key.publicKey) };
}
