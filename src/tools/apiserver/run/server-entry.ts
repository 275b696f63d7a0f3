/** Entry of the thread or process that runs an embedded apiserver. Wiring only. */

import { parentPort } from 'node:worker_threads';
import { serveControl } from './remote.ts';

const port = parentPort;
if (port === null) {
  // When the channel closes, the parent process has ended.
  process.on('disconnect', () => process.exit(0));
  serveControl({
    post: (message) => process.send?.(message),
    onMessage: (listener) => process.on('message', listener),
  });
} else {
  serveControl({
    post: (message) => port.postMessage(message),
    onMessage: (listener) => port.on('message', listener),
  });
}
