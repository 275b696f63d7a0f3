/**
 * The functions of CEL and of Kubernetes' libraries that rules call, by signature. `any` stands for every type, and a
 * receiver precedes the dot.
 */

import { CelFormat, NAMED_FORMATS } from './cel-formats.ts';
import {
  Cidr,
  IP_RANGES,
  Ip,
  Semver,
  Url,
  cidrOf,
  comparedVersions,
  containsCidr,
  containsIp,
  hostnameOf,
  ipOf,
  ipText,
  masked,
  parsedCidr,
  parsedIp,
  parsedUrl,
  portOf,
  semverOf,
} from './cel-network.ts';
import { Quantity, quantityOf } from '../store/quantity.ts';
import { parsedQuantity, plus, wholeOf } from './cel-quantity.ts';
import {
  CelDuration,
  CelError,
  CelOptional,
  CelSet,
  CelType,
  celText,
  compared,
  durationOf,
  int,
  isEqual,
  timestampOf,
  typeName,
} from './cel-values.ts';
import type { CelValue } from './cel-values.ts';
import { matchesGo, matchesOf, patternError } from './go-regexp.ts';
import { isRequestUri } from './validation-formats.ts';

// The signature of a function is the type of its arguments, which the table checks before a call.
// oxlint-disable-next-line typescript/no-explicit-any
type Handler = (...values: any[]) => CelValue;
type Items = readonly CelValue[];

function optional(value: CelValue): CelOptional {
  return value === undefined ? CelOptional.none : new CelOptional(value);
}

/** Indexes of texts count characters. */
function inRange(text: string, index: bigint): number {
  if (index < 0n || index > text.length) throw new CelError(`index out of range: ${index}`);
  return Number(index);
}

function part(text: string, from: bigint, to: bigint): string {
  const characters = Array.from(text);
  if (from < 0n || to > characters.length || from > to)
    throw new CelError(`index out of range: ${from < 0n ? from : to}`);
  return characters.slice(Number(from), Number(to)).join('');
}

/** Returns the number of characters before a UTF-16 index. */
function characterAt(text: string, index: number): bigint {
  return BigInt(index < 0 ? index : Array.from(text.slice(0, index)).length);
}

/** Returns a pattern that Go can read. @throws CelError */
function readable(pattern: string): string {
  const why = patternError(pattern);
  if (why !== undefined) throw new CelError(why);
  return pattern;
}

function replaced(text: string, from: string, to: string, timesMax: bigint): string {
  if (timesMax < 0n) return text.split(from).join(to);
  const parts = text.split(from);
  const cut = Math.min(Number(timesMax), parts.length - 1);
  return `${parts.slice(0, cut + 1).join(to)}${parts
    .slice(cut + 1)
    .map((each) => from + each)
    .join('')}`;
}

function split(text: string, by: string, limit: bigint): string[] {
  const parts = by === '' ? Array.from(text) : text.split(by);
  if (limit < 0n || parts.length <= Number(limit)) return parts;
  if (limit === 0n) return [];
  return [...parts.slice(0, Number(limit) - 1), parts.slice(Number(limit) - 1).join(by)];
}

function extreme(list: Items, name: string, sign: 1 | -1): CelValue {
  if (list.length === 0) throw new CelError(`${name} called on empty list`);
  return list.reduce((best, item) => (compared(item, best) * sign > 0 ? item : best));
}

function sum(list: Items): CelValue {
  return list.reduce(
    (total, item) => added(total, item),
    typeof list[0] === 'number' ? 0 : list[0] instanceof CelDuration ? new CelDuration(0n) : 0n,
  );
}

/** Returns the sum of two values, for the operator `+`. @throws CelError */
export function added(one: CelValue, other: CelValue): CelValue {
  if (typeof one === 'bigint' && typeof other === 'bigint') return int(one + other);
  if (typeof one === 'number' && typeof other === 'number') return one + other;
  if (typeof one === 'string' && typeof other === 'string') return one + other;
  if (Array.isArray(one) && Array.isArray(other)) {
    if (one instanceof CelSet)
      return [...one, ...other.filter((item) => !one.some((each) => isEqual(each, item)))];
    return [...one, ...other];
  }
  if (one instanceof CelDuration && other instanceof CelDuration)
    return new CelDuration(one.nanos + other.nanos);
  if (one instanceof Date && other instanceof CelDuration)
    return new Date(one.getTime() + Number(other.nanos) / 1e6);
  if (one instanceof CelDuration && other instanceof Date) return added(other, one);
  throw new CelError('no such overload');
}

function distinct(list: Items): Items {
  const seen = new Set<CelValue>();
  return list.filter((item, index) => {
    if (typeof item === 'object') return list.findIndex((each) => isEqual(each, item)) === index;
    const isNew = !seen.has(item);
    seen.add(item);
    return isNew;
  });
}

function flat(list: Items, depth: bigint): Items {
  return depth < 1n
    ? list
    : list.flatMap((item) => (Array.isArray(item) ? flat(item as Items, depth - 1n) : [item]));
}

function contained(one: Items, other: Items): boolean {
  return other.every((item) => one.some((each) => isEqual(item, each)));
}

/** Returns the time in a zone, as if the zone were UTC. */
function zoned(time: Date, zone: string): Date {
  const [, sign, hours = '', minutes = ''] = /^([+-]?)(\d\d):(\d\d)$/.exec(zone) ?? [];
  if (sign !== undefined) {
    const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
    return new Date(time.getTime() + (sign === '-' ? -offset : offset));
  }
  try {
    return new Date(`${time.toLocaleString('sv-SE', { timeZone: zone }).replace(' ', 'T')}Z`);
  } catch {
    throw new CelError(`unknown time zone ${zone}`);
  }
}

const TIME_PARTS: Readonly<Record<string, (time: Date) => number>> = {
  getFullYear: (time) => time.getUTCFullYear(),
  getMonth: (time) => time.getUTCMonth(),
  getDate: (time) => time.getUTCDate(),
  getDayOfMonth: (time) => time.getUTCDate() - 1,
  getDayOfWeek: (time) => time.getUTCDay(),
  getDayOfYear: (time) => Math.floor((time.getTime() - Date.UTC(time.getUTCFullYear(), 0)) / 86_400_000),
  getHours: (time) => time.getUTCHours(),
  getMinutes: (time) => time.getUTCMinutes(),
  getSeconds: (time) => time.getUTCSeconds(),
  getMilliseconds: (time) => time.getUTCMilliseconds(),
};
const DURATION_PARTS = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
  getMilliseconds: 1_000_000n,
};

function intOf(text: string): bigint {
  if (!/^[+-]?\d+$/.test(text))
    throw new CelError(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return int(BigInt(text.replace(/^\+/, '')));
}

function doubleOf(text: string): number {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isNaN(number))
    throw new CelError(`strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax`);
  return number;
}

function truncated(number: number): bigint {
  if (!Number.isFinite(number)) throw new CelError('integer overflow');
  return int(BigInt(Math.trunc(number)));
}

function boolOf(text: string): boolean {
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text)) return true;
  if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(text)) return false;
  throw new CelError(`strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`);
}

function queryOf({ query }: Url): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query))
    found.set(name, [...(found.get(name) ?? []), value]);
  return found;
}

function wholeQuantity(quantity: Quantity): bigint {
  const whole = wholeOf(quantity);
  if (whole === undefined) throw new CelError('cannot convert value to integer');
  return whole;
}

function version(text: string, isLoose = false): Semver {
  const found = semverOf(text, isLoose);
  if (found === undefined) throw new CelError('No Major.Minor.Patch elements found');
  return found;
}

function bySize(value: CelValue): bigint {
  if (typeof value === 'string') return BigInt(Array.from(value).length);
  return BigInt(value instanceof Map ? value.size : (value as ArrayLike<unknown>).length);
}

function order(one: Quantity, other: Quantity): bigint {
  return BigInt(compared(one.nanos, other.nanos));
}

const [QUANTITY, IP, CIDR, URL_TYPE, SEMVER, FORMAT] = [Quantity, Ip, Cidr, Url, Semver, CelFormat].map(
  ({ celName }) => celName,
);
const [TIME, DURATION] = ['google.protobuf.Timestamp', 'google.protobuf.Duration'];

function sized(...types: readonly string[]): Record<string, Handler> {
  return Object.fromEntries(
    types.flatMap((type) => [
      [`size(${type})`, bySize],
      [`${type}.size()`, bySize],
    ]),
  );
}

const TEXTS: Readonly<Record<string, Handler>> = {
  'string.startsWith(string)': (text: string, start: string) => text.startsWith(start),
  'string.endsWith(string)': (text: string, end: string) => text.endsWith(end),
  'string.contains(string)': (text: string, inside: string) => text.includes(inside),
  'string.lowerAscii()': (text: string) => text.replaceAll(/[A-Z]+/g, (found) => found.toLowerCase()),
  'string.upperAscii()': (text: string) => text.replaceAll(/[a-z]+/g, (found) => found.toUpperCase()),
  'string.trim()': (text: string) => text.trim(),
  'string.charAt(int)': (text: string, index: bigint) => Array.from(text)[inRange(text, index)] ?? '',
  'string.indexOf(string)': (text: string, search: string) => characterAt(text, text.indexOf(search)),
  'string.indexOf(string,int)': (text: string, search: string, from: bigint) =>
    characterAt(text, text.indexOf(search, inRange(text, from))),
  'string.lastIndexOf(string)': (text: string, search: string) => characterAt(text, text.lastIndexOf(search)),
  'string.lastIndexOf(string,int)': (text: string, search: string, from: bigint) =>
    characterAt(text, text.lastIndexOf(search, inRange(text, from))),
  'string.substring(int)': (text: string, from: bigint) => part(text, from, bySize(text)),
  'string.substring(int,int)': part,
  'string.replace(string,string)': (text: string, from: string, to: string) => replaced(text, from, to, -1n),
  'string.replace(string,string,int)': replaced,
  'string.split(string)': (text: string, by: string) => split(text, by, -1n),
  'string.split(string,int)': split,
  'list.join()': (list: Items) => list.join(''),
  'list.join(string)': (list: Items, by: string) => list.join(by),
  'string.reverse()': (text: string) => Array.from(text).toReversed().join(''),
  'strings.quote(string)': (text: string) => JSON.stringify(text),
  'string.matches(string)': (text: string, pattern: string) => matchesGo(readable(pattern), text),
  'matches(string,string)': (text: string, pattern: string) => matchesGo(readable(pattern), text),
  'string.find(string)': (text: string, pattern: string) => matchesOf(readable(pattern), text, 1)[0] ?? '',
  'string.findAll(string)': (text: string, pattern: string) =>
    matchesOf(readable(pattern), text, Number.POSITIVE_INFINITY),
  'string.findAll(string,int)': (text: string, pattern: string, max: bigint) =>
    matchesOf(readable(pattern), text, max < 0n ? Number.POSITIVE_INFINITY : Number(max)),
};

const LISTS: Readonly<Record<string, Handler>> = {
  'list.isSorted()': (list: Items) =>
    list.every((item, index) => index === 0 || compared(list[index - 1], item) <= 0),
  'list.sum()': sum,
  'list.min()': (list: Items) => extreme(list, 'min', -1),
  'list.max()': (list: Items) => extreme(list, 'max', 1),
  'list.indexOf(any)': (list: Items, item: CelValue) => BigInt(list.findIndex((each) => isEqual(each, item))),
  'list.lastIndexOf(any)': (list: Items, item: CelValue) =>
    BigInt(list.findLastIndex((each) => isEqual(each, item))),
  'list.slice(int,int)': (list: Items, from: bigint, to: bigint) => {
    if (from < 0n || from > to || to > list.length)
      throw new CelError(`cannot slice(${from}, ${to}), list is length ${list.length}`);
    return list.slice(Number(from), Number(to));
  },
  'list.flatten()': (list: Items) => flat(list, 1n),
  'list.flatten(int)': flat,
  'list.distinct()': distinct,
  'list.reverse()': (list: Items) => list.toReversed(),
  'list.sort()': (list: Items) => list.toSorted(compared),
  'list.first()': (list: Items) => optional(list[0]),
  'list.last()': (list: Items) => optional(list.at(-1)),
  'lists.range(int)': (count: bigint) =>
    Array.from({ length: Math.min(Number(count), 1_000_000) }, (_, index) => BigInt(index)),
  'sets.contains(list,list)': contained,
  'sets.equivalent(list,list)': (one: Items, other: Items) => contained(one, other) && contained(other, one),
  'sets.intersects(list,list)': (one: Items, other: Items) => one.some((item) => contained(other, [item])),
  'optional.of(any)': optional,
  'optional.none()': () => CelOptional.none,
  'optional.ofNonZeroValue(any)': (value: CelValue) => {
    const isSized = Array.isArray(value) || value instanceof Map || value instanceof Uint8Array;
    const isEmpty = isSized && bySize(value) === 0n;
    return !value || isEmpty ? CelOptional.none : new CelOptional(value);
  },
  'optional_type.hasValue()': ({ values }: CelOptional) => values.length > 0,
  'optional_type.value()': ({ values }: CelOptional) => {
    if (values.length === 0) throw new CelError('optional.none() dereference');
    return values[0];
  },
  'optional_type.or(optional_type)': (one: CelOptional, other: CelOptional) =>
    one.values.length > 0 ? one : other,
  'optional_type.orValue(any)': ({ values }: CelOptional, value: CelValue) =>
    values.length > 0 ? values[0] : value,
};

const TYPES: Readonly<Record<string, Handler>> = {
  ...sized('string', 'list', 'map', 'bytes'),
  'dyn(any)': (value: CelValue) => value,
  'type(any)': (value: CelValue) => new CelType(typeName(value)),
  'string(any)': (value: CelValue) =>
    value instanceof Ip
      ? ipText(value)
      : value instanceof Cidr
        ? `${ipText(value.ip)}/${value.prefix}`
        : celText(value),
  'int(int)': (value: bigint) => value,
  'int(double)': truncated,
  'int(string)': intOf,
  [`int(${TIME})`]: (time: Date) => BigInt(Math.floor(time.getTime() / 1000)),
  'uint(any)': (value: CelValue) => (typeof value === 'string' ? intOf(value) : truncated(Number(value))),
  'double(double)': (value: number) => value,
  'double(int)': Number,
  'double(string)': doubleOf,
  'bool(bool)': (value: boolean) => value,
  'bool(string)': boolOf,
  'bytes(string)': (text: string) => new Uint8Array(Buffer.from(text)),
  'bytes(bytes)': (value: Uint8Array) => value,
  'duration(string)': durationOf,
  [`duration(${DURATION})`]: (value: CelDuration) => value,
  'timestamp(string)': timestampOf,
  'timestamp(int)': (seconds: bigint) => new Date(Number(seconds) * 1000),
  [`timestamp(${TIME})`]: (time: Date) => time,
  ...Object.fromEntries(
    Object.entries(TIME_PARTS).flatMap(([name, partOf]): [string, Handler][] => [
      [`${TIME}.${name}()`, (time: Date) => BigInt(partOf(time))],
      [`${TIME}.${name}(string)`, (time: Date, zone: string) => BigInt(partOf(zoned(time, zone)))],
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(DURATION_PARTS).map(([name, nanos]): [string, Handler] => [
      `${DURATION}.${name}()`,
      (duration: CelDuration) => duration.nanos / nanos,
    ]),
  ),
};

const LIBRARIES: Readonly<Record<string, Handler>> = {
  'isQuantity(string)': (text: string) => quantityOf(text) !== undefined,
  'quantity(string)': parsedQuantity,
  [`sign(${QUANTITY})`]: ({ nanos }: Quantity) => BigInt(compared(nanos, 0n)),
  [`${QUANTITY}.isGreaterThan(${QUANTITY})`]: (one: Quantity, other: Quantity) => order(one, other) > 0n,
  [`${QUANTITY}.isLessThan(${QUANTITY})`]: (one: Quantity, other: Quantity) => order(one, other) < 0n,
  [`${QUANTITY}.compareTo(${QUANTITY})`]: order,
  [`${QUANTITY}.asApproximateFloat()`]: ({ nanos }: Quantity) => Number(nanos) / 1e9,
  [`${QUANTITY}.isInteger()`]: (quantity: Quantity) => wholeOf(quantity) !== undefined,
  [`${QUANTITY}.asInteger()`]: wholeQuantity,
  [`${QUANTITY}.add(${QUANTITY})`]: (one: Quantity, other: Quantity) => plus(one, other, 1n),
  [`${QUANTITY}.add(int)`]: (one: Quantity, other: bigint) => plus(one, other, 1n),
  [`${QUANTITY}.sub(${QUANTITY})`]: (one: Quantity, other: Quantity) => plus(one, other, -1n),
  [`${QUANTITY}.sub(int)`]: (one: Quantity, other: bigint) => plus(one, other, -1n),
  'isIP(string)': (text: string) => ipOf(text) !== undefined,
  'ip(string)': parsedIp,
  'ip.isCanonical(string)': (text: string) => ipText(parsedIp(text)) === text,
  [`${IP}.family()`]: ({ family }: Ip) => BigInt(family),
  ...Object.fromEntries(Object.entries(IP_RANGES).map(([name, contains]) => [`${IP}.${name}()`, contains])),
  'isCIDR(string)': (text: string) => cidrOf(text) !== undefined,
  'cidr(string)': parsedCidr,
  [`${CIDR}.ip()`]: ({ ip }: Cidr) => ip,
  [`${CIDR}.prefixLength()`]: ({ prefix }: Cidr) => BigInt(prefix),
  [`${CIDR}.masked()`]: masked,
  [`${CIDR}.containsIP(${IP})`]: containsIp,
  [`${CIDR}.containsIP(string)`]: (cidr: Cidr, text: string) => containsIp(cidr, parsedIp(text)),
  [`${CIDR}.containsCIDR(${CIDR})`]: containsCidr,
  [`${CIDR}.containsCIDR(string)`]: (cidr: Cidr, text: string) => containsCidr(cidr, parsedCidr(text)),
  'isURL(string)': isRequestUri,
  'url(string)': parsedUrl,
  [`${URL_TYPE}.getScheme()`]: ({ scheme }: Url) => scheme,
  [`${URL_TYPE}.getHost()`]: ({ host }: Url) => host,
  [`${URL_TYPE}.getHostname()`]: hostnameOf,
  [`${URL_TYPE}.getPort()`]: portOf,
  [`${URL_TYPE}.getEscapedPath()`]: ({ path }: Url) => path,
  [`${URL_TYPE}.getQuery()`]: queryOf,
  'isSemver(string)': (text: string) => semverOf(text, false) !== undefined,
  'isSemver(string,bool)': (text: string, isLoose: boolean) => semverOf(text, isLoose) !== undefined,
  'semver(string)': (text: string) => version(text),
  'semver(string,bool)': version,
  ...Object.fromEntries(
    ['major', 'minor', 'patch'].map((name, index) => [
      `${SEMVER}.${name}()`,
      ({ numbers }: Semver) => numbers[index],
    ]),
  ),
  [`${SEMVER}.isGreaterThan(${SEMVER})`]: (one: Semver, other: Semver) => comparedVersions(one, other) > 0n,
  [`${SEMVER}.isLessThan(${SEMVER})`]: (one: Semver, other: Semver) => comparedVersions(one, other) < 0n,
  [`${SEMVER}.compareTo(${SEMVER})`]: comparedVersions,
  'format.named(string)': (name: string) => optional(NAMED_FORMATS.get(name)),
  ...Object.fromEntries([...NAMED_FORMATS].map(([name, format]) => [`format.${name}()`, () => format])),
  [`${FORMAT}.validate(string)`]: ({ check }: CelFormat, text: string) => {
    const errors = check(text);
    return optional(errors.length === 0 ? undefined : errors);
  },
};

const FUNCTIONS: ReadonlyMap<string, Handler> = new Map(
  Object.entries({ ...TYPES, ...TEXTS, ...LISTS, ...LIBRARIES }),
);

/** Names before a dot that are not values: `sets.contains`. */
export const NAMESPACES: ReadonlySet<string> = new Set([
  'sets',
  'lists',
  'optional',
  'strings',
  'format',
  'ip',
  'cel',
]);

/** Names of functions, with the number of arguments: `size/1`, `.size/0`. */
const NAMES: ReadonlySet<string> = new Set(
  [...FUNCTIONS.keys()].map((signature) => {
    const [, path = '', given = ''] = /^(.*)\((.*)\)$/.exec(signature) ?? [];
    const [space = ''] = path.split('.');
    const name = NAMESPACES.has(space) ? path : path.replace(/^.*\./, '.');
    return `${name}/${given === '' ? 0 : given.split(',').length}`;
  }),
);

/** True for a function of this name with this number of arguments; `.name` is called on a value. */
export function isFunction(name: string, argumentCount: number): boolean {
  return NAMES.has(`${name}/${argumentCount}`);
}

/** Calls the function for the types of the values; `.name` is called on the first value. @throws CelError */
export function called(name: string, values: Items): CelValue {
  const [types, all] = [values.map(typeName), values.map(() => 'any')];
  const isMember = name.startsWith('.');
  const signature = (given: readonly string[]): string =>
    isMember ? `${types[0] ?? ''}${name}(${given.slice(1).join(',')})` : `${name}(${given.join(',')})`;
  const handler = FUNCTIONS.get(signature(types)) ?? FUNCTIONS.get(signature(all));
  if (handler === undefined) throw new CelError('no such overload');
  return handler(...values);
}
