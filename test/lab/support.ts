/** A plain caller of the lab: fetch and stamps, none of the client's code. */
import { createECDH } from "node:crypto";
import { verifyEvidence } from "../../src/index.js";
import { type ApiKeyPair, FAULTS, type Lab, stampWithApiKey } from "../../src/lab/index.js";
import type { LabFault } from "../../src/lab/faults.js";
import { LAB_OPERATIONS, type LabSubmitName } from "../../src/lab/operations.js";
import type { Report } from "../../src/report/report.js";

/** An answer, which tests read by path. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = Record<string, any>;

export interface Answer {
  readonly status: number;
  readonly body: Json;
}

export interface Sending {
  readonly key?: ApiKeyPair;
  /** In the place of the stamp of `key`. */
  readonly headers?: Record<string, string>;
  readonly organizationId?: string;
  readonly timestampMs?: string;
  readonly generateAppProofs?: boolean;
}

/** Sends exactly these bytes. */
export async function send(
  lab: Lab,
  path: string,
  text: string,
  { key = lab.apiKey, headers }: Sending = {},
): Promise<Answer> {
  const stamp = headers ?? { "X-Stamp": stampWithApiKey(key, text) };
  const answer = await fetch(`${lab.baseUrl}/public/v1/${path}`, {
    method: "POST",
    body: text,
    headers: { "Content-Type": "application/json", ...stamp },
  });
  expectJson(answer);
  return { status: answer.status, body: (await answer.json()) as Json };
}

function expectJson(answer: Response): void {
  if (answer.headers.get("content-type") !== "application/json")
    throw new Error(`answered ${answer.headers.get("content-type")}`);
}

export function query(lab: Lab, name: string, parameters: Json = {}, sending: Sending = {}): Promise<Answer> {
  return send(
    lab,
    `query/${name}`,
    JSON.stringify({ organizationId: sending.organizationId ?? lab.organizationId, ...parameters }),
    sending,
  );
}

export function envelope(lab: Lab, type: string, parameters: Json, sending: Sending = {}): string {
  const { timestampMs = String(Date.now()), organizationId = lab.organizationId, generateAppProofs } = sending;
  return JSON.stringify({ type, timestampMs, organizationId, parameters, generateAppProofs });
}

export function submit(lab: Lab, name: LabSubmitName, parameters: Json, sending: Sending = {}): Promise<Answer> {
  const operation = LAB_OPERATIONS[name];
  return send(lab, `submit/${operation.name}`, envelope(lab, operation.type, parameters, sending), sending);
}

export async function statusOf(answer: Promise<Answer>): Promise<number> {
  return (await answer).status;
}

/** The activity of a submit that has to succeed. */
export async function completed(answer: Promise<Answer>): Promise<Json> {
  const { status, body } = await answer;
  if (status !== 200 || body["activity"].status !== "ACTIVITY_STATUS_COMPLETED") throw new Error(JSON.stringify(body));
  return body["activity"] as Json;
}

export async function renameWallet(lab: Lab, walletName: string, sending: Sending = {}): Promise<Json> {
  return completed(
    submit(lab, "updateWallet", { walletId: lab.ids.walletId, walletName }, { generateAppProofs: true, ...sending }),
  );
}

export function account(path: string, addressFormat = "ADDRESS_FORMAT_ETHEREUM"): Json {
  return { curve: "CURVE_SECP256K1", pathFormat: "PATH_FORMAT_BIP32", path, addressFormat };
}

/** Of a new wallet with two accounts. */
export const TWO_ACCOUNTS = { walletName: "new", accounts: [account("m/44'/60'/0'/0/0"), account("m/44'/60'/0'/0/1")] };
export const TARGET_PUBLIC_KEY = createECDH("prime256v1").generateKeys("hex", "uncompressed");

/** The faults of evidence. All others are of lists, whose evidence is genuine. */
export const EVIDENCE_FAULTS = FAULTS.filter(({ shows }) => shows === undefined);

/** Submits that faults name in `needs`. */
export const SUBMITS: Record<string, { readonly name: LabSubmitName; readonly parameters: Json }> = {
  create_wallet: { name: "createWallet", parameters: TWO_ACCOUNTS },
  create_read_write_session: { name: "createReadWriteSession", parameters: { targetPublicKey: TARGET_PUBLIC_KEY } },
  set_organization_feature: { name: "setOrganizationFeature", parameters: { name: "FEATURE_NAME_LAB", value: "on" } },
};

/** What the operations that sign are asked to sign with the first address of the lab's wallet. */
const SIGNED: Record<string, (signWith: string) => { readonly name: LabSubmitName; readonly parameters: Json }> = {
  sign_raw_payload: (signWith) => ({ name: "signRawPayload", parameters: { signWith, payload: "p", ...HOW_TO_SIGN } }),
  sign_raw_payloads: (signWith) => ({
    name: "signRawPayloads",
    parameters: { signWith, payloads: ["p", "q"], ...HOW_TO_SIGN },
  }),
  sign_transaction: (signWith) => ({
    name: "signTransaction",
    parameters: { signWith, unsignedTransaction: UNSIGNED, type: "TRANSACTION_TYPE_ETHEREUM" },
  }),
};
const HOW_TO_SIGN = { encoding: "PAYLOAD_ENCODING_TEXT_UTF8", hashFunction: "HASH_FUNCTION_KECCAK256" };
/** Of EIP-1559, on chain 1. */
const UNSIGNED = `02e70180808082520894${"22".repeat(20)}880de0b6b3a764000080c0`;

/** The request that shows a fault. */
export async function requestFor(
  lab: Lab,
  { needs = [] }: Pick<LabFault, "needs">,
): Promise<{ readonly name: LabSubmitName; readonly parameters: Json }> {
  const signed = needs.map((one) => SIGNED[one]).find((one) => one !== undefined);
  if (signed !== undefined) return signed((await query(lab, "list_wallet_accounts")).body["accounts"][0].address);
  return (
    needs.map((one) => SUBMITS[one]).find((one) => one !== undefined) ?? {
      name: "updateWallet",
      parameters: { walletId: lab.ids.walletId, walletName: "shown" },
    }
  );
}

/** The altered activity that shows a fault, and the requested id or null. */
export async function shown(
  lab: Lab,
  { needs = [] }: Pick<LabFault, "needs">,
): Promise<{ activity: Json; id: string | null }> {
  const { name, parameters } = await requestFor(lab, { needs });
  const { status, body } = await submit(lab, name, parameters, { generateAppProofs: true });
  if (status !== 200) throw new Error(JSON.stringify(body));
  if (!needs.includes("get_activity")) return { activity: body["activity"] as Json, id: null };
  const { id } = body["activity"] as { id: string };
  return { activity: (await query(lab, "get_activity", { activityId: id })).body["activity"] as Json, id };
}

/** What the library says of an activity and the boot proofs of the keys that its app proofs name. */
export async function judge(
  lab: Lab,
  activity: Json,
  now = new Date(),
  sending: Sending = {},
  id: string | null = null,
  request: { readonly type?: string; readonly parameters?: Json } = {},
): Promise<Report> {
  const named = new Set<string>(
    ((activity["appProofs"] as Json[] | undefined) ?? []).map((proof) => proof["publicKey"] as string),
  );
  const keys = named.size > 0 ? [...named] : lab.enclaves.map(({ ephemeralKey }) => ephemeralKey);
  const answers = await Promise.all(
    keys.map((ephemeralKey) => query(lab, "get_boot_proof", { ephemeralKey }, sending)),
  );
  const { organizationId = lab.organizationId } = sending;
  const expected = { organizationId, ...(id !== null && { id }), ...request };
  const options = { policy: lab.policy, now, expected };
  return (await verifyEvidence({ bootProofs: answers.map(({ body }) => body), activity }, options)).report;
}

export function failing(report: Report): string[] {
  return [...new Set(report.checks.filter((check) => check.status === "fail").map((check) => check.id))].sort();
}
