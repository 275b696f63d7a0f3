/** WATCH: its start, its events, its end. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Fixture, refused } from './fixture.ts';
import type { Target } from './target.ts';
import { brief } from './client.ts';
import type { WatchStream } from './client.ts';

export function watchSemantics(target: () => Promise<Target>): void {
  describe('WATCH from a revision', () => {
    const fixture = Fixture.use(target);

    it('sends later events in order, each object with the revision of its change', async () => {
      const a = await fixture.create('a');
      const b = await fixture.create('b');
      const stream = await fixture.watchFrom(a.metadata.resourceVersion);
      assert.equal(stream.status, 200);
      assert.equal(stream.headers['content-type'], 'application/json');
      assert.equal(stream.headers['transfer-encoding'], 'chunked');

      const changed = await fixture.touch('a', '1');
      await fixture.delete('b');
      const events = await stream.take(3);
      assert.deepEqual(
        events.map(brief),
        ['ADDED b', 'MODIFIED a', 'DELETED b'],
        'exclusive: a itself is not sent',
      );
      const versions = events.map(({ object }) => BigInt(object.metadata.resourceVersion));
      assert.equal(String(versions[0]), b.metadata.resourceVersion);
      assert.equal(String(versions[1]), changed.metadata.resourceVersion);
      assert.ok((versions[2] ?? 0n) > (versions[1] ?? 0n), 'a deletion has a revision of its own');
      assert.equal(events[0]?.object.kind, 'ConfigMap', 'objects of a watch carry kind …');
      assert.equal(events[0]?.object.apiVersion, 'v1', '… and apiVersion');
    });

    it('sends a deleted object in its last state', async () => {
      const created = await fixture.create('gone', { tier: 'last' }, { key: 'value' });
      await fixture.delete('gone');
      const from = created.metadata.resourceVersion;
      const stream = await fixture.watchFrom(from);
      const event = await stream.next();
      assert.equal(brief(event), 'DELETED gone');
      assert.deepEqual(event?.object.data, { key: 'value' });
      assert.deepEqual(event?.object.metadata.labels, { tier: 'last' });
      assert.equal(event?.object.metadata.uid, created.metadata.uid);
    });

    it('sends nothing for a write that changed nothing', async () => {
      const created = await fixture.create('same', {}, { key: 'value' });
      const from = created.metadata.resourceVersion;
      const stream = await fixture.watchFrom(from);
      const again = await fixture.patch(fixture.configMap('same'), { data: { key: 'value' } });
      assert.equal(again.metadata.resourceVersion, from);
      await fixture.create('fence');
      assert.equal(brief(await stream.next()), 'ADDED fence');
    });

    it('of the future is silent until that revision is passed', async () => {
      const created = await fixture.create('z');
      const from = BigInt(created.metadata.resourceVersion) + 3n;
      const stream = await fixture.watchFrom(from);
      const written: bigint[] = [];
      for (let count = 0; count < 6; count++) {
        written.push(BigInt((await fixture.touch('z', String(count))).metadata.resourceVersion));
      }
      const expected = written.filter((version) => version > from);
      const events = await stream.take(expected.length);
      const sent = events.map(({ object }) => BigInt(object.metadata.resourceVersion));
      assert.deepEqual(sent, expected);
    });

    it('from a version that is not a number fails with 500 and a bare message', async () => {
      const answer = await fixture.client.get(fixture.configMaps('watch=1&resourceVersion=abc'));
      const message =
        'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax';
      refused(answer, 500, message);
      assert.equal(answer.body.reason, undefined);
    });
  });
  startSemantics(target);
  endSemantics(target);
  nameSemantics(target);
}

function startSemantics(target: () => Promise<Target>): void {
  describe('WATCH without a revision', () => {
    const fixture = Fixture.use(target);

    for (const query of ['watch=1', 'watch=true', 'watch=1&resourceVersion=0']) {
      it(`(${query}) begins with an ADDED for every object, sorted by name, then follows`, async () => {
        await fixture.create('b');
        await fixture.create('a');
        await fixture.touch('b', '1');
        // A list waits for the last write; after it "0" includes that write.
        const version = await fixture.revision();
        await fixture.list(`resourceVersion=${version}`);
        const stream = await fixture.watch(fixture.configMaps(query));
        assert.deepEqual((await stream.take(2)).map(brief), ['ADDED a', 'ADDED b']);
        await fixture.delete('a');
        assert.equal(brief(await stream.next()), 'DELETED a');
      });
    }

    it('begins without objects when sendInitialEvents=false', async () => {
      await fixture.create('old');
      const query = 'watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan';
      const stream = await fixture.watch(fixture.configMaps(query));
      await fixture.create('new');
      assert.equal(brief(await stream.next()), 'ADDED new');
    });
  });
}

function endSemantics(target: () => Promise<Target>): void {
  // Each of these takes seconds; together they take no longer than one.
  describe('WATCH ends', { concurrency: true }, () => {
    const fixture = Fixture.use(target, 'together');

    async function open(name: string, query: string): Promise<WatchStream> {
      const from = await fixture.revision();
      const selector = `fieldSelector=metadata.name%3D${name}`;
      return fixture.watch(fixture.configMaps(`watch=1&resourceVersion=${from}&${selector}&${query}`));
    }

    it('cleanly after timeoutSeconds, without another event', async () => {
      const stream = await open('silent', 'timeoutSeconds=1');
      assert.deepEqual(await stream.rest(), []);
      assert.equal(await stream.ended, 'complete');
    });

    it('with a bookmark two seconds before, when bookmarks are allowed', async () => {
      const stream = await open('marked', 'allowWatchBookmarks=true&timeoutSeconds=4');
      const { metadata } = await fixture.create('marked');
      const [added, ...bookmarks] = await stream.rest();
      assert.equal(brief(added), 'ADDED marked');
      // At least one; a new watch may get one earlier.
      assert.deepEqual([...new Set(bookmarks.map(brief))], ['BOOKMARK']);
      const bookmark = bookmarks.at(-1)?.object;
      assert.ok(BigInt(bookmark?.metadata.resourceVersion ?? 0) >= BigInt(metadata.resourceVersion));
      assert.equal(bookmark?.kind, 'ConfigMap');
      assert.equal(bookmark?.apiVersion, 'v1');
      assert.equal(bookmark?.metadata.annotations, undefined);
      assert.equal(await stream.ended, 'complete');
    });

    it('never with a bookmark when they are not allowed', async () => {
      const stream = await open('unmarked', 'timeoutSeconds=3');
      await fixture.create('unmarked');
      assert.deepEqual((await stream.rest()).map(brief), ['ADDED unmarked']);
    });

    it('with 400 at once when timeoutSeconds is not a number', async () => {
      const answer = await fixture.client.get(fixture.configMaps('watch=1&timeoutSeconds=abc'));
      refused(answer, 400, 'strconv.ParseInt: parsing "abc": invalid syntax');
    });
  });
}

function nameSemantics(target: () => Promise<Target>): void {
  describe('WATCH of one object', () => {
    const fixture = Fixture.use(target);

    it('is a field selector on its name', async () => {
      await fixture.create('other');
      const { metadata } = await fixture.create('mine');
      const query = `watch=1&resourceVersion=${metadata.resourceVersion}&fieldSelector=metadata.name%3Dmine`;
      const stream = await fixture.watch(fixture.configMaps(query));
      await fixture.touch('other', '1');
      await fixture.touch('mine', '1');
      assert.equal(brief(await stream.next()), 'MODIFIED mine');
    });

    it('differs from watch=1 on the URL of the object, which is a GET', async () => {
      await fixture.create('mine');
      const { body } = await fixture.client.get(`${fixture.configMap('mine')}?watch=1`);
      assert.equal(body.kind, 'ConfigMap');
      const absent = await fixture.client.get(`${fixture.configMap('absent')}?watch=1`);
      assert.equal(absent.status, 404);
    });
  });
}
