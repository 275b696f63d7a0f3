/**
 * The language of `x-kubernetes-validations`: CEL (cel-js) with functions that Kubernetes adds for strings, lists and
 * quantities. A definition with a rule that uses any other function is refused.
 */

import { Environment } from '@marcbachmann/cel-js';

/** A value inside CEL: integers are bigint, objects are maps. */
export type CelValue = unknown;

/** A compiled expression. */
export type CelProgram = (variables: Readonly<Record<string, CelValue>>) => CelValue;

const environment = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
});

class Quantity {
  readonly value: number;

  constructor(text: string) {
    this.value = quantityOf(text) ?? Number.NaN;
    if (Number.isNaN(this.value))
      throw new Error(`quantities must match the regular expression '${QUANTITY.source}'`);
  }
}

const QUANTITY = /^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$/;
const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];

/** Returns the number of a quantity such as `100Mi`; undefined for a text that is not a quantity. */
function quantityOf(text: string): number | undefined {
  const [, digits = '', suffix = ''] = QUANTITY.exec(text) ?? [];
  const number = Number(digits);
  if (digits === '' || Number.isNaN(number)) return undefined;
  if (/^[eE][-+]?\d+$/.test(suffix)) return Number(`${digits}${suffix}`);
  const [binary, decimal] = [BINARY.indexOf(suffix), DECIMAL.indexOf(suffix)];
  if (binary >= 0) return number * 1024 ** (binary + 1);
  return decimal < 0 ? undefined : number * 1000 ** (decimal - DECIMAL.indexOf(''));
}

function less(one: CelValue, other: CelValue): boolean {
  return (one as number) < (other as number);
}

function extreme(list: readonly CelValue[], isBetter: (one: CelValue, other: CelValue) => boolean): CelValue {
  if (list.length === 0) throw new Error('min/max called on empty list');
  return list.reduce((best, item) => (isBetter(item, best) ? item : best));
}

function total(list: readonly CelValue[]): CelValue {
  if (list.length === 0) return 0n;
  return list.slice(1).reduce((sum: CelValue, item) => (sum as number) + (item as number), list[0]);
}

function compareQuantities({ value: one }: Quantity, { value: other }: Quantity): bigint {
  if (one === other) return 0n;
  return one < other ? -1n : 1n;
}

type Items = readonly CelValue[];

environment
  .registerType('Quantity', { ctor: Quantity, fields: { value: 'double' } })
  .registerFunction('list.isSorted(): bool', (list: Items) =>
    list.every((item, index) => index === 0 || !less(item, list[index - 1])),
  )
  .registerFunction('list.sum(): dyn', total)
  .registerFunction('list.min(): dyn', (list: Items) => extreme(list, less))
  .registerFunction('list.max(): dyn', (list: Items) => extreme(list, (one, best) => less(best, one)))
  .registerFunction('list.indexOf(dyn): int', (list: Items, item: CelValue) => BigInt(list.indexOf(item)))
  .registerFunction('list.lastIndexOf(dyn): int', (list: Items, item: CelValue) =>
    BigInt(list.lastIndexOf(item)),
  )
  .registerFunction('string.find(string): string', (text: string, pattern: string) => {
    return new RegExp(pattern, 'u').exec(text)?.[0] ?? '';
  })
  .registerFunction('string.findAll(string): list<string>', (text: string, pattern: string) => {
    return [...text.matchAll(new RegExp(pattern, 'gu'))].map(([found]) => found);
  })
  .registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) =>
    text.split(from).join(to),
  )
  .registerFunction('string.charAt(int): string', (text: string, index: bigint) => {
    return Array.from(text)[Number(index)] ?? '';
  })
  .registerFunction('isQuantity(string): bool', (text: string) => quantityOf(text) !== undefined)
  .registerFunction('quantity(string): Quantity', (text: string) => new Quantity(text))
  .registerFunction(
    'Quantity.isLessThan(Quantity): bool',
    (one: Quantity, other: Quantity) => one.value < other.value,
  )
  .registerFunction(
    'Quantity.isGreaterThan(Quantity): bool',
    (one: Quantity, other: Quantity) => one.value > other.value,
  )
  .registerFunction('Quantity.compareTo(Quantity): int', compareQuantities)
  .registerFunction('isURL(string): bool', (text: string) => URL.canParse(text));

const toDuration = compile('duration(text)');
const toTimestamp = compile('timestamp(text)');
const toOptional = compile('optional.of(value)');
const absent = compile('optional.none()');

/** @throws Error for an expression that is not CEL */
export function compile(expression: string): CelProgram {
  return environment.parse(expression) as CelProgram;
}

/** Returns why the expression is not a rule of this language; undefined for a valid rule. */
export function expressionError(expression: string): string | undefined {
  try {
    const { valid, error } = environment.check(expression);
    return valid ? undefined : firstLine(error?.message ?? 'it is not valid');
  } catch (error) {
    return firstLine((error as Error).message);
  }
}

/** cel-js shows the expression below the message. */
export function firstLine(message: string): string {
  return message.split('\n', 1).join('');
}

/** Returns an optional value, for rules with `optionalOldSelf`. */
export function optionalOf(value: CelValue): CelValue {
  return value === undefined ? absent({}) : toOptional({ value });
}

/** Returns text of a format for which CEL defines a type; undefined for other formats and other text. */
export function formatted(text: string, format: unknown): CelValue {
  const convert = format === 'duration' ? toDuration : format === 'date-time' ? toTimestamp : undefined;
  try {
    return convert?.({ text });
  } catch {
    return undefined;
  }
}
