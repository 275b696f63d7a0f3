/**
 * Metrics and health: the endpoints that a pod with informers offers to the kubelet (/healthz, /readyz) and to Prometheus
 * (/metrics). This program then asks them itself, and ends.
 *
 * In controller-runtime: healthz.Checker and the manager's metrics server.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PROMETHEUS_CONTENT_TYPE, prometheusText } from 'kubeloom/metrics';
import { SharedInformerFactory, loadKubeConfig } from 'kubeloom';

// An early end leaves nothing half done.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit());

const factory = new SharedInformerFactory(loadKubeConfig(), {
  tweakListOptions: (options) => ({ ...options, fieldSelector: 'metadata.name=default' }),
});
const informers = [factory.core.v1.namespaces.informer];

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly type?: string;
}

const ANSWERS: Readonly<Record<string, () => Answer>> = {
  // Informers retry forever: one that has ended by itself needs a new process.
  '/healthz': () => verdict('ended', (informer) => !informer.isStopped()),
  // Ready as soon as all caches are filled. A cache that is old later on is for an alert: all replicas have it.
  '/readyz': () => verdict('not synced', (informer) => informer.hasSynced()),
  '/metrics': () => ({ status: 200, body: prometheusText(), type: PROMETHEUS_CONTENT_TYPE }),
};

function verdict(trouble: string, isGood: (informer: (typeof informers)[number]) => boolean): Answer {
  const bad = informers.filter((informer) => !isGood(informer));
  if (bad.length === 0) return { status: 200, body: 'ok' };
  const reasons = bad.map(({ health }) => health.lastError?.message ?? health.phase);
  return { status: 503, body: `${trouble}: ${reasons.join(', ')}` };
}

const server = createServer((request, response) => {
  const answer: Answer = ANSWERS[request.url ?? '']?.() ?? { status: 404, body: 'not found' };
  const { status, body, type = 'text/plain' } = answer;
  response.writeHead(status, { 'content-type': type }).end(body);
});
server.listen(Number(process.env['PORT'] ?? 0));
await once(server, 'listening');
const { port } = server.address() as AddressInfo;

/** Asks as the kubelet and Prometheus do. */
async function ask(path: string, isWanted: (line: string) => boolean = () => true): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  const lines = (await response.text()).split('\n').filter(isWanted);
  console.log(`GET ${path}: ${response.status} ${lines.join('\n')}`);
}

await ask('/healthz');
await ask('/readyz');
factory.start();
await factory.waitForCacheSync();
await ask('/readyz');
await ask('/metrics', (line) => line.startsWith('kubeloom_informer_objects'));

// A real program does this on SIGTERM: not ready any more, deliver what was received, end.
await factory.shutdown({ drain: true });
await ask('/healthz');
server.closeAllConnections();
server.close();
