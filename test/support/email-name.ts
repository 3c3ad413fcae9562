/** The subject alternative name of a person in a certificate. */
import { toUtf8 } from "../../src/bytes.js";
import type { ExtensionSpec } from "../../src/lab/pki.js";
import { uriName } from "../../src/lab/sigstore.js";
import { der, derSequence } from "./der.js";

/** An rfc822Name (RFC 5280 section 4.2.1.6) in the place of the lab's URI. */
export function emailName(text: string): ExtensionSpec {
  return { ...uriName(""), value: derSequence(der(0x81, toUtf8(text))) };
}
