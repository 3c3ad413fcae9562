/** Reads the command line of `bootproof verify`, and reports what is wrong with it. */
import { resolve } from "node:path";
import type { VerifyOptions } from "../bootproof.js";
import { fromHex } from "../bytes.js";
import type { Detail } from "../show/checks.js";
import type { ExpectedPayload } from "../verify/expected-payload.js";
import {
  type Connection,
  NO_ORGANIZATION,
  ORGANIZATION_OF_THE_ACTIVITY,
  connectionOf,
  isConfigured,
  organizationOf,
  refuseEmptyOrganization,
  refuseIdleConnection,
} from "./connection.js";
import { STDIN } from "./files.js";
import type { Io } from "./io.js";
import { EVIDENCE, OF_REQUEST } from "./option-rules.js";
import type { Flags } from "./option-table.js";
import { type ArgumentReader, choosesPolicy, judgingOf } from "./options.js";
import { payloadsOf } from "./payload-values.js";

/** Where the evidence comes from: files that options name, a bundle or a page, or the service. */
export type Source =
  | { readonly kind: "files" | "attestation" }
  | { readonly kind: "bundle"; readonly file: string }
  | { readonly kind: "key" | "apps" | "activity"; readonly connection: Connection };

export interface VerifyRequest {
  readonly flags: Flags<"verify">;
  readonly source: Source;
  readonly options: Omit<VerifyOptions, "policy" | "trustAnchors" | "expected" | "measurements">;
  /** The expected organization, from an option or the environment. */
  readonly organizationId: string | undefined;
  readonly payload: readonly ExpectedPayload[] | undefined;
  readonly level: Level;
}

type Level = Detail | "quiet";

export const WHY_A_POLICY =
  "--policy FILE or --no-policy is required: without a policy any enclave of any owner is accepted, with any code";
/** Of a file without an option, which may be a bundle or a single piece of evidence. */
const WHY_A_POLICY_OF_A_FILE =
  "--policy FILE, --no-policy or, for a bundle, --bundle-policy is required: without a policy any enclave of any " +
  "owner is accepted, and the policy in a bundle is its maker's";
export const PIN_FIRST = `Pin the deployment that you expect, read what was pinned, and verify against it:
    $ bootproof pin --boot-proof boot.json --out policy.json
With --no-policy the verdict is at best "authentic": a genuine enclave, no matter whose.`;

const WHAT_IS_THERE =
  "--boot-proof FILE (or --attestation FILE) is required: the evidence to verify. A bundle or a page is given " +
  "alone; with a connection (--base-url and more), --app, --ephemeral-key or --activity-id is enough.";

/** Throws {@link UsageError} with every fault. `stray` has the words without an option. */
export function requestOf(
  args: ArgumentReader,
  stray: readonly string[],
  flags: Flags<"verify">,
  io: Io,
): VerifyRequest {
  const bundle = bundleOf(args, stray) ?? refuseFileAmongAddresses(args, flags.address) ?? fileAmongPayloads(flags);
  refuseUnsaidPolicy(args, bundle !== undefined);
  refuseApps(args, flags.app);
  refuseWithoutActivity(args, flags, bundle !== undefined);
  refuseAroundMessage(args, flags);
  const level = levelOf(args, io);
  const bootProofsOnly = bundle === undefined && asksForBootProofsOnly(args);
  const options = { ...verifyOptions(args, flags, io), ...(bootProofsOnly && { bootProofsOnly }) };
  const source = sourceOf(args, flags, bundle, io);
  const expected = expectedOf(args, flags, io);
  args.throwFaults();
  return { flags, source: source!, options, ...expected, level };
}

/** Reports what cannot be checked with signed bytes. */
function refuseAroundMessage(args: ArgumentReader, flags: Flags<"verify">): void {
  const { signedMessage, expect, bootProof } = flags;
  if (signedMessage === undefined) return;
  if (args.has("boot-proof") && args.has("organization-id"))
    args.fault("--organization-id: signed bytes name no organization: leave it out");
  if (bootProof.length > 1) args.fault("--signed-message: give one --boot-proof, that of the application that signed");
  if (expect !== undefined && resolve(expect) === resolve(signedMessage))
    args.fault("--expect: the file of --signed-message itself: give your own bytes, computed from what you sent");
}

/** Returns how much text is written. At a terminal it is the summary, unless an option chooses another form. */
function levelOf(args: ArgumentReader, { stdout }: Io): Level {
  const isShort = stdout.isTTY === true && !args.has("format") && !args.has("out");
  return (["summary", "quiet", "verbose"] as const).find((name) => args.has(name)) ?? (isShort ? "summary" : "normal");
}

/**
 * Returns whether the command line asks for boot proofs only. The evidence does not decide this: the maker of a bundle
 * chooses its contents, and a service may omit some.
 */
function asksForBootProofsOnly(args: ArgumentReader): boolean {
  const others = ["app-proof", "activity", "activity-id", "signed-message", ...OF_REQUEST] as const;
  const own = ["boot-proof", "ephemeral-key", "app"] as const;
  return own.some((name) => args.has(name)) && !others.some((name) => args.has(name));
}

/**
 * Returns the bundle or page: the only file without an option, if no option names other evidence. Provenance may be
 * given with it.
 */
function bundleOf(args: ArgumentReader, stray: readonly string[]): string | undefined {
  const others = [...EVIDENCE, "app", "attestation", "signed-message"] as const;
  if (stray.length === 1 && !others.some((name) => args.has(name))) return stray[0];
  for (const file of stray)
    args.fault(
      `${file}: a file without an option: give it after --boot-proof, --app-proof, --activity or --policy; or alone, ` +
        `if it is a bundle or a page`,
    );
  return undefined;
}

/** Returns a file among the payloads, if there is one. {@link payloadsOf} reports it. */
function fileAmongPayloads({ payload, challenge }: Flags<"verify">): string | undefined {
  return [...payload, ...challenge].find((word) => isFileName(word) && !word.includes(":"));
}

const takesEveryWord = (option: string): string => `${option} takes every word up to the next option`;

/**
 * Reports a file among the addresses, since --address takes every word after it. Returns the file, so that it is not
 * reported twice.
 */
function refuseFileAmongAddresses(args: ArgumentReader, addresses: readonly string[]): string | undefined {
  const file = addresses.find(isFileName);
  if (file !== undefined)
    args.fault(
      `${takesEveryWord("--address")}, and took ${file}, a file: give it before --address, or after -- (-- ${file})`,
    );
  return file;
}

function isFileName(word: string): boolean {
  return word === STDIN || /\.(?:json|html)$/i.test(word);
}

function refuseApps(args: ArgumentReader, apps: readonly string[]): void {
  for (const app of apps.filter(isFileName)) args.fault(`--app ${app}: a file: expected the name of an application`);
  args.refuseTwice("--app", apps);
}

function refuseUnsaidPolicy(args: ArgumentReader, isBundle: boolean): void {
  if (args.has("bundle-policy") && !isBundle)
    args.fault("--bundle-policy requires a bundle or a page that contains the policy");
  if (choosesPolicy(args)) return;
  args.fault(isBundle ? WHY_A_POLICY_OF_A_FILE : WHY_A_POLICY, PIN_FIRST);
}

/**
 * Refuses expectations with which no evidence can be compared. `--activity-id` and `--request` need an activity, and an
 * organization needs more than boot proofs.
 */
function refuseWithoutActivity(args: ArgumentReader, flags: Flags<"verify">, isBundle: boolean): void {
  if (args.has("boot-proof") && args.has("organization-id") && asksForBootProofsOnly(args)) args.fault(NO_ORGANIZATION);
  if (isBundle || flags.activity !== undefined) return;
  const isFetched = flags.activityId !== undefined && !args.has("boot-proof") && !args.has("app-proof");
  for (const name of ["activity-id", "request"] as const) {
    if (args.has(name) && !isFetched) args.fault(`--${name}: requires an activity: give --activity FILE`);
  }
}

function sourceOf(
  args: ArgumentReader,
  flags: Flags<"verify">,
  bundle: string | undefined,
  io: Io,
): Source | undefined {
  const { attestation, bootProof } = flags;
  const isGiven = bundle !== undefined || attestation !== undefined || bootProof.length > 0;
  const kind = isGiven ? undefined : fetchedKind(flags);
  if (kind === undefined) refuseIdleConnection(args, NOTHING_FETCHED);
  if (bundle !== undefined) return { kind: "bundle", file: bundle };
  if (isGiven) return { kind: attestation === undefined ? "files" : "attestation" };
  if (kind === undefined || mayLackBootProof(args, flags, io)) args.fault(WHAT_IS_THERE + perhapsTaken(flags));
  const connection = kind && connectionOf(args, flags, io);
  return connection && { kind: kind!, connection };
}

/** Returns whether --activity or --ephemeral-key, without a connection, may be for a boot proof that is missing. */
function mayLackBootProof(args: ArgumentReader, { app, activityId }: Flags<"verify">, io: Io): boolean {
  return app.length === 0 && activityId === undefined && !isConfigured(args, io);
}

/** Returns evidence to fetch. Undefined if no option names any. */
function fetchedKind({ activity, activityId, app, ephemeralKey, appProof }: Flags<"verify">): Fetched | undefined {
  if (app.length > 0) return "apps";
  if (ephemeralKey !== undefined) return "key";
  const isOfActivity = (activityId !== undefined || activity !== undefined) && appProof.length === 0;
  return isOfActivity ? "activity" : undefined;
}

type Fetched = Extract<Source, { readonly connection: unknown }>["kind"];

const NOTHING_FETCHED =
  "nothing is fetched: only --app, --activity-id, or --ephemeral-key without a boot proof, fetches evidence";

/**
 * Returns a hint that an option with several words may have taken the bundle as its last word. Empty if no option has
 * several.
 */
function perhapsTaken({ address, provenance }: Flags<"verify">): string {
  const [option, words] = address.length > 1 ? ["--address", address] : ["--provenance", provenance];
  if (words.length < 2) return "";
  return ` ${takesEveryWord(option)}: if ${words.at(-1)!} is the bundle, give it before ${option}, or after --.`;
}

/**
 * Returns the part of the expectation that needs no file. A bare document and signed bytes name no organization, so
 * none is expected.
 */
function expectedOf(
  args: ArgumentReader,
  flags: Flags<"verify">,
  io: Io,
): Pick<VerifyRequest, "organizationId" | "payload"> {
  const organizationId = ownerOf(args, flags, io);
  const hasOwner = (organizationId ?? flags.request) !== undefined;
  if (args.has("activity-id") && !hasOwner)
    args.fault("--activity-id also requires the organization: give --organization-id (or BOOTPROOF_ORGANIZATION_ID)");
  if (args.has("address") && !hasOwner)
    args.fault("--address also requires the organization: give --organization-id, or the request with --request");
  const payload = payloadsOf(args, flags);
  if (payload !== undefined && args.has("activity") && !hasOwner)
    args.fault(`--activity: ${ORGANIZATION_OF_THE_ACTIVITY}`);
  return { organizationId, payload };
}

function ownerOf(args: ArgumentReader, flags: Flags<"verify">, io: Io): string | undefined {
  if (args.has("attestation") || args.has("signed-message")) return undefined;
  if (!asksForBootProofsOnly(args)) refuseEmptyOrganization(args, io);
  return organizationOf(flags, io);
}

function verifyOptions(args: ArgumentReader, flags: Flags<"verify">, io: Io): VerifyRequest["options"] {
  const { at, now = io.now(), ephemeralKey, nonce } = flags;
  return {
    now,
    ...(at !== undefined && { at }),
    ...(ephemeralKey && { ephemeralKey: fromHex(ephemeralKey)! }),
    ...(nonce && { nonce: fromHex(nonce)! }),
    ...judgingOf(flags),
  };
}
