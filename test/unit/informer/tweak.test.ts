/** Values that `tweakListOptions` must not return. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tweaked } from '../../../src/informer/tweak.ts';
import type { TweakListOptions } from '../../../src/informer/tweak.ts';

test('Options that are promised are refused: they would count as none, and select everything', () => {
  const promised = (async (options: object) => ({ ...options, labelSelector: 'app=web' })) as unknown;
  assert.throws(() => tweaked({ limit: '500' }, promised as TweakListOptions, () => undefined), {
    code: 'ERR_KUBELOOM_LIST_OPTIONS',
    message: /must return an options object, got \[object Promise\]/,
  });
});
