/** Canonical text of IP addresses: dotted decimal (RFC 6943 section 3.1.1) for IPv4, RFC 5952 for IPv6. */

/** Returns the canonical text, or null if the text is not an address. */
export function canonicalIpAddress(text: string): string | null {
  const v4 = parseIpv4(text);
  if (v4 !== null) return v4.join(".");
  const groups = parseIpv6(text);
  return groups === null ? null : formatIpv6(groups);
}

function parseIpv4(text: string): number[] | null {
  if (!/^(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})$/.test(text)) return null;
  const bytes = text.split(".").map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : null;
}

function parseIpv6(text: string): number[] | null {
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const head = parseGroups(halves[0]!, halves.length === 1);
  const tail = halves.length === 2 ? parseGroups(halves[1]!, true) : [];
  if (head === null || tail === null) return null;
  const zeros = 8 - head.length - tail.length;
  if (halves.length === 1 ? zeros !== 0 : zeros < 1) return null;
  return [...head, ...Array<number>(zeros).fill(0), ...tail];
}

function parseGroups(text: string, atEnd: boolean): number[] | null {
  if (text === "") return [];
  const parts = text.split(":");
  const groups: number[] = [];
  for (const [index, part] of parts.entries()) {
    const v4 = atEnd && index === parts.length - 1 ? parseIpv4(part) : null;
    if (v4 !== null) groups.push((v4[0]! << 8) | v4[1]!, (v4[2]! << 8) | v4[3]!);
    else if (/^[0-9a-fA-F]{1,4}$/.test(part)) groups.push(parseInt(part, 16));
    else return null;
  }
  return groups;
}

function formatIpv6(groups: readonly number[]): string {
  // RFC 5952 section 5: an IPv4-mapped address shows its IPv4 part in dots.
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    return `::ffff:${groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join(".")}`;
  }
  const { start, length } = longestZeroRun(groups);
  const hex = groups.map((group) => group.toString(16));
  if (length < 2) return hex.join(":");
  return `${hex.slice(0, start).join(":")}::${hex.slice(start + length).join(":")}`;
}

function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  return best;
}
