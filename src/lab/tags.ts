/** Tags of users. */
import { randomUUID } from "node:crypto";
import { otherMembers } from "../decode/input.js";
import type { JsonObject } from "../decode/json.js";
import type { Organization, UserRecord } from "./records.js";
import { type Call, type Outcome, refuseEmpty } from "./call.js";
import type { Reader } from "./state.js";
import { timestamp } from "./timestamp.js";
import { createdAt, owned, ownedOf, putUser, userOf } from "./users.js";

type Change = (tags: readonly string[]) => string[];

function retag({ tx, now }: Call<unknown>, users: readonly UserRecord[], change: Change): void {
  for (const record of users) putUser(tx, record, { userTags: change(record.user.userTags) }, now);
}

export function createUserTag(call: Call<JsonObject>): Outcome {
  const { tx, organization, parameters, now } = call;
  const [tagId, userIds] = [randomUUID(), parameters["userIds"] as string[]];
  const users = userIds.map((id) => userOf(tx, organization, id));
  const tag = { tagId, tagName: String(parameters["userTagName"]), tagType: "TAG_TYPE_USER" as const };
  tx.put("tags", tagId, { organizationId: organization.organizationId, ...tag, ...createdAt(now) });
  retag(call, users, (tags) => [...tags, tagId]);
  return { result: { userTagId: tagId, userIds } };
}

interface UpdatedTag {
  readonly userTagId: string;
  readonly newUserTagName?: string | undefined;
  readonly addUserIds?: string[] | undefined;
  readonly removeUserIds?: string[] | undefined;
}

/** A user who is both added and removed does not get the tag. */
export function updateUserTag(call: Call<UpdatedTag>): Outcome {
  const { tx, organization, parameters, now } = call;
  const { userTagId, newUserTagName, addUserIds = [], removeUserIds = [] } = parameters;
  const tag = owned(tx.get("tags", userTagId), organization, `user tag ${userTagId}`);
  const users = [...new Set([...addUserIds, ...removeUserIds])].map((id) => userOf(tx, organization, id));
  tx.put("tags", userTagId, { ...tag, tagName: newUserTagName ?? tag.tagName, updatedAt: timestamp(now) });
  for (const record of users) {
    const isRemoved = removeUserIds.includes(record.user.userId);
    retag(call, [record], (tags) => [...tags.filter((id) => id !== userTagId), ...(isRemoved ? [] : [userTagId])]);
  }
  return { intent: { addUserIds, removeUserIds }, result: { userTagId } };
}

export function deleteUserTags(call: Call<JsonObject>): Outcome {
  const { tx, organization, parameters } = call;
  const userTagIds = parameters["userTagIds"] as string[];
  refuseEmpty("userTagIds", userTagIds);
  for (const id of userTagIds) owned(tx.get("tags", id), organization, `user tag ${id}`);
  for (const id of userTagIds) tx.delete("tags", id);
  const isTagged = ({ user }: UserRecord): boolean => user.userTags.some((id) => userTagIds.includes(id));
  const users = ownedOf(tx.all("users"), organization).filter(isTagged);
  retag(call, users, (tags) => tags.filter((id) => !userTagIds.includes(id)));
  return { result: { userTagIds, userIds: users.map(({ user }) => user.userId) } };
}

export function tagsOf(reader: Reader, organization: Organization): JsonObject[] {
  return ownedOf(reader.all("tags"), organization).map((tag) => otherMembers(tag, "organizationId"));
}
