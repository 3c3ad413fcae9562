#!/bin/sh
# debian-ruby-cbor-nested-without-length: what was written without its length, ruby-cbor reads at the top of a document
# only: within a list, a map or a tag it is "invalid byte" or "extra bytes", lists, maps, texts and byte strings alike.
# And a time is written without its fraction.
#
# Packages: ruby-cbor 0.5.9.6-2+b4 of Debian 12, and its Ruby, ruby3.1 and libruby3.1 3.1.7+really3.1.2-0+deb12u1.
# Expected: the value; the examples of RFC 8949, appendix A, have each of these forms. Its README says that it
# implements RFC 7049, which has them, too.
# Who meets it: who reads what streams, or what Plutus of Cardano and ledger tools write, whose lists in lists have no
# length. Maps of attestation documents are at the top of their payload, and are read.
# Here: examples of appendix A and shorter ones, read; and a time, written.
# Seen:
#   [_ 1]: [1]
#   [[_ 1]]: refused, invalid byte
#   [_ [_ 1]]: refused, extra bytes follow after a deserialized object
#   [_ [1]]: [[1]]
#   [_ 1, [2, 3], [_ 4, 5]]: refused, extra bytes follow after a deserialized object
#   ["a", {_ "b": "c"}]: refused, invalid byte
#   {_ "a": 1, "b": [_ 2, 3]}: refused, invalid byte
#   (_ h'0102', h'030405'): "\x01\x02\x03\x04\x05"
#   [(_ h'01')]: refused, invalid byte
#   121([_ 1]): refused, invalid byte
#   1363896240.5 as a time: c11a514b67b0
# Exits with 1 if it sees anything else. Needs Debian 12 on amd64, and its archive (apt-get update before).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get -o APT::Sandbox::User=root download -qq ruby-cbor=0.5.9.6-2+b4 ruby3.1=3.1.7+really3.1.2-0+deb12u1 \
  libruby3.1=3.1.7+really3.1.2-0+deb12u1 libgmp10=2:6.2.1+dfsg1-1.1 || exit 77
for package in *.deb; do dpkg-deb -x "$package" root; done
cat > run.rb <<'END'
require "cbor"

def read(hex)
  CBOR.decode([hex].pack("H*")).inspect
rescue CBOR::MalformedFormatError => error
  "refused, #{error.message}"
end

{
  "[_ 1]" => "9f01ff",
  "[[_ 1]]" => "819f01ff",
  "[_ [_ 1]]" => "9f9f01ffff",
  "[_ [1]]" => "9f8101ff",
  "[_ 1, [2, 3], [_ 4, 5]]" => "9f018202039f0405ffff",
  '["a", {_ "b": "c"}]' => "826161bf61626163ff",
  '{_ "a": 1, "b": [_ 2, 3]}' => "bf61610161629f0203ffff",
  "(_ h'0102', h'030405')" => "5f42010243030405ff",
  "[(_ h'01')]" => "815f4101ff",
  "121([_ 1])" => "d8799f01ff",
}.each { |name, hex| puts "#{name}: #{read(hex)}" }
puts "1363896240.5 as a time: #{Time.at(1363896240.5).to_cbor.unpack1("H*")}"
END
library=root/usr/lib/x86_64-linux-gnu
gems=$library/rubygems-integration/3.1.0
LD_LIBRARY_PATH=$library root/usr/bin/ruby3.1 --disable-gems -I "$gems/gems/cbor-0.5.9.6/lib" \
  -I "$gems/extensions/x86_64-linux/3.1.0/cbor-0.5.9.6" run.rb > seen
cat seen
cat > expected <<'END'
[_ 1]: [1]
[[_ 1]]: refused, invalid byte
[_ [_ 1]]: refused, extra bytes follow after a deserialized object
[_ [1]]: [[1]]
[_ 1, [2, 3], [_ 4, 5]]: refused, extra bytes follow after a deserialized object
["a", {_ "b": "c"}]: refused, invalid byte
{_ "a": 1, "b": [_ 2, 3]}: refused, invalid byte
(_ h'0102', h'030405'): "\x01\x02\x03\x04\x05"
[(_ h'01')]: refused, invalid byte
121([_ 1]): refused, invalid byte
1363896240.5 as a time: c11a514b67b0
END
cmp seen expected
