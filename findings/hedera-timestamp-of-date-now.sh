#!/bin/sh
# hedera-timestamp-of-date-now: Timestamp.fromDate of @hashgraph/sdk takes a number for nanoseconds: of Date.now() it
# makes half an hour after the start of 1970. The same time as a Date or as a text is right.
#
# Packages: @hashgraph/sdk 2.81.0.
# Expected: a number that stands for a date is what Date.now() and getTime() return, milliseconds, as in new
# Date(number); the method is named for a date, and takes Date, number and string.
# Who meets it: who sets the expiration time of a file, a topic, a token or a scheduled transaction, or the start of a
# transaction's id, from a number. Each is over before it is sent.
# Here: one time in each form that the types allow.
# Seen:
#   Date: 2026-11-30T12:00:00.250Z, id 0.0.5@1796040000.250000000
#   text of ISO 8601: 2026-11-30T12:00:00.250Z, id 0.0.5@1796040000.250000000
#   number of milliseconds: 1970-01-01T00:29:56.040Z, id 0.0.5@1796.040000250
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @hashgraph/sdk@2.81.0 || exit 77
cat > run.mjs <<'END'
import { AccountId, Timestamp, TransactionId } from "@hashgraph/sdk";

const date = new Date("2026-11-30T12:00:00.250Z");
const FORMS = {
  Date: date,
  "text of ISO 8601": date.toISOString(),
  "number of milliseconds": date.getTime(),
};
for (const [form, value] of Object.entries(FORMS)) {
  const timestamp = Timestamp.fromDate(value);
  const id = TransactionId.withValidStart(AccountId.fromString("0.0.5"), timestamp);
  console.log(`${form}: ${timestamp.toDate().toISOString()}, id ${id}`);
}
process.exit();
END
node run.mjs > seen
cat seen
cat > expected <<'END'
Date: 2026-11-30T12:00:00.250Z, id 0.0.5@1796040000.250000000
text of ISO 8601: 2026-11-30T12:00:00.250Z, id 0.0.5@1796040000.250000000
number of milliseconds: 1970-01-01T00:29:56.040Z, id 0.0.5@1796.040000250
END
cmp seen expected
