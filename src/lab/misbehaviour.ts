/**
 * The side of the service that answers: honest while no fault is on. While one is, answers are altered on their way
 * out, and what the service knows stays as it is. A fault of the boot runs on enclaves of its own: booted for it, with
 * keys that nothing else has, so that a client that rightly remembers the boot proofs that it verified meets it too.
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

/** An enclave that a fault has booted in the place of another, with the boot proof that is answered for it. */
interface Booted {
  /** In lower-case hex. */
  readonly key: string;
  readonly saved: SavedEnclave;
}

export class Misbehaviour {
  readonly #fleet: Fleet;
  /** Boot proofs under the key that was asked for: of honest enclaves, for as long as the faults are the same. */
  readonly #forged = new Map<string, JsonObject>();
  /** By the key of the enclave in whose place each runs, for as long as the faults are the same. */
  readonly #running = new Map<string, Booted>();
  /** All of them, by their own key: a boot proof stays when its enclave is gone. */
  readonly #booted = new Map<string, SavedEnclave>();
  #on: readonly { readonly name: FaultName; readonly behaviour: Behaviour }[] = [];

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Turns these faults on and all others off. Throws RangeError for a name that is none. */
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

  /** Whether the operation is answered as if there were nothing to be found. */
  refuses(operation: string): boolean {
    return this.#on.some(({ behaviour }) => behaviour.refuses?.includes(operation));
  }

  /** Those that run instead, while a fault of the boot is on. */
  enclaves(honest: readonly EnclaveInfo[], reader: Reader): readonly EnclaveInfo[] {
    return honest.map((info) => ({ ...info, ephemeralKey: this.runningKey(info.ephemeralKey, reader) }));
  }

  /** The key, in lower-case hex, of what runs in the place of the enclave of this key. */
  runningKey(ephemeralKey: string, reader: Reader): string {
    return this.#enclaveNow(ephemeralKey, reader)?.key ?? ephemeralKey;
  }

  /** What is answered as the boot proof of a key, in lower-case hex; undefined where no enclave has it. */
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

  /** What an activity is answered as, its app proofs inside it; `operation`: the one that it is the answer to. */
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

  /** The proof as the enclave would have signed it that runs in the place of its own. */
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

  /**
   * What runs in the place of an enclave: booted now, where it is the first time that it is needed under these faults.
   */
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

/** All of the alterations; where two alter the same thing, the later one does. */
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
