/** Reads what people write that app proofs must say: words such as `TYPE:/pointer=JSON`. */
import { type JsonValue, parseJson } from "../decode/json.js";
import { plainNumbers } from "../decode/json-numbers.js";
import { attempt, cut, faultText } from "../errors.js";
import { type ExpectedPayload, challengeFault, pointerFault } from "./expected-payload.js";

export interface PayloadWord {
  /** The beginning of messages on the word, such as `--payload`. */
  readonly label: string;
  readonly word: string;
  readonly isChallenge: boolean;
}

/** What messages say to people about a word of another form, and about a value that is not JSON. */
interface Advice {
  readonly onForm: string;
  readonly onValue: (word: PayloadWord, place: string) => string;
}

type Value = ExpectedPayload["values"][string];

const MAX_SHOWN = 100;

type Types = Map<string, { readonly values: Map<string, Value>; challenge?: string }>;

/** Returns the expectations. All words of one type make one. */
export function readPayloadWords(
  words: readonly PayloadWord[],
  advice: Advice,
  fault: (message: string) => void,
): readonly ExpectedPayload[] {
  const types: Types = new Map();
  for (const word of words) {
    // The type ends at the first colon, the pointer at the first equals sign.
    const [, type, pointer, json] = /^([^:]+):([^=]*)=([^]*)$/.exec(word.word) ?? [];
    if (type === undefined || pointer === undefined || json === undefined) {
      fault(`${word.label} ${cut(word.word, MAX_SHOWN)}: expected TYPE:/pointer=JSON${advice.onForm}`);
      continue;
    }
    const place = `${type}:${pointer}`;
    const { value, faults } = readValue(json, () => advice.onValue(word, place));
    if (typeof value === "object" && value !== null)
      faults.push(`an object or array: name its members, such as ${place}/0=…`);
    else if (value !== undefined) faults.push(...addValue(types, { type, pointer, value }, word.isChallenge));
    // Messages leave out the value, since it may be secret.
    if (faults.length > 0) fault(`${word.label} ${cut(place, MAX_SHOWN)}: ${faults.join("; ")}`);
  }
  return [...types].map(([type, { values, ...challenge }]) => ({
    type,
    values: Object.fromEntries(values),
    ...challenge,
  }));
}

interface PlacedValue {
  readonly type: string;
  readonly pointer: string;
  readonly value: Value;
}

/** Adds a value to those of its type, and returns what is wrong with it there. */
function addValue(types: Types, { type, pointer, value }: PlacedValue, isChallenge: boolean): string[] {
  const own = types.get(type) ?? { values: new Map<string, Value>() };
  const found = [pointerFault(pointer), isChallenge ? challengeFault(value) : null];
  const faults = found.filter((one) => one !== null);
  if (own.values.has(pointer)) faults.push("repeated: give it once");
  if (isChallenge && own.challenge !== undefined) faults.push("a type has at most one challenge");
  own.values.set(pointer, value);
  if (isChallenge) own.challenge = pointer;
  types.set(type, own);
  return faults;
}

/** Reads a value. A number must be compared exactly as it was written. */
function readValue(json: string, adviceOnValue: () => string): { value?: JsonValue; faults: string[] } {
  const literal = attempt(() => parseJson(json, { numbers: "literal" })).value;
  if (literal === undefined) return { faults: [`the value is not JSON: ${adviceOnValue()}`] };
  const { value, faults } = plainNumbers(literal);
  return { value, faults: faults.length > 0 ? [faultText(faults)] : [] };
}
