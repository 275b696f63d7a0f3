/**
 * What a server says went wrong: Kubernetes' Status objects, from an HTTP response or from inside a stream,
 * as errors with a code for what a client can do about it.
 */
import { KubeloomError } from '../errors.ts';

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** The part of `metav1.Status` that is read here. */
interface StatusBody {
  readonly kind?: string;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly retryAfterSeconds?: number; readonly causes?: readonly StatusCause[] };
}

export class KubeStatusError extends KubeloomError {
  /** The HTTP status, also for an error inside a stream. */
  readonly httpStatus: number;
  readonly reason: string;
  readonly retryAfterSeconds: number;
  readonly causes: readonly StatusCause[];

  constructor(httpStatus: number, body: StatusBody, retryAfterSeconds: number, where: string) {
    const code = codeOf(httpStatus, body);
    const said = body.message ?? `HTTP ${httpStatus}`;
    super(code, `${where}: ${said} (${httpStatus})${ADVICE[code] ? `; ${ADVICE[code]}` : ''}`);
    this.httpStatus = httpStatus;
    this.reason = body.reason ?? '';
    this.retryAfterSeconds = retryAfterSeconds;
    this.causes = body.details?.causes ?? [];
  }
}

const ADVICE: Readonly<Record<string, string>> = {
  ERR_KUBELOOM_UNAUTHORIZED: 'check the credentials of the kubeconfig: missing, wrong or expired',
  ERR_KUBELOOM_FORBIDDEN: 'grant the user "list" and "watch" on this resource',
  ERR_KUBELOOM_NOT_FOUND: 'check group, version, resource and namespace: the server does not serve this',
  ERR_KUBELOOM_BAD_REQUEST: 'check the label and field selectors',
};

/** @param body the response's text, or the object of an ERROR event */
export function statusError(
  httpStatus: number,
  body: string,
  retryAfterSeconds: number | undefined,
  where: string,
): KubeStatusError {
  const status = parse(body);
  const code = status.code ?? httpStatus;
  return new KubeStatusError(
    code,
    status,
    retryAfterSeconds ?? status.details?.retryAfterSeconds ?? 0,
    where,
  );
}

/** Not every proxy answers with a Status: anything else is quoted, shortened. */
function parse(body: string): StatusBody {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Status') {
      return value as StatusBody;
    }
  } catch {
    // Said below, as text.
  }
  const text = body.trim().slice(0, QUOTED_CHARACTERS_MAX);
  return text === '' ? {} : { message: text };
}

const QUOTED_CHARACTERS_MAX = 200;

function codeOf(httpStatus: number, body: StatusBody): string {
  if (isResourceVersionTooLarge(httpStatus, body)) return 'ERR_KUBELOOM_RESOURCE_VERSION_TOO_LARGE';
  if (httpStatus === 410 || body.reason === 'Expired' || body.reason === 'Gone') return 'ERR_KUBELOOM_GONE';
  return CODES[httpStatus] ?? 'ERR_KUBELOOM_HTTP_STATUS';
}

const CODES: Readonly<Record<number, string>> = {
  400: 'ERR_KUBELOOM_BAD_REQUEST',
  401: 'ERR_KUBELOOM_UNAUTHORIZED',
  403: 'ERR_KUBELOOM_FORBIDDEN',
  404: 'ERR_KUBELOOM_NOT_FOUND',
  429: 'ERR_KUBELOOM_TOO_MANY_REQUESTS',
  500: 'ERR_KUBELOOM_INTERNAL',
};

const TOO_LARGE_MESSAGE = 'Too large resource version';

/** Three generations of servers say it in three ways (client-go's reflector). */
function isResourceVersionTooLarge(httpStatus: number, body: StatusBody): boolean {
  const causes = body.details?.causes ?? [];
  if (causes.some(({ reason }) => reason === 'ResourceVersionTooLarge')) return true;
  if (body.reason !== 'Timeout' && httpStatus !== 504) return false;
  return (
    causes.some(({ message }) => message === TOO_LARGE_MESSAGE) ||
    (body.message ?? '').includes(TOO_LARGE_MESSAGE)
  );
}
