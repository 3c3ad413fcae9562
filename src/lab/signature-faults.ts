/** Faults of signatures by the service's keys. */
import { toHex, toUtf8 } from "../bytes.js";
import type { JsonObject, JsonValue } from "../decode/json.js";
import { OTHER_SEED, inside, ofResult, soleMember } from "./answer-faults.js";
import { type AlterActivity, VERIFIED_CALLS, behaviours } from "./behaviour.js";
import { sha256 } from "./qos.js";
import type { Reader } from "./state.js";
import { keyOf, signedPayload, signedTransaction } from "./signing.js";
import { type WalletKey, keyAt } from "./wallet.js";

type SignedPayload = Parameters<typeof signedPayload>[1];
type AlterSignature = (key: WalletKey, intent: SignedPayload, honest: JsonObject) => JsonObject;

function signaturesIn(activity: JsonObject): JsonObject[] {
  return soleMember(activity, "result")["signatures"] as JsonObject[];
}

function signerOf(activity: JsonObject, reader: Reader): WalletKey {
  return keyOf(reader, String(activity["organizationId"]), String(soleMember(activity, "intent")["signWith"]));
}

/** Alters each signature over a payload. */
function ofSignatures(alter: AlterSignature): AlterActivity {
  return (activity, { reader }) => {
    if (!String(activity["type"]).startsWith("ACTIVITY_TYPE_SIGN_RAW_PAYLOAD")) return activity;
    const [key, intent] = [signerOf(activity, reader), soleMember(activity, "intent")];
    const altered = (payload: JsonValue, honest: JsonObject): JsonObject =>
      alter(key, { ...intent, payload } as unknown as SignedPayload, honest);
    const { payload, payloads } = intent;
    if (!Array.isArray(payloads)) return inside("result", altered(payload!, soleMember(activity, "result")))(activity);
    const signatures = payloads.map((one, index) => altered(one, signaturesIn(activity)[index]!));
    return inside("result", { signatures })(activity);
  };
}

type SignedTransaction = Parameters<typeof signedTransaction>[1];

function ofTransactions(signed: (key: WalletKey, intent: SignedTransaction) => string): AlterActivity {
  return ofResult("ACTIVITY_TYPE_SIGN_TRANSACTION_V2", (activity, { reader }) => {
    const intent = soleMember(activity, "intent") as unknown as SignedTransaction;
    return { signedTransaction: signed(signerOf(activity, reader), intent) };
  });
}

/**
 * Signs everything with another key. The signer that a Solana message names stays the same, so the signature is wrong.
 */
function signedAnew(other: (key: WalletKey) => WalletKey): AlterActivity {
  const payloads = ofSignatures((key, intent) => signedPayload(other(key), intent));
  const transactions = ofTransactions((key, intent) =>
    signedTransaction({ ...key, privateKey: other(key).privateKey }, intent),
  );
  return (activity, answering) => transactions(payloads(activity, answering), answering);
}

/**
 * Returns another payload. If it is not text it has 32 bytes, the length of a digest, since some signatures do not hash
 * it.
 */
function otherPayload(intent: SignedPayload): SignedPayload {
  if (intent.encoding === "PAYLOAD_ENCODING_TEXT_UTF8") return { ...intent, payload: `${intent.payload} ` };
  const otherDigest = { encoding: "PAYLOAD_ENCODING_HEXADECIMAL", payload: "11".repeat(32) } as const;
  return { ...intent, ...otherDigest };
}

function otherHash({ curve }: WalletKey, intent: SignedPayload): SignedPayload {
  const { hashFunction, payload } = intent;
  if (curve === "CURVE_ED25519")
    return { ...intent, encoding: "PAYLOAD_ENCODING_HEXADECIMAL", payload: toHex(sha256(toUtf8(payload))) };
  const isSha256 = hashFunction === "HASH_FUNCTION_SHA256";
  return { ...intent, hashFunction: isSha256 ? "HASH_FUNCTION_KECCAK256" : "HASH_FUNCTION_SHA256" };
}

/** Replaces the recipient: an Ethereum address, or bytes of the second key of a Solana message. */
function withOtherRecipient(unsigned: string): string {
  const ethereum = /94[0-9a-f]{40}/i.exec(unsigned);
  const start = ethereum === null ? 2 * (1 + 64 + 4 + 32) : ethereum.index + 2;
  return `${unsigned.slice(0, start)}${"11".repeat(20)}${unsigned.slice(start + 40)}`;
}

const SIGNS_PAYLOADS = ["sign_raw_payload", "sign_raw_payloads", VERIFIED_CALLS];
const SIGN_PAYLOADS = "ACTIVITY_TYPE_SIGN_RAW_PAYLOADS";

export const SIGNATURE_FAULTS = behaviours({
  "signature-of-another-key": {
    what: "the signatures are those of another key",
    fails: ["activity.signature"],
    needs: [...SIGNS_PAYLOADS, "sign_transaction"],
    activity: signedAnew(({ curve }) => keyAt(OTHER_SEED, { path: "m/0'", curve })),
  },
  "signature-over-another-payload": {
    what: "the signatures are by the right key, but over other payloads of the same encoding",
    fails: ["activity.signature"],
    needs: SIGNS_PAYLOADS,
    activity: ofSignatures((key, intent) => signedPayload(key, otherPayload(intent))),
  },
  "signature-of-another-hash": {
    what: "the signatures are by the right key, but with another hash function",
    fails: ["activity.signature"],
    needs: SIGNS_PAYLOADS,
    activity: ofSignatures((key, intent) => signedPayload(key, otherHash(key, intent))),
  },
  "altered-recovery-id": {
    what: "the recovery id v of each signature is wrong",
    fails: ["activity.signature"],
    needs: SIGNS_PAYLOADS,
    activity: ofSignatures((key, intent, honest) =>
      key.curve === "CURVE_ED25519" ? honest : { ...honest, v: honest["v"] === "00" ? "01" : "00" },
    ),
  },
  "missing-signature": {
    what: "one payload has no signature",
    fails: ["activity.signature"],
    needs: ["sign_raw_payloads", VERIFIED_CALLS],
    activity: ofResult(SIGN_PAYLOADS, (activity) => ({ signatures: signaturesIn(activity).slice(1) })),
  },
  "swapped-signatures": {
    what: "the signatures are in another order than the payloads",
    fails: ["activity.signature"],
    needs: ["sign_raw_payloads", VERIFIED_CALLS],
    activity: ofResult(SIGN_PAYLOADS, (activity) => ({ signatures: [...signaturesIn(activity)].reverse() })),
  },
  "another-recipient": {
    what: "the transaction is signed by the right key, but has another recipient",
    fails: ["activity.signature"],
    needs: ["sign_transaction", VERIFIED_CALLS],
    activity: ofTransactions((key, intent) => {
      const unsignedTransaction = withOtherRecipient(intent.unsignedTransaction);
      return signedTransaction(key, { ...intent, unsignedTransaction });
    }),
  },
});
