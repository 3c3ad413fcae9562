/** Decoding of an approval file of a release, in JSON or Borsh: `{signature, member: {alias, pubKey}}`. */
import { FaultList, MalformedError } from "../../errors.js";
import { readBorsh } from "../borsh.js";
import { parseJson } from "../json.js";
import { placeOf } from "../shapes.js";
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
  const faults = new FaultList();
  const value = approval.json.read(parseJson(bytes), placeOf(faults));
  if (faults.length > 0) throw new MalformedError("approval", faults);
  return value;
}

function readBytes(bytes: Uint8Array): Approval {
  const { value, fault } = readBorsh(bytes, (reader) => approval.read(reader, ""));
  if (value === undefined) throw new MalformedError("approval", [fault]);
  return value;
}
