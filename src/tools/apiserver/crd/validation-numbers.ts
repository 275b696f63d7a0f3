/** The rules of a schema for numbers. Go compares integers with the integer part of a limit. */

import type { FieldError } from '../store/field-error.ts';
import type { JsonObject } from '../store/json.ts';

const INT32_LIMIT = 2 ** 31;
const INT64_LIMIT = 2 ** 63;
const FLOAT_MAX = 3.402_823_567_797_336_6e38;
const TOLERANCE = 1e-9;

/** Writes a number as Go's %v does. */
export function shownNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < INT64_LIMIT) return BigInt(value).toString();
  const text =
    value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e21)
      ? value.toExponential()
      : String(value);
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}

type Bound = readonly [
  limit: string,
  exclusive: string,
  what: string,
  word: string,
  isBroken: (order: number) => boolean,
];

const BOUNDS: readonly Bound[] = [
  ['minimum', 'exclusiveMinimum', 'Minimum', 'greater', (order) => order < 0],
  ['maximum', 'exclusiveMaximum', 'Maximum', 'less', (order) => order > 0],
];

export function numberErrors(
  value: number,
  node: JsonObject,
  types: readonly string[],
  path: string,
): FieldError[] {
  const [type = ''] = types.length === 1 ? types : [];
  const errors: FieldError[] = [];
  const add = (field: string, shown: string, why: string): void => {
    errors.push({ type: 'FieldValueInvalid', field, body: `Invalid value: ${shown}: ${why}` });
  };
  const isInRange = (number: number, what: string): boolean => {
    const why = rangeOf(number, type, node['format']);
    if (why !== undefined) add('<nil>', '""', `${what} value must be of type ${why} in ${path}`);
    return why === undefined;
  };
  const limitOf = (limit: number, what: string): number =>
    isInRange(limit, what) && Number.isInteger(value) ? Math.trunc(limit) : limit;
  isInRange(value, 'Checked');
  const { multipleOf } = node;
  if (typeof multipleOf === 'number') {
    const factor = limitOf(multipleOf, 'MultipleOf');
    const shown = shownNumber(factor);
    if (factor <= 0) add(path, shown, `factor MultipleOf declared for ${path} must be positive: ${shown}`);
    else if (!isMultiple(value, factor))
      add(path, shownNumber(value), `${path} in body should be a multiple of ${shown}`);
  }
  for (const [name, exclusive, what, word, isBroken] of BOUNDS) {
    const given = node[name];
    if (typeof given !== 'number') continue;
    const limit = limitOf(given, `${what} boundary`);
    const isExclusive = node[exclusive] === true;
    if (!isBroken(value - limit) && !(isExclusive && value === limit)) continue;
    const than = `${word} than ${isExclusive ? '' : 'or equal to '}${shownNumber(limit)}`;
    add(path, shownNumber(value), `${path} in body should be ${than}`);
  }
  return errors;
}

/** Returns the name of the type that cannot contain the number; undefined if the type can. */
function rangeOf(value: number, type: string, format: unknown): string | undefined {
  if (type === 'integer') {
    const limit = format === 'int32' ? INT32_LIMIT : INT64_LIMIT;
    if (Number.isInteger(value) && value >= -limit && value < limit) return undefined;
    return format === 'int32' || format === 'int64'
      ? `integer with format ${format}`
      : 'integer (default format)';
  }
  return type === 'number' && format === 'float' && Math.abs(value) > FLOAT_MAX
    ? 'number with format float'
    : undefined;
}

function isMultiple(value: number, factor: number): boolean {
  if (Number.isInteger(value) && Number.isInteger(factor)) return value % factor === 0;
  const quotient = Math.abs(factor < 1 ? (1 / factor) * value : value / factor);
  const rest = quotient - Math.trunc(quotient);
  return quotient <= Number.MAX_SAFE_INTEGER && rest / (2 * quotient) < TOLERANCE;
}
