/** `bootproof token`: verifies a session token, an OTP verification token or a signed bundle. */
import { jsonDocument } from "../report/json.js";
import type { TokenKind } from "../token/decode.js";
import {
  ANY_ORGANIZATION,
  ANY_USER,
  type ExpectedToken,
  type TokenOptions,
  type TokenReport,
  verifyOtpToken,
  verifySessionToken,
  verifySignedBundle,
} from "../token/verify.js";
import { commandOf } from "./command.js";
import { organizationOf, refuseEmptyOrganization } from "./connection.js";
import { EXIT } from "./exit-codes.js";
import { type InputFiles, STDIN } from "./files.js";
import { type Io, textOptions } from "./io.js";
import type { Flags } from "./option-table.js";
import type { ArgumentReader } from "./options.js";
import { readGivenPolicy } from "./policy-source.js";

const EXAMPLES = `
TOKEN is @FILE, or - for stdin: never the token itself, since others can read the list of processes. One line break
behind it is fine. Kinds: session, otp (the token behind a one-time password), import, export and otp-target (bundles).

The keys are quorum keys that the policy pins for the application that signs: pin its release (bootproof pin --release).
A policy that pins no such key refuses every token.

Examples:
    $ bootproof token - --policy policy.json --organization-id ID < session.jwt
    $ bootproof token @session.jwt --policy policy.json --organization-id ID --user-id ID --public-key 02…
    $ bootproof token @otp.jwt --kind otp --policy policy.json --any-organization --format json
    $ bootproof token @bundle.json --kind import --policy policy.json --organization-id ID --user-id ID

Exit codes: 0 verified, 1 rejected, 2 wrong usage, or a file or policy that cannot be read.`;

export const addTokenCommand = commandOf<"token", [token: string]>(
  "token",
  {
    usage: "-|@FILE --policy FILE (--organization-id ID | --any-organization) [options]",
    help: EXAMPLES,
  },
  async ({ args, flags, files, io }, word) => {
    const { kind = "session", now = io.now(), tolerance: toleranceMs = 0, format } = flags;
    const expected = expectedOf(args, flags, kind, io);
    const path = pathOf(args, word);
    args.throwFaults();
    const given = await readGivenPolicy(files, flags, io, () => now);
    const token = await textIn(files, path!);
    files.throwFaults();
    const policy = given!.signed ?? given!.policy;
    const namespace = flags.namespace === undefined ? {} : { namespace: flags.namespace };
    const report = await verified(kind, token!, { policy, now, expected: expected!, toleranceMs, ...namespace });
    const { renderToken } = await import("../token/text.js");
    io.stdout.write(format === "json" ? jsonDocument(report) : renderToken(report, textOptions(io)));
    return report.verdict === "verified" ? EXIT.good : EXIT.rejected;
  },
);

/** The word is never repeated in a message: it may be a token. */
function pathOf(args: ArgumentReader, word: string): string | undefined {
  if (word === STDIN) return STDIN;
  if (word.length > 1 && word.startsWith("@")) return word.slice(1);
  return args.fault(
    "TOKEN: expected @FILE, or - for stdin. A token on the command line can be read by others in the list of processes",
  );
}

function expectedOf(
  args: ArgumentReader,
  { anyOrganization = false, userId, publicKey, ...flags }: Flags<"token">,
  kind: TokenKind,
  io: Io,
): ExpectedToken | undefined {
  if (!anyOrganization) refuseEmptyOrganization(args, io);
  const organizationId = anyOrganization ? ANY_ORGANIZATION : organizationOf(flags, io);
  refuseUseless(args, kind, { userId, publicKey });
  if (organizationId === undefined)
    return args.fault("--organization-id ID is required, or --any-organization: whose token it has to be");
  return { organizationId, ...(userId !== undefined && { userId }), ...(publicKey !== undefined && { publicKey }) };
}

/** What each kind can be compared with. */
const COMPARED: Readonly<Record<TokenKind, readonly ("user-id" | "any-user" | "public-key")[]>> = {
  session: ["user-id", "public-key"],
  otp: ["public-key"],
  import: ["user-id", "any-user"],
  export: [],
  "otp-target": [],
};

function refuseUseless(
  args: ArgumentReader,
  kind: TokenKind,
  { userId, publicKey }: { readonly userId: string | undefined; readonly publicKey: string | undefined },
): void {
  for (const name of ["user-id", "any-user", "public-key"] as const)
    if (args.has(name) && !COMPARED[kind].includes(name)) args.fault(`--${name}: ${kind} has none to compare with`);
  if (kind === "import" && userId === undefined && !args.has("any-user"))
    args.fault("--user-id ID is required for an import bundle, or --any-user");
  if (publicKey !== undefined && !/^(?:0[23][0-9a-f]{64}|04[0-9a-f]{128})$/i.test(publicKey))
    args.fault("--public-key: expected a P-256 key in hex: 66 digits, or 130 of an uncompressed one");
}

/** Reads a token, also as the value of an Authorization header. */
async function textIn(files: InputFiles, path: string): Promise<string | undefined> {
  const bytes = await files.raw(path);
  return (
    bytes &&
    files
      .textOf(path, bytes)
      ?.replace(/\r?\n$/, "")
      .replace(/^Bearer +/i, "")
  );
}

interface Parts extends TokenOptions<ExpectedToken> {
  readonly toleranceMs: number;
}

function verified(
  kind: TokenKind,
  token: string,
  { toleranceMs, expected, ...options }: Parts,
): Promise<TokenReport<object>> {
  const { organizationId, userId = ANY_USER } = expected;
  if (kind === "session") return verifySessionToken(token, { ...options, expected, toleranceMs });
  if (kind === "otp") return verifyOtpToken(token, { ...options, expected, toleranceMs });
  return verifySignedBundle(token, { ...options, kind, expected: { organizationId, userId } });
}
