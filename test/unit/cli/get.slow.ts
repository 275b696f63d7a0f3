/** `kubeloom get` as a process against an embedded apiserver, and shell completion. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { startEmbeddedApiServer } from '../../../src/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../src/apiserver/testing/index.ts';
import { failRequests } from '../apiserver/fail-requests.ts';
import { CommandRun, TemporaryFolder, runCommand } from './command.ts';

let server: EmbeddedApiServer;
let folder: TemporaryFolder;
let kubeconfig: string;

function get(...args: readonly string[]): ReturnType<typeof runCommand> {
  return runCommand(['get', '--kubeconfig', kubeconfig, ...args]);
}

function put(resource: string, name: string, more: object = {}): Promise<unknown> {
  const object = { metadata: { namespace: 'default', name }, ...more };
  return server.apply([{ type: 'put', resource, object }]);
}

before(async () => {
  server = await startEmbeddedApiServer({ isolation: 'none' });
  folder = await TemporaryFolder.create();
  kubeconfig = await folder.write('kubeconfig', server.kubeConfigYaml);
  const pod = { spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'app' }] } };
  await put('pods', 'a', pod);
  await put('pods', 'b', pod);
  await put('configmaps', 'settings', { data: { color: 'red' } });
});

after(async () => {
  await server.close();
  await folder[Symbol.asyncDispose]();
});

describe('kubeloom get', () => {
  it('prints a table and ends', async () => {
    const { exitCode, stdout, stderr } = await get('pods');
    assert.deepEqual([exitCode, stderr], [0, '']);
    assert.match(stdout, /^NAME +READY +STATUS +RESTARTS +AGE\na .*\nb .*\n$/);
  });

  it('prints several resources, each with its own columns and with kinds in names', async () => {
    const { stdout } = await get('pods,configmaps');
    assert.match(
      stdout,
      /^NAME +READY .*\npod\/a .*\npod\/b .*\nNAME +DATA +AGE\nconfigmap\/settings +1 .*\n$/,
    );
  });

  it('prints one object by its name, as YAML and as JSON', async () => {
    for (const args of [['configmaps', 'settings'], ['cm/settings']]) {
      const yaml = parse((await get(...args, '-o', 'yaml')).stdout) as { kind: string; data: object };
      assert.deepEqual([yaml.kind, yaml.data], ['ConfigMap', { color: 'red' }]);
      const json = JSON.parse((await get(...args, '-o', 'json')).stdout) as unknown;
      assert.deepEqual(json, yaml);
    }
  });

  it('prints several objects as a List', async () => {
    const { stdout } = await get('pods,cm', '-o', 'json');
    const list = JSON.parse(stdout) as { kind: string; items: { metadata: { name: string } }[] };
    assert.equal(list.kind, 'List');
    assert.deepEqual(
      list.items.map(({ metadata }) => metadata.name),
      ['a', 'b', 'settings'],
    );
  });

  it('prints a JSONPath template and custom columns', async () => {
    assert.equal((await get('pods', '-o', 'jsonpath={.items[*].metadata.name}')).stdout, 'a b');
    const { stdout } = await get('pods', '-o', 'custom-columns=N:.metadata.name,NODE:.spec.nodeName');
    assert.equal(stdout, 'N   NODE\na   node-1\nb   node-1\n');
  });

  it('prints what it finds of several names, and names what is missing', async () => {
    const { exitCode, stdout, stderr } = await get('pods', 'b', 'c', '-o', 'name');
    assert.equal(exitCode, 1);
    assert.equal(stdout, 'pod/b\n');
    assert.match(stderr, /^error: not found: pods "c" in namespace default \(ERR_KUBELOOM_NOT_FOUND\)\n$/);
  });

  it('says that there is nothing', async () => {
    const { exitCode, stdout, stderr } = await get('secrets');
    assert.deepEqual([exitCode, stdout, stderr], [0, '', 'No resources found in default namespace.\n']);
    assert.equal((await get('secrets', '-A')).stderr, 'No resources found.\n');
  });

  it('prints changes after the list with -w, and only changes with --watch-only', async () => {
    const all = new CommandRun(['get', '--kubeconfig', kubeconfig, 'pods,cm', '-w', '-o', 'name']);
    const only = '--watch-only --output-watch-events -o yaml'.split(' ');
    const changes = new CommandRun(['get', '--kubeconfig', kubeconfig, 'pods,cm', ...only]);
    await all.until('stdout', /configmap\/settings\n/);
    // A change while the second one lists is in its list. The first one paces the changes.
    for (let change = 1; !changes.stdout.includes('settings'); change++) {
      await put('configmaps', 'settings', { data: { color: `red ${change}` } });
      await all.until('stdout', new RegExp(`(configmap/settings\n){${change + 1}}`));
    }
    for (const run of [all, changes]) {
      run.kill('SIGINT');
      assert.equal(await run.exitCode, 0);
    }
    assert.match(all.stdout, /^pod\/a\npod\/b\nconfigmap\/settings\nconfigmap\/settings\n/);
    assert.match(changes.stdout, /^---\ntype: MODIFIED\nobject:\n/);
    assert.doesNotMatch(changes.stdout, /pod/i);
  });

  it('ends at once when the server refuses', async () => {
    await failRequests(server, 403, 2, { path: '/api/v1/namespaces/default/pods' });
    const { exitCode, stdout, stderr } = await get('pods');
    assert.deepEqual([exitCode, stdout], [1, '']);
    assert.match(stderr, /\(ERR_KUBELOOM_FORBIDDEN\)\n$/);
  });

  const refusals: readonly (readonly [string, readonly string[]])[] = [
    ['names of all namespaces', ['pods', 'a', '-A']],
    ['names with a selector', ['pods', 'a', '-l', 'app=web']],
    ['names behind RESOURCE/NAME', ['pods/a', 'b']],
    ['an unknown format', ['pods', '-o', 'xml']],
  ];
  for (const [what, args] of refusals) {
    it(`refuses ${what}`, async () => {
      const { exitCode, stdout, stderr } = await get(...args);
      assert.deepEqual([exitCode, stdout], [1, '']);
      assert.match(stderr, /^error: [^\n]*\(ERR_KUBELOOM_USAGE\)\n$/);
    });
  }
});

describe('kubeloom completion', () => {
  it('completes commands, resources and options', async () => {
    const complete = async (...words: readonly string[]): Promise<string> =>
      (await runCommand(['complete', '--', ...words])).stdout;
    assert.match(await complete('lo'), /^loadtest\t/);
    assert.match(await complete('get', 'depl'), /^deployments\.apps\tDeployment\n/);
    assert.match(await complete('get', 'pods', '--watch-'), /^--watch-only\t/);
  });

  for (const shell of ['bash', 'zsh', 'fish', 'powershell']) {
    it(`prints a script for ${shell}`, async () => {
      const { exitCode, stdout } = await runCommand(['completion', shell]);
      assert.equal(exitCode, 0);
      assert.match(stdout, /kubeloom/);
    });
  }
});
