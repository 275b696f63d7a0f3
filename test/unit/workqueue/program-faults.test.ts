/** Functions of the program that throw, numbers that are none, and loops that never wait. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { parallelizeUntil } from '../../../src/workqueue/parallelize-until.ts';
import { PriorityQueue } from '../../../src/workqueue/priority-queue.ts';
import type { RateLimiter } from '../../../src/workqueue/rate-limiters.ts';
import { RateLimitingQueue } from '../../../src/workqueue/rate-limiting-queue.ts';
import { runWorkers } from '../../../src/workqueue/run-workers.ts';
import { WorkQueue } from '../../../src/workqueue/work-queue.ts';
import { processWarnings } from '../../kit/warnings.ts';
import type { Warning } from '../../kit/warnings.ts';
import { FakeClock } from '../reflector/fake-clock.ts';

function limiter(faulty: Readonly<Record<string, () => unknown>>): RateLimiter<unknown> {
  const right = { when: () => 10, forget: () => undefined, numRequeues: () => 0 };
  return { ...right, ...faulty };
}

const throwing = (): never => {
  throw new TypeError('wrong');
};

const codesOf = (warned: readonly Warning[]): unknown[] => warned.map(({ code }) => code);

describe('workers go on', () => {
  const LISTENERS = {
    throws: throwing,
    rejects: (): Promise<never> => Promise.reject(new TypeError('wrong')),
  };
  for (const [how, onError] of Object.entries(LISTENERS)) {
    test(`C281 when onError ${how}, which becomes a warning`, async (context) => {
      const warned = processWarnings(context);
      const queue = new RateLimitingQueue<string>();
      for (const item of ['bad', 'good']) queue.add(item);
      const done: string[] = [];
      const reconcile = (item: string): void => {
        if (item === 'bad') throw new Error('no');
        done.push(item);
      };
      const running = runWorkers(queue, 1, reconcile, { onError, retriesMax: 0 });
      queue.shutDown();
      await running;
      await turn();
      assert.deepEqual(done, ['good']);
      assert.deepEqual(codesOf(warned), ['ERR_KUBELOOM_ERROR_LISTENER']);
    });
  }

  const revoked = (target: object): object => {
    const { proxy, revoke } = Proxy.revocable(target, {});
    revoke();
    return proxy;
  };
  const withGetter = (name: string): Error => Object.defineProperty(new Error('x'), name, { get: throwing });
  const UNREADABLE: Readonly<Record<string, unknown>> = {
    'a revoked proxy': revoked({}),
    'a revoked function': revoked(() => undefined),
    'an error with a revoked cause': new Error('x', { cause: revoked({}) }),
    'an object without a text': { toString: throwing },
    'an error whose message throws': withGetter('message'),
    'an error whose stack throws': withGetter('stack'),
    'an error whose cause throws': withGetter('cause'),
    'an error whose Retry-After throws': withGetter('retryAfterSeconds'),
    'a proxy that throws': new Proxy(new Error('x'), {
      getPrototypeOf: throwing,
      has: throwing,
      ownKeys: throwing,
    }),
  };
  for (const [what, thrown] of Object.entries(UNREADABLE)) {
    test(`C472 when the reconcile function throws ${what}: the item returns`, async (context) => {
      processWarnings(context);
      const clock = new FakeClock();
      const queue = new RateLimitingQueue<string>({ clock });
      queue.add('a');
      const calls: string[] = [];
      const reconcile = (item: string): void => {
        if (calls.push(item) < 3) throw thrown;
        queue.shutDown();
      };
      const running = runWorkers(queue, 1, reconcile, { clock });
      for (let step = 0; step < 10 && calls.length < 3; step++) {
        await turn();
        clock.advance(100);
      }
      await running;
      assert.equal(calls.length, 3);
    });
  }

  const DELAYS: Readonly<Record<string, () => unknown>> = {
    NaN: () => Number.NaN,
    Infinity: () => Infinity,
    'a negative number': () => -1,
    text: () => '10',
    nothing: () => undefined,
    'an error': throwing,
    'a promise that rejects': () => Promise.reject(new TypeError('wrong')),
  };
  for (const [what, when] of Object.entries(DELAYS)) {
    test(`C281 when the rate limiter returns ${what}: the item returns with doubled delays`, async () => {
      const clock = new FakeClock();
      const startMs = clock.now();
      const queue = new RateLimitingQueue<string>({ clock, rateLimiter: limiter({ when }) });
      queue.add('a');
      const calls: number[] = [];
      const codes: unknown[] = [];
      const reconcile = (): void => {
        calls.push(clock.now() - startMs);
        throw new Error('no');
      };
      const onError = (error: unknown): void => {
        codes.push((error as { code?: string }).code ?? 'no');
      };
      const running = runWorkers(queue, 1, reconcile, { onError });
      for (let step = 0; step < 20 && calls.length < 3; step++) {
        await turn();
        clock.advance(1);
      }
      queue.shutDown();
      await running;
      assert.deepEqual(calls, [0, 5, 15]);
      assert.deepEqual(codes.slice(0, 2), ['ERR_KUBELOOM_RATE_LIMITER', 'no']);
    });
  }

  for (const method of ['forget', 'numRequeues']) {
    test(`C281 when ${method} of the rate limiter throws, and the reconciliation has not failed`, async () => {
      const queue = new RateLimitingQueue<string>({ rateLimiter: limiter({ [method]: throwing }) });
      for (const item of ['a', 'b']) queue.add(item);
      const calls: string[] = [];
      const codes = new Set<unknown>();
      const reconcile = (item: string): void => {
        calls.push(item);
        if (item === 'b') throw new Error('no');
      };
      const onError = (error: unknown): unknown => codes.add((error as { code?: string }).code);
      const running = runWorkers(queue, 1, reconcile, { onError, retriesMax: 0 });
      queue.shutDown();
      await running;
      assert.deepEqual(calls, ['a', 'b']);
      assert.deepEqual(codes, new Set(['ERR_KUBELOOM_RATE_LIMITER', undefined]));
    });
  }

  test('C281 when forget of the rate limiter returns a promise that rejects', async () => {
    const forget = (): unknown => Promise.reject(new TypeError('wrong'));
    const queue = new RateLimitingQueue<string>({ rateLimiter: limiter({ forget }) });
    queue.add('a');
    const running = runWorkers(queue, 1, () => undefined);
    queue.shutDown();
    await running;
    // The runner would report a rejection without a handler here.
    await turn();
  });

  test('C281 when the metrics of the program throw', async (context) => {
    const warned = processWarnings(context);
    const counts = { added: throwing, depth: throwing, retried: throwing };
    const metrics = { ...counts, waited: throwing, worked: throwing };
    const queue = new RateLimitingQueue<string>({ metrics });
    queue.add('a');
    queue.addAfter('b', 0);
    const seen: string[] = [];
    const running = runWorkers(queue, 1, (item) => void seen.push(item));
    queue.shutDown();
    await running;
    assert.deepEqual(seen, ['a', 'b']);
    assert.deepEqual(new Set(codesOf(warned)), new Set(['ERR_KUBELOOM_ERROR_LISTENER']));
  });
});

describe('a queue refuses', () => {
  for (const delayMs of [Number.NaN, Infinity, '5', undefined, null]) {
    test(`C284 a delay that is ${String(delayMs)} (${typeof delayMs})`, () => {
      const message = /^(?:delayMs|afterMs) must be a finite number, got /;
      const error = { code: 'ERR_KUBELOOM_OPTION', message };
      const queue = new PriorityQueue<string>();
      assert.throws(() => queue.addAfter('a', delayMs as number), error);
      if (delayMs !== undefined)
        assert.throws(() => queue.addWithOptions({ afterMs: delayMs as number }, 'a'), error);
      assert.equal(queue.length, 0);
    });
  }

  test('C284 a limiter without one of its methods, workers that are not a number, and an unknown option', async () => {
    const code = 'ERR_KUBELOOM_OPTION';
    const partial = { when: () => 1, forget: () => undefined } as unknown as RateLimiter<unknown>;
    const create = (): unknown => new RateLimitingQueue({ rateLimiter: partial });
    assert.throws(create, { code, message: /numRequeues\(\)/ });
    const run = (count: unknown, options?: object): Promise<void> =>
      runWorkers(new RateLimitingQueue<string>(), count as number, () => undefined, options);
    for (const count of [0, Number.NaN, -1, 1.5, '2'])
      await assert.rejects(run(count), { code, message: /^count of/ });
    for (const options of [{ retriesMax: Number.NaN }, { retryMax: 1 }])
      await assert.rejects(run(1, options), { code });
  });

  test('C284 no delay of a year: the item is returned after it', () => {
    const clock = new FakeClock();
    const queue = new PriorityQueue<string>({ clock });
    const yearMs = 365 * 86_400_000;
    queue.addAfter('a', yearMs);
    clock.advance(yearMs - 1);
    assert.equal(queue.length, 0);
    clock.advance(1);
    assert.equal(queue.length, 1);
  });
});

describe('the event loop has its turns', () => {
  test('C282 while workers always find an item, and never wait', async () => {
    const clock = new FakeClock();
    const queue = new RateLimitingQueue<string>({ clock });
    let calls = 0;
    const stop = new AbortController();
    setImmediate(() => stop.abort());
    for (const item of ['a', 'b']) queue.add(item);
    const reconcile = (item: string): void => {
      if (calls++ < 100_000) queue.add(item);
    };
    await runWorkers(queue, 2, reconcile, { signal: stop.signal, clock });
    assert.ok(calls > 2 && calls < 1000, String(calls));
  });

  test('C282 while workers wait for the items that the others add', async () => {
    const queue = new RateLimitingQueue<string>({ clock: new FakeClock() });
    let calls = 0;
    const stop = new AbortController();
    setImmediate(() => stop.abort());
    queue.add('a');
    const reconcile = (item: string): void => {
      if (calls++ < 100_000) queue.add(item === 'a' ? 'b' : 'a');
    };
    await runWorkers(queue, 4, reconcile, { signal: stop.signal });
    assert.ok(calls > 2 && calls < 1000, String(calls));
  });

  test('C282 after each item that took long', async () => {
    const clock = new FakeClock();
    const queue = new RateLimitingQueue<string>({ clock });
    for (const item of ['a', 'b', 'c']) queue.add(item);
    const seen: string[] = [];
    setImmediate(() => queue.shutDown());
    const reconcile = (item: string): void => {
      seen.push(queue.isShuttingDown ? 'late' : item);
      clock.advance(10);
    };
    await runWorkers(queue, 1, reconcile);
    assert.deepEqual(seen, ['a', 'late', 'late']);
  });

  test('C282 in a loop over the items of a queue that fills itself', async () => {
    const queue = new WorkQueue<string>({ clock: new FakeClock() });
    setImmediate(() => queue.shutDown());
    queue.add('a');
    let calls = 0;
    for await (const item of queue) if (calls++ < 100_000) queue.add(item);
    assert.ok(calls < 1000, String(calls));
  });

  for (const workers of [1, 4]) {
    test(`C282 while ${workers} of parallelizeUntil have pieces that never wait`, async () => {
      const stop = new AbortController();
      setImmediate(() => stop.abort());
      let calls = 0;
      const work = (): void => void calls++;
      await parallelizeUntil(workers, 100_000, work, { signal: stop.signal, chunkSize: 50_000 });
      assert.ok(calls > 0 && calls < 1000, String(calls));
    });
  }
});
