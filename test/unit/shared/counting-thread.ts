/** A thread that publishes counters that are all equal, until it is terminated. */
import { workerData } from 'node:worker_threads';
import { CounterWriter } from '../../../src/shared/counters.ts';

const writer = new CounterWriter(workerData as SharedArrayBuffer);
for (let count = 1; ; count++) {
  writer.values.fill(count);
  writer.publish();
}
