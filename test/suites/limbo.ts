/**
 * x509-limbo's cases, asked of this verifier: each is a certificate path, and the path of an attestation document here
 * is stated by the document. So one is made for each way from the trusted certificates down to the peer's, signed with
 * the peer's key at the case's time, and judged as anybody's would be.
 */
import { createPrivateKey } from "node:crypto";
import { equalBytes, fromBase64 } from "../../src/bytes.js";
import type { CheckId } from "../../src/checks.js";
import { type Certificate, decodeCertificate } from "../../src/decode/certificate.js";
import { attempt } from "../../src/errors.js";
import { NO_POLICY_ANY_ENCLAVE, type TrustAnchor, verifyAttestation } from "../../src/index.js";
import { type KeyPair, generateKeyPair, signRaw } from "../../src/lab/keys.js";
import { type CborInput, encodeCbor } from "../support/cbor.js";
import { readVectorJson } from "../support/vectors.js";
import { readSuite } from "./data.js";

export interface LimboCase {
  readonly id: string;
  readonly features: readonly string[];
  readonly validation_time: string | null;
  readonly expected_result: "SUCCESS" | "FAILURE";
  /** DER in base64, as the two beside it. */
  readonly trusted_certs: readonly string[];
  readonly untrusted_intermediates: readonly string[];
  readonly peer_certificate: string;
  /** PEM. Null: the case is of a certificate that somebody else made. */
  readonly peer_certificate_key: string | null;
}

/** A row of `x509-limbo.decisions.json`. */
export interface LimboRow {
  readonly expected: LimboCase["expected_result"];
  readonly ours: "accepted" | "refused";
  /** What fails of the best path; where no certificate of the case can be an anchor here, that it cannot. */
  readonly fails: readonly (CheckId | "trust-anchor")[];
  /** Where the two differ: the name of a sentence in `reasons`. */
  readonly because?: string;
}

export const limboCases = (): LimboCase[] => readSuite("x509-limbo-p384.json.gz");

export const limboDecisions = (): { reasons: Record<string, string>; cases: Record<string, LimboRow> } =>
  readVectorJson("suites/x509-limbo.decisions.json");

/** Where a case names no time. */
const ANY_TIME = new Date("2025-01-01T00:00:00Z");
/** Where a hundred certificates have one name, not every order of them is a way of its own worth asking. */
const MAX_STEPS = 200;
const MAX_LENGTH = 24;
/** Signs where the case has no key of P-384: then the signature of the document is not asked about. */
const nobody = generateKeyPair("secp384r1");

type Answer = Pick<LimboRow, "ours" | "fails">;

export async function askedOf(limbo: LimboCase): Promise<Answer> {
  const answers: Answer[] = [];
  for (const path of pathsOf(limbo)) answers.push(await askedOfPath(limbo, path));
  const [best] = answers.toSorted((a, b) => worth(a) - worth(b));
  return best!;
}

/** A path of good links first: what fails of it is what the case is about. */
function worth({ fails }: Answer): number {
  return fails.length + (fails.includes("chain.signature") ? 10 : 0);
}

const der = (base64: string): Uint8Array => fromBase64(base64)!;

/** Every way by names, root first; where there is none, all that is there, in the order in which it stands. */
function pathsOf(limbo: LimboCase): Uint8Array[][] {
  const trusted = limbo.trusted_certs.map(der);
  const between = limbo.untrusted_intermediates.map(der);
  const peer = der(limbo.peer_certificate);
  const paths: Uint8Array[][] = [];
  let steps = 0;
  const climb = (path: readonly Uint8Array[]): void => {
    if (++steps > MAX_STEPS || path.length > MAX_LENGTH) return;
    for (const root of trusted) if (isNamed(path[0]!, root)) paths.push([root, ...path]);
    for (const next of between) {
      if (!path.includes(next) && isNamed(path[0]!, next)) climb([next, ...path]);
    }
  };
  climb([peer]);
  return paths.length > 0 ? paths : [[trusted[0]!, ...between, peer]];
}

/** Whether `lower` names `upper` as its issuer. What cannot be read may be anything. */
function isNamed(lower: Uint8Array, upper: Uint8Array): boolean {
  const [below, above] = [decoded(lower), decoded(upper)];
  return below === undefined || above === undefined || equalBytes(below.issuer, above.subject);
}

const known = new WeakMap<Uint8Array, { readonly value: Certificate | undefined }>();

function decoded(certificate: Uint8Array): Certificate | undefined {
  const held = known.get(certificate) ?? attempt(() => decodeCertificate(certificate));
  known.set(certificate, held);
  return held.value;
}

async function askedOfPath(limbo: LimboCase, path: readonly Uint8Array[]): Promise<Answer> {
  const anchors = limbo.trusted_certs.flatMap((certificate): TrustAnchor[] => {
    const value = decoded(der(certificate));
    return value === undefined ? [] : [{ name: "limbo", certificate: value }];
  });
  if (anchors.length === 0) return { ours: "refused", fails: ["trust-anchor"] };
  const at = limbo.validation_time === null ? ANY_TIME : new Date(limbo.validation_time);
  const key = p384KeyOf(limbo);
  const { report, attestation } = await verifyAttestation(documentOf(path, key ?? nobody, at), {
    policy: NO_POLICY_ANY_ENCLAVE,
    trustAnchors: anchors,
    now: at,
  });
  const fails = report.checks
    .filter(({ id, status }) => status === "fail" && !(key === null && id === "cose.signature"))
    .map(({ id }) => id);
  if (key !== null && (attestation === null) !== fails.length > 0)
    throw new Error(`${limbo.id}: ${report.verdict}, with the failures ${fails.join(", ")}`);
  return { ours: fails.length === 0 ? "accepted" : "refused", fails: [...new Set(fails)].sort() };
}

function p384KeyOf({ peer_certificate_key: pem }: LimboCase): KeyPair | null {
  if (pem === null) return null;
  const privateKey = createPrivateKey(pem);
  return privateKey.asymmetricKeyDetails?.namedCurve === "secp384r1"
    ? { pkcs8: privateKey.export({ type: "pkcs8", format: "der" }) }
    : null;
}

/** A document that is right in everything but, perhaps, its path. */
function documentOf(path: readonly Uint8Array[], leaf: KeyPair, at: Date): Uint8Array {
  const pcrs = Array.from({ length: 16 }, (_, index) => [index, new Uint8Array(48).fill(index + 1)] as const);
  const payload = encodeCbor(
    new Map<CborInput, CborInput>([
      ["module_id", "i-0123456789abcdef0-enc0123456789abcdef"],
      ["digest", "SHA384"],
      ["timestamp", at.getTime()],
      ["pcrs", new Map(pcrs)],
      ["certificate", path.at(-1)!],
      ["cabundle", path.slice(0, -1)],
      ["public_key", null],
      ["user_data", null],
      ["nonce", null],
    ]),
  );
  const header = encodeCbor(new Map([[1, -35]]));
  const signature = signRaw(leaf, "sha384", encodeCbor(["Signature1", header, new Uint8Array(), payload]));
  return encodeCbor([header, new Map(), payload, signature]);
}
