/**
 * The output of `kubeloom types` in a strict program: it compiles, faults do not, and what the program sends to an apiserver
 * with these definitions comes back as it was.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { ObjectClient } from '../../../../../src/controller/index.ts';
import type { KubeObject, ResourceOf } from '../../../../../src/index.ts';
import { startEmbeddedApiServer } from '../../../../../src/tools/apiserver/testing/index.ts';
import { contentsOf, define } from '../../../../../src/tools/cli/crd-files.ts';
import { moduleText } from '../../../../../src/tools/cli/types/module-text.ts';
import { readPaths } from '../../../../../src/tools/cli/types/sources.ts';
import { HANG_MS } from '../../../../kit/hang.ts';
import { kubeConfigOf } from '../../../../kit/scene.ts';
import { ROOT } from '../../../docs/documents.ts';
import { EXAMPLES, programText } from './examples.ts';

const DEFINITIONS = join(ROOT, 'test/unit/tools/cli/types/definitions');

interface Pair {
  readonly resource: ResourceOf<KubeObject>;
  readonly object: KubeObject;
}

/** The definitions in the files, without the other objects. */
function definitions(): KubeObject[] {
  const contents = readdirSync(DEFINITIONS).flatMap((file) =>
    contentsOf(readFileSync(join(DEFINITIONS, file), 'utf8'), file, (_, reason) => new Error(reason)),
  );
  const objects = contents.flatMap(({ content }) => {
    const object = content as KubeObject;
    return object.kind === 'List' ? (object['items'] as KubeObject[]) : [object];
  });
  return objects.filter(({ kind }) => kind === 'CustomResourceDefinition');
}

describe('the output of kubeloom types', () => {
  const folder = join(ROOT, '.cache', `types-${process.pid}`);
  before(async () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'generated.ts'), moduleText(await readPaths([DEFINITIONS])));
    writeFileSync(join(folder, 'program.ts'), programText('./generated.js'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Returns what the compiler prints. */
  async function compile(...options: string[]): Promise<string> {
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    return await new Promise((resolve) => {
      const args = [...options, '--pretty', 'false'];
      execFile(tsc, args, { cwd: folder, timeout: HANG_MS }, (error, stdout) =>
        resolve(error && stdout === '' ? error.message : stdout),
      );
    });
  }

  it('compiles under strict, and a fault in an object does not', async () => {
    const config = {
      extends: relative(folder, join(ROOT, 'tsconfig.json')),
      compilerOptions: {
        noEmit: true,
        incremental: false,
        composite: false,
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        rootDir: ROOT,
        types: ['node'],
        typeRoots: [join(ROOT, 'node_modules/@types')],
        paths: { kubeloom: [join(ROOT, 'src/index.ts')] },
      },
      files: ['program.ts'],
      include: [],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    assert.equal(await compile('-p', '.'), '');
  });

  it('names resources of which an apiserver stores an example and returns it unchanged', async () => {
    const target = ['--target', 'es2023', '--module', 'nodenext'];
    assert.equal(
      await compile('--noCheck', '--noResolve', '--ignoreConfig', ...target, 'generated.ts', 'program.ts'),
      '',
    );
    const { examples } = (await import(pathToFileURL(join(folder, 'program.js')).href)) as {
      readonly examples: readonly Pair[];
    };
    await using server = await startEmbeddedApiServer({ tls: false });
    for (const object of definitions()) await define(server, { place: '', object });
    const client = new ObjectClient(kubeConfigOf(server));
    for (const [index, { object: example }] of EXAMPLES.entries()) {
      const { resource, object } = examples[index] as Pair;
      await client.create(resource, object);
      const { name = '', namespace = '' } = object.metadata ?? {};
      const { metadata: _, ...returned } = await client.get(
        resource,
        namespace ? `${namespace}/${name}` : name,
      );
      const { metadata: _metadata, ...sent } = example as KubeObject;
      assert.deepEqual(returned, sent, resource.resource);
    }
    assert.equal(examples.length, EXAMPLES.length);
  });
});
