/**
 * Compiles the code in the documentation against both majors of client-node; also kubeloom's own sources and the
 * tests of its types. Only types are checked, so 2.x need not run on this Node.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { after, before, describe, test } from 'node:test';
import * as kubeloom from '../../../src/index.ts';
import { HANG_MS } from '../../kit/hang.ts';
import { ROOT, blocksInComments, snippets, snippetsOf } from './documents.ts';
import type { Snippet } from './documents.ts';

const CONSUMER = 'test/unit/client-node/consumer.ts';
const MOVED = 'moved.ts';
const SCOPE = 'test/unit/docs/scope.ts';
const VALUES = namesIn(/^export declare const (\w+)/gm);
const FUNCTIONS = [...namesIn(/^export declare function (\w+)/gm), ...namesIn(/^export \{ (.*) \}/gm)];
const OWN_NAMES = [...VALUES, ...FUNCTIONS];
const OUR_NAMES = Object.keys(kubeloom).filter((name) => !OWN_NAMES.includes(name));

/** Returns the names that the scope declares, or re-exports, in this way. */
function namesIn(declaration: RegExp): string[] {
  const text = readFileSync(join(ROOT, SCOPE), 'utf8');
  return Array.from(text.matchAll(declaration), ([, names = '']) => names.split(', ')).flat();
}

/** Returns the snippet as a module, with the same first line. */
function moduleOf({ kind, code }: Snippet): string {
  // A module, imports or not, so that snippets do not see each other.
  if (kind === 'block') return `${code}export {};\n`;
  const imports =
    `import { ${OWN_NAMES.join(', ')}, type AnyOptions } from '../../${SCOPE}'; ` +
    `import { ${OUR_NAMES.join(', ')} } from 'kubeloom'; `;
  if (kind === 'option') return `${imports}export const given: AnyOptions = ${code};\n`;
  const [, word = '', callee = '', next = ''] = /^(await |new )?(\w+)(.)/.exec(code) ?? [];
  const isKnown = word === 'new ' || next === '.' || [...FUNCTIONS, ...OUR_NAMES].includes(callee);
  return `${imports}void (${isKnown ? code : `${word}methods.${code.slice(word.length)}`});\n`;
}

interface TypeError {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** Compiles all these files; returns the compiler's messages by file. */
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
        'kubeloom/partitions': [inRoot('src/partitions/index.ts')],
        'kubeloom/client-node': [inRoot('src/client-node/index.ts')],
        'kubeloom/client-go': [inRoot('src/client-go/index.ts')],
        'kubeloom/controller': [inRoot('src/controller/index.ts')],
        'kubeloom/thread': [inRoot('src/thread/index.ts')],
        'kubeloom/workqueue': [inRoot('src/workqueue/index.ts')],
        'kubeloom/metrics': [inRoot('src/metrics/index.ts')],
        'kubeloom/metrics/prometheus': [inRoot('src/metrics/prometheus.ts')],
        'kubeloom/metrics/opentelemetry': [inRoot('src/metrics/opentelemetry.ts')],
        'kubeloom/testing': [inRoot('src/tools/apiserver/testing/index.ts')],
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
    const options = { cwd: ROOT, timeout: HANG_MS, maxBuffer: 2 ** 26 };
    execFile(tsc, ['-p', path, '--pretty', 'false'], options, (error, stdout, stderr) => {
      resolve(error && stdout === '' ? `tsc(1,1): error: ${error.message} ${stderr}` : stdout);
    });
  });
  return [...output.matchAll(/^(\S.*)\((\d+),\d+\): (error.*(?:\n +.*)*)$/gm)].map(
    ([, file = '', line, message = '']) => ({ file, line: Number(line), message }),
  );
}

describe('documented snippets', () => {
  test('are blocks, and the options and calls within sentences, at their lines', () => {
    const text =
      'a `kind: 1` and `{ a: 1,\n b: 2 }`\n```ts\none;\n```\n```sh\nls `a: 1`\n```\n  ```ts\n  two;\n  ```\n`f(1)`, `f()`, `f(…)`, `K8s`';
    assert.deepEqual(snippetsOf('a.md', text), [
      { document: 'a.md', line: 4, kind: 'block', code: 'one;\n' },
      { document: 'a.md', line: 10, kind: 'block', code: '  two;\n' },
      { document: 'a.md', line: 1, kind: 'option', code: '{ kind: 1 }' },
      { document: 'a.md', line: 1, kind: 'option', code: '{ a: 1, b: 2 }' },
      { document: 'a.md', line: 12, kind: 'call', code: 'f(1)' },
    ]);
  });

  test('are also the blocks in doc comments of a source file', () => {
    const text =
      '/**\n * A `kind: 1`.\n *\n * ```ts\n * one(\n *   two,\n * );\n * ```\n */\nexport const a = `x: 1`;\n';
    assert.deepEqual(blocksInComments('a.ts', text), [
      { document: 'a.ts', line: 5, kind: 'block', code: 'one(\n  two,\n);\n' },
    ]);
  });

  test('are refused in a fence without a language', () => {
    assert.throws(
      () => snippetsOf('a.md', "x\n```\nimport x from 'y';\n```\n"),
      /^Error: a\.md:3 is TypeScript\?/,
    );
    assert.throws(() => snippetsOf('a.md', '```js\n1;\n```\n'), /a\.md:2/);
  });
});

/** Faults that the compiler must find, or this test shows nothing. */
const FAULTY: readonly Snippet[] = snippetsOf(
  'faulty.md',
  "`transform: { drop: ['data'] }`\n`threads: 'many'`\n`nothing: 1`\n`shutdown({ drane: true })`\n`nothing(f)`\n" +
    "```ts\nimport { nothing } from 'kubeloom';\n```\n`debug: { retainChecks: 'strict' }`",
);

/** Usual mistakes in reconcile functions. The compiler must name the type of the result in each. */
const MISTAKES = `import { resources } from 'kubeloom';
import { Manager } from 'kubeloom/controller';
import { RateLimitingQueue, runWorkers } from 'kubeloom/workqueue';
const { configMaps } = resources.core.v1;
const { controllerFor } = new Manager({ server: 'http://127.0.0.1:1' });
controllerFor(configMaps).reconcile(async (key, { client }) => client.patch(configMaps, key, {}));
controllerFor(configMaps).reconcile(async () => ({ requeueAfter: 60 }));
controllerFor(configMaps).reconcile(() => ({ requeue: true }));
controllerFor(configMaps).reconcile(() => 60);
void runWorkers(new RateLimitingQueue<string>(), 1, () => ({ requeueAfter: 60 }));
`;

for (const clientNode of ['@kubernetes/client-node', 'client-node-2']) {
  describe(`compiled against ${clientNode}`, () => {
    const folder = join(ROOT, '.cache', `snippets-${process.pid}-${clientNode.replace('/', '-')}`);
    const found = new Map<string, Snippet>();
    let errors: readonly TypeError[] = [];

    before(async () => {
      await mkdir(folder, { recursive: true });
      for (const snippet of [...(await snippets()), ...FAULTY]) {
        const path = join(folder, `snippet-${found.size}.ts`);
        await writeFile(path, moduleOf(snippet));
        found.set(relative(ROOT, path), snippet);
      }
      // A deliberate fault: the test is valid only if the compiler finds it.
      await writeFile(
        join(folder, 'fault.ts'),
        "import { drop } from 'kubeloom';\nexport const a: string = drop;\n",
      );
      await writeFile(
        join(folder, 'strange.ts'),
        "import type { V1Pod } from '@kubernetes/client-node';\nimport type { Wire } from 'kubeloom';\nexport const pod: Wire<V1Pod> = { spec: 1 };\n",
      );
      // The types of kubeloom/client-node: a program for client-node, with another import.
      const consumer = await readFile(join(ROOT, CONSUMER), 'utf8');
      await writeFile(
        join(folder, MOVED),
        consumer.replace(`'@kubernetes/client-node'`, `'kubeloom/client-node'`),
      );
      await writeFile(join(folder, 'mistakes.ts'), MISTAKES);
      const files = ['fault.ts', 'strange.ts', 'mistakes.ts', MOVED].map((name) => join(folder, name));
      const own = [
        'src/index.ts',
        'src/client-go/index.ts',
        'src/controller/index.ts',
        'src/client-node/index.ts',
        'src/tools/apiserver/testing/index.ts',
        CONSUMER,
        'test/unit/kube/wire.test.ts',
        'test/unit/kube/model/to-model.test.ts',
      ];
      files.push(...[...found.keys(), ...own].map((path) => join(ROOT, path)));
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

    test('a wrong result of a reconcile function is explained by the type of the result', () => {
      const mistakes = errors.filter(({ file }) => file.endsWith('mistakes.ts'));
      assert.deepEqual([...new Set(mistakes.map(({ line }) => line))], [6, 7, 8, 9, 10]);
      for (const { message } of mistakes) assert.match(message, /ReconcileResult/);
    });

    test('a program for its informers compiles with the import of kubeloom/client-node', () => {
      const ofMoved = errors.filter(({ file }) => file.endsWith(`/${MOVED}`));
      const faults = ofMoved.map(({ line, message }) => `${line} ${message}`);
      assert.deepEqual(faults, []);
    });

    test('blocks, options and calls of README and docs, and blocks of doc comments, are right', () => {
      const wrong = errors.flatMap(({ file, line, message }) => {
        const snippet = found.get(file);
        return snippet ? [`${snippet.document}:${snippet.line + line - 1} ${message}`] : [];
      });
      const isFaulty = (each: string): boolean => each.startsWith('faulty.md');
      const lines = wrong.filter(isFaulty).map((each) => each.slice(0, each.indexOf(' ')));
      assert.deepEqual(
        [...new Set(lines)].toSorted(),
        [1, 2, 3, 4, 5, 7].map((line) => `faulty.md:${line}`),
      );
      const unexpected = wrong.filter((each) => !isFaulty(each));
      assert.deepEqual(unexpected, []);
    });

    test('the examples, kubeloom itself and the tests of its types are right', () => {
      const own = errors.filter(({ file }) => !file.startsWith(relative(ROOT, folder)));
      const faults = own.map(({ file, line, message }) => `${file}:${line} ${message}`);
      assert.deepEqual(faults, []);
    });
  });
}
