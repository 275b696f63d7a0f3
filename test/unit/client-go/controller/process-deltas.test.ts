/**
 * Tests of the way from popped deltas to store and handler, one by one and in batches: client-go's controller_test.go.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newStore } from '../../../../src/client-go/cache/indexed-store.ts';
import { deletionHandlingMetaNamespaceKeyFunc } from '../../../../src/kube/keys.ts';
import type { Store } from '../../../../src/kube/store.ts';
import { tombstone } from '../../../../src/kube/tombstone.ts';
import { TransactionError } from '../../../../src/client-go/cache/thread-safe-store.ts';
import type { TransactionStore } from '../../../../src/client-go/cache/thread-safe-store.ts';
import { processDeltas, processDeltasInBatch } from '../../../../src/client-go/controller/process-deltas.ts';
import type { Deltas } from '../../../../src/client-go/queue/delta.ts';
import { RecordingHandler } from './scene.ts';
import { pod } from './scripted-lister-watcher.ts';
import type { Pod } from './scripted-lister-watcher.ts';

const newPods = (): Store<Pod> & TransactionStore<Pod> => newStore<Pod>(deletionHandlingMetaNamespaceKeyFunc);
const scene = () => ({ store: newPods(), handler: new RecordingHandler() });
const replacedAll = (resourceVersion: string, objects: readonly Pod[]): Deltas<Pod> => [
  { type: 'ReplacedAll', resourceVersion, objects },
];
const added = (name: string) => ({ type: 'Added', object: pod(name) }) as const;
const nameless: Pod = JSON.parse('{"kind":"Pod","metadata":{}}');

test('A deletion is delivered whether or not the object was known, and a tombstone moves no version', async () => {
  const { store, handler } = scene();
  await processDeltas(handler, store, [{ type: 'Deleted', object: pod('never', 1) }], false);
  store.add(pod('foo', 5));
  await processDeltas(handler, store, [{ type: 'Deleted', object: tombstone('foo', pod('foo', 4)) }], false);
  assert.deepEqual(handler.calls, ['delete never@1', 'missing foo foo@4']);
  assert.deepEqual(store.listKeys(), []);
  assert.equal(store.lastStoreSyncResourceVersion(), '5');
});

test('A whole list replaces the store at once; then missing objects and the list are delivered, in this order', async () => {
  const { store, handler } = scene();
  for (const name of ['gone', 'kept', 'lost']) store.add(pod(name, 1));
  const contents: string[] = [];
  handler.onCall = (): unknown => contents.push(store.listKeys().join(' '));
  const objects = [pod('new', 7), pod('kept', 6), pod('newer', 8)];
  await processDeltas(handler, store, replacedAll('9', objects), true);
  assert.deepEqual(handler.calls, [
    'missing gone gone@1',
    'missing lost lost@1',
    'add new@7 initial',
    'update kept@1 kept@6',
    'add newer@8 initial',
  ]);
  assert.deepEqual(new Set(contents), new Set(['new kept newer']));
  assert.equal(store.lastStoreSyncResourceVersion(), '9');
});

test('C125 One object without a key is an error, and the rest of the list is stored and delivered', async () => {
  const { store, handler } = scene();
  const objects = [pod('foo', 1), nameless, pod('bar', 2)];
  const processing = processDeltas(handler, store, replacedAll('2', objects), false);
  await assert.rejects(processing, { code: 'ERR_KUBELOOM_KEY' });
  assert.deepEqual(handler.calls, ['add foo@1', 'add bar@2']);
  assert.deepEqual(store.listKeys(), ['foo', 'bar']);
});

test('C130 A list that the store rejects is not delivered', async () => {
  const { store, handler } = scene();
  store.replace = (): void => {
    throw new Error('refused');
  };
  await assert.rejects(processDeltas(handler, store, replacedAll('2', [pod('foo', 1)]), false), /refused/);
  assert.deepEqual(handler.calls, []);
});

test('C125 When a handler throws, the other calls are made; all its errors are thrown at the end', async () => {
  const { store, handler } = scene();
  handler.onCall = (call): void => {
    if (!call.includes('bar')) throw new Error(`not ${call}`);
  };
  const objects = [pod('foo', 1), pod('bar', 2), pod('baz', 3)];
  await assert.rejects(
    processDeltas(handler, store, replacedAll('3', objects), false),
    (error: Error & { code?: string }) =>
      error.code === 'ERR_KUBELOOM_PROCESS' &&
      error.message === '2 errors: not add foo@1; not add baz@3' &&
      error.cause instanceof AggregateError,
  );
  assert.equal(handler.calls.length, 3);
  await assert.rejects(processDeltas(handler, store, [{ type: 'SyncAll' }], false), { message: /^2 errors/ });
});

test('The promise of a handler is awaited before its next call', async () => {
  const store = newPods();
  const order: string[] = [];
  const handler = {
    async onAdd(object: Pod): Promise<void> {
      order.push(`begin ${object.metadata.name}`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`end ${object.metadata.name}`);
    },
  };
  const deltas = [added('foo'), added('bar')];
  await processDeltas(handler, store, deltas, false);
  await processDeltasInBatch(handler, newPods(), deltas, false);
  const once = ['begin foo', 'end foo', 'begin bar', 'end bar'];
  assert.deepEqual(order, [...once, ...once]);
});

test('A value that is not a delta is an error', async () => {
  const broken = JSON.parse('[{"type":"Whatever","object":{}}]');
  const handler = new RecordingHandler();
  await assert.rejects(processDeltas(handler, newPods(), broken, false), { code: 'ERR_KUBELOOM_OPTION' });
  const whole = [{ type: 'Added', object: pod('foo') }, { type: 'SyncAll' }] as const;
  const store = newPods();
  await assert.rejects(processDeltasInBatch(handler, store, whole, false), {
    code: 'ERR_KUBELOOM_OPTION',
  });
  assert.deepEqual([store.size, handler.calls], [0, []]);
});

test('A batch is one transaction, and the handler is called in its order after all of it is stored', async () => {
  const { store, handler } = scene();
  for (const name of ['old', 'gone']) store.add(pod(name, 1));
  const sizes: number[] = [];
  handler.onCall = (): unknown => sizes.push(store.size);
  const deltas = [
    { type: 'Added', object: pod('a', 2) },
    { type: 'Updated', object: pod('old', 3) },
    { type: 'Deleted', object: tombstone('gone', pod('gone', 1)) },
    { type: 'Replaced', object: pod('b', 5) },
    { type: 'Deleted', object: pod('never', 6) },
  ] as const;
  await processDeltasInBatch(handler, store, deltas, true);
  assert.deepEqual(handler.calls, [
    'add a@2 initial',
    'update old@1 old@3',
    'missing gone gone@1',
    'add b@5 initial',
    'delete never@6',
  ]);
  assert.deepEqual(new Set(sizes), new Set([3]));
  assert.equal(store.lastStoreSyncResourceVersion(), '6');
});

test('C130 A write of a batch that failed is not delivered, and is in the error', async () => {
  for (const [total, failing] of [
    [1, []],
    [1, [0]],
    [2, [1]],
    [3, [1]],
  ] as const) {
    const store = newPods();
    const errors = failing.map((index) => new Error(`no ${index}`));
    const indices = Array.from({ length: total }, (_, index) => index);
    const successful = indices.filter((index) => !failing.some((failed) => failed === index));
    store.transaction = (): TransactionError | undefined =>
      errors.length > 0 ? new TransactionError(successful, total, errors) : undefined;
    const handler = new RecordingHandler();
    const deltas = indices.map((index) => added(`pod-${index}`));
    const processing = processDeltasInBatch(handler, store, deltas, false);
    const message = new RegExp(`failed to execute \\(1/${total}\\) transactions`);
    await (failing.length === 0 ? processing : assert.rejects(processing, { message }));
    assert.deepEqual(
      handler.calls,
      successful.map((index) => `add pod-${index}@1`),
    );
  }
});

test('An object without a key in a batch is left out, and the others are stored', async () => {
  const { store, handler } = scene();
  const deltas = [added('foo'), { type: 'Added', object: nameless } as const];
  await assert.rejects(processDeltasInBatch(handler, store, deltas, false), {
    code: 'ERR_KUBELOOM_TRANSACTION',
  });
  assert.deepEqual(handler.calls, ['add foo@1']);
});

test('A store without transactions receives a batch one by one, and its errors are thrown at the end', async () => {
  const store = newPods();
  const add = (item: Pod): void => {
    if (item.metadata.name === 'foo') throw new Error('refused');
  };
  const plain = Object.assign<Store<Pod>, object>(store, { add, transaction: undefined });
  const handler = new RecordingHandler();
  const deltas = [added('foo'), added('bar')];
  await assert.rejects(processDeltasInBatch(handler, plain, deltas, false), /refused/);
  assert.deepEqual(handler.calls, ['add bar@1']);
});
