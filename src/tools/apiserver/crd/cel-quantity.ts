/** Quantities (`100Mi`) in rules: a number of billionths, as apimachinery keeps them. */

import { CelError } from './cel-values.ts';

const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?(?:([eEinumkKMGTP]+)([-+]?\d*))?$/;
const NANOS = 1_000_000_000n;
const NANOS_DIGITS = 9;
const MAX = (2n ** 63n - 1n) * NANOS;
/** Longer numbers are above the maximum. */
const DIGITS_MAX = 40;

export class Quantity {
  static readonly celName = 'kubernetes.Quantity';
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos > MAX ? MAX : nanos < -MAX ? -MAX : nanos;
  }
}

/** Returns the powers of ten and of 1024 of a suffix; undefined for any other suffix. */
function scaleOf(unit: string, exponent: string): readonly [ten: number, binary: number] | undefined {
  if (unit === 'e' || unit === 'E') {
    if (/^[-+]?\d+$/.test(exponent)) return [Number(exponent), 0];
    return unit === 'E' && exponent === '' ? [18, 0] : undefined;
  }
  if (exponent !== '') return undefined;
  const [binary, decimal] = [BINARY.indexOf(unit), DECIMAL.indexOf(unit)];
  if (binary >= 0) return [0, binary + 1];
  return decimal < 0 ? undefined : [(decimal - DECIMAL.indexOf('')) * 3, 0];
}

/** Returns the quantity of a text; undefined for a text that is none. */
export function quantityOf(text: string): Quantity | undefined {
  const [, sign = '', whole = '', fraction = '', unit = '', exponent = ''] = QUANTITY.exec(text) ?? [];
  const scale = scaleOf(unit, exponent);
  if (whole + fraction === '' || scale === undefined) return undefined;
  const digits = whole.replace(/^0+/, '');
  const places = NANOS_DIGITS + scale[0] - Math.min(fraction.length, DIGITS_MAX);
  if (digits.length + scale[0] > DIGITS_MAX || places > DIGITS_MAX * 2)
    return new Quantity(sign === '-' ? -MAX : MAX);
  const number = BigInt(`${digits}${fraction.slice(0, DIGITS_MAX)}` || '0') * 1024n ** BigInt(scale[1]);
  const divisor = 10n ** BigInt(Math.min(Math.max(-places, 0), DIGITS_MAX * 3));
  // Fractions of a billionth are rounded up.
  const nanos = places >= 0 ? number * 10n ** BigInt(places) : (number + divisor - 1n) / divisor;
  return new Quantity(sign === '-' ? -nanos : nanos);
}

const PATTERN = '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$';

/** @throws CelError for a text that is no quantity */
export function parsedQuantity(text: string): Quantity {
  const quantity = quantityOf(text);
  if (quantity !== undefined) return quantity;
  throw new CelError(
    /^[+-]?[0-9.]+[a-zA-Z]/.test(text)
      ? "unable to parse quantity's suffix"
      : `quantities must match the regular expression '${PATTERN}'`,
  );
}

export function wholeOf({ nanos }: Quantity): bigint | undefined {
  return nanos % NANOS === 0n ? nanos / NANOS : undefined;
}

export function plus({ nanos }: Quantity, other: Quantity | bigint, sign: 1n | -1n): Quantity {
  return new Quantity(nanos + sign * (typeof other === 'bigint' ? other * NANOS : other.nanos));
}
