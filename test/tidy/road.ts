/**
 * The roads of an event, of a batch of events and of a list item: the files of `src` with a function that V8's precise coverage
 * sees run at least once for each, on an informer whose whole pipeline runs on this thread. The apiserver runs in another.
 */
import assert from 'node:assert/strict';
import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import { startEmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import { InformerThreads, SharedIndexInformer, resources } from '../../src/index.ts';

/** Batches of one event, then bursts of many; items come in one list. No timer fires as often. */
const BATCHES = 20;
const BURST = 2000;
const ITEMS = 500;
const COMPILED = fileURLToPath(new URL('../../src/', import.meta.url));

export interface Roads {
  /** Files such as `src/reflector/router.ts`, sorted. */
  /** For each MODIFIED event. */
  readonly event: readonly string[];
  /** For each batch of events, and not for each event in it. */
  readonly batch: readonly string[];
  readonly listed: readonly string[];
}

export async function measureRoads(): Promise<Roads> {
  await using server = await startEmbeddedApiServer({ tls: false });
  // On a slow machine the objects would come to rest meanwhile, and be packed.
  await using threads = new InformerThreads({ indexerThreads: 0, compressAfterMs: Infinity });
  const pod = { apiVersion: 'v1', kind: 'Pod', spec: { containers: [{ name: 'main', image: 'busybox' }] } };
  await server.apply(
    Array.from({ length: ITEMS }, (_, number) => {
      const metadata = { name: `pod-${number}`, namespace: 'default', labels: { step: '0' } };
      return { type: 'create', resource: 'pods', object: { ...pod, metadata } };
    }),
  );
  await using informer = new SharedIndexInformer(server.connection, resources.core.v1.pods, { threads });
  const updates = new Arrivals();
  const added = new Arrivals();
  informer.addEventHandler({ onAdd: () => added.arrive(), onUpdate: () => updates.arrive() });
  const listed = await filesRun(ITEMS, async () => {
    void informer.run();
    await added.until(ITEMS);
  });
  const alone = await filesRun(BATCHES, async () => {
    for (let event = 1; event <= BATCHES; event++) {
      await change(server, event);
      await updates.until(event);
    }
  });
  const event = await filesRun(BURST, async () => {
    await server.load({ rate: 'max', durationMs: 60_000, eventsMax: BURST });
    await updates.until(BATCHES + BURST);
  });
  return { event, batch: alone.filter((file) => !event.includes(file)), listed };
}

/** Counts calls of a handler. */
class Arrivals {
  #count = 0;
  #target = 0;
  #resolve = (): void => undefined;

  arrive(): void {
    if (++this.#count === this.#target) this.#resolve();
  }

  until(target: number): Promise<void> {
    this.#target = target;
    return new Promise((resolve) => {
      this.#resolve = resolve;
      if (this.#count >= target) resolve();
    });
  }
}

/** Writes to the first pod by HTTP, which runs no function of `src` in this thread. */
async function change({ url, token }: EmbeddedApiServer, step: number): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/merge-patch+json' };
  const body = JSON.stringify({ metadata: { labels: { step: String(step) } } });
  const path = '/api/v1/namespaces/default/pods/pod-0';
  const { status } = await fetch(`${url}${path}`, { method: 'PATCH', headers, body });
  assert.equal(status, 200);
}

/** Runs `work`. Returns the files in which a function has run at least `countMin` times. */
async function filesRun(countMin: number, work: () => Promise<void>): Promise<string[]> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  const files = result
    .filter(({ url }) => url.startsWith('file:') && fileURLToPath(url).startsWith(COMPILED))
    .filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) >= countMin))
    .map(({ url }) => `src/${relative(COMPILED, fileURLToPath(url)).replace(/\.js$/, '.ts')}`)
    // The server's control, which shares the process with the informer.
    .filter((file) => !file.startsWith('src/tools/apiserver/'));
  return files.toSorted();
}
