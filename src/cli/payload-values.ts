/** Reads `--payload` and `--challenge`: what app proofs must say. */
import type { ExpectedPayload } from "../verify/expected-payload.js";
import { readPayloadWords } from "../verify/payload-words.js";
import type { Flags } from "./option-table.js";
import type { ArgumentReader } from "./options.js";

type PayloadFlags = Pick<Flags<"verify">, "payload" | "challenge">;

/** Reads the expected payloads. All words of one type make one expectation. Undefined if there are none. */
export function payloadsOf(args: ArgumentReader, flags: PayloadFlags): readonly ExpectedPayload[] | undefined {
  if (!args.has("payload") && !args.has("challenge")) return undefined;
  const words = (["payload", "challenge"] as const).flatMap((option) =>
    flags[option].map((word) => ({ label: `--${option}`, word, isChallenge: option === "challenge" })),
  );
  const onValue: Parameters<typeof readPayloadWords>[1]["onValue"] = ({ label }, place) =>
    `a string is written in two kinds of quotes, since the shell removes one: ${label} '${place}="42"'`;
  return readPayloadWords(words, { onForm: PERHAPS_A_FILE, onValue }, (message) => args.fault(message));
}

const PERHAPS_A_FILE = ". It takes every word up to the next option: give files before it, or after --";
