/** Tests of the common loops around a work queue. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { parallelizeUntil } from '../../../src/workqueue/parallelize-until.ts';
import { ItemExponentialFailureRateLimiter } from '../../../src/workqueue/rate-limiters.ts';
import { PriorityQueue } from '../../../src/workqueue/priority-queue.ts';
import { RateLimitingQueue } from '../../../src/workqueue/rate-limiting-queue.ts';
import { runWorkers } from '../../../src/workqueue/run-workers.ts';
import { TerminalError } from '../../../src/workqueue/terminal-error.ts';
import { collectMetrics } from '../../../src/metrics/collect.ts';
import { MetricsReading } from '../../../src/tools/cli/top/reading.ts';
import { processWarnings } from '../../kit/warnings.ts';
import { FakeClock } from '../reflector/fake-clock.ts';

function scene(): { clock: FakeClock; queue: RateLimitingQueue<string> } {
  const clock = new FakeClock();
  const rateLimiter = new ItemExponentialFailureRateLimiter<unknown>(10, 1000);
  return { clock, queue: new RateLimitingQueue<string>({ clock, rateLimiter }) };
}

describe('running workers', () => {
  test('reconciles every item and ends when the queue was shut down and is empty', async () => {
    const { queue } = scene();
    for (const item of ['a', 'b', 'c']) queue.add(item);
    const seen: string[] = [];
    const running = runWorkers(queue, 2, (item) => void seen.push(item));
    queue.shutDown();
    await running;
    assert.deepEqual(seen, ['a', 'b', 'c']);
  });

  test('never has more items in work than workers', async () => {
    const { queue } = scene();
    for (let item = 0; item < 20; item++) queue.add(String(item));
    let inWork = 0;
    let most = 0;
    const running = runWorkers(queue, 3, async () => {
      most = Math.max(most, ++inWork);
      await turn();
      inWork--;
    });
    queue.shutDown();
    await running;
    assert.equal(most, 3);
  });

  test('C189 warns of an item that failed without its control characters, when nothing else listens', async (context) => {
    const { queue } = scene();
    const warned = processWarnings(context);
    queue.add('a\u001b[2J');
    const running = runWorkers(queue, 1, () => Promise.reject(new Error('b\nc')), { retriesMax: 0 });
    queue.shutDown();
    await running;
    const message = 'reconciling a\\x1b[2J failed: b\\nc';
    assert.deepEqual(
      warned.map(({ message, type, code }) => ({ message, type, code })),
      [{ message, type: 'KubeloomWarning', code: 'ERR_KUBELOOM_RECONCILE' }],
    );
  });

  test('warns of failures with the stack of the error, once a second for each message', async (context) => {
    const { clock, queue } = scene();
    const warned = processWarnings(context);
    const reconcile = (item: string): never => {
      throw new TypeError(item === 'other' ? 'another bug' : 'my bug');
    };
    for (const item of ['a', 'b', 'c', 'other']) queue.add(item);
    const running = runWorkers(queue, 1, reconcile, { retriesMax: 1, clock });
    await turn();
    const messages = (): unknown[] => warned.map(({ message }) => message);
    assert.deepEqual(messages(), ['reconciling a failed: my bug', 'reconciling other failed: another bug']);
    assert.match(String(warned[0]?.detail), /^TypeError: my bug\n {4}at reconcile .*workers\.test\.js/);
    clock.advance(1000);
    await turn();
    assert.equal(messages()[2], 'reconciling a failed: my bug (and 2 more like it)');
    queue.shutDown();
    await running;
  });

  test('retries a failed item as the limiter requires, and forgets it when it succeeds', async () => {
    const { clock, queue } = scene();
    queue.add('a');
    const errors: unknown[] = [];
    let attempts = 0;
    const running = runWorkers(
      queue,
      1,
      () => {
        if (++attempts < 3) throw new Error(`attempt ${attempts}`);
      },
      { onError: (error, item, retries) => errors.push([(error as Error).message, item, retries]) },
    );
    await turn();
    assert.equal(attempts, 1);
    clock.advance(10);
    await turn();
    assert.equal(attempts, 2);
    clock.advance(19);
    await turn();
    assert.equal(attempts, 2, 'the second delay is twice the first');
    clock.advance(1);
    await turn();
    assert.equal(attempts, 3);
    assert.equal(queue.numRequeues('a'), 0);
    assert.deepEqual(errors, [
      ['attempt 1', 'a', 0],
      ['attempt 2', 'a', 1],
    ]);
    queue.shutDown();
    await running;
  });

  test('C283 reports no failure of a function that the signal has ended, and failures of the others', async () => {
    const { queue } = scene();
    const stop = new AbortController();
    const { signal } = stop;
    const works: Record<string, () => Promise<unknown>> = {
      reason: () => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      timer: () => delay(600_000, undefined, { signal }),
      event: () => once(new EventTarget(), 'never', { signal }),
      other: async () => {
        await once(signal, 'abort');
        throw new Error('other');
      },
    };
    for (const item of Object.keys(works)) queue.add(item);
    const failures: unknown[] = [];
    const reconcile = async (item: string): Promise<void> => void (await works[item]?.());
    const onError = (error: unknown): unknown => failures.push((error as Error).message);
    const running = runWorkers(queue, 4, reconcile, { signal, onError });
    await turn();
    stop.abort();
    await running;
    assert.deepEqual(failures, ['other']);
  });

  test('gives an item up after the maximum of retries', async () => {
    const { clock, queue } = scene();
    queue.add('a');
    let attempts = 0;
    const running = runWorkers(
      queue,
      1,
      () => {
        attempts++;
        throw new Error('always');
      },
      { retriesMax: 1, onError: () => undefined },
    );
    await turn();
    clock.advance(1000);
    await turn();
    clock.advance(100_000);
    await turn();
    assert.equal(attempts, 2);
    assert.equal(queue.numRequeues('a'), 0);
    queue.shutDown();
    await running;
  });

  test('gives an item up after a terminal error, counts it, and takes it again when it is added', async () => {
    const clock = new FakeClock();
    const queue = new RateLimitingQueue<string>({ clock, name: 'terminal' });
    const failures: unknown[] = [];
    const running = runWorkers(
      queue,
      1,
      () => {
        throw new TerminalError('hopeless');
      },
      { onError: (error, item) => failures.push([(error as TerminalError).code, item]) },
    );
    for (let times = 1; times <= 2; times++) {
      queue.add('a');
      await turn();
      clock.advance(100_000);
      await turn();
      assert.equal(failures.length, times);
    }
    assert.deepEqual(failures[0], ['ERR_KUBELOOM_TERMINAL', 'a']);
    assert.equal(queue.numRequeues('a'), 0);
    const metrics = new MetricsReading(collectMetrics());
    const match = { controller: 'terminal' };
    assert.equal(metrics.sum('controller_runtime_terminal_reconcile_errors_total', match), 2);
    assert.equal(metrics.sum('controller_runtime_reconcile_errors_total', match), 2);
    assert.equal(metrics.sum('controller_runtime_reconcile_total', { ...match, result: 'error' }), 2);
    queue.shutDown();
    await running;
  });

  test('keep the priority of an item that fails or is requeued', async () => {
    const clock = new FakeClock();
    const rateLimiter = new ItemExponentialFailureRateLimiter<unknown>(10, 1000);
    const queue = new PriorityQueue<string>({ clock, rateLimiter });
    queue.addWithOptions({ priority: -100 }, 'fails', 'later');
    const seen: string[] = [];
    let open = (): void => {};
    const opened = new Promise<void>((resolve) => (open = resolve));
    const running = runWorkers(
      queue,
      1,
      async (item) => {
        seen.push(item);
        if (item === 'blocks') await opened;
        if (seen.length === 1) throw new Error('once');
        return seen.length === 2 ? { requeueAfterMs: 10 } : undefined;
      },
      { onError: () => undefined },
    );
    await turn();
    queue.add('blocks');
    await turn();
    clock.advance(10);
    queue.addWithOptions({ priority: -50 }, 'other');
    open();
    await turn();
    queue.shutDown();
    await running;
    assert.deepEqual(seen, ['fails', 'later', 'blocks', 'other', 'fails', 'later']);
  });

  test('do not report an item that ends with the reason of their signal', async () => {
    const { queue } = scene();
    queue.add('a');
    const stop = new AbortController();
    const failures: unknown[] = [];
    await runWorkers(
      queue,
      1,
      (_item, signal) => {
        stop.abort();
        signal?.throwIfAborted();
      },
      { signal: stop.signal, onError: (error) => failures.push(error) },
    );
    assert.deepEqual(failures, []);
  });

  test('reconciles again after the time that reconcile returned', async () => {
    const { clock, queue } = scene();
    queue.add('a');
    let calls = 0;
    const running = runWorkers(queue, 1, () => (++calls === 1 ? { requeueAfterMs: 500 } : undefined));
    await turn();
    clock.advance(499);
    await turn();
    assert.equal(calls, 1);
    clock.advance(1);
    await turn();
    assert.equal(calls, 2);
    queue.shutDown();
    await running;
  });

  test('ends with its signal after the items in progress', async () => {
    const { queue } = scene();
    queue.add('a');
    queue.add('b');
    const stop = new AbortController();
    const seen: string[] = [];
    await runWorkers(
      queue,
      1,
      async (item) => {
        stop.abort();
        await turn();
        seen.push(item);
      },
      { signal: stop.signal },
    );
    assert.deepEqual(seen, ['a']);
    assert.equal(queue.length, 1);
  });

  test('ends with its signal while it waits', async () => {
    const { queue } = scene();
    const stop = new AbortController();
    const running = runWorkers(queue, 2, () => undefined, { signal: stop.signal });
    await turn();
    stop.abort();
    await running;
  });
});

describe('parallelizeUntil', () => {
  for (const [workers, pieces, chunkSize] of [
    [1, 10, 1],
    [2, 11, 3],
    [5, 3, 1],
    [4, 100, 7],
    [3, 0, 1],
  ] as const) {
    test(`${pieces} pieces by ${workers} in chunks of ${chunkSize} are each done once`, async () => {
      const done: number[] = [];
      await parallelizeUntil(
        workers,
        pieces,
        async (piece) => {
          await turn();
          done.push(piece);
        },
        { chunkSize },
      );
      assert.deepEqual(
        done.toSorted((a, b) => a - b),
        Array.from({ length: pieces }, (_, piece) => piece),
      );
    });
  }

  test('begins no piece after the signal', async () => {
    const stop = new AbortController();
    let begun = 0;
    await parallelizeUntil(
      2,
      100,
      async () => {
        if (++begun === 4) stop.abort();
        await turn();
      },
      { signal: stop.signal },
    );
    assert.equal(begun, 4);
  });

  test('throws the first error after the pieces in progress, without beginning further pieces', async () => {
    let begun = 0;
    const running = parallelizeUntil(2, 100, async (piece) => {
      begun++;
      await turn();
      if (piece === 0) throw new Error('piece 0');
    });
    await assert.rejects(running, /piece 0/);
    assert.ok(begun <= 3);
  });
});
