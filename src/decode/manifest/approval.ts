/** Decoding of an approval file of a release, in JSON or Borsh: `{signature, member: {alias, pubKey}}`. */
import { MalformedError } from "../../errors.js";
import { readBorsh } from "../borsh.js";
import { MemberReader } from "../json-members.js";
import { parseJson } from "../json.js";
import { approval } from "./fields.js";
import type { Approval } from "./model.js";

/** Decodes an approval. Throws {@link MalformedError} (`approval`, or `json`) with every fault. */
export function decodeApproval(bytes: Uint8Array): Approval {
  return isJson(bytes) ? readJson(bytes) : readBytes(bytes);
}

/** Whether the bytes are JSON. Borsh begins with the length of the signature, 64, as the bytes 40 00 00 00. */
function isJson(bytes: Uint8Array): boolean {
  const first = bytes.find((byte) => byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09);
  return first === 0x7b && !bytes.subarray(0, 4).includes(0);
}

function readJson(bytes: Uint8Array): Approval {
  const reader = MemberReader.of(parseJson(bytes), "", []);
  const value = reader && approval.members(reader);
  if (reader === undefined || value === undefined || reader.faults.length > 0)
    throw new MalformedError("approval", reader?.faults ?? [{ path: "", message: "expected an object" }]);
  return value;
}

function readBytes(bytes: Uint8Array): Approval {
  const { value, fault } = readBorsh(bytes, (reader) => approval.read(reader, ""));
  if (value === undefined) throw new MalformedError("approval", [fault]);
  return value;
}
