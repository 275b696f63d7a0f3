/** `kubeloom apiserver` as a process: its kubeconfig works, and a signal ends it. */
import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { loadKubeConfig } from '../../../../src/index.ts';
import { ApiClient } from '../../../../src/http/api-client.ts';
import { TemporaryFolder } from '../../../kit/temporary-folder.ts';
import { CommandRun, runCommand } from './command.ts';

async function podCount(kubeconfig: string): Promise<number> {
  const client = new ApiClient(loadKubeConfig({ path: kubeconfig }));
  const list = await client.getJson('/api/v1/pods', new AbortController().signal);
  return (Reflect.get(Object(list), 'items') as unknown[]).length;
}

function definition(plural: string): string {
  const kind = plural.replace(/^./, (first) => first.toUpperCase()).slice(0, -1);
  const schema = { openAPIV3Schema: { type: 'object' } };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const spec = { group: 'example.com', scope: 'Namespaced', names: { plural, kind }, versions };
  const type = 'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n';
  return `${type}metadata: { name: ${plural}.example.com }\nspec: ${JSON.stringify(spec)}\n`;
}

/** Starts the command with its kubeconfig in the folder, and waits until it listens. */
async function serving(folder: TemporaryFolder, ...flags: readonly string[]): Promise<CommandRun> {
  const run = new CommandRun(['apiserver', '--kubeconfig-out', folder.file('kubeconfig'), ...flags]);
  await run.until('stdout', /listening on/);
  return run;
}

describe('kubeloom apiserver', () => {
  for (const { title, flags, scheme } of [
    { title: 'over TLS with a random token', flags: [], scheme: 'https' },
    { title: 'in plain HTTP with a given token', flags: ['--no-tls', '--token', 'sesame'], scheme: 'http' },
  ]) {
    it(`serves ${title} and ends cleanly on SIGTERM`, async () => {
      await using folder = new TemporaryFolder();
      const kubeconfig = folder.file('kubeconfig');
      await using run = await serving(folder, '--port', '0', '--pods', '7', ...flags);
      assert.match(run.stdout, new RegExp(`listening on ${scheme}://127\\.0\\.0\\.1:\\d+`));
      assert.equal((await stat(kubeconfig)).mode & 0o777, 0o600);
      assert.equal(await podCount(kubeconfig), 7);
      if (flags.includes('sesame')) assert.match(await readFile(kubeconfig, 'utf8'), /sesame/);
      run.kill('SIGTERM');
      assert.equal(await run.exitCode, 0);
      assert.equal(run.stderr, '');
    });
  }

  it('ends on SIGINT while it changes pods as fast as it can', async () => {
    await using folder = new TemporaryFolder();
    await using run = await serving(folder, '--pods', '3', '--rate', '500');
    run.kill('SIGINT');
    assert.equal(await run.exitCode, 0);
  });

  it('serves the CustomResourceDefinitions of all files', async () => {
    await using folder = new TemporaryFolder();
    const one = folder.write('one.yaml', `---\n${definition('apples')}---\n${definition('pears')}---\n`);
    const other = folder.write('other.yaml', definition('figs'));
    await using run = await serving(folder, '--crd', one, '--crd', other);
    const client = new ApiClient(loadKubeConfig({ path: folder.file('kubeconfig') }));
    const { signal } = new AbortController();
    for (const plural of ['apples', 'pears', 'figs']) {
      const list = await client.getJson(`/apis/example.com/v1/${plural}`, signal);
      assert.deepEqual(Reflect.get(Object(list), 'items'), []);
    }
    run.kill('SIGTERM');
    assert.equal(await run.exitCode, 0);
  });

  it('does not start with a file that has something else, and names the document', async () => {
    await using folder = new TemporaryFolder();
    for (const [text, reason] of [
      [
        `${definition('apples')}---\nkind: Namespace\napiVersion: v1\n`,
        /, document 2: it is v1 Namespace, not /,
      ],
      [
        definition('apples').replace('Namespaced', 'Here'),
        /, document 1: .*spec\.scope: Unsupported value: "Here"/,
      ],
      ['a: [', /, document 1: /],
      ['', /: it has no CustomResourceDefinition/],
    ] as const) {
      const file = folder.write('bad.yaml', text);
      const args = ['--kubeconfig-out', folder.file('kubeconfig'), '--crd', file];
      const { exitCode, stdout, stderr } = await runCommand(['apiserver', ...args]);
      assert.equal(exitCode, 1);
      assert.equal(stdout, '');
      assert.match(stderr, reason);
      assert.match(stderr, /^error: --crd .*\(ERR_KUBELOOM_USAGE\)\n$/);
    }
    const missing = ['--kubeconfig-out', folder.file('kubeconfig'), '--crd', folder.file('missing.yaml')];
    assert.match((await runCommand(['apiserver', ...missing])).stderr, /missing\.yaml: ENOENT/);
  });

  it('listens beyond loopback only with both options', async () => {
    await using folder = new TemporaryFolder();
    const args = ['--kubeconfig-out', folder.file('kubeconfig'), '--host', '0.0.0.0'];
    const { exitCode, stderr } = await runCommand(['apiserver', ...args]);
    assert.equal(exitCode, 1);
    assert.match(stderr, /^error: .*allowRemote.* \(ERR_KUBELOOM_OPTION\)\n$/);
  });

  it('does not start when its kubeconfig would replace a different kubeconfig', async () => {
    await using folder = new TemporaryFolder();
    const real = folder.write('config', 'current-context: production\n');
    const { exitCode, stdout, stderr } = await runCommand(['apiserver', '--kubeconfig-out', real]);
    assert.equal(exitCode, 1);
    assert.equal(stdout, '');
    assert.match(stderr, /\(ERR_KUBELOOM_USAGE\)\n$/);
  });
});

describe('the command line', () => {
  it('reports a usage error in one line with a code', async () => {
    for (const [args, message] of [
      [['bogus'], /^error: unknown command 'bogus' \(ERR_KUBELOOM_USAGE\)\n$/],
      [['watch'], /^error: missing required argument 'resources' \(ERR_KUBELOOM_USAGE\)\n$/],
      [['watch', 'pods', '-n', 'x', '-A'], /cannot be used with .* \(ERR_KUBELOOM_USAGE\)\n$/],
      [['demo', '--pods', 'many'], /^error: --pods must be .* got "many" \(ERR_KUBELOOM_OPTION\)\n$/],
      [['apiserver'], /required option '--kubeconfig-out <file>'.* \(ERR_KUBELOOM_USAGE\)\n$/],
    ] as const) {
      const { exitCode, stdout, stderr } = await runCommand(args);
      assert.equal(exitCode, 1, args.join(' '));
      assert.equal(stdout, '');
      assert.match(stderr, message);
    }
  });

  it('prints help and version without an error', async () => {
    const help = await runCommand(['--help']);
    assert.equal(help.exitCode, 0);
    for (const name of ['demo', 'watch', 'apiserver']) assert.match(help.stdout, new RegExp(name));
    const version = await runCommand(['--version']);
    assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/);
    assert.equal((await runCommand([])).exitCode, 1);
  });
});
