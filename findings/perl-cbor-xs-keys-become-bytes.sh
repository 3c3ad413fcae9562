#!/bin/sh
# perl-cbor-xs-keys-become-bytes: what CBOR::XS read, it writes back with every key of a map as a byte string: text keys
# too, though text that is a value stays text. So {1: -35} comes back as {h'31': -35}, and {"a": "a"} as {h'61': "a"}.
#
# Packages: libcbor-xs-perl 1.86-1+b2, with libtypes-serialiser-perl 1.01-1 and libcommon-sense-perl 3.75-3, of Debian
# 12, and its Perl 5.36.
# Expected: a number as a key becomes text, as Perl's hashes have text for keys; text keys stay text, as text values do.
# Who meets it: who changes one member of a CBOR document and writes it again: protected headers of COSE, attestation
# documents. A reader in another language then finds neither the number nor the text. `text_keys` mends the latter.
# Here: small maps, each read and written at once.
# Seen:
#   {"a": "a"}: a161616161 -> a141616161
#   {1: -35}: a1013822 -> a141313822
#   {h'61': h'61'}: a141614161 -> a141614161
#   {"a": "a"} by text_keys: a161616161 -> a161616161
#   {h'61': h'61'} by text_keys: a141614161 -> a161614161
# Exits with 1 if it sees anything else. Needs Debian 12 on amd64, its Perl, and its archive (apt-get update before).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
test -x /usr/bin/perl || exit 77
apt-get -o APT::Sandbox::User=root download -qq libcbor-xs-perl=1.86-1+b2 libtypes-serialiser-perl=1.01-1 \
  libcommon-sense-perl=3.75-3 || exit 77
for package in *.deb; do dpkg-deb -x "$package" root; done
cat > run.pl <<'END'
use strict;
use CBOR::XS;

my %maps = (
  "{1: -35}" => "a1013822",
  '{"a": "a"}' => "a161616161",
  "{h'61': h'61'}" => "a141614161",
);
for my $how ("", " by text_keys") {
  for my $name (sort keys %maps) {
    next if $how && $name eq "{1: -35}";
    my $coder = CBOR::XS->new;
    $coder->text_keys if $how;
    my $written = $coder->encode($coder->decode(pack "H*", $maps{$name}));
    print "$name$how: $maps{$name} -> ", unpack("H*", $written), "\n";
  }
}
END
/usr/bin/perl -I root/usr/share/perl5 -I root/usr/lib/x86_64-linux-gnu/perl5/5.36 run.pl > seen
cat seen
cat > expected <<'END'
{"a": "a"}: a161616161 -> a141616161
{1: -35}: a1013822 -> a141313822
{h'61': h'61'}: a141614161 -> a141614161
{"a": "a"} by text_keys: a161616161 -> a161616161
{h'61': h'61'} by text_keys: a141614161 -> a161614161
END
cmp seen expected
