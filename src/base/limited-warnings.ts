/**
 * Process warnings for errors that repeat: at most one a second for each subject. The next warning says how many were left
 * out.
 */
import type { Clock } from './clock.ts';
import type { KubeloomError } from './errors.ts';
import { escapeControls } from './printable.ts';

const WARNING_INTERVAL_MS = 1000;
/** Subjects that are remembered: messages of the program can all differ. */
const SUBJECTS_MAX = 1000;

interface Warned {
  readonly atMs: number;
  suppressed: number;
  readonly write: (repeated: string) => void;
}

export class LimitedWarnings {
  readonly #clock: Clock;
  /** The last warning of each subject, oldest first. */
  readonly #last: Map<string, Warned> = new Map();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param subject what repeats; @param message the text of the warning in place of the message of the error */
  warn(error: KubeloomError, subject: string = error.code, message: string = error.message): void {
    this.limit(subject, (repeated) => {
      const detail = stackOf(error);
      process.emitWarning(`${escapeControls(message)}${repeated}`, {
        type: 'KubeloomWarning',
        code: error.code,
        ...(detail === undefined ? {} : { detail }),
      });
    });
  }

  /** Calls `write`, at most once a second for a subject. `repeated` says how many calls were left out; it is empty for none. */
  limit(subject: string, write: (repeated: string) => void): void {
    const now = this.#clock.now();
    const last = this.#last.get(subject);
    if (last && now - last.atMs < WARNING_INTERVAL_MS) {
      last.suppressed++;
      return;
    }
    this.#last.delete(subject);
    this.#last.set(subject, { atMs: now, suppressed: 0, write });
    const [oldest] = this.#last.keys();
    if (this.#last.size > SUBJECTS_MAX && oldest !== undefined) this.#last.delete(oldest);
    write(repeatedOf(last?.suppressed));
  }

  /** Writes what was left out since the last warning of each subject. */
  end(): void {
    for (const last of this.#last.values()) if (last.suppressed > 0) last.write(repeatedOf(last.suppressed));
    this.#last.clear();
  }
}

function repeatedOf(suppressed = 0): string {
  return suppressed > 0 ? ` (and ${suppressed} more like it)` : '';
}

/**
 * Returns the stack of the function of the program that threw. Errors of our own say everything in their message, and
 * failed system calls have no line of the program in their stacks.
 */
function stackOf({ cause }: KubeloomError): string | undefined {
  if (!(cause instanceof Error) || !cause.stack || 'syscall' in cause) return undefined;
  return cause.stack.split('\n').map(escapeControls).join('\n');
}
