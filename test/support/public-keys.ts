/** The QOS keys whose secrets are public, whole: 130 bytes each, in hex. */
import { readVectorJson } from "./vectors.js";

const { keys } = readVectorJson<{ readonly keys: readonly { readonly key: string }[] }>("public-keys.json");

export const PUBLIC_KEYS: readonly string[] = keys.map(({ key }) => key);
