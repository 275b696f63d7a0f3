/** The error for a write to an object that handlers and listers share. */
import { KubeloomError } from '../../base/errors.ts';

export interface MutationDetails {
  /** Key of the object. */
  readonly key: string;
  /** Changes such as `spec.replicas: 1 -> 2`; empty when the write threw. */
  readonly changes?: readonly string[];
  /** TypeError that the write threw. */
  readonly cause?: TypeError;
}

export class MutationError extends KubeloomError {
  readonly key: string;
  readonly changes: readonly string[];

  /** Takes the stack of `cause`, which shows the line that wrote. */
  constructor(message: string, { key, changes = [], cause }: MutationDetails) {
    super('ERR_KUBELOOM_MUTATION', message, cause ? { cause } : {});
    this.key = key;
    this.changes = changes;
    if (cause?.stack) this.stack = `${this.name}: ${this.message}\n${framesOf(cause)}`;
  }
}

/** V8's messages for writes to frozen objects and to properties with only a getter. */
const REFUSED_WRITE =
  /^Cannot (?:assign to read only property|add property|delete property|define property|redefine property|set property .* which has only a getter)/;

/**
 * Returns a MutationError when a handler threw because it wrote to a frozen object; otherwise undefined. The object,
 * metadata, labels and fields of an entry are frozen.
 */
export function refusedWrite(thrown: unknown, key: string): MutationError | undefined {
  if (!(thrown instanceof TypeError) || !REFUSED_WRITE.test(thrown.message)) return undefined;
  return new MutationError(
    `${key}: a handler wrote to a shared object, or to a frozen object of its own: ${thrown.message}. ` +
      'Write to entry.copy()',
    { key, cause: thrown },
  );
}

function framesOf({ stack = '' }: Error): string {
  return stack.slice(Math.max(0, stack.search(/^\s+at /m)));
}
