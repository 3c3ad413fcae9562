/** Revocation lists that the caller gives (RFC 5280 section 6.3; verify/README.md, "Revocation lists"). */
import { equalBytes, toHex } from "../bytes.js";
import type { Checklist } from "../checks.js";
import { type Certificate, KEY_USAGE, decodeKeyUsage, nameText } from "../decode/certificate.js";
import { rawSignature } from "../decode/ecdsa-signature.js";
import { type RevocationList, decodeRevocationList, distributionPointsOf } from "../decode/revocation-list.js";
import { type Fault, MalformedError, attempt, listed } from "../errors.js";
import type { RevocationLists, VerifyContext } from "./context.js";
import { CURVES } from "./cryptography.js";
import { ECDSA_WITH_SHA384, pointOfSpki } from "./ecdsa.js";

/** A certificate of the path, with its place in words. */
interface PathEntry {
  readonly certificate: Certificate;
  readonly place: string;
}

interface GivenList {
  readonly name: string;
  readonly list: RevocationList;
}

/** A list whose issuer is in the path, and why it does not count, or null. */
interface JudgedList {
  readonly given: GivenList;
  readonly fault: string | null;
}

/**
 * Looks every certificate below the anchor up in the lists of its issuer. Runs `chain.revocation`: fails if a valid
 * list names one, passes if all that name a distribution point were looked up, and is skipped otherwise. Throws
 * {@link MalformedError} (`revocation-list`) with the faults of all lists that are no DER.
 */
export async function checkRevocation(
  path: readonly PathEntry[],
  context: Pick<VerifyContext, "crls" | "now" | "cache">,
  checklist: Checklist,
): Promise<boolean> {
  const lists = decodedLists(context.crls);
  const found: Found[] = [];
  for (const [index, entry] of path.slice(1).entries())
    found.push(await lookUp(entry, path[index]!.certificate, { ...context, lists }));
  const textsOf = (name: Found["is"]): string[] => found.flatMap(({ is, text }) => (is === name ? [text] : []));
  const [revoked, covered, open] = [textsOf("revoked"), textsOf("covered"), textsOf("open")];
  const issuers = path.slice(0, -1);
  const isUsed = ({ list }: GivenList): boolean => issuers.some(({ certificate }) => isOf(list, certificate));
  for (const { name } of lists.filter(isUsed)) context.crls.applied.add(name);
  const unused = lists.filter((given) => !isUsed(given)).map(({ name }) => name);
  const beside = unused.length === 0 ? [] : [`not used, of other issuers: ${listed(unused)}`];
  if (revoked.length > 0) return checklist.fail("chain.revocation", listed(revoked, "; "));
  if (open.length === 0 && covered.length > 0)
    return checklist.pass("chain.revocation", listed([...covered, ...beside, NONE_PUBLISHED], "; "));
  const why = open.length === 0 ? ["no list is of an issuer of the path"] : open;
  checklist.skip("chain.revocation", listed([...why, ...covered, ...beside], "; "));
  return true;
}

interface Found {
  /** `nothing` if no list is needed, and none was given. */
  readonly is: "revoked" | "covered" | "open" | "nothing";
  readonly text: string;
}

type Lists = Pick<VerifyContext, "now" | "cache"> & { readonly lists: readonly GivenList[] };

async function lookUp({ certificate, place }: PathEntry, issuer: Certificate, lists: Lists): Promise<Found> {
  const { value: points } = attempt(() => distributionPointsOf(certificate.extensions));
  const { valid, faults } = await listsOf(issuer, points ?? [], lists);
  const naming = valid.filter(({ list }) => list.revoked.has(toHex(certificate.serialNumber)));
  if (naming.length > 0) return { is: "revoked", text: `${place} is revoked by ${listed(naming.map(wordsOf))}` };
  // A list covers no certificate that expects its entry elsewhere. Entries count in any case, as above.
  const elsewhere = elsewhereText(points);
  const current = valid.filter(({ list }) => elsewhere === null && certificate.notAfter >= list.thisUpdate);
  if (current.length > 0) return { is: "covered", text: `${place} is not in ${listed(current.map(wordsOf))}` };
  const isOpen = points?.length !== 0 || faults.length > 0;
  const why = elsewhere === null ? openText(valid.length > 0, faults) : listed([...faults, elsewhere], "; ");
  return { is: isOpen ? "open" : "nothing", text: `${place}: ${why}` };
}

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

const NONE_PUBLISHED = "AWS publishes no lists for instance and leaf";

function openText(isExpired: boolean, faults: readonly string[]): string {
  if (isExpired) return "it had expired when the list was made, and a list may leave out expired certificates";
  return faults.length === 0 ? "no list of its issuer was given" : listed(faults, "; ");
}

function wordsOf({ name, list }: GivenList): string {
  return `${name} of ${list.thisUpdate.toISOString()}`;
}

function isOf(list: RevocationList, issuer: Certificate): boolean {
  return equalBytes(list.issuer, issuer.subject);
}

async function listsOf(
  issuer: Certificate,
  points: readonly (Uint8Array | null)[],
  { lists, now, cache }: Lists,
): Promise<{ readonly valid: readonly GivenList[]; readonly faults: readonly string[] }> {
  const own = lists.filter(({ list }) => isOf(list, issuer));
  const judged = await Promise.all(
    own.map(async (given): Promise<JudgedList> => {
      const reasons = [
        ...given.list.refusals,
        ...formFaults(given.list, issuer, points),
        ...timeFaults(given.list, now),
      ];
      const isSigned = await isSignedBy(given.list, issuer, cache);
      const all = isSigned ? reasons : [...reasons, "its issuer did not sign it with ECDSA and SHA-384"];
      return { given, fault: all.length === 0 ? null : `${given.name} is refused: ${listed(all)}` };
    }),
  );
  return {
    valid: judged.filter(({ fault }) => fault === null).map(({ given }) => given),
    faults: judged.flatMap(({ fault }) => fault ?? []),
  };
}

function formFaults(list: RevocationList, issuer: Certificate, points: readonly (Uint8Array | null)[]): string[] {
  const usage = issuer.extensions.find(({ id }) => id === KEY_USAGE);
  const mayIssue = usage && attempt(() => decodeKeyUsage(usage.value)).value?.cRLSign === true;
  const { distributionPoint: own } = list;
  const isWhole = own === null || points.some((point) => point !== null && equalBytes(point, own));
  return [
    ...(mayIssue ? [] : [`the keyUsage of ${nameText(issuer.subject)} does not allow cRLSign`]),
    ...(isWhole ? [] : ["it is partial: its issuingDistributionPoint is not that of the certificate"]),
  ];
}

/** The list is judged at the present, whatever the validation time of the certificates is. */
function timeFaults({ thisUpdate, nextUpdate }: RevocationList, now: Date): string[] {
  if (now < thisUpdate) return [`it is of ${thisUpdate.toISOString()}, later than now`];
  return nextUpdate !== null && now > nextUpdate ? [`it expired at ${nextUpdate.toISOString()}`] : [];
}

async function isSignedBy(
  { innerSignatureAlgorithm: inner, outerSignatureAlgorithm: outer, ...list }: RevocationList,
  issuer: Certificate,
  cache: VerifyContext["cache"],
): Promise<boolean> {
  const point = pointOfSpki("P-384", issuer.subjectPublicKeyInfo);
  const signature = rawSignature(list.signature, CURVES["P-384"].scalarLength);
  if (!equalBytes(inner, outer) || !equalBytes(outer, ECDSA_WITH_SHA384) || point === null || signature === null)
    return false;
  return cache.verify("P-384", point, list.tbsCertList, signature);
}
