/** The high-rate source: every event once, in order, each of a listed pod. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SourceServer, placeOf } from '../../../bench/source/server.ts';
import type { SourceOptions } from '../../../bench/source/server.ts';
import { call, watch } from '../tools/apiserver/http.ts';
import type { WatchStream } from '../../semantics/client.ts';

interface Pod {
  readonly metadata: { readonly namespace: string; readonly name: string; readonly uid: string };
}

const keyOf = ({ metadata }: Pod): string => `${metadata.namespace}/${metadata.name}`;
const PODS = 60;
const EVENTS = 150;

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

  it('changes some objects as often as a burst, and then the next objects', () => {
    const places = Array.from({ length: 10 }, (_, event) => placeOf(event, 3, 2));
    assert.deepEqual(places, [0, 1, 0, 1, 0, 1, 2, 3, 2, 3]);
  });

  it('without bursts changes every object by turns, at any rate', () => {
    for (const objects of [1, 7]) {
      const places = Array.from({ length: 20 }, (_, event) => placeOf(event, 1, objects));
      assert.deepEqual(
        places,
        places.map((_, event) => event),
      );
    }
  });

  it('gives each event of a burst its own version', async () => {
    const burst = { burst: 1000, ratePerSecond: 1000, quietMs: 0 };
    await using source = await started({ objectBytes: 800, pods: PODS, events: 5, ...burst });
    const events = await (await eventsOf(source)).count(5);
    const keys = events.map(({ object }) => keyOf(object as unknown as Pod));
    assert.equal(new Set(keys).size, 1);
    const revisions = events.map(({ object }) => Number(object.metadata.resourceVersion));
    assert.deepEqual(
      revisions,
      [1, 2, 3, 4, 5].map((event) => source.listRevision + event),
    );
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
});
