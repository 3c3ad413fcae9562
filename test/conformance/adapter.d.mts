import type * as bootproof from "../../src/index.js";
import type * as signedPolicy from "../../src/signed-policy/index.js";
import type { SignedExpected } from "./case.js";

export interface Judged {
  readonly verdict: "verified" | "authentic" | "rejected" | "malformed";
  readonly failed: readonly bootproof.CheckId[];
  readonly warned: readonly bootproof.CheckId[];
}

export function judgeCase(
  library: typeof bootproof & typeof signedPolicy,
  folder: string,
): Promise<Judged | SignedExpected>;
