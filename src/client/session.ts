/** Sessions. The service makes a temporary key, and encrypts it to a key pair that is made here. */
import { typedOptions } from "../decode/options.js";
import { toHex } from "../bytes.js";
import { copyPlain } from "../decode/input.js";
import { openBundle } from "./credential-bundle.js";
import type { WebKeyPair } from "../door/platform.js";
import type { CallOptions } from "../door/evidence-source.js";
import { CALL_OPTIONS } from "./requests.js";
import { ClientError } from "../door/errors.js";
import type { SubmitParameters, SubmitResult } from "./operations.js";
import { importSigningPair, publicPointOf, subtleCrypto } from "./p256.js";
import { type Stamper, apiKeyStamper } from "./stamp.js";

/** The key pair to which a session's key is encrypted. Its private key cannot be exported. */
export interface SessionTarget {
  /** The uncompressed point in hex, for the parameter `targetPublicKey`. */
  readonly publicKey: string;
  /** Opens a `credentialBundle` sealed to this target. Rejects with {@link ClientError} (`bundle`). */
  open(credentialBundle: string): Promise<SessionKey>;
}

/** The session's key. The pair is non-extractable, and can be stored, for example in IndexedDB. */
export interface SessionKey {
  readonly keyPair: WebKeyPair;
  readonly stamper: Stamper;
}

export async function createSessionTarget(): Promise<SessionTarget> {
  const subtle = subtleCrypto();
  const pair = await subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, false, ["deriveBits"]);
  const publicKey = toHex(new Uint8Array(await subtle.exportKey("raw", pair.publicKey)));
  return { publicKey, open: (credentialBundle) => openCredentialBundle(credentialBundle, pair) };
}

/**
 * Opens a `credentialBundle`. `target` is the pair to which it was encrypted: an ECDH pair of P-256 with the usage
 * `deriveBits`. Rejects with {@link ClientError} (`bundle`).
 */
export async function openCredentialBundle(credentialBundle: string, target: WebKeyPair): Promise<SessionKey> {
  const privateKey = await openBundle(credentialBundle, target);
  const point = await publicPointOf(privateKey);
  if (point === null) throw new ClientError("bundle", "the bundle holds no private key of P-256");
  const keyPair = await importSigningPair(privateKey, point);
  privateKey.fill(0);
  return { keyPair, stamper: await apiKeyStamper(keyPair) };
}

interface SessionOpener<Answer> {
  createReadWriteSession(
    parameters: SubmitParameters<"createReadWriteSession">,
    options?: CallOptions,
  ): Promise<Answer>;
}

/**
 * Creates a session and opens its key. Resolves to the response of `createReadWriteSession`, to which `session` is
 * added. Rejects with {@link ClientError} (`answer`) if the activity is not completed.
 */
export async function openSession<Answer extends { readonly result: SubmitResult<"createReadWriteSession"> | null }>(
  client: SessionOpener<Answer>,
  parameters: Omit<SubmitParameters<"createReadWriteSession">, "targetPublicKey">,
  options?: CallOptions,
): Promise<Answer & { readonly session: SessionKey }> {
  const given = copyPlain(parameters);
  const call = options && typedOptions("options", options, CALL_OPTIONS);
  const target = await createSessionTarget();
  const answer = await client.createReadWriteSession({ ...given, targetPublicKey: target.publicKey }, call);
  if (answer.result === null) {
    throw new ClientError("answer", "the session is not there yet: its activity is not completed", {
      operation: "create_read_write_session",
      effect: "unknown",
    });
  }
  return { ...answer, session: await target.open(answer.result.credentialBundle) };
}
