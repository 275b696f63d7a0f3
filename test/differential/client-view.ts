/**
 * What a client's handler was told, replayed: the collection as its notifications describe it, and what was wrong
 * with the notifications themselves.
 */
import type { Line } from './clients/lines.ts';

type Notification = Extract<Line, { readonly kind: 'add' | 'update' | 'delete' }>;

/** How often each happened. */
export interface NotificationFaults {
  /** The version that the handler had been told of already. */
  readonly repeated: number;
  /** An older version than the handler had been told of. */
  readonly reordered: number;
  /** An add of what was there, an update or a delete of what was not. */
  readonly illogical: number;
  /** An update from one uid to another: the deletion between the two was never told. */
  readonly uidChanges: number;
}

export class ClientView {
  /** Key to version. */
  readonly objects: Map<string, string> = new Map();
  /** The highest version told of each key, deletions included. */
  readonly highest: Map<string, number> = new Map();
  /** All versions told. */
  readonly told: Set<string> = new Set();
  readonly #uids = new Map<string, string>();
  readonly #faults = { repeated: 0, reordered: 0, illogical: 0, uidChanges: 0 };

  get faults(): NotificationFaults {
    return this.#faults;
  }

  apply(line: Line): void {
    if (line.kind === 'add' || line.kind === 'update' || line.kind === 'delete') this.#apply(line);
  }

  #apply(notification: Notification): void {
    const { kind, key, rv, uid } = notification;
    const known = this.objects.get(key);
    if ((kind === 'add') === (known !== undefined)) this.#faults.illogical++;
    // The last state of an object that was missing in a list is old, and says so in client-go.
    if (kind !== 'delete') this.#judge(notification, known);
    this.told.add(rv);
    this.highest.set(key, Math.max(this.highest.get(key) ?? 0, Number(rv)));
    if (kind === 'delete') {
      this.objects.delete(key);
      this.#uids.delete(key);
    } else {
      this.objects.set(key, rv);
      this.#uids.set(key, uid);
    }
  }

  #judge({ key, rv, uid }: Notification, known: string | undefined): void {
    if (known === rv) this.#faults.repeated++;
    else if (Number(rv) < (this.highest.get(key) ?? 0)) this.#faults.reordered++;
    const before = this.#uids.get(key);
    if (before !== undefined && before !== uid) this.#faults.uidChanges++;
  }
}
