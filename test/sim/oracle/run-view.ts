/** The histories in the form that the invariants need: by informer and by handler, each with its own truth. */
import type {
  ChangeRecord,
  Histories,
  RegisteredRecord,
  Scope,
  SnapshotRecord,
  WireRecord,
} from './histories.ts';
import { Truth } from './truth.ts';

export interface JudgeOptions {
  /** Limit from the last healed fault, or the last commit after it, to a handler's last notification. */
  readonly convergenceMs?: number;
  /** Limit of a handler's silence while there are commits, except for slow handlers. */
  readonly progressMs?: number;
  /** True when a reflector may die with a list that no record shows. */
  readonly mayLoseLists?: boolean;
  /** No informer may make more than `count` requests in any `windowMs`. */
  readonly requestsMax?: { readonly count: number; readonly windowMs: number };
  /** Codes that may be reported; all others are violations. Default: any. */
  readonly codes?: readonly string[];
}

export interface Listed {
  readonly revision: number;
  /**
   * The highest version of a request before, by the same threads: up to here the informer received every event one by
   * one.
   */
  readonly since: number;
}

export interface InformerView {
  readonly name: string;
  readonly scope: Scope;
  readonly truth: Truth;
  readonly wire: readonly WireRecord[];
  /** Numbers of its connections. */
  readonly connections: ReadonlySet<number>;
  /** States that it received whole, in the order of the answers. */
  readonly listed: readonly Listed[];
  readonly snapshots: readonly SnapshotRecord[];
}

export interface HandlerView {
  readonly name: string;
  readonly informer: InformerView;
  readonly registered: RegisteredRecord;
  readonly changes: readonly ChangeRecord[];
  /** Number of changes before the handler had synced; infinite for a handler that has not. */
  readonly synced: number;
  readonly isRemoved: boolean;
}

export interface RunView {
  readonly informers: readonly InformerView[];
  readonly handlers: readonly HandlerView[];
}

export function viewOf(histories: Histories): RunView {
  const informers = Object.entries(histories.scopes).map(([name, scope]) =>
    informerView(histories, name, scope),
  );
  const byName = new Map(informers.map((informer) => [informer.name, informer]));
  const handlers = histories.delivered.flatMap((registered) => {
    if (registered.kind !== 'registered') return [];
    const informer = byName.get(registered.informer);
    if (!informer) throw new RangeError(`no scope for the informer ${registered.informer}`);
    return [handlerView(histories, registered, informer)];
  });
  return { informers, handlers };
}

function informerView(histories: Histories, name: string, scope: Scope): InformerView {
  const own = new Set<number>();
  const wire = histories.wire.filter((record) => {
    if (record.what === 'request' && (record.informer ?? name) === name) own.add(record.connection);
    return own.has(record.connection);
  });
  return {
    name,
    scope,
    truth: new Truth(histories.commits, scope),
    wire,
    connections: own,
    listed: listedOn(histories, own),
    snapshots: histories.snapshots.filter(({ informer }) => informer === name),
  };
}

function listedOn({ wire, restarts }: Histories, connections: ReadonlySet<number>): Listed[] {
  const begun = new Set(restarts.map((restart) => restart.wire));
  const listed: Listed[] = [];
  let since = 0;
  for (const [index, record] of wire.entries()) {
    if (begun.has(index)) since = 0;
    if (!connections.has(record.connection)) continue;
    if (record.what === 'request') since = Math.max(since, Number(record.query['resourceVersion'] ?? 0));
    else if (record.what === 'listed') listed.push({ revision: record.revision, since });
  }
  return listed;
}

function handlerView(
  histories: Histories,
  registered: RegisteredRecord,
  informer: InformerView,
): HandlerView {
  const changes: ChangeRecord[] = [];
  let synced = Infinity;
  let isRemoved = false;
  for (const record of histories.delivered) {
    if (record.handler !== registered.handler || record.kind === 'registered') continue;
    if ('key' in record) changes.push(record);
    else if (record.kind === 'synced') synced = Math.min(synced, changes.length);
    else if (record.kind === 'removed') isRemoved = true;
  }
  return { name: registered.handler, informer, registered, changes, synced, isRemoved };
}

/** True for a resync, and for an object that a relist found unchanged. */
export function isUnchanged({ kind, revision, oldRevision }: ChangeRecord): boolean {
  return kind === 'update' && revision === oldRevision;
}

export function nameOf({ kind, key, revision, oldRevision }: ChangeRecord): string {
  return `${kind} ${key}@${kind === 'update' ? `${oldRevision}→` : ''}${revision}`;
}
