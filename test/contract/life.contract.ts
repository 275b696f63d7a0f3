/** Lifecycle of an informer, and validity of entries. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { V1Pod } from '@kubernetes/client-node';
import { InformerThreads, SharedIndexInformer, label } from '../../src/index.ts';
import type { Borrowed, CachedObject, InformerOptions, ThreadsOptions } from '../../src/index.ts';
import {
  CODEC,
  PODS,
  RecordingHandler,
  THREADS,
  configurationWasUsed,
  kubeConfigOf,
  pod,
  start,
  test,
  turns,
} from './scene.ts';
import { HANG_MS } from '../kit/hang.ts';

const CHILD = fileURLToPath(new URL('./process-child.js', import.meta.url));

test('C19 an informer is created, runs and stops, each once and in that order', async (scene) => {
  const informer = scene.informer();
  assert.deepEqual(
    [informer.hasStarted(), informer.isStopped(), informer.hasSynced()],
    [false, false, false],
  );
  const abort = new AbortController();
  const run = informer.run({ signal: abort.signal });
  assert.equal(informer.hasStarted(), true);
  await informer.waitForSync();
  assert.equal(informer.isStopped(), false);
  await assert.rejects(informer.run(), { code: 'ERR_KUBELOOM_STARTED' });
  abort.abort();
  await run;
  assert.deepEqual([informer.isStopped(), informer.hasSynced()], [true, true]);
  await assert.rejects(informer.run(), { code: 'ERR_KUBELOOM_STARTED' });
  const never = scene.informer();
  await never[Symbol.asyncDispose]();
  assert.equal(never.isStopped(), true);
  await assert.rejects(never.waitForSync(), { code: 'ERR_KUBELOOM_STOPPED' });
  await assert.rejects(never.run(), { code: 'ERR_KUBELOOM_STARTED' });
});

test('C58 a transform and a watch error handler can be set until the informer runs, and the last one applies', async (scene) => {
  await scene.failRequests(500, 2);
  const informer = scene.informer();
  const handled: string[] = [];
  informer.setWatchErrorHandler(() => void handled.push('first'));
  informer.setWatchErrorHandler(() => void handled.push('last'));
  const mark = (name: string) => (object: V1Pod) =>
    ({ ...object, spec: { ...object.spec, nodeName: name } }) as V1Pod;
  informer.setTransform(mark('first'));
  informer.setTransform(mark('last'));
  await scene.put(pod('a'));
  await scene.synced(informer);
  assert.equal(informer.getStore().getByKey('default/a')?.object.spec?.nodeName, 'last');
  assert.ok(handled.length > 0 && handled.every((name) => name === 'last'));
  const started = { code: 'ERR_KUBELOOM_STARTED' };
  assert.throws(() => informer.setTransform(mark('late')), started);
  assert.throws(() => informer.setWatchErrorHandler(() => undefined), started);
});

test('C59 handlers and indexers can be added until the informer stops, and removed at any time', async (scene) => {
  const informer = scene.informer();
  const registration = informer.addEventHandler({ onAdd: () => undefined });
  await scene.synced(informer);
  informer.addEventHandler({ onAdd: () => undefined });
  informer.addIndexers({ app: label('app') });
  await informer[Symbol.asyncDispose]();
  const stopped = { code: 'ERR_KUBELOOM_STOPPED' };
  assert.throws(() => informer.addEventHandler({ onAdd: () => undefined }), stopped);
  assert.throws(() => informer.addIndexers({ other: label('app') }), stopped);
  informer.removeEventHandler(registration);
  informer.removeEventHandler(registration);
  await informer.shutDownEventHandler(registration);
});

test('C60 a stopped informer has no open watch and sends no request', async (scene) => {
  const { informer } = await scene.watching();
  await scene.server.waitForWatches(1);
  await informer[Symbol.asyncDispose]();
  while ((await scene.server.watches()).length > 0) await turns(1);
  const requests = (await scene.server.requests()).length;
  const { informer: other } = await scene.watching();
  await scene.put(pod('a'));
  await scene.until(() => other.getStore().size === 1);
  assert.equal((await scene.server.requests()).length, requests + 1);
  assert.equal(informer.getStore().size, 0);
});

test('C61 a running informer keeps its process alive, a stopped one with closed threads does not', async () => {
  await using scene = await start({ server: { isolation: 'thread' } });
  const args = [CHILD, scene.server.url, scene.server.token, String(THREADS), CODEC];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: HANG_MS });
  assert.equal(stdout, 'synced, alive, ended\n');
});

test('C61 an informer whose threads are unreferenced does not keep its process alive', async () => {
  await using scene = await start({ server: { isolation: 'thread' } });
  // Sockets of the calling thread do, where an option pins it.
  const threads = THREADS === 0 ? 'auto' : String(THREADS);
  const args = [CHILD, scene.server.url, scene.server.token, threads, CODEC, 'unref'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: HANG_MS });
  assert.equal(stdout, 'synced, ended\n');
});

const WRONG_OPTIONS: readonly InformerOptions<unknown>[] = [
  { codec: 'xml' as 'json' },
  { list: { watchList: 'yes' as 'auto' } },
  { debug: { retainChecks: 'eternal' as 'off' } },
  { resyncPeriodMs: -1 },
  { list: { pageSize: 0.5 } },
  { backoff: { initialMs: 100, maxMs: 1 } },
  { fields: [''] },
  { fields: ['spec..x'] },
  { namespace: 'A B' },
  { threads: 3 as unknown as ThreadsOptions },
  { onEror: () => undefined } as InformerOptions<unknown>,
];

test('C62 a wrong option throws a coded error in the constructor of the informer or the threads', async (scene) => {
  const refused = { code: 'ERR_KUBELOOM_OPTION' };
  const kubeConfig = kubeConfigOf(scene.server);
  for (const options of WRONG_OPTIONS) {
    const make = (): unknown =>
      new SharedIndexInformer(kubeConfig, PODS, { threads: scene.threads, ...options });
    assert.throws(make, refused, JSON.stringify(options));
  }
  const selector = { threads: scene.threads, labelSelector: 'app in (' };
  const code = 'ERR_KUBELOOM_SELECTOR';
  assert.throws(() => new SharedIndexInformer(kubeConfig, PODS, selector), { code });
  const cluster = { ...PODS, resource: 'nodes', isNamespaced: false };
  assert.throws(() => new SharedIndexInformer(kubeConfig, cluster, { namespace: 'a' }), refused);
  for (const options of [{ threads: -1 }, { ringBytes: 3 }, { logBytes: 5 }, { drainBudgetMs: 0 }]) {
    assert.throws(() => new InformerThreads(options), refused, JSON.stringify(options));
  }
});

test('C63 informers share threads, and the end of one does not affect the others', async (scene) => {
  const one = scene.informer({ namespace: 'one' });
  await scene.synced(one);
  const { handler } = await scene.watching();
  await scene.put(pod('a', {}, 'one'), pod('b', {}, 'two'));
  await scene.until(() => one.getStore().size === 1);
  await one[Symbol.asyncDispose]();
  await scene.put(pod('c', {}, 'one'));
  await handler.count(3);
  assert.deepEqual(handler.names, ['add a', 'add b', 'add c']);
  assert.deepEqual(one.getStore().listKeys(), ['one/a']);
});

test('C20 C64 a borrowed object is readable until its call and promise have ended, and its identity is always readable', async (scene) => {
  const informer = scene.informer({ debug: { retainChecks: 'strict' }, fields: ['spec.nodeName'] });
  const held = scene.gate();
  const borrowed: Borrowed<V1Pod>[] = [];
  const inside: unknown[] = [];
  const registration = informer.addEventHandler({
    onAdd: async (added) => {
      borrowed.push(added);
      inside.push(added.object.spec?.nodeName);
      await held.opened;
      inside.push(added.object.spec?.nodeName, added.metadata.name);
    },
  });
  await scene.put(pod('a', { app: 'web' }));
  await scene.synced(informer);
  await scene.until(() => borrowed.length === 1);
  const [entry] = borrowed;
  assert.ok(entry);
  assert.equal(entry.object.spec?.nodeName, 'node-1');
  held.open();
  await informer.waitForSync({ registration });
  assert.deepEqual(inside, ['node-1', 'node-1', 'a']);
  const expired = { code: 'ERR_KUBELOOM_BORROW_EXPIRED' };
  for (const read of [() => entry.object, () => entry.metadata, () => entry.copy(), () => entry.bytes()])
    assert.throws(read, expired);
  assert.throws(() => entry.retain(), { ...expired, message: /life\.contract\.js/ });
  const { key, namespace, name, labels, fields } = entry;
  assert.deepEqual([key, namespace, name], ['default/a', 'default', 'a']);
  assert.deepEqual([labels['app'], fields['spec.nodeName']], ['web', 'node-1']);
  assert.ok(entry.uid !== '' && Number(entry.resourceVersion) > 0);
});

test('C65 an entry that was retained or returned by a lister is readable while it is referenced', async (scene) => {
  const informer = scene.informer({ debug: { retainChecks: 'strict' } });
  const retained: CachedObject<V1Pod>[] = [];
  const listed: (CachedObject<V1Pod> | undefined)[] = [];
  const retain = (entry: Borrowed<V1Pod>): void => void retained.push(entry.retain());
  informer.addEventHandler({ onAdd: retain, onUpdate: (_previous, current) => retain(current) });
  const handler = new RecordingHandler();
  await scene.watched(informer, handler);
  for (let step = 0; step < 50; step++) {
    await scene.put(pod('a', { step: `${step}` }), pod(`other-${step}`, { padding: 'x'.repeat(50) }));
    await handler.count(2 * step + 2);
    listed.push(informer.getStore().getByKey('default/a'));
  }
  await scene.remove('a');
  await handler.count(101);
  await scene.until(() => retained.length === 100);
  const steps = Array.from({ length: 50 }, (_, step) => `${step}`);
  const stepsOf = (entries: readonly (CachedObject<V1Pod> | undefined)[]): (string | undefined)[] =>
    entries.filter((entry) => entry?.name === 'a').map((entry) => entry?.object.metadata?.labels?.['step']);
  assert.deepEqual(stepsOf(retained), steps);
  assert.deepEqual(stepsOf(listed), steps);
});

test('C66 without borrow checks, a late read returns the right object or throws, and never returns another', async (scene) => {
  const informer = scene.informer({ debug: { retainChecks: 'off' } });
  const borrowed: { readonly entry: Borrowed<V1Pod>; readonly step: string | undefined }[] = [];
  const handler = new RecordingHandler();
  const keep = (entry: Borrowed<V1Pod>): void => void borrowed.push({ entry, step: entry.labels['step'] });
  informer.addEventHandler({ onAdd: keep, onUpdate: (_previous, current) => keep(current) });
  await scene.watched(informer, handler);
  for (let step = 0; step < 100; step++) {
    await scene.put(pod(`pod-${step % 5}`, { step: `${step}` }));
    await handler.count(step + 1);
  }
  await scene.until(() => borrowed.length === 100);
  let expired = 0;
  for (const { entry, step } of borrowed) {
    try {
      assert.equal(entry.object.metadata?.labels?.['step'], step);
    } catch (error) {
      assert.equal((error as { code?: string }).code, 'ERR_KUBELOOM_BORROW_EXPIRED');
      expired++;
    }
  }
  assert.equal(expired, 95);
});

test('C67 an entry cannot be cloned into another thread, but its bytes can', async (scene) => {
  const informer = scene.informer();
  await scene.put(pod('a'));
  await scene.synced(informer);
  const entry = informer.getStore().getByKey('default/a');
  assert.throws(() => structuredClone(entry), { code: 'ERR_KUBELOOM_CLONE' });
  const bytes = entry?.bytes() ?? Buffer.alloc(0);
  const moved = structuredClone(bytes, { transfer: [bytes.buffer as ArrayBuffer] });
  assert.deepEqual(JSON.parse(Buffer.from(moved).toString()), entry?.object);
});

test('C20 the default of retainChecks is strict unless NODE_ENV is production', async (scene) => {
  const before = process.env['NODE_ENV'];
  for (const [environment, isRefused] of [
    ['development', true],
    ['production', false],
  ] as const) {
    process.env['NODE_ENV'] = environment;
    const informer = scene.informer();
    const borrowed: Borrowed<V1Pod>[] = [];
    const registration = informer.addEventHandler({ onAdd: (added) => void borrowed.push(added) });
    await scene.put(pod('a'));
    await scene.synced(informer);
    await informer.waitForSync({ registration });
    const read = (): unknown => borrowed[0]?.object.metadata?.name;
    if (isRefused) assert.throws(read, { code: 'ERR_KUBELOOM_BORROW_EXPIRED' });
    else assert.equal(read(), 'a');
  }
  if (before === undefined) delete process.env['NODE_ENV'];
  else process.env['NODE_ENV'] = before;
});

configurationWasUsed();
