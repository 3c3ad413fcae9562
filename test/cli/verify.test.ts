import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { toBase64, toHex } from "../../src/bytes.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { REPORT_FORMATS } from "../../src/report/report.js";
import {
  APP_1,
  APP_2,
  BOOT_1,
  BOOT_2,
  NOW,
  type Surroundings,
  bootproof,
  failed,
  fileOf,
  readJson,
  reportOf,
  scene,
  vector,
} from "./support.js";

const POLICY = fileOf((await bootproof(["pin", "--boot-proof", BOOT_1, "--name", "captured"])).stdout);
/** Reports name files as they were given: what is compared with a golden file says nothing of this machine. */
const here = (path: string): string => relative(process.cwd(), path);
const PAIR = ["verify", "--boot-proof", here(BOOT_1), "--app-proof", here(APP_1)];

const lab = new Forge();
const forged = forgeEvidence({ lab, at: new Date("2026-03-04T05:06:07.000Z") });
const path = vector("nitro/base-sample-attestation2-bin-20240403.cbor");
const document = new Uint8Array(readFileSync(path));
const [tpm] = (readJson(vector("nitro/EXPECT.json")) as unknown as { file: string; pcrKey: string }[]).filter(
  ({ pcrKey }) => pcrKey === "nitrotpm_pcrs",
);
const text = readFileSync(BOOT_1, "utf8");

const N = {
  ...{ pair: PAIR.slice(1), policy: POLICY, boot: BOOT_1, boot2: BOOT_2, app: APP_1, app2: APP_2 },
  ...{ forged: fileOf(forged.bootProof), anchor: fileOf(forged.anchorPem, "lab-root.pem"), document: path },
  ...{ base64: fileOf(`${toBase64(document)}\n`), lines: fileOf(toBase64(document).replace(/.{76}/g, "$&\n")) },
  ...{ hex: fileOf(toHex(document).toUpperCase()), tpm: vector(`nitro/${tpm!.file}`), tmp: tmpdir() },
  ...{
    wrapped: fileOf({ bootProof: forged.bootProof }),
    apps: fileOf(forged.appProofs),
    big: fileOf(" ".repeat(2 ** 21)),
  },
  ...{
    inObject: fileOf({ appProofs: forged.appProofs }),
    one: fileOf(forged.appProofs[0]),
    empty: fileOf("", "empty.json"),
  },
  ...{
    activity: fileOf(forged.activity),
    activities: fileOf({ activity: forged.activity }),
    deep: fileOf("[".repeat(500_000)),
  },
  ...{ ofLab: fileOf(labPolicy(forged.anchorPem, [labDeployment(lab)])), surrogate: fileOf('{"a":"\\ud800"}') },
  debug: vector("nitro/anjuna-security-sample-attestation-doc-full-bin-20240124.cbor"),
  ...{ broken: fileOf('{\n  "bootProof": [1, 2,]\n}'), twice: fileOf('{"a": 1, "a": 1}') },
  ...{ escape: "no\u001b[2J\u202e\nbootproof: fine", members: fileOf('{"\u202e\u009b":1,"\u202e\u009b":2}') },
  ...{ breaks: fileOf(text.replace(/.{76}/g, "$&\n")), escaped: fileOf(text.replace(/[\w+/]{76}/g, "$&\\n")) },
  malformed: fileOf({ policy: "bootproof/one", deployments: [{ pcrs: { "0": "aa" } }], extra: 1 }),
  ...{ later: fileOf({ policy: "bootproof/2", rules: [] }), manyApps: fileOf(`[${"1,".repeat(200_000)}1]`) },
  manyIn: fileOf(`{"activity":{"id":"x","appProofs":[${"{},".repeat(200_000)}1]}}`),
};
const { run, table, usage } = scene(N);
const LATER = scene(N, { now: "2026-03-04T06:00:00Z" });

describe("the captured pairs", () => {
  it("are verified against a policy that pins them", async () => {
    const { code, stdout, stderr } = await bootproof([...PAIR, "--policy", POLICY]);
    expect([code, stderr]).toEqual([0, ""]);
    await expect(stdout).toMatchFileSnapshot("golden/verified.txt");
  });

  it("are authentic without a policy", async () => {
    const { code, stdout, stderr } = await bootproof([...PAIR, "--no-policy"]);
    expect([code, stderr]).toEqual([0, ""]);
    await expect(stdout).toMatchFileSnapshot("golden/authentic.txt");
  });

  it("are rejected where a byte was changed", async () => {
    const changed = readJson(BOOT_1);
    const manifest = Buffer.from(changed["qosManifestB64"] as string, "base64");
    manifest[manifest.indexOf("dc64e8bf", 0, "hex") + 5]! ^= 1;
    const stdin = JSON.stringify({ ...changed, qosManifestB64: manifest.toString("base64") });
    const { code, stdout, stderr } = await bootproof([...PAIR.with(2, "-"), "--policy", POLICY], { stdin });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^REJECTED: /)]);
    await expect(stdout).toMatchFileSnapshot("golden/rejected.txt");
  });

  it("are rejected by a policy that pins something else", async () => {
    const policy = readJson(POLICY);
    const [deployment] = policy["deployments"] as Record<string, unknown>[];
    const other = {
      ...deployment,
      pivotHash: `dd${(deployment!["pivotHash"] as string).slice(2)}`,
      minNonce: 20260101,
      pcrs: { ...(deployment!["pcrs"] as object), "3": "ee".repeat(48) },
    };
    const { code, stdout } = await bootproof([...PAIR, "--policy", fileOf({ ...policy, deployments: [other] })]);
    expect(code).toBe(1);
    await expect(stdout).toMatchFileSnapshot("golden/rejected-by-policy.txt");
    const [, bundle] = /\n +(bootproof bundle .*)\n/.exec(stdout.replaceAll(/ \\\n +/g, " "))!;
    const [, ...words] = bundle!.replace(" --out kept.json", "").split(" ");
    const kept = await bootproof(words.map((word) => (word === "boot.json" ? BOOT_1 : word)));
    expect([kept.code, JSON.parse(kept.stdout)]).toMatchObject([0, { report: { verdict: "authentic" } }]);
  });

  it("may be given together, each option once or repeated, app proofs finding theirs", async () => {
    for (const boots of ["--boot-proof $boot $boot2", "--boot-proof $boot --boot-proof $boot2"]) {
      const answer = await run(`verify ${boots} --app-proof $app2 --app-proof $app --no-policy --format json`, 0);
      expect(reportOf(answer).claims!.appProofs.map(({ bootProof }) => bootProof)).toEqual([1, 0]);
    }
  });
});

describe("evidence in its wrappers, its documents, and stdin", () => {
  const forgedApps = "verify --boot-proof $wrapped --no-policy --trust-anchor $anchor --app-proof";
  const BACKED = "the address 0xb84b4730Cd81Bc82Ee6B1dE6c343Ebd7928138DC is backed by an app proof.";
  LATER.table([
    ...["$apps", "$inObject", "$one"].map((apps) => [`${forgedApps} ${apps}`, 0, "ok app.signature"] as const),
    ["verify --boot-proof $forged --activity $activity --policy $ofLab", 0, BACKED, "not to AWS"],
    ["verify --boot-proof $forged --activity $activities --policy $ofLab", 0, BACKED],
    ["verify --boot-proof $forged --no-policy", 1],
    ["verify --boot-proof $forged --no-policy --trust-anchor $anchor", 0, "WARN chain.anchor"],
  ]);
  table([
    ...["$document", "$base64", "$lines", "$hex"].map(
      (file) => [`verify --attestation ${file} --no-policy`, 0, /^AUTHENTIC/] as const,
    ),
    ["verify --attestation $tpm --no-policy", 1, "NitroTPM"],
    [
      "verify --attestation $document --boot-proof $boot --app-proof $app --activity $app --ephemeral-key 0",
      2,
      "--attestation cannot be used with --boot-proof, --app-proof, --activity, --ephemeral-key",
    ],
    ["verify --boot-proof - --app-proof $app --policy $policy < $boot", 0],
    ["verify --boot-proof $boot --policy - < $policy", 0],
    ["verify --boot-proof - --no-policy < $big", 2, "stdin: larger than 1 MiB"],
    ["verify --boot-proof - --no-policy", 2, "stdin: empty"],
    ["verify $pair --no-policy --trust-anchor $anchor", 1],
    ["verify --attestation $debug --no-policy", 1],
    [
      "verify --attestation $debug --no-policy --allow-debug",
      0,
      "WARN mode.debug",
      "What code runs in the enclave: it is in debug mode",
    ],
  ]);
});

it.each([
  ["", 0, "2025-09-16T21:25:49.422Z", []],
  ["--at document", 0, "2025-09-16T21:25:49.422Z", []],
  ["--at now", 1, NOW, ["chain.validity"]],
  ["--at 2025-09-16T22:00:00Z", 0, "2025-09-16T22:00:00.000Z", []],
  ["--at now --now 2025-09-16T22:00:00Z", 0, "2025-09-16T22:00:00.000Z", []],
  ["--now 2025-09-16T21:26:00Z", 1, "2025-09-16T21:25:49.422Z", ["app.time"]],
] as const)("--at chooses the validation time, --now the present: %s", async (options, code, time, fails) => {
  const answer = await run(`verify $pair --no-policy --format json ${options}`.trim(), code);
  expect([reportOf(answer).validationTime, failed(answer)]).toEqual([time, fails]);
});

describe("colour", () => {
  it.each([
    [true, {}, true],
    [true, { NO_COLOR: "" }, true],
    [true, { NO_COLOR: "1" }, false],
    [false, {}, false],
    [true, { TERM: "dumb" }, false],
    [true, { TERM: "xterm-256color" }, true],
    [true, { FORCE_COLOR: "0" }, false],
    [true, { FORCE_COLOR: "" }, true],
    [true, { TERM: "dumb", FORCE_COLOR: "1" }, true],
    [true, { NO_COLOR: "1", FORCE_COLOR: "1" }, false],
    [false, { FORCE_COLOR: "1" }, true],
    [false, { FORCE_COLOR: "true" }, true],
    [false, { FORCE_COLOR: "0" }, false],
    [false, { NO_COLOR: "1", FORCE_COLOR: "3" }, false],
  ])("terminal %s, environment %j: %s, and never in JSON", async (isTTY, env, colored) => {
    const { stdout } = await bootproof([...PAIR, "--no-policy"], { isTTY, env });
    expect(stdout.includes("\u001b[")).toBe(colored);
    const json = await bootproof([...PAIR, "--no-policy", "--format", "json"], { isTTY, env });
    expect(json.stdout).not.toContain("\u001b");
  });
});

describe("the size of the screen", () => {
  const widest = (shown: string): number => Math.max(...shown.split("\n").map((line) => line.length));
  it.each<[string, Surroundings, number]>([
    ["the terminal's", { isTTY: true, columns: 120, env: { COLUMNS: "70" } }, 120],
    ["the terminal's, where it is wider than text can be read", { isTTY: true, columns: 400 }, 200],
    ["the environment's, where the terminal does not know", { isTTY: true, columns: 0, env: { COLUMNS: "70" } }, 70],
    ["the environment's in a pipe", { columns: 120, env: { COLUMNS: "66" } }, 66],
    ["60 at least", { env: { COLUMNS: "20" } }, 60],
    ...["0", "1e3", "wide"].map((COLUMNS): [string, Surroundings, number] => [COLUMNS, { env: { COLUMNS } }, 80]),
    ["80 where nobody says", {}, 80],
  ])("is %s", async (_, surroundings, columns) => {
    const env = { NO_COLOR: "1", ...surroundings.env };
    const { stdout } = await bootproof([...PAIR, "--no-policy"], { ...surroundings, env });
    expect(widest(stdout)).toBeLessThanOrEqual(columns);
    expect(widest(stdout)).toBeGreaterThan(columns - 6);
  });

  const ENDS = /\n\nAUTHENTIC: [^\n]*\n(?:[^\n]+\n)*$/;
  it.each<[Surroundings, boolean]>([
    [{}, true],
    [{ env: { LINES: "500" } }, false],
    [{ env: { LINES: "500", NO_COLOR: "1" }, isTTY: true, rows: 24 }, true],
    [{ env: { LINES: "10", NO_COLOR: "1" }, isTTY: true, rows: 500 }, false],
  ])("%j says whether the verdict is repeated: %s", async (surroundings, isRepeated) => {
    const { stdout } = await bootproof([...PAIR, "--no-policy", "--format", "text"], surroundings);
    expect(ENDS.test(stdout)).toBe(isRepeated);
  });

  it("is that of stderr for messages", async () => {
    const { stderr } = await bootproof(["pin", "--boot-proof", N.forged], { isTTY: true, columns: 62 });
    expect(stderr).toMatch(/^Not pinned\.\nREJECTED: /);
    expect(widest(stderr)).toBeLessThanOrEqual(62);
  });
});

describe("how much is told", () => {
  const at = async (isTTY: boolean, ...more: string[]): Promise<string> =>
    (await bootproof([...PAIR, "--policy", POLICY, ...more], { env: { NO_COLOR: "1" }, isTTY })).stdout;

  it("at a terminal is the summary, unless an option chooses another form, and else everything", async () => {
    const [summary, whole, verbose] = [await at(false, "--summary"), await at(false), await at(false, "--verbose")];
    expect(await at(true)).toBe(summary);
    expect(summary).toMatch(/^VERIFIED with \d warnings?: [^]*\nWARNING [^]*\nNot proven\n/);
    expect(summary).toContain(`\npolicy ${POLICY} (SHA-256 `);
    expect(summary.trimEnd().split("\n").length).toBeLessThanOrEqual(40);
    expect(whole).toContain("\n  ok    cose.signature");
    expect(whole).not.toContain("More: ");
    expect(await at(true, "--format", "text")).toBe(whole);
    expect(await at(true, "--verbose")).toBe(verbose);
    expect(await at(true, "--quiet")).toBe("");
    const json = await at(true, "--format", "json");
    const { hardware } = reportOf({ stdout: json }).claims!.bootProofs[0]!;
    for (const hex of [hardware.publicKey!, hardware.pcrs["0"]!, hardware.userData!])
      expect(verbose.replace(/\s+/g, "")).toContain(hex);
    for (const level of ["--summary", "--verbose"]) expect(await at(false, "--format", "json", level)).toBe(json);
  });

  it("with --max-age refuses an older boot proof, and names the limit that counted", async () => {
    const young = reportOf(await run("verify $pair --policy $policy --format json --max-age 24h", 0));
    expect(young.maxAge).toEqual({ milliseconds: 86_400_000, from: "caller" });
    const old = await run("verify $pair --policy $policy --format json --max-age 1h", 1);
    const found = reportOf(old).checks.filter(({ status }) => status === "fail");
    expect([reportOf(old).stale, failed(old)]).toEqual([true, ["policy.age"]]);
    expect(found[0]!.expected).toMatch(/^at most 1h, as the caller demands, at /);
    await run("verify $pair --policy $policy --max-age 1h", 1, "older than you allow. Nothing is proven.");
    expect(reportOf(await run("verify $pair --policy $policy --format json", 0))).not.toHaveProperty("maxAge");
  });

  usage("verify $pair", [
    ["--no-policy --max-age 1h", "--max-age cannot be used with --no-policy"],
    ["--policy $policy --max-age soon", "--max-age soon: expected a duration such as 12h or 30d"],
    ["--no-policy --summary --quiet", "--summary cannot be used with --quiet"],
    ["--no-policy --quiet --verbose", "--quiet cannot be used with --verbose"],
    ["--no-policy --summary --quiet --verbose", "--summary cannot be used with --quiet, --verbose"],
  ]);
});

it("finds a policy's own files beside it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "bootproof-policy-"));
  mkdirSync(join(folder, "roots"));
  writeFileSync(join(folder, "roots", "lab.pem"), forged.anchorPem);
  const verify = LATER.having({ own: join(folder, "policy.json") });
  const missing = "policy.json: trustAnchors[0]: roots/other.pem could not be read: no such file";
  for (const [file, code, ...says] of [["lab", 0] as const, ["other", 2, missing] as const]) {
    const trustAnchors = [{ file: `roots/${file}.pem` }];
    const policy = { ...labPolicy("", [labDeployment(lab)]), trustAnchors };
    writeFileSync(join(folder, "policy.json"), JSON.stringify(policy));
    await verify("verify --boot-proof $forged --policy $own", code, ...says);
  }
});

describe("wrong usage, and files at fault", () => {
  const listed = "--no-policy --organization-id o --address 0xab";
  const TOO_MANY = /a list of \d+, which cannot all be app proofs: at most 2048 fit into 1 MiB/;
  usage("verify", [
    [
      "stray.json --policy p --no-policy --trust-anchor x --at noon --now today --ephemeral-key 0g --format xml " +
        "--format text --activity - --app-proof -",
      "stray.json: a file without an option",
      "--no-policy cannot be used with --policy",
      "--at noon: expected document, now, or",
      "--trust-anchor cannot be used with --policy: a policy has its own",
      "--now today",
      "--ephemeral-key: not hex",
      "--format is repeated",
      "only one file can be - (stdin)",
      "--boot-proof FILE (or --attestation FILE) is required",
    ],
    ["--boot-proof $boot --no-policy --format xml", `--format xml: expected one of ${REPORT_FORMATS.join(", ")}`],
    ["--boot-proof $boot --no-policy --ephemeral-key 00ff", "--ephemeral-key: 4 hex digits, expected 260 hex digits"],
    [`${listed} bundle`, /the evidence to verify.* if bundle is the bundle, give it before --address, or after --\./],
    [
      `bundle.json ${listed}`,
      /^bootproof: bundle\.json: no such file Correct the path: no bundle\.json in the current folder /,
    ],
    [`${listed} -- bundle.json`, /^bootproof: bundle\.json: no such file/],
    [
      "--boot-proof missing.json $tmp $empty --app-proof $broken $twice --no-policy",
      "bootproof: missing.json: no such file",
      "bootproof: $tmp: is a directory: name the files in it",
      "empty.json: empty: the program that wrote it may have fail",
      "bootproof: $broken: not strict JSON: expected a value (line 2, column 22): remove the comma before it",
      'bootproof: $twice: not strict JSON: member "a" appears twice (line 1, column 10)',
      "Correct the path: no missing.json in the current folder",
      "--app-proof takes an app proof: the service's activities have them, as appProofs",
    ],
    ["--boot-proof $big --no-policy", "larger than 1 MiB"],
    ["--boot-proof $deep --no-policy", "nested deeper than 64"],
    ["--boot-proof $surrogate --no-policy", "lone surrogate"],
    [
      "--boot-proof $boot --policy $malformed",
      "bootproof: $malformed: deployments[0].pcrs.0: 2 hex digits, expected 96",
    ],
    [
      "--boot-proof $boot --policy $later",
      "$later: policy: version bootproof/2, and only bootproof/1 is read here It is",
      "It is of version bootproof/2, and this program reads bootproof/1: install",
    ],
    ["--boot-proof $breaks --no-policy", /line breaks?.* The text was wrapped when/],
    ["--boot-proof $escaped --no-policy", /line breaks?.* The text was wrapped when/],
    [
      "--boot-proof $escape $members --no-policy",
      "no\\u{1b}[2J\\u{202e}\\u{a}bootproof: fine: no such file",
      /^[\x20-\x7e]*$/,
    ],
    ["--boot-proof $boot --app-proof $manyApps --no-policy", TOO_MANY],
    ["--boot-proof $boot --activity $manyIn --no-policy", TOO_MANY],
  ]);
});
