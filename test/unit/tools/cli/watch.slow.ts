/** `kubeloom watch` as a process against an embedded apiserver. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import type { EmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import { failRequests } from '../apiserver/fail-requests.ts';
import type { Wire } from '../../../../src/index.ts';
import { TemporaryFolder } from '../../../kit/temporary-folder.ts';
import { CommandRun, runCommand, startScene } from './command.ts';
import type { CommandScene } from './command.ts';

/** A server, its kubeconfig, and `kubeloom watch` on it. */
class WatchTest implements AsyncDisposable {
  readonly server: EmbeddedApiServer;
  readonly folder: TemporaryFolder;
  readonly #scene: CommandScene;

  private constructor(scene: CommandScene) {
    this.server = scene.server;
    this.folder = scene.folder;
    this.#scene = scene;
  }

  static async start(): Promise<WatchTest> {
    return new WatchTest(await startScene());
  }

  watch(...args: readonly string[]): CommandRun {
    return new CommandRun(['watch', '--kubeconfig', this.#scene.kubeconfig, ...args]);
  }

  async put(namespace: string, name: string, labels: Record<string, string> = {}): Promise<void> {
    const spec = { nodeName: 'node-1', containers: [{ name: 'main', image: 'app' }] };
    const object = { metadata: { namespace, name, labels }, spec, status: { phase: 'Running' } };
    await this.server.apply([{ type: 'put', resource: 'pods', object }]);
  }

  async delete(namespace: string, name: string): Promise<void> {
    await this.server.apply([{ type: 'delete', resource: 'pods', namespace, name }]);
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#scene[Symbol.asyncDispose]();
  }
}

describe('kubeloom watch', () => {
  it('prints what there is, then every change, and ends cleanly on SIGINT', async () => {
    await using test = await WatchTest.start();
    await test.put('web', 'a');
    await test.put('web', 'b');
    await using run = test.watch('pods', '-A');
    await run.until('stdout', /b\n/);
    await test.put('web', 'a', { changed: 'yes' });
    await test.put('team', 'c');
    await test.delete('web', 'b');
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

  it('watches the namespace that was said, or else the context’s or default', async () => {
    await using test = await WatchTest.start();
    await test.put('web', 'in-web');
    await test.put('default', 'in-default');
    for (const [args, name] of [
      [['po', '-n', 'web'], 'in-web'],
      [['pod'], 'in-default'],
    ] as const) {
      await using run = test.watch(...args, '-o', 'name');
      await run.until('stdout', /\n/);
      assert.equal(run.stdout, `pod/${name}\n`);
      run.kill('SIGTERM');
      assert.equal(await run.exitCode, 0);
    }
  });

  it('selects by labels and fields on the server', async () => {
    await using test = await WatchTest.start();
    await test.put('web', 'a', { app: 'x' });
    await test.put('web', 'b', { app: 'y' });
    for (const selector of [
      ['-l', 'app in (x)'],
      ['--field-selector', 'metadata.name=a'],
    ]) {
      await using run = test.watch('pods', '-A', '-o', 'name', '--threads', '0', ...selector);
      await run.until('stdout', /pod/);
      await test.put('web', 'b', { app: 'y', changed: selector[0] ?? '' });
      await test.put('web', 'a', { app: 'x', changed: selector[0] ?? '' });
      await run.until('stdout', /pod.*\npod.*\n/);
      assert.equal(run.stdout, 'pod/a\npod/a\n');
    }
  });

  it('prints one object a line as JSON', async () => {
    await using test = await WatchTest.start();
    await test.put('web', 'a', { note: 'x' });
    await using run = test.watch('pods', '-n', 'web', '-o', 'json');
    await run.until('stdout', /\n/);
    await test.put('web', 'a', { note: 'y' });
    await run.until('stdout', /\n.*\n/);
    const pods = run.stdoutLines.map((line) => JSON.parse(line) as Wire<V1Pod>);
    const read = pods.map(
      ({ kind, apiVersion, metadata }) => `${kind} ${apiVersion} ${metadata?.labels?.['note']}`,
    );
    assert.deepEqual(read, ['Pod v1 x', 'Pod v1 y']);
  });

  it('prints changes only with --watch-only, with the event before the object', async () => {
    await using test = await WatchTest.start();
    await test.put('web', 'a');
    await using run = test.watch(
      'pods,configmaps',
      '-A',
      '--watch-only',
      '--output-watch-events',
      '-o',
      'json',
    );
    // Each watch begins with the list, so a change after its start is an event.
    await test.server.waitForWatches(2);
    await test.put('web', 'a', { changed: 'yes' });
    await run.until('stdout', /\n/);
    const { type, object } = JSON.parse(run.stdoutLines[0] ?? '') as { type: string; object: Wire<V1Pod> };
    assert.deepEqual([type, object.metadata?.name], ['MODIFIED', 'a']);
  });

  it('reports errors with their code, continues, and misses nothing', async () => {
    await using test = await WatchTest.start();
    await test.put('web', 'a');
    await using run = test.watch('pods', '-A', '-o', 'name');
    await run.until('stdout', /pod\/a\n/);
    await failRequests(test.server, 500, 1, { verb: 'watch' });
    await test.server.dropWatches({ how: 'reset' });
    await test.put('web', 'b');
    await run.until('stderr', /error: .* \(ERR_KUBELOOM_\w+\)\n/);
    await run.until('stdout', /pod\/b\n/);
    run.kill('SIGINT');
    assert.equal(await run.exitCode, 0);
    assert.equal(run.stdout, 'pod/a\npod/b\n');
  });

  it('reports a 403 and a 404 with advice, and prints after their end', async () => {
    await using test = await WatchTest.start();
    await test.put('web', 'a');
    for (const [status, code] of [
      [403, /403 .*; .* \(ERR_KUBELOOM_FORBIDDEN\)/],
      [404, /404 .*; .* \(ERR_KUBELOOM_NOT_FOUND\)/],
    ] as const) {
      // The streaming list, and the list after its refusal.
      await failRequests(test.server, status, 2, { path: '/api/v1/pods' });
      await using run = test.watch('pods', '-A', '-o', 'name');
      await run.until('stderr', code);
      assert.equal(run.stdout, '');
      await run.until('stdout', /pod\/a\n/);
    }
  });

  it('ends when its output is closed', async () => {
    await using test = await WatchTest.start();
    await test.put('web', 'a');
    await using run = test.watch('pods', '-A', '-o', 'name');
    await run.until('stdout', /pod\/a\n/);
    run.closeStdout();
    await test.put('web', 'b');
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
      await using test = await WatchTest.start();
      await using run = test.watch(...args);
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
    await using test = await WatchTest.start();
    await using other = await WatchTest.start();
    const yaml = test.server.kubeConfigYaml;
    const wrongToken = test.folder.write('token', yaml.replace(test.server.token, 'wrong'));
    const wrongCa = test.folder.write('ca', yaml.replace(test.server.caData, other.server.caData));
    const gone = test.folder.write('gone', other.server.kubeConfigYaml);
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
