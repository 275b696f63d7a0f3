/** `kubeloom mirror` as a process: its kubeconfig works, its socket is its owner's, and a signal ends it. */
import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { describe, it } from 'node:test';
import { startEmbeddedApiServer } from '../../../src/apiserver/testing/index.ts';
import { SharedIndexInformer, loadKubeConfig, resources, waitForCacheSync } from '../../../src/index.ts';
import { CommandRun, TemporaryFolder, runCommand } from './command.ts';

describe('kubeloom mirror', () => {
  it('writes a kubeconfig with which informers list and watch, and ends cleanly on SIGTERM', async () => {
    await using origin = await startEmbeddedApiServer();
    await origin.populate({ count: 5 });
    await using folder = await TemporaryFolder.create();
    const source = await folder.write('origin', origin.kubeConfigYaml);
    const out = folder.file('mirror');
    const flags = ['--port', '0', '--kubeconfig-out', out, '--kubeconfig', source, '--history-mib', '16'];
    await using run = new CommandRun(['mirror', 'po,deploy', ...flags]);
    await run.until('stdout', /mirror of pods, deployments\.apps listening on https:/);
    const ended = new AbortController();
    const informer = new SharedIndexInformer(loadKubeConfig({ path: out }), resources.core.v1.pods, {
      threads: { shards: 0 },
    });
    const running = informer.run(ended.signal);
    try {
      await waitForCacheSync(ended.signal, informer);
      assert.equal(informer.getStore().size, 5);
    } finally {
      ended.abort();
      await running;
    }
    run.kill('SIGTERM');
    assert.equal(await run.exitCode, 0);
    assert.equal(run.stderr, '');
  });

  it('listens on a Unix socket, and removes it on SIGINT', async () => {
    await using origin = await startEmbeddedApiServer();
    await using folder = await TemporaryFolder.create();
    const source = await folder.write('origin', origin.kubeConfigYaml);
    const socket = folder.file('mirror.sock');
    await using run = new CommandRun(['mirror', 'pods', '--unix', socket, '--kubeconfig', source]);
    await run.until('stdout', /listening on unix:/);
    assert.equal(statSync(socket).mode & 0o777, 0o600);
    run.kill('SIGINT');
    assert.equal(await run.exitCode, 0);
    assert.ok(!existsSync(socket));
  });

  it('refuses resources that the cluster does not have, and an address without a place', async () => {
    await using origin = await startEmbeddedApiServer();
    await using folder = await TemporaryFolder.create();
    const source = await folder.write('origin', origin.kubeConfigYaml);
    const flags = ['--unix', folder.file('mirror.sock'), '--kubeconfig', source];
    const unknown = await runCommand(['mirror', 'widgets', ...flags]);
    assert.match(unknown.stderr, /ERR_KUBELOOM_UNKNOWN_RESOURCE/);
    const nowhere = await runCommand(['mirror', 'pods', '--kubeconfig', source]);
    assert.match(nowhere.stderr, /ERR_KUBELOOM_USAGE/);
  });
});
