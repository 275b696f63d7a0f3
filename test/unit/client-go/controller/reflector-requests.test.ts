/** Tests of the generic reflector's requests and their times: versions, pages, timeouts, delays, resyncs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Reflector } from '../../../../src/client-go/controller/reflector.ts';
import { KubeloomError } from '../../../../src/base/errors.ts';
import { ReflectorScene, settle, started } from './scene.ts';
import { errorEvent, added, pod, podList, statusThrown } from './scripted-lister-watcher.ts';

const podsOf = (count: number): ReturnType<typeof pod>[] =>
  Array.from({ length: count }, (_, index) => pod(`pod-${index}`));
const refused = (): Error => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const lists = (scene: ReflectorScene): string[] =>
  scene.source.calls.filter((call) => call.startsWith('LIST'));

/** Lists at this version, and then its watch fails at once. */
async function iterationAt(scene: ReflectorScene, version: string): Promise<void> {
  scene.source.listAnswers.push(podList(version, []));
  scene.source.watchAnswers.push(statusThrown(500, 'Whatever'));
  await scene.listAndWatch();
}

test('With a page size every list comes in pages of it, also at a version', async () => {
  await using scene = new ReflectorScene({ watchListPageSize: 4 });
  await iterationAt(scene, '10');
  scene.source.take();
  const all = podsOf(10);
  scene.source.listAnswers.push(podList(10, all.slice(0, 4), 'C1'), podList(10, all.slice(4, 8), 'C2'));
  await scene.listAndWatch(podList(10, all.slice(8)));
  assert.deepEqual(lists(scene), [
    'LIST {"resourceVersion":"10","limit":4}',
    'LIST {"limit":4,"continue":"C1"}',
    'LIST {"limit":4,"continue":"C2"}',
  ]);
  assert.equal(scene.store.pods.size, 10);
});

test('Without a page size a list at a version comes in one piece', async () => {
  const scene = new ReflectorScene();
  await iterationAt(scene, '10');
  await iterationAt(scene, '11');
  assert.deepEqual(lists(scene), [
    'LIST {"resourceVersion":"0","limit":500}',
    'LIST {"resourceVersion":"10"}',
  ]);
});

test('A too large resourceVersion, in each of its three forms, leads to one list of the most recent state', async () => {
  const scene = new ReflectorScene();
  const text = 'Too large resource version';
  const forms = [
    statusThrown(504, 'Timeout', { causes: [{ reason: 'ResourceVersionTooLarge' }] }),
    statusThrown(504, 'Timeout', { causes: [{ message: text }] }),
    Object.assign(statusThrown(504, 'Timeout'), { message: `${text}: 40, current: 39` }),
  ];
  await iterationAt(scene, '20');
  for (const [index, form] of forms.entries()) {
    scene.source.listAnswers.push(form);
    await iterationAt(scene, String(30 + 10 * index));
  }
  const versions = lists(scene).map((call) => /"resourceVersion":"(\d+)"/.exec(call)?.[1] ?? '');
  assert.deepEqual(versions, ['0', '20', '', '30', '', '40', '']);
});

test('An expired version leads at once, and once, to a list of the most recent state', async () => {
  const scene = new ReflectorScene();
  await iterationAt(scene, '20');
  scene.source.listAnswers.push(statusThrown(410, 'Expired'), statusThrown(410, 'Expired'));
  await scene.listAndWatch();
  assert.equal(scene.ending, 'ERR_KUBELOOM_GONE');
  assert.equal(lists(scene).length, 3);
});

test('The errors of client-node also count as responses of the server', async () => {
  const scene = new ReflectorScene();
  await iterationAt(scene, '20');
  const body = JSON.stringify({ kind: 'Status', code: 410, reason: 'Expired' });
  scene.source.listAnswers.push(Object.assign(new Error('HTTP-Code: 410'), { code: 410, body, headers: {} }));
  await iterationAt(scene, '30');
  assert.deepEqual(lists(scene).at(-1), 'LIST {"limit":500}');
});

test('A watch lasts a random time between five and ten minutes; a longer minimum is kept, a shorter one ignored', async () => {
  for (const [minWatchTimeoutMs, least, most] of [
    [0, 300, 600],
    [1000, 300, 600],
    [30 * 60_000, 1800, 3600],
  ] as const) {
    for (const [chance, expected] of [
      [0, least],
      [0.5, (least + most) / 2],
      [0.999_999, most - 1],
    ] as const) {
      const scene = await new ReflectorScene({ minWatchTimeoutMs, random: () => chance }).run(podList(1, []));
      assert.deepEqual(scene.source.timeouts, [expected]);
      await scene.stop();
    }
  }
});

test('A watch that the server ends in time is resumed at once, where it ended', async () => {
  await using scene = await new ReflectorScene().run(podList(1, []));
  scene.source.take();
  scene.source.watching.send(added('foo', 7)).end();
  await settle();
  assert.deepEqual(scene.source.take(), ['WATCH {"allowWatchBookmarks":true,"resourceVersion":"7"}']);
  await scene.advance(1000);
  scene.source.watching.end();
  await settle();
  assert.equal(scene.source.take().length, 1);
  assert.deepEqual(scene.errors, []);
});

test('A watch that breaks is reported and resumed where it broke', async () => {
  await using scene = await new ReflectorScene().run(podList(1, []));
  scene.source.take();
  scene.source.watching.send(added('foo', 7)).end(new Error('ECONNRESET'));
  await settle();
  assert.deepEqual(scene.source.take(), ['WATCH {"allowWatchBookmarks":true,"resourceVersion":"7"}']);
  assert.deepEqual(scene.errors, ['watch ERR_KUBELOOM_LISTER_WATCHER']);
});

test('An event that cannot be parsed is requested again; a second time at the same place leads to a list', async () => {
  await using scene = new ReflectorScene();
  const malformed = (): Error => new KubeloomError('ERR_KUBELOOM_MALFORMED_EVENT', 'not an event');
  await scene.run(podList(1, []));
  scene.source.watching.send(added('foo', 7)).end(malformed());
  await settle();
  assert.equal(scene.reflector.phase, 'watching');
  scene.source.watching.end(malformed());
  await settle();
  assert.equal(scene.reflector.phase, 'backing-off');
  const code = 'decode ERR_KUBELOOM_MALFORMED_EVENT';
  assert.deepEqual(scene.errors, [code, code]);
});

test('Refused connections of a watch are retried without a list, after delays that double up to the limit', async () => {
  for (const [times, maxMs, expectedMs] of [
    [5, 1000, 1 + 2 + 4 + 8 + 16],
    [40, 50, 1 + 2 + 4 + 8 + 16 + 32 + 34 * 50],
  ] as const) {
    for (const chance of [0, 1]) {
      const backoff = { initialMs: 1, maxMs };
      const scene = new ReflectorScene({ backoff, random: () => chance });
      scene.source.listAnswers.push(podList(1, []));
      scene.source.watchAnswers.push(...Array.from({ length: times }, refused));
      const startedAt = scene.clock.now();
      await scene.listAndWatch();
      for (let wait = 0; wait < times; wait++) await scene.advance(scene.clock.nextDelayMs ?? 0);
      assert.equal(scene.clock.now() - startedAt, expectedMs * (1 + chance));
      assert.equal(scene.reflector.phase, 'watching');
      assert.equal(lists(scene).length, 1);
      assert.equal(scene.ending, undefined);
      await scene.stop();
    }
  }
});

test('The backoff and its jitter can be configured', async () => {
  await using scene = new ReflectorScene({
    backoff: { initialMs: 10, maxMs: 100, jitter: 0 },
    random: () => 0.99,
  });
  scene.source.listAnswers.push(...Array.from({ length: 5 }, refused), podList(1, []));
  await scene.run();
  const delays = await scene.delaysWhile(() => scene.reflector.phase === 'backing-off');
  assert.deepEqual(delays, [10, 20, 40, 80, 100]);
  assert.equal(scene.errors.length, 5);
});

test('By default delays are 0.8 s doubled up to 30 s, on the given clock', async () => {
  await using scene = new ReflectorScene();
  scene.source.listAnswers.push(...Array.from({ length: 8 }, refused));
  await scene.run();
  const delays = await scene.delaysWhile(() => scene.source.calls.length < 9);
  assert.deepEqual(delays, [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
});

test('Too many requests, as a response or as an event, lead to a delay without a list, at least Retry-After', async () => {
  await using scene = new ReflectorScene();
  scene.source.listAnswers.push(podList(1, []));
  scene.source.watchAnswers.push(statusThrown(429, 'TooManyRequests', { retryAfterSeconds: 7 }));
  await scene.run();
  assert.equal(scene.clock.nextDelayMs, 7000);
  await scene.advance(7000);
  await scene.send(errorEvent(429, 'TooManyRequests'));
  assert.equal(scene.reflector.phase, 'backing-off');
  await scene.advance(scene.clock.nextDelayMs ?? 0);
  assert.equal(scene.reflector.phase, 'watching');
  assert.equal(lists(scene).length, 1);
});

test('Internal errors are retried at once for the configured time', async () => {
  await using scene = await new ReflectorScene({ maxInternalErrorRetryDurationMs: 10_000 }).run(
    podList(1, []),
  );
  await scene.send(errorEvent(500, 'InternalError'));
  assert.equal(scene.reflector.phase, 'watching');
  await scene.advance(11_000);
  await scene.send(errorEvent(500, 'InternalError'));
  assert.equal(scene.reflector.phase, 'backing-off');
  assert.equal(lists(scene).length, 1);
});

test('Without a handler errors are warnings, one a second for each code', async () => {
  const warnings: (Error & { code?: string })[] = [];
  const onWarning = (warning: Error): unknown => warnings.push(warning);
  process.on('warning', onWarning);
  const scene = new ReflectorScene();
  const silent = { clock: scene.clock, backoff: { initialMs: 10, maxMs: 10 }, name: 'of this test' };
  scene.source.listAnswers.push(refused(), refused(), podList(1, []));
  const stop = await started(new Reflector(scene.source, undefined, scene.store, silent));
  await scene.advance(20);
  await scene.advance(20);
  assert.equal(scene.source.watches.length, 1);
  const mine = warnings.filter(({ message }) => message.includes('of this test'));
  assert.deepEqual(
    mine.map(({ code }) => code),
    ['ERR_KUBELOOM_LISTER_WATCHER'],
  );
  process.off('warning', onWarning);
  await stop();
});

test('C126 The store is resynced every period, also across relists, unless shouldResync returns false', async () => {
  let isWanted = true;
  const scene = await new ReflectorScene({ resyncPeriodMs: 10_000, shouldResync: () => isWanted }).run(
    podList(1, []),
    podList(2, []),
    podList(3, []),
  );
  // A relist every six seconds: client-go would never reach the end of a period.
  for (let relist = 0; relist < 2; relist++) {
    await scene.advance(5200);
    await scene.send(errorEvent(410, 'Expired'));
    await scene.advance(scene.clock.nextDelayMs ?? 0);
  }
  assert.equal(scene.store.take().filter((write) => write === 'resync').length, 1);
  isWanted = false;
  await scene.advance(10_000);
  assert.deepEqual(scene.store.take(), []);
  isWanted = true;
  await scene.advance(10_000);
  assert.deepEqual(scene.store.take(), ['resync']);
  await scene.stop();
  assert.equal(scene.clock.pending, 0);
});

test('There is no resync before the first list, and none without a period', async () => {
  const scene = await new ReflectorScene({ resyncPeriodMs: 10 }).run();
  await scene.advance(100);
  assert.deepEqual(scene.store.log, []);
  await scene.stop();
  const never = await new ReflectorScene().run(podList(1, []));
  await never.advance(100_000);
  assert.deepEqual(never.store.take(), ['replace [] at 1']);
  await never.stop();
});

test('A resync that fails ends the watch: after two resyncs listAndWatch returns without an error', async () => {
  const scene = new ReflectorScene({ resyncPeriodMs: 1 });
  scene.source.listAnswers.push(podList(1, []));
  scene.store.onWrite = (write): void => {
    if (write === 'resync' && scene.store.log.filter((other) => other === 'resync').length === 2) {
      throw new Error('no resync');
    }
  };
  await scene.listAndWatch();
  await scene.advance(10);
  assert.equal(scene.ending, 'returned');
  assert.deepEqual(scene.store.log, ['replace [] at 1', 'resync', 'resync']);
  assert.deepEqual(scene.errors, ['watch ERR_KUBELOOM_STORE_WRITE']);
});

test('A resync that fails while there is no watch is only reported', async () => {
  await using scene = new ReflectorScene({ resyncPeriodMs: 100 });
  scene.source.listAnswers.push(podList(1, []));
  scene.store.onWrite = (write): void => {
    if (write === 'resync') throw new Error('no resync');
  };
  await scene.run();
  await scene.send(errorEvent(410, 'Expired'));
  scene.errors.length = 0;
  await scene.advance(100);
  assert.deepEqual(scene.errors, ['resync ERR_KUBELOOM_STORE_WRITE']);
  assert.equal(scene.reflector.phase, 'backing-off');
});

test('A watch that is silent beyond its timeout is closed and requested again', async () => {
  await using scene = await new ReflectorScene().run(podList(1, []));
  await scene.advance(329_000);
  assert.equal(scene.source.watches.length, 1);
  await scene.advance(1000);
  assert.deepEqual(scene.errors, ['watch ERR_KUBELOOM_STALLED']);
  assert.equal(scene.source.watches[0]?.stops, 1);
  assert.equal(scene.source.watches.length, 2);
});
