/** The errors of requests as the callbacks of a client-node program compare them. */
import type { ErrorCode, KubeloomError } from '../index.ts';

/** An answer that is an error, or a connection that failed. The cause is the error as kubeloom reports it. */
export class ListWatchError extends Error {
  /** `ListWatchError`, in messages and stacks. */
  override readonly name: string = 'ListWatchError';
  /** The HTTP status of the answer, such as 403; without an answer, the code of Node, such as `'ECONNREFUSED'`. */
  readonly code: number | string;
  /** The HTTP status of the answer; undefined without an answer. */
  readonly statusCode: number | undefined;
  /** The code of the cause, which docs/errors.md explains. */
  readonly kubeloomCode: ErrorCode;

  constructor(code: number | string, cause: KubeloomError) {
    super(cause.message, { cause });
    this.code = code;
    this.statusCode = typeof code === 'number' ? code : undefined;
    this.kubeloomCode = cause.code;
    // The cause has the frames.
    this.stack = `${this.name}: ${this.message}`;
  }
}

/** Codes of Node in place of kubeloom's own. */
const NODE_CODES: ReadonlyMap<string, string> = new Map([
  ['HTTP_CLOSED_EARLY', 'ECONNRESET'],
  ['HTTP_CONNECT_TIMEOUT', 'ETIMEDOUT'],
  ['HTTP_HEADERS_TIMEOUT', 'ETIMEDOUT'],
]);

/** Returns the error for callbacks: an error that client-node does not know is passed on as it is. */
export function toListWatchError(error: KubeloomError): KubeloomError | ListWatchError {
  const { httpStatus, errno }: KubeloomError & { readonly httpStatus?: unknown; readonly errno?: unknown } =
    error;
  if (typeof httpStatus === 'number') return new ListWatchError(httpStatus, error);
  if (typeof errno !== 'string') return error;
  const code = NODE_CODES.get(errno) ?? errno;
  return code === '' || code.startsWith('HTTP_') ? error : new ListWatchError(code, error);
}
