/** fetch and verify against a service: the lab, and one that answers whatever a test wants. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { type RequestListener, createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiKeyStamper, createClient } from "../../src/client/index.js";
import { unusedProxyText, useProxies } from "../../src/cli/environment-proxy.js";
import { FAULTS, type Lab, startLab } from "../../src/lab/index.js";
import { generateApiKey } from "../../src/lab/api-key.js";
import type { Report } from "../../src/report/report.js";
import type { Loose } from "../support/loose.js";
import {
  APP_1,
  type Answer,
  BOOT_1,
  bootproof,
  connectionTo,
  fileOf,
  readJson,
  words,
  refusal,
  refused,
} from "./support.js";

let lab: Lab;
let connection: string[];
let policy: string;
let signer: string;
/** Of an update_wallet. */
let activityId: string;

beforeAll(async () => {
  lab = await startLab({ applications: [{ name: "own", binaryDigest: "00".repeat(32) }] });
  connection = connectionTo(lab);
  policy = fileOf(lab.policyFile);
  signer = lab.enclaves.find(({ app }) => app === "signer")!.ephemeralKey;
  const client = createClient({
    baseUrl: lab.baseUrl,
    organizationId: lab.organizationId,
    stamper: await apiKeyStamper(lab.apiKey),
  });
  activityId = (
    await client.updateWallet({ walletId: lab.ids.walletId, walletName: "renamed" }, { generateAppProofs: true })
  ).activity.id;
});
afterAll(() => lab.close());

const present = (): { now: string } => ({ now: new Date().toISOString() });
const online = (...args: string[]): Promise<Answer> => bootproof([...args, ...connection], present());
const offline = (...args: string[]): Promise<Answer> => bootproof(args, present());

function failed(stdout: string): string[] {
  return (JSON.parse(stdout) as Report).checks.filter((check) => check.status === "fail").map((check) => check.id);
}

describe("fetch", () => {
  it.each([
    ["by key", () => ["--ephemeral-key", signer]],
    ["by key, in capitals", () => ["--ephemeral-key", signer.toUpperCase()]],
    ["by application", () => ["--app", "signer"]],
  ])("a boot proof %s", async (_, args) => {
    const { code, stdout, stderr } = await online("fetch", ...args());
    expect([code, stderr]).toEqual([0, ""]);
    expect(Object.keys(JSON.parse(stdout) as object)).toEqual(["bootProof"]);
    expect(stdout).not.toContain("awsAttestationDocB64");
    expect((await offline("verify", "--boot-proof", fileOf(stdout), "--policy", policy)).code).toBe(0);
  });

  it("writes to --out what it writes to stdout otherwise, and says what it is", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "bootproof-fetched-")), "boot.json");
    const { stdout } = await online("fetch", "--ephemeral-key", signer);
    const what = /, the boot proof of that key, labelled signer, dated \d{4}-\S+Z: not verified yet\n$/;
    for (const verb of ["Written", "Unchanged"]) {
      const { code, stdout: none, stderr } = await online("fetch", "--ephemeral-key", signer, "--out", path);
      expect([code, none, stderr]).toEqual([0, "", expect.stringMatching(what)]);
      expect(stderr.startsWith(`${verb}: ${path}, `)).toBe(true);
      expect(readFileSync(path, "utf8")).toBe(stdout);
    }
    const newest = await online("fetch", "--app", "signer", "--out", `${path}.2`);
    expect(newest.stderr).toMatch(/, the newest boot proof of signer, labelled signer, dated /);
    await refused(2, online("fetch", "--app", "signer", "--out", join(path, "..")), "a directory, not a file");
  });

  it("replaces another file with --force only", async () => {
    const path = fileOf("older");
    const args = ["fetch", "--ephemeral-key", signer, "--out", path];
    await refused(2, online(...args), `--out ${path}: the file is there: give --force to replace it`);
    expect(readFileSync(path, "utf8")).toBe("older");
    const { code, stderr } = await online(...args, "--force");
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^Replaced: /)]);
    expect(Object.keys(readJson(path))).toEqual(["bootProof"]);
    await refused(2, online("fetch", "--app", "signer", "--force"), "--force requires --out FILE");
    const folder = ["--activity-id", activityId, "--out", join(path, "..", "folder"), "--force"];
    await refused(2, online("fetch", ...folder), "--force requires --out FILE: a folder has to be new or empty");
  });

  it("writes the evidence of an activity into a folder, for verify to take in whichever way", async () => {
    const at = mkdtempSync(join(tmpdir(), "bootproof-fetched-"));
    mkdirSync(join(at, "empty"));
    for (const out of ["new", "with-slash/", "empty"]) {
      const folder = join(at, out);
      const { code, stdout, stderr } = await online("fetch", "--activity-id", activityId, "--out", folder);
      expect([code, stdout]).toEqual([0, ""]);
      expect(stderr).toMatch(/^Written: .*, an activity and its 3 boot proofs, labelled policy-engine, signer, dated /);
      expect(stderr).toMatch(/dated \S+ to \S+: not verified/);
      expect(readdirSync(folder).sort()).toEqual(["activity.json", "app-proofs.json", "boot-proofs.json"]);
      const [boot, app, activity] = ["boot-proofs", "app-proofs", "activity"].map((name) =>
        join(folder, `${name}.json`),
      );
      for (const files of [
        ["--app-proof", app!],
        ["--activity", activity!],
        ["--app-proof", app!, "--activity", activity!],
      ])
        expect((await offline("verify", "--boot-proof", boot!, ...files, "--policy", policy)).code).toBe(0);
      await refused(2, online("fetch", "--activity-id", activityId, "--out", folder), "the folder is not empty");
    }
    expect(readdirSync(at).sort()).toEqual(["empty", "new", "with-slash"]);
    await refused(
      2,
      online("fetch", "--activity-id", activityId, "--out", join(at, "no/such")),
      "there is no such folder",
    );
    const file = join(at, "bundle.json");
    expect((await online("fetch", "--activity-id", activityId, "--out", file)).code).toBe(0);
    expect((await offline("verify", file, "--policy", policy)).code).toBe(0);
  });

  it("the provisioning details of a deployment", async () => {
    const { deploymentId } = lab.application("own");
    const { code, stdout, stderr } = await online("fetch", "--deployment-id", deploymentId);
    expect([code, stderr]).toEqual([0, ""]);
    const { provisioningState, ...evidence } = JSON.parse(stdout) as Loose;
    expect(Object.keys(evidence)).toEqual(["attestationDocument", "manifestEnvelope"]);
    for (const value of Object.values(evidence)) expect(value).toMatch(/^[A-Za-z0-9+/]{100,}=*$/);
    expect(provisioningState).toBe("PROVISIONING_STATE_AWAITING_PROVISION");
  });

  it("an activity with all that proves it, for verify to take in whichever way", async () => {
    const { code, stdout, stderr } = await online("fetch", "--activity-id", lab.walletActivityId);
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toMatchObject({
      bundle: "bootproof-bundle/1",
      appProofs: [],
      activity: { id: lab.walletActivityId },
    });
    const file = fileOf(stdout);
    const { code: verified, stdout: report } = await offline("verify", file, "--policy", policy, "--format", "json");
    expect([verified, (JSON.parse(report) as Report).claims?.activity?.coveredAddresses.length]).toEqual([0, 2]);
    // Each option takes its own kind alone, and a bundle has more.
    expect((await offline("verify", "--boot-proof", file, "--activity", file, "--policy", policy)).code).toBe(2);
    expect((await bootproof(["verify", "-", "--policy", policy], { stdin: stdout, ...present() })).code).toBe(0);
    expect((await offline("verify", file, "--bundle-policy")).stderr).toContain("has no policy. Give --policy FILE");
  });

  it("what the activity in a file lacks, as if it were fetched by its id", async () => {
    const whole = JSON.parse((await online("fetch", "--activity-id", lab.walletActivityId)).stdout) as Loose;
    const bare = { ...(whole["activity"] as Loose), appProofs: undefined };
    for (const content of [whole["activity"], bare, { activity: bare }, whole]) {
      const { code, stdout, stderr } = await online("fetch", "--activity", fileOf(content));
      expect([code, stderr]).toEqual([0, ""]);
      expect(JSON.parse(stdout)).toEqual(whole);
    }
    const { code, stdout } = await bootproof(["fetch", "--activity", "-", ...connection], {
      stdin: JSON.stringify(bare),
    });
    expect([code, JSON.parse(stdout)]).toEqual([0, whole]);
  });

  it("takes an id for --activity as it did, and says how it is spelled now", async () => {
    const { code, stdout, stderr } = await online("fetch", "--activity", activityId);
    expect([code, (JSON.parse(stdout) as Loose)["activity"].id]).toEqual([0, activityId]);
    expect(stderr).toBe("note: --activity takes a file, as in bootproof verify; for an id, use --activity-id ID\n");
  });

  it.each<[string, (activity: Loose) => unknown, RegExp]>([
    [
      "another organization's",
      (activity) => ({ ...activity, organizationId: "x" }),
      /belongs to organization x, but --organization-id is /,
    ],
    [
      "one that waits for votes",
      (activity) => ({ ...activity, status: "ACTIVITY_STATUS_CONSENSUS_NEEDED" }),
      /other users have to approve it \(CONSENSUS_NEEDED, id .*\): fetch it again, with --activity-id/,
    ],
    ["an app proof", () => readJson(APP_1), /this is an app proof; bootproof verify --app-proof takes it/],
  ])("writes nothing for a file with %s", async (_, change, message) => {
    const { activity } = JSON.parse((await online("fetch", "--activity-id", activityId)).stdout) as Loose;
    await refused(2, online("fetch", "--activity", fileOf(change(activity as Loose))), message);
  });

  it("takes what looks like a file for one, where it is not there", async () => {
    for (const file of ["./activity", "activity.json"])
      expect(await online("fetch", "--activity", file)).toEqual({
        code: 2,
        stdout: "",
        stderr: expect.stringContaining(`bootproof: ${file}: no such file\nNo activity`) as string,
      });
  });

  it("writes no incomplete evidence", async () =>
    refused(
      3,
      online("fetch", "--activity-id", await withoutProofs()),
      /the service has no app proofs of the activity .*generateAppProofs/,
    ));

  it.each([
    [
      "nothing",
      [],
      "one of --ephemeral-key HEX, --app NAME, --deployment-id ID, --activity-id ID and --activity FILE is required",
    ],
    [
      "two things",
      ["--app", "signer", "--activity-id", "x"],
      "one of --ephemeral-key HEX, --app NAME, --deployment-id ID, --activity-id ID and --activity FILE is required",
    ],
    ["two of another kind", ["--app", "signer", "--deployment-id", "x"], "--deployment-id ID"],
    ["no deployment", ["--deployment-id", ""], "--deployment-id: empty"],
    ["no key", ["--ephemeral-key", "04ff"], "--ephemeral-key: 4 hex digits, expected 260 hex digits"],
    ["no name", ["--app", ""], "--app: empty"],
    ["no id", ["--activity-id", ""], "--activity-id: empty"],
    ["no file", ["--activity", ""], "--activity: empty"],
    ["something else", ["--app", "signer", "stray"], "too many arguments"],
    ["the same twice", ["--app", "signer", "--app", "signer"], "--app is repeated"],
  ])("refuses %s", (_, args, message) => refused(2, online("fetch", ...args), message));

  it.each([
    ["a key", ["--ephemeral-key", "04".repeat(130)], "get_boot_proof: the service responded with HTTP 404"],
    ["a deployment", ["--deployment-id", "none"], "details: the service responded with HTTP 404"],
    ["an application", ["--app", "nobody"], "the service has no boot proof of this application"],
  ])("says with exit code 3 that there is no such thing: %s", (_, args, message) =>
    refused(3, online("fetch", ...args), lab.baseUrl, message),
  );
});

async function withoutProofs(): Promise<string> {
  const client = createClient({
    baseUrl: lab.baseUrl,
    organizationId: lab.organizationId,
    stamper: await apiKeyStamper(lab.apiKey),
  });
  return (await client.updateWallet({ walletId: lab.ids.walletId, walletName: "unproven" })).activity.id;
}

describe("verify, fetching", () => {
  it("a key's boot proof", async () => {
    const { code, stdout, stderr } = await online("verify", "--ephemeral-key", signer, "--policy", policy);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^VERIFIED/);
  });

  it("a key's boot proof, with app proofs from files", async () => {
    const activity = fileOf(
      (JSON.parse((await online("fetch", "--activity-id", lab.walletActivityId)).stdout) as Loose)["activity"],
    );
    const [proof] = readJson(activity)["appProofs"] as { publicKey: string }[];
    expect(
      (await online("verify", "--ephemeral-key", proof!.publicKey, "--app-proof", fileOf(proof), "--policy", policy))
        .code,
    ).toBe(0);
    const { code, stdout } = await online(
      ...words`verify --ephemeral-key ${signer} --app-proof ${APP_1} --policy ${policy} --format json`,
    );
    expect([code, failed(stdout)[0]]).toEqual([1, "app.key"]);
  });

  it("an activity", async () => {
    const { code, stdout, stderr } = await online(
      ...words`verify --activity-id ${lab.walletActivityId} --policy ${policy} --format json`,
    );
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^VERIFIED with 1 warning: /)]);
    expect(JSON.parse(stdout)).toMatchObject({
      verdict: "verified",
      claims: { activity: { id: lab.walletActivityId } },
    });
    expect(JSON.parse(stdout)).not.toHaveProperty("bundle");
  });

  it("without a policy, under another anchor", async () => {
    const anchor = fileOf(lab.trustAnchorPem);
    expect((await online("verify", "--ephemeral-key", signer, "--no-policy", "--trust-anchor", anchor)).stdout).toMatch(
      /^AUTHENTIC/,
    );
    expect((await online("verify", "--activity-id", activityId, "--no-policy")).code).toBe(1);
  });

  it("what was submitted without app proofs is rejected: nothing proves it", async () => {
    const { code, stdout } = await online(
      "verify",
      "--activity-id",
      await withoutProofs(),
      "--policy",
      policy,
      "--format",
      "json",
    );
    expect([code, failed(stdout)]).toEqual([1, ["activity.decode"]]);
  });

  it("takes the connection from the environment, and an option before it", async () => {
    const env = {
      BOOTPROOF_BASE_URL: lab.baseUrl,
      BOOTPROOF_ORGANIZATION_ID: lab.organizationId,
      BOOTPROOF_API_PUBLIC_KEY: lab.apiKey.publicKey,
      BOOTPROOF_API_PRIVATE_KEY: lab.apiKey.privateKey,
    };
    const args = ["verify", "--ephemeral-key", signer, "--policy", policy];
    expect((await bootproof(args, { env, ...present() })).code).toBe(0);
    expect((await bootproof([...args, "--organization-id", "another"], { env, ...present() })).code).toBe(3);
    expect(
      (
        await bootproof([...args, ...connection], {
          env: {
            ...env,
            BOOTPROOF_BASE_URL: "nonsense",
            BOOTPROOF_API_PRIVATE_KEY: "nonsense",
            BOOTPROOF_ORGANIZATION_ID: "x",
          },
          ...present(),
        })
      ).code,
    ).toBe(0);
    // A connection that is there does not make a file of evidence online.
    expect((await bootproof(["verify", "--boot-proof", BOOT_1, "--no-policy"], { env })).code).toBe(0);
  });

  describe("with the service at fault", () => {
    // Those that take another operation, or a client that knows the request, are in test/lab/faults.test.ts.
    const shown = FAULTS.filter(({ needs }) => needs === undefined);
    it.each(shown.map((fault) => [fault.name, fault] as const))("%s", async (name, { fails }) => {
      lab.setFault(name);
      try {
        const { code, stdout } = await online(
          ...words`verify --activity-id ${activityId} --policy ${policy} --format json`,
        );
        expect(code).toBe(1);
        const found = failed(stdout);
        expect(fails.filter((id) => !found.includes(id) && !(id === "bind.key" && found.includes("app.key")))).toEqual(
          [],
        );
      } finally {
        lab.setFault(null);
      }
    });

    it("holds a boot proof to the key that was asked for", async () => {
      lab.setFault("another-enclaves-proof");
      const { code, stdout } = await online(
        ...words`verify --ephemeral-key ${signer} --policy ${policy} --format json`,
      );
      lab.setFault(null);
      expect([code, failed(stdout)]).toEqual([1, ["bind.key"]]);
    });
  });

  it.each([
    ["nothing to verify", ["--policy", "p"], "--boot-proof FILE (or --attestation FILE) is required"],
    [
      "a key and no connection",
      ["--ephemeral-key", "04".repeat(130), "--policy", "p"],
      "--base-url URL (or BOOTPROOF_BASE_URL) is required",
    ],
    [
      "an activity and no policy",
      ["--activity-id", "x", "--base-url", "https://a", "--organization-id", "o", "--api-key-file", "k"],
      "--policy FILE or --no-policy is required",
    ],
    [
      "an activity by name and by file",
      ["--activity-id", "x", "--boot-proof", BOOT_1, "--no-policy"],
      "--activity-id: requires an activity: give --activity FILE",
    ],
    [
      "an activity without a name",
      ["--activity-id", "", "--no-policy", "--base-url", "https://a", "--organization-id", "o", "--api-key-file", "k"],
      "--activity-id: empty",
    ],
    [
      "a connection with nothing to fetch",
      ["--boot-proof", BOOT_1, "--no-policy", "--base-url", "https://a", "--timeout", "3"],
      "--base-url, --timeout: not used, since nothing is fetched",
    ],
    [
      "a malformed policy, before anything is fetched",
      words`--activity-id x --policy
        ${fileOf({ policy: "bootproof/1", deployments: [], unheard: "of" })} --base-url
        http://127.0.0.1:1 --organization-id o --api-key-file k`,
      "unknown member",
    ],
  ])("refuses %s", (_, args, message) => refused(2, offline("verify", ...args), message));
});

describe("verify --app", () => {
  const json = (...args: string[]): Promise<Answer> => online("verify", "--app", ...args, "--format", "json");
  const reportOf = ({ stdout }: Answer): Report => JSON.parse(stdout) as Report;
  const anchor = (): string => fileOf(lab.trustAnchorPem);
  const apps = (): string[] => [...new Set(lab.enclaves.map(({ app }) => app))];
  const flat = (text: string): string => text.replace(/\s+/g, " ");

  it("fetches the newest boot proof of each application, and verifies them together", async () => {
    expect(apps().length).toBeGreaterThan(1);
    const answer = await json(...apps(), "--policy", policy);
    expect([answer.code, answer.stderr]).toEqual([0, expect.stringMatching(/^VERIFIED with 2 warnings: /)]);
    const report = reportOf(answer);
    expect([report.verdict, report.evidence.map(({ name, latestOf }) => [name, latestOf])]).toEqual([
      "verified",
      apps().map((app) => [app, app]),
    ]);
    expect(report.claims!.bootProofs.map(({ image }) => image.manifest!.namespace)).toEqual(
      apps().map((app) => `lab/${app}`),
    );
  });

  it("says what of it is the service's word", async () => {
    const word =
      "That the boot proof is of the application that you named, and of its latest boot " +
      '("signer"): only the service\'s word.';
    const proven = " The policy proves only which of its deployments each one is.";
    const verified = flat((await online("verify", "--app", "signer", "--policy", policy)).stdout);
    expect(verified).toContain(word + proven);
    const authentic = flat(
      (await online("verify", "--app", "signer", "--no-policy", "--trust-anchor", anchor())).stdout,
    );
    expect(authentic).toContain(word);
    expect(authentic).not.toContain(proven);
    const byKey = flat((await online("verify", "--ephemeral-key", signer, "--policy", policy)).stdout);
    expect(byKey).not.toContain("latest boot");
  });

  it("is rejected where a policy pins another deployment", async () => {
    const file = lab.policyFile as Loose;
    const others = (file["deployments"] as Loose[]).map((one) => ({ ...one, pivotHash: "00".repeat(32) }));
    expect((await json("signer", "--policy", fileOf({ ...file, deployments: others }))).code).toBe(1);
  });

  it("skips a policy's rules about app proofs, and says so", async () => {
    const demanding = fileOf({
      ...(lab.policyFile as object),
      appProofs: { required: true, decision: true, types: ["X"] },
    });
    for (const asked of [
      ["--app", "signer"],
      ["--ephemeral-key", signer],
    ]) {
      const { code, stdout } = await online("verify", ...asked, "--policy", demanding);
      expect(code).toBe(0);
      expect(flat(stdout)).toContain(
        "WARNING app proofs were not part of this verification: the policy's rules for them (appProofs.required and " +
          "appProofs.decision)",
      );
    }
    const asked = ["--activity-id", lab.walletActivityId, "--policy", demanding, "--format", "json"];
    const { code, stdout } = await online("verify", ...asked);
    expect([code, failed(stdout)]).toEqual([1, ["policy.app-proof"]]);
  });

  it("tells every application that could not be fetched, with exit code 3", async () => {
    const { code, stdout, stderr } = await online(
      ...words`verify --app nobody signer ${"none\u001b"} --policy ${policy}`,
    );
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toBe(
      `bootproof: nobody: ${lab.baseUrl}: the service has no boot proof of this application: check its name\n` +
        `bootproof: none\\u{1b}: ${lab.baseUrl}: the service has no boot proof of this application: check its name\n`,
    );
  });

  it("is exit code 3 where nobody listens, and 2 where the key is not known", async () => {
    const args = ["verify", "--app", "signer", "--policy", policy];
    const nowhere = connectionTo({ ...lab, baseUrl: `http://localhost:${await closedPort()}` });
    expect((await bootproof([...args, ...nowhere])).stderr).toMatch(/^bootproof: signer: http.*cannot be reached/);
    await refused(
      2,
      bootproof([...args, ...connectionTo({ ...lab, apiKey: generateApiKey() })]),
      /^bootproof: http.*PUBLIC_KEY_NOT_FOUND.*\nThe key is not registered, has expired, or was deleted/,
    );
  });

  it("reads the key once, however many are fetched", async () => {
    const args = connectionTo(lab);
    chmodSync(args[5]!, 0o640);
    const { code, stderr } = await bootproof(["verify", "--app", ...apps(), "--policy", policy, ...args], present());
    expect([code, stderr.match(/warning/g)]).toEqual([0, ["warning"]]);
  });

  it("is usage without a connection, beside other evidence, and of a name that is given twice", async () => {
    const alone = await offline("verify", "--app", "signer", "--policy", policy);
    expect([alone.code, alone.stderr]).toEqual([
      2,
      expect.stringContaining("--base-url URL (or BOOTPROOF_BASE_URL) is required"),
    ]);
    const file = fileOf({});
    const { code, stderr } = await online(
      ...["verify", "--app", "signer", "policy-engine", "signer", "evidence.json", "--policy", policy],
      ...words`--boot-proof ${BOOT_1} --app-proof ${APP_1} --activity ${file} --activity-id x
        --ephemeral-key ${signer}`,
      ...["--attestation", file, "--request", file, "--address", "0x01"],
    );
    expect(code).toBe(2);
    for (const part of [
      "--app fetches all evidence that is verified, and excludes --boot-proof, --app-proof, --activity, " +
        "--activity-id, " +
        "--ephemeral-key, --attestation, --request, --address",
      "--app signer: repeated",
      "--app evidence.json: a file: expected the name of an application",
    ])
      expect(stderr).toContain(part);
    const bundle = await online("verify", "bundle.json", "--app", "signer", "--policy", policy);
    expect([bundle.code, bundle.stderr]).toEqual([2, expect.stringContaining("bundle.json: a file without an option")]);
  });
});

describe("pin --app", () => {
  const anchor = (): string => fileOf(lab.trustAnchorPem);

  it("fetches the newest boot proof, verifies and pins it, and says how old it is", async () => {
    const { code, stdout, stderr } = await online("pin", "--app", "signer", "--trust-anchor", anchor());
    expect(code).toBe(0);
    expect(stderr).toMatch(/^These values come from the evidence itself, .*\nThis enclave started \d+ \w+ ago; /);
    const boot = await online("fetch", "--app", "signer");
    expect((await offline("verify", fileOf(boot.stdout), "--policy", fileOf(stdout))).code).toBe(0);
  });

  it("pins nothing that is rejected, and is exit code 3 where nothing is fetched", async () => {
    await refused(1, online("pin", "--app", "signer"), /^Not pinned\./, "chain.anchor");
    await refused(3, online("pin", "--app", "nobody"), "no boot proof of this application");
  });

  it("says so where https is asked of a service without TLS", async () => {
    const https = connection.map((word) => word.replace(/^http:/, "https:"));
    await refused(3, offline("pin", "--app", "signer", ...https), "This port speaks no TLS: use http:// for a service");
  });
});

describe("the connection", () => {
  const fetching = (...args: string[]): Promise<Answer> =>
    bootproof(["fetch", "--app", "signer", "--organization-id", "o", ...args]);
  const SECRET = "5f".repeat(32);

  it.each([
    ["http://example.com"],
    ["http://10.0.0.1:8080"],
    ["http://127.evil.example"],
    ["http://localhost.evil.example"],
    ["http://0.0.0.0"],
    ["HTTP://EXAMPLE.COM"],
    ["http://[::2]"],
    ["http://[::ffff:127.0.0.1]"],
  ])("is not made without TLS: %s", (url) =>
    refused(
      2,
      fetching("--base-url", url, "--api-key-file", "k"),
      /http:\/\/ is for this machine only.*read the requests and send them again.*ssh -L/,
    ),
  );

  it.each([["http://localhost"], ["http://127.0.0.1"], ["http://127.1"], ["http://[::1]"], ["https://127.0.0.1"]])(
    "is made to %s, where nobody answers",
    async (host) => {
      const url = `${host}:${await closedPort()}/prefix/`;
      await refused(
        3,
        bootproof(words`fetch --app signer ${connectionTo({ ...lab, baseUrl: url })} --timeout 5`),
        /the service cannot be reached \(ECONNREFUSED\)\. Check the base address and the network\./,
      );
    },
  );

  it.each([
    ["no address", "example.com", "an address such as https://"],
    ["a file", "file:///etc/passwd", "an address such as https://"],
    ["a user", `https://user:${SECRET}@example.com`, "must have no user or password"],
    ["a query", `https://example.com/?key=${SECRET}`, "must have no query or fragment"],
    ["the path", "https://example.com/public/v1/", "must not end in /public/v1"],
    ["nothing", "", "--base-url: empty: a shell variable may be unset"],
  ])("is not made to %s", async (_, url, message) => {
    const stderr = await refusal(2, fetching("--base-url", url, "--api-key-file", "k"), message);
    expect(stderr).not.toContain(SECRET);
  });

  it.each([
    ["--api-key", SECRET],
    ["--api-private-key", SECRET],
    [`--api-private-key=${SECRET}`],
    ["--api-key-file", `{"publicKey":"","privateKey":"${SECRET}"}`],
  ])("takes no key from the command line: %s", async (...args) => {
    const stderr = await refusal(
      2,
      fetching("--base-url", "https://example.com", ...args),
      "every process of this machine can read a key on the command line, and the shell's history keeps it: " +
        "use --api-key-file",
    );
    expect(stderr).not.toContain(SECRET);
  });

  it("tells everything that is missing", async () => {
    const { code, stderr } = await bootproof(["fetch"]);
    expect(code).toBe(2);
    for (const part of [
      "what to fetch",
      "BOOTPROOF_BASE_URL",
      "BOOTPROOF_ORGANIZATION_ID",
      "BOOTPROOF_API_PRIVATE_KEY",
    ])
      expect(stderr).toContain(part);
    expect((await fetching("--base-url", "https://a", "--api-key-file", "k", "--timeout", "0")).stderr).toContain(
      "--timeout 0: expected seconds",
    );
    const half = await bootproof(["fetch", "--app", "a"], {
      env: { BOOTPROOF_BASE_URL: "https://a", BOOTPROOF_ORGANIZATION_ID: "o", BOOTPROOF_API_PRIVATE_KEY: SECRET },
    });
    expect(half.stderr).toContain(
      "BOOTPROOF_API_PUBLIC_KEY is required too: the environment has only the other half of the key",
    );
    expect(half.stderr).not.toContain(SECRET);
  });

  it("warns of a key that others may read, and goes on", async () => {
    const args = connectionTo(lab);
    chmodSync(args[5]!, 0o640);
    const { code, stderr } = await bootproof(["fetch", "--app", "signer", ...args]);
    expect(code).toBe(0);
    expect(stderr).toBe(
      `warning: ${args[5]!} has a private key that others may read: run chmod 600 on it, or make a new key\n`,
    );
  });

  it.each([
    [
      "missing",
      () => "missing.json",
      /missing\.json: no such file\nCorrect the path: no missing\.json in the current folder/,
    ],
    ["no JSON", () => fileOf(`{"privateKey": "${SECRET}"`), /not a key file/],
    ["half a key", () => fileOf({ privateKey: SECRET }), /not a key file/],
    [
      "of two keys",
      () => fileOf({ publicKey: lab.apiKey.publicKey, privateKey: SECRET }),
      /: the API key's publicKey is not that of its privateKey/,
    ],
    [
      "a key too large",
      () => fileOf({ publicKey: lab.apiKey.publicKey, privateKey: "ff".repeat(32) }),
      /is not a private key of P-256/,
    ],
    ["evidence", () => BOOT_1, /bootproof-1\.json: this is a boot proof; bootproof verify --boot-proof takes it\n$/],
    ["small evidence", () => APP_1, /appproof-1\.json: this is an app proof; bootproof verify --app-proof takes it\n$/],
    ["of another format", () => fileOf(Buffer.from([0x1f, 0x8b, 8])), /: compressed with gzip/],
    ["too large", () => fileOf("x".repeat(5000)), /: too large for a key file/],
    ["a folder", () => "/tmp", /\/tmp: cannot be read/],
  ])("takes no key file that is %s", async (_, file, message) => {
    const stderr = await refusal(2, fetching("--base-url", lab.baseUrl, "--api-key-file", file()), message);
    expect(stderr).not.toContain(SECRET);
  });

  it("is refused with a key that nobody knows, and the key stays unsaid", async () => {
    const apiKey = generateApiKey();
    const stderr = await refusal(
      2,
      bootproof(words`verify --ephemeral-key ${signer} --policy ${policy} ${connectionTo({ ...lab, apiKey })}`),
      /HTTP 401 PUBLIC_KEY_NOT_FOUND.*Register the key with the organization/,
    );
    expect(stderr).not.toContain(apiKey.privateKey);
  });
});

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

describe("a service that answers anything", () => {
  let answer: RequestListener;
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => answer(request, response));
  let args: string[];
  /** With the time that a request has usually. */
  let toAny: string[];
  beforeAll(async () => {
    server.on("connection", (socket) => sockets.add(socket));
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    args = [
      ...connectionTo({ ...lab, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
      "--timeout",
      "0.3",
    ];
    toAny = args.slice(0, -2);
  });
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  const json =
    (status: number, body: unknown, headers = {}): RequestListener =>
    (_, response) => {
      response
        .writeHead(status, { "Content-Type": "application/json", ...headers })
        .end(typeof body === "string" ? body : JSON.stringify(body));
    };
  const refusing = (status: number, category: string, code = 3) =>
    json(status, { code, message: "no\u001b[2J", details: [{ "@type": "x", turnkeyErrorCode: category }] });

  it.each<[string, RequestListener, RegExp]>([
    ["401", refusing(401, "API_KEY_EXPIRED"), /HTTP 401 API_KEY_EXPIRED: no\\u\{1b\}\[2J\. Make a new API key/],
    ["403", refusing(403, "REQUEST_NOT_AUTHORIZED"), /HTTP 403 .*Give the key's user the right/],
    ["404", json(404, "not JSON"), /HTTP 404\. Check the ids/],
    ["500", json(500, {}), /HTTP 500\. Try again later/],
    ["a redirect", json(302, {}, { location: "https://evil.example" }), /HTTP 302\. Redirects are not followed\./],
    [
      "no JSON",
      json(200, "<html>"),
      /does not match the interface: expected a value .*Check that --base-url is the service's own address/,
    ],
    ["an empty object", json(200, {}), /no member of a boot proof: check the base address/],
    ["an empty boot proof", json(200, { bootProof: {} }), /no member of a boot proof/],
    ["null", json(200, { bootProof: null }), /no member of a boot proof/],
    ["an error in place of a boot proof", json(200, { bootProof: { code: 5, message: "" } }), /no member of a boot/],
    ["two names for one thing", json(200, '{"bootProof":1,"bootProof":1}'), /member "bootProof" appears twice/],
    ["nothing at all", () => {}, /no answer within 300 ms\. Try again, or set a longer --timeout SECONDS\./],
    ["a broken connection", (request) => request.socket.destroy(), /cannot be reached/],
  ])("%s is exit code 3, and what to do", async (_, listener, message) => {
    answer = listener;
    const stderr = await refusal(
      3,
      bootproof(words`verify --ephemeral-key ${signer} --policy ${policy} ${args}`),
      message,
      /^[\n\x20-\x7e]*$/,
    );
    expect(stderr).not.toContain("unexpected");
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
    for (const asks of [words`--ephemeral-key ${signer}`, words`--app a b`, words`--activity-id ${activityId}`]) {
      const stderr = await refusal(exit, bootproof(["verify", ...asks, "--policy", policy, ...args]), `HTTP ${status}`);
      expect(stderr.includes("The key is not registered, has expired, or was deleted")).toBe(exit === 2);
    }
  });

  it("a repetition that takes two seconds is told: what, how often, until when", async () => {
    let count = 0;
    answer = (request, response) =>
      count++ === 0 ? json(503, {}, { "retry-after": "2" })(request, response) : json(404, "")(request, response);
    const { stderr } = await bootproof(words`verify --ephemeral-key ${signer} --policy ${policy} ${args}`);
    expect(stderr).toMatch(
      /^note: get_boot_proof: .* HTTP 503\. Try again later\. Attempt 2 of 3 begins in 2 s, and ends by 20\S+Z\n/,
    );
    count = 0;
    answer = (request, response) => json(count++ === 0 ? 503 : 404, "")(request, response);
    const quick = await bootproof(words`verify --ephemeral-key ${signer} --policy ${policy} ${args}`);
    expect(quick.stderr).not.toContain("note:");
  });

  it.each([
    ["a port that is closed", async () => closedPort()],
    ["a port that fetch does not use", () => 1],
  ])("%s is told within three seconds", async (_, port) => {
    const begun = performance.now();
    const at = [...connectionTo({ ...lab, baseUrl: `http://127.0.0.1:${await port()}` })];
    for (const asks of [words`fetch --app a`, words`verify --activity-id ${activityId} --policy ${policy}`])
      await refused(3, bootproof([...asks, ...at]), /cannot be reached/);
    expect(performance.now() - begun).toBeLessThan(6000);
  });

  /** Answers what the lab does, but for some operations. */
  const labBut =
    (operations: Record<string, unknown>): RequestListener =>
    (request, response) => {
      const operation = request.url!.split("/").at(-1)!;
      if (operation in operations)
        return void json(operations[operation] === null ? 404 : 200, operations[operation] ?? {})(request, response);
      const chunks: Buffer[] = [];
      request
        .on("data", (chunk: Buffer) => chunks.push(chunk))
        .on("end", async () => {
          const stamped = { "Content-Type": "application/json", "X-Stamp": request.headers["x-stamp"] as string };
          const answered = await fetch(lab.baseUrl + request.url!, {
            method: "POST",
            body: Buffer.concat(chunks),
            headers: stamped,
          });
          response.writeHead(answered.status).end(await answered.text());
        });
    };

  it("that has no boot proof where one belongs is exit code 3, and one with a part of it is rejected", async () => {
    const ways = [
      ["get_boot_proof", ["fetch", "--ephemeral-key", signer]],
      ["get_boot_proof", ["verify", "--ephemeral-key", signer, "--policy", policy]],
      ["get_boot_proof", ["fetch", "--activity-id", activityId]],
      ["get_boot_proof", ["verify", "--activity-id", activityId, "--policy", policy]],
      ["get_latest_boot_proof", ["fetch", "--app", "signer"]],
      ["get_latest_boot_proof", ["verify", "--app", "signer", "--policy", policy]],
    ] as const;
    for (const [operation, words] of ways) {
      const asked = [...words, ...toAny];
      answer = labBut({ [operation]: { bootProof: { name: "package", version: "1.0.0" } } });
      await refused(3, bootproof(asked, present()), "the response has no member of a boot proof");
      answer = labBut({ [operation]: { bootProof: { qosManifestB64: "" } } });
      expect([words, (await bootproof(asked, present())).code]).toEqual([words, words[0] === "fetch" ? 0 : 1]);
    }
  });

  it("leaves no part of a folder of evidence, and the older file, where it fails", async () => {
    const at = mkdtempSync(join(tmpdir(), "bootproof-fetched-"));
    const file = join(at, "evidence.json");
    writeFileSync(file, "older");
    answer = labBut({ get_boot_proof: {} });
    for (const out of [join(at, "evidence"), file])
      await refused(3, bootproof(["fetch", "--activity-id", activityId, "--out", out, ...toAny], present()));
    expect([readdirSync(at), readFileSync(file, "utf8")]).toEqual([["evidence.json"], "older"]);
  });

  it("without get_activity has no evidence of an id: app proofs alone answer no question", async () => {
    answer = labBut({ get_activity: null });
    for (const words of [
      ["fetch", "--activity-id", activityId],
      ["verify", "--activity-id", activityId, "--policy", policy],
    ]) {
      await refused(3, bootproof([...words, ...toAny], present()), "--activity FILE");
    }
  });

  it("with more than the provisioning details has only these written, and with less none", async () => {
    const name = "get_tvc_deployment_provisioning_details";
    const details = { attestationDocument: "hEQ=", manifestEnvelope: "e30=" };
    const words = ["fetch", "--deployment-id", "d", ...toAny];
    answer = labBut({ [name]: { ...details, validationTimeSecs: 1 } });
    const { code, stdout } = await bootproof(words, present());
    expect([code, JSON.parse(stdout)]).toEqual([0, details]);
    answer = labBut({ [name]: { ...details, manifestEnvelope: null } });
    const refused = await bootproof(words, present());
    expect([refused.code, refused.stdout]).toEqual([3, ""]);
    expect(refused.stderr).toContain(`${name}: the response lacks attestationDocument or manifestEnvelope`);
  });

  it("with bytes in another spelling has them named, and nothing written or called a forgery", async () => {
    const { bootProof } = JSON.parse((await online("fetch", "--app", "signer")).stdout) as { bootProof: Loose };
    const key = bootProof["ephemeralPublicKeyHex"] as string;
    answer = labBut({ get_boot_proof: { bootProof: { ...bootProof, ephemeralPublicKeyHex: `0x${key}` } } });
    for (const words of [["fetch"], ["verify", "--policy", policy]]) {
      const { code, stdout, stderr } = await bootproof([...words, "--ephemeral-key", key, ...toAny], present());
      expect([code, stdout]).toEqual([3, ""]);
      expect(stderr).toContain(
        "the boot proof of the response: ephemeralPublicKeyHex: hex with 0x: expected hex digits",
      );
    }
  });

  it("with a state alone says that state, without advice about the address", async () => {
    const words = ["fetch", "--deployment-id", "d", ...toAny];
    for (const [more, state, says] of [
      [{}, "PENDING", "not provisioned yet: PROVISIONING_STATE_PENDING"],
      [{ manifestEnvelope: "e30=" }, "AWAITING_PROVISION", "not provisioned yet: PROVISIONING_STATE_AWAITING"],
      [{ attestationDocument: "" }, "PROVISIONED", "provisioned, without an attestation document: PROVISIONING_STATE_"],
    ] as const) {
      const sent = { ...more, provisioningState: `PROVISIONING_STATE_${state}` };
      answer = labBut({ get_tvc_deployment_provisioning_details: sent });
      const { code, stdout, stderr } = await bootproof(words, present());
      expect([code, stdout, stderr.match(/base.(url|address)/i)]).toEqual([3, "", null]);
      expect(stderr).toContain(says);
      const verified = await offline("verify", "--boot-proof", fileOf(sent), "--policy", policy);
      expect([verified.code, verified.stdout]).toEqual([2, ""]);
      expect(verified.stderr).toContain(`this is a deployment's state, not evidence: ${says}`);
      expect((await offline("inspect", fileOf(sent))).stdout + verified.stderr).toContain(says);
    }
  });

  it("with the app proofs beside the activity has them judged inside it", async () => {
    const { activity } = JSON.parse((await online("fetch", "--activity-id", activityId)).stdout) as Loose;
    const { appProofs, ...bare } = activity as { appProofs: unknown[] };
    answer = labBut({ get_activity: { activity: bare }, list_app_proofs: { appProofs } });
    const { code, stdout } = await bootproof(
      ["verify", "--activity-id", activityId, "--policy", policy, "--format", "json", ...toAny],
      present(),
    );
    expect([code, (JSON.parse(stdout) as Report).claims?.activity?.id]).toEqual([0, activityId]);
  });

  it.each([
    ["another activity", (activity: Loose) => ({ ...activity, id: "another" })],
    ["another organization's", (activity: Loose) => ({ ...activity, organizationId: "another" })],
    ["one that waits for votes", (activity: Loose) => ({ ...activity, status: "ACTIVITY_STATUS_CONSENSUS_NEEDED" })],
    [
      "one that waits for votes, without app proofs",
      (activity: Loose) => ({
        ...activity,
        ...{ status: "ACTIVITY_STATUS_CONSENSUS_NEEDED", result: {}, appProofs: [] },
      }),
    ],
  ])("with %s is rejected", async (what, change) => {
    const { activity } = JSON.parse((await online("fetch", "--activity-id", activityId)).stdout) as Loose;
    answer = labBut({ get_activity: { activity: change(activity as Loose) } });
    const { code, stdout } = await bootproof(
      ["verify", "--activity-id", activityId, "--policy", policy, "--format", "json", ...toAny],
      present(),
    );
    expect([code, failed(stdout), (JSON.parse(stdout) as Report).claims]).toEqual([
      1,
      expect.arrayContaining(["activity.request"]),
      null,
    ]);
    const fetched = await bootproof(["fetch", "--activity-id", activityId, ...toAny]);
    if (what.startsWith("another"))
      expect([fetched.code, fetched.stderr]).toEqual([
        3,
        expect.stringMatching(/this is not the requested activity: (id|organizationId) is another, /),
      ]);
    else
      expect([fetched.code, fetched.stdout, fetched.stderr]).toEqual([
        3,
        "",
        expect.stringContaining("other users have to approve it (CONSENSUS_NEEDED, id "),
      ]);
  });

  it("without a key's boot proof: verify rejects, fetch writes nothing", async () => {
    answer = labBut({ get_boot_proof: null });
    const verified = await bootproof(
      ["verify", "--activity-id", activityId, "--policy", policy, "--format", "json", ...toAny],
      present(),
    );
    expect([verified.code, failed(verified.stdout)]).toEqual([1, expect.arrayContaining(["app.key"])]);
    await refused(
      3,
      bootproof(["fetch", "--activity-id", activityId, ...toAny]),
      /the service has no boot proof of the key 04[0-9a-f]+, which an app proof of the activity names/,
    );
  });

  it("with another application's boot proof has not answered what was asked for", async () => {
    const bootProof = { ...readJson(BOOT_1), enclaveApp: "another\u001b" };
    answer = labBut({ get_latest_boot_proof: { bootProof } });
    await refused(
      3,
      bootproof(["verify", "--app", "signer", "--policy", policy, ...toAny], present()),
      /^bootproof: signer: .*bootProof\.enclaveApp: .*another.*, expected "signer"/,
      /^[\n\x20-\x7e]*$/,
    );
  });

  it("with a boot proof that has no label, as deployed services answer, is judged by what is in it", async () => {
    const fetched = JSON.parse((await online("fetch", "--app", "signer")).stdout) as Loose;
    const unlabelled = { ...(fetched["bootProof"] as Loose), enclaveApp: undefined };
    answer = labBut({ get_latest_boot_proof: { bootProof: unlabelled } });
    const anchor = fileOf(lab.trustAnchorPem);
    const asked = ["verify", "--app", "signer", "--no-policy", "--trust-anchor", anchor, ...toAny];
    expect((await bootproof(asked, present())).code).toBe(0);
    answer = labBut({ get_latest_boot_proof: { bootProof: { ...unlabelled, qosManifestB64: "%" } } });
    expect((await bootproof(asked, present())).code).toBe(1);
  });

  it("with neither activity nor app proofs has no evidence", async () => {
    answer = labBut({ get_activity: null, list_app_proofs: { appProofs: [] } });
    await refused(
      3,
      bootproof(words`verify --activity-id ${activityId} --policy ${policy} ${toAny}`),
      "does not return the activity",
    );
  });
});

describe("a proxy of the environment", () => {
  const HTTPS = "https://service.invalid";
  const proxy = { HTTPS_PROXY: "http://user:secret@127.0.0.1:9" };
  const old = { version: "v20.20.2", flags: new Set<string>(), execArgv: [] };
  const start = { version: "v22.21.0", flags: new Set(["--use-env-proxy"]), execArgv: [] };
  const runtime = { ...start, setGlobalProxyFromEnv: () => undefined };

  it("is named where the network fails and this Node does not use it, without its value", async () => {
    const args = ["fetch", "--app", "signer", "--timeout", "2", ...connectionTo({ ...lab, baseUrl: HTTPS } as Lab)];
    const { code, stderr } = await bootproof(args, { env: { ...proxy } });
    expect([code, stderr.includes("secret")]).toEqual([3, false]);
    // A Node that uses it has no reason to say so.
    expect(stderr.includes("HTTPS_PROXY is set, but Node ")).toBe(unusedProxyText(HTTPS, proxy) !== "");
    expect((await bootproof(args, { env: {} })).stderr).not.toContain("PROXY");
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
  ])("has the sentence that fits: %s", (_, baseUrl, env, node, words) => {
    const text = unusedProxyText(baseUrl, env, node);
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
    const refusing = {
      setGlobalProxyFromEnv: () => {
        throw new Error("Invalid proxy: http://user:secret@127.0.0.1:9");
      },
    };
    expect(() => useProxies(proxy, refusing)).toThrow(/^HTTPS_PROXY: expected the address of a proxy, such as /);
  });

  /** Where this Node has a way: a request that a proxy sees as CONNECT, to the host of the service. */
  it.runIf(unusedProxyText(HTTPS, { ...proxy, NODE_USE_ENV_PROXY: "1" }) === "")(
    "is asked to connect to the service",
    async () => {
      const asked: string[] = [];
      const server = createServer().on("connect", ({ url }, socket) => {
        asked.push(url!);
        socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      const args = ["fetch", "--app", "signer", ...connectionTo({ ...lab, baseUrl: HTTPS } as Lab)];
      const env = { ...process.env, HTTPS_PROXY: `http://127.0.0.1:${port}`, NODE_USE_ENV_PROXY: "1" };
      const child = spawn(process.execPath, ["dist/bin/bootproof.cjs", ...args], { env, stdio: "ignore" });
      const [code] = (await once(child, "exit")) as [number];
      server.close();
      expect([code, new Set(asked)]).toEqual([3, new Set(["service.invalid:443"])]);
    },
  );
});

it("watch --max-age refuses an enclave that started longer ago", async () => {
  const watch = (...args: string[]): Promise<Answer> => online("watch", "--app", "signer", "--policy", policy, ...args);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const { code, stdout } = await watch("--once", "--max-age", "1s");
  expect([code, stdout]).toEqual([1, expect.stringContaining("REJECTED signer only because of its age: policy.age")]);
  expect((await watch("--once", "--max-age", "1d")).code).toBe(0);
});
