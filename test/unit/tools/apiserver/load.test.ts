/** The load generator: it issues exactly what it reports, and every event reaches a watch once and in order. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { STAMP_ANNOTATION, startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import { call, watch } from './http.ts';
import type { WatchEvent, WatchStream } from '../../../semantics/client.ts';

interface Pod {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly resourceVersion: string;
    readonly annotations: Record<string, string>;
  };
}

describe('the load generator', () => {
  let server: EmbeddedApiServer;

  before(async () => {
    server = await startEmbeddedApiServer({ tls: false, token: '' });
    await server.populate({ count: 200, objectBytes: 2_000, namespaces: 4 });
  });
  after(() => server.close());

  async function follow(): Promise<WatchStream> {
    const lines = await watch(`${server.url}/api/v1/pods?watch=1&resourceVersion=${await server.revision()}`);
    await server.waitForWatches(1);
    return lines;
  }

  function tuple({ type, object }: WatchEvent): [number, string, string] {
    const { namespace, name, resourceVersion } = (object as unknown as Pod).metadata;
    return [Number(resourceVersion), type, `${namespace}/${name}`];
  }

  it('populates with objects of the requested size, spread over namespaces', async () => {
    const state = await server.state('pods');
    assert.equal(state.size, 200);
    const namespaces = new Set([...state.keys()].map((key) => key.split('/')[0]));
    assert.deepEqual(namespaces, new Set(['team-0', 'team-1', 'team-2', 'team-3']));
    const { body } = await call(`${server.url}/api/v1/pods`);
    for (const item of body['items'] as object[]) {
      const bytes = JSON.stringify({ kind: 'Pod', apiVersion: 'v1', ...item }).length;
      // The size is exact for a resourceVersion of seven digits.
      assert.ok(bytes > 1_990 && bytes <= 2_000, String(bytes));
    }
  });

  it('issues events at a rate, and a watch receives each of them once, in order', async () => {
    const lines = await follow();
    const report = await server.load({ rate: 2_000, durationMs: 60_000, eventsMax: 600 });
    assert.deepEqual([report.intended, report.issued], [600, 600]);
    assert.equal(report.toRevision - report.fromRevision, report.issued);
    assert.equal(await server.loadIssued(), report.issued);
    const events = await lines.count(report.issued);
    const log = (await server.log('pods', report.fromRevision)).toArray();
    assert.deepEqual(events.map(tuple), log);
    await server.dropWatches({ how: 'close' });
  });

  it('stamps each update with the time it was due', async () => {
    const lines = await follow();
    const before = Date.now();
    await server.load({ rate: 1_000, durationMs: 60_000, eventsMax: 50 });
    const events = await lines.count(50);
    const stamps = events.map(({ object }) =>
      Number((object as unknown as Pod).metadata.annotations[STAMP_ANNOTATION]),
    );
    assert.deepEqual(
      stamps,
      stamps.toSorted((a, b) => a - b),
    );
    const [first = 0, last = Infinity] = [stamps[0], stamps.at(-1)];
    assert.ok(first / 1000 > before - 60_000 && last / 1000 < Date.now() + 60_000, `${first}, ${last}`);
    await server.dropWatches({ how: 'close' });
  });

  it('mixes creates and deletes in, and ends after eventsMax', async () => {
    const lines = await follow();
    const mix = { update: 1, create: 1, delete: 1 };
    const report = await server.load({ rate: 'max', durationMs: 60_000, eventsMax: 900, mix, seed: 7 });
    assert.equal(report.issued, 900);
    const events = await lines.count(900);
    const types = new Set(events.map(({ type }) => type));
    assert.deepEqual(types, new Set(['ADDED', 'DELETED', 'MODIFIED']));
    assert.deepEqual(events.map(tuple), (await server.log('pods', report.fromRevision)).toArray());
    await server.dropWatches({ how: 'close' });
  });

  it('with rate max never leaves a watch further behind than the limit', async () => {
    const lines = await follow();
    const report = await server.load({ rate: 'max', durationMs: 60_000, eventsMax: 12_000 });
    await lines.count(report.issued);
    assert.equal(lines.events.length, 12_000, 'the watch was never closed');
    await server.dropWatches({ how: 'close' });
  });

  it('can be stopped, and refuses a second load while it runs', async () => {
    const running = server.load({ rate: 100, durationMs: 60_000 });
    await assert.rejects(server.load({ rate: 1, durationMs: 1 }), { code: 'ERR_KUBELOOM_STARTED' });
    await server.stopLoad();
    const { issued, intended } = await running;
    assert.ok(issued < intended);
    assert.equal(intended, 6_000, 'rate × duration');
  });

  it('updates objects that another writer changes during the load', async () => {
    const [key = ''] = (await server.state('pods')).keys();
    const [namespace = '', name = ''] = key.split('/');
    const path = `${server.url}/api/v1/namespaces/${namespace}/pods/${name}`;
    const object = { metadata: { namespace, name, labels: { mine: 'kept' } } };
    await server.apply([{ type: 'update', resource: 'pods', object }]);
    await server.load({ rate: 'max', durationMs: 60_000, eventsMax: 3_000 });
    const { body } = await call(path);
    const metadata = body['metadata'] as { labels: object; annotations: Record<string, string> };
    assert.deepEqual(metadata.labels, { mine: 'kept' });
    assert.notEqual(metadata.annotations[STAMP_ANNOTATION], undefined, 'it was updated since');
  });
});
