/** Each verifier of bare documents as one function: a document in base64, the time, and the root's SHA-256. */
import { readFileSync } from "node:fs";

const AWS_ROOT = "641a0321a3e244efe456463195d606317ed7cdcc3c1756e09893f3c68f79bb5b";

export const verifiers = {
  /** It reads the clock and has the root built in, so the clock is set for it. It prints why it refuses. */
  async evervault() {
    const library = await import("@evervault/wasm-attestation-bindings");
    const wasm = new URL("./node_modules/@evervault/wasm-attestation-bindings/index_bg.wasm", import.meta.url);
    library.initSync({ module: readFileSync(wasm) });
    const { now } = Date;
    console.error = () => {};
    return (base64, time, root) => {
      if (root !== AWS_ROOT) throw Object.assign(new Error(), { unsupported: "has the AWS root built in" });
      Date.now = () => time.getTime();
      try {
        return library.validateAttestationDocPcrs(base64, []);
      } finally {
        Date.now = now;
      }
    };
  },
  async "tee-verifier"() {
    globalThis.window ??= globalThis;
    const { SignedAttestation } = await import("@0xsequence/tee-verifier");
    return async (base64, time, root) => {
      const document = SignedAttestation.fromDocument(base64);
      const answers = [await document.verifySignature(), await document.verifyRootOfTrust(time)];
      return answers.every(Boolean) && (await document.rootCertFingerprint()) === root;
    };
  },
};
