/** The token cases: the library and a second implementation, written from the rules, find the expected verdict. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import {
  ANY_ORGANIZATION,
  ANY_USER,
  verifyOtpToken,
  verifySessionToken,
  verifySignedBundle,
} from "../../src/token/index.js";
import { parsePolicy } from "../../src/index.js";
import { readVectorText } from "../support/vectors.js";
import { ACCEPTED, ATTACKS } from "../token/cases.table.js";
import { TOKEN_FILE, type TokenVector } from "./token-file.js";
import { judgedByRules } from "./token-oracle.js";
import { CORPUS } from "./unpack.mjs";

const file = JSON.parse(readFileSync(join(CORPUS, TOKEN_FILE), "utf8")) as {
  readonly policies: Readonly<Record<string, { readonly deployments: readonly Record<string, unknown>[] }>>;
  readonly cases: readonly TokenVector[];
};
const PUBLIC = readVectorText("public-keys.json").match(/[0-9a-f]{260}/g)!;

async function judged({ kind, token, policy, now, expected }: TokenVector): Promise<object> {
  const parsed = parsePolicy(JSON.stringify(file.policies[policy]));
  const any = { organizationId: ANY_ORGANIZATION, ...(kind !== "session" && kind !== "otp" && { userId: ANY_USER }) };
  const options = { policy: parsed, now: new Date(now), expected: { ...any, ...expected } as never };
  const given = token as string;
  const report = await (kind === "session"
    ? verifySessionToken(given, options)
    : kind === "otp"
      ? verifyOtpToken(given, options)
      : verifySignedBundle(given, { ...options, kind }));
  const failed = report.checks.filter(({ status }) => status === "fail").map(({ id }) => id);
  return { verdict: report.verdict, failed: failed.sort() };
}

describe("the token cases", () => {
  it("are those of the table, and follow their schema", () => {
    expect(file.cases.map(({ name }) => name)).toEqual([...ACCEPTED, ...ATTACKS].map(({ name }) => name));
    expect(file.cases.length).toBeGreaterThan(100);
    const schema = JSON.parse(readFileSync(join(CORPUS, "schemas/tokens.schema.json"), "utf8")) as object;
    const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(schema);
    expect([validate(file), validate.errors]).toEqual([true, null]);
  });

  it.each(file.cases.map((one) => [one.name, one] as const))("%s", async (_, one) => {
    const expected = { verdict: one.verdict, failed: one.failed };
    expect(await judged(one)).toEqual(expected);
    expect(judgedByRules(one, file.policies[one.policy]!, PUBLIC)).toEqual(expected);
  });
});
