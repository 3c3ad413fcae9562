/** Callers' options, read by shapes before anything is sent. */
import { type Fault, faultText } from "../errors.js";
import { ownOptions } from "./input.js";
import { type Shape, readShape, simple } from "./shapes.js";

export type OptionShapes<T> = Readonly<Record<keyof T, Shape<unknown>>>;

export const callable = simple("a function", (value): value is () => unknown => typeof value === "function");

/**
 * Copies options as {@link ownOptions} does, and also reads their values by shapes. Undefined counts as absent. Lists
 * are copied. Throws TypeError with the faults of all values, too.
 */
export function typedOptions<T extends object>(what: string, value: T, shapes: OptionShapes<T>): T {
  const own = ownOptions(what, value, shapes);
  const faults: Fault[] = [];
  for (const [name, given] of Object.entries(own)) {
    if (given === undefined) continue;
    const read = readShape(shapes[name as keyof T], given, `${what}.${name}`);
    faults.push(...read.faults);
    Object.assign(own, { [name]: read.value });
  }
  if (faults.length > 0) throw new TypeError(faultText(faults));
  return own;
}
