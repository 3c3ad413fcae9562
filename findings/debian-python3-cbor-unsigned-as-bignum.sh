#!/bin/sh
# debian-python3-cbor-unsigned-as-bignum: python3-cbor writes whole numbers from 2^63 to 2^64 - 1 as big numbers (tag 2)
# by its module in C, and as plain ones by its module in Python. Which of both runs depends on the build alone.
#
# Packages: python3-cbor 1.0.0-1.2+b1 and python3-cbor2 5.4.6-1+b1 of Debian 12, and its Python 3.11.
# Expected: one number, one encoding, by both modules of a package: the shortest is the plain number (RFC 8949, 4.2.1
# and 3.4.3), and what was read from nine bytes is written in nine.
# Who meets it: who compares or hashes what both write, or reads it by a reader that knows no tags: amounts, nonces and
# identifiers in unsigned 64 bits. Both modules write negative numbers below -2^63 as big ones, where cbor2 does not.
# Here: numbers on both sides of the border, by the module in C, by that in Python, and by cbor2.
# Seen:
#   2^63 - 1: C 1b7fffffffffffffff, Python 1b7fffffffffffffff, cbor2 1b7fffffffffffffff
#   2^63: C c2488000000000000000, Python 1b8000000000000000, cbor2 1b8000000000000000
#   2^64 - 1: C c248ffffffffffffffff, Python 1bffffffffffffffff, cbor2 1bffffffffffffffff
#   2^64: C c249010000000000000000, Python c249010000000000000000, cbor2 c249010000000000000000
#   -2^63: C 3b7fffffffffffffff, Python 3b7fffffffffffffff, cbor2 3b7fffffffffffffff
#   -2^64: C c348ffffffffffffffff, Python c348ffffffffffffffff, cbor2 3bffffffffffffffff
# Exits with 1 if it sees anything else. Needs Debian 12 on amd64, its Python, and its archive (apt-get update before).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
test -x /usr/bin/python3.11 || exit 77
apt-get -o APT::Sandbox::User=root download -qq python3-cbor=1.0.0-1.2+b1 python3-cbor2=5.4.6-1+b1 || exit 77
for package in *.deb; do dpkg-deb -x "$package" root; done
cat > run.py <<'END'
import cbor._cbor
import cbor.cbor
import cbor2

writers = {"C": cbor._cbor.dumps, "Python": cbor.cbor.dumps, "cbor2": cbor2.dumps}
numbers = {
    "2^63 - 1": 2**63 - 1,
    "2^63": 2**63,
    "2^64 - 1": 2**64 - 1,
    "2^64": 2**64,
    "-2^63": -(2**63),
    "-2^64": -(2**64),
}
for name, number in numbers.items():
    print(f"{name}: " + ", ".join(f"{writer} {dumps(number).hex()}" for writer, dumps in writers.items()))
END
PYTHONPATH=root/usr/lib/python3/dist-packages /usr/bin/python3.11 run.py > seen
cat seen
cat > expected <<'END'
2^63 - 1: C 1b7fffffffffffffff, Python 1b7fffffffffffffff, cbor2 1b7fffffffffffffff
2^63: C c2488000000000000000, Python 1b8000000000000000, cbor2 1b8000000000000000
2^64 - 1: C c248ffffffffffffffff, Python 1bffffffffffffffff, cbor2 1bffffffffffffffff
2^64: C c249010000000000000000, Python c249010000000000000000, cbor2 c249010000000000000000
-2^63: C 3b7fffffffffffffff, Python 3b7fffffffffffffff, cbor2 3b7fffffffffffffff
-2^64: C c348ffffffffffffffff, Python c348ffffffffffffffff, cbor2 3bffffffffffffffff
END
cmp seen expected
