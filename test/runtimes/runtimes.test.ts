/**
 * The packed package in every runtime that docs/runtimes.md names: a genuine pair and altered ones, signatures beside
 * good ones, stamps, a webhook, a wrapped fetch, and the command. Needs `npm run build`, and the runtimes, which are
 * large, and which nothing else here needs: `test/runtimes/install.sh FOLDER` gets them from the npm registry,
 * BOOTPROOF_RUNTIMES=FOLDER says where they are. None may then be missing.
 */
import { generateKeyPairSync, sign } from "node:crypto";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../src/bytes.js";
import { type ApiKey, apiKeyStamper, createClient } from "../../src/client/index.js";
import { NO_POLICY_ANY_ENCLAVE, parsePolicy, verifyBootProof } from "../../src/index.js";
import { pinPolicy } from "../../src/author/index.js";
import { startLab } from "../../src/lab/index.js";
import { isStamped, newApiKey } from "../client/support.js";
import { envelope, query, send } from "../lab/support.js";
import { MANIFEST, npm, pack, strangersFolder } from "../package/support.js";
import type { Loose } from "../support/loose.js";
import { readVectorJson } from "../support/vectors.js";
import { MESSAGE, pointRows, signatureRows } from "../verify/ecdsa-rows.js";
import { newSigner } from "../verify/keys.js";
import { DENO_RIGHTS, FOLDER, type Loading, RUNTIMES, type Runtime, TRANSFORMED, layOut } from "./runtimes.js";

const NOW = new Date("2025-09-17T00:00:00.000Z");
const DOCUMENT = readFileSync(fileURLToPath(new URL("../../docs/runtimes.md", import.meta.url)), "utf8");

interface Pair {
  readonly bootProof: { readonly qosManifestB64: string };
  readonly appProof: { readonly proofPayload: string };
}

const pairOf = (number: number): Pair => ({
  bootProof: readVectorJson(`boot-proofs/bootproof-${number}.json`),
  appProof: readVectorJson(`boot-proofs/appproof-${number}.json`),
});
const genuine = pairOf(1);
const otherManifest = Buffer.from(
  Buffer.from(genuine.bootProof.qosManifestB64, "base64").toString("latin1").replace("preprod", "preprof"),
  "latin1",
).toString("base64");
/** What is altered, and the check that has to fail of it. */
const ALTERED: readonly (readonly [check: string, pair: Pair])[] = [
  [
    "app.signature",
    {
      ...genuine,
      appProof: { ...genuine.appProof, proofPayload: genuine.appProof.proofPayload.replace(/0x./, "0xf") },
    },
  ],
  ["app.key", { ...genuine, appProof: pairOf(2).appProof }],
  ["bind.user-data", { ...genuine, bootProof: { ...genuine.bootProof, qosManifestB64: otherManifest } }],
];

/** Points as keys of another's signature: what is not a point at all is answered like any that is not good. */
const signature = newSigner("P-256").sign(MESSAGE);
const rows = [...signatureRows, ...pointRows.map((row) => ({ ...row, message: MESSAGE, signature, valid: false }))];

const apiKey = newApiKey();
const BODY = JSON.stringify({ organizationId: "ü", parameters: {} });

function delivery(eventId: string, signedId: string): object {
  const rawBody = JSON.stringify({ id: "a", organizationId: "o", status: "s", type: "t" });
  const signature = sign(
    null,
    Buffer.from(`v1.ed25519.k.${NOW.getTime()}.${signedId}.${rawBody}`),
    webhookKey.privateKey,
  );
  const values = {
    "Event-Id": eventId,
    Timestamp: String(NOW.getTime()),
    "Signature-Key-Id": "k",
    "Signature-Algorithm": "ed25519",
    "Signature-Version": "v1",
    Signature: signature.toString("hex"),
  };
  const headers = Object.entries(values).map(([name, value]) => [`X-Webhook-${name}`, value]);
  return { rawBody, headers: Object.fromEntries(headers) as object };
}
const webhookKey = generateKeyPairSync("ed25519");

/** A submit and its answer, as a lab recorded them, and a lie. */
async function recorded() {
  const lab = await startLab();
  try {
    const { walletId } = lab.ids;
    const parameters = { walletId, walletName: "from any runtime" };
    const body = envelope(lab, "ACTIVITY_TYPE_UPDATE_WALLET", parameters, { generateAppProofs: true });
    const answer = JSON.stringify((await send(lab, "submit/update_wallet", body)).body);
    const keys = lab.enclaves.map(({ ephemeralKey }) => ephemeralKey);
    const answers = await Promise.all(keys.map((ephemeralKey) => query(lab, "get_boot_proof", { ephemeralKey })));
    return {
      policy: JSON.stringify(lab.policyFile),
      now: new Date().toISOString(),
      baseUrl: "https://service.example",
      path: "/public/v1/submit/update_wallet",
      bootProofs: answers.map((one) => one.body["bootProof"] as object),
      body,
      unproven: body.replace("true", "false"),
      answer,
      walletId,
      lie: answer.replace(
        `{"updateWalletResult":{"walletId":"${walletId}"`,
        '{"updateWalletResult":{"walletId":"other"',
      ),
    };
  } finally {
    await lab.close();
  }
}
const fetching = FOLDER === undefined ? null : await recorded();

async function questions(): Promise<object> {
  const pinned = await verifyBootProof(genuine.bootProof, { policy: NO_POLICY_ANY_ENCLAVE, now: NOW });
  return {
    policy: JSON.stringify(pinPolicy(pinned.bootProof!, { name: "captured" })),
    now: NOW.toISOString(),
    genuine,
    altered: ALTERED.map(([, pair]) => pair),
    signatures: rows.map(({ curve, point, message, signature }) => ({
      curve,
      point: toHex(point),
      message: toHex(message),
      signature: toHex(signature),
    })),
    apiKey,
    body: BODY,
    jwks: { keys: [{ ...webhookKey.publicKey.export({ format: "jwk" }), kid: "k" }] },
    delivery: delivery("e1", "e1"),
    otherDelivery: delivery("e2", "e1"),
    fetching,
  };
}

/** A stranger's folder with the package. */
async function installed(): Promise<string> {
  const folder = strangersFolder();
  const { tarball } = await pack(folder);
  await npm(["install", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", tarball], folder);
  return folder;
}

describe.skipIf(FOLDER === undefined)("the packed package", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await installed();
    await layOut(folder, await questions());
  }, 60_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const cases = RUNTIMES.flatMap((runtime) =>
    runtime.loadings.map((loading): [string, string, Loading, Runtime] => [
      runtime.name,
      runtime.version,
      loading,
      runtime,
    ]),
  );
  it.each(cases)("in %s %s: %s", async (_name, _version, loading, runtime) => {
    const answers = JSON.parse(await runtime.answers(folder, loading)) as Loose;
    expect(answers["computedBy"]).toBe(runtime.computedBy.replaceAll("`", ""));
    expect(answers["genuine"]).toEqual(["verified"]);
    expect(answers["payloadType"]).toBe("APP_PROOF_TYPE_ADDRESS_DERIVATION");
    for (const [index, [check]] of ALTERED.entries()) {
      expect(answers["altered"][index]).toEqual(expect.arrayContaining(["rejected", check]));
    }
    expect(answers["altered"]).toHaveLength(ALTERED.length);
    expect(namesOf(answers["signatures"])).toEqual(namesOf(rows.map(({ valid }) => valid)));
    expect([answers["delivery"], answers["otherDelivery"]]).toEqual(["e1", "signature"]);
    expect(answers["stampOfWrong"]).toBe("key");
    const { verified, lie, notSent, sent } = answers["fetched"];
    expect(verified).toEqual(["verified", { updateWalletResult: { walletId: fetching!.walletId } }]);
    expect(lie).toMatch(/^rejected: activity\.request/);
    expect(notSent).toContain("generateAppProofs is not true");
    const line = `POST ${fetching!.baseUrl}${fetching!.path} true`;
    expect(sent).toEqual([line, line]);
    for (const stamp of [answers["stampOfPair"], answers["stampOfNew"], answers["stampOfSession"]])
      expect(isStamped(stamp, Buffer.from(BODY), publicKeyOf(stamp))).toBe(true);
    expect(isStamped(answers["stamp"], Buffer.from(BODY), apiKey.publicKey)).toBe(true);
    expect(isStamped(answers["stamp"], Buffer.from(`${BODY} `), apiKey.publicKey)).toBe(false);
  });

  /** Each answer with the row that it is to, so that a difference names it. */
  const namesOf = (valid: readonly unknown[]) => valid.map((value, index) => `${rows[index]!.name}: ${String(value)}`);

  const publicKeyOf = (stamp: string): string =>
    (JSON.parse(Buffer.from(stamp, "base64url").toString()) as { readonly publicKey: string }).publicKey;

  const COMMAND = `node_modules/bootproof/${MANIFEST.bin["bootproof"]}`;
  const commands = RUNTIMES.flatMap(({ name, version, run }) => (run === undefined ? [] : [{ name, version, run }]));

  it.each(commands)("its command verifies in $name $version", ({ run }) => {
    const files = { "boot.json": genuine.bootProof, "app.json": genuine.appProof, "other.json": pairOf(2).appProof };
    for (const [name, json] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(json));
    const verify = (appProof: string) => {
      const argv = ["verify", "--boot-proof", "boot.json", "--app-proof", appProof, "--no-policy"];
      const { program, args } = run([COMMAND, ...argv]);
      const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: "utf8" });
      return [status, /^\w*/.exec(stdout)![0], stderr];
    };
    expect(verify("app.json")).toEqual([0, "AUTHENTIC", ""]);
    expect(verify("other.json")).toEqual([1, "REJECTED", expect.stringMatching(/^REJECTED: /)]);
    expect(verify("none.json")).toEqual([2, "", expect.stringContaining("none.json")]);
  });

  it.each(commands)(
    "its lab answers, lies on demand and keeps its state in $name $version",
    async ({ version, run }) => {
      const data = join(folder, `lab-${version}`);
      const { program, args } = run([COMMAND, "lab", "--data", data], "lab");
      for (const start of [1, 2]) {
        const lab = spawn(program, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
        const exit = once(lab, "exit");
        try {
          const [first] = (await Promise.race([once(lab.stdout, "data"), exit])) as [unknown];
          expect(String(first)).toMatch(/^The lab listens/);
          await useLab(data, start);
        } finally {
          lab.kill("SIGINT");
        }
        expect(await exit).toEqual([0, null]);
      }
    },
  );
});

interface LabFacts {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly apiKeyFile: string;
  readonly policyFile: string;
  readonly faultsUrl: string;
  readonly ids: { readonly walletId: string };
}

/** A call that is verified, one that is refused, and at the second start what the first left behind. */
async function useLab(data: string, start: number): Promise<void> {
  const { baseUrl, organizationId, ids, faultsUrl, ...files } = readJson<LabFacts>(join(data, "lab.json"));
  const { walletId } = ids;
  const stamper = await apiKeyStamper(readJson<ApiKey>(join(data, files.apiKeyFile)));
  const client = createClient({ baseUrl, organizationId, stamper });
  const verified = client.withVerification(parsePolicy(readFileSync(join(data, files.policyFile))));
  const nameOfWallet = async () => JSON.stringify(await client.query("get_wallet", { walletId }));
  const KEPT = '"walletName":"kept"';
  expect((await nameOfWallet()).includes(KEPT)).toBe(start === 2);
  const switchFaults = (faults: readonly string[]) =>
    fetch(faultsUrl, { method: "PUT", body: JSON.stringify({ faults }) });
  expect((await switchFaults(["tampered-payload"])).status).toBe(200);
  await expect(verified.updateWallet({ walletId, walletName: "a lie" })).rejects.toThrow("app.signature");
  await switchFaults([]);
  expect((await verified.updateWallet({ walletId, walletName: "kept" })).report.verdict).toBe("verified");
  expect(await nameOfWallet()).toContain(KEPT);
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, "utf8")) as T;
}

describe("docs/runtimes.md", () => {
  it("names the runtimes that are tried here, and no other", () => {
    // The table of phones, after a heading, is test/runtimes/hermes.test.ts's.
    const table = DOCUMENT.split("\n## ")[0]!
      .split("\n")
      .filter((line) => line.startsWith("|"));
    const rows = RUNTIMES.map(({ name, version, loadings, computedBy, run }) => {
      const cells = [name, version, loadings.join(", "), computedBy, run === undefined ? "" : "`verify`, `lab`"];
      return `| ${cells.join(" | ")} |`;
    });
    expect(table.slice(2)).toEqual(rows);
  });

  it("says how Jest is configured here, and what Deno is allowed", () => {
    expect(DOCUMENT).toContain(JSON.stringify(TRANSFORMED));
    const unwrapped = DOCUMENT.replaceAll("\n", " ");
    for (const flags of Object.values(DENO_RIGHTS)) expect(unwrapped).toContain(`deno run ${flags.join(" ")} `);
  });
});

if (FOLDER === undefined) {
  console.warn(
    "BOOTPROOF_RUNTIMES is not set: Node 20, 22 and 24, Deno, Bun, workerd, an edge runtime and Jest are not tried " +
      "(npm run test:runtimes gets them from the npm registry, a gigabyte, and tries them).",
  );
}
