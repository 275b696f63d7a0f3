/**
 * NO_PROXY, read as Go's httpproxy reads it: addresses, networks (10.0.0.0/8), names with all subdomains
 * (example.com), only subdomains (.example.com, *.example.com), each with an optional port, or `*` for
 * everything. Other entries are ignored.
 */
import { BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';

/** @param host lower case, without the brackets of IPv6 addresses */
export function isExcluded(host: string, port: number, noProxy: string): boolean {
  return noProxy.split(',').some((entry) => matches(entry.trim().toLowerCase(), host, port));
}

function matches(entry: string, host: string, port: number): boolean {
  if (entry === '') return false;
  if (entry === '*') return true;
  const network = networkOf(entry);
  if (network) return isIP(host) !== 0 && network.check(host, familyOf(host));
  const { name, wantedPort } = splitPort(entry);
  if (name === '' || (wantedPort !== undefined && wantedPort !== String(port))) return false;
  if (isIP(name) !== 0) return isIP(host) !== 0 && isSameAddress(name, host);
  return isBeneath(name, host);
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

function networkOf(entry: string): BlockList | undefined {
  const [, address = '', prefix = ''] = /^([^/]+)\/(\d{1,3})$/.exec(entry) ?? [];
  const bits = Number(prefix);
  if (isIP(address) === 0 || bits > (isIP(address) === 4 ? 32 : 128)) return undefined;
  const network = new BlockList();
  network.addSubnet(address, bits, familyOf(address));
  return network;
}

function isSameAddress(one: string, other: string): boolean {
  const list = new BlockList();
  list.addAddress(one, familyOf(one));
  return list.check(other, familyOf(other));
}

interface NameAndPort {
  readonly name: string;
  readonly wantedPort?: string;
}

/** Splits `host:80` and `[::1]:80`; an address with colons and no brackets has no port. */
function splitPort(entry: string): NameAndPort {
  const [, bracketed, bracketedPort] = /^\[([^\]]*)\](?::(\d+))?$/.exec(entry) ?? [];
  if (bracketed !== undefined) {
    return bracketedPort === undefined ? { name: bracketed } : { name: bracketed, wantedPort: bracketedPort };
  }
  const [, name, wantedPort] = /^([^:]*):(\d*)$/.exec(entry) ?? [];
  if (name === undefined || wantedPort === undefined) return { name: entry };
  return wantedPort === '' ? { name } : { name, wantedPort };
}

function isBeneath(name: string, host: string): boolean {
  const bare = name.startsWith('*.') ? name.slice(1) : name;
  if (bare.startsWith('.')) return host.endsWith(`.${ascii(bare.slice(1))}`);
  const domain = ascii(bare);
  return host === domain || host.endsWith(`.${domain}`);
}

/** Converts a name to the form in URLs; '' when it is no name. */
function ascii(name: string): string {
  return domainToASCII(name) || name;
}
