/** What verification needs of a runtime, before anything is verified. */

const NEEDED = [
  "BigInt",
  "DataView.prototype.getBigUint64",
  "Object.hasOwn",
  "Array.prototype.flatMap",
  "String.prototype.replaceAll",
];

/** The runtime lacks a function. This says nothing about the evidence. */
export class MissingFunctionError extends Error {
  override readonly name = "MissingFunctionError";
  readonly code = "runtime";
  /** Names of the missing functions. */
  readonly missing: readonly string[];

  constructor(missing: readonly string[]) {
    const advice = missing.map((name) => `${name} (${adviceFor(name)})`);
    super(`this runtime has no ${advice.join(", ")}. Nothing was verified`);
    this.missing = missing;
  }
}

function adviceFor(name: string): string {
  if (name.includes("Big")) return "no polyfill adds it: use Hermes of React Native 0.70 or later";
  const path = name
    .replace(".prototype", "")
    .replace(".", "/")
    .replace(/([a-z])([A-Z])/g, "$1-$2");
  return `add core-js/actual/${path.toLowerCase()}`;
}

/** Throws {@link MissingFunctionError} if the runtime lacks what is needed: by default what verification needs. */
export function requireRuntime(needed: readonly string[] = NEEDED): void {
  const valueOf = (name: string): unknown =>
    name.split(".").reduce<unknown>((holder, member) => (holder as Record<string, unknown>)[member], globalThis);
  const missing = needed.filter((name) => typeof valueOf(name) !== "function");
  if (missing.length > 0) throw new MissingFunctionError(missing);
}
