/** Backlog and size: the consequences for a handler that is behind, and for a large object. */
import assert from 'node:assert/strict';
import type { V1Pod } from '@kubernetes/client-node';
import type { Borrowed } from '../../src/index.ts';
import type { EntryOwner } from '../../src/replica/store/entry-owner.ts';
import { Entry, EntryFlag } from '../../src/replica/store/entry.ts';
import {
  RecordingHandler,
  THREADS,
  annotated,
  configurationWasUsed,
  pod,
  pods,
  start,
  test,
} from './scene.ts';
import type { Call, Scene } from './scene.ts';

const BLOCK_BYTES = 4 * 2 ** 20;
const PADDING: string = 'x'.repeat(2000);

/** Writes a number of pods several times, each with a padding, while `prompt` keeps up; resolves with their versions. */
async function written(
  scene: Scene,
  prompt: RecordingHandler,
  rounds: number,
  count: number,
): Promise<string[]> {
  const versions: string[] = [];
  for (let round = 0; round < rounds; round++) {
    versions.push(...(await scene.put(...pods(count, { round: `${round}` }, { padding: PADDING }))));
    await prompt.count(versions.length);
  }
  return versions;
}

test('C21 only the handler that is behind has a backlog, in notifications and bytes', async (scene) => {
  const { gate, held, registration, prompt, promptRegistration } = await scene.heldUp();
  await written(scene, prompt, 10, 10);
  const { notifications, bytes } = registration.backlog;
  assert.equal(notifications, 99);
  assert.ok(bytes > 90 * 1500 && bytes < 100 * 4000, `${bytes} bytes`);
  assert.deepEqual(promptRegistration.backlog, { notifications: 0, bytes: 0, ageMs: 0 });
  gate.open();
  await held.count(100);
  await scene.until(() => registration.backlog.notifications === 0);
  assert.equal(registration.backlog.bytes, 0);
  assert.deepEqual(held.lines, prompt.lines);
});

test('C68 full rings and a full log neither drop nor coalesce changes', async () => {
  await using scene = await start({
    server: { isolation: 'thread' },
    threads: { logBytes: BLOCK_BYTES, ringBytes: 2 ** 14, objectBytesMax: 2 ** 20 },
  });
  const { informer, handler } = await scene.watching(
    {},
    new RecordingHandler(({ version }) => {
      if (Number(version) % 500 === 0) block(30);
    }),
  );
  const versions: string[] = [];
  for (let round = 0; round < 4; round++) {
    const objects = Array.from({ length: 1000 }, (_, index) =>
      annotated(pod(`pod-${index % 300}`, { step: `${round}-${index}` }), { padding: PADDING }),
    );
    const writing = scene.put(...objects);
    block(50);
    versions.push(...(await writing));
  }
  await handler.count(4000);
  assert.deepEqual(handler.versions, versions);
  await scene.assertEqualsServer(informer);
});

test('C179 a handler that is far behind receives coalesced changes and the same final state, and the others receive all', async () => {
  await using scene = await start({ threads: { backlogBytesMax: 2 ** 17 } });
  const { informer, gate, held: slow, prompt } = await scene.heldUp(undefined, { name: 'slow' });
  const versions = await written(scene, prompt, 40, 10);
  assert.deepEqual(prompt.versions, versions);
  await scene.untilReported(() => scene.errors.length > 0);
  assert.deepEqual(scene.codes(), ['ERR_KUBELOOM_BACKLOG_COALESCED']);
  assert.match(scene.errors[0]?.message ?? '', /event handler slow .*131072/);
  gate.open();
  await slow.until(() => slow.calls.at(-1)?.version === versions.at(-1));
  const { coalesced } = informer.health;
  assert.ok(coalesced > 0, `${coalesced} merged`);
  assert.equal(slow.calls.length + coalesced, 400);
  const known = new Map<string, string>();
  for (const { type, key, version, oldVersion } of slow.calls) {
    assert.equal(known.get(key) ?? '', oldVersion, `${type} ${key}`);
    known.set(key, version);
  }
  const received = slow.versions.map(Number);
  const inOrder = received.toSorted((one, other) => one - other);
  assert.deepEqual(received, inOrder);
});

test('C179 a handler that never returns has one pending change of each object, and the others receive all', async () => {
  await using scene = await start({ threads: { backlogBytesMax: 2 ** 16 } });
  const isUpdate = ({ type }: Call): boolean => type === 'update';
  const { informer, gate, held, registration, prompt } = await scene.heldUp(isUpdate, { name: 'stuck' });
  const versions = await written(scene, prompt, 20, 60);
  assert.deepEqual(prompt.versions, versions);
  await scene.until(() => registration.backlog.notifications <= 60);
  assert.deepEqual(scene.codes(), ['ERR_KUBELOOM_BACKLOG_COALESCED']);
  gate.open();
  await held.until(() => held.calls.at(-1)?.version === versions.at(-1));
  await scene.assertEqualsServer(informer);
});

/** Blocks the main thread. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function big(name: string, bytes: number): V1Pod {
  return annotated(pod(name), { filler: 'é'.repeat(bytes / 2) });
}

test('C22 an object above objectBytesMax is in the cache in its order, with identity and version', async () => {
  await using scene = await start({ threads: { objectBytesMax: 8192 } });
  await scene.put(pod('a'), big('big', 20_000), pod('c'));
  const { informer, handler } = await scene.watching();
  assert.deepEqual(handler.names, ['add a', 'add big', 'add c']);
  const [version = ''] = await scene.put(big('big', 300_000));
  await scene.put(big('new', 9_000), pod('z'));
  await handler.count(6);
  assert.deepEqual(handler.names.slice(3), ['update big', 'add new', 'add z']);
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
  await handler.count(7);
  assert.equal(store.getByKey('default/big')?.object.spec?.nodeName, 'node-3');
  await scene.assertEqualsServer(informer);
});

test('C69 objects of megabytes arrive complete and in order', async () => {
  await using scene = await start({
    server: { requestBytesMax: 2 ** 26, isolation: 'thread' },
    threads: { logBytes: 4 * BLOCK_BYTES, objectBytesMax: BLOCK_BYTES, ringBytes: 2 ** 16 },
  });
  await scene.put(big('a', 2 ** 20), pod('b'), big('c', 3 * 2 ** 20));
  const { informer, handler } = await scene.watching();
  await scene.put(big('d', 3 * 2 ** 20), pod('e'), big('f', 2 ** 21), big('g', 3 * 2 ** 20), pod('h'));
  await handler.count(8);
  assert.deepEqual(handler.names.join(), 'add a,add b,add c,add d,add e,add f,add g,add h');
  const sizes = ['a', 'c', 'd', 'f', 'g'].map((name) => {
    const object = informer.getStore().getByKey(`default/${name}`)?.object;
    return object?.metadata?.annotations?.['filler']?.length;
  });
  assert.deepEqual(sizes, [2 ** 19, 3 * 2 ** 19, 3 * 2 ** 19, 2 ** 20, 3 * 2 ** 19]);
});

const COUNT = 60;

test('C197 objects that have not changed for a while take a fraction of their size and read as the server sent them', async () => {
  await using scene = await start({ threads: { compressAfterMs: 1 } });
  const write = (step: string): Promise<unknown> =>
    scene.put(...pods(COUNT, {}, { step, padding: 'x'.repeat(6000) }));
  await write('first');
  const informer = scene.informer();
  const received: string[] = [];
  informer.addEventHandler({ onUpdate: (old, now) => void received.push(`${stepOf(old)} ${stepOf(now)}`) });
  await scene.synced(informer);
  const store = informer.getStore();
  await scene.until(() => store.list().every(isPacked));
  for (const { object, name } of store.list()) assert.deepEqual(object.spec, pod(name).spec);
  const kept = store.list();
  await write('second');
  await scene.until(() => received.length === COUNT);
  assert.deepEqual([...new Set(received)], ['first second']);
  assert.deepEqual([...new Set(kept.map(stepOf))], ['first']);
  await scene.until(() => store.list().every(isPacked));
  const late = new RecordingHandler();
  await informer.waitForSync({ registration: informer.addEventHandler(late) });
  assert.equal(late.calls.length, COUNT);
  assert.deepEqual([...new Set(store.list().map(stepOf))], ['second']);
  await scene.assertEqualsServer(informer);
});

test('C197 objects of a list are packed when they arrive, and a change arrives as it is', async () => {
  await using scene = await start({ threads: { compressAfterMs: 1_000_000 } });
  await scene.put(...pods(COUNT, {}, { step: 'first', padding: 'x'.repeat(6000) }));
  const informer = scene.informer();
  await scene.synced(informer);
  const store = informer.getStore();
  const plain = (): string[] =>
    store
      .list()
      .filter((entry) => !isPacked(entry))
      .map(({ name }) => name);
  // The samples stay as they are.
  assert.ok(plain().length <= Math.max(1, Number(THREADS) || 1), plain().join(' '));
  for (const { object, name } of store.list()) assert.deepEqual(object.spec, pod(name).spec);
  await scene.assertEqualsServer(informer);
  const [changed = ''] = store
    .list()
    .filter(isPacked)
    .map(({ name }) => name);
  await scene.put(annotated(pod(changed), { step: 'second', padding: 'x'.repeat(6000) }));
  await scene.until(() => store.list().map(stepOf).includes('second'));
  assert.ok(plain().includes(changed), plain().join(' '));
  await scene.assertEqualsServer(informer);
});

function stepOf({ object }: Borrowed<V1Pod>): string {
  return object.metadata?.annotations?.['step'] ?? '';
}

function isPacked(entry: Borrowed<V1Pod>): boolean {
  assert.ok(entry instanceof Entry);
  return (entry.owner as EntryOwner).table.hasFlag(entry.row, EntryFlag.Packed);
}

configurationWasUsed();
