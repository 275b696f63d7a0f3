/** A raw watcher against a server that sends exactly what the test says. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeClock } from '../../../../src/tools/apiserver/testing/index.ts';
import { RawProcess } from '../../../../src/tools/loadtest/watch/raw/raw-process.ts';
import { RawWatcher } from '../../../../src/tools/loadtest/watch/raw/raw-watcher.ts';
import { nowUs } from '../../../../src/tools/loadtest/watch/recording-handler.ts';
import type { LoggedWrite, Truth } from '../../../../src/tools/loadtest/watch/watcher.ts';
import type { ConnectionOptions } from '../../../../src/kube/connection-options.ts';
import type { ListMode } from '../../../../src/tools/loadtest/workload/workload.ts';
import { ScriptedServer, bookmark, event, list, status, wirePod } from '../../../kit/scripted-server.ts';
import type { Script } from '../../../kit/scripted-server.ts';
import { until, watcherTask } from './watchers.ts';

interface Scene extends AsyncDisposable {
  readonly server: ScriptedServer;
  readonly clock: FakeClock;
  readonly process: RawProcess;
  readonly errors: Error[];
  watcher(list?: ListMode): RawWatcher;
  /** Returns a watcher that has its first state and everything up to version 5. */
  reached(list?: ListMode): Promise<RawWatcher>;
}

/** @param renewed server of the connection that replaces refused credentials */
async function start(script: Script, renewed = ''): Promise<Scene> {
  const server = await ScriptedServer.start(script);
  const clock = new FakeClock();
  const connection = { server: server.url, headers: {} };
  const renew = async (): Promise<ConnectionOptions> => ({ ...connection, server: renewed });
  const process = new RawProcess({ connection, renew, startedUs: nowUs(), clock, random: () => 0 });
  const errors: Error[] = [];
  const watcher = (mode: ListMode = 'watchlist'): RawWatcher =>
    new RawWatcher(watcherTask('raw', mode), process, (error) => errors.push(error));
  return {
    server,
    clock,
    process,
    errors,
    watcher,
    async reached(mode) {
      const found = watcher(mode);
      await found.sync(NEVER);
      await until(() => found.hasReached(5));
      return found;
    },
    async [Symbol.asyncDispose]() {
      await process[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

function logged(type: LoggedWrite['type'], name: string, revision: number): LoggedWrite {
  const own = { change: type === 'ADDED' ? 'create' : 'update', phase: 0, answeredUs: nowUs() } as const;
  return { revision, type, key: `default/${name}`, own };
}

/** Pods a and b, and then changes of a with the versions 3, 4 and 5. */
const TRUTH: Truth = {
  log: [
    logged('ADDED', 'a', 1),
    logged('ADDED', 'b', 2),
    logged('MODIFIED', 'a', 3),
    logged('MODIFIED', 'a', 4),
    logged('MODIFIED', 'a', 5),
  ],
  state: new Map([
    ['default/a', '5'],
    ['default/b', '2'],
  ]),
};
const FIRST_STATE = [event('ADDED', 'a', '1'), event('ADDED', 'b', '2'), bookmark('2', true)];
const changes = (...versions: readonly string[]): object[] =>
  versions.map((version) => event('MODIFIED', 'a', version));
const NEVER = new AbortController().signal;

function countsOf(watcher: RawWatcher): Record<string, number> {
  const { initial, delivered, covered, lost, duplicated, reordered } = watcher.judge(TRUTH).verdict;
  return { initial, delivered, covered, lost, duplicated, reordered };
}

const RIGHT = { initial: 2, delivered: 3, covered: 0, lost: 0, duplicated: 0, reordered: 0 };

describe('a raw watcher', () => {
  it('counts what a streaming list and its watch bring', async () => {
    await using scene = await start((request) => request.send(...FIRST_STATE, ...changes('3', '4', '5')));
    const watcher = await scene.reached();
    assert.deepEqual(countsOf(watcher), RIGHT);
    const { events, syncs, cacheEqualsList, latencies } = watcher.judge(TRUTH);
    assert.deepEqual(events, { added: 0, modified: 3, deleted: 0 });
    assert.deepEqual([syncs[0]?.mode, syncs[0]?.items, cacheEqualsList], ['watchlist', 2, null]);
    assert.equal(latencies[0]?.histogram.count, 3);
    assert.equal(watcher.activity.changes, 3);
    assert.ok((watcher.activity.receivedBytes ?? 0) > 500);
  });

  it('lists in pages and watches from the version of the list', async () => {
    await using scene = await start((request) => {
      if (request.isWatch) request.send(...changes('3', '4', '5'));
      else if (request.query['continue'] === undefined) {
        request.answer(200, list('2', [wirePod('a', '1')], { continue: 'more' }));
      } else request.answer(200, list('2', [wirePod('b', '2')]));
    });
    const watcher = await scene.reached('pages');
    assert.deepEqual(scene.server.asked, ['list', 'list', 'watch 2']);
    assert.deepEqual(countsOf(watcher), RIGHT);
  });

  it('lists when the server has no streaming lists', async () => {
    await using scene = await start((request) => {
      if (request.isStreamingList) request.answer(422, status(422, 'Invalid'));
      else if (request.isWatch) request.send(bookmark('2'));
      else request.answer(200, list('2', [wirePod('a', '1'), wirePod('b', '2')]));
    });
    const watcher = scene.watcher();
    const synced = watcher.sync(NEVER);
    await until(() => scene.clock.advanceToNext());
    await synced;
    assert.deepEqual(scene.server.asked, ['stream', 'list 0', 'watch 2']);
    assert.equal(watcher.judge(TRUTH).syncs[0]?.mode, 'list');
  });

  it('continues from the last version when the connection is cut, and loses nothing', async () => {
    await using scene = await start((request, number) => {
      if (number === 0) request.send(...FIRST_STATE, event('MODIFIED', 'a', '3')).end();
      else request.send(...changes('4', '5'));
    });
    const watcher = scene.watcher();
    await watcher.sync(NEVER);
    await until(() => scene.clock.advanceToNext());
    await until(() => watcher.hasReached(5));
    assert.deepEqual(scene.server.asked, ['stream', 'watch 3']);
    assert.deepEqual(countsOf(watcher), RIGHT);
    assert.equal(watcher.activity.cutWatches, 1);
  });

  it('continues after it dropped its connection itself', async () => {
    await using scene = await start((request, number) => {
      if (number === 0) request.send(...FIRST_STATE, event('MODIFIED', 'a', '3'));
      else request.send(...changes('4', '5'));
    });
    const watcher = scene.watcher();
    await watcher.sync(NEVER);
    await until(() => watcher.hasReached(3));
    watcher.dropConnection();
    await until(() => watcher.hasReached(5));
    assert.deepEqual(countsOf(watcher), RIGHT);
    assert.equal(watcher.activity.cutWatches, 1);
  });

  for (const how of ['as the answer', 'in the stream'] as const) {
    it(`lists again for a 410 ${how}, which covers what it missed`, async () => {
      const gone = status(410, 'Expired');
      await using scene = await start((request, number) => {
        if (number === 0) request.send(...FIRST_STATE, event('MODIFIED', 'a', '3')).end();
        else if (number === 2)
          request.send(event('ADDED', 'a', '5'), event('ADDED', 'b', '2'), bookmark('5', true));
        else if (how === 'as the answer') request.answer(410, gone);
        else request.send({ type: 'ERROR', object: gone }).end();
      });
      const watcher = scene.watcher();
      await watcher.sync(NEVER);
      await until(() => scene.clock.advanceToNext());
      await scene.server.request(1);
      await until(() => scene.clock.advanceToNext());
      await until(() => watcher.hasReached(5));
      assert.deepEqual(scene.server.asked, ['stream', 'watch 3', 'stream']);
      assert.deepEqual(countsOf(watcher), { ...RIGHT, initial: 4, delivered: 1, covered: 2 });
      assert.equal(watcher.activity.relists, 1);
    });
  }

  it('counts an event that the server left out as lost, and nothing else', async () => {
    await using scene = await start((request) => request.send(...FIRST_STATE, ...changes('3', '5')));
    const watcher = await scene.reached();
    assert.deepEqual(countsOf(watcher), { ...RIGHT, delivered: 2, lost: 1 });
  });

  it('counts an event that came twice, and one that came late', async () => {
    await using scene = await start((request) => {
      request.send(...FIRST_STATE, ...changes('3', '3', '5', '4'));
    });
    const watcher = scene.watcher();
    await watcher.sync(NEVER);
    await until(() => watcher.activity.changes === 4);
    assert.deepEqual(countsOf(watcher), { ...RIGHT, duplicated: 1, reordered: 1 });
  });

  it('is judged by what it received, whatever watchers of the same objects did', async () => {
    await using scene = await start((request, number) => {
      const versions =
        [
          ['3', '4', '5'],
          ['3', '5'],
          ['3', '4', '4', '5'],
          ['3', '4', '5'],
        ][number] ?? [];
      request.send(...FIRST_STATE, ...changes(...versions));
    });
    const watchers = [];
    for (let count = 0; count < 4; count++) watchers.push(await scene.reached());
    assert.deepEqual(watchers.map(countsOf), [
      RIGHT,
      { ...RIGHT, delivered: 2, lost: 1 },
      { ...RIGHT, duplicated: 1 },
      RIGHT,
    ]);
  });

  it('reads no faster than its rate, and everything in the end', async () => {
    const fill = 'x'.repeat(300_000);
    await using scene = await start((request) => {
      request.send(...FIRST_STATE);
      for (const version of ['3', '4', '5']) {
        request.send({ type: 'MODIFIED', object: wirePod('a', version, { fill }) });
      }
    });
    const watcher = scene.watcher();
    watcher.setSlowness({ type: 'socket', bytesPerSecond: 100_000 });
    const beganMs = scene.clock.now();
    await watcher.sync(NEVER);
    await until(() => {
      scene.clock.advanceToNext();
      return watcher.hasReached(5);
    });
    assert.deepEqual(countsOf(watcher), RIGHT);
    // The last bytes were read without a wait after them.
    assert.ok(scene.clock.now() - beganMs >= 8000);
  });

  it('reports an answer that is not an event, and tries again later', async () => {
    await using scene = await start((request, number) => {
      if (number === 0) request.send(...FIRST_STATE, 'nonsense\n');
      else request.send(...changes('3', '4', '5'));
    });
    const watcher = scene.watcher();
    await watcher.sync(NEVER);
    await until(() => scene.clock.advanceToNext());
    await until(() => watcher.hasReached(5));
    assert.match(String(scene.errors[0]), /raw received a line that is no event/);
    assert.deepEqual(countsOf(watcher), RIGHT);
  });

  it('C192 gives up an answer that cannot be a list, and lists again later', async () => {
    await using scene = await start((request, number) => {
      if (number === 0) request.send('<html>');
      else request.answer(200, list('2', [wirePod('a', '1'), wirePod('b', '2')]));
    });
    const watcher = scene.watcher('list');
    const synced = watcher.sync(NEVER);
    await until(() => scene.clock.advanceToNext());
    await synced;
    assert.match(String(scene.errors[0]), /raw received the answer is not a Kubernetes list/);
  });

  it('asks for other credentials when the server refuses them, and continues with these', async () => {
    await using next = await ScriptedServer.start((request) => request.send(...changes('3', '4', '5')));
    await using scene = await start((request, number) => {
      if (number === 0) request.send(...FIRST_STATE).end();
      else request.answer(401, status(401, 'Unauthorized'));
    }, next.url);
    const watcher = scene.watcher();
    await watcher.sync(NEVER);
    await until(() => {
      scene.clock.advanceToNext();
      return watcher.hasReached(5);
    });
    assert.deepEqual(next.asked[0], 'watch 2');
    assert.deepEqual(countsOf(watcher), RIGHT);
  });

  it('stops waiting for its first state when the signal says so', async () => {
    await using scene = await start(() => undefined);
    const aborting = new AbortController();
    const synced = scene.watcher().sync(aborting.signal);
    await scene.server.request(0);
    aborting.abort(new Error('enough'));
    await assert.rejects(synced, /enough/);
  });
});
