/** Compares a client's final store and its handler's notifications with the history of the server. */
import type { JournalEntry } from '../../src/apiserver/journal.ts';
import type { Line } from './clients/lines.ts';

/** Numbers of objects. */
export interface Difference {
  /** Objects on the server only. */
  readonly missing: number;
  /** Objects in the client only. */
  readonly ghosts: number;
  /** Objects of another version than the server's. */
  readonly stale: number;
}

export interface Judgement {
  /** The difference of the client's store. */
  readonly store: Difference;
  /** The difference of the collection that its handler knows from notifications. */
  readonly handler: Difference;
  readonly notifications: NotificationFaults;
  /** Number of changes that the handler did not receive, only later ones of the same object. */
  readonly skipped: number;
  /**
   * Time from the healing until the handler had received every change up to the marker; undefined when it never did.
   */
  readonly recoveryMs: number | undefined;
  readonly errors: number;
  readonly firstError: string | undefined;
}

export interface Evidence {
  readonly lines: readonly Line[];
  /** The client's store at the end. */
  readonly store: ReadonlyMap<string, string>;
  /** The server's objects at the end. */
  readonly server: ReadonlyMap<string, string>;
  /** The server's events from its first revision on. */
  readonly journal: readonly JournalEntry[];
  /** Revision at which the client had synced and the load began. */
  readonly loadFromRevision: number;
  /** Revision of a change that was made right after the fault was healed. */
  readonly markerRevision: number;
  /** In milliseconds since the epoch. */
  readonly healedAt: number;
}

export function judge(evidence: Evidence): Judgement {
  const view = new ClientView();
  for (const line of evidence.lines) view.apply(line);
  const errors = evidence.lines.filter((line) => line.kind === 'error');
  const { store, server, journal, loadFromRevision } = evidence;
  return {
    store: differenceBetween(store, server),
    handler: differenceBetween(view.objects, server),
    notifications: view.faults,
    skipped: journal.filter(
      ([revision]) => revision > loadFromRevision && !view.received.has(String(revision)),
    ).length,
    recoveryMs: recoveryMs(evidence),
    errors: errors.length,
    firstError: errors.at(0)?.text,
  };
}

export function differenceBetween(
  client: ReadonlyMap<string, string>,
  server: ReadonlyMap<string, string>,
): Difference {
  let missing = 0;
  let stale = 0;
  for (const [key, version] of server) {
    if (!client.has(key)) missing++;
    else if (client.get(key) !== version) stale++;
  }
  const ghosts = [...client.keys()].filter((key) => !server.has(key)).length;
  return { missing, ghosts, stale };
}

export function isEqual({ missing, ghosts, stale }: Difference): boolean {
  return missing + ghosts + stale === 0;
}

/** Replays the client's lines until the handler has received every change up to the marker. */
function recoveryMs({ lines, journal, markerRevision, healedAt }: Evidence): number | undefined {
  const wanted = new Map<string, JournalEntry>();
  const deletedLater = new Set<string>();
  for (const entry of journal) {
    const [revision, type, key] = entry;
    if (revision <= markerRevision) wanted.set(key, entry);
    else if (type === 'DELETED') deletedLater.add(key);
  }
  const view = new ClientView();
  const isKnown = (key: string): boolean => {
    const [revision = 0, type = 'DELETED'] = wanted.get(key) ?? [];
    const version = view.objects.get(key);
    if (version === undefined) return type === 'DELETED' || deletedLater.has(key);
    return Number(version) >= revision;
  };
  const unknown = new Set([...wanted.keys()].filter((key) => !isKnown(key)));
  for (const line of lines) {
    view.apply(line);
    if (!('key' in line)) continue;
    if (isKnown(line.key)) unknown.delete(line.key);
    else if (wanted.has(line.key)) unknown.add(line.key);
    if (unknown.size === 0 && line.t >= healedAt) return line.t - healedAt;
  }
  return undefined;
}

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

/** A replay of the notifications that a client's handler received: the collection as they describe it, and their faults. */
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
    if (line.kind !== 'add' && line.kind !== 'update' && line.kind !== 'delete') return;
    const { kind, key, rv, uid } = line;
    const known = this.objects.get(key);
    if ((kind === 'add') === (known !== undefined)) this.#faults.illogical++;
    // The last state of an object that was missing in a list is old; client-go says so in the notification.
    if (kind !== 'delete') this.#judge(line, known);
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
