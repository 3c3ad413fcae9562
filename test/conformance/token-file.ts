/** The file of the token cases in `test-vectors/conformance/`. Its signatures differ each time it is made. */
import type { ParsedPolicy } from "../../src/appraise/parsed-policy.js";
import { fromUtf8 } from "../../src/bytes.js";
import { ACCEPTED, ATTACKS, type TokenCase } from "../token/cases.table.js";
import { NOW, ORG, POLICY, USER } from "../token/support.js";

export const TOKEN_FILE = "tokens/tokens.json";

export interface TokenVector {
  readonly name: string;
  readonly kind: TokenCase["kind"];
  /** A string, or another value that is no token. */
  readonly token: unknown;
  /** The name of its policy in `policies`. */
  readonly policy: string;
  readonly now: string;
  /** An id that is not there is not compared. */
  readonly expected: Readonly<Record<string, string>>;
  readonly verdict: "verified" | "rejected";
  readonly failed: readonly string[];
}

/** What the tests expect of each kind unless a case says otherwise. */
export function expectedOf({ kind, expected }: TokenCase): object {
  if (expected !== undefined) return expected;
  if (kind === "session" || kind === "otp") return { organizationId: ORG };
  return { ...(kind !== "otp-target" && { organizationId: ORG }), ...(kind === "import" && { userId: USER }) };
}

export function tokenText(): string {
  const policies = new Map<string, string>();
  const cases = [...ACCEPTED, ...ATTACKS].map((one): TokenVector => {
    const text = fromUtf8(((one.policy ?? POLICY) as ParsedPolicy).content())!;
    if (!policies.has(text)) policies.set(text, `policy ${policies.size + 1}`);
    const verdict = one.fails.length === 0 ? "verified" : "rejected";
    const given = { name: one.name, kind: one.kind, token: one.token ?? null, policy: policies.get(text)! };
    const expected = expectedOf(one) as Readonly<Record<string, string>>;
    return { ...given, now: (one.now ?? NOW).toISOString(), expected, verdict, failed: [...one.fails].sort() };
  });
  const lines = (values: readonly string[]): string => values.map((value) => `  ${value}`).join(",\n");
  const named = [...policies].map(([text, name]) => `${JSON.stringify(name)}: ${text}`);
  return (
    '{\n "format": "bootproof-conformance-tokens/1",\n' +
    ` "policies": {\n${lines(named)}\n },\n "cases": [\n${lines(cases.map((one) => JSON.stringify(one)))}\n ]\n}\n`
  );
}
