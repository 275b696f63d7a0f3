/** A thread that publishes 200,000 times counters that are all equal. */
import { workerData } from 'node:worker_threads';

import { CounterWriter } from '../../../src/shared/counters.ts';

const writer = new CounterWriter(workerData as SharedArrayBuffer);
for (let count = 1; count <= 200_000; count++) {
  writer.values.fill(count);
  writer.publish();
}
