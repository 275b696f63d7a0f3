/**
 * Sharded watches of a real kube-apiserver, with the feature gate and without: four members have a quarter of the
 * objects each. Two begin with a LIST, two with a streaming list.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MetricsReading } from '../../src/tools/cli/top/reading.ts';
import { SharedIndexInformer, resources, shardSelectorText, partitionRanges } from '../../src/index.ts';
import { collectMetrics } from '../../src/metrics/index.ts';
import type { ResourceRef, ShardSelector } from '../../src/index.ts';
import type { MetricLabels, MetricName } from '../../src/metrics/metrics-table.ts';
import { HANG_MS } from '../kit/hang.ts';
import { RecordingHandler } from '../kit/recording-handler.ts';
import { clusterOfTests } from './control-plane.ts';
import { getText } from './get-text.ts';
import { until } from '../kit/until.ts';

const CONFIG_MAPS: ResourceRef = resources.core.v1.configMaps;
const OBJECTS = 400;
const NAMES = Array.from({ length: OBJECTS }, (_, index) => `sharded-${index}`);
/** Requests of the writer in flight at once. */
const CONCURRENCY = 20;
const MEMBERS = 4;
/** Objects whose hashes are compared with the server's: as many as a URL holds. */
const HASHED = 50;
const NAMESPACE = 'default';
const PATH = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
/** Bookmarks of four watches in the time of the changes, at most. */
const BOOKMARKS_MAX = 40;
const WITHOUT_ECHO = 'filtered-without-echo';
const GATE = '--feature-gates=ShardedListAndWatch=true';

interface Member {
  readonly informer: SharedIndexInformer;
  readonly handler: RecordingHandler;
}

interface Item {
  readonly metadata: { readonly name: string; readonly uid: string };
}

/** Returns the selector of the objects with exactly these hashes: FNV-1a of the uid, by its definition. */
function selectorOf(uids: readonly string[]): ShardSelector {
  const bound = (hash: bigint): string => `0x${hash.toString(16).padStart(16, '0')}`;
  const ranges = uids.map((uid) => {
    let hash = 0xcbf29ce484222325n;
    for (const byte of Buffer.from(uid)) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) % 2n ** 64n;
    return { start: bound(hash), end: bound(hash + 1n) };
  });
  return { key: 'uid', ranges };
}

async function forEachName(work: (name: string) => Promise<unknown>): Promise<void> {
  for (let done = 0; done < NAMES.length; done += CONCURRENCY) {
    await Promise.all(NAMES.slice(done, done + CONCURRENCY).map(work));
  }
}

for (const isFiltering of [true, false]) {
  describe(`a real kube-apiserver ${isFiltering ? 'with' : 'without'} ShardedListAndWatch`, () => {
    const cluster = clusterOfTests({ apiServerFlags: isFiltering ? [GATE] : [] });

    async function started(partition: number): Promise<Member> {
      const { kubeConfig, threads, users } = cluster();
      const informer = new SharedIndexInformer(kubeConfig, CONFIG_MAPS, {
        threads,
        namespace: NAMESPACE,
        shardSelector: partitionRanges([partition], MEMBERS),
        list: { watchList: partition % 2 === 0 ? 'off' : 'auto' },
      });
      users.push(informer);
      const handler = new RecordingHandler();
      const registration = informer.addEventHandler(handler);
      void informer.run();
      await informer.waitForSync({ signal: AbortSignal.timeout(HANG_MS), registration });
      return { informer, handler };
    }

    /** Returns the server's own metric of watches of config maps. */
    async function served(metric: string): Promise<number> {
      const text = await getText(cluster().controlPlane, '/metrics');
      const lines = text.split('\n').filter((line) => line.startsWith(`apiserver_${metric}{`));
      const line = lines.find((each) => each.includes('resource="configmaps"'));
      return Number(line?.split(' ').at(-1) ?? 0);
    }

    async function listed(selector?: ShardSelector): Promise<readonly Item[]> {
      const query = selector ? `?shardSelector=${encodeURIComponent(shardSelectorText(selector))}` : '';
      const text = await getText(cluster().controlPlane, `${PATH}${query}`);
      return (JSON.parse(text) as { readonly items: readonly Item[] }).items;
    }

    test('C223 C224 four members have each object and its change once between them', async () => {
      const { api } = cluster();
      const namespace = NAMESPACE;
      const body = (name: string, round: string): object => ({ metadata: { name }, data: { round } });
      await forEachName((name) => api.createNamespacedConfigMap({ namespace, body: body(name, '0') }));
      const members = await Promise.all(
        Array.from({ length: MEMBERS }, (_, partition) => started(partition)),
      );
      const filteredBefore = await served('watch_filtered_events_total');
      const sentBefore = await served('watch_events_total');
      await forEachName((name) => api.replaceNamespacedConfigMap({ namespace, name, body: body(name, '1') }));
      for (const { informer, handler } of members) await handler.count(2 * informer.stats().objects);

      const names = members.flatMap(({ handler }) => handler.names);
      const expected = ['add', 'update'].flatMap((type) => NAMES.map((name) => `${type} ${name}`));
      assert.deepEqual(names.toSorted(), expected.toSorted());
      const sum = (metric: MetricName, labels: MetricLabels): number =>
        new MetricsReading(collectMetrics()).sum(metric, labels) ?? 0;
      const received = members.map(({ informer }) =>
        sum('kubeloom_watch_events_total', { name: informer.stats().name, type: 'modified' }),
      );
      const judged = (): unknown[] => members.map(({ informer }) => informer.stats().shardFilterSupport);
      await until(() => !judged().includes(undefined), 'what the server has shown of each selector');
      if (isFiltering) {
        assert.deepEqual(
          received,
          members.map(({ informer }) => informer.stats().objects),
        );
        assert.equal(sum('kubeloom_ignored_events_total', { reason: 'shard' }), 0);
        assert.deepEqual(judged(), ['filtered', WITHOUT_ECHO, 'filtered', WITHOUT_ECHO]);
        const sent = (await served('watch_events_total')) - sentBefore;
        assert.ok(
          sent <= OBJECTS + BOOKMARKS_MAX,
          `the server has sent ${sent} events to ${MEMBERS} members`,
        );
        const filtered = (await served('watch_filtered_events_total')) - filteredBefore;
        assert.ok(filtered >= OBJECTS * (MEMBERS - 1), `the server has filtered ${filtered} events`);
      } else {
        assert.ok(judged().every((filtering) => filtering === 'ignored'));
        assert.equal(await served('watch_filtered_events_total'), 0);
      }
      for (const { informer } of members) await informer.shutdown();
    });

    test(`C227 the server ${isFiltering ? 'has the same hashes' : 'sends everything'}`, async () => {
      const uids = (await listed()).slice(0, HASHED).map(({ metadata }) => metadata.uid);
      const selected = await listed(selectorOf(uids));
      const found = selected.map(({ metadata }) => metadata.uid);
      if (isFiltering) assert.deepEqual(found, uids);
      else assert.equal(selected.length, OBJECTS);
    });
  });
}
