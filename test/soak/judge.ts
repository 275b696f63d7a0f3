/**
 * The judge of a window: from its record to the promises that were broken. Pure. What handlers received is judged by the load
 * test's judge, works of members and of the pool by the judge of members.
 */
import type { Notification } from '../../src/tools/loadtest/watch/recording-handler.ts';
import { listedAtOf } from '../../src/tools/loadtest/verdict/relist.ts';
import { expectationOf, judge } from '../../src/tools/loadtest/verdict/verdict.ts';
import type { JournalEntry } from '../../src/tools/apiserver/store/journal.ts';
import type { Line } from '../e2e/members/history.ts';
import { judge as judgeWorks } from '../e2e/members/judge.ts';
import { BUSY_CODES, kindOf } from './faults.ts';
import { KIND_NAMES } from './window-record.ts';
import type {
  HandlerRecord,
  KindName,
  MadeWrite,
  Scrape,
  State,
  WindowRecord,
  WrittenKind,
} from './window-record.ts';

const FINDINGS_MAX = 5;

/** @returns a text for each broken promise, which begins with its name */
export function judgeWindow(window: WindowRecord): string[] {
  return [
    ...window.missed.map((fault) => `fault that did not strike: ${fault}`),
    ...KIND_NAMES.flatMap((kind) => judgeKind(window, kind)),
    ...judgeGroup(window),
    ...judgePool(window),
    ...Object.entries(window.behind).map(([part, what]) => `no rest: ${part}: ${what}`),
    ...judgeReports(window),
    ...judgeScrapes(window.scrapes),
  ];
}

function judgeKind(window: WindowRecord, kind: KindName): string[] {
  const handlers = window.handlers.filter((handler) => handler.kind === kind);
  const journal = journalOf(window, kind, handlers);
  return handlers.flatMap(({ name, notifications, isRelisted, state }) => {
    const expectation = expectationOf(journal, listedAtOf(journal, notifications));
    const verdict = judge(expectation, notifications, isRelisted ? { relistedAfter: 0 } : {});
    const { lost, duplicated, reordered, findings } = verdict;
    const stale = differencesOf(state, window.after[kind]);
    const isWrong = lost + duplicated + reordered > 0;
    return [
      ...(isWrong
        ? [
            `history of ${name}, ${kind}: ${lost} lost, ${duplicated} doubled, ${reordered} reordered: ${findings.join('; ')}`,
          ]
        : []),
      ...(stale.length > 0 ? [`stale cache of ${name}, ${kind}: ${stale.join('; ')}`] : []),
    ];
  });
}

/**
 * Returns the server's log: its objects before the window, and the writes. A deletion whose answer was lost has the version that a
 * handler received. If no handler did, every handler listed after it, and its place is behind the writes of that time.
 */
function journalOf(window: WindowRecord, kind: KindName, handlers: readonly HandlerRecord[]): JournalEntry[] {
  const before = Array.from(window.before[kind], ([key, version]): JournalEntry => [version, 'ADDED', key]);
  const writes = window.writes.filter((write) => write.kind === kind);
  const deletions = handlers.flatMap(({ notifications }) => notifications.filter(isDeletion));
  const made = writes.map((write): JournalEntry => {
    const { change, key, version } = write;
    if (change !== 'delete') return [version, change === 'create' ? 'ADDED' : 'MODIFIED', key];
    return [version > 0 ? version : deletedAt(write, writes, deletions), 'DELETED', key];
  });
  return [...before, ...made].sort(([one], [other]) => one - other);
}

function deletedAt(
  deleted: MadeWrite,
  writes: readonly MadeWrite[],
  deletions: readonly Notification[],
): number {
  const index = writes.indexOf(deleted);
  const ofKey = (write: MadeWrite): boolean => write.key === deleted.key;
  const after = writes.slice(0, index).findLast(ofKey)?.version ?? 0;
  const before = writes.slice(index + 1).find(ofKey)?.version ?? Infinity;
  const seen = deletions.find(
    ({ key, revision }) => key === deleted.key && revision > after && revision < before,
  );
  const earlier = writes.filter(({ sentMs }) => sentMs < deleted.endedMs).map(({ version }) => version);
  // No server uses such a version; several deletions of one moment keep their order.
  return seen?.revision ?? Math.max(...earlier) + 0.5 + index / 1e6;
}

function isDeletion({ kind }: Notification): boolean {
  return kind === 'DELETED';
}

function differencesOf(state: State, listed: State): string[] {
  const keys = new Set([...state.keys(), ...listed.keys()]);
  const different = [...keys].filter((key) => state.get(key) !== listed.get(key));
  return different
    .slice(0, FINDINGS_MAX)
    .map(
      (key) =>
        `${key} is at ${state.get(key) ?? 'no version'}, on the server at ${listed.get(key) ?? 'none'}`,
    );
}

/** Returns the lines about ConfigMaps, which the members divide among them, for the judge of members. */
export function groupLinesOf(writes: readonly MadeWrite[]): Line[] {
  return writes
    .filter(({ kind }) => kind === 'configMaps')
    .map(({ change, key, uid, version, atMs }) =>
      change === 'delete'
        ? { kind: 'deleted', atMs, key: `${key}#${uid}` }
        : { kind: 'wrote', atMs, key: `${key}#${uid}`, version },
    );
}

/** Returns the lines about the pool's keys. Versions grow also over a name that is made again; of a deleted object no work is due. */
export function poolLinesOf(writes: readonly MadeWrite[]): Line[] {
  const ofPool = writes.filter(({ kind }) => kind !== 'configMaps');
  const last = new Map(ofPool.map((write) => [poolKeyOf(write.kind, write.key), write]));
  return ofPool.flatMap(({ kind, key, version, change, atMs }) => {
    const poolKey = poolKeyOf(kind, key);
    const isGone = last.get(poolKey)?.change === 'delete';
    return change === 'delete' || isGone ? [] : [{ kind: 'wrote' as const, atMs, key: poolKey, version }];
  });
}

/** The key of an object in the queue of the pool. */
export function poolKeyOf(kind: WrittenKind, key: string): string {
  return `${kind} ${key}`;
}

function judgeGroup({ group, writes }: WindowRecord): string[] {
  const violations = judgeWorks([...group, ...groupLinesOf(writes)]);
  return violations.slice(0, FINDINGS_MAX).map((violation) => `group: ${violation}`);
}

/** The pool owns its keys from the beginning: it has no hand-over after which a cache must be newer. */
const POOL_OWNS: Line = { kind: 'owns', atMs: 0, member: 'pool', partition: 0, epoch: 1 };

function judgePool({ pool, writes }: WindowRecord): string[] {
  const violations = judgeWorks([POOL_OWNS, ...pool, ...poolLinesOf(writes)]);
  return violations.slice(0, FINDINGS_MAX).map((violation) => `pool: ${violation}`);
}

function judgeReports({ reports, faults }: WindowRecord): string[] {
  const codes = [...faults.flatMap((fault) => kindOf(fault).codes), ...BUSY_CODES];
  const explained = new Set(codes.map((code) => `ERR_KUBELOOM_${code}`));
  const unexplained = reports.filter(({ code }) => !explained.has(code));
  return unexplained
    .slice(0, FINDINGS_MAX)
    .map(({ from, code, message }) => `report without a cause: ${from}: ${code}: ${message}`);
}

/** Every request has an answer of 200, and no counter goes back; one of a handler ends with it, and the next of its name begins anew. */
function judgeScrapes(scrapes: readonly Scrape[]): string[] {
  if (scrapes.length === 0) return ['scrape: none was made'];
  const found: string[] = [];
  for (const [index, { statuses, counters }] of scrapes.entries()) {
    for (const [path, status] of Object.entries(statuses))
      if (status !== 200) found.push(`scrape: ${path} answered ${status}`);
    for (const [series, before] of scrapes[index - 1]?.counters ?? []) {
      const now = counters.get(series);
      if (now !== undefined && now < before && !series.includes('handler="'))
        found.push(`scrape: ${series} went from ${before} to ${now}`);
    }
  }
  return found.slice(0, FINDINGS_MAX);
}

/**
 * Reduces lines of members to those that the next window's judge needs: who owned what, the last act in each partition,
 * of each key that exists the last write and the last work, and the deletions since a time, which members may still work on.
 */
export function carriedOf(lines: readonly Line[], sinceMs: number): Line[] {
  const ordered = lines.toSorted((one, other) => one.atMs - other.atMs);
  const kept = new Map<string, Line>();
  const forget = (key: string, kinds: readonly Line['kind'][]): void => {
    for (const kind of kinds) kept.delete(`${kind} ${key}`);
  };
  const gone = new Set<string>();
  for (const line of ordered) {
    if (line.kind === 'wrote') kept.set(`wrote ${line.key}`, line);
    if (line.kind === 'deleted') {
      gone.add(line.key);
      forget(line.key, ['wrote', 'begins', 'ends', 'stops']);
      if (line.atMs >= sinceMs) kept.set(`deleted ${line.key}`, line);
    }
    if (line.kind === 'ends') kept.set(`act ${line.partition}`, line);
    if (line.kind !== 'begins' && line.kind !== 'ends' && line.kind !== 'stops') continue;
    if (line.kind === 'begins') forget(line.key, ['ends', 'stops']);
    if (!gone.has(line.key)) kept.set(`${line.kind} ${line.key}`, line);
  }
  const all = new Set(kept.values());
  const tenures = new Set([...all].flatMap((line) => ('epoch' in line ? [tenureOf(line)] : [])));
  const owners = new Map(ordered.flatMap((line) => (line.kind === 'owns' ? [[line.partition, line]] : [])));
  // In the order of before: lines of one moment keep it.
  return ordered.filter(
    (line) =>
      all.has(line) ||
      (line.kind === 'owns' && (tenures.has(tenureOf(line)) || owners.get(line.partition) === line)),
  );
}

function tenureOf({ member, partition, epoch }: Extract<Line, { readonly epoch: number }>): string {
  return `${member} ${partition} ${epoch}`;
}
