/**
 * The values of CEL: integers are bigint, doubles are numbers, maps are Map. Classes represent the types that JavaScript
 * lacks.
 */

import { shownNumber } from './validation-numbers.ts';

/** A value inside CEL. */
export type CelValue = unknown;

/** An error of an expression, in the words of cel-go. */
export class CelError extends Error {}

export function noOverload(): CelError {
  return new CelError('no such overload');
}

export class CelType {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

export class CelOptional {
  static readonly none: CelOptional = new CelOptional();
  readonly values: readonly CelValue[];

  constructor(...values: readonly CelValue[]) {
    this.values = values;
  }
}

/** A list that is a set: the order of items is without meaning. */
export class CelSet extends Array<CelValue> {}

export class CelDuration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

const NANOS: Readonly<Record<string, number>> = {
  h: 3_600_000_000_000,
  m: 60_000_000_000,
  s: 1_000_000_000,
  ms: 1_000_000,
  us: 1_000,
  µs: 1_000,
  μs: 1_000,
  ns: 1,
};

/** Returns the duration of a text such as `1h5m`. @throws CelError */
export function durationOf(text: string): CelDuration {
  const [, sign = '', parts = ''] =
    /^([+-]?)(0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/.exec(text) ?? [];
  if (parts === '') throw new CelError(`time: invalid duration ${JSON.stringify(text)}`);
  let nanos = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of parts.matchAll(/(\d*)\.?(\d*)([a-zµμ]+)/g)) {
    const each = NANOS[unit] ?? 0;
    nanos += BigInt(whole || '0') * BigInt(each) + BigInt(Math.trunc(Number(`0.${fraction || '0'}`) * each));
  }
  return new CelDuration(sign === '-' ? -nanos : nanos);
}

/** Returns the time of a text. @throws CelError */
export function timestampOf(text: string): Date {
  const time = new Date(/^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d/.test(text) ? text : Number.NaN);
  if (Number.isNaN(time.getTime())) throw new CelError(`parsing time ${JSON.stringify(text)}`);
  return time;
}

const CLASSES: readonly (readonly [Function, string])[] = [
  [Map, 'map'],
  [CelDuration, 'google.protobuf.Duration'],
  [Date, 'google.protobuf.Timestamp'],
  [CelType, 'type'],
  [CelOptional, 'optional_type'],
  [Uint8Array, 'bytes'],
];

/** A class of a library with the name of the CEL type. */
export interface NamedClass {
  readonly celName: string;
}

/** Returns the name of a value's type. */
export function typeName(value: CelValue): string {
  if (value === null) return 'null_type';
  if (Array.isArray(value)) return 'list';
  switch (typeof value) {
    case 'bigint':
      return 'int';
    case 'number':
      return 'double';
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    case 'object':
      return (
        CLASSES.find(([type]) => value instanceof type)?.[1] ??
        (value.constructor as Function & NamedClass).celName
      );
    default:
      return 'unknown';
  }
}

export function isEqual(one: CelValue, other: CelValue): boolean {
  if (one === other) return true;
  if (typeof one === 'bigint' && typeof other === 'number') return Number(one) === other;
  if (typeof one === 'number' && typeof other === 'bigint') return one === Number(other);
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) && Array.isArray(other)) {
    if (one.length !== other.length) return false;
    if (one instanceof CelSet || other instanceof CelSet)
      return one.every((item) => other.some((each) => isEqual(item, each)));
    return one.every((item, index) => isEqual(item, other[index]));
  }
  if (one instanceof Map && other instanceof Map) {
    if (one.size !== other.size) return false;
    return [...one].every(([key, value]) => other.has(key) && isEqual(value, other.get(key)));
  }
  if (one instanceof CelOptional && other instanceof CelOptional) return isEqual(one.values, other.values);
  if (one.constructor !== other.constructor) return false;
  if (one instanceof Date && other instanceof Date) return one.getTime() === other.getTime();
  if (one instanceof Uint8Array && other instanceof Uint8Array) return Buffer.compare(one, other) === 0;
  return Object.entries(one).every(([name, member]) =>
    isEqual(member, Object.entries(other).find(([key]) => key === name)?.[1]),
  );
}

/** Returns a key by which values of one type are ordered. */
function orderKey(value: CelValue): string | number | bigint | undefined {
  if (value instanceof Date) return value.getTime();
  if (value instanceof CelDuration) return value.nanos;
  if (typeof value === 'boolean') return Number(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
    ? value
    : undefined;
}

/** Returns a negative number, 0 or a positive number. @throws CelError for values without an order */
export function compared(one: CelValue, other: CelValue): number {
  const isNumeric = (value: CelValue): boolean => typeof value === 'number' || typeof value === 'bigint';
  const [left, right] = [orderKey(one), orderKey(other)];
  const isComparable = typeName(one) === typeName(other) || (isNumeric(one) && isNumeric(other));
  if (left === undefined || right === undefined || !isComparable) throw noOverload();
  return left < right ? -1 : left > right ? 1 : 0;
}

const INT_MAX = 2n ** 63n - 1n;

/** @throws CelError for an integer beyond 64 bits */
export function int(value: bigint): bigint {
  if (value > INT_MAX || value < -INT_MAX - 1n) throw new CelError('integer overflow');
  return value;
}

/** Returns text for `string(value)`. @throws CelError */
export function celText(value: CelValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number')
    return Number.isFinite(value) ? shownNumber(value) : `${value > 0 ? '+' : '-'}Inf`;
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z');
  if (value instanceof CelDuration) return `${Number(value.nanos) / 1e9}s`;
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  throw noOverload();
}
