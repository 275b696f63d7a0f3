/** Somebody wrote to an object that everybody shares: the report. */
import { KubeloomError } from '../errors.ts';

export interface MutationDetails {
  /** Which object. */
  readonly key: string;
  /** `spec.replicas: 1 -> 2`; empty when the write was refused. */
  readonly changes?: readonly string[];
  /** The TypeError of a refused write. */
  readonly cause?: TypeError;
}

export class MutationError extends KubeloomError {
  readonly key: string;
  readonly changes: readonly string[];

  /** Has the writer's stack when the write was refused. */
  constructor(message: string, { key, changes = [], cause }: MutationDetails) {
    super('ERR_KUBELOOM_MUTATION', message, cause ? { cause } : {});
    this.key = key;
    this.changes = changes;
    if (cause?.stack) this.stack = `${this.name}: ${message}\n${framesOf(cause)}`;
  }
}

/** V8's messages for writes to what is frozen, and to what an entry only has a getter for. */
const REFUSED_WRITE =
  /^Cannot (?:assign to read only property|add property|delete property|define property|redefine property|set property .* which has only a getter)/;

/**
 * The report of an error that a handler threw, when that is a write that was refused: entries' objects,
 * metadata, labels and fields are frozen. Undefined for every other error.
 */
export function refusedWrite(thrown: unknown, key: string): MutationError | undefined {
  if (!(thrown instanceof TypeError) || !REFUSED_WRITE.test(thrown.message)) return undefined;
  return new MutationError(
    `${key}: a handler wrote to an object that is shared with everybody else, or to a frozen one of its own: ` +
      `${thrown.message}. Write to entry.copy()`,
    { key, cause: thrown },
  );
}

function framesOf({ stack = '' }: Error): string {
  return stack.slice(Math.max(0, stack.search(/^\s+at /m)));
}
