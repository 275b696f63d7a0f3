/** Identity of objects, and the order in which a handler receives changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configurationWasUsed } from './configuration.ts';
import { Scene, Witness, pod } from './scene.ts';
import { failRequests } from '../unit/apiserver/fail-requests.ts';

test('C1 a deletion and a new creation while no watch is open are one update with two uids', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer();
  const witness = new Witness();
  await scene.put(pod('a'));
  await scene.watched(informer, witness);
  await scene.relisted(
    informer,
    { type: 'delete', resource: 'pods', name: 'a' },
    { type: 'create', resource: 'pods', object: pod('a') },
  );
  await witness.count(2);
  const update = witness.calls[1];
  assert.deepEqual(witness.names, ['add a', 'update a']);
  assert.notEqual(update?.oldUid, update?.uid);
  assert.equal(update?.oldUid, witness.calls[0]?.uid);
  assert.equal(informer.getStore().size, 1);
});

test('C1 objects with the same name in two namespaces are different', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer();
  await scene.put(pod('a', {}, 'one'), pod('a', {}, 'two'));
  await scene.synced(informer);
  assert.deepEqual(informer.getStore().listKeys(), ['one/a', 'two/a']);
});

test('C2 C3 the cache converges after every end of a watch, and no object returns to an older state', async () => {
  await using scene = await Scene.start();
  await scene.populate(60);
  const informer = scene.informer();
  const witness = new Witness();
  await scene.watched(informer, witness);
  const { server } = scene;
  const breaks = [
    () => server.dropWatches({ how: 'close' }),
    () => server.dropWatches({ how: 'reset' }),
    () => server.dropWatches({ how: 'resetMidLine' }),
    () => server.expireWatches(),
    () => server.restart(),
  ];
  for (const [round, breakWatch] of breaks.entries()) {
    await server.waitForWatches(1);
    const mix = { update: 0.8, create: 0.1, delete: 0.1 };
    const load = server.load({ rate: 4000, durationMs: 100, seed: round + 1, mix });
    await breakWatch();
    const { toRevision } = await load;
    await scene.until(() => Number(informer.lastSyncResourceVersion()) >= toRevision);
    await scene.assertEqualsServer(informer);
  }
  await scene.until(() => witness.calls.length > 100);
  const versions = new Map<string, number>();
  for (const { key, version } of witness.calls) {
    assert.ok((versions.get(key) ?? 0) <= Number(version), `${key} went back to ${version}`);
    versions.set(key, Number(version));
  }
});

test("C3 a handler receives a subsequence of the server's states of each object", async () => {
  await using scene = await Scene.start();
  const from = await scene.server.revision();
  const informer = scene.informer();
  const witness = new Witness();
  await scene.put(pod('a', { step: '0' }));
  await scene.watched(informer, witness);
  for (let step = 1; step <= 20; step++) {
    if (step % 7 === 0) {
      const object = pod('a', { step: `${step}` });
      await scene.relisted(informer, { type: 'put', resource: 'pods', object });
    } else await scene.put(pod('a', { step: `${step}` }));
  }
  const last = await scene.server.revision();
  await witness.until(() => Number(witness.calls.at(-1)?.version) >= last);
  const history = Array.from(await scene.server.log('pods', from), ([revision]) => String(revision));
  const received = witness.calls.map(({ version }) => version);
  assert.deepEqual(
    received,
    history.filter((version) => received.includes(version)),
  );
  for (const [at, { oldVersion }] of witness.calls.entries()) {
    if (at > 0) assert.equal(oldVersion, received[at - 1]);
  }
});

test("C4 C7 a handler receives the changes of all objects in the server's order, each once", async () => {
  await using scene = await Scene.start();
  await scene.populate(100);
  const from = await scene.server.revision();
  const informer = scene.informer();
  const witness = new Witness();
  await scene.watched(informer, witness);
  const { toRevision } = await scene.server.load({
    rate: 'max',
    durationMs: 5_000,
    eventsMax: 1_500,
    mix: { update: 0.8, create: 0.1, delete: 0.1 },
  });
  await witness.until(() => Number(witness.calls.at(-1)?.version) >= toRevision);
  const types = { ADDED: 'add', MODIFIED: 'update', DELETED: 'delete' } as const;
  const log = await scene.server.log('pods', from);
  const expected = Array.from(
    log,
    ([revision, type, key]) => `${types[type as keyof typeof types]} ${key}@${revision}`,
  );
  assert.deepEqual(witness.lines.slice(100), expected);
  await scene.assertEqualsServer(informer);
  assert.deepEqual(scene.errors, []);
});

test('C24 the changes of a relist arrive at one position: deletions first, then the others in the order of the list', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer();
  const witness = new Witness();
  await scene.put(pod('b'), pod('d'), pod('f'), pod('h'));
  await scene.watched(informer, witness);
  await scene.relisted(
    informer,
    { type: 'put', resource: 'pods', object: pod('g') },
    { type: 'delete', resource: 'pods', name: 'f' },
    { type: 'put', resource: 'pods', object: pod('d', { new: 'yes' }) },
    { type: 'put', resource: 'pods', object: pod('a') },
    { type: 'delete', resource: 'pods', name: 'b' },
  );
  await witness.count(4 + 6);
  const [first = '', second = '', ...others] = witness.names.slice(4);
  assert.deepEqual([first, second].toSorted(), ['delete b', 'delete f']);
  assert.deepEqual(others, ['add a', 'update d', 'add g', 'update h']);
  await scene.put(pod('z'));
  await witness.count(11);
  assert.equal(witness.names.at(-1), 'add z');
});

for (const [way, options] of [
  ['a streaming list', {}],
  ['a list in pages', { watchList: 'off', pageSize: 7 }],
] as const) {
  test(`C25 the objects of ${way} arrive in its order`, async () => {
    await using scene = await Scene.start();
    const names = Array.from({ length: 60 }, (_, index) => `pod-${(index * 37) % 60}`);
    await scene.put(...names.map((name) => pod(name)));
    const informer = scene.informer(options);
    const witness = new Witness();
    // A server returns no pages for version 0; let it fail.
    await failRequests(scene.server, 410);
    await scene.watched(informer, witness);
    const order = names.toSorted().map((name) => `default/${name}`);
    assert.deepEqual(
      witness.calls.map(({ key }) => key),
      order,
    );
    assert.deepEqual(informer.getStore().listKeys(), order);
  });
}

test('C26 the cache has the objects that the selectors and the namespace select, and adds and deletes them as they change', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer({
    namespace: 'web',
    labelSelector: 'app in (a,b)',
    fieldSelector: 'metadata.name!=never',
  });
  const witness = new Witness();
  await scene.put(
    pod('in', { app: 'a' }, 'web'),
    pod('out', { app: 'c' }, 'web'),
    pod('never', { app: 'a' }, 'web'),
    pod('in', { app: 'a' }, 'other'),
  );
  await scene.watched(informer, witness);
  assert.deepEqual(informer.getStore().listKeys(), ['web/in']);
  await scene.put(pod('out', { app: 'b' }, 'web'), pod('in', { app: 'c' }, 'web'), pod('x', { app: 'b' }));
  await scene.put(pod('last', { app: 'a' }, 'web'));
  await witness.until(() => witness.names.at(-1) === 'add last');
  assert.deepEqual(witness.names, ['add in', 'add out', 'delete in', 'add last']);
  assert.deepEqual(informer.getStore().listKeys(), ['web/out', 'web/last']);
});

test('C27 objects have kind and apiVersion, from a list and from a watch', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer({ watchList: 'off' });
  const witness = new Witness();
  await scene.put(pod('listed'));
  await scene.watched(informer, witness);
  await scene.put(pod('watched'));
  await witness.count(2);
  for (const name of ['listed', 'watched']) {
    const object = informer.getStore().getByKey(`default/${name}`)?.object;
    assert.deepEqual([object?.kind, object?.apiVersion, object?.metadata?.name], ['Pod', 'v1', name]);
  }
});

configurationWasUsed();
