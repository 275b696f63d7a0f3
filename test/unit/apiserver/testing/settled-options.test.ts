/** Options of `settled` that a caller passes on: a signal that may be undefined. */
import { it } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { FakeControllerSource, settled } from '../../../../src/apiserver/testing/index.ts';
import type { SettledOptions } from '../../../../src/apiserver/testing/index.ts';
import { SourcedInformer } from './sourced-informer.ts';

it('settled takes options without a signal', { timeout: 40_000 }, async () => {
  await using scene = new SourcedInformer(new FakeControllerSource<V1Pod>(), 0).run();
  await settled(scene.informer, {});
  await settled({ signal: undefined } as unknown as SettledOptions, scene.informer);
});
