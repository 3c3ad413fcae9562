#!/bin/sh
# perl-crypt-x509-size-of-keys: pubkey_size() is the length of the bit string around the key, so a key of P-384 has 776
# bits and one of RSA 2048 has 2160; and ECDSA has no name as the algorithm of a signature.
#
# Packages: libcrypt-x509-perl 0.55-1 and libconvert-asn1-perl 0.33-1 of Debian 12.
# Expected: 384 and 2048, as "Returns the certificate's public key size" says, and as openssl names the same keys.
# Who meets it: who writes a report or a rule on sizes of keys in a script over certificates: one that tells P-256 from
# P-384 finds neither. SigEncAlg and SigHashAlg are undefined where the certificates of an enclave's chain are signed: a
# text made of them is empty.
# Here: certificates that openssl makes, one a key, each signed by itself.
# Seen:
#   RSA 2048: 2160, signed by RSA SHA256
#   P-256: 520, signed by undefined undefined
#   P-384: 776, signed by undefined undefined
#   Ed25519: 256, signed by undefined undefined
# Exits with 1 if it sees anything else. Needs Debian 12, openssl, perl, and the archive (apt-get update before).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get -o APT::Sandbox::User=root download -qq libcrypt-x509-perl=0.55-1 libconvert-asn1-perl=0.33-1 || exit 77
for package in *.deb; do dpkg-deb -x "$package" root; done
certify() {
  name=$1
  shift
  openssl req -x509 -nodes -days 1 -sha256 -subj "/CN=$name" -keyout key.pem -outform DER -out "$name.der" "$@" 2>log
}
certify 'RSA 2048' -newkey rsa:2048
certify P-256 -newkey ec -pkeyopt ec_paramgen_curve:P-256
certify P-384 -newkey ec -pkeyopt ec_paramgen_curve:P-384 -sha384
certify Ed25519 -newkey ed25519
cat > run.pl <<'END'
use strict;
use warnings;
use Crypt::X509;

for my $name ("RSA 2048", "P-256", "P-384", "Ed25519") {
    open my $file, "<:raw", "$name.der" or die;
    my $read = Crypt::X509->new(cert => do { local $/; <$file> });
    my @signed = map { $_ // "undefined" } $read->SigEncAlg, $read->SigHashAlg;
    print "$name: ", $read->pubkey_size, ", signed by @signed\n";
}
END
perl -Iroot/usr/share/perl5 run.pl > seen
cat seen
cat > expected <<'END'
RSA 2048: 2160, signed by RSA SHA256
P-256: 520, signed by undefined undefined
P-384: 776, signed by undefined undefined
Ed25519: 256, signed by undefined undefined
END
cmp seen expected
