/** The hosts that are this machine. Names are not resolved, because a name may resolve to another address later. */
import { BlockList, isIP } from 'node:net';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Returns the host of a URL without the brackets of an IPv6 address: as sockets and certificates have it. */
export function withoutBrackets(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

/** @param host as in a URL, brackets of IPv6 addresses allowed */
export function isLoopbackHost(host: string): boolean {
  const bare = withoutBrackets(host).toLowerCase();
  const family = isIP(bare);
  if (family === 0) return bare === 'localhost';
  return LOOPBACK.check(bare, family === 4 ? 'ipv4' : 'ipv6');
}
