/** Addresses, networks, URLs and versions in rules. */

import { isIPv4, isIPv6 } from 'node:net';
import { CelError } from './cel-values.ts';
import { isRequestUri } from './validation-formats.ts';

export class Ip {
  static readonly celName = 'net.IP';
  readonly family: 4 | 6;
  readonly bits: bigint;

  constructor(family: 4 | 6, bits: bigint) {
    this.family = family;
    this.bits = bits;
  }
}

export class Cidr {
  static readonly celName = 'net.CIDR';
  readonly ip: Ip;
  readonly prefix: number;

  constructor(ip: Ip, prefix: number) {
    this.ip = ip;
    this.prefix = prefix;
  }
}

export class Url {
  static readonly celName = 'kubernetes.URL';
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;

  constructor(text: string) {
    const [, scheme = '', , host = '', path = '', query = ''] =
      /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(\/\/(?:[^/?#@]*@)?([^/?#]*))?([^?#]*)(?:\?([^#]*))?/.exec(text) ?? [];
    this.scheme = scheme.toLowerCase();
    this.host = host;
    this.path = path;
    this.query = query;
  }
}

const WIDTH = { 4: 32, 6: 128 } as const;

function hexOf(bits: bigint, digits: number): string {
  return bits.toString(16).padStart(digits, '0');
}

function groupsOf(text: string): bigint[] {
  return text === '' ? [] : text.split(':').map((group) => BigInt(`0x${group}`));
}

function bitsOf(text: string): bigint {
  if (isIPv4(text)) return text.split('.').reduce((bits, part) => bits * 256n + BigInt(part), 0n);
  const dotted = /[^:]+\.[^:]+$/.exec(text)?.[0];
  const tail = dotted === undefined ? '' : hexOf(bitsOf(dotted), 8).replace(/^(....)/, '$1:');
  const [head = '', rest] = text.replace(dotted ?? '\0', tail).split('::');
  const [before, after] = [groupsOf(head), groupsOf(rest ?? '')];
  const zeros = rest === undefined ? 0 : 8 - before.length - after.length;
  return [...before, ...Array.from({ length: zeros }, () => 0n), ...after].reduce(
    (bits, group) => bits * 65_536n + group,
    0n,
  );
}

/** Returns the address; undefined for a text that is none, for a zone, and for IPv4 inside IPv6. */
export function ipOf(text: string): Ip | undefined {
  if (isIPv4(text)) return new Ip(4, bitsOf(text));
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const bits = bitsOf(text);
  return bits >> 32n === 0xffffn ? undefined : new Ip(6, bits);
}

/** @throws CelError */
export function parsedIp(text: string): Ip {
  const ip = ipOf(text);
  if (ip !== undefined) return ip;
  const shown = JSON.stringify(text);
  if (isIPv6(text)) {
    throw new CelError(
      text.includes('%')
        ? `IP address ${shown} with zone value is not allowed`
        : `IPv4-mapped IPv6 address ${shown} is not allowed`,
    );
  }
  const why = `ParseAddr(${shown}): unable to parse IP`;
  throw new CelError(`IP Address ${shown} parse error during conversion from string: ${why}`);
}

export function ipText({ family, bits }: Ip): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => String((bits >> shift) & 255n)).join('.');
  const groups = hexOf(bits, 32).match(/.{4}/g) ?? [];
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

/** Tells which special range contains an address. */
export const IP_RANGES: Readonly<Record<string, (ip: Ip) => boolean>> = {
  isUnspecified: ({ bits }) => bits === 0n,
  isLoopback: ({ family, bits }) => (family === 4 ? bits >> 24n === 127n : bits === 1n),
  isLinkLocalMulticast: ({ family, bits }) =>
    family === 4 ? bits >> 8n === 0xe00000n : ((bits >> 112n) & 0xff0fn) === 0xff02n,
  isLinkLocalUnicast: ({ family, bits }) =>
    family === 4 ? bits >> 16n === 0xa9fen : bits >> 118n === 0x3fan,
  isGlobalUnicast: ({ family, bits }) => {
    if (bits === 0n || (family === 4 ? bits === 0xffffffffn : bits === 1n)) return false;
    if (family === 4) return bits >> 24n !== 127n && bits >> 28n !== 0xen && bits >> 16n !== 0xa9fen;
    return bits >> 120n !== 0xffn && bits >> 118n !== 0x3fan;
  },
};

export function cidrOf(text: string): Cidr | undefined {
  const [, address = '', prefix = ''] = /^([^/]*)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const ip = ipOf(address);
  return ip === undefined || Number(prefix) > WIDTH[ip.family] ? undefined : new Cidr(ip, Number(prefix));
}

/** @throws CelError */
export function parsedCidr(text: string): Cidr {
  const cidr = cidrOf(text);
  if (cidr !== undefined) return cidr;
  const prefix = 'network address parse error during conversion from string: ';
  throw new CelError(`${prefix}${prefix}netip.ParsePrefix(${JSON.stringify(text)}): no '/'`);
}

/** Returns the bits that a prefix of this length covers. */
function networkOf({ family, bits }: Ip, prefix: number): bigint {
  const rest = BigInt(WIDTH[family] - prefix);
  return (bits >> rest) << rest;
}

export function masked({ ip, prefix }: Cidr): Cidr {
  return new Cidr(new Ip(ip.family, networkOf(ip, prefix)), prefix);
}

export function containsIp({ ip, prefix }: Cidr, other: Ip): boolean {
  return ip.family === other.family && networkOf(ip, prefix) === networkOf(other, prefix);
}

export function containsCidr(one: Cidr, other: Cidr): boolean {
  return one.prefix <= other.prefix && containsIp(one, other.ip);
}

/** @throws CelError */
export function parsedUrl(text: string): Url {
  if (isRequestUri(text)) return new Url(text);
  throw new CelError(
    `URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`,
  );
}

export function portOf({ host }: Url): string {
  return /:(\d*)$/.exec(host)?.[1] ?? '';
}

export function hostnameOf({ host }: Url): string {
  return host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
}

export class Semver {
  static readonly celName = 'kubernetes.Semver';
  readonly numbers: readonly bigint[];
  readonly pre: readonly string[];

  constructor(numbers: readonly bigint[], pre: readonly string[]) {
    this.numbers = numbers;
    this.pre = pre;
  }
}

const NUMBER = '(0|[1-9]\\d*)';
const PRE = '(?:0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*)';
const SEMVER = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-(${PRE}(?:\\.${PRE})*))?(?:\\+[0-9A-Za-z.-]+)?$`,
);
const SEMVER_LENGTH_MAX = 256;

/** Returns the version; with `isLoose`, `v1.2` is 1.2.0. */
export function semverOf(text: string, isLoose: boolean): Semver | undefined {
  const plain = isLoose
    ? text
        .replace(/^v/, '')
        .replace(/^\d+$/, '$&.0')
        .replace(/^\d+\.\d+$/, '$&.0')
        .replaceAll(/(^|\.)0+(?=\d)/g, '$1')
    : text;
  const [, major, minor = '', patch = '', pre = ''] =
    plain.length > SEMVER_LENGTH_MAX ? [] : (SEMVER.exec(plain) ?? []);
  if (major === undefined) return undefined;
  return new Semver([major, minor, patch].map(BigInt), pre === '' ? [] : pre.split('.'));
}

/** Returns -1, 0 or 1: numbers first; a version without a suffix follows the versions with a suffix. */
export function comparedVersions(one: Semver, other: Semver): bigint {
  for (const [index, number] of one.numbers.entries()) {
    const against = other.numbers[index] ?? 0n;
    if (number !== against) return number < against ? -1n : 1n;
  }
  if (one.pre.length === 0 || other.pre.length === 0)
    return BigInt(Math.sign(other.pre.length - one.pre.length));
  for (const [index, part] of one.pre.entries()) {
    const against = other.pre[index];
    if (against === undefined) return 1n;
    if (part === against) continue;
    const [left, right] = [/^\d+$/.test(part), /^\d+$/.test(against)];
    if (left !== right) return left ? -1n : 1n;
    return (left ? BigInt(part) < BigInt(against) : part < against) ? -1n : 1n;
  }
  return one.pre.length < other.pre.length ? -1n : 0n;
}
