/** The cache: what a query returns, and its relation to the calls of handlers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { label } from '../../src/index.ts';
import type { Borrowed, CachedObject } from '../../src/index.ts';
import { configurationWasUsed } from './configuration.ts';
import { Scene, Witness, pod } from './scene.ts';
import { bookmark, list, status, wirePod } from './scripted-server.ts';

test('C5 a relist replaces the whole cache and its indices at once', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer({ indexers: { generation: label('generation') } });
  const indexer = informer.getIndexer();
  const generation = (number: number): V1Pod[] =>
    Array.from({ length: 1200 }, (_, index) =>
      pod(`pod-${index + number * 400}`, { generation: `${number}` }),
    );
  await scene.put(...generation(1));
  const mixed: string[] = [];
  const look = (): void => {
    const generations = new Set(indexer.list().map(({ labels }) => labels['generation']));
    const values = indexer.listIndexFuncValues('generation');
    const [value = ''] = values;
    const indexed = indexer.byIndex('generation', value).length;
    const isWhole = indexer.size === 0 || indexer.size === 1200;
    if (generations.size > 1 || values.length > 1 || indexed !== indexer.size || !isWhole) {
      mixed.push(`${indexer.size} of ${values.join()}`);
    }
  };
  // A handler with many pending calls is called between all other steps.
  await scene.watched(informer, new Witness(look));
  const looking = setInterval(look, 0);
  for (let number = 2; number <= 4; number++) {
    const gone = generation(number - 1).slice(0, 400);
    await scene.relisted(
      informer,
      ...gone.map(
        ({ metadata }) => ({ type: 'delete', resource: 'pods', name: metadata?.name ?? '' }) as const,
      ),
      ...generation(number).map((object) => ({ type: 'put', resource: 'pods', object }) as const),
    );
    look();
    assert.deepEqual(indexer.listIndexFuncValues('generation'), [`${number}`]);
  }
  clearInterval(looking);
  assert.deepEqual(mixed, []);
  assert.equal(indexer.size, 1200);
});

test('C28 no synchronous call changes the cache or calls a handler', async () => {
  await using scene = await Scene.start();
  await scene.populate(50);
  const informer = scene.informer();
  const moves: string[] = [];
  let looks = 0;
  const look = (): void => {
    if (looks++ > 300) return;
    const before = informer.lastSyncResourceVersion();
    const keys = informer.getStore().listKeys().length;
    const other = new Witness();
    const registration = informer.addEventHandler(other);
    const list = informer.getIndexer().list();
    for (const entry of list) void entry.object;
    informer.removeEventHandler(registration);
    const after = informer.lastSyncResourceVersion();
    if (before !== after || other.calls.length > 0 || list.length !== keys) moves.push(`${before} ${after}`);
  };
  const witness = new Witness(look);
  await scene.watched(informer, witness);
  const { toRevision } = await scene.server.load({ rate: 'max', durationMs: 3_000, eventsMax: 1_000 });
  await witness.until(() => Number(witness.calls.at(-1)?.version) >= toRevision);
  assert.deepEqual(moves, []);
});

test('C6 when a handler is called, cache and indices have the change or a later one', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer({ indexers: { step: label('step') } });
  const indexer = informer.getIndexer();
  const behind: string[] = [];
  const witness = new Witness(({ type, key, version }) => {
    const cached = indexer.getByKey(key);
    const step = cached?.labels['step'] ?? '';
    const isIndexed = cached === undefined || indexer.indexKeys('step', step).includes(key);
    const isGone = type === 'delete' && cached === undefined;
    const isThere = cached !== undefined && Number(cached.resourceVersion) >= Number(version);
    if (!(isGone || isThere) || !isIndexed) behind.push(`${type} ${key}@${version}`);
  });
  await scene.watched(informer, witness);
  for (let step = 0; step < 10; step++) {
    await scene.put(...Array.from({ length: 10 }, (_, index) => pod(`pod-${index}`, { step: `${step}` })));
    await witness.count(10 * (step + 1));
  }
  await scene.remove('pod-3');
  await witness.count(101);
  assert.deepEqual(behind, []);
  assert.deepEqual(indexer.listIndexFuncValues('step'), ['9']);
});

test('C29 C15 a handler receives the same entry as the cache and every query', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer({ indexers: { app: label('app') } });
  const indexer = informer.getIndexer();
  const findings: boolean[] = [];
  let previousEntry: CachedObject<V1Pod> | undefined;
  const compare = (entry: Borrowed<V1Pod>): void => {
    const cached = indexer.getByKey(entry.key);
    findings.push(cached === entry, indexer.byIndex('app', 'web')[0] === entry, indexer.get(entry) === entry);
    findings.push(indexer.list().includes(entry as CachedObject<V1Pod>), cached?.object === entry.object);
    previousEntry = cached;
  };
  const witness = new Witness();
  informer.addEventHandler({
    onAdd: compare,
    onUpdate: (previous, current) => {
      findings.push(previous === previousEntry);
      compare(current);
    },
  });
  await scene.watched(informer, witness);
  await scene.put(pod('a', { app: 'web' }));
  await witness.count(1);
  await scene.until(() => findings.length === 5);
  await scene.put(pod('a', { app: 'web', step: '2' }));
  await witness.count(2);
  await scene.until(() => findings.length === 11);
  assert.ok(findings.every(Boolean), String(findings));
});

test('C30 a change of a copy affects only the caller', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer();
  await scene.put(pod('a', { app: 'web' }));
  await scene.synced(informer);
  const entry = informer.getStore().getByKey('default/a');
  assert.ok(entry);
  const first = entry.object;
  const copy = entry.copy();
  assert.deepEqual(copy, first);
  copy.metadata = { name: 'changed' };
  delete copy.spec;
  assert.equal(entry.object.metadata?.name, 'a');
  assert.equal(entry.object.spec?.nodeName, 'node-1');
  assert.notEqual(entry.copy(), entry.copy());
  assert.deepEqual(JSON.parse(entry.bytes().toString()), entry.object);
});

test('C31 an unchanged object keeps its entry in a relist', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer();
  await scene.put(pod('kept'), pod('changed'));
  await scene.synced(informer);
  const before = informer.getStore().list();
  await scene.relisted(informer, { type: 'put', resource: 'pods', object: pod('changed', { app: 'new' }) });
  const [changed, kept] = before;
  assert.equal(informer.getStore().getByKey('default/kept'), kept);
  assert.notEqual(informer.getStore().getByKey('default/changed'), changed);
  assert.equal(changed?.object.metadata?.labels?.['app'], undefined);
});

for (const way of ['LIST', 'WatchList'] as const) {
  test(`C200 an object that changed without a new version is an update after a relist by ${way}`, async () => {
    await using scene = await Scene.start();
    const texts = ['old', 'new', 'new'];
    let lists = 0;
    const { informer } = await scene.scripted(
      (request) => {
        const isList = way === 'LIST' ? !request.isWatch : request.isStreamingList;
        if (isList) lists++;
        const changed = wirePod('changed', '5', { spec: { nodeName: texts[lists - 1] } });
        const pods = [changed, wirePod('same', '6')];
        if (!request.isWatch) return request.answer(200, list(`${lists}0`, pods));
        if (isList) request.send(...pods.map((object) => ({ type: 'ADDED', object })));
        if (isList) request.send(bookmark(`${lists}0`, true));
        if (lists < texts.length) request.send({ type: 'ERROR', object: status(410, 'Expired') });
      },
      { watchList: way === 'LIST' ? 'off' : 'auto' },
    );
    const witness = new Witness();
    await scene.watched(informer, witness);
    const same = informer.getStore().getByKey('default/same');
    await scene.until(() => informer.lastSyncResourceVersion() === '30');
    assert.equal(informer.getStore().getByKey('default/changed')?.object.spec?.nodeName, 'new');
    assert.equal(informer.getStore().getByKey('default/same'), same);
    await witness.until(() => witness.names.filter((name) => name === 'update same').length === 2);
    const changes = witness.calls.filter(({ isSame }) => !isSame);
    assert.deepEqual(
      changes.map(({ type, key, version }) => [type, key, version]),
      [
        ['add', 'default/changed', '5'],
        ['add', 'default/same', '6'],
        ['update', 'default/changed', '5'],
      ],
    );
  });
}

configurationWasUsed();
