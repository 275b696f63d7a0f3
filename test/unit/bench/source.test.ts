/** The high-rate source: every event once, in order, each of a listed pod. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sampleUid } from '../../../src/tools/apiserver/load/sample-pod.ts';
import { FIRST_REVISION } from '../../../bench/source/object-templates.ts';
import { SourceServer } from '../../../bench/source/server.ts';
import type { SourceOptions } from '../../../bench/source/server.ts';
import { startHighRateSource } from '../../../bench/source/start.ts';
import { call, watch } from '../tools/apiserver/http.ts';
import type { WatchStream } from '../../semantics/client.ts';

interface Pod {
  readonly metadata: { readonly namespace: string; readonly name: string; readonly uid: string };
}

const keyOf = ({ metadata }: Pod): string => `${metadata.namespace}/${metadata.name}`;
const PODS = 60;
const EVENTS = 150;

interface StatusTimes {
  readonly metadata: { readonly managedFields: readonly { readonly time: string }[] };
  readonly status: {
    readonly containerStatuses: readonly {
      readonly state: { readonly running: { readonly startedAt: string } };
    }[];
  };
}

async function started(options: SourceOptions): Promise<SourceServer> {
  const source = new SourceServer(options);
  await source.listen();
  return source;
}

function eventsOf({ url, listRevision }: SourceServer, path = '/api/v1/pods'): Promise<WatchStream> {
  return watch(`${url}${path}?watch=1&resourceVersion=${listRevision}`);
}

describe('the high-rate source', () => {
  for (const [chunkPerEvent, objectBytes] of [
    [false, 1_024],
    [true, 5_120],
    [false, 10_240],
  ] as const) {
    it(`streams ${objectBytes} bytes an object, chunk per event: ${chunkPerEvent}`, async () => {
      await using source = await started({ chunkPerEvent, objectBytes, pods: PODS, events: EVENTS });
      const { body } = await call(`${source.url}/api/v1/pods?limit=5&resourceVersion=0`);
      assert.deepEqual(body['metadata'], { resourceVersion: String(source.listRevision) });
      const uids = new Map((body['items'] as Pod[]).map((pod) => [keyOf(pod), pod.metadata.uid]));
      assert.equal(uids.size, PODS);
      assert.deepEqual([...uids.keys()], [...uids.keys()].toSorted(), 'in the order of keys');

      const events = await (await eventsOf(source)).count(EVENTS);
      const revisions = events.map(({ object }) => Number(object.metadata.resourceVersion));
      assert.deepEqual(
        revisions,
        Array.from({ length: EVENTS }, (_, index) => source.listRevision + 1 + index),
      );
      for (const { type, object } of events) {
        const pod = object as unknown as Pod;
        assert.equal(type, 'MODIFIED');
        assert.equal(JSON.stringify(object).length, objectBytes);
        assert.equal(pod.metadata.uid, uids.get(keyOf(pod)));
      }
    });
  }

  it('changes what an update of status changes, and no other byte of the object', async () => {
    for (const resource of ['pods', 'widgets'] as const) {
      await using source = await started({ pods: 1, events: 4000, resource });
      const path = resource === 'pods' ? '/api/v1/pods' : '/apis/example.com/v1/widgets';
      const lines = await eventsOf(source, path);
      const events = await lines.count(4000);
      const last = events.at(-1)?.object as unknown as StatusTimes;
      // Revision 4,001, as a second of an hour.
      assert.match(last.metadata.managedFields.at(-1)?.time ?? '', /^2026-.*:06:41Z$/);
      assert.match(last.status.containerStatuses[0]?.state.running.startedAt ?? '', /^2026-.*:06:41Z$/);
      const rest = events.map(({ object }) =>
        JSON.stringify(object).replaceAll(/"resourceVersion":"\d+"|"(time|startedAt)":"[^"]+"/g, ''),
      );
      assert.equal(new Set(rest).size, 1);
      assert.ok(!rest[0]?.includes('"time"'));
    }
  });

  it('gives every pod a uid and a container of its own, also where pods share a template', async () => {
    const pods = 2000;
    await using source = await started({ pods, events: 1 });
    const { body } = await call(`${source.url}/api/v1/pods`);
    const items = body['items'] as (Pod & {
      readonly status: { readonly containerStatuses: readonly { readonly containerID: string }[] };
    })[];
    assert.equal(new Set(items.map(({ metadata }) => metadata.uid)).size, pods);
    assert.equal(new Set(items.map(({ status }) => status.containerStatuses[0]?.containerID)).size, pods);
  });

  it('changes an annotation, too, if the options say so', async () => {
    for (const changes of ['status', 'metadata'] as const) {
      await using source = await started({ pods: 3, events: 9, changes });
      const lines = await eventsOf(source);
      const events = await lines.count(9);
      const sent = events.map(
        ({ object }) =>
          (object.metadata as { annotations?: Record<string, string> }).annotations?.['kubeloom.io/sent-us'],
      );
      assert.equal(new Set(sent).size, changes === 'metadata' ? 9 : 1);
    }
  });

  it('resumes at the requested revision, and gives every client the same events', async () => {
    await using source = await started({
      objectBytes: 800,
      pods: PODS,
      events: EVENTS,
    });
    const open = (from: number): ReturnType<typeof watch> =>
      watch(`${source.url}/api/v1/pods?watch=1&resourceVersion=${from}`);
    const all = await (await open(source.listRevision)).count(EVENTS);
    const rest = await (await open(source.listRevision + 100)).count(EVENTS - 100);
    assert.deepEqual(rest, all.slice(100));
  });

  it('speaks WatchList: the pods, the end bookmark, the events', async () => {
    await using source = await started({
      objectBytes: 800,
      pods: PODS,
      events: 5,
    });
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const lines = await watch(`${source.url}/api/v1/pods?${query}`);
    const events = await lines.count(PODS + 6);
    const types = events.map(({ type }) => type);
    assert.deepEqual(
      types.slice(0, PODS),
      Array.from({ length: PODS }, () => 'ADDED'),
    );
    assert.equal(types[PODS], 'BOOKMARK');
    assert.equal(events[PODS]?.object.metadata.resourceVersion, String(source.listRevision));
    assert.deepEqual(
      types.slice(PODS + 1),
      Array.from({ length: 5 }, () => 'MODIFIED'),
    );
    assert.equal((events[0]?.object as unknown as { kind?: string } | undefined)?.kind, 'Pod');
  });

  it('lists in pages, unless the request accepts any version', async () => {
    await using source = await started({
      objectBytes: 900,
      pods: PODS,
      events: 0,
    });
    const names: string[] = [];
    let next = '';
    for (let page = 0; page < 4; page++) {
      const { body } = await call(`${source.url}/api/v1/pods?limit=25&continue=${next}`);
      names.push(...(body['items'] as Pod[]).map(keyOf));
      const { continue: token = '', remainingItemCount } = body['metadata'] as Record<string, string>;
      assert.equal(remainingItemCount, [35, 10][page]);
      next = token;
      if (token === '') break;
    }
    const { body } = await call(`${source.url}/api/v1/pods?limit=25&resourceVersion=0`);
    assert.deepEqual(names, (body['items'] as Pod[]).map(keyOf));
    assert.equal(names.length, PODS);
  });

  it('serves custom resources with sorted keys, kind and apiVersion in every item, on any number of paths', async () => {
    await using source = await started({
      resource: 'widgets',
      objectBytes: 5120,
      pods: PODS,
      events: 20,
    });
    const path = '/apis/example.com/v1/widgets';
    for (const url of [path, `${path}7`]) {
      const { body } = await call(`${source.url}${url}?limit=7`);
      assert.deepEqual(Object.keys(body), ['apiVersion', 'items', 'kind', 'metadata']);
      const [first] = body['items'] as Record<string, unknown>[];
      assert.equal(first?.['kind'], 'Widget');
      assert.equal((body['items'] as unknown[]).length, 7);
    }
    const events = await (await eventsOf(source, path)).count(20);
    for (const [index, { object }] of events.entries()) {
      const { metadata } = object;
      assert.equal(JSON.stringify(object).length, 5120);
      assert.deepEqual(Object.keys(metadata), Object.keys(metadata).toSorted());
      assert.equal(Number(metadata.resourceVersion), source.listRevision + 1 + index);
      const { name, uid } = (object as unknown as Pod).metadata;
      assert.equal(uid, sampleUid(Number(name.slice(-7))));
    }
  });

  it('leaves managedFields out and keeps the size', async () => {
    await using source = await started({
      managedFields: false,
      objectBytes: 5120,
      pods: 3,
      events: 3,
    });
    const lines = await eventsOf(source);
    for (const { object } of await lines.count(3)) {
      assert.equal(JSON.stringify(object).length, 5120);
      assert.equal('managedFields' in object.metadata, false);
    }
  });

  it('is silent before the first event for the given time, at any pace', async () => {
    const quietMs = 50;
    for (const ratePerSecond of [0, 1000]) {
      const options = { objectBytes: 1024, pods: PODS, events: EVENTS, ratePerSecond, quietMs } as const;
      await using source = await started(options);
      const startedAt = performance.now();
      const lines = await eventsOf(source);
      await lines.count(EVENTS);
      // Timers may be a millisecond early.
      assert.ok(performance.now() - startedAt >= quietMs - 1);
    }
  });

  it('sends the events of a warm-up at a pace of their own, whatever the rate of the others is', async () => {
    for (const ratePerSecond of [0, 1e-6]) {
      const options = { objectBytes: 1024, pods: PODS, events: EVENTS, ratePerSecond, quietMs: 0 } as const;
      await using source = await started({ ...options, warmUpEvents: EVENTS - 1 });
      const lines = await eventsOf(source);
      const count = ratePerSecond === 0 ? EVENTS : EVENTS - 1;
      const revisions = (await lines.count(count)).map(({ object }) =>
        Number(object.metadata.resourceVersion),
      );
      assert.equal(revisions.at(-1), source.listRevision + count);
    }
  });

  it('paces events in a process of its own, each with the microsecond at which it was sent', async (context) => {
    const ratePerSecond = 1000;
    const options = {
      objectBytes: 1024,
      pods: PODS,
      events: EVENTS,
      ratePerSecond,
      quietMs: 0,
      changes: 'metadata',
    } as const;
    const source = await startHighRateSource(options);
    context.after(() => source.close());
    const startedUs = Date.now() * 1000;
    const lines = await watch(`${source.url}/api/v1/pods?watch=1&resourceVersion=${FIRST_REVISION + PODS}`);
    const sent = (await lines.count(EVENTS)).map(({ object }) => {
      const { annotations } = object.metadata as unknown as { annotations: Record<string, string> };
      return Number(annotations['kubeloom.io/sent-us']);
    });
    assert.deepEqual(
      sent,
      sent.toSorted((one, other) => one - other),
    );
    // The wall clock and that of the source may differ by a little.
    assert.ok((sent[0] ?? 0) > startedUs - 1_000_000 && (sent.at(-1) ?? 0) < Date.now() * 1000 + 1_000_000);
    // Never ahead of the rate: a busy machine allows no stricter check.
    assert.ok((sent.at(-1) ?? 0) - (sent[0] ?? 0) > ((EVENTS - 20) / ratePerSecond) * 1e6 * 0.5);
  });
});
