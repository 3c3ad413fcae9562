/**
 * The built package in a browser: evidence verified by WebCrypto, requests stamped with a key that no page can read,
 * and with a passkey. Needs `npm run build`, and a Chromium: BOOTPROOF_BROWSER names one, or says that one is
 * `required`.
 */
import { createHash, createPublicKey, verify } from "node:crypto";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type * as adapters from "../../src/adapters/index.js";
import type * as client from "../../src/client/index.js";
import type * as core from "../../src/index.js";
import type * as signedPolicy from "../../src/signed-policy/index.js";
import { pinPolicy } from "../../src/author/index.js";
import { verifyBootProof } from "../../src/index.js";
import { NO_POLICY_ANY_ENCLAVE } from "../../src/bootproof.js";
import { type Lab, startLab } from "../../src/lab/index.js";
import { NO_CHROMIUM, WITHOUT_CHROMIUM, launchChromium } from "../support/chromium.js";
import { readVectorJson } from "../support/vectors.js";

/** What the page imports: the package, and nothing written for it. */
type Bundle = typeof core & typeof client & typeof adapters & typeof signedPolicy;

async function bundled(): Promise<string> {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const { outputFiles } = await build({
    stdin: {
      contents: ["index.js", "client/index.js", "adapters/index.js", "signed-policy/index.js"]
        .map((entry) => `export * from "./dist/src/${entry}";`)
        .join(""),
      resolveDir: root,
    },
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    write: false,
    logLevel: "warning",
  });
  return outputFiles[0]!.text;
}

interface Stamped {
  readonly body: Buffer;
  readonly headers: IncomingMessage["headers"];
}

const MOVED = "/public/v1/query/moved";
/** A service worker: it answers a message by what a wrapped fetch makes of it. */
const WORKER = `
  import * as bootproof from "/bootproof.js";
  const fetched = ${String(fetched)};
  self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
  self.addEventListener("message", ({ data, ports: [port] }) =>
    fetched(bootproof, data).then((said) => port.postMessage(said)));
`;

interface Asked {
  readonly organizationId: string;
  readonly userTagId: string;
  readonly apiKey: { readonly publicKey: string; readonly privateKey: string };
  readonly policyFile: string;
  readonly generateAppProofs: boolean;
  readonly moved: string;
}

/** Runs in the browser, and uses nothing of this file. A submit, and a query that is redirected. */
async function fetched(bootproof: Bundle, asked: Asked): Promise<readonly string[]> {
  const { organizationId, userTagId, generateAppProofs } = asked;
  const stamper = await bootproof.apiKeyStamper({ ...asked.apiKey });
  const options = { baseUrl: location.origin, policy: bootproof.parsePolicy(asked.policyFile) };
  const own = globalThis.fetch;
  // The client has no fetch of its own: it sends by the global one, as it is then.
  const evidence = bootproof.createClient({ baseUrl: location.origin, organizationId, stamper });
  globalThis.fetch = bootproof.verifiedFetch({ ...options, evidence });
  const sent = async (path: string, body: object): Promise<string> => {
    const text = JSON.stringify(body);
    const { header, value } = (await stamper.stamp(new TextEncoder().encode(text))) as {
      header: string;
      value: string;
    };
    const headers = { "Content-Type": "application/json", [header]: value };
    return fetch(path, { method: "POST", body: text, headers }).then(
      (response) => bootproof.reportOf(response)?.verdict ?? String(response.status),
      (error: Error) => error.message,
    );
  };
  const parameters = { userTagId, newUserTagName: "by fetch", addUserIds: [], removeUserIds: [] };
  const type = "ACTIVITY_TYPE_UPDATE_USER_TAG";
  const submit = { type, timestampMs: String(Date.now()), organizationId, parameters, generateAppProofs };
  try {
    return [await sent("/public/v1/submit/update_user_tag", submit), await sent(asked.moved, { organizationId })];
  } finally {
    globalThis.fetch = own;
  }
}

/** Serves the page and the package, and hands every request to the service on, as it came. */
class Site {
  readonly requests: Stamped[] = [];
  readonly #server: Server;
  readonly #files: Readonly<Record<string, { readonly type: string; readonly text: string }>>;
  readonly #lab: Lab;

  constructor(script: string, lab: Lab) {
    this.#files = {
      "/": {
        type: "text/html",
        text: '<!doctype html><title>bootproof</title><script type="module" src="/page.js"></script>',
      },
      "/page.js": {
        type: "text/javascript",
        text: `
          import * as bootproof from "/bootproof.js";
          Object.assign(globalThis, { bootproof, fetched: ${String(fetched)} });`,
      },
      "/worker.js": { type: "text/javascript", text: WORKER },
      "/bootproof.js": { type: "text/javascript", text: script },
    };
    this.#lab = lab;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  async listen(): Promise<string> {
    await new Promise<void>((listening) => this.#server.listen(0, "127.0.0.1", listening));
    return `http://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // No inline script, no eval, nothing from elsewhere: what a careful page allows has to be enough.
    response.setHeader("Content-Security-Policy", "default-src 'none'; script-src 'self'; connect-src 'self'");
    const file = this.#files[request.url!];
    if (file !== undefined) return void response.setHeader("Content-Type", file.type).end(file.text);
    if (request.url === MOVED) return void response.writeHead(307, { Location: "/public/v1/query/get_user" }).end();
    if (request.url?.startsWith("/public/v1/") !== true) return void response.writeHead(404).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    this.requests.push({ body, headers: request.headers });
    const names = ["content-type", "x-stamp", "x-stamp-webauthn"];
    const headers = names.flatMap((name) =>
      request.headers[name] === undefined ? [] : [[name, request.headers[name] as string] as [string, string]],
    );
    const answer = await fetch(this.#lab.baseUrl + request.url, { method: "POST", body, headers });
    response.writeHead(answer.status, { "Content-Type": "application/json" }).end(await answer.text());
  }
}

describe.skipIf(NO_CHROMIUM)("in Chromium", () => {
  let lab: Lab;
  let site: Site;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    lab = await startLab();
    site = new Site(await bundled(), lab);
    const address = await site.listen();
    browser = await launchChromium();
    page = await browser.newPage();
    page.on("pageerror", (error) => complaints.push(error.message));
    await page.goto(address);
    await page.waitForFunction(() => "bootproof" in globalThis);
  });
  afterAll(async () => {
    await browser?.close();
    site?.close();
    await lab?.close();
    expect(complaints).toEqual([]);
  });

  const pair = (number: number) => ({
    bootProof: readVectorJson<{ qosManifestB64: string }>(`boot-proofs/bootproof-${number}.json`),
    appProof: readVectorJson<{ proofPayload: string }>(`boot-proofs/appproof-${number}.json`),
  });

  it("a signed policy is opened, refreshed and remembered, by WebCrypto", async () => {
    const { signers } = lab.policyFeed;
    const feed = async (fault: string | null) => {
      lab.setFault(fault);
      return (await fetch(lab.policyFeedUrl)).text();
    };
    const first = await feed(null);
    lab.policyFeed.publish({ rotate: true });
    const feeds = [first, await feed(null), await feed("feed-forked"), await feed("feed-one-key-twice")];
    lab.setFault(null);
    const answer = await page.evaluate(
      async ({ signers: pinned, shown }) => {
        const { openSignedPolicy, SignedPolicyError, verifyEvidence } = (globalThis as unknown as { bootproof: Bundle })
          .bootproof;
        let at = 0;
        const options = {
          signers: pinned,
          source: async () => shown[at]!,
          state: {
            read: async () => localStorage.getItem("signed-policy"),
            write: async (text: string) => localStorage.setItem("signed-policy", text),
          },
          now: () => new Date(),
        };
        let verifications = 0;
        const native = crypto.subtle.verify.bind(crypto.subtle);
        crypto.subtle.verify = (...args: Parameters<SubtleCrypto["verify"]>) => {
          verifications++;
          return native(...args);
        };
        const signed = await openSignedPolicy(options);
        const versions = [signed.version];
        at = 1;
        await signed.refresh();
        versions.push(signed.version, (await openSignedPolicy(options)).version);
        const codes: unknown[] = [];
        for (at = 2; at < shown.length; at++)
          codes.push(
            await signed.refresh().catch((error: unknown) => error instanceof SignedPolicyError && error.code),
          );
        const { policy } = signed;
        const { report } = await verifyEvidence({ bootProofs: ["{}"], appProofs: [] }, { policy, now: new Date() });
        const current = report.checks.find(({ id }) => id === "policy.current")!.status;
        crypto.subtle.verify = native;
        return { versions, codes, current, verifications, policyDigest: report.policyDigest };
      },
      { signers, shown: feeds },
    );
    expect(answer.versions).toEqual([2, 3, 3]);
    expect(answer.codes).toEqual(["fork", "signatures"]);
    expect(answer.current).toBe("pass");
    // Three versions signed by three, three and four keys; the state again, and what the refused feeds made necessary.
    expect(answer.verifications).toBeGreaterThanOrEqual(10);
    const newest = JSON.parse(feeds[1]!.trim().split("\n").at(-1)!) as { payload: string };
    const payload = Buffer.from(newest.payload, "base64");
    expect(answer.policyDigest).toBe(createHash("sha256").update(payload).digest("hex"));
  });

  it("a genuine pair is verified, by WebCrypto", async () => {
    const pinned = await verifyBootProof(pair(1).bootProof, { policy: NO_POLICY_ANY_ENCLAVE, now: new Date() });
    const answer = await page.evaluate(
      async ({ bootProof, appProof, policy }) => {
        const { parsePolicy, verifyEvidence } = (globalThis as unknown as { bootproof: Bundle }).bootproof;
        const verify = () =>
          verifyEvidence(
            { bootProofs: [bootProof], appProofs: [appProof] },
            { policy: parsePolicy(policy), now: new Date() },
          );
        // The first time, WebCrypto has to show what it can do.
        await verify();
        let verifications = 0;
        const native = crypto.subtle.verify.bind(crypto.subtle);
        crypto.subtle.verify = (...args: Parameters<SubtleCrypto["verify"]>) => {
          verifications++;
          return native(...args);
        };
        const { report } = await verify();
        return { report, verifications, isNode: "process" in globalThis };
      },
      { ...pair(2), policy: pinPolicy(pinned.bootProof!, { name: "captured" }) },
    );
    expect(answer.report.verdict).toBe("verified");
    expect(answer.report.checks.filter((check) => check.status === "fail")).toEqual([]);
    expect(answer.isNode).toBe(false);
    // Four links of the path, the document, two approvals, the app proof.
    expect(answer.verifications).toBe(8);
  });

  it("a request is stamped with a key that cannot leave the browser", async () => {
    const { point, message } = await page.evaluate(async () => {
      const { apiKeyStamper, createClient } = (globalThis as unknown as { bootproof: Bundle }).bootproof;
      const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign", "verify"]);
      const client = createClient({
        baseUrl: location.origin,
        organizationId: "ü",
        stamper: await apiKeyStamper(pair),
      });
      const refused = await client.getUser({ userId: "u" }).catch((error: Error) => error.message);
      return {
        point: [...new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey))],
        message: String(refused),
      };
    });
    // The lab does not know the key; what it got is checked here, over the bytes as they came, by node:crypto alone.
    expect(message).toContain("PUBLIC_KEY_NOT_FOUND");
    const { body, headers } = site.requests.at(-1)!;
    const stamp = JSON.parse(Buffer.from(headers["x-stamp"] as string, "base64url").toString()) as Record<
      string,
      string
    >;
    const spki = Buffer.concat([
      Buffer.from("3059301306072a8648ce3d020106082a8648ce3d030107034200", "hex"),
      Buffer.from(point),
    ]);
    const key = createPublicKey({ key: spki, format: "der", type: "spki" });
    expect(JSON.parse(body.toString())).toEqual({ organizationId: "ü", userId: "u" });
    expect(stamp["publicKey"]).toBe(Buffer.from([2 + (point[64]! & 1), ...point.slice(1, 33)]).toString("hex"));
    expect(verify("sha256", body, key, Buffer.from(stamp["signature"]!, "hex"))).toBe(true);
  });

  const inPage = (asked: Asked): Promise<readonly string[]> =>
    page.evaluate(
      ({ source, given }) => {
        const { bootproof } = globalThis as unknown as { bootproof: Bundle };
        return (globalThis as unknown as Record<string, typeof fetched>)[source]!(bootproof, given);
      },
      { source: "fetched", given: asked },
    );
  const inServiceWorker = (asked: Asked): Promise<readonly string[]> =>
    page.evaluate(async (given) => {
      await navigator.serviceWorker.register("/worker.js", { type: "module" });
      const { active } = await navigator.serviceWorker.ready;
      const { port1, port2 } = new MessageChannel();
      const answer = new Promise<readonly string[]>((resolve) => (port1.onmessage = ({ data }) => resolve(data)));
      active!.postMessage(given, [port2]);
      return answer;
    }, asked);

  it.each([
    ["a page", inPage],
    ["a service worker", inServiceWorker],
  ])("a wrapped fetch verifies what %s submits, and refuses a lie and a redirect", async (_, run) => {
    const { organizationId, ids, policyFile } = lab;
    const asked = {
      ...{ organizationId, userTagId: ids.userTagId, apiKey: { ...lab.apiKey }, moved: MOVED },
      policyFile: JSON.stringify(policyFile),
    };
    const [verdict, redirected] = await run({ ...asked, generateAppProofs: true });
    expect(verdict).toBe("verified");
    expect(redirected).toMatch(/the answer does not match the interface: .*redirects are not followed/);
    const [notSent] = await run({ ...asked, generateAppProofs: false });
    expect(notSent).toContain("generateAppProofs is not true");
    lab.setFault("tampered-payload");
    const [lie] = await run({ ...asked, generateAppProofs: true });
    lab.setFault(null);
    expect(lie).toMatch(/^rejected: app\.signature/);
  });

  it("a request is stamped with a passkey", async () => {
    const session = await page.context().newCDPSession(page);
    await session.send("WebAuthn.enable");
    await session.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    const passkey = await page.evaluate(async () => {
      const user = { id: new Uint8Array([1, 2, 3]), name: "alice", displayName: "Alice" };
      const authenticatorSelection = { residentKey: "required" } as const;
      const created = (await navigator.credentials.create({
        publicKey: {
          challenge: new Uint8Array(32),
          rp: { id: "localhost", name: "localhost" },
          user,
          authenticatorSelection,
          pubKeyCredParams: [{ type: "public-key", alg: -7 }],
        },
      })) as PublicKeyCredential;
      const spki = (created.response as AuthenticatorAttestationResponse).getPublicKey()!;
      return { credentialId: created.id, spki: [...new Uint8Array(spki)] };
    });
    await lab.registerPasskey(lab.ids.userId, {
      credentialId: passkey.credentialId,
      publicKey: Buffer.from(passkey.spki.slice(-65)).toString("hex"),
      rpId: "localhost",
    });
    const userId = await page.evaluate(
      async ({ organizationId, userId: id }) => {
        const { createClient, webauthnStamper } = (globalThis as unknown as { bootproof: Bundle }).bootproof;
        const stamper = webauthnStamper({ get: (options) => navigator.credentials.get(options), rpId: "localhost" });
        return (await createClient({ baseUrl: location.origin, organizationId, stamper }).getUser({ userId: id })).user
          .userId;
      },
      { organizationId: lab.organizationId, userId: lab.ids.userId },
    );
    expect(userId).toBe(lab.ids.userId);
    expect(Object.keys(JSON.parse(site.requests.at(-1)!.headers["x-stamp-webauthn"] as string) as object)).toEqual([
      "credentialId",
      "authenticatorData",
      "clientDataJson",
      "signature",
    ]);
  });
});

if (NO_CHROMIUM) console.warn(WITHOUT_CHROMIUM);
