/** The histories as the invariants ask for them: by informer and by handler, each with its own truth. */
import type {
  ChangeRecord,
  Histories,
  RegisteredRecord,
  Scope,
  SnapshotRecord,
  StepRecord,
  WireRecord,
} from './histories.ts';
import { Truth } from './truth.ts';

export interface JudgeOptions {
  /** Nothing happens any more, and nothing is wrong any more: everybody must know everything. Default true. */
  readonly isAtRest?: boolean;
  /** How a server orders lists. Default: by key. */
  readonly listOrder?: 'key' | 'any';
  /** From the last healed fault, or the last commit after it, to the last thing that a handler is told. */
  readonly convergenceMs?: number;
  /** While there are commits, no handler that is not slow may hear nothing for so long. */
  readonly progressMs?: number;
  /** A reflector may die with a list that nobody has seen. */
  readonly mayLoseLists?: boolean;
  /** No informer may make more than `count` requests in any `windowMs`. */
  readonly requestsMax?: { readonly count: number; readonly windowMs: number };
  /** Codes that may be reported; all others are violations. Default: any. */
  readonly codes?: readonly string[];
}

export interface Listed {
  readonly revision: number;
  /** What it had asked to go on from before: up to here it had received everything one by one. */
  readonly since: number;
}

export interface InformerView {
  readonly name: string;
  readonly scope: Scope;
  readonly truth: Truth;
  readonly wire: readonly WireRecord[];
  /** States that it was sent whole, in the order of the answers. */
  readonly listed: readonly Listed[];
  readonly snapshots: readonly SnapshotRecord[];
}

export interface HandlerView {
  readonly name: string;
  readonly informer: InformerView;
  readonly registered: RegisteredRecord;
  readonly changes: readonly ChangeRecord[];
  readonly steps: readonly StepRecord[];
  readonly isRemoved: boolean;
}

export interface RunView {
  readonly histories: Histories;
  readonly options: JudgeOptions;
  readonly informers: readonly InformerView[];
  readonly handlers: readonly HandlerView[];
}

export function viewOf(histories: Histories, options: JudgeOptions): RunView {
  const informers = Object.entries(histories.scopes).map(([name, scope]) =>
    informerView(histories, name, scope),
  );
  const byName = new Map(informers.map((informer) => [informer.name, informer]));
  const handlers = histories.told.flatMap((registered) => {
    if (registered.kind !== 'registered') return [];
    const informer = byName.get(registered.informer);
    if (!informer) throw new RangeError(`no scope for the informer ${registered.informer}`);
    return [handlerView(histories, registered, informer)];
  });
  return { histories, options, informers, handlers };
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
    listed: listedOn(wire),
    snapshots: histories.snapshots.filter(({ informer }) => informer === name),
  };
}

function listedOn(wire: readonly WireRecord[]): Listed[] {
  const listed: Listed[] = [];
  let since = 0;
  for (const record of wire) {
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
  const steps: StepRecord[] = [];
  for (const record of histories.told) {
    if (record.handler !== registered.handler || record.kind === 'registered') continue;
    if ('key' in record) changes.push(record);
    else steps.push(record);
  }
  const isRemoved = steps.some(({ kind }) => kind === 'removed');
  return { name: registered.handler, informer, registered, changes, steps, isRemoved };
}

/** A resync, or an object that a relist found unchanged. */
export function isUnchanged({ kind, revision, oldRevision }: ChangeRecord): boolean {
  return kind === 'update' && revision === oldRevision;
}

export function nameOf({ kind, key, revision, oldRevision }: ChangeRecord): string {
  return `${kind} ${key}@${kind === 'update' ? `${oldRevision}→` : ''}${revision}`;
}
