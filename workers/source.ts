/**
 * Entry of the thread or process that runs the high-rate source. Wiring only.
 */

import { parentPort, workerData } from 'node:worker_threads';
import { SourceServer } from '../src/embedded/source-server.ts';
import type { SourceOptions } from '../src/embedded/source-server.ts';
import type { SourceReady } from '../src/embedded/source.ts';

const options = (parentPort === null ? JSON.parse(process.argv[2] ?? '{}') : workerData) as SourceOptions;
const server = new SourceServer(options);
const ready: SourceReady = { url: await server.listen(), listRevision: server.listRevision };
if (parentPort === null) {
  // The parent is gone when the channel is: then there is nobody to serve.
  process.on('disconnect', () => process.exit(0));
  process.send?.(ready);
} else {
  parentPort.postMessage(ready);
}
