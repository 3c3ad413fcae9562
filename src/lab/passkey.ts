/** A software passkey, for use instead of `navigator.credentials`. */
import { randomBytes } from "node:crypto";
import { concatBytes, equalBytes, toHex, toUtf8 } from "../bytes.js";
import { copyPlain } from "../decode/input.js";
import { type KeyPair, generateKeyPair, publicPoint, signDer } from "./keys.js";
import { sha256 } from "./qos.js";

export interface PasskeyRegistration {
  /** The id in base64url. */
  readonly credentialId: string;
  /** The uncompressed P-256 point, 65 bytes, in hex. */
  readonly publicKey: string;
  /** Domain of the relying party. If present, the service accepts no other. */
  readonly rpId?: string;
}

/** The options of WebAuthn level 2, section 5.5. */
interface AssertionOptions {
  readonly publicKey?: {
    readonly challenge: ArrayBuffer | ArrayBufferView;
    readonly rpId?: string;
    readonly allowCredentials?: readonly { readonly id: ArrayBuffer | ArrayBufferView }[];
  };
}

interface Assertion {
  readonly id: string;
  readonly rawId: ArrayBuffer;
  readonly type: "public-key";
  readonly response: {
    readonly authenticatorData: ArrayBuffer;
    readonly clientDataJSON: ArrayBuffer;
    readonly signature: ArrayBuffer;
    readonly userHandle: null;
  };
  /** Returns no extension results. It exists because some clients call it. */
  getClientExtensionResults(): Readonly<Record<string, never>>;
}

const USER_PRESENT_AND_VERIFIED = 0x05;

export class SoftwarePasskey implements PasskeyRegistration {
  readonly rpId: string;
  readonly origin: string;
  readonly credentialId: string;
  readonly #id = randomBytes(16);
  readonly #key: KeyPair = generateKeyPair("prime256v1");

  constructor(rpId = "localhost", origin = `https://${rpId}`) {
    this.rpId = rpId;
    this.origin = origin;
    this.credentialId = this.#id.toString("base64url");
  }

  get publicKey(): string {
    return toHex(publicPoint(this.#key));
  }

  /**
   * Acts as `navigator.credentials.get` with a user who always agrees. Rejects with NotAllowedError if only other
   * passkeys are allowed.
   */
  async get(options: AssertionOptions): Promise<Assertion> {
    const own = copyPlain(options.publicKey!);
    const { challenge: wanted, rpId = this.rpId, allowCredentials = [] } = own;
    const isAllowed =
      allowCredentials.length === 0 || allowCredentials.some(({ id }) => equalBytes(bytesOf(id), this.#id));
    if (rpId !== this.rpId || !isAllowed)
      throw new DOMException("this authenticator has none of the requested passkeys", "NotAllowedError");
    const challenge = bytesOf(wanted);
    const clientData = {
      type: "webauthn.get",
      challenge: Buffer.from(challenge).toString("base64url"),
      origin: this.origin,
      crossOrigin: false,
    };
    const clientDataJSON = toUtf8(JSON.stringify(clientData));
    const authenticatorData = concatBytes(
      sha256(toUtf8(this.rpId)),
      Uint8Array.of(USER_PRESENT_AND_VERIFIED, 0, 0, 0, 0),
    );
    const signature = signDer(this.#key, "sha256", concatBytes(authenticatorData, sha256(clientDataJSON)));
    return {
      id: this.credentialId,
      rawId: bufferOf(this.#id),
      type: "public-key",
      response: {
        authenticatorData: bufferOf(authenticatorData),
        clientDataJSON: bufferOf(clientDataJSON),
        signature: bufferOf(signature),
        userHandle: null,
      },
      getClientExtensionResults: () => ({}),
    };
  }
}

function bytesOf(source: ArrayBuffer | ArrayBufferView): Uint8Array {
  return source instanceof ArrayBuffer
    ? new Uint8Array(source)
    : new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
}

export function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
