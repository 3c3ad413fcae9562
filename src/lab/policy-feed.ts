/** The honest feed of a signed policy (signed-policy/README.md), and versions of it with anything wrong. */
import { createHash } from "node:crypto";
import type { JsonObject } from "../decode/json.js";
import type { PolicySigners } from "../signed-policy/index.js";
import { type Digest, type KeyPair, generateKeyPair, signDer, subjectPublicKeyInfo } from "./keys.js";

export const PAYLOAD_TYPE = "application/vnd.bootproof.signed-policy+json";
const NAME = "lab";
const VALID_MS = 30 * 86_400_000;

export type LabSigner = readonly [pair: KeyPair, digest: Digest | null];

export const newTeam = (): LabSigner[] => [
  [generateKeyPair("prime256v1"), "sha256"],
  [generateKeyPair("secp384r1"), "sha384"],
  [generateKeyPair("ed25519"), null],
];

interface LabVersion {
  readonly line: string;
  readonly members: JsonObject & { readonly version: number; readonly issuedAt: string };
  readonly sha256: string;
  /** Who signs the version after this one. */
  readonly team: readonly LabSigner[];
}

export interface VersionChanges {
  readonly members?: JsonObject;
  readonly team?: readonly LabSigner[];
  readonly by?: readonly LabSigner[];
  readonly envelope?: (text: string) => string;
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

function setOf(team: readonly LabSigner[]): { threshold: number; keys: string[] } {
  const body = (pair: KeyPair): string => Buffer.from(subjectPublicKeyInfo(pair)).toString("base64");
  const keys = team.map(([pair]) => `-----BEGIN PUBLIC KEY-----\n${body(pair)}\n-----END PUBLIC KEY-----\n`);
  return { threshold: 2, keys };
}

export function timesFrom(
  issued: number,
  validMs = VALID_MS,
): { readonly issuedAt: string; readonly expiresAt: string } {
  return { issuedAt: new Date(issued).toISOString(), expiresAt: new Date(issued + validMs).toISOString() };
}

/** The signed policy of a lab: two versions at its start. */
export interface LabPolicyFeed {
  /** What a consumer pins. */
  readonly signers: PolicySigners;
  /**
   * Publishes the lab's policy as it is now, for 30 days or `validMs`. With `rotate` a new key replaces the first one.
   * Returns the version.
   */
  publish(options?: { readonly rotate?: boolean; readonly validMs?: number }): number;
}

export class PolicyFeed implements LabPolicyFeed {
  readonly #first = newTeam();
  readonly signers: PolicySigners = { name: NAME, ...setOf(this.#first) };
  readonly now: () => Date;
  /** Counts reads of a feed that changes. */
  reads = 0;
  readonly #policy: () => JsonObject;
  readonly #made: LabVersion[] = [];

  constructor(policy: () => JsonObject, now: () => Date) {
    [this.#policy, this.now] = [policy, now];
  }

  /** The versions. The first two are made when somebody first wants them, since few do. */
  get #versions(): LabVersion[] {
    while (this.#made.length < 2) this.#made.push(this.next({}, this.#made.at(-1) ?? null));
    return this.#made;
  }

  /** Who signs the next version. */
  get team(): readonly LabSigner[] {
    return this.#versions.at(-1)?.team ?? this.#first;
  }

  get text(): string {
    return this.#versions.map(({ line }) => line).join("");
  }

  /** The feed without its newest version. */
  get older(): string {
    return this.text.slice(0, -this.#versions.at(-1)!.line.length);
  }

  publish({ rotate = false, validMs }: { readonly rotate?: boolean; readonly validMs?: number } = {}): number {
    const team = rotate ? [...this.team.slice(1), newTeam()[0]!] : this.team;
    const by = [...new Set([...this.team, ...team])];
    this.#versions.push(this.next({ team, by, members: timesFrom(this.now().getTime(), validMs) }));
    return this.#versions.length;
  }

  /** Returns another version of the newest one's number. */
  other(): LabVersion {
    return this.next({ members: { policy: { ...this.#policy(), name: "other" } } }, this.#versions.at(-2)!);
  }

  /** Returns a version that follows `before`. All keys in force sign it, unless that is changed. */
  next(changes: VersionChanges, before: LabVersion | null = this.#versions.at(-1)!): LabVersion {
    const inForce = before?.team ?? this.#first;
    const { team = inForce, by = inForce, envelope = (text: string): string => text } = changes;
    const members = {
      signedPolicy: "bootproof-signed-policy/1",
      name: NAME,
      version: (before?.members.version ?? 0) + 1,
      previous: before?.sha256 ?? null,
      ...timesFrom(this.now().getTime()),
      signers: setOf(team),
      policy: this.#policy(),
      ...changes.members,
    };
    const payload = Buffer.from(JSON.stringify(members));
    const pae = Buffer.from(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} ${payload.toString()}`);
    const signatures = by.map(([pair, digest]) => ({
      keyid: sha256(subjectPublicKeyInfo(pair)),
      sig: Buffer.from(signDer(pair, digest, pae)).toString("base64"),
    }));
    const text = JSON.stringify({ payloadType: PAYLOAD_TYPE, payload: payload.toString("base64"), signatures });
    return { line: `${envelope(text)}\n`, members, sha256: sha256(payload), team };
  }
}
