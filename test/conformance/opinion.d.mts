import type { SignedExpected } from "./case.js";

export function judgeFolder(folder: string): SignedExpected | { readonly verdict: "unsupported" };
