/** Lists: selectors over indexes, order, pages. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CacheListOptions, InformersMap } from '../../../../src/controller/index.ts';
import type { KubeObject } from '../../../../src/index.ts';
import { settled } from '../../../../src/tools/apiserver/testing/index.ts';
import { NODE, POD, Scene, pod, rejection, soon } from './scene.ts';

interface PodObject extends KubeObject {
  readonly spec: { readonly nodeName?: string; readonly priority?: number };
}

/** 60 pods: `a/p00` … `b/p29`; every third on n1, every tenth urgent, one with its own name. */
async function populated(scene: Scene): Promise<void> {
  const pods = Array.from({ length: 60 }, (_, at) =>
    pod(
      `p${String(at % 30).padStart(2, '0')}`,
      at < 30 ? 'a' : 'b',
      {
        ...(at % 3 === 0 ? { nodeName: 'n1' } : at % 3 === 1 ? { nodeName: 'n2' } : {}),
        priority: at % 10 === 0 ? 9 : 1,
        containers: [{ name: 'c', image: at === 7 ? 'rare' : 'common' }],
      },
      { labels: { parity: at % 2 === 0 ? 'even' : 'odd' } },
    ),
  );
  // Not in the order of keys.
  await scene.create('pods', ...pods.toReversed());
}

function images({ object }: { readonly object: KubeObject }): string[] {
  return (object as unknown as { spec: { containers: { image: string }[] } }).spec.containers.map(
    ({ image }) => image,
  );
}

async function indexed(cache: InformersMap): Promise<void> {
  await cache.indexField(POD, 'spec.nodeName');
  await cache.indexField(POD, 'priority', 'spec.priority');
  await cache.indexField(POD, 'image', images);
}

function keys(cache: InformersMap, options: CacheListOptions): string[] {
  return cache.list(POD, options).items.map(({ key }) => key);
}

const EVERYTHING = Array.from({ length: 60 }, (_, at) => {
  const key = `${at < 30 ? 'a' : 'b'}/p${String(at % 30).padStart(2, '0')}`;
  return { at, key };
});

function where(isWanted: (at: number) => boolean): string[] {
  return EVERYTHING.filter(({ at }) => isWanted(at)).map(({ key }) => key);
}

describe('list', () => {
  test('is in the order of keys, with namespaces and labels selected', async () => {
    await using scene = await Scene.start();
    await populated(scene);
    const cache = scene.cache();
    await using _pods = await cache.informerFor(POD);
    const odd = { labelSelector: 'parity notin (even)' };
    const cases: readonly (readonly [CacheListOptions, (at: number) => boolean])[] = [
      [{}, () => true],
      [{ namespace: 'b' }, (at) => at >= 30],
      [odd, (at) => at % 2 === 1],
      [{ ...odd, namespace: 'a' }, (at) => at % 2 === 1 && at < 30],
    ];
    for (const [options, isWanted] of cases) assert.deepEqual(keys(cache, options), where(isWanted));
    const all = cache.list(POD);
    assert.deepEqual([all.examined, all.index, all.continue], [60, '', '']);
    assert.equal(cache.list(POD, { namespace: 'a' }).examined, 30);
  });

  for (const isEarly of [true, false]) {
    test(`C167 uses the index with the fewest objects, and examines only these (indexed ${isEarly ? 'before' : 'after'})`, async () => {
      await using scene = await Scene.start();
      await populated(scene);
      const cache = scene.cache();
      if (isEarly) await indexed(cache);
      await using _pods = await cache.informerFor<PodObject>(POD);
      if (!isEarly) await indexed(cache);
      const cases: [string, (at: number) => boolean, string, number][] = [
        ['spec.nodeName=n1', (at) => at % 3 === 0, 'spec.nodeName', 20],
        ['spec.nodeName=n1,priority=9', (at) => at % 30 === 0, 'priority', 6],
        ['priority==9,spec.nodeName=n1', (at) => at % 30 === 0, 'priority', 6],
        ['priority=9,spec.nodeName!=n1', (at) => at % 10 === 0 && at % 3 !== 0, 'priority', 6],
        ['spec.nodeName=,priority=9', (at) => at % 30 === 20, 'priority', 6],
        ['spec.nodeName=', (at) => at % 3 === 2, 'spec.nodeName', 20],
        ['spec.nodeName=n3', () => false, 'spec.nodeName', 0],
        ['image=rare', (at) => at === 7, 'image', 1],
        ['image=rare,spec.nodeName=n1', () => false, 'image', 1],
        ['metadata.name=p07', (at) => at % 30 === 7, 'metadata.name', 2],
        ['metadata.name=p07,metadata.namespace=b', (at) => at === 37, 'metadata.name', 1],
        ['metadata.namespace=b', (at) => at >= 30, 'namespace', 30],
        ['metadata.namespace!=b', (at) => at < 30, '', 60],
        ['spec.nodeName!=n1', (at) => at % 3 !== 0, '', 60],
      ];
      for (const [fieldSelector, isWanted, index, examined] of cases) {
        const list = cache.list(POD, { fieldSelector });
        const found = list.items.map(({ key }) => key);
        assert.deepEqual(found, where(isWanted), fieldSelector);
        assert.deepEqual([list.index, list.examined], [index, examined], fieldSelector);
      }
      const narrowed = cache.list(POD, {
        namespace: 'b',
        fieldSelector: 'priority=9',
        labelSelector: 'parity=even',
      });
      assert.deepEqual(
        narrowed.items.map(({ key }) => key),
        ['b/p00', 'b/p10', 'b/p20'],
      );
      assert.equal(narrowed.examined, 6);
      assert.deepEqual(cache.list(POD, { namespace: 'a', fieldSelector: 'metadata.namespace=b' }).items, []);
      assert.deepEqual(scene.errors, []);
    });
  }

  test('follows changes of the fields', async () => {
    await using scene = await Scene.withPods(pod('x', 'a'), pod('y', 'a', { nodeName: 'n1' }));
    const cache = scene.cache();
    await cache.indexField('pods', 'spec.nodeName');
    await using _pods = await cache.informerFor(POD);
    assert.deepEqual(keys(cache, { fieldSelector: 'spec.nodeName=' }), ['a/x']);
    await scene.put('pods', pod('x', 'a', { nodeName: 'n1' }));
    await scene.remove('pods', 'a', 'y');
    await settled(cache, { signal: soon() });
    assert.deepEqual(keys(cache, { fieldSelector: 'spec.nodeName=' }), []);
    assert.deepEqual(keys(cache, { fieldSelector: 'spec.nodeName=n1' }), ['a/x']);
  });

  test('of cluster-scoped objects can select by name', async () => {
    await using scene = await Scene.start();
    await scene.create('nodes', { metadata: { name: 'n1' } }, { metadata: { name: 'n2' } });
    const cache = scene.cache();
    await using nodes = await cache.informerFor(NODE);
    const list = nodes.list({ fieldSelector: 'metadata.name=n2' });
    assert.deepEqual([list.items[0]?.key, list.items.length, list.examined], ['n2', 1, 1]);
    assert.deepEqual(
      nodes.list({ fieldSelector: 'metadata.name!=n2' }).items.map(({ key }) => key),
      ['n1'],
    );
    assert.equal(nodes.list({ fieldSelector: 'metadata.namespace=' }).items.length, 2);
  });

  test('of metadata has the fields of metadata, however the objects came', async () => {
    await using scene = await Scene.start();
    await populated(scene);
    const cache = scene.cache();
    await indexed(cache);
    await cache.indexField(POD, 'parity', 'metadata.labels.parity');
    await using metadata = await cache.informerFor(POD, { view: 'metadata' });
    await cache.indexField(POD, 'late', 'metadata.labels.parity');
    for (const isWhole of [false, true]) {
      const pods = isWhole ? await cache.informerFor(POD, { signal: soon() }) : undefined;
      for (const field of ['parity', 'late']) {
        const list = metadata.list({ fieldSelector: `${field}=odd,metadata.namespace=a` });
        assert.equal(list.items.length, 15);
        assert.equal(list.items[0]?.object.kind, 'Pod');
      }
      for (const field of ['spec.nodeName', 'image']) {
        assert.throws(() => metadata.list({ fieldSelector: `${field}=n1` }), {
          code: 'ERR_KUBELOOM_NO_INDEX',
          message: /metadata view/,
        });
      }
      await pods?.release();
    }
  });

  test('refuses malformed selectors, and fields without an index, at the call', async () => {
    await using scene = await Scene.start();
    const cache = scene.cache();
    await cache.indexField(POD, 'spec.nodeName');
    await using pods = await cache.informerFor(POD);
    const refused: [CacheListOptions, string][] = [
      [{ labelSelector: 'a in' }, 'ERR_KUBELOOM_SELECTOR'],
      [{ fieldSelector: 'spec.nodeName' }, 'ERR_KUBELOOM_SELECTOR'],
      [{ fieldSelector: 'status.phase=Failed' }, 'ERR_KUBELOOM_NO_INDEX'],
      [{ fieldSelector: 'status.phase!=Failed' }, 'ERR_KUBELOOM_NO_INDEX'],
      [{ limit: -1 }, 'ERR_KUBELOOM_OPTION'],
      [{ limit: 1.5 }, 'ERR_KUBELOOM_OPTION'],
      [{ continue: 'nonsense' }, 'ERR_KUBELOOM_CONTINUE'],
    ];
    for (const [options, code] of refused) assert.throws(() => pods.list(options), { code });
    assert.throws(() => pods.list({ fieldSelector: 'status.phase=x' }), /indexField\(\).*spec\.nodeName/);
    for (const key of ['x', 'a/x/y', { name: 'x' }, undefined as never]) {
      assert.throws(() => pods.get(key), { code: 'ERR_KUBELOOM_KEY' });
    }
  });
});

describe('indexField', () => {
  test('keeps an object whose function throws, and names index and key', async () => {
    await using scene = await Scene.withPods(pod('bad', 'a'), pod('good', 'a'));
    const cache = scene.cache();
    await cache.indexField(POD, 'odd', ({ name }) => {
      if (name === 'bad') throw new Error('no');
      return [name];
    });
    await using pods = await cache.informerFor(POD);
    assert.equal(pods.list().items.length, 2);
    assert.deepEqual(keys(cache, { fieldSelector: 'odd=good' }), ['a/good']);
    assert.deepEqual(keys(cache, { fieldSelector: 'odd!=good' }), ['a/bad']);
    assert.equal(scene.errors.length, 1);
    assert.match(scene.errors[0]?.message ?? '', /field:odd threw for a\/bad/);
  });

  test('accepts the same field twice, and refuses another extractor for it', async () => {
    await using scene = await Scene.start();
    const cache = scene.cache();
    await cache.indexField(POD, 'node', 'spec.nodeName');
    await cache.indexField('pods', 'node', 'spec.nodeName');
    for (const [name, extractor, code] of [
      ['node', 'spec.other', 'ERR_KUBELOOM_INDEXER_CONFLICT'],
      ['metadata.name', images, 'ERR_KUBELOOM_INDEXER_CONFLICT'],
      ['a=b', 'spec', 'ERR_KUBELOOM_OPTION'],
      ['path', 'spec..node', 'ERR_KUBELOOM_OPTION'],
      ['kind', 7 as never, 'ERR_KUBELOOM_OPTION'],
    ] as const) {
      assert.equal((await rejection(cache.indexField(POD, name, extractor))).code, code);
    }
    assert.equal(
      (await rejection(cache.indexField('gadgets', 'spec'))).code,
      'ERR_KUBELOOM_UNKNOWN_RESOURCE',
    );
  });
});

describe('pages', () => {
  test('C167 have every object once, in order, with every selector and over several namespaces', async () => {
    await using scene = await Scene.start();
    await populated(scene);
    for (const namespaces of [[], ['a', 'b']]) {
      const cache = scene.cache({ namespaces });
      await indexed(cache);
      await using pods = await cache.informerFor(POD);
      for (const query of [{}, { fieldSelector: 'spec.nodeName=n1' }, { labelSelector: 'parity=even' }]) {
        const found: string[] = [];
        let pages = 0;
        let token = '';
        do {
          const page = pods.list({ ...query, limit: 7, continue: token });
          assert.ok(page.items.length <= 7);
          found.push(...page.items.map(({ key }) => key));
          token = page.continue;
          pages++;
        } while (token !== '');
        const everything = keys(cache, query);
        assert.deepEqual(found, everything);
        assert.equal(pages, Math.ceil(everything.length / 7));
      }
      await cache.shutdown();
    }
  });

  test('show objects that are created behind the last page, and none before it', async () => {
    await using scene = await Scene.withPods(pod('b', 'a'), pod('d', 'a'), pod('f', 'a'), pod('h', 'a'));
    const cache = scene.cache();
    await using pods = await cache.informerFor(POD);
    const first = pods.list({ limit: 2 });
    await scene.create('pods', pod('a', 'a'), pod('e', 'a'));
    await scene.remove('pods', 'a', 'd');
    await scene.remove('pods', 'a', 'h');
    await settled(cache, { signal: soon() });
    const second = pods.list({ limit: 2, continue: first.continue });
    assert.deepEqual(
      [...first.items, ...second.items].map(({ name }) => name),
      ['b', 'd', 'e', 'f'],
    );
    assert.equal(second.continue, '', 'nothing is left, so there is no further page');
  });

  test('are refused with the token of another list', async () => {
    await using scene = await Scene.start();
    await populated(scene);
    const cache = scene.cache();
    await using pods = await cache.informerFor(POD);
    await using metadata = await cache.informerFor(POD, { view: 'metadata' });
    const token = pods.list({ limit: 1 }).continue;
    for (const other of [
      { namespace: 'a' },
      { labelSelector: 'parity' },
      { fieldSelector: 'metadata.name=p' },
    ]) {
      assert.throws(() => pods.list({ ...other, continue: token }), { code: 'ERR_KUBELOOM_CONTINUE' });
    }
    assert.throws(() => metadata.list({ continue: token }), { code: 'ERR_KUBELOOM_CONTINUE' });
    assert.equal(pods.list({ limit: 2, continue: token }).items.length, 2, 'the limit may change');
  });
});
