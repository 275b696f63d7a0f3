/** The formats of strings that a real server checks (go-openapi/strfmt). Texts of all other formats are accepted. */

import { isIPv6 } from 'node:net';
import { isInstant } from '../store/instant.ts';

type Check = (text: string) => boolean;

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && isInstant(`${text}T00:00:00`);
}

function isDateTime(text: string): boolean {
  const [date = '', time = ''] = text.toLowerCase().split('t');
  const [, hour = '', minute = '', second = ''] =
    /^(\d\d):(\d\d):(\d\d)(?:[^\n]\d+)?(?:z|[+-]\d\d:\d\d)$/.exec(time) ?? [];
  return isDate(date) && hour !== '' && hour <= '23' && minute <= '59' && second <= '59';
}

/** True for an address of IPv4, in which a part may begin with zeros. */
function isDotted(text: string): boolean {
  return (
    /^\d+(\.\d+){3}$/.test(text) && text.split('.').every((part) => Number(part) <= 255 && part.length < 10)
  );
}

function isColons(text: string): boolean {
  return isIPv6(text) && !text.includes('%');
}

function isCidr(text: string): boolean {
  const [, address = '', bits = ''] = /^([^/]*)\/(\d{1,3})$/.exec(text) ?? [];
  if (bits === '') return false;
  return isDotted(address) ? Number(bits) <= 32 : isColons(address) && Number(bits) <= 128;
}

/** True for an absolute URI or an absolute path, as Go's url.ParseRequestURI reads it. */
export function isRequestUri(text: string): boolean {
  // eslint-disable-next-line no-control-regex
  if (text === '' || /[\u0000-\u001f\u007f]/.test(text)) return false;
  if (text === '*') return true;
  const [, scheme, rest = text] = /^([A-Za-z][A-Za-z0-9+.-]*):(.*)$/s.exec(text) ?? [];
  if (!rest.startsWith('/')) return scheme !== undefined && rest !== '' && !rest.startsWith('?');
  const [address = ''] = rest.split('?', 1);
  const isAuthority = address.startsWith('//') && (scheme !== undefined || !address.startsWith('///'));
  const [, authority = '', path = ''] = isAuthority
    ? (/^\/\/([^/]*)(.*)$/s.exec(address) ?? [])
    : ['', '', address];
  return !/%(?![0-9A-Fa-f]{2})/.test(path) && isAuthorityPart(authority);
}

function isAuthorityPart(authority: string): boolean {
  const at = authority.lastIndexOf('@');
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(at < 0 ? '' : authority.slice(0, at))) return false;
  const host = authority.slice(at + 1);
  if (host.startsWith('[')) return /^\[[^\]]+\](:\d*)?$/.test(host);
  const [, name = '', port = ''] = /^(.*?)(:[^:]*)?$/s.exec(host) ?? [];
  return /^(:\d*)?$/.test(port) && !/[ "<>^`{|}\\:]|%(?![89A-Fa-f][0-9A-Fa-f])/.test(name);
}

const HOSTNAME =
  /^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.))+([a-zA-Z\p{L}]){2,63})$/u;

function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > 255) return false;
  return HOSTNAME.test(text) && text.split('.').every((part) => Buffer.byteLength(part) <= 63);
}

const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\u0080-\\u{10ffff}-]+";
const DOTTED = `${ATOM}(?:\\.${ATOM})*`;
const ADDRESS = `(?:${DOTTED}|"(?:[^"\\\\]|\\\\.)*")@(?:${DOTTED}|\\[[^\\]]*\\])`;
const EMAIL = new RegExp(
  `^\\s*(?:${ADDRESS}|(?:(?:${DOTTED}|"[^"]*")\\s+)*(?:${DOTTED}|"[^"]*")?\\s*<${ADDRESS}>)\\s*$`,
  'u',
);
const EMAIL_LENGTH_MAX = 4096;

const GO_DURATION = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const UNITS = /^(?:ns|us|µs|ms|s|m|h|d|w|hr|wk|nano.*|micro.*|milli.*|sec.*|min.*|hour.*|day.*|week.*)$/i;

function isDuration(text: string): boolean {
  if (GO_DURATION.test(text)) return true;
  return [...text.matchAll(/\d+\s*([A-Za-zµ]+)/g)].some(([, unit = '']) => UNITS.test(unit));
}

function isMac(text: string): boolean {
  if (/^[0-9A-Fa-f]{4}(\.[0-9A-Fa-f]{4})+$/.test(text)) return [6, 8, 20].includes((text.length + 1) / 2.5);
  if (!/^[0-9A-Fa-f]{2}([:-])[0-9A-Fa-f]{2}(\1[0-9A-Fa-f]{2})+$/.test(text)) return false;
  return [6, 8, 20].includes((text.length + 1) / 3);
}

/** Returns the sum of digits with alternating or rising weights. */
function weighted(digits: string, weightOf: (index: number) => number): number {
  return Array.from(digits).reduce(
    (sum, digit, index) => sum + weightOf(index) * (digit === 'X' ? 10 : Number(digit)),
    0,
  );
}

function isIsbn10(text: string): boolean {
  const digits = text.replaceAll(/[\s-]+/g, '');
  return /^\d{9}[\dX]$/.test(digits) && weighted(digits, (index) => index + 1) % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replaceAll(/[\s-]+/g, '');
  return /^\d{13}$/.test(digits) && weighted(digits, (index) => (index % 2 === 0 ? 1 : 3)) % 10 === 0;
}

const CARD =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/;

function isCreditCard(text: string): boolean {
  const digits = text.replaceAll(/\D+/g, '');
  const isOdd = digits.length % 2;
  const sum = Array.from(digits).reduce((total, digit, index) => {
    const doubled = Number(digit) * (index % 2 === isOdd ? 2 : 1);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return CARD.test(digits) && sum % 10 === 0;
}

function matching(expression: RegExp, lengthMax = Number.POSITIVE_INFINITY): Check {
  return (text) => text.length <= lengthMax && expression.test(text);
}

function uuid(version: string, variant: string): Check {
  return matching(
    new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?${variant}[0-9a-f]{3}-?[0-9a-f]{12}$`, 'i'),
  );
}

const CHANNEL = '\\s*(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*';
const LABEL = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';

const FORMATS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['bsonobjectid', matching(/^[0-9a-fA-F]{24}$/)],
  ['uri', isRequestUri],
  ['email', matching(EMAIL, EMAIL_LENGTH_MAX)],
  ['hostname', isHostname],
  ['ipv4', (text) => isDotted(text) || (isColons(text) && text.includes('.'))],
  ['ipv6', isColons],
  ['cidr', isCidr],
  ['mac', isMac],
  ['uuid', uuid('[0-9a-f]', '[0-9a-f]')],
  ['uuid3', uuid('3', '[0-9a-f]')],
  ['uuid4', uuid('4', '[89ab]')],
  ['uuid5', uuid('5', '[89ab]')],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', matching(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/, 11)],
  ['hexcolor', matching(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ['rgbcolor', matching(new RegExp(`^rgb\\(${CHANNEL},${CHANNEL},${CHANNEL}\\)$`))],
  ['byte', (text) => /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0],
  ['password', () => true],
  ['date', isDate],
  ['duration', isDuration],
  ['datetime', isDateTime],
  ['k8sshortname', matching(new RegExp(`^${LABEL}$`), 63)],
  ['k8slongname', matching(new RegExp(`^${LABEL}(?:\\.${LABEL})*$`), 253)],
]);

/** Returns the check of a format; dashes in names of formats do not count. */
export function formatCheck(format: string): Check | undefined {
  return FORMATS.get(format.replaceAll('-', ''));
}
