/**
 * The notifications of one handler, in their order, in columns: three numbers and a reference to the key. So recording
 * millions of notifications costs little beside the measured work.
 */

/** The kind of a notification, with the name of the server's log where it has one. */
export type NotificationKind = 'INITIAL' | 'ADDED' | 'MODIFIED' | 'DELETED' | 'FINAL_STATE_UNKNOWN';

export interface Notification {
  readonly kind: NotificationKind;
  readonly key: string;
  /** NaN when the version was not a number. */
  readonly revision: number;
  /** The revision of the old object of an update; 0 for everything else. */
  readonly previousRevision: number;
}

const KINDS: readonly NotificationKind[] = ['INITIAL', 'ADDED', 'MODIFIED', 'DELETED', 'FINAL_STATE_UNKNOWN'];
const CAPACITY_MIN = 4096;

export class HandlerHistory {
  readonly #keys: string[] = [];
  #kinds = new Uint8Array(CAPACITY_MIN);
  #revisions = new Float64Array(CAPACITY_MIN);
  #previous = new Float64Array(CAPACITY_MIN);
  #length = 0;
  #initial = 0;

  record(kind: NotificationKind, key: string, resourceVersion: string, previousVersion?: string): void {
    if (this.#length === this.#kinds.length) this.#grow();
    const index = this.#length++;
    if (kind === 'INITIAL') this.#initial++;
    this.#kinds[index] = KINDS.indexOf(kind);
    // This is the informer's own string: a lookup in a map would cost more than all the rest.
    this.#keys.push(key);
    this.#revisions[index] = Number(resourceVersion);
    this.#previous[index] = previousVersion === undefined ? 0 : Number(previousVersion);
  }

  get length(): number {
    return this.#length;
  }

  /** The number of notifications after the initial list. */
  get changes(): number {
    return this.#length - this.#initial;
  }

  at(index: number): Notification | undefined {
    if (index < 0 || index >= this.#length) return undefined;
    return {
      kind: KINDS[this.#kinds[index] ?? 0] ?? 'INITIAL',
      key: this.#keys[index] ?? '',
      revision: this.#revisions[index] ?? Number.NaN,
      previousRevision: this.#previous[index] ?? Number.NaN,
    };
  }

  *[Symbol.iterator](): Iterator<Notification> {
    for (let index = 0; index < this.#length; index++) {
      const notification = this.at(index);
      if (notification) yield notification;
    }
  }

  #grow(): void {
    const capacity = this.#length * 2;
    const kinds = this.#kinds;
    this.#kinds = new Uint8Array(capacity);
    this.#kinds.set(kinds);
    this.#revisions = grown(this.#revisions, capacity);
    this.#previous = grown(this.#previous, capacity);
  }
}

function grown(column: Float64Array<ArrayBuffer>, capacity: number): Float64Array<ArrayBuffer> {
  const target = new Float64Array(capacity);
  target.set(column);
  return target;
}
