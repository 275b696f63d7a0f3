/** Counters that one thread publishes and another reads: in one thread, step by step, and on real threads. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';

import { CounterReader, CounterWriter, allocateCounters } from '../../../src/shared/counters.ts';

describe('published counters', () => {
  test('are read as they were when they were published last', () => {
    const buffer = allocateCounters(3);
    const [writer, reader] = [new CounterWriter(buffer), new CounterReader(buffer)];
    assert.deepEqual([...reader.read()], [0, 0, 0]);
    writer.values.set([1, 2 ** 40, 0.5]);
    assert.deepEqual([...reader.read()], [0, 0, 0], 'nothing is published yet');
    writer.publish();
    assert.deepEqual([...reader.read()], [1, 2 ** 40, 0.5]);
    writer.publish();
    assert.deepEqual([...reader.read()], [1, 2 ** 40, 0.5]);
  });

  test('continue with a successor of the thread that wrote them', () => {
    const buffer = allocateCounters(1);
    const writer = new CounterWriter(buffer);
    writer.values[0] = 5;
    writer.publish();
    writer.values[0] = 7;
    const successor = new CounterWriter(buffer);
    successor.values[0] = (successor.values[0] ?? 0) + 1;
    successor.publish();
    assert.deepEqual([...new CounterReader(buffer).read()], [6]);
  });

  test('are of one moment, whatever the other thread does meanwhile', async () => {
    const buffer = allocateCounters(64);
    const worker = new Worker(new URL('counting-thread.js', import.meta.url), { workerData: buffer });
    const reader = new CounterReader(buffer);
    const ended = once(worker, 'exit');
    let [last, reads] = [0, 0];
    let isEnded = false;
    void ended.then(() => (isEnded = true));
    while (!isEnded) {
      for (let read = 0; read < 1000; read++) {
        const [first = 0, ...others] = reader.read();
        assert.ok(others.every((other) => other === first) && first >= last);
        last = first;
        reads++;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(reader.read()[63], 200_000);
    assert.ok(reads > 0);
  });
});
