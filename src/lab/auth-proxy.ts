/** The service's auth proxy: sign-ups and log-ins, without a stamp. */
import { randomUUID } from "node:crypto";
import { toHex } from "../bytes.js";
import type { JsonObject } from "../decode/json.js";
import { type ReadOf, type Shape, list, nonEmptyText, object, optional, text } from "../decode/shapes.js";
import { generateApiKey } from "./api-key.js";
import type { Fleet } from "./fleet.js";
import type { Resource } from "./http.js";
import { generateKeyPair, publicPoint } from "./keys.js";
import { apiKeyShape, compressedKey, makeSubOrganization, walletShape } from "./new-keys.js";
import { LAB_OPERATIONS, SESSION_KEY } from "./operations.js";
import { putPastActivity } from "./past-activities.js";
import { generateQosKeyPair } from "./qos.js";
import type { Sources } from "./question.js";
import type { Organization, UserRecord } from "./records.js";
import { Refusal, invalid, notFound } from "./refusal.js";
import { parsed } from "./service.js";
import type { Transaction } from "./state.js";
import { claimsOf, otpClaims, otpToken, sessionToken, signedBundle } from "./tokens.js";
import { newApiKey, putUser } from "./users.js";

const UNAUTHENTICATED = { status: 401, code: 16 };
const SESSION_SECONDS = "900";
const OPEN = { unknown: "ignore" } as const;
const otpShape = object({ otpType: nonEmptyText, contact: nonEmptyText }, OPEN);
const verifyShape = object({ otpId: text, publicKey: optional(compressedKey) }, OPEN);
type Otp = ReadOf<typeof otpShape>;
const loginShape = object(
  { publicKey: compressedKey, organizationId: optional(text), verificationToken: optional(text) },
  OPEN,
);
const signupShape = object(
  {
    userName: optional(text),
    userEmail: optional(text),
    userPhoneNumber: optional(text),
    organizationName: optional(text),
    apiKeys: list(apiKeyShape),
    wallet: optional(walletShape),
  },
  OPEN,
);

interface Serving {
  readonly tx: Transaction;
  readonly now: Date;
  readonly fleet: Fleet;
  /** The parent of all sub-organizations. */
  readonly organization: Organization;
  /** The one-time passwords by id. */
  readonly otps: Map<string, Otp>;
}

interface Operation {
  readonly shape: Shape<unknown>;
  readonly answer: (request: JsonObject, serving: Serving) => JsonObject;
}

function operation<T>(shape: Shape<T>, answer: (request: T, serving: Serving) => JsonObject): Operation {
  return { shape, answer: answer as Operation["answer"] };
}

const logIns = operation(loginShape, logIn);
const signUps = operation(signupShape, signUp);

const OPERATIONS: Readonly<Record<string, Operation>> = {
  account: operation(object({ filterType: text, filterValue: nonEmptyText }, OPEN), ({ filterValue }, serving) => {
    const found = customer(serving, named(filterValue));
    return found === undefined ? {} : { organizationId: found.organizationId };
  }),
  oauth2_authenticate: operation(object({ nonce: text, clientId: text }, OPEN), ({ nonce, clientId }) => ({
    oidcToken: otpToken(generateQosKeyPair(), { iss: "https://lab.example", aud: clientId, nonce }),
  })),
  oauth_login: logIns,
  otp_init: operation(otpShape, (otp, serving) => ({ otpId: beginOtp(otp, serving) })),
  otp_init_v2: operation(otpShape, (otp, serving) => {
    // The lab decrypts nothing, so it keeps no private key.
    const targetPublic = toHex(publicPoint(generateKeyPair("prime256v1")));
    const data = { targetPublic, organizationId: serving.organization.organizationId };
    const otpEncryptionTargetBundle = signedBundle(serving.fleet.tokenKey("tls-fetcher"), data);
    return { otpId: beginOtp(otp, serving), otpEncryptionTargetBundle };
  }),
  otp_login: logIns,
  otp_login_v2: logIns,
  otp_verify: operation(verifyShape, verifyOtp),
  // The key is in the encrypted part, so this one is made up.
  otp_verify_v2: operation(verifyShape, ({ otpId }, serving) =>
    verifyOtp({ otpId, publicKey: generateApiKey().publicKey }, serving),
  ),
  signup: signUps,
  signup_v2: signUps,
  wallet_kit_client_params: operation(object({}, OPEN), () => ({})),
  wallet_kit_config: operation(object({}, OPEN), (_, { organization: { organizationId } }) => ({
    enabledProviders: ["email", "sms", "passkey", "wallet"],
    sessionExpirationSeconds: SESSION_SECONDS,
    organizationId,
  })),
};

/** Returns the resources of the auth proxy by path. */
export function authProxyResources(sources: Sources, organizationId: string): [path: string, resource: Resource][] {
  const { state, fleet, misbehaviour, now: clock } = sources;
  const otps = new Map<string, Otp>();
  return Object.entries(OPERATIONS).map(([name, { shape, answer }]) => {
    const post: Resource["post"] = (json, headers) => {
      if ((headers["x-auth-proxy-config-id"] ?? "") === "")
        throw new Refusal("REQUEST_NOT_AUTHORIZED", "the header X-Auth-Proxy-Config-ID is missing", UNAUTHENTICATED);
      const request = parsed(shape, json) as JsonObject;
      return state.transact((tx) => {
        const now = clock();
        const organization = tx.get("organizations", organizationId)!;
        const honest = answer(request, { tx, now, fleet, organization, otps });
        return misbehaviour.auth(honest, { operation: name, request, reader: tx, now });
      });
    };
    return [`/v1/${name}`, { post }];
  });
}

function beginOtp(otp: Otp, { otps }: Serving): string {
  const otpId = randomUUID();
  otps.set(otpId, otp);
  return otpId;
}

/** Accepts every code. */
function verifyOtp({ otpId, publicKey }: ReadOf<typeof verifyShape>, serving: Serving): JsonObject {
  const { otps, now, fleet, organization } = serving;
  const otp = otps.get(otpId);
  if (otp === undefined) throw notFound(`there is no one-time password ${otpId}`);
  const { organizationId: organization_id } = organization;
  const members = { verification_type: otp.otpType, contact: otp.contact, organization_id };
  const claims = otpClaims(now, { ...members, ...(publicKey !== undefined && { public_key: publicKey }) });
  return { verificationToken: otpToken(fleet.tokenKey("tls-fetcher"), claims) };
}

function logIn(
  { publicKey, organizationId, verificationToken }: ReadOf<typeof loginShape>,
  serving: Serving,
): JsonObject {
  const { tx, now, fleet } = serving;
  const record =
    organizationId === undefined
      ? customer(serving, verificationToken === undefined ? () => true : named(contactIn(verificationToken)))
      : tx.get("users", tx.get("organizations", organizationId)?.rootUserIds[0] ?? "");
  if (record === undefined) throw new Refusal("ORGANIZATION_NOT_FOUND", "there is no organization of this user");
  const key = newApiKey("session", publicKey, now, { type: SESSION_KEY, expirationSeconds: SESSION_SECONDS });
  putUser(tx, record, { apiKeys: [...record.user.apiKeys, key] }, now);
  const claims = {
    exp: Math.floor(now.getTime() / 1000) + Number(SESSION_SECONDS),
    public_key: publicKey,
    session_type: "SESSION_TYPE_READ_WRITE",
    user_id: record.user.userId,
    organization_id: record.organizationId,
  };
  return { session: sessionToken(fleet.tokenKey("notarizer"), claims) };
}

function contactIn(verificationToken: string): string {
  try {
    return String(claimsOf(verificationToken)["contact"]);
  } catch {
    throw invalid("verificationToken: not a token");
  }
}

/** Makes a sub-organization by an activity of its parent, as the service does. */
function signUp(request: ReadOf<typeof signupShape>, { tx, now, fleet, organization }: Serving): JsonObject {
  const { userName = "user", userEmail, userPhoneNumber, organizationName, apiKeys, wallet } = request;
  const rootUser = { userName, userEmail, userPhoneNumber, apiKeys };
  const parameters = {
    subOrganizationName: organizationName ?? userName,
    rootUsers: [rootUser],
    rootQuorumThreshold: 1 as const,
    ...(wallet && { wallet }),
  };
  const outcome = makeSubOrganization({ tx, organization, parameters, now });
  const { organizationId, rootUserIds } = organization;
  const submitted = { organizationId, userId: rootUserIds[0]!, parameters: parameters as unknown as JsonObject };
  const id = putPastActivity(
    { tx, fleet, now },
    { ...submitted, operation: LAB_OPERATIONS.createSubOrganization },
    outcome,
  );
  // The first app proof is that of the decision.
  const [, ...appProofs] = tx.get("activities", id)!.activity["appProofs"] as JsonObject[];
  const { subOrganizationId, rootUserIds: userIds, ...made } = outcome.result;
  return { organizationId: subOrganizationId!, ...made, userId: (userIds as string[])[0]!, appProofs };
}

type Wanted = (record: UserRecord) => boolean;

/** Finds users by any of their names and keys, whatever the type of the filter. */
function named(value: string): Wanted {
  return ({ user: { userName, userEmail, userPhoneNumber, apiKeys, authenticators } }) =>
    [
      ...[userName, userEmail, userPhoneNumber],
      ...apiKeys.map(({ credential }) => credential.publicKey),
      ...authenticators.map(({ credentialId }) => credentialId),
    ].includes(value);
}

/** Returns the newest user of a sub-organization that is wanted. */
function customer({ tx, organization }: Serving, isWanted: Wanted): UserRecord | undefined {
  const parentOf = (id: string): string | undefined => tx.get("organizations", id)?.parentOrganizationId;
  const isCustomer = ({ organizationId }: UserRecord): boolean =>
    parentOf(organizationId) === organization.organizationId;
  return tx.all("users").findLast((record) => isCustomer(record) && isWanted(record));
}
