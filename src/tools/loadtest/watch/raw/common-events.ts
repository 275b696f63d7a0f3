/**
 * The objects and changes that the raw watchers of a collection received in this process, each kept once. A watcher's
 * history is a list of runs of these events: watchers with equal histories hold a single run each, so thousands of
 * watchers cost little more than one, and the verdict still covers every event of every watcher.
 */
import type { NotificationKind } from '../recording-handler.ts';

const QUOTE = 0x22;
const ZERO = 0x30;
/** The index of the first letter of the type: `{"type":"` comes before it. */
const TYPE_AT = 9;

export interface CommonEvent {
  readonly kind: NotificationKind;
  readonly key: string;
  /** NaN when the version was not a number. */
  readonly revision: number;
}

/** The shape of the line that carried an event: the server sends the same line to every watcher. */
export interface LineForm {
  readonly lengthBytes: number;
  /** The index of the first digit of the resourceVersion in the line. */
  readonly versionAt: number;
  /** The first letter of the type. */
  readonly typeByte: number;
}

export class CommonEvents {
  readonly #events: CommonEvent[] = [];
  // Columns: comparing a line reads only these.
  readonly #lengthsBytes: number[] = [];
  readonly #versionsAt: number[] = [];
  readonly #typeBytes: number[] = [];
  readonly #indexes = new Map<string, number>();

  get length(): number {
    return this.#events.length;
  }

  at(index: number): CommonEvent | undefined {
    return this.#events[index];
  }

  /** Returns the index of the event; adds an event that no watcher received before. */
  indexOf(event: CommonEvent, form?: LineForm): number {
    const identity = `${event.kind} ${event.revision} ${event.key}`;
    const known = this.#indexes.get(identity);
    if (known !== undefined) return known;
    const index = this.#events.length;
    this.#indexes.set(identity, index);
    this.#events.push(event);
    this.#lengthsBytes.push(form?.lengthBytes ?? -1);
    this.#versionsAt.push(form?.versionAt ?? 0);
    this.#typeBytes.push(form?.typeByte ?? 0);
    return index;
  }

  /**
   * Returns whether the line [start, end) is this event: equal length and type, and the same version at the same place.
   * The line is not parsed.
   */
  isAt(index: number, isInitial: boolean, bytes: Uint8Array, start: number, end: number): boolean {
    if (end - start !== this.#lengthsBytes[index]) return false;
    if (bytes[start + TYPE_AT] !== this.#typeBytes[index]) return false;
    const event = this.#events[index];
    if (!event || (event.kind === 'INITIAL') !== isInitial) return false;
    let at = start + (this.#versionsAt[index] ?? 0);
    if (bytes[at - 1] !== QUOTE) return false;
    let revision = 0;
    for (let byte = bytes[at] ?? QUOTE; byte !== QUOTE && at < end; byte = bytes[++at] ?? QUOTE) {
      revision = revision * 10 + byte - ZERO;
    }
    return revision === event.revision;
  }
}

/** The history of a watcher, as runs of `CommonEvents`. */
export class Runs implements Iterable<number> {
  /** The index that would continue the last run. */
  next = 0;
  /** Begin and end of each run in sequence. */
  readonly #bounds: number[] = [];

  add(index: number): void {
    if (index === this.next && this.#bounds.length > 0) this.#bounds[this.#bounds.length - 1] = index + 1;
    else this.#bounds.push(index, index + 1);
    this.next = index + 1;
  }

  /** Equal for equal histories. */
  get text(): string {
    return this.#bounds.join(' ');
  }

  *[Symbol.iterator](): Iterator<number> {
    for (let run = 0; run < this.#bounds.length; run += 2) {
      const end = this.#bounds[run + 1] ?? 0;
      for (let index = this.#bounds[run] ?? end; index < end; index++) yield index;
    }
  }
}
