#!/bin/sh
# sigstore-specs-proto-field-names: fromJSON() of @sigstore/protobuf-specs reads a trusted root or a bundle whose
# members have the names of the .proto files as an empty one, without an error: no authorities, no logs, no media type.
#
# Packages: @sigstore/protobuf-specs 0.5.2; beside it @sigstore/bundle 4.0.0, which refuses such a bundle as invalid.
# Expected: a parser of ProtoJSON accepts both spellings of a field's name, `mediaType` and `media_type`, as the
# description of the format demands, and writers may choose (preserving_proto_field_name of Python, UseProtoNames of
# Go).
# Cause: the code that was generated reads the first spelling only, and takes what it does not know for absent.
# Who meets it: who keeps a trusted root or a bundle that a tool in another language wrote, and reads it by these types:
# it verifies nothing, or says of a genuine bundle that nothing signed it.
# Here: a trusted root of one authority and one log, and a bundle of one certificate, with values that are not read, in
# both spellings.
# Seen:
#   root, mediaType: media type "application/vnd.dev.", 1 authorities, log "https://log.example"
#   bundle, mediaType: certificate, messageSignature
#   bundle, mediaType: @sigstore/bundle reads it
#   root, media_type: media type "", 0 authorities, log ""
#   bundle, media_type: no material, no signature
#   bundle, media_type: @sigstore/bundle says invalid bundle
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @sigstore/protobuf-specs@0.5.2 \
  @sigstore/bundle@4.0.0 || exit 77
cat > run.mjs <<'END'
import { bundleFromJSON } from "@sigstore/bundle";
import { Bundle, TrustedRoot } from "@sigstore/protobuf-specs";

const bytes = Buffer.from("bytes").toString("base64");
const ROOT = {
  mediaType: "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
  tlogs: [{ baseUrl: "https://log.example", hashAlgorithm: "SHA2_256", logId: { keyId: bytes } }],
  certificateAuthorities: [{ uri: "https://ca.example", certChain: { certificates: [{ rawBytes: bytes }] } }],
};
const BUNDLE = {
  mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json",
  verificationMaterial: { certificate: { rawBytes: bytes }, tlogEntries: [] },
  messageSignature: { messageDigest: { algorithm: "SHA2_256", digest: bytes }, signature: bytes },
};
const protoName = (name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
function byProtoNames(value) {
  if (Array.isArray(value)) return value.map(byProtoNames);
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [protoName(name), byProtoNames(member)]));
}
for (const [spelling, spelled] of Object.entries({ mediaType: (value) => value, media_type: byProtoNames })) {
  const root = TrustedRoot.fromJSON(spelled(ROOT));
  const of = `${root.certificateAuthorities.length} authorities, log "${root.tlogs[0].baseUrl}"`;
  console.log(`root, ${spelling}: media type ${JSON.stringify(root.mediaType.slice(0, 20))}, ${of}`);
  const bundle = Bundle.fromJSON(spelled(BUNDLE));
  const material = bundle.verificationMaterial?.content?.$case ?? "no material";
  console.log(`bundle, ${spelling}: ${material}, ${bundle.content?.$case ?? "no signature"}`);
  try {
    bundleFromJSON(spelled(BUNDLE));
    console.log(`bundle, ${spelling}: @sigstore/bundle reads it`);
  } catch (error) {
    console.log(`bundle, ${spelling}: @sigstore/bundle says ${error.message}`);
  }
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
root, mediaType: media type "application/vnd.dev.", 1 authorities, log "https://log.example"
bundle, mediaType: certificate, messageSignature
bundle, mediaType: @sigstore/bundle reads it
root, media_type: media type "", 0 authorities, log ""
bundle, media_type: no material, no signature
bundle, media_type: @sigstore/bundle says invalid bundle
END
cmp seen expected
