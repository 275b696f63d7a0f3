/** The code of the documentation runs: its programs against an embedded apiserver, its options through constructors. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { KubeConfig } from '@kubernetes/client-node';
import * as kubeloom from '../../../src/index.ts';
import { resolveThreadsOptions } from '../../../src/informer/threads/threads-options.ts';
import { startEmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import { HANG_MS } from '../../kit/hang.ts';
import { ROOT, snippets, snippetsOf, unversionedLists } from './documents.ts';
import type { Snippet } from './documents.ts';

/** Options of calls: no constructor takes them. */
const OF_CALLS: ReadonlySet<string> = new Set(['drain', 'onUnknownField']);

/** The same module as the import above, whose constructors take what it evaluates. */
const INDEX = new URL('../../../src/index.js', import.meta.url).href;

type Given = Readonly<Record<string, unknown>>;

const OF_THREADS: ReadonlySet<string> = new Set(Object.keys(resolveThreadsOptions()));

/** Passes the options to the constructor that takes them. */
function construct(options: Given): void {
  if (Object.entries(options).every(([name, value]) => OF_THREADS.has(name) && typeof value !== 'object')) {
    void new kubeloom.InformerThreads({ indexerThreads: 0, ...options });
    return;
  }
  const kubeConfig = new KubeConfig();
  const cluster = { name: 'c', server: 'https://127.0.0.1:1', skipTLSVerify: false };
  kubeConfig.loadFromClusterAndUser(cluster, { name: 'u' });
  const { pods } = kubeloom.resources.core.v1;
  void new kubeloom.SharedIndexInformer(kubeConfig, pods, { threads: { indexerThreads: 0 }, ...options });
}

describe('the documentation', () => {
  const folder = join(ROOT, '.cache', `programs-${process.pid}`);
  before(() => mkdir(folder, { recursive: true }));
  after(() => rm(folder, { recursive: true, force: true }));

  /** Evaluates each as a module that imports from the package. */
  async function evaluated(options: readonly Snippet[]): Promise<Given[]> {
    const path = join(folder, `options-${options.length}.mjs`);
    const values = options.map(({ code }) => code).join(',\n');
    const names = Object.keys(kubeloom).join(', ');
    await writeFile(path, `import { ${names} } from '${INDEX}';\nexport const options = [${values}];\n`);
    return ((await import(pathToFileURL(path).href)) as { options: Given[] }).options;
  }

  test('advises options that a constructor takes', async () => {
    const options = (await snippets()).filter(({ kind }) => kind === 'option');
    const values = await evaluated(options);
    for (const [index, { document, line, code }] of options.entries()) {
      const given = values[index] ?? {};
      if (Object.keys(given).every((name) => OF_CALLS.has(name))) continue;
      assert.doesNotThrow(() => construct(given), `${document}:${line} ${code}`);
    }
    assert.ok(options.length >= 10, `only ${options.length} options`);
  });

  test('C474 replaces no list of an object by a patch without the version that was read', async () => {
    const names = await readdir(join(ROOT, 'docs'), { recursive: true });
    const files = [
      'README.md',
      ...names.filter((name) => /\.(?:md|ts)$/.test(name)).map((name) => `docs/${name}`),
    ];
    const faults = files.flatMap((file) =>
      unversionedLists(readFileSync(join(ROOT, file), 'utf8')).map((line) => `${file}:${line}`),
    );
    assert.deepEqual(faults, []);
    const right = [
      'client.patch(pods, key, { metadata: { labels: { a } } });',
      'client.patch(pods, key, { metadata: { resourceVersion, finalizers } });',
      "client.patch(pods, key, [{ op: 'add', path: '/spec/args', value: [1] }], { type: 'json' });",
    ];
    const wrong = [
      'client.patchStatus(backups, key, { status: { conditions } }, { signal });',
      'client.patch(pods, key, {\n  metadata: {\n    finalizers: names,\n  },\n});',
      'client.patch(bars, key, { spec: { foos: [1] } });',
    ];
    assert.deepEqual(unversionedLists([...right, ...wrong].join('\n')), [4, 5, 10]);
  });

  test('would be wrong with options that the constructor refuses', async () => {
    const faulty = await evaluated(
      snippetsOf('faulty.md', "`transform: { drop: ['data'] }`, `compressAfterMs: -1`"),
    );
    for (const given of faulty) assert.throws(() => construct(given), { code: 'ERR_KUBELOOM_OPTION' });
    assert.equal(faulty.length, 2);
  });

  test('shows programs that run against an apiserver and end by themselves', async () => {
    // A block that exports is a part of a program, as is an example in a comment; a block without an import of kubeloom is
    // client-node's code for comparison. The programs of README.md run in test/package/package.slow.ts.
    const programs = (await snippets()).filter(
      ({ document, kind, code }) =>
        document.startsWith('docs/') &&
        kind === 'block' &&
        code.includes("from 'kubeloom'") &&
        !/^export /m.test(code),
    );
    assert.ok(programs.length > 0);
    await using server = await startEmbeddedApiServer();
    const kubeconfig = join(folder, 'kubeconfig');
    await writeFile(kubeconfig, server.kubeConfigYaml, { mode: 0o600 });
    const run = promisify(execFile);
    const files = programs.map(({ document, line }) => `${document.replaceAll(/\W/g, '-')}-${line}`);
    for (const [index, { code }] of programs.entries())
      await writeFile(join(folder, `${files[index]}.ts`), code);
    // Another test checks the types: here they are only removed.
    const away = ['--noCheck', '--noResolve', '--ignoreConfig', '--module', 'nodenext', '--target', 'es2023'];
    await run(join(ROOT, 'node_modules/.bin/tsc'), [...away, ...files.map((file) => `${file}.ts`)], {
      cwd: folder,
    });
    const runs = files.map(async (file) => {
      const { stderr } = await run(process.execPath, [join(folder, `${file}.js`)], {
        env: { ...process.env, KUBECONFIG: kubeconfig },
        timeout: HANG_MS,
      });
      assert.equal(stderr, '', file);
    });
    await Promise.all(runs);
  });
});
