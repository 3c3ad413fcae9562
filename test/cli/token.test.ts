/** `bootproof token`: what it accepts, what it refuses, and how it says so. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  FETCHER,
  GENUINE,
  NOTARIZER,
  NOW,
  ORG,
  OTP_TARGET_DATA,
  SESSION_CLAIMS,
  SIGNER,
  USER,
  BEARER,
  otpToken,
  pinning,
  sessionToken,
  signedBundle,
} from "../token/support.js";
import { ROOT } from "../tracked.mjs";
import { type Answer, bootproof, fileOf, refused } from "./support.js";

const deployments = [
  pinning("prod/notarizer", NOTARIZER),
  pinning("prod/tls-fetcher", FETCHER),
  pinning("prod/signer", SIGNER),
];
const policy = fileOf({ policy: "bootproof/1", name: "tokens", deployments });
const AT = ["--now", NOW.toISOString()];
const OWN = ["--organization-id", ORG];
const run = (word: string, ...args: string[]): Promise<Answer> =>
  bootproof(["token", word, "--policy", policy, ...AT, ...args]);
const kept = (text: string): string => `@${fileOf(text, "token.txt")}`;

describe("bootproof token", () => {
  it.each<[string, string, string[]]>([
    ["a session", sessionToken(), [...OWN, "--user-id", USER, "--public-key", BEARER]],
    ["an OTP token", otpToken(), ["--kind", "otp", ...OWN]],
    ["an import bundle", signedBundle(), ["--kind", "import", ...OWN, "--user-id", USER]],
    ["a target", signedBundle({ data: OTP_TARGET_DATA, key: FETCHER }), ["--kind", "otp-target", "--any-organization"]],
  ])("verifies %s, with one line break behind it or none", async (_, token, args) => {
    for (const end of ["", "\n", "\r\n"]) {
      const { code, stdout, stderr } = await run(kept(token + end), ...args);
      expect([code, stdout.split("\n")[0], stderr]).toEqual([0, expect.stringMatching(/^VERIFIED: /), ""]);
    }
    const { code, stdout } = await run(kept(token), ...args, "--format", "json");
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { format: "bootproof-token/1", verdict: "verified" }]);
    // A bundle is JSON, which may have white space around it.
    if (token.startsWith("{")) return;
    for (const end of ["\n\n", " ", "\t\n"]) expect((await run(kept(token + end), ...args)).code).toBe(1);
  });

  it("verifies the genuine session under the key of the notarizer's genuine release", async () => {
    const release = join(ROOT, "test-vectors/releases/2026.9.0");
    const pinned = await bootproof(["pin", "--release", release, "--app", "notarizer"]);
    const args = [
      "token",
      kept(GENUINE.session.token),
      "--policy",
      fileOf(pinned.stdout, "policy.json"),
      "--any-organization",
    ];
    const during = await bootproof([...args, "--now", "2025-06-02T15:07:16Z"]);
    expect([pinned.code, during.code, during.stdout]).toEqual([0, 0, expect.stringContaining("notarizer 2026.9.0")]);
    expect((await bootproof([...args, "--now", "2025-06-02T15:07:17Z"])).code).toBe(1);
  });

  it("reads a token with the scheme of an Authorization header before it", async () => {
    for (const scheme of ["Bearer ", "bearer "])
      expect((await run(kept(`${scheme}${sessionToken()}`), ...OWN)).code).toBe(0);
    expect((await run(kept(`Basic ${sessionToken()}`), ...OWN)).code).toBe(1);
  });

  it("reads stdin", async () => {
    const surroundings = { stdin: sessionToken() };
    const answer = await bootproof(["token", "-", "--policy", policy, ...AT, ...OWN], surroundings);
    expect([answer.code, answer.stderr]).toEqual([0, ""]);
  });

  it("refuses a token of somebody else, of another kind, or that expired, with exit code 1", async () => {
    for (const [token, args, id] of [
      [sessionToken(), ["--organization-id", USER], "token.expected"],
      [sessionToken(), [...OWN, "--user-id", ORG], "token.expected"],
      [otpToken(), OWN, "token.decode"],
      [sessionToken({ key: SIGNER }), OWN, "token.signature"],
      [sessionToken(), [...OWN, "--namespace", "prod/signer"], "token.signature"],
    ] as const) {
      const { code, stdout } = await run(kept(token), ...args);
      expect([code, stdout]).toEqual([1, expect.stringMatching(new RegExp(`FAIL +${id.replace(".", "\\.")}`))]);
    }
    const late = ["--now", "2026-03-04T05:21:17Z", ...OWN];
    const file = kept(sessionToken());
    expect((await bootproof(["token", file, "--policy", policy, ...late])).code).toBe(1);
    expect((await bootproof(["token", file, "--policy", policy, ...late, "--tolerance", "1m"])).code).toBe(0);
  });
});

describe("bootproof token", () => {
  it("takes no token as an argument, and does not repeat it", async () => {
    const token = sessionToken();
    const answer = await run(token, ...OWN);
    expect([answer.code, answer.stdout]).toEqual([2, ""]);
    expect(answer.stderr).toContain("expected @FILE, or - for stdin");
    expect(answer.stderr).not.toContain(token.slice(0, 20));
  });

  it.each<[string, (token: string) => string[]]>([
    ["as a second argument", (token) => ["token", "-", token]],
    ["as the name of a file", (token) => ["token", `@${token}`, "--policy", policy, ...OWN]],
    ["as the name of a policy", (token) => ["token", "-", "--policy", token, ...OWN]],
    ["as the time", (token) => ["token", "-", "--policy", policy, "--now", token, ...OWN]],
    ["as the kind", (token) => ["token", "-", "--policy", policy, `--kind=${token}`, ...OWN]],
    ["as the format", (token) => ["token", "-", "--policy", policy, "--format", token, ...OWN]],
    ["as a header", (token) => ["token", "-", "--policy", policy, "--now", `Bearer ${token}`, ...OWN]],
    ["as an option", (token) => ["token", "-", `--${token}`]],
    ["as a command", (token) => [token]],
    ["as evidence", (token) => ["verify", token, "--no-policy"]],
  ])("shows no part of a token %s", async (_, argv) => {
    // The signature, too, has - and _, at which words could be cut apart.
    const token = sessionToken({ sign: () => Uint8Array.from({ length: 64 }, (__, at) => (at % 3 ? 0xfb : 0xfe)) });
    for (const given of [token, token.replace("eyJ", "ewo"), token.replace(/\.[^.]+$/, ".")]) {
      const { code, stdout, stderr } = await bootproof(argv(given));
      const parts = given.match(/[A-Za-z0-9]{5,}/g)!.filter((part) => (stdout + stderr).includes(part));
      expect([code, parts], stderr).toEqual([2, []]);
    }
  });

  it.each<[string, string[], string]>([
    ["no organization", [], "--organization-id ID is required, or --any-organization"],
    ["both", [...OWN, "--any-organization"], "exclude each other"],
    ["both of a user", [...OWN, "--kind", "import", "--user-id", USER, "--any-user"], "exclude each other"],
    ["every user of a session", [...OWN, "--any-user"], "--any-user: session has none"],
    [
      "an unknown kind",
      [...OWN, "--kind", "jwt"],
      "--kind jwt: expected one of session, otp, import, export, otp-target",
    ],
    ["an import bundle without a user", [...OWN, "--kind", "import"], "--user-id ID is required"],
    ["the user of an export", [...OWN, "--kind", "export", "--user-id", USER], "--user-id: export has none"],
    ["the key of a bundle", [...OWN, "--kind", "export", "--public-key", BEARER], "--public-key: export has none"],
    ["a key that is none", [...OWN, "--public-key", "02ab"], "--public-key: expected a P-256 key in hex"],
    ["an empty user", [...OWN, "--user-id", ""], "--user-id: empty"],
    ["a duration without a unit", [...OWN, "--tolerance", "30"], "--tolerance 30: expected a duration"],
    ["a date alone", [...OWN, "--now", "2026-03-04"], "--now 2026-03-04: expected"],
  ])("refuses %s with exit code 2", async (_, args, words) => {
    const own = args.includes("--now") ? args : [...AT, ...args];
    await refused(2, bootproof(["token", kept(sessionToken()), "--policy", policy, ...own]), words);
  });
});

describe("bootproof token", () => {
  it("takes any for an ID of that name, wherever it comes from: a word accepts nobody else's token", async () => {
    const surroundings = { env: { BOOTPROOF_ORGANIZATION_ID: "any" } };
    const args = ["token", kept(sessionToken()), "--policy", policy, ...AT];
    const isRefused = async (answer: Promise<Answer>): Promise<void> => {
      const { code, stdout } = await answer;
      expect([code, stdout]).toEqual([1, expect.stringMatching(/FAIL {2}token\.expected [^]*expected any/)]);
    };
    await isRefused(bootproof(args, surroundings));
    await isRefused(bootproof([...args, "--organization-id", "any"]));
    expect((await bootproof([...args, "--any-organization"], surroundings)).code).toBe(0);
    const imported = ["token", kept(signedBundle()), "--kind", "import", "--policy", policy, ...OWN, ...AT];
    await isRefused(bootproof([...imported, "--user-id", "any"]));
    expect((await bootproof([...imported, "--any-user"])).code).toBe(0);
    const own = sessionToken({ claims: { ...SESSION_CLAIMS, organization_id: "any" } });
    expect((await bootproof(["token", kept(own), "--policy", policy, ...AT], surroundings)).code).toBe(0);
  });

  it("refuses a command line without a policy, and files that are not there", async () => {
    await refused(2, bootproof(["token", "-", ...OWN]), "--policy FILE is required");
    await refused(2, run("@none.jwt", ...OWN), "no such file");
    await refused(2, run("@", ...OWN), "expected @FILE");
  });
});
