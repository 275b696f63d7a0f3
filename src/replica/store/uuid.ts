/**
 * Uids as Kubernetes writes them, UUIDs in lower case, read as four numbers of 32 bits. The text would be 56 bytes of
 * heap for each object, and V8's collector would copy the text twice while a list is read.
 */

/** Length of the JSON string `"8-4-4-4-12"`. */
export const UUID_TOKEN_LENGTH = 38;

const QUOTE = 0x22;
const DASH = 0x2d;

/** Values of hexadecimal digits by character; -1 for every other character. */
const DIGITS: Int8Array = new Int8Array(256).fill(-1);
for (const [value, digit] of [...'0123456789abcdef'].entries()) DIGITS[digit.charCodeAt(0)] = value;

const scratch: Buffer = Buffer.alloc(UUID_TOKEN_LENGTH, '"');

/** The digits of a UUID; all numbers are 0 without a UUID. */
interface UuidWords {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
}

export class Uuid implements UuidWords {
  a = 0;
  b = 0;
  c = 0;
  d = 0;

  /** Reads the JSON string at `start`. @returns false if it is no UUID, or all digits are 0 */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    const hasMarks =
      start + UUID_TOKEN_LENGTH <= end &&
      bytes[start] === QUOTE &&
      bytes[start + 9] === DASH &&
      bytes[start + 14] === DASH &&
      bytes[start + 19] === DASH &&
      bytes[start + 24] === DASH &&
      bytes[start + 37] === QUOTE;
    const a = digitsAt(bytes, start + 1);
    const aLow = digitsAt(bytes, start + 5);
    const b = digitsAt(bytes, start + 10);
    const bLow = digitsAt(bytes, start + 15);
    const c = digitsAt(bytes, start + 20);
    const cLow = digitsAt(bytes, start + 25);
    const d = digitsAt(bytes, start + 29);
    const dLow = digitsAt(bytes, start + 33);
    const isUuid = hasMarks && (a | aLow | b | bLow | c | cLow | d | dLow) > 0;
    this.a = isUuid ? (a << 16) | aLow : 0;
    this.b = isUuid ? (b << 16) | bLow : 0;
    this.c = isUuid ? (c << 16) | cLow : 0;
    this.d = isUuid ? (d << 16) | dLow : 0;
    return isUuid;
  }

  /** As `read`, of the text itself. */
  readText(text: string): boolean {
    const isLong = text.length === UUID_TOKEN_LENGTH - 2 && scratch.write(text, 1) === text.length;
    return this.read(scratch, 0, isLong ? UUID_TOKEN_LENGTH : 0);
  }
}

/** Returns the value of four digits, or a negative number. */
function digitsAt(bytes: Uint8Array, at: number): number {
  return (
    (digitAt(bytes, at) << 12) |
    (digitAt(bytes, at + 1) << 8) |
    (digitAt(bytes, at + 2) << 4) |
    digitAt(bytes, at + 3)
  );
}

function digitAt(bytes: Uint8Array, at: number): number {
  return DIGITS[bytes[at] ?? 0] ?? -1;
}

export function uuidText({ a, b, c, d }: UuidWords): string {
  const [first, second, third, fourth] = [hex(a), hex(b), hex(c), hex(d)];
  return `${first}-${second.slice(0, 4)}-${second.slice(4)}-${third.slice(0, 4)}-${third.slice(4)}${fourth}`;
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0');
}
