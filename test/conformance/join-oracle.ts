/**
 * The join once more, written from the rules of test-vectors/conformance/README.md ("The join") and from no code: each
 * rule is a question about the whole input, which is slow.
 */
import type { JsonObject } from "../../src/decode/json.js";
import type { JoinClass, JoinEvidence, JoinInput, JoinRow, JudgedProof } from "./join-cases.js";

type Says = NonNullable<JudgedProof["says"]>;

interface Claim {
  readonly says: Says;
  readonly status: JudgedProof["status"];
  readonly of: JoinEvidence;
}

interface Target {
  readonly address: string;
  readonly format: unknown;
  /** Null if it is not known. */
  readonly curve: unknown;
  readonly walletId: string | null;
  readonly privateKeyId: string | null;
  readonly path: string | null;
  /** Whether the lists have other values for its account, too. */
  readonly isDisputed?: boolean;
}

/** Ids of the activities whose key nothing places. */
export function unplacedByRules(input: JoinInput): string[] {
  const evidence = evidenceOf(input);
  return evidence
    .map(({ activity }) => activity)
    .filter((activity) => /_(?:EX|IM)PORT_/.test(String(activity["type"])) && isCompleted(activity))
    .filter((activity) => {
      if (idsIn(activity).length > 0 && !isOfAccount(activity)) return false;
      const keys = keysExported(activity);
      return keys.length === 0 || keys.some((key) => placesOf(key, evidence, input).length === 0);
    })
    .map((activity) => String(activity["id"]));
}

function evidenceOf(input: JoinInput): readonly JoinEvidence[] {
  return input.evidence.filter(
    ({ activity }) => activity["organizationId"] === input.organizationId || isParents(activity, input),
  );
}

function claimsOf(evidence: readonly JoinEvidence[]): Claim[] {
  return evidence.flatMap((of) =>
    of.proofs.flatMap(({ says, status }): Claim[] => (says === null ? [] : [{ says, status, of }])),
  );
}

export function joinedByRules(input: JoinInput): JoinRow[] {
  const evidence = evidenceOf(input);
  const claims = claimsOf(evidence);
  const targets = targetsOf(input);
  const rows = targets.map((target) => rowOf(target, classOf(target, targets, claims, evidence, input)));
  return [...rows, ...missingRows(targets, rows, claims, evidence, input)];
}

function isParents(activity: JsonObject, { parentOrganizationId, organizationId }: JoinInput): boolean {
  const isOfParent = activity["organizationId"] === parentOrganizationId;
  return isOfParent && JSON.stringify(activity["result"]).includes(`"subOrganizationId":"${organizationId}"`);
}

function targetsOf({ accounts, privateKeys }: JoinInput): Target[] {
  const valuesOf = (one: JsonObject): string =>
    JSON.stringify(
      ["walletAccountId", "walletId", "path", "address", "curve", "addressFormat"].map((name) => one[name]),
    );
  const isOfId = (one: JsonObject, other: JsonObject): boolean => other["walletAccountId"] === one["walletAccountId"];
  const others = (one: JsonObject): JsonObject[] =>
    accounts.filter((other) => isOfId(one, other) && valuesOf(other) !== valuesOf(one));
  // An account that comes again as it was first is the same one.
  const kept = accounts.filter((one, index) => {
    const first = accounts.findIndex((other) => isOfId(one, other));
    return index === first || valuesOf(one) !== valuesOf(accounts[first]!);
  });
  const ofAccount = (one: JsonObject): Target => ({
    isDisputed: others(one).length > 0,
    address: String(one["address"]),
    format: one["addressFormat"],
    curve: one["curve"],
    walletId: String(one["walletId"]),
    privateKeyId: null,
    path: String(one["path"]),
  });
  return [
    ...kept.map(ofAccount),
    ...privateKeys.flatMap((key) =>
      (key["addresses"] as JsonObject[]).map(({ address, format }) => {
        const privateKeyId = String(key["privateKeyId"]);
        return { address: String(address), format, curve: key["curve"], walletId: null, privateKeyId, path: null };
      }),
    ),
  ];
}

function rowOf({ address, walletId, privateKeyId, path }: Omit<Target, "format" | "curve">, name: JoinClass): JoinRow {
  return { class: name, address, listed: true, walletId, privateKeyId, path };
}

/** Exact, but for the case of hex digits in three formats. */
function isNamed({ says }: Claim, { address, format }: Target): boolean {
  if (says.address === address) return true;
  if (!/^ADDRESS_FORMAT_(?:ETHEREUM|SUI|APTOS)$/.test(String(format))) return false;
  const isHex = [says.address, address].every((text) => /^0x[0-9a-f]+$/i.test(text));
  return isHex && says.address.toLowerCase() === address.toLowerCase();
}

function isOwn({ says }: Claim, target: Target, { organizationId }: JoinInput): boolean {
  return says.organizationId === organizationId && says.walletId === target.walletId;
}

function isMatch(claim: Claim, target: Target, input: JoinInput): boolean {
  const isPlace = target.walletId === null || claim.says.path === target.path;
  return isNamed(claim, target) && isOwn(claim, target, input) && isPlace;
}

function classOf(
  target: Target,
  targets: readonly Target[],
  claims: readonly Claim[],
  evidence: readonly JoinEvidence[],
  input: JoinInput,
): JoinClass {
  const verified = claims.filter(({ status }) => status === "verified");
  const matches = verified.filter((claim) => isMatch(claim, target, input));
  const matching = matches.length > 0;
  const flags = flagsOf(target, matches, evidence, input);
  const beside = claims.filter((claim) => isElsewhere(claim, target, targets, input));
  const missing = beside.some(
    (claim) => claim.status === "verified" && !(matching && isExcused(claim, evidence, input)),
  );
  const named = verified.filter((claim) => isNamed(claim, target));
  const moved = named.some((claim) => isOwn(claim, target, input) && !isMatch(claim, target, input));
  const isKey = ({ says }: Claim): boolean =>
    target.walletId !== null && says.walletId === null && says.organizationId === input.organizationId;
  const others = named.filter((claim) => !isOwn(claim, target, input) && !isKey(claim));
  const foreign = others.length > 0 && !matching && flags.imported !== true;
  if (missing || moved || foreign || target.isDisputed === true) return "contradicted";
  if (isRefused(target, beside, claims, evidence, input, matching)) return "refused";
  return !matching || flags.isListed === false ? "service" : classByFlags(flags);
}

/** Whether the proof names this wallet and path, and an address that no listed account there has. */
function isElsewhere(claim: Claim, target: Target, targets: readonly Target[], input: JoinInput): boolean {
  if (target.walletId === null || !isOwn(claim, target, input) || claim.says.path !== target.path) return false;
  const there = targets.filter(({ walletId, path }) => walletId === target.walletId && path === target.path);
  return !there.some((other) => isNamed(claim, other));
}

function isRefused(
  target: Target,
  beside: readonly Claim[],
  claims: readonly Claim[],
  evidence: readonly JoinEvidence[],
  input: JoinInput,
  matching: boolean,
): boolean {
  const isBad = ({ status }: { readonly status: string }): boolean => status === "refused";
  const bad = claims.filter((claim) => isBad(claim) && isNamed(claim, target));
  if (matching) return bad.some((claim) => isOwn(claim, target, input));
  const unread = evidence.some(
    ({ activity, proofs }) => isMaker(activity, target) && proofs.some((proof) => isBad(proof) && proof.says === null),
  );
  return bad.length > 0 || beside.some(isBad) || unread;
}

function isMaker(activity: JsonObject, { address, privateKeyId }: Target): boolean {
  if (/EXPORT|DELETE/.test(String(activity["type"]))) return false;
  const texts = textsIn([activity["intent"], activity["result"]]).map((text) => text.toLowerCase());
  return texts.includes(address.toLowerCase()) || (privateKeyId !== null && texts.includes(privateKeyId));
}

function isCompleted({ status }: JsonObject): boolean {
  return /COMPLETED/.test(String(status));
}

interface TargetFlags {
  readonly isListed: boolean;
  /** Whether a flag is not a boolean, and no activity shows what it hides. */
  readonly isUnknown: boolean;
  readonly imported: boolean;
  readonly exported: boolean;
}

/** A place where an exported key is. Without a path, it is the whole wallet; without a curve, that is not known. */
interface KeyPlace {
  readonly walletId: string;
  readonly path: string | null;
  readonly curve: unknown;
}

function isSameAddress(a: unknown, b: unknown): boolean {
  const [one, other] = [String(a), String(b)];
  const isHex = [one, other].every((text) => /^0x[0-9a-f]+$/i.test(text));
  return one === other || (isHex && one.toLowerCase() === other.toLowerCase());
}

function isOfAccount(activity: JsonObject): boolean {
  return /_EXPORT_WALLET_ACCOUNT/.test(String(activity["type"])) && addressesIn(activity).length > 0;
}

function membersOf(activity: JsonObject, ...names: readonly string[]): string[] {
  const objects = objectsIn([activity["intent"], activity["result"]]);
  return objects.flatMap((one) => names.flatMap((name) => textsIn([one[name]])));
}
const idsIn = (activity: JsonObject): string[] =>
  membersOf(activity, "walletId", "walletIds", "privateKeyId", "privateKeyIds");
const walletsIn = (activity: JsonObject): string[] => [...new Set(membersOf(activity, "walletId", "walletIds"))];
const addressesIn = (activity: JsonObject): string[] => {
  const objects = objectsIn([activity["intent"], activity["result"]]);
  return objects.flatMap(({ address, addresses = [] }) => [
    ...(typeof address === "string" ? [address] : []),
    ...(addresses as readonly unknown[]).filter((one) => typeof one === "string"),
  ]);
};

/** The addresses of keys that the activity exported, and not a whole wallet or private key. */
function keysExported(activity: JsonObject): string[] {
  if (!/_EXPORT_/.test(String(activity["type"])) || !isCompleted(activity)) return [];
  return isOfAccount(activity) || idsIn(activity).length === 0 ? addressesIn(activity) : [];
}

/** Where something names the key: lists, activities that make accounts, and proofs of any status. */
function placesOf(address: string, evidence: readonly JoinEvidence[], input: JoinInput): KeyPlace[] {
  const activities = evidence.map(({ activity }) => activity);
  const makers = activities.filter(({ type }) => /_(?:CREATE|IMPORT)_/.test(String(type)));
  const listed = targetsOf(input).filter((one) => isSameAddress(one.address, address));
  const made = makers.flatMap((activity) =>
    accountsMade(activity).filter((one) => isSameAddress(one.address, address)),
  );
  const claimed = claimsOf(evidence)
    .filter(({ says }) => says.organizationId === input.organizationId && isSameAddress(says.address, address))
    .map(({ says }) => ({ ...says, curve: null }));
  const all = [...listed, ...made, ...claimed].filter(
    (one): one is (typeof claimed)[0] & KeyPlace => one.walletId !== null,
  );
  const isAt = (one: KeyPlace, other: KeyPlace): boolean => one.walletId === other.walletId && one.path === other.path;
  const isKnown = (one: KeyPlace): boolean => all.some((other) => isAt(one, other) && other.curve !== null);
  const places = all.filter((one) => one.path !== null && (one.curve !== null || !isKnown(one)));
  if (places.length > 0) return places;
  const naming = activities.filter((activity) => makers.includes(activity) || keysExported(activity).length > 0);
  const wallets = naming
    .filter((activity) => addressesIn(activity).some((one) => isSameAddress(one, address)))
    .flatMap(walletsIn);
  return [...all.map(({ walletId }) => walletId), ...wallets].map((walletId) => ({
    walletId,
    path: null,
    curve: null,
  }));
}

/** The accounts of the intent, each with the address at the same place of the result. */
function accountsMade(activity: JsonObject): (KeyPlace & { readonly address: string })[] {
  const [walletId, ...others] = walletsIn(activity);
  const listsIn = (part: "intent" | "result", name: string): JsonObject[][] =>
    objectsIn([activity[part]]).flatMap((one) => (Array.isArray(one[name]) ? [one[name] as JsonObject[]] : []));
  const [accounts = []] = listsIn("intent", "accounts");
  const [addresses = []] = listsIn("result", "addresses");
  if (walletId === undefined || others.length > 0 || accounts.length !== addresses.length) return [];
  return accounts.map(({ path, curve = null }, index) => {
    return { walletId, path: String(path), curve, address: String(addresses[index]) };
  });
}

/** Whether the key of the address was exported: by its place, whatever its address was there. */
function isExportedPlace(target: Target, evidence: readonly JoinEvidence[], input: JoinInput): boolean {
  return evidence
    .flatMap(({ activity }) => keysExported(activity))
    .flatMap((address) => placesOf(address, evidence, input))
    .some(
      ({ walletId, path, curve }) =>
        walletId === target.walletId && (path === null || (path === target.path && isCurve(curve, target.curve))),
    );
}

function isCurve(a: unknown, b: unknown): boolean {
  return a === null || b === null || a === b;
}

/** Ids of the private keys that have the address, by the activities of the claims; of all their keys if none has. */
function keysOf(address: string, claims: readonly Claim[]): string[] {
  return claims.flatMap(({ of: { activity } }) => {
    const keys = objectsIn([activity["intent"], activity["result"]]).filter((one) => "privateKeyId" in one);
    const having = keys.filter((one) =>
      textsIn([one["addresses"]]).some((text) => text.toLowerCase() === address.toLowerCase()),
    );
    return (having.length > 0 ? having : keys).map((one) => String(one["privateKeyId"]));
  });
}

/** What lists and activities say of the address. The claims are those that match. */
function flagsOf(
  target: Target,
  matches: readonly Claim[],
  evidence: readonly JoinEvidence[],
  input: JoinInput,
): TargetFlags {
  const keys = target.walletId === null ? keysOf(target.address, matches) : [];
  const ids = [target.walletId ?? target.privateKeyId, ...keys].filter((id) => id !== null);
  const items = [...input.wallets, ...input.privateKeys];
  const holdersOf = (some: readonly string[]): JsonObject[] =>
    items.filter((one) => some.some((id) => one["walletId"] === id || one["privateKeyId"] === id));
  const holders = holdersOf(ids.slice(0, ids.length - keys.length));
  const isDone = (verb: RegExp, byAddress: boolean): boolean =>
    evidence.some(({ activity }) => {
      if (!verb.test(String(activity["type"])) || !isCompleted(activity)) return false;
      const texts = textsIn([activity["intent"], activity["result"]]).map((text) => text.toLowerCase());
      const byId = !isOfAccount(activity) && ids.some((id) => texts.includes(id));
      return byId || (byAddress && texts.includes(target.address.toLowerCase()));
    });
  const shown = {
    imported:
      isDone(/_IMPORT_/, false) ||
      (target.walletId === null &&
        matches.some(({ of: { activity } }) => /_IMPORT_/.test(String(activity["type"])) && isCompleted(activity))),
    exported: isDone(/_EXPORT_/, true) || isExportedPlace(target, evidence, input),
  };
  const isTrue = (name: "imported" | "exported"): boolean =>
    shown[name] || holdersOf(ids).some((one) => one[name] === true);
  const isUnknown = (name: "imported" | "exported"): boolean =>
    !isTrue(name) && holders.some((one) => typeof one[name] !== "boolean");
  return {
    isListed: holders.length > 0,
    isUnknown: isUnknown("imported") || isUnknown("exported"),
    imported: isTrue("imported"),
    exported: isTrue("exported"),
  };
}

function missingRows(
  targets: readonly Target[],
  rows: readonly JoinRow[],
  claims: readonly Claim[],
  evidence: readonly JoinEvidence[],
  input: JoinInput,
): JoinRow[] {
  const missing = new Map<string, Claim[]>();
  for (const claim of claims) {
    if (claim.status !== "verified" || claim.says.organizationId !== input.organizationId) continue;
    const isReported = targets.some(
      (target, index) =>
        isMatch(claim, target, input) || (isNamed(claim, target) && rows[index]!.class === "contradicted"),
    );
    const key = JSON.stringify([claim.says.walletId, claim.says.path, claim.says.address]);
    if (!isReported) missing.set(key, [...(missing.get(key) ?? []), claim]);
  }
  return [...missing.values()].map((same) => {
    const { address, walletId, path } = same[0]!.says;
    const target = { address, format: null, curve: null, walletId, path, privateKeyId: null };
    const isGood = same.every((claim) => isExcused(claim, evidence, input));
    const flags = flagsOf(target, same, evidence, input);
    return { ...rowOf(target, isGood ? classByFlags(flags) : "contradicted"), listed: false };
  });
}

function classByFlags({ isUnknown, imported, exported }: TargetFlags): JoinClass {
  if (isUnknown) return "service";
  if (imported) return "imported";
  return exported ? "exported" : "derived";
}

/** Whether there is a reason why no list has the address. */
function isExcused({ says, of }: Claim, evidence: readonly JoinEvidence[], { listedAt }: JoinInput): boolean {
  if (/"persist":false/.test(JSON.stringify(of.activity["intent"])) || says.timestampMs > listedAt) return true;
  const made = keysOf(says.address, [{ says, of, status: "verified" }]);
  return evidence.some(({ activity }) => {
    const [type, ids] = [String(activity["type"]), textsIn([activity["intent"]])];
    if (!isCompleted(activity) || endOf(activity) < says.timestampMs) return false;
    if (says.walletId === null) return /DELETE_PRIVATE_KEYS/.test(type) && ids.some((id) => made.includes(id));
    return /DELETE_WALLET_ACCOUNTS/.test(type) || (/DELETE_WALLETS/.test(type) && ids.includes(says.walletId));
  });
}

/** The last millisecond at which the activity may have been requested. */
function endOf({ timestampMs, createdAt }: JsonObject): number {
  const { seconds, nanos = 0 } = (createdAt ?? {}) as JsonObject;
  const nanoseconds = String(nanos).padStart(9, "0");
  const stated = timestampMs ?? (seconds === undefined ? createdAt : `${String(seconds)}${nanoseconds.slice(0, 3)}`);
  const isDigits = /^[0-9]+$/.test(String(stated));
  const time = isDigits ? Number(stated) : Date.parse(String(stated));
  if (Number.isNaN(time)) return Infinity;
  const ms = isDigits && time < Date.UTC(1974) ? time * 1000 : time;
  return ms % 1000 === 0 ? ms + 999 : ms;
}

function textsIn(values: readonly unknown[]): string[] {
  return values.flatMap((value): string[] => {
    if (typeof value === "string") return [value];
    return typeof value === "object" && value !== null ? textsIn(Object.values(value)) : [];
  });
}

function objectsIn(values: readonly unknown[]): JsonObject[] {
  return values.flatMap((value): JsonObject[] => {
    if (typeof value !== "object" || value === null) return [];
    const inside = objectsIn(Object.values(value));
    return Array.isArray(value) ? inside : [value as JsonObject, ...inside];
  });
}
