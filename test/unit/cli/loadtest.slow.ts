/** The load test as a command, against the embedded apiserver in this process. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Latencies } from '../../../src/cli/loadtest-latency.ts';
import { startEmbeddedApiServer } from '../../../src/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../src/apiserver/testing/index.ts';
import { failRequests } from '../apiserver/fail-requests.ts';
import { CommandRun, TemporaryFolder, runCommand } from './command.ts';

interface Scene extends AsyncDisposable {
  readonly server: EmbeddedApiServer;
  readonly kubeconfig: string;
}

async function startScene(context = 'kubeloom-embedded'): Promise<Scene> {
  const server = await startEmbeddedApiServer({ isolation: 'none' });
  const folder = await TemporaryFolder.create();
  const yaml = server.kubeConfigYaml.replaceAll('kubeloom-embedded', context);
  const kubeconfig = await folder.write('kubeconfig', yaml);
  return {
    server,
    kubeconfig,
    async [Symbol.asyncDispose]() {
      await folder[Symbol.asyncDispose]();
      await server.close();
    },
  };
}

describe('kubeloom loadtest', () => {
  it('sends nothing to a cluster that is not known to be a throwaway one', async () => {
    await using scene = await startScene('production');
    const { exitCode, stdout, stderr } = await runCommand(['loadtest', '--kubeconfig', scene.kubeconfig]);
    assert.equal(exitCode, 1);
    assert.match(stderr, /^context production: .*127\.0\.0\.1.*\nerror: nothing was sent: /);
    assert.match(stderr, /ERR_KUBELOOM_LOADTEST_REFUSED/);
    assert.equal(stdout, '');
    assert.deepEqual(await scene.server.requests(), []);
  });

  it('passes on a kind-… context on loopback, and deletes everything it created', async () => {
    await using scene = await startScene('kind-test');
    const load = '--objects 50 --rate 100 --duration 1 --informers 2 --seed 7 --json'.split(' ');
    const run = await runCommand(['loadtest', '--kubeconfig', scene.kubeconfig, ...load]);
    // On a slow machine the test may report the rate, and nothing else.
    if (run.exitCode !== 0) assert.match(run.stderr, /\nINVALID:\n( {2}the (rate|generator) was .*\n)+$/);
    const report = JSON.parse(run.stdout) as Record<string, unknown>;
    const counts = { writes: 100, delivered: 200, lost: 0, duplicated: 0, reordered: 0, refused: 0, seed: 7 };
    const facts = { storeEqualsList: true, listMode: 'WatchList', serverVersion: 'v1.36.0-kubeloom' };
    assert.deepEqual({ ...report, ...counts, ...facts }, report);
    const { dueToSent, sentToAnswered } = report['latencyMs'] as Latencies;
    assert.ok(dueToSent.max >= 0 && sentToAnswered.p50 > 0);
    assert.equal((await scene.server.state('configmaps')).size, 0);
    assert.deepEqual(
      [...(await scene.server.state('namespaces')).keys()].filter((name) => name.includes('loadtest')),
      [],
    );
  });

  it('reports INVALID when the server refuses writes', async () => {
    await using scene = await startScene('kind-test');
    const load = ['--objects', '20', '--rate', '100', '--duration', '2'];
    await using run = new CommandRun(['loadtest', '--kubeconfig', scene.kubeconfig, ...load]);
    await run.until('stderr', /informers have synced/);
    await failRequests(scene.server, 403, 3, { method: 'PUT' });
    assert.equal(await run.exitCode, 2, run.stderr);
    assert.match(run.stdout, /INVALID:\n.* 3 writes were refused, the first: .*403/);
  });

  it('reports INVALID when the server is too slow for the rate, and names the request for the first state', async () => {
    await using scene = await startScene('kind-test');
    const load = ['--objects', '50', '--rate', '400', '--duration', '0.5', '--informers', '1'];
    const streamed = { verb: 'watch', query: { sendInitialEvents: 'true' } } as const;
    const refusal = { type: 'answer', status: 422 } as const;
    await scene.server.setFaults({
      rules: [{ faultId: 'no streamed list', match: streamed, times: 'always', action: refusal }],
    });
    await using run = new CommandRun(['loadtest', '--kubeconfig', scene.kubeconfig, ...load]);
    await run.until('stderr', /informers have synced/);
    // 64 connections at 500 ms each are 128 writes a second at most.
    const hold = { type: 'hold', holdMs: 500 } as const;
    await scene.server.setFaults({
      rules: [{ faultId: 'slow', match: { verb: 'other' }, times: 'always', action: hold }],
    });
    assert.equal(await run.exitCode, 2, run.stderr);
    assert.match(run.stdout, /^informers +1 over \d+ threads, first state by LIST$/m);
    assert.match(run.stdout, /^sent to answered +p50 [5-9]\d\d/m);
    const reasons =
      /\nINVALID:\n {2}the rate was \d.*400 were requested.*\n {2}the generator was late: p99 .*\n$/;
    assert.match(run.stdout, reasons);
  });

  it('removes its namespace when it is interrupted', async () => {
    await using scene = await startScene('kind-test');
    const load = ['--objects', '20', '--rate', '50', '--duration', '600'];
    await using run = new CommandRun(['loadtest', '--kubeconfig', scene.kubeconfig, ...load]);
    await run.until('stderr', /informers have synced/);
    run.kill('SIGINT');
    assert.equal(await run.exitCode, 130, run.stderr);
    assert.equal((await scene.server.state('configmaps')).size, 0);
  });
});
