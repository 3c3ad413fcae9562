/** Command lines of `verify`, one for each thing that a page can be of: what is judged, how, and what comes of it. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { MANY_AT, type Fleet, fleetOf, policyFor } from "../cli/many.js";
import { APP_1, APP_2, BOOT_1, NOW, fileOf, vector } from "../cli/support.js";
import { bundleIn, withBundle } from "./data-of.js";

const COMMAND = fileURLToPath(new URL("../../dist/bin/bootproof.cjs", import.meta.url));

export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The built command, in a process of its own. */
export function built(...args: readonly string[]): Ran {
  return spawnSync(process.execPath, [COMMAND, ...args], { encoding: "utf8", input: "", maxBuffer: 64 * 1024 * 1024 });
}

const lab = new Forge();
const forged = forgeEvidence({ lab, at: MANY_AT });
const at = "2026-03-04T05:16:07.000Z";
const anchorFile = fileOf(forged.anchorPem, "trust-anchor.pem");
const policyFile = {
  ...labPolicy(forged.anchorPem, [labDeployment(lab)]),
  trustAnchors: [{ file: "trust-anchor.pem" }],
};

export const CHALLENGE = "q7Yt3mVnB2xKc9PzLwRs4A";
const quote = { type: "QUOTE", timestampMs: String(MANY_AT.getTime() + 60_000), price: 1.5, challenge: CHALLENGE };

/** Files of one made enclave, for who gives them to a page by hand. */
export const MADE = {
  at,
  boot: fileOf(forged.bootProof, "boot.json"),
  app: fileOf(forged.appProofs[0], "app.json"),
  /** Of a type of its application's own. */
  quote: fileOf(forgeEvidence({ lab, at: MANY_AT, payloads: [quote] }).appProofs[0], "quote.json"),
  activity: fileOf({ activity: forged.activity }, "activity.json"),
  anchor: anchorFile,
  /** Names the anchor's file. */
  policy: fileOf(policyFile, "policy.json"),
  organizationId: forged.activity["organizationId"] as string,
  document: vector("nitro/brave-keysync-responder-test-go-20220804.cbor"),
};

/** The same enclave in debug mode, which `MADE.policy` does not allow. */
export const DEBUG = fileOf(
  forgeEvidence({
    lab,
    at: MANY_AT,
    alterManifest: { manifest: (manifest) => ({ ...manifest, pivot: { ...manifest.pivot, debugMode: true } }) },
  }).bootProof,
  "debug.json",
);

/** The same enclave, in answer to a nonce. */
export const NONCE = "0102030405060708";
export const NONCED = fileOf(
  forgeEvidence({ lab, at: MANY_AT, nonce: Buffer.from(NONCE, "hex") }).bootProof,
  "nonced.json",
);

function bundleFile(): string {
  const ran = built("bundle", "--boot-proof", MADE.boot, "--app-proof", MADE.app, "--policy", MADE.policy, "--now", at);
  if (ran.status !== 0) throw new Error(ran.stderr);
  return fileOf(ran.stdout, "bundle.json");
}
export const BUNDLE = bundleFile();

/** Six say what sixty would. */
export const FLEET: Fleet = fleetOf(6, (index) => `page-${index}.json`);

type Options = Readonly<Record<string, string | readonly string[] | true>>;

function optionsOf(options: Options): string[] {
  return Object.entries(options).flatMap(([name, value]) => [`--${name}`, ...(value === true ? [] : [value].flat())]);
}

const { deployments } = policyFile as unknown as { readonly deployments: readonly object[] };
const OTHER_POLICY = fileOf(
  { ...policyFile, deployments: deployments.map((one) => ({ ...one, pivotHash: "ab".repeat(32) })) },
  "other-policy.json",
);

const ours = { "boot-proof": MADE.boot, policy: MADE.policy, now: at };
const theirs = { "boot-proof": BOOT_1, "no-policy": true, now: NOW } as const;
const bare = { attestation: MADE.document, "no-policy": true } as const;
const strict = policyFor(FLEET, {}, { maxAge: "30m" });
const fleet = { "boot-proof": FLEET.boots, "app-proof": FLEET.apps, policy: policyFor(FLEET) };

/** By what it is about: the arguments of `verify`, and the verdict. */
export const CASES: Readonly<Record<string, readonly [verdict: string, stale: boolean, ...args: string[]]>> = {
  verified: ["verified", false, ...optionsOf({ ...ours, "app-proof": MADE.app })],
  authentic: ["authentic", false, ...optionsOf({ ...theirs, "app-proof": APP_1 })],
  rejected: ["rejected", false, ...optionsOf({ ...theirs, "app-proof": APP_2 })],
  "another release": ["rejected", false, ...optionsOf({ ...ours, policy: OTHER_POLICY, "app-proof": MADE.app })],
  stale: [
    "rejected",
    true,
    ...optionsOf({ "boot-proof": FLEET.boots[0]!, policy: strict, now: "2026-03-05T05:06:07Z" }),
  ],
  "a bundle by its own policy": [
    "authentic",
    false,
    BUNDLE,
    ...optionsOf({ "bundle-policy": true, "trust-anchor": MADE.anchor, now: at }),
  ],
  "a bundle by a policy of one’s own": ["verified", false, BUNDLE, ...optionsOf({ policy: MADE.policy, now: at })],
  "a bare document": ["authentic", false, ...optionsOf({ ...bare, now: "2022-08-04T20:00:00Z" })],
  "a bare document under its own root": [
    "rejected",
    false,
    ...optionsOf({ ...bare, "trust-anchor": MADE.anchor, at: "now", now: at }),
  ],
  "an activity": [
    "verified",
    false,
    ...optionsOf({ ...ours, activity: MADE.activity, "organization-id": MADE.organizationId }),
  ],
  "6 boot proofs": ["verified", false, ...optionsOf({ ...fleet, now: "2026-03-04T06:10:00Z" })],
};

const pages = new Map<string, string>();

/** The page of a case, by the built command, which ran once for each. */
export function pageOf(name: string): string {
  const known = pages.get(name) ?? madePage(name);
  pages.set(name, known);
  return known;
}

function madePage(name: string): string {
  const [verdict, , ...args] = CASES[name]!;
  const ran = built("verify", ...args, "--format", "html");
  if (ran.status !== (verdict === "rejected" ? 1 : 0)) throw new Error(`${name}: ${ran.status} ${ran.stderr}`);
  return ran.stdout;
}

/** In the folder of the other files. */
export function pageFile(html: string | Uint8Array, name: string): string {
  const path = join(dirname(MADE.boot), name);
  writeFileSync(path, html);
  return path;
}

/** The page of `authentic` with a bit of its manifest flipped: its report stays what it was. */
export function withOtherEvidence(html: string): string {
  const bundle = bundleIn(html);
  const [boot] = bundle["bootProofs"] as { qosManifestB64: string }[];
  const manifest = Buffer.from(boot!.qosManifestB64, "base64").toString("latin1").replace("preprod", "preprof");
  const other = { ...boot, qosManifestB64: Buffer.from(manifest, "latin1").toString("base64") };
  return withBundle(html, { ...bundle, bootProofs: [other] });
}
