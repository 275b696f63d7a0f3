/** Store and Indexer as users hold them: client-go's methods, and the rules for index functions. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { parseLabelSelector } from '../../../../src/kube/label-selector.ts';
import { field, label, ownerUid } from '../../../../src/replica/store/index-functions.ts';
import type { CachedObject } from '../../../../src/replica/store/cached-object.ts';
import { ScriptedReplica } from './scripted-replica.ts';
import type { ScriptOptions } from './scripted-replica.ts';

const WEB_0 = { namespace: 'default', name: 'web-0', version: 1, labels: { app: 'web' } };
const WEB_1 = { namespace: 'kube-system', name: 'web-1', version: 2, labels: { app: 'web' } };
const OWNED = { controllerUid: 'rs', labels: { app: 'api' } };
const API_0 = { namespace: 'default', name: 'api-0', version: 3, ...OWNED };
const NODE = { name: 'node', version: 4 };

function filled(options: ScriptOptions = {}): ScriptedReplica {
  const replica = new ScriptedReplica(options);
  replica.relist(WEB_0, WEB_1, API_0, NODE);
  return replica;
}

function keys(found: readonly { readonly key: string }[]): string[] {
  return found.map(({ key }) => key).sort();
}

describe('the store', () => {
  test('C4 lists in the order of the first listing; an updated object keeps its place', () => {
    const replica = filled();
    replica.put({ ...WEB_0, version: 9 }, { name: 'last', version: 10 });
    const expected = ['default/web-0', 'kube-system/web-1', 'default/api-0', 'node', 'last'];
    assert.deepEqual(replica.indexer.listKeys(), expected);
    assert.deepEqual(
      replica.indexer.list().map(({ key }) => key),
      expected,
    );
    assert.equal(replica.indexer.size, 5);
  });

  test('C15 returns the same entry from every query: by key, by entry or by plain object', () => {
    const { indexer } = filled({ indexers: { app: label('app') } });
    const entry = indexer.getByKey('default/web-0');
    assert.ok(entry);
    const metadata = { namespace: 'default', name: 'web-0' };
    for (const same of [entry, { key: 'default/web-0' }, { metadata }])
      assert.equal(indexer.get(same), entry);
    for (const other of [{ metadata: { name: 'web-0' } }, {}]) assert.equal(indexer.get(other), undefined);
    assert.ok(indexer.list().includes(entry));
    assert.ok(indexer.byIndex('app', 'web').includes(entry));
    assert.equal(indexer.getByKey('default/none'), undefined);
  });

  test('C20 returns entries that stay readable after they were superseded and deleted', () => {
    const replica = filled();
    const first = replica.indexer.getByKey('default/web-0') as CachedObject<{
      metadata: { resourceVersion: string };
    }>;
    replica.put({ ...WEB_0, version: 9 });
    const second = replica.indexer.byIndex('namespace', 'default')[0] as typeof first;
    replica.remove({ ...WEB_0, version: 10 });
    assert.ok(replica.dispose());
    assert.equal(first.object.metadata.resourceVersion, '1');
    assert.equal([second, ...replica.indexer.list()].length, 4);
  });

  test('C5 returns arrays that the caller may change', () => {
    const { indexer } = filled();
    indexer.list().length = 0;
    indexer.listKeys().length = 0;
    assert.equal(indexer.list().length, 4);
  });
});

describe('the indexer', () => {
  test('has the namespace index by default; cluster-scoped objects are not in it', () => {
    const { indexer } = filled();
    assert.deepEqual(keys(indexer.byIndex('namespace', 'default')), ['default/api-0', 'default/web-0']);
    assert.deepEqual(indexer.listIndexFuncValues('namespace').sort(), ['default', 'kube-system']);
    assert.deepEqual(Object.keys(indexer.getIndexers()), ['namespace']);
    assert.deepEqual(keys(indexer.index('namespace', indexer.getByKey('default/api-0') as never)), [
      'default/api-0',
      'default/web-0',
    ]);
  });

  test('has another index under the name of the namespaces when it is given one; listers still find theirs', () => {
    const { indexer } = filled({ indexers: { namespace: ({ name }) => [name] } });
    assert.deepEqual(keys(indexer.byIndex('namespace', 'web-0')), ['default/web-0']);
    assert.deepEqual(keys(indexer.select(parseLabelSelector(''), 'default')), [
      'default/api-0',
      'default/web-0',
    ]);
    assert.throws(() => indexer.addIndexers({ namespace: label('app') }), {
      code: 'ERR_KUBELOOM_INDEXER_CONFLICT',
    });
  });

  test('finds by label, field and owner, and drops values that no object has any longer', () => {
    const replica = filled({
      indexers: { app: label('app'), node: field('spec.nodeName'), owner: ownerUid() },
      fields: ['spec.nodeName'],
    });
    const { indexer } = replica;
    replica.put({ ...WEB_1, version: 5, fields: ['node-7'] });
    assert.deepEqual(keys(indexer.byIndex('node', 'node-7')), ['kube-system/web-1']);
    assert.deepEqual(keys(indexer.byIndex('owner', 'rs')), ['default/api-0']);
    replica.put({ ...WEB_1, version: 6, labels: { app: 'db' }, fields: [['node-8', 'node-9', 8, true]] });
    assert.deepEqual(indexer.listIndexFuncValues('node').sort(), ['8', 'node-8', 'node-9', 'true']);
    assert.deepEqual(indexer.listIndexFuncValues('app').sort(), ['api', 'db', 'web']);
    replica.put({ ...WEB_1, version: 7, labels: {}, fields: [{ not: 'indexable' }] });
    assert.deepEqual(indexer.listIndexFuncValues('node'), []);
    assert.deepEqual(indexer.listIndexFuncValues('app').sort(), ['api', 'web']);
  });

  test('does not find properties of Object.prototype as labels', () => {
    const { indexer } = filled({ indexers: { odd: label('constructor') } });
    assert.deepEqual(indexer.listIndexFuncValues('odd'), []);
  });

  test('index() returns all objects that share a value with the given one, each once', () => {
    const { indexer } = filled({
      indexers: { words: (entry) => [entry.namespace, entry.labels['app'] ?? ''] },
    });
    const web0 = indexer.getByKey('default/web-0');
    assert.ok(web0);
    assert.deepEqual(keys(indexer.index('words', web0)), [
      'default/api-0',
      'default/web-0',
      'kube-system/web-1',
    ]);
  });

  test('indexers added during a relist index both present and later objects', () => {
    const replica = filled();
    replica.begin();
    replica.list({ ...WEB_0, version: 20, labels: { app: 'db' } });
    replica.indexer.addIndexers({ app: label('app') });
    assert.deepEqual(replica.indexer.listIndexFuncValues('app').sort(), ['api', 'web']);
    replica.list(API_0);
    replica.end();
    assert.deepEqual(replica.indexer.listIndexFuncValues('app').sort(), ['api', 'db']);
  });
});

describe('a plain index function', () => {
  test('that returns no array of strings is reported like one that throws', async () => {
    const promise = (): unknown => Promise.reject(new Error('it rejects'));
    for (const returned of [() => 5, () => 'text', () => [5], promise]) {
      const replica = new ScriptedReplica({ indexers: { broken: returned as never } });
      replica.put(WEB_0);
      assert.equal(replica.errors[0]?.error.code, 'ERR_KUBELOOM_INDEX_FUNCTION', String(returned));
      assert.equal(replica.indexer.size, 1);
    }
    // A rejection without a handler would be reported here.
    await new Promise(setImmediate);
  });

  test('C20 may read the whole object during its call and not later', () => {
    const stash: CachedObject<unknown>[] = [];
    const replica = new ScriptedReplica({
      indexers: {
        kind: (entry) => {
          stash.push(entry);
          return [(entry.object as { kind: string }).kind];
        },
      },
    });
    replica.put(WEB_0);
    assert.deepEqual(replica.indexer.indexKeys('kind', 'Pod'), ['default/web-0']);
    assert.throws(() => stash[0]?.object, {
      code: 'ERR_KUBELOOM_BORROW_EXPIRED',
      message: /index function kind/,
    });
  });

  test('runs for every change, while values of unchanged labels are kept', () => {
    let calls = 0;
    const replica = new ScriptedReplica({ indexers: { app: label('app'), count: () => [String(++calls)] } });
    replica.put(WEB_0, { ...WEB_0, version: 2 }, { ...WEB_0, version: 3 });
    assert.equal(calls, 3);
    assert.deepEqual(replica.indexer.listIndexFuncValues('count'), ['3']);
    assert.deepEqual(replica.indexer.indexKeys('app', 'web'), ['default/web-0']);
  });
});
