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
import { fileOf, scene } from "./support.js";

const deployments = [
  pinning("prod/notarizer", NOTARIZER),
  pinning("prod/tls-fetcher", FETCHER),
  pinning("prod/signer", SIGNER),
];
const kept = (text: string): string => `@${fileOf(text, "token.txt")}`;
const policy = fileOf({ policy: "bootproof/1", name: "tokens", deployments });
const N = {
  ...{ policy, by: ["--policy", policy, "--now", NOW.toISOString()], user: USER, org: ORG, key: BEARER },
  ...{
    own: ["--organization-id", ORG],
    session: kept(sessionToken()),
    otp: kept(otpToken()),
    imported: kept(signedBundle()),
  },
  ...{
    bySigner: kept(sessionToken({ key: SIGNER })),
    genuine: kept(GENUINE.session.token),
    file: fileOf(sessionToken()),
  },
  ofAny: kept(sessionToken({ claims: { ...SESSION_CLAIMS, organization_id: "any" } })),
  ...{
    bearer: kept(`Bearer ${sessionToken()}`),
    lower: kept(`bearer ${sessionToken()}`),
    basic: kept(`Basic ${sessionToken()}`),
  },
  release: join(ROOT, "test-vectors/releases/2026.9.0"),
};
const { having, run, table, usage } = scene(N);

describe("bootproof token", () => {
  it.each<[string, string]>([
    [sessionToken(), "$own --user-id $user --public-key $key"],
    [otpToken(), "--kind otp $own"],
    [signedBundle(), "--kind import $own --user-id $user"],
    [signedBundle({ data: OTP_TARGET_DATA, key: FETCHER }), "--kind otp-target --any-organization"],
  ])("verifies %s, with one line break behind it or none: %s", async (token, args) => {
    for (const end of ["", "\n", "\r\n"])
      await having({ it: kept(token + end) })(`token $it $by ${args}`, 0, /^VERIFIED: /);
    const { stdout } = await having({ it: kept(token) })(`token $it $by ${args} --format json`, 0);
    expect(JSON.parse(stdout)).toMatchObject({ format: "bootproof-token/1", verdict: "verified" });
    // A bundle is JSON, which may have white space around it.
    if (token.startsWith("{")) return;
    for (const end of ["\n\n", " ", "\t\n"]) await having({ it: kept(token + end) })(`token $it $by ${args}`, 1);
  });

  it("verifies the genuine session under the key of the notarizer's genuine release", async () => {
    const { stdout } = await run("pin --release $release --app notarizer", 0);
    const token = having({ own: fileOf(stdout, "policy.json") });
    const line = "token $genuine --policy $own --any-organization --now 2025-06-02T15:07:";
    await token(`${line}16Z`, 0, "notarizer 2026.9.0");
    await token(`${line}17Z`, 1);
  });

  const late = "token $session --policy $policy --now 2026-03-04T05:21:17Z $own";
  const EXPECTS_ANY = /FAIL token\.expected .*expected any/;
  table([
    ["token $bearer $by $own", 0],
    ["token $lower $by $own", 0],
    ["token $basic $by $own", 1],
    ["token - $by $own < $file", 0],
    ["token $session $by --organization-id $user", 1, "FAIL token.expected"],
    ["token $session $by $own --user-id $org", 1, "FAIL token.expected"],
    ["token $otp $by $own", 1, "FAIL token.decode"],
    ["token $bySigner $by $own", 1, "FAIL token.signature"],
    ["token $session $by $own --namespace prod/signer", 1, "FAIL token.signature"],
    [late, 1],
    [`${late} --tolerance 1m`, 0],
    // A word accepts nobody else's token: any is an ID of that name, wherever it comes from.
    ["BOOTPROOF_ORGANIZATION_ID=any token $session $by", 1, EXPECTS_ANY],
    ["token $session $by --organization-id any", 1, EXPECTS_ANY],
    ["BOOTPROOF_ORGANIZATION_ID=any token $session $by --any-organization", 0],
    ["token $imported --kind import $by $own --user-id any", 1, EXPECTS_ANY],
    ["token $imported --kind import $by $own --any-user", 0],
    ["BOOTPROOF_ORGANIZATION_ID=any token $ofAny $by", 0],
  ]);

  it.each([
    "token ITEM --policy $policy $own",
    "token - ITEM",
    "token @ITEM --policy $policy $own",
    "token - --policy ITEM $own",
    "token - --policy $policy --now ITEM $own",
    "token - --policy $policy --kind=ITEM $own",
    "token - --policy $policy --format ITEM $own",
    "token - --policy $policy --now $bearer $own",
    "token - --ITEM",
    "ITEM",
    "verify ITEM --no-policy",
  ])("shows no part of a token in: %s", async (line) => {
    // The signature, too, has - and _, at which words could be cut apart.
    const token = sessionToken({ sign: () => Uint8Array.from({ length: 64 }, (__, at) => (at % 3 ? 0xfb : 0xfe)) });
    for (const given of [token, token.replace("eyJ", "ewo"), token.replace(/\.[^.]+$/, ".")]) {
      const told = having({ bearer: `Bearer ${given}` })(line.replace("ITEM", given), 2);
      const { stdout, stderr } = await told;
      const parts = given.match(/[A-Za-z0-9]{5,}/g)!.filter((part) => (stdout + stderr).includes(part));
      expect(parts, stderr).toEqual([]);
    }
  });

  usage("token", [
    ["text $by $own", "expected @FILE, or - for stdin"],
    ["$session $by", "--organization-id ID is required, or --any-organization"],
    ["$session $by $own --any-organization", "cannot be used with"],
    ["$session $by $own --kind import --user-id $user --any-user", "cannot be used with"],
    ["$session $by $own --any-user", "--any-user: session has none"],
    ["$session $by $own --kind jwt", "--kind jwt: expected one of session, otp, import, export, otp-target"],
    ["$session $by $own --kind import", "--user-id ID is required"],
    ["$session $by $own --kind export --user-id $user", "--user-id: export has none"],
    ["$session $by $own --kind export --public-key $key", "--public-key: export has none"],
    ["$session $by $own --public-key 02ab", "--public-key: expected a P-256 key in hex"],
    ["$session $by $own --tolerance 30", "--tolerance 30: expected a duration"],
    ["$session --policy $policy $own --now 2026-03-04", "--now 2026-03-04: expected"],
    ["- $own", "--policy FILE is required"],
    ["@none.jwt $by $own", "no such file"],
    ["@ $by $own", "expected @FILE"],
  ]);
});
