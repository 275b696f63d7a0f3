/**
 * Entry of the thread or process that runs an embedded apiserver. Wiring only.
 */

import { parentPort } from 'node:worker_threads';
import { ApiServer } from '../src/embedded/api-server.ts';
import { serveControl } from '../src/embedded/remote.ts';
import type { Channel } from '../src/embedded/remote.ts';

function channel(): Channel {
  const port = parentPort;
  if (port !== null) {
    return {
      post: (message) => port.postMessage(message),
      onMessage: (listener) => port.on('message', listener),
    };
  }
  // The parent is gone when the channel is: then there is nobody to serve.
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
