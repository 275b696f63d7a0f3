/**
 * A small correct run. Three objects are listed, some change, the watch expires, a relist finds a deletion,
 * an update and an addition, and a handler joins late. Tests spoil one thing at a time.
 */
import { emptyHistories } from './histories.ts';
import type {
  ChangeRecord,
  Commit,
  DeliveredRecord,
  Histories,
  ScrapedSample,
  ScrapeRecord,
  SnapshotObject,
  WireRecord,
} from './histories.ts';

export const INFORMER = 'pods';
const FIRST_CONNECTION = 1;

/** Parses `ADDED a 1`; hash and uid follow from it. */
export function commit(line: string): Commit {
  const [type = '', key = '', revision = ''] = line.split(' ');
  return {
    type: type as Commit['type'],
    key,
    revision: Number(revision),
    at: Number(revision) * 10,
    uid: `uid-${key}`,
    hash: `${key}@${revision}`,
    labels: { app: key },
  };
}

/** Parses `add! a 1`, `add a 1`, `update a 1 4`, `delete a 5`, `lost a 4` (by a relist), `synced`, `removed`. */
export function delivered(handler: string, line: string): DeliveredRecord {
  const [word = '', key = '', ...versions] = line.split(' ');
  const revision = Number(versions.at(-1));
  if (word === 'synced' || word === 'removed') return { kind: word, handler };
  const kind = word === 'lost' ? 'delete' : (word.replace('!', '') as ChangeRecord['kind']);
  const hash = `${key}@${revision}`;
  return {
    kind,
    handler,
    key,
    revision,
    at: revision * 10 + 1,
    uid: `uid-${key}`,
    hash,
    objectHash: hash,
    cached: kind === 'delete' ? null : revision,
    isIndexed: true,
    ...(kind === 'add' ? { isInInitialList: word === 'add!' } : {}),
    ...(kind === 'update' ? { oldRevision: Number(versions[0]) } : {}),
    ...(kind === 'delete' ? { finalStateUnknown: word === 'lost' } : {}),
  };
}

function request(connection: number, isWatch: boolean, query: Record<string, string>): WireRecord {
  const at = connection * 100;
  return { what: 'request', connection, at, informer: INFORMER, method: 'GET', isWatch, query };
}

export function objects(...versions: readonly string[]): SnapshotObject[] {
  return versions.map((version) => {
    const [key = '', revision = ''] = version.split('@');
    const hash = version;
    return { key, revision: Number(revision), uid: `uid-${key}`, hash, values: { app: [key] } };
  });
}

export const FIRST_HANDLER: readonly string[] = [
  'add! a 1',
  'add! b 2',
  'add! c 3',
  'synced',
  'update a 1 4',
  'add d 5',
  'delete d 6',
  // A relist covers versions 7 to 11.
  'lost b 2',
  'update a 4 11',
  'add e 10',
  'update c 3 12',
];
export const LATE_HANDLER: readonly string[] = [
  'add! a 4',
  'add! b 2',
  'add! c 3',
  'synced',
  ...FIRST_HANDLER.slice(7),
];
export const JOINED_AT = 6;

export function smallRun(): Histories {
  const histories = emptyHistories();
  histories.scopes[INFORMER] = {};
  histories.commits.push(
    ...['ADDED a 1', 'ADDED b 2', 'ADDED c 3', 'MODIFIED a 4', 'ADDED d 5', 'DELETED d 6'].map(commit),
    ...['DELETED b 7', 'ADDED f 8', 'DELETED f 9', 'ADDED e 10', 'MODIFIED a 11', 'MODIFIED c 12'].map(
      commit,
    ),
  );
  histories.wire.push(...wire());
  for (const [handler, lines, revision] of [
    ['first', FIRST_HANDLER, 0],
    ['late', LATE_HANDLER, JOINED_AT],
  ] as const) {
    histories.delivered.push({
      kind: 'registered',
      handler,
      informer: INFORMER,
      at: revision * 10,
      revision,
    });
    histories.delivered.push(...lines.map((line) => delivered(handler, line)));
  }
  histories.applied.push(
    ...[0xffffffff, 1, 2].map((sequence) => ({ shard: 0, sequence, incarnation: 1, kind: 'Modified' })),
    ...[0, 2].map((sequence) => ({ shard: 1, sequence, incarnation: 1, kind: 'Modified' })),
  );
  histories.faults.push({
    id: '1',
    kind: 'expired',
    at: 61,
    landedAt: 65,
    healedAt: 100,
    codes: ['EXPIRED'],
  });
  histories.reports.push({ at: 66, code: 'EXPIRED', message: 'too old' });
  const rest = { informer: INFORMER, indices: { app: { a: ['a'], c: ['c'], e: ['e'] } } };
  histories.snapshots.push(
    { informer: INFORMER, revision: 0, objects: [] },
    { informer: INFORMER, revision: 5, objects: objects('a@4', 'b@2', 'c@3', 'd@5') },
    { ...rest, revision: 12, objects: objects('a@11', 'c@12', 'e@10'), isFinal: true },
  );
  histories.gauges.push({ name: 'ring', value: 8, bound: 8 });
  return histories;
}

/** Scrapes of the small run: after the list, after two more events that no handler has received, and at the end. */
export function scrapes({ wire: sent, applied, delivered: received, reports }: Histories): ScrapeRecord[] {
  const listed = { wire: 5, applied: 1, delivered: 5, reports: 0 };
  const end = {
    wire: sent.length,
    applied: applied.length,
    delivered: received.length,
    reports: reports.length,
  };
  return [
    {
      before: listed,
      revisions: { [INFORMER]: 3 },
      samples: samples(3, 3, 1, { first: [3, 0] }, [1, 1, 3, 0, 0, 1]),
    },
    {
      before: { ...listed, wire: 7, applied: 3 },
      revisions: { [INFORMER]: 5 },
      samples: samples(5, 4, 2, { first: [3, 2] }, [1, 1, 4, 1, 0, 1]),
    },
    {
      before: end,
      revisions: { [INFORMER]: 12 },
      samples: [
        ...samples(12, 3, 4, { first: [10, 0], late: [7, 0] }, [2, 3, 4, 2, 1, 2]),
        { metric: 'kubeloom_watches_ended_total', informer: INFORMER, labels: { reason: 'torn' }, value: 2 },
        { metric: 'kubeloom_errors_total', informer: INFORMER, labels: { code: 'EXPIRED' }, value: 1 },
      ],
      isFinal: true,
    },
  ];
}

/**
 * @param handlers calls and pending notifications
 * @param wire complete lists, started watches, and events: added, modified, deleted, bookmarks
 */
function samples(
  revision: number,
  cached: number,
  records: number,
  handlers: Readonly<Record<string, readonly [calls: number, pending: number]>>,
  [lists, watches, ...events]: readonly [lists: number, watches: number, ...events: number[]],
): ScrapedSample[] {
  const one = (metric: string, value: number, labels: ScrapedSample['labels'] = {}): ScrapedSample => {
    return { metric, informer: INFORMER, labels, value };
  };
  return [
    one('kubeloom_informer_objects', cached),
    one('kubeloom_informer_synced', 1),
    one('informer_store_resource_version', revision),
    one('kubeloom_informer_records_total', records),
    one(
      'informer_queued_items',
      Object.values(handlers).reduce((sum, [, pending]) => sum + pending, 0),
    ),
    one('kubeloom_lists_total', lists, { result: 'ok' }),
    one('kubeloom_watches_started_total', watches),
    ...events.map((count, index) =>
      one('kubeloom_watch_events_total', count, { type: EVENT_TYPES[index] ?? '' }),
    ),
    ...Object.entries(handlers).flatMap(([handler, [calls, pending]]) => [
      one('kubeloom_handler_calls_total', calls, { handler }),
      one('kubeloom_handler_errors_total', 0, { handler }),
      one('kubeloom_handler_pending', pending, { handler }),
      one('kubeloom_handler_pending_bytes', pending * 100, { handler }),
    ]),
  ];
}

const EVENT_TYPES = ['added', 'modified', 'deleted', 'bookmark'];

function wire(): WireRecord[] {
  const connection = FIRST_CONNECTION;
  const sent = (
    type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK',
    revision: number,
    on = connection,
  ): WireRecord => ({ what: 'sent', connection: on, type, revision });
  return [
    request(connection, true, { resourceVersion: '', sendInitialEvents: 'true' }),
    ...[1, 2, 3].map((revision) => ({ ...sent('ADDED', revision), isInitial: true })),
    { what: 'listed', connection, revision: 3 },
    sent('MODIFIED', 4),
    sent('ADDED', 5),
    sent('BOOKMARK', 5),
    { what: 'closed', connection, why: 'cut' },
    request(2, true, { resourceVersion: '5' }),
    sent('DELETED', 6, 2),
    { what: 'closed', connection: 2, why: 'end' },
    request(3, true, { resourceVersion: '6' }),
    { what: 'refused', connection: 3, status: 410 },
    request(4, false, { resourceVersion: '6' }),
    { what: 'listed', connection: 4, revision: 11 },
    request(5, true, { resourceVersion: '11' }),
    sent('MODIFIED', 12, 5),
  ];
}
