/** Keys and names that mean something to JavaScript are data like any other, on every way through the library. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InformerThreads, SharedIndexInformer, label, parseLabelSelector } from '../../src/index.ts';
import { metaNamespaceKeyFunc } from '../../src/client-go/index.ts';
import { toModel } from '../../src/client-node/index.ts';
import { newIndexer } from '../../src/client-go/index.ts';
import { BareServer, CONFIG_MAPS, kubeConfigFor } from './bare-server.ts';

const HOSTILE = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'toJSON', 'then'];
const PLAIN_PROTOTYPE = Object.getOwnPropertyNames(Object.prototype).join();

/** `{"__proto__":"of __proto__",…}`: written by hand, as no literal can. */
function mapOf(keys: readonly string[]): string {
  return `{${keys.map((key) => `${JSON.stringify(key)}:"of ${key}"`).join()}}`;
}

const MAP = mapOf(HOSTILE);

/** msgpack keeps objects with `__proto__` as JSON, so half of them have none. */
function keysOf(index: number): readonly string[] {
  return index % 2 === 0 ? HOSTILE : HOSTILE.slice(1);
}

function objectNamed(name: string, index: number): string {
  const [namespace, map] = [name, mapOf(keysOf(index))];
  const metadata = `{"name":${JSON.stringify(name)},"namespace":${JSON.stringify(namespace)},"uid":"u-${namespace}-${name}","resourceVersion":"5","labels":${map},"annotations":${map}}`;
  const nested = `{"${keysOf(index)[0]}":{"polluted":true,"deep":[{"constructor":{"prototype":{"polluted":true}}}]}}`;
  return `{"kind":"ConfigMap","apiVersion":"v1","metadata":${metadata},"data":${map},"nested":${nested}}`;
}

function assertUnpolluted(): void {
  assert.equal(Object.getOwnPropertyNames(Object.prototype).join(), PLAIN_PROTOTYPE);
  assert.equal((Object.create(Object.prototype) as { polluted?: unknown }).polluted, undefined);
}

for (const codec of ['json', 'msgpack'] as const) {
  for (const threads of [0, 1]) {
    test(`C193 hostile keys pass ${codec} with ${threads} threads, store, indexes, selectors, fields and copies unharmed`, async (context) => {
      const texts = HOSTILE.map(objectNamed);
      const server = await BareServer.serving(context, texts);
      await using pool = new InformerThreads({ indexerThreads: threads });
      await using informer = new SharedIndexInformer<Record<string, unknown>>(
        kubeConfigFor(server.url),
        CONFIG_MAPS,
        {
          threads: pool,
          codec,
          list: { watchList: 'off' },
          fields: HOSTILE.map((key) => `data.${key}`),
          indexers: Object.fromEntries(HOSTILE.map((key) => [key, label(key)])),
        },
      );
      void informer.run();
      await informer.waitForSync();
      const indexer = informer.getIndexer();
      assert.deepEqual(indexer.listKeys().toSorted(), HOSTILE.map((name) => `${name}/${name}`).toSorted());
      for (const [index, name] of HOSTILE.entries()) {
        const text = texts[index] ?? '';
        const entry = indexer.getByKey(`${name}/${name}`);
        assert.ok(entry, name);
        assert.equal(JSON.stringify(entry.object), text);
        assert.equal(JSON.stringify(entry.copy()), text);
        assert.equal(entry.bytes().toString(), text);
        assert.deepEqual(
          Object.entries(entry.labels),
          keysOf(index).map((key) => [key, `of ${key}`]),
        );
        const values = keysOf(index).map((key) => entry.fields[`data.${key}`]);
        assert.deepEqual(
          values,
          keysOf(index).map((key) => `of ${key}`),
        );
        assert.equal(indexer.byIndex('namespace', name).length, 1);
        assert.equal(
          indexer.byIndex(name, `of ${name}`).length,
          HOSTILE.filter((_, other) => keysOf(other).includes(name)).length,
        );
        assert.equal(indexer.byIndex(name, 'of nobody').length, 0);
      }
      assert.equal(indexer.getByKey('polluted/polluted'), undefined);
      assert.equal(indexer.getByKey('isPrototypeOf'), undefined);
      assert.equal(indexer.byIndex('namespace', 'isPrototypeOf').length, 0);
      assert.throws(() => indexer.byIndex('isPrototypeOf', 'x'), { code: 'ERR_KUBELOOM_NO_INDEX' });
      assertUnpolluted();
    });
  }
}

test('C193 a declared field may have any name, and sets no prototype', async (context) => {
  const text = `${objectNamed('a', 0).slice(0, -1)},"__proto__":{"polluted":true},"constructor":7}`;
  const server = await BareServer.serving(context, [text]);
  await using threads = new InformerThreads({ indexerThreads: 0 });
  const fields = ['__proto__', 'constructor', 'toString'];
  await using informer = new SharedIndexInformer(kubeConfigFor(server.url), CONFIG_MAPS, { threads, fields });
  void informer.run();
  await informer.waitForSync();
  const entry = informer.getIndexer().getByKey('a/a');
  assert.ok(entry);
  assert.deepEqual(Object.entries(entry.fields), [
    ['__proto__', { polluted: true }],
    ['constructor', 7],
  ]);
  assert.equal(entry.fields['polluted'], undefined);
  assertUnpolluted();
});

test('C193 selectors see own labels only', () => {
  const labels = JSON.parse(MAP) as Record<string, string>;
  for (const key of ['constructor', 'toString', 'hasOwnProperty']) {
    assert.equal(parseLabelSelector(key).matches({}), false, key);
    assert.equal(parseLabelSelector(`!${key}`).matches({}), true);
    assert.equal(parseLabelSelector(key).matches(labels), true);
  }
});

test('C193 stores of your own take hostile keys and index names', () => {
  const byName = ({ metadata }: { metadata: { name: string; namespace: string } }): string[] => [
    metadata.name,
  ];
  const indexer = newIndexer<Parameters<typeof byName>[0]>(metaNamespaceKeyFunc, { ['constructor']: byName });
  for (const name of HOSTILE) indexer.add({ metadata: { name, namespace: name } });
  for (const name of HOSTILE) {
    assert.equal(indexer.getByKey(`${name}/${name}`)?.metadata.name, name);
    assert.equal(indexer.byIndex('constructor', name).length, 1);
  }
  assert.equal(indexer.getByKey('isPrototypeOf'), undefined);
  assert.throws(() => indexer.byIndex('toString', 'x'));
  assertUnpolluted();
});

test('C193 a model takes every key but __proto__, which client-node cannot write: toModel reports it', () => {
  const data = JSON.parse(MAP) as Record<string, string>;
  const map = { apiVersion: 'v1', kind: 'ConfigMap', data };
  assert.throws(() => toModel(map), { code: 'ERR_KUBELOOM_UNKNOWN_FIELD' });
  const { ['__proto__']: _proto, ...others } = data;
  const model = toModel<{ data: Record<string, string> }>({ ...map, data: others });
  assert.deepEqual(Object.keys(model.data), HOSTILE.slice(1));
  assertUnpolluted();
});
