/** Reads `test-vectors/suites/`. */
import { gunzipSync } from "node:zlib";
import { readVector } from "../support/vectors.js";

export function readSuite<T>(file: string): T {
  return JSON.parse(gunzipSync(readVector(`suites/${file}`)).toString()) as T;
}
