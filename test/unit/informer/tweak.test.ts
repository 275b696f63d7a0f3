/** Values that `tweakListOptions` must not return. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tweaking } from '../../../src/informer/tweak.ts';
import type { TweakListOptions } from '../../../src/informer/tweak.ts';

test('Options that are promised are refused: they would count as none, and select everything', () => {
  const promised = (async (options: object) => ({ ...options, labelSelector: 'app=web' })) as unknown;
  assert.throws(() => tweaking(promised as TweakListOptions, assert.fail)({ limit: '500' }), {
    code: 'ERR_KUBELOOM_OPTION',
    message: /must return an options object, got \[object Promise\]/,
  });
});
