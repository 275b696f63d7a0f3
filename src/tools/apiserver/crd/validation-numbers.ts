/** The rules of a schema for numbers. Go compares integers with the integer part of a limit. */

import type { FieldError } from '../store/field-error.ts';
import { isInteger, isNumber } from '../store/json.ts';
import type { JsonObject } from '../store/json.ts';

const INT32_LIMIT = 2 ** 31;
const INT64_LIMIT = 2 ** 63;
const FLOAT_MAX = 3.402_823_567_797_336_6e38;
const TOLERANCE = 1e-9;

/** Writes a number as Go's %v does. */
export function shownNumber(value: number | bigint): string {
  if (typeof value === 'bigint') return String(value);
  const size = Math.abs(value);
  const isLarge = size > Number.MAX_SAFE_INTEGER;
  const text = isLarge || (size > 0 && size < 1e-4) ? value.toExponential() : String(value);
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}

type Bound = readonly [
  limit: string,
  exclusive: string,
  what: string,
  word: string,
  isBroken: (value: number | bigint, limit: number | bigint) => boolean,
];

const BOUNDS: readonly Bound[] = [
  ['minimum', 'exclusiveMinimum', 'Minimum', 'greater', (value, limit) => value < limit],
  ['maximum', 'exclusiveMaximum', 'Maximum', 'less', (value, limit) => value > limit],
];

export function numberErrors(
  value: number | bigint,
  node: JsonObject,
  types: readonly string[],
  path: string,
): FieldError[] {
  const [type = ''] = types.length === 1 ? types : [];
  const errors: FieldError[] = [];
  const add = (field: string, shown: string, why: string): void => {
    errors.push({ type: 'FieldValueInvalid', field, body: `Invalid value: ${shown}: ${why}` });
  };
  const isInRange = (number: number | bigint, what: string): boolean => {
    const why = rangeOf(number, type, node['format']);
    if (why !== undefined) add('<nil>', '""', `${what} value must be of type ${why} in ${path}`);
    return why === undefined;
  };
  // Limits are floats in Go.
  const limitOf = (limit: number | bigint, what: string): number | bigint =>
    isInRange(limit, what) && isInteger(value) ? BigInt(Math.trunc(Number(limit))) : Number(limit);
  isInRange(value, 'Checked');
  const { multipleOf } = node;
  if (isNumber(multipleOf)) {
    const factor = limitOf(multipleOf, 'MultipleOf');
    const shown = shownNumber(factor);
    if (factor <= 0) add(path, shown, `factor MultipleOf declared for ${path} must be positive: ${shown}`);
    else if (!isMultiple(value, factor))
      add(path, shownNumber(value), `${path} in body should be a multiple of ${shown}`);
  }
  for (const [name, exclusive, what, word, isBroken] of BOUNDS) {
    const given = node[name];
    if (!isNumber(given)) continue;
    const limit = limitOf(given, `${what} boundary`);
    const isExclusive = node[exclusive] === true;
    if (!isBroken(value, limit) && !(isExclusive && !isBroken(limit, value))) continue;
    const than = `${word} than ${isExclusive ? '' : 'or equal to '}${shownNumber(limit)}`;
    add(path, shownNumber(value), `${path} in body should be ${than}`);
  }
  return errors;
}

/** Returns the name of the type that cannot contain the number; undefined if the type can. */
function rangeOf(value: number | bigint, type: string, format: unknown): string | undefined {
  if (type === 'integer') {
    const limit = format === 'int32' ? INT32_LIMIT : INT64_LIMIT;
    if (Number.isInteger(Number(value)) && value >= -limit && value < limit) return undefined;
    return format === 'int32' || format === 'int64'
      ? `integer with format ${format}`
      : 'integer (default format)';
  }
  return type === 'number' && format === 'float' && Math.abs(Number(value)) > FLOAT_MAX
    ? 'number with format float'
    : undefined;
}

function isMultiple(value: number | bigint, factor: number | bigint): boolean {
  if (typeof factor === 'bigint') return BigInt(value) % factor === 0n;
  const number = Number(value);
  const quotient = Math.abs(factor < 1 ? (1 / factor) * number : number / factor);
  const rest = quotient - Math.trunc(quotient);
  return quotient <= Number.MAX_SAFE_INTEGER && rest / (2 * quotient) < TOLERANCE;
}
