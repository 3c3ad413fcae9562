/** Reads the folder of `addresses --out` again, for `--from`. Nothing in it is trusted. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { decodeBundle, isBundle } from "../bundle/file.js";
import { fromHex } from "../bytes.js";
import type { ActivityPiece, AddressPiece } from "../door/addresses.js";
import { unwrap } from "../decode/input.js";
import { QOS_PUBLIC_KEY_LENGTH } from "../decode/lengths.js";
import { type JsonValue, isJsonObject, parseJson } from "../decode/json.js";
import { count, flag, list, nonEmptyText, nullable, object, oneOf, optional, readShape } from "../decode/shapes.js";
import type { ReadOf } from "../decode/shapes.js";
import { attempt, faultText } from "../errors.js";
import { type Evidence, evidenceMembers } from "../inputs.js";
import { printable } from "../report/printable.js";
import { reasonOf } from "./files.js";
import { UnreachableError, UsageError } from "./io.js";

const QUESTION = object({
  organizationId: nonEmptyText,
  suborgs: flag,
  walletId: nullable(nonEmptyText),
  addresses: list(nonEmptyText),
  privateKeys: flag,
  allActivities: optional(flag),
});
/** What a command line asks about. */
export type AddressQuestion = ReadOf<typeof QUESTION>;

const LIST = object({
  operation: oneOf("list_wallets", "list_wallet_accounts", "list_private_keys"),
  at: count,
  sha256: nonEmptyText,
});
const INDEX = object({
  format: oneOf("bootproof-address-folder/1"),
  complete: flag,
  question: QUESTION,
  parentOrganizationId: nullable(nonEmptyText),
  organizations: list(
    object({
      organizationId: nonEmptyText,
      lists: list(LIST),
      activities: list(object({ activityId: nonEmptyText, sha256: nonEmptyText })),
    }),
  ),
});
export type FolderIndex = ReadOf<typeof INDEX>;

export const INDEX_NAME = "index.json";
const MOST_BYTES = 64 * 1024 * 1024;
/** An index has three values for each activity, and more activities than any other JSON has items. */
const MOST_INDEX_VALUES = 2_000_000;

/** Ids come from the service. One that a file system could take for another name is hashed. */
export function idFileName(id: string): string {
  return /^[a-z0-9-]{1,64}$/.test(id) ? id : hexDigest(id);
}

export function idFilePath(folder: string, organizationId: string, name: string): string {
  return join(folder, idFileName(organizationId), `${name}.json`);
}

/** Lists have names that no id becomes. */
export function listName(position: number): string {
  return `list_${position + 1}`;
}

export function hexDigest(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** No proof counts by a boot proof of this key, so one that states no key refuses what names it. */
const NO_KEY = "00".repeat(QOS_PUBLIC_KEY_LENGTH);

export function activityPiece(bytes: Uint8Array, activityId: string, organizationId: string): ActivityPiece {
  const json = parseJson(bytes);
  const evidence: Evidence = isBundle(json) ? decodeBundle(json).evidence : { bootProofs: [] };
  const { bootProofs, activity = unwrap(json, "activity") } = evidenceMembers(evidence);
  const keyed = (bootProofs as readonly JsonValue[]).map((bootProof) => {
    const stated = isJsonObject(bootProof) ? bootProof["ephemeralPublicKeyHex"] : null;
    const key = typeof stated === "string" ? stated : "";
    return { key: fromHex(key)?.length === QOS_PUBLIC_KEY_LENGTH ? key : NO_KEY, bootProof };
  });
  return { kind: "activity", activityId, organizationId, activity: activity as JsonValue, bootProofs: keyed };
}

/** Yields the pieces of a complete folder. Throws {@link UnreachableError} for any other. */
export function* piecesIn(path: string, question: AddressQuestion): Generator<AddressPiece> {
  const { complete, question: made, parentOrganizationId, organizations } = readFolderIndex(path);
  if (made.organizationId !== question.organizationId)
    throw folderFault(
      path,
      `the folder is of organization ${made.organizationId}, expected ${question.organizationId}`,
    );
  if (!complete) throw missing(path, "the folder is not complete: the command that made it goes on where it ended");
  if (!answers(made, question)) throw missing(path, `the folder was made for less: ${JSON.stringify(made)}`);
  const asked = organizations.filter((one) => question.suborgs || one.organizationId === question.organizationId);
  refuseParts(path, made, asked);
  yield { kind: "start", organizationIds: asked.map(({ organizationId }) => organizationId), parentOrganizationId };
  for (const { organizationId, lists, activities } of asked) {
    for (const [position, { operation, at, sha256: digest }] of lists.entries()) {
      const file = idFilePath(path, organizationId, listName(position));
      const answer = decoded(file, digest, parseJson);
      yield { kind: "list", organizationId, operation, at, answer };
    }
    for (const { activityId, sha256: digest } of activities) {
      const file = idFilePath(path, organizationId, idFileName(activityId));
      yield decoded(file, digest, (bytes) => activityPiece(bytes, activityId, organizationId));
    }
    yield { kind: "end", organizationId };
  }
}

/** Throws {@link UnreachableError} for an index that is not as a complete collection leaves it. */
function refuseParts(path: string, made: AddressQuestion, asked: FolderIndex["organizations"]): void {
  const ids = asked.map(({ organizationId }) => organizationId);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw missing(path, `its ${INDEX_NAME} has organization ${twice} twice`);
  if (!ids.includes(made.organizationId))
    throw missing(path, `its ${INDEX_NAME} lacks organization ${made.organizationId}`);
  const hasKeys = made.privateKeys && made.walletId === null;
  const operations = ["list_wallets", "list_wallet_accounts", ...(hasKeys ? ["list_private_keys"] : [])];
  for (const { organizationId, lists } of asked)
    for (const operation of operations)
      if (!lists.some((list) => list.operation === operation))
        throw missing(path, `its ${INDEX_NAME} lacks ${operation} of organization ${organizationId}`);
}

/** Whether a folder of one question answers another. One that was made for a part answers for this part alone. */
function answers(made: AddressQuestion, asked: AddressQuestion): boolean {
  const isWhole = made.walletId === null && made.addresses.length === 0 && made.privateKeys;
  const { suborgs, allActivities } = asked;
  const isSame = JSON.stringify({ ...made, suborgs, allActivities }) === JSON.stringify({ ...asked, allActivities });
  const isEnough = (made.suborgs || !suborgs) && (made.allActivities === true || allActivities !== true);
  return isEnough && (isWhole || isSame);
}

export function readFolderIndex(path: string): FolderIndex {
  const file = join(path, INDEX_NAME);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw folderFault(path, "not a folder: expected one of bootproof addresses --out");
  if (!existsSync(file))
    throw missing(path, `no ${INDEX_NAME} in it: expected a folder that bootproof addresses --out completed`);
  const parse = (bytes: Uint8Array): JsonValue => parseJson(bytes, { maxValues: MOST_INDEX_VALUES });
  const read = readShape(INDEX, decoded(file, null, parse));
  if (read.value === undefined) throw missing(file, faultText(read.faults));
  return read.value;
}

/** Reads a file of the folder. `digest` is that of the index, or null. Throws {@link UnreachableError}. */
function decoded<T>(file: string, digest: string | null, decode: (bytes: Uint8Array) => T): T {
  const bytes = bytesOf(file);
  if (digest !== null && hexDigest(bytes) !== digest)
    throw missing(file, "not as it was written: its SHA-256 is another");
  const read = attempt(() => decode(bytes));
  if (read.value === undefined) throw missing(file, faultText(read.faults));
  return read.value;
}

/** Throws {@link UnreachableError}. */
function bytesOf(file: string): Uint8Array {
  try {
    const stat = statSync(file);
    if (!stat.isFile()) throw missing(file, "not a regular file");
    if (stat.size > MOST_BYTES) throw missing(file, `${stat.size} bytes, expected at most ${MOST_BYTES}`);
    return readFileSync(file);
  } catch (error) {
    throw error instanceof UnreachableError ? error : missing(file, reasonOf(error));
  }
}

export function folderFault(path: string, message: string): UsageError {
  return new UsageError([{ file: printable(path), message: printable(message) }]);
}

/** What a folder lacks has no class, as what was not fetched. */
function missing(path: string, message: string): UnreachableError {
  return new UnreachableError([{ file: printable(path), message: printable(message) }]);
}
