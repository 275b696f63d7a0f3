/** Backlog and size: the consequences for a handler that is behind, and for a large object. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import type { Borrowed } from '../../src/index.ts';
import { Entry, EntryFlag } from '../../src/replica/store/entry.ts';
import { configurationWasUsed } from './configuration.ts';
import { Scene, Witness, pod } from './scene.ts';
import type { Reported } from './scene.ts';

const BLOCK_BYTES = 4 * 2 ** 20;

test('C21 only the handler that is behind has a backlog, in notifications and bytes', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer();
  const held = scene.gate();
  const slow = new Witness(() => held.opened);
  const quick = new Witness();
  const behind = informer.addEventHandler(slow);
  const level = informer.addEventHandler(quick);
  await scene.synced(informer);
  const padding = 'x'.repeat(1000);
  for (let round = 0; round < 10; round++) {
    await scene.put(
      ...Array.from({ length: 10 }, (_, index) => pod(`pod-${index}`, { round: `${round}`, padding })),
    );
  }
  await quick.count(100);
  assert.equal(behind.backlog.notifications, 99);
  assert.ok(
    behind.backlog.bytes > 90 * 500 && behind.backlog.bytes < 100 * 3000,
    `${behind.backlog.bytes} bytes`,
  );
  assert.deepEqual([level.backlog.notifications, level.backlog.bytes], [0, 0]);
  held.open();
  await slow.count(100);
  await scene.until(() => behind.backlog.notifications === 0);
  assert.equal(behind.backlog.bytes, 0);
  assert.deepEqual(slow.lines, quick.lines);
});

test('C68 full rings and a full log neither drop nor coalesce changes', async () => {
  await using scene = await Scene.start({
    server: { isolation: 'thread' },
    threads: { logBytes: BLOCK_BYTES, ringBytes: 2 ** 14, objectBytesMax: 2 ** 20 },
  });
  const informer = scene.informer();
  const witness = new Witness(({ version }) => {
    if (Number(version) % 500 === 0) block(30);
  });
  await scene.watched(informer, witness);
  const padding = 'x'.repeat(2000);
  const versions: string[] = [];
  for (let round = 0; round < 4; round++) {
    const objects = Array.from({ length: 1000 }, (_, index) =>
      pod(`pod-${index % 300}`, { step: `${round}-${index}` }),
    );
    for (const { metadata } of objects) Object.assign(metadata ?? {}, { annotations: { padding } });
    const written = scene.put(...objects);
    block(50);
    versions.push(...(await written));
  }
  await witness.count(4000);
  assert.deepEqual(
    witness.calls.map(({ version }) => version),
    versions,
  );
  await scene.assertEqualsServer(informer);
});

test('C179 a handler that is far behind receives coalesced changes and the same final state, and the others receive all', async () => {
  await using scene = await Scene.start({ threads: { backlogBytesMax: 2 ** 17 } });
  const informer = scene.informer();
  const held = scene.gate();
  const slow = new Witness(() => held.opened);
  const prompt = new Witness();
  informer.addEventHandler(slow, { name: 'slow' });
  informer.addEventHandler(prompt);
  await scene.synced(informer);
  const padding = 'x'.repeat(2000);
  const versions: string[] = [];
  for (let round = 0; round < 40; round++) {
    const pods = Array.from({ length: 10 }, (_, index) => pod(`pod-${index}`, { round: `${round}` }));
    for (const { metadata } of pods) Object.assign(metadata ?? {}, { annotations: { padding } });
    versions.push(...(await scene.put(...pods)));
  }
  await prompt.count(400);
  assert.deepEqual(
    prompt.calls.map(({ version }) => version),
    versions,
  );
  await scene.untilReported(() => scene.errors.length > 0);
  assert.deepEqual(scene.codes(), ['ERR_KUBELOOM_BACKLOG_COALESCED']);
  assert.match(scene.errors[0]?.message ?? '', /event handler slow .*131072/);
  held.open();
  await slow.until(() => slow.calls.at(-1)?.version === versions.at(-1));
  const { coalesced } = informer.health;
  assert.ok(coalesced > 0, `${coalesced} merged`);
  assert.equal(slow.calls.length + coalesced, 400);
  const known = new Map<string, string>();
  for (const { type, key, version, oldVersion } of slow.calls) {
    assert.equal(known.get(key) ?? '', oldVersion, `${type} ${key}`);
    known.set(key, version);
  }
  const received = slow.calls.map(({ version }) => Number(version));
  assert.deepEqual(
    received,
    received.toSorted((one, other) => one - other),
  );
});

test('C181 a handler that never returns is removed before its backlog takes all memory, and the others continue', async () => {
  const backlogBytesMax = 2 ** 16;
  await using scene = await Scene.start({ threads: { backlogBytesMax, backlogTimeoutMs: 200 } });
  const informer = scene.informer();
  const held = scene.gate();
  const stuck = new Witness(({ type }) => (type === 'update' ? held.opened : undefined));
  const prompt = new Witness();
  const registration = informer.addEventHandler(stuck, { name: 'stuck' });
  const other = informer.addEventHandler(prompt);
  await scene.synced(informer);
  const padding = 'x'.repeat(2000);
  const versions: string[] = [];
  for (let round = 0; round < 4; round++) {
    const pods = Array.from({ length: 60 }, (_, index) => pod(`pod-${index}`, { round: `${round}` }));
    for (const { metadata } of pods) Object.assign(metadata ?? {}, { annotations: { padding } });
    versions.push(...(await scene.put(...pods)));
  }
  await prompt.count(240);
  assert.deepEqual(
    prompt.calls.map(({ version }) => version),
    versions,
  );
  const overflow = (): Reported | undefined =>
    scene.errors.find(({ code }) => code === 'ERR_KUBELOOM_HANDLER_OVERFLOW');
  await scene.untilReported(() => overflow() !== undefined);
  assert.ok(scene.codes().includes('ERR_KUBELOOM_BACKLOG_PAUSED'));
  assert.match(overflow()?.message ?? '', /event handler stuck .*65536/);
  assert.equal(registration.failure?.code, 'ERR_KUBELOOM_HANDLER_OVERFLOW');
  assert.equal(other.failure, undefined);
  assert.deepEqual([registration.backlog.notifications, registration.backlog.bytes], [0, 0]);
  assert.ok(stuck.calls.length < 100, `${stuck.calls.length} calls`);
  held.open();
  await scene.put(pod('last'));
  await prompt.count(241);
  assert.ok(!stuck.names.includes('add last'));
  await scene.assertEqualsServer(informer);
});

/** Blocks the main thread. */
function block(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

function big(name: string, bytes: number): V1Pod {
  const object = pod(name);
  object.metadata = { ...object.metadata, annotations: { filler: 'é'.repeat(bytes / 2) } };
  return object;
}

test('C22 an object above objectBytesMax is in the cache in its order, with identity and version', async () => {
  await using scene = await Scene.start({ threads: { objectBytesMax: 8192 } });
  const informer = scene.informer();
  const witness = new Witness();
  await scene.put(pod('a'), big('big', 20_000), pod('c'));
  await scene.watched(informer, witness);
  assert.deepEqual(witness.names, ['add a', 'add big', 'add c']);
  const [version = ''] = await scene.put(big('big', 300_000));
  await scene.put(big('new', 9_000), pod('z'));
  await witness.count(6);
  assert.deepEqual(witness.names.slice(3), ['update big', 'add new', 'add z']);
  const store = informer.getStore();
  const entry = store.getByKey('default/big');
  assert.deepEqual([entry?.name, entry?.resourceVersion], ['big', version]);
  for (const name of ['big', 'new']) {
    const cached = store.getByKey(`default/${name}`);
    const tooLarge = { code: 'ERR_KUBELOOM_OBJECT_TOO_LARGE', message: new RegExp(`default/${name}.*8192`) };
    assert.throws(() => cached?.object, tooLarge);
    assert.throws(() => cached?.bytes(), tooLarge);
  }
  await scene.put(pod('big'));
  await witness.count(7);
  assert.equal(store.getByKey('default/big')?.object.spec?.nodeName, 'node-3');
  await scene.assertEqualsServer(informer);
});

test('C69 objects of megabytes arrive complete and in order', async () => {
  await using scene = await Scene.start({
    server: { requestBytesMax: 2 ** 26, isolation: 'thread' },
    threads: { logBytes: 4 * BLOCK_BYTES, objectBytesMax: BLOCK_BYTES, ringBytes: 2 ** 16 },
  });
  const informer = scene.informer();
  const witness = new Witness();
  await scene.put(big('a', 2 ** 20), pod('b'), big('c', 3 * 2 ** 20));
  await scene.watched(informer, witness);
  await scene.put(big('d', 3 * 2 ** 20), pod('e'), big('f', 2 ** 21), big('g', 3 * 2 ** 20), pod('h'));
  await witness.count(8);
  assert.deepEqual(witness.names.join(), 'add a,add b,add c,add d,add e,add f,add g,add h');
  const sizes = ['a', 'c', 'd', 'f', 'g'].map((name) => {
    const object = informer.getStore().getByKey(`default/${name}`)?.object;
    return object?.metadata?.annotations?.['filler']?.length;
  });
  assert.deepEqual(sizes, [2 ** 19, 3 * 2 ** 19, 3 * 2 ** 19, 2 ** 20, 3 * 2 ** 19]);
});

test('C197 objects that have not changed for a while take a fraction of their size and read as the server sent them', async () => {
  await using scene = await Scene.start({ threads: { packAfterMs: 1 } });
  const names = Array.from({ length: 60 }, (_, index) => `pod-${index}`);
  const write = (step: string): Promise<unknown> => scene.put(...names.map((name) => padded(name, step)));
  await write('first');
  const informer = scene.informer();
  const received: string[] = [];
  informer.addEventHandler({ onUpdate: (old, now) => void received.push(`${stepOf(old)} ${stepOf(now)}`) });
  await scene.synced(informer);
  const store = informer.getStore();
  await scene.until(() => store.list().every(isPacked));
  for (const { object, name } of store.list()) assert.deepEqual(object.spec, padded(name, 'first').spec);
  const kept = store.list();
  await write('second');
  await scene.until(() => received.length === names.length);
  assert.deepEqual([...new Set(received)], ['first second']);
  assert.deepEqual([...new Set(kept.map(stepOf))], ['first']);
  await scene.until(() => store.list().every(isPacked));
  const late = new Witness();
  await informer.waitForSync(undefined, informer.addEventHandler(late));
  assert.equal(late.calls.length, names.length);
  assert.deepEqual([...new Set(store.list().map(stepOf))], ['second']);
  await scene.assertEqualsServer(informer);
});

function padded(name: string, step: string): V1Pod {
  const made = pod(name);
  return { ...made, metadata: { ...made.metadata, annotations: { step, padding: 'x'.repeat(6000) } } };
}

function stepOf({ object }: Borrowed<V1Pod>): string {
  return object.metadata?.annotations?.['step'] ?? '';
}

function isPacked(entry: Borrowed<V1Pod>): boolean {
  assert.ok(entry instanceof Entry);
  return (entry.flags & EntryFlag.Packed) !== 0;
}

configurationWasUsed();
