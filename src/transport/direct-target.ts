/** Where the requests of one transport go, and how they are written: worked out once, from the connection options. */
import { isIP } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { ConnectionOptions } from '../threads/protocol.ts';
import { TransportFailure } from './http-errors.ts';
import { ProxyAddress } from './proxy-address.ts';
import { FIELD_NAME } from './response-parser-head.ts';
import { secureContextOf } from './tls-material.ts';

const PORTS: ReadonlyMap<string, number> = new Map([
  ['http:', 80],
  ['https:', 443],
]);
/** No white space: it would end the request line. */
const PATH = /^[\x21-\x7e]+$/;
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** They say how the connection is used, which is not the caller's business. */
const RESERVED: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'proxy-authorization',
  'transfer-encoding',
  'upgrade',
]);

export class DirectTarget {
  /** `https://host:6443`, for messages. */
  readonly origin: string;
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  readonly rejectUnauthorized: boolean;
  /** The name that the server's certificate must have. */
  readonly name: string;
  /** What the socket leads to first. */
  readonly proxy: ProxyAddress | undefined;
  /** Host and port, as CONNECT has them. */
  readonly authority: string;
  /** Put before every path: apiservers behind a proxy have one. */
  readonly #basePath: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #connection: ConnectionOptions;
  #context: SecureContext | undefined;

  /** @throws TypeError when the server is no http or https URL */
  constructor(connection: ConnectionOptions) {
    const url = new URL(connection.server);
    const defaultPort = PORTS.get(url.protocol);
    if (defaultPort === undefined) throw new TypeError(`neither http: nor https: but ${url.protocol}`);
    this.origin = url.origin;
    this.host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    this.port = url.port === '' ? defaultPort : Number(url.port);
    this.isTls = url.protocol === 'https:';
    // Said explicitly, or NODE_TLS_REJECT_UNAUTHORIZED could switch verification off.
    this.rejectUnauthorized = connection.rejectUnauthorized !== false;
    this.name = connection.servername ?? this.host;
    this.proxy = connection.proxy === undefined ? undefined : new ProxyAddress(connection.proxy);
    this.authority = `${url.hostname}:${this.port}`;
    this.#basePath = url.pathname.replace(/\/+$/, '');
    this.#connection = connection;
    this.#headers = {
      host: url.host,
      accept: 'application/json',
      'user-agent': 'kubeloom',
      ...lowerCased(connection.headers),
    };
  }

  /** What the handshake announces; addresses are not allowed there. */
  get serverName(): string | undefined {
    return isIP(this.name) === 0 ? this.name : undefined;
  }

  /** @throws what OpenSSL says of unusable certificates and keys */
  get secureContext(): SecureContext {
    this.#context ??= secureContextOf(this.#connection);
    return this.#context;
  }

  /** Without the query, for messages. */
  urlOf(path: string): string {
    return `${this.origin}${this.#basePath}${path.split('?', 1)[0]}`;
  }

  /** @throws TransportFailure when path or headers cannot be sent as they are */
  requestText(path: string, headers: Readonly<Record<string, string>>): string {
    const target = `${this.#isForProxy ? this.origin : ''}${this.#basePath}${path}`;
    if (!PATH.test(target)) throw new TransportFailure('HTTP_REQUEST', 'the path has invalid characters');
    const lines = [`GET ${target} HTTP/1.1`];
    for (const [name, value] of Object.entries({ ...this.#headers, ...lowerCased(headers) })) {
      if (!FIELD_NAME.test(name) || !FIELD_VALUE.test(value) || RESERVED.has(name)) {
        throw new TransportFailure('HTTP_REQUEST', `the header ${JSON.stringify(name)} cannot be sent`);
      }
      lines.push(`${name}: ${value}`);
    }
    const { authorization } = (this.#isForProxy ? this.proxy : undefined) ?? {};
    if (authorization !== undefined) lines.push(`proxy-authorization: ${authorization}`);
    return `${lines.join('\r\n')}\r\nconnection: keep-alive\r\n\r\n`;
  }

  /** Without TLS to the server there is no tunnel: the proxy reads the requests and must see where to. */
  get #isForProxy(): boolean {
    return this.proxy !== undefined && !this.isTls;
  }
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
