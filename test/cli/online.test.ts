/** fetch and verify against a service: the lab, and one that answers whatever a test wants. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { type RequestListener, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { apiKeyStamper, createClient } from "../../src/client/index.js";
import { unusedProxyText, useProxies } from "../../src/cli/environment-proxy.js";
import { FAULTS, startLab } from "../../src/lab/index.js";
import { generateApiKey } from "../../src/lab/api-key.js";
import type { Loose } from "../support/loose.js";
import { APP_1, BOOT_1, check, connectionTo, failed, fileOf, readJson, reportOf, scene } from "./support.js";

const lab = await startLab({ applications: [{ name: "own", binaryDigest: "00".repeat(32) }] });
afterAll(() => lab.close());
const { baseUrl, organizationId, apiKey } = lab;
const client = createClient({ baseUrl, organizationId, stamper: await apiKeyStamper(apiKey) });
const renamed = async (walletName: string, generateAppProofs = false): Promise<string> =>
  (await client.updateWallet({ walletId: lab.ids.walletId, walletName }, { generateAppProofs })).activity.id;
const signer = lab.enclaves.find(({ app }) => app === "signer")!.ephemeralKey;
const apps = [...new Set(lab.enclaves.map(({ app }) => app))];
const newFolder = (): string => mkdtempSync(join(tmpdir(), "bootproof-fetched-"));
/** Of the service whose address is given; where nothing listens, for a port of its own. */
const toService = (url: string, key: object = apiKey): string[] =>
  connectionTo({ baseUrl: url, organizationId, apiKey: key });

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}
const closed = await closedPort();
const nobodys = await generateApiKey();
const SECRET = "5f".repeat(32);

/** Answers whatever a test wants. */
let answer: RequestListener;
const server = createServer((request, response) => answer(request, response)).listen(0, "127.0.0.1");
await once(server, "listening");
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
const any = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const N = {
  ...{ signer, none: "04".repeat(130), boot: BOOT_1, app: APP_1, apps, secret: SECRET, home: baseUrl },
  ...{ policy: fileOf(lab.policyFile), anchor: fileOf(lab.trustAnchorPem), file: fileOf({}) },
  ...{ id: await renamed("renamed", true), wallet: lab.walletActivityId, unproven: await renamed("unproven") },
  ...{ deployment: lab.application("own").deploymentId, to: toService(baseUrl), https: toService("https://a") },
  ...{ toAny: toService(any), soon: [...toService(any), "--timeout", "0.3"], nobody: toService(baseUrl, nobodys) },
  ...{ broken: fileOf({ policy: "bootproof/1", deployments: [], unheard: "of" }), escape: "none\u001b" },
  ...{ tls: toService(baseUrl.replace("http:", "https:")), closed: toService(`http://127.0.0.1:${closed}`) },
  demanding: fileOf({ ...lab.policyFile, appProofs: { required: true, decision: true, types: ["X"] } }),
  others: fileOf({
    ...lab.policyFile,
    deployments: lab.policyFile.deployments.map((one) => ({ ...one, pivotHash: "00".repeat(32) })),
  }),
};
const AROUND = {
  get now(): string {
    return new Date().toISOString();
  },
};
const { run, having, table, usage } = scene(N, AROUND);
const fetched = async (line: string): Promise<Loose> => JSON.parse((await run(`fetch ${line} $to`, 0)).stdout) as Loose;

describe("fetch", () => {
  it("gives a boot proof by key or application, which verify takes", async () => {
    for (const asked of [`--ephemeral-key $signer`, `--ephemeral-key ${signer.toUpperCase()}`, "--app signer"]) {
      const { stdout, stderr } = await run(`fetch ${asked} $to`, 0);
      expect([Object.keys(JSON.parse(stdout) as object), stderr]).toEqual([["bootProof"], ""]);
      expect(stdout).not.toContain("awsAttestationDocB64");
      await having({ it: fileOf(stdout) })("verify --boot-proof $it --policy $policy", 0);
    }
  });

  it("writes to --out what it writes to stdout otherwise, and replaces with --force only", async () => {
    const out = join(newFolder(), "boot.json");
    const { stdout } = await run("fetch --ephemeral-key $signer $to", 0);
    const what = /, the boot proof of that key, labelled signer, dated \d{4}-\S+Z: not verified yet$/;
    const names = { ...N, out, other: fileOf("older"), in: join(out, "..") };
    for (const verb of ["Written", "Unchanged"])
      await having(names)(`fetch --ephemeral-key $signer $to --out $out`, 0, `${verb}: $out, `, what);
    expect(readFileSync(out, "utf8")).toBe(stdout);
    const newest = "the newest boot proof of signer, labelled signer, dated ";
    for (const row of [
      ["fetch --app signer $to --out $other", 2, "--out $other: the file is there: give --force to replace it"],
      ["fetch --app signer $to --out $other --force", 0, "Replaced: ", newest],
      ["fetch --app signer $to --out $in", 2, "a directory, not a file"],
      ["fetch --app signer $to --force", 2, "--force requires --out FILE"],
      ["fetch --activity-id $id $to --out $in/folder --force", 2, "a folder is never replaced"],
    ] as const)
      await check(row, names);
  });

  it("writes the evidence of an activity into a folder, for verify to take in whichever way", async () => {
    const at = newFolder();
    mkdirSync(join(at, "empty"));
    const says =
      /^Written: .*, an activity and its 3 boot proofs, labelled policy-engine, signer, dated \S+ to \S+: not/;
    for (const out of ["new", "with-slash/", "empty"]) {
      const names = { ...N, out: join(at, out) };
      await having(names)("fetch --activity-id $id --out $out $to", 0, says);
      expect(readdirSync(join(at, out)).sort()).toEqual(["activity.json", "app-proofs.json", "boot-proofs.json"]);
      for (const files of ["--app-proof $out/app-proofs.json", "--activity $out/activity.json"])
        await having(names)(`verify --boot-proof $out/boot-proofs.json ${files} --policy $policy`, 0);
      await having(names)("fetch --activity-id $id --out $out $to", 0, "Unchanged: $out, an activity and its 3");
      writeFileSync(join(at, out, "activity.json"), "{}");
      await having(names)("fetch --activity-id $id --out $out $to", 2, "the folder has other files");
    }
    expect(readdirSync(at).sort()).toEqual(["empty", "new", "with-slash"]);
    const names = { ...N, at };
    await having(names)("fetch --activity-id $id --out $at/no/such $to", 2, "there is no such folder");
    await having(names)("fetch --activity-id $id --out $at/bundle.json $to", 0);
    await having(names)("verify $at/bundle.json --policy $policy", 0);
  });

  it("gives the provisioning details of a deployment", async () => {
    const { provisioningState, ...evidence } = await fetched("--deployment-id $deployment");
    expect(Object.keys(evidence)).toEqual(["attestationDocument", "manifestEnvelope"]);
    for (const value of Object.values(evidence)) expect(value).toMatch(/^[A-Za-z0-9+/]{100,}=*$/);
    expect(provisioningState).toBe("PROVISIONING_STATE_AWAITING_PROVISION");
  });

  it("gives an activity with all that proves it, by its id or from a file that has it alone", async () => {
    const whole = await fetched("--activity-id $wallet");
    expect(whole).toMatchObject({ bundle: "bootproof-bundle/1", appProofs: [], activity: { id: N.wallet } });
    const bare = { ...(whole["activity"] as Loose), appProofs: undefined };
    const names = { ...N, it: fileOf(whole), bare: fileOf(bare) };
    const { stdout } = await having(names)("verify $it --policy $policy --format json", 0);
    expect(reportOf({ stdout }).claims?.activity?.coveredAddresses.length).toBe(2);
    // Each option takes its own kind alone, and a bundle has more.
    await having(names)("verify --boot-proof $it --activity $it --policy $policy", 2);
    await having(names)("verify - --policy $policy < $it", 0);
    await having(names)("verify $it --bundle-policy", 2, "has no policy. Give --policy FILE");
    for (const content of [whole["activity"], bare, { activity: bare }, whole]) {
      const { stdout } = await having({ own: fileOf(content) })("fetch --activity $own $to", 0);
      expect(JSON.parse(stdout)).toEqual(whole);
    }
    expect(JSON.parse((await having(names)("fetch --activity - $to < $bare", 0)).stdout)).toEqual(whole);
  });

  it("takes an id for --activity as it did, and says how it is spelled now", () =>
    run("fetch --activity $id $to", 0, "note: --activity takes a file, as in bootproof verify; for an id, use --act"));

  it("writes nothing for a file with another's activity, one that waits for votes, or an app proof", async () => {
    const activity = (await fetched("--activity-id $id"))["activity"] as Loose;
    for (const [content, says] of [
      [{ ...activity, organizationId: "x" }, "belongs to organization x, but --organization-id is "],
      [
        { ...activity, status: "ACTIVITY_STATUS_CONSENSUS_NEEDED" },
        /CONSENSUS_NEEDED, id .*: fetch it again, with --a/,
      ],
      [readJson(APP_1), "this is an app proof; bootproof verify --app-proof takes it"],
    ] as const)
      await having({ own: fileOf(content) })("fetch --activity $own $to", 2, says);
  });

  const ONE_OF = "one of --ephemeral-key HEX, --app NAME, --deployment-id ID, --activity-id ID and --activity FILE is ";
  table([
    ["fetch --activity ./activity $to", 2, "bootproof: ./activity: no such file Correct the path: no activity"],
    ["fetch --activity activity.json $to", 2, "bootproof: activity.json: no such file"],
    ["fetch --activity-id $unproven $to", 3, /the service has no app proofs of the activity .*generateAppProofs/],
    ["fetch $to", 2, ONE_OF],
    ["fetch --app signer --activity-id x $to", 2, "--app cannot be used with --activity-id"],
    ["fetch --app signer --deployment-id x $to", 2, "--app cannot be used with --deployment-id"],
    ["fetch --ephemeral-key 04ff $to", 2, "--ephemeral-key: 4 hex digits, expected 260 hex digits"],
    ["fetch --app signer stray $to", 2, "too many arguments"],
    ["fetch --ephemeral-key $none $to", 3, "$home", "get_boot_proof: the service responded with HTTP 404"],
    ["fetch --deployment-id none $to", 3, "$home", "details: the service responded with HTTP 404"],
    ["fetch --app nobody $to", 3, "$home", "the service has no boot proof of this application"],
  ]);
});

describe("verify, fetching", () => {
  table([
    ["verify --ephemeral-key $signer --policy $policy $to", 0, /^VERIFIED/, "!latest boot"],
    ["verify --ephemeral-key $signer --app-proof $app --policy $policy $to", 1, "FAIL app.key"],
    ["verify --ephemeral-key $signer --no-policy --trust-anchor $anchor $to", 0, /^AUTHENTIC/],
    ["verify --activity-id $id --no-policy $to", 1],
    ["verify --activity-id $unproven --policy $policy $to", 1, "One check failed: activity.decode"],
    ["verify --policy p", 2, "--boot-proof FILE (or --attestation FILE) is required"],
    ["verify --ephemeral-key $none --policy p", 2, "--base-url URL (or BOOTPROOF_BASE_URL) is required"],
    ["verify --activity-id x $https", 2, "--policy FILE or --no-policy is required"],
    ["verify --activity-id x --boot-proof $boot --no-policy", 2, "--activity-id: requires an activity: give --activ"],
    ["verify --boot-proof $boot --no-policy --base-url https://a --timeout 3", 2, "--base-url, --timeout: not used"],
    ["verify --activity-id x --policy $broken $closed", 2, "unknown member"],
  ]);

  it("takes an activity by its id, and a key's app proof of a file", async () => {
    const { stdout, stderr } = await run("verify --activity-id $wallet --policy $policy --format json $to", 0);
    expect(stderr).toMatch(/^VERIFIED with 1 warning: /);
    expect(JSON.parse(stdout)).toMatchObject({ verdict: "verified", claims: { activity: { id: N.wallet } } });
    expect(JSON.parse(stdout)).not.toHaveProperty("bundle");
    const [proof] = (await fetched("--activity-id $wallet"))["activity"].appProofs as [{ publicKey: string }];
    const names = { ...N, key: proof.publicKey, proof: fileOf(proof) };
    await having(names)("verify --ephemeral-key $key --app-proof $proof --policy $policy $to", 0);
  });

  it("takes the connection from the environment, and an option before it", async () => {
    const env = {
      ...{ BOOTPROOF_BASE_URL: baseUrl, BOOTPROOF_ORGANIZATION_ID: organizationId },
      ...{ BOOTPROOF_API_PUBLIC_KEY: apiKey.publicKey, BOOTPROOF_API_PRIVATE_KEY: apiKey.privateKey },
    };
    const line = "verify --ephemeral-key $signer --policy $policy";
    await check([line, 0], N, { ...AROUND, env });
    await check([`${line} --organization-id another`, 3], N, { ...AROUND, env });
    const nonsense = "BOOTPROOF_BASE_URL=nonsense BOOTPROOF_API_PRIVATE_KEY=nonsense BOOTPROOF_ORGANIZATION_ID=x";
    await check([`${nonsense} ${line} $to`, 0], N, { ...AROUND, env });
    // A connection that is there does not make a file of evidence online.
    await check(["verify --boot-proof $boot --no-policy", 0], N, { env });
  });

  // Those that take another operation, or a client that knows the request, are in test/lab/faults.test.ts.
  it.each(FAULTS.filter(({ needs }) => needs === undefined))("refuses the fault $name", async ({ name, fails }) => {
    lab.setFault(name);
    const found = failed(await run("verify --activity-id $id --policy $policy --format json $to", 1));
    const isFound = (id: string): boolean => found.includes(id) || (id === "bind.key" && found.includes("app.key"));
    expect(fails.filter((id) => !isFound(id))).toEqual([]);
    if (name === "another-enclaves-proof")
      await run("verify --ephemeral-key $signer --policy $policy $to", 1, "One check failed: bind.key");
    lab.setFault(null);
  });
});

describe("verify --app", () => {
  const WORD = 'That the boot proof is of the application that you named, and of its latest boot ("signer"): only the';
  const PROVEN = "The policy proves only which of its deployments each one is.";
  const SKIPPED =
    "WARNING app proofs were not part of this verification: the policy's rules for them (appProofs.required";
  const EXCLUDES =
    "--app cannot be used with --boot-proof, --app-proof, --activity, --activity-id, " +
    "--ephemeral-key, --attestation, --request, --address";
  const NO_SUCH = ": $home: the service has no boot proof of this application: check its name";
  table([
    ["verify --app signer --policy $policy $to", 0, WORD, PROVEN],
    ["verify --app signer --no-policy --trust-anchor $anchor $to", 0, WORD, `!${PROVEN}`],
    ["verify --app signer --policy $others $to", 1],
    ["verify --app signer --policy $demanding $to", 0, SKIPPED],
    ["verify --ephemeral-key $signer --policy $demanding $to", 0, SKIPPED],
    ["verify --activity-id $wallet --policy $demanding $to", 1, "One check failed: policy.app-proof"],
    ["verify --app nobody signer $escape --policy $policy $to", 3, `nobody${NO_SUCH}`, `none\\u{1b}${NO_SUCH}`],
    ["verify --app signer --policy $policy $closed", 3, /^bootproof: signer: http.*cannot be reached/],
    ["verify --app signer --policy $policy", 2, "--base-url URL (or BOOTPROOF_BASE_URL) is required"],
    [
      "verify --app signer policy-engine signer evidence.json --policy $policy --boot-proof $boot --app-proof $app " +
        "--activity $file --activity-id x --ephemeral-key $signer --attestation $file --request $file --address 0x $to",
      2,
      EXCLUDES,
      "--app signer: repeated",
      "--app evidence.json: a file: expected the name of an application",
    ],
    ["verify bundle.json --app signer --policy $policy $to", 2, "bundle.json: a file without an option"],
  ]);

  it("fetches the newest boot proof of each application, and verifies them together", async () => {
    expect(apps.length).toBeGreaterThan(1);
    const answer = await run("verify --app $apps --format json --policy $policy $to", 0, /VERIFIED with 2 warnings: /);
    const { verdict, evidence, claims } = reportOf(answer);
    const told = apps.map((app) => [app, app]);
    expect([verdict, evidence.map(({ name, latestOf }) => [name, latestOf])]).toEqual(["verified", told]);
    const spaces = claims!.bootProofs.map(({ image }) => image.manifest!.namespace);
    expect(spaces).toEqual(apps.map((app) => `lab/${app}`));
  });

  it("reads the key once, however many are fetched, and warns of one that others may read", async () => {
    const to = toService(baseUrl);
    chmodSync(to[5]!, 0o640);
    const says = `warning: ${to[5]!} has a private key that others may read: run chmod 600 on it, or make a new key`;
    const { stderr } = await having({ to })("verify --app $apps --policy $policy $to", 0, says);
    expect(stderr.match(/warning/g)).toHaveLength(1);
  });
});

describe("pin --app", () => {
  it("fetches the newest boot proof, verifies and pins it, and says how old it is", async () => {
    const says = /^.*These values come from the evidence itself, .*This enclave started \d+ \w+ ago; /;
    const { stdout } = await run("pin --app signer --trust-anchor $anchor $to", 0, says);
    const names = { ...N, pinned: fileOf(stdout), it: fileOf(await fetched("--app signer")) };
    await having(names)("verify --boot-proof $it --policy $pinned", 0);
  });

  table([
    ["pin --app signer $to", 1, /^Not pinned\./, "chain.anchor"],
    ["pin --app nobody $to", 3, "no boot proof of this application"],
    ["pin --app signer $tls", 3, "This port speaks no TLS: use http:// for a service"],
  ]);
});

describe("the connection", () => {
  const start = "fetch --app signer --organization-id o --base-url";
  const elsewhere =
    "example.com 10.0.0.1:8080 127.evil.example localhost.evil.example 0.0.0.0 [::2] [::ffff:127.0.0.1]";
  const withoutTls = [...elsewhere.split(" ").map((host) => `http://${host}`), "HTTP://EXAMPLE.COM"];
  const ON_THE_LINE =
    "every process of this machine can read a key on the command line, and the shell's history keeps it: use --api";
  usage(start, [
    ...withoutTls.map((url): [string, RegExp] => [
      `${url} --api-key-file k`,
      /http:\/\/ is for this machine only.*read the requests and send them again.*ssh -L/,
    ]),
    ["example.com --api-key-file k", "an address such as https://"],
    ["file:///etc/passwd --api-key-file k", "an address such as https://"],
    ["https://user:$secret@example.com --api-key-file k", "must have no user or password", "!$secret"],
    ["https://example.com/?key=$secret --api-key-file k", "must have no query or fragment", "!$secret"],
    ["https://example.com/public/v1/ --api-key-file k", "must not end in /public/v1"],
    ["https://a --api-key-file k --timeout 0", "--timeout 0: expected seconds"],
    ["https://a --api-key $secret", ON_THE_LINE, "!$secret"],
    ["https://a --api-private-key $secret", ON_THE_LINE, "!$secret"],
    ["https://a --api-private-key=$secret", ON_THE_LINE, "!$secret"],
    ['https://a --api-key-file {"publicKey":"","privateKey":"$secret"}', ON_THE_LINE, "!$secret"],
  ]);

  table(
    ["http://localhost", "http://127.0.0.1", "http://127.1", "http://[::1]", "https://127.0.0.1"].map((host) => [
      `fetch ${toService(`${host}:${closed}/prefix/`).join(" ")} --app signer --timeout 5`,
      3,
      "the service cannot be reached (ECONNREFUSED). Check the base address and the network.",
    ]),
  );

  const KEY = "BOOTPROOF_API_PRIVATE_KEY";
  table([
    ["fetch", 2, "what to fetch", "BOOTPROOF_BASE_URL", "BOOTPROOF_ORGANIZATION_ID", KEY],
    [
      `BOOTPROOF_BASE_URL=https://a BOOTPROOF_ORGANIZATION_ID=o ${KEY}=$secret fetch --app a`,
      2,
      "!$secret",
      "BOOTPROOF_API_PUBLIC_KEY is required too: the environment has only the other half of the key",
    ],
    [
      "verify --ephemeral-key $signer --policy $policy $nobody",
      2,
      `!${nobodys.privateKey}`,
      /HTTP 401 PUBLIC_KEY_NOT_FOUND.*Register the key with the .* The key is not registered, has expired, or was del/,
    ],
  ]);

  const { publicKey } = apiKey;
  it.each<[string, string | RegExp]>([
    ["missing.json", "missing.json: no such file Correct the path: no missing.json in the current folder"],
    [fileOf(`{"privateKey": "${SECRET}"`), "not a key file"],
    [fileOf({ privateKey: SECRET }), "not a key file"],
    [fileOf({ publicKey, privateKey: SECRET }), ": the API key's publicKey is not that of its privateKey"],
    [fileOf({ publicKey, privateKey: "ff".repeat(32) }), "is not a private key of P-256"],
    [BOOT_1, "bootproof-1.json: this is a boot proof; bootproof verify --boot-proof takes it"],
    [APP_1, "appproof-1.json: this is an app proof; bootproof verify --app-proof takes it"],
    [fileOf(Buffer.from([0x1f, 0x8b, 8])), ": compressed with gzip"],
    [fileOf("x".repeat(5000)), ": too large for a key file"],
    ["/tmp", "/tmp: cannot be read"],
  ])("takes no key file such as %s: %s", async (file, says) => {
    await having({ it: file })(`${start} $home --api-key-file $it`, 2, says, "!$secret");
  });
});

describe("a service that answers anything", () => {
  const json =
    (status: number, body: unknown, headers = {}): RequestListener =>
    (_, response) =>
      void response
        .writeHead(status, { "Content-Type": "application/json", ...headers })
        .end(typeof body === "string" ? body : JSON.stringify(body));
  const refusing = (status: number, category: string, code = 3): RequestListener =>
    json(status, { code, message: "no\u001b[2J", details: [{ "@type": "x", turnkeyErrorCode: category }] });
  const BY_KEY = "verify --ephemeral-key $signer --policy $policy";
  const BY_ID = "verify --activity-id $id --policy $policy";

  it.each<[string | RegExp, RequestListener]>([
    [/HTTP 401 API_KEY_EXPIRED: no\\u\{1b\}\[2J\. Make a new API key/, refusing(401, "API_KEY_EXPIRED")],
    [/HTTP 403 .*Give the key's user the right/, refusing(403, "REQUEST_NOT_AUTHORIZED")],
    ["HTTP 404. Check the ids", json(404, "not JSON")],
    ["HTTP 500. Try again later", json(500, {})],
    ["HTTP 302. Redirects are not followed.", json(302, {}, { location: "https://evil.example" })],
    [
      /does not match the interface: expected a value .*Check that --base-url is the service's own/,
      json(200, "<html>"),
    ],
    ["no member of a boot proof: check the base address", json(200, {})],
    ["no member of a boot proof", json(200, { bootProof: {} })],
    ["no member of a boot proof", json(200, { bootProof: null })],
    ["no member of a boot proof", json(200, { bootProof: { code: 5, message: "" } })],
    ['member "bootProof" appears twice', json(200, '{"bootProof":1,"bootProof":1}')],
    ["no answer within 300 ms. Try again, or set a longer --timeout SECONDS.", () => {}],
    ["cannot be reached", (request) => request.socket.destroy()],
  ])("is exit code 3, and what to do: %s", async (says, listener) => {
    answer = listener;
    await run(`${BY_KEY} $soon`, 3, says, /^[\x20-\x7e]*$/, "!unexpected");
  });

  it.each([
    [401, "API_KEY_EXPIRED", 16, 2],
    [403, "REQUEST_NOT_AUTHORIZED", 7, 2],
    [401, "API_KEY_EXPIRED", 7, 3],
    [403, "REQUEST_NOT_AUTHORIZED", 16, 3],
    [400, "SIGNATURE_INVALID", 16, 3],
  ] as const)("HTTP %s %s with code %s is exit code %s: the service itself refuses the key", async (...row) => {
    const [status, category, code, exit] = row;
    answer = refusing(status, category, code);
    const says = `${exit === 2 ? "" : "!"}The key is not registered, has expired, or was deleted`;
    for (const line of [BY_KEY, BY_ID, "verify --app a b --policy $policy"])
      await run(`${line} $soon`, exit, `HTTP ${status}`, says);
  });

  it("tells a repetition that takes two seconds: what, how often, until when", async () => {
    let count = 0;
    const first = (headers: object): RequestListener => {
      count = 0;
      return (...each) => (count++ === 0 ? json(503, {}, headers) : json(404, ""))(...each);
    };
    answer = first({ "retry-after": "2" });
    const says =
      /^note: get_boot_proof: .* HTTP 503\. Try again later\. Attempt 2 of 3 begins in 2 s, and ends by 20\S+Z/;
    await run(`${BY_KEY} $soon`, 3, says);
    answer = first({});
    await run(`${BY_KEY} $soon`, 3, "!note:");
  });

  it("tells a port that is closed, or that fetch does not use, within three seconds", async () => {
    const begun = performance.now();
    for (const port of [closed, 1])
      for (const line of ["fetch --app a", BY_ID])
        await having({ at: toService(`http://127.0.0.1:${port}`) })(`${line} $at`, 3, "cannot be reached");
    expect(performance.now() - begun).toBeLessThan(12_000);
  });

  /** Answers what the lab does, but for some operations. */
  const labBut =
    (operations: Record<string, unknown>): RequestListener =>
    async (request, response) => {
      const operation = request.url!.split("/").at(-1)!;
      if (operation in operations)
        return json(operations[operation] === null ? 404 : 200, operations[operation] ?? {})(request, response);
      const chunks = await request.toArray();
      const headers = { "Content-Type": "application/json", "X-Stamp": request.headers["x-stamp"] as string };
      const body = Buffer.concat(chunks as Buffer[]);
      const answered = await fetch(baseUrl + request.url!, { method: "POST", body, headers });
      response.writeHead(answered.status).end(await answered.text());
    };

  it("that has no boot proof where one belongs is exit code 3, and one with a part of it is rejected", async () => {
    for (const [operation, line] of [
      ["get_boot_proof", "fetch --ephemeral-key $signer"],
      ["get_boot_proof", BY_KEY],
      ["get_boot_proof", "fetch --activity-id $id"],
      ["get_boot_proof", BY_ID],
      ["get_latest_boot_proof", "fetch --app signer"],
      ["get_latest_boot_proof", "verify --app signer --policy $policy"],
    ] as const) {
      answer = labBut({ [operation]: { bootProof: { name: "package", version: "1.0.0" } } });
      await run(`${line} $toAny`, 3, "the response has no member of a boot proof");
      answer = labBut({ [operation]: { bootProof: { qosManifestB64: "" } } });
      await run(`${line} $toAny`, line.startsWith("fetch") ? 0 : 1);
    }
  });

  it("leaves no part of a folder of evidence, and the older file, where it fails", async () => {
    const at = newFolder();
    writeFileSync(join(at, "evidence.json"), "older");
    answer = labBut({ get_boot_proof: {} });
    for (const out of ["$at/evidence", "$at/evidence.json"])
      await having({ at })(`fetch --activity-id $id --out ${out} $toAny`, 3);
    expect([readdirSync(at), readFileSync(join(at, "evidence.json"), "utf8")]).toEqual([["evidence.json"], "older"]);
  });

  const PROVISIONING = "get_tvc_deployment_provisioning_details";
  it("with more than the provisioning details has only these written, and with less none", async () => {
    const details = { attestationDocument: "hEQ=", manifestEnvelope: "e30=" };
    answer = labBut({ [PROVISIONING]: { ...details, validationTimeSecs: 1 } });
    expect(JSON.parse((await run("fetch --deployment-id d $toAny", 0)).stdout)).toEqual(details);
    answer = labBut({ [PROVISIONING]: { ...details, manifestEnvelope: null } });
    const lacks = `${PROVISIONING}: the response lacks attestationDocument or manifestEnvelope`;
    await run("fetch --deployment-id d $toAny", 3, lacks);
  });

  it("with bytes in another spelling has them named, and nothing written or called a forgery", async () => {
    const { bootProof } = (await fetched("--app signer")) as { bootProof: Loose };
    const ephemeralPublicKeyHex = `0x${bootProof["ephemeralPublicKeyHex"] as string}`;
    answer = labBut({ get_boot_proof: { bootProof: { ...bootProof, ephemeralPublicKeyHex } } });
    for (const line of ["fetch", "verify --policy $policy"])
      await run(
        `${line} --ephemeral-key ${ephemeralPublicKeyHex.slice(2)} $toAny`,
        3,
        "the boot proof of the response: ephemeralPublicKeyHex: hex with 0x: expected hex digits",
      );
  });

  it.each([
    [{}, "PENDING", "not provisioned yet: PROVISIONING_STATE_PENDING"],
    [{ manifestEnvelope: "e30=" }, "AWAITING_PROVISION", "not provisioned yet: PROVISIONING_STATE_AWAITING"],
    [{ attestationDocument: "" }, "PROVISIONED", "provisioned, without an attestation document: PROVISIONING_STATE_"],
  ])("with %j and the state %s alone says that state, without advice about the address", async (more, state, says) => {
    const sent = { ...more, provisioningState: `PROVISIONING_STATE_${state}` };
    answer = labBut({ [PROVISIONING]: sent });
    await run("fetch --deployment-id d $toAny", 3, says, /^(?!.*base.(?:url|address))/i);
    const names = { ...N, sent: fileOf(sent) };
    const is = `this is a deployment's state, not evidence: ${says}`;
    await having(names)("verify --boot-proof $sent --policy $policy", 2, is);
  });

  const activityOf = async (): Promise<Loose> => (await fetched("--activity-id $id"))["activity"] as Loose;
  it("with the app proofs beside the activity has them judged inside it", async () => {
    const { appProofs, ...bare } = await activityOf();
    answer = labBut({ get_activity: { activity: bare }, list_app_proofs: { appProofs } });
    const report = reportOf(await run(`${BY_ID} --format json $toAny`, 0));
    expect(report.claims?.activity?.id).toBe(N.id);
  });

  const WAITS = { status: "ACTIVITY_STATUS_CONSENSUS_NEEDED" };
  it.each<[object, string | RegExp]>([
    [{ id: "another" }, "this is not the requested activity: id is another, "],
    [{ organizationId: "another" }, "this is not the requested activity: organizationId is another, "],
    [WAITS, "other users have to approve it (CONSENSUS_NEEDED, id "],
    [{ ...WAITS, result: {}, appProofs: [] }, "other users have to approve it (CONSENSUS_NEEDED, id "],
  ])("with an activity of %j is rejected, and not fetched", async (change, says) => {
    answer = labBut({ get_activity: { activity: { ...(await activityOf()), ...change } } });
    const rejected = await run(`${BY_ID} --format json $toAny`, 1);
    expect([failed(rejected).includes("activity.request"), reportOf(rejected).claims]).toEqual([true, null]);
    await run("fetch --activity-id $id $toAny", 3, says);
  });

  const another = { ...readJson(BOOT_1), enclaveApp: "another\u001b" };
  const IS_ANOTHER = /^bootproof: signer: .*bootProof\.enclaveApp: [\x20-\x7e]*, expected "signer"/;
  const NO_LISTS = { get_activity: null, list_app_proofs: { appProofs: [] } };
  it.each<[string, string, number, string | RegExp, Record<string, unknown>]>([
    ["no activity", "fetch --activity-id $id", 3, "--activity FILE", { get_activity: null }],
    ["no activity", BY_ID, 3, "--activity FILE", { get_activity: null }],
    ["neither activity nor app proofs", BY_ID, 3, "does not return the activity", NO_LISTS],
    ["no boot proof", BY_ID, 1, "FAIL app.key", { get_boot_proof: null }],
    [
      "no boot proof",
      "fetch --activity-id $id",
      3,
      /no boot proof of the key 04[0-9a-f]+, w/,
      { get_boot_proof: null },
    ],
    [
      "another's",
      "verify --app signer --policy $policy",
      3,
      IS_ANOTHER,
      { get_latest_boot_proof: { bootProof: another } },
    ],
  ])("with %s: %s is %i", async (_, line, code, says, operations) => {
    answer = labBut(operations);
    await run(`${line} $toAny`, code, says);
  });

  it("with a boot proof that has no label, as deployed services answer, is judged by what is in it", async () => {
    const { bootProof } = (await fetched("--app signer")) as { bootProof: Loose };
    for (const [change, code] of [
      [{}, 0],
      [{ qosManifestB64: "%" }, 1],
    ] as const) {
      answer = labBut({ get_latest_boot_proof: { bootProof: { ...bootProof, enclaveApp: undefined, ...change } } });
      await run("verify --app signer --no-policy --trust-anchor $anchor $toAny", code);
    }
  });
});

describe("a proxy of the environment", () => {
  const HTTPS = "https://service.invalid";
  const proxy = { HTTPS_PROXY: "http://user:secret@127.0.0.1:9" };
  const old = { version: "v20.20.2", flags: new Set<string>(), execArgv: [] };
  const start = { version: "v22.21.0", flags: new Set(["--use-env-proxy"]), execArgv: [] };
  const runtime = { ...start, setGlobalProxyFromEnv: () => undefined };
  const names = { to: toService(HTTPS) };

  it("is named where the network fails and this Node does not use it, without its value", async () => {
    // A Node that uses it has no reason to say so.
    const says = `${unusedProxyText(HTTPS, proxy) === "" ? "!" : ""}HTTPS_PROXY is set, but Node `;
    await check(["fetch --app signer --timeout 2 $to", 3, "!secret", says], names, { env: proxy });
    await having(names)("fetch --app signer --timeout 2 $to", 3, "!PROXY");
  });

  it.each([
    ["an old Node", HTTPS, proxy, old, "HTTPS_PROXY is set, but Node v20.20.2 cannot use a proxy: "],
    ["in lower case", HTTPS, { https_proxy: "http://p:1" }, old, "https_proxy is set, but Node "],
    ["a Node that reads it at its start", HTTPS, proxy, start, "uses it only with NODE_USE_ENV_PROXY=1"],
    ["one that was started so", HTTPS, { ...proxy, NODE_USE_ENV_PROXY: "1" }, start, ""],
    ["one with the option", HTTPS, proxy, { ...start, execArgv: ["--use-env-proxy"] }, ""],
    ["one with the option in its environment", HTTPS, { ...proxy, NODE_OPTIONS: "-x --use-env-proxy" }, start, ""],
    ["one that can do it at run time", HTTPS, proxy, runtime, ""],
    ["no proxy", HTTPS, {}, old, ""],
    ["an empty one", HTTPS, { HTTPS_PROXY: "" }, old, ""],
    ["the proxy of the other protocol", HTTPS, { HTTP_PROXY: "http://p:1" }, old, ""],
    ["an excepted host", HTTPS, { ...proxy, NO_PROXY: "a.example, .INVALID" }, old, ""],
    ["every host excepted", HTTPS, { ...proxy, no_proxy: "*" }, old, ""],
    ["another host excepted", HTTPS, { ...proxy, NO_PROXY: "vice.invalid" }, old, "HTTPS_PROXY is set"],
    ["this machine", "http://127.0.0.1:8080", { HTTP_PROXY: "http://p:1" }, old, ""],
  ])("has the sentence that fits: %s", (_, url, env, node, words) => {
    const text = unusedProxyText(url, env, node);
    expect(words === "" ? text : text.includes(words)).toEqual(words === "" ? "" : true);
    expect(text).not.toContain("secret");
  });

  it("is used at run time where Node can, but never for this machine, whose address may be plain HTTP", () => {
    const used: object[] = [];
    const http = { setGlobalProxyFromEnv: (env: object) => used.push(env) };
    useProxies({ NO_PROXY: "a.example" }, http);
    expect(used).toEqual([]);
    useProxies({ ...proxy, http_proxy: "http://p:1", HTTP_PROXY: "http://q:1", NO_PROXY: "a.example" }, http);
    const NO_PROXY = "a.example,localhost,127.0.0.1,::1,[::1]";
    expect(used).toEqual([{ HTTPS_PROXY: proxy.HTTPS_PROXY, HTTP_PROXY: "http://p:1", NO_PROXY }]);
    const refuses = (): never => {
      throw new Error("Invalid proxy: http://user:secret@127.0.0.1:9");
    };
    expect(() => useProxies(proxy, { setGlobalProxyFromEnv: refuses })).toThrow(
      /^HTTPS_PROXY: expected the address of/,
    );
  });

  /** Where this Node has a way: a request that a proxy sees as CONNECT, to the host of the service. */
  it.runIf(unusedProxyText(HTTPS, { ...proxy, NODE_USE_ENV_PROXY: "1" }) === "")(
    "is asked to connect to the service",
    async () => {
      const asked: string[] = [];
      const between = createServer().on("connect", ({ url }, socket) => {
        asked.push(url!);
        socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
      });
      await once(between.listen(0, "127.0.0.1"), "listening");
      const { port } = between.address() as AddressInfo;
      const env = { ...process.env, HTTPS_PROXY: `http://127.0.0.1:${port}`, NODE_USE_ENV_PROXY: "1" };
      const args = ["dist/bin/bootproof.cjs", "fetch", "--app", "signer", ...names.to];
      const [code] = (await once(spawn(process.execPath, args, { env, stdio: "ignore" }), "exit")) as [number];
      between.close();
      expect([code, new Set(asked)]).toEqual([3, new Set(["service.invalid:443"])]);
    },
  );
});

it("watch --max-age refuses an enclave that started longer ago", async () => {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const watch = "watch --app signer --policy $policy --once --max-age";
  await run(`${watch} 1s $to`, 1, "REJECTED signer only because of its age: policy.age");
  await run(`${watch} 1d $to`, 0);
});
