/** Starts an embedded apiserver in a worker thread (default), in a process of its own, or in the calling thread. */

import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { ApiServer } from './api-server.ts';
import { EmbeddedApiServer } from './embedded-server.ts';
import { execArgvOption } from './exec-argv.ts';
import type { ApiServerOptions } from './options.ts';
import { RemoteControl, invoke } from './remote.ts';
import type { Call } from './remote.ts';

export interface EmbeddedApiServerOptions extends ApiServerOptions {
  /** Where the server runs. Default `thread`. */
  readonly isolation?: 'thread' | 'process' | 'none';
}

/** The entry has the extension of this file, in the sources and in dist. */
const EXTENSION = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
const ENTRY = new URL(`./server-entry${EXTENSION}`, import.meta.url);

export async function startEmbeddedApiServer(
  options: EmbeddedApiServerOptions = {},
): Promise<EmbeddedApiServer> {
  const { isolation = 'thread', ...serverOptions } = options;
  if (isolation === 'none') return startHere(serverOptions);
  return isolation === 'thread' ? startThread(serverOptions) : startProcess(serverOptions);
}

async function startHere(options: ApiServerOptions): Promise<EmbeddedApiServer> {
  const server = new ApiServer(options);
  const endpoint = await server.listen();
  const call = ((method, ...args) => invoke(server, method, args)) as Call;
  return new EmbeddedApiServer(endpoint, call, () => server.close());
}

async function startThread(options: ApiServerOptions): Promise<EmbeddedApiServer> {
  const worker = new Worker(ENTRY, { name: 'kubeloom-apiserver', ...execArgvOption() });
  const remote = new RemoteControl({
    post: (message) => worker.postMessage(message),
    onMessage: (listener) => worker.on('message', listener),
  });
  worker.on('error', (error) => remote.disconnect(String(error)));
  const exited = once(worker, 'exit').then(([code]) =>
    remote.disconnect(`its thread exited with code ${code}`),
  );
  return connect(
    remote,
    options,
    (message) => worker.postMessage(message),
    async () => {
      await worker.terminate();
      await exited;
    },
  );
}

async function startProcess(options: ApiServerOptions): Promise<EmbeddedApiServer> {
  const child: ChildProcess = fork(fileURLToPath(ENTRY), [], {
    serialization: 'advanced',
    ...execArgvOption(),
  });
  const remote = new RemoteControl({
    post: (message) => void child.send(message),
    onMessage: (listener) => child.on('message', listener),
  });
  child.on('error', (error) => remote.disconnect(String(error)));
  const exited = once(child, 'exit').then(([code, signal]) => {
    remote.disconnect(`its process exited with ${code ?? signal}`);
  });
  return connect(
    remote,
    options,
    (message) => void child.send(message),
    async () => {
      child.disconnect();
      await exited;
    },
  );
}

async function connect(
  remote: RemoteControl,
  options: ApiServerOptions,
  post: (message: object) => void,
  end: () => Promise<void>,
): Promise<EmbeddedApiServer> {
  post(options);
  try {
    const endpoint = await remote.ready;
    return new EmbeddedApiServer(endpoint, remote.call, async () => {
      await remote.call('close');
      await end();
    });
  } catch (error) {
    await end();
    throw error;
  }
}
