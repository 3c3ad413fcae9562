/** What a decoder reports of an input that it has to refuse. */
import { MalformedError, faultText } from "../../src/errors.js";

/**
 * The faults of a refused input as text. Throws where the input is accepted, and rethrows any error that is not a
 * {@link MalformedError}.
 */
export function faultsOf(decode: () => unknown): string {
  return refusalOf(decode).faults;
}

/** As {@link faultsOf}, with the error's code. */
export function refusalOf(decode: () => unknown): { code: string; faults: string; paths: string[] } {
  let accepted: unknown;
  try {
    accepted = decode();
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    if (error.faults.length === 0) throw new Error("a MalformedError without faults", { cause: error });
    return { code: error.code, faults: faultText(error.faults), paths: error.faults.map(({ path }) => path) };
  }
  throw new Error(`accepted, and must be refused: ${JSON.stringify(accepted)?.slice(0, 300)}`);
}

/** Whether the input is refused with a {@link MalformedError}; any other error is rethrown. */
export function isRefused(decode: () => unknown): boolean {
  try {
    decode();
    return false;
  } catch (error) {
    if (error instanceof MalformedError) return true;
    throw error;
  }
}
