/** The parts of a proxy's URL, with its credentials as a header value. */
import { TransportFailure } from './http-errors.ts';

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
    this.host = hostname.replace(/^\[(.*)\]$/, '$1');
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
