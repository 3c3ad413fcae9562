/** Reader of the policy file, `bootproof/1` (appraise/README.md, "The policy file"). */
import { callable, typedOptions } from "../decode/options.js";
import { toUtf8 } from "../bytes.js";
import { KNOWN_PAYLOAD_TYPES } from "../decode/app-proof-limits.js";
import { decodeCertificate, nameText } from "../decode/certificate.js";
import { jsonInput } from "../decode/input.js";
import { schemaOf } from "../decode/json-schema.js";
import { type JsonObject, isJsonObject } from "../decode/json.js";
import {
  type MembersOf,
  type OptionalShape,
  type Place,
  type Shape,
  flag,
  oneOf,
  optional,
  readShape,
  text,
} from "../decode/shapes.js";
import { MalformedError, attempt, faultText } from "../errors.js";
import {
  AWS_NITRO_ROOT_G1,
  AWS_NITRO_ROOT_G1_NAME,
  type TrustAnchor,
  parseTrustAnchor,
} from "../verify/trust-anchor.js";
import { requireRuntime } from "../verify/runtime.js";
import { appraise, provenanceDemands } from "./appraise.js";
import {
  type AppProofRules,
  type DeploymentPins,
  type ParsedPolicy,
  type Policy,
  type SignedFacts,
  madePolicy,
} from "./parsed-policy.js";
import {
  DEPLOYMENT_KINDS,
  type DeploymentKind,
  PINS,
  PIN_NAMES,
  type PinName,
  type PinTypes,
  type Pins,
  type PinsFile,
  applicationOf,
} from "./pins.js";
import { provenanceShape } from "./provenance.js";
import { QUESTIONS, type Question, openFaults } from "./questions.js";
import { COMMENT, type NamedFile, arrayOf, duration, fileObject, namedFile, namedFilesIn, short } from "./shapes.js";

export type { DeploymentPins, Policy };

/** The policy file as JSON. Any object may have a `comment`, which is ignored. */
export interface PolicyFile {
  readonly $schema?: string;
  readonly policy: "bootproof/1";
  readonly name?: string;
  readonly trustAnchors?: readonly (string | { readonly pem: string } | { readonly file: string })[];
  readonly deployments: readonly DeploymentFile[];
  readonly maxAge?: string;
  readonly appProofs?: {
    readonly types?: readonly string[];
    readonly maxAge?: string;
    readonly untimed?: readonly string[];
    readonly required?: boolean;
    readonly coverage?: boolean;
    readonly decision?: boolean;
  };
  readonly allowDebug?: boolean;
  readonly comment?: string;
}

export interface DeploymentFile extends PinsFile {
  readonly name?: string;
  /** Kind of deployment. Default: `qos`. */
  readonly kind?: DeploymentKind;
  /** The questions that the deployment leaves open on purpose. */
  readonly open?: readonly Question[];
  /** Types of app proof that its enclaves may sign, and whether their signatures over any bytes count. */
  readonly appProofs?: { readonly types?: readonly string[]; readonly bytes?: boolean };
  readonly comment?: string;
}

export interface ParsePolicyOptions {
  /**
   * Reads the text of a trust anchor's or trusted root's `file`, a path relative to the policy file. Without this
   * option a file is a fault.
   */
  readonly readFile?: (path: string) => string;
}

const PARSE_OPTIONS: MembersOf<ParsePolicyOptions> = {
  readFile: optional(callable),
};

export function ownParseOptions(options: ParsePolicyOptions): ParsePolicyOptions {
  return typedOptions("options", options, PARSE_OPTIONS);
}

const MAX_POLICY_BYTES = 1024 * 1024;
const MAX_DEPLOYMENTS = 1000;
const MAX_TRUST_ANCHORS = 100;
const ANCHOR_WORDS = `"${AWS_NITRO_ROOT_G1_NAME}", {"pem": …} or {"file": …}`;

/** An anchor, from which each reader of the policy gets a copy. */
type AnchorSource = Pick<TrustAnchor, "name"> & { readonly der: Uint8Array };

/** AWS's root, copied when this module is loaded, so that later changes by callers have no effect. */
const AWS_ROOT: AnchorSource = { name: AWS_NITRO_ROOT_G1.name, der: AWS_NITRO_ROOT_G1.certificate.der.slice() };

interface PolicyMembers {
  $schema?: string;
  policy: "bootproof/1";
  name?: string;
  trustAnchors?: readonly AnchorSource[];
  deployments: readonly DeploymentPins[];
  maxAge?: number;
  appProofs?: Partial<AppProofRules>;
  allowDebug?: boolean;
}

const VERSION = "bootproof/1";
const typesShape = arrayOf(short(1));

const APP_PROOFS: MembersOf<{ [K in keyof AppProofRules]?: NonNullable<AppProofRules[K]> }> = {
  types: optional(typesShape),
  maxAge: optional(duration),
  untimed: optional(typesShape),
  required: optional(flag),
  coverage: optional(flag),
  decision: optional(flag),
};

interface DeploymentMembers extends Pins {
  name?: string;
  kind?: DeploymentKind;
  open?: readonly Question[];
  appProofs?: OwnAppProofs;
}

type OwnRules = Pick<DeploymentPins, "appProofTypes" | "appProofBytes">;

interface OwnAppProofs {
  types?: readonly string[];
  bytes?: boolean;
}

/** Shape of a deployment's own rules. Without types and bytes they would say nothing. */
const ownAppProofs: Shape<OwnAppProofs> = {
  form: {
    either: [
      fileObject({ types: typesShape, bytes: optional(flag) }),
      fileObject<Required<Pick<OwnAppProofs, "bytes">> & OwnAppProofs>({ types: optional(typesShape), bytes: flag }),
    ],
  },
  read: (value, place) => {
    const own = OWN_APP_PROOFS.read(value, place);
    if (isJsonObject(value) && !Object.hasOwn(value, "types") && !Object.hasOwn(value, "bytes"))
      return place.fault("expected types, bytes or both");
    const { types = [], bytes = false } = own ?? {};
    for (const [index, type] of types.entries())
      if (bytes && KNOWN_PAYLOAD_TYPES.includes(type)) place.at("types").at(index).fault(NOT_WITH_BYTES);
    return own;
  },
};

const OWN_APP_PROOFS = fileObject<OwnAppProofs>({ types: optional(typesShape), bytes: optional(flag) });
const NOT_WITH_BYTES = "not with bytes: an application that signs any bytes can be made to sign this, too";

type PinMembers = { readonly [K in PinName]: OptionalShape<PinTypes[K]["pin"]> };

function deploymentShape(options: ParsePolicyOptions): Shape<DeploymentPins> {
  const pins = Object.fromEntries(PIN_NAMES.map((name) => [name, optional<unknown>(PINS[name].shape)])) as PinMembers;
  const members = fileObject<DeploymentMembers>({
    name: optional(short(0)),
    kind: optional(oneOf(...DEPLOYMENT_KINDS)),
    open: optional(arrayOf(oneOf(...QUESTIONS), { most: QUESTIONS.length })),
    appProofs: optional(ownAppProofs),
    ...pins,
    provenance: optional(provenanceShape(options.readFile)),
  });
  return { ...members, read: (value, place) => readDeployment(members.read(value, place), place) };
}

function policyShape(options: ParsePolicyOptions): Shape<PolicyMembers> {
  const members = fileObject<PolicyMembers>({
    $schema: optional(text),
    policy: oneOf(VERSION),
    name: optional(short(0)),
    trustAnchors: optional(arrayOf(anchorShape(options), { most: MAX_TRUST_ANCHORS })),
    deployments: arrayOf(deploymentShape(options), { most: MAX_DEPLOYMENTS }),
    maxAge: optional(duration),
    appProofs: optional(fileObject<Partial<AppProofRules>>(APP_PROOFS as MembersOf<Partial<AppProofRules>>)),
    allowDebug: optional(flag),
  });
  return {
    ...members,
    read: (value, place) => {
      const found = isJsonObject(value) ? value["policy"] : undefined;
      // Members of another version may have any form, so their faults would say nothing.
      if (typeof found === "string" && found !== VERSION && /^bootproof\/[0-9]{1,4}$/.test(found)) {
        const cause = { code: "version", found, reads: VERSION } as const;
        return place.at("policy").fault(`version ${found}, and only ${VERSION} is read here`, cause);
      }
      const read = members.read(value, place);
      const { deployments, appProofs }: Partial<PolicyMembers> = read ?? {};
      if (deployments) refuseAlike(deployments, appProofs?.types !== undefined, place);
      if (appProofs?.untimed) refuseUntimed(appProofs.untimed, appProofs.types, place.at("appProofs").at("untimed"));
      return read;
    },
  };
}

/**
 * Returns the JSON Schema of the file, made from the shapes that read it. Only `parsePolicy` checks rules across
 * members (an open question, a duplicate name).
 */
export function policySchema(): JsonObject {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "A policy of bootproof (bootproof/1)",
    ...schemaOf(policyShape({})),
  };
}

/**
 * Reads a policy from JSON text, its bytes, or the parsed value. Throws {@link MalformedError} (`json` or `policy`)
 * with the paths of the first 100 faults, and the count of the others.
 * @example
 * ```ts
 * const read = parsePolicy(await readFile("policy.json", "utf8"));
 * ```
 */
export function parsePolicy(input: string | Uint8Array | object, options: ParsePolicyOptions = {}): Policy {
  requireRuntime();
  const own = ownParseOptions(options);
  const bytes = bytesOf(input);
  const value = jsonInput(typeof input === "string" ? input : (bytes ?? input));
  if (bytes === null) refuseSize(JSON.stringify(value ?? null).length);
  const content = bytes ?? toUtf8(JSON.stringify(value));
  return policyOf(readMembers(value, own), { content, isText: bytes !== null }, null);
}

/**
 * Makes the policy of a signed payload, whose signatures and times are `signed`. It may name no files. Throws
 * {@link MalformedError} (`policy`) as {@link parsePolicy} does.
 */
export function parseSigned(payload: Uint8Array, policy: unknown, signed: SignedFacts): ParsedPolicy {
  return policyOf(readMembers(policy, {}), { content: payload.slice(), isText: true }, signed);
}

function readMembers(value: unknown, options: ParsePolicyOptions): PolicyMembers {
  const read = readShape(policyShape(readingOnce(options, value)), value);
  if (read.value === undefined) throw new MalformedError("policy", read.faults);
  return read.value;
}

/** Returns the files that a policy names, even if it has faults. Each has its kind, name, and the name's place. */
export function namedFiles(policy: unknown): readonly NamedFile[] {
  return namedFilesIn(policyShape({}), policy);
}

/** Reads only files that {@link namedFiles} lists, and each only once, so all pins see the same content. */
function readingOnce({ readFile }: ParsePolicyOptions, policy: unknown): ParsePolicyOptions {
  if (readFile === undefined) return {};
  const texts = new Map<string, string | null>(namedFiles(policy).map(({ name }) => [name, null]));
  return {
    readFile: (name) => {
      if (!texts.has(name)) throw new Error("its member is not of the shape namedFile");
      const text = texts.get(name) ?? readFile(name);
      texts.set(name, text);
      return text;
    },
  };
}

function bytesOf(input: unknown): Uint8Array | null {
  if (typeof input !== "string" && !(input instanceof Uint8Array)) return null;
  refuseSize(input.length);
  const bytes = typeof input === "string" ? toUtf8(input) : new Uint8Array(input);
  refuseSize(bytes.length);
  return bytes;
}

function refuseSize(length: number): void {
  if (length > MAX_POLICY_BYTES)
    throw new MalformedError("policy", [{ path: "", message: `larger than ${MAX_POLICY_BYTES} bytes` }]);
}

function policyOf(
  read: PolicyMembers,
  source: { readonly content: Uint8Array; readonly isText: boolean },
  signed: SignedFacts | null,
): ParsedPolicy {
  const anchors = read.trustAnchors ?? [AWS_ROOT];
  const members: Policy = {
    name: read.name ?? null,
    get trustAnchors(): readonly TrustAnchor[] {
      return Object.freeze(anchors.map(anchorCopy));
    },
    deployments: read.deployments,
    maxAge: read.maxAge ?? null,
    appProofs: Object.freeze({
      types: null,
      maxAge: null,
      untimed: NO_TYPES,
      required: false,
      coverage: false,
      decision: false,
      ...read.appProofs,
    }),
    allowDebug: read.allowDebug ?? false,
    signed: signed && Object.freeze({ ...signed, signedBy: Object.freeze([...signed.signedBy]) }),
  };
  return madePolicy(members, { ...source, appraise, demands: provenanceDemands });
}

/**
 * Returns the policy without the rules that proofs of creation, as old as their wallet, cannot meet: `maxAge`,
 * `appProofs.maxAge` and `appProofs.coverage`. It never accepts another enclave or type. One policy always gives the
 * same, so that what was verified under it can be known.
 */
export function policyOfCreation(policy: ParsedPolicy): ParsedPolicy {
  const { name, deployments, allowDebug, signed, appProofs } = policy;
  const known = CREATION.get(policy);
  if (known !== undefined) return known;
  const members: Policy = {
    name,
    get trustAnchors(): readonly TrustAnchor[] {
      return policy.trustAnchors;
    },
    deployments,
    maxAge: null,
    appProofs: Object.freeze({ ...appProofs, maxAge: null, coverage: false }),
    allowDebug,
    signed,
  };
  const source = { content: policy.content(), isText: policy.bytes() !== null };
  const creation = madePolicy(members, { ...source, appraise, demands: provenanceDemands });
  CREATION.set(policy, creation);
  return creation;
}

const CREATION = /* @__PURE__ */ new WeakMap<ParsedPolicy, ParsedPolicy>();

function anchorCopy({ name, der }: AnchorSource): TrustAnchor {
  return Object.freeze({ name, certificate: decodeCertificate(der) });
}

const NO_TYPES: readonly string[] = Object.freeze([]);
const NOTHING_OPEN: readonly Question[] = Object.freeze([]);

function readDeployment(read: DeploymentMembers | undefined, place: Place): DeploymentPins {
  if (read === undefined) return undefined as never;
  const { name = place.path, kind = "qos", open = NOTHING_OPEN, appProofs = {}, ...named } = read;
  const pins: Pins = named;
  const foreign = Object.keys(read).filter((member) => !mayStand(member, kind));
  for (const member of foreign) place.at(member).fault(`not in a deployment of kind ${kind}`);
  refuseTogether(pins, place);
  refuseUnmeetable(pins, place);
  const deployment = Object.freeze({
    name,
    kind,
    open,
    ...ownRules(appProofs),
    ...Object.fromEntries(
      PIN_NAMES.map((pin) => [pin, pins[pin] ?? unnamed(pin, kind)]).filter(([, pin]) => pin !== undefined),
    ),
  });
  if (new Set(open).size < open.length) place.at("open").fault("a question twice");
  // If a pin is unreadable, the open questions are not known.
  const isWhole = foreign.length === 0 && Object.values(read).every((member) => member !== undefined);
  if (isWhole) for (const fault of openFaults(deployment)) place.fault(fault);
  return deployment;
}

function ownRules({ types, bytes }: OwnAppProofs): OwnRules {
  return { appProofTypes: types ?? null, appProofBytes: bytes ?? false };
}

function unnamed(pin: PinName, kind: DeploymentKind): unknown {
  return PINS[pin].kinds.includes(kind) ? PINS[pin].unnamed : undefined;
}

const QOS_MEMBERS: readonly string[] = ["open", "appProofs"] satisfies (keyof DeploymentMembers)[];

function mayStand(member: string, kind: DeploymentKind): boolean {
  if (QOS_MEMBERS.includes(member)) return kind === "qos";
  return !Object.hasOwn(PINS, member) || PINS[member as PinName].kinds.includes(kind);
}

function refuseTogether(pins: Pins, place: Place): void {
  for (const name of PIN_NAMES.filter((pin) => Object.hasOwn(pins, pin))) {
    const { needs, excludes = [] } = PINS[name];
    if (needs !== undefined && !Object.hasOwn(pins, needs))
      place.at(name).fault(`has a meaning only within a ${needs}: pin that, too`);
    const both = excludes.filter((other) => Object.hasOwn(pins, other));
    if (both.length > 0)
      place.at(name).fault(`no evidence meets it together with ${both.join(", ")}: a manifest has only one of them`);
  }
}

/** Refuses demands about a program that no manifest can have together with the other pins. */
function refuseUnmeetable({ provenance = [], workloads, pivotHash, pivotArgs, pivotEnv }: Pins, place: Place): void {
  const hasPivot = [pivotHash, pivotArgs, pivotEnv].some((pin) => pin !== undefined);
  for (const [index, { workload }] of provenance.entries()) {
    const at = place.at("provenance").at(index).at("of");
    if (workload === null && workloads !== undefined)
      at.fault('the deployment has workloads: expected {"workload": …}');
    if (workload === null) continue;
    if (hasPivot) at.fault("the deployment has a pivot and no workloads");
    else if (workloads !== undefined && !Object.hasOwn(workloads, workload))
      at.fault("not a workload of the deployment");
  }
}

/** Refuses equal names. If the policy lists types of app proof, different applications must list their own. */
function refuseAlike(deployments: readonly DeploymentPins[], namesTypes: boolean, place: Place): void {
  const names = new Set<string>();
  deployments.forEach(({ name }, index) => {
    if (names.has(name))
      place
        .at("deployments")
        .at(index)
        .at("name")
        .fault(`${JSON.stringify(name)} is already the name of another deployment`);
    names.add(name);
  });
  const signing = deployments
    .map((deployment, index) => ({ deployment, index }))
    .filter(({ deployment }) => deployment.kind === "qos");
  if (!namesTypes || new Set(signing.map(({ deployment }) => applicationOf(deployment))).size < 2) return;
  for (const { deployment, index } of signing.filter((one) => one.deployment.appProofTypes === null)) {
    const says =
      `${deployment.name} has to name its own types: otherwise its application could sign types that ` +
      "are meant for another application of the policy";
    place.at("deployments").at(index).at("appProofs").at("types").fault(says);
  }
}

/** Refuses types in `untimed` that always have a time because they are known, or that the policy never accepts. */
function refuseUntimed(untimed: readonly string[], types: readonly string[] | null | undefined, place: Place): void {
  for (const [index, type] of untimed.entries()) {
    if (KNOWN_PAYLOAD_TYPES.includes(type)) place.at(index).fault("app proofs of this type always have a time");
    else if (types && !types.includes(type)) place.at(index).fault("not in appProofs.types");
  }
}

function anchorShape(options: ParsePolicyOptions): Shape<AnchorSource> {
  return {
    form: { either: [oneOf(AWS_NITRO_ROOT_G1_NAME), fileObject({ pem: text }), namedFile("trustAnchor", text)] },
    read: (value, place) => {
      const anchor = attempt(() => trustAnchor(value, place, options));
      return anchor.value ?? place.fault<AnchorSource>(faultText(anchor.faults));
    },
  };
}

function trustAnchor(value: unknown, place: Place, options: ParsePolicyOptions): AnchorSource {
  if (value === AWS_NITRO_ROOT_G1_NAME) return AWS_ROOT;
  if (isJsonObject(value)) {
    const { [COMMENT]: comment, ...rest } = value;
    const { pem, file } = rest;
    if (comment !== undefined) text.read(comment, place.at(COMMENT));
    if (Object.keys(rest).length === 1 && typeof pem === "string")
      return namedBySubject(parseTrustAnchor(place.path, pem));
    if (Object.keys(rest).length === 1 && typeof file === "string")
      return sourceOf(parseTrustAnchor(`file ${file}`, anchorFile(file, options)));
  }
  throw anchorFault(`expected ${ANCHOR_WORDS}`);
}

function namedBySubject(anchor: TrustAnchor): AnchorSource {
  return sourceOf({ ...anchor, name: `${nameText(anchor.certificate.subject)} (the policy's PEM)` });
}

function sourceOf({ name, certificate }: TrustAnchor): AnchorSource {
  return { name, der: certificate.der };
}

function anchorFile(path: string, options: ParsePolicyOptions): string {
  if (options.readFile === undefined) throw anchorFault("no files can be read here: give the anchor as PEM");
  try {
    return options.readFile(path);
  } catch (error) {
    throw anchorFault(`${path} could not be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function anchorFault(message: string): MalformedError {
  return new MalformedError("policy", [{ path: "", message }]);
}
