/** Tests of the common loops around a work queue. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { parallelizeUntil } from '../../../src/workqueue/parallelize-until.ts';
import { ItemExponentialFailureRateLimiter } from '../../../src/workqueue/rate-limiters.ts';
import { PriorityQueue } from '../../../src/workqueue/priority-queue.ts';
import { RateLimitingQueue } from '../../../src/workqueue/rate-limiting-queue.ts';
import type { ReconcileResult } from '../../../src/workqueue/reconcile-result.ts';
import { runWorkers } from '../../../src/workqueue/run-workers.ts';
import type { RunWorkersOptions } from '../../../src/workqueue/run-workers.ts';
import { TerminalError } from '../../../src/workqueue/terminal-error.ts';
import { collectMetrics } from '../../../src/metrics/collect.ts';
import { MetricsReading } from '../../../src/tools/cli/top/reading.ts';
import { processWarnings } from '../../kit/warnings.ts';
import { deferred } from '../../kit/deferred.ts';
import { FakeClock } from '../reflector/fake-clock.ts';

type Reconcile = (item: string) => Promise<ReconcileResult> | ReconcileResult;
type OnError = NonNullable<RunWorkersOptions<string>['onError']>;

/** A queue with items, and workers that end with the test. */
class Scene implements AsyncDisposable {
  readonly clock: FakeClock = new FakeClock();
  readonly queue: RateLimitingQueue<string>;
  #running: Promise<void> = Promise.resolve();

  constructor(...items: readonly string[]) {
    const rateLimiter = new ItemExponentialFailureRateLimiter<unknown>(10, 1000);
    this.queue = new RateLimitingQueue<string>({ clock: this.clock, rateLimiter });
    for (const item of items) this.queue.add(item);
  }

  /** Runs workers until the queue has no item that is due. */
  async run(reconcile: Reconcile, options: RunWorkersOptions<string> = {}, count = 1): Promise<void> {
    this.#running = runWorkers(this.queue, count, reconcile, options);
    await turn();
  }

  async advance(byMs: number): Promise<void> {
    this.clock.advance(byMs);
    await turn();
  }

  /** Waits for the end of all items. */
  async end(): Promise<void> {
    this.queue.shutDown();
    await this.#running;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }
}

describe('running workers', () => {
  test('reconciles every item and ends when the queue was shut down and is empty', async () => {
    const scene = new Scene('a', 'b', 'c');
    const seen: string[] = [];
    void scene.run((item) => void seen.push(item), {}, 2);
    await scene.end();
    assert.deepEqual(seen, ['a', 'b', 'c']);
  });

  test('never has more items in work than workers', async () => {
    const scene = new Scene(...Array.from({ length: 20 }, (_, item) => String(item)));
    let inWork = 0;
    let most = 0;
    const reconcile = async (): Promise<void> => {
      most = Math.max(most, ++inWork);
      await turn();
      inWork--;
    };
    void scene.run(reconcile, {}, 3);
    await scene.end();
    assert.equal(most, 3);
  });

  test('takes the items of a queue with work at once, and waits only for the event loop and for more items', async () => {
    let waits = 0;
    class Counted extends RateLimitingQueue<string> {
      override next(signal: AbortSignal | undefined): Promise<string | undefined> {
        waits++;
        return super.next(signal);
      }
    }
    const queue = new Counted({ clock: new FakeClock() });
    for (let item = 0; item < 20; item++) queue.add(String(item));
    queue.shutDown();
    let calls = 0;
    await runWorkers(queue, 1, () => void calls++);
    assert.deepEqual([calls, waits], [20, 1]);
  });

  test('C189 warns of an item that failed without its control characters, when nothing else listens', async (context) => {
    const scene = new Scene('a\u001b[2J');
    const warned = processWarnings(context);
    await scene.run(() => Promise.reject(new Error('b\nc')), { retriesMax: 0 });
    await scene.end();
    const message = 'reconciling a\\x1b[2J failed: b\\nc';
    assert.deepEqual(
      warned.map(({ message, type, code }) => ({ message, type, code })),
      [{ message, type: 'KubeloomWarning', code: 'ERR_KUBELOOM_RECONCILE' }],
    );
  });

  test('warns of failures with the stack of the error, once a second for each message', async (context) => {
    await using scene = new Scene('a', 'b', 'c', 'other');
    const { clock } = scene;
    const warned = processWarnings(context);
    const reconcile = (item: string): never => {
      throw new TypeError(item === 'other' ? 'another bug' : 'my bug');
    };
    await scene.run(reconcile, { retriesMax: 1, clock });
    const messages = (): unknown[] => warned.map(({ message }) => message);
    assert.deepEqual(messages(), ['reconciling a failed: my bug', 'reconciling other failed: another bug']);
    assert.match(String(warned[0]?.detail), /^TypeError: my bug\n {4}at reconcile .*workers\.test\.js/);
    await scene.advance(1000);
    assert.equal(messages()[2], 'reconciling a failed: my bug (and 2 more like it)');
  });

  test('retries a failed item as the limiter requires, and forgets it when it succeeds', async () => {
    await using scene = new Scene('a');
    const errors: unknown[] = [];
    const onError: OnError = (error, item, retries) => errors.push([(error as Error).message, item, retries]);
    let attempts = 0;
    const reconcile = (): void => {
      if (++attempts < 3) throw new Error(`attempt ${attempts}`);
    };
    await scene.run(reconcile, { onError });
    assert.equal(attempts, 1);
    await scene.advance(10);
    assert.equal(attempts, 2);
    await scene.advance(19);
    assert.equal(attempts, 2, 'the second delay is twice the first');
    await scene.advance(1);
    assert.equal(attempts, 3);
    assert.equal(scene.queue.numRequeues('a'), 0);
    assert.deepEqual(errors, [
      ['attempt 1', 'a', 0],
      ['attempt 2', 'a', 1],
    ]);
  });

  test('C283 reports no failure of a function that the signal has ended, and failures of the others', async () => {
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
    const scene = new Scene(...Object.keys(works));
    const failures: unknown[] = [];
    const reconcile = async (item: string): Promise<void> => void (await works[item]?.());
    const onError = (error: unknown): unknown => failures.push((error as Error).message);
    await scene.run(reconcile, { signal, onError }, 4);
    stop.abort();
    await scene.end();
    assert.deepEqual(failures, ['other']);
  });

  test('gives an item up after the maximum of retries', async () => {
    await using scene = new Scene('a');
    let attempts = 0;
    const reconcile = (): never => {
      attempts++;
      throw new Error('always');
    };
    await scene.run(reconcile, { retriesMax: 1, onError: () => undefined });
    await scene.advance(1000);
    await scene.advance(100_000);
    assert.equal(attempts, 2);
    assert.equal(scene.queue.numRequeues('a'), 0);
  });

  test('gives an item up after a terminal error, counts it, and takes it again when it is added', async () => {
    const clock = new FakeClock();
    const queue = new RateLimitingQueue<string>({ clock, name: 'terminal' });
    const failures: unknown[] = [];
    const onError: OnError = (error, item) => failures.push([(error as TerminalError).code, item]);
    const running = runWorkers(queue, 1, () => Promise.reject(new TerminalError('hopeless')), { onError });
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

  test('C473 give up an item whose error has a TerminalError among its causes or its errors', async () => {
    const hopeless = new TerminalError('hopeless');
    const cycle = new Error('a cycle');
    cycle.cause = new Error('of two', { cause: cycle });
    const errors: Readonly<Record<string, readonly [error: unknown, isTerminal: boolean]>> = {
      cause: [new Error('x', { cause: new Error('y', { cause: hopeless }) }), true],
      aggregate: [new AggregateError([new Error('x'), new Error('y', { cause: hopeless })]), true],
      both: [new AggregateError([cycle], 'x', { cause: hopeless }), true],
      cycle: [cycle, false],
      'no list': [Object.assign(new AggregateError([]), { errors: 7 }), false],
      text: ['x', false],
    };
    await using scene = new Scene(...Object.keys(errors));
    const reconcile: Reconcile = (item) => Promise.reject(errors[item]?.[0]);
    await scene.run(reconcile, { onError: () => undefined }, 6);
    for (const [item, [, isTerminal]] of Object.entries(errors))
      assert.equal(scene.queue.numRequeues(item), isTerminal ? 0 : 1, item);
  });

  test('keep the priority of an item that fails or is requeued', async () => {
    const clock = new FakeClock();
    const rateLimiter = new ItemExponentialFailureRateLimiter<unknown>(10, 1000);
    const queue = new PriorityQueue<string>({ clock, rateLimiter });
    queue.addWithOptions({ priority: -100 }, 'fails', 'later');
    const seen: string[] = [];
    const gate = deferred();
    const reconcile: Reconcile = async (item) => {
      seen.push(item);
      if (item === 'blocks') await gate.promise;
      if (seen.length === 1) throw new Error('once');
      return seen.length === 2 ? { requeueAfterMs: 10 } : undefined;
    };
    const running = runWorkers(queue, 1, reconcile, { onError: () => undefined });
    await turn();
    queue.add('blocks');
    await turn();
    clock.advance(10);
    queue.addWithOptions({ priority: -50 }, 'other');
    gate.resolve();
    await turn();
    queue.shutDown();
    await running;
    assert.deepEqual(seen, ['fails', 'later', 'blocks', 'other', 'fails', 'later']);
  });

  test('reconciles again after the time that reconcile returned', async () => {
    await using scene = new Scene('a');
    let calls = 0;
    await scene.run(() => (++calls === 1 ? { requeueAfterMs: 500 } : undefined));
    await scene.advance(499);
    assert.equal(calls, 1);
    await scene.advance(1);
    assert.equal(calls, 2);
  });

  test('ends with its signal after the items in progress', async () => {
    const { queue } = new Scene('a', 'b');
    const stop = new AbortController();
    const seen: string[] = [];
    const reconcile = async (item: string): Promise<void> => {
      stop.abort();
      await turn();
      seen.push(item);
    };
    await runWorkers(queue, 1, reconcile, { signal: stop.signal });
    assert.deepEqual(seen, ['a']);
    assert.equal(queue.length, 1);
  });

  test('ends with its signal while it waits', async () => {
    const stop = new AbortController();
    const running = runWorkers(new Scene().queue, 2, () => undefined, { signal: stop.signal });
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
      const work = async (piece: number): Promise<void> => {
        await turn();
        done.push(piece);
      };
      await parallelizeUntil(workers, pieces, work, { chunkSize });
      const all = Array.from({ length: pieces }, (_, piece) => piece);
      assert.deepEqual([done.length, new Set(done)], [pieces, new Set(all)]);
    });
  }

  test('begins no piece after the signal', async () => {
    const stop = new AbortController();
    let begun = 0;
    const work = async (): Promise<void> => {
      if (++begun === 4) stop.abort();
      await turn();
    };
    await parallelizeUntil(2, 100, work, { signal: stop.signal });
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
