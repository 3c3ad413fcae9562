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
}

export function joinedByRules(input: JoinInput): JoinRow[] {
  const evidence = input.evidence.filter(
    ({ activity }) => activity["organizationId"] === input.organizationId || isParents(activity, input),
  );
  const claims = evidence.flatMap((of) =>
    of.proofs.flatMap(({ says, status }): Claim[] => (says === null ? [] : [{ says, status, of }])),
  );
  const targets = targetsOf(input);
  const rows = targets.map((target) => rowOf(target, classOf(target, targets, claims, evidence, input)));
  return [...rows, ...missingRows(targets, rows, claims, evidence, input)];
}

function isParents(activity: JsonObject, { parentOrganizationId, organizationId }: JoinInput): boolean {
  const isOfParent = activity["organizationId"] === parentOrganizationId;
  return isOfParent && JSON.stringify(activity["result"]).includes(`"subOrganizationId":"${organizationId}"`);
}

function targetsOf({ accounts, privateKeys }: JoinInput): Target[] {
  const ofAccount = (one: JsonObject): Target => ({
    address: String(one["address"]),
    format: one["addressFormat"],
    curve: one["curve"],
    walletId: String(one["walletId"]),
    privateKeyId: null,
    path: String(one["path"]),
  });
  return [
    ...accounts.map(ofAccount),
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
  if (missing || moved || foreign) return "contradicted";
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

/** Whether another address of the same key was exported: one of the same wallet, path and curve. */
function isExportedPlace(target: Target, evidence: readonly JoinEvidence[], input: JoinInput): boolean {
  if (target.walletId === null) return false;
  const exported = evidence.flatMap(({ activity }) =>
    /_EXPORT_/.test(String(activity["type"])) && isCompleted(activity)
      ? textsIn([activity["intent"], activity["result"]])
      : [],
  );
  const isExported = (address: string): boolean =>
    exported.some((text) => text === address || (/^0x/i.test(text) && text.toLowerCase() === address.toLowerCase()));
  const isThere = (one: { readonly walletId: string | null; readonly path: string | null }): boolean =>
    one.walletId === target.walletId && one.path === target.path;
  const listed = targetsOf(input).filter((one) => isThere(one) && isExported(one.address));
  if (listed.some(({ curve }) => target.curve === null || curve === target.curve)) return true;
  const isProven = evidence.some(({ proofs }) =>
    proofs.some(
      ({ status, says }) =>
        status === "verified" &&
        says?.organizationId === input.organizationId &&
        isThere(says) &&
        isExported(says.address),
    ),
  );
  return listed.length === 0 && isProven;
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
      return ids.some((id) => texts.includes(id)) || (byAddress && texts.includes(target.address.toLowerCase()));
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
