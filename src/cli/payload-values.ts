/** Reads `--payload` and `--challenge`: what app proofs must say. */
import { parseJson } from "../decode/json.js";
import { plainNumbers } from "../decode/json-numbers.js";
import { attempt, faultText } from "../errors.js";
import { type ExpectedPayload, challengeFault, pointerFault } from "../verify/expected-payload.js";
import type { Flags } from "./option-table.js";
import type { ArgumentReader } from "./options.js";

type PayloadFlags = Pick<Flags<"verify">, "payload" | "challenge">;

type PayloadValue = ExpectedPayload["values"][string];

interface PayloadWord {
  readonly option: keyof PayloadFlags;
  readonly type: string;
  readonly pointer: string;
  readonly value: PayloadValue;
}

/** Reads the expected payloads. All words of one type make one expectation. Undefined if there are none. */
export function payloadsOf(args: ArgumentReader, flags: PayloadFlags): readonly ExpectedPayload[] | undefined {
  const words = (["payload", "challenge"] as const).flatMap((option) =>
    flags[option].flatMap((word) => payloadWord(args, option, word) ?? []),
  );
  if (args.has("payload") || args.has("challenge")) return expectationsOf(args, words);
  return undefined;
}

function expectationsOf(args: ArgumentReader, words: readonly PayloadWord[]): readonly ExpectedPayload[] {
  const types = [...new Set(words.map(({ type }) => type))];
  return types.map((type) => {
    const own = words.filter((word) => word.type === type);
    const challenges = own.filter(({ option }) => option === "challenge").map(({ pointer }) => pointer);
    args.refuseTwice(
      "--payload",
      own.map(({ pointer }) => `${type}:${pointer}`),
    );
    if (challenges.length > 1) args.fault(`--challenge: ${challenges.length} of type ${type}: give one for each type`);
    const [challenge] = challenges;
    const values = Object.fromEntries(own.map(({ pointer, value }) => [pointer, value]));
    return { type, values, ...(challenge !== undefined && { challenge }) };
  });
}

/**
 * Reads a word such as `TYPE:/pointer=JSON`. The type ends at the first colon, the pointer at the first equals sign.
 */
function payloadWord(args: ArgumentReader, option: keyof PayloadFlags, word: string): PayloadWord | undefined {
  const parts = /^([^:]+):([^=]*)=([^]*)$/.exec(word);
  if (parts === null) return args.fault(`--${option} ${word}: expected TYPE:/pointer=JSON${PERHAPS_A_FILE}`);
  const [, type, pointer, text] = parts as unknown as readonly [string, string, string, string];
  // Messages leave out the value, since it may be secret.
  const place = `--${option} ${type}:${pointer}`;
  const json = attempt(() => parseJson(text, { numbers: "literal" }));
  if (json.value === undefined) return args.fault(`${place}: the value is not JSON: ${quoteIt(option, type, pointer)}`);
  const { value, faults } = plainNumbers(json.value);
  if (typeof value === "object" && value !== null)
    return args.fault(`${place}: an object or array: name its members, such as ${type}:${pointer}/0=…`);
  const found = [
    ...(faults.length > 0 ? [faultText(faults)] : []),
    ...[pointerFault(pointer), option === "challenge" ? challengeFault(value) : null].filter((each) => each !== null),
  ];
  if (found.length > 0) return args.fault(found.map((fault) => `${place}: ${fault}`).join("; "));
  return { option, type, pointer, value };
}

const PERHAPS_A_FILE = ". It takes every word up to the next option: give files before it, or after --";

function quoteIt(option: string, type: string, pointer: string): string {
  const quoted = `--${option} '${type}:${pointer}="42"'`;
  return `a string is written in two kinds of quotes, since the shell removes one: ${quoted}`;
}
