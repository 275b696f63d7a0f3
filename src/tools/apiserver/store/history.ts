/**
 * The recent events of a resource, as a sliding window. A watch is a position in the window.
 *
 *   positions   first ─────────────────────── end        (numbered from 0 since the server started)
 *   events      [ rev 12 ][ rev 15 ][ rev 16 ][ … ]
 *               ^ everything before is forgotten; `floor` is the oldest revision from which a watch can resume
 */

import type { StoredObject } from './stored-object.ts';

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** @internal */
export interface LogEvent {
  readonly type: ChangeType;
  readonly revision: number;
  /** The object after the change; for DELETED the last state with the revision of the deletion. */
  readonly object: StoredObject;
  readonly previous: StoredObject | undefined;
}

/** @internal */
export interface HistoryLimits {
  readonly eventsMax: number;
  readonly bytesMax: number;
}

/** Places of forgotten events are released in batches: moving the array for each event would be quadratic. */
const RECLAIM_MIN = 1024;

/** @internal */
export class History {
  readonly #limits: HistoryLimits;
  #events: LogEvent[] = [];
  /** Position of #events[0]. */
  #base = 0;
  #first = 0;
  #bytes = 0;
  #floor: number;

  constructor(limits: HistoryLimits, floor: number) {
    this.#limits = limits;
    this.#floor = floor;
  }

  get first(): number {
    return this.#first;
  }

  get end(): number {
    return this.#base + this.#events.length;
  }

  /** The oldest revision (exclusive) from which a watch receives every event. */
  get floor(): number {
    return this.#floor;
  }

  at(position: number): LogEvent | undefined {
    return position < this.#first ? undefined : this.#events[position - this.#base];
  }

  push(event: LogEvent): void {
    this.#events.push(event);
    this.#bytes += event.object.length;
    while (this.#overLimit()) this.#forgetFirst();
  }

  /** Forgets every event up to and including `revision`. */
  compact(revision: number): void {
    for (;;) {
      const event = this.at(this.#first);
      if (event === undefined || event.revision > revision) break;
      this.#forgetFirst();
    }
    this.#floor = Math.max(this.#floor, revision);
  }

  /** Position of the first event after `revision`. */
  after(revision: number): number {
    let low = this.#first;
    let high = this.end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.at(middle)?.revision ?? 0) > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #overLimit(): boolean {
    const count = this.end - this.#first;
    return count > this.#limits.eventsMax || (this.#bytes > this.#limits.bytesMax && count > 1);
  }

  #forgetFirst(): void {
    const event = this.at(this.#first);
    if (event === undefined) return;
    this.#floor = event.revision;
    this.#bytes -= event.object.length;
    this.#first++;
    const dead = this.#first - this.#base;
    if (dead < RECLAIM_MIN || dead < this.#events.length / 2) return;
    this.#events = this.#events.slice(dead);
    this.#base = this.#first;
  }
}
