/** Revocation lists that the caller gives (RFC 5280 section 6.3; verify/README.md, "Revocation lists"). */
import { equalBytes, toHex } from "../bytes.js";
import type { Checklist } from "../checks.js";
import { type Certificate, KEY_USAGE, decodeKeyUsage, nameText } from "../decode/certificate.js";
import { type RevocationList, decodeRevocationList, distributionPointsOf } from "../decode/revocation-list.js";
import { type Fault, MalformedError, attempt, listed } from "../errors.js";
import { AHEAD_MS, type RevocationLists, type VerifyContext } from "./context.js";
import { ECDSA_WITH_SHA384, isSignedByKey } from "./ecdsa.js";

/** A certificate of the path, with its place in words. */
interface PathEntry {
  readonly certificate: Certificate;
  readonly place: string;
}

interface GivenList {
  readonly name: string;
  readonly list: RevocationList;
}

/** A list whose issuer is in the path. */
interface JudgedList extends GivenList {
  /** Whether the issuer signed it, and may. Then each entry revokes, whatever the list's time and form. */
  readonly isSigned: boolean;
  /** Whether its signature or its time is wrong. */
  readonly isBad: boolean;
  /** Why it covers no certificate, or null. */
  readonly fault: string | null;
}

type Context = Pick<VerifyContext, "crls" | "now" | "cache">;

/**
 * Looks every certificate below the anchor up in the lists of its issuer, and runs `chain.revocation`. Throws
 * {@link MalformedError} (`revocation-list`) with the faults of all lists that are no DER.
 */
export async function checkRevocation(
  path: readonly PathEntry[],
  context: Context,
  checklist: Checklist,
): Promise<boolean> {
  const lists = decodedLists(context.crls);
  const issuers = path.slice(0, -1).map(({ certificate }) => certificate);
  const found = await Promise.all(issuers.map((issuer, index) => lookUp(path[index + 1]!, issuer, context)));
  const textsOf = (name: Found["is"]): string[] => found.flatMap(({ is, text }) => (is === name ? [text] : []));
  const isUsed = ({ list }: GivenList): boolean => issuers.some((issuer) => isOf(list, issuer));
  for (const { name } of lists.filter(isUsed)) context.crls.applied.add(name);
  const unused = lists.filter((given) => !isUsed(given)).map(({ name }) => name);
  const beside = unused.length === 0 ? [] : [`not used, of other issuers: ${listed(unused)}`];
  const [revoked, refused, open] = [textsOf("revoked"), textsOf("refused"), textsOf("open")];
  const [expired, covered] = [textsOf("expired"), textsOf("covered")];
  const bad = listed([...revoked, ...refused], "; ");
  const detail = listed([...open, ...expired, ...covered, ...beside], "; ");
  if (bad !== "") return checklist.fail("chain.revocation", bad, revoked.length > 0 ? {} : { causes: ["old-list"] });
  if (open.length > 0) return checklist.warn("chain.revocation", detail);
  if (expired.length === 0 && covered.length > 0)
    return checklist.pass("chain.revocation", `${detail}; ${NONE_PUBLISHED}`);
  checklist.skip("chain.revocation", expired.length > 0 ? detail : listed([NONE_APPLIES, ...beside], "; "));
  return true;
}

const NONE_APPLIES = "no list is of an issuer of the path";
const NONE_PUBLISHED = "AWS publishes no lists for instance and leaf";

interface Found {
  /** `unlisted` if no list is published for the certificate, and none was given. */
  readonly is: "revoked" | "refused" | "open" | "expired" | "covered" | "unlisted";
  readonly text: string;
}

async function lookUp({ certificate, place }: PathEntry, issuer: Certificate, context: Context): Promise<Found> {
  const { value: points } = attempt(() => distributionPointsOf(certificate.extensions));
  const own = await listsOf(issuer, points ?? [], context);
  const signed = own.filter(({ isSigned }) => isSigned);
  const naming = signed.filter(({ list }) => list.revoked.has(toHex(certificate.serialNumber)));
  if (naming.length > 0) return { is: "revoked", text: `${place} is revoked by ${listed(naming.map(wordsOf))}` };
  // A list covers no certificate that expects its entry elsewhere, and none that it may leave out.
  const elsewhere = elsewhereText(points);
  const isLeftOut = ({ list }: GivenList): boolean =>
    [list.thisUpdate, context.now].every((at) => certificate.notAfter < at);
  const covering = signed.filter((one) => one.fault === null && elsewhere === null && !isLeftOut(one));
  if (covering.length > 0) return { is: "covered", text: `${place} is not in ${listed(covering.map(wordsOf))}` };
  const isNamed = points?.length !== 0;
  const isOver = own.length === 0 ? isNamed && certificate.notAfter < context.now : signed.some(isLeftOut);
  if (isOver) return { is: "expired", text: `${place}: ${EXPIRED}` };
  const faults = [...own.flatMap(({ fault }) => fault ?? []), ...(elsewhere === null ? [] : [elsewhere])];
  const why = faults.length === 0 ? NONE_GIVEN : listed(faults, "; ");
  return { is: uncovered(own, isNamed), text: `${place}: ${why}` };
}

function uncovered(own: readonly JudgedList[], isNamed: boolean): Found["is"] {
  if (own.some(({ isBad }) => isBad)) return "refused";
  return isNamed ? "open" : "unlisted";
}

const EXPIRED = "it had expired when the list was made, and a list may leave out expired certificates";
const NONE_GIVEN = "no list of its issuer was given, though it names where there is one";

/** Returns why no list of the issuer can cover a certificate with these points, or null. Malformed ones are absent. */
function elsewhereText(points: readonly (Uint8Array | null)[] | undefined): string | null {
  if (points === undefined) return "its cRLDistributionPoints is malformed";
  const isElsewhere = points.length > 0 && points.every((point) => point === null);
  return isElsewhere ? "the certificate names another issuer of lists, or lists of some reasons" : null;
}

/** Lists that were decoded before, since several boot proofs are looked up in the same ones. */
const DECODED = new WeakMap<RevocationLists, readonly GivenList[]>();

function decodedLists(crls: RevocationLists): readonly GivenList[] {
  const known = DECODED.get(crls);
  if (known !== undefined) return known;
  const faults: Fault[] = [];
  const lists = crls.given.flatMap(({ name, bytes }): GivenList[] => {
    const read = attempt(() => decodeRevocationList(bytes));
    if (read.value !== undefined) return [{ name, list: read.value }];
    faults.push(...read.faults.map(({ message }) => ({ path: name, message })));
    return [];
  });
  if (faults.length > 0) throw new MalformedError("revocation-list", faults);
  DECODED.set(crls, lists);
  return lists;
}

function wordsOf({ name, list }: GivenList): string {
  return `${name} of ${list.thisUpdate.toISOString()}`;
}

function isOf(list: RevocationList, issuer: Certificate): boolean {
  return equalBytes(list.issuer, issuer.subject);
}

function listsOf(
  issuer: Certificate,
  points: readonly (Uint8Array | null)[],
  { crls, now, cache }: Context,
): Promise<JudgedList[]> {
  const own = decodedLists(crls).filter(({ list }) => isOf(list, issuer));
  return Promise.all(
    own.map(async ({ name, list }) => {
      const ofSigner = await signatureFaults(list, issuer, cache);
      const bad = [...ofSigner, ...timeFaults(list, now)];
      const { distributionPoint: point } = list;
      const isWhole = point === null || points.some((one) => one !== null && equalBytes(one, point));
      const all = [...list.refusals, ...(isWhole ? [] : [PARTIAL]), ...bad];
      const fault = all.length === 0 ? null : `${name} is refused: ${listed(all)}`;
      return { name, list, isSigned: ofSigner.length === 0, isBad: bad.length > 0, fault };
    }),
  );
}

const PARTIAL = "it is partial: its issuingDistributionPoint is not that of the certificate";

/** The list is judged at the present, whatever the validation time of the certificates is. */
function timeFaults({ thisUpdate, nextUpdate }: RevocationList, now: Date): string[] {
  if (thisUpdate.getTime() - now.getTime() > AHEAD_MS) return [`it is of ${thisUpdate.toISOString()}, later than now`];
  return nextUpdate !== null && now > nextUpdate ? [`it expired at ${nextUpdate.toISOString()}`] : [];
}

async function signatureFaults(
  { innerSignatureAlgorithm: inner, outerSignatureAlgorithm: outer, ...list }: RevocationList,
  issuer: Certificate,
  cache: VerifyContext["cache"],
): Promise<string[]> {
  const usage = issuer.extensions.find(({ id }) => id === KEY_USAGE);
  const mayIssue = usage && attempt(() => decodeKeyUsage(usage.value)).value?.cRLSign === true;
  const isNamed = equalBytes(inner, outer) && equalBytes(outer, ECDSA_WITH_SHA384);
  const isSigned = isNamed && (await isSignedByKey(issuer, list.tbsCertList, list.signature, cache));
  return [
    ...(mayIssue ? [] : [`the keyUsage of ${nameText(issuer.subject)} does not allow cRLSign`]),
    ...(isSigned ? [] : ["its issuer did not sign it with ECDSA and SHA-384"]),
  ];
}
