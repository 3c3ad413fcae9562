/** The evidence of a fact: an honest enclave and its answer, or the same but for it. Made once for all doors. */
import { randomUUID } from "node:crypto";
import { fromBase64, toUtf8 } from "../../src/bytes.js";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import {
  type Generation,
  SoftwareEnclave,
  addressDerivationPayload,
  policyOutcomePayload,
} from "../../src/lab/enclave.js";
import { fingerprintOf } from "../../src/lab/fingerprint.js";
import { Forge, type ForgedEvidence, LAB_ADDRESS, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { extendedPcr, sha256 } from "../../src/lab/qos.js";
import {
  type LabRelease,
  type ProvenanceOptions,
  LabSigstore,
  labProvenancePin,
  labReleasePin,
} from "../../src/lab/sigstore.js";
import { type Alterations, AT, forge } from "../attacks/support.js";
import { certificatePem } from "../../src/verify/trust-anchor.js";
import { fileOf } from "../cli/support.js";
import { CMDLINE, KERNEL, METADATA, RAMDISK, TYPE, imageOf, pcrsOf, utf8 } from "../support/images.js";

export { AT };
/** Of every verification. Requests are submitted then, and answered at once. */
export const NOW = new Date(AT.getTime() + 300_000);

/** What was built, and where it runs: the enclave attests it, and `measure` measures it. */
export interface Built {
  readonly application: string;
  readonly binary: string;
  readonly role: string;
  readonly instance: string;
}

const BUILT: Built = {
  application: "application ".repeat(50),
  binary: "lab application",
  role: "arn:aws:iam::123456789012:role/Webserver",
  instance: "i-0123456789abcdef0",
};

const sectionsOf = ({ application }: Built): (typeof KERNEL)[] => [
  KERNEL,
  CMDLINE,
  METADATA,
  RAMDISK,
  { type: TYPE.ramdisk, data: utf8(application) },
];

/** Releases have the nonce of their version: 2026.1.2. */
const base = new Forge({ namespace: { name: "lab/signer", nonce: 20260102 } });

function labOf(built: Built): Forge {
  const [pcr0, pcr1, pcr2] = [0, 1, 2].map((index) => Buffer.from(pcrsOf(sectionsOf(built))[index]!, "hex"));
  const [pcr3, pcr4] = [built.role, built.instance].map((name) => extendedPcr(toUtf8(name)));
  const measurements = { pcr0: pcr0!, pcr1: pcr1!, pcr2: pcr2!, pcr3: pcr3!, pcr4: pcr4! };
  return new Forge({ ...base, measurements, pivotHash: sha256(toUtf8(built.binary)) });
}

/** The lab of every honest enclave. */
export const lab = labOf(BUILT);
export const sigstore = new LabSigstore();
export const otherSigstore = new LabSigstore();
/** Without logs, as releases of GitHub need. */
export const privateSigstore = new LabSigstore({ kind: "private" });

/** As an application submits it. */
export interface Request {
  readonly type: string;
  readonly timestampMs: string;
  readonly organizationId: string;
  readonly parameters: JsonObject;
}

const ACCOUNT = {
  curve: "CURVE_SECP256K1",
  pathFormat: "PATH_FORMAT_BIP32",
  path: LAB_ADDRESS.derivationPath,
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
};
export const REQUEST: Request = {
  type: "ACTIVITY_TYPE_CREATE_WALLET",
  timestampMs: String(NOW.getTime()),
  organizationId: LAB_ADDRESS.organizationId,
  parameters: { walletName: "lab", accounts: [ACCOUNT] },
};
export const ACTIVITY_ID = "0192f3c1-7b1e-7c55-8f4e-2f1d5c9a6b10";

/** How one enclave and its answers differ from the lab's. */
export interface Change {
  /** What is answered, in place of what was asked. */
  readonly request?: (request: Request) => Request;
  readonly built?: Partial<Built>;
  readonly forge?: Alterations;
  /** What the enclave signs for an answer. */
  readonly payloads?: (payloads: readonly JsonObject[]) => readonly JsonObject[];
  readonly activity?: (activity: JsonObject) => JsonObject;
  /** Activities that the service lists beside the one that makes the address. */
  readonly listed?: readonly JsonObject[];
  /** The bundle of its build. Default where the deployment demands one: the honest build. */
  readonly build?: Partial<ProvenanceOptions>;
  /** Who attested the build. */
  readonly builder?: LabSigstore;
  /** Only boot proofs come, where evidence is not fetched. */
  readonly hasNoAnswer?: true;
}

export class Evidence {
  readonly #change: Change;
  readonly #built: Built;
  readonly #enclave: SoftwareEnclave;
  readonly forged: ForgedEvidence;
  readonly #files = new Map<string, string>();

  constructor(change: Change, demandsBuild: boolean, submitted = REQUEST) {
    this.#change = change;
    this.#built = { ...BUILT, ...change.built };
    const lab = change.forge?.lab ?? (change.built === undefined ? honestLab() : labOf(this.#built));
    this.forged = forge({ ...change.forge, lab, payloads: [] });
    this.#enclave = new SoftwareEnclave({
      pki: lab.pki,
      measurements: lab.measurements,
      manifestHash: this.forged.manifestHash,
      generation: (change.forge?.generation ?? "live") satisfies Generation,
      ephemeralKey: change.forge?.ephemeralKey ?? lab.ephemeralKey,
    });
    const { build, builder = sigstore } = change;
    this.builds = demandsBuild ? [builder.attest({ at: AT, digest: lab.pivotHash, ...build })] : [];
    this.activity = this.answer(submitted, ACTIVITY_ID);
  }

  readonly builds: readonly string[];
  /** The answer to what was submitted. */
  readonly activity: JsonObject;

  get bootProof(): JsonObject {
    return this.forged.bootProof;
  }

  get appProofs(): readonly JsonObject[] {
    return (this.activity["appProofs"] ?? []) as JsonObject[];
  }

  get hasAnswer(): boolean {
    return this.#change.hasNoAnswer !== true;
  }

  /** The activities that the service lists. */
  get activities(): readonly JsonObject[] {
    return [this.activity, ...(this.#change.listed ?? [])];
  }

  get built(): Built {
    return this.#built;
  }

  answer(request: Request, id: string = randomUUID()): JsonObject {
    const { type, organizationId, parameters } = this.#change.request?.(request) ?? request;
    const { walletId, address } = LAB_ADDRESS;
    const payloads = [
      addressDerivationPayload(NOW, { ...LAB_ADDRESS, organizationId }),
      { ...policyOutcomePayload(NOW, organizationId), requestId: id },
    ];
    const signed = this.#change.payloads?.(payloads) ?? payloads;
    const activity: JsonObject = {
      id,
      organizationId,
      status: "ACTIVITY_STATUS_COMPLETED",
      type,
      intent: { createWalletIntent: parameters },
      result: { createWalletResult: { walletId, addresses: [address] } },
      votes: [],
      fingerprint: fingerprintOf(toUtf8(id)),
      canApprove: false,
      canReject: false,
      createdAt: String(NOW.getTime()),
      updatedAt: String(NOW.getTime()),
      appProofs: signed.map((payload) => this.#enclave.appProof(payload)),
    };
    return this.#change.activity?.(activity) ?? activity;
  }

  /** Of one part of it, each written once. */
  file(part: "boot" | "activity" | "document" | "manifest" | "image" | "binary" | "builds"): string {
    const known = this.#files.get(part);
    const path = known ?? fileOf(this.#content(part));
    this.#files.set(part, path);
    return path;
  }

  #content(part: Parameters<Evidence["file"]>[0]): unknown {
    if (part === "boot") return this.bootProof;
    if (part === "activity") return this.activity;
    if (part === "document") return this.forged.document;
    if (part === "manifest") return fromBase64(this.bootProof["qosManifestB64"] as string)!;
    if (part === "image") return imageOf({ sections: sectionsOf(this.#built) });
    return part === "binary" ? this.#built.binary : this.builds.join("\n");
  }
}

/** A function, since the class is above the constant. */
function honestLab(): Forge {
  return lab;
}

/** The deployment that pins all of an enclave of the lab. */
export function deployed(): JsonObject {
  const pinned = labDeployment(lab);
  return { ...pinned, pivotArgs: [...lab.args], pivotEnv: { LOG_LEVEL: "info" } };
}

export function policyFile(deployments: JsonObject[], rest: JsonObject = {}): JsonObject {
  return labPolicy(certificatePem(lab.pki.rootCertificate), deployments, rest);
}

export function demandOfBuild(rest: JsonObject = {}, builder = sigstore): JsonValue {
  return { ...labProvenancePin({ json: JSON.stringify(builder.trustedRoot) }), ...rest };
}

export function demandOfRelease(release: Partial<LabRelease>): JsonValue {
  return labReleasePin({ json: JSON.stringify(privateSigstore.trustedRoot) }, release);
}
