/**
 * Alters responses, but not the state of the service. If a fault alters boots, new enclaves boot with it, so that
 * clients with cached boot proofs detect the fault, too.
 */
import { toHex } from "../bytes.js";
import type { JsonObject } from "../decode/json.js";
import {
  type Answering,
  type AuthAnswering,
  type Behaviour,
  type Listing,
  type TargetEnclave,
  VERIFIED_CALLS,
  faultNamed,
  payloadOf,
} from "./behaviour.js";
import { appProofBy } from "./enclave.js";
import type { ApplicationFaultName, FaultName } from "./faults.js";
import { LIES } from "./lies.js";
import { type Fleet, type ReplicaInfo, setupOptions } from "./fleet.js";
import type { ForgeOptions } from "./forge.js";
import type { PolicyFeed } from "./policy-feed.js";
import { generateQosKeyPair } from "./qos.js";
import type { SavedEnclave } from "./records.js";
import { isApp, releaseId } from "./release.js";
import type { Reader } from "./state.js";

/** An enclave that runs in place of an honest one. */
interface Booted {
  readonly key: string;
  readonly saved: SavedEnclave;
}

interface Switched {
  readonly name: FaultName;
  readonly behaviour: Behaviour;
}

export class Misbehaviour {
  readonly #fleet: Fleet;
  /** Map from an honest enclave's key to its forged boot proof. It is cleared when the faults change. */
  readonly #forged = new Map<string, JsonObject>();
  /** Replacements by the key of the honest enclave. Cleared when the faults change. */
  readonly #running = new Map<string, Booted>();
  /**
   * Replacements by their own keys. Never cleared, since a boot proof remains available after its enclave has ended.
   */
  readonly #booted = new Map<string, SavedEnclave & { readonly bootProof: JsonObject }>();
  #on: readonly Switched[] = [];

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Turns these faults on and all others off. Throws RangeError for an unknown name. */
  set(names: readonly string[]): void {
    this.#on = [...new Set(names)].map((name) => ({
      name: name as FaultName,
      behaviour: faultNamed<FaultName, Behaviour>(LIES, name),
    }));
    this.#forged.clear();
    this.#running.clear();
  }

  get names(): FaultName[] {
    return this.#on.map(({ name }) => name);
  }

  feed(honest: PolicyFeed): string | Promise<string> {
    return this.#on.find(({ behaviour }) => behaviour.feed)?.behaviour.feed!(honest) ?? honest.text;
  }

  /** The lie of all the caller's applications. */
  get ofApplications(): ApplicationFaultName | null {
    const found = this.#on.find(({ behaviour }) => behaviour.application);
    return (found?.name ?? null) as ApplicationFaultName | null;
  }

  /** Returns whether the operation must respond with not found. */
  refuses(operation: string): boolean {
    return this.#on.some(({ behaviour }) => behaviour.refuses?.includes(operation));
  }

  enclaves<T extends ReplicaInfo>(honest: readonly T[], reader: Reader): readonly T[] {
    return honest.map((info) => ({ ...info, ephemeralKey: this.runningKey(info.ephemeralKey, reader) }));
  }

  /** Returns the key of the enclave that runs in place of the one with this key, in lower-case hex. */
  runningKey(ephemeralKey: string, reader: Reader): string {
    return this.#enclaveNow(ephemeralKey, reader)?.key ?? ephemeralKey;
  }

  /** Returns the boot proof of a key in lower-case hex, with the faults that are on. */
  bootProof(ephemeralKey: string, reader: Reader): JsonObject | undefined {
    const booted = this.#booted.get(ephemeralKey);
    if (booted !== undefined) return booted.bootProof;
    const anyKey = this.#on.some(({ behaviour }) => behaviour.anyKey);
    const any = anyKey ? reader.all("enclaves").filter(({ app }) => isApp(app)) : [];
    const saved = reader.get("enclaves", ephemeralKey) ?? any.at(-1);
    if (saved === undefined || !this.#altersBoot) return saved && this.#fleet.bootProof(saved, reader);
    const made = this.#forged.get(ephemeralKey) ?? this.#forgeLive(saved, reader);
    this.#forged.set(ephemeralKey, made);
    return made;
  }

  /** Returns the enclave that runs in place of this one, or this one if no fault alters boots. */
  running(honest: SavedEnclave, reader: Reader): SavedEnclave {
    return this.#enclaveNow(toHex(honest.key.publicKey), reader)?.saved ?? honest;
  }

  /** Returns the boot proof of the enclave's setup key, made before the shares arrived. */
  setupProof(honest: SavedEnclave, reader: Reader): JsonObject {
    const saved = this.running(honest, reader);
    if (!this.#altersBoot) return this.#fleet.setupProof(saved, reader);
    const key = saved.setupKey!;
    const id = toHex(key.publicKey);
    const target = { ...this.#targetOf(saved, reader), key };
    const made = this.#forged.get(id) ?? this.#forgeBootProof(target, setupOptions(saved.key));
    this.#forged.set(id, made);
    return made;
  }

  /** Returns the activity with the faults that are on. `operation` names the operation that returns the activity. */
  activity(honest: JsonObject, operation: string, reader: Reader): JsonObject {
    if (this.#on.length === 0) return honest;
    const sign = (like: JsonObject, payload: JsonObject): JsonObject => this.#signed(like, payload, reader);
    const answering = { honest, operation, reader, sign };
    const showing = this.#showing(operation, honest);
    return this.#withAppProofs(
      altered(showing, honest, ({ activity }, before) => activity?.(before, answering)),
      answering,
    );
  }

  /** Returns the answer of the auth proxy with the faults that are on, those of boots and app proofs included. */
  auth(honest: JsonObject, call: Omit<AuthAnswering, "sign" | "key">): JsonObject {
    const sign: Answering["sign"] = (like, payload) => this.#signed(like, payload, call.reader);
    const answering = { ...call, sign, key: this.#fleet.quorumKey };
    const answer = altered(this.#showing(call.operation), honest, ({ auth }, before) => auth?.(before, answering));
    return this.#withAppProofs(answer, { ...answering, honest });
  }

  /** Returns the items of a list with the faults that are on. */
  list(honest: readonly JsonObject[], listing: Listing): readonly JsonObject[] {
    if (honest.length === 0) return honest;
    return altered(this.#showing(listing.operation), honest, ({ list }, items) => list?.(items, listing));
  }

  pageStart(honest: number, operation: string): number {
    return altered(this.#showing(operation), honest, ({ pageStart }, start) => pageStart?.(start));
  }

  /** Returns the lies that the operation shows, or any answer with an activity that its submit shows. */
  #showing(operation: string, { type }: JsonObject = {}): Switched[] {
    const submit = String(type)
      .replace("ACTIVITY_TYPE_", "")
      .replace(/_V\d+$/, "")
      .toLowerCase();
    return this.#on.filter(({ behaviour: { needs = [] } }) => {
      const operations = needs.filter((one) => one !== VERIFIED_CALLS);
      return operations.length === 0 || operations.some((one) => one === operation || one === submit);
    });
  }

  get #altersBoot(): boolean {
    return this.#on.some(({ behaviour }) => behaviour.forge !== undefined || behaviour.bootProof !== undefined);
  }

  #withAppProofs(answer: JsonObject, answering: Answering): JsonObject {
    const proofs = answer["appProofs"];
    if (!Array.isArray(proofs)) return answer;
    return { ...answer, appProofs: this.#appProofs(proofs as JsonObject[], answering) };
  }

  #appProofs(honest: readonly JsonObject[], answering: Answering): JsonObject[] {
    const moved = this.#altersBoot ? honest.map((proof) => this.#movedTo(proof, answering.reader)) : honest;
    const showing = this.#showing(answering.operation, answering.honest);
    const signed = altered(
      showing,
      moved,
      ({ appProof }, proofs) => appProof && proofs.map((proof) => this.#resigned(proof, appProof, answering)),
    );
    return [...altered(showing, signed, ({ appProofs }, proofs) => appProofs?.(proofs, answering))];
  }

  /** Signs the payload again, with the enclave that replaces the signer. */
  #movedTo(proof: JsonObject, reader: Reader): JsonObject {
    const booted = this.#enclaveNow(String(proof["publicKey"]), reader);
    return booted === undefined ? proof : appProofBy(booted.saved.key, payloadOf(proof));
  }

  #signed(like: JsonObject, payload: JsonObject, reader: Reader): JsonObject {
    const saved = this.#enclave(String(like["publicKey"]), reader);
    return saved === undefined ? like : appProofBy(saved.key, payload);
  }

  #resigned(proof: JsonObject, alter: NonNullable<Behaviour["appProof"]>, answering: Answering): JsonObject {
    const saved = this.#enclave(String(proof["publicKey"]), answering.reader);
    if (saved === undefined) return proof;
    return appProofBy(saved.key, payloadOf(proof), alter(this.#targetOf(saved, answering.reader), answering));
  }

  #enclave(key: string, reader: Reader): SavedEnclave | undefined {
    return this.#booted.get(key) ?? reader.get("enclaves", key);
  }

  /** Returns the replacement of an enclave, and boots it if needed. Undefined if no fault alters boots. */
  #enclaveNow(key: string, reader: Reader): Booted | undefined {
    const honest = reader.get("enclaves", key);
    if (honest === undefined || !this.#altersBoot) return undefined;
    const running = this.#running.get(key) ?? this.#boot(honest, reader);
    this.#running.set(key, running);
    return running;
  }

  #boot(honest: SavedEnclave, reader: Reader): Booted {
    const ephemeralKey = generateQosKeyPair();
    const [key, unproven] = [toHex(ephemeralKey.publicKey), { ...honest, key: ephemeralKey }];
    this.#booted.set(key, { ...unproven, bootProof: this.#forgeLive(unproven, reader) });
    return { key, saved: unproven };
  }

  #forgeLive(saved: SavedEnclave, reader: Reader): JsonObject {
    const { setupKey } = saved;
    return this.#forgeBootProof(this.#targetOf(saved, reader), setupKey && { otherKey: setupKey });
  }

  #forgeBootProof(target: TargetEnclave, honest: Partial<ForgeOptions> = {}): JsonObject {
    const alterations = this.#on.flatMap(({ behaviour }) => behaviour.forge?.(target) ?? []);
    const { release, at, key, fleet } = target;
    const forged = fleet.forgeBootProof(release, at, key, merged([honest, ...alterations]));
    return altered(this.#on, forged, ({ bootProof }, proof) => bootProof?.(proof, target));
  }

  #targetOf(saved: SavedEnclave, reader: Reader): TargetEnclave {
    const release = reader.get("releases", releaseId({ app: saved.app, name: saved.release }))!;
    const at = new Date(saved.bootedAt);
    return { release, at, key: saved.key, forge: this.#fleet.forge(release), fleet: this.#fleet };
  }
}

/** Returns what the lies make of a value, one after the other. */
function altered<T>(
  lies: readonly Switched[],
  honest: T,
  alter: (behaviour: Behaviour, before: T) => T | undefined,
): T {
  return lies.reduce((before, { behaviour }) => alter(behaviour, before) ?? before, honest);
}

/** Merges alterations. Later ones win. */
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
