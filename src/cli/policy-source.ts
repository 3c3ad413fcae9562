/** Reads `--policy` for every command: a policy file, or a signed policy under the keys of `--policy-signers`. */
import type { Policy } from "../appraise/policy.js";
import { fromUtf8 } from "../bytes.js";
import { type Check, Checklist } from "../checks.js";
import { parseJson } from "../decode/json.js";
import { attempt } from "../errors.js";
import { printable } from "../report/printable.js";
import type { SignedPolicy, SignedPolicyError, SignedPolicyOptions } from "../signed-policy/index.js";
import { isLoopback } from "./connection.js";
import { useProxies, unusedProxyText } from "./environment-proxy.js";
import { type InputFiles, nameOf } from "./files.js";
import { type Io, RefusedError } from "./io.js";
import { ofKind } from "./kinds.js";
import { readPolicyFile } from "./option-files.js";

interface PolicyFlags {
  /** False means `--no-policy`. */
  readonly policy?: string | false;
  readonly policySigners?: string;
  readonly policyState?: string;
  /** Milliseconds between two refreshes of a command that runs for a long time. */
  readonly refreshMs?: number | undefined;
}

interface GivenPolicy {
  readonly path: string;
  /** For a signed policy, the version in force when it was read. */
  readonly policy: Policy;
  readonly signed: SignedPolicy | null;
}

const FEED_SECONDS = 10;
const MAX_REDIRECTS = 5;
const ADDRESS = /^https?:\/\//i;
const SIGNED = /"payloadType"\s*:\s*"application\/vnd\.bootproof\.signed-policy\+json"/;
const WHO_SIGNS = "--policy-signers FILE names the keys that sign it, and how many of them must";

/**
 * Reads the policy. Returns undefined without `--policy`, and if something is at fault, which is added to the files.
 * `now` is the present of the verification.
 */
export async function readGivenPolicy(
  files: InputFiles,
  { policy: path, policySigners: signers, policyState: state, refreshMs }: PolicyFlags,
  io: Io,
  now = io.now,
): Promise<GivenPolicy | undefined> {
  const fault = (message: string): undefined => void files.faults.push({ message });
  if (typeof path !== "string")
    return signers === undefined ? undefined : fault("--policy-signers requires --policy: the feed that they sign");
  const why = ADDRESS.test(path) ? addressFault(path, signers) : null;
  if (why !== null) return fault(why);
  return signers === undefined
    ? readPlain(files, path)
    : readSigned(files, { path, signers, state, now, refreshMs }, io);
}

/** Refuses a version that is not in force, for commands without checks. Throws RefusedError. */
export async function requireCurrent(given: GivenPolicy | undefined, now: Date): Promise<void> {
  const [{ appraiseCurrent }, { withAdvice }] = await Promise.all([
    import("../appraise/appraise.js"),
    import("../report/conclude.js"),
  ]);
  const checks = new Checklist("policy");
  appraiseCurrent(given?.policy.signed ?? null, now, checks);
  const [{ status, detail: message, advice = "" }] = (await withAdvice(checks.list())) as [Check];
  if (status === "fail") throw new RefusedError([{ file: printable(given!.path), message, advice }]);
}

/** Returns the path, or the address without its query, which may be secret. */
export function shownPolicyPath(path: string): string {
  return ADDRESS.test(path) ? path.replace(/[?#].*/s, "") : path;
}

function addressFault(path: string, signers: string | undefined): string | null {
  const url = URL.canParse(path) ? new URL(path) : null;
  if (url === null) return "--policy: expected a file, or an address such as https://example.com/feed.jsonl";
  if (url.username + url.password !== "") return "--policy: the address must have no user or password";
  if (url.protocol !== "https:" && !isLoopback(url.hostname))
    return `--policy ${url.origin}: http:// is for this machine only: use https://`;
  return signers === undefined
    ? `--policy ${url.origin} is a URL: download it (curl -fsSO URL). If it is a signed policy, ${WHO_SIGNS}`
    : null;
}

async function readPlain(files: InputFiles, path: string): Promise<GivenPolicy | undefined> {
  const before = files.faults.length;
  const read = await readPolicyFile(files, path);
  if (read !== undefined) return { path, policy: read.policy, signed: null };
  if (!SIGNED.test(fromUtf8(files.contents.get(path) ?? new Uint8Array()) ?? "")) return undefined;
  files.faults.length = before;
  return files.fault(path, "this is a signed policy", WHO_SIGNS);
}

interface Signed extends Required<Pick<SignedPolicyOptions, "now">> {
  readonly path: string;
  readonly signers: string;
  readonly state: string | undefined;
  readonly refreshMs: number | undefined;
}

async function readSigned(
  files: InputFiles,
  { path, signers: signersPath, state, now, refreshMs }: Signed,
  io: Io,
): Promise<GivenPolicy | undefined> {
  const [{ openSignedPolicy }, { fileState }] = await Promise.all([
    import("../signed-policy/index.js"),
    import("../signed-policy/node.js"),
  ]);
  const signers = await ofKind(files, signersPath, "--policy-signers");
  if (signers === undefined) return undefined;
  const shown = shownPolicyPath(path);
  let fetched: Uint8Array | undefined;
  try {
    const signed = await openSignedPolicy({
      signers,
      source: async () => {
        fetched = ADDRESS.test(path) ? await fetchFeed(path, io) : await feedIn(files, path);
        return asFeed(fetched);
      },
      ...(state !== undefined && { state: fileState(state) }),
      ...(refreshMs !== undefined && { refreshMs }),
      now,
      onNotice: (notice, error) => {
        const kind = error?.isContradiction ? "POLICY FEED REFUSED" : "warning";
        io.stderr.write(`${kind}: ${printable(`${shown}: ${notice}`)}\n`);
      },
    });
    return { path: shown, policy: signed.policy, signed };
  } catch (error) {
    // The error is recognised by its name, since it comes from another copy of the library.
    if (!(error instanceof Error) || error.name !== "SignedPolicyError") throw error;
    const { code, message } = error as SignedPolicyError;
    const { kindOf } = await import("../inspect/kinds.js");
    if (code === "malformed" && fetched !== undefined && kindOf(fetched) === "policy")
      return files.fault(shown, "this policy is not signed: leave out --policy-signers, or give the feed");
    const file = message.startsWith("policy signers: ") ? nameOf(signersPath) : shown;
    files.faults.push({ file: printable(file), message: printable(message), code });
    return undefined;
  }
}

async function feedIn(files: InputFiles, path: string): Promise<Uint8Array> {
  const { MAX_FEED_BYTES } = await import("../signed-policy/feed.js");
  const bytes = await files.raw(path, MAX_FEED_BYTES);
  // A feed that cannot be read is not a fault of the command line if there is a state.
  if (bytes === undefined) throw new Error(files.faults.pop()!.message);
  return bytes;
}

/** Returns the bytes as a feed. A single envelope may have line breaks, which JSON allows between tokens only. */
function asFeed(bytes: Uint8Array): Uint8Array | string {
  const text = fromUtf8(bytes);
  return text === null || attempt(() => parseJson(text)).value === undefined ? bytes : text.replace(/[\r\n]+/g, " ");
}

/** Fetches a feed. Nothing of the response is trusted, and redirects lead to HTTPS only. */
async function fetchFeed(address: string, { env }: Io): Promise<Uint8Array> {
  useProxies(env);
  const { readBounded } = await import("../door/bounded-bytes.js");
  const { MAX_FEED_BYTES } = await import("../signed-policy/feed.js");
  const signal = AbortSignal.timeout(1000 * FEED_SECONDS);
  let url = new URL(address);
  try {
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const response = await fetch(url, { redirect: "manual", signal });
      const to = response.status >= 300 && response.status < 400 ? response.headers.get("location") : null;
      if (to === null && !response.ok) throw new Error(`HTTP ${response.status}`);
      const bytes = to === null ? await readBounded(response, MAX_FEED_BYTES) : await response.body?.cancel();
      if (bytes === null) throw new Error(`larger than ${MAX_FEED_BYTES} bytes`);
      if (bytes !== undefined) return bytes;
      url = new URL(to!, url);
      if (url.protocol !== "https:") throw new Error(`redirected to ${url.origin}, and only https:// is followed`);
    }
    throw new Error(`redirected more than ${MAX_REDIRECTS} times`);
  } catch (error) {
    throw new Error(`${networkText(error)}${unusedProxyText(url.href, env)}`, { cause: error });
  }
}

function networkText(error: unknown): string {
  const { name, message, cause } = error as Error;
  if (name === "TimeoutError") return `no answer within ${FEED_SECONDS} seconds`;
  return (cause as NodeJS.ErrnoException | undefined)?.code ?? message;
}
