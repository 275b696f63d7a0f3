/**
 * Chooses the proxy for the requests to a server, by client-go's rules: the cluster's `proxy-url`, else the
 * environment (HTTPS_PROXY, HTTP_PROXY, NO_PROXY, also in lower case), which never applies to loopback.
 */
import { BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { KubeloomError } from '../base/errors.ts';
import { isLoopbackHost, withoutBrackets } from '../base/loopback.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ['http:', 80],
  ['https:', 443],
]);

/**
 * @param proxyUrl the cluster's `proxy-url`
 * @returns the proxy's URL, credentials included: a secret
 * @throws ERR_KUBELOOM_PROXY when it is no http or https proxy
 */
export function proxyFor(
  server: string,
  proxyUrl: string | undefined,
  environment: Environment,
): string | undefined {
  if (proxyUrl) return checkedProxy(proxyUrl, 'the proxy-url of the kubeconfig');
  const { protocol, hostname, port } = new URL(server);
  const [name, value] = setting(protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY', environment);
  if (value === '' || isLoopbackHost(hostname)) return undefined;
  const host = withoutBrackets(hostname).toLowerCase();
  const portNumber = port === '' ? (DEFAULT_PORTS.get(protocol) ?? 0) : Number(port);
  const [, noProxy] = setting('NO_PROXY', environment);
  if (isExcluded(host, portNumber, noProxy)) return undefined;
  // In a web server's CGI program this variable holds the request's Proxy header (httpoxy).
  if (name === 'HTTP_PROXY' && environment['REQUEST_METHOD']) {
    throw unsupported('$HTTP_PROXY of a CGI program may come from its caller: use https, or unset it');
  }
  return checkedProxy(value, `$${name}`);
}

function setting(name: string, environment: Environment): readonly [name: string, value: string] {
  const upper = environment[name];
  const lowerName = name.toLowerCase();
  return upper ? [name, upper] : [lowerName, environment[lowerName] ?? ''];
}

/** Checks the URL; errors never quote it, because it may contain a password. */
function checkedProxy(text: string, from: string): string {
  const url = SCHEME.test(text) ? text : `http://${text}`;
  if (!URL.canParse(url)) throw unsupported(`${from} is no URL: write it as http://host:port`);
  const { protocol } = new URL(url);
  if (protocol.startsWith('socks')) {
    throw unsupported(`${from} names a SOCKS proxy, which kubeloom does not speak to: use an HTTP proxy`);
  }
  if (!DEFAULT_PORTS.has(protocol)) {
    throw unsupported(`${from} is neither http: nor https: but ${protocol}`);
  }
  return url;
}

function unsupported(message: string): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_PROXY', message);
}

/**
 * Reads NO_PROXY as Go's httpproxy does: addresses, networks (10.0.0.0/8), names with all subdomains (example.com),
 * only subdomains (.example.com, *.example.com), each with an optional port, or `*` for everything. Other entries are
 * ignored.
 *
 * @param host lower case, without the brackets of IPv6 addresses
 */
function isExcluded(host: string, port: number, noProxy: string): boolean {
  return noProxy.split(',').some((entry) => matches(entry.trim().toLowerCase(), host, port));
}

function matches(entry: string, host: string, port: number): boolean {
  if (entry === '') return false;
  if (entry === '*') return true;
  const network = networkOf(entry);
  if (network) return isIP(host) !== 0 && network(host);
  const [name, onlyPort] = splitPort(entry);
  if (name === '' || (onlyPort !== '' && onlyPort !== String(port))) return false;
  if (isIP(name) !== 0) return isIP(host) !== 0 && isSameAddress(name, host);
  return isBeneath(name, host);
}

/** IPv4 addresses, also those that are written as IPv6 (`::ffff:10.0.0.1`). */
const IPV4: BlockList = new BlockList();
IPV4.addSubnet('0.0.0.0', 0, 'ipv4');

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

/** A network of IPv6 has an IPv4 address only when all its addresses are IPv4 ones (`::ffff:10.0.0.0/104`), as in Go. */
function networkOf(entry: string): ((address: string) => boolean) | undefined {
  const [, address = '', prefix = ''] = /^([^/]+)\/(\d{1,3})$/.exec(entry) ?? [];
  const bits = Number(prefix);
  if (isIP(address) === 0 || bits > (isIP(address) === 4 ? 32 : 128)) return undefined;
  const network = new BlockList();
  network.addSubnet(address, bits, familyOf(address));
  const isMixed = isIP(address) === 6 && bits < 96;
  return (host) => {
    const family = familyOf(host);
    return network.check(host, family) && !(isMixed && IPV4.check(host, family));
  };
}

function isSameAddress(one: string, other: string): boolean {
  const list = new BlockList();
  list.addAddress(one, familyOf(one));
  return list.check(other, familyOf(other));
}

/** Splits `host:80` and `[::1]:80`; the port is '' when there is none. Go accepts brackets with a port only. */
function splitPort(entry: string): readonly [name: string, port: string] {
  const [, bracketed, bracketedPort = ''] = /^\[([^\]]*)\]:(\d*)$/.exec(entry) ?? [];
  if (bracketed !== undefined) return [bracketed, bracketedPort];
  const [, name = entry, port = ''] = /^([^:]*):(\d*)$/.exec(entry) ?? [];
  return [name, port];
}

function isBeneath(name: string, host: string): boolean {
  const bare = name.replace(/^\*?\./, '');
  // The form in URLs; '' when it is no name.
  const domain = domainToASCII(bare) || bare;
  return host.endsWith(`.${domain}`) || (bare === name && host === domain);
}
