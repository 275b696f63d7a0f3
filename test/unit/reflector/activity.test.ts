/** Lists and watches as they are observed: events of the rules go in, what ended and started comes out. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UNOBSERVED, observe } from '../../../src/reflector/activity.ts';
import type { Observation, Observed } from '../../../src/reflector/activity.ts';
import { initialState } from '../../../src/reflector/rules/state.ts';
import type { FailureKind } from '../../../src/reflector/rules/state.ts';
import { step } from '../../../src/reflector/rules/step.ts';
import { WatchEventType } from '../../../src/http/watch-frames.ts';
import { ActivityCounter } from '../../../src/shared/activity.ts';
import type { Activity } from '../../../src/shared/activity.ts';
import type { FromReflector, ReflectorSpec, ResumePosition } from '../../../src/shared/protocol.ts';
import { END, Harness, bookmark, errorEvent, event, list, pod } from './harness.ts';
import {
  AUTO,
  SPEC,
  closed,
  failed,
  initialEventsEnd,
  later,
  opened,
  page,
  start,
  stop,
  timer,
  torn,
} from './scripts.ts';
import type { Scripted } from './scripts.ts';

function describeObservation(observation: Observation): string {
  switch (observation.kind) {
    case 'list': {
      const { mode, cause, result, isOpen, durationMs } = observation;
      return `${mode} list (${cause}) ${result} after ${durationMs}${isOpen ? '' : ' unopened'}`;
    }
    case 'watch':
      return `watch ${observation.reason} after ${observation.durationMs}`;
    default:
      return 'watch started';
  }
}

/** Returns what is observed of the events, one line each. */
function observed(
  events: readonly Scripted[],
  spec: Partial<ReflectorSpec> = {},
  resume?: ResumePosition,
): string[] {
  let state = initialState({ ...SPEC, ...spec }, resume);
  let current: Observed = UNOBSERVED;
  let now = 0;
  const lines: string[] = [];
  for (const happened of events) {
    now += happened.afterMs ?? 0;
    const next = step(state, happened, now);
    const result = observe(current, state, happened, next, now);
    lines.push(...result.observations.map(describeObservation));
    state = next.state;
    current = result.observed;
  }
  return lines;
}

const SYNCED = [start, opened, page('10'), opened];
const INITIAL = 'pages list (initial) ok after 0';

describe('an observed list', () => {
  it('lasts from its first request to its last page, for any number of pages', () => {
    const events = [start, later(opened, 10), later(page('10', 'token'), 5), opened, later(page('10'), 7)];
    assert.deepEqual(observed(events), ['pages list (initial) ok after 22']);
  });

  it('that streams ends with its end bookmark, and its stream is a watch from then on', () => {
    const events = [start, opened, later(initialEventsEnd('20'), 30), later(closed('25'), 60)];
    const expected = ['stream list (initial) ok after 30', 'watch started', 'watch server after 60'];
    assert.deepEqual(observed(events, AUTO), expected);
  });

  it('asks again with fresh credentials without being a second list', () => {
    const pages = [start, failed('unauthorized', { during: 'list' }), opened, page('10')];
    assert.deepEqual(observed(pages), [INITIAL]);
    const stream = [start, failed('unauthorized'), opened, initialEventsEnd('10')];
    assert.deepEqual(observed(stream, AUTO), ['stream list (initial) ok after 0', 'watch started']);
    const refused = [start, failed('unauthorized'), failed('unauthorized'), timer, opened, page('10')];
    assert.deepEqual(observed(refused), [
      'pages list (initial) UNAUTHORIZED after 0 unopened',
      'pages list (unauthorized) ok after 0',
    ]);
  });

  it('that fails is the cause of the next one, and its time does not include the wait', () => {
    const events = [start, later(failed('unreachable'), 3), later(timer, 800), opened, later(page('10'), 4)];
    assert.deepEqual(observed(events), [
      'pages list (initial) UNREACHABLE after 3 unopened',
      'pages list (unreachable) ok after 4',
    ]);
  });

  it('that streams and is refused, cut off or without end, is followed by pages with that cause', () => {
    const cases: readonly (readonly [Scripted[], result: string, cause: string])[] = [
      [[failed('other')], 'OTHER after 0 unopened', 'unsupported'],
      [[opened, failed('other')], 'OTHER after 0', 'error'],
      [[opened, closed('', 0, 5)], 'cut_off after 0', 'cut_off'],
      [[opened, torn('', 0, 5)], 'TORN after 0', 'cut_off'],
      [[opened, failed('no-end-bookmark')], 'NO-END-BOOKMARK after 0', 'no_end_bookmark'],
    ];
    for (const [events, result, cause] of cases)
      assert.deepEqual(observed([start, ...events, opened, page('10')], AUTO), [
        `stream list (initial) ${result}`,
        `pages list (${cause}) ok after 0`,
      ]);
  });

  it('is a new one when a token or version has expired, or a page repeats its token', () => {
    const expired = [start, opened, page('10', 'token'), failed('expired'), opened, page('12')];
    assert.deepEqual(observed(expired), [
      'pages list (initial) EXPIRED after 0',
      'pages list (expired) ok after 0',
    ]);
    const repeated = [
      start,
      opened,
      page('1', 'token'),
      opened,
      page('1', 'token'),
      timer,
      opened,
      page('2'),
    ];
    assert.deepEqual(observed(repeated), [
      'pages list (initial) ERR_KUBELOOM_MALFORMED_RESPONSE after 0',
      'pages list (error) ok after 0',
    ]);
  });

  it('that is stopped has that result, and nothing is observed after it', () => {
    assert.deepEqual(observed([start, opened, stop, timer, opened]), [
      'pages list (initial) stopped after 0',
    ]);
  });

  it('of a reflector that fills the cache after another has its own reason', () => {
    assert.deepEqual(observed([start, opened, page('10')], {}, { resourceVersion: '5', epoch: 1 }), [
      'pages list (restarted) ok after 0',
    ]);
  });
});

describe('an observed watch', () => {
  it('begins with the answer of the server: a refused one is none', () => {
    const events = [...SYNCED.slice(0, 3), failed('unreachable'), timer, failed('unauthorized'), opened];
    assert.deepEqual(observed(events), [INITIAL, 'watch started']);
  });

  it('ends with the reason: the server, its connection, the end of the informer', () => {
    for (const [end, reason] of [
      [closed('15'), 'server'],
      [torn('15'), 'torn'],
      [closed('10', 0, 999), 'short_watch'],
      [stop, 'stopped'],
    ] as const) {
      assert.deepEqual(observed([...SYNCED, later(end, 9)]), [
        INITIAL,
        'watch started',
        `watch ${reason} after 9`,
      ]);
    }
  });

  it('that fails ends with the kind of the failure, which is the cause of the list after it', () => {
    const kinds: Readonly<Record<FailureKind, string>> = {
      expired: 'expired',
      'too-large': 'too_large',
      unreachable: 'unreachable',
      'too-many-requests': 'too_many_requests',
      unauthorized: 'unauthorized',
      'internal-error': 'internal_error',
      malformed: 'malformed',
      'went-back': 'went_back',
      stalled: 'silence',
      'no-end-bookmark': 'no_end_bookmark',
      other: 'error',
    };
    for (const [kind, reason] of Object.entries(kinds)) {
      const lines = observed([
        ...SYNCED,
        failed(kind as FailureKind, { at: '15' }),
        timer,
        opened,
        page('20'),
      ]);
      assert.equal(lines[2], `watch ${reason} after 0`);
      const isListed = !['unreachable', 'too-many-requests', 'stalled', 'malformed', 'unauthorized'].includes(
        kind,
      );
      if (isListed) assert.equal(lines[3], `pages list (${reason}) ok after 0`);
      else assert.equal(lines[3], 'watch started');
    }
  });

  it('too short for the server to be healthy is the cause of a list', () => {
    const events = [...SYNCED, closed('10', 0, 5), timer, opened, page('20')];
    assert.equal(observed(events).at(-1), 'pages list (short_watch) ok after 0');
  });
});

/** Requests so far as messages. */
function requests(messages: readonly FromReflector[]): string[] {
  return messages.flatMap((message) => {
    if (message.type !== 'activity' || message.activity.kind !== 'request') return [];
    const { verb, host, code, durationMs } = message.activity;
    return [`${verb} ${host} ${code} after ${durationMs}`];
  });
}

describe('the activity of a reflector', () => {
  it('has the items and bytes of lists, and the events of watches', () => {
    const harness = new Harness().start().sync('10', 'a', 'b');
    const bytes = list('10', [pod('a', '10'), pod('b', '10')]).length;
    harness.exchange.sendEvents(event('ADDED', 'c', '11'), bookmark('12')).end();
    const listed: Activity = {
      kind: 'list',
      mode: 'pages',
      cause: 'initial',
      result: 'ok',
      items: 2,
      bytes,
      durationMs: 0,
    };
    const started: Activity = { kind: 'watch-started' };
    const ended: Activity = { kind: 'watch', reason: 'server', events: 2, durationMs: 0 };
    assert.deepEqual(harness.activity, [listed, started, ended]);
  });

  it('counts events of a streaming list for the list, and later ones of the same bytes for the watch', () => {
    const harness = new Harness().start({ watchList: 'auto' });
    harness.exchange
      .stream(event('ADDED', 'a', '5'), bookmark('9', END), event('ADDED', 'b', '10'))
      .sendEvents(errorEvent(500, 'InternalError'));
    const [listed, started, ended] = harness.activity;
    assert.deepEqual([listed?.kind, started?.kind, ended?.kind], ['list', 'watch-started', 'watch']);
    assert.equal(listed?.kind === 'list' && listed.items, 1);
    assert.ok(listed?.kind === 'list' && listed.bytes > 0);
    assert.equal(ended?.kind === 'watch' && ended.events, 2);
  });

  it('has no items for a list that the server has refused', () => {
    const harness = new Harness().start().sync('10', 'a');
    harness.exchange.sendEvents(errorEvent(410, 'Expired'));
    harness.clock.advance(800);
    harness.exchange.fail(503, 'ServiceUnavailable');
    const refused = harness.activity.at(-1);
    assert.ok(refused?.kind === 'list');
    assert.deepEqual([refused.cause, refused.items, refused.bytes], ['expired', 0, 0]);
  });

  it('has each request with its status, or that no response came', () => {
    const harness = new Harness().start();
    harness.clock.advance(20);
    harness.exchange.fail(503, 'ServiceUnavailable');
    harness.clock.advance(800);
    harness.exchange.refuse();
    harness.clock.advance(1600);
    harness.list('10');
    harness.clock.advance(305_000);
    assert.deepEqual(requests(harness.messages), [
      'LIST server 503 after 20',
      'LIST server <error> after 0',
      'LIST server 200 after 0',
      'WATCH server <error> after 305000',
    ]);
  });

  it('counts events by type, bytes by verb, and what it ignores, also where a line is offered twice', () => {
    const harness = new Harness({ ringBytes: 4096 }).start().sync('10', 'a');
    const lines = Array.from({ length: 200 }, (_, index) => event('MODIFIED', 'a', String(11 + index)));
    harness.exchange.sendEvents(...lines);
    harness.drain();
    harness.exchange.sendEvents(
      event('ADDED', 'b', '300'),
      event('DELETED', 'b', '301'),
      bookmark('302'),
      bookmark('299'),
      event('NEWS', 'a', '303'),
      { type: 'ADDED', object: { kind: 'Pod', apiVersion: 'v1', metadata: { resourceVersion: '304' } } },
      { type: 'ADDED', object: { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'c' } } },
      { type: 'ADDED', object: { kind: 'Node', metadata: { name: 'n', resourceVersion: '305' } } },
      errorEvent(500, 'InternalError'),
    );
    harness.drain();
    const counts = harness.counts();
    const count = (counter: keyof typeof ActivityCounter): number | undefined =>
      counts[ActivityCounter[counter]];
    assert.ok(harness.backlogs > 0);
    assert.equal(count('ModifiedEvents'), 200);
    assert.equal(count('AddedEvents'), 4);
    assert.equal(count('DeletedEvents'), 1);
    assert.equal(count('Bookmarks'), 2);
    assert.equal(count('UnknownEvents'), 1);
    assert.equal(count('ErrorEvents'), 1);
    assert.equal(count('OutOfOrder'), 1);
    assert.equal(count('Nameless'), 1);
    assert.equal(count('Unversioned'), 1);
    assert.equal(count('Unexpected'), 1);
    assert.equal(count('ListBytes'), list('10', [pod('a', '10')]).length);
    assert.ok((count('WatchBytes') ?? 0) > 200 * 100);
  });

  it('counts an oversized object by its event, and one without a name as ignored', () => {
    const harness = new Harness().start({ objectBytesMax: 1000 }).sync('10');
    harness.exchange.sendEvents(event('ADDED', 'large', '11', 2 ** 21));
    const nameless = { type: 'ADDED', object: { kind: 'Pod', apiVersion: 'v1', spec: 'x'.repeat(2 ** 21) } };
    harness.exchange.sendEvents(nameless);
    assert.equal(harness.counts()[ActivityCounter.AddedEvents], 2);
    assert.equal(harness.counts()[ActivityCounter.TooLarge], 1);
  });

  it('numbers the counters of events like the types of events', () => {
    const { UnknownEvents, AddedEvents, ModifiedEvents, DeletedEvents, Bookmarks, ErrorEvents } =
      ActivityCounter;
    const { Unknown, Added, Modified, Deleted, Bookmark, Error } = WatchEventType;
    assert.deepEqual(
      [UnknownEvents, AddedEvents, ModifiedEvents, DeletedEvents, Bookmarks, ErrorEvents],
      [Unknown, Added, Modified, Deleted, Bookmark, Error],
    );
  });
});
