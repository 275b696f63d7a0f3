/** Counters that one thread publishes and another reads: in one thread, step by step, and on real threads. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { CounterReader, CounterWriter, allocateCounters } from '../../../src/shared/counters.ts';

/** A number at which a copy takes longer than the thread needs between two publications. */
const COUNTERS = 4096;
const READS = 500;

describe('published counters', () => {
  test('are read as of the last publication', () => {
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

  test('are of a single moment, even if the other thread publishes during the read', async (context) => {
    const buffer = allocateCounters(COUNTERS);
    const worker = new Worker(new URL('counting-thread.js', import.meta.url), { workerData: buffer });
    context.after(() => worker.terminate());
    const reader = new CounterReader(buffer);
    let last = 0;
    for (let changes = 0; changes < READS;) {
      const values = reader.read();
      const [first = 0] = values;
      assert.ok(first >= last && values.every((value) => value === first));
      // Until the thread has started, and while it is not scheduled, reads prove nothing.
      if (first > last) changes++;
      else await new Promise((resolve) => setImmediate(resolve));
      last = first;
    }
  });
});
