/** Entry of the thread or process that runs an embedded apiserver. Wiring only. */

import { parentPort } from 'node:worker_threads';
import { ApiServer } from './api-server.ts';
import { serveControl } from './remote.ts';
import type { Channel } from './remote.ts';

function channel(): Channel {
  const port = parentPort;
  if (port !== null) {
    return {
      post: (message) => port.postMessage(message),
      onMessage: (listener) => port.on('message', listener),
    };
  }
  // The parent process has ended when the channel closes.
  process.on('disconnect', () => process.exit(0));
  return {
    post: (message) => process.send?.(message),
    onMessage: (listener) => process.on('message', listener),
  };
}

serveControl(channel(), async (options) => {
  const server = new ApiServer(options);
  return { endpoint: await server.listen(), control: server };
});
