/** The folder of examples is complete: nothing is run that is not described, and nothing described that is not run. */
import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { FOLDER, exampleNames, expectedOutput, fooDefinition, fooResource } from './repository.ts';

/** Not programs, but what the documents quote. */
const PARTS = ['client-node-adapter'];

describe('docs/examples', () => {
  test('has an expected output for every program', async () => {
    const sources = (await readdir(FOLDER)).filter((name) => name.endsWith('.ts'));
    const programs = sources
      .map((name) => name.slice(0, -'.ts'.length))
      .filter((name) => !PARTS.includes(name));
    assert.deepEqual(await exampleNames(), programs.toSorted());
    for (const name of programs) assert.match(await expectedOutput(name), /^[^\n]/, name);
  });

  test('has a line for every program in its README, and for nothing else', async () => {
    const text = await readFile(join(FOLDER, 'README.md'), 'utf8');
    const rows = Array.from(text.matchAll(/^\| \[([\w-]+)\]\(\1\.ts\) \|/gm), ([, name]) => name ?? '');
    assert.deepEqual(rows.toSorted(), await exampleNames());
  });

  test('has programs that import what a user can import', async () => {
    for (const name of await exampleNames()) {
      const text = await readFile(join(FOLDER, `${name}.ts`), 'utf8');
      const imported = Array.from(text.matchAll(/ from '([^']+)'/g), ([, from]) => from ?? '');
      assert.deepEqual([...new Set(imported)].toSorted(), ['@kubernetes/client-node', 'kubeloom'], name);
    }
  });

  test('has a custom resource that is named as Kubernetes wants it', async () => {
    const { metadata, spec } = await fooDefinition();
    assert.equal(metadata?.name, `${spec.names.plural}.${spec.group}`);
    assert.deepEqual(await fooResource(), {
      group: spec.group,
      version: 'v1alpha1',
      resource: 'foos',
      kind: 'Foo',
      namespaced: true,
      status: true,
      custom: true,
    });
  });
});
