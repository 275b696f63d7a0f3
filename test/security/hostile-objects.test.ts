/** Objects that no friendly server sends: deep nesting, two values for one key, identities that are no text. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { InformerThreads, SharedIndexInformer, drop } from '../../src/index.ts';
import {
  CacheMutationDetector,
  Reflector,
  newIndexer,
  newListWatchFromClient,
} from '../../src/client-go/index.ts';
import { toModel } from '../../src/client-node/index.ts';
import { metaNamespaceKeyFunc } from '../../src/kube/keys.ts';
import { startEmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import { ObjectClient } from '../../src/controller/object-client.ts';
import { BareServer, CONFIG_MAPS, kubeConfigFor } from './bare-server.ts';
import { until } from '../kit/until.ts';

type Fields = Record<string, unknown>;
type Options = NonNullable<ConstructorParameters<typeof SharedIndexInformer<Fields>>[2]>;

const LEVELS = 9000;
const DEEP = `${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`;
const DEEP_VALUE = JSON.parse(DEEP) as unknown;

function objectOf(metadata: string, rest = ''): string {
  return `{"kind":"ConfigMap","apiVersion":"v1","metadata":{${metadata}}${rest}}`;
}

function named(name: string, more = ''): string {
  return `"name":"${name}","namespace":"d","uid":"u-${name}","resourceVersion":"7"${more}`;
}

const DEEP_ITEMS = [
  objectOf(named('a')),
  objectOf(named('deep'), `,"spec":${DEEP}`),
  objectOf(named('deep-metadata', `,"x":${DEEP}`)),
  objectOf('"namespace":"d"', `,"spec":${DEEP}`),
  objectOf('"name":"unversioned"', `,"spec":${DEEP}`),
  objectOf(named('z')),
];

const WAYS: readonly Options[] = [
  {},
  { codec: 'msgpack' },
  { fields: ['spec'] },
  { transform: (object: Fields) => object },
  { transform: drop('metadata.managedFields') },
  { debug: { mutationDetector: 'compare' } },
  { debug: { mutationDetector: 'freeze' } },
];

async function synced(
  context: TestContext,
  items: readonly string[],
  options: Options,
): Promise<{ informer: SharedIndexInformer<Fields>; codes: string[] }> {
  const server = await BareServer.serving(context, items);
  const codes: string[] = [];
  const informer = new SharedIndexInformer<Fields>(kubeConfigFor(server.url), CONFIG_MAPS, {
    list: { watchList: 'off' },
    ...options,
    onError: ({ code }) => codes.push(code),
  });
  context.after(() => informer.shutdown());
  void informer.run();
  await informer.waitForSync();
  return { informer, codes };
}

for (const shards of [0, 1]) {
  test(`C321 a deep object is delivered, and a deep one without a name is skipped alone (${shards} threads)`, async (context) => {
    await using threads = new InformerThreads({ indexerThreads: shards });
    for (const way of WAYS) {
      const { informer, codes } = await synced(context, DEEP_ITEMS, { ...way, threads });
      const indexer = informer.getIndexer();
      assert.deepEqual(indexer.listKeys().toSorted(), ['d/a', 'd/deep', 'd/deep-metadata', 'd/z']);
      const refusals = ['ERR_KUBELOOM_NO_RESOURCE_VERSION', 'ERR_KUBELOOM_OBJECT_WITHOUT_NAME'];
      await until(() => codes.length >= refusals.length);
      assert.deepEqual(codes.toSorted(), refusals);
      for (const entry of indexer.list()) {
        assert.equal((entry.object['metadata'] as { name: string }).name, entry.name);
        assert.ok(entry.metadata && entry.copy());
        assert.deepEqual(metaNamespaceKeyFunc(JSON.parse(entry.bytes().toString())), entry.key);
      }
      await informer.shutdown();
    }
  });
}

test('C321 informers of functions, detectors and writes take deep objects, and models refuse them', async (context) => {
  const items = DEEP_ITEMS.filter((_, index) => index !== 3 && index !== 4);
  const server = await BareServer.serving(context, items);
  const source = newListWatchFromClient<Record<string, unknown>>(kubeConfigFor(server.url), CONFIG_MAPS);
  await using informer = new SharedIndexInformer(source, CONFIG_MAPS, { list: { watchList: 'off' } });
  void informer.run();
  await informer.waitForSync();
  assert.equal(informer.getIndexer().listKeys().length, 4);

  const changes: string[] = [];
  const failureFunc = ({ message }: Error): void => void changes.push(message);
  const detector = new CacheMutationDetector({ failureFunc });
  const object = JSON.parse(objectOf(named('deep'), `,"spec":${DEEP}`)) as { spec: unknown };
  detector.addObject(object);
  detector.compareObjects();
  object.spec = 1;
  detector.compareObjects();
  assert.equal(changes.length, 1);

  const schema = `${'{"not":'.repeat(LEVELS)}{}${'}'.repeat(LEVELS)}`;
  const versions = `[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":${schema}}}]`;
  const crd = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{},"spec":{"versions":${versions}}}`;
  assert.throws(() => toModel(JSON.parse(crd)), { code: 'ERR_KUBELOOM_NO_MODEL' });
});

test('C321 the embedded apiserver refuses a deep object with a code, or stores it, and serves the others', async () => {
  await using server = await startEmbeddedApiServer({ isolation: 'none' });
  const config = server.connection;
  const client = new ObjectClient(config);
  const deep = { metadata: { name: 'deep', namespace: 'default' }, data: DEEP_VALUE };
  // Newer versions of Node write such an object, and the server stores it.
  const refusedAs =
    (code: string) =>
    (error: unknown): void =>
      assert.equal((error as { code?: string }).code, code);
  await client.create(CONFIG_MAPS, deep).catch(refusedAs('ERR_KUBELOOM_BAD_REQUEST'));
  const change = { type: 'put', resource: 'configmaps', object: deep } as const;
  await server.apply([change] as never).catch(refusedAs('ERR_KUBELOOM_REJECTED'));
  const plain = { metadata: { name: 'plain', namespace: 'default' } };
  await client.create(CONFIG_MAPS, plain);
});

const TWICE = {
  'a name': objectOf(named('x', ',"name":"y"')),
  'a late name': objectOf(named('x', ',"creationTimestamp":null,"managedFields":[],"name":"y"')),
  'a namespace': objectOf(named('x', ',"namespace":"e"')),
  'a uid': objectOf(named('x', ',"uid":"v"')),
  'a version': objectOf(named('x', ',"resourceVersion":"8"')),
  labels: objectOf(named('x', ',"labels":{"a":"b"},"labels":{"a":"c"}')),
  'labels with more names': objectOf(named('x', ',"labels":{},"labels":{"a":"c"}')),
  metadata: objectOf(named('x'), ',"metadata":{"name":"y"}'),
};

test('C322 an object has one identity, whatever its JSON names twice', async (context) => {
  for (const codec of ['json', 'msgpack'] as const) {
    for (const [what, item] of Object.entries(TWICE)) {
      const { informer, codes } = await synced(context, [item], { codec });
      const [entry] = informer.getIndexer().list();
      assert.ok(entry);
      assert.equal(entry.key, 'd/x', what);
      assert.throws(() => entry.object, { message: /has two values of metadata\.\w+.*entry\.bytes/ }, what);
      assert.throws(() => entry.object, { code: 'ERR_KUBELOOM_MALFORMED_OBJECT' }, what);
      assert.throws(() => entry.copy(), { code: 'ERR_KUBELOOM_MALFORMED_OBJECT' }, what);
      await until(() => codes.length > 0);
      assert.deepEqual(codes, ['ERR_KUBELOOM_MALFORMED_OBJECT'], 'reported once');
      await informer.shutdown();
    }
  }
});

test('C322 escapes in an identity do not make a second identity', async (context) => {
  const item = String.raw`"name":"\u0078","namespace":"\u0064","uid":"\u0075","resourceVersion":"\u0037","labels":{"\u0061":"\u0062"}`;
  const { informer } = await synced(context, [objectOf(item)], {});
  const [entry] = informer.getIndexer().list();
  assert.deepEqual(
    [entry?.key, entry?.uid, entry?.resourceVersion, entry?.labels],
    ['d/x', 'u', '7', { a: 'b' }],
  );
  assert.deepEqual(entry?.object['metadata'], { ...JSON.parse(`{${item}}`) });
});

const NO_TEXT = ['name', 'namespace', 'uid', 'resourceVersion'].flatMap((key) =>
  ['7', 'true', '{}', '["x"]'].map((value) =>
    objectOf(named('x').replace(new RegExp(`"${key}":"[^"]*"`), `"${key}":${value}`)),
  ),
);

test('C323 an object whose identity is not text is skipped with a code, and null counts as absent', async (context) => {
  const nulls = '"name":"n","namespace":null,"uid":null,"resourceVersion":"7"';
  const items = [objectOf(named('a')), ...NO_TEXT, objectOf(nulls), objectOf(named('z'))];
  const { informer, codes } = await synced(context, items, {});
  assert.deepEqual(informer.getIndexer().listKeys().toSorted(), ['d/a', 'd/z', 'n']);
  await until(() => codes.length > 0);
  assert.deepEqual([...new Set(codes)], ['ERR_KUBELOOM_UNEXPECTED_OBJECT']);
});

test('C323 a reflector on a store rejects the list of an object whose namespace is not text', async (context) => {
  const server = await BareServer.serving(context, [NO_TEXT[4] ?? '']);
  const store = newIndexer<object>(metaNamespaceKeyFunc, {});
  const codes: string[] = [];
  const source = newListWatchFromClient<object>(kubeConfigFor(server.url), CONFIG_MAPS);
  const reflector = new Reflector<object>(source, undefined, store, {
    watchList: 'off',
    watchErrorHandler: (error) => codes.push((error as { code?: string }).code ?? String(error)),
  });
  const stop = new AbortController();
  const running = reflector.run({ signal: stop.signal });
  await until(() => codes.length > 0);
  stop.abort();
  await running;
  assert.equal(codes[0], 'ERR_KUBELOOM_STORE_WRITE');
});
