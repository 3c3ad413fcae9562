/** Bundles, reports, releases, requests and API key files. */
import { policyFromRelease } from "../appraise/pin.js";
import { decodeBundle } from "../bundle/file.js";
import { fromBase64, fromUtf8, toHex } from "../bytes.js";
import { decimalMilliseconds } from "../decode/decimal-time.js";
import { type JsonValue, copyJson, isJsonObject, parseJson } from "../decode/json.js";
import { decodePublishedPcrs } from "../decode/published-pcrs.js";
import { P256_COMPRESSED_LENGTH } from "../decode/lengths.js";
import { type Fault, attempt, faultText } from "../errors.js";
import {
  type Described,
  type DescribedObject,
  NOT_BELIEVED,
  type Inspected,
  UNKNOWN,
  UNREADABLE,
  besideOurs,
  fewFaults,
  flaw,
  inspectEach,
  membersOf,
  restOf,
  within,
} from "./described.js";
import { inspectActivity, inspectAppProofs, inspectBootProofs } from "./evidence.js";
import { inspectPolicy } from "./policy.js";

/** Inspectors of a bundle's members. They return undefined for a value of a wrong type. */
const BUNDLE_PARTS: Readonly<
  Record<string, ((value: JsonValue) => Inspected | Promise<Inspected | undefined> | undefined) | null>
> = {
  bundle: null,
  now: null,
  bootProofs: (value) => (Array.isArray(value) ? inspectBootProofs(value) : undefined),
  appProofs: (value) => (Array.isArray(value) ? inspectAppProofs(value) : undefined),
  activity: (value) => inspectActivity(value),
  // Its faults are omitted, because the bundle's faults contain them.
  policy: async (value) => (isJsonObject(value) ? { ...(await inspectPolicy(value)), faults: [] } : undefined),
  report: (value) => (isJsonObject(value) ? inspectReport(value) : undefined),
  options: null,
};

export async function inspectBundle(json: JsonValue): Promise<Inspected> {
  const members = membersOf(json);
  const says: Record<string, Described | undefined> = {};
  const faults = [...attempt(() => decodeBundle(json)).faults];
  for (const [name, inspect] of Object.entries(BUNDLE_PARTS)) {
    const value = members[name];
    const part = value === undefined ? undefined : await inspect?.(value as JsonValue);
    says[name] = part?.says ?? value;
    faults.push(...within(name, part));
  }
  says[UNKNOWN] = restOf(json, BUNDLE_PARTS);
  return { faults: fewFaults(faults), says };
}

/** Shows `ours` before the members of a file. */
function besideMembers(ours: DescribedObject, json: JsonValue, faults: readonly Fault[] = []): Inspected {
  return { faults, says: { ...ours, ...besideOurs(ours, membersOf(json)) } };
}

/** Shows an envelope with the content of its payload. */
export function inspectSigned(json: JsonValue): Inspected {
  const payload = fromBase64(String(membersOf(json)["payload"]));
  const { value, faults } = attempt(() => payload && parseJson(payload));
  return besideMembers({ "(payload)": (value ?? UNREADABLE) as Described }, json, faults);
}

const MAX_VERSIONS = 1000;

export function inspectFeed(bytes: Uint8Array): Promise<Inspected> {
  const lines = (fromUtf8(bytes) ?? "").replace(/\n$/, "").split("\n");
  return inspectEach(lines, MAX_VERSIONS, (line) => {
    const { value, faults } = attempt(() => parseJson(line));
    return value === undefined ? { faults, says: line } : inspectSigned(value);
  });
}

const SOMEBODYS_WORD = "an unverified claim: anybody can write a report that says this; verify its evidence";

export function inspectReport(json: JsonValue): Inspected {
  const isKnown = membersOf(json)["format"] === "bootproof-report/1";
  const faults = isKnown ? [] : [{ path: "format", message: 'expected "bootproof-report/1"' }];
  return besideMembers({ [NOT_BELIEVED]: SOMEBODYS_WORD }, json, faults);
}

export function inspectRequest(json: JsonValue): Inspected {
  const milliseconds = decimalMilliseconds(membersOf(json)["timestampMs"]);
  const time = milliseconds === null ? undefined : new Date(milliseconds).toISOString();
  return besideMembers({ "(time)": time }, json);
}

/** A compressed point in hex. The pattern ensures that no private key is shown as a public key. */
const COMPRESSED_POINT = new RegExp(`^0[23][0-9a-fA-F]{${2 * (P256_COMPRESSED_LENGTH - 1)}}$`);

/** Shows the public key, and only the names of other members, because any of them may be secret. */
export function inspectApiKey(json: JsonValue | undefined): Inspected {
  const { publicKey, ...others } = json === undefined ? { privateKey: null } : membersOf(json);
  const isPublic = typeof publicKey === "string" && COMPRESSED_POINT.test(publicKey);
  const secret = "this file is secret: anyone who reads it can sign requests with the key";
  const says = {
    publicKey: isPublic ? publicKey : "not shown: not a public key",
    "(not shown)": Object.keys(others),
  };
  return { faults: [flaw(secret)], says };
}

/** Inspects the PCRs of an image. A file in another form is shown as lines. */
export function inspectPublishedPcrs(bytes: Uint8Array): Inspected {
  const { value, faults } = attempt(() => decodePublishedPcrs(bytes));
  if (value === undefined) return { faults, says: { [UNREADABLE]: (fromUtf8(bytes) ?? "").split(/\r?\n/) } };
  const pcrs = Object.entries(value).map(([index, pcr]) => [`PCR${index}`, toHex(pcr)]);
  return { faults, says: Object.fromEntries(pcrs) };
}

/** Parses the text of a YAML file, with every scalar as text. */
export type YamlReader = (text: string) => unknown;

const MAX_APPLICATIONS = 1000;
const NO_READER = "without a YAML reader, the lines are shown unchanged";

export async function inspectRelease(
  bytes: Uint8Array,
  json: JsonValue | undefined,
  readYaml: YamlReader | undefined,
): Promise<Inspected> {
  if (json !== undefined) return releaseOf(json);
  const text = fromUtf8(bytes)!;
  if (readYaml === undefined) return { faults: [flaw(NO_READER)], says: { lines: text.split(/\r?\n/) } };
  const read = await readYaml(text);
  const { value, faults } = attempt(() => copyJson(read));
  return value === undefined ? { faults, says: null } : releaseOf(value);
}

/** Inspects a release. Version and applications are shown unchanged, with the faults that prevent pinning. */
function releaseOf(json: JsonValue): Inspected {
  if (!isJsonObject(json)) return { faults: [], says: { [UNREADABLE]: json as Described } };
  const { version, ...applications } = json as DescribedObject;
  const names = Object.keys(applications);
  const faults = names.slice(0, MAX_APPLICATIONS).flatMap((name) => {
    const alone = { ...(version !== undefined && { version }), [name]: applications[name] };
    return attempt(() => policyFromRelease(alone, name)).faults.map(({ path, message }) => {
      const [, own] = /^deployments\[0\]\.(.*)$/s.exec(path) ?? [];
      return { path: own === undefined ? path : `${name}: ${own}`, message };
    });
  });
  const once = new Map(faults.map((fault) => [faultText([fault]), fault]));
  return { faults: fewFaults([...once.values()]), says: { version, ...applications } };
}
