/** Starts the high-rate source in a separate process, so that the source's CPU time is not part of the client's. */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { execArgvOption } from '../../src/tools/apiserver/run/exec-argv.ts';
import type { SourceOptions } from './server.ts';

/** The message of the entry to the parent once it listens. */
export interface SourceReady {
  /** On loopback, without a token. */
  readonly url: string;
  /** The CA certificate, PEM; '' without TLS. */
  readonly ca: string;
}

export interface HighRateSource extends SourceReady {
  close(): Promise<void>;
}

const EXTENSION = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
const ENTRY = new URL(`./entry${EXTENSION}`, import.meta.url);

export async function startHighRateSource(options: SourceOptions): Promise<HighRateSource> {
  const child = fork(fileURLToPath(ENTRY), [JSON.stringify(options)], { ...execArgvOption() });
  const exited = once(child, 'exit');
  const [ready] = (await Promise.race([once(child, 'message'), gone(exited)])) as [SourceReady];
  const close = async (): Promise<void> => {
    if (child.connected) child.disconnect();
    await exited;
  };
  return { ...ready, close };
}

async function gone(exited: Promise<unknown[]>): Promise<never> {
  const [code] = await exited;
  throw new Error(`the high-rate source ended with ${String(code)} before it listened`);
}
