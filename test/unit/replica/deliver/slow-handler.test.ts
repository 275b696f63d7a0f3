/** Reports of a slow handler: a long call with a large backlog, or a long wait, once a minute. */
import { describe, mock, test } from 'node:test';
import assert from 'node:assert/strict';
import { SLOW_LIMITS } from '../../../../src/replica/deliver/handler-calls.ts';
import type { SlowLimits } from '../../../../src/replica/deliver/handler-calls.ts';
import { FakeClock } from '../../../../src/tools/apiserver/testing/fake-clock.ts';
import type { ProcessorListener } from '../../../../src/replica/deliver/processor-listener.ts';
import { Gates, scene, settled } from './listener-scene.ts';
import { at } from '../store/objects.ts';

/** Returns the reported durations of calls, for a handler with this backlog. */
function slowCalls(
  pending: number,
  callsMs: number[],
  limits: Partial<SlowLimits> = {},
): readonly (number | undefined)[] {
  const clock = new FakeClock();
  const slowLimits = { ...SLOW_LIMITS, ...limits };
  const call = (): void => clock.advance(callsMs.shift() ?? 0);
  const { replica, listener, reports } = scene(call, { clock, slowLimits });
  for (let version = 1; version <= pending; version++) replica.put(at(`p${version}`, version));
  listener.deliver(Infinity);
  return reports.slow;
}

const OWN_LIMITS = { pendingNotifications: 2, callMs: 10 };

describe('a slow call', () => {
  const cases: readonly (readonly [string, Parameters<typeof slowCalls>, number[]])[] = [
    ['of more than 100 ms with more than 1024 notifications behind it', [1026, [101]], [101]],
    ['and not one of 100 ms', [1026, [100]], []],
    ['and not one with 1024 behind it', [1025, [101]], []],
    ['once a minute', [2000, [150, 59_849, 150, 59_850, 200]], [150, 59_850]],
    ['above limits that are options', [4, [11], OWN_LIMITS], [11]],
    ['and not at the limit of its duration', [4, [10], OWN_LIMITS], []],
    ['and not at the limit of its backlog', [3, [11], OWN_LIMITS], []],
  ];
  for (const [title, given, expected] of cases) {
    test(`C21 C141 is reported ${title}`, () => assert.deepEqual(slowCalls(...given), expected));
  }
});

describe('the duration of a call', () => {
  test('is measured when it is asked for, and a handler that is not behind is not reported for it', () => {
    const clock = new FakeClock();
    const observed: number[] = [];
    const durations = { observe: (seconds: number) => void observed.push(seconds) };
    const { replica, listener, reports } = scene(() => clock.advance(500), { clock, durations });
    replica.put(at('a', 1));
    listener.deliver(Infinity);
    assert.deepEqual([observed, reports.slow], [[0.5], []]);
  });

  test('needs no clock when it is not asked for', () => {
    const clock = new FakeClock();
    const now = mock.method(clock, 'now');
    const { replica, listener } = scene(() => undefined, { clock });
    replica.put(at('a', 1));
    const before = now.mock.callCount();
    listener.deliver(Infinity);
    assert.equal(now.mock.callCount(), before);
  });
});

/** A handler whose first call ends when the test says so, with one notification waiting behind it. */
function stuck(ageMs: number): {
  readonly clock: FakeClock;
  readonly slow: readonly (number | undefined)[];
  readonly listener: ProcessorListener;
  readonly put: (name: string, version: number) => void;
  readonly open: () => void;
} {
  const clock = new FakeClock();
  const gates = new Gates();
  const slowLimits = { ...SLOW_LIMITS, ageMs };
  const { replica, listener, reports } = scene(() => gates.next(), { clock, slowLimits });
  const put = (name: string, version: number): void => {
    replica.put(at(name, version));
    listener.arrived();
    listener.deliver(Infinity);
  };
  put('a', 1);
  put('b', 2);
  return { clock, slow: reports.slow, listener, put, open: () => gates.open.shift()?.resolve() };
}

describe('a notification that waits for long', () => {
  test('C141 is reported although the call before it does not end, once a minute', () => {
    const { clock, slow } = stuck(30_000);
    clock.advance(29_999);
    assert.deepEqual(slow, []);
    clock.advance(1);
    assert.deepEqual(slow, [undefined]);
    clock.advance(59_999);
    assert.equal(slow.length, 1);
    clock.advance(1);
    assert.equal(slow.length, 2);
  });

  test('C141 is not one that came later, and no timer runs when nothing waits', async () => {
    const { clock, slow, listener, put, open } = stuck(30_000);
    clock.advance(20_000);
    open();
    await settled();
    // Now b is in its call, and c waits.
    listener.deliver(Infinity);
    put('c', 3);
    clock.advance(29_999);
    assert.deepEqual(slow, []);
    clock.advance(1);
    assert.deepEqual(slow, [undefined]);
    for (let calls = 0; calls < 2; calls++) {
      open();
      await settled();
      listener.deliver(Infinity);
    }
    clock.advance(600_000);
    assert.deepEqual([slow.length, clock.pending], [1, 0]);
  });

  test('C141 is not reported when the limit is 0, or the handler was removed', () => {
    const careless = stuck(0);
    careless.clock.advance(600_000);
    assert.deepEqual(careless.slow, []);
    const removed = stuck(30_000);
    removed.listener.remove();
    assert.equal(removed.clock.pending, 0);
  });
});
