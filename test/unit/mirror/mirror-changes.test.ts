/** A mirror and its clients while its origin changes: nothing is lost, whatever ends, expires or does not read. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seededRandom } from '../../../src/apiserver/testing/index.ts';
import type { Change } from '../../../src/apiserver/testing/index.ts';
import { resources } from '../../../src/index.ts';
import { TemporaryFolder } from '../../kit/temporary-folder.ts';
import { Client, brief } from '../../semantics/client.ts';
import { Readers, forgetHistory, mirrorOf, putConfigMap, received, startOrigin, stateOf } from './scene.ts';

const { configMaps } = resources.core.v1;
const PATH = '/api/v1/configmaps';
const WATCH = `${PATH}?watch=1&resourceVersion=`;

/** Writes ten of twenty objects, and deletes some that it has written just before. */
function someChanges(random: () => number): Change[] {
  return Array.from({ length: 10 }, () => `c${Math.floor(random() * 20)}`).flatMap((name) => {
    const put = putConfigMap(name, { value: String(random()) });
    return random() < 0.4 ? [put, { type: 'delete', resource: 'configmaps', name } as const] : [put];
  });
}

describe('a mirror whose origin changes', () => {
  it('opens one watch of its origin for all its clients', async () => {
    await using origin = await startOrigin();
    await origin.apply(someChanges(seededRandom(1)));
    await using mirror = mirrorOf(origin, [configMaps]);
    const endpoint = await mirror.start();
    const { url: server, token, ca } = endpoint;
    await received(endpoint, origin, configMaps);
    await using readers = new Readers({ server, token, ca }, 3);
    await readers.synced();
    const state = await stateOf(origin);
    assert.deepEqual(readers.contents(), [state, state, state]);
    assert.equal((await origin.watches()).length, 1);
  });

  it('C242 sends every change after a list or an event once and in order to a watch from its version', async () => {
    await using origin = await startOrigin();
    await using mirror = mirrorOf(origin, [configMaps]);
    const endpoint = await mirror.start();
    await received(endpoint, origin, configMaps);
    const client = new Client(endpoint);
    const random = seededRandom(3);
    const written: string[] = [];
    const listed: string[] = [];
    for (let round = 0; round < 20; round++) {
      written.push(...(await origin.apply(someChanges(random))).resourceVersions);
      if (round % 5 === 2) await received(endpoint, origin, configMaps);
      if (round % 5 === 4) await origin.dropWatches({ how: 'resetMidLine' });
      listed.push((await client.get(PATH)).body.metadata.resourceVersion);
    }
    await received(endpoint, origin, configMaps);
    for (const from of [...listed, ...written.filter((_, index) => index % 9 === 0)]) {
      const expected = written.filter((version) => Number(version) > Number(from));
      const stream = await client.watch(`${WATCH}${from}`);
      const events = await stream.count(expected.length);
      stream.close();
      assert.deepEqual(
        events.map(({ object }) => object.metadata.resourceVersion),
        expected,
      );
    }
  });

  it('C242 ends its watches when the origin is listed again, and answers 410 to what came before', async () => {
    await using origin = await startOrigin();
    const [from = ''] = (await origin.apply([putConfigMap('kept')])).resourceVersions;
    await using mirror = mirrorOf(origin, [configMaps]);
    const endpoint = await mirror.start();
    const client = new Client(endpoint);
    await received(endpoint, origin, configMaps);
    const before = await client.watch(`${WATCH}${await origin.revision()}`);
    await forgetHistory(origin);
    await received(endpoint, origin, configMaps);
    assert.equal(await before.ended, 'complete');
    const [event] = await (await client.watch(`${WATCH}${from}`)).rest();
    assert.equal(brief(event), 'ERROR');
    assert.equal(event?.object.code, 410);
  });

  it('C242 brings informers to the state of the origin through ends, cuts and expiry of its watch', async () => {
    await using origin = await startOrigin();
    await using mirror = mirrorOf(origin, [configMaps]);
    const endpoint = await mirror.start();
    const { url: server, token, ca } = endpoint;
    await received(endpoint, origin, configMaps);
    await using readers = new Readers({ server, token, ca });
    await readers.synced();
    const random = seededRandom(7);
    for (let round = 0; round < 44; round++) {
      await origin.apply(someChanges(random));
      if (round % 4 === 0) await received(endpoint, origin, configMaps);
      if (round % 8 === 3) await origin.dropWatches({ how: 'close' });
      if (round % 8 === 5) await origin.dropWatches({ how: 'resetMidLine' });
      if (round % 8 === 7) await forgetHistory(origin);
    }
    const [last = ''] = (await origin.apply([putConfigMap('last')])).resourceVersions;
    await readers.reached(last);
    assert.deepEqual(readers.contents(), [await stateOf(origin)]);
  });

  it('on a Unix socket is found again by its informers after a restart', async () => {
    await using origin = await startOrigin();
    await origin.apply([putConfigMap('first')]);
    await using folder = new TemporaryFolder();
    const socketPath = folder.file('mirror.sock');
    const first = mirrorOf(origin, [configMaps], { address: { socketPath } });
    await first.start();
    await using readers = new Readers({ server: 'http://localhost', socketPath });
    await readers.synced();
    await first.close();
    const { resourceVersions } = await origin.apply([
      { type: 'delete', resource: 'configmaps', name: 'first' },
      putConfigMap('second'),
    ]);
    await using second = mirrorOf(origin, [configMaps], { address: { socketPath } });
    await second.start();
    await readers.reached(resourceVersions.at(-1) ?? '');
    assert.deepEqual(readers.contents(), [await stateOf(origin)]);
  });

  it('C243 disconnects a client that does not read when its history has forgotten the next event, and delays no other', async () => {
    await using origin = await startOrigin();
    await using folder = new TemporaryFolder();
    // A Unix socket has small buffers.
    const address = { socketPath: folder.file('mirror.sock') };
    await using mirror = mirrorOf(origin, [configMaps], { address, historyBytesMax: 256 * 1024 });
    const endpoint = await mirror.start();
    await received(endpoint, origin, configMaps);
    const client = new Client(endpoint);
    const from = await origin.revision();
    const slow = await client.watch(`${WATCH}${from}`);
    slow.pause();
    const other = await client.watch(`${WATCH}${from}`);
    for (let number = 0; number < 40; number++) {
      const data = { number: String(number), value: 'x'.repeat(100_000) };
      await origin.apply([putConfigMap('large', data)]);
      assert.equal((await other.next())?.object.data?.['number'], String(number));
    }
    slow.resume();
    while ((await slow.next()) !== undefined && slow.events.length < 40);
    assert.ok(slow.events.length < 40);
    const last = slow.events.at(-1)?.object.metadata.resourceVersion ?? from;
    const [event] = await (await client.watch(`${WATCH}${last}`)).rest();
    assert.equal(event?.object.code, 410);
    other.close();
  });
});
