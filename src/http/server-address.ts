/** The address of a transport's requests and their text, derived once from the connection options. */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { checkServerIdentity, createSecureContext } from 'node:tls';
import type { PeerCertificate, SecureContext } from 'node:tls';
import { withoutBrackets } from '../base/loopback.ts';
import type { ConnectionOptions, Headers } from '../kube/connection-options.ts';
import type { HttpRequest } from './http.ts';
import { TransportFailure } from './http-errors.ts';
import { FIELD_NAME } from './response-parser-head.ts';

const PORTS: ReadonlyMap<string, number> = new Map([
  ['http:', 80],
  ['https:', 443],
]);
/** A path contains no white space: it would end the request line. */
const PATH = /^[\x21-\x7e]+$/;
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers that the transport sets itself, because they describe the use of the connection. */
const RESERVED: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'proxy-authorization',
  'transfer-encoding',
  'upgrade',
]);

export class ServerAddress {
  /** `https://host:6443`, for messages. */
  readonly origin: string;
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  readonly rejectUnauthorized: boolean;
  /** The name that the server's certificate must contain. */
  readonly name: string;
  /** The proxy to which the socket connects, if any. */
  readonly proxy: ProxyAddress | undefined;
  /** Host and port, in the form of CONNECT. */
  readonly authority: string;
  /** The name in the TLS handshake, which allows no addresses. */
  readonly serverName: string | undefined;
  /** The prefix of every path: apiservers behind a proxy use a prefix. */
  readonly #basePath: string;
  readonly #headers: Headers;
  readonly #connection: ConnectionOptions;
  #context: SecureContext | undefined;

  /** @throws TypeError when the server is no http or https URL */
  constructor(connection: ConnectionOptions) {
    const url = new URL(connection.server);
    const defaultPort = PORTS.get(url.protocol);
    if (defaultPort === undefined) throw new TypeError(`neither http: nor https: but ${url.protocol}`);
    this.origin = url.origin;
    this.host = withoutBrackets(url.hostname);
    this.port = url.port === '' ? defaultPort : Number(url.port);
    this.isTls = url.protocol === 'https:';
    // Always set, or NODE_TLS_REJECT_UNAUTHORIZED could switch verification off.
    this.rejectUnauthorized = connection.rejectUnauthorized !== false;
    this.name = connection.servername ?? this.host;
    this.serverName = isIP(this.name) === 0 ? this.name : undefined;
    this.proxy = connection.proxy === undefined ? undefined : new ProxyAddress(connection.proxy);
    this.authority = `${url.hostname}:${this.port}`;
    this.#basePath = withoutEndingSlashes(url.pathname);
    this.#connection = connection;
    this.#headers = {
      host: url.host,
      accept: 'application/json',
      'user-agent': 'kubeloom',
      ...lowerCased(connection.headers),
    };
  }

  /** @throws OpenSSL's error for unusable certificates and keys */
  get secureContext(): SecureContext {
    this.#context ??= secureContextOf(this.#connection);
    return this.#context;
  }

  /** Returns the URL without the query, for messages. */
  urlOf(path: string): string {
    return `${this.origin}${this.#basePath}${path.split('?', 1)[0]}`;
  }

  /**
   * Returns the request as the connection sends it: text in Latin 1, or bytes with a body.
   *
   * @throws TransportFailure when path or headers cannot be sent as they are
   */
  requestBytes({ method = 'GET', path, headers = {}, body, acceptsGzip }: HttpRequest): string | Buffer {
    const target = `${this.#isForProxy ? this.origin : ''}${this.#basePath}${path}`;
    if (!PATH.test(target)) throw new TransportFailure('HTTP_REQUEST', 'the path has invalid characters');
    const lines = [`${method} ${target} HTTP/1.1`];
    for (const [name, values] of Object.entries({ ...this.#headers, ...lowerCased(headers) })) {
      for (const value of [values].flat()) {
        if (!FIELD_NAME.test(name) || !FIELD_VALUE.test(value) || RESERVED.has(name)) {
          throw new TransportFailure('HTTP_REQUEST', `the header ${JSON.stringify(name)} cannot be sent`);
        }
        lines.push(`${name}: ${value}`);
      }
    }
    const { authorization } = (this.#isForProxy ? this.proxy : undefined) ?? {};
    if (acceptsGzip === true) lines.push('accept-encoding: gzip');
    if (authorization !== undefined) lines.push(`proxy-authorization: ${authorization}`);
    if (body !== undefined) lines.push(`content-length: ${body.length}`);
    const head = `${lines.join('\r\n')}\r\nconnection: keep-alive\r\n\r\n`;
    return body === undefined ? head : Buffer.concat([Buffer.from(head, 'latin1'), body]);
  }

  /** True when the proxy reads the requests itself: without TLS to the server there is no tunnel. */
  get #isForProxy(): boolean {
    return this.proxy !== undefined && !this.isTls;
  }
}

/** Returns the text without trailing slashes; an expression would take time quadratic in the slashes elsewhere. */
export function withoutEndingSlashes(text: string): string {
  let end = text.length;
  while (text.endsWith('/', end)) end--;
  return text.slice(0, end);
}

function lowerCased(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** The parts of a proxy's URL, with the credentials as a header value. */
export class ProxyAddress {
  /** `http://proxy:3128`, for messages: without credentials. */
  readonly origin: string;
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  /** The value of `Proxy-Authorization`. */
  readonly authorization: string | undefined;

  /** @throws TransportFailure when user name or password are badly encoded */
  constructor(url: string) {
    const { origin, hostname, port, protocol, username, password } = new URL(url);
    this.origin = origin;
    this.host = withoutBrackets(hostname);
    this.isTls = protocol === 'https:';
    this.port = port === '' ? (this.isTls ? 443 : 80) : Number(port);
    this.authorization = username === '' && password === '' ? undefined : basic(username, password);
  }
}

function basic(username: string, password: string): string {
  try {
    const plain = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return `Basic ${Buffer.from(plain).toString('base64')}`;
  } catch {
    throw new TransportFailure('HTTP_PROXY', 'user name and password of the proxy must be percent-encoded');
  }
}

export type TlsMaterial = Pick<ConnectionOptions, 'ca' | 'cert' | 'key'>;

/**
 * Returns CA, client certificate and key in the form of a TLS socket's options. Unusable values are refused, never omitted.
 *
 * @throws OpenSSL's error for unusable certificates and keys
 */
export function secureContextOf({ ca, cert, key }: TlsMaterial): SecureContext {
  // An empty CA would mean every public CA; a CA that is no PEM would silently trust none.
  if (ca !== undefined) void new X509Certificate(ca);
  // As in Go every given certificate is an anchor, intermediate certificates and the server's own included.
  const anchors = ca === undefined ? {} : { ca, allowPartialTrustChain: true };
  // The default of the version can be lowered from outside (--tls-min-v1.0).
  return createSecureContext({ minVersion: 'TLSv1.2', ...anchors, cert, key });
}

/**
 * Returns why the certificate is not the server's, undefined when it is. As in Go only the subject alternative names
 * count: the common name, which Node takes for certificates without any, is a text for people.
 */
export function serverIdentityError(name: string, certificate: PeerCertificate): Error | undefined {
  return checkServerIdentity(name, { ...certificate, subject: { ...certificate.subject, CN: '' } });
}
