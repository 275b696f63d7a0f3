/** Tests of the waiting consumers of all queues: woken in order, one at a time, closed, cancelled. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';

import { Heap } from '../../../../src/client-go/queue/heap.ts';
import type { PopProcess } from '../../../../src/client-go/queue/queue.ts';
import { RealFIFO } from '../../../../src/client-go/queue/real-fifo.ts';
import { object, textOf } from './notation.ts';
import type { TestObject } from './notation.ts';
import { QUEUES, deltaFifo, ignore, perform, popAll, poppedText, realFifo } from './scene.ts';
import type { AnyQueue } from './scene.ts';
import { deferred } from '../../../kit/deferred.ts';
import type { SignalOptions } from '../../../../src/base/signal-options.ts';

const CREATORS: Readonly<Record<string, () => AnyQueue>> = {
  FIFO: QUEUES.FIFO,
  DeltaFIFO: QUEUES.DeltaFIFO,
  RealFIFO: QUEUES['atomic RealFIFO'],
  'RealFIFO.popBatch': () => {
    const queue = new RealFIFO<TestObject>({ atomicEvents: true, batchSize: 1 });
    const pop = (process: PopProcess<unknown>, options?: SignalOptions): Promise<unknown> =>
      queue.popBatch(process, process, options);
    return Object.assign(queue, { pop });
  },
};

/** Pops, and returns the object as text. */
async function popText(
  queue: AnyQueue,
  process: PopProcess<unknown> = ignore,
  signal?: AbortSignal,
): Promise<string> {
  return poppedText(await queue.pop(process, signal && { signal }))
    .split(' ')
    .at(-1)!;
}

describe('consumers', () => {
  for (const [name, create] of Object.entries(CREATORS)) {
    test(`each producer's items come in its order, none lost, none twice (${name})`, async () => {
      const queue = create();
      const produce = async (prefix: string): Promise<void> => {
        for (let value = 0; value < 500; value++) {
          queue.add(object(`${prefix}${value}@${value}`));
          if (value % 7 === 0) await turn();
        }
      };
      const popped: Record<string, number[]> = { a: [], b: [] };
      const consume = async (): Promise<void> => {
        for (let pop = 0; pop < 1000; pop++) {
          const text = await popText(queue);
          popped[text[0]!]!.push(Number(text.split('@')[1]));
        }
      };
      await Promise.all([consume(), produce('a'), produce('b')]);
      const ascending = Array.from({ length: 500 }, (_, value) => value);
      assert.deepEqual(popped, { a: ascending, b: ascending });
    });

    test(`C109 waiting consumers are served in the order in which they came (${name})`, async () => {
      const queue = create();
      const served: string[] = [];
      const pops = ['first', 'second', 'third'].map(async (who) => {
        served.push(`${who} ${await popText(queue)}`);
      });
      await turn();
      for (const text of ['a@1', 'b@1', 'c@1']) queue.add(object(text));
      await Promise.all(pops);
      assert.deepEqual(served, ['first a@1', 'second b@1', 'third c@1']);
    });

    test(`C109 one consumer processes at a time, and producers may add meanwhile (${name})`, async () => {
      const queue = create();
      queue.add(object('a@1'));
      const gate = deferred();
      const calls: string[] = [];
      const first = popText(queue, async () => {
        calls.push('first begins');
        await gate.promise;
        calls.push('first ends');
      });
      const second = popText(queue, () => calls.push('second'));
      queue.add(object('b@1'));
      await turn();
      assert.deepEqual(calls, ['first begins']);
      assert.equal(queue.size, 1);
      gate.resolve();
      assert.deepEqual(await Promise.all([first, second]), ['a@1', 'b@1']);
      assert.deepEqual(calls, ['first begins', 'first ends', 'second']);
    });

    test(`an error of a process is thrown by its own pop only (${name})`, async () => {
      const queue = create();
      queue.add(object('a@1'));
      queue.add(object('b@1'));
      const failure = new Error('no');
      const failing = popText(queue, () => Promise.reject(failure));
      const next = popText(queue);
      await assert.rejects(failing, failure);
      assert.equal(await next, 'b@1');
    });

    test(`close rejects all waiting pops, and queued changes can still be popped (${name})`, async () => {
      const queue = create();
      const pops = Array.from({ length: 10 }, () => popText(queue));
      await turn();
      assert.equal(queue.isClosed, false);
      queue.close();
      assert.equal(queue.isClosed, true);
      for (const pop of pops) await assert.rejects(pop, { code: 'ERR_KUBELOOM_QUEUE_CLOSED' });
      queue.add(object('a@1'));
      assert.equal(await popText(queue), 'a@1');
      await assert.rejects(popText(queue), { code: 'ERR_KUBELOOM_QUEUE_CLOSED' });
    });

    test(`C109 an aborted consumer takes nothing and does not block those behind it (${name})`, async () => {
      const queue = create();
      const reason = new Error('enough');
      const controllers = Array.from({ length: 3 }, () => new AbortController());
      const pops = controllers.map(({ signal }) => popText(queue, ignore, signal));
      await turn();
      controllers[1]!.abort(reason);
      await assert.rejects(pops[1]!, reason);
      controllers[0]!.abort(reason);
      queue.add(object('a@1'));
      await assert.rejects(pops[0]!, reason);
      assert.equal(await pops[2], 'a@1');
    });

    test(`C109 a consumer that gives up behind another does not let the next pass before that one (${name})`, async () => {
      const queue = create();
      const gate = deferred();
      const calls: string[] = [];
      queue.add(object('a@1'));
      queue.add(object('b@1'));
      const first = popText(queue, async () => {
        await gate.promise;
        calls.push('first ended');
      });
      const controller = new AbortController();
      const aborted = popText(queue, ignore, controller.signal);
      const third = popText(queue, () => calls.push('third'));
      controller.abort(new Error('enough'));
      await assert.rejects(aborted, { message: 'enough' });
      await turn();
      gate.resolve();
      await Promise.all([first, third]);
      assert.deepEqual(calls, ['first ended', 'third']);
    });

    test(`an item that comes with the abort stays for the next consumer (${name})`, async () => {
      const queue = create();
      const controller = new AbortController();
      const pop = popText(queue, ignore, controller.signal);
      await turn();
      queue.add(object('a@1'));
      controller.abort(new Error('enough'));
      await assert.rejects(pop, { message: 'enough' });
      assert.equal(await popText(queue), 'a@1');
    });

    test(`an already aborted signal rejects, one that aborts during the processing is ignored (${name})`, async () => {
      const queue = create();
      queue.add(object('a@1'));
      await assert.rejects(popText(queue, ignore, AbortSignal.abort(new Error('enough'))), {
        message: 'enough',
      });
      const controller = new AbortController();
      assert.equal(await popText(queue, () => controller.abort(), controller.signal), 'a@1');
    });
  }

  test('a list that comes while its consumer waits is delivered completely', async () => {
    const queue = deltaFifo({ known: 'a@1' });
    const popped = queue.pop(ignore);
    await turn();
    perform(queue, 'replace 2 [b@2], update b@3');
    assert.equal(poppedText(await popped), 'Sync b@2, Updated b@3');
  });

  for (const [create, afterList] of [
    [deltaFifo, 'Sync old@1 | Deleted new@2?'],
    [realFifo, 'Deleted new@2? | Replaced old@1'],
  ] as const) {
    const queue = create({ known: 'old@1' });
    test(`C107 C108 a change in processing counts as queued for a list, a deletion and a resync (${queue.name})`, async () => {
      queue.add(object('new@2'));
      await queue.pop(() => queue.replace([object('old@1')], '3'));
      assert.equal(await popAll(queue), afterList);
      queue.update(object('old@4'));
      await queue.pop(() => queue.resync());
      assert.equal(await popAll(queue), '', 'old@1 would go back');
      queue.add(object('new@5'));
      await queue.pop(() => queue.delete(object('new@6')));
      assert.equal(await popAll(queue), 'Deleted new@6');
      queue.resync();
      assert.equal(await popAll(queue), 'Sync old@1', 'nothing is in process any more');
    });
  }

  test('consumers of a heap wait as well, and get the first item at the time of the pop', async () => {
    const heap = new Heap<TestObject>(
      ({ metadata }) => metadata.name,
      (first, second) => Number(first.metadata.resourceVersion) < Number(second.metadata.resourceVersion),
    );
    const pops = [heap.pop(), heap.pop()];
    const controller = new AbortController();
    const aborted = heap.pop({ signal: controller.signal });
    const last = heap.pop();
    await turn();
    heap.bulkAdd([object('c@3'), object('a@1')]);
    assert.deepEqual((await Promise.all(pops)).map(textOf), ['a@1', 'c@3']);
    controller.abort(new Error('enough'));
    await assert.rejects(aborted, { message: 'enough' });
    heap.close();
    await assert.rejects(last, { code: 'ERR_KUBELOOM_QUEUE_CLOSED' });
  });
});
