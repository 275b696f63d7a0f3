/**
 * The run that is in the picture of the dashboard: two informers, three handlers, a work queue and its workers, under a
 * load in which a handler becomes slow, the server's history expires, and the server is down. A scrape is made each second.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { InformerThreads, SharedIndexInformer, resources } from '../../src/index.ts';
import { RateLimitingQueue, runWorkers } from '../../src/workqueue/index.ts';
import { prometheusText } from '../../src/metrics/index.ts';
import { startEmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import type { Scrape } from '../../test/e2e/prometheus.ts';

/** Trouble of the program, with the text of the picture. */
export interface Incident {
  readonly text: string;
  readonly fromSeconds: number;
  readonly toSeconds: number;
}

export const SECONDS = 100;
export const SLOW: Incident = { text: 'a handler is slow', fromSeconds: 20, toSeconds: 32 };
export const EXPIRED: Incident = {
  text: 'the history of the server expires',
  fromSeconds: 50,
  toSeconds: 51,
};
export const DOWN: Incident = { text: 'the server is down', fromSeconds: 70, toSeconds: 78 };

/** Load of the server and work of the program. */
export const PODS_COUNT = 5_000;
export const CHANGES_PER_SECOND = 500;
const OBJECT_BYTES = 2_048;
const CONFIG_MAPS_COUNT = 1_000;
const WORKERS = 8;
const RECONCILE_MS = 3;
const SLOW_CALL_MS = 10;
/** One reconcile in so many fails. */
const FAILURE_EVERY = 200;
const MIX = { update: 90, create: 5, delete: 5 };

/** Runs the program for `SECONDS`; resolves with what a scraper would have received. */
export async function runScene(): Promise<readonly Scrape[]> {
  await using server = await startEmbeddedApiServer({ isolation: 'process' });
  await server.populate({ count: PODS_COUNT, objectBytes: OBJECT_BYTES });
  await server.populate({ resource: 'configmaps', count: CONFIG_MAPS_COUNT, objectBytes: OBJECT_BYTES });
  await using threads = new InformerThreads({ shards: 1 });
  const startMs = Date.now();
  const seconds = (): number => (Date.now() - startMs) / 1000;
  const scraping = scrapeEachSecond(startMs);
  const program = startProgram(server, threads, seconds);
  const load = Promise.all([
    server.load({
      rate: CHANGES_PER_SECOND,
      durationMs: SECONDS * 1000,
      mix: MIX,
      objectBytes: OBJECT_BYTES,
    }),
    incidents(server, seconds),
  ]);
  const scrapes = await scraping;
  await load;
  await program.end();
  return scrapes;
}

async function incidents(server: EmbeddedApiServer, seconds: () => number): Promise<void> {
  await delay((EXPIRED.fromSeconds - seconds()) * 1000);
  await server.expireWatches();
  await delay((DOWN.fromSeconds - seconds()) * 1000);
  await server.restart({ downMs: (DOWN.toSeconds - DOWN.fromSeconds) * 1000 });
}

async function scrapeEachSecond(startMs: number): Promise<readonly Scrape[]> {
  const scrapes: Scrape[] = [];
  for (let second = 0; second <= SECONDS; second++) {
    await delay(Math.max(0, startMs + second * 1000 - Date.now()));
    scrapes.push({ atMs: startMs + second * 1000, text: prometheusText() });
  }
  return scrapes;
}

interface Program {
  end(): Promise<void>;
}

function startProgram(server: EmbeddedApiServer, threads: InformerThreads, seconds: () => number): Program {
  const options = { threads, onError: () => undefined };
  const pods = new SharedIndexInformer(server.connection, resources.core.v1.pods, options);
  const configMaps = new SharedIndexInformer(server.connection, resources.core.v1.configMaps, options);
  const queue = new RateLimitingQueue<string>({ name: 'pods' });
  pods.addEventHandler(
    {
      onAdd: ({ key }) => queue.add(key),
      onUpdate: (_previous, { key }) => queue.add(key),
      onDelete: ({ key }) => queue.add(key),
    },
    { name: 'enqueue', measureDuration: true },
  );
  const isSlow = (): boolean => seconds() >= SLOW.fromSeconds && seconds() < SLOW.toSeconds;
  pods.addEventHandler(
    { onUpdate: () => (isSlow() ? delay(SLOW_CALL_MS) : undefined) },
    { name: 'notify', measureDuration: true },
  );
  configMaps.addEventHandler({ onAdd: () => undefined }, { name: 'settings', measureDuration: true });
  let reconciled = 0;
  const reconcile = async (key: string): Promise<void> => {
    await delay(RECONCILE_MS, pods.getIndexer().getByKey(key)?.object.spec?.nodeName);
    if (++reconciled % FAILURE_EVERY === 0) throw new Error('the other system did not answer');
  };
  const workers = runWorkers(queue, WORKERS, reconcile, { onError: () => undefined });
  void pods.run();
  void configMaps.run();
  return {
    async end() {
      await Promise.all([pods.shutdown(), configMaps.shutdown()]);
      queue.shutDown();
      await workers;
    },
  };
}
