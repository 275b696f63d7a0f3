/** The load test as it is typed, against the embedded apiserver in this process. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startEmbeddedApiServer } from '../../src/testing/index.ts';
import type { EmbeddedApiServer } from '../../src/testing/index.ts';
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
  it('sends nothing at all to what is not known to be a throwaway cluster', async () => {
    await using scene = await startScene('production');
    const { exitCode, stdout, stderr } = await runCommand(['loadtest', '--kubeconfig', scene.kubeconfig]);
    assert.equal(exitCode, 1);
    assert.match(stderr, /^context production: .*127\.0\.0\.1.*\nerror: nothing was sent: /);
    assert.match(stderr, /ERR_KUBELOOM_LOADTEST_REFUSED/);
    assert.equal(stdout, '');
    assert.deepEqual(await scene.server.requests(), []);
  });

  it('passes against a kind-… context on loopback, and leaves nothing behind', async () => {
    await using scene = await startScene('kind-test');
    const load = ['--objects', '50', '--rate', '100', '--duration', '1', '--informers', '2', '--json'];
    const run = await runCommand(['loadtest', '--kubeconfig', scene.kubeconfig, ...load]);
    assert.equal(run.exitCode, 0, run.stderr);
    const report = JSON.parse(run.stdout) as Record<string, unknown>;
    const { writes, delivered, lost, duplicated, reordered, storeEqualsList, refused } = report;
    assert.deepEqual(
      { writes, delivered, lost, duplicated, reordered, storeEqualsList, refused },
      {
        writes: 100,
        delivered: 200,
        lost: 0,
        duplicated: 0,
        reordered: 0,
        storeEqualsList: true,
        refused: 0,
      },
    );
    assert.equal((await scene.server.state('configmaps')).size, 0);
    assert.deepEqual(
      [...(await scene.server.state('namespaces')).keys()].filter((name) => name.includes('loadtest')),
      [],
    );
  });

  it('says that nothing was proved when the server refuses writes', async () => {
    await using scene = await startScene('kind-test');
    const load = ['--objects', '20', '--rate', '100', '--duration', '2'];
    await using run = new CommandRun(['loadtest', '--kubeconfig', scene.kubeconfig, ...load]);
    await run.until('stderr', /informers have them/);
    await scene.server.failNext({ status: 403, count: 3, match: { method: 'PUT' } });
    assert.equal(await run.exitCode, 2, run.stderr);
    assert.match(run.stdout, /INVALID:\n.* 3 writes were refused, the first: .*403/);
  });

  it('removes its namespace when it is interrupted', async () => {
    await using scene = await startScene('kind-test');
    const load = ['--objects', '20', '--rate', '50', '--duration', '600'];
    await using run = new CommandRun(['loadtest', '--kubeconfig', scene.kubeconfig, ...load]);
    await run.until('stderr', /informers have them/);
    run.kill('SIGINT');
    assert.equal(await run.exitCode, 130, run.stderr);
    assert.equal((await scene.server.state('configmaps')).size, 0);
  });
});
