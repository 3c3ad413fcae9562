/** The folder of `addresses --out`, which gets what comes. */
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { packEvidence } from "../bundle/pack.js";
import type { ActivityPiece, AddressPiece } from "../door/addresses.js";
import { type JsonValue, isJsonObject } from "../decode/json.js";
import { replaceWhole } from "../disk/whole.js";
import { attempt } from "../errors.js";
import { jsonDocument } from "../report/json.js";
import { reasonOf } from "./files.js";
import {
  type AddressQuestion,
  INDEX_NAME,
  type FolderIndex,
  activityPiece,
  folderFault,
  listName,
  idFileName,
  idFilePath,
  readFolderIndex,
  hexDigest,
} from "./addresses-from.js";

/** Keeps pieces as they come. The index says at the end that the folder is complete. */
export class AddressFolder {
  readonly #path: string;
  readonly #question: AddressQuestion;
  #parentOrganizationId: string | null = null;
  readonly #organizations = new Map<string, FolderIndex["organizations"][number]>();

  /** Opens a folder that is new, empty, or that the same command left before its end. Throws {@link UsageError}. */
  constructor(path: string, question: AddressQuestion) {
    this.#path = path;
    this.#question = question;
    makeFolder(path);
    const index = existsSync(join(path, INDEX_NAME)) ? readFolderIndex(path) : null;
    if (index === null && inFolder(path, () => readdirSync(path)).length > 0)
      throw folderFault(path, "the folder is not empty, and bootproof addresses did not make it");
    if (index?.complete === true)
      throw folderFault(path, "the folder is complete: --from reads it, and --out needs another");
    if (index !== null && JSON.stringify(index.question) !== JSON.stringify(question))
      throw folderFault(path, `the folder is of another question: ${JSON.stringify(index.question)}`);
  }

  /** Returns what an earlier run kept of an activity, or null. It is verified like what is fetched. */
  known(activityId: string, organizationId: string): ActivityPiece | null {
    const path = idFilePath(this.#path, organizationId, idFileName(activityId));
    if (!existsSync(path)) return null;
    return attempt(() => activityPiece(readFileSync(path), activityId, organizationId)).value ?? null;
  }

  async put(piece: AddressPiece): Promise<void> {
    if (piece.kind === "start") return this.#start(piece);
    if (piece.kind === "end") return;
    const { lists, activities } = this.#organizations.get(piece.organizationId)!;
    if (piece.kind === "list") {
      const { operation, at, answer } = piece;
      const digest = await this.#write(piece.organizationId, listName(lists.length), answer);
      lists.push({ operation, at, sha256: digest });
    } else {
      const { activityId, organizationId } = piece;
      const digest = await this.#write(organizationId, idFileName(activityId), contentOf(piece));
      activities.push({ activityId, sha256: digest });
    }
  }

  async #start({ organizationIds, parentOrganizationId }: AddressPiece & { readonly kind: "start" }): Promise<void> {
    this.#parentOrganizationId = parentOrganizationId;
    for (const organizationId of organizationIds) {
      this.#organizations.set(organizationId, { organizationId, lists: [], activities: [] });
      makeFolder(join(this.#path, idFileName(organizationId)));
    }
    await this.#writeIndex(false);
  }

  /** Says that everything came. */
  async end(): Promise<void> {
    await this.#writeIndex(true);
  }

  async #writeIndex(complete: boolean): Promise<void> {
    const index: FolderIndex = {
      format: "bootproof-address-folder/1",
      complete,
      question: this.#question,
      parentOrganizationId: this.#parentOrganizationId,
      organizations: [...this.#organizations.values()],
    };
    await this.#replace(join(this.#path, INDEX_NAME), jsonDocument(index));
  }

  async #write(organizationId: string, name: string, content: unknown): Promise<string> {
    const text = jsonDocument(content as object);
    await this.#replace(idFilePath(this.#path, organizationId, name), text);
    return hexDigest(text);
  }

  async #replace(path: string, text: string): Promise<void> {
    await replaceWhole(path, text, { mode: 0o600 }).catch(notWritten(this.#path));
  }
}

/** Returns a bundle. An activity without boot proofs is alone, since a bundle has at least one. */
function contentOf({ activity: given, bootProofs }: ActivityPiece): object {
  const activity = withoutSeeds(given);
  if (bootProofs.length === 0) return { activity };
  return packEvidence({ bootProofs: bootProofs.map(({ bootProof }) => bootProof), activity });
}

/** Leaves out what an export hands over: who has the target key reads a seed in it. Nothing is proven by it. */
function withoutSeeds(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutSeeds);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([name]) => name !== "exportBundle");
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutSeeds(member)]));
}

function inFolder<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    return notWritten(path)(error);
  }
}

/** Makes the last folder only: Node 20 never returns from `recursive` in /proc, and a mistyped path shows. */
function makeFolder(path: string): void {
  const found = inFolder(path, () => statSync(path, { throwIfNoEntry: false }));
  if (found === undefined) inFolder(path, () => mkdirSync(path, { mode: 0o700 }));
  else if (!found.isDirectory()) throw folderFault(path, "is a file, and --out takes a folder");
}

function notWritten(path: string): (error: unknown) => never {
  return (error) => {
    throw folderFault(path, `not written: ${reasonOf(error)}`);
  };
}
