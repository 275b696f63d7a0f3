/**
 * A replay of the notifications that a client's handler received: the collection as they describe it, and
 * their faults.
 */
import type { Line } from './clients/lines.ts';

type Notification = Extract<Line, { readonly kind: 'add' | 'update' | 'delete' }>;

/** Number of notifications with each fault. */
export interface NotificationFaults {
  /** The handler had already received this version. */
  readonly repeated: number;
  /** The handler had already received a newer version. */
  readonly reordered: number;
  /** An add of an existing object, or an update or a delete of a missing one. */
  readonly illogical: number;
  /** An update from one uid to another: the handler did not receive the deletion between the two. */
  readonly uidChanges: number;
}

export class ClientView {
  /** Map from key to version. */
  readonly objects: Map<string, string> = new Map();
  /** The highest version of each key that the handler received, deletions included. */
  readonly highest: Map<string, number> = new Map();
  /** All versions that the handler received. */
  readonly received: Set<string> = new Set();
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
    // The last state of an object that was missing in a list is old; client-go says so in the notification.
    if (kind !== 'delete') this.#judge(notification, known);
    this.received.add(rv);
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
