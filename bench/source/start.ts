/**
 * Starts the high-rate source: a server for benchmarks that streams prepared pod events faster than any
 * client can read them.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { KubeloomError } from '../../src/base/errors.ts';
import { execArgvOption } from '../../src/apiserver/exec-argv.ts';
import { SourceServer } from './server.ts';
import type { SourceOptions } from './server.ts';

export interface HighRateSourceOptions extends SourceOptions {
  /** Where it runs. Default `process`, so that its CPU time is not part of the client's. */
  readonly isolation?: 'process' | 'thread' | 'none';
}

export interface HighRateSource extends AsyncDisposable {
  /** On loopback, without a token. */
  readonly url: string;
  /** The CA certificate, PEM; '' without TLS. */
  readonly ca: string;
  /** Revision of the list; the first event has the next one. */
  readonly listRevision: number;
  /** Id of its process, for measuring its CPU time; undefined when it runs in this process. */
  readonly pid: number | undefined;
  close(): Promise<void>;
}

/** The message of the entry to its parent once it listens. */
export interface SourceReady {
  readonly url: string;
  readonly ca: string;
  readonly listRevision: number;
}

const EXTENSION = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
const ENTRY = new URL(`./entry${EXTENSION}`, import.meta.url);

export async function startHighRateSource(options: HighRateSourceOptions = {}): Promise<HighRateSource> {
  const { isolation = 'process', ...sourceOptions } = options;
  if (isolation === 'none') {
    const server = new SourceServer(sourceOptions);
    const url = await server.listen();
    return source({ url, ca: server.ca, listRevision: server.listRevision }, undefined, () => server.close());
  }
  return isolation === 'thread' ? startThread(sourceOptions) : startProcess(sourceOptions);
}

async function startThread(options: SourceOptions): Promise<HighRateSource> {
  const worker = new Worker(ENTRY, {
    name: 'kubeloom-source',
    workerData: options,
    ...execArgvOption(),
  });
  const ready = await Promise.race([once(worker, 'message'), gone(once(worker, 'exit'))]);
  return source(ready[0] as SourceReady, undefined, async () => void (await worker.terminate()));
}

async function startProcess(options: SourceOptions): Promise<HighRateSource> {
  const child = fork(fileURLToPath(ENTRY), [JSON.stringify(options)], { ...execArgvOption() });
  const exited = once(child, 'exit');
  const ready = await Promise.race([once(child, 'message'), gone(exited)]);
  return source(ready[0] as SourceReady, child.pid, async () => {
    if (child.connected) child.disconnect();
    await exited;
  });
}

async function gone(exited: Promise<unknown[]>): Promise<never> {
  const [code] = await exited;
  throw new KubeloomError(
    'ERR_KUBELOOM_SOURCE_GONE',
    `the high-rate source ended with ${String(code)} before it listened`,
  );
}

function source(ready: SourceReady, pid: number | undefined, close: () => Promise<void>): HighRateSource {
  let closing: Promise<void> | undefined;
  const end = (): Promise<void> => (closing ??= close());
  return { ...ready, pid, close: end, [Symbol.asyncDispose]: end };
}
