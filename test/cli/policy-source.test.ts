/** `--policy` in each of its forms: a policy, a feed, an envelope, an address. */
import { type RequestListener, type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { InputFiles } from "../../src/cli/files.js";
import type { Io } from "../../src/cli/io.js";
import { readGivenPolicy } from "../../src/cli/policy-source.js";
import { DAY, TestFeed, newSigner, payloadIn, sha256Hex } from "../support/signed-policies.js";
import { fileOf } from "./support.js";

const NOW = new Date("2026-03-04T05:06:07.000Z");
const lab = new Forge();
const POLICY = labPolicy(forgeEvidence({ lab, at: NOW }).anchorPem, [labDeployment(lab)]);

function feedOf(versions = 2): TestFeed {
  const feed = new TestFeed([newSigner(), newSigner("ed25519")], 2);
  for (let version = 1; version <= versions; version++)
    feed.add({ policy: { ...POLICY, name: `v${version}` }, issuedAt: new Date(NOW.getTime() - DAY + version) });
  return feed;
}

async function reading(
  flags: Parameters<typeof readGivenPolicy>[1],
  stdin = "",
): Promise<{ given: Awaited<ReturnType<typeof readGivenPolicy>>; faults: InputFiles["faults"]; warnings: string }> {
  let warnings = "";
  const io = {
    stdin: [Buffer.from(stdin)],
    stderr: { write: (text: string) => (warnings += text) },
    env: {},
    now: () => NOW,
  } as unknown as Io;
  const files = new InputFiles(io, "verify");
  const given = await readGivenPolicy(files, flags, io);
  return { given, faults: files.faults, warnings };
}

const feed = feedOf();
const [policy, feedFile, signers] = [fileOf(POLICY), fileOf(feed.text(), "feed.jsonl"), fileOf(feed.pinned)];

describe("--policy", () => {
  it("of a plain policy is read as it always was", async () => {
    const { given, faults } = await reading({ policy });
    expect([given!.policy.deployments.length, given!.policy.signed, given!.signed, faults]).toEqual([
      1,
      null,
      null,
      [],
    ]);
    expect(await reading({ policy: false })).toEqual({ given: undefined, faults: [], warnings: "" });
    expect(await reading({})).toEqual({ given: undefined, faults: [], warnings: "" });
  });

  it("of a feed is its newest version, from a file or stdin", async () => {
    for (const [path, stdin] of [[feedFile], ["-", feed.text()]] as const) {
      const { given, faults } = await reading({ policy: path, policySigners: signers }, stdin);
      expect(faults).toEqual([]);
      expect([given!.policy.name, given!.signed!.version]).toEqual(["v2", 2]);
      expect(given!.policy.signed).toMatchObject({
        version: 2,
        sha256: sha256Hex(payloadIn(feed.envelopes[1]!)),
        remembered: false,
      });
    }
  });

  it("of one envelope is the version that judges, also if it is written over several lines", async () => {
    for (const text of [JSON.stringify(feed.envelopes[0]), JSON.stringify(feed.envelopes[0], null, 2)]) {
      const { given } = await reading({ policy: fileOf(text, "v1.json"), policySigners: signers });
      expect([given!.policy.name, given!.signed!.version]).toEqual(["v1", 1]);
    }
  });

  it("of a feed that grows is read again at a refresh", async () => {
    const [growing, path] = [feedOf(1), fileOf("", "growing.jsonl")];
    writeFileSync(path, growing.text());
    const { given } = await reading({ policy: path, policySigners: fileOf(growing.pinned) });
    growing.add({ policy: POLICY, issuedAt: NOW });
    writeFileSync(path, growing.text());
    expect([await given!.signed!.refresh(), given!.signed!.version]).toEqual([true, 2]);
  });

  it("with a state remembers, refuses a rollback, and does without the feed", async () => {
    const state = `${fileOf("", "folder")}.state`;
    const flags = { policy: feedFile, policySigners: signers, policyState: state };
    expect((await reading(flags)).given!.policy.signed!.remembered).toBe(true);
    expect(existsSync(state)).toBe(true);
    const old = await reading({ ...flags, policy: fileOf(feed.text(1, 1)) });
    expect(old.given).toBeUndefined();
    expect(old.faults).toMatchObject([{ code: "version", message: expect.stringContaining("a rollback") as string }]);
    const without = await reading({ ...flags, policy: `${state}.none` });
    expect([without.given!.signed!.version, without.faults]).toEqual([2, []]);
    expect(without.warnings).toMatch(/^warning: .*no such file.*version 2 of the state is used\n$/);
    const kept = readFileSync(state, "utf8");
    writeFileSync(state, "{}");
    expect((await reading(flags)).faults).toMatchObject([{ code: "state" }]);
    expect(kept).toContain("bootproof-signed-policy-state/1");
  });

  it("takes the present of the verification, in which a later version is not in force yet", async () => {
    const early = feedOf(1);
    early.add({ policy: POLICY, issuedAt: new Date(NOW.getTime() + DAY) });
    const flags = { policy: fileOf(early.text()), policySigners: fileOf(early.pinned) };
    const { given, warnings } = await reading(flags);
    expect([given!.signed!.version, warnings]).toEqual([1, expect.stringContaining("issued in the future")]);
    const io = { env: {}, now: () => NOW } as unknown as Io;
    const later = () => new Date(NOW.getTime() + 2 * DAY);
    expect((await readGivenPolicy(new InputFiles(io, "verify"), flags, io, later))!.signed!.version).toBe(2);
  });
});

describe("a fault of --policy", () => {
  const noneSign = fileOf({ ...feed.pinned, threshold: 0 });
  const oneKey = { ...feed.pinned, keys: [newSigner().pem, newSigner().pem] };
  it.each<[what: string, flags: Parameters<typeof readGivenPolicy>[1], message: string, code?: string]>([
    ["an envelope without signers", { policy: fileOf(feed.envelopes[0]) }, "this is a signed policy"],
    ["an address without signers", { policy: "https://a.example/f?key=1" }, "--policy https://a.example is a URL"],
    ["a password", { policy: "https://u:p@a.example/f", policySigners: signers }, "must have no user or password"],
    ["no address", { policy: "https://", policySigners: signers }, "--policy: expected a file, or an address such as"],
    ["a missing file", { policy: "none.jsonl", policySigners: signers }, "no such file", "fetch"],
    ["missing signers", { policy: feedFile, policySigners: "none.json" }, "no such file"],
    ["no signers", { policy: feedFile, policySigners: policy }, "this is a policy; --policy takes it"],
    ["malformed signers", { policy: feedFile, policySigners: noneSign }, "policy signers: threshold", "malformed"],
    ["other signers", { policy: feedFile, policySigners: fileOf(oneKey) }, "0 of the 2 keys", "signatures"],
    ["another name", { policy: feedFile, policySigners: fileOf({ ...feed.pinned, name: "x" }) }, "x is pinned", "name"],
    ["a cut feed", { policy: fileOf(feed.text().slice(0, 900)), policySigners: signers }, "feed line 1", "malformed"],
  ])("is told: %s", async (_, flags, message, code) => {
    const { given, faults } = await reading(flags);
    expect(given).toBeUndefined();
    expect(faults).toHaveLength(1);
    expect(faults[0]!.message).toContain(message);
    expect(faults[0]!.code).toBe(code);
    expect(JSON.stringify(faults)).not.toContain("key=1");
  });
});

it("malformed signers have the name of their file", async () => {
  const policySigners = fileOf({ ...feed.pinned, threshold: 0 });
  expect((await reading({ policy: feedFile, policySigners })).faults).toMatchObject([{ file: policySigners }]);
});

const servers: Server[] = [];
afterEach(async () => {
  vi.unstubAllGlobals();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serving(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("an address", () => {
  const at = (policy: string): ReturnType<typeof reading> => reading({ policy, policySigners: signers });

  it("is fetched, and shown without its query", async () => {
    const address = await serving((_, response) => response.end(feed.text()));
    const { given, faults } = await at(`${address}/feed.jsonl?token=secret`);
    expect(faults).toEqual([]);
    expect([given!.path, given!.signed!.version]).toEqual([`${address}/feed.jsonl`, 2]);
  });

  it.each<[what: string, listener: RequestListener, message: RegExp]>([
    ["an error", (_, response) => response.writeHead(404).end(), /^HTTP 404$/],
    ["no connection", (request) => request.socket.destroy(), /^(?:UND_ERR_SOCKET|ECONNRESET)$/],
    [
      "a redirect to plain HTTP",
      (_, response) => response.writeHead(302, { location: "http://127.0.0.1:1/feed" }).end(),
      /^redirected to http:\/\/127\.0\.0\.1:1, and only https:/,
    ],
    [
      "a feed that does not end",
      (_, response) => {
        const more = (): void => void response.write("x".repeat(65_536), () => setImmediate(more));
        more();
      },
      /^larger than 8388608 bytes$/,
    ],
  ])("that gives %s is exit code 2, with the code fetch", async (_, listener, message) => {
    const { faults } = await at(await serving(listener));
    expect(faults).toMatchObject([{ code: "fetch", message: expect.stringMatching(message) as string }]);
  });

  it("is left when time is up", async () => {
    vi.spyOn(AbortSignal, "timeout").mockImplementation((milliseconds) => {
      expect(milliseconds).toBe(10_000);
      const abort = new AbortController();
      setTimeout(() => abort.abort(new DOMException("late", "TimeoutError")), 50);
      return abort.signal;
    });
    const { faults } = await at(await serving((_, response) => void response.write("{")));
    expect(faults).toMatchObject([{ code: "fetch", message: "no answer within 10 seconds" }]);
    vi.restoreAllMocks();
  });

  it("is followed to HTTPS, a few times", async () => {
    const asked: string[] = [];
    vi.stubGlobal("fetch", (url: URL) => {
      asked.push(url.href);
      const isEnd = url.pathname === "/3";
      const next = { status: 307, headers: { location: `https://b.example/${asked.length}` } };
      return Promise.resolve(isEnd ? new Response(feed.text()) : new Response("moved", next));
    });
    const { given } = await at("https://a.example/feed");
    expect(given!.signed!.version).toBe(2);
    expect(asked).toEqual(["https://a.example/feed", ...[1, 2, 3].map((each) => `https://b.example/${each}`)]);
    const again = vi.fn(() => Promise.resolve(new Response(null, { status: 301, headers: { location: "/" } })));
    vi.stubGlobal("fetch", again);
    expect((await at("https://a.example/")).faults).toMatchObject([{ message: "redirected more than 5 times" }]);
    expect(again).toHaveBeenCalledTimes(6);
  });
});
