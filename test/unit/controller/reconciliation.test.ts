/** The context of a reconciliation, whose client and signal are made when they are read. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import { Reconciliation } from '../../../src/controller/reconciliation.ts';
import type { ReconciliationParts } from '../../../src/controller/reconciliation.ts';
import type { KubeloomError } from '../../../src/base/errors.ts';
import { ObjectClient } from '../../../src/controller/object-client.ts';
import type { InformersMap } from '../../../src/informer/map/informers-map.ts';
import { Fence, fenceMemoryOf } from '../../../src/shared/fence.ts';
import { RecordingLogger } from '../../kit/recording-logger.ts';
import { FakeClock } from '../reflector/fake-clock.ts';

/** A reconciliation of the key default/a. */
class Scene {
  readonly clock: FakeClock = new FakeClock();
  readonly stop: AbortController = new AbortController();
  readonly log: RecordingLogger = new RecordingLogger();
  readonly reconciliation: Reconciliation;

  constructor(parts: Partial<ReconciliationParts> = {}) {
    const { signal } = this.stop;
    this.reconciliation = new Reconciliation('default/a', {
      cache: {} as InformersMap,
      client: new ObjectClient({ server: 'http://127.0.0.1:1' }),
      clock: this.clock,
      log: this.log,
      controller: 'web',
      handles: [],
      timeoutMs: undefined,
      stop: signal,
      work: signal,
      ...parts,
    });
  }

  /** Number of listeners to the signal of the controller. */
  get listeners(): number {
    return getEventListeners(this.stop.signal, 'abort').length;
  }
}

const late = { code: 'ERR_KUBELOOM_STILL_RUNNING' };

describe('the signal of a reconciliation', () => {
  test('is the same at every read, and is aborted with the signal of the controller', () => {
    const { reconciliation, stop } = new Scene();
    const { signal } = reconciliation;
    let events = 0;
    signal.addEventListener('abort', () => events++);
    assert.equal(reconciliation.signal, signal);
    assert.equal(signal.aborted, false);
    stop.abort('stop');
    assert.deepEqual([signal.aborted, signal.reason, events], [true, 'stop', 1]);
    assert.equal(reconciliation.signal, signal);
  });

  test('is aborted when it is first read after the signal of the controller, which is no failure', async () => {
    const { reconciliation, stop } = new Scene();
    await reconciliation.run((_key, context) => {
      stop.abort('stop');
      const { signal } = context;
      assert.deepEqual([signal.aborted, signal.reason], [true, 'stop']);
    });
  });

  test('is aborted when it is first read while the signal of the controller is being aborted', () => {
    const { reconciliation, stop } = new Scene();
    let found: unknown;
    stop.signal.addEventListener('abort', () => (found = reconciliation.signal.reason));
    stop.abort('stop');
    assert.equal(found, 'stop');
  });

  test('is over with a fence that no timer has ended, whether it was read before or not', () => {
    const fenceClock = new FakeClock();
    const over = new Error('lost');
    const fence = new Fence(fenceClock, fenceClock.now() + 1000, () => over);
    const [before, after] = [1, 2].map(() => new Scene({ work: fence.signal }).reconciliation);
    const read = before?.signal;
    assert.equal(read?.aborted, false);
    assert.equal(fenceMemoryOf(read), fenceMemoryOf(fence.signal));
    fenceClock.advance(1000);
    assert.deepEqual([read?.aborted, read?.reason], [true, over]);
    assert.deepEqual([after?.signal.aborted, after?.signal.reason], [true, over]);
  });

  test('C314 is aborted by the time limit, whether it was read before or not', async () => {
    for (const isReadBefore of [true, false]) {
      const { reconciliation, clock } = new Scene({ timeoutMs: 1000 });
      const before = isReadBefore ? reconciliation.signal : undefined;
      await assert.rejects(
        reconciliation.run(() => clock.advance(1000)),
        late,
      );
      const { signal } = reconciliation;
      assert.deepEqual([signal.aborted, (signal.reason as KubeloomError).code], [true, late.code]);
      assert.equal(signal, before ?? signal);
    }
  });

  test('listens to the signal of the controller from the first read to the end of the function', async () => {
    for (const failure of [undefined, new Error('failed')]) {
      const scene = new Scene();
      const running = scene.reconciliation.run((_key, context) => {
        assert.equal(scene.listeners, 0);
        void context.signal;
        void context.signal;
        assert.equal(scene.listeners, 1);
        if (failure) throw failure;
      });
      await (failure ? assert.rejects(running, failure) : running);
      assert.equal(scene.listeners, 0);
    }
  });

  test('does not listen when it is first read after the end, and still answers for the controller', async () => {
    const scene = new Scene();
    await scene.reconciliation.run(() => undefined);
    const { signal } = scene.reconciliation;
    assert.equal(scene.listeners, 0);
    assert.equal(signal.aborted, false);
    scene.stop.abort();
    assert.equal(signal.aborted, true);
  });

  test('is not aborted by the time limit after the end', async () => {
    const { reconciliation, clock } = new Scene({ timeoutMs: 1000 });
    await reconciliation.run(() => undefined);
    assert.equal(clock.pending, 0);
    assert.equal(reconciliation.signal.aborted, false);
  });
});

describe('the client of a reconciliation', () => {
  test('is the same at every read, and is of this reconciliation alone', () => {
    const client = new ObjectClient({ server: 'http://127.0.0.1:1' });
    const [one, other] = [1, 2].map(() => new Scene({ client }).reconciliation);
    assert.equal(one?.client, one?.client);
    assert.notEqual(one?.client, other?.client);
    assert.notEqual(one?.client, client);
  });

  test('leaves no write to wait for until it has written', () => {
    const { reconciliation } = new Scene();
    assert.equal(reconciliation.writesArrived(), undefined);
    void reconciliation.client;
    assert.equal(reconciliation.writesArrived(), undefined);
  });
});

describe('the context of a reconciliation', () => {
  test('can be spread and destructured', () => {
    const { reconciliation } = new Scene();
    const copy = { ...reconciliation };
    assert.deepEqual(Object.keys(copy).sort(), ['cache', 'client', 'log', 'reconcileID', 'signal']);
    const { cache, client, log, reconcileID, signal } = reconciliation;
    for (const [name, value] of Object.entries({ cache, client, log, reconcileID, signal }))
      assert.equal(Reflect.get(copy, name), value, name);
  });

  test('has a log whose lines carry the id, also the line of the manager', async () => {
    const { reconciliation, log, clock } = new Scene();
    const { reconcileID } = reconciliation;
    assert.match(reconcileID, /^[\da-f-]{36}$/);
    await reconciliation.run((key, context) => {
      context.log.info({ step: key }, 'mine');
      clock.advance(7);
    });
    assert.deepEqual(log.lines, ['info mine', 'debug reconciled']);
    const common = { controller: 'web', key: 'default/a', reconcileID };
    assert.deepEqual(log.fields, [
      { ...common, step: 'default/a' },
      { ...common, durationMs: 7 },
    ]);
  });
});
