/** The folder of examples is complete: every program that runs is described, and every described program runs. */
import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { FOLDER, exampleNames, expectedOutput, startServer } from './repository.ts';

/** The packages and entries that a program can import. */
const IMPORTABLE: ReadonlySet<string> = new Set([
  '@kubernetes/client-node',
  'kubeloom',
  'kubeloom/client-go',
  'kubeloom/controller',
  'kubeloom/metrics',
  'kubeloom/thread',
  'kubeloom/workqueue',
  'node:crypto',
  'node:events',
  'node:http',
  'node:net',
  'node:path',
]);

describe('docs/examples', () => {
  test('has an expected output for every program', async () => {
    const sources = (await readdir(FOLDER)).filter((name) => name.endsWith('.ts'));
    const programs = sources.map((name) => name.slice(0, -'.ts'.length));
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
      const isOwn = (from: string): boolean => from.startsWith(`./${name}/`);
      const strange = imported.filter((from) => !IMPORTABLE.has(from) && !isOwn(from));
      assert.deepEqual(strange, [], name);
      assert.ok(imported.includes('kubeloom') || imported.includes('kubeloom/client-go'), name);
    }
  });

  test('has custom resources that the embedded apiserver serves', async () => {
    await using server = await startServer();
    for (const resource of [
      'foos.samplecontroller.example.com',
      'buckets.storage.example.com',
      'backups.example.com',
    ]) {
      assert.deepEqual([...(await server.state(resource)).keys()], []);
    }
  });
});
