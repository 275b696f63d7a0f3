/** Results of reconcile functions, and the workers that take them. */
import assert from 'node:assert/strict';
import { createContext, runInContext } from 'node:vm';
import { describe, test } from 'node:test';
import { requeueDelayMs } from '../../../src/workqueue/reconcile-result.ts';
import { ItemExponentialFailureRateLimiter } from '../../../src/workqueue/rate-limiters.ts';
import { RateLimitingQueue } from '../../../src/workqueue/rate-limiting-queue.ts';
import { runWorkers } from '../../../src/workqueue/run-workers.ts';
import type { ReconcileResult } from '../../../src/workqueue/reconcile-result.ts';
import { FakeClock } from '../reflector/fake-clock.ts';

const YEAR_MS = 365 * 86_400_000;

describe('a result', () => {
  const DONE: Readonly<Record<string, unknown>> = {
    nothing: undefined,
    'an empty object': {},
    'an empty object of another realm': runInContext('({})', createContext()),
    'an object without a prototype': Object.create(null),
    'no delay': { requeueAfterMs: undefined },
    'a delay of 0': { requeueAfterMs: 0 },
    'a negative delay': { requeueAfterMs: -5 },
  };
  for (const [what, result] of Object.entries(DONE)) {
    test(`C280 is done when it is ${what}`, () => assert.equal(requeueDelayMs(result), undefined));
  }

  test('C280 is a delay, however long', () => {
    assert.equal(requeueDelayMs({ requeueAfterMs: 0.5 }), 0.5);
    assert.equal(requeueDelayMs({ requeueAfterMs: YEAR_MS }), YEAR_MS);
  });

  const AWAIT = /did you mean `await` and not `return`/;
  const POD = { apiVersion: 'v1', kind: 'Pod' };
  const WRONG: readonly (readonly [string, unknown, RegExp])[] = [
    ['the answer of a write', { ...POD, metadata: {}, spec: {}, status: {}, x: 1 }, AWAIT],
    [
      'a member with a typing error',
      { requeueAfterMS: 5 },
      /"requeueAfterMS".* did you mean requeueAfterMs\?/,
    ],
    ['the member of another library', { requeue: true }, /"requeue".*throw an error/],
    ['another member beside the delay', { requeueAfterMs: 5, priority: 1 }, /"requeueAfterMs", "priority"/],
    ['true', true, /returned true.*throw an error/],
    ['false', false, /returned false.*return nothing/],
    ['null', null, /returned null.*return nothing/],
    ['a number', 5000, /did you mean \{ requeueAfterMs: 5000 \}\?/],
    ['text', 'done', /returned "done"/],
    ['an error', new TypeError('no'), /an error \(TypeError\).*throw the error/],
    ['a list', [], /an array/],
    ['an object of a class', new Date(), /an object of Date/],
    ['a function', () => undefined, /a function/],
    ['a delay of NaN', { requeueAfterMs: NaN }, /\{ requeueAfterMs: NaN \}.*a finite number of milliseconds/],
    ['an endless delay', { requeueAfterMs: Infinity }, /requeueAfterMs: Infinity/],
    ['a delay as text', { requeueAfterMs: '5' }, /requeueAfterMs: "5"/],
    ['a delay as a bigint', { requeueAfterMs: 5n }, /requeueAfterMs: 5/],
    ['no delay but null', { requeueAfterMs: null }, /requeueAfterMs: null/],
  ];
  for (const [what, result, message] of WRONG) {
    test(`C280 is refused with what it probably means when it is ${what}`, () => {
      assert.throws(() => requeueDelayMs(result), { code: 'ERR_KUBELOOM_RESULT', message });
    });
  }

  test('C280 of another shape is a failure, and is retried as late as other failures', async () => {
    const clock = new FakeClock();
    const startMs = clock.now();
    const rateLimiter = new ItemExponentialFailureRateLimiter<unknown>(10, 1000);
    const queue = new RateLimitingQueue<string>({ clock, rateLimiter });
    queue.add('a');
    const failures: unknown[] = [];
    const calls: number[] = [];
    const reconcile = (): ReconcileResult => {
      calls.push(clock.now() - startMs);
      return { requeue: true } as unknown as ReconcileResult;
    };
    const onError = (error: unknown, item: string, retries: number): void => {
      failures.push([(error as { code: string }).code, item, retries]);
    };
    const running = runWorkers(queue, 1, reconcile, { onError });
    for (let step = 0; step < 5; step++) {
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(10);
    }
    queue.shutDown();
    await running;
    assert.deepEqual(calls, [0, 10, 30]);
    assert.deepEqual(
      failures,
      [0, 1, 2].map((retries) => ['ERR_KUBELOOM_RESULT', 'a', retries]),
    );
  });
});
