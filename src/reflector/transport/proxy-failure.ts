/** The failures on the way to a proxy and inside it. */

const PROXY_AUTHENTICATION_REQUIRED = 407;

/** The server was not reached because of the proxy. */
export class ProxyFailure extends Error {
  /** Without credentials. */
  readonly proxy: string;
  /** The status of the proxy's answer; 0 when there was none. */
  readonly status: number;
  /** The code from the operating system, TLS or the parser, or the one for the proxy's answer. */
  readonly code: string;

  constructor(proxy: string, status: number, code: string) {
    super('the proxy did not connect');
    this.proxy = proxy;
    this.status = status;
    this.code = code;
  }
}

export function answeredByProxy(proxy: string, status: number): ProxyFailure {
  return new ProxyFailure(proxy, status, `HTTP_PROXY_${status}`);
}

/** @param cause the error of the socket to the proxy; undefined: the proxy closed it */
export function unusableProxy(proxy: string, cause: unknown): ProxyFailure {
  const code = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  return new ProxyFailure(proxy, 0, cause === undefined ? 'HTTP_CLOSED_EARLY' : code);
}

/** @param url without query, for the message */
export function explainProxy(
  { proxy, status, code }: ProxyFailure,
  url: string,
): { code: string; message: string } {
  if (status === PROXY_AUTHENTICATION_REQUIRED) {
    return {
      code: 'ERR_KUBELOOM_PROXY_UNAUTHORIZED',
      message:
        `the proxy ${proxy} wants other credentials (407) on the way to ${url}: ` +
        'put user name and password into the proxy’s URL',
    };
  }
  if (status > 0) {
    return {
      code: 'ERR_KUBELOOM_PROXY',
      message:
        `the proxy ${proxy} answered ${status} and did not connect to ${url}: ` +
        'does it allow and reach that server? NO_PROXY lists what goes past it',
    };
  }
  return {
    code: 'ERR_KUBELOOM_PROXY',
    message:
      `the way to ${url} leads over the proxy ${proxy}, which cannot be used (${code || 'no reason given'}): ` +
      'check proxy-url of the kubeconfig, HTTPS_PROXY and NO_PROXY',
  };
}
