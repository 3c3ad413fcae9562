/** Incremental CRC-32 (ISO-HDLC). */

const POLYNOMIAL = 0xedb88320;
/** Number of bytes that one step processes. Images have hundreds of megabytes, so one byte at a time would be slow. */
const SLICES = 8;

/** Makes the table. `table[256 * n + byte]` is the share of `byte` if n more bytes follow it in one step. */
function makeTable(): Int32Array {
  const table = new Int32Array(256 * SLICES);
  for (let byte = 0; byte < 256; byte++) {
    let rest = byte;
    for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ POLYNOMIAL : rest >>> 1;
    table[byte] = rest;
  }
  for (let at = 256; at < table.length; at++) {
    const before = table[at - 256]!;
    table[at] = (before >>> 8) ^ table[before & 0xff]!;
  }
  return table;
}

export class Crc32 {
  readonly #table = makeTable();
  #state = -1;

  get value(): number {
    return ~this.#state >>> 0;
  }

  update(bytes: Uint8Array): void {
    const table = this.#table;
    let state = this.#state;
    let at = 0;
    for (const end = bytes.length - (bytes.length % SLICES); at < end; at += SLICES) {
      const low = state ^ (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));
      state =
        table[1792 + (low & 0xff)]! ^
        table[1536 + ((low >>> 8) & 0xff)]! ^
        table[1280 + ((low >>> 16) & 0xff)]! ^
        table[1024 + (low >>> 24)]! ^
        table[768 + bytes[at + 4]!]! ^
        table[512 + bytes[at + 5]!]! ^
        table[256 + bytes[at + 6]!]! ^
        table[bytes[at + 7]!]!;
    }
    for (; at < bytes.length; at++) state = (state >>> 8) ^ table[(state ^ bytes[at]!) & 0xff]!;
    this.#state = state;
  }
}
