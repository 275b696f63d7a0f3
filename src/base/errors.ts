/**
 * Errors that users can see: every error carries a stable `code` to switch on and a message that says what
 * to do. Expected outcomes inside the pipeline are values (-1, unions); only misuse and failures throw.
 */
import type { ErrorCode } from './error-codes/error-table.ts';
import { escapeControls, escapeStack } from './printable.ts';
import { hideSecrets } from './secrets.ts';

export interface KubeloomErrorOptions {
  readonly cause?: unknown;
}

/** The error of every failed call, with a `code` that says what happened and a message that says what to do. */
export class KubeloomError extends Error {
  /** `KubeloomError`, also for most subclasses: distinguish errors by `code`. */
  override readonly name: string = 'KubeloomError';
  /** Stable identifier, explained in docs/errors.md. Messages may change between releases, codes do not. */
  readonly code: ErrorCode;

  /**
   * @param message one line. It may quote names and servers and may end up on a terminal, so control characters in
   *   it are escaped, line ends too, and secrets of the connection are hidden. Longer text, like a stack, is for the cause.
   */
  constructor(code: ErrorCode, message: string, options: KubeloomErrorOptions = {}) {
    // A constructor that fails on a value of another type would hide the error.
    super(
      escapeControls(hideSecrets(messageOf(message))),
      hasCause(options) ? { cause: inspectable(options.cause) } : undefined,
    );
    this.code = code;
  }
}

function hasCause(options: unknown): options is { readonly cause: unknown } {
  return typeof options === 'object' && options !== null && 'cause' in options;
}

/** Returns any error as a KubeloomError; another value becomes the cause. */
export function withCode(error: unknown): KubeloomError {
  const cause = inspectable(error);
  if (cause instanceof KubeloomError) return cause;
  return new KubeloomError('ERR_KUBELOOM_UNEXPECTED', firstLineOf(cause), { cause });
}

export function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    // An object without a prototype, or with a `toString` that throws.
    return 'a value without a text was thrown';
  }
}

/**
 * Returns a value that a function of the program threw; in place of a value whose reading throws, such as a revoked proxy, an
 * error: reports and retries must not end with another error.
 */
export function inspectable(thrown: unknown): unknown {
  if (Object(thrown) !== thrown) return thrown;
  try {
    void (thrown instanceof Error);
    const read = ['name', 'message', 'stack', 'cause', 'code', 'errors', 'retryAfterSeconds'];
    for (const name of [...read, ...Object.keys(thrown as object)]) Reflect.get(thrown as object, name);
    return thrown;
  } catch {
    const message = `an error that cannot be read was thrown: ${messageOf(thrown)}`;
    return new KubeloomError('ERR_KUBELOOM_UNEXPECTED', message);
  }
}

/** Returns the first line of an error's message: later lines quote files and name modules. */
export function firstLineOf(error: unknown): string {
  const [line = ''] = messageOf(error).split('\n', 1);
  return line;
}

/** A programmer error inside kubeloom: an invariant that the code itself must keep. */
export function assert(condition: boolean, message: string, subject?: string | number): asserts condition {
  if (condition) return;
  const which = subject === undefined ? '' : ` (${subject})`;
  throw new KubeloomError('ERR_KUBELOOM_ASSERTION', `kubeloom invariant broken: ${message}${which}`);
}

/** The form in which an error is sent to another thread. */
export interface ErrorMessage {
  readonly code: ErrorCode;
  readonly message: string;
  readonly stack?: string;
  readonly details?: Readonly<Record<string, string | number | boolean>>;
}

/** Returns the message for an error. The code of another package's error is sent as `errno`. */
export function toErrorMessage(thrown: unknown): ErrorMessage {
  const error = inspectable(thrown);
  const isOurs = error instanceof KubeloomError;
  const base = { code: isOurs ? error.code : 'ERR_KUBELOOM_UNEXPECTED', message: messageOf(error) } as const;
  if (!(error instanceof Error)) return base;
  const details = isOurs ? detailsOf(error) : errnoOf(error);
  const hasDetails = Object.keys(details).length > 0;
  return { ...base, stack: error.stack ?? '', ...(hasDetails ? { details } : {}) };
}

export function fromErrorMessage(message: ErrorMessage): KubeloomError {
  const error = new KubeloomError(message.code, message.message);
  if (message.stack) error.stack = escapeStack(message.stack, message.message);
  return Object.assign(error, message.details ?? {});
}

function errnoOf(error: Error): { readonly errno?: string } {
  return 'code' in error && typeof error.code === 'string' ? { errno: error.code } : {};
}

/** The scalar own properties that subclasses add (httpStatus, reason, …): they are sent with the error. */
function detailsOf(error: KubeloomError): Record<string, string | number | boolean> {
  const details: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(error)) {
    if (name === 'code' || name === 'name') continue;
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      details[name] = value;
    }
  }
  return details;
}

/** Wraps an error of a user's function in a coded error that names the function; keeps a coded error as it is. */
export function wrapped(code: ErrorCode, what: string, thrown: unknown): KubeloomError {
  const cause = inspectable(thrown);
  if (cause instanceof KubeloomError) return cause;
  return new KubeloomError(code, `${what}: ${messageOf(cause)}`, { cause });
}
