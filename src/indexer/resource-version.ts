/**
 * Encoding of resourceVersions. Decimal digits without a leading zero, below 2^53, become numbers without loss. All
 * other versions stay opaque text, as Kubernetes allows.
 */

/** Digits of 2^53 - 1. */
const DIGITS_MAX = 16;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;

/** Returns the number with exactly this decimal text, or -1. */
export function canonicalDecimal(bytes: Uint8Array, start: number, length: number): number {
  if (length === 0 || length > DIGITS_MAX) return -1;
  if (length > 1 && bytes[start] === DIGIT_0) return -1;
  let value = 0;
  for (let at = start; at < start + length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte < DIGIT_0 || byte > DIGIT_9) return -1;
    value = value * 10 + (byte - DIGIT_0);
  }
  return value <= Number.MAX_SAFE_INTEGER ? value : -1;
}
