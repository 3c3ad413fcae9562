/** Attestation documents: the COSE_Sign1 and its payload. */
import { toHex } from "../bytes.js";
import { DOCUMENT_KEYS, readAttestationDocument } from "../decode/attestation-document.js";
import { type CborValue, decodeCbor } from "../decode/cbor.js";
import { COSE_SIGN1_TAG, decodeCoseSign1 } from "../decode/cose-sign1.js";
import { attempt } from "../errors.js";
import { algorithmFaults } from "../verify/attestation.js";
import { type DescribedObject, type Inspected, UNREADABLE, inspectedAs, unshown } from "./described.js";
import { shownObject, treeOf } from "./shown.js";

export async function inspectDocument(bytes: Uint8Array): Promise<Inspected> {
  const cose = attempt(() => decodeCoseSign1(bytes));
  if (cose.value === undefined) return inspectedAs(cose.faults, null);
  const { protectedHeader, unprotectedIsEmpty, payload, signature } = cose.value;
  const { value, faults, unknownKeys } = readAttestationDocument(payload);
  const { moduleId, digest, timestamp, pcrs, certificate, cabundle = [], ...others } = value;
  const says = await shownObject({
    moduleId,
    time: timestamp && new Date(timestamp),
    digest,
    pcrs: pcrs && Object.fromEntries(pcrs),
    ...others,
    certificates: certificate ? [...cabundle, certificate] : cabundle,
    protectedHeader,
    // The decoded COSE_Sign1 only says whether this header is empty, so it is decoded again.
    unprotectedHeader: unprotectedIsEmpty ? undefined : (decodeCbor(bytes, TAGGED) as CborValue[])[1],
    signature,
  });
  const map = attempt(() => decodeCbor(payload, { indefiniteOutermostMap: true })).value;
  const rest: DescribedObject =
    map instanceof Map ? unshown(treeOf(map), { value, faults, members: MEMBERS }) : { [UNREADABLE]: toHex(payload) };
  const header = algorithmFaults(cose.value).map((message) => ({ path: "", message }));
  const unknown = unknownKeys.map((key) => ({ path: "", message: `unknown key ${JSON.stringify(key)}` }));
  return inspectedAs([...header, ...faults, ...unknown], { ...says, ...rest });
}

const inCamelCase = (key: string): string => key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
const MEMBERS = Object.fromEntries(DOCUMENT_KEYS.map((key) => [key, inCamelCase(key)]));
const TAGGED = { outermostTag: COSE_SIGN1_TAG } as const;
