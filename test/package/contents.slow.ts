/** The tarball: what is in it, its size, and that nothing which it refers to is missing. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ROOT, pack, run } from './installation.ts';
import { markdownLinks } from './links.ts';
import { PACKED_BYTES_MAX } from './publishable.ts';

interface Manifest {
  readonly main: string;
  readonly types: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly sideEffects: readonly string[];
  readonly typesVersions: { readonly '*': Readonly<Record<string, readonly string[]>> };
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

/** Files that users need: the program and its types, its data, and documents. */
const EXPECTED = [
  /^dist\/src\/(?!tools\/)[\w./-]+\.(js|d\.ts)$/,
  /^dist\/src\/tools\/[\w./-]+\.d\.ts$/,
  /^dist\/(lib|tools)\/[\w./-]+\.(js|cjs|css)$/,
  /^dist\/THIRD-PARTY-LICENSES$/,
  /^src\/tools\/loadtest\/[\w./-]+\.(json|yaml)$/,
  /^docs\/[\w./-]+\.(md|svg|png)$/,
  /^docs\/examples\/([\w-]+\/)?([\w.-]+\.(ts|txt|yaml)|Dockerfile)$/,
  /^docs\/(grafana|loadtest)\/[\w.-]+$/,
  /^(README|CHANGELOG|CONTRIBUTING|SECURITY)\.md$/,
  /^(LICENSE|package\.json)$/,
];

describe('the tarball', () => {
  let folder = '';
  let tarball = '';
  let paths: readonly string[] = [];
  const inPackage = (path: string): string => join(folder, 'package', path);

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubeloom-contents-'));
    tarball = await pack(folder);
    await run('tar', ['xzf', tarball, '-C', folder]);
    const found = await readdir(inPackage('.'), { recursive: true, withFileTypes: true });
    const files = found.filter((entry) => entry.isFile());
    paths = files.map((entry) => relative(inPackage('.'), join(entry.parentPath, entry.name)));
  });

  after(() => rm(folder, { recursive: true, force: true }));

  test(`has at most ${PACKED_BYTES_MAX / 1000} kB`, () => {
    const { size } = statSync(tarball);
    assert.ok(size <= PACKED_BYTES_MAX, `${size} bytes`);
  });

  test('has the library, its declarations, data and documents, and nothing else', () => {
    assert.deepEqual(
      paths.filter((path) => !EXPECTED.some((expected) => expected.test(path))),
      [],
    );
    for (const path of [
      'dist/lib/index.js',
      'dist/src/index.d.ts',
      'dist/tools/cli.js',
      'dist/THIRD-PARTY-LICENSES',
      'LICENSE',
    ]) {
      assert.ok(paths.includes(path), path);
    }
  });

  test('has no output of a source that is gone', () => {
    const outputs = paths.filter((path) => path.startsWith('dist/src/'));
    const sourceOf = (path: string): string =>
      path.replace(/^dist\//, '').replace(/(?:\.d)?\.(c?)[jt]s$/, '.$1ts');
    assert.deepEqual(
      outputs.filter((path) => !existsSync(join(ROOT, sourceOf(path)))),
      [],
    );
  });

  test('has every file that its manifest names', () => {
    const manifest = JSON.parse(readFileSync(inPackage('package.json'), 'utf8')) as Manifest;
    const { main, types, bin, sideEffects, typesVersions, exports } = manifest;
    const targets = Object.values(exports).flatMap((entry) =>
      typeof entry === 'string' ? [entry] : Object.values(entry),
    );
    const named = [main, types, ...Object.values(bin), ...sideEffects, ...targets];
    named.push(...Object.values(typesVersions['*']).flat());
    const missing = named.filter((path) => !existsSync(inPackage(path.replace(/\/\*.*$/, ''))));
    assert.deepEqual(missing, []);
  });

  test('also gives every entry with types to the older resolution of TypeScript', () => {
    const { exports, typesVersions, types } = JSON.parse(
      readFileSync(inPackage('package.json'), 'utf8'),
    ) as Manifest;
    const typed = Object.entries(exports).flatMap(([name, entry]) =>
      typeof entry === 'object' && 'types' in entry ? [[name.slice(2), entry['types']]] : [],
    );
    const older = Object.entries(typesVersions['*']).map(([name, [path]]) => [name, path]);
    assert.deepEqual(typed, [['', types], ...older]);
  });

  test('has the target of every relative link in its documents', () => {
    const documents = paths.filter((path) => path.endsWith('.md'));
    const broken = documents.flatMap((path) =>
      markdownLinks(readFileSync(inPackage(path), 'utf8'))
        .filter((target) => !existsSync(inPackage(join(dirname(path), target))))
        .map((target) => `${path}: ${target}`),
    );
    assert.deepEqual(broken, []);
  });
});
