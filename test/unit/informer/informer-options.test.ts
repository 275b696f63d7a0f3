/** Options: defaults, bounds and relations; every refusal names the option and says what is right. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import {
  INFORMER_CHECKS,
  reflectorSpec,
  resolveInformerOptions,
  shardSpec,
} from '../../../src/informer/informer-options.ts';
import type { InformerOptions } from '../../../src/informer/informer-options.ts';
import { drop, transformModule } from '../../../src/informer/transform.ts';
import {
  availableBytes,
  mayThreadsPay,
  availableCores,
  defaultBacklogBytesMax,
  defaultDecodedCacheBytes,
  defaultLogBytes,
  leastBytes,
  defaultRetainChecks,
  defaultIndexerThreads,
  resolveThreadsOptions,
  shardsOf,
} from '../../../src/informer/threads/threads-options.ts';
import type { ThreadsOptions } from '../../../src/informer/threads/threads-options.ts';
import { field, indexModule, label } from '../../../src/replica/store/index-functions.ts';
import type { KubeObject } from '../../../src/kube/wire.ts';
import type { ServerSource } from '../../../src/kube/server-source.ts';
import { PODS } from '../../kit/objects.ts';
import { kubeConfigFor } from '../../security/bare-server.ts';

const NODES = { ...PODS, resource: 'nodes', kind: 'Node', isNamespaced: false };
const MIB = 2 ** 20;
const GIB = 2 ** 30;

function refused(name: string): { code: string; message: RegExp } {
  return { code: 'ERR_KUBELOOM_OPTION', message: new RegExp(`^${name}`) };
}

describe('options of the threads', () => {
  test('have the documented defaults', () => {
    assert.deepEqual(resolveThreadsOptions(), {
      indexerThreads: 'auto',
      logBytes: 32 * MIB,
      ringBytes: 4 * MIB,
      objectBytesMax: 8 * MIB,
      readWindowMs: 5,
      drainBudgetMs: 1,
      decodedCacheBytes: 64 * MIB,
      compressAfterMs: 2000,
      stallTimeoutMs: 5000,
      restartsMax: 10,
      restartWindowMs: 60_000,
      backlogBytesMax: defaultBacklogBytesMax(),
    });
    assert.deepEqual(resolveThreadsOptions({}), resolveThreadsOptions());
  });

  test('use one indexer, and one more for every core beyond three, up to eight', () => {
    assert.deepEqual([1, 2, 3, 4, 5, 10, 11, 64].map(defaultIndexerThreads), [1, 1, 1, 2, 3, 8, 8, 8]);
  });

  test('C425 leave lists and rates on the calling thread where one core is given', () => {
    assert.deepEqual([1, 2, 3, 64].map(mayThreadsPay), [false, true, true, true]);
    assert.equal(mayThreadsPay(availableCores(64, 0.5)), false, 'a quota of half a core');
    assert.equal(mayThreadsPay(availableCores(64, 2)), true);
  });

  test('share keys among one shard, or among as many as there are indexer threads, on whichever thread they run', () => {
    assert.deepEqual(
      [0, 1, 3, 'auto' as const].map((indexerThreads) => shardsOf({ indexerThreads })),
      [1, 1, 3, defaultIndexerThreads()],
    );
  });

  test('keep the largest object within a quarter of the log', () => {
    assert.equal(resolveThreadsOptions({ logBytes: 64 * MIB }).objectBytesMax, 16 * MIB);
    assert.equal(resolveThreadsOptions({ logBytes: 512 * MIB }).objectBytesMax, 128 * MIB);
    const exact = { logBytes: 64 * MIB, objectBytesMax: 16 * MIB };
    assert.equal(resolveThreadsOptions(exact).objectBytesMax, 16 * MIB);
    assert.throws(
      () => resolveThreadsOptions({ ...exact, objectBytesMax: 16 * MIB + 1 }),
      refused('objectBytesMax.*4096 to 16777216'),
    );
  });

  test('allow their bounds', () => {
    const small = { indexerThreads: 0, logBytes: 4 * MIB, ringBytes: 2 ** 14, objectBytesMax: 4096 };
    const smallest = {
      ...small,
      readWindowMs: 0,
      drainBudgetMs: 0.1,
      decodedCacheBytes: 0,
      compressAfterMs: 1,
      stallTimeoutMs: 1000,
      restartsMax: 0,
      restartWindowMs: 1,
      backlogBytesMax: 2 ** 16,
    };
    assert.deepEqual(resolveThreadsOptions(smallest), smallest);
    assert.equal(resolveThreadsOptions({ compressAfterMs: Infinity }).compressAfterMs, Infinity);
  });

  test('the cache of parsed objects has 64 MiB, and not more than an eighth of the heap, which may be small in a thread', () => {
    assert.equal(defaultDecodedCacheBytes(4 * 2 ** 30), 64 * 2 ** 20);
    assert.equal(defaultDecodedCacheBytes(48 * 2 ** 20), 6 * 2 ** 20);
  });

  test('C179 give backlogs a quarter of the memory that there is least of', () => {
    const gib = 2 ** 30;
    assert.equal(defaultBacklogBytesMax(leastBytes(16 * gib, 4 * gib)), gib, 'the heap');
    assert.equal(defaultBacklogBytesMax(leastBytes(2 * gib, 4 * gib)), gib / 2, 'the memory');
  });

  test('have the memory of the machine, or of the control group if that is less', () => {
    assert.equal(availableBytes(16 * GIB, 0), 16 * GIB);
    assert.equal(availableBytes(16 * GIB, GIB), GIB);
    assert.equal(availableBytes(2 * GIB, 2 ** 63), 2 * GIB, 'a limit that is none');
  });

  test('have a log of 32 MiB, and of a sixteenth of less memory than 512 MiB', () => {
    const memory = [16 * GIB, 512 * MIB, 511 * MIB, 256 * MIB, 64 * MIB];
    const logs = [32, 32, 28, 16, 8];
    assert.deepEqual(
      memory.map((bytes) => defaultLogBytes(undefined, bytes) / MIB),
      logs,
    );
    const given = [5 * MIB, 8 * MIB, 9 * MIB].map((bytes) => defaultLogBytes(bytes, 256 * MIB) / MIB);
    assert.deepEqual(given, [20, 32, 32], 'room for the largest object that a program expects');
  });

  const wrong: readonly [keyof ThreadsOptions, readonly unknown[]][] = [
    ['indexerThreads', [-1, 1.5, 65, Number.NaN, '2']],
    ['logBytes', [0, 4 * MIB - 1, 4 * MIB + 1, 2 ** 32, Number.NaN, '128']],
    ['ringBytes', [0, 2 ** 13, 3 * MIB, 2 ** 31, Number.NaN]],
    ['objectBytesMax', [0, 4095, 5000.5, Number.NaN]],
    ['drainBudgetMs', [0, -1, 1001, Number.NaN, '2']],
    ['decodedCacheBytes', [-1, 0.5, Number.NaN]],
    ['compressAfterMs', [0, 0.5, 2 ** 31, -Infinity, Number.NaN, '2000']],
    ['backlogBytesMax', [0, 2 ** 16 - 1, 2 ** 17 + 0.5, Number.NaN]],
  ];
  for (const [name, values] of wrong) {
    test(`refuse a wrong ${name}, by name`, () => {
      for (const value of values) {
        assert.throws(() => resolveThreadsOptions({ [name]: value }), refused(name));
      }
    });
  }
});

describe('retainChecks', () => {
  test('C20 are strict unless NODE_ENV is production', (context) => {
    const before = process.env['NODE_ENV'];
    context.after(() => {
      if (before === undefined) delete process.env['NODE_ENV'];
      else process.env['NODE_ENV'] = before;
    });
    delete process.env['NODE_ENV'];
    assert.equal(defaultRetainChecks(), 'strict');
    process.env['NODE_ENV'] = 'development';
    assert.equal(defaultRetainChecks(), 'strict');
    process.env['NODE_ENV'] = 'production';
    assert.equal(defaultRetainChecks(), 'off');
    assert.equal(resolveInformerOptions({}).retainChecks, 'off');
    assert.equal(resolveInformerOptions({ debug: { retainChecks: 'strict' } }).retainChecks, 'strict');
  });
});

describe('options of an informer', () => {
  test('are twenty-one words, nine of which are enough for most programs, and five of which are groups', () => {
    const { backoff, list, watch, slowHandler, debug, ...single } = INFORMER_CHECKS;
    const words = Object.keys(single);
    assert.deepEqual(words.slice(0, 9), [
      'namespace',
      'labelSelector',
      'fieldSelector',
      'view',
      'fields',
      'indexers',
      'transform',
      'resyncPeriodMs',
      'onError',
    ]);
    assert.equal(words.length, 16);
    for (const { members } of [backoff, list, watch, slowHandler, debug])
      assert.ok(members && members.length <= 4, 'a group that must be searched is no help');
  });

  test('declare each field once, also those that an index needs', () => {
    const options: InformerOptions<unknown> = {
      fields: ['status.phase', 'spec.nodeName', 'status.phase'],
      indexers: { node: field('spec.nodeName'), ip: field('status.podIP'), app: label('app') },
    };
    assert.deepEqual(resolveInformerOptions(options).fields, [
      'status.phase',
      'spec.nodeName',
      'status.podIP',
    ]);
    assert.deepEqual(resolveInformerOptions({}).fields, []);
    const { resyncPeriodMs, slowHandler } = resolveInformerOptions({});
    assert.equal(resyncPeriodMs, 0);
    assert.deepEqual(slowHandler, { callMs: 100, pendingNotifications: 1024, ageMs: 30_000 });
  });

  test("determine the reflector's lists and watches", () => {
    const spec = reflectorSpec(PODS, {
      namespace: 'web',
      labelSelector: 'app=web',
      fieldSelector: 'status.phase=Running',
      list: { pageSize: 100, watchList: 'off' },
      backoff: { initialMs: 10, maxMs: 20 },
    });
    assert.equal(spec.path, '/api/v1/namespaces/web/pods');
    assert.deepEqual(spec.query, { labelSelector: 'app=web', fieldSelector: 'status.phase=Running' });
    assert.deepEqual([spec.kind, spec.apiVersion], ['Pod', 'v1']);
    assert.deepEqual([spec.pageSize, spec.watchList], [100, 'off']);
    assert.deepEqual([spec.backoffInitialMs, spec.backoffMaxMs], [10, 20]);
    assert.deepEqual(reflectorSpec(NODES, {}).query, {});
    assert.equal(
      reflectorSpec({ ...PODS, group: 'apps', resource: 'deployments' }, {}).path,
      '/apis/apps/v1/deployments',
    );
  });

  test('have the backoff of client-go by default', () => {
    const { backoffInitialMs, backoffMaxMs, pageSize, watchList } = reflectorSpec(PODS, {});
    assert.deepEqual([backoffInitialMs, backoffMaxMs, pageSize, watchList], [800, 30_000, 0, 'auto']);
  });

  test('request gzip and, unless streaming is asked for, a LIST, which alone is compressed', () => {
    const chosen = (options: InformerOptions<KubeObject>, source: ServerSource): readonly unknown[] => {
      const { acceptsGzip, watchList } = reflectorSpec(PODS, options, source);
      return [acceptsGzip, watchList];
    };
    const here = { server: 'http://127.0.0.1:1' };
    assert.deepEqual(chosen({}, here), [undefined, 'auto']);
    assert.deepEqual(chosen({ compression: 'on' }, here), [true, 'off']);
    assert.deepEqual(chosen({ compression: 'on', list: { watchList: 'auto' } }, here), [true, 'auto']);
    assert.deepEqual(chosen({}, kubeConfigFor('https://cluster.example.com')), [true, 'off']);
    assert.deepEqual(chosen({ compression: 'off' }, kubeConfigFor('https://cluster.example.com')), [
      undefined,
      'auto',
    ]);
    for (const compression of ['gzip', true]) {
      const wrong = { compression } as unknown as InformerOptions<KubeObject>;
      assert.throws(() => resolveInformerOptions(wrong), refused('compression'));
    }
  });

  test('refuse a namespace of a cluster-scoped resource', () => {
    assert.throws(() => reflectorSpec(NODES, { namespace: 'web' }), refused('nodes.*cluster-scoped'));
  });

  test('determine the work of the shards, by the place where the transform runs', () => {
    const plain = shardSpec('msgpack', ['f'], {}, (object: unknown) => object);
    assert.deepEqual([plain.isRaw, plain.codec, plain.fields], [true, 'json', ['f']]);
    const dropped = shardSpec('msgpack', [], {}, drop('metadata.managedFields', 'status'));
    assert.deepEqual([dropped.isRaw, dropped.codec], [false, 'msgpack']);
    assert.deepEqual(dropped.drop, ['metadata.managedFields', 'status']);
    const module = shardSpec('json', [], {}, transformModule('file:///t.js', 'trim'));
    assert.deepEqual(module.transformModule, { url: 'file:///t.js', name: 'trim' });
    assert.deepEqual([module.isRaw, module.codec, module.drop], [false, 'json', []]);
    assert.equal('transformModule' in shardSpec('json', [], {}, undefined), false);
  });

  test('give the shards the index modules, which cannot see the result of a plain transform', () => {
    const indexers = { image: indexModule('file:///i.js'), app: label('app') };
    assert.deepEqual(shardSpec('json', [], indexers, undefined).indexModules, [
      { index: 'image', url: 'file:///i.js', name: 'default' },
    ]);
    assert.throws(
      () => shardSpec('json', [], indexers, (object: unknown) => object),
      refused('an index module'),
    );
  });
});
