/** Refusals of servers, request by request: credentials, overload, internal errors. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Harness, errorEvent, event, pod } from './harness.ts';

function refusedFlags(harness: Harness): boolean[] {
  return harness.messages.flatMap((message) =>
    message.type === 'prepare' ? [message.isUnauthorized === true] : [],
  );
}

describe('401', () => {
  it('C113 causes one immediate request for fresh credentials, in a list and in a watch', () => {
    const harness = new Harness().start();
    harness.exchange.fail(401, 'Unauthorized');
    assert.equal(harness.clock.pending, 1, 'no backoff, only the watchdog of the next request');
    harness.sync('10', 'a');
    harness.exchange.sendEvents(event('ADDED', 'b', '11')).end();
    harness.exchange.fail(401, 'Unauthorized');
    assert.equal(harness.exchange.query['resourceVersion'], '11');
    harness.exchange.stream(event('ADDED', 'c', '12'));
    harness.drain();
    assert.deepEqual(refusedFlags(harness), [false, true, false, false, true]);
    assert.deepEqual(harness.errors(), []);
    assert.deepEqual(harness.replica.objects(), ['a@10', 'b@11', 'c@12']);
  });
});

describe('410 to everything', () => {
  it('is retried with client-go’s delays, and never without one', () => {
    // client-go repeats a refused streaming list without any delay, thousands of times a second.
    const harness = new Harness().start({ watchList: 'auto' });
    const delays: (number | undefined)[] = [];
    let asked = 0;
    for (let round = 0; round < 7; round++) {
      for (; harness.exchanges.length > asked; asked++) harness.exchange.fail(410, 'Expired');
      delays.push(harness.clock.nextDelayMs);
      harness.clock.advance(harness.clock.nextDelayMs ?? 0);
    }
    assert.deepEqual(delays, [800, 1600, 3200, 6400, 12_800, 25_600, 30_000]);
    assert.ok(asked <= 2 * delays.length + 1, `${asked} requests`);
  });
});

describe('a server that says when to come back', () => {
  const REASONS: Record<number, string> = {
    429: 'TooManyRequests',
    500: 'InternalError',
    503: 'Unavailable',
  };
  for (const status of [429, 500, 503]) {
    it(`with ${status} delays the watch by that time, which resumes without a list`, () => {
      const harness = new Harness().start().sync('10', 'a');
      harness.exchange.sendEvents(event('ADDED', 'b', '11')).end();
      harness.exchange.fail(status, REASONS[status] ?? '', { 'retry-after': '7' });
      assert.equal(harness.clock.nextDelayMs, 7000);
      harness.clock.advance(7000);
      assert.equal(harness.exchange.isWatch, true);
      assert.equal(harness.exchange.query['resourceVersion'], '11');
    });
    it(`with ${status} delays the streaming list by that time, which is not replaced by a list`, () => {
      const harness = new Harness().start({ watchList: 'auto' });
      harness.exchange.fail(status, REASONS[status] ?? '', { 'retry-after': '7' });
      assert.equal(harness.clock.nextDelayMs, 7000);
      harness.clock.advance(7000);
      assert.equal(harness.exchange.query['sendInitialEvents'], 'true');
    });
  }

  it('about a permanent error is respected as well, and a list follows', () => {
    const harness = new Harness().start().sync('10', 'a');
    harness.exchange.sendEvents(event('ADDED', 'b', '11')).end();
    harness.exchange.fail(403, 'Forbidden', { 'retry-after': '7' });
    harness.clock.advance(7000);
    assert.equal(harness.exchange.isWatch, false);
  });

  it('C91 may be a date', () => {
    const harness = new Harness().start();
    harness.exchange.fail(503, 'ServiceUnavailable', {
      date: 'Fri, 20 Nov 2026 10:00:00 GMT',
      'retry-after': 'Fri, 20 Nov 2026 10:00:09 GMT',
    });
    assert.equal(harness.clock.nextDelayMs, 9000);
  });
});

describe('an ERROR event', () => {
  it('C112 of an internal error is retried with the same watch at once within the retry duration', () => {
    const harness = new Harness().start({ maxInternalErrorRetryDurationMs: 1000 }).sync('10', 'a');
    harness.exchange.sendEvents(event('ADDED', 'b', '11'), errorEvent(500, 'InternalError'));
    assert.equal(harness.exchange.isWatch, true);
    assert.equal(harness.exchange.query['resourceVersion'], '11');
    harness.exchange.stream(errorEvent(500, 'SomethingUnheardOf'));
    assert.equal(harness.exchange.isWatch, true, 'an unknown reason with code 500 counts as internal');
    assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_INTERNAL', 'ERR_KUBELOOM_INTERNAL']);
  });

  it('C116 about an object that could not be read leads to a list, whatever the retry duration', () => {
    const harness = new Harness().start({ maxInternalErrorRetryDurationMs: 60_000 }).sync('10', 'a', 'b');
    harness.exchange.sendEvents(errorEvent(500, 'StoreReadError'));
    assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_STORE_READ']);
    assert.equal(harness.clock.nextDelayMs, 800);
    harness.clock.advance(800);
    assert.deepEqual(harness.exchange.query, { resourceVersion: '10' });
    harness.list('12', pod('a', '10'));
    harness.drain();
    assert.deepEqual(harness.replica.objects(), ['a@10']);
  });

  for (const [reason, code] of [
    ['ServerTimeout', 'ERR_KUBELOOM_SERVER_TIMEOUT'],
    ['Forbidden', 'ERR_KUBELOOM_FORBIDDEN'],
  ] as const) {
    it(`with code 500 but the reason ${reason} is not an internal error`, () => {
      const harness = new Harness().start({ maxInternalErrorRetryDurationMs: 60_000 }).sync('10');
      harness.exchange.sendEvents(errorEvent(500, reason));
      assert.deepEqual(harness.errors(), [code]);
      harness.clock.advance(800);
      assert.equal(harness.exchange.isWatch, false);
    });
  }
});
