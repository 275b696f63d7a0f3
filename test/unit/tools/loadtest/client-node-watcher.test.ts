/** A watcher that is client-node's informer, against a server that sends exactly what the test says. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KubeConfig } from '@kubernetes/client-node';
import { FakeClock } from '../../../../src/tools/apiserver/testing/index.ts';
import { KubeloomError } from '../../../../src/base/errors.ts';
import { InformerThreads } from '../../../../src/index.ts';
import { ClientNodeRun } from '../../../../src/tools/loadtest/watch/client-node-run.ts';
import { InformerWatcher } from '../../../../src/tools/loadtest/watch/informer-watcher.ts';
import { nowUs } from '../../../../src/tools/loadtest/watch/recording-handler.ts';
import { judgeRuns } from '../../../../src/tools/loadtest/verdict/judge-runs.ts';
import type { LoggedWrite, Truth, WatcherContext } from '../../../../src/tools/loadtest/watch/watcher.ts';
import { ScriptedServer, event, list, status, wirePod } from '../../../kit/scripted-server.ts';
import type { Script } from '../../../kit/scripted-server.ts';
import { until, watcherTask } from './watchers.ts';

interface Scene extends AsyncDisposable {
  readonly server: ScriptedServer;
  readonly clock: FakeClock;
  readonly context: WatcherContext;
  readonly errors: Error[];
  clientRun(): ClientNodeRun;
  /** Returns a run that has its first state and everything up to version 5. */
  reached(): Promise<ClientNodeRun>;
}

async function start(script: Script, skipTLSVerify = true): Promise<Scene> {
  const server = await ScriptedServer.start(script);
  const kubeConfig = new KubeConfig();
  // client-node refuses plain HTTP unless nothing is verified.
  kubeConfig.loadFromClusterAndUser(
    { name: 'scripted', server: server.url, skipTLSVerify },
    { name: 'nobody' },
  );
  const connection = { server: server.url, headers: {} };
  const clock = new FakeClock();
  const startedUs = nowUs();
  const errors: Error[] = [];
  const context = {
    kubeConfig,
    connection,
    threads: new InformerThreads({ indexerThreads: 0 }),
    startedUs,
    onError: (error: Error) => void errors.push(error),
  };
  const clientRun = (): ClientNodeRun =>
    new ClientNodeRun(watcherTask('client-node'), context, 'start', clock);
  return {
    server,
    clock,
    context,
    errors,
    clientRun,
    async reached() {
      const run = clientRun();
      await run.sync(NEVER);
      await until(() => run.hasReached(5));
      return run;
    },
    async [Symbol.asyncDispose]() {
      await context.threads[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

function logged(type: LoggedWrite['type'], name: string, revision: number): LoggedWrite {
  return { revision, type, key: `default/${name}`, own: undefined };
}

/** Pods a and b, changes of a, and the deletion of b. */
const TRUTH: Truth = {
  log: [
    logged('ADDED', 'a', 1),
    logged('ADDED', 'b', 2),
    logged('MODIFIED', 'a', 3),
    logged('MODIFIED', 'a', 4),
    logged('DELETED', 'b', 5),
  ],
  state: new Map([['default/a', '4']]),
};
const FIRST_STATE = list('2', [wirePod('a', '1'), wirePod('b', '2')]);
const NEVER = new AbortController().signal;
const RIGHT = { initial: 2, delivered: 3, covered: 0, lost: 0, duplicated: 0, reordered: 0, isEqual: true };

function countsOf(clientRun: ClientNodeRun): object {
  const { verdict, cacheEqualsList: isEqual } = judgeRuns([clientRun], TRUTH, 0);
  const { initial, delivered, covered, lost, duplicated, reordered } = verdict;
  return { initial, delivered, covered, lost, duplicated, reordered, isEqual };
}

/** The answers to the watches, one after the other; every list is the first state. */
function watches(...answers: readonly (readonly object[])[]): Script {
  let count = 0;
  return (request) => {
    if (request.isWatch) request.send(...(answers[count++] ?? []));
    else request.answer(200, FIRST_STATE);
  };
}

describe("client-node's informer as a watcher", () => {
  it('is judged by the same verdict, its cache included', async () => {
    await using scene = await start(
      watches([event('MODIFIED', 'a', '3'), event('MODIFIED', 'a', '4'), event('DELETED', 'b', '5')]),
    );
    await using clientRun = await scene.reached();
    assert.deepEqual(countsOf(clientRun), RIGHT);
    assert.deepEqual([clientRun.syncs[0]?.mode, clientRun.syncs[0]?.items], ['list', 2]);
  });

  it('loses an event that the server left out, and nothing else', async () => {
    await using scene = await start(watches([event('MODIFIED', 'a', '4'), event('DELETED', 'b', '5')]));
    await using clientRun = await scene.reached();
    assert.deepEqual(countsOf(clientRun), { ...RIGHT, delivered: 2, lost: 1 });
  });

  it('does not deliver an event twice that came twice', async () => {
    await using scene = await start(
      watches([
        event('MODIFIED', 'a', '3'),
        event('MODIFIED', 'a', '3'),
        event('MODIFIED', 'a', '4'),
        event('DELETED', 'b', '5'),
      ]),
    );
    await using clientRun = await scene.reached();
    assert.deepEqual(countsOf(clientRun), RIGHT);
  });

  it('continues after a cut, and counts it', async () => {
    let count = 0;
    await using scene = await start((request) => {
      if (!request.isWatch) request.answer(200, FIRST_STATE);
      else if (count++ === 0) request.send(event('MODIFIED', 'a', '3')).end();
      else request.send(event('MODIFIED', 'a', '4'), event('DELETED', 'b', '5'));
    });
    await using clientRun = await scene.reached();
    assert.deepEqual(scene.server.asked, ['list', 'watch 2', 'watch 3']);
    assert.deepEqual([countsOf(clientRun), clientRun.cutWatches], [RIGHT, 1]);
  });

  it('lists again for a 410: the list covers what was missed', async () => {
    let count = 0;
    await using scene = await start((request) => {
      const number = count++;
      if (number === 0) request.answer(200, FIRST_STATE);
      else if (number === 1) request.send(event('MODIFIED', 'a', '3')).end();
      else if (number === 2) request.answer(410, status(410, 'Expired'));
      else if (number === 3) request.answer(200, list('5', [wirePod('a', '4')]));
    });
    await using clientRun = await scene.reached();
    assert.deepEqual(scene.server.asked.slice(0, 4), ['list', 'watch 2', 'watch 3', 'list']);
    assert.deepEqual(countsOf(clientRun), { ...RIGHT, delivered: 2, covered: 1 });
    const causes = clientRun.syncs.map(({ cause }) => cause);
    assert.deepEqual(causes, ['start', 'server']);
  });

  it('is started again some seconds after an error, as its README says', async () => {
    await using scene = await start((request) => {
      if (scene.server.requests.length === 1) request.answer(500, status(500, 'InternalError'));
      else if (!request.isWatch) request.answer(200, FIRST_STATE);
      else request.send(event('MODIFIED', 'a', '3'), event('MODIFIED', 'a', '4'), event('DELETED', 'b', '5'));
    });
    await using clientRun = scene.clientRun();
    const synced = clientRun.sync(NEVER);
    await until(() => scene.clock.advanceToNext());
    await synced;
    await until(() => clientRun.hasReached(5));
    assert.deepEqual(countsOf(clientRun), RIGHT);
    assert.equal(scene.errors.length, 1);
  });

  it('is refused at once for a server without TLS that client-node would refuse at each request', async () => {
    await using scene = await start(() => undefined, false);
    assert.throws(() => scene.clientRun(), {
      code: 'ERR_KUBELOOM_LOADTEST',
      message: /insecure-skip-tls-verify: true/,
    });
  });

  it('is refused with a code when client-node is not installed', async () => {
    await using scene = await start(() => undefined);
    const missing: WatcherContext = {
      ...scene.context,
      get kubeConfig(): KubeConfig {
        throw new KubeloomError('ERR_KUBELOOM_CLIENT_NODE', 'not installed');
      },
    };
    const synced = new InformerWatcher(watcherTask('client-node'), missing, ClientNodeRun).sync(NEVER);
    await assert.rejects(synced, { code: 'ERR_KUBELOOM_CLIENT_NODE' });
  });
});
