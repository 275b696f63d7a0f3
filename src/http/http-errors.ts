/**
 * The failures below HTTP as kubeloom's errors: a stable code, what happened, what to do. The original code
 * (`ECONNREFUSED`, `CERT_HAS_EXPIRED`, …) is in `errno`.
 */
import type { ErrorCode } from '../base/error-codes/error-table.ts';
import { KubeloomError, messageOf } from '../base/errors.ts';
import type { Malformed } from './response-parser-head.ts';

export class HttpError extends KubeloomError {
  /** Without the query. */
  readonly url: string;
  /** The code of the error that the parser, TLS or the operating system gave, or ''. */
  readonly errno: string;

  constructor(code: ErrorCode, message: string, url: string, errno: string, cause?: unknown) {
    super(code, message, cause === undefined ? {} : { cause });
    this.url = url;
    this.errno = errno;
  }
}

/** An error that our connections or parser find, with a code in the place of the operating system's errno. */
export class TransportFailure extends Error {
  readonly code: `HTTP_${string}`;

  constructor(code: `HTTP_${string}`, message: string) {
    super(message);
    this.code = code;
  }
}

const UNREACHABLE = new Map([
  ['ECONNREFUSED', 'nothing listens there: is the apiserver running, and are address and port right?'],
  ['ENOTFOUND', 'the name does not resolve: check the cluster’s server in the kubeconfig and the DNS'],
  ['EAI_AGAIN', 'the name could not be resolved for now: check the DNS'],
  ['EHOSTUNREACH', 'there is no route to that host: check network and VPN'],
  ['EHOSTDOWN', 'the host is down: check network and VPN'],
  ['ENETUNREACH', 'that network cannot be reached: check network and VPN'],
  ['ENETDOWN', 'the network is down'],
  ['EADDRNOTAVAIL', 'no local address or port is available for the connection'],
  ['ETIMEDOUT', 'no answer to the connection attempt: check network, firewall and VPN'],
  ['HTTP_CONNECT_TIMEOUT', 'no answer to the connection attempt in time: check network, firewall and VPN'],
  ['EMFILE', 'this process has too many files and sockets open: raise the limit (ulimit -n)'],
]);

const CHECK_CA =
  'check certificate-authority (or -data) of the cluster in the kubeconfig; without one, the CAs of the system count';
const UNKNOWN_ISSUER = `its certificate is not signed by the CA that is trusted here: ${CHECK_CA}`;
const SELF_SIGNED = `its certificate is self-signed and not among the trusted ones: ${CHECK_CA}`;
const SELF_SIGNED_CHAIN = `its certificate is not signed by the CA that is trusted here but by another root: ${CHECK_CA}`;
const INCOMPLETE_CHAIN =
  'a CA between its certificate and the trusted CA is missing: let the server send the intermediate certificates, ' +
  'or add them to certificate-authority of the cluster';
const WRONG_SIGNATURE =
  'the CA of that name has not signed its certificate: was the CA made again with another key? Renew the certificate or the CA of the kubeconfig';
const NO_CA =
  'a certificate that signs in its chain is not that of a CA (basicConstraints CA:TRUE): renew it, or trust the server’s own certificate';
const REFUSED_CLIENT =
  'the server refused the client certificate: check client-certificate and client-key of the user, they may have expired';
const UNUSABLE_MATERIAL =
  'the CA, client certificate or client key of the kubeconfig cannot be used: are they PEM and do they belong together?';
const NO_TLS = 'the server does not speak TLS on that port: check the port, or is it http:// ?';

const TLS = new Map([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', SELF_SIGNED],
  ['SELF_SIGNED_CERT_IN_CHAIN', SELF_SIGNED_CHAIN],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', UNKNOWN_ISSUER],
  ['UNABLE_TO_GET_ISSUER_CERT', INCOMPLETE_CHAIN],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', UNKNOWN_ISSUER],
  ['CERT_SIGNATURE_FAILURE', WRONG_SIGNATURE],
  ['INVALID_CA', NO_CA],
  ['CERT_UNTRUSTED', UNKNOWN_ISSUER],
  [
    'CERT_HAS_EXPIRED',
    'its certificate or that of its CA has expired: renew it, or check the clock of this machine',
  ],
  [
    'CERT_NOT_YET_VALID',
    'its certificate or that of its CA is not valid yet: check the clock of this machine',
  ],
  ['INVALID_PURPOSE', 'its certificate is not for servers (extendedKeyUsage serverAuth): renew it'],
  [
    'PATH_LENGTH_EXCEEDED',
    'there are more CAs in its chain than one of them allows (pathlen): renew that CA',
  ],
  ['CERT_REVOKED', 'its certificate has been revoked'],
  ['HOSTNAME_MISMATCH', 'its certificate is for another name: set tls-server-name in the kubeconfig'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', NO_TLS],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', NO_TLS],
  ['EPROTO', NO_TLS],
]);

const RESET = new Set(['ECONNRESET', 'EPIPE', 'HTTP_CLOSED_EARLY']);

const MALFORMED: ReadonlySet<string> = new Set<Malformed>([
  'HTTP_STATUS_LINE',
  'HTTP_HEADER',
  'HTTP_HEADERS_TOO_LARGE',
  'HTTP_CONTENT_LENGTH',
  'HTTP_TRANSFER_ENCODING',
  'HTTP_UPGRADE',
  'HTTP_CHUNK_SIZE',
  'HTTP_CHUNK_EXTENSION',
  'HTTP_CHUNK_END',
  'HTTP_TRAILER',
  'HTTP_INFORMATIONAL',
]);

/** @param url without query, for the message */
export function toHttpError(error: unknown, url: string): KubeloomError {
  if (error instanceof KubeloomError) return error;
  const errno = codeOf(error);
  const [code, message] = explain(error, errno, url);
  return new HttpError(code, message, url, errno, error);
}

export function unexpectedEncoding(encoding: string, url: string): HttpError {
  return new HttpError(
    'ERR_KUBELOOM_HTTP',
    `the answer of ${url} is encoded (${encoding}) although that was not asked for; ` +
      'a proxy on the way seems to compress, switch that off for this server',
    url,
    'content-encoding',
  );
}

/** @param cause the reason, with the code of zlib if it is an error of zlib */
export function notInflated(cause: Error, url: string): HttpError {
  return new HttpError(
    'ERR_KUBELOOM_HTTP',
    `the answer of ${url} cannot be inflated: ${messageOf(cause)}; ` +
      'if that remains, check the proxies on the way, or set the option `compression` to off',
    url,
    codeOf(cause) || 'content-encoding',
    cause,
  );
}

type Explanation = readonly [code: ErrorCode, message: string];

function explain(error: unknown, errno: string, url: string): Explanation {
  if (error instanceof ProxyFailure) return explainProxy(error, url);
  const unreachable = UNREACHABLE.get(errno);
  if (unreachable !== undefined) {
    return ['ERR_KUBELOOM_UNREACHABLE', `cannot reach ${url} (${errno}): ${unreachable}`];
  }
  const tls = tlsAdvice(error, errno);
  if (tls !== undefined) return ['ERR_KUBELOOM_TLS', `no trusted connection to ${url} (${errno}): ${tls}`];
  if (RESET.has(errno)) {
    return [
      'ERR_KUBELOOM_CONNECTION_RESET',
      `the connection to ${url} was closed before the answer was complete (${errno}); kubeloom tries again`,
    ];
  }
  if (errno === 'HTTP_HEADERS_TIMEOUT') {
    return [
      'ERR_KUBELOOM_STALLED',
      `${url} did not answer in time (${errno}): the apiserver is overloaded or a proxy holds the answer back`,
    ];
  }
  if (errno === 'HTTP_DISPOSED') {
    return ['ERR_KUBELOOM_STOPPED', `the request for ${url} was ended by shutdown`];
  }
  if (MALFORMED.has(errno)) {
    return [
      'ERR_KUBELOOM_HTTP',
      `the answer of ${url} is not valid HTTP (${errno}): is that really an apiserver?`,
    ];
  }
  return ['ERR_KUBELOOM_HTTP', `the request for ${url} failed: ${messageOf(error)}`];
}

function tlsAdvice(error: unknown, errno: string): string | undefined {
  if (errno === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `its certificate ${namesOf(error)}`;
  }
  if (errno.includes('ALERT')) return REFUSED_CLIENT;
  const known = TLS.get(errno);
  if (known !== undefined) return known;
  if (errno.startsWith('ERR_OSSL')) return UNUSABLE_MATERIAL;
  return errno.startsWith('ERR_SSL') || errno.startsWith('ERR_TLS') ? messageOf(error) : undefined;
}

function namesOf(error: unknown): string {
  const certificate = error instanceof Error && 'cert' in error ? error.cert : undefined;
  const isKnown = typeof certificate === 'object' && certificate !== null && 'subjectaltname' in certificate;
  const names = isKnown ? certificate.subjectaltname : undefined;
  if (typeof names !== 'string') {
    return 'has no subject alternative name, and its common name does not count: renew it with the server’s name';
  }
  return `is for ${names} and not for this server: use a name that it has, or set tls-server-name in the kubeconfig`;
}

/** Returns the error's code; when several addresses were tried, the code of the first failure. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  if (!(error instanceof Error)) return '';
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

export class ProxyFailure extends Error {
  /** Without credentials. */
  readonly proxy: string;
  /** The status of the proxy's answer; 0 when there was none. */
  readonly status: number;
  /** The code from the operating system, TLS or the parser, or the code for the proxy's answer. */
  readonly code: string;

  constructor(proxy: string, status: number, code: string) {
    super('the proxy did not connect');
    this.proxy = proxy;
    this.status = status;
    this.code = code;
  }
}

/** @param cause the error of the socket to the proxy; undefined: the proxy closed it */
export function unusableProxy(proxy: string, cause: unknown): ProxyFailure {
  return new ProxyFailure(proxy, 0, cause === undefined ? 'HTTP_CLOSED_EARLY' : codeOf(cause));
}

function explainProxy({ proxy, status, code }: ProxyFailure, url: string): Explanation {
  if (status === 407) {
    return [
      'ERR_KUBELOOM_PROXY',
      `the proxy ${proxy} wants other credentials (407) on the way to ${url}: ` +
        'put user name and password into the proxy’s URL',
    ];
  }
  const message =
    status > 0
      ? `the proxy ${proxy} answered ${status} and did not connect to ${url}: ` +
        'does it allow and reach that server? NO_PROXY lists what goes past it'
      : `the way to ${url} leads over the proxy ${proxy}, which cannot be used (${code || 'no reason given'}): ` +
        'check proxy-url of the kubeconfig, HTTPS_PROXY and NO_PROXY';
  return ['ERR_KUBELOOM_PROXY', message];
}
