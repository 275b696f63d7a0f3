/** Tests of the work queue: an item waits once, is in work once at a time, and no addition is lost. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { PriorityQueue } from '../../../src/workqueue/priority-queue.ts';
import { RateLimitingQueue } from '../../../src/workqueue/rate-limiting-queue.ts';
import { WorkQueue } from '../../../src/workqueue/work-queue.ts';
import type { WorkQueueMetrics } from '../../../src/workqueue/queue-metrics.ts';
import { FakeClock } from '../reflector/fake-clock.ts';

describe('a work queue', () => {
  test('C150 a work queue returns items in the order of adding, each once however often it was added', async () => {
    const queue = new WorkQueue<string>();
    for (const item of ['a', 'b', 'a', 'c', 'b']) queue.add(item);
    assert.equal(queue.length, 3);
    assert.deepEqual([await queue.get(), await queue.get(), await queue.get()], ['a', 'b', 'c']);
    assert.equal(queue.length, 0);
  });

  test('C150 a work queue returns an item that was added while in work once more, after done', async () => {
    const queue = new WorkQueue<string>();
    queue.add('a');
    const item = (await queue.get()) as string;
    queue.add('a');
    queue.add('a');
    assert.equal(queue.length, 0, 'it waits for done');
    const second = queue.get();
    await turn();
    queue.done(item);
    assert.equal(await second, 'a');
    queue.done('a');
    assert.equal(queue.length, 0);
  });

  test('refuses undefined, which would end a worker as the end of the queue does', async () => {
    const queue = new PriorityQueue<string | undefined>();
    const refused = { code: 'ERR_KUBELOOM_OPTION', message: /item must be a value/ };
    assert.throws(() => queue.add(undefined), refused);
    assert.throws(() => queue.addAfter(undefined, 1), refused);
    assert.throws(() => queue.addRateLimited(undefined), refused);
    assert.throws(() => queue.addWithOptions({ priority: 1 }, 'a', undefined), refused);
    assert.throws(() => new WorkQueue<undefined>().add(undefined), refused);
    assert.equal(queue.length, 0, 'no item of the refused call is added');
    queue.shutDown();
    assert.equal(await queue.get(), undefined);
  });

  test('drops an item after done when it was not added again', async () => {
    const queue = new WorkQueue<string>();
    queue.add('a');
    queue.done((await queue.get()) as string);
    queue.add('a');
    assert.equal(await queue.get(), 'a', 'and can come back later');
  });

  test('ignores done for an item that is not in work', async () => {
    const queue = new WorkQueue<string>();
    queue.add('a');
    queue.done('a');
    queue.done('b');
    assert.equal(await queue.get(), 'a');
  });

  test('compares items by keyOf and returns the newest of a key', async () => {
    const queue = new WorkQueue<{ name: string; version: number }>({ keyOf: ({ name }) => name });
    queue.add({ name: 'a', version: 1 });
    queue.add({ name: 'a', version: 2 });
    assert.deepEqual(await queue.get(), { name: 'a', version: 2 });
    queue.add({ name: 'a', version: 3 });
    assert.equal(queue.length, 0);
    queue.done({ name: 'a', version: 0 });
    assert.deepEqual(await queue.get(), { name: 'a', version: 3 });
  });

  test('gives each of several waiting getters one item', async () => {
    const queue = new WorkQueue<number>();
    const gets = [queue.get(), queue.get(), queue.get()];
    for (const item of [1, 2, 3]) queue.add(item);
    assert.deepEqual(new Set(await Promise.all(gets)), new Set([1, 2, 3]));
  });

  test('rejects get with the reason when its signal is aborted, before and while it waits', async () => {
    const queue = new WorkQueue<number>();
    await assert.rejects(queue.get({ signal: AbortSignal.abort(new Error('before')) }), /before/);
    const stop = new AbortController();
    const waiting = queue.get({ signal: stop.signal });
    stop.abort(new Error('while'));
    await assert.rejects(waiting, /while/);
  });

  test('passes an item that woke an aborted getter on to another getter', async () => {
    const queue = new WorkQueue<number>();
    const stop = new AbortController();
    const first = queue.get({ signal: stop.signal });
    const second = queue.get();
    queue.add(1);
    stop.abort(new Error('gave up'));
    await assert.rejects(first, /gave up/);
    assert.equal(await second, 1);
  });

  test('returns an item that comes after a long wait without a turn of the event loop', async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue<string>({ clock });
    queue.add('a');
    await queue.get();
    const second = queue.get();
    clock.advance(60_000);
    let isReturned = false;
    void second.then(() => (isReturned = true));
    const found = turn().then(() => isReturned);
    queue.add('b');
    assert.equal(await found, true);
  });

  test('does not keep returned items', async () => {
    const queue = new WorkQueue<object>();
    queue.add({});
    const item = (await queue.get()) as object;
    queue.done(item);
    assert.equal(queue.length, 0);
    assert.equal(queue.unfinishedWorkMs, 0);
  });
});

describe('shutting a work queue down', () => {
  test('takes no more in, returns waiting items, and then undefined to all', async () => {
    const queue = new WorkQueue<string>();
    queue.add('a');
    queue.shutDown();
    queue.add('late');
    assert.ok(queue.isShuttingDown);
    assert.equal(await queue.get(), 'a');
    assert.equal(await queue.get(), undefined);
  });

  test('wakes every waiting getter', async () => {
    const queue = new WorkQueue<string>();
    const gets = [queue.get(), queue.get()];
    await turn();
    queue.shutDown();
    assert.deepEqual(await Promise.all(gets), [undefined, undefined]);
  });

  test('with drain resolves when all waiting items are done, including items added again in work', async () => {
    const queue = new WorkQueue<string>();
    queue.add('a');
    queue.add('b');
    const a = (await queue.get()) as string;
    queue.add('a');
    let isDrained = false;
    const drained = queue.shutDownWithDrain().then(() => (isDrained = true));
    queue.done(a);
    queue.done((await queue.get()) as string);
    await turn();
    assert.equal(isDrained, false, 'a waits again');
    const again = (await queue.get()) as string;
    assert.equal(again, 'a');
    await turn();
    assert.equal(isDrained, false, 'a is in work');
    queue.done(again);
    await drained;
    assert.equal(await queue.get(), undefined);
  });

  test('without drain ends a waiting drain', async () => {
    const queue = new WorkQueue<string>();
    queue.add('a');
    await queue.get();
    const drained = queue.shutDownWithDrain();
    queue.shutDown();
    await drained;
  });

  test('with drain rejects when its signal is aborted', async () => {
    const queue = new WorkQueue<string>();
    queue.add('a');
    const stop = new AbortController();
    const drained = queue.shutDownWithDrain({ signal: stop.signal });
    stop.abort(new Error('enough'));
    await assert.rejects(drained, /enough/);
  });
});

test('for await returns item by item, calls done for each, and ends with the queue', async () => {
  const queue = new WorkQueue<string>();
  queue.add('a');
  queue.add('b');
  const seen: string[] = [];
  for await (const item of queue) {
    if (seen.length < 1) queue.add(item);
    seen.push(item);
    if (seen.length === 3) queue.shutDown();
  }
  assert.deepEqual(seen, ['a', 'b', 'a']);
});

test('leaving a for await calls done for the last item', async () => {
  const queue = new WorkQueue<string>();
  queue.add('a');
  for await (const item of queue) {
    queue.add(item);
    break;
  }
  assert.equal(queue.length, 1);
});

test('C150 many producers and workers lose nothing and never share an item', async () => {
  const queue = new WorkQueue<number>();
  const wanted = new Map<number, number>();
  const handled = new Map<number, number>();
  const inWork = new Set<number>();
  const work = async (): Promise<void> => {
    for await (const item of queue) {
      assert.ok(!inWork.has(item), `${item} is in work twice`);
      inWork.add(item);
      const version = wanted.get(item) ?? 0;
      await turn();
      handled.set(item, version);
      inWork.delete(item);
    }
  };
  const workers = Array.from({ length: 10 }, work);
  for (let round = 1; round <= 20; round++) {
    for (let item = 0; item < 50; item += 1 + (round % 3)) {
      wanted.set(item, round);
      queue.add(item);
    }
    await turn();
  }
  await queue.shutDownWithDrain();
  await Promise.all(workers);
  assert.deepEqual(handled, wanted);
});

test('metrics report additions without repetitions, depth, waiting, work, and unfinished items', async () => {
  const clock = new FakeClock();
  const reported: unknown[] = [];
  const metrics: WorkQueueMetrics = {
    added: () => reported.push('added'),
    depth: (items) => reported.push(`depth ${items}`),
    waited: (ms) => reported.push(`waited ${ms}`),
    worked: (ms) => reported.push(`worked ${ms}`),
  };
  const queue = new WorkQueue<string>({ metrics, clock });
  queue.add('a');
  queue.add('a');
  clock.advance(50);
  await queue.get();
  clock.advance(25);
  queue.add('a');
  assert.equal(queue.unfinishedWorkMs, 25);
  assert.equal(queue.longestRunningMs, 25);
  queue.done('a');
  assert.deepEqual(reported, ['added', 'depth 1', 'depth 0', 'waited 50', 'added', 'worked 25', 'depth 1']);
});

describe('the options of a work queue', () => {
  const refused = (message: RegExp): object => ({ code: 'ERR_KUBELOOM_OPTION', message });

  test('are refused when they are unknown or wrong, with the name that was probably meant', () => {
    const wrong: readonly (readonly [object, RegExp])[] = [
      [{ nmae: 'pods' }, /^options of a work queue have no "nmae": did you mean name\?$/],
      [{ keyOf: 'name' }, /^keyOf must be a function, got "name"$/],
      [
        { metrics: { addded: () => undefined } },
        /^there is no option metrics\.addded: did you mean metrics\.added\?$/,
      ],
      [{ order: {} }, /^order must be an order with push/],
      [{ clock: Date }, /^clock must be a clock/],
    ];
    for (const [options, message] of wrong) {
      assert.throws(() => new WorkQueue(options), refused(message));
      assert.throws(() => new RateLimitingQueue(options), refused(message));
    }
    assert.throws(() => new WorkQueue({ rateLimiter: {} } as object), refused(/have no "rateLimiter"/));
    assert.throws(
      () => new RateLimitingQueue({ rateLimiter: {} } as object),
      refused(/^rateLimiter must be/),
    );
    for (const agingMs of [0, -1, Infinity, '5']) {
      assert.throws(() => new PriorityQueue({ agingMs } as object), refused(/^agingMs must be/));
    }
  });
});
