#!/bin/sh
# oids-read-as-other-oids: libraries of ASN.1 read 2.999.3 as 26.39.3 or 3.16.55.3, neither of which can exist, and an
# identifier made of a UUID as one with another part. What one of them writes for both, others read as a third one.
#
# Packages: asn1.js 5.4.1, @ldapjs/asn1 2.0.0, @fidm/asn1 1.0.4, asn1-ts 11.1.0, jsrsasign 11.1.5, node-forge 1.4.3;
# beside them @lapo/asn1js 2.1.3, and asn1js 4.0.0 as the writer.
# Expected: the identifier, or an error for a part that is too large. Under 2 the second part may be any number, and the
# first byte is no longer both parts (X.690, 8.19.4); of 2.25, the next part is a UUID of 128 bits (X.667).
# Cause: both parts come from one byte by division by 40, also above 119; and parts are put together by shifts, which
# have 32 bits, or in a float.
# Who meets it: whose policies, extensions or attributes have identifiers below 2.999, which is for examples and tests,
# 2.49 (alerts), or 2.25, which needs no registration. A list of allowed identifiers finds nothing, or another one.
# Here: five identifiers, read from the DER of another library, and written by those that write.
# Seen:
#   2.23.133.8.3: right (@lapo/asn1js, asn1.js, @ldapjs/asn1, @fidm/asn1, asn1-ts, jsrsasign, node-forge)
#   2.49.0: right (@lapo/asn1js, asn1-ts, node-forge)
#   2.49.0: 3.9.0 (asn1.js, @ldapjs/asn1)
#   2.49.0: 3.9.1.0 (@fidm/asn1, jsrsasign)
#   2.999.3: right (@lapo/asn1js, asn1-ts, node-forge)
#   2.999.3: 26.39.3 (asn1.js, @ldapjs/asn1)
#   2.999.3: 3.16.55.3 (@fidm/asn1, jsrsasign)
#   1.3.6.1.4.1.2147483648: right (@lapo/asn1js, jsrsasign, node-forge)
#   1.3.6.1.4.1.2147483648: 1.3.6.1.4.1.-2147483648 (asn1.js, @ldapjs/asn1, @fidm/asn1, asn1-ts)
#   2.25.170141183460469231731687303715884105729: right (@lapo/asn1js)
#   2.25.170141183460469231731687303715884105729: 2.25.1 (asn1.js, @ldapjs/asn1, @fidm/asn1)
#   2.25.170141183460469231731687303715884105729: refused (asn1-ts, node-forge)
#   2.25.170141183460469231731687303715884105729: 2.25.1.7014118346046923e+38 (jsrsasign)
#   @fidm/asn1 writes 2.999.3 as 1.15.3
#   @fidm/asn1 writes 2.25.170141183460469231731687303715884105729 as 2.25.0
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact asn1.js@5.4.1 @ldapjs/asn1@2.0.0 \
  @fidm/asn1@1.0.4 asn1-ts@11.1.0 jsrsasign@11.1.5 node-forge@1.4.3 @lapo/asn1js@2.1.3 asn1js@4.0.0 || exit 77
cat > run.mjs <<'END'
import fidm from "@fidm/asn1";
import { ASN1 as lapo } from "@lapo/asn1js";
import ldapjs from "@ldapjs/asn1";
import { DERElement } from "asn1-ts";
import indutny from "asn1.js";
import { ObjectIdentifier } from "asn1js";
import jsrsasign from "jsrsasign";
import forge from "node-forge";

const Schema = indutny.define("Oid", function define() {
  this.objid();
});
const READERS = {
  "@lapo/asn1js": (der) => lapo.decode(der).content().split("\n")[0],
  "asn1.js": (der) => Schema.decode(der, "der").join("."),
  "@ldapjs/asn1": (der) => new ldapjs.BerReader(der).readOID(),
  "@fidm/asn1": (der) => fidm.ASN1.fromDER(der).value,
  "asn1-ts": (der) => {
    const element = new DERElement();
    element.fromBytes(der);
    return element.objectIdentifier.toString();
  },
  jsrsasign: (der) => jsrsasign.ASN1HEX.hextooidstr(der.subarray(2).toString("hex")),
  "node-forge": (der) => forge.asn1.derToOid(der.subarray(2).toString("latin1")),
};
const OIDS = ["2.23.133.8.3", "2.49.0", "2.999.3", "1.3.6.1.4.1.2147483648", `2.25.${(1n << 127n) + 1n}`];
function answer(read, der) {
  try {
    return read(der);
  } catch {
    return "refused";
  }
}
for (const oid of OIDS) {
  const der = Buffer.from(new ObjectIdentifier({ value: oid }).toBER());
  const byAnswer = {};
  for (const [of, read] of Object.entries(READERS)) (byAnswer[answer(read, der)] ??= []).push(of);
  for (const [text, of] of Object.entries(byAnswer))
    console.log(`${oid}: ${text === oid ? "right" : text} (${of.join(", ")})`);
}
for (const oid of ["2.999.3", OIDS.at(-1)])
  console.log(`@fidm/asn1 writes ${oid} as ${lapo.decode(fidm.ASN1.OID(oid).toDER()).content().split("\n")[0]}`);
END
node run.mjs > seen
cat seen
cat > expected <<'END'
2.23.133.8.3: right (@lapo/asn1js, asn1.js, @ldapjs/asn1, @fidm/asn1, asn1-ts, jsrsasign, node-forge)
2.49.0: right (@lapo/asn1js, asn1-ts, node-forge)
2.49.0: 3.9.0 (asn1.js, @ldapjs/asn1)
2.49.0: 3.9.1.0 (@fidm/asn1, jsrsasign)
2.999.3: right (@lapo/asn1js, asn1-ts, node-forge)
2.999.3: 26.39.3 (asn1.js, @ldapjs/asn1)
2.999.3: 3.16.55.3 (@fidm/asn1, jsrsasign)
1.3.6.1.4.1.2147483648: right (@lapo/asn1js, jsrsasign, node-forge)
1.3.6.1.4.1.2147483648: 1.3.6.1.4.1.-2147483648 (asn1.js, @ldapjs/asn1, @fidm/asn1, asn1-ts)
2.25.170141183460469231731687303715884105729: right (@lapo/asn1js)
2.25.170141183460469231731687303715884105729: 2.25.1 (asn1.js, @ldapjs/asn1, @fidm/asn1)
2.25.170141183460469231731687303715884105729: refused (asn1-ts, node-forge)
2.25.170141183460469231731687303715884105729: 2.25.1.7014118346046923e+38 (jsrsasign)
@fidm/asn1 writes 2.999.3 as 1.15.3
@fidm/asn1 writes 2.25.170141183460469231731687303715884105729 as 2.25.0
END
cmp seen expected
