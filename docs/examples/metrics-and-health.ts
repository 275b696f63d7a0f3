/**
 * Metrics and health: the endpoints that a pod with informers offers to the kubelet (/healthz, /readyz) and to Prometheus
 * (/metrics). This program then asks them itself, and ends.
 *
 * In controller-runtime: healthz.Checker and the manager's metrics server.
 */
import { serveHealth } from 'kubeloom/metrics';
import { SharedInformerFactory, loadKubeConfig } from 'kubeloom';

// An early end leaves nothing half done.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit());

const factory = new SharedInformerFactory(loadKubeConfig(), {
  tweakListOptions: (options) => ({ ...options, fieldSelector: 'metadata.name=default' }),
});
const { informer } = factory.core.v1.namespaces;

let isWarm = false;
await using server = await serveHealth({
  port: Number(process.env['PORT'] ?? 0),
  // Ready as soon as all caches are filled. A cache that is old later on is for an alert: all replicas have it.
  informers: factory,
  readyz: { 'warm-up': () => isWarm },
});

/** Asks as the kubelet and Prometheus do. */
async function ask(path: string, isWanted: (line: string) => boolean = () => true): Promise<void> {
  const response = await fetch(`${server.address}${path}`);
  const lines = (await response.text()).trim().split('\n').filter(isWanted);
  console.log(`GET ${path}: ${response.status} ${lines.join(', ')}`);
}

await ask('/healthz');
await ask('/readyz');
factory.start();
await factory.waitForCacheSync();
isWarm = true;
await ask('/readyz?verbose');
await ask('/metrics', (line) => line.startsWith('kubeloom_informer_objects'));

// A real program does this on SIGTERM: deliver what was received, end.
await factory.shutdown({ drain: true });
await ask('/healthz/informers');
console.log(`${informer.name}: ${informer.health.state}`);
