/** Starts an embedded apiserver in a worker thread (default), in a separate process, or in the calling thread. */

import { messageOf } from '../../../base/errors.ts';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { EventEmitter } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { ApiServer } from './api-server.ts';
import { EmbeddedApiServer } from './embedded-server.ts';
import { execArgvOption } from './exec-argv.ts';
import { oneOf, checkOptions } from '../../../base/option-checks.ts';
import type { OptionChecks } from '../../../base/option-checks.ts';
import { API_SERVER_CHECKS } from '../store/server-options.ts';
import type { ApiServerOptions } from '../store/server-options.ts';
import { RemoteControl, invoke } from './remote.ts';
import type { RemoteCall } from './remote.ts';

/** Options of the apiserver for tests, and of its process. */
export interface EmbeddedApiServerOptions extends ApiServerOptions {
  /** Where the server runs. Default `thread`. */
  readonly isolation?: 'thread' | 'process' | 'none';
}

/** The entry uses the same extension as this file, in the sources and in dist. */
const EXTENSION = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
const ENTRY = new URL(`./server-entry${EXTENSION}`, import.meta.url);

const CHECKS: OptionChecks<EmbeddedApiServerOptions> = {
  ...API_SERVER_CHECKS,
  isolation: oneOf('thread', 'process', 'none'),
};

/** Starts an apiserver for tests. Close it after the test. @throws ERR_KUBELOOM_OPTION */
export async function startEmbeddedApiServer(
  options: EmbeddedApiServerOptions = {},
): Promise<EmbeddedApiServer> {
  checkOptions('options of the embedded apiserver', options, CHECKS);
  const { isolation = 'thread', ...serverOptions } = options;
  if (isolation === 'none') {
    const server = new ApiServer(serverOptions);
    const call = ((method, ...args) => invoke(server, method, args)) as RemoteCall;
    return new EmbeddedApiServer(await server.listen(), call, () => server.control.close());
  }
  if (isolation === 'thread') {
    const worker = new Worker(ENTRY, { name: 'kubeloom-apiserver', ...execArgvOption() });
    const post = (message: object): void => worker.postMessage(message);
    return startThere(serverOptions, worker, post, () => worker.terminate());
  }
  const child = fork(fileURLToPath(ENTRY), [], { serialization: 'advanced', ...execArgvOption() });
  const send = (message: object): void => void child.send(message);
  return startThere(serverOptions, child, send, () => child.disconnect());
}

/** @param host the thread or process of the server */
async function startThere(
  options: ApiServerOptions,
  host: EventEmitter,
  post: (message: object) => void,
  stop: () => unknown,
): Promise<EmbeddedApiServer> {
  const remote = new RemoteControl({ post, onMessage: (listener) => host.on('message', listener) });
  host.on('error', (error) => remote.disconnect(messageOf(error)));
  const exited = once(host, 'exit').then(([code, signal]) =>
    remote.disconnect(`its thread or process exited with ${signal ?? `code ${code}`}`),
  );
  const end = async (): Promise<void> => {
    stop();
    await exited;
  };
  try {
    const endpoint = await remote.start(options);
    return new EmbeddedApiServer(endpoint, remote.call, async () => {
      await remote.call('close');
      await end();
    });
  } catch (error) {
    await end();
    throw error;
  }
}
