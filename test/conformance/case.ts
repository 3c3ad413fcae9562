/** A case of the corpus before it is written, and the files that it is written into. */
import { toBase64, toHex, toUtf8 } from "../../src/bytes.js";
import type { CheckId } from "../../src/checks.js";
import type { Expected } from "../../src/index.js";
import type { SignedPolicyCode } from "../../src/signed-policy/index.js";
import type { JsonObject } from "../../src/decode/json.js";
import type { Judged } from "./adapter.mjs";

export type Category = "boot-proof" | "document" | "path" | "app-proof" | "activity" | "policy";

/** Where the evidence comes from: whole as it was found, changed after that, or made by the lab of this repository. */
export type Origin = "genuine" | "altered" | "forged";

/** A case, by what tells it from all others; its evidence is made on demand. */
export interface Case {
  readonly name: string;
  readonly category: Category;
  readonly origin: Origin;
  /** Files of `test-vectors/` that the evidence was taken from. */
  readonly from: readonly string[];
  /** Of a malformed policy, which is refused before any check is asked: none. */
  readonly failed: readonly CheckId[];
  /** More checks may fail than those; the library says which. */
  readonly more?: boolean;
  readonly verdict: Judged["verdict"];
  readonly make: () => CaseInput;
}

/** A case of signed policies, whose keys and signatures are the same in each run. */
export interface SignedCase {
  readonly name: string;
  readonly category: "signed-policy";
  readonly origin: "forged";
  readonly from: readonly string[];
  readonly make: () => CaseFiles;
  readonly expected: () => SignedExpected;
}

/** What a state remembers. */
export interface StateFacts {
  readonly pinned: string;
  readonly version: number;
  readonly sha256: string;
  readonly threshold: number;
  readonly keyids: readonly string[];
}

export type SignedExpected =
  | { readonly verdict: "refused"; readonly code: SignedPolicyCode }
  | {
      readonly verdict: "in-force";
      readonly version: number;
      /** Of the payload. */
      readonly sha256: string;
      /** The status of `policy.current`. */
      readonly current: "pass" | "warn" | "fail";
      readonly signedBy: readonly string[];
      /** The state afterwards, or null for none. */
      readonly state: StateFacts | null;
    };

/** Texts and bytes as they are, anything else as JSON. */
export interface CaseInput {
  readonly bootProofs?: readonly unknown[];
  readonly appProofs?: readonly unknown[];
  readonly activity?: unknown;
  /** The attestation document alone, in place of all others. */
  readonly document?: Uint8Array;
  /** Null: none, any genuine enclave of anybody. */
  readonly policy: JsonObject | string | null;
  readonly anchorPem: string;
  readonly now: Date;
  readonly at?: "document" | "now" | Date | undefined;
  readonly ephemeralKey?: Uint8Array | undefined;
  readonly nonce?: Uint8Array | undefined;
  readonly measurements?: Readonly<Record<number, Uint8Array>> | undefined;
  readonly question?: Expected | undefined;
  readonly allowDebug?: boolean | undefined;
}

/** The contents of a case's folder, but for the expectation. */
export interface CaseFiles {
  readonly input: JsonObject;
  readonly pieces: ReadonlyMap<string, Uint8Array>;
}

export function filesOf(made: CaseInput): CaseFiles {
  const pieces = new Map<string, Uint8Array>();
  const file = (name: string, content: unknown): string => (pieces.set(name, contentOf(content)), name);
  const list = (name: string, contents: readonly unknown[] = []): string[] =>
    contents.map((content, index) => file(`${name}-${index}.json`, content));
  const input = {
    bootProofs: list("boot-proof", made.bootProofs),
    appProofs: list("app-proof", made.appProofs),
    activity: made.activity === undefined ? null : file("activity.json", made.activity),
    document: made.document === undefined ? null : file("document.base64", toBase64(made.document)),
    policy: made.policy === null ? null : file("policy.json", made.policy),
    trustAnchors: [file("trust-anchor.pem", made.anchorPem)],
    now: made.now.toISOString(),
    at: made.at instanceof Date ? made.at.toISOString() : (made.at ?? "document"),
    ephemeralKey: made.ephemeralKey === undefined ? null : toHex(made.ephemeralKey),
    nonce: made.nonce === undefined ? null : toHex(made.nonce),
    measurements: made.measurements === undefined ? null : hexValues(made.measurements),
    question: made.question === undefined ? null : questionOf(made.question),
    allowDebug: made.allowDebug ?? false,
  };
  return { input, pieces };
}

function contentOf(content: unknown): Uint8Array {
  if (content instanceof Uint8Array) return content;
  return toUtf8(typeof content === "string" ? content : JSON.stringify(content));
}

function hexValues(values: Readonly<Record<number, Uint8Array>>): JsonObject {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, toHex(value)]));
}

function questionOf({ organizationId, id, type, parameters, requestedAt, addresses, payload }: Expected): JsonObject {
  return {
    organizationId: organizationId ?? null,
    id: id ?? null,
    type: type ?? null,
    parameters: (parameters as JsonObject | undefined) ?? null,
    requestedAt: requestedAt === undefined ? null : new Date(requestedAt).toISOString(),
    addresses: addresses === undefined ? null : [...addresses],
    ...(payload !== undefined && { payload: payload as unknown as JsonObject[] }),
  };
}
