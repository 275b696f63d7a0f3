/** `kubeloom watch` as a process against an embedded apiserver. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { failRequests } from '../apiserver/fail-requests.ts';
import type { Wire } from '../../../../src/index.ts';
import { TemporaryFolder } from '../../../kit/temporary-folder.ts';
import { CommandRun, runCommand, startScene } from './command.ts';
import type { CommandScene } from './command.ts';

function watch({ kubeconfig }: CommandScene, ...args: readonly string[]): CommandRun {
  return new CommandRun(['watch', '--kubeconfig', kubeconfig, ...args]);
}

async function put({ server }: CommandScene, namespace: string, name: string, labels = {}): Promise<void> {
  const spec = { nodeName: 'node-1', containers: [{ name: 'main', image: 'app' }] };
  const object = { metadata: { namespace, name, labels }, spec, status: { phase: 'Running' } };
  await server.apply([{ type: 'put', resource: 'pods', object }]);
}

describe('kubeloom watch', () => {
  it('prints what there is, then every change, and ends cleanly on SIGINT', async () => {
    await using scene = await startScene();
    await put(scene, 'web', 'a');
    await put(scene, 'web', 'b');
    await using run = watch(scene, 'pods', '-A');
    await run.until('stdout', /b\n/);
    await put(scene, 'web', 'a', { changed: 'yes' });
    await put(scene, 'team', 'c');
    await scene.server.apply([{ type: 'delete', resource: 'pods', namespace: 'web', name: 'b' }]);
    await run.until('stdout', /DELETED.*\n/);
    run.kill('SIGINT');
    assert.equal(await run.exitCode, 0);
    assert.equal(run.stderr, '');
    assert.deepEqual(run.stdoutLines, [
      'ADDED    web pod/a',
      'ADDED    web pod/b',
      'MODIFIED web pod/a',
      'ADDED    team pod/c',
      'DELETED  web pod/b',
    ]);
  });

  it('says that there is no object yet, as kubectl does', async () => {
    await using scene = await startScene();
    await using run = watch(scene, 'pods');
    await run.until('stderr', /\n/);
    assert.equal(run.stderr, 'no pods found in namespace default, waiting for changes\n');
    await put(scene, 'default', 'a');
    await run.until('stdout', /a\n/);
    run.kill('SIGINT');
    assert.equal(await run.exitCode, 0);
  });

  it('watches the namespace that was said, or else the context’s or default', async () => {
    await using scene = await startScene();
    await put(scene, 'web', 'in-web');
    await put(scene, 'default', 'in-default');
    for (const [args, name] of [
      [['po', '-n', 'web'], 'in-web'],
      [['pod'], 'in-default'],
    ] as const) {
      await using run = watch(scene, ...args, '-o', 'name');
      await run.until('stdout', /\n/);
      assert.equal(run.stdout, `pod/${name}\n`);
      run.kill('SIGTERM');
      assert.equal(await run.exitCode, 0);
    }
  });

  it('selects by labels and fields on the server', async () => {
    await using scene = await startScene();
    await put(scene, 'web', 'a', { app: 'x' });
    await put(scene, 'web', 'b', { app: 'y' });
    for (const selector of [
      ['-l', 'app in (x)'],
      ['--field-selector', 'metadata.name=a'],
    ]) {
      await using run = watch(scene, 'pods', '-A', '-o', 'name', '--threads', '0', ...selector);
      await run.until('stdout', /pod/);
      await put(scene, 'web', 'b', { app: 'y', changed: selector[0] ?? '' });
      await put(scene, 'web', 'a', { app: 'x', changed: selector[0] ?? '' });
      await run.until('stdout', /pod.*\npod.*\n/);
      assert.equal(run.stdout, 'pod/a\npod/a\n');
    }
  });

  it('prints one object a line as JSON', async () => {
    await using scene = await startScene();
    await put(scene, 'web', 'a', { note: 'x' });
    await using run = watch(scene, 'pods', '-n', 'web', '-o', 'json');
    await run.until('stdout', /\n/);
    await put(scene, 'web', 'a', { note: 'y' });
    await run.until('stdout', /\n.*\n/);
    const pods = run.stdoutLines.map((line) => JSON.parse(line) as Wire<V1Pod>);
    const read = pods.map(
      ({ kind, apiVersion, metadata }) => `${kind} ${apiVersion} ${metadata?.labels?.['note']}`,
    );
    assert.deepEqual(read, ['Pod v1 x', 'Pod v1 y']);
  });

  it('prints changes only with --watch-only, with the event before the object', async () => {
    await using scene = await startScene();
    await put(scene, 'web', 'a');
    await using run = watch(
      scene,
      'pods,configmaps',
      '-A',
      '--watch-only',
      '--output-watch-events',
      '-o',
      'json',
    );
    // Each watch begins with the list, so a change after its start is an event.
    await scene.server.waitForWatches(2);
    await put(scene, 'web', 'a', { changed: 'yes' });
    await run.until('stdout', /\n/);
    const { type, object } = JSON.parse(run.stdoutLines[0] ?? '') as { type: string; object: Wire<V1Pod> };
    assert.deepEqual([type, object.metadata?.name], ['MODIFIED', 'a']);
  });

  it('reports errors with their code, continues, and misses nothing', async () => {
    await using scene = await startScene();
    await put(scene, 'web', 'a');
    await using run = watch(scene, 'pods', '-A', '-o', 'name');
    await run.until('stdout', /pod\/a\n/);
    await failRequests(scene.server, 500, 1, { verb: 'watch' });
    await scene.server.dropWatches({ how: 'reset' });
    await put(scene, 'web', 'b');
    await run.until('stderr', /error: .* \(ERR_KUBELOOM_\w+\)\n/);
    await run.until('stdout', /pod\/b\n/);
    run.kill('SIGINT');
    assert.equal(await run.exitCode, 0);
    assert.equal(run.stdout, 'pod/a\npod/b\n');
  });

  it('reports a 403 and a 404 with advice, and prints after their end', async () => {
    await using scene = await startScene();
    await put(scene, 'web', 'a');
    for (const [status, code] of [
      [403, /403 .*; .* \(ERR_KUBELOOM_FORBIDDEN\)/],
      [404, /404 .*; .* \(ERR_KUBELOOM_NOT_FOUND\)/],
    ] as const) {
      // The streaming list, and the list after its refusal.
      await failRequests(scene.server, status, 2, { path: '/api/v1/pods' });
      await using run = watch(scene, 'pods', '-A', '-o', 'name');
      await run.until('stderr', code);
      assert.equal(run.stdout, '');
      await run.until('stdout', /pod\/a\n/);
    }
  });

  it('ends when its output is closed', async () => {
    await using scene = await startScene();
    await put(scene, 'web', 'a');
    await using run = watch(scene, 'pods', '-A', '-o', 'name');
    await run.until('stdout', /pod\/a\n/);
    run.closeStdout();
    await put(scene, 'web', 'b');
    assert.equal(await run.exitCode, 0);
    assert.equal(run.stderr, '');
  });
});

describe('kubeloom watch refuses', () => {
  const refusals: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['an unknown resource', ['gizmos'], /no resource "gizmos".*\(ERR_KUBELOOM_UNKNOWN_RESOURCE\)\n$/],
    ['an unknown format', ['pods', '-o', 'xml'], /Allowed choices are name, json.*\n$/],
    ['a malformed label selector', ['pods', '-l', 'a=(b'], /\(ERR_KUBELOOM_SELECTOR\)\n$/],
    ['a field that cannot select', ['pods', '--field-selector', 'a=b'], /\(ERR_KUBELOOM_BAD_REQUEST\)\n$/],
    ['an unknown context', ['pods', '--context', 'nope'], /nope.*\(ERR_KUBELOOM_KUBECONFIG\)\n$/],
    ['an impossible number of threads', ['pods', '--threads', '65'], /\(ERR_KUBELOOM_OPTION\)\n$/],
  ];
  for (const [what, args, message] of refusals) {
    it(what, async () => {
      await using scene = await startScene();
      await using run = watch(scene, ...args);
      assert.equal(await run.exitCode, 1);
      assert.equal(run.stdout, '');
      assert.match(run.stderr, /^error: [^\n]*\n$/);
      assert.match(run.stderr, message);
    });
  }

  it('a kubeconfig that is missing or broken, and uses no other one', async () => {
    await using folder = new TemporaryFolder();
    const broken = folder.write('broken', '{ not: [yaml');
    for (const path of [folder.file('missing'), broken]) {
      for (const [args, environment] of [
        [['--kubeconfig', path], {}],
        [[], { KUBECONFIG: path }],
      ] as const) {
        const { exitCode, stdout, stderr } = await runCommand(['watch', 'pods', ...args], environment);
        assert.equal(exitCode, 1);
        assert.equal(stdout, '');
        assert.match(stderr, /^error: [^\n]* \(ERR_KUBELOOM_KUBECONFIG\)\n$/);
      }
    }
  });

  it('to guess a server when there is no kubeconfig at all', async () => {
    await using folder = new TemporaryFolder();
    const environment = { HOME: folder.path, KUBECONFIG: '' };
    const { exitCode, stderr } = await runCommand(['watch', 'pods'], environment);
    assert.equal(exitCode, 1);
    assert.match(stderr, /\(ERR_KUBELOOM_KUBECONFIG\)\n$/);
  });

  it('a token that the server refuses, a wrong CA, and a server that has ended', async () => {
    await using scene = await startScene();
    await using other = await startScene();
    const yaml = scene.server.kubeConfigYaml;
    const wrongToken = scene.folder.write('token', yaml.replace(scene.server.token, 'wrong'));
    const wrongCa = scene.folder.write('ca', yaml.replace(scene.server.caData, other.server.caData));
    const gone = scene.folder.write('gone', other.server.kubeConfigYaml);
    await other.server.close();
    for (const [path, code] of [
      [wrongToken, /401.*\(ERR_KUBELOOM_UNAUTHORIZED\)/],
      [wrongCa, /\(ERR_KUBELOOM_TLS\)/],
      [gone, /\(ERR_KUBELOOM_UNREACHABLE\)/],
    ] as const) {
      const { exitCode, stderr } = await runCommand(['watch', 'pods', '--kubeconfig', path]);
      assert.equal(exitCode, 1);
      assert.match(stderr, code);
    }
  });
});
