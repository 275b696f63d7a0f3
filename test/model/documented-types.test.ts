/**
 * What the documentation shows compiles, against both majors of client-node; so do kubeloom's own sources and the
 * tests of its types. Only types are looked at, and therefore 2.x need not run on this Node.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

/** Skipped: what is no program in itself says so in its first line. */
const FRAGMENT = '// fragment';
const TIMEOUT_MS = 300_000;
const ROOT = repositoryRoot(dirname(fileURLToPath(import.meta.url)));

interface Snippet {
  readonly document: string;
  /** Of its first line in the document. */
  readonly line: number;
  readonly code: string;
}

function repositoryRoot(folder: string): string {
  return existsSync(join(folder, 'package-lock.json')) ? folder : repositoryRoot(dirname(folder));
}

async function documents(): Promise<string[]> {
  const names = await readdir(join(ROOT, 'docs'));
  return ['README.md', ...names.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)];
}

function snippetsOf(document: string, text: string): Snippet[] {
  return [...text.matchAll(/^```ts\n([^]*?)^```$/gm)]
    .map(({ index, 1: code = '' }) => ({ document, line: text.slice(0, index).split('\n').length + 1, code }))
    .filter(({ code }) => !code.startsWith(FRAGMENT));
}

interface TypeError {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** What the compiler says of all these files, by file. */
async function compile(folder: string, clientNode: string, files: readonly string[]): Promise<TypeError[]> {
  const inRoot = (path: string): string => join(ROOT, path);
  const config = {
    extends: inRoot('tsconfig.json'),
    compilerOptions: {
      noEmit: true,
      incremental: false,
      declaration: false,
      isolatedDeclarations: false,
      noUnusedLocals: false,
      noUnusedParameters: false,
      rootDir: ROOT,
      types: ['node'],
      typeRoots: [inRoot('node_modules/@types')],
      paths: {
        kubeloom: [inRoot('src/index.ts')],
        'kubeloom/testing': [inRoot('src/testing/index.ts')],
        '@kubernetes/client-node': [inRoot(`node_modules/${clientNode}/dist/index.d.ts`)],
      },
    },
    files,
    include: [],
  };
  const path = join(folder, 'tsconfig.json');
  await writeFile(path, JSON.stringify(config, undefined, 2));
  const output = await new Promise<string>((resolve) => {
    const tsc = inRoot('node_modules/.bin/tsc');
    const options = { cwd: ROOT, timeout: TIMEOUT_MS, maxBuffer: 2 ** 26 };
    execFile(tsc, ['-p', path, '--pretty', 'false'], options, (error, stdout, stderr) => {
      resolve(error && stdout === '' ? `tsc(1,1): error: ${error.message} ${stderr}` : stdout);
    });
  });
  return [...output.matchAll(/^(\S.*)\((\d+),\d+\): (error.*)$/gm)].map(
    ([, file = '', line, message = '']) => ({
      file,
      line: Number(line),
      message,
    }),
  );
}

describe('documented snippets', () => {
  test('are found by their fence, fragments left out', () => {
    const text = 'a\n```ts\none;\n```\n```sh\nls\n```\n```ts\n// fragment\ntwo;\n```\n';
    assert.deepEqual(snippetsOf('a.md', text), [{ document: 'a.md', line: 3, code: 'one;\n' }]);
  });
});

for (const clientNode of ['@kubernetes/client-node', 'client-node-2']) {
  describe(`compiled against ${clientNode}`, () => {
    const folder = join(ROOT, '.cache', `snippets-${process.pid}-${clientNode.replace('/', '-')}`);
    const snippets = new Map<string, Snippet>();
    let errors: readonly TypeError[] = [];

    before(async () => {
      await mkdir(folder, { recursive: true });
      for (const document of await documents()) {
        for (const snippet of snippetsOf(document, await readFile(join(ROOT, document), 'utf8'))) {
          const path = join(folder, `${document.replaceAll(/\W/g, '-')}-${snippet.line}.ts`);
          // A module, imports or not, so that snippets do not see each other.
          await writeFile(path, `${snippet.code}export {};\n`);
          snippets.set(relative(ROOT, path), snippet);
        }
      }
      // A fault that must be found, or this test shows nothing.
      await writeFile(
        join(folder, 'fault.ts'),
        "import { toModel } from 'kubeloom';\nexport const a: string = toModel;\n",
      );
      await writeFile(
        join(folder, 'strange.ts'),
        "import type { V1Pod } from '@kubernetes/client-node';\nimport type { Wire } from 'kubeloom';\nexport const pod: Wire<V1Pod> = { spec: 1 };\n",
      );
      const files = ['fault.ts', 'strange.ts'].map((name) => join(folder, name));
      const own = [
        'src/index.ts',
        'src/testing/index.ts',
        'test/kube/wire.test.ts',
        'test/model/to-model.test.ts',
      ];
      files.push(...[...snippets.keys(), ...own].map((path) => join(ROOT, path)));
      for (const name of await readdir(join(ROOT, 'docs/examples'))) {
        if (name.endsWith('.ts')) files.push(join(ROOT, 'docs/examples', name));
      }
      errors = await compile(folder, clientNode, files);
    });

    after(() => rm(folder, { recursive: true, force: true }));

    test('the compiler sees the sources and the models', () => {
      const faults = errors.filter(({ file }) => /(?:fault|strange)\.ts$/.test(file));
      assert.deepEqual(faults.map(({ file, line }) => `${file.split('/').at(-1)}:${line}`).sort(), [
        'fault.ts:2',
        'strange.ts:3',
      ]);
    });

    test('the snippets of README and docs are right', () => {
      assert.ok(snippets.size >= 5, `only ${snippets.size} snippets`);
      const wrong = errors.flatMap(({ file, line, message }) => {
        const snippet = snippets.get(file);
        return snippet ? [`${snippet.document}:${snippet.line + line - 1} ${message}`] : [];
      });
      assert.deepEqual(wrong, []);
    });

    test('the examples, kubeloom itself and the tests of its types are right', () => {
      const own = errors.filter(({ file }) => !file.startsWith(relative(ROOT, folder)));
      assert.deepEqual(
        own.map(({ file, line, message }) => `${file}:${line} ${message}`),
        [],
      );
    });
  });
}
