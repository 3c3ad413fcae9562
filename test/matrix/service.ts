/** A service on the loopback that answers every request with the evidence that it is given, whatever the stamp. */
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type JsonObject, isJsonObject } from "../../src/decode/json.js";
import { type Client, apiKeyStamper, createClient } from "../../src/client/index.js";
import { apiKey } from "../client/support.js";
import { LAB_ADDRESS } from "../../src/lab/forge.js";
import { type Evidence, ACTIVITY_ID, NOW, REQUEST, type Request } from "./worlds.js";

const { organizationId, walletId, derivationPath: path, address } = LAB_ADDRESS;
const ADDRESS = { curve: "CURVE_SECP256K1", addressFormat: "ADDRESS_FORMAT_ETHEREUM", path, address };
const EMPTY = { wallets: [], accounts: [], privateKeys: [], activities: [] };

/** The lists of an organization with the one address that the evidence proves. */
export const LISTS: Readonly<Record<string, (evidence: Evidence) => JsonObject>> = {
  whoami: () => ({ organizationId }),
  list_wallets: () => ({ wallets: [{ walletId, exported: false, imported: false }] }),
  list_wallet_accounts: () => ({ accounts: [{ ...ADDRESS, organizationId, walletId, walletAccountId: "a" }] }),
  list_private_keys: () => ({ privateKeys: [] }),
  list_activities: ({ activities }) => ({ activities: [...activities] }),
};

const SIGN_UP_PATH = "/auth/v1/signup_v2";

/** What is sent to sign up: the wallet that {@link REQUEST} asks for. */
export const SIGN_UP: JsonObject = { userName: "new", apiKeys: [], authenticators: [], wallet: REQUEST.parameters };

/** The activity's result and app proofs, as the auth proxy answers a sign-up that made the lab's organization. */
export function signUpAnswer({ result, appProofs }: JsonObject): JsonObject {
  const { createWalletResult } = result as JsonObject;
  const wallet = createWalletResult!;
  return { organizationId, wallet, userId: "a-user", ...(appProofs !== undefined && { appProofs }) };
}

/** The time of a sign-up and of what follows. An answer about the past took three minutes. */
export function signUpClock({ asks }: { readonly asks?: string }): () => Date {
  const times = asks === "past" ? [new Date(NOW.getTime() - 180_000)] : [];
  return () => times.shift() ?? NOW;
}

export class Service {
  #evidence: Evidence | undefined;
  #listsActivities = true;
  readonly #server: Server;
  readonly url: string;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(): Promise<Service> {
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const body = JSON.parse(Buffer.concat(parts).toString()) as JsonObject;
        const answer = service.#answer(request.url!.replace("/public/v1/", ""), body);
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const service = new Service(server);
    return service;
  }

  /** From now on it has this evidence. */
  serves(evidence: Evidence, listsActivities = true): this {
    this.#evidence = evidence;
    this.#listsActivities = listsActivities;
    return this;
  }

  get authProxyUrl(): string {
    return `${this.url}/auth`;
  }

  async client(): Promise<Client> {
    const stamper = await apiKeyStamper(apiKey);
    const { organizationId } = REQUEST;
    return createClient({ baseUrl: this.url, organizationId, stamper, maxRetries: 0, now: () => NOW });
  }

  #answer(path: string, body: JsonObject): JsonObject {
    const { bootProof, activity } = this.#evidence!;
    if (path === SIGN_UP_PATH) return signUpAnswer(activity);
    if (path.endsWith("boot_proof")) return { bootProof };
    if (path === "query/get_activity") return { activity };
    if (path === "query/list_app_proofs") return { appProofs: [] };
    if (path === "query/list_activities" && !this.#listsActivities) return EMPTY;
    const list = LISTS[path.replace("query/", "")];
    const pages = body["paginationOptions"];
    if (list !== undefined)
      return isJsonObject(pages) && "after" in pages ? EMPTY : { ...EMPTY, ...list(this.#evidence!) };
    return { activity: this.#evidence!.answer(body as unknown as Request) };
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

export { ACTIVITY_ID };
