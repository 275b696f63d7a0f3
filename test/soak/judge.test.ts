/** The judge of a window finds nothing in a good record, and each rule sees the record that breaks it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Notification } from '../../src/tools/loadtest/watch/recording-handler.ts';
import type { Line } from '../e2e/members/history.ts';
import { carriedOf, groupLinesOf, judgeWindow, poolKeyOf, poolLinesOf } from './judge.ts';
import { poolPlaceOf } from './pool-place.ts';
import type { HandlerRecord, MadeWrite, WindowRecord } from './window-record.ts';

const KEY = 'default/a';
const OTHER = 'default/b';
const EMPTY = { podTemplates: new Map(), serviceAccounts: new Map(), services: new Map() } as const;
const A = { member: 'a', partition: 3, epoch: 1 } as const;
const B = { member: 'b', partition: 3, epoch: 2 } as const;

function notified(
  kind: Notification['kind'],
  key: string,
  revision: number,
  previousRevision = 0,
): Notification {
  return { kind, key, revision, previousRevision, calledUs: 0 };
}

function made(change: MadeWrite['change'], key: string, version: number, atMs: number, uid = 'u'): MadeWrite {
  const times = { sentMs: atMs - 2, endedMs: atMs, atMs };
  return { kind: 'services', change, key, uid, version, ...times };
}

function worked(place: object, key: string, version: number, atMs: number): Line[] {
  return [
    { kind: 'begins', atMs, key, version, ...place } as Line,
    { kind: 'ends', atMs: atMs + 1, key, ...place } as Line,
  ];
}

const WRITES = [
  made('update', KEY, 11, 10),
  made('create', OTHER, 12, 20),
  made('delete', OTHER, 0, 30),
  made('create', OTHER, 14, 40, 'v'),
];
/** The group divides ConfigMaps; these were written as the others were. */
const GROUP_WRITES = WRITES.map((write): MadeWrite => ({ ...write, kind: 'configMaps' }));
const HISTORY = [
  notified('INITIAL', KEY, 5),
  notified('MODIFIED', KEY, 11, 5),
  notified('ADDED', OTHER, 12),
  notified('DELETED', OTHER, 13),
  notified('ADDED', OTHER, 14),
];
const STATE = new Map([
  [KEY, 11],
  [OTHER, 14],
]);
const HANDLER: HandlerRecord = {
  name: 'prompt',
  kind: 'services',
  notifications: HISTORY,
  isRelisted: false,
  state: STATE,
};
const POOL: Line[] = [
  ...worked(poolPlaceOf(poolKeyOf('services', KEY)), poolKeyOf('services', KEY), 11, 11),
  ...worked(poolPlaceOf(poolKeyOf('services', OTHER)), poolKeyOf('services', OTHER), 14, 41),
];
const GROUP: Line[] = [
  { kind: 'owns', atMs: 0, ...A },
  ...worked(A, `${KEY}#u`, 11, 11),
  { kind: 'owns', atMs: 18, ...B },
  ...worked(B, `${OTHER}#u`, 12, 22),
  ...worked(B, `${OTHER}#v`, 14, 42),
];
const GOOD: WindowRecord = {
  index: 0,
  faults: ['member is cut off'],
  missed: [],
  before: { ...EMPTY, services: new Map([[KEY, 5]]) },
  after: { ...EMPTY, services: STATE },
  writes: [...WRITES, ...GROUP_WRITES],
  handlers: [HANDLER, { ...HANDLER, name: 'thread 0' }],
  group: GROUP,
  pool: POOL,
  reports: [{ from: 'b', code: 'ERR_KUBELOOM_CONNECTION_RESET', message: 'the proxy cut it' }],
  scrapes: [
    { statuses: { healthz: 200, readyz: 200, metrics: 200 }, counters: new Map([['x_total', 1]]) },
    { statuses: { healthz: 200, readyz: 200, metrics: 200 }, counters: new Map([['x_total', 2]]) },
  ],
  behind: {},
  rest: { rssBytes: 1, heapBytes: 1, descriptors: 1, threads: 1, listeners: 1, handlersHeld: 0 },
};

function withHistory(
  notifications: readonly Notification[],
  more: Partial<HandlerRecord> = {},
): WindowRecord {
  return { ...GOOD, handlers: [{ ...HANDLER, notifications, ...more }, ...GOOD.handlers.slice(1)] };
}

const BAD: readonly (readonly [title: string, window: WindowRecord, violation: RegExp])[] = [
  [
    'a change that a handler did not receive',
    withHistory(HISTORY.toSpliced(1, 1)),
    /^history of prompt.* 1 lost/,
  ],
  [
    'a deletion that one of two handlers did not receive',
    withHistory(HISTORY.toSpliced(3, 1)),
    /^history of prompt.* 1 lost/,
  ],
  [
    'a deletion that only one handler received',
    withHistory(HISTORY.toSpliced(2, 0, notified('DELETED', KEY, 11.5))),
    /^history of prompt.*1 doubled.*not in the log: DELETED/,
  ],
  [
    'a change that came twice',
    withHistory(HISTORY.toSpliced(2, 0, notified('MODIFIED', KEY, 11, 5))),
    /1 doubled/,
  ],
  [
    'changes in another order than the server has',
    withHistory([
      ...HISTORY.slice(0, 1),
      ...HISTORY.slice(2, 4),
      ...HISTORY.slice(1, 2),
      ...HISTORY.slice(4),
    ]),
    /reordered/,
  ],
  [
    'a change that no client wrote',
    withHistory([...HISTORY, notified('ADDED', 'default/c', 15)]),
    /1 doubled.*not in the log/,
  ],
  [
    'changes that were combined without a list',
    withHistory([...HISTORY.slice(0, 2), notified('ADDED', OTHER, 14)]),
    /2 lost/,
  ],
  [
    'an old state in a cache',
    withHistory(HISTORY, {
      state: new Map([
        [KEY, 5],
        [OTHER, 14],
      ]),
    }),
    /^stale cache of prompt.*default\/a is at 5/,
  ],
  [
    'an object in a cache that the server does not have',
    withHistory(HISTORY, { state: new Map([...STATE, ['default/c', 1]]) }),
    /^stale cache.*on the server at none/,
  ],
  [
    'two owners at one time',
    { ...GOOD, group: [...GROUP, ...worked(A, `${KEY}#u`, 11, 43)] },
    /^group: .*before the last act of a/,
  ],
  [
    'a change that no member has worked',
    { ...GOOD, group: GROUP.slice(0, -2) },
    /^group: the newest state of default\/b#v/,
  ],
  [
    'two threads with one key',
    { ...GOOD, pool: [...POOL.slice(0, 1), ...POOL] },
    /^pool: two works at one time/,
  ],
  [
    'a pool that reconciles an older state later',
    {
      ...GOOD,
      pool: [...POOL, ...worked(poolPlaceOf(poolKeyOf('services', KEY)), poolKeyOf('services', KEY), 5, 50)],
    },
    /^pool: .*after a work at 11/,
  ],
  [
    'a change that no thread has reconciled',
    { ...GOOD, pool: POOL.slice(0, 2) },
    /^pool: the newest state of services default\/b/,
  ],
  [
    'a report that no fault explains',
    { ...GOOD, faults: [] },
    /^report without a cause: b: ERR_KUBELOOM_CONNECTION_RESET/,
  ],
  [
    'an unhandled rejection',
    { ...GOOD, reports: [{ from: 'unhandled rejection', code: 'ERR_KUBELOOM_UNEXPECTED', message: '' }] },
    /^report without/,
  ],
  ['a fault that did not strike', { ...GOOD, missed: ['pool thread exits'] }, /^fault that did not strike/],
  [
    'a part that comes to no rest',
    { ...GOOD, behind: { pool: 'default/a is not reconciled' } },
    /^no rest: pool: default.a is not reconciled/,
  ],
  [
    'a health door that does not answer',
    { ...GOOD, scrapes: [{ statuses: { readyz: 503 }, counters: new Map() }] },
    /^scrape: readyz answered 503/,
  ],
  [
    'a counter that goes back',
    { ...GOOD, scrapes: GOOD.scrapes.toReversed() },
    /^scrape: x_total went from 2 to 1/,
  ],
  ['a health door that was never asked', { ...GOOD, scrapes: [] }, /^scrape: none/],
];

describe('the judge of a soak', () => {
  test('finds nothing in a good window', () => {
    assert.deepEqual(judgeWindow(GOOD), []);
  });

  test('accepts changes that a list has combined, and a deletion whose version no handler received', () => {
    const combined = [...HISTORY.slice(0, 1), notified('MODIFIED', KEY, 11, 5), notified('ADDED', OTHER, 14)];
    const handlers = GOOD.handlers.map((handler) => ({
      ...handler,
      notifications: combined,
      isRelisted: true,
    }));
    assert.deepEqual(judgeWindow({ ...GOOD, handlers }), []);
  });

  test('accepts a renewal without an answer, which a busy machine explains, and nothing else', () => {
    const reported = (code: string): string =>
      judgeWindow({ ...GOOD, faults: [], reports: [{ from: 'b', code, message: '' }] }).join();
    assert.equal(reported('ERR_KUBELOOM_STALLED'), '');
    assert.match(reported('ERR_KUBELOOM_THREAD'), /^report without/);
  });

  for (const [title, window, violation] of BAD)
    test(`finds ${title}`, () => {
      assert.match(judgeWindow(window).join('\n'), new RegExp(violation.source, 'm'));
    });

  test('asks for no reconciliation of an object that is gone', () => {
    const writes = [...WRITES, made('delete', OTHER, 0, 60, 'v')];
    assert.deepEqual(
      poolLinesOf(writes).map(({ kind }) => kind),
      ['wrote'],
    );
  });
});

describe('the lines that are carried into the next window', () => {
  const carried = carriedOf([...GROUP, ...groupLinesOf(GROUP_WRITES)], 25);

  test('are few, and still show an owner of before that acts', () => {
    assert.ok(carried.length < GROUP.length + WRITES.length);
    const later = { ...GOOD, writes: [], pool: [], handlers: [], group: carried };
    assert.deepEqual(judgeWindow(later), []);
    const late = judgeWindow({ ...later, group: [...carried, ...worked(A, `${KEY}#u`, 11, 99)] });
    assert.match(late.join('\n'), /b .*acts before the last act of a/);
    const old = judgeWindow({ ...later, group: [...carried, ...worked(B, `${OTHER}#v`, 13, 99)] });
    assert.match(old.join('\n'), /after a work at 14/);
  });

  test('have no work on an object that is gone: its deletion is forgotten earlier', () => {
    const gone = [...GROUP, ...worked(B, `${OTHER}#u`, 0, 50)];
    const next = carriedOf([...gone, ...groupLinesOf(GROUP_WRITES)], 25);
    const afterNext = carriedOf(next, 60);
    const group = [...afterNext, ...worked(B, `${OTHER}#v`, 14, 70)];
    assert.deepEqual(judgeWindow({ ...GOOD, writes: [], pool: [], handlers: [], group }), []);
  });

  test('have the deletions of the last window, and no older one', () => {
    const deletions = (lines: readonly Line[]): number =>
      lines.filter(({ kind }) => kind === 'deleted').length;
    assert.equal(deletions(carried), 1);
    assert.equal(deletions(carriedOf(carried, 35)), 0);
  });
});
