#!/bin/sh
# solana-pay-amounts-of-millions: of an amount in the millions with a fraction, encodeURL of @solana/pay writes another,
# with ten decimals: 5000000.1 becomes 5000000.0999999996, which a wallet has to refuse, since no such token has ten
# decimals. parseURL of the same package does not notice.
#
# Packages: @solana/pay 1.0.16; 0.2.6, whose amounts are of BigNumber.
# Expected: the amount that was given, as version 0 writes it. Solana Pay has it as a decimal number, and an amount with
# more decimals than the token has is malformed.
# Cause: since version 1 an amount is a number, and is written by toFixed(10).
# Who meets it: shops that price in tokens of which one has millions, and who pays out of a treasury. Amounts of a
# thousand are right, as are whole ones.
# Here: amounts, as each version writes them in a link.
# Seen:
#   1.5: version 0 1.5, version 1 1.5, which it reads as 1.5
#   1000.1: version 0 1000.1, version 1 1000.1, which it reads as 1000.1
#   5000000: version 0 5000000, version 1 5000000, which it reads as 5000000
#   5000000.1: version 0 5000000.1, version 1 5000000.0999999996, which it reads as 5000000.1
#   12345678.9: version 0 12345678.9, version 1 12345678.9000000004, which it reads as 12345678.9
#   123456789.12345: version 0 123456789.12345, version 1 123456789.1234499961, which it reads as 123456789.12345
#   0.00000000001: version 0 0.00000000001, version 1 0, which it reads as 0
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @solana/pay@1.0.16 \
  solana-pay-0@npm:@solana/pay@0.2.6 @solana/web3.js@1.98.4 bignumber.js@9.3.1 || exit 77
cat > run.mjs <<'END'
import * as one from "@solana/pay";
import { PublicKey } from "@solana/web3.js";
import BigNumber from "bignumber.js";
import * as zero from "solana-pay-0";

const recipient = "mvines9iiHiQTysrwkJjGf2gb9Ex9jXJX8ns3qwf2kN";
const amountOf = (url) => new URL(url).searchParams.get("amount");
for (const amount of ["1.5", "1000.1", "5000000", "5000000.1", "12345678.9", "123456789.12345", "0.00000000001"]) {
  const url = one.encodeURL({ recipient, amount: Number(amount) });
  const old = zero.encodeURL({ recipient: new PublicKey(recipient), amount: new BigNumber(amount) });
  const back = one.parseURL(url).amount;
  console.log(`${amount}: version 0 ${amountOf(old)}, version 1 ${amountOf(url)}, which it reads as ${back}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
1.5: version 0 1.5, version 1 1.5, which it reads as 1.5
1000.1: version 0 1000.1, version 1 1000.1, which it reads as 1000.1
5000000: version 0 5000000, version 1 5000000, which it reads as 5000000
5000000.1: version 0 5000000.1, version 1 5000000.0999999996, which it reads as 5000000.1
12345678.9: version 0 12345678.9, version 1 12345678.9000000004, which it reads as 12345678.9
123456789.12345: version 0 123456789.12345, version 1 123456789.1234499961, which it reads as 123456789.12345
0.00000000001: version 0 0.00000000001, version 1 0, which it reads as 0
END
cmp seen expected
