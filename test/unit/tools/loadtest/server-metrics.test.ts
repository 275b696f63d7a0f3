/** The metrics of the server: which are kept, and what changed. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { FakeClock } from '../../../../src/tools/apiserver/testing/fake-clock.ts';
import { ApiClient } from '../../../../src/http/api-client.ts';
import {
  ServerMetrics,
  changesBetween,
  samplesOf,
  totalOf,
} from '../../../../src/tools/loadtest/run/server-metrics.ts';
import type { Samples } from '../../../../src/tools/loadtest/run/server-metrics.ts';

const WANTED = new Set(['events_total', 'memory_bytes']);

function samples(pods: number): Samples {
  const text = `# HELP events_total Events.
# TYPE events_total counter
events_total{kind="Pod",note="a \\"b\\", c"} ${pods}
events_total{kind="Lease",note=""} 5
other_total{kind="Pod"} 9
memory_bytes 1.5e+09 1700000000000
`;
  return samplesOf(text, WANTED);
}

it('a sample has its metric, its labels and its value', () => {
  assert.deepEqual(
    [...samples(3).values()],
    [
      { metric: 'events_total', labels: { kind: 'Pod', note: 'a \\"b\\", c' }, value: 3 },
      { metric: 'events_total', labels: { kind: 'Lease', note: '' }, value: 5 },
      { metric: 'memory_bytes', labels: {}, value: 1.5e9 },
    ],
  );
  assert.equal(totalOf(samples(3), 'events_total'), 8);
});

it('the changes are the metrics with another value, also those that were not there before', () => {
  assert.deepEqual(changesBetween(samples(3), samples(4)), [
    { metric: 'events_total', labels: { kind: 'Pod', note: 'a \\"b\\", c' }, before: 3, after: 4 },
  ]);
  assert.equal(changesBetween(new Map(), samples(3)).length, 3);
  assert.deepEqual(changesBetween(undefined, samples(3)), []);
});

it('a line of millions of letters is read: no text is searched twice', () => {
  const text = `events_total{${'a'.repeat(4_000_000)}} 1\nevents_total{kind="Pod"} 2\n`;
  const labels = [...samplesOf(text, WANTED).values()].map(({ labels }) => labels);
  assert.deepEqual(labels, [{}, { kind: 'Pod' }]);
});

/** Runs a test with the metrics of a server that answers like this. */
async function withMetrics(
  answer: RequestListener,
  use: (metrics: ServerMetrics, clock: FakeClock, requests: () => number) => Promise<void>,
): Promise<void> {
  let requests = 0;
  await using server = createServer((request, response) => {
    requests++;
    answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const clock = new FakeClock();
  const client = new ApiClient({ server: `http://127.0.0.1:${port}` });
  try {
    await use(new ServerMetrics(client, [], ['configmaps'], clock), clock, () => requests);
  } finally {
    server.closeAllConnections();
  }
}

it('a reading has the counters, and the stages of the written resources', async () => {
  const text = `apiserver_watch_events_total{kind="ConfigMap"} 3
apiserver_watch_cache_read_wait_seconds_bucket{resource="configmaps",le="+Inf"} 4
apiserver_watch_cache_read_wait_seconds_count{resource="configmaps"} 4
apiserver_watch_cache_read_wait_seconds_count{resource="leases"} 5
`;
  await withMetrics(
    (_, response) => response.end(text),
    async (metrics) => {
      const reading = await metrics.read();
      const counters = [...(reading?.samples.values() ?? [])].map(({ metric }) => metric);
      assert.deepEqual(counters, ['apiserver_watch_events_total']);
      const counts = [...(reading?.stages.values() ?? [])].map(({ count }) => count);
      assert.deepEqual(counts, [4]);
      assert.equal(metrics.problem, undefined);
    },
  );
});

it('a server that forbids its metrics is asked once, and the problem says so', async () => {
  await withMetrics(
    (_, response) => response.writeHead(403).end(),
    async (metrics, _, requests) => {
      assert.equal(await metrics.read(), undefined);
      assert.equal(await metrics.read(), undefined);
      assert.match(metrics.problem ?? '', /^GET \/metrics was forbidden: .* nonResourceURL \/metrics/);
      assert.equal(requests(), 1);
    },
  );
});

it('a server that does not answer in time is asked once, and the problem says so', async () => {
  let asked = (): void => {};
  const isAsked = new Promise<void>((resolve) => (asked = resolve));
  await withMetrics(
    () => asked(),
    async (metrics, clock, requests) => {
      const reading = metrics.read();
      await isAsked;
      clock.advance(10_000);
      assert.equal(await reading, undefined);
      assert.equal(await metrics.read(), undefined);
      assert.equal(metrics.problem, 'GET /metrics was not answered within 10 s');
      assert.equal(requests(), 1);
    },
  );
});

it('a server that fails once is asked again, and the first problem is kept', async () => {
  let isDown = true;
  await withMetrics(
    (_, response) => response.writeHead(isDown ? 500 : 200).end(),
    async (metrics) => {
      assert.equal(await metrics.read(), undefined);
      isDown = false;
      assert.notEqual(await metrics.read(), undefined);
      assert.match(metrics.problem ?? '', /500/);
    },
  );
});
