/** Values that `tweakListOptions` must not return. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tweaking } from '../../../src/informer/tweak.ts';
import type { TweakListOptions } from '../../../src/informer/tweak.ts';

test('Options that are promised are refused: they would count as none, and select everything', () => {
  const promised = (async (options: object) => ({ ...options, labelSelector: 'app=web' })) as unknown;
  assert.throws(() => tweaking(promised as TweakListOptions, assert.fail)({ limit: '500' }), {
    code: 'ERR_KUBELOOM_OPTION',
    message: /must return an options object, got an object/,
  });
});

test('Options that are a promise which rejects are refused, and the rejection ends no process', async () => {
  const rejected = (async () => Promise.reject(new Error('no options'))) as unknown;
  assert.throws(() => tweaking(rejected as TweakListOptions, assert.fail)({}), {
    code: 'ERR_KUBELOOM_OPTION',
  });
  // The runner would report a rejection without a handler here.
  await new Promise(setImmediate);
});
