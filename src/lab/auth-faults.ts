/** Faults of the auth proxy: its sign-ups, session tokens and encryption targets of one-time passwords. */
import { randomUUID } from "node:crypto";
import { otherMembers } from "../decode/input.js";
import type { JsonObject } from "../decode/json.js";
import { OTHER_ID, OTHER_SEED, claim } from "./answer-faults.js";
import { generateApiKey } from "./api-key.js";
import { type AuthAnswering, type Behaviour, HOUR, behaviours, otherForge, payloadOf, put } from "./behaviour.js";
import { bundleData, claimsOf, otpClaims, otpToken, sessionToken, signedBundle } from "./tokens.js";
import { type Account, addressOf } from "./wallet.js";

type Alter = NonNullable<Behaviour["auth"]>;
const SIGN_UP = { needs: ["signup", "signup_v2"], fails: [] };
const LOG_IN = { needs: ["oauth_login", "otp_login", "otp_login_v2"] };
const TARGET = { needs: ["otp_init_v2"] };

const proofsIn = (answer: JsonObject): JsonObject[] => answer["appProofs"] as JsonObject[];
const withoutLast = <T>(items: readonly T[]): T[] => items.slice(0, -1);

/** Alters the last app proof. */
const ofLastProof =
  (alter: (proof: JsonObject, answering: AuthAnswering) => JsonObject): Alter =>
  (answer, answering) => {
    const proofs = proofsIn(answer);
    return { ...answer, appProofs: proofs.with(-1, alter(proofs.at(-1)!, answering)) };
  };

const ofLastClaim = (members: JsonObject): Alter =>
  ofLastProof((proof, { sign }) => sign(proof, claim(members)(payloadOf(proof))));

const ofAddresses = (alter: (addresses: string[]) => string[]) => (answer: JsonObject) => {
  const wallet = answer["wallet"] as { readonly addresses: string[] };
  return { ...answer, wallet: { ...wallet, addresses: alter(wallet.addresses) } };
};

const ofSession =
  (alter: (claims: JsonObject, now: Date) => JsonObject, isOtherKey = false): Alter =>
  (answer, { key, now }) => {
    const claims = alter(claimsOf(String(answer["session"])), now);
    return { ...answer, session: sessionToken(isOtherKey ? otherForge().quorumKey : key("notarizer"), claims) };
  };

const ofTarget =
  (more: JsonObject, isOtherKey = false): Alter =>
  (answer, { key }) => {
    const data = { ...bundleData(String(answer["otpEncryptionTargetBundle"])), ...more };
    const signer = isOtherKey ? otherForge().quorumKey : key("tls-fetcher");
    return { ...answer, otpEncryptionTargetBundle: signedBundle(key("tls-fetcher"), data, signer) };
  };

/** Sign-ups without a wallet have nothing to alter. */
const ofWallets =
  (alter: Alter): Alter =>
  (answer, answering) =>
    proofsIn(answer).length === 0 ? answer : alter(answer, answering);

export const AUTH_BEHAVIOURS = behaviours({
  "signup-of-another": {
    ...SIGN_UP,
    what: "the answer is another user's genuine sign-up of an hour ago, with as many accounts",
    forge: ({ at }) => ({ at: new Date(at.getTime() - 2 * HOUR) }),
    auth: ofWallets((answer, { request, sign, now }) => {
      const { accounts } = request["wallet"] as unknown as { readonly accounts: readonly Account[] };
      const [organizationId, walletId, userId] = [randomUUID(), randomUUID(), randomUUID()];
      const addresses = accounts.map((account) => addressOf(OTHER_SEED, account));
      const appProofs = proofsIn(answer).map((proof, index) => {
        const payload = claim({ organizationId, walletId, address: addresses[index]! })(payloadOf(proof));
        return sign(proof, { ...payload, timestampMs: String(now.getTime() - HOUR) });
      });
      return { organizationId, wallet: { walletId, addresses }, userId, appProofs };
    }),
  },
  "signup-without-wallet": {
    ...SIGN_UP,
    what: "the answer has no wallet and no app proofs, as if no wallet had been requested",
    auth: (answer) => ({ ...otherMembers(answer, "wallet"), appProofs: [] }),
  },
  "signup-account-missing": {
    ...SIGN_UP,
    what: "the wallet lacks the last requested account, and there is no app proof of it",
    auth: ofWallets((answer) => ({ ...ofAddresses(withoutLast)(answer), appProofs: withoutLast(proofsIn(answer)) })),
  },
  "signup-addresses-exchanged": {
    ...SIGN_UP,
    what: "the addresses are in the reverse of the requested order, each with its genuine app proof",
    auth: ofWallets(ofAddresses((addresses) => addresses.toReversed())),
  },
  "signup-proof-of-another-organization": {
    ...SIGN_UP,
    what: "the last app proof names another organization",
    auth: ofWallets(ofLastClaim({ organizationId: OTHER_ID })),
  },
  "signup-proof-of-another-wallet": {
    ...SIGN_UP,
    what: "the last app proof names another wallet of the organization",
    auth: ofWallets(ofLastClaim({ walletId: OTHER_ID })),
  },
  "signup-proof-missing": {
    ...SIGN_UP,
    what: "the last address has no app proof",
    auth: (answer) => ({ ...answer, appProofs: withoutLast(proofsIn(answer)) }),
  },
  "signup-proofs-missing": {
    ...SIGN_UP,
    what: "the answer has a wallet, and no member appProofs",
    auth: (answer) => otherMembers(answer, "appProofs"),
  },
  "signup-proof-broken": {
    ...SIGN_UP,
    what: "the signature of the last app proof was changed",
    fails: ["app.signature"],
    auth: ofWallets(
      ofLastProof((proof) =>
        put(
          "signature",
          String(proof["signature"]).replace(/.$/, (digit) => (digit === "0" ? "1" : "0")),
        )(proof),
      ),
    ),
  },
  "signup-organization-again": {
    ...SIGN_UP,
    what: "organization and user are those of an earlier sign-up, with genuine app proofs of a new wallet there",
    auth: (answer, { reader, sign }) => {
      const earlier = reader
        .all("organizations")
        .filter((one) => one.parentOrganizationId !== undefined && one.organizationId !== answer["organizationId"])
        .at(-1)!;
      const { organizationId, rootUserIds } = earlier;
      const appProofs = proofsIn(answer).map((proof) => sign(proof, claim({ organizationId })(payloadOf(proof))));
      return { ...answer, organizationId, userId: rootUserIds[0]!, appProofs };
    },
  },
  "session-for-another-key": {
    ...LOG_IN,
    what: "the session token is for another public key",
    fails: ["token.expected"],
    auth: ofSession((claims) => ({ ...claims, public_key: generateApiKey().publicKey })),
  },
  "session-by-another-key": {
    ...LOG_IN,
    what: "the session token is signed by another key than the quorum key",
    fails: ["token.signature"],
    auth: ofSession((claims) => claims, true),
  },
  "session-expired": {
    ...LOG_IN,
    what: "the session token expired an hour ago",
    fails: ["token.expiry"],
    auth: ofSession((claims, now) => ({ ...claims, exp: Math.floor((now.getTime() - HOUR) / 1000) })),
  },
  "session-of-another-organization": {
    ...LOG_IN,
    what: "the session token is of an organization that was not requested",
    fails: ["token.expected"],
    auth: ofSession((claims) => ({ ...claims, organization_id: OTHER_ID })),
  },
  "session-is-otp-token": {
    ...LOG_IN,
    what: "the session is a genuine OTP token",
    fails: ["token.decode", "token.signature"],
    auth: (answer, { key, now }) => {
      const { public_key, organization_id } = claimsOf(String(answer["session"]));
      const ids = { organization_id: organization_id!, public_key: public_key! };
      return { ...answer, session: otpToken(key("tls-fetcher"), otpClaims(now, ids)) };
    },
  },
  "otp-target-by-another-key": {
    ...TARGET,
    what: "the encryption target names the quorum key, and another key signed it",
    fails: ["token.signature"],
    auth: ofTarget({}, true),
  },
  "otp-target-with-user": {
    ...TARGET,
    what: "the encryption target has a member userId, and so the form of an import bundle",
    fails: ["token.decode"],
    auth: ofTarget({ userId: OTHER_ID }),
  },
});
