/** A service on the loopback that answers every request with the evidence that it is given, whatever the stamp. */
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "../../src/decode/json.js";
import { type Client, apiKeyStamper, createClient } from "../../src/client/index.js";
import { apiKey } from "../client/support.js";
import { type Evidence, ACTIVITY_ID, NOW, REQUEST, type Request } from "./worlds.js";

export class Service {
  #evidence: Evidence | undefined;
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
  serves(evidence: Evidence): this {
    this.#evidence = evidence;
    return this;
  }

  async client(): Promise<Client> {
    const stamper = await apiKeyStamper(apiKey);
    const { organizationId } = REQUEST;
    return createClient({ baseUrl: this.url, organizationId, stamper, maxRetries: 0, now: () => NOW });
  }

  #answer(path: string, body: JsonObject): JsonObject {
    const { bootProof, activity } = this.#evidence!;
    if (path.endsWith("boot_proof")) return { bootProof };
    if (path === "query/get_activity") return { activity };
    if (path === "query/list_app_proofs") return { appProofs: [] };
    return { activity: this.#evidence!.answer(body as unknown as Request) };
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

export { ACTIVITY_ID };
