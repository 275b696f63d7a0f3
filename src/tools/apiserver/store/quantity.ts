/** Quantities (`100Mi`): a number of billionths, as apimachinery keeps them, and the text in which a server stores them. */

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

/** Returns why a text is no quantity, in the words of a server. */
export function quantityFault(text: string): string {
  return /^[+-]?[0-9.]+[a-zA-Z]/.test(text)
    ? "unable to parse quantity's suffix"
    : `quantities must match the regular expression '${PATTERN}'`;
}

/** Returns the number without zeros of the base, and how often the base was divided out. */
function reduced(number: bigint, base: bigint, timesMax: number): readonly [rest: bigint, times: number] {
  let [rest, times] = [number, 0];
  for (; times < timesMax && rest % base === 0n; times++) rest /= base;
  return [rest, times];
}

const DIGITS_FAST = 18;

/** True for a text that apimachinery takes for canonical, so that a server stores the text itself: `+5`, `1E3`. */
function isKept(text: string): boolean {
  const [, , zeros = '', fraction = '', unit = '', exponent = ''] = QUANTITY.exec(text) ?? [];
  const whole = zeros.replace(/^0+/, '');
  const digits = whole + fraction;
  if (digits.length > DIGITS_FAST || digits.startsWith('0') || digits === '') return false;
  const [ten, binary] = scaleOf(unit, exponent) ?? [0, 0];
  if (binary > 0) return fraction === '' && Number(digits.slice(-3)) % 8 !== 0;
  return (
    (ten - fraction.length) % 3 === 0 && ten - fraction.length >= -NANOS_DIGITS && !digits.endsWith('000')
  );
}

/** Returns the text in which a server stores a quantity: `100m` for `0.1`; undefined for a text that is no quantity. */
export function canonicalQuantity(text: string): string | undefined {
  const quantity = quantityOf(text);
  if (quantity === undefined || isKept(text)) return quantity && text;
  const { nanos } = quantity;
  if (nanos === 0n) return '0';
  const isSmall = nanos > -1024n * NANOS && nanos < 1024n * NANOS;
  if (text.endsWith('i') && !isSmall) {
    const sign = nanos < 0n ? -1n : 1n;
    const whole = (nanos + sign * (NANOS - 1n)) / NANOS;
    const [rest, times] = reduced(whole, 1024n, BINARY.length);
    return `${rest}${times === 0 ? '' : (BINARY[times - 1] ?? '')}`;
  }
  const [rest, times] = reduced(nanos, 1000n, DECIMAL.length - 1);
  const exponent = times * 3 - NANOS_DIGITS;
  if (/[eE][-+]?\d/.test(text)) return exponent === 0 ? `${rest}` : `${rest}e${exponent}`;
  return `${rest}${DECIMAL[times] ?? ''}`;
}
