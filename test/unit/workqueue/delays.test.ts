/** Tests of delayed items, rate limiters, and priorities that age. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PriorityQueue } from '../../../src/workqueue/priority-queue.ts';
import {
  BucketRateLimiter,
  ItemExponentialFailureRateLimiter,
  ItemFastSlowRateLimiter,
  MaxOfRateLimiter,
  WithMaxWaitRateLimiter,
  defaultControllerRateLimiter,
  defaultItemBasedRateLimiter,
} from '../../../src/workqueue/rate-limiters.ts';
import type { RateLimiter } from '../../../src/workqueue/rate-limiters.ts';
import { DelayingQueue, RateLimitingQueue } from '../../../src/workqueue/rate-limiting-queue.ts';
import { FakeClock } from '../reflector/fake-clock.ts';

async function all<T>(queue: DelayingQueue<T>): Promise<(T | undefined)[]> {
  const items: (T | undefined)[] = [];
  while (queue.length > 0) items.push(await queue.get());
  return items;
}

function delaying(): { clock: FakeClock; queue: DelayingQueue<string> } {
  const clock = new FakeClock();
  return { clock, queue: new DelayingQueue<string>({ clock }) };
}

describe('a delaying queue', () => {
  test('adds an item after its delay, once, and not before', async () => {
    const { clock, queue } = delaying();
    queue.addAfter('a', 50);
    clock.advance(49);
    assert.equal(queue.length, 0);
    assert.equal(queue.waiting, 1);
    clock.advance(1);
    assert.deepEqual(await all(queue), ['a']);
    clock.advance(10_000);
    assert.equal(queue.length, 0);
    assert.equal(clock.pending, 0, 'no timer is left');
  });

  test('C151 of two times for an item the earlier counts, whichever came first', () => {
    for (const delays of [
      [50, 30],
      [30, 50],
    ]) {
      const { clock, queue } = delaying();
      for (const delay of delays) queue.addAfter('a', delay);
      clock.advance(30);
      assert.equal(queue.length, 1);
      assert.equal(queue.waiting, 0);
    }
  });

  test('adds in the order of the times', async () => {
    const { clock, queue } = delaying();
    const delays = { third: 1000, first: 250, second: 500, fourth: 1000 };
    for (const [item, delay] of Object.entries(delays)) queue.addAfter(item, delay);
    clock.advance(2000);
    assert.deepEqual(await all(queue), ['first', 'second', 'third', 'fourth']);
  });

  test('adds at once without a delay', () => {
    const queue = new DelayingQueue<string>({ clock: new FakeClock() });
    queue.addAfter('a', 0);
    queue.addAfter('b', -1);
    assert.equal(queue.length, 2);
  });

  test('waits longer than a timer can', () => {
    const { clock, queue } = delaying();
    queue.addAfter('a', 2 ** 32);
    clock.advance(2 ** 32 - 1);
    assert.equal(queue.length, 0);
    clock.advance(1);
    assert.equal(queue.length, 1);
  });

  test('drops waiting items on shutdown, and ignores later ones', () => {
    const { clock, queue } = delaying();
    queue.addAfter('a', 10);
    queue.shutDown();
    queue.addAfter('b', 10);
    assert.equal(clock.pending, 0);
    clock.advance(100);
    assert.equal(queue.length, 0);
  });

  test('keeps its order over many random times', async () => {
    const clock = new FakeClock();
    const queue = new DelayingQueue<number>({ clock });
    const times = new Map<number, number>();
    let seed = 42;
    for (let count = 0; count < 2000; count++) {
      seed = (seed * 1103515245 + 12345) % 2 ** 31;
      const item = seed % 500;
      const delay = 1 + ((seed >> 8) % 1000);
      times.set(item, Math.min(delay, times.get(item) ?? Infinity));
      queue.addAfter(item, delay);
    }
    clock.advance(1000);
    const due = (await all(queue)).map((item) => times.get(item as number) as number);
    assert.equal(due.length, times.size);
    assert.deepEqual(
      due,
      due.toSorted((a, b) => a - b),
    );
  });
});

/** Returns the delays of several failures of one item. */
function delays(limiter: RateLimiter<string>, failures: number, item = 'a'): number[] {
  return Array.from({ length: failures }, () => limiter.when(item));
}

describe('rate limiters', () => {
  test('C153 the exponential limiter doubles the delay of each item until the item is forgotten', () => {
    const limiter = new ItemExponentialFailureRateLimiter<string>(1, 1_000_000);
    assert.deepEqual(delays(limiter, 5), [1, 2, 4, 8, 16]);
    assert.equal(limiter.numRequeues('a'), 5);
    assert.equal(limiter.when('b'), 1);
    limiter.forget('a');
    assert.equal(limiter.numRequeues('a'), 0);
    assert.equal(limiter.when('a'), 1);
  });

  test('the exponential limiter stays at its maximum however often an item fails', () => {
    const limiter = new ItemExponentialFailureRateLimiter<string>(1, 1_000_000);
    for (let count = 0; count < 2000; count++) limiter.when('a');
    assert.equal(limiter.when('a'), 1_000_000);
  });

  test('the fast and slow limiter has a short delay for the first attempts, and a long one after them', () => {
    const limiter = new ItemFastSlowRateLimiter<string>(5, 10_000, 3);
    assert.deepEqual(delays(limiter, 5), [5, 5, 5, 10_000, 10_000]);
    limiter.forget('a');
    assert.equal(limiter.when('a'), 5);
  });

  test('the bucket limiter allows a burst, then its rate, and a burst again after a pause', () => {
    const clock = new FakeClock();
    const limiter = new BucketRateLimiter<string>(10, 3, clock);
    assert.deepEqual(delays(limiter, 5), [0, 0, 0, 100, 200]);
    clock.advance(200 + 300);
    assert.deepEqual(delays(limiter, 4, 'b'), [0, 0, 0, 100]);
  });

  test('the maximum of limiters has the longest delay and the largest number of requeues', () => {
    const slow = new ItemExponentialFailureRateLimiter<string>(5, 10);
    const limiter = new MaxOfRateLimiter<string>(new ItemFastSlowRateLimiter<string>(7, 1000, 2), slow);
    assert.deepEqual(delays(limiter, 3), [7, 10, 1000]);
    slow.when('a');
    assert.equal(limiter.numRequeues('a'), 4);
    limiter.forget('a');
    assert.equal(limiter.numRequeues('a'), 0);
  });

  test('the limiter with a maximum caps the delay of another', () => {
    const limiter = new WithMaxWaitRateLimiter<string>(
      new ItemExponentialFailureRateLimiter<string>(100_000, 1_000_000),
      500_000,
    );
    assert.deepEqual(delays(limiter, 5), [100_000, 200_000, 400_000, 500_000, 500_000]);
    assert.equal(limiter.numRequeues('a'), 5);
    limiter.forget('a');
    assert.equal(limiter.numRequeues('a'), 0);
  });

  test("C153 the default limiters have client-go's numbers", () => {
    const clock = new FakeClock();
    const controller = defaultControllerRateLimiter<string>(clock);
    assert.deepEqual(delays(controller, 3), [5, 10, 20]);
    for (let count = 3; count < 100; count++) controller.when(`item ${count}`);
    assert.equal(controller.when('another'), 100, 'ten a second after a burst of a hundred');
    for (let count = 0; count < 30; count++) controller.when('a');
    assert.equal(controller.when('a'), 1_000_000);
    assert.equal(defaultItemBasedRateLimiter<string>().when('a'), 1);
  });

  test('rate limiters reject invalid durations', () => {
    for (const make of [
      () => new ItemExponentialFailureRateLimiter(0, 1),
      () => new BucketRateLimiter(10, Number.NaN),
      () => new ItemFastSlowRateLimiter(1, 1, -1),
    ]) {
      assert.throws(make, { code: 'ERR_KUBELOOM_OPTION' });
    }
  });
});

test('a rate limiting queue adds an item again when its limiter allows it, until it is forgotten', () => {
  const clock = new FakeClock();
  const rateLimiter = new ItemExponentialFailureRateLimiter<unknown>(10, 1000);
  const queue = new RateLimitingQueue<{ key: string }>({ clock, rateLimiter, keyOf: ({ key }) => key });
  queue.addRateLimited({ key: 'a' });
  clock.advance(10);
  assert.equal(queue.length, 1);
  queue.addRateLimited({ key: 'b' });
  queue.addRateLimited({ key: 'b' });
  assert.equal(queue.numRequeues({ key: 'b' }), 2);
  queue.forget({ key: 'b' });
  assert.equal(queue.numRequeues({ key: 'b' }), 0);
});

describe('a priority queue', () => {
  test('C152 a priority queue returns the highest priority first, and equal ones in the order of adding', async () => {
    const queue = new PriorityQueue<string>({ clock: new FakeClock() });
    queue.addWithOptions({ priority: -100 }, 'low');
    queue.addWithOptions({ priority: 5 }, 'high', 'high too');
    queue.add('middle');
    assert.deepEqual(await all(queue), ['high', 'high too', 'middle', 'low']);
  });

  test('a waiting item is raised by a higher priority and not lowered by a lower one', async () => {
    const queue = new PriorityQueue<string>({ clock: new FakeClock() });
    queue.addWithOptions({ priority: -100 }, 'a');
    queue.add('b');
    queue.addWithOptions({ priority: 10 }, 'a');
    queue.addWithOptions({ priority: -5 }, 'a');
    assert.deepEqual(await all(queue), ['a', 'b']);
  });

  test('an addition while in work keeps its priority for the next time', async () => {
    const queue = new PriorityQueue<string>({ clock: new FakeClock() });
    queue.add('a');
    const a = (await queue.get()) as string;
    queue.addWithOptions({ priority: 3 }, 'a');
    queue.add('b');
    queue.done(a);
    assert.deepEqual(await all(queue), ['a', 'b']);
  });

  test('a delayed item comes with its priority', async () => {
    const clock = new FakeClock();
    const queue = new PriorityQueue<string>({ clock });
    queue.addWithOptions({ priority: -3, afterMs: 100 }, 'delayed');
    clock.advance(100);
    queue.add('now');
    assert.deepEqual(await all(queue), ['now', 'delayed']);
  });

  test('C152 no item starves: a waiting item gains a point for each aging period', async () => {
    const clock = new FakeClock();
    const queue = new PriorityQueue<string>({ clock, agingMs: 1000 });
    queue.addWithOptions({ priority: -2 }, 'patient');
    const seen: (string | undefined)[] = [];
    for (let second = 0; second < 5; second++) {
      queue.add(`eager ${second}`);
      seen.push(await queue.get());
      clock.advance(1000);
    }
    assert.deepEqual(seen, ['eager 0', 'eager 1', 'patient', 'eager 2', 'eager 3']);
  });

  test('rate limited additions wait as the limiter requires', () => {
    const clock = new FakeClock();
    const rateLimiter = new ItemExponentialFailureRateLimiter<unknown>(10, 1000);
    const queue = new PriorityQueue<string>({ clock, rateLimiter });
    queue.addWithOptions({ rateLimited: true, priority: 1 }, 'a');
    clock.advance(9);
    assert.equal(queue.length, 0);
    clock.advance(1);
    assert.equal(queue.length, 1);
  });

  test('rejects a priority that is not a number', () => {
    const queue = new PriorityQueue<string>();
    assert.throws(() => queue.addWithOptions({ priority: Number.NaN }, 'a'), { code: 'ERR_KUBELOOM_OPTION' });
    assert.throws(() => new PriorityQueue({ agingMs: 0 }), { code: 'ERR_KUBELOOM_OPTION' });
  });
});
