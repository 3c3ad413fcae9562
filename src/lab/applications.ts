/** The caller's applications, in enclaves of the service (client/README.md, "Applications of your own"). */
import { randomUUID } from "node:crypto";
import { fromBase64, fromHex, toBase64, toHex, toUtf8 } from "../bytes.js";
import { type Policy, type PolicyFile, parsePolicy } from "../appraise/policy.js";
import { withoutPrototype } from "../decode/input.js";
import type { JsonObject } from "../decode/json.js";
import { SHA256_LENGTH } from "../decode/lengths.js";
import { bareDigest } from "../decode/manifest/image-digest.js";
import { type PivotManifest, decodeManifestEnvelope } from "../decode/manifest/index.js";
import { plain, typedOptions } from "../decode/options.js";
import { type MembersOf, type Shape, list, matching, nullish, optional, text } from "../decode/shapes.js";
import {
  type AppProofForm,
  FORM_SHAPES,
  type ApplicationLie,
  type Signed,
  payloadText,
  proofOf,
  readForm,
  sign,
} from "./application-proofs.js";
import { faultNamed } from "./behaviour.js";
import type { ApplicationFaultName } from "./faults.js";
import { APPLICATION_LIES } from "./lies.js";
import { type Fleet, type ReplicaInfo, newSets } from "./fleet.js";
import type { Misbehaviour } from "./misbehaviour.js";
import { type LabMember, generateQosKeyPair, qosSign, sha256 } from "./qos.js";
import type { SavedApplication, SavedEnclave, SavedRelease } from "./records.js";
import type { State, Transaction } from "./state.js";
import { timestamp } from "./timestamp.js";

/** The application's own code. It gets the signed text and the app proof, and returns the answer of the application. */
type ApplicationAnswer = (payload: string, proof: JsonObject) => JsonObject | Promise<JsonObject>;

/** One of the caller's applications. */
export interface ApplicationOptions {
  /** The name: 1 to 64 letters, digits, `.`, `_` and `-`. A data folder keeps the application under this name. */
  readonly name: string;
  /** The manifest's pivot hash, as 32 bytes or their hex, with or without `sha256:`. */
  readonly binaryDigest: string | Uint8Array;
  /** The pivot's arguments. Default: none. */
  readonly args?: readonly string[];
  /**
   * The form of the app proofs, or a function that makes the answer of the application. Default: the service's own
   * form.
   */
  readonly sign?: AppProofForm | ApplicationAnswer;
}

interface SignOptions extends AppProofForm {
  /** The fault to use for this proof instead of the application's fault; null means no fault. */
  readonly fault?: ApplicationFaultName | null;
  /** The place of the caller's challenge in the payload, as a JSON pointer. Default: `/challenge`. */
  readonly challenge?: string;
}

export interface LabApplication {
  readonly name: string;
  /** The `appName` of `get_latest_boot_proof`, a UUID. */
  readonly appId: string;
  readonly deploymentId: string;
  /** The owner, which is the lab's organization. */
  readonly organizationId: string;
  /** The enclaves. The replica that signs comes first. */
  readonly enclaves: readonly ReplicaInfo[];
  /** The key of the replica that signs: 130 bytes, in hex. */
  readonly ephemeralKey: string;
  /** A policy that pins this deployment with its live keys, for those who call the application. */
  readonly policyFile: PolicyFile;
  readonly policy: Policy;
  /** A policy that pins this deployment with its setup keys, for holders of shares. */
  readonly setupPolicyFile: PolicyFile;
  readonly setupPolicy: Policy;
  readonly fault: ApplicationFaultName | null;
  /** Sets the fault of each proof from now on; null means none. Throws RangeError for an unknown name. */
  setFault(name: ApplicationFaultName | null): void;
  /**
   * Signs a text as it is, or an object as its JSON. Resolves to the app proof, or to what the application's own
   * function returns for it. Rejects with TypeError for an invalid payload or option, and with RangeError for an
   * unknown fault.
   */
  sign(payload: string | JsonObject, options?: SignOptions): Promise<JsonObject>;
  /** Signs bytes that are no app proof, and resolves to what a parser of transactions answers. Texts are in hex. */
  signBytes(bytes: Uint8Array): Promise<SignedBytesAnswer>;
  /** Boots all replicas again, with new keys. Their earlier boot proofs remain available. */
  restart(): Promise<void>;
}

interface SignedBytesAnswer {
  readonly message: string;
  readonly publicKey: string;
  readonly scheme: string;
  readonly signature: string;
}

/** An application whose options were checked. */
interface WantedApplication {
  readonly name: string;
  /** The digest in hex. */
  readonly binaryDigest: string;
  readonly args: readonly string[];
  readonly form: Required<AppProofForm>;
  readonly answer: ApplicationAnswer | null;
}

const applicationName = matching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "1 to 64 letters, digits, ., _ and -");
const OPTION_SHAPES: MembersOf<ApplicationOptions> = {
  name: applicationName,
  binaryDigest: plain,
  args: optional(list(text)),
  sign: optional(plain),
};

const SIGN_SHAPES: MembersOf<SignOptions> = {
  ...FORM_SHAPES,
  fault: nullish(text as Shape<never>),
  challenge: optional(matching(/^(?:\/(?:[^~/]|~[01])*)+$/, "a JSON pointer such as /challenge")),
};

/** Reads the options. Throws TypeError if they are invalid. */
export function readApplications(given: readonly ApplicationOptions[]): WantedApplication[] {
  if (!Array.isArray(given)) throw new TypeError("options.applications: expected a list");
  const wanted = given.map((one: ApplicationOptions, index) => readApplication(`options.applications[${index}]`, one));
  const twice = wanted.findIndex(({ name }, index) => wanted.findIndex((one) => one.name === name) < index);
  if (twice >= 0) throw new TypeError(`options.applications[${twice}].name: another application has it`);
  return wanted;
}

function readApplication(what: string, given: ApplicationOptions): WantedApplication {
  const { name, binaryDigest, args = [], sign: how } = typedOptions(what, given, OPTION_SHAPES);
  const isFunction = typeof how === "function";
  return {
    name,
    binaryDigest: digestOf(`${what}.binaryDigest`, binaryDigest),
    args,
    form: readForm(`${what}.sign`, isFunction ? {} : (how ?? {})),
    answer: isFunction ? how : null,
  };
}

function digestOf(what: string, given: unknown): string {
  const bytes = typeof given === "string" ? fromHex(bareDigest(given)) : given;
  if (bytes instanceof Uint8Array && bytes.length === SHA256_LENGTH) return toHex(bytes);
  throw new TypeError(`${what}: expected ${SHA256_LENGTH} bytes, or their hex`);
}

/** Deploys and boots an application. If its binary and arguments are unchanged, it keeps its deployment. */
export function deploy(
  wanted: WantedApplication,
  { fleet, organizationId, now }: { readonly fleet: Fleet; readonly organizationId: string; readonly now: Date },
  tx: Transaction,
): SavedRelease {
  const application = tx.get("applications", wanted.name) ?? newApplication(wanted.name, organizationId);
  tx.put("applications", wanted.name, application);
  fleet.addApplication(application);
  const { appId } = application;
  const [newest] = tx
    .all("releases")
    .filter(({ app }) => app === appId)
    .sort((one, other) => other.nonce - one.nonce);
  const { binaryDigest, args } = wanted;
  const deployment = { organizationId, binaryDigest, args, createdAt: timestamp(now) };
  const release =
    newest !== undefined && isSame(newest, wanted)
      ? newest
      : fleet.addRelease({ app: appId, name: randomUUID(), deployment }, tx);
  fleet.bootReplicas(release, tx);
  return release;
}

function newApplication(name: string, organizationId: string): SavedApplication {
  return { organizationId, appId: randomUUID(), name, quorumKey: generateQosKeyPair(), ...newSets() };
}

function isSame({ deployment }: SavedRelease, { binaryDigest, args }: WantedApplication): boolean {
  const known = JSON.stringify([deployment!.binaryDigest, deployment!.args]);
  return known === JSON.stringify([binaryDigest, args]);
}

interface Parts {
  readonly state: State;
  readonly fleet: Fleet;
  readonly misbehaviour: Misbehaviour;
}

/** Returns what a lie changes, or nothing for null. Throws RangeError for an unknown name. */
function lieNamed(name: ApplicationFaultName | null): ApplicationLie {
  return name === null ? {} : faultNamed(APPLICATION_LIES, name).application!;
}

type Replica = (index: number) => Promise<SavedEnclave>;
type Prove = (payload: string | JsonObject, options: SignOptions) => Promise<JsonObject>;

function proverOf({ form, answer }: WantedApplication, replica: Replica): Prove {
  /** The last data signed without a fault, which a replay returns again. */
  let last: Signed | null = null;
  return async (payload, options) => {
    const { fault = null, challenge } = options;
    const asText = payloadText(payload);
    const lie = lieNamed(fault);
    const earlier = lie.replays ? last : null;
    const { key } = await replica(lie.replica ?? 0);
    const signed = earlier ?? sign(key, asText, lie, challenge);
    if (fault === null || lie.replays) last = signed;
    const proof = proofOf(signed, form, options, lie);
    return answer === null ? proof : answer(signed.text, proof);
  };
}

export function runApplication(
  wanted: WantedApplication,
  release: SavedRelease,
  { state, fleet, misbehaviour }: Parts,
): LabApplication {
  const [{ name }, { app: appId, name: deploymentId }] = [wanted, release];
  let own: ApplicationFaultName | null = null;
  const faultNow = (): ApplicationFaultName | null => own ?? misbehaviour.ofApplications;
  const replica: Replica = async (index) => {
    const honest = await state.transact((tx) => fleet.replica(appId, index, tx));
    if (honest === undefined) throw new RangeError(`${name} runs in ${index} enclave only: another was stopped`);
    return misbehaviour.running(honest, state);
  };
  const prove = proverOf(wanted, replica);
  const policyFile = (commitment: "live" | "setup"): PolicyFile =>
    fleet.deploymentPolicy(release, commitment) as unknown as PolicyFile;
  return {
    name,
    appId,
    deploymentId,
    organizationId: release.deployment!.organizationId,
    get enclaves() {
      return misbehaviour.enclaves(fleet.replicas(appId), state);
    },
    get ephemeralKey() {
      return misbehaviour.enclaves(fleet.replicas(appId), state)[0]!.ephemeralKey;
    },
    get policyFile() {
      return policyFile("live");
    },
    get policy() {
      return parsePolicy(policyFile("live"));
    },
    get setupPolicyFile() {
      return policyFile("setup");
    },
    get setupPolicy() {
      return parsePolicy(policyFile("setup"));
    },
    get fault() {
      return faultNow();
    },
    setFault: (fault) => {
      lieNamed(fault);
      own = fault;
    },
    sign: async (payload, given = {}) => {
      const options = typedOptions("options", given, SIGN_SHAPES);
      const { fault = faultNow() } = options;
      return prove(payload, withoutPrototype({ ...options, fault }));
    },
    signBytes: async (bytes) => {
      const { key } = await replica(0);
      const [message, publicKey, signature] = [bytes, key.publicKey, qosSign(key, bytes)].map(toHex);
      const scheme = "SIGNATURE_SCHEME_TURNKEY_P256_EPHEMERAL_KEY";
      return { message: message!, publicKey: publicKey!, scheme, signature: signature! };
    },
    restart: () => state.transact((tx) => fleet.bootReplicas(release, tx)),
  };
}

/** Returns the JSON of a deployment (client/README.md, "Applications of your own"). */
export function deploymentJson(
  application: SavedApplication,
  release: SavedRelease,
  { qosManifestB64: manifest, qosManifestEnvelopeB64: envelope }: JsonObject,
): JsonObject {
  const { organizationId, createdAt } = release.deployment!;
  const times = { createdAt, updatedAt: createdAt };
  const manifestId = idOf(`manifest ${release.name}`);
  const { manifest: booted, manifestSetApprovals } = decodeManifestEnvelope(fromBase64(String(envelope))!);
  const { args } = (booted as PivotManifest).pivot;
  const operatorOf = (name: string, key: Uint8Array): JsonObject => {
    const publicKey = toHex(key);
    return { id: idOf(publicKey), name, publicKey, ...times };
  };
  const set = (name: string, members: readonly LabMember[]): JsonObject => ({
    id: idOf(`${application.appId} ${name}`),
    name: `${application.name} ${name}`,
    organizationId,
    operators: members.map(({ alias, key }) => operatorOf(alias, key.publicKey)),
    threshold: 2,
    ...times,
  });
  return {
    id: release.name,
    organizationId,
    appId: release.app,
    manifestSet: set("manifest set", application.operators),
    shareSet: set("share set", application.shareholders),
    manifest: { id: manifestId, manifest: manifest!, ...times },
    manifestApprovals: manifestSetApprovals.map(({ signature, member: { alias, pubKey } }) => ({
      ...{ id: idOf(toHex(signature)), manifestId, approval: toBase64(signature), ...times },
      operator: operatorOf(alias, pubKey),
    })),
    qosVersion: "lab",
    pivotContainer: {
      ...{ containerUrl: `lab.invalid/${application.name}`, path: `/${application.name}`, args: [...args] },
      ...{ hasPullSecret: false, healthCheckType: "TVC_HEALTH_CHECK_TYPE_HTTP" },
      ...{ healthCheckPort: 8080, publicIngressPort: 8080 },
    },
    ...times,
    delete: false,
    debugMode: false,
    provisioningState: "PROVISIONING_STATE_PROVISIONED",
  };
}

/** Returns a UUID of version 8 (RFC 9562), always the same for the same text. */
function idOf(text: string): string {
  const hex = toHex(sha256(toUtf8(text)));
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-",
  );
}
