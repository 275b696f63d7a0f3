/**
 * Times that are written back as they were read. A `Date` has milliseconds: client-node would write
 * `12:00:00.000Z` for what the server sent as `12:00:00Z`, and zeros for the microseconds of a lease.
 */

/** A `Date` made from text, which is its text for as long as nobody sets it to another time. */
export interface KeptTime extends Date {
  /** Undefined once the time was changed. */
  readonly original: string | undefined;
}

export type KeptTimeClass = new (text: string) => KeptTime;

/** @param Base `Date`, or client-node's class for times with microseconds, so that `instanceof` holds */
export function textKeeping(Base: new (text: string) => Date): KeptTimeClass {
  return class extends Base implements KeptTime {
    readonly #text: string;
    readonly #timeMs: number;

    constructor(text: string) {
      super(text);
      this.#text = text;
      this.#timeMs = this.getTime();
    }

    get original(): string | undefined {
      return Object.is(this.getTime(), this.#timeMs) ? this.#text : undefined;
    }

    override toISOString(): string {
      return this.original ?? super.toISOString();
    }

    /** JSON has no other way to times that are not in a calendar. */
    override toJSON(): string {
      return this.toISOString();
    }
  };
}

/** In the words of Kubernetes: whole seconds. */
export function timeText(time: Date): string {
  return originalOf(time) ?? time.toISOString().replace(/\.\d+Z$/, 'Z');
}

/** In the words of Kubernetes: always six digits of a second. */
export function microTimeText(time: Date): string {
  return originalOf(time) ?? time.toISOString().replace(/\.(\d{3})Z$/, '.$1000Z');
}

function originalOf(time: Date): string | undefined {
  return 'original' in time && typeof time.original === 'string' ? time.original : undefined;
}
