/** The cache: the results of queries, and the order of changes and handler calls. */
import assert from 'node:assert/strict';
import type { V1Pod } from '@kubernetes/client-node';
import { label } from '../../src/index.ts';
import type { Borrowed, CachedObject } from '../../src/index.ts';
import { bookmark, list, status, wirePod } from '../kit/scripted-server.ts';
import { RecordingHandler, configurationWasUsed, deletion, pod, pods, put, test } from './scene.ts';
import { HANG_MS } from '../kit/hang.ts';

test('C5 a relist replaces the whole cache and its indices at once', async (scene) => {
  const informer = scene.informer({ indexers: { generation: label('generation') } });
  const indexer = informer.getIndexer();
  const generation = (number: number): V1Pod[] => {
    const names = Array.from({ length: 1200 }, (_, index) => `pod-${index + number * 400}`);
    return names.map((name) => pod(name, { generation: `${number}` }));
  };
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
  await scene.watched(informer, new RecordingHandler(look));
  const looking = setInterval(look, 0);
  for (let number = 2; number <= 4; number++) {
    const gone = generation(number - 1).slice(0, 400);
    const deletions = gone.map(({ metadata }) => deletion(metadata?.name ?? ''));
    await scene.relisted(informer, ...deletions, ...generation(number).map(put));
    look();
    assert.deepEqual(indexer.listIndexFuncValues('generation'), [`${number}`]);
  }
  clearInterval(looking);
  assert.deepEqual(mixed, []);
  assert.equal(indexer.size, 1200);
});

test('C28 no synchronous call changes the cache or calls a handler', async (scene) => {
  await scene.populate(50);
  const informer = scene.informer();
  const moves: string[] = [];
  let looks = 0;
  const look = (): void => {
    if (looks++ > 300) return;
    const before = informer.lastSyncResourceVersion();
    const keys = informer.getStore().listKeys().length;
    const other = new RecordingHandler();
    const registration = informer.addEventHandler(other);
    const list = informer.getIndexer().list();
    for (const entry of list) void entry.object;
    informer.removeEventHandler(registration);
    const after = informer.lastSyncResourceVersion();
    if (before !== after || other.calls.length > 0 || list.length !== keys) moves.push(`${before} ${after}`);
  };
  const handler = new RecordingHandler(look);
  await scene.watched(informer, handler);
  const { toRevision } = await scene.server.load({ rate: 'max', durationMs: HANG_MS, eventsMax: 1_000 });
  await handler.reached(toRevision);
  assert.deepEqual(moves, []);
});

test('C6 when a handler is called, cache and indices have the change or a later one', async (scene) => {
  const informer = scene.informer({ indexers: { step: label('step') } });
  const indexer = informer.getIndexer();
  const behind: string[] = [];
  const handler = new RecordingHandler(({ type, key, version }) => {
    const cached = indexer.getByKey(key);
    const step = cached?.labels['step'] ?? '';
    const isIndexed = cached === undefined || indexer.indexKeys('step', step).includes(key);
    const isGone = type === 'delete' && cached === undefined;
    const isThere = cached !== undefined && Number(cached.resourceVersion) >= Number(version);
    if (!(isGone || isThere) || !isIndexed) behind.push(`${type} ${key}@${version}`);
  });
  await scene.watched(informer, handler);
  for (let step = 0; step < 10; step++) {
    await scene.put(...pods(10, { step: `${step}` }));
    await handler.count(10 * (step + 1));
  }
  await scene.remove('pod-3');
  await handler.count(101);
  assert.deepEqual(behind, []);
  assert.deepEqual(indexer.listIndexFuncValues('step'), ['9']);
});

test('C29 C15 a handler receives the same entry as the cache and every query', async (scene) => {
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
  const handler = new RecordingHandler();
  informer.addEventHandler({
    onAdd: compare,
    onUpdate: (previous, current) => {
      findings.push(previous === previousEntry);
      compare(current);
    },
  });
  await scene.watched(informer, handler);
  await scene.put(pod('a', { app: 'web' }));
  await handler.count(1);
  await scene.until(() => findings.length === 5);
  await scene.put(pod('a', { app: 'web', step: '2' }));
  await handler.count(2);
  await scene.until(() => findings.length === 11);
  assert.ok(findings.every(Boolean), String(findings));
});

test('C30 a change of a copy affects only the caller', async (scene) => {
  await scene.put(pod('a', { app: 'web' }));
  const { informer } = await scene.watching();
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

test('C31 an unchanged object keeps its entry in a relist', async (scene) => {
  await scene.put(pod('kept'), pod('changed'));
  const { informer } = await scene.watching();
  const store = informer.getStore();
  const [changed, kept] = store.list();
  await scene.relisted(informer, put(pod('changed', { app: 'new' })));
  assert.equal(store.getByKey('default/kept'), kept);
  assert.notEqual(store.getByKey('default/changed'), changed);
  assert.equal(changed?.object.metadata?.labels?.['app'], undefined);
});

for (const way of ['LIST', 'WatchList'] as const) {
  test(`C200 an object that changed without a new version is an update after a relist by ${way}`, async (scene) => {
    const texts = ['old', 'new', 'new'];
    let lists = 0;
    const { informer, handler } = await scene.followed(
      (request) => {
        const isList = way === 'LIST' ? !request.isWatch : request.isStreamingList;
        if (isList) lists++;
        const changed = wirePod('changed', '5', { spec: { nodeName: texts[lists - 1] } });
        const all = [changed, wirePod('same', '6')];
        if (!request.isWatch) return request.answer(200, list(`${lists}0`, all));
        if (isList) request.send(...all.map((object) => ({ type: 'ADDED', object })));
        if (isList) request.send(bookmark(`${lists}0`, true));
        if (lists < texts.length) request.send({ type: 'ERROR', object: status(410, 'Expired') });
      },
      { list: { watchList: way === 'LIST' ? 'off' : 'auto' } },
    );
    await informer.waitForSync();
    const same = informer.getStore().getByKey('default/same');
    await scene.until(() => informer.lastSyncResourceVersion() === '30');
    assert.equal(informer.getStore().getByKey('default/changed')?.object.spec?.nodeName, 'new');
    assert.equal(informer.getStore().getByKey('default/same'), same);
    await handler.until(() => handler.names.filter((name) => name === 'update same').length === 2);
    const changes = handler.lines.filter((_, at) => handler.calls[at]?.isSame === false);
    assert.deepEqual(changes, ['add default/changed@5', 'add default/same@6', 'update default/changed@5']);
  });
}

configurationWasUsed();
