/**
 * Entry of the thread or process that runs the high-rate source. Wiring only.
 */

import { parentPort, workerData } from 'node:worker_threads';
import { SourceServer } from '../src/embedded/source-server.ts';
import type { SourceOptions } from '../src/embedded/source-server.ts';
import type { SourceReady } from '../src/embedded/source.ts';
import { Word, allocateWords } from '../src/ring/word.ts';

const options = (parentPort === null ? JSON.parse(process.argv[2] ?? '{}') : workerData) as SourceOptions;
/** Nobody changes it: what is left of waiting for it is the time. */
const never = new Word(new Int32Array(allocateWords(1)), 0);
const server = new SourceServer(options, (timeoutMs) => void never.wait(0, timeoutMs));
const ready: SourceReady = {
  url: await server.listen(),
  ca: server.ca,
  listRevision: server.listRevision,
};
if (parentPort === null) {
  // The parent is gone when the channel is: then there is nobody to serve.
  process.on('disconnect', () => process.exit(0));
  process.send?.(ready);
} else {
  parentPort.postMessage(ready);
}
