/** Doors, called alike: what each makes of the answers of one service. */
import { UnverifiedMethodError, reportOf, verifiedFetch } from "../../src/adapters/index.js";
import {
  type Client,
  ClientError,
  RejectedActivityError,
  apiKeyStamper,
  createClient,
} from "../../src/client/index.js";
import { type ApiKeyPair, type Lab, stampWithApiKey } from "../../src/lab/index.js";
import type { Report } from "../../src/report/report.js";
import type { Json } from "../lab/support.js";
import { proxyFor } from "../proxy/support.js";

/** An operation of the service, and the method of other SDKs. */
export interface Operation {
  readonly name: string;
  readonly type: string;
  /** `request` sends the name and the type as they are. */
  readonly method: string;
}

export interface More {
  readonly organizationId?: string;
  readonly timestampMs?: string;
  /** Whose stamp the request has, where the door leaves that to its caller. */
  readonly key?: ApiKeyPair;
}

export interface Outcome {
  /**
   * `unsent`: refused before anything was sent. `evidence`: the evidence could not be fetched. `error`: anything else
   * that was thrown.
   */
  readonly kind: "verified" | "unfinished" | "unproven" | "other" | "refused" | "unsent" | "evidence" | "error";
  readonly value: Json;
  readonly activity: Json;
  /** All that the caller got, as JSON. */
  readonly text: string;
  readonly question: string | null;
  /** The ids of the failed checks. */
  readonly failed: readonly string[];
  /** The ids of checks that warn; none at the proxy, which has no report. */
  readonly warned: readonly string[];
  readonly message: string;
}

export interface Door {
  readonly name: string;
  readonly kind: "client" | "adapters" | "proxy" | "fetch";
  /** Whether values have the members of the result beside the activity. */
  readonly isFlat: boolean;
  submit(operation: Operation, parameters: Json, more?: More): Promise<Outcome>;
  getActivity(activityId: string, more?: More): Promise<Outcome>;
  list(): Promise<Outcome>;
  query(name: string, method: string, parameters?: Json): Promise<Outcome>;
  close(): Promise<void>;
}

/** Polls of each door, or of its caller. */
export const POLLS = 3;
export const POLLING = { pollIntervalMs: 1, pollAttempts: POLLS };

export const UPDATE: Operation = {
  name: "update_wallet",
  type: "ACTIVITY_TYPE_UPDATE_WALLET",
  method: "updateWallet",
};
export const APPROVE: Operation = {
  name: "approve_activity",
  type: "ACTIVITY_TYPE_APPROVE_ACTIVITY",
  method: "approveActivity",
};

export interface Wire {
  readonly lab: Lab;
  /** The service's address. */
  readonly url: string;
  /** Where evidence comes from, except that of the own client. */
  readonly evidenceUrl: string;
}

export type Opener = (wire: Wire) => Promise<Door>;
/** Doors without memory of anything. */
export const OWN_DOORS: readonly Opener[] = [ownDoor, proxyDoor, fetchDoor];

const NONE = { value: {}, activity: {}, text: "", question: null, failed: [], warned: [], message: "" } as const;

export function made(kind: Outcome["kind"], value: unknown, report?: Report, text = JSON.stringify(value)): Outcome {
  const whole = (value ?? {}) as Json;
  const question = report?.claims?.activity?.question ?? null;
  const warned = (report?.checks ?? []).filter(({ status }) => status === "warn").map(({ id }) => id);
  return { ...NONE, kind, value: whole, activity: (whole["activity"] ?? {}) as Json, text, question, warned };
}

export async function outcomeOf(call: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await call();
  } catch (error) {
    return thrown(error);
  }
}

function thrown(error: unknown): Outcome {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const of = (kind: Outcome["kind"]): Outcome => ({ ...NONE, kind, message });
  if (error instanceof RejectedActivityError) {
    const failed = [...new Set(error.failures.map(({ id }) => id))];
    const open = error.unfinished === null ? NONE : made("unfinished", { activity: error.unfinished });
    return { ...of("refused"), ...open, kind: error.unfinished === null ? "refused" : "unfinished", failed, message };
  }
  const kinds: Readonly<Record<string, Outcome["kind"]>> = {
    evidence: "evidence",
    request: "unsent",
    answer: "refused",
  };
  if (error instanceof ClientError) return of(kinds[error.code] ?? "error");
  if (error instanceof UnverifiedMethodError) return of("refused");
  return of(error instanceof TypeError && message.includes("not sent") ? "unsent" : "error");
}

function clientOf(baseUrl: string, { organizationId, apiKey }: Lab): Promise<Client> {
  return apiKeyStamper(apiKey).then((stamper) => createClient({ baseUrl, organizationId, stamper, maxRetries: 0 }));
}

async function ownDoor({ lab, url }: Wire): Promise<Door> {
  const client = await clientOf(url, lab);
  const own = client.withVerification(lab.policy, POLLING);
  const scope = ({ organizationId }: More): { organizationId?: string } => (organizationId ? { organizationId } : {});
  const verifiedOf = async (
    call: Promise<{ activity: unknown; result: unknown; report: Report }>,
  ): Promise<Outcome> => {
    const { activity, result, report } = await call;
    return made("verified", { activity, result }, report);
  };
  const plain = (name: string, parameters: Json): Promise<Outcome> =>
    outcomeOf(async () => made("other", await client.query(name, parameters)));
  return {
    name: "the own client",
    kind: "client",
    isFlat: false,
    submit: ({ name, type }, parameters, more = {}) =>
      outcomeOf(() => verifiedOf(own.submit({ name, type }, parameters, scope(more)))),
    getActivity: (activityId, more = {}) =>
      outcomeOf(async () => {
        const answer = await client.query("get_activity", { activityId }, scope(more));
        return verifiedOf(own.verifyActivity(answer, { ...scope(more), expected: { id: activityId } }));
      }),
    list: () => plain("list_activities", {}),
    query: (name, _, parameters = {}) => plain(name, parameters),
    close: async () => {},
  };
}

type Post = (path: string, text: string, stamp: string) => Promise<Outcome>;

/** Callers that write their own requests, and poll. */
function httpDoor(lab: Lab, facts: Pick<Door, "name" | "kind" | "close">, post: Post): Door {
  const sent = (path: string, body: Json, key = lab.apiKey): Promise<Outcome> => {
    const text = withNumbers(JSON.stringify(body));
    return post(`/public/v1/${path}`, text, stampWithApiKey(key, text));
  };
  const door: Door = {
    ...facts,
    isFlat: false,
    submit: async ({ name, type }, parameters, more = {}) => {
      const { organizationId = lab.organizationId, timestampMs = String(Date.now()), key } = more;
      const body = { type, timestampMs, organizationId, parameters, generateAppProofs: true };
      let outcome = await sent(`submit/${name}`, body, key);
      for (let left = POLLS; left > 0 && outcome.activity["status"] === PENDING; left--)
        outcome = await door.getActivity(outcome.activity["id"] as string, more);
      return outcome;
    },
    getActivity: (activityId, { organizationId = lab.organizationId, key } = {}) =>
      sent("query/get_activity", { organizationId, activityId }, key),
    list: () => sent("query/list_activities", { organizationId: lab.organizationId }),
    query: (name, _, parameters = {}) => sent(`query/${name}`, { organizationId: lab.organizationId, ...parameters }),
  };
  return door;
}

const PENDING = "ACTIVITY_STATUS_PENDING";

/** A number that no double has, as it is written: `"#9007199254740993#"`. */
export function withNumbers(text: string): string {
  return text.replaceAll(/"#([0-9.e+-]+)#"/g, "$1");
}

async function proxyDoor({ lab, url, evidenceUrl }: Wire): Promise<Door> {
  const proxy = await proxyFor(lab, { upstream: url, evidence: await clientOf(evidenceUrl, lab) });
  const facts = { name: "the proxy", kind: "proxy", close: async () => void (await proxy.close()) } as const;
  return httpDoor(lab, facts, async (path, text, stamp) => {
    const headers = { "content-type": "application/json", "x-stamp": stamp };
    return proxyOutcome(await fetch(proxy.url + path, { method: "POST", body: text, headers }));
  });
}

async function proxyOutcome(response: Response): Promise<Outcome> {
  const text = await response.text();
  const value = JSON.parse(text) as Json;
  if (response.status !== 200) {
    const refused = response.headers.get("x-bootproof-refused") ?? "error";
    const details = (value["details"] ?? []) as readonly { readonly id: string }[];
    const failed = [...new Set(details.map(({ id }) => id))];
    return { ...NONE, kind: PROXY_KINDS[refused] ?? "error", failed, message: String(value["message"]) };
  }
  return httpOutcome(response, value, text);
}

const PROXY_KINDS: Readonly<Record<string, Outcome["kind"]>> = {
  rejected: "refused",
  "invalid-answer": "refused",
  "invalid-request": "unsent",
  "not-found": "unsent",
  evidence: "evidence",
};

function httpOutcome(response: Response, value: Json, text: string): Outcome {
  const question = response.headers.get("x-bootproof-question");
  const isVerified = response.headers.get("x-bootproof-verified") === "activity";
  if (isVerified) return { ...made("verified", value, undefined, text), question };
  const mark = response.headers.get("x-bootproof");
  return made(mark === "unproven" || mark === "unfinished" ? mark : "other", value, undefined, text);
}

async function fetchDoor({ lab, url, evidenceUrl }: Wire): Promise<Door> {
  const evidence = await clientOf(evidenceUrl, lab);
  const fetching = verifiedFetch({ policy: lab.policy, baseUrl: url, evidence });
  const facts = { name: "verifiedFetch", kind: "fetch", close: async () => {} } as const;
  return httpDoor(lab, facts, (path, text, stamp) =>
    outcomeOf(async () => {
      const headers = { "Content-Type": "application/json", "X-Stamp": stamp };
      const response = await fetching(url + path, { method: "POST", body: text, headers });
      const answer = await response.text();
      if (response.status !== 200) return { ...NONE, kind: "error", message: answer };
      const outcome = httpOutcome(response, JSON.parse(answer) as Json, answer);
      const report = reportOf(response)!;
      const isTold = report.verdict === "unverified" && /\([A-Z_]+, id /.test(report.reason);
      if (isTold !== (outcome.kind === "unfinished")) throw new Error("an unfinished activity is not told as that");
      const { question, warned } = made(outcome.kind, null, report.verdict === "unverified" ? undefined : report);
      if (question !== outcome.question) throw new Error("the report and the header differ");
      return { ...outcome, warned };
    }),
  );
}
