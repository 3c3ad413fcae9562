/** Items of ASN.1, which the package `asn1js` encodes in DER. No public type names a type of that package. */
import {
  type BaseBlock,
  Boolean as Asn1Boolean,
  Constructed,
  GeneralizedTime,
  Integer,
  ObjectIdentifier,
  OctetString,
  Sequence,
  Set as Asn1Set,
  UTCTime,
} from "asn1js";
import { toHex } from "../bytes.js";

export const TRUE = new Asn1Boolean({ value: true });

/** An item of ASN.1, or its DER. */
type Asn1 = BaseBlock | Uint8Array;

/** Encodes an item in DER. */
export function derOf(item: BaseBlock): Uint8Array {
  return new Uint8Array(item.toBER());
}

/** DER is written as it is: reading it takes longer than all the rest of a certificate. */
function asn1(item: Asn1): BaseBlock {
  if (!(item instanceof Uint8Array)) return item;
  const toBER: BaseBlock["toBER"] = (_, writer) => {
    writer!.write(item.slice().buffer);
    return new ArrayBuffer(0);
  };
  return { toBER } as BaseBlock;
}

export function sequence(...items: Asn1[]): Sequence {
  return new Sequence({ value: items.map(asn1) });
}

export function setOf(...items: Asn1[]): Asn1Set {
  return new Asn1Set({ value: items.map(asn1) });
}

/** Returns items in a context-specific tag. */
export function tagged(tagNumber: number, ...items: Asn1[]): Constructed {
  return new Constructed({ idBlock: { tagClass: 3, tagNumber }, value: items.map(asn1) });
}

export function oid(value: string): ObjectIdentifier {
  return new ObjectIdentifier({ value });
}

/** Returns an integer of big-endian bytes, or a number. */
export function integer(value: Uint8Array | number): Integer {
  return Integer.fromBigInt(typeof value === "number" ? value : `0x${toHex(value)}`);
}

export function octets(valueHex: Uint8Array): OctetString {
  return new OctetString({ valueHex });
}

/** Returns a time without fractions of a second: UTCTime until 2049 (RFC 5280 section 4.1.2.5). */
export function time(valueDate: Date): BaseBlock {
  return valueDate.getUTCFullYear() < 2050 ? new UTCTime({ valueDate }) : generalizedTime(valueDate);
}

export function generalizedTime(date: Date): GeneralizedTime {
  return new GeneralizedTime({ valueDate: new Date(Math.floor(date.getTime() / 1000) * 1000) });
}
