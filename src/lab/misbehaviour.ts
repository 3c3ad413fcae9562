/**
 * Alters responses, but not the state of the service. A fault of the boot runs on newly booted enclaves, so that
 * clients with cached boot proofs detect it, too.
 */
import { toHex } from "../bytes.js";
import type { JsonObject } from "../decode/json.js";
import {
  type Answering,
  type Behaviour,
  BEHAVIOURS,
  FAULTS,
  type FaultName,
  type TargetEnclave,
  payloadOf,
} from "./faults.js";
import type { EnclaveInfo, Fleet } from "./fleet.js";
import type { ForgeOptions } from "./forge.js";
import { generateQosKeyPair, loadQosKeyPair, saveQosKeyPair } from "./qos.js";
import type { SavedEnclave } from "./records.js";
import type { Reader } from "./state.js";

/** Replaces another enclave. */
interface Booted {
  readonly key: string;
  readonly saved: SavedEnclave;
}

export class Misbehaviour {
  readonly #fleet: Fleet;
  /** By the key of an honest enclave. Cleared when the faults change. */
  readonly #forged = new Map<string, JsonObject>();
  /** By the key of the replaced enclave. Cleared when the faults change. */
  readonly #running = new Map<string, Booted>();
  /** By their own keys. Never cleared: a boot proof outlives its enclave. */
  readonly #booted = new Map<string, SavedEnclave>();
  #on: readonly { readonly name: FaultName; readonly behaviour: Behaviour }[] = [];

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Throws RangeError for an unknown name. */
  set(names: readonly string[]): void {
    this.#on = [...new Set(names)].map((name) => {
      if (isFaultName(name)) return { name, behaviour: BEHAVIOURS[name] };
      throw new RangeError(`there is no fault ${name}: one of ${FAULTS.map((fault) => fault.name).join(", ")} wanted`);
    });
    this.#forged.clear();
    this.#running.clear();
  }

  get names(): FaultName[] {
    return this.#on.map(({ name }) => name);
  }

  /** Whether the operation returns not found. */
  refuses(operation: string): boolean {
    return this.#on.some(({ behaviour }) => behaviour.refuses?.includes(operation));
  }

  enclaves(honest: readonly EnclaveInfo[], reader: Reader): readonly EnclaveInfo[] {
    return honest.map((info) => ({ ...info, ephemeralKey: this.runningKey(info.ephemeralKey, reader) }));
  }

  /** The replacement's key, in lower-case hex. */
  runningKey(ephemeralKey: string, reader: Reader): string {
    return this.#enclaveNow(ephemeralKey, reader)?.key ?? ephemeralKey;
  }

  /** `ephemeralKey`: lower-case hex. */
  bootProof(ephemeralKey: string, reader: Reader): JsonObject | undefined {
    const booted = this.#booted.get(ephemeralKey);
    if (booted !== undefined) return booted.bootProof;
    const anyKey = this.#on.some(({ behaviour }) => behaviour.anyKey);
    const saved = reader.get("enclaves", ephemeralKey) ?? (anyKey ? reader.all("enclaves").at(-1) : undefined);
    if (saved === undefined || !this.#altersBoot) return saved?.bootProof;
    const made = this.#forged.get(ephemeralKey) ?? this.#forgeBootProof(this.#targetOf(saved, reader));
    this.#forged.set(ephemeralKey, made);
    return made;
  }

  /** As returned by `operation`. */
  activity(honest: JsonObject, operation: string, reader: Reader): JsonObject {
    if (this.#on.length === 0) return honest;
    const sign = (like: JsonObject, payload: JsonObject): JsonObject => this.#signed(like, payload, reader);
    const answering = { honest, operation, reader, sign };
    const altered = this.#on.reduce(
      (activity, { behaviour }) => behaviour.activity?.(activity, answering) ?? activity,
      honest,
    );
    const proofs = altered["appProofs"];
    if (!Array.isArray(proofs)) return altered;
    return { ...altered, appProofs: this.#appProofs(proofs as JsonObject[], answering) };
  }

  get #altersBoot(): boolean {
    return this.#on.some(({ behaviour }) => behaviour.forge !== undefined || behaviour.bootProof !== undefined);
  }

  #appProofs(honest: readonly JsonObject[], answering: Answering): JsonObject[] {
    const moved = this.#altersBoot ? honest.map((proof) => this.#movedTo(proof, answering.reader)) : honest;
    const signed = this.#on.reduce<readonly JsonObject[]>(
      (proofs, { behaviour: { appProof } }) =>
        appProof ? proofs.map((proof) => this.#resigned(proof, appProof, answering)) : proofs,
      moved,
    );
    return [...this.#on.reduce((proofs, { behaviour }) => behaviour.appProofs?.(proofs, answering) ?? proofs, signed)];
  }

  /** Signs the payload with the enclave that replaces the signer. */
  #movedTo(proof: JsonObject, reader: Reader): JsonObject {
    const booted = this.#enclaveNow(String(proof["publicKey"]), reader);
    return booted === undefined ? proof : this.#sign(booted.saved, payloadOf(proof), reader);
  }

  #signed(like: JsonObject, payload: JsonObject, reader: Reader): JsonObject {
    const saved = this.#enclave(String(like["publicKey"]), reader);
    return saved === undefined ? like : this.#sign(saved, payload, reader);
  }

  #sign(saved: SavedEnclave, payload: JsonObject, reader: Reader): JsonObject {
    return this.#fleet.resign(saved, this.#targetOf(saved, reader).release, payload, {});
  }

  #resigned(proof: JsonObject, alter: NonNullable<Behaviour["appProof"]>, answering: Answering): JsonObject {
    const saved = this.#enclave(String(proof["publicKey"]), answering.reader);
    if (saved === undefined) return proof;
    const target = this.#targetOf(saved, answering.reader);
    return this.#fleet.resign(saved, target.release, payloadOf(proof), alter(target, answering));
  }

  #enclave(key: string, reader: Reader): SavedEnclave | undefined {
    return this.#booted.get(key) ?? reader.get("enclaves", key);
  }

  /** Boots the replacement on demand. */
  #enclaveNow(key: string, reader: Reader): Booted | undefined {
    const honest = reader.get("enclaves", key);
    if (honest === undefined || !this.#altersBoot) return undefined;
    const running = this.#running.get(key) ?? this.#boot(honest, reader);
    this.#running.set(key, running);
    return running;
  }

  #boot(honest: SavedEnclave, reader: Reader): Booted {
    const ephemeralKey = generateQosKeyPair();
    const [key, unproven] = [toHex(ephemeralKey.publicKey), { ...honest, key: saveQosKeyPair(ephemeralKey) }];
    const saved = { ...unproven, bootProof: this.#forgeBootProof(this.#targetOf(unproven, reader)) };
    this.#booted.set(key, saved);
    return { key, saved };
  }

  #forgeBootProof(target: TargetEnclave): JsonObject {
    const alterations = this.#on.flatMap(({ behaviour }) => behaviour.forge?.(target) ?? []);
    const { release, at, key, fleet } = target;
    const forged = fleet.forgeBootProof(release, at, key, merged(alterations));
    return this.#on.reduce((proof, { behaviour }) => behaviour.bootProof?.(proof, target) ?? proof, forged);
  }

  #targetOf(saved: SavedEnclave, reader: Reader): TargetEnclave {
    const release = reader.get("releases", saved.enclaveId)!;
    const at = new Date(saved.bootedAt);
    return { release, at, key: loadQosKeyPair(saved.key), forge: this.#fleet.forge(release), fleet: this.#fleet };
  }
}

function isFaultName(name: string): name is FaultName {
  return Object.hasOwn(BEHAVIOURS, name);
}

/** Later alterations win. */
function merged(alterations: readonly Partial<ForgeOptions>[]): Partial<ForgeOptions> {
  return alterations.reduce(
    (before, after) => ({
      ...before,
      ...after,
      alterManifest: { ...before.alterManifest, ...after.alterManifest },
      alterDocument: { ...before.alterDocument, ...after.alterDocument },
    }),
    {},
  );
}
