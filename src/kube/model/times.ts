/** The classes of times in models, made from the text of the wire. */
import type { TimeClass } from './model-classes.ts';

/**
 * Returns a class of `Date`s made from text, which serialise to that text until they are set to another time. A `Date` has
 * milliseconds: client-node would write `12:00:00.000Z` where the server sent `12:00:00Z`, and zeros for the microseconds
 * of a lease.
 *
 * @param Base `Date`, or client-node's class for times with microseconds, so that `instanceof` holds
 */
export function textKeeping(Base: TimeClass): TimeClass {
  return class extends Base {
    readonly #text: string;
    readonly #timeMs: number;

    constructor(text: string) {
      super(text);
      this.#text = text;
      this.#timeMs = this.getTime();
    }

    /** The original text; undefined once the time was changed. */
    get original(): string | undefined {
      return Object.is(this.getTime(), this.#timeMs) ? this.#text : undefined;
    }

    override toISOString(): string {
      return this.original ?? super.toISOString();
    }

    /** Invalid dates have no other form in JSON. */
    override toJSON(): string {
      return this.toISOString();
    }
  };
}

/** Formats a time as Kubernetes does: whole seconds. */
export function timeText(time: Date): string {
  return originalOf(time) ?? time.toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Formats a time as Kubernetes does: always six digits of a second. */
export function microTimeText(time: Date): string {
  return originalOf(time) ?? time.toISOString().replace(/\.(\d{3})Z$/, '.$1000Z');
}

function originalOf(time: Date): string | undefined {
  return 'original' in time && typeof time.original === 'string' ? time.original : undefined;
}
