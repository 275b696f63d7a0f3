/**
 * A member of a group as a process, with the default times of leases: `node sharded-member.js KUBECONFIG IDENTITY`. It writes a
 * line with its figures to its standard output four times a second. SIGTERM stops it.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { MetricsReading } from '../../src/tools/cli/top/reading.ts';
import { loadKubeConfig, resources } from '../../src/index.ts';
import { collectMetrics } from '../../src/metrics/index.ts';
import type { ListMessage } from '../../src/metrics/index.ts';
import { PartitionedManager } from '../../src/partitions/index.ts';
import { nowMs } from '../../test/e2e/members/history.ts';
import type { MemberFigures, Tenure } from './sharding-figures.ts';

const [kubeconfig = '', identity = ''] = process.argv.slice(2);
const { configMaps } = resources.core.v1;
const EVERY_MS = 250;

const tenures = new Map<string, { -readonly [Member in keyof Tenure]: Tenure[Member] }>();
/** The longest list so far. */
let listMs = 0;
const informers = new Set<string>();

subscribe('kubeloom:list', (message) => {
  const { name, durationMs, result } = message as ListMessage;
  // The informer on the group's Leases lists as well.
  if (result === 'ok' && informers.has(name)) listMs = Math.max(listMs, durationMs);
});

const manager = new PartitionedManager(loadKubeConfig({ path: kubeconfig }), {
  name: 'figures',
  namespace: 'default',
  identity,
  key: 'uid',
  declare: ({ partition, epoch, controllerFor }) => {
    controllerFor(configMaps).reconcile(() => {
      const atMs = nowMs();
      const tenure = tenures.get(`${partition} ${epoch}`);
      if (tenure) tenure.lastMs = atMs;
      else
        tenures.set(`${partition} ${epoch}`, {
          member: identity,
          partition,
          epoch,
          firstMs: atMs,
          lastMs: atMs,
        });
    });
  },
});

function write(): void {
  const reading = new MetricsReading(collectMetrics());
  for (const { name = '' } of reading.labels('kubeloom_informer_objects', { resource: 'configmaps' }))
    informers.add(name);
  const sum = (
    metric: 'kubeloom_watch_events_total' | 'kubeloom_received_bytes_total' | 'kubeloom_informer_objects',
  ): number => reading.sum(metric, { resource: 'configmaps' }) ?? 0;
  const { user, system } = process.cpuUsage();
  const figures: MemberFigures = {
    member: identity,
    owned: manager.owned,
    objects: sum('kubeloom_informer_objects'),
    events: sum('kubeloom_watch_events_total'),
    bytes: sum('kubeloom_received_bytes_total'),
    cpuMs: (user + system) / 1000,
    rssBytes: process.memoryUsage.rss(),
    listMs,
    tenures: [...tenures.values()],
  };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
}

const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
// The conductor holds the other end: a member does not outlive it.
const parent = process.stdin.resume().once('end', () => process.exit(1)) as Socket;
parent.unref();
const timer = setInterval(write, EVERY_MS);
await manager.run({ signal: stop.signal });
clearInterval(timer);
write();
