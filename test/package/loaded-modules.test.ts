/**
 * The modules that a process and its threads load before anything runs: they are a part of the start of every program. None
 * of them is client-node, whose models take longer than all the others together.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { kubeConfigOf } from '../../src/tools/apiserver/wire/kubeconfig.ts';

const SOURCE = fileURLToPath(new URL('../../src/', import.meta.url));
/**
 * Writes down the file of every module: of imports by a hook, which runs in another thread, of require() by its cache. Not to
 * a pipe: one that is full refuses the hook's write.
 */
const HOOK = `import { appendFileSync } from 'node:fs';
export async function load(url, context, next) {
  if (url.startsWith('file:')) appendFileSync(process.env.LOADED, new URL(url).pathname + '\\n');
  return next(url, context);
}`;
const FRAME = `
  import { appendFileSync } from 'node:fs';
  import Module, { register } from 'node:module';
  register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(HOOK)}));
  process.on('exit', () => appendFileSync(process.env.LOADED, Object.keys(Module._cache).join('\\n')));
`;

interface Loaded {
  readonly packages: readonly string[];
  /** Folders of `src`. */
  readonly rooms: readonly string[];
  readonly ownFiles: number;
  readonly ownBytes: number;
}

/** Returns the files of the modules that a program loads. */
async function pathsLoadedBy(program: string): Promise<Set<string>> {
  const folder = await mkdtemp(join(tmpdir(), 'kubeloom-loaded-'));
  try {
    const file = join(folder, 'modules');
    const options = { env: { ...process.env, LOADED: file } };
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', `${FRAME}${program}`], options);
    return new Set((await readFile(file, 'utf8')).split('\n').filter((line) => line.startsWith('/')));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** @param program the body of an ES module */
async function loadedBy(program: string): Promise<Loaded> {
  const paths = await pathsLoadedBy(program);
  const own = [...paths].filter((path) => path.startsWith(SOURCE));
  // The innermost folder counts: a dependency may be installed below another one.
  const names = [...paths].map((path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? '');
  return {
    packages: [...new Set(names)].filter((name) => name !== '').sort(),
    rooms: [...new Set(own.map((path) => path.slice(SOURCE.length).split('/')[0] ?? ''))].sort(),
    ownFiles: own.length,
    ownBytes: own.reduce((bytes, path) => bytes + statSync(path).size, 0),
  };
}

/** Packages that load native code for msgpackr's decoder, where there is some for the platform. */
const NATIVE = /^(?:@msgpackr-extract\/.*|msgpackr-extract|node-gyp-build-optional-packages|detect-libc)$/;

const ENTRIES = [
  {
    what: 'kubeloom',
    file: 'index.js',
    packages: ['js-yaml', 'msgpackr'],
    files: 212,
    bytes: 900_000,
  },
  {
    what: 'kubeloom/thread',
    file: 'thread/index.js',
    packages: ['msgpackr', 'piscina'],
    files: 124,
    bytes: 520_000,
  },
  {
    what: 'the reflector’s thread',
    file: 'reflector/create-reflector.js',
    packages: [],
    files: 75,
    bytes: 268_000,
  },
  {
    what: 'a shard’s thread',
    file: 'indexer/shard-loop.js',
    packages: ['msgpackr'],
    files: 41,
    bytes: 157_000,
  },
] as const;

for (const { what, file, packages, files, bytes } of ENTRIES) {
  test(`${what} loads no other packages than it needs, and at most ${files} files of its own`, async () => {
    const loaded = await loadedBy(`await import('file://${join(SOURCE, file)}');`);
    const native = what.startsWith('kubeloom') ? NATIVE : /^$/;
    assert.deepEqual(
      loaded.packages.filter((name) => !native.test(name)),
      packages,
    );
    assert.ok(loaded.ownFiles > 1 && loaded.ownFiles <= files, `${loaded.ownFiles} files`);
    assert.ok(loaded.ownBytes <= bytes, `${loaded.ownBytes} bytes`);
  });
}

test('kubeloom/thread loads neither what lists and watches nor the apiserver', async () => {
  const { rooms } = await loadedBy(`await import('file://${join(SOURCE, 'thread/index.js')}');`);
  assert.deepEqual(rooms, [
    'base',
    'informer',
    'kube',
    'metrics',
    'replica',
    'shared',
    'thread',
    'workqueue',
  ]);
});

test('a kubeconfig is loaded, and a connection made of it, without client-node', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kubeloom-loaded-'));
  const path = join(folder, 'kubeconfig');
  await writeFile(path, JSON.stringify(kubeConfigOf({ url: 'https://127.0.0.1', token: 't', ca: 'a CA' })));
  const program = `
    const { SharedIndexInformer, loadKubeConfig, resources } = await import('file://${join(SOURCE, 'index.js')}');
    const { connectionFor } = await import('file://${join(SOURCE, 'http/credentials/credentials.js')}');
    const kubeConfig = loadKubeConfig({ path: ${JSON.stringify(path)} });
    await connectionFor(kubeConfig);
    new SharedIndexInformer(kubeConfig, resources.core.v1.pods);`;
  const { packages } = await loadedBy(program);
  await rm(folder, { recursive: true });
  assert.ok(packages.includes('js-yaml'));
  assert.ok(!packages.some((name) => name.includes('client-node')), packages.join(', '));
});

test('a program loads client-node when it makes an API object', async () => {
  const program = `
    const { LoadedKubeConfig } = await import('file://${join(SOURCE, 'index.js')}');
    new LoadedKubeConfig({ clusters: [], users: [], contexts: [], currentContext: '' }).toClientNode();`;
  assert.ok((await loadedBy(program)).packages.includes('@kubernetes/client-node'));
});
