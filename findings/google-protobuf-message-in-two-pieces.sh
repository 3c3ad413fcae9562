#!/bin/sh
# google-protobuf-message-in-two-pieces: where a message has an embedded message twice, google-protobuf keeps the last
# one alone, and the members of the first are lost. Other packages merge both, as the format demands.
#
# Packages: google-protobuf 4.0.3; beside it @bufbuild/protobuf 2.17.0, protobufjs 8.8.1.
# Expected: the members of both (Encoding, "Last One Wins", of protobuf.dev): the concatenation of two messages is the
# message of both merged. For scalars the last one counts, and lists are joined, which google-protobuf does.
# Cause: the code that is generated reads each occurrence into a new message, and sets that.
# Who meets it: who appends to a message by writing more bytes behind it, as patches, logs and proxies do that add a
# member without reading the rest, and reads the whole in a browser or in Node.
# Here: an Option of Google's own types, whose value, an Any, is written in one piece and in two; and two Options of
# which each has a half, joined.
# Seen:
#   one piece: google-protobuf ["name","type","07"], the others ["name","type","07"]
#   two pieces: google-protobuf ["name","","07"], the others ["name","type","07"]
#   two messages, joined: google-protobuf ["other","","07"], the others ["other","type","07"]
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact google-protobuf@4.0.3 \
  @bufbuild/protobuf@2.17.0 protobufjs@8.8.1 || exit 77
cat > run.mjs <<'END'
import { fromBinary } from "@bufbuild/protobuf";
import { OptionSchema } from "@bufbuild/protobuf/wkt";
import types from "google-protobuf/google/protobuf/type_pb.js";
import protobufjs from "protobufjs";

const field = (number, bytes) => Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), Buffer.from(bytes)]);
const [type, value] = [field(1, Buffer.from("type")), field(2, [7])];
const name = field(1, Buffer.from("name"));
const MESSAGES = {
  "one piece": Buffer.concat([name, field(2, Buffer.concat([type, value]))]),
  "two pieces": Buffer.concat([name, field(2, type), field(2, value)]),
  "two messages, joined": Buffer.concat([name, field(2, type), field(1, Buffer.from("other")), field(2, value)]),
};
const { root } = protobufjs.parse(`syntax = "proto3";
  message Any { string type_url = 1; bytes value = 2; }
  message Option { string name = 1; Any value = 2; }`);
const hex = (bytes) => Buffer.from(bytes).toString("hex");
const READERS = {
  "google-protobuf": (bytes) => {
    const option = types.Option.deserializeBinary(bytes);
    return [option.getName(), option.getValue().getTypeUrl(), hex(option.getValue().getValue_asU8())];
  },
  "@bufbuild/protobuf": (bytes) => {
    const option = fromBinary(OptionSchema, bytes);
    return [option.name, option.value.typeUrl, hex(option.value.value)];
  },
  protobufjs: (bytes) => {
    const option = root.lookupType("Option").decode(bytes);
    return [option.name, option.value.typeUrl, hex(option.value.value)];
  },
};
for (const [form, bytes] of Object.entries(MESSAGES)) {
  const [own, ...others] = Object.values(READERS).map((read) => JSON.stringify(read(new Uint8Array(bytes))));
  console.log(`${form}: google-protobuf ${own}, the others ${[...new Set(others)].join(" or ")}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
one piece: google-protobuf ["name","type","07"], the others ["name","type","07"]
two pieces: google-protobuf ["name","","07"], the others ["name","type","07"]
two messages, joined: google-protobuf ["other","","07"], the others ["other","type","07"]
END
cmp seen expected
