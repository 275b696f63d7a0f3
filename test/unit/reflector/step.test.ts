/** The rules of list-and-watch, one table each: events go in, the effects of every event come out. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { initialState } from '../../../src/reflector/rules/state.ts';
import { step } from '../../../src/reflector/rules/step.ts';
import {
  AUTO,
  SPEC,
  closed,
  failed,
  initialEventsEnd,
  later,
  opened,
  page,
  paged,
  phases,
  play,
  start,
  stop,
  streamed,
  streaming,
  synced,
  table,
  timer,
  torn,
} from './scripts.ts';
import type { Row } from './scripts.ts';

describe('the list', () => {
  table(
    'begins at resourceVersion 0 with pages of 500 and continues as a watch from its own version',
    {},
    synced,
  );
  table(
    'reads page after page with only the limit and the token, and has the version of its first page',
    {},
    [
      [start, 'list rv=0 limit=500'],
      [opened, 'begin 1'],
      [page('10', 'token-1'), 'list limit=500 continue=token-1'],
      [opened, ''],
      [page('11', 'token-2'), 'list limit=500 continue=token-2'],
      [opened, ''],
      [page('12'), 'end 1@10, watch rv=10'],
    ],
  );
  table('carries the selectors of the informer in every request', { query: { labelSelector: 'app=web' } }, [
    [start, 'list labelSelector=app=web rv=0 limit=500'],
    [opened, 'begin 1'],
    [page('10', 'token'), 'list labelSelector=app=web limit=500 continue=token'],
    [opened, ''],
    [page('10'), 'end 1@10, watch labelSelector=app=web rv=10'],
  ]);
  table('asks for the most recent state at first if the informer requires it', { initialList: 'latest' }, [
    [start, 'list limit=500'],
    [opened, 'begin 1'],
    [failed('other'), 'report OTHER, close, abort 1, wait 800'],
    [timer, 'list limit=500'],
    [opened, 'begin 2'],
    [page('10'), 'end 2@10, watch rv=10'],
    [failed('other', { at: '25' }), 'report OTHER, close, wait 1600'],
    [timer, 'list rv=25'],
  ]);
  table('asks for the last seen version without a limit when it is repeated', {}, [
    ...synced,
    [failed('other', { at: '25' }), 'report OTHER, close, wait 800'],
    [timer, 'list rv=25'],
    [opened, 'begin 2'],
    [page('30'), 'end 2@30, watch rv=30'],
  ]);
  table('continues to ask for pages when "0" came in pages', {}, [
    ...paged,
    [opened, ''],
    [page('10'), 'end 1@10, watch rv=10'],
    [opened, ''],
    [failed('other', { at: '11' }), 'report OTHER, close, wait 800'],
    [timer, 'list rv=11 limit=500'],
    [opened, 'begin 2'],
    [page('20', 'token'), 'list limit=500 continue=token'],
    [failed('other'), 'report OTHER, close, abort 2, wait 1600'],
    [timer, 'list rv=11 limit=500'],
  ]);
  table('always asks for pages of the configured size', { pageSize: 4 }, [
    [start, 'list rv=0 limit=4'],
    [opened, 'begin 1'],
    [page('10', 'token'), 'list limit=4 continue=token'],
    [opened, ''],
    [page('10'), 'end 1@10, watch rv=10'],
    [failed('other', { at: '11' }), 'report OTHER, close, wait 800'],
    [timer, 'list rv=11 limit=4'],
  ]);
  for (const kind of ['expired', 'too-large'] as const) {
    table(`asks for the most recent state at once, and only once, when its version is ${kind}`, {}, [
      ...synced,
      [failed('other', { at: '25' }), 'report OTHER, close, wait 800'],
      [timer, 'list rv=25'],
      [failed(kind), 'close, list limit=500'],
      [failed(kind), `report ${kind.toUpperCase()}, close, wait 1600`],
      [timer, 'list limit=500'],
      [opened, 'begin 2'],
      [page('40'), 'end 2@40, watch rv=40'],
      [failed('other', { at: '41' }), 'report OTHER, close, wait 3200'],
      [timer, 'list rv=41'],
    ]);
  }
  table('reads everything at once at its first version when its continue token has expired', {}, [
    ...paged,
    [failed('expired'), 'close, abort 1, list rv=0'],
    [opened, 'begin 2'],
    [page('12'), 'end 2@12, watch rv=12'],
  ]);
  table('gives up when even the list after an expired token expires between pages', {}, [
    ...paged,
    [failed('expired'), 'close, abort 1, list rv=0'],
    [opened, 'begin 2'],
    [page('12', 'token'), 'list continue=token'],
    // One fallback is left: the most recent state.
    [failed('expired'), 'close, abort 2, list limit=500'],
    [failed('expired'), 'report EXPIRED, close, wait 800'],
  ]);
  table('is abandoned when a page contains its own continue token', {}, [
    ...paged,
    [opened, ''],
    [page('10', 'token'), 'report ERR_KUBELOOM_MALFORMED_RESPONSE, close, abort 1, wait 800'],
  ]);
  table('is aborted and repeated after a backoff when a page fails', {}, [
    ...paged,
    [failed('other', { during: 'list' }), 'report OTHER, close, abort 1, wait 800'],
    [timer, 'list rv=0 limit=500'],
    [opened, 'begin 2'],
  ]);
  table('waits as long as the server asks for', {}, [
    [start, 'list rv=0 limit=500'],
    [
      failed('too-many-requests', { retryAfterMs: 7000 }),
      'report TOO-MANY-REQUESTS, close, wait 800 at least 7000',
    ],
    [timer, 'list rv=0 limit=500'],
  ]);
});

describe('the watch', () => {
  table('resumes at once from the last version when the server closes it', {}, [
    ...synced,
    [closed('15'), 'watch rv=15'],
    [opened, ''],
    [closed('15', 0), 'watch rv=15'],
  ]);
  table('is reported and resumed at once when its connection is torn', {}, [
    ...synced,
    [torn('15'), 'report TORN, watch rv=15'],
  ]);
  table('that ends within a second without an event is an error and leads to a list', {}, [
    ...synced,
    [closed('10', 0, 999), 'report ERR_KUBELOOM_VERY_SHORT_WATCH, wait 800'],
    [timer, 'list rv=10'],
  ]);
  table('that ends within a second after an event, or after a second without one, is resumed', {}, [
    ...synced,
    [closed('11', 1, 5), 'watch rv=11'],
    [opened, ''],
    [closed('11', 0, 1000), 'watch rv=11'],
  ]);
  for (const kind of ['unreachable', 'too-many-requests'] as const) {
    table(`waits and resumes, without a list, after "${kind}"`, {}, [
      ...synced,
      [closed('15'), 'watch rv=15'],
      [failed(kind, { at: '15' }), `report ${kind.toUpperCase()}, close, wait 800`],
      [timer, 'watch rv=15'],
      [failed(kind, { at: '15' }), `report ${kind.toUpperCase()}, close, wait 1600`],
      [timer, 'watch rv=15'],
      [opened, ''],
      [closed('17'), 'watch rv=17'],
    ]);
  }
  table('leads to a list at the last version when that version has expired, in both forms', {}, [
    ...synced,
    [failed('expired', { at: '15' }), 'report EXPIRED, close, wait 800'],
    [timer, 'list rv=15'],
    [opened, 'begin 2'],
    [page('50'), 'end 2@50, watch rv=50'],
    [failed('expired', { at: '60' }), 'report EXPIRED, close, wait 1600'],
    [timer, 'list rv=60'],
  ]);
  table(
    'waits longer and longer for a server that refuses the version it has just listed, and reports it',
    {},
    [
      ...synced,
      [failed('expired'), 'report EXPIRED, close, wait 800'],
      ...[3200, 12_800, 30_000, 30_000].flatMap((waitMs, round): Row[] => [
        [timer, 'list rv=10'],
        [opened, `begin ${round + 2}`],
        [page('10'), `end ${round + 2}@10, watch rv=10`],
        [failed('expired'), `report ERR_KUBELOOM_EXPIRED_LOOP, close, wait ${waitMs}`],
      ]),
    ],
  );
  table('retries without end whatever the server answers, more and more slowly', {}, [
    ...synced,
    [failed('other'), 'report OTHER, close, wait 800'],
    ...[1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000].flatMap((waitMs): Row[] => [
      [timer, 'list rv=10'],
      [failed('other'), `report OTHER, close, wait ${waitMs}`],
    ]),
  ]);
  table('is closed and resumed after silence', {}, [
    ...synced,
    [failed('stalled', { at: '15' }), 'report STALLED, close, watch rv=15'],
  ]);
  table(
    'is resumed at once after a malformed event, and leads to a list when the same event comes again',
    {},
    [
      ...synced,
      [failed('malformed', { at: '15' }), 'report MALFORMED, close, watch rv=15'],
      [opened, ''],
      [failed('malformed', { at: '15' }), 'report MALFORMED, close, wait 800'],
      [timer, 'list rv=15'],
    ],
  );
  table('slows down when malformed events come at new positions', {}, [
    ...synced,
    [failed('malformed', { at: '15' }), 'report MALFORMED, close, watch rv=15'],
    [failed('malformed', { at: '16' }), 'report MALFORMED, close, wait 800'],
    [timer, 'watch rv=16'],
    [failed('malformed', { at: '17' }), 'report MALFORMED, close, wait 1600'],
    [timer, 'watch rv=17'],
    [opened, ''],
    [closed('30'), 'watch rv=30'],
    [opened, ''],
    [failed('malformed', { at: '30' }), 'report MALFORMED, close, watch rv=30'],
  ]);
  table('C119 starts over with short delays only after two healthy minutes', {}, [
    ...synced,
    [failed('other'), 'report OTHER, close, wait 800'],
    [timer, 'list rv=10'],
    [opened, 'begin 2'],
    [page('10'), 'end 2@10, watch rv=10'],
    [opened, ''],
    [later(failed('other'), 119_000), 'report OTHER, close, wait 1600'],
    [later(timer, 300_000), 'list rv=10'],
    [failed('other'), 'report OTHER, close, wait 3200'],
    [timer, 'list rv=10'],
    [opened, 'begin 3'],
    [page('10'), 'end 3@10, watch rv=10'],
    [opened, ''],
    [later(closed('10'), 100_000), 'watch rv=10'],
    [opened, ''],
    [later(failed('other'), 20_000), 'report OTHER, close, wait 800'],
  ]);
});

describe('the streaming list', () => {
  table('comes first, without a version, and its stream continues as the watch', AUTO, [
    ...streamed,
    [closed('25'), 'watch rv=25'],
  ]);
  table('asks for the last seen version when it is repeated', AUTO, [
    ...streamed,
    [failed('other', { at: '25' }), 'report OTHER, close, wait 800'],
    [timer, 'watch rv=25 streaming'],
    [opened, 'begin 2'],
  ]);
  table('is aborted and repeated at once when it is cut off, and the second time replaced by a list', AUTO, [
    ...streaming,
    [closed('', 100), 'abort 1, watch streaming'],
    [opened, 'begin 2'],
    [torn('', 100), 'report TORN, abort 2, list rv=0 limit=500'],
    [opened, 'begin 3'],
    [page('10'), 'end 3@10, watch rv=10'],
    [failed('other'), 'report OTHER, close, wait 800'],
    // The count of interrupted streams starts over with every collection that was read.
    [timer, 'watch rv=10 streaming'],
    [opened, 'begin 4'],
    [closed('', 100), 'abort 4, watch rv=10 streaming'],
  ]);
  table('falls back to a list when the stream is closed at once without an event', AUTO, [
    ...streaming,
    [closed('', 0, 10), 'abort 1, list rv=0 limit=500'],
  ]);
  table('falls back to one list when the server refuses it', AUTO, [
    [start, 'watch streaming'],
    [failed('other'), 'close, list rv=0 limit=500'],
    [opened, 'begin 1'],
    [page('10'), 'end 1@10, watch rv=10'],
    [failed('expired', { at: '12' }), 'report EXPIRED, close, wait 800'],
    [timer, 'watch rv=12 streaming'],
  ]);
  for (const kind of ['malformed', 'stalled', 'no-end-bookmark', 'other'] as const) {
    table(`is reported, aborted and replaced by a list after "${kind}"`, AUTO, [
      ...streaming,
      [failed(kind), `report ${kind.toUpperCase()}, close, abort 1, list rv=0 limit=500`],
    ]);
  }
  for (const kind of ['unreachable', 'too-many-requests'] as const) {
    table(`waits and is repeated after "${kind}"`, AUTO, [
      [start, 'watch streaming'],
      [failed(kind), `report ${kind.toUpperCase()}, close, wait 800`],
      [timer, 'watch streaming'],
    ]);
  }
  for (const kind of ['expired', 'too-large'] as const) {
    table(`asks for the most recent state once when its version is ${kind}, then a list`, AUTO, [
      ...streamed,
      [failed('expired', { at: '25' }), 'report EXPIRED, close, wait 800'],
      [timer, 'watch rv=25 streaming'],
      [failed(kind), 'close, watch streaming'],
      [failed(kind), 'close, list limit=500'],
      [opened, 'begin 2'],
      [page('60'), 'end 2@60, watch rv=60'],
    ]);
  }
});

describe('stopping', () => {
  const bye = 'close, detach';
  for (const [title, before, epoch] of [
    ['before the first answer', [start], 0],
    ['in a list', [start, opened], 1],
    ['in a watch', [start, opened, page('10'), opened], 1],
    ['while it waits', [start, failed('other')], 0],
  ] as const) {
    it(`detaches the informer ${title}, and later events have no effect`, () => {
      const { lines, state } = play({}, [...before, stop, timer, opened, page('20'), stop]);
      assert.deepEqual(lines.slice(before.length), [`${bye} ${epoch}, stopped`, '', '', '', '']);
      assert.equal(state.kind, 'stopped');
    });
  }
});

describe('step', () => {
  it('ignores events that cannot happen in a state', () => {
    const idle = initialState(SPEC);
    for (const event of [timer, opened, page('1'), initialEventsEnd('1'), closed('1')]) {
      assert.deepEqual(step(idle, event, 0), { state: idle, effects: [] });
    }
    const { state: watching } = play({}, [start, opened, page('10'), opened]);
    for (const event of [start, timer, page('1'), initialEventsEnd('1')]) {
      assert.deepEqual(step(watching, event, 0), { state: watching, effects: [] });
    }
  });

  it('returns the phases for health', () => {
    assert.deepEqual(phases({}, [start, opened, page('10'), opened, failed('other'), stop]), [
      'connecting',
      'listing',
      'connecting',
      'watching',
      'backing-off',
      'stopped',
    ]);
    assert.deepEqual(phases({ watchList: 'auto' }, [start, opened, initialEventsEnd('10')]), [
      'connecting',
      'streaming-list',
      'watching',
    ]);
  });
});
