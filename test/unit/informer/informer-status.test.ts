/** Status of an informer: health, versions, progress, and writes to shared objects. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeloomError } from '../../../src/index.ts';
import type { MutationError } from '../../../src/client-go/index.ts';
import { settled } from '../../../src/tools/apiserver/testing/index.ts';
import { HeldHandler, Lines, Scene, pod } from './scene.ts';
import type { Pod } from './scene.ts';

/** Until it is so, turn by turn. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(setImmediate);
}

describe('the health of an informer', () => {
  test('shows each state of the informer', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    assert.equal(informer.health.state, 'not-started');
    scene.source.listError = new Error('no way');
    const run = informer.run();
    assert.equal(informer.health.state, 'syncing');
    await until(() => informer.lastError !== undefined);
    assert.equal(informer.health.state, 'syncing');
    scene.source.add(pod('a'));
    scene.source.listError = undefined;
    await settled(informer);
    await until(() => informer.health.state === 'connected');
    const { state, lastError, lastErrorAtMs, lastEventAtMs, isStale, resourceVersion, coalesced } =
      informer.health;
    assert.deepEqual([state, isStale, resourceVersion, coalesced], ['connected', false, '1', 0]);
    assert.match(lastError?.message ?? '', /no way/);
    assert.deepEqual([lastErrorAtMs, lastEventAtMs], [scene.clock.now(), scene.clock.now()]);
    await informer.shutdown();
    await run;
    assert.equal(informer.health.state, 'stopped');
  });

  test('shows the backlogs of the handlers, by their names', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    using held = new HeldHandler();
    informer.addEventHandler(held, { name: 'slow' });
    informer.addEventHandler(new Lines(), { name: 'quick' });
    for (const name of ['a', 'b', 'c']) scene.source.add(pod(name));
    void informer.run();
    await informer.waitForResourceVersion('3');
    // Handlers take turns within a budget: either of them may be first.
    await held.begun;
    await until(() => informer.health.handlers[1]?.notifications === 0);
    const { handlers, unmerged } = informer.health;
    assert.deepEqual(
      handlers.map(({ name, notifications }) => [name, notifications]),
      [
        ['slow', 2],
        ['quick', 0],
      ],
    );
    assert.equal(unmerged, 0);
    held.gate.open();
  });
});

interface Writable {
  metadata: { labels: Record<string, string>; name: string };
  spec: { containers: { image: string }[] };
}

const WEB: Pod = { ...pod('web', { app: 'web' }), spec: { containers: [{ image: 'a' }] } };

const WRITES: readonly (readonly [
  string,
  (entry: { object: unknown; metadata: unknown; labels: unknown; fields: unknown }) => unknown,
])[] = [
  ['object', ({ object }) => ((object as Writable).spec.containers[0]!.image = 'b')],
  ['metadata', ({ metadata }) => ((metadata as Writable['metadata']).labels['app'] = 'b')],
  ['labels', ({ labels }) => ((labels as Record<string, string>)['app'] = 'b')],
  ['fields', ({ fields }) => ((fields as Record<string, string>)['metadata.name'] = 'b')],
];

describe('a write to a shared object', () => {
  for (const codec of ['json', 'msgpack'] as const) {
    for (const [what, write] of WRITES) {
      test(`C148 is refused and reported with object, handler and writer: ${what}, ${codec}`, async () => {
        await using scene = new Scene();
        const errors: Error[] = [];
        const informer = scene.informer({
          codec,
          fields: ['metadata.name'],
          debug: { retainChecks: 'strict' },
          onError: (error, { key, registeredAt }) => {
            assert.equal(key, 'ns/web');
            assert.match(registeredAt ?? '', /informer-status\.test/);
            errors.push(error);
          },
        });
        const told: string[] = [];
        informer.addEventHandler({ onAdd: (added) => void write(added) });
        informer.addEventHandler({ onAdd: async (added) => void write(added) });
        informer.addEventHandler({ onAdd: ({ object }) => told.push(JSON.stringify(object)) });
        scene.source.add(WEB);
        await scene.started(informer);
        assert.equal(errors.length, 2);
        for (const error of errors) {
          assert.equal((error as KubeloomError).code, 'ERR_KUBELOOM_MUTATION');
          assert.match(error.stack ?? '', /at .*informer-status\.test/);
        }
        assert.match(told[0] ?? '', /"app":"web".*"image":"a"/);
      });
    }
  }

  test("from outside a handler throws in the writer's line, and a copy is free", async () => {
    await using scene = new Scene();
    const informer = scene.informer({ debug: { retainChecks: 'strict' } });
    scene.source.add(WEB);
    await scene.started(informer);
    const entry = informer.getStore().getByKey('ns/web');
    assert.ok(entry);
    assert.throws(
      () => WRITES[0]?.[1]({ ...entry, object: entry.object, metadata: {}, labels: {}, fields: {} }),
      {
        name: 'TypeError',
      },
    );
    const copy = entry.copy() as unknown as Writable;
    copy.spec.containers[0]!.image = 'b';
    assert.match(JSON.stringify(entry), /"image":"a"/);
  });

  test('is not detected with retainChecks off, unless the option asks for it', async () => {
    await using scene = new Scene();
    const off = scene.informer({ debug: { retainChecks: 'off' } });
    const asked = scene.informer({ debug: { retainChecks: 'off', mutationDetector: 'freeze' } });
    const strict = scene.informer({ debug: { retainChecks: 'strict', mutationDetector: 'off' } });
    scene.source.add(WEB);
    const areFrozen: boolean[] = [];
    for (const informer of [off, asked, strict]) {
      await scene.started(informer);
      areFrozen.push(Object.isFrozen(informer.getStore().getByKey('ns/web')?.object));
    }
    assert.deepEqual(areFrozen, [false, true, false]);
  });

  test('goes to onMutation in place of onError, if there is one', async () => {
    await using scene = new Scene();
    const mutations: MutationError[] = [];
    const informer = scene.informer({
      debug: { retainChecks: 'strict', onMutation: (error) => mutations.push(error) },
    });
    informer.addEventHandler({ onAdd: ({ object }) => void Object.assign(object, { status: {} }) });
    scene.source.add(WEB);
    await scene.started(informer);
    assert.deepEqual(
      mutations.map(({ key, code }) => [key, code]),
      [['ns/web', 'ERR_KUBELOOM_MUTATION']],
    );
    assert.deepEqual(scene.codes, []);
  });

  test('C149 is found by comparing within a second, with the change', async () => {
    await using scene = new Scene();
    const informer = scene.informer({ debug: { mutationDetector: 'compare' } });
    informer.addEventHandler({
      onAdd: ({ object }) => void ((object as unknown as Writable).spec.containers[0]!.image = 'b'),
    });
    scene.source.add(WEB);
    await scene.started(informer);
    assert.deepEqual(scene.codes, []);
    scene.clock.advance(1000);
    assert.deepEqual(scene.codes, ['ERR_KUBELOOM_MUTATION']);
    assert.match(scene.reported[0]?.message ?? '', /ns\/web: .*spec\.containers\[0\]\.image: 'a' -> 'b'/);
    scene.clock.advance(10_000);
    assert.equal(scene.reported.length, 1);
    await informer.shutdown();
    assert.equal(scene.clock.pending, 0);
  });
});

test('a listener of health or of mutations that throws is reported', async () => {
  await using scene = new Scene();
  const informer = scene.informer({ debug: { retainChecks: 'strict', onMutation: raise } });
  informer.addEventHandler({ onAdd: ({ object }) => void Object.assign(object, { status: {} }) });
  scene.source.add(WEB);
  await scene.started(informer);
  informer.onHealth(raise);
  scene.clock.advance(120_000);
  await until(() => scene.reported.length > 1);
  assert.deepEqual(scene.codes, ['ERR_KUBELOOM_ERROR_LISTENER', 'ERR_KUBELOOM_ERROR_LISTENER']);
  assert.match(scene.reported[1]?.message ?? '', /a health listener .*no pager/);
});

test('C56 a watch error handler that throws or rejects is reported, and stops nothing', async () => {
  for (const fail of [raise, (): Promise<never> => Promise.reject(new Error('no pager'))]) {
    await using scene = new Scene();
    const informer = scene.informer();
    informer.setWatchErrorHandler(fail);
    scene.source.listError = new Error('no list');
    void informer.run();
    await until(() => scene.reported.some(({ message }) => /no pager/.test(message)));
    assert.ok(scene.codes.includes('ERR_KUBELOOM_ERROR_LISTENER'));
    scene.source.listError = undefined;
    await informer.waitForSync();
  }
});

function raise(): never {
  throw new Error('no pager');
}
