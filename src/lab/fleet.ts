/**
 * The lab's enclaves and the approved releases that they run. Each boot has a new ephemeral key, and its boot proof is
 * kept. Enclaves reboot before their certificates expire.
 */
import { toHex, toUtf8 } from "../bytes.js";
import type { JsonObject } from "../decode/json.js";
import { type ManifestVersion, manifestEncodings } from "../decode/manifest/index.js";
import { certificatePem } from "../verify/trust-anchor.js";
import type { AppProofAlterations, Generation } from "./enclave.js";
import { SoftwareEnclave, labMeasurements } from "./enclave.js";
import { type ForgeOptions, Forge, forgeEvidence, labDeployment, labPolicy } from "./forge.js";
import { LEAF_LIFE_MS, NitroPki } from "./pki.js";
import {
  type LabMember,
  type QosKeyPair,
  generateMembers,
  generateQosKeyPair,
  loadQosKeyPair,
  makeManifest,
  manifestHash,
  saveQosKeyPair,
  sha256,
} from "./qos.js";
import type { SavedEnclave, SavedFleet, SavedMember, SavedRelease } from "./records.js";
import { type App, type ReleaseOptions, releaseId } from "./release.js";
import type { Reader, Transaction } from "./state.js";

const APP_PROOF_TYPES: Readonly<Record<App, string>> = {
  "policy-engine": "APP_PROOF_TYPE_POLICY_OUTCOME",
  signer: "APP_PROOF_TYPE_ADDRESS_DERIVATION",
};

export interface EnclaveInfo {
  readonly enclaveId: string;
  readonly app: App;
  readonly release: string;
  readonly manifestVersion: ManifestVersion;
  readonly generation: Generation;
  /** 130 bytes, hex. */
  readonly ephemeralKey: string;
  readonly bootedAt: Date;
}

/** Before the certificate expires. */
const RENEWAL_MS = 15 * 60_000;
const FIRST_NONCE = 7;

export function newFleet(): SavedFleet {
  const members = (...aliases: string[]): SavedMember[] =>
    generateMembers(...aliases).map(({ alias, key }) => ({ alias, key: saveQosKeyPair(key) }));
  return {
    pki: new NitroPki().save(),
    quorumKeys: { "policy-engine": saveQosKeyPair(generateQosKeyPair()), signer: saveQosKeyPair(generateQosKeyPair()) },
    operators: members("alice", "bob", "carol"),
    shareholders: members("dora", "emil"),
  };
}

interface Running {
  readonly info: EnclaveInfo;
  readonly release: SavedRelease;
  readonly enclave: SoftwareEnclave;
}

export class Fleet {
  readonly #pki: NitroPki;
  readonly #quorumKeys: Readonly<Record<App, QosKeyPair>>;
  readonly #operators: readonly LabMember[];
  readonly #shareholders: readonly LabMember[];
  readonly #now: () => Date;
  readonly #forges = new Map<string, Forge>();
  /** By enclave id, in boot order. */
  readonly #running = new Map<string, Running>();
  readonly #standbys = new Map<string, JsonObject>();
  #turn = 0;

  constructor(saved: SavedFleet, now: () => Date) {
    const member = ({ alias, key }: SavedMember): LabMember => ({ alias, key: loadQosKeyPair(key) });
    this.#pki = new NitroPki(saved.pki);
    this.#quorumKeys = {
      "policy-engine": loadQosKeyPair(saved.quorumKeys["policy-engine"]),
      signer: loadQosKeyPair(saved.quorumKeys.signer),
    };
    this.#operators = saved.operators.map(member);
    this.#shareholders = saved.shareholders.map(member);
    this.#now = now;
  }

  get trustAnchorPem(): string {
    return certificatePem(this.#pki.rootCertificate);
  }

  get enclaves(): EnclaveInfo[] {
    return [...this.#running.values()].map(({ info }) => info);
  }

  /** Pins every release with `pinned`. */
  policyFile(reader: Reader): JsonObject {
    const deployments = reader
      .all("releases")
      .filter((release) => release.pinned)
      .map((release): JsonObject => ({
        ...labDeployment(this.forge(release), release.manifestVersion),
        name: releaseId(release),
        commitment: release.generation,
        appProofs: { types: [APP_PROOF_TYPES[release.app]] },
      }));
    return labPolicy(this.trustAnchorPem, deployments, {
      maxAge: "30d",
      appProofs: { types: Object.values(APP_PROOF_TYPES), coverage: true },
    });
  }

  /** The nonce is higher than those of the application's earlier releases. */
  addRelease(options: ReleaseOptions, tx: Transaction): SavedRelease {
    const { app, name, manifestVersion = "v2", generation = "live", pinned = true, spelling } = options;
    const encoding = options.encoding ?? manifestEncodings(manifestVersion)[0];
    const nonces = tx
      .all("releases")
      .filter((release) => release.app === app)
      .map((release) => release.nonce);
    const nonce = Math.max(FIRST_NONCE - 1, ...nonces) + 1;
    const release = { app, name, manifestVersion, generation, encoding, pinned, nonce, ...(spelling && { spelling }) };
    tx.put("releases", releaseId(release), release);
    return release;
  }

  /** Replaces the enclave with the same id, whose boot proof stays. */
  boot(release: SavedRelease, tx: Transaction): EnclaveInfo {
    return this.#boot(release, tx).info;
  }

  #boot(release: SavedRelease, tx: Transaction): Running {
    const at = this.#now();
    const key = generateQosKeyPair();
    const enclaveId = releaseId(release);
    const bootProof = this.forgeBootProof(release, at, key);
    const saved = {
      enclaveId,
      app: release.app,
      release: release.name,
      bootedAt: at.getTime(),
      key: saveQosKeyPair(key),
      bootProof,
    };
    tx.put("enclaves", toHex(key.publicKey), saved);
    const running = { info: infoOf(saved, release, key), release, enclave: this.#softwareEnclave(release, key) };
    tx.afterwards(() => this.#running.set(enclaveId, running));
    return running;
  }

  /** Throws RangeError for the last enclave of an application. */
  stop(enclaveId: string): void {
    const stopped = this.#running.get(enclaveId);
    if (stopped === undefined) throw new RangeError(`no enclave ${enclaveId} is running`);
    const left = [...this.#running.values()].filter(({ info }) => info.app === stopped.info.app);
    if (left.length === 1) throw new RangeError(`${enclaveId} is the last enclave of ${stopped.info.app}`);
    this.#running.delete(enclaveId);
  }

  /** Rotates among the application's enclaves. */
  appProof(app: App, payload: (at: Date) => JsonObject, tx: Transaction): JsonObject {
    const running = [...this.#running.values()].filter(({ info }) => info.app === app);
    const chosen = running[this.#turn++ % running.length];
    if (chosen === undefined) throw new Error(`no enclave of ${app} is running`);
    return this.#renewed(chosen, tx).enclave.appProof(payload(this.#now()));
  }

  /** The enclave that booted last. */
  latest(app: string, tx: Transaction): EnclaveInfo | undefined {
    const running = [...this.#running.values()].filter(({ info }) => info.app === app);
    if (running.length === 0) return undefined;
    const latest = running.reduce((last, one) => (one.info.bootedAt >= last.info.bootedAt ? one : last));
    return this.#renewed(latest, tx).info;
  }

  /** Signs with the key of an earlier enclave, for faults. */
  resign(saved: SavedEnclave, release: SavedRelease, payload: JsonObject, alter: AppProofAlterations): JsonObject {
    return this.#softwareEnclave(release, loadQosKeyPair(saved.key)).appProof(payload, alter);
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
      payloads: [],
      ...alterations,
    }).bootProof;
  }

  /** Throws RangeError for an unknown enclave. */
  attest(enclaveId: string, nonce: Uint8Array): JsonObject {
    const running = this.#running.get(enclaveId);
    if (running === undefined) throw new RangeError(`no enclave ${enclaveId} is running`);
    return this.forgeBootProof(running.release, this.#now(), running.enclave.ephemeralKey, { nonce });
  }

  /** The boot proof of a genuine enclave that never signed anything. */
  standby(release: SavedRelease, at: Date): JsonObject {
    const id = `${releaseId(release)} ${at.getTime()}`;
    const made = this.#standbys.get(id) ?? this.forgeBootProof(release, at, generateQosKeyPair());
    this.#standbys.set(id, made);
    return made;
  }

  forge(release: SavedRelease): Forge {
    const id = releaseId(release);
    const known = this.#forges.get(id);
    if (known !== undefined) return known;
    const made = new Forge({
      pki: this.#pki,
      measurements: labMeasurements(id),
      quorumKey: this.#quorumKeys[release.app],
      // A placeholder: each boot has its own key.
      ephemeralKey: this.#quorumKeys[release.app],
      manifestMembers: this.#operators,
      shareMembers: this.#shareholders,
      namespace: { name: `lab/${release.app}`, nonce: release.nonce },
      pivotHash: sha256(toUtf8(`lab application ${id}`)),
      labels: { deploymentLabel: release.name, enclaveApp: release.app, owner: "lab" },
    });
    this.#forges.set(id, made);
    return made;
  }

  #renewed(running: Running, tx: Transaction): Running {
    const due = running.info.bootedAt.getTime() + LEAF_LIFE_MS - RENEWAL_MS;
    return this.#now().getTime() < due ? running : this.#boot(tx.get("releases", running.info.enclaveId)!, tx);
  }

  #softwareEnclave(release: SavedRelease, ephemeralKey: QosKeyPair): SoftwareEnclave {
    const forge = this.forge(release);
    const hash = manifestHash(makeManifest(release.manifestVersion, forge.manifestParts()));
    return new SoftwareEnclave({
      pki: forge.pki,
      measurements: forge.measurements,
      manifestHash: hash,
      generation: release.generation,
      ephemeralKey,
    });
  }
}

function infoOf(saved: SavedEnclave, release: SavedRelease, key: QosKeyPair): EnclaveInfo {
  const { enclaveId, app, bootedAt } = saved;
  const { manifestVersion, generation } = release;
  return {
    enclaveId,
    app,
    release: release.name,
    manifestVersion,
    generation,
    ephemeralKey: toHex(key.publicKey),
    bootedAt: new Date(bootedAt),
  };
}
