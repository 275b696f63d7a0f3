/** Options of those who do not check types: what would be silently nothing is refused, by name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Indexers, Transform } from '../../src/index.ts';
import { field, indexModule, label, namespaceIndex, ownerUid } from '../../src/index.ts';
import { Scene } from './scene.ts';
import type { Pod } from './scene.ts';

const TRANSFORMS = [
  null,
  5,
  'trim',
  {},
  { transform: 'drop' },
  { transform: 'drop', paths: [1] },
  { transform: 'module', url: 'x' },
];
const INDEXERS = [
  null,
  5,
  { app: 1 },
  { app: null },
  { app: { index: 'lable', label: 'app' } },
  { app: { index: 'label' } },
];
const OTHERS = [{ fields: 'spec' }, { fields: [1] }, { onError: 5 }, { onMutation: 'log' }];

const refused = (name: string): object => ({ code: 'ERR_KUBELOOM_OPTION', message: new RegExp(name) });

test('C62 a transform, an indexer or a callback that is none is refused when the informer is made', async () => {
  await using scene = new Scene();
  const wrong: readonly object[] = [
    ...TRANSFORMS.filter((transform) => transform !== null).map((transform) => ({ transform })),
    ...INDEXERS.filter((indexers) => indexers !== null).map((indexers) => ({ indexers })),
    ...OTHERS,
  ];
  for (const options of wrong) {
    const [name = ''] = Object.keys(options);
    assert.throws(() => scene.informer(options), refused(name), JSON.stringify(options));
  }
});

test('C62 so it is when it is set or added later, and nothing has changed then', async () => {
  await using scene = new Scene();
  const informer = scene.informer();
  for (const transform of TRANSFORMS) {
    assert.throws(() => informer.setTransform(transform as Transform<Pod>), refused('transform'));
  }
  for (const indexers of INDEXERS) {
    assert.throws(() => informer.addIndexers(indexers as unknown as Indexers<Pod>), refused('indexers'));
  }
  assert.throws(() => informer.setWatchErrorHandler(5 as never), refused('the watch error handler'));
  const good = {
    app: label('app'),
    f: field('spec.x'),
    m: indexModule('file:///x.js'),
    n: namespaceIndex(),
    o: ownerUid(),
    p: () => [],
  };
  informer.addIndexers(good);
  assert.deepEqual(Object.keys(informer.getIndexer().getIndexers()), ['namespace', ...Object.keys(good)]);
});
