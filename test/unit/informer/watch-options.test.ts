/** The options of list-and-watch of informers: their results, and the refusals. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reflectorSpec, resolveInformerOptions } from '../../../src/informer/informer-options.ts';
import { PODS } from '../../kit/objects.ts';

const REFUSED = { code: 'ERR_KUBELOOM_OPTION' };

test('a watch lasts from five to ten minutes, or from the chosen minimum to twice that', () => {
  const bounds = (minTimeoutMs?: number): number[] => {
    const options = minTimeoutMs === undefined ? {} : { watch: { minTimeoutMs } };
    const spec = reflectorSpec(PODS, options);
    return [spec.watchTimeoutMinSeconds, spec.watchTimeoutMaxSeconds];
  };
  assert.deepEqual(bounds(), [300, 600]);
  assert.deepEqual(bounds(300_000), [300, 600]);
  assert.deepEqual(bounds(1_800_000), [1800, 3600]);
});

test('a minimum below five minutes is refused instead of ignored', () => {
  for (const minTimeoutMs of [299_999, 1000, 0, -1, NaN, Infinity]) {
    assert.throws(() => resolveInformerOptions({ watch: { minTimeoutMs } }), REFUSED);
  }
});

test('internal errors are retried at once only with the option', () => {
  assert.equal(reflectorSpec(PODS, {}).maxInternalErrorRetryDurationMs, 0);
  const spec = reflectorSpec(PODS, { watch: { maxInternalErrorRetryDurationMs: 5000 } });
  assert.equal(spec.maxInternalErrorRetryDurationMs, 5000);
  assert.throws(() => resolveInformerOptions({ watch: { maxInternalErrorRetryDurationMs: -1 } }), REFUSED);
});
