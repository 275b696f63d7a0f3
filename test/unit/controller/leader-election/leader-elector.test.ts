/** The elector on fake time, with the behaviours of client-go's leaderelection_test.go among them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { KubeloomError } from '../../../../src/index.ts';
import { collectMetrics } from '../../../../src/metrics/index.ts';
import { LeaderElector } from '../../../../src/controller/index.ts';
import { deferred } from '../../../kit/deferred.ts';
import { MemoryLease, MemoryLock, conflict } from './memory-lock.ts';
import { Scene, aborted, turn } from './scene.ts';

const unreachable = (): never => {
  throw new Error('no route to host');
};
const uninterested = (): never => {
  throw new Error('not interested');
};

describe('the calls of an elector', () => {
  test('are get and create, and then one update for each renewal', async () => {
    using scene = new Scene();
    await scene.start();
    await scene.advance(4000);
    assert.deepEqual(scene.lock.calls, ['get', 'create', 'update', 'update']);
    assert.equal(scene.record?.leaseTransitions, 0);
  });

  test('of renewals keep the time of the acquisition', async ({ mock }) => {
    mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
    using scene = new Scene();
    await scene.start();
    const first = scene.record;
    await scene.advance(2000);
    mock.timers.tick(2);
    await scene.advance(2000);
    assert.equal(scene.record?.acquireTime, first?.acquireTime);
    assert.equal(first?.renewTime, '1970-01-01T00:16:40.000000Z');
    assert.equal(scene.record?.renewTime, '1970-01-01T00:16:40.002000Z');
  });

  test('are not made when the signal is aborted already', async () => {
    const scene = new Scene();
    scene.stop.abort();
    const { run } = await scene.start();
    assert.equal(await run, 'resolved');
    assert.deepEqual(scene.lock.calls, []);
  });
});

describe('a stopped leader', () => {
  test('renews until its work has ended, and then releases the lease', async () => {
    const scene = new Scene();
    const work = deferred();
    const { run } = await scene.start(() => work.promise);
    scene.stop.abort('enough');
    assert.equal(scene.leaderSignal?.aborted, true);
    await scene.advance(40_000);
    assert.ok(scene.elector.isLeader());
    assert.equal(scene.record?.holderIdentity, 'me');
    work.resolve();
    assert.equal(await run, 'resolved');
    const { holderIdentity, leaseDurationSeconds, leaseTransitions } = scene.record ?? {};
    assert.deepEqual([holderIdentity, leaseDurationSeconds, leaseTransitions], ['', 1, 0]);
    assert.equal(scene.elector.isLeader(), false);
  });

  for (const held of ['update', 'get'] as const) {
    test(`releases the lease while its ${held} is not answered`, async () => {
      const scene = new Scene();
      const answer = deferred();
      let isHeld = true;
      scene.lock.before = (operation, number) => {
        if (held === 'get' && operation === 'update' && number === 2) throw conflict();
        if (!isHeld || operation !== held || number !== 2) return undefined;
        isHeld = false;
        return answer.promise;
      };
      const { run } = await scene.start();
      await scene.advance(4000);
      assert.equal(isHeld, false);
      scene.stop.abort();
      assert.equal(await run, 'resolved');
      assert.equal(scene.record?.holderIdentity, '');
      answer.resolve();
      await turn();
      assert.equal(scene.record?.holderIdentity, '', 'the late request finds another version');
    });
  }

  test('leaves the lease to expire without releaseOnCancel', async () => {
    const scene = new Scene('me', { releaseOnCancel: false });
    const { run } = await scene.start();
    scene.stop.abort();
    assert.equal(await run, 'resolved');
    assert.equal(scene.record?.holderIdentity, 'me');
  });

  test('can be elected again', async () => {
    const scene = new Scene();
    const { run } = await scene.start();
    scene.stop.abort();
    await run;
    const again = new AbortController();
    const second = scene.elector.run({ signal: again.signal }, aborted);
    await turn();
    assert.ok(scene.elector.isLeader());
    assert.equal(scene.record?.leaseTransitions, 1);
    again.abort();
    await second;
  });
});

describe('a leader whose renewals fail', () => {
  test('leads until the deadline, then its work ends, and run rejects', async () => {
    const scene = new Scene();
    const { run } = await scene.start();
    await scene.advance(2000);
    scene.lock.before = unreachable;
    await scene.advance(9500);
    assert.equal(scene.leaderSignal?.aborted, false);
    await scene.advance(500);
    assert.equal(scene.leaderSignal?.aborted, true);
    const reason: unknown = scene.leaderSignal?.reason;
    assert.ok(reason instanceof KubeloomError);
    assert.match(
      reason.message,
      /default\/memory: me is no longer the leader.* 10000 ms \(no route to host\)/,
    );
    assert.equal(await run, 'ERR_KUBELOOM_LEADER_LOST');
    assert.ok(scene.errors.length > 3);
    assert.equal(scene.record?.holderIdentity, 'me');
  });

  test('survives an answer that never comes', async () => {
    using scene = new Scene();
    await scene.start();
    scene.lock.before = (operation, number) =>
      operation === 'update' && number % 2 === 0 ? deferred().promise : undefined;
    await scene.advance(60_000);
    assert.equal(scene.leaderSignal?.aborted, false);
  });

  test('waits for its work at most until another candidate may lead', async () => {
    const scene = new Scene();
    const work = deferred();
    const { run } = await scene.start(() => work.promise);
    scene.lock.before = unreachable;
    await scene.advance(14_500);
    assert.equal(await Promise.race([run, turn()]), undefined);
    await scene.advance(500);
    assert.equal(await run, 'ERR_KUBELOOM_LEADER_LOST');
    const again = scene.elector.run({ signal: new AbortController().signal }, aborted);
    await assert.rejects(again, { code: 'ERR_KUBELOOM_STARTED' });
    scene.errors.length = 0;
    work.reject(new Error('too late'));
    await turn();
    assert.deepEqual(
      scene.errors.map(({ message }) => message),
      ['too late'],
    );
  });

  test('rejects with the failure of its work as the cause', async () => {
    const scene = new Scene();
    const lost = new Promise((_resolve, reject) => {
      const run = scene.elector.run({ signal: scene.stop.signal }, async (signal) => {
        await aborted(signal);
        throw new Error('while cleaning up');
      });
      run.catch(reject);
    });
    await turn();
    scene.lock.before = unreachable;
    void lost.catch(() => undefined);
    await scene.advance(11_000);
    await assert.rejects(lost, (error: KubeloomError) => {
      assert.equal(error.code, 'ERR_KUBELOOM_LEADER_LOST');
      assert.match(String(error.cause), /while cleaning up/);
      return true;
    });
  });
});

describe('a leader that was suspended', () => {
  test('finds its signal aborted when it asks, before any timer has run', async () => {
    const scene = new Scene();
    await scene.start();
    const { leaderSignal } = scene;
    assert.ok(leaderSignal && !leaderSignal.aborted && scene.elector.isLeader());
    leaderSignal.throwIfAborted();
    const event = once(leaderSignal, 'abort');
    scene.aheadMs = 10_000;
    assert.throws(() => leaderSignal.throwIfAborted(), { code: 'ERR_KUBELOOM_LEADER_LOST' });
    assert.equal(leaderSignal.aborted, true);
    assert.equal(AbortSignal.any([leaderSignal]).aborted, true);
    await event;
  });

  test('is not elected by a request that was answered too late', async () => {
    using scene = new Scene();
    scene.lock.before = (operation) => {
      if (operation === 'create') scene.aheadMs = 10_000;
    };
    await scene.start();
    assert.deepEqual(scene.lock.calls, ['get', 'create', 'get', 'update'], 'it tries again at once');
    assert.ok(scene.elector.isLeader());
  });

  test('is not the leader when it asks the elector', async () => {
    const scene = new Scene();
    const { run } = await scene.start();
    scene.aheadMs = 15_000;
    assert.equal(scene.elector.isLeader(), false);
    assert.equal(await run, 'ERR_KUBELOOM_LEADER_LOST');
  });
});

describe('the work of a leader', () => {
  test('may end before the leadership', async () => {
    const scene = new Scene();
    const { run } = await scene.start(() => Promise.resolve());
    await scene.advance(30_000);
    assert.ok(scene.elector.isLeader());
    scene.stop.abort();
    assert.equal(await run, 'resolved');
    assert.equal(scene.record?.holderIdentity, '');
  });

  test('releases the lease when it fails, and run rejects with its error', async () => {
    const scene = new Scene();
    const { run } = await scene.start(() => Promise.reject(new Error('broken')));
    assert.equal(await run, 'Error: broken');
    assert.equal(scene.record?.holderIdentity, '');
    assert.equal(scene.leaderSignal?.aborted, true);
  });

  test('C472 releases the lease when it fails with a value that cannot be read, after the stop as well', async () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const scene = new Scene();
    const { run } = await scene.start(async (signal) => {
      await aborted(signal);
      throw proxy;
    });
    scene.stop.abort();
    assert.equal(await run, 'ERR_KUBELOOM_UNEXPECTED');
    assert.equal(scene.record?.holderIdentity, '');
  });

  test('may reject with the reason of its signal', async () => {
    const scene = new Scene();
    const { run } = await scene.start(async (signal) => {
      await aborted(signal);
      signal.throwIfAborted();
    });
    scene.stop.abort();
    assert.equal(await run, 'resolved');
  });
});

describe('two candidates', () => {
  test('lead in sequence: the second takes a lease that was not renewed for its duration', async () => {
    const lease = new MemoryLease();
    const first = new Scene('first', {}, lease);
    const second = new Scene('second', {}, lease);
    await first.start();
    await second.start();
    // The first one is gone: its clock stands still.
    await second.advance(14_500);
    assert.equal(lease.stored?.record.holderIdentity, 'first');
    await second.advance(5000);
    assert.equal(lease.stored?.record.holderIdentity, 'second');
    assert.equal(lease.stored.record.leaseTransitions, 1);
    assert.deepEqual([first.leaders, second.leaders], [['first'], ['first', 'second']]);
    // The first one continues, and must not lead for a moment.
    const lost = once(first.leaderSignal ?? new EventTarget(), 'abort');
    await first.advance(2000);
    await lost;
    assert.deepEqual(first.leaders, ['first', 'second']);
    second.stop.abort();
  });

  test('hand the lease over within a retry period when the first is stopped', async () => {
    const lease = new MemoryLease();
    const [first, second] = [new Scene('first', {}, lease), new Scene('second', {}, lease)];
    const { run } = await first.start();
    await second.start();
    first.stop.abort();
    await run;
    await second.advance(4500);
    assert.ok(second.elector.isLeader());
    second.stop.abort();
  });
});

describe('an elector reports', () => {
  test('an error of onNewLeader, and goes on', async () => {
    using scene = new Scene('me', { onNewLeader: uninterested });
    await scene.start();
    assert.deepEqual(
      scene.errors.map(({ code, message }) => `${code} ${message}`),
      ['ERR_KUBELOOM_ERROR_LISTENER onNewLeader threw: not interested'],
    );
    assert.ok(scene.elector.isLeader());
  });

  test('an error of onError as a warning, and its leader renews the lease', async () => {
    const scene = new Scene('me', { onError: uninterested });
    const warned = once(process, 'warning') as Promise<[Error]>;
    scene.lock.before = (operation, number) => {
      if (operation === 'update' && number === 1) throw new Error('lost');
      return undefined;
    };
    const { run } = await scene.start();
    await scene.advance(30_000);
    assert.ok(scene.elector.isLeader());
    assert.match((await warned)[0].message, /onError threw: not interested/);
    scene.stop.abort();
    assert.equal(await run, 'resolved');
  });

  test('failed requests as process warnings by default', async () => {
    const lock = new MemoryLock(new MemoryLease(), 'me');
    lock.before = () => {
      throw new KubeloomError('ERR_KUBELOOM_FORBIDDEN', 'leases are forbidden');
    };
    const stop = new AbortController();
    const warned = once(process, 'warning') as Promise<[Error & { code: string }]>;
    const run = new LeaderElector({ lock }).run({ signal: stop.signal }, aborted);
    const [{ code, message }] = await warned;
    assert.equal(code, 'ERR_KUBELOOM_FORBIDDEN');
    assert.equal(message, 'leader election of default/memory: leases are forbidden');
    stop.abort();
    await run;
  });

  test('its status as a metric while it runs', async () => {
    const status = (): unknown =>
      collectMetrics()
        .find(({ name }) => name === 'leader_election_master_status')
        ?.samples.map(({ labels, value }) => [labels, value]);
    const lease = new MemoryLease();
    const [leader, candidate] = [new Scene('first', {}, lease), new Scene('second', {}, lease)];
    const runs = [await leader.start(), await candidate.start()];
    assert.deepEqual(status(), [
      [{ name: 'default/memory' }, 1],
      [{ name: 'default/memory #2' }, 0],
    ]);
    for (const { stop } of [candidate, leader]) stop.abort();
    for (const { run } of runs) await run;
    assert.equal(status(), undefined);
  });
});
