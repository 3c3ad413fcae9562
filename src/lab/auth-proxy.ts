/** The service's auth proxy: sign-ups and log-ins, without a stamp. */
import type { JsonObject } from "../decode/json.js";
import { type ReadOf, type Shape, list, matching, nonEmptyText, object, optional, text } from "../decode/shapes.js";
import { generateApiKey } from "./api-key.js";
import type { Fleet } from "./fleet.js";
import type { Resource } from "./http.js";
import { createSubOrganization, walletShape } from "./new-keys.js";
import { LAB_OPERATIONS } from "./operations.js";
import { putPastActivity } from "./past-activities.js";
import { generateQosKeyPair } from "./qos.js";
import type { Sources } from "./question.js";
import type { Organization, UserRecord } from "./records.js";
import { Refusal } from "./refusal.js";
import { parsed } from "./service.js";
import { SESSION_SECONDS, beginOtp, contactIn, openSession, verificationToken } from "./session.js";
import type { Transaction } from "./state.js";
import { otpToken } from "./tokens.js";
import { apiKeyShape } from "./users.js";

const UNAUTHENTICATED = { status: 401, code: 16 };
const OPEN = { unknown: "ignore" } as const;
const otpShape = object({ otpType: nonEmptyText, contact: nonEmptyText }, OPEN);
const compressedKey = matching(/^0[23][0-9a-f]{64}$/, "a compressed point of P-256 in lower-case hex");
const verifyShape = object({ otpId: text, publicKey: optional(compressedKey) }, OPEN);
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
  readonly quorumKey: Fleet["quorumKey"];
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
  otp_init: operation(otpShape, (otp, serving) => ({ otpId: beginOtp(serving, otp).otpId })),
  otp_init_v2: operation(otpShape, (otp, serving) => ({ ...beginOtp(serving, otp) })),
  otp_login: logIns,
  otp_login_v2: logIns,
  otp_verify: operation(verifyShape, ({ otpId, publicKey }, serving) => ({
    verificationToken: verificationToken(serving, otpId, publicKey),
  })),
  // The key is in the encrypted part, so this one is made up.
  otp_verify_v2: operation(verifyShape, ({ otpId }, serving) => ({
    verificationToken: verificationToken(serving, otpId, generateApiKey().publicKey),
  })),
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
  return Object.entries(OPERATIONS).map(([name, { shape, answer }]) => {
    const post: Resource["post"] = (json, headers) => {
      if ((headers["x-auth-proxy-config-id"] ?? "") === "")
        throw new Refusal("REQUEST_NOT_AUTHORIZED", "the header X-Auth-Proxy-Config-ID is missing", UNAUTHENTICATED);
      const request = parsed(shape, json) as JsonObject;
      return state.transact((tx) => {
        const now = clock();
        const organization = tx.get("organizations", organizationId)!;
        const honest = answer(request, { tx, now, fleet, organization, quorumKey: fleet.quorumKey });
        return misbehaviour.auth(honest, { operation: name, request, reader: tx, now });
      });
    };
    return [`/v1/${name}`, { post }];
  });
}

function logIn(
  { publicKey, organizationId, verificationToken }: ReadOf<typeof loginShape>,
  serving: Serving,
): JsonObject {
  const { tx } = serving;
  const record =
    organizationId === undefined
      ? customer(serving, verificationToken === undefined ? () => true : named(contactIn(verificationToken)))
      : tx.get("users", tx.get("organizations", organizationId)?.rootUserIds[0] ?? "");
  if (record === undefined) throw new Refusal("ORGANIZATION_NOT_FOUND", "there is no organization of this user");
  return { session: openSession(serving, record, publicKey) };
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
  const outcome = createSubOrganization({ tx, organization, parameters, now });
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
