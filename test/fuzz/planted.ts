/** Faults on purpose: what the runner has to find, each in its way. */
import { type Layer, must } from "./loop.js";

const seeds = [new TextEncoder().encode('{"a":[1,2,3]}')];
const kept: unknown[] = [];
const of = (run: Layer["run"]): { readonly share: number; readonly load: () => Promise<Layer> } => ({
  share: 1,
  load: async () => ({ seeds, run }),
});
let runs = 0;

export const LAYERS = {
  good: of((input) => (input[0] === 0x7b ? "accepted" : "refused")),
  crash: of((input) => {
    if (input.includes(0x5d)) return "accepted";
    throw new TypeError("a bracket is missing");
  }),
  wrong: of((input) => {
    must(input[0] === 0x7b, "accepted, and it begins otherwise");
    return "accepted";
  }),
  hang: of((input) => {
    while (input.length > 40 || runs++ > 20);
    return "refused";
  }),
  memory: of(() => {
    kept.push(Buffer.alloc(16 * 1024 * 1024, 1));
    return "refused";
  }),
};
