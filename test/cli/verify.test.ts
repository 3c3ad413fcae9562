import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { toBase64, toHex } from "../../src/bytes.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { REPORT_FORMATS, type Report } from "../../src/report/report.js";
import {
  APP_1,
  APP_2,
  BOOT_1,
  BOOT_2,
  NOW,
  type Surroundings,
  bootproof,
  fileOf,
  readJson,
  vector,
  words,
  refused,
} from "./support.js";

const POLICY = fileOf((await bootproof(["pin", "--boot-proof", BOOT_1, "--name", "captured"])).stdout);
/** Reports name files as they were given: what is compared with a golden file says nothing of this machine. */
const here = (path: string): string => relative(process.cwd(), path);
const PAIR = ["verify", "--boot-proof", here(BOOT_1), "--app-proof", here(APP_1)];

const lab = new Forge();
const AT = new Date("2026-03-04T05:06:07.000Z");
const forged = forgeEvidence({ lab, at: AT });
const ANCHOR = fileOf(forged.anchorPem, "lab-root.pem");
const LATER = { now: "2026-03-04T06:00:00Z" };

function reportOf(stdout: string): Report {
  return JSON.parse(stdout) as Report;
}

function failed(stdout: string): string[] {
  return reportOf(stdout)
    .checks.filter((check) => check.status === "fail")
    .map((check) => check.id);
}

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
    const { code, stdout, stderr } = await bootproof(
      ["verify", "--boot-proof", "-", "--app-proof", here(APP_1), "--policy", POLICY],
      { stdin },
    );
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
    const kept = await bootproof(
      bundle!.replace("boot.json", BOOT_1).replace(" --out kept.json", "").split(" ").slice(1),
    );
    expect([kept.code, JSON.parse(kept.stdout)]).toMatchObject([0, { report: { verdict: "authentic" } }]);
  });

  it("may be given together, each option once or repeated, app proofs finding theirs", async () => {
    for (const boots of [
      ["--boot-proof", BOOT_1, BOOT_2],
      ["--boot-proof", BOOT_1, "--boot-proof", BOOT_2],
    ]) {
      const { code, stdout } = await bootproof(
        words`verify ${boots} --app-proof ${APP_2} --app-proof ${APP_1} --no-policy --format json`,
      );
      expect(code).toBe(0);
      expect(reportOf(stdout).claims!.appProofs.map((proof) => proof.bootProof)).toEqual([1, 0]);
    }
  });
});

describe("evidence in its wrappers", () => {
  it.each([
    ["app proofs in an array", forged.appProofs],
    ["app proofs in an object", { appProofs: forged.appProofs }],
    ["one app proof", forged.appProofs[0]],
  ])("%s", async (_, proofs) => {
    const { code, stdout } = await bootproof(
      words`verify --boot-proof ${fileOf({ bootProof: forged.bootProof })} --app-proof
        ${fileOf(proofs)} --no-policy --trust-anchor ${ANCHOR} --format json`,
      LATER,
    );
    expect(code).toBe(0);
    expect(reportOf(stdout).claims!.appProofs).toHaveLength(1);
  });

  it.each([
    ["bare", forged.activity],
    ["in an object", { activity: forged.activity }],
  ])("an activity %s", async (_, activity) => {
    const policy = fileOf(labPolicy(forged.anchorPem, [labDeployment(lab)]));
    const { code, stdout } = await bootproof(
      ["verify", "--boot-proof", fileOf(forged.bootProof), "--activity", fileOf(activity), "--policy", policy],
      LATER,
    );
    expect(code).toBe(0);
    expect(stdout.replace(/\s+/g, " ")).toContain(
      "the address 0xb84b4730Cd81Bc82Ee6B1dE6c343Ebd7928138DC is backed by an app proof.",
    );
    expect(stdout.replace(/\s+/g, " ")).toContain("not to AWS");
  });
});

describe("stdin", () => {
  const boot = readFileSync(BOOT_1);

  it("is one of the files", async () => {
    const { code } = await bootproof(["verify", "--boot-proof", "-", "--app-proof", APP_1, "--policy", POLICY], {
      stdin: boot,
    });
    expect(code).toBe(0);
    expect(
      (await bootproof(["verify", "--boot-proof", BOOT_1, "--policy", "-"], { stdin: readFileSync(POLICY) })).code,
    ).toBe(0);
  });

  it("is bounded, and not empty", async () => {
    expect(
      (await bootproof(["verify", "--boot-proof", "-", "--no-policy"], { stdin: " ".repeat(1024 * 1024 + 1) })).stderr,
    ).toContain("stdin: larger than 1 MiB");
    expect((await bootproof(["verify", "--boot-proof", "-", "--no-policy"])).stderr).toContain("stdin: empty");
  });
});

describe("--attestation", () => {
  const path = vector("nitro/base-sample-attestation2-bin-20240403.cbor");
  const document = new Uint8Array(readFileSync(path));

  it.each([
    ["binary", path],
    ["base64", fileOf(`${toBase64(document)}\n`)],
    ["base64 in lines", fileOf(toBase64(document).replace(/.{76}/g, "$&\n"))],
    ["hex", fileOf(toHex(document).toUpperCase())],
  ])("verifies a bare document, %s", async (_, file) => {
    const { code, stdout } = await bootproof(["verify", "--attestation", file, "--no-policy"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^AUTHENTIC/);
  });

  it("tells what a NitroTPM document is", async () => {
    const { vectors } = readJson(vector("documents.json")) as { vectors?: { file: string }[] };
    expect(vectors ?? []).not.toEqual([]);
    const [tpm] = (readJson(vector("nitro/EXPECT.json")) as unknown as { file: string; pcrKey: string }[]).filter(
      (entry) => entry.pcrKey === "nitrotpm_pcrs",
    );
    const { code, stdout } = await bootproof(["verify", "--attestation", vector(`nitro/${tpm!.file}`), "--no-policy"]);
    expect(code).toBe(1);
    expect(stdout).toContain("NitroTPM");
  });

  it("does not go with what belongs to boot proofs", () =>
    refused(
      2,
      bootproof(words`verify --attestation ${path} --boot-proof ${BOOT_1} --app-proof ${APP_1} --activity
      ${APP_1} --ephemeral-key 00 --no-policy`),
      "and excludes --boot-proof, --app-proof, --activity, --ephemeral-key",
    ));
});

describe("options", () => {
  it("--at chooses the validation time, --now the present", async () => {
    const at = async (...args: string[]): Promise<[number, string | null, string[]]> => {
      const { code, stdout } = await bootproof([...PAIR, "--no-policy", "--format", "json", ...args]);
      return [code, reportOf(stdout).validationTime, failed(stdout)];
    };
    expect(await at()).toEqual([0, "2025-09-16T21:25:49.422Z", []]);
    expect(await at("--at", "document")).toEqual([0, "2025-09-16T21:25:49.422Z", []]);
    expect(await at("--at", "now")).toEqual([1, NOW, ["chain.validity"]]);
    expect(await at("--at", "2025-09-16T22:00:00Z")).toEqual([0, "2025-09-16T22:00:00.000Z", []]);
    expect(await at("--at", "now", "--now", "2025-09-16T22:00:00Z")).toEqual([0, "2025-09-16T22:00:00.000Z", []]);
    expect(await at("--now", "2025-09-16T21:26:00Z")).toEqual([1, "2025-09-16T21:25:49.422Z", ["app.time"]]);
  });

  it("--allow-debug turns debug mode into a warning, and says what is lost", async () => {
    const debug = vector("nitro/anjuna-security-sample-attestation-doc-full-bin-20240124.cbor");
    expect((await bootproof(["verify", "--attestation", debug, "--no-policy"])).code).toBe(1);
    const { code, stdout } = await bootproof(["verify", "--attestation", debug, "--no-policy", "--allow-debug"]);
    expect(code).toBe(0);
    expect(stdout).toContain("WARN  mode.debug");
    expect(stdout.replace(/\s+/g, " ")).toContain("What code runs in the enclave: it is in debug mode");
  });

  it("--trust-anchor takes the place of AWS, loudly", async () => {
    const boot = fileOf(forged.bootProof);
    expect((await bootproof(["verify", "--boot-proof", boot, "--no-policy"], LATER)).code).toBe(1);
    const { code, stdout } = await bootproof(
      ["verify", "--boot-proof", boot, "--no-policy", "--trust-anchor", ANCHOR],
      LATER,
    );
    expect(code).toBe(0);
    expect(stdout).toContain("WARN  chain.anchor");
    expect((await bootproof([...PAIR, "--no-policy", "--trust-anchor", ANCHOR])).code).toBe(1);
  });
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
  ])("terminal %s, environment %j: %s", async (isTTY, env, colored) => {
    const { stdout } = await bootproof([...PAIR, "--no-policy"], { isTTY, env });
    expect(stdout.includes("\u001b[")).toBe(colored);
  });

  it("is never in JSON", async () => {
    const surroundings = { isTTY: true, env: { FORCE_COLOR: "1" } };
    const { stdout } = await bootproof([...PAIR, "--no-policy", "--format", "json"], surroundings);
    expect(stdout).not.toContain("\u001b");
  });
});

describe("the size of the screen", () => {
  const widest = (text: string): number => Math.max(...text.split("\n").map((line) => line.length));
  const ENDS = /\n\nAUTHENTIC: [^\n]*\n(?:[^\n]+\n)*$/;

  it.each([
    ["the terminal's", { isTTY: true, columns: 120, env: { COLUMNS: "70" } }, 120],
    ["the terminal's, where it is wider than text can be read", { isTTY: true, columns: 400 }, 200],
    ["the environment's, where the terminal does not know", { isTTY: true, columns: 0, env: { COLUMNS: "70" } }, 70],
    ["the environment's in a pipe", { columns: 120, env: { COLUMNS: "66" } }, 66],
    ["60 at least", { env: { COLUMNS: "20" } }, 60],
    ...["0", "1e3", "wide"].map(
      (text) => [`80 where the environment says ${JSON.stringify(text)}`, { env: { COLUMNS: text } }, 80] as const,
    ),
    ["80 where nobody says", {}, 80],
  ] as const)("is %s", async (_, surroundings, columns) => {
    const { stdout } = await bootproof([...PAIR, "--no-policy"], {
      ...surroundings,
      env: { NO_COLOR: "1", ...("env" in surroundings ? surroundings.env : {}) },
    });
    expect(widest(stdout)).toBeLessThanOrEqual(columns);
    expect(widest(stdout)).toBeGreaterThan(columns - 6);
  });

  it("says whether the verdict is repeated", async () => {
    const text = async (surroundings: Surroundings): Promise<string> => {
      return (await bootproof([...PAIR, "--no-policy", "--format", "text"], surroundings)).stdout;
    };
    expect(await text({})).toMatch(ENDS);
    expect(await text({ env: { LINES: "500" } })).not.toMatch(ENDS);
    expect(await text({ env: { LINES: "500", NO_COLOR: "1" }, isTTY: true, rows: 24 })).toMatch(ENDS);
    expect(await text({ env: { LINES: "10", NO_COLOR: "1" }, isTTY: true, rows: 500 })).not.toMatch(ENDS);
  });

  it("is that of stderr for messages", async () => {
    const { stderr } = await bootproof(["pin", "--boot-proof", fileOf(forged.bootProof)], { isTTY: true, columns: 62 });
    expect(stderr).toMatch(/^Not pinned\.\nREJECTED: /);
    expect(widest(stderr)).toBeLessThanOrEqual(62);
  });
});

describe("how much is told", () => {
  it("at a terminal is the summary, unless an option chooses another form, and else everything", async () => {
    const args = [...PAIR, "--policy", POLICY];
    const plain = { env: { NO_COLOR: "1" } };
    const at = async (isTTY: boolean, ...more: string[]): Promise<string> =>
      (await bootproof([...args, ...more], { ...plain, isTTY })).stdout;
    const [summary, whole] = [await at(false, "--summary"), await at(false)];
    expect(await at(true)).toBe(summary);
    expect(summary).toContain(`\npolicy ${POLICY} (SHA-256 `);
    expect(whole).toContain("\n  ok    cose.signature");
    expect(whole).not.toContain("More: ");
    expect(await at(true, "--format", "text")).toBe(whole);
    expect(await at(true, "--verbose")).toBe(await at(false, "--verbose"));
    expect(await at(true, "--quiet")).toBe("");
    expect(await at(true, "--format", "json")).toBe(await at(false, "--format", "json"));
  });

  it("with --max-age refuses an older boot proof, and names the limit that counted", async () => {
    const args = [...PAIR, "--policy", POLICY, "--format", "json"];
    const young = await bootproof([...args, "--max-age", "24h"]);
    expect([young.code, reportOf(young.stdout).maxAge]).toEqual([0, { milliseconds: 86_400_000, from: "caller" }]);
    const old = await bootproof([...args, "--max-age", "1h"]);
    const { checks, stale } = reportOf(old.stdout);
    const failed = checks.filter(({ status }) => status === "fail");
    expect([old.code, stale, failed.map(({ id }) => id)]).toEqual([1, true, ["policy.age"]]);
    expect(failed[0]!.expected).toMatch(/^at most 1h, as the caller demands, at /);
    const text = (await bootproof([...args.slice(0, -2), "--max-age", "1h"])).stdout;
    expect(text.replace(/\s+/g, " ")).toContain("older than you allow. Nothing is proven.");
    expect(reportOf((await bootproof(args)).stdout)).not.toHaveProperty("maxAge");
  });

  it.each([
    [["--no-policy", "--max-age", "1h"], "--max-age requires --policy"],
    [["--policy", POLICY, "--max-age", "soon"], "--max-age soon: expected a duration such as 12h or 30d"],
  ])("refuses %j", (words, message) => refused(2, bootproof([...PAIR, ...words]), message));

  it("is short with --summary, everything with --verbose, and in JSON the same", async () => {
    const args = [...PAIR, "--policy", POLICY];
    const summary = (await bootproof([...args, "--summary"])).stdout;
    expect(summary.trimEnd().split("\n").length).toBeLessThanOrEqual(40);
    expect(summary).toMatch(/^VERIFIED with \d warnings?: [^]*\nWARNING [^]*\nNot proven\n/);
    const verbose = (await bootproof([...args, "--verbose"])).stdout.replace(/\s+/g, "");
    const json = (await bootproof([...args, "--format", "json"])).stdout;
    const { hardware } = reportOf(json).claims!.bootProofs[0]!;
    for (const hex of [hardware.publicKey!, hardware.pcrs["0"]!, hardware.userData!]) expect(verbose).toContain(hex);
    for (const level of ["--summary", "--verbose"])
      expect((await bootproof([...args, "--format", "json", level])).stdout).toBe(json);
  });

  it.each([
    ["--summary", "--quiet"],
    ["--quiet", "--verbose"],
    ["--summary", "--quiet", "--verbose"],
  ])("is said once: %s %s", (...levels) =>
    refused(2, bootproof([...PAIR, "--no-policy", ...levels]), `${levels.join(" and ")} exclude each other: give one`),
  );
});

describe("a policy's own files", () => {
  it("are found beside it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "bootproof-policy-"));
    mkdirSync(join(folder, "roots"));
    writeFileSync(join(folder, "roots", "lab.pem"), forged.anchorPem);
    const policy = join(folder, "policy.json");
    const withAnchor = (file: string): void =>
      writeFileSync(policy, JSON.stringify({ ...labPolicy("", [labDeployment(lab)]), trustAnchors: [{ file }] }));
    withAnchor("roots/lab.pem");
    expect(
      (await bootproof(["verify", "--boot-proof", fileOf(forged.bootProof), "--policy", policy], LATER)).code,
    ).toBe(0);
    withAnchor("roots/other.pem");
    await refused(
      2,
      bootproof(["verify", "--boot-proof", fileOf(forged.bootProof), "--policy", policy], LATER),
      "policy.json: trustAnchors[0]: roots/other.pem could not be read: no such file",
    );
  });
});

describe("wrong usage", () => {
  const usage = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await bootproof(["verify", ...args]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).not.toMatch(/\n\s+at /);
    return stderr;
  };

  it("tells all of its faults together", async () => {
    const stderr = await usage(
      ...words`stray.json --policy p --no-policy --trust-anchor x --at noon --now today --ephemeral-key 0g
      --format xml --format text --activity - --app-proof -`,
    );
    for (const part of [
      "stray.json: a file without an option",
      "--policy and --no-policy exclude",
      "--trust-anchor requires --no-policy or --bundle-policy",
      "--at noon: expected document, now, or an ",
      "--now today",
      "--ephemeral-key: not hex",
      "--format is repeated",
      "only one file can be - (stdin)",
      "--boot-proof FILE (or --attestation FILE) is required",
    ])
      expect(stderr.replace(/RFC 3339.*/g, "")).toContain(part);
    expect(await usage("--boot-proof", BOOT_1, "--no-policy", "--format", "xml")).toContain(
      `--format xml: expected one of ${REPORT_FORMATS.join(", ")}`,
    );
    expect(await usage("--boot-proof", BOOT_1, "--no-policy", "--ephemeral-key", "00ff")).toContain(
      "--ephemeral-key: 4 hex digits, expected 260 hex digits",
    );
  });

  it("of a list of addresses that may have taken the bundle says so, and how it is given", async () => {
    const asked = ["--no-policy", "--organization-id", "o", "--address", "0xab"];
    expect(await usage(...asked, "bundle")).toMatch(
      /the evidence to verify.* if bundle is the bundle, give it before --address, or after --\./,
    );
    for (const argv of [
      ["bundle.json", ...asked],
      [...asked, "--", "bundle.json"],
    ])
      expect(await usage(...argv)).toMatch(
        /^bootproof: bundle\.json: no such file\nCorrect the path: no bundle\.json in the current folder /,
      );
  });
});

describe("files at fault", () => {
  const faults = async (...args: string[]): Promise<string[]> => {
    const { code, stdout, stderr } = await bootproof(["verify", ...args]);
    expect([code, stdout]).toEqual([2, ""]);
    return stderr.trimEnd().split("\n");
  };

  it("are all told, each by its name", async () => {
    const broken = fileOf('{\n  "bootProof": [1, 2,]\n}');
    const twice = fileOf('{"a": 1, "a": 1}');
    expect(
      await faults(
        ...words`--boot-proof missing.json ${tmpdir()} ${fileOf("", "empty.json")} --app-proof ${broken}
        ${twice} --no-policy`,
      ),
    ).toEqual([
      "bootproof: missing.json: no such file",
      `bootproof: ${tmpdir()}: is a directory: name the files in it`,
      expect.stringMatching(/empty\.json: empty: the program that wrote it may have failed$/),
      `bootproof: ${broken}: not strict JSON: expected a value (line 2, column 22): remove the comma before it`,
      `bootproof: ${twice}: not strict JSON: member "a" appears twice (line 1, column 10)`,
      `Correct the path: no missing.json in the current folder ${process.cwd()}, nor a name near it`,
      "--app-proof takes an app proof: the service's activities have them, as appProofs",
    ]);
  });

  it.each([
    ["2 MiB", " ".repeat(2 * 1024 * 1024), "larger than 1 MiB"],
    ["deep nesting", "[".repeat(500_000), "nested deeper than 64"],
    ["a lone surrogate", '{"a":"\\ud800"}', "lone surrogate"],
  ])("%s", async (_, content, message) => {
    expect((await faults("--boot-proof", fileOf(content), "--no-policy")).join()).toContain(message);
  });

  it("that are a policy name every fault of it, by its place", async () => {
    const policy = fileOf({ policy: "bootproof/one", deployments: [{ pcrs: { "0": "aa" } }], extra: 1 });
    const lines = await faults("--boot-proof", BOOT_1, "--policy", policy);
    expect(lines).toContain(`bootproof: ${policy}: deployments[0].pcrs.0: 2 hex digits, expected 96`);
    expect(lines.length).toBe(3);
  });

  it("that are a policy of another version name both versions, and nothing else", async () => {
    const policy = fileOf({ policy: "bootproof/2", rules: [] });
    expect(await faults("--boot-proof", BOOT_1, "--policy", policy)).toEqual([
      `bootproof: ${policy}: policy: version bootproof/2, and only bootproof/1 is read here`,
      expect.stringMatching(/^It is of version bootproof\/2, and this program reads bootproof\/1: install/),
    ]);
  });

  it("that were pasted with line breaks say so, with what to do", async () => {
    const text = readFileSync(BOOT_1, "utf8");
    const [wrapped, escaped] = [text.replace(/.{76}/g, "$&\n"), text.replace(/[\w+/]{76}/g, "$&\\n")].map((one) =>
      fileOf(one),
    );
    for (const path of [wrapped!, escaped!]) {
      const { code, stderr } = await bootproof(["verify", "--boot-proof", path, "--no-policy"]);
      expect([code, stderr.replaceAll(/\s+/g, " ")]).toEqual([
        2,
        expect.stringMatching(/line breaks?.* The text was wrapped when/),
      ]);
    }
  });

  it("cannot write to the terminal by their names or members", async () => {
    const { stderr } = await bootproof(words`verify --boot-proof ${"no\u001b[2J\u202e\nbootproof: fine"}
      ${fileOf('{"\u202e\u009b":1,"\u202e\u009b":2}')} --no-policy`);
    expect(stderr).toContain("no\\u{1b}[2J\\u{202e}\\u{a}bootproof: fine: no such file");
    expect(stderr).toMatch(/^[\n\x20-\x7e]*$/);
  });
});

it.each([
  ["--app-proof", `[${"1,".repeat(200_000)}1]`],
  ["--activity", `{"activity":{"id":"x","appProofs":[${"{},".repeat(200_000)}1]}}`],
])("%s with more entries than there can be is refused at once", (option, content) =>
  refused(
    2,
    bootproof(["verify", "--boot-proof", BOOT_1, option, fileOf(content), "--no-policy"]),
    /a list of \d+, which cannot all be app proofs: at most 2048 fit into 1 MiB/,
  ),
);
