/** The usual advice after a failure of each check, which bin/texts.mjs takes from `explanations.md`. */
import type { CheckId } from "../checks.js";

export declare const ADVICE: Readonly<Record<CheckId, string>>;
