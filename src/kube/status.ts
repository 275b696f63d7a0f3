/**
 * Kubernetes' Status objects as errors: from the response to a request or from an ERROR event in a stream, with a
 * code for each remedy on the client's side.
 *
 * Every field's type is checked: a Status may come from any proxy on the way.
 */
import { jsonText } from '../base/json-text.ts';
import type { ErrorCode } from '../base/error-codes/error-table.ts';
import { KubeloomError, messageOf } from '../base/errors.ts';
import { parseJson } from '../base/parse-json.ts';
import { explanation, quotableText, withoutCredentials } from '../base/quotable.ts';
import { isRecord } from './meta-shape.ts';
import type { Fields } from './meta-shape.ts';

/** A cause in the status of a refused request. */
export interface StatusCause {
  /** Cause in CamelCase for programs: `FieldValueInvalid`. */
  readonly reason?: string;
  /** Cause as text for people. */
  readonly message?: string;
  /** Path of the field that caused the refusal: `spec.replicas`. */
  readonly field?: string;
}

/** A field that another manager owns, for which an apply was refused. */
export interface FieldConflict {
  /** Path of the field, as the server writes it: `.spec.replicas`, `.spec.containers[name="app"].image`. */
  readonly field: string;
  /** Name of the manager that owns the field; '' when the server names none. */
  readonly manager: string;
  /** Subresource through which that manager wrote the field; '' for the object itself. */
  readonly subresource: string;
}

/** The fields of `metav1.Status` that are used here; missing or invalid fields are left out. */
interface Status {
  readonly code?: number;
  readonly reason: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
  readonly continueToken: string;
  readonly causes: readonly StatusCause[];
}

/** An answer of the server that is an error, with the status and the reason of the server. */
export class KubeStatusError extends KubeloomError {
  /** The HTTP status; an ERROR event contains a status as well. */
  readonly httpStatus: number;
  /** Kubernetes' machine-readable reason, `Expired` or `Forbidden`; '' when there is none. */
  readonly reason: string;
  /** The server's message, at most 300 characters, without the secrets of the connection. */
  readonly serverMessage: string;
  /** Delay that the server requests; 0 when it sends none. */
  readonly retryAfterSeconds: number;
  /** Whether the server names a delay after which the request may be repeated. */
  readonly hasRetryAfter: boolean;
  /** Single causes of the refusal, such as invalid fields; empty if the server sends none. */
  readonly causes: readonly StatusCause[];
  /** Fields of other managers that an apply would have changed; empty unless the code is ERR_KUBELOOM_APPLY_CONFLICT. */
  readonly conflicts: readonly FieldConflict[];
  /** Token for the rest of an expired list, in a newer state; '' when the server sends none. */
  readonly continueToken: string;

  constructor(
    httpStatus: number,
    status: Status,
    retryAfterSeconds: number | undefined,
    where: string,
    advice: (code: ErrorCode) => string,
  ) {
    const code = codeOf(httpStatus, status);
    const conflicts = fieldConflictsOf(status.causes);
    const message = conflicts.length > 0 ? conflictsText(conflicts) : status.message;
    const said = printable(message) || 'no explanation';
    const reason = status.reason ? ` ${printable(status.reason)}` : '';
    super(
      code,
      `${where} answered ${httpStatus}${reason}: ${said}; ${isRedirect(httpStatus) ? REDIRECT_ADVICE : advice(code)}`,
    );
    // The frames are those of the socket's callback, none of the program.
    this.stack = `${this.name}: ${this.message}`;
    this.httpStatus = httpStatus;
    this.reason = status.reason;
    this.serverMessage = status.message;
    this.retryAfterSeconds = retryAfterSeconds ?? 0;
    this.hasRetryAfter = retryAfterSeconds !== undefined;
    this.causes = status.causes;
    this.conflicts = conflicts;
    this.continueToken = status.continueToken;
  }
}

/**
 * @param httpStatus of the response; used if the Status lacks a code
 * @param body the response's text, or the object of an ERROR event
 * @param retryAfterSeconds from the response's header, if present
 * @param where the request, for the message
 * @param advice what to do about a code; default: for the requests of an informer
 */
export function statusError(
  httpStatus: number,
  body: string,
  retryAfterSeconds: number | undefined,
  where: string,
  advice: (code: ErrorCode) => string = informerAdvice,
): KubeStatusError {
  const status = readStatus(body);
  const retryAfter = retryAfterSeconds ?? status.retryAfterSeconds;
  return new KubeStatusError(status.code ?? httpStatus, status, retryAfter, where, advice);
}

/**
 * Returns the JSON of a Status that a program gave.
 *
 * @param thrown gives the message of a Status without JSON: one with a cycle, a bigint or a member that throws
 */
export function statusText(status: unknown, thrown: unknown): string {
  try {
    return jsonText(status) ?? '';
  } catch {
    return JSON.stringify({ kind: 'Status', message: messageOf(thrown) });
  }
}

/** Parses a Status. Other servers than an apiserver may answer: an explanation of theirs is quoted. */
function readStatus(body: string): Status {
  const value = parseJson(body);
  if (!isRecord(value) || value['kind'] !== 'Status') {
    const message = quotableText(body) ?? `${body.length} characters of JSON that are not a Status`;
    return { reason: '', message, continueToken: '', causes: [] };
  }
  const details = isRecord(value['details']) ? value['details'] : {};
  const { continue: token } = isRecord(value['metadata']) ? value['metadata'] : {};
  const { code, reason, message } = value;
  const { retryAfterSeconds, causes } = details;
  return {
    ...(typeof code === 'number' && code > 0 ? { code } : {}),
    reason: typeof reason === 'string' ? explanation(reason) : '',
    message: typeof message === 'string' ? explanation(message) : '',
    ...(typeof retryAfterSeconds === 'number' && retryAfterSeconds > 0 ? { retryAfterSeconds } : {}),
    continueToken: typeof token === 'string' ? token : '',
    causes: Array.isArray(causes) ? causes.filter(isRecord).map(readCause) : [],
  };
}

function readCause({ reason, message, field }: Fields): StatusCause {
  const texts = Object.entries({ reason, message, field }).flatMap(([name, text]) =>
    typeof text === 'string' ? [[name, withoutCredentials(text)]] : [],
  );
  return Object.fromEntries(texts) as StatusCause;
}

/** Code by reason, which is more specific than the HTTP status beside it (client-go's rule). */
const CODE_BY_REASON: ReadonlyMap<string, ErrorCode> = new Map([
  ['Unauthorized', 'ERR_KUBELOOM_UNAUTHORIZED'],
  ['Forbidden', 'ERR_KUBELOOM_FORBIDDEN'],
  ['NotFound', 'ERR_KUBELOOM_NOT_FOUND'],
  ['Gone', 'ERR_KUBELOOM_GONE'],
  ['Expired', 'ERR_KUBELOOM_GONE'],
  ['TooManyRequests', 'ERR_KUBELOOM_TOO_MANY_REQUESTS'],
  ['InternalError', 'ERR_KUBELOOM_INTERNAL'],
  ['StoreReadError', 'ERR_KUBELOOM_STORE_READ'],
  // The HTTP status is 500, but the server timed out: no internal error.
  ['ServerTimeout', 'ERR_KUBELOOM_SERVER_TIMEOUT'],
  ['Timeout', 'ERR_KUBELOOM_SERVER_TIMEOUT'],
  ['BadRequest', 'ERR_KUBELOOM_BAD_REQUEST'],
  ['AlreadyExists', 'ERR_KUBELOOM_ALREADY_EXISTS'],
  ['Conflict', 'ERR_KUBELOOM_CONFLICT'],
  ['Invalid', 'ERR_KUBELOOM_INVALID'],
]);

const CODE_BY_HTTP_STATUS: ReadonlyMap<number, ErrorCode> = new Map([
  [400, 'ERR_KUBELOOM_BAD_REQUEST'],
  [401, 'ERR_KUBELOOM_UNAUTHORIZED'],
  [403, 'ERR_KUBELOOM_FORBIDDEN'],
  [407, 'ERR_KUBELOOM_PROXY'],
  [404, 'ERR_KUBELOOM_NOT_FOUND'],
  [409, 'ERR_KUBELOOM_CONFLICT'],
  [410, 'ERR_KUBELOOM_GONE'],
  [422, 'ERR_KUBELOOM_INVALID'],
  [429, 'ERR_KUBELOOM_TOO_MANY_REQUESTS'],
  [500, 'ERR_KUBELOOM_INTERNAL'],
]);

const INFORMER_ADVICE: ReadonlyMap<ErrorCode, string> = new Map([
  [
    'ERR_KUBELOOM_UNAUTHORIZED',
    'check the credentials of the kubeconfig’s user: they are missing, wrong or expired',
  ],
  ['ERR_KUBELOOM_PROXY', 'put user name and password into the proxy’s URL'],
  ['ERR_KUBELOOM_FORBIDDEN', 'allow the user the verbs list and watch on this resource (RBAC)'],
  [
    'ERR_KUBELOOM_NOT_FOUND',
    'check group, version, resource and namespace, and whether the CRD is installed: the server does not serve this',
  ],
  ['ERR_KUBELOOM_GONE', 'the server no longer has that part of the history; kubeloom lists again'],
  [
    'ERR_KUBELOOM_RESOURCE_VERSION_TOO_LARGE',
    'this server is behind a version that kubeloom has already received; kubeloom lists again',
  ],
  ['ERR_KUBELOOM_TOO_MANY_REQUESTS', 'the server is overloaded; kubeloom waits and tries again'],
  ['ERR_KUBELOOM_INTERNAL', 'read the log of the apiserver; kubeloom tries again'],
  [
    'ERR_KUBELOOM_STORE_READ',
    'an object in etcd could not be read or was deleted unread: read the log of the apiserver; kubeloom lists again',
  ],
  ['ERR_KUBELOOM_SERVER_TIMEOUT', 'the server could not answer in time; kubeloom tries again'],
  ['ERR_KUBELOOM_BAD_REQUEST', 'check the label and field selectors and the other list options'],
]);

const REDIRECT_ADVICE =
  'redirects are not followed, as they could carry credentials away: put the final address into the kubeconfig';

function informerAdvice(code: ErrorCode): string {
  return (
    INFORMER_ADVICE.get(code) ??
    'check that the server is an apiserver, and any proxy in between; kubeloom tries again'
  );
}

const OBJECT_ADVICE: ReadonlyMap<string, string> = new Map([
  ['ERR_KUBELOOM_FORBIDDEN', 'allow the user this verb on this resource (RBAC)'],
  ['ERR_KUBELOOM_NOT_FOUND', 'the object does not exist, or the server does not serve its resource'],
  ['ERR_KUBELOOM_ALREADY_EXISTS', 'read the object that has this name'],
  ['ERR_KUBELOOM_CONFLICT', 'it has changed since it was read: read it again and repeat the change'],
  [
    'ERR_KUBELOOM_APPLY_CONFLICT',
    'leave these fields out of the applied object, or pass force: true to take them over',
  ],
  ['ERR_KUBELOOM_GONE', 'the list has expired: begin it again'],
  ['ERR_KUBELOOM_INVALID', 'correct the fields that the server names'],
  ['ERR_KUBELOOM_BAD_REQUEST', 'check the object and its fields'],
]);

/** Returns what to do after a refused request for an object; the caller decides whether to repeat it. */
export function objectAdvice(code: ErrorCode): string {
  return (
    OBJECT_ADVICE.get(code) ??
    (code === 'ERR_KUBELOOM_UNAUTHORIZED' ? informerAdvice(code) : 'the server may accept it later')
  );
}

function isRedirect(httpStatus: number): boolean {
  return httpStatus >= 300 && httpStatus < 400;
}

function codeOf(httpStatus: number, status: Status): ErrorCode {
  if (fieldConflictsOf(status.causes).length > 0) return 'ERR_KUBELOOM_APPLY_CONFLICT';
  if (isResourceVersionTooLarge(httpStatus, status)) return 'ERR_KUBELOOM_RESOURCE_VERSION_TOO_LARGE';
  if (isRedirect(httpStatus)) return 'ERR_KUBELOOM_REDIRECT';
  // This status has priority over any reason (client-go's rule, for this number alone).
  if (httpStatus === TOO_MANY_REQUESTS) return 'ERR_KUBELOOM_TOO_MANY_REQUESTS';
  return (
    CODE_BY_REASON.get(status.reason) ?? CODE_BY_HTTP_STATUS.get(httpStatus) ?? 'ERR_KUBELOOM_HTTP_STATUS'
  );
}

const TOO_MANY_REQUESTS = 429;
const GATEWAY_TIMEOUT = 504;
const TOO_LARGE_MESSAGE = 'Too large resource version';

/**
 * Returns whether the version is too large. Three generations of servers report it in three ways (client-go's
 * isTooLargeResourceVersionError).
 */
function isResourceVersionTooLarge(httpStatus: number, { reason, message, causes }: Status): boolean {
  if (causes.some((cause) => cause.reason === 'ResourceVersionTooLarge')) return true;
  const isTimeout = reason === 'Timeout' || (reason === '' && httpStatus === GATEWAY_TIMEOUT);
  if (!isTimeout) return false;
  return causes.some((cause) => cause.message === TOO_LARGE_MESSAGE) || message.includes(TOO_LARGE_MESSAGE);
}

/** Removes control characters: the message may be printed on a terminal. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Z}]+/gu, ' ').trim();
}

const FIELD_CONFLICT = 'FieldManagerConflict';
/** `conflict with "kubectl" with subresource "scale" using apps/v1 at 2026-01-02T03:04:05Z`; the names are quoted as in Go. */
const OWNER_OF_FIELD = /^conflict with ("(?:[^"\\]|\\.)*")(?: with subresource ("(?:[^"\\]|\\.)*"))?/;
/** Conflicts that a message names. */
const CONFLICTS_NAMED_MAX = 5;

function fieldConflictsOf(causes: readonly StatusCause[]): FieldConflict[] {
  return causes
    .filter(({ reason }) => reason === FIELD_CONFLICT)
    .map(({ field = '', message = '' }) => {
      const [, manager = '', subresource = ''] = OWNER_OF_FIELD.exec(message) ?? [];
      return { field, manager: unquoted(manager), subresource: unquoted(subresource) };
    });
}

/** Returns the conflicts for a message: `.spec.replicas is owned by "kubectl"`. */
function conflictsText(conflicts: readonly FieldConflict[]): string {
  const named = conflicts.slice(0, CONFLICTS_NAMED_MAX).map(({ field, manager, subresource }) => {
    const through = subresource === '' ? '' : ` (${subresource})`;
    return `${field} is owned by ${JSON.stringify(manager)}${through}`;
  });
  const rest = conflicts.length - named.length;
  return `${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

function unquoted(quoted: string): string {
  return quoted.slice(1, -1).replace(/\\(["\\])/g, '$1');
}
