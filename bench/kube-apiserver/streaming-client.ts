/** Informers of one collection in one process: `node streaming-client.js KUBECONFIG MODE COUNT`. It prints its figures when all have synced. */
import { InformerThreads, SharedIndexInformer, loadKubeConfig, resources } from '../../src/index.ts';
import { memoryOf } from './memory-of-process.ts';
import { LABEL, PAGE_SIZE } from './streaming-figures.ts';
import type { ClientFigures, ListMode } from './streaming-figures.ts';

const [kubeconfig = '', given, count] = process.argv.slice(2);
const mode = given as ListMode;
const source = loadKubeConfig({ path: kubeconfig });
const threads = new InformerThreads();
const startMs = performance.now();
const informers = Array.from(
  { length: Number(count) },
  () =>
    new SharedIndexInformer(source, resources.core.v1.configMaps, {
      labelSelector: LABEL,
      threads,
      list: { watchList: mode === 'watchlist' ? 'auto' : 'off', pageSize: mode === 'pages' ? PAGE_SIZE : 0 },
    }),
);
for (const informer of informers) void informer.run();
await Promise.all(informers.map((informer) => informer.waitForSync()));
const durationMs = performance.now() - startMs;
const objects = informers.reduce((sum, informer) => sum + informer.stats().objects, 0);
const figures: ClientFigures = { ...memoryOf(process.pid), durationMs, objects };
process.stdout.write(`${JSON.stringify(figures)}\n`);
for (const informer of informers) await informer.shutdown();
await threads.close();
