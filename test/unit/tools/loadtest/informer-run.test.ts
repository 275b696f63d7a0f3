/** The syncs of watchers that are informers: what their lists brought. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { KubeConfig } from '@kubernetes/client-node';
import { InformerThreads } from '../../../../src/index.ts';
import { InformerRun } from '../../../../src/tools/loadtest/watch/informer-run.ts';
import { nowUs } from '../../../../src/tools/loadtest/watch/recording-handler.ts';
import { ScriptedServer, list, wirePod } from '../../../kit/scripted-server.ts';
import { watcherTask } from './watchers.ts';

const NEVER = new AbortController().signal;

it('a sync has the bytes of its own list, whatever other informers of the process list', async () => {
  const bodies = [list('2', [wirePod('a', '1')]), list('2', [wirePod('a', '1'), wirePod('b', '2')])];
  let lists = 0;
  await using server = await ScriptedServer.start((request) => {
    if (!request.isWatch) request.answer(200, bodies[lists++]);
    else request.send();
  });
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromClusterAndUser(
    { name: 'scripted', server: server.url, skipTLSVerify: false },
    { name: 'nobody' },
  );
  await using threads = new InformerThreads({ indexerThreads: 0 });
  const connection = { server: server.url, headers: {} };
  const context = { kubeConfig, connection, threads, startedUs: nowUs(), onError: assert.ifError };
  await using one = new InformerRun(watcherTask('informer', 'list'), context, 'start');
  await using other = new InformerRun(watcherTask('informer', 'list'), context, 'start');
  await one.sync(NEVER);
  await other.sync(NEVER);
  const found = [one, other].map(({ syncs: [first] }) => [first?.items, first?.bytes]);
  assert.deepEqual(found, [
    [1, JSON.stringify(bodies[0]).length],
    [2, JSON.stringify(bodies[1]).length],
  ]);
});
