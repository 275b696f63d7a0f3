/** The folder of examples is complete: every program that runs is described, and every described program runs. */
import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { FOLDER, exampleNames, expectedOutput, fooDefinition, fooResource } from './repository.ts';

/** Files that are no programs; documents quote them. */
const PARTS = ['client-node-adapter'];

/** The packages and entries that a program can import. */
const IMPORTABLE: ReadonlySet<string> = new Set([
  '@kubernetes/client-node',
  'kubeloom',
  'kubeloom/client-go',
  'kubeloom/controller',
]);

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
      const strange = imported.filter((from) => !IMPORTABLE.has(from));
      assert.deepEqual(strange, [], name);
      assert.ok(imported.includes('kubeloom') || imported.includes('kubeloom/client-go'), name);
    }
  });

  test('has a custom resource with a valid name for Kubernetes', async () => {
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
