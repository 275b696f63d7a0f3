/** WatchList: the initial state as events, ended by a bookmark with an annotation, then the changes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Fixture, refused } from './fixture.ts';
import type { Target } from './target.ts';
import { brief } from './client.ts';

const WATCH_LIST =
  'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
const END = { 'k8s.io/initial-events-end': 'true' };

export function watchListSemantics(target: () => Promise<Target>): void {
  describe('WatchList', () => {
    const fixture = Fixture.use(target);

    it('sends every object sorted by name, then the end bookmark, then changes', async () => {
      await fixture.create('b');
      const last = await fixture.create('a');
      const stream = await fixture.watch(fixture.configMaps(WATCH_LIST));
      const events = await stream.take(3);
      assert.deepEqual(events.map(brief), ['ADDED a', 'ADDED b', 'BOOKMARK']);
      const bookmark = events[2]?.object;
      assert.deepEqual(bookmark?.metadata.annotations, END);
      assert.equal(bookmark?.kind, 'ConfigMap');
      assert.ok(BigInt(bookmark?.metadata.resourceVersion ?? 0) >= BigInt(last.metadata.resourceVersion));
      await fixture.touch('b', '1');
      assert.equal(brief(await stream.next()), 'MODIFIED b');
    });

    it('of an empty collection is the bookmark alone', async () => {
      const stream = await fixture.watch(fixture.configMaps(WATCH_LIST));
      const bookmark = await stream.next();
      assert.equal(brief(bookmark), 'BOOKMARK');
      assert.deepEqual(bookmark?.object.metadata.annotations, END);
      assert.ok(BigInt(bookmark?.object.metadata.resourceVersion ?? 0) > 0n);
    });

    it('accepts resourceVersion 0 and N, and contains at least that state', async () => {
      const { metadata } = await fixture.create('there');
      const version = metadata.resourceVersion;
      const stream = await fixture.watch(fixture.configMaps(`${WATCH_LIST}&resourceVersion=${version}`));
      const events = await stream.take(2);
      assert.deepEqual(events.map(brief), ['ADDED there', 'BOOKMARK']);
      assert.ok(BigInt(events[1]?.object.metadata.resourceVersion ?? 0) >= BigInt(version));
      const any = await fixture.watch(fixture.configMaps(`${WATCH_LIST}&resourceVersion=0`));
      assert.deepEqual((await any.take(2)).map(brief), ['ADDED there', 'BOOKMARK']);
    });

    it('can be resumed at the end bookmark: nothing is lost, nothing is sent twice', async () => {
      await fixture.create('initial');
      const stream = await fixture.watch(fixture.configMaps(WATCH_LIST));
      const [, bookmark] = await stream.take(2);
      stream.close();
      await fixture.touch('initial', '1');
      await fixture.create('next');
      const from = bookmark?.object.metadata.resourceVersion ?? '';
      const resumed = await fixture.watchFrom(from);
      assert.deepEqual((await resumed.take(2)).map(brief), ['MODIFIED initial', 'ADDED next']);
    });

    it('has no bookmark when bookmarks are not allowed', async () => {
      await fixture.create('a');
      const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
      const stream = await fixture.watch(fixture.configMaps(query));
      assert.equal(brief(await stream.next()), 'ADDED a');
      await fixture.create('b');
      assert.equal(brief(await stream.next()), 'ADDED b');
    });

    it('also applies selectors to the initial events', async () => {
      await fixture.create('no', { app: 'y' });
      await fixture.create('yes', { app: 'x' });
      const stream = await fixture.watch(fixture.configMaps(`${WATCH_LIST}&labelSelector=app%3Dx`));
      assert.deepEqual((await stream.take(2)).map(brief), ['ADDED yes', 'BOOKMARK']);
    });
  });
  watchListErrorSemantics(target);
}

const REFUSED: ReadonlyArray<readonly [query: string, message: string]> = [
  [
    'sendInitialEvents=true',
    'resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
  ],
  [
    'resourceVersionMatch=NotOlderThan',
    'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
  ],
  [
    'sendInitialEvents=true&resourceVersionMatch=Exact',
    '[resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan, resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"]',
  ],
];

function watchListErrorSemantics(target: () => Promise<Target>): void {
  describe('WatchList refuses', () => {
    const fixture = Fixture.use(target);

    it('a revision of the future with an ERROR event inside a 200', async () => {
      const stream = await fixture.watch(fixture.configMaps(`${WATCH_LIST}&resourceVersion=999999999`));
      assert.equal(stream.status, 200);
      const event = await stream.next();
      assert.equal(event?.type, 'ERROR');
      assert.equal(event?.object.kind, 'Status');
      assert.equal(event?.object.code, 504);
      assert.match(
        event?.object.message ?? '',
        /^Timeout: Too large resource version: 999999999, current: \d+$/,
      );
      assert.equal(await stream.next(), undefined);
    });

    for (const [query, message] of REFUSED) {
      it(`${query} with 422`, async () => {
        const answer = await fixture.client.get(fixture.configMaps(`watch=1&${query}`));
        refused(answer, 422, `ListOptions.meta.k8s.io "" is invalid: ${message}`);
      });
    }

    it('a collection that the server does not have with 404', async () => {
      const { status, body } = await fixture.client.get(`/api/v1/widgets?${WATCH_LIST}`);
      assert.equal(status, 404);
      assert.equal(body.reason, 'NotFound');
    });
  });
}
