/**
 * The high-rate source: every event once, in order, of a pod that is in the list.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startHighRateSource } from '../../src/embedded/index.ts';
import { call, watch } from './http.ts';
import type { Event } from './http.ts';

interface Pod {
  readonly metadata: { readonly namespace: string; readonly name: string; readonly uid: string };
}

const keyOf = ({ metadata }: Pod): string => `${metadata.namespace}/${metadata.name}`;
const PODS = 60;
const EVENTS = 150;

describe('the high-rate source', () => {
  for (const [isolation, chunkPerEvent, objectBytes] of [
    ['none', false, 1_024],
    ['thread', true, 5_120],
    ['process', false, 10_240],
  ] as const) {
    it(`streams ${objectBytes} bytes an object, chunk per event: ${chunkPerEvent}, isolation ${isolation}`, async () => {
      const options = { isolation, chunkPerEvent, objectBytes, pods: PODS, events: EVENTS };
      await using source = await startHighRateSource(options);
      const { body } = await call(`${source.url}/api/v1/pods?limit=5`);
      assert.deepEqual(body['metadata'], { resourceVersion: String(source.listRevision) });
      const uids = new Map((body['items'] as Pod[]).map((pod) => [keyOf(pod), pod.metadata.uid]));
      assert.equal(uids.size, PODS);
      assert.deepEqual([...uids.keys()], [...uids.keys()].toSorted(), 'in the order of keys');

      const lines = await watch(`${source.url}/api/v1/pods?watch=1&resourceVersion=${source.listRevision}`);
      const events = await lines.count(EVENTS);
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

  it('resumes where it is asked to, and gives every client the same events', async () => {
    await using source = await startHighRateSource({
      isolation: 'none',
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
    await using source = await startHighRateSource({
      isolation: 'none',
      objectBytes: 800,
      pods: PODS,
      events: 5,
    });
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const lines = await watch(`${source.url}/api/v1/pods?${query}`);
    const events: Event[] = await lines.count(PODS + 6);
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
});
