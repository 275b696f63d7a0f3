/** The bounded window: forgotten revisions expire, and a watch that falls out of the window is closed. */
import assert from 'node:assert/strict';
import { createConnection } from 'node:net';
import { describe, it } from 'node:test';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import { call, watch } from './http.ts';
import { EventLog } from '../../../../src/tools/apiserver/store/event-log.ts';
import { seededRandom } from '../../../../src/base/random.ts';
import { ResourceTable } from '../../../../src/tools/apiserver/store/resources.ts';
import { builtInResources } from '../../../../src/tools/apiserver/shapes/built-in-resources.ts';
import { StoredObject } from '../../../../src/tools/apiserver/store/stored-object.ts';

async function touch(server: EmbeddedApiServer, times: number, bytes = 10): Promise<number> {
  const revisions = Array.from({ length: times }, (_, index) => ({
    type: 'put' as const,
    resource: 'configmaps',
    object: { metadata: { name: 'a' }, data: { value: `${index}`.padEnd(bytes, 'x') } },
  }));
  return (await server.apply(revisions)).revision;
}

describe('the window of history', () => {
  it('is bounded by events: older revisions are too old, for watches and for lists', async () => {
    await using server = await startEmbeddedApiServer({ tls: false, token: '', historyEventsMax: 10 });
    const url = `${server.url}/api/v1/configmaps`;
    const last = await touch(server, 30);
    const old = await watch(`${url}?watch=1&resourceVersion=${last - 11}`);
    const [event] = await old.count(1);
    assert.equal(event?.type, 'ERROR');
    const recent = await watch(`${url}?watch=1&resourceVersion=${last - 10}`);
    const events = await recent.count(10);
    assert.equal(events[0]?.object.metadata.resourceVersion, String(last - 9));
    assert.equal((await call(`${url}?resourceVersion=${last - 11}&resourceVersionMatch=Exact`)).status, 410);
    assert.equal((await call(`${url}?resourceVersion=${last - 10}&resourceVersionMatch=Exact`)).status, 200);
  });

  it('is bounded by bytes', async () => {
    await using server = await startEmbeddedApiServer({ tls: false, token: '', historyBytesMax: 50_000 });
    const url = `${server.url}/api/v1/configmaps`;
    const last = await touch(server, 30, 10_000);
    assert.equal((await call(`${url}?resourceVersion=${last - 20}&resourceVersionMatch=Exact`)).status, 410);
    assert.equal((await call(`${url}?resourceVersion=${last - 2}&resourceVersionMatch=Exact`)).status, 200);
  });

  it('expires as an HTTP status when the options say so', async () => {
    await using server = await startEmbeddedApiServer({ tls: false, token: '', expiredWatch: 'status' });
    const revision = await server.revision();
    await touch(server, 2);
    await server.compact();
    const answer = await call(`${server.url}/api/v1/configmaps?watch=1&resourceVersion=${revision}`);
    assert.equal(answer.status, 410);
    assert.equal(answer.body['reason'], 'Expired');
  });

  it('compacts up to a revision and not beyond', async () => {
    await using server = await startEmbeddedApiServer({ tls: false, token: '' });
    const url = `${server.url}/api/v1/configmaps`;
    const last = await touch(server, 10);
    assert.equal(await server.compact(last - 3), last - 3);
    const resumed = await watch(`${url}?watch=1&resourceVersion=${last - 3}`);
    assert.equal((await resumed.count(3))[0]?.object.metadata.resourceVersion, String(last - 2));
    const lost = await watch(`${url}?watch=1&resourceVersion=${last - 4}`);
    assert.equal((await lost.count(1))[0]?.type, 'ERROR');
  });

  it('closes a watch that does not read and falls too far behind, and keeps others open', async () => {
    await using server = await startEmbeddedApiServer({ tls: false, token: '', watchBacklogEventsMax: 20 });
    const from = await server.revision();
    const slow = createConnection({ port: server.port, host: '127.0.0.1' });
    const path = `/api/v1/configmaps?watch=1&resourceVersion=${from}`;
    slow.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    slow.pause();
    await server.waitForWatches(1);
    const fast = await watch(`${server.url}${path}`);
    await server.waitForWatches(2);
    // Bytes in the sockets' buffers do not count as behind; after that, 20 events do.
    let written = 0;
    while ((await server.watches()).length === 2) {
      await touch(server, 1, 500_000 + written);
      await fast.count(++written);
    }
    assert.equal((await server.watches()).length, 1);
    slow.destroy();
    await touch(server, 1);
    await fast.count(written + 1);
  });
});

const CONFIG_MAPS = new ResourceTable(builtInResources()).named('configmaps');

describe('a snapshot', () => {
  for (const seed of [1, 2, 3]) {
    it(`of any revision has the objects of that revision (seed ${seed})`, () => {
      const random = seededRandom(seed);
      const log = new EventLog({ eventsMax: 150, bytesMax: 1e9 }, 1);
      const collection = log.collection(CONFIG_MAPS);
      const truth = new Map<number, string[]>();
      const current = new Map<string, number>();
      for (let step = 0; step < 400; step++) {
        const name = `n${Math.floor(random() * 20)}`;
        const stored = collection.get(name);
        if (stored !== undefined && random() < 0.4) {
          log.delete(collection, stored);
          current.delete(name);
        } else {
          log.write(collection, (revision) =>
            StoredObject.encode(CONFIG_MAPS, { metadata: { name } }, revision),
          );
          current.set(name, log.revision);
        }
        truth.set(log.revision, [...current].map(([key, revision]) => `${key}@${revision}`).toSorted());
      }
      let reachable = 0;
      for (const [revision, expected] of truth) {
        const snapshot = collection.snapshot(revision, random() < 0.5);
        if (revision < collection.history.floor) {
          assert.equal(snapshot, undefined);
          continue;
        }
        reachable++;
        const seen = snapshot?.objects.map((object) => `${object.identity.key}@${object.revision}`);
        assert.deepEqual(seen?.toSorted(), expected);
        const keys = snapshot?.objects.map(({ identity }) => identity.key) ?? [];
        assert.deepEqual(keys, keys.toSorted(), 'in the order of keys');
      }
      assert.equal(reachable, 151, 'the window and the revision before it');
    });
  }

  it('of a list in pages expires when the window has passed it', () => {
    const log = new EventLog({ eventsMax: 3, bytesMax: 1e9 }, 1);
    const collection = log.collection(CONFIG_MAPS);
    const write = (): StoredObject =>
      log.write(collection, (revision) =>
        StoredObject.encode(CONFIG_MAPS, { metadata: { name: 'a' } }, revision),
      );
    write();
    const revision = log.revision;
    assert.notEqual(collection.snapshot(revision, true), undefined);
    for (let count = 0; count < 4; count++) write();
    assert.equal(collection.snapshot(revision, true), undefined);
  });
});
