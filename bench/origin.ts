/**
 * The server that a case's clients read: the high-rate source, or the embedded apiserver under load, in a separate
 * process.
 */
import { setTimeout as after } from 'node:timers/promises';
import type { EmbeddedApiServer } from '../src/tools/apiserver/run/embedded-server.ts';
import { startHighRateSource } from './source/start.ts';
import { startEmbeddedApiServer } from '../src/tools/apiserver/run/start.ts';
import type { BenchCase } from './case.ts';
import { prepareClient } from './clients.ts';

export interface Origin {
  readonly url: string;
  readonly ca: string;
  /** Performs the case's actions on the server, from a client's start until `over` is aborted. */
  accompany(over: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Time for which a client watches before its watch is broken. */
const WATCH_MS = 2000;
/** Longer than any client needs to list. */
const AGAIN_MS = 20_000;
const LOAD_MS = 600_000;

/** A key; cases with the same key can share an origin. */
export function originKey(benchCase: BenchCase): string {
  const { source, churnPerSecond } = benchCase;
  return JSON.stringify([source, churnPerSecond, hasProtobuf(benchCase)]);
}

function hasProtobuf({ clients }: BenchCase): boolean {
  return clients['client-go-protobuf'] !== undefined;
}

export async function startOrigin(benchCase: BenchCase): Promise<Origin> {
  const { source, churnPerSecond } = benchCase;
  if (churnPerSecond !== undefined) return startChurn(benchCase, churnPerSecond);
  const program = hasProtobuf(benchCase)
    ? await prepareClient('client-go-protobuf', benchCase.task)
    : undefined;
  // Without the program there is no protobuf, and no client that reads it.
  const protobuf =
    program !== undefined && 'command' in program ? { protobufProgram: program.command[0] } : {};
  const started = await startHighRateSource({ ...source, ...protobuf });
  const { url, ca } = started;
  return { url, ca, accompany: () => Promise.resolve(), close: () => started.close() };
}

async function startChurn({ source }: BenchCase, rate: number): Promise<Origin> {
  const server = await startEmbeddedApiServer({ isolation: 'process', tls: false, token: '' });
  await server.populate({ count: source.pods, objectBytes: source.objectBytes });
  const load = server.load({ rate, durationMs: LOAD_MS });
  return {
    url: server.url,
    ca: '',
    accompany: (over) => expireWatch(server, over),
    close: async () => {
      await server.stopLoad();
      await load;
      await server.close();
    },
  };
}

/**
 * Sends a 410 once the client watches, so that the client must list again while changes continue. On a slow machine the
 * visible watch may be the last client's, and this client connects later. So the 410 is repeated until the client has
 * ended.
 */
async function expireWatch(server: EmbeddedApiServer, over: AbortSignal): Promise<void> {
  const ended = new Promise<void>((resolve) => over.addEventListener('abort', () => resolve()));
  await Promise.race([server.waitForWatches(1), ended]);
  for (let pauseMs = WATCH_MS; !over.aborted; pauseMs = AGAIN_MS) {
    await Promise.race([after(pauseMs, undefined, { ref: false }), ended]);
    if (!over.aborted) await server.expireWatches();
  }
}
