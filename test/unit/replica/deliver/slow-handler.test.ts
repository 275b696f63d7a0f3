/** Reports of a slow handler: a long call with a large backlog, or a long wait, once a minute. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { SLOW_LIMITS } from '../../../../src/replica/deliver/handler-calls.ts';
import type { SlowLimits } from '../../../../src/replica/deliver/handler-calls.ts';
import { FakeClock } from '../../../../src/apiserver/testing/fake-clock.ts';
import type { ProcessorListener } from '../../../../src/replica/deliver/processor-listener.ts';
import { Gates, at, scene, settled } from './listener-scene.ts';
import { newListener } from './recording-handler.ts';

/** Returns the reported durations of calls, for a handler with this backlog. */
function slowCalls(
  pending: number,
  callsMs: number[],
  limits: Partial<SlowLimits> = {},
): readonly (number | undefined)[] {
  const { replica, processor } = scene();
  const clock = new FakeClock();
  const slowLimits = { ...SLOW_LIMITS, ...limits };
  const { listener, reports } = newListener(
    { onAdd: () => clock.advance(callsMs.shift() ?? 0) },
    { clock, slowLimits },
  );
  processor.add(listener, replica.replica);
  listener.deliver(Infinity);
  for (let version = 1; version <= pending; version++) replica.put(at(`p${version}`, version));
  listener.deliver(Infinity);
  return reports.slow;
}

describe('a slow call', () => {
  test('C21 C141 is one of more than 100 ms with more than 1024 notifications behind it', () => {
    assert.deepEqual(slowCalls(1026, [101]), [101]);
    assert.deepEqual(slowCalls(1026, [100]), []);
    assert.deepEqual(slowCalls(1025, [101]), []);
  });

  test('C141 has limits that are options', () => {
    const limits = { slowNotifications: 2, slowCallMs: 10 };
    assert.deepEqual(slowCalls(4, [11], limits), [11]);
    assert.deepEqual(slowCalls(4, [10], limits), []);
    assert.deepEqual(slowCalls(3, [11], limits), []);
  });

  test('C21 C141 is reported once a minute', () => {
    assert.deepEqual(slowCalls(2000, [150, 59_849, 150, 59_850, 200]), [150, 59_850]);
  });
});

/** A handler whose first call ends when the test says so, with one notification waiting behind it. */
function stuck(slowAgeMs: number): {
  readonly clock: FakeClock;
  readonly slow: readonly (number | undefined)[];
  readonly listener: ProcessorListener;
  readonly put: (name: string, version: number) => void;
  readonly open: () => void;
} {
  const { replica, processor } = scene();
  const clock = new FakeClock();
  const gates = new Gates();
  const { listener, reports } = newListener(
    { onAdd: () => gates.next() },
    { clock, slowLimits: { ...SLOW_LIMITS, slowAgeMs } },
  );
  processor.add(listener, replica.replica);
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
