import { isIPv4, isIPv6 } from "node:net";
import { describe, expect, it } from "vitest";
import { canonicalIpAddress } from "../../src/decode/ip-address.js";
import { fc } from "../support/property.js";

describe("canonicalIpAddress", () => {
  it.each([
    ["0.0.0.0", "0.0.0.0"],
    ["1.1.1.1", "1.1.1.1"],
    ["255.255.255.255", "255.255.255.255"],
    ["::", "::"],
    ["::1", "::1"],
    ["0:0:0:0:0:0:0:0", "::"],
    ["0:0:0:0:0:0:0:1", "::1"],
    ["1:0:0:0:0:0:0:0", "1::"],
    ["2606:4700:4700::1111", "2606:4700:4700::1111"],
    // RFC 5952 section 4.1: leading zeros.
    ["2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8::1"],
    ["2001:db8::0001", "2001:db8::1"],
    // 4.2.1: as short as possible.
    ["2001:db8::0:0:1", "2001:db8::1"],
    // 4.2.2: one group of zeros is not shortened.
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["::1:2:3:4:5:6:7", "0:1:2:3:4:5:6:7"],
    ["1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"],
    // 4.2.3: the longest run, the first of equals.
    ["2001:0:0:1:0:0:0:1", "2001:0:0:1::1"],
    ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["0:0:1:0:0:0:1:0", "0:0:1::1:0"],
    ["1:0:0:2:0:0:0:0", "1:0:0:2::"],
    ["0:0:0:1:0:0:0:0", "0:0:0:1::"],
    // 4.3: lower case.
    ["2001:DB8::ABCD", "2001:db8::abcd"],
    // 5: an IPv4 address inside.
    ["::ffff:1.2.3.4", "::ffff:1.2.3.4"],
    ["::FFFF:102:304", "::ffff:1.2.3.4"],
    ["0:0:0:0:0:ffff:0:0", "::ffff:0.0.0.0"],
    ["64:ff9b::1.2.3.4", "64:ff9b::102:304"],
    ["1:2:3:4:5:6:7.8.9.10", "1:2:3:4:5:6:708:90a"],
    ["::1.2.3.4", "::102:304"],
    ["::fffe:1.2.3.4", "::fffe:102:304"],
    ["1::ffff:1.2.3.4", "1::ffff:102:304"],
  ])("of %s is %s", (text, canonical) => {
    expect(canonicalIpAddress(text)).toBe(canonical);
    expect(canonicalIpAddress(canonical)).toBe(canonical);
  });

  it.each(["0x1.1.1.1", "١.1.1.1", "1.1.1.1\n", "::1%eth0", "[::1]", "::1/64", "::ffff:1.2.3.4\n", "::-1"])(
    "refuses %j",
    (text) => {
      expect(canonicalIpAddress(text)).toBeNull();
    },
  );

  it("agrees with the platform on what an address is, and what it means", () => {
    const group = fc.constantFrom("0", "0", "1", "ffff", "00AB", "1.2.3.4", "", "12345", "g");
    const text = fc.oneof(
      fc.array(group, { minLength: 1, maxLength: 9 }).map((groups) => groups.join(":")),
      fc
        .array(fc.constantFrom("0", "1", "255", "256", "01", ""), { minLength: 3, maxLength: 5 })
        .map((parts) => parts.join(".")),
      fc.ipV4(),
      fc.ipV6(),
    );
    let addresses = 0;
    fc.assert(
      fc.property(text, (candidate) => {
        const canonical = canonicalIpAddress(candidate);
        expect(canonical !== null).toBe(isIPv4(candidate) || isIPv6(candidate));
        if (canonical === null) return;
        addresses++;
        if (isIPv4(candidate)) expect(canonical).toBe(candidate);
        // A URL writes the same address in the same short form, but without the dots of RFC 5952 section 5.
        else expect(new URL(`http://[${canonical}]`).host).toBe(new URL(`http://[${candidate}]`).host);
        if (!isIPv4(candidate) && !canonical.includes("."))
          expect(`[${canonical}]`).toBe(new URL(`http://[${candidate}]`).host);
      }),
      { numRuns: 1000 },
    );
    expect(addresses).toBeGreaterThan(150);
  });
});
